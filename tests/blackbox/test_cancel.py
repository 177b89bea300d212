"""Cancellation: wherever a call is stuck, it is over at once, as seen from the other end.

The times are printed at the end of the run. The bar is 50 ms; what is asserted here is generous, so that no
test fails because the machine was busy."""

import collections
import concurrent.futures
import itertools
import os
import re
import shutil
import statistics
import subprocess
import time

import pytest
from conftest import report
from http_client import Connection, request, running_calls
from messages import cancelled, tool_call
from programs import CONFORMANCE, Server, Stdio, has_children, wait_until
from traps import KINDS, NAME_SERVER, InName, NameServer

REPEATS = 10
AT_ONCE = 50
LIMIT_S = 0.5


# ---- doors: how a call is started and cancelled ----


class Door:
    """What both doors share: a log that has a line for each cancelled call."""

    def __init__(self, program, name_server):
        self.program = program
        self.name_server = name_server
        self.cancelled = collections.Counter()  # calls of each tool

    def cancel(self, trap, handle):
        """From here on the log will have one more line for the trap's tool."""
        self.cancelled[trap.tool] += 1
        trap.place = self.cancelled[trap.tool]
        self.let_go(handle)

    def wait_cancelled(self, trap):
        """When the log had as many lines for the tool as calls were cancelled, this one the last."""
        pattern = re.compile(rf"tool={trap.tool} .*status=CANCELLED".encode())
        seen = itertools.count(1)
        stamp, _ = self.program.log.wait(lambda line: pattern.search(line) and next(seen) == trap.place)
        return stamp


class OverStdio(Door):
    """A call is cancelled by notifications/cancelled."""

    def __init__(self, name_server, launcher):
        super().__init__(Stdio(CONFORMANCE, launcher), name_server)

    def start(self, trap):
        id = self.program.new_id()
        self.program.send(tool_call(trap.tool, trap.arguments, id))
        return id

    def let_go(self, id):
        self.program.send(cancelled(id))

    def wait_begun(self):
        self.program.ask("ping")


class OverHttp(Door):
    """A call is cancelled by closing its stream."""

    def __init__(self, name_server, launcher):
        super().__init__(Server(CONFORMANCE, launcher), name_server)

    def start(self, trap):
        connection = Connection(self.program.port)
        connection.send(request(body=tool_call(trap.tool, trap.arguments)))
        return connection

    def let_go(self, connection):
        connection.close()

    def wait_begun(self):
        wait_until(lambda: running_calls(self.program, "test_sleep"))


DOORS = {"stdio": OverStdio, "http": OverHttp}


# ---- a machine whose name server never answers ----


def stuck_names_launcher(folder):
    """How to start a program that sees another /etc/resolv.conf; None where that is not possible."""
    resolv = folder / "resolv.conf"
    resolv.write_text(f"nameserver {NAME_SERVER}\noptions timeout:30 attempts:1\n")
    nsswitch = folder / "nsswitch.conf"
    nsswitch.write_text("hosts: dns\n")
    mounts = f"mount --bind {resolv} /etc/resolv.conf && mount --bind {nsswitch} /etc/nsswitch.conf"
    for options in (["--mount"], ["--user", "--map-root-user", "--mount"]):
        launcher = ["unshare", *options, "sh", "-c", f'{mounts} && exec "$@"', "sh"]
        if shutil.which("unshare") and subprocess.run([*launcher, "true"], capture_output=True, check=False).returncode == 0:
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


@pytest.fixture(scope="module", params=DOORS)
def door(request, name_server, tmp_path_factory):
    launcher = name_server and stuck_names_launcher(tmp_path_factory.mktemp("names"))
    door = DOORS[request.param](name_server if launcher else None, launcher or [])
    door.name = request.param
    with door.program:
        yield door


def kinds_for(door):
    """All of them, where this machine lets us take the place of its name server."""
    return [kind for kind in KINDS.values() if kind is not InName or door.name_server]


# ---- the tests ----


@pytest.mark.parametrize("kind", KINDS)
def test_stuck_call_ends_at_once(door, kind):
    if KINDS[kind] not in kinds_for(door):
        pytest.skip("another name server needs unshare(1) and port 53")
    took = []
    for _ in range(REPEATS):
        trap = KINDS[kind]()
        handle = door.start(trap)
        trap.wait_caught(door)
        began = time.monotonic()
        door.cancel(trap, handle)
        took.append(trap.wait_free(door) - began)
        trap.close()
    tell(f"{kind}, {door.name}", took)
    assert statistics.median(took) < LIMIT_S


def test_fifty_at_once(door):
    """Of every kind, cancelled in one go."""
    kinds = kinds_for(door)
    traps = [kinds[i % len(kinds)]() for i in range(AT_ONCE)]
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as threads:
        handles = []
        for trap in traps:
            handles.append(door.start(trap))
            trap.wait_caught(door)
        began = time.monotonic()
        for trap, handle in zip(traps, handles):
            door.cancel(trap, handle)
        freed = list(threads.map(lambda trap: trap.wait_free(door), traps))
    took = [stamp - began for stamp in freed]
    tell(f"{AT_ONCE} at once, {door.name}", took)
    for trap in traps:
        trap.close()
    assert statistics.median(took) < LIMIT_S


def spring(door, kind):
    """Lets a call into a trap and out of it."""
    trap = kind()
    handle = door.start(trap)
    trap.wait_caught(door)
    door.cancel(trap, handle)
    trap.wait_free(door)
    trap.close()


def test_nothing_is_left_behind(door):
    """No child, no socket, no other descriptor: the second and third round leave what the first left."""
    descriptors = f"/proc/{door.program.pid}/fd"
    # What asks the name server stays until that gives up.
    kinds = [kind for kind in KINDS.values() if kind is not InName]
    for kind in kinds:
        spring(door, kind)
    wait_until(lambda: not has_children(door.program.pid))
    before = len(os.listdir(descriptors))
    for kind in kinds * 2:
        spring(door, kind)
    wait_until(lambda: not has_children(door.program.pid))
    wait_until(lambda: len(os.listdir(descriptors)) <= before)


def tell(what, took):
    """A line for the report at the end."""
    middle, most = statistics.median(took) * 1000, max(took) * 1000
    report(f"cancelled {what}: over after {middle:.1f} ms (median), {most:.1f} ms (longest of {len(took)})")
