"""Completions, in the shells themselves: what each offers for a line that is half typed."""

import os
import pty
import re
import shlex
import subprocess

import pytest
from programs import FORAGE, environment, run, wait_until

MEMORY = {"add", "get", "list", "search", "fulltext", "update", "rename", "delete", "history", "restore", "stats", "namespaces", "import", "export",
          "check", "reindex", "backup"}

# What is typed, and what is offered for its last word: everything that is, and nothing else.
LINES = [
    ("forage mem", {"memory"}),
    ("forage memory ", MEMORY),
    ("forage memory add --ke", {"--key"}),
    ("forage memory add --json --js", set()),
    ("forage web --ty", {"--type"}),
    ("forage web --type ", {"web", "news", "scholar", "images", "code"}),
    ("forage web --type=n", {"--type=news"}),
    ("forage web words --freshness=", {f"--freshness={word}" for word in ("day", "week", "month", "year")}),
    ("forage --color al", {"always"}),
    ("forage call web_s", {"web_search"}),
    ("forage call web_search quer", {"query=", "queries="}),
    ("forage tools memory_a", {"memory_add"}),
    ("forage completions ", {"bash", "zsh", "fish", "line"}),
    ("forage setup cur", {"cursor"}),
    ("forage help memory ad", {"add"}),
    ("forage memory import no", {"notes.jsonl"}),
    ("forage tools --config set", {"settings.env"}),
    ("forage config --", {"--json", "--markdown", "--env-example", "--man", "--config", "--model", "--context",
                          "--color", "--help"}),
    ("forage web -- --ty", set()),
    ("forage nothing ", set()),
]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with files to offer, and with the program under its name."""
    folder = tmp_path_factory.mktemp("shells")
    for name in ("notes.jsonl", "settings.env"):
        (folder / name).write_text("")
    (folder / "bin").mkdir()
    (folder / "bin" / "forage").symlink_to(FORAGE)
    (folder / "functions").mkdir()
    (folder / "functions" / "_forage").write_text(run("completions", "zsh").stdout)
    for shell in ("bash", "zsh", "fish"):
        (folder / f"forage.{shell}").write_text(run("completions", shell).stdout)
    return folder


def shell_environment(place):
    return {**environment({}), "PATH": f"{place / 'bin'}:{os.environ['PATH']}", "HOME": str(place), "TERM": "xterm"}


def in_shell(place, *arguments):
    completed = subprocess.run(
        arguments, cwd=place, env=shell_environment(place), capture_output=True, text=True, timeout=60, check=True
    )
    assert completed.stderr == ""
    return completed.stdout.splitlines()


# ---- bash: readline takes the line apart, and replaces the last piece by what is offered ----


def bash_pieces(line):
    """As readline takes a line apart by COMP_WORDBREAKS."""
    return re.findall(r"[:=]+|[^\s:=]+", line) + ([""] if line.endswith(" ") else [])


def bash_offers(place, line):
    pieces = bash_pieces(line)
    words = " ".join(map(shlex.quote, pieces))
    script = f"""
        source forage.bash
        COMP_WORDS=({words}) COMP_CWORD={len(pieces) - 1}
        _forage 2> >(grep -v compopt >&2)
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    last = "" if re.fullmatch("[:=]+", pieces[-1]) else pieces[-1]
    typed = line.split(" ")[-1]
    before = typed[: len(typed) - len(last)]
    return {before + offer for offer in in_shell(place, "bash", "--norc", "-c", script) if offer}


@pytest.mark.parametrize("line, offers", LINES, ids=[line for line, _ in LINES])
def test_bash(place, line, offers):
    assert bash_offers(place, line) == offers


# ---- fish: tells by itself what it would offer ----


@pytest.mark.parametrize("line, offers", LINES, ids=[line for line, _ in LINES])
def test_fish(place, line, offers):
    told = in_shell(place, "fish", "--no-config", "-c", f"source forage.fish; complete -C {shlex.quote(line)}")
    assert {offer.split("\t")[0] for offer in told} == offers


def test_fish_has_the_meanings(place):
    told = in_shell(place, "fish", "--no-config", "-c", "source forage.fish; complete -C 'forage memory chec'")
    assert told == ["check\tverify every memory, the tables and their indexes"]


# ---- zsh: only an editor of lines completes, so there is one on a terminal, which writes down what is added ----

# As a package installs it, and as a start-up file sources it.
INSTALLED = """
fpath=($PWD/functions $fpath)
autoload -Uz compinit; compinit -u -D
"""
SOURCED = """
autoload -Uz compinit; compinit -u -D
source ./forage.zsh
"""
ZSH = r"""
compadd() {
    local -a matches
    builtin compadd -O matches "$@"
    print -rl -- $matches >>offers
    builtin compadd "$@"
}
tell() { : >offers; zle complete-word; print -r -- "(end)" >>offers; BUFFER= }
zle -N tell
bindkey '^T' tell
unsetopt list_beep beep
print ready >offers
"""


class Zsh:
    def __init__(self, place, load):
        self.offers_file = place / "offers"
        self.offers_file.unlink(missing_ok=True)
        (place / "start.zsh").write_text(load + ZSH)
        self.terminal, theirs = pty.openpty()
        self.child = subprocess.Popen(
            ["zsh", "-f", "-i"], cwd=place, env=shell_environment(place), stdin=theirs, stdout=theirs, stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        os.set_blocking(self.terminal, False)
        self.type("source ./start.zsh\n")
        self.wait_for("ready")

    def type(self, text):
        os.write(self.terminal, text.encode())

    def wait_for(self, mark):
        def there():
            try:
                os.read(self.terminal, 65536)  # what it shows must go somewhere
            except OSError:
                pass
            lines = self.offers_file.read_text().splitlines() if self.offers_file.exists() else []
            return lines if lines and lines[-1] == mark else None

        return wait_until(there, 60)

    def offers(self, line):
        self.offers_file.write_text("")
        self.type(line + "\x14")
        return {offer for offer in self.wait_for("(end)")[:-1] if offer}

    def close(self):
        self.child.kill()
        self.child.wait(60)
        os.close(self.terminal)


@pytest.fixture(scope="module", params=[INSTALLED, SOURCED], ids=["installed", "sourced"])
def zsh(place, request):
    shell = Zsh(place, request.param)
    yield shell
    shell.close()


@pytest.mark.parametrize("line, offers", LINES, ids=[line for line, _ in LINES])
def test_zsh(zsh, line, offers):
    assert zsh.offers(line) == offers


# ---- without a shell ----


def test_wrong_shell():
    completed = run("completions", "tcsh")
    assert completed.returncode == 2 and "tcsh" in completed.stderr


def test_completing_is_silent_where_settings_are_wrong():
    """A mistake in the settings must not disturb the line; names are simply not offered."""
    completed = run("completions", "line", "--", "call", "", FORAGE_WORKERS="x")
    assert completed.returncode == 0 and completed.stdout == ""
