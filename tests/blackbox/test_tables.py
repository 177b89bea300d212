"""scripts/tables.py, which makes C of the word tables under data/: what it refuses, and where it says the fault is."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEAD = "# What the words are for.\n"


def make(tmp_path, text):
    file = tmp_path / "words.txt"
    file.write_text(text)
    out = [str(tmp_path / "tables.c"), str(tmp_path / "tables.h")]
    command = [sys.executable, str(ROOT / "scripts/tables.py"), "--source", out[0], "--header", out[1], str(file)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[t HINT]\na: b\n", 1, "says what the words are for"),
        (HEAD + "a: b\n", 2, "before the first [table]"),
        (HEAD + "[t]\na: b\n", 2, "needs a prefix"),
        (HEAD + "[T HINT]\na: b\n", 2, "no heading"),
        (HEAD + "[t HINT]\n", 2, "empty table"),
        (HEAD + "[t HINT]\na b c\n", 3, "a name and a colon"),
        (HEAD + "[t HINT]\na:\n", 3, "without words"),
        (HEAD + "[t HINT]\na: b c\n   d\n   b\n", 5, '"b" stands in line 3 already'),
        (HEAD + "[t HINT fold]\na: b\na: B\n", 4, '"b" stands in line 3 already'),
        (HEAD + "[t HINT bare]\na: \u00c9t\u00e9\na: ete\n", 4, '"ete" stands in line 3 already'),
        (HEAD + "[t names]\na: b\nc: b\n", 4, '"b" stands in line 3 already'),
        (HEAD + "[t HINT ordered]\na: b\nc: b\n", 4, '"b" stands in line 3 already'),
        (HEAD + "[t list]\na b\nb\n", 4, '"b" stands in line 3 already'),
        (HEAD + "[t HINT phrases]\na: see also | read*\nb: read on\n", 4, '"read*" covers it'),
        (HEAD + "[t pairs]\na b c\n", 3, "without its text"),
        (HEAD + "[t list]\na\n[t list]\nb\n", 4, "two tables t"),
        (HEAD + "[t HINT]\na: " + "b" * 256 + "\n", 3, "too long"),
    ],
)
def test_a_fault_is_named_with_its_line(tmp_path, text, line, words):
    made = make(tmp_path, text)
    assert made.returncode != 0
    assert f"words.txt:{line}: " in made.stderr
    assert words in made.stderr


def test_what_comes_out(tmp_path):
    made = make(
        tmp_path,
        HEAD
        + "[hints HINT from a/hints.h]\nnav: menu both\nside panel: both\n"
        + "[points POINTS()]\narticle 3: blog\n"
        + "[ranks META ordered]\ntitle: one two\n"
        + "[names names]\n=: ada\npython: py\n"
        + "[texts texts]\nDE: Federal Republic\n  of Germany\n"
        + "[signs pairs]\nx \\\\times\n"
        + "[kin groups]\ndev developer\ndev development\n"
        + "[order ranks fold]\nFirst\nsecond\n"
        + "[parts list phrases]\nby: | by\n",
    )
    assert made.returncode == 0, made.stderr
    source = (tmp_path / "tables.c").read_text()
    for piece in (
        '#include "a/hints.h"',
        "HINT_NAV | HINT_SIDE_PANEL",
        "POINTS(ARTICLE, 3)",
        "WORD_RANK(META_TITLE, 2)",
        '"python\\0"',
        '"\\\\\\\\times\\0"',
        '"first\\0"',
        '"dev developer dev development\\0"',
        '"dev developer\\0"',
        '"Federal Republic of Germany\\0"',
        'const char *const parts[] = {\n    "by:",\n    "by",\n    NULL,\n};',
        f'#line 3 "{tmp_path}/words.txt"',
    ):
        assert piece in source
