"""Questions that follow on earlier ones: what comes along, what is not fetched again, and that nothing of another caller does."""

import contextlib
import json
import re
import sqlite3
import urllib.request

import players
import pytest
from answering import UNLIMITED
from corpus_web import CorpusWeb
from fakes import worker as play
from fakes.models import KEY, Fault, Models, Say
from fakes.responses import Responses
from fakes.service import Reply
from fakes.worker import Worker
from http_client import exchange, request
from programs import Server, files_with, run
from research import Place

TOKENS = {"ada": "ada-token-abcdefghijklmnop1", "bea": "bea-token-abcdefghijklmnop2"}
PAIRS = 40
TOOLS = [
    ("deep_search", "deep_search"),
    ("search_web", "search_web"),
    ("search", "deep_search"),
    ("deep_search", "search_web"),
    ("search_web", "search"),
]


def name_of(number):
    """A word that stands nowhere else."""
    return f"Quor{'abcdefghij'[number // 10]}{'klmnopqrst'[number % 10]}a"


def record(number):
    name = name_of(number)
    length, springs = 100 + number, 3 + number
    return {
        "id": f"r{number}",
        "question": f"Which river flows through {name}?",
        "paragraphs": [
            {"title": f"{name}, the town", "sentences": [f"The town of {name} lies on the river Ossel-{name}.", "It has a market."]},
            {"title": f"Rivers near {name}", "sentences": [f"The Ossel-{name} is {length} km long.", "It is brown."]},
            {"title": f"Springs of {name}", "sentences": [f"The Ossel-{name} has {springs} springs in the hills.", "They are cold."]},
        ],
        "supporting": [{"title": f"{name}, the town", "sentence": 0}],
    }


def standalone(name):
    return f"How long is the river Ossel-{name} that flows through {name}?"


class Follows(players.Forgetful):
    """Looks again at pages that were read before, where it has seen none of them."""

    def play(self, turn):
        said = super().play(turn)
        if getattr(said, "name", "") == "finish" and turn.sources and not turn.shown and not turn.is_last:
            return self.read(turn, list(turn.sources))
        return said


def script_of(world):
    """A model that asks on as it should, researches as it should, and answers from the sources that it is shown."""
    player = Follows(world.questions)

    def script(asked):
        shown = " ".join(text for _, text in asked.texts)
        name = re.search(r"Quor[a-j][k-t]a", shown)[0]
        if "asks on" in asked.system:
            return Say(json.dumps({"question": standalone(name)}))
        if "You answer a question" in asked.system:
            return Say(json.dumps({"notes": quoted(shown, name)}))
        return player.play(players.Turn(asked))

    return script


def quoted(shown, name):
    """A note for the first source that says something of the river."""
    wanted = "km long" if "How long" in shown else "lies on the river"
    for number, text in re.findall(r"Source (\d+)[^\n]*:\n<data-[^>]*>\n(.*?)\n</data-", shown, re.S):
        for sentence in re.findall(rf"[^.\n]*{wanted}[^.\n]*\.", text):
            return [{"claim": sentence.strip(), "quote": sentence.strip(), "source": int(number)}]
    return []


class OpenAI(Responses):
    """The same service asked for a reply without a search."""

    def __init__(self, models):
        super().__init__()
        self.models = models

    def answer(self, asked):
        if "tools" in json.loads(asked.body):
            return super().answer(asked)
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}"}
        forwarded = urllib.request.Request(f"{self.models.address('openai')}/responses", asked.body, headers)
        with urllib.request.urlopen(forwarded) as reply:
            return Reply(reply.read(), kind=reply.headers["Content-Type"])


class FollowWorld(CorpusWeb):
    """The follow-up of each question finds the same pages, and is answered by another of them."""

    def __init__(self, count):
        super().__init__([record(number) for number in range(count)])
        for number in range(count):
            first = self.questions[record(number)["question"]]
            name = name_of(number)
            other = type(first)({**record(number), "question": standalone(name), "id": f"f{number}",
                                 "supporting": [{"title": f"Rivers near {name}", "sentence": 0}]})
            other.lies, other.pair = {}, ()
            self.questions[standalone(name)] = other

    def __enter__(self):
        for web in (*self.webs, self.canary, self.search):
            web.__enter__()
        for number in range(len(self.questions) // 2):
            question = self.questions[record(number)["question"]]
            question.lies, question.pair = {}, ()
            hits = [
                self.put(place % 2, f"/{question.id}/p{place}", paragraph["title"], paragraph["sentences"])
                for place, paragraph in enumerate(question.paragraphs)
            ]
            for text in (question.text, standalone(name_of(number))):
                self.search.found[text] = hits[:2]
                self.search.found[text + " more"] = hits[2:]
        return self


@pytest.fixture(scope="module")
def world():
    with FollowWorld(PAIRS) as world:
        yield world


@pytest.fixture(scope="module")
def models(world):
    with Models(script_of(world)) as models:
        yield models


@pytest.fixture
def settings(world, models, tmp_path):
    models.play()
    world.forget()
    models.script = script_of(world)
    asked = models.environment("vllm")
    return {
        **world.settings(**asked, FORAGE_ANSWER_MODEL=asked["FORAGE_MODEL"]),
        "FORAGE_RESEARCH_WORKER": "own",
        "FORAGE_LIMITS": "search_web=1000/10m",
        "FORAGE_DATA_DIR": tmp_path / "data",
    }


def ask(server, tool, question, token=None, **more):
    headers = {"Authorization": f"Bearer {token}"} if token else None
    body = {"topic" if tool == "deep_search" else "query": question, **more}
    return exchange(server.port, request("POST", f"/api/v1/tools/{tool}", headers, body))


def answered(answer):
    assert answer.status == 200, answer
    return answer.json()


def told(result):
    return result.get("report") or result.get("result") or result["text"]


def test_forty_pairs(settings, world, models):
    """Of two callers, in turns: all first questions, then all that follow on them."""
    ids, fetched = [], set()
    with Server(**settings, FORAGE_TOKENS=",".join(f"{name}:{token}" for name, token in TOKENS.items())) as server:
        callers = list(TOKENS.values())
        for number in range(PAIRS):
            tool = TOOLS[number % len(TOOLS)][0]
            result = answered(ask(server, tool, record(number)["question"], callers[number % 2]))
            assert f"Ossel-{name_of(number)}" in told(result) and "understood_as" not in result
            ids.append(result["id"])
        first = [paths(web) for web in world.webs]
        for number in range(PAIRS):
            name, tool = name_of(number), TOOLS[number % len(TOOLS)][1]
            before = len(models.requests)
            answer = ask(server, tool, "And how long is it?", callers[number % 2], follow_up_of=ids[number])
            result = answered(answer)
            assert result["understood_as"] == standalone(name) and f"{100 + number} km" in told(result)
            check_requests(models.bodies()[before:], number, record(number)["question"])
            fetched.add(result["id"])
            stranger = ask(server, tool, "And how long is it?", callers[1 - number % 2], follow_up_of=ids[number])
            assert stranger.status == 404 and "follow_up_of" in stranger.json()["error"]["message"]
            assert len(models.requests) == before + len(models.bodies()[before:])
    assert len(fetched) == PAIRS
    for web, paths_before in zip(world.webs, first):
        every = paths(web)
        assert len(every) == len(set(every)), "no page is fetched twice"
        assert every[: len(paths_before)] == paths_before


def paths(web):
    return [path for _, path, _ in web.requests]


def check_requests(bodies, number, question):
    """The first makes the question stand alone; those that answer it know what was asked before, and of nobody else."""
    texts = [json.dumps(body) for body in bodies]
    assert "asks on" in texts[0] and question in texts[0] and "And how long is it?" in texts[0]
    names = {name_of(other) for other in range(PAIRS)}
    for text in texts:
        assert {name for name in names if name in text} == {name_of(number)}
    answering = [text for text in texts[1:] if "You write a report" not in text]
    assert answering and all(question in text and standalone(name_of(number)) in text for text in answering)


def test_notes_and_pages_come_along(settings, world, models):
    """The model sees at its first turn what was noted and read before."""
    with Server(**settings) as server:
        result = answered(ask(server, "deep_search", record(0)["question"]))
        before, fetched = len(models.requests), world.fetched()
        again = answered(ask(server, "deep_search", "And how long is it?", follow_up_of=result["id"]))
    state = json.dumps(models.bodies()[before + 1])
    assert f"The town of {name_of(0)} lies on the river" in state and "[note 1]" in state
    assert "): read" in state and world.fetched() == fetched
    assert {note["read_at"] for note in again["evidence"]} <= {note["read_at"] for note in result["evidence"]} | {
        one["read_at"] for one in again["evidence"]
    }
    assert again["verified"] is True


def test_chains_have_an_end(settings):
    with Server(**settings) as server:
        id = answered(ask(server, "search_web", record(1)["question"]))["id"]
        for _ in range(19):
            result = answered(ask(server, "search_web", "And how long is it?", follow_up_of=id))
            assert result["understood_as"] == standalone(name_of(1)) and result["id"] != id
            id = result["id"]
        answer = ask(server, "search_web", "And how long is it?", follow_up_of=id)
        assert answer.status == 400 and "ask anew" in answer.json()["error"]["message"]


@pytest.mark.parametrize("tool", ["search", "deep_search", "search_web"])
def test_what_cannot_be_followed_on(settings, tool, tmp_path):
    with Server(**settings) as server:
        unknown = ask(server, tool, "And how long is it?", follow_up_of="0" * 32)
        assert unknown.status == 404 and unknown.json()["error"]["code"] == "NOT_FOUND"
        assert ask(server, tool, "And how long is it?", follow_up_of="short").status == 400
        id = answered(ask(server, tool, record(2)["question"]))["id"]
    with contextlib.closing(sqlite3.connect(tmp_path / "data" / "records.sqlite")) as store:
        store.execute("UPDATE jobs SET expires_ms = 1")
        store.commit()
    with Server(**settings) as server:
        expired = ask(server, tool, "And how long is it?", follow_up_of=id)
        assert expired.status == 404 and expired.json()["error"]["message"] == unknown.json()["error"]["message"]


def test_switched_off(settings, tmp_path):
    with Server(**settings, FORAGE_FOLLOW_UPS="off") as server:
        assert "id" not in answered(ask(server, "search_web", record(3)["question"]))
        id = answered(ask(server, "deep_search", record(3)["question"]))["id"]
        refused = ask(server, "deep_search", "And how long is it?", follow_up_of=id)
        assert refused.status == 503 and "FORAGE_FOLLOW_UPS" in refused.json()["error"]["message"]
    with contextlib.closing(sqlite3.connect(tmp_path / "data" / "records.sqlite")) as store:
        assert store.execute("SELECT count(*) FROM jobs WHERE context IS NOT NULL").fetchone() == (0,)


def test_pages_that_are_old_are_fetched_again(settings, world, tmp_path):
    with Server(**settings) as server:
        id = answered(ask(server, "deep_search", record(4)["question"]))["id"]
    with contextlib.closing(sqlite3.connect(tmp_path / "data" / "records.sqlite")) as store:
        (text,) = store.execute("SELECT context FROM jobs").fetchone()
        kept = json.loads(text)
        for page in kept["pages"]:
            page["read_ms"] -= 2 * 3600 * 1000
        store.execute("UPDATE jobs SET context = ?", (json.dumps(kept),))
        store.commit()
    before = world.fetched()
    with Server(**settings) as server:
        answered(ask(server, "deep_search", "And how long is it?", follow_up_of=id))
    assert world.fetched() == before + 3


@pytest.mark.parametrize("said", [Say("I do not know."), Fault(500, {"error": {"message": "down"}}), Say('{"question": ""}')])
@pytest.mark.parametrize("tool", ["deep_search", "search_web"])
def test_a_model_that_cannot_say_what_is_meant(settings, world, models, tool, said):
    """The words go on with the earlier question behind them."""
    usual = script_of(world)
    models.script = lambda asked: said if "asks on" in asked.system else usual(asked)
    question = record(5)["question"]
    words = f"{question} Again. (it follows on: {question})"
    world.questions[words] = world.questions[question]
    world.search.found[words] = world.search.found[words + " more"] = world.search.found[question]
    with Server(**settings) as server:
        id = answered(ask(server, tool, question))["id"]
        result = answered(ask(server, tool, f"{question} Again.", follow_up_of=id))
    assert result["understood_as"] == words


def test_a_worker_is_told_what_came_before(tmp_path):
    place = Place(tmp_path)
    first = play.answer(play.report("It is @home [1].", evidence=[]), play.search(1, "depth"))
    worker = Worker(tmp_path / "worker", first)
    with Server(**place.settings(GEMINI_CLI_PATH=worker.path, FORAGE_DATA_DIR=tmp_path / "data")) as server:
        id = answered(ask(server, "deep_search", "Where is it?"))["id"]
        said = play.report("There.", evidence=[], understood_as="Where is the second one?")
        worker.play(play.answer(said, play.search(1, "depth")))
        result = answered(ask(server, "deep_search", "And the second?", follow_up_of=id))
    assert result["understood_as"] == "Where is the second one?"
    prompt = worker.runs()[-1]["stdin"]
    assert "Question: Where is it?" in prompt and "Answer: It is \\@home" in prompt and "And the second?" in prompt
    tag = re.search(r"<earlier-(\w+)>", prompt)[1]
    assert len(tag) >= 16 and f"</earlier-{tag}>" in prompt and "understood_as" in prompt


def test_openai_searches_with_what_came_before(tmp_path):
    meant = "Does it rain in Berlin tomorrow?"
    with Models(lambda asked: Say(json.dumps({"question": meant}))) as models, OpenAI(models) as fake:
        settings = {"OPENAI_BASE_URL": fake.base_url, "FORAGE_DATA_DIR": tmp_path, **UNLIMITED}
        with Server(**settings) as server:
            first = answered(ask(server, "search_web", "Does it rain in Berlin?"))
            result = answered(ask(server, "search_web", "And tomorrow?", follow_up_of=first["id"]))
        assert result["understood_as"] == meant
        asked = fake.bodies()
    assert len(asked) == 3 and "tools" not in asked[1] and "And tomorrow?" in json.dumps(asked[1])
    assert asked[2]["input"] == meant and "Does it rain in Berlin?" in asked[2]["instructions"]
    assert "It rains today." in asked[2]["instructions"] and "<data-" in asked[2]["instructions"]


def test_on_the_command_line(settings):
    nothing = run("answer", "And how long is it?", "--follow", **settings)
    assert nothing.returncode == 1 and "nothing to follow on" in nothing.stderr
    assert run("answer", record(6)["question"], **settings).returncode == 0
    assert "106 km" in run("answer", "And how long is it?", "--follow", **settings).stdout
    assert run("research", record(7)["question"], **settings).returncode == 0
    assert "107 km" in run("research", "And how long is it?", "--follow", **settings).stdout


def test_they_are_wiped(settings, tmp_path):
    with Server(**settings) as server:
        id = answered(ask(server, "search_web", record(8)["question"]))["id"]
        exchange(server.port, request("DELETE", "/api/v1/history"))
        assert ask(server, "search_web", "And how long is it?", follow_up_of=id).status == 404
    assert not files_with(tmp_path / "data", name_of(8).encode())
