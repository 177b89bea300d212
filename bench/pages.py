"""Pages for bench/extract: those of a folder, or pages of the usual shape that are made here.

More than half of a made page is script and style, as with real ones; it has a head with metadata, a menu, a column beside the
text, and a foot, and its text is an article, a page of documentation, a thread, a list or a product. The same
pages are made every time."""

import gzip
import html
import json
import os
import random

MADE_PAGES = 120
SYLLABLES = "ba co de fi gu ha in jo ka le mo na or pe qui ra se ti un ve wa xi yo zu".split()


class Writer:
    """Words, and the markup around them."""

    def __init__(self, number):
        self.random = random.Random(number)
        self.number = number

    def word(self):
        return "".join(self.random.choices(SYLLABLES, k=self.random.choice((1, 1, 2, 2, 3, 4))))

    def words(self, count):
        return " ".join(self.word() for _ in range(count))

    def sentence(self):
        words = [self.word() for _ in range(self.random.randint(6, 24))]
        spot = self.random.randrange(len(words))
        decorated = (
            f'<a href="/page/{self.random.randrange(9999)}.html" class="inline-link">{words[spot]}</a>',
            f"<em>{words[spot]}</em>",
            f"<code>{words[spot]}()</code>",
            words[spot] + ",",
        )
        words[spot] = self.random.choice(decorated)
        return " ".join(words).capitalize() + "."

    def paragraph(self):
        return f'<p class="text-body">{" ".join(self.sentence() for _ in range(self.random.randint(2, 6)))}</p>\n'

    def heading(self, level):
        title = self.words(self.random.randint(2, 6)).capitalize()
        return f'<h{level} id="{title.replace(" ", "-").lower()}">{title}</h{level}>\n'

    def items(self, count):
        rows = "".join(f"<li>{self.sentence()}</li>\n" for _ in range(count))
        return f"<ul>\n{rows}</ul>\n"

    def code(self):
        lines = "\n".join(
            f'<span class="line"><span class="k">let</span> {self.word()} = <span class="s">"{self.word()}"</span>;</span>'
            for _ in range(self.random.randint(3, 15))
        )
        return f'<div class="highlight"><pre><code class="language-js">{lines}</code></pre></div>\n'

    def table(self):
        columns = self.random.randint(2, 5)
        head = "".join(f"<th>{self.word()}</th>" for _ in range(columns))
        rows = "".join(
            "<tr>" + "".join(f"<td>{self.words(3)}</td>" for _ in range(columns)) + "</tr>\n"
            for _ in range(self.random.randint(3, 12))
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>\n"

    def picture(self):
        name = self.word()
        return (
            f'<figure><img src="/images/{name}.jpg" srcset="/images/{name}@2x.jpg 2x" alt="{self.words(4)}" '
            f'width="640" height="360" loading="lazy"><figcaption>{self.sentence()}</figcaption></figure>\n'
        )

    def card(self):
        name = self.words(4).capitalize()
        return (
            f'<div class="card"><a href="/item/{self.random.randrange(9999)}"><img src="/thumb/{self.word()}.webp" alt="">'
            f"<h3>{name}</h3></a><p>{self.sentence()}</p><span class=price>{self.random.randint(1, 900)}.00</span></div>\n"
        )

    def comment(self):
        return (
            f'<div class="post" id="post-{self.random.randrange(99999)}"><div class="author"><a href="/user/{self.word()}">'
            f'{self.word()}</a> <time datetime="2026-03-01T10:00:00Z">1 March</time></div>'
            f'<div class="post-body">{self.paragraph()}{self.paragraph()}</div></div>\n'
        )

    # ---- what is not the text ----

    def menu(self, name, count):
        links = "".join(
            f'<li class="menu-item"><a class="menu-link" href="/{self.word()}/">{self.words(2)}</a></li>' for _ in range(count)
        )
        return f'<nav class="{name}" aria-label="{name}"><ul>{links}</ul></nav>\n'

    def script(self, size):
        statements = []
        length = 0
        while length < size:
            statements.append(f'window.{self.word()}=function(a,b){{return a<b?"{self.word()}":{{{self.word()}:[a,b,1e3]}}}};')
            length += len(statements[-1])
        return f"<script>{''.join(statements)}</script>\n"

    def style(self, size):
        rules = []
        length = 0
        while length < size:
            rules.append(f".{self.word()}-{self.word()}>a:hover{{display:flex;color:#{self.random.randrange(4096):03x}}}")
            length += len(rules[-1])
        return f"<style>{''.join(rules)}</style>\n"

    def head(self, title, kind):
        facts = {"@context": "https://schema.org", "@type": kind, "headline": title, "author": {"name": self.words(2)}}
        return (
            f'<head><meta charset="utf-8"><title>{html.escape(title)} | Example</title>'
            f'<meta property="og:title" content="{html.escape(title)}"><meta name="description" content="{self.words(20)}">'
            f'<link rel="canonical" href="https://example.org/{self.number}">'
            f'<script type="application/ld+json">{json.dumps(facts)}</script>\n'
        )


def article(writer, size):
    parts = (writer.paragraph, writer.paragraph, writer.paragraph, writer.picture, lambda: writer.heading(2))
    return fill(writer, "<article>", parts, "</article>", size)


def documentation(writer, size):
    parts = (writer.paragraph, writer.code, writer.table, lambda: writer.items(5), lambda: writer.heading(2))
    return fill(writer, '<main class="doc-content">', parts, "</main>", size)


def thread(writer, size):
    return fill(writer, '<div class="thread">', (writer.comment,), "</div>", size)


def listing(writer, size):
    return fill(writer, '<div class="grid" role="main">', (writer.card,), "</div>", size)


def product(writer, size):
    parts = (writer.paragraph, writer.table, writer.picture, lambda: writer.items(4))
    return fill(writer, '<div class="product" itemscope>', parts, "</div>", size)


KINDS = {
    "NewsArticle": article,
    "TechArticle": documentation,
    "DiscussionForumPosting": thread,
    "ItemList": listing,
    "Product": product,
}


def fill(writer, opening, parts, closing, size):
    pieces = [opening, writer.heading(1)]
    length = 0
    while length < size:
        pieces.append(writer.random.choice(parts)())
        length += len(pieces[-1])
    return "".join(pieces) + closing


def make_parts(number):
    """A page of 20 to 400 kB, the small ones are the many: what stands before its text, its text, and the rest."""
    writer = Writer(number)
    size = int(20_000 * 20 ** (writer.random.random() ** 2))
    kind = list(KINDS)[number % len(KINDS)]
    title = writer.words(6).capitalize()
    before = (
        "<!doctype html>\n<html lang=en>"
        + writer.head(title, kind)
        + writer.style(size // 5)
        + writer.script(size // 5)
        + '</head>\n<body class="page">\n<header class="site-header">'
        + writer.menu("site-menu", 20)
        + "</header>\n<div class=layout>"
        + writer.menu("sidebar", min(size // 2000, 60))
    )
    text = KINDS[kind](writer, size // 4)
    after = (
        "</div>\n"
        + writer.menu("related", 12)
        + f"<footer>{writer.menu('site-footer', 30)}<p>{writer.words(30)}</p></footer>\n"
        + writer.script(size // 4)
        + "</body></html>\n"
    )
    return before, text, after


def made_pages():
    return ["".join(make_parts(number)).encode() for number in range(MADE_PAGES)]


def found_pages(folder):
    """Every page under a folder, also those that are packed. What corpora expect to come out is no page."""
    pages = []
    for path, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            if name.startswith("expected") or not name.endswith((".html", ".htm", ".html.gz", ".htm.gz")):
                continue
            opened = gzip.open if name.endswith(".gz") else open
            with opened(os.path.join(path, name), "rb") as file:
                pages.append(file.read())
    return [page for page in pages if page.strip()]


def write_pages(folder, home):
    """Writes the pages one file each, as every side reads them; their paths."""
    pages = found_pages(folder) if folder else made_pages()
    paths = []
    for number, page in enumerate(pages):
        paths.append(os.path.join(home, f"{number:05}.html"))
        with open(paths[-1], "wb") as file:
            file.write(page)
    return paths
