"""A server that has used up its descriptors: it says how it is, lets go of who waits for nothing, and works again after."""

import contextlib

from fake_web import Answer, Web
from http_client import Closed, Connection, exchange, request
from programs import Server, wait_until
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
