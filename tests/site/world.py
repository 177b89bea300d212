"""Where examples are run: a home of their own, and behind every name an upstream on loopback.

`forage` in their PATH is the program under test behind a small script. https://example.org/ becomes a page on loopback, a
server listens on a free port and is ended once it serves, questions are answered with yes, and http://127.0.0.1:3000 is a
server that runs all the time.
"""

import contextlib
import subprocess
import sys
import textwrap

from fake_web import Answer, Web
from fakes import worker
from fakes.brave import Brave
from fakes.responses import KEY, Responses
from fakes.search_service import Hit
from fakes.searxng import Searxng
from fakes.serper import Serper
from fakes.wikipedia import Wikipedia
from programs import FORAGE, Server, environment
from secrets_watch import look

SITE = "https://example.org"
EXAMPLE_SERVER = "http://127.0.0.1:3000"

STAND_IN = textwrap.dedent(
    """\
    #!{python} -IS
    import os, signal, subprocess, sys

    words = [sys.argv[1], *(word.replace("{site}", "{web}") for word in sys.argv[2:])]
    if words[0] == "setup" and len(words) == 2:
        words.append("--yes")  # as a reader would answer
    if words[0] != "serve":
        os.execv("{forage}", ["forage", *words])
    server = subprocess.Popen(["{forage}", *words, "--port", "0"], stderr=subprocess.PIPE)
    for line in server.stderr:
        sys.stderr.write(line.decode())
        if b" serves http" in line:
            server.send_signal(signal.SIGTERM)
    sys.exit(server.wait())
    """
)

BREAD = """<!doctype html><html lang="en"><head><title>Bread</title></head><body>
<nav><a href="/">Home</a> <a href="/about">About</a></nav><article><h1>Bread</h1>
<p>Sourdough rises by wild yeast; it takes its time, and more of it in a cold kitchen than in a warm one, so that
whoever is in a hurry had better bake something else today.</p>
<h2>Yeast</h2><p>Yeast lives on grain, on fruit and in the air. It needs water, something sweet and a little warmth, and
then it makes bubbles, which is all that bread asks of it.</p></article><footer>Imprint</footer></body></html>"""


class World:
    """The upstreams while they run; a context manager."""

    def __init__(self, folder):
        self.folder = folder
        self.stack = contextlib.ExitStack()
        self.web = Web()
        for path in ("/", "/page"):
            self.web.answers[path] = Answer(BREAD, 200, "text/html; charset=utf-8")
        self.providers = [Serper(), Brave(), Searxng()]
        for provider in self.providers:
            provider.hits = [Hit("Bread", self.web.url("/"), "About bread")]
        self.answers = Responses()
        self.wikipedia = Wikipedia()
        self.wikipedia.articles["Foraging"] = "<p>Foraging is searching for wild food.</p>"
        run = worker.answer(
            worker.report("# Sourdough\n\nIt spread with the ovens.", result="It spread with the ovens."),
            worker.search(1, "sourdough"),
            worker.read(2, "https://bread.example/history"),
        )
        self.worker = worker.Worker(folder / "worker", run)

    def __enter__(self):
        for one in (self.web, *self.providers, self.answers, self.wikipedia):
            self.stack.enter_context(one)
        self.server = self.stack.enter_context(Server(**self.settings(self.folder / "server")))
        return self

    def __exit__(self, *arguments):
        self.stack.__exit__(*arguments)

    def settings(self, home):
        home.mkdir(parents=True, exist_ok=True)
        settings = {
            "HOME": home,
            "FORAGE_ALLOW_PRIVATE_HOSTS": self.web.host,
            "WIKIPEDIA_BASE_URL": self.wikipedia.url,
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": self.answers.base_url,
            "GEMINI_CLI_PATH": self.worker.path,
            "CLAUDE_CLI_PATH": self.worker.path,
        }
        for provider in self.providers:
            settings.update(provider.settings)
        return settings

    def in_place(self, text):
        """What an example would see: the web and the server where it thinks that they are."""
        return text.replace(self.web.url("").rstrip("/"), SITE).replace(f"http://127.0.0.1:{self.server.port}", EXAMPLE_SERVER)

    def run(self, block, home):
        """Runs a block of a page; the exit code, standard output and standard error."""
        programs = home / "programs"
        programs.mkdir(parents=True, exist_ok=True)
        stand_in = programs / "forage"
        address = self.web.url("").rstrip("/")
        stand_in.write_text(STAND_IN.format(python=sys.executable, forage=FORAGE, site=SITE, web=address))
        stand_in.chmod(0o755)
        variables = environment(self.settings(home))
        if not (home / "page.html").exists():
            (home / "page.html").write_text(BREAD)
            # The memories that the pages of the tools speak of.
            for key in ("team", "db-choice"):
                memory = ["memory", "add", "--key", key, "We chose PostgreSQL."]
                subprocess.run([FORAGE, *memory], env=variables, stdout=subprocess.DEVNULL, check=True)
        variables["PATH"] = f"{programs}:{variables['PATH']}"
        commands = block.text.replace(EXAMPLE_SERVER, f"http://127.0.0.1:{self.server.port}")
        if "curl" in commands:
            commands = commands.replace(SITE, address)
        completed = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands],
            cwd=home,
            env=variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=180,
            check=False,
        )
        look(completed.stdout + completed.stderr, f"the output of {block.name}")
        return completed.returncode, self.in_place(completed.stdout.decode()), self.in_place(completed.stderr.decode())
