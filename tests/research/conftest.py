"""Research with the real programs: Gemini CLI, Claude Code and firecrawl-mcp, as scripts/setup clients installs them,
against fakes of their services on loopback. The tests that need only a scripted worker are in tests/blackbox.

FORAGE names the program under test (build/forage).
"""

import os
import pathlib
import sys

import pytest

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "blackbox"))

from programs import FORAGE  # noqa: E402


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
