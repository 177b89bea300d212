#!/usr/bin/env python3
"""Connects the vendors' own programs to forage.

    run.py                 every case
    run.py codex http      the cases whose line contains each of these words
    run.py --list          the cases
    run.py --keep ...      leaves the folder of each failed case, with its recording and outputs

A case is one client, in one of its modes, over one transport. A relay of ours between the two
records what passes (recording.py). A case passes when forage received and answered the client's
tools/list (or what it sends instead) and the client shows forage as connected, with its tools.
Where the client talks to a model, a fake one (fake_model.py) asks for forage_status, and the result
must come back to it.

Each client also has cases that must fail, so that its checks are known to be able to: there the
relay breaks the answer to tools/list, the token is wrong, or forage waits longer than the client,
and the case passes when the check notices.

Claude Code, Codex and Gemini CLI are also run with a configuration that `forage setup` has written into
theirs, with the key or the token as a reference: it must come to forage, and be in no file. Once it was
taken back (--undo), the check must fail, for want of a server.

The same three are also run with the plugin of plugin/, installed by their own commands, from a copy of it: it must find forage
on PATH, which gets its key from its own file; the model must be told of the skill. Where what the plugin starts does
not start, the check must fail.

Each client also has a research done that takes longer than most of them wait for a call: its report must come to the
model, or to whoever asked (researching.py).

The same three also read a page that is longer than they take at once, for the context that `forage setup` would
write and, where that makes a difference, for none: forage's result must come to the model whole (reading.py).

A client is a module: its NAME, its MODES, launch() that says how to start it, and check().

FORAGE names the program (build/forage); the clients are in .deps/clients (scripts/setup clients).
The last line counts: "N passed, N failed".
"""

import contextlib
import os
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import claude_code
import codex
import gemini_cli
import inspector
import mcp_remote
import reading
import researching
import sdk
from fake_model import FakeModel
from harness import (
    FORAGE,
    HTTP_TOKEN,
    ROOT,
    SECONDS_PER_CLIENT,
    STDIO,
    TOKEN,
    Failure,
    ForageServer,
    Mode,
    Outcome,
    Way,
)
from harness import expect_context, expect_key, expect_skill, expect_success, expect_version, relay_command, run_client
from recording import Recording
from relay_http import HttpRelay

CLIENTS = [sdk, inspector, claude_code, gemini_cli, codex, mcp_remote]
SET_UP = [claude_code, gemini_cli, codex]
SET_UP_MODES = ("mcp list", "conversation")
# Who reads a page, told which context, which page, and how many characters must come at least: nearly what forage allows for
# that client. The last one has no context; JSON of this size went into a file before forage announced it.
READERS = [
    (claude_code, "claude-code", "tides", 44_000),
    (claude_code, "claude-code", "潮", 44_000),
    (gemini_cli, "gemini-cli", "tides", 35_000),
    (gemini_cli, "gemini-cli", "潮", 35_000),
    (codex, "codex", "tides", 31_000),
    (codex, "codex", "潮", 12_000),
    (claude_code, "", "tides", 55_000),
]


@dataclass
class Case:
    client: object
    mode: Mode
    transport: str
    # What is made wrong on purpose: nothing, "broken list", "wrong token", "taken back", "no program" or "never a job".
    wrong: str = ""
    # Whether `forage setup` tells the client of forage, and not we, or the plugin does.
    by_setup: bool = False
    by_plugin: bool = False
    # Of a case that reads a page: its row of READERS.
    reader: tuple = ()
    # Of a case that has something researched: its row of researching.RESEARCHERS.
    researcher: researching.Researcher | None = None

    @property
    def name(self):
        words = f"{self.client.NAME} {self.mode.name}, {self.transport}"
        words += ", forage setup" if self.by_setup else ", plugin" if self.by_plugin else ""
        if self.reader:
            words += f", reads {self.reader[2]}" + (f" with --context {self.reader[1]}" if self.reader[1] else "")
        if self.researcher:
            words = f"{self.client.NAME} {self.researcher.mode}, {self.transport}, has it researched"
            words += f" with --context {self.researcher.context}" if self.researcher.context else ""
        return words + (f", {self.wrong}: must fail" if self.wrong else "")


@dataclass
class Seen:
    """What a case left behind for the client's check."""

    outcome: Outcome
    recording: Recording
    model: FakeModel


def all_cases():
    modes = [(client, mode) for client in CLIENTS for mode in client.MODES]
    for client, mode in modes:
        for transport in mode.transports:
            yield Case(client, mode, transport)
    for client, mode in modes:
        if mode.broken:
            yield Case(client, mode, mode.transports[0], "broken list")
    for client in CLIENTS:
        yield Case(client, client.MODES[0], HTTP_TOKEN, "wrong token")
    for client in SET_UP:
        for mode in client.MODES:
            for transport in (STDIO, HTTP_TOKEN):
                if transport in mode.transports and mode.name in SET_UP_MODES:
                    yield Case(client, mode, transport, by_setup=True)
        yield Case(client, client.MODES[0], STDIO, "taken back", by_setup=True)
    for client in SET_UP:
        for mode in client.MODES:
            if mode.name in SET_UP_MODES:
                yield Case(client, mode, STDIO, by_plugin=True)
        (mode,) = [mode for mode in client.MODES if mode.name == "conversation"]
        yield Case(client, mode, STDIO, "no program", by_plugin=True)
    for reader in READERS:
        (mode,) = [mode for mode in reader[0].MODES if mode.name == "conversation"]
        yield Case(reader[0], mode, STDIO, reader=reader)
    for who in (*researching.RESEARCHERS, researching.GIVES_UP):
        (mode,) = [mode for mode in who.client.MODES if mode.name == who.mode.removesuffix(" tasks")]
        wrong = "never a job" if who is researching.GIVES_UP else ""
        yield Case(who.client, mode, who.transport, wrong, researcher=who)


@contextlib.contextmanager
def open_way(case, folder, recording, world):
    """The way to forage that the client is told of, open as long as the case runs."""
    breaking = case.wrong == "broken list"
    setup = {"by_setup": case.by_setup, "undone": case.wrong == "taken back"}
    setup |= {"by_plugin": case.by_plugin, "broken": case.wrong == "no program"}
    settings = world.settings if world else []
    if case.transport == STDIO:
        context = case.reader[1] if case.reader else case.researcher.context if case.researcher else ""
        arguments = ["--context", context] if context else []
        command = relay_command(recording, breaking, settings, arguments)
        yield Way(command=command, reads=bool(case.reader), **setup)
        return
    token = TOKEN if case.transport == HTTP_TOKEN else None
    sent = "not-" + TOKEN if case.wrong == "wrong token" else token
    headers = {"Authorization": "Bearer " + sent} if sent else {}
    with ForageServer(folder, token, settings) as server, HttpRelay(
        server.port, recording, breaking
    ) as relay:
        yield Way(url=relay.origin + "/mcp", headers=headers, **setup)


def world_of(case):
    """What is around forage in a case that needs more than forage."""
    if case.reader:
        return reading.Web()
    if not case.researcher:
        return contextlib.nullcontext()
    return researching.Study("10m" if case.wrong == "never a job" else None)


def model_for(case, world):
    if case.reader:
        return FakeModel(reading.TOOL, {"url": world.url(case.reader[2])})
    return FakeModel(researching.TOOL, {"topic": world.topic}) if case.researcher else FakeModel()


def attempt(case, folder):
    """Runs one case; what passed between the two, and what is wrong or None."""
    path = os.path.join(folder, "recording")
    place = os.path.join(folder, "home")
    os.mkdir(place)
    problem = None
    name = case.researcher.mode if case.researcher else case.mode.name
    seconds = researching.SECONDS_PER_CLIENT if case.researcher else SECONDS_PER_CLIENT
    try:
        with world_of(case) as world, model_for(case, world) as model, open_way(case, folder, path, world) as way:
            outcome = run_client(case.client.launch(name, way, place, model), place, seconds)
            recording = Recording(path)
            expect_success(outcome)
            expect_version(recording, case.mode.version)
            seen = Seen(outcome, recording, model)
            if case.reader:
                reading.expect_read(seen, *case.reader[1:])
            elif case.researcher:
                world.expect_report(case.researcher, seen)
            else:
                case.client.check(name, seen)
            if (case.by_setup or case.by_plugin) and case.transport == STDIO and name == "conversation":
                expect_key(recording)
            if case.by_plugin and name == "conversation":
                expect_context(recording, case.client.CONTEXT)
                expect_skill(model)
    except Failure as failure:
        problem = str(failure)
    except Exception as error:  # output that a check cannot read fails that case, not the whole run
        problem = f"{type(error).__name__}: {error}"
    return Recording(path), problem


def judge(case, recording, problem):
    """Whether the case went as it should, and what to say of it."""
    if not case.wrong:
        return not problem, problem or recording.story()
    # It must fail for the reason that we made, not for another one.
    reached = {
        "broken list": bool(recording.results("tools/list")),
        "wrong token": 401 in recording.statuses(),
        "taken back": not recording.entries and "forage setup" not in (problem or ""),
        "no program": not recording.entries and "before the client" not in (problem or ""),
        "never a job": "Request timed out" in (problem or ""),
    }
    if not reached[case.wrong]:
        return False, f"did not come as far as the {case.wrong}: {problem}"
    return bool(problem), problem.splitlines()[0] if problem else "the check did not notice"


def run_case(case, keep):
    """Runs one case in a folder of its own; whether it passed, and its line."""
    started = time.monotonic()
    folder = tempfile.mkdtemp(prefix="forage-client-")
    good, words = False, "was interrupted"
    try:
        good, words = judge(case, *attempt(case, folder))
    finally:
        if keep and not good:
            words += f"\nkept in {folder}"
        else:
            shutil.rmtree(folder, ignore_errors=True)
    seconds = time.monotonic() - started
    lines = "\n      ".join(words.strip().splitlines())
    return good, f"{'PASS' if good else 'FAIL'}  {case.name:54}  {seconds:4.1f} s  {lines}"


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    cases = [
        case for case in all_cases() if all(word.lower() in case.name.lower() for word in words)
    ]
    if "--list" in sys.argv:
        print("\n".join(case.name for case in cases))
        return 0
    os.environ["PATH"] = os.path.join(ROOT, ".deps", "bin") + os.pathsep + os.environ["PATH"]
    if not os.access(FORAGE, os.X_OK):
        print(f"there is no {FORAGE}; make builds it\n0 passed, {len(cases)} failed")
        return 1
    passed = 0
    # Research waits and does not work: all of it goes on beside the rest, from the beginning.
    long = sum(bool(case.researcher) for case in cases)
    with ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1)) as pool, ThreadPoolExecutor(max(long, 1)) as waiting:
        running = [(waiting if case.researcher else pool).submit(run_case, case, "--keep" in sys.argv) for case in cases]
        for good, line in (one.result() for one in running):
            passed += good
            print(line, flush=True)
    print(f"{passed} passed, {len(cases) - passed} failed")
    return 0 if cases and passed == len(cases) else 1


if __name__ == "__main__":
    sys.exit(main())
