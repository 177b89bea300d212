"""search and deep_search with a scripted worker: what it is given, what is made of what it does, and what comes back.

The scenarios of the document that the tools were founded on are named here one by one. The same with the real worker is
in tests/research."""

import datetime
import json
import re
import stat
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from fakes import worker as play
from fakes.worker import Worker
from messages import cancelled
from programs import FORAGE, PATIENCE, Server, Stdio, run, run_on_terminal, screen, wait_until
from research import Place, deep_search, failed, outcome, progress, research, search, start_call, wait_gone
from storage import Clock
from test_models import NO_KEYS

QUESTION = "How deep is Lake Baikal?"
PAGES = ["https://lakes.example.org/baikal", "https://survey.example.net/2002"]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return Place(tmp_path_factory.mktemp("research"))


@pytest.fixture(scope="module")
def shared_worker(place):
    return Worker(place.folder / "worker", play.answer(play.result()))


@pytest.fixture(scope="module")
def shared_forage(place, shared_worker):
    with Server(**place.settings(GEMINI_CLI_PATH=shared_worker.path, JSON_MAX_RETRIES=1)) as server:
        yield server


@pytest.fixture
def worker(shared_worker):
    shared_worker.play(play.answer(play.result()))
    return shared_worker


@pytest.fixture
def forage(shared_forage):
    yield shared_forage
    assert shared_forage.alive()


def visit(*pages):
    return [play.read(number, page) for number, page in enumerate(pages)]


# ---- Requirement: Single-Round Search Tool ----


def test_scenario_successful_single_round_search(forage, worker):
    worker.play(play.answer(play.result("**1,642 m** deep."), play.search(1, "depth of Lake Baikal"), *visit(*PAGES)))
    result = search(forage, QUESTION)
    assert result["success"] is True and result["result"] == "**1,642 m** deep."
    (run,) = worker.runs()
    assert QUESTION in run["stdin"], "the prompt is on stdin"
    assert not any(QUESTION in argument for argument in run["argv"]), "and only there"


def test_scenario_gemini_cli_not_available(place, tmp_path):
    old, new = "GEMINI_CLI_PATH", "FORAGE_GEMINI_PATH"
    for settings in ({"PATH": tmp_path}, {old: tmp_path / "nothing"}, {new: tmp_path}):
        with Server(**place.settings(**NO_KEYS, **settings)) as server:
            error = failed(search(server), "CLI_NOT_FOUND")
            said = error["message"] + error.get("details", "")
            assert "npm install -g @google/gemini-cli" in said and (old if old in settings else new) in said
            assert failed(deep_search(server), "CLI_NOT_FOUND") == error
            # A warning at the start, not a stop.
            assert re.search(r"warn.*(gemini|Gemini)", server.log.text(), re.I), server.log.text()


def test_scenario_search_timeout(place, tmp_path):
    worker = Worker(tmp_path / "worker", [*play.begin(), ["child", None], play.hang()])
    with Server(**place.settings(GEMINI_CLI_PATH=worker.path, GEMINI_SEARCH_TIMEOUT=1500)) as server:
        began = time.monotonic()
        error = failed(search(server), "EXECUTION_ERROR")
        assert time.monotonic() - began >= 1.4
        assert "exceeded timeout of 1500 ms" in error["message"]
        assert error["details"] == "Consider increasing GEMINI_SEARCH_TIMEOUT"
        failed(deep_search(server), "CLI_TIMEOUT")
        wait_gone({run["group"] for run in worker.runs()}, PATIENCE)


# ---- Requirement: Search Result Format ----


def test_scenario_successful_response_format(forage, worker):
    worker.play(play.answer(play.result("A *summary*"), play.search(1, "q"), *visit(*PAGES)))
    before = datetime.datetime.now(datetime.timezone.utc)
    result = search(forage, QUESTION)
    assert set(result) == {"success", "result", "verified", "evidence", "citations", "id", "metadata", "untrusted"}
    assert "never instructions" in result["untrusted"]
    metadata = result["metadata"]
    assert set(metadata) == {"duration_ms", "query", "model", "timestamp", "sources_visited"}
    assert isinstance(metadata["duration_ms"], int) and metadata["duration_ms"] >= 0
    assert metadata["query"] == QUESTION and metadata["model"] == "gemini-2.5-flash"
    stamp = datetime.datetime.fromisoformat(metadata["timestamp"].replace("Z", "+00:00"))
    assert abs((stamp - before).total_seconds()) < 60
    assert metadata["sources_visited"] == PAGES


def test_scenario_error_response_format(forage, worker):
    worker.play([play.err("something broke\n"), play.leave(1)])
    response = research(forage, "search", {"query": QUESTION})
    assert response.status == 502, response
    result = response.json()
    assert set(result) == {"success", "error"}
    error = failed(result, "EXECUTION_ERROR")
    assert "something broke" in error.get("details", ""), "what the worker said on stderr is told"


# ---- Requirement: Search Prompt Template ----


def test_scenario_template_loading(place, tmp_path):
    """A file of the user's own is used where there is one; the built-in one where there is none."""
    worker = Worker(tmp_path / "worker", play.answer(play.result()))
    folder = tmp_path / "prompts"
    folder.mkdir()
    (folder / "search-prompt.md").write_text("Mine, about {{query}}, in JSON.")
    with Server(**place.settings(GEMINI_CLI_PATH=worker.path, FORAGE_PROMPTS_DIR=folder)) as server:
        assert search(server, QUESTION)["success"]
        (folder / "search-prompt.md").unlink()
        assert search(server, QUESTION)["success"]
    mine, built_in = (run["stdin"] for run in worker.runs())
    assert mine.startswith("Mine, about ") and QUESTION in mine and "{{query}}" not in mine
    assert QUESTION in built_in and "{{query}}" not in built_in and len(built_in) > 1000


def test_scenario_template_content(forage, worker):
    assert search(forage, QUESTION)["success"]
    prompt = re.sub(r"\s+", " ", worker.runs()[0]["stdin"])
    assert re.search(r"`google_web_search`[^.]*exactly once", prompt)
    assert re.search(r"3 to 5 results", prompt)
    assert re.search(r"[Cc]oncise summary", prompt) and re.search(r"link to the page", prompt)
    assert re.search(r"[Dd]o not search again", prompt)


# ---- Requirement: JSON Retry Logic ----


RUBBISH = play.answer("I found a lot, but I write no JSON.")


def timed_search(place, worker):
    with Server(**place.settings(GEMINI_CLI_PATH=worker.path)) as server:
        began = time.monotonic()
        result = search(server, QUESTION)
        return result, time.monotonic() - began


def test_scenario_json_parsing_failure(place, tmp_path):
    """Up to three more tries with the same prompt, after 1, 2 and 5 seconds; an error when all of them fail."""
    at_last = Worker(tmp_path / "at-last", RUBBISH, RUBBISH, RUBBISH, play.answer(play.result("at last")))
    never = Worker(tmp_path / "never", RUBBISH)
    with ThreadPoolExecutor(2) as pool:
        calls = [pool.submit(timed_search, place, worker) for worker in (at_last, never)]
        (good, took), (bad, as_long) = (call.result() for call in calls)
    assert good["result"] == "at last"
    failed(bad, "PARSE_ERROR")
    for seconds, worker in ((took, at_last), (as_long, never)):
        assert seconds >= 8
        runs = worker.runs()
        assert len(runs) == 4 and len({run["stdin"] for run in runs}) == 1
        began = [(worker.folder / f"begun-{number}").stat().st_mtime for number in range(4)]
        assert all(after - before > wait - 0.1 for before, after, wait in zip(began, began[1:], (1, 2, 5))), began


def test_an_object_without_a_report_is_asked_for_again(forage, worker):
    worker.play(play.answer(play.fenced({"success": True, "reprot": "R"})), play.answer(play.report("# At last")))
    assert deep_search(forage)["report"] == "# At last"
    worker.play(play.answer(play.fenced({"report": "R"})), play.answer(play.report("# At last")))
    assert deep_search(forage)["report"] == "# At last"
    assert len(worker.runs()) == 2


def test_search_obeys_the_number_of_retries(place, tmp_path):
    worker = Worker(tmp_path / "worker", RUBBISH)
    with Server(**place.settings(GEMINI_CLI_PATH=worker.path, JSON_MAX_RETRIES=0)) as server:
        failed(search(server), "PARSE_ERROR")
    assert len(worker.runs()) == 1


def test_other_failures_are_not_retried(forage, worker):
    worker.play([play.leave(3)])
    failed(search(forage), "EXECUTION_ERROR")
    assert len(worker.runs()) == 1


# ---- deep_search ----


def test_deep_search_result(forage, worker):
    steps = [play.search(1, "first words"), *visit(PAGES[0]), play.search(2, "other words"), *visit(PAGES[1])]
    worker.play(play.answer(play.report("# Report", verified=True), *steps))
    result = deep_search(forage, QUESTION, depth="concise")
    assert set(result) == {"success", "report", "verified", "evidence", "citations", "id", "metadata", "untrusted"}
    assert result["report"] == "# Report" and result["verified"] is False, "a claim of the worker's proves nothing"
    metadata = result["metadata"]
    assert metadata["topic"] == QUESTION and metadata["depth"] == "concise"
    assert metadata["sources_visited"] == PAGES
    assert metadata["search_queries_used"] == ["first words", "other words"]
    assert metadata["iterations"] == 2
    assert {"duration_ms", "model", "timestamp"} <= set(metadata)


def test_depth_is_in_the_prompt(forage, worker):
    worker.play(play.answer(play.report()))
    assert deep_search(forage)["metadata"]["depth"] == "detailed"
    assert deep_search(forage, depth="concise")["success"]
    detailed, concise = (run["stdin"] for run in worker.runs())
    assert "Depth: detailed" in detailed and "Depth: concise" in concise
    for prompt in (detailed, concise):
        assert re.search(r'^Depth "concise": a short answer', prompt, re.M) and re.search(r'^Depth "detailed": sections', prompt, re.M)


def test_the_prompt_says_who_how_and_in_which_form(forage, worker):
    """A role, rounds of work, what not to do, JSON and nothing else, and two examples that are what they ask for."""
    worker.play(play.answer(play.report()))
    assert deep_search(forage, QUESTION)["success"]
    prompt = worker.runs()[0]["stdin"]
    assert prompt.startswith("You are a careful researcher.") and QUESTION in prompt
    assert "A round is: search, read, take stock." in prompt and "Do not ask for anything" in prompt
    assert "A page that cannot be read is passed over." in prompt
    assert "one JSON object in a json fence and nothing else" in prompt
    examples = re.findall(r"^### Example: (\w+).*?^```json\n(.*?)^```", prompt, re.M | re.S)
    assert [depth for depth, _ in examples] == ["concise", "detailed"]
    for _, text in examples:
        example = json.loads(text)
        assert example["success"] is True and example["report"] and example["evidence"]


def test_verified_needs_two_hosts_that_were_really_read(forage, worker):
    one_host = ["https://a.example.org/1", "https://a.example.org/2"]
    unread = play.read(2, PAGES[1], status="error", output="not there")
    cases = [
        ([play.page(1, PAGES[0], LAKE), play.page(2, PAGES[1], OTHER)], PAGES[0], True),
        ([play.page(1, PAGES[0], LAKE), play.read(2, PAGES[1])], PAGES[0], False),  # nobody knows what it read
        ([play.page(1, PAGES[0], LAKE), play.page(2, PAGES[1], " ")], PAGES[0], False),
        ([play.page(1, PAGES[0], LAKE), play.use("web_fetch", 2, {"prompt": PAGES[1]})], PAGES[0], False),
        ([play.page(1, one_host[0], LAKE), play.page(2, "https://www.a.example.org/2", LAKE)], one_host[0], False),
        ([play.page(1, one_host[0], LAKE), play.page(2, one_host[1], LAKE)], one_host[0], False),
        ([play.page(1, PAGES[0], LAKE), unread], PAGES[0], False),
        ([], PAGES[0], False),
    ]
    for steps, url, expected in cases:
        given = [play.quote("It is deep", "Lake Baikal is 1,642 metres deep.", url)]
        worker.play(play.answer(play.report("Deep [1].", verified=not expected, evidence=given), *steps))
        assert deep_search(forage)["verified"] is expected


# ---- evidence ----


LAKE = "# Baikal\n\nLake **Baikal** is [1,642 metres](https://x.example.org/) deep. It has never frozen to its ground.\n"
OTHER = "# Survey\n\nThe boat went out in the spring of that year.\n"
LIE = "# Baikal\n\nOne reads that Lake Baikal is 1,462 metres deep. That is all.\n"


def with_evidence(*items, report="Deep [1]."):
    return play.report(report, evidence=[play.quote(*item) for item in items])


@pytest.mark.parametrize(
    "words, grade",
    [
        ("Lake Baikal is 1,642 metres deep", "exact"),
        ("lake baikal  is\n1,642 metres deep", "exact"),
        ("“Lake Baikal is 1,642 metres deep”", "exact"),
        ("Lake Baikal is, 1,642 metres, deep", "near"),
        ("Lake Baikal is 1,643 metres deep.", "absent"),
        ("Lake Michigan is 1,642 metres deep.", "absent"),
        ("It has frozen to its ground.", "absent"),
        ("Words that nobody wrote anywhere.", "absent"),
        ("", "absent"),
    ],
)
def test_quotes_are_looked_for(forage, worker, words, grade):
    steps = [play.page(1, PAGES[0], LAKE, title="Lakes [of](http://evil.example.org) the world"), play.page(2, PAGES[1], OTHER)]
    worker.play(play.answer(with_evidence(("It is deep", words, PAGES[0])), *steps))
    result = deep_search(forage)
    (item,) = result["evidence"]
    shown = words if grade == "absent" else "Lake Baikal is 1,642 metres deep"  # the page's own words
    assert item["grade"] == grade and item["quote"] == shown and item["claim"] == "It is deep"
    assert item["url"] == PAGES[0] and item["title"] == "Lakes [of](http://evil.example.org) the world"
    datetime.datetime.fromisoformat(item["read_at"].replace("Z", "+00:00"))
    found = grade in ("exact", "near")
    assert result["verified"] is found
    counts = {"claims": 1, "exact": 0, "near": 0, "absent": 0, "unseen": 0, "sources": int(found), "hosts": 2}
    assert result["citations"] == counts | {grade: 1}
    if found:
        text, note = result["report"].split("\n\n")
        assert text == "Deep [^1]." and note.startswith("[^1]: “") and note.endswith(f" ({grade})\n")
        assert f"<{PAGES[0]}>" in note and item["read_at"] in note and "](http" not in note.replace("\\](http", "")
    else:
        assert result["report"] == "Deep (no source says so)."


def test_a_page_that_the_worker_fetched_itself_is_unseen(forage, worker):
    steps = [play.use("web_fetch", 1, {"prompt": f"Read {PAGES[0]}"}), play.page(2, PAGES[1], LAKE)]
    items = [("a", "Lake Baikal is 1,642 metres deep", PAGES[0]), ("b", "Lake Baikal is 1,642 metres deep", PAGES[1])]
    worker.play(play.answer(with_evidence(*items, report="One [1]. Two [2]."), *steps))
    result = deep_search(forage)
    assert [item["grade"] for item in result["evidence"]] == ["unseen", "exact"]
    assert result["verified"] is False and result["citations"]["unseen"] == 1
    assert "[^1]. Two [^2]." in result["report"] and "(unseen: " in result["report"]


def test_firecrawls_text_is_held(forage, worker):
    told = {"markdown": LAKE, "metadata": {"title": "F", "url": PAGES[0] + "/moved", "sourceURL": PAGES[0]}}
    steps = [play.use("mcp_firecrawl_firecrawl_scrape", 1, {"url": PAGES[0]}, output=json.dumps(told, indent=2))]
    items = [("a", "Lake Baikal is 1,642 metres deep", PAGES[0]), ("b", "It has never frozen", PAGES[0] + "/moved")]
    worker.play(play.answer(with_evidence(*items), *steps))
    assert [item["grade"] for item in deep_search(forage)["evidence"]] == ["exact", "exact"]


def test_parts_of_a_page_are_one_page(forage, worker):
    steps = [play.page(1, PAGES[0], "The first part."), play.page(2, PAGES[0] + "#b", LAKE)]
    worker.play(play.answer(with_evidence(("a", "Lake Baikal is 1,642 metres deep", PAGES[0])), *steps))
    result = deep_search(forage)
    assert result["evidence"][0]["grade"] == "exact" and result["citations"]["hosts"] == 1


def test_links_are_claims_where_there_are_no_quotes(forage, worker):
    """As from a worker that was given a prompt of the user's own."""
    said = f"Deep [Lakes]({PAGES[0]}). Cold [Survey]({PAGES[1]}). Old [Never read](https://never.example.org/)."
    worker.play(play.answer(play.report(said), play.page(1, PAGES[0], LAKE), play.read(2, PAGES[1])))
    result = deep_search(forage)
    assert result["report"] == said.replace("example.org/).", "example.org/) (not read).")
    assert [(item["claim"], item["url"], item["grade"]) for item in result["evidence"]] == [
        ("Deep", PAGES[0], "absent"),
        ("Cold", PAGES[1], "unseen"),
        ("Old", "https://never.example.org/", "absent"),
    ]
    assert result["verified"] is False and result["citations"]["claims"] == 3


def test_an_invented_source_is_no_evidence(forage, worker):
    items = [("a", "Lake Baikal is 1,642 metres deep", "https://never.example.org/"), ("b", "x", "no address"), ("c", "", "")]
    report = "One [1]. Two [2, 3]. Three [7]. [^1]: forged"
    worker.play(play.answer(with_evidence(*items, report=report), play.page(1, PAGES[0], LAKE)))
    result = deep_search(forage)
    none = "(no source says so)"
    assert result["report"] == f"One {none}. Two {none}. Three {none}. \\[^1]: forged"
    assert result["citations"]["absent"] == result["citations"]["claims"] == 4 and result["verified"] is False


def test_evidence_that_is_none(forage, worker):
    """Whatever a worker puts there, its report is not lost."""
    for given in (None, "x", {}, [], [None, 1, "x", [], {}], [{"claim": 1, "quote": [], "url": {}}]):
        worker.play(play.answer(play.report("# Report", evidence=given), *visit(*PAGES)))
        result = deep_search(forage)
        assert result["success"] and result["report"] == "# Report" and result["verified"] is False


def test_contradictions_are_listed(forage, worker):
    steps = [play.page(1, PAGES[0], LAKE), play.page(2, PAGES[1], LIE)]
    worker.play(play.answer(with_evidence(("It is deep", "Lake Baikal is 1,642 metres deep", PAGES[0])), *steps))
    result = deep_search(forage)
    (conflict,) = result["conflicts"]
    assert conflict["claim"] == "It is deep"
    assert conflict["one"]["url"] == PAGES[0] and "1,642" in conflict["one"]["quote"]
    assert conflict["other"]["url"] == PAGES[1] and "1,462" in conflict["other"]["quote"]
    assert result["verified"] is True, "verified says that the sources say so"


def test_contradictions_fit_their_share(place, tmp_path):
    """With the addresses that they stand at."""
    long = [page + "/" + "x" * 900 for page in PAGES]
    sides = [" ".join(f"In the year {year} the lake of town {year} was {deep} metres deep." for year in range(1900, 1930)) for deep in (15, 16)]
    steps = [play.page(number + 1, long[number], sides[number]) for number in range(2)]
    given = [play.quote("a", sides[0], long[0])]
    worker = Worker(tmp_path / "worker", play.answer(play.report("Deep [1].", evidence=given), *steps))
    with Server(**place.settings(GEMINI_CLI_PATH=worker.path, FORAGE_MAX_RESULT_CHARS=60000)) as server:
        result = deep_search(server)
    assert result["conflicts"] and len(json.dumps(result["conflicts"])) <= 60000 / 10
    assert len(result["conflicts"]) + result["conflicts_left_out"] == 30


def test_evidence_fits_the_budget(place, tmp_path):
    sentences = [f"Sentence number {number} of this long page says that the lake is deep." for number in range(400)]
    steps = [play.page(1, PAGES[0], " ".join(sentences)), play.page(2, PAGES[1], OTHER)]
    report = "# Report\n\n" + "\n".join(f"Claim {number} [{number + 1}]." for number in range(400)) + "\n" + "x " * 20000
    given = [play.quote(f"claim {number}", words, PAGES[0]) for number, words in enumerate(sentences)]
    worker = Worker(tmp_path / "worker", play.answer(play.report(report, evidence=given), *steps))
    with Server(**place.settings(GEMINI_CLI_PATH=worker.path, FORAGE_MAX_RESULT_CHARS=40000)) as server:
        result = deep_search(server)
    assert len(json.dumps(result, ensure_ascii=False)) <= 40000
    assert result["citations"]["exact"] == 400 and result["verified"] is True
    assert len(result["evidence"]) + result["evidence_left_out"] == 400 and result["evidence"]


def test_sources_are_what_was_seen_not_what_is_claimed(forage, worker):
    claims = {"sources_visited": ["https://never.example.org/"], "search_queries_used": ["never"], "iterations": 99}
    steps = [play.search(1, "q"), play.read(1, PAGES[0]), play.read(2, PAGES[0])]
    steps += [play.read(3, PAGES[1], status="error", output="Error: not found")]
    worker.play(play.answer(play.report(metadata=claims, **claims), *steps))
    metadata = deep_search(forage)["metadata"]
    assert metadata["sources_visited"] == [PAGES[0]], "once each, and only those that were read"
    assert metadata["search_queries_used"] == ["q"] and metadata["iterations"] == 1


def test_sources_of_every_tool_that_reads(forage, worker):
    steps = [
        play.use("mcp_firecrawl_firecrawl_scrape", 1, {"url": PAGES[0]}),
        play.use("web_fetch", 2, {"prompt": f"Summarise {PAGES[1]} please"}),
    ]
    worker.play(play.answer(play.report(), *steps))
    assert deep_search(forage)["metadata"]["sources_visited"] == PAGES


def test_no_json_gives_the_raw_output(forage, worker):
    """JSON_MAX_RETRIES more tries (one, here); then what the worker said, marked."""
    worker.play(play.answer("All that I know, without braces."))
    result = deep_search(forage)
    failed(result, "PARSE_ERROR")
    assert result["parse_warning"] is True
    assert "All that I know, without braces." in result["raw_output"]
    assert len(worker.runs()) == 2 and len({run["stdin"] for run in worker.runs()}) == 1
    forage.wait_log(r" WARN .*no usable JSON in the worker's answer; try 2 of 2")


def test_the_worker_says_that_it_failed(forage, worker):
    worker.play(play.answer(play.fenced({"success": False, "report": "The web was closed."})))
    result = deep_search(forage)
    error = failed(result, "EXECUTION_ERROR")
    assert "The web was closed." in error["message"] + error.get("details", "")


def test_rounds_are_bounded(place, tmp_path):
    """forage counts the rounds itself, and ends a worker that goes on."""
    steps = [play.search(number, f"query {number}") for number in range(1, 9)]
    actions = [*play.begin(), *(action for step in steps for action in step), play.hang()]
    worker = Worker(tmp_path / "worker", actions)
    with Server(**place.settings(GEMINI_CLI_PATH=worker.path, GEMINI_CLI_MAX_ITERATIONS=3)) as server:
        failed(deep_search(server), "TURN_LIMIT")
        failed(deep_search(server, maxIterations=2), "TURN_LIMIT")
        wait_gone({run["group"] for run in worker.runs()}, PATIENCE)
    assert "at most 3" in worker.runs()[0]["stdin"] and "at most 2" in worker.runs()[1]["stdin"]


@pytest.mark.parametrize("together", [False, True], ids=["one by one", "in one turn"])
def test_a_second_search_is_told_and_a_third_ends_the_worker(forage, worker, together):
    def searches(count):
        pairs = [play.search(number, f"query {number}") for number in range(count)]
        asked, came = [pair[:1] for pair in pairs], [pair[1:] for pair in pairs]
        return [*asked, *came] if together else pairs

    worker.play(play.answer(play.result(), *searches(2)))
    result = search(forage)
    assert result["success"] is True
    assert "one search is all" in result["metadata"]["warnings"][0]
    worker.play(play.answer(play.result(), *searches(3)))
    assert "deep_search" in failed(search(forage), "TURN_LIMIT")["message"]


def test_a_second_search_is_denied(forage, worker, place):
    """By a hook in the settings that the worker gets: it is carried out here as the Gemini CLI does."""
    worker.play(play.answer(play.result(report="# A report")))
    assert search(forage)["success"] and deep_search(forage)["success"]
    hooks = json.loads((place.config / ".gemini" / "settings.json").read_text())["hooks"]["BeforeTool"]
    (hook,) = [hook for entry in hooks if re.fullmatch(entry["matcher"], "google_web_search") for hook in entry["hooks"]]
    for run, denies in zip(worker.runs(), [True, False], strict=True):
        folder = place.folder / f"hook-{denies}"
        folder.mkdir()
        given = {**run["env"], "TMPDIR": str(folder)}
        shell = ["sh", "-c", hook["command"]]
        calls = [subprocess.run(shell, env=given, capture_output=True, text=True, check=False) for _ in range(2)]
        assert [call.returncode for call in calls] == ([0, 2] if denies else [0, 0])
        assert ("One search only" in calls[1].stderr) == denies and not calls[0].stdout + calls[1].stdout


def test_messages_name_the_variable_that_is_set(place, tmp_path):
    steps = [action for number in range(3) for action in play.search(number, f"query {number}")]
    worker = Worker(tmp_path / "worker", [*play.begin(), *steps, play.hang()])
    for name in ("GEMINI_CLI_MAX_ITERATIONS", "FORAGE_RESEARCH_ROUNDS"):
        with Server(**place.settings(GEMINI_CLI_PATH=worker.path, **{name: 2})) as server:
            assert f"maxIterations or {name}," in failed(deep_search(server), "TURN_LIMIT")["message"]
    worker.play(play.refused("models/m is not found for API version v1beta", 1))
    for name in ("GEMINI_MODEL", "FORAGE_RESEARCH_MODEL"):
        with Server(**place.settings(GEMINI_CLI_PATH=worker.path, **{name: "m"})) as server:
            assert f"({name}, now m)" in failed(search(server), "MODEL_NOT_FOUND")["message"]


def test_system_prompt_of_the_user(place, tmp_path):
    worker = Worker(tmp_path / "worker", play.answer(play.report()))
    own = "Study {topic} ({depth}, by {model})."
    with Server(**place.settings(GEMINI_CLI_PATH=worker.path, GEMINI_SYSTEM_PROMPT=own, GEMINI_MODEL="m1")) as server:
        assert deep_search(server, QUESTION, depth="concise")["success"]
    prompt = worker.runs()[0]["stdin"]
    assert prompt.startswith("Study ") and QUESTION in prompt and "(concise, by m1)" in prompt


# ---- how the worker is started ----


def test_model_is_given_as_it_is(place, tmp_path):
    worker = Worker(tmp_path / "worker", play.answer(play.result()))
    with Server(**place.settings(GEMINI_CLI_PATH=worker.path, GEMINI_MODEL="some/model:latest x")) as server:
        assert search(server)["metadata"]["model"] == "some/model:latest x"
    argv = worker.runs()[0]["argv"]
    assert argv[argv.index("--model") + 1] == "some/model:latest x"


def test_environment_is_minimal(place, tmp_path):
    worker = Worker(tmp_path / "worker", play.answer(play.result()))
    wanted = {
        "GEMINI_API_KEY": "gemini-key-of-the-test",
        "GOOGLE_CLOUD_PROJECT": "project",
        "FIRECRAWL_API_KEY": "fc-key-of-the-test",
        "https_proxy": "http://127.0.0.1:9",
        "LC_ALL": "C.UTF-8",
    }
    unwanted = {
        "SERPER_API_KEY": "serper-key-of-the-test",
        "GITHUB_TOKEN": "github-token-of-the-test",
        "OPENAI_API_KEY": "openai-key-of-the-test",
        "AWS_SECRET_ACCESS_KEY": "aws-key-of-the-test",
        "FORAGE_TOKENS": "alice:token-of-the-test-0123456789",
        "LD_PRELOAD_OF_SOMEBODY": "x",
        "NODE_OPTIONS": "--no-warnings",
    }
    ours = {"FORAGE_CONTEXT": "somebody", "FORAGE_PROFILE": "chatgpt", "FORAGE_MAX_RESULT_CHARS": "50000"}
    settings = place.settings(GEMINI_CLI_PATH=worker.path, **wanted, **unwanted, **ours)
    with Server(**settings) as server:
        headers = {"Authorization": "Bearer token-of-the-test-0123456789"}
        assert research(server, "search", {"query": QUESTION}, headers).json()["success"]
    run = worker.runs()[0]
    assert wanted.items() <= run["env"].items()
    assert not set(unwanted) & set(run["env"])
    assert run["env"]["GEMINI_CLI_TRUST_WORKSPACE"] == run["env"]["GEMINI_CLI_NO_RELAUNCH"] == "true"
    assert run["env"]["HOME"] == str(place.home)
    # The forage that it reads pages with answers with JSON, whole.
    assert run["env"]["FORAGE_CONTEXT"] == "research-worker" and run["env"]["FORAGE_MAX_RESULT_CHARS"] == "36000"
    assert run["env"]["FORAGE_PROFILE"] == "all"


def test_worker_runs_apart(forage, worker, place):
    """In its folder, in a process group of its own, with no descriptor of ours."""
    assert search(forage)["success"]
    (run,) = worker.runs()
    assert run["cwd"] == str(place.config)
    assert run["group"] == run["pid"]
    assert run["descriptors"] == [0, 1, 2]
    argv = run["argv"]
    assert argv[argv.index("--output-format") + 1] == "stream-json"
    assert argv[argv.index("--model") + 1] == "gemini-2.5-flash"
    assert "--policy" in argv and "--skip-trust" not in argv


def test_a_long_question_arrives_whole(forage, worker):
    question = " ".join(f"漢字{number:03}" for number in range(600))
    assert search(forage, question)["success"]
    assert question in worker.runs()[0]["stdin"]


def test_firecrawl_takes_part_only_when_it_is_set(place, tmp_path):
    nothing = {"FIRECRAWL_API_KEY": None, "FIRECRAWL_API_URL": None}
    cases = [({}, False), ({"FIRECRAWL_API_KEY": "fc-1234567890"}, True), ({"FIRECRAWL_API_URL": "http://127.0.0.1:9"}, True)]
    for settings, expected in cases:
        worker = Worker(tmp_path / f"worker-{len(settings)}-{expected}", play.answer(play.result()))
        with Server(**place.settings(GEMINI_CLI_PATH=worker.path, **{**nothing, **settings})) as server:
            assert search(server)["success"]
        argv = worker.runs()[-1]["argv"]
        allowed = argv[argv.index("--allowed-mcp-server-names") + 1]
        assert ("firecrawl" in allowed) is expected and "forage" in allowed


# ---- the configuration folder ----


def test_first_run_makes_the_folder_and_never_touches_it_again(tmp_path):
    place = Place(tmp_path)
    worker = Worker(tmp_path / "worker", play.answer(play.result()))
    settings = place.settings(GEMINI_CLI_PATH=worker.path, FIRECRAWL_API_KEY="fc-secret-of-the-test")
    with Server(**settings) as server:
        assert search(server)["success"]
        path = place.config / ".gemini" / "settings.json"
        for folder in (place.config, place.config / ".gemini"):
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        text = path.read_text()
        servers = json.loads(text)["mcpServers"]
        assert "fc-secret-of-the-test" not in text
        assert servers["firecrawl"]["env"]["FIRECRAWL_API_KEY"].startswith("${FIRECRAWL_API_KEY")
        assert "HTTP_STREAMABLE_SERVER" not in text
        assert servers["forage"]["command"] == FORAGE and servers["forage"]["trust"] is True
        assert servers["forage"]["env"]["FORAGE_TOOLS"] == "get_content"
        path.write_text("{}")
    with Server(**settings) as server:
        assert search(server)["success"]
    assert path.read_text() == "{}"
    path.unlink()
    with Server(**settings) as server:
        assert search(server)["success"]
    assert path.read_text() == text, "deleted, it is made again"
    names = {str(found.relative_to(place.config)) for found in place.config.rglob("*") if found.is_file()}
    assert not [name for name in names if name.endswith(("~", ".new", ".tmp"))]


@pytest.mark.parametrize("xdg", [None, "elsewhere"])
def test_the_folder_is_in_the_configuration_of_the_user(tmp_path, xdg):
    """Where GEMINI_SEARCH_CONFIG_DIR names no other."""
    worker = Worker(tmp_path / "worker", play.answer(play.result()))
    home = {"HOME": tmp_path, "XDG_CONFIG_HOME": xdg and tmp_path / xdg}
    with Server(GEMINI_CLI_PATH=worker.path, **home) as server:
        assert search(server)["success"]
    expected = tmp_path / (xdg or ".config") / "gemini-search-mcp"
    assert worker.runs()[0]["cwd"] == str(expected) and (expected / ".gemini" / "settings.json").exists()


def test_folder_that_cannot_be_made_ends_the_program(tmp_path):
    (tmp_path / "file").write_text("in the way")
    for command in ("serve", "mcp"):
        ended = run(command, **NO_KEYS, HOME=tmp_path, GEMINI_SEARCH_CONFIG_DIR=tmp_path / "file" / "config", MCP_SERVER_PORT=0)
        assert ended.returncode == 1, ended
        assert "set GEMINI_SEARCH_CONFIG_DIR" in ended.stderr and ended.stdout == ""


def test_folder_is_not_wanted_when_the_tools_are_off(tmp_path):
    (tmp_path / "file").write_text("in the way")
    settings = {"GEMINI_SEARCH_CONFIG_DIR": tmp_path / "file" / "config", "FORAGE_TOOLS": "web"}
    with Stdio(HOME=tmp_path, **settings) as client:
        client.handshake()


# ---- arguments ----


@pytest.mark.parametrize(
    "tool, arguments",
    [
        ("search", {}),
        ("search", {"query": ""}),
        ("search", {"query": "   \n "}),
        ("search", {"query": 7}),
        ("search", {"query": "x" * 100_001}),
        ("deep_search", {}),
        ("deep_search", {"topic": "\t"}),
        ("deep_search", {"topic": "x", "depth": "deep"}),
        ("deep_search", {"topic": "x", "maxIterations": 0}),
        ("deep_search", {"topic": "x", "maxIterations": 1.5}),
        ("deep_search", {"topic": "x", "maxIterations": 100_000}),
    ],
)
def test_wrong_arguments(forage, worker, tool, arguments):
    response = research(forage, tool, arguments)
    assert response.status == 400, response
    failed(response.json(), "VALIDATION")
    assert worker.runs() == []


# ---- progress, and taking turns ----


def test_progress_tells_what_the_worker_does(place, tmp_path):
    actions = [*play.begin(), *play.search(1, "depth of baikal"), ["gate", "gate-1"]]
    actions += [*play.read(1, PAGES[0]), ["gate", "gate-2"], *play.say(play.report()), *play.finish(), play.leave(0)]
    worker = Worker(tmp_path / "worker", actions)
    with Stdio(**place.settings(GEMINI_CLI_PATH=worker.path)) as client:
        client.handshake()
        id = start_call(client, "deep_search", {"topic": QUESTION}, "token")
        wait_until(lambda: any("searching: depth of baikal" in line for line in progress(client, "token")))
        worker.open_gate("gate-1")
        wait_until(lambda: any("reading: lakes.example.org" in line for line in progress(client, "token")))
        worker.open_gate("gate-2")
        assert outcome(client, id)["success"]


def test_progress_lines_on_stderr(place, tmp_path):
    worker = Worker(tmp_path / "worker", [*play.begin(), ["gate", "gate-1"], *play.answer(play.report())])
    settings = place.settings(GEMINI_CLI_PATH=worker.path, PROGRESS_LOG_INTERVAL=100)
    with Stdio(**settings) as client:
        client.handshake()
        id = start_call(client, "deep_search", {"topic": QUESTION})
        client.wait_log(r"\[INFO\] Research in progress... \(elapsed: \d+s\)")
        worker.open_gate("gate-1")
        assert outcome(client, id)["success"]
        assert "Baikal" not in client.log.text(), "the topic is logged under DEBUG only"
        lines = client.log.text().count("Research in progress")
        time.sleep(0.3)
        assert client.log.text().count("Research in progress") == lines, "none after its end"


def test_a_long_research_warns(place, tmp_path):
    """After two minutes, of a clock that the test moves."""
    clock = Clock(tmp_path)
    worker = Worker(tmp_path / "worker", [*play.begin(), ["gate", "gate-1"], *play.answer(play.report())])
    settings = place.settings(GEMINI_CLI_PATH=worker.path, PROGRESS_LOG_INTERVAL=100)
    with Server(**settings, **clock.settings(FORAGE)) as server, ThreadPoolExecutor(1) as pool:
        call = pool.submit(deep_search, server)
        server.wait_log(r"\[INFO\] Research in progress")
        assert "[WARN]" not in server.log.text()
        clock.pass_time(121)
        server.wait_log(r"\[WARN\] Research taking longer than expected... \(elapsed: 12\d+s\)")
        worker.open_gate("gate-1")
        assert call.result()["success"]


def test_what_the_worker_complains_of_is_logged_for_debugging(place, tmp_path):
    key = "gemini-key-of-the-test-0123456789"
    long = "x" * 1990 + key + "x" * 20_000
    worker = Worker(tmp_path / "worker", [play.err(f"odd: {QUESTION} {key}\n{long}\n"), *play.answer(play.result())])
    for debug in (True, False):
        with Server(**place.settings(GEMINI_CLI_PATH=worker.path, GEMINI_API_KEY=key, DEBUG=debug, FORAGE_LOG_LEVEL="debug")) as server:
            assert search(server)["success"]
            log = server.log.text()
        assert (f"the Gemini CLI wrote to stderr: odd: {QUESTION} [redacted]" in log) == debug
        assert ("wrote to stderr: xxx" in log) == debug
        assert key[:8] not in log and ("Baikal" in log) == debug


def test_workers_take_turns(place, tmp_path):
    """Two at once by default; the third waits, and says so."""
    gated = [*play.begin(), ["gate", "gate-1"], *play.say(play.result()), *play.finish(), play.leave(0)]
    worker = Worker(tmp_path / "worker", gated)
    with Stdio(**place.settings(GEMINI_CLI_PATH=worker.path)) as client:
        client.handshake()
        ids = [start_call(client, "search", {"query": QUESTION}, f"token-{number}") for number in range(3)]
        worker.wait_runs(2)
        wait_until(lambda: any("wait" in line for number in range(3) for line in progress(client, f"token-{number}")))
        time.sleep(0.3)
        assert len(worker.runs()) == 2
        worker.open_gate("gate-1")
        for id in ids:
            assert outcome(client, id)["success"]
    assert len(worker.runs()) == 3


def test_one_who_waits_in_line_can_leave_it(place, tmp_path):
    gated = [*play.begin(), ["gate", "gate-1"], *play.say(play.result()), *play.finish(), play.leave(0)]
    worker = Worker(tmp_path / "worker", gated)
    with Stdio(**place.settings(GEMINI_CLI_PATH=worker.path, FORAGE_RESEARCH_CONCURRENCY=1)) as client:
        client.handshake()
        first = start_call(client, "search", {"query": QUESTION})
        worker.wait_runs(1)
        second = start_call(client, "search", {"query": QUESTION}, "token")
        wait_until(lambda: progress(client, "token"))
        client.send(cancelled(second))
        third = start_call(client, "search", {"query": QUESTION})
        worker.open_gate("gate-1")
        assert outcome(client, first)["success"] and outcome(client, third)["success"]
    assert len(worker.runs()) == 2


# ---- the command line ----


def saved(place, tmp_path, name, *more):
    words = '<script>alert("x")</script>. Lake Baikal is 1,642 metres deep'
    lie = LIE.replace("Baikal", "[Baikal](http://evil.test/)")
    steps = [play.search(1, "q"), play.page(1, PAGES[0], f"{words}.", title="<i>T</i>"), play.page(2, PAGES[1], lie)]
    report = with_evidence(
        ("It <b>is</b> deep", words, PAGES[0]), ("a lie", "not on the page at all", PAGES[0]),
        report="# Head <img src=x onerror=y>\n\nDeep & [a link](javascript:x) [1].\n\n- Lie [2].\n\n```\n<b>[1]\n```",
    )
    worker = Worker(tmp_path / f"worker-{name}", play.answer(report, *steps))
    return run("research", QUESTION, "--out", str(tmp_path / name), *more, **place.settings(GEMINI_CLI_PATH=worker.path))


def test_reports_are_saved(place, tmp_path):
    ended = saved(place, tmp_path, "report.md")
    assert ended.returncode == 0 and ended.stdout == "", ended.stderr
    assert "report.md" in ended.stderr and "2 claims: 1 exact, 0 near, 1 absent, 0 unseen; not verified: 1 of 2 quotes found)" in ended.stderr
    text = (tmp_path / "report.md").read_text()
    assert "Deep & [a link](javascript:x) [^1]." in text and "- Lie (no source says so)." in text
    assert f"Pages read:\n- <{PAGES[0]}>\n- <{PAGES[1]}>\n" in text and "1,462" in text
    assert "Sources contradict each other" in text and "](http://evil" not in text, "a page's words stay words"
    assert f"\\[Baikal\\](http\\://evil.test/) is 1,462 metres deep” <{PAGES[1]}>" in text
    assert saved(place, tmp_path, "report.json").returncode == 0
    assert json.loads((tmp_path / "report.json").read_text())["citations"]["absent"] == 1
    (tmp_path / "report.HTML").write_text("old")
    assert saved(place, tmp_path, "report.HTML").returncode == 0
    assert not list(tmp_path.glob("*.new"))
    assert stat.S_IMODE((tmp_path / "report.HTML").stat().st_mode) & 0o077 == 0


def test_the_reason_why_a_report_is_not_verified_is_told(place, tmp_path):
    """All quotes were found, and yet: pages of one host are one source."""
    one_host = ["https://a.example.org/1", "https://a.example.org/2"]
    cases = [
        (one_host, "not verified: 1 of 1 quote found, but all pages are of one host"),
        (PAGES, "1 claim: 1 exact, 0 near, 0 absent, 0 unseen; verified\n"),
    ]
    for number, (pages, words) in enumerate(cases):
        steps = [play.page(place_of, url, LAKE) for place_of, url in enumerate(pages[:2], 1)]
        report = with_evidence(("It is deep", "Lake Baikal is 1,642 metres deep", pages[0]), report="Deep [1].")
        worker = Worker(tmp_path / f"worker-{number}", play.answer(report, *steps))
        told = run("research", QUESTION, **place.settings(GEMINI_CLI_PATH=worker.path))
        assert words in told.stdout, told.stdout
    worker = Worker(tmp_path / "worker-none", play.answer(play.report("# Report"), *steps))
    told = run("research", QUESTION, **place.settings(GEMINI_CLI_PATH=worker.path))
    assert "not verified: the report cites nothing" in told.stdout


def test_a_saved_page_is_inert(place, tmp_path):
    """Everything that came from the worker or a page is text; the quotes stand beside the claims."""
    assert saved(place, tmp_path, "report.html").returncode == 0
    page = (tmp_path / "report.html").read_text()
    assert "<script" not in page and "<img" not in page and "<b>" not in page and "<i>" not in page
    assert 'href="javascript' not in page and "Content-Security-Policy" in page and "default-src 'none'" in page
    assert 'src="' not in page and set(re.findall(r'href="([^"]*)"', page)) <= {*PAGES}
    row = re.search(r'<div class="row"><p>Deep &amp; .*?</div>', page)[0]
    assert "<sup>[1]</sup>" in row and "<aside>" in row and "&lt;script&gt;" in row and "1,642 metres deep" in row
    assert "(no source says so)" in page and "<pre>&lt;b&gt;[1]" in page and "1,462" in page


@pytest.mark.parametrize(
    "name, told",
    [
        ("report.txt", "must end in .md, .json or .html"),
        ("report", "must end in .md, .json or .html"),
        (".md", "must end in .md, .json or .html"),
        ("missing/report.md", "there is no folder"),
        ("folder.md", "no file can be written there"),
    ],
)
def test_where_no_report_can_be_saved(place, tmp_path, name, told):
    (tmp_path / "folder.md").mkdir()
    worker = Worker(tmp_path / "worker", play.answer(play.report()))
    ended = run("research", QUESTION, "--out", str(tmp_path / name), **place.settings(GEMINI_CLI_PATH=worker.path))
    assert ended.returncode == 2 and ended.stdout == "" and told in ended.stderr
    assert worker.runs() == [], "it is said before the research begins"


def test_saving_and_printing_are_two_things(place, tmp_path):
    worker = Worker(tmp_path / "worker", play.answer(play.report()))
    settings = place.settings(GEMINI_CLI_PATH=worker.path)
    ended = run("research", QUESTION, "--json", "--out", str(tmp_path / "r.json"), **settings)
    assert ended.returncode == 2 and "--out report.json" in ended.stderr and worker.runs() == []



def test_research_from_the_command_line(place, tmp_path):
    worker = Worker(tmp_path / "worker", play.answer(play.report("# On Baikal"), play.search(1, "q"), *visit(*PAGES)))
    settings = place.settings(GEMINI_CLI_PATH=worker.path)
    ended = run("research", QUESTION, **settings)
    assert ended.returncode == 0, ended.stderr
    assert "# On Baikal" in ended.stdout and PAGES[0] in ended.stdout
    assert ended.stderr == "", "nobody is there to watch it, and that there is no Firecrawl is the doctor's to say"
    watched = run_on_terminal("research", QUESTION, **settings)
    assert watched.returncode == 0 and "\r\033[Ksearching: q" in watched.stderr
    assert screen(watched.stderr) == [], "one line, which is taken away again; nothing else is said"
    ended = run("research", "--json", QUESTION, **settings)
    assert json.loads(ended.stdout)["report"] == "# On Baikal"
    worker.play([play.leave(41)])
    ended = run("research", QUESTION, **settings)
    assert ended.returncode != 0 and ended.stdout == "" and "GEMINI_API_KEY" in ended.stderr
