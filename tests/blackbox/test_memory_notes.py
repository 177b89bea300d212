"""The notes and questions that bench/notes asks are as it says: so many, well-formed, and no question merely repeats."""

import collections
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench"))

import note_set  # noqa: E402 (bench/ is no package)

NOTES = note_set.read_notes()
QUESTIONS = note_set.read_questions()


def test_there_are_a_thousand_notes():
    keys = [note.key for note in NOTES]
    assert len(keys) == len(set(keys)) == 1000
    assert len({note.text for note in NOTES}) == 1000 and all(note.text for note in NOTES)
    assert max(note.text.count("\n") + 1 for note in NOTES) <= 8


def test_the_questions_are_of_every_kind_and_their_notes_exist():
    kinds = collections.Counter(question.kind for question in QUESTIONS)
    english = sum(kinds[kind] for kind in note_set.ENGLISH)
    assert (english, kinds["none"]) == (120, 60)
    assert len(QUESTIONS) - english - kinds["none"] == 40
    assert all(kinds[kind] >= 10 for kind in note_set.ENGLISH)
    assert len({(question.text, question.time) for question in QUESTIONS}) == len(QUESTIONS)
    keys = {note.key for note in NOTES}
    for question in QUESTIONS:
        assert question.right <= keys and bool(question.right) == (question.kind != "none"), question


def test_two_thirds_of_the_paraphrases_have_no_rare_word_of_their_note():
    paraphrases = [question for question in QUESTIONS if question.kind == "paraphrase"]
    assert len(note_set.repeating(NOTES, paraphrases)) <= len(paraphrases) / 3


def test_the_folds_are_of_about_the_same_size():
    folds = collections.Counter(question.fold for question in QUESTIONS)
    assert len(folds) == note_set.FOLDS and min(folds.values()) > len(QUESTIONS) / 10
