"""What came of a stage: how many of its cases passed, how long each took, and how one that failed is run again."""

import glob
import json
import os
import re
import xml.etree.ElementTree
from dataclasses import dataclass, field

import stages

LOGS = os.path.join(stages.ROOT, "build-logs")
GIST_FRAMES = 12


@dataclass
class Case:
    """One test: what it is called, and how it is run alone (None: it cannot be)."""

    name: str
    seconds: float = 0.0
    failed: bool = False
    command: list = None
    path: str = ""  # of a black-box test, as the plan names it


@dataclass
class Outcome:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    notes: list = field(default_factory=list)
    cases: list = field(default_factory=list)
    # Something that no test may hide by passing the next time.
    is_final: bool = False

    def fail(self, note):
        self.failed += 1
        self.notes.append(note)


def report_path(stage):
    return os.path.join(LOGS, stage.name + ".xml")


def crash_path(stage):
    """Where the black-box tests write that a program of ours ended by a signal that no test had sent."""
    return os.path.join(LOGS, stage.name + ".crashes")


def meson_log(stage):
    return os.path.join(stages.ROOT, stages.directory_of(stage.flavour), "meson-logs", "testlog.json")


def findings_prefix(stage):
    return os.path.join(LOGS, stage.name + ".finding")


def forget(stage):
    """Removes what an earlier run of the stage left."""
    logs = [meson_log(stage)] if stage.count == "meson" else []
    paths = [report_path(stage), crash_path(stage), *logs, *glob.glob(findings_prefix(stage) + "*")]
    for stale in [*paths, *glob.glob(os.path.join(LOGS, stage.name + ".again-*"))]:
        if os.path.exists(stale):
            os.remove(stale)


# ---- counting ----


def count_cases(text, stage):
    """The last line of the output says how many passed and failed."""
    lines = text.strip().splitlines()
    match = re.search(r"(\d+) passed, (\d+) failed", lines[-1] if lines else "")
    if not match:
        return Outcome(failed=1, notes=["its last line does not count its cases"])
    failed = int(match[2])
    whole = Case(stage.name, failed=failed > 0, command=stage.command)
    return Outcome(int(match[1]), failed, cases=[whole] if failed else [])


def count_pytest(_text, stage):
    try:
        suites = xml.etree.ElementTree.parse(report_path(stage)).getroot()
    except (OSError, xml.etree.ElementTree.ParseError) as error:
        return Outcome(failed=1, notes=[f"pytest left no report: {error}"])
    # A case that fails and then cannot be cleaned up stands there twice.
    ranks, cases = {}, {}
    for case in suites.iter("testcase"):
        path = (case.get("classname") or "").replace(".", "/") + ".py"
        name = f"{path}::{case.get('name')}"
        found = {child.tag for child in case}
        rank = 2 if found & {"failure", "error"} else 1 if "skipped" in found else 0
        ranks[name] = max(rank, ranks.get(name, 0))
        one = cases.setdefault(name, Case(name, path=path, command=["pytest", "-q", "-p", "no:cacheprovider", name]))
        one.seconds += float(case.get("time") or 0)
        one.failed = ranks[name] == 2
    counts = list(ranks.values())
    return Outcome(counts.count(0), counts.count(2), counts.count(1), cases=list(cases.values()))


def count_program(name, entry):
    """The cases of one test program: cmocka's own counts (newer versions put the name of the group before
    them), or the line that fuzz/replay.c ends with."""
    text = (entry.get("stdout") or "") + "\n" + (entry.get("stderr") or "")
    passed = sum(map(int, re.findall(r"^\[  PASSED  \] (?:.*: )?(\d+) test", text, re.M)))
    failed = sum(map(int, re.findall(r"^\[  FAILED  \] (?:.*: )?(\d+) test", text, re.M)))
    skipped = sum(map(int, re.findall(r"^\[  SKIPPED \] (?:.*: )?(\d+) test", text, re.M)))
    for match in re.finditer(r"^(\d+) passed, (\d+) failed$", text, re.M):
        passed += int(match[1])
        failed += int(match[2])
    outcome = Outcome(passed, failed, skipped)
    if entry["result"] != "OK":
        outcome.notes.append(f"{name}: {entry['result']}")
        outcome.failed = max(outcome.failed, 1)
        # It was ended by a signal or by its clock; a test that only failed says which.
        outcome.is_final = failed == 0
    elif passed + failed == 0:
        outcome.fail(f"{name}: ran no case")
    return outcome


def count_meson(_text, stage):
    outcome = Outcome()
    try:
        with open(meson_log(stage), encoding="utf-8", errors="replace") as file:
            for line in file:
                entry = json.loads(line)
                one = count_program(entry["name"], entry)
                outcome.passed += one.passed
                outcome.failed += one.failed
                outcome.skipped += one.skipped
                outcome.notes += one.notes
                outcome.is_final |= one.is_final
                seconds = float(entry.get("duration") or 0)
                outcome.cases.append(Case(entry["name"], seconds, one.failed > 0, entry.get("command")))
    except (OSError, ValueError) as error:
        outcome.fail(f"meson left no log: {error}")
    return outcome


COUNTERS = {"cases": count_cases, "pytest": count_pytest, "meson": count_meson}


# ---- what may not be run again ----


def gist(finding):
    """What a sanitizer's report comes down to: its verdict, and where in our own sources it was. The closing
    summary shows it, as the end of the output may be all that one gets to see."""
    lines = [line.strip() for line in finding.splitlines() if line.strip()]
    verdict = [line for line in lines if re.search(r"ERROR|WARNING|SUMMARY|runtime error", line)]
    ours = [line for line in lines if line.startswith("#") and "/src/" in line]
    return (verdict or lines)[:3] + ours[:GIST_FRAMES]


def crashed(stage):
    """The black-box tests during which a program of ours crashed."""
    try:
        with open(crash_path(stage), encoding="utf-8") as file:
            return [line.strip() for line in file if line.strip()]
    except OSError:
        return []


def is_final(case, stage, crashes):
    """Whether the failure of a test is believed at once."""
    for path in stages.planned("final"):
        if case.name == path or case.path == path or case.name.startswith((path + "[", path + "::")):
            return True
    return case.command is None or any(line.startswith(case.name) for line in crashes)
