"""Limits, usage and history in PostgreSQL: servers that share nothing but a database count as one."""

import contextlib
import json

from conftest import ALICE, BOB, report
from postgres import Cutter, Postgres, postgres  # noqa: F401 (a fixture)
from programs import run, wait_until
from records import TOOL, get, spend, spending_server
from test_limits import TOKENS, count_answers

TWO = f"alice:{ALICE},bob:{BOB}"
SEARCH = {"service": "openai_web_search", "requests": 1}  # one cent


@contextlib.contextmanager
def servers(count, tmp_path, url, **settings):
    """Servers on one database, each with a folder of its own as on a machine of its own."""
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(spending_server(tmp_path / str(number), FORAGE_DATABASE_URL=url, **settings))
            for number in range(count)
        ]


def calls_of(url, **settings):
    """All calls that were counted, as the command for people tells it."""
    done = run("usage", "--json", FORAGE_DATABASE_URL=url, **settings)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["total"]["calls"]


def test_three_servers_share_the_windows(postgres, tmp_path):  # noqa: F811
    url = postgres.database()
    with servers(3, tmp_path, url, FORAGE_TOKENS=TOKENS, FORAGE_LIMITS=f"{TOOL}=20/10m") as all:
        seen = count_answers([server.port for server in all], 10)
        assert not any("are not kept" in server.log.text() for server in all)
    assert all_equal(seen, {200: 20, 429: 10}), seen
    assert calls_of(url) == 20 * len(seen)
    assert not [path for number in range(3) for path in (tmp_path / str(number)).glob("*.sqlite*")]
    report(f"limits in PostgreSQL: {len(seen)} callers at once at three servers, 20 of 30 calls of each pass")


def test_the_calls_of_a_minute_are_counted_over_all_servers(postgres, tmp_path):  # noqa: F811
    url = postgres.database()
    with servers(2, tmp_path, url, FORAGE_TOKENS=TWO, FORAGE_CALLS_PER_MINUTE=10) as (one, two):
        answers = [spend((one, two)[number % 2].port, ALICE) for number in range(14)]
        assert [answer.status for answer in answers] == [200] * 10 + [429] * 4
        error = answers[-1].json()["error"]
        assert "FORAGE_CALLS_PER_MINUTE" in error["message"] and error["details"]["left"] == 0
        assert spend(two.port, BOB).status == 200


def all_equal(seen, counts):
    return all(each == counts for each in seen.values())


def test_a_budget_is_one_for_all_servers(postgres, tmp_path):  # noqa: F811
    url = postgres.database()
    settings = {"FORAGE_TOKENS": TWO, "FORAGE_DAILY_BUDGET_USD": "0.02"}
    with servers(2, tmp_path, url, **settings) as (one, two):
        assert spend(one.port, ALICE, **SEARCH).status == 200
        assert spend(two.port, ALICE, **SEARCH).status == 200
        for server in (one, two):
            answer = spend(server.port, ALICE, **SEARCH)
            assert answer.status == 429 and "FORAGE_DAILY_BUDGET_USD" in answer.json()["error"]["message"]
        assert spend(two.port, BOB, **SEARCH).status == 200


def test_history_is_one_for_all_servers(postgres, tmp_path):  # noqa: F811
    url = postgres.database()
    with servers(2, tmp_path, url, FORAGE_TOKENS=TWO, FORAGE_HISTORY="on") as (one, two):
        for number in range(6):
            spend((one, two)[number % 2].port, ALICE, query=f"frage № {number} 質問")
        spend(one.port, BOB, query="bob's own", fail="no luck")
        page = get(two.port, "/api/v1/history?limit=4", ALICE).json()
        rest = get(one.port, f"/api/v1/history?before={page['next']}", ALICE).json()
        asked = [call["arguments"]["query"] for call in page["calls"] + rest["calls"]]
        assert asked == [f"frage № {number} 質問" for number in reversed(range(6))]
        assert get(two.port, "/api/v1/history", ALICE, "DELETE").json() == {"wiped": 6}
        assert get(one.port, "/api/v1/history", ALICE).json() == {"calls": []}
        (call,) = get(two.port, "/api/v1/history", BOB).json()["calls"]
        assert call["error"] == "PROVIDER"
        usage = get(one.port, "/api/v1/usage", ALICE).json()
        assert usage["total"]["calls"] == 6


def test_without_the_database_limits_hold_within_the_process(tmp_path):
    with Postgres() as own:
        url = own.database()
        with servers(1, tmp_path, url, FORAGE_LIMITS=f"{TOOL}=3/10m") as (server,):
            assert spend(server.port).status == 200
            own.stop()
            assert spend(server.port).status == 200
            server.wait_log("could not be written|are not kept")
            own.start()
        # What could not be written was kept in mind, and is written at the latest at the end.
        assert calls_of(url) == 2


def test_a_connection_that_died_is_replaced_quietly(postgres, tmp_path):  # noqa: F811
    url = postgres.database()
    name = url.rpartition("/")[2]
    with servers(1, tmp_path, url, FORAGE_LIMITS=f"{TOOL}=9/10m") as (server,):
        for _ in range(3):
            assert spend(server.port).status == 200
            ended = postgres.execute(
                f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '{name}'"
            )
            # Where it looks for jobs just then, that connection is among them, or just gone.
            assert ["t"] in ended
        assert spend(server.port).status == 200
        assert "could not be written" not in server.log.text()
    assert calls_of(url) == 4


def test_a_record_is_counted_once_whatever_becomes_of_its_commit(postgres, tmp_path):  # noqa: F811
    for forwards in (True, False):
        name = postgres.database().rpartition("/")[2]
        with Cutter(postgres.port, forwards, "forage_usage") as cutter:
            url = f"postgresql://forage@127.0.0.1:{cutter.port}/{name}"
            with servers(1, tmp_path, url) as (server,):
                assert spend(server.port).status == 200
                cutter.armed = True
                assert spend(server.port).status == 200
                wait_until(lambda: not cutter.armed)
                assert spend(server.port).status == 200
        assert calls_of(postgres.url(name)) == 3, forwards
