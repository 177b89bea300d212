"""Pages in the encodings of old: declared, wrongly declared, and without a word about it. The text is right, or the result says
that the encoding was guessed; of undeclared text of 500 bytes or more, over 95 of 100 are right.

The texts are encoding_texts.txt, in the encodings that their languages are used with; windows of several lengths are cut out of
them, with and without markup around. The test prints how many of how many are right, by encoding and length."""

import re
import subprocess
import unicodedata

import pytest
from extracting import plain
from programs import FORAGE, ROOT, environment

TEXTS = ROOT / "tests" / "blackbox" / "encoding_texts.txt"
SIZES = (200, 500, 2000)
WINDOWS = 4
WESTERN = "fr de es pt it nl sv da nb is ca"

# Python's name of an encoding, the label that pages use, the languages.
ENCODINGS = {
    "utf-8": ("utf-8", "en fr ru th zh_hans ko"),
    "utf-16-le": ("", "en zh_hans ru"),
    "utf-16-be": ("", "de ja el"),
    "utf-32-le": ("", "en zh_hans"),
    "utf-32-be": ("", "fr ko"),
    "gb2312": ("gb2312", "zh_hans"),
    "gbk": ("gbk", "zh_hans"),
    "gb18030": ("gb18030", "zh_hans"),
    "hz": ("hz-gb-2312", "zh_hans"),
    "big5": ("big5", "zh_hant"),
    "big5hkscs": ("big5-hkscs", "zh_hant"),
    "shift_jis": ("shift_jis", "ja"),
    "euc_jp": ("euc-jp", "ja"),
    "iso2022_jp": ("iso-2022-jp", "ja"),
    "euc_kr": ("euc-kr", "ko"),
    "cp949": ("windows-949", "ko"),
    "iso2022_kr": ("iso-2022-kr", "ko"),
    "cp1250": ("windows-1250", "pl cs sk hu sl hr ro"),
    "cp1251": ("windows-1251", "ru uk be bg sr mk"),
    "cp1252": ("windows-1252", "en fi sq " + WESTERN),
    "cp1253": ("windows-1253", "el"),
    "cp1254": ("windows-1254", "tr"),
    "cp1255": ("windows-1255", "he"),
    "cp1256": ("windows-1256", "ar fa"),
    "cp1257": ("windows-1257", "lt lv et"),
    "cp1258": ("windows-1258", "vi"),
    "iso8859-1": ("iso-8859-1", WESTERN),
    "iso8859-2": ("iso-8859-2", "pl cs sk hu sl hr ro"),
    "iso8859-3": ("iso-8859-3", "eo mt"),
    "iso8859-4": ("iso-8859-4", "lt lv et"),
    "iso8859-5": ("iso-8859-5", "ru bg sr mk be"),
    "iso8859-6": ("iso-8859-6", "ar"),
    "iso8859-7": ("iso-8859-7", "el"),
    "iso8859-8": ("iso-8859-8", "he"),
    "iso8859-9": ("iso-8859-9", "tr"),
    "iso8859-10": ("iso-8859-10", "lt is sv"),
    "iso8859-11": ("iso-8859-11", "th"),
    "iso8859-13": ("iso-8859-13", "lt lv et"),
    "iso8859-14": ("iso-8859-14", "cy ga"),
    "iso8859-15": ("iso-8859-15", "fr fi de es"),
    "iso8859-16": ("iso-8859-16", "ro pl hu"),
    "koi8-r": ("koi8-r", "ru"),
    "koi8-u": ("koi8-u", "uk"),
    "cp866": ("ibm866", "ru"),
    "mac_cyrillic": ("x-mac-cyrillic", "ru uk"),
    "mac_roman": ("macintosh", "fr de es"),
    "tis-620": ("tis-620", "th"),
    "cp852": ("cp852", "pl cs hu"),
    "cp855": ("cp855", "ru sr bg"),
    "cp850": ("cp850", "fr de es sv"),
    "cp737": ("cp737", "el"),
    "cp862": ("cp862", "he"),
    "cp857": ("cp857", "tr"),
    "cp775": ("cp775", "lt lv"),
    "mac_latin2": ("x-mac-ce", "pl cs hu"),
    "viscii": ("viscii", "vi"),
}
WRONG = ["utf-8", "iso-8859-1", "windows-1251", "gbk", "shift_jis", "koi8-r", "windows-1250", "big5", "euc-kr", "windows-1256"]

TONES = "\u0300\u0301\u0303\u0309\u0323"
VISCII = (
    "ẠẮẰẶẤẦẨẬẼẸẾỀỂỄỆỐỒỔỖỘỢỚỜỞỊỎỌỈỦŨỤỲÕắằặấầẩậẽẹếềểễệốồổỗỠƠộờởịỰỨỪỬơớƯÀÁÂÃẢĂẳẵÈÉÊẺÌÍĨỳĐứÒÓÔạỷừửÙÚỹỵÝỡưàáâãảăữẫèéêẻìíĩỉđựòóôõỏọụùúũủýợỮ"
)
# Letters that an encoding lacks, as people wrote them in it.
CEDILLAS = str.maketrans("șțȘȚ", "şţŞŢ")
ARABIC = str.maketrans("یک", "يك")


def texts():
    found = re.findall(r"^\[(\w+)\]\n(.*?)(?=^\[|\Z)", TEXTS.read_text(encoding="utf-8"), re.S | re.M)
    return {language: " ".join(text.split()) for language, text in found}


def without_tones(text):
    kept = "".join(mark for mark in unicodedata.normalize("NFD", text) if mark not in TONES)
    return unicodedata.normalize("NFC", kept)


def spelled(text, encoding):
    """The text as far as an encoding has it."""
    if encoding == "cp1258":
        marks = ((without_tones(c), [m for m in unicodedata.normalize("NFD", c) if m in TONES]) for c in text)
        text = "".join(letter + "".join(tones) for letter, tones in marks)
    elif encoding in ("cp1250", "iso8859-2", "cp852"):
        text = text.translate(CEDILLAS)
    elif encoding in ("cp1256", "iso8859-6"):
        text = text.translate(ARABIC)
    elif encoding == "viscii":
        return "".join(c for c in text if ord(c) < 128 or c in VISCII)
    return text.encode(encoding, "ignore").decode(encoding)


def encoded(text, encoding):
    if encoding == "viscii":
        return bytes(ord(c) if ord(c) < 128 else VISCII.index(c) + 128 for c in text)
    return text.encode(encoding)


def window(text, encoding, size, number):
    """The part of a text that takes `size` bytes at most, from a place that the number says; it goes on at the beginning."""
    start = number * len(text) // WINDOWS
    text = (text[start:] + " " + text[:start]).strip()
    low, high = 1, min(len(text), size)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if len(encoded(text[:middle], encoding)) <= size else (low, middle - 1)
    return text[:low].strip()


def page(text, encoding, declared, markup):
    """A page of HTML, or as little of one as there can be."""
    head = f'<meta charset="{declared}">' if declared else ""
    if markup:
        head = f"<!DOCTYPE html><html><head>{head}"
        head += "<script>var window = 'of the function';</script>" if len(text) > 150 else ""
        head += "<style>.navigation { color: red }</style></head><body class='main home'><main><p class=text>"
        return encoded(head, encoding) + encoded(text, encoding) + encoded("</p></main></body></html>", encoding)
    return encoded(head + "<p>" if head else "", encoding) + encoded(text, encoding)


def cases(declaration):
    """(encoding, size, text, bytes): `declaration` makes a label of the right one and of the number of the case."""
    all_texts = texts()
    number = 0
    for encoding, (label, languages) in ENCODINGS.items():
        for language in languages.split():
            text = spelled(all_texts[language], encoding)
            for size in SIZES:
                for place in range(WINDOWS):
                    number += 1
                    part = window(text, encoding, size, place)
                    yield encoding, size, part, page(part, encoding, declaration(label, number), place % 2 == 0)


def alike(text):
    """What is one letter to a reader: Romanian commas and cedillas, dashes and dots of Japanese."""
    text = unicodedata.normalize("NFC", " ".join(text.split()).translate(CEDILLAS))
    return text.translate(str.maketrans("―～∥－‧", "—〜‖−・"))


def read_all(folder, pages):
    """(text, guessed) of each page."""
    lines = []
    for number, body in enumerate(pages):
        (folder / f"{number}.html").write_bytes(body)
        lines.append(f"{folder}/{number}.html\t\t{folder}/{number}.md\n")
    command = [FORAGE, "extract", "--batch"]
    subprocess.run(command, input="".join(lines), env=environment({}), stdout=subprocess.PIPE, check=True, text=True)
    for number in range(len(pages)):
        text = (folder / f"{number}.md").read_text(encoding="utf-8")
        head, _, body = text.partition("\n---\n\n")
        yield alike(plain(body)), "\nencoding_guessed: true" in head


def measure(folder, declaration):
    """What is right, by encoding and size; the cases that are neither right nor said to be guessed."""
    table = {name: {size: [0, 0] for size in SIZES} for name in ENCODINGS}
    silent = []
    made = list(cases(declaration))
    for (encoding, size, text, _), (found, guessed) in zip(made, read_all(folder, [case[3] for case in made]), strict=True):
        right = alike(plain(text)) in found
        table[encoding][size][0] += right
        table[encoding][size][1] += 1
        if not right and not guessed:
            silent.append(f"{encoding} {size}: {text[:40]!r}")
    for encoding, row in table.items():
        print(f"{encoding:12}", *(f"{right:4}/{total}" for right, total in row.values()))
    totals = {size: [sum(row[size][i] for row in table.values()) for i in (0, 1)] for size in SIZES}
    print("all         ", *(f"{right}/{total} {right / total:.3f}" for right, total in totals.values()))
    return table, totals, silent


def test_declared(tmp_path):
    _, totals, silent = measure(tmp_path, lambda label, number: label)
    assert not silent, "\n".join(silent)
    assert all(right == total for right, total in totals.values())


def test_wrongly_declared(tmp_path):
    def other(label, number):
        return WRONG[number % len(WRONG)] if WRONG[number % len(WRONG)] != label else "iso-8859-7"

    _, _, silent = measure(tmp_path, other)
    assert not silent, "\n".join(silent)


def test_undeclared(tmp_path):
    table, totals, silent = measure(tmp_path, lambda label, number: "")
    assert not silent, "\n".join(silent)
    assert len(table) >= 40
    for size in SIZES[1:]:
        right, total = totals[size]
        assert right / total > 0.95, size
        poor = {name: row[size] for name, row in table.items() if row[size][0] < 0.75 * row[size][1]}
        assert not poor


@pytest.mark.parametrize("encoding, language, text", [("cp1251", "bg", "Обява"), ("cp1253", "el", "Νέα"), ("shift_jis", "ja", "会社案内")])
def test_language_of_the_page_is_a_hint(tmp_path, encoding, language, text):
    body = f"<!DOCTYPE html><html lang={language}><body><p>".encode() + text.encode(encoding)
    ((found, guessed),) = read_all(tmp_path, [body])
    assert text in found
    assert guessed
