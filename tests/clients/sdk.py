"""The official TypeScript SDK: version 1, and version 2 in each way that it can choose a protocol
version."""

import json
import os
import shutil

from harness import HERE, PACKAGES, TOOL, Launch, Mode, expect, expect_called, expect_listed

NAME = "TypeScript SDK"
MODES = [
    Mode("v1", "2025-11-25"),
    Mode("v2 legacy", "2025-11-25"),
    Mode("v2 auto", "2026-07-28"),
    Mode("v2 pinned 2026-07-28", "2026-07-28"),
]


def script(name, folder):
    """Node looks for packages beside the script: a copy of it beside a link to them."""
    os.symlink(PACKAGES, os.path.join(folder, "node_modules"))
    return shutil.copy(os.path.join(HERE, name), folder)


def describe(way, model, as_task=False):
    """What the script is told. It asks for itself, for what a model would ask for."""
    target = {"command": way.command} if way.command else {"url": way.url, "headers": way.headers}
    asks = {"tool": model.tool, "arguments": model.arguments, "as_task": as_task}
    return json.dumps({**target, "asks": asks})


def launch(mode, way, folder, model):
    words = mode.removesuffix(" tasks")
    version, *how = words.split()
    name = f"sdk_{version}.mjs"
    return Launch(["node", script(name, folder), *how[-1:], describe(way, model, words != mode)])


def check(_mode, seen):
    expect_listed(seen.recording)
    expect_called(seen.recording)
    shown = json.loads(seen.outcome.stdout)
    expect(shown["server"]["name"] == "forage", f"the client shows the server {shown['server']}")
    expect(TOOL in shown["tools"], f"the client shows the tools {shown['tools']}")
    expect(shown["result"]["content"], f"the client shows the result {shown['result']}")
