"""The page of memories inside a client: a host written from the specification, with the strictest frame that it allows, and the
protocol's own client and bridge as a judge from outside."""

import contextlib
import functools
import http.server
import json
import os
import pathlib
import threading

import pytest
from conftest import PICTURES
from devtools import Browser
from filling import filled_server
from pages import Page
from programs import ROOT, wait_until
from remembering import bring, memories
from test_hostile import PAYLOADS
from test_memories import call, read

HOST = pathlib.Path(__file__).parent / "host"
MODULES = pathlib.Path(os.environ.get("FORAGE_NODE_MODULES", ROOT / ".deps" / "node" / "node_modules"))
# The one that the judge was made with; others of the tests' packages may need an older one.
CORE = next((path for path in ("@modelcontextprotocol/client/node_modules/@modelcontextprotocol/core", "@modelcontextprotocol/core") if (MODULES / path).exists()), "")
# Where the packages of the judge have what a browser takes.
IMPORTS = {
    "@modelcontextprotocol/ext-apps/app-bridge": "@modelcontextprotocol/ext-apps/dist/src/app-bridge.js",
    "@modelcontextprotocol/client": "@modelcontextprotocol/client/dist/index.mjs",
    "@modelcontextprotocol/client/_shims": "@modelcontextprotocol/client/dist/shimsBrowser.mjs",
    "@modelcontextprotocol/core": f"{CORE}/dist/index.mjs",
    "@modelcontextprotocol/core/internal": f"{CORE}/dist/internal.mjs",
    "zod": "zod/index.js",
    "zod/v4": "zod/v4/index.js",
    "eventsource": "eventsource/dist/index.js",
    "jose": "jose/dist/webapi/index.js",
    "pkce-challenge": "pkce-challenge/dist/index.browser.js",
    "eventsource-parser": "eventsource-parser/dist/index.js",
    "eventsource-parser/stream": "eventsource-parser/dist/stream.js",
}


class Hosts(http.server.BaseHTTPRequestHandler):
    """The pages of hosts: /own and /sdk, with their scripts and the packages of the second."""

    def __init__(self, settings, *arguments):
        self.settings = settings
        super().__init__(*arguments)

    def do_GET(self):
        name = self.path.strip("/")
        if name in ("own", "sdk"):
            imports = json.dumps({"imports": {key: f"/modules/{path}" for key, path in IMPORTS.items()}})
            body = (
                f'<!doctype html><html lang="en"><title>Host</title><style>body {{ margin: 0 }} iframe {{ border: 0; width: 100vw; height: 300px; display: block }}</style>'
                f'<iframe title="Memories"></iframe><script type="importmap">{imports}</script>'
                f'<script type="application/json" id="settings">{json.dumps(self.settings)}</script><script type="module" src="/{name}.js"></script>'
            ).encode()
            return self.answer("text/html; charset=utf-8", body)
        path = MODULES / name.removeprefix("modules/") if name.startswith("modules/") else HOST / name
        if not path.is_file():
            return self.send_error(404)
        return self.answer("text/javascript; charset=utf-8", path.read_bytes())

    def answer(self, kind, body):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Framed(Browser):
    """A browser whose page is looked at through the frame that it shows."""

    frame = None

    def run(self, expression):
        if self.frame is None:
            return super().run(expression)
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, contextId=self.frame)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def click(self, x, y):
        left, top = self.outside("(() => { const box = document.querySelector('iframe').getBoundingClientRect(); return [box.x, box.y]; })()")
        super().click(x + left, y + top)

    def outside(self, expression):
        return super().run(expression)

    def enter(self):
        """From now on what runs, runs in the frame."""
        inner = {frame["frame"]["id"] for frame in self.ask("Page.getFrameTree")["frameTree"]["childFrames"]}
        made = [event["params"]["context"] for event in self.events if event["method"] == "Runtime.executionContextCreated"]
        self.frame = [one["id"] for one in made if one["auxData"]["frameId"] in inner][-1]


class Inside(Page):
    """The page of memories within a host."""

    def __init__(self, browser, origin):
        super().__init__(browser, 0)
        self.origin = origin

    def open(self, name):
        self.browser.frame = None
        self.browser.ask("Page.navigate", url=f"{self.origin}/{name}")
        self.browser.wait("window.ready || window.broken || false")
        assert not self.browser.run("window.broken"), self.browser.run("window.broken")
        self.browser.enter()
        self.settle()
        return self

    def host(self, expression):
        return self.browser.outside(expression)


@pytest.fixture(scope="module")
def framed(tmp_path_factory):
    # Else the frame has a process of its own, which one session cannot look into.
    with Framed(tmp_path_factory.mktemp("framed"), "--disable-features=IsolateSandboxedIframes") as one:
        yield one


@pytest.fixture
def inside(framed, tmp_path):
    """A function that opens the page in a host, with a server behind it."""
    with contextlib.ExitStack() as stack:

        def opener(name="own", lines=None, width=900, **settings):
            hosts = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Hosts, settings := {"arguments": {}, "era": "legacy", "theme": "light", **settings}))
            stack.callback(hosts.server_close)
            stack.callback(hosts.shutdown)
            threading.Thread(target=hosts.serve_forever, daemon=True).start()
            origin = f"http://127.0.0.1:{hosts.server_port}"
            server = stack.enter_context(filled_server("inside", tmp_path / name, FORAGE_ALLOWED_ORIGINS=origin))
            settings["server"] = f"http://127.0.0.1:{server.port}"
            bring(server, lines or memories(60, 20))
            framed.frame = None
            framed.look(width, "light")
            page = Inside(framed, origin)
            page.server = server
            page.open(name)
            return page

        (tmp_path / "own").mkdir()
        (tmp_path / "sdk").mkdir()
        yield opener
        framed.frame = None


def test_the_order_of_things(inside):
    one = inside()
    said = one.host("window.said")
    assert said["methods"][0] == "ui/initialize" or said["methods"][0] == "ui/notifications/size-changed"
    assert said["methods"].index("ui/initialize") < said["methods"].index("ui/notifications/initialized")
    one.wait_text("60 memories, newest first")
    wait_until(lambda: {call["name"] for call in one.host("window.said")["calls"]} == {"memory_list", "memory_stats", "memory_overview"})
    # The client gives the room that the page asks for, which then stands still.
    def stands_still():
        height = one.wait("document.documentElement.scrollHeight <= window.innerHeight + 1 && window.innerHeight > 400 && window.innerHeight")
        one.run("new Promise((done) => setTimeout(done, 200))")
        return one.run("window.innerHeight") == height

    wait_until(stands_still)
    # A name that no script of the page has is of the frame: nothing is shared with the host.
    assert one.run("(() => { try { return String(parent.document) } catch (error) { return error.name } })()") == "SecurityError"
    PICTURES.mkdir(parents=True, exist_ok=True)
    one.browser.picture(PICTURES / "app-900-light.png")


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_changing_memories_from_inside(inside, era):
    one = inside(era=era)
    one.wait("document.querySelectorAll('.memory-row').length > 3")
    assert "Import" not in one.text() and "Export" not in one.text()
    one.run("[...document.querySelectorAll('.memory-row')].find((one) => one.dataset.key === 'oven').click()")
    one.click("Edit")
    one.fill("Text", "The oven runs 30 degrees hot.")
    one.click("Save")
    one.wait_text("Saved.")
    assert read(one.server, "oven")["text"] == "The oven runs 30 degrees hot."
    one.click("Rename")
    one.fill("Key", "stove")
    one.press("Enter")
    one.wait_text("Renamed to stove.")
    one.click("Delete")
    one.click("Delete")
    one.wait_text("Deleted.")
    assert call(one.server, "memory_get", keys=["stove", "oven"])["missing"] == ["stove", "oven"]
    one.fill("Search", "how much water does rye want")
    one.wait("document.querySelectorAll('.hit').length > 0")
    one.click("Add")
    one.fill("Text", "Added from inside.")
    one.click("Add")
    one.wait_text("Added.")
    assert call(one.server, "memory_fulltext_search", keywords="inside")["pagination"]["total"] == 1


def test_it_begins_with_what_the_tool_was_asked(inside):
    one = inside(arguments={"tags": ["kitchen"], "limit": 5})
    expected = call(one.server, "memory_list", tags="kitchen")["pagination"]["total"]
    one.wait_text(f"{expected} memories, newest first")


def test_what_the_client_refuses_is_said(inside):
    one = inside()
    one.wait("document.querySelectorAll('.memory-row').length > 3")
    one.host("window.fetch = () => Promise.reject(new Error('the user said no'))")
    one.fill("Search", "oven")
    one.wait_text("the user said no")


def test_the_theme_of_the_client_counts(inside):
    one = inside(theme="dark", variables={"--color-text-secondary": "rgb(170, 180, 190)"})
    dark = "getComputedStyle(document.body).backgroundColor"
    assert one.run(dark) == "rgb(17, 21, 18)", "by night, though the machine says day"
    assert one.run("getComputedStyle(document.documentElement).getPropertyValue('--soft')") == "rgb(170, 180, 190)"
    one.wait("document.querySelectorAll('.memory-row').length > 3")
    one.browser.picture(PICTURES / "app-900-dark.png")
    one.host("window.tell('ui/notifications/host-context-changed', { theme: 'light' })")
    one.wait(f"{dark} === 'rgb(246, 247, 244)'")
    one.host("window.tearDown()")
    wait_until(lambda: one.host("window.said.methods.at(-1)") == "answer")


@pytest.mark.parametrize("width", [360, 800])
def test_its_looks(inside, width):
    one = inside(width=width)
    one.wait("document.querySelectorAll('.memory-row').length > 3")
    assert not one.too_wide(), one.too_wide()
    one.browser.picture(PICTURES / f"app-{width}-light.png")
    assert not one.axe(), one.axe()


def test_hostile_memories_inside(inside):
    texts = [text for text in PAYLOADS if "\0" not in text]
    one = inside(lines=[{"key": f"{number} {text[:100]}", "text": text, "summary": text[:500], "tags": [text[:40]]} for number, text in enumerate(texts)], width=360)
    one.wait("document.querySelectorAll('.memory-row').length > 3")
    one.run("document.querySelector('.memory-row').click()")
    one.wait("!!document.querySelector('.detail-key')")
    assert not one.too_wide(), one.too_wide()
    names = {call["name"] for call in one.host("window.said.calls")}
    assert names <= {"memory_list", "memory_stats", "memory_overview", "memory_get"}
    assert one.run("document.querySelectorAll('main script, main iframe, main img, main a').length") == 0
    assert not [found for found in one.problems() if "pwned" in found or "evil" in found]


def test_the_protocols_own_packages_take_it(inside):
    one = inside("sdk")
    one.wait_text("60 memories, newest first")
    assert one.host("window.said.sizes.length") > 0
    one.run("[...document.querySelectorAll('.memory-row')].find((one) => one.dataset.key === 'tone').click()")
    one.click("Delete")
    one.click("Delete")
    one.wait_text("Deleted.")
    assert call(one.server, "memory_get", keys=["tone"])["missing"] == ["tone"]
    assert one.host("window.tearDown().then(() => 'over')") == "over"
    assert not one.host("window.broken"), one.host("window.broken")
