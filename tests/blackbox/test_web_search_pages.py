"""The pages of web_search: whatever a page does, its result has a text; one slow page holds up nobody; the size of the
result is shared; and a hundred searches at once fit into memory."""

import concurrent.futures
import json
import random
import re
import threading
import time

import pytest
from broken_web import BROKEN, FINE, LOOPBACK, MAY_BE_READ, STUCK, BrokenWeb, words
from conftest import report
from fake_web import Answer
from fakes.search_service import Hit
from http_client import exchange, request
from messages import tool_call
from programs import PATIENCE, SANITIZED, Server, Stdio, run
from reading import WORDS, page
from searching import FAILED, call, checked, search, shared_world, world  # noqa: F401

PAGES = 200 if SANITIZED else 500
SEARCHES = 4 if SANITIZED else 13  # at once
AT_ONCE = 20  # pages of a search
SECONDS = 24 if SANITIZED else 8  # of a search in which pages are stuck; less than a client waits


@pytest.fixture(scope="module")
def broken():
    with BrokenWeb() as web:
        yield web


@pytest.fixture(scope="module")
def no_browser():
    return {"FORAGE_ALLOW_PRIVATE_HOSTS": LOOPBACK, "KINDLY_BROWSER_EXECUTABLE_PATH": "/proc/nonexistent/browser"}


# ---- every way to fail ----


def five_hundred_pages(broken):
    """Every way at least once, in an order that is the same every time."""
    chance = random.Random(4)
    ways = [*FINE, *STUCK, *BROKEN]
    chosen = ways + chance.choices([*FINE * 5, *BROKEN, *STUCK * 2], k=PAGES - len(ways))
    chance.shuffle(chosen)
    pages = []
    for number, way in enumerate(chosen):
        if number % 10 == 9:
            pages.append((broken.unreachable(number), "unreachable"))
        else:
            pages.append((broken.add(way, number), way.__name__))
    return pages


def test_five_hundred_pages_that_fail_in_every_way(world, broken, no_browser):
    """page_content is always a string; a page that answers is read, whatever its neighbours do."""
    pages = five_hundred_pages(broken)
    groups = [pages[at : at + AT_ONCE] for at in range(0, PAGES, AT_ONCE)]
    world["serper"].found = {f"group {n}": [Hit("x", url, "y") for url, _ in group] for n, group in enumerate(groups)}
    settings = {**no_browser, "KINDLY_TOOL_TOTAL_TIMEOUT_SECONDS": SECONDS}
    with world.server("serper", **settings) as forage:
        with concurrent.futures.ThreadPoolExecutor(SEARCHES) as pool:
            results = list(pool.map(lambda n: search(forage, f"group {n}", num_results=AT_ONCE), range(len(groups))))
        assert forage.alive()
    kinds = {way.__name__: "fine" for way in FINE}
    failed = 0
    for group, result in zip(groups, results, strict=True):
        assert [item["link"] for item in result["results"]] == [url for url, _ in group]
        for (url, name), item in zip(group, result["results"], strict=True):
            assert isinstance(item["page_content"], str) and item["page_content"]
            failed += item.get("failed", False)
            if kinds.get(name) == "fine":
                # The share of the result is that of a page that is read.
                assert words("/" + url.rpartition("/")[2])[:40] in item["page_content"], (name, item)
            elif name not in MAY_BE_READ:
                assert item.get("failed") is True, (name, item)
                assert item["page_content"].startswith("_") and url in item["page_content"], (name, item)
    report(f"web_search, {PAGES} pages that fail in every way: {PAGES - failed} read, {failed} notes, no page without a text")


def test_notes_are_the_same_every_time(world, broken, no_browser):
    """The same failure, the same words."""
    ways = [way for way in BROKEN if way.__name__ not in MAY_BE_READ]
    hits = [Hit("x", broken.add(way, 1000 + number), "y") for number, way in enumerate(ways)]
    world["serper"].found = {f"part {n}": hits[n * 20 : n * 20 + 20] for n in range(len(hits) // 20 + 1)}
    with world.server("serper", **no_browser) as forage:
        rounds = []
        for _ in range(2):
            found = [search(forage, f"part {n}", num_results=20)["results"] for n in range(len(hits) // 20 + 1)]
            rounds.append([item["page_content"] for items in found for item in items])
    assert rounds[0] == rounds[1] and len(rounds[0]) == len(hits)


# ---- time ----


def ten_results(world, broken, ways, start):
    """Ten hits, whose pages answer so."""
    world["serper"].hits = [Hit(f"Title {n}", broken.add(way, start + n), "x") for n, way in enumerate(ways)]


def fine_page(_handler):
    return Answer(page(WORDS, WORDS))


def never(handler):
    STUCK[0](handler)


TOGETHER = 5


class Gate:
    """Lets pages answer once so many of them have been asked for: never, where they are read one after the other."""

    def __init__(self):
        self.lock = threading.Lock()
        self.shut()

    def shut(self):
        self.left, self.open = TOGETHER, threading.Event()

    def enter(self):
        with self.lock:
            self.left -= 1
            if self.left == 0:
                self.open.set()
        self.open.wait(PATIENCE)


def delayed(seconds, gate=None):
    def answer(_handler):
        if gate:
            gate.enter()
        time.sleep(seconds)
        return Answer(page(WORDS, WORDS))

    answer.__name__ = "delayed"
    return answer


@pytest.mark.parametrize("door", ["http", "stdio"])
def test_two_pages_that_never_answer(world, broken, no_browser, door):
    """The call returns at its deadline, with eight pages and two notes. The bar, 25 ms, is measured in bench/search."""
    ten_results(world, broken, [fine_page] * 3 + [never] + [fine_page] * 3 + [never] + [fine_page] * 2, 2000)
    settings = world.settings("serper", **no_browser, KINDLY_TOOL_TOTAL_TIMEOUT_SECONDS=SECONDS)
    if door == "http":
        with Server(**settings) as forage:
            started = time.monotonic()
            result = search(forage, num_results=10)
            took = time.monotonic() - started
    else:
        with Stdio(**settings) as client:
            client.handshake()
            started = time.monotonic()
            arguments = {"query": "things", "num_results": 10}
            answer = client.ask("tools/call", {"name": "web_search", "arguments": arguments})
            took = time.monotonic() - started
            result = checked(answer["result"]["structuredContent"])
    notes = [n for n, item in enumerate(result["results"]) if item.get("failed")]
    assert notes == [3, 7] and len(result["results"]) == 10
    for n in notes:
        assert result["results"][n]["page_content"].startswith(FAILED + "Timeout")
    assert took >= SECONDS - 0.2, took
    report(f"web_search over {door}, 2 of 10 pages never answer, deadline {SECONDS} s: {took * 1000:.1f} ms")


def test_as_slow_as_the_slowest_page(world, broken, no_browser):
    """Pages are read side by side: the whole takes as long as the slowest, not as long as all of them."""
    gate = Gate()
    ten_results(world, broken, [delayed(0.1 * n, gate) for n in range(1, 11)], 3000)
    with world.server("serper", **no_browser) as forage:
        search(forage, num_results=10)  # warm: libraries are loaded once
        gate.shut()
        started = time.monotonic()
        result = search(forage, num_results=10)
        took = time.monotonic() - started
    assert not any(item.get("failed") for item in result["results"])
    assert took >= 1.0, took
    report(f"web_search, 10 pages, the slowest 1 s: {took * 1000:.1f} ms")


def test_a_provider_that_uses_the_time_leaves_none_to_pages(world, broken, no_browser):
    """The deadline is that of the call, search and pages together."""
    world["serper"].mishap = "timeout"
    with world.server("serper", **no_browser, KINDLY_TOOL_TOTAL_TIMEOUT_SECONDS=2) as forage:
        response = call(forage, {"query": "things"})
    assert response.status == 504 and response.json()["error"]["code"] == "TIMEOUT"


# ---- size ----


def test_the_size_of_a_result_is_shared_fairly(world):
    """Short pages are whole; what they leave is for the long ones, which say how to read on."""
    hits = world.find(4)
    long_text = "".join(f"<p>Paragraph {n} of a long page. {WORDS * 3}</p>" for n in range(200))
    for path in ("/page-1", "/page-3"):
        world.web.answers[path] = Answer(f"<html><body><main><h1>Long</h1>{long_text}</main></body></html>")
    with world.server("serper", FORAGE_MAX_RESULT_CHARS=20000) as forage:
        response = call(forage, {"query": "things", "num_results": 4})
        items = checked(response.json())["results"]
        assert len(response.body.decode()) <= 20000
        assert not items[0].get("truncated") and not items[2].get("truncated")
        sizes = [len(items[n]["page_content"]) for n in (1, 3)]
        assert min(sizes) > 7000 and max(sizes) < min(sizes) * 1.1
        for n in (1, 3):
            cut = items[n]
            assert cut["truncated"] is True and f"start={cut['next_start']}" in cut["page_content"]
            assert hits[n].link in cut["page_content"]
        # Reading on begins where this ends.
        more = {"url": hits[1].link, "start": items[1]["next_start"], "max_chars": 2000}
        rest = exchange(forage.port, request("POST", "/api/v1/tools/get_content", None, more)).json()["page_content"]
        whole = items[1]["page_content"].rpartition("\n_[")[0]
        last = [int(n) for n in re.findall(r"Paragraph (\d+) of", whole)][-1]
        first = [int(n) for n in re.findall(r"Paragraph (\d+) of", rest)][0]
        assert first in (last, last + 1)


def test_the_smallest_result_still_has_all_pages(world):
    world.find(20)
    with world.server("serper", FORAGE_MAX_RESULT_CHARS=4000) as forage:
        response = call(forage, {"query": "things", "num_results": 20})
    result = checked(response.json())
    assert len(response.body.decode()) <= 4000 or len(result["results"]) == 20


# ---- many at once ----


def memory_mb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return int(re.search(r"^VmHWM:\s*(\d+) kB", file.read(), re.M)[1]) * 1024 / 1e6


def test_a_hundred_searches_at_once(world, broken, no_browser):
    """Ten pages of 130 kB for each of a hundred calls over HTTP: every page of each is there, in less than 400 MB."""
    calls = 10 if SANITIZED else 100
    body = page(*[WORDS * 8 for _ in range(205)]).encode()
    assert 125_000 < len(body) < 140_000

    def large_page(_handler):
        return Answer(body)

    ten_results(world, broken, [large_page] * 10, 4000)
    with world.server("serper", **no_browser, FORAGE_WORKERS=256) as forage:
        with concurrent.futures.ThreadPoolExecutor(calls) as pool:
            started = time.monotonic()
            results = list(pool.map(lambda _: search(forage, num_results=10), range(calls)))
            took = time.monotonic() - started
        memory = memory_mb(forage.pid)
    for result in results:
        assert len(result["results"]) == 10
        for item in result["results"]:
            assert not item.get("failed") and WORDS.strip() in item["page_content"]
    report(f"web_search, {calls} calls at once with ten pages of 130 kB each: {took:.1f} s, {memory:.0f} MB at most")
    assert SANITIZED or memory < 400


# ---- caches ----


def test_a_page_that_was_read_is_kept_for_get_content(world, tmp_path):
    """What a search has read is not asked for again."""
    hits = world.find(1)
    settings = world.settings("serper", FORAGE_CACHE_TTL="1h", FORAGE_CACHE_DIR=tmp_path / "cache")
    first = json.loads(run("call", "web_search", "query=things", **settings).stdout)
    checked(first)
    again = json.loads(run("call", "get_content", f"url={hits[0].link}", **settings).stdout)
    assert again["page_content"] == first["results"][0]["page_content"]
    assert len(world.web.seen("/page-0")) == 1


def test_progress_counts_the_pages(world, broken, no_browser):
    ten_results(world, broken, [delayed(0.15 * n) for n in range(1, 11)], 5000)
    with Stdio(**world.settings("serper", **no_browser)) as client:
        client.handshake()
        client.send(tool_call("web_search", {"query": "things", "num_results": 10}, id=7, token="t"))
        client.answer(7)
        said = [m["params"] for m in client.messages() if m.get("method") == "notifications/progress"]
    numbers = [params["progress"] for params in said]
    assert numbers == sorted(numbers) and len(said) >= 2
