"""The dashboard in a real browser: a server on loopback with nothing, something or very much to show, and a page before it.

FORAGE names the program under test (build/forage).
"""

import pathlib
import sys

import pytest

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "blackbox"))

from devtools import BROWSER, Browser  # noqa: E402
from filling import filled_server  # noqa: E402
from pages import Page  # noqa: E402
from programs import ROOT  # noqa: E402
from run_frame import nothing_secret_is_said, pytest_configure, pytest_terminal_summary, report  # noqa: E402, F401

PICTURES = ROOT / "build-logs" / "dashboard"


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    if not BROWSER:
        pytest.skip("there is no browser: scripts/setup test brings one")
    # A name of the web that means this machine, as a page that rebinds names has one.
    rules = "--host-resolver-rules=MAP rebound.example 127.0.0.1"
    with Browser(tmp_path_factory.mktemp("browser"), rules, "--proxy-bypass-list=rebound.example") as one:
        yield one


@pytest.fixture(scope="session")
def servers(tmp_path_factory):
    """A function that gives the server of a world by its name; each is started once."""
    started = {}

    def server(name):
        if name not in started:
            started[name] = filled_server(name, tmp_path_factory.mktemp(name))
            started[name].__enter__()
        return started[name]

    yield server
    for one in started.values():
        one.__exit__(None, None, None)


@pytest.fixture
def page(browser, servers):
    """A function that opens a view of a world: page("typical", "searches")."""
    opened = []

    def opener(world, address="overview", width=1400, scheme="light"):
        one = Page(browser, servers(world).port)
        browser.look(width, scheme)
        one.open(address)
        opened.append(one)
        return one

    yield opener
    for one in opened:
        assert not one.problems(), one.problems()[:5]
    browser.ask("Network.clearBrowserCookies")
