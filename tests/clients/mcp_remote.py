"""mcp-remote: gives a client that knows only stdio a server that speaks HTTP. The client here is
the TypeScript SDK v1."""

import sdk
from harness import HTTP, HTTP_TOKEN, Launch, Mode, Way, program

NAME = "mcp-remote"
MODES = [Mode("v1", "2025-11-25", transports=(HTTP, HTTP_TOKEN))]


def launch(mode, way, folder, model):
    command = [program("mcp-remote"), way.url, "--transport", "http-only"]
    for name, value in way.headers.items():
        command += ["--header", f"{name}: {value}"]
    script = sdk.script(f"sdk_{mode}.mjs", folder)
    return Launch(["node", script, sdk.describe(Way(command=command), model)])


check = sdk.check
