"""The offer of open search: `forage web` and `forage setup` ask a person on a terminal who has no key of a search provider
whether sources that need none may be used. Programs are never asked, and nothing is sent before a yes."""

import json
import tomllib

import pytest
from open_search import shared_open_world, world  # noqa: F401 (fixtures)
from programs import run, run_on_terminal
from searching import KEYS

NO_KEYS = {**dict.fromkeys(KEYS), "SEARXNG_BASE_URL": None, "XDG_CONFIG_HOME": None, "XDG_DATA_HOME": None}
SETTING = "FORAGE_SEARCH_PROVIDERS=open\n"

# ---- forage web ----

QUESTION = "Use them from now on"


@pytest.fixture
def keyless(world, tmp_path):  # noqa: F811
    """A home without keys; open sources are fakes, of which one finds something."""
    world["parallel"].hits = world.pages(2)
    settings = world.settings("parallel", FORAGE_SEARCH_PROVIDERS=None, FORAGE_SEARCH_MERGE=None)
    return {**settings, **NO_KEYS, "HOME": tmp_path}


def test_a_search_without_a_provider_asks_once(keyless, world, tmp_path):  # noqa: F811
    shown = run_on_terminal("web", "loaves", typed="y\n", columns=70, **keyless)
    assert shown.returncode == 0, shown.stderr
    for words in ("the web: DuckDuckGo", "Parallel", "Wikipedia"):
        assert words in shown.stdout, "who would get the queries"
    assert QUESTION in shown.stdout and "Title 0" in shown.stdout
    assert max(map(len, shown.stdout.split(QUESTION)[0].splitlines())) <= 70
    file = tmp_path / ".config/forage/forage.env"
    assert file.read_text() == SETTING and f"{file}" in shown.stdout
    assert file.stat().st_mode & 0o777 == 0o600 and file.parent.stat().st_mode & 0o777 == 0o700
    # It holds from now on, wherever forage runs.
    for runner in (run, run_on_terminal):
        again = runner("web", "loaves again", **keyless)
        assert again.returncode == 0 and QUESTION not in again.stdout and "Title 0" in again.stdout


@pytest.mark.parametrize("answer", ["n\n", "\n", "\x04"])
def test_a_search_without_a_provider_fails_after_a_no(keyless, world, tmp_path, answer):  # noqa: F811
    shown = run_on_terminal("web", "loaves", typed=answer, **keyless)
    assert shown.returncode == 1 and QUESTION in shown.stdout
    for way in ("SERPER_API_KEY", "TAVILY_API_KEY", "FORAGE_SEARCH_PROVIDERS=open"):
        assert way in shown.stderr
    assert not (tmp_path / ".config").exists() and world.searches() == {}


def test_a_search_without_a_provider_asks_nobody_elsewhere(keyless, world, tmp_path):  # noqa: F811
    """Without a terminal, for JSON, by another command, or where somebody has decided already."""
    decided = {**keyless, "FORAGE_SEARCH_PROVIDERS": "serper"}
    calls = [
        run("web", "loaves", stdin=b"y\n", **keyless),
        run_on_terminal("web", "loaves", **keyless),
        run_on_terminal("web", "loaves", "--json", typed="y\n", **keyless),
        run_on_terminal("call", "web_search", "query=loaves", typed="y\n", **keyless),
        run_on_terminal("web", "loaves", typed="y\n", **decided),
    ]
    for shown in calls:
        assert shown.returncode == 1 and QUESTION not in shown.stdout
        assert "FORAGE_SEARCH_PROVIDERS=open" in shown.stdout + shown.stderr
    assert not (tmp_path / ".config").exists() and world.searches() == {}


def test_a_yes_is_added_to_the_settings_that_are_there(keyless, tmp_path):
    file = tmp_path / "own.env"
    file.write_text("# mine\nFORAGE_LOG_LEVEL=warn")
    file.chmod(0o640)
    shown = run_on_terminal("web", "loaves", typed="yes\n", FORAGE_CONFIG=file, **keyless)
    assert shown.returncode == 0 and "Title 0" in shown.stdout
    assert file.read_text() == "# mine\nFORAGE_LOG_LEVEL=warn\n" + SETTING
    assert file.stat().st_mode & 0o777 == 0o640


def test_a_yes_that_cannot_be_written_holds_for_this_search(keyless):
    shown = run_on_terminal("web", "loaves", typed="y\n", **{**keyless, "HOME": "/proc/nonexistent"})
    assert shown.returncode == 0 and "Title 0" in shown.stdout
    assert "the answer holds for this search alone" in shown.stderr


# ---- forage setup ----

OFFER = "Let web search use them?"


@pytest.fixture
def home(tmp_path):
    """Of somebody who uses Cursor."""
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".cursor/mcp.json").write_text("{}\n")
    return tmp_path


def variables_of(home):
    return json.loads((home / ".cursor/mcp.json").read_text())["mcpServers"]["forage"]["env"]


def set_up(home, *arguments, typed=None, **settings):
    runner = run if typed is None else run_on_terminal
    more = {} if typed is None else {"typed": typed}
    return runner("setup", *arguments, **more, **{**NO_KEYS, "HOME": home, **settings})


@pytest.mark.parametrize("answer, expected", [("y", "open"), ("", None), ("n", None)])
def test_setup_asks_where_there_is_no_key(answer, expected, home):
    shown = set_up(home, "cursor", typed=f"{answer}\ny\n")
    asked, change = shown.stdout.split(OFFER)
    assert "No search provider has a key here" in asked
    assert "the web: " in asked and "Wikipedia" in asked, "whoever is asked knows who would get the queries"
    assert ('"FORAGE_SEARCH_PROVIDERS": "open"' in change) == (expected is not None), "the change is shown whole"
    assert shown.returncode == 0 and variables_of(home).get("FORAGE_SEARCH_PROVIDERS") == expected
    assert ("asks open sources" in change) == (expected is not None)
    assert ("setup cursor --open" in change) == (expected is None)


def test_setup_asks_once(home):
    """What was decided stays, and goes with the entry."""
    assert set_up(home, "cursor", typed="y\ny\n").returncode == 0
    again = set_up(home, "cursor", typed="")
    assert again.returncode == 0 and OFFER not in again.stdout and "has forage already" in again.stdout
    assert set_up(home, "cursor", "--undo", "--yes").returncode == 0
    assert (home / ".cursor/mcp.json").read_text() == "{}\n"


@pytest.mark.parametrize(
    "arguments, settings, file",
    [
        ((), {"BRAVE_API_KEY": "a-key-of-brave-0123456789"}, ""),
        (("--keys", "EXA_API_KEY"), {}, ""),
        ((), {}, "SERPER_API_KEY=a-key-of-serper-0123456789\n"),
        ((), {}, SETTING),
        ((), {"FORAGE_SEARCH_PROVIDERS": "serper"}, ""),
        (("--no-open",), {}, ""),
        (("--scope", "project"), {}, ""),
        (("--http", "https://forage.example.org/mcp"), {}, ""),
    ],
)
def test_setup_does_not_ask_otherwise(arguments, settings, file, home):
    (home / ".config/forage").mkdir(parents=True)
    (home / ".config/forage/forage.env").write_text(file)
    (home / ".config/forage/forage.env").chmod(0o600)
    shown = set_up(home, "cursor", *arguments, typed="n\n\x04", **settings)
    assert "Write this?" in shown.stdout and shown.returncode == 1
    assert OFFER not in shown.stdout and "FORAGE_SEARCH_PROVIDERS" not in shown.stdout


@pytest.mark.parametrize("arguments, expected", [((), None), (("--open",), "open"), (("--no-open",), None)])
def test_setup_without_a_terminal(arguments, expected, home):
    done = set_up(home, "cursor", "--yes", *arguments)
    assert done.returncode == 0 and OFFER not in done.stdout
    assert variables_of(home).get("FORAGE_SEARCH_PROVIDERS") == expected
    printed = tomllib.loads(set_up(home, "codex", "--print", *arguments).stdout)
    assert printed["mcp_servers"]["forage"]["env"].get("FORAGE_SEARCH_PROVIDERS") == expected


def test_setup_beside_a_key_where_it_is_asked_for(home):
    settings = {"SERPER_API_KEY": "a-key-of-serper-0123456789"}
    assert set_up(home, "cursor", "--open", "--yes", **settings).returncode == 0
    assert variables_of(home)["FORAGE_SEARCH_PROVIDERS"] == "open" and "SERPER_API_KEY" in variables_of(home)


# ---- what programs are told ----


def test_the_status_names_both_ways(tmp_path):
    def web_search(**settings):
        status = run("call", "forage_status", FORAGE_DATA_DIR=tmp_path, **{**NO_KEYS, **settings})
        return next(tool for tool in json.loads(status.stdout)["tools"] if tool["name"] == "web_search")

    lacking = web_search()
    assert not lacking["ready"] and "SERPER_API_KEY" in lacking["lacks"] and SETTING.strip() in lacking["lacks"]
    assert web_search(FORAGE_SEARCH_PROVIDERS="open")["ready"]
