"""How near the extractor's Markdown comes to the truth of a page, by the definition that each set of pages has.

    scrapinghub   runs of four words: true, false and missing ones of a page as shares of their sum; precision and recall
                  are means over pages, the figure is their F1
    wcxb-*        F1 of the words of a page, in any order; the figure is the mean
    trafilatura   texts that must and must not be there; the figure is the F1 over all of them
    zh            F1 of the characters of a page; the figure is the mean
    mozilla,      F1 of the parts of a page in each class of markdown_parts, as a mean over the pages whose truth has such
    defuddle      parts; the figure is the mean over the classes"""

import collections
import functools
import re

import markdown_parts

WORD = re.compile(r"\w+")
RUN = 4  # words
# What expected HTML cannot say.
NOT_IN_HTML = ("math", "footnote")


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else 0.0


def f1(precision, recall):
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def overlap(ours, truth):
    """Precision, recall and F1 of two bags."""
    if not ours or not truth:
        return (1.0, 1.0, 1.0) if not ours and not truth else (0.0, 0.0, 0.0)
    both = (ours & truth).total()
    precision, recall = both / ours.total(), both / truth.total()
    return precision, recall, f1(precision, recall)


def bag_of_words(text):
    return collections.Counter(WORD.findall(text.lower()))


# ---- scrapinghub ----


def runs_of(text):
    words = WORD.findall(text)
    return collections.Counter(tuple(words[at : at + RUN]) for at in range(max(1, len(words) - RUN + 1)) if words)


def measure_runs(page, markdown):
    """Shares of true, false and missing runs, and the page's own F1."""
    ours, truth = runs_of(markdown_parts.text_of_markdown(markdown, with_title=False)), runs_of(page.truth)
    true = (ours & truth).total()
    counts = true, ours.total() - true, truth.total() - true
    shares = [count / max(1, sum(counts)) for count in counts]
    return *shares, 2 * shares[0] / max(1e-9, 2 * shares[0] + shares[1] + shares[2])


def sum_runs(rows):
    def share(true, wrong, fault):
        return 1.0 if fault == 0 else true / (true + wrong)

    precision = mean(share(true, false, false + missing) for true, false, missing, _ in rows if true + false)
    recall = mean(share(true, missing, false + missing) for true, false, missing, _ in rows if true + missing)
    return {"figure": f1(precision, recall), "precision": precision, "recall": recall}


# ---- wcxb ----


def measure_words(page, markdown):
    text = markdown_parts.text_of_markdown(markdown)
    return page.kind, *overlap(bag_of_words(text), bag_of_words(page.truth.get("main_content") or ""))


def sum_words(rows):
    figures = {
        "figure": mean(row[3] for row in rows),
        "precision": mean(row[1] for row in rows),
        "recall": mean(row[2] for row in rows),
    }
    for kind in sorted({row[0] for row in rows}):
        figures[kind] = mean(row[3] for row in rows if row[0] == kind)
    return figures


# ---- trafilatura ----


def measure_segments(page, markdown):
    """Found and missing ones of those that must be there; found ones of those that must not."""
    text = markdown_parts.one_line(markdown_parts.text_of_markdown(markdown))
    wanted, unwanted = (page.truth.get(name) or [] for name in ("with", "without"))
    found = sum(markdown_parts.one_line(segment) in text for segment in wanted)
    wrong = sum(markdown_parts.one_line(segment) in text for segment in unwanted)
    right = (found + len(unwanted) - wrong) / max(1, len(wanted) + len(unwanted))
    return found, len(wanted) - found, wrong, right


def sum_segments(rows):
    found, missing, wrong = (sum(row[column] for row in rows) for column in range(3))
    precision, recall = found / max(1, found + wrong), found / max(1, found + missing)
    return {"figure": f1(precision, recall), "precision": precision, "recall": recall}


# ---- Chinese ----


def measure_characters(page, markdown):
    texts = markdown_parts.text_of_markdown(markdown, with_title=False), page.truth
    return overlap(*(collections.Counter(filter(str.isalnum, text)) for text in texts))


def sum_characters(rows):
    columns = zip(("precision", "recall", "figure"), range(3))
    return {name: mean(row[column] for row in rows) for name, column in columns}


# ---- structure ----


@functools.lru_cache(maxsize=4096)
def true_parts(name, url, truth):
    if name == "mozilla":
        return markdown_parts.parts_of_html(truth, url)
    return markdown_parts.parts_of_markdown(truth), markdown_parts.text_of_markdown(truth)


def measure_structure(page, markdown):
    """F1 of each class that the truth has, of the words, and the mean of all of these."""
    truth, text = true_parts(page.set, page.url, page.truth)
    ours = markdown_parts.parts_of_markdown(markdown)
    row = {}
    for name in markdown_parts.CLASSES:
        if truth[name] and not (page.set == "mozilla" and name in NOT_IN_HTML):
            a, b = collections.Counter(ours[name]), collections.Counter(truth[name])
            row[name] = 2 * (a & b).total() / (a.total() + b.total())
    row["text"] = overlap(bag_of_words(markdown_parts.text_of_markdown(markdown)), bag_of_words(text))[2]
    return row, mean(row.values())


def sum_structure(rows):
    classes = {name: [row[name] for row, _ in rows if name in row] for name in (*markdown_parts.CLASSES, "text")}
    figures = {name: mean(values) for name, values in classes.items() if values}
    return {"figure": mean(figures[name] for name in figures if name != "text"), **figures}


# What measures a page - the last of what it returns is the page's own figure - and what sums a set up.
SCORES = {
    "scrapinghub": (measure_runs, sum_runs),
    "wcxb-dev": (measure_words, sum_words),
    "wcxb-test": (measure_words, sum_words),
    "trafilatura": (measure_segments, sum_segments),
    "zh": (measure_characters, sum_characters),
    "mozilla": (measure_structure, sum_structure),
    "defuddle": (measure_structure, sum_structure),
}


def measure(page, markdown):
    return SCORES[page.set][0](page, markdown)


def sum_up(name, rows):
    """The figures of a set; "figure" is the one by which it is judged."""
    return SCORES[name][1](rows)
