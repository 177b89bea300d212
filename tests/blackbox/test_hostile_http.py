"""Hostile input over HTTP. Each row of the tables below is a case: what is sent, and the answer that must
come. After each case the server must be alive and well."""

import base64
import concurrent.futures
import json
import socket
import struct
import time

import pytest
from conftest import ALICE, still_well
from http_client import Closed, Connection, exchange, request, running_calls
from messages import (
    CAPABILITIES,
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    LEGACY,
    METHOD_NOT_FOUND,
    MODERN,
    PARSE,
    UNSUPPORTED_VERSION,
    VERSION,
    call,
    initialize,
    modern,
    modern_headers,
    tool_call,
)
from programs import CONFORMANCE, Server, wait_until

MIB = 1024 * 1024
PING = call("ping")


# ---- what must come back ----


def fails(status, code=None):
    """A refusal by the HTTP door, with its own error code."""

    def check(response):
        assert response.status == status, response
        body = response.json()
        assert body["success"] is False
        assert body["error"]["request_id"] == response.header("X-Request-Id")
        assert code is None or body["error"]["code"] == code, body

    return check


def error(code, status, id=1):
    """A JSON-RPC error, and the status that goes with it."""

    def check(response):
        assert response.status == status, response
        body = response.json()
        assert body["error"]["code"] == code, body
        assert body["id"] == id and type(body["id"]) is type(id), body
        assert body["error"]["data"]["requestId"] == response.header("X-Request-Id")

    return check


def result(id=1):
    def check(response):
        assert response.status == 200, response
        body = response.json()
        assert body["id"] == id and "result" in body, body

    return check


def status(expected):
    def check(response):
        assert response.status == expected, response

    return check


def accepted(response):
    assert response.status == 202 and response.body == b"", response


def batch(*checks):
    def check(response):
        assert response.status == 200, response
        parts = response.json()
        assert len(parts) == len(checks), parts
        for expected, part in zip(checks, parts):
            assert part.get("error", {}).get("code") == expected, part

    return check


def rows(tables):
    return [
        pytest.param(data, check, id=f"{table}: {name}")
        for table, cases in tables.items()
        for name, data, check in cases
    ]


def post(body, **headers):
    return request(headers={name.replace("_", "-"): value for name, value in headers.items()}, body=body)


def post_modern(message, **headers):
    """A modern message with the headers that belong to it, but for what the case changes."""
    changed = {name.replace("_", "-"): value for name, value in headers.items()}
    return request(headers={**modern_headers(message), **changed}, body=message)


# ---- messages ----

STATUS_CALL = modern("tools/call", {"name": "forage_status", "arguments": {}})
GUIDE = modern("resources/read", {"uri": "forage://guide"})
TOPIC = modern("prompts/get", {"name": "check_claim", "arguments": {"claim": "x"}})


def encoded(text):
    return "=?base64?" + base64.b64encode(text.encode()).decode() + "?="


BODIES = [
    ("empty", post(b""), error(PARSE, 400, None)),
    ("not JSON", post(b"hello"), error(PARSE, 400, None)),
    ("cut off", post(b'{"jsonrpc":"2.0","id":1'), error(PARSE, 400, None)),
    ("invalid UTF-8", post(b'{"jsonrpc":"2.0","id":1,"method":"\xff"}'), error(PARSE, 400, None)),
    ("too deep", post(b"[" * 65 + b"]" * 65), error(PARSE, 400, None)),
    ("a huge number", post(b'{"jsonrpc":"2.0","id":1e999,"method":"ping"}'), error(PARSE, 400, None)),
    (
        "a repeated key",
        post(b'{"jsonrpc":"2.0","id":1,"id":1,"method":"ping"}'),
        error(INVALID_REQUEST, 400, None),
    ),
    ("a string", post('"x"'.encode()), error(INVALID_REQUEST, 400, None)),
    ("id null", post({"jsonrpc": "2.0", "id": None, "method": "ping"}), error(INVALID_REQUEST, 400, None)),
    ("id a fraction", post(call("ping", id=1.5)), error(INVALID_REQUEST, 400, None)),
    ("id of 40 digits", post(call("ping", id=10**39)), error(INVALID_REQUEST, 400, None)),
    ("a NUL in a name", post(tool_call("forage_status\0")), error(INVALID_PARAMS, 200)),
    (
        "two lines",
        post(json.dumps(PING).encode() + b"\n" + json.dumps(PING).encode()),
        error(PARSE, 400, None),
    ),
    ("a notification", post(call("notifications/initialized", id=None)), accepted),
    ("an unknown notification", post(call("notifications/nothing", id=None)), accepted),
    ("an answer to no question", post({"jsonrpc": "2.0", "id": 1, "result": {}}), accepted),
    (
        "the largest body",
        post(b" " * (4 * MIB - len(json.dumps(PING))) + json.dumps(PING).encode()),
        result(),
    ),
    ("one byte more", post(b" " * (4 * MIB + 1)), fails(413, "TOO_LARGE")),
]

LEGACY_REQUESTS = [
    ("an unknown method", post(call("no/such")), error(METHOD_NOT_FOUND, 200)),
    ("a modern method", post(call("server/discover")), error(METHOD_NOT_FOUND, 200)),
    ("an unknown tool", post(tool_call("no_such")), error(INVALID_PARAMS, 200)),
    ("params a list", post(call("ping", [])), error(INVALID_PARAMS, 200)),
    ("an unknown version", post(PING, MCP_Protocol_Version="2099-01-01"), error(UNSUPPORTED_VERSION, 400)),
    ("an empty version", post(PING, MCP_Protocol_Version=""), error(UNSUPPORTED_VERSION, 400)),
    ("a long version", post(PING, MCP_Protocol_Version="9" * 4000), error(UNSUPPORTED_VERSION, 400)),
    ("a version in quotes", post(PING, MCP_Protocol_Version='"2025-11-25"'), error(UNSUPPORTED_VERSION, 400)),
    ("initialize, unknown version", post(initialize("1999-01-01")), result()),
    ("initialize without params", post(call("initialize")), result()),
    (
        "initialize with a modern header",
        post(initialize(), MCP_Protocol_Version=MODERN),
        error(HEADER_MISMATCH, 400),
    ),
    ("a label that is too long", post(PING, Mcp_Session_Id="x" * 129), fails(400, "VALIDATION")),
    ("a label with a blank", post(PING, Mcp_Session_Id="a b"), fails(400, "VALIDATION")),
    ("a label beyond ASCII", post(PING, Mcp_Session_Id="é".encode()), fails(400, "VALIDATION")),
    ("a label that we never gave", post(PING, Mcp_Session_Id="whatever"), result()),
    ("modern headers that mean nothing here", post(PING, Mcp_Method="tools/list", Mcp_Name="x"), result()),
]

BATCHES = [
    ("no header", post([PING]), batch(None)),
    (
        "2025-03-26",
        post([PING, call("no/such")], MCP_Protocol_Version="2025-03-26"),
        batch(None, METHOD_NOT_FOUND),
    ),
    ("2025-06-18", post([PING], MCP_Protocol_Version="2025-06-18"), error(INVALID_REQUEST, 400, None)),
    ("2025-11-25", post([PING], MCP_Protocol_Version="2025-11-25"), error(INVALID_REQUEST, 400, None)),
    ("modern header", post([PING], MCP_Protocol_Version=MODERN), error(INVALID_REQUEST, 400, None)),
    ("unknown version", post([PING], MCP_Protocol_Version="2099-01-01"), error(INVALID_REQUEST, 400, None)),
    ("empty", post([]), error(INVALID_REQUEST, 400, None)),
    ("65 messages", post([PING] * 65), error(INVALID_REQUEST, 400, None)),
    ("notifications only", post([call("notifications/initialized", id=None)] * 2), accepted),
    ("with initialize", post([initialize(), call("ping", id=2)]), batch(INVALID_REQUEST, None)),
    ("with a modern message", post([modern("tools/list")]), batch(INVALID_REQUEST)),
    ("nothings", post([1, None, [], "x"]), batch(*[INVALID_REQUEST] * 4)),
]

MODERN_REQUESTS = [
    ("all is well", post_modern(STATUS_CALL), result()),
    ("an unknown method", post_modern(modern("no/such")), error(METHOD_NOT_FOUND, 404)),
    ("ping, removed", post_modern(modern("ping")), error(METHOD_NOT_FOUND, 404)),
    ("initialize, removed", post_modern(modern("initialize")), error(METHOD_NOT_FOUND, 404)),
    ("setLevel, removed", post_modern(modern("logging/setLevel")), error(METHOD_NOT_FOUND, 404)),
    ("subscribe, removed", post_modern(modern("resources/subscribe")), error(METHOD_NOT_FOUND, 404)),
    ("listen, not offered", post_modern(modern("subscriptions/listen")), error(METHOD_NOT_FOUND, 404)),
    ("a notification", post_modern(modern("notifications/initialized", id=None)), accepted),
    ("an unknown tool", post_modern(modern("tools/call", {"name": "x"})), error(INVALID_PARAMS, 200)),
    (
        "an unknown resource",
        post_modern(modern("resources/read", {"uri": "x://y"})),
        error(INVALID_PARAMS, 200),
    ),
    (
        "no envelope at all",
        post(call("tools/list"), MCP_Protocol_Version=MODERN, Mcp_Method="tools/list"),
        error(INVALID_PARAMS, 400),
    ),
    (
        "no version in the envelope",
        post(
            call("tools/list", {"_meta": {CAPABILITIES: {}}}),
            MCP_Protocol_Version=MODERN,
            Mcp_Method="tools/list",
        ),
        error(INVALID_PARAMS, 400),
    ),
    (
        "no capabilities in the envelope",
        post(
            call("tools/list", {"_meta": {VERSION: MODERN}}),
            MCP_Protocol_Version=MODERN,
            Mcp_Method="tools/list",
        ),
        error(INVALID_PARAMS, 400),
    ),
    (
        "capabilities of the wrong type",
        post(
            call("tools/list", {"_meta": {VERSION: MODERN, CAPABILITIES: "all"}}),
            MCP_Protocol_Version=MODERN,
            Mcp_Method="tools/list",
        ),
        error(INVALID_PARAMS, 400),
    ),
    (
        "a version of the wrong type",
        post(call("tools/list", {"_meta": {VERSION: [], CAPABILITIES: {}}}), MCP_Protocol_Version=MODERN),
        error(INVALID_PARAMS, 400),
    ),
    (
        "an unknown version",
        post(
            call("tools/list", {"_meta": {VERSION: "2099-01-01", CAPABILITIES: {}}}),
            MCP_Protocol_Version="2099-01-01",
            Mcp_Method="tools/list",
        ),
        error(UNSUPPORTED_VERSION, 400),
    ),
    ("no version header", post_modern(STATUS_CALL, MCP_Protocol_Version=None), error(HEADER_MISMATCH, 400)),
    (
        "a legacy version header",
        post_modern(STATUS_CALL, MCP_Protocol_Version=LEGACY[0]),
        error(HEADER_MISMATCH, 400),
    ),
    ("no method header", post_modern(STATUS_CALL, Mcp_Method=None), error(HEADER_MISMATCH, 400)),
    ("another method", post_modern(STATUS_CALL, Mcp_Method="tools/list"), error(HEADER_MISMATCH, 400)),
    (
        "the method in capitals",
        post_modern(STATUS_CALL, Mcp_Method="TOOLS/CALL"),
        error(HEADER_MISMATCH, 400),
    ),
    ("blanks around the method", post_modern(STATUS_CALL, Mcp_Method=" \ttools/call \t"), result()),
    ("no name header", post_modern(STATUS_CALL, Mcp_Name=None), error(HEADER_MISMATCH, 400)),
    ("another name", post_modern(STATUS_CALL, Mcp_Name="other"), error(HEADER_MISMATCH, 400)),
    ("an empty name", post_modern(STATUS_CALL, Mcp_Name=""), error(HEADER_MISMATCH, 400)),
    ("another resource", post_modern(GUIDE, Mcp_Name="forage://status"), error(HEADER_MISMATCH, 400)),
    ("another prompt", post_modern(TOPIC, Mcp_Name="research_topic"), error(HEADER_MISMATCH, 400)),
    ("the name as base64", post_modern(STATUS_CALL, Mcp_Name=encoded("forage_status")), result()),
    ("the resource as base64", post_modern(GUIDE, Mcp_Name=encoded("forage://guide")), result()),
    (
        "another name as base64",
        post_modern(STATUS_CALL, Mcp_Name=encoded("other")),
        error(HEADER_MISMATCH, 400),
    ),
    (
        "base64 of a NUL",
        post_modern(STATUS_CALL, Mcp_Name=encoded("forage_status\0")),
        error(HEADER_MISMATCH, 400),
    ),
    ("bad base64", post_modern(STATUS_CALL, Mcp_Name="=?base64?!!!?="), error(HEADER_MISMATCH, 400)),
    ("base64 cut off", post_modern(STATUS_CALL, Mcp_Name="=?base64?Zm9"), error(HEADER_MISMATCH, 400)),
    ("empty base64", post_modern(STATUS_CALL, Mcp_Name="=?base64??="), error(HEADER_MISMATCH, 400)),
    ("a half of base64", post_modern(STATUS_CALL, Mcp_Name="=?base64?="), error(HEADER_MISMATCH, 400)),
    (
        "two method headers that disagree",
        post_modern(STATUS_CALL, Mcp_Method=["tools/call", "tools/list"]),
        error(HEADER_MISMATCH, 400),
    ),
    (
        "two name headers that disagree",
        post_modern(STATUS_CALL, Mcp_Name=["forage_status", "other"]),
        error(HEADER_MISMATCH, 400),
    ),
    (
        "two version headers that disagree",
        post_modern(STATUS_CALL, MCP_Protocol_Version=[MODERN, LEGACY[0]]),
        error(HEADER_MISMATCH, 400),
    ),
]

# ---- the door ----


def get(path, **headers):
    return request("GET", path, {name.replace("_", "-"): value for name, value in headers.items()})


ROUTES = [
    ("GET /mcp", get("/mcp"), fails(405)),
    ("DELETE /mcp", request("DELETE", "/mcp"), fails(405)),
    ("PUT /mcp", request("PUT", "/mcp", {"Content-Length": "2"}, b"{}"), fails(405)),
    ("PATCH /mcp", request("PATCH", "/mcp"), fails(405)),
    ("TRACE /mcp", request("TRACE", "/mcp"), fails(405)),
    ("an unknown method", request("BREW", "/mcp"), fails(405)),
    ("methods are exact", request("post", "/mcp"), fails(405)),
    ("POST /health", request("POST", "/health", body=b"{}"), fails(405)),
    ("an unknown path", get("/nothing"), fails(404)),
    ("the root", get("/"), fails(404)),
    ("a longer path", request("POST", "/mcp/", body=PING), fails(404)),
    ("another case", request("POST", "/MCP", body=PING), fails(404)),
    ("dots", request("POST", "/x/../mcp", body=PING), fails(404)),
    ("encoded", request("POST", "/%6dcp", body=PING), fails(404)),
    ("a query", request("POST", "/mcp?x=1", body=PING), result()),
    ("no tool named", request("POST", "/api/v1/tools/", body=b"{}"), fails(404)),
    ("a tool with dots", request("POST", "/api/v1/tools/../tools/forage_status", body=b"{}"), fails(404)),
    ("a path of 8 KiB", get("/" + "x" * 8191), fails(404)),
    ("a longer one", get("/" + "x" * 8192), fails(414)),
]

CONTENT_TYPES = [
    ("none", post(PING, Content_Type=None), fails(415)),
    ("empty", post(PING, Content_Type=""), fails(415)),
    ("text", post(PING, Content_Type="text/plain"), fails(415)),
    ("a form", post(PING, Content_Type="application/x-www-form-urlencoded"), fails(415)),
    ("almost", post(PING, Content_Type="application/jsonx"), fails(415)),
    ("JSON lines", post(PING, Content_Type="application/json-seq"), fails(415)),
    ("with parameters", post(PING, Content_Type="application/json; charset=utf-8"), result()),
    ("in capitals", post(PING, Content_Type="Application/JSON"), result()),
]

ACCEPTS = [
    ("none", post(PING, Accept=None), result()),
    ("empty", post(PING, Accept=""), result()),
    ("anything", post(PING, Accept="*/*"), result()),
    ("JSON", post(PING, Accept="application/json"), result()),
    ("any application", post(PING, Accept="application/*"), result()),
    ("in capitals", post(PING, Accept="APPLICATION/JSON"), result()),
    ("with weights", post(PING, Accept="text/html;q=0.1, application/json;q=0.9"), result()),
    ("HTML", post(PING, Accept="text/html"), fails(406)),
    ("nonsense", post(PING, Accept="nonsense"), fails(406)),
]

HOSTS = [
    ("the name", get("/health", Host="localhost"), status(200)),
    ("in capitals", get("/health", Host="LocalHost"), status(200)),
    ("with a port", get("/health", Host="localhost:1234"), status(200)),
    ("with an empty port", get("/health", Host="localhost:"), status(200)),
    ("an address", get("/health", Host="127.0.0.1:80"), status(200)),
    ("another loopback address", get("/health", Host="127.8.9.10"), status(200)),
    ("IPv6", get("/health", Host="[::1]"), status(200)),
    ("IPv6 with a port", get("/health", Host="[::1]:3000"), status(200)),
    ("a stranger", get("/health", Host="evil.example"), fails(403, "FORBIDDEN")),
    ("a stranger with our port", get("/health", Host="evil.example:3000"), fails(403)),
    ("our name as a subdomain", get("/health", Host="localhost.evil.example"), fails(403)),
    ("our name at the end", get("/health", Host="evil-localhost"), fails(403)),
    ("our address as a subdomain", get("/health", Host="127.0.0.1.evil.example"), fails(403)),
    ("a trailing dot", get("/health", Host="localhost."), fails(403)),
    ("no address", get("/health", Host="0.0.0.0"), fails(403)),
    ("a number", get("/health", Host="2130706433"), fails(403)),
    ("a short address", get("/health", Host="127.1"), fails(403)),
    ("a mapped address", get("/health", Host="[::ffff:127.0.0.1]"), fails(403)),
    ("another address", get("/health", Host="192.168.1.1"), fails(403)),
    ("a port that is none", get("/health", Host="localhost:http"), fails(403)),
    ("a bracket that stays open", get("/health", Host="[::1"), fails(403)),
    ("behind the bracket", get("/health", Host="[::1]x"), fails(403)),
    ("a user", get("/health", Host="localhost:1@evil.example"), status(400)),
    ("empty", get("/health", Host=""), fails(400)),
    ("missing", get("/health", Host=None), fails(400)),
    ("twice", get("/health", Host=["localhost", "localhost"]), fails(400)),
    ("a list", get("/health", Host="localhost, evil.example"), fails(400)),
    (
        "a proxy's word, not trusted",
        get("/health", Host="evil.example", X_Forwarded_Host="localhost"),
        fails(403),
    ),
    ("nor against us", get("/health", X_Forwarded_Host="evil.example"), status(200)),
]

ORIGINS = [
    ("ours", post(PING, Origin="http://localhost"), result()),
    ("ours with a port", post(PING, Origin="http://127.0.0.1:6274"), result()),
    ("ours over TLS", post(PING, Origin="https://localhost:8443"), result()),
    ("ours, IPv6", post(PING, Origin="http://[::1]:6274"), result()),
    ("a stranger", post(PING, Origin="https://evil.example"), fails(403, "FORBIDDEN")),
    ("null", post(PING, Origin="null"), fails(403)),
    ("empty", post(PING, Origin=""), fails(403)),
    ("our name as a subdomain", post(PING, Origin="http://localhost.evil.example"), fails(403)),
    ("our name as a user", post(PING, Origin="http://localhost@evil.example"), fails(403)),
    ("our name and port as a user", post(PING, Origin="http://localhost:3000@evil.example"), fails(403)),
    ("a path", post(PING, Origin="http://localhost/x"), fails(403)),
    ("a file", post(PING, Origin="file://"), fails(403)),
    ("an extension", post(PING, Origin="chrome-extension://localhost"), fails(403)),
    ("no scheme", post(PING, Origin="localhost"), fails(403)),
    ("a scheme inside", post(PING, Origin="evil://http://localhost"), fails(403)),
    ("a long one", post(PING, Origin="http://" + "a" * 5000), fails(403)),
    ("twice", post(PING, Origin=["http://localhost", "http://localhost"]), fails(403)),
    ("ours and a stranger", post(PING, Origin=["http://localhost", "http://evil.example"]), fails(403)),
    ("on /health too", get("/health", Origin="https://evil.example"), fails(403)),
    (
        "a preflight from a stranger",
        request("OPTIONS", "/mcp", {"Origin": "https://evil.example"}),
        fails(403),
    ),
]

TABLES = {
    "body": BODIES,
    "legacy": LEGACY_REQUESTS,
    "batch": BATCHES,
    "modern": MODERN_REQUESTS,
    "route": ROUTES,
    "content type": CONTENT_TYPES,
    "accept": ACCEPTS,
    "host": HOSTS,
    "origin": ORIGINS,
}


@pytest.mark.parametrize("data, check", rows(TABLES))
def test_request(server, data, check):
    check(exchange(server.port, data))


# ---- tokens ----

TOKENS = [
    ("right", {"Authorization": f"Bearer {ALICE}"}, result()),
    ("the scheme in another case", {"Authorization": f"bearer {ALICE}"}, result()),
    ("missing", {}, fails(401, "UNAUTHORIZED")),
    ("empty", {"Authorization": ""}, fails(401)),
    ("only the scheme", {"Authorization": "Bearer"}, fails(401)),
    ("an empty token", {"Authorization": "Bearer "}, fails(401)),
    ("wrong", {"Authorization": "Bearer wrong-token-000000"}, fails(401)),
    ("one character more", {"Authorization": f"Bearer {ALICE}x"}, fails(401)),
    ("one character less", {"Authorization": f"Bearer {ALICE[:-1]}"}, fails(401)),
    ("in another case", {"Authorization": f"Bearer {ALICE.upper()}"}, fails(401)),
    ("the name before it", {"Authorization": f"Bearer alice:{ALICE}"}, fails(401)),
    ("two blanks", {"Authorization": f"Bearer  {ALICE}"}, fails(401)),
    ("another scheme", {"Authorization": f"Basic {ALICE}"}, fails(401)),
    ("no scheme", {"Authorization": ALICE}, fails(401)),
    ("long", {"Authorization": "Bearer " + "x" * 20_000}, fails(401)),
    ("twice", {"Authorization": [f"Bearer {ALICE}", f"Bearer {ALICE}"]}, fails(401)),
    ("right and wrong", {"Authorization": [f"Bearer {ALICE}", "Bearer wrong"]}, fails(401)),
    ("in another header", {"X-Api-Key": ALICE}, fails(401)),
]


@pytest.mark.parametrize("headers, check", [pytest.param(*row, id=name) for name, *row in TOKENS])
def test_token(guarded, headers, check):
    response = exchange(guarded.port, request(headers=headers, body=PING))
    check(response)
    if response.status == 401:
        assert response.header("WWW-Authenticate").startswith('Bearer realm="forage"')


GUARDED_ROUTES = [
    request("POST", "/mcp", body=PING),
    get("/metrics"),
    get("/api/v1/tools"),
    get("/api/v1/openapi.json"),
    request("POST", "/api/v1/tools/forage_status", body=b"{}"),
]


@pytest.mark.parametrize("data", GUARDED_ROUTES, ids=lambda data: data.split(b" HTTP")[0].decode())
def test_token_guards_everything_but_health(guarded, data):
    fails(401, "UNAUTHORIZED")(exchange(guarded.port, data))


def test_wrong_token_is_refused_before_the_body(guarded):
    """Nobody has to send 4 MiB to learn that they may not."""
    with Connection(guarded.port) as connection:
        connection.send(request(headers={"Content-Length": str(MIB)}))
        fails(401)(connection.response())
        assert connection.wait_closed() == b""


# ---- framing: what is not a request, and what would be two for somebody else ----

HEAD = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
BODY = json.dumps(PING).encode()
SECOND = request(body=call("ping", id="smuggled"))


def chunked(body):
    return HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + body


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


# Everything here is refused with that status, and the connection closes: nothing behind it is read.
FRAMING = [
    ("garbage", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 10, 400),
    ("nothing but blank lines", b"\r\n\r\n\r\n\r\n", 400),
    ("no version", b"GET /health\r\n\r\n", 400),
    ("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    ("HTTP/3.0", b"GET /health HTTP/3.0\r\nHost: localhost\r\n\r\n", 505),
    ("HTTP/0.9", b"GET /health HTTP/0.9\r\n\r\n", 505),
    ("a lower-case version", b"GET /health http/1.1\r\nHost: localhost\r\n\r\n", 400),
    ("two blanks", b"GET  /health HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    ("a whole address", b"GET http://localhost/health HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    ("CONNECT", b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    ("an endless method", b"G" * 100 + b" / HTTP/1.1\r\n\r\n", 501),
    ("bare LF", b"GET /health HTTP/1.1\nHost: localhost\n\n", 400),
    ("a bare LF in a header", b"GET /health HTTP/1.1\r\nHost: localhost\nX: y\r\n\r\n", 400),
    ("a bare CR in a header", b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: a\rb\r\n\r\n", 400),
    ("a NUL in a header", b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: a\0b\r\n\r\n", 400),
    ("a NUL in the path", b"GET /health\0 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    ("a folded header", b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\n\r\n", 400),
    ("a blank before the colon", b"GET /health HTTP/1.1\r\nHost : localhost\r\n\r\n", 400),
    ("a header without a colon", b"GET /health HTTP/1.1\r\nHost: localhost\r\nnothing\r\n\r\n", 400),
    ("a header without a name", b"GET /health HTTP/1.1\r\nHost: localhost\r\n: x\r\n\r\n", 400),
    ("65 headers", b"GET /health HTTP/1.1\r\n" + b"X: y\r\n" * 65 + b"\r\n", 431),
    (
        "33 KiB of headers",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 33 * 1024 + b"\r\n\r\n",
        431,
    ),
    ("headers without an end", b"GET /health HTTP/1.1\r\n" + b"X: y\r\n" * 20_000, 431),
    ("two lengths", HEAD + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello" + SECOND, 400),
    ("two lengths that differ", HEAD + b"Content-Length: 0\r\nContent-Length: 5\r\n\r\nhello" + SECOND, 400),
    ("a list of lengths", HEAD + b"Content-Length: 5, 5\r\n\r\nhello" + SECOND, 400),
    ("a negative length", HEAD + b"Content-Length: -1\r\n\r\n" + SECOND, 400),
    ("a signed length", HEAD + b"Content-Length: +5\r\n\r\nhello" + SECOND, 400),
    ("a hexadecimal length", HEAD + b"Content-Length: 0x5\r\n\r\nhello" + SECOND, 400),
    ("an empty length", HEAD + b"Content-Length:\r\n\r\n" + SECOND, 400),
    ("a length of 30 digits", HEAD + b"Content-Length: " + b"9" * 30 + b"\r\n\r\n", 413),
    ("a length that wraps", HEAD + b"Content-Length: 18446744073709551621\r\n\r\nhello", 413),
    (
        "length and chunks",
        HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + SECOND,
        400,
    ),
    (
        "chunks and length",
        HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + SECOND,
        400,
    ),
    ("two codings", HEAD + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    ("gzip, chunked", HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
    ("identity", HEAD + b"Transfer-Encoding: identity\r\n\r\n" + SECOND, 501),
    ("xchunked", HEAD + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + SECOND, 501),
    ("chunked in quotes", HEAD + b'Transfer-Encoding: "chunked"\r\n\r\n0\r\n\r\n' + SECOND, 501),
    ("a vertical tab", HEAD + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n" + SECOND, 400),
    ("a blank before its colon", HEAD + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + SECOND, 400),
    (
        "chunked in HTTP/1.0",
        HEAD.replace(b"1.1", b"1.0") + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        400,
    ),
    ("chunk: no size", chunked(b"\r\n\r\n"), 400),
    ("chunk: not a number", chunked(b"x\r\nhello\r\n0\r\n\r\n"), 400),
    ("chunk: negative", chunked(b"-1\r\nhello\r\n0\r\n\r\n"), 400),
    ("chunk: 0x", chunked(b"0x5\r\nhello\r\n0\r\n\r\n"), 400),
    ("chunk: a blank before the size", chunked(b" 5\r\nhello\r\n0\r\n\r\n"), 400),
    ("chunk: 20 digits", chunked(b"f" * 20 + b"\r\n"), 413),
    ("chunk: more than allowed", chunked(b"400001\r\n"), 413),
    ("chunk: too short", chunked(b"3\r\nhello\r\n0\r\n\r\n"), 400),
    ("chunk: bare LF", chunked(b"5\nhello\n0\n\n"), 400),
    ("chunk: an endless extension", chunked(b"5;" + b"x" * 10_000), 400),
    ("chunk: a bare LF in the extension", chunked(b"5;a\nb\r\nhello\r\n0\r\n\r\n"), 400),
    ("chunk: an endless trailer", chunked(chunk(BODY) + b"0\r\n" + b"X: y\r\n" * 10_000), 431),
    ("an expectation", HEAD + b"Expect: miracles\r\nContent-Length: 5\r\n\r\n", 417),
]


@pytest.mark.parametrize("data, expected", [pytest.param(*row, id=name) for name, *row in FRAMING])
def test_framing(server, data, expected):
    with Connection(server.port) as connection:
        try:
            connection.send(data)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it did not want to read all of it
        response = connection.response()
        fails(expected)(response)
        assert response.header("Connection") == "close"
        assert connection.wait_closed() == b"", "what follows must not be read as a request"


CHUNKS = [
    ("one", chunked(chunk(BODY) + b"0\r\n\r\n")),
    ("one for each byte", chunked(b"".join(chunk(bytes([byte])) for byte in BODY) + b"0\r\n\r\n")),
    ("capital digits", chunked(b"%X\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY))),
    ("leading zeros", chunked(b"000%x\r\n%s\r\n0000\r\n\r\n" % (len(BODY), BODY))),
    ("extensions", chunked(b'%x;a=b;c="d"\r\n%s\r\n0;x\r\n\r\n' % (len(BODY), BODY))),
    ("a trailer", chunked(chunk(BODY) + b"0\r\nContent-Length: 5\r\nX: y\r\n\r\n")),
    ("in capitals", chunked(chunk(BODY) + b"0\r\n\r\n").replace(b"chunked", b"CHUNKED")),
]


@pytest.mark.parametrize("data", [pytest.param(data, id=name) for name, data in CHUNKS])
def test_good_chunks(server, data):
    """And the connection goes on behind them."""
    with Connection(server.port) as connection:
        result(1)(connection.exchange(data))
        result("smuggled")(connection.exchange(SECOND))


# ---- connections ----


def test_pipelined_requests(server):
    with Connection(server.port) as connection:
        connection.send(b"".join(request(body=call("ping", id=i)) for i in range(500)))
        assert [connection.response().json()["id"] for _ in range(500)] == list(range(500))


def test_pipelined_behind_a_slow_call(fixtures):
    with Connection(fixtures.port) as connection:
        slow = request(body=tool_call("test_sleep", {"ms": 100}, id="slow"))
        connection.send(slow + request(body=call("ping", id="quick")))
        assert connection.response().json()["id"] == "slow"
        assert connection.response().json()["id"] == "quick"


def test_a_byte_at_a_time(server):
    with Connection(server.port) as connection:
        connection.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in request(body=PING):
            connection.send(bytes([byte]))
        result()(connection.response())


def test_content_length_larger_than_the_body(server):
    """The rest never comes; the client's end is its answer."""
    with Connection(server.port) as connection:
        connection.send(request(headers={"Content-Length": "1000"}, body=BODY))
        connection.half_close()
        assert connection.wait_closed() == b""


def test_content_length_smaller_than_the_body(server):
    """What is left over is no request."""
    with Connection(server.port) as connection:
        connection.send(request(headers={"Content-Length": str(len(BODY) - 1)}, body=BODY))
        error(PARSE, 400, None)(connection.response())
        fails(400)(connection.response())
        assert connection.wait_closed() == b""


def test_expect_continue(server):
    with Connection(server.port) as connection:
        connection.send(HEAD + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(BODY))
        assert connection.head().status == 100
        connection.send(BODY)
        result()(connection.response())


def test_http_1_0(server):
    with Connection(server.port) as connection:
        response = connection.exchange(request("GET", "/health", version="HTTP/1.0"))
        assert response.status == 200 and response.header("Connection") == "close"
        assert connection.wait_closed() == b""


def test_head(server):
    with Connection(server.port) as connection:
        connection.send(request("HEAD", "/health") + request("GET", "/health"))
        assert connection.response(to_head=True).status == 200
        assert connection.response().json()["status"] == "ok"


def test_half_closed_before_the_request(server):
    with Connection(server.port) as connection:
        connection.half_close()
        assert connection.wait_closed() == b""


def test_half_closed_in_the_head(server):
    with Connection(server.port) as connection:
        connection.send(b"GET /health HT")
        connection.half_close()
        assert connection.wait_closed() == b""


def test_half_closed_after_a_quick_request(server):
    """It may have left; where the answer is there at once, it is still sent."""
    with Connection(server.port) as connection:
        connection.send(request("GET", "/health"))
        connection.half_close()
        said = connection.wait_closed()
        assert said == b"" or said.startswith(b"HTTP/1.1 200")


def test_half_closed_while_a_call_runs(fixtures):
    """A client's FIN counts as leaving: the call is cancelled."""
    with Connection(fixtures.port) as connection:
        connection.send(request(body=tool_call("test_sleep", {"ms": 60_000})))
        connection.half_close()
        assert connection.wait_closed() == b""
    fixtures.wait_log(r"tool=test_sleep .*status=CANCELLED")


def test_reset_while_a_call_runs():
    with Server(CONFORMANCE) as server:
        connection = Connection(server.port)
        connection.send(request(body=tool_call("test_sleep", {"ms": 60_000})))
        wait_until(lambda: running_calls(server, "test_sleep") == 1)
        connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
        server.wait_log(r"tool=test_sleep .*status=CANCELLED")


def test_three_hundred_connections_at_once(server):
    connections = [Connection(server.port) for _ in range(300)]
    try:
        for connection in connections:
            connection.send(request(body=PING))
        for connection in connections:
            result()(connection.response())
        for connection in connections:
            connection.send(request("GET", "/health"))
        assert {connection.response().status for connection in connections} == {200}
    finally:
        for connection in connections:
            connection.close()


def test_three_hundred_half_requests(server):
    """They hold nobody up."""
    connections = [Connection(server.port) for _ in range(300)]
    try:
        for connection in connections:
            connection.send(request(body=PING)[:-5])
        still_well(server)
        for connection in connections:
            connection.send(request(body=PING)[-5:])
        for connection in connections:
            result()(connection.response())
    finally:
        for connection in connections:
            connection.close()


def test_many_threads_of_good_and_bad(server):
    """Every refusal from many clients at once, between good requests."""
    cases = [(data, None) for _, data, _ in FRAMING] + [(data, check) for _, data, check in MODERN_REQUESTS]

    def one(case):
        data, check = case
        try:
            response = exchange(server.port, data)
        except (BrokenPipeError, ConnectionResetError, Closed):
            return
        if check:
            check(response)

    with concurrent.futures.ThreadPoolExecutor(16) as threads:
        list(threads.map(one, cases * 5))


# ---- clients that take their time: all at once, since each takes as long as the server's limits ----


def trickle(port, start, byte):
    """Sends the start, then a byte a second until the server has had enough; how long that took."""
    began = time.monotonic()
    with Connection(port) as connection:
        connection.send(start)
        connection.socket.settimeout(1)
        while True:
            try:
                response = connection.response()
                return time.monotonic() - began, response
            except TimeoutError:
                assert time.monotonic() - began < 60
                connection.send(byte)


def never_read(port):
    """Asks for more than the sockets hold and reads nothing; how long until the server gives up."""
    began = time.monotonic()
    with Connection(port, receive_bytes=4096) as connection:
        connection.send(request(body=tool_call("test_big", {"chars": 6_000_000})))
        connection.socket.settimeout(60)
        # A closed connection shows when we send: the server does not read, but its kernel resets.
        while time.monotonic() - began < 60:
            time.sleep(0.5)
            try:
                connection.send(b" ")
            except (BrokenPipeError, ConnectionResetError):
                return time.monotonic() - began, None
    raise TimeoutError("the server still waits for its client to read")


def trickle_events(port):
    """Half a request, then nothing at all."""
    began = time.monotonic()
    with Connection(port) as connection:
        connection.send(b"GET /health HTTP/1.1\r\nHost: lo")
        response = connection.response()
        return time.monotonic() - began, response


SLOW_HEAD = b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: "
SLOW_BODY = request(headers={"Content-Length": "1000"})
SLOW_CHUNKS = chunked(b"3e8\r\n")

# The name, who does it, what it does, and the least and the most seconds that it may take.
SLOW = {
    "a byte of the head a second": (lambda port: trickle(port, SLOW_HEAD, b"x"), 408, 9, 20),
    "a byte of the body a second": (lambda port: trickle(port, SLOW_BODY, b" "), 408, 29, 45),
    "a byte of a chunk a second": (lambda port: trickle(port, SLOW_CHUNKS, b" "), 408, 29, 45),
    "half a head": (trickle_events, 408, 9, 20),
    "a client that never reads": (never_read, None, 29, 50),
}


@pytest.fixture(scope="module")
def slow_clients():
    """Starts them all; the tests below look at what became of each."""
    with Server(CONFORMANCE) as server, concurrent.futures.ThreadPoolExecutor(len(SLOW)) as threads:
        yield {name: threads.submit(row[0], server.port) for name, row in SLOW.items()}
        still_well(server)


@pytest.fixture(scope="module", autouse=True)
def slow_clients_start_early(slow_clients):
    """They run beside the other tests of this file."""


@pytest.mark.parametrize("name", SLOW)
def test_slow_client(slow_clients, name):
    _, expected, least, most = SLOW[name]
    took, response = slow_clients[name].result(90)
    assert least <= took <= most
    if expected:
        fails(expected, "TIMEOUT")(response)
