#!/usr/bin/env python3
"""Turns data files into C, so that the program carries them with it.

    embed.py --source OUT.c --header OUT.h NAME=FILE...

Each file becomes `const char NAME[]`, ending in a NUL that is not part of the file. JSON is checked and
minified (the order of keys is kept); every other file must be UTF-8 text and is taken as it is. The build
fails on a file that is not what it should be, so a running program need not check.
"""

import argparse
import json
import os
import re
import sys

NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
ESCAPES = {
    ord("\n"): "\\n",
    ord("\t"): "\\t",
    ord('"'): '\\"',
    ord("\\"): "\\\\",
    ord("?"): "\\?",  # two of them could begin a trigraph
}
BYTES_PER_LINE = 80


class Problem(Exception):
    """Something in an input that a person has to mend."""


def refuse_duplicates(pairs):
    seen = dict(pairs)
    if len(seen) != len(pairs):
        raise ValueError("a key stands twice in an object: " + ", ".join(key for key, _ in pairs))
    return seen


def refuse_constant(name):
    raise ValueError(f"{name} is not JSON")


def minified(text):
    value = json.loads(text, object_pairs_hook=refuse_duplicates, parse_constant=refuse_constant)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def content(path):
    """The bytes to embed for the file at `path`."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read()
        if path.endswith(".json"):
            text = minified(text)
    except (OSError, ValueError) as error:
        raise Problem(f"{path}: {error}") from error
    if "\0" in text:
        raise Problem(f"{path}: a NUL cannot be embedded in text")
    return text.encode()


def literal(data):
    """C string literals for `data`, one a line."""
    lines = []
    for start in range(0, len(data), BYTES_PER_LINE):
        chunk = data[start : start + BYTES_PER_LINE]
        # Octal escapes end after three digits, so they cannot swallow the character behind them.
        text = "".join(
            ESCAPES.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}") for byte in chunk
        )
        lines.append(f'    "{text}"')
    return "\n".join(lines) or '    ""'


def parse_inputs(arguments):
    """NAME=FILE... as a dictionary, refusing what would not be C or would hide another."""
    files = {}
    for argument in arguments:
        name, _, path = argument.partition("=")
        if not NAME.match(name) or not path:
            raise Problem(f"{argument}: expected NAME=FILE, with a name of lower-case letters")
        if name in files:
            raise Problem(f"{name}: given twice")
        files[name] = path
    return files


def generate(files, header_name):
    """The text of the source and of the header."""
    guard = re.sub(r"[^A-Z0-9]", "_", header_name.upper())
    source = [f'/* Made by scripts/embed.py. */\n#include "{header_name}"\n']
    header = [f"/* Made by scripts/embed.py. */\n#ifndef FORAGE_{guard}\n#define FORAGE_{guard}\n"]
    for name, path in sorted(files.items()):
        data = content(path)
        source.append(f"const char {name}[{len(data) + 1}] =\n{literal(data)};\n")
        header.append(f"extern const char {name}[{len(data) + 1}];")
    header.append("\n#endif\n")
    return "\n".join(source), "\n".join(header)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", required=True)
    parser.add_argument("--header", required=True)
    parser.add_argument("inputs", nargs="*", metavar="NAME=FILE")
    options = parser.parse_args()
    try:
        source, header = generate(parse_inputs(options.inputs), os.path.basename(options.header))
    except Problem as problem:
        sys.exit(f"embed: {problem}")
    for path, text in ((options.source, source), (options.header, header)):
        with open(path, "w", encoding="ascii") as file:
            file.write(text)


if __name__ == "__main__":
    main()
