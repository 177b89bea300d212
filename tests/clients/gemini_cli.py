"""Gemini CLI: its list of servers, for which it sends a ping, and a conversation in which the model
calls the tool."""

import json
import os

from harness import SETUP_VARIABLES, Launch, Mode, expect, expect_called, expect_conversation
from harness import expect_listed, prepare, program, put_plugin, set_up

NAME = "Gemini CLI"
CONTEXT = "gemini-cli"
# Its list needs only an answer to ping: a broken list of tools cannot show there.
MODES = [Mode("mcp list", "2025-06-18", broken=False), Mode("conversation", "2025-06-18")]


def launch(mode, way, folder, model):
    server = (
        {"command": way.command[0], "args": way.command[1:]}
        if way.command
        else {"httpUrl": way.url, "headers": way.headers}
    )
    # Without trust a run without a terminal is not offered the server's tools.
    trust = {"trust": True}
    servers = {"forage": trust if way.by_setup else {**server, **trust}}
    settings = {
        "mcpServers": {} if way.by_plugin else servers,
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {
            "enableAutoUpdate": False,
            "enableAutoUpdateNotification": False,
            "maxAttempts": 1,
        },
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
    }
    os.mkdir(os.path.join(folder, ".gemini"))
    with open(os.path.join(folder, ".gemini", "settings.json"), "w", encoding="utf-8") as file:
        # Gemini CLI allows comments; `forage setup` keeps them, and members that are not its own.
        file.write("// mine\n" * way.by_setup + json.dumps(settings, indent=2))
    if way.by_setup:
        set_up("gemini-cli", way, folder)
    command = [program("gemini")]
    # A folder that its user trusts: it asks on a terminal otherwise.
    trusted = {"GEMINI_CLI_TRUST_WORKSPACE": "true", "GEMINI_CLI_NO_RELAUNCH": "true"}
    plugin = put_plugin(way, folder) if way.by_plugin else {}
    if way.by_plugin:
        path = os.path.join(folder, "marketplace", "plugin")
        prepare([*command, "extensions", "install", path, "--consent"], folder, {**trusted, **plugin})
    if mode == "mcp list":
        command += ["mcp", "list"]
    else:
        command += ["--model", "gemini-2.5-flash", "--output-format", "stream-json"]
        # An extension cannot ask for trust; its user gives it.
        command += ["--approval-mode", "yolo"] * way.by_plugin
    environment = {
        **(SETUP_VARIABLES if way.by_setup else {}),
        **plugin,
        "GOOGLE_GEMINI_BASE_URL": model.origin,
        "GEMINI_API_KEY": "none",
        **trusted,
    }
    return Launch(command, environment, "What is the status of forage?")


def check(mode, seen):
    if mode == "mcp list":
        expect(seen.recording.results("ping"), "forage answered no ping: " + seen.recording.story())
        shown = [line for line in seen.outcome.output.splitlines() if "✓ forage:" in line or "✓ forage (from forage):" in line]
        connected = shown and shown[0].endswith("- Connected")
        expect(connected, "the client does not show forage as connected\n" + seen.outcome.tail())
        return
    expect_listed(seen.recording)
    expect_called(seen.recording)
    expect_conversation(seen.model, seen.recording, seen.outcome)
    lines = [json.loads(line) for line in seen.outcome.stdout.splitlines()]
    results = [line["status"] for line in lines if line["type"] == "tool_result"]
    expect(results == ["success"], f"the client shows the tool's results {results}")
