"""The generator: the same bytes each time, no link that leads nowhere, nothing from elsewhere; and every page, looked at
in a browser on a phone and on a desk, by day and by night."""

import pathlib
import re
import shutil

import pytest
from conftest import build, report
from devtools import BROWSER, Browser
from programs import ROOT

PHONE, DESK = 360, 1400
LEAST_CONTRAST = 4.5


def copy_of_sources(folder):
    """What the generator reads, to be broken."""
    for name in ("docs", "site", "scripts", "data", "packaging", "plugin", "prompts"):
        shutil.copytree(ROOT / name, folder / name)
    for path in (ROOT / "src").glob("*/README.md"):
        (folder / path.relative_to(ROOT)).parent.mkdir(parents=True)
        shutil.copy(path, folder / path.relative_to(ROOT))
    for path in [*ROOT.glob("*.md"), ROOT / "meson.build"]:
        shutil.copy(path, folder)
    (folder / ".deps").symlink_to(ROOT / ".deps")
    (folder / ".env.example").write_text("")
    return folder


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# ---- making it ----


def test_same_bytes_each_time_and_anywhere(site, tmp_path):
    root = copy_of_sources(tmp_path / "elsewhere")
    code, words = build(tmp_path / "again", root)
    assert code == 0, words
    assert contents(tmp_path / "again") == contents(site)


@pytest.mark.parametrize(
    "text, words",
    [
        ("# A\n\n[x](nowhere.md)\n", "nowhere.md leads nowhere"),
        ("# A\n\n[x](start.md#no-such-heading)\n", "no heading #no-such-heading"),
        ("# A\n\n[x](#no-such-heading)\n", "no heading #no-such-heading"),
        ("# A\n\n[x](../src/no.c)\n", "leads nowhere"),
        ("# A\n\n[x](../../outside.txt)\n", "leads nowhere"),
        ("# A\n\n![x](images/none.svg)\n", "leads nowhere"),
        ("# A\n\n![x](https://example.org/picture.png)\n", "from elsewhere"),
        ("# A\n\n[x](ftp://example.org/a)\n", "is no link to a page"),
        ("# A\n\n<script>alert(1)</script>\n", "not HTML"),
        ("# A\n\n# B\n", "one heading of the first level"),
        ("## A\n", "one heading of the first level"),
    ],
)
def test_a_broken_page_ends_the_build(text, words, tmp_path):
    root = copy_of_sources(tmp_path / "broken")
    (root / "docs" / "broken.md").write_text(text)
    code, said = build(tmp_path / "out", root)
    assert code == 1 and words in said, said
    assert not (tmp_path / "out").exists()


def test_a_new_page_is_found_by_itself(tmp_path):
    root = copy_of_sources(tmp_path / "more")
    (root / "docs" / "clients").mkdir(exist_ok=True)
    (root / "docs" / "clients" / "some-client.md").write_text("# Some client\n\nA client of a test.\n")
    (root / "docs" / "some-page.md").write_text("# Some page\n\nOf a test.\n")
    code, said = build(tmp_path / "out", root)
    assert code == 0, said
    assert "Some client" in (tmp_path / "out" / "clients" / "index.html").read_text()
    home = (tmp_path / "out" / "index.html").read_text()
    assert 'href="clients/some-client.html"' in home and 'href="some-page.html"' in home


def test_every_document_is_a_page(site):
    for source in ROOT.glob("docs/**/*.md"):
        path = source.relative_to(ROOT / "docs").with_suffix(".html")
        assert (site / str(path).replace("README", "index")).is_file(), source


def test_it_is_small(site):
    sizes = [path.stat().st_size for path in site.rglob("*") if path.is_file()]
    report(f"the site: {len(sizes)} files, {sum(sizes)} bytes")
    assert sum(sizes) < 2_000_000 and max(sizes) < 300_000


# ---- looking at it ----

# Everything about a page that only a browser knows.
LOOK = r"""
(() => {
  const problems = [];
  const page = document.documentElement;
  if (page.scrollWidth > page.clientWidth) {
    const wide = [...document.querySelectorAll("body *")].filter((one) => one.getBoundingClientRect().right > page.clientWidth + 1 && !one.closest(".table, pre"));
    problems.push("wider than the screen: " + page.scrollWidth + " " + wide.slice(0, 3).map((one) => one.outerHTML.slice(0, 80)));
  }
  if (page.clientWidth >= DESK) {
    for (const one of document.querySelectorAll(".table")) {
      if (one.scrollWidth > one.clientWidth) problems.push("a table is wider than its page: " + one.innerText.slice(0, 60));
    }
  }
  const headings = [...document.querySelectorAll("main :is(h1,h2,h3,h4,h5,h6)")].map((one) => +one.tagName[1]);
  if (document.querySelectorAll("h1").length !== 1) problems.push("not one h1");
  headings.forEach((level, at) => { if (level > (headings[at - 1] || 0) + 1) problems.push("a heading skips a level: " + headings); });
  for (const one of document.images) {
    if (!one.hasAttribute("alt")) problems.push("an image without words: " + one.src);
    if (!one.naturalWidth) problems.push("an image that is not there: " + one.src);
  }
  for (const tag of ["header", "main", "nav", "footer"]) if (!document.querySelector(tag)) problems.push("no " + tag);
  if (!page.lang || !document.title) problems.push("no language or title");
  for (const one of document.querySelectorAll("a[href], button, input, summary")) {
    if (!(one.textContent.trim() || one.getAttribute("aria-label"))) problems.push("without a name: " + one.outerHTML.slice(0, 80));
  }
  if (document.querySelectorAll('#menu [aria-current="page"]').length !== 1) problems.push("the menu does not mark this page");

  const numbers = (text) => text.match(/[\d.]+/g).map(Number);
  const light = (rgb) => {
    const [r, g, b] = rgb.slice(0, 3).map((c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (one) => {
    for (; one; one = one.parentElement) {
      const rgb = numbers(getComputedStyle(one).backgroundColor);
      if (rgb.length === 3 || rgb[3] === 1) return rgb;
    }
    return [255, 255, 255];
  };
  const seen = new Set();
  let looked = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const one = walker.currentNode.parentElement;
    if (seen.has(one) || !walker.currentNode.data.trim()) continue;
    seen.add(one);
    if (!one.checkVisibility({ checkVisibilityCSS: true }) || one.matches(".anchor, .code button")) continue;
    const a = light(numbers(getComputedStyle(one).color)), b = light(ground(one));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    looked += 1;
    if (ratio < LEAST) problems.push("contrast " + ratio.toFixed(2) + ": " + one.outerHTML.slice(0, 80));
  }
  if (looked < 20) problems.push("only " + looked + " texts were seen");
  return problems;
})()
""".replace("LEAST", str(LEAST_CONTRAST)).replace("DESK", str(DESK))


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if not BROWSER:
        pytest.skip("there is no browser: scripts/setup test brings one")
    with Browser(tmp_path_factory.mktemp("browser")) as one:
        yield one


def problems_of(events, site):
    """What went wrong while a page was loaded."""
    for event in events:
        method, params = event["method"], event["params"]
        if method == "Network.requestWillBeSent":
            url = params["request"]["url"]
            if url != "about:blank" and not url.startswith((site.as_uri() + "/", "data:")):
                yield f"asked for {url}"
        elif method == "Network.loadingFailed":
            yield f"could not load something: {params['errorText']}"
        elif method == "Runtime.exceptionThrown":
            yield str(params["exceptionDetails"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            yield str(params["args"])
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            yield params["entry"]["text"]


def addresses(site):
    return sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))


def test_every_page_in_a_browser(site, browser):
    found, pages = [], addresses(site)
    for address in pages:
        browser.look(DESK, "light")
        found += [f"{address}: {one}" for one in problems_of(browser.open((site / address).as_uri()), site)]
        for width in (PHONE, 768, DESK):
            for scheme in ("light", "dark"):
                browser.look(width, scheme)
                found += [f"{address}, {width}, {scheme}: {one}" for one in browser.run(LOOK)]
    report(f"{len(pages)} pages, each at 3 widths by day and by night, in {pathlib.Path(BROWSER).name}")
    assert not found, "\n".join(found[:40])


def test_the_look_sees_what_is_wrong(site, browser, tmp_path):
    """So the test above can fail."""
    text = (site / "index.html").read_text()
    broken = {
        "wider than the screen": text.replace("<article>", '<article><p style="width: 5000px">wide</p>'),
        "not one h1": text.replace("<article>", "<article><h1>second</h1>"),
        "skips a level": text.replace("<article>", "<article><h4>deep</h4>"),
        "without words": re.sub(r' alt="[^"]+"', "", text),
        "not there": text.replace("images/forage.svg", "images/gone.svg"),
        "contrast": text.replace("<article>", '<article><p style="color: #999">pale</p>'),
        "does not mark": text.replace(' aria-current="page"', ""),
    }
    copy = tmp_path / "site"
    shutil.copytree(site, copy)
    browser.look(PHONE, "light")
    for words, changed in broken.items():
        (copy / "index.html").write_text(changed)
        events = browser.open((copy / "index.html").as_uri())
        assert any(words in one for one in browser.run(LOOK)), words
        assert bool(list(problems_of(events, copy))) == (words == "not there")
    (copy / "index.html").write_text(text.replace("<article>", '<article><img alt="" src="https://example.org/a.png">'))
    assert list(problems_of(browser.open((copy / "index.html").as_uri()), copy))


def test_search_finds_a_setting_and_leads_to_it(site, browser):
    browser.look(DESK, "light")
    browser.open((site / "tools" / "search.html").as_uri())
    browser.run("document.querySelector('.search input').focus()")
    for letter in "FORAGE_WORKERS":
        browser.ask("Input.insertText", text=letter)
    target = browser.wait("document.querySelector('#found a')?.href")
    path, _, anchor = target.removeprefix(site.as_uri() + "/").partition("#")
    assert "FORAGE_WORKERS" in (site / path).read_text() and f'id="{anchor}"' in (site / path).read_text()
    browser.run("document.querySelector('.search input').value = 'zzzz no such thing'")
    browser.run("document.querySelector('.search input').dispatchEvent(new Event('input'))")
    assert browser.run("document.getElementById('found').textContent") == "Nothing found."


def test_keyboard_alone(site, browser):
    browser.look(DESK, "light")
    browser.open((site / "index.html").as_uri())
    browser.press("Tab")
    assert browser.run("document.activeElement.className") == "skip"
    assert browser.run("document.activeElement.getBoundingClientRect().top >= 0")
    browser.press("/")
    assert browser.run("document.activeElement.type") == "search"


def test_the_menu_of_a_phone(site, browser):
    browser.look(PHONE, "dark")
    address = (site / "start.html").as_uri()
    browser.open(address)
    browser.run("document.querySelector('header .menu').click()")
    browser.wait("getComputedStyle(document.getElementById('menu')).position === 'fixed'")
    browser.run("document.querySelector('#menu .close').click()")
    browser.wait("getComputedStyle(document.getElementById('menu')).position === 'static'")


def test_it_works_without_scripts(site, browser):
    browser.ask("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.look(DESK, "light")
        browser.ask("Page.navigate", url=(site / "start.html").as_uri())
        tree = browser.wait("document.readyState === 'complete' && document.querySelectorAll('#menu a').length")
        assert tree > 20
        assert browser.run("getComputedStyle(document.querySelector('.search')).display") == "none"
        assert browser.run("document.querySelectorAll('.code button').length") == 0
    finally:
        browser.ask("Emulation.setScriptExecutionDisabled", value=False)


# ---- the pages that are read in the repository ----


def test_links_of_the_repository_lead_somewhere():
    """Those of README.md and its neighbours; the generator looks after docs/."""
    looked = 0
    for page in ROOT.glob("*.md"):
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
            path, _, anchor = link.partition("#")
            if not re.match(r"https?://", link):
                target = ROOT / path if path else page
                assert target.exists(), f"{page.name}: {link} leads nowhere"
                headings = re.findall(r"^#+ (.+)$", target.read_text(), re.M) if anchor else []
                assert not anchor or anchor in [re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings], link
                looked += 1
    assert looked > 30
