"""Answers that FORAGE_HISTORY keeps on the disk: the same question of the command line within five minutes is not paid for
twice, though each run is a process of its own; and nothing else is ever given in its place."""

import contextlib
import json
import re
import sqlite3
import time

import pytest
from answering import QUESTION, ask, fake, shared_fake  # noqa: F401 (fixtures)
from conftest import ALICE
from fakes.responses import KEY, Responses
from postgres import postgres  # noqa: F401 (a fixture)
from programs import Server, Stdio, run, run_on_terminal, screen
from records import get, history_of, usage_of

KEPT = r"forage: this answer is of (a moment|\d+ seconds) ago \(FORAGE_HISTORY keeps it\); --again asks anew\n"
RAIN = "It rains today."


@pytest.fixture(params=["sqlite", "postgresql"])
def stored(request, fake, tmp_path):  # noqa: F811
    """Settings with which answers are kept."""
    own = {"FORAGE_DATA_DIR": tmp_path / "data"}
    if request.param == "postgresql":
        own["FORAGE_DATABASE_URL"] = request.getfixturevalue("postgres").database()
    return {
        "OPENAI_BASE_URL": fake.base_url,
        "OPENAI_API_KEY": KEY,
        "FORAGE_LIMITS": "search_web=100000/10m",
        "FORAGE_HISTORY": "on",
        **own,
    }


def answer(*arguments, question=QUESTION, **settings):
    done = run("answer", question, *arguments, **settings)
    assert done.returncode == 0 and RAIN in done.stdout, done.stderr
    return done


def files_hold(folder, words):
    return [path.name for path in folder.iterdir() if words in path.read_bytes()]


def answers_in(stored):
    """How many the file holds."""
    with contextlib.closing(sqlite3.connect(stored["FORAGE_DATA_DIR"] / "records.sqlite")) as records:
        return records.execute("SELECT count(*) FROM answers").fetchone()[0]


def test_the_same_question_is_asked_once(stored, fake):  # noqa: F811
    first = answer(**stored)
    assert first.stderr == ""
    for question in (QUESTION, QUESTION.upper(), f"  {QUESTION.replace(' ', '   ')} "):
        again = answer(question=question, **stored)
        assert again.stdout == first.stdout and re.fullmatch(KEPT, again.stderr)
    assert len(fake.requests) == 1
    usage = json.loads(run("usage", "--json", **stored).stdout)
    (row,) = usage["rows"]
    assert (row["calls"], row["cached"], row["failures"]) == (4, 3, 0)
    once = fake_usage(stored, fake)
    assert (row["input_tokens"], row["output_tokens"], row["usd"]) == once, "it is paid for once"
    # Any way to ask, as the same caller.
    called = run("call", "search_web", f"query={QUESTION}", FORAGE_LOG_LEVEL="warn", **stored)
    assert json.loads(called.stdout)["success"] is True and re.fullmatch(KEPT, called.stderr)
    assert len(fake.requests) == 1


def fake_usage(stored, fake):  # noqa: F811
    """What one call costs, of a caller with records of its own."""
    other = {**stored, "FORAGE_DATA_DIR": stored["FORAGE_DATA_DIR"].parent / "other", "FORAGE_DATABASE_URL": None}
    before = len(fake.requests)
    answer(**other)
    del fake.requests[before:]
    total = json.loads(run("usage", "--json", **other).stdout)["total"]
    return total["input_tokens"], total["output_tokens"], total["usd"]


def test_again_asks_anew_and_keeps_that(stored, fake):  # noqa: F811
    answer(**stored)
    assert answer("--again", **stored).stderr == "" and len(fake.requests) == 2
    assert re.fullmatch(KEPT, answer(**stored).stderr) and len(fake.requests) == 2
    arguments = ["call", "search_web", f"query={QUESTION}"]
    for count, more in ((2, []), (3, ["--again"]), (3, [])):
        assert run(*arguments, *more, **stored).returncode == 0 and len(fake.requests) == count


def test_on_a_terminal_it_says_so_on_a_line_of_its_own(stored, fake):  # noqa: F811
    answer(**stored)
    shown = run_on_terminal("answer", QUESTION, **stored)
    (line,) = screen(shown.stderr)
    assert re.fullmatch(KEPT, line + "\n") and RAIN in shown.stdout and len(fake.requests) == 1


DIFFERENT = [
    (["--max", "3"], {}),
    (["--fresh", "24"], {}),
    (["--region", "de"], {}),
    ([], {"question": "Does it rain tomorrow?"}),
    ([], {"FORAGE_ANSWER_MODEL": "gpt-5-mini"}),
    ([], {"FORAGE_ANSWER_MAX_TOKENS": "9000"}),
    ([], {"FORAGE_GUARDRAILS": "strict"}),
    ([], {"FORAGE_MAX_RESULT_CHARS": "9000"}),
    ([], {"FORAGE_ANSWER_CACHE_TTL": "0"}),
    ([], {"FORAGE_HISTORY": "off"}),
]


@pytest.mark.parametrize("stored", ["sqlite"], indirect=True)
@pytest.mark.parametrize("arguments, different", DIFFERENT, ids=str)
def test_nothing_else_is_given_in_its_place(stored, fake, arguments, different):  # noqa: F811
    answer(**stored)
    other = answer(*arguments, **{**stored, **different})
    assert len(fake.requests) == 2 and "--again" not in other.stderr


@pytest.mark.parametrize("stored", ["sqlite"], indirect=True)
def test_another_service_is_asked(stored, fake):  # noqa: F811
    answer(**stored)
    with Responses() as other:
        answer(**{**stored, "OPENAI_BASE_URL": other.base_url})
        assert len(other.requests) == 1


@pytest.mark.parametrize("stored", ["sqlite"], indirect=True)
def test_rules_that_came_later_hold(stored, fake, tmp_path):  # noqa: F811
    rules = tmp_path / "rules.json"
    snow, rain = ({"name": word, "server": "weather", "about": "the weather", "any": [word]} for word in ("snow", "rain"))
    rules.write_text(json.dumps({"rules": [snow]}))
    for count in (1, 1):
        answer(**stored, FORAGE_GUARDRAILS=rules)
        assert len(fake.requests) == count
    rules.write_text(json.dumps({"rules": [snow, rain]}))
    with Stdio(**stored, FORAGE_GUARDRAILS=rules) as agent:
        agent.handshake()
        refused = agent.ask("tools/call", {"name": "search_web", "arguments": {"query": QUESTION}})["result"]
        assert refused["isError"] and "weather MCP server" in refused["content"][0]["text"]


def test_after_a_wipe_there_is_none(stored, fake):  # noqa: F811
    answer(**stored)
    wiped = run("history", "wipe", "--yes", **stored)
    assert wiped.returncode == 0 and "1 calls" in wiped.stdout
    if "FORAGE_DATABASE_URL" not in stored:
        assert files_hold(stored["FORAGE_DATA_DIR"], RAIN.encode()) == [], "nor does the file hold it"
    assert answer(**stored).stderr == "" and len(fake.requests) == 2


@pytest.mark.parametrize("stored", ["sqlite"], indirect=True)
def test_a_running_server_forgets_what_its_caller_wipes(stored, fake):  # noqa: F811
    with Server(**stored, FORAGE_TOKENS=f"alice:{ALICE}") as server:
        headers = {"Authorization": f"Bearer {ALICE}"}
        for count in (1, 1):
            assert ask(server, headers=headers).status == 200 and len(fake.requests) == count
        assert get(server.port, "/api/v1/history", ALICE, "DELETE").json() == {"wiped": 2}
        assert ask(server, headers=headers).status == 200 and len(fake.requests) == 2


def test_nobody_gets_the_answer_of_another(stored, fake):  # noqa: F811
    with Server(**stored, FORAGE_TOKENS=f"alice:{ALICE}") as server:
        headers = {"Authorization": f"Bearer {ALICE}"}
        assert ask(server, headers=headers).status == 200 and len(fake.requests) == 1
    assert answer(**stored).stderr == "" and len(fake.requests) == 2
    with Server(**stored, FORAGE_TOKENS=f"alice:{ALICE}") as server:
        assert ask(server, headers=headers).status == 200 and len(fake.requests) == 3, "callers with tokens keep none"


@pytest.mark.parametrize("stored", ["sqlite"], indirect=True)
def test_clients_on_this_machine_are_the_same_caller(stored, fake):  # noqa: F811
    arguments = {"name": "search_web", "arguments": {"query": QUESTION}}
    for _ in range(2):
        with Stdio(**stored) as client:
            client.handshake()
            assert client.ask("tools/call", arguments)["result"]["structuredContent"]["success"] is True
    assert len(fake.requests) == 1


@pytest.mark.parametrize("stored", ["sqlite"], indirect=True)
def test_without_a_history_the_disk_holds_none(stored, fake):  # noqa: F811
    """But what a later question could follow on, unless that is off too."""
    for _ in range(2):
        assert answer(**{**stored, "FORAGE_HISTORY": None, "FORAGE_FOLLOW_UPS": "off"}).stderr == ""
    assert len(fake.requests) == 2
    assert files_hold(stored["FORAGE_DATA_DIR"], RAIN.encode()) == []


@pytest.mark.parametrize("stored", ["sqlite"], indirect=True)
def test_switching_the_history_off_takes_them_away(stored, fake):  # noqa: F811
    answer(**stored)
    assert answers_in(stored) == 1
    answer(question="Does it rain in Rome?", **{**stored, "FORAGE_HISTORY": None})
    assert answers_in(stored) == 0
    assert answer(**stored).stderr == "" and len(fake.requests) == 3


def test_an_answer_goes_when_its_time_is_over(stored, fake):  # noqa: F811
    short = {**stored, "FORAGE_ANSWER_CACHE_TTL": "1"}
    answer(**short)
    time.sleep(1.1)
    assert answer(question="Does it rain in Rome?", **short).stderr == ""
    assert "FORAGE_DATABASE_URL" in stored or answers_in(stored) == 1, "the older one is gone"
    assert answer(**short).stderr == "" and len(fake.requests) == 3
    assert len(history_of(stored["FORAGE_DATA_DIR"])) == (3 if "FORAGE_DATABASE_URL" not in stored else 0)


@pytest.mark.parametrize("stored", ["sqlite"], indirect=True)
def test_what_failed_is_asked_again(stored, fake):  # noqa: F811
    fake.play("refusal", "normal")
    assert run("answer", QUESTION, **stored).returncode == 1
    assert answer(**stored).stderr == "" and len(fake.requests) == 2
    assert usage_of(stored["FORAGE_DATA_DIR"])["total"]["cached"] == 0


@pytest.mark.parametrize("stored", ["sqlite"], indirect=True)
def test_without_records_the_question_is_asked(stored, fake, tmp_path):  # noqa: F811
    """A database that cannot be opened costs nothing but what it would have saved."""
    (tmp_path / "file").write_text("not a folder")
    broken = {**stored, "FORAGE_DATA_DIR": tmp_path / "file"}
    for count in (1, 2):
        assert RAIN in run("answer", QUESTION, **broken).stdout and len(fake.requests) == count
