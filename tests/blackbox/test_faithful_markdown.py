"""Faithful Markdown: what a page's inline HTML shows, a CommonMark renderer shows again of our Markdown.

A table of cases that people met, and pages made by chance from a seed. Both sides become a list of
characters, each with what it is set in; white space is one space and is set in nothing.
"""

import functools
import html
import html.parser
import json
import pathlib
import random
import re
import subprocess
import urllib.parse

import pytest
from programs import FORAGE, ROOT, environment

FORMATS = {"b": "strong", "strong": "strong", "i": "em", "em": "em", "del": "del", "s": "del", "code": "code",
           "kbd": "code", "sup": "sup", "sub": "sub"}
SEEDS = range(8)
CASES_OF_A_SEED = 250


class Shown(html.parser.HTMLParser):
    """The characters that HTML shows, each with its formats."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.around = []
        self.characters = []

    def handle_starttag(self, tag, attributes):
        if tag == "br" or tag in ("p", "td", "th"):
            self.characters.append((" ", frozenset()))
        elif tag == "a":
            self.around.append("a " + urllib.parse.unquote(dict(attributes).get("href") or ""))
        elif tag in FORMATS:
            self.around.append(FORMATS[tag])

    def handle_endtag(self, tag):
        if tag == "a" or tag in FORMATS:
            self.around.pop()

    def handle_data(self, data):
        formats = self.around
        if "code" in formats:
            # A code span has no formats inside, and may do without an emphasis around it.
            around = formats[: formats.index("code") + 1]
            formats = [name for name in around if name not in ("strong", "em", "del")]
        self.characters += [(c, frozenset(formats)) for c in data]


def shown(source):
    """What a reader sees of HTML, for comparing."""
    parser = Shown()
    parser.feed(source)
    parser.close()
    seen = []
    for character, formats in parser.characters:
        if character.isspace():
            if seen and seen[-1][0] != " ":
                seen.append((" ", frozenset()))
        else:
            seen.append((character, formats))
    while seen and seen[-1][0] == " ":
        seen.pop()
    return seen


def spelled(seen):
    """The same for people, in messages."""
    words, last = [], frozenset()
    for character, formats in seen:
        if formats != last:
            words.append("{" + ",".join(sorted(formats)) + "}")
            last = formats
        words.append(character)
    return "".join(words)


def markdown_of(path, bodies):
    """What the program makes of each body, the whole of it content."""
    filler = "<p>" + "The river had been rising for three days, and the old bridge gave way at last. " * 3 + "</p>"
    parts = [f"<h3>Case {number}</h3>{filler}{body}" for number, body in enumerate(bodies)]
    page = path / "page.html"
    page.write_text(
        "<!doctype html><meta charset=utf-8><title>Cases</title><article><h1>Cases</h1>"
        + "".join(parts) + f"<h3>Case {len(bodies)}</h3>{filler}</article>"
    )
    made = path / "page.md"
    subprocess.run([FORAGE, "extract", "--batch"], input=f"{page}\thttps://example.org/dir/page\t{made}\n", text=True,
                   check=True, capture_output=True, env=environment({}))
    pieces = re.split(r"^### Case \d+\n\n.*\n\n?", made.read_text(), flags=re.M)
    assert len(pieces) == len(bodies) + 2
    return pieces[1:-1]


@functools.cache
def set_up():
    subprocess.run([ROOT / "scripts" / "setup", "docs"], check=True, capture_output=True)


def render(texts):
    """The HTML of each text, by the renderer of the web site."""
    set_up()
    python = ROOT / ".deps" / "site-venv" / "bin" / "python"
    program = pathlib.Path(__file__).with_name("render_markdown.py")
    answer = subprocess.run([python, "-B", program], input=json.dumps(texts), text=True, check=True, capture_output=True)
    return json.loads(answer.stdout)


def differences(path, bodies):
    texts = markdown_of(path, bodies)
    found = []
    for body, text, rendered in zip(bodies, texts, render(texts)):
        before, after = shown(body), shown(rendered)
        if before != after:
            found.append(f"html:     {body}\nmarkdown: {text.strip()}\nshown:    {spelled(before)}\nrendered: {spelled(after)}")
    return found


# What people met, and what escapes and delimiters are known to stumble over.
MET = """
*|* * *|* one|**kwargs and *args|a * b|2*3*4|_x_|__init__|snake_case_name|_ _ _|- - -|___|---|--|+|+ one|- one|-|# one|#|####### seven
1. one|1) one|1.|12345678901. long|&gt; no quote|&gt;|= =|===|a<br>===|a<br>---|a<br>--|a<br>-|a<br>* b|a<br>1. b|a<br># b|a<br>+
<b>*</b>|<b>* </b>required|Name <span>*</span>|Name<b>*</b>|<i>*</i>x|<b>_</b>|**|***|*<b>x</b>*|* <b>x</b>|<b>x</b>*|_<i>x</i>_|x_<i>y</i>
<b> a </b>b|a<b> b</b>|a <b></b> b|a <b> </b> b|un<b>believ</b>able|un<i>believ</i>able|a<b>(b)</b>c|a<b>"b"</b>c|<b>a:</b>b|<b>a.</b>b|(<b>a</b>)
<b>a</b><b>b</b>|<b>a</b><i>b</i>|<i>a</i><b>b</b>|<i>a</i><b><i>b</i></b>|<b><i>a</i></b>|<b>a<i>b</i></b>|<b><i>a</i>b</b>|<i>a<b>b</b></i>|<i><b>a</b>b</i>
<i>a<b>b</b>c</i>|<b>a<i>b</i>c</b>|<b>a <i>b</i></b> c|<b>a</b> <b>b</b>|<i>a</i> <i>b</i>|<i>a</i><i>b</i>|<b><b>a</b>b</b>|<i>a <i>b</i> c</i>
<del>a</del>|<del>a</del><del>b</del>|a<del>b</del>c|<del><b>a</b></del>|~|~~|~~~|~~a~~|~a~|a ~~ b|about ~100 and ~200|<del>~</del>
这是<b>“重点”</b>内容|这是<b>重点</b>内容|这是<b>重点。</b>内容|日本語<i>（強調）</i>です|<b>«</b>x<b>»</b>y|€<b>5</b>€|x<b>→</b>y|😀<b>a</b>😀|a<b>😀</b>b
<code>a</code>|<code>`</code>|<code>``</code>|<code>`a`</code>|<code>a`b</code>|<code>a</code><code>b</code>|`<code>a</code>`|<code>a</code>`|<code>a|b</code>
<code>a\\</code>|<code>*</code>|<code>&lt;b&gt;</code>|<code>&amp;amp;</code>|<b><code>a</code></b>|<code><b>a</b></code>|a<b><code>b</code></b>c|<code> </code>x|`|``|`a`
[a]|[a](b)|[a][b]|[a]: b|[<b>a</b>](b)|[<b>a</b>]: b|[a]<b>(b)</b>|[<a href="https://example.org/">x</a>]|[<a href="https://example.org/">x</a>](y)
<a href="https://example.org/">a]</a>|<a href="https://example.org/">[a</a>|<a href="https://example.org/">[a]</a>|<a href="https://example.org/">[a](b)</a>|<a href="https://example.org/">a</a>(b)
!<a href="https://example.org/">x</a>|\\<a href="https://example.org/">x</a>|<b><a href="https://example.org/">x</a></b>|<a href="https://example.org/"><b>x</b></a>|[a]<a href="https://example.org/">b</a>
<a href="https://example.org/a_(b)">x</a>|<a href="https://example.org/a)b">x</a>|<a href="https://example.org/?a=1&amp;copy;=2">x</a>|<a href="https://example.org/*a*_b_">x</a>
\\|C:\\dir|\\*|\\<b>x</b>|a\\|a\\<br>b|\\\\|\\a|&amp;|&amp;amp;|&amp;copy;|&amp;#42;|&amp;copy|AT&amp;T|&lt;b&gt;|&lt;|1 &lt; 2|&lt;/b&gt;|&lt;!-- --&gt;|&lt;<b>b</b>&gt;|&lt;https://x.org/&gt;|a&lt;b
a &#124; b|&#124; a &#124;|a &#124; b<br>--- &#124; ---|a<br>&#124;---&#124;|a<br>:--|a<br>:-:|:|!|![a](b)|![a]|x<sup>2</sup>|H<sub>2</sub>O|<sup>a</sup><sub>b</sub>|<sup>*</sup>
<b>a<br>b</b>|<i>a<br></i>b|a<br><b>b</b>|<b>a</b><br><b>b</b>|a<b><br>b</b>|<i>*a*</i>|<b>**a**</b>|<b>a**</b>|<i>_a_</i>|*a<i>b</i>*|<b>a</b>*|<i>a</i>_|_<b>a</b>_
"""
MET = [case.replace("\0", "|") for case in re.sub(r"(<code>a)\|(b</code>)", "\\1\0\\2", MET.strip()).replace("\n", "|").split("|")]


def in_paragraph(case):
    return f"<p>{case}</p>"


def in_cell(case):
    return f"<table><tr><th>a</th><th>b</th></tr><tr><td>{case}</td><td>z</td></tr></table>"


@pytest.mark.parametrize("frame", [in_paragraph, in_cell])
def test_what_people_met(tmp_path, frame):
    found = differences(tmp_path, [frame(case) for case in MET])
    assert not found, "\n\n".join([f"{len(found)} of {len(MET)}", *found])


def test_headings_keep_their_last_signs(tmp_path):
    bodies = [f"<h4>{text}</h4>" for text in ["C#", "C #", "F# and C#", "#", "# x", "a ##", "a \\#", "1. a", "<b>a</b> #", "- a"]]
    found = differences(tmp_path, bodies)
    assert not found, "\n\n".join(found)


WORDS = ["a", "word", "x y", " ", "  lead", "trail ", "*", "**", "_", "__", "`", "~", "~~", "[", "]", "(", ")", "!", "#", "-",
         "+", "1.", ">", "<", "&", "&copy;", "\\", "|", ":", "snake_case", "2*3", "“q”", "。", "中文", "é", ".", ",", "\"", "'",
         "- ", "* ", "# ", "1. ", "--- ", "[x]", "(y)", "<b>", "https://e.org/a_b_c", "€", "😀"]
AROUND = ["b", "i", "em", "strong", "del", "code", "sup", "sub", "span", "a"]


def some_inline(chance, depth):
    parts = []
    for _ in range(chance.randint(1, 4)):
        if depth and chance.random() < 0.45:
            tag = chance.choice(AROUND)
            inside = some_inline(chance, depth - 1)
            if tag == "a":
                inside = re.sub(r"</?a\b[^>]*>|<br>", "", inside)  # two breaks end a paragraph, and with it a link
                parts.append(f'<a href="https://example.org/{chance.randint(1, 9)}">{inside}</a>')
            else:
                inside = inside.replace("<br>", "") if tag == "code" else inside  # with breaks, code is a block
                parts.append(f"<{tag}>{inside}</{tag}>")
        elif chance.random() < 0.06:
            parts.append("<br>")
        else:
            parts.append("".join(html.escape(chance.choice(WORDS)) for _ in range(chance.randint(1, 3))))
    return "".join(parts)


def with_one_link(source):
    """What is all links may be no content at all; that is for other tests."""
    links = list(re.finditer(r"<a .*?</a>", source))
    for link in reversed(links[1:]):
        source = source[: link.start()] + re.sub(r"</?a\b[^>]*>", "", link[0]) + source[link.end() :]
    return source


@pytest.mark.parametrize("frame", [in_paragraph, in_cell])
@pytest.mark.parametrize("seed", SEEDS)
def test_inline_html_made_by_chance(tmp_path, seed, frame):
    chance = random.Random(seed)
    bodies = [frame(with_one_link(some_inline(chance, 3))) for _ in range(CASES_OF_A_SEED)]
    found = differences(tmp_path, bodies)
    assert not found, "\n\n".join([f"{len(found)} of {CASES_OF_A_SEED}", *sorted(found, key=len)[:12]])
