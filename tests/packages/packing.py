"""How the tests pack and install: the packages of a tree, sources in another folder, and the real npm with a home of its
own."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "blackbox"))
from programs import Stdio  # noqa: E402

NAMES = ["forage", "forage-mcp", "gemini-search-mcp", "gemini-search-mcp-http", "kindly-web-search-mcp-server"]
VERSION = re.search(r"version: '([^']+)'", (ROOT / "meson.build").read_text())[1]
MACHINE = os.uname().machine
# What packing needs of the repository.
PACKED_FROM = ["packaging", "meson.build", "README.md", "LICENSE"]
EPOCH = "1700000000"
# What starts the server, by each name that does so over standard input and output.
SERVERS = {
    "forage": ["mcp"],
    "forage-mcp": [],
    "gemini-search-mcp": [],
    "kindly-web-search-mcp-server": ["start-mcp-server", "--context", "codex"],
}


def execute(command, environment=None, patience=120, **options):
    """Runs a command that must succeed; what it printed."""
    completed = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, env=environment, timeout=patience, check=False, **options
    )
    assert completed.returncode == 0, f"{command}:\n{completed.stdout}{completed.stderr}"
    return completed.stdout


def serves(program, arguments, **settings):
    """Whether it answers a client, and ends when the client leaves."""
    with Stdio(program, arguments=arguments, **settings) as client:
        assert client.handshake()["serverInfo"]["version"]
        assert "forage_status" in [tool["name"] for tool in client.ask("tools/list")["result"]["tools"]]


def listing(folder):
    return sorted(path.relative_to(folder).as_posix() for path in pathlib.Path(folder).rglob("*"))


def copy_sources(folder, version=VERSION):
    """The sources of the packages in another folder, as another version."""
    for name in PACKED_FROM:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)
    build = folder / "meson.build"
    build.write_text(build.read_text().replace(f"version: '{VERSION}'", f"version: '{version}'"))
    return folder


def pack_all(sources, tree, out):
    environment = {**os.environ, "SOURCE_DATE_EPOCH": EPOCH, "PYTHONDONTWRITEBYTECODE": "1"}
    execute([sources / "packaging/npm/pack", tree, out], environment)
    execute([sources / "packaging/python/pack", tree, MACHINE, out], environment)
    return out


class Npm:
    """The real npm with a home, a cache and a prefix of its own."""

    def __init__(self, home, registry):
        self.home = home
        self.prefix = home / "prefix"
        self.bin = self.prefix / "bin"
        self.package = self.prefix / "lib/node_modules/forage-mcp"
        self.prefix.mkdir(parents=True)
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "npm_config_registry": registry.url,
            "npm_config_prefix": str(self.prefix),
            "npm_config_cache": str(home / "cache"),
            "npm_config_audit": "false",
            "npm_config_fund": "false",
            "npm_config_update_notifier": "false",
            "npm_config_fetch_retries": "0",
        }

    def run(self, *arguments, **options):
        return execute(["npm", *arguments], self.environment, **options)
