"""The page of memories for clients that show pages (MCP Apps, SEP-1865): who is told of it, by which tools it is opened and
served, in both eras and over both transports; and that nobody else notices anything."""

import json
import subprocess
import sys

import pytest
from http_client import exchange, request
from messages import CAPABILITIES, modern, modern_headers
from programs import ROOT, Server, Stdio

EXTENSION = "io.modelcontextprotocol/ui"
PAGE = "ui://forage/memories"
MIME = "text/html;profile=mcp-app"
DECLARED = {"extensions": {EXTENSION: {"mimeTypes": [MIME]}}}
# Tools that lists leave out, but for the page and whoever shows it.
FOR_PAGE = {"memory_list", "memory_overview", "memory_stats"}


class Client:
    """One client of one era over one transport, which declares these capabilities."""

    def __init__(self, program, is_modern, capabilities):
        self.program, self.is_modern, self.capabilities = program, is_modern, capabilities
        self.headers = {}
        self.handshake = self.ask("server/discover") if is_modern else self.initialize()

    def initialize(self):
        params = {"protocolVersion": "2025-11-25", "capabilities": self.capabilities, "clientInfo": {"name": "t", "version": "1"}}
        return self.ask("initialize", params)

    def ask(self, method, params=None):
        if self.is_modern:
            message = modern(method, params, **{CAPABILITIES: self.capabilities})
            headers = modern_headers(message)
        else:
            message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
            headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **self.headers}
        if isinstance(self.program, Stdio):
            return self.program.ask(method, message["params"])["result"]
        answer = exchange(self.program.port, request(headers=headers, body=message))
        if label := answer.header("Mcp-Session-Id"):
            self.headers = {"Mcp-Session-Id": label, "MCP-Protocol-Version": "2025-11-25"}
        return answer.json()["result"]

    def lists(self):
        """Everything that a client sees before it calls anything, but for what it is called itself."""
        told = {method: self.ask(method) for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list")}
        return {"handshake": self.handshake, **told}

    def tools(self):
        return {tool["name"]: tool for tool in self.ask("tools/list")["tools"]}


@pytest.fixture(scope="module", params=["stdio", "http"])
def program(request, tmp_path_factory):
    with (Stdio if request.param == "stdio" else Server)(FORAGE_DATA_DIR=tmp_path_factory.mktemp("data")) as program:
        yield program


@pytest.fixture(params=["modern", "legacy"])
def make(request, program):
    return lambda capabilities: Client(program, request.param == "modern", capabilities)


@pytest.mark.parametrize(
    "capabilities",
    [
        {"extensions": {EXTENSION: {}}},
        {"extensions": {EXTENSION: {"mimeTypes": ["text/html"]}}},
        {"extensions": {EXTENSION: {"mimeTypes": MIME}}},
        {"extensions": {"io.modelcontextprotocol/tasker": {"mimeTypes": [MIME]}}},
        {"extensions": [EXTENSION]},
        {"experimental": {EXTENSION: {"mimeTypes": [MIME]}}},
    ],
)
def test_others_notice_nothing(make, capabilities):
    """To the byte, whatever else they declare, and also right after one who shows pages."""
    before = json.dumps(make({}).lists())
    make(DECLARED)
    assert json.dumps(make(capabilities).lists()) == before
    assert json.dumps(make({}).lists()) == before
    assert "ui://" not in before and EXTENSION not in before and "memory_overview" not in before


def test_a_client_that_shows_pages_is_told(make):
    client, usual = make(DECLARED), make({}).tools()
    client.handshake = make(DECLARED).handshake
    assert client.handshake["capabilities"]["extensions"][EXTENSION] == {}
    # Over stdio the last handshake counts: there is one client.
    client = make(DECLARED)
    tools = client.tools()
    assert set(tools) - set(usual) == FOR_PAGE
    assert {name: tools[name] for name in usual} == usual
    assert tools["memory_list"]["_meta"]["ui"] == {"resourceUri": PAGE}
    assert tools["memory_list"]["description"].startswith("Shows the user")
    for name in FOR_PAGE - {"memory_list"}:
        assert tools[name]["_meta"]["ui"] == {"visibility": ["app"]}
    (page,) = [one for one in client.ask("resources/list")["resources"] if one["uri"].startswith("ui:")]
    assert page["uri"] == PAGE and page["mimeType"] == MIME


def test_the_page(make):
    client = make(DECLARED)
    (content,) = client.ask("resources/read", {"uri": PAGE})["contents"]
    assert content["uri"] == PAGE and content["mimeType"] == MIME
    assert content["_meta"]["ui"] == {"csp": {"connectDomains": [], "resourceDomains": []}, "prefersBorder": True}
    text = content["text"]
    assert text.startswith("<!doctype html>") and text.rstrip().endswith("</html>")
    # All of it is inside: nothing is loaded, nothing is imported.
    for wrong in ("<link", "<img", "<script src", "@import", "url(", "fetch(", "XMLHttpRequest", "import("):
        assert wrong not in text, wrong
    assert not [line for line in text.splitlines() if line.startswith(("import ", "export "))]


def test_what_the_page_calls_answers(make):
    client = make(DECLARED)

    def call(name, **arguments):
        return client.ask("tools/call", {"name": name, "arguments": arguments})["structuredContent"]["data"]

    call("memory_add", key="oven", text="The oven runs 20 degrees hot.", tags=["bread", "kitchen"], created_at="2026-03-05")
    call("memory_add", key="rye", text="Rye wants more water.", tags=["bread"], created_at="2026-03-06")
    seen = call("memory_overview")
    assert seen["tags"] == [{"tag": "bread", "memories": 2}, {"tag": "kitchen", "memories": 1}]
    assert seen["unit"] == "day" and [one["memories"] for one in seen["times"]] == [1, 1]
    assert call("memory_list")["pagination"]["total"] == 2
    assert call("memory_stats")["namespaces"][0]["memories"] == 2


@pytest.mark.parametrize("settings", [{"FORAGE_TOOLS": "web"}, {"FORAGE_PROFILE": "chatgpt"}, {"FORAGE_TOOLS": "-memory_list"}])
def test_without_its_tools_there_is_no_page(settings):
    with Stdio(**settings) as stdio:
        client = Client(stdio, False, DECLARED)
        assert PAGE not in json.dumps(client.ask("resources/list"))
        assert EXTENSION not in json.dumps(client.handshake)


# ---- how the document is made ----

PAGE_OF = '<!doctype html><link rel="stylesheet" href="a.css"><script type="module" src="a.js"></script>'


def bundle(folder, page=PAGE_OF, **files):
    """What scripts/app.py says of a page and its files."""
    for name, text in {"a_css": "p {}\n", **files}.items():
        (folder / name.replace("_", ".")).write_text(text)
    (folder / "page.html").write_text(page)
    command = [sys.executable, ROOT / "scripts" / "app.py", folder / "out.c", f"PAGE={folder / 'page.html'}"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_modules_become_one_document(tmp_path):
    sys.path.insert(0, str(ROOT / "scripts"))
    import app  # noqa: PLC0415 (it lies beside the build's scripts)

    first = 'import { two as second } from "./b.js";\nimport { three } from "./c.js";\nconsole.log(second, three);\n'
    assert bundle(tmp_path, a_js=first, b_js='import { three } from "./c.js";\nexport const two = three - 1;\n', c_js="export const three = 3;\n").returncode == 0
    made = (tmp_path / "out.c").read_text()
    text = app.document(tmp_path / "page.html")
    assert text.index("const module_c") < text.index("const module_b") < text.index("const module_a") and text.count("const module_c") == 1
    assert "const {two: second} = module_b;" in text and "<style>\np {}\n</style>" in text
    bundle(tmp_path, a_js=first, b_js='import { three } from "./c.js";\nexport const two = three - 1;\n', c_js="export const three = 3;\n")
    assert (tmp_path / "out.c").read_text() == made, "the same files make the same bytes"


@pytest.mark.parametrize(
    "files, words",
    [
        ({"a_js": 'import a from "./b.js";\n', "b_js": ""}, "does not know"),
        ({"a_js": 'import * as b from "./b.js";\n', "b_js": ""}, "does not know"),
        ({"a_js": "export default 5;\n"}, "does not know"),
        ({"a_js": "export let a = 5;\n"}, "does not know"),
        ({"a_js": 'const a = () => import("./b.js");\n'}, "does not know"),
        ({"a_js": 'import { a } from "./b.js";\n', "b_js": 'import { b } from "./a.js";\nexport const a = 1;\n'}, "imports itself"),
        ({"a_js": 'import { a } from "./missing.js";\n'}, "missing.js"),
        ({"a_js": 'const a = "</script>";\n'}, "would end"),
        ({"a_js": "", "a_css": "p::before { content: '</style>' }"}, "would end"),
        ({"a_js": "", "page": '<!doctype html><img src="x.png">'}, "would have to be loaded"),
    ],
)
def test_what_cannot_be_one_document_is_refused(tmp_path, files, words):
    done = bundle(tmp_path, **files)
    assert done.returncode == 1 and words in done.stderr, done
