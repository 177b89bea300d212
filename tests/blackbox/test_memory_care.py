"""`forage memory check`: it finds what is wrong and changes nothing, repairs what can be rebuilt, and never declares a damaged
text sound; what is damaged says so wherever it is read."""

import json
import os
import pathlib
import shutil
import sqlite3
import tempfile
import time

import pytest
from memory_world import PATH, ask, check_store, over_mcp, over_rest, postgres  # noqa: F401 (a fixture)
from old_data import place_postgresql, place_sqlite
from programs import FORAGE, ROOT, Server, run

SPACE = "a room"
TEXT = "its text is not what was stored"


class Store:
    """Memories in one of the databases, and a way to reach the database past the program."""

    def __init__(self, settings, tamper):
        self.settings = settings
        self.tamper = tamper

    def do(self, *words, code=0, **more):
        done = run("memory", *words, **self.settings, **more)
        assert done.returncode == code, (words, done)
        return done

    def json(self, *words, code=0):
        return json.loads(self.do(*words, "--json", code=code).stdout)["data"]

    def fill(self):
        lines = [{"key": f"k{n}", "text": f"the heron number{n} stands", "tags": ["a"], "metadata": {"n": n}} for n in range(50)]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        self.do("import", "--namespace", SPACE, stdin=text.encode())

    def damage_a_text(self, key="k3"):
        self.tamper(f"UPDATE {{memory}} SET text = substr(text, 1, length(text) - 1) || '!' WHERE key = '{key}'")


def tamper_with_file(folder):
    def tamper(sql):
        with sqlite3.connect(folder / "memory.db") as file:
            file.executescript(sql.replace("{", "").replace("}", ""))
        file.close()

    return tamper


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request, tmp_path):
    folder = tmp_path / "data"
    settings = {"FORAGE_DATA_DIR": folder}
    if request.param == "sqlite":
        return Store(settings, tamper_with_file(folder))
    server = request.getfixturevalue("postgres")
    settings["FORAGE_DATABASE_URL"] = url = server.database()
    return Store(settings, lambda sql: server.query(url, sql.replace("{", "forage_").replace("}", "")))


# ---- looking ----


def image(folder):
    """Everything in a folder: names, bytes and times."""
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_mode)
        for path in pathlib.Path(folder).rglob("*")
        if path.is_file()
    }


def test_check_lists_each_damaged_memory(store):
    store.fill()
    check_store(store.settings)
    for key in ("k3", "k17"):
        store.damage_a_text(key)
    before = store.do("export", "--namespace", SPACE).stdout
    done = store.do("check", code=1)
    lines = [line for line in done.stdout.splitlines() if line.startswith("damaged: ")]
    assert len(lines) == 2 and done.stdout.endswith("50 memories, 2 problems\n"), done.stdout
    for key, line in zip(("k3", "k17"), lines):
        for part in (f"key {key},", f"namespace {SPACE},", "of local,", "version 1,", f"written {time.strftime('%Y-')}", TEXT):
            assert part in line
    data = store.json("check", code=1)
    assert (data["sound"], data["memories"], data["problem_count"], data["repaired_count"]) == (False, 50, 2, 0)
    first = data["problems"][0]
    assert (first["key"], first["namespace"], first["caller"], first["what"]) == ("k3", SPACE, "local", TEXT)
    assert first["id"] > 0 and first["version"] == 1 and first["written_at"].endswith("Z")
    # It only looked.
    assert store.do("export", "--namespace", SPACE).stdout == before


OTHER_DAMAGES = {
    "a lost namespace": ("DELETE FROM {space}", "its namespace is gone", False),
    "a lagging counter": ("UPDATE {space} SET change = 2", "the change counter lags behind", True),
    "miscounted bytes": ("UPDATE {space} SET bytes = bytes + 1 WHERE name = ''", "the bytes that memories take are miscounted", True),
    "a lost owner": ("DELETE FROM {space} WHERE name = ''", "the bytes that memories take are miscounted", True),
    "damaged metadata": ("UPDATE {memory} SET metadata = '[1' WHERE key = 'k3'", "its metadata cannot be read", False),
}


@pytest.mark.parametrize("damage", OTHER_DAMAGES)
def test_check_finds_other_damage(store, damage):
    sql, words, can_be_rebuilt = OTHER_DAMAGES[damage]
    store.fill()
    store.tamper(sql)
    for _ in range(2):
        assert words in store.do("check", code=1).stdout
    repaired = store.do("check", "--repair", code=0 if can_be_rebuilt else 1).stdout
    assert words in repaired and ("repaired: " in repaired) == can_be_rebuilt
    again = store.do("check", code=0 if can_be_rebuilt else 1).stdout
    assert (words in again) != can_be_rebuilt


def test_tags_that_cannot_be_read_stay_what_they_are(tmp_path):
    store = Store({"FORAGE_DATA_DIR": tmp_path}, tamper_with_file(tmp_path))
    store.fill()
    store.tamper("UPDATE memory SET tags = '[1,2,' WHERE key = 'k3'")
    for words in (["check"], ["check", "--repair"]):
        assert "key k3" in store.do(*words, code=1).stdout
    with Server(**store.settings) as server:
        over_rest(server.port, "memory_update", {"key": "k3", "role": "user", "namespace": SPACE})
        assert "tags" in over_rest(server.port, "memory_get", {"key": "k3", "namespace": SPACE})["data"]["results"][0]["damaged"]
        over_rest(server.port, "memory_update", {"key": "k3", "tags": ["new"], "namespace": SPACE})
        assert "damaged" not in over_rest(server.port, "memory_get", {"key": "k3", "namespace": SPACE})["data"]["results"][0]
    check_store(store.settings)


def overwrite_root(path, name, content):
    """Puts other bytes into the first page of a table or an index of the file."""
    with sqlite3.connect(path) as file:
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        page = file.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (name,)).fetchone()[0]
        size = file.execute("PRAGMA page_size").fetchone()[0]
    file.close()
    with open(path, "r+b") as raw:
        raw.seek((page - 1) * size)
        raw.write(content(size))


def test_check_finds_a_broken_index_and_repairs_it(tmp_path):
    store = Store({"FORAGE_DATA_DIR": tmp_path}, tamper_with_file(tmp_path))
    store.fill()
    # An index of nothing: its root becomes an empty leaf.
    overwrite_root(
        tmp_path / "memory.db", "memory_created", lambda size: bytes([10, 0, 0, 0, 0]) + size.to_bytes(2, "big") + bytes(size - 7)
    )
    assert "wrong: the file: " in store.do("check", code=1).stdout
    assert "repaired: the file: " in store.do("check", "--repair").stdout
    check_store(store.settings)


def test_check_names_a_file_that_cannot_be_read(tmp_path):
    store = Store({"FORAGE_DATA_DIR": tmp_path}, tamper_with_file(tmp_path))
    store.fill()
    overwrite_root(tmp_path / "memory.db", "memory", lambda size: b"\xff" * size)
    for words in (["check"], ["check", "--repair"]):
        done = store.do(*words, code=1)
        assert "wrong: the file" in done.stdout and "repaired: " not in done.stdout, done


def test_a_check_changes_no_byte(tmp_path):
    store = Store({"FORAGE_DATA_DIR": tmp_path}, tamper_with_file(tmp_path))
    store.fill()
    store.damage_a_text()
    before = image(tmp_path)
    store.do("check", code=1)
    assert image(tmp_path) == before


def test_a_check_makes_nothing(tmp_path):
    done = run("memory", "check", FORAGE_DATA_DIR=tmp_path / "none")
    assert done.returncode == 0 and done.stdout == "0 memories, 0 problems\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_check_of_old_data_leaves_it_old(kind, tmp_path, request):
    fixture = ROOT / "tests" / "fixtures" / "0.8.0"
    if kind == "sqlite":
        place_sqlite(fixture, tmp_path)
        before = image(tmp_path)
        assert run("memory", "check", FORAGE_DATA_DIR=tmp_path).returncode == 0
        assert image(tmp_path) == before
        return
    server = request.getfixturevalue("postgres")
    url = place_postgresql(fixture, server)
    before = server.query(url, "SELECT * FROM forage_schema ORDER BY part")
    assert run("memory", "check", FORAGE_DATA_DIR=tmp_path, FORAGE_DATABASE_URL=url).returncode == 0
    assert server.query(url, "SELECT * FROM forage_schema ORDER BY part") == before


def test_a_check_of_data_that_cannot_be_written():
    """Data that somebody else owns, in a folder where nothing can be made."""
    nobody = ["--reuid=65534", "--regid=65534", "--clear-groups"]
    launcher = ["setpriv", *nobody] if os.geteuid() == 0 else ["env"]
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place, "data")
        store = Store({"FORAGE_DATA_DIR": folder}, tamper_with_file(folder))
        store.fill()
        store.damage_a_text()
        (folder / "memory.db").chmod(0o444)
        modes = {pathlib.Path(place): 0o755, folder: 0o555}
        for path, mode in modes.items():
            path.chmod(mode)
        done = run(*launcher[1:], FORAGE, "memory", "check", program=shutil.which(launcher[0]), **store.settings)
        assert done.returncode == 1 and "key k3" in done.stdout and "50 memories, 1 problems" in done.stdout, done
        # What cannot even be looked at is not sound.
        pathlib.Path(place).chmod(0o700)
        if os.geteuid() == 0:
            done = run(*launcher[1:], FORAGE, "memory", "check", program=shutil.which(launcher[0]), **store.settings)
            assert done.returncode == 1 and "cannot be opened" in done.stderr, done
        folder.chmod(0o700)


def test_a_check_while_a_server_writes(store):
    store.fill()
    store.damage_a_text()
    with Server(**store.settings) as server:
        for number in range(10):
            over_rest(server.port, "memory_add", {"text": f"fact {number}", "key": f"new{number}", "namespace": SPACE})
            assert f"{51 + number} memories, 1 problems" in store.do("check", code=1).stdout


# ---- what is damaged stays damaged ----


def results(port, tool, **given):
    given = {"namespace": SPACE, **given}
    rest = over_rest(port, tool, given)["data"]["results"]
    assert over_mcp(port, tool, given)["data"]["results"] == rest
    return {result["key"]: result for result in rest}


def looks(port):
    """What each way of reading says of the damage of k3 and k4."""
    return [
        tuple(found[key].get("damaged") for key in ("k3", "k4"))
        for found in (
            results(port, "memory_get", keys=["k3", "k4"]),
            results(port, "memory_list", limit=100),
            results(port, "memory_search", query="number3 number4 heron", limit=100),
            results(port, "memory_fulltext_search", keywords="number3 number4", limit=100),
        )
    ]


def test_a_damaged_text_is_marked_until_it_is_overwritten(store):
    store.fill()
    store.damage_a_text()
    mark = f"{TEXT}; overwrite or delete it"
    with Server(**store.settings) as server:
        assert looks(server.port) == [(mark, None)] * 4
        # Nothing but a new text makes it sound.
        store.do("check", "--repair", code=1)
        for changes in ({"tags": ["b"]}, {"summary": "another"}, {"role": "user"}):
            assert over_rest(server.port, "memory_update", {"key": "k3", "namespace": SPACE, **changes})["success"]
        for key, new_key in (("k3", "away"), ("away", "k3")):
            assert over_rest(server.port, "memory_rename", {"key": key, "new_key": new_key, "namespace": SPACE})["success"]
        assert looks(server.port) == [(mark, None)] * 4
        # The text that it had is not there any more, so that adding it is no duplicate.
        again = over_rest(server.port, "memory_add", {"text": "the heron number3 stands", "namespace": SPACE})["data"]
        assert again["outcome"] == "added"
        over_rest(server.port, "memory_delete", {"key": again["key"], "namespace": SPACE})
        # Whoever gives the text anew says that this is the text, also when it is the same.
        text = results(server.port, "memory_get", keys=["k3"])["k3"]["text"]
        assert text.endswith("!")
        given = {"key": "k3", "text": text, "namespace": SPACE}
        assert over_rest(server.port, "memory_update", given)["data"]["outcome"] == "updated"
        # What was damaged is no version to go back to.
        kept = over_rest(server.port, "memory_get", {"key": "k3", "version": 0, "namespace": SPACE})["data"]["versions"]
        assert len(kept) == 1
        assert looks(server.port) == [(None, None)] * 4
    check_store(store.settings)


@pytest.mark.parametrize("way", ["overwritten", "deleted"])
def test_what_ends_damage(store, way):
    store.fill()
    store.damage_a_text()
    if way == "deleted":
        store.do("delete", "k3", "--namespace", SPACE)
    else:
        assert "replaced k3" in store.do("add", "a new text", "--key", "k3", "--namespace", SPACE).stdout
    check_store(store.settings)


def test_an_export_says_what_is_damaged(store, tmp_path):
    store.fill()
    store.damage_a_text()
    lines = [json.loads(line) for line in store.do("export", "--namespace", SPACE).stdout.splitlines()]
    assert [line["key"] for line in lines if "damaged" in line] == ["k3"]
    with Server(**store.settings) as server:
        body = ask(server.port, "GET", PATH + "/export", {"namespace": SPACE}).body.decode()
    assert [json.loads(line) for line in body.splitlines()] == lines
    # Moving it elsewhere does not make it sound.
    other = {"FORAGE_DATA_DIR": tmp_path / "other"}
    run("memory", "import", "--namespace", SPACE, stdin=body.encode(), **other)
    done = run("memory", "check", **other)
    assert done.returncode == 1 and "key k3" in done.stdout and "50 memories, 1 problems" in done.stdout


def test_people_see_what_is_damaged(store):
    store.fill()
    store.damage_a_text()
    there = ["--namespace", SPACE]
    got = store.do("get", "k3", *there)
    assert got.stdout.endswith("!\n") and TEXT in got.stderr
    assert TEXT not in store.do("get", "k4", *there).stderr
    for words in (["get", "k3", "k4"], ["list", "--limit", "100"], ["search", "number3"]):
        assert store.do(*words, *there).stderr == f"forage: k3 is damaged: {TEXT}; overwrite or delete it\n"
    assert "1 of the memories are damaged" in store.do("export", *there).stderr


def test_bytes_that_are_no_text_are_shown_as_well_as_they_can_be(tmp_path):
    store = Store({"FORAGE_DATA_DIR": tmp_path}, tamper_with_file(tmp_path))
    store.fill()
    store.tamper("UPDATE memory SET text = CAST(x'6865726f6eff' AS TEXT), summary = CAST(x'61ff' AS TEXT) WHERE key = 'k3'")
    assert "key k3" in store.do("check", code=1).stdout
    with Server(**store.settings) as server:
        assert results(server.port, "memory_get", keys=["k3"])["k3"]["text"] == "heron?"
        assert "damaged" in results(server.port, "memory_list", limit=100)["k3"]
        assert "damaged" in results(server.port, "memory_search", query="heron", limit=100)["k3"]
    assert '"damaged"' in store.do("export", "--namespace", SPACE).stdout
