"""The code blocks of the documentation, and what each of them claims.

A block of sh is run, unless a comment before it says why it cannot be:

    <!-- not run: needs root -->

A block of text or json that follows it at once is what it prints. In it, "..." stands for anything, and a line that is only
"..." for any number of lines; of an object as JSON, members that are not shown do not matter.
"""

import dataclasses
import json
import re

from programs import ROOT

OUTPUTS = ("text", "json")


@dataclasses.dataclass
class Block:
    page: str
    line: int
    language: str
    text: str
    excuse: str | None = None  # why it is not run
    output: "Block | None" = None  # what it prints

    @property
    def name(self):
        return f"{self.page}:{self.line}"


def pages():
    found = [path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/**/*.md")]
    return ["README.md", *sorted(found)]


def blocks_of(page, text=None):
    """The fenced blocks of a page, in order."""
    lines = (text if text is not None else (ROOT / page).read_text(encoding="utf-8")).split("\n")
    found, at, since, excuse = [], 0, [], None
    while at < len(lines):
        fence = re.fullmatch(r"( *)```(\w*)", lines[at])
        if not fence:
            since.append(lines[at])
            comment = re.fullmatch(r" *<!-- not run: (.+) -->", lines[at])
            excuse = comment[1] if comment else excuse if not lines[at].strip() else None
            at += 1
            continue
        end = lines.index(fence[1] + "```", at + 1)
        body = "\n".join(line.removeprefix(fence[1]) for line in lines[at + 1 : end]) + "\n"
        block = Block(page, at + 1, fence[2], body, excuse)
        if found and block.language in OUTPUTS and found[-1].language == "sh" and not any(map(str.strip, since)):
            found[-1].output = block
        found.append(block)
        at, since, excuse = end + 1, [], None
    return found


# ---- comparing ----


def text_fits(expected, actual):
    """Whether the lines came, in this order and one after the other."""
    pattern = ""
    for line in expected.strip().split("\n"):
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += r".*?".join(re.escape(part) for part in line.rstrip().split("...")) + r"[ \t]*\n"
    return re.fullmatch(pattern, actual.strip() + "\n") is not None


def json_fits(expected, actual):
    """Whether everything that is shown is there; "..." in a text stands for anything."""
    if isinstance(expected, dict):
        return isinstance(actual, dict) and all(
            name in actual and json_fits(value, actual[name]) for name, value in expected.items()
        )
    if isinstance(expected, list):
        return isinstance(actual, list) and len(expected) <= len(actual) and all(map(json_fits, expected, actual))
    if isinstance(expected, str):
        pattern = ".*".join(re.escape(part) for part in expected.split("..."))
        return isinstance(actual, str) and re.fullmatch(pattern, actual, re.S) is not None
    return type(expected) is type(actual) and expected == actual


def output_fits(block, actual):
    if block.language == "text":
        return text_fits(block.text, actual)
    # Of several objects, the first is shown.
    value, _ = json.JSONDecoder().raw_decode(actual.lstrip())
    return json_fits(json.loads(block.text), value)
