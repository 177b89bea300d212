"""The log never holds anything up: stderr that nobody reads, a terminal that was stopped, answers that nobody takes.

Each test fills stderr far beyond what a pipe, a socket or a terminal holds, and then counts: a line came out, or a line that
came out says that it was dropped."""

import contextlib
import json
import os
import pty
import re
import signal
import socket
import subprocess
import termios
import threading

import pytest
from http_client import Connection, exchange, request
from messages import tool_call
from programs import FORAGE, PATIENCE, Server, environment, wait_until
from secrets_watch import look

CALLS = 10_000
DROPPED = re.compile(r"WARN  (\d+) lines? (?:was|were) dropped: nobody read the log$")
# A call that fails has a line in the log, and so has a request without a token.
WRONG = {"tool": 5}
CALLED = r" tool=forage_status .*$"
REFUSED = r" refused a request without a token .*$"
WRONG_OVER_REST = request("POST", "/api/v1/tools/forage_status", body=WRONG)
STOP, GO_ON = b"\x13", b"\x11"  # ctrl-S and ctrl-Q


class Pipe:
    """stderr as a pipe, as clients of MCP make it."""

    def __init__(self):
        self.ours, self.theirs = os.pipe()

    def stop(self):
        pass

    def go_on(self):
        pass

    def read(self):
        return os.read(self.ours, 65536)

    def close(self):
        os.close(self.ours)


class Journal(Pipe):
    """stderr as a socket, as systemd makes it."""

    def __init__(self):
        self.pair = socket.socketpair()
        self.ours, self.theirs = self.pair[0].fileno(), os.dup(self.pair[1].fileno())
        self.pair[1].close()

    def close(self):
        self.pair[0].close()


class Terminal(Pipe):
    """stderr as a terminal, which ctrl-S stops."""

    def __init__(self):
        self.ours, self.theirs = pty.openpty()
        settings = termios.tcgetattr(self.theirs)
        settings[1] &= ~termios.OPOST
        termios.tcsetattr(self.theirs, termios.TCSANOW, settings)

    def stop(self):
        os.write(self.ours, STOP)

    def go_on(self):
        os.write(self.ours, GO_ON)

    def read(self):
        try:
            return os.read(self.ours, 65536)
        except OSError:
            return b""  # nobody has it open any more


class Unheard:
    """forage with a stderr that is read when the test says so, and not before."""

    def __init__(self, stderr, *arguments, **settings):
        self.stderr = stderr()
        self.log = b""
        self.process = subprocess.Popen(
            [FORAGE, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.stderr.theirs,
            env=environment(settings),
            start_new_session=True,
        )
        os.close(self.stderr.theirs)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        look(self.log, "a log that was not read in time")
        self.stderr.close()

    def read_until(self, pattern):
        """Reads the log up to a line that matches, and no further than the read that brought it."""
        while not (found := re.search(pattern, self.log.decode(errors="replace"), re.M)):
            piece = self.stderr.read()
            assert piece, f"the program ended without {pattern!r}:\n{self.log[-2000:]!r}"
            self.log += piece
        return found

    def read_on(self):
        """Reads the log to its end, from now on and in the background."""

        def collect():
            while piece := self.stderr.read():
                self.log += piece

        thread = threading.Thread(target=collect, daemon=True)
        thread.start()
        return thread

    def lines(self, pattern):
        """How many lines match, and how many were dropped, as the log says."""
        text = self.log.decode()
        dropped = [int(match[1]) for line in text.split("\n") if (match := DROPPED.search(line))]
        return len(re.findall(pattern, text, re.M)), sum(dropped)

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(PATIENCE) == 0


def serve(stderr, **settings):
    server = Unheard(stderr, "serve", MCP_SERVER_PORT=0, **settings)
    try:
        server.port = int(server.read_until(r"serves http://\S+:(\d+) ")[1])
    except BaseException:
        server.__exit__()
        raise
    return server


def ask_many(port, message, count, status):
    """So many requests over one connection, a hundred at a time on their way."""
    with Connection(port) as connection:
        for _ in range(count // 100):
            connection.send(message * 100)
            assert {connection.response().status for _ in range(100)} == {status}


def wrong_calls(count):
    """The lines of so many calls over stdio."""
    return b"".join(json.dumps(tool_call("forage_status", WRONG, id)).encode() + b"\n" for id in range(count))


def call_over_stdio(program, count):
    """Sends so many calls and reads all answers, at the same time."""

    def send():
        with contextlib.suppress(BrokenPipeError):  # then it does not answer either
            program.process.stdin.write(wrong_calls(count))
            program.process.stdin.flush()

    thread = threading.Thread(target=send, daemon=True)
    thread.start()
    watch = threading.Timer(PATIENCE, program.process.kill)
    watch.start()
    ids = [json.loads(program.process.stdout.readline() or b"{}").get("id") for _ in range(count)]
    watch.cancel()
    assert ids == list(range(count)), "the program stopped answering"
    thread.join()


def check_count(program, pattern, count):
    """Somebody reads again: what came out and what is said to be dropped is all there was. Everything that this program
    wrote before it was unread is in its log already."""
    program.stderr.go_on()
    reader = program.read_on()
    wait_until(lambda: sum(program.lines(pattern)) >= count)
    written, dropped = program.lines(pattern)
    assert written + dropped == count and written > 100 and dropped > 100
    program.end()
    reader.join(PATIENCE)
    assert sum(program.lines(pattern)) == count
    return reader


@pytest.mark.parametrize("stderr", [Pipe, Journal, Terminal])
def test_calls_over_stdio_go_on(stderr):
    with Unheard(stderr, "mcp") as program:
        program.stderr.stop()
        call_over_stdio(program, CALLS)
        check_count(program, CALLED, CALLS)


@pytest.mark.parametrize("stderr", [Pipe, Journal, Terminal])
def test_calls_over_http_go_on(stderr):
    with serve(stderr) as server:
        server.stderr.stop()
        ask_many(server.port, WRONG_OVER_REST, CALLS, 400)
        assert exchange(server.port, request("GET", "/health")).status == 200
        metrics = exchange(server.port, request("GET", "/metrics")).body.decode()
        check_count(server, CALLED, CALLS)
        assert f"\nforage_log_dropped_lines_total {server.lines(CALLED)[1]}\n" in metrics


def test_requests_that_nobody_authenticated():
    with serve(Pipe, FORAGE_TOKENS="alice:alice-token-0123456789") as server:
        message = request(body=tool_call("forage_status"))
        for _ in range(CALLS):  # each on a connection of its own, which the server closes
            assert exchange(server.port, message).status == 401
        assert exchange(server.port, request("GET", "/health")).status == 200
        check_count(server, REFUSED, CALLS)


def test_lines_come_in_order():
    with Unheard(Pipe, "mcp") as program:
        call_over_stdio(program, CALLS // 2)
        check_count(program, CALLED, CALLS // 2)
    lines = program.log.decode().splitlines()
    assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (INFO|WARN) ", line) for line in lines)
    stamps = [line[:24] for line in lines]
    assert stamps == sorted(stamps)


@pytest.mark.parametrize("stderr", [Pipe, Journal, Terminal])
def test_it_ends_though_nobody_reads(stderr):
    with serve(stderr) as server:
        server.stderr.stop()
        ask_many(server.port, WRONG_OVER_REST, 3000, 400)
        server.end()
    with Unheard(stderr, "mcp") as program:
        program.stderr.stop()
        call_over_stdio(program, 3000)
        program.end()


def test_a_reader_that_left():
    """Whoever closed the other end of stderr gets no line, and nothing else happens."""
    with serve(Pipe) as server:
        os.close(server.stderr.ours)
        server.stderr.ours = os.open(os.devnull, os.O_RDONLY)
        ask_many(server.port, WRONG_OVER_REST, 1000, 400)
        server.end()


def test_last_lines_reach_a_file(tmp_path):
    """Nothing is lost on the way out where the log is a file, which only the thread of the log writes to."""
    path = tmp_path / "log"
    with open(path, "wb") as log:
        process = subprocess.run(
            [FORAGE, "mcp"],
            input=wrong_calls(500),
            stdout=subprocess.PIPE,
            stderr=log,
            env=environment({}),
            timeout=PATIENCE,
            check=True,
        )
    assert len(process.stdout.splitlines()) == 500
    assert len(re.findall(CALLED, path.read_text(), re.M)) == 500


def test_a_burst_is_not_lost():
    """A reader that reads gets every line."""
    with Server() as server:
        ask_many(server.port, WRONG_OVER_REST, CALLS, 400)
        wait_until(lambda: server.log.text().count(" tool=forage_status ") == CALLS)
        assert "dropped" not in server.log.text()


def test_answers_that_nobody_takes():
    """A client that sends calls and reads no answer fills standard output: the program still ends when it is told to."""
    with Unheard(Pipe, "mcp") as program:
        call_over_stdio(program, 1)  # it has started
        os.set_blocking(program.process.stdin.fileno(), False)

        def full():
            try:
                os.write(program.process.stdin.fileno(), wrong_calls(100))
            except BlockingIOError:
                return True
            return False

        wait_until(full)  # it reads no more, since it cannot answer
        program.end()
