"""`memory_overview`: memories counted by tag and by time, and those that are damaged, in both databases."""

import json

import pytest
from memory_world import over_rest, postgres  # noqa: F401 (a fixture)
from programs import Server, run
from test_memory_care import store  # noqa: F401 (a fixture)

SPACE = "a room"


def fill(store, lines):
    text = "".join(json.dumps(line) + "\n" for line in lines)
    store.do("import", "--namespace", SPACE, stdin=text.encode())


def look(store, **arguments):
    done = run("call", "memory_overview", *(f"{name}={value}" for name, value in {"namespace": SPACE, **arguments}.items()), **store.settings)
    assert done.returncode == 0, done
    return json.loads(done.stdout)["data"]


def memory(n, day, tags=(), **more):
    return {"key": f"k{n}", "text": f"note number{n}", "tags": list(tags), "created_at": day, **more}


def test_nothing(store):
    assert look(store) == {
        "counted": 0, "more": False, "tags": [], "more_tags": False, "unit": "day", "times": [], "all_damaged": 0, "damaged": []
    }  # fmt: skip


def test_tags_days_and_filters(store):
    fill(store, [memory(1, "2026-03-05", ["b", "a"]), memory(2, "2026-03-05", ["a"]), memory(3, "2026-03-07", ["c", "a"], session="s")])
    seen = look(store)
    assert seen["tags"] == [{"tag": "a", "memories": 3}, {"tag": "b", "memories": 1}, {"tag": "c", "memories": 1}]
    assert (seen["counted"], seen["more"], seen["more_tags"], seen["unit"]) == (3, False, False, "day")
    assert [(one["from"][:10], one["memories"]) for one in seen["times"]] == [("2026-03-07", 1), ("2026-03-05", 2)]
    assert look(store, tags="b")["tags"] == [{"tag": "a", "memories": 1}, {"tag": "b", "memories": 1}]
    assert look(store, time="2026-03-07")["counted"] == look(store, session="s")["counted"] == look(store, prefix="k3")["counted"] == 1
    assert look(store, namespace="another")["counted"] == 0


@pytest.mark.parametrize("first, unit, periods", [("2026-01-15", "day", 2), ("2025-10-15", "month", 2), ("1999-04-02", "year", 2)])
def test_units(store, first, unit, periods):
    fill(store, [memory(1, first), memory(2, "2026-03-01"), memory(3, "2026-03-01")])
    seen = look(store)
    assert seen["unit"] == unit and len(seen["times"]) == periods
    assert [one["memories"] for one in seen["times"]] == [2, 1]
    begins = {"day": first, "month": first[:8] + "01", "year": first[:4] + "-01-01"}[unit]
    assert seen["times"][-1]["from"][:10] == begins


def test_before_1970(store):
    fill(store, [memory(1, "1969-07-20T20:17:40Z")])
    assert look(store)["times"][0]["from"][:10] == "1969-07-20"


def test_many_tags_are_cut_and_the_answer_says_so(store):
    fill(store, [memory(n, "2026-03-05", [f"tag{n:03}", "all"]) for n in range(120)])
    seen = look(store)
    assert len(seen["tags"]) == 100 and seen["more_tags"]
    assert seen["tags"][0] == {"tag": "all", "memories": 120} and seen["tags"][1]["tag"] == "tag000"


def test_damaged_ones_are_named(store):
    fill(store, [memory(n, f"2026-03-{n:02}") for n in range(1, 10)])
    store.damage_a_text("k3")
    store.damage_a_text("k5")
    seen = look(store)
    assert seen["all_damaged"] == 2 and [one["key"] for one in seen["damaged"]] == ["k5", "k3"]
    assert seen["damaged"][0]["damaged"].startswith("its text is not what was stored")


def test_what_is_too_much_is_counted_in_part(tmp_path):
    lines = "".join(json.dumps({"key": f"k{n}", "text": f"note {n}", "tags": ["t"]}) + "\n" for n in range(50_100))
    run("memory", "import", stdin=lines.encode(), FORAGE_DATA_DIR=tmp_path)
    with Server(FORAGE_DATA_DIR=tmp_path) as server:
        seen = over_rest(server.port, "memory_overview", {})["data"]
        assert (seen["counted"], seen["more"], seen["tags"]) == (50_000, True, [{"tag": "t", "memories": 50_000}])
        # Lists reach as far.
        (last,) = over_rest(server.port, "memory_list", {"limit": 5, "offset": 50_099})["data"]["results"]
        assert last["key"]
