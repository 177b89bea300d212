"""What was used and asked: counted, priced, kept across restarts, shown to whom it belongs and to nobody else."""

import json
import os
import re
import stat

import pytest
from conftest import ALICE, BOB
from programs import CONFORMANCE, Stdio, run
from records import TOOL, command, get, history_of, spend, spending_server, usage_of

TWO = f"alice:{ALICE},bob:{BOB}"
NANO = {"model": "gpt-5-nano", "input_tokens": 1000, "output_tokens": 500}  # 0.00025 dollars
SEARCH = {"service": "openai_web_search", "requests": 1}  # 0.01 dollars


# ---- usage ----


def test_calls_tokens_and_money_are_summed_for_each_caller_and_tool(tmp_path):
    folder = tmp_path / "data"
    with spending_server(folder, FORAGE_TOKENS=TWO) as server:
        spend(server.port, ALICE, **NANO, **SEARCH)
        spend(server.port, ALICE, **NANO, fail="no luck")
        spend(server.port, BOB, tool="test_spend_kept", **NANO)
        mine = get(server.port, "/api/v1/usage", ALICE).json()
    (row,) = mine["rows"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", row.pop("day"))
    assert row.pop("usd") == pytest.approx(0.0105)
    assert row == {
        "caller": "alice", "tool": TOOL, "calls": 2, "failures": 1, "cached": 0,
        "input_tokens": 2000, "output_tokens": 1000, "unpriced": 0,
    }
    everybody = usage_of(folder)
    assert [(row["caller"], row["tool"]) for row in everybody["rows"]] == [("alice", TOOL), ("bob", "test_spend_kept")]
    assert everybody["total"]["calls"] == 3
    assert usage_of(folder)["total"]["usd"] == pytest.approx(0.01075)


def test_usage_is_kept_across_restarts(tmp_path):
    for calls in (1, 2, 3):
        with spending_server(tmp_path / "data") as server:
            spend(server.port, **NANO)
            assert get(server.port, "/api/v1/usage").json()["total"]["calls"] == calls


def test_stdio_counts_too(tmp_path):
    with Stdio(CONFORMANCE, FORAGE_DATA_DIR=tmp_path / "data") as client:
        client.handshake()
        client.ask("tools/call", {"name": TOOL, "arguments": NANO})
    assert usage_of(tmp_path / "data")["rows"][0]["caller"] == "local"


def test_quick_tools_and_wrong_arguments_are_not_counted(tmp_path):
    with spending_server(tmp_path / "data") as server:
        spend(server.port, tool="test_simple_text")
        assert spend(server.port, nonsense=1).status == 400
        assert not (tmp_path / "data").exists(), "nothing is opened before it is needed"


def test_the_table_for_people(tmp_path):
    with spending_server(tmp_path / "data") as server:
        for _ in range(4):
            spend(server.port, **NANO, **SEARCH)
        spend(server.port, tool="test_spend_kept", model="nobody-knows-it", input_tokens=5)
    head, first, second, total, note = command(tmp_path / "data", "usage").splitlines()
    assert head.split() == ["day", "(UTC)", "caller", "tool", "calls", "failed", "tokens", "in", "out", "USD"]
    assert first.split()[1:] == ["local", TOOL, "4", "-", "4,000", "2,000", "0.0410", "█" * 12]
    assert second.split() == ["local", "test_spend_kept", "1", "-", "5", "-", "-", "███"]
    assert total.split() == ["total", "5", "-", "4,005", "2,000", "0.0410"]
    assert "Without a price: 1 uses" in note
    nobody = run("usage", "--caller", "nobody", FORAGE_DATA_DIR=tmp_path / "data")
    assert nobody.returncode == 0 and nobody.stdout == ""
    assert "no calls of nobody in the last 7 days" in nobody.stderr


def test_prices_of_ones_own(tmp_path):
    prices = tmp_path / "prices.json"
    prices.write_text(json.dumps({"models": {"gpt-5-nano": {"input": 1000, "output": 0}}}))
    with spending_server(tmp_path / "data", FORAGE_PRICES=prices) as server:
        spend(server.port, **NANO, **SEARCH)
    assert usage_of(tmp_path / "data")["total"]["usd"] == pytest.approx(1.01)
    prices.write_text('{"models": {"gpt-5-nano": 3}}')
    done = run("tools", FORAGE_PRICES=prices)
    assert done.returncode == 2 and "FORAGE_PRICES" in done.stderr


@pytest.mark.parametrize("path", ["usage?days=0", "usage?days=x", "usage?days=401", "history?limit=0", "history?before=-1"])
def test_wrong_questions_over_rest(tmp_path, path):
    with spending_server(tmp_path / "data") as server:
        answer = get(server.port, "/api/v1/" + path)
        assert answer.status == 400 and answer.json()["error"]["code"] == "VALIDATION"


def test_records_that_cannot_be_read_are_an_error(tmp_path):
    with spending_server(tmp_path / "missing" / "data") as server:
        answer = get(server.port, "/api/v1/usage")
        assert answer.status == 503 and "FORAGE_DATA_DIR" in answer.json()["error"]["message"]
    done = run("usage", FORAGE_DATA_DIR=tmp_path / "missing" / "data")
    assert done.returncode == 1 and "FORAGE_DATA_DIR" in done.stderr


# ---- the budget ----


def test_the_budget_warns_and_then_refuses(tmp_path):
    with spending_server(tmp_path / "data", FORAGE_TOKENS=TWO, FORAGE_DAILY_BUDGET_USD="0.05") as server:
        for _ in range(3):
            assert spend(server.port, ALICE, **SEARCH).status == 200
        assert "budget" not in server.log.text()
        assert spend(server.port, ALICE, **SEARCH).status == 200
        server.wait_log(r"WARN .*budget: alice spent \$0\.0400 of \$0\.05 today \(FORAGE_DAILY_BUDGET_USD\)")
        assert spend(server.port, ALICE, **SEARCH).status == 200
        answer = spend(server.port, ALICE, **SEARCH)
        assert answer.status == 429
        error = answer.json()["error"]
        assert error["code"] == "RATE_LIMIT" and "$0.0500 of $0.05" in error["message"]
        assert "FORAGE_DAILY_BUDGET_USD" in error["message"]
        assert 0 < int(answer.header("Retry-After")) <= 86400
        assert error["details"]["left"] == 0
        # It is alice's alone, and only for what costs money.
        assert spend(server.port, BOB, **SEARCH).status == 200
        assert spend(server.port, ALICE, tool="test_simple_text").status == 200
    assert server.log.text().count("budget: ") == 1
    with spending_server(tmp_path / "data", FORAGE_TOKENS=TWO, FORAGE_DAILY_BUDGET_USD="0.05") as server:
        assert spend(server.port, ALICE, **SEARCH).status == 429, "a restart brings no money"


def test_a_budget_for_all_callers_together(tmp_path):
    settings = {"FORAGE_TOKENS": TWO, "FORAGE_DAILY_BUDGET_TOTAL_USD": "0.02"}
    with spending_server(tmp_path / "data", **settings) as one, spending_server(tmp_path / "data", **settings) as two:
        assert spend(one.port, ALICE, **SEARCH).status == 200
        assert spend(two.port, BOB, **SEARCH).status == 200
        answer = spend(one.port, BOB, **SEARCH)
        assert answer.status == 429 and "FORAGE_DAILY_BUDGET_TOTAL_USD" in answer.json()["error"]["message"]


def test_a_budget_holds_without_a_store(tmp_path):
    with spending_server(tmp_path / "missing" / "data", FORAGE_DAILY_BUDGET_USD="0.02") as server:
        assert [spend(server.port, **SEARCH).status for _ in range(3)] == [200, 200, 429]


@pytest.mark.parametrize("amount", ["much", "-1", "1e99", "nan", "5 dollars"])
def test_a_budget_that_is_no_amount(amount):
    done = run("tools", FORAGE_DAILY_BUDGET_USD=amount)
    assert done.returncode == 2 and "FORAGE_DAILY_BUDGET_USD" in done.stderr


# ---- history ----


def test_without_being_asked_nothing_is_kept(tmp_path):
    with spending_server(tmp_path / "data") as server:
        spend(server.port, query="a private matter")
    assert history_of(tmp_path / "data") == []
    for path in (tmp_path / "data").iterdir():
        assert b"private matter" not in path.read_bytes()


def test_history_is_listed_exported_and_wiped_by_its_owner(tmp_path):
    folder = tmp_path / "data"
    with spending_server(folder, FORAGE_TOKENS=TWO, FORAGE_HISTORY="on") as server:
        for number in range(5):
            spend(server.port, ALICE, query=f"alice {number}", **NANO)
        spend(server.port, BOB, query="bob's own", fail="no luck")
        page = get(server.port, "/api/v1/history?limit=2", ALICE).json()
        assert [call["arguments"]["query"] for call in page["calls"]] == ["alice 4", "alice 3"]
        rest = get(server.port, f"/api/v1/history?limit=9&before={page['next']}", ALICE).json()
        assert [call["arguments"]["query"] for call in rest["calls"]] == ["alice 2", "alice 1", "alice 0"]
        assert "next" not in rest
        (call,) = get(server.port, "/api/v1/history", BOB).json()["calls"]
        assert call["error"] == "PROVIDER" and call["tool"] == TOOL and call["usd"] == 0
        assert get(server.port, "/api/v1/history", ALICE, "DELETE").json() == {"wiped": 5}
        assert get(server.port, "/api/v1/history", ALICE).json() == {"calls": []}
        assert len(get(server.port, "/api/v1/history", BOB).json()["calls"]) == 1
        assert get(server.port, "/api/v1/usage", ALICE).json()["total"]["calls"] == 5, "sums are not history"
    assert [call["arguments"]["query"] for call in history_of(folder, "bob")] == ["bob's own"]
    assert re.search(r"^ *\d+  \d{4}-\S+  test_spend +PROVIDER +bob's own$", command(folder, "history", "list", "--caller", "bob"), re.M)
    assert command(folder, "history", "wipe", "--yes", "--caller", "bob") == "The history of bob is gone: 1 calls.\n"
    assert history_of(folder, "bob") == []


def test_no_secret_enters_the_history(tmp_path):
    with spending_server(tmp_path / "data", FORAGE_TOKENS=TWO, FORAGE_HISTORY="on", GITHUB_TOKEN="key-0123456789") as server:
        spend(server.port, ALICE, query="what is key-0123456789 good for")
    (call,) = history_of(tmp_path / "data", "alice")
    assert call["arguments"]["query"] == "what is [redacted] good for"


def test_long_arguments_are_cut(tmp_path):
    with spending_server(tmp_path / "data", FORAGE_HISTORY="on") as server:
        spend(server.port, query="ä" * 5000)
    (call,) = history_of(tmp_path / "data")
    assert call["arguments"] == {"cut": "ä" * 500}


def test_records_are_their_owners_file(tmp_path):
    with spending_server(tmp_path / "data") as server:
        spend(server.port)
        assert stat.S_IMODE(os.stat(tmp_path / "data").st_mode) == 0o700
        for path in (tmp_path / "data").iterdir():
            assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("arguments", [["history"], ["history", "burn"], ["history", "list", "x"], ["history", "list", "--limit", "0"], ["usage", "--days", "0"], ["usage", "x"]])
def test_wrong_commands(arguments):
    assert run(*arguments).returncode == 2


# ---- the log ----


def test_the_log_has_a_keyed_hash_of_the_query_and_never_the_query(tmp_path):
    hashes = []
    for folder in ("data", "data", "other"):
        with spending_server(tmp_path / folder) as server:
            spend(server.port, query="where do swallows winter", **NANO)
            _, match = server.wait_log(
                r"tool=test_spend caller=local status=ok ms=\d+\.\d+ query=([0-9a-f]{16}) "
                r"provider=gpt-5-nano requests=0 tokens=1000\+500$"
            )
            assert "swallows" not in server.log.text()
            hashes.append(match[1])
    assert hashes[0] == hashes[1], "processes that share a store can be compared"
    assert hashes[0] != hashes[2], "others cannot"


# ---- kept answers ----


def ask(server, token=None, **arguments):
    return spend(server.port, token, "test_spend_kept", **arguments).json()["request"]


def test_the_same_question_gets_the_same_answer(tmp_path):
    with spending_server(tmp_path / "data", FORAGE_TOKENS=TWO) as server:
        first = ask(server, ALICE, query="Rust vs C", **NANO)
        assert ask(server, ALICE, query="  rust   VS c ", **NANO) == first
        assert ask(server, ALICE, query="rust vs c", model="gpt-5") != first
        assert ask(server, BOB, query="Rust vs C", **NANO) != first, "nothing of one caller reaches another"
        row = get(server.port, "/api/v1/usage", ALICE).json()["rows"][0]
        assert (row["calls"], row["cached"], row["input_tokens"]) == (3, 1, 1000)
        server.wait_log(r"tool=test_spend_kept .* kept=yes")


def test_what_is_not_kept(tmp_path):
    with spending_server(tmp_path / "data") as server:
        assert ask(server, query="x", private="yes") != ask(server, query="x", private="yes")
        for _ in range(2):
            failed = spend(server.port, tool="test_spend_kept", query="x", fail="no luck")
            assert failed.status == 502
        assert usage_of(tmp_path / "data")["total"]["cached"] == 0
        assert spend(server.port, query="x").json()["request"] != spend(server.port, query="x").json()["request"]
    with spending_server(tmp_path / "data", FORAGE_ANSWER_CACHE_TTL="0") as server:
        assert ask(server, query="x") != ask(server, query="x")
    with spending_server(tmp_path / "data", FORAGE_ANSWER_CACHE_TTL="1ms") as server:
        assert ask(server, query="x") != ask(server, query="x")


def test_kept_answers_count_against_the_limit(tmp_path):
    with spending_server(tmp_path / "data", FORAGE_LIMITS="test_spend_kept=2/1h") as server:
        answers = [spend(server.port, tool="test_spend_kept", query="x").status for _ in range(3)]
        assert answers == [200, 200, 429]
