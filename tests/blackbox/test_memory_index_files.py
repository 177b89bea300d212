"""The files of the index: what a process leaves for the next one, what of it goes with a deleted memory, and what
damage, other users and a kill make of it."""

import contextlib
import fcntl
import json
import os
import random
import shutil
import sqlite3
import stat

import pytest
from memory_world import over_rest
from postgres import PASSWORD, postgres  # noqa: F401 (a fixture)
from programs import Server, run, wait_until

COUNT = 3000
# A dictionary may share the beginning of a word with its neighbour; so their ends are looked for.
SECRETS = ["azurequux", "bulwarkquux", "citronquux", "dynamoquux", "ermitquux", "falconquux"]
LEAVING = 120  # seconds: files are written anew at the lowest priority, on a busy machine too
SEED = int(os.environ.get("FORAGE_TEST_SEED", "1"))


def lines(count, start=0):
    rows = ({"key": f"k{i}", "text": f"note number{i} about thing{i % 50}"} for i in range(start, start + count))
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def search(folder, query, limit=20):
    done = run("memory", "search", query, "--limit", limit, "--json", FORAGE_DATA_DIR=folder)
    assert done.returncode == 0, done.stderr
    return [hit["key"] for hit in json.loads(done.stdout)["data"]["results"]], done.stderr


def files_of(folder):
    return sorted(path for path in (folder / "index").rglob("*") if path.is_file())


def segments_of(folder):
    return [path for path in files_of(folder) if path.suffix == ".seg"]


def bytes_of(path):
    try:
        return path.read_bytes()
    except FileNotFoundError:  # another one took its place since
        return b""


def holds(folder, word):
    return any(word[2:].encode() in bytes_of(path) for path in files_of(folder))


@pytest.fixture
def folder(tmp_path):
    """A store whose index was saved."""
    place = tmp_path / "data"
    place.mkdir(mode=0o700)
    secrets = "".join(json.dumps({"key": f"secret{i}", "text": word}) + "\n" for i, word in enumerate(SECRETS))
    assert run("memory", "import", stdin=lines(COUNT) + secrets.encode(), FORAGE_DATA_DIR=place).returncode == 0
    assert not files_of(place)
    assert search(place, "number17")[0][0] == "k17"
    return place


def test_the_next_process_goes_on_from_the_files(folder):
    assert len(segments_of(folder)) == 1
    for path in files_of(folder):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600 and stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    before = {path: path.stat().st_ino for path in files_of(folder)}
    found, said = search(folder, "thing7")
    assert len(found) == 20 and "index" not in said
    assert {path: path.stat().st_ino for path in files_of(folder)} == before
    assert run("memory", "add", "note number9999 about thing7", "--key", "new", FORAGE_DATA_DIR=folder).returncode == 0
    assert search(folder, "number9999")[0] == ["new"]
    assert run("memory", "check", FORAGE_DATA_DIR=folder).returncode == 0


# ---- with PostgreSQL ----


@contextlib.contextmanager
def over_a_server(url, folder):
    """A search by a server, and what its log says."""
    with Server(FORAGE_DATABASE_URL=url, FORAGE_DATA_DIR=folder) as server:
        found = over_rest(server.port, "memory_search", {"query": "number17"})["data"]["results"]
        assert found[0]["key"] == "k17"
        wait_until(lambda: segments_of(folder), LEAVING)
        yield server


def test_another_password_is_no_other_store(postgres, tmp_path):  # noqa: F811
    """Nothing is made anew when it is changed, or when the way to connect is."""
    url = postgres.database(owner="guarded")
    assert run("memory", "import", stdin=lines(COUNT), FORAGE_DATABASE_URL=url, FORAGE_DATA_DIR=tmp_path).returncode == 0
    with over_a_server(url, tmp_path):
        pass
    before = {path: path.stat().st_ino for path in files_of(tmp_path)}
    postgres.execute("ALTER ROLE guarded PASSWORD 'a-rotated-password'")
    try:
        rotated = url.replace(PASSWORD, "a-rotated-password") + "?connect_timeout=7&application_name=another"
        with over_a_server(rotated, tmp_path):
            assert {path: path.stat().st_ino for path in files_of(tmp_path)} == before
    finally:
        postgres.execute(f"ALTER ROLE guarded PASSWORD '{PASSWORD}'")
    assert len(list((tmp_path / "index").iterdir())) == 1


def is_used(folder):
    """Whether a process says so."""
    probe = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(probe, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(probe)
    return False


def test_what_is_kept_of_other_databases_goes(postgres, tmp_path):  # noqa: F811
    """Once nothing has used it for a day; what a process uses stays."""
    places = {name: tmp_path / "index" / (digit * 16) / "7" for name, digit in {"old": "a", "used": "b", "new": "c"}.items()}
    for name, place in places.items():
        place.mkdir(parents=True, mode=0o700)
        (place / "segment").write_text("words of a memory that was deleted")
        if name != "new":
            for path in (place, place.parent):
                os.utime(path, (0, 0))
    user = os.open(places["used"].parent, os.O_RDONLY)
    try:
        fcntl.flock(user, fcntl.LOCK_SH)
        url = postgres.database()
        assert run("memory", "import", stdin=lines(COUNT), FORAGE_DATABASE_URL=url, FORAGE_DATA_DIR=tmp_path).returncode == 0
        with over_a_server(url, tmp_path) as server:
            wait_until(lambda: not places["old"].parent.exists(), LEAVING)
            assert places["used"].exists() and places["new"].exists()
            # What this server uses is not taken from it, however long ago it was made.
            (own,) = [path for path in (tmp_path / "index").iterdir() if path.name not in ("b" * 16, "c" * 16)]
            wait_until(lambda: is_used(own))
            assert server.alive()
    finally:
        os.close(user)


def test_deleted_words_leave_the_files(folder):
    assert holds(folder, SECRETS[0]) and holds(folder, SECRETS[1])
    assert run("memory", "delete", "secret0", FORAGE_DATA_DIR=folder).returncode == 0
    assert not holds(folder, SECRETS[0]) and holds(folder, SECRETS[1])
    assert search(folder, SECRETS[0])[0] == []
    with Server(FORAGE_DATA_DIR=folder, FORAGE_MEMORY_VERSIONS=0) as server:
        assert over_rest(server.port, "memory_delete", {"keys": ["secret1"]})["success"]
        wait_until(lambda: not holds(folder, SECRETS[1]), LEAVING)
        changed = {"key": "secret2", "text": "entirely different"}
        assert over_rest(server.port, "memory_update", changed)["success"]
        wait_until(lambda: not holds(folder, SECRETS[2]), LEAVING)
        found = over_rest(server.port, "memory_search", {"query": "different"})
        assert [hit["key"] for hit in found["data"]["results"]][:1] == ["secret2"]
    assert len(segments_of(folder)) <= 2


@pytest.mark.parametrize("kind", ["flip", "cut", "empty", "gone", "manifest", "other"])
def test_damaged_files_are_made_anew(folder, kind):
    random.seed(SEED)
    wanted = search(folder, "thing7")[0]
    segment = segments_of(folder)[0]
    manifest = segment.parent / "manifest"
    data = bytearray(segment.read_bytes())
    if kind == "flip":
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
        segment.write_bytes(data)
    elif kind == "cut":
        segment.write_bytes(data[: random.randrange(len(data))])
    elif kind == "empty":
        segment.write_bytes(b"")
    elif kind == "gone":
        segment.unlink()
    elif kind == "manifest":
        manifest.write_bytes(manifest.read_bytes()[:-1] + b"\xff")
    else:
        manifest.write_bytes(b"forageS9" + manifest.read_bytes()[8:])
    found, said = search(folder, "thing7")
    assert found == wanted and said.count("made anew") == 1
    assert segment not in segments_of(folder) and len(segments_of(folder)) == 1
    assert search(folder, "thing7") == (wanted, "")


def test_reindex_makes_the_files_anew(folder):
    wanted, before = search(folder, "thing7"), segments_of(folder)
    done = run("memory", "reindex", FORAGE_DATA_DIR=folder)
    assert (done.returncode, done.stdout) == (0, f"{COUNT + len(SECRETS)} memories in 1 namespaces\n"), done.stderr
    assert segments_of(folder) and not set(before) & set(segments_of(folder))
    assert search(folder, "thing7") == wanted
    assert run("memory", "check", FORAGE_DATA_DIR=folder).returncode == 0


def test_check_leaves_the_files_as_they_are(folder):
    assert run("memory", "import", stdin=lines(300, COUNT), FORAGE_DATA_DIR=folder).returncode == 0
    os.truncate(segments_of(folder)[0], 1000)
    before = {path: (path.stat().st_ino, path.read_bytes()) for path in files_of(folder)}
    for _ in range(2):
        assert run("memory", "check", FORAGE_DATA_DIR=folder).returncode == 0
        assert {path: (path.stat().st_ino, path.read_bytes()) for path in files_of(folder)} == before
    assert search(folder, f"number{COUNT + 7}")[0][0] == f"k{COUNT + 7}"
    before = {path: path.stat().st_ino for path in files_of(folder)}
    assert run("memory", "import", stdin=lines(300, 2 * COUNT), FORAGE_DATA_DIR=folder).returncode == 0
    assert run("memory", "check", FORAGE_DATA_DIR=folder).returncode == 0
    assert {path: path.stat().st_ino for path in files_of(folder)} == before
    shutil.rmtree(folder / "index")
    assert run("memory", "check", FORAGE_DATA_DIR=folder).returncode == 0 and not files_of(folder)


def test_check_compares_the_index_with_the_store(folder):
    """Hands in the database leave an index that is wrong; it has as many memories as the store."""
    with contextlib.closing(sqlite3.connect(folder / "memory.db")) as database:
        database.execute("UPDATE memory SET id = id + 100000 WHERE key = 'k5'")
        database.commit()
    done = run("memory", "check", FORAGE_DATA_DIR=folder)
    assert (done.returncode, done.stdout.splitlines()[0]) == (1, "wrong: the index of namespace default is wrong")
    assert run("memory", "reindex", FORAGE_DATA_DIR=folder).returncode == 0
    assert run("memory", "check", FORAGE_DATA_DIR=folder).returncode == 0


def test_a_store_that_was_brought_back(folder, tmp_path):
    """The file is the same one, with an earlier state in it, which has gone on since beyond what the index has seen."""
    shutil.copy(folder / "memory.db", tmp_path / "earlier.db")
    assert run("memory", "import", stdin=lines(200, COUNT), FORAGE_DATA_DIR=folder).returncode == 0
    assert search(folder, f"number{COUNT + 7}")[0] == [f"k{COUNT + 7}"]
    (folder / "memory.db").write_bytes((tmp_path / "earlier.db").read_bytes())
    assert run("memory", "import", stdin=lines(300, 2 * COUNT), FORAGE_DATA_DIR=folder).returncode == 0
    found, said = search(folder, f"number{2 * COUNT + 7}")
    assert found == [f"k{2 * COUNT + 7}"] and said.count("made anew") == 1
    assert search(folder, f"number{COUNT + 7}") == ([], "")


def test_reindex_while_a_server_runs(folder):
    with Server(FORAGE_DATA_DIR=folder) as server:
        before = over_rest(server.port, "memory_search", {"query": "thing7 number7"})["data"]["results"]
        assert run("memory", "reindex", FORAGE_DATA_DIR=folder).returncode == 0
        assert over_rest(server.port, "memory_delete", {"keys": ["secret0"]})["success"]
        wait_until(lambda: not holds(folder, SECRETS[0]), LEAVING)
        assert over_rest(server.port, "memory_search", {"query": "thing7 number7"})["data"]["results"] == before


def test_a_change_throws_away_what_is_no_good(folder):
    """It makes no other index, which nobody asked for."""
    os.truncate(segments_of(folder)[0], 1)
    assert run("memory", "add", "note number9999 about thing7", "--key", "new", FORAGE_DATA_DIR=folder).returncode == 0
    assert [path.name for path in files_of(folder)] == ["lock"]
    assert search(folder, "number9999")[0] == ["new"]


def test_a_file_that_is_cut_under_a_server(folder):
    with Server(FORAGE_DATA_DIR=folder) as server:
        before = over_rest(server.port, "memory_search", {"query": "thing7 number7"})["data"]["results"]
        os.truncate(segments_of(folder)[0], 100)
        after = over_rest(server.port, "memory_search", {"query": "thing7 number7"})["data"]["results"]
        assert [hit["key"] for hit in after] == [hit["key"] for hit in before]


def test_without_a_place_for_files(tmp_path):
    place = tmp_path / "data"
    place.mkdir(mode=0o700)
    (place / "index").write_text("in the way")
    assert run("memory", "import", stdin=lines(COUNT), FORAGE_DATA_DIR=place).returncode == 0
    found, said = search(place, "number17")
    assert found[0] == "k17" and said.count("cannot be kept in files") == 1
    assert (place / "index").read_text() == "in the way"


def test_a_killed_process_leaves_nothing_in_the_way(folder):
    random.seed(SEED)
    for i in range(5):
        server = Server(FORAGE_DATA_DIR=folder)
        for start in range(3):
            at = COUNT + (3 * i + start) * 1100
            assert run("memory", "import", stdin=lines(1100, at), FORAGE_DATA_DIR=folder).returncode == 0
            found = over_rest(server.port, "memory_search", {"query": f"number{at}"})["data"]["results"]
            assert found[0]["key"] == f"k{at}"
        server.kill()
        assert search(folder, f"number{COUNT + 3300 * i + 5}")[0][0] == f"k{COUNT + 3300 * i + 5}"
    assert run("memory", "check", FORAGE_DATA_DIR=folder).returncode == 0
    assert run("memory", "delete", "secret0", FORAGE_DATA_DIR=folder).returncode == 0
    assert {path.name for path in files_of(folder)} - {"lock", "manifest"} == {path.name for path in segments_of(folder)}
    assert not holds(folder, SECRETS[0]) and search(folder, SECRETS[1])[0][0] == "secret1"


def test_several_servers_share_the_files(folder):
    with Server(FORAGE_DATA_DIR=folder) as first, Server(FORAGE_DATA_DIR=folder) as second:
        for i in range(6):
            writer, reader = (first, second) if i % 2 else (second, first)
            at = COUNT + i * 1100
            assert run("memory", "import", stdin=lines(1100, at), FORAGE_DATA_DIR=folder).returncode == 0
            assert over_rest(writer.port, "memory_delete", {"keys": [f"secret{i}"]})["success"]
            for server in (writer, reader):
                for query, wanted in ((f"number{at}", f"k{at}"), (f"number{at + 1099}", f"k{at + 1099}")):
                    found = over_rest(server.port, "memory_fulltext_search", {"keywords": [query]})
                    assert [hit["key"] for hit in found["data"]["results"]] == [wanted]
                found = over_rest(server.port, "memory_fulltext_search", {"keywords": [SECRETS[i]]})
                assert found["data"]["results"] == []
        wait_until(lambda: not any(holds(folder, word) for word in SECRETS), LEAVING)
