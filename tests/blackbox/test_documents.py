"""Documents that are ZIP archives, as faithful Markdown: made part by part, so that each line of the result has its cause."""

import json

import pytest
from documents import (
    content_types,
    core,
    docx,
    docx_parts,
    item,
    pack,
    paragraph,
    run_of,
    table,
    wide,
)
from fake_web import Answer
from http_client import exchange, request
from messages import tool_call
from programs import Stdio, run
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
