#!/usr/bin/env python3
"""Takes the relocations of lexbor's table of entities out of the start of the program.

    late_table.py OUT.h [OUT.o ARCHIVE]

The table has 2,231 pointers to short texts on 115 pages, and the loader would write each of them in every process,
whether it reads HTML or not. OUT.o is the object of ARCHIVE (liblexbor_static.a) that has the table, without the
relocations of its whole pages; OUT.h is what html/entities.c fills these pages with before the first page of HTML.
An object that is not as this script knows it, of another compiler for example, is taken as it is, and OUT.h has nothing
to fill in; so it is without an archive.
"""

import struct
import sys

TABLE = b"lxb_html_tokenizer_res_entities_sbst"
SECTION = b".data.rel.ro.local"
# The machine: the type of a relocation that is an address of 64 bits, and the largest page of a kernel.
MACHINES = {62: (1, 4096), 183: (257, 65536)}  # x86_64, aarch64
SECTION_HEADER = struct.Struct("<IIQQQQIIQQ")
NAME, FLAGS, OFFSET, SIZE, ALIGNMENT = 0, 2, 4, 5, 8
EXECUTABLE = 4
SYMBOL = struct.Struct("<IBBHQQ")
RELOCATION = struct.Struct("<QQq")
GLOBAL_OBJECT, HIDDEN = 0x11, 2


class Unknown(Exception):
    """The archive is not as this script knows it."""


def members(data):
    """The objects of an archive."""
    if not data.startswith(b"!<arch>\n"):
        raise Unknown("it is no archive")
    at = 8
    while at + 60 <= len(data):
        size = int(data[at + 48 : at + 58])
        yield data[at + 60 : at + 60 + size]
        at += 60 + size + size % 2


def text_at(data, offset):
    return bytes(data[offset : data.index(b"\0", offset)])


class Object:
    """An object of ELF with 64 bits."""

    def __init__(self, data):
        self.data = bytearray(data)
        (machine,) = struct.unpack_from("<H", data, 18)
        if machine not in MACHINES:
            raise Unknown(f"it is for another machine ({machine})")
        self.address, self.page = MACHINES[machine]
        (self.headers,) = struct.unpack_from("<Q", data, 40)
        count, names = struct.unpack_from("<HH", data, 60)
        self.sections = [list(SECTION_HEADER.unpack_from(data, self.headers + 64 * i)) for i in range(count)]
        self.names = self.sections[names][OFFSET]

    def find(self, name):
        found = [i for i, one in enumerate(self.sections) if text_at(self.data, self.names + one[NAME]) == name]
        if len(found) != 1:
            raise Unknown(f"it has {len(found)} sections {name.decode()}")
        return found[0]

    def set(self, index, field, value):
        self.sections[index][field] = value
        SECTION_HEADER.pack_into(self.data, self.headers + 64 * index, *self.sections[index])

    def entries(self, index, form):
        """The records of a section."""
        offset, size = self.sections[index][OFFSET], self.sections[index][SIZE]
        return list(form.iter_unpack(self.data[offset : offset + size]))

    def take_out(self):
        """Takes the relocations of the table's whole pages away: (place, text) of each."""
        table, relocations, symbols = self.find(SECTION), self.find(b".rela" + SECTION), self.find(b".symtab")
        end = self.sections[table][SIZE] // self.page * self.page
        kept, rows = b"", []
        every_symbol = self.entries(symbols, SYMBOL)
        for place, info, addend in self.entries(relocations, RELOCATION):
            _, _, _, section, value, _ = every_symbol[info >> 32]
            if place >= end:
                kept += RELOCATION.pack(place, info, addend)
            elif info & 0xFFFFFFFF != self.address or self.sections[section][FLAGS] & EXECUTABLE:
                raise Unknown(f"the relocation at {place} is of another kind")
            else:
                rows.append((place, text_at(self.data, self.sections[section][OFFSET] + value + addend)))
        offset = self.sections[relocations][OFFSET]
        self.data[offset : offset + len(kept)] = kept
        self.set(relocations, SIZE, len(kept))
        self.set(table, ALIGNMENT, self.page)
        self.name_table(symbols, table, every_symbol)
        return rows, end

    def name_table(self, symbols, table, every_symbol):
        """Gives the table a symbol for other objects, behind the others: local ones come first."""
        strings = self.sections[self.find(b".strtab")][OFFSET]
        names = [one[0] for one in every_symbol if one[3:5] == (table, 0) and text_at(self.data, strings + one[0]) == TABLE]
        if len(names) != 1:
            raise Unknown("the table is not the first in its section")
        self.data += b"\0" * (-len(self.data) % 8)
        start = len(self.data)
        every_symbol.append((names[0], GLOBAL_OBJECT, HIDDEN, table, 0, self.sections[table][SIZE]))
        self.data += b"".join(SYMBOL.pack(*one) for one in every_symbol)
        self.set(symbols, OFFSET, start)
        self.set(symbols, SIZE, len(self.data) - start)


def late(archive):
    """The object, what to fill in, and how many bytes of the table these places are in."""
    with open(archive, "rb") as file:
        objects = [data for data in members(file.read()) if TABLE in data]
    if not objects:
        raise Unknown("it has no such table")
    try:
        found = Object(objects[0])
        rows, size = found.take_out()
    except (Unknown, ValueError, IndexError, struct.error) as error:
        print(f"late_table: lexbor's entities are relocated at the start: {error}")
        return objects[0], [], 0
    return found.data, rows, size


def header(rows, size):
    places = {text: 0 for _, text in rows}
    joined = b"\0"
    for text in places:
        places[text] = len(joined)
        joined += text + b"\0"
    lines = ["/* Made by scripts/late_table.py. */\n#include <stdint.h>\n"]
    if rows:
        lines.append(f"extern char {TABLE.decode()}[];\n#define LATE_TABLE {TABLE.decode()}")
    else:
        lines.append("#define LATE_TABLE NULL")
    lines.append(f"#define LATE_BYTES {size}u")
    lines.append("static const unsigned char LATE_TEXTS[] = {" + ",".join(map(str, joined)) + "};")
    lines.append("static const struct { uint32_t place, text; } LATE_ROWS[] = {")
    lines += [f"    {{{place}, {places[text]}}}," for place, text in rows]
    lines.append("    {0, 0}, /* no text: the end */\n};\n")
    return "\n".join(lines)


def main():
    if len(sys.argv) not in (2, 4):
        sys.exit("usage: late_table.py OUT.h [OUT.o ARCHIVE]")
    rows, size = [], 0
    try:
        if len(sys.argv) == 4:
            found, rows, size = late(sys.argv[3])
            with open(sys.argv[2], "wb") as file:
                file.write(found)
    except (OSError, Unknown) as error:
        sys.exit(f"late_table: {sys.argv[3]}: {error}")
    with open(sys.argv[1], "w", encoding="ascii") as file:
        file.write(header(rows, size))


if __name__ == "__main__":
    main()
