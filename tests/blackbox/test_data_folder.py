"""A data folder that somebody moves, deletes, replaces or locks under a running server, and a power failure: nothing is
acknowledged that nobody will find."""

import contextlib
import itertools
import os
import pathlib
import shutil
import tempfile
import threading

import pytest
from fake_web import Answer, Web
from http_client import Closed, exchange, request
from memory_world import over_rest
from programs import FORAGE, Server, run, wait_until
from reading import page
from records import spend, spending_server, usage_of
from storage import Disk, build_shim

AWAY = "away"


def move(folder):
    folder.rename(folder.with_name(AWAY))


def delete(folder):
    shutil.rmtree(folder)


def replace(folder):
    """By a copy of itself, as a restored backup is."""
    move(folder)
    shutil.copytree(folder.with_name(AWAY), folder)


def replace_file(folder):
    """Only the file, by another."""
    for name in ("memory.db", "memory.db-wal", "memory.db-shm"):
        (folder / name).unlink()


def lose_the_log(folder):
    (folder / "memory.db-wal").unlink()


def put_back(folder):
    """Moved away and back: it is the same file, so nothing has happened."""
    move(folder)
    folder.with_name(AWAY).rename(folder)


WAYS = [move, delete, replace, replace_file, lose_the_log]


def add(server, key):
    return over_rest(server.port, "memory_add", {"key": key, "text": f"text of {key}"})


def health(server):
    return exchange(server.port, request("GET", "/health")).json()["status"]


def keys_in(folder):
    """What another process finds there."""
    completed = run("memory", "export", "-", FORAGE_DATA_DIR=folder)
    assert completed.returncode == 0, completed.stderr
    return {line.split('"key":"')[1].split('"')[0] for line in completed.stdout.splitlines()}


@pytest.mark.parametrize("asks", ["memory_add", "memory_get", "memory_search", "memory_stats"])
@pytest.mark.parametrize("way", WAYS)
def test_a_folder_that_is_gone_is_told(tmp_path, way, asks):
    folder = tmp_path / "data"
    given = {"memory_add": {"key": "lost", "text": "lost"}, "memory_search": {"query": "text"}}.get(asks, {})
    with Server(FORAGE_DATA_DIR=folder) as server:
        assert add(server, "before")["success"] and health(server) == "ok"
        way(folder)
        body = over_rest(server.port, asks, given)
        assert body["success"] is False and body["error"]["code"] == "PROVIDER", body
        assert "moved, deleted or replaced" in body["error"]["message"] and "put it back, or" in body["error"]["message"]
        assert str(tmp_path) not in body["error"]["message"]
        assert health(server) == "degraded"
        assert add(server, "after")["success"] and health(server) == "ok"
        found = keys_in(folder)
        assert "after" in found and "lost" not in found
        assert ("before" in found) == (way in (replace, lose_the_log))


def test_a_folder_that_comes_back_was_never_gone(tmp_path):
    folder = tmp_path / "data"
    with Server(FORAGE_DATA_DIR=folder) as server:
        assert add(server, "before")["success"]
        put_back(folder)
        assert add(server, "after")["success"]
    assert keys_in(folder) == {"before", "after"}


@pytest.mark.parametrize("way", [move, delete])
def test_what_is_acknowledged_meanwhile_is_found(tmp_path, way):
    """Four clients write all the while. What one asks for after the folder went is in the one that is there then."""
    folder = tmp_path / "data"
    acknowledged = {"before": set(), "after": set()}
    stage = ["before"]
    ends = threading.Event()

    def write(server, client):
        number = 0
        while not ends.is_set():
            number += 1
            key, asked = f"{client} {number}", stage[0]
            if add(server, key)["success"]:
                acknowledged[asked].add(key)

    with Server(FORAGE_DATA_DIR=folder) as server:
        assert add(server, "first")["success"]
        threads = [threading.Thread(target=write, args=(server, client)) for client in range(4)]
        for thread in threads:
            thread.start()
        for name in ("before", "after"):
            wait_until(lambda name=name: len(acknowledged[name]) >= 40)
            if name == "before":
                way(folder)
                stage[0] = "after"
        ends.set()
        for thread in threads:
            thread.join()
    found = keys_in(folder)
    assert acknowledged["after"] <= found
    if way is move:
        assert acknowledged["before"] <= keys_in(tmp_path / AWAY) | found


@pytest.mark.parametrize("way", [move, delete, replace])
def test_records_follow(tmp_path, way):
    folder = tmp_path / "data"
    with spending_server(folder) as server:
        assert spend(server.port, query="one").status == 200
        way(folder)
        assert spend(server.port, query="two").status == 200
        server.wait_log("usage and history go to another file")
        assert usage_of(folder)["total"]["calls"] == (2 if way is replace else 1)


# ---- disks ----


def test_a_folder_that_cannot_be_written(tmp_path):
    """Changes fail in words and health tells; with the right to write again, the same server goes on."""
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place, "data")
        assert run("memory", "add", "A text.", "--key", "before", FORAGE_DATA_DIR=folder).returncode == 0
        for path, mode in ((pathlib.Path(place), 0o755), (folder / "memory.db", 0o444), (folder, 0o555)):
            path.chmod(mode)
        with Server(launcher=nobody, FORAGE_DATA_DIR=folder) as server:
            body = add(server, "lost")
            assert body["success"] is False and body["error"]["code"] == "PROVIDER", body
            assert "cannot be written to" in body["error"]["message"], body
            assert health(server) == "degraded"
            (folder / "memory.db").chmod(0o666)
            folder.chmod(0o777)
            assert add(server, "after")["success"] and health(server) == "ok"
        assert keys_in(folder) == {"before", "after"}


def test_all_stores_survive_a_power_failure_together(tmp_path):
    """Memories and records of one server, written side by side: what was acknowledged of either is there."""
    disk = Disk(build_shim(tmp_path), tmp_path / "data", tmp_path / "image")
    kept = {"memories": set(), "calls": 0}

    def remember(server):
        for number in itertools.count():
            if not add(server, f"k{number}")["success"]:
                return
            kept["memories"].add(f"k{number}")

    def read(server):
        while over_rest(server.port, "get_content", {"url": web.url("/page")})["success"]:
            kept["calls"] += 1

    def until_gone(work, server):
        with contextlib.suppress(Closed, OSError):
            work(server)

    settings = {"FORAGE_ALLOW_PRIVATE_HOSTS": "127.0.0.0/8", "FORAGE_CACHE_TTL": 0, **disk.settings(FORAGE)}
    with Web() as web:
        web.answers["/page"] = Answer(page())
        for _ in range(2):
            server = Server(FORAGE_DATA_DIR=disk.folder, **settings)
            enough = kept["calls"] + 5
            threads = [threading.Thread(target=until_gone, args=(work, server)) for work in (remember, read)]
            for thread in threads:
                thread.start()
            try:
                wait_until(lambda enough=enough: len(kept["memories"]) >= 20 and kept["calls"] >= enough)
            finally:
                server.kill()
                for thread in threads:
                    thread.join()
            disk.fail_power()
            assert kept["memories"] <= keys_in(disk.folder)
            assert usage_of(disk.folder)["total"]["calls"] >= kept["calls"]
            disk.sync()
