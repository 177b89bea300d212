"""PostgreSQL that lies: between forage and a real server stands one that changes its answers. Calls fail in words or take what was
said, the program goes on, and when the server tells the truth again everything that was acknowledged is there."""

import contextlib
import itertools
import json
import random
import socket
import struct
import threading

import pytest
from http_client import Closed, exchange, request
from memory_world import PATH, over_rest, postgres  # noqa: F401 (a fixture)
from programs import Server, run, wait_until

HISTORY = "/api/v1/history"
CODES = {"PROVIDER", "BUSY", "TIMEOUT", "NOT_FOUND", "CONFLICT", "INTERNAL", "VALIDATION"}


def message(kind, body):
    return kind + struct.pack("!i", len(body) + 4) + body


def row(*values):
    parts = [struct.pack("!i", -1) if value is None else struct.pack("!i", len(value)) + value for value in values]
    return message(b"D", struct.pack("!h", len(values)) + b"".join(parts))


def values_of(body):
    (count,), at, values = struct.unpack_from("!h", body), 2, []
    for _ in range(count):
        (length,) = struct.unpack_from("!i", body, at)
        at += 4
        values.append(None if length < 0 else body[at : at + length])
        at += max(length, 0)
    return values


# What comes in place of a row; None ends the connection after what was sent.


def nulls(values):
    return [row(*[None] * len(values))]


def empty_values(values):
    return [row(*[b""] * len(values))]


def other_types(values):
    """Texts where numbers were, numbers where texts were, and all of an odd length."""
    return [row(*[None if value is None else b"\xff\x00\x01" if len(value) != 3 else b"x" * 70000 for value in values])]


def no_columns(_values):
    return [row()]


def more_columns(values):
    return [row(*values, *values, None)]


def largest_numbers(values):
    return [row(*[None if value is None else b"\x7f" + b"\xff" * 7 if len(value) == 8 else value for value in values])]


def cut_off(values):
    return [row(*values)[:-2] if values else b"D", None]


def garbage(_values):
    return [random.Random(7).randbytes(3000), None]


def huge_length(_values):
    return [b"D" + struct.pack("!i", 0x7FFFFFF0) + b"x" * 100, None]


def negative_length(_values):
    return [b"D" + struct.pack("!i", -5), None]


def no_row(_values):
    return []


def twice(values):
    return [row(*values), row(*values)]


def endless(values):
    return itertools.repeat(row(*values))


LIES = [nulls, empty_values, other_types, no_columns, more_columns, largest_numbers, cut_off, garbage, huge_length,
        negative_length, no_row, twice, endless]  # fmt: skip


class Liar:
    """Carries bytes between forage and PostgreSQL; while there is a lie, rows become what it makes of them."""

    def __init__(self, port):
        self._server = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.lie = None
        self.lied = 0
        self._ends = False
        self._open = []
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def _accept(self):
        while not self._ends:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self._server))
            self._open += [client, server]
            for carry in (self._carry_up, self._carry_down):
                thread = threading.Thread(target=self._guarded, args=(carry, client, server))
                self._threads.append(thread)
                thread.start()

    @staticmethod
    def _guarded(carry, client, server):
        with contextlib.suppress(OSError, ConnectionError):
            carry(client, server)
        for end in (client, server):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    @staticmethod
    def _carry_up(client, server):
        while data := client.recv(65536):
            server.sendall(data)

    def _carry_down(self, client, server):
        stream = server.makefile("rb")
        while kind := stream.read(1):
            if kind == b"N" and not self._started(client):
                client.sendall(kind)  # no encryption: an answer without a length
                continue
            (length,) = struct.unpack("!i", stream.read(4))
            body = stream.read(length - 4)
            if kind != b"D" or not self.lie:
                client.sendall(message(kind, body))
                continue
            self.lied += 1
            for said in self.lie(values_of(body)):
                if said is None:
                    return
                client.sendall(said)

    def _started(self, client):
        """Notices have a length; the first bytes on a connection have none."""
        known = getattr(self, "_known", set())
        self._known = known
        if client.fileno() in known:
            return True
        known.add(client.fileno())
        return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._ends = True
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for end in self._open:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for end in self._open:
            end.close()


class StandsStill:
    """Each memory, and each call of the history, is the first one again."""

    def __init__(self):
        self._first = {}

    def __call__(self, values):
        walked = len(values) in (11, 16)
        return [row(*(self._first.setdefault(len(values), values) if walked else values))]


CALLS = [
    ("memory_add", {"key": "new", "text": "Something new."}),
    ("memory_add", {"text": "Without a key."}),
    ("memory_update", {"key": "kept", "text": "changed"}),
    ("memory_get", {"key": "kept"}),
    ("memory_get", {"key": "kept", "version": 0}),
    ("memory_list", {}),
    ("memory_search", {"query": "anything new"}),
    ("memory_fulltext_search", {"keywords": "anything"}),
    ("memory_stats", {}),
    ("memory_delete", {"key": "new"}),
]


def write_history(postgres, url, calls):  # noqa: F811
    """Calls of long ago and their sums, in tables that are there."""
    postgres.query(
        url,
        "INSERT INTO forage_history (caller, at_ms, tool, arguments, took_ms, input_tokens, output_tokens, nano_usd) "
        f"SELECT 'local', n, 'memory_get', '{{}}', 1, 0, 0, 0 FROM generate_series(1, {calls}) AS n",
    )
    postgres.query(
        url,
        "INSERT INTO forage_usage (day, caller, tool, calls, failures, recalled, input_tokens, output_tokens, nano_usd, unpriced) "
        "VALUES ('2100-01-01', 'local', 'memory_get', 1, 0, 0, 0, 0, 0, 0), ('2100-01-01', 'local', 'search', 1, 0, 0, 0, 0, 0, 0)",
    )


@pytest.mark.parametrize("lie", LIES)
def test_lies(postgres, tmp_path, lie):  # noqa: F811
    url = postgres.database()
    direct = {"FORAGE_DATA_DIR": tmp_path, "FORAGE_DATABASE_URL": url}
    with Server(**direct) as server:
        assert over_rest(server.port, "memory_add", {"key": "kept", "text": "Anything that is kept."})["success"]
        assert exchange(server.port, request("GET", HISTORY)).status == 200  # its tables are there
    write_history(postgres, url, 2)
    with Liar(postgres.port) as liar:
        through = url.replace(f":{postgres.port}/", f":{liar.port}/")
        assert through != url
        settings = {"FORAGE_DATA_DIR": tmp_path, "FORAGE_DATABASE_URL": through, "FORAGE_CALL_TIMEOUT": "2s"}
        with Server(**settings) as server:
            assert wait_until(lambda: over_rest(server.port, "memory_get", {"key": "kept"})["success"])
            for tool, given in CALLS if lie is not endless else CALLS[3:4]:
                # On a connection that was made in good faith, so that the lie meets what the tool asks for.
                liar.lie = None
                assert wait_until(lambda: over_rest(server.port, "memory_get", {"key": "kept"})["success"])
                liar.lie = lie
                body = over_rest(server.port, tool, given)
                assert body["success"] or body["error"]["code"] in CODES, body
            with contextlib.suppress(Closed, OSError):  # an export may be cut off in the middle
                exchange(server.port, request("GET", PATH + "/export"))
            for path in (HISTORY, "/api/v1/usage") if lie is not endless else ():  # on connections of their own
                for least in (0, 2):
                    liar.lie = lambda values, least=least: lie(values) if len(values) >= least else [row(*values)]
                    exchange(server.port, request("GET", path))
            assert liar.lied > 0
            liar.lie = None
            assert wait_until(lambda: over_rest(server.port, "memory_add", {"key": "after", "text": "Truth."})["success"])
            got = wait_until(lambda: (body := over_rest(server.port, "memory_get", {"key": "kept"}))["success"] and body)
            kept = got["data"]["results"][0]
            assert kept["text"] in ("Anything that is kept.", "changed"), kept


def test_walks_end(postgres, tmp_path):  # noqa: F811
    """Whoever reads on from the last row, and gets it again and again, is told so."""
    url = postgres.database()
    with Server(FORAGE_DATABASE_URL=url, FORAGE_DATA_DIR=tmp_path) as server:
        for number in range(40):
            assert over_rest(server.port, "memory_add", {"key": f"k{number:02}", "text": f"text {number}"})["success"]
        assert exchange(server.port, request("GET", HISTORY)).status == 200  # its tables are there
    write_history(postgres, url, 600)
    with Liar(postgres.port) as liar:
        settings = {"FORAGE_DATABASE_URL": url.replace(f":{postgres.port}/", f":{liar.port}/"), "FORAGE_DATA_DIR": tmp_path}
        for words in (["memory", "export", "-"], ["history", "export"]):
            liar.lie = None
            told = run(*words, **settings)
            assert told.returncode == 0 and len(told.stdout.splitlines()) >= 40, told.stderr
            liar.lie = StandsStill()
            done = run(*words, **settings)
            assert done.returncode == 1 and "rows that it had been asked to leave out" in done.stderr, done
        with Server(**settings) as server:
            last = exchange(server.port, request("GET", PATH + "/export")).body.splitlines()[-1]
            assert json.loads(last)["error"]["code"] == "PROVIDER", last
