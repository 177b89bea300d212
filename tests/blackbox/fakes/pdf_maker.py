"""Makes small PDFs by hand (ISO 32000-1): pages of lines in a standard font, each with its size and place."""


def escape(text):
    return text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def draw(size, x, y, text, font="F1"):
    if font == "side":
        return f"BT /F1 {size} Tf 0 1 -1 0 {x} {792 - y} Tm ({escape(text)}) Tj ET\n"
    return f"BT /{font} {size} Tf {x} {792 - y} Td ({escape(text)}) Tj ET\n"


def make_pdf(pages, title=None, author=None):
    """A PDF whose pages are lists of (size, x, y, text), y from the top of a page of 612 by 792 points; a fifth member is
    the font: F1 (Helvetica), F2 (bold) or F3 (Courier), or "side" for words that run up the page."""
    objects = []

    def add(body):
        objects.append(body if isinstance(body, bytes) else body.encode("latin-1"))
        return len(objects)

    fonts = " ".join(
        f"/F{number} {add(f'<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>')} 0 R"
        for number, name in enumerate(("Helvetica", "Helvetica-Bold", "Courier"), 1)
    )
    tree = len(objects) + 2 * len(pages) + 1
    kids = []
    for lines in pages:
        stream = "".join(draw(*line) for line in lines).encode("cp1252")
        content = add(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
        kids.append(
            add(
                f"<< /Type /Page /Parent {tree} 0 R /MediaBox [0 0 612 792] /Contents {content} 0 R"
                f" /Resources << /Font << {fonts} >> >> >>"
            )
        )
    add(f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(f'{kid} 0 R' for kid in kids)}] >>")
    catalog = add(f"<< /Type /Catalog /Pages {tree} 0 R >>")
    words = {"Title": title, "Author": author}
    info = add("<< " + " ".join(f"/{name} ({escape(value)})" for name, value in words.items() if value) + " >>")
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<< /Size %d /Root %d 0 R /Info %d 0 R >>\n" % (len(objects) + 1, catalog, info)
    return bytes(out + b"startxref\n%d\n%%%%EOF\n" % table)
