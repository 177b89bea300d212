"""Every view at three widths, by day and by night, with nothing, something and very much to show."""

import pathlib

import pytest
from conftest import PICTURES, report
from devtools import BROWSER
from filling import WORLDS, ask

WIDTHS = (360, 800, 1400)
SCHEMES = ("light", "dark")
# Of these there is a picture, and axe's word: each width and each scheme.
LOOKED_AT = ((360, "dark"), (800, "dark"), (1400, "light"))

# Where to look: the name of the picture, and the address. A view that is added is a line here.
VIEWS = {
    "overview": "overview",
    "overview-month": "overview?span=month",
    "searches": "searches",
    "search": "searches/{report}",
    "experiments": "experiments",
    "experiment": "experiments/{first}",
    "setup": "setup",
    "clients": "setup?tab=clients",
    "settings": "setup?tab=settings",
    "tokens": "setup?tab=tokens",
    "memories": "memories",
    "memory": "memories?key={memory}",
    "memory-search": "memories?q=how%20hot%20does%20the%20oven%20run",
    "research": "research",
    "report": "research/00000000000000000000000000000001",
    "try": "try/get_content",
}
# Those that not every world has something for, or something else.
SAME = {"overview-month": ("typical",), "setup": ("typical",), "clients": ("typical",), "tokens": ("empty",), "settings": ("typical",)}
FULL = {name: ("typical", "huge") for name in ("memory", "memory-search", "report", "experiments", "experiment")}
ONLY = {**FULL, "try": ("typical",), "search": ("typical", "huge"), **SAME}


CASES = [(world, name) for name in VIEWS for world in ONLY.get(name, WORLDS)]


def address_of(name, server):
    """The address, with what only the server knows."""
    report = "{report}" in VIEWS[name] and ask(server, "GET", "/api/v1/history?limit=1&tool=deep_search")["calls"][0]["id"]
    first = "{first}" in VIEWS[name] and ask(server, "GET", "/api/v1/experiments")["experiments"][0]["name"]
    memory = "oven" if server.name == "typical" else "k" * 1000
    return VIEWS[name].replace("{report}", str(report)).replace("{first}", str(first)).replace("{memory}", memory)


@pytest.mark.parametrize("world, name", CASES)
def test_a_view(page, browser, servers, world, name):
    one = page(world, address_of(name, servers(world)))
    PICTURES.mkdir(parents=True, exist_ok=True)
    found = []
    for width in WIDTHS:
        for scheme in SCHEMES:
            browser.look(width, scheme)
            one.settle()
            found += [f"{width} {scheme}: {wide}" for wide in one.too_wide()]
            if (width, scheme) in LOOKED_AT:
                browser.picture(PICTURES / f"{name}-{world}-{width}-{scheme}.png")
                found += [f"{width} {scheme}: {problem}" for problem in one.axe()]
    assert not found, "\n".join(found)


def test_the_looks_see_what_is_wrong(page):
    """So the test above can fail."""
    one = page("empty")
    assert not one.too_wide() and not one.axe()
    one.run("document.querySelector('main').append(Object.assign(document.createElement('p'), { textContent: 'w'.repeat(500), style: 'white-space: nowrap; overflow-wrap: normal' }))")
    assert one.too_wide()
    one.run("document.querySelector('main').append(Object.assign(document.createElement('img'), { src: '/dashboard/icon.svg' }))")
    assert any(problem.startswith("image-alt") for problem in one.axe())
    one.run("console.error('seen')")
    assert any("seen" in problem for problem in one.problems())
    one.found.clear()
    report(f"views at {len(WIDTHS)} widths by day and by night, in {pathlib.Path(BROWSER).name}")
