"""What the runs of tests/site and tests/dashboard have in common: they need the program, nothing secret may be said, and what was
measured is shown at the end. A conftest.py takes these names in."""

import os

import pytest
from programs import FORAGE
from secrets_watch import WATCH


def pytest_configure():
    if not os.access(FORAGE, os.X_OK):
        pytest.exit(f"{FORAGE} is missing: build it first", returncode=2)


measured = []


def report(line):
    """Something measured, to be shown at the end of the run whether or not anything failed."""
    measured.append(line)


def pytest_terminal_summary(terminalreporter):
    for line in measured:
        terminalreporter.write_line(line)


@pytest.fixture(autouse=True)
def nothing_secret_is_said():
    yield
    assert not WATCH.seen, WATCH.seen[:3]
