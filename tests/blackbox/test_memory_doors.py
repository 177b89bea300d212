"""What every door refuses alike: names of namespaces that are too long, and memories that would be gone at once."""

import datetime
import json

import pytest
from memory_world import PATH, path_of, postgres, space, world  # noqa: F401 (fixtures)
from programs import ROOT, wait_until

LONGEST = 256  # characters of a namespace
PAST = ["yesterday", "2020-01-01", "1970-01-01T00:00:00.001Z"]


def stamp(seconds):
    """A time so many seconds from now."""
    moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03}Z"


# ---- memories that would be gone at once ----


@pytest.mark.parametrize("moment", PAST)
def test_an_expiry_in_the_past_is_refused(space, moment):
    space.add("there already", "k", tags=["a"])
    refusals = [
        space.fail("VALIDATION", "add", text="gone at once", expires_at=moment),
        space.fail("VALIDATION", "add", text="gone at once", key="k", expires_at=moment),
        space.fail("VALIDATION", "update", key="k", expires_at=moment),
        space.rest("PUT", path_of("k"), body={"text": "gone at once", "expires_at": moment}).json()["error"]["message"],
        space.rest("PATCH", path_of("k"), body={"expires_at": moment}).json()["error"]["message"],
    ]
    assert all("expires_at" in words and "past" in words for words in refusals)
    done = space.world.command("add", "gone at once", "--expires-at", moment, "--namespace", space.name)
    assert done.returncode == 1 and "past" in done.stderr and not done.stdout
    assert space.get("k")["text"] == "there already" and space.get("k")["version"] == 1
    assert space.keys("list") == ["k"]


def test_an_import_leaves_out_what_has_expired(space):
    """An old export may hold it: the rest of the file is good."""
    lines = [{"key": f"k{n}", "text": f"text {n}", **({"expires_at": "2020-01-01"} if n % 2 else {})} for n in range(7)]
    data = space.load(lines)
    assert data == {"namespace": space.name, "imported": 4, "added": 4, "replaced": 0, "unchanged": 0, "expired": 3, "others": 0}
    assert sorted(space.keys("list")) == ["k0", "k2", "k4", "k6"]
    text = "".join(json.dumps(line) + "\n" for line in lines).encode()
    done = space.world.command("import", "--namespace", space.name, stdin=text)
    assert done.returncode == 0 and "3 more were left out: they have expired" in done.stdout, done


BLANKS = [" ", "\n\n", "\t\r\n ", "\u00a0", "\u3000\u200b"]


@pytest.mark.parametrize("text", BLANKS)
def test_a_blank_text_is_refused(space, text):
    """A memory without words could never be found, and an export that holds one could not be imported."""
    space.add("there already", "k")
    refusals = [
        space.fail("VALIDATION", "add", text=text),
        space.fail("VALIDATION", "add", text=text, key="k"),
        space.fail("VALIDATION", "update", key="k", text=text),
        space.rest("PUT", path_of("k"), body={"text": text}).json()["error"]["message"],
        space.rest("PATCH", path_of("k"), body={"text": text}).json()["error"]["message"],
    ]
    assert all(words.startswith("text is blank") for words in refusals), refusals
    done = space.world.command("add", text, "--namespace", space.name)
    assert done.returncode == 1 and "blank" in done.stderr and not done.stdout, done
    assert space.keys("list") == ["k"] and space.get("k")["version"] == 1


def test_an_export_of_an_older_version_with_blank_memories(space):
    """All its other memories are imported, and the lines of the blank ones are named."""
    lines = [{"key": f"k{n}", "text": f"text {n}"} for n in range(5)]
    lines[1] = {"namespace": space.name, "key": "memory", "summary": "", "text": "   ", "created_at": "2026-01-01T00:00:00Z"}
    lines[3] = {"namespace": space.name, "key": "memory-2", "summary": "", "text": "\n\n", "created_at": "2026-01-01T00:00:00Z"}
    data = space.load(lines)
    assert data["imported"] == data["added"] == 3 and data["blank"] == 2 and data["blank_lines"] == [2, 4]
    assert sorted(space.keys("list")) == ["k0", "k2", "k4"]
    text = "".join(json.dumps(line) + "\n" for line in lines).encode()
    done = space.world.command("import", "--namespace", space.name, stdin=text)
    assert done.returncode == 0 and done.stdout.startswith("3 of 5 memories: 0 added, 0 replaced, 3 unchanged\n"), done
    assert done.stdout.endswith("line 2 was left out: its text is blank\nline 4 was left out: its text is blank\n"), done
    array = space.world.command("import", "--namespace", space.name, "--json", stdin=json.dumps(lines * 6).encode())
    counted = json.loads(array.stdout)["data"]
    assert counted["blank"] == 12 and counted["blank_lines"][:3] == [2, 4, 7] and counted["unchanged"] == 18
    assert space.world.command("import", stdin=space.dump().encode()).stdout.startswith("3 of 3 memories")


def test_an_expiry_that_is_near_is_taken(space):
    for seconds in (1.5, 6, 24):  # longer where the machine is too busy to look in time
        added = space.ask("add", text="a moment", key="k", expires_at=stamp(seconds))
        found = space.get("k")
        if found:
            break
    assert added["success"] and found["text"] == "a moment"
    wait_until(lambda: space.get("k") is None)


# ---- names of namespaces ----


def ways_in(world, name):
    """What each door says of a namespace: whether it takes it, and its words."""
    given = {
        "search": {"query": "x"},
        "fulltext_search": {"keywords": "x"},
        "get": {"keys": ["k"]},
        "list": {},
        "add": {"text": "x", "key": "k"},
        "update": {"key": "k", "text": "y"},
        "rename": {"key": "k", "new_key": "l"},
        "delete": {"keys": ["l"]},
        "stats": {},
    }
    for tool, arguments in given.items():
        body = world.tool("memory_" + tool, {**arguments, "namespace": name})
        yield tool, body["success"], json.dumps(body, ensure_ascii=False)
    for method, path, more in [
        ("GET", PATH, {}),
        ("GET", PATH + "/export", {}),
        ("POST", PATH + "/import", {"lines": [{"text": "x", "key": "m"}]}),
        ("PUT", path_of("m"), {"body": {"text": "y"}}),
    ]:
        response = world.rest(method, path, {"namespace": name}, **more)
        yield f"{method} {path}", response.status == 200, response.body.decode()
    for words, stdin in [
        (["import"], b'{"text":"x","key":"n"}\n'),
        (["export"], b""),
        (["add", "y", "--key", "n"], b""),
        (["get", "n"], b""),
        (["list"], b""),
        (["search", "y"], b""),
        (["delete", "n"], b""),
    ]:
        done = world.command(*words, "--namespace", name, stdin=stdin)
        yield f"forage memory {words[0]}", done.returncode == 0, done.stderr


@pytest.mark.parametrize("letter", ["n", "ü", "文", "🙂"])
def test_every_door_takes_namespaces_of_the_same_length(world, letter):
    for door, taken, words in ways_in(world, letter * LONGEST):
        assert taken, (door, words)
    for door, taken, words in ways_in(world, letter * (LONGEST + 1)):
        assert not taken and "namespace" in words and str(LONGEST) in words, (door, words)


def test_the_definitions_say_the_same():
    for path in sorted((ROOT / "src" / "tools").glob("memory_*.json")):
        schema = json.loads(path.read_text())["inputSchema"]["properties"]["namespace"]
        assert (schema["minLength"], schema["maxLength"]) == (1, LONGEST), path
