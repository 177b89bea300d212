"""search_web as its contract says it: what is asked for is done, what is wrong is refused, and every door gives the
same; `forage answer` for people. Where each test of its plan is stands in test_search_web.py."""

import itertools
import json
import time

import pytest
from answering import (  # noqa: F401 (fixtures)
    QUESTION,
    UNLIMITED,
    ask,
    error_of,
    fake,
    forage,
    result_of,
    settings,
    shared_fake,
    shared_forage,
    span,
)
from conftest import ALICE, BOB
from fakes.responses import RAIN, SCENARIOS, SNOW, UNITS, Link, cited, message, reply, search
from http_client import exchange, request
from messages import tool_call
from programs import ROOT, Server, Stdio, run


# ---- what is asked for is done ----


@pytest.mark.parametrize("region", ["DE", "de"])
def test_region_is_acted_upon(forage, fake, region):
    result_of(forage, region=region)
    (body,) = fake.bodies()
    assert body["tools"][0]["user_location"] == {"type": "approximate", "country": "DE"}
    assert "Germany" in body["instructions"]


def test_a_region_that_the_service_refuses(forage, fake):
    fake.play("region_refused")
    assert "region" in error_of(forage, 400, "VALIDATION", region="AQ")["message"]
    # Without one it is our own choice to send a place, so that is dropped.
    fake.play("region_refused", "normal")
    result_of(forage)
    assert "user_location" not in fake.bodies()[1]["tools"][0]
    # A country is still for the service to refuse.
    result_of(forage, region="DE")
    assert fake.bodies()[2]["tools"][0]["user_location"]["country"] == "DE"


def test_freshness_is_acted_upon(forage, fake):
    now = time.gmtime()
    today = time.strftime("%Y-%m-%d", now)
    old = Link("https://old.example/2019/03/04/rain", "Old")
    dated = cited("It rained. ", old, " It rains today. ", RAIN, f" (published {today}) It snows. ", SNOW)
    fake.play(reply(search(), message(dated)))
    result = result_of(forage, freshnessHours=24)
    (body,) = fake.bodies()
    assert "last 24 hours" in body["instructions"]
    assert [(c["title"], c.get("published"), c.get("outdated")) for c in result["citations"]] == [
        ("Rain today", today, None),
        ("Snow tomorrow", None, None),
        ("Old", "2019-03-04", True),
    ]
    assert any("outdated" in note for note in result["notes"])
    # The first to go when there are too many.
    result = result_of(forage, freshnessHours=24, maxResults=2)
    assert [c["title"] for c in result["citations"]] == ["Rain today", "Snow tomorrow"]
    # Age does not matter: nothing is marked or moved.
    result = result_of(forage)
    assert [c["title"] for c in result["citations"]] == ["Old", "Rain today", "Snow tomorrow"]
    assert not any("outdated" in c for c in result["citations"])


def test_dates_are_acted_upon(forage, fake):
    old = Link("https://old.example/2019/03/04/rain", "Old")
    fake.play(reply(search(), message(cited("It rained. ", old, " It rains. ", RAIN, " (published 2026-02-01)"))))
    result = result_of(forage, start_date="2026-01-31", end_date="2026-02-28")
    (body,) = fake.bodies()
    assert "published from 2026-01-31 to 2026-02-28, both days included" in body["instructions"]
    assert [(c["title"], c.get("outdated")) for c in result["citations"]] == [("Rain today", None), ("Old", True)]
    assert any("outdated" in note for note in result["notes"])
    result_of(forage, end_date="2026-02-28")
    assert "published on 2026-02-28 or earlier" in fake.bodies()[1]["instructions"]


@pytest.mark.parametrize("most", [1, 3, 8])
def test_max_results_is_acted_upon(forage, fake, most):
    pieces = [(f"Claim {i}. ", Link(f"https://s{i}.example/", f"S{i}")) for i in range(10)]
    fake.play(reply(search(), message(cited(*itertools.chain(*pieces)))))
    result = result_of(forage, maxResults=most)
    assert f"at most {most} sources" in fake.bodies()[0]["instructions"]
    assert [c["title"] for c in result["citations"]] == [f"S{i}" for i in range(most)]
    assert [c["rank"] for c in result["citations"]] == list(range(1, most + 1))
    assert any("maxResults" in note for note in result["notes"])


def test_include_answers_false(forage, fake):
    result = result_of(forage, includeAnswers=False)
    assert result["text"] == ""
    assert [(c["startIndex"], c["endIndex"]) for c in result["citations"]] == [(0, 0), (0, 0)]
    assert [c["textSnippet"] for c in result["citations"]] == ["It rains today.", "It snows tomorrow."]


def test_urls_are_scrubbed(forage, fake):
    link = Link("https://x.example/a", "X", tracking="?id=7&utm_source=openai&utm_medium=ai&fbclid=1#part")
    fake.play(reply(search(), message(cited("It rains. ", link, " See https://y.example/?ref=z."))))
    result = result_of(forage)
    assert result["citations"][0]["url"] == "https://x.example/a?id=7#part"
    assert result["text"].endswith("](https://x.example/a?id=7#part)) See https://y.example/.")


def test_a_source_is_an_address_of_the_web(forage, fake):
    bad = [Link(url, "bad", tracking="") for url in ("javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "")]
    fake.play(reply(search(), message(cited("It rains. ", *bad, RAIN))))
    assert [c["title"] for c in result_of(forage)["citations"]] == ["Rain today"]


def test_a_huge_answer_fits_the_budget(settings, fake):
    fake.play(reply(search(), message(cited("Long 長い. " * 20000, RAIN))))
    with Server(FORAGE_MAX_RESULT_CHARS=5000, **settings) as server:
        answer = ask(server)
    result = answer.json()
    assert answer.status == 200 and len(answer.body.decode()) <= 5000
    assert any("cut" in note for note in result["notes"])
    assert all(c["endIndex"] <= len(result["text"]) for c in result["citations"])


# ---- positions in any unit ----

BEFORE = {
    "emoji": "🦦🦦 Otters 👩‍🔬 swim 🇩🇪. ",
    "combining marks": "Cafe\u0301 o\u0308ffnet nai\u0308v. ",
    "Cyrillic": "Сегодня идёт дождь. ",
    "Chinese": "今天下雨，明天下雪。",
    "everything": "🦦 e\u0301 дождь 下雨。Ünïcödé 𝒳𝒴 שלום. ",
    "nothing": "",
}


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("script", BEFORE)
def test_the_right_snippet_in_any_unit(forage, fake, script, unit):
    part = cited(BEFORE[script], "It rains today. ", RAIN, " ", BEFORE[script], "It snows. ", SNOW, unit=unit)
    fake.play(reply(search(), message(part)))
    result = result_of(forage)
    assert [c["textSnippet"] for c in result["citations"]] == ["It rains today.", "It snows."]
    assert span(result, result["citations"][0]) == "([weather.example](https://weather.example/rain))"
    assert span(result, result["citations"][1]) == "([snow.example](https://snow.example/news))"


# ---- input ----


@pytest.mark.parametrize("query", ["", "ab", "  ab  ", " \n\t ", "x" * 401, "日" * 401], ids=lambda q: f"{len(q)}")
def test_query_length(forage, fake, query):
    failure = error_of(forage, 400, "VALIDATION", query)
    assert "query" in failure["message"] and "400" in failure["message"]
    assert fake.requests == []


WRONG = [
    ({"maxResults": 0}, "maxResults"),
    ({"maxResults": 9}, "maxResults"),
    ({"maxResults": "many"}, "maxResults"),
    ({"freshnessHours": 0}, "freshnessHours"),
    ({"freshnessHours": 169}, "freshnessHours"),
    ({"start_date": "2026-02-30"}, "start_date"),
    ({"end_date": "yesterday"}, "end_date"),
    ({"start_date": "2026-02-02", "end_date": "2026-02-01"}, "end_date"),
    ({"start_date": "2026-02-02", "freshnessHours": 24}, "freshnessHours"),
    ({"region": "D"}, "region"),
    ({"region": "Germany"}, "region"),
    ({"region": "XX"}, "region"),
    ({"region": "UK"}, "GB"),
    ({"region": "1!"}, "region"),
    ({"includeAnswers": "no"}, "includeAnswers"),
    ({"query": 7}, "query"),
    ({"query": "with a \x07 bell"}, "query"),
    ({"question": "x"}, "question"),
    ({"token": "a-token-of-somebody-0123"}, "token"),
]


@pytest.mark.parametrize("arguments, word", WRONG, ids=[str(row[0]) for row in WRONG])
def test_invalid_parameters_are_rejected(forage, fake, arguments, word):
    arguments = {"query": QUESTION, **arguments}
    query = arguments.pop("query")
    assert word in error_of(forage, 400, "VALIDATION", query, **arguments)["message"]
    assert fake.requests == []


# ---- guardrails ----


@pytest.mark.parametrize("query", ["polymarket odds", "prediction market price for a recession", "live market data"])
def test_polymarket_queries_are_rejected(forage, fake, query):
    failure = error_of(forage, 400, "VALIDATION", query)
    assert "polymarket MCP server" in failure["message"] and "FORAGE_GUARDRAILS" in failure["message"]
    assert "balanced" in failure["message"] and failure["details"]["server"] == "polymarket"
    assert fake.requests == []


@pytest.mark.parametrize(
    "query", ["google news rss", "google news rss feed for climate", "bbc rss feed", "subscribe to a news feed about climate"]
)
def test_rss_queries_are_rejected(forage, fake, query):
    failure = error_of(forage, 400, "VALIDATION", query)
    assert "google-news-rss MCP server" in failure["message"] and "FORAGE_GUARDRAILS" in failure["message"]
    assert failure["details"]["server"] == "google-news-rss" and failure["details"]["rule"]
    assert fake.requests == []


@pytest.mark.parametrize(
    "query", ["javascript event loop", "stock market history", "latest google news on storm", "find an RSS feed for quill"]
)
def test_what_no_special_server_is_for_passes(forage, fake, query):
    result_of(forage, query)
    assert len(fake.requests) == 1


def test_the_command_line_is_not_guarded(settings, fake):
    query = "polymarket odds"
    for setting in ("balanced", "strict"):
        stored = {**settings, "FORAGE_GUARDRAILS": setting, "FORAGE_HISTORY": "on"}
        assert run("answer", query, **stored).returncode == 0
        assert run("call", "search_web", f"query={query}", **stored).returncode == 0
        asked = len(fake.requests)
        # What a person was answered is no way around them for an agent.
        with Stdio(**stored) as agent:
            agent.handshake()
            refused = agent.ask("tools/call", {"name": "search_web", "arguments": {"query": query}})["result"]
            assert refused["isError"] and "polymarket MCP server" in refused["content"][0]["text"]
        assert len(fake.requests) == asked


def test_no_description_names_a_server_that_a_user_may_not_have(forage):
    rules = (ROOT / "data").glob("guardrails-*.json")
    servers = {rule["server"] for file in rules for rule in json.loads(file.read_text())["rules"]}
    with Stdio() as agent:
        agent.handshake()
        tools = json.dumps(agent.ask("tools/list")["result"]["tools"]).lower()
    longer = exchange(forage.port, request("GET", "/api/v1/tools")).body.decode().lower()
    assert len(servers) == 2 and "search_web" in tools and "search_web" in longer
    for name in servers | {"google news"}:
        assert name not in tools and name not in longer


def test_twenty_calls_in_ten_minutes(settings, fake):
    """Of each caller, without any setting; over a restart."""
    del settings["FORAGE_LIMITS"]
    with_tokens = {**settings, "FORAGE_TOKENS": f"alice:{ALICE},bob:{BOB}"}
    alice, bob = ({"Authorization": f"Bearer {token}"} for token in (ALICE, BOB))
    with Server(**with_tokens) as server:
        assert [ask(server, headers=alice).status for _ in range(20)] == [200] * 20
        refused = ask(server, headers=alice)
        assert refused.status == 429 and refused.json()["error"]["code"] == "RATE_LIMIT"
        assert 500 < int(refused.header("Retry-After")) <= 600
        assert ask(server, headers=bob).status == 200
    with Server(**with_tokens) as server:
        assert ask(server, headers=alice).status == 429
    assert len(fake.requests) == 21


def test_guardrails_strict_off_and_a_file(settings, fake, tmp_path):
    rules = tmp_path / "rules.json"
    rules.write_text('{"rules": [{"name": "tickets", "server": "jira", "any": ["jira ticket*"]}]}')
    for setting, refused, passed in (
        ("strict", ["javascript event loop", "bbc rss"], ["capital of Mongolia"]),
        ("off", [], ["polymarket odds", "google news rss"]),
        (rules, ["open jira tickets"], ["polymarket odds"]),
    ):
        with Server(FORAGE_GUARDRAILS=setting, **settings) as server:
            for query in refused:
                # Where a file of rules lies is the operator's to know.
                shown = "a file" if setting == rules else setting
                assert f"it is {shown} now" in error_of(server, 400, "VALIDATION", query)["message"]
            for query in passed:
                result_of(server, query)


def test_wrong_guardrails_stop_the_program(tmp_path):
    rules = tmp_path / "rules.json"
    rules.write_text('{"rules": [{"name": "x"}]}')
    for setting, word in ((rules, "rule 1"), (tmp_path / "none.json", "none.json"), ("balansed", "balanced")):
        completed = run("serve", MCP_SERVER_PORT=0, FORAGE_GUARDRAILS=setting)
        assert completed.returncode == 2 and word in completed.stderr and "FORAGE_GUARDRAILS" in completed.stderr


# ---- the contract over MCP ----


def mcp(server, arguments, headers=None):
    return exchange(server.port, request("POST", "/mcp", headers, tool_call("search_web", arguments)))


@pytest.fixture(scope="module")
def with_tokens(shared_fake, tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    tokens = f"alice:{ALICE},bob:{BOB}"
    with Server(OPENAI_BASE_URL=shared_fake.base_url, FORAGE_DATA_DIR=folder, FORAGE_TOKENS=tokens, **UNLIMITED) as server:
        yield server


def test_auth_valid_token(with_tokens, fake):
    answer = mcp(with_tokens, {"query": QUESTION}, {"Authorization": f"Bearer {ALICE}"})
    result = answer.json()["result"]
    assert answer.status == 200 and result["structuredContent"]["success"] is True
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]


def test_auth_invalid_token(with_tokens, fake):
    assert mcp(with_tokens, {"query": QUESTION}, {"Authorization": "Bearer wrong-token-000000"}).status == 401
    assert fake.requests == []


def test_auth_missing_token(with_tokens, fake):
    assert mcp(with_tokens, {"query": QUESTION}).status == 401
    assert ask(with_tokens).status == 401
    assert fake.requests == []


def definition(server):
    listed = exchange(server.port, request("POST", "/mcp", None, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}))
    return next(tool for tool in listed.json()["result"]["tools"] if tool["name"] == "search_web")


def check_schema(schema, value, where="result"):
    """The part of JSON Schema that the definition uses."""
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int}
    assert type(value) is kinds[schema["type"]], (where, value)
    for name in schema.get("required", []):
        assert name in value, (where, name)
    if schema["type"] == "object" and "properties" in schema:
        for name, member in value.items():
            assert name in schema["properties"], (where, name)
            check_schema(schema["properties"][name], member, f"{where}.{name}")
    for index, item in enumerate(value if schema["type"] == "array" else []):
        check_schema(schema["items"], item, f"{where}[{index}]")
    assert not schema["type"] == "array" or len(value) <= schema.get("maxItems", len(value))
    assert not schema["type"] == "integer" or value >= schema.get("minimum", value)


# Those that are not about the wire; the breaker's patience ends at five failures in a row.
QUICK = sorted(set(SCENARIOS) - {"silence", "rate_limited", "rate_limited_ms", "rate_limited_second", "status_500", "status_502", "status_503"})


@pytest.mark.parametrize("name", QUICK)
def test_output_schema_in_every_scenario(forage, fake, name):
    """Results and errors match the definition, and a success has all that the contract requires."""
    fake.play(name)
    result = mcp(forage, {"query": QUESTION}).json()["result"]
    body = result["structuredContent"]
    check_schema(definition(forage)["outputSchema"], body)
    assert body["success"] is not result.get("isError", False)
    if body["success"]:
        assert {"text", "citations", "provider", "respondedAt"} <= set(body)
    else:
        assert {"code", "message"} <= set(body["error"]) and body["error"]["code"] in (
            "AUTH", "RATE_LIMIT", "PROVIDER", "VALIDATION", "PARSE"
        )  # fmt: skip


def test_the_definition_chooses_between_tools(forage):
    tool = definition(forage)
    for word in ("Use it when", "Do not use it", "web_search", "get_content", "deep_search", "OPENAI_API_KEY", "Returns"):
        assert word in tool["description"], word
    properties = tool["inputSchema"]["properties"]
    assert (properties["query"]["minLength"], properties["query"]["maxLength"]) == (3, 400)
    assert (properties["maxResults"]["minimum"], properties["maxResults"]["maximum"]) == (1, 8)
    assert properties["maxResults"]["default"] == 5 and properties["includeAnswers"]["default"] is True
    assert (properties["freshnessHours"]["minimum"], properties["freshnessHours"]["maximum"]) == (1, 168)
    assert all(p["description"] and p["examples"] for p in properties.values())
    assert tool["annotations"]["readOnlyHint"] is True and tool["annotations"]["openWorldHint"] is True


def test_nothing_private_is_logged(settings, fake):
    secret_words = "zanzibar quokka moonlight"
    with Server(**settings) as server:
        fake.play(reply(search(), message(cited("A very private sentence. ", RAIN))))
        result_of(server, f"what is {secret_words}?")
        fake.play("quota")
        error_of(server, 429, "RATE_LIMIT", f"where is {secret_words}?")
        server.wait_log(r"tool=search_web .*status=RATE_LIMIT")
        log = server.log.text()
    for words in ("zanzibar", "quokka", "private sentence", "weather.example"):
        assert words not in log


# ---- every door ----


def test_smoke_every_door(settings, fake):
    """The same answer over REST, MCP over HTTP, MCP over stdio and the command line."""

    def plain(body):
        return {key: value for key, value in body.items() if key not in ("id", "respondedAt")}

    with Server(**settings) as server:
        rest = result_of(server)
        over_http = mcp(server, {"query": QUESTION}).json()["result"]["structuredContent"]
    with Stdio(**settings) as client:
        client.handshake()
        over_stdio = client.ask("tools/call", {"name": "search_web", "arguments": {"query": QUESTION}})
    completed = run("answer", QUESTION, "--json", **settings)
    assert completed.returncode == 0, completed.stderr
    assert plain(rest) == plain(over_http) == plain(over_stdio["result"]["structuredContent"])
    assert plain(rest) == plain(json.loads(completed.stdout))


# ---- forage answer ----


def test_answer_for_people(settings, fake):
    completed = run("answer", QUESTION, "--max", 2, "--fresh", 24, "--region", "de", **settings)
    assert completed.returncode == 0, completed.stderr
    assert completed.stdout == (
        "It rains today. [1] It snows tomorrow. [2]\n\n"
        "[1] Rain today\n    https://weather.example/rain\n"
        "[2] Snow tomorrow\n    https://snow.example/news\n"
    )
    (body,) = fake.bodies()
    assert body["tools"][0]["user_location"]["country"] == "DE"
    assert "at most 2 sources" in body["instructions"] and "last 24 hours" in body["instructions"]


def test_a_page_that_is_cited_twice(settings, fake):
    """Each citation comes with its sentence; the source is one, and its number stands for each marker."""
    fake.play(reply(search(), message(cited("It rains. ", RAIN, " It snows. ", SNOW, " It hails. ", RAIN))))
    with Server(**settings) as server:
        result = result_of(server)
        assert [(c["title"], c["rank"], c["textSnippet"]) for c in result["citations"]] == [
            ("Rain today", 1, "It rains."),
            ("Rain today", 1, "It hails."),
            ("Snow tomorrow", 2, "It snows."),
        ]
        assert {span(result, c) for c in result["citations"] if c["rank"] == 1} == {span(result, result["citations"][0])}
        fake.play(reply(search(), message(cited("It rains. ", RAIN, " It snows. ", SNOW, " It hails. ", RAIN))))
        assert {c["rank"] for c in result_of(server, maxResults=1)["citations"]} == {1}
    fake.play(reply(search(), message(cited("It rains. ", RAIN, " It snows. ", SNOW, " It hails. ", RAIN))))
    completed = run("answer", QUESTION, **settings)
    assert completed.stdout == (
        "It rains. [1] It snows. [2] It hails. [1]\n\n"
        "[1] Rain today\n    https://weather.example/rain\n"
        "[2] Snow tomorrow\n    https://snow.example/news\n"
    )


def test_answer_shows_no_control_characters(settings, fake):
    link = Link("https://a.example/", "A \x1b[31mred\x1b[0m title")
    fake.play(reply(search(), message(cited("It \x1b[2Jrains. ", link, "\n\tNext."))))
    completed = run("answer", QUESTION, **settings)
    assert "\x1b" not in completed.stdout and "It [2Jrains. [1]\n\tNext." in completed.stdout


def test_answer_that_fails(settings, fake):
    fake.play("refusal")
    completed = run("answer", QUESTION, **settings)
    assert completed.returncode == 1 and completed.stdout == "" and "refused to answer" in completed.stderr
    completed = run("answer", QUESTION, "--json", **settings)
    assert completed.returncode == 1 and json.loads(completed.stdout)["error"]["code"] == "PARSE"


@pytest.mark.parametrize("arguments", [[], ["two", "words"], ["x y z", "--max", "many"], ["x y z", "--region"]])
def test_answer_with_wrong_arguments(arguments):
    completed = run("answer", *arguments)
    assert completed.returncode == 2 and completed.stdout == "" and "forage:" in completed.stderr


def test_answer_sources_only(settings, fake):
    completed = run("answer", QUESTION, "--sources-only", **settings)
    assert completed.returncode == 0 and completed.stdout.startswith("[1] Rain today\n")


# ---- without a key, and other odd settings ----


def test_a_service_of_ones_own_needs_no_key(settings, fake):
    """OPENAI_BASE_URL alone is enough; no Authorization is sent."""
    settings["OPENAI_API_KEY"] = None
    with Server(**settings) as server:
        error_of(server, 502, "AUTH")  # the fake wants one
    assert "authorization" not in fake.requests[0].headers


def test_base_url_with_a_slash(settings, fake):
    settings["OPENAI_BASE_URL"] = fake.base_url + "//"
    with Server(**settings) as server:
        result_of(server)
    assert fake.requests[0].path == "/v1/responses"


def test_kept_answers_are_marked_by_nothing_and_cost_nothing(settings, fake):
    settings["FORAGE_ANSWER_CACHE_TTL"] = 300
    with Server(**settings) as server:
        first = result_of(server)
        assert result_of(server) == first and len(fake.requests) == 1
        fake.play("incomplete_with_text")
        for _ in range(2):
            result_of(server, "something else entirely")
        assert len(fake.requests) == 2, "an answer that ends early is not kept"
