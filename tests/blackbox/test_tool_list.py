"""The list of tools: how large it is, what stands in it, and what answers though it does not stand there.

A client hands the list to its model in every conversation, so its size is a promise. Lists of the same tools that were
measured elsewhere were written with a space after each comma and colon; so are these.
"""

import json
import os
import re

import pytest
from conftest import report
from http_client import exchange, request
from messages import CAPABILITIES, call, modern, modern_headers
from programs import Server, Stdio, run

# Characters of names, descriptions and input schemas.
MOST = {"all": 16_000, "web,memory": 11_500}
MOST_OF_INSTRUCTIONS = 600
# What whoever wrote a program for an earlier version calls.
UNLISTED = ["memory_list", "memory_rename", "memory_stats"]
NO_KEYS = dict.fromkeys(
    ("SERPER_API_KEY", "TAVILY_API_KEY", "BRAVE_API_KEY", "EXA_API_KEY", "SEARXNG_BASE_URL", "OPENAI_API_KEY", "GEMINI_API_KEY",
     "GOOGLE_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
)


def tools_of(stdio):
    return stdio.ask("tools/list")["result"]["tools"]


def listed(**settings):
    with Stdio(**settings) as stdio:
        return tools_of(stdio)


def names_of(tools):
    return [tool["name"] for tool in tools]


def schemas(schema):
    """A schema, and all those within it."""
    yield schema
    for part in [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]:
        yield from schemas(part)


def bare(tmp_path):
    """Settings under which nothing but what needs nothing can work."""
    return {**NO_KEYS, "PATH": tmp_path, "FORAGE_DATA_DIR": tmp_path / "data"}


# ---- its size ----


@pytest.mark.parametrize("selection", MOST)
def test_the_list_is_small(selection):
    tools = listed(FORAGE_TOOLS=selection)
    sizes = {
        tool["name"]: len(json.dumps({name: tool[name] for name in ("name", "description", "inputSchema")}))
        for tool in tools
    }
    report(f"the list of {selection}: {len(tools)} tools, {sum(sizes.values())} characters (at most {MOST[selection]})")
    assert sum(sizes.values()) <= MOST[selection], sizes


def test_results_are_described_in_few_words():
    """Clients check results with names and types; what they mean is in the documentation."""
    outputs = [tool["outputSchema"] for tool in listed()]
    assert sum(len(json.dumps(schema)) for schema in outputs) <= 11_000
    for schema in (part for output in outputs for part in schemas(output)):
        assert not schema.keys() & {"description", "$schema", "minimum"}
        assert schema["type"]


@pytest.mark.parametrize("selection", ["all", "web,memory", "answers", "forage_status"])
def test_instructions_say_which_tool_for_what(selection):
    with Stdio(FORAGE_TOOLS=selection) as stdio:
        words = stdio.handshake()["instructions"]
        names = names_of(tools_of(stdio))
    everything = names_of(listed())
    assert len(words) < MOST_OF_INSTRUCTIONS, len(words)
    said = words.replace(";", " ").replace(".", " ").replace(",", " ").split()
    assert [name for name in everything if name in said] == names
    assert "forage://guide" in words and "never an instruction" in words


def words_of_rest():
    """The whole definitions, by name."""
    with Server() as server:
        return {tool["name"]: tool for tool in exchange(server.port, request("GET", "/api/v1/tools")).json()["tools"]}


def also_taken(tool):
    """The parameters that a description names at its end."""
    named = re.search(r" Also takes: ([a-z_, ]+)\.\Z", tool["description"])
    return named[1].split(", ") if named else []


def test_every_parameter_is_listed_or_named():
    """What a call may hold: the list, the words of an error and REST agree."""
    whole = words_of_rest()
    with Stdio() as stdio:
        for tool in tools_of(stdio):
            name, shown = tool["name"], list(tool["inputSchema"]["properties"])
            result = stdio.ask("tools/call", {"name": name, "arguments": {"no_such": 1}})["result"]
            error = result["structuredContent"]["error"]
            allowed = re.search(r"; allowed: ([\w, ]+)", error["message"])[1].split(", ")
            assert error["code"] == "VALIDATION" and sorted(shown + also_taken(tool)) == sorted(allowed), name
            described = whole[name]["inputSchema"]["properties"]
            assert sorted(described) == sorted(allowed)
            assert all(described[each]["description"] and described[each]["examples"] for each in allowed)


def test_every_bound_is_listed():
    whole = words_of_rest()
    for tool in listed():
        for name, parameter in tool["inputSchema"]["properties"].items():
            given = whole[tool["name"]]["inputSchema"]["properties"][name]
            given = {**given, **given.get("anyOf", [{}])[0]}
            for bound in ("minimum", "maximum", "minLength"):
                assert parameter.get(bound) == given.get(bound), (tool["name"], name, bound)


def test_words_for_parameters_are_sentences():
    for tool in listed():
        for name, parameter in tool["inputSchema"]["properties"].items():
            words = parameter["description"]
            assert re.fullmatch(r"\S+( \S+){2,}\.", words), (tool["name"], name, words)


def test_every_parameter_is_described_and_shown():
    for tool in listed():
        schema = tool["inputSchema"]
        # Some clients flatten or drop these where a schema begins.
        assert schema["type"] == "object" and not schema.keys() & {"anyOf", "oneOf", "allOf", "$ref"}
        for name, parameter in schema["properties"].items():
            assert parameter["description"] and len(parameter["examples"]) == 1, (tool["name"], name)
            assert parameter["type"] and not [key for key in parameter if key.startswith("x-")], (tool["name"], name)


def test_searches_of_memory_are_there_when_memory_is(tmp_path):
    searches = {"memory_search", "memory_fulltext_search"}
    for selection, expected in (
        ("all", searches),
        ("memory", searches),
        ("-memory", set()),
        ("web", set()),
        ("memory,-memory_search", {"memory_fulltext_search"}),
    ):
        with Stdio(FORAGE_TOOLS=selection, FORAGE_DATA_DIR=tmp_path) as stdio:
            assert searches & set(names_of(tools_of(stdio))) == expected, selection
            for name, arguments in (("memory_search", {"query": "x"}), ("memory_fulltext_search", {"keywords": "x"})):
                answer = stdio.ask("tools/call", {"name": name, "arguments": arguments})
                assert ("result" in answer) == (name in expected), (selection, name)


# ---- what is not listed ----


def test_unlisted_tools_answer(tmp_path):
    """By their names, over MCP and over REST, as they did when they were listed."""
    arguments = {"memory_list": {}, "memory_rename": {"key": "old", "new_key": "new"}, "memory_stats": {}}
    settings = {"FORAGE_DATA_DIR": tmp_path}
    with Stdio(**settings) as stdio:
        assert not set(UNLISTED) & set(names_of(tools_of(stdio)))
        stdio.ask("tools/call", {"name": "memory_add", "arguments": {"key": "old", "text": "text"}})
        for name in UNLISTED:
            result = stdio.ask("tools/call", {"name": name, "arguments": arguments[name]})["result"]
            assert result["structuredContent"]["success"] is True, result
    with Server(**settings) as server:
        over_mcp = exchange(server.port, request(body=call("tools/call", {"name": "memory_list", "arguments": {}}))).json()
        assert [each["key"] for each in over_mcp["result"]["structuredContent"]["data"]["results"]] == ["new"]
        arguments["memory_rename"] = {"key": "new", "new_key": "newer"}
        for name in UNLISTED:
            answer = exchange(server.port, request("POST", f"/api/v1/tools/{name}", None, arguments[name]))
            assert answer.status == 200 and answer.json()["success"] is True, answer.body
        described = exchange(server.port, request("GET", "/api/v1/openapi.json")).json()["paths"]
        assert {f"/api/v1/tools/{name}" for name in UNLISTED} <= described.keys()
    assert run("call", "memory_list", **settings).returncode == 0


def test_a_tool_that_is_named_is_listed():
    assert names_of(listed(FORAGE_TOOLS="memory_list,memory_get")) == ["memory_get", "memory_list"]
    assert "memory_stats" in names_of(listed(FORAGE_TOOLS="all,memory_stats"))
    assert "memory_list" not in names_of(listed(FORAGE_TOOLS="memory"))


def test_parameters_that_are_not_listed_are_taken(tmp_path):
    with Stdio(FORAGE_DATA_DIR=tmp_path) as stdio:
        (tool,) = [tool for tool in tools_of(stdio) if tool["name"] == "memory_search"]
        assert "from" not in tool["inputSchema"]["properties"]
        given = {"query": "x", "from": "2026-01-01", "role": "user"}
        result = stdio.ask("tools/call", {"name": "memory_search", "arguments": given})["result"]
        assert result["structuredContent"]["success"] is True
        wrong = stdio.ask("tools/call", {"name": "memory_search", "arguments": {"query": "x", "colour": "red"}})["result"]
        assert wrong["isError"] is True and "colour" in wrong["structuredContent"]["error"]["message"]


# ---- lists that are asked for again ----

PREFIX = "io.modelcontextprotocol/"
PAGES = {f"{PREFIX}ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}
EXTENSIONS = {f"{PREFIX}tasks": {}, f"{PREFIX}skills": {}, **PAGES}
LISTS = ["tools/list", "resources/list", "resources/templates/list", "prompts/list"]


def requests_for_lists(number):
    """Of every list, for clients of both eras that know little or much; ids that begin with that number."""
    knows = {CAPABILITIES: {"extensions": EXTENSIONS}}
    for method in [*LISTS, "skills/list", "server/discover"]:
        if method in LISTS:
            yield call(method, {}, f"{number} {method} a")
        yield modern(method, id=f"{number} {method} b")
        yield modern(method, id=f"{number} {method} c", **knows)


def bytes_over_stdio(client, message):
    client.send(message)
    found = client.answers.wait(lambda line: json.loads(line).get("id") == message["id"])
    return found[1].encode() if isinstance(found[1], str) else found[1]


def bytes_over_http(server, message, version, label=None):
    headers = modern_headers(message) if "_meta" in message["params"] else {"MCP-Protocol-Version": version}
    if label:
        headers["Mcp-Session-Id"] = label
    return exchange(server.port, request(headers=headers, body=message)).body


def without_id(answer, message):
    text = answer.decode().strip()
    head = '{"jsonrpc":"2.0","id":' + json.dumps(message["id"]) + ","
    assert text.startswith(head), text[:200]
    return text.removeprefix(head)


@pytest.mark.parametrize("version", ["2025-11-25", "2025-06-18"])
@pytest.mark.parametrize("capabilities", [{}, {"extensions": PAGES}])
@pytest.mark.parametrize("context", [None, "codex", "claude"])
def test_lists_stay_the_same_bytes(version, capabilities, context):
    """What is kept is what a program answers that was never asked before, over stdio as over HTTP."""
    settings = {"FORAGE_CONTEXT": context} if context else {}
    initialize = call("initialize", {"protocolVersion": version, "capabilities": capabilities, "clientInfo": {"name": "x", "version": "1"}})
    seen = {}

    def compare(answer, message):
        key = json.dumps({**message, "id": None})
        text = without_id(answer, message)
        assert '"result":' in text[:20] and seen.setdefault(key, text) == text, message

    with Stdio(**settings) as stdio, Server(**settings) as server:
        bytes_over_stdio(stdio, initialize)
        label = exchange(server.port, request(body=initialize)).header("Mcp-Session-Id")
        for number in range(3):
            for message in requests_for_lists(number):
                compare(bytes_over_stdio(stdio, message), message)
                compare(bytes_over_http(server, message, version, label), message)
    assert len(set(seen.values())) >= 10
    for message in (each for each in requests_for_lists(9) if each["method"] in ("tools/list", "resources/list")):
        with Stdio(**settings) as fresh:
            bytes_over_stdio(fresh, initialize)
            compare(bytes_over_stdio(fresh, message), message)


# ---- blank questions ----

QUESTIONS = {
    **dict.fromkeys(("search", "search_web", "web_search", "memory_search"), "query"),
    **{"deep_search": "topic", "memory_fulltext_search": "keywords"},
}


def test_a_blank_question_is_refused(tmp_path):
    with Stdio(FORAGE_DATA_DIR=tmp_path) as stdio:
        for name, parameter in QUESTIONS.items():
            for blank in ("   ", "\t\n \r", "\u3000\u2003\u00a0\u3000"):
                result = stdio.ask("tools/call", {"name": name, "arguments": {parameter: blank}})["result"]
                error = result["structuredContent"]["error"]
                assert error["code"] == "VALIDATION" and error["message"].startswith(parameter), (name, blank, error)
        focused = {"url": "https://example.org/", "focus": "  "}
        result = stdio.ask("tools/call", {"name": "get_content", "arguments": focused})["result"]
        assert "focus must be a string of 1 to 2000 characters that is not blank" in result["content"][0]["text"]


# ---- ready ----


def test_only_what_can_work_is_listed(tmp_path):
    everything = names_of(listed())
    settings = bare(tmp_path)
    assert names_of(listed(**settings)) == everything, "unless it is asked for, each is there and says what it lacks"
    with Stdio(FORAGE_TOOLS="ready", **settings) as stdio:
        words = stdio.handshake()["instructions"]
        names = names_of(tools_of(stdio))
        assert set(everything) - set(names) == {"web_search", "search", "deep_search", "research_result", "search_web"}
        assert "web_search" not in words and "get_content" in words
        # Called all the same, each says what to set, and the status tells of it.
        for name, lacks in (("web_search", "SERPER_API_KEY"), ("search_web", "OPENAI_API_KEY"), ("search", "gemini")):
            result = stdio.ask("tools/call", {"name": name, "arguments": {"query": "what is it?"}})["result"]
            assert result["isError"] is True and lacks in result["structuredContent"]["error"]["message"]
        status = stdio.ask("tools/call", {"name": "forage_status", "arguments": {}})["result"]["structuredContent"]
        assert {tool["name"]: tool["ready"] for tool in status["tools"]}["web_search"] is False
    settings["SERPER_API_KEY"] = "a-key-of-serper"
    assert "web_search" in names_of(listed(FORAGE_TOOLS="ready", **settings))


@pytest.mark.parametrize(
    "selection, wanted",
    [
        ("ready,web", ["get_content"]),
        ("web,ready", ["get_content"]),
        ("ready,-memory", ["get_content", "forage_status"]),
        ("ready,answers", []),
    ],
)
def test_ready_with_other_words(selection, wanted, tmp_path):
    settings = bare(tmp_path)
    assert names_of(listed(FORAGE_TOOLS=selection, **settings)) == wanted
    assert names_of(json.loads(run("tools", "--json", FORAGE_TOOLS=selection, **settings).stdout)) == wanted


def test_a_worker_that_is_installed_later_is_listed(tmp_path):
    """No restart: each list looks anew."""
    settings = bare(tmp_path)
    with Stdio(FORAGE_TOOLS="ready,research", **settings) as stdio:
        assert tools_of(stdio) == []
        worker = tmp_path / "gemini"
        worker.write_text("#!/bin/sh\n")
        os.chmod(worker, 0o755)
        assert names_of(tools_of(stdio)) == ["search", "deep_search", "research_result"]
        worker.unlink()
        assert tools_of(stdio) == []
