"""The MCP Inspector's command line: lists the tools and, with --strict, judges every tool's schema.
A schema that is wrong ends it with status 6; one that not every client understands is a warning."""

import json

from harness import TOOL, Launch, Mode, expect, expect_listed, program

NAME = "Inspector"
MODES = [Mode("legacy", "2025-11-25"), Mode("auto", "2026-07-28"), Mode("modern", "2026-07-28")]


def launch(mode, way, _folder, model):
    target = way.command or ["--transport", "http", "--server-url", way.url]
    for name, value in way.headers.items():
        target += ["--header", f"{name}: {value}"]
    command = [program("mcp-inspector"), "--cli", *target]
    command += ["--protocol-era", mode, "--format", "json"]
    if model.tool == TOOL:
        return Launch(command + ["--method", "tools/list", "--strict"])
    arguments = [f"{name}={value}" for name, value in model.arguments.items()]
    return Launch(command + ["--method", "tools/call", "--tool-name", model.tool, "--tool-arg", *arguments])


def check(_mode, seen):
    expect_listed(seen.recording)
    names = [tool["name"] for tool in json.loads(seen.outcome.stdout)["result"]["tools"]]
    expect(TOOL in names, f"the client shows the tools {names}")
    expect("Warning: tool" not in seen.outcome.stderr, "the client warns\n" + seen.outcome.stderr)
