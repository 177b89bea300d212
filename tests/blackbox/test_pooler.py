"""Behind PgBouncer: forage works where the pooler sees to prepared statements, and refuses to where it does not."""

import contextlib
import threading

import pytest
from conftest import report
from memory_world import check_store, over_rest
from pooler import Pooler, newer_command, system_command
from postgres import postgres  # noqa: F401 (a fixture)
from programs import Server, run

CLIENTS = 8
ROUNDS = 40
REASON = "loses prepared statements"


@pytest.mark.parametrize("size", [1, 4])
def test_one_that_loses_statements_is_refused(postgres, tmp_path, size):  # noqa: F811
    """With the reason, by every door, and nothing is written."""
    direct = postgres.database()
    with Pooler(postgres, system_command(), size=size) as pooler:
        settings = {"FORAGE_DATA_DIR": tmp_path, "FORAGE_DATABASE_URL": pooler.url(direct)}
        done = run("memory", "add", "a text", **settings)
        assert done.returncode == 1 and REASON in done.stderr and not done.stdout, done
        doctor = run("doctor", **settings)
        assert REASON in doctor.stdout, doctor.stdout
        with Server(**settings) as server:
            server.wait_log(REASON)
            for number in range(10):
                answer = over_rest(server.port, "memory_add", {"key": f"k{number}", "text": "a text"})
                assert answer["error"]["code"] == "PROVIDER" and REASON in answer["error"]["message"], answer
    assert postgres.query(direct, "SELECT to_regclass('forage_memory')") == [[None]]


class Client:
    """Adds, reads, searches and deletes, all at once with others, and compares what comes back."""

    def __init__(self, number, ports):
        self.name = f"client{number}"
        self.ports = ports
        self.calls = 0
        self.wrong = []

    def call(self, tool, **arguments):
        self.calls += 1
        answer = over_rest(self.ports[self.calls % len(self.ports)], tool, arguments)
        if not answer["success"]:
            self.wrong.append(answer["error"])
        return answer.get("data") or {}

    def run(self):
        for number in range(ROUNDS):
            key, text = f"{self.name}-{number}", f"A word{number} of {self.name}."
            self.call("memory_add", key=key, text=text, tags=[self.name])
            got = self.call("memory_get", key=key).get("results", [{}])
            found = self.call("memory_search", query=f"word{number} {self.name}").get("results", [{}])
            if got[0].get("text") != text or found[0].get("key") != key:
                self.wrong.append((key, got, found))
            if number % 4 == 3:
                self.call("memory_delete", key=key)


@pytest.mark.parametrize("mode, command", [("transaction", newer_command), ("session", system_command)])
def test_one_that_keeps_statements_works(postgres, tmp_path, mode, command):  # noqa: F811
    direct = postgres.database()
    size = 4 if mode == "transaction" else 60
    with contextlib.ExitStack() as started:
        pooler = started.enter_context(Pooler(postgres, command(), mode, statements=200, size=size))
        url = pooler.url(direct)
        servers = [
            started.enter_context(Server(FORAGE_DATA_DIR=tmp_path / str(n), FORAGE_DATABASE_URL=url)) for n in range(2)
        ]
        clients = [Client(number, [server.port for server in servers]) for number in range(CLIENTS)]
        threads = [threading.Thread(target=client.run) for client in clients]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        wrong = [one for client in clients for one in client.wrong]
        assert not wrong, wrong[:3]
        report(f"PgBouncer, {mode} mode: {sum(client.calls for client in clients)} calls, all right")
    check_store({"FORAGE_DATA_DIR": tmp_path / "check", "FORAGE_DATABASE_URL": direct})
