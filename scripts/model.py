#!/usr/bin/env python3
"""Turns data/page-model.txt, which scripts/train-chooser writes, into C: the trees of html/choose/model.h.

    model.py MODEL.txt OUT.c

Lines that begin with `#` are comments. `start NUMBER` is where a score starts. Each other line is a tree: what its
levels ask (`LETTERS>40`: is that feature above 40?), a colon, and its leaves. The first question decides between the
leaves of even and of odd places, the second between every two, and so on. A tree with fewer levels than others is
brought to their size. The compiler refuses a feature that choose/features.h does not have."""

import re
import sys

DEPTH = 6
QUESTION = re.compile(r"([A-Z][A-Z0-9_]*)>(-?\d+)\Z")


def read(path):
    """The start, and (line, questions, leaves) of each tree."""
    start, trees = None, []
    with open(path, encoding="ascii") as file:
        for number, line in enumerate(file, 1):
            words = line.split("#")[0].split()
            if not words:
                continue
            if words[0] == "start":
                start = int(words[1])
                continue
            cut = words.index(":")
            questions = [QUESTION.match(word).groups() for word in words[:cut]]
            leaves = [int(word) for word in words[cut + 1 :]]
            if not 0 < len(questions) <= DEPTH or len(leaves) != 1 << len(questions):
                raise ValueError(f"line {number}: {len(questions)} questions and {len(leaves)} leaves")
            trees.append((number, questions, leaves))
    if start is None or not trees:
        raise ValueError("no model")
    return start, trees


def row(path, number, questions, leaves):
    """One tree in C. Where it has fewer levels, the first question is asked again and nothing hangs on it."""
    while len(questions) < DEPTH:
        questions, leaves = questions + [questions[0]], leaves + leaves
    features = ", ".join(f"FEATURE_{name}" for name, _ in questions)
    thresholds = ", ".join(threshold for _, threshold in questions)
    return f'#line {number} "{path}"\n    {{{{{features}}}, {{{thresholds}}}, {{{", ".join(map(str, leaves))}}}}},\n'


def main():
    path, out = sys.argv[1:]
    try:
        start, trees = read(path)
    except (OSError, ValueError, AttributeError, IndexError) as error:
        sys.exit(f"model: {path}: {error}")
    rows = "".join(row(path, *tree) for tree in trees)
    with open(out, "w", encoding="ascii") as file:
        file.write(
            '/* Made by scripts/model.py. */\n#include "html/choose/model.h"\n\n'
            f"static const struct model_tree TREES[] = {{\n{rows}}};\n\n"
            f"const struct chooser_model page_model = {{TREES, {len(trees)}, {start}}};\n"
        )


if __name__ == "__main__":
    main()
