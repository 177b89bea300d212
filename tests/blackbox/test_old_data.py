"""Data of older versions opens with this one, and data of a newer version is refused in words and left as it is.

Each folder of tests/fixtures was made by the version that it is named after (tests/fixtures/make.py) and is never
changed: this test stands for as long as forage promises to open what it once wrote.
"""

import hashlib
import json
import shutil
import sqlite3

import pytest
from memory_world import ask
from old_data import (
    SETUP,
    STORES,
    place_cache,
    place_home,
    place_postgresql,
    place_sqlite,
    rest_url,
    setup,
    told_of_page,
    told_of_store,
)
from postgres import postgres  # noqa: F401 (a fixture)
from programs import CONFORMANCE, ROOT, Server, run

VERSIONS = sorted(path.parent.name for path in (ROOT / "tests" / "fixtures").glob("*/told.json"))


@pytest.fixture(params=VERSIONS)
def fixture(request):
    return ROOT / "tests" / "fixtures" / request.param


def told(fixture):
    return json.loads((fixture / "told.json").read_text())


def test_there_is_old_data():
    assert "0.8.0" in VERSIONS


def settings_of(kind, fixture, tmp_path, request):
    """Old data in place, and the settings that lead to it."""
    if kind == "sqlite":
        place_sqlite(fixture, tmp_path / "data")
        return {"FORAGE_DATA_DIR": tmp_path / "data"}
    server = request.getfixturevalue("postgres")
    return {"FORAGE_DATA_DIR": tmp_path / "none", "FORAGE_DATABASE_URL": place_postgresql(fixture, server)}


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_memories_and_records(kind, fixture, tmp_path, request):
    settings = settings_of(kind, fixture, tmp_path, request)
    assert told_of_store(settings) == told(fixture)[kind]
    # It is whole, and can be added to.
    assert run("memory", "check", **settings).returncode == 0
    with Server(CONFORMANCE, FORAGE_HISTORY=1, **settings) as server:
        assert ask(server.port, "POST", rest_url("test_spend"), body={"query": "more"}).status == 200
    assert run("memory", "add", "One more.", **settings).returncode == 0
    now = told_of_store(settings)
    before = told(fixture)[kind]
    assert len(now["history"]) == len(before["history"]) + 1 and now["history"][1:] == before["history"]
    assert len(now["memories"]["default"]) == len(before["memories"]["default"]) + 1


def test_cached_page(fixture, tmp_path):
    place_cache(fixture, tmp_path / "cache")
    page = told_of_page(tmp_path)
    assert page == told(fixture)["page"] and "wild yeast" in page


def test_setup_is_undone(fixture, tmp_path):
    home = tmp_path / "home"
    place_home(fixture, home)
    for client in ("cursor", "claude-code"):
        done = setup(home, client, "--undo", "--yes")
        assert done.returncode == 0, done.stderr
    for name, text in SETUP.items():
        path = home / name
        assert (path.read_text() if path.exists() else None) == text


# ---- data of a newer version ----


def digests(folder):
    """What is in the files, without what SQLite puts beside them while it reads."""
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in STORES}


@pytest.fixture
def newer(tmp_path):
    """SQLite files whose version no program knows yet."""
    folder = tmp_path / "data"
    folder.mkdir()
    for name in STORES:
        shutil.copy(ROOT / "tests" / "fixtures" / VERSIONS[-1] / name, folder / name)
        database = sqlite3.connect(folder / name)
        database.execute("PRAGMA user_version = 99")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.close()
    return folder


def test_newer_sqlite_files_are_refused_untouched(newer):
    before = digests(newer)
    for words in (["memory", "list"], ["memory", "add", "x"], ["usage"], ["history", "list"]):
        done = run(*words, FORAGE_DATA_DIR=newer)
        assert done.returncode == 1 and "newer version" in done.stderr, (words, done.stdout, done.stderr)
    # A server runs on without its records, and says so.
    with Server(CONFORMANCE, FORAGE_HISTORY=1, FORAGE_DATA_DIR=newer) as server:
        assert ask(server.port, "POST", rest_url("test_spend"), body={"query": "more"}).status == 200
        assert server.log.wait(lambda line: b"newer version" in line)
    assert digests(newer) == before


def test_newer_tables_are_refused_untouched(tmp_path, postgres):  # noqa: F811
    url = place_postgresql(ROOT / "tests" / "fixtures" / VERSIONS[-1], postgres)
    postgres.query(url, "UPDATE forage_schema SET version = 99")
    tables = [name for (name,) in postgres.query(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'")]

    def contents():
        return {name: sorted(map(repr, postgres.query(url, f"SELECT * FROM {name}"))) for name in tables}

    before = contents()
    settings = {"FORAGE_DATA_DIR": tmp_path, "FORAGE_DATABASE_URL": url}
    for words in (["memory", "list"], ["memory", "add", "x"], ["usage"], ["history", "list"]):
        done = run(*words, **settings)
        assert done.returncode == 1 and "version 99" in done.stderr and "newer" in done.stderr, (words, done.stderr)
    assert contents() == before
