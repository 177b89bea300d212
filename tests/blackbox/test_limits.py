"""How often a caller may use a tool: exactly, however many call at once, in as many processes as there are."""

import threading
from collections import Counter

import pytest
from conftest import ALICE, BOB, report
from http_client import Connection, exchange, request
from messages import tool_call
from programs import CONFORMANCE, Server, Stdio, run
from records import TOOL, authorization, spend, spending_server

CALLERS = {f"caller{i}": f"token-of-caller-{i:04}" for i in range(64)}
TOKENS = ",".join(f"{name}:{token}" for name, token in CALLERS.items())
TWO = f"alice:{ALICE},bob:{BOB}"


def count_answers(ports, tries):
    """Everybody calls at once, on a connection to each port; the answers of each caller by their status."""
    seen = {name: Counter() for name in CALLERS}
    ready = threading.Barrier(len(CALLERS) * len(ports))

    def call(name, token, port):
        with Connection(port) as connection:
            ready.wait()
            for _ in range(tries):
                answer = connection.exchange(
                    request("POST", f"/api/v1/tools/{TOOL}", authorization(token), {"query": "x"})
                )
                seen[name][answer.status] += 1

    threads = [threading.Thread(target=call, args=(*who, port)) for who in CALLERS.items() for port in ports]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return seen


def test_64_callers_at_once_each_pass_20_times(tmp_path):
    with spending_server(tmp_path / "data", FORAGE_TOKENS=TOKENS, FORAGE_LIMITS=f"{TOOL}=20/10m") as server:
        seen = count_answers([server.port], 25)
    assert all(counts == {200: 20, 429: 5} for counts in seen.values()), seen
    report(f"limits: {len(seen)} callers at once, 20 of 25 calls of each pass")


def test_two_servers_share_the_windows(tmp_path):
    settings = {"FORAGE_TOKENS": TOKENS, "FORAGE_LIMITS": f"{TOOL}=20/10m"}
    with spending_server(tmp_path / "data", **settings) as one, spending_server(tmp_path / "data", **settings) as two:
        seen = count_answers([one.port, two.port], 15)
    assert all(counts == {200: 20, 429: 10} for counts in seen.values()), seen
    report(f"limits: {len(seen)} callers at once at two servers, 20 of 30 calls of each pass")


def test_windows_survive_a_restart(tmp_path):
    for expected in (200, 200, 429):
        with spending_server(tmp_path / "data", FORAGE_LIMITS=f"{TOOL}=2/10m") as server:
            assert spend(server.port).status == expected


def test_a_refusal_says_when_to_come_back_and_what_is_left(tmp_path):
    with spending_server(tmp_path / "data", FORAGE_LIMITS=f"{TOOL}=1/1h") as server:
        assert spend(server.port).status == 200
        answer = spend(server.port)
        assert answer.status == 429
        seconds = int(answer.header("Retry-After"))
        assert 3500 < seconds <= 3600
        error = answer.json()["error"]
        assert error["code"] == "RATE_LIMIT"
        assert f"1 call in 1h, and none is left; try again in {seconds} seconds" in error["message"]
        assert "FORAGE_LIMITS" in error["message"]
        assert error["details"] == {
            "limit": 1, "window_s": 3600, "left": 0, "retry_after_s": seconds, "for": "caller",
        }
        result = exchange(server.port, request(body=tool_call(TOOL))).json()["result"]
        assert result["isError"] and result["structuredContent"]["error"]["code"] == "RATE_LIMIT"


def test_each_caller_has_its_own_window(tmp_path):
    with spending_server(tmp_path / "data", FORAGE_TOKENS=TWO, FORAGE_LIMITS=f"{TOOL}=1/1h") as server:
        assert [spend(server.port, token).status for token in (ALICE, ALICE, BOB, BOB)] == [200, 429, 200, 429]


def test_a_limit_for_all_callers_together(tmp_path):
    with spending_server(tmp_path / "data", FORAGE_TOKENS=TWO, FORAGE_LIMITS_TOTAL=f"{TOOL}=3/1h") as server:
        answers = [spend(server.port, token) for token in (ALICE, BOB, ALICE, BOB, ALICE)]
        assert [answer.status for answer in answers] == [200, 200, 200, 429, 429]
        assert answers[-1].json()["error"]["details"]["for"] == "all callers"
        assert "FORAGE_LIMITS_TOTAL" in answers[-1].json()["error"]["message"]


def test_a_limit_over_all_tools(tmp_path):
    with spending_server(tmp_path / "data", FORAGE_LIMITS="*=2/1h") as server:
        tools = [TOOL, "test_spend_kept", TOOL]
        assert [spend(server.port, tool=tool).status for tool in tools] == [200, 200, 429]


def test_quick_tools_have_limits_too_without_a_store(tmp_path):
    folder = tmp_path / "data"
    with spending_server(folder, FORAGE_LIMITS="test_simple_text=2/1h") as server:
        answers = [spend(server.port, tool="test_simple_text").status for _ in range(4)]
        assert answers == [200, 200, 429, 429]
        assert not folder.exists(), "nothing is opened for a quick tool"


def test_a_refused_call_is_not_run_and_not_recorded(tmp_path):
    settings = {"FORAGE_LIMITS": f"{TOOL}=1/1h", "FORAGE_HISTORY": "on"}
    with Stdio(CONFORMANCE, FORAGE_DATA_DIR=tmp_path / "data", **settings) as client:
        client.handshake()
        first = client.ask("tools/call", {"name": TOOL, "arguments": {"query": "one"}})
        second = client.ask("tools/call", {"name": TOOL, "arguments": {"query": "two"}})
        assert not first["result"].get("isError") and second["result"]["isError"]
    calls = run("history", "list", FORAGE_DATA_DIR=tmp_path / "data").stdout
    assert "one" in calls and "two" not in calls


@pytest.mark.parametrize("place", ["a missing folder", "a file", "not a database"])
def test_without_a_store_the_limit_holds_within_the_process(tmp_path, place):
    folder = {"a missing folder": tmp_path / "missing" / "data", "a file": tmp_path / "file"}.get(place, tmp_path)
    (tmp_path / "file").write_text("no folder")
    (tmp_path / "records.sqlite").write_text("This is not a database, however long one looks at it.\n" * 9)
    with spending_server(folder, FORAGE_LIMITS=f"{TOOL}=3/1h") as server:
        assert [spend(server.port).status for _ in range(5)] == [200] * 3 + [429] * 2
        _, match = server.wait_log(r"WARN .*usage and history are not kept, and limits hold within this process only: (.*)")
        assert str(folder) in match[1]
        assert server.log.text().count("are not kept") == 1


def test_wrong_limits_end_the_program():
    for name in ("FORAGE_LIMITS", "FORAGE_LIMITS_TOTAL"):
        done = run("tools", **{name: "search_web=often"})
        assert done.returncode == 2 and name in done.stderr and "search_web=often" in done.stderr


def test_a_limit_for_a_tool_that_is_not_here_is_mentioned(tmp_path):
    with Server(FORAGE_LIMITS="serch_web=5/1h", FORAGE_DATA_DIR=tmp_path) as server:
        assert 'there is no tool "serch_web"' in server.log.text()
