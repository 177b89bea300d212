"""Trains the model that decides what of a page is content, and says how good it is on pages that it has not seen.

    scripts/train-chooser FOLDER [--manuals FOLDER] [--write]

FOLDER holds sets of pages as bench/page_sets.py tells. The unopened fifth of their hosts is never read. What is printed
is what the whole extractor comes to, with models that have not seen the page: five parts of the hosts in turn, and
each set in turn; beside it, the rules alone and the model that has seen everything. --write puts that one into
data/page-model.txt. A model takes a minute or two."""

import argparse
import concurrent.futures
import dataclasses
import hashlib
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bench"))

import documentation  # noqa: E402
import labels  # noqa: E402
import measure  # noqa: E402
import numpy  # noqa: E402
import page_scores  # noqa: E402
import page_sets  # noqa: E402
from catboost import CatBoostClassifier, Pool  # noqa: E402

UNITS = os.path.join(measure.ROOT, "build/forage-units")
MODEL = os.path.join(measure.ROOT, "data/page-model.txt")
FOLDS = 5
MANUAL_PAGES = 45  # of each package
LARGEST_MANUAL = 300_000  # bytes
SCALE = 1000  # of scores: choose/model.h
# How much a page of a set counts; without this one set of twelve hundred pages would drown the others.
WEIGHTS = {"scrapinghub": 3, "wcxb-dev": 1, "trafilatura": 1, "zh": 3, "mozilla": 2, "defuddle": 1, "manuals": 3}
LETTERS_POWER = 0.25  # a unit counts as its letters to this power
MOST_UNITS = 160  # of a page that are learned from
HEADER = """# Which units of a page are content: boosted trees that scripts/train-chooser has learned. scripts/model.py tells how they
# read, src/html/choose/features.h what they ask for. Nothing here is written by hand.
"""


@dataclasses.dataclass
class Sample:
    """The units of one page."""

    page: page_sets.Page
    features: numpy.ndarray
    content: numpy.ndarray
    weights: numpy.ndarray


# ---- the program that reads pages ----


class Reader:
    """training/units.c with one model."""

    def __init__(self, mode, model):
        command = [UNITS, mode, model]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def read(self, page, home):
        path, out = os.path.join(home, "page.html"), os.path.join(home, "out")
        with open(path, "wb") as file:
            file.write(page.html())
        self.process.stdin.write(f"{path}\t{page.url}\t{out}\n")
        self.process.stdin.flush()
        if not self.process.stdout.readline():
            sys.exit(f"train-chooser: the reader died at {page.path}")
        with open(out, "rb") as file:
            return file.read()

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def read_pages(pages, mode, model_of):
    """What the program writes for each page, with the model whose path `model_of` gives."""
    readers = {}
    with tempfile.TemporaryDirectory(prefix="forage-train-") as home:
        for page in pages:
            model = model_of(page)
            if model not in readers:
                readers[model] = Reader(mode, model)
            yield page, readers[model].read(page, home)
    for reader in readers.values():
        reader.close()


def parse_units(written):
    """(names of the features, texts, features) of what `forage-units units` wrote."""
    first, names, rest = written.split(b"\n", 2)
    count, width = map(int, first.split())
    size = 2 * count * width
    features = numpy.frombuffer(rest[len(rest) - size :], numpy.int16).reshape(count, width)
    texts = rest[: len(rest) - size].decode("utf-8", "replace").split("\n")[:count]
    return names.decode().split(), texts, features


# ---- pages ----


def pages_of_manuals(folder):
    for package in documentation.packages_in(folder) if folder else ():
        drawn = 0
        for path in documentation.pages_of(folder, package):
            parts = documentation.parts_of(path) if os.path.getsize(path) < LARGEST_MANUAL else None
            if parts and drawn < MANUAL_PAGES:
                drawn += 1
                url = f"https://docs.example.org/{os.path.basename(path)}"
                yield page_sets.Page("manuals", path, path, url, parts, package)


def fold_of(page):
    if page.set != "manuals":
        return page_sets.fold(page, FOLDS)
    return int(hashlib.sha256(page.kind.encode()).hexdigest()[8:16], 16) % FOLDS


def label(page, texts, left_out):
    if page.set == "manuals":
        return labels.by_parts(texts, page.truth)
    if page.set == "trafilatura":
        return labels.by_segments(texts, page.truth)
    return labels.by_words(texts, labels.true_text(page), left_out)


def sample_of(page, names, texts, features):
    """A page counts as its set tells; its units share that by their letters, damped."""
    left_out = (features[:, names.index("OMISSION")] != 0) | (features[:, names.index("ROOT_SIDE")] != 0)
    shares, sure = label(page, texts, left_out)
    letters = numpy.array([max(1, len(re.sub(r"\s", "", text))) for text in texts], float)
    weights = sure * letters**LETTERS_POWER
    weights *= WEIGHTS[page.set] / max(weights.sum(), 1e-9)
    if len(texts) > MOST_UNITS:
        drawn = numpy.random.default_rng(0).choice(len(texts), MOST_UNITS, replace=False)
        features, shares, weights = features[drawn], shares[drawn], weights[drawn]
    return Sample(page, features, shares >= 0.5, weights)


def look(pages, model):
    """The names of the features, and a sample of each page that has units."""
    names, samples = [], []
    for page, written in read_pages(pages, "units", lambda page: model):
        if not written.startswith(b"0 "):
            names, texts, features = parse_units(written)
            samples.append(sample_of(page, names, texts, features))
    return names, samples


# ---- models ----


def fit(samples, names, path):
    """Writes a model of these samples."""
    weights = numpy.concatenate([sample.weights for sample in samples])
    used = weights > 0
    features = numpy.concatenate([sample.features for sample in samples])[used].astype(numpy.float32)
    content = numpy.concatenate([sample.content for sample in samples])[used]
    model = CatBoostClassifier(
        iterations=80,
        depth=6,
        learning_rate=0.15,
        l2_leaf_reg=10,
        border_count=64,
        bootstrap_type="Bernoulli",
        subsample=0.7,
        rsm=0.5,
        random_strength=0.5,
        boosting_type="Plain",
        leaf_estimation_iterations=1,
        random_seed=0,
        verbose=False,
        allow_writing_files=False,
    )
    model.fit(Pool(features, content.astype(int), weight=weights[used] * used.sum() / weights.sum()))
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        model.save_model(file.name, format="json")
        saved = json.load(file)
    write_model(path, saved, names)


def write_model(path, saved, names):
    """CatBoost's model with whole numbers: features have no others."""
    places = [feature["flat_feature_index"] for feature in saved["features_info"]["float_features"]]
    scale, start = saved["scale_and_bias"]
    rows = [f"start {round(start[0] * SCALE)}"]
    for tree in saved["oblivious_trees"]:
        questions = [
            f"{names[places[split['float_feature_index']]]}>{math.floor(split['border'])}" for split in tree["splits"]
        ]
        leaves = [str(round(value * scale * SCALE)) for value in tree["leaf_values"]]
        rows.append(" ".join([*questions, ":", *leaves]))
    with open(path, "w", encoding="ascii") as file:
        file.write(HEADER + "\n".join(rows) + "\n")


# ---- figures ----


def score(pages, model_of):
    """{set: figures} of the whole extractor."""
    pages = [page for page in pages if page.set != "manuals"]
    written = [(page, text.decode("utf-8", "replace")) for page, text in read_pages(pages, "markdown", model_of)]
    with concurrent.futures.ProcessPoolExecutor() as pool:
        rows = list(pool.map(page_scores.measure, *zip(*written), chunksize=16))
    by_set = {}
    for (page, _), row in zip(written, rows):
        by_set.setdefault(page.set, []).append(row)
    return {name: page_scores.sum_up(name, rows) for name, rows in by_set.items()}


def print_figures(title, figures):
    columns = "  ".join(f"{name} {row['figure']:.4f}" for name, row in figures.items())
    print(f"{title:24} {columns}", flush=True)


def cross_validate(names, samples, home, part_of):
    """The figures of pages that the model has not seen: all parts in turn."""
    models = {}
    for part in sorted({part_of(sample.page) for sample in samples if sample.page.set != "manuals"}):
        models[part] = os.path.join(home, f"without-{part}.txt")
        fit([sample for sample in samples if part_of(sample.page) != part], names, models[part])
    return score([sample.page for sample in samples], lambda page: models[part_of(page)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="sets of pages")
    parser.add_argument("--manuals", metavar="FOLDER", help="packages of documentation, as bench/quality unpacks them")
    parser.add_argument("--folds", action="store_true", help="train without each fifth of the hosts, too")
    parser.add_argument("--sets", action="store_true", help="train without each set, too")
    parser.add_argument("--write", action="store_true", help="put the model into data/page-model.txt")
    options = parser.parse_args()
    build = ["meson", "compile", "-C", "build", "forage-units"]
    subprocess.run(build, cwd=measure.ROOT, check=True, stdout=subprocess.DEVNULL)
    names = [name for name in page_sets.sets_in(options.folder) if name in WEIGHTS]
    pages = [page for name in names for page in page_sets.load(name, options.folder) if not page_sets.is_unopened(page)]
    pages += pages_of_manuals(options.manuals)
    with tempfile.TemporaryDirectory(prefix="forage-train-") as home:
        none, model = os.path.join(home, "none.txt"), os.path.join(home, "all.txt")
        with open(none, "w", encoding="ascii") as file:
            file.write("start 0\n")
        names, samples = look(pages, none)
        fit(samples, names, model)
        if options.write:
            shutil.copyfile(model, MODEL)
        print_figures("the rules alone", score(pages, lambda page: none))
        print_figures("has seen every page", score(pages, lambda page: model))
        if options.folds:
            print_figures("without each fifth", cross_validate(names, samples, home, fold_of))
        if options.sets:
            print_figures("without each set", cross_validate(names, samples, home, lambda page: page.set))


if __name__ == "__main__":
    main()
