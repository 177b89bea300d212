"""MCP over stdio, both eras, from the first message to the last."""

import json

import pytest
from messages import (
    BUSY,
    CAPABILITIES,
    INTERNAL,
    INVALID_PARAMS,
    LEGACY,
    LEGACY_NO_RESOURCE,
    METHOD_NOT_FOUND,
    MODERN,
    SERVER_INFO,
    SUBSCRIPTION,
    VERSION,
    call,
    cancelled,
    meta,
    modern,
    tool_call,
)
from programs import CONFORMANCE, Stdio, wait_until


def check_modern(result, cacheable=False):
    """What every modern result carries."""
    assert result["resultType"] == "complete"
    assert result["_meta"][SERVER_INFO]["name"]
    assert ("ttlMs" in result) == cacheable and ("cacheScope" in result) == cacheable


def check_legacy(result):
    """What no legacy result carries."""
    assert not {"resultType", "ttlMs", "cacheScope"} & result.keys()
    assert SERVER_INFO not in result.get("_meta", {})


# ---- handshakes ----


@pytest.mark.parametrize("version", LEGACY)
def test_handshake(stdio, version):
    result = stdio.handshake(version)
    assert result["protocolVersion"] == version
    assert result["serverInfo"]["name"] == "forage" and result["serverInfo"]["version"]
    tasks = {"tasks"} if version == "2025-11-25" else set()
    assert set(result["capabilities"]) == {"tools", "resources", "prompts", "completions"} | tasks
    assert result["instructions"]
    check_legacy(result)
    assert stdio.ask("ping")["result"] == {}


@pytest.mark.parametrize("version", ["1999-01-01", "2099-01-01", MODERN, "", None, 5])
def test_handshake_with_an_unknown_version(stdio, version):
    """Never an error: the server answers with the newest legacy version that it knows."""
    assert stdio.handshake(version)["protocolVersion"] == LEGACY[0]


def test_requests_without_a_handshake(stdio):
    assert stdio.ask("tools/list")["result"]["tools"]


def test_second_handshake(stdio):
    assert stdio.handshake("2025-11-25")["protocolVersion"] == "2025-11-25"
    assert stdio.handshake("2024-11-05")["protocolVersion"] == "2024-11-05"


@pytest.mark.parametrize("params", [None, {}, {"_meta": {}}, {"_meta": meta()}])
def test_discover(stdio, params):
    """Also without an envelope: an error here would make clients remember the server as legacy."""
    result = stdio.ask("server/discover", params)["result"]
    check_modern(result, cacheable=True)
    assert result["supportedVersions"] == [MODERN]
    assert set(result["capabilities"]) == {"tools", "resources", "prompts", "completions", "extensions"}
    assert result["capabilities"]["extensions"] == {
        "io.modelcontextprotocol/tasks": {},
        "io.modelcontextprotocol/skills": {"directoryRead": True},
    }
    assert result["instructions"]


def test_both_eras_on_one_connection(stdio):
    stdio.handshake("2025-06-18")
    check_legacy(stdio.ask("tools/list")["result"])
    check_modern(stdio.ask("tools/list", {"_meta": meta()})["result"], cacheable=True)
    check_legacy(stdio.ask("tools/list")["result"])


# ---- tools ----


def test_tools_are_described(stdio):
    (tool,) = [tool for tool in stdio.ask("tools/list")["result"]["tools"] if tool["name"] == "forage_status"]
    assert tool["title"] and len(tool["description"]) > 100
    for schema in (tool["inputSchema"], tool["outputSchema"]):
        assert schema["type"] == "object"
    for name, parameter in tool["inputSchema"]["properties"].items():
        assert parameter["description"] and parameter["examples"], name
    assert tool["annotations"]["readOnlyHint"] is True and tool["annotations"]["openWorldHint"] is False
    assert "forage" not in tool, "what is ours alone stays with us"


@pytest.mark.parametrize("params", [{}, {"_meta": meta()}], ids=["legacy", "modern"])
def test_tool_call(stdio, params):
    result = stdio.ask("tools/call", {"name": "forage_status", "arguments": {}, **params})["result"]
    assert "isError" not in result
    (block,) = result["content"]
    assert block["type"] == "text" and json.loads(block["text"]) == result["structuredContent"]
    status = result["structuredContent"]
    assert status["success"] is True and status["name"] == "forage"
    assert "forage_status" in [tool["name"] for tool in status["tools"]]
    (check_modern if params else check_legacy)(result)


def test_arguments_may_be_left_out(stdio):
    assert (
        stdio.ask("tools/call", {"name": "forage_status"})["result"]["structuredContent"]["success"] is True
    )


@pytest.mark.parametrize(
    "arguments, naming",
    [
        ({"tool": 5}, "tool"),
        ({"tool": "x" * 65}, "tool"),
        ({"tools": "x"}, "tools"),
        ({"tool": "none"}, "none"),
    ],
)
def test_wrong_arguments(stdio, arguments, naming):
    """A result that names the parameter, what came and what is allowed; not an error of the protocol."""
    result = stdio.ask("tools/call", {"name": "forage_status", "arguments": arguments})["result"]
    assert result["isError"] is True
    body = result["structuredContent"]
    assert json.loads(result["content"][0]["text"]) == body
    assert body["success"] is False and body["error"]["code"] == "VALIDATION"
    assert naming in body["error"]["message"] and body["error"]["request_id"]


def test_wrong_argument_says_what_came_and_what_is_allowed(stdio):
    result = stdio.ask("tools/call", {"name": "forage_status", "arguments": {"tool": 5}})["result"]
    message = result["structuredContent"]["error"]["message"]
    assert "tool" in message and "5" in message and "string" in message and "64" in message


def test_unknown_tool(stdio):
    error = stdio.ask("tools/call", {"name": "no_such_tool"})["error"]
    assert error["code"] == INVALID_PARAMS and "no_such_tool" in error["message"]


@pytest.mark.parametrize(
    "selection, expected",
    [
        ("all", ["forage_status"]),
        ("server", ["forage_status"]),
        ("forage_status", ["forage_status"]),
        ("-forage_status", []),
        ("all,-server", []),
        ("all,-server,forage_status", ["forage_status"]),
    ],
)
def test_selection_of_tools(selection, expected):
    with Stdio(FORAGE_TOOLS=selection) as client:
        names = [tool["name"] for tool in client.ask("tools/list")["result"]["tools"]]
        assert [name for name in names if name == "forage_status"] == expected
        answer = client.ask("tools/call", {"name": "forage_status"})
        assert ("result" in answer) == bool(expected)


# ---- resources, prompts, completion ----


def test_resources(stdio):
    resources = {one["uri"]: one for one in stdio.ask("resources/list")["result"]["resources"]}
    assert set(resources) >= {"forage://guide", "forage://status"}
    for uri, mime in (("forage://guide", "text/markdown"), ("forage://status", "application/json")):
        (content,) = stdio.ask("resources/read", {"uri": uri})["result"]["contents"]
        assert content["uri"] == uri and content["mimeType"] == mime == resources[uri]["mimeType"]
        assert content["text"]
    assert json.loads(content["text"])["success"] is True
    assert stdio.ask("resources/templates/list")["result"]["resourceTemplates"] == []


def test_unknown_resource(stdio):
    """Each era has its own code."""
    legacy = stdio.ask("resources/read", {"uri": "forage://nothing"})["error"]
    assert legacy["code"] == LEGACY_NO_RESOURCE and legacy["data"]["uri"] == "forage://nothing"
    now = stdio.ask("resources/read", {"uri": "forage://nothing", "_meta": meta()})["error"]
    assert now["code"] == INVALID_PARAMS and now["data"]["uri"] == "forage://nothing"


def test_resource_templates(fixtures_stdio):
    (template,) = fixtures_stdio.ask("resources/templates/list")["result"]["resourceTemplates"]
    assert template["uriTemplate"] == "test://template/{id}/data"
    (content,) = fixtures_stdio.ask("resources/read", {"uri": "test://template/42/data"})["result"][
        "contents"
    ]
    assert content["uri"] == "test://template/42/data" and json.loads(content["text"])["id"] == "42"
    (binary,) = fixtures_stdio.ask("resources/read", {"uri": "test://static-binary"})["result"]["contents"]
    assert binary["blob"] and "text" not in binary
    for uri in ("test://template//data", "test://template/a/b/data", "test://template/1/data/more"):
        assert "error" in fixtures_stdio.ask("resources/read", {"uri": uri})


def test_prompts(stdio):
    prompts = {one["name"]: one for one in stdio.ask("prompts/list")["result"]["prompts"]}
    assert set(prompts) >= {"research_topic", "check_claim", "compare_sources"}
    for name, prompt in prompts.items():
        arguments = {one["name"]: "sea {{topic}} otters" for one in prompt["arguments"] if one["required"]}
        (message,) = stdio.ask("prompts/get", {"name": name, "arguments": arguments})["result"]["messages"]
        assert message["role"] == "user" and message["content"]["type"] == "text"
        text = message["content"]["text"]
        assert "sea {{topic}} otters" in text, "what a user wrote is not looked at again"
        assert "{{" not in text.replace("sea {{topic}} otters", "")


def test_completion(stdio):
    ref = {"type": "ref/prompt", "name": "research_topic"}

    def complete(argument, value):
        params = {"ref": ref, "argument": {"name": argument, "value": value}}
        return stdio.ask("completion/complete", params)["result"]["completion"]

    assert complete("depth", "") == {"values": ["detailed", "concise"], "total": 2, "hasMore": False}
    assert complete("depth", "con")["values"] == ["concise"]
    assert complete("depth", "x")["values"] == []
    assert complete("topic", "")["values"] == []


def test_completion_of_a_template(fixtures_stdio):
    params = {
        "ref": {"type": "ref/resource", "uri": "test://template/{id}/data"},
        "argument": {"name": "id", "value": "1"},
    }
    assert fixtures_stdio.ask("completion/complete", params)["result"]["completion"]["values"] == ["123"]


CACHEABLE = ["tools/list", "resources/list", "resources/templates/list", "prompts/list"]


@pytest.mark.parametrize("method", CACHEABLE)
def test_lists_may_be_kept(stdio, method):
    check_modern(stdio.ask(method, {"_meta": meta()})["result"], cacheable=True)
    check_legacy(stdio.ask(method)["result"])


@pytest.mark.parametrize(
    "method, key", [("tools/list", "tools"), ("prompts/list", "prompts"), ("resources/list", "resources")]
)
def test_pages(fixtures_stdio, method, key):
    """Page by page the same as all at once; a cursor that no page gave is refused."""
    everything = fixtures_stdio.ask(method)["result"][key]
    assert len(everything) >= 3
    with Stdio(CONFORMANCE, arguments=["mcp", "2"]) as client:
        items, params = [], {}
        while True:
            result = client.ask(method, params)["result"]
            assert 1 <= len(result[key]) <= 2
            items += result[key]
            if "nextCursor" not in result:
                break
            params = {"cursor": result["nextCursor"]}
        assert items == everything
        for cursor in ("", "p", "p0", "p1000", "2", " p2", "p2x", "-"):
            assert client.ask(method, {"cursor": cursor})["error"]["code"] == INVALID_PARAMS


# ---- while a call runs ----


def test_quick_messages_overtake_slow_calls(fixtures_stdio):
    fixtures_stdio.send(tool_call("test_sleep", {"ms": 60_000}))
    assert fixtures_stdio.ask("ping")["result"] == {}
    fixtures_stdio.send(cancelled(1))


def test_progress(fixtures_stdio):
    fixtures_stdio.send(tool_call("test_progress", {"steps": 5, "ms": 1}, token="my token"))
    assert "isError" not in fixtures_stdio.answer(1)["result"]
    *reports, answer = fixtures_stdio.messages()
    assert answer["id"] == 1
    assert [report["method"] for report in reports] == ["notifications/progress"] * 5
    assert [report["params"]["progress"] for report in reports] == [1, 2, 3, 4, 5]
    assert {report["params"]["progressToken"] for report in reports} == {"my token"}
    assert {report["params"]["total"] for report in reports} == {5}


def test_no_progress_without_a_token(fixtures_stdio):
    fixtures_stdio.send(tool_call("test_progress", {"steps": 5, "ms": 1}))
    fixtures_stdio.answer(1)
    assert len(fixtures_stdio.messages()) == 1


def test_cancellation(fixtures_stdio):
    fixtures_stdio.send(tool_call("test_sleep", {"ms": 60_000}, id="a"))
    fixtures_stdio.send(tool_call("test_sleep", {"ms": 200}, id="b"))
    fixtures_stdio.send(cancelled("a"))
    fixtures_stdio.wait_log(r"tool=test_sleep .*status=CANCELLED")
    assert "isError" not in fixtures_stdio.answer("b")["result"], "the other one goes on"
    assert [message["id"] for message in fixtures_stdio.messages()] == ["b"], "a cancelled call has no answer"


@pytest.mark.parametrize("id, other", [(1, "1"), ("1", 1), (1, 2), ("a", "A")])
def test_cancellation_goes_by_the_exact_id(fixtures_stdio, id, other):
    fixtures_stdio.send(tool_call("test_sleep", {"ms": 300}, id=id))
    fixtures_stdio.send(cancelled(other))
    assert "isError" not in fixtures_stdio.answer(id)["result"]


def test_cancelling_part_of_a_batch(fixtures_stdio):
    fixtures_stdio.handshake("2025-03-26")
    fixtures_stdio.send([tool_call("test_sleep", {"ms": 60_000}, id="a"), call("ping", id="b")])
    fixtures_stdio.send(cancelled("a"))
    answer = fixtures_stdio.wait_message(lambda message: isinstance(message, list))
    assert [part["id"] for part in answer] == ["b"]


def test_cancelled_call_does_not_cancel_its_successor(fixtures_stdio):
    """The id of a finished call may be used again."""
    fixtures_stdio.send(tool_call("test_sleep", {"ms": 60_000}))
    fixtures_stdio.send(cancelled(1))
    fixtures_stdio.wait_log(r"tool=test_sleep .*status=CANCELLED")
    fixtures_stdio.send(tool_call("test_sleep", {"ms": 1}))
    assert "isError" not in fixtures_stdio.answer(1)["result"]


def test_busy():
    """Beyond the number of workers the answer comes at once and says so."""
    with Stdio(CONFORMANCE, FORAGE_WORKERS=1) as client:
        client.send(tool_call("test_sleep", {"ms": 60_000}, id="first"))
        client.send(tool_call("test_sleep", {"ms": 60_000}, id="second"))
        error = client.answer("second")["error"]
        assert error["code"] == BUSY and "FORAGE_WORKERS" in error["message"]
        assert "result" in client.ask("tools/call", {"name": "test_echo", "arguments": {"text": "quick"}})
        client.send(cancelled("first"))
        client.wait_log(r"tool=test_sleep .*status=CANCELLED")

        def place_is_free():
            answer = client.ask("tools/call", {"name": "test_sleep", "arguments": {"ms": 0}})
            return "result" in answer

        wait_until(place_is_free)


def test_large_answer(fixtures_stdio):
    result = fixtures_stdio.ask("tools/call", {"name": "test_big", "arguments": {"chars": 3_000_000}})[
        "result"
    ]
    assert result["content"][0]["text"] == "x" * 3_000_000


def test_answer_that_is_too_large(fixtures_stdio):
    """It says so, to whoever asked."""
    answer = fixtures_stdio.ask("tools/call", {"name": "test_big", "arguments": {"chars": 16_000_000}})
    assert answer["error"]["code"] == INTERNAL


# ---- subscriptions ----


def listen(client, id, **wishes):
    client.send(modern("subscriptions/listen", {"notifications": wishes}, id=id))
    return client.wait_message(
        lambda message: message.get("method") == "notifications/subscriptions/acknowledged"
        and message["params"]["_meta"][SUBSCRIPTION] == id
    )


def test_listening(fixtures_stdio):
    first = listen(fixtures_stdio, "first", toolsListChanged=True)
    assert first["params"]["notifications"] == {"toolsListChanged": True}
    second = listen(fixtures_stdio, "second", promptsListChanged=True, nothingSuch=True)
    assert second["params"]["notifications"] == {"promptsListChanged": True}
    fixtures_stdio.ask("tools/call", {"name": "test_trigger_tool_change"})
    fixtures_stdio.ask("tools/call", {"name": "test_trigger_prompt_change"})
    changes = [
        (message["method"], message["params"]["_meta"][SUBSCRIPTION])
        for message in fixtures_stdio.messages()
        if message.get("method", "").endswith("list_changed")
    ]
    assert changes == [
        ("notifications/tools/list_changed", "first"),
        ("notifications/prompts/list_changed", "second"),
    ]
    fixtures_stdio.close()
    ends = [message for message in fixtures_stdio.messages() if message.get("id") in ("first", "second")]
    assert len(ends) == 2, "a server that leaves ends its subscriptions"
    for end in ends:
        check_modern(end["result"])
        assert end["result"]["_meta"][SUBSCRIPTION] == end["id"]


def test_listening_can_be_cancelled(fixtures_stdio):
    """Many times: a place that was left is free for the next."""
    for i in range(300):
        listen(fixtures_stdio, i, toolsListChanged=True)
        fixtures_stdio.send(cancelled(i))
    fixtures_stdio.ask("tools/call", {"name": "test_trigger_tool_change"})
    assert not any(
        message.get("method", "").endswith("list_changed") for message in fixtures_stdio.messages()
    )


def test_listening_belongs_to_the_modern_era(fixtures_stdio):
    error = fixtures_stdio.ask("subscriptions/listen", {"notifications": {}})["error"]
    assert error["code"] == METHOD_NOT_FOUND
    error = fixtures_stdio.ask("subscriptions/listen", {"_meta": meta()})["error"]
    assert error["code"] == INVALID_PARAMS


# ---- questions to the client ----


def test_question_to_a_legacy_client(fixtures_stdio):
    fixtures_stdio.handshake("2025-11-25", sampling={})
    fixtures_stdio.send(tool_call("test_sampling", {"prompt": "hello"}))
    question = fixtures_stdio.wait_message(lambda message: message.get("method") == "sampling/createMessage")
    fixtures_stdio.send(
        {
            "jsonrpc": "2.0",
            "id": question["id"],
            "result": {
                "role": "assistant",
                "model": "m",
                "content": {"type": "text", "text": "good morning"},
            },
        }
    )
    assert "good morning" in fixtures_stdio.answer(1)["result"]["content"][0]["text"]


def test_question_that_the_client_refuses(fixtures_stdio):
    fixtures_stdio.handshake("2025-11-25", sampling={})
    fixtures_stdio.send(tool_call("test_sampling", {"prompt": "hello"}))
    question = fixtures_stdio.wait_message(lambda message: message.get("method") == "sampling/createMessage")
    fixtures_stdio.send({"jsonrpc": "2.0", "id": question["id"], "error": {"code": -1, "message": "no"}})
    assert fixtures_stdio.answer(1)


def test_question_that_the_client_cannot_answer(fixtures_stdio):
    fixtures_stdio.handshake("2025-11-25")
    fixtures_stdio.send(tool_call("test_sampling", {"prompt": "hello"}))
    assert "sampling" in fixtures_stdio.answer(1)["error"]["message"]


def test_cancelling_while_a_question_is_open(fixtures_stdio):
    fixtures_stdio.handshake("2025-11-25", sampling={})
    fixtures_stdio.send(tool_call("test_sampling", {"prompt": "hello"}))
    fixtures_stdio.wait_message(lambda message: message.get("method") == "sampling/createMessage")
    fixtures_stdio.send(cancelled(1))
    fixtures_stdio.wait_log(r"tool=test_sampling .*status=CANCELLED")


def test_question_to_a_modern_client(fixtures_stdio):
    """The call ends with what it needs to know; the client calls again with the answers."""
    params = {"name": "test_input_required_result_elicitation", "arguments": {}}
    able = {VERSION: MODERN, CAPABILITIES: {"elicitation": {}}}
    result = fixtures_stdio.ask("tools/call", {**params, "_meta": able})["result"]
    assert result["resultType"] == "input_required"
    ((key, question),) = result["inputRequests"].items()
    assert question["method"] == "elicitation/create"
    responses = {key: {"action": "accept", "content": {"name": "Ada"}}}
    result = fixtures_stdio.ask("tools/call", {**params, "inputResponses": responses, "_meta": able})[
        "result"
    ]
    assert result["resultType"] == "complete" and "Ada" in result["content"][0]["text"]


# ---- logs ----


def test_log_carries_the_request_id(stdio):
    answer = stdio.ask("tools/call", {"name": "forage_status", "arguments": {"tool": 5}})
    request_id = answer["result"]["structuredContent"]["error"]["request_id"]
    stdio.wait_log(rf"req={request_id} tool=forage_status caller=local status=VALIDATION ms=")


def test_protocol_errors_carry_a_request_id(stdio):
    first, second = stdio.ask("no/such")["error"]["data"], stdio.ask("no/such")["error"]["data"]
    assert first["requestId"] and first["requestId"] != second["requestId"]
