"""Makes one document of each format with the package that most programs use for it, and prints them as JSON, in base64."""

import base64
import datetime
import io
import json
import os
import tempfile

import docx
import openpyxl
import pptx
from ebooklib import epub
from odf import opendocument, style, table, text
from pptx.util import Inches

TITLE = "The book of bread"


def kept(save):
    out = io.BytesIO()
    save(out)
    return out.getvalue()


def make_docx():
    document = docx.Document()
    document.add_heading(TITLE, 0)
    document.add_heading("Flour", 1)
    paragraph = document.add_paragraph("Wheat is ")
    paragraph.add_run("very").bold = True
    paragraph.add_run(" old, and ")
    paragraph.add_run("rye").italic = True
    for name, words in (("List Bullet", "one"), ("List Bullet 2", "deep"), ("List Bullet", "two"), ("List Number", "first"), ("List Number", "second")):
        document.add_paragraph(words, style=name)
    grid = document.add_table(rows=2, cols=2)
    for cell, words in zip((cell for row in grid.rows for cell in row.cells), "abcd", strict=True):
        cell.text = words
    return kept(document.save)


def make_odt():
    document = opendocument.OpenDocumentText()
    bold = style.Style(name="Bold", family="text")
    bold.addElement(style.TextProperties(fontweight="bold"))
    document.automaticstyles.addElement(bold)
    document.text.addElement(text.H(outlinelevel=1, text=TITLE))
    paragraph = text.P(text="Wheat is ")
    paragraph.addElement(text.Span(stylename=bold, text="very"))
    paragraph.addElement(text.A(href="https://example.org/", text="a link"))
    document.text.addElement(paragraph)
    outer, inner = text.List(), text.List()
    for words in ("one", "two"):
        item = text.ListItem()
        item.addElement(text.P(text=words))
        if words == "one":
            deep = text.ListItem()
            deep.addElement(text.P(text="deep"))
            inner.addElement(deep)
            item.addElement(inner)
        outer.addElement(item)
    document.text.addElement(outer)
    grid = table.Table()
    for pair in ("ab", "cd"):
        row = table.TableRow()
        for words in pair:
            cell = table.TableCell()
            cell.addElement(text.P(text=words))
            row.addElement(cell)
        grid.addElement(row)
    document.text.addElement(grid)
    return kept(document.write)


def make_epub():
    book = epub.EpubBook()
    book.set_title(TITLE)
    chapters = [epub.EpubHtml(title=name, file_name=f"{name}.xhtml") for name in ("Flour", "Water")]
    chapters[0].content = "<h1>Flour</h1><p>Wheat is <b>very</b> old.</p>"
    chapters[1].content = "<h1>Water</h1><p>Wet.</p>"
    for chapter in chapters:
        book.add_item(chapter)
    book.toc = chapters
    book.add_item(epub.EpubNcx())
    book.add_item(epub.EpubNav())
    book.spine = ["nav", *chapters]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "book.epub")
        epub.write_epub(path, book)
        with open(path, "rb") as file:
            return file.read()


def make_pptx():
    deck = pptx.Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[0])
    first.shapes.title.text = TITLE
    second = deck.slides.add_slide(deck.slide_layouts[1])
    second.shapes.title.text = "Flour"
    frame = second.placeholders[1].text_frame
    frame.text = "one"
    deep = frame.add_paragraph()
    deep.text, deep.level = "deep", 1
    grid = second.shapes.add_table(2, 2, Inches(1), Inches(1), Inches(4), Inches(1)).table
    for place, words in enumerate("abcd"):
        grid.cell(place // 2, place % 2).text = words
    second.notes_slide.notes_text_frame.text = "Say this."
    return kept(deck.save)


def make_xlsx():
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Loaves"
    sheet.append(["Day", "Sold", "Share"])
    sheet.append([datetime.date(2026, 3, 1), 1234, 0.25])
    sheet["B2"].number_format, sheet["C2"].number_format = "#,##0", "0%"
    book.create_sheet("Notes")["A1"] = "a note"
    return kept(book.save)


made = {"docx": make_docx(), "odt": make_odt(), "epub": make_epub(), "pptx": make_pptx(), "xlsx": make_xlsx()}
print(json.dumps({name: base64.b64encode(content).decode() for name, content in made.items()}))
