"""The programs under test: how they are started, spoken to and ended.

A test never waits by the clock: it waits for a line of the log, a message or an end, with PATIENCE as the
ceiling beyond which something is broken. The ceiling is generous, since sanitizers and busy machines make
everything slower.
"""

import contextlib
import fcntl
import json
import os
import pathlib
import pty
import random
import re
import signal
import socket
import struct
import subprocess
import tempfile
import termios
import threading
import time

from secrets_watch import WATCH, canaries, look

ROOT = pathlib.Path(__file__).resolve().parents[2]
FORAGE = os.path.abspath(os.environ.get("FORAGE", ROOT / "build" / "forage"))
CONFORMANCE = os.path.abspath(
    os.environ.get("FORAGE_CONFORMANCE", os.path.join(os.path.dirname(FORAGE), "forage-conformance"))
)
# Everything takes many times longer, and more memory.
SANITIZED = bool(re.search(r"build-(asan|tsan)/", FORAGE))
PATIENCE = 120.0 if SANITIZED else 30.0

# A build that counts lines puts this into the environment of every child.
COUNTS_LINES = "__LLVM_PROFILE_RT_INIT_ONCE"
# What a program inherits from us: nothing that could configure it, but what a sanitizer or a coverage
# build needs.
INHERITED = re.compile(r"PATH|LD_LIBRARY_PATH|(A|L|T|UB)SAN_OPTIONS|GCOV_.*|LLVM_PROFILE_FILE|TMPDIR|LANG")


def environment(settings):
    """What a program is started with: the settings of the test (None: not set), and a value for every secret."""
    variables = {name: value for name, value in os.environ.items() if INHERITED.fullmatch(name)}
    # A home of its own, which is not there: the configuration file of whoever runs the tests stays out.
    # Below /proc, since there root cannot make it either.
    variables["HOME"] = "/proc/nonexistent"
    variables.update(canaries(FORAGE))
    if os.geteuid() != 0:
        variables["FORAGE_CORE_DUMPS"] = "yes"  # else nobody but root could count its descriptors
    variables.update(settings)
    WATCH.learn(FORAGE, settings)
    return {name: str(value) for name, value in variables.items() if value is not None}


def wait_until(condition, patience=PATIENCE):
    """Waits for something that only looking can tell; what the condition gave."""
    end = time.monotonic() + patience
    while not (value := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.001)
    return value


def files_with(folder, words):
    """The files below a folder that hold these bytes. One that is replaced or removed meanwhile holds nothing."""
    found = []
    for path in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):  # it was there a moment ago
            if path.is_file() and words in path.read_bytes():
                found.append(path)
    return found


def no_thread_check():
    """Settings for a program that leaves a stuck call behind: ThreadSanitizer would report the threads that nobody joined."""
    return {"TSAN_OPTIONS": os.environ.get("TSAN_OPTIONS", "") + ":report_thread_leaks=0"}


def unused_port():
    """A port of loopback that nobody uses, for a program that must be told one. It is below those that the kernel gives to
    whoever asks for any, so that no other program gets it meanwhile."""
    while True:
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", random.randrange(20000, 32000)))
            return probe.getsockname()[1]


def processes():
    """The state, the parent and the group of every process."""
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent, group = path.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue  # it has just gone
        yield state, int(parent), int(group)


def group_lives(group):
    """Whether a process of the group still runs. The dead whom nobody has buried yet do not count."""
    return any(its_group == group and state not in "ZX" for state, _, its_group in processes())


def has_children(pid):
    """Whether a process has children, dead ones included: it should have buried them."""
    return any(parent == pid for _, parent, _ in processes())


def set_width(terminal, columns):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))


def run_on_terminal(*arguments, program=FORAGE, patience=PATIENCE, columns=0, typed=None, **settings):
    """Runs a command whose output and errors each go to a terminal; what they show, as text. The terminals have so many
    columns (0: they do not say). What is typed comes from a third one; without it there is no input."""
    shown = {"stdout": b"", "stderr": b""}

    def gather(name, terminal):
        try:
            while piece := os.read(terminal, 65536):
                shown[name] += piece
        except OSError:
            pass  # the other side is closed: that was all
        os.close(terminal)

    pairs = {name: pty.openpty() for name in shown}
    keyboard = pty.openpty() if typed is not None else None
    for ours, _ in pairs.values():
        set_width(ours, columns)
    if keyboard:
        os.write(keyboard[0], typed.encode())
    variables = environment({"TERM": "xterm", **settings})
    child = subprocess.Popen(
        [program, *map(str, arguments)],
        stdin=keyboard[1] if keyboard else subprocess.DEVNULL,
        env=variables,
        start_new_session=True,
        **{name: theirs for name, (_, theirs) in pairs.items()},
    )
    threads = [threading.Thread(target=gather, args=(name, ours)) for name, (ours, _) in pairs.items()]
    for thread, (_, theirs) in zip(threads, pairs.values()):
        os.close(theirs)
        thread.start()
    code = child.wait(patience)
    for thread in threads:
        thread.join(patience)
    for end in keyboard or ():
        os.close(end)
    for name, data in shown.items():
        look(data, f"what {arguments} shows on {name}")
    texts = {name: data.decode().replace("\r\n", "\n") for name, data in shown.items()}
    return subprocess.CompletedProcess(arguments, code, **texts)


def screen(shown):
    """The lines that are left of what a terminal was sent: a carriage return goes back, and ESC [K empties the rest."""
    lines, column = [""], 0
    for sent in re.findall(r"\033\[[\d;]*[A-Za-z]|.", shown, re.S):
        if sent == "\n":
            lines.append("")
            column = 0
        elif sent == "\r":
            column = 0
        elif sent == "\033[K":
            lines[-1] = lines[-1][:column]
        elif not sent.startswith("\033"):
            lines[-1] = lines[-1][:column] + sent + lines[-1][column + 1 :]
            column += 1
    return lines[:-1] if lines[-1] == "" else lines


def no_leak_check():
    """Settings for a program that a test may kill while it ends by itself: AddressSanitizer would be looking for leaks
    then, and would report that the threads vanish under its eyes."""
    return {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}


def run(*arguments, program=FORAGE, stdin=b"", patience=PATIENCE, cwd=None, **settings):
    """Runs a command to its end; its exit code, and its output as text."""
    completed = subprocess.run(
        [program, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        env=environment(settings),
        timeout=patience,
        check=False,
    )
    look(completed.stdout + completed.stderr, f"the output of {os.path.basename(program)} {' '.join(map(str, arguments))}")
    WATCH.look_into(settings)
    completed.stdout = completed.stdout.decode()
    completed.stderr = completed.stderr.decode()
    return completed


class Lines:
    """The lines of a stream, collected by a thread as they come, each with the time it came."""

    def __init__(self, stream):
        self._stream = stream
        self._changed = threading.Condition()
        self._lines = []
        self._ended = False
        self.sent = set()  # tokens that whoever reads the stream knows
        self._thread = threading.Thread(target=self._collect, daemon=True)
        self._thread.start()

    def _collect(self):
        for line in self._stream:
            look(line, "a line that a program wrote", self.sent)
            with self._changed:
                self._lines.append((time.monotonic(), line))
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        self._stream.close()

    def all(self):
        with self._changed:
            return [line for _, line in self._lines]

    def text(self):
        return b"".join(self.all()).decode(errors="replace")

    def join(self):
        self._thread.join(PATIENCE)

    def wait(self, wanted, patience=PATIENCE):
        """The first (time, line) of which `wanted` is true; None when the stream ended without it."""
        end = time.monotonic() + patience
        seen = 0
        with self._changed:
            while True:
                for stamp, line in self._lines[seen:]:
                    seen += 1
                    if wanted(line):
                        return stamp, line
                if self._ended:
                    return None
                if not self._changed.wait(end - time.monotonic()):
                    raise TimeoutError("waited in vain; so far:\n" + "".join(map(repr, self._lines)))


class Program:
    """A running program. Its log is collected; whoever starts it ends it, by its id."""

    def __init__(
        self, arguments, program=FORAGE, launcher=(), stdin=subprocess.DEVNULL, stdout=None, **settings
    ):
        self._settings = settings
        # What must stay empty goes to a file, so that nobody has to read it in time.
        self.output = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [*launcher, program, *map(str, arguments)],
            stdin=stdin,
            stdout=stdout or self.output,
            stderr=subprocess.PIPE,
            env=environment(settings),
        )
        self.log = Lines(self.process.stderr)

    @property
    def pid(self):
        return self.process.pid

    def alive(self):
        return self.process.poll() is None

    def wait_log(self, pattern, patience=PATIENCE):
        """The time at which a line of the log matched, and the match."""
        wanted = re.compile(pattern)
        found = self.log.wait(lambda line: wanted.search(line.decode(errors="replace")), patience)
        assert found, f"the program ended without logging {pattern!r}:\n{self.log.text()}"
        return found[0], wanted.search(found[1].decode(errors="replace"))

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, patience=PATIENCE):
        """Waits for its end; the exit code."""
        code = self.process.wait(patience)
        self.log.join()
        return code

    def stray_output(self):
        self.output.seek(0)
        return self.output.read()

    def kill(self):
        """For a test that failed half-way."""
        if self.alive():
            self.process.kill()
        self.process.wait()
        look(self.stray_output(), "standard output")
        WATCH.look_into(self._settings)
        self.output.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        try:
            if kind is None:
                self.end()
        finally:
            self.kill()

    def end(self):
        """Asks it to end, as an operator would, and checks that it does so properly."""
        if self.alive():
            self.signal(signal.SIGTERM)
        code = self.wait()
        assert code == 0, f"exit code {code}; the log:\n{self.log.text()}"
        assert self.stray_output() == b"", "standard output belongs to the protocol"


class Server(Program):
    """`forage serve` on a free port of loopback."""

    def __init__(self, program=FORAGE, launcher=(), **settings):
        settings = {"MCP_SERVER_PORT": 0, **settings}
        super().__init__(["serve"], program, launcher, **settings)
        try:
            _, match = self.wait_log(r"serves http://(\S+):(\d+) ")
        except BaseException:
            self.kill()
            raise
        self.port = int(match[2])


class Stdio(Program):
    """`forage mcp`, and a client that speaks with it line by line."""

    def __init__(self, program=FORAGE, launcher=(), arguments=("mcp",), **settings):
        super().__init__(arguments, program, launcher, subprocess.PIPE, subprocess.PIPE, **settings)
        self.answers = Lines(self.process.stdout)
        self._last_id = 0

    def send(self, message):
        """A message, or bytes that may be none."""
        data = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
        self.answers.sent |= WATCH.tokens_in(data)
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def messages(self):
        """All that came so far."""
        return [json.loads(line) for line in self.answers.all()]

    def wait_message(self, wanted, patience=PATIENCE):
        found = self.answers.wait(lambda line: wanted(json.loads(line)), patience)
        assert found, f"the program ended without an answer; the log:\n{self.log.text()}"
        return json.loads(found[1])

    def answer(self, id, patience=PATIENCE):
        """The answer to the request with that id."""
        return self.wait_message(
            lambda message: isinstance(message, dict) and "method" not in message and message.get("id") == id,
            patience,
        )

    def new_id(self):
        self._last_id += 1
        return f"test-{self._last_id}"

    def ask(self, method, params=None, **more):
        """Sends a request and waits for its answer."""
        message = {"jsonrpc": "2.0", "id": self.new_id(), "method": method, **more}
        if params is not None:
            message["params"] = params
        self.send(message)
        return self.answer(message["id"])

    def tell(self, method, params=None):
        """Sends a notification."""
        message = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        self.send(message)

    def handshake(self, version="2025-11-25", **capabilities):
        answer = self.ask(
            "initialize",
            {
                "protocolVersion": version,
                "capabilities": capabilities,
                "clientInfo": {"name": "blackbox", "version": "1"},
            },
        )
        self.tell("notifications/initialized")
        return answer["result"]

    def close(self):
        """Closes its standard input, as a client does that leaves, and checks that it ends properly."""
        if not self.process.stdin.closed:
            self.process.stdin.close()
        code = self.wait()
        self.answers.join()
        assert code == 0, f"exit code {code}; the log:\n{self.log.text()}"

    end = close

    def kill(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        super().kill()
