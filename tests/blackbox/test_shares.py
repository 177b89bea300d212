"""What callers share: one of them who takes all that it can get, and another who must not notice."""

import contextlib
import os

from conftest import ALICE, BOB
from fake_web import Answer, Web
from http_client import Connection, exchange, request
from messages import tool_call
from programs import Server, wait_until
from reading import page

WORKERS = 16
SETTINGS = {"FORAGE_WORKERS": WORKERS, "FORAGE_ALLOW_PRIVATE_HOSTS": "127.0.0.0/8", "FORAGE_CACHE_TTL": 0}


def by(token):
    return {"Authorization": f"Bearer {token}"}


def ask(server, token, tool, arguments):
    return exchange(server.port, request("POST", f"/api/v1/tools/{tool}", by(token), arguments))


def stock(server, token, name):
    """What /metrics says of a stock: units in use, all of them, refusals."""
    text = exchange(server.port, request("GET", "/metrics", by(token))).body.decode()
    samples = dict(line.rsplit(" ", 1) for line in text.splitlines() if line.startswith("forage_stock_"))
    names = ("forage_stock_used", "forage_stock_limit", "forage_stock_refused_total")
    return tuple(float(samples[f'{each}{{stock="{name}"}}']) for each in names)


def hang(handler):
    handler.rfile.read(1)


@contextlib.contextmanager
def hanging_reads(server, web, token, count):
    """So many calls of one caller that read a page which never answers; their connections."""
    connections = [Connection(server.port) for _ in range(count)]
    for number, connection in enumerate(connections):
        url = f"http://127.0.0.{number + 2}:{web.port}/hangs"
        connection.send(request("POST", "/api/v1/tools/get_content", by(token), {"url": url}))
    try:
        yield connections
    finally:
        for connection in connections:
            connection.close()


def test_turns_are_told(tmp_path):
    """Where calls take turns, /metrics tells how many have theirs, how many wait and how many may."""
    with Server(FORAGE_DATA_DIR=tmp_path, FORAGE_BROWSER_PAGES=3, FORAGE_RESEARCH_CONCURRENCY=5) as server:
        text = exchange(server.port, request("GET", "/metrics")).body.decode()
    for name in ("browser_tabs", "pdfs", "extractors", "research"):
        assert f'forage_line_inside{{line="{name}"}} 0\n' in text and f'forage_line_waiting{{line="{name}"}} 0\n' in text
    assert 'forage_line_limit{line="browser_tabs"} 3\n' in text and 'forage_line_limit{line="research"} 5\n' in text


def test_workers(tmp_path):
    """Hanging pages of one caller leave workers for the others, and for memories whatever is asked."""
    settings = {**SETTINGS, "FORAGE_TOKENS": f"alice:{ALICE},bob:{BOB}", "FORAGE_DATA_DIR": tmp_path}
    with Web(address="0.0.0.0") as web, Server(**settings) as server:
        web.answers["/quick"] = Answer(page())
        web.answers["/hangs"] = hang
        share = 7  # of sixteen two are kept; of the rest she may have as many as she leaves
        with hanging_reads(server, web, ALICE, WORKERS + 4):
            web.wait_seen("/hangs", share)
            assert wait_until(lambda: stock(server, BOB, "workers") == (share, WORKERS, WORKERS + 4 - share))
            refused = ask(server, ALICE, "get_content", {"url": f"http://127.0.0.1:{web.port}/quick"})
            assert refused.status == 503 and refused.header("Retry-After") == "1"
            assert "as one caller may" in refused.json()["error"]["message"]
            for _ in range(3):
                url = f"http://127.0.0.1:{web.port}/quick"
                assert ask(server, BOB, "get_content", {"url": url}).status == 200
                assert ask(server, BOB, "memory_search", {"query": "anything"}).status == 200


def test_batches_take_the_workers_of_what_they_hold(tmp_path):
    """Slow reads, each in a batch of one: they get no worker that is kept for what asks nobody outside."""
    settings = {**SETTINGS, "FORAGE_WORKERS": 8, "FORAGE_DATA_DIR": tmp_path}
    with Web(address="0.0.0.0") as web, Server(**settings) as server, contextlib.ExitStack() as connections:
        web.answers["/hangs"] = hang
        for number in range(14):
            url = f"http://127.0.0.{number + 2}:{web.port}/hangs"
            connections.enter_context(Connection(server.port)).send(request(body=[tool_call("get_content", {"url": url})]))
        web.wait_seen("/hangs", 7)
        assert wait_until(lambda: stock(server, ALICE, "workers") == (7, 8, 7))
        listed = exchange(server.port, request(body=[tool_call("memory_list")]))
        assert listed.status == 200 and not listed.json()[0]["result"].get("isError"), listed


WATCHERS = 64


def test_watchers(tmp_path):
    """One caller that watches as often as it can leaves the stream of events to the others."""
    settings = {"FORAGE_TOKENS": f"alice:{ALICE},bob:{BOB}", "FORAGE_DATA_DIR": tmp_path}
    with Server(**settings) as server, contextlib.ExitStack() as connections:

        def watch(token):
            connection = connections.enter_context(Connection(server.port))
            connection.send(request("GET", "/api/v1/events", by(token)))
            head = connection.head()
            return head.status, "" if head.status == 200 else b"".join(connection.pieces(head)).decode()

        hers = [watch(ALICE) for _ in range(WATCHERS + 6)]
        assert [status for status, _ in hers] == [200] * (WATCHERS // 2) + [503] * (WATCHERS // 2 + 6)
        assert all("as one caller may" in words for status, words in hers if status == 503)
        assert watch(BOB)[0] == 200
        assert stock(server, BOB, "watchers")[:2] == (WATCHERS // 2 + 1, WATCHERS)
        connections.close()
        assert wait_until(lambda: stock(server, BOB, "watchers")[0] == 0)
        assert watch(ALICE)[0] == 200


def test_one_call_after_the_other(tmp_path):
    """Whoever has an answer may ask at once: a worker that hands it over is not counted any more."""
    settings = {"FORAGE_WORKERS": 2, "FORAGE_TOKENS": f"alice:{ALICE},bob:{BOB}", "FORAGE_DATA_DIR": tmp_path}
    with Server(**settings) as server, Connection(server.port) as connection:
        for _ in range(300):
            asked = connection.exchange(request("POST", "/api/v1/tools/memory_search", by(ALICE), {"query": "anything"}))
            assert asked.status == 200


def test_a_lone_caller_has_all_workers(tmp_path):
    """But for those that are kept for what asks nobody outside."""
    settings = {**SETTINGS, "FORAGE_TOKENS": f"alice:{ALICE}", "FORAGE_DATA_DIR": tmp_path}
    with Web(address="0.0.0.0") as web, Server(**settings) as server:
        web.answers["/hangs"] = hang
        with hanging_reads(server, web, ALICE, WORKERS):
            web.wait_seen("/hangs", WORKERS - 2)
            assert wait_until(lambda: stock(server, ALICE, "workers") == (WORKERS - 2, WORKERS, 2))
            assert ask(server, ALICE, "memory_search", {"query": "anything"}).status == 200


# ---- what an operator sees ----


def health(server, path="/health", token=None):
    return exchange(server.port, request("GET", path, by(token) if token else None))


def test_health_tells_little_to_strangers(tmp_path):
    with Server(FORAGE_TOKENS=f"alice:{ALICE}", FORAGE_DATA_DIR=tmp_path) as server:
        assert health(server).json().keys() == {"status", "name", "version", "uptime_s"}
        assert health(server, "/health?full").status == 401
        full = health(server, "/health?full", ALICE).json()
        assert full["status"] == "ok" and full["troubles"] == []
        stocks = {stock["name"]: stock for stock in full["stocks"]}
        assert stocks["workers"]["limit"] == 128 and "FORAGE_WORKERS" in stocks["workers"]["what"]


def test_health_says_what_does_not_work(tmp_path):
    """A store that cannot be opened: while it lasts /health, its reasons and the metrics say so, without a path."""
    data = tmp_path / "data"
    data.write_text("a file where the folder should be")
    with Server(FORAGE_TOKENS=f"alice:{ALICE}", FORAGE_DATA_DIR=data) as server:
        assert ask(server, ALICE, "memory_search", {"query": "anything"}).status == 502
        assert health(server).json()["status"] == "degraded" and "troubles" not in health(server).json()
        full = health(server, "/health?full", ALICE)
        troubles = {trouble["part"]: trouble for trouble in full.json()["troubles"]}
        assert "cannot be opened" in troubles["the memory store"]["message"] and str(tmp_path) not in full.body.decode()
        assert 'forage_trouble{part="the memory store"} 1' in health(server, "/metrics", ALICE).body.decode()
        server.wait_log("the memory store cannot be opened: .*" + str(data))
        data.unlink()
        assert ask(server, ALICE, "memory_search", {"query": "anything"}).status == 200
        server.wait_log("the memory store works again")
        assert wait_until(lambda: health(server, "/health?full", ALICE).json()["troubles"] == [])


def niceness(server):
    """Of the server's threads: each value once."""
    found = set()
    for task in os.scandir(f"/proc/{server.pid}/task"):
        with contextlib.suppress(OSError):  # a thread that has ended meanwhile
            with open(f"{task.path}/stat", encoding="ascii", errors="replace") as file:
                found.add(int(file.read().rpartition(")")[2].split()[16]))
    return found


def heavy_read(server, web, token):
    assert ask(server, token, "get_content", {"url": f"http://127.0.0.1:{web.port}/heavy"}).status == 200


def heavy_web(web, size):
    web.answers["/heavy"] = Answer(page(*["Some words of a paragraph that is not short."] * (size // 51)))


def test_who_takes_most_lets_others_go_first(tmp_path):
    """By a lower priority of the threads that work for it."""
    settings = {**SETTINGS, "FORAGE_TOKENS": f"alice:{ALICE},bob:{BOB}", "FORAGE_DATA_DIR": tmp_path}
    with Web(address="0.0.0.0") as web, Server(**settings) as server:
        heavy_web(web, 400_000)
        usual = niceness(server)
        assert len(usual) == 1

        def both_ask():
            heavy_read(server, web, ALICE)
            ask(server, BOB, "memory_search", {"query": "anything"})
            return niceness(server) == {*usual, *(each + 10 for each in usual)}

        assert wait_until(both_ask)


def test_a_large_page_lets_others_go_first(tmp_path):
    settings = {**SETTINGS, "FORAGE_TOKENS": f"alice:{ALICE},bob:{BOB}", "FORAGE_DATA_DIR": tmp_path}
    with Web(address="0.0.0.0") as web, Server(**settings) as server:
        heavy_web(web, 600_000)
        usual = niceness(server)
        heavy_read(server, web, ALICE)
        assert niceness(server) == {*usual, *(each + 10 for each in usual)}


def test_a_lone_caller_waits_for_nobody(tmp_path):
    settings = {**SETTINGS, "FORAGE_TOKENS": f"alice:{ALICE}", "FORAGE_DATA_DIR": tmp_path}
    with Web(address="0.0.0.0") as web, Server(**settings) as server:
        heavy_web(web, 600_000)
        for _ in range(10):
            heavy_read(server, web, ALICE)
        assert len(niceness(server)) == 1
