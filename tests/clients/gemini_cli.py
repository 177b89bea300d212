"""Gemini CLI: its list of servers, for which it sends a ping, and a conversation in which the model
calls the tool."""

import json
import os

from harness import Launch, Mode, expect, expect_called, expect_conversation, expect_listed, program

NAME = "Gemini CLI"
# Its list needs only an answer to ping: a broken list of tools cannot show there.
MODES = [Mode("mcp list", "2025-06-18", broken=False), Mode("conversation", "2025-06-18")]


def launch(mode, way, folder, model):
    server = (
        {"command": way.command[0], "args": way.command[1:]}
        if way.command
        else {"httpUrl": way.url, "headers": way.headers}
    )
    settings = {
        # Without trust a run without a terminal is not offered the server's tools.
        "mcpServers": {"forage": {**server, "trust": True, "timeout": 20000}},
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
        json.dump(settings, file)
    command = [program("gemini")]
    if mode == "mcp list":
        command += ["mcp", "list"]
    else:
        command += ["--model", "gemini-2.5-flash", "--output-format", "stream-json"]
    environment = {
        "GOOGLE_GEMINI_BASE_URL": model.origin,
        "GEMINI_API_KEY": "none",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "GEMINI_CLI_NO_RELAUNCH": "true",
    }
    return Launch(command, environment, "What is the status of forage?")


def check(mode, seen):
    if mode == "mcp list":
        expect(seen.recording.results("ping"), "forage answered no ping: " + seen.recording.story())
        shown = [line for line in seen.outcome.output.splitlines() if "✓ forage:" in line]
        connected = shown and shown[0].endswith("- Connected")
        expect(connected, "the client does not show forage as connected\n" + seen.outcome.tail())
        return
    expect_listed(seen.recording)
    expect_called(seen.recording)
    expect_conversation(seen.model, seen.recording, seen.outcome)
    lines = [json.loads(line) for line in seen.outcome.stdout.splitlines()]
    results = [line["status"] for line in lines if line["type"] == "tool_result"]
    expect(results == ["success"], f"the client shows the tool's results {results}")
