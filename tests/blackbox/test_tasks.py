"""Tasks: the same jobs as MCP has them, in the extension of 2026-07-28 and in the experimental form of 2025-11-25; and
clients that know neither, which notice nothing."""

import json

import pytest
from http_client import exchange, request
from jobs import Hangs, Scene
from messages import (
    CAPABILITIES, HEADER_MISMATCH, INVALID_PARAMS, METHOD_NOT_FOUND, MISSING_CAPABILITY, call, modern, modern_headers,
)  # fmt: skip
from programs import PATIENCE, Server, Stdio, wait_until
from test_models import NO_KEYS

TASKS = "io.modelcontextprotocol/tasks"
DECLARED = {CAPABILITIES: {"extensions": {TASKS: {}}}}
TERMINAL = ("completed", "failed", "cancelled")
TOKENS = {"ada": "ada-token-abcdefghijklmnop1", "bea": "bea-token-abcdefghijklmnop2"}


@pytest.fixture(scope="module")
def scene():
    with Scene() as scene:
        yield scene


class Http:
    """A modern client over HTTP."""

    def __init__(self, **settings):
        self.server = Server(**settings)

    def __enter__(self):
        self.server.__enter__()
        return self

    def __exit__(self, *details):
        return self.server.__exit__(*details)

    def ask(self, method, params=None, declared=True, token=None, headers=None):
        message = modern(method, params, **(DECLARED if declared else {}))
        usual = {**modern_headers(message), **({"Authorization": f"Bearer {token}"} if token else {})}
        return exchange(self.server.port, request(headers={**usual, **(headers or {})}, body=message)).json()


class OverStdio(Http):
    def __init__(self, **settings):
        self.server = Stdio(**settings)

    def ask(self, method, params=None, declared=True):
        message = modern(method, params, self.server.new_id(), **(DECLARED if declared else {}))
        self.server.send(message)
        return self.server.answer(message["id"])


def arguments(scene, tool="deep_search"):
    return {"name": tool, "arguments": {"topic" if tool == "deep_search" else "query": scene.question()}}


def over(client, id):
    def look():
        task = client.ask("tasks/get", {"taskId": id})["result"]
        return task if task["status"] in TERMINAL else None

    return wait_until(look)


# ---- the extension ----


@pytest.mark.parametrize("client", [Http, OverStdio])
@pytest.mark.parametrize("tool", ["search", "deep_search"])
def test_a_call_becomes_a_task(scene, tmp_path, client, tool):
    player = Hangs(scene.world.questions, 2)
    scene.play(player)
    with client(**scene.settings(FORAGE_DATA_DIR=tmp_path)) as client:
        assert client.ask("server/discover")["result"]["capabilities"]["extensions"][TASKS] == {}
        created = client.ask("tools/call", arguments(scene, tool))["result"]
        assert created["resultType"] == "task" and created["status"] == "working" and created["ttlMs"] == 86_400_000
        assert created["pollIntervalMs"] > 0 and created["createdAt"] <= created["lastUpdatedAt"]
        assert not {"content", "structuredContent", "result", "task"} & created.keys()
        assert player.reached.wait(PATIENCE)
        working = client.ask("tasks/get", {"taskId": created["taskId"]})["result"]
        assert working["resultType"] == "complete" and working["status"] == "working" and working["statusMessage"]
        assert client.ask("tasks/update", {"taskId": created["taskId"], "inputResponses": {"a": {}}})["result"]["resultType"]
        player.released.set()
        done = over(client, created["taskId"])
        assert done["status"] == "completed" and "error" not in done
        told = done["result"]["structuredContent"]
        assert told["report" if tool == "deep_search" else "result"] and told["id"] == created["taskId"]
        assert json.loads(done["result"]["content"][0]["text"]) == told and "_meta" not in done["result"]
        assert done["resultType"] == done["result"]["resultType"] == "complete"


def test_a_tool_that_fails_is_a_completed_task(scene, tmp_path):
    with Http(**scene.settings(FORAGE_DATA_DIR=tmp_path, FORAGE_MODEL=None, **NO_KEYS)) as client:
        created = client.ask("tools/call", arguments(scene))["result"]
        done = over(client, created["taskId"])
        assert done["status"] == "completed" and done["result"]["isError"] is True
        assert done["result"]["structuredContent"]["error"]["code"] == "CONFIG_ERROR"


def test_cancelling_a_task(scene, tmp_path):
    player = Hangs(scene.world.questions, 1)
    scene.play(player)
    with Http(**scene.settings(FORAGE_DATA_DIR=tmp_path)) as client:
        id = client.ask("tools/call", arguments(scene))["result"]["taskId"]
        assert player.reached.wait(PATIENCE)
        assert set(client.ask("tasks/cancel", {"taskId": id})["result"]) == {"resultType", "_meta"}
        done = over(client, id)
        assert done["status"] == "cancelled" and "result" not in done
        wait_until(lambda: player.left_at)
        assert set(client.ask("tasks/cancel", {"taskId": id})["result"]) == {"resultType", "_meta"}


def test_tasks_belong_to_their_caller(scene, tmp_path):
    scene.play(Hangs(scene.world.questions, 99))
    tokens = ",".join(f"{name}:{token}" for name, token in TOKENS.items())
    with Http(**scene.settings(FORAGE_DATA_DIR=tmp_path, FORAGE_TOKENS=tokens)) as client:
        id = client.ask("tools/call", arguments(scene), token=TOKENS["ada"])["result"]["taskId"]
        for method, more in (("tasks/get", {}), ("tasks/cancel", {}), ("tasks/update", {"inputResponses": {}})):
            for wrong in (id, "0" * 32, "x"):
                error = client.ask(method, {"taskId": wrong, **more}, token=TOKENS["bea"])["error"]
                assert error["code"] == INVALID_PARAMS and "no such job" in error["message"]
        assert client.ask("tasks/get", {"taskId": id}, token=TOKENS["ada"])["result"]["taskId"] == id


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
def test_who_does_not_know_them(scene, tmp_path, method):
    scene.play(Hangs(scene.world.questions, 99))
    with Http(**scene.settings(FORAGE_DATA_DIR=tmp_path)) as client:
        error = client.ask(method, {"taskId": "x", "inputResponses": {}}, declared=False)["error"]
        assert error["code"] == MISSING_CAPABILITY
        assert error["data"]["requiredCapabilities"] == {"extensions": {TASKS: {}}}
        whole = client.ask("tools/call", arguments(scene), declared=False)["result"]
        assert whole["resultType"] == "complete" and whole["structuredContent"]["report"]
        wrong = client.ask(method, {"taskId": "x", "inputResponses": {}}, headers={"Mcp-Name": "y"})["error"]
        assert wrong["code"] == HEADER_MISMATCH
        for gone in ("tasks/result", "tasks/list"):
            assert client.ask(gone, {"taskId": "x"})["error"]["code"] == METHOD_NOT_FOUND


# ---- 2025-11-25 ----


def test_the_experimental_form(scene, tmp_path):
    player = Hangs(scene.world.questions, 2)
    scene.play(player)
    with Stdio(**scene.settings(FORAGE_DATA_DIR=tmp_path)) as client:
        capabilities = client.handshake("2025-11-25")["capabilities"]
        assert capabilities["tasks"] == {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}
        support = {tool["name"]: tool.get("execution") for tool in client.ask("tools/list")["result"]["tools"]}
        assert {name for name, said in support.items() if said} == {"search", "deep_search"}
        assert support["deep_search"] == {"taskSupport": "optional"}
        created = client.ask("tools/call", {**arguments(scene), "task": {"ttl": 60000}})["result"]["task"]
        id = created["taskId"]
        assert created["status"] == "working" and created["ttl"] == 86_400_000 and created["pollInterval"] > 0
        assert client.ask("tasks/get", {"taskId": id})["result"]["status"] == "working"
        assert [task["taskId"] for task in client.ask("tasks/list")["result"]["tasks"]] == [id]
        client.send(call("tasks/result", {"taskId": id}, 77))
        assert player.reached.wait(PATIENCE)
        player.released.set()
        result = client.answer(77)["result"]
        assert result["structuredContent"]["report"]
        assert result["_meta"] == {"io.modelcontextprotocol/related-task": {"taskId": id}}
        assert client.ask("tasks/get", {"taskId": id})["result"]["status"] == "completed"
        assert client.ask("tasks/cancel", {"taskId": id})["error"]["code"] == INVALID_PARAMS
        refused = client.ask("tools/call", {"name": "forage_status", "arguments": {}, "task": {}})
        assert refused["error"]["code"] == METHOD_NOT_FOUND


def test_cancelling_in_the_experimental_form(scene, tmp_path):
    player = Hangs(scene.world.questions, 1)
    scene.play(player)
    with Stdio(**scene.settings(FORAGE_DATA_DIR=tmp_path)) as client:
        client.handshake("2025-11-25")
        id = client.ask("tools/call", {**arguments(scene), "task": {}})["result"]["task"]["taskId"]
        assert player.reached.wait(PATIENCE)
        assert client.ask("tasks/cancel", {"taskId": id})["result"]["status"] == "cancelled"
        assert client.ask("tasks/get", {"taskId": id})["result"]["status"] == "cancelled"


@pytest.mark.parametrize("version", ["2025-06-18", "2025-03-26", "2024-11-05"])
def test_older_clients_notice_nothing(scene, tmp_path, version):
    scene.play(Hangs(scene.world.questions, 99))
    with Stdio(**scene.settings(FORAGE_DATA_DIR=tmp_path)) as client:
        assert "tasks" not in client.handshake(version)["capabilities"]
        assert not [tool for tool in client.ask("tools/list")["result"]["tools"] if "execution" in tool]
        for method in ("tasks/get", "tasks/result", "tasks/list", "tasks/cancel", "tasks/update"):
            assert client.ask(method, {"taskId": "x"})["error"]["code"] == METHOD_NOT_FOUND
        whole = client.ask("tools/call", {**arguments(scene), "task": {}})["result"]
        assert whole["structuredContent"]["report"]
