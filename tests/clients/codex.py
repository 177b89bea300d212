"""Codex: a conversation in which the model calls the tool. (`codex mcp list` only reads its own
configuration.)"""

import json
import os

from harness import HTTP, HTTP_TOKEN, SETUP_VARIABLES, Launch, Mode, expect, expect_called
from harness import expect_conversation, expect_listed, prepare, program, put_plugin, set_up

NAME = "Codex"
CONTEXT = "codex"
# Its switch for the modern protocol takes effect over HTTP only.
MODES = [
    Mode("conversation", "2025-06-18"),
    Mode("modern conversation", "2026-07-28", transports=(HTTP, HTTP_TOKEN)),
]

# JSON strings and arrays of strings are TOML as well. The limit of results is the one that Codex has for each model that it
# lists itself; this model is none of them, since those search for tools first, which the fake model does not play.
CONFIGURATION = """\
model = "gpt-5"
tool_output_token_limit = 10000
model_provider = "fake"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.fake]
name = "fake"
base_url = {model}
wire_api = "responses"
env_key = "FAKE_MODEL_KEY"
request_max_retries = 0
stream_max_retries = 0
"""
# What `forage setup` finds there must stay, and Codex must still understand it.
OTHERS = """
# another one, which is off
[mcp_servers."other"]
command = 'no-such-program' # never started
enabled = false
"""


def launch(mode, way, folder, model):
    lines = (
        [f"command = {json.dumps(way.command[0])}", f"args = {json.dumps(way.command[1:])}"]
        if way.command
        else [f"url = {json.dumps(way.url)}"]
    )
    if way.headers:
        headers = ", ".join(
            f"{json.dumps(name)} = {json.dumps(value)}" for name, value in way.headers.items()
        )
        lines.append(f"http_headers = {{ {headers} }}")
    home = os.path.join(folder, ".codex" if way.by_setup or way.by_plugin else "codex")
    os.mkdir(home)
    server = OTHERS if way.by_setup or way.by_plugin else "\n".join(["", "[mcp_servers.forage]", *lines, ""])
    with open(os.path.join(home, "config.toml"), "w", encoding="utf-8") as file:
        file.write(CONFIGURATION.format(model=json.dumps(model.origin + "/v1")) + server)
    plugin = put_plugin(way, folder) if way.by_plugin else {}
    if way.by_plugin:
        market = [program("codex"), "plugin", "marketplace", "add", os.path.join(folder, "marketplace")]
        prepare(market, folder, plugin)
        prepare([program("codex"), "plugin", "add", "forage@forage"], folder, plugin)
    elif way.by_setup:
        set_up("codex", way, folder)
    command = [program("codex"), "exec", "--json", "--skip-git-repo-check", "--ephemeral"]
    if mode == "modern conversation":
        command += ["--enable", "mcp_2026_07_28"]
    given = SETUP_VARIABLES if way.by_setup else plugin or {"CODEX_HOME": home}
    environment = {**given, "FAKE_MODEL_KEY": "none"}
    return Launch(
        command + ["--sandbox", "read-only", "-"], environment, "What is the status of forage?"
    )


def check(_mode, seen):
    expect_listed(seen.recording)
    expect_called(seen.recording)
    expect_conversation(seen.model, seen.recording, seen.outcome)
    items = [json.loads(line).get("item", {}) for line in seen.outcome.stdout.splitlines()]
    calls = [item["status"] for item in items if item.get("type") == "mcp_tool_call"]
    expect(calls[-1:] == ["completed"], f"the client shows the tool's calls {calls}")
