"""Clients that do not read what they asked for: over stdio, and as server-sent events."""

import contextlib
import json
import os
import subprocess
import time

import pytest
from conftest import ALICE, BOB
from http_client import Connection, exchange, request, running_calls
from messages import initialize, tool_call
from programs import CONFORMANCE, PATIENCE, SANITIZED, Server, environment, wait_until
from test_bodies import MIB, by, proportional_bytes, stock

QUICK = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
SLOW = tool_call("test_big", {"chars": 200_000})


@contextlib.contextmanager
def started():
    """`forage mcp`, past its handshake; nobody reads what else it writes."""
    process = subprocess.Popen(
        [CONFORMANCE, "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment({}),
    )
    try:
        for message in (initialize(), {"jsonrpc": "2.0", "method": "notifications/initialized"}):
            process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
        assert b'"result"' in process.stdout.readline()
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stdout.close()


def ask(process, message, count):
    for number in range(count):
        process.stdin.write(json.dumps({**message, "id": number}).encode() + b"\n")
    process.stdin.flush()


@pytest.mark.parametrize("message, count", [(QUICK, 40), (SLOW, 8)], ids=["quick", "slow"])
def test_closed_and_unread(message, count):
    """Whoever closes standard input and reads nothing cannot keep the program."""
    with started() as process:
        ask(process, message, count)
        time.sleep(0.5)  # for the pipe to fill
        process.stdin.close()
        assert process.wait(PATIENCE) == 0


def test_closed_and_unread_while_a_call_runs():
    with started() as process:
        ask(process, QUICK, 40)
        ask(process, tool_call("test_sleep", {"ms": 600_000}), 1)
        process.stdin.close()
        assert process.wait(PATIENCE) == 0


@pytest.mark.parametrize("message, count", [(QUICK, 40), (SLOW, 3)], ids=["quick", "slow"])
def test_closed_and_read_slowly(message, count):
    """Who reads slowly gets every answer, however long it takes."""
    with started() as process:
        ask(process, message, count)
        process.stdin.close()
        text = b""
        for _ in range(8):
            time.sleep(1)
            text += os.read(process.stdout.fileno(), 16384)
        text += process.stdout.read()
        assert sorted(json.loads(line)["id"] for line in text.splitlines()) == list(range(count))
        assert process.wait(PATIENCE) == 0


def test_open_and_unread():
    """While it may still ask something, a client may take its time."""
    with started() as process:
        ask(process, QUICK, 40)
        time.sleep(6)
        assert process.poll() is None
        for _ in range(40):
            assert b'"tools"' in process.stdout.readline()
        process.stdin.close()
        assert process.wait(PATIENCE) == 0


def test_events_that_nobody_reads():
    """Progress that is not taken is left out beyond a bound, the call goes on to its end, and others are served."""
    steps = request(body=tool_call("test_progress", {"steps": 3000, "ms": 0}, token=1))
    with Server(CONFORMANCE) as server, contextlib.ExitStack() as stack:
        before = proportional_bytes(server)
        for _ in range(40):
            connection = stack.enter_context(Connection(server.port, receive_bytes=4096))
            connection.send(steps)
        wait_until(lambda: running_calls(server, "test_progress") == 0)
        assert SANITIZED or proportional_bytes(server) - before < 32 * MIB
        assert exchange(server.port, request("GET", "/health")).status == 200


def test_answers_that_nobody_reads():
    """Large ones are counted; who leaves too many unread gets no more until it reads, and nobody else notices."""
    big = request(headers=by(ALICE), body=tool_call("test_big", {"chars": 4_000_000}))
    with Server(CONFORMANCE, FORAGE_TOKENS=f"alice:{ALICE},bob:{BOB}") as server, contextlib.ExitStack() as stack:
        before = proportional_bytes(server)
        unread = []
        for _ in range(40):
            connection = stack.enter_context(Connection(server.port, receive_bytes=65536))
            connection.send(big)
            response = connection.head()
            if response.status != 200:
                break
            unread.append((connection, response))
        assert response.status == 503 and response.header("Retry-After") == "1"
        assert b"read them" in b"".join(connection.pieces(response))
        assert 4 < len(unread) < 20 and stock(server, "answer_bytes")[0] > 50 * MIB
        assert SANITIZED or proportional_bytes(server) - before < 100 * MIB
        assert exchange(server.port, request(headers=by(BOB), body=tool_call("test_big", {"chars": 10}))).status == 200
        assert exchange(server.port, request("GET", "/health")).status == 200
        for connection, response in unread[:2]:
            assert len(b"".join(connection.pieces(response))) > 4_000_000
        assert exchange(server.port, big).status == 200
