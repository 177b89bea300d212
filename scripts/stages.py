"""The stages of the tests: what each runs, on which build, and which of the targets it belongs to.

`make test` and `make gate` together are what a change must pass before it lands; .ci/run runs both. `make test-all` runs
every test on every build, and what is too long for each change. Which black-box tests run where is data:
tests/blackbox/plan.txt.
"""

import os
import subprocess
import sys
from dataclasses import dataclass

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PLAN = os.path.join("tests", "blackbox", "plan.txt")
PLAN_WORDS = ("slow", "asan", "tsan", "final")

# What a sanitizer finds ends the process. The sanitizers also write it to a file, so that a finding in a process whose exit
# status nobody looks at fails the stage all the same.
SANITIZERS = {
    "asan": {
        "ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1:log_path={report}",
        "UBSAN_OPTIONS": "print_stacktrace=1:log_path={report}",
    },
    "tsan": {
        "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1:suppressions={root}/tests/tsan.supp:log_path={report}",
    },
}

PROGRAMS = ("forage", "forage-conformance")


@dataclass
class Stage:
    name: str
    command: list
    # How its cases are counted, a name in verdicts.COUNTERS: cases (its last line says "N passed, N failed"),
    # pytest, or meson.
    count: str
    flavour: str = "release"  # what scripts/build makes first, and the targets of it
    minutes: int = 10  # beyond which it hangs; on a busy machine everything takes several times as long
    build: tuple = PROGRAMS
    tier: str = "test"  # what scripts/setup brings first
    row: str = ""  # one of its own, where it is not that of the build
    target: str = "test"  # the first that runs it: test, gate or all
    only: str = ""  # a target that alone runs it, where another one has more of the same
    steady: bool = False  # it gives the same result each time: running it again tells nothing

    @property
    def in_row(self):
        return self.row or self.flavour


def directory_of(flavour):
    return "build" if flavour == "release" else "build-" + flavour


# ---- which black-box tests run where ----


def read_plan():
    """The rows of the plan: a file of tests, or one test of it, and words about it."""
    rows = []
    with open(os.path.join(ROOT, PLAN), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            words = line.split("#")[0].split()
            if not words:
                continue
            strange = [word for word in words[1:] if word not in PLAN_WORDS]
            if strange or len(words) < 2:
                sys.exit(f"{PLAN}:{number}: a row is a test and some of: {', '.join(PLAN_WORDS)}")
            rows.append((words[0], set(words[1:])))
    return rows


def path_of(name):
    """tests/blackbox/test_NAME.py, of NAME or NAME::TEST."""
    name, _, test = name.partition("::")
    return f"tests/blackbox/test_{name}.py" + (f"::{test}" if test else "")


def planned(word):
    return [path_of(name) for name, words in read_plan() if word in words]


def quick_tests():
    """What pytest is told so that it runs every black-box test but the slow ones, those that are named first at first."""
    slow = planned("slow")
    ignored = [word for path in slow for word in (("--deselect" if "::" in path else "--ignore"), path)]
    return ["tests/blackbox", *ignored]


# Black-box tests wait more than they work: whole files run beside each other, in the order of the plan. Where there are few
# files (make check), their tests do.
def side_by_side(workers, by_file=True):
    ways = ["--dist", "loadfile", "--no-loadscope-reorder"] if by_file else ["--dist", "worksteal"]
    return ["pytest", "-q", "-n", str(workers), *ways]


# ---- the stages ----


def meson_stage(flavour, name, suite, build, minutes, target):
    command = ["meson", "test", "-C", directory_of(flavour), "--no-rebuild", "--print-errorlogs", "--suite", suite]
    return Stage(name, command, "meson", flavour, minutes, build, target=target)


def stages_on(flavour, prefix="", target="test"):
    """Units, corpora and the conformance suite, which run on every build."""
    stages = [
        meson_stage(flavour, prefix + "unit", "unit", ("forage", "units"), 20, target),
        meson_stage(flavour, prefix + "corpus", "corpus", ("fuzz/replay",), 10, target),
        Stage(
            prefix + "conformance",
            [sys.executable, "-B", "tests/conformance/run.py"],
            "cases",
            flavour,
            10,
            target=target,
        ),
    ]
    # What replays a corpus has one thread.
    return [stage for stage in stages if stage.name != "tsan-corpus"]


def pytest_stage(name, paths, workers=2, **about):
    return Stage(name, [*side_by_side(workers), *paths], "pytest", **about)


def all_stages():
    whole = ["tests/blackbox"]
    return [
        # make test. The rows are begun in the order in which they are first named; two run at once.
        pytest_stage("blackbox", quick_tests(), 6, minutes=40),
        *stages_on("release"),
        Stage("requirements", [sys.executable, "-B", "scripts/requirements"], "cases", build=(), steady=True),
        Stage("docs", [sys.executable, "-B", "scripts/docs", "--check"], "cases", steady=True, row="words"),
        Stage("lint", ["scripts/lint"], "cases", build=(), steady=True, row="words"),
        # make gate.
        *stages_on("asan", "asan-", "gate"),
        pytest_stage("asan-blackbox", planned("asan"), 4, flavour="asan", minutes=60, target="gate", only="gate"),
        Stage("fuzz-check", ["scripts/fuzz", "--self-check"], "cases", "asan", 10, ("fuzz/fuzz_planted",), target="gate"),
        *stages_on("tsan", "tsan-", "gate"),
        pytest_stage("tsan-blackbox", planned("tsan"), 4, flavour="tsan", minutes=60, target="gate", only="gate"),
        pytest_stage("slow", planned("slow"), 4, minutes=40, target="gate"),
        pytest_stage("dashboard", ["tests/dashboard"], minutes=20, build=("forage",), target="gate"),
        pytest_stage("site", ["tests/site"], minutes=20, build=("forage",), target="gate"),
        pytest_stage("openapi", ["tests/openapi"], 1, build=("forage",), tier="openapi", target="gate"),
        pytest_stage("smoke", ["tests/packages/test_npm.py", "tests/packages/test_python.py"], build=("forage",), target="gate", only="gate"),
        Stage("client", [sys.executable, "-B", "tests/clients/run.py", "auto", "stdio"], "cases", tier="clients", target="gate", only="gate"),
        Stage("counts", ["scripts/budget", "--counts"], "cases", build=("forage",), target="gate", row="counts"),
        # make test-all.
        pytest_stage("asan-all", whole, 4, flavour="asan", minutes=90, target="all"),
        pytest_stage("tsan-all", whole, 4, flavour="tsan", minutes=90, target="all"),
        pytest_stage("packages", ["tests/packages"], build=("forage",), minutes=20, target="all", row="programs"),
        Stage("clients", [sys.executable, "-B", "tests/clients/run.py"], "cases", minutes=30, tier="clients", target="all", row="programs"),
        pytest_stage("plugins", ["tests/plugins"], build=("forage",), tier="clients", target="all", row="programs"),
        Stage("research", ["env", "FORAGE_SOAK=1", "pytest", "-q", "tests/research"], "pytest", minutes=30, tier="clients", target="all", row="programs"),
        pytest_stage("llm", ["tests/llm"], 1, tier="llm", target="all", row="programs"),
        Stage("soak", ["scripts/soak"], "pytest", minutes=40, target="all", row="programs"),
        Stage("fuzz", ["env", "FUZZ_SECONDS=20", "scripts/fuzz"], "cases", minutes=40, build=(), target="all", row="faults"),
        Stage("faults", ["scripts/replay-faults", "--part", "1/4"], "cases", minutes=60, build=(), target="all", row="faults"),
    ]


STAGES = all_stages()
TARGETS = ("test", "gate", "all")


def stages_of(target):
    """What make test, make gate or make test-all runs."""
    if target == "all":
        return [stage for stage in STAGES if not stage.only]
    return [stage for stage in STAGES if stage.target == target]


def stage_named(name):
    for stage in STAGES:
        if stage.name == name:
            return stage
    return None


# ---- how one is run ----


def environment(stage, root, report):
    """What a stage is run with, in this tree or another; the sanitizers write their findings to report.PID."""
    variables = dict(os.environ)
    variables["FORAGE"] = os.path.join(root, directory_of(stage.flavour), "forage")
    variables["FORAGE_CONFORMANCE"] = variables["FORAGE"] + "-conformance"
    for name, value in SANITIZERS.get(stage.flavour, {}).items():
        variables[name] = value.format(report=report, root=root)
    return variables


def launcher(stage, root):
    """ThreadSanitizer cannot run where the kernel spreads addresses widely; then without that."""
    if stage.flavour == "tsan":
        program = os.path.join(root, "build-tsan", "forage")
        probe = subprocess.run([program, "version"], capture_output=True, check=False)
        if b"unexpected memory mapping" in probe.stderr:
            return ["setarch", os.uname().machine, "-R"]
    return []
