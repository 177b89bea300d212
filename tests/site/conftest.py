"""The documentation: the site that scripts/site makes of it, looked at in a browser, and its examples, which are run.

FORAGE names the program under test (build/forage).
"""

import pathlib
import subprocess
import sys

import pytest

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "blackbox"))

from programs import ROOT  # noqa: E402
from run_frame import nothing_secret_is_said, pytest_configure, pytest_terminal_summary, report  # noqa: E402, F401


def build(folder, root=ROOT):
    """Runs the generator; its exit code, and what it said."""
    completed = subprocess.run(
        [root / "scripts" / "site", folder], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False
    )
    return completed.returncode, completed.stdout.decode()


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The site, made anew."""
    folder = tmp_path_factory.mktemp("site") / "build-site"
    code, words = build(folder)
    assert code == 0, words
    report(words.strip().rpartition(": ")[2])
    return folder
