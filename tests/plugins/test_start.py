"""plugin/bin/forage-mcp: which program it starts, with what, and what it says where there is none."""

import os
import subprocess

import pytest
from conftest import ROOT

START = ROOT / "plugin" / "bin" / "forage-mcp"
TELL = '#!/bin/sh\necho "$(basename "$0") $*"\necho "FORAGE_TOOLS=$FORAGE_TOOLS"\n'


def start(folder, *words, programs=("forage", "npx", "uvx"), places=("bin",), **variables):
    """Runs it where these programs are on PATH; they tell how they were started."""
    for place in places:
        (folder / place).mkdir(parents=True, exist_ok=True)
        for name in programs:
            (folder / place / name).write_text(TELL)
            (folder / place / name).chmod(0o755)
    # What the script itself needs, without whatever else is on this machine.
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    for name in ("sh", "grep", "basename"):
        if not (tools / name).exists():
            os.symlink(f"/bin/{name}" if os.path.exists(f"/bin/{name}") else f"/usr/bin/{name}", tools / name)
    environment = {"PATH": f"{folder / 'bin'}:{tools}", "HOME": str(folder), **variables}
    return subprocess.run([START, *words], env=environment, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    "programs, started",
    [
        (("forage", "npx", "uvx"), "forage mcp --context claude-code"),
        (("npx", "uvx"), "npx -y forage-mcp mcp --context claude-code"),
        (("uvx",), "uvx forage-mcp mcp --context claude-code"),
    ],
)
def test_it_starts_what_is_there(tmp_path, programs, started):
    done = start(tmp_path, "--context", "claude-code", programs=programs)
    assert done.stdout.splitlines() == [started, "FORAGE_TOOLS=ready"] and done.stderr == ""


def test_it_says_what_is_missing(tmp_path):
    done = start(tmp_path, programs=())
    assert done.returncode == 127 and done.stdout == "" and "forage is not installed" in done.stderr


def test_it_looks_where_users_install(tmp_path):
    done = start(tmp_path, programs=("forage",), places=(".local/bin",))
    assert done.stdout.startswith("forage mcp")


@pytest.mark.parametrize(
    "file, settings, said",
    [
        (None, {}, "ready"),
        ("SERPER_API_KEY=x\n", {}, "ready"),
        ("# FORAGE_TOOLS=web\n", {}, "ready"),
        ("SERPER_API_KEY=x\nFORAGE_TOOLS=web\n", {}, ""),
        (None, {"FORAGE_TOOLS": "memory"}, "memory"),
    ],
)
def test_a_choice_of_tools_stays(tmp_path, file, settings, said):
    if file:
        (tmp_path / ".config/forage").mkdir(parents=True)
        (tmp_path / ".config/forage/forage.env").write_text(file)
    assert start(tmp_path, **settings).stdout.splitlines()[1] == f"FORAGE_TOOLS={said}"


def test_the_file_of_settings_may_be_elsewhere(tmp_path):
    (tmp_path / "mine").write_text("FORAGE_TOOLS=web\n")
    assert start(tmp_path, FORAGE_CONFIG=str(tmp_path / "mine")).stdout.splitlines()[1] == "FORAGE_TOOLS="


@pytest.mark.parametrize(
    "words, root, started",
    [
        ((), "/srv/a/.codex/plugins/cache/forage/forage/1", "forage mcp --context codex"),
        ((), "/srv/a/.cursor/plugins/forage", "forage mcp"),
        ((), "", "forage mcp"),
        (("--context", "zed"), "/srv/a/.codex/plugins/cache/forage", "forage mcp --context zed"),
    ],
)
def test_it_knows_codex_by_its_folder(tmp_path, words, root, started):
    assert start(tmp_path, *words, PLUGIN_ROOT=root).stdout.splitlines()[0].strip() == started
