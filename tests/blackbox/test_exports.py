"""Exports to clients that read slowly, or never: they hold no worker, no view of the store and little memory."""

import contextlib
import json
import signal

import pytest
from conftest import ALICE, BOB
from http_client import Closed, Connection, exchange, request
from programs import SANITIZED, wait_until
from test_bodies import MIB, by, import_one, lines, proportional_bytes, serve, stock

EXPORT = request("GET", "/api/v1/memories/export", by(ALICE))
COUNT = 250


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serve(tmp_path_factory.mktemp("exports"), FORAGE_WORKERS=10) as server:
        assert import_one(server, ALICE, lines(COUNT, 10_000)).status == 200
        yield server


def start(server, stack):
    """An export of which only the head is read: the connection and that. It waits for its client then."""
    connection = stack.enter_context(Connection(server.port, receive_bytes=4096))
    connection.send(EXPORT)
    response = connection.head()
    assert response.status == 200
    wait_until(lambda: stock(server, "workers")[0] == 0)
    return connection, response


def keys(body):
    return [json.loads(line)["key"] for line in body.splitlines()]


def test_stalled_exports(server):
    """More of them than there are workers: nobody else notices, and old contents leave the disk as ever."""
    with contextlib.ExitStack() as stack:
        before = proportional_bytes(server)
        for _ in range(12):
            start(server, stack)
        assert SANITIZED or proportional_bytes(server) - before < 24 * MIB
        for number in range(20):
            change = request("POST", "/api/v1/memories", by(ALICE), {"key": "k1", "text": f"new {number}"})
            assert exchange(server.port, change).status == 200
            # One that is given up after half a minute has its line in the log.
            assert number > 0 or "memory=export" not in server.log.text(), "it waited for them"
        assert exchange(server.port, request("GET", "/api/v1/memories/export", by(BOB))).status == 200


def test_read_to_the_end(server):
    """Some at once, more than there are workers, each whole and in order."""
    with contextlib.ExitStack() as stack:
        for connection, response in [start(server, stack) for _ in range(5)]:
            found = keys(b"".join(connection.pieces(response)))
            assert len(found) == COUNT and found == sorted(found)
            assert connection.exchange(request("GET", "/health")).status == 200, "the connection goes on"


def test_changes_meanwhile(server):
    """What is changed while an export is read is in it as it was, or as it is; nothing else is missing."""
    with contextlib.ExitStack() as stack:
        connection, response = start(server, stack)
        assert exchange(server.port, request("DELETE", "/api/v1/memories/k99", by(ALICE))).status == 200
        assert import_one(server, ALICE, json.dumps({"key": "z", "text": "later"}).encode()).status == 200
        found = keys(b"".join(connection.pieces(response)))
        assert "k99" not in found and found[-1] == "z" and len(found) == COUNT
        assert exchange(server.port, request("DELETE", "/api/v1/memories/z", by(ALICE))).status == 200
        assert import_one(server, ALICE, lines(COUNT, 10_000)).status == 200


def test_client_leaves(server):
    """Between two steps nobody is at work; the log has its line all the same."""
    with contextlib.ExitStack() as stack:
        connection, _ = start(server, stack)
        connection.close()
    server.wait_log(r"memory=export caller=alice status=cancelled lines=\d+")


@pytest.mark.parametrize("reads", [True, False], ids=["reads", "never reads"])
def test_end_of_the_program(tmp_path, reads):
    """Who reads gets everything; who does not cannot hold it up."""
    with serve(tmp_path) as server, contextlib.ExitStack() as stack:
        assert import_one(server, ALICE, lines(COUNT, 10_000)).status == 200
        connection, response = start(server, stack)
        server.signal(signal.SIGTERM)
        if reads:
            assert len(keys(b"".join(connection.pieces(response)))) == COUNT
        assert server.wait() == 0
        if not reads:
            with pytest.raises(Closed):
                b"".join(connection.pieces(response))
