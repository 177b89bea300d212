"""What memory does, the same in each of its worlds: every case runs on SQLite with one process, with four processes
on one file, and on PostgreSQL with three servers, and each call goes to a process chosen at random."""

import datetime
import html
import json
import re
import threading
import time

import pytest
from memory_world import PATH, Space, path_of, postgres, space, world  # noqa: F401 (fixtures)
from programs import wait_until

KEYS = [
    "plain",
    "with space",
    "a/b/c",
    "/leading",
    "trailing/",
    "..",
    "../../etc/passwd",
    "?query=1&x#fragment",
    "100%",
    "%2F",
    "a+b",
    "ключ",
    "键",
    "e\u0301",
    "😀",
    "semi;colon:at@",
    "'; DROP TABLE memory; --",
    '"quoted"',
    "back\\slash",
    "tab\there",
    "line\nbreak",
    "searching",
    "x" * 1024,
]
RESERVED = ["search", "fulltext", "import", "export"]


def iso(moment):
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


# ---- adding ----


def test_add_and_get(space):
    given = {
        "key": "database",
        "summary": "Atlas uses PostgreSQL",
        "text": "We chose PostgreSQL.\nThree services write at once: ñ 漢字 \U0001f600",
        "tags": ["decision", "backend"],
        "metadata": {"source": "meeting", "confidence": 0.9, "deep": {"list": [1, None, "x"]}},
        "session": "chat-1",
        "place": 4,
        "role": "user",
        "created_at": "2026-03-05T14:00:00Z",
        "expires_at": "2126-03-05T14:00:00Z",
    }
    added = space.do("add", **given)
    assert added["outcome"] == "added" and added["version"] == 1 and added["key"] == "database"
    assert added["namespace"] == space.name and added["created_at"] == "2026-03-05T14:00:00Z"
    memory = space.get("database")
    assert {name: memory[name] for name in given} == given
    assert memory["version"] == 1 and memory["updated_at"] == added["updated_at"]


def test_what_was_not_given_is_not_there(space):
    space.add("Only a text.", "bare")
    memory = space.get("bare")
    assert set(memory) == {"key", "summary", "text", "created_at", "updated_at", "version"}
    assert memory["summary"] == "Only a text."


def test_key_and_summary_are_made(space):
    added = space.add("We chose PostgreSQL for Atlas. Three services write at once.")
    assert added["outcome"] == "added" and added["summary"] == "We chose PostgreSQL for Atlas."
    assert re.fullmatch(r"[a-z0-9-]+", added["key"]) and "postgresql" in added["key"]
    assert space.get(added["key"])["text"].startswith("We chose")
    other = space.add("We chose PostgreSQL for Atlas. Another reason.")
    assert other["outcome"] == "added" and other["key"] != added["key"]


@pytest.mark.parametrize("word", RESERVED)
def test_a_made_key_is_never_reserved(space, word):
    added = space.add(word)
    assert added["outcome"] == "added" and added["key"] not in RESERVED
    assert space.rest("GET", path_of(added["key"])).json()["data"]["results"][0]["text"] == word


def test_upsert(space):
    first = space.add("one", "k", tags=["old"], created_at="2026-01-01T00:00:00Z")
    second = space.add("two", "k")
    assert (first["outcome"], second["outcome"]) == ("added", "replaced") and second["version"] == 2
    memory = space.get("k")
    assert memory["text"] == "two" and "tags" not in memory and memory["created_at"] == "2026-01-01T00:00:00Z"
    assert space.keys("list") == ["k"]
    assert space.found("one") == set() and space.found("two") == {"k"}


def test_the_same_again_changes_nothing(space):
    first = space.add("one", "k", tags=["a"])
    again = space.add("one", "k", tags=["a"])
    assert again["outcome"] == "unchanged" and again["version"] == 1 and again["updated_at"] == first["updated_at"]


def test_duplicates_are_noticed(space):
    first = space.add("The same words.")
    again = space.add("The same words.")
    assert again["outcome"] == "duplicate" and again["key"] == first["key"]
    assert space.do("list")["pagination"]["total"] == 1
    # With a key of its own it is wanted twice, and a duplicate names the older one.
    assert space.add("The same words.", "other")["outcome"] == "added"
    assert space.add("The same words.")["key"] == first["key"]
    space.do("delete", key=first["key"])
    assert space.add("The same words.")["key"] == "other"


def test_if_version_of_an_upsert(space):
    assert "version" in space.fail("CONFLICT", "add", key="k", text="x", if_version=1)
    assert space.get("k") is None
    space.add("one", "k")
    assert space.add("two", "k", if_version=1)["version"] == 2
    space.fail("CONFLICT", "add", key="k", text="three", if_version=1)
    assert space.get("k")["text"] == "two"


@pytest.mark.parametrize("key", KEYS)
def test_keys_of_any_text(space, key):
    """By the tools and in the path of a URL."""
    put = space.rest("PUT", path_of(key), body={"text": f"about {key}"})
    assert put.status == 200 and put.json()["data"]["key"] == key
    assert space.get(key)["text"] == f"about {key}"
    assert space.rest("GET", path_of(key)).json()["data"]["results"][0]["key"] == key
    assert space.keys("list") == [key]
    patched = space.rest("PATCH", path_of(key), body={"text": "changed"})
    assert patched.json()["data"]["outcome"] == "updated" and space.get(key)["text"] == "changed"
    deleted = space.rest("DELETE", path_of(key))
    assert deleted.status == 200 and deleted.json()["data"]["deleted"] == [key]
    assert space.rest("GET", path_of(key)).status == 404


@pytest.mark.parametrize("key", RESERVED)
def test_reserved_keys(space, key):
    for tool, arguments in [("add", {"key": key, "text": "x"}), ("rename", {"key": "k", "new_key": key})]:
        assert key in space.fail("VALIDATION", tool, **arguments)


def test_long_texts_are_read_in_parts(space):
    text = "".join(f"word{number} " for number in range(40_000))
    space.add(text, "long")
    got, start = "", 0
    while start is not None:
        (part,) = space.do("get", key="long", start=start, max_chars=100_000)["results"]
        got += part["text"]
        start = part.get("next_start")
    assert got == text
    assert space.found("word39999") == {"long"}


# ---- changing ----


def test_update_changes_only_what_is_given(space):
    space.add("one", "k", summary="s", tags=["a"], metadata={"m": 1}, session="c", role="user")
    updated = space.do("update", key="k", text="two")
    assert updated["outcome"] == "updated" and updated["version"] == 2
    memory = space.get("k")
    assert (memory["text"], memory["summary"], memory["tags"]) == ("two", "s", ["a"])
    assert (memory["metadata"], memory["session"], memory["place"], memory["role"]) == ({"m": 1}, "c", 0, "user")
    space.do("update", key="k", tags=[])
    assert "tags" not in space.get("k")


def test_a_made_summary_follows_the_text(space):
    space.add("First sentence. More.", "k")
    space.do("update", key="k", text="Another sentence. More.")
    assert space.get("k")["summary"] == "Another sentence."


def test_update_of_nothing(space):
    space.fail("NOT_FOUND", "update", key="nobody", text="x")
    assert space.rest("PATCH", path_of("nobody"), body={"text": "x"}).status == 404
    assert space.keys("list") == []


def test_optimistic_updates_lose_nothing(space):
    """Eight clients count together: each adds one to what it read, if it is still that."""
    space.add("0", "counter")
    times, workers = 6, 8
    problems = []

    def count():
        try:
            for _ in range(times):
                while True:
                    memory = space.get("counter")
                    body = space.ask(
                        "update", key="counter", text=str(int(memory["text"]) + 1), if_version=memory["version"]
                    )
                    if body["success"]:
                        break
                    assert body["error"]["code"] == "CONFLICT", body
                    assert body["error"]["details"]["version"] > memory["version"]
        except BaseException as error:
            problems.append(error)

    # Standard input and output of a client belong to one conversation: threads would mix theirs up.
    space = Space(space.world.without_clients(), space.name)
    threads = [threading.Thread(target=count) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    memory = space.get("counter")
    assert memory["text"] == str(times * workers) and memory["version"] == times * workers + 1


def test_rename(space):
    space.add("text", "old", tags=["a"])
    space.add("other", "taken")
    assert "new_key" in space.fail("CONFLICT", "rename", key="old", new_key="taken")
    space.fail("CONFLICT", "rename", key="old", new_key="new", if_version=7)
    space.fail("NOT_FOUND", "rename", key="nobody", new_key="new")
    renamed = space.do("rename", key="old", new_key="new", if_version=1)
    assert renamed["outcome"] == "renamed" and renamed["key"] == "new"
    assert space.get("old") is None and space.get("new")["tags"] == ["a"]
    assert space.found("text") == {"new"} and space.get("taken")["text"] == "other"


def test_update_gives_another_key(space):
    """Alone or with other changes, in one step: all of it or nothing."""
    space.add("text", "old", tags=["a"])
    space.add("other", "taken")
    space.fail("CONFLICT", "update", key="old", new_key="taken", text="lost")
    space.fail("CONFLICT", "update", key="old", new_key="new", text="lost", if_version=7)
    assert space.get("old")["text"] == "text" and space.get("taken")["text"] == "other"
    renamed = space.do("update", key="old", new_key="new", if_version=1)
    assert (renamed["outcome"], renamed["key"], renamed["version"]) == ("renamed", "new", 2)
    changed = space.do("update", key="new", new_key="newest", text="more words")
    assert (changed["outcome"], changed["key"], changed["version"]) == ("updated", "newest", 3)
    assert space.do("update", key="newest", new_key="newest")["outcome"] == "unchanged"
    assert space.get("old") is None and space.get("new") is None and space.get("newest")["tags"] == ["a"]
    assert space.found("words") == {"newest"} and space.found("text") == set()


def test_get_without_a_key_lists(space):
    for number in range(5):
        more = {"session": "s"} if number % 2 else {"tags": ["even"]}
        space.add(f"text {number}", f"k{number}", created_at=f"2026-01-0{number + 1}", **more)
    for filters in ({}, {"tags": ["even"]}, {"session": "s", "limit": 1}, {"prefix": "k4"}, {"time": "2026-01-02"}, {"offset": 3}):
        assert space.do("get", **filters) == space.do("list", **filters), filters
    assert space.do("get", limit=2)["pagination"]["total"] == 5
    assert space.keys("get", neighbours=0, start=0) == space.keys("list")


def test_delete(space):
    for key in "abc":
        space.add(f"text {key}", key)
    assert space.do("delete", keys=["a", "nobody", "c"]) == {"deleted": ["a", "c"], "missing": ["nobody"]}
    assert space.keys("list") == ["b"] and space.found("text") == {"b"}
    assert space.do("delete", key="a") == {"deleted": [], "missing": ["a"]}
    # The key is free again, and its versions begin anew.
    assert space.add("again", "a")["version"] == 1


def test_get_many(space):
    for key in "abc":
        space.add(f"text {key}", key)
    data = space.do("get", keys=["c", "nobody", "a"])
    assert [memory["key"] for memory in data["results"]] == ["c", "a"] and data["missing"] == ["nobody"]
    space.fail("NOT_FOUND", "get", key="nobody")


def test_namespaces_never_meet(space):
    other = Space(space.world, space.name + " other")
    space.add("mine alone", "k")
    assert other.get("k") is None and other.keys("list") == [] and other.found("alone") == set()
    other.add("the other", "k")
    assert space.get("k")["text"] == "mine alone"
    other.do("delete", key="k")
    assert space.get("k")["text"] == "mine alone"


def test_stats(space):
    space.add("été", "a", session="s1", created_at="2026-01-01T00:00:00Z")
    space.add("b", "b", session="s2", created_at="2026-02-01T00:00:00Z")
    data = space.do("stats")
    assert data["backend"] == ("postgresql" if space.world.kind == "postgresql" else "sqlite")
    assert ("file_bytes" in data) is (data["backend"] == "sqlite")
    (mine,) = data["namespaces"]
    assert mine["name"] == space.name and mine["memories"] == 2 and mine["sessions"] == 2 and mine["text_bytes"] == 6
    assert mine["oldest_at"].startswith("2026-01-01") and mine["newest_at"].startswith("2026-02-01")
    every = space.world.tool("memory_stats", {})["data"]["namespaces"]
    assert space.name in [one["name"] for one in every]


# ---- sessions ----


def test_places_in_a_session(space):
    for number in range(7):
        space.add(f"turn {number}", f"t{number}", session="chat", role="user" if number % 2 == 0 else "assistant")
    space.add("elsewhere", "x", session="other")
    assert [space.get(f"t{number}")["place"] for number in range(7)] == list(range(7))
    assert space.get("x")["place"] == 0
    (hit,) = space.do("get", key="t3", neighbours=2)["results"]
    assert [memory["key"] for memory in hit["neighbours"]] == ["t1", "t2", "t4", "t5"]
    (hit,) = space.do("get", key="t0", neighbours=1)["results"]
    assert [memory["key"] for memory in hit["neighbours"]] == ["t1"]
    assert "neighbours" not in space.do("get", key="t3")["results"][0]
    assert space.rest("GET", path_of("t6"), {"neighbours": 1}).json()["data"]["results"][0]["neighbours"][0]["key"] == "t5"


def test_the_place_of_an_upsert_stays(space):
    for key in "abc":
        space.add(f"turn {key}", key, session="chat")
    space.add("turn a, corrected", "a", session="chat")
    assert space.get("a")["place"] == 0
    space.do("update", key="b", session="another")
    assert space.get("b")["place"] == 0 and space.add("d", "d", session="chat")["outcome"] == "added"
    assert space.get("d")["place"] == 3


# ---- expiry ----


def test_what_has_expired_is_gone(space):
    soon = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=1.2)
    stamp = soon.strftime("%Y-%m-%dT%H:%M:%S.") + f"{soon.microsecond // 1000:03}Z"
    for key in "ab":
        space.add(f"fleeting {key}", key, expires_at=stamp, session="chat")
    space.add("lasting", "c", session="chat", expires_at="in 30 days")
    wait_until(lambda: datetime.datetime.now(datetime.timezone.utc) > soon + datetime.timedelta(milliseconds=5))
    assert space.get("a") is None and space.keys("list") == ["c"]
    assert space.found("fleeting") == set() and not {"a", "b"} & set(space.keys("search", query="fleeting"))
    assert space.do("fulltext_search", keywords="fleeting")["pagination"]["total"] == 0
    assert "neighbours" not in space.do("get", key="c", neighbours=5)["results"][0]
    assert "fleeting" not in space.dump()
    space.fail("NOT_FOUND", "update", key="a", text="x")
    # Its key and its text are free, and count as new.
    assert space.add("fleeting b")["outcome"] == "added"
    assert space.add("back", "a")["outcome"] == "added" and space.get("a")["version"] == 1
    space.do("rename", key="c", new_key="b")
    assert space.get("b")["text"] == "lasting"


def test_expiry_is_changed(space):
    space.add("text", "k", expires_at="in 2 days")
    assert "expires_at" in space.get("k")
    space.do("update", key="k", summary="s")
    assert "expires_at" in space.get("k")
    space.do("update", key="k", expires_at="never")
    assert "expires_at" not in space.get("k")


# ---- lists ----


def test_lists_are_newest_first_and_paged(space):
    keys = [f"k{number:02}" for number in range(23)]
    space.load(
        {"key": key, "text": f"text {key}", "created_at": f"2026-01-{number + 1:02}"} for number, key in enumerate(keys)
    )
    assert space.keys("list", limit=100) == keys[::-1]
    got = []
    for offset in range(0, 30, 5):
        data = space.do("list", limit=5, offset=offset)
        assert data["pagination"]["total"] == 23 and data["pagination"]["offset"] == offset
        got += [result["key"] for result in data["results"]]
    assert got == keys[::-1]
    result = space.do("list", limit=1)["results"][0]
    assert result["chars"] == len("text k22") and "text" not in result


@pytest.mark.parametrize(
    "prefix, wanted",
    [
        ("a", ["a", "a%", "a%b", "a_b", "ab"]),
        ("a%", ["a%", "a%b"]),
        ("a_", ["a_b"]),
        ("ab", ["ab"]),
        ("A", ["A"]),
        ("é", ["é1"]),
        ("键", ["键值"]),
        ("nothing", []),
        ("\U0010ffff", ["\U0010ffffx"]),
    ],
)
def test_lists_by_prefix(space, prefix, wanted):
    space.load({"key": key, "text": key} for key in ["a", "a%", "a%b", "a_b", "ab", "A", "b", "é1", "e", "键值", "\U0010ffffx"])
    assert sorted(space.keys("list", prefix=prefix)) == sorted(wanted)
    assert space.do("list", prefix=prefix)["pagination"]["total"] == len(wanted)
    over_rest = space.rest("GET", PATH, {"prefix": prefix}).json()["data"]["results"]
    assert sorted(result["key"] for result in over_rest) == sorted(wanted)


TAGGED = {"a": ["x"], "b": ["x", "y"], "c": ["y", "with, comma"], "d": [], "e": ["xy"], "f": ['"x"', "ü"]}


@pytest.mark.parametrize(
    "tags, wanted",
    [
        (["x"], "ab"),
        (["y"], "bc"),
        (["x", "y"], "b"),
        ("x, y", "b"),
        (["with, comma"], "c"),
        (["xy"], "e"),
        (['"x"'], "f"),
        (["ü"], "f"),
        (["X"], ""),
        (["x", "nothing"], ""),
        (["%"], ""),
        ([], "abcdef"),
    ],
)
def test_filters_by_tag(space, tags, wanted):
    space.load({"key": key, "text": f"words of {key}", "tags": tags} for key, tags in TAGGED.items())
    assert sorted(space.keys("list", tags=tags)) == list(wanted)
    assert sorted(space.keys("search", query="words", tags=tags)) == list(wanted)
    assert space.found("words", tags=tags) == set(wanted)


def week_start(today):
    return today - datetime.timedelta(days=today.weekday())


def moments():
    """Memories at known distances from now, and which of them each filter must find."""
    now = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
    today = now.replace(hour=0, minute=0, second=0)
    day = datetime.timedelta(days=1)
    monday = week_start(today)
    stamps = {
        "now": now,
        "today": today,
        "yesterday": today - day / 2,
        "last monday": monday - 7 * day,
        "last sunday": monday - datetime.timedelta(seconds=1),
        "two weeks ago": monday - 7 * day - datetime.timedelta(seconds=1),
        "old": now - 400 * day,
        "march": datetime.datetime(2024, 3, 15, 12, tzinfo=datetime.timezone.utc),
        "march ends": datetime.datetime(2024, 3, 31, 23, 59, 59, tzinfo=datetime.timezone.utc),
        "april": datetime.datetime(2024, 4, 1, tzinfo=datetime.timezone.utc),
    }
    spans = [
        ({"time": "today"}, today, today + day),
        ({"time": "yesterday"}, today - day, today),
        ({"time": "last week"}, monday - 7 * day, monday),
        ({"time": "la semaine dernière"}, monday - 7 * day, monday),
        ({"time": "上周"}, monday - 7 * day, monday),
        ({"time": "2024年3月"}, stamps["march"].replace(day=1, hour=0), stamps["april"]),
        ({"time": "Q1 2024"}, stamps["march"].replace(month=1, day=1, hour=0), stamps["april"]),
        ({"time": "this week"}, monday, monday + 7 * day),
        ({"time": "2024-03"}, stamps["march"].replace(day=1, hour=0), stamps["april"]),
        ({"time": "2024-03-15"}, stamps["march"].replace(hour=0), stamps["march"].replace(hour=0) + day),
        ({"from": "2024-03-31"}, stamps["march ends"].replace(hour=0, minute=0, second=0), now + day),
        ({"until": "2024-03-31"}, stamps["old"].replace(year=1980), stamps["april"]),
        ({"from": "2024-03-15T12:00:00Z", "until": "2024-03"}, stamps["march"], stamps["april"]),
        ({"from": "yesterday"}, today - day, now + day),
        ({"time": "2023"}, now.replace(year=2023, month=1, day=1), now.replace(year=2023, month=1, day=1)),
    ]
    return stamps, [(given, {key for key, stamp in stamps.items() if start <= stamp < end}) for given, start, end in spans]


def test_filters_by_time(space):
    stamps, filters = moments()
    space.load({"key": key, "text": "words", "created_at": iso(stamp)} for key, stamp in stamps.items())
    for given, wanted in filters:
        assert set(space.keys("list", **given)) == wanted, given
        assert set(space.keys("search", query="words", **given)) == wanted, given
        assert space.found("words", **given) == wanted, given


def test_filters_by_session_and_role(space):
    space.load(
        {"key": f"{session}{role}", "text": "words", "session": session, "role": role}
        for session in "ab"
        for role in ("user", "assistant")
    )
    space.add("words", "none")
    for given, wanted in [
        ({"session": "a"}, {"auser", "aassistant"}),
        ({"role": "user"}, {"auser", "buser"}),
        ({"session": "b", "role": "assistant"}, {"bassistant"}),
        ({"session": "c"}, set()),
    ]:
        assert set(space.keys("list", **given)) == space.found("words", **given) == wanted
        assert set(space.keys("search", query="words", **given)) == wanted


# ---- searches ----

FRUIT = {
    "pie": "An apple pie with cinnamon and sugar.",
    "cake": "A chocolate cake; the recipe wants two eggs and an apple.",
    "soup": "Hot pumpkin soup, without any fruit.",
    "jam": "Plum jam. The jam pot holds two litres of sugar.",
    "cider": "Apples pressed into cider.",
}


@pytest.mark.parametrize(
    "keywords, operator, wanted",
    [
        (["apple"], "OR", {"pie", "cake", "cider"}),
        (["apple", "plum"], "OR", {"pie", "cake", "cider", "jam"}),
        (["apple", "sugar"], "AND", {"pie"}),
        ("apple sugar", "AND", {"pie"}),
        (["apple", "nothing"], "AND", set()),
        (['"apple pie"'], "OR", {"pie"}),
        ('"pie apple"', "OR", set()),
        ('"apple apple"', "OR", set()),
        ('"jam the jam"', "OR", {"jam"}),
        (['"two eggs"', '"jam pot"'], "OR", {"cake", "jam"}),
        (["choco*"], "OR", {"cake"}),
        (["p*"], "AND", {"pie", "soup", "jam", "cider"}),
        (["apple", "-cake"], "AND", {"pie", "cider"}),
        (["sugar", "-plum"], "OR", {"pie"}),
        ("sugar -plum", "OR", {"pie"}),
        (["sugar", '-"jam pot"'], "OR", {"pie"}),
        (["sugar", "-pl*"], "OR", {"pie"}),
        (["APPLE"], "OR", {"pie", "cake", "cider"}),
        (["eggs", "egg"], "AND", {"cake"}),
    ],
)
def test_fulltext(space, keywords, operator, wanted):
    space.load({"key": key, "text": text} for key, text in FRUIT.items())
    data = space.do("fulltext_search", keywords=keywords, operator=operator)
    assert {result["key"] for result in data["results"]} == wanted
    assert data["pagination"]["total"] == len(wanted)
    query = {"keywords": keywords, "operator": operator}
    over_rest = space.rest("GET", PATH + "/fulltext", query).json()["data"]
    if isinstance(keywords, str) or len(keywords) > 1:
        assert {result["key"] for result in over_rest["results"]} == wanted


def test_search_ranks_and_pages(space):
    space.load({"key": key, "text": text} for key, text in FRUIT.items())
    space.load({"key": f"filler {number}", "text": f"Nothing of interest, number {number}."} for number in range(30))
    data = space.do("search", query="How do I make an apple pie with cinnamon?")
    assert data["results"][0]["key"] == "pie"
    relevances = [result["relevance"] for result in data["results"]]
    assert relevances == sorted(relevances, reverse=True) and all(0 <= one <= 1 for one in relevances)
    everything = space.keys("search", query="interest number apple", limit=100)
    assert len(everything) == len(set(everything)) == space.do("search", query="interest number apple")["pagination"]["total"]
    pages = [space.keys("search", query="interest number apple", limit=7, offset=offset) for offset in range(0, 42, 7)]
    assert sum(pages, []) == everything
    over_rest = space.rest("GET", PATH + "/search", {"q": "interest number apple", "limit": 100}).json()["data"]
    assert [result["key"] for result in over_rest["results"]] == everything


def test_searches_answer_in_one_form(space):
    """That of every other call about memories."""
    space.load({"key": key, "text": text} for key, text in FRUIT.items())
    bodies = {
        "add": space.ask("add", text="Pears.", key="pear"),
        "get": space.ask("get", key="pie"),
        "list": space.ask("list", limit=2, offset=1),
        "search": space.ask("search", query="apple sugar", limit=2, offset=1),
        "fulltext_search": space.ask("fulltext_search", keywords="apple sugar", limit=2, offset=1),
    }
    for tool, body in bodies.items():
        assert set(body) == {"success", "data"} and body["success"] is True, tool
    for tool, member, value in (("search", "query", 5), ("fulltext_search", "keywords", 5), ("get", "key", 5)):
        body = space.ask(tool, **{member: value})
        assert set(body) == {"success", "error"} and {"code", "message"} <= set(body["error"]), tool
    for tool in ("list", "search", "fulltext_search"):
        pagination = bodies[tool]["data"]["pagination"]
        assert (pagination["limit"], pagination["offset"]) == (2, 1) and pagination["total"] >= 4
        assert len(bodies[tool]["data"]["results"]) == 2
    for tool in ("search", "fulltext_search"):
        for result in bodies[tool]["data"]["results"]:
            assert {"key", "summary", "excerpt"} <= set(result) and result["summary"] == FRUIT[result["key"]].split(".")[0] + "."
    assert all(0 <= result["relevance"] <= 1 for result in bodies["search"]["data"]["results"])


@pytest.mark.parametrize("keywords", ["apple plum", "apple, plum", "apple,plum", ["apple", "plum"]], ids=str)
def test_keywords_in_any_form(space, keywords):
    """Any of them, unless all are asked for."""
    space.load({"key": key, "text": text} for key, text in FRUIT.items())
    assert set(space.keys("fulltext_search", keywords=keywords)) == {"pie", "cake", "cider", "jam"}
    assert space.keys("fulltext_search", keywords=keywords, operator="AND") == []


def test_a_relevance_means_something(space):
    space.load({"key": key, "text": text} for key, text in FRUIT.items())
    space.load({"key": f"filler {number}", "text": f"Nothing of interest, number {number}."} for number in range(30))
    repeated = space.do("search", query=FRUIT["cake"])["results"][0]
    assert repeated["key"] == "cake" and repeated["relevance"] > 0.95
    unrelated = space.do("search", query="what did the neighbour say about the interest of his bank")["results"]
    assert unrelated and unrelated[0]["relevance"] < 0.2


def test_what_is_asked_for_as_it_stands_comes_first(space):
    space.add("river and bank; the bank of a river, a river bank at the bank of the river", "many words")
    space.add("A long walk. It ended at the bank of the river, where the boats are, some hours after dark.", "phrase")
    space.add("Nothing of that.", "river-bank-walk")
    space.load({"key": f"filler {number}", "text": f"Nothing of interest, number {number}."} for number in range(30))
    for query, key, why in [
        ("ended at the BANK of the river", "phrase", "phrase"),
        ("river bank walk", "river-bank-walk", "phrase"),
        ("river-bank-walk", "river-bank-walk", "key"),
    ]:
        for limit in (1, 10):
            first = space.do("search", query=query, limit=limit, explain=True)["results"][0]
            assert (first["key"], first["explain"]["first_by"]) == (key, why) and first["relevance"] > 0.95


def test_pages_are_of_one_order(space):
    """Also where what holds the question as it stands is so far down that only a later page comes upon it."""
    filler = [" ".join(f"word{(number * 7 + at * 13) % 400}" for at in range(190)) for number in range(2)]
    space.load({"key": f"short {number}", "text": "harbour lantern"} for number in range(14))
    space.load({"key": f"filler {number}", "text": " ".join(filler[0].split()[number : number + 20])} for number in range(40))
    space.add(f"{filler[0]} harbour lantern of {filler[1]}", "whole")
    space.load({"key": f"of {number}", "text": "of the"} for number in range(30))
    pages = [space.keys("search", query="harbour lantern of", limit=10, offset=offset) for offset in (0, 10)]
    assert sorted(sum(pages, [])) == sorted(["whole", *(f"short {number}" for number in range(14))])
    assert space.keys("search", query="harbour lantern of", limit=100) == sum(pages, [])


def test_a_score_is_explained(space):
    for place, text in enumerate(["Which database do we use?", "PostgreSQL, of course.", "And for the cache?"]):
        space.add(text, f"turn {place}", session="chat")
    space.add("The database is old.", "note")
    data = space.do("search", query="database for Atlas", explain=True)
    found = {result["key"]: result for result in data["results"]}
    for result in data["results"]:
        parts = result["explain"]
        whole = sum(parts[name] for name in ("words", "neighbours", "session", "meaning"))
        assert abs(whole - result["score"]) < 0.001 and parts["meaning"] == 0 and "cosine" not in parts
        assert 0 <= parts["share"] <= 1 and "first_by" not in parts
    assert found["turn 0"]["explain"]["words"] > 0 and found["note"]["explain"]["neighbours"] == 0
    silent = found["turn 1"]["explain"]
    assert silent["words"] == silent["share"] == 0 and silent["neighbours"] > 0 and silent["session"] > 0
    over_rest = space.rest("GET", PATH + "/search", {"q": "database for Atlas", "explain": "true"}).json()["data"]
    assert [result["explain"] for result in over_rest["results"]] == [result["explain"] for result in data["results"]]
    assert "explain" not in space.do("search", query="database")["results"][0]


def test_summary_and_tags_are_found(space):
    space.add("nothing to see", "a", summary="The quarterly budget")
    assert space.found("budget") == {"a"} and space.keys("search", query="budget") == ["a"]


def test_totals_are_exact_up_to_ten_thousand(space):
    space.load({"key": f"k{number}", "text": f"common {number}"} for number in range(10_001))
    page = space.do("fulltext_search", keywords="common")["pagination"]
    assert page["total"] == 10_000 and page["total_is_lower_bound"] is True
    page = space.do("list", limit=1)["pagination"]
    assert page["total"] == 10_000 and page["total_is_lower_bound"] is True
    space.do("delete", key="k0")
    for tool, more in [("list", {}), ("fulltext_search", {"keywords": "common"})]:
        page = space.do(tool, **more)["pagination"]
        assert page["total"] == 10_000 and "total_is_lower_bound" not in page, tool


# ---- excerpts ----

UNSAFE = 'Before <script>alert("needle & thread")</script> <b>needle</b> &amp; after'


def test_excerpts_mark_the_hits(space):
    filler = "Words that say nothing at all. " * 200
    space.add(filler + "Here a rare okapi was seen. " + filler, "deep")
    (hit,) = space.do("fulltext_search", keywords="okapi")["results"]
    assert "<mark>okapi</mark>" in hit["excerpt"] and len(hit["excerpt"]) < 1000
    space.add("The text does not say it.", "s", summary="A summary with a narwhal in it")
    (hit,) = space.do("fulltext_search", keywords="narwhal")["results"]
    assert "<mark>narwhal</mark>" in hit["excerpt"]


def test_excerpts_are_html_where_they_are_marked_and_text_otherwise(space):
    space.add(UNSAFE, "unsafe", summary="<i>needle</i>")
    (hit,) = space.do("fulltext_search", keywords="needle")["results"]
    plain = hit["excerpt"].replace("<mark>", "").replace("</mark>", "")
    assert "<" not in plain and ">" not in plain and not re.search(r"&(?!(amp|lt|gt|quot|#39|#x27);)", plain)
    assert UNSAFE.startswith(html.unescape(plain).strip("… ")[:20]) or "needle" in plain
    assert hit["excerpt"].count("<mark>") == hit["excerpt"].count("</mark>")
    assert "<mark>needle</mark>" in hit["excerpt"]
    (hit,) = space.do("search", query="needle thread")["results"]
    assert hit["excerpt"] == UNSAFE


@pytest.mark.parametrize("text", ["needle <mark>fake</mark>", "</mark>needle<mark>", "<mark>needle"])
def test_nobody_can_fake_a_mark(space, text):
    space.add(text, "k", summary="x")
    (hit,) = space.do("fulltext_search", keywords="needle")["results"]
    assert re.findall(r"<mark>(.*?)</mark>", hit["excerpt"]) == ["needle"]
    assert html.unescape(re.sub(r"<mark>needle</mark>", "needle", hit["excerpt"])) == text


# ---- import and export ----


def test_round_trip(space):
    lines = [
        {
            "key": f"key {number} / {'é' * (number % 5)}",
            "summary": f"summary {number}",
            "text": f"text {number}\nwith \"quotes\" and \u2028 {'漢字' * (number % 3)}",
            "tags": ["a", f"t{number % 7}"],
            "metadata": {"number": number, "nested": {"x": [True, None, 1.5]}},
            "session": f"session {number % 10}",
            "place": number // 10,
            "role": "user",
            "created_at": f"2026-01-01T00:{number // 60 % 60:02}:{number % 60:02}.{number % 1000:03}Z".replace(".000Z", "Z"),
            "expires_at": "2126-01-01T00:00:00Z",
        }
        for number in range(2500)
    ]
    data = space.load(lines)
    assert data == {"namespace": space.name, "imported": 2500, "added": 2500, "replaced": 0, "unchanged": 0, "expired": 0, "others": 0}
    exported = space.dump()
    by_key = {line["key"]: line for line in map(json.loads, exported.split("\n")[:-1])}
    assert by_key == {line["key"]: {"namespace": space.name, **line} for line in lines}
    assert [line["key"] for line in map(json.loads, exported.split("\n")[:-1])] == sorted(by_key, key=str.encode)
    copy = Space(space.world, space.name + " copy")
    assert copy.load(exported.encode())["others"] == 2500
    copy.load(exported.replace(json.dumps(space.name), json.dumps(copy.name)).encode())
    assert copy.dump() == exported.replace(json.dumps(space.name), json.dumps(copy.name))
    assert space.load(exported.encode())["unchanged"] == 2500


def test_an_import_without_keys_is_not_added_twice(space):
    lines = [{"text": f"fact {number}"} for number in range(50)] + [{"text": "fact 7"}]
    assert space.load(lines)["added"] == 50
    assert space.load(lines)["added"] == 0 and space.do("list")["pagination"]["total"] == 50


@pytest.mark.parametrize(
    "wrong, naming",
    [
        (b"not json", "literal"),
        (b'{"key":"k"}', "text"),
        (b'{"text":5}', "text"),
        (b'{"text":"x","tags":5}', "tags"),
        (b'{"text":"x","colour":"red"}', "colour"),
        (b'{"text":"x","created_at":"someday"}', "created_at"),
        (b'{"text":"x","key":"search"}', "key"),
        (b'{"text":"\xff"}', ""),
        (b"[]", ""),
    ],
)
def test_a_wrong_line_is_named(space, wrong, naming):
    good = b"".join(b'{"key":"k%d","text":"good %d"}\n' % (number, number) for number in range(1500))
    response = space.rest("POST", PATH + "/import", lines=good + wrong + b"\n" + b'{"text":"after"}\n')
    error = response.json()["error"]
    assert response.status == 400 and error["code"] == "VALIDATION"
    assert error["message"].startswith("line 1501: ") and naming in error["message"]
    assert error["details"] == {"line": 1501, "imported": 0}
    assert space.do("list")["pagination"]["total"] == 0, "nothing is half imported"


def test_export_of_nothing(space):
    assert space.dump() == ""


# ---- wrong parameters ----

WRONG = [
    ("add", {}, "text"),
    ("add", {"text": ""}, "text"),
    ("add", {"text": " \n\t"}, "text"),
    ("add", {"text": "\u00a0\u3000\u200b"}, "text"),
    ("add", {"text": 5}, "text"),
    ("update", {"key": "k", "text": "\n\n"}, "text"),
    ("add", {"text": "x", "key": ""}, "key"),
    ("add", {"text": "x", "key": "k" * 1025}, "key"),
    ("add", {"text": "x", "tags": 5}, "tags"),
    ("add", {"text": "x", "tags": ["a"] * 33}, "tags"),
    ("add", {"text": "x", "tags": [5]}, "tags"),
    ("add", {"text": "x", "metadata": "no object"}, "metadata"),
    ("add", {"text": "x", "metadata": [1]}, "metadata"),
    ("add", {"text": "x", "created_at": "sometime"}, "created_at"),
    ("add", {"text": "x", "expires_at": "sometime"}, "expires_at"),
    ("add", {"text": "x", "place": -1}, "place"),
    ("add", {"text": "x", "if_version": 0}, "if_version"),
    ("add", {"text": "x", "colour": "red"}, "colour"),
    ("get", {"neighbours": 2}, "neighbours"),
    ("get", {"key": "k", "session": "s"}, "session"),
    ("get", {"key": "a", "keys": ["b"]}, "key"),
    ("get", {"keys": []}, "keys"),
    ("get", {"keys": ["k"] * 51}, "keys"),
    ("get", {"key": "a", "neighbours": 11}, "neighbours"),
    ("update", {"text": "x"}, "key"),
    ("update", {"key": "k", "if_version": "1"}, "if_version"),
    ("rename", {"key": "k"}, "new_key"),
    ("rename", {"new_key": "k"}, "key"),
    ("delete", {}, "key"),
    ("delete", {"keys": "k"}, "keys"),
    ("list", {"limit": 0}, "limit"),
    ("list", {"limit": 101}, "limit"),
    ("list", {"offset": -1}, "offset"),
    ("list", {"time": "someday soon"}, "time"),
    ("list", {"from": "yesteryear"}, "from"),
    ("search", {}, "query"),
    ("search", {"query": ""}, "query"),
    ("search", {"query": "x" * 4001}, "query"),
    ("search", {"query": "x", "until": "13/13/13"}, "until"),
    ("search", {"query": "x", "limit": 1.5}, "limit"),
    ("fulltext_search", {}, "keywords"),
    ("fulltext_search", {"keywords": []}, "keywords"),
    ("fulltext_search", {"keywords": "?!"}, "keywords"),
    ("fulltext_search", {"keywords": "-only -excluded"}, "keywords"),
    ("fulltext_search", {"keywords": "x", "operator": "XOR"}, "operator"),
    ("stats", {"colour": "red"}, "colour"),
]


@pytest.mark.parametrize(
    "tool, given, naming", [pytest.param(*row, id=f"{row[0]}-{row[2]}-{number}") for number, row in enumerate(WRONG)]
)
def test_wrong_parameters_are_named(space, tool, given, naming):
    assert re.search(rf"\b{naming}\b", space.fail("VALIDATION", tool, **given))
    assert space.keys("list") == []


@pytest.mark.parametrize("name", ["", "n" * 257, 5])
def test_wrong_namespaces_are_named(world, name):
    body = world.tool("memory_list", {"namespace": name})
    assert body["error"]["code"] == "VALIDATION" and "namespace" in body["error"]["message"]


def test_wrong_paths(space):
    for method, path, status in [
        ("GET", PATH + "/%ff", 400),
        ("GET", PATH + "/a%00b", 400),
        ("GET", path_of("nobody"), 404),
        ("PATCH", PATH, 405),
        ("DELETE", PATH, 405),
    ]:
        response = space.rest(method, path, body={"text": "x"} if method == "PATCH" else None)
        assert response.status == status, (method, path, response)


# ---- several processes ----


def test_a_write_is_found_by_the_next_call(space):
    """Whoever is asked next, whatever it had read before."""
    for number in range(30):
        space.add(f"fact number{number}", f"k{number}")
        assert space.found(f"number{number}") == {f"k{number}"}
        assert len(space.found("fact")) == number + 1
        if number % 3 == 2:
            space.do("update", key=f"k{number}", text=f"fact revised{number}")
            assert space.found(f"number{number}") == set() and space.found(f"revised{number}") == {f"k{number}"}
        if number % 5 == 4:
            space.do("delete", key=f"k{number}")
            assert space.found(f"number{number}", f"revised{number}") == set()
            space.add(f"fact again{number}", f"k{number}")


def test_many_writers_meet_no_lock(space):
    """No call fails because another writes at the same time."""
    quiet = Space(space.world.without_clients(), space.name)
    problems = []

    def write(writer):
        try:
            for number in range(15):
                quiet.add(f"writer {writer} number {number}", f"{writer}/{number}")
                if number % 4 == 3:
                    quiet.do("delete", key=f"{writer}/{number - 1}")
        except BaseException as error:
            problems.append(error)

    started = time.monotonic()
    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems, (problems, time.monotonic() - started)
    assert space.do("list")["pagination"]["total"] == 8 * (15 - 3)
