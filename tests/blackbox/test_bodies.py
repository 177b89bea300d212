"""Bodies of requests: what one caller sends, or only announces, takes neither the memory nor the turn of the others."""

import contextlib
import json
import re

from conftest import ALICE, BOB
from http_client import Connection, exchange, request
from messages import call
from programs import SANITIZED, Server, wait_until

MIB = 1024 * 1024
PATH = "/api/v1/memories/import"


def by(token, **more):
    return {"Authorization": f"Bearer {token}", **more}


def serve(folder, **more):
    return Server(FORAGE_TOKENS=f"alice:{ALICE},bob:{BOB}", FORAGE_DATA_DIR=folder, **more)


def announce(server, stack, token, size, path=PATH, said=b""):
    """A connection that has sent the head of a request, and of its body at most a beginning."""
    connection = stack.enter_context(Connection(server.port))
    connection.send(request("POST", path, by(token, **{"Content-Length": size})) + said)
    return connection


def stock(server, name):
    """What is in use of it, and how often it was refused."""
    text = exchange(server.port, request("GET", "/metrics", by(BOB))).body.decode()
    return tuple(
        int(re.search(rf'^forage_stock_{sample}{{stock="{name}"}} (\d+)$', text, re.M)[1])
        for sample in ("used", "refused_total")
    )


def proportional_bytes(server):
    rollup = open(f"/proc/{server.pid}/smaps_rollup").read()
    return int(re.search(r"^Pss: +(\d+) kB$", rollup, re.M)[1]) * 1024


def lines(count, size):
    """So many lines of an import, of about that size."""
    return b"".join(
        json.dumps({"key": f"k{number}", "text": f"{number} " + "word " * (size // 5)}).encode() + b"\n"
        for number in range(count)
    )


def import_one(server, token, body=None):
    return exchange(server.port, request("POST", PATH, by(token), body or lines(3, 100)))


def test_unfinished_imports_cost_little_memory(tmp_path):
    data = lines(400, 10_000)  # four megabytes, of which the last is never sent
    count = 4 if SANITIZED else 16
    with serve(tmp_path) as server, contextlib.ExitStack() as stack:
        assert import_one(server, ALICE).status == 200
        before = proportional_bytes(server)
        for _ in range(count):
            announce(server, stack, ALICE, len(data), said=data[:-MIB])
        wait_until(lambda: stock(server, "upload_bytes")[0] == count * len(data))
        assert import_one(server, BOB).status == 200
        assert SANITIZED or proportional_bytes(server) - before < 16 * MIB
    assert not [path for path in tmp_path.iterdir() if "import" in path.name]


def test_an_import_that_comes_slowly(tmp_path):
    """Its lines arrive in pieces, with pauses, in chunks, and are all there."""
    data = lines(300, 2000)
    with serve(tmp_path) as server, contextlib.ExitStack() as stack:
        slow = announce(server, stack, ALICE, len(data))
        chunks = stack.enter_context(Connection(server.port))
        head = by(BOB, **{"Content-Length": None, "Transfer-Encoding": "chunked"})
        chunks.send(request("POST", PATH, head))
        for start in range(0, len(data), 50_000):
            piece = data[start : start + 50_000]
            slow.send(piece)
            chunks.send(b"%x\r\n%s\r\n" % (len(piece), piece))
        chunks.send(b"0\r\n\r\n")
        for connection in (slow, chunks):
            answer = connection.response()
            assert answer.status == 200 and answer.json()["data"]["added"] == 300, answer
            assert connection.exchange(request("GET", "/health")).status == 200, "the connection goes on"
        wait_until(lambda: stock(server, "upload_bytes")[0] == stock(server, "body_bytes")[0] == 0)


def test_announced_imports_have_a_share(tmp_path):
    """Half of a gigabyte while others can come; what is more is refused before any of it is sent."""
    with serve(tmp_path) as server, contextlib.ExitStack() as stack:
        for _ in range(8):
            announce(server, stack, ALICE, 64 * MIB)
        wait_until(lambda: stock(server, "upload_bytes")[0] == 512 * MIB)
        refused = announce(server, stack, ALICE, 64 * MIB).response()
        assert refused.status == 503 and refused.header("Retry-After") == "1"
        assert refused.header("Connection") == "close"
        assert "as one caller may" in refused.json()["error"]["message"]
        assert import_one(server, BOB, lines(100, 5000)).json()["data"]["added"] == 100
    assert not [path for path in tmp_path.iterdir() if "import" in path.name]


def test_announced_messages_have_a_share(tmp_path):
    """The same for ordinary requests, which are held in memory: half of 64 MiB, asked for before they are read."""
    with serve(tmp_path) as server, contextlib.ExitStack() as stack:
        for _ in range(8):
            announce(server, stack, ALICE, 4 * MIB, "/mcp", b" ")
        wait_until(lambda: stock(server, "body_bytes")[0] == 32 * MIB)
        refused = announce(server, stack, ALICE, 4 * MIB, "/mcp").response()
        assert refused.status == 503 and refused.header("Retry-After") == "1"
        assert refused.header("Connection") == "close"
        assert "as one caller may" in refused.json()["error"]["message"]
        assert stock(server, "body_bytes") == (32 * MIB, 1)
        padded = json.dumps(call("ping")).encode() + b" " * MIB
        assert exchange(server.port, request("POST", "/mcp", by(BOB), padded)).status == 200
        small = request("POST", "/mcp", by(ALICE), call("ping"))
        assert exchange(server.port, small).status == 200, "what comes in one piece needs no share"
        with Connection(server.port) as chunks:
            head = by(ALICE, **{"Content-Length": None, "Transfer-Encoding": "chunked"})
            chunks.send(request("POST", "/mcp", head) + b"100000\r\n" + b" " * 100_000)
            assert chunks.response().status == 503


def test_limits_are_asked_before_the_body(tmp_path):
    with serve(tmp_path, FORAGE_LIMITS="memory_add=1/1h") as server, contextlib.ExitStack() as stack:
        assert import_one(server, ALICE).status == 200
        refused = announce(server, stack, ALICE, 60 * MIB).response()
        assert refused.status == 429 and refused.header("Connection") == "close"
        assert import_one(server, BOB).status == 200


def test_slow_bodies_of_many(tmp_path):
    """Requests that trickle in hold nobody up, and little memory."""
    with serve(tmp_path) as server, contextlib.ExitStack() as stack:
        before = proportional_bytes(server)
        slow = [announce(server, stack, ALICE, 1000, "/mcp", b"{") for _ in range(300)]
        for _ in range(5):
            for connection in slow:
                connection.send(b" ")
            assert exchange(server.port, request("POST", "/mcp", by(BOB), call("ping"))).status == 200
        assert SANITIZED or proportional_bytes(server) - before < 24 * MIB


def test_client_leaves_in_an_import(tmp_path):
    """Nothing of it is taken, and what it held is given back."""
    data = lines(300, 2000)
    with serve(tmp_path) as server, contextlib.ExitStack() as stack:
        announce(server, stack, ALICE, len(data), said=data[: len(data) // 2]).close()
        announce(server, stack, ALICE, len(data), said=data[: len(data) // 2]).half_close()
        wait_until(lambda: stock(server, "upload_bytes")[0] == stock(server, "body_bytes")[0] == 0)
        server.wait_log(r"memory=import caller=alice status=cancelled lines=0")
        export = exchange(server.port, request("GET", "/api/v1/memories/export", by(ALICE)))
        assert export.status == 200 and export.body == b""
