"""Documents that are ZIP archives, as faithful Markdown: made part by part, so that each line of the result has its cause."""

import base64
import json
import subprocess

import pytest
from documents import (
    cell,
    content_types,
    core,
    docx,
    docx_parts,
    epub,
    item,
    odt,
    pack,
    paragraph,
    pptx,
    run_of,
    shape,
    sheet,
    slide,
    table,
    wide,
    xlsx,
)
from fake_web import Answer
from http_client import exchange, request
from messages import tool_call
from programs import ROOT, Stdio, run
from reading import call, forage, get, page, shared_forage, shared_web, web  # noqa: F401 (fixtures)

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


@pytest.fixture
def read(tmp_path):
    """The Markdown of a document, and what is said of it."""

    def read_bytes(content, name="document"):
        (tmp_path / name).write_bytes(content)
        done = run("read", f"./{name}", "--json", cwd=tmp_path, FORAGE_DATA_DIR=tmp_path)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return read_bytes


def text_of(read, content):
    return read(content)["page_content"].strip("\n")


# ---- DOCX ----

LINK = '<w:hyperlink r:id="r1"><w:r><w:t>a link</w:t></w:r></w:hyperlink>'
FIELD = (
    '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> HYPERLINK "https://example.org/f" </w:instrText></w:r>'
    '<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>a field</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>'
)
PICTURE = '<w:r><w:drawing><wp:inline><wp:docPr id="1" name="Picture 1" descr="A &amp; B"/></wp:inline></w:drawing></w:r>'
BOX = (
    "<w:r><mc:AlternateContent><mc:Choice><w:txbxContent><w:p><w:r><w:t>In a box</w:t></w:r></w:p></w:txbxContent></mc:Choice>"
    "<mc:Fallback><w:txbxContent><w:p><w:r><w:t>In a box</w:t></w:r></w:p></w:txbxContent></mc:Fallback></mc:AlternateContent></w:r>"
)
TRACKED = "<w:ins><w:r><w:t>new</w:t></w:r></w:ins><w:del><w:r><w:delText>old</w:delText><w:t>old</w:t></w:r></w:del>"

DOCX_CASES = {
    "paragraphs": (paragraph("One.") + paragraph() + paragraph("Two."), "One.\n\nTwo."),
    "headings": (
        paragraph("Top", style="H1") + paragraph("By name", style="Mine") + paragraph("By level", style="Out"),
        "# Top\n\n## By name\n\n### By level",
    ),
    "below a title": (paragraph("All", style="T") + paragraph("Part", style="H1"), "# All\n\n## Part"),
    "the table of contents repeats the headings": (
        paragraph("Top", LINK, style="TOC1") + paragraph("Top", style="H1"),
        "# Top",
    ),
    "emphasis over split runs": (
        paragraph(run_of("so ", "<w:b/>"), run_of("bold", "<w:b/>"), run_of(" and "), run_of("slanted", "<w:i/>")),
        "**so bold** and *slanted*",
    ),
    "emphasis taken back": (paragraph(run_of("plain", '<w:rStyle w:val="None"/><w:b w:val="0"/>')), "plain"),
    "emphasis by style": (paragraph(run_of("much", '<w:rStyle w:val="Strong"/>')), "**much**"),
    "struck": (paragraph(run_of("gone", "<w:strike/>")), "~~gone~~"),
    "code in a line": (
        paragraph("Call ", run_of("f(*x)", '<w:rFonts w:ascii="Courier New"/>'), run_of(" or "), run_of("g", '<w:rStyle w:val="Verb"/>')),
        "Call `f(*x)` or `g`",
    ),
    "code": (
        paragraph("if x:", style="Code") + paragraph("    y &lt; z", style="Code") + paragraph("End."),
        "```\nif x:\n    y < z\n```\n\nEnd.",
    ),
    "a quote": (paragraph("To be", style="Q") + paragraph("or not", style="Q"), "> To be\n>\n> or not"),
    "a list with levels": (
        item("one", 2) + item("deeper", 2, 1) + item("deepest", 2, 2) + item("two", 2),
        "- one\n  - deeper\n    1. deepest\n- two",
    ),
    "numbers": (item("one", 1) + item("sub", 1, 1) + item("two", 1), "1. one\n   1. sub\n2. two"),
    "numbers go on": (item("one", 1) + paragraph("Between.") + item("two", 1), "1. one\n\nBetween.\n\n2. two"),
    "numbers that begin elsewhere": (item("five", 3) + item("six", 3), "5. five\n6. six"),
    "a list by its style": (paragraph("dot", style="LB"), "- dot"),
    "levels that are skipped": (item("one", 2) + item("far", 2, 2) + item("back", 2, 1), "- one\n  1. far\n  - back"),
    "a table": (table(["a", "b|c"], ["d", "e"]), "| a | b\\|c |\n| --- | --- |\n| d | e |"),
    "cells over columns": (
        table(["a", "b"], [f'<w:tcPr><w:gridSpan w:val="2"/></w:tcPr>{paragraph("both")}']),
        "| a | b |\n| --- | --- |\n| both |",
    ),
    "paragraphs in a cell": (table(["a", "b"], [paragraph("c") + paragraph("d"), "e"]), "| a | b |\n| --- | --- |\n| c<br>d | e |"),
    "a link": (paragraph("See ", LINK, "."), "See [a link](https://example.org/a?b=1&c=2)."),
    "a link by a field": (paragraph("See ", FIELD, "."), "See [a field](https://example.org/f)."),
    "a link that is none": (
        paragraph('<w:hyperlink r:id="r2"><w:r><w:t>run me</w:t></w:r></w:hyperlink>'),
        "run me",
    ),
    "a picture": (paragraph("Before ", PICTURE), "Before *Picture: A & B*"),
    "a box": (paragraph("Outside", BOX), "Outside\n\nIn a box"),
    "tracked changes": (paragraph(TRACKED), "new"),
    "hidden text": (paragraph(run_of("seen"), run_of("unseen", "<w:vanish/>")), "seen"),
    "a break and a tab": (paragraph("a", "<w:r><w:br/></w:r>", "b", "<w:r><w:tab/></w:r>", "c"), "a  \nb c"),
    "a note": (
        paragraph("He said so", '<w:r><w:footnoteReference w:id="2"/></w:r>', "."),
        "He said so[^1].\n\n[^1]: Said in 1812.",
    ),
    "signs of Markdown and of HTML": (
        paragraph("*a* _b_ # &lt;b&gt; &amp;amp;") + paragraph("- no list"),
        "\\*a\\* \\_b\\_ # \\<b> \\&amp;\n\n\\- no list",
    ),
    "a style that is its own ancestor": (paragraph("Round", style="Loop"), "Round"),
    "controls that hold content": (
        f"<w:sdt><w:sdtPr><w:text/></w:sdtPr><w:sdtContent>{paragraph('Inside')}</w:sdtContent></w:sdt>",
        "Inside",
    ),
}


@pytest.mark.parametrize("name", DOCX_CASES)
def test_docx(read, name):
    body, expected = DOCX_CASES[name]
    assert text_of(read, docx(body)) == expected


def test_docx_says_what_it_is(read):
    parts = docx_parts(paragraph("Words."))
    parts["docProps/core.xml"] = core("On &amp; on", "Ada Baker", "2026-03-01T10:00:00Z")
    result = read(pack(parts))
    assert result["kind"] == result["loader"] == "docx"
    assert result["title"] == "On & on" and result["page_content"] == "# On & on\n\nWords.\n"
    assert result["author"] == "Ada Baker" and result["published"] == "2026-03-01T10:00:00Z"


@pytest.mark.parametrize(
    "packed",
    [
        docx(paragraph("Words.")),
        pack(docx_parts(paragraph("Words.")), method=0),
        wide(docx(paragraph("Words."))),
        pack({**docx_parts(paragraph("Words.")), "word/document.xml": docx_parts(paragraph("Words."))["word/document.xml"].replace("UTF-8", "UTF-16").encode("utf-16")}),
        pack({**docx_parts(paragraph("Words.")), "[Content_Types].xml": content_types("word/document.xml", "wordprocessingml.template")}),
    ],
    ids=["deflated", "stored", "64 bits", "UTF-16", "template"],
)
def test_forms_of_the_archive(read, packed):
    assert text_of(read, packed) == "Words."


# ---- over the web, and files on the command line alone ----


@pytest.mark.parametrize("kind", [DOCX, "application/octet-stream", "application/zip", "text/plain", "text/html"])
def test_over_the_web(forage, web, kind):
    web.answers["/doc"] = Answer(docx(paragraph("Title", style="H1") + paragraph("Words.")), kind=kind)
    result = get(forage, web.url("/doc"))
    assert result["page_content"] == "# Title\n\nWords.\n" and result["loader"] == "docx"
    assert get(forage, web.url("/doc"), outline=True)["outline"][0]["title"] == "Title"


def test_files_by_their_names(tmp_path):
    (tmp_path / "notes.docx").write_bytes(docx(paragraph("From a file.")))
    (tmp_path / "page.html").write_text(page(title="A file"))
    (tmp_path / "folder.html").mkdir()
    read = lambda name: run("read", name, cwd=tmp_path, FORAGE_DATA_DIR=tmp_path)  # noqa: E731
    assert read("notes.docx").stdout == "From a file.\n"
    assert "# A file" in read("page.html").stdout
    assert read(tmp_path / "notes.docx").stdout == "From a file.\n"
    (tmp_path / "empty.pdf").write_bytes(b"")
    assert "EmptyPage: the file is empty" in read("empty.pdf").stderr
    for missing in ("other.docx", "folder.html"):
        assert f"was taken for https://{missing}" in read(missing).stderr


def file_names(tmp_path):
    path = tmp_path / "secret.docx"
    path.write_bytes(docx(paragraph("Of this machine alone.")))
    return [str(path), f"file://{path}", f"file:{path}", "./secret.docx", "secret.docx", f"file://localhost{path}", "../secret.docx"]


def test_no_files_over_http(forage, tmp_path):
    for name in file_names(tmp_path):
        answer = call(forage, {"url": name})
        assert b"Of this machine" not in answer.body
        assert answer.status == 400 or answer.json()["failed"], name
        searched = exchange(forage.port, request("POST", "/mcp", {}, tool_call("get_content", {"url": name})))
        assert b"Of this machine" not in searched.body


def test_no_files_over_stdio(tmp_path):
    names = file_names(tmp_path)
    with Stdio(cwd=tmp_path, FORAGE_DATA_DIR=tmp_path) as server:
        server.handshake()
        for name in names:
            answer = server.ask("tools/call", {"name": "get_content", "arguments": {"url": name}})
            assert "Of this machine" not in json.dumps(answer), name


# ---- ODT ----

ODT_CASES = {
    "paragraphs": ("<text:p>One.</text:p><text:p/><text:p>Two<text:s text:c='2'/>spaces.</text:p>", "One.\n\nTwo spaces."),
    "headings": (
        '<text:h text:outline-level="1">Top</text:h><text:h text:outline-level="3">Deep</text:h>',
        "# Top\n\n### Deep",
    ),
    "below a title": (
        '<text:p text:style-name="Title">All</text:p><text:h text:outline-level="1">Part</text:h>',
        "# All\n\n## Part",
    ),
    "emphasis": (
        '<text:p><text:span text:style-name="Shouted">so <text:span text:style-name="T1">very</text:span></text:span> old</text:p>',
        "**so** ***very*** old",
    ),
    "code": (
        '<text:p text:style-name="P1">if x:</text:p><text:p text:style-name="P1"><text:s text:c="4"/>y</text:p>'
        '<text:p>Call <text:span text:style-name="T2">f()</text:span></text:p>',
        "```\nif x:\n    y\n```\n\nCall `f()`",
    ),
    "hidden text": ('<text:p>seen<text:span text:style-name="T3">unseen</text:span></text:p>', "seen"),
    "lists": (
        '<text:list text:style-name="L1"><text:list-item><text:p>one</text:p><text:list><text:list-item><text:p>deep</text:p>'
        "</text:list-item></text:list></text:list-item><text:list-item><text:p>two</text:p></text:list-item></text:list>",
        "1. one\n   - deep\n2. two",
    ),
    "a list that goes on": (
        '<text:list text:style-name="L1"><text:list-item><text:p>one</text:p></text:list-item></text:list><text:p>Between.</text:p>'
        '<text:list text:style-name="L1" text:continue-numbering="true"><text:list-item><text:p>two</text:p></text:list-item></text:list>',
        "1. one\n\nBetween.\n\n2. two",
    ),
    "a table": (
        "<table:table><table:table-header-rows><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell><table:table-cell>"
        "<text:p>b</text:p></table:table-cell></table:table-row></table:table-header-rows><table:table-row><table:table-cell "
        'table:number-columns-repeated="2"><text:p>c</text:p></table:table-cell></table:table-row></table:table>',
        "| a | b |\n| --- | --- |\n| c | c |",
    ),
    "a link": ('<text:p>See <text:a xlink:href="https://example.org/x">it</text:a>.</text:p>', "See [it](https://example.org/x)."),
    "a note": (
        "<text:p>So<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Said in 1812.</text:p></text:note-body>"
        "</text:note>.</text:p>",
        "So[^1].\n\n[^1]: Said in 1812.",
    ),
    "a picture": (
        "<text:p>Before <draw:frame><draw:image/><svg:desc>A red barn</svg:desc></draw:frame></text:p>",
        "Before *Picture: A red barn*",
    ),
    "a comment and what was deleted": (
        "<text:tracked-changes><text:p>old</text:p></text:tracked-changes><text:p>new<office:annotation><text:p>hm</text:p>"
        "</office:annotation></text:p>",
        "new",
    ),
    "a style that is its own ancestor": ('<text:p text:style-name="Circle">Round</text:p>', "Round"),
    "the table of contents repeats the headings": (
        "<text:table-of-content><text:index-body><text:p>Top 1</text:p></text:index-body></text:table-of-content><text:p>Text</text:p>",
        "Text",
    ),
}


@pytest.mark.parametrize("name", ODT_CASES)
def test_odt(read, name):
    body, expected = ODT_CASES[name]
    assert text_of(read, odt(body)) == expected


def test_odt_says_what_it_is(read):
    meta = "<dc:title>Notes</dc:title><meta:initial-creator>Ada</meta:initial-creator><dc:date>2026-02-02</dc:date><meta:creation-date>2026-01-01</meta:creation-date>"
    result = read(odt("<text:p>Words.</text:p>", meta))
    assert (result["title"], result["author"], result["published"], result["modified"]) == ("Notes", "Ada", "2026-01-01", "2026-02-02")
    assert result["kind"] == "odt" and result["page_content"] == "# Notes\n\nWords.\n"


# ---- EPUB ----


def test_epub(read):
    chapters = (
        '<h1>One</h1><p>First <i>words</i><a id="x"/>, <a href="https://example.org/">out</a> and <a href="c2.xhtml">in</a>.</p>',
        '<h1>Two</h1><p>See<a epub:type="noteref" href="#n1">1</a>.</p><p><img src="../a.png" alt="A barn"/></p>'
        '<aside epub:type="footnote" id="n1"><p>A note.</p></aside>',
    )
    result = read(epub(*chapters))
    assert result["page_content"] == (
        "# A book\n\n## One\n\nFirst *words*, [out](https://example.org/) and in.\n\n## Two\n\nSee[^1].\n\n*Picture: A barn*\n\n"
        "[^1]: A note.\n"
    )
    assert (result["kind"], result["title"], result["author"], result["language"]) == ("epub", "A book", "Ada Baker", "en")


def test_epub_in_the_order_of_its_spine(read):
    text = text_of(read, epub("<p>Alpha</p>", "<p>Beta</p>", spine=["c2", "c1", "c2", "gone", "nav"]))
    assert text == "# A book\n\nBeta\n\nAlpha"
    assert "Contents line" not in text


def test_epub_that_is_not_well_formed(read):
    assert text_of(read, epub("<h2>Loose</h2><p>Not <b>closed<p>and &nbsp; on")) == "# A book\n\n### Loose\n\nNot **closed**\n\n**and on**"


# ---- PPTX ----


def test_pptx(read):
    table = (
        "<p:graphicFrame><a:graphic><a:tbl><a:tr><a:tc><a:txBody><a:p><a:r><a:t>k</a:t></a:r></a:p></a:txBody></a:tc><a:tc><a:txBody><a:p>"
        "<a:r><a:t>v</a:t></a:r></a:p></a:txBody></a:tc></a:tr><a:tr><a:tc><a:txBody><a:p/></a:txBody></a:tc><a:tc><a:txBody><a:p><a:r>"
        "<a:t>1</a:t></a:r></a:p></a:txBody></a:tc></a:tr></a:tbl></a:graphic></p:graphicFrame>"
    )
    deep = '<a:p><a:pPr lvl="1"/><a:r><a:rPr b="1"/><a:t>deeper</a:t></a:r></a:p>'
    link = '<a:p><a:r><a:rPr><a:hlinkClick r:id="r1"/></a:rPr><a:t>a link</a:t></a:r></a:p>'
    picture = '<p:pic><p:nvPicPr><p:cNvPr id="4" name="x" descr="A red barn"/></p:nvPicPr></p:pic>'
    slides = (
        slide(shape("one", deep, "two", kind=""), shape("The", "title", kind="title"), shape("7", kind="sldNum")),
        slide(shape("A box", link), table, picture, more='show="0"'),
    )
    assert text_of(read, pptx(*slides, notes=["Say this.", "And that."])) == (
        "## The title\n\n- one\n  - **deeper**\n- two\n\n**Notes:**\n\n> Say this.\n>\n> And that.\n\n"
        "## Slide 2 (hidden)\n\nA box\n\n[a link](https://example.org/slide)\n\n| k | v |\n| --- | --- |\n| | 1 |\n\n"
        "*Picture: A red barn*\n\n**Notes:**\n\n> Say this.\n>\n> And that."
    )
    assert read(pptx(*slides))["kind"] == "pptx"


# ---- XLSX ----


def test_xlsx(read):
    first = sheet(
        cell("A1", "Name", "inlineStr"),
        cell("C1", 0, "s"),
        cell("D1", 1, "s"),
        cell("A3", "a|b", "inlineStr"),
        cell("C3", 1, "b"),
        cell("D3", "#N/A", "e"),
        cell("A4", "link", "inlineStr"),
        more='<hyperlinks><hyperlink ref="A4" r:id="h1"/></hyperlinks>',
    )
    text = text_of(read, xlsx(first, sheet()))
    assert text == (
        "## Sheet 1\n\n| Name | shared | two runs |\n| --- | --- | --- |\n| a\\|b | TRUE | #N/A |\n| [link](https://example.org/cell) | | |\n\n"
        "## Sheet 2\n\n_The sheet is empty._"
    )


NUMBERS = [
    (0, 1234.5, "1234.5"),
    (0, 0.30000000000000004, "0.3"),
    (0, 1e21, "1e+21"),
    (1, 45000, "2023-03-15"),
    (2, 45000.75, "15 Mar 2023"),
    (2, 1, "1 Jan 1900"),
    (2, 61, "1 Mar 1900"),
    (3, 1234567.891, "1,234,567.89 €"),
    (3, -3.5, "-3.50 €"),
    (4, 0.12345, "12.35%"),
    (5, 0.5, "12:00"),
    (1, -5, "-5"),
    (99, 7, "7"),
]


def test_numbers_as_shown(read):
    cells = [cell(f"A{row}", value, style=style) for row, (style, value, _) in enumerate(NUMBERS, 1)]
    lines = text_of(read, xlsx(sheet(*cells))).split("\n")[2:]
    assert [line.strip("| ") for line in lines if line != "| --- |"] == [shown for _, _, shown in NUMBERS]


def test_days_from_1904(read):
    text = text_of(read, xlsx(sheet(cell("A1", 1, style=1)), workbook='<workbookPr date1904="1"/>'))
    assert "| 1904-01-02 |" in text


def test_a_sheet_that_says_it_is_wide_and_long(read):
    text = text_of(read, xlsx(sheet(cell("A1", "near", "inlineStr"), cell("XFD1048576", "far", "inlineStr"))))
    assert text == "## Sheet 1\n\n| near | |\n| --- | --- |\n| | far |"


# ---- notebooks, sitemaps, drawings ----

NOTEBOOK = {
    "nbformat": 4,
    "metadata": {"language_info": {"name": "python"}},
    "cells": [
        {"cell_type": "markdown", "source": ["# Title\n", "Some *words*."]},
        {
            "cell_type": "code",
            "source": "print(1)",
            "outputs": [
                {"output_type": "stream", "text": ["1\n", "\x1b[31mred\x1b[0m\n"]},
                {"output_type": "execute_result", "data": {"text/plain": "42", "image/png": "AAAA"}},
                {"output_type": "display_data", "data": {"text/html": "<b>bold</b>"}},
                {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": ["long"]},
            ],
        },
        {"cell_type": "raw", "source": "as it is"},
    ],
}
NOTEBOOK_TEXT = (
    "# Title\nSome *words*.\n\n```python\nprint(1)\n```\n\n```text\n1\nred\n```\n\n```text\n42\n```\n\n**bold**\n\n"
    "```text\nValueError: no\n```\n\n```\nas it is\n```"
)
OLD_NOTEBOOK = {
    "nbformat": 3,
    "worksheets": [
        {"cells": [{"cell_type": "heading", "level": 2, "source": "Old"}, {"cell_type": "code", "language": "r", "input": "x", "outputs": []}]}
    ],
}
SITEMAP = """<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:news="n">
<url><loc>https://example.org/a?b=1&amp;c=2</loc><lastmod>2026-01-02</lastmod></url>
<url><loc>https://example.org/b</loc><news:news><news:title>News [1]</news:title></news:news><image:image><image:loc>x</image:loc></image:image></url>
</urlset>"""
INDEX = "<sitemapindex><sitemap><loc>https://example.org/s1.xml</loc></sitemap></sitemapindex>"
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg"><title>A plan</title><desc>Of a house.</desc><style>.x{}</style>'
    '<g><text x="1">Kit<tspan>chen</tspan></text><text>Bed<tspan x="9">room</tspan></text></g></svg>'
)


def test_notebook(read, forage, web):
    result = read(json.dumps(NOTEBOOK).encode(), "a.ipynb")
    assert result["page_content"].strip("\n") == NOTEBOOK_TEXT and result["kind"] == "notebook"
    assert text_of(read, json.dumps(OLD_NOTEBOOK).encode()) == "## Old\n\n```r\nx\n```"
    for kind in ("application/x-ipynb+json", "application/json", "text/plain", "application/octet-stream"):
        web.answers["/n"] = Answer(json.dumps(NOTEBOOK), kind=kind)
        assert get(forage, web.url("/n"))["page_content"].strip("\n") == NOTEBOOK_TEXT, kind
    for other in ('{"nbformat": 4}', '{"nbformat": 4, "cells": 3}', '{"cells": []}'):
        assert text_of(read, other.encode()).startswith("```json"), other


def test_sitemap(forage, web):
    for kind in ("application/xml", "text/xml", "text/plain", "application/octet-stream"):
        web.answers["/s"] = Answer(SITEMAP, kind=kind)
        result = get(forage, web.url("/s"))
        assert result["page_content"] == (
            "# Sitemap\n\n2 addresses:\n\n- <https://example.org/a?b=1&c=2> · 2026-01-02\n- [News \\[1\\]](https://example.org/b)\n"
        )
        assert result["kind"] == "sitemap"
    web.answers["/s"] = Answer(INDEX, kind="application/xml")
    assert get(forage, web.url("/s"))["page_content"] == "# Index of sitemaps\n\n1 sitemap:\n\n- <https://example.org/s1.xml>\n"


def test_svg(forage, web):
    web.answers["/d"] = Answer(SVG, kind="image/svg+xml")
    result = get(forage, web.url("/d"))
    assert result["page_content"] == "# A plan\n\nOf a house.\n\nKitchen\n\nBed room\n" and result["kind"] == "svg"
    web.answers["/d"] = Answer("<svg><path d='M0 0'/></svg>", kind="image/svg+xml")
    assert "It is an SVG picture without words." in get(forage, web.url("/d"))["page_content"]


# ---- files that other programs made ----


def test_files_of_packages(read):
    """What python-docx, openpyxl, odfpy, python-pptx and ebooklib write is what they were told to write."""
    python = ROOT / ".deps" / "documents-venv" / "bin" / "python"
    made = subprocess.run([python, ROOT / "tests" / "documents" / "make.py"], capture_output=True, check=True)
    files = {name: base64.b64decode(content) for name, content in json.loads(made.stdout).items()}
    expected = {
        "docx": ["# The book of bread", "## Flour", "**very**", "*rye*", "- one\n  - deep\n- two", "1. first\n2. second", "| a | b |\n| --- | --- |\n| c | d |"],
        "odt": ["# The book of bread", "**very**", "- one\n  - deep\n- two", "| a | b |\n| --- | --- |\n| c | d |", "[a link](https://example.org/)"],
        "epub": ["# The book of bread", "## Flour", "Wheat is **very** old.", "## Water"],
        "pptx": ["## The book of bread", "## Flour", "- one\n  - deep", "| a | b |\n| --- | --- |\n| c | d |", "> Say this."],
        "xlsx": ["## Loaves", "| Day | Sold | Share |\n| --- | --- | --- |\n| 2026-03-01 | 1,234 | 25% |", "## Notes"],
    }
    assert files.keys() == expected.keys()
    for name, pieces in expected.items():
        text = text_of(read, files[name])
        for piece in pieces:
            assert piece in text, (name, piece, text)
