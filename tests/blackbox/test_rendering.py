"""Pages that scripts fill: the text is complete, or the result says what was not waited for."""

import shutil

import pytest
from messages import tool_call
from programs import PATIENCE, Stdio
from scripted_pages import PAGES, Site, sentence

BROWSER = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "google-chrome"))), None)

pytestmark = pytest.mark.skipif(not BROWSER, reason="there is no browser: scripts/setup test brings one")


AT_ONCE = 3


def ask(client, site, name):
    page, id = PAGES[name], client.new_id()
    limits = {"max_chars": page.max_chars} if page.max_chars else {}
    client.send(tool_call("get_content", {"url": site.url(name), "content": "all", **limits}, id))
    return id


@pytest.fixture(scope="module")
def results():
    """What get_content says of each page; some are read at once, since most of the time is waiting."""
    site, asked, answers = Site(), {}, {}
    settings = {"FORAGE_ALLOW_PRIVATE_HOSTS": site.host, "FORAGE_CACHE_TTL": 0, "FORAGE_BROWSER_PAGES": AT_ONCE}
    with Stdio(**settings) as client:
        client.handshake()
        for name in [*PAGES, *[None] * AT_ONCE]:
            if len(asked) == AT_ONCE or (asked and not name):
                first = next(iter(asked))
                answers[first] = client.answer(asked.pop(first), 2 * PATIENCE)["result"]["structuredContent"]
            if name:
                asked[name] = ask(client, site, name)
        yield answers
    site.close()


@pytest.mark.parametrize("name", PAGES)
def test_page(results, name):
    page, result = PAGES[name], results[name]
    notes = " ".join(result.get("notes", []))
    assert result.get("rendered") is True and "next to nothing" in notes, result
    if page.ends or page.count <= 5:
        missing = [n for n in range(page.count) if sentence(name, n) not in result["page_content"]]
        assert not missing, (missing, result)
    said = any(words in notes for words in ("not answered in time", "still changing", "goes on"))
    assert said is not page.ends, notes


def test_order_of_a_virtual_list(results):
    for name in ("virtual-list", "virtual-list-of-the-same-rows"):
        text = results[name]["page_content"]
        places = [text.index(sentence(name, n)) for n in range(PAGES[name].count)]
        assert places == sorted(places)


def test_slots_are_in_their_places(results):
    text = results["shadow-roots"]["page_content"]
    words = [sentence("shadow-roots", 0), "the slot has this", sentence("shadow-roots", 1)]
    assert sorted(words, key=text.index) == words
