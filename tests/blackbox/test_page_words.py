"""Words in ids and classes are evidence, never a verdict: each word of data/page-hints.txt on a part of the text, which
stays, and on what the word means, which goes. New words are tested without a change here."""

import re

import pytest
from extracting import extract, plain
from programs import ROOT

FORMS = {
    "the word": "{0}",
    "first of two": "{0}-part",
    "last of two": "page-{0}",
    "an element of a block": "{0}__inner",
    "a block's modifier": "guide__section--{0}",
    "camel case": "page{1}",
    "among other classes": "anchor heading{1}_x3Yz section",
}


def hint_words():
    """Each word with the classes that it hints at."""
    text = (ROOT / "data" / "page-hints.txt").read_text(encoding="utf-8")
    table = text.split("[page_hints ", 1)[1].split("\n", 1)[1].split("\n[", 1)[0]
    table = re.sub(r"#.*", "", table).replace("\n    ", " ")
    words = {}
    for line in table.splitlines():
        meaning, _, names = line.partition(":")
        for name in names.split():
            words.setdefault(name, []).append(meaning)
    return words


WORDS = hint_words()

# ---- pages ----

FURNITURE = """<!doctype html><html lang="en"><head><title>Weir guide</title></head><body>
<header><a href="/">Weir and lock</a>
<nav><ul><li><a href="/start">Start page</a></li><li><a href="/tours">Guided tours</a></li><li><a href="/maps">Old maps</a>
</li><li><a href="/contact">Write to us</a></li></ul></nav></header>
{before}<main><article><h1>The weir</h1>
<p>The weir was built in 1874 by the owner of the upper mill, who wanted water in summer and got it.</p>
{inside}</article></main>{after}
<footer><p>Published by the Friends of the Weir.</p><ul><li><a href="/imprint">Imprint page</a></li>
<li><a href="/terms">Terms of use</a></li></ul></footer></body></html>"""

SECTIONS = """<section id="gates"><h2>Gates</h2>
<p>Three gates of oak hold the water back, and each of them is lifted with a chain and a wheel of iron.</p>
<p>In autumn the keeper opens the middle one first, because the leaves gather there.</p></section>
{0}<section id="fish"><h2>Fish</h2>
<p>Salmon come up the river in October and need a way around the weir, which the ladder gives them.</p>
<p>The ladder has twelve steps, and no step is higher than a hand.</p></section>"""

LONG = (
    "The keeper lives in the small house beside the lock, and has to be at the gates within ten minutes.",
    "When the river rises above the second mark, he telephones the mill, and the mill stops its wheel.",
)
BRIEF = ("The gauge is read twice a day.", "A red mark means flood.")


def page(inside="", before="", after=""):
    return FURNITURE.format(inside=inside, before=before, after=after)


def names(word):
    """The word as people write it into an attribute."""
    return {form: pattern.format(word, word.capitalize()) for form, pattern in FORMS.items()}


def attributes(word):
    for form, name in names(word).items():
        yield f"class={name}", f'class="{name}"'
        if form in ("the word", "first of two", "camel case"):
            yield f"id={name}", f'id="{name}"'


def missing(text, wanted):
    """What is not there, in this order."""
    at, lost = 0, []
    for piece in wanted:
        found = text.find(piece, at)
        if found < 0:
            lost.append(piece)
        else:
            at = found + len(piece)
    return lost


def report(failures, count):
    """The assertion's words: few enough to read."""
    shown = "\n".join(failures[:60])
    return f"{len(failures)} of {count} pages\n{shown}"


# ---- what stays ----

HEADED = "<{tag} {attribute}><h2>The keeper</h2><p>{0}</p><p>{1}</p></{tag}>"
KEPT = {
    "a section": (HEADED.replace("{tag}", "section"), ["## The keeper", *LONG], LONG),
    "a division": (HEADED.replace("{tag}", "div"), ["## The keeper", *LONG], LONG),
    "a section of few words": (HEADED.replace("{tag}", "section"), ["## The keeper", *BRIEF], BRIEF),
    "a heading": ("<h2 {attribute}>The keeper</h2><p>{0}</p><p>{1}</p>", ["## The keeper", *LONG], LONG),
    "a paragraph": ("<h2>The keeper</h2><p {attribute}>{0}</p><p>{1}</p>", ["## The keeper", *LONG], LONG),
    "around code": (
        "<p>{0}</p><div {attribute}><pre><code>gate --open 2\ngate --level</code></pre></div><p>{1}</p>",
        [LONG[0], "gate --open 2\ngate --level", LONG[1]],
        LONG,
    ),
    "around a table": (
        "<p>{0}</p><div {attribute}><table><tr><th>Gate</th><th>Width in metres</th></tr><tr><td>Upper gate</td><td>2.40"
        "</td></tr><tr><td>Lower gate</td><td>3.10</td></tr></table></div><p>{1}</p>",
        [LONG[0], "| Gate | Width in metres |", "| Upper gate | 2.40 |", "| Lower gate | 3.10 |", LONG[1]],
        LONG,
    ),
}


@pytest.mark.parametrize("alone", [False, True], ids=["among others", "alone"])
@pytest.mark.parametrize("markup, wanted, words", KEPT.values(), ids=KEPT)
def test_part_of_the_text_stays_whatever_it_is_called(tmp_path, markup, wanted, words, alone):
    pages = {}
    for word in WORDS:
        for name, attribute in attributes(word):
            part = markup.replace("{attribute}", attribute).format(*words)
            pages[name] = page(part if alone else SECTIONS.replace("{0}", part))
    failures = []
    for name, text in extract(tmp_path, pages).items():
        lost = missing(text, wanted)
        if lost:
            failures.append(f"{name}: {' / '.join(lost)}")
    assert not failures, report(failures, len(pages))


# ---- what goes ----

LINKS = """<ul><li><a href="/l1">Opening hours</a></li><li><a href="/l2">Boats for hire</a></li>
<li><a href="/l3">School visits</a></li><li><a href="/l4">Lost property</a></li><li><a href="/l5">Press office</a></li></ul>"""
STORIES = """<ul><li><a href="/s1">Why the old mill stopped in 1931</a></li><li><a href="/s2">A walk along the canal</a></li>
<li><a href="/s3">How a lock lifts a boat</a></li></ul>"""

# Of each class what its words stand on in real pages.
REAL = {
    "navigation": LINKS,
    "breadcrumb": '<a href="/">Start here</a> / <a href="/guides">All guides</a> / <span>Weir</span>',
    "footer": "<p>© 2026 Example Press. All rights reserved.</p>" + LINKS,
    "header": '<a href="/"><img src="/logo.png" alt="Logo of the press"></a>' + LINKS,
    "sidebar": "<h3>Also on these pages</h3>" + LINKS,
    "related": "<h3>More to read</h3>" + STORIES,
    "advert": '<span>Advertisement</span><a href="https://ads.example/1"><img src="/ad.png" alt="Rubber boots, now cheaper">'
    "</a>",
    "share": '<span>Tell your friends</span> <a href="https://one.example/share">Onebook</a> '
    '<a href="https://two.example/share">Twitterer</a> <a href="mailto:?subject=x">By mail</a>',
    "cookie": '<p>We use cookies to measure visits. <a href="/cookies">Read our policy</a></p><button>Accept all</button>'
    "<button>Decline all</button>",
    "newsletter": "<h3>Our letter</h3><p>Get our stories by mail every Friday.</p><form action='/join'><input type='email' "
    "placeholder='Your address'><button>Sign me up</button></form>",
    "popup": "<button>Close this window</button><p>Ten percent off your first order!</p><a href='/offer'>Take the offer</a>",
    "pager": '<a href="/p1">Previous page</a> <a href="/p2">2</a> <a href="/p3">3</a> <a href="/p4">Next page</a>',
    "account": '<a href="/login">Log in here</a> <a href="/register">New account</a> <a href="/basket">Your basket (0)</a>',
    "action": '<a href="/buy">Buy a ticket now</a>',
    "filter": "<form action='/list'><label>Sort the list by <select><option>Price rising</option><option>Price falling"
    "</option></select></label><label><input type='checkbox'> Only with pictures</label><button>Apply these</button></form>",
    "search": "<form action='/find'><label>Look for <input type='search' name='q'></label><button>Go and look</button></form>",
    "comment": "<h3>3 remarks</h3><ol><li><b>Anna W.</b> <a href='#c1'>3 May 2026</a><p>I was there last week and the gates "
    "were open.</p><a href='/r1'>Reply to Anna</a></li><li><b>Ben</b> <a href='#c2'>4 May 2026</a><p>Thank you for this.</p>"
    "<a href='/r2'>Reply to Ben</a></li><li><b>Carla</b> <a href='#c3'>6 May 2026</a><p>Is the ladder lit at night? It "
    "should be.</p><a href='/r3'>Reply to Carla</a></li></ol>",
    "tags": '<span>Filed under</span> <a href="/t/1">rivers</a>, <a href="/t/2">mills</a>, <a href="/t/3">engineering</a>',
}
PLACES = {
    "before the text": lambda part: page(SECTIONS.replace("{0}", ""), before=part),
    "after the text": lambda part: page(SECTIONS.replace("{0}", ""), after=part),
    "at the end of the article": lambda part: page(SECTIONS.replace("{0}", "") + part),
}


def said_by(html):
    """The words of a piece of a page, in the pieces that its tags make."""
    return [" ".join(piece.split()) for piece in re.split(r"<[^>]*>", html) if len(piece.strip()) > 3]


def leftovers(folder, parts, place):
    pages = {name: PLACES[place](html) for name, (html, _) in parts.items()}
    failures = []
    for name, text in extract(folder, pages).items():
        text = plain(text)
        left = [piece for piece in parts[name][1] if piece in text]
        if left:
            failures.append(f"{name}: {' / '.join(left)}")
        elif missing(text, ["The weir was built", "In autumn the keeper", "is higher than a hand."]):
            failures.append(f"{name}: the text is gone")
    return failures, len(pages)


@pytest.mark.parametrize("place", PLACES)
def test_navigation_goes_whatever_it_is_called(tmp_path, place):
    parts = {}
    for word in WORDS:
        for name, attribute in attributes(word):
            for tag in ("nav", "div"):
                parts[f"{tag} {name}"] = (f"<{tag} {attribute}>{LINKS}</{tag}>", said_by(LINKS))
    failures, count = leftovers(tmp_path, parts, place)
    assert not failures, report(failures, count)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("meaning", REAL)
def test_what_a_word_means_goes(tmp_path, meaning, place):
    parts = {}
    html = REAL[meaning]
    for word, meanings in WORDS.items():
        if meaning not in meanings:
            continue
        for name in names(word).values():
            for tag in ("section", "div"):
                parts[f"{tag} class={name}"] = (f'<{tag} class="{name}">{html}</{tag}>', said_by(html))
        for tag in ("section", "div"):
            parts[f"{tag} id={word}"] = (f'<{tag} id="{word}">{html}</{tag}>', said_by(html))
    failures, count = leftovers(tmp_path, parts, place)
    assert not failures, report(failures, count)


def test_table_of_words_is_read():
    assert len(WORDS) > 250 and WORDS["navbar"] == ["navigation"] and WORDS["addtocart"] == ["account", "action"]
    assert set(REAL) <= {meaning for meanings in WORDS.values() for meaning in meanings}
