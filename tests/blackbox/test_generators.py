"""Documentation as its generators write it: one text in the markup of each of tests/pages, with sections that are called
what menus and windows are called. All of the text stays, and all of what is around it goes.

A file of tests/pages has parts, each after a line "=== NAME": the page, and how the generator writes a section, code, a
warning and so on; what it leaves out is written as plain HTML. "kept" lists what stands around the text and may stay,
"extra headings" the headings among that and of the generator's own parts. "reference" is how it writes signatures,
parameters and tables of properties, behind the text; "reference says" has a line for each piece of it, in order."""

import html
import re

import pytest
from extracting import extract, plain
from programs import ROOT

FOLDER = ROOT / "tests" / "pages"
TITLE = "Reading a gauge"
CODE = ("gauge read --station=4", "gauge log --since yesterday")
TABLE = ("Colour", "What it means", "green mark", "nothing needs to be done", "red mark", "the gates are opened")

PLAIN = {
    "preamble": "{body}",
    "paragraph": "<p>{text}</p>",
    "code": "<pre><code>{line1}\n{line2}</code></pre>",
    "note": "<blockquote><p>{text}</p></blockquote>",
    "list": "<ul><li>{item1}</li><li>{item2}</li></ul>",
    "table": "<table><thead><tr><th>{c1}</th><th>{c2}</th></tr></thead><tbody><tr><td>{c3}</td><td>{c4}</td></tr>"
    "<tr><td>{c5}</td><td>{c6}</td></tr></tbody></table>",
    "tabs": "<p>{first}</p><p>{second}</p>",
    "details": "<details><summary>{summary}</summary><p>{text}</p></details>",
}


def said(text):
    return "paragraph", {"text": text}


def code():
    return "code", {"line1": CODE[0], "line2": CODE[1]}


PREAMBLE = [
    said("A gauge is a board with marks that stands in the water, and reading it takes a minute of your time."),
    said("This page tells what the marks mean, and whom to telephone when the water is above them."),
]
# The level, the id, the heading, and what stands below it.
SECTIONS = [
    (
        2,
        "comments",
        "Comments",
        [
            said("Every reading may carry a comment, which the keeper writes with a pencil beside the number."),
            said("A comment begins with a star. Comments are not sent to the office."),
        ],
    ),
    (
        2,
        "loading",
        "Loading",
        [
            said("Yesterday's readings are loaded from the box at the foot of the board before anything is compared."),
            code(),
            said("Loading stops at the first line that cannot be read."),
        ],
    ),
    (
        3,
        "navigation",
        "Navigation",
        [
            said("Boats may pass as long as the lower mark is dry, and have to wait when it is not."),
            said("The signal at the lock repeats what the board says."),
        ],
    ),
    (
        3,
        "search",
        "Search",
        [
            said("To find an old reading, go by the year and then by the colour of the mark."),
            ("list", {"item1": "the year stands on the spine of the book", "item2": "the colour is in its margin"}),
        ],
    ),
    (
        2,
        "login",
        "Login",
        [
            said("The box asks for the number of the station before it gives its readings away."),
            ("note", {"text": "Three wrong numbers lock the box until the next morning, and nobody can open it before."}),
        ],
    ),
    (
        2,
        "cookies",
        "Cookies",
        [
            said("The office bakes cookies for the keepers at Christmas, and sends them with the new books."),
            ("table", {f"c{n}": text for n, text in enumerate(TABLE, 1)}),
        ],
    ),
    (
        3,
        "menu",
        "Menu",
        [
            said("The box has a menu of four lines, of which the third one prints the readings of the week."),
            said("Hold the button to leave it."),
        ],
    ),
    (2, "share", "Share", [said("Readings are shared with the stations above and below, who compare them with their own.")]),
    (
        2,
        "related-work",
        "Related work",
        [
            said("Floats and pressure cells do the same work, but neither of them can be read from a passing boat."),
            said("An earlier board had its marks in feet, and some keepers still prefer it."),
        ],
    ),
    (
        2,
        "sidebar",
        "Sidebar",
        [said("The narrow board at the side repeats every tenth mark, for those who come by the path."), code()],
    ),
    (
        2,
        "modal",
        "Modal",
        [
            said("There are two modes of reading, and the keeper says in the book which of them was used."),
            (
                "tabs",
                {
                    "first": "by hand the keeper bends down and reads the mark at the surface",
                    "second": "by radio the station sends its number every full hour",
                },
            ),
        ],
    ),
    (
        2,
        "toolbar",
        "Toolbar",
        [
            said("The tools hang from a bar behind the door: a brush for the marks, a lamp, and a spare pencil."),
            ("details", {"summary": "What to do in frost", "text": "Break the ice with the brush, then wait for calm water."}),
        ],
    ),
]


class Generator:
    def __init__(self, name):
        text = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
        pieces = re.split(r"(?m)^=== (.*)\n", text)[1:]
        self.given = dict(zip(pieces[::2], (piece.removesuffix("\n") for piece in pieces[1::2]), strict=True))
        self.parts = {**PLAIN, **self.given}

    def write(self, part, **values):
        text = self.parts[part]
        for name, value in values.items():
            text = text.replace("{" + name + "}", str(value))
        return text

    def blocks(self, blocks):
        return "".join(self.write(part, **{name: html.escape(text) for name, text in values.items()}) for part, values in blocks)

    def sections(self, level, sections):
        """Those of one level, with those that are below them inside."""
        out, at = [], 0
        while at < len(sections):
            _, name, title, blocks = sections[at]
            end = at + 1
            while end < len(sections) and sections[end][0] > level:
                end += 1
            children = self.sections(level + 1, sections[at + 1 : end])
            values = {"level": level, "below": level - 1, "id": name, "title": title}
            out.append(self.write("section", **values, body=self.blocks(blocks), children=children))
            at = end
        return "".join(out)

    def page(self):
        toc = "".join(self.write("toc", id=name, title=title) for _, name, title, _ in SECTIONS)
        content = self.write("preamble", body=self.blocks(PREAMBLE)) + self.sections(2, SECTIONS)
        content += self.given.get("reference", "")
        return self.write("page", title=TITLE, toc=toc, content=content)

    def headings(self):
        return [(level, title) for level, _, title, _ in SECTIONS]

    def texts(self):
        """All that is to be kept below the headings, in its order."""
        sections = [PREAMBLE, *(blocks for _, _, _, blocks in SECTIONS)]
        return [text for blocks in sections for _, values in blocks for text in values.values()]

    def around(self):
        """What stands around the text, piece by piece."""
        shell = re.sub(r"<!--.*?-->|<script.*?</script>|<head>.*?</head>", "", self.parts["page"], flags=re.S)
        pieces = [" ".join(html.unescape(piece).split()) for piece in re.split(r"<[^>]*>|\{\w+\}", shell)]
        kept = self.given.get("kept", "").splitlines()
        return [piece for piece in pieces if len(piece) > 3 and piece not in kept]


def headings_of(markdown, extra):
    """The levels and the words of its headings, after its title; lines of code are none."""
    text = re.sub(r"(?ms)^(```+).*?^\1\s*$", "", markdown)
    found = [(len(mark), plain(title)) for mark, title in re.findall(r"(?m)^(#{1,6}) (.*)$", text)]
    found = found[1:] if found and found[0][1].startswith(TITLE) else found
    return [heading for heading in found if heading[1] not in extra]


NAMES = sorted(path.stem for path in FOLDER.glob("*.txt"))


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    generators = {name: Generator(name) for name in NAMES}
    texts = extract(tmp_path_factory.mktemp("pages"), {name: generator.page() for name, generator in generators.items()})
    return {name: (generators[name], texts[name]) for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_headings_stay_with_their_levels(read, name):
    generator, text = read[name]
    extra = [*generator.given.get("extra headings", "").splitlines(), "What to do in frost"]
    assert headings_of(text, extra) == generator.headings()


@pytest.mark.parametrize("name", NAMES)
def test_text_stays(read, name):
    generator, text = read[name]
    words, at, lost = plain(text), 0, []
    for piece in map(plain, generator.texts()):
        found = words.find(piece, at)
        lost += [] if found >= 0 else [piece]
        at = found + len(piece) if found >= 0 else at
    lost += [] if "\n".join(CODE) in text else ["the code's lines"]
    assert not lost, text


@pytest.mark.parametrize("name", NAMES)
def test_what_is_around_it_goes(read, name):
    generator, text = read[name]
    words = plain(text)
    left = [piece for piece in generator.around() if plain(piece) in words]
    # A manual keeps its lists of links, where they stand in its text.
    listed = "Table of Contents" in generator.given.get("kept", "")
    titles = set() if listed else {title for _, _, title, _ in SECTIONS}
    left += [line for line in text.splitlines() if not line.startswith("#") and plain(line).strip("- 0123456789.¶") in titles]
    assert not left, text


@pytest.mark.parametrize("name", [name for name in NAMES if "reference" in Generator(name).given])
def test_reference_stays(read, name):
    generator, text = read[name]
    at = text.index("Break the ice")
    for piece in generator.given["reference says"].splitlines():
        at = text.find(piece, at)
        assert at >= 0, f"{piece}\n{text}"
        at += len(piece)
