"""What calls come to, for people who look: single calls and their sums, the history with its results, what the program does,
and all of it as a stream."""

import collections
import contextlib
import json
import math
import random
import signal
import sqlite3
import statistics
import time

import pytest
from conftest import ALICE, BOB, OPERATOR
from http_client import Connection, exchange, request
from postgres import postgres  # noqa: F401 (a fixture)
from programs import CONFORMANCE, Server, Stdio, run, wait_until
from records import TOOL, get, spend, spending_server

THREE = f"alice:{ALICE},bob:{BOB},olga+operator:{OPERATOR}"
NANO = {"model": "gpt-5-nano", "input_tokens": 1000, "output_tokens": 500}  # 0.00025 dollars


def remember(port, text="Tea is in the blue tin.", token=None):
    headers = {"Authorization": f"Bearer {token}"} if token else None
    return exchange(port, request("POST", "/api/v1/memories", headers, {"text": text}))


def overview(port, query="", token=None):
    answer = get(port, "/api/v1/overview" + query, token)
    assert answer.status == 200, answer
    return answer.json()


def calls_of(port, query="", token=None):
    answer = get(port, "/api/v1/calls" + query, token)
    assert answer.status == 200, answer
    return answer.json()["calls"]


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request, tmp_path):
    settings = {"FORAGE_DATA_DIR": tmp_path / "data"}
    (tmp_path / "data").mkdir()
    if request.param == "postgresql":
        settings["FORAGE_DATABASE_URL"] = request.getfixturevalue("postgres").database()
    return settings


# ---- single calls and their sums ----


def test_calls_are_recorded_and_summed(store):
    with Server(CONFORMANCE, FORAGE_TOKENS=THREE, **store) as server:
        spend(server.port, ALICE, **NANO)
        spend(server.port, ALICE, **NANO, fail="no luck")
        spend(server.port, BOB, tool="test_spend_kept", query="again", **NANO)
        spend(server.port, BOB, tool="test_spend_kept", query="again", **NANO)
        mine = overview(server.port, token=ALICE)
        assert mine["span"] == "hour" and mine["step_s"] == 60 and len(mine["series"]) == 60
        assert mine["total"]["calls"] == 2 and mine["total"]["failures"] == 1 and mine["total"]["cached"] == 0
        assert mine["total"]["usd"] == pytest.approx(0.0005) and mine["total"]["input_tokens"] == 2000
        assert [one["name"] for one in mine["tools"]] == [TOOL] and [one["name"] for one in mine["callers"]] == ["alice"]
        assert sum(step["calls"] for step in mine["series"]) == 2
        for span, steps in (("day", 24), ("month", 30)):
            all_of_them = overview(server.port, f"?span={span}&caller=*", OPERATOR)
            assert len(all_of_them["series"]) == steps and all_of_them["total"]["calls"] == 4
            assert all_of_them["total"]["cached"] == 1
            assert {one["name"]: one["calls"] for one in all_of_them["callers"]} == {"alice": 2, "bob": 2}
        assert overview(server.port, "?caller=bob&tool=test_spend_kept", OPERATOR)["total"]["calls"] == 2
        assert overview(server.port, "?caller=*&tool=nothing", OPERATOR)["total"]["calls"] == 0
        failed, good = calls_of(server.port, token=ALICE)
        assert failed["error"] == "PROVIDER" and "error" not in good and good["tool"] == TOOL and good["ms"] >= 0
        assert good["usd"] == pytest.approx(0.00025) and "query" not in json.dumps(good)
        assert [one["id"] for one in calls_of(server.port, "?outcome=failed&caller=*", OPERATOR)] == [failed["id"]]
        assert [one["id"] for one in calls_of(server.port, "?outcome=PROVIDER", ALICE)] == [failed["id"]]
        assert len(calls_of(server.port, "?outcome=cached&caller=*", OPERATOR)) == 1
        assert len(calls_of(server.port, f"?before={failed['id']}", ALICE)) == 1
        assert calls_of(server.port, "?until=2026-01-01", ALICE) == []


def test_calls_that_ask_nobody_are_recorded_soon(store):
    """Those of memory, also over stdio and whoever else writes to the same records."""
    with Server(**store) as server, Stdio(**store) as client:
        client.handshake()
        assert remember(server.port).status == 200
        client.ask("tools/call", {"name": "memory_search", "arguments": {"query": "tea"}})
        seen = wait_until(lambda: len(calls := calls_of(server.port)) == 2 and calls)
        assert {one["tool"] for one in seen} == {"memory_add", "memory_search"}
        assert overview(server.port)["total"]["calls"] == 2


def test_nothing_is_lost_when_a_server_ends(tmp_path):
    with Server(FORAGE_DATA_DIR=tmp_path) as server:
        for _ in range(5):
            assert remember(server.port).status == 200
    with Server(FORAGE_DATA_DIR=tmp_path) as server:
        assert len(calls_of(server.port)) == 5


def test_commands_are_no_traffic(tmp_path):
    """`forage memory` opens no records for the sake of a statistic."""
    assert run("memory", "add", "Tea.", FORAGE_DATA_DIR=tmp_path).returncode == 0
    assert not (tmp_path / "records.sqlite").exists()


def test_single_calls_have_a_ceiling_and_an_age(tmp_path):
    with spending_server(tmp_path) as server:
        for _ in range(3):
            spend(server.port, **NANO)
    with contextlib.closing(sqlite3.connect(tmp_path / "records.sqlite")) as records:
        records.execute("UPDATE calls SET at_ms = at_ms - 3 * 86400000 WHERE id = 1")
        records.executemany(
            "INSERT INTO calls VALUES (?, ?, 'local', 'x', '', 5, NULL, 0, 0, 0, 0)",
            [(1000 + number, int(time.time() * 1000)) for number in range(700)],
        )
        records.commit()
    with spending_server(tmp_path, FORAGE_CALLS_TTL="2d", FORAGE_CALLS_KEPT=100) as server:
        for _ in range(500):  # what is old goes now and then
            spend(server.port)
        kept = calls_of(server.port, "?limit=1000")
        assert len(kept) <= 100 + 500 and min(one["id"] for one in kept) > 1000
    with spending_server(tmp_path, FORAGE_CALLS_KEPT=0) as server:
        before = len(calls_of(server.port, "?limit=1000"))
        spend(server.port)
        assert len(calls_of(server.port, "?limit=1000")) == before
        assert overview(server.port)["total"]["calls"] == 504, "sums go on"


def bucket_of(took_us):
    """As the table has them: an eighth of an octave each, from a tenth of a millisecond on."""
    return 0 if took_us < 100 else min(1 + math.floor(8 * math.log2(took_us / 100)), 199)


def test_medians_are_close(tmp_path):
    """Of times that stand in the table, against the same computed exactly."""
    chance = random.Random(7)
    times = sorted(int(chance.lognormvariate(11, 1.2)) for _ in range(4000))
    now = int(time.time() * 1000)
    with spending_server(tmp_path) as server:
        spend(server.port)
    with contextlib.closing(sqlite3.connect(tmp_path / "records.sqlite")) as records:
        records.execute("DELETE FROM tallies")
        for bucket, count in collections.Counter(map(bucket_of, times)).items():
            row = [now - now % 60000, bucket, count]
            records.execute("INSERT INTO tallies VALUES (60000, ?, 'local', 'x', '', ?, ?, 0, 0, 0, 0, 0)", row)
        records.commit()
    with spending_server(tmp_path) as server:
        total = overview(server.port)["total"]
    assert total["calls"] == 4000
    assert total["p50_ms"] == pytest.approx(statistics.median(times) / 1000, rel=0.05)
    assert total["p95_ms"] == pytest.approx(times[int(0.95 * len(times))] / 1000, rel=0.05)


def test_limits_and_budgets_tell_what_is_left(tmp_path):
    limits = {"FORAGE_LIMITS": f"{TOOL}=5/10m,*=100/24h", "FORAGE_LIMITS_TOTAL": f"{TOOL}=50/1h"}
    with spending_server(tmp_path, FORAGE_TOKENS=THREE, FORAGE_DAILY_BUDGET_USD="1", **limits) as server:
        for _ in range(2):
            spend(server.port, ALICE, **NANO)
        told = overview(server.port, token=ALICE)
        left = {(one["tool"], one["for_all"]): one["left"] for one in told["limits"]}
        assert left[(TOOL, False)] == 3 and left[("*", False)] == 98 and left[(TOOL, True)] == 48
        (budget,) = told["budgets"]
        assert budget["usd"] == 1 and budget["spent_usd"] == pytest.approx(0.0005) and not budget["for_all"]
        assert all(one["for_all"] for one in overview(server.port, "?caller=*", OPERATOR)["limits"])
        assert told["store"]["engine"] == "sqlite" and told["store"]["bytes"] > 4096


# ---- history ----


def test_the_history_has_results(store):
    with Server(CONFORMANCE, FORAGE_HISTORY=1, FORAGE_TOKENS=THREE, **store) as server:
        spend(server.port, ALICE, query="How deep is 100% of it_all?", **NANO)
        spend(server.port, ALICE, query="How wide?", fail="no luck")
        spend(server.port, BOB, query="How deep is it?")
        past = get(server.port, "/api/v1/history", ALICE).json()["calls"]
        assert [one["caller"] for one in past] == ["alice", "alice"] and all(one["has_result"] for one in past)
        whole = get(server.port, f"/api/v1/history/{past[1]['id']}", ALICE).json()
        assert whole["arguments"]["query"].startswith("How deep") and whole["result"]["success"] is True
        assert get(server.port, f"/api/v1/history/{past[0]['id']}", ALICE).json()["result"]["error"]["code"] == "PROVIDER"
        for text, count in (("DEEP", 1), ("100%25", 1), ("it_all", 1), ("itxall", 0), ("wide", 1)):
            assert len(get(server.port, f"/api/v1/history?text={text}", ALICE).json()["calls"]) == count, text
        assert len(get(server.port, "/api/v1/history?text=deep&caller=*", OPERATOR).json()["calls"]) == 2
        assert get(server.port, f"/api/v1/history/{past[0]['id']}", BOB).status == 404
        assert get(server.port, f"/api/v1/history/{past[0]['id']}?caller=*", OPERATOR).status == 200
        assert get(server.port, "/api/v1/history?caller=*", BOB).status == 403
        for path in ("/api/v1/history/0", "/api/v1/history/x", "/api/v1/history/99999999999999999999"):
            assert get(server.port, path, ALICE).status == 404


# ---- what happens now ----


class Stream:
    """Server-sent events of a connection, as they come."""

    def __init__(self, connection, head):
        self.pieces = connection.pieces(head)
        self.text = b""

    def next(self, name):
        """The data of the next event of that name; others are passed over."""
        while True:
            while b"\n\n" not in self.text:
                self.text += next(self.pieces)
            event, _, self.text = self.text.partition(b"\n\n")
            lines = event.decode().splitlines()
            if f"event: {name}" in lines:
                return json.loads(next(line[6:] for line in lines if line.startswith("data: ")))


@contextlib.contextmanager
def watching(server, query="", token=None):
    headers = {"Authorization": f"Bearer {token}"} if token else None
    with Connection(server.port) as connection:
        connection.send(request("GET", "/api/v1/events" + query, headers))
        head = connection.head()
        assert head.status == 200 and head.header("Content-Type") == "text/event-stream", head
        yield Stream(connection, head)


def test_a_stream_tells_what_has_changed(tmp_path):
    with Server(CONFORMANCE, FORAGE_DATA_DIR=tmp_path) as server, watching(server) as stream:
        assert stream.next("state")["running"] == []
        assert stream.next("overview")["total"]["calls"] == 0
        spend(server.port, **NANO)
        assert stream.next("overview")["total"]["calls"] == 1


def test_a_stream_is_for_its_caller(tmp_path):
    with spending_server(tmp_path, FORAGE_TOKENS=THREE) as server:
        spend(server.port, BOB, **NANO)
        with watching(server, "", ALICE) as stream:
            assert stream.next("overview")["total"]["calls"] == 0
        with watching(server, "?caller=*", OPERATOR) as stream:
            assert stream.next("overview")["total"]["calls"] == 1
        assert get(server.port, "/api/v1/events?caller=bob", ALICE).status == 403
        assert get(server.port, "/api/v1/events?span=year", ALICE).status == 400
        assert get(server.port, "/api/v1/state", ALICE).status == 403
        assert get(server.port, "/api/v1/state", OPERATOR).status == 200


def test_a_server_that_ends_does_not_wait_for_those_who_watch(tmp_path):
    with Server(FORAGE_DATA_DIR=tmp_path) as server, watching(server) as stream:
        stream.next("state")
        server.signal(signal.SIGTERM)
        server.wait()
        assert "still running" not in server.log.text()


def test_only_so_many_may_watch(tmp_path):
    with Server(FORAGE_DATA_DIR=tmp_path) as server, contextlib.ExitStack() as stack:
        for _ in range(64):
            stack.enter_context(watching(server))
        answer = get(server.port, "/api/v1/events")
        assert answer.status == 503 and "watch already" in answer.json()["error"]["message"]


# ---- a call that is watched ----


def test_a_call_tells_what_it_does(tmp_path):
    with Server(CONFORMANCE, FORAGE_DATA_DIR=tmp_path) as server, Connection(server.port) as connection:
        headers = {"Accept": "text/event-stream"}
        connection.send(request("POST", "/api/v1/tools/test_tool_with_progress", headers, {}))
        head = connection.head()
        assert head.header("Content-Type") == "text/event-stream"
        stream = Stream(connection, head)
        assert "message" in stream.next("progress")
        result = stream.next("result")
        assert result["status"] == 200 and result["body"]


def test_a_watched_call_that_fails_says_so_in_its_last_event(tmp_path):
    with Server(CONFORMANCE, FORAGE_DATA_DIR=tmp_path) as server, Connection(server.port) as connection:
        headers = {"Accept": "text/event-stream"}
        connection.send(request("POST", f"/api/v1/tools/{TOOL}", headers, {"fail": "no luck"}))
        head = connection.head()
        assert head.status == 200
        result = Stream(connection, head).next("result")
        assert result["status"] == 502 and result["body"]["error"]["code"] == "PROVIDER"
