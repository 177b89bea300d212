#!/usr/bin/env python3
"""Turns the files of web/ into the C table of rest/files.h, so that the program carries its page with it.

    web.py OUT.c FILE...

Each file is compressed once, here, as browsers take it; what a browser must know of it (its type, a name for its
contents) stands beside it. The build fails on a file of a kind that no page needs.
"""

import gzip
import hashlib
import os
import sys

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
BYTES_PER_LINE = 24


class Problem(Exception):
    """Something in an input that a person has to mend."""


def compressed(data):
    """The same bytes for the same file, whenever and wherever it is made."""
    return gzip.compress(data, 9, mtime=0)


def array(name, data):
    lines = (data[at : at + BYTES_PER_LINE] for at in range(0, len(data), BYTES_PER_LINE))
    body = "\n".join("    " + "".join(f"{byte}," for byte in line) for line in lines)
    return f"static const unsigned char {name}[] = {{\n{body}\n}};\n"


def entry(number, path):
    name, kind = os.path.basename(path), os.path.splitext(path)[1]
    if kind not in TYPES:
        raise Problem(f"{path}: a page has no use for a file of this kind")
    with open(path, "rb") as file:
        data = file.read()
    packed = compressed(data)
    tag = hashlib.sha256(data).hexdigest()[:32]
    row = f'    {{"{name}", "{TYPES[kind]}", "\\"{tag}\\"", file_{number}, {len(packed)}, {len(data)}}},'
    return array(f"file_{number}", packed), row


def generate(paths):
    entries = [entry(number, path) for number, path in enumerate(sorted(paths))]
    parts = ['/* Made by scripts/web.py. */\n#include "rest/files.h"\n', *(data for data, _ in entries)]
    parts += ["const struct web_file WEB_FILES[] = {", *(row for _, row in entries), "};\n"]
    parts += [f"const size_t WEB_FILE_COUNT = {len(entries)};\n"]
    return "\n".join(parts)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    try:
        text = generate(sys.argv[2:])
    except (OSError, Problem) as problem:
        sys.exit(f"web: {problem}")
    with open(sys.argv[1], "w", encoding="ascii") as file:
        file.write(text)


if __name__ == "__main__":
    main()
