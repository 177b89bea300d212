"""The store as files: schemas of other times, what is left of what was deleted, and the commands for people."""

import contextlib
import datetime
import hashlib
import json
import random
import sqlite3
import stat
import time

import pytest
from memory_world import SOAK, Space, check_store, over_rest, world_of
from programs import FORAGE, Program, Server, Stdio, files_with, no_leak_check, run, run_on_terminal, wait_until
from storage import Disk, build_shim

INTERRUPTIONS = 100 if SOAK else 8

# The first schema, as it was released. It stays as it is here, however the schema changes: a file of it must open.
FIRST_SCHEMA = """
CREATE TABLE space (
 id INTEGER PRIMARY KEY, owner TEXT NOT NULL, name TEXT NOT NULL,
 change INTEGER NOT NULL DEFAULT 0, horizon INTEGER NOT NULL DEFAULT 0, UNIQUE (owner, name));
CREATE TABLE memory (
 id INTEGER PRIMARY KEY AUTOINCREMENT, space INTEGER NOT NULL, change INTEGER NOT NULL,
 key TEXT NOT NULL, summary TEXT NOT NULL, text TEXT NOT NULL, tags TEXT, metadata TEXT,
 session TEXT, place INTEGER NOT NULL, role TEXT, created INTEGER NOT NULL,
 updated INTEGER NOT NULL, expires INTEGER NOT NULL, version INTEGER NOT NULL,
 digest BLOB NOT NULL, UNIQUE (space, key));
CREATE UNIQUE INDEX memory_change ON memory (space, change);
CREATE INDEX memory_digest ON memory (substr(digest, 1, 8));
CREATE INDEX memory_created ON memory (space, created);
CREATE INDEX memory_session ON memory (space, session, place) WHERE session IS NOT NULL;
CREATE INDEX memory_expires ON memory (expires) WHERE expires > 0;
CREATE TABLE removed (
 space INTEGER NOT NULL, change INTEGER NOT NULL, id INTEGER NOT NULL,
 PRIMARY KEY (space, change)) WITHOUT ROWID;
INSERT INTO space VALUES (1, 'local', 'default', 3, 0);
PRAGMA user_version = 1;
"""
FIRST_TEXT = "Kept since the first version: a heron."


def first_file(folder):
    """A file as the first version left it."""
    folder.mkdir(exist_ok=True)
    path = folder / "memory.db"
    with sqlite3.connect(path) as file:
        file.executescript("PRAGMA journal_mode = WAL;" + FIRST_SCHEMA)
        digest = hashlib.sha256(FIRST_TEXT.encode()).digest()
        row = (7, 1, 3, "old", "a heron", FIRST_TEXT, '["bird"]', '{"n":1}', "s", 0, "user", 1_700_000_000_000, 1, 0, 2, digest)
        file.execute(f"INSERT INTO memory VALUES ({','.join('?' * 16)})", row)
    file.close()
    return path


def holds_the_first(folder):
    got = json.loads(run("memory", "get", "old", "--json", FORAGE_DATA_DIR=folder).stdout)["data"]["results"][0]
    wanted = {"text": FIRST_TEXT, "tags": ["bird"], "metadata": {"n": 1}, "session": "s", "place": 0, "version": 2}
    assert {name: got[name] for name in wanted} == wanted and got["created_at"] == "2023-11-14T22:13:20Z"


def schema_of(path):
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as file:
        tables = sorted(" ".join(sql.split()) for (sql,) in file.execute("SELECT sql FROM sqlite_master WHERE sql <> ''"))
        version = file.execute("PRAGMA user_version").fetchone()[0]
    file.close()
    return version, tables


def image_of(folder):
    """What a folder holds of memories: the bytes of the files, but for those that only readers of the file need."""
    return {path.name: path.read_bytes() for path in folder.glob("memory.*") if not path.name.endswith(("-shm", "-wal"))}


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    return build_shim(tmp_path_factory.mktemp("shim"))


# ---- schemas of other times ----


def test_an_earlier_schema_is_brought_up_to_date(tmp_path):
    first_file(tmp_path / "old")
    run("memory", "list", FORAGE_DATA_DIR=tmp_path / "new")
    with Server(FORAGE_DATA_DIR=tmp_path / "old") as server:
        found = over_rest(server.port, "memory_fulltext_search", {"keywords": "heron"})["data"]["results"]
        assert [hit["key"] for hit in found] == ["old"]
        assert over_rest(server.port, "memory_update", {"key": "old", "text": "changed", "if_version": 2})["success"]
    assert schema_of(tmp_path / "old" / "memory.db") == schema_of(tmp_path / "new" / "memory.db")
    check_store({"FORAGE_DATA_DIR": tmp_path / "old"})


def interrupt(disk):
    """Starts programs that bring the file up to date, all at once, and cuts the power in the middle of it."""
    settings = {"FORAGE_DATA_DIR": disk.folder, **disk.settings(FORAGE), **no_leak_check()}
    started = [Program(["memory", "add", f"number {number}"], **settings) for number in range(3)]
    try:
        time.sleep(random.random() * 0.06)
    finally:
        for program in started:
            program.kill()
    disk.fail_power()


@pytest.mark.parametrize("start", ["nothing", "an empty file", "the first schema"])
def test_an_interrupted_migration_is_completed(shim, tmp_path, start):
    for number in range(INTERRUPTIONS):
        place = tmp_path / str(number)
        place.mkdir()
        folder = place / "disk"
        folder.mkdir()
        if start == "an empty file":
            (folder / "memory.db").touch(0o600)
        elif start == "the first schema":
            first_file(folder)
        disk = Disk(shim, folder, place / "image")
        interrupt(disk)
        settings = {"FORAGE_DATA_DIR": folder}
        completed = run("memory", "add", "after it", "--key", "after", **settings)
        assert completed.returncode == 0, completed.stderr
        check_store(settings)
        if start == "the first schema":
            holds_the_first(folder)


@pytest.mark.parametrize(("version", "why"), [(999, "newer version"), (-7, "never made")])
def test_a_file_of_another_version_is_refused_untouched(tmp_path, version, why):
    path = first_file(tmp_path)
    with sqlite3.connect(path) as file:
        file.execute(f"PRAGMA user_version = {version}")
        file.execute("ALTER TABLE memory ADD COLUMN feeling TEXT")
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file.close()
    before = image_of(tmp_path)
    settings = {"FORAGE_DATA_DIR": tmp_path}
    for words in (["list"], ["add", "x"], ["check"], ["export"], ["delete", "old"]):
        completed = run("memory", *words, **settings)
        assert completed.returncode != 0 and why in completed.stderr, completed
    with Server(**settings) as server:
        for tool, given in [("add", {"text": "x"}), ("get", {"key": "old"}), ("search", {"query": "heron"}), ("delete", {"key": "old"})]:
            body = over_rest(server.port, f"memory_{tool}", given)
            assert body["success"] is False and why in body["error"]["message"], body
    assert image_of(tmp_path) == before


# ---- what an add writes ----


def ids_of(folder):
    with sqlite3.connect(f"file:{folder}/memory.db?mode=ro", uri=True) as file:
        ids = [number for (number,) in file.execute("SELECT id FROM memory UNION ALL SELECT id FROM removed")]
    file.close()
    return ids


def test_no_id_is_used_twice(tmp_path):
    first_file(tmp_path)
    with Server(FORAGE_DATA_DIR=tmp_path) as server:
        for number in range(4):
            for space in ("default", "other"):
                over_rest(server.port, "memory_add", {"key": "k", "text": f"text {number}", "namespace": space})
                over_rest(server.port, "memory_delete", {"key": "k", "namespace": space})  # the newest of all
        over_rest(server.port, "memory_add", {"key": "last", "text": "stays"})
    ids = ids_of(tmp_path)
    assert len(set(ids)) == len(ids) == 10 and 7 in ids, ids  # 7 is what the first version gave


def frames_of(log):
    """The frames of a log that were written since it began: those with its own salt."""
    data = log.read_bytes()
    frames = [data[at : at + 24 + 4096] for at in range(32, len(data), 24 + 4096)]
    return sum(len(frame) == 24 + 4096 and frame[8:16] == data[16:24] for frame in frames)


def test_an_add_writes_few_pages(tmp_path):
    """A page each: of the memories, of three indexes, of the keys and of the spaces; now and then one is full."""
    log = tmp_path / "memory.db-wal"
    with Server(FORAGE_DATA_DIR=tmp_path) as server:
        frames = []
        for number in range(41):
            assert over_rest(server.port, "memory_add", {"key": f"k{number}", "text": f"text {number}"})["success"]
            frames.append(frames_of(log))
        assert 6 * 40 <= frames[-1] - frames[0] < 7 * 40


# ---- deleted is deleted ----

SECRET = "xylophonecatastrophe"


def iso_in(seconds):
    """A time so many seconds from now."""
    moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def occurrences(folder, secret=SECRET):
    """The files that still hold it."""
    return sorted(path.name for path in files_with(folder, secret.encode()))


def by_deleting(space):
    space.do("delete", key=SECRET)


def by_deleting_all(space):
    space.do("delete", keys=space.keys("list"))


def by_replacing(space):
    space.add("harmless", SECRET[::-1])
    space.do("update", key=SECRET, text="harmless", summary="harmless", tags=[], metadata={}, session="s", role="r")
    space.do("rename", key=SECRET, new_key="harmless")


def by_upserting(space):
    space.add("harmless", SECRET, summary="harmless")
    space.do("rename", key=SECRET, new_key="harmless")


def by_deleting_what_was_replaced(space):
    """Its earlier versions go with it."""
    by_replacing(space)
    assert space.do("get", key="harmless", version=0)["versions"][1]
    space.do("delete", key="harmless")


def by_replacing_more_often_than_is_kept(space):
    by_replacing(space)
    for number in range(5):
        space.add(f"harmless {number}", "harmless")


# The ways, and how many earlier versions are kept.
WAYS = [
    (by_deleting, 5),
    (by_deleting_all, 5),
    (by_deleting_what_was_replaced, 5),
    (by_replacing_more_often_than_is_kept, 5),
    (by_replacing, 0),
    (by_upserting, 0),
]


@pytest.mark.parametrize("kind", ["sqlite", "sqlite-four"])
@pytest.mark.parametrize("way, kept", WAYS)
@pytest.mark.parametrize("size", [1, 3000])
def test_deleted_is_deleted_from_the_file(tmp_path, kind, way, kept, size):
    with world_of(kind, {"FORAGE_DATA_DIR": tmp_path, "FORAGE_MEMORY_VERSIONS": kept}) as world:
        space = Space(world, "default")
        for number in range(30):
            space.add(f"ordinary {number} " + "words " * 50, f"k{number}")
        given = {"summary": SECRET, "tags": [SECRET], "metadata": {"x": SECRET}, "session": SECRET, "role": SECRET}
        space.add(f"{SECRET} " * size, SECRET, **given)
        assert space.found(SECRET) == {SECRET} and occurrences(tmp_path)
        space.do("update", key=SECRET, text=f"{SECRET} again " * size)
        way(space)
        assert space.found(SECRET) == set()
        # An emptied log has to wait for those who read at that moment; the next change tries again.
        if kind == "sqlite":
            assert occurrences(tmp_path) == []
        space.add("one more")
        space.do("delete", key="k0")
        wait_until(lambda: occurrences(tmp_path) == [])
    assert occurrences(tmp_path) == []


@pytest.mark.parametrize("seed", range(8))
def test_nothing_stays_in_the_gaps_of_pages(tmp_path, seed):
    """SQLite overwrites what is deleted, but not the copies that stay in a page when it moves entries to another one."""
    dice, texts = random.Random(seed), {}
    for _ in range(4):
        lines = []
        for _ in range(150):
            key, own = f"k{dice.randrange(120)}", "qxq" + "".join(dice.choices("bdfgklmnprtvz", k=12))
            texts.setdefault(key, []).append(own)
            lines.append(json.dumps({"key": key, "text": own + " word" * dice.choice([2, 5, 40, 100])}))
        imported = run("memory", "import", "-", stdin="\n".join(lines).encode(), FORAGE_DATA_DIR=tmp_path, FORAGE_MEMORY_VERSIONS=0)
        assert imported.returncode == 0
    held = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    replaced = {own for owns in texts.values() for own in owns[:-1]}
    assert not {own for own in replaced if own.encode() in held}
    assert all(owns[-1].encode() in held for owns in texts.values())


@contextlib.contextmanager
def reader_of(folder):
    """Another process that reads the memories as they are now, and goes on doing so."""
    connection = sqlite3.connect(folder / "memory.db", isolation_level=None)
    connection.execute("BEGIN")
    connection.execute("SELECT count(*) FROM memory").fetchone()
    try:
        yield
    finally:
        connection.close()


def test_a_reader_that_stays_is_waited_for_once(tmp_path):
    """Old contents cannot leave the disk while somebody reads them; whoever overwrites waits for that once, not each time."""
    changes = 60
    with Server(FORAGE_DATA_DIR=tmp_path, FORAGE_MEMORY_VERSIONS=0) as server:
        over_rest(server.port, "memory_add", {"key": "k", "text": "first"})
        with reader_of(tmp_path):
            took = []
            for number in range(changes):
                start = time.monotonic()
                assert over_rest(server.port, "memory_add", {"key": "k", "text": f"text {number}"})["success"]
                took.append(time.monotonic() - start)
            assert min(took) < 0.2, "each of them waited"


def test_what_a_reader_held_goes_with_it(tmp_path):
    """The next call is enough, whatever it asks for."""
    with Server(FORAGE_DATA_DIR=tmp_path, FORAGE_MEMORY_VERSIONS=0) as server:
        over_rest(server.port, "memory_add", {"key": "k", "text": SECRET})
        with reader_of(tmp_path):
            assert over_rest(server.port, "memory_delete", {"key": "k"})["success"]
            assert occurrences(tmp_path)
        assert wait_until(lambda: over_rest(server.port, "memory_get", {})["success"] and occurrences(tmp_path) == [])


def test_what_expired_is_deleted_from_the_file(tmp_path):
    """In passing, by the changes that follow."""
    settings = {"FORAGE_DATA_DIR": tmp_path}
    for text in (SECRET, f"another {SECRET}"):
        assert run("memory", "add", text, "--key", "k", "--expires-at", iso_in(6), **settings).returncode == 0
    assert occurrences(tmp_path)
    wait_until(lambda: run("memory", "list", **settings).stdout.endswith("0 of 0\n"))
    assert run("memory", "add", "something else", **settings).returncode == 0
    assert occurrences(tmp_path) == []


def test_files_are_their_owners_alone(tmp_path):
    with Server(FORAGE_DATA_DIR=tmp_path / "data") as server:
        over_rest(server.port, "memory_add", {"text": "private"})
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "data").iterdir()}
        assert set(modes.values()) == {0o600} and "memory.db" in modes
        assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700


# ---- backup ----


def filled(folder):
    lines = "".join(json.dumps({"key": f"k{number}", "text": f"text {number}", "tags": ["a"]}) + "\n" for number in range(50))
    completed = run("memory", "import", stdin=lines.encode(), FORAGE_DATA_DIR=folder)
    assert completed.returncode == 0, completed.stderr


def test_backup_while_it_is_used(tmp_path):
    settings = {"FORAGE_DATA_DIR": tmp_path / "data"}
    filled(tmp_path / "data")
    (tmp_path / "copy").mkdir(mode=0o700)
    with Server(**settings) as server:
        over_rest(server.port, "memory_add", {"text": "in the log", "key": "log"})
        copy = tmp_path / "copy" / "memory.db"
        assert run("memory", "backup", copy, **settings).returncode == 0
        over_rest(server.port, "memory_add", {"text": "later", "key": "later"})
        again = run("memory", "backup", copy, **settings)
        assert again.returncode != 0 and str(copy) in again.stderr
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    copied = {"FORAGE_DATA_DIR": tmp_path / "copy"}
    check_store(copied)
    assert run("memory", "get", "log", **copied).stdout == "in the log\n"
    assert run("memory", "export", **copied).stdout.count("\n") == 51


# ---- for people ----


def test_commands(tmp_path):
    settings = {"FORAGE_DATA_DIR": tmp_path}

    def forage(*words, stdin=b"", code=0):
        completed = run("memory", *words, stdin=stdin, **settings)
        assert completed.returncode == code, completed
        return completed.stdout if code == 0 else completed.stderr

    assert forage("add", "The", "heron", "stands.", "--key", "bird", "--tags", "a,b") == "added bird\n"
    assert forage("add", "--key", "in", stdin=b"from standard input\n") == "added in\n"
    assert forage("get", "in") == "from standard input\n"
    assert forage("get", "bird") == "The heron stands.\n"
    assert "bird" in forage("list") and "bird" not in forage("list", "--prefix", "i")
    assert "bird" in forage("search", "heron")
    assert json.loads(forage("search", "heron", "--json"))["data"]["results"][0]["key"] == "bird"
    assert "nobody" in forage("delete", "bird", "nobody", code=1)
    assert "nobody" in forage("get", "nobody", code=1)
    assert forage("add", "zebra", "--namespace", "other") and "zebra" in forage("export")
    exported = tmp_path / "out.jsonl"
    forage("export", exported, "--namespace", "default")
    assert json.loads(exported.read_text())["text"] == "from standard input"
    assert "1 memories" in forage("import", exported, "--into", "copy")
    assert "line 2" in forage("import", "-", stdin=b'{"text":"good"}\n{"txt":"bad"}\n', code=1)
    assert "3 memories, 0 problems" in forage("check")
    for wrong in (["nothing"], [], ["get"], ["add", "x", "--colour", "red"], ["list", "what"]):
        assert forage(*wrong, code=2)


def test_standard_input_and_the_command_line_share_a_store(tmp_path):
    settings = {"FORAGE_DATA_DIR": tmp_path}
    with Stdio(**settings) as client:
        client.handshake()
        client.ask("tools/call", {"name": "memory_add", "arguments": {"text": "by a client", "key": "k"}})
        assert run("memory", "get", "k", **settings).stdout == "by a client\n"
        run("memory", "add", "by a person", "--key", "p", **settings)
        found = client.ask("tools/call", {"name": "memory_search", "arguments": {"query": "person"}})
        assert found["result"]["structuredContent"]["data"]["results"][0]["key"] == "p"


# ---- what people see ----


@pytest.fixture(name="forage")
def people(tmp_path):
    return lambda *words, **more: run("memory", *words, FORAGE_DATA_DIR=tmp_path, **more)


@pytest.mark.parametrize("command", ["get", "delete"])
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_key_that_is_not_there_is_an_error(forage, command, more):
    forage("add", "x", "--key", "there")
    missing = forage(command, "nope", *more)
    assert missing.returncode == 1 and "there is no memory of key nope in the namespace default" in missing.stderr
    assert missing.stdout == "" if not more else "missing" in missing.stdout
    partly = forage(command, "nope", "there", "--namespace", "default")
    assert partly.returncode == 1 and "nope" in partly.stderr and ("x" in partly.stdout or "deleted there" in partly.stdout)


@pytest.mark.parametrize("command", ["search", "fulltext"])
def test_nothing_that_is_found_is_said(forage, command):
    forage("add", "heron")
    nothing = forage(command, "okapi")
    assert nothing.returncode == 0 and nothing.stdout == "" and nothing.stderr == "forage: no memory was found\n"
    assert forage(command, "heron").stderr == ""


NASTY = "Painting's <b>needle</b> & \x1b[31mred\x1b[0m \x9b2J\x07 \"end\""


@pytest.mark.parametrize("command", ["search", "fulltext"])
def test_text_for_a_terminal_is_text(tmp_path, command):
    settings = {"FORAGE_DATA_DIR": tmp_path}
    run("memory", "add", NASTY, "--key", "k\x1b[2J", **settings)
    for shown in (run("memory", command, "needle", **settings), run_on_terminal("memory", command, "needle", NO_COLOR="1", **settings)):
        assert shown.returncode == 0
        assert "Painting's <b>needle</b> & " in shown.stdout and '"end"' in shown.stdout
        assert "&#39;" not in shown.stdout and "<mark>" not in shown.stdout
        assert not set(shown.stdout) & set("\x1b\x9b\x07")
    coloured = run_on_terminal("memory", "fulltext", "needle", **settings).stdout
    assert "<b>\x1b[1mneedle\x1b[0m</b>" in coloured and "\x1b[31m" not in coloured


def test_a_text_on_a_terminal_moves_no_cursor(tmp_path):
    settings = {"FORAGE_DATA_DIR": tmp_path}
    run("memory", "add", f"one\n{NASTY}\ttwo", "--key", "k", **settings)
    assert run("memory", "get", "k", **settings).stdout == f"one\n{NASTY}\ttwo\n", "a script gets what was added"
    shown = run_on_terminal("memory", "get", "k", **settings).stdout
    assert shown.startswith("one\nPainting's") and not set(shown) & set("\x1b\x9b\x07")
    listed = run_on_terminal("memory", "list", COLUMNS="60", **settings).stdout
    assert not set(listed) & set("\x1b\x9b\x07")


def test_update_rename_and_stats(forage):
    forage("add", "the oven runs hot", "--key", "oven", "--tags", "a")
    said = forage("update", "oven", "the", "oven", "runs", "20 degrees hot").stdout
    assert said.startswith("updated oven (version 2 in place of version 1, written ")
    assert forage("update", "oven", "--tags", "bread,baking").stdout.startswith("updated oven (version 3 ")
    assert forage("update", "oven", "-", stdin=b"from standard input\n").stdout.startswith("updated oven (version 4 ")
    found = json.loads(forage("get", "oven", "--json").stdout)["data"]["results"][0]
    assert found["text"] == "from standard input" and found["tags"] == ["bread", "baking"] and found["version"] == 4
    late = forage("update", "oven", "x", "--if-version", "1")
    assert late.returncode == 1 and "version" in late.stderr
    nothing = forage("update", "oven")
    assert nothing.returncode == 1 and "nothing to change" in nothing.stderr
    absent = forage("update", "nope", "x")
    assert absent.returncode == 1 and "there is no memory" in absent.stderr
    assert forage("rename", "oven", "stove").stdout == "renamed to stove\n"
    assert forage("get", "stove").returncode == 0 and forage("rename", "oven", "x").returncode == 1
    assert forage("rename", "stove").returncode == 2 and forage("rename", "a", "b", "c").returncode == 2
    stats = forage("stats").stdout
    assert stats.startswith("sqlite, schema ") and "\ndefault: 1 memories, 0 sessions, 19 bytes of text" in stats
    assert json.loads(forage("stats", "--json").stdout)["data"]["namespaces"][0]["memories"] == 1


def test_advice_names_commands_and_not_tools(forage):
    forage("add", "the oven runs hot", "--key", "oven")
    for command in (["history", "nope"], ["restore", "nope", "1"], ["restore", "oven", "9"], ["update", "nope", "x"], ["rename", "nope", "x"]):
        done = forage(*command)
        assert done.returncode == 1 and "`forage memory history KEY`" in done.stderr and "memory_" not in done.stderr, done.stderr


def test_copies_are_new_files(forage, tmp_path):
    there = tmp_path / "there"
    there.write_text("mine")
    for command in ("export", "backup"):
        done = forage(command, there)
        assert done.returncode == 1 and done.stderr.endswith("there: File exists; name a new file, nothing is overwritten\n")
    assert there.read_text() == "mine"


def test_a_copy_that_fails_is_gone(forage, tmp_path):
    """And with it whatever looks like a copy and is none."""
    for number in range(16):
        forage("add", f"text {number}", "--key", f"k{number:02}")
    with sqlite3.connect(tmp_path / "memory.db") as store:
        store.execute("UPDATE memory SET key = CAST('k15' AS BLOB) WHERE key = 'k15'")  # no end of keys
    store.close()
    done = forage("export", tmp_path / "copy")
    assert done.returncode == 1 and "leave out" in done.stderr, done
    assert not (tmp_path / "copy").exists()


def test_fulltext(forage):
    forage("add", "The heron stands in the water", "--key", "a")
    forage("add", "The heron flies", "--key", "b")
    assert {line.split()[-1] for line in forage("fulltext", "heron").stdout.splitlines()[::2]} == {"a", "b"}
    assert "a\n" in forage("fulltext", "heron", "water", "--operator", "AND").stdout
    assert "b\n" not in forage("fulltext", "heron", "water", "--operator", "AND").stdout
    assert "b\n" in forage("fulltext", "heron", "--", "-water").stdout
    assert forage("fulltext", "heron", "--operator", "XOR").returncode == 2
