"""The notes in tests/notes and the questions about them: how they are written down, and which fold a question is in.

A note is a line "@ key | tags | date" (tags and date may be missing) and the lines of its text below it. A question is a
line "kind | question | keys of the notes that answer it"; kind is paraphrase, typo, abbreviation, key or date, the code
of a language, or none for a question that no note answers. What follows an @ in a question is the time that is asked for.
"""

import collections
import os
import re
import zlib

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests", "notes")
FOLDS = 5
ENGLISH = ("paraphrase", "typo", "abbreviation", "key", "date")
RARE = 5  # a word that at most so many notes have

Note = collections.namedtuple("Note", "key tags date text")
Question = collections.namedtuple("Question", "kind text time right fold")


def read_notes(folder=FOLDER):
    notes = []
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".txt"):
            continue
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            lines = file.read().split("\n")
        for line in filter(None, lines):
            if line.startswith("@ "):
                key, tags, date = (line[2:].split(" | ") + ["", ""])[:3]
                if re.fullmatch(r"\d{4}-\d\d-\d\d", tags):
                    tags, date = "", tags
                notes.append(Note(key, tags.split(", ") if tags else [], date, ""))
            else:
                notes[-1] = notes[-1]._replace(text=(notes[-1].text + "\n" + line).strip())
    return notes


def read_questions(folder=FOLDER):
    """The fold comes from the question itself, so that it stays when others are added."""
    questions = []
    with open(os.path.join(folder, "questions.list"), encoding="utf-8") as file:
        for line in file:
            if line.startswith("#") or not line.strip():
                continue
            kind, asked, keys = (line.strip().split(" | ") + [""])[:3]
            text, _, when = asked.partition(" @ ")
            right = frozenset(keys.split(", ")) if keys else frozenset()
            questions.append(Question(kind, text, when, right, zlib.crc32(asked.encode()) % FOLDS))
    return questions


def words_of(text):
    """Each word without what most inflections change: enough to see whether a question repeats a note."""
    return {re.sub(r"(ies|es|ed|ing|s|y)$", "", word) for word in re.findall(r"\w+", text.lower())}


def repeating(notes, questions):
    """The questions that have a rare word of a note that answers them."""
    of_note = {note.key: words_of(f"{note.text} {note.key} {' '.join(note.tags)}") for note in notes}
    having = collections.Counter(word for words in of_note.values() for word in words)
    return [
        question
        for question in questions
        if any(having[word] <= RARE for key in question.right for word in words_of(question.text) & of_note[key])
    ]
