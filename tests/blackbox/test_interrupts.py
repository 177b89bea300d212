"""What a shell and a terminal do to commands: closed pipes, full disks, ctrl-C, ctrl-D."""

import json
import os
import pty
import select
import signal
import socket
import subprocess
import termios
import time

import pytest
from fakes import worker as play
from fakes.worker import Worker
from programs import FORAGE, PATIENCE, environment, run, wait_until
from research import Place, alive_in
from secrets_watch import look

# ---- a closed pipe ----


def into_head(*arguments, lines=1, **settings):
    """Runs a command into `head`, which is gone from the start where it takes no line; its exit code as a shell sees
    it, what head took, and its errors."""
    ours, theirs = os.pipe()
    with os.fdopen(ours, "rb") as output:
        if not lines:
            output.close()
        command = subprocess.Popen(
            [FORAGE, *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=subprocess.PIPE,
            env=environment(settings),
        )
        os.close(theirs)
        taken = b"".join(output.readline() for _ in range(lines))
    errors = command.stderr.read()
    command.stderr.close()
    code = command.wait(PATIENCE)
    look(taken + errors, f"the output of {arguments}")
    return 128 - code if code < 0 else code, taken.decode(), errors.decode()


def fill(folder, count=5000):
    lines = "".join(json.dumps({"key": f"k{number:05}", "text": "word " * 40}) + "\n" for number in range(count))
    assert run("memory", "import", stdin=lines.encode(), FORAGE_DATA_DIR=folder).returncode == 0


def test_an_export_into_a_closed_pipe_is_quiet(tmp_path):
    fill(tmp_path)
    code, taken, errors = into_head("memory", "export", FORAGE_DATA_DIR=tmp_path)
    assert code == 128 + signal.SIGPIPE and errors == ""
    assert json.loads(taken)["key"] == "k00000"
    checked = run("memory", "check", FORAGE_DATA_DIR=tmp_path)
    assert checked.returncode == 0 and "5000 memories, 0 problems" in checked.stdout


PRINTING = [
    ["help"],
    ["help", "--man"],
    ["version"],
    ["tools"],
    ["tools", "--json"],
    ["config"],
    ["config", "--markdown"],
    ["completions", "bash"],
    ["setup"],
    ["doctor"],
    ["usage", "--json"],
    ["call", "forage_status"],
    ["memory", "list"],
    ["memory", "get", "k00001"],
    ["memory", "search", "word"],
]


@pytest.fixture(name="filled", scope="module")
def filled_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("filled")
    fill(folder, 100)
    return folder


@pytest.mark.parametrize("arguments", PRINTING, ids=" ".join)
def test_a_closed_pipe_is_no_error(filled, arguments):
    code, _, errors = into_head(*arguments, lines=0, FORAGE_DATA_DIR=filled)
    assert code == 128 + signal.SIGPIPE and errors == ""


def test_what_was_added_is_there_though_nobody_reads_that_it_was(tmp_path):
    code, _, errors = into_head("memory", "add", "heron", "--key", "bird", lines=0, FORAGE_DATA_DIR=tmp_path)
    assert code == 128 + signal.SIGPIPE and errors == ""
    assert run("memory", "get", "bird", FORAGE_DATA_DIR=tmp_path).stdout == "heron\n"


@pytest.mark.parametrize("arguments", [["help"], ["version"], ["memory", "list"], ["memory", "export"], ["tools"]], ids=" ".join)
def test_a_full_disk_is_an_error(filled, arguments):
    with open("/dev/full", "wb") as full:
        completed = subprocess.run(
            [FORAGE, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment({"FORAGE_DATA_DIR": filled}),
            timeout=PATIENCE,
            check=False,
        )
    assert completed.returncode == 1
    assert completed.stderr.startswith(b"forage: the output could not be written")


# ---- ctrl-C and ctrl-D ----


class Terminal:
    """A command with a terminal of its own, in which ctrl-C is what it is for a person."""

    def __init__(self, *arguments, **settings):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            try:
                signal.signal(signal.SIGINT, signal.SIG_DFL)  # whoever runs the tests may ignore it
                os.execve(FORAGE, [FORAGE, *map(str, arguments)], environment({"TERM": "xterm", **settings}))
            finally:
                os._exit(99)
        self.before = termios.tcgetattr(self.terminal)
        self.shown = b""

    def read(self):
        ready, _, _ = select.select([self.terminal], [], [], 0.01)
        try:
            self.shown += os.read(self.terminal, 65536) if ready else b""
        except OSError:
            pass  # the other side is closed

    def wait_for(self, words):
        wait_until(lambda: self.read() or words in self.shown)

    def type(self, data):
        os.write(self.terminal, data)

    def end(self):
        """The exit code as a shell sees it, and all that was shown."""
        ended = []

        def look_at_it():
            self.read()
            if not ended:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                ended.extend([status] if pid else [])
            return ended

        wait_until(look_at_it)
        for _ in range(3):
            self.read()
        settings = termios.tcgetattr(self.terminal)
        os.close(self.terminal)
        look(self.shown, "what a terminal shows")
        assert settings == self.before, "the terminal is not as it was"
        code = os.waitstatus_to_exitcode(ended[0])
        return 128 - code if code < 0 else code, self.shown.decode()


CTRL_C, CTRL_D = b"\x03", b"\x04"
WAITING = [(["memory", "add", "--key", "typed"], "the text"), (["memory", "import"], "memories")]


@pytest.mark.parametrize("arguments, what", WAITING, ids=["add", "import"])
def test_ctrl_c_ends_what_waits_for_input(tmp_path, arguments, what):
    terminal = Terminal(*arguments, FORAGE_DATA_DIR=tmp_path)
    terminal.wait_for(f"waiting for {what}".encode())
    assert b"ctrl-D" in terminal.shown
    terminal.type(b'{"text": "half')
    terminal.type(CTRL_C)
    code, _ = terminal.end()
    assert code == 130
    assert "0 of 0" in run("memory", "list", FORAGE_DATA_DIR=tmp_path).stdout


@pytest.mark.parametrize("arguments, what", WAITING, ids=["add", "import"])
def test_ctrl_d_ends_the_input(tmp_path, arguments, what):
    terminal = Terminal(*arguments, FORAGE_DATA_DIR=tmp_path)
    terminal.wait_for(f"waiting for {what}".encode())
    terminal.type(b'{"key": "typed", "text": "heron"}\n' + CTRL_D)
    code, _ = terminal.end()
    assert code == 0
    assert "heron" in run("memory", "get", "typed", FORAGE_DATA_DIR=tmp_path).stdout


@pytest.mark.parametrize(
    "arguments, what",
    [(["extract"], "a page of HTML"), (["extract", "--batch"], "lines of PAGE_PATH"), (["mcp"], "MCP messages")],
    ids=["extract", "batch", "mcp"],
)
def test_whatever_reads_a_terminal_says_so(tmp_path, arguments, what):
    terminal = Terminal(*arguments, FORAGE_DATA_DIR=tmp_path)
    terminal.wait_for(f"waiting for {what}".encode())
    terminal.type(CTRL_D)
    assert terminal.end()[0] == 0


def test_nothing_is_said_of_waiting_where_nobody_types(tmp_path):
    completed = run("memory", "add", "--key", "k", stdin=b"heron\n", FORAGE_DATA_DIR=tmp_path)
    assert completed.returncode == 0 and completed.stderr == ""


def test_ctrl_c_at_a_question_of_setup(tmp_path):
    (tmp_path / ".cursor").mkdir()
    terminal = Terminal("setup", "cursor", HOME=tmp_path)
    terminal.wait_for(b"[y/N]")
    terminal.type(CTRL_C)
    code, _ = terminal.end()
    assert code == 130 and not (tmp_path / ".cursor" / "mcp.json").exists()


class Silence:
    """An upstream that takes connections and never answers."""

    def __enter__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        self.taken = []
        return self

    def wait_for_a_visit(self):
        self.socket.settimeout(PATIENCE)
        self.taken.append(self.socket.accept()[0])

    def __exit__(self, *_):
        for one in [*self.taken, self.socket]:
            one.close()


ASKING = {
    "read": (["read", "{url}/page"], {"FORAGE_ALLOW_PRIVATE_HOSTS": "127.0.0.1"}),
    "call": (["call", "get_content", "url={url}/page"], {"FORAGE_ALLOW_PRIVATE_HOSTS": "127.0.0.1"}),
    "answer": (["answer", "what?"], {"OPENAI_BASE_URL": "{url}"}),
    "web": (["web", "heron"], {"SEARXNG_BASE_URL": "{url}"}),
}


@pytest.mark.parametrize("name", ASKING)
def test_ctrl_c_ends_a_call(tmp_path, name):
    with Silence() as silence:
        arguments, settings = ASKING[name]
        settings = {key: value.format(url=silence.url) for key, value in settings.items()}
        terminal = Terminal(*(word.format(url=silence.url) for word in arguments), FORAGE_DATA_DIR=tmp_path,
                            FORAGE_CACHE_DIR=tmp_path, **settings)
        silence.wait_for_a_visit()
        started = time.monotonic()
        terminal.type(CTRL_C)
        code, _ = terminal.end()
        assert code == 130 and time.monotonic() - started < PATIENCE


def test_ctrl_c_ends_research_and_its_worker(tmp_path):
    place = Place(tmp_path)
    worker = Worker(place.folder / "worker", [*play.begin(), ["child", None], *play.search(1, "q"), play.hang()])
    terminal = Terminal("research", "herons", "--quick", **place.settings(GEMINI_CLI_PATH=worker.path))
    wait_until(worker.runs)
    assert not worker.runs()[0]["terminal"], "a worker can write to the terminal, and read what is typed"
    terminal.type(CTRL_C)
    code, _ = terminal.end()
    assert code == 130
    wait_until(lambda: alive_in({run["group"] for run in worker.runs()}) == 0)
