"""The published clients of vendors, which prove the fakes: their modules for node and for Python, and their MCP servers."""

import contextlib
import json
import os
import shutil
import subprocess

from programs import PATIENCE, ROOT, Lines

MODULES = ROOT / ".deps" / "node" / "node_modules"
NODE = shutil.which("node", path=f"{ROOT / '.deps' / 'bin'}:{os.environ['PATH']}")
PYTHON = ROOT / ".deps" / "search-venv" / "bin" / "python"
PYTHON_OF_MODELS = ROOT / ".deps" / "models-venv" / "bin" / "python"
BARE = {"PATH": os.environ["PATH"], "HOME": "/proc/nonexistent", "no_proxy": "127.0.0.1"}


def said(command, arguments):
    """Runs a program; the lines that it prints, each as JSON."""
    completed = subprocess.run(
        [*command, *arguments], capture_output=True, text=True, timeout=PATIENCE, env=BARE, check=False
    )
    assert completed.returncode == 0, completed.stderr
    return [json.loads(line) for line in completed.stdout.splitlines()]


def run_script(script, *arguments):
    """Runs a module of JavaScript; its first argument is where the packages are."""
    return said([NODE, "--input-type=module", "-e", script, str(MODULES)], arguments)


def run_python(script, *arguments, python=PYTHON):
    """Runs Python with what tests/search/requirements.txt names, or another Python with its own packages; say() prints a
    value, `url` is the first argument."""
    beginning = "import json, sys\ndef say(value): print(json.dumps(value, default=str))\nurl = sys.argv[1]\n"
    return said([python, "-W", "ignore", "-c", beginning + script], arguments)


@contextlib.contextmanager
def mcp_server(script, node_options=(), **variables):
    """A vendor's MCP server over stdio; gives a function that calls a tool."""
    process = subprocess.Popen(
        [NODE, *node_options, MODULES / script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**BARE, **variables},
    )
    answers = Lines(process.stdout)
    ids = iter(range(1, 1000))

    def ask(method, params):
        number = next(ids)
        send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        found = answers.wait(lambda line: json.loads(line).get("id") == number)
        assert found, "the server ended without an answer"
        return json.loads(found[1])["result"]

    def send(message):
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()

    def call(tool, **arguments):
        return ask("tools/call", {"name": tool, "arguments": arguments})

    try:
        client = {"name": "blackbox", "version": "1"}
        ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        yield call
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        answers.join()
