"""bench/quality and what it stands on: the sets of pages, the fifth of them that stays unopened, and the scores."""

import gzip
import json
import os
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench"))

import documentation  # noqa: E402 (bench/ is no package)
import markdown_parts  # noqa: E402
import page_sets  # noqa: E402


def page(url="", name="scrapinghub", number="7"):
    return page_sets.Page(name, number, "", url, "")


def test_the_split_follows_from_the_host_alone():
    sides = {
        # sha256 of "example.com" begins with a379a6f6: 2742658806 % 5 is 1
        "http://example.com/": False,
        "https://WWW.Example.com/other?page=2": False,
        "example.com/without-scheme": False,
    }
    for url, unopened in sides.items():
        assert page_sets.split_key(page(url)) == "example.com"
        assert page_sets.is_unopened(page(url)) == unopened
    hosts = [f"host{number}.example" for number in range(1000)]
    unopened = [host for host in hosts if page_sets.is_unopened(page(f"https://{host}/a"))]
    assert 150 < len(unopened) < 250
    for host in unopened:  # whatever the set, the path or the name of the page
        assert page_sets.is_unopened(page(f"http://www.{host.upper()}:8080/b", "defuddle", "other"))


def test_pages_without_an_address_are_split_by_their_names():
    assert page_sets.split_key(page("", "zh", "17")) == "17"
    assert page_sets.split_key(page("http://[broken", "zh", "18")) == "18"
    assert page_sets.split_key(page(page_sets.MOZILLA_URL, "mozilla", "some-site-3")) == "some-site"
    assert page_sets.split_key(page(page_sets.MOZILLA_URL, "mozilla", "some-site")) == "some-site"


def test_folds_cut_across_the_split():
    pages = [page(f"https://host{number}.example/") for number in range(1000)]
    opened = [one for one in pages if not page_sets.is_unopened(one)]
    counts = [sum(page_sets.fold(one) == number for one in opened) for number in range(5)]
    assert sum(counts) == len(opened) and min(counts) > 100


# ---- what is scored ----

MARKDOWN = """---
title: no part of the text
---
# Title

Some *soft* and **loud** words, `code()`, a [link](https://A.example/x "its title") and ![a picture](/p.png).
It costs $x_1 + 2$[^1], \\*not soft\\*, and [named] is <https://b.example/>.

- one
  - two
1. three

> quoted words

```py
x = 1
```

| a | b |
|---|---|
| 1 | 2 |

[named]: https://c.example/
[^1]: The note.
"""

HTML = """<h1>Title</h1><p>Some <em>soft</em> and <b>loud</b> words, <code>code()</code>, a
<a href="https://a.example/x">link</a> and <img src="/p.png">. It costs x_1 + 2, *not soft*, and
<a href="https://c.example/">named</a> is <a href="https://b.example/">https://b.example/</a>.</p>
<ul><li>one<ul><li>two</li></ul></li></ul><ol><li>three</li></ol><blockquote><p>quoted words</p></blockquote>
<pre class="language-py">x = 1</pre><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"""


def test_markdown_and_html_of_a_page_come_to_the_same_parts():
    ours, (truth, _) = markdown_parts.parts_of_markdown(MARKDOWN), markdown_parts.parts_of_html(HTML, None)
    assert ours.pop("math") == ["x_1+2"]
    assert ours.pop("footnote") == ["1", "the note itself"]
    assert {name: sorted(parts) for name, parts in ours.items()} == {name: sorted(parts) for name, parts in truth.items()}


def test_text_of_markdown_is_what_a_reader_sees():
    text = markdown_parts.text_of_markdown(MARKDOWN)
    assert text.startswith("Title\nSome soft and loud words, code(), a link and  .\nIt costs x_1 + 2, *not soft*,")
    ending = "one\ntwo\nthree\nquoted words\nx = 1\na b\n1 2\nThe note."
    assert "\n".join(map(markdown_parts.one_line, text.split("\n"))).endswith(ending)
    assert not markdown_parts.text_of_markdown(MARKDOWN, with_title=False).startswith("Title")


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("Setext\n===\nbody", "Setext\nbody"),
        ("    indented code\n\n> - item\n>   goes on", "indented code\nitem\ngoes on"),
        ("a\\|b | c\n-|-\n`x\\|y` | ***z***", "a|b   c\nx|y   z"),
        ("[a [b](c) d](e) [f](<g h>) [no link] ~~gone~~", "a b d f [no link] gone"),
        ("~~~\n# no heading\n~~~~\n* * *\ntext", "# no heading\ntext"),
        ("words\n2. no list\n1986. none", "words\n2. no list\n1986. none"),
        ("- [x] done<br>now &amp; here", "done now & here"),
    ],
)
def test_loose_markdown(markdown, text):
    assert markdown_parts.text_of_markdown(markdown) == text


def test_lost_parts_of_documentation():
    parts = {"headings": ["Setting up", "1.2 Lost"], "paragraphs": ["A <wide> word_list[0]."], "code": ["x = f(1)"]}
    markdown = "# Set*ting* [up](a.html)\n\nA \\<wide\\> word\\_list\\[0\\].\n"
    lost = documentation.lost_parts(parts, markdown)
    assert lost == {"headings": (2, ["lost"]), "paragraphs": (1, []), "code": (0, [])}


# ---- the whole ----


def host_on(unopened):
    hosts = (f"host{number}.example" for number in range(1000))
    return next(host for host in hosts if page_sets.is_unopened(page(f"https://{host}/")) == unopened)


def write_sets(folder, unopened_pages):
    """Sets of one page that may be looked at, and of one on a host that may not, whose file need not be there."""
    text = "This sentence is long enough to be taken for the text of the page by everybody who reads it. "
    html = f"<html><body><article><h1>Title</h1><p>{text * 3}</p><p>{text * 2}</p></article></body></html>"
    hosts = {"seen": host_on(False), "hidden": host_on(True)}
    bodies = {name: {"url": f"https://{host}/a", "articleBody": text * 5} for name, host in hosts.items()}
    segments = {"with": [text.strip()], "without": ["xyz"]}
    files = {f"https://{host}/": {"file": f"{name}.html", **segments} for name, host in hosts.items()}
    packed = {"scrapinghub": ("html", "ground-truth.json", bodies), "trafilatura": ("pages", "evaldata.json", files)}
    for name, (place, truth, content) in packed.items():
        (folder / name / place).mkdir(parents=True)
        (folder / name / truth).write_text(json.dumps(content))
        for page_name in ["seen", "hidden"][: 1 + unopened_pages]:
            (folder / name / place / f"{page_name}.html.gz").write_bytes(gzip.compress(html.encode()))
    for place in ("ground-truth", "html"):
        (folder / "wcxb/dev" / place).mkdir(parents=True)
    for page_name, host in hosts.items():
        truth = {"url": f"https://{host}/", "ground_truth": {"main_content": text * 5}}
        (folder / f"wcxb/dev/ground-truth/{page_name}.json").write_text(json.dumps(truth))
        if unopened_pages or page_name == "seen":
            (folder / f"wcxb/dev/html/{page_name}.html.gz").write_bytes(gzip.compress(html.encode()))


def run_quality(folder, *options):
    out = folder / "figures.json"
    command = [sys.executable, "-B", os.path.join(ROOT, "bench/quality"), str(folder), "--no-docs", "--json", str(out)]
    done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, json.loads(out.read_text())["sets"]


def test_without_last_nothing_unopened_is_read(tmp_path):
    write_sets(tmp_path, unopened_pages=False)  # reading one would fail
    printed, sets = run_quality(tmp_path, "--worst", "5")
    assert set(sets) == {"scrapinghub", "wcxb-dev", "trafilatura"}
    for figures in sets.values():
        assert figures["pages"] == 1 and figures["opened"]["figure"] == 1.0 and "unopened" not in figures
    assert "hidden" not in printed and "difference" not in printed


def test_last_opens_the_rest_and_never_names_it(tmp_path):
    write_sets(tmp_path, unopened_pages=True)
    printed, sets = run_quality(tmp_path, "--worst", "5", "--last")
    for figures in sets.values():
        assert figures["pages"] == 2 and figures["unopened"]["figure"] == 1.0 and figures["whole"]["figure"] == 1.0
        assert len(figures["by_page"]) == 1
    assert "hidden" not in printed and "+0.000" in printed
