"""Stores that are stuck: PostgreSQL that does not answer any more, a file of SQLite that another process has locked. Calls that
need them wait; everything else goes on, the server's status says what is waited for, and the program ends when it is told to."""

import contextlib
import select
import signal
import socket
import sqlite3
import threading

import pytest
from http_client import Connection, exchange, request
from messages import tool_call
from postgres import postgres  # noqa: F401  the fixture
from programs import CONFORMANCE, Server, Stdio, no_thread_check, wait_until

STORE = "the memory store"
RECORDS = "the records of usage and limits"
CALLERS = 12  # more than a server has reactors, or a pool connections


class Proxy:
    """Carries bytes between forage and PostgreSQL, until it is frozen: connections stay, and nothing comes through."""

    def __init__(self, port):
        self.port_behind = port
        self.frozen = threading.Event()
        self.ended = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        other = {}
        while not self.ended.is_set():
            if self.frozen.is_set():
                self.ended.wait(0.01)
                continue
            for ready in select.select([self.listener, *other], [], [], 0.02)[0]:
                if self.frozen.is_set():
                    break
                if ready is self.listener:
                    near = self.listener.accept()[0]
                    far = socket.create_connection(("127.0.0.1", self.port_behind))
                    other[near], other[far] = far, near
                elif ready in other:
                    data = b""
                    with contextlib.suppress(OSError):
                        data = ready.recv(65536)
                        other[ready].sendall(data)
                    if not data:
                        for end in (other.pop(ready), ready):
                            other.pop(end, None)
                            end.close()
        for end in (*other, self.listener):
            end.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()


class Frozen:
    """A store in PostgreSQL, behind a proxy that can be frozen."""

    def __init__(self, postgres, folder):
        self.proxy = Proxy(postgres.port)
        url = postgres.database().replace(f":{postgres.port}/", f":{self.proxy.port}/")
        self.settings = {"FORAGE_DATABASE_URL": url, "FORAGE_DATA_DIR": folder}

    def stop(self):
        self.proxy.frozen.set()

    def go_on(self):
        self.proxy.frozen.clear()

    def close(self):
        self.proxy.__exit__()


class Locked:
    """A store in SQLite, whose files another process locks."""

    def __init__(self, _postgres, folder):
        self.folder = folder
        self.held = []
        self.settings = {"FORAGE_DATA_DIR": folder}

    def stop(self):
        for name in ("memory.db", "records.sqlite"):
            if (self.folder / name).exists():
                self.held.append(sqlite3.connect(self.folder / name, isolation_level=None))
                self.held[-1].execute("BEGIN EXCLUSIVE")

    def go_on(self):
        while self.held:
            self.held.pop().close()

    close = go_on


@pytest.fixture(params=[Frozen, Locked])
def store(request, postgres, tmp_path):  # noqa: F811
    store = request.param(postgres, tmp_path)
    yield store
    store.close()


def remember(key):
    return request("POST", "/api/v1/tools/memory_add", body={"key": key, "text": f"the text of {key}"})


def waits(body):
    return {wait["for"]: wait for wait in body.get("waiting", [])}


def health(server):
    answer = exchange(server.port, request("GET", "/health"))
    assert answer.status == 200 and answer.json()["status"] == "ok"
    return answer.json()


def status_over_mcp(server):
    answer = exchange(server.port, request(body=tool_call("forage_status")))
    return answer.json()["result"]["structuredContent"]


def test_the_rest_goes_on(store):
    """One reactor only: if a stuck call held it, nothing at all would be answered."""
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(Server(FORAGE_REACTORS=1, FORAGE_DATABASE_CONNECTIONS=4, **store.settings))
        assert exchange(server.port, remember("first")).status == 200
        assert "waiting" not in health(server)
        store.stop()
        callers = [stack.enter_context(Connection(server.port)) for _ in range(CALLERS)]
        for number, caller in enumerate(callers):
            caller.send(remember(f"key {number}"))
        found = wait_until(lambda: waits(health(server)).get(STORE))
        assert found["seconds"] >= 1 and 1 <= found["calls"] <= CALLERS
        wait_until(lambda: waits(health(server))[STORE]["calls"] == CALLERS)
        told = status_over_mcp(server)
        assert told["success"] and waits(told)[STORE]["calls"] == CALLERS
        over_rest = exchange(server.port, request("POST", "/api/v1/tools/forage_status", body={}))
        assert waits(over_rest.json())[STORE]["calls"] == CALLERS
        assert exchange(server.port, request("GET", "/metrics")).status == 200
        store.go_on()
        assert {caller.response().status for caller in callers} == {200}
        assert "waiting" not in health(server)


def test_a_client_over_stdio_hears_of_it(store):
    with Stdio(**store.settings) as client:
        client.handshake()
        client.send(tool_call("memory_add", {"key": "first", "text": "first"}, id="first"))
        client.answer("first")
        store.stop()
        client.send(tool_call("memory_add", {"key": "second", "text": "second"}, id="second", token="progress"))
        report = client.wait_message(lambda message: message.get("method") == "notifications/progress")
        assert report["params"]["message"].startswith("waiting for the memory store (")
        status = client.ask("tools/call", {"name": "forage_status", "arguments": {}})["result"]["structuredContent"]
        assert waits(status)[STORE]["calls"] == 1
        store.go_on()
        assert not client.answer("second")["result"].get("isError")


SPEND = request("POST", "/api/v1/tools/test_spend", body={"model": "gpt-5-nano", "input_tokens": 1})


def test_records(store):
    """A call is recorded on its own thread; limits and usage never hold a reactor."""
    limits = {"FORAGE_LIMITS": "test_spend=100/1h"}
    with Server(CONFORMANCE, FORAGE_REACTORS=1, **limits, **store.settings) as server, Connection(server.port) as caller:
        assert exchange(server.port, SPEND).status == 200
        store.stop()
        caller.send(SPEND)
        assert wait_until(lambda: waits(health(server)).get(RECORDS))["calls"] == 1
        store.go_on()
        assert caller.response().status == 200
        wait_until(lambda: "waiting" not in health(server))


def test_usage_is_read_beside(postgres, tmp_path):  # noqa: F811
    store = Frozen(postgres, tmp_path)
    with Server(FORAGE_REACTORS=1, **store.settings) as server, Connection(server.port) as caller:
        assert exchange(server.port, request("GET", "/api/v1/usage")).status == 200
        store.stop()
        caller.send(request("GET", "/api/v1/usage"))
        assert wait_until(lambda: waits(health(server)).get(RECORDS))["calls"] == 1
        store.go_on()
        caller.response()
    store.close()


def test_it_ends_with_records_that_wait(store):
    """What cannot be recorded in time is given up, with a line in the log."""
    with Server(CONFORMANCE, **no_thread_check(), **store.settings) as server, Connection(server.port) as caller:
        assert exchange(server.port, SPEND).status == 200
        store.stop()
        caller.send(SPEND)
        wait_until(lambda: waits(health(server)).get(RECORDS))
        server.signal(signal.SIGTERM)
        assert server.wait() == 0, server.log.text()
        assert "2 records of usage and history could not be kept" in server.log.text()


def test_it_ends(store):
    """The usual time of an end in the middle of calls: five seconds for them, and a few for what they leave behind."""
    with Server(**no_thread_check(), **store.settings) as server, Connection(server.port) as caller:
        assert exchange(server.port, remember("first")).status == 200
        store.stop()
        caller.send(remember("second"))
        wait_until(lambda: waits(health(server)).get(STORE))
        server.signal(signal.SIGTERM)
        assert server.wait() == 0, server.log.text()
