"""REST: the same tools, with the same bodies, for clients that do not speak MCP."""

import json
import re

import pytest
from conftest import ALICE, BOB
from http_client import Connection, exchange, request, running_calls
from messages import call, tool_call
from programs import CONFORMANCE, Server, wait_until

ORIGIN = "http://127.0.0.1"  # its own, as the client of the tests calls it


def get(server, path, **headers):
    return exchange(server.port, request("GET", path, headers))


def post(server, tool, body, headers=None):
    return exchange(server.port, request("POST", f"/api/v1/tools/{tool}", headers, body))


def over_mcp(server, tool, arguments, headers=None):
    return exchange(server.port, request(headers=headers, body=tool_call(tool, arguments))).json()["result"]


def check_failure(response, status, code):
    assert response.status == status, response
    assert response.header("Content-Type") == "application/json"
    body = response.json()
    assert body["success"] is False and body["error"]["code"] == code and body["error"]["message"]
    assert body["error"]["request_id"] == response.header("X-Request-Id")
    return body["error"]


# ---- tools ----


# Fields of results that lists of tools leave out.
EVIDENCE = {"citations", "conflicts", "conflicts_left_out", "disputed", "evidence", "evidence_left_out", "open_questions"}
JOB = {"doing", "id", "job", "rounds", "status", "understood_as", "untrusted", "warning"}
UNLISTED = {
    "search": EVIDENCE | JOB | {"verified"},
    "deep_search": EVIDENCE | JOB | {"parse_warning", "raw_output"},
    "research_result": (JOB - {"job", "understood_as"}) | {"citations", "evidence", "metadata", "result", "verified"},
    "search_web": {"understood_as"},
    "get_content": {"age_s", "encoding", "encoding_guessed", "same_as"},
    "web_search": {"attribution", "cached", "read_on"},
    "forage_status": {"meaning", "warnings"},
}


def test_tool_list(server):
    tools = get(server, "/api/v1/tools").json()["tools"]
    (status,) = [tool for tool in tools if tool["name"] == "forage_status"]
    assert status["group"] == "server" and status["ready"] is True
    whole = {tool["name"]: tool for tool in tools}
    listed = exchange(server.port, request(body=call("tools/list"))).json()["result"]["tools"]
    assert whole.keys() - {tool["name"] for tool in listed} == {"memory_list", "memory_overview", "memory_rename", "memory_stats"}
    for tool in listed:
        same = whole[tool["name"]]
        assert (tool["title"], tool["annotations"]) == (same["title"], same["annotations"])
        assert tool["inputSchema"].get("required") == same["inputSchema"].get("required")
        assert tool["inputSchema"]["properties"].keys() <= same["inputSchema"]["properties"].keys()
        unlisted = same["outputSchema"]["properties"].keys() - tool["outputSchema"]["properties"].keys()
        assert unlisted == UNLISTED.get(tool["name"], set())
        assert tool["outputSchema"].get("additionalProperties", True)  # what lists leave out may come all the same


def test_tool_call(server):
    response = post(server, "forage_status", {})
    assert response.status == 200 and response.header("Content-Type") == "application/json"
    assert response.json()["success"] is True and response.json()["name"] == "forage"


@pytest.mark.parametrize("body", [b"", b"{}", b" {} ", b'{"tool":"forage_status"}'])
def test_bodies(server, body):
    assert post(server, "forage_status", body).status == 200


@pytest.mark.parametrize(
    "text", ["plain", "", 'quotes " and \\', "µ€😀", "a\nb\tc", "</script>", "x" * 100_000]
)
def test_body_is_the_structured_result(fixtures, text):
    """Byte for byte what MCP has as text."""
    response = post(fixtures, "test_echo", {"text": text})
    result = over_mcp(fixtures, "test_echo", {"text": text})
    assert response.json() == result["structuredContent"] == {"text": text}
    assert response.body.decode() == result["content"][0]["text"]


def test_result_without_structure(fixtures):
    assert (
        post(fixtures, "test_simple_text", {}).json()["content"]
        == over_mcp(fixtures, "test_simple_text", {})["content"]
    )


def test_slow_tool(fixtures):
    assert post(fixtures, "test_sleep", {"ms": 20}).status == 200


def test_closing_the_connection_cancels(fixtures):
    connection = Connection(fixtures.port)
    connection.send(request("POST", "/api/v1/tools/test_sleep", body={"ms": 60_000}))
    wait_until(lambda: running_calls(fixtures, "test_sleep") == 1)
    connection.close()
    wait_until(lambda: running_calls(fixtures, "test_sleep") == 0)


# ---- failures: each status ----

BAD_BODIES = [
    ("not JSON", b"hello", "JSON object"),
    ("a list", b"[]", "JSON object"),
    ("a string", b'"x"', "JSON object"),
    ("null", b"null", "JSON object"),
    ("cut off", b'{"tool":', "JSON object"),
    ("a repeated key", b'{"tool":"a","tool":"b"}', "tool"),
    ("a NUL", b'{"tool":"a\\u0000b"}', "NUL"),
    ("invalid UTF-8", b'{"tool":"\xff"}', "JSON object"),
    ("too deep", b'{"tool":' + b"[" * 100 + b"]" * 100 + b"}", "deep"),
    ("a wrong type", b'{"tool":5}', "tool"),
    ("too long", json.dumps({"tool": "x" * 65}).encode(), "tool"),
    ("unknown", b'{"tols":"x"}', "tols"),
    ("no such tool", b'{"tool":"nothing"}', "nothing"),
]


@pytest.mark.parametrize("body, naming", [pytest.param(*row, id=name) for name, *row in BAD_BODIES])
def test_400(server, body, naming):
    assert naming in check_failure(post(server, "forage_status", body), 400, "VALIDATION")["message"]


def test_failure_is_the_same_over_mcp(server):
    body = post(server, "forage_status", {"tool": 5}).json()
    result = over_mcp(server, "forage_status", {"tool": 5})
    assert result["isError"] is True
    body["error"].pop("request_id")
    result["structuredContent"]["error"].pop("request_id")
    assert body == result["structuredContent"]


def test_401(guarded):
    response = post(guarded, "forage_status", {})
    check_failure(response, 401, "UNAUTHORIZED")
    assert response.header("WWW-Authenticate") == 'Bearer realm="forage"'
    response = post(guarded, "forage_status", {}, {"Authorization": "Bearer wrong-token"})
    check_failure(response, 401, "UNAUTHORIZED")
    assert 'error="invalid_token"' in response.header("WWW-Authenticate")
    assert post(guarded, "forage_status", {}, {"Authorization": f"Bearer {ALICE}"}).status == 200


def test_403(server):
    check_failure(post(server, "forage_status", {}, {"Host": "evil.example"}), 403, "FORBIDDEN")
    check_failure(post(server, "forage_status", {}, {"Origin": "https://evil.example"}), 403, "FORBIDDEN")


@pytest.mark.parametrize(
    "name", ["no_such_tool", "Forage_Status", "forage_status/", "forage_status%00", "%66"]
)
def test_404(server, name):
    check_failure(post(server, name, {}), 404, "NOT_FOUND")


@pytest.mark.parametrize(
    "method, path, allowed",
    [
        ("GET", "/api/v1/tools/forage_status", "POST"),
        ("POST", "/api/v1/tools", "GET"),
        ("DELETE", "/api/v1/tools", "GET"),
        ("PUT", "/api/v1/openapi.json", "GET"),
        ("POST", "/metrics", "GET"),
    ],
)
def test_405(server, method, path, allowed):
    response = exchange(server.port, request(method, path))
    check_failure(response, 405, "VALIDATION")
    assert response.header("Allow") == allowed


def test_413(server):
    with Connection(server.port) as connection:
        connection.send(
            request("POST", "/api/v1/tools/forage_status", {"Content-Length": str(5 * 1024 * 1024)})
        )
        check_failure(connection.response(), 413, "TOO_LARGE")


def test_nothing_needs_no_type(server):
    """What `curl -X POST` sends."""
    assert post(server, "forage_status", b"", {"Content-Type": None}).status == 200


@pytest.mark.parametrize("kind", ["text/plain", "multipart/form-data", ""])
def test_415(server, kind):
    check_failure(post(server, "forage_status", {}, {"Content-Type": kind}), 415, "VALIDATION")


def test_429():
    """Each caller has its own limit, the same over MCP and REST."""
    with Server(FORAGE_TOKENS=f"alice:{ALICE},bob:{BOB}", FORAGE_CALLS_PER_MINUTE=3) as server:
        alice = {"Authorization": f"Bearer {ALICE}"}
        bob = {"Authorization": f"Bearer {BOB}"}
        for _ in range(2):
            assert post(server, "forage_status", {}, alice).status == 200
        assert "isError" not in over_mcp(server, "forage_status", {}, alice)
        response = post(server, "forage_status", {}, alice)
        error = check_failure(response, 429, "RATE_LIMIT")
        assert 1 <= int(response.header("Retry-After")) <= 60
        assert error["retry_after_s"] == int(response.header("Retry-After"))
        assert "FORAGE_CALLS_PER_MINUTE" in error["message"]
        result = over_mcp(server, "forage_status", {}, alice)
        assert result["isError"] is True and result["structuredContent"]["error"]["code"] == "RATE_LIMIT"
        assert post(server, "forage_status", {}, bob).status == 200


def test_502(fixtures):
    """Nobody listens on the port that we have just given up."""
    with Server() as gone:
        port = gone.port
    check_failure(post(fixtures, "test_fetch", {"url": f"http://127.0.0.1:{port}/"}), 502, "PROVIDER")


def test_503():
    with Server(CONFORMANCE, FORAGE_WORKERS=1) as server, Connection(server.port) as connection:
        connection.send(request("POST", "/api/v1/tools/test_sleep", body={"ms": 60_000}))
        wait_until(lambda: running_calls(server, "test_sleep") == 1)
        response = post(server, "test_sleep", {"ms": 0})
        assert "FORAGE_WORKERS" in check_failure(response, 503, "BUSY")["message"]
        assert response.header("Retry-After") == "1"
        assert post(server, "test_echo", {"text": "quick"}).status == 200


def test_question_has_no_way_over_rest(fixtures):
    check_failure(post(fixtures, "test_elicitation", {"message": "who?"}), 400, "VALIDATION")


# ---- health and metrics ----


def test_health(server, guarded):
    """Open to all, tokens or not."""
    for one in (server, guarded):
        body = get(one, "/health").json()
        assert body["status"] == "ok" and body["name"] == "forage" and body["uptime_s"] > 0
        assert re.fullmatch(r"\d+\.\d+\.\d+.*", body["version"])


SAMPLE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(?:[a-z]\w*="(?:[^"\\\n]|\\.)*",?)*\})? (\S+)')


def read_metrics(text):
    """Prometheus' text format, strictly: a type before its samples, nothing twice."""
    types, helps, samples = {}, {}, {}
    assert text.endswith("\n")
    for line in text.splitlines():
        if line.startswith("# HELP "):
            name, helps_text = line[7:].split(" ", 1)
            assert helps_text and name not in helps
            helps[name] = helps_text
        elif line.startswith("# TYPE "):
            name, kind = line[7:].split(" ")
            assert name not in types and kind in ("counter", "gauge")
            types[name] = kind
        else:
            name, labels, value = SAMPLE.fullmatch(line).groups()
            assert name in types and name in helps
            assert (types[name] == "counter") == name.endswith("_total")
            assert (name, labels) not in samples
            samples[name, labels] = float(value)
    return samples


def test_metrics(server):
    labels = '{tool="forage_status"}'
    response = get(server, "/metrics")
    assert response.header("Content-Type").startswith("text/plain; version=0.0.4")
    before = read_metrics(response.body.decode())
    post(server, "forage_status", {})
    post(server, "forage_status", {"tool": 5})
    after = read_metrics(get(server, "/metrics").body.decode())
    assert after["forage_tool_calls_total", labels] == before["forage_tool_calls_total", labels] + 2
    assert after["forage_tool_failures_total", labels] == before["forage_tool_failures_total", labels] + 1
    assert after["forage_tool_running", labels] == 0
    assert after["forage_http_connections", None] >= 1
    assert after["forage_stock_limit", '{stock="workers"}'] == 128
    assert after["process_resident_memory_bytes", None] > 1_000_000
    assert after["process_cpu_seconds_total", None] >= before["process_cpu_seconds_total", None]


# ---- browsers ----


@pytest.mark.parametrize(
    "path, methods", [("/mcp", "POST"), ("/api/v1/tools/forage_status", "POST"), ("/health", "GET")]
)
def test_preflight(guarded, path, methods):
    """A browser asks without a token."""
    headers = {"Origin": ORIGIN, "Access-Control-Request-Method": methods}
    response = exchange(guarded.port, request("OPTIONS", path, headers))
    assert response.status == 204 and response.body == b""
    assert response.header("Access-Control-Allow-Origin") == ORIGIN
    assert response.header("Access-Control-Allow-Methods") == methods
    allowed = response.header("Access-Control-Allow-Headers").lower().split(", ")
    assert {"authorization", "content-type", "mcp-session-id", "mcp-protocol-version", "mcp-method"} <= set(
        allowed
    )
    assert response.header("Vary") == "Origin"


def test_preflight_for_nothing(server):
    assert exchange(server.port, request("OPTIONS", "/nothing", {"Origin": ORIGIN})).status == 404


def test_answers_say_who_may_read_them(server):
    for response in (get(server, "/health", Origin=ORIGIN), get(server, "/nothing", Origin=ORIGIN)):
        assert response.header("Access-Control-Allow-Origin") == ORIGIN
        assert "X-Request-Id" in response.header("Access-Control-Expose-Headers")
        assert response.header("Vary") == "Origin"
    assert get(server, "/health").header("Access-Control-Allow-Origin") is None


def test_a_page_that_is_refused_reads_nothing(server):
    for response in (
        get(server, "/health", Origin="https://evil.example"),
        get(server, "/health", Host="evil.example", Origin=ORIGIN),
    ):
        assert response.status == 403 and response.header("Access-Control-Allow-Origin") is None


def test_a_page_reads_why_it_was_refused(guarded):
    response = get(guarded, "/metrics", Origin=ORIGIN)
    assert response.status == 401 and response.header("Access-Control-Allow-Origin") == ORIGIN


def test_listed_origins():
    with Server(FORAGE_ALLOWED_ORIGINS="https://app.example, https://other.example:8443") as server:
        for origin in ("https://app.example", "https://other.example:8443", ORIGIN):
            assert get(server, "/health", Origin=origin).header("Access-Control-Allow-Origin") == origin
        for origin in ("https://app.example:444", "http://app.example", "https://other.example", "null"):
            assert get(server, "/health", Origin=origin).status == 403


def test_listed_hosts():
    with Server(FORAGE_ALLOWED_HOSTS="forage.example, other.example") as server:
        for host in ("forage.example", "Forage.Example:8443", "other.example", "localhost"):
            assert get(server, "/health", Host=host).status == 200
        for host in ("forage.example.evil", "sub.forage.example", "example"):
            assert get(server, "/health", Host=host).status == 403


def test_answers_are_not_sniffed_or_kept(server):
    response = post(server, "forage_status", {})
    assert response.header("X-Content-Type-Options") == "nosniff"
    assert response.header("Cache-Control") == "no-store"
