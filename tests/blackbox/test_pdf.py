"""PDFs by the program as it is: Poppler's two programs in their children, and what is made of their words."""

import os
import re
import subprocess

import pytest
from fakes.pdf_maker import make_pdf
from programs import FORAGE

LEFT = ["Left one of the text is here", "left two of the text and on", "left three of the text so", "left four ends here."]
RIGHT = ["Right one of the text is here", "right two of the text and on", "right three of the text", "ends as well."]


def read(folder, document, *options, path=None):
    file = folder / "a.pdf"
    file.write_bytes(document)
    environment = dict(os.environ, FORAGE_CACHE_TTL="0") | ({"PATH": path} if path else {})
    return subprocess.run(
        [FORAGE, "read", str(file), *options], capture_output=True, text=True, check=False, env=environment, timeout=120
    )


def column(x, lines, y=100):
    return [(10, x, y + 12 * index, line) for index, line in enumerate(lines)]


def table(rows, y=200):
    return [
        (10, (72, 200, 400)[at], y + 16 * index, cell) for index, row in enumerate(rows) for at, cell in enumerate(row) if cell
    ]


ROWS = [("Name", "What", "Count"), ("Alpha", "a first thing", "12"), ("Beta", "", "7"), ("Gamma", "x", "130")]
GRID = "| Name | What | Count |\n| --- | --- | --- |\n| Alpha | a first thing | 12 |\n| Beta | | 7 |\n| Gamma | x | 130 |\n"


def test_columns_a_table_and_headings(tmp_path):
    page = [(16, 72, 60, "A Title Across"), *column(72, LEFT), *column(330, RIGHT), *table(ROWS)]
    page += [(10, 72, 300, "A Bold Heading", "F2"), (10, 72, 320, "Some text that ends the page, as long as it is.")]
    assert read(tmp_path, make_pdf([page])).stdout == (
        "# A Title Across\n\n" + " ".join(LEFT) + "\n\n" + " ".join(RIGHT) + "\n\n" + GRID
        + "\n## A Bold Heading\n\nSome text that ends the page, as long as it is.\n"
    )


def test_code(tmp_path):
    page = [*column(72, LEFT), (10, 72, 170, "if (x) {", "F3"), (10, 96, 182, "y();", "F3"), (10, 72, 194, "}", "F3")]
    assert "```\nif (x) {\n    y();\n}\n```" in read(tmp_path, make_pdf([page])).stdout


def test_a_page_on_its_side(tmp_path):
    page = [(10, 100 + 12 * index, 700, line, "side") for index, line in enumerate(LEFT)]
    assert read(tmp_path, make_pdf([page])).stdout == " ".join(LEFT) + "\n"


def test_running_heads_are_told(tmp_path):
    pages = [
        [(9, 72, 30, "The running head"), *column(72, [f"{number * 7 % 5} is what begins here.", *LEFT]), (9, 300, 770, str(number))]
        for number in range(1, 5)
    ]
    pages[2].append((10, 72, 740, "99"))
    result = read(tmp_path, make_pdf(pages))
    assert "running" not in result.stdout and "left out: header 68, footer 8" in result.stderr
    assert result.stdout.count("is what begins here") == 4 and "99" in result.stdout
    whole = read(tmp_path, make_pdf(pages), "--all")
    assert whole.stdout.count("The running head") == 4 and "left out" not in whole.stderr


def test_without_fonts(tmp_path):
    """Where pdftohtml fails or says nonsense, every word is still there."""
    page = [(16, 72, 60, "A Title Across"), *column(72, LEFT), *column(330, RIGHT), *table(ROWS)]
    program = tmp_path / "bin" / "pdftohtml"
    program.parent.mkdir()
    for script in ("exit 1", "echo '<pdf2xml><page number=\"1\"><text font=\"-9\">'"):
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        assert GRID in read(tmp_path, make_pdf([page]), path=f"{program.parent}:{os.environ['PATH']}").stdout


@pytest.mark.parametrize("shape", ["one place", "grid", "rows", "columns", "diagonal", "pages"])
def test_hostile_places(tmp_path, shape):
    """Tens of thousands of words where none belong take seconds, not minutes, and none is lost."""
    place = {
        "one place": lambda index: (72, 100),
        "grid": lambda index: (20 + index % 100 * 5.7, 20 + index // 100 * 9.1),
        "rows": lambda index: (20 + index % 2 * 300, 20 + index // 2 * 0.18),
        "columns": lambda index: (20 + index // 300 * 20, 20 + index % 300 * 2.5),
        "diagonal": lambda index: (20 + index * 0.07, 20 + index * 0.09),
        "pages": lambda index: (20 + index * 37 % 500, 20 + index * 53 % 740),
    }[shape]
    words = [(4, *place(index), f"w{index}") for index in range(8000)]
    pages = [words] if shape != "pages" else [words[at : at + 10] for at in range(0, len(words), 10)]
    result = read(tmp_path, make_pdf(pages), "--all", "--max-chars", "200000")
    assert result.returncode == 0
    assert set(re.findall(r"w\d+", result.stdout)) == {text for *_, text in words}
