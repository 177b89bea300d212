"""A real small model, as scripts/setup llm installs it, on loopback. FORAGE and FORAGE_CONFORMANCE name the programs under test."""

import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
PYTHON = os.environ.get("FORAGE_LLM_PYTHON", HERE.parents[1] / ".deps/llm-venv/bin/python")

sys.path.insert(1, str(HERE.parent / "blackbox"))


class RealModel:
    """Its server; `url` is where it listens."""

    def __init__(self, url):
        self.url = url

    def environment(self, provider):
        """Variables with which forage asks it, as that provider's."""
        return {"FORAGE_MODEL": f"{provider}:smollm2", "FORAGE_MODEL_URL": f"{self.url}/v1", "FORAGE_MODEL_KEY": "any-key-will-do-0123"}


@pytest.fixture(scope="session")
def real_model():
    command = [PYTHON, "-B", HERE / "serve.py"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        yield RealModel(server.stdout.readline().strip())
        server.stdin.close()
        server.wait(60)
