"""The watch that fails the run when a program says a secret, watched itself; and the ways that secrets could take."""

import base64
import json
import sys
import urllib.parse

import pytest
import secrets_watch
from conftest import ALICE, BOB
from fake_web import Answer, Web
from http_client import exchange, request
from memory_world import PATH, ask, over_mcp, over_rest
from programs import FORAGE, Program, Server, environment, run
from reading import WORDS, page
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


GUESS = ALICE[:-1] + "8"  # as good as any, to who does not know the token
KEY = "a-key-for-github-0123456789"


def ways_back(server, text, name):
    """Every way on which a memory's text comes back to its caller, here bob."""
    put = {"key": name, "text": text, "tags": ["plan"], "metadata": {"note": text}}
    assert over_rest(server.port, "memory_add", put, BOB)["success"]
    by_key = {"key": name}
    yield ask(server.port, "GET", f"{PATH}/{name}", token=BOB).body.decode()
    yield ask(server.port, "GET", f"{PATH}/export", token=BOB).body.decode()
    for way in (over_rest, over_mcp):
        yield json.dumps(way(server.port, "memory_get", by_key, BOB))
        yield json.dumps(way(server.port, "memory_search", {"query": "harbour " + name}, BOB))
        yield json.dumps(way(server.port, "memory_fulltext_search", {"keywords": "harbour"}, BOB))
        yield json.dumps(way(server.port, "memory_update", {**by_key, "summary": text}, BOB))
        yield json.dumps(way(server.port, "memory_list", {}, BOB))


def test_guesses_of_tokens_come_back_alike(findings, tmp_path):
    """A caller stores guesses and reads pages of its own that hold guesses: neither what comes back nor what the cache
    keeps tells which of them is another caller's token."""
    tokens = {"FORAGE_TOKENS": f"alice:{ALICE},bob:{BOB}", "FORAGE_HISTORY": "on"}
    folders = {"FORAGE_DATA_DIR": tmp_path / "data", "FORAGE_CACHE_DIR": tmp_path / "cache"}
    with Web() as web, Server(FORAGE_ALLOW_PRIVATE_HOSTS=web.host, **tokens, **folders) as server:
        for name, guess in (("right", ALICE), ("wrong", GUESS)):
            for answer in ways_back(server, f"The harbour {guess} empties.", name):
                assert "[redacted]" not in answer and (guess in answer or "memory_update" in answer or name in answer)
            web.answers[f"/{name}"] = Answer(page(f"The word is {guess}. " + WORDS))
            for _ in range(2):
                read = over_rest(server.port, "get_content", {"url": web.url(f"/{name}?{guess}")}, BOB)
                assert guess in json.dumps(read) and "[redacted]" not in json.dumps(read)
            assert len(web.seen(f"/{name}?{guess}")) == 1
        history = ask(server.port, "GET", "/api/v1/history", token=BOB).body.decode()
        assert ALICE in history and GUESS in history and "[redacted]" not in history
        assert ALICE not in server.log.text() and GUESS not in server.log.text()


def test_memories_are_true_to_the_byte(findings, tmp_path):
    """Also where they hold a key that is looked for in everything else."""
    text = f"The harbour {KEY} empties."
    settings = {"FORAGE_DATA_DIR": tmp_path / "data", "GITHUB_TOKEN": KEY}
    with Server(FORAGE_TOKENS=f"bob:{BOB}", **settings) as server:
        for answer in ways_back(server, text, "plan"):
            assert "[redacted]" not in answer
        line = ask(server.port, "GET", f"{PATH}/export", token=BOB).json()
        assert line["text"] == text and line["metadata"] == {"note": text}
        refused = over_rest(server.port, "memory_get", {"key": KEY}, BOB)
        assert refused["success"] is False and KEY not in json.dumps(refused), "an error is no memory"
    with Server(FORAGE_TOKENS=f"bob:{BOB}", FORAGE_PROFILE="chatgpt", **settings) as server:
        fetched = over_mcp(server.port, "fetch", {"id": "memory:plan"}, BOB)
        assert fetched["text"] == text
    add = run("memory", "add", "--key", "plan", text, **settings)
    assert add.returncode == 0, add.stderr
    for command in (["get", "plan"], ["get", "plan", "--json"], ["export"], ["search", "harbour"]):
        shown = run("memory", *command, **settings).stdout
        assert KEY in shown and "[redacted]" not in shown, command


def test_an_error_of_a_command_holds_no_token():
    completed = run("call", "forage_status", f"tool={ALICE}", FORAGE_TOKENS=f"alice:{ALICE}")
    assert completed.returncode == 1 and "[redacted]" in completed.stdout
