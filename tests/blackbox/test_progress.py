"""A call that waits says so: at least every five seconds, and what it waits for, so that a client which counts its patience
from the last word goes on waiting."""

import contextlib
import threading

import pytest
from fake_web import Answer, Web
from http_client import Connection, request
from messages import modern, modern_headers, tool_call
from programs import Server, Stdio
from reading import WORDS, page

LONG = 11  # seconds, that a page takes
MOST = 5  # seconds without a word: so many go by on a quiet machine, and the page takes two such times and more


class Slow:
    """A page that answers when it is told to, or after a long time."""

    def __init__(self, seconds=LONG):
        self.seconds = seconds
        self.open = threading.Event()

    def __call__(self, _handler):
        self.open.wait(self.seconds)
        return Answer(page())


@pytest.fixture
def web():
    with Web() as web:
        yield web


def settings(web):
    return {"FORAGE_ALLOW_PRIVATE_HOSTS": web.host, "FORAGE_CACHE_TTL": 0}


def check(reports, host):
    """`reports` are the parameters of the notifications that came before the answer."""
    assert len(reports) >= LONG // MOST
    numbers = [params["progress"] for params in reports]
    assert numbers == sorted(set(numbers)), "the protocol wants numbers that grow"
    assert all(host in params["message"] for params in reports)
    assert reports[-1]["message"].endswith(" s)")


def read_over_stdio(web, path):
    with Stdio(**settings(web)) as client:
        client.handshake()
        client.send(tool_call("get_content", {"url": web.url(path)}, id="slow", token="t"))
        answer = client.answer("slow")
        assert WORDS.strip() in str(answer)
        messages = client.messages()
        before = messages[: messages.index(answer)]
        return [message["params"] for message in before if message.get("method") == "notifications/progress"]


def read_over_http(web, path):
    message = modern("tools/call", {"name": "get_content", "arguments": {"url": web.url(path)}}, progressToken="t")
    with Server(**settings(web)) as server, Connection(server.port) as connection:
        connection.send(request(headers=modern_headers(message), body=message))
        reports = []
        for kind, event in connection.events(connection.head()):
            if kind == "data" and event.get("method") == "notifications/progress":
                reports.append(event["params"])
            elif kind == "data":
                assert WORDS.strip() in str(event["result"])
        return reports


@pytest.mark.parametrize("read", [read_over_stdio, read_over_http])
def test_a_slow_page(web, read):
    web.answers["/slow"] = Slow()
    check(read(web, "/slow"), web.host.partition(":")[0])


def test_a_queue_at_the_host(web):
    """The seventh transfer to a host waits for one of the six before it."""
    slow = Slow(60)
    web.answers["/held"] = slow
    with contextlib.ExitStack() as stack:
        client = stack.enter_context(Stdio(**settings(web)))
        client.handshake()
        for number in range(6):
            client.send(tool_call("get_content", {"url": web.url("/held")}, id=number))
        web.wait_seen("/held", 6)
        client.send(tool_call("get_content", {"url": web.url("/held")}, id="last", token="t"))
        client.wait_message(
            lambda message: message.get("method") == "notifications/progress"
            and message["params"]["message"].startswith("waiting for a free transfer to the host (")
        )
        slow.open.set()
        client.answer("last")
