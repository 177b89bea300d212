"""Nothing acknowledged is ever lost, whatever ends the servers. They are killed at random moments while four clients
add, change and delete. On SQLite the power fails as well: of what was written, only what was synced is left
(tests/shim). On PostgreSQL the database itself crashes now and then."""

import contextlib
import random
import signal
import subprocess
import time

import pytest
from conftest import report
from memory_streams import CLIENTS, Load, Stream, stored_in
from memory_world import SOAK, check_store
from postgres import Postgres
from programs import FORAGE, Server, wait_until
from storage import Disk, build_shim

KILLS = 200 if SOAK else 20
SERVERS = {"sqlite": 1, "sqlite-four": 4, "postgresql": 2}


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    return build_shim(tmp_path_factory.mktemp("shim"))


@contextlib.contextmanager
def running(count, settings):
    """Servers that will be killed."""
    servers = []
    try:
        for _ in range(count):
            servers.append(Server(**settings))
        yield servers
    finally:
        for server in servers:
            server.kill()


def kill(servers):
    for server in servers:
        server.signal(signal.SIGKILL)
    for server in servers:
        server.process.wait()


def load_and_kill(streams, count, settings):
    """Servers work until they are killed; where there are several, one dies before the others and they go on."""
    with running(count, settings) as servers:
        load = Load(streams, [server.port for server in servers])
        load.wait(random.randint(1, 60))
        if count > 2:
            kill(servers[:1])
            load.wait(random.randint(60, 90))
        time.sleep(random.random() * 0.02)
        kill(servers)
        load.end()


def check(streams, settings):
    """Everything acknowledged is there, and the store is sound."""
    stored = stored_in(settings)
    problems = [problem for stream in streams for problem in stream.lost(stored)]
    assert not problems, "\n".join(problems)
    check_store(settings)


@pytest.mark.parametrize("kind", ["sqlite", "sqlite-four"])
def test_what_was_acknowledged_survives_a_power_failure(shim, tmp_path, kind):
    disk = Disk(shim, tmp_path / "disk", tmp_path / "image")
    streams = [Stream(number) for number in range(CLIENTS)]
    settings = {"FORAGE_DATA_DIR": disk.folder}
    for _ in range(KILLS):
        load_and_kill(streams, SERVERS[kind], {**settings, **disk.settings(FORAGE)})
        disk.fail_power()
        check(streams, settings)
        disk.sync()  # looking at it tidied up
    acknowledged = sum(stream.acknowledged for stream in streams)
    report(f"memory, {kind}: {KILLS} power failures, {acknowledged} acknowledged changes, none lost")


def test_without_syncing_the_same_test_fails(shim, tmp_path):
    """What the servers sync is not what the disk is told."""
    disk = Disk(shim, tmp_path / "disk", tmp_path / "image")
    streams = [Stream(number) for number in range(CLIENTS)]
    settings = {"FORAGE_DATA_DIR": disk.folder}
    with Server(**settings):
        pass
    disk.sync()
    load_and_kill(streams, 1, {**settings, **disk.settings(FORAGE), "LOST_WRITES_ROOT": tmp_path / "elsewhere"})
    disk.fail_power()
    with pytest.raises(AssertionError, match="wanted client"):
        check(streams, settings)


def test_what_was_acknowledged_survives_in_postgresql(tmp_path):
    with Postgres(careful=True) as database:
        settings = {"FORAGE_DATA_DIR": tmp_path, "FORAGE_DATABASE_URL": database.database()}
        streams = [Stream(number) for number in range(CLIENTS)]
        for number in range(KILLS):
            load_and_kill(streams, SERVERS["postgresql"], settings)
            if number % 4 == 3:
                database.restart(signal.SIGQUIT)
            check(streams, settings)
    acknowledged = sum(stream.acknowledged for stream in streams)
    report(f"memory, postgresql: {KILLS} kills, {acknowledged} acknowledged changes, none lost")


# ---- a disk without room ----


def full_disk(size):
    """A command that starts a program which finds the disk full."""
    return ["prlimit", f"--fsize={size}:unlimited", "--"]


@pytest.mark.parametrize("kind", ["sqlite", "sqlite-four"])
def test_a_full_disk(tmp_path, kind):
    """Changes fail clearly or succeed, and what was said is true; reading goes on; with room again all is well."""
    settings = {"FORAGE_DATA_DIR": tmp_path}
    streams = [Stream(number) for number in range(CLIENTS)]
    with contextlib.ExitStack() as started:
        servers = [
            started.enter_context(Server(launcher=full_disk(400_000), **settings)) for _ in range(SERVERS[kind])
        ]
        load = Load(streams, [server.port for server in servers])
        wait_until(lambda: all(stream.refusals for stream in streams))
        load.end()
        assert sum(stream.acknowledged for stream in streams) > 0
        for error in (error for stream in streams for error in stream.refusals):
            assert "nothing was changed" in error["message"] and "disk" in error["message"], error
        for server in servers:
            subprocess.run(["prlimit", "--fsize=unlimited:unlimited", "--pid", str(server.pid)], check=True)
        check(streams, settings)
        load = Load(streams, [server.port for server in servers])
        load.wait(40)
        load.end()
        assert not any(stream.refusals for stream in streams)
    check(streams, settings)


# ---- PostgreSQL comes and goes ----


def test_postgresql_restarts_under_load(tmp_path):
    """Calls fail clearly or succeed; none lies, and all is well when the database is back."""
    with Postgres(careful=True) as database, contextlib.ExitStack() as started:
        settings = {"FORAGE_DATA_DIR": tmp_path, "FORAGE_DATABASE_URL": database.database()}
        servers = [started.enter_context(Server(**settings)) for _ in range(2)]
        streams = [Stream(number) for number in range(CLIENTS)]
        refused = 0
        for how in [signal.SIGINT, signal.SIGQUIT, signal.SIGINT]:
            load = Load(streams, [server.port for server in servers])
            load.wait(30)
            database.restart(how)
            load.wait(60)
            load.end()
            refused += sum(len(stream.refusals) for stream in streams)
            check(streams, settings)
        report(f"memory, postgresql: 3 restarts under load, {refused} calls failed clearly, none lied")
