"""Usage and history survive what a machine can do to them: whatever was acknowledged is there afterwards.

A call is acknowledged by its answer. The servers are killed at random moments, and the power fails: of what they
wrote, only what was synced is left (tests/shim)."""

import random
import signal
import threading

import pytest
from conftest import report
from programs import CONFORMANCE, wait_until
from records import history_of, spend_until_gone, spending_server, usage_of
from storage import Disk, build_shim

ROUNDS = 12
CONNECTIONS = 4  # to each server


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    return build_shim(tmp_path_factory.mktemp("shim"))


def call_and_kill(settings, folder, servers, first_number):
    """Starts servers that share the folder, calls them from all sides and kills them. The numbers of the calls that
    were answered."""
    answered = []
    running = []
    clients = []
    try:
        for _ in range(servers):
            running.append(spending_server(folder, FORAGE_HISTORY="on", **settings))
        for place in range(servers * CONNECTIONS):
            numbers = range(first_number + place, first_number + 10**6, servers * CONNECTIONS)
            port = running[place % servers].port
            client = threading.Thread(target=spend_until_gone, args=(port, None, numbers, answered))
            client.start()
            clients.append(client)
        enough = random.randint(1, 60)
        wait_until(lambda: len(answered) >= enough)
        threading.Event().wait(random.random() * 0.02)
        for server in running:
            server.signal(signal.SIGKILL)
        for server in running:
            server.process.wait()
        for client in clients:
            client.join()
    finally:
        for server in running:
            server.kill()
    return answered


def recorded(folder):
    """The numbers in the history; usage agrees with it, and may hold the charges of calls that a kill cut off."""
    calls = history_of(folder)
    numbers = [int(call["arguments"]["query"].removeprefix("number ")) for call in calls]
    assert len(numbers) == len(set(numbers)), "a call was recorded twice"
    total = usage_of(folder)["total"]
    assert total["calls"] == len(numbers) <= total["input_tokens"] <= len(numbers) + ROUNDS * 2 * CONNECTIONS
    return set(numbers)


@pytest.mark.parametrize("servers", [1, 2])
def test_what_was_acknowledged_survives_a_power_failure(shim, tmp_path, servers):
    disk = Disk(shim, tmp_path / "disk", tmp_path / "image")
    answered = set()
    for number in range(ROUNDS):
        answered |= set(call_and_kill(disk.settings(CONFORMANCE), disk.folder, servers, number * 10**6))
        disk.fail_power()
        lost = answered - recorded(disk.folder)
        assert not lost, f"of {len(answered)} acknowledged calls, {len(lost)} are gone"
        disk.sync()  # reading it tidied up
    report(f"crash: {servers} servers, {ROUNDS} power failures, {len(answered)} acknowledged calls, none lost")


def test_without_syncing_the_same_test_fails(shim, tmp_path):
    disk = Disk(shim, tmp_path / "disk", tmp_path / "image")
    settings = {**disk.settings(CONFORMANCE), "FORAGE_STORE_SYNC": "off"}
    answered = set(call_and_kill(settings, disk.folder, 1, 0))
    disk.fail_power()
    assert answered - recorded(disk.folder)


@pytest.mark.parametrize("sync", ["on", "off"])
def test_a_killed_process_loses_nothing(tmp_path, sync):
    """The system goes on and writes what it has."""
    answered = set()
    for number in range(ROUNDS):
        settings = {"FORAGE_STORE_SYNC": sync}
        answered |= set(call_and_kill(settings, tmp_path / "data", 2, number * 10**6))
        assert answered <= recorded(tmp_path / "data")
