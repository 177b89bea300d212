"""Ends: calls that are cancelled or run out of time at random moments, and a server that is told to end. Whatever a
worker was doing, it and its children are gone, and nothing of them is left in the server."""

import random
import signal
import time

import pytest
from conftest import report
from fakes import worker as play
from fakes.worker import Worker
from http_client import Connection, request
from messages import cancelled, tool_call
from programs import PATIENCE, Server, Stdio, has_children, wait_until
from research import Place, alive_in, descriptors, start_call, wait_gone

MANY = 50


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def groups(worker):
    return {run["group"] for run in worker.runs()}


POLITE = [*play.begin(), ["child", None], *play.search(1, "q"), play.hang()]
DEAF = [["deafen", None], *POLITE]


def cancel_at_random(client, chance, at_once, wait=lambda: None):
    """Calls that are cancelled, some at a time, from before their worker's first breath to well into its work; what is
    waited for first comes before the first of them is cancelled."""
    left = MANY
    while left:
        ids = []
        for _ in range(min(at_once, left)):
            tool, name = chance.choice([("search", "query"), ("deep_search", "topic")])
            ids.append(start_call(client, tool, {name: "anything"}))
        wait()
        for id in ids:
            time.sleep(chance.choice([0, chance.uniform(0, 0.02), chance.uniform(0, 0.3)]))
            client.send(cancelled(id))
        left -= len(ids)
    client.ask("ping")  # it has read them all


def test_fifty_cancelled_at_random_moments(place):
    worker = Worker(place.folder / "worker", POLITE)
    settings = place.settings(GEMINI_CLI_PATH=worker.path, FORAGE_RESEARCH_CONCURRENCY=4, FORAGE_WORKERS=32)
    with Stdio(**settings) as client:
        client.handshake()
        warm = start_call(client, "search", {"query": "warm"})
        worker.wait_runs(1)
        client.send(cancelled(warm))
        wait_until(lambda: not has_children(client.pid))
        before = descriptors(client.pid)
        cancel_at_random(client, random.Random(5), 8)
        wait_until(lambda: alive_in(groups(worker)) == 0 and not has_children(client.pid))
        wait_until(lambda: descriptors(client.pid) <= before)


def test_fifty_that_run_out_of_time(place):
    worker = Worker(place.folder / "worker", POLITE)
    settings = place.settings(
        GEMINI_CLI_PATH=worker.path, FORAGE_RESEARCH_CONCURRENCY=8, FORAGE_WORKERS=64, GEMINI_SEARCH_TIMEOUT=1000
    )
    with Stdio(**settings) as client:
        client.handshake()
        before = descriptors(client.pid)
        ids = []
        for _ in range(MANY):
            ids.append(start_call(client, "search", {"query": "anything"}))
            time.sleep(0.01)
        for id in ids:
            error = client.answer(id)["result"]["structuredContent"]["error"]
            assert error["code"] == "EXECUTION_ERROR"
        wait_until(lambda: alive_in(groups(worker)) == 0 and not has_children(client.pid))
        wait_until(lambda: descriptors(client.pid) <= before + 2)  # the pool of threads has its own


def test_fifty_that_ignore_sigterm(place):
    """SIGTERM at once, SIGKILL after five seconds, for the whole group."""
    worker = Worker(place.folder / "worker", DEAF)
    settings = place.settings(GEMINI_CLI_PATH=worker.path, FORAGE_RESEARCH_CONCURRENCY=50, FORAGE_WORKERS=64)
    with Stdio(**settings) as client:
        client.handshake()
        before = descriptors(client.pid)
        first = start_call(client, "search", {"query": "anything"})
        worker.wait_runs(1)
        wait_until(lambda: alive_in(groups(worker)) == 2)  # it and its child
        began = time.monotonic()
        client.send(cancelled(first))
        cancel_at_random(client, random.Random(6), 50, lambda: worker.wait_runs(12))
        wait_until(lambda: alive_in({worker.runs()[0]["group"]}) == 0)
        took = time.monotonic() - began
        assert took > 4.5, "it was given five seconds"
        wait_gone(groups(worker), PATIENCE)
        wait_until(lambda: not has_children(client.pid) and descriptors(client.pid) <= before + 2)
    report(f"workers that ignore SIGTERM: the first of 50 was killed after {took:.2f} s (the bar is 5.5 s)")


def test_a_call_over_http_that_is_left(place):
    worker = Worker(place.folder / "worker", POLITE)
    with Server(**place.settings(GEMINI_CLI_PATH=worker.path)) as server:
        with Connection(server.port) as connection:
            connection.send(request(body=tool_call("deep_search", {"topic": "anything"})))
            worker.wait_runs(1)
        wait_gone(groups(worker), PATIENCE)
        wait_until(lambda: not has_children(server.pid))


@pytest.mark.parametrize(
    "actions, number",
    [(POLITE, signal.SIGTERM), (POLITE, signal.SIGINT), (DEAF, signal.SIGTERM)],
    ids=["polite", "interrupted", "deaf"],
)
def test_the_end_of_the_server_ends_four_workers(place, actions, number):
    """Nobody waits for what workers might still find: they would never end by themselves."""
    worker = Worker(place.folder / "worker", actions)
    settings = place.settings(GEMINI_CLI_PATH=worker.path, FORAGE_RESEARCH_CONCURRENCY=4)
    with Stdio(**settings) as client:
        client.handshake()
        for _ in range(4):
            start_call(client, "deep_search", {"topic": "anything"})
        worker.wait_runs(4)
        wait_until(lambda: alive_in(groups(worker)) == 8)
        client.signal(number)
        assert client.wait() == 0
        wait_gone(groups(worker), PATIENCE)
