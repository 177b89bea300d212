"""Moving memories: exports and imports of everything or of a part, namespaces, and the files of other programs."""

import json
import pathlib
import stat

import pytest
from conftest import ALICE
from memory_world import PATH, ask, check_store, over_rest, postgres  # noqa: F401 (a fixture)
from programs import Server, run

IMPORTS = pathlib.Path(__file__).parent / "imports"


class Store:
    """A store of its own, by its command line."""

    def __init__(self, **settings):
        self.settings = settings

    def run(self, *words, stdin=b"", **more):
        return run("memory", *words, stdin=stdin, **self.settings, **more)

    def do(self, *words, **more):
        completed = self.run(*words, **more)
        assert completed.returncode == 0, completed
        return completed

    def add(self, text, key, namespace=None, *more):
        self.do("add", text, "--key", key, *(["--namespace", namespace] if namespace else []), *more)

    def lines(self, *words):
        return [json.loads(line) for line in self.do("export", *words).stdout.splitlines()]

    def load(self, content, *words):
        text = content if isinstance(content, str) else "".join(json.dumps(line) + "\n" for line in content)
        return self.run("import", *words, stdin=text.encode())

    def namespaces(self):
        found = json.loads(self.do("namespaces", "--json").stdout)["data"]["namespaces"]
        return {one["name"]: one["memories"] for one in found}


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request, tmp_path):
    settings = {"FORAGE_DATA_DIR": tmp_path / "data"}
    if request.param == "postgresql":
        settings["FORAGE_DATABASE_URL"] = request.getfixturevalue("postgres").database()
    yield Store(**settings)
    check_store(settings)


@pytest.fixture
def small(tmp_path):
    """A store in a file, for what is the same in both databases."""
    return Store(FORAGE_DATA_DIR=tmp_path / "data")


def fill(store):
    for namespace, count in {"default": 2, "notes": 3, "work": 1}.items():
        for number in range(count):
            store.add(f"{namespace} {number}", f"k{number}", namespace, "--tags", "a,b")


# ---- everything, and parts ----


def test_an_export_has_everything(store, tmp_path):
    fill(store)
    path = tmp_path / "all.jsonl"
    done = store.do("export", path)
    assert done.stdout == "" and done.stderr == "6 of 6 memories, 3 of 3 namespaces\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    places = [(line["namespace"], line["key"]) for line in lines]
    assert places == [("default", "k0"), ("default", "k1"), ("notes", "k0"), ("notes", "k1"), ("notes", "k2"), ("work", "k0")]
    assert all("caller" not in line for line in lines)
    copy = Store(FORAGE_DATA_DIR=tmp_path / "copy")
    assert copy.do("import", path).stdout == "6 of 6 memories: 6 added, 0 replaced, 0 unchanged\n"
    assert copy.do("export").stdout == path.read_text()
    assert copy.do("import", path).stdout == "6 of 6 memories: 0 added, 0 replaced, 6 unchanged\n"


def test_a_namespace_narrows_an_export(store):
    fill(store)
    done = store.do("export", "--namespace", "notes")
    assert [json.loads(line)["text"] for line in done.stdout.splitlines()] == ["notes 0", "notes 1", "notes 2"]
    assert done.stderr.startswith("3 of 6 memories, 1 of 3 namespaces") and "--namespace" in done.stderr
    nothing = store.do("export", "--namespace", "nothing")
    assert nothing.stdout == "" and nothing.stderr.startswith("0 of 6 memories, 0 of 3 namespaces")


def test_a_namespace_narrows_an_import(store):
    lines = [{"key": "a", "text": "one", "namespace": "x"}, {"key": "b", "text": "two", "namespace": "y"}, {"key": "c", "text": "three"}]
    done = store.load(lines, "--namespace", "x")
    assert done.returncode == 0 and done.stdout.startswith("2 of 3 memories: 2 added"), done
    assert "1 more were left out: they are of other namespaces" in done.stdout
    assert store.namespaces() == {"x": 2}
    assert store.load(lines).stdout.startswith("3 of 3 memories: 2 added, 0 replaced, 1 unchanged")
    assert store.namespaces() == {"x": 2, "y": 1, "default": 1}


def test_an_import_into_another_namespace(store):
    fill(store)
    exported = store.do("export", "--namespace", "notes").stdout
    assert store.load(exported, "--into", "copy").stdout.startswith("3 of 3 memories: 3 added")
    assert store.namespaces() == {"default": 2, "notes": 3, "work": 1, "copy": 3}


def test_many_namespaces_at_once(store):
    """More than are read at a time, in no order, in one import."""
    lines = [{"key": f"k{n}", "text": f"text {n}", "namespace": f"n{n * 7 % 150:03}"} for n in range(1500)]
    assert store.load(lines).stdout.startswith("1500 of 1500 memories: 1500 added")
    assert store.namespaces() == {f"n{n:03}": 10 for n in range(150)}
    exported = store.lines()
    assert len(exported) == 1500
    assert [line["namespace"] for line in exported] == sorted(line["namespace"] for line in exported)


def test_namespaces_are_listed(store):
    empty = store.do("namespaces")
    assert empty.stdout == "" and "no memories" in empty.stderr
    fill(store)
    assert store.do("namespaces").stdout == "       2  default\n       3  notes\n       1  work\n"
    listed = json.loads(store.do("namespaces", "--json").stdout)["data"]["namespaces"]
    assert listed[0] == {"name": "default", "memories": 2, "shared": False, "caller": "local"}


# ---- callers ----


@pytest.fixture
def callers(store):
    """A store in which Alice has memories of her own, and shares some."""
    store.settings.update(FORAGE_SHARED_NAMESPACES="team")
    store.add("mine", "k")
    with Server(**store.settings, FORAGE_TOKENS=f"alice:{ALICE}") as server:
        for namespace in ("default", "team"):
            assert over_rest(server.port, "memory_add", {"text": "hers", "key": "k", "namespace": namespace}, ALICE)["success"]
        yield store, server


def test_the_operator_moves_the_memories_of_all_callers(callers, tmp_path):
    store, _ = callers
    assert store.do("export").stderr == "3 of 3 memories, 3 of 3 namespaces\n"
    places = {(line.get("caller"), line["namespace"]): line["text"] for line in store.lines()}
    assert places == {(None, "team"): "hers", ("alice", "default"): "hers", (None, "default"): "mine"}
    assert store.do("namespaces").stdout == "       1  team  shared\n       1  default  of alice\n       1  default\n"
    copy = Store(FORAGE_DATA_DIR=tmp_path / "copy", FORAGE_SHARED_NAMESPACES="team")
    exported = store.do("export").stdout
    assert copy.load(exported).returncode == 0 and copy.do("export").stdout == exported
    assert copy.do("get", "k").stdout == "mine\n"


def test_a_caller_sees_and_moves_only_its_own(callers):
    store, server = callers
    body = ask(server.port, "GET", PATH + "/export", token=ALICE).body.decode()
    assert {(line["namespace"], line["text"]) for line in map(json.loads, body.splitlines())} == {("default", "hers"), ("team", "hers")}
    assert "mine" not in body and "caller" not in body
    line = [{"text": "planted", "key": "planted", "caller": "local"}]
    answer = ask(server.port, "POST", PATH + "/import", lines=line, token=ALICE)
    assert answer.status == 400 and answer.json()["error"]["message"].startswith("line 1: it belongs to the caller")
    assert store.run("get", "planted").returncode == 1


def test_what_is_hidden_is_counted_and_said(callers):
    """A namespace that is shared no longer is nobody's: it stays where it is, and the export says so."""
    store, _ = callers
    store.settings.update(FORAGE_SHARED_NAMESPACES="")
    done = store.do("export")
    assert done.stderr.startswith("2 of 3 memories, 2 of 3 namespaces") and "FORAGE_SHARED_NAMESPACES" in done.stderr
    assert "hidden" in store.do("namespaces").stdout


def test_rest_moves_every_namespace_of_the_caller(store):
    fill(store)
    with Server(**store.settings) as server:
        everything = ask(server.port, "GET", PATH + "/export").body
        assert [json.loads(line)["namespace"] for line in everything.splitlines()] == ["default"] * 2 + ["notes"] * 3 + ["work"]
        part = ask(server.port, "GET", PATH + "/export", {"namespace": "work"}).body
        assert [json.loads(line)["text"] for line in part.splitlines()] == ["work 0"]
        data = ask(server.port, "POST", PATH + "/import", {"into": "copy"}, lines=part).json()["data"]
        assert data["added"] == 1 and data["namespace"] == "copy"
        data = ask(server.port, "POST", PATH + "/import", {"namespace": "notes"}, lines=everything).json()["data"]
        assert (data["imported"], data["unchanged"], data["others"]) == (3, 3, 3)
        graph = (IMPORTS / "server-memory.jsonl").read_bytes()
        data = ask(server.port, "POST", PATH + "/import", {"into": "graph"}, lines=graph).json()["data"]
        assert data["added"] == 6
        refused = ask(server.port, "POST", PATH + "/import", {"format": "csv"}, lines=part).json()["error"]
        assert "forage, graph, mem0 or claude" in refused["message"]
        refused = ask(server.port, "GET", PATH + "/export", {"format": "csv"}).json()["error"]
        assert '"format"' in refused["message"]


# ---- nothing is half imported ----


@pytest.mark.parametrize("wrong", [b"not json", b'{"text":5}', b'{"text":"x","colour":"red"}', b'{"text":"x","namespace":5}', b"[]"])
def test_where_a_line_is_wrong_nothing_is_imported(store, wrong):
    good = b"".join(b'{"key":"k%d","text":"good %d","namespace":"n%d"}\n' % (n, n, n % 3) for n in range(2500))
    done = store.run("import", stdin=good + wrong + b"\n" + wrong + b'\n{"text":"after"}\n')
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("forage: line 2501: ") and "\nline 2502: " in done.stderr
    assert done.stderr.endswith("forage: 2 wrong; nothing was imported\n")
    assert store.namespaces() == {}


def test_a_file_with_a_thousand_wrong_lines_names_twenty(small):
    done = small.load("{}\n" * 1000)
    assert done.returncode == 1 and done.stderr.count("text is missing") == 20 and "1000 wrong" in done.stderr


def test_an_array_that_was_cut_off_is_refused(small):
    whole = json.dumps([{"text": f"memory {n}"} for n in range(3000)])
    for cut in (1, 20, len(whole) // 2, len(whole) - 1):
        done = small.load(whole[:cut])
        assert done.returncode == 1 and "a part of it is missing" in done.stderr, cut
    assert "follows the end" in small.load(whole + "{}").stderr
    assert small.namespaces() == {}
    assert small.load(whole).stdout.startswith("3000 of 3000 memories: 3000 added")


def test_a_pipe_and_a_file_give_the_same(small, tmp_path):
    lines = "".join(json.dumps({"key": f"k{n}", "text": "word " * 20}) + "\n" for n in range(3000))
    path = tmp_path / "lines.jsonl"
    path.write_text(lines)
    assert small.do("import", path).stdout.startswith("3000 of 3000 memories: 3000 added")
    assert small.load(lines).stdout.startswith("3000 of 3000 memories: 0 added, 0 replaced, 3000 unchanged")
    missing = small.run("import", tmp_path / "nothing")
    assert missing.returncode == 1 and "No such file" in missing.stderr
    folder = small.run("import", tmp_path)
    assert folder.returncode == 1 and folder.stderr == f"forage: {tmp_path}: Is a directory\n"
    counted = json.loads(small.do("import", path, "--json").stdout)["data"]
    assert counted == {"imported": 3000, "added": 0, "replaced": 0, "unchanged": 3000, "expired": 0, "others": 0}


# ---- the files of other programs ----

ADA = (
    "Ada Lovelace (person)\n- Wrote the Analytical Engine's first program\n- Prefers letters to calls\n"
    "- Born in 1815\nin London"
)


@pytest.mark.parametrize("name", ["server-memory.jsonl", "read-graph.json"])
def test_the_graph_of_server_memory(store, name):
    assert store.do("import", IMPORTS / name).stdout == "6 of 6 memories: 6 added, 0 replaced, 0 unchanged\n"
    by_key = {line["key"]: line for line in store.lines()}
    ada = by_key["Ada Lovelace"]
    assert ada["text"] == ADA and ada["tags"] == ["person"]
    assert ada["metadata"] == {"type": "entity", "entityType": "person"}
    relation = by_key["Ada Lovelace wrote_for Analytical Engine"]
    assert relation["text"] == "Ada Lovelace wrote_for Analytical Engine" and relation["tags"] == ["relation"]
    assert relation["metadata"]["from"] == "Ada Lovelace" and relation["metadata"]["relationType"] == "wrote_for"
    assert by_key["search-tool"]["text"] == "search (tool)", "a key that is reserved is made anew"
    assert "東京" in by_key
    assert store.do("import", IMPORTS / name).stdout.endswith("6 unchanged\n")
    assert "Ada Lovelace" in store.do("search", "who prefers letters").stdout


def test_an_odd_line_of_a_graph_is_named(small):
    graph = (IMPORTS / "server-memory.jsonl").read_text().rstrip("\n")
    done = small.load(graph + '\n{"type":"note","body":"x"}\n{"type":"entity","name":"a","entityType":"b","observations":[5]}')
    assert done.returncode == 1 and "line 7: it is neither an entity" in done.stderr and "line 8: an observation" in done.stderr
    assert small.namespaces() == {}


MEM0 = {
    "id": "892db2ae-06d9-49e5-8b3e-585ef9b85b8e",
    "memory": "Name is Alex. Likes basketball.",
    "hash": "5a1b",
    "metadata": {"source": "chat"},
    "categories": ["personal", "sports"],
    "created_at": "2024-07-26T10:29:36.630547-07:00",
    "updated_at": None,
    "user_id": "alex",
    "run_id": "talk 1",
    "score": 0.3,
}
OPENMEMORY = {
    "id": "3f0c",
    "content": "Drinks tea",
    "metadata": {},
    "created_at": "2025-05-01T12:00:00+00:00",
    "updated_at": "2025-05-02T12:00:00+00:00",
    "state": "active",
    "app": "cursor",
    "categories": ["food"],
}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([MEM0]),
        json.dumps({"results": [MEM0]}),
        json.dumps({"results": [MEM0], "relations": []}, indent=2),
        json.dumps(MEM0) + "\n",
    ],
    ids=["array", "results", "pretty", "lines"],
)
def test_mem0(small, text):
    done = small.load(text)
    assert done.returncode == 0 and done.stdout.startswith("1 of 1 memories: 1 added"), done
    (line,) = small.lines()
    assert line["key"] == MEM0["id"] and line["text"] == MEM0["memory"] and line["tags"] == MEM0["categories"]
    assert line["created_at"].startswith("2024-07-26T17:29:36") and line["session"] == "talk 1"
    assert line["metadata"] == {"source": "chat", "user_id": "alex"}


def test_openmemory(small):
    gone = {**OPENMEMORY, "id": "gone", "state": "deleted"}
    assert small.load([OPENMEMORY, gone]).stdout.startswith("1 of 1 memories: 1 added")
    (line,) = small.lines()
    assert line["text"] == "Drinks tea" and line["tags"] == ["food"] and line["metadata"] == {"app": "cursor"}
    backup = {"user": {"id": "u", "name": "memories"}, "apps": [{"id": "a"}], "categories": [], "memories": [OPENMEMORY], "status_history": [{"id": "x"}]}
    assert small.load(json.dumps(backup, indent=2)).stdout.startswith("1 of 1 memories: 0 added, 0 replaced, 1 unchanged")


TALK = {
    "uuid": "c-1",
    "name": "Baking",
    "created_at": "2025-01-01T10:00:00.000000Z",
    "account": {"uuid": "a-1"},
    "chat_messages": [
        {"uuid": "m-1", "text": "How hot?", "sender": "human", "created_at": "2025-01-01T10:00:00.000000Z", "content": []},
        {"uuid": "m-2", "text": "", "sender": "assistant", "created_at": "2025-01-01T10:00:05Z",
         "content": [{"type": "text", "text": "230 degrees."}, {"type": "tool_use", "name": "x"}, {"type": "text", "text": "Less for rye."}]},
        {"uuid": "m-3", "text": "", "sender": "human", "content": [], "files": [{"file_name": "a.png"}]},
    ],
}
REMEMBERED = {"conversations_memory": "**Work**\n\nBakes.", "project_memories": {"p-1": "Rye only."}, "account_uuid": "a-1"}


def test_conversations_of_claude(small):
    done = small.load(json.dumps([TALK, {**TALK, "uuid": "c-2", "chat_messages": []}], indent=1))
    assert done.returncode == 0 and done.stdout.startswith("2 of 2 memories: 2 added"), done
    first, second = small.lines()
    assert (first["key"], first["text"], first["role"], first["session"], first["place"]) == ("claude-m-1", "How hot?", "user", "c-1", 0)
    assert second["text"] == "230 degrees.\n\nLess for rye." and second["role"] == "assistant" and second["place"] == 1
    assert first["metadata"] == {"conversation": "Baking"} and first["created_at"] == "2025-01-01T10:00:00Z"


@pytest.mark.parametrize("text", [json.dumps([REMEMBERED]), json.dumps(REMEMBERED, indent=2), json.dumps(REMEMBERED)])
def test_what_claude_remembers(small, text):
    assert small.load(text).stdout.startswith("2 of 2 memories: 2 added")
    by_key = {line["key"]: line["text"] for line in small.lines()}
    assert by_key == {"claude-memory-a-1": "**Work**\n\nBakes.", "claude-project-p-1": "Rye only."}


def test_a_long_conversation_is_more_than_a_transaction(small):
    messages = [{"uuid": f"m{n}", "text": f"said {n}", "sender": "human"} for n in range(2500)]
    done = small.load(json.dumps([{**TALK, "chat_messages": messages}]))
    assert done.stdout.startswith("2500 of 2500 memories: 2500 added"), done


def test_arrays_of_forage_and_of_texts(small):
    assert small.load(json.dumps([{"key": "a", "text": "one", "namespace": "x"}, "two"])).stdout.startswith("2 of 2 memories: 2 added")
    assert {(line["namespace"], line["text"]) for line in small.lines()} == {("x", "one"), ("default", "two")}
    assert small.load("[]").stdout.startswith("0 of 0 memories") and small.load("").stdout.startswith("0 of 0 memories")


def test_a_format_can_be_forced(small):
    line = json.dumps({"memory": "x", "text": "y"})
    assert '"memory"' in small.load(line, "--format", "forage").stderr
    assert small.load(line, "--format", "mem0").stdout.startswith("1 of 1")
    assert "neither an entity" in small.load(line, "--format", "graph").stderr
    assert "neither a conversation" in small.load(line, "--format", "claude").stderr
    assert small.run("import", "--format", "csv").returncode == 2
