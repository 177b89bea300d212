"""What a reader does with the views, by clicks and keys, and what the server has of it afterwards."""

import csv
import io
import json

import pytest
from filling import add_history, ask, filled_server
from pages import Page
from people import ALICE, BOB, OPERATOR, THREE
from programs import wait_until

KEPT = """
window.files = [];
const made = URL.createObjectURL;
URL.createObjectURL = (blob) => { blob.text().then((text) => window.files.push(text)); return made.call(URL, blob); };
"""


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """A server with tokens, on which alice and bob have searched."""
    with filled_server("tokens", tmp_path_factory.mktemp("tokens"), FORAGE_TOKENS=THREE) as server:
        rows = [(who, 1_800_000_000_000, "web_search", {"query": f"what {who} asked"}, None, 5, None) for who in ("alice", "bob")]
        add_history(server.folder / "data", rows)
        for token in (ALICE, BOB):
            ask(server, "POST", "/api/v1/memories", {"text": "A note."}, token)
        yield server


def sign_in(browser, server, token, address="overview"):
    browser.ask("Network.clearBrowserCookies")
    browser.look(1400, "light")
    one = Page(browser, server.port).open(address)
    one.fill("Token", token)
    one.press("Enter")
    one.wait("!!document.querySelector('nav.views')")
    one.settle()
    return one


# ---- the frame ----


def test_navigation_by_keys(page):
    one = page("typical")
    one.press("Tab")
    assert one.focused() == "Skip to the content"
    one.press("Enter")
    assert one.run("document.activeElement.id") == "main"
    one.run("document.querySelector('nav.views a').focus()")
    one.press("Tab", "Enter")
    one.wait("document.title === 'Searches · forage'")
    one.settle()
    assert one.focused() == "Searches", "the heading has the focus"
    assert one.run("document.querySelector('nav.views [aria-current]').textContent") == "Searches"
    one.run("history.back()")
    one.wait("document.title === 'Overview · forage'")
    one.settle()


def test_a_place_that_is_not_there(page):
    one = page("empty", "nowhere")
    assert "does not exist" in one.text()
    one.click("Go to the overview")
    one.wait("document.title === 'Overview · forage'")


def test_signing_in_and_out(browser, guarded):
    browser.ask("Network.clearBrowserCookies")
    one = Page(browser, guarded.port).open()
    one.expected = ("401",)
    assert "Sign in to forage" in one.text() and one.run("document.activeElement.type") == "password"
    assert not one.axe()
    one.fill("Token", "wrong")
    one.click("Sign in", "button")
    one.wait_text("knows no such token")
    one.fill("Token", ALICE)
    one.press("Enter")
    one.wait("!!document.querySelector('nav.views')")
    one.settle()
    assert "alice" in one.text(".who") and "operator" not in one.text(".who")
    assert one.run("document.querySelectorAll('nav.views a').length") < 7 and "Setup" not in one.text("nav.views")
    assert ALICE not in one.run("document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage }) + document.body.innerHTML")
    one.click("Sign out")
    one.wait_text("Sign in to forage")
    assert one.run("fetch('/api/v1/overview').then((r) => r.status)") == 401
    assert not one.problems(), one.problems()


def test_each_caller_sees_its_own_and_an_operator_all(browser, guarded):
    one = sign_in(browser, guarded, ALICE, "searches")
    assert "what alice asked" in one.text() and "bob" not in one.text()
    one = sign_in(browser, guarded, OPERATOR, "searches")
    assert "what alice asked" in one.text() and "what bob asked" in one.text()
    one.choose("Shows", "bob")
    one.wait("!document.body.innerText.includes('what alice asked')")
    assert "what bob asked" in one.text()
    one.click("Setup")
    one.click("Tokens")
    assert "olga" in one.text() and not any(token in one.run("document.documentElement.outerHTML") for token in (ALICE, BOB, OPERATOR))
    assert not one.problems(), one.problems()


def test_a_session_that_ends_asks_for_the_token_again(browser, guarded):
    one = sign_in(browser, guarded, ALICE)
    browser.ask("Network.clearBrowserCookies")
    one.expected = ("401",)
    one.click("Searches")
    one.wait_text("Your session is over")
    one.fill("Token", ALICE)
    one.press("Enter")
    one.wait("!!document.querySelector('nav.views')")
    one.click("Overview")
    one.wait("document.querySelector('.live').textContent === 'Live'")
    assert not one.problems(), one.problems()


# ---- overview ----


def number(page, title):
    return page.run(f"[...document.querySelectorAll('.tile')].find((one) => one.innerText.startsWith({json.dumps(title)})).querySelector('dd').innerText")


def test_the_overview_says_what_rest_says_and_moves(page, servers):
    server = servers("typical")
    one = page("typical")
    one.wait("document.querySelector('.live').textContent === 'Live'")
    for span, words in (("month", "Month"), ("day", "Day"), ("hour", "Hour")):
        one.click(words, ".choice button")
        one.wait(f"document.querySelector('.tile-note').textContent.endsWith({json.dumps({'month': '30 days', 'day': '24 hours', 'hour': 'hour'}[span])})")
        total = ask(server, "GET", f"/api/v1/overview?span={span}&caller=*")["total"]
        assert number(one, "Calls") == f"{total['calls']:,}" and number(one, "Errors") == f"{total['failures']:,}"
        assert number(one, "Cached") == f"{total['cached']:,}"
    assert "tavily" in one.text() and "failing" in one.text() and "Tavily failed" in one.text()
    assert "of $2.50 left" in one.text() or "of $20.00 left" in one.text()
    before = ask(server, "GET", "/api/v1/overview?caller=*")["total"]["calls"]
    ask(server, "POST", "/api/v1/tools/web_search", {"query": "one more"})
    one.wait(f"[...document.querySelectorAll('.tile-value')][0].innerText === {json.dumps(f'{before + 1:,}')}")


def test_numbers_under_the_pointer_and_the_keys(page):
    one = page("typical", "overview?span=month")
    one.run("document.querySelector('.area').scrollIntoView({ block: 'center' })")
    box = one.run("(() => { const box = document.querySelector('.area').getBoundingClientRect(); return [box.right - 5, box.y + 20]; })()")
    one.browser.ask("Input.dispatchMouseEvent", type="mouseMoved", x=box[0], y=box[1])
    one.wait("!document.querySelector('.tip').hidden")
    assert "answered" in one.text(".tip") and "failed" in one.text(".tip")
    one.run("document.querySelector('.area').focus()")
    last = one.run("document.querySelector('.area').getAttribute('aria-valuetext')")
    one.press("Home", "ArrowRight")
    assert one.run("document.querySelector('.area').getAttribute('aria-valuenow')") == "1"
    assert one.run("document.querySelector('.area').getAttribute('aria-valuetext')") != last
    one.click("Show as table", "summary")
    assert one.run("document.querySelectorAll('figure tbody tr').length") == 30
    one.click("Time", "figure .sort")
    one.click("failed", "figure .sort")
    values = one.run("[...document.querySelectorAll('figure tbody tr')].map((row) => Number(row.lastChild.textContent))")
    assert values == sorted(values, reverse=True) and one.run("document.querySelector('figure [aria-sort]').textContent") == "failed"


def test_single_calls_are_chosen_and_paged(page, servers):
    one = page("typical")
    rows = "[...document.querySelectorAll('section')].at(-1).querySelectorAll('tbody tr')"
    one.choose("Outcome", "failed")
    one.wait(f"[...{rows}].length === 25 && [...{rows}].every((row) => row.querySelector('.badge.bad'))")
    first = one.run(f"{rows}[0].innerText")
    one.click("Older")
    one.wait_text("page 2")
    assert one.run(f"{rows}[0].innerText") != first
    one.click("← Newer")
    one.wait_text("page 1")
    one.choose("Tool", "get_content")
    expected = len(ask(servers("typical"), "GET", "/api/v1/calls?limit=25&tool=get_content&outcome=failed&caller=*")["calls"])
    one.wait(f"[...{rows}].length === {expected} && [...{rows}].every((row) => row.innerText.includes('get_content'))")


def test_an_hour_of_news_leaves_no_trace(page, browser):
    """As many events as an hour brings, and the page is as small as before."""
    one = page("typical")
    news = (
        "(async () => { const { events } = await import('/dashboard/api.js'); const [overview, state] = [events.latest.get('overview'), events.latest.get('state')];"
        "for (let n = 0; n < COUNT; n++) { overview.total.calls += 1; events.tell('overview', overview); events.tell('state', state);"
        "if (n % 50 === 0) await new Promise((done) => setTimeout(done)); } })()"
    )

    def tell(count):
        one.run(news.replace("COUNT", str(count)))
        one.settle()

    def weigh():
        browser.ask("HeapProfiler.collectGarbage")
        return browser.ask("Memory.getDOMCounters")

    tell(20)
    before = weigh()
    tell(600)
    # What a view that is still being drawn holds goes with one of the next collections; what leaks never does.
    wait_until(lambda: all(weigh()[name] <= before[name] * 1.1 for name in ("nodes", "jsEventListeners")))


def test_a_hidden_page_watches_nothing(page, servers):
    """One stream for all views, and none while nobody looks."""
    one = page("empty")
    one.wait("document.querySelector('.live').textContent === 'Live'")
    one.run("Object.defineProperty(document, 'hidden', { value: true, configurable: true }); document.dispatchEvent(new Event('visibilitychange'))")
    one.wait("document.querySelector('.live').textContent === 'Paused'")
    one.run("Object.defineProperty(document, 'hidden', { value: false, configurable: true }); document.dispatchEvent(new Event('visibilitychange'))")
    one.wait("document.querySelector('.live').textContent === 'Live'")


def test_a_server_that_is_started_anew(browser, tmp_path):
    """The page finds back by itself, and has the new server's token for what it changes."""
    row = ("local", 1_800_000_000_000, "memory_search", {"query": "tea"}, None, 5, None)
    with filled_server("first", tmp_path / "first") as server:
        add_history(server.folder / "data", [row])
        port = server.port
        one = Page(browser, port).open("searches/1")
    one.expected = ("ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE", "403")
    one.click("Ask it again")
    one.wait_text("The server does not answer")
    with filled_server("second", tmp_path / "second", MCP_SERVER_PORT=port) as server:
        one.click("Ask it again")
        one.wait_text("just now")
        assert not one.problems(), one.problems()
        one.run("location.hash = '#/overview'")
        one.wait("document.querySelector('.live').textContent === 'Live'")


# ---- searches ----


def test_the_history_is_searched_opened_and_asked_again(page, servers):
    server = servers("typical")
    one = page("typical", "searches")
    one.fill("Words", "C23")
    one.wait("[...document.querySelectorAll('.question')].every((link) => link.textContent.includes('C23')) && document.querySelectorAll('.question').length")
    one.choose("Tool", "deep_search")
    found = ask(server, "GET", "/api/v1/history?text=C23&tool=deep_search")["calls"]
    assert one.run("document.querySelectorAll('.question').length") == len(found) > 0
    assert "text=C23" in one.run("location.hash") and "tool=deep_search" in one.run("location.hash")
    one.choose("Until", "2026-01-01")
    assert "Nothing fits" in one.text()
    one.open("searches?tool=deep_search")
    one.run("document.querySelector('.question').focus()")
    one.press("Enter")
    one.wait_text("What came of it")
    one.settle()
    assert "Evidence (3)" in one.text() and "Sources (2)" in one.text() and "Words of page 1 that say so." in one.text()
    assert one.run("[...document.querySelectorAll('.answer a')].every((link) => link.rel === 'noopener noreferrer' && /^https?:/.test(link.href))")
    one.open("searches?tool=web_search&text=of+today")
    one.click("a question of today", ".question")
    before = len(ask(server, "GET", "/api/v1/history?text=of+today")["calls"])
    one.click("Ask it again")
    one.wait_text("just now")
    assert "Title 0" in one.text()
    assert len(ask(server, "GET", "/api/v1/history?text=of+today")["calls"]) == before + 1


def test_the_history_is_exported(page, servers):
    one = page("typical", "searches?tool=search_web")
    one.run(KEPT)
    calls = ask(servers("typical"), "GET", "/api/v1/history?tool=search_web&limit=1000")["calls"]
    one.click("Export JSON")
    assert json.loads(one.wait("window.files[0]")) == calls
    one.click("Export CSV")
    rows = list(csv.DictReader(io.StringIO(one.wait("window.files[1]"))))
    assert [int(row["id"]) for row in rows] == [call["id"] for call in calls]
    assert rows[0]["question"] == calls[0]["arguments"]["query"] and json.loads(rows[0]["arguments"]) == calls[0]["arguments"]


def test_where_the_history_is_off_it_says_how_to_switch_it_on(page):
    assert "FORAGE_HISTORY=1" in page("empty", "searches").text()


# ---- experiments and setup ----


def test_an_experiment_has_numbers_and_a_verdict(page, servers):
    one = page("typical", "experiments")
    assert "Experiments" in one.text("nav.views")
    one.click("five-results", "a")
    one.wait_text("three is better")
    told = ask(servers("typical"), "GET", "/api/v1/experiments/five-results")
    assert told["why"] in one.text() and "60 of 60 sessions" in one.text()
    three = next(arm for arm in told["arms"] if arm["arm"] == "three")["metrics"]["latency"]
    assert f"{round(three['estimate'])} ms" in one.text() and f"{round(three['low'])} ms to {round(three['high'])} ms" in one.text()
    one.click("reformulation", "button")
    assert "%" in one.text(".intervals[aria-label^='Asked again']")


def test_without_experiments_there_is_no_page_of_them(page):
    """No link leads there, and its address does not open it."""
    one = page("empty", "experiments")
    assert "This page does not exist" in one.text() and "Experiments" not in one.text("nav.views")


def test_setup_shows_and_changes_nothing(page, servers):
    one = page("typical", "setup")
    assert "What is set up works." in one.text() and "SEARXNG_BASE_URL is set" in one.text()
    one.click("Look again")
    one.run("document.querySelector('[role=tab]').focus()")
    one.press("ArrowRight")
    assert one.run("document.querySelector('[role=tab][aria-selected=true]').textContent") == "Clients"
    setup = ask(servers("typical"), "GET", "/api/v1/setup")
    one.choose("Client", "cursor")
    cursor = next(client for client in setup["clients"] if client["id"] == "cursor")
    assert json.loads(one.run("document.querySelector('.part pre').textContent")) == json.loads(cursor["http"].replace("127.0.0.1/", f"127.0.0.1:{servers('typical').port}/"))
    one.click("Copy")
    one.wait_text("Copied")
    one.press("Tab")
    one.click("Settings")
    one.choose("Show", "all")
    one.fill("Name", "TAVILY_API_KEY")
    one.wait("document.querySelectorAll('[role=tabpanel]:not([hidden]) tbody tr').length === 1")
    assert "set, not shown" in one.text()
    assert not one.run("[...document.querySelectorAll('button')].some((one) => /save|change|delete/i.test(one.textContent))")
