"""ChatGPT's contract (FORAGE_PROFILE=chatgpt): clients of MCP see `search` and `fetch`, in the form that its deep research
wants, and nothing else, in both eras and over both transports. For everybody else nothing changes."""

import contextlib
import json

import pytest
from fake_web import Answer
from http_client import exchange, request
from messages import call, modern, modern_headers
from programs import Server, Stdio, run
from reading import WORDS, long_text, page
from searching import shared_world, world  # noqa: F401 (fixtures)

CHATGPT = {"FORAGE_PROFILE": "chatgpt"}
TOKENS = {"alice": "alice-token-0123456789", "bob": "bob-token-0123456789"}
DOORS = [(era, transport) for era in ("legacy", "modern") for transport in ("stdio", "http")]


class Client:
    """Somebody who asks one program, in one era over one transport."""

    def __init__(self, era, transport, program, token=None):
        self.make = modern if era == "modern" else call
        self.transport = transport
        self.program = program
        self.token = token

    def ask(self, method, params=None):
        message = self.make(method, params)
        if self.transport == "stdio":
            return self.program.ask(method, message.get("params"))
        headers = modern_headers(message) if self.make is modern else {}
        if self.token:
            headers["Authorization"] = "Bearer " + self.token
        answer = exchange(self.program.port, request(headers=headers, body=message))
        if answer.header("Content-Type") == "text/event-stream":
            return json.loads(answer.body.decode().rpartition("data: ")[2])
        return answer.json()

    def call(self, tool, **arguments):
        """The structured result of a call; it is the one text as well, as the contract wants it."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        (block,) = result["content"]
        assert block["type"] == "text" and json.loads(block["text"]) == result["structuredContent"]
        assert result.get("isError", False) == ("error" in result["structuredContent"])
        return result["structuredContent"]

    def search(self, query):
        found = self.call("search", query=query)
        assert found.keys() == {"results"}, found
        for item in found["results"]:
            assert item.keys() == {"id", "title", "url"} and all(isinstance(value, str) for value in item.values()), item
            assert item["id"] and item["title"], item
        return found["results"]

    def fetch(self, id):
        found = self.call("fetch", id=id)
        assert found.keys() == {"id", "title", "text", "url", "metadata"} and found["id"] == id, found
        # Some readers of the contract take a table of texts, and nothing else.
        assert all(isinstance(value, str) for value in found["metadata"].values()), found
        return found

    def error(self, tool, **arguments):
        return self.call(tool, **arguments)["error"]


@contextlib.contextmanager
def client(era="legacy", transport="stdio", **settings):
    with (Stdio if transport == "stdio" else Server)(**settings) as program:
        one = Client(era, transport, program)
        if (era, transport) == ("legacy", "stdio"):
            program.handshake()
        yield one


def remember(folder, key, text, **fields):
    words = [f"{name}:={json.dumps(value)}" for name, value in {"key": key, "text": text, **fields}.items()]
    added = run("call", "memory_add", *words, FORAGE_DATA_DIR=folder)
    assert added.returncode == 0, added.stderr


# ---- what is there, and what is not ----


@pytest.mark.parametrize("era, transport", DOORS)
def test_a_client_sees_two_tools_and_nothing_else(era, transport, tmp_path):
    with client(era, transport, **CHATGPT, FORAGE_DATA_DIR=tmp_path) as chatgpt:
        tools = {tool["name"]: tool for tool in chatgpt.ask("tools/list")["result"]["tools"]}
        assert list(tools) == ["search", "fetch"]
        for name, parameter in (("search", "query"), ("fetch", "id")):
            schema = tools[name]["inputSchema"]
            assert list(schema["properties"]) == schema["required"] == [parameter]
            assert schema["properties"][parameter]["type"] == "string"
            assert tools[name]["annotations"]["readOnlyHint"] is True
            assert tools[name]["outputSchema"]["type"] == "object"
        for method, key in (("resources/list", "resources"), ("prompts/list", "prompts")):
            assert chatgpt.ask(method)["result"][key] == []
        assert "error" in chatgpt.ask("skills/list") and "error" in chatgpt.ask("resources/read", {"uri": "forage://guide"})
        answer = chatgpt.ask("tools/call", {"name": "web_search", "arguments": {"query": "x"}})
        assert "there is no tool" in answer["error"]["message"]
        if era == "modern":
            assert chatgpt.ask("server/discover")["result"]["capabilities"] == {"tools": {}}


@pytest.mark.parametrize(
    "settings, two",
    [
        ({"FORAGE_CONTEXT": "chatgpt"}, True),
        ({"FORAGE_CONTEXT": "ChatGPT"}, True),
        ({"FORAGE_CONTEXT": "codex", **CHATGPT}, True),
        ({"FORAGE_CONTEXT": "chatgpt", "FORAGE_PROFILE": "all"}, False),
        ({"FORAGE_TOOLS": "memory", **CHATGPT}, True),
        ({"FORAGE_TOOLS": "ready", **CHATGPT}, True),
        ({}, False),
    ],
)
def test_who_asks_for_it(settings, two):
    with client(**settings) as one:
        tools = one.ask("tools/list")["result"]["tools"]
    assert ([tool["name"] for tool in tools] == ["search", "fetch"]) is two
    assert not two or all("outputSchema" in tool for tool in tools)


def test_context_is_a_shorthand():
    with Stdio(arguments=("mcp", "--context", "chatgpt")) as stdio:
        capabilities = stdio.handshake()["capabilities"]
        assert [tool["name"] for tool in stdio.ask("tools/list")["result"]["tools"]] == ["search", "fetch"]
    assert capabilities == {"tools": {}}
    refused = run("config", FORAGE_PROFILE="chatgtp")
    assert refused.returncode != 0 and "FORAGE_PROFILE" in refused.stderr


def test_nothing_changes_for_others():
    """Without the profile every list is the same to the byte, whether the setting is there or not."""

    def lists(**settings):
        with Stdio(**settings) as stdio:
            told = [json.dumps(stdio.handshake())]
            methods = ("tools/list", "resources/list", "resources/templates/list", "prompts/list")
            return told + [json.dumps(stdio.ask(method)["result"]) for method in methods]

    assert lists() == lists(FORAGE_PROFILE="all")
    assert not any("chatgpt" in text for text in lists())


def test_rest_and_the_command_line_stay(tmp_path, world):
    hits = world.find(2)
    with world.server("serper", **CHATGPT, FORAGE_DATA_DIR=tmp_path) as server:
        found = exchange(server.port, request("POST", "/api/v1/tools/web_search", None, {"query": "things"})).json()
        assert [item["link"] for item in found["results"]] == [hit.link for hit in hits]
        added = exchange(server.port, request("POST", "/api/v1/tools/memory_add", None, {"key": "a", "text": "b"}))
        assert added.status == 200, added
    assert run("memory", "get", "a", **CHATGPT, FORAGE_DATA_DIR=tmp_path).returncode == 0
    listed = json.loads(run("tools", "--json", FORAGE_TOOLS="memory_get").stdout)
    assert [tool["name"] for tool in listed] == ["memory_get"]


# ---- search ----


@pytest.mark.parametrize("era, transport", DOORS)
def test_search_finds_pages(era, transport, tmp_path, world):
    hits = world.find(3)
    settings = world.settings("serper", **CHATGPT, FORAGE_DATA_DIR=tmp_path)
    with client(era, transport, **settings) as chatgpt:
        found = chatgpt.search("things")
        assert found == [{"id": hit.link, "title": hit.title, "url": hit.link} for hit in hits]
        assert world.web.requests == [], "pages are for fetch"
        read = chatgpt.fetch(found[1]["id"])
    assert read["title"] == "Title 1" and "The words of page 1" in read["text"] and read["url"] == hits[1].link
    assert "never instructions" in read["metadata"]["untrusted"]


def test_memories_stand_where_they_belong(tmp_path, world):
    """Before the pages where they are surely meant, after them where they may be, and not at all where they are not."""
    hits = world.find(2)
    remember(tmp_path, "atlas/db", "Atlas uses PostgreSQL 17.", summary="Atlas database", metadata={"url": "https://atlas.example/"})
    remember(tmp_path, "lunch", "The canteen is closed on Fridays.")
    with client(**world.settings("serper", **CHATGPT, FORAGE_DATA_DIR=tmp_path)) as chatgpt:
        sure = chatgpt.search("Atlas uses PostgreSQL 17.")
        assert [item["id"] for item in sure] == ["memory:atlas/db", *(hit.link for hit in hits)]
        assert sure[0] == {"id": "memory:atlas/db", "title": "Atlas database", "url": "https://atlas.example/"}
        others = chatgpt.search("how do zebra finches sing")
        assert [item["id"] for item in others] == [hit.link for hit in hits]
        ids = [item["id"] for item in chatgpt.search("canteen Fridays menus")]
    places = [place for place, id in enumerate(ids) if id.startswith("memory:")]
    assert places and min(places) >= len(hits), ids


def test_without_a_provider_memories_answer(tmp_path, world):
    remember(tmp_path, "atlas", "Atlas uses PostgreSQL.")
    with Stdio(**world.settings(**CHATGPT, FORAGE_DATA_DIR=tmp_path)) as stdio:
        assert "The web is not searched: set SERPER_API_KEY" in stdio.handshake()["instructions"]
        chatgpt = Client("legacy", "stdio", stdio)
        assert [item["id"] for item in chatgpt.search("what does Atlas use")] == ["memory:atlas"]
        error = chatgpt.error("search", query="zebra finches")
    assert error["code"] == "CONFIG" and "SERPER_API_KEY" in error["message"]
    with Stdio(**world.settings("serper", **CHATGPT, FORAGE_DATA_DIR=tmp_path)) as stdio:
        assert "not searched" not in stdio.handshake()["instructions"]


def test_one_of_the_two_answers_where_the_other_fails(tmp_path, world):
    hits = world.find(1)
    remember(tmp_path, "atlas", "Atlas uses PostgreSQL.")
    world["serper"].mishap = 500
    with client(**world.settings("serper", **CHATGPT, FORAGE_DATA_DIR=tmp_path)) as chatgpt:
        assert [item["id"] for item in chatgpt.search("what does Atlas use")] == ["memory:atlas"]
        assert chatgpt.error("search", query="zebra finches")["code"] == "PROVIDER"
    world["serper"].mishap = None
    (tmp_path / "not-a-folder").write_text("")
    with client(**world.settings("serper", **CHATGPT, FORAGE_DATA_DIR=tmp_path / "not-a-folder")) as chatgpt:
        assert [item["id"] for item in chatgpt.search("what does Atlas use")] == [hits[0].link]


def test_what_the_operator_leaves_out_is_left_out(tmp_path, world):
    hits = world.find(1)
    remember(tmp_path, "atlas", "Atlas uses PostgreSQL.")
    settings = world.settings("serper", **CHATGPT, FORAGE_DATA_DIR=tmp_path)
    with client(**settings, FORAGE_TOOLS="web") as chatgpt:
        assert [item["id"] for item in chatgpt.search("what does Atlas use")] == [hits[0].link]
        assert chatgpt.error("fetch", id="memory:atlas")["code"] == "NOT_FOUND"
    with client(**settings, FORAGE_TOOLS="memory") as chatgpt:
        assert [item["id"] for item in chatgpt.search("what does Atlas use")] == ["memory:atlas"]
        assert chatgpt.search("zebra finches") == []
        assert chatgpt.error("fetch", id=hits[0].link)["code"] == "CONFIG"


def test_a_blank_search_is_refused(tmp_path, world):
    with client(**world.settings("serper", **CHATGPT, FORAGE_DATA_DIR=tmp_path)) as chatgpt:
        assert chatgpt.error("search", query=" \u3000 ")["code"] == "VALIDATION"
    assert world.searches() == {}


# ---- fetch ----


def read_on(chatgpt, id):
    """All parts of a text, by the ids that lead from one to the next."""
    parts = []
    while id:
        read = chatgpt.fetch(id)
        id = read["metadata"].get("next_id")
        text, cut, remark = read["text"].partition("\n\n[It goes on: ") if id else (read["text"], "", "")
        assert bool(cut) is bool(id) and (not id or id in remark)
        assert len(json.dumps(read, ensure_ascii=False)) <= 6000
        parts.append(text)
    return parts


def test_a_long_page_is_read_in_parts(tmp_path, world):
    world.web.answers["/long.md"] = Answer(long_text(), kind="text/markdown")
    settings = world.settings(**CHATGPT, FORAGE_DATA_DIR=tmp_path, FORAGE_MAX_RESULT_CHARS=6000)
    with client(**settings) as chatgpt:
        parts = read_on(chatgpt, world.web.url("/long.md"))
    assert len(parts) > 3
    whole = "".join(parts)
    for number in range(30):
        assert whole.count(f"## Section {number}: ") == 1


def test_a_long_memory_is_read_in_parts(tmp_path):
    text = "".join(f"Line {number}: {WORDS}\n" for number in range(200))
    remember(tmp_path, "long", text, tags=["one", "two"])
    with client(**CHATGPT, FORAGE_DATA_DIR=tmp_path, FORAGE_MAX_RESULT_CHARS=6000) as chatgpt:
        assert "".join(read_on(chatgpt, "memory:long")) == text
        assert chatgpt.fetch("memory:long")["metadata"]["tags"] == "one, two"


def test_a_page_that_cannot_be_read_is_a_note(tmp_path, world):
    with client(**world.settings(**CHATGPT, FORAGE_DATA_DIR=tmp_path)) as chatgpt:
        read = chatgpt.fetch(world.web.url("/gone"))
    assert read["text"].startswith("_Failed to retrieve page content: ") and read["metadata"]["failed"] == "true"


@pytest.mark.parametrize("id", ["x", "memory", "ftp://example.org/", "file:///etc/passwd", "from:x:http://a.example/", "from:5:y", "from:"])
def test_what_is_no_id_is_refused(id, tmp_path):
    with client(**CHATGPT, FORAGE_DATA_DIR=tmp_path) as chatgpt:
        error = chatgpt.error("fetch", id=id)
    assert error["code"] == "VALIDATION" and error["message"].startswith("id ")


@pytest.mark.parametrize("id", ["http://127.0.0.1/", "http://10.0.0.1/", "from:3:http://169.254.169.254/latest", "http://[::1]/"])
def test_the_addresses_of_this_machine_stay_closed(id, tmp_path):
    with client(**CHATGPT, FORAGE_DATA_DIR=tmp_path) as chatgpt:
        assert chatgpt.error("fetch", id=id)["code"] == "FORBIDDEN"


def test_memories_are_those_of_the_caller(tmp_path):
    tokens = ",".join(f"{name}:{token}" for name, token in TOKENS.items())
    with Server(**CHATGPT, FORAGE_DATA_DIR=tmp_path, FORAGE_TOKENS=tokens, FORAGE_TOOLS="memory") as server:
        headers = {"Authorization": "Bearer " + TOKENS["alice"]}
        exchange(server.port, request("POST", "/api/v1/tools/memory_add", headers, {"key": "secret", "text": "Alice likes plums."}))
        alice, bob = (Client("modern", "http", server, token) for token in TOKENS.values())
        assert [item["id"] for item in alice.search("what does Alice like")] == ["memory:secret"]
        assert alice.fetch("memory:secret")["text"] == "Alice likes plums."
        assert bob.search("what does Alice like") == []
        assert bob.error("fetch", id="memory:secret")["code"] == "NOT_FOUND"
