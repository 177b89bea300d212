"""Which units of a page are content, as far as the truth of its set says so.

A unit is content when its words stand in the truth in the same order: words are matched in runs of four, which may go
on from one unit into the next, so that a heading of one word counts where its neighbours do. Where nothing can be said,
a unit gets no weight: a short one whose words stand in the truth, but elsewhere; in the sets of segments, everything
that no segment names; in manuals, everything but the headings, paragraphs and code of their main parts."""

import collections
import html
import re

import documentation
import numpy

CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
WORDS = re.compile(f"[{CJK}]|[^\\W_{CJK}]+")  # a character of Chinese or Japanese is a word
RUN = 4
SHORTEST_REPEAT, REPEATED = 6, 0.6  # words; a share of its runs
INLINE_TAGS = re.compile(r"</?(a|abbr|b|cite|code|em|font|i|kbd|mark|q|small|span|strong|su[bp]|time|tt|u|var|wbr)\b", re.I)
SHORTEST_SEGMENT, SHORTEST_PART = 3, 25
SHORTEST_IN_MANUAL = 12


def words(text):
    return WORDS.findall(text.lower())


def text_of_html(source):
    source = re.sub(r"<(script|style)\b.*?</\1>", "", source, flags=re.DOTALL | re.IGNORECASE)
    return html.unescape(re.sub(r"<[^>]*>", lambda tag: "" if INLINE_TAGS.match(tag[0]) else " ", source))


def text_of_markdown(source):
    source = re.sub(r"!\[[^\]]*\]\([^)]*\)", " ", source)
    source = re.sub(r'\]\((?:[^()\s]|\([^()]*\))*(?:\s"[^"]*")?\)', " ", source)
    source = re.sub(r"\\([\\`*_{}\[\]()#+\-.!<>|~$])", r"\1", source)
    source = re.sub(r"\[\^[^\]]+\]:?", " ", re.sub(r"\*\*|__|[*`]", "", source))
    return html.unescape(re.sub(r"</?[a-z][^>]*>", " ", source))


def true_text(page):
    if page.set.startswith("wcxb"):
        return page.truth.get("main_content") or ""
    return {"mozilla": text_of_html, "defuddle": text_of_markdown}.get(page.set, str)(page.truth)


def runs(sequence, length):
    return set(zip(*(sequence[start:] for start in range(length))))


def covered(sequence, length, truth):
    """Of each word, whether a run with it stands in the truth."""
    found = numpy.zeros(len(sequence), bool)
    for at in range(len(sequence) - length + 1):
        if tuple(sequence[at : at + length]) in truth:
            found[at : at + length] = True
    return found


def says_again(sequence, in_page, in_truth):
    """Whether most of it stands on the page more often than in the truth: a quote, a teaser, a text for small screens."""
    all_runs = list(zip(*(sequence[start:] for start in range(RUN))))
    again = sum(in_page[run] > in_truth[run] > 0 for run in all_runs)
    return len(sequence) >= SHORTEST_REPEAT and again > REPEATED * len(all_runs)


def by_words(texts, truth, left_out):
    """(share of each unit that is content, how sure that is). Of what is said twice, what the rules left out is not."""
    sequences, truth = [words(text) for text in texts], words(truth)
    of_length = {length: runs(truth, length) for length in range(1, RUN + 1)}
    page = [word for sequence in sequences for word in sequence]
    found = covered(page, RUN, of_length[RUN])
    in_page, in_truth = (collections.Counter(zip(*(text[at:] for at in range(RUN)))) for text in (page, truth))
    shares, sure, at = numpy.zeros(len(texts)), numpy.zeros(len(texts)), 0
    for number, sequence in enumerate(sequences):
        share = found[at : at + len(sequence)].mean() if sequence else 0.5
        at += len(sequence)
        if RUN <= len(sequence) < 2 * RUN and 0 < share < 1:
            share = max(share, 0.9 * covered(sequence, RUN - 1, of_length[RUN - 1]).mean())
        short = 0 < len(sequence) < RUN and share < 1
        if short:
            share = max(share, 0.5) if tuple(sequence) in of_length[len(sequence)] else 0
        if share >= 0.5 and left_out[number] and says_again(sequence, in_page, in_truth):
            share = 0
        unsure = not sequence or (short and share > 0)
        shares[number], sure[number] = share, 0 if unsure else abs(2 * share - 1)
    return shares, sure


def squash(text):
    return re.sub(r"\s+", " ", text.replace("\u00a0", " ").replace("\u200b", "")).strip()


def by_segments(texts, truth):
    texts = [squash(text) for text in texts]
    shares, sure = numpy.zeros(len(texts)), numpy.zeros(len(texts))
    for share, segments in ((0, truth.get("without", [])), (1, truth.get("with", []))):
        for segment in filter(lambda text: len(text) >= SHORTEST_SEGMENT, map(squash, segments)):
            for number, text in enumerate(texts):
                if segment in text or (len(text) >= SHORTEST_PART and text in segment):
                    shares[number], sure[number] = share, 1
    return shares, sure


def by_parts(texts, parts):
    """Of a manual: its headings, paragraphs and code, none of which may be lost."""
    known = {documentation.letters(part) for kind in parts.values() for part in kind}
    joined = "|".join(known)
    shares = numpy.zeros(len(texts))
    for number, text in enumerate(map(documentation.letters, texts)):
        least = SHORTEST_IN_MANUAL if text not in known else documentation.LEAST_LETTERS
        shares[number] = len(text) >= least and text in joined
    return shares, shares.copy()
