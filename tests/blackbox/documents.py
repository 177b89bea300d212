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


# ---- ODT ----

ODT_STYLES = f"""{PROLOGUE}<office:document-styles><office:styles>
<style:style style:name="Title" style:family="paragraph"/>
<style:style style:name="Preformatted_20_Text" style:family="paragraph"/>
<style:style style:name="Circle" style:parent-style-name="Circus" style:family="paragraph"/>
<style:style style:name="Circus" style:parent-style-name="Circle" style:family="paragraph"/>
<style:style style:name="Shouted" style:family="text"><style:text-properties fo:font-weight="bold"/></style:style>
</office:styles></office:document-styles>"""

ODT_AUTOMATIC = """<office:automatic-styles>
<style:style style:name="T1" style:family="text"><style:text-properties fo:font-style="italic"/></style:style>
<style:style style:name="T2" style:family="text"><style:text-properties style:font-name="Liberation Mono"/></style:style>
<style:style style:name="T3" style:family="text"><style:text-properties text:display="none"/></style:style>
<style:style style:name="P1" style:parent-style-name="Preformatted_20_Text"/>
<text:list-style style:name="L1"><text:list-level-style-number text:level="1"/><text:list-level-style-bullet text:level="2"/></text:list-style>
<text:list-style style:name="L2"><text:list-level-style-bullet text:level="1"/></text:list-style>
</office:automatic-styles>"""

ODT_TYPE = "application/vnd.oasis.opendocument.text"


def odt_parts(body, meta=""):
    return {
        "mimetype": ODT_TYPE,
        "content.xml": f"{PROLOGUE}<office:document-content>{ODT_AUTOMATIC}<office:body><office:text>{body}</office:text></office:body>"
        "</office:document-content>",
        "styles.xml": ODT_STYLES,
        "meta.xml": f"{PROLOGUE}<office:document-meta><office:meta>{meta}</office:meta></office:document-meta>",
    }


def odt(body, meta=""):
    return pack(odt_parts(body, meta))


# ---- EPUB ----


def xhtml(body):
    return (
        f'{PROLOGUE}<!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><head><title/>'
        f'<script src="x.js"/></head><body>{body}</body></html>'
    )


def epub_parts(*chapters, spine=None, title="A book", nav=True):
    names = [f"c{number}" for number in range(1, len(chapters) + 1)]
    items = "".join(f'<item id="{name}" href="text/{name}.xhtml" media-type="application/xhtml+xml"/>' for name in names)
    items += '<item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>' if nav else ""
    order = spine if spine is not None else ["nav", *names]
    return {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": f'{PROLOGUE}<container><rootfiles><rootfile full-path="OEBPS/b%20ook.opf"/></rootfiles></container>',
        "OEBPS/b ook.opf": f"{PROLOGUE}<package><metadata><dc:title>{title}</dc:title><dc:creator>Ada Baker</dc:creator>"
        f"<dc:language>en</dc:language><dc:date>2026</dc:date></metadata><manifest>{items}</manifest>"
        f"<spine>{''.join(f'<itemref idref={chr(34)}{name}{chr(34)}/>' for name in order)}</spine></package>",
        "OEBPS/nav.xhtml": xhtml('<nav epub:type="toc"><ol><li><a href="text/c1.xhtml">Contents line</a></li></ol></nav>'),
        **{f"OEBPS/text/{name}.xhtml": xhtml(body) for name, body in zip(names, chapters, strict=True)},
    }


def epub(*chapters, **more):
    return pack(epub_parts(*chapters, **more))


# ---- PPTX ----


def shape(*paragraphs, kind=None, name=""):
    place = "" if kind is None else f'<p:nvPr><p:ph type="{kind}"/></p:nvPr>' if kind else '<p:nvPr><p:ph idx="1"/></p:nvPr>'
    inside = "".join(
        item if item.startswith("<") else f'<a:p><a:r><a:rPr lang="en"/><a:t>{item}</a:t></a:r></a:p>' for item in paragraphs
    )
    return f'<p:sp><p:nvSpPr><p:cNvPr id="1" name="{name}"/>{place}</p:nvSpPr><p:txBody>{inside}</p:txBody></p:sp>'


def slide(*shapes, more=""):
    return f"{PROLOGUE}<p:sld {more}><p:cSld><p:spTree>{''.join(shapes)}</p:spTree></p:cSld></p:sld>"


def pptx_parts(*slides, notes=None):
    order = [f"slide{number}" for number in range(1, len(slides) + 1)]
    parts = {
        "[Content_Types].xml": content_types("ppt/presentation.xml", "presentationml.presentation"),
        "ppt/presentation.xml": f'{PROLOGUE}<p:presentation><p:sldIdLst>'
        + "".join(f'<p:sldId id="{256 + number}" r:id="{name}"/>' for number, name in enumerate(order))
        + "</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(*[(name, "slide", f"slides/{name}.xml") for name in order]),
        **{f"ppt/slides/{name}.xml": content for name, content in zip(order, slides, strict=True)},
    }
    links = [("r1", "hyperlink", "https://example.org/slide")]
    for name in order:
        rows = links + ([("n", "notesSlide", "../notesSlides/notes.xml")] if notes else [])
        parts[f"ppt/slides/_rels/{name}.xml.rels"] = relations(*rows)
    if notes:
        parts["ppt/notesSlides/notes.xml"] = slide(shape("3", kind="sldNum"), shape(*notes, kind="body"))
    return parts


def pptx(*slides, **more):
    return pack(pptx_parts(*slides, **more))


# ---- XLSX ----

SHEET_STYLES = f"""{PROLOGUE}<styleSheet><numFmts count="2"><numFmt numFmtId="164" formatCode="d mmm yyyy"/>
<numFmt numFmtId="165" formatCode="#,##0.00\\ [$€-407];[Red]-#,##0.00\\ [$€-407]"/></numFmts>
<cellStyleXfs><xf numFmtId="9"/></cellStyleXfs>
<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="10"/><xf numFmtId="20"/></cellXfs></styleSheet>"""


def cell(reference, value, kind="", style=0):
    if kind == "inlineStr":
        return f'<c r="{reference}" t="inlineStr"><is><t>{value}</t></is></c>'
    return f'<c r="{reference}" s="{style}"' + (f' t="{kind}"' if kind else "") + f"><v>{value}</v></c>"


def sheet(*cells, more=""):
    return f"{PROLOGUE}<worksheet><sheetData><row>{''.join(cells)}</row></sheetData>{more}</worksheet>"


def xlsx_parts(*sheets, strings=("shared", "<r><t>two</t></r><r><t> runs</t></r>"), workbook=""):
    items = "".join(f"<si>{item if item.startswith('<') else f'<t>{item}</t>'}</si>" for item in strings)
    return {
        "[Content_Types].xml": content_types("xl/workbook.xml", "spreadsheetml.sheet"),
        "xl/workbook.xml": f"{PROLOGUE}<workbook>{workbook}<sheets>"
        + "".join(f'<sheet name="Sheet {number}" sheetId="{number}" r:id="s{number}"/>' for number in range(1, len(sheets) + 1))
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": relations(
            *[(f"s{number}", "worksheet", f"worksheets/sheet{number}.xml") for number in range(1, len(sheets) + 1)],
            ("st", "styles", "styles.xml"),
            ("ss", "sharedStrings", "/xl/sharedStrings.xml"),
        ),
        "xl/styles.xml": SHEET_STYLES,
        "xl/sharedStrings.xml": f"{PROLOGUE}<sst>{items}</sst>",
        **{f"xl/worksheets/sheet{number}.xml": content for number, content in enumerate(sheets, 1)},
        "xl/worksheets/_rels/sheet1.xml.rels": relations(("h1", "hyperlink", "https://example.org/cell")),
    }


def xlsx(*sheets, **more):
    return pack(xlsx_parts(*sheets, **more))
