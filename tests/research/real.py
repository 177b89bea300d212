"""The real programs, and a forage that finds them: with a home, a configuration and keys that are the test's own, and
no way out of this machine but to the fakes."""

import json
import os
import pathlib
import subprocess

from fakes import anthropic, gemini
from programs import ROOT, wait_until
from research import Place

MODULES = ROOT / ".deps" / "clients" / "node_modules"
# The real programs take seconds to start, and many of them where the machine is busy.
LONG = 180.0
NOWHERE = "http://127.0.0.1:9"


def installed(*parts):
    """What is missing is a failure, never a reason to skip."""
    path = MODULES.joinpath(*parts)
    assert path.exists(), f"there is no {path}: scripts/setup clients installs it"
    return path


def script(path, text):
    path.write_text(text)
    path.chmod(0o755)


class RealPlace(Place):
    """A place with the programs on its PATH."""

    def __init__(self, folder):
        super().__init__(folder)
        self.programs = self.folder / "programs"
        self.programs.mkdir()
        (self.programs / "gemini").symlink_to(installed(".bin", "gemini").resolve())
        # The package's own way in where its install script did not run.
        wrapper = installed("@anthropic-ai", "claude-code", "cli-wrapper.cjs")
        script(self.programs / "claude", f'#!/bin/sh\nexec node "{wrapper}" "$@"\n')
        # npx would ask a registry; what it would run is installed.
        firecrawl = installed("firecrawl-mcp", "dist", "index.js")
        script(
            self.programs / "npx",
            f'#!/bin/sh\n[ "$*" = "-y firecrawl-mcp" ] || exit 64\nexec node "{firecrawl}"\n',
        )
        # The user has chosen to sign in with a key.
        (self.home / ".gemini").mkdir()
        self.sign_in()

    def sign_in(self, kind="gemini-api-key"):
        (self.home / ".gemini" / "settings.json").write_text(
            json.dumps({"security": {"auth": {"selectedType": kind}}})
        )

    def path(self):
        return os.pathsep.join([str(self.programs), str(ROOT / ".deps" / "bin"), os.environ["PATH"]])

    def settings(self, **more):
        return super().settings(
            **{
                "PATH": self.path(),
                "HTTP_PROXY": NOWHERE,
                "HTTPS_PROXY": NOWHERE,
                "NO_PROXY": "127.0.0.1,localhost",
                "FIRECRAWL_API_KEY": None,  # where a test is not about it
                **more,
            }
        )

    def with_gemini(self, fake, **more):
        return self.settings(GEMINI_API_KEY=gemini.KEY, GOOGLE_GEMINI_BASE_URL=fake.url, **more)

    def with_claude(self, fake, **more):
        return self.settings(
            FORAGE_RESEARCH_WORKER="claude",
            ANTHROPIC_API_KEY=anthropic.KEY,
            ANTHROPIC_BASE_URL=fake.url,
            CLAUDE_CODE_MAX_RETRIES=1,
            **more,
        )

    def running(self, *but):
        """The processes of this place, told by their PATH, whatever their group or parent; the dead do not count."""
        mark = f"PATH={self.programs}:".encode()
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                marked = mark in (path / "environ").read_bytes()
                state = (path / "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue  # it has just gone
            if marked and state not in "ZX" and int(path.name) not in but:
                found.append(int(path.name))
        return found

    def wait_none_running(self, *but, patience=LONG):
        try:
            wait_until(lambda: not self.running(*but), patience)
        except AssertionError:
            left = self.running(*but)
            told = subprocess.run(["ps", "-o", "pid,ppid,pgid,args", "-p", ",".join(map(str, left))], capture_output=True, check=False)
            raise AssertionError(f"still there after {patience} s:\n{told.stdout.decode()}") from None
