"""Earlier versions of memories: what is replaced is kept, can be read and brought back, and goes when the memory does."""

import datetime
import re
import sqlite3

import pytest
from memory_world import over_rest, path_of, postgres, space, world  # noqa: F401 (fixtures)
from old_data import place_postgresql, place_sqlite
from programs import ROOT, Server, run, wait_until

KEPT = 5  # FORAGE_MEMORY_VERSIONS, by default


def near(seconds):
    """A time so many seconds from now."""
    moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def version(space, key, number):
    return space.do("get", key=key, version=number)["results"][0]


def history(space, key):
    return space.do("get", key=key, version=0)["versions"]


def numbers(space, key):
    return [one["version"] for one in history(space, key)]


# ---- keeping ----


def test_what_is_replaced_is_kept(space):
    first = {"summary": "first", "tags": ["a", "b"], "metadata": {"n": 1}, "session": "s", "role": "user"}
    added = space.add("the first text", "k", **first, expires_at="2126-01-01", created_at="2025-01-02")
    assert "replaced" not in added
    before = space.get("k")
    replaced = space.add("the second text", "k")
    assert replaced["outcome"] == "replaced" and replaced["version"] == 2
    assert replaced["replaced"] == {"version": 1, "updated_at": before["updated_at"]}
    updated = space.do("update", key="k", tags=["c"])
    assert updated["outcome"] == "updated" and updated["replaced"]["version"] == 2
    # Everything of it is part of a version: text, tags, metadata, session, expiry.
    assert version(space, "k", 1) == before
    assert version(space, "k", 2)["text"] == "the second text" and "tags" not in version(space, "k", 2)
    assert version(space, "k", 3) == space.get("k")
    listed = history(space, "k")
    assert [(one["version"], one["chars"], one.get("tags"), one["begins"]) for one in listed] == [
        (3, 15, ["c"], "the second text"),
        (2, 15, None, "the second text"),
        (1, 14, ["a", "b"], "the first text"),
    ]
    assert listed[2]["updated_at"] == before["updated_at"]


def test_nothing_is_kept_of_what_did_not_change(space):
    space.add("text", "k", tags=["a"])
    assert space.add("text", "k", tags=["a"])["outcome"] == "unchanged"
    assert numbers(space, "k") == [1]


def test_the_last_versions_are_kept(space):
    for number in range(1, 12):
        space.add(f"text {number}", "k")
    assert numbers(space, "k") == list(range(11, 11 - KEPT - 1, -1))
    assert version(space, "k", 6)["text"] == "text 6"
    assert "not kept" in space.fail("NOT_FOUND", "get", key="k", version=5)
    assert "not kept" in space.fail("NOT_FOUND", "get", key="k", version=12)
    assert "not kept" in space.fail("NOT_FOUND", "update", key="k", version=5)


def test_the_current_version_is_the_one_that_is_found(space):
    space.add("an apple", "k")
    space.add("a pear", "k")
    assert space.found("apple") == set() and space.found("pear") == {"k"}
    assert space.keys("list") == ["k"] and space.do("list")["pagination"]["total"] == 1
    assert "apple" not in space.dump()


def test_an_import_keeps_what_it_replaces(space):
    space.load([{"key": f"k{number}", "text": "before"} for number in range(20)])
    assert space.load([{"key": f"k{number}", "text": "after"} for number in range(20)])["replaced"] == 20
    assert version(space, "k7", 1)["text"] == "before"


def test_wrong_versions_are_named(space):
    space.add("text", "k")
    for tool, given in [
        ("get", {"key": "k", "version": -1}),
        ("get", {"key": "k", "version": "1"}),
        ("get", {"keys": ["k", "l"], "version": 1}),
        ("get", {"version": 1}),
        ("update", {"key": "k", "version": 0}),
    ]:
        assert space.fail("VALIDATION", tool, **given)
    space.fail("NOT_FOUND", "get", key="nobody", version=0)
    space.fail("NOT_FOUND", "get", key="nobody", version=1)


# ---- bringing back ----


def test_a_version_comes_back(space):
    space.add("the first", "k", tags=["a"], metadata={"n": 1}, summary="one", session="s", role="user", expires_at="2126-01-01")
    first = space.get("k")
    space.add("the second", "k", tags=["b"])
    restored = space.do("update", key="k", version=1)
    assert restored["outcome"] == "updated" and restored["version"] == 3 and restored["replaced"]["version"] == 2
    now = space.get("k")
    assert {**now, "version": 1, "updated_at": first["updated_at"]} == first
    assert numbers(space, "k") == [3, 2, 1] and version(space, "k", 2)["text"] == "the second"
    assert space.found("first") == {"k"} and space.found("second") == set()
    # Bringing back what is there changes nothing; more can be changed with it.
    assert space.do("update", key="k", version=3)["outcome"] == "unchanged"
    space.do("update", key="k", version=2, tags=["c"], expires_at="never")
    assert space.get("k")["text"] == "the second" and space.get("k")["tags"] == ["c"] and "expires_at" not in space.get("k")
    assert "version 4" in space.fail("CONFLICT", "update", key="k", version=1, if_version=3)


def test_a_version_that_has_expired_needs_another_time(space):
    space.add("fleeting", "k", expires_at=near(1))
    space.do("update", key="k", expires_at="never", text="lasting")
    wait_until(lambda: near(0) > version(space, "k", 1)["expires_at"])
    assert "past" in space.fail("VALIDATION", "update", key="k", version=1)
    space.do("update", key="k", version=1, expires_at="never")
    assert space.get("k")["text"] == "fleeting" and "expires_at" not in space.get("k")


# ---- what becomes of them ----


def test_a_rename_keeps_them(space):
    for text in ("one", "two", "three"):
        space.add(text, "k")
    renamed = space.do("rename", key="k", new_key="l")
    assert renamed["version"] == 4 and "replaced" not in renamed
    assert numbers(space, "l") == [4, 2, 1] and version(space, "l", 1)["key"] == "l"
    space.do("update", key="l", version=1)
    assert space.get("l")["text"] == "one"
    # The old key is free, and has no past.
    space.add("new", "k")
    assert numbers(space, "k") == [1]


def test_deleting_takes_them_along(space):
    for text in ("one", "two"):
        space.add(text, "k")
    space.do("delete", key="k")
    space.fail("NOT_FOUND", "get", key="k", version=1)
    space.add("another", "k")
    assert numbers(space, "k") == [1]


def test_they_expire_with_the_memory(space):
    space.add("one", "k")
    space.add("two", "k", expires_at=near(1))
    wait_until(lambda: space.get("k") is None)
    space.fail("NOT_FOUND", "get", key="k", version=1)
    space.fail("NOT_FOUND", "get", key="k", version=0)
    space.fail("NOT_FOUND", "update", key="k", version=1)
    space.add("three", "k")
    assert numbers(space, "k") == [1]


# ---- doors ----


def test_over_rest(space):
    for text in ("one", "two"):
        assert space.rest("PUT", path_of("a/b"), body={"text": text}).status == 200
    assert space.rest("GET", path_of("a/b"), {"version": 1}).json()["data"]["results"][0]["text"] == "one"
    listed = space.rest("GET", path_of("a/b"), {"version": 0}).json()["data"]["versions"]
    assert [one["version"] for one in listed] == [2, 1]
    assert space.rest("PATCH", path_of("a/b"), body={"version": 1}).json()["data"]["replaced"]["version"] == 2
    assert space.get("a/b")["text"] == "one"
    assert space.rest("GET", path_of("a/b"), {"version": 9}).status == 404


def test_for_people(space):
    def forage(*words, code=0):
        done = space.world.command(*words, "--namespace", space.name)
        assert done.returncode == code, done
        return done.stdout if code == 0 else done.stderr

    assert forage("add", "The oven runs hot.", "--key", "oven", "--tags", "a,b") == "added oven\n"
    written = space.get("oven")["updated_at"]
    said = forage("add", "The oven is broken.", "--key", "oven")
    assert said == f"replaced oven (version 2 in place of version 1, written {written})\n"
    now, before = forage("history", "oven").splitlines()
    assert now.split()[:2] == ["2", "(now)"] and "19 chars" in now and now.endswith("  The oven is broken.")
    assert before.split()[0] == "1" and written in before and "[a, b]" in before and before.endswith("The oven runs hot.")
    assert forage("get", "oven", "--version", "1") == "The oven runs hot.\n"
    assert forage("restore", "oven", "1") == "restored version 1 of oven (as version 3, in place of version 2)\n"
    assert forage("get", "oven") == "The oven runs hot.\n" and len(forage("history", "oven").splitlines()) == 3
    assert forage("restore", "oven", "3") == "unchanged oven\n"
    assert "not kept" in forage("restore", "oven", "9", code=1)
    assert "no version" in forage("restore", "oven", "first", code=2)
    assert "no memory" in forage("history", "nobody", code=1)
    assert forage("restore", "oven", code=2) and forage("history", code=2)


# ---- how many ----


def stores(tmp_path, request):
    yield {"FORAGE_DATA_DIR": tmp_path / "data"}
    yield {"FORAGE_DATA_DIR": tmp_path / "none", "FORAGE_DATABASE_URL": request.getfixturevalue("postgres").database()}


def test_the_setting_says_how_many(tmp_path, request):
    for settings in stores(tmp_path, request):
        for kept, wanted in [(3, [5, 4, 3, 2]), (1, [10, 9]), (0, [15]), (2, [20, 19, 18])]:
            with Server(FORAGE_MEMORY_VERSIONS=kept, **settings) as server:
                for number in range(5):
                    over_rest(server.port, "memory_add", {"key": "k", "text": f"{kept} {number}"})
                listed = over_rest(server.port, "memory_get", {"key": "k", "version": 0})["data"]["versions"]
                assert [one["version"] for one in listed] == wanted
    assert run("memory", "list", FORAGE_MEMORY_VERSIONS=101, FORAGE_DATA_DIR=tmp_path).returncode == 2


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_memories_of_an_older_version_get_a_past_from_now_on(kind, tmp_path, request):
    fixture = ROOT / "tests" / "fixtures" / "0.8.0"
    settings = {"FORAGE_DATA_DIR": tmp_path}
    if kind == "sqlite":
        place_sqlite(fixture, tmp_path)
    else:
        settings["FORAGE_DATABASE_URL"] = place_postgresql(fixture, request.getfixturevalue("postgres"))
    with Server(**settings) as server:

        def do(tool, **given):
            return over_rest(server.port, "memory_" + tool, given)["data"]

        (only,) = do("get", key="to-be-changed", version=0)["versions"]
        assert only["version"] == 2 and only["begins"] == "The second version."
        do("update", key="to-be-changed", text="The third.")
        assert do("get", key="to-be-changed", version=2)["results"][0]["text"] == "The second version."
    assert run("memory", "check", **settings).returncode == 0


# ---- damage ----


def test_a_damaged_version_is_marked_and_does_not_come_back(tmp_path, request):
    server_of = request.getfixturevalue("postgres")
    for settings in stores(tmp_path, request):
        with Server(**settings) as server:

            def ask(tool, **given):
                return over_rest(server.port, "memory_" + tool, given)

            for text in ("one", "two", "three"):
                ask("add", key="k", text=text)
            ask("add", key="gone", text="gone")
            damage = "UPDATE {}memory_version SET text = 'won' WHERE version = 1"
            orphan = "INSERT INTO {0}memory_version SELECT 999, version, summary, text, tags, metadata, session, place, role, " \
                "created, updated, expires, digest FROM {0}memory_version WHERE version = 2"
            for sql in (damage, orphan):
                if "FORAGE_DATABASE_URL" in settings:
                    server_of.query(settings["FORAGE_DATABASE_URL"], sql.format("forage_"))
                else:
                    with sqlite3.connect(settings["FORAGE_DATA_DIR"] / "memory.db") as file:
                        file.execute(sql.format(""))
                    file.close()
            assert "damaged" in ask("get", key="k", version=1)["data"]["results"][0]
            assert ["damaged" in one for one in ask("get", key="k", version=0)["data"]["versions"]] == [False, False, True]
            refused = ask("update", key="k", version=1)
            assert refused["error"]["code"] == "CONFLICT" and "damaged" in refused["error"]["message"]
            assert "damaged" not in ask("get", key="k")["data"]["results"][0]
        done = run("memory", "check", **settings)
        assert done.returncode == 1 and "2 problems" in done.stdout
        assert re.search(r"key k, namespace default, of local, id \d+, version 1, ", done.stdout) and "an earlier version: its text" in done.stdout
        done = run("memory", "check", "--repair", **settings)
        assert done.returncode == 1 and "repaired: earlier versions of memories that are gone: 1" in done.stdout
        assert "1 problems" in run("memory", "check", **settings).stdout


def test_a_duplicate_brings_what_was_new_with_it(space):
    until, later = "2096-10-02T07:06:40.000Z", "2097-10-02T07:06:40.000Z"
    first = space.add("Dentist on Friday.", tags=["a", "b"], metadata={"x": 1, "y": 2}, expires_at=until)
    again = space.add("Dentist on Friday.", tags=["b", "c"], metadata={"y": 3, "z": 4}, expires_at=later)
    assert again["outcome"] == "duplicate" and again["key"] == first["key"] and again["version"] == 2
    assert again["merged"] == ["tags", "metadata", "expires_at"] and again["replaced"]["version"] == 1
    memory = space.get(first["key"])
    assert memory["tags"] == ["a", "b", "c"] and memory["metadata"] == {"x": 1, "y": 3, "z": 4}
    assert memory["expires_at"].startswith(later[:19]) and space.do("list")["pagination"]["total"] == 1
    assert space.keys("list", tags=["c"]) == [first["key"]] == space.keys("search", query="dentist", tags=["c"])
    # What is not given stays, and the same again changes nothing.
    for more in ({}, {"tags": ["c"]}, {"metadata": {"z": 4}}, {"expires_at": later}):
        same = space.add("Dentist on Friday.", **more)
        assert same["outcome"] == "duplicate" and same["version"] == 2 and "merged" not in same
    done = space.world.command("add", "Dentist on Friday.", "--tags", "d", "--namespace", space.name)
    assert done.stdout.startswith(f"duplicate {first['key']}: merged its tags (version 3 in place of version 2, "), done
    assert space.add("Dentist on Friday.", expires_at="never")["merged"] == ["expires_at"]
    assert "expires_at" not in space.get(first["key"])
    assert "tags" in space.fail("VALIDATION", "add", text="Dentist on Friday.", tags=[f"t{n}" for n in range(29)])
    space.do("update", key=first["key"], version=1)
    assert space.get(first["key"])["tags"] == ["a", "b"]
