"""PostgreSQL as a server that comes and goes: many programs that start at once, tables of other versions,
connections that are cut at the worst moment, passwords that nobody may see."""

import concurrent.futures
import contextlib
import json
import signal
import threading

import pytest
from memory_world import PATH, ask, path_of
from messages import cancelled
from postgres import Cutter, Postgres, postgres  # noqa: F401 (a fixture)
from programs import Server, Stdio, run, wait_until

SERVERS = 4


def add(server, key, text="words to keep"):
    return ask(server.port, "POST", PATH, body={"key": key, "text": text})


def told(response):
    """The words of a failure."""
    body = response.json()
    assert body["success"] is False and response.status >= 400, body
    return body["error"]["message"]


def connections(server, url):
    """Those of programs under test: the server's own name for them."""
    name = url.rpartition("/")[2].partition("?")[0]
    return server.execute(
        f"SELECT pid, state FROM pg_stat_activity WHERE datname = '{name}' AND application_name = 'forage'"
    )


def tables(server, url):
    """Everything that forage has in a database."""
    names = server.query(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
    return {name: server.query(url, f"SELECT * FROM {name} ORDER BY 1") for (name,) in names}


# ---- starting ----


def test_servers_that_start_at_once_make_the_tables_once(postgres):  # noqa: F811
    for _ in range(3):
        url = postgres.database()
        with contextlib.ExitStack() as stack:
            servers = [stack.enter_context(Server(FORAGE_DATABASE_URL=url)) for _ in range(SERVERS)]
            with concurrent.futures.ThreadPoolExecutor(3 * SERVERS) as threads:
                answers = list(threads.map(lambda i: add(servers[i % SERVERS], f"key {i}"), range(3 * SERVERS)))
        assert [answer.status for answer in answers] == [200] * len(answers), answers
        assert postgres.query(url, "SELECT version FROM forage_schema WHERE part = 'memory'") == [["6"]]
        assert postgres.query(url, "SELECT count(*), count(DISTINCT change) FROM forage_memory") == [["12", "12"]]
        assert postgres.query(url, "SELECT name FROM forage_space ORDER BY name") == [[""], ["default"]]


def test_an_interrupted_start_leaves_nothing(postgres):  # noqa: F811
    url = postgres.database()
    with postgres.connect(url) as blocker:
        # Somebody else makes tables: the program has to wait for the lock.
        blocker.query("BEGIN; SELECT pg_advisory_xact_lock(112628846389093)")
        with Server(FORAGE_DATABASE_URL=url) as server, concurrent.futures.ThreadPoolExecutor(1) as threads:
            waiting = threads.submit(add, server, "a")
            wait_until(lambda: any(state == "active" for _, state in connections(postgres, url)))
            server.signal(signal.SIGKILL)
            server.process.wait()
            with pytest.raises(Exception):
                waiting.result().json()
            server.end = lambda: None
        blocker.query("COMMIT")
    wait_until(lambda: not connections(postgres, url))
    assert tables(postgres, url) == {}
    with Server(FORAGE_DATABASE_URL=url) as server:
        assert add(server, "a").status == 200


def test_tables_from_the_future_are_refused_untouched(postgres):  # noqa: F811
    url = postgres.database()
    with Server(FORAGE_DATABASE_URL=url) as server:
        assert add(server, "a").status == 200
    postgres.query(url, "UPDATE forage_schema SET version = 99")
    before = tables(postgres, url)
    with Server(FORAGE_DATABASE_URL=url) as server:
        for answer in (add(server, "b"), ask(server.port, "GET", path_of("a"))):
            words = told(answer)
            assert "version 99" in words and "newer" in words
    assert tables(postgres, url) == before


def test_a_database_that_cannot_hold_every_script_is_refused(postgres):  # noqa: F811
    postgres.execute("CREATE DATABASE narrow ENCODING 'SQL_ASCII' TEMPLATE template0 LOCALE 'C' LOCALE_PROVIDER libc")
    with Server(FORAGE_DATABASE_URL=postgres.url("narrow")) as server:
        assert "UTF8" in told(add(server, "a"))


# ---- secrets ----


@pytest.mark.parametrize("tcp", [True, False])
def test_a_password_is_used(postgres, tcp):  # noqa: F811
    name = postgres.database("guarded").rpartition("/")[2]
    with Server(FORAGE_DATABASE_URL=postgres.url(name, "guarded", tcp)) as server:
        assert add(server, "a").status == 200


WRONG = [
    "postgresql://guarded:{secret}@127.0.0.1:{port}/postgres",  # a wrong password
    "postgresql://guarded:{secret}@127.0.0.1:1/postgres",  # nobody is there
    "postgresql://guarded:{secret}@host.invalid/postgres",
    "postgresql://guarded:{secret}@127.0.0.1:{port}/nowhere",
    "postgresql://guarded:{secret}@127.0.0.1:port/postgres",
    "postgresql://guarded:{secret}%zz@127.0.0.1:{port}/postgres",
    "postgresql://guarded:{secret}@[127.0.0.1/postgres",
    "postgresql://127.0.0.1:{port}/postgres?user=guarded&password={secret}&colour=blue",
]


@pytest.mark.parametrize("url", WRONG)
def test_a_password_is_never_told(postgres, url):  # noqa: F811
    secret = "hunter2-hunter2"
    url = url.format(secret=secret, port=postgres.port)
    with Server(FORAGE_DATABASE_URL=url, FORAGE_LOG_LEVEL="debug") as server:
        answer = add(server, "a")
        assert told(answer)
        log = server.log.text()
    assert secret not in json.dumps(answer.json()) + log + server.log.text()
    completed = run("config", FORAGE_DATABASE_URL=url)
    assert secret not in completed.stdout + completed.stderr


# ---- connections ----


def test_connections_are_bounded_and_waited_for(postgres):  # noqa: F811
    url = postgres.database()
    most, stop = [0], threading.Event()

    def watch():
        while not stop.is_set():
            most[0] = max(most[0], len(connections(postgres, url)))

    settings = {"FORAGE_DATABASE_URL": url, "FORAGE_DATABASE_CONNECTIONS": 2}
    with Server(**settings) as server, concurrent.futures.ThreadPoolExecutor(17) as threads:
        watching = threads.submit(watch)
        answers = list(threads.map(lambda i: add(server, f"key {i}", f"text {i}"), range(200)))
        stop.set()
        watching.result()
    assert [answer.status for answer in answers] == [200] * 200
    assert 1 <= most[0] <= 2 + 1  # the records have one of their own


def test_connections_that_died_are_replaced_quietly(postgres):  # noqa: F811
    url = postgres.database()
    with Server(FORAGE_DATABASE_URL=url) as server:
        assert add(server, "a").status == 200
        for number in range(5):
            for pid, _ in connections(postgres, url):
                postgres.execute(f"SELECT pg_terminate_backend({pid}, 5000)")
            # Whether it was noticed before or while it was used.
            answer = ask(server.port, "GET", path_of("a")) if number % 2 else add(server, f"key {number}")
            assert answer.status == 200, answer


def test_a_server_that_restarts_is_found_again():
    with Postgres() as own:
        url = own.database()
        with Server(FORAGE_DATABASE_URL=url) as server:
            assert add(server, "a").status == 200
            own.stop()
            assert "refused" in told(add(server, "b"))
            own.start()
            assert add(server, "c").status == 200
            own.restart(signal.SIGQUIT)
            assert ask(server.port, "GET", path_of("c")).status == 200
            assert ask(server.port, "GET", path_of("b")).status == 404


@pytest.mark.parametrize("tool, lock", [("memory_get", "LOCK TABLE forage_memory"), ("memory_add", "LOCK TABLE forage_space")])
def test_a_call_that_waits_for_the_database_can_be_cancelled(postgres, tool, lock):  # noqa: F811
    url = postgres.database()
    with Stdio(FORAGE_DATABASE_URL=url) as client:
        client.handshake()
        arguments = {"key": "a", "text": "words"} if tool == "memory_add" else {"key": "a"}
        client.ask("tools/call", {"name": "memory_add", "arguments": {"key": "a", "text": "first"}})
        with postgres.connect(url) as blocker:
            blocker.query(f"BEGIN; {lock} IN ACCESS EXCLUSIVE MODE")
            client.send({"jsonrpc": "2.0", "id": "stuck", "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
            waits = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'forage'"
            wait_until(lambda: postgres.execute(waits))
            client.send(cancelled("stuck"))
            client.wait_log(rf"tool={tool} .*status=CANCELLED")
            # The server notices that nobody waits any more, while the lock is still held.
            wait_until(lambda: not postgres.execute(waits))
            blocker.query("ROLLBACK")
        answer = client.ask("tools/call", {"name": "memory_get", "arguments": {"key": "a"}})
        assert answer["result"]["structuredContent"]["data"]["results"][0]["text"] == "first"


# ---- a commit whose answer never comes ----


@pytest.mark.parametrize("forwards", [True, False])
def test_a_commit_that_nobody_knows_of_is_told_as_such(postgres, forwards):  # noqa: F811
    name = postgres.database().rpartition("/")[2]
    with Cutter(postgres.port, forwards, "forage_memory") as cutter:
        with Server(FORAGE_DATABASE_URL=f"postgresql://forage@127.0.0.1:{cutter.port}/{name}") as server:
            assert add(server, "before").status == 200
            cutter.armed = True
            words = told(add(server, "cut"))
            assert "not known whether" in words and "nothing was changed" not in words
            assert not cutter.armed
            # It was made, or not; the next call sees which.
            answer = ask(server.port, "GET", path_of("cut"))
            assert answer.status == (200 if forwards else 404)
            assert add(server, "after").status == 200
