"""What a reader finds in Markdown or in HTML: its plain text, and its parts by class.

The classes are those that extractors are compared by: headings, headings with their level, list items, table rows,
code, code with its language, code within a line, links, images, strong, emphasised, quotes, math, footnotes. The same
page as Markdown and as HTML comes to the same parts, as far as both can say it. Markdown is read as CommonMark with the
tables, footnotes and math that GitHub adds, loosely: what extractors write need not be clean."""

import collections
import html
import html.parser
import re
import urllib.parse

CLASSES = (
    "heading",
    "level",
    "item",
    "row",
    "code",
    "language",
    "inline",
    "link",
    "image",
    "strong",
    "em",
    "quote",
    "math",
    "footnote",
)
ITEM_LETTERS, QUOTE_LETTERS = 60, 40  # as many of an item or a quote must be alike

Block = collections.namedtuple("Block", "kind text level info", defaults=("", 0, ""))


def one_line(text):
    return re.sub(r"\s+", " ", text.replace("\u00a0", " ").replace("\u200b", "")).strip()


def same_address(address):
    """An address in the one form in which two are compared."""
    address = html.unescape(address.strip()).replace(" ", "%20")
    parts = re.match(r"^([A-Za-z][A-Za-z0-9+.-]*://)([^/?#]*)(.*)$", address, re.DOTALL)
    return parts[1].lower() + parts[2].lower() + (parts[3] or "/") if parts else address


def code_body(text):
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")


# ---- Markdown to blocks ----

CONTAINER = r"\s*(?:>\s?|[-*+]\s+|\d+[.)]\s+)*"
FENCE = re.compile(rf"^({CONTAINER})(`{{3,}}|~{{3,}})\s*(.*)$")
HEADING = re.compile(r"^ {0,3}(#{1,6})(?:\s+(.*?))?\s*#*\s*$")
UNDERLINE = re.compile(r"^ {0,3}(=+|-+)\s*$")
RULE = re.compile(r"^ {0,3}([-*_])(\s*\1){2,}\s*$")
ITEM = re.compile(r"^(\s*)([-*+]|\d{1,9}[.)])(\s+)(.*)$")
DELIMITERS = re.compile(r"^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$")
DEFINITION = re.compile(r'^ {0,3}\[([^\]^][^\]]*)\]:\s*<?(\S+?)>?(?:\s+["\'(].*["\')])?\s*$')
NOTE = re.compile(r"^ {0,3}\[\^([^\]]+)\]:\s?(.*)$")
QUOTE_MARKS = re.compile(r"^(?: {0,3}> ?)+")
INDENTED = re.compile(r"^(?: {4}|\t)")
FRONT_MATTER = re.compile(r"\A---\r?\n.*?\n(?:---|\.\.\.)[ \t]*\r?\n", re.DOTALL)
TASK = re.compile(r"^\[[ xX]\]\s+")


class Blocks:
    """Takes Markdown apart, line by line."""

    def __init__(self, text):
        text = FRONT_MATTER.sub("", text, count=1)
        self.lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self.at = 0
        self.found = []
        self.paragraph = []
        self.after_blank = True
        self.indents = []  # of the open lists, the innermost last

    def read(self):
        takers = (self.fence, self.quote_or_blank, self.note, self.definition, self.heading, self.rule, self.underline)
        takers += (self.table, self.item, self.indented)
        while self.at < len(self.lines):
            line = self.lines[self.at]
            self.quoted = 0
            while re.match(r"^ {0,3}>", line):
                line = re.sub(r"^ {0,3}> ?", "", line, count=1)
                self.quoted += 1
            self.line = line
            if not any(take() for take in takers):
                self.plain()
        self.end_paragraph()
        return self.found

    def add(self, *parts):
        self.end_paragraph()
        self.found.append(Block(*parts))
        self.after_blank = False

    def end_paragraph(self):
        if self.paragraph:
            self.found.append(Block("paragraph", "\n".join(self.paragraph)))
            self.paragraph = []

    def unquoted(self, number):
        line = self.lines[number]
        return QUOTE_MARKS.sub("", line) if self.quoted else line

    def fence(self):
        opening = FENCE.match(self.lines[self.at])
        if not opening or (opening[2][0] == "`" and "`" in opening[3]):
            return False
        item = ITEM.match(self.lines[self.at])
        if item:
            self.add("item", "", 0, item[2][0].isdigit())
        depth = opening[1].count(">")
        indent = 0 if depth else len(opening[1])
        body = []
        self.at += 1
        while self.at < len(self.lines):
            line = self.lines[self.at]
            for _ in range(depth):
                line = re.sub(r"^\s*>\s?", "", line, count=1)
            self.at += 1
            mark = line.strip()
            if len(mark) >= len(opening[2]) and set(mark) == {opening[2][0]}:
                break
            blanks = len(line) - len(line.lstrip(" "))
            body.append(line[min(blanks, indent) :])
        self.add("code", "\n".join(body), 0, opening[3].strip())
        return True

    def quote_or_blank(self):
        if self.quoted and not self.paragraph:
            self.found.append(Block("quote", self.line))
        if self.line.strip():
            return False
        self.end_paragraph()
        self.after_blank = True
        self.at += 1
        return True

    def note(self):
        note = NOTE.match(self.line)
        if note:
            self.add("note", note[2])
            self.at += 1
        return bool(note)

    def definition(self):
        definition = None if self.paragraph else DEFINITION.match(self.line)
        if definition:
            self.found.append(Block("definition", definition[2], 0, definition[1].strip().lower()))
            self.at += 1
        return bool(definition)

    def heading(self):
        heading = HEADING.match(self.line)
        if heading:
            self.add("heading", heading[2] or "", len(heading[1]))
            self.indents = []
            self.at += 1
        return bool(heading)

    def rule(self):
        dashes = self.line.strip()
        if not RULE.match(self.line) or (self.paragraph and dashes[0] == "-" and " " not in dashes):
            return False
        self.add("rule")
        self.after_blank = True
        self.at += 1
        return True

    def underline(self):
        if not self.paragraph or not UNDERLINE.match(self.line):
            return False
        text = "\n".join(self.paragraph)
        self.paragraph = []
        self.found.append(Block("heading", text, 1 if "=" in self.line else 2))
        self.at += 1
        return True

    def table(self):
        if "|" not in self.line or self.at + 1 == len(self.lines):
            return False
        below = self.unquoted(self.at + 1)
        if "|" not in below or "-" not in below or not DELIMITERS.match(below):
            return False
        rows = [cells_of(self.line)]
        self.at += 2
        while self.at < len(self.lines) and "|" in (line := self.unquoted(self.at)) and line.strip():
            rows.append(cells_of(line))
            self.at += 1
        self.add("table", rows)
        return True

    def item(self):
        item = ITEM.match(self.line)
        indent = len(item[1].expandtabs(4)) if item else 0
        if not item or indent >= 4 + 8 * len(self.indents):
            return False
        may_interrupt = item[2] in "-*+" or item[2] in ("1.", "1)")
        if self.paragraph and not (self.indents or may_interrupt):
            return False
        while self.indents and indent <= self.indents[-1]:
            self.indents.pop()
        self.indents.append(indent)
        texts = [item[4]]
        self.at += 1
        while self.at < len(self.lines) and self.goes_on(line := self.unquoted(self.at)):
            texts.append(line.strip())
            self.at += 1
        self.add("item", "\n".join(texts), len(self.indents), item[2][0].isdigit())
        return True

    def goes_on(self, line):
        """Whether a line belongs to the item before it."""
        starts = ITEM.match(line) or HEADING.match(line) or FENCE.match(line)
        return line.strip() and not starts and (self.quoted or not line.lstrip().startswith(">"))

    def indented(self):
        free = self.after_blank and not (self.quoted or self.indents or self.paragraph)
        if not free or not INDENTED.match(self.line):
            return False
        body = []
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.strip() and not INDENTED.match(line):
                break
            body.append(INDENTED.sub("", line, count=1))
            self.at += 1
        self.add("code", "\n".join(body).rstrip())
        return True

    def plain(self):
        if self.after_blank and not self.line.startswith((" ", "\t")):
            self.indents = []
        self.paragraph.append(self.line.strip())
        self.after_blank = False
        self.at += 1


def cells_of(row):
    row = row.strip().removeprefix("|")
    row = row[:-1] if row.endswith("|") and not row.endswith("\\|") else row
    return [cell.replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row)]


# ---- what is within a line ----

PROTECTED = re.compile(
    r"(?P<ticks>(?<!`)`+(?!`))(?P<code>.+?)(?<!`)(?P=ticks)(?!`)"
    r"|\$\$(?P<display>.+?)(?<!\\)\$\$"
    r"|(?<![$\w])\$(?=\S)(?P<math>[^$\n]+?)(?<=[^\s\\])\$(?![\w$])"
    r"|\\(?P<escaped>[!-/:-@\[-`{-~])",
    re.DOTALL,
)
REFERENCE = re.compile(r"\[\^([^\]\s]+)\]")
TARGET = re.compile(r"^<([^>]*)>|^(\S*)", re.DOTALL)
BARE_LINK = re.compile(r"<(https?://[^\s<>]+)>")
PARTING_TAG = re.compile(r"</?(?:br|hr|p|div|li|tr|td|th)\b[^>]*>", re.IGNORECASE)
TAG = re.compile(r"<!--.*?-->|</?[A-Za-z][A-Za-z0-9:-]*(?:\s[^<>]*)?/?>", re.DOTALL)
# The classes of what stands between marks, the longest marks first.
EMPHASIS = (
    (("strong", "em"), r"\*\*\*(?=\S)(.+?)(?<=\S)\*\*\*|(?<!\w)___(?=\S)(.+?)(?<=\S)___(?!\w)"),
    (("strong",), r"\*\*(?=\S)(.+?)(?<=\S)\*\*(?!\*)|(?<!\w)__(?=\S)(.+?)(?<=\S)__(?!\w)"),
    (("em",), r"\*(?=[^\s*])(.+?)(?<=[^\s*])\*|(?<![\w_])_(?=[^\s_])(.+?)(?<=[^\s_])_(?![\w_])"),
    ((), r"~~(?=\S)(.+?)(?<=\S)~~|==(?=\S)(.+?)(?<=\S)=="),
)
EMPHASIS = [(classes, re.compile(pattern, re.DOTALL)) for classes, pattern in EMPHASIS]
MARKS = re.compile(r"[*]{1,3}|(?<!\w)_{1,3}|_{1,3}(?!\w)")
OPENING, CLOSING = "\ue000", "\ue001"  # around the number of a text that is finished
FINISHED = re.compile(f"{OPENING}(\\d+){CLOSING}")
DEEPEST_LINK = 5


def closing_bracket(text, start, pair):
    """Where the bracket at `start` is closed; -1 if it is not."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == pair[0]) - (text[at] == pair[1])
        if depth == 0:
            return at
    return -1


class Line:
    """The plain text of a run of Markdown; the parts that stand in it go to `parts`."""

    def __init__(self, parts, definitions):
        self.parts = parts
        self.definitions = definitions
        self.finished = []

    def read(self, text):
        text = text.replace(OPENING, "").replace(CLOSING, "")
        return html.unescape(self.restore(self.inner(PROTECTED.sub(self.protect, text), 0)))

    def note(self, name, value):
        if self.parts is not None:
            self.parts[name].append(value)

    def finish(self, text):
        self.finished.append(text)
        return f"{OPENING}{len(self.finished) - 1}{CLOSING}"

    def restore(self, text):
        while OPENING in text:
            text = FINISHED.sub(lambda number: self.finished[int(number[1])], text)
        return text

    def protect(self, found):
        if found["code"] is not None:
            code = found["code"]
            code = code[1:-1] if len(code) > 2 and code[0] == code[-1] == " " else code
            self.note("inline", one_line(code))
            return self.finish(code)
        if found["escaped"] is not None:
            return self.finish(found["escaped"])
        math = found["display"] if found["display"] is not None else found["math"]
        self.note("math", re.sub(r"\s+", "", self.restore(math)))
        return self.finish(math)

    def inner(self, text, depth):
        text = self.brackets(REFERENCE.sub(self.reference, text), depth)
        text = BARE_LINK.sub(self.bare_link, text)
        text = TAG.sub("", PARTING_TAG.sub(" ", text))
        for classes, pattern in EMPHASIS:
            text = pattern.sub(lambda found, classes=classes: self.emphasis(found, classes), text)
        return text

    def reference(self, found):
        self.note("footnote", found[1])
        return ""

    def bare_link(self, found):
        self.note("link", (one_line(found[1]), same_address(found[1])))
        return self.finish(found[1])

    def emphasis(self, found, classes):
        text = found[1] or found[2]
        for name in classes:
            self.note(name, one_line(self.restore(MARKS.sub("", text) if len(classes) == 1 else text)))
        return text

    def brackets(self, text, depth):
        """Links and images; those within the text of a link are found in turn."""
        out, at = [], 0
        while at < len(text):
            start = text.find("[", at)
            if start < 0:
                break
            image = start > at and text[start - 1] == "!"
            out.append(text[at : start - image])
            end = closing_bracket(text, start, "[]")
            address, after = self.target(text, start, end) if end > 0 else (None, start)
            if address is None:
                out.append(text[start - image : start + 1])
                at = start + 1
                continue
            at = after
            if image:
                self.note("image", same_address(address))
                out.append(" ")
                continue
            inside = text[start + 1 : end]
            inside = html.unescape(self.restore(self.inner(inside, depth + 1) if depth < DEEPEST_LINK else inside))
            self.note("link", (one_line(inside), same_address(address)))
            out.append(self.finish(inside))
        return "".join(out) + text[at:]

    def target(self, text, start, end):
        """Where a link leads, and where it ends: behind its text in brackets, or in a definition."""
        after = end + 1
        if text[after : after + 1] == "(":
            close = closing_bracket(text, after, "()")
            if close > 0:
                found = TARGET.match(text[after + 1 : close].strip())
                return self.restore(found[1] if found[1] is not None else found[2]), close + 1
            return None, after
        name = text[start + 1 : end].strip().lower()
        if text[after : after + 1] == "[":
            close = text.find("]", after)
            named = text[after + 1 : close].strip().lower() or name
            return self.definitions.get(named), close + 1
        return self.definitions.get(name), after


# ---- Markdown: text and parts ----


def definitions_of(blocks):
    return {block.info: block.text for block in blocks if block.kind == "definition"}


def text_of_markdown(markdown, with_title=True):
    """The plain text, a line for each block. Without its title it lacks a first line that is a heading."""
    blocks = Blocks(markdown).read()
    definitions = definitions_of(blocks)
    out = []
    first = True
    for block in blocks:
        line = Line(None, definitions)
        is_title = first and block.kind == "heading" and block.level == 1 and not with_title
        first = first and block.kind in ("rule", "definition")
        if is_title or block.kind in ("rule", "definition", "quote"):
            continue
        if block.kind == "code":
            out.append(block.text)
        elif block.kind == "table":
            out += [" ".join(line.read(cell) for cell in row) for row in block.text]
        else:
            out.append(line.read(TASK.sub("", block.text) if block.kind == "item" else block.text))
    return "\n".join(out)


def parts_of_markdown(markdown):
    parts = collections.defaultdict(list)
    blocks = Blocks(markdown).read()
    line = Line(parts, definitions_of(blocks))
    for block in blocks:
        if block.kind == "heading":
            text = one_line(line.read(block.text))
            parts["heading"].append(text)
            parts["level"].append((block.level, text) if text else "")
        elif block.kind == "paragraph" and re.search(r"<table\b", block.text, re.IGNORECASE):
            inside = parts_of_html(block.text, None)[0]
            for name in ("row", "link", "image", "strong", "em", "inline"):
                parts[name] += inside[name]
        elif block.kind == "paragraph":
            line.read(block.text)
        elif block.kind == "item":
            text = one_line(line.read(TASK.sub("", block.text)))
            parts["item"].append((block.info, text[:ITEM_LETTERS]) if text else "")
        elif block.kind == "code":
            language = (block.info.split() or [""])[0].lower().strip("{}.")
            parts["code"].append(code_body(block.text))
            parts["language"].append((language, code_body(block.text)))
        elif block.kind == "table":
            rows = [tuple(one_line(line.read(cell)) for cell in row) for row in block.text]
            parts["row"] += [row for row in rows if any(row)]
        elif block.kind == "note":
            line.read(block.text)
            parts["footnote"].append("the note itself")
        elif block.kind == "quote":
            parts["quote"].append(one_line(Line(None, line.definitions).read(block.text))[:QUOTE_LETTERS])
    parts["link"] = [link for link in parts["link"] if link[0] and not link[1].startswith(("javascript:", "#"))]
    for name in ("heading", "level", "item", "inline", "strong", "em", "quote"):
        parts[name] = [part for part in parts[name] if part]
    return parts


# ---- HTML: text and parts ----

VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
SILENT = frozenset("script style template img svg".split())
BLOCK = frozenset(
    "p div li ul ol table tr td th section article h1 h2 h3 h4 h5 h6 blockquote pre figure figcaption dl dt dd header "
    "footer main aside br hr".split()
)
LANGUAGE = re.compile(r"(?:^|\s)(?:language-|lang-)([\w+#.-]+)")


class Element:
    def __init__(self, tag, attributes, parent):
        self.tag = tag
        self.attributes = {name: value or "" for name, value in attributes}
        self.parent = parent
        self.children = []

    def elements(self):
        return [child for child in self.children if isinstance(child, Element)]

    def text(self, exact=False):
        """As a reader sees it: blocks stand apart, unless the text is wanted exactly."""
        if self.tag in SILENT or self.tag == "br":
            return "\n" if self.tag == "br" else ""
        inside = "".join(child if isinstance(child, str) else child.text(exact) for child in self.children)
        return f" {inside} " if self.tag in BLOCK and not exact else inside


class Tree(html.parser.HTMLParser):
    """A tree of what is clean HTML already: truths are, pages are not."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.root = self.open = Element("", (), None)
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        element = Element(tag, attrs, self.open)
        self.open.children.append(element)
        self.open = self.open if tag in VOID else element

    def handle_startendtag(self, tag, attrs):
        self.open.children.append(Element(tag, attrs, self.open))

    def handle_endtag(self, tag):
        element = self.open
        while element and element.tag != tag:
            element = element.parent
        if element and element.parent:
            self.open = element.parent

    def handle_data(self, data):
        self.open.children.append(data)


def rows_of(table):
    """The rows of a table, without those of tables within it."""
    rows, waiting = [], table.elements()
    while waiting:
        element = waiting.pop(0)
        if element.tag == "tr":
            rows.append([cell for cell in element.elements() if cell.tag in ("td", "th")])
        elif element.tag != "table":
            waiting += element.elements()
    return rows


class HtmlParts:
    """Walks over a tree and notes its parts."""

    def __init__(self, base):
        self.base = base
        self.parts = collections.defaultdict(list)

    def address(self, reference):
        return same_address(urllib.parse.urljoin(self.base, reference) if self.base else reference)

    def walk(self, element, inside):
        for child in element.elements():
            if child.tag not in ("script", "style", "svg"):
                self.walk(child, self.note(child, element, inside))

    def note(self, element, parent, inside):
        """Notes one element; what its children stand in."""
        tag = element.tag
        if re.fullmatch(r"h[1-6]", tag):
            text = one_line(element.text())
            if text:
                self.parts["heading"].append(text)
                self.parts["level"].append((int(tag[1]), text))
        elif tag == "li":
            self.note_item(element, parent)
        elif tag == "table":
            rows = rows_of(element)
            is_layout = len(rows) < 2 or max(map(len, rows)) < 2
            return inside | {"layout"} if is_layout else inside - {"layout"}
        elif tag == "tr" and "layout" not in inside:
            cells = tuple(one_line(cell.text()) for cell in element.elements() if cell.tag in ("td", "th"))
            if any(cells):
                self.parts["row"].append(cells)
        elif tag == "pre":
            self.note_code(element)
            return inside | {"pre"}
        elif tag == "img" and element.attributes.get("src", "data:")[:5] not in ("data:", ""):
            self.parts["image"].append(self.address(element.attributes["src"]))
        elif tag == "blockquote":
            texts = [one_line(child if isinstance(child, str) else child.text()) for child in element.children]
            self.parts["quote"] += [text[:QUOTE_LETTERS] for text in texts if text]
        elif "pre" not in inside:
            return self.note_within_line(element, inside)
        return inside

    def note_item(self, item, parent):
        own = [
            child if isinstance(child, str) else child.text()
            for child in item.children
            if isinstance(child, str) or child.tag not in ("ul", "ol", "pre", "table")
        ]
        text = one_line("".join(own))
        if text:
            self.parts["item"].append((parent.tag == "ol", text[:ITEM_LETTERS]))

    def note_code(self, block):
        language = ""
        for element in [block, *block.elements()]:
            named = LANGUAGE.search(element.attributes.get("class", ""))
            language = language or element.attributes.get("data-lang", "") or (named[1] if named else "")
        body = code_body(block.text(exact=True))
        if body.strip():
            self.parts["code"].append(body)
            self.parts["language"].append((language.lower(), body))

    def note_within_line(self, element, inside):
        tag = {"b": "strong", "i": "em", "code": "inline"}.get(element.tag, element.tag)
        text = one_line(element.text()) if tag in ("strong", "em", "inline", "a") else ""
        if tag in ("strong", "em") and tag not in inside:
            self.parts[tag] += [text] if text else []
            return inside | {tag}
        if tag == "inline" and text:
            self.parts["inline"].append(text)
        reference = element.attributes.get("href", "") if tag == "a" else ""
        if text and reference and not reference.startswith("#"):
            address = self.address(reference)
            self.parts["link"] += [] if address.startswith("javascript:") else [(text, address)]
        return inside


def parts_of_html(text, base):
    """The parts of HTML, and its text."""
    tree = Tree(text).root
    walk = HtmlParts(base)
    walk.walk(tree, frozenset())
    return walk.parts, tree.text()
