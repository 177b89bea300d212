#!/usr/bin/env python3
"""Makes one document of a page of web/ with its style sheets and modules in it, as C for app/pages.h.

    app.py OUT.c NAME=PAGE.html

A client of MCP shows such a document in a frame that can load nothing, so all of it has to be inside. Each module
becomes a function that runs once, in the order of imports; imports and exports become names. Modules keep to the few
forms that this script knows, and the build fails on any other:

    import { a, b } from "./other.js";      at the beginning, before anything else
    export function a() {}                  also async function, class and const
"""

import pathlib
import re
import sys
import zlib

from web import Problem, array

STYLE = re.compile(r'<link rel="stylesheet" href="([\w-]+\.css)">')
SCRIPT = re.compile(r'<script type="module" src="([\w-]+\.js)"></script>')
IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w-]+)\.js";\n', re.M)
EXPORT = re.compile(r"^export (?=(?:(?:async )?function\*? |class |const )(\w+))", re.M)
UNKNOWN = re.compile(r"^\s*(?:import|export)\b.*|\bimport\s*[(.].*", re.M)
# What would end the element that the text stands in.
ENDS = {"style": re.compile(r"</style|<!--", re.I), "script": re.compile(r"</script|<!--", re.I)}


def variable(module):
    return "module_" + module.replace("-", "_")


def read(path, element):
    text = path.read_text(encoding="utf-8")
    if found := ENDS[element].search(text):
        raise Problem(f"{path}: {found[0]} would end the {element} that it becomes part of")
    return text


class Bundle:
    """The modules that one needs, each once, what it imports before it."""

    def __init__(self, folder):
        self.folder = folder
        self.done = {}
        self.under_way = []

    def add(self, name):
        if name in self.done:
            return
        if name in self.under_way:
            raise Problem(f"{name}.js: it imports itself, by way of {', '.join(self.under_way)}")
        self.under_way.append(name)
        text = read(self.folder / f"{name}.js", "script")
        for _, other in IMPORT.findall(text):
            self.add(other)
        self.under_way.pop()
        self.done[name] = self.wrapped(name, text)

    def wrapped(self, name, text):
        given = EXPORT.findall(text)
        text = IMPORT.sub(lambda found: f"const {{{found[1].strip()}}} = {variable(found[2])};\n".replace(" as ", ": "), text)
        text = EXPORT.sub("", text)
        if unknown := UNKNOWN.search(text):
            raise Problem(f"{name}.js: {unknown[0].strip()}: a form that scripts/app.py does not know")
        return f"const {variable(name)} = (() => {{\n{text}return {{{', '.join(given)}}};\n}})();\n"


def document(page):
    """The page as one text."""
    folder, text = page.parent, page.read_text(encoding="utf-8")

    def script(found):
        bundle = Bundle(folder)
        bundle.add(found[1].removesuffix(".js"))
        return '<script type="module">\n' + "".join(bundle.done.values()) + "</script>"

    text = STYLE.sub(lambda found: "<style>\n" + read(folder / found[1], "style") + "</style>", text)
    text = SCRIPT.sub(script, text)
    if left := re.search(r'(?:src|href)="[^"]*"', text.partition("<style>")[0]):
        raise Problem(f"{page}: {left[0]} would have to be loaded")
    return text


def packed(text):
    """As text/packed.h reads it."""
    data = text.encode()
    return len(data).to_bytes(4, "little") + zlib.compress(data, 9)


def generate(name, page):
    data = packed(document(page))
    parts = ['/* Made by scripts/app.py. */\n#include "app/pages.h"\n']
    parts += [array(name, data).removeprefix("static ")]
    parts += [f"const size_t {name}_SIZE = sizeof {name};\n"]
    return "\n".join(parts)


def main():
    if len(sys.argv) != 3 or "=" not in sys.argv[2]:
        sys.exit(__doc__)
    name, _, page = sys.argv[2].partition("=")
    try:
        text = generate(name, pathlib.Path(page))
    except (OSError, Problem) as problem:
        sys.exit(f"app: {problem}")
    pathlib.Path(sys.argv[1]).write_text(text, encoding="ascii")


if __name__ == "__main__":
    main()
