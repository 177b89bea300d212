"""The rules of the house that look at all of src/ at once; scripts/check_source.py runs them.

Each rule takes the list of sources and yields (path, line number, what is wrong).
"""

import collections
import re

# Who counts as a caller: the program, the conformance suite's own program, which uses what a tool may use, and the fuzz
# targets, which must reach a parser. Unit tests do not: what only they call is not a part of the program.
CALLERS = ("src/", "tests/conformance/", "fuzz/")

# Functions that only unit tests call, and why they are in a header all the same.
SEAMS = {
    name: why
    for why, names in {
        "it ends what otherwise lasts as long as the process; each test begins anew": "config_unload redact_reset",
        "it is pure, and a test's cases cannot reach it one by one from outside": "command_word_counts "
        "stackexchange_write wikipedia_write",
    }.items()
    for name in names.split()
}

# The rooms whose functions touch the world, so that they can fail; whoever calls them must look at what they return.
STATUS_ROOMS = ("core", "call", "net", "db", "proc")

# The exceptions: functions of theirs that return an int which a caller may ignore, and why.
MAY_IGNORE = {
    name: why
    for why, names in {
        "the error sticks, and buf_error() is asked at the end": "buf_append buf_puts buf_putc buf_printf buf_vprintf",
        "returns the status that it was given, so that a caller can return it": "call_fail call_fail_status",
        "returns -1, so that a caller can assign it": "event_close",
        "returns a number that is there, not a status": "call_cancel_fd error_http_status resolve_fd child_end_fd db_version",
    }.items()
    for name in names.split()
}

DUPLICATE_LINES = 9  # as many lines of the same shape are a duplicate
DISTINCT_LINES = 5  # fewer different ones among them are a list, which may look like another list

PROTOTYPE = re.compile(
    r"^(?!typedef|static|return|else)(?P<type>(?:[A-Z_]+ )*(?:const |unsigned |struct |enum )*\w+[ *]+)"
    r"(?P<name>[a-z]\w*)\([^;{}]*\)[^;{}()]*(?:\([^;{}]*\))?;",
    re.M,
)
TAG = re.compile(r"\b(struct|union|enum)\s+(\w+)\s*\{")
WORD = re.compile(r"[A-Za-z_]\w*")
TOKEN = re.compile(r'"[^"\n]*"|\'[^\'\n]*\'|[A-Za-z_]\w*|\d[\w.]*|\S')
KEYWORDS = frozenset(
    "if else for while do switch case default break continue return goto sizeof struct enum const static int char bool "
    "size_t void unsigned long double NULL true false".split()
)


def prototypes(source):
    """(line number, type, name, the whole) of each function that a header declares."""
    text = "\n".join(source.code)
    for match in PROTOTYPE.finditer(text):
        yield text.count("\n", 0, match.start("name")) + 1, match["type"], match["name"], match[0]


def defines(source, name):
    return re.search(r"^\w[\w *]*\b" + name + r"\([^;{}]*\)\n\{", "\n".join(source.code), re.M)


def check_callers(sources):
    """A function that a header declares is called by another file of the program than its own."""
    programs = [source for source in sources if source.is_c and source.path.startswith(CALLERS)]
    tests = [source for source in sources if source.is_c and source.path.startswith("tests/unit/")]
    places = collections.defaultdict(list)  # a word: the sources that use it, once for each use
    for source in programs:
        for word in WORD.findall("\n".join(source.code)):
            places[word].append(source)
    tested = {word for source in tests for word in WORD.findall("\n".join(source.code))}
    unused = set(SEAMS)
    for source in programs:
        if not source.path.endswith(".h"):
            continue
        for number, _, name, _ in prototypes(source):
            users = collections.Counter(user.path for user in places[name])
            users[source.path] -= 1  # the prototype itself; a macro beside it that calls the function counts
            others = {user.path: user for user in places[name] if users[user.path] > 0}
            if any(not defines(user, name) for user in others.values()):
                continue
            if name in SEAMS:
                unused.discard(name)
                continue
            who = "only tests call it" if name in tested else "nobody calls it"
            yield source.path, number, f"{name}(): {who} outside its file"
    for name in sorted(unused):
        yield "scripts/whole_source.py", 1, f"{name}() of SEAMS has a caller, or is gone"


def check_statuses(sources):
    """A function that returns a status says so to the compiler (MUST_CHECK of core/status.h)."""
    for source in sources:
        if not re.match(rf"src/({'|'.join(STATUS_ROOMS)})/.*\.h$", source.path):
            continue
        for number, kind, name, whole in prototypes(source):
            if re.fullmatch(r"int ", kind) and "MUST_CHECK" not in whole and name not in MAY_IGNORE:
                yield source.path, number, f"{name}() returns an int without MUST_CHECK"


def shape(line):
    """The line with every name, text and number replaced by a sign, so that copies with other names are alike."""
    signs = []
    for token in TOKEN.findall(line):
        if token[0] in "\"'":
            signs.append('""')
        elif token[0].isdigit():
            signs.append("0")
        else:
            signs.append("$" if WORD.fullmatch(token) and token not in KEYWORDS else token)
    return " ".join(signs)


def bodies(source):
    """The lines of each function, as (line number, shape), without lone braces and empty lines."""
    body = None
    for number, line in enumerate(source.code, 1):
        if line == "{":
            body = []
        elif line == "}" and body is not None:
            yield body
            body = None
        elif body is not None and re.search(r"\w", line) and not is_row(line):
            body.append((number, shape(line)))


def is_row(line):
    """A row of a table, or a part of one."""
    return re.fullmatch(r"\s*(\{.*\}|\[\w+\] = .*|\"[^\"]*\"|\w+),", line)


def check_duplicates(sources):
    """No run of DUPLICATE_LINES lines stands in src/ twice, also not with other names."""
    seen = {}
    for source in sources:
        if not source.is_c or not source.path.startswith("src/"):
            continue
        for body in bodies(source):
            skip_until = -1
            for start in range(len(body) - DUPLICATE_LINES + 1):
                window = body[start : start + DUPLICATE_LINES]
                key = tuple(line for _, line in window)
                if len(set(key)) < DISTINCT_LINES:
                    continue
                first = seen.setdefault(key, (source.path, window[0][0]))
                if first != (source.path, window[0][0]) and start > skip_until:
                    skip_until = start + DUPLICATE_LINES
                    yield source.path, window[0][0], f"the same {DUPLICATE_LINES} lines as in {first[0]}:{first[1]}"


def check_tags(sources):
    """A tag of a struct, union or enum means one thing, in whichever file of src/ a reader meets it."""
    first = {}
    for source in sources:
        if not source.is_c or not source.path.startswith("src/"):
            continue
        text = "\n".join(source.code)
        for match in TAG.finditer(text):
            number = text.count("\n", 0, match.start()) + 1
            path, line = first.setdefault(match[2], (source.path, number))
            if path != source.path:
                yield source.path, number, f"{match[1]} {match[2]}: {path}:{line} defines another one"


RULES = {
    "callers": check_callers,
    "statuses": check_statuses,
    "tags": check_tags,
    "duplicates": check_duplicates,
}
