"""Vectors in the files of the index: the next process finds them there, not in the store; what is deleted leaves them;
those of another model take their place; and whatever happens to them is noticed, with no wrong result."""

import contextlib
import json
import random
import shutil
import sqlite3

import pytest
from fakes.embeddings import Embeddings
from memory_world import SEED, SOAK, check_store, postgres  # noqa: F401 (a fixture)
from programs import PATIENCE, Server, files_with, run, wait_until
from test_memory_damage import AT_REST, WHILE_IT_RUNS
from test_memory_meaning import counts, settings_of, settle, store_file, tool

TOPICS = ["peanuts", "the daughter", "a checkup", "the vehicle", "the mortgage"]
NOTES = {f"k{i}": f"Note {i} is about {TOPICS[i % 5]} and item{i % 37} of shelf{i % 11}." for i in range(160)}
QUESTIONS = ["automobile item3", "allergy", "kid shelf7", "doctor item30 shelf2", "loan", "nuts item12"]
NO_MODEL = {"FORAGE_EMBEDDINGS_URL": None, "FORAGE_EMBEDDINGS_KEY": None, "FORAGE_EMBEDDINGS_MODEL": None}


@pytest.fixture
def fake():
    with Embeddings() as fake:
        yield fake


@pytest.fixture
def settings(fake, tmp_path):
    return settings_of(fake, tmp_path / "data")


def answers(server):
    found = []
    for question in QUESTIONS:
        data = tool(server, "search", query=question, limit=8)
        assert data["ranked_by"] == "words and meaning", data
        found.append([(one["key"], one["relevance"]) for one in data["results"]])
    return found


def files(settings):
    return sorted((settings["FORAGE_DATA_DIR"] / "index").rglob("*-vectors/*"))


def segments(settings):
    return [path for path in files(settings) if path.suffix == ".seg"]


def fill(settings, folder):
    """A store whose vectors are in files; what is found in it."""
    lines = folder / "notes.jsonl"
    lines.write_text("".join(json.dumps({"key": key, "text": text}) + "\n" for key, text in NOTES.items()))
    assert run("memory", "import", lines, **settings).returncode == 0
    with Server(**settings) as server:
        wait_until(lambda: tool(server, "search", query="kid") and counts(server) == (len(NOTES), len(NOTES)), 4 * PATIENCE)
        found = answers(server)
        wait_until(lambda: segments(settings))
    return found


@pytest.fixture
def kept(settings, tmp_path):
    return fill(settings, tmp_path)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One for all tests that change nothing of the store, and what is found in it."""
    folder = tmp_path_factory.mktemp("shared")
    with Embeddings() as fake:
        settings = settings_of(fake, folder / "data")
        yield settings, fill(settings, folder)


def vectors_of(settings, key):
    """As the files have them: each number with 128 added."""
    with contextlib.closing(sqlite3.connect(f"file:{store_file(settings)}?mode=ro", uri=True)) as database:
        rows = database.execute("SELECT v.vectors FROM memory_vector v JOIN memory m ON m.id = v.id WHERE m.key = ?", (key,))
        return [bytes(byte ^ 0x80 for byte in vectors[4:]) for (vectors,) in rows]


def holds(settings, row):
    return bool(files_with(settings["FORAGE_DATA_DIR"] / "index", row))


def test_the_next_process_finds_them_in_the_files(settings, kept):
    with contextlib.closing(sqlite3.connect(store_file(settings))) as database:
        database.execute("DELETE FROM memory_vector")
        database.commit()
    with Server(**settings) as server:
        assert answers(server) == kept


def test_without_the_files_they_come_from_the_store(settings, kept):
    shutil.rmtree(settings["FORAGE_DATA_DIR"] / "index")
    with Server(**settings) as server:
        assert answers(server) == kept
        wait_until(lambda: segments(settings))


def test_what_was_deleted_leaves_the_files(settings, kept):
    (row,) = vectors_of(settings, "k42")
    assert holds(settings, row)
    with Server(**settings) as server:
        tool(server, "delete", keys=["k42"])
        wait_until(lambda: not holds(settings, row))
        assert all(key != "k42" for found in answers(server) for key, _ in found)
    (row,) = vectors_of(settings, "k43")
    assert holds(settings, row)
    assert run("memory", "add", "--key", "k43", "Something else now.", **{**settings, **NO_MODEL}).returncode == 0
    assert not holds(settings, row)


def test_a_process_without_a_model_deletes_vectors_too(settings, kept):
    (row,) = vectors_of(settings, "k42")
    assert holds(settings, row)
    assert run("memory", "delete", "k42", **{**settings, **NO_MODEL}).returncode == 0
    assert not holds(settings, row)
    with Server(**settings) as server:
        assert all(key != "k42" for found in answers(server) for key, _ in found)


def test_vectors_are_deleted_while_much_is_not_indexed(settings, kept):
    """No command waits for an index that lacks very much, but what it deletes leaves the files."""
    alone = {**settings, **NO_MODEL}
    (row,) = vectors_of(settings, "k42")
    lines = [json.dumps({"key": f"more{i}", "text": f"One of many, number{i}."}) + "\n" for i in range(20_000)]
    for some in (lines[:10_000], lines[10_000:]):  # one command that writes so much would leave it indexed
        assert run("memory", "import", stdin="".join(some).encode(), patience=4 * PATIENCE, **alone).returncode == 0
    assert run("memory", "delete", "k42", **alone).returncode == 0
    assert not holds(settings, row)
    with Server(**settings) as server:
        data = tool(server, "search", query="automobile")
        assert data["ranked_by"] == "words" and data["note"].endswith("; meaning takes part once it is made"), data
    assert run("memory", "search", "automobile", patience=4 * PATIENCE, **settings).returncode == 0
    assert holds(settings, vectors_of(settings, "k43")[0])


def test_what_another_process_changed_is_followed(settings, kept):
    """While the files are older than the store."""
    with Server(**settings) as one, Server(**settings) as other:
        assert answers(one) == answers(other) == kept
        tool(one, "add", key="new", text="The physician moved to item99.")
        tool(one, "delete", keys=["k3"])
        settle(one)
        assert answers(one) == answers(other)
        data = tool(other, "search", query="appointment item99", limit=1)
        assert data["results"][0]["key"] == "new", data
    with Server(**settings) as server:
        assert tool(server, "search", query="appointment item99", limit=1)["results"][0]["key"] == "new"


def test_those_of_another_model_take_their_place(settings, kept):
    old = vectors_of(settings, "k42")
    settings = {**settings, "FORAGE_EMBEDDINGS_MODEL": "large"}
    with Server(**settings) as server:
        answers(server)  # by the old ones, from the files
        settle(server)
        answers(server)
        new = [row for row in vectors_of(settings, "k42") if row not in old]
        wait_until(lambda: holds(settings, new[0]) and not holds(settings, old[0]))
        after = answers(server)
    with Server(**settings) as server:
        assert answers(server) == after


# ---- several processes, and their ends ----

ROUNDS = 60 if SOAK else 6


def change(server, dice):
    """Some memories come, others become something else or go."""
    for _ in range(dice.randrange(1, 20)):
        key = f"k{dice.randrange(250)}"
        if dice.random() < 0.4:
            tool(server, "delete", keys=[key])
        else:
            text = f"Note {dice.randrange(10**6)} about {dice.choice(TOPICS)} and item{dice.randrange(37)}."
            tool(server, "add", key=key, text=text)


def rows_of_the_store(settings):
    with contextlib.closing(sqlite3.connect(f"file:{store_file(settings)}?mode=ro", uri=True)) as database:
        return {bytes(byte ^ 0x80 for byte in one[4:]) for (one,) in database.execute("SELECT vectors FROM memory_vector")}


def end_one(server, kind, settings):
    """Kills it, where the lease of the dead can be made to lapse."""
    if kind == "postgresql":
        server.end()
    server.kill()
    if kind == "sqlite":
        with contextlib.closing(sqlite3.connect(store_file(settings))) as database:
            database.execute("UPDATE embedding SET until = 0")
            database.commit()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_ended_while_others_go_on(request, settings, tmp_path, kind):
    """Two processes, one of which is killed now and then: both find what a process finds that reads the store alone."""
    dice = random.Random(SEED)
    if kind == "postgresql":
        settings["FORAGE_DATABASE_URL"] = request.getfixturevalue("postgres").database()
    fill(settings, tmp_path)
    was_there = set()
    with contextlib.ExitStack() as stack:
        other = stack.enter_context(Server(**settings))
        server = Server(**settings)
        stack.callback(lambda: server.kill())
        for _ in range(ROUNDS):
            change(dice.choice([server, other]), dice)
            answers(dice.choice([server, other]))
            if kind == "sqlite":
                was_there |= rows_of_the_store(settings)
            if dice.random() < 0.6:
                end_one(server, kind, settings)
                server = Server(**settings)
        settle(server)
        found = answers(server)
        assert answers(other) == found
        server.end()
    with Server(**settings) as server:
        assert answers(server) == found
    if kind == "sqlite":
        gone = was_there - rows_of_the_store(settings)
        assert gone and not any(holds(settings, row) for row in gone)
    shutil.rmtree(settings["FORAGE_DATA_DIR"] / "index")
    with Server(**settings) as server:
        assert answers(server) == found


# ---- damage ----


def hurt(damage, settings, dice):
    paths = [path for path in files(settings) if path.is_file() and path.stat().st_size > 0]
    damage(dice, dice.choice(paths), paths)


@pytest.mark.parametrize("damage", AT_REST)
def test_damage_at_rest(shared, damage):
    settings, found = shared
    dice = random.Random(SEED)
    for _ in range(2):
        hurt(damage, settings, dice)
        with Server(**settings) as server:
            assert answers(server) == found
            wait_until(lambda: segments(settings))
            assert server.alive()
    check_store(settings)


@pytest.mark.parametrize("damage", WHILE_IT_RUNS)
def test_damage_while_it_runs(shared, damage):
    settings, found = shared
    with Server(**settings) as server:
        assert answers(server) == found  # so that they are mapped
        wait_until(lambda: segments(settings))
        hurt(damage, settings, random.Random(SEED))
        assert answers(server) == found
        assert server.alive()
    with Server(**settings) as server:
        assert answers(server) == found
        wait_until(lambda: segments(settings))


def test_one_line_tells_of_damage(shared):
    settings, found = shared
    with Server(**settings) as server:  # whatever was damaged before
        assert answers(server) == found
        wait_until(lambda: segments(settings))
    (path,) = segments(settings)
    data = bytearray(path.read_bytes())
    data[len(data) * 3 // 4] ^= 1  # a row
    path.write_bytes(data)
    with Server(**settings) as server:
        assert answers(server) == found
        assert server.log.text().count("the vectors of a namespace") == 1
