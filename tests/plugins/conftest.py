"""Copies of the marketplace to try vendors' programs on, and a way to run these."""

import json
import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = ROOT / ".deps" / "clients" / "node_modules"
PARTS = (".claude-plugin", "plugin")
PATIENCE = 120


class Copy:
    """A marketplace with its plugin, in a folder that tests may change."""

    def __init__(self, folder):
        self.root = folder / "marketplace"
        self.home = folder / "home"
        self.home.mkdir()
        for part in PARTS:
            shutil.copytree(ROOT / part, self.root / part)

    @property
    def plugin(self):
        return self.root / "plugin"

    def change(self, path, change):
        """Lets `change` change a manifest."""
        file = self.root / path
        manifest = json.loads(file.read_text())
        change(manifest)
        file.write_text(json.dumps(manifest))

    def run(self, *command):
        """Runs a vendor's program in a home of its own, without a way out of this machine."""
        nowhere = "http://127.0.0.1:9"
        variables = {
            "PATH": f"{ROOT / '.deps' / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.home),
            "NO_COLOR": "1",
            "HTTP_PROXY": nowhere,
            "HTTPS_PROXY": nowhere,
            "GEMINI_CLI_NO_RELAUNCH": "true",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        }
        return subprocess.run(
            [str(word) for word in command],
            cwd=self.home,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
            check=False,
        )


@pytest.fixture
def copy(tmp_path):
    return Copy(tmp_path)


@pytest.fixture
def claude(copy):
    """The package's own way in where its install script did not run."""
    return lambda *words: copy.run("node", PACKAGES / "@anthropic-ai/claude-code/cli-wrapper.cjs", *words)


@pytest.fixture
def gemini(copy):
    return lambda *words: copy.run(PACKAGES / ".bin/gemini", *words)


@pytest.fixture
def codex(copy):
    return lambda *words: copy.run(PACKAGES / ".bin/codex", *words)


@pytest.fixture
def plugins(copy):
    """Vercel's program that finds plugins of the common format."""
    return lambda *words: copy.run("node", PACKAGES / "plugins/dist/index.js", *words)
