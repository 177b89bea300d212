"""Memories found by what they mean: vectors of an endpoint are made in the background, stored, searched and joined with
words; what goes wrong with the endpoint is told and costs no result."""

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import time

import pytest
from fakes.embeddings import KEY, MODELS, Embeddings, error
from fakes.service import Reply
from memory_world import KINDS, Space, check_store, over_rest, postgres, world_of  # noqa: F401 (fixtures)
from programs import ROOT, Server, run, wait_until

NOTES = {
    "mia": "Mia gets a bad reaction to peanuts.",
    "tyres": "The vehicle needs new tyres before winter.",
    "home": "The mortgage runs until 2031.",
    "tea": "Green tea is in the upper drawer.",
}


@pytest.fixture
def fake():
    with Embeddings() as fake:
        yield fake


def settings_of(fake, folder, **more):
    return {
        "FORAGE_DATA_DIR": folder,
        "FORAGE_EMBEDDINGS_URL": fake.base_url,
        "FORAGE_EMBEDDINGS_KEY": KEY,
        "FORAGE_EMBEDDINGS_MODEL": "small",
        **more,
    }


@pytest.fixture
def settings(fake, tmp_path):
    return settings_of(fake, tmp_path / "data")


@pytest.fixture(params=KINDS)
def store(request, fake, tmp_path):
    """The settings of each kind of store, and its kind."""
    settings = settings_of(fake, tmp_path / "data")
    if request.param == "postgresql":
        settings["FORAGE_DATABASE_URL"] = request.getfixturevalue("postgres").database()
    return request.param, settings


@pytest.fixture
def forage(settings):
    with Server(**settings) as server:
        yield server


def tool(server, name, **arguments):
    body = over_rest(server.port, f"memory_{name}", arguments)
    assert body["success"] is True, body
    return body["data"]


def fill(server, notes=NOTES, **more):
    for key, text in notes.items():
        tool(server, "add", key=key, text=text, **more)


def counts(server, name="default"):
    (space,) = [one for one in tool(server, "stats")["namespaces"] if one["name"] == name]
    return space["embedded"], space["memories"]


def settle(server, name="default"):
    """Waits until every memory has its vectors."""

    def settled():
        embedded, memories = counts(server, name)
        return embedded == memories

    wait_until(settled)


def store_file(settings):
    return settings["FORAGE_DATA_DIR"] / "memory.db"


def keys(data):
    return [result["key"] for result in data["results"]]


# ---- the fake ----

NODE = """
const { default: OpenAI } = await import(process.argv[1] + '/openai/index.mjs');
const [url, key] = process.argv.slice(2);
const client = new OpenAI({ apiKey: key, baseURL: url, maxRetries: 0 });
const made = await client.embeddings.create({ model: 'small', input: ['a kid', 'a child'], encoding_format: 'float' });
const plain = await client.embeddings.create({ model: 'large', input: 'one text', encoding_format: 'float' });
const errors = [];
for (const [apiKey, model, input] of [['wrong', 'small', 'a'], [key, 'unknown', 'a'], [key, 'small', ['']]]) {
    const other = new OpenAI({ apiKey, baseURL: url, maxRetries: 0 });
    await other.embeddings.create({ model, input, encoding_format: 'float' }).catch((error) => errors.push(error.status));
}
console.log(JSON.stringify({ lengths: made.data.map((one) => one.embedding.length), indexes: made.data.map((one) => one.index),
    large: plain.data[0].embedding.length, tokens: made.usage.prompt_tokens, model: made.model, errors }));
"""


def test_the_fake_speaks_with_the_openai_package(fake):
    modules = ROOT / ".deps" / "node" / "node_modules"
    node = shutil.which("node", path=f"{ROOT / '.deps' / 'bin'}:{os.environ['PATH']}")
    assert node and (modules / "openai").exists(), "scripts/setup test installs the openai package"
    completed = subprocess.run(
        [node, "--input-type=module", "-e", NODE, str(modules), fake.base_url, KEY],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr
    assert json.loads(completed.stdout) == {
        "lengths": [MODELS["small"]] * 2,
        "indexes": [0, 1],
        "large": MODELS["large"],
        "tokens": 4,
        "model": "small",
        "errors": [401, 404, 400],
    }


# ---- finding ----


def test_found_by_what_it_means(store, fake):
    kind, settings = store
    with world_of(kind, settings) as world:
        space = Space(world, "notes")
        for key, text in NOTES.items():
            space.add(text, key)
        wait_until(lambda: space.do("stats")["namespaces"][0]["embedded"] == len(NOTES))
        for query, key in {"nut allergy": "mia", "the automobile": "tyres", "loan": "home", "green tea": "tea"}.items():
            data = space.do("search", query=query)
            assert data["results"][0]["key"] == key and data["ranked_by"] == "words and meaning", (query, data)
            assert "note" not in data and data["results"][0]["excerpt"]
        # What changes or goes is not found by what it meant.
        space.add("Nothing of interest here.", "mia")
        space.do("delete", keys=["tyres"])
        space.add("A checkup because of the daughter's reaction.", "visit")
        wait_until(lambda: space.do("stats")["namespaces"][0]["embedded"] == len(NOTES))
        assert space.keys("search", query="nut allergy")[0] == "visit"
        assert "tyres" not in space.keys("search", query="automobile")
        # Key and tags are part of what a memory means; what is neither leaves the vectors as they are.
        space.do("rename", key="tea", new_key="kitchen-car")
        space.do("update", key="home", tags=["kid"])
        wait_until(lambda: space.do("stats")["namespaces"][0]["embedded"] == len(NOTES))
        assert space.keys("search", query="automobile")[0] == "kitchen-car"
        assert set(space.keys("search", query="daughter", limit=2)) == {"home", "visit"}
        asked = fake.texts()
        assert {f"kitchen car: {NOTES['tea']}", f"home (kid): {NOTES['home']}"} < set(asked)
        space.do("update", key="home", metadata={"checked": True})
        assert space.do("stats")["namespaces"][0]["embedded"] == len(NOTES)
        assert space.keys("search", query="daughter", limit=2)
        assert set(fake.texts()[len(asked) :]) <= {"daughter"}
    check_store(settings)


def test_what_meaning_brought_is_explained(settings, forage):
    fill(forage)
    settle(forage)
    data = tool(forage, "search", query="nut allergy", explain=True)
    for result in data["results"]:
        parts = result["explain"]
        whole = sum(parts[name] for name in ("words", "neighbours", "session", "meaning"))
        assert abs(whole - result["score"]) < 0.001 and -1 <= parts["cosine"] <= 1
    first = data["results"][0]
    assert first["key"] == "mia" and first["explain"]["meaning"] > 0 and first["explain"]["words"] == 0
    repeated = tool(forage, "search", query=NOTES["tyres"], explain=True)["results"]
    assert repeated[0]["key"] == "tyres" and repeated[0]["relevance"] > 0.95
    assert repeated[0]["explain"]["first_by"] == "phrase" and "first_by" not in repeated[1]["explain"]
    shown = run("memory", "search", "--explain", "nut allergy", **settings).stdout
    assert "meaning 0.3" in shown and "of the question's words, cosine " in shown


def test_filters_hold(forage):
    fill(forage, {"mia": NOTES["mia"]}, tags=["health"], session="a", role="user")
    fill(forage, {"snack": "Peanuts are nuts."}, tags=["food"], session="b", role="assistant", created_at="2020-01-01")
    settle(forage)
    for narrowed, expected in [
        ({"tags": ["food"]}, ["snack"]),
        ({"session": "a"}, ["mia"]),
        ({"role": "assistant"}, ["snack"]),
        ({"until": "2021"}, ["snack"]),
        ({"tags": ["nothing"]}, []),
    ]:
        assert keys(tool(forage, "search", query="allergy", **narrowed)) == expected


def test_a_long_text_is_found_by_its_passage(forage):
    filler = " ".join(f"word{i} is another sentence about the garden." for i in range(150))
    tool(forage, "add", key="long", text=f"{filler}\n\nHer son has an allergy.\n\n{filler}")
    tool(forage, "add", key="other", text=filler)
    settle(forage)
    assert keys(tool(forage, "search", query="kid nuts reaction"))[0] == "long"


def test_pages_follow_each_other(forage):
    fill(forage, {f"n{i}": f"The kid number {i} has a vehicle." for i in range(30)})
    settle(forage)
    whole = keys(tool(forage, "search", query="automobile of a child", limit=30))
    parts = [keys(tool(forage, "search", query="automobile of a child", limit=7, offset=at)) for at in range(0, 30, 7)]
    assert len(whole) == 30 and sum(parts, []) == whole


def test_the_question_is_asked_for_once(forage, fake):
    fill(forage)
    settle(forage)
    for _ in range(3):
        tool(forage, "search", query="nut allergy")
    assert fake.texts().count("nut allergy") == 1


# ---- when the endpoint fails ----


@pytest.mark.parametrize(
    "mishap",
    [
        error(500, "broken"),
        error(401, "no such key"),
        Reply(b"{", 200),
        lambda data: data[:-1],
        lambda data: [dict(one, embedding=[float("nan")] * 96) for one in data],
        lambda data: [dict(one, embedding=["a"] * 96) for one in data],
        lambda data: [dict(one, embedding="AAAA") for one in data],
        lambda data: [dict(one, embedding=[1.0] * 100000) for one in data],
        lambda data: [dict(one, embedding=[0.0] * 96) for one in data],
        lambda data: [dict(one, index=1) for one in data],
    ],
    ids="500 401 garbage fewer nan words base64 huge zeros indexes".split(),
)
def test_words_go_on(forage, fake, mishap):
    fake.mishap = mishap
    fill(forage)
    data = tool(forage, "search", query="green tea")
    assert keys(data) == ["tea"] and data["ranked_by"] == "words" and "embeddings endpoint" in data["note"], data
    assert KEY not in json.dumps(data)
    trouble = wait_until(lambda: "vectors of memories" in forage.log.text())
    assert trouble and KEY not in forage.log.text()
    assert counts(forage) == (0, len(NOTES))
    fake.mishap = None
    settle(forage)


def test_an_endpoint_that_never_answers(settings, fake):
    fake.free.clear()
    with Server(**settings) as server:
        fill(server)  # nobody waits for vectors
        data = tool(server, "search", query="green tea")
        assert keys(data) == ["tea"] and data["ranked_by"] == "words" and data["note"]
        fake.free.set()


def test_a_text_that_is_refused(forage, fake):
    fake.refused = "tyres"
    fill(forage)
    settle(forage)
    assert keys(tool(forage, "search", query="nut allergy"))[0] == "mia"
    assert keys(tool(forage, "search", query="winter tyres"))[0] == "tyres"


def test_vectors_of_another_length_are_refused(settings, fake):
    with Server(**settings) as server:
        fill(server)
        settle(server)
        fake.mishap = lambda data: [dict(one, embedding=one["embedding"] + [0.1]) for one in data]
        data = tool(server, "search", query="loan")
        assert data["ranked_by"] == "words" and "length" in data["note"], data


# ---- another model ----


def test_another_model(settings, fake):
    with Server(**settings) as server:
        fill(server)
        settle(server)
    settings["FORAGE_EMBEDDINGS_MODEL"] = "large"
    fake.free.clear()  # no vector of the new model comes yet, but questions are asked for by the old one
    with Server(**settings) as server:
        assert counts(server) == (0, len(NOTES))
        fake.free.set()
        data = tool(server, "search", query="nut allergy")
        assert keys(data)[0] == "mia" and data["ranked_by"] == "words and meaning", data
        settle(server)
        data = tool(server, "search", query="loan")
        assert keys(data)[0] == "home" and data["ranked_by"] == "words and meaning", data
        assert tool(server, "stats")["model"] == "large"


def test_a_service_that_is_slow_is_waited_for_once(settings, fake):
    """Not once for the new model, and again for the one whose vectors serve meanwhile."""
    with Server(**settings) as server:
        fill(server)
        settle(server)
    fake.free.clear()
    with Server(**{**settings, "FORAGE_EMBEDDINGS_MODEL": "large"}) as server:
        data = tool(server, "search", query="green tea")
        assert keys(data) == ["tea"] and data["ranked_by"] == "words" and "does not answer" in data["note"], data
        assert fake.texts().count("green tea") == 1
        fake.free.set()


# ---- several processes, and their ends ----


def test_work_is_not_done_twice(store, fake):
    kind, settings = store
    if kind == "sqlite":
        kind = "sqlite-four"
    with world_of(kind, settings) as world:
        space = Space(world, "many")
        texts = [f"Memory number {i} about the vehicle." for i in range(100)]
        space.load([{"key": f"k{i}", "text": text} for i, text in enumerate(texts)])
        wait_until(lambda: space.do("stats")["namespaces"][0]["embedded"] == len(texts))
        asked = fake.texts()
        assert sorted(asked) == sorted(texts)


def test_killed_in_between(settings, fake):
    texts = {f"k{i}": f"Memory number {i} about the vehicle." for i in range(60)}
    server = Server(**settings)
    fill(server, texts)
    wait_until(lambda: counts(server)[0] > 0)
    server.kill()
    with sqlite3.connect(store_file(settings)) as database:  # the lease of the dead lapses; nobody waits for that here
        database.execute("UPDATE embedding SET until = 0")
    database.close()
    with Server(**settings) as server:
        settle(server)
        assert keys(tool(server, "search", query="automobile number 42", limit=1)) == ["k42"]
    check_store(settings)


def lease_of(settings):
    """How long others leave the namespace to its server, in seconds."""
    with contextlib.closing(sqlite3.connect(f"file:{store_file(settings)}?mode=ro", uri=True)) as database:
        (until,) = database.execute("SELECT coalesce(max(until), 0) FROM embedding").fetchone()
    return until / 1000 - time.time()


def test_a_killed_server_lets_go_soon(settings, fake):
    """A server keeps what it works on as long as that takes; when it is killed, another one goes on 15 seconds later at most."""
    fake.free.clear()  # its service takes its time
    with Server(**settings) as other:
        server = Server(**settings)
        fill(server)
        wait_until(lambda: fake.texts())
        first = lease_of(settings) + time.time()
        wait_until(lambda: lease_of(settings) + time.time() > first + 2)  # it is still there
        assert lease_of(settings) < 15
        server.kill()
        fake.free.set()
        settle(other)
        assert keys(tool(other, "search", query="nut allergy", limit=1)) == ["mia"]


def test_commands_embed_only_questions(settings, fake):
    completed = run("memory", "add", "--key", "mia", NOTES["mia"], **settings)
    assert completed.returncode == 0 and fake.texts() == []
    assert "0 embedded" in run("memory", "stats", **settings).stdout
    assert run("memory", "search", "nut allergy", **settings).returncode == 0
    assert fake.texts() == ["nut allergy"]
    with Server(**settings) as server:
        settle(server)
    completed = run("memory", "search", "nut allergy", **settings)
    assert "peanuts" in completed.stdout
    assert "1 embedded" in run("memory", "stats", **settings).stdout


def test_deleted_vectors_leave_the_file(settings):
    with Server(**settings) as server:
        fill(server)
        settle(server)
        file = store_file(settings)
        with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
            rows = database.execute("SELECT v.vectors FROM memory_vector v JOIN memory m ON m.id = v.id WHERE m.key = 'mia'")
            (vectors,) = rows.fetchone()
        database.close()
        assert any(vectors in path.read_bytes() for path in settings["FORAGE_DATA_DIR"].glob(file.name + "*"))
        tool(server, "delete", keys=["mia"])
        assert not any(vectors in path.read_bytes() for path in settings["FORAGE_DATA_DIR"].glob(file.name + "*"))


def test_without_a_model_nothing_is_said_of_one(tmp_path):
    with Server(FORAGE_DATA_DIR=tmp_path) as server:
        fill(server)
        assert "ranked_by" not in tool(server, "search", query="green tea")
        stats = tool(server, "stats")
        assert "model" not in stats and "embedded" not in stats["namespaces"][0]


# ---- the model of this machine ----

TINY = ROOT / "tests" / "unit" / "data" / "tiny.model"


def test_the_model_of_this_machine(tmp_path):
    with Server(FORAGE_DATA_DIR=tmp_path, FORAGE_EMBEDDINGS_FILE=TINY) as server:
        fill(server)
        settle(server)
        data = tool(server, "search", query="Green tea is in the upper drawer.")
        assert keys(data)[0] == "tea" and data["ranked_by"] == "words and meaning", data
        assert tool(server, "stats")["model"]


def test_an_endpoint_instead_of_the_model(settings, fake):
    with Server(FORAGE_EMBEDDINGS_FILE=TINY, FORAGE_DATA_DIR=settings["FORAGE_DATA_DIR"]) as server:
        fill(server)
        settle(server)
    with Server(FORAGE_EMBEDDINGS_FILE=TINY, **settings) as server:
        settle(server)
        assert keys(tool(server, "search", query="nut allergy"))[0] == "mia"
        assert tool(server, "stats")["model"] == "small"


def test_a_model_that_is_damaged(tmp_path):
    (tmp_path / "damaged").write_bytes(TINY.read_bytes()[:-100])
    with Server(FORAGE_DATA_DIR=tmp_path / "data", FORAGE_EMBEDDINGS_FILE=tmp_path / "damaged") as server:
        fill(server)
        assert keys(tool(server, "search", query="green tea")) == ["tea"]
        assert "model" not in tool(server, "stats")
        server.wait_log("cannot be used")
