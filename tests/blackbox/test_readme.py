"""The snippets for clients in docs/clients/by-hand.md: each is read the way its client reads it, and what it names is started and
asked for its tools. The key comes to the program through the snippet alone."""

import json
import os
import re
import shlex
import tomllib

import pytest
from programs import FORAGE, ROOT, Stdio

KEY = "serper-key-of-a-reader"
# What `make install` makes of it.
INSTALLED = "/usr/local/bin/forage"


def snippets():
    """The first code block below each heading of "In your client": {client: (language, text)}."""
    section = re.search(r"^## In your client\n(.*?)^## ", (ROOT / "docs/clients/by-hand.md").read_text(), re.M | re.S)[1]
    parts = re.split(r"^### (.+)\n", section, flags=re.M)[1:]
    blocks = (re.search(r"^```(\w+)\n(.*?)^```$", part, re.M | re.S) for part in parts[1::2])
    return {name: (block[1], block[2]) for name, block in zip(parts[::2], blocks, strict=True)}


# ---- each client's way to read it: the command, and the variables that it is started with ----


def codex(text, variables):
    """`env_vars` names what is handed on; everything else is kept back."""
    server = tomllib.loads(text)["mcp_servers"]["forage"]
    assert set(server) <= {"command", "args", "env", "env_vars"}
    return [server["command"], *server["args"]], {name: variables[name] for name in server["env_vars"]}


def claude_code(text, variables):
    """`claude mcp add [options] NAME -- COMMAND`, after the shell."""
    words = shlex.split(re.sub(r"\$(\w+)", lambda match: variables[match[1]], text))
    assert words[:3] == ["claude", "mcp", "add"]
    at = words.index("--")
    options, name, command = words[3 : at - 1], words[at - 1], words[at + 1 :]
    assert name == "forage"
    given = dict(zip(options[::2], options[1::2], strict=True))
    assert set(given) == {"--scope", "--transport", "--env"}
    # It takes several values: directly before the name it would take that too.
    assert options[-2] != "--env"
    assert given["--scope"] in ("local", "project", "user") and given["--transport"] == "stdio"
    return command, dict([given["--env"].split("=", 1)])


def from_json(servers, allowed, pattern, values):
    """A reader of JSON whose values may refer to something by the pattern."""

    def read(text, variables):
        configuration = json.loads(text)
        (server,) = configuration[servers].values()
        assert set(server) <= allowed
        known = {**variables, **values(configuration)}
        given = {name: re.sub(pattern, lambda m: known[m[1]], value) for name, value in server["env"].items()}
        assert not any("${" in value for value in given.values())
        return [server["command"], *server["args"]], given

    return read


def vscode_inputs(configuration):
    """What VS Code asks for; a password is not shown."""
    assert all(one["type"] == "promptString" and one["password"] is True for one in configuration["inputs"])
    assert configuration["servers"]["forage"]["type"] == "stdio"
    return {one["id"]: KEY for one in configuration["inputs"]}


USUAL = {"command", "args", "env"}
CLIENTS = {
    "Codex": ("toml", codex),
    "Claude Code": ("sh", claude_code),
    "Gemini CLI": ("json", from_json("mcpServers", USUAL, r"\$\{(\w+)\}", lambda _: {})),
    "Cursor": ("json", from_json("mcpServers", USUAL, r"\$\{env:(\w+)\}", lambda _: {})),
    "Claude Desktop": ("json", from_json("mcpServers", USUAL, r"^(your-key)$", lambda _: {"your-key": KEY})),
    "VS Code (Copilot)": ("json", from_json("servers", USUAL | {"type"}, r"\$\{input:([\w-]+)\}", vscode_inputs)),
}


def test_every_client_has_a_snippet():
    assert {name: language for name, (language, _) in snippets().items()} == {
        name: language for name, (language, _) in CLIENTS.items()
    }


@pytest.mark.parametrize("client", CLIENTS)
def test_snippet_starts_forage_with_its_key(client, tmp_path):
    language, text = snippets()[client]
    assert language == CLIENTS[client][0]
    command, variables = CLIENTS[client][1](text, {"SERPER_API_KEY": KEY})
    assert variables == {"SERPER_API_KEY": KEY}
    # `forage` is found in PATH, as it would be once it is installed.
    os.symlink(FORAGE, tmp_path / "forage")
    assert command[0] in ("forage", INSTALLED)
    program = tmp_path / "forage"
    others = dict.fromkeys(("TAVILY_API_KEY", "BRAVE_API_KEY", "EXA_API_KEY"))
    with Stdio(program=program, arguments=command[1:], **others, **variables) as started:
        started.handshake()
        names = [tool["name"] for tool in started.ask("tools/list")["result"]["tools"]]
        assert {"web_search", "get_content"} <= set(names)
        status = started.ask("tools/call", {"name": "forage_status", "arguments": {}})["result"]["structuredContent"]
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
