"""Each caller has namespaces of its own, unless the operator shares some: nobody reads, changes or even counts
another's memories, by any tool or route, whatever name is given."""

import json

import pytest
from conftest import ALICE, BOB
from http_client import exchange, request
from memory_world import PATH, ask, over_mcp, over_rest, path_of, postgres  # noqa: F401 (a fixture)
from programs import Server

# It is in every part of each of Alice's memories; no answer to Bob may hold it, other than what he said himself.
MARK = "okapi"
SPACES = ["default", "private"]


def alice_adds(server):
    for space in SPACES:
        for number in range(3):
            memory = {
                "key": f"{MARK}-{number}",
                "text": f"The {MARK} sleeps in room {number}.",
                "summary": f"{MARK} {number}",
                "tags": [MARK],
                "session": MARK,
                "role": MARK,
                "metadata": {"animal": MARK},
                "namespace": space,
            }
            assert over_rest(server.port, "memory_add", memory, ALICE)["success"]


def alice_has(server):
    return [ask(server.port, "GET", PATH + "/export", {"namespace": space}, token=ALICE).body for space in SPACES]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def server(request, tmp_path_factory):
    settings = {
        "FORAGE_DATA_DIR": tmp_path_factory.mktemp("callers"),
        "FORAGE_TOKENS": f"alice:{ALICE},bob:{BOB}",
        "FORAGE_SHARED_NAMESPACES": "team, all of us",
    }
    if request.param == "postgresql":
        settings["FORAGE_DATABASE_URL"] = request.getfixturevalue("postgres").database()
    with Server(**settings) as server:
        alice_adds(server)
        yield server


KEY = f"{MARK}-0"
# Names that might lead a careless program to Alice's namespaces.
NAMES = ["default", "private", "alice", "alice/private", "alice:private", "../alice/private", "%", "*", "' OR 1=1 --"]


def by_tool(tool, **arguments):
    return lambda port: json.dumps(over_rest(port, f"memory_{tool}", arguments, BOB)).encode()


def by_mcp(tool, **arguments):
    return lambda port: json.dumps(over_mcp(port, f"memory_{tool}", arguments, BOB)).encode()


def by_route(method, path, query=None, **more):
    return lambda port: ask(port, method, path, query, token=BOB, **more).body


def by_header(name, value):
    def attempt(port):
        headers = {"Authorization": f"Bearer {BOB}", name: value}
        return exchange(port, request("GET", PATH + "/search?q=sleeps", headers)).body

    return attempt


ATTEMPTS = {
    # Every tool, in a namespace of the same name as one of Alice's.
    "get": by_tool("get", key=KEY),
    "get many": by_mcp("get", keys=[KEY, f"{MARK}-1"]),
    "get in private": by_tool("get", key=KEY, namespace="private"),
    "get with neighbours": by_mcp("get", key=KEY, neighbours=5, namespace="private"),
    "list": by_mcp("list"),
    "list in private": by_tool("list", namespace="private"),
    "list by prefix": by_tool("list", prefix="o"),
    "list by tag": by_mcp("list", tags=[MARK]),
    "list by session": by_tool("list", session=MARK, role=MARK),
    "search": by_mcp("search", query="sleeps in which room"),
    "search in private": by_tool("search", query="sleeps", namespace="private"),
    "search by session": by_tool("search", query="sleeps", session=MARK),
    "fulltext": by_mcp("fulltext_search", keywords="sleeps"),
    "fulltext prefix": by_tool("fulltext_search", keywords="sl*", namespace="private"),
    "stats": by_mcp("stats"),
    "stats of private": by_tool("stats", namespace="private"),
    "update": by_tool("update", key=KEY, text="changed"),
    "update nothing": by_mcp("update", key=KEY, tags=["x"], namespace="private"),
    "rename": by_tool("rename", key=KEY, new_key="mine"),
    "delete": by_mcp("delete", keys=[f"{MARK}-0", f"{MARK}-1"], namespace="private"),
    "add to her session": by_mcp("add", text="a turn", key="turn", session=MARK),
    "replace": by_tool("add", text="mine now", key=f"{MARK}-2"),
    # Every route.
    "GET a memory": by_route("GET", path_of(KEY)),
    "GET with neighbours": by_route("GET", path_of(KEY), {"neighbours": 5, "namespace": "private"}),
    "GET the list": by_route("GET", PATH, {"namespace": "private"}),
    "GET a search": by_route("GET", PATH + "/search", {"q": "sleeps", "namespace": "private"}),
    "GET a full-text search": by_route("GET", PATH + "/fulltext", {"keywords": "sleeps room"}),
    "GET an export": by_route("GET", PATH + "/export"),
    "GET an export of private": by_route("GET", PATH + "/export", {"namespace": "private"}),
    "PUT": by_route("PUT", path_of(f"{MARK}-1"), {"namespace": "private"}, body={"text": "mine now"}),
    "PATCH": by_route("PATCH", path_of(KEY), body={"text": "mine now"}),
    "DELETE": by_route("DELETE", path_of(KEY), {"namespace": "private"}),
    "POST": by_route("POST", PATH, body={"text": "mine", "key": f"{MARK}-0"}),
    "import": by_route("POST", PATH + "/import", {"namespace": "private"}, lines=[{"key": KEY, "text": "mine"}]),
    # Names, parameters and headers that might open a door.
    **{f"namespace {name}": by_tool("search", query="sleeps", namespace=name) for name in NAMES},
    **{f"export of {name}": by_route("GET", PATH + "/export", {"namespace": name}) for name in NAMES},
    "an owner": by_tool("search", query="sleeps", owner="alice"),
    "a caller in the query": by_route("GET", PATH + "/search", {"q": "sleeps", "caller": "alice"}),
    "a path upwards": by_route("GET", PATH + "/../alice/memories/" + KEY),
    "two namespaces": by_route("GET", PATH + "/search?q=sleeps&namespace=private&namespace=default"),
    "another user": by_header("X-Forwarded-User", "alice"),
    "another caller": by_header("X-Caller", "alice"),
    "an old number": by_header("X-Request-Id", "alice"),
}
assert len(ATTEMPTS) >= 40


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_nobody_reaches_across(server, attempt):
    before = alice_has(server)
    assert all(body.count(MARK.encode()) >= 12 for body in before), "Alice's memories are not where they should be"
    body = ATTEMPTS[attempt](server.port)
    # Keys and texts that Bob gave himself may come back; what only Alice said may not.
    assert b"sleeps in" not in body and b"animal" not in body and b'"session": "okapi"' not in body
    assert b'"memories": 3' not in body
    assert alice_has(server) == before
    for space in SPACES:  # what he added himself must not be found by the next attempt
        lines = ask(server.port, "GET", PATH + "/export", {"namespace": space}, token=BOB).body.split(b"\n")[:-1]
        for line in lines:
            ask(server.port, "DELETE", path_of(json.loads(line)["key"]), {"namespace": space}, token=BOB)


def test_the_same_text_is_no_duplicate_of_anothers(server):
    """Otherwise it would tell that she has it, and under which key."""
    text = f"The {MARK} sleeps in room 0."
    added = over_rest(server.port, "memory_add", {"text": text, "key": "mine"}, BOB)["data"]
    assert added["outcome"] == "added" and added["version"] == 1
    over_rest(server.port, "memory_delete", {"key": "mine"}, BOB)
    added = over_rest(server.port, "memory_add", {"text": text, "session": MARK}, BOB)["data"]
    assert added["outcome"] == "added"
    got = over_rest(server.port, "memory_get", {"key": added["key"], "neighbours": 5}, BOB)["data"]["results"][0]
    assert got["place"] == 0 and "neighbours" not in got
    over_rest(server.port, "memory_delete", {"key": added["key"]}, BOB)


def test_without_a_token(server):
    for method, path in [("GET", PATH), ("GET", path_of(KEY)), ("GET", PATH + "/export"), ("DELETE", path_of(KEY))]:
        assert ask(server.port, method, path).status == 401


def test_shared_namespaces(server):
    for name in ("team", "all of us"):
        added = over_rest(server.port, "memory_add", {"text": f"for {name}", "namespace": name, "key": "k"}, ALICE)
        assert added["data"]["outcome"] == "added"
        got = over_mcp(server.port, "memory_get", {"key": "k", "namespace": name}, BOB)
        assert got["data"]["results"][0]["text"] == f"for {name}"
        changed = over_rest(server.port, "memory_update", {"key": "k", "text": "changed", "namespace": name}, BOB)
        assert changed["success"]
        found = over_rest(server.port, "memory_fulltext_search", {"keywords": "changed", "namespace": name}, ALICE)
        assert [hit["key"] for hit in found["data"]["results"]] == ["k"]
    for token in (ALICE, BOB):
        every = over_rest(server.port, "memory_stats", {}, token)["data"]["namespaces"]
        assert {one["name"] for one in every if one["shared"]} == {"team", "all of us"}


def test_how_much_all_callers_keep_is_not_told(server):
    for token in (ALICE, BOB):
        assert "file_bytes" not in over_rest(server.port, "memory_stats", {}, token)["data"]


def test_what_is_shared_no_longer_is_nobodys(tmp_path):
    """A namespace that the operator stops sharing is not suddenly one caller's, and comes back when shared again."""
    settings = {"FORAGE_DATA_DIR": tmp_path, "FORAGE_TOKENS": f"alice:{ALICE},bob:{BOB}"}
    wanted = {"key": "k", "namespace": "team"}
    for shared in ("team", "other", "team"):
        with Server(FORAGE_SHARED_NAMESPACES=shared, **settings) as server:
            if not (tmp_path / "memory.db").exists():
                over_rest(server.port, "memory_add", {**wanted, "text": "ours"}, ALICE)
            for token in (ALICE, BOB):
                assert over_rest(server.port, "memory_get", wanted, token)["success"] is (shared == "team")
                names = [one["name"] for one in over_rest(server.port, "memory_stats", {}, token)["data"]["namespaces"]]
                assert ("team" in names) is (shared == "team")
