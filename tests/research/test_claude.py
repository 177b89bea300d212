"""The second worker: the real Claude Code against a fake of its API, through the same seam as the first."""

import json

import pytest
from fake_web import Answer, Web
from fakes import anthropic
from fakes.anthropic import Anthropic
from fakes.model import Ask, Fail, Force, Hang, Say
from fakes.worker import quote, report, result
from programs import Stdio, has_children, wait_until
from reading import page
from real import LONG, RealPlace
from messages import cancelled
from research import failed, outcome, progress, start_call

QUESTION = "How deep is Lake Baikal?"
TOOLS = {"WebSearch", "WebFetch", "mcp__forage__get_content"}


@pytest.fixture
def place(tmp_path):
    return RealPlace(tmp_path)


@pytest.fixture
def web():
    with Web() as web:
        web.answers["/baikal"] = Answer(page("The lake is 1642 metres deep, says the page that forage read. " * 3))
        yield web


def call(settings, tool, arguments, token=None):
    with Stdio(**settings) as client:
        client.handshake()
        found = outcome(client, start_call(client, tool, arguments, token))
        return found, progress(client, token)


def test_deep_search(place, web):
    turns = [
        Ask("WebSearch", query="depth of Lake Baikal"),
        Ask("get_content", url=web.url("/baikal")),
        Say(report("# Baikal", verified=True, evidence=[quote("deep", "The lake is 1642 metres deep", web.url("/baikal"))])),
    ]
    with Anthropic(*turns) as fake:
        settings = place.with_claude(fake, FORAGE_ALLOW_PRIVATE_HOSTS=web.host, ANTHROPIC_MODEL="claude-of-the-test")
        found, told = call(settings, "deep_search", {"topic": QUESTION}, "token")
    assert found["success"] is True, found
    assert found["report"] == "# Baikal"
    assert found["metadata"]["sources_visited"] == [web.url("/baikal")]
    assert found["metadata"]["search_queries_used"] == ["depth of Lake Baikal"]
    assert found["metadata"]["iterations"] == 1 and found["metadata"]["model"] == "claude-of-the-test"
    assert found["evidence"][0]["grade"] == "exact"
    assert found.get("verified", False) is False, "one host is not two"
    assert any("searching: depth of Lake Baikal" in line for line in told)
    assert any("reading: 127.0.0.1" in line for line in told)
    assert fake.searches == ["depth of Lake Baikal"]
    assert fake.offered() <= TOOLS and "mcp__forage__get_content" in fake.offered()
    assert {conversation.model for conversation in fake.conversations} == {"claude-of-the-test"}
    assert QUESTION in fake.everything() and "says the page that forage read" in fake.results()[1]
    assert len(web.seen("/baikal")) == 1
    assert anthropic.KEY not in json.dumps(found)
    assert not place.running()


def test_search(place):
    with Anthropic(Ask("WebSearch", query="depth of Baikal"), Say(result("an answer"))) as fake:
        found, _ = call(place.with_claude(fake), "search", {"query": QUESTION})
    assert found["success"] is True and found["result"] == "an answer", found
    assert fake.searches == ["depth of Baikal"]


@pytest.mark.parametrize(
    "script, code",
    [(Fail(401), "AUTH_ERROR"), (Fail(404), "MODEL_NOT_FOUND"), (Fail(429), "QUOTA_EXCEEDED"), (Fail(500), "EXECUTION_ERROR")],
    ids=["401", "404", "429", "500"],
)
def test_failure(place, script, code):
    with Anthropic(script) as fake:
        found, _ = call(place.with_claude(fake), "search", {"query": QUESTION})
    failed(found, code)
    assert anthropic.KEY not in json.dumps(found)


def test_not_installed(place, tmp_path):
    with Anthropic(Say("never")) as fake:
        found, _ = call(place.with_claude(fake, CLAUDE_CLI_PATH=tmp_path / "nothing"), "search", {"query": QUESTION})
    assert "CLAUDE_CLI_PATH" in failed(found, "CLI_NOT_FOUND")["message"]


def test_no_file_reaches_the_model(place):
    """Neither by @PATH in the question nor by tools that a model asks for and was not offered."""
    (place.home / "canary.txt").write_text("canary-at-home")
    place.config.mkdir(mode=0o700)
    (place.config / "canary.txt").write_text("canary-beside-the-settings")
    wishes = [
        Force("Read", file_path=str(place.home / "canary.txt")),
        Force("Bash", command=f"cat {place.home}/canary.txt"),
        Say(result("no")),
    ]
    with Anthropic(*wishes) as fake:
        question = f"@canary.txt @{place.home}/canary.txt \\@canary.txt\n@.claude/mcp.json"
        found, _ = call(place.with_claude(fake), "search", {"query": question})
    assert found["success"] is True, found
    for canary in ("canary-at-home", "canary-beside-the-settings", "mcpServers"):
        assert canary not in fake.everything()


def test_cancelled(place):
    with Anthropic(Ask("WebSearch", query="depth of Baikal"), Hang()) as fake, Stdio(**place.with_claude(fake)) as client:
        client.handshake()
        id = start_call(client, "search", {"query": QUESTION})
        wait_until(lambda: fake.searches, LONG)
        client.send(cancelled(id))
        place.wait_none_running(client.pid)
        wait_until(lambda: not has_children(client.pid))


def test_verified(place, web):
    """Every claim has its quote, and pages of two hosts were read."""
    with Web(address="127.0.0.2") as other:
        other.answers["/baikal"] = Answer(page("Elsewhere one reads the same about that deep lake in Siberia. " * 3))
        turns = [
            Ask("get_content", urls=[web.url("/baikal"), other.url("/baikal")]),
            Say(report("Deep [1].", evidence=[quote("deep", "The lake is 1642 metres deep", web.url("/baikal"))])),
        ]
        with Anthropic(*turns) as fake:
            (place.home / "forage.env").write_text("FORAGE_CONTEXT=claude-code\n")
            file = {"FORAGE_CONFIG": str(place.home / "forage.env"), "FORAGE_CONTEXT": "nobody-known"}
            settings = place.with_claude(fake, FORAGE_ALLOW_PRIVATE_HOSTS="127.0.0.0/8", **file)
            found, _ = call(settings, "deep_search", {"topic": QUESTION})
    assert found["verified"] is True and found["citations"]["hosts"] == 2, found
    assert found["evidence"][0]["grade"] == "exact" and "[^1]" in found["report"]
