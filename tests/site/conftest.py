"""The documentation: the site that scripts/site makes of it, looked at in a browser, and its examples, which are run.

FORAGE names the program under test (build/forage).
"""

import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "blackbox"))

from programs import FORAGE, ROOT  # noqa: E402
from secrets_watch import WATCH  # noqa: E402


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


def build(folder, root=ROOT):
    """Runs the generator; its exit code, and what it said."""
    completed = subprocess.run(
        [root / "scripts" / "site", folder], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False
    )
    return completed.returncode, completed.stdout.decode()


@pytest.fixture(autouse=True)
def nothing_secret_is_said():
    yield
    assert not WATCH.seen, WATCH.seen[:3]


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The site, made anew."""
    folder = tmp_path_factory.mktemp("site") / "build-site"
    code, words = build(folder)
    assert code == 0, words
    report(words.strip().rpartition(": ")[2])
    return folder
