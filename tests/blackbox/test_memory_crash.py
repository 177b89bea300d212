"""Nothing acknowledged is ever lost, whatever ends the servers. They are killed at random moments while four clients
add, change and delete. On SQLite the power fails as well: of what was written, only what was synced is left
(tests/shim)."""

import contextlib
import subprocess

import pytest
from conftest import report
from memory_streams import CLIENTS, KILLS, Load, Stream, check, load_and_kill
from programs import FORAGE, Server, wait_until
from storage import Disk, build_shim

SERVERS = {"sqlite": 1, "sqlite-four": 4}


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    return build_shim(tmp_path_factory.mktemp("shim"))


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
