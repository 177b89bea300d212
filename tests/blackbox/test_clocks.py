"""A wall clock that somebody sets under a running server, a day on or back, to 1970 and to 2100: nothing is lost, nothing gets
stuck, and no age is negative."""

import sqlite3
import threading
import time
from datetime import datetime, timezone

import pytest
from fake_web import Answer, Web
from http_client import exchange, request
from memory_world import check_store, over_rest
from programs import CONFORMANCE, FORAGE, Server
from reading import page
from records import TOOL, spend
from storage import Clock

HOUR, DAY = 3600, 86400
JUMPS = {
    "a day on": lambda: time.time() + DAY,
    "a day back": lambda: time.time() - DAY,
    "to 1970": lambda: 5,
    "to 2100": lambda: datetime(2100, 3, 1, 12, tzinfo=timezone.utc).timestamp(),
}


@pytest.fixture
def clock(tmp_path):
    return Clock(tmp_path)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "data"


def serve(clock, folder, program=FORAGE, **settings):
    return Server(program, FORAGE_DATA_DIR=folder, **clock.settings(program), **settings)


def ask(server, tool, **arguments):
    body = over_rest(server.port, tool, arguments)
    assert body["success"], body
    return body.get("data", body)


def add(server, key, **more):
    return ask(server, "memory_add", key=key, text=f"The text of {key}.", **more)


def is_found(server, key):
    return over_rest(server.port, "memory_get", {"key": key})["success"]


def stored(folder):
    """The keys in the file, whether or not anybody is given them."""
    with sqlite3.connect(f"file:{folder}/memory.db?mode=ro", uri=True) as store:
        return {key for (key,) in store.execute("SELECT key FROM memory")}


def iso(moment):
    return datetime.fromtimestamp(moment, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


@pytest.mark.parametrize("jump", JUMPS)
def test_memories_go_through_jumps(clock, folder, jump):
    with serve(clock, folder) as server:
        add(server, "before")
        add(server, "changed")
        clock.set(JUMPS[jump]())
        add(server, "during")
        ask(server, "memory_update", key="changed", text="Another text of changed.")
        during = ask(server, "memory_get", key="during")["results"][0]
        assert abs(seconds(during["created_at"]) - clock.now()) < 60
        for _ in range(2):
            assert {found["key"] for found in ask(server, "memory_list")["results"]} == {"before", "changed", "during"}
            assert {found["key"] for found in ask(server, "memory_search", query="text")["results"]} >= {"before"}
            versions = ask(server, "memory_get", key="changed", version=0)["versions"]
            assert [version["version"] for version in versions] == [2, 1]
            clock.set(None)
        ask(server, "memory_update", key="during", text="A text of later.")
        ask(server, "memory_delete", key="changed")
        health = exchange(server.port, request("GET", "/health")).json()
        assert health["status"] == "ok" and 0 <= health["uptime_s"] < DAY
    assert stored(folder) == {"before", "during"}
    check_store({"FORAGE_DATA_DIR": folder})


@pytest.mark.parametrize("jump", ["a day on", "to 2100"])
def test_a_jump_deletes_nothing(clock, folder, jump):
    """What has expired only by a clock that is wrong is back with the right time."""
    with serve(clock, folder) as server:
        add(server, "dated", expires_at=iso(clock.now() + 12 * HOUR))
        clock.set(JUMPS[jump]())
        clock.pass_time(60)
        add(server, "during")  # after a change, what has expired is deleted in passing
        assert not is_found(server, "dated")
        clock.set(None)
        assert is_found(server, "dated")


def test_a_clock_that_stays_is_believed(clock, folder):
    with serve(clock, folder) as server:
        add(server, "dated", expires_at=iso(clock.now() + 12 * HOUR))
        clock.set(clock.now() + 2 * DAY)
        clock.pass_time(60)
        add(server, "during")
        assert "dated" in stored(folder)
        clock.pass_time(2 * DAY)
        add(server, "after")
        assert stored(folder) == {"during", "after"}


def test_time_that_passes_is_no_jump(clock, folder):
    """A machine that slept, say."""
    with serve(clock, folder) as server:
        add(server, "dated", expires_at=iso(clock.now() + 12 * HOUR))
        clock.pass_time(DAY)
        add(server, "after")
        assert stored(folder) == {"after"}


def test_deleting_goes_on_after_a_jump_back(clock, folder):
    with serve(clock, folder) as server:
        add(server, "first")
        clock.set(clock.now() - DAY)
        add(server, "dated", expires_at=iso(clock.now() + 60))
        clock.pass_time(120)
        add(server, "after")
        assert stored(folder) == {"first", "after"}


@pytest.mark.parametrize("jump", JUMPS)
def test_limits_do_not_get_stuck(clock, folder, jump):
    with serve(clock, folder, CONFORMANCE, FORAGE_LIMITS=f"{TOOL}=2/1h") as server:

        def use_up():
            for _ in range(3):
                answer = spend(server.port)
                if answer.status != 200:
                    break
            assert answer.status == 429, answer
            assert 0 < answer.json()["error"]["details"]["retry_after_s"] <= HOUR
            assert 0 < int(answer.header("retry-after")) <= HOUR

        use_up()
        clock.set(JUMPS[jump]())
        use_up()
        clock.pass_time(HOUR + 1)
        assert spend(server.port).status == 200
        clock.set(None)
        use_up()


@pytest.mark.parametrize("jump", JUMPS)
def test_budgets_end_with_the_day(clock, folder, jump):
    with serve(clock, folder, CONFORMANCE, FORAGE_DAILY_BUDGET_USD="0.01") as server:
        for _ in range(2):
            assert spend(server.port, model="gpt-5", input_tokens=10**6).status == 200
            refused = spend(server.port)
            assert refused.status == 429
            assert 0 < refused.json()["error"]["details"]["retry_after_s"] <= DAY
            clock.set(JUMPS[jump]())
        clock.set(None)
        assert spend(server.port).status == 429  # the right day's budget is still spent


def test_usage_outlives_a_wrong_century(clock, folder):
    """Usage of long ago is deleted now and then, but not because the clock is wrong for a while."""
    with serve(clock, folder, CONFORMANCE) as server:
        assert spend(server.port).status == 200
        today = iso(clock.now())[:10]
        clock.set(JUMPS["to 2100"]())

        def spend_many():
            for _ in range(80):
                assert spend(server.port).status == 200

        threads = [threading.Thread(target=spend_many) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    with sqlite3.connect(f"file:{folder}/records.sqlite?mode=ro", uri=True) as records:
        days = {day for (day,) in records.execute("SELECT day FROM usage")}
    assert days == {today, "2100-03-01"}


@pytest.mark.parametrize("jump", JUMPS)
def test_cached_pages_have_an_age(clock, folder, tmp_path, jump):
    """A page of another time, or of one that is still to come, is asked for again."""
    settings = {"FORAGE_ALLOW_PRIVATE_HOSTS": "127.0.0.0/8", "FORAGE_CACHE_DIR": tmp_path / "cache"}
    with Web() as web, serve(clock, folder, **settings) as server:
        web.answers["/page"] = Answer(page())
        for _ in range(2):
            assert ask(server, "get_content", url=web.url("/page")).get("age_s", 0) >= 0
        assert len(web.seen("/page")) == 1
        clock.set(JUMPS[jump]())
        assert ask(server, "get_content", url=web.url("/page")).get("age_s", 0) >= 0
        assert len(web.seen("/page")) == 2
        clock.set(None)
        assert ask(server, "get_content", url=web.url("/page")).get("age_s", 0) >= 0
        assert len(web.seen("/page")) == 2


def test_answers_that_are_cached_end(clock, folder):
    """In the records and in the program: neither a jump on nor one back makes an answer last."""
    with serve(clock, folder, CONFORMANCE, FORAGE_HISTORY="on") as server:
        for jump in JUMPS.values():
            clock.set(jump())
            answer = spend(server.port, tool="test_spend_kept", query="the same")
            assert answer.status == 200
        clock.set(None)
        clock.pass_time(DAY)
        assert spend(server.port, tool="test_spend_kept", query="the same").status == 200
