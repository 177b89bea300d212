"""The pages of clients in docs/clients: the snippet of each is read the way its client reads it, and what it names is
started and asked for its tools. The key comes to the program only in the way that the page tells."""

import json
import os
import re
import shlex
import tomllib

import pytest
from programs import FORAGE, ROOT, Stdio, run

KEY = "serper-key-of-a-reader"
# What `make install` makes of it.
INSTALLED = "/usr/local/bin/forage"
PAGES = ROOT / "docs" / "clients"
# What every snippet gives besides.
READY = {"FORAGE_TOOLS": "ready"}


def page(client):
    return (PAGES / f"{client}.md").read_text()


def snippet(client):
    """The first code block below "By hand": (language, text)."""
    section = page(client).split("## By hand\n")[1]
    block = re.search(r"^```(\w+)\n(.*?)^```$", section, re.M | re.S)
    return block[1], block[2]


# ---- each client's way to read it: the command, and the variables that it is started with ----


def codex(text, variables):
    """`env_vars` names what is handed on; everything else is kept back."""
    server = tomllib.loads(text)["mcp_servers"]["forage"]
    assert set(server) <= {"command", "args", "env", "env_vars"}
    given = {name: variables[name] for name in server["env_vars"]}
    return [server["command"], *server["args"]], {**server["env"], **given}


def from_json(servers, allowed, pattern):
    """A reader of JSON whose values may refer to a variable by the pattern."""

    def read(text, variables):
        (server,) = json.loads(text)[servers].values()
        assert set(server) <= allowed
        assert server.get("type", "stdio") == "stdio"
        given = {name: re.sub(pattern, lambda m: variables[m[1]], value) for name, value in server.get("env", {}).items()}
        assert not any("${" in value for value in given.values())
        return [server["command"], *server["args"]], given

    return read


def zed(text, variables):
    """The server gets the client's whole environment."""
    command, given = from_json("context_servers", USUAL, r"^$")(text, variables)
    assert given == READY
    return command, {**variables, **given}


def claude_desktop(text, _variables):
    """Nothing is handed on, and nothing can be referred to."""
    command, given = from_json("mcpServers", USUAL, r"^$")(text, {})
    assert given == READY
    return command, given


USUAL = {"command", "args", "env"}
DEFAULTED, DOLLAR, ENV = r"\$\{(\w+):-\}", r"\$\{(\w+)\}", r"\$\{env:(\w+)\}"
CLIENTS = {
    "claude-code": ("json", from_json("mcpServers", USUAL | {"type"}, DEFAULTED)),
    "claude-desktop": ("json", claude_desktop),
    "cursor": ("json", from_json("mcpServers", USUAL, ENV)),
    "vscode": ("json", from_json("servers", USUAL | {"type"}, ENV)),
    "codex": ("toml", codex),
    "gemini-cli": ("json", from_json("mcpServers", USUAL, DOLLAR)),
    "windsurf": ("json", from_json("mcpServers", USUAL, ENV)),
    "zed": ("json", zed),
    "cline": ("json", from_json("mcpServers", USUAL, ENV)),
}


# Pages about ways that need no entry in a client's file.
OTHER_WAYS = {"chatgpt", "links", "plugins"}


def test_every_client_has_a_page_and_a_place_in_the_readme():
    known = [one["id"] for one in json.loads(run("setup", "--json").stdout)]
    assert known == list(CLIENTS)
    assert {path.stem for path in PAGES.glob("*.md")} == {*known, *OTHER_WAYS, "README"}
    readme = (ROOT / "README.md").read_text()
    assert set(re.findall(r"docs/clients/([\w-]+)\.md", readme)) == {*known, *OTHER_WAYS, "README"}
    first, rest = re.search(r"forage-mcp setup ([a-z-]+) +# or (.+)$", readme, re.M).groups()
    assert {first, *rest.split(", ")} == set(known)


@pytest.mark.parametrize("client", CLIENTS)
def test_snippet_starts_forage_with_its_key(client, tmp_path):
    language, text = snippet(client)
    assert language == CLIENTS[client][0]
    command, variables = CLIENTS[client][1](text, {"SERPER_API_KEY": KEY})
    # `forage` is found in PATH, as it would be once it is installed.
    os.symlink(FORAGE, tmp_path / "forage")
    assert command[0] == (INSTALLED if client == "claude-desktop" else "forage")
    others = dict.fromkeys(("SERPER_API_KEY", "TAVILY_API_KEY", "BRAVE_API_KEY", "EXA_API_KEY"))
    if client == "claude-desktop":
        # The page says where the keys go instead.
        assert "`~/.config/forage/forage.env`, lines of `SERPER_API_KEY=...`" in page(client)
        path = tmp_path / ".config/forage/forage.env"
        path.parent.mkdir(parents=True)
        path.touch(0o600)
        path.write_text(f"SERPER_API_KEY={KEY}\n")
        others["HOME"] = tmp_path
    else:
        assert variables == {"SERPER_API_KEY": KEY, **READY}
    with Stdio(program=tmp_path / "forage", arguments=command[1:], **{**others, **variables}) as started:
        started.handshake()
        names = [tool["name"] for tool in started.ask("tools/list")["result"]["tools"]]
        assert {"web_search", "get_content"} <= set(names)
        result = started.ask("tools/call", {"name": "forage_status", "arguments": {}})["result"]
        status = json.loads(result["content"][0]["text"])
    (state,) = [tool for tool in status["tools"] if tool["name"] == "web_search"]
    assert state["ready"] is True, state


def test_without_the_key_web_search_is_not_ready():
    """So the check above can fail."""
    others = dict.fromkeys(("SERPER_API_KEY", "TAVILY_API_KEY", "BRAVE_API_KEY", "EXA_API_KEY"))
    with Stdio(**others) as started:
        started.handshake()
        status = started.ask("tools/call", {"name": "forage_status", "arguments": {}})["result"]["structuredContent"]
    (state,) = [tool for tool in status["tools"] if tool["name"] == "web_search"]
    assert state["ready"] is False


def test_the_command_of_claude_code():
    """`claude mcp add [options] NAME -- COMMAND` means what the snippet means."""
    words = shlex.split(re.search(r"`(claude mcp add [^`]*)`", page("claude-code"))[1])
    at = words.index("--")
    assert words[:at] == ["claude", "mcp", "add", "forage", "--scope", "user", "--env", "FORAGE_TOOLS=ready"]
    server = json.loads(snippet("claude-code")[1])["mcpServers"]["forage"]
    assert words[at + 1 :] == [server["command"], *server["args"]]
