"""Clients that add, change and delete without a pause, and remember what they were told: for tests that kill servers,
fill disks and restart databases. Afterwards the store must hold what was acknowledged; what was in flight when
the connection broke is there wholly or not at all."""

import contextlib
import json
import random
import signal
import threading
import time
import zlib

from http_client import Closed, Connection, request
from memory_world import PATH, SOAK, check_store, path_of
from programs import Server, run, wait_until

KILLS = 200 if SOAK else 20
CLIENTS = 4
BATCH = 5
# A database that goes away while it commits leaves nobody knowing; the error must say so.
IN_DOUBT = "not known whether"


def memory_of(token):
    """A memory whose every part says which change wrote it. Lengths vary, so that some need several pages."""
    return {
        "summary": f"{token} in short",
        "text": f"{token} " + "and so on " * (zlib.crc32(token.encode()) % 300),
        "tags": [token],
        "metadata": {"token": token},
    }


def token_of(memory):
    """Which change wrote it; every part must agree."""
    (token,) = memory["tags"]
    given = {name: memory[name] for name in ("summary", "text", "tags", "metadata")}
    assert given == memory_of(token), f"a memory that nobody wrote: {memory}"
    return token


class Stream:
    """One client, with keys of its own."""

    def __init__(self, number):
        self.name = f"client {number}/"
        self.acknowledged = 0
        self.refusals = []  # what the server said when a change failed
        self.known = {}  # the token of each key that is there
        self.doubts = []  # changes without an acknowledgement: the tokens of their keys afterwards, None for a deleted one
        self._dice = random.Random()
        self._count = 0
        self._untouched = {}  # keys that are in doubt

    # ---- one change ----

    def _token(self):
        self._count += 1
        return f"{self.name.replace(' ', '').replace('/', '')}x{self._count}x"

    def _some_keys(self, count):
        keys = [key for key in self.known if key not in self._untouched]
        return self._dice.sample(keys, min(count, len(keys)))

    def _add(self):
        token = self._token()
        key = self.name + token
        return json_request("PUT", path_of(key), memory_of(token)), {key: token}

    def _update(self):
        (key,) = self._some_keys(1)
        token = self._token()
        return json_request("PATCH", path_of(key), memory_of(token)), {key: token}

    def _delete(self):
        (key,) = self._some_keys(1)
        return request("DELETE", path_of(key)), {key: None}

    def _delete_several(self):
        keys = self._some_keys(BATCH)
        return json_request("POST", "/api/v1/tools/memory_delete", {"keys": keys}), dict.fromkeys(keys)

    def _import(self):
        tokens = [self._token() for _ in range(BATCH)]
        lines = [{"key": self.name + token, **memory_of(token)} for token in tokens]
        body = "".join(json.dumps(line) + "\n" for line in lines).encode()
        headers = {"Content-Type": "application/x-ndjson"}
        return request("POST", PATH + "/import", headers, body), {self.name + token: token for token in tokens}

    def _next(self):
        """The bytes of a request, and what it changes."""
        choices = [self._add, self._add, self._import]
        if len(self._some_keys(BATCH)) == BATCH:
            choices += [self._update, self._update, self._delete, self._delete_several]
        return self._dice.choice(choices)()

    # ---- all of them ----

    def run(self, port, stop):
        """Changes until told to stop, or until the server is gone."""
        try:
            with Connection(port) as connection:
                while not stop.is_set():
                    asked, changes = self._next()
                    self.doubts.append(changes)
                    connection.send(asked)
                    self._hear(connection.response())
        except (Closed, OSError):
            pass

    def _hear(self, response):
        body = response.json()
        if body["success"] is True:
            self._apply(self.known, self.doubts.pop())
            self.acknowledged += 1
            return
        assert response.status >= 400 and body["error"]["code"] and body["error"]["message"], response
        self.refusals.append(body["error"])
        if IN_DOUBT in body["error"]["message"]:
            self._untouched.update(self.doubts[-1])
        else:
            self.doubts.pop()  # it must not have happened

    @staticmethod
    def _apply(state, changes):
        for key, token in changes.items():
            if token is None:
                state.pop(key, None)
            else:
                state[key] = token

    def lost(self, stored):
        """Compares with what is stored; what is wrong, in words. From then on what is stored is known."""
        mine = {key: token for key, token in stored.items() if key.startswith(self.name)}
        wanted = dict(self.known)
        for changes in self.doubts:
            after = dict(wanted)
            self._apply(after, changes)
            if {key: mine.get(key) for key in changes} == {key: after.get(key) for key in changes}:
                wanted = after
        problems = [
            f"{key}: wanted {wanted.get(key)}, there is {mine.get(key)}"
            for key in sorted(wanted.keys() | mine.keys())
            if wanted.get(key) != mine.get(key)
        ]
        self.known, self.doubts, self.refusals, self._untouched = mine, [], [], {}
        return problems


def json_request(method, path, body):
    data = json.dumps(body).encode()
    headers = {"Content-Type": "application/json", "Content-Length": len(data)}
    return request(method, path, headers, data)


def stored_in(settings):
    """The tokens in a store, by key."""
    completed = run("memory", "export", **settings)
    assert completed.returncode == 0, completed.stderr
    lines = completed.stdout.split("\n")[:-1]
    return {memory["key"]: token_of(memory) for memory in map(json.loads, lines)}


class Load:
    """Streams that run against servers, in threads."""

    def __init__(self, streams, ports):
        self._stop = threading.Event()
        self._streams = streams
        self._before = self.acknowledged()
        self._threads = [
            threading.Thread(target=stream.run, args=(ports[place % len(ports)], self._stop))
            for place, stream in enumerate(streams)
        ]
        for thread in self._threads:
            thread.start()

    def acknowledged(self):
        return sum(stream.acknowledged for stream in self._streams)

    def wait(self, count):
        """Waits for so many acknowledgements, or until every client has ended."""
        wait_until(
            lambda: self.acknowledged() - self._before >= count or not any(map(threading.Thread.is_alive, self._threads))
        )

    def end(self):
        self._stop.set()
        for thread in self._threads:
            thread.join()


# ---- killing ----


@contextlib.contextmanager
def running(count, settings):
    """Servers that will be killed."""
    servers = []
    try:
        for _ in range(count):
            servers.append(Server(**settings))
        yield servers
    finally:
        for server in servers:
            server.kill()


def kill(servers):
    for server in servers:
        server.signal(signal.SIGKILL)
    for server in servers:
        server.process.wait()


def load_and_kill(streams, count, settings):
    """Servers work until they are killed; where there are several, one dies before the others and they go on."""
    with running(count, settings) as servers:
        load = Load(streams, [server.port for server in servers])
        load.wait(random.randint(1, 60))
        if count > 2:
            kill(servers[:1])
            load.wait(random.randint(60, 90))
        time.sleep(random.random() * 0.02)
        kill(servers)
        load.end()


def check(streams, settings):
    """Everything acknowledged is there, and the store is sound."""
    stored = stored_in(settings)
    problems = [problem for stream in streams for problem in stream.lost(stored)]
    assert not problems, "\n".join(problems)
    check_store(settings)
