"""search_web: everything that the Responses API can send, and what comes of it: answers, errors, retries.

Where each test that the plan of search_web lists is; what is not in this file is in test_answer_contract.py or
tests/unit/:

  unit, schema validation   query length: test_query_length; Polymarket and RSS keyword rejection:
                            tests/unit/test_guardrails.c (the table), test_polymarket_queries_are_rejected and
                            test_rss_queries_are_rejected; URL scrubbing: tests/unit/test_citations.c
                            (tracking_parameters_are_stripped), test_urls_are_scrubbed
  unit, prompt builder      tests/unit/test_answer.c: prompt_generation_is_deterministic,
                            prompt_includes_freshness, prompt_handles_region; test_region_is_acted_upon,
                            test_freshness_is_acted_upon
  unit, error mapping       test_error_mapping (401/403, 429, 5xx, parse failures)
  integration, mock OpenAI  test_a_successful_answer, test_plain_text_output_is_rejected, test_retries,
                            test_timeout_is_not_retried, test_silence_of_twenty_seconds
  integration, mapping      test_output_text_is_parsed, test_domain_type_mapping, test_missing_fields
  contract, auth            test_auth_valid_token, test_auth_invalid_token, test_auth_missing_token
  contract, input           test_valid_queries_pass_through, test_polymarket_queries_are_rejected,
                            test_rss_queries_are_rejected, test_invalid_parameters_are_rejected
  contract, output          test_output_schema_in_every_scenario, test_no_live_calls
  smoke                     test_smoke_every_door
"""

import calendar
import concurrent.futures
import json
import os
import shutil
import subprocess
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
from conftest import start_early
from fakes.responses import KEY, RAIN, SCENARIOS, Responses, cited, message, reply, search
from http_client import Connection, exchange, request
from messages import tool_call
from programs import PATIENCE, ROOT, Server, run, wait_until


# ---- the fake ----

NODE = """
const { default: OpenAI } = await import(process.argv[1] + '/openai/index.mjs');
const [url, key] = process.argv.slice(2);
const seen = {};
for (const name of process.argv.slice(4)) {
    const client = new OpenAI({ apiKey: key, baseURL: `${url}/${name}/v1`, maxRetries: 0, timeout: 1500 });
    try {
        const answer = await client.responses.create({
            model: 'gpt-5-nano', tools: [{ type: 'web_search' }], input: 'Does it rain?',
            include: ['web_search_call.action.sources'], store: false, max_output_tokens: 8000,
            reasoning: { effort: 'low' },
        });
        const notes = (answer.output ?? []).flatMap((item) => item.content ?? []).flatMap((part) => part.annotations ?? []);
        seen[name] = { text: answer.output_text ?? null, status: answer.status ?? null, annotations: notes.length };
    } catch (error) {
        seen[name] = { error: error.constructor.name, status: error.status ?? null, code: error.code ?? null,
            param: error.param ?? null, id: error.requestID ?? null };
    }
}
console.log(JSON.stringify(seen));
"""

# What the vendor's own client makes of each scenario.
VENDOR = {
    "normal": {"text": "It rains today. ", "status": "completed", "annotations": 2},
    "several": {"text": "It rains today. ", "status": "completed", "annotations": 2},
    "reasoning_first": {"text": "It rains today. ", "status": "completed", "annotations": 2},
    "incomplete_with_text": {"text": "It rains today. ", "status": "incomplete", "annotations": 2},
    "incomplete_without_text": {"text": "", "status": "incomplete"},
    "refusal": {"text": "", "status": "completed"},
    "no_tool_call": {"text": "From memory", "status": "completed"},
    "bare_array": {"text": None},
    "temperature_refused": {"error": "BadRequestError", "status": 400, "param": "temperature", "id": "req_0123"},
    "unauthorized": {"error": "AuthenticationError", "status": 401, "code": "invalid_api_key"},
    "forbidden": {"error": "PermissionDeniedError", "status": 403},
    "rate_limited": {"error": "RateLimitError", "status": 429, "code": "rate_limit_exceeded"},
    "quota": {"error": "RateLimitError", "status": 429, "code": "insufficient_quota"},
    "status_500": {"error": "InternalServerError", "status": 500},
    "status_502": {"error": "InternalServerError", "status": 502},
    "status_503": {"error": "InternalServerError", "status": 503},
    "garbage": {},
    "cut_off": {"error": True},
    "silence": {"error": "APIConnectionTimeoutError"},
}


def test_the_fake_speaks_with_the_openai_package(fake):
    modules = ROOT / ".deps" / "node" / "node_modules"
    node = shutil.which("node", path=f"{ROOT / '.deps' / 'bin'}:{os.environ['PATH']}")
    assert node and (modules / "openai").exists(), "scripts/setup test installs the openai package"
    completed = subprocess.run(
        [node, "--input-type=module", "-e", NODE, str(modules), fake.url, KEY, *VENDOR],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr
    seen = json.loads(completed.stdout)
    for name, expected in VENDOR.items():
        for key, value in expected.items():
            got = seen[name].get(key)
            if key == "text" and value:
                assert got.startswith(value), (name, seen[name])
            elif value is True:
                assert got, (name, seen[name])
            else:
                assert got == value, (name, seen[name])


def test_no_live_calls(forage, fake):
    """Every test of this file speaks to loopback: the program has no other address."""
    settings = json.loads(run("config", "--json", OPENAI_BASE_URL=fake.base_url).stdout)
    assert fake.base_url.startswith("http://127.0.0.1:") and fake.base_url in json.dumps(settings)


# ---- answers ----


def test_a_successful_answer(forage, fake):
    before = time.time()
    result = result_of(forage)
    assert result["text"] == (
        "It rains today. ([weather.example](https://weather.example/rain)) "
        "It snows tomorrow. ([snow.example](https://snow.example/news))"
    )
    first, second = result["citations"]
    assert first == {
        "url": "https://weather.example/rain",
        "title": "Rain today",
        "textSnippet": "It rains today.",
        "startIndex": 16,
        "endIndex": 65,
        "rank": 1,
    }
    assert span(result, first) == "([weather.example](https://weather.example/rain))"
    assert second["textSnippet"] == "It snows tomorrow." and second["rank"] == 2
    assert span(result, second) == "([snow.example](https://snow.example/news))"
    assert result["provider"] == "gpt-5-nano-web-search"
    assert result["usage"] == {"promptTokens": 120, "responseTokens": 45}
    stamp = time.strptime(result["respondedAt"], "%Y-%m-%dT%H:%M:%S." + result["respondedAt"][20:])
    assert abs(before - calendar.timegm(stamp)) < 60
    assert "incomplete" not in result and "notes" not in result


def test_what_is_asked(forage, fake):
    result_of(forage, "  Does\n it   rain? ", maxResults=3)
    (asked,) = fake.requests
    assert asked.method == "POST" and asked.path == "/v1/responses"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    (body,) = fake.bodies()
    assert body["model"] == "gpt-5-nano" and body["input"] == "Does it rain?"
    assert body["tools"] == [{"type": "web_search", "user_location": {"type": "approximate"}}]
    assert body["include"] == ["web_search_call.action.sources"] and body["store"] is False
    assert body["max_output_tokens"] >= 8000 and body["reasoning"] == {"effort": "low"}
    assert "temperature" not in body
    assert "at most 3 sources" in body["instructions"] and "800 characters" in body["instructions"]


def test_valid_queries_pass_through(forage, fake):
    for query in ("abc", "x" * 400, "  " + "y" * 400 + " \n", "天氣怎麼樣", "javascript event loop", "stock market history"):
        result_of(forage, query)
        assert fake.bodies()[-1]["input"] == query.strip()


def test_several_messages_and_calls(forage, fake):
    fake.play("several")
    result = result_of(forage)
    assert result["text"].startswith("It rains today. ([weather.example]")
    assert result["text"].endswith(" That is all.") and "\n\nIt snows tomorrow. " in result["text"]
    first, second = result["citations"]
    assert span(result, second) == "([snow.example](https://snow.example/news))"
    assert (first["textSnippet"], second["textSnippet"]) == ("It rains today.", "It snows tomorrow.")


@pytest.mark.parametrize("name", ["reasoning_first", "commentary", "bare_array", "no_usage"])
def test_shapes_that_are_accepted(forage, fake, name):
    fake.play(name)
    result = result_of(forage)
    assert result["text"].startswith("It rains today.") and len(result["citations"]) == 2
    assert ("usage" in result) == (name not in ("bare_array", "no_usage"))


def test_output_text_is_parsed(forage, fake):
    fake.play("output_text")
    result = result_of(forage)
    assert result["text"] == "It rains." and result["citations"] == []
    assert any("no sources" in note for note in result["notes"])


def test_domain_type_mapping(forage, fake):
    """Each member has the type of the contract."""
    result = result_of(forage)
    assert {key: type(value) for key, value in result.items() if key not in ("success", "untrusted")} == {
        "text": str,
        "citations": list,
        "provider": str,
        "respondedAt": str,
        "usage": dict,
        "id": str,
    }
    kinds = {"url": str, "title": str, "textSnippet": str, "startIndex": int, "endIndex": int, "rank": int}
    assert all({key: type(value) for key, value in c.items()} == kinds for c in result["citations"])


def test_missing_fields(forage, fake):
    fake.play("missing_fields")
    assert result_of(forage)["text"] == "It rains."
    part = cited("It rains. ", RAIN)
    for gone in ("title", "start_index", "end_index"):
        del part["annotations"][0][gone]
        fake.play(reply(search(), message(part)))
        (citation,) = result_of(forage)["citations"]
        assert citation["url"] == "https://weather.example/rain" and citation["textSnippet"] == "It rains."
    del part["annotations"][0]["url"]
    fake.play(reply(search(), message(part)))
    assert result_of(forage)["citations"] == []


def test_incomplete_with_text_is_returned_and_flagged(forage, fake):
    fake.play("incomplete_with_text")
    result = result_of(forage)
    assert result["incomplete"] == "max_output_tokens" and result["text"].startswith("It rains today.")
    assert any("ends early" in note for note in result["notes"])
    assert len(fake.requests) == 1


def test_incomplete_without_text_is_asked_again_with_twice_the_tokens(forage, fake):
    fake.play("incomplete_without_text", "normal")
    result = result_of(forage)
    assert [body["max_output_tokens"] for body in fake.bodies()] == [8000, 16000]
    assert result["usage"] == {"promptTokens": 240, "responseTokens": 90}, "both tries cost"


def test_incomplete_without_text_twice_names_the_reason(forage, fake):
    fake.play("incomplete_without_text")
    failure = error_of(forage, 502, "PARSE")
    assert "max_output_tokens" in failure["message"] and len(fake.requests) == 2


def test_filtered_is_not_asked_again(forage, fake):
    fake.play("filtered")
    assert "content_filter" in error_of(forage, 502, "PARSE")["message"] and len(fake.requests) == 1


def test_refusal(forage, fake):
    fake.play("refusal")
    failure = error_of(forage, 502, "PARSE")
    assert "refused" in failure["message"] and "I cannot help with that." in failure["message"]
    assert len(fake.requests) == 1


@pytest.mark.parametrize("name", ["no_tool_call", "only_output_text", "failed_search"])
def test_plain_text_output_is_rejected(forage, fake, name):
    """An answer with no web search behind it is not trusted."""
    fake.play(name)
    failure = error_of(forage, 502, "PARSE")
    assert "search" in failure["message"] and len(fake.requests) == 1
    assert "rains" not in json.dumps(failure)


# ---- errors ----

ERRORS = [
    # the scenario, the HTTP status over REST, the code, how often the service is asked, words of the message
    ("unauthorized", 502, "AUTH", 1, "OPENAI_API_KEY"),
    ("forbidden", 502, "AUTH", 1, "OPENAI_API_KEY"),
    ("quota", 429, "RATE_LIMIT", 1, "quota"),
    ("rate_limited", 429, "RATE_LIMIT", 3, "rate limit"),
    ("status_500", 502, "PROVIDER", 3, "HTTP 500"),
    ("status_502", 502, "PROVIDER", 3, "HTTP 502"),
    ("status_503", 502, "PROVIDER", 3, "HTTP 503"),
    ("status_504", 502, "PROVIDER", 1, "HTTP 504"),
    ("not_found", 502, "PROVIDER", 1, "FORAGE_ANSWER_MODEL"),
    ("input_refused", 502, "PROVIDER", 1, "Invalid input."),
    ("temperature_refused", 502, "PROVIDER", 1, "temperature"),  # we did not send it
    ("redirected", 502, "PROVIDER", 1, "HTTP 307"),
    ("cut_off", 502, "PROVIDER", 1, "could not be asked"),
    ("failed_inside", 502, "PROVIDER", 1, "The server had an error."),
    ("garbage", 502, "PARSE", 1, "none that this interface sends"),
    ("empty_object", 502, "PARSE", 1, "none that this interface sends"),
]


@pytest.mark.parametrize("name, status, code, tries, words", ERRORS, ids=[row[0] for row in ERRORS])
def test_error_mapping(forage, fake, name, status, code, tries, words):
    fake.play(name)
    failure = error_of(forage, status, code)
    assert words in failure["message"], failure
    assert len(fake.requests) == tries
    assert failure["details"]["upstream"] == "openai" and failure["details"]["tries"] == tries
    assert KEY not in json.dumps(failure)


def test_provider_context_is_in_the_details(forage, fake):
    fake.play("quota")
    details = error_of(forage, 429, "RATE_LIMIT")["details"]
    assert details["http_status"] == 429 and details["upstream_code"] == "insufficient_quota"
    assert details["upstream_request_id"] == "req_0123"


def test_the_key_is_never_shown(settings, fake):
    with Server(DEBUG=1, **settings) as server:
        for name in ("unauthorized", "normal", "garbage"):
            fake.play(name)
            assert KEY.encode() not in ask(server).body
        assert KEY not in server.log.text()
    fake.play("unauthorized")
    completed = run("answer", QUESTION, **settings)
    assert completed.returncode == 1 and KEY not in completed.stderr + completed.stdout


def test_nobody_answers(settings):
    settings["OPENAI_BASE_URL"] = "http://127.0.0.1:1/v1"
    with Server(**settings) as server:
        assert "OPENAI_BASE_URL" in error_of(server, 502, "PROVIDER")["message"]


def test_missing_key(tmp_path):
    with Server(FORAGE_DATA_DIR=tmp_path, OPENAI_API_KEY=None) as server:
        failure = error_of(server, 503, "CONFIG")
        assert "OPENAI_API_KEY" in failure["message"]
        tools = exchange(server.port, request("GET", "/api/v1/tools")).json()
        assert "OPENAI_API_KEY" in json.dumps(tools)


# ---- retries ----


@pytest.mark.parametrize("name", ["rate_limited", "status_500", "status_502", "status_503"])
def test_retries(forage, fake, name):
    """Two more tries, with pauses that grow and are not the same for everybody."""
    fake.play(name, name, "normal")
    assert result_of(forage)["text"].startswith("It rains today.")
    first, second = fake.pauses()
    assert 0.5 <= first and 1.0 <= second
    assert first < 1.0 + PATIENCE and second < 2.0 + PATIENCE


def test_backoff_has_chance_in_it(forage, fake):
    """Eight calls that fail at the same time do not come back at the same time."""
    failed = []

    def fail_together(handler):
        wait_until(lambda: len(fake.requests) >= 8)
        failed.append(time.monotonic())
        handler.give(SCENARIOS["status_500"]())

    fake.play(*[lambda: fail_together] * 8, "normal")
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: result_of(forage, f"question {number}"), range(8)))
    times = {}
    for asked, body in zip(fake.requests, fake.bodies()):
        times.setdefault(body["input"], []).append(asked.at)
    pauses = [second - min(failed) for _, second in times.values()]
    assert max(pauses) - min(pauses) > 0.05 and min(pauses) >= 0.5


@pytest.mark.parametrize("name, least", [("rate_limited_ms", 0.7), ("rate_limited_second", 1.0)])
def test_retry_after_is_honoured(forage, fake, name, least):
    fake.play(name, "normal")
    result_of(forage)
    assert fake.pauses()[0] >= least


def test_a_pause_that_is_too_long_is_passed_on(forage, fake):
    fake.play("rate_limited_hour")
    answer = ask(forage)
    assert answer.status == 429 and answer.header("Retry-After") == "3600"
    assert len(fake.requests) == 1


def test_timeout_is_not_retried(settings, fake):
    fake.play("silence")
    with Server(FORAGE_ANSWER_TIMEOUT="300ms", **settings) as server:
        began = time.monotonic()
        failure = error_of(server, 502, "PROVIDER")
        assert time.monotonic() - began >= 0.3
    assert "0.3 seconds" in failure["message"] and "FORAGE_ANSWER_TIMEOUT" in failure["message"]
    assert len(fake.requests) == 1


@pytest.mark.parametrize("name", ["KINDLY_TOOL_TOTAL_TIMEOUT_SECONDS", "FORAGE_CALL_TIMEOUT"])
def test_the_end_of_its_time_names_the_variable_that_is_set(settings, fake, name):
    fake.play("silence")
    with Server(**settings, **{name: 1}) as server:
        assert error_of(server, 504, "TIMEOUT")["message"].endswith(f"or raise {name}")


@pytest.fixture(scope="module")
def long_silence(tmp_path_factory):
    """A call to a service that says nothing, with a server and a fake of its own; (failure, seconds, requests)."""
    folder = tmp_path_factory.mktemp("data")
    with Responses() as fake, concurrent.futures.ThreadPoolExecutor(1) as thread:
        fake.play("silence")
        with Server(OPENAI_BASE_URL=fake.base_url, FORAGE_DATA_DIR=folder, **UNLIMITED) as server:

            def wait():
                began = time.monotonic()
                failure = error_of(server, 502, "PROVIDER")
                return failure, time.monotonic() - began, len(fake.requests)

            yield thread.submit(wait)


@pytest.fixture(scope="module", autouse=True)
def long_silence_starts_early(request):
    start_early(request, "long_silence")


def test_a_client_that_leaves_ends_the_try(forage, fake):
    fake.play("silence")
    with Connection(forage.port) as connection:
        connection.send(request("POST", "/api/v1/tools/search_web", None, {"query": QUESTION}))
        wait_until(lambda: fake.requests)
    forage.wait_log(r"tool=search_web .*status=CANCELLED")


def test_progress_is_reported(forage, fake):
    fake.play("status_500", "normal")
    with Connection(forage.port) as connection:
        call = tool_call("search_web", {"query": QUESTION}, token=7)
        connection.send(request("POST", "/mcp", {"MCP-Protocol-Version": "2025-11-25"}, call))
        response_head = connection.head()
        events = [event for kind, event in connection.events(response_head) if kind == "data"]
    assert any("asking gpt-5-nano again" in json.dumps(event) for event in events), events


# ---- parameters that are refused ----


def test_a_refused_parameter_is_dropped(settings, fake):
    """gpt-5 models refuse a temperature; gpt-4 models refuse to be told how much to think."""
    with Server(FORAGE_ANSWER_TEMPERATURE="0", **settings) as server:
        result_of(server)
        result_of(server)
    assert [body.get("temperature") for body in fake.bodies()] == [0, None, None]
    fake.play()
    with Server(FORAGE_ANSWER_TEMPERATURE="0.2", FORAGE_ANSWER_MODEL="gpt-4.1", **settings) as server:
        assert result_of(server)["provider"] == "gpt-4.1-web-search"
    first, second = fake.bodies()
    assert first["temperature"] == second["temperature"] == 0.2
    assert "reasoning" in first and "reasoning" not in second


def test_a_parameter_is_dropped_only_once(forage, fake):
    fake.play("effort_refused")
    error_of(forage, 502, "PROVIDER")
    assert len(fake.requests) == 2


def test_what_is_set_for_other_models_counts_for_those_alone(settings, fake):
    others = {"URL": "http://127.0.0.1:1/v1", "KEY": "another-key-0123456789", "MAX_TOKENS": 1000, "CONTEXT": 2000}
    with Server(**settings, **{f"FORAGE_MODEL_{name}": value for name, value in others.items()}) as server:
        result_of(server)
    assert [body["max_output_tokens"] for body in fake.bodies()] == [8000]


def test_a_wrong_temperature(settings):
    for value in ("warm", "3", "-1", "nan"):
        with Server(FORAGE_ANSWER_TEMPERATURE=value, **settings) as server:
            assert "FORAGE_ANSWER_TEMPERATURE" in error_of(server, 503, "CONFIG")["message"]


# ---- the circuit breaker ----


def test_the_breaker_opens_and_leaves_the_service_alone(settings, fake):
    fake.play("garbage")
    with Server(**settings) as server:
        for _ in range(5):
            error_of(server, 502, "PARSE")
        asked = len(fake.requests)
        answer = ask(server)
        assert answer.status == 502 and answer.json()["error"]["code"] == "PROVIDER"
        assert 1 <= int(answer.header("Retry-After") or answer.json()["error"]["retry_after_s"]) <= 31
        assert len(fake.requests) == asked


def test_an_answer_closes_the_breaker(settings, fake):
    with Server(**settings) as server:
        for _ in range(3):
            fake.play("garbage", "garbage", "garbage", "garbage", "normal")
            for _ in range(4):
                error_of(server, 502, "PARSE")
            result_of(server)


def test_what_is_wrong_with_a_question_does_not_open_the_breaker(settings, fake):
    with Server(**settings) as server:
        for name in ("unauthorized", "input_refused", "refusal", "quota"):
            fake.play(name)
            for _ in range(2):
                assert ask(server).status != 200
        fake.play()
        result_of(server)


# ---- and, last, what takes long ----


def test_silence_of_twenty_seconds(long_silence):
    """The real limit: 15 seconds for a try, and no second one."""
    failure, seconds, requests = long_silence.result(PATIENCE)
    assert 15 <= seconds and "15 seconds" in failure["message"]
    assert requests == 1
