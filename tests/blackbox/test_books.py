"""The books of money: each request to a paid upstream is in them once, whatever became of it, and a budget holds for work
that is under way. A teller stands before the fakes and keeps the books of the upstream: forage's are never below those,
and above them by no more than the estimate of the requests that were in flight."""

import concurrent.futures
import contextlib
import json
import os
import signal

import players
import pytest
from fakes.embeddings import KEY as EMBEDDINGS_KEY
from fakes.embeddings import Embeddings
from fakes.models import Models
from fakes.responses import KEY as OPENAI_KEY
from fakes.responses import Responses
from fakes.teller import MOMENTS, Teller
from http_client import Closed, Connection, exchange, request
from jobs import Scene, begin, finished
from memory_world import SOAK
from postgres import postgres  # noqa: F401 (a fixture)
from programs import Server, run, wait_until
from records import history_of, usage_of
from searching import call as search_call
from searching import shared_world, world  # noqa: F401 (fixtures)
from test_answer_models import GOOD, notes, weather

SERVICES = ("serper", "tavily", "brave", "exa")
DIALECTS = ("openai-chat", "openai", "anthropic", "gemini", "mistral")
PATHS = (*DIALECTS, "responses", *SERVICES, "embeddings")
PRICES = {
    "models": {"paid-1": {"input": 100, "output": 100}, "small": {"input": 100, "output": 0}},
    "services": {**dict.fromkeys(SERVICES, 0.5), "openai_web_search": 0.25},
}
# In make gate a sample; make soak and make test-all drive every path through every moment.
SAMPLE = {"openai-chat": (1, 4, 8), "responses": (1, 5), "serper": (1, 2), "anthropic": (3,), "gemini": (6,), "embeddings": (2,)}


class Paid:
    """A path that costs money: its fake, the teller before it, how forage is set up for it, and how it is made to ask."""

    def __init__(self, name, world, stack, folder):
        self.name = name
        self.folder = folder
        self.prices = json.loads(json.dumps(PRICES))
        weather(world)
        fakes = {"responses": Responses, "embeddings": Embeddings}
        if name in SERVICES:
            self.fake = world[name]
            settings = world.settings(name)
        else:
            self.fake = stack.enter_context(fakes.get(name, lambda: Models(lambda turn: notes(*GOOD)))())
            settings = world.settings("searxng", **self.variables())
        self.teller = stack.enter_context(Teller(self.fake, name if name in SERVICES else None))
        if name == "embeddings":
            self.prices["models"]["paid-1"] = self.prices["models"]["small"]
        path = folder / "prices.json"
        path.write_text(json.dumps(self.prices))
        self.settings = self.teller.before({
            "FORAGE_DATA_DIR": folder / "data", "FORAGE_PRICES": path, "FORAGE_LIMITS": "search_web=100000/10m",
            "FORAGE_ANSWER_CACHE_TTL": 0, "FORAGE_HISTORY": "on", **settings,
        })  # fmt: skip

    def variables(self):
        if self.name == "responses":
            return {"OPENAI_BASE_URL": self.fake.base_url, "OPENAI_API_KEY": OPENAI_KEY, "FORAGE_ANSWER_MODEL": "paid-1"}
        if self.name == "embeddings":
            return {"FORAGE_EMBEDDINGS_URL": self.fake.base_url, "FORAGE_EMBEDDINGS_KEY": EMBEDDINGS_KEY, "FORAGE_EMBEDDINGS_MODEL": "small"}
        asked = self.fake.environment(self.name, "paid-1")
        asked["FORAGE_ANSWER_MODEL"] = asked.pop("FORAGE_MODEL")
        return asked

    @property
    def tool(self):
        return "web_search" if self.name in SERVICES else "memory_search" if self.name == "embeddings" else "search_web"

    def arguments(self, words):
        return {"query": words, **({"num_results": 1} if self.name in SERVICES else {})}

    def request(self, words="Does it rain today?"):
        return request("POST", f"/api/v1/tools/{self.tool}", None, self.arguments(words))

    def server(self, **more):
        return Server(**{**self.settings, **more})

    def bills(self):
        return self.teller.bills(self.prices)

    def books(self):
        return usage_of(self.folder / "data")["total"]["usd"]

    def check(self, whole=False):
        """Never under, at once; over by what was in flight at most, and by nothing where all was answered."""
        def most():
            """What was in flight reaches the upstream even when forage has left."""
            bills = self.bills()
            return sum(cost if whole else max(cost, estimate) for cost, estimate in bills) + 1e-6

        least = sum(cost for cost, _ in self.bills())
        now = self.books()
        assert now >= least - 1e-6, f"{self.name}: the books say {now}, the upstream {least}"
        wait_until(lambda: self.books() <= most(), 60)
        least = sum(cost for cost, _ in self.bills())
        assert self.books() >= least - 1e-6
        return least


@pytest.fixture
def paid(request, world, tmp_path):
    with contextlib.ExitStack() as stack:
        yield Paid(request.param, world, stack, tmp_path)


def seed(paid, server):
    """A memory, so that there is something to ask the embeddings for."""
    if paid.name == "embeddings":
        answer = exchange(server.port, request("POST", "/api/v1/tools/memory_add", None, {"text": "It rains."}))
        assert answer.status == 200, answer
        wait_until(lambda: paid.teller.entries)
        wait_until(lambda: paid.books() == pytest.approx(sum(cost for cost, _ in paid.bills())))


@pytest.mark.parametrize("paid", PATHS, indirect=True)
def test_what_succeeds_is_booked_to_the_token(paid):
    with paid.server() as server:
        seed(paid, server)
        for number in range(3):
            answer = exchange(server.port, paid.request(f"Question {number}: does it rain?"))
            assert answer.status == 200, answer
        assert paid.check(whole=True) > 0
        total = usage_of(paid.folder / "data")["total"]
    assert total["unpriced"] == 0
    if paid.name != "embeddings":  # the history has the cost of single calls
        assert sum(one["usd"] for one in history_of(paid.folder / "data")) == pytest.approx(paid.books())
        assert total["calls"] == 3


@pytest.mark.parametrize("paid", PATHS, indirect=True)
@pytest.mark.parametrize("mode", ["garbage", 429, 401, 500])
def test_what_cannot_be_used(paid, mode):
    """Rubbish was paid for, however often it is asked again; who refuses sends no bill."""
    with paid.server() as server:
        seed(paid, server)
        paid.teller.play(mode)
        before = paid.books()
        exchange(server.port, paid.request())
        assert paid.teller.entries
        bills = paid.bills()
        assert paid.books() - before >= sum(cost for cost, _ in bills) - 1e-6
        if mode != "garbage":
            assert paid.books() == pytest.approx(before)
        else:
            assert paid.books() - before <= sum(max(bill) for bill in bills) + 1e-6


def cases():
    for name in PATHS:
        for moment in MOMENTS if SOAK else SAMPLE.get(name, ()):
            yield pytest.param(name, moment, id=f"{name}-{moment}")


@pytest.mark.parametrize(("paid", "moment"), cases(), indirect=["paid"])
def test_what_is_cancelled(paid, moment):
    """Three calls are begun and left: what the upstream had of them is in the books."""
    with paid.server() as server:
        seed(paid, server)
        for number in range(3):
            entries = list(paid.teller.entries)
            paid.teller.play(stop=moment)
            paid.teller.entries = entries
            with Connection(server.port) as connection:
                connection.send(paid.request(f"Question {number}"))
                assert paid.teller.reached.wait(60)
            wait_until(lambda: not running(server, paid.tool))
            paid.teller.go.set()
        paid.check()


def running(server, tool):
    text = exchange(server.port, request("GET", "/metrics")).body.decode()
    return f'forage_tool_running{{tool="{tool}"}} 0' not in text


@pytest.mark.parametrize(("paid", "moment"), cases(), indirect=["paid"])
def test_what_was_killed(paid, moment):
    """A process that is killed leaves what it may have spent in the books."""
    with paid.server() as server:
        seed(paid, server)
        entries = list(paid.teller.entries)
        paid.teller.play(stop=moment)
        paid.teller.entries = entries
        # The server is killed while the connection is open, which then breaks.
        with contextlib.suppress(Closed, OSError), Connection(server.port) as connection:
            connection.send(paid.request())
            assert paid.teller.reached.wait(60)
            os.kill(server.process.pid, signal.SIGKILL)
            server.process.wait()
        server.end = lambda: None
        paid.teller.go.set()
    paid.check()
    with paid.server() as server:
        assert exchange(server.port, paid.request()).status == 200
        paid.check()


@pytest.mark.parametrize("paid", ["openai-chat", "responses"], indirect=True)
def test_what_is_late(paid):
    """Who falls silent after the request has it, and is waited for in vain."""
    paid.teller.play(stop=1)
    with paid.server(FORAGE_MODEL_TIMEOUT="2s", FORAGE_ANSWER_TIMEOUT="2s", FORAGE_SEARCH_WEB_TIMEOUT="10s") as server:
        assert exchange(server.port, paid.request()).status >= 400
        paid.check()
        assert paid.books() > 0


def test_nobody_is_paid_who_is_not_there(world, tmp_path):
    """Where nothing went out, nothing is charged."""
    weather(world)
    settings = world.settings("serper", FORAGE_DATA_DIR=tmp_path, SERPER_BASE_URL="http://127.0.0.1:9")
    with Server(**settings) as server:
        assert search_call(server, {"query": "rain"}).status == 502
    total = usage_of(tmp_path)["total"]
    assert (total["calls"], total["usd"], total["unpriced"]) == (1, 0, 0)


# ---- budgets ----


def test_paid_searches_end_with_the_budget(world, tmp_path):
    world.find(1)
    settings = world.settings("serper", FORAGE_DATA_DIR=tmp_path, FORAGE_DAILY_BUDGET_USD="0.0015")
    with Server(**settings) as server:
        answers = [search_call(server, {"query": f"number {number}"}) for number in range(5)]
    assert [answer.status for answer in answers] == [200, 200, 429, 429, 429]
    assert answers[4].json()["error"]["code"] == "BUDGET"
    assert world.searches() == {"serper": 2}
    assert usage_of(tmp_path)["total"]["usd"] == pytest.approx(0.002)


def test_what_costs_nothing_goes_on(world, tmp_path):
    """With the budget spent, a search goes to who asks for no money."""
    world.find(1)
    settings = world.settings("serper", "searxng", FORAGE_DATA_DIR=tmp_path, FORAGE_DAILY_BUDGET_USD="0.001")
    with Server(**settings) as server:
        assert [search_call(server, {"query": f"number {number}"}).status for number in range(3)] == [200] * 3
    assert world.searches() == {"serper": 1, "searxng": 2}


STEP = 0.02  # dollars, that a request of these researches costs at most


@pytest.fixture
def dear(tmp_path):
    """A scene whose model costs a dollar for a million tokens, with a teller before it."""
    prices = tmp_path / "prices.json"
    prices.write_text(json.dumps({"models": {"vllm": {"input": 1, "output": 1}}}))
    with Scene() as scene, Teller(scene.models) as teller:
        scene.play(players.Forgetful(scene.world.questions))
        scene.teller = teller
        scene.ready = teller.before(scene.settings(FORAGE_DATA_DIR=tmp_path / "data", FORAGE_PRICES=prices, FORAGE_HISTORY="on"))
        yield scene


def research(server, topic):
    return exchange(server.port, request("POST", "/api/v1/tools/deep_search", None, {"topic": topic}))


def test_a_budget_stops_research_that_was_admitted(dear, tmp_path):
    """Twelve at once, on two servers of one file, all of them admitted before any has cost much: they end with what they
    have, and what is over is one step."""
    with Server(**dear.ready) as server:
        assert research(server, dear.question()).status == 200
    budget = 6 * usage_of(tmp_path / "data")["total"]["usd"]
    settings = {**dear.ready, "FORAGE_DAILY_BUDGET_USD": f"{budget:.6f}"}
    dear.teller.play(stop=1)
    with Server(**settings) as one, Server(**settings) as two:
        ids = [begin((one, two)[number % 2].port, dear.question()) for number in range(12)]
        wait_until(lambda: len(dear.teller.entries) >= 2)
        dear.teller.stop = None
        dear.teller.go.set()
        over = [finished(one.port, id) for id in ids]
        # What was settled for less than was reserved may leave room for a step of another one.
        wait_until(lambda: research(one, "Anything else?").json().get("error", {}).get("code") == "RATE_LIMIT")
    spent = usage_of(tmp_path / "data")["total"]["usd"]
    assert budget <= spent <= budget + STEP
    assert sum(job["usage"]["usd"] for job in over) <= spent - budget / 6 + 1e-9
    assert sum(one["usd"] for one in history_of(tmp_path / "data")) == pytest.approx(spent)
    for job in over:
        result = job["result"]
        assert "BUDGET" in json.dumps(result) if job["status"] == "failed" or result["metadata"]["stopped"] == "budget" else job["status"] == "done"
    assert any(job["status"] == "failed" for job in over)


def test_what_there_is_is_reported(dear, tmp_path):
    """A budget that is spent in the middle of a research costs nothing of what it has found."""
    with Server(**{**dear.ready, "FORAGE_DAILY_BUDGET_USD": "1"}) as server:
        whole = research(server, dear.question()).json()
    spent = usage_of(tmp_path / "data")["total"]["usd"]
    with Server(**{**dear.ready, "FORAGE_DAILY_BUDGET_USD": str(1.6 * spent), "FORAGE_ANSWER_CACHE_TTL": 0}) as server:
        cut = research(server, dear.question()).json()
    assert cut["success"] and cut["metadata"]["stopped"] == "budget" and "BUDGET" in json.dumps(cut), cut
    assert whole["metadata"]["stopped"] == "coverage"
    assert usage_of(tmp_path / "data")["total"]["usd"] <= 1.6 * spent + STEP


def test_a_job_that_is_taken_up_asks_no_more(dear, tmp_path):
    """Killed with a request in flight, and the budget used up by then."""
    dear.teller.play(stop=1)
    with Server(**dear.ready) as server:
        id = begin(server.port, dear.question())
        assert dear.teller.reached.wait(60)
        os.kill(server.process.pid, signal.SIGKILL)
        server.process.wait()
        server.end = lambda: None
    dear.teller.go.set()
    asked = len(dear.teller.entries)
    with Server(**{**dear.ready, "FORAGE_DAILY_BUDGET_USD": "0.000001"}) as server:
        over = finished(server.port, id)
    assert over["status"] == "failed" and over["result"]["error"]["code"] == "BUDGET", over
    assert len(dear.teller.entries) == asked
    spent = usage_of(tmp_path / "data")["total"]["usd"]
    assert over["usage"]["usd"] == pytest.approx(spent) and 0 < spent <= STEP
    assert [one["usd"] for one in history_of(tmp_path / "data")] == [pytest.approx(spent)]


def test_the_money_of_one_research_counts_its_searches(dear, tmp_path, world):
    """FORAGE_RESEARCH_USD holds for searches too, with a model that costs nothing."""
    prices = tmp_path / "prices.json"
    prices.write_text(json.dumps({"models": {"vllm": {"input": 0, "output": 0}}, "services": {"serper": 0.01}}))
    dear.play(players.Loops(dear.world.questions))
    world.find(2)
    settings = {**dear.ready, **world["serper"].settings, "FORAGE_SEARCH_PROVIDERS": "serper", "FORAGE_RESEARCH_USD": "0.005"}
    with Server(**settings) as server:
        answer = research(server, dear.question())
    assert world.searches() == {"serper": 1}, answer
    assert usage_of(tmp_path / "data")["total"]["usd"] == pytest.approx(0.01)
    assert answer.json()["error"]["details"]["stopped"] == "usd", answer


def test_servers_on_one_database_keep_one_budget(world, postgres, tmp_path):
    """Three servers on PostgreSQL, asked at once: what is over is one search."""
    world.find(1)
    settings = world.settings("serper", FORAGE_DATABASE_URL=postgres.database(), FORAGE_DAILY_BUDGET_USD="0.0045")
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(Server(FORAGE_DATA_DIR=tmp_path / str(number), **settings)) for number in range(3)]
        with concurrent.futures.ThreadPoolExecutor(24) as pool:
            asked = [pool.submit(search_call, servers[number % 3], {"query": f"number {number}"}) for number in range(24)]
            statuses = [one.result().status for one in asked]
    assert sorted(statuses) == [200] * 5 + [429] * 19
    assert world.searches() == {"serper": 5}
    assert usage_of(tmp_path / "0", FORAGE_DATABASE_URL=settings["FORAGE_DATABASE_URL"])["total"]["usd"] == pytest.approx(0.005)


def test_the_doctor_pays_too(world, tmp_path):
    """What `forage doctor --online` asks to try a key is a search like any other, and is not made without money."""
    settings = world.settings("serper", FORAGE_DATA_DIR=tmp_path, FORAGE_DAILY_BUDGET_USD="0.001")
    for _ in range(2):
        run("doctor", "--online", "--json", **settings)
    assert world.searches() == {"serper": 1}
    (row,) = usage_of(tmp_path)["rows"]
    assert (row["tool"], row["calls"], row["usd"]) == ("doctor", 0, pytest.approx(0.001))
