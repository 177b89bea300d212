"""A standby takes over from a PostgreSQL server that fails, while forage's servers run on."""

import contextlib
import signal

import pytest
from conftest import report
from memory_world import check_store, over_mcp, over_rest
from postgres import Postgres, Standby, either
from programs import Server, wait_until

FRESH = 20


def found(server, word):
    """The keys that both searches of a server find."""
    exact = over_mcp(server.port, "memory_fulltext_search", {"keywords": word})["data"]["results"]
    ranked = over_rest(server.port, "memory_search", {"query": word})["data"]["results"]
    assert {hit["key"] for hit in exact} <= {hit["key"] for hit in ranked}
    return [hit["key"] for hit in exact]


def add(server, key, text):
    answer = over_rest(server.port, "memory_add", {"key": key, "text": text})
    assert answer["success"], answer


@pytest.fixture
def pair():
    """A server of PostgreSQL, and a standby that has a copy of it."""
    with Postgres(careful=True) as primary, Standby(primary) as standby:
        yield primary, standby


def test_what_comes_after_a_failover_is_found(pair, tmp_path):
    """The standby lacks the last acknowledged changes, and their numbers are not given to others."""
    primary, standby = pair
    settings = {"FORAGE_DATABASE_URL": either(*pair, primary.database())}
    with contextlib.ExitStack() as started:
        servers = [started.enter_context(Server(**settings, FORAGE_DATA_DIR=tmp_path / str(n))) for n in range(2)]
        for number in range(10):
            add(servers[0], f"kept{number}", f"A kept{number} word.")
        wait_until(standby.has_all)
        standby.stop()
        for number in range(6):
            add(servers[0], f"lost{number}", f"A lost{number} word.")
        add(servers[0], "kept0", "Another word.")
        assert over_rest(servers[0].port, "memory_delete", {"key": "kept1"})["data"]["deleted"]
        for server in servers:
            assert found(server, "lost5") == ["lost5"] and found(server, "another") == ["kept0"]
            assert found(server, "kept0") == found(server, "kept1") == []
        primary.stop(signal.SIGQUIT)
        standby.start()
        standby.take_over()
        # Before anything new is written, every server has what the standby has.
        for server in servers:
            assert [found(server, f"kept{number}") for number in range(10)] == [[f"kept{number}"] for number in range(10)]
            assert found(server, "lost5") == found(server, "another") == []
        for number in range(FRESH):
            add(servers[number % 2], f"fresh{number}", f"A fresh{number} word.")
            for server in servers:
                assert found(server, f"fresh{number}") == [f"fresh{number}"]
                assert found(server, "lost5") == found(server, "another") == []
        for server in servers:
            assert [found(server, f"kept{number}") for number in range(10)] == [[f"kept{number}"] for number in range(10)]
        report(f"memory, failover: {FRESH} of {FRESH} new memories found by both servers")
        check_store({**settings, "FORAGE_DATA_DIR": tmp_path / "check"})


def test_numbers_that_are_reached_again_before_anybody_searches(pair, tmp_path):
    """A server that looks only once there are as many changes as before finds all of them."""
    primary, standby = pair
    settings = {"FORAGE_DATABASE_URL": either(*pair, primary.database())}
    with contextlib.ExitStack() as started:
        writer, reader = [started.enter_context(Server(**settings, FORAGE_DATA_DIR=tmp_path / str(n))) for n in range(2)]
        add(writer, "kept", "A kept word.")
        wait_until(standby.has_all)
        standby.stop()
        for number in range(5):
            add(writer, f"lost{number}", f"A lost{number} word.")
        assert found(reader, "lost4") == ["lost4"]
        primary.stop(signal.SIGQUIT)
        standby.start()
        standby.take_over()
        for number in range(7):
            add(writer, f"fresh{number}", f"A fresh{number} word.")
        assert [found(reader, f"fresh{number}") for number in range(7)] == [[f"fresh{number}"] for number in range(7)]
        assert found(reader, "kept") == ["kept"] and found(reader, "lost4") == []
        # The files of the index are brought up to date in the same way as a server that runs.
        reader.end()
        with Server(**settings, FORAGE_DATA_DIR=tmp_path / "1") as again:
            assert [found(again, f"fresh{number}") for number in range(7)] == [[f"fresh{number}"] for number in range(7)]
