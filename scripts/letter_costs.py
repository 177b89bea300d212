#!/usr/bin/env python3
"""Counts how often letters follow each other, language by language, and writes data/letter-costs.txt.

    letter_costs.py [--held-out FOLDER] TEXTS...

TEXTS are folders of translations that Debian packages carry: LANGUAGE/LC_MESSAGES/*.mo (/usr/share/locale) and
LANGUAGE/*/*.page (/usr/share/help of gnome-user-docs). data/letter-costs.txt was made from gnome-user-docs 43.0-2
and from the messages of the packages of a Debian 12 with a desktop's libraries. Only counts come of them, no text.

With --held-out a tenth of the texts is not counted and goes to FOLDER/LANGUAGE.txt, to measure with.

A cost is the number of bits that a letter takes after another one, or a character of Chinese, Japanese or Korean
by itself: -log2 of how often it occurs. The detector (src/html/detect.c) adds up what a text costs in each
language and encoding; the cheapest is what it is. Files of the tests are not read.
"""

import argparse
import gettext
import glob
import hashlib
import html
import math
import os
import re
import unicodedata
from collections import Counter

OUTPUT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data", "letter-costs.txt")

WESTERN = "windows-1252 iso-8859-15 macintosh ibm850"
CENTRAL = "windows-1250 iso-8859-2 iso-8859-16 ibm852 x-mac-ce"
BALTIC = "windows-1257 iso-8859-13 iso-8859-4 iso-8859-10 ibm775"
SLAVIC = "windows-1251 koi8-r ibm866 iso-8859-5 x-mac-cyrillic ibm855"

# Languages that are written in encodings of one byte a letter: which folders their texts are in, which encodings.
LANGUAGES = {
    "en": (["C", "en_GB"], WESTERN),
    "fr": (["fr"], WESTERN),
    "de": (["de"], WESTERN),
    "es": (["es"], WESTERN),
    "pt": (["pt", "pt_BR"], WESTERN),
    "it": (["it"], WESTERN),
    "nl": (["nl"], WESTERN),
    "ca": (["ca"], WESTERN),
    "sv": (["sv"], WESTERN + " iso-8859-10"),
    "da": (["da"], WESTERN + " iso-8859-10"),
    "nb": (["nb", "nn"], WESTERN + " iso-8859-10"),
    "is": (["is"], WESTERN + " iso-8859-10"),
    "fi": (["fi"], WESTERN + " iso-8859-10"),
    "ga": (["ga"], WESTERN + " iso-8859-14"),
    "cy": (["cy"], "iso-8859-14"),
    "et": (["et"], BALTIC + " " + WESTERN),
    "lt": (["lt"], BALTIC),
    "lv": (["lv"], BALTIC),
    "pl": (["pl"], CENTRAL),
    "cs": (["cs"], CENTRAL),
    "sk": (["sk"], CENTRAL),
    "hu": (["hu"], CENTRAL),
    "sl": (["sl"], CENTRAL),
    "hr": (["hr", "sr@latin", "bs"], CENTRAL),
    "ro": (["ro"], CENTRAL),
    "sq": (["sq"], WESTERN + " " + CENTRAL),
    "tr": (["tr"], "windows-1254 ibm857"),
    "eo": (["eo"], "iso-8859-3"),
    "mt": (["mt"], "iso-8859-3"),
    "vi": (["vi"], "windows-1258"),
    "vi-whole": (["vi"], "viscii"),
    "ru": (["ru"], SLAVIC),
    "uk": (["uk"], SLAVIC.replace("koi8-r", "koi8-u")),
    "be": (["be"], SLAVIC.replace("koi8-r", "koi8-u")),
    "bg": (["bg"], SLAVIC),
    "sr": (["sr"], "windows-1251 iso-8859-5 x-mac-cyrillic ibm855"),
    "mk": (["mk"], "windows-1251 iso-8859-5 x-mac-cyrillic ibm855"),
    "el": (["el"], "windows-1253 iso-8859-7 ibm737"),
    "he": (["he"], "windows-1255 iso-8859-8 ibm862"),
    "ar": (["ar"], "windows-1256 iso-8859-6"),
    "fa": (["fa"], "windows-1256"),
    "th": (["th"], "windows-874"),
}

# Those of two bytes a character.
CHARACTERS = {"zh_hans": ["zh_CN"], "zh_hant": ["zh_TW", "zh_HK"], "ja": ["ja"], "ko": ["ko"]}

OTHER_SCRIPTS = {"ru", "uk", "be", "bg", "sr", "mk", "el", "he", "ar", "fa", "th"}
TONES = "\u0300\u0301\u0303\u0309\u0323"
# Letters that the old encodings lack, as people wrote them in these.
WRITTEN_AS = str.maketrans("\u0219\u021b\u0218\u021a\u06cc\u06a9\u2019\u02bc", "\u015f\u0163\u015e\u0162\u064a\u0643''")
# Letters of a language that messages hardly have.
ALSO = {"en": "éèçñïöü", "fr": "ëüÿæñ", "de": "éè", "es": "üïç", "pt": "ü", "it": "îç", "nl": "èêöüçáíú", "sv": "éáü", "da": "éöä",
        "nb": "éòôäö", "fi": "åšžé", "et": "šžé", "pl": "éöü", "sl": "ćđéöü", "hr": "öüé", "ca": "ñ", "sk": "ŕĺěřö", "ro": "éö",
        "tr": "âîû", "is": "éü", "ru": "ё", "bg": "ѝ", "el": "ΐΰϊϋ", "he": "\u05b0\u05b1\u05b2\u05b3\u05b4\u05b5\u05b6\u05b7\u05b8\u05b9\u05bb\u05bc\u05c1\u05c2",
        "ar": "\u064b\u064c\u064d\u064e\u064f\u0650\u0651\u0652\u0640", "fa": "\u064b\u064e\u064f\u0650\u0651\u0640"}
RAREST = 40000  # a letter that is rarer than one in so many does not belong to the language
MOST_CHARACTERS = 1800
STEPS = 4  # a bit has so many steps; a cost is written as one character from "0" on
HIGHEST = 52
NOISE = re.compile(r"<[^>]*>|%[-+0-9.$#l]*[a-zA-Z]|\$?\{[^}]*\}|https?://\S+|\\n|[_&](?=\w)")


def messages(folder, language):
    for path in sorted(glob.glob(os.path.join(folder, language, "LC_MESSAGES", "*.mo"))):
        try:
            with open(path, "rb") as file:
                catalog = gettext.GNUTranslations(file)._catalog
        except (OSError, ValueError, UnicodeDecodeError):
            continue
        for key, text in catalog.items():
            key = key[0] if isinstance(key, tuple) else key
            if key and text and text != key:
                yield text
    for path in sorted(glob.glob(os.path.join(folder, language, "*", "*.page"))):
        with open(path, encoding="utf-8") as file:
            yield from re.split(r"\n\s*\n", html.unescape(file.read()))


def texts_of(folders, languages, held):
    """The texts of languages, each once; a tenth of them goes to the list `held`."""
    seen = set()
    for folder in folders:
        for language in languages:
            for text in messages(folder, language):
                text = " ".join(NOISE.sub(" ", text).split())
                if len(text) < 12 or text in seen:
                    continue
                seen.add(text)
                if held is not None and hashlib.sha1(text.encode()).digest()[0] < 26:
                    held.append(text)
                else:
                    yield text


def spelled(text, language):
    """A text as the encodings of its language spell it, in small letters."""
    text = unicodedata.normalize("NFC", text).translate(WRITTEN_AS)
    if language == "vi":
        text = "".join(
            "".join(unicodedata.normalize("NFC", "".join(m for m in unicodedata.normalize("NFD", c) if m not in TONES)))
            + "".join(m for m in unicodedata.normalize("NFD", c) if m in TONES)
            for c in text
        )
    return text.replace("\u0130", "i").lower()


def is_letter(char):
    return unicodedata.category(char)[0] in "LM"


def count_pairs(texts, language):
    pairs, letters = Counter(), Counter()
    for text in texts:
        text = " " + spelled(text, language) + " "
        letters.update(text)
        pairs.update(zip(text, text[1:]))
    return pairs, letters


def written(cost):
    return chr(ord("0") + max(0, min(HIGHEST, round(cost * STEPS))))


def belongs(char, language):
    """Whether it is a letter of the script of its language: messages name letters of others, too."""
    if not is_letter(char):
        return False
    name = unicodedata.name(char, "")
    scripts = {"el": "GREEK", "he": "HEBREW", "ar": "ARABIC", "fa": "ARABIC", "th": "THAI"}
    if language in OTHER_SCRIPTS:
        return name.startswith(scripts.get(language, "CYRILLIC"))
    return name.startswith("LATIN") or (language == "vi" and char in TONES)


def language_rows(texts, language):
    """The alphabet, and a row for each letter of it: what each letter costs after that one."""
    pairs, letters = count_pairs(texts, language)
    total = sum(count for char, count in letters.items() if is_letter(char))
    ascii_letters = [chr(c) for c in range(ord("a"), ord("z") + 1)]
    first = ["a"] if language in OTHER_SCRIPTS else ascii_letters
    own = {c for c, n in letters.items() if ord(c) >= 0x80 and n * RAREST >= total and belongs(c, language)}
    own = sorted(own | set(ALSO.get(language, "")))
    alphabet = first + own
    place = {char: number + 1 for number, char in enumerate(alphabet)}
    for char in ascii_letters:
        place.setdefault(char, 1)
    size = len(alphabet) + 1
    counts = [[0] * size for _ in range(size)]
    for (one, two), count in pairs.items():
        one_place, two_place = place.get(one, 0), place.get(two, 0)
        if (is_letter(one) and not one_place) or (is_letter(two) and not two_place):
            continue
        counts[one_place][two_place] += count
    whole = sum(map(sum, counts))
    shares = [(sum(row[j] for row in counts) + 1) / (whole + size) for j in range(size)]
    rows = []
    for row in counts:
        known = sum(row)
        rows.append("".join(written(-math.log2((row[j] + 20 * shares[j]) / (known + 20))) for j in range(size)))
    return alphabet, rows, whole


def character_rows(texts):
    counts = Counter(c for text in texts for c in text if ord(c) >= 0x80)
    total = sum(counts.values())
    by_cost = {}
    for char, count in counts.most_common(MOST_CHARACTERS):
        by_cost.setdefault(round(-math.log2(count / total) * 2), []).append(char)
    return [(cost, sorted(by_cost[cost])) for cost in sorted(by_cost)], total


HEAD = """\
# What letters cost, for telling undeclared encodings apart (html/detect.c): the number of bits that a letter takes after
# another one in a language. scripts/letter_costs.py made this file by counting in the translations that Debian packages carry;
# make it anew rather than changing it. A language has its name with the encodings that it is found in, its name with its letters
# (for languages with other letters than Latin ones, "a" stands for all Latin letters), then a row for what is no letter and one
# for each letter: what follows costs, for no letter and each letter, in quarters of a bit, as the characters from "0" on; the
# letter and the language stand at the end.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--held-out", metavar="FOLDER")
    parser.add_argument("texts", nargs="+", metavar="TEXTS")
    options = parser.parse_args()
    lines = [HEAD, "[letter_costs list]"]

    def training(name, folders):
        held = [] if options.held_out else None
        texts = list(texts_of(options.texts, folders, held))
        if held:
            with open(os.path.join(options.held_out, name + ".txt"), "w", encoding="utf-8") as file:
                file.write("\n".join(held) + "\n")
        return texts

    for language, (folders, encodings) in LANGUAGES.items():
        alphabet, rows, whole = language_rows(training(language, folders), language)
        print(f"{language}: {whole} pairs, {len(alphabet)} letters: {''.join(alphabet)}")
        lines.append(f"{language}:{encodings.replace(' ', ',')} {language}:{''.join(alphabet)}")
        lines += [f"    {row}{letter}:{language}" for letter, row in zip(["."] + alphabet, rows, strict=True)]
    lines.append("\n# What a character costs by itself, in halves of a bit; what is not named costs more.")
    for name, folders in CHARACTERS.items():
        rows, total = character_rows(training(name, folders))
        print(f"{name}: {total} characters")
        lines.append(f"\n[character_costs_{name} names]")
        lines += [f"{cost}: {' '.join(chars)}" for cost, chars in rows]
    with open(OUTPUT, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
