"""A Python and a TypeScript generator make a client of the description without a warning, and what they made does its calls
against a server: calls.py and calls.ts, in which every result and every error has its type."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest
from fake_web import Answer
from fakes.models import Models
from http_client import exchange, request
from jobs import Hangs
from players import seat
from programs import ROOT, Server
from reading import page
from searching import shared_world, world  # noqa: F401 (fixtures)

HERE = pathlib.Path(__file__).parent
PYTHON = ROOT / ".deps" / "openapi-venv" / "bin"
NODE = ROOT / ".deps" / "openapi" / "node_modules" / ".bin"
TOKEN = "token-of-the-generated-clients"
# What calls.py and calls.ts say that they did, in this order.
CALLS = [
    "forage_status", "get_content", "web_search", "put_memory", "get_memory", "search_memories", "search_memory_words",
    "update_memory", "versions", "restored", "list_memories", "memory_rename", "export_memories", "import_memories", "delete_memory", "get_usage",
    "deep_search", "get_job", "list_jobs", "end_job",
    "NOT_FOUND", "CONFLICT", "UNAUTHORIZED",
]  # fmt: skip


def run(*command, cwd):
    """Runs a program of a generator; what it said."""
    path = f"{PYTHON}{os.pathsep}{NODE}{os.pathsep}{os.environ['PATH']}"
    environment = {"PATH": path, "HOME": str(cwd), "PYTHONDONTWRITEBYTECODE": "1", "NO_COLOR": "1", "TERM": "dumb"}
    completed = subprocess.run(
        list(map(str, command)), cwd=cwd, env=environment, timeout=120, check=False, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert completed.returncode == 0, completed.stdout
    return completed.stdout


@pytest.fixture
def server(tmp_path, world):  # noqa: F811
    world.find(2)
    world.web.answers["/bread"] = Answer(page("Bread is made of flour and water. " * 5, title="Bread"))
    settings = {"FORAGE_TOKENS": f"alice:{TOKEN}", "FORAGE_DATA_DIR": tmp_path / "data", "FORAGE_RESEARCH_WORKER": "own"}
    # A model that never answers: a research goes on until it is ended.
    hangs = Hangs({})
    with Models() as models, world.server("tavily", **settings, **models.environment("vllm")) as server:
        seat(models, hangs)
        answer = exchange(server.port, request("GET", "/api/v1/openapi.json", {"Authorization": f"Bearer {TOKEN}"}))
        (tmp_path / "openapi.json").write_text(json.dumps(answer.json()))
        server.arguments = [f"http://127.0.0.1:{server.port}", TOKEN, world.web.url("/bread")]
        yield server
        hangs.released.set()
        assert server.alive()


def refuse_warnings(said):
    assert not re.search(r"warn|error|unsupported|omitted|skipp", said, re.I), said


def test_python(server, tmp_path):
    said = run(
        "openapi-python-client", "generate", "--path", "openapi.json", "--meta", "none", "--output-path", "forage_client",
        "--fail-on-warning", cwd=tmp_path,
    )  # fmt: skip
    refuse_warnings(said)
    shutil.copy(HERE / "calls.py", tmp_path)
    assert run("python", "calls.py", *server.arguments, cwd=tmp_path).split() == CALLS
    # The example of the documentation, against a server without tokens.
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "rest.md").read_text(), re.S)
    with Server(FORAGE_DATA_DIR=tmp_path / "other") as open_server:
        (tmp_path / "example.py").write_text(example.replace(":3000", f":{open_server.port}"))
        assert run("python", "example.py", cwd=tmp_path) == "added\n"


def compile_calls(program, folder):
    """CommonJS, since Node finds the files of the client only so: they import each other without an extension."""
    (folder / "calls.ts").write_text(program)
    run("tsc", "--strict", "--target", "es2022", "--module", "commonjs", "--outDir", "made", "calls.ts", cwd=folder)


def test_typescript(server, tmp_path):
    refuse_warnings(run("openapi-ts", "--input", "openapi.json", "--output", "forage_client", cwd=tmp_path))
    program = (HERE / "calls.ts").read_text()
    compile_calls(program, tmp_path)
    assert run("node", "made/calls.js", *server.arguments, cwd=tmp_path).split() == CALLS
    # The compiler looks at types: a name that the description does not have is refused.
    with pytest.raises(AssertionError, match="wersion"):
        compile_calls(program.replace("status.data.version", "status.data.wersion"), tmp_path)
