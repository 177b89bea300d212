"""What the tests of limits, usage and history share: a tool that spends, its callers, and what was recorded."""

import contextlib
import json

from http_client import Closed, Connection, exchange, request
from programs import CONFORMANCE, Server, run

TOOL = "test_spend"


def spending_server(folder, **settings):
    """A server whose tool test_spend uses what it is told to use."""
    return Server(CONFORMANCE, FORAGE_DATA_DIR=folder, **settings)


def authorization(token):
    return {"Authorization": f"Bearer {token}"} if token else {}


def spend(port, token=None, tool=TOOL, **arguments):
    """One call of the tool, over REST."""
    data = request("POST", f"/api/v1/tools/{tool}", authorization(token), arguments)
    return exchange(port, data)


def spend_until_gone(port, token, numbers, done):
    """Calls with one number after the other, on one connection, until the server is gone; `done` gets the numbers
    whose answer came."""
    with contextlib.suppress(Closed, OSError), Connection(port) as connection:
        for number in numbers:
            body = {"query": f"number {number}", "model": "gpt-5-nano", "input_tokens": 1}
            answer = connection.exchange(
                request("POST", f"/api/v1/tools/{TOOL}", authorization(token), body)
            )
            assert answer.status == 200, answer
            done.append(number)


def get(port, path, token=None, method="GET"):
    return exchange(port, request(method, path, authorization(token)))


def command(folder, *arguments, **settings):
    """What a command says about the records in a folder."""
    done = run(*arguments, FORAGE_DATA_DIR=folder, **settings)
    assert done.returncode == 0, done.stderr
    return done.stdout


def usage_of(folder, **settings):
    return json.loads(command(folder, "usage", "--json", **settings))


def history_of(folder, caller="local"):
    """The calls of a caller, newest first."""
    lines = command(folder, "history", "export", "--caller", caller).splitlines()
    return [json.loads(line) for line in lines]
