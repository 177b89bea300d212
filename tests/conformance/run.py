#!/usr/bin/env python3
"""Runs the official MCP conformance suite against forage.

    tests/conformance/run.py                 everything
    tests/conformance/run.py fixtures        forage-conformance, which offers what the suite wants to call
    tests/conformance/run.py production      forage itself, for the scenarios that production.txt names

Each scenario is one case: PASS, or FAIL with the messages of the checks that failed. A scenario that must
pass and did not run is a failure. Warnings are shown and do not count. The last line is the sum.

FORAGE and FORAGE_CONFORMANCE name the two programs (build/forage, and forage-conformance beside it);
FORAGE_NODE_MODULES names the folder that holds the suite, where that is not .deps/node/node_modules.
"""

import contextlib
import http.client
import json
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections import defaultdict

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FORAGE = os.environ.get("FORAGE", os.path.join(ROOT, "build", "forage"))
FORAGE_CONFORMANCE = os.environ.get("FORAGE_CONFORMANCE", FORAGE + "-conformance")
MODULES = os.environ.get("FORAGE_NODE_MODULES", os.path.join(ROOT, ".deps", "node", "node_modules"))
SUITE = os.path.join(MODULES, "@modelcontextprotocol", "conformance")

# How many scenarios each revision scores: a suite that asks less than it did would prove less.
SCORED = {"2026-07-28": 37, "2025-11-25": 30}

# Scenarios beyond the scored ones that must pass as well. The rest of what the suite runs is not for us:
# server-sse-polling tests streams that can be resumed, which a server without sessions has not;
# tasks-mrtr-composition a tool that asks before it becomes a task, which no tool of forage does; and
# tasks-status-notifications skips itself in this version of the suite.
UNSCORED = {
    "2026-07-28": [
        "json-schema-2020-12",
        "http-header-validation",
        "http-custom-header-server-validation",
        "tasks-capability-negotiation",
        "tasks-dispatch-and-envelope",
        "tasks-lifecycle",
        "tasks-mrtr-input",
        "tasks-request-headers",
        "tasks-request-state-removal",
        "tasks-required-task-error",
        "tasks-wire-fields",
    ],
    "2025-11-25": ["json-schema-2020-12", "server-session-lifecycle"],
}

# Scenarios of an extension that is younger than the revision: the suite runs them only by their names. Two warnings of
# skills-manifest are as they should be: it would have a skill listed among the resources, which forage does only for a
# client that knows the extension, and the suite's own does not say so.
BY_NAME = {
    "2026-07-28": ["sep-2640-skills-directory", "sep-2640-skills-enumeration", "sep-2640-skills-manifest"],
    "2025-11-25": [],
}

START_SECONDS = 120
END_SECONDS = 120
SUITE_SECONDS = 900
SCENARIO_MS = 60000
SHOWN_CHARS = 600  # of one message: some quote whole answers


class Tally:
    """Counts the cases and prints each as it comes."""

    def __init__(self):
        self.passed = 0
        self.failed = 0

    def add(self, name, problems, remarks=()):
        print(("FAIL " if problems else "PASS ") + name)
        for line in [*problems, *("warning: " + remark for remark in remarks)]:
            print("     " + line[:SHOWN_CHARS].replace("\n", "\n     "))
        if problems:
            self.failed += 1
        else:
            self.passed += 1


# ---- the server under test ----


def free_port():
    """Below the ports that the kernel gives to whoever asks for any, so that nobody else gets it meanwhile."""
    while True:
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", random.randrange(20000, 32000)))
            return probe.getsockname()[1]


def wait_until_healthy(process, port, log_path):
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=START_SECONDS)
        with contextlib.suppress(OSError, http.client.HTTPException), contextlib.closing(connection):
            connection.request("GET", "/health")
            if connection.getresponse().status == 200:
                return
        time.sleep(0.02)
    raise RuntimeError("\n".join([f"{process.args[0]} did not start", *last_lines(log_path)]))


@contextlib.contextmanager
def serving(program, tally, folder):
    """Runs `program serve`; the address of its MCP endpoint. Its end is a case of its own."""
    port = free_port()
    log_path = os.path.join(folder, os.path.basename(program) + ".log")
    # Nobody's own settings, and no limit that the suite's pace would meet.
    kept = ("PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "LLVM_PROFILE_FILE")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    environment |= {"HOME": folder, "MCP_SERVER_PORT": str(port), "FORAGE_CALLS_PER_MINUTE": "0"}
    with open(log_path, "wb") as log:
        process = subprocess.Popen([program, "serve"], stdout=log, stderr=log, env=environment)
    try:
        wait_until_healthy(process, port, log_path)
        yield f"http://127.0.0.1:{port}/mcp"
        alive = process.poll() is None
        process.terminate()
        status = process.wait(END_SECONDS)
        problems = [] if alive and status == 0 else [f"exit status {status}", *last_lines(log_path)]
        tally.add(f"{os.path.basename(program)} lives until it is told to end", problems)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def last_lines(path, count=20):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read().splitlines()[-count:]


# ---- the suite ----


def scored_scenarios(revision):
    """The server scenarios of the suite's own list for a revision."""
    section, names = "", []
    with open(os.path.join(SUITE, "requirements", revision + ".yaml"), encoding="utf-8") as file:
        for line in file:
            if match := re.match(r"(\w+):", line):
                section = match[1]
            elif (match := re.match(r"\s+- (\S+)\s*$", line)) and section == "server":
                names.append(match[1])
    return names


def run_suite(url, revision, folder):
    """What each scenario checked, by its name, and how the suite's own output ended."""
    output = os.path.join(folder, revision)
    command = [os.path.join(MODULES, ".bin", "node"), os.path.join(SUITE, "dist", "index.js"), "server"]
    command += ["--url", url, "-o", output, "--timeout", str(SCENARIO_MS)]
    runs = [["--requirements", revision]]
    runs += [["--scenario", name, "--spec-version", revision, "--force"] for name in BY_NAME[revision]]
    log_path = os.path.join(folder, revision + ".log")
    with open(log_path, "wb") as log:
        for words in runs:
            subprocess.run([*command, *words], stdout=log, stderr=log, timeout=SUITE_SECONDS, check=False)
    checks = defaultdict(list)
    for name in os.listdir(output) if os.path.isdir(output) else []:
        match = re.fullmatch(r"server-(.+)-\d{4}-\d\d-\d\dT[0-9-]+Z", name)
        path = os.path.join(output, name, "checks.json")
        if match and os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                checks[match[1]] += json.load(file)
    return checks, last_lines(log_path, 5)


def messages(checks, status):
    return [
        f"{check['id']}: {check.get('errorMessage') or check['description']}"
        for check in checks
        if check["status"] == status
    ]


def problems_of(checks, left_out):
    """Why a scenario did not pass; nothing when it did."""
    counted = [check for check in checks if check["id"] not in left_out]
    needless = left_out - {check["id"] for check in checks if check["status"] == "FAILURE"}
    problems = messages(counted, "FAILURE")
    problems += [f"{name} does not fail: it need not be left out" for name in sorted(needless)]
    if not problems and not messages(counted, "SUCCESS"):
        problems = ["nothing was checked"]
    return problems


def judge(tally, title, url, revision, folder, scenarios):
    """Runs the suite and counts the scenarios, each given with the checks to leave out."""
    checks, ended = run_suite(url, revision, folder)
    for name, left_out in scenarios.items():
        problems = problems_of(checks[name], left_out) if name in checks else ["did not run", *ended]
        tally.add(f"{title} {revision} {name}", problems, messages(checks.get(name, []), "WARNING"))


# ---- the two parts ----


def test_fixtures(tally, folder):
    for revision, count in SCORED.items():
        names = scored_scenarios(revision)
        short = [] if len(names) == count else [f"the suite scores {len(names)} scenarios, not {count}"]
        tally.add(f"{revision} scores {count} scenarios", short)
        scenarios = {name: set() for name in names + UNSCORED[revision] + BY_NAME[revision]}
        with serving(FORAGE_CONFORMANCE, tally, folder) as url:
            judge(tally, "fixtures", url, revision, folder, scenarios)


def production_scenarios():
    """What production.txt says: for each revision its scenarios, each with the checks to leave out."""
    chosen = defaultdict(dict)
    with open(os.path.join(HERE, "production.txt"), encoding="utf-8") as file:
        for line in file:
            if words := line.split("#")[0].split():
                revision, name, *left_out = words
                chosen[revision][name] = {word.removeprefix("-") for word in left_out}
    return chosen


def test_production(tally, folder):
    for revision, scenarios in production_scenarios().items():
        with serving(FORAGE, tally, folder) as url:
            judge(tally, "production", url, revision, folder, scenarios)


PARTS = {"fixtures": test_fixtures, "production": test_production}


def main():
    words = sys.argv[1:] or list(PARTS)
    unknown = [word for word in words if word not in PARTS]
    if unknown:
        sys.exit(f"conformance: no part {unknown[0]}; there are: {', '.join(PARTS)}")
    tally = Tally()
    for word in words:
        with tempfile.TemporaryDirectory(prefix="forage-conformance.") as folder:
            try:
                PARTS[word](tally, folder)
            except (OSError, RuntimeError, subprocess.TimeoutExpired) as error:
                tally.add(word, [f"{type(error).__name__}: {error}"])
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
