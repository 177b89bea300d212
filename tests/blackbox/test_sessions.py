"""Who may sit before the dashboard, what a page in a browser may change, and that nothing is left of it where it is off."""

import gzip
import json
import re
import time

import pytest
from conftest import ALICE, BOB, OPERATOR
from http_client import Connection, exchange, request
from postgres import postgres  # noqa: F401 (a fixture)
from programs import PATIENCE, Server, run

THREE = f"alice:{ALICE},bob:{BOB},olga+operator:{OPERATOR}"
SESSION = "/api/v1/session"
KEY = "/api/v1/memories/plan"


def ask(server, method, path, body=b"", **headers):
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    if data:
        headers = {"Content-Type": "application/json", "Content-Length": len(data), **headers}
    return exchange(server.port, request(method, path, headers, data))


def own(server):
    return f"http://127.0.0.1:{server.port}"


def host(server):
    return {"Host": f"127.0.0.1:{server.port}"}


@pytest.fixture(scope="module")
def open_server(tmp_path_factory):
    with Server(FORAGE_DATA_DIR=tmp_path_factory.mktemp("data")) as server:
        assert ask(server, "POST", "/api/v1/memories", {"key": "plan", "text": "Sail at dawn."}).status == 200
        yield server


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    with Server(FORAGE_DATA_DIR=tmp_path_factory.mktemp("data"), FORAGE_TOKENS=THREE) as server:
        for token in (ALICE, BOB):
            body = {"key": "plan", "text": f"The plan of {token[:3]}."}
            assert ask(server, "POST", "/api/v1/memories", body, Authorization=f"Bearer {token}").status == 200
        yield server


def sign_in(server, token):
    """The cookie and the token of the page."""
    answer = ask(server, "POST", SESSION, {"token": token}, Origin=own(server), **host(server))
    assert answer.status == 200, answer
    cookie, *attributes = answer.header("Set-Cookie").split("; ")
    assert {"HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=43200"} <= set(attributes) and "Secure" not in attributes
    return cookie, answer.json()["page_token"]


# ---- the page and its files ----


def test_the_page(open_server):
    answer = ask(open_server, "GET", "/", Accept_Encoding="gzip, deflate, br")
    assert answer.status == 200 and answer.header("Content-Type") == "text/html; charset=utf-8"
    policy = answer.header("Content-Security-Policy")
    assert "default-src 'none'" in policy and "script-src 'self'" in policy and "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy and answer.header("X-Frame-Options") == "DENY"
    page = gzip.decompress(answer.body)
    plain = ask(open_server, "GET", "/")
    assert plain.body == page and plain.header("Content-Encoding") is None
    assert ask(open_server, "GET", "/", If_None_Match=answer.header("ETag")).status == 304
    for name in re.findall(rb'(?:src|href)="/dashboard/([^"]+)"', page):
        assert ask(open_server, "GET", "/dashboard/" + name.decode()).status == 200
    for path in ("/dashboard/nothing.js", "/dashboard/../forage", "/dashboard/%2e%2e/x", "/dashboard/"):
        assert ask(open_server, "GET", path).status == 404, path


def test_any_site_may_lead_to_the_page_and_to_nothing_else(open_server):
    link = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}
    assert ask(open_server, "GET", "/", **link).status == 200
    assert ask(open_server, "GET", KEY, **link).status == 403
    assert ask(open_server, "GET", "/dashboard/index.html", **link).status == 403
    assert ask(open_server, "GET", "/", **{**link, "Sec_Fetch_Dest": "iframe"}).status == 403
    assert ask(open_server, "GET", "/", Host="evil.example").status == 403


def test_it_can_be_switched_off(tmp_path):
    with Server(FORAGE_DATA_DIR=tmp_path, FORAGE_DASHBOARD="off", FORAGE_TOKENS=THREE) as server:
        cookie = "forage_session=olga.9999999999999." + "0" * 64
        for method, path in (("GET", "/"), ("GET", "/dashboard/index.html"), ("GET", SESSION), ("POST", SESSION)):
            assert ask(server, method, path).status == 404, path
        assert ask(server, "GET", KEY, Cookie=cookie).status == 401


# ---- without tokens ----


def test_without_tokens_it_opens_as_it_is(open_server):
    session = ask(open_server, "GET", SESSION).json()
    assert session["signed_in"] and session["caller"] == "local" and session["operator"] and not session["tokens"]


def test_a_page_changes_something_only_with_its_own_token(open_server):
    browser = {"Origin": own(open_server), **host(open_server)}
    token = ask(open_server, "GET", SESSION).json()["page_token"]
    new = {"text": "Sail at noon."}
    for headers in (browser, {**browser, "X_Forage_Page": "0" * 64}, {**browser, "X_Forage_Page": token[:-1]}):
        for method, path, body in (("PUT", KEY, new), ("DELETE", KEY, b""), ("POST", "/api/v1/tools/memory_stats", {})):
            answer = ask(open_server, method, path, body, **headers)
            assert answer.status == 403 and "X-Forage-Page" in answer.json()["error"]["message"], (method, answer)
    assert ask(open_server, "GET", KEY, **browser).status == 200
    assert ask(open_server, "PUT", KEY, new, **browser, X_Forage_Page=token).status == 200
    # A program is no page, and sends neither.
    assert ask(open_server, "PUT", KEY, {"text": "Sail at dawn."}).status == 200


# ---- with tokens ----


@pytest.mark.parametrize("token", ["", "wrong", ALICE + "x", None, 5, ["a"]])
def test_a_wrong_token_signs_nobody_in(guarded, token):
    answer = ask(guarded, "POST", SESSION, {"token": token})
    assert answer.status == 401 and answer.header("Set-Cookie") is None


def test_bodies_of_strangers_are_short(guarded):
    assert ask(guarded, "POST", SESSION, {"token": "x" * 5000}).status == 413
    assert ask(guarded, "POST", SESSION, b"not json").status == 401


def test_a_cookie_stands_for_its_caller(guarded):
    cookie, page = sign_in(guarded, ALICE)
    assert ALICE not in cookie
    session = ask(guarded, "GET", SESSION, Cookie=f"other=1; {cookie}").json()
    assert session["caller"] == "alice" and not session["operator"] and session["page_token"] == page
    assert b"The plan of ali" in ask(guarded, "GET", KEY, Cookie=cookie).body
    # MCP is for programs, which bring their token with each request.
    assert ask(guarded, "POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"}, Cookie=cookie, X_Forage_Page=page).status == 401
    # Reading is all that it can do alone.
    assert ask(guarded, "DELETE", KEY, Cookie=cookie).status == 403
    assert ask(guarded, "DELETE", KEY, Cookie=cookie, X_Forage_Page="f" * 64).status == 403
    _, other = sign_in(guarded, BOB)
    assert ask(guarded, "PUT", KEY, {"text": "x"}, Cookie=cookie, X_Forage_Page=other).status == 403
    assert ask(guarded, "PUT", KEY, {"text": "The plan of alice."}, Cookie=cookie, X_Forage_Page=page).status == 200
    assert ask(guarded, "GET", "/api/v1/setup", Cookie=cookie).status == 403
    assert ask(guarded, "GET", SESSION).json() == {"version": session["version"], "tokens": True, "signed_in": False}


def test_cookies_that_are_made_up(guarded):
    cookie, _ = sign_in(guarded, ALICE)
    name, expires, seal = cookie.partition("=")[2].rsplit(".", 2)
    for value in (
        f"bob.{expires}.{seal}",
        f"{name}.{int(expires) + 1}.{seal}",
        f"{name}.{expires}.{'0' * 64}",
        f"{name}.{expires}",
        f"{name}.x.{seal}",
        "." * 100,
        "a" * 5000,
        f"local.{expires}.{seal}",
    ):
        assert ask(guarded, "GET", KEY, Cookie=f"forage_session={value}").status == 401, value
    # A token in the header counts, whatever the cookie says.
    assert ask(guarded, "GET", KEY, Cookie=cookie, Authorization="Bearer wrong").status == 401


def test_signing_out_ends_the_session(guarded):
    cookie, page = sign_in(guarded, ALICE)
    answer = ask(guarded, "DELETE", SESSION, Cookie=cookie, X_Forage_Page=page)
    assert answer.status == 200 and "Max-Age=0" in answer.header("Set-Cookie") and not answer.json()["signed_in"]
    assert ask(guarded, "GET", KEY, Cookie=cookie).status == 401


def sign_out(server, cookie, page):
    answer = ask(server, "DELETE", SESSION, Cookie=cookie, X_Forage_Page=page)
    assert answer.status == 200 and "Max-Age=0" in answer.header("Set-Cookie") and not answer.json()["signed_in"], answer


def counts(server, cookie):
    """Whether a cookie counts, by all that it opens."""
    session = ask(server, "GET", SESSION, Cookie=cookie).json()
    statuses = {ask(server, "GET", path, Cookie=cookie).status for path in (KEY, "/api/v1/tools", "/health?full", "/api/v1/memories/export")}
    assert statuses in ({200, 404}, {200}) if session["signed_in"] else statuses == {401}, (session, statuses)
    assert ("page_token" in session) == session["signed_in"]
    return session["signed_in"]


def make_up(server, cookie, count):
    """Signs out with cookies that nobody was given."""
    for number in range(count):
        made = f"{cookie[:-64]}{number:064x}"
        assert ask(server, "DELETE", SESSION, Cookie=made).status == 200


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_who_was_signed_out_stays_out(tmp_path, request, kind):  # noqa: F811
    """On two servers that share the records, after 300 cookies that were made up, and after a restart of both."""
    settings = {"FORAGE_DATA_DIR": tmp_path, "FORAGE_TOKENS": THREE}
    if kind == "postgresql":
        settings["FORAGE_DATABASE_URL"] = request.getfixturevalue("postgres").database()
    with Server(**settings) as server, Server(**settings) as other:
        (cookie, page), kept = sign_in(server, ALICE), None
        while kept in (None, cookie):  # of the same millisecond they would be one session
            kept, _ = sign_in(other, ALICE)
        assert counts(server, cookie) and counts(other, cookie)
        make_up(server, cookie, 1)
        assert counts(server, cookie) and counts(other, cookie)
        sign_out(server, cookie, page)
        assert not counts(server, cookie) and not counts(other, cookie)
        make_up(server, cookie, 300)
        assert not counts(server, cookie) and not counts(other, cookie)
        assert counts(server, kept) and counts(other, kept)
    with Server(**settings) as server, Server(**settings) as other:
        assert not counts(server, cookie) and not counts(other, cookie)
        assert counts(server, kept) and counts(other, kept)


def test_a_callers_own_sign_outs_bring_nothing_back(tmp_path):
    """The records keep 256 of them for a caller; beyond that older sessions are over, too."""
    with Server(FORAGE_DATA_DIR=tmp_path, FORAGE_TOKENS=THREE, FORAGE_STORE_SYNC="off") as server:
        first, page = sign_in(server, ALICE)
        sign_out(server, first, page)
        older, _ = sign_in(server, ALICE)
        other, _ = sign_in(server, BOB)
        for _ in range(258):
            cookie, page = sign_in(server, ALICE)
            sign_out(server, cookie, page)
        newer, _ = sign_in(server, ALICE)
        assert [counts(server, one) for one in (first, older, newer, other)] == [False, False, True, True]


def test_a_stream_ends_when_its_session_does(tmp_path):
    with Server(FORAGE_DATA_DIR=tmp_path, FORAGE_TOKENS=THREE) as server, Connection(server.port) as connection:
        cookie, page = sign_in(server, ALICE)
        connection.send(request("GET", "/api/v1/events", {"Cookie": cookie}))
        head = connection.head()
        assert head.status == 200
        sign_out(server, cookie, page)
        until = time.monotonic() + 2 * PATIENCE
        for _ in connection.pieces(head):
            assert time.monotonic() < until, "the stream goes on"


def test_an_import_by_cookie(tmp_path):
    """Its body comes while the records are asked for the session."""
    lines = b"".join(b'{"key":"k%d","text":"%s"}\n' % (number, b"long " * 200) for number in range(2000))
    with Server(FORAGE_DATA_DIR=tmp_path, FORAGE_TOKENS=THREE) as server:
        cookie, page = sign_in(server, ALICE)
        answer = ask(server, "POST", "/api/v1/memories/import", lines, Cookie=cookie, X_Forage_Page=page)
        assert answer.status == 200 and answer.json()["data"]["imported"] == 2000
        sign_out(server, cookie, page)
        with Connection(server.port) as connection:
            connection.send(request("POST", "/api/v1/memories/import", {"Cookie": cookie, "X-Forage-Page": page}, lines))
            assert connection.response().status == 401


def test_records_that_cannot_be_read_let_no_cookie_in(tmp_path):
    data = tmp_path / "data"
    with Server(FORAGE_DATA_DIR=data, FORAGE_TOKENS=THREE) as server:
        cookie, page = sign_in(server, ALICE)
        assert counts(server, cookie)
    for file in data.glob("records*"):
        file.rename(tmp_path / file.name)
    (data / "records.sqlite").mkdir()
    with Server(FORAGE_DATA_DIR=data, FORAGE_TOKENS=THREE) as server:
        refused = ask(server, "GET", KEY, Cookie=cookie)
        assert refused.status == 502 and "no cookie counts" in refused.json()["error"]["message"]
        assert not ask(server, "GET", SESSION, Cookie=cookie).json()["signed_in"]
        kept = ask(server, "DELETE", SESSION, Cookie=cookie, X_Forage_Page=page)
        assert kept.status == 502 and kept.header("Set-Cookie") is None
        assert ask(server, "GET", "/api/v1/tools", Authorization=f"Bearer {ALICE}").status == 200
        assert ask(server, "GET", "/", Cookie=cookie).status == 200


def test_sessions_outlive_a_restart_and_end_with_their_token(tmp_path):
    with Server(FORAGE_DATA_DIR=tmp_path, FORAGE_TOKENS=THREE) as server:
        cookie, page = sign_in(server, ALICE)
    with Server(FORAGE_DATA_DIR=tmp_path, FORAGE_TOKENS=THREE) as server:
        assert ask(server, "GET", SESSION, Cookie=cookie).json()["page_token"] == page
    with Server(FORAGE_DATA_DIR=tmp_path, FORAGE_TOKENS=THREE.replace(ALICE, "another-token-84736251")) as server:
        assert not ask(server, "GET", SESSION, Cookie=cookie).json()["signed_in"]


def test_behind_tls_the_cookie_is_for_tls_alone(tmp_path):
    with Server(FORAGE_DATA_DIR=tmp_path, FORAGE_TOKENS=THREE, FORAGE_TRUST_PROXY="127.0.0.1") as server:
        headers = {"X_Forwarded_Proto": "https", "X_Forwarded_For": "192.0.2.7"}
        answer = ask(server, "POST", SESSION, {"token": ALICE}, **headers)
        assert "Secure" in answer.header("Set-Cookie")


# ---- operators ----


def test_an_operator_speaks_for_others(guarded):
    operator = {"Authorization": f"Bearer {OPERATOR}"}
    assert ask(guarded, "GET", KEY, **operator).status == 404
    assert b"The plan of bob" in ask(guarded, "GET", KEY, X_Forage_Caller="bob", **operator).body
    assert ask(guarded, "GET", KEY, X_Forage_Caller="nobody", **operator).status == 404
    answer = ask(guarded, "GET", KEY, X_Forage_Caller="bob", Authorization=f"Bearer {ALICE}")
    assert answer.status == 403 and "operator" in answer.json()["error"]["message"]


def test_what_an_operator_sees(guarded):
    operator = {"Authorization": f"Bearer {OPERATOR}"}
    setup = ask(guarded, "GET", "/api/v1/setup", **operator).json()
    assert setup["callers"] == [{"name": "alice", "operator": False}, {"name": "bob", "operator": False}, {"name": "olga", "operator": True}]
    text = ask(guarded, "GET", "/api/v1/setup", **operator).body.decode()
    assert ALICE not in text and BOB not in text and OPERATOR not in text
    (tokens,) = [one for one in setup["settings"]["variables"] if one["name"] == "FORAGE_TOKENS"]
    assert tokens["secret"] is True
    cursor = next(one for one in setup["clients"] if one["id"] == "cursor")
    assert "127.0.0.1" in cursor["http"] and "FORAGE_TOKEN" in cursor["http"] and "mcpServers" in cursor["stdio"]
    assert "ok" in ask(guarded, "GET", "/api/v1/doctor", **operator).json()


@pytest.mark.parametrize("pair", ["+operator:token-0123456789-abc", "ada+admin:token-0123456789-abc", "ada+operator", "ada+:token-0123456789-abc"])
def test_wrong_roles(pair):
    done = run("tools", FORAGE_TOKENS=pair)
    assert done.returncode == 2 and "name+operator:token" in done.stderr, done.stderr
