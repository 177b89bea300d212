"""Hostile connections: bytes that are no request or would be two for somebody else, clients that leave when
they should not, that never leave, or that take their time."""

import concurrent.futures
import json
import select
import socket
import struct
import time

import pytest
from conftest import start_early, still_well
from http_checks import error, fails, result
from http_client import Connection, exchange, request, running_calls
from messages import PARSE, call, tool_call
from programs import CONFORMANCE, PATIENCE, Server, wait_until

PING = call("ping")


# ---- framing: what is not a request, and what would be two for somebody else ----

HEAD = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
BODY = json.dumps(PING).encode()
SECOND = request(body=call("ping", id="smuggled"))


def chunked(body):
    return HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + body


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


# Everything here is refused with that status, and the connection closes: nothing behind it is read.
FRAMING = [
    ("garbage", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 10, 400),
    ("nothing but blank lines", b"\r\n\r\n\r\n\r\n", 400),
    ("no version", b"GET /health\r\n\r\n", 400),
    ("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    ("HTTP/3.0", b"GET /health HTTP/3.0\r\nHost: localhost\r\n\r\n", 505),
    ("HTTP/0.9", b"GET /health HTTP/0.9\r\n\r\n", 505),
    ("a lower-case version", b"GET /health http/1.1\r\nHost: localhost\r\n\r\n", 400),
    ("two blanks", b"GET  /health HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    ("a whole address", b"GET http://localhost/health HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    ("CONNECT", b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    ("an endless method", b"G" * 100 + b" / HTTP/1.1\r\n\r\n", 501),
    ("bare LF", b"GET /health HTTP/1.1\nHost: localhost\n\n", 400),
    ("a bare LF in a header", b"GET /health HTTP/1.1\r\nHost: localhost\nX: y\r\n\r\n", 400),
    ("a bare CR in a header", b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: a\rb\r\n\r\n", 400),
    ("a NUL in a header", b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: a\0b\r\n\r\n", 400),
    ("a NUL in the path", b"GET /health\0 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    ("a folded header", b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\n\r\n", 400),
    ("a blank before the colon", b"GET /health HTTP/1.1\r\nHost : localhost\r\n\r\n", 400),
    ("a header without a colon", b"GET /health HTTP/1.1\r\nHost: localhost\r\nnothing\r\n\r\n", 400),
    ("a header without a name", b"GET /health HTTP/1.1\r\nHost: localhost\r\n: x\r\n\r\n", 400),
    ("65 headers", b"GET /health HTTP/1.1\r\n" + b"X: y\r\n" * 65 + b"\r\n", 431),
    (
        "33 KiB of headers",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 33 * 1024 + b"\r\n\r\n",
        431,
    ),
    ("headers without an end", b"GET /health HTTP/1.1\r\n" + b"X: y\r\n" * 20_000, 431),
    ("two lengths", HEAD + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello" + SECOND, 400),
    ("two lengths that differ", HEAD + b"Content-Length: 0\r\nContent-Length: 5\r\n\r\nhello" + SECOND, 400),
    ("a list of lengths", HEAD + b"Content-Length: 5, 5\r\n\r\nhello" + SECOND, 400),
    ("a negative length", HEAD + b"Content-Length: -1\r\n\r\n" + SECOND, 400),
    ("a signed length", HEAD + b"Content-Length: +5\r\n\r\nhello" + SECOND, 400),
    ("a hexadecimal length", HEAD + b"Content-Length: 0x5\r\n\r\nhello" + SECOND, 400),
    ("an empty length", HEAD + b"Content-Length:\r\n\r\n" + SECOND, 400),
    ("a length of 30 digits", HEAD + b"Content-Length: " + b"9" * 30 + b"\r\n\r\n", 413),
    ("a length that wraps", HEAD + b"Content-Length: 18446744073709551621\r\n\r\nhello", 413),
    (
        "length and chunks",
        HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + SECOND,
        400,
    ),
    (
        "chunks and length",
        HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + SECOND,
        400,
    ),
    ("two codings", HEAD + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    ("gzip, chunked", HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
    ("identity", HEAD + b"Transfer-Encoding: identity\r\n\r\n" + SECOND, 501),
    ("xchunked", HEAD + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + SECOND, 501),
    ("chunked in quotes", HEAD + b'Transfer-Encoding: "chunked"\r\n\r\n0\r\n\r\n' + SECOND, 501),
    ("a vertical tab", HEAD + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n" + SECOND, 400),
    ("a blank before its colon", HEAD + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + SECOND, 400),
    (
        "chunked in HTTP/1.0",
        HEAD.replace(b"1.1", b"1.0") + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        400,
    ),
    ("chunk: no size", chunked(b"\r\n\r\n"), 400),
    ("chunk: not a number", chunked(b"x\r\nhello\r\n0\r\n\r\n"), 400),
    ("chunk: negative", chunked(b"-1\r\nhello\r\n0\r\n\r\n"), 400),
    ("chunk: 0x", chunked(b"0x5\r\nhello\r\n0\r\n\r\n"), 400),
    ("chunk: a blank before the size", chunked(b" 5\r\nhello\r\n0\r\n\r\n"), 400),
    ("chunk: 20 digits", chunked(b"f" * 20 + b"\r\n"), 413),
    ("chunk: more than allowed", chunked(b"400001\r\n"), 413),
    ("chunk: too short", chunked(b"3\r\nhello\r\n0\r\n\r\n"), 400),
    ("chunk: bare LF", chunked(b"5\nhello\n0\n\n"), 400),
    ("chunk: an endless extension", chunked(b"5;" + b"x" * 10_000), 400),
    ("chunk: a bare LF in the extension", chunked(b"5;a\nb\r\nhello\r\n0\r\n\r\n"), 400),
    ("chunk: an endless trailer", chunked(chunk(BODY) + b"0\r\n" + b"X: y\r\n" * 10_000), 431),
    ("an expectation", HEAD + b"Expect: miracles\r\nContent-Length: 5\r\n\r\n", 417),
]


@pytest.mark.parametrize("data, expected", [pytest.param(*row, id=name) for name, *row in FRAMING])
def test_framing(server, data, expected):
    with Connection(server.port) as connection:
        try:
            connection.send(data)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it did not want to read all of it
        response = connection.response()
        fails(expected)(response)
        assert response.header("Connection") == "close"
        assert connection.wait_closed() == b"", "what follows must not be read as a request"


CHUNKS = [
    ("one", chunked(chunk(BODY) + b"0\r\n\r\n")),
    ("one for each byte", chunked(b"".join(chunk(bytes([byte])) for byte in BODY) + b"0\r\n\r\n")),
    ("capital digits", chunked(b"%X\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY))),
    ("leading zeros", chunked(b"000%x\r\n%s\r\n0000\r\n\r\n" % (len(BODY), BODY))),
    ("extensions", chunked(b'%x;a=b;c="d"\r\n%s\r\n0;x\r\n\r\n' % (len(BODY), BODY))),
    ("a trailer", chunked(chunk(BODY) + b"0\r\nContent-Length: 5\r\nX: y\r\n\r\n")),
    ("in capitals", chunked(chunk(BODY) + b"0\r\n\r\n").replace(b"chunked", b"CHUNKED")),
]


@pytest.mark.parametrize("data", [pytest.param(data, id=name) for name, data in CHUNKS])
def test_good_chunks(server, data):
    """And the connection goes on behind them."""
    with Connection(server.port) as connection:
        result(1)(connection.exchange(data))
        result("smuggled")(connection.exchange(SECOND))


# ---- connections ----


def test_pipelined_requests(server):
    with Connection(server.port) as connection:
        connection.send(b"".join(request(body=call("ping", id=i)) for i in range(500)))
        assert [connection.response().json()["id"] for _ in range(500)] == list(range(500))


def test_pipelined_behind_a_slow_call(fixtures):
    with Connection(fixtures.port) as connection:
        slow = request(body=tool_call("test_sleep", {"ms": 100}, id="slow"))
        connection.send(slow + request(body=call("ping", id="quick")))
        assert connection.response().json()["id"] == "slow"
        assert connection.response().json()["id"] == "quick"


def test_a_byte_at_a_time(server):
    with Connection(server.port) as connection:
        connection.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in request(body=PING):
            connection.send(bytes([byte]))
        result()(connection.response())


def test_content_length_larger_than_the_body(server):
    """The rest never comes; the client's end is its answer."""
    with Connection(server.port) as connection:
        connection.send(request(headers={"Content-Length": "1000"}, body=BODY))
        connection.half_close()
        assert connection.wait_closed() == b""


def test_content_length_smaller_than_the_body(server):
    """What is left over is no request."""
    with Connection(server.port) as connection:
        connection.send(request(headers={"Content-Length": str(len(BODY) - 1)}, body=BODY))
        error(PARSE, 400, None)(connection.response())
        fails(400)(connection.response())
        assert connection.wait_closed() == b""


def test_expect_continue(server):
    with Connection(server.port) as connection:
        connection.send(HEAD + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(BODY))
        assert connection.head().status == 100
        connection.send(BODY)
        result()(connection.response())


def test_http_1_0(server):
    with Connection(server.port) as connection:
        response = connection.exchange(request("GET", "/health", version="HTTP/1.0"))
        assert response.status == 200 and response.header("Connection") == "close"
        assert connection.wait_closed() == b""


def test_head(server):
    with Connection(server.port) as connection:
        connection.send(request("HEAD", "/health") + request("GET", "/health"))
        assert connection.response(to_head=True).status == 200
        assert connection.response().json()["status"] == "ok"


def test_half_closed_before_the_request(server):
    with Connection(server.port) as connection:
        connection.half_close()
        assert connection.wait_closed() == b""


def test_half_closed_in_the_head(server):
    with Connection(server.port) as connection:
        connection.send(b"GET /health HT")
        connection.half_close()
        assert connection.wait_closed() == b""


def test_half_closed_after_a_quick_request(server):
    """It may have left; where the answer is there at once, it is still sent."""
    with Connection(server.port) as connection:
        connection.send(request("GET", "/health"))
        connection.half_close()
        said = connection.wait_closed()
        assert said == b"" or said.startswith(b"HTTP/1.1 200")


def test_half_closed_while_a_call_runs(fixtures):
    """A client's FIN counts as leaving: the call is cancelled."""
    with Connection(fixtures.port) as connection:
        connection.send(request(body=tool_call("test_sleep", {"ms": 60_000})))
        connection.half_close()
        assert connection.wait_closed() == b""
    fixtures.wait_log(r"tool=test_sleep .*status=CANCELLED")


def test_reset_while_a_call_runs():
    with Server(CONFORMANCE) as server:
        connection = Connection(server.port)
        connection.send(request(body=tool_call("test_sleep", {"ms": 60_000})))
        wait_until(lambda: running_calls(server, "test_sleep") == 1)
        connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
        server.wait_log(r"tool=test_sleep .*status=CANCELLED")


def test_three_hundred_connections_at_once(server):
    connections = [Connection(server.port) for _ in range(300)]
    try:
        for connection in connections:
            connection.send(request(body=PING))
        for connection in connections:
            result()(connection.response())
        for connection in connections:
            connection.send(request("GET", "/health"))
        assert {connection.response().status for connection in connections} == {200}
    finally:
        for connection in connections:
            connection.close()


def test_three_hundred_half_requests(server):
    """They hold nobody up."""
    connections = [Connection(server.port) for _ in range(300)]
    try:
        for connection in connections:
            connection.send(request(body=PING)[:-5])
        still_well(server)
        for connection in connections:
            connection.send(request(body=PING)[-5:])
        for connection in connections:
            result()(connection.response())
    finally:
        for connection in connections:
            connection.close()


def test_many_threads_of_good_and_bad(server):
    """Every refusal from many clients at once, between good requests."""

    def one(case):
        _, data, expected = case
        try:
            fails(expected)(exchange(server.port, data))
        except (BrokenPipeError, ConnectionResetError):
            pass  # the server did not want to read all of it
        result()(exchange(server.port, request(body=PING)))

    with concurrent.futures.ThreadPoolExecutor(16) as threads:
        list(threads.map(one, FRAMING * 5))


# ---- clients that take their time: all at once, since each takes as long as the server's limits ----


def trickle(port, start, byte):
    """Sends the start, then a byte a second until the server has had enough; how long that took."""
    began = time.monotonic()
    with Connection(port) as connection:
        connection.send(start)
        while not select.select([connection.socket], [], [], 1)[0]:
            assert time.monotonic() - began < LONG, "the server still waits for the rest"
            connection.send(byte)
        response = connection.response()
        return time.monotonic() - began, response


def never_read(port):
    """Asks for more than the sockets hold and reads nothing; how long until the server gives up."""
    began = time.monotonic()
    with Connection(port, receive_bytes=4096) as connection:
        connection.send(request(body=tool_call("test_big", {"chars": 6_000_000})))
        connection.socket.settimeout(LONG)
        # A closed connection shows when we send: the server does not read, but its kernel resets.
        while time.monotonic() - began < LONG:
            time.sleep(0.5)
            try:
                connection.send(b" ")
            except (BrokenPipeError, ConnectionResetError):
                return time.monotonic() - began, None
    raise TimeoutError("the server still waits for its client to read")


def stop_half_way(port):
    """Half a request, then nothing at all."""
    began = time.monotonic()
    with Connection(port) as connection:
        connection.send(b"GET /health HTTP/1.1\r\nHost: lo")
        response = connection.response()
        return time.monotonic() - began, response


SLOW_HEAD = b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: "
SLOW_BODY = request(headers={"Content-Length": "1000"})
SLOW_CHUNKS = chunked(b"3e8\r\n")

# What the client does, the status that it gets (None: it is only closed), and the least seconds until then. The limits
# are 10 s for a head, 30 s for a body and 30 s without a byte taken.
SLOW = {
    "a byte of the head a second": (lambda port: trickle(port, SLOW_HEAD, b"x"), 408, 9),
    "a byte of the body a second": (lambda port: trickle(port, SLOW_BODY, b" "), 408, 29),
    "a byte of a chunk a second": (lambda port: trickle(port, SLOW_CHUNKS, b" "), 408, 29),
    "half a head": (stop_half_way, 408, 9),
    "a client that never reads": (never_read, None, 29),
}
LONG = 4 * PATIENCE  # seconds, after which a server waits for ever


@pytest.fixture(scope="module")
def slow_clients():
    """Starts them all; the tests below look at what became of each."""
    with Server(CONFORMANCE) as server, concurrent.futures.ThreadPoolExecutor(len(SLOW)) as threads:
        yield {name: threads.submit(row[0], server.port) for name, row in SLOW.items()}
        still_well(server)


@pytest.fixture(scope="module", autouse=True)
def slow_clients_start_early(request):
    start_early(request, "slow_clients")


@pytest.mark.parametrize("name", SLOW)
def test_slow_client(slow_clients, name):
    _, expected, least = SLOW[name]
    took, response = slow_clients[name].result(2 * LONG)
    assert least <= took
    if expected:
        fails(expected, "TIMEOUT")(response)
