"""Cancellation: wherever a call is stuck, it is over at once, as seen from the other end.

The times are printed at the end of the run. The bar is 50 ms; what is asserted here is that each call ended as cancelled,
and that its place is free: by itself a call would stay there until its time is up, and would end otherwise."""

import collections
import itertools
import os
import re
import selectors
import shutil
import statistics
import subprocess
import time

import pytest
from conftest import report
from http_client import Connection, request, running_calls
from messages import cancelled, tool_call
from programs import CONFORMANCE, PATIENCE, Server, Stdio, has_children, wait_until
from traps import KINDS, InName, NameServer

REPEATS = 10
AT_ONCE = 50


# ---- doors: how a call is started and cancelled ----


class Door:
    """What both doors share: a log that has a line for each cancelled call."""

    def __init__(self, name, program, name_server):
        self.name = name
        self.program = program
        self.name_server = name_server
        self.started = collections.Counter()  # calls of each tool, which will all be cancelled

    def start(self, trap):
        """Starts a call and waits until it is stuck; what `cancel` takes."""
        self.started[trap.tool] += 1
        trap.place = self.started[trap.tool]
        handle = self.send(trap)
        trap.wait_caught(self)
        return handle

    def wait_cancelled(self, trap):
        """When the log had as many lines for the tool as calls had begun with this one."""
        pattern = re.compile(rf"tool={trap.tool} .*status=CANCELLED".encode())
        seen = itertools.count(1)
        stamp, _ = self.program.log.wait(lambda line: pattern.search(line) and next(seen) == trap.place)
        return stamp


class OverStdio(Door):
    """A call is cancelled by notifications/cancelled."""

    def __init__(self, name_server, launcher):
        super().__init__("stdio", Stdio(CONFORMANCE, launcher), name_server)

    def send(self, trap):
        id = self.program.new_id()
        self.program.send(tool_call(trap.tool, trap.arguments, id))
        return id

    def cancel(self, id):
        self.program.send(cancelled(id))

    def wait_sleeping(self):
        self.program.ask("ping")


class OverHttp(Door):
    """A call is cancelled by closing its stream."""

    def __init__(self, name_server, launcher):
        super().__init__("http", Server(CONFORMANCE, launcher), name_server)

    def send(self, trap):
        connection = Connection(self.program.port)
        connection.send(request(body=tool_call(trap.tool, trap.arguments)))
        return connection

    def cancel(self, connection):
        connection.close()

    def wait_sleeping(self):
        wait_until(lambda: running_calls(self.program, "test_sleep"))


# ---- a machine whose name server never answers ----


def can_start(launcher):
    return subprocess.run([*launcher, "true"], capture_output=True, check=False).returncode == 0


def stuck_names_launcher(name_server, folder):
    """How to start a program that asks our name server; None where that is not possible."""
    resolv = folder / "resolv.conf"
    resolv.write_text(f"nameserver {name_server.address}\noptions timeout:30 attempts:1\n")
    nsswitch = folder / "nsswitch.conf"
    nsswitch.write_text("hosts: dns\n")
    script = (
        f"mount --bind {resolv} /etc/resolv.conf && mount --bind {nsswitch} /etc/nsswitch.conf"
        ' && exec "$@"'
    )
    for options in (["--mount"], ["--user", "--map-root-user", "--mount"]):
        launcher = ["unshare", *options, "sh", "-c", script, "sh"]
        if shutil.which("unshare") and can_start(launcher):
            return launcher
    return None


@pytest.fixture(scope="module")
def name_server():
    try:
        server = NameServer()
    except PermissionError:
        yield None
        return
    yield server
    server.close()


@pytest.fixture(scope="module", params=[OverStdio, OverHttp], ids=["stdio", "http"])
def door(request, name_server, tmp_path_factory):
    launcher = name_server and stuck_names_launcher(name_server, tmp_path_factory.mktemp("names"))
    door = request.param(name_server if launcher else None, launcher or [])
    with door.program:
        yield door


def kinds_for(door):
    """All of them, where this machine lets us take the place of its name server."""
    return [kind for kind in KINDS.values() if kind is not InName or door.name_server]


# ---- the tests ----


def wait_free(door, traps):
    """The times at which the calls in these traps were over."""
    stamps = {}
    with selectors.DefaultSelector() as selector:
        for trap in traps:
            if trap.watched:
                selector.register(trap.watched, selectors.EVENT_READ, trap)
        while selector.get_map():
            ready = selector.select(PATIENCE)
            now = time.monotonic()
            assert ready, "still stuck: " + ", ".join(
                type(key.data).__name__ for key in selector.get_map().values()
            )
            for key, _ in ready:
                if key.data.is_free():
                    selector.unregister(key.fileobj)
                    stamps[key.data] = now
    for trap in traps:
        over = door.wait_cancelled(trap)
        if trap not in stamps:
            stamps[trap] = over
            wait_until(trap.is_free)
        trap.close()
    return list(stamps.values())


def tell(what, took):
    """Adds a line to the report."""
    middle, most = statistics.median(took) * 1000, max(took) * 1000
    report(f"cancelled {what}: over after {middle:.1f} ms (median), {most:.1f} ms (longest of {len(took)})")


@pytest.mark.parametrize("kind", KINDS)
def test_stuck_call_ends_at_once(door, kind):
    if KINDS[kind] not in kinds_for(door):
        pytest.skip("to take the place of the name server needs unshare(1) and port 53")
    took = []
    for _ in range(REPEATS):
        trap = KINDS[kind]()
        handle = door.start(trap)
        began = time.monotonic()
        door.cancel(handle)
        (over,) = wait_free(door, [trap])
        took.append(over - began)
    tell(f"{kind}, {door.name}", took)


def test_fifty_at_once(door):
    """Of every kind, cancelled in one go."""
    kinds = kinds_for(door)
    traps = [kinds[i % len(kinds)]() for i in range(AT_ONCE)]
    handles = [door.start(trap) for trap in traps]
    began = time.monotonic()
    for handle in handles:
        door.cancel(handle)
    took = [over - began for over in wait_free(door, traps)]
    tell(f"{AT_ONCE} at once, {door.name}", took)


def test_nothing_is_left_behind(door):
    """No child, no socket, no other descriptor: the later rounds leave what the first left."""

    def descriptors():
        return len(os.listdir(f"/proc/{door.program.pid}/fd"))

    def one_round():
        for kind in KINDS.values():
            if kind is not InName:  # who asks the name server stays until that gives up
                trap = kind()
                door.cancel(door.start(trap))
                wait_free(door, [trap])
        wait_until(lambda: not has_children(door.program.pid))

    one_round()
    before = descriptors()
    one_round()
    one_round()
    wait_until(lambda: descriptors() <= before)
