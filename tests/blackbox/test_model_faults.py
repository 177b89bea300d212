"""What goes wrong between forage and a model: each fault with its exact outcome and the number of requests that were made."""

import json
import re
import time

import pytest
from asking_models import ADD, SHAPE, asker
from fakes.models import (
    KEY,
    Fault,
    Models,
    Say,
    Use,
    Wire,
    anthropic_error,
    events,
    google_error,
    openai_error,
)

FINE = {"text": "Fine."}
SOON = {"retry-after-ms": "1"}
LIMIT = {"status": "limit reached"}
NO_TOOLS = {"status": "unsupported"}
HASTE = {"FORAGE_CALL_TIMEOUT": "20s"}
LARGEST = 1 << 20  # bytes of one text of a reply


def failed(code, words=""):
    return {"code": code, "message": words}


def soon(fault):
    """The same, to be tried again at once."""
    fault.headers = {**fault.headers, **SOON}
    return fault


def status(number, words="Oops.", **more):
    return soon(openai_error(number, words, **more))


def wire(*payloads, named=False, done=False, **more):
    return Wire(events(payloads, named, done), **more)


def chunk(delta=None, finish=None, **more):
    return {"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta or {}, "finish_reason": finish}], **more}


def call(name=None, arguments=None, index=0, id=None):
    function = {name_: value for name_, value in (("name", name), ("arguments", arguments)) if value is not None}
    return chunk({"tool_calls": [{"function": function, **({} if index is None else {"index": index}), **({} if id is None else {"id": id})}]})


def whole(message, finish="stop", **more):
    body = {"id": "c", "object": "chat.completion", "choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}], **more}
    return Wire(json.dumps(body).encode(), "application/json")


def silent(handler):
    handler.server.service.ended.wait()


def hang_up(handler):
    handler.close_connection = True


def reset(handler):
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(events([chunk({"content": "half"})]))


def broken_error(status):
    def answer(handler):
        """The connection ends before the error does."""
        handler.send_response(status)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b'{"error": {"message": "No')

    return answer


def endless(handler):
    """Nothing but comments, for ever."""
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.end_headers()
    while not handler.server.service.ended.is_set():
        handler.wfile.write(b": " + b"x" * 65536 + b"\n\n")


def held_open(*payloads, done=False):
    def answer(handler):
        """All of it, and then the connection stays open."""
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        handler.wfile.write(events(payloads, done=done))
        handler.server.service.ended.wait()

    return answer


def quota(id_, delay=None):
    details = [{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": id_}]}]
    if delay:
        details.append({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay})
    return google_error(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.", *details)


def message_events(*payloads):
    start = {"type": "message_start", "message": {"type": "message", "content": [], "usage": {"input_tokens": 5, "output_tokens": 1}}}
    return wire(start, *payloads, named=True)


def block(*deltas, **started):
    begin = {"type": "content_block_start", "index": 0, "content_block": started}
    return [begin, *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas), {"type": "content_block_stop", "index": 0}]


def ended(reason):
    return [{"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 3}}, {"type": "message_stop"}]


ADD_TWO = {"uses": [("add", '{"a":1,"b":2}'), ("add", '{"a":3,"b":4}')]}
ADD_ONE = {"uses": [("add", '{"a":1,"b":2}')]}
OVERFLOWS = {
    "openai": openai_error(400, "Your input exceeds the context window of this model.", "context_length_exceeded"),
    "openai-chat": openai_error(400, "This model's maximum context length is 128000 tokens.", "context_length_exceeded", "messages"),
    "llamacpp": Fault(400, {"error": {"code": 400, "message": "the request exceeds the available context size, try increasing it", "type": "exceed_context_size_error", "n_prompt_tokens": 9000, "n_ctx": 4096}}),
    "vllm": Fault(400, {"object": "error", "message": "This model's maximum context length is 4096 tokens. However, you requested 9000.", "type": "BadRequestError", "param": None, "code": 400}),
    "lmstudio": Fault(400, {"error": "The model is loaded with context length of only 4096 tokens, which is not enough."}),
    "ollama": Fault(500, {"error": {"message": "the input length exceeds the context length", "type": "api_error"}}),
    "openrouter": Fault(400, {"error": {"code": 400, "message": "This endpoint's maximum context length is 32768 tokens."}}),
    "groq": openai_error(413, "Request too large for model in organization: Limit 6000, Requested 9000.", "rate_limit_exceeded", None, "tokens"),
    "mistral": Fault(400, {"object": "error", "message": "Prompt contains 40000 tokens, too large for model with 32768 maximum context length", "type": "invalid_request_invalid_args", "code": "3051"}),
    "deepseek": openai_error(400, "This model's maximum context length is 65536 tokens."),
    "anthropic": anthropic_error(400, "invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum"),
    "gemini": google_error(400, "INVALID_ARGUMENT", "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576)."),
}  # fmt: skip
TOOLLESS = {
    "ollama": Fault(400, {"error": {"message": "registry.ollama.ai/library/gemma:2b does not support tools", "type": "api_error"}}),
    "llamacpp": Fault(500, {"error": {"code": 500, "message": "tools param requires --jinja flag", "type": "server_error"}}),
    "vllm": Fault(400, {"object": "error", "message": '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set', "type": "BadRequestError", "code": 400}),
    "openrouter": Fault(404, {"error": {"code": 404, "message": "No endpoints found that support tool use."}}),
    "groq": openai_error(400, "`tool calling` is not supported with this model: tool calling is not supported"),
}  # fmt: skip

# name: (provider, what comes of the requests before the script says "Fine.", the outcome, requests, wishes)
FAULTS = {
    # statuses that pass
    **{f"status {number} passes": ("openai-chat", [status(number)], FINE, 2) for number in (408, 409, 429, 500, 502, 503, 504, 529)},
    "two failures pass": ("openai", [status(500), status(503)], FINE, 3),
    "three do not": ("openai", [status(500)] * 3, failed("PROVIDER", r"OpenAI failed with HTTP 500 \(tries: 3\)"), 3),
    "a limit that stays": ("openai", [status(429, "Slow down.", code="rate_limit_exceeded")] * 3, failed("RATE_LIMIT", r'rate limit is reached \(tries: 3\). It says: "Slow down."'), 3),
    "a limit of an hour": ("openai", [openai_error(429, "Slow down.", retry_after="3600")], failed("RATE_LIMIT", r"\(tries: 1\)"), 1),
    "a limit until a date": ("groq", [openai_error(429, "Slow.", "rate_limit_exceeded", retry_after="Fri, 01 Jan 2100 00:00:00 GMT")], failed("RATE_LIMIT"), 1),
    "a pause in milliseconds": ("openai", [openai_error(429, "Slow.", retry_after_ms="20")], FINE, 2),
    "a pause in seconds": ("groq", [openai_error(429, "Slow.", "rate_limit_exceeded", retry_after="0.02")], FINE, 2),
    "a pause with garbage": ("openai", [Fault(429, {}, {"retry-after": "soon"})], FINE, 2),
    "a gateway's page": ("openai", [Fault(502, b"<html>Bad gateway</html>", SOON, "text/html")], FINE, 2),
    "not implemented": ("openai", [status(501)], failed("PROVIDER", "HTTP 501"), 1),
    "a teapot": ("openai", [status(418)], failed("PROVIDER", "HTTP 418"), 1),
    "a redirect": ("openai", [Fault(307, b"", {"Location": "/elsewhere"})], failed("PROVIDER", "HTTP 307"), 1),
    "should not retry": ("openai", [status(500, x_should_retry="false")], failed("PROVIDER", "HTTP 500"), 1),
    "should retry": ("openai", [status(418, x_should_retry="true")], FINE, 2),
    "should not retry a limit": ("anthropic", [anthropic_error(429, "rate_limit_error", "Spent.", x_should_retry="false")], failed("RATE_LIMIT", "nothing left"), 1),
    # accounts and keys
    "no quota": ("openai", [openai_error(429, "You exceeded your current quota.", "insufficient_quota", None, "insufficient_quota")], failed("RATE_LIMIT", "Open.*nothing left"), 1),
    "no balance": ("deepseek", [openai_error(402, "Insufficient Balance")], failed("RATE_LIMIT", "nothing left"), 1),
    "no credits": ("openrouter", [Fault(402, {"error": {"code": 402, "message": "Insufficient credits"}})], failed("RATE_LIMIT", "nothing left"), 1),
    "a low balance in a 400": ("anthropic", [anthropic_error(400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API.")], failed("RATE_LIMIT"), 1),
    "a spend cap": ("anthropic", [anthropic_error(429, "rate_limit_error", "You have reached your spend limit.")], failed("RATE_LIMIT", "nothing left"), 1),
    "Gemini's day": ("gemini", [quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "34.07s")], failed("RATE_LIMIT", "quota of the day"), 1),
    "Gemini's minute": ("gemini", [quota("GenerateRequestsPerMinutePerProjectPerModel", "0.05s")], FINE, 2),
    "Gemini's long delay": ("gemini", [quota("GenerateRequestsPerMinute", "400s")], failed("RATE_LIMIT", r"\(tries: 1\)"), 1),
    "a wrong key": ("openai", [openai_error(401, f"Incorrect API key: {KEY}.", "invalid_api_key")], failed("AUTH", "refused the key .HTTP 401.. Set OPENAI_API_KEY to a valid key.$"), 1),
    "no permission": ("anthropic", [anthropic_error(403, "permission_error", "No.")], failed("AUTH", 'It says: "No." Where.*ANTHROPIC_API_KEY'), 1),
    "a region that is refused": ("openai", [openai_error(403, "Country, region, or territory not supported")], failed("AUTH", "HTTP 403.*territory not supported"), 1),
    "a key without rights": ("openai", [openai_error(403, f"The key {KEY[:9]}... may not.")], failed("AUTH", "refused the key .HTTP 403.. Set OPENAI_API_KEY to a valid key.$"), 1),
    "Gemini's wrong key": ("gemini", [google_error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", {"reason": "API_KEY_INVALID"})], failed("AUTH", "GOOGLE_API_KEY"), 1),
    "a server that wants a key": ("vllm", [Fault(401, {"error": "Unauthorized"})], failed("AUTH", "without a key .HTTP 401.. Set FORAGE_MODEL_KEY"), 1),
    # models and addresses
    "no such model": ("openai", [openai_error(404, "The model `x` does not exist.", "model_not_found", "model")], failed("MODEL_NOT_FOUND", 'no model "fake-1"'), 1),
    "Anthropic's missing model": ("anthropic", [anthropic_error(404, "not_found_error", "model: fake-1 not found")], failed("MODEL_NOT_FOUND"), 1),
    "Gemini's missing model": ("gemini", [google_error(404, "NOT_FOUND", "models/fake-1 is not found for API version v1beta")], failed("MODEL_NOT_FOUND"), 1),
    "Ollama's missing model": ("ollama", [Fault(404, {"error": {"message": "model 'fake-1' not found", "type": "not_found_error"}})], failed("MODEL_NOT_FOUND"), 1),
    "OpenRouter's missing model": ("openrouter", [Fault(400, {"error": {"code": 400, "message": "x is not a valid model ID"}})], failed("MODEL_NOT_FOUND"), 1),
    "no such path": ("compatible", [Fault(404, b"404 page not found", kind="text/plain")], failed("PROVIDER", "no such interface at http.*HTTP 404.. Check FORAGE_MODEL_URL"), 1),
    "no Responses there": ("openai", [Fault(404, b"404 page not found", kind="text/plain")], FINE, 2),
    # contexts
    **{f"overflow of {name}": (name, [fault], LIMIT, 1) for name, fault in OVERFLOWS.items()},
    "overflow inside": ("openai-chat", [wire({"error": {"message": "maximum context length is 10", "type": "invalid_request_error"}})], LIMIT, 1),
    "Anthropic's full window": ("anthropic", [message_events(*ended("model_context_window_exceeded"))], LIMIT, 1),
    "Mistral's model_length": ("mistral", [wire(chunk({}, "model_length"), done=True)], LIMIT, 1),
    "too large a body": ("anthropic", [anthropic_error(413, "request_too_large", "Request exceeds the maximum size")], LIMIT, 1),
    # tools
    **{f"no tools at {name}": (name, [fault], NO_TOOLS, 1, {"tools": [ADD]}) for name, fault in TOOLLESS.items()},
    "a use that Groq cannot read": ("groq", [openai_error(400, "Failed to call a function.", "tool_use_failed")], FINE, 2, {"tools": [ADD]}),
    "twice": ("groq", [Fault(400, {"error": {"message": "Failed.", "code": "tool_use_failed", "failed_generation": "<function=add>"}})] * 2, {"text": "<function=add>"}, 2, {"tools": [ADD]}),
    "Gemini's malformed call": ("gemini", [wire({"candidates": [{"content": {}, "finishReason": "MALFORMED_FUNCTION_CALL"}]})], FINE, 2),
    "twice at Gemini": ("gemini", [wire({"candidates": [{"content": {}, "finishReason": "MALFORMED_FUNCTION_CALL"}]})] * 2, failed("PARSE", "answered with nothing"), 2),
    # what is learned from a refusal
    "tool_choice": ("vllm", [openai_error(400, "tool_choice is not supported", None, "tool_choice")], FINE, 2, {"tools": [ADD], "must_use": True}),
    "a schema": ("compatible", [openai_error(400, "response_format is not supported", None, "response_format")], FINE, 2, {"shape": SHAPE}),
    "a strict schema": ("openai", [openai_error(400, "Invalid schema for response_format 'answer'", "invalid_json_schema", "text.format.schema")], FINE, 2, {"shape": SHAPE}),
    "a schema at all": ("openai", [openai_error(400, "Invalid schema", "x", "text.format.schema")] * 2, FINE, 3, {"shape": SHAPE}),
    "Gemini's schema with tools": ("gemini", [google_error(400, "INVALID_ARGUMENT", "Function calling with a response mime type: 'application/json' is unsupported")], FINE, 2, {"shape": SHAPE, "tools": [ADD]}),
    "stream_options": ("compatible", [openai_error(400, "Unrecognized request argument supplied: stream_options")], FINE, 2),
    "streams": ("openai", [openai_error(400, "Your organization must be verified to stream this model.", "unsupported_value", "stream")], FINE, 2),
    "max_completion_tokens": ("openai-chat", [openai_error(400, "Unknown name max_completion_tokens", None, "max_completion_tokens")], FINE, 2),
    "every limit": ("openai-chat", [openai_error(400, "Unsupported", None, "max_completion_tokens"), openai_error(400, "Unsupported", None, "max_tokens")], FINE, 3),
    "a smaller limit": ("anthropic", [anthropic_error(400, "invalid_request_error", "max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens")], FINE, 2),
    "the effort": ("openai-chat", [openai_error(400, "Function tools with reasoning_effort are not supported", None, "reasoning_effort")], FINE, 2, {"tools": [ADD]}),
    "no chat with tools": ("openai-chat", [openai_error(400, "Use /v1/responses instead.", None, "reasoning_effort")], FINE, 2, {"tools": [ADD]}),
    "the effort, and then no chat": ("openai-chat", [openai_error(400, "Unsupported", None, "reasoning_effort")] * 2, FINE, 3, {"tools": [ADD]}),
    "no state": ("openai", [openai_error(400, "Encrypted content is not supported with this model.", None, "include")], FINE, 2),
    "cache_control": ("anthropic", [anthropic_error(400, "invalid_request_error", "system.0.cache_control: Extra inputs are not permitted")], FINE, 2),
    "a role of the system": ("vllm", [Fault(400, {"object": "error", "message": "System role not supported", "code": 400})], FINE, 2, {"system": "Be brief."}),
    "FastAPI's words": ("compatible", [Fault(422, {"detail": [{"loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}]})], FINE, 2),
    "a refusal of something else": ("openai", [openai_error(400, "Invalid input.", None, "input")], failed("PROVIDER", "refused the request .HTTP 400.. It says"), 1),
    "a server that refuses everything": ("compatible", [openai_error(400, "stream_options tool_choice response_format reasoning json_schema system role max_tokens")] * 12, failed("PROVIDER", "refused"), 7, {"shape": SHAPE, "tools": [ADD], "must_use": True}),
    # errors inside of HTTP 200
    "an error first": ("openrouter", [wire({"error": {"code": 502, "message": "Upstream failed"}})], FINE, 2),
    "an error in the midst": ("openrouter", [wire(chunk({"content": "Hal"}), {"error": {"code": 429, "message": "Limited"}, **chunk({}, "error")})], FINE, 2),
    "an error without a stream": ("openrouter", [Wire(json.dumps({"error": {"code": 500, "message": "Oops", "metadata": {"raw": "deep"}}}).encode(), "application/json")], FINE, 2),
    "a final error inside": ("openrouter", [wire({"error": {"code": 402, "message": "No credits"}})], failed("RATE_LIMIT"), 1),
    "Anthropic's error event": ("anthropic", [message_events({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})], FINE, 2),
    "Responses that failed": ("openai", [wire({"type": "response.failed", "response": {"status": "failed", "error": {"code": "server_error", "message": "Oops"}}}, named=True)], FINE, 2),
    "Responses' error event": ("openai", [wire({"type": "error", "code": "rate_limit_exceeded", "message": "Slow", "param": None}, named=True)], FINE, 2),
    "Gemini's error in a list": ("gemini", [Wire(json.dumps([{"error": {"code": 503, "message": "Overloaded", "status": "UNAVAILABLE"}}]).encode(), "application/json")], FINE, 2),
    "Mistral's finish": ("mistral", [wire(chunk({}, "error"), done=True)], FINE, 2),
    # streams that end early or never
    "a cut stream": ("openai-chat", [wire(chunk({"content": "Hal"}))], FINE, 2),
    "a cut connection": ("openai-chat", [wire(chunk({"content": "Hal"}), cut=True)], FINE, 2),
    "a reset": ("openai-chat", [reset], FINE, 2),
    "cut three times": ("anthropic", [message_events(*block({"type": "text_delta", "text": "Hal"}, type="text", text=""))] * 3, failed("PARSE", "that was cut off"), 3),
    "cut after the end": ("openai-chat", [wire(chunk({"content": "Fine."}), chunk({}, "stop"), cut=True)], FINE, 1),
    "no [DONE]": ("compatible", [wire(chunk({"content": "Fine."}), chunk({}, "stop"))], FINE, 1),
    "no finish": ("compatible", [wire(chunk({"content": "Fine."}), done=True)], FINE, 1),
    "no last blank line": ("compatible", [Wire(events([chunk({"content": "Fine."}), chunk({}, "stop")]).rstrip(b"\n"))], FINE, 1),
    "held open": ("openai-chat", [held_open(chunk({"content": "Fine."}, "stop"), done=True)], FINE, 1, {}, HASTE),
    "held open by Anthropic": ("anthropic", [held_open({"type": "message_start", "message": {}}, *block(type="text", text="Fine."), *ended("end_turn"))], FINE, 1, {}, HASTE),
    "held open by Responses": ("openai", [held_open({"type": "response.completed", "response": {"status": "completed", "output": [{"type": "message", "content": [{"type": "output_text", "text": "Fine."}]}]}})], FINE, 1, {}, HASTE),
    "nothing at all": ("openai-chat", [hang_up], FINE, 2),
    "silence": ("openai-chat", [silent], failed("PROVIDER", "sent nothing for 1 seconds. Try again later, or raise FORAGE_MODEL_TIMEOUT"), 1, {}, {"FORAGE_MODEL_TIMEOUT": "1s"}),
    "endless comments": ("openai-chat", [endless], failed("PROVIDER", "too large"), 1),
    "an empty body": ("openai-chat", [Wire(b"")], FINE, 2),
    "an endless error": ("openai-chat", [Fault(500, b"x" * 400000, SOON, "text/plain")], FINE, 2),
    "an endless page of a limit": ("openai-chat", [Fault(429, b"x" * 400000, {"retry-after": "3600"}, "text/html")], failed("RATE_LIMIT", "rate limit is reached"), 1),
    "a wrong key that is cut": ("openai", [broken_error(401)], failed("AUTH", "HTTP 401"), 1),
    "too large a body that is cut": ("openai", [broken_error(413)], LIMIT, 1),
    "a page": ("openai-chat", [Wire(b"<html>Sign in</html>", "text/html")] * 3, failed("PARSE", "none that this interface sends"), 3),
    "no JSON": ("openai-chat", [Wire(b"data: {nonsense\n\n")] * 3, failed("PARSE", "is not JSON"), 3),
    "other JSON": ("openai-chat", [Wire(b'{"hello": 1}', "application/json")] * 3, failed("PARSE", "none that"), 3),
    "broken UTF-8": ("openai-chat", [Wire(b'data: {"choices":[{"delta":{"content":"Fine\xff"},"finish_reason":"stop"}]}\n\n')], {"text": "Fine?"}, 1),
    "half a character": ("openai-chat", [Wire(b'data: {"choices":[{"delta":{"content":"Fine\\ud83d"}}]}\n\ndata: {"choices":[{"delta":{"content":"\\ude00."},"finish_reason":"stop"}]}\n\n')], {"text": "Fine\ufffd\ufffd."}, 1),
    "a NUL": ("openai-chat", [wire(chunk({"content": "a\0b"}, "stop"))], {"text": "a b"}, 1),
    "CR and LF": ("openai-chat", [Wire(events([chunk({"content": "Fine."}, "stop")], done=True).replace(b"\n", b"\r\n"))], FINE, 1),
    "pings and comments": ("openai-chat", [Wire(b"\xef\xbb\xbf: hi\n\nevent: ping\ndata:\n\nretry: 5\n" + events([chunk({"content": "Fine."}, "stop")]))], FINE, 1),
    # replies of all shapes
    "no stream": ("compatible", [whole({"content": "Fine."})], FINE, 1),
    "no stream with uses": ("compatible", [whole({"content": None, "tool_calls": [{"id": "x", "function": {"name": "add", "arguments": {"a": 1, "b": 2}}}]}, "tool_calls")], ADD_ONE, 1),
    "nothing but thinking": ("vllm", [wire(chunk({"reasoning": "Hm"}), chunk({"content": None}, "length"), done=True)], FINE, 2),
    "nothing but thinking twice": ("vllm", [wire(chunk({"reasoning": "Hm"}, "length"), done=True)] * 2, {"text": "", "stop": "cut"}, 2),
    "an empty reply": ("lmstudio", [wire(chunk({"content": ""}, "stop"), done=True)], FINE, 2),
    "two empty replies": ("lmstudio", [wire(chunk({"content": ""}, "stop"), done=True)] * 2, failed("PARSE", "answered with nothing"), 2),
    "thoughts in the text": ("lmstudio", [whole({"content": "<think>\nHm\n</think>\n\nFine."})], FINE, 1),
    "thoughts without a beginning": ("llamacpp", [whole({"content": "Hm\n</think>\nFine."})], FINE, 1),
    "uses at index 0": ("vllm", [wire(call("add", '{"a":1,', 0, "x"), call(None, '"b":2}'), call("add", '{"a":3,"b":4}', 0, "y"), chunk({}, "tool_calls"))], ADD_TWO, 1),
    "uses without ids": ("compatible", [wire(call("add", '{"a":1,"b":2}'), call("add", '{"a":3,"b":4}'), chunk({}, "tool_calls"))], ADD_TWO, 1),
    "uses without an index": ("compatible", [wire(call("add", '{"a":1,', None, "x"), call(None, '"b":2}', None), call("add", '{"a":3,"b":4}', None, "y"), chunk({}, "tool_calls"))], ADD_TWO, 1),
    "the id in every part": ("compatible", [wire(call("add", '{"a":1,', 0, "x"), call("add", '"b":2}', 0, "x"), chunk({}, "stop"))], ADD_ONE, 1),
    "an empty id later": ("compatible", [wire(call("add", '{"a":1,', 0, "x"), call(None, '"b":2}', 0, ""), chunk({}, "stop"))], ADD_ONE, 1),
    "arguments as an object": ("mistral", [wire(call("add", {"a": 1, "b": 2}, 0, "x"), chunk({}, "tool_calls"))], ADD_ONE, 1),
    "arguments twice packed": ("compatible", [wire(call("add", json.dumps('{"a":1,"b":2}'), 0, "x"), chunk({}, "tool_calls"))], ADD_ONE, 1),
    "no arguments": ("compatible", [wire(call("add", "", 0, "x"), chunk({}, "tool_calls"))], {"uses": [("add", "{}")]}, 1),
    "arguments that are no JSON": ("compatible", [wire(call("add", "{a: 1}", 0, "x"), chunk({}, "tool_calls"))], {"uses": [("add", None)], "stop": "uses"}, 1),
    "arguments that are a list": ("compatible", [wire(call("add", "[1]", 0, "x"), chunk({}, "tool_calls"))], {"uses": [("add", None)]}, 1),
    "arguments that were cut": ("compatible", [wire(call("add", '{"a":1', 0, "x"), chunk({}, "length"))], {"uses": [("add", None)], "stop": "cut"}, 1),
    "more uses than anybody needs": ("compatible", [wire(*(call("add", "{}", n, f"x{n}") for n in range(70)), chunk({}, "tool_calls"))], failed("PARSE", "larger than any answer"), 1),
    "loading": ("llamacpp", [Fault(503, {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}})] * 2, FINE, 3),
    "a block that is none": ("anthropic", [message_events({"type": "content_block_start", "index": 0}, *block(type="text", text="Fine."), *ended("end_turn"))], FINE, 1),
    "a block that does not end": ("anthropic", [message_events(*block({"type": "text_delta", "text": "Fine."}, type="text", text="")[:-1], *ended("end_turn"))], {**FINE, "echo": '[{"type":"text","text":"Fine."}]'}, 1),
    "a block that is too large": ("anthropic", [message_events(*block(type="redacted_thinking", data="x" * (LARGEST + 1)), *ended("end_turn"))], failed("PARSE", "larger than any answer"), 1),
    "filtered": ("openai-chat", [wire(chunk({"content": ""}, "content_filter"), done=True)], {"text": "", "stop": "refused"}, 1),
    "blocked by Gemini": ("gemini", [wire({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}})], {"text": "", "stop": "refused"}, 1),
    "Gemini's recitation": ("gemini", [wire({"candidates": [{"finishReason": "RECITATION"}]})], {"text": "", "stop": "refused"}, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_fault(name):
    provider, plan, outcome, requests, wishes, settings = (*FAULTS[name], {}, {})[:6]
    with Models(lambda turn: Say("Fine.")) as models, asker(models, provider, **settings) as model:
        models.play(*plan)
        reply = model.ask("hello", **wishes)
        assert len(models.requests) == requests, reply
        if "code" in outcome:
            assert reply.get("code") == outcome["code"], reply
            assert re.search(outcome["message"], reply["message"]), reply
            assert KEY not in json.dumps(reply)
            return
        uses = [(use["name"], use.get("arguments")) for use in reply.get("uses", [])]
        seen = {**reply, "uses": uses}
        assert {key: seen.get(key) for key in outcome} == outcome, reply
        if "status" not in outcome:
            assert reply["status"] == "ok"
            assert reply["usage"]["requests"] == requests


def test_there_are_enough():
    assert len(FAULTS) >= 80
