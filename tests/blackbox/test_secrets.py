"""The watch that fails the run when a program says a secret, watched itself; and the ways that secrets could take."""

import base64
import json
import sys
import urllib.parse

import pytest
import secrets_watch
from fake_web import Answer, Web
from http_client import exchange, request
from programs import FORAGE, Program, Server, environment, run
from secrets_watch import CANARY, Watch, canary, secret_variables


@pytest.fixture
def findings(monkeypatch):
    """A watch of this test's own: what it finds does not fail the run."""
    watch = Watch()
    monkeypatch.setattr(secrets_watch.WATCH, "look", watch.look)
    for module in ("programs", "http_client", "fake_web", "secrets_watch"):
        if hasattr(sys.modules[module], "look"):
            monkeypatch.setattr(sys.modules[module], "look", watch.look)
    return watch.seen


@pytest.mark.parametrize(
    "data",
    [
        CANARY.encode(),
        canary("NAME").encode(),
        json.dumps({"key": canary("NAME")}).replace("/", "\\/").encode(),
        urllib.parse.quote(canary("NAME"), safe="").encode(),
        *(base64.b64encode(b"user:pass"[:length] + canary("NAME").encode()) for length in range(9)),
    ],
)
def test_every_spelling_is_noticed(data):
    watch = Watch()
    watch.look(b"before " + data + b" after", "a test")
    assert len(watch.seen) == 1 and "a test" in watch.seen[0]


def test_other_text_is_no_secret():
    watch = Watch()
    watch.look(canary("NAME").replace(CANARY, CANARY[::-1]).encode(), "a test")
    watch.look(b"alice-token-0123456789", "a test")
    assert watch.seen == []


def test_what_a_test_sets_is_watched():
    watch = Watch()
    watch.learn(FORAGE, {"FORAGE_TOKENS": "alice:alice-token-0123456789,bob:short"})
    watch.look(b"alice-token-0123456789", "a test")
    watch.look(b"short alice bob", "a test")
    assert len(watch.seen) == 1 and "FORAGE_TOKENS" in watch.seen[0]


def test_a_program_that_talks_is_noticed(findings, tmp_path):
    """Each way on which the suite hears from a program."""
    (tmp_path / "cache").mkdir()
    script = (
        "import os, pathlib\n"
        "secret = os.environ['GITHUB_TOKEN']\n"
        "print(secret, flush=True)\n"
        "print('log', secret, file=__import__('sys').stderr, flush=True)\n"
        "pathlib.Path(os.environ['FORAGE_CACHE_DIR'], 'entry').write_text(secret)\n"
    )
    with (
        pytest.raises(AssertionError, match="standard output belongs to the protocol"),
        Program(["-c", script], program=sys.executable, FORAGE_CACHE_DIR=tmp_path / "cache") as program,
    ):
        program.wait()
    assert sorted(finding.split(", ")[0].partition(" in ")[2] for finding in findings) == [
        "FORAGE_CACHE_DIR: entry",
        "a line that a program wrote",
        "standard output",
    ]


def test_answers_over_http_and_requests_for_pages_are_watched(findings):
    """A page that repeats a secret, read by the client of the tests: both ends hear it."""
    with Web() as web:
        web.answers["/"] = Answer(canary("NAME"))
        exchange(web.port, request("GET", "/", {"Authorization": canary("NAME")}))
    assert sorted(finding.split(", ")[0].partition(" in ")[2] for finding in findings) == [
        "an answer over HTTP",
        "the headers of a request for a page",
    ]


def test_every_program_has_secrets():
    """The values come to the program, which knows them as secrets and does not show them."""
    names = set(secret_variables(FORAGE))
    assert {"FORAGE_TOKENS", "GITHUB_TOKEN", "STACKEXCHANGE_KEY"} <= names
    given = environment({})
    assert {name for name in names if CANARY in given.get(name, "")} == names - secrets_watch.CHANGES_EVERYTHING
    shown = {one["name"]: one for one in json.loads(run("config", "--json").stdout)["variables"]}
    for name in names - secrets_watch.CHANGES_EVERYTHING:
        assert shown[name]["origin"] == "environment" and CANARY not in json.dumps(shown[name])
    assert "GITHUB_TOKEN" not in environment({"GITHUB_TOKEN": None})


def test_secrets_in_what_was_read_do_not_come_out():
    """A page that holds every secret: the reader's answer and its log hold none. The watch hears both."""
    names = sorted(set(secret_variables(FORAGE)) - secrets_watch.CHANGES_EVERYTHING)
    text = " ".join(canary(name) for name in names)
    with Web() as web, Server(FORAGE_ALLOW_PRIVATE_HOSTS=web.host, FORAGE_LOG_LEVEL="debug", DEBUG=1) as forage:
        web.answers["/"] = Answer(f"<html><body><main><h1>Keys</h1><p>{text} and some more words</p></main></body></html>")
        body = {"url": web.url("/")}
        response = exchange(forage.port, request("POST", "/api/v1/tools/get_content", None, body))
        assert response.status == 200
        assert response.json()["page_content"].count("[redacted]") == len(names)
