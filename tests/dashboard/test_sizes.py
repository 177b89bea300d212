"""What the dashboard weighs, and that it is all its own."""

import gzip
import re

import pytest
from conftest import report
from programs import ROOT

MOST_BYTES = 150_000
FILES = sorted((ROOT / "web").iterdir())


def test_the_whole_page_is_small():
    sizes = {path.name: len(gzip.compress(path.read_bytes(), 9)) for path in FILES}
    report(f"the dashboard: {len(sizes)} files, {sum(sizes.values())} bytes compressed")
    assert sum(sizes.values()) <= MOST_BYTES, sizes


def test_pictures_of_the_documentation_are_small():
    pictures = list((ROOT / "docs" / "images").glob("dashboard-*.png"))
    assert pictures and all(path.stat().st_size < 150_000 for path in pictures)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_makes_no_markup_of_words(path):
    text = path.read_text()
    for banned in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "DOMParser", "createContextualFragment", "srcdoc"):
        assert banned not in text, banned
    addresses = set(re.findall(r"(?:https?:)?//[\w.-]+\.\w+", text)) - {"http://www.w3.org"}
    assert not addresses, "it asks nobody else"
    if path.suffix == ".html":
        assert not re.search(r"<script(?![^>]*\ssrc=)|<style|\son\w+=|style=", text)
