"""Connections that one client takes from the others: silent ones, idle ones, slow ones, and who gets in all the same."""

import contextlib
import time

from conftest import ALICE, BOB
from http_client import Connection, exchange, request
from messages import call
from programs import SANITIZED, Server, wait_until

# So few descriptors that half of them, which is what connections get, is a small number.
MOST = 128
FEW = ("sh", "-c", f'ulimit -n {2 * MOST}; exec "$@"', "sh")
PING = request(body=call("ping"))
ROUNDS = 5  # while silent connections are there: they have ten seconds, in which a slow machine must be done


def by(token):
    return {"Authorization": f"Bearer {token}"}


@contextlib.contextmanager
def connected(port, count, said=b"", **options):
    """So many connections that say something, or nothing."""
    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(Connection(port, **options)) for _ in range(count)]
        for connection in connections:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                connection.send(said)
        yield connections


def stock(server, headers=None, **options):
    text = exchange(server.port, request("GET", "/metrics", headers), **options).body.decode()
    samples = dict(line.rsplit(" ", 1) for line in text.splitlines() if line.startswith("forage_stock_"))
    return [
        float(samples[f'forage_stock_{name}{{stock="connections"}}']) for name in ("used", "limit", "refused_total")
    ]


def test_silent_connections_of_one_address():
    """They get half; others are served, health is for everybody, and their own next request is refused at once."""
    with Server(launcher=FEW) as server, connected(server.port, 2 * MOST):
        for _ in range(ROUNDS):
            assert exchange(server.port, request("GET", "/health")).status == 200
            assert exchange(server.port, PING, source="127.0.0.2").status == 200
            refused = exchange(server.port, PING)
            assert refused.status == 503 and refused.header("Retry-After") == "1"
            assert refused.header("Connection") == "close"
            assert "from your address" in refused.json()["error"]["message"]
        used, limit, count = stock(server, source="127.0.0.2")
        assert (limit, used) == (MOST, MOST / 2 + 1) and count >= ROUNDS


def test_a_token_is_as_good_as_an_address():
    """Who shows one is not counted among the silent connections of its address."""
    with Server(launcher=FEW, FORAGE_TOKENS=f"alice:{ALICE},bob:{BOB}") as server:
        with connected(server.port, 2 * MOST), Connection(server.port) as kept:
            for _ in range(20):
                assert exchange(server.port, request(headers=by(BOB), body=call("ping"))).status == 200
                assert kept.exchange(request(headers=by(BOB), body=call("ping"))).status == 200
            assert exchange(server.port, PING).status == 401


def test_silent_connections_have_the_time_of_a_head():
    """Ten seconds from their beginning, not the two minutes of a client that was served."""
    with Server() as server, contextlib.ExitStack() as stack:
        began = time.monotonic()
        silent, idle = (stack.enter_context(Connection(server.port)) for _ in range(2))
        assert idle.exchange(request("GET", "/health")).status == 200
        assert silent.wait_closed(60) == b""
        assert 9 < time.monotonic() - began
        assert idle.exchange(request("GET", "/health")).status == 200


def test_slow_heads_of_many():
    """A head that never ends is no better than silence."""
    said = b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: "
    with Server(launcher=FEW) as server, connected(server.port, 2 * MOST, said) as slow:
        for _ in range(20):
            for connection in slow[: MOST // 4]:
                connection.send(b"x")
            assert exchange(server.port, PING, source="127.0.0.2").status == 200
            assert exchange(server.port, request("GET", "/health")).status == 200


def test_idle_connections_make_room():
    """Clients of many addresses that were served and stay: the oldest idle ones go, and nobody is refused."""
    with Server(launcher=FEW) as server, contextlib.ExitStack() as stack:
        for number in range(2 * MOST):
            client = stack.enter_context(Connection(server.port, source=f"127.0.1.{number % 200 + 1}"))
            assert client.exchange(PING).status == 200
        wait_until(lambda: stock(server, source="127.0.0.2")[0] <= MOST - MOST // 8 + 1)


def test_pipelined_requests_that_nobody_reads(tmp_path):
    """A flood of requests whose answers are not read waits in the client, not in the server."""
    with Server(FORAGE_DATA_DIR=tmp_path) as server, Connection(server.port, receive_bytes=4096) as flood:
        flood.socket.setblocking(False)
        sent = 0
        end = time.monotonic() + 3
        while time.monotonic() < end and sent < 200_000_000:
            try:
                sent += flood.socket.send(request("GET", "/api/v1/openapi.json") * 50)
            except BlockingIOError:
                assert exchange(server.port, request("GET", "/health")).status == 200
                time.sleep(0.02)
        resident = int(open(f"/proc/{server.pid}/statm").read().split()[1]) * 4096
        assert SANITIZED or resident < 64_000_000
