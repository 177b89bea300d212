"""What callers learn of the machine when something fails there: over HTTP no path, over stdio and on the command line,
where the operator asks, all of it. The log has what was left out."""

import json
import re
import sqlite3

import pytest
from fake_web import Answer, Web
from http_client import exchange, request
from memory_world import ask, over_mcp, over_rest, over_stdio
from programs import Server, Stdio, run

SHELL = "<!doctype html><html><body><div id='root'></div><script src='/app.js'></script></body></html>"


@pytest.fixture(name="broken")
def everything_broken(tmp_path):
    """Settings with which nothing works that needs this machine, and each reason has a path in it."""
    file = tmp_path / "a-file"
    file.write_text("not a folder")
    worker = tmp_path / "worker"
    worker.write_text(f"#!/bin/sh\necho \"cannot open '{tmp_path}/secret-place': gone\" >&2\nexit 1\n")
    worker.chmod(0o755)
    browser = tmp_path / "browser"
    browser.write_text(f"#!/bin/sh\necho {tmp_path}/libnss.so is missing >&2\nexit 3\n")
    browser.chmod(0o755)
    return {
        "FORAGE_DATA_DIR": file,
        "FORAGE_RESEARCH_DIR": tmp_path / "research",
        "GEMINI_CLI_PATH": worker,
        "KINDLY_BROWSER_EXECUTABLE_PATH": browser,
        "KINDLY_NODRIVER_RETRY_ATTEMPTS": 1,
        "FORAGE_ALLOW_PRIVATE_HOSTS": "127.0.0.1",
        "FORAGE_CACHE_DIR": tmp_path / "cache",
        "HOME": tmp_path,
    }


def calls(web):
    """Tools that fail, and what the operator should read of it."""
    web.answers["/empty"] = Answer(SHELL)
    yield "memory_add", {"text": "Sail at dawn."}, "a-file"
    yield "memory_search", {"query": "sail"}, "a-file"
    yield "search", {"query": "How deep is Lake Baikal?"}, "secret-place"
    yield "get_content", {"url": web.url("/empty"), "render": "always"}, "browser"


def test_over_http(broken, tmp_path):
    with Web() as web, Server(**broken) as server:
        for tool, arguments, detail in calls(web):
            for way in (over_rest, over_mcp):
                answer = json.dumps(way(server.port, tool, arguments))
                assert str(tmp_path) not in answer, (tool, answer)
                if tool.startswith("memory"):
                    id = json.loads(answer)["error"]["request_id"]
                    server.wait_log(rf"req={id} .*{detail}")
            # What a worker says may repeat the question, which is private.
            assert bool(re.search(f"{tmp_path}.*{detail}", server.log.text())) == (tool != "search"), tool
        for path in ("/api/v1/usage", "/api/v1/history", "/api/v1/memories/export", "/api/v1/tools", "/health?full", "/metrics"):
            assert str(tmp_path) not in exchange(server.port, request("GET", path)).body.decode(), path
        lines = ask(server.port, "POST", "/api/v1/memories/import", lines=[{"key": "a", "text": "b"}])
        assert lines.status == 502 and str(tmp_path) not in lines.body.decode()
        assert "[path]: Not a directory" in lines.json()["error"]["message"]
        assert str(tmp_path) not in json.dumps(over_rest(server.port, "forage_status", {}))


def test_over_stdio(broken, tmp_path):
    with Web() as web, Stdio(**broken) as client:
        for tool, arguments, detail in calls(web):
            answer = json.dumps(over_stdio(client, tool, arguments))
            assert re.search(f"{tmp_path}.*{detail}", answer), answer


def test_on_the_command_line(broken, tmp_path):
    completed = run("memory", "add", "Sail at dawn.", **broken)
    assert completed.returncode == 1 and f"{tmp_path}/a-file" in completed.stderr


@pytest.mark.parametrize("name", ["nothing", "folder/nothing"])
def test_a_worker_that_is_not_there(tmp_path, name):
    settings = {"GEMINI_CLI_PATH": tmp_path / name, "FORAGE_RESEARCH_DIR": tmp_path / "research"}
    with Server(**settings) as server:
        for answer in (
            over_rest(server.port, "search", {"query": "How deep is Lake Baikal?"}),
            over_rest(server.port, "forage_status", {}),
            exchange(server.port, request("GET", "/api/v1/tools")).json(),
        ):
            text = json.dumps(answer)
            assert str(tmp_path) not in text and ("GEMINI_CLI_PATH names [path], which" in text or "tools" in answer)


def test_a_file_of_guardrails(tmp_path):
    rules = tmp_path / "rules.json"
    rules.write_text(json.dumps({"rules": [{"name": "r", "server": "boats", "any": ["sail plan"]}]}))
    with Server(FORAGE_GUARDRAILS=rules, OPENAI_BASE_URL="http://127.0.0.1:9", FORAGE_DATA_DIR=tmp_path) as server:
        error = over_rest(server.port, "search_web", {"query": "the sail plan of a cutter"})["error"]
        assert "FORAGE_GUARDRAILS" in error["message"] and str(tmp_path) not in json.dumps(error)


# ---- what a failed change leaves behind ----


def test_a_failed_change_makes_no_namespace(tmp_path):
    failing = [
        ("memory_update", {"key": "x", "text": "y"}),
        ("memory_update", {"key": "x", "new_key": "y"}),
        ("memory_update", {"key": "x", "version": 2}),
        ("memory_rename", {"key": "x", "new_key": "y"}),
        ("memory_delete", {"key": "x"}),
        ("memory_delete", {"keys": ["x", "y"]}),
        ("memory_add", {"key": "x", "text": "y", "if_version": 7}),
        ("memory_add", {"key": "x", "text": "y", "expires_at": "2001-01-01"}),
        ("memory_get", {"key": "x"}),
        ("memory_search", {"query": "x"}),
    ]
    with Server(FORAGE_DATA_DIR=tmp_path) as server:
        assert over_rest(server.port, "memory_add", {"text": "Sail.", "namespace": "there"})["success"]
        for number, (tool, arguments) in enumerate(failing):
            over_rest(server.port, tool, {**arguments, "namespace": f"not-there-{number}"})
        past = [{"key": "a", "text": "b", "expires_at": "2001-01-01T00:00:00Z", "namespace": "past"}]
        assert ask(server.port, "POST", "/api/v1/memories/import", lines=past).json()["data"]["expired"] == 1
        with sqlite3.connect(tmp_path / "memory.db") as store:
            assert store.execute("SELECT name FROM space WHERE name <> ''").fetchall() == [("there",)]
