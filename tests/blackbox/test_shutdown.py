"""Graceful shutdown: no new calls, running ones get five seconds, children end, exit code 0.

What takes those seconds is started when this file begins, and looked at when it ends."""

import signal
import time

import pytest
from conftest import start_early
from http_client import Closed, Connection, exchange, request, running_calls
from messages import initialize, tool_call
from programs import CONFORMANCE, FORAGE, Server, Stdio, group_lives, unused_port, wait_until
from traps import InHandshake


# Long enough to be seen while it runs, and over before the five seconds are.
SHORT = {"ms": 3000}


def start(server, tool, arguments, **headers):
    """Starts a call and waits until it runs."""
    connection = Connection(server.port)
    before = running_calls(server, tool)
    connection.send(request(headers=headers, body=tool_call(tool, arguments)))
    wait_until(lambda: running_calls(server, tool) == before + 1)
    return connection


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
@pytest.mark.parametrize("program", [FORAGE, CONFORMANCE], ids=["forage", "fixtures"])
def test_idle(program, number):
    with Server(program) as server:
        server.signal(number)
        assert server.wait() == 0


def test_running_call_finishes():
    with Server(CONFORMANCE) as server, start(server, "test_sleep", SHORT) as connection:
        server.signal(signal.SIGTERM)
        answer = connection.response()
        assert "isError" not in answer.json()["result"]
        connection.close()
        assert server.wait() == 0


def test_running_call_over_rest_finishes():
    with Server(CONFORMANCE) as server, Connection(server.port) as connection:
        connection.send(request("POST", "/api/v1/tools/test_sleep", body=SHORT))
        wait_until(lambda: running_calls(server, "test_sleep") == 1)
        server.signal(signal.SIGTERM)
        assert connection.response().status == 200
        assert server.wait() == 0


def test_stream_finishes():
    with Server(CONFORMANCE) as server, Connection(server.port) as connection:
        connection.send(request(body=tool_call("test_progress", {"steps": 50, "ms": 20}, token=1)))
        events = connection.events(connection.head())
        next(events)
        server.signal(signal.SIGTERM)
        *_, (_, answer) = events
        assert "isError" not in answer["result"]
        assert server.wait() == 0


@pytest.mark.parametrize("pauses", [[], [0.15] * 12], ids=["at once", "slowly"])
def test_large_answer_arrives(pauses):
    """It is sent to its end while the client goes on reading, however long the whole takes."""
    left = iter(pauses)
    with Server(CONFORMANCE) as server, Connection(server.port, receive_bytes=65536) as connection:
        connection.send(request(body=tool_call("test_big", {"chars": 6_000_000})))
        response = connection.head()
        server.signal(signal.SIGTERM)
        server.wait_log("ending")
        connection.before_each_read = lambda: time.sleep(next(left, 0))
        body = b"".join(connection.pieces(response))
        assert len(body) > 6_000_000 and next(left, None) is None
        assert server.wait() == 0


def test_many_answers_arrive():
    """None is lost in the last moment, however many there are."""
    with Server(CONFORMANCE) as server:
        connections = [Connection(server.port) for _ in range(60)]
        for connection in connections:
            connection.send(request(body=tool_call("test_sleep", {"ms": 4000})))
        wait_until(lambda: running_calls(server, "test_sleep") == 60)
        server.signal(signal.SIGTERM)
        assert {connection.response().status for connection in connections} == {200}
        assert server.wait() == 0
        for connection in connections:
            connection.close()


def test_new_connections_are_refused():
    """Nobody new gets in; who is idle is sent away; a call that runs goes on."""
    with (
        Server(CONFORMANCE) as server,
        Connection(server.port) as idle,
        start(server, "test_sleep", SHORT) as connection,
    ):
        assert idle.exchange(request("GET", "/health")).status == 200
        server.signal(signal.SIGTERM)
        assert idle.wait_closed() == b""

        def refused():
            try:
                exchange(server.port, request("GET", "/health"))
            except (ConnectionRefusedError, Closed):
                return True
            return False

        wait_until(refused)
        assert "result" in connection.response().json()
        assert connection.wait_closed() == b""
        assert server.wait() == 0


def test_half_a_request_holds_nothing_up():
    with Server(CONFORMANCE) as server, Connection(server.port) as connection:
        connection.send(request(body=initialize())[:-10])
        server.end()
        assert b"408" not in connection.wait_closed(), "it was not waited for until its time was over"


def test_second_signal_changes_nothing():
    with Server(CONFORMANCE) as server, start(server, "test_sleep", SHORT) as connection:
        server.signal(signal.SIGTERM)
        server.wait_log("ending")
        server.signal(signal.SIGTERM)
        assert "isError" not in connection.response().json()["result"]
        assert server.wait() == 0


def test_right_after_transfers():
    """Libraries clean up after each thread and at the end: never both at once. A sanitizer would see it."""
    for _ in range(10):
        with Server(CONFORMANCE) as server:
            traps = [InHandshake() for _ in range(8)]
            connections = []
            for trap in traps:
                connections.append(start(server, trap.tool, trap.arguments))
                trap.wait_caught(server)
            for connection in connections:
                connection.close()
            server.signal(signal.SIGTERM)
            assert server.wait() == 0
            for trap in traps:
                trap.close()


def test_port_is_free_again():
    port = unused_port()
    for _ in range(2):
        with Server(MCP_SERVER_PORT=port) as server:
            assert server.port == port
            assert exchange(port, request("GET", "/health")).status == 200


# ---- calls that do not end by themselves ----


SLEEP = {"ms": 600_000}


class Endless:
    """A server and a stdio program that are told to end in the middle of endless calls of every kind."""

    def __init__(self, server, stdio, folder):
        self.server, self.stdio, self.folder = server, stdio, folder
        self.as_json = start(server, "test_sleep", SLEEP, Accept="application/json")
        self.as_events = start(server, "test_sleep", SLEEP)
        self.over_rest = Connection(server.port)
        self.over_rest.send(request("POST", "/api/v1/tools/test_sleep", body=SLEEP))
        wait_until(lambda: running_calls(server, "test_sleep") == 3)
        self.parents = []
        self.polite = self.start_child("polite", "sleep 600")
        self.stubborn = self.start_child("stubborn", "trap '' TERM; while :; do sleep 1; done")
        stdio.send(tool_call("test_sleep", SLEEP))
        stdio.ask("ping")
        time.sleep(0.5)  # the answer becomes a stream five seconds after its call, and the grace ends five after the signal
        self.began = time.monotonic()
        server.signal(signal.SIGTERM)
        stdio.process.stdin.close()

    def start_child(self, name, script):
        """Starts a shell as the child of a call; its process id, which is also its group's."""
        told = self.folder / name
        arguments = {"command": "sh", "args": ["-c", f"echo $$ > {told}; {script}"]}
        self.parents.append(start(self.server, "test_child", arguments))
        return int(wait_until(lambda: told.exists() and told.read_text()))


@pytest.fixture(scope="module")
def endless(tmp_path_factory):
    with Server(CONFORMANCE) as server, Stdio(CONFORMANCE) as stdio:
        yield Endless(server, stdio, tmp_path_factory.mktemp("endless"))


@pytest.fixture(scope="module", autouse=True)
def endless_starts_early(request):
    start_early(request, "endless")


def check_cancelled(body):
    assert body["success"] is False and body["error"]["code"] == "CANCELLED"


def test_endless_call_is_cancelled(endless):
    """Its client did not ask for that, and is told."""
    with endless.as_json:
        answer = endless.as_json.response().json()
    assert answer["id"] == 1 and answer["result"]["isError"] is True
    check_cancelled(answer["result"]["structuredContent"])


def test_endless_stream_is_cancelled(endless):
    with endless.as_events:
        *_, (_, answer) = endless.as_events.events(endless.as_events.head())
    check_cancelled(answer["result"]["structuredContent"])


def test_endless_call_over_rest_is_cancelled(endless):
    with endless.over_rest:
        check_cancelled(endless.over_rest.response().json())


def test_endless_call_over_stdio_is_cancelled(endless):
    check_cancelled(endless.stdio.answer(1)["result"]["structuredContent"])
    assert endless.stdio.wait() == 0


def test_children_end(endless):
    """The one at once, the other, which does not listen, five seconds later and by force."""
    assert endless.server.wait() == 0
    assert not group_lives(endless.polite) and not group_lives(endless.stubborn)
    assert 9 < time.monotonic() - endless.began
