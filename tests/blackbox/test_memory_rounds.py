"""Three servers on one store, for many rounds: while clients change memories, servers are killed and started again, and
PostgreSQL crashes or hands over to a standby. Afterwards what was acknowledged is there, and every server finds it."""

import contextlib
import random
import signal

import pytest
from conftest import report
from memory_streams import CLIENTS, Load, Stream, kill, stored_in
from memory_world import SEED, SOAK, check_store, over_mcp
from postgres import Postgres, Standby, either
from programs import Server, wait_until

SERVERS = 3
ROUNDS = 30 if SOAK else 6
SOUGHT = 30  # memories that each server is asked for after a round


class File:
    """One SQLite file."""

    events = ["kill", "restart", "kill all"]

    def __init__(self, folder):
        self.settings = {"FORAGE_DATA_DIR": folder}

    def settings_of(self, _number):
        return self.settings

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


class Pair:
    """A PostgreSQL server and its standby, which take turns; each forage has a folder of its own, as on a machine of its own."""

    events = ["kill", "restart", "kill all", "crash", "failover", "failover", "late failover"]

    def __init__(self, folder):
        self.folder = folder
        self.primary = Postgres(careful=True)
        self.standby = None
        self.follow()
        self.url = either(self.primary, self.standby, self.primary.database())

    def settings_of(self, number):
        return {"FORAGE_DATA_DIR": self.folder / str(number), "FORAGE_DATABASE_URL": self.url}

    def follow(self, port=None):
        """The server gets a standby, without which it acknowledges nothing."""
        self.standby = Standby(self.primary, port)
        self.primary.set("synchronous_standby_names", "standby")
        wait_until(self.standby.follows)

    def crash(self):
        self.primary.restart(signal.SIGQUIT)
        wait_until(self.standby.follows)

    def fail_over(self):
        port = self.primary.port
        self.primary.stop(signal.SIGQUIT)
        self.standby.take_over()
        self.primary.close()
        self.primary = self.standby
        self.follow(port)

    def leave_standby_behind(self):
        """From now on the standby gets nothing."""
        self.primary.set("synchronous_standby_names", "")
        self.standby.stop()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.primary.close()
        self.standby.close()


class Rounds:
    def __init__(self, store, started):
        self.store = store
        self.dice = random.Random(SEED)
        self.streams = [Stream(number) for number in range(CLIENTS)]
        self.servers = [None] * SERVERS
        self.done = {}
        self.late = 0  # acknowledged, and never received by the standby that took over
        started.callback(lambda: [server.kill() for server in self.servers if server])
        self.start_all()

    def start_all(self):
        for number, server in enumerate(self.servers):
            if server is None:
                self.servers[number] = Server(**self.store.settings_of(number))

    def kill_some(self, numbers):
        kill([self.servers[number] for number in numbers])
        for number in numbers:
            self.servers[number].kill()
            self.servers[number] = None

    def happen(self, event, load):
        if event in ("kill", "restart"):
            victim = self.dice.randrange(SERVERS)
            self.kill_some([victim])
            if event == "kill":
                load.wait(self.dice.randrange(40, 80))  # the others go on
        elif event == "kill all":
            self.kill_some(range(SERVERS))
        elif event == "crash":
            self.store.crash()
        elif event == "failover":
            self.store.fail_over()

    def play(self, event):
        self.done[event] = self.done.get(event, 0) + 1
        load = Load(self.streams, [server.port for server in self.servers])
        load.wait(self.dice.randrange(10, 40))
        if event == "late failover":
            self.store.leave_standby_behind()
            load.wait(self.dice.randrange(50, 90))
            load.end()
            # Every server's index has what will be lost.
            self.look_for({key: token for stream in self.streams for key, token in list(stream.known.items())[-5:]}, True)
            self.store.primary.stop(signal.SIGQUIT)
            self.store.standby.start()
            self.store.fail_over()
        else:
            self.happen(event, load)
            load.end()
        self.start_all()
        self.compare(event)

    def compare(self, event):
        known = {key: token for stream in self.streams for key, token in stream.known.items()}
        stored = stored_in(self.store.settings_of(0))
        problems = [problem for stream in self.streams for problem in stream.lost(stored)]
        if event == "late failover":
            self.late += len(problems)
            lost = {key: token for key, token in known.items() if stored.get(key) != token}
            self.look_for(dict(list(lost.items())[-SOUGHT:]), False)
        else:
            assert not problems, "\n".join([f"after {event}:", *problems])
        sample = self.dice.sample(sorted(stored.items()), min(SOUGHT, len(stored)))
        newest = sorted(stored.items(), key=lambda item: int(item[1].split("x")[1]))[-SOUGHT:]
        self.look_for(dict(sample + newest), True)

    def look_for(self, memories, there):
        """Every server finds them, or shows none of them."""
        for number, server in enumerate(self.servers):
            for key, token in memories.items():
                answer = over_mcp(server.port, "memory_fulltext_search", {"keywords": token})
                found = [hit["key"] for hit in answer["data"]["results"]]
                assert found == ([key] if there else []), (number, key, token, found)


@pytest.mark.parametrize("kind", [File, Pair])
def test_rounds(tmp_path, kind):
    with contextlib.ExitStack() as started:
        store = started.enter_context(kind(tmp_path))
        rounds = Rounds(store, started)
        events = [*store.events] + rounds.dice.choices(store.events, k=max(0, ROUNDS - len(store.events)))
        rounds.dice.shuffle(events)
        for event in events:
            rounds.play(event)
        check_store(store.settings_of(0))
        acknowledged = sum(stream.acknowledged for stream in rounds.streams)
    late = f"; {rounds.late} that a standby never received are gone, and no search shows them" if rounds.late else ""
    counts = ", ".join(f"{count} times {event}" for event, count in sorted(rounds.done.items()))
    report(f"memory, {kind.__name__.lower()}: {counts}; {acknowledged} acknowledged, 0 lost, 0 not found{late}")
