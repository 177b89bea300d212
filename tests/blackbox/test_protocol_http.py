"""MCP over Streamable HTTP, both eras, as JSON and as a stream of events."""

import json
import re
import time

import pytest
from conftest import ALICE, BOB, start_early
from http_client import Connection, exchange, request, running_calls
from messages import (
    BUSY,
    INTERNAL,
    LEGACY,
    MODERN,
    SERVER_INFO,
    SUBSCRIPTION,
    UNSUPPORTED_VERSION,
    call,
    cancelled,
    initialize,
    modern,
    modern_headers,
    tool_call,
)
from programs import CONFORMANCE, Server, wait_until

JSON_ONLY = {"Accept": "application/json"}
EVENTS_ONLY = {"Accept": "text/event-stream"}


def post(server, message, headers=None):
    """Sends a message on a connection of its own; the answer."""
    return exchange(server.port, request(headers=headers, body=message))


def post_modern(server, message, headers=None):
    return post(server, message, {**modern_headers(message), **(headers or {})})


# ---- handshakes ----


@pytest.mark.parametrize("version", [*LEGACY, "1999-01-01"])
def test_handshake(server, version):
    response = post(server, initialize(version))
    assert response.status == 200 and response.header("Content-Type") == "application/json"
    result = response.json()["result"]
    assert result["protocolVersion"] == (version if version in LEGACY else LEGACY[0])
    assert "resultType" not in result
    label = response.header("Mcp-Session-Id")
    assert label
    headers = {"Mcp-Session-Id": label, "MCP-Protocol-Version": result["protocolVersion"]}
    assert post(server, call("notifications/initialized", id=None), headers).status == 202
    assert post(server, call("ping"), headers).json()["result"] == {}
    assert post(server, call("tools/list"), headers).json()["result"]["tools"]


def test_labels_differ(server):
    labels = {post(server, initialize()).header("Mcp-Session-Id") for _ in range(20)}
    assert len(labels) == 20 and all(re.fullmatch(r"[\x21-\x7e]{16,128}", label) for label in labels)


def test_label_is_given_once(server):
    assert post(server, call("ping")).header("Mcp-Session-Id") is None


def test_legacy_needs_no_handshake(server):
    """No header means 2025-03-26; nothing has to be remembered."""
    result = post(server, tool_call("forage_status")).json()["result"]
    assert result["structuredContent"] == json.loads(result["content"][0]["text"])
    assert "resultType" not in result


def test_discover(server):
    result = post_modern(server, modern("server/discover")).json()["result"]
    assert result["supportedVersions"] == [MODERN] and result["resultType"] == "complete"
    assert result["_meta"][SERVER_INFO]["name"] == "forage"
    assert result["ttlMs"] > 0 and result["cacheScope"]


def test_unknown_version(server):
    """Told in both eras, with what is known."""
    headers = {"MCP-Protocol-Version": "2099-01-01"}
    error = post(server, call("ping"), headers).json()["error"]
    assert error["code"] == UNSUPPORTED_VERSION
    assert error["data"]["requested"] == "2099-01-01" and set(error["data"]["supported"]) == {MODERN, *LEGACY}


MODERN_CALLS = [
    modern("tools/list"),
    modern("tools/call", {"name": "forage_status", "arguments": {}}),
    modern("resources/list"),
    modern("resources/templates/list"),
    modern("resources/read", {"uri": "forage://guide"}),
    modern("prompts/list"),
    modern("prompts/get", {"name": "check_claim", "arguments": {"claim": "the sea is dry"}}),
    modern(
        "completion/complete",
        {"ref": {"type": "ref/prompt", "name": "research_topic"}, "argument": {"name": "depth", "value": ""}},
    ),
]


@pytest.mark.parametrize("message", MODERN_CALLS, ids=lambda message: message["method"])
def test_modern(server, message):
    response = post_modern(server, message)
    assert response.status == 200
    result = response.json()["result"]
    assert result["resultType"] == "complete" and result["_meta"][SERVER_INFO]["version"]
    cacheable = message["method"].endswith("/list") or message["method"] == "resources/read"
    assert ("ttlMs" in result) == cacheable


@pytest.mark.parametrize("message", MODERN_CALLS, ids=lambda message: message["method"])
def test_legacy(server, message):
    params = {key: value for key, value in message["params"].items() if key != "_meta"}
    for version in LEGACY:
        response = post(server, call(message["method"], params), {"MCP-Protocol-Version": version})
        assert response.status == 200
        assert not {"resultType", "ttlMs"} & response.json()["result"].keys()


def test_mirrored_parameters(fixtures):
    """Parameters that a tool wants in headers must be there, and be the same."""

    def status(arguments, **headers):
        message = modern("tools/call", {"name": "test_custom_header", "arguments": arguments})
        headers = {f"Mcp-Param-{name}": value for name, value in headers.items()}
        return post_modern(fixtures, message, headers).status

    assert status({"region": "eu", "query": "x"}, Region="eu") == 200
    assert status({"region": "eu", "priority": 5}, Region="eu", Priority="5") == 200
    assert status({"region": "grün"}, Region="=?base64?Z3LDvG4=?=") == 200
    assert status({"region": "eu"}) == 400
    assert status({"region": "eu"}, Region="us") == 400
    assert status({"region": "eu"}, Region=["eu", "us"]) == 400
    assert status({"region": "eu"}, Region="eu", Priority="5") == 400
    assert status({"region": "eu", "priority": 5}, Region="eu", Priority="6") == 400


# ---- JSON or events ----


def test_quick_answers_are_json(server):
    response = post(server, tool_call("forage_status"))
    assert response.header("Content-Type") == "application/json" and response.header("Content-Length")


def test_who_wants_only_events_gets_them(server):
    with Connection(server.port) as connection:
        connection.send(request(headers=EVENTS_ONLY, body=tool_call("forage_status")))
        response = connection.head()
        assert response.header("Content-Type") == "text/event-stream"
        ((kind, message),) = connection.events(response)
        assert kind == "data" and message["id"] == 1
        assert connection.exchange(request("GET", "/health")).status == 200, "the connection goes on"


def test_progress_opens_a_stream(fixtures):
    with Connection(fixtures.port) as connection:
        connection.send(request(body=tool_call("test_progress", {"steps": 3, "ms": 1}, token=7)))
        response = connection.head()
        assert response.status == 200 and response.header("Content-Type") == "text/event-stream"
        assert response.header("X-Accel-Buffering") == "no" and response.header("Cache-Control")
        *reports, answer = [message for _, message in connection.events(response)]
    assert [report["params"]["progress"] for report in reports] == [1, 2, 3]
    assert {report["params"]["progressToken"] for report in reports} == {7}
    assert answer["id"] == 1 and "isError" not in answer["result"]


def test_events_come_while_the_call_runs(fixtures):
    with Connection(fixtures.port) as connection:
        connection.send(request(body=tool_call("test_progress", {"steps": 1000, "ms": 20}, token=7)))
        events = connection.events(connection.head())
        for expected in range(1, 4):
            _, report = next(events)
            assert report["params"]["progress"] == expected
        assert running_calls(fixtures, "test_progress") >= 1


def test_no_stream_without_a_token(fixtures):
    response = post(fixtures, tool_call("test_progress", {"steps": 3, "ms": 1}))
    assert response.header("Content-Type") == "application/json"


def test_who_takes_no_events_hears_only_the_answer(fixtures):
    response = post(fixtures, tool_call("test_progress", {"steps": 3, "ms": 1}, token=7), JSON_ONLY)
    assert response.header("Content-Type") == "application/json"
    assert response.json()["id"] == 1


def test_long_call_opens_a_stream(fixtures):
    """After five seconds the client sees a sign of life; a client that takes no events waits."""
    with Connection(fixtures.port) as patient, Connection(fixtures.port) as connection:
        patient.send(request(headers=JSON_ONLY, body=tool_call("test_sleep", {"ms": 6000}, id="patient")))
        connection.send(request(body=tool_call("test_sleep", {"ms": 6000})))
        response = connection.head()
        assert response.header("Content-Type") == "text/event-stream"
        first, second = connection.events(response)
        assert first[0] == "comment" and second[0] == "data" and second[1]["id"] == 1
        answer = patient.response()
        assert answer.header("Content-Type") == "application/json" and answer.json()["id"] == "patient"


def test_stream_for_http_1_0(fixtures):
    """No chunks there: the stream ends with the connection."""
    with Connection(fixtures.port) as connection:
        message = tool_call("test_progress", {"steps": 3, "ms": 1}, token=7)
        connection.send(request(body=message, version="HTTP/1.0"))
        response = connection.head()
        assert response.header("Transfer-Encoding") is None
        assert len(list(connection.events(response))) == 4


def test_large_answer(fixtures):
    for headers in (JSON_ONLY, EVENTS_ONLY):
        with Connection(fixtures.port) as connection:
            connection.send(request(headers=headers, body=tool_call("test_big", {"chars": 3_000_000})))
            response = connection.head()
            if headers is EVENTS_ONLY:
                ((_, message),) = connection.events(response)
            else:
                message = json.loads(b"".join(connection.pieces(response)))
            assert message["result"]["content"][0]["text"] == "x" * 3_000_000


def test_answer_larger_than_a_client_may_lag_behind(fixtures):
    """Progress may be dropped for a client that does not keep up, the answer never."""
    with Connection(fixtures.port) as connection:
        connection.send(request(headers=EVENTS_ONLY, body=tool_call("test_big", {"chars": 9_000_000})))
        ((_, message),) = connection.events(connection.head())
        assert len(message["result"]["content"][0]["text"]) == 9_000_000


def test_answer_comes_behind_dropped_progress(fixtures):
    with Connection(fixtures.port, receive_bytes=65536) as connection:
        connection.send(request(body=tool_call("test_progress", {"steps": 100_000, "ms": 0}, token=1)))
        response = connection.head()
        wait_until(lambda: running_calls(fixtures, "test_progress") == 0)
        *reports, (_, answer) = connection.events(response)
        assert len(reports) < 100_000 and answer["id"] == 1


def test_answer_that_is_too_large(fixtures):
    response = post(fixtures, tool_call("test_big", {"chars": 16_000_000}, id="large"))
    assert response.status == 500
    assert response.json()["id"] == "large" and response.json()["error"]["code"] == INTERNAL


def test_batch_with_slow_calls(fixtures):
    messages = [tool_call("test_sleep", {"ms": 5}, id="slow"), call("ping", id="quick")]
    response = post(fixtures, messages)
    assert [part["id"] for part in response.json()] == ["slow", "quick"]


# ---- cancellation ----


def label_of(server, headers=None):
    return post(server, initialize(), headers).header("Mcp-Session-Id")


def start_sleeping(server, headers=None):
    connection = Connection(server.port)
    before = running_calls(server, "test_sleep")
    connection.send(request(headers=headers, body=tool_call("test_sleep", {"ms": 60_000}, id="call")))
    wait_until(lambda: running_calls(server, "test_sleep") == before + 1)
    return connection


def test_closing_the_connection_cancels(fixtures):
    connection = start_sleeping(fixtures)
    connection.close()
    wait_until(lambda: running_calls(fixtures, "test_sleep") == 0)


def test_closing_the_stream_cancels(fixtures):
    connection = Connection(fixtures.port)
    connection.send(request(body=tool_call("test_progress", {"steps": 1000, "ms": 50}, token=1)))
    next(connection.events(connection.head()))
    connection.close()
    wait_until(lambda: running_calls(fixtures, "test_progress") == 0)


def test_cancellation_by_notification(fixtures):
    label = {"Mcp-Session-Id": label_of(fixtures)}
    with start_sleeping(fixtures, label) as connection:
        assert post(fixtures, cancelled("call"), label).status == 202
        response = connection.response()
        assert response.status == 202 and response.body == b"", "a cancelled call has no answer"
        assert connection.exchange(request("GET", "/health")).status == 200, "the connection goes on"


def test_no_cancellation_across_clients(fixtures):
    """The same id, but another label or none: not the same call."""
    label = {"Mcp-Session-Id": label_of(fixtures)}
    other = {"Mcp-Session-Id": label_of(fixtures)}
    with start_sleeping(fixtures, label), start_sleeping(fixtures):
        for headers in (other, {}, {"Mcp-Session-Id": "local"}):
            assert post(fixtures, cancelled("call"), headers).status == 202
        assert running_calls(fixtures, "test_sleep") == 2
    wait_until(lambda: running_calls(fixtures, "test_sleep") == 0)


def test_no_cancellation_across_callers():
    """Not even by somebody who learned the label."""
    with Server(CONFORMANCE, FORAGE_TOKENS=f"alice:{ALICE},bob:{BOB}") as server:
        alice = {"Authorization": f"Bearer {ALICE}"}
        bob = {"Authorization": f"Bearer {BOB}"}
        label = label_of(server, alice)
        with Connection(server.port) as connection:
            message = tool_call("test_sleep", {"ms": 1000}, id="call")
            connection.send(request(headers={**alice, "Mcp-Session-Id": label}, body=message))
            response = post(server, cancelled("call"), {**bob, "Mcp-Session-Id": label})
            assert response.status == 202
            assert "isError" not in connection.response().json()["result"]


# ---- subscriptions ----


def test_listening(fixtures):
    message = modern("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, id="listener")
    with Connection(fixtures.port) as connection:
        connection.send(request(headers=modern_headers(message), body=message))
        response = connection.head()
        assert response.header("Content-Type") == "text/event-stream"
        events = connection.events(response)
        _, acknowledged = next(events)
        assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
        assert post(fixtures, tool_call("test_trigger_prompt_change")).status == 200
        assert post(fixtures, tool_call("test_trigger_tool_change")).status == 200
        _, change = next(events)
        assert change["method"] == "notifications/tools/list_changed", "and nothing of the prompts"
        assert change["params"]["_meta"][SUBSCRIPTION] == "listener"


def test_leaving_ends_a_subscription(fixtures):
    """Many times: a place that was left is free for the next."""
    message = modern("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, id="listener")
    for _ in range(300):
        with Connection(fixtures.port) as connection:
            connection.send(request(headers=modern_headers(message), body=message))
            assert connection.head().header("Content-Type") == "text/event-stream"


def test_shutdown_ends_a_subscription():
    message = modern("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, id="listener")
    with Server(CONFORMANCE) as server:
        with Connection(server.port) as connection:
            connection.send(request(headers=modern_headers(message), body=message))
            events = connection.events(connection.head())
            next(events)
            server.end()
            _, end = next(events)
            assert end["id"] == "listener" and end["result"]["_meta"][SUBSCRIPTION] == "listener"
            assert list(events) == [], "and the stream is complete"


# ---- busy ----


def test_busy():
    with Server(CONFORMANCE, FORAGE_WORKERS=1) as server, start_sleeping(server):
        response = post(server, tool_call("test_sleep", {"ms": 0}))
        assert response.status == 503 and response.header("Retry-After") == "1"
        assert response.json()["error"]["code"] == BUSY
        assert "FORAGE_WORKERS" in response.json()["error"]["message"]
        assert post(server, tool_call("test_echo", {"text": "quick"})).status == 200


# ---- request ids ----


def test_request_id_everywhere(server):
    response = post(server, tool_call("forage_status", {"tool": 5}))
    request_id = response.header("X-Request-Id")
    assert response.json()["result"]["structuredContent"]["error"]["request_id"] == request_id
    server.wait_log(rf"req={request_id} tool=forage_status caller=local status=VALIDATION")
    response = post(server, call("no/such"))
    assert response.json()["error"]["data"]["requestId"] == response.header("X-Request-Id") != request_id


def test_request_id_is_ours(server):
    """A client cannot choose what our log says."""
    response = exchange(server.port, request("GET", "/health", {"X-Request-Id": "mine"}))
    assert response.header("X-Request-Id") not in (None, "mine")


def test_caller_in_the_log(guarded):
    headers = {"Authorization": f"Bearer {BOB}"}
    response = exchange(guarded.port, request(headers=headers, body=tool_call("forage_status", {"tool": 5})))
    guarded.wait_log(rf"req={response.header('X-Request-Id')} tool=forage_status caller=bob ")


# ---- questions to the client ----


def test_question_to_a_legacy_client(fixtures):
    """It comes as an event; the answer is another POST."""
    with Connection(fixtures.port) as connection:
        connection.send(request(body=tool_call("test_sampling", {"prompt": "hello"})))
        events = connection.events(connection.head())
        _, question = next(events)
        assert question["method"] == "sampling/createMessage"
        result = {"role": "assistant", "model": "m", "content": {"type": "text", "text": "good morning"}}
        assert post(fixtures, {"jsonrpc": "2.0", "id": question["id"], "result": result}).status == 202
        _, answer = next(events)
        assert "good morning" in answer["result"]["content"][0]["text"]


# ---- a sign of life ----


@pytest.fixture(scope="module")
def quiet_call():
    """A call that says nothing for a while, started when this file begins."""
    with Server(CONFORMANCE) as server, Connection(server.port) as connection:
        connection.send(request(body=tool_call("test_sleep", {"ms": 21_000})))
        yield connection, time.monotonic()


@pytest.fixture(scope="module", autouse=True)
def quiet_call_starts_early(request):
    start_early(request, "quiet_call")


def test_comments_keep_a_quiet_stream_alive(quiet_call):
    connection, _ = quiet_call
    *comments, answer = connection.events(connection.head())
    assert [kind for kind, _ in comments] == ["comment", "comment"], "after 5 seconds, and 15 later"
    assert answer[1]["id"] == 1
