"""An index that lacks very much is made in the background: searches answer from what there is and say so, what is written
meanwhile is found at once, nothing that was changed or removed meanwhile is found as it was, and a kill only costs time."""

import json
import re
import shutil
import time

import pytest
from memory_world import check_store, over_rest, postgres  # noqa: F401 (a fixture)
from programs import Server, run, wait_until

COUNT = 40_000  # more than a search waits for
BUILDING = 300  # seconds, at a low priority, on a busy machine too


def lines(numbers, word="plain"):
    return "".join(json.dumps({"key": f"k{n}", "text": f"note {word}{n} about thing{n % 50}"}) + "\n" for n in numbers).encode()


def load(settings, numbers, word="plain"):
    done = run("memory", "import", stdin=lines(numbers, word), patience=BUILDING, **settings)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    place = tmp_path_factory.mktemp("prepared") / "data"
    place.mkdir(mode=0o700)
    load({"FORAGE_DATA_DIR": place}, range(COUNT))
    return place


@pytest.fixture
def folder(tmp_path, prepared):
    """A large store whose index was lost. A server begins with another one at the first search: the folder is there."""
    place = shutil.copytree(prepared, tmp_path / "data")
    (place / "index").mkdir(mode=0o700)
    (place / "index" / "memory").mkdir(mode=0o700)
    return place


def search(server, word, tool="search"):
    arguments = {"query": word} if tool == "search" else {"keywords": [word]}
    answer = over_rest(server.port, f"memory_{tool}", arguments)
    assert answer["success"], answer
    return [hit["key"] for hit in answer["data"]["results"]], answer["data"]


def progress(data):
    """How many memories are indexed, of how many, as the note says."""
    found = re.fullmatch(
        r"not complete: the index of this namespace is being made, and has (\d+) of (\d+) memories so far; search again later", data["note"]
    )
    return int(found[1]), int(found[2])


def stats(server):
    (space,) = over_rest(server.port, "memory_stats", {})["data"]["namespaces"]
    return space["indexed"], space["memories"]


def is_made(server):
    search(server, "anything")
    indexed, memories = stats(server)
    assert indexed <= memories
    return indexed == memories


def require_whole(server, count):
    wait_until(lambda: is_made(server), BUILDING)
    assert stats(server) == (count, count)
    for tool in ("search", "fulltext_search"):
        keys, data = search(server, f"plain{COUNT - 1}", tool)
        assert keys == [f"k{COUNT - 1}"] and "note" not in data and "total_is_lower_bound" not in data["pagination"]
    assert search(server, "thing7", "fulltext_search")[1]["pagination"]["total"] == COUNT // 50


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_search_answers_from_what_there_is(request, tmp_path, kind):
    if kind == "sqlite":
        settings = {"FORAGE_DATA_DIR": request.getfixturevalue("folder")}
    else:
        settings = {"FORAGE_DATA_DIR": tmp_path, "FORAGE_DATABASE_URL": request.getfixturevalue("postgres").database()}
        load(settings, range(COUNT))
    with Server(**settings) as server:
        keys, data = search(server, f"plain{COUNT - 1}")
        assert stats(server)[1] == COUNT
        assert keys == [] and progress(data) == (0, COUNT) and data["pagination"]["total_is_lower_bound"] is True
        assert "note" in search(server, "plain1", "fulltext_search")[1]
        assert over_rest(server.port, "memory_add", {"key": "new", "text": "a word: quux"})["success"]
        keys, data = search(server, "quux")
        assert keys == ["new"] and progress(data)[1] == COUNT + 1
        assert over_rest(server.port, "memory_delete", {"keys": ["new"]})["success"]
        require_whole(server, COUNT)
    check_store(settings)


def test_a_server_begins_before_the_first_search(folder):
    """On a store that never had an index."""
    shutil.rmtree(folder / "index")
    with Server(FORAGE_DATA_DIR=folder) as server:
        wait_until(lambda: stats(server) == (COUNT, COUNT), BUILDING)
        keys, data = search(server, f"plain{COUNT - 1}")
        assert keys == [f"k{COUNT - 1}"] and "note" not in data


def test_whoever_waits_for_it_need_not_search(folder):
    """Asking how far it is begins with it."""
    with Server(FORAGE_DATA_DIR=folder) as server:
        assert stats(server) == (0, COUNT)
        wait_until(lambda: stats(server) == (COUNT, COUNT), BUILDING)


def test_a_large_namespace_behind_many_small_ones(folder):
    """It comes after them by its name, and is begun with all the same."""
    small = "".join(json.dumps({"namespace": f"a{n}", "key": "k", "text": "small"}) + "\n" for n in range(100))
    assert run("memory", "import", stdin=small.encode(), FORAGE_DATA_DIR=folder).returncode == 0

    def indexed():
        spaces = over_rest(server.port, "memory_stats", {})["data"]["namespaces"]
        return sum(space["indexed"] for space in spaces)

    with Server(FORAGE_DATA_DIR=folder) as server:
        assert indexed() == 100
        wait_until(lambda: indexed() == COUNT + 100, BUILDING)


def test_what_is_changed_meanwhile_is_found_as_it_is(folder):
    with Server(FORAGE_DATA_DIR=folder) as server:
        search(server, "anything")
        gone, changed = [], []
        for step in range(0, COUNT, COUNT // 40):
            gone.append(step)
            changed.append(step + 1)
            assert over_rest(server.port, "memory_delete", {"keys": [f"k{step}"]})["success"]
            assert over_rest(server.port, "memory_update", {"key": f"k{step + 1}", "text": f"other{step + 1}"})["success"]
            assert search(server, f"other{step + 1}")[0] == [f"k{step + 1}"]
            assert search(server, f"plain{step}")[0] == search(server, f"plain{step + 1}")[0] == []
            time.sleep(0.05)
        wait_until(lambda: is_made(server), BUILDING)
        for number in gone:
            assert search(server, f"plain{number}", "fulltext_search")[0] == []
        for number in changed:
            assert search(server, f"plain{number}", "fulltext_search")[0] == []
            assert search(server, f"other{number}", "fulltext_search")[0] == [f"k{number}"]
    check_store({"FORAGE_DATA_DIR": folder})


def segments(folder):
    return list((folder / "index").rglob("*.seg"))


def test_a_kill_only_costs_time(folder):
    for condition in (lambda before: stats(server)[0] > before, lambda _: is_made(server) or segments(folder)):
        server = Server(FORAGE_DATA_DIR=folder)
        search(server, "anything")
        before = stats(server)[0]
        wait_until(lambda: condition(before), BUILDING)  # noqa: B023 (called at once)
        server.kill()
    with Server(FORAGE_DATA_DIR=folder) as server:
        require_whole(server, COUNT)
    check_store({"FORAGE_DATA_DIR": folder})


def test_a_process_that_ends_leaves_what_it_made(folder):
    with Server(FORAGE_DATA_DIR=folder) as server:
        search(server, "anything")
        wait_until(lambda: stats(server)[0] > 0, BUILDING)
    with Server(FORAGE_DATA_DIR=folder) as server:
        assert stats(server)[0] > 0
        require_whole(server, COUNT)
    check_store({"FORAGE_DATA_DIR": folder})


def test_a_command_waits_for_the_whole_index(folder):
    found = run("memory", "search", f"plain{COUNT - 1}", "--json", patience=BUILDING, FORAGE_DATA_DIR=folder)
    data = json.loads(found.stdout)["data"]
    assert [hit["key"] for hit in data["results"]] == [f"k{COUNT - 1}"] and "note" not in data
    assert "indexed" not in run("memory", "stats", FORAGE_DATA_DIR=folder).stdout


def test_a_command_that_writes_much_leaves_a_whole_index(folder):
    """In files that there are: whoever goes on from them finds what it wrote, without making anything first."""
    settings = {"FORAGE_DATA_DIR": folder}
    with Server(**settings) as server:
        require_whole(server, COUNT)
    load(settings, range(20_000, 45_000), "later")
    with Server(**settings) as server:
        assert stats(server) == (45_000, 45_000)
        keys, data = search(server, "later20000")
        assert keys == ["k20000"] and "note" not in data
        assert search(server, "plain20000", "fulltext_search")[0] == []


def test_an_index_that_falls_far_behind(folder):
    """Another process writes more than a search waits for, over what is indexed."""
    settings = {"FORAGE_DATA_DIR": folder}
    with Server(**settings) as server:
        search(server, "anything")
        require_whole(server, COUNT)
        load(settings, range(20_000, 45_000), "later")
        keys, data = search(server, "later20000")
        # Where the import took long, the server has begun with what came of it.
        assert keys in ([], ["k20000"]) and ("note" not in data or progress(data)[1] == 45_000)
        assert search(server, "plain30000")[0] == [] and search(server, "plain19999")[0] == ["k19999"]
        assert over_rest(server.port, "memory_add", {"key": "new", "text": "a word: quux"})["success"]
        assert search(server, "quux")[0] == ["new"]
        load(settings, range(10_000, 30_000), "last")  # before the rest is there
        keys, data = search(server, "quux")
        # While much comes the index may have begun anew from files that are older than the word, and says so.
        assert keys == ["new"] or "note" in data
        wait_until(lambda: is_made(server), BUILDING)
        assert stats(server) == (45_001, 45_001)
        for word, number in [("plain", 9_999), ("last", 10_000), ("last", 29_999), ("later", 30_000), ("later", 44_999)]:
            assert search(server, f"{word}{number}", "fulltext_search")[0] == [f"k{number}"]
        for word, number in [("plain", 10_000), ("plain", 20_000), ("later", 20_000), ("later", 29_999), ("plain", 30_000)]:
            assert search(server, f"{word}{number}", "fulltext_search")[0] == []
        for tool in ("search", "fulltext_search"):
            assert search(server, "thing7", tool)[1]["pagination"]["total"] == 45_000 // 50
    check_store(settings)
