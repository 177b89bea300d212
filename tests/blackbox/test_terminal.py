"""The command line on a terminal: lines that fit it, words where there is nothing to show, questions before something
goes for good, and progress on one line."""

import json
import re
import time
import unicodedata

import pytest
from answering import QUESTION, fake, settings, shared_fake  # noqa: F401 (fixtures)
from fake_web import Answer, Web
from fakes.responses import SCENARIOS
from programs import run, run_on_terminal, screen
from reading import page
from records import history_of, spend, spending_server

ELLIPSIS = "…"


def columns_of(line):
    """The columns that a line takes, by Python's own tables."""
    line = re.sub(r"\033\[[\d;]*[A-Za-z]", "", line)
    return sum(
        0 if unicodedata.category(letter) in ("Mn", "Me", "Cf") else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in line
    )


def widest(text):
    return max(map(columns_of, text.splitlines()))


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """A folder with a history: short and long questions, in letters of several widths."""
    folder = tmp_path_factory.mktemp("asked") / "data"
    with spending_server(folder, FORAGE_HISTORY="on") as server:
        spend(server.port, query="short")
        spend(server.port, query="a long question " * 20)
        spend(server.port, query="面包怎么做才好吃" * 20)
        spend(server.port, query="🍞🥖" * 60)
        spend(server.port, query="to steer\033[2J a terminal \u202e and to turn it")
    return {"FORAGE_DATA_DIR": folder}


# ---- width ----

PAGES = [["help"], ["help", "web"], ["help", "memory"], ["web", "--help"], ["tools"]]
WIDTHS = [(page, width) for page in PAGES for width in (40, 64, 80, 132) if (page, width) != (["tools"], 40)]


@pytest.mark.parametrize("page, width", WIDTHS, ids=lambda value: " ".join(value) if isinstance(value, list) else value)
def test_pages_fit_the_terminal(page, width):
    shown = run_on_terminal(*page, columns=width, NO_COLOR="1")
    assert shown.returncode == 0
    # What is to be copied is not broken: usage, examples, names of tools.
    lines = [line for line in shown.stdout.splitlines() if not re.match(r"Usage:|  (forage|FORAGE)|\w+_\w+  ", line)]
    for line in lines:
        assert columns_of(line) <= width or " " not in line.strip(), line
    if page[0] == "help" and width < 96:
        assert len(lines) > len(run(*page).stdout.splitlines()) - 20
        assert widest("\n".join(lines)) > width - 20, "a line is as long as it can be"


def test_width_by_columns_and_without_a_terminal(asked):
    """COLUMNS counts for a terminal, and nothing is cut where there is none."""
    wide = run_on_terminal("history", "list", COLUMNS="70", columns=120, **asked)
    assert widest(wide.stdout) <= 70
    piped = run("history", "list", COLUMNS="70", **asked)
    assert ELLIPSIS not in piped.stdout and "a long question " * 19 in piped.stdout


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_the_history_fits_the_terminal(asked, width):
    shown = run_on_terminal("history", "list", columns=width, **asked)
    assert shown.returncode == 0 and len(shown.stdout.splitlines()) == 5
    assert width - 2 < widest(shown.stdout) <= width
    assert shown.stdout.count(ELLIPSIS) == (3 if width >= 80 else 4)
    assert "\033" not in shown.stdout and "\u202e" not in shown.stdout, "words of others do not steer"


def test_usage_fits_the_terminal(asked):
    narrow, wide = (run_on_terminal("usage", columns=width, **asked).stdout for width in (72, 120))
    assert widest(narrow) <= 72 and widest(wide) <= 120
    assert "█" in wide and "█" not in narrow, "the bar goes first"
    assert "test_spend" in narrow and "test_spend" in wide


@pytest.mark.parametrize("words", ["The oven runs hot & needs care. ", "烤箱太热 需要小心 ", "🍞🥖 bread "])
def test_previews_of_memories_fit_the_terminal(tmp_path, words):
    own = {"FORAGE_DATA_DIR": tmp_path}
    for key in ("ofen", "烤箱"):
        assert run("memory", "add", "--key", key, "oven " + words * 12, **own).returncode == 0
    for command in (["list"], ["search", "oven"], ["fulltext", "oven"]):
        shown = run_on_terminal("memory", *command, columns=50, **own)
        assert shown.returncode == 0 and "烤箱" in shown.stdout, shown.stderr
        assert 40 < widest(shown.stdout) <= 50, command
        assert widest(run("memory", *command, **own).stdout) > 50, "elsewhere nothing is cut or broken"


# ---- nothing to show ----


def test_an_empty_history_says_so_and_why(tmp_path):
    settings = {"FORAGE_DATA_DIR": tmp_path / "data"}
    for runner in (run, run_on_terminal):
        off = runner("history", "list", **settings)
        assert off.returncode == 0 and off.stdout == ""
        assert "no calls of local" in off.stderr and "FORAGE_HISTORY=on" in off.stderr
        on = runner("history", "list", FORAGE_HISTORY="on", **settings)
        assert on.returncode == 0 and on.stdout == ""
        assert "no calls of local" in on.stderr and "FORAGE_HISTORY" not in on.stderr
    assert json.loads(run("history", "list", "--json", **settings).stdout) == {"calls": []}


def test_empty_usage_says_so(tmp_path):
    empty = run("usage", FORAGE_DATA_DIR=tmp_path / "data")
    assert empty.returncode == 0 and empty.stdout == "" and "no calls in the last 7 days" in empty.stderr
    some = run("usage", "--days", "30", "--caller", "bob", FORAGE_DATA_DIR=tmp_path / "data")
    assert "no calls of bob in the last 30 days" in some.stderr


# ---- asking before something goes ----


@pytest.fixture
def kept(tmp_path):
    folder = tmp_path / "data"
    with spending_server(folder, FORAGE_HISTORY="on") as server:
        spend(server.port, query="a matter")
    return folder


@pytest.mark.parametrize("answer", ["n\n", "\n", "yesterday\n", "\x04", "y\n", "YES\n"])
def test_wiping_asks_on_a_terminal(kept, answer):
    shown = run_on_terminal("history", "wipe", typed=answer, FORAGE_DATA_DIR=kept)
    assert "Delete all that local asked, for good? [y/N]" in shown.stdout
    if answer.strip().lower() in ("y", "yes"):
        assert shown.returncode == 0 and "is gone: 1 calls" in shown.stdout and history_of(kept) == []
    else:
        assert shown.returncode == 1 and "Nothing was deleted." in shown.stdout and len(history_of(kept)) == 1


def test_wiping_without_a_terminal_wants_yes(kept):
    refused = run("history", "wipe", FORAGE_DATA_DIR=kept)
    assert refused.returncode == 1 and "--yes" in refused.stderr and len(history_of(kept)) == 1
    for runner in (run, run_on_terminal):
        done = runner("history", "wipe", "--yes", FORAGE_DATA_DIR=kept)
        assert done.returncode == 0 and "[y/N]" not in done.stdout
    assert history_of(kept) == []


# ---- progress ----

LOG_LINE = r"\d{4}-\d\d-\d\dT\S+ (ERROR|WARN |INFO |DEBUG) .*"


def drawn(shown):
    """What each drawing of the line of progress showed."""
    return [part for part in re.split(r"\r\033\[K", shown)[1:] if part]


def test_an_answer_has_one_line_of_progress(settings, fake):
    fake.play("rate_limited_second", "normal")
    shown = run_on_terminal("answer", QUESTION, columns=24, **settings)
    assert shown.returncode == 0 and "It rains today." in shown.stdout
    assert "asking gpt-5-nano" in drawn(shown.stderr)
    assert all(columns_of(line) < 24 for line in drawn(shown.stderr)), "the cursor stays in its line"
    assert screen(shown.stderr) == [], "nothing is left"


def test_the_line_of_progress_tells_the_time(settings, fake):
    def late():
        time.sleep(3.6)
        return SCENARIOS["normal"]()

    fake.play(late)
    shown = run_on_terminal("answer", QUESTION, **settings)
    assert shown.returncode == 0
    times = {line.removeprefix("asking gpt-5-nano") for line in drawn(shown.stderr)}
    assert times - {""} and all(re.fullmatch(r"( \(([2-9]|\d\d) s\))?", told) for told in times), "once in a line"
    assert screen(shown.stderr) == []


def test_errors_stand_on_lines_of_their_own(settings, fake):
    fake.play("unauthorized")
    shown = run_on_terminal("answer", QUESTION, **settings)
    (line,) = screen(shown.stderr)
    assert shown.returncode == 1 and line.startswith("forage: ") and "asking gpt-5-nano" in drawn(shown.stderr)
    # What the operator wished for comes between, and mixes with nothing.
    fake.play("status_500", "normal")
    shown = run_on_terminal("answer", QUESTION, FORAGE_LOG_LEVEL="debug", **settings)
    assert shown.returncode == 0 and screen(shown.stderr) and "asking gpt-5-nano again" in shown.stderr
    for line in screen(shown.stderr):
        assert re.fullmatch(LOG_LINE, line), line


def test_a_call_has_one_line_of_progress(tmp_path):
    with Web() as web:
        web.answers["/page"] = Answer(page())
        own = {"FORAGE_ALLOW_PRIVATE_HOSTS": web.host, "FORAGE_CACHE_TTL": 0, "FORAGE_DATA_DIR": tmp_path}
        shown = run_on_terminal("call", "get_content", f"url={web.url('/page')}", **own)
        assert json.loads(shown.stdout)["success"] is True
        assert "reading 127.0.0.1" in drawn(shown.stderr) and screen(shown.stderr) == []
        shown = run_on_terminal("call", "get_content", f"url={web.url('/page')}", TERM="dumb", **own)
        assert "\033" not in shown.stderr and "reading" not in shown.stderr, "a terminal that can do nothing"
        piped = run("call", "get_content", f"url={web.url('/page')}", **own)
        assert "INFO  req=" in piped.stderr, "elsewhere the log is as it is everywhere"
