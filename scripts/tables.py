#!/usr/bin/env python3
"""Turns the word tables under data/ into C, so that the program looks words up and parses nothing.

    tables.py --source OUT.c --header OUT.h FILE...

A file is UTF-8 text. A line whose first character is `#` is a comment; each file begins with one that says what
the words are for. A line in brackets begins a table, each later line is a row of it, and an indented line goes
on where the one above it ended. What is in the brackets is the name of the table, then how its rows read:

    [page_hints HINT from html/choose/hints.h]   value of a word: HINT_NAVIGATION, of that header
    navigation: nav navbar menu
                submenu
    related: related taboola                          a word under two classes gets both values, by OR
    advert: ads taboola

    [path_kinds POINTS() from html/choose/choose.h]   the value is POINTS(ARTICLE, 3)
    article 3: blog post

    [meta_names META ordered from html/metadata.h]  the value is WORD_RANK(META_TITLE, 1), then 2, ...
    title: og:title twitter:title

    [code_languages names]           the text of a word: "python"; a row of `=:` holds words that name themselves
    python: python3 py
    =: ada java

    [country_names texts]            one word to a row, and its text
    DE: Germany

    [math_symbols pairs]             words and their texts in turn
    α \\alpha   β \\beta

    [described_types ranks]          the value of a word is its place in the table, from 1
    NewsArticle Product WebPage

    [alike_words groups]             the text of a word: all words of the rows in which it stands
    kg kilo kilos

    [code_prefixes list]             a list in the order of the file, for who looks for each of them in a text
    language- lang-

More words in the brackets: `fold` (the case of A to Z does not count), `phrases` (entries hold blanks; `|` stands
between them), `bare` (entries are stored as fold_bare() of index/fold.h leaves a text: in small letters, without
accents). A `*` at an entry's end stands for anything, a blank before it counts; such a table is asked with
words_match().

Every table becomes a `const struct word_table` of text/word_table.h, or a NULL-terminated array of strings for a
list. The build fails, with the file and the line, on a word that stands twice in a class, or twice in a table of
texts or ordered words, on an entry that another one with a `*` covers, and on a class that C does not know.
"""

import argparse
import os
import re
import sys
import unicodedata

NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
HEAD = re.compile(r"\[(.*)\]\s*\Z")
MODES = ("ordered", "names", "texts", "pairs", "groups", "ranks", "list")
BARE = ("pairs", "groups", "ranks", "list")  # their rows name no class
FLAGS = ("fold", "phrases", "bare")
LETTERS = 32  # as WORD_LETTERS of text/word_table.h
ESCAPES = {'"': '\\"', "\\": "\\\\", "?": "\\?"}
LONGEST_WORD = 255
MOST_BYTES = 65535  # an entry says in 16 bits where its word is
# As in index/fold.c: marks that writers leave out, letters of which they use one for the other.
LEFT_OUT = re.compile("[\u0300-\u036f\u0591-\u05c7\u0640\u064b-\u065f\u0670]")
USUAL_LETTERS = str.maketrans("\u0649\u0629\u0671\u00f8\u0142\u0111\u0131\u00f0", "\u064a\u0647\u0627oldid")


def small(text):
    """`text` in small letters, of A to Z only."""
    return re.sub("[A-Z]", lambda letter: letter.group().lower(), text)


def bare(text):
    """`text` as fold_bare() of index/fold.h leaves it."""
    text = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return LEFT_OUT.sub("", text.translate(USUAL_LETTERS))


class Problem(Exception):
    """Something in a file that a person has to repair."""


class Table:
    def __init__(self, path, line, text):
        words = text.split()
        source = None
        if "from" in words[:-1]:  # the header that has what the rows name
            source = words[words.index("from") + 1]
            words = words[: words.index("from")]
        self.name, rest = words[0] if words else "", words[1:]
        self.path, self.line, self.include = path, line, source
        self.flags = {word for word in rest if word in FLAGS}
        modes = [word for word in rest if word in MODES]
        prefixes = [word for word in rest if word not in FLAGS and word not in MODES]
        self.mode = modes[0] if modes else "values"
        self.prefix = prefixes[0] if prefixes else None
        self.rows = []  # (line, text)
        if not NAME.match(self.name) or len(modes) > 1 or len(prefixes) > 1:
            self.fail(line, f"[{text}] is no heading of a table")
        if (self.mode in ("values", "ordered")) != (self.prefix is not None):
            self.fail(line, f"[{text}] needs a prefix for its classes, or one of {', '.join(MODES[1:])}")

    def fail(self, line, words):
        raise Problem(f"{self.path}:{line}: {words}")

    def split(self, text):
        if "phrases" in self.flags:
            return [part.strip() for part in text.split("|") if part.strip()]
        return text.split()

    def groups(self):
        """(line, text, word) for each word, once; the text has the words of its rows, in the order of the file."""
        groups = {}
        for line, text in self.rows:
            for word in dict.fromkeys(text.split()):
                groups.setdefault(word, (line, []))[1].append(text)
        return ((line, " ".join(texts), word) for word, (line, texts) in groups.items())

    def entries(self):
        """(line, class, word) for each word of the table, in the order of the file."""
        if self.mode == "groups":
            yield from self.groups()
            return
        for line, text in self.rows:
            if self.mode == "pairs":
                parts = self.split(text)
                if len(parts) % 2:
                    self.fail(line, "a word without its text")
                yield from ((line, parts[i + 1], parts[i]) for i in range(0, len(parts), 2))
                continue
            if self.mode in BARE:
                owner, words = None, self.split(text)
            else:
                owner, colon, rest = text.partition(":")
                owner = owner.strip()
                words = [owner] if self.mode == "texts" else self.split(rest)
                owner = rest.strip() if self.mode == "texts" else owner
                if not colon or not owner:
                    self.fail(line, "a row begins with a name and a colon")
            if not words:
                self.fail(line, "a row without words")
            for word in words:
                if len(word.encode()) > LONGEST_WORD:
                    self.fail(line, f'"{word}" is too long')
                yield line, owner, word

    def value(self, owner, rank):
        """The C expression for a class."""
        parts = [re.sub(r"[^A-Za-z0-9]", "_", part).upper() for part in owner.split()]
        if self.prefix.endswith("()"):
            text = f"{self.prefix[:-2]}({', '.join(parts)})"
        else:
            text = f"{self.prefix}_{'_'.join(parts)}"
        return f"WORD_RANK({text}, {rank})" if self.mode == "ordered" else text


def read(path):
    """The tables of one file."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
    except (OSError, ValueError) as error:
        raise Problem(f"{path}: {error}") from error
    if not lines[0].startswith("#"):
        raise Problem(f"{path}:1: the first line says what the words are for")
    tables = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        head = HEAD.match(line)
        if head:
            tables.append(Table(path, number, head.group(1)))
        elif not tables:
            raise Problem(f"{path}:{number}: a row before the first [table]")
        elif line[0].isspace() and tables[-1].rows:  # goes on where the line above ended
            if tables[-1].mode == "texts":
                first, text = tables[-1].rows[-1]
                tables[-1].rows[-1] = (first, f"{text} {line.strip()}")
            else:
                owner = tables[-1].rows[-1][1].partition(":")[0]
                text = line.strip() if tables[-1].mode in BARE else f"{owner}: {line.strip()}"
                tables[-1].rows.append((number, text))
        else:
            tables[-1].rows.append((number, line.strip()))
    return tables


def quoted(text):
    # Octal escapes end after three digits, so they cannot swallow the character behind them.
    return "".join(
        ESCAPES.get(chr(byte)) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}") for byte in text.encode()
    )


def hash_of(data):
    """FNV-1a, as word_hash() of text/word_table.h."""
    value = 0x811C9DC5
    for byte in data:
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return value


def gather(table):
    """{word: (line, [classes], [ranks])}, refusing what stands twice or is never reached."""
    found, ranks = {}, {}
    for line, owner, spelled in table.entries():
        ranks[owner] = ranks.get(owner, 0) + 1
        word = small(spelled) if "fold" in table.flags else bare(spelled) if "bare" in table.flags else spelled
        first, owners, places = found.setdefault(word, (line, [], []))
        if owner in owners or (owners and table.mode != "values"):
            table.fail(line, f'"{word}" stands in line {first} already')
        owners.append(owner)
        places.append(ranks[owner])
    open_ended = [word[:-1] for word in found if word.endswith("*")]
    for word, (line, _, _) in found.items():
        for other in open_ended:
            if word.rstrip("*").startswith(other) and word != other + "*":
                table.fail(line, f'"{word}" is never reached: "{other}*" covers it')
    return found


def write_list(table):
    words = [word for _, _, word in table.entries()]
    if len(set(words)) != len(words):
        gather(table)
    rows = "".join(f'    "{quoted(word)}",\n' for word in words)
    return f"const char *const {table.name}[] = {{\n{rows}    NULL,\n}};\n"


def write_words(table):
    found = gather(table)
    if not found:
        table.fail(table.line, "an empty table")
    words = sorted(found, key=lambda word: word.removesuffix("*").encode())
    blob, places = "", {}

    def place(text):
        nonlocal blob
        if text not in places:
            places[text] = len(blob.encode())
            blob += text + "\0"
        return places[text]

    for word in words:
        place(word.removesuffix("*"))
    if len(blob.encode()) > MOST_BYTES:
        table.fail(table.line, "the words of this table take too much room")
    size = 4
    while size < 2 * len(words):
        size *= 2
    slots, rows, lengths = [0] * size, [], [0] * LETTERS
    for number, word in enumerate(words):
        line, owners, ranks = found[word]
        bare = word.removesuffix("*")
        if table.mode == "ranks":
            value = ranks[0]
        elif table.mode in ("names", "texts", "pairs", "groups"):
            value = place(bare if owners[0] == "=" else owners[0])
        else:
            value = " | ".join(table.value(owner, rank) for owner, rank in zip(owners, ranks))
        rows.append(f'#line {line} "{table.path}"\n')
        rows.append(f"    {{{value}, {places[bare]}, {len(bare.encode())}, {int(bare != word)}}},\n")
        lengths[bare.encode()[0] % LETTERS] |= 1 << min(len(bare.encode()), LETTERS - 1)
        slot = hash_of(bare.encode()) % size
        while slots[slot]:
            slot = (slot + 1) % size
        slots[slot] = number + 1
    text = "".join(f'    "{quoted(word)}\\0"\n' for word in blob.split("\0")[:-1])
    return (
        f"static const char {table.name}_text[] =\n{text};\n"
        f"static const struct word_entry {table.name}_entries[] = {{\n{''.join(rows)}}};\n"
        f"static const uint16_t {table.name}_slots[] = {{{','.join(map(str, slots))}}};\n"
        f"static const uint32_t {table.name}_lengths[] = {{{','.join(f'{bits}u' for bits in lengths)}}};\n"
        f"const struct word_table {table.name} = {{{table.name}_text, {table.name}_entries, {table.name}_slots, "
        f"{table.name}_lengths, {size - 1}, {len(words)}, {'true' if 'fold' in table.flags else 'false'}}};\n"
    )


def generate(paths, header_name):
    """The text of the source and of the header."""
    tables = [table for path in paths for table in read(path)]
    guard = re.sub(r"[^A-Z0-9]", "_", header_name.upper())
    header = [f"/* Made by scripts/tables.py. */\n#ifndef FORAGE_{guard}\n#define FORAGE_{guard}\n"]
    header.append('#include "text/word_table.h"\n')
    source = [f'/* Made by scripts/tables.py. */\n#include "{header_name}"\n\n#include <stddef.h>\n']
    source += [f'#include "{include}"' for include in sorted({table.include for table in tables} - {None})]
    names = set()
    for table in tables:
        if table.name in names:
            table.fail(table.line, f"there are two tables {table.name}")
        names.add(table.name)
        header.append(
            f"extern const char *const {table.name}[];"
            if table.mode == "list"
            else f"extern const struct word_table {table.name};"
        )
        source.append(write_list(table) if table.mode == "list" else write_words(table))
    header.append("\n#endif\n")
    return "\n".join(source), "\n".join(header)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", required=True)
    parser.add_argument("--header", required=True)
    parser.add_argument("files", nargs="+", metavar="FILE")
    options = parser.parse_args()
    try:
        source, header = generate(options.files, os.path.basename(options.header))
    except Problem as problem:
        sys.exit(f"tables: {problem}")
    for path, text in ((options.source, source), (options.header, header)):
        with open(path, "w", encoding="ascii") as file:
            file.write(text)


if __name__ == "__main__":
    main()
