"""The command line: what a person or a script sees."""

import json
import os
import re
import subprocess

import pytest
from http_client import exchange, request
from messages import call
from programs import FORAGE, ROOT, Program, environment, run, run_on_terminal
from test_models import NO_KEYS

COMMANDS = ["mcp", "serve", "call", "tools", "config", "read", "version"]
PARTED = ("memory", "history")
SECRET = "alice:hush-hush-0123456789"


def lines(*messages):
    return "".join(json.dumps(message) + "\n" for message in messages).encode()


# ---- help ----


@pytest.mark.parametrize("word", ["--help", "-h", "help"])
def test_help(word):
    completed = run(word)
    assert completed.returncode == 0 and completed.stderr == ""
    for command in COMMANDS:
        assert re.search(rf"^  {command}\b", completed.stdout, re.M)
    assert "Exit codes" in completed.stdout


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("word", ["--help", "-h"])
def test_help_of_a_command(command, word):
    completed = run(command, word)
    assert completed.returncode == 0 and completed.stderr == ""
    assert completed.stdout.startswith(f"Usage: forage {command}")


def test_without_a_command():
    """Help, but on stderr: nothing was asked for."""
    completed = run()
    assert completed.returncode == 2 and completed.stdout == "" and "forage serve" in completed.stderr


@pytest.mark.parametrize("word", ["version", "--version"])
def test_version(word):
    completed = run(word)
    assert completed.returncode == 0 and re.fullmatch(r"forage \d+\.\d+\.\d+\S*\n", completed.stdout)


@pytest.mark.parametrize("path", [["memory", "add"], ["history", "wipe"], ["web"]])
def test_help_of_a_path(path):
    expected = run("help", *path).stdout
    assert expected.startswith(f"Usage: forage {' '.join(path)}")
    assert run(*path, "--help").stdout == expected


@pytest.mark.parametrize("command, part", [("memory", "add"), ("history", "wipe")])
def test_help_after_a_command_that_has_parts(command, part):
    assert run(command, "help").stdout == run("help", command).stdout != ""
    assert run(command, "help", part).stdout == run("help", command, part).stdout != ""
    asked = run(command, "help", "nothing")
    assert asked.returncode == 2 and f'there is no command "{command} nothing"' in asked.stderr
    deeper = run("help", "web", "nothing")
    assert deeper.returncode == 2 and 'there is no command "web nothing"' in deeper.stderr


def every_command():
    """The paths of all commands, as the program itself names them."""
    names = run("completions", "line", "--", "").stdout.splitlines()
    for name in (line.split("\t")[0] for line in names):
        yield [name]
        for part in run("completions", "line", "--", name, "").stdout.splitlines() if name in PARTED else []:
            yield [name, part.split("\t")[0]]


def test_every_help_is_a_page_that_fits():
    paths = list(every_command())
    assert len(paths) > 20
    for path in [[], *paths]:
        completed = run("help", *path)
        assert completed.returncode == 0 and completed.stderr == ""
        for line in completed.stdout.splitlines():
            assert len(line) <= 100 and line == line.rstrip(), (path, line)


def test_what_is_asked_for_is_declared():
    """A command that asks for an option that it does not declare ends the program: none may."""
    table = (ROOT / "src/cli/commands.c").read_text()
    declared = set(re.findall(r'"(--[a-z-]+)"', table))
    for source in (ROOT / "src/cli").glob("*.c"):
        asked = re.findall(r'option_(?:given|text|number)\(\s*[\w>&-]+,\s*"(--[a-z-]+)"', source.read_text())
        assert set(asked) <= declared, source


NEAREST = [
    (["web", "--reslts", "3"], "--results"),
    (["memory", "add", "--tag=x"], "--tags"),
    (["serve", "--prot", "80"], "--port"),
    (["serv"], "serve"),
    (["memory", "serch", "x"], "search"),
    (["memory", "help", "serch"], "search"),
    (["help", "serv"], "serve"),
    (["help", "memory", "serch"], "search"),
    (["tools", "web_serch"], "web_search"),
    (["call", "web_serch"], "web_search"),
]


@pytest.mark.parametrize("arguments, meant", NEAREST, ids=lambda value: " ".join(value))
def test_what_was_probably_meant(arguments, meant):
    completed = run(*arguments)
    assert completed.returncode == 2 and f"{meant} is meant?" in completed.stderr


def test_options_stand_anywhere_before_two_dashes(tmp_path):
    path = write_file(tmp_path / "forage.env", "FORAGE_TOOLS=-all\n")
    for arguments in (["--config", path, "tools"], ["tools", f"--config={path}"], ["tools", "--config", path]):
        assert run(*arguments).stdout == "", arguments
    completed = run("tools", "--", "--config")
    assert completed.returncode == 2 and "there is no tool" in completed.stderr


# ---- what a person sees: colour and progress ----

ESCAPE = "\033["
COLOURS = [
    ({}, [], True, True),
    ({}, [], False, False),
    ({"NO_COLOR": "1"}, [], True, False),
    ({"NO_COLOR": ""}, [], True, True),  # as no-color.org has it: set, and not empty
    ({"TERM": "dumb"}, [], True, False),
    ({"FORCE_COLOR": "1"}, [], False, True),
    ({"CLICOLOR_FORCE": "1"}, [], False, True),
    ({"FORCE_COLOR": "0"}, [], False, False),
    ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, [], True, False),
    ({"NO_COLOR": "1"}, ["--color=always"], False, True),
    ({"FORCE_COLOR": "1"}, ["--color", "never"], True, False),
    ({"TERM": "dumb"}, ["--color=auto"], True, False),
]


@pytest.mark.parametrize("settings, arguments, terminal, coloured", COLOURS)
def test_colour(settings, arguments, terminal, coloured):
    shown = (run_on_terminal if terminal else run)("help", *arguments, **settings)
    assert shown.returncode == 0 and (ESCAPE in shown.stdout) == coloured
    plain = re.sub(r"\033\[\d*m", "", shown.stdout)
    assert plain == run("help").stdout


def test_progress_only_on_a_terminal(tmp_path):
    """A bar that is overwritten, and taken away at the end."""
    memories = write_file(tmp_path / "memories", "".join(f'{{"text": "memory {n}"}}\n' for n in range(10)))
    settings = {"FORAGE_DATA_DIR": tmp_path / "data"}
    shown = run_on_terminal("memory", "import", memories, **settings)
    assert shown.returncode == 0 and "10 memories" in shown.stdout
    assert "\r\033[K[" in shown.stderr and shown.stderr.endswith("\r\033[K")
    for silent in (run("memory", "import", memories, **settings),
                   run_on_terminal("memory", "import", memories, TERM="dumb", **settings)):
        assert silent.returncode == 0 and silent.stderr == ""


# ---- wrong arguments: exit code 2, a word of explanation, a hint ----

WRONG = [
    (["nothing"], "nothing"),
    (["Serve"], "Serve"),
    (["--nothing"], "--nothing"),
    (["mcp", "more"], "more"),
    (["serve", "more"], "more"),
    (["serve", "--port"], "--port needs a value"),
    (["serve", "--host"], "--host needs a value"),
    (["serve", "--prot", "80"], "--prot"),
    (["call"], "call needs TOOL"),
    (["call", "no_such_tool"], "no_such_tool"),
    (["call", "forage_status", "word"], "word"),
    (["call", "forage_status", "=value"], "=value"),
    (["call", "forage_status", "tool:=nothing"], "tool"),
    (["call", "forage_status", "--json"], "--json needs a value"),
    (["call", "forage_status", "--json", "[]"], "--json"),
    (["call", "forage_status", "--json", "{"], "--json"),
    (["call", "forage_status", "tool=a", "tool=b"], "tool"),
    (["tools", "no_such_tool"], "no_such_tool"),
    (["tools", "one", "two"], "two"),
    (["tools", "--markdown"], "--markdown"),
    (["config", "more"], "more"),
    (["config", "--json", "--markdown"], "exclude"),
    (["version", "more"], "more"),
    (["tools", "--config"], "--config needs a value"),
]
COMMANDS = {"mcp", "serve", "call", "tools", "config", "version"}


@pytest.mark.parametrize(
    "arguments, naming", WRONG, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_wrong_arguments(arguments, naming):
    completed = run(*arguments)
    assert completed.returncode == 2 and completed.stdout == ""
    help_of = f"help {arguments[0]}" if arguments[0] in COMMANDS else "--help"
    assert naming in completed.stderr and f"Try `forage {help_of}`." in completed.stderr


HINTS = [
    (["memory"], "memory needs one of its commands", "help memory"),
    (["memory", "serch", "bread"], "search is meant", "help memory"),
    (["memory", "get"], "get needs KEY", "help memory get"),
    (["setup", "codx"], "codex", "help setup"),
    (["setup", "codex", "--dry-run"], "--dry-run", "help setup"),
    (["help", "raed"], "read is meant", "--help"),
]


@pytest.mark.parametrize("arguments, naming, help_of", HINTS, ids=lambda value: value[-1] if isinstance(value, list) else "")
def test_wrong_arguments_name_the_help_of_their_command(arguments, naming, help_of):
    completed = run(*arguments)
    assert completed.returncode == 2 and completed.stdout == ""
    assert naming in completed.stderr and completed.stderr.endswith(f"\nTry `forage {help_of}`.\n")


# ---- wrong settings: exit code 2, naming the variable, what came and what is allowed ----

WRONG_SETTINGS = [
    ("MCP_SERVER_PORT", "http", "65535"),
    ("MCP_SERVER_PORT", "-1", "65535"),
    ("MCP_SERVER_PORT", "65536", "65535"),
    ("FORAGE_WORKERS", "0", "1024"),
    ("FORAGE_WORKERS", "99999999999999999999", "1024"),
    ("FORAGE_LOG_LEVEL", "loud", "debug"),
    ("FORAGE_TRUST_PROXY", "perhaps", "no address or range"),
    ("FORAGE_HISTORY", "perhaps", "true or false"),
    ("FORAGE_REACTORS", "17", "16"),
    ("KINDLY_TOOL_TOTAL_TIMEOUT_SECONDS", "soon", ""),
    ("KINDLY_NODRIVER_RETRY_ATTEMPTS", "0", ""),
    ("KINDLY_NODRIVER_RETRY_BACKOFF_SECONDS", "-1", ""),
    ("FORAGE_CALLS_PER_MINUTE", "-5", ""),
    ("FORAGE_TOOLS", "no_such_tool", "no_such_tool"),
    ("FORAGE_TOKENS", "nonsense", "name:token"),
    ("FORAGE_TOKENS", "local:token-of-nobody", "the name local"),
]


@pytest.mark.parametrize("name, value, allowed", WRONG_SETTINGS)
def test_wrong_settings(name, value, allowed):
    for command in (["serve"], ["mcp"], ["tools"], ["call", "forage_status"]):
        completed = run(*command, **{"MCP_SERVER_PORT": 0, name: value})
        assert completed.returncode == 2 and completed.stdout == "", command
        assert name in completed.stderr and allowed in completed.stderr


def test_every_wrong_setting_is_named_at_once():
    completed = run("tools", FORAGE_WORKERS="x", FORAGE_LOG_LEVEL="y")
    assert "FORAGE_WORKERS" in completed.stderr and "FORAGE_LOG_LEVEL" in completed.stderr


def test_options_are_settings():
    completed = run("serve", "--port", "99999")
    assert (
        completed.returncode == 2
        and "FORAGE_PORT" in completed.stderr
        and "command line" in completed.stderr
    )
    completed = run("serve", "--host=0.0.0.0", "--port=0")
    assert completed.returncode == 2 and "FORAGE_HOST" in completed.stderr


def test_mistyped_variable_is_noticed():
    completed = run("tools", FORAGE_WORKER="5")
    assert completed.returncode == 0
    assert "FORAGE_WORKER" in completed.stderr and "FORAGE_WORKERS" in completed.stderr


# ---- call ----


def test_call():
    completed = run("call", "forage_status")
    assert completed.returncode == 0
    assert json.loads(completed.stdout)["success"] is True


@pytest.mark.parametrize(
    "arguments",
    [
        ["tool=forage_status"],
        ['tool:="forage_status"'],
        ["--json", '{"tool":"forage_status"}'],
        ['--json={"tool":"forage_status"}'],
    ],
)
def test_call_with_arguments(arguments):
    completed = run("call", "forage_status", *arguments)
    assert completed.returncode == 0, completed.stderr
    assert [tool["name"] for tool in json.loads(completed.stdout)["tools"]] == ["forage_status"]


@pytest.mark.parametrize(
    "arguments, naming",
    [
        (["tool:=5"], "tool"),
        (["tool=="], "="),
        (["tool="], "tool"),
        (["tool=5"], "5"),
        (["other=x"], "other"),
        (["--json", '{"tool":"nothing"}'], "nothing"),
    ],
)
def test_call_that_fails(arguments, naming):
    """The answer is still an answer, on stdout; the exit code tells."""
    completed = run("call", "forage_status", *arguments)
    assert completed.returncode == 1
    error = json.loads(completed.stdout)["error"]
    assert error["code"] == "VALIDATION" and naming in error["message"]


@pytest.mark.parametrize("object", ['{"tool": "forage_status"}', '{"tool": "a=b"}'])
def test_call_with_an_object_in_the_wrong_place(object):
    """Those who know MCP write the arguments as JSON: they are told where."""
    completed = run("call", "forage_status", object)
    assert completed.returncode == 2 and "--json" in completed.stderr


def test_call_of_a_tool_that_is_switched_off():
    completed = run("call", "forage_status", FORAGE_TOOLS="-forage_status")
    assert completed.returncode == 2 and "forage_status" in completed.stderr


@pytest.mark.parametrize("command", [["call", "forage_status"], ["tools"], ["config"]], ids=" ".join)
def test_output_that_cannot_be_written(command):
    with open("/dev/full", "wb") as full:
        completed = subprocess.run(
            [FORAGE, *command],
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment({}),
            timeout=60,
            check=False,
        )
    assert completed.returncode == 1 and b"could not be written" in completed.stderr


# ---- tools ----


def test_tools():
    completed = run("tools")
    assert completed.returncode == 0
    assert re.search(r"^forage_status +server +ready +\S", completed.stdout, re.M)


def test_tools_as_json():
    """The same as tools/list, but for what that tells clients of sizes."""
    over_mcp = json.loads(run("mcp", stdin=lines(call("tools/list"))).stdout)["result"]["tools"]
    for tool in over_mcp:
        tool.pop("_meta", None)
    assert json.loads(run("tools", "--json").stdout) == over_mcp


def test_one_tool():
    definition = json.loads(run("tools", "forage_status", "--json").stdout)
    assert definition["name"] == "forage_status" and "inputSchema" in definition


def test_one_tool_for_people():
    """A page, with all that one needs to call it; every tool has one."""
    text = run("tools", "web_search", SERPER_API_KEY=None, TAVILY_API_KEY=None, SEARXNG_BASE_URL=None, BRAVE_API_KEY=None,
               EXA_API_KEY=None).stdout
    assert text.startswith("web_search: Search the web\n") and "{" not in text.split("Parameters")[0]
    assert re.search(r"^lacks: .*SERPER_API_KEY", text, re.M) and "forage.env" in text
    assert re.search(r"^name +type +default +meaning$", text, re.M)
    assert re.search(r"^num_results +integer +3 +How many .*\(1 to 20\)$", text, re.M)
    assert re.search(r"^forage call web_search query='.*'$", text, re.M)
    assert "docs/tools/web_search.md" in text and "--json" in text
    for tool in json.loads(run("tools", "--json").stdout):
        shown = run("tools", tool["name"])
        assert shown.returncode == 0 and shown.stdout.startswith(tool["name"] + ": ") and shown.stderr == ""
        assert all(re.search(rf"^{name} ", shown.stdout, re.M) for name in tool["inputSchema"]["properties"])
    assert "\nready\n" in run("tools", "forage_status").stdout
    assert re.search(r"^key +string +\(needed\) ", run("tools", "memory_update").stdout, re.M)


def test_page_of_a_tool():
    text = run("tools", "forage_status", "--markdown").stdout
    assert "# forage_status" in text and "| `tool` | string |" in text


def test_no_tools_at_all():
    completed = run("tools", FORAGE_TOOLS="-all")
    assert completed.returncode == 0 and completed.stdout == ""
    assert json.loads(run("tools", "--json", FORAGE_TOOLS="-all").stdout) == []


# ---- config ----


def settings(*arguments, **variables):
    completed = run("config", "--json", *arguments, **variables)
    assert completed.returncode == 0, completed.stderr
    document = json.loads(completed.stdout)
    return {one["name"]: one for one in document["variables"]}, document["file"]


def test_config_defaults():
    variables, file = settings()
    assert file is None
    assert (
        variables["FORAGE_PORT"]["value"] == 3000 and variables["FORAGE_PORT"]["origin"] == "default"
    )
    assert variables["FORAGE_WORKERS"]["value"] == 128
    text = run("config").stdout
    assert all(name in text for name in variables)


# Names that users of earlier servers have in their files: what each is without being set, and one value of it.
OLDER_NAMES = {
    "GEMINI_MODEL": ("gemini-2.5-flash", "some/model"),
    "FIRECRAWL_API_KEY": (None, "fc-0123456789"),
    "FIRECRAWL_API_URL": (None, "http://127.0.0.1:9"),
    "GEMINI_SEARCH_TIMEOUT": (300, "2000"),
    "GEMINI_SYSTEM_PROMPT": (None, "Study {topic}."),
    "GEMINI_SEARCH_CONFIG_DIR": (None, "/some/where"),
    "DEBUG": (False, "true"),
    "MCP_SERVER_PORT": (3000, "3001"),
    "MCP_SERVER_HOST": ("127.0.0.1", "127.0.0.2"),
    "PROGRESS_LOG_INTERVAL": (30, "1000"),
    "JSON_MAX_RETRIES": (3, "5"),
    "GEMINI_CLI_MAX_ITERATIONS": (10, "7"),
    "KINDLY_NODRIVER_RETRY_ATTEMPTS": (3, "4"),
    "KINDLY_NODRIVER_RETRY_BACKOFF_SECONDS": (0.5, "0.2"),
    "KINDLY_BROWSER_EXECUTABLE_PATH": (None, "/bin/true"),
    "KINDLY_TOOL_TOTAL_TIMEOUT_SECONDS": (50, "20"),
}


@pytest.mark.parametrize("name", OLDER_NAMES)
def test_older_names_and_what_holds_without_them(name):
    default, value = OLDER_NAMES[name]
    unset, _ = settings(**{name: None})
    given, _ = settings(**{name: value})
    (ours,) = [one for one, about in given.items() if name in (one, about.get("name_used"))]
    assert given[ours]["origin"] == "environment" and unset[ours]["value"] == default
    example = (ROOT / ".env.example").read_text()
    assert re.search(rf"^(#{name}=|# Also (.* )?{name}\b)", example, re.M)


def test_a_file_in_the_working_directory_is_not_read(tmp_path):
    """A client starts the program wherever it happens to be."""
    write_file(tmp_path / ".env", "MCP_SERVER_PORT=4711\n")
    assert "4711" not in run("config", "--json", cwd=tmp_path).stdout


def test_papers_of_the_repository():
    assert (ROOT / "LICENSE").read_text().startswith("MIT License\n")
    assert "`make test`" in (ROOT / "CONTRIBUTING.md").read_text()


def test_config_shows_which_of_two_names_counts():
    """Names of the servers that forage stands in for still work; a name of forage's own wins."""
    variables, _ = settings(KINDLY_MCP_CONTEXT="codex")
    assert variables["FORAGE_CONTEXT"]["value"] == "codex"
    assert variables["FORAGE_CONTEXT"]["name_used"] == "KINDLY_MCP_CONTEXT"
    assert "name_ignored" not in variables["FORAGE_CONTEXT"]
    variables, _ = settings(KINDLY_MCP_CONTEXT="codex", FORAGE_CONTEXT="zed")
    assert variables["FORAGE_CONTEXT"]["value"] == "zed"
    assert variables["FORAGE_CONTEXT"]["name_used"] == "FORAGE_CONTEXT"
    assert variables["FORAGE_CONTEXT"]["name_ignored"] == "KINDLY_MCP_CONTEXT"
    text = run("config", KINDLY_MCP_CONTEXT="codex", GEMINI_SEARCH_TIMEOUT="2000").stdout
    assert "codex  (environment, as KINDLY_MCP_CONTEXT)" in text
    assert "2s  (environment, as GEMINI_SEARCH_TIMEOUT)" in text
    completed = run("config", KINDLY_MCP_CONTEXT="codex", FORAGE_CONTEXT="zed")
    assert "zed  (environment; KINDLY_MCP_CONTEXT is set too and ignored)" in completed.stdout
    assert "KINDLY_MCP_CONTEXT is ignored, since FORAGE_CONTEXT is set too" in completed.stderr
    assert "codex" not in completed.stdout


def test_config_masks_secrets():
    for arguments in (["config"], ["config", "--json"]):
        completed = run(*arguments, FORAGE_TOKENS=SECRET)
        assert "hush" not in completed.stdout + completed.stderr
        assert "FORAGE_TOKENS" in completed.stdout
    variables, _ = settings(FORAGE_TOKENS=SECRET)
    assert (
        variables["FORAGE_TOKENS"]["secret"] is True and variables["FORAGE_TOKENS"]["origin"] == "environment"
    )


def write_file(path, text):
    path.write_text(text)
    path.chmod(0o600)
    return path


def test_config_file(tmp_path):
    path = write_file(
        tmp_path / "forage.env",
        "# a comment\n\nFORAGE_WORKERS=7\nexport MCP_SERVER_PORT = 4000\nFORAGE_LOG_LEVEL='warn'\n"
        f'FORAGE_TOKENS="{SECRET}"\n',
    )
    for variables, file in (
        settings("--config", path),
        settings(f"--config={path}"),
        settings(FORAGE_CONFIG=path),
    ):
        assert file == str(path)
        assert variables["FORAGE_WORKERS"]["value"] == 7
        assert variables["FORAGE_WORKERS"]["origin"] == f"{path}:3"
        assert variables["FORAGE_PORT"]["value"] == 4000
        assert variables["FORAGE_LOG_LEVEL"]["value"] == "warn"
        assert "hush" not in json.dumps(variables)


def test_config_file_of_the_user(tmp_path):
    home = tmp_path / "home"
    (home / ".config" / "forage").mkdir(parents=True)
    path = write_file(home / ".config" / "forage" / "forage.env", "FORAGE_WORKERS=7\n")
    assert settings(HOME=home)[1] == str(path)
    other = tmp_path / "xdg"
    (other / "forage").mkdir(parents=True)
    path = write_file(other / "forage" / "forage.env", "FORAGE_WORKERS=8\n")
    variables, file = settings(HOME=home, XDG_CONFIG_HOME=other)
    assert file == str(path) and variables["FORAGE_WORKERS"]["value"] == 8


def test_environment_wins_over_the_file(tmp_path):
    path = write_file(tmp_path / "forage.env", "FORAGE_WORKERS=7\nMCP_SERVER_PORT=4000\n")
    variables, _ = settings("--config", path, FORAGE_WORKERS="9")
    assert (
        variables["FORAGE_WORKERS"]["value"] == 9 and variables["FORAGE_WORKERS"]["origin"] == "environment"
    )
    assert variables["FORAGE_PORT"]["value"] == 4000


@pytest.mark.parametrize(
    "text, naming",
    [
        ("FORAGE_WORKERS=x\n", ["FORAGE_WORKERS", ":1"]),
        ("\nnonsense\n", ["line 2"]),
        ("\n\n=5\n", ["line 3"]),
        ("FORAGE_WORKERS='5\n", ["line 1"]),
        ("\0", ["line 1"]),
        ("FORAGE_TOKENS=alice:\xff\xfe\n", ["line 1"]),
    ],
)
def test_wrong_config_file(tmp_path, text, naming):
    path = tmp_path / "forage.env"
    path.write_bytes(text.encode("latin-1"))
    path.chmod(0o600)
    completed = run("tools", "--config", path)
    assert completed.returncode == 2 and completed.stdout == ""
    assert all(word in completed.stderr for word in [str(path), *naming]), completed.stderr


def test_setting_that_stands_twice(tmp_path):
    """The last one holds, and the operator is told."""
    path = write_file(tmp_path / "forage.env", "FORAGE_WORKERS=5\nFORAGE_WORKERS=6\n")
    assert settings("--config", path)[0]["FORAGE_WORKERS"]["value"] == 6
    assert f"{path}:2" in run("tools", "--config", path).stderr


def test_missing_config_file(tmp_path):
    completed = run("tools", "--config", tmp_path / "missing")
    assert completed.returncode == 2 and str(tmp_path / "missing") in completed.stderr
    completed = run("tools", "--config", tmp_path)
    assert completed.returncode == 2, "a folder is no file"


def test_huge_config_file(tmp_path):
    path = write_file(tmp_path / "forage.env", "# " + "x" * 300_000 + "\n")
    completed = run("tools", "--config", path)
    assert completed.returncode == 2 and str(path) in completed.stderr


def test_config_file_that_others_can_read(tmp_path):
    path = write_file(tmp_path / "forage.env", f"FORAGE_TOKENS={SECRET}\n")
    path.chmod(0o644)
    completed = run("tools", "--config", path)
    assert completed.returncode == 0 and str(path) in completed.stderr and "hush" not in completed.stderr


def test_documents_made_from_the_table():
    example = run("config", "--env-example").stdout
    page = run("config", "--markdown").stdout
    for name in settings()[0]:
        assert f"`{name}`" in page
        assert re.search(rf"^#{name}=", example, re.M) or name == "FORAGE_CONFIG"


def test_example_is_a_good_file(tmp_path):
    path = write_file(tmp_path / "forage.env", run("config", "--env-example").stdout)
    assert run("tools", "--config", path).returncode == 0
    # Each line that it offers, switched on by itself, is accepted as well.
    for line in re.findall(r"^#([A-Z_]+=.*)$", path.read_text(), re.M):
        name = line.partition("=")[0]
        if name in ("FORAGE_TOKENS_FILE", "FORAGE_CONFIG", "FORAGE_TOOLS", "FORAGE_PRICES", "FORAGE_EXPERIMENTS"):
            continue  # they name what is not there
        one = write_file(tmp_path / "one.env", line + "\n")
        completed = run("tools", "--config", one)
        if name == "FORAGE_TOKENS":  # everybody knows this one
            assert completed.returncode == 2 and "the example of the documentation" in completed.stderr
        else:
            assert completed.returncode == 0, (line, completed.stderr)


# ---- mcp and serve ----


def test_mcp_in_a_pipe():
    completed = run("mcp", stdin=lines(call("ping"), call("tools/list", id=2)))
    assert completed.returncode == 0
    assert [json.loads(line)["id"] for line in completed.stdout.splitlines()] == [1, 2]


def test_mcp_with_files(tmp_path):
    (tmp_path / "in").write_bytes(lines(call("ping"), call("tools/list", id=2)))
    with open(tmp_path / "in", "rb") as questions, open(tmp_path / "out", "wb") as answers:
        arguments = {"stdin": questions, "stdout": answers, "env": environment({})}
        assert subprocess.run([FORAGE, "mcp"], timeout=60, check=False, **arguments).returncode == 0
    assert [json.loads(line)["id"] for line in (tmp_path / "out").read_text().splitlines()] == [1, 2]


def test_mcp_says_nothing_by_itself():
    completed = run("mcp", FORAGE_TOOLS="-research")
    assert completed.returncode == 0 and completed.stdout == "" and completed.stderr == ""


def test_mcp_warns_of_a_missing_worker():
    """Where the research tools are offered; it is no reason to stop, nor to make the worker's folder."""
    completed = run("mcp", **NO_KEYS, PATH="/proc/nonexistent")
    assert completed.returncode == 0 and completed.stdout == ""
    (line,) = completed.stderr.splitlines()
    assert " WARN " in line and "npm install -g @google/gemini-cli" in line


def test_serve_options():
    with Program(["serve", "--host", "127.0.0.1", "--port=0"]) as server:
        _, match = server.wait_log(r"serves http://127\.0\.0\.1:(\d+) ")
        assert exchange(int(match[1]), request("GET", "/health")).status == 200


# ---- the other names ----


def named(tmp_path, name):
    path = tmp_path / name
    os.symlink(FORAGE, path)
    return str(path)


def test_gemini_search_mcp(tmp_path):
    completed = run(program=named(tmp_path, "gemini-search-mcp"), stdin=lines(call("ping")))
    assert completed.returncode == 0 and json.loads(completed.stdout)["result"] == {}


def test_gemini_search_mcp_http(tmp_path):
    with Program([], named(tmp_path, "gemini-search-mcp-http"), MCP_SERVER_PORT=0) as server:
        _, match = server.wait_log(r"serves http://127\.0\.0\.1:(\d+) ")
        assert exchange(int(match[1]), request(body=call("ping"))).json()["result"] == {}


@pytest.mark.parametrize("given, said", [({}, 3600), ({"FORAGE_CALL_PATIENCE": "20s"}, 20)])
def test_gemini_search_mcp_waits_for_the_end(tmp_path, given, said):
    """Its clients know no jobs, so research answers with its result; a setting wins."""
    path = write_file(tmp_path / "forage.env", "".join(f"{name}={value}\n" for name, value in given.items()))
    with Program([], named(tmp_path, "gemini-search-mcp-http"), MCP_SERVER_PORT=0, FORAGE_CONFIG=path) as server:
        _, match = server.wait_log(r"serves http://127\.0\.0\.1:(\d+) ")
        told = exchange(int(match[1]), request("GET", "/api/v1/setup")).json()["settings"]["variables"]
    (patience,) = [setting for setting in told if setting["name"] == "FORAGE_CALL_PATIENCE"]
    assert patience["value"] == said, patience


@pytest.mark.parametrize(
    "arguments, context, chars",
    [
        (["start-mcp-server"], None, 60000),
        (["start-mcp-server", "--context", "codex"], "codex", 32000),
        (["start-mcp-server", "--context=claude-code"], "claude-code", 45000),
        (["start-mcp-server", "--context", "codex", "--"], "codex", 32000),
        (["start-mcp-server", "--", "--context", "codex"], "codex", 32000),
        (["start-mcp-server", "--context", "nobody-knows"], "nobody-knows", 60000),
    ],
)
def test_kindly(tmp_path, arguments, context, chars):
    program = named(tmp_path, "kindly-web-search-mcp-server")
    completed = run(*arguments, program=program, stdin=lines(call("tools/call", {"name": "forage_status"})))
    assert completed.returncode == 0, completed.stderr
    status = json.loads(json.loads(completed.stdout)["result"]["content"][0]["text"])
    assert status.get("context") == context
    assert status["result_chars"] == chars
    assert ("no client that is known" in status.get("result_chars_reason", "")) == (context == "nobody-knows")


def test_kindly_forwards_arguments(tmp_path):
    path = write_file(tmp_path / "forage.env", "FORAGE_TOOLS=-all\n")
    program = named(tmp_path, "kindly-web-search-mcp-server")
    forwarded = ["start-mcp-server", "--context", "codex", "--", "--config", path]
    completed = run(*forwarded, program=program, stdin=lines(call("tools/list")))
    assert json.loads(completed.stdout)["result"]["tools"] == []


@pytest.mark.parametrize("arguments", [[], ["serve"], ["start-mcp-server", "--", "nonsense"]])
def test_kindly_with_wrong_arguments(tmp_path, arguments):
    completed = run(*arguments, program=named(tmp_path, "kindly-web-search-mcp-server"))
    assert completed.returncode == 2 and completed.stdout == "" and completed.stderr


@pytest.mark.parametrize(
    "name", ["gemini-search-mcp", "gemini-search-mcp-http", "kindly-web-search-mcp-server"]
)
def test_help_of_other_names(tmp_path, name):
    completed = run("--help", program=named(tmp_path, name))
    assert completed.returncode == 0 and completed.stdout.startswith("Usage: ")


def test_the_name_of_the_package(tmp_path):
    """`npx forage-mcp` and `uvx forage-mcp` start the server; with arguments it is forage."""
    program = named(tmp_path, "forage-mcp")
    completed = run(program=program, stdin=lines(call("ping")))
    assert completed.returncode == 0 and json.loads(completed.stdout)["result"] == {}
    completed = run("version", program=program)
    assert completed.returncode == 0 and completed.stdout.startswith("forage ")
    completed = run("--help", program=program)
    assert completed.returncode == 0 and "forage serve" in completed.stdout


def test_any_other_name_is_forage(tmp_path):
    completed = run("version", program=named(tmp_path, "something-else"))
    assert completed.returncode == 0 and completed.stdout.startswith("forage ")
