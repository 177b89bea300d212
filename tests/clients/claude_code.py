"""Claude Code: its list of servers with their health, and a conversation in which the model calls
the tool, in both eras of the protocol."""

import json
import os
import re

from harness import (
    SETUP_VARIABLES,
    Launch,
    Mode,
    expect,
    expect_called,
    expect_conversation,
    expect_listed,
    installed,
    prepare,
    put_plugin,
    set_up,
)

NAME = "Claude Code"
CONTEXT = "claude-code"
MODES = [
    Mode("mcp list", "2026-07-28"),
    Mode("conversation", "2026-07-28"),
    Mode("legacy conversation", "2025-11-25"),
]


def launch(mode, way, folder, model):
    server = (
        {"type": "stdio", "command": way.command[0], "args": way.command[1:]}
        if way.command
        else {"type": "http", "url": way.url, "headers": way.headers}
    )
    settings = os.path.join(folder, "claude")
    os.mkdir(settings)
    # The package's own way in where its install script did not run.
    command = ["node", installed("@anthropic-ai", "claude-code", "cli-wrapper.cjs")]
    plugin = {"CLAUDE_CONFIG_DIR": settings, **put_plugin(way, folder)} if way.by_plugin else {}
    if way.by_plugin:
        prepare([*command, "plugin", "marketplace", "add", os.path.join(folder, "marketplace")], folder, plugin)
        prepare([*command, "plugin", "install", "forage@forage"], folder, plugin)
    elif way.by_setup:
        with open(os.path.join(folder, ".claude.json"), "w", encoding="utf-8") as file:
            json.dump({"numStartups": 1, "projects": {}}, file, indent=2)
        set_up("claude-code", way, folder)
    else:
        with open(os.path.join(settings, ".claude.json"), "w", encoding="utf-8") as file:
            json.dump({"mcpServers": {"forage": server}}, file)
    if mode == "mcp list":
        command += ["mcp", "list"]
    else:
        command += [
            "-p",
            "--output-format",
            "stream-json",
            "--verbose",
            "--model",
            "claude-sonnet-4-5",
        ]
        command += ["--allowedTools", "mcp__plugin_forage_forage" if way.by_plugin else "mcp__forage"]
    environment = {
        **(SETUP_VARIABLES if way.by_setup else {"CLAUDE_CONFIG_DIR": settings}),
        **plugin,
        "ANTHROPIC_BASE_URL": model.origin,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        # A slow machine must not begin the conversation before the server is connected.
        "MCP_CONNECTION_NONBLOCKING": "false",
    }
    if not way.reads:
        # Else the tools of servers are found by a search first, which the fake model does not play.
        environment["ENABLE_TOOL_SEARCH"] = "false"
    if mode == "legacy conversation":
        environment["MCP_PROTOCOL_NEGOTIATION"] = "legacy"
    return Launch(command, environment, "What is the status of forage?")


def check(mode, seen):
    expect_listed(seen.recording)
    if mode == "mcp list":
        shown = [line for line in seen.outcome.stdout.splitlines() if re.match(r"(plugin:forage:)?forage:", line)]
        connected = shown and shown[0].endswith("✔ Connected")
        expect(connected, "the client does not show forage as connected\n" + seen.outcome.tail())
        return
    lines = [json.loads(line) for line in seen.outcome.stdout.splitlines()]
    servers = {server["name"]: server["status"] for server in lines[0]["mcp_servers"]}
    expect(list(servers.values()) == ["connected"], f"the client shows the servers {servers}")
    expect(re.fullmatch(r"(plugin:forage:)?forage", *servers), f"the client shows the servers {servers}")
    expect_called(seen.recording)
    expect_conversation(seen.model, seen.recording, seen.outcome)
