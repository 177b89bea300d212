"""Documents that are cut, damaged, encrypted, renamed, or made to do harm: each gets a note that says what is wrong, or the text
that there is, and none of them costs the server more than its ceilings allow."""

import struct
import zlib

import pytest
from documents import (
    cell,
    docx_parts,
    epub_parts,
    item,
    odt_parts,
    overlapping,
    pack,
    paragraph,
    patched,
    pptx_parts,
    shape,
    sheet,
    slide,
    table,
    wide,
    xlsx_parts,
)
from fake_web import Answer
from reading import forage, get, shared_forage, shared_web, web  # noqa: F401 (fixtures)

MIB = 1 << 20
MOST_MEMORY = 700 * MIB  # of the server: several times what an empty one takes, and a tenth of what the bombs unpack to

CUT = "cut off or damaged"
DAMAGED = "its ZIP archive is not well-formed"
BOMB = "The document is a bomb"
OUT = "whose name leads out of it"
TWICE = "two members of one name"
LOCKED = "The document is protected by a password"
PACKED = "packed in a way that is not read"
LARGE = "larger than what is read, once it is unpacked"
NO_MAIN = "its main part is missing"
ENTITIES = "declares entities"
NOTHING = ("There is no text in the document", "its text cannot be read")

# The parts of a sound document of each format, and the one that holds its text.
FORMATS = {
    "docx": (docx_parts(paragraph("Words.")), "word/document.xml"),
    "odt": (odt_parts("<text:p>Words.</text:p>"), "content.xml"),
    "epub": (epub_parts("<p>Words.</p>", title=""), "OEBPS/text/c1.xhtml"),
    "pptx": (pptx_parts(slide(shape("Words.", kind="title"))), "ppt/slides/slide1.xml"),
    "xlsx": (xlsx_parts(sheet(cell("A1", "Words.", "inlineStr"))), "xl/worksheets/sheet1.xml"),
}
MAIN = {**{name: main for name, (_, main) in FORMATS.items()}, "epub": "OEBPS/b ook.opf", "pptx": "ppt/presentation.xml", "xlsx": "xl/workbook.xml"}


def entry_of(archive, name, signature=b"PK\x01\x02", fixed=46):
    """Where a member's record begins."""
    at = -1
    while True:
        at = archive.index(signature, at + 1)
        if archive[at + fixed : at + fixed + len(name)] == name.encode():
            return at


def with_field(archive, name, offset, value):
    at = entry_of(archive, name) + offset
    return archive[:at] + value + archive[at + len(value) :]


def flipped(archive, name):
    at = entry_of(archive, name, b"PK\x03\x04", 30) + 30 + len(name) + 3
    return archive[:at] + bytes([archive[at] ^ 0x55]) + archive[at + 1 :]


LAUGHS = (
    '<!DOCTYPE lolz [<!ENTITY lol "lol">'
    + "".join(f'<!ENTITY lol{n} "{f"&lol{n - 1};" * 10}">' for n in range(1, 10)).replace("&lol0;", "&lol;")
    + "]>"
)
OUTSIDE = '<!DOCTYPE x [<!ENTITY secret SYSTEM "file:///etc/passwd">]>'


def hostile_archives(parts, main, root):
    """What can be wrong with the archive of any document, and the words for it; () is for any note, or a text."""
    whole = pack(parts)
    text = parts[main]
    after_prologue = lambda declaration: text.replace("?>", f"?>{declaration}", 1)  # noqa: E731
    extra = lambda name: pack([*parts.items(), (name, "x")])  # noqa: E731
    return {
        "half of it": (whole[: len(whole) // 2], CUT),
        "without its last byte": (whole[:-1], CUT),
        "without its directory": (whole[: whole.index(b"PK\x01\x02")], CUT),
        "four bytes": (whole[:4], CUT),
        "encrypted": (with_field(whole, main, 8, b"\1\0"), LOCKED),
        "another way of packing": (with_field(whole, main, 10, b"\x0c\0"), PACKED),
        "another checksum": (with_field(whole, main, 16, b"\1\2\3\4"), DAMAGED),
        "a flipped bit": (flipped(whole, main), DAMAGED),
        "too small a size": (with_field(whole, main, 24, struct.pack("<L", 5)), DAMAGED),
        "too large a size": (with_field(whole, main, 24, struct.pack("<L", len(text.encode()) + 1)), DAMAGED),
        "a size of gigabytes": (with_field(whole, main, 24, b"\xfe\xff\xff\xff"), LARGE),
        "more packed than there is": (with_field(whole, main, 20, b"\xfe\xff\xff\x7f"), "lie upon each other"),
        "a header that is elsewhere": (with_field(whole, main, 42, b"\xf0\xff\xff\x7f"), DAMAGED),
        "the header of another": (with_field(whole, main, 42, struct.pack("<L", entry_of(whole, next(iter(parts)), b"PK\x03\x04", 30))) if main != next(iter(parts)) else whole[:9], (DAMAGED, CUT)),
        "a way out": (extra("../../etc/passwd"), OUT),
        "a way out in the middle": (extra("word/../../x"), OUT),
        "a way out of Windows": (extra("a\\..\\..\\x"), OUT),
        "an absolute name": (extra("/etc/passwd"), OUT),
        "a drive": (extra("C:/x"), OUT),
        "the text twice": (extra(main), TWICE),
        "a directory that is elsewhere": (patched(whole, 16, b"\xff\xff\xff\x7f", b"PK\5\6"), DAMAGED),
        "a directory that is too long": (patched(whole, 12, b"\xff\xff\xff\x7f", b"PK\5\6"), DAMAGED),
        "more members than there are": (patched(whole, 10, b"\xff\x0f", b"PK\5\6"), DAMAGED),
        "64 bits that are missing": (patched(whole, 10, b"\xff\xff", b"PK\5\6"), DAMAGED),
        "64 bits that lead nowhere": (patched(wide(whole), 8, b"\xff" * 8, b"PK\6\7"), DAMAGED),
        "a part of several": (patched(whole, 4, b"\1\0", b"PK\5\6"), "one of several parts"),
        "a bomb": (pack({**parts, main: text + " " * (60 * MIB)}), BOMB),
        "a bomb of many parts": (pack({**parts, **{f"pad{n}": bytes(8 * MIB) for n in range(20)}}), ()),
        "no text": (pack({name: part for name, part in parts.items() if name != main}), ()),
        "no main part": (pack({name: part for name, part in parts.items() if name != root}), NO_MAIN),
        "an empty text": (pack({**parts, main: ""}), ()),
        "bytes": (pack({**parts, main: bytes(range(256)) * 20}), ()),
        "half a text": (pack({**parts, main: text[: len(text) * 2 // 3]}), ()),
        "a billion laughs": (pack({**parts, root: parts[root].replace("?>", f"?>{LAUGHS}", 1)}), ENTITIES),
        "a file of this machine": (pack({**parts, root: parts[root].replace("?>", f"?>{OUTSIDE}", 1)}), ENTITIES),
        "laughs in the text": (pack({**parts, main: after_prologue(LAUGHS).replace("Words.", "&lol9;")}), ()),
        "a thousand levels": (pack({**parts, main: "<a>" * 1000 + "</a>" * 1000}), ()),
        "a long name of an element": (pack({**parts, main: f"<{'a' * MIB}/>"}), ()),
        "ten thousand attributes": (pack({**parts, main: "<a " + " ".join(f"b{n}='1'" for n in range(10000)) + "/>"}), ()),
    }


ARCHIVES = {
    f"{kind}: {name}": case
    for kind, (parts, main) in FORMATS.items()
    for name, case in hostile_archives(parts, main, MAIN[kind]).items()
}

LOOP = docx_parts(paragraph("Words."))
LOOP["word/_rels/document.xml.rels"] = LOOP["word/_rels/document.xml.rels"].replace('Target="styles.xml"', 'Target="document.xml"').replace(
    'Target="footnotes.xml"', 'Target="document.xml"'
)


def swollen(count):
    """Shared strings that cells repeat."""
    return xlsx_parts(sheet(*[cell(f"A{row}", 0, "s") for row in range(1, count)]), strings=("x" * MIB,))


SPECIAL = {
    "two thousand members of one place": (overlapping(2000), "lie upon each other"),
    "too many members": (pack({f"m{number}": "" for number in range(20001)}, 0), "more members than are read"),
    "an empty archive": (b"PK\5\6" + bytes(18), "It is a ZIP archive."),
    "an archive of pictures": (pack({"a.png": b"\x89PNG\r\n\x1a\n"}), "It is a ZIP archive."),
    "a Java archive": (pack({"META-INF/MANIFEST.MF": "x"}), "It is a Java archive."),
    "a spreadsheet of OpenDocument": (pack({"mimetype": "application/vnd.oasis.opendocument.spreadsheet"}), "It is an OpenDocument spreadsheet."),
    "a workbook in binary": (
        pack({"[Content_Types].xml": '<Types><Override PartName="/x" ContentType="application/vnd.ms-excel.sheet.binary.macroEnabled.main"/></Types>'}),
        "It is a binary Excel workbook.",
    ),
    "an Office document with a password": (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600) + "EncryptedPackage".encode("utf-16-le") + bytes(600),
        LOCKED,
    ),
    "a book that its shop locked": (
        pack({**epub_parts("<p>x</p>"), "META-INF/encryption.xml": '<encryption><EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/></encryption>'}),
        "The book is locked by its shop (DRM)",
    ),
    "parts that are each other": (pack(LOOP), ()),
    "strings that cells repeat": (pack(swollen(3000)), ()),
    "a cell in a row that cannot be": (pack(xlsx_parts(sheet(cell("A99999999999", "x", "inlineStr"), cell("ZZZZZ1", "y", "inlineStr")))), ()),
    "numbers that are none": (pack(xlsx_parts(sheet(cell("A1", "nan"), cell("A2", "1e999"), cell("A3", "-1", "s"), cell("A4", "9" * 400, "s")))), ()),
    "a format without an end": (
        pack({**xlsx_parts(sheet(cell("A1", 5, style=0))), "xl/styles.xml": f'<styleSheet><numFmt numFmtId="0" formatCode="{"0." * 3000}"/><cellXfs><xf numFmtId="0"/></cellXfs></styleSheet>'}),
        (),
    ),
    "a million columns": (pack(odt_parts('<table:table><table:table-row><table:table-cell table:number-columns-repeated="1000000"><text:p>x</text:p></table:table-cell></table:table-row></table:table>')), ()),
    "two billion spaces": (pack(odt_parts('<text:p>a<text:s text:c="2000000000"/>b</text:p>')), ()),
    "a slide two thousand times": (pack({**pptx_parts(slide(shape("Words." * 9000))), "ppt/presentation.xml": "<p>" + '<p:sldId r:id="slide1"/>' * 5000 + "</p>"}), ()),
    "a spine of one chapter": (pack(epub_parts("<p>Words.</p>", spine=["c1"] * 9000)), ()),
    "a package that is not there": (pack({"mimetype": "application/epub+zip"}), NO_MAIN),
    "a container of nothing": (pack({"mimetype": "application/epub+zip", "META-INF/container.xml": "<container/>"}), NO_MAIN),
    "lists in lists": (pack(docx_parts("".join(item("x", 1, level % 9) for level in range(20000)))), ()),
    "tables in tables": (pack(docx_parts(table([table([table([table(["x"])])])]) * 50)), ()),
    "boxes in boxes": (pack(docx_parts("<w:p><w:r><w:txbxContent>" * 60 + "<w:p/>" + "</w:txbxContent></w:r></w:p>" * 60)), ()),
    "fields that do not end": (pack(docx_parts(paragraph('<w:r><w:fldChar w:fldCharType="begin"/></w:r>' * 5000 + "<w:r><w:t>x</w:t></w:r>"))), ()),
    "a text of a million paragraphs": (pack(docx_parts("<w:p><w:r><w:t>x</w:t></w:r></w:p>" * 400000)), ()),
}


def read(server, web, content, kind="application/octet-stream"):
    web.answers["/document"] = Answer(content, kind=kind)
    return get(server, web.url("/document"))


def check(result, words):
    text = result["page_content"]
    if words:
        assert result.get("failed"), text[:300]
        assert any(each in text for each in ([words] if isinstance(words, str) else words)), text[:300]
        assert "Source: " in text
    elif result.get("failed"):
        assert text.startswith(("_Failed to retrieve page content: ContentError: The ", "_Failed to retrieve page content: ContentError: There "))
    assert "root:" not in text and "lollol" not in text


@pytest.mark.parametrize("name", ARCHIVES)
def test_archive(forage, web, name):
    content, words = ARCHIVES[name]
    check(read(forage, web, content), words)


@pytest.mark.parametrize("name", SPECIAL)
def test_special(forage, web, name):
    content, words = SPECIAL[name]
    check(read(forage, web, content), words)


RENAMED = [
    (b"%PDF-1.4\nnothing", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "The PDF could not be read"),
    (b"\x89PNG\r\n\x1a\n", "application/epub+zip", "It is a PNG picture."),
    (b"just words", "application/epub+zip", "just words"),
    (b"\0\1\2", "application/epub+zip", "It is an EPUB book."),
    (b"<!doctype html><p>A page of <b>words</b>.", "application/zip", "A page of **words**."),
    (b"Rar!\x1a\x07\x00", "application/zip", "It is a RAR archive."),
    (pack(FORMATS["docx"][0]), "application/pdf", "Words."),
    (pack(FORMATS["docx"][0]), "image/png", "Words."),
    (pack(FORMATS["xlsx"][0]), "text/csv", "Words."),
    (pack(FORMATS["epub"][0]), "application/msword", "Words."),
    (zlib.compress(b"x" * 100), "application/zip", "It is a ZIP archive."),
]


@pytest.mark.parametrize("case", range(len(RENAMED)))
def test_renamed(forage, web, case):
    content, kind, words = RENAMED[case]
    assert words in read(forage, web, content, kind)["page_content"]


def test_memory_stays_bounded(forage, web):
    """After all of the above: the most that the server ever held."""
    for content, _ in [*SPECIAL.values(), *(case for name, case in ARCHIVES.items() if "bomb" in name)]:
        read(forage, web, content)
    with open(f"/proc/{forage.pid}/status", encoding="ascii") as status:
        peak = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
    assert peak < MOST_MEMORY
