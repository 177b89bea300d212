"""Real workers that are cancelled, run out of time or are left by a server that ends: nothing of them is there a second
later, wherever it hid. FORAGE_SOAK=1 makes it fifty of each, which takes minutes."""

import os
import random
import signal
import time

import pytest
from conftest import report
from fakes.gemini import Gemini
from fakes.model import Ask, Hang
from programs import Stdio, has_children, wait_until
from real import LONG, RealPlace
from messages import cancelled
from research import descriptors, failed, outcome, start_call

MANY = 50 if os.environ.get("FORAGE_SOAK") else 10
AT_ONCE = 2
# The bar that is reported, 1 s, is for a machine where nothing else runs: the CLI heeds SIGTERM only when it has loaded its
# code, which takes most of a second of processor time. What a busy machine makes of that ends with SIGKILL after 5.


@pytest.fixture
def place(tmp_path):
    return RealPlace(tmp_path)


def stuck():
    """A model that is stuck after one search: the CLI and the forage that it started are both there."""
    return Gemini(Ask("google_web_search", query="q"), Hang())


def warm(client, fake, place):
    """One whole life, so that what stays open once is open."""
    id = start_call(client, "search", {"query": "warm"})
    wait_until(lambda: fake.searches, LONG)
    client.send(cancelled(id))
    place.wait_none_running(client.pid)
    wait_until(lambda: not has_children(client.pid))


def test_cancelled_at_random_moments(place):
    chance = random.Random(7)
    longest = 0
    with stuck() as fake, Stdio(**place.with_gemini(fake, FORAGE_RESEARCH_CONCURRENCY=AT_ONCE)) as client:
        client.handshake()
        warm(client, fake, place)
        before = descriptors(client.pid)
        for _ in range(MANY // AT_ONCE):
            ids = [start_call(client, "search", {"query": "anything"}) for _ in range(AT_ONCE)]
            # From before the worker has read its prompt to where it waits for its model.
            time.sleep(chance.choice([0.01, chance.uniform(0, 1), chance.uniform(0, 4)]))
            for id in ids:
                client.send(cancelled(id))
            began = time.monotonic()
            client.ask("ping")
            place.wait_none_running(client.pid)
            longest = max(longest, time.monotonic() - began)
        wait_until(lambda: not has_children(client.pid) and descriptors(client.pid) <= before)
    report(f"{MANY} real workers cancelled: the last of them was gone after {longest * 1000:.0f} ms (the bar is 1 s)")


def test_out_of_time(place):
    """Wherever the worker is by then: on a quiet machine it waits for its model."""
    longest = 0
    with stuck() as fake:
        settings = place.with_gemini(fake, GEMINI_SEARCH_TIMEOUT=2500, FORAGE_RESEARCH_CONCURRENCY=AT_ONCE)
        with Stdio(**settings) as client:
            client.handshake()
            before = None
            for _ in range(max(MANY // 4, 2)):
                ids = [start_call(client, "search", {"query": "anything"}) for _ in range(AT_ONCE)]
                for id in ids:
                    failed(outcome(client, id), "EXECUTION_ERROR")
                began = time.monotonic()
                place.wait_none_running(client.pid)
                longest = max(longest, time.monotonic() - began)
                wait_until(lambda: not has_children(client.pid))
                before = before or descriptors(client.pid)
            wait_until(lambda: descriptors(client.pid) <= before)
    report(f"real workers out of time: the last of them was gone after {longest * 1000:.0f} ms (the bar is 1 s)")


def test_the_end_of_the_server_ends_four(place):
    with stuck() as fake, Stdio(**place.with_gemini(fake, FORAGE_RESEARCH_CONCURRENCY=4)) as client:
        client.handshake()
        for _ in range(4):
            start_call(client, "search", {"query": "anything"})
        wait_until(lambda: len(fake.searches) == 4, LONG)
        # Each with the forage that it started.
        assert len(place.running(client.pid)) >= 8
        began = time.monotonic()
        client.signal(signal.SIGTERM)
        place.wait_none_running(client.pid)
        took = time.monotonic() - began
        assert client.wait() == 0
        assert not place.running()
    report(f"a server with 4 real workers that ends: they were gone after {took * 1000:.0f} ms (the bar is 1 s)")
