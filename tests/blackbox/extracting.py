"""Many pages through the extractor in one process, and what their Markdown says."""

import re
import subprocess

from programs import FORAGE, environment

URL = "https://reader.example/guide/page"


def extract(folder, pages):
    """The Markdown of each page, by the names of the pages."""
    lines = []
    for number, html in enumerate(pages.values()):
        (folder / f"{number}.html").write_text(html, encoding="utf-8")
        lines.append(f"{folder}/{number}.html\t{URL}\t{folder}/{number}.md\n")
    subprocess.run(
        [FORAGE, "extract", "--batch"],
        input="".join(lines),
        env=environment({}),
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    texts = [(folder / f"{number}.md").read_text(encoding="utf-8") for number in range(len(pages))]
    return {name: without_head(text) for name, text in zip(pages, texts, strict=True)}


def without_head(text):
    """What is known of a page stands before its text, between two lines of dashes."""
    return re.sub(r"\A---\n.*?\n---\n\n", "", text, flags=re.S)


def plain(markdown):
    """The words alone: no links, emphasis, escapes or marks of headings, one space between words."""
    text = re.sub(r"!?\[([^\]\[]*)\]\([^)]*\)", r"\1", markdown)
    text = re.sub(r"[\\`*_|>#]", "", text)
    return " ".join(text.split())
