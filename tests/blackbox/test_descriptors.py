"""A server that has used up its descriptors: it says how it is, lets go of who waits for nothing, and works again after."""

import contextlib
import os
import pathlib
import threading

from fake_web import Answer, Web
from http_client import Closed, Connection, exchange, request
from memory_world import over_rest
from programs import Server, run, wait_until
from reading import get, page

DESCRIPTORS = 64
LAUNCHER = ("prlimit", f"--nofile={DESCRIPTORS}:{DESCRIPTORS}")


def health(server):
    return exchange(server.port, request("GET", "/health")).status


def gets_in(server):
    try:
        return health(server) == 200
    except Closed:
        return False


def test_silent_connections():
    """More of them than there are descriptors: the oldest go, so that whoever comes gets in. The first page that is read
    afterwards finds its libraries."""
    with Web() as web:
        web.answers["/"] = Answer(page())
        settings = {"FORAGE_ALLOW_PRIVATE_HOSTS": web.host, "FORAGE_CACHE_TTL": 0}
        with Server(launcher=LAUNCHER, **settings) as server:
            with contextlib.ExitStack() as silent:
                for _ in range(2 * DESCRIPTORS):
                    silent.enter_context(Connection(server.port))
                for _ in range(10):
                    assert health(server) == 200
            assert wait_until(lambda: "make a paragraph" in get(server, web.url("/"))["page_content"])


def test_what_a_crowd_leaves(tmp_path):
    """Many calls at once open many connections to the file of memories; a server that rests has few descriptors of it."""
    lines = tmp_path / "memories.jsonl"
    lines.write_text("".join(f'{{"key": "{number}", "text": "{number}", "tags": ["a"]}}\n' for number in range(3000)))
    assert run("memory", "import", lines, FORAGE_DATA_DIR=tmp_path / "data").returncode == 0
    with Server(FORAGE_DATA_DIR=tmp_path / "data") as server:

        def of_memories():
            found = 0
            for path in pathlib.Path(f"/proc/{server.pid}/fd").iterdir():
                with contextlib.suppress(FileNotFoundError):  # it was closed meanwhile
                    found += "memory.db" in os.readlink(path)
            return found

        def work():
            assert over_rest(server.port, "memory_get", {"tags": ["none"]})["success"]

        def crowd():
            threads = [threading.Thread(target=work) for _ in range(16)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            return of_memories() > 8

        wait_until(crowd)
        wait_until(lambda: of_memories() <= 6)
        work()


def test_busy_connections():
    """Calls hold every descriptor: the ones in reserve take in who asks how the server is."""

    def hang(handler):
        handler.rfile.read(1)

    with Web(address="0.0.0.0") as web:
        web.answers["/hangs"] = hang
        settings = {"FORAGE_ALLOW_PRIVATE_HOSTS": "127.0.0.0/8", "FORAGE_CACHE_TTL": 0}
        with Server(launcher=LAUNCHER, **settings) as server, contextlib.ExitStack() as busy:
            for number in range(DESCRIPTORS):
                connection = busy.enter_context(Connection(server.port))
                url = f"http://127.0.0.{number + 2}:{web.port}/hangs"
                connection.send(request("POST", "/api/v1/tools/get_content", None, {"url": url}))
            wait_until(lambda: gets_in(server))  # those before it in the queue may take its place
            for _ in range(10):
                assert health(server) == 200
            assert server.alive()
