"""Trying tools in the dashboard: a form for each, progress, answers, cancelling, and the same call for a shell and a client."""

import json
import shlex
import subprocess

import pytest
from filling import ask, filled_server
from http_client import exchange, request
from jobs import Hangs, Scene, get
from pages import Page
from programs import FORAGE, PATIENCE, Server, environment
from remembering import bring
from test_hostile import PAYLOADS

HARD = "it's \"quoted\", $HOME `id` \\ and über\nanother line"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with filled_server("trying", tmp_path_factory.mktemp("trying")) as one:
        yield one


@pytest.fixture
def view(browser, server):
    browser.look(1400, "light")
    one = Page(browser, server.port)
    yield one.open
    assert not one.problems(), one.problems()[:5]


def shown(page, title):
    """What the tab of that title shows."""
    tab = page.find(title, "[role=tab]")
    page.click(title, "[role=tab]")
    return page.run(f"document.getElementById({tab}.getAttribute('aria-controls')).querySelector('pre').textContent")


def test_every_tool_has_a_form(view, server):
    tools = ask(server, "GET", "/api/v1/tools")["tools"]
    one = view("try")
    for tool in tools:
        one.run(f"[...document.querySelectorAll('.try-tool')].find((one) => one.firstChild.textContent === {json.dumps(tool['name'])}).click()")
        names = one.run("[...document.querySelectorAll('[data-name]')].map((one) => one.dataset.name)")
        assert sorted(names) == sorted(tool["inputSchema"].get("properties", {})), tool["name"]
        needed = one.run("[...document.querySelectorAll('[data-name]')].filter((one) => one.required).map((one) => one.dataset.name)")
        assert sorted(needed) == sorted(tool["inputSchema"].get("required", [])), tool["name"]


def test_running_one_and_its_answer(view, server):
    one = view("try/memory_add")
    one.expected = ("400",)
    one.click("Run")
    assert "No answer yet" in one.text(), "what is needed is missing"
    one.fill("text", "Tried by hand.")
    one.fill("tags", "one\ntwo")
    one.browser.ask("Input.dispatchKeyEvent", type="keyDown", key="Enter", code="Enter", windowsVirtualKeyCode=13, modifiers=2)
    if one.run("!!document.querySelector('dialog[open]')"):
        one.click("Run")
    one.wait_text("added")
    body = json.loads(shown(one, "JSON"))
    stored = ask(server, "POST", "/api/v1/tools/memory_get", {"key": body["data"]["key"]})["data"]["results"][0]
    assert stored["text"] == "Tried by hand." and stored["tags"] == ["one", "two"]


def test_a_failure_is_shown(view):
    one = view("try/memory_get")
    one.fill("key", "there-is-none")
    one.click("Run")
    one.wait_text("there is no memory of this key")
    assert "NOT_FOUND" in one.text() and one.run("document.querySelector('.badge.bad').textContent") == "404"


def test_the_same_call_elsewhere(view, server):
    """Each form is used for what it says, with words that a shell would trip over; all give the same."""
    bring(server, [{"key": "hard", "text": HARD}])
    one = view("try/memory_search")
    one.run(f"(() => {{ const area = document.querySelector('[data-name=query]'); area.value = {json.dumps(HARD)}; area.dispatchEvent(new Event('input')); }})()")
    one.run("document.querySelector('.try-form details').open = true")
    one.choose("limit", "3")
    one.choose("explain", "true")
    expected = ask(server, "POST", "/api/v1/tools/memory_search", {"query": HARD, "limit": 3, "explain": True})
    curl = shown(one, "curl")
    assert json.loads(subprocess.run(["bash", "-c", curl], capture_output=True, text=True, timeout=PATIENCE, check=True).stdout) == expected
    call = json.loads(shown(one, "MCP call"))
    answer = exchange(server.port, request("POST", "/mcp", {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}, call))
    assert answer.json()["result"]["structuredContent"] == expected
    words = shown(one, "Command line")
    assert words.startswith("forage call memory_search ") and shlex.split(words)[3] == f"query={HARD}"
    # As the shell reads it, with the program under test in place of the installed one.
    script = words.replace("forage", shlex.quote(FORAGE), 1)
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=PATIENCE, env=environment({"FORAGE_DATA_DIR": server.folder / "data"}), check=True)
    assert json.loads(done.stdout) == expected


def test_progress_and_cancelling(browser, tmp_path):
    with Scene() as scene:
        player = Hangs(scene.world.questions, 2)
        scene.play(player)
        with Server(**scene.settings(FORAGE_DATA_DIR=tmp_path)) as server:
            browser.look(1400, "light")
            one = Page(browser, server.port).open("try/deep_search")
            one.fill("topic", scene.question())
            one.click("Run")
            one.wait("document.querySelectorAll('.try-progress li').length > 0")
            assert player.reached.wait(PATIENCE)
            one.click("Cancel")
            one.wait_text("Cancelled.")
            one.wait(f"fetch('/api/v1/jobs').then((one) => one.json()).then((all) => all.jobs[0].status === {json.dumps('cancelled')})")
            assert get(server.port, "/api/v1/jobs").json()["jobs"][0]["status"] == "cancelled"
            player.released.set()
            assert not one.problems(), one.problems()


def test_hostile_answers(browser, tmp_path):
    with filled_server("hostile-answers", tmp_path) as server:
        texts = [text for text in PAYLOADS if "\0" not in text]
        bring(server, [{"key": f"k{number}", "text": text, "summary": text[:1000], "tags": [text[:60]]} for number, text in enumerate(texts)])
        browser.look(360, "light")
        one = Page(browser, server.port).open("try/memory_get?" + "arguments=" + "%7B%22keys%22%3A" + json.dumps([f"k{n}" for n in range(len(texts))]).replace(" ", "").replace('"', "%22") + "%7D")
        one.click("Run")
        one.wait("!!document.querySelector('.answer-list')")
        assert not one.too_wide(), one.too_wide()
        assert one.run("document.querySelectorAll('main script, main iframe, main img').length") == 0
        assert one.run("[...document.querySelectorAll('main a')].every((one) => /^(https?:|#)/.test(one.getAttribute('href')))")
        assert not one.problems(), one.problems()
