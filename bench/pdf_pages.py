"""Documents of known Markdown, in many styles: as HTML for a browser to print, and as the input of groff -ms.

A document is a list of blocks: ("heading", level, text), ("text", text), ("list", [(depth, mark, text)]), ("table", rows),
("code", lines), ("quote", text). In a text, {^n} is the sign of note n and [words](url) a link. Everything follows from the
number that a document is made with, so the same number always gives the same document."""

import html
import random
import re

WORDS = {
    "en": "water light garden method result station river engine letter measure market window paper surface winter signal "
    "forest value teacher bridge corner number village simple early narrow public several quiet heavy common certain rapid "
    "shows finds keeps carries follows begins becomes reaches holds changes and of with under after between from into "
    "against the a this each every their where which because although well-known long-term",
    "de": "Wasser Straße Garten Größe Fläche Häuser Übung Messung Ergebnis Fluss Brücke Fenster Zahl wird zeigt führt hält "
    "beginnt und mit unter nach zwischen gegen die der das einer jeder früh schmal öffentlich häufig während obwohl",
    "fr": "été forêt lumière méthode résultat rivière fenêtre élève mesure pièce hiver signal montre trouve garde suit "
    "commence et de avec sous après entre contre le la un chaque leur où parce que déjà très étroit général",
}
NAMES = "Alba Boreas Cedar Delta Ember Falcon Grove Harbor Indigo Juniper Kestrel Lagoon Meadow Nimbus Orchid Prairie".split()
HEADS = "Name Value Count Share Year Kind Place Cost Rate Note Size Weight".split()
FONTS = ["DejaVu Serif", "DejaVu Sans", "Liberation Serif", "Liberation Sans"]
KINDS = ["one column", "two columns", "tables", "lists and code", "footnotes", "mixed"]


class Maker:
    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.language = self.chance.choice(["en", "en", "en", "de", "fr"])
        self.words = WORDS[self.language].split()
        self.notes = []
        self.linked = 0

    def phrase(self, least, most):
        return " ".join(self.chance.choice(self.words) for _ in range(self.chance.randint(least, most)))

    def sentence(self):
        words = self.phrase(6, 18)
        if self.chance.random() < 0.15:
            words += f", {self.chance.randint(2, 9999)} {self.chance.choice(self.words)}"
        return words[0].upper() + words[1:] + self.chance.choice("...?")

    def text(self, least=2, most=6):
        sentences = [self.sentence() for _ in range(self.chance.randint(least, most))]
        if self.chance.random() < 0.15:
            self.linked += 1
            sentences.append(f"[{self.phrase(2, 3)}](https://example.org/{self.linked}) {self.phrase(2, 4)}.")
        return " ".join(sentences)

    def noted(self, text):
        self.notes.append(self.sentence() + (" " + self.sentence() if self.chance.random() < 0.4 else ""))
        words = text.split(" ")
        at = self.chance.randrange(1, len(words))
        while "](" in words[at] or words[at].startswith("["):
            at = self.chance.randrange(1, len(words))
        words[at] += "{^%d}" % len(self.notes)
        return " ".join(words)

    def heading(self, level):
        words = self.phrase(1, 5).split()
        return ("heading", level, " ".join(word[0].upper() + word[1:] for word in words))

    def cell(self, column):
        kind = column["kind"]
        if column["empty"] and self.chance.random() < 0.2:
            return ""
        if kind == "number":
            return f"{self.chance.uniform(0, 10 ** self.chance.randint(1, 4)):.{column['digits']}f}"
        if kind == "words":
            return self.phrase(1, 3)
        return self.phrase(5, 14)

    def table(self, wide=False, width=None):
        width = width or self.chance.randint(2, 4) + wide * 2
        columns = [{"kind": "name", "empty": False}]
        for _ in range(width - 1):
            kind = self.chance.choice(["number", "number", "words", "words", "long"] if not wide else ["number", "words", "words"])
            columns.append({"kind": kind, "digits": self.chance.randint(0, 2), "empty": self.chance.random() < 0.3})
        names = self.chance.sample(NAMES, self.chance.randint(3, 9))
        heads = self.chance.sample(HEADS, width)
        rows = [heads] + [[name] + [self.cell(column) for column in columns[1:]] for name in names]
        return ("table", rows, [column["kind"] == "number" for column in columns], wide)

    def items(self, ordered):
        items, depth = [], 0
        counts = [0, 0, 0]
        for _ in range(self.chance.randint(3, 7)):
            counts[depth] += 1
            counts[depth + 1 :] = [0] * len(counts[depth + 1 :])
            mark = f"{counts[depth]}." if ordered and depth == 0 else "-"
            items.append((depth, mark, self.phrase(3, 22)))
            depth = max(0, min(1, depth + self.chance.choice([-1, 0, 0, 1])))
        return ("list", items)

    def code(self):
        lines, depth = [], 0
        for _ in range(self.chance.randint(3, 8)):
            lines.append("    " * depth + self.chance.choice(["if (a > b) {", "call(x, y);", "return 0;", "value = next(list);"]))
            depth = min(depth + lines[-1].endswith("{"), 2)
        return ("code", lines)


def make_blocks(kind, seed):
    """The blocks and the notes of a document."""
    maker = Maker(f"{kind} {seed}")
    chance = maker.chance
    blocks = [maker.heading(1)]
    for _ in range(chance.randint(3, 6) if kind != "mixed" else chance.randint(6, 10)):
        blocks.append(maker.heading(2))
        for _ in range(chance.randint(1, 3)):
            text = maker.text()
            if kind in ("footnotes", "mixed") and chance.random() < 0.5:
                text = maker.noted(text)
            blocks.append(("text", text))
            if chance.random() < 0.2:
                blocks.append(maker.heading(3))
                blocks.append(("text", maker.text()))
        if kind == "tables" or (kind == "mixed" and chance.random() < 0.6):
            blocks.append(maker.table(wide=kind == "mixed" and chance.random() < 0.5))
            if chance.random() < 0.5:
                blocks.append(("text", maker.text()))
        if kind == "lists and code" or (kind == "mixed" and chance.random() < 0.4):
            blocks.append(maker.items(chance.random() < 0.5))
            blocks.append(("text", maker.text(1, 2)))
        if kind == "lists and code" and chance.random() < 0.6:
            blocks.append(maker.code())
            blocks.append(("text", maker.text(1, 2)))
        if chance.random() < 0.1:
            blocks.append(("quote", maker.text(1, 3)))
    return blocks, maker.notes


# ---- as Markdown ----


def as_markdown(blocks, notes):
    out = []
    for block in blocks:
        if block[0] == "heading":
            out.append("#" * block[1] + " " + block[2])
        elif block[0] in ("text", "quote"):
            out.append(("> " if block[0] == "quote" else "") + re.sub(r"\{\^(\d+)\}", r"[^\1]", block[1]))
        elif block[0] == "list":
            out.append("\n".join("   " * depth + mark + " " + text for depth, mark, text in block[1]))
        elif block[0] == "code":
            out.append("```\n" + "\n".join(block[1]) + "\n```")
        else:
            lines = ["| " + " | ".join(row) + " |" for row in block[1]]
            out.append("\n".join([lines[0], "|" + " --- |" * len(block[1][0]), *lines[1:]]))
    out += [f"[^{number}]: {note}" for number, note in enumerate(notes, 1)]
    return "\n\n".join(out) + "\n"


# ---- as HTML ----


def inline_html(text):
    text = html.escape(text)
    text = re.sub(r"\[([^\]]+)\]\(([^)]+)\)", r'<a href="\2">\1</a>', text)
    return re.sub(r"\{\^(\d+)\}", r"<sup>\1</sup>", text)


def list_html(items):
    out, depth = [], -1
    kinds = []
    for level, mark, text in items:
        while depth > level:
            out.append(f"</li></{kinds.pop()}>")
            depth -= 1
        if depth < level:
            kinds.append("ul" if mark == "-" else "ol")
            out.append(f"<{kinds[-1]}><li>")
            depth += 1
        else:
            out.append("</li><li>")
        out.append(inline_html(text))
    while kinds:
        out.append(f"</li></{kinds.pop()}>")
    return "".join(out)


def table_html(rows, numbers, wide):
    out = [f'<table class="{"wide" if wide else "near"}">']
    for index, row in enumerate(rows):
        tag = "td" if index else "th"
        cells = "".join(
            f'<{tag}{" class=number" if number else ""}>{inline_html(cell)}</{tag}>' for cell, number in zip(row, numbers)
        )
        out.append(f"<tr>{cells}</tr>")
    return "".join(out) + "</table>"


def make_style(kind, seed):
    chance = random.Random(f"style {kind} {seed}")
    size = chance.choice([9, 10, 10, 11, 12])
    columns = 2 if kind == "two columns" or (kind in ("mixed", "footnotes") and chance.random() < 0.6) else 1
    ruled = chance.choice(["td,th{border:1px solid #444}", "th{border-bottom:1px solid #000}", "", "tr:nth-child(odd){background:#eee}"])
    heads = chance.choice(["1.8 1.4 1.15", "2 1.5 1.2", "1.6 1.25 1.1", "1.4 1.15 1", "1.5 1 1"]).split()
    weight = chance.choice(["bold", "bold", "normal"]) if float(heads[2]) > 1 else "bold"
    paper = chance.choice(["A4", "letter", "A4 landscape" if columns == 2 else "A4"])
    running = kind in ("mixed", "two columns", "one column")
    return f"""
@page {{ size: {paper}; margin: {chance.choice(["2cm", "2.5cm", "18mm 22mm"])};
  {'@top-left { content: "The running head of this"; font-size: 8pt } @bottom-center { content: counter(page); font-size: 8pt }' if running else ""} }}
body {{ font: {size}pt/{chance.choice(["1.2", "1.35", "1.5"])} "{chance.choice(FONTS)}"; margin: 0 }}
main {{ columns: {columns}; column-gap: {chance.choice(["14pt", "1.5em", "24pt"])}; text-align: {chance.choice(["justify", "left"])}; hyphens: {chance.choice(["auto", "manual"])} }}
h1 {{ font-size: {heads[0]}em; column-span: all }} h2 {{ font-size: {heads[1]}em }} h3 {{ font-size: {heads[2]}em }}
h1, h2, h3 {{ font-weight: {weight}; break-after: avoid; text-align: left }}
p {{ {chance.choice(["margin: .7em 0", "margin: 0; text-indent: 1.5em", "margin: .5em 0"])} }}
table {{ border-collapse: {chance.choice(["collapse", "separate"])}; margin: 1em 0; text-align: left; font-size: {chance.choice(["1", ".9"])}em; break-inside: avoid;
  hyphens: manual; {chance.choice(["width: 100%", "", ""])} }} {ruled}
td, th {{ padding: {chance.choice(["2pt 6pt", "3pt 8pt", "1pt 4pt"])}; vertical-align: {chance.choice(["top", "middle"])} }}
.number {{ text-align: right }} .wide {{ column-span: all }}
pre {{ font-family: "DejaVu Sans Mono"; font-size: .85em; line-height: 1.25; text-align: left }}
blockquote {{ margin: .7em 2em }} li {{ margin: {chance.choice(["0", ".3em 0"])} }}
ul {{ list-style: {chance.choice(['"• "', '"– "', '"• "', "disc"])} }}
.notes {{ border-top: 1px solid; margin-top: 2em; font-size: .8em; column-span: all }} sup {{ font-size: .7em; line-height: 0 }}
.notes p {{ margin: 0; text-indent: 0 }}
"""


def as_html(kind, seed, language="en"):
    blocks, notes = make_blocks(kind, seed)
    out = [f'<!doctype html><html lang={language}><meta charset=utf-8><style>{make_style(kind, seed)}</style><main>']
    for block in blocks:
        if block[0] == "heading":
            out.append(f"<h{block[1]}>{html.escape(block[2])}</h{block[1]}>")
        elif block[0] == "text":
            out.append(f"<p>{inline_html(block[1])}</p>")
        elif block[0] == "quote":
            out.append(f"<blockquote>{inline_html(block[1])}</blockquote>")
        elif block[0] == "list":
            out.append(list_html(block[1]))
        elif block[0] == "code":
            out.append(f"<pre>{html.escape(chr(10).join(block[1]))}</pre>")
        else:
            out.append(table_html(*block[1:]))
    if notes:
        body = "".join(f"<p><sup>{number}</sup> {inline_html(note)}</p>" for number, note in enumerate(notes, 1))
        out.append(f"<div class=notes>{body}</div>")
    return "\n".join(out) + "</main></html>"


# ---- for groff -ms ----


def roff(text):
    text = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text)
    text = text.replace("\\", "\\e").replace("-", "\\-" if text.startswith("-") else "-")
    return re.sub(r"^([.'])", r"\\&\1", text)


def text_roff(text, notes):
    out = []
    for part in re.split(r"(\{\^\d+\})", text):
        sign = re.match(r"\{\^(\d+)\}", part)
        if sign:
            out[-1] += "\\**"
            out += [".FS", roff(notes[int(sign[1]) - 1]), ".FE"]
        elif part.strip():
            out.append(roff(part.strip()))
    return out


def table_roff(rows, numbers, chance):
    lines = [".TS", chance.choice(["", "allbox ", "box ", ""]) + chance.choice(["", "center "]) + "tab(@);"]
    lines[1] = lines[1] if lines[1] != "tab(@);" else "tab(@);"
    lines.append(" ".join("lB" if not number else "rB" for number in numbers))
    width = max(0.6, 4.0 / len(rows[0]))
    lines.append(" ".join("r" if number else f"lw({width:.1f}i)" for number in numbers) + ".")
    for row in rows:
        cells = [f"T{{\n{roff(cell)}\nT}}" if len(cell) > 24 else roff(cell) for cell in row]
        lines.append("@".join(cells))
    return lines + [".TE"]


def as_roff(kind, seed):
    blocks, notes = make_blocks(kind, seed)
    chance = random.Random(f"roff {kind} {seed}")
    size = chance.choice([10, 11, 12])
    out = [f".nr PS {size}", f".nr VS {size + 2 + chance.randint(0, 2)}", f".fam {chance.choice('TTH')}", ".nr PO 1i", ".nr LL 6.5i"]
    out += [".ds CH The running head of this", ".ds CF %"] if kind in ("mixed", "two columns", "one column") else [".ds CH"]
    columns = kind == "two columns"
    paragraph = chance.choice([".PP", ".LP"])
    larger = chance.choice([0, 0, 1, 2])
    out += ([".nr GROWPS 3", f".nr PSINCR {larger}p"] if larger else []) + [".hy 4" if chance.random() < 0.7 else ".nh"]
    for index, block in enumerate(blocks):
        if block[0] == "heading" and block[1] == 1:
            out += [".TL", roff(block[2])] + ([".2C"] if columns else [])
        elif block[0] == "heading":
            out += [f".SH {block[1]}", roff(block[2])]
        elif block[0] == "text":
            out += [paragraph, *text_roff(block[1], notes)]
        elif block[0] == "quote":
            out += [".QP", *text_roff(block[1], notes)]
        elif block[0] == "list":
            depth = 0
            for level, mark, text in block[1]:
                out += [".RS"] * (level - depth) + [".RE"] * (depth - level)
                depth = level
                out += [f".IP {mark if mark != '-' else chr(92) + '(bu'} 3", roff(text)]
            out += [".RE"] * depth
        elif block[0] == "code":
            out += [".DS I 3", ".ft CR", *(roff(line) for line in block[1]), ".ft R", ".DE"]
        else:
            out += [".KS", *table_roff(block[1], block[2], chance), ".KE"]
    return "\n".join(out) + "\n"
