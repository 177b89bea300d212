"""Documents for the tests, made part by part with zipfile, and the broken and hostile relatives of each."""

import io
import struct
import warnings
import zipfile
import zlib

PROLOGUE = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def pack(parts, method=zipfile.ZIP_DEFLATED):
    """A ZIP archive of (name, content) pairs; a name may come twice."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for name, content in dict(parts).items() if isinstance(parts, dict) else parts:
            archive.writestr(name, content)
    return out.getvalue()


def relations(*rows):
    """A list of relations: (id, type, target), external where the target is an address."""
    items = "".join(
        f'<Relationship Id="{name}" Type="{RELATIONS}/{kind}" Target="{target}"'
        + (' TargetMode="External"/>' if "://" in target else "/>")
        for name, kind, target in rows
    )
    return f'{PROLOGUE}<Relationships xmlns="{RELATIONS}">{items}</Relationships>'


def content_types(part, kind):
    return (
        f'{PROLOGUE}<Types><Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/{part}" ContentType="application/vnd.openxmlformats-officedocument.{kind}.main+xml"/></Types>'
    )


def core(title="", author="", created=""):
    return (
        f"{PROLOGUE}<cp:coreProperties xmlns:cp='c' xmlns:dc='d' xmlns:dcterms='t'><dc:title>{title}</dc:title>"
        f"<dc:creator>{author}</dc:creator><dcterms:created>{created}</dcterms:created></cp:coreProperties>"
    )


# ---- DOCX ----

STYLES = f"""{PROLOGUE}<w:styles xmlns:w="{WORD}">
<w:style w:type="paragraph" w:styleId="T"><w:name w:val="Title"/></w:style>
<w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/><w:rPr><w:b/></w:rPr></w:style>
<w:style w:type="paragraph" w:styleId="Mine"><w:name w:val="My section"/><w:basedOn w:val="H2"/></w:style>
<w:style w:type="paragraph" w:styleId="H2"><w:name w:val="heading 2"/></w:style>
<w:style w:type="paragraph" w:styleId="Out"><w:name w:val="Chapter"/><w:pPr><w:outlineLvl w:val="2"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="TOC1"><w:name w:val="toc 1"/></w:style>
<w:style w:type="paragraph" w:styleId="Code"><w:name w:val="HTML Preformatted"/></w:style>
<w:style w:type="paragraph" w:styleId="Q"><w:name w:val="Quote"/></w:style>
<w:style w:type="paragraph" w:styleId="LB"><w:name w:val="List Bullet"/><w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Loop"><w:name w:val="A"/><w:basedOn w:val="Pool"/></w:style>
<w:style w:type="paragraph" w:styleId="Pool"><w:name w:val="B"/><w:basedOn w:val="Loop"/></w:style>
<w:style w:type="character" w:styleId="Strong"><w:name w:val="Strong"/><w:rPr><w:b/></w:rPr></w:style>
<w:style w:type="character" w:styleId="Verb"><w:name w:val="Verbatim Char"/></w:style>
</w:styles>"""


def levels(*formats):
    return "".join(
        f'<w:lvl w:ilvl="{level}"><w:start w:val="1"/><w:numFmt w:val="{kind}"/></w:lvl>' for level, kind in enumerate(formats)
    )


NUMBERING = f"""{PROLOGUE}<w:numbering xmlns:w="{WORD}">
<w:abstractNum w:abstractNumId="0">{levels("decimal", "lowerLetter", "bullet")}</w:abstractNum>
<w:abstractNum w:abstractNumId="1">{levels("bullet", "bullet", "decimal")}</w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>
<w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>
<w:num w:numId="3"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num>
</w:numbering>"""

NOTES = (
    f'{PROLOGUE}<w:footnotes xmlns:w="{WORD}"><w:footnote w:type="separator" w:id="0"><w:p><w:r><w:t>rule</w:t></w:r></w:p>'
    '</w:footnote><w:footnote w:id="2"><w:p><w:r><w:footnoteRef/></w:r><w:r><w:t>Said in 1812.</w:t></w:r></w:p></w:footnote>'
    "</w:footnotes>"
)


def docx_parts(body, **more):
    """`body` is what stands in w:body; `more` replaces or adds parts by the names below."""
    names = {"styles": STYLES, "numbering": NUMBERING, "footnotes": NOTES, **more}
    links = [("r1", "hyperlink", "https://example.org/a?b=1&amp;c=2"), ("r2", "hyperlink", "javascript://x")]
    return {
        "[Content_Types].xml": content_types("word/document.xml", "wordprocessingml.document"),
        "word/document.xml": f'{PROLOGUE}<w:document xmlns:w="{WORD}" xmlns:r="{RELATIONS}"><w:body>{body}</w:body></w:document>',
        "word/_rels/document.xml.rels": relations(*[(kind, kind, f"{kind}.xml") for kind in names], *links),
        **{f"word/{kind}.xml": content for kind, content in names.items()},
    }


def docx(body, **more):
    return pack(docx_parts(body, **more))


def run_of(text, properties=""):
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(*runs, style="", properties=""):
    style = f'<w:pStyle w:val="{style}"/>' if style else ""
    inside = "".join(item if item.startswith("<") else run_of(item) for item in runs)
    return f"<w:p><w:pPr>{style}{properties}</w:pPr>{inside}</w:p>"


def item(text, number, level=0):
    return paragraph(text, properties=f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>')


def table(*rows):
    cells = lambda row: "".join(f"<w:tc>{cell if cell.startswith('<') else paragraph(cell)}</w:tc>" for cell in row)  # noqa: E731
    return f"<w:tbl><w:tblPr/>{''.join(f'<w:tr>{cells(row)}</w:tr>' for row in rows)}</w:tbl>"


# ---- archives that are not what they should be ----


def patched(archive, offset, value, signature=b"PK\x01\x02", which=0):
    """With other bytes at an offset of one of the records with that signature."""
    at = -1
    for _ in range(which + 1):
        at = archive.index(signature, at + 1)
    at += offset
    return archive[:at] + value + archive[at + len(value) :]


def overlapping(count, size=1 << 20):
    """Many entries of the directory for the same bytes: Fifield's bomb."""
    body = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = body.compress(bytes(size)) + body.flush()
    name = b"word/document.xml"
    local = struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, 8, 0, 0, zlib.crc32(bytes(size)), len(packed), size, len(name), 0)
    out = local + name + packed
    start = len(out)
    for number in range(count):
        other = b"%017d" % number
        out += struct.pack(
            "<4s6H3L5H2L", b"PK\1\2", 20, 20, 0, 8, 0, 0, zlib.crc32(bytes(size)), len(packed), size, 17, 0, 0, 0, 0, 0, 0
        ) + other
    return out + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count, count, len(out) - start, start, 0)


def wide(archive):
    """The same archive with the end record of 64 bits."""
    at = archive.rindex(b"PK\5\6")
    count, size, start = struct.unpack("<HLL", archive[at + 10 : at + 20])
    end = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, count, count, size, start)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, at, 1)
    last = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    return archive[:at] + end + locator + last
