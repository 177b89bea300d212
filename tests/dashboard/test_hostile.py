"""What strangers write into questions, answers, names and errors is shown as text: nothing of it runs, leads astray or breaks the page."""

import random
import time

import pytest
from conftest import report
from filling import add_calls, add_history, calls_of, filled_server
from pages import Page

PAYLOADS = [
    "<script>pwned('script')</script>",
    "<img src=x onerror=pwned('img')>",
    "<svg onload=pwned('svg')><animate onbegin=pwned('animate') attributeName=x dur=1s>",
    "<iframe srcdoc=\"<script>parent.pwned('frame')</script>\"></iframe>",
    "<a href=\"javascript:pwned('link')\">click</a>",
    "[click](javascript:pwned('markdown'))",
    "[click](  JaVaScRiPt:pwned(1))",
    "[click](data:text/html,<script>opener.pwned('data')</script>)",
    "![picture](https://evil.example/pixel.png)",
    "![picture](javascript:pwned('picture'))",
    "<https://evil.example/\" onmouseover=\"pwned('quote')>",
    "</title></textarea></style><script>pwned('closing')</script>",
    "{{constructor.constructor('pwned(1)')()}} ${pwned(2)}",
    "<style>*{display:none!important}</style><link rel=stylesheet href=https://evil.example/a.css>",
    "<meta http-equiv=refresh content='0;url=https://evil.example/'><base href=https://evil.example/>",
    "<form action=https://evil.example/><input name=token><button>Sign in</button></form>",
    "\u202etxt.exe \u2066hidden\u2069 \u200f\u061c",
    "\x00\x01\x1b[31mred\x1b[0m\x7f\x9b\u2028\u2029",
    "# " + "#" * 5000,
    "> " * 3000,
    "[" * 3000 + "](" * 3000,
    "*" * 9000 + "_" * 9000 + "`" * 9000,
    "- " * 3000,
    "|" * 9000 + "\n|---|\n" + "|" * 9000,
    "\u0301" * 3000,
]
WORD = "W" * 1_000_000


def result_of(text):
    link = {"title": text, "link": "javascript:pwned('source')", "url": text, "snippet": text, "page_content": text, "published": text}
    evidence = [{"claim": text, "quote": text, "url": "javascript:pwned('evidence')", "title": text, "grade": text, "read_at": text}]
    return {"success": True, "report": text, "results": [link], "evidence": evidence, "open_questions": [text, {"a": text}], "metadata": {"sources_visited": [text]}}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    now = int(time.time() * 1000)
    with filled_server("hostile", folder) as server:
        data = folder / "data"
        rows = [("local", now - 1000 * place, "web_search", {"query": text, text: text}, None, 7, result_of(text)) for place, text in enumerate(PAYLOADS)]
        rows += [("local", now, "deep_search", {"topic": WORD}, None, 1, {"success": True, "report": WORD[:900_000]})]
        rows += [("local", now, "web_search", [WORD[:100]], "<b>x</b>", 1, {"success": False, "error": {"code": text, "message": text}}) for text in PAYLOADS[:3]]
        rows += [("local", now, "web_search", {"query": "odd"}, None, 1, odd) for odd in ([1], {"results": "x", "evidence": 5, "text": {}}, {"results": [{}], "evidence": [{}]})]
        add_history(data, rows)
        names = [text[:60] for text in PAYLOADS if "\x00" not in text]
        tools = {name: ([name], 12, 1000) for name in names}
        add_calls(data, calls_of(200, random.Random(1), ["local", *names], tools, None, days=0.02))
        server.rows = len(rows)
        yield server


def nothing_happened(page):
    assert not page.problems(), page.problems()
    assert page.run("document.querySelectorAll('main script, main iframe, main form[action], main base, main meta, main link, main style, main object, main embed').length") == 0
    assert page.run("[...document.querySelectorAll('main a')].every((one) => /^(https?:|#)/.test(one.getAttribute('href')))")
    assert page.run("[...document.querySelectorAll('main *')].every((one) => [...one.attributes].every((a) => !a.name.startsWith('on')))")
    assert page.run("[...document.querySelectorAll('main img')].length") == 0
    assert not page.too_wide(), page.too_wide()


@pytest.mark.parametrize("width", [360, 1400])
def test_overview_and_list_of_hostile_words(browser, hostile, width):
    browser.look(width, "light")
    page = Page(browser, hostile.port).open("overview")
    page.wait("document.querySelectorAll('.bars li').length > 10")
    for _ in range(page.run("document.querySelectorAll('summary').length")):
        page.run("[...document.querySelectorAll('details:not([open]) > summary')][0]?.click()")
    nothing_happened(page)
    page.open("searches")
    assert page.run("document.querySelectorAll('.question').length") == hostile.rows
    assert "‹RLO›txt.exe" in page.text() and "\u202e" not in page.text() and "\x1b" not in page.text()
    nothing_happened(page)


def test_every_hostile_answer(browser, hostile):
    browser.look(800, "dark")
    page = Page(browser, hostile.port).open("searches")
    for number in range(1, hostile.rows + 1):
        page.run(f"location.hash = '#/searches/{number}'")
        page.wait(f"location.hash.endsWith('/{number}') && document.body.innerText.includes('What came of it') && document.querySelectorAll('.answer, main .card p.muted').length > 0")
        page.settle()
        # Everything that can be opened is, and every link is pressed that leads nowhere.
        page.run("[...document.querySelectorAll('main summary, .cut > button')].forEach((one) => one.click())")
        page.run("[...document.querySelectorAll('main bdi')].forEach((one) => one.dispatchEvent(new MouseEvent('mouseover', { bubbles: true })))")
        nothing_happened(page)


def test_a_word_of_a_million_letters_stops_nothing(browser, hostile):
    browser.look(360, "light")
    page = Page(browser, hostile.port).open(f"searches/{len(PAYLOADS) + 1}")
    took = page.run("(async () => { const start = performance.now(); [...document.querySelectorAll('.cut > button')].forEach((one) => one.click());"
                    "document.body.offsetHeight; await new Promise((done) => requestAnimationFrame(() => setTimeout(done))); return performance.now() - start; })()")
    assert page.run("document.querySelector('.asked').textContent.length") == len(WORD)
    report(f"a word of a million letters is shown in {took:.0f} ms")
    nothing_happened(page)


def test_errors_are_text_too(browser, hostile):
    """What a server says of a path that a stranger made."""
    browser.look(800, "light")
    page = Page(browser, hostile.port)
    page.expected = ("404", "400")
    page.open("searches/%3Cimg%20src%3Dx%20onerror%3Dpwned(1)%3E")
    assert "That did not work" in page.text()
    page.open("experiments/%3Cscript%3Epwned(1)%3C%2Fscript%3E")
    nothing_happened(page)
    page.open("overview?span=%3Cscript%3E")
    page.open("constructor")
    page.open("%E0%A4%A")
    assert "does not exist" in page.text()
    nothing_happened(page)


def test_the_tools_of_this_test_would_see_a_script(browser, hostile):
    """So the tests above can fail: a script that does run is noticed, and one in the page is stopped by its policy."""
    page = Page(browser, hostile.port).open("overview")
    page.run("pwned('me')")
    assert "me" in page.problems()
    page.run("document.body.append(Object.assign(document.createElement('div'), { innerHTML: '<img src=x onerror=pwned(1)>' }))")
    page.wait("window.stopped.length > 0")
    assert any("script-src" in one for one in page.problems())


def test_cells_of_an_export_are_no_formulas(browser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("formulas")
    with filled_server("formulas", folder) as server:
        add_history(folder / "data", [("local", 1, "web_search", {"query": text}, None, 1, None) for text in ("=HYPERLINK(1)", "+1", "-1", "@x")])
        page = Page(browser, server.port).open("searches")
        page.run("window.files = []; const made = URL.createObjectURL; URL.createObjectURL = (b) => { b.text().then((t) => window.files.push(t)); return made.call(URL, b); }")
        page.click("Export CSV")
        text = page.wait("window.files[0]")
        for formula in ("=HYPERLINK(1)", "+1", "-1", "@x"):
            assert f",'{formula}," in text, text
