"""Asking models, in all dialects and in the manners of every server: what is sent, what is read, what is learned."""

import contextlib
import json
import re
import threading
import time

import pytest
from asking_models import ADD, SHAPE, asker
from fakes.models import KEY, PROVIDERS, Fault, Models, Refuse, Say, Use, Wire, events, openai_error
from http_client import Connection, request
from messages import tool_call
from programs import CONFORMANCE, PATIENCE, Stdio, run

TEXT = "Two and two are four: ½ of 8, ☂."
REASONING = "The user wants a sum."


def script(turn):
    if "sum" in turn.prompt and len(turn.results) < 3:
        if turn.results:
            return Use("add", a=1, b=1)
        return [Use("add", a=2, b=2, reasoning=REASONING), Use("add", a=40, b=2)]
    if turn.results:
        return Say(f"{TEXT} {' '.join(str(text) for _, text in turn.results)}", REASONING)
    return Say(TEXT, REASONING)


def add(name, arguments):
    assert name == "add"
    return str(arguments["a"] + arguments["b"])


@pytest.mark.parametrize("provider", PROVIDERS)
def test_conversation(provider):
    with Models(script) as models, asker(models, provider) as model:
        for piece in (0, 1, 17):
            models.piece = piece
            reply = model.ask("hello", system="Be brief.")
            assert (reply["status"], reply["text"], reply["stop"]) == ("ok", TEXT, "ended"), reply
            assert reply["usage"]["requests"] == 1 and not reply["usage"]["estimated"]
            turn = models.turns[-1]
            assert (turn.system, turn.prompt, turn.stream) == ("Be brief.", "hello", True)
            reply = model.converse("the sum, please", answers=add, tools=[ADD])
            assert (reply["text"], reply["stop"]) == (f"{TEXT} 4 42 2", "ended"), reply
            assert turn.tools == [] and models.turns[-1].tools == ["add"]
        assert len(models.requests) == 3 * 4


@pytest.mark.parametrize("provider", PROVIDERS)
def test_refusal_cut_and_shape(provider):
    with Models() as models, asker(models, provider) as model:
        models.play(Refuse())
        reply = model.ask("hello")
        assert (reply["status"], reply["stop"]) == ("ok", "refused"), reply
        models.play(Say("Two and", stop="length"))
        reply = model.ask("hello")
        assert (reply["text"], reply["stop"]) == ("Two and", "cut"), reply
        models.play(Say('{"sum":4}'))
        reply = model.ask("hello", shape=SHAPE)
        assert reply["text"] == '{"sum":4}'
        assert models.turns[-1].shape == SHAPE
        models.play(Use("add", a=1, b=2))
        reply = model.ask("hello", tools=[ADD], must_use=True)
        assert reply["stop"] == "uses" and models.turns[-1].must_use == (provider != "ollama")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_usage(provider):
    with Models(lambda turn: Say("x" * 400)) as models, asker(models, provider) as model:
        usage = model.ask("hello")["usage"]
        asked = len(json.dumps(models.turns[0].body)) // 4 + 1
        thought = 2 if provider == "gemini" else 0
        assert usage == {
            "requests": 1, "input": asked, "cached": 3, "output": 101 + thought, "estimated": False,
            "reasoning": 0 if provider == "anthropic" else 2,
        }  # fmt: skip


# ---- what is sent ----


def test_lessons_are_kept():
    """What a server refused once is not sent by the next call, nor is a tool to one that takes none."""
    with Models() as models, asker(models, "vllm") as model:
        models.play(openai_error(400, "stream_options is not supported"))
        assert model.ask("hello")["usage"]["requests"] == 2
        assert model.ask("hello")["usage"]["requests"] == 1
        assert ["stream_options" in body for body in models.bodies()] == [True, False, False]
        models.play(openai_error(400, "this model does not support tools"))
        assert model.ask("hello", tools=[ADD])["status"] == "unsupported"
        assert model.ask("hello", tools=[ADD])["status"] == "unsupported"
        assert len(models.requests) == 1
        assert model.ask("hello")["status"] == "ok"


def test_lessons_that_did_not_help_are_not_kept():
    """Only a reply shows that what was left out was what the server refused."""
    with Models() as models, asker(models, "vllm") as model:
        models.play(*[openai_error(400, "stream_options? response_format? I refuse.")] * 9)
        assert model.ask("hello", shape=SHAPE)["code"] == "PROVIDER"
        models.plan.clear()
        assert model.ask("hello", shape=SHAPE)["status"] == "ok"
        assert "stream_options" in models.bodies()[-1] and "response_format" in models.bodies()[-1]


def test_effort_none_after_the_refusal():
    with Models() as models, asker(models, "openai-chat") as model:
        models.play(openai_error(400, "Not with tools.", None, "reasoning_effort"))
        model.ask("hello", tools=[ADD])
        assert [body.get("reasoning_effort") for body in models.bodies()] == [None, "none"]


def test_a_smaller_limit_is_kept():
    with Models() as models, asker(models, "groq") as model:
        words = "`max_completion_tokens` must be less than or equal to `4096`"
        models.play(openai_error(400, words, None, "max_completion_tokens"))
        model.ask("hello")
        model.ask("hello", max_tokens=1000)
        model.ask("hello", max_tokens=9000)
        assert [body["max_completion_tokens"] for body in models.bodies()] == [8192, 4096, 1000, 4096]


def test_stateless_responses():
    with Models(script) as models, asker(models, "openai") as model:
        model.converse("the sum, please", answers=add, tools=[ADD])
        first, last = models.bodies()[0], models.bodies()[-1]
        assert first["store"] is False and first["include"] == ["reasoning.encrypted_content"]
        kinds = [item.get("type", item.get("role")) for item in last["input"]]
        turn = ["reasoning", "function_call", "function_call", "function_call_output", "function_call_output"]
        assert kinds == ["user", *turn, "reasoning", "function_call", "function_call_output"]
        assert all(tool["strict"] is False for tool in first["tools"])


def test_arguments_that_are_no_json_come_back_as_an_object():
    """The model sees what it wrote; a server that reads arguments again can."""
    for provider in ("openai-chat", "anthropic", "ollama", "mistral"):
        with Models() as models, asker(models, provider) as model:
            models.play(Use("add", raw="{a: 1"))
            reply = model.converse("hello", answers=add, tools=[ADD])
            assert reply["text"] == "Fine.", reply
            assert "not_json" in json.dumps(models.bodies()[-1]) and "no JSON" in json.dumps(models.bodies()[-1])


def test_reasoning_that_a_server_refuses():
    with Models(script) as models, asker(models, "llamacpp") as model:
        first = model.ask("the sum, please", tools=[ADD])
        assert "reasoning_content" in first["echo"]
        models.play(openai_error(400, "Unknown field: reasoning_content", None, "messages[1].reasoning_content"))
        results = [{"role": "result", "use": use, "text": "4"} for use in first["uses"]]
        model.ask("the sum, please", {"role": "assistant", "reply": first}, *results, tools=[ADD])
        sent = ["reasoning_content" in body["messages"][1] for body in models.bodies()]
        assert sent == [True, False]


@pytest.mark.parametrize(
    ("provider", "refusal"),
    [
        ("openai", Fault(404, b"404 page not found", kind="text/plain")),
        ("openai-chat", openai_error(400, "Use /v1/responses instead.", None, "reasoning_effort")),
    ],
)
def test_the_dialect_changes_in_a_conversation(provider, refusal):
    """A turn of the one is none of the other's: it is built anew."""
    with Models(script) as models, asker(models, provider) as model:
        first = model.ask("the sum, please", tools=[ADD])
        models.play(refusal)
        results = [{"role": "result", "use": use, "text": "4"} for use in first["uses"]]
        model.ask("the sum, please", {"role": "assistant", "reply": first}, *results, tools=[ADD])
        turns = models.bodies()[1].get("messages") or models.bodies()[1]["input"]
        assert all(isinstance(turn, dict) for turn in turns), turns
        called = [turn for turn in turns if "tool_calls" in turn or turn.get("type") == "function_call"]
        assert len(called) == (1 if provider == "openai" else 2)


def test_context_of_the_operator():
    """Where a server drops the beginning without a word, nothing is sent that does not fit."""
    with Models() as models, asker(models, "ollama", FORAGE_MODEL_CONTEXT=4096) as model:
        assert model.ask("x" * 20000, max_tokens=256)["status"] == "limit reached"
        assert models.requests == []
        assert model.ask("hello", max_tokens=256)["status"] == "ok"


def test_thinking_gets_more_room():
    with Models() as models, asker(models, "vllm") as model:
        models.play(Say("", REASONING, stop="length"))
        assert model.ask("hello", max_tokens=500)["text"] == "Fine."
        assert [body["max_tokens"] for body in models.bodies()] == [500, 1000]


# ---- keys and addresses ----

NO_KEYS = dict.fromkeys(
    "OPENAI_API_KEY ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN GOOGLE_API_KEY GEMINI_API_KEY GROQ_API_KEY OPENROUTER_API_KEY "
    "DEEPSEEK_API_KEY MISTRAL_API_KEY FORAGE_MODEL_KEY".split()
)

# The provider, what is set, and the header that comes.
SENT_KEYS = [
    ("openai", {"OPENAI_API_KEY": KEY}, ("authorization", f"Bearer {KEY}")),
    ("anthropic", {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_AUTH_TOKEN": "another-0123456789"}, ("x-api-key", KEY)),
    ("anthropic", {"ANTHROPIC_AUTH_TOKEN": KEY}, ("authorization", f"Bearer {KEY}")),
    ("gemini", {"GOOGLE_API_KEY": KEY, "GEMINI_API_KEY": "another-0123456789"}, ("x-goog-api-key", KEY)),
    ("gemini", {"GEMINI_API_KEY": KEY}, ("x-goog-api-key", KEY)),
    ("groq", {"GROQ_API_KEY": KEY}, ("authorization", f"Bearer {KEY}")),
    ("openrouter", {"OPENROUTER_API_KEY": KEY}, ("authorization", f"Bearer {KEY}")),
    ("deepseek", {"DEEPSEEK_API_KEY": KEY}, ("authorization", f"Bearer {KEY}")),
    ("mistral", {"MISTRAL_API_KEY": KEY}, ("authorization", f"Bearer {KEY}")),
    ("mistral", {"MISTRAL_API_KEY": "another-0123456789", "FORAGE_MODEL_KEY": KEY}, ("authorization", f"Bearer {KEY}")),
    ("vllm", {"FORAGE_MODEL_KEY": KEY}, ("authorization", f"Bearer {KEY}")),
    ("ollama", {}, ("authorization", None)),
]


@pytest.mark.parametrize(("provider", "keys", "header"), SENT_KEYS)
def test_key(provider, keys, header):
    with Models() as models, asker(models, provider, **{**NO_KEYS, **keys}) as model:
        assert model.ask("hello")["status"] == "ok"
        assert models.requests[0].headers.get(header[0]) == header[1]


# Variables (URL stands for the fake), and the path that is asked.
ADDRESSES = [
    ("openai:m", {"OPENAI_BASE_URL": "URL/openai/v1"}, "/openai/v1/responses"),
    ("openai:m", {"OPENAI_BASE_URL": "URL"}, "/v1/responses"),
    ("openai-chat:m", {"OPENAI_BASE_URL": "URL/v1/"}, "/v1/chat/completions"),
    ("anthropic:m", {"ANTHROPIC_BASE_URL": "URL/anthropic"}, "/anthropic/v1/messages"),
    ("anthropic:m", {"ANTHROPIC_BASE_URL": "URL/anthropic/v1"}, "/anthropic/v1/messages"),
    ("gemini:m", {"GOOGLE_GEMINI_BASE_URL": "URL/gemini"}, "/gemini/v1beta/models/m:streamGenerateContent"),
    ("gemini:m", {"GOOGLE_GEMINI_BASE_URL": "URL/gemini/v1"}, "/gemini/v1/models/m:streamGenerateContent"),
    ("groq:m", {"GROQ_BASE_URL": "URL/groq"}, "/groq/openai/v1/chat/completions"),
    ("ollama:qwen3:8b", {"OLLAMA_HOST": "URL"}, "/v1/chat/completions"),
    ("ollama:qwen3:8b", {"OLLAMA_HOST": "URL/ollama"}, "/ollama/v1/chat/completions"),
    ("ollama:qwen3:8b", {"OLLAMA_HOST": "URL/ollama/v1"}, "/ollama/v1/chat/completions"),
    ("ollama:qwen3:8b", {"OLLAMA_HOST": "BARE"}, "/v1/chat/completions"),
    ("ollama:qwen3:8b", {"OLLAMA_HOST": "0.0.0.0:PORT"}, "/v1/chat/completions"),
    ("ollama:qwen3:8b", {"OLLAMA_HOST": ":PORT"}, "/v1/chat/completions"),
    ("compatible:m", {"FORAGE_MODEL_URL": "URL"}, "/v1/chat/completions"),
    ("compatible:m", {"FORAGE_MODEL_URL": "URL/compatible/v1"}, "/compatible/v1/chat/completions"),
    ("vllm:m", {"FORAGE_MODEL_URL": "URL", "OPENAI_BASE_URL": "http://127.0.0.1:1"}, "/v1/chat/completions"),
    ("openrouter:a/b:free", {"FORAGE_MODEL_URL": "URL"}, "/api/v1/chat/completions"),
]


@pytest.mark.parametrize(("name", "settings", "path"), ADDRESSES)
def test_address(name, settings, path):
    with Models() as models:
        port = models.url.rpartition(":")[2]
        bare = models.url.removeprefix("http://")
        given = {key: value.replace("URL", models.url).replace("BARE", bare).replace("PORT", port) for key, value in settings.items()}
        keys = {**dict.fromkeys(NO_KEYS, KEY), "ANTHROPIC_AUTH_TOKEN": None}
        with asker(models, "compatible", **{"FORAGE_MODEL_URL": None, **keys, "FORAGE_MODEL": name, **given}) as model:
            assert model.ask("hello")["status"] == "ok"
        assert models.paths() == [path]
        model_name = name.partition(":")[2]
        assert models.turns[0].model == model_name


# Settings that mean no model, and the words for it.
PROBLEMS = [
    ({"FORAGE_MODEL": None}, "no model is set up: set FORAGE_MODEL to provider:name"),
    ({"FORAGE_MODEL": "qwen3:8b"}, '"qwen3:8b" names no provider; write provider:name, with openai, '),
    ({"FORAGE_MODEL": "ollama:"}, '"ollama:" names no provider'),
    ({"FORAGE_MODEL": "openai:x"}, "OpenAI needs a key: set OPENAI_API_KEY"),
    ({"FORAGE_MODEL": "anthropic:x"}, "Anthropic needs a key: set ANTHROPIC_API_KEY"),
    ({"FORAGE_MODEL": "gemini:x"}, "Gemini needs a key: set GOOGLE_API_KEY"),
    ({"FORAGE_MODEL": "compatible:x"}, "compatible needs FORAGE_MODEL_URL, the address of its server"),
    ({"FORAGE_MODEL": "vllm:x", "FORAGE_MODEL_URL": "ftp://a.example"}, "FORAGE_MODEL_URL: the URL "),
]


@pytest.mark.parametrize(("settings", "words"), PROBLEMS)
def test_no_model(settings, words):
    with Models() as models, asker(models, "compatible", **{"FORAGE_MODEL_URL": None, **NO_KEYS, **settings}) as model:
        error = model.ask("hello")
        assert error["code"] == "CONFIG" and error["message"].startswith(words), error
        assert models.requests == []


def test_a_name_alone_is_one_of_the_same_provider():
    with Models() as models, asker(models, "ollama") as model:
        assert model.ask("hello", model="qwen3:14b")["status"] == "ok"
        assert model.ask("hello", model="ollama:other")["status"] == "ok"
        assert [turn.model for turn in models.turns] == ["qwen3:14b", "other"]


def test_the_address_and_key_of_one_provider_are_not_for_another():
    """A key of Anthropic's never goes to the server that FORAGE_MODEL_URL names for vLLM, nor that server's key to Anthropic."""
    with Models() as models, Models() as other:
        keys = {**NO_KEYS, "ANTHROPIC_API_KEY": KEY, "FORAGE_MODEL_KEY": "another-0123456789"}
        given = {**keys, "ANTHROPIC_BASE_URL": other.url}
        with asker(models, "vllm", **given) as model:
            assert model.ask("hello", model="anthropic:m")["status"] == "ok"
            assert models.requests == []
            assert other.requests[0].headers["x-api-key"] == KEY
            assert model.ask("hello", model="m")["status"] == "ok"
            assert models.requests[0].headers["authorization"] == "Bearer another-0123456789"
            words = model.ask("hello", model="compatible:m")["message"]
            assert words.endswith("which counts for the provider of FORAGE_MODEL alone"), words
        with asker(models, "vllm", **{**given, "FORAGE_MODEL": None}) as model:
            assert model.ask("hello", model="vllm:m")["status"] == "ok"
            assert len(models.requests) == 2


# ---- time ----


def test_a_provider_that_fails_rests():
    with Models() as models, asker(models, "openai") as model:
        models.play(*[Fault(501, {})] * 5)
        codes = [model.ask("hello")["code"] for _ in range(5)]
        assert codes == ["PROVIDER"] * 5 and len(models.requests) == 5
        rests = model.ask("hello")
        assert "failed several times in a row" in rests["message"] and rests["retry_after_s"] > 20
        assert len(models.requests) == 5


def test_a_request_that_was_not_sent_tells_nothing_of_the_service():
    with Models() as models, asker(models, "openai", FORAGE_MODEL_CONTEXT=20000) as model:
        models.play(*[Fault(501, {})] * 5)
        for _ in range(4):
            model.ask("hello")
        assert model.ask("x" * 90000)["status"] == "limit reached"
        model.ask("hello")
        assert len(models.requests) == 5
        assert "failed several times in a row" in model.ask("hello")["message"]


def test_what_the_model_says_does_not_open_the_breaker():
    """A wrong request is no failure of the service."""
    with Models() as models, asker(models, "openai") as model:
        models.play(*[openai_error(400, "Invalid input.", None, "input")] * 7)
        for _ in range(7):
            assert "refused the request" in model.ask("hello")["message"]
        assert model.ask("hello")["text"] == "Fine."


def test_the_deadline_of_the_call_holds():
    """A stream that never ends is over with its call."""

    def trickle(handler):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        while not handler.server.service.ended.wait(0.05):
            handler.wfile.write(b": still there\n\n")

    with Models() as models, asker(models, "openai-chat") as model:
        models.play(trickle)
        error = model.ask("hello", timeout_ms=4000)
        assert error["code"] == "TIMEOUT", error
        assert len(models.requests) == 1


# The provider, the model, dollars for a million tokens that are read, come from a cache and are written, and whether the
# table has none.
PRICES = [
    ("openai", "gpt-6-luna", 0.10, 0.10, 0.50, 0),
    ("gemini", "models/gemini-2.5-flash", 0.30, 0.03, 2.50, 0),
    ("ollama", "qwen3:8b", 0, 0, 0, 0),
    ("openrouter", "a/b", 0, 0, 0, 1),
]


@pytest.mark.parametrize(("provider", "name", "read", "cached", "written", "unpriced"), PRICES)
def test_cost(tmp_path, provider, name, read, cached, written, unpriced):
    """Tokens are counted under the name that the price table has; a model of one's own costs nothing."""
    with Models() as models:
        settings = {**models.environment(provider, name), "FORAGE_DATA_DIR": tmp_path}
        with asker(models, provider, **settings) as model:
            usage = model.ask("hello")["usage"]
        total = json.loads(run("usage", "--json", FORAGE_DATA_DIR=tmp_path).stdout)["total"]
    assert (total["input_tokens"], total["output_tokens"]) == (usage["input"], usage["output"])
    saved = usage["cached"] * (read - cached)
    assert total["usd"] == pytest.approx((usage["input"] * read + usage["output"] * written - saved) / 1e6, abs=1e-9)
    assert total["unpriced"] == unpriced


MESSAGE_START = {"type": "message_start", "message": {"usage": {"input_tokens": 50, "output_tokens": 1}}}
BLOCK_START = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
LONG_DELTA = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x" * 4000}}
LONG_START = events([MESSAGE_START, BLOCK_START, LONG_DELTA])
LONG_ARGUMENTS = events(
    [
        {"type": "response.created", "response": {"status": "in_progress"}},
        {"type": "response.function_call_arguments.delta", "delta": "x" * 4000},
    ]
)
OVERLOADED = events([{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}])


@pytest.mark.parametrize(
    ("provider", "came", "failed"),
    [("anthropic", LONG_START, False), ("anthropic", LONG_START + OVERLOADED, True), ("openai", LONG_ARGUMENTS, False)],
)
def test_usage_of_a_reply_that_broke_off(provider, came, failed):
    """The count at the beginning of a stream is not that of all that came; where the end is missing, nobody knows how much
    was written, and what was asked for counts."""
    with Models() as models, asker(models, provider) as model:
        whole = model.ask("hello")["usage"]
        models.play(Wire(came))
        usage = model.ask("hello")["usage"]
        assert usage["requests"] == 2 and usage["estimated"], usage
        most = max(models.bodies()[-1].get(name, 0) for name in ("max_tokens", "max_output_tokens"))
        assert usage["output"] - whole["output"] == (4000 // 3 if failed else most), usage
        assert usage["input"] > whole["input"] + 10


def test_usage_of_a_call_that_ran_out_of_time(tmp_path):
    def hold(handler):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        handler.wfile.write(LONG_START)
        handler.server.service.ended.wait()

    with Models() as models, asker(models, "anthropic", FORAGE_DATA_DIR=tmp_path) as model:
        models.play(hold)
        assert model.ask("hello", timeout_ms=5000)["code"] == "TIMEOUT"
        most = models.bodies()[-1]["max_tokens"]
    total = json.loads(run("usage", "--json", FORAGE_DATA_DIR=tmp_path).stdout)["total"]
    assert (total["input_tokens"], total["output_tokens"]) == (50, most)


def test_cancelled_in_the_midst():
    """The client leaves; the connection to the model is closed at once, and nothing is asked again."""
    began, left = threading.Event(), threading.Event()

    def hold(handler):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        handler.wfile.write(b": wait\n\n")
        began.set()
        # A reset: it left before it had read what was written.
        with contextlib.suppress(ConnectionResetError):
            assert handler.connection.recv(1) == b""
        left.set()

    with Models() as models, asker(models, "openai-chat") as model:
        models.play(hold)
        body = {"request": json.dumps({"messages": [{"role": "user", "text": "hello"}]})}
        with Connection(model.server.port) as connection:
            connection.send(request("POST", "/api/v1/tools/test_model", {}, body))
            assert began.wait(PATIENCE)
        assert left.wait(PATIENCE)
        assert len(models.requests) == 1


def test_progress():
    """A client that listens is told what the model does."""

    def slow(handler):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        for piece in range(9):
            event = {"choices": [{"index": 0, "delta": {"content": f"{piece} "}}]}
            handler.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
            time.sleep(0.5)
        handler.wfile.write(b"data: [DONE]\n\n")

    with Models() as models:
        settings = {"FORAGE_LIMITS": "*=0", **models.environment("openai-chat")}
        with Stdio(CONFORMANCE, **settings) as client:
            client.handshake()
            models.play(slow)
            asked = {"request": json.dumps({"messages": [{"role": "user", "text": "hello"}]})}
            client.send(tool_call("test_model", asked, id=2, token="p"))
            client.wait_message(
                lambda message: message.get("method") == "notifications/progress"
                and re.match(r"fake-1 writes \(\d+ characters\)", message["params"]["message"])
            )
            answer = client.answer(2)
            assert answer["result"]["structuredContent"]["text"] == "0 1 2 3 4 5 6 7 8 "
