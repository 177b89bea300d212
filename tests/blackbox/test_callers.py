"""Who may call, and that nobody's token is ever shown."""

import json
import re

import pytest
from conftest import ALICE, BOB
from http_client import Connection, exchange, request
from messages import call, tool_call
from programs import Server, Stdio, run

CAROL = "carol-token-from-a-file"


def status_with(server, token):
    return exchange(server.port, request("GET", "/api/v1/tools", {"Authorization": f"Bearer {token}"})).status


# ---- where tokens come from ----


def test_tokens_from_the_environment(guarded):
    assert status_with(guarded, ALICE) == status_with(guarded, BOB) == 200
    assert status_with(guarded, CAROL) == 401


def test_tokens_from_a_file(tmp_path):
    path = tmp_path / "tokens"
    path.write_text(f"# who may call\n\n  carol:{CAROL}  \r\nalice:{ALICE}\n")
    path.chmod(0o600)
    with Server(FORAGE_TOKENS_FILE=path, FORAGE_TOKENS=f"bob:{BOB}") as server:
        assert {status_with(server, token) for token in (ALICE, BOB, CAROL)} == {200}
        assert status_with(server, "# who may call") == 401


def test_one_caller_may_have_several_tokens():
    """So that a token can be changed without a gap."""
    with Server(FORAGE_TOKENS=f"alice:{ALICE},alice:{CAROL}") as server:
        assert status_with(server, ALICE) == status_with(server, CAROL) == 200


def test_every_token_is_looked_at():
    tokens = ",".join(f"caller{i}:token-number-{i:04}-of-many" for i in range(256))
    with Server(FORAGE_TOKENS=tokens) as server:
        assert {status_with(server, f"token-number-{i:04}-of-many") for i in (0, 1, 127, 254, 255)} == {200}
        assert status_with(server, "token-number-0256-of-many") == 401


WRONG_TOKENS = [
    ("no name", "just-a-token-without-a-name"),
    ("an empty name", f":{ALICE}"),
    ("a name with a blank", f"al ice:{ALICE}"),
    ("a long name", f"{'a' * 65}:{ALICE}"),
    ("a short token", "alice:brief"),
    ("a token of 19 characters", "alice:f3c1a9d0b7e24865fd1"),
    ("a repeated token", "alice:hunter2hunter2hunter2"),
    ("a long token", f"alice:{'t' * 513}"),
    ("a token with a blank", "alice:one two three four"),
    ("a token beyond ASCII", "alice:tökentökentöken"),
    ("the same token twice", f"alice:{ALICE},bob:{ALICE}"),
    ("too many", ",".join(f"caller{i}:token-number-{i:04}-of-many" for i in range(257))),
]


@pytest.mark.parametrize("tokens", [pytest.param(tokens, id=name) for name, tokens in WRONG_TOKENS])
def test_wrong_tokens(tokens, tmp_path):
    """From the environment or a file: exit code 2, naming the variable, not the token."""
    path = tmp_path / "tokens"
    path.write_text(tokens.replace(",", "\n"))
    path.chmod(0o600)
    secrets = [pair.partition(":")[2] for pair in tokens.split(",")][:2]
    for settings in ({"FORAGE_TOKENS": tokens}, {"FORAGE_TOKENS_FILE": path}):
        completed = run("serve", MCP_SERVER_PORT=0, **settings)
        assert completed.returncode == 2 and completed.stdout == ""
        assert next(iter(settings)) in completed.stderr
        assert not any(secret and secret in completed.stderr for secret in secrets)


def test_unreadable_token_file(tmp_path):
    completed = run("serve", MCP_SERVER_PORT=0, FORAGE_TOKENS_FILE=tmp_path / "missing")
    assert completed.returncode == 2
    assert "FORAGE_TOKENS_FILE" in completed.stderr and str(tmp_path / "missing") in completed.stderr


# ---- loopback only without tokens ----


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_other_addresses_need_tokens(host):
    completed = run("serve", MCP_SERVER_HOST=host, MCP_SERVER_PORT=0)
    assert completed.returncode == 2 and completed.stdout == ""
    assert (
        host in completed.stderr and "FORAGE_TOKENS" in completed.stderr and "127.0.0.1" in completed.stderr
    )


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.5"])
def test_loopback_needs_none(host):
    with Server(MCP_SERVER_HOST=host) as server:
        with Connection(server.port, "127.0.0.1" if host == "localhost" else host) as connection:
            assert connection.exchange(request("GET", "/health")).status == 200


def has_ipv6_loopback():
    try:
        with open("/proc/net/if_inet6", encoding="ascii") as interfaces:
            return "00000000000000000000000000000001" in interfaces.read()
    except OSError:
        return False


@pytest.mark.skipif(not has_ipv6_loopback(), reason="this machine has no IPv6 loopback")
def test_ipv6_loopback():
    with Server(MCP_SERVER_HOST="::1") as server, Connection(server.port, "::1") as connection:
        assert connection.exchange(request("GET", "/health", host=f"[::1]:{server.port}")).status == 200


def test_all_addresses_with_tokens():
    """Then any of the machine's addresses is a good Host; a name is not, unless it is listed."""
    with Server(MCP_SERVER_HOST="0.0.0.0", FORAGE_TOKENS=f"alice:{ALICE}") as server:
        for host, expected in (("192.0.2.7:3000", 200), ("[2001:db8::1]", 200), ("evil.example", 403)):
            assert exchange(server.port, request("GET", "/health", host=host)).status == expected
        assert status_with(server, ALICE) == 200


def test_busy_port():
    with Server() as server:
        completed = run("serve", MCP_SERVER_PORT=server.port)
        assert completed.returncode == 1 and str(server.port) in completed.stderr


# ---- nothing secret leaves ----

SECRET = "hush-hush-0123456789-secret"


def hostile_requests(token, by):
    """Everything that a server might repeat, with a token in it. Nothing of it needs the token to be right."""
    escaped = json.dumps(token)[1:-1]
    right = {"Authorization": f"Bearer {by}"}
    yield request("GET", f"/{token}", right)
    yield request("GET", f"/api/v1/tools?{token}", right)
    yield request(token, "/mcp", right)
    yield request("POST", f"/api/v1/tools/{token}", right, b"{}")
    yield request("POST", "/api/v1/tools/forage_status", right, {"tool": token})
    yield request("POST", "/api/v1/tools/forage_status", right, {token: 1})
    yield request("POST", "/api/v1/tools/forage_status", right, f'{{"{escaped}":1,"{escaped}":2}}'.encode())
    yield request("GET", "/health", {**right, "Host": token})
    yield request("GET", "/health", {**right, "Origin": f"http://{token}"})
    yield request("GET", "/metrics", {"Authorization": token})
    yield request("GET", "/metrics", {"Authorization": f"Basic {token}"})
    yield request("GET", "/metrics", {"Authorization": [f"Bearer {token}", f"Bearer {token}"]})
    for message in (
        call(token),
        call("tools/call", {"name": token}),
        call("resources/read", {"uri": token}),
        call("prompts/get", {"name": token}),
        call("prompts/get", {"name": "check_claim", "arguments": {token: 1}}),
        call("tools/list", {"cursor": token}),
        call("ping", id=token),
        tool_call("forage_status", {"tool": token}),
        tool_call("forage_status", {token: token}),
    ):
        yield request(headers=right, body=message)
    yield request(headers={**right, "MCP-Protocol-Version": token}, body=call("ping"))
    yield request(headers={**right, "Mcp-Session-Id": token}, body=call("no/such"))
    yield request(headers=right, body=token.encode())


def answer_to(server, data, word):
    """What a server says to a request, without the word in it and what is never the same twice."""
    with Connection(server.port) as connection:
        connection.send(data)
        head = connection.head()
        body = b"".join(connection.pieces(head)).decode()
    headers = [pair for pair in head.headers if pair[0] not in ("date", "x-request-id", "mcp-session-id")]
    return head.status, re.sub(r"[0-9a-f]{12,}|req-\w+", "ID", f"{headers} {body}".replace(word, "WORD"))


@pytest.mark.parametrize("level", ["info", "debug"])
def test_token_is_never_logged(level):
    with Server(FORAGE_TOKENS=f"alice:{SECRET}", FORAGE_LOG_LEVEL=level, DEBUG="true") as server:
        for data in hostile_requests(SECRET, SECRET):
            answer_to(server, data, SECRET)
        server.end()
        assert SECRET not in server.log.text()
        assert "alice" in server.log.text(), "the name may be shown"


def test_a_guess_is_answered_like_a_token():
    """Bob puts a guess wherever a request has room for one: nothing tells whether it is alice's token."""
    guess = SECRET[:-1] + "x"
    with Server(FORAGE_TOKENS=f"alice:{SECRET},bob:{BOB}") as server:
        for right, wrong in zip(hostile_requests(SECRET, BOB), hostile_requests(guess, BOB)):
            if b"Authorization: Bearer " + BOB.encode() in right:
                assert answer_to(server, right, SECRET) == answer_to(server, wrong, guess), right


def test_token_is_never_logged_over_stdio():
    with Stdio(FORAGE_TOKENS=f"alice:{SECRET}", FORAGE_LOG_LEVEL="debug") as client:
        client.ask(SECRET)
        client.ask("tools/call", {"name": SECRET})
        client.ask("tools/call", {"name": "forage_status", "arguments": {"tool": SECRET}})
        client.close()
        assert SECRET not in client.log.text()


@pytest.mark.parametrize(
    "arguments",
    [
        ["config"],
        ["config", "--json"],
        ["config", "--markdown"],
        ["config", "--env-example"],
        ["tools"],
        ["tools", "--json"],
        ["call", "forage_status"],
        ["call", "forage_status", f"tool={SECRET}"],
        ["version"],
    ],
    ids=" ".join,
)
def test_token_is_never_shown_by_commands(arguments, tmp_path):
    path = tmp_path / "tokens"
    path.write_text(f"bob:{SECRET}-of-bob")
    path.chmod(0o600)
    completed = run(*arguments, FORAGE_TOKENS=f"alice:{SECRET}", FORAGE_TOKENS_FILE=path)
    assert SECRET not in completed.stdout + completed.stderr


def test_no_option_takes_a_token():
    """It would stand in the process list."""
    assert "token" not in run("serve", "--help").stdout.lower()
    completed = run("serve", "--token", SECRET)
    assert completed.returncode == 2


def test_wrong_tokens_are_logged_without_them(guarded):
    exchange(guarded.port, request("GET", "/metrics", {"Authorization": "Bearer guess-number-one"}))
    guarded.wait_log(r"req=\w+ refused a token from 127\.0\.0\.1")
    assert "guess-number-one" not in guarded.log.text()


def test_query_is_not_logged(fixtures):
    """What callers ask is theirs."""
    question = "a very private question"
    for data in (
        request(body=tool_call("test_echo", {"text": question})),
        request("POST", "/api/v1/tools/test_echo", body={"text": question}),
        request("GET", "/api/v1/tools?q=" + question.replace(" ", "+")),
    ):
        exchange(fixtures.port, data)
    assert "private" not in fixtures.log.text()
