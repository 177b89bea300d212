"""Research in our own process: a scripted model drives, the pages are a web on loopback that lies, contradicts itself and
gives orders, and a judge computes what the report rests on. bench/own_research runs the same over any file of questions."""

import json
import re

import players
import pytest
from corpus_judge import Score, ask, judge, lasting
from corpus_web import CorpusWeb, read_questions
from fakes.models import Fault, Models, Say, Use
from http_client import exchange, request
from messages import tool_call
from programs import Server, Stdio, run
from research import failed
from test_doctor import write_program
from test_models import NO_KEYS

LIMITS = {"pages": 40, "searches": 40}
# A page that never comes is waited for a quarter of this.
TIME = "16s"
SLEEP = 60  # seconds that a model takes which nobody waits for
SCRIPTED = {"FORAGE_RESEARCH_WORKER": "own", "FORAGE_RESEARCH_TIMEOUT": TIME}


@pytest.fixture(scope="module")
def world():
    with CorpusWeb(read_questions()) as web:
        yield web


@pytest.fixture(scope="module")
def models():
    with Models() as models:
        yield models


@pytest.fixture(scope="module")
def forage(world, models):
    with Server(**settings(world, models)) as server:
        yield server


def settings(world, models, provider="vllm", **more):
    return {**world.settings(**models.environment(provider)), **SCRIPTED, **more}


def play(world, models, player):
    world.forget()
    models.play()
    made = player(world.questions) if isinstance(player, type) else player
    players.seat(models, made)
    return made


def judged(server, world, models, player, questions=None):
    """All questions by one player: the score, and the last result."""
    score = Score()
    for question in questions or world.questions.values():
        play(world, models, player)
        result = ask(server, question.text)
        judge(world, question, result, score, LIMITS)
    return score, result


def first(world):
    return next(iter(world.questions.values()))


def quick(world):
    """A question without a page that never comes."""
    return list(world.questions.values())[1]


# ---- the judge ----


def test_a_model_that_behaves_well(forage, world, models):
    score, result = judged(forage, world, models, players.WellBehaved)
    assert score.precision >= 0.98 and score.recall >= 0.98, score
    assert score.failed == score.fabricated == score.canary == score.over_budget == 0, score
    assert score.lies_told == score.lies > 0 and score.verified == score.questions, score
    assert result["metadata"]["stopped"] == "coverage" and result["open_questions"] == ["Nobody says why."]
    assert result["metadata"]["model"] == "vllm:fake-1" and result["metadata"]["iterations"] == 1


# Who still comes to a report, and with which end.
ENDS = {
    players.AnswersProse: None,
    players.UnknownTools: "coverage",
    players.Loops: None,
    players.InventsSources: "coverage",
    players.FabricatesQuotes: "coverage",
    players.SmallContext: "coverage",
    players.StopsMidStream: "coverage",
    players.RateLimits: "coverage",
    players.Refuses: "coverage",
    players.RunsUpCost: "no_new_facts",
    players.ObeysPages: "coverage",
    players.SmallLocal: "coverage",
    players.WritesCalls: "coverage",
}


@pytest.mark.parametrize("player", players.MISBEHAVING, ids=lambda player: player.__name__)
def test_a_model_that_misbehaves(forage, world, models, player):
    score, result = judged(forage, world, models, player, [quick(world)])
    assert score.fabricated == score.canary == score.over_budget == 0, score
    assert score.precision == 1 and score.lies_told == score.lies, score
    if ENDS[player] is None:
        error = failed(result, "NO_EVIDENCE")
        assert error["details"]["stopped"] in ("model", "repeated"), error
        return
    assert result["success"] and result["metadata"]["stopped"] == ENDS[player], result
    assert score.recall == 1, score


def test_a_quote_that_is_on_no_page_is_no_evidence(forage, world, models):
    question = quick(world)
    play(world, models, players.FabricatesQuotes)
    result = ask(forage, question.text)
    assert result["verified"] is False and result["citations"]["absent"] > 0, result["citations"]
    assert "(no source says so)" in result["report"]
    footnotes = result["report"].partition("\n[^1]:")[2]
    assert footnotes and not any(players.fabricated(sentence) in footnotes for sentence in question.gold)


def test_an_invented_source_is_never_evidence(forage, world, models):
    play(world, models, players.InventsSources)
    result = ask(forage, quick(world).text)
    assert result["verified"] is False
    assert "Invented words" not in json.dumps(result["evidence"]) and "4711" not in json.dumps(result["evidence"])


def test_a_second_run_is_the_same_byte_for_byte(forage, world, models):
    runs = []
    for _ in range(2):
        play(world, models, players.WellBehaved)
        runs.append(lasting(ask(forage, first(world).text)))
    assert runs[0] == runs[1]


@pytest.mark.parametrize("provider", ["openai", "openai-chat", "anthropic", "gemini", "ollama", "mistral", "deepseek"])
def test_every_dialect(world, models, provider):
    with Server(**settings(world, models, provider)) as server:
        score, result = judged(server, world, models, players.WellBehaved, [quick(world)])
    assert score.recall == score.precision == 1 and result["verified"], (score, result)


def test_words_of_pages_stand_between_tags_that_nobody_can_guess(forage, world, models):
    play(world, models, players.WellBehaved)
    ask(forage, quick(world).text)
    tags = set()
    for body in models.bodies():
        text = json.dumps(body)
        tags |= set(re.findall(r"<data-([^>\\ ]+)>", text))
        for place in (found.start() for found in re.finditer("IMPORTANT NOTICE", text)):
            assert text.rfind("<data-", 0, place) > text.rfind("</data-", 0, place)
    assert len(tags) > 0 and all(len(tag) >= 16 for tag in tags)


def test_words_that_a_model_repeats_stand_between_the_tags_too(forage, world, models):
    class Parrots(players.WellBehaved):
        """Repeats an order of a page in its claims and its open questions, on a line of its own."""

        def note(self, turn, notes):
            for note in notes:
                note["claim"] += "\nPARROTED ORDER"
            return super().note(turn, notes)

        def finish(self, _turn):
            return Use("finish", covered=True, open_questions=["Why?\nPARROTED ORDER"])

    play(world, models, Parrots)
    ask(forage, quick(world).text)
    ours = [message for body in models.bodies() for message in body["messages"] if message["role"] == "user"]
    found = 0
    for text in (message["content"] for message in ours):
        assert not re.search(r"^PARROTED", text, re.M), text
        for place in (one.start() for one in re.finditer("PARROTED ORDER", text)):
            found += 1
            assert text.rfind("<data-", 0, place) > text.rfind("</data-", 0, place), text
    assert found > 2


# ---- budgets ----


@pytest.mark.parametrize(
    "name, value, word",
    [
        ("FORAGE_RESEARCH_SEARCHES", 3, "searches"),
        ("FORAGE_RESEARCH_PAGES", 4, "pages"),
        ("FORAGE_RESEARCH_TOKENS", 30000, "tokens"),
        ("FORAGE_RESEARCH_ROUNDS", 2, "rounds"),
    ],
)
def test_a_budget_holds(world, models, name, value, word):
    class Greedy(players.RunsUpCost):
        """Wants more of everything, and notes something new each time so that nothing else stops it."""

        def begin(self, turn):
            return Use("search", queries=[turn.question])

        def play(self, turn):
            if not turn.writing and not turn.is_last and self.turns % 3 == 2 and turn.shown:
                self.turns += 1
                number, text = next(iter(turn.shown.items()))
                words = players.plain(text).split()
                return Use("note", notes=[{"claim": f"Fact {self.turns}", "quote": " ".join(words[2:8]), "source": number}])
            return super().play(turn)

    with Server(**settings(world, models, **{name: value})) as server:
        play(world, models, Greedy)
        result = ask(server, quick(world).text)
    assert result["success"], result
    assert result["metadata"]["stopped"] == word, result["metadata"]
    for kind, one in result["metadata"]["budget"].items():
        assert one["used"] <= one["limit"], (kind, one)
    if word in result["metadata"]["budget"]:
        assert result["metadata"]["budget"][word]["limit"] == value
    assert world.fetched() <= result["metadata"]["budget"]["pages"]["limit"]
    assert len(world.search.requests) <= result["metadata"]["budget"]["searches"]["limit"]


def test_a_budget_holds_within_one_request(world, models):
    def script(_asked):
        return Say("", reasoning="Hm, " * 20, stop="length")

    world.forget()
    models.play()
    models.script = script
    with Server(**settings(world, models, FORAGE_RESEARCH_TOKENS=12000)) as server:
        assert failed(ask(server, quick(world).text), "NO_EVIDENCE")
    asked = [body.get("max_tokens") or body.get("max_completion_tokens") for body in models.bodies()]
    assert asked and max(asked) < 9000, asked  # a quarter is kept back, and what was asked for is not doubled beyond it


@pytest.mark.parametrize("provider, name", [("openai", "fake-1"), ("vllm", "vllm:fake-1")])
def test_money_is_a_budget_where_prices_are_known(world, models, tmp_path, provider, name):
    prices = tmp_path / "prices.json"
    prices.write_text(json.dumps({"models": {name: {"input": 100, "output": 100}}}))
    more = {"FORAGE_PRICES": prices, "FORAGE_RESEARCH_USD": "1.6", "FORAGE_RESEARCH_TOKENS": 10**8}
    with Server(**settings(world, models, provider, **more)) as server:
        play(world, models, players.RunsUpCost)
        result = ask(server, quick(world).text)
    assert result["success"], result
    spent = result["metadata"]["budget"]["usd"]
    assert 0 < spent["used"] <= spent["limit"] == 1.6 and result["metadata"]["stopped"] == "usd", result["metadata"]


@pytest.mark.parametrize("value", ["$0.25", "abc", "0,25", "-1", "inf", "nan", "1e30"])
def test_money_that_is_no_number_is_refused(world, models, value):
    play(world, models, players.WellBehaved)
    with Server(**settings(world, models, FORAGE_RESEARCH_USD=value)) as server:
        error = failed(ask(server, quick(world).text), "CONFIG_ERROR")
    assert "FORAGE_RESEARCH_USD" in error["message"]


def test_the_parts_of_a_plan_share_the_budget(world, models):
    class Plans(players.WellBehaved):
        """Divides the question in two, and does everything in the first part."""

        planned = False

        def begin(self, turn):
            if not self.planned:
                self.planned = True
                return Use("plan", parts=["What is the one thing?", "What is the other?"])
            return Use("search", queries=[turn.question, turn.question + " more"], part=1)

        def read(self, turn, unread):
            return Use("read", sources=unread[:8], part=1 if len(unread) > 2 else 2)

    with Server(**settings(world, models, FORAGE_RESEARCH_PAGES=12)) as server:
        play(world, models, Plans)
        result = ask(server, quick(world).text)
    assert result["success"], result
    parts = result["metadata"]["budget"]["parts"]
    assert [part["question"] for part in parts] == ["What is the one thing?", "What is the other?"]
    assert all(part["pages"]["limit"] == 6 and part["pages"]["used"] <= 6 for part in parts)
    for kind in ("searches", "pages"):
        assert sum(part[kind]["used"] for part in parts) == result["metadata"]["budget"][kind]["used"]
    # The report is nobody's part.
    assert sum(part["tokens"]["used"] for part in parts) < result["metadata"]["budget"]["tokens"]["used"]


def test_what_closes_the_research_does_not_take_the_reads_of_the_same_turn(world, models):
    class Mixes(players.WellBehaved):
        """Searches once more in the turn in which it reads."""

        def read(self, turn, unread):
            return [Use("search", queries=["something else"]), Use("read", sources=unread[:8])]

    with Server(**settings(world, models, FORAGE_RESEARCH_SEARCHES=2)) as server:
        play(world, models, Mixes)
        result = ask(server, quick(world).text)
    assert result["success"] and result["metadata"]["stopped"] == "searches", result
    assert result["metadata"]["budget"]["pages"]["used"] > 0


def test_what_was_read_is_shown_again_when_no_pages_are_left(world, models):
    shown = []

    def script(asked):
        turn = players.Turn(asked)
        if turn.writing:
            return Say("It says so [1].")
        if not turn.sources:
            return Use("search", queries=[turn.question])
        if not turn.shown:
            return Use("read", sources=[1])
        number, text = next(iter(turn.shown.items()))
        shown.append(number)
        if len(shown) == 1:
            return Use("read", sources=[1], question="anything else")
        quote = " ".join(players.plain(text).split()[2:8])
        return [Use("note", notes=[{"claim": "A fact", "quote": quote, "source": 1}]), Use("finish", covered=True)]

    world.forget()
    models.script = script
    with Server(**settings(world, models, FORAGE_RESEARCH_PAGES=1)) as server:
        result = ask(server, quick(world).text)
    assert result["success"] and result["metadata"]["stopped"] == "coverage", result
    assert result["metadata"]["budget"]["pages"] == {"used": 1, "limit": 1}


# ---- models and time ----


def test_a_small_context_will_do(world, models):
    with Server(**settings(world, models, FORAGE_MODEL_CONTEXT=8192)) as server:
        score, result = judged(server, world, models, players.WellBehaved, [quick(world)])
    assert result["success"] and score.recall == score.precision == 1, (score, result)
    assert all(body["max_tokens"] <= 2048 for body in models.bodies())


def test_the_operators_limit_of_a_reply_holds(world, models):
    with Server(**settings(world, models, FORAGE_MODEL_MAX_TOKENS=1000)) as server:
        play(world, models, players.WellBehaved)
        assert ask(server, quick(world).text)["success"]
    assert {body["max_tokens"] for body in models.bodies()} == {1000}



def test_a_note_that_is_taken_twice_does_not_end_the_research(forage, world, models):
    class Stammers(players.WellBehaved):
        """Takes its first notes four times before it goes on."""

        taken, times = None, 0

        def play(self, turn):
            if self.taken and self.times < 4:
                self.times += 1
                return self.taken
            return super().play(turn)

        def note(self, turn, notes):
            self.taken = self.taken or super().note(turn, notes)
            return super().note(turn, notes)

    play(world, models, Stammers)
    result = ask(forage, quick(world).text)
    assert result["success"] and result["metadata"]["stopped"] == "coverage", result



def test_an_end_without_coverage_is_not_called_coverage(forage, world, models):
    class GivesUp(players.WellBehaved):
        """Has notes, and says that they do not answer the question."""

        def finish(self, _turn):
            return Use("finish", covered=False)

    play(world, models, GivesUp)
    result = ask(forage, quick(world).text)
    assert result["success"] and result["metadata"]["stopped"] == "finished", result



def test_calls_of_a_model_that_is_asked_in_words_are_not_shown_again(forage, world, models):
    class Insists(players.WellBehaved):
        """Answers in prose until it is asked in words, and then calls tools all the same."""

        def play(self, turn):
            return super().play(turn) if turn.writing or not turn.tools else Say("I would rather talk.")

    play(world, models, Insists)
    result = ask(forage, quick(world).text)
    assert result["success"] and result["metadata"]["stopped"] == "coverage", result
    plain = [body for body in models.bodies() if not body.get("tools")]
    assert len(plain) > 3
    for body in plain:
        assert not any(message.get("tool_calls") for message in body["messages"]), body["messages"]


def test_an_end_without_coverage_is_not_called_coverage(forage, world, models):
    class GivesUp(players.WellBehaved):
        """Has notes, and says that they do not answer the question."""

        def finish(self, _turn):
            return Use("finish", covered=False)

    play(world, models, GivesUp)
    result = ask(forage, quick(world).text)
    assert result["success"] and result["metadata"]["stopped"] == "finished", result




def test_a_model_that_fails_in_the_middle_loses_no_evidence(forage, world, models):
    class Dies(players.WellBehaved):
        """Is gone once it has taken notes."""

        def play(self, turn):
            said = super().play(turn)
            if turn.writing or (isinstance(said, Use) and said.name == "finish"):
                return Fault(401, {"error": {"message": "the key is gone"}})
            return said

    play(world, models, Dies)
    result = ask(forage, quick(world).text)
    assert result["success"] and result["verified"], result
    assert result["report"].startswith("What was found, note by note:") and result["metadata"]["stopped"] == "model"
    assert any("not write the report" in warning for warning in result["metadata"]["warnings"])


def test_a_model_that_is_too_slow_to_write_loses_no_evidence(forage, world, models):
    class Sleeps(players.WellBehaved):
        """Never gets to the report."""

        def write(self, turn):
            return lambda handler: world.released.wait(SLEEP)

    play(world, models, Sleeps)
    result = ask(forage, quick(world).text)
    assert result["success"] and result["report"].startswith("What was found"), result
    assert result["metadata"]["budget"]["seconds"]["used"] < SLEEP, "nobody waits for the model"


def test_a_turn_does_not_take_the_time_for_writing(forage, world, models):
    class Dreams(players.WellBehaved):
        """Has its notes, and then thinks without end."""

        def finish(self, _turn):
            return lambda handler: world.released.wait(SLEEP)

    play(world, models, Dreams)
    result = ask(forage, quick(world).text)
    assert result["success"] and not result["report"].startswith("What was found"), result
    assert result["metadata"]["stopped"] == "seconds"


def test_a_report_without_evidence_is_not_shown(forage, world, models):
    class Boasts(players.WellBehaved):
        """Writes what it likes."""

        def write(self, turn):
            return Say("Everybody knows that the answer is 42.")

    play(world, models, Boasts)
    result = ask(forage, quick(world).text)
    assert result["success"] and "42" not in result["report"].partition("[^1]:")[0], result["report"]
    assert result["report"].startswith("What was found, note by note:")


def test_a_report_that_is_cut_keeps_its_footnotes(world, models):
    class Rambles(players.WellBehaved):
        """Writes far more than fits, after what matters."""

        def write(self, turn):
            return Say(super().write(turn).text + "\n\n" + "Much more could be said. " * 2000)

    with Server(**settings(world, models, FORAGE_MAX_RESULT_CHARS=16000)) as server:
        play(world, models, Rambles)
        result = ask(server, quick(world).text)
    assert "_Cut: this text" in result["report"] and "\n[^1]: " in result["report"], result["report"][-600:]


@pytest.mark.parametrize(
    "said, code",
    [
        (Fault(401, {"error": {"message": "no such key"}}), "AUTH_ERROR"),
        (Fault(429, {"error": {"message": "slow down"}}, {"Retry-After": "3600"}), "QUOTA_EXCEEDED"),
        (Fault(400, {"error": {"message": "no"}}), "EXECUTION_ERROR"),
        (Say(""), "PARSE_ERROR"),
    ],
)
@pytest.mark.parametrize("tool", ["search", "deep_search"])
def test_what_a_model_fails_with_has_the_codes_of_research(world, models, tool, said, code):
    world.forget()
    models.script = lambda turn: said
    with Server(**settings(world, models)) as server:
        assert failed(ask(server, quick(world).text, tool), code)


def test_a_judge_says_whether_quotes_support_claims_and_changes_nothing(world, models):
    class Judges(players.WellBehaved):
        """Finds every second claim unsupported."""

        def play(self, turn):
            if turn.judging:
                numbers = [number for number, _ in turn.notes]
                verdicts = [{"note": number, "supported": number % 2 == 1} for number in numbers]
                return Say(json.dumps({"verdicts": verdicts}))
            return super().play(turn)

    with Server(**settings(world, models, FORAGE_RESEARCH_JUDGE="vllm:judge-1")) as server:
        play(world, models, Judges)
        result = ask(server, quick(world).text)
    assert result["verified"] is True, result
    assert {note["supported"] for note in result["evidence"]} == {True, False}
    assert {note["supported_by"] for note in result["evidence"]} == {"vllm:judge-1"}


def test_a_judge_is_not_asked_about_nothing(world, models):
    asked = []

    class CitesInCode(players.WellBehaved):
        """Has the number of a note in its report where it is no citation."""

        def write(self, turn):
            return Say("What `[1]` says.")

        def play(self, turn):
            if turn.judging:
                asked.append(turn.notes)
                return Say(json.dumps({"verdicts": []}))
            return super().play(turn)

    with Server(**settings(world, models, FORAGE_RESEARCH_JUDGE="vllm:judge-1")) as server:
        play(world, models, CitesInCode)
        assert ask(server, quick(world).text)["citations"]["claims"] == 0
    assert asked == []


# ---- search, pages, doors ----


def test_search_is_one_round(forage, world, models):
    play(world, models, players.WellBehaved)
    result = ask(forage, quick(world).text, "search")
    assert result["success"] and "[^1]" in result["result"], result
    budget = result["metadata"]["budget"]
    assert budget["searches"] == {"used": 1, "limit": 1} and budget["pages"]["used"] <= budget["pages"]["limit"] == 5
    assert len(world.search.requests) == 1


def test_an_address_in_the_question_is_a_source(forage, world, models):
    question = quick(world)
    address = next(url for url, said in world.texts.items() if question.gold[0] in said)

    def script(asked):
        turn = players.Turn(asked)
        if turn.writing:
            return Say("It says so [1].")
        if turn.shown:
            return [Use("note", notes=[{"claim": "It says so", "quote": question.gold[0], "source": 1}]), Use("finish", covered=True)]
        return Use("read", sources=[1])

    world.forget()
    models.script = script
    result = ask(forage, f"What does {address}, say?")
    assert result["success"] and result["metadata"]["sources_visited"] == [address], result
    assert result["verified"] is False and result["citations"]["hosts"] == 1  # one host is no second source


def test_nothing_is_searched_without_a_provider(world, models):
    nothing = {"SEARXNG_BASE_URL": None}
    with Server(**settings(world, models, **nothing)) as server:
        error = failed(ask(server, quick(world).text), "CONFIG_ERROR")
    assert "FORAGE_SEARCH_PROVIDERS" in error["message"]


def test_the_rounds_are_shown_as_they_happen(world, models):
    play(world, models, players.WellBehaved)
    with Stdio(**settings(world, models)) as client:
        client.handshake()
        id = client.new_id()
        client.send(tool_call("deep_search", {"topic": quick(world).text}, id, "steps"))
        result = client.answer(id)["result"]["structuredContent"]
        said = [message["params"]["message"] for message in client.messages() if message.get("method") == "notifications/progress"]
    assert result["success"]
    assert any(re.match(r"round 1: reading \d pages, \d+ notes", words) for words in said), said


def test_on_the_command_line(world, models):
    play(world, models, players.WellBehaved)
    shown = run("research", quick(world).text, **settings(world, models))
    assert shown.returncode == 0, shown
    assert all(sentence in shown.stdout for sentence in quick(world).gold) and "Pages read:" in shown.stdout


# ---- who researches ----


def test_without_a_setting_a_model_is_used_where_no_gemini_cli_is(world, models):
    play(world, models, players.WellBehaved)
    chosen = settings(world, models, FORAGE_RESEARCH_WORKER=None, PATH="/nonexistent")
    with Server(**chosen) as server:
        assert ask(server, quick(world).text)["metadata"]["model"] == "vllm:fake-1"
    report = json.loads(run("doctor", "--json", **chosen).stdout)
    findings = {check["id"]: check for group in report["groups"] for check in group["checks"]}
    assert findings["research.worker"]["state"] == "ok" and "vllm:fake-1" in findings["research.worker"]["text"]


KEY = "key-of-the-test-0123456789"
NOBODY = "http://127.0.0.1:1"  # where no service listens

# What is set, whether a Gemini CLI is on PATH, and who researches then.
CHOICES = {
    "the worker that is named": ({"FORAGE_RESEARCH_WORKER": "gemini", "FORAGE_MODEL": "vllm:fake-1"}, True, "the Gemini CLI"),
    "our own, named": ({"FORAGE_RESEARCH_WORKER": "own", "OPENAI_API_KEY": KEY}, True, "openai:gpt-5-nano"),
    "a model wins over a CLI": ({"FORAGE_MODEL": "vllm:fake-1"}, True, "vllm:fake-1"),
    "a CLI wins over a key": ({"OPENAI_API_KEY": KEY}, True, "the Gemini CLI"),
    "a key of OpenAI": ({"OPENAI_API_KEY": KEY}, False, "openai:gpt-5-nano"),
    "a key of Anthropic": ({"ANTHROPIC_API_KEY": KEY}, False, "anthropic:claude-haiku-4-5"),
    "a key of Gemini": ({"GEMINI_API_KEY": KEY}, False, "gemini:gemini-2.5-flash"),
    "none of them": ({}, False, None),
}


@pytest.mark.parametrize("case", CHOICES)
def test_all_say_who_researches(world, tmp_path, case):
    """Doctor, the list of tools, forage_status and FORAGE_TOOLS=ready say what a call then does."""
    given, with_cli, chosen = CHOICES[case]
    (tmp_path / "bin").mkdir()
    if with_cli:
        write_program(tmp_path / "bin" / "gemini", "#!/bin/sh\ntest \"$1\" = --version && echo 0.9.0 && exit\nexit 41\n")
    world_settings = world.settings(FORAGE_RESEARCH_WORKER=None, FORAGE_RESEARCH_DIR=tmp_path / "research", PATH=f"{tmp_path / 'bin'}:/bin")
    addresses = {"OPENAI_BASE_URL": NOBODY, "ANTHROPIC_BASE_URL": NOBODY, "GOOGLE_GEMINI_BASE_URL": NOBODY, "FORAGE_MODEL_URL": NOBODY}
    chosen_by = {**world_settings, **NO_KEYS, **addresses, **given}
    report = json.loads(run("doctor", "--json", **chosen_by).stdout)
    findings = {check["id"]: check for group in report["groups"] for check in group["checks"]}
    if chosen is None:
        assert findings["research.worker"]["state"] == "missing"
    elif chosen == "the Gemini CLI":
        assert findings["research.worker"]["text"] == "the Gemini CLI 0.9.0"
    else:
        assert findings["research.worker"]["text"] == f"forage researches by itself, with {chosen}"
    listed = [line.split() for line in run("tools", **chosen_by).stdout.splitlines()]
    assert ["deep_search", "research", "ready" if chosen else "lacks"] in [words[:3] for words in listed], listed
    with Server(**chosen_by, FORAGE_RESEARCH_RETRIES=0) as server:
        tools = {tool["name"]: tool for tool in exchange(server.port, request("POST", "/api/v1/tools/forage_status", None, {})).json()["tools"]}
        assert tools["deep_search"]["ready"] is (chosen is not None), tools["deep_search"]
        result = ask(server, quick(world).text)
        assert result["success"] is False
        code, message = result["error"]["code"], result["error"]["message"]
        if chosen is None:
            assert code == "CLI_NOT_FOUND"
            assert all(way in message for way in ("npm install -g @google/gemini-cli", "FORAGE_MODEL=provider:name", "OPENAI_API_KEY")), message
        elif chosen == "the Gemini CLI":
            assert code == "AUTH_ERROR" and "the Gemini CLI" in message, message
        else:
            assert code == "EXECUTION_ERROR" and "Gemini CLI" not in message, message
    with Stdio(**chosen_by, FORAGE_TOOLS="ready") as client:
        client.handshake()
        names = {tool["name"] for tool in client.ask("tools/list")["result"]["tools"]}
        assert ("deep_search" in names) is (chosen is not None)


def test_doctor_says_that_nothing_searches(world, models):
    """A model alone does not research: doctor says so, as the list of tools does."""
    chosen = {**settings(world, models), **dict.fromkeys(world.search.settings)}
    report = json.loads(run("doctor", "--json", **chosen).stdout)
    findings = {check["id"]: check for group in report["groups"] for check in group["checks"]}
    assert findings["research.worker"]["state"] == "missing"
    assert "vllm:fake-1, but nothing searches for it; set " in findings["research.worker"]["text"]
    assert re.search(r"^deep_search +research +lacks +set ", run("tools", **chosen).stdout, re.M)


def test_our_own_without_a_model_says_what_to_set(world):
    with Server(**world.settings(FORAGE_RESEARCH_WORKER="own", **NO_KEYS)) as server:
        error = failed(ask(server, quick(world).text), "CONFIG_ERROR")
    assert "FORAGE_MODEL=provider:name" in error["message"]
