"""Hostile requests over HTTP. Each row of the tables below is a case: what is sent, and the answer that must
come. After each case the server must be alive and well. What is not even a request, and clients that misuse
their connection, are in test_hostile_connections.py."""

import base64
import json

import pytest
from conftest import ALICE
from http_checks import accepted, batch, error, fails, result, status
from http_client import Connection, exchange, request
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

MIB = 1024 * 1024
PING = call("ping")


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
    (
        "a version that is no UTF-8",
        post(PING, MCP_Protocol_Version=b"\xff\xfe"),
        error(UNSUPPORTED_VERSION, 400),
    ),
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
    ("a name that is no UTF-8", post_modern(STATUS_CALL, Mcp_Name=b"\xff\xfe"), error(HEADER_MISMATCH, 400)),
    ("a method that is no UTF-8", post_modern(STATUS_CALL, Mcp_Method=b"\xc3("), error(HEADER_MISMATCH, 400)),
    (
        "base64 of no UTF-8",
        post_modern(STATUS_CALL, Mcp_Name="=?base64?//4=?="),
        error(HEADER_MISMATCH, 400),
    ),
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
    ("the root", get("/"), status(200)),
    ("above the dashboard's files", get("/dashboard/../etc/passwd"), fails(404)),
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
    ("no UTF-8", get("/health", Host=b"\xff\xfe"), fails(400)),
    (
        "a proxy's word, not trusted",
        get("/health", Host="evil.example", X_Forwarded_Host="localhost"),
        fails(403),
    ),
    ("nor against us", get("/health", X_Forwarded_Host="evil.example"), status(200)),
]

ORIGINS = [
    ("ours", get("/health", Origin="http://127.0.0.1"), status(200)),
    ("ours with a port", get("/health", Host="localhost:3000", Origin="http://localhost:3000"), status(200)),
    ("ours, IPv6", get("/health", Host="[::1]:3000", Origin="http://[::1]:3000"), status(200)),
    ("ours, by MCP", post(PING, Origin="http://127.0.0.1"), status(200)),
    ("ours, without the token of the page", request("POST", "/api/v1/tools/memory_stats", {"Origin": "http://127.0.0.1"}, {}), fails(403)),
    ("another port of this machine", post(PING, Origin="http://127.0.0.1:6274"), fails(403)),
    ("over TLS, which is not ours", post(PING, Origin="https://127.0.0.1"), fails(403)),
    ("a stranger", post(PING, Origin="https://evil.example"), fails(403, "FORBIDDEN")),
    ("null", post(PING, Origin="null"), fails(403)),
    ("empty", post(PING, Origin=""), fails(403)),
    ("our name as a subdomain", post(PING, Origin="http://127.0.0.1.evil.example"), fails(403)),
    ("our name as a user", post(PING, Origin="http://127.0.0.1@evil.example"), fails(403)),
    ("our name and port as a user", post(PING, Origin="http://127.0.0.1:3000@evil.example"), fails(403)),
    ("a path", post(PING, Origin="http://127.0.0.1/x"), fails(403)),
    ("a file", post(PING, Origin="file://"), fails(403)),
    ("no UTF-8", post(PING, Origin=b"http://\xff"), fails(403)),
    ("an extension", post(PING, Origin="chrome-extension://127.0.0.1"), fails(403)),
    ("no scheme", post(PING, Origin="127.0.0.1"), fails(403)),
    ("a scheme inside", post(PING, Origin="evil://http://127.0.0.1"), fails(403)),
    ("a long one", post(PING, Origin="http://" + "a" * 5000), fails(403)),
    ("twice", post(PING, Origin=["http://127.0.0.1", "http://127.0.0.1"]), fails(403)),
    ("ours and a stranger", post(PING, Origin=["http://127.0.0.1", "http://evil.example"]), fails(403)),
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
