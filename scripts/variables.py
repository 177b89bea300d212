#!/usr/bin/env python3
"""Turns data/variables.txt and data/upstreams.txt into the C table of config/variables.h.

    variables.py VARIABLES.txt UPSTREAMS.txt OUT.c

The openings of the data files explain their form. The build fails on a line that does not follow it, with the number
of that line, so a running program need not check.
"""

import re
import sys

FLAGS = ("secret", "unsent", "shared")
# Of interest to packaging/listing.py alone: the program has no need of it.
ASIDE = ("offered",)
GROUP = re.compile(r"\[([a-z]+)\] ([^:]+): (.+)\Z")
HEAD = re.compile(r"([A-Z][A-Z0-9_]*) ([a-z]+)((?: [^= ]\S*)*)(?: = (.+))?\Z")
NAME = re.compile(r"[A-Z][A-Z0-9_]*\Z")
UPSTREAM = re.compile(r"([a-z][a-z_]*)(?: = (https://\S+))?\Z")
UNITS_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
UNITS_BYTES = {"B": 1, "KB": 1000, "MB": 1000**2, "GB": 1000**3, "TB": 1000**4}
PLAIN_MS = {"milliseconds": 1, "seconds": 1000}
INDENT = "    "


class Problem(Exception):
    """Something in the file that a person has to repair."""


def number(text):
    if not re.fullmatch(r"\d+", text):
        raise Problem(f"{text} is no number")
    return int(text)


def duration(text):
    match = re.fullmatch(r"(\d+)(ms|s|m|h|d)", text)
    if not match:
        raise Problem(f"{text} is no duration with a unit: 250ms, 30s, 5m, 2h, 30d")
    return int(match[1]) * UNITS_MS[match[2]]


def size(text):
    match = re.fullmatch(r"(\d+)(B|KB|MB|GB|TB)", text)
    if not match:
        raise Problem(f"{text} is no size with a unit: 0B, 500KB, 100MB, 2GB, 1TB")
    return int(match[1]) * UNITS_BYTES[match[2]]


def bounds(text, read):
    least, dots, most = text.partition("..")
    if not dots or read(least) >= read(most):
        raise Problem(f"{text} is not LEAST..MOST")
    return {"least": read(least), "most": read(most)}


def integer(words):
    return bounds(words.pop(0), number)


def timespan(words):
    fields = bounds(words.pop(0), duration)
    unit = words.pop(0)
    if unit not in PLAIN_MS:
        raise Problem(f"a plain number counts {' or '.join(PLAIN_MS)}, not {unit}")
    return {**fields, "unit_ms": PLAIN_MS[unit]}


def extent(words):
    return bounds(words.pop(0), size)


def choice(words):
    return {"words": words.pop(0).split("|")}


def nothing(_words):
    return {}


KINDS = {
    "text": nothing,
    "path": nothing,
    "list": nothing,
    "boolean": nothing,
    "integer": integer,
    "duration": timespan,
    "size": extent,
    "choice": choice,
}


def read_head(line, group):
    """The variable that a line begins: its name, kind, flags and default."""
    match = HEAD.match(line)
    if not match or match[2] not in KINDS:
        raise Problem("expected NAME kind [secret] [unsent] [shared] [offered] [= default]; a kind is one of " + ", ".join(KINDS))
    words = match[3].split()
    try:
        fields = KINDS[match[2]](words)
    except IndexError:
        raise Problem(f"a variable of kind {match[2]} says more: its bounds or its words") from None
    unknown = [word for word in words if word not in FLAGS + ASIDE]
    if unknown:
        raise Problem(f"{unknown[0]} means nothing here")
    if match[2] in ("integer", "duration", "size") and not match[4]:
        raise Problem("a number has a default")
    return {
        "name": match[1],
        "group": group,
        "kind": match[2],
        "preset": match[4],
        "also": None,
        "help": None,
        "more": None,
        "example": None,
        **{flag: flag in words for flag in FLAGS + ASIDE},
        **fields,
    }


def read_detail(variable, text):
    """A line below a variable: its second name, its example, or what it does."""
    label, _, value = text.partition(": ")
    if label in ("also", "example"):
        if variable[label] or not value:
            raise Problem(f"{label}: needs one value, once")
        variable[label] = value
    elif variable["example"]:
        raise Problem("the example comes last")
    elif not variable["help"]:
        variable["help"] = text
    else:
        variable["more"] = f"{variable['more']} {text}" if variable["more"] else text


def check(variable, names):
    """What a whole variable must have; `names` are those before it."""
    if not (variable["help"] or "").endswith("."):
        raise Problem(f"{variable['name']} does not say in one sentence what it does")
    if not variable["preset"] and not variable["example"]:
        raise Problem(f"{variable['name']} has neither a default nor an example")
    if variable["also"] and variable["secret"]:
        raise Problem(f"{variable['name']} is secret: its value would have to be hidden under two names")
    for name in filter(None, (variable["name"], variable["also"])):
        if not NAME.match(name) or name in names:
            raise Problem(f"{name} is declared twice, or is no name")
        names.add(name)


def parse(lines):
    """The groups, as (word, title, about), and the variables."""
    groups, variables, names = [], [], set()
    for at, line in enumerate(lines, start=1):
        line = line.rstrip()
        if not line or line.startswith("#"):
            continue
        match = GROUP.match(line)
        try:
            if match:
                groups.append(match.groups())
            elif line.startswith(INDENT) and variables:
                read_detail(variables[-1], line.strip())
            elif groups:
                variables.append({**read_head(line, groups[-1][0]), "line": at})
            else:
                raise Problem("a group comes first: [word] Title: what it is about")
        except Problem as problem:
            raise Problem(f"line {at}: {problem}") from None
    for variable in variables:
        try:
            check(variable, names)
        except Problem as problem:
            raise Problem(f"line {variable['line']}: {problem}") from None
    return groups, variables


def parse_upstreams(lines):
    """The services, as (name, address or None)."""
    found = []
    for at, line in enumerate(lines, start=1):
        line = line.rstrip()
        if not line or line.startswith("#"):
            continue
        match = UPSTREAM.match(line)
        if not match or (found and match[1] <= found[-1][0]):
            raise Problem(f"line {at}: expected NAME or NAME = https://..., in the order of the alphabet")
        found.append(match.groups())
    return found


def literal(text):
    if text is None:
        return "NULL"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("??", "?\\?")
    return f'"{escaped}"'


def words_name(variable):
    return f"WORDS_{variable['name']}"


def row(variable):
    fields = [f".{key} = {literal(variable[key])}" for key in ("name", "also", "preset", "help", "more", "example")]
    fields += [f".group = GROUP_{variable['group'].upper()}", f".kind = VARIABLE_{variable['kind'].upper()}"]
    fields += [f".{flag} = {'true' if variable[flag] else 'false'}" for flag in FLAGS]
    fields += [f".{key} = {variable[key]}" for key in ("least", "most", "unit_ms") if key in variable]
    if "words" in variable:
        fields.append(f".words = {words_name(variable)}")
    return "    {" + ", ".join(fields) + "},"


def upstream_variable(name):
    return f"{name.upper()}_BASE_URL"


def upstream_row(name, address):
    fields = {"name": literal(upstream_variable(name)), "preset": literal(address), "upstream": literal(name)}
    fields |= {"group": "GROUP_PAGES", "kind": "VARIABLE_TEXT"}
    return "    {" + ", ".join(f".{key} = {value}" for key, value in fields.items()) + "},"


def generate(groups, variables, upstreams):
    lines = ["/* Made by scripts/variables.py from data/variables.txt and data/upstreams.txt. */", '#include "config/variables.h"', ""]
    for variable in variables:
        if "words" in variable:
            words = ", ".join(literal(word) for word in variable["words"])
            lines.append(f"static const char *const {words_name(variable)}[] = {{{words}, NULL}};")
    lines.append("const struct variable_group_words VARIABLE_GROUPS[GROUP_COUNT] = {")
    for word, title, about in groups:
        lines.append(f"    [GROUP_{word.upper()}] = {{{literal(title)}, {literal(about)}}},")
    lines += ["};", "const struct variable VARIABLES[] = {", *map(row, variables)]
    lines += [*(upstream_row(*one) for one in upstreams), "};"]
    lines.append(f"const size_t VARIABLE_COUNT = {len(variables)};")
    lines.append("const size_t VARIABLES_AND_UPSTREAMS = sizeof VARIABLES / sizeof *VARIABLES;")
    names = [(variable[key], at, key) for at, variable in enumerate(variables) for key in ("name", "also") if variable[key]]
    names += [(upstream_variable(name), at, "name") for at, (name, _) in enumerate(upstreams, start=len(variables))]
    lines.append("const struct variable_name VARIABLE_NAMES[] = {")
    lines += [f"    {{{at}, {'true' if key == 'also' else 'false'}}}," for _, at, key in sorted(names)]
    lines += ["};", "const size_t VARIABLE_NAME_COUNT = sizeof VARIABLE_NAMES / sizeof *VARIABLE_NAMES;"]
    return "\n".join(lines) + "\n"


def main():
    *sources, target = sys.argv[1:]
    parsed = []
    for source, read in zip(sources, (parse, parse_upstreams), strict=True):
        try:
            with open(source, encoding="utf-8") as file:
                parsed.append(read(file.read().splitlines()))
        except (OSError, ValueError, Problem) as problem:
            sys.exit(f"{source}: {problem}")
    text = generate(*parsed[0], parsed[1])
    with open(target, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
