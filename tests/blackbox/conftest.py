"""Fixtures: the servers that most tests share, and clients of their own for the rest.

FORAGE names the program under test (build/forage), FORAGE_CONFORMANCE the program with the fixtures
(forage-conformance beside it): the same library with tools that sleep, fetch and report progress.
"""

import os
import signal
import subprocess

import pytest
from http_client import exchange, request
from people import ALICE, BOB, OPERATOR  # noqa: F401 (tests take them from here)
from programs import CONFORMANCE, FORAGE, Server, Stdio
from secrets_watch import WATCH

pytest.register_assert_rewrite("http_checks", "one_source")

CRASHES = {-number for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE)}


class WatchedProcess(subprocess.Popen):
    """A process whose crash is written down: scripts/test then believes a test that failed at once."""

    @property
    def returncode(self):
        return self._status

    @returncode.setter
    def returncode(self, status):
        self._status = status
        path = os.environ.get("FORAGE_TEST_CRASHES")
        if status in CRASHES and path:
            with open(path, "a", encoding="utf-8") as file:
                file.write(os.environ.get("PYTEST_CURRENT_TEST", "") + "\n")


subprocess.Popen = WatchedProcess


def pytest_configure():
    for path in (FORAGE, CONFORMANCE):
        if not os.access(path, os.X_OK):
            pytest.exit(f"{path} is missing: build it first", returncode=2)


measured = []


def report(line):
    """Something measured, to be shown at the end of the run whether or not anything failed."""
    measured.append(line)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session):
    """Several processes share the files of a run (pytest -n): each hands in what it measured and saw. The last test
    of all: whatever was said during the run, no secret was."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput.update(measured=measured, looked_at=WATCH.looked_at, seen=WATCH.seen)
    elif WATCH.seen and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    output = getattr(node, "workeroutput", {})
    measured.extend(output.get("measured", []))
    WATCH.looked_at += output.get("looked_at", 0)
    WATCH.seen.extend(output.get("seen", []))


def pytest_terminal_summary(terminalreporter):
    for line in measured:
        terminalreporter.write_line(line)
    for finding in WATCH.seen[:20]:
        terminalreporter.write_line(f"SECRET: {finding}", red=True)
    terminalreporter.write_line(f"{WATCH.looked_at} bytes of output hold {len(WATCH.seen)} secrets")


def start_early(request, fixture):
    """Starts what takes long when a file begins, so that it runs beside the other tests of the file; not when
    none of the chosen tests looks at it."""
    if any(fixture in item.fixturenames and item.module is request.module for item in request.session.items):
        request.getfixturevalue(fixture)


def still_well(server):
    """Whatever a test did to the server, it lives and answers."""
    assert server.alive(), f"the server died:\n{server.log.text()}"
    assert exchange(server.port, request("GET", "/health")).status == 200


@pytest.fixture(scope="session")
def shared_server():
    with Server() as server:
        yield server


@pytest.fixture(scope="session")
def shared_guarded():
    with Server(FORAGE_TOKENS=f"alice:{ALICE},bob:{BOB}") as server:
        yield server


@pytest.fixture(scope="session")
def shared_fixtures():
    with Server(CONFORMANCE) as server:
        yield server


@pytest.fixture
def server(shared_server):
    """`forage serve`, without tokens."""
    yield shared_server
    still_well(shared_server)


@pytest.fixture
def guarded(shared_guarded):
    """`forage serve` with tokens for alice and bob."""
    yield shared_guarded
    still_well(shared_guarded)


@pytest.fixture
def fixtures(shared_fixtures):
    """The fixtures, served."""
    yield shared_fixtures
    still_well(shared_fixtures)


@pytest.fixture
def stdio():
    """`forage mcp` with a client."""
    with Stdio() as client:
        yield client


@pytest.fixture
def fixtures_stdio():
    """The fixtures over stdio, with a client."""
    with Stdio(CONFORMANCE) as client:
        yield client
