"""What goes wrong with the real Gemini CLI, as far as it can be made to; the rest is in tests/blackbox, with a scripted
worker. The runs are made side by side when the first test asks for them; each test looks at one."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from fakes import gemini
from fakes.gemini import Gemini
from fakes.model import Ask, Fail, Hang, Say
from fakes.worker import report, result
from programs import Server
from real import RealPlace
from research import failed, research

GOOD = Say(result("at last"))


class Case:
    """A script of the model, and what else is wrong; the code and a word of the advice that must come of it."""

    def __init__(self, name, script, code, advice="", tool="search", change=None, **settings):
        self.name = name
        self.script = script
        self.code = code
        self.advice = advice
        self.tool = tool
        self.change = change  # what is done to the place after its folder was made
        self.settings = settings


def break_settings(place):
    (place.config / ".gemini" / "settings.json").write_text("{ this is not JSON")


def break_policy(place):
    """The CLI would go on without any policy: with tools that read files."""
    path = place.config / ".gemini" / "policy.toml"
    path.write_text(path.read_text() + '\n[[rule]]\nmcpName = "other"\ndecision = "allow"\npriority = 300\n')


def limit_turns(place):
    path = place.config / ".gemini" / "settings.json"
    settings = json.loads(path.read_text())
    settings["model"]["maxSessionTurns"] = 2
    path.write_text(json.dumps(settings))


def forget_node(place):
    (place.programs / "node").write_text("#!/bin/sh\nexit 127\n")
    (place.programs / "node").chmod(0o755)


def second_try(conversation):
    return GOOD if conversation.number == 2 else Say("No JSON this time.")


CASES = [
    Case("bad key", [GOOD], "AUTH_ERROR", "GEMINI_API_KEY", GEMINI_API_KEY="wrong"),
    Case("no sign-in", [GOOD], "AUTH_ERROR", "GEMINI_API_KEY", GEMINI_API_KEY=""),
    Case("400, not the key", [Fail(400)], "EXECUTION_ERROR"),
    Case("401", [Fail(401)], "AUTH_ERROR"),
    Case("403", [Fail(403)], "AUTH_ERROR"),
    Case("no such model", [Fail(404)], "MODEL_NOT_FOUND", "(GEMINI_MODEL", GEMINI_MODEL="gemini-99"),
    Case("quota of the day", [Fail(429)], "QUOTA_EXCEEDED", "quota"),
    Case("quota of the minute", [Fail(429, "minute")], "QUOTA_EXCEEDED", "quota"),
    Case("500", [Fail(500)], "EXECUTION_ERROR", "again"),
    Case("503", [Fail(503)], "EXECUTION_ERROR", "again"),
    Case("refused half-way", [Ask("google_web_search", query="q"), Fail(429)], "QUOTA_EXCEEDED", "quota"),
    Case("turn limit", [Ask("google_web_search", query="q")], "TURN_LIMIT", "maxSessionTurns", "deep_search", limit_turns),
    Case(
        "too many rounds",
        [Ask("google_web_search", query="q")],
        "TURN_LIMIT",
        "round",
        tool="deep_search",
        GEMINI_CLI_MAX_ITERATIONS=3,
    ),
    Case("broken settings", [GOOD], "CONFIG_ERROR", "settings", change=break_settings),
    Case("broken policy", [GOOD], "CONFIG_ERROR", "policy", change=break_policy),
    Case("no Node.js", [GOOD], "CLI_NOT_FOUND", "Node", change=forget_node),
    Case("timeout of search", [Hang()], "EXECUTION_ERROR", "increasing GEMINI_SEARCH_TIMEOUT", GEMINI_SEARCH_TIMEOUT=6000),
    Case("timeout", [Hang()], "CLI_TIMEOUT", "increasing GEMINI_SEARCH_TIMEOUT", tool="deep_search", GEMINI_SEARCH_TIMEOUT=6000),
    Case("no JSON", [Say("I write no JSON.")], "PARSE_ERROR", tool="deep_search", JSON_MAX_RETRIES=0),
    Case("JSON at the second try", second_try, None),
    Case("it says that it failed", [Say(report(success=False))], "EXECUTION_ERROR", tool="deep_search"),
]


def run_case(case, folder):
    place = RealPlace(folder)
    script = [case.script] if callable(case.script) else case.script
    with Gemini(*script) as fake:
        settings = place.with_gemini(fake) | case.settings
        if not settings["GEMINI_API_KEY"]:
            del settings["GEMINI_API_KEY"]
        with Server(**settings) as server:
            if case.change:
                case.change(place)
            arguments = {"query": "q"} if case.tool == "search" else {"topic": "q"}
            answer = research(server, case.tool, arguments).json()
            place.wait_none_running(server.pid)
            log = server.log.text()
        return place, fake, answer, log


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory, request):
    """Only those that were chosen are run."""
    chosen = {item.callspec.params["name"] for item in request.session.items if getattr(item, "originalname", "") == "test_failure"}
    folder = tmp_path_factory.mktemp("failures")
    with ThreadPoolExecutor(3) as pool:
        runs = {}
        for number, case in enumerate(CASES):
            if case.name in chosen:
                (folder / str(number)).mkdir()
                runs[case.name] = pool.submit(run_case, case, folder / str(number))
        yield runs


@pytest.mark.parametrize("name", [case.name for case in CASES])
def test_failure(outcomes, name):
    case = next(case for case in CASES if case.name == name)
    place, fake, answer, log = outcomes[name].result()
    if case.code is None:
        assert answer["success"] is True, answer
        assert len({conversation.prompt for conversation in fake.conversations}) == 1, "the same prompt again"
        return
    error = failed(answer, case.code)
    assert case.advice.lower() in (error["message"] + error.get("details", "")).lower(), error
    assert gemini.KEY not in json.dumps(answer) + log
    left = [path for path in place.temporary.rglob("*") if path.is_file()]
    assert left == [], "the CLI writes whole conversations there when it fails"


def test_a_second_search_is_denied(tmp_path):
    """By the hook in its settings; the CLI goes on, and the answer comes."""
    asked = [Ask("google_web_search", query="first"), Ask("google_web_search", query="second"), GOOD]
    _, fake, answer, _ = run_case(Case("second search", asked, None), tmp_path)
    assert answer["success"] is True and fake.searches == ["first"], answer
    assert "one search is all" in answer["metadata"]["warnings"][0]
    assert "One search only" in json.dumps(fake.conversations[-1].results)
