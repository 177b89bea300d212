"""Memory in each of the ways it is run: SQLite with one process, SQLite with four processes on one file, and
three servers on a PostgreSQL of their own. A test asks its world, and whichever process the dice choose answers.

Every test works in a namespace of its own, so that all tests of a file share one world.
"""

import contextlib
import functools
import itertools
import json
import os
import random
from urllib.parse import quote, urlencode

import pytest
from http_client import exchange, request
from messages import tool_call
from postgres import postgres  # noqa: F401 (a fixture)
from programs import Server, Stdio, run

KINDS = ["sqlite", "sqlite-four", "postgresql"]
SOAK = os.environ.get("FORAGE_SOAK") == "1"  # scripts/soak: longer
SEED = int(os.environ.get("FORAGE_TEST_SEED", "1"))
PATH = "/api/v1/memories"


def path_of(key):
    """Where a memory is over REST."""
    return f"{PATH}/{quote(key, safe='')}"


def ask(port, method, path, query=None, body=None, token=None, lines=None):
    """One request over REST. `lines` is the body of an import."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    data = b""
    if body is not None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers["Content-Type"] = "application/json"
    if lines is not None:
        data = lines if isinstance(lines, bytes) else "".join(json.dumps(line) + "\n" for line in lines).encode()
        headers["Content-Type"] = "application/x-ndjson"
    if data or method in ("POST", "PUT", "PATCH"):
        headers["Content-Length"] = len(data)
    target = path + ("?" + urlencode(query, doseq=True) if query else "")
    return exchange(port, request(method, target, headers, data))


def over_rest(port, tool, arguments, token=None):
    return ask(port, "POST", f"/api/v1/tools/{tool}", body=arguments, token=token).json()


def over_mcp(port, tool, arguments, token=None):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return exchange(port, request(headers=headers, body=tool_call(tool, arguments))).json()["result"]["structuredContent"]


def over_stdio(client, tool, arguments):
    return client.ask("tools/call", {"name": tool, "arguments": arguments})["result"]["structuredContent"]


class World:
    """A store and the processes that serve it."""

    def __init__(self, kind, settings, servers, clients=()):
        self.kind = kind
        self.settings = settings
        self.servers = servers
        self._dice = random.Random(SEED)
        self._ways = [functools.partial(over_stdio, client) for client in clients]
        for server in servers:
            self._ways += [functools.partial(over_rest, server.port), functools.partial(over_mcp, server.port)]

    def without_clients(self):
        """The same, asked over HTTP only: for several threads."""
        return World(self.kind, self.settings, self.servers)

    def tool(self, name, arguments):
        """What a tool says, by one of the processes."""
        return self._dice.choice(self._ways)(name, arguments)

    def rest(self, method, path, query=None, **more):
        """The answer of one of the servers."""
        return ask(self._dice.choice(self.servers).port, method, path, query, **more)

    def command(self, *arguments, **more):
        """A command for people, on the same store."""
        return run("memory", *arguments, **self.settings, **more)


class Space:
    """A namespace of a world."""

    def __init__(self, world, name):
        self.world = world
        self.name = name

    def ask(self, tool, /, **arguments):
        return self.world.tool("memory_" + tool, {**arguments, "namespace": self.name})

    def do(self, tool, /, **arguments):
        """A call that must succeed; its data."""
        body = self.ask(tool, **arguments)
        assert body["success"] is True, (tool, arguments, body)
        return body["data"]

    def fail(self, code, tool, /, **arguments):
        """A call that must fail with this code; its message."""
        body = self.ask(tool, **arguments)
        assert body["success"] is False and body["error"]["code"] == code, (tool, arguments, body)
        return body["error"]["message"]

    def rest(self, method, path, query=None, **more):
        return self.world.rest(method, path, {**(query or {}), "namespace": self.name}, **more)

    def add(self, text, key=None, **more):
        given = {"text": text, **({} if key is None else {"key": key}), **more}
        return self.do("add", **given)

    def get(self, key):
        """One memory; None when there is none."""
        body = self.ask("get", key=key)
        if body["success"]:
            return body["data"]["results"][0]
        assert body["error"]["code"] == "NOT_FOUND", body
        return None

    def keys(self, tool, /, **arguments):
        """The keys that a list or a search gives, in their order."""
        return [result["key"] for result in self.do(tool, **arguments)["results"]]

    def found(self, *keywords, **more):
        """The keys that a full-text search gives, as a set."""
        return set(self.keys("fulltext_search", keywords=list(keywords), limit=100, **more))

    def load(self, lines):
        """An import that must succeed."""
        response = self.rest("POST", PATH + "/import", lines=lines)
        assert response.status == 200, response
        return response.json()["data"]

    def dump(self):
        """An export, as text."""
        response = self.rest("GET", PATH + "/export")
        assert response.status == 200, response
        return response.body.decode()


@contextlib.contextmanager
def world_of(kind, settings):
    """A world of that kind with the store that the settings choose."""
    with contextlib.ExitStack() as programs:
        servers = {"sqlite": 1, "sqlite-four": 2, "postgresql": 3}[kind]
        clients = {"sqlite": 0, "sqlite-four": 2, "postgresql": 0}[kind]
        servers = [programs.enter_context(Server(**settings)) for _ in range(servers)]
        clients = [programs.enter_context(Stdio(**settings)) for _ in range(clients)]
        for client in clients:
            client.handshake()
        yield World(kind, settings, servers, clients)


def check_store(settings):
    """`forage memory check` finds nothing wrong."""
    completed = run("memory", "check", **settings)
    assert completed.returncode == 0 and " 0 problems" in completed.stdout, completed.stdout + completed.stderr


@pytest.fixture(scope="module", params=KINDS)
def world(request, tmp_path_factory):
    settings = {"FORAGE_DATA_DIR": tmp_path_factory.mktemp("memory")}
    if request.param == "postgresql":
        settings["FORAGE_DATABASE_URL"] = request.getfixturevalue("postgres").database()
    with world_of(request.param, settings) as world:
        yield world
        check_store(settings)


numbers = itertools.count(1)


@pytest.fixture
def space(world):
    return Space(world, f"space {next(numbers)}")
