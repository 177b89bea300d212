"""Clients that generators make of our OpenAPI description, used as their users would.

FORAGE names the program under test (build/forage); scripts/setup openapi brings the generators."""

import os
import pathlib
import sys

import pytest

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "blackbox"))

from programs import FORAGE  # noqa: E402
from secrets_watch import WATCH  # noqa: E402


def pytest_configure():
    if not os.access(FORAGE, os.X_OK):
        pytest.exit(f"{FORAGE} is missing: build it first", returncode=2)


@pytest.fixture(autouse=True)
def nothing_secret_is_said():
    yield
    assert not WATCH.seen, WATCH.seen[:3]
