#!/usr/bin/env python3
"""Checks the rules of the house that a compiler does not know. Each rule is a row of a table below.

    scripts/check_source.py [RULE...] [FOLDER...]     all rules, or some; prints FILE:LINE: what is wrong

With folders (they have a slash: src/net/) only what is wrong in them is shown. CONTRIBUTING.md says why the rules are
what they are.
"""

import os
import re
import subprocess
import sys

import stages
import touched
import whole_source

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

LINE_COLUMNS = 100
FUNCTION_LINES = 80
FILE_LINES = 900
OPENING_WORDS = 4

# Functions that have no safe use here, and what to use instead.
BANNED = {
    "alloca": "the arena",
    "asctime": "clock_stamp",
    "atof": "strtod",
    "atoi": "strtol",
    "atol": "strtol",
    "ctime": "clock_stamp",
    "fork": "posix_spawn",
    "gets": "read",
    "gmtime": "gmtime_r",
    "localtime": "localtime_r",
    "popen": "posix_spawn",
    "rand": "getrandom",
    "random": "getrandom",
    "sprintf": "snprintf, buf_printf or arena_printf",
    "srand": "getrandom",
    "strcat": "buf_puts",
    "strcpy": "memcpy or arena_strdup",
    "strncat": "buf_append",
    "strncpy": "memcpy or arena_strndup",
    "strtok": "strchr",
    "system": "posix_spawn",
    "tmpnam": "mkstemp",
    "vsprintf": "vsnprintf",
}

# Where one of them is right: the warden is a process with one thread, and what it does between fork and exec is
# more than posix_spawn can be told. Two tests end copies of themselves in the midst of their work.
NOT_BANNED = {
    ("src/proc/warden.c", "fork"),
    ("tests/unit/test_mapping.c", "fork"),
    ("tests/unit/test_shelf.c", "fork"),
}

# Which rooms (folders of src/) a room may include, besides itself: the arrows of the architecture.
GROUND = ["core", "text"]
REACH = [*GROUND, "call", "db", "net", "proc"]  # what touches the world outside, and waits for it in a call
ENGINE = [*REACH, "config", "guard", "world"]
MAY_INCLUDE = {
    "core": [],
    "text": ["core"],
    "call": GROUND,
    "net": [*GROUND, "call"],
    "db": [*GROUND, "call", "net"],
    "proc": [*GROUND, "call"],
    "config": GROUND,
    "index": GROUND,
    "world": GROUND,
    "guard": [*REACH, "config"],
    "registry": [*GROUND, "call", "config", "guard"],
    "ops": [*REACH, "config", "guard", "registry"],
    "jobs": [*REACH, "config", "guard", "ops", "registry"],
    "experiment": [*REACH, "config", "guard", "index", "ops", "registry"],
    "mcp": [*GROUND, "call", "config", "guard", "registry"],
    "browser": [*ENGINE],
    "html": [*GROUND],
    "documents": [*GROUND, "html"],
    "source": ["call", "config", "core", "guard", "net"],
    "loaders": [*GROUND, "call", "config", "documents", "guard", "html", "proc", "source"],
    "reader": [*GROUND, "browser", "call", "config", "html", "index", "loaders", "meaning", "net", "source"],
    "websearch": [*ENGINE, "index", "html", "loaders", "reader"],
    "model": [*GROUND, "call", "config", "guard", "net"],
    "evidence": [*GROUND, "config", "index", "world"],
    "research": [*ENGINE, "index", "model", "websearch", "evidence", "reader"],
    "answer": [*ENGINE, "model", "research", "websearch", "evidence", "reader"],
    "meaning": ENGINE,
    "memory": [*ENGINE, "index", "meaning"],
    "setup": [*GROUND, "config"],
    "tools": [*ENGINE, "answer", "jobs", "memory", "ops", "registry", "research", "websearch", "reader"],
    "app": [*ENGINE, "answer", "experiment", "jobs", "mcp", "meaning", "memory", "model", "ops", "registry", "research", "tools", "websearch", "browser", "source", "loaders", "reader"],
    "rest": [*GROUND, "app", "call", "config", "experiment", "guard", "jobs", "memory", "ops", "server", "setup"],
    "server": [*GROUND, "app", "call", "config"],
    "doctor": [*ENGINE, "answer", "meaning", "memory", "model", "research", "setup", "websearch", "browser", "source", "rest", "server"],
    "cli": [
        *ENGINE, "app", "doctor", "experiment", "jobs", "mcp", "memory", "ops", "registry", "research", "setup", "tools",
        "websearch", "evidence", "browser", "html", "reader", "rest", "server"],
    "": ["cli"],
}

# Words that must not be in any committed file, and why; the first row is for code only.
UNFINISHED = (r"\b(TODO|FIXME|XXX|HACK)\b", "finish it, or open an issue")
UNWANTED = [
    (r"registry\.(npmjs|yarnpkg)|pypi\.org|pythonhosted\.org", "a package registry: use the machine's own settings"),
    (r"(deb|security|ftp\.[a-z.]*)\.debian\.org|archive\.ubuntu\.com", "a mirror: use the machine's own settings"),
    (r"\bartifactory\b|\bpkg\.dev\b", "a package registry: use the machine's own settings"),
    (r"/(home|Users)/[A-Za-z0-9]|/root/", "a path of one person's machine"),
]

# Where the lists of the build stand: a file that matches must be found there by the second expression,
# which gets the groups of the first.
LISTED = [
    (r"src/([\w/]+)/(\w+)\.c", "src/meson.build", r"'{0}': \[[^]]*'{1}'"),
    (r"src/tools/(\w+)\.json", "src/meson.build", r"'definition_{0}'"),
    (r"tests/unit/test_(\w+)\.c", "tests/meson.build", r"unit_tests = \{{[^}}]*'{0}',"),
    (r"tests/conformance/(\w+)\.c", "tests/meson.build", r"conformance_sources = \[[^]]*'{0}'"),
    (r"tests/conformance/data/(\w+)\.json", "tests/meson.build", r"conformance_data = \[[^]]*'{0}'"),
    (r"fuzz/fuzz_(\w+)\.c", "fuzz/meson.build", r"'{0}'"),
    (r"fuzz/fuzz_((?!planted)\w+)\.c", "scripts/fuzz", r'"{0}": \['),
]

# Inputs of tests are what they are; the lock files are npm's.
DATA = re.compile(r"fuzz/corpus/|(tests|tests/clients|tests/openapi|bench)/package-lock\.json$")


class Source:
    """A committed text file: its path, its lines, and for C its lines without comments and strings."""

    def __init__(self, path):
        self.path = path
        with open(os.path.join(ROOT, path), "rb") as file:
            self.text = file.read().decode("utf-8", "replace")
        self.lines = self.text.split("\n")
        self.is_c = path.endswith((".c", ".h"))
        self.is_python = path.endswith(".py") or self.lines[0].endswith("python3")
        self.is_shell = self.lines[0].endswith(("bash", "/sh"))
        self.is_code = self.is_c or self.is_python or self.is_shell
        self.code = strip_c(self.text).split("\n") if self.is_c else self.lines


def strip_c(text):
    """The text with comments and the insides of strings blanked; lines stay where they were."""
    pattern = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)

    def blank(match):
        found = match.group(0)
        if found[0] in "\"'":
            return found[0] + " " * (len(found) - 2) + found[0]
        return re.sub(r"[^\n]", " ", found)

    return pattern.sub(blank, text)


# ---- the rules: each takes a source and yields (line number, what is wrong) ----


def check_banned(source):
    pattern = re.compile(r"(?<![\w.>])(" + "|".join(BANNED) + r")\s*\(")
    for number, line in enumerate(source.code if source.is_c else [], 1):
        for match in pattern.finditer(line):
            if (source.path, match[1]) in NOT_BANNED:
                continue
            yield number, f"{match[1]}() is banned: use {BANNED[match[1]]}"


def check_layout(source):
    if not source.is_code:
        return
    for number, line in enumerate(source.lines, 1):
        if "\t" in line:
            yield number, "a tab"
        if line != line.rstrip():
            yield number, "white space at the end of the line"
        if source.is_c and len(line) > LINE_COLUMNS:
            yield number, f"longer than {LINE_COLUMNS} columns"
    if not source.text.endswith("\n") or source.text.endswith("\n\n"):
        yield len(source.lines), "a file ends with one line break"


def check_opening(source):
    """A file begins with a comment on what it is for."""
    if not source.is_code:
        return
    first = source.lines[1 if source.lines[0].startswith("#!") else 0]
    begins = "/*" if source.is_c else '"""' if source.is_python else "#"
    if not first.startswith(begins):
        yield 1, "the file does not begin with a comment on what it is for"


def check_purpose(source):
    """That comment is long enough to say it."""
    if source.is_c and source.path.startswith("src/"):
        opening = source.text[2 : source.text.find("*/")].split()
        if len([word for word in opening if word != "*"]) < OPENING_WORDS:
            yield 1, f"an opening of fewer than {OPENING_WORDS} words does not say what the file is for"


def check_tables(source):
    """What never changes and is known to a whole file is in upper case, as macros are."""
    for number, line in enumerate(source.code if source.path.startswith("src/") and source.is_c else [], 1):
        table = re.match(r"static const [\w *]*?(\w+)(?:\[[^=]*\])* =", line) or re.match(
            r"static [\w *]*\bconst (\w+)(?:\[[^=]*\])* =", line
        )
        if table and table[1] != table[1].upper():
            yield number, f"{table[1]}: a table of a file is in upper case"


def check_sizes(source):
    if not source.is_code:
        return
    if len(source.lines) > FILE_LINES:
        yield 1, f"{len(source.lines)} lines, more than {FILE_LINES}: it holds more than one idea"
    start = 0
    # A test may be one long table; what it tests may not.
    for number, line in enumerate(source.code if source.path.startswith("src/") else [], 1):
        if line == "{":
            start = number
        elif line == "}" and start:
            if number - start + 1 > FUNCTION_LINES:
                yield start, f"a function of {number - start + 1} lines, more than {FUNCTION_LINES}"
            start = 0


def check_includes(source):
    match = re.match(r"src/(?:(\w+)/)?[\w/]+\.[ch]$", source.path)
    if not match:
        return
    folder = match[1] or ""
    if folder not in MAY_INCLUDE:
        yield 1, f"src/{folder}/ has no row in MAY_INCLUDE of scripts/check_source.py"
        return
    allowed = [*MAY_INCLUDE[folder], folder]
    for number, line in enumerate(source.lines, 1):
        include = re.match(r'\s*#\s*include\s+"(?:(\w+)/)?[^"]*"', line)
        if include and include[1] and include[1] not in allowed:
            yield number, f"src/{folder or 'main.c'} must not include {include[1]}/: an arrow the wrong way"


def check_guards(source):
    if not source.path.endswith(".h") or not source.path.startswith("src/"):
        return
    expected = "FORAGE_" + re.sub(r"\W", "_", source.path[len("src/") :]).upper()
    if f"#ifndef {expected}\n#define {expected}\n" not in source.text:
        yield 1, f"the include guard should be {expected}"


def check_unwanted(source):
    if source.path == "scripts/check_source.py":
        return
    for number, line in enumerate(source.lines, 1):
        for pattern, reason in UNWANTED + [UNFINISHED] * source.is_code:
            match = re.search(pattern, line)
            if match:
                yield number, f'"{match[0]}": {reason}'


def check_listed(source):
    for pattern, path, expected in LISTED:
        match = re.fullmatch(pattern, source.path)
        if match:
            with open(os.path.join(ROOT, path), encoding="utf-8") as file:
                if not re.search(expected.format(*match.groups()), file.read()):
                    yield 1, f"not named in {path}, so nothing builds or runs it"


def check_rooms(source):
    """make check knows which black-box tests belong to which room."""
    room = re.match(r"src/(\w+)/", source.path)
    if room and room[1] not in touched.ROOMS:
        yield 1, f"src/{room[1]}/ has no row in ROOMS of scripts/touched.py"
    test = re.fullmatch(r"tests/blackbox/test_(\w+)\.py", source.path)
    if test and not any(test[1] in names.split() for names in touched.ROOMS.values()):
        yield 1, "no room names it in ROOMS of scripts/touched.py"
    if source.path == "scripts/touched.py":
        for name in sorted({name for names in touched.ROOMS.values() for name in names.split()}):
            if not os.path.isfile(os.path.join(ROOT, f"tests/blackbox/test_{name}.py")):
                yield 1, f"there is no tests/blackbox/test_{name}.py"
    if source.path == "scripts/stages.py":
        yield from check_plan()
    if source.path == "scripts/fuzz":
        for path in re.findall(r'"(src/[\w/]+\.c)"', source.text):
            if not os.path.isfile(os.path.join(ROOT, path)):
                yield 1, f"there is no {path}, so nothing asks that a fuzz target reaches it"


def check_plan():
    """The tests that tests/blackbox/plan.txt names are there."""
    for name, _ in stages.read_plan():
        path, _, test = stages.path_of(name).partition("::")
        if not os.path.isfile(os.path.join(ROOT, path)) or (test and f"def {test}(" not in Source(path).text):
            yield 1, f"{stages.PLAN} names {name}, which is not there"


def check_named(source):
    """What the pages about the inside name is there: the files, and of a table of hops the functions in them."""
    if source.path not in ("AGENTS.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/decisions.md", "docs/glossary.md"):
        return
    for number, line in enumerate(source.lines, 1):
        for path in re.findall(r"`(\w+/[\w/]+\.[ch])`", line):
            if not any(os.path.isfile(os.path.join(ROOT, folder, path)) for folder in ("src", "")):
                yield number, f"there is no {path}"
        hop = re.match(r"\| `([\w/]+\.c)` \| `(\w+)\(\)` \|", line)
        if hop and os.path.isfile(os.path.join(ROOT, "src", hop[1])):
            if not re.search(rf"^\w[^\n;]*\b{hop[2]}\(", Source("src/" + hop[1]).text, re.M):
                yield number, f"there is no {hop[2]}() in {hop[1]}"


def check_readmes(source):
    """Each room has a README.md: it names every .c file of the room, no file that is not there, and what the room may include."""
    match = re.fullmatch(r"src/(\w+)/(.+)", source.path)
    room, path = match.groups() if match else ("", "")
    if path.endswith(".c"):
        readme = os.path.join(ROOT, "src", room, "README.md")
        if not os.path.isfile(readme):
            yield 1, f"src/{room}/ has no README.md that names it"
        elif f"`{path}`" not in Source(f"src/{room}/README.md").text:
            yield 1, f"src/{room}/README.md does not name {path}"
    elif path == "README.md":
        yield from check_names_of_readme(source, room)
        may = re.search(r"\*\*May include\*\*: (.*?)\.$", source.text, re.M | re.S)
        if not may or set(re.findall(r"`(\w+)`", may[1])) != set(MAY_INCLUDE.get(room, [])):
            yield 1, f"it should say **May include**: {', '.join(MAY_INCLUDE.get(room, []))}"
    elif source.path == "docs/architecture.md":
        for name in filter(None, MAY_INCLUDE):
            if f"(../src/{name}/README.md)" not in source.text:
                yield 1, f"it has no link to src/{name}/README.md"


def check_names_of_readme(source, room):
    """The files that it names are there, seen from the room, from src/ or from the top; so is where its links lead."""
    for number, line in enumerate(source.lines, 1):
        for name in re.findall(r"`([\w./-]+\.(?:[ch]|js|json|md|py|txt))`", line):
            folders = (f"src/{room}", "src", "")
            if "NAME" not in name and not any(os.path.isfile(os.path.join(ROOT, folder, name)) for folder in folders):
                yield number, f"there is no {name}"
        for link in re.findall(r"\]\(([^)#:]+)", line):
            if not os.path.exists(os.path.join(ROOT, "src", room, link)):
                yield number, f"{link} leads nowhere"


RULES = {
    "banned": check_banned,
    "layout": check_layout,
    "opening": check_opening,
    "sizes": check_sizes,
    "includes": check_includes,
    "guards": check_guards,
    "unwanted": check_unwanted,
    "listed": check_listed,
    "rooms": check_rooms,
    "readmes": check_readmes,
}

# Asked for by name, as scripts/lint does.
PENDING = {"named": check_named, "purpose": check_purpose, "tables": check_tables}


def committed_files():
    """Tracked files and new ones that git does not ignore."""
    output = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, stdout=subprocess.PIPE, check=True
    ).stdout
    paths = output.decode().split("\0")
    return sorted(path for path in paths if path and os.path.isfile(os.path.join(ROOT, path)))


def problems_of(rule, sources):
    """(path, line number, what is wrong) for one rule."""
    if rule in whole_source.RULES:
        yield from whole_source.RULES[rule](sources)
        return
    for source in sources:
        for number, text in (RULES | PENDING)[rule](source):
            yield source.path, number, text


def main():
    folders = tuple(word for word in sys.argv[1:] if "/" in word)
    rules = [word for word in sys.argv[1:] if "/" not in word] or list(RULES)
    known = [*RULES, *PENDING, *whole_source.RULES]
    unknown = [rule for rule in rules if rule not in known]
    if unknown:
        sys.exit(f"check_source: no rule {unknown[0]}; there are: " + ", ".join(known))
    sources = [Source(path) for path in committed_files() if not DATA.match(path)]
    problems = 0
    for rule in rules:
        for path, number, text in problems_of(rule, sources):
            if not folders or path.startswith(folders):
                problems += 1
                print(f"{path}:{number}: {text} [{rule}]")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
