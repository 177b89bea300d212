"""Every path of the server, asked by every method: each answer ends. A stream of events ends with its client."""

import os
import re

import pytest
from conftest import OPERATOR, report
from http_client import Connection, exchange, request
from programs import Server, wait_until
from test_shares import stock

SOURCE = os.path.join(os.path.dirname(__file__), "../../src/rest/http.c")
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"]
WITH_BODY = ("POST", "PUT", "PATCH")
EVENTS = "/api/v1/events"
# What stands for a variable of a path; {file} stands for each file that the dashboard has.
VALUES = {"{name}": "memory_stats", "{key}": "plan", "{id}": "1", "{job}": "0" * 32, "{experiment}": "none"}


@pytest.fixture(scope="module", params=["", f"olga+operator:{OPERATOR},bob:{OPERATOR[::-1]}"], ids=["open", "with tokens"])
def every(request, tmp_path_factory):  # noqa: F811
    with Server(FORAGE_DATA_DIR=tmp_path_factory.mktemp("data"), FORAGE_TOKENS=request.param) as server:
        server.headers = {"Authorization": f"Bearer {OPERATOR}"} if request.param else {}
        yield server


def patterns():
    """The paths of the table of routes."""
    with open(SOURCE, encoding="ascii") as file:
        table = re.search(r"const struct route ROUTES\[\] = \{(.*?)\n\};", file.read(), re.S)[1]
    return list(dict.fromkeys(re.findall(r'^ {4}\{"[A-Z]+", "([^"]+)"', table, re.M)))


def files(server):
    """The files of the dashboard: what its page names, and what those name in turn."""
    found, left = set(), ["/"]
    while left:
        body = exchange(server.port, request("GET", left.pop(), server.headers)).body
        names = re.findall(rb'(?:src|href)="/dashboard/([^"]+)"|from "\./([^"]+)"|import\("\./([^"]+)"\)', body)
        new = {b"".join(name).decode() for name in names} - found
        found |= new
        left += [f"/dashboard/{name}" for name in new]
    return sorted(found)


def paths(server):
    for pattern in patterns():
        if "{file}" in pattern:
            yield from (pattern.replace("{file}", name) for name in files(server))
        else:
            for variable, value in VALUES.items():
                pattern = pattern.replace(variable, value)
            assert "{" not in pattern, pattern
            yield pattern


def ask(server, connection, method, path):
    """Asks, and reads the answer to its end. Where the connection stays open it answers the next request too."""
    body = b"{}" if method in WITH_BODY else b""
    headers = {"Content-Type": "application/json", "Content-Length": len(body), "Accept": "application/json"} if body else {}
    connection.send(request(method, path, {**server.headers, **headers}, body))
    head = connection.head()
    if method == "GET" and path == EVENTS:
        assert head.status == 200 and head.header("Content-Type") == "text/event-stream"
        return head.status
    if method != "HEAD":
        head.body = b"".join(connection.pieces(head))
    if head.header("Connection") == "close":
        assert connection.wait_closed() == b""
    else:
        assert connection.exchange(request("GET", "/health")).status == 200
    return head.status


def test_every_method_of_every_path_ends(every):
    asked = {}
    described = exchange(every.port, request("GET", "/api/v1/openapi.json", every.headers)).json()["paths"]
    known = set(patterns())
    tools = {path for path in described if path.startswith("/api/v1/tools/")}
    assert set(described) - tools <= known and len(files(every)) >= 5
    for path in [*paths(every), *tools, "/nothing"]:
        for method in METHODS:
            with Connection(every.port) as connection:
                asked[path, method] = ask(every, connection, method, path)
    assert wait_until(lambda: stock(every, every.headers and OPERATOR, "watchers")[0] == 0), "a stream outlived its client"
    for path in {path for path, _ in asked}:
        assert asked[path, "HEAD"] == asked[path, "GET"], path
    report(f"routes: {len(asked) // len(METHODS)} paths x {len(METHODS)} methods = {len(asked)} requests, all ended")
