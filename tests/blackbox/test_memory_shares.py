"""What callers share of the memories: the memory that word indexes take, and room in the store."""

import contextlib
import itertools
import json
import random
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import ALICE, BOB
from memory_world import PATH, ask, check_store, over_rest, postgres, world_of  # noqa: F401 (a fixture)
from http_client import exchange, request
from programs import SANITIZED, Server, run, wait_until
from test_shares import stock

MB = 1_000_000
INDEXES = 8 * MB  # that all indexes together may take


def rare_words(seed, size):
    """Lines of an import in which no word comes twice: their index is many times as large as they are."""
    dice = random.Random(seed)
    lines = []
    while size > 0:
        text = " ".join(f"{dice.getrandbits(36):09x}" for _ in range(5000))
        lines.append({"key": f"k{len(lines)}", "text": text})
        size -= len(text)
    return lines


def load(server, token, namespace, lines):
    answer = ask(server.port, "POST", PATH + "/import", {"namespace": namespace}, lines=lines, token=token)
    assert answer.status == 200, answer


def search(server, token, namespace, query):
    """The keys that a search gives."""
    body = over_rest(server.port, "memory_search", {"query": query, "namespace": namespace}, token=token)
    assert body["success"], body
    return [result["key"] for result in body["data"]["results"]]


def resident(server):
    """Bytes of memory that are the program's alone."""
    with open(f"/proc/{server.pid}/smaps_rollup") as lines:
        return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def test_indexes_leave_memory(tmp_path):
    """Indexes share their memory, and the largest of them goes with the search that needed it."""
    tokens = f"alice:{ALICE},bob:{BOB}"
    with Server(FORAGE_TOKENS=tokens, FORAGE_DATA_DIR=tmp_path, FORAGE_MEMORY_INDEXES=INDEXES) as server:
        load(server, BOB, "small", [{"key": "tea", "text": "Tea is in the blue tin."}])
        assert search(server, BOB, "small", "tea") == ["tea"]
        (used, limit, _refused) = stock(server, BOB, "index_bytes")
        assert 0 < used < limit == INDEXES
        before = resident(server)
        large = {f"large {number}": rare_words(number, 2 * MB) for number in range(3)}
        for namespace, lines in large.items():
            load(server, ALICE, namespace, lines)
            assert search(server, ALICE, namespace, lines[7]["text"].split()[11]) == ["k7"]
            assert stock(server, BOB, "large_indexes")[:2] == (0, 1)
        (kept, _limit, refused) = stock(server, BOB, "index_bytes")
        assert used <= kept <= INDEXES and refused > 0, "Bob's index was not in the way of hers"
        assert SANITIZED or resident(server) - before < 2 * INDEXES + 16 * MB
        assert search(server, ALICE, "large 0", large["large 0"][3]["text"].split()[0]) == ["k3"]
        assert search(server, BOB, "small", "tin") == ["tea"]


def test_the_oldest_indexes_go_first(tmp_path):
    """Where there is one caller it has all of the memory, and what it searched last stays."""
    with Server(FORAGE_TOKENS=f"alice:{ALICE}", FORAGE_DATA_DIR=tmp_path, FORAGE_MEMORY_INDEXES=INDEXES) as server:
        seen = []
        for number in range(6):
            lines = rare_words(number, MB // 5)
            load(server, ALICE, f"space {number}", lines)
            assert search(server, ALICE, f"space {number}", lines[1]["text"].split()[0]) == ["k1"]
            (used, _limit, refused) = stock(server, ALICE, "index_bytes")
            seen.append((used, refused))
        assert seen[0][0] < seen[1][0] and seen[1][1] == 0, "two find a place"
        assert all(used <= INDEXES for used, _refused in seen) and seen[-1][1] > 0


# ---- imports ----

IMPORTERS = 4
LINES = 5000


def waiting(server):
    """How many calls, imports aside, have waited for the store for a second."""
    body = exchange(server.port, request("GET", "/health")).json()
    return sum(wait["calls"] for wait in body.get("waiting", []))


def test_an_add_goes_before_the_imports_that_wait(tmp_path):
    """While one import is at work three more come, and then somebody adds a memory: it is written before the three."""
    lines = [{"key": f"k{number}", "text": f"Line {number} of many."} for number in range(4000)]
    with Server(FORAGE_TOKENS=f"alice:{ALICE},bob:{BOB}", FORAGE_DATA_DIR=tmp_path) as server, ThreadPoolExecutor(8) as clients:
        load(server, ALICE, "first", [{"key": "made", "text": "The file is there."}])
        with contextlib.closing(sqlite3.connect(tmp_path / "memory.db", isolation_level=None)) as store:
            store.execute("BEGIN IMMEDIATE")
            calls = [clients.submit(load, server, ALICE, f"import {number}", lines) for number in range(IMPORTERS)]
            assert wait_until(lambda: stock(server, BOB, "workers")[0] == IMPORTERS)
            for number in range(2):  # the second comes when the first has waited for a second, as the imports have by then
                add = {"key": f"quick {number}", "text": "Quick.", "namespace": f"add {number}"}
                calls.append(clients.submit(over_rest, server.port, "memory_add", add, token=BOB))
                assert wait_until(lambda wanted=number + 1: waiting(server) == wanted)
            store.execute("COMMIT")
            for call in calls:
                call.result()
            times = dict(store.execute("SELECT space.name, min(updated) FROM memory JOIN space ON space.id = memory.space GROUP BY 1"))
    begun = sorted(times[f"import {number}"] for number in range(IMPORTERS))
    assert begun[0] <= times["add 1"] <= begun[1], times


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_adds_while_others_import(tmp_path, request, kind):  # noqa: F811
    """Adds are acknowledged while every one of four long imports is still under way."""
    settings = {"FORAGE_TOKENS": f"alice:{ALICE},bob:{BOB}", "FORAGE_DATA_DIR": tmp_path}
    if kind == "postgresql":
        settings["FORAGE_DATABASE_URL"] = request.getfixturevalue("postgres").database()
    lines = "".join(json.dumps({"key": f"k{number}", "text": f"Line {number} of many."}) + "\n" for number in range(LINES)).encode()
    with Server(**settings) as server, ThreadPoolExecutor(IMPORTERS) as clients:
        imports = [clients.submit(load, server, ALICE, f"import {number}", lines) for number in range(IMPORTERS)]
        beside = 0
        while not any(one.done() for one in imports):
            assert over_rest(server.port, "memory_add", {"text": f"Memory {beside}."}, token=BOB)["success"]
            beside += not any(one.done() for one in imports)
        for one in imports:
            one.result()
        stats = over_rest(server.port, "memory_stats", {}, token=ALICE)["data"]
    assert beside > 2 and sum(space["memories"] for space in stats["namespaces"]) == IMPORTERS * LINES
    check_store(settings)


# ---- the quota ----

QUOTA = 20_000
EACH = 200  # bytes that a memory counts besides its texts


@contextlib.contextmanager
def quota_world(kind, folder, request, **settings):
    """Alice and Bob, a quota, and as many servers as the kind has; what is counted is right at the end."""
    settings = {"FORAGE_DATA_DIR": folder, "FORAGE_TOKENS": f"alice:{ALICE},bob:{BOB}", "FORAGE_SHARED_NAMESPACES": "team", **settings}
    if kind == "postgresql":
        settings["FORAGE_DATABASE_URL"] = request.getfixturevalue("postgres").database()
    with world_of(kind, {"FORAGE_MEMORY_QUOTA": QUOTA, "FORAGE_MEMORY_VERSIONS": 2, **settings}) as world:
        yield Asking(world, ALICE), Asking(world, BOB)
    check_store(settings)


class Asking:
    """A caller of a world, whose calls any server answers."""

    def __init__(self, world, token):
        self._ports = itertools.cycle([server.port for server in world.servers])
        self._token = token

    def ask(self, tool, **arguments):
        return over_rest(next(self._ports), f"memory_{tool}", arguments, token=self._token)

    def do(self, tool, **arguments):
        body = self.ask(tool, **arguments)
        assert body["success"], body
        return body["data"]

    def refused(self, tool, **arguments):
        body = self.ask(tool, **arguments)
        assert not body["success"] and body["error"]["code"] == "QUOTA", body
        return body["error"]

    def load(self, lines):
        return ask(next(self._ports), "POST", PATH + "/import", lines=lines, token=self._token)

    def used(self):
        return self.do("stats")["used_bytes"]


@pytest.mark.parametrize("kind", ["sqlite", "sqlite-four", "postgresql"])
def test_quota(tmp_path, request, kind):
    with quota_world(kind, tmp_path, request) as (alice, bob):
        alice.do("add", key="one", text="x" * 9000, summary="s", namespace="here")
        assert alice.used() == EACH + len("one") + 9000 + len("s") and alice.do("stats")["quota_bytes"] == QUOTA
        alice.do("add", key="two", text="y" * 9400, summary="s", namespace="there")
        used = alice.used()
        error = alice.refused("add", key="three", text="z" * 3000)
        assert error["details"] == {"used_bytes": used, "wanted_bytes": used + EACH + 5 + 3000 + 123, "quota_bytes": QUOTA}
        for words in (str(used), str(QUOTA), "FORAGE_MEMORY_QUOTA", "delete memories", "earlier versions"):
            assert words in error["message"]
        assert not alice.ask("get", key="three")["success"] and alice.used() == used
        # Everything that takes more is refused, whatever it is called.
        alice.refused("update", key="one", text="x" * 9001, namespace="here")
        alice.refused("update", key="one", metadata={"x": "y" * 2000}, namespace="here")
        alice.do("add", key="k" * 400, text="small")
        alice.refused("rename", key="k" * 400, new_key="k" * 1000)
        before = alice.used()
        answer = alice.load([{"key": "few", "text": "few words"}, {"key": "many", "text": "many " * 400}])
        assert answer.status == 507 and answer.json()["error"]["code"] == "QUOTA" and alice.used() == before
        assert not alice.ask("get", key="few")["success"]
        # Who is over it may still make less of it; others and what is shared have their own.
        bob.do("add", key="mine", text="b" * 15000)
        alice.do("add", key="ours", text="c" * 15000, namespace="team")
        assert "shared namespaces" in bob.refused("add", key="ours too", text="c" * 9000, namespace="team")["message"]
        assert bob.do("stats")["shared_bytes"] > 15000
        alice.do("delete", key="two", namespace="there")
        assert alice.used() == before - 9400 - EACH - len("two") - len("s")
        alice.do("update", key="one", text="x" * 100, namespace="here")
        alice.do("update", key="one", text="x" * 50, namespace="here")
        alice.do("update", key="one", text="x" * 25, namespace="here")
        # Two earlier versions are kept, of 100 and 50 characters; the long one is gone.
        assert alice.used() == EACH + 400 + 2 * len("small") + 3 * (EACH + len("s")) + len("one") + 175
        alice.do("add", key="long", text="z" * 9000)
        alice.do("update", key="long", text="short")
        alice.refused("update", key="long", version=1, summary="x" * 2000)
        alice.do("delete", keys=["long", "k" * 400])
        alice.do("delete", key="one", namespace="here")
        assert alice.used() == 0


@pytest.mark.parametrize("kind", ["sqlite-four", "postgresql"])
def test_quota_of_many_at_once(tmp_path, request, kind):
    """Eight clients in four namespaces: together they fill it, and not a byte more."""
    size = 700
    with quota_world(kind, tmp_path, request) as (alice, _bob):
        taken = []

        def fill(client):
            for number in range(10):
                body = alice.ask("add", key=f"{client} {number}", text="x" * size, summary="s", namespace=f"n{client % 4}")
                assert body["success"] or body["error"]["code"] == "QUOTA", body
                taken.append(body["success"])

        with ThreadPoolExecutor(8) as clients:
            list(clients.map(fill, range(8)))
        each = EACH + len("0 0") + size + len("s")
        assert sum(taken) == QUOTA // each and alice.used() == QUOTA // each * each


def test_a_lower_quota_takes_nothing(tmp_path):
    """What is there stays and is read; it can be deleted and made smaller, and nothing can be added."""
    settings = {"FORAGE_DATA_DIR": tmp_path}
    assert run("memory", "add", "a text " * 100, "--key", "old", **settings).returncode == 0
    settings["FORAGE_MEMORY_QUOTA"] = "500B"
    refused = run("memory", "add", "more", **settings)
    assert refused.returncode == 1 and "your memories take " in refused.stderr
    assert " of 500\n" in run("memory", "stats", **settings).stdout
    assert run("memory", "get", "old", **settings).stdout.startswith("a text")
    assert run("memory", "update", "old", "less", FORAGE_MEMORY_VERSIONS=0, **settings).returncode == 0
    assert run("memory", "add", "more", **settings).returncode == 0
