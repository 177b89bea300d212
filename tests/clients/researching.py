"""Research that takes longer than most clients wait for a call, and what must hold in the end: its report is in the
conversation, and nobody asked for it twice.

The research is forage's own, with a model on loopback that takes its time. Everything else is as it is for a user: the
patience of the client, and that of forage."""

import json
import os
import sys
import threading
import time
from dataclasses import dataclass

import claude_code
import codex
import gemini_cli
import inspector
import mcp_remote
import sdk
from harness import HTTP, STDIO, Failure, expect
from reading import strings

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "blackbox"))
import players
from jobs import Scene

TOOL = "deep_search"
SECONDS = 180
SECONDS_PER_CLIENT = 420


@dataclass(frozen=True)
class Researcher:
    """Who asks. How often it must ask forage for what it wants: the call, and once for each time that forage answers with
    the job because it does not know the client to wait; None where it gets a task, and polls it."""

    client: object
    mode: str
    transport: str
    context: str = ""
    calls: int | None = 1


# Four calls: forage answers with the job after 50 seconds each time. The clients that ask for progress are known to wait.
RESEARCHERS = [
    Researcher(claude_code, "conversation", STDIO, "claude-code"),
    Researcher(claude_code, "conversation", HTTP),
    Researcher(codex, "conversation", STDIO, "codex"),
    Researcher(codex, "conversation", HTTP),
    Researcher(gemini_cli, "conversation", STDIO, "gemini-cli"),
    Researcher(gemini_cli, "conversation", HTTP),
    Researcher(sdk, "v1", STDIO, calls=4),
    Researcher(sdk, "v2 auto", HTTP, calls=4),
    Researcher(mcp_remote, "v1", HTTP, calls=4),
    Researcher(sdk, "v1 tasks", STDIO, calls=None),
    Researcher(sdk, "v2 legacy tasks", STDIO, calls=None),
    Researcher(sdk, "v2 auto tasks", HTTP, calls=None),
    Researcher(inspector, "modern", STDIO, calls=None),
    Researcher(inspector, "modern", HTTP, calls=None),
]


# Who gives up where forage waits on, and so must fail.
GIVES_UP = Researcher(sdk, "v1", STDIO)


class Slow(players.Forgetful):
    """Thinks before each of its turns, and does not write the report before its time."""

    def __init__(self, questions):
        super().__init__(questions)
        self.lock = threading.Lock()
        self.begun = None
        self.reports = 0

    def play(self, turn):
        with self.lock:
            self.begun = self.begun or time.monotonic()
            self.reports += turn.writing
        passed = time.monotonic() - self.begun
        time.sleep(max(SECONDS - passed, 0) if turn.writing else SECONDS / 6)
        return super().play(turn)


class Study:
    """The world in which one client has something researched. A context manager."""

    def __init__(self, patience=None):
        self.scene = Scene()
        self.patience = {"FORAGE_CALL_PATIENCE": patience} if patience else {}

    def __enter__(self):
        self.scene.__enter__()
        self.model = Slow(self.scene.world.questions)
        self.scene.play(self.model)
        return self

    def __exit__(self, *details):
        self.scene.__exit__(*details)

    @property
    def topic(self):
        return self.scene.question()

    @property
    def settings(self):
        settings = self.scene.settings(FORAGE_RESEARCH_TIMEOUT="10m", **self.patience)
        return [f"{name}={value}" for name, value in settings.items() if value is not None]

    def expect_report(self, who, seen):
        """What the client or its model has in the end is the report, which was written once, in its time."""
        gold = self.scene.world.questions[self.topic].gold
        # A client that talks to a model tells it; the others print.
        told = strings(json.loads(seen.model.results[-1])) if seen.model.results else [seen.outcome.stdout]
        lacking = [sentence for sentence in gold if not any(sentence.rstrip(".") in text for text in told)]
        expect(not lacking, f"the report did not come, but {told[0][:600]!r}\n" + seen.outcome.tail())
        lasted = time.monotonic() - self.model.begun
        expect(lasted >= SECONDS, f"it took only {lasted:.0f} s")
        expect(self.model.reports == 1, f"{self.model.reports} reports were written")
        calls = seen.recording.sent("tools/call")
        begun = [call for call in calls if call["message"]["params"]["name"] == TOOL]
        expect(len(begun) == 1, f"it was asked for {len(begun)} times")
        if who.calls is None:
            expect(seen.recording.sent("tasks/get"), "it was no task: " + seen.recording.story())
            expect(len(calls) == 1, f"{len(calls)} calls")
        elif len(calls) != who.calls:
            raise Failure(f"{len(calls)} calls, not {who.calls}: " + seen.recording.story())
