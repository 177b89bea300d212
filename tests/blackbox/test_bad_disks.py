"""Disks that fail, are full or slow, under a running server (tests/shim/bad_disk.c): nothing is acknowledged that is not there
afterwards, who only reads notices nothing, errors say what happened, and with the disk the server recovers."""

import contextlib
import errno
import signal
import time

import pytest
from conftest import start_early
from fake_web import Answer, Web
from http_client import Connection, exchange, request
from memory_world import check_store, over_rest
from programs import FORAGE, PATIENCE, Server, no_thread_check, run, wait_until
from reading import page
from records import usage_of
from storage import BadDisk

MOODS = {
    "errors": {"writing": errno.EIO, "syncing": errno.EIO},
    "errors when syncing": {"syncing": errno.EIO},
    "full": {"writing": errno.ENOSPC},
    "full when syncing": {"syncing": errno.ENOSPC},
}

LONG = 600_000  # milliseconds: nobody waits that long
RECORD_WAIT = 15  # seconds that a call waits for its record
INDEXED = 120  # memories, from which on the index is worth a file
QUIET = 60  # seconds after which the file of records is closed
READS = {"FORAGE_CACHE_TTL": 0, "FORAGE_ALLOW_PRIVATE_HOSTS": "127.0.0.0/8"}


@pytest.fixture
def disk(tmp_path):
    return BadDisk(tmp_path)


def add(server, key, text="text"):
    return over_rest(server.port, "memory_add", {"key": key, "text": f"{text} of {key}"})


def health(server):
    return exchange(server.port, request("GET", "/health")).json()["status"]


def texts_in(folder):
    """What another process finds there."""
    found = run("memory", "export", "-", FORAGE_DATA_DIR=folder)
    assert found.returncode == 0, found.stderr
    return found.stdout


@pytest.mark.parametrize("mood", MOODS)
def test_memories(disk, mood):
    acknowledged = {"before"}
    refused = set()
    with Server(FORAGE_DATA_DIR=disk.folder, **disk.settings(FORAGE)) as server:
        for key in ("before", "changed", "deleted"):
            assert add(server, key)["success"]
        assert over_rest(server.port, "memory_search", {"query": "text"})["success"]
        disk.turn(**MOODS[mood])
        for number in range(12):
            key = f"during {number}"
            body = add(server, key, "x" * 9000)
            (acknowledged if body["success"] else refused).add(key)
            if not body["success"]:
                assert body["error"]["code"] == "PROVIDER" and str(disk.folder) not in body["error"]["message"], body
        assert refused and health(server) == "degraded"
        for tool, given in (("update", {"key": "changed", "text": "new"}), ("delete", {"key": "deleted"})):
            assert over_rest(server.port, f"memory_{tool}", given)["success"] is False
        # Reading goes on, and shows nothing that was refused.
        for tool, given in (("get", {"key": "before"}), ("list", {}), ("search", {"query": "text"}), ("stats", {})):
            body = over_rest(server.port, f"memory_{tool}", given)
            assert body["success"], (tool, body)
        listed = {item["key"] for item in over_rest(server.port, "memory_list", {"limit": 50})["data"]["results"]}
        assert not listed & refused
        disk.turn()
        assert add(server, "after")["success"] and health(server) == "ok"
        acknowledged |= {"after", "changed", "deleted"}
        assert over_rest(server.port, "memory_update", {"key": "changed", "text": "later"})["success"]
    found = texts_in(disk.folder)
    assert all(f'"key":"{key}"' in found for key in acknowledged)
    assert not any(f'"key":"{key}"' in found for key in refused)
    check_store({"FORAGE_DATA_DIR": disk.folder})


@pytest.mark.parametrize("mood", MOODS)
def test_pages_and_records(disk, mood):
    """Neither the cache nor the records of usage are worth a call."""
    settings = {"FORAGE_CACHE_DIR": disk.folder / "cache", "FORAGE_HISTORY": "on", "FORAGE_ALLOW_PRIVATE_HOSTS": "127.0.0.0/8"}
    with Web() as web, Server(FORAGE_DATA_DIR=disk.folder, **settings, **disk.settings(FORAGE)) as server:

        def read(path):
            web.answers[path] = Answer(page())
            return over_rest(server.port, "get_content", {"url": web.url(path)})

        assert read("/before")["success"]
        disk.turn(**MOODS[mood])
        for path in ("/before", "/1", "/2", "/3"):
            assert read(path)["success"]
        if "writing" in MOODS[mood]:
            wait_until(lambda: health(server) == "degraded")
        disk.turn()
        assert read("/after")["success"]
        wait_until(lambda: health(server) == "ok")
    assert usage_of(disk.folder)["total"]["calls"] == 6


# The C library writes a stream past the shim: an export meets a full disk when it is synced.
COPIES = [(command, mood) for command in ("export", "backup") for mood in MOODS if (command, mood) != ("export", "full")]


@pytest.mark.parametrize(("command", "mood"), COPIES)
def test_copies(disk, tmp_path, command, mood):
    """Of a copy that cannot be written, nothing is left."""
    store = {"FORAGE_DATA_DIR": tmp_path / "elsewhere"}
    disk.folder.mkdir()
    assert run("memory", "add", "A text.", **store).returncode == 0
    disk.turn(**MOODS[mood])
    done = run("memory", command, disk.folder / "copy", **store, **disk.settings(FORAGE))
    assert done.returncode == 1 and done.stderr.count("\n") == 1, done
    assert not list(disk.folder.iterdir())
    disk.turn()
    assert run("memory", command, disk.folder / "copy", **store, **disk.settings(FORAGE)).returncode == 0


@pytest.fixture(scope="module")
def quiet(tmp_path_factory):
    """A server that has recorded a call on a disk that hangs from then on, and that has nothing to do."""
    disk = BadDisk(tmp_path_factory.mktemp("quiet"))
    with Web() as web, Server(FORAGE_DATA_DIR=disk.folder, **no_thread_check(), **READS, **disk.settings(FORAGE)) as server:
        web.answers["/page"] = Answer(page())
        assert over_rest(server.port, "get_content", {"url": web.url("/page")})["success"]
        disk.turn(waits_ms=LONG)
        yield disk, web, server
        disk.turn()


@pytest.fixture(autouse=True, scope="module")
def begin_early(request):
    start_early(request, "quiet")


def test_a_disk_that_hangs(disk):
    """Whoever writes waits, or gives up at its time if nothing of it was written; everybody else goes on."""
    settings = {"FORAGE_CALL_TIMEOUT": "8s", **READS}
    keys = [f"k{number}" for number in range(8)]
    with contextlib.ExitStack() as stack:
        web = stack.enter_context(Web())
        web.answers["/page"] = Answer(page())
        server = stack.enter_context(Server(FORAGE_DATA_DIR=disk.folder, **settings, **disk.settings(FORAGE)))
        assert add(server, "before")["success"]
        disk.turn(waits_ms=LONG)
        stack.callback(disk.turn)
        writers = {key: stack.enter_context(Connection(server.port)) for key in keys}
        for key, writer in writers.items():
            writer.send(request("POST", "/api/v1/tools/memory_add", None, {"key": key, "text": f"text of {key}"}))
        wait_until(lambda: server.log.text().count("status=TIMEOUT") >= 4)
        took = []
        for _ in range(6):
            for tool, given in (("memory_get", {"key": "before"}), ("memory_search", {"query": "text"})):
                assert over_rest(server.port, tool, given)["success"]
            began = time.monotonic()
            assert over_rest(server.port, "get_content", {"url": web.url("/page")})["success"]
            took.append(time.monotonic() - began)
        assert sum(seconds >= RECORD_WAIT for seconds in took) < 4, "the first waits for its record, those after it do not"
        told = exchange(server.port, request("GET", "/health")).json()["waiting"]
        assert {item["for"] for item in told} == {"the memory store", "the records of usage and limits"}
        disk.turn()
        answered = {key: writer.response().json()["success"] for key, writer in writers.items()}
        assert add(server, "after")["success"]
        wait_until(lambda: health(server) == "ok")
    found = texts_in(disk.folder)
    for key in keys:
        assert (f'"key":"{key}"' in found) == answered[key], (key, answered)
    assert any(answered.values()), "what was begun is done"
    assert usage_of(disk.folder)["total"]["calls"] == 6


def test_it_ends_while_the_disk_hangs(disk):
    """Here only that of the index, which nothing but the next start needs."""
    settings = {**disk.settings(FORAGE), "BAD_DISK_ROOT": disk.folder / "index"}
    keys = [f"k{number}" for number in range(INDEXED)]
    disk.turn(waits_ms=LONG)
    with Server(FORAGE_DATA_DIR=disk.folder, **no_thread_check(), **settings) as server:
        assert all(add(server, key)["success"] for key in keys)
        assert over_rest(server.port, "memory_search", {"query": "text"})["success"]
        server.signal(signal.SIGTERM)
        assert server.wait(2 * PATIENCE) == 0
        assert "could not be closed in time" in server.log.text()
    found = texts_in(disk.folder)
    assert all(f'"key":"{key}"' in found for key in keys)


def test_a_disk_that_hangs_when_all_is_quiet(quiet):
    """Closing the file of records waits for the disk, and nobody waits for that: one call as long as for its record, none after it;
    and the program ends when it is told to."""
    disk, web, server = quiet

    def waits():
        time.sleep(0.1)
        told = exchange(server.port, request("GET", "/health")).json().get("waiting", [])
        return "the records of usage and limits" in {item["for"] for item in told}

    wait_until(waits, QUIET + PATIENCE)
    took = []
    for _ in range(4):
        began = time.monotonic()
        assert over_rest(server.port, "get_content", {"url": web.url("/page")})["success"]
        took.append(time.monotonic() - began)
    assert sum(seconds >= RECORD_WAIT for seconds in took) < 2, took
    server.signal(signal.SIGTERM)
    assert server.wait(2 * PATIENCE) == 0
    assert "4 records of usage and history could not be kept" in server.log.text()
