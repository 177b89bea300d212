"""The faults of tests/faults: reading them, and telling which target runs the test that must find each."""

import glob
import os
import re
from dataclasses import dataclass, field

import stages

FOLDER = os.path.join("tests", "faults")
KINDS = (
    "out of bounds",
    "use after free",
    "leak",
    "race",
    "deadlock",
    "descriptor leaked to a child",
    "lost or doubled write",
    "wrong order of fsync",
    "secret not redacted",
    "address policy skipped",
    "foreign namespace readable",
    "limit off by one",
    "wrong header",
    "cancelled call goes on",
    "wrong rank",
    "dropped paragraph",
    "invalid Markdown",
    "wrong exit code",
    "broken setup undo",
    "broken page script",
    "wrong result",
    "more work",
)
FIELDS = ("room", "kind", "found by", "target", "why")
SMOKE = ("tests/packages/test_npm.py", "tests/packages/test_python.py")


class Malformed(Exception):
    """A fault's file does not hold what it should."""


@dataclass
class Fault:
    name: str  # ROOM/NAME
    fields: dict
    edits: list = field(default_factory=list)  # (path, old, new)

    @property
    def stage(self):
        return self.fields["found by"].split()[0]

    @property
    def test(self):
        return self.fields["found by"].split()[1:]

    @property
    def flavour(self):
        """The build that the test runs on."""
        first = self.stage.split("-")[0]
        return first if first in stages.SANITIZERS else "release"


def parse(name, text):
    fields, edits, path = {}, [], None
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        if line == "@@ old":
            try:
                middle = lines.index("@@ new", at)
                end = lines.index("@@ end", middle)
            except ValueError:
                raise Malformed(f"{name}: @@ old wants @@ new and @@ end") from None
            if not path:
                raise Malformed(f"{name}: an edit without a file")
            edits.append((path, "\n".join(lines[at + 1 : middle]), "\n".join(lines[middle + 1 : end])))
            at = end
        elif line.strip():
            key, colon, value = line.partition(": ")
            if not colon or key not in (*FIELDS, "file"):
                raise Malformed(f"{name}: not a field: {line}")
            if key == "file":
                path = value.strip()
            else:
                fields[key] = value.strip()
        at += 1
    missing = [key for key in FIELDS if not fields.get(key)]
    if missing or not edits:
        raise Malformed(f"{name}: lacks {', '.join(missing) or 'an edit'}")
    return Fault(name, fields, edits)


def read_all(root=stages.ROOT):
    found = []
    for path in sorted(glob.glob(os.path.join(root, FOLDER, "*", "*.fault"))):
        name = os.path.relpath(path, os.path.join(root, FOLDER))[: -len(".fault")]
        with open(path, encoding="utf-8") as file:
            found.append(parse(name, file.read()))
    return found


def changed_text(text, edits, name):
    for _, old, new in edits:
        # Whole lines, so that no other place that merely begins alike counts.
        if ("\n" + text).count("\n" + old + "\n") != 1:
            raise Malformed(f"{name}: its old lines do not stand exactly once in {edits[0][0]}")
        text = ("\n" + text).replace("\n" + old + "\n", "\n" + new + "\n" if new else "\n")[1:]
    return text


def apply(fault, root):
    """Makes the edits; what the files held before, to be put back."""
    before = {}
    for path in dict.fromkeys(path for path, _, _ in fault.edits):
        full = os.path.join(root, path)
        with open(full, encoding="utf-8") as file:
            before[full] = file.read()
    after = {
        full: changed_text(text, [edit for edit in fault.edits if os.path.join(root, edit[0]) == full], fault.name)
        for full, text in before.items()
    }
    for full, text in after.items():
        write(full, text)
    return before


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


# ---- which target runs the test ----


def unit_threads(root=stages.ROOT):
    with open(os.path.join(root, "tests", "meson.build"), encoding="utf-8") as file:
        text = file.read()
    start = text.index("unit_threads = [")
    return set(re.findall(r"'(\w+)'", text[start : text.index("]", start)]))


def target_of(fault):
    """The first of make test, make gate and make test-all that runs the test; raises Malformed where none does."""
    test = fault.test[0] if fault.test else ""
    stage = stages.stage_named(fault.stage)
    path = test.split("[")[0]
    file = path.split("::")[0]

    def is_planned(word):
        return any(row in (file, path) for row in stages.planned(word))

    if fault.stage == "tsan-unit" and test not in unit_threads():
        raise Malformed(f"{fault.name}: {test} is not among unit_threads of tests/meson.build")
    if fault.stage == "blackbox":
        return "gate" if is_planned("slow") else "test"
    if fault.stage in ("asan-blackbox", "tsan-blackbox"):
        return "gate" if is_planned(fault.stage.split("-")[0]) else "test-all"
    if fault.stage == "packages" and file in SMOKE:
        return "gate"
    if not stage:
        raise Malformed(f"{fault.name}: there is no stage {fault.stage}")
    return "test-all" if stage.target == "all" else stage.target


def check_test(fault, root):
    """Whether the named test is there; yields what is wrong."""
    suite = fault.stage.split("-")[-1]
    words = fault.test
    if suite == "unit":
        path = os.path.join(root, "tests", "unit", f"test_{words[0]}.c") if words else ""
        if len(words) != 2 or not os.path.isfile(path):
            yield f"{fault.name}: a unit test is FILE TEST, of tests/unit/test_FILE.c"
        else:
            with open(path, encoding="utf-8") as file:
                if not re.search(rf"\b{words[1]}\b", file.read()):
                    yield f"{fault.name}: there is no {words[1]} in {path}"
    elif suite == "corpus":
        if len(words) != 1 or not os.path.isdir(os.path.join(root, "fuzz", "corpus", words[0])):
            yield f"{fault.name}: a corpus is one folder of fuzz/corpus"
    elif suite not in ("conformance", "docs", "counts", "lint", "fuzz"):
        path, _, test = (words[0] if words else "").partition("::")
        full = os.path.join(root, path)
        if not test or not os.path.isfile(full):
            yield f"{fault.name}: there is no {path}"
        else:
            with open(full, encoding="utf-8") as file:
                if f"def {test.split('[')[0]}(" not in file.read():
                    yield f"{fault.name}: there is no {test} in {path}"


def check(root=stages.ROOT):
    """What is wrong with the files of faults, without running anything."""
    try:
        found = read_all(root)
    except Malformed as error:
        yield str(error)
        return
    for fault in found:
        folder = fault.name.split("/")[0]
        if folder != fault.fields["room"]:
            yield f"{fault.name}: lies in the folder of another room than {fault.fields['room']}"
        if fault.fields["kind"] not in KINDS:
            yield f"{fault.name}: no kind of fault: {fault.fields['kind']}"
        yield from check_test(fault, root)
        try:
            if target_of(fault) != fault.fields["target"]:
                yield f"{fault.name}: the first target that runs this test is {target_of(fault)}"
            for path in dict.fromkeys(path for path, _, _ in fault.edits):
                with open(os.path.join(root, path), encoding="utf-8") as file:
                    changed_text(file.read(), [edit for edit in fault.edits if edit[0] == path], fault.name)
        except (OSError, Malformed) as error:
            yield str(error)
    rooms = {os.path.basename(path) for path in glob.glob(os.path.join(root, "src", "*")) if os.path.isdir(path)}
    for room in sorted(rooms - {fault.fields["room"] for fault in found}):
        yield f"{FOLDER}: no fault of the room {room}"
    for kind in KINDS:
        if kind not in {fault.fields["kind"] for fault in found}:
            yield f"{FOLDER}: no fault of the kind {kind}"
