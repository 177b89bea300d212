"""Three servers on one PostgreSQL: what one adds, the others find at once, and no update is lost among fifty clients."""

import contextlib
import random
import threading
import time

import pytest
from conftest import report
from http_client import Connection, request
from memory_streams import json_request
from memory_world import PATH, SOAK, ask, check_store, over_mcp, over_rest, path_of, postgres  # noqa: F401 (a fixture)
from programs import Server, wait_until

SERVERS = 3
CLIENTS = 50
COUNTERS = 5
SECONDS = 60 if SOAK else 10


@pytest.fixture
def servers(tmp_path, postgres):
    settings = {"FORAGE_DATA_DIR": tmp_path, "FORAGE_DATABASE_URL": postgres.database()}
    with contextlib.ExitStack() as started:
        yield [started.enter_context(Server(**settings)) for _ in range(SERVERS)]
        check_store(settings)


def test_what_one_adds_the_others_find_at_once(servers):
    for number in range(60):
        writer, *readers = random.sample(servers, SERVERS)
        word = f"unheard{number}"
        assert over_rest(writer.port, "memory_add", {"key": f"k{number}", "text": f"An {word} word."})["success"]
        for reader in readers:
            found = over_mcp(reader.port, "memory_fulltext_search", {"keywords": word})["data"]["results"]
            assert [hit["key"] for hit in found] == [f"k{number}"]
            assert over_rest(reader.port, "memory_search", {"query": word})["data"]["results"][0]["key"] == f"k{number}"
        if number % 2:
            assert over_rest(readers[0].port, "memory_delete", {"key": f"k{number}"})["data"]["deleted"]
            for server in servers:
                assert over_rest(server.port, "memory_fulltext_search", {"keywords": word})["data"]["results"] == []


class Counting:
    """A client that counts up counters which others count up, too: reads one, and writes one more if nobody was faster."""

    def __init__(self, port):
        self.port = port
        self.counted = [0] * COUNTERS
        self.conflicts = 0
        self.problem = None

    def run(self, end):
        dice = random.Random()
        try:
            with Connection(self.port) as connection:
                while time.monotonic() < end:
                    self._count(connection, dice.randrange(COUNTERS))
        except BaseException as error:
            self.problem = error

    def _count(self, connection, which):
        path = path_of(f"counter {which}")
        got = connection.exchange(request("GET", path)).json()
        assert got["success"], got
        (memory,) = got["data"]["results"]
        change = {"text": str(int(memory["text"]) + 1), "if_version": memory["version"]}
        body = connection.exchange(json_request("PATCH", path, change)).json()
        if body["success"]:
            self.counted[which] += 1
        else:
            assert body["error"]["code"] == "CONFLICT", body
            self.conflicts += 1


def test_fifty_clients_lose_no_update(servers):
    for which in range(COUNTERS):
        over_rest(servers[0].port, "memory_add", {"key": f"counter {which}", "text": "0"})
    clients = [Counting(servers[place % SERVERS].port) for place in range(CLIENTS)]
    end = time.monotonic() + SECONDS
    threads = [threading.Thread(target=client.run, args=(end,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    problems = [client.problem for client in clients if client.problem]
    assert not problems, problems[:3]
    for which in range(COUNTERS):
        counted = sum(client.counted[which] for client in clients)
        for server in servers:
            memory = over_rest(server.port, "memory_get", {"key": f"counter {which}"})["data"]["results"][0]
            assert counted > 0 and memory["text"] == str(counted) and memory["version"] == counted + 1
    updates = sum(sum(client.counted) for client in clients)
    conflicts = sum(client.conflicts for client in clients)
    report(f"memory, {SERVERS} servers: {CLIENTS} clients, {SECONDS} s, {updates} updates, {conflicts} conflicts, none lost")


@pytest.mark.parametrize("analyzed", [True, False])
def test_an_import_never_reads_the_whole_table(tmp_path, postgres, analyzed):
    """A plan that PostgreSQL made while the tables were small, and keeps, must not read all of them for each row."""
    url = postgres.database()
    lines = [{"key": f"k{number}", "text": f"text {number}"} for number in range(3000)]
    with Server(FORAGE_DATA_DIR=tmp_path, FORAGE_DATABASE_URL=url) as server:
        for text in ("few", "still few"):
            for number in range(20):
                over_rest(server.port, "memory_add", {"key": f"a{number}", "text": text})
            if analyzed:
                postgres.query(url, "ANALYZE")
        assert ask(server.port, "POST", PATH + "/import", lines=lines).status == 200
    table = "FROM pg_stat_user_tables WHERE relname = 'forage_memory'"
    wait_until(lambda: postgres.query(url, f"SELECT n_tup_ins {table}") == [["3020"]])
    ((by_itself,),) = postgres.query(url, f"SELECT seq_tup_read {table}")
    ((by_index,),) = postgres.query(url, "SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname = 'forage_memory'")
    # As long as the table is small, any plan will do. Half the square of the lines would be all of it for each.
    assert int(by_itself) + int(by_index) < len(lines) ** 2 // 10
