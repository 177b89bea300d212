"""Fakes of all interfaces that a model can be asked through: one server that speaks chat completions (in the manner of
each server that took them over), OpenAI's Responses, Anthropic's Messages, Gemini's generateContent, and Ollama's own.
The vendors' clients are run against it (test_model_fakes.py), so that it is a fake to trust.

What the model says is decided by a function, the script: it gets a Turn and gives a Say, a Use, a list of Uses, or
something that goes wrong (Fault, or a function that gets the HTTP handler). With a list instead of a function, each request
takes the next; the last one repeats.

    def script(turn):
        if turn.results:
            return Say("It is 4.")
        return Use("add", a=2, b=2)

    with Models(script) as models:
        ...  FORAGE_MODEL=openai-chat:fake  OPENAI_BASE_URL=models.address("openai-chat")

Streams are cut into pieces of `models.piece` bytes (0: one piece).
"""

import itertools
import json
import re
import threading
from dataclasses import dataclass, field

from fakes.service import Reply, Service

KEY = "model-key-0123456789abcdef"


@dataclass
class Say:
    """The model's words."""

    text: str
    reasoning: str = ""
    stop: str = "stop"  # or length, filter, context


@dataclass
class Refuse:
    """The model will not answer."""

    text: str = "I cannot help with that."


class Use:
    """The model wants a tool used. `raw` replaces the arguments, as the model wrote them."""

    def __init__(self, name, raw=None, reasoning="", **arguments):
        self.name = name
        self.arguments = json.dumps(arguments) if raw is None else raw
        self.reasoning = reasoning

    def object(self):
        try:
            return json.loads(self.arguments)
        except ValueError:
            return {}


@dataclass
class Fault:
    """The service refuses: a status, a body, headers."""

    status: int
    body: object = b""
    headers: dict = field(default_factory=dict)
    kind: str = "application/json"


@dataclass
class Wire:
    """Exactly these bytes, with HTTP 200. `cut`: the connection ends before the body does."""

    body: bytes
    kind: str = "text/event-stream"
    cut: bool = False


@dataclass
class Turn:
    """What the model was sent, whatever the dialect."""

    dialect: str
    flavour: str  # the provider whose manners are asked for
    model: str
    system: str
    prompt: str  # the last words of the user
    texts: list  # (role, text) of every message that has a text
    tools: list  # names
    results: list  # of tools, as they came: (id or name, text)
    must_use: bool
    shape: dict | None
    stream: bool
    number: int  # of the request, from 1
    body: dict = field(repr=False, default=None)
    headers: dict = field(repr=False, default=None)


def text_of(content):
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return content or ""


def pieces_of(text, size=7):
    return [text[at : at + size] for at in range(0, len(text), size)] or [""]


def tokens(text):
    return len(text) // 4 + 1


# ---- server-sent events ----


def events(payloads, named=False, done=False):
    """Bytes of a stream; `named`: each event has its type as its name."""
    lines = []
    for payload in payloads:
        if isinstance(payload, bytes):
            lines.append(payload)
            continue
        name = f"event: {payload['type']}\n" if named else ""
        lines.append(f"{name}data: {json.dumps(payload, ensure_ascii=False)}\n\n".encode())
    return b"".join(lines) + (b"data: [DONE]\n\n" if done else b"")


class Refused(Exception):
    """What is wrong with a request, as a Fault."""

    def __init__(self, fault):
        super().__init__(fault.body)
        self.fault = fault


# ---- chat completions ----

# How each server differs from OpenAI.
#   reasoning   the name of what the model thinks
#   whole       each use comes in one delta
#   zero        every use has the index 0
#   objects     arguments are objects
#   done        the stream ends with [DONE]
#   comments    before and between events
#   usage       sent unasked
FLAVOURS = {
    "openai-chat": {"done": True},
    "compatible": {"done": True},
    "ollama": {"done": True, "reasoning": "reasoning", "whole": True},
    "llamacpp": {"done": True, "reasoning": "reasoning_content"},
    "vllm": {"done": True, "reasoning": "reasoning", "zero": True},
    "lmstudio": {"done": True, "reasoning": "reasoning_content"},
    "openrouter": {"done": True, "reasoning": "reasoning", "comments": True, "usage": True},
    "groq": {"done": True, "reasoning": "reasoning", "whole": True},
    "deepseek": {"done": True, "reasoning": "reasoning_content", "usage": True},
    "mistral": {"done": True, "whole": True, "usage": True, "letters": True},
}

CHAT_PARAMETERS = {
    "model", "messages", "tools", "tool_choice", "parallel_tool_calls", "response_format", "max_completion_tokens",
    "max_tokens", "reasoning_effort", "stream", "stream_options", "temperature", "top_p", "n", "stop", "seed",
    "frequency_penalty", "presence_penalty", "guardrails", "prompt_mode", "safe_prompt", "random_seed",
}  # fmt: skip


def openai_error(status, words, code=None, param=None, kind="invalid_request_error", **headers):
    return Fault(status, {"error": {"message": words, "type": kind, "param": param, "code": code}}, headers)


class Chat:
    """POST .../chat/completions"""

    def __init__(self, flavour):
        self.flavour = flavour
        self.ways = FLAVOURS[flavour]

    def check(self, body):
        for name in body:
            if name not in CHAT_PARAMETERS:
                raise Refused(openai_error(400, f"Unknown parameter: '{name}'.", "unknown_parameter", name))
        if self.flavour == "mistral":
            for name in {"stream_options", "max_completion_tokens"} & set(body):
                detail = [{"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs are not permitted"}]
                raise Refused(Fault(422, {"detail": detail}))
        answered = set()
        for message in body["messages"]:
            if message["role"] == "tool":
                answered.add(message["tool_call_id"])
        for message in body["messages"]:
            for call in message.get("tool_calls") or []:
                if call["id"] not in answered:
                    raise Refused(openai_error(400, f"No tool output found for {call['id']}.", None, "messages"))
                json.loads(call["function"]["arguments"])
                if self.flavour == "mistral" and not re.fullmatch(r"[A-Za-z0-9]{9}", call["id"]):
                    raise Refused(Fault(422, {"object": "error", "message": "Tool call id has to be 9 letters and digits", "type": "invalid_request", "code": 3230}))
            if self.flavour == "deepseek" and message.get("tool_calls") and "reasoning_content" not in message:
                words = "The `reasoning_content` in the thinking mode must be passed back to the API."
                raise Refused(openai_error(400, words, "invalid_request_error"))

    def read(self, body):
        messages = body["messages"]
        texts = [(message["role"], text_of(message.get("content"))) for message in messages]
        shape = body.get("response_format", {}).get("json_schema", {}).get("schema")
        return {
            "system": next((text for role, text in texts if role == "system"), ""),
            "prompt": next((text for role, text in reversed(texts) if role == "user"), ""),
            "texts": texts,
            "tools": [tool["function"]["name"] for tool in body.get("tools") or []],
            "results": [(message["tool_call_id"], text_of(message["content"])) for message in messages if message["role"] == "tool"],
            "must_use": body.get("tool_choice") in ("required", "any") and self.flavour != "ollama",
            "shape": shape,
            "stream": bool(body.get("stream")),
        }

    def identify(self, numbers):
        number = next(numbers)
        return f"c{number:08d}" if self.ways.get("letters") else f"call_{number}"

    def usage(self, turn, written):
        return {
            "prompt_tokens": tokens(json.dumps(turn.body)),
            "completion_tokens": tokens(written),
            "total_tokens": tokens(json.dumps(turn.body)) + tokens(written),
            "prompt_tokens_details": {"cached_tokens": 3},
            "completion_tokens_details": {"reasoning_tokens": 2},
        }

    def finish(self, said):
        if isinstance(said, Refuse):
            return "stop"
        if isinstance(said, list):
            return "tool_calls"
        return {"stop": "stop", "length": "length", "filter": "content_filter", "context": "model_length"}[said.stop]

    def call(self, use, numbers, index=None):
        arguments = use.object() if self.ways.get("objects") else use.arguments
        made = {"id": self.identify(numbers), "type": "function", "function": {"name": use.name, "arguments": arguments}}
        return made if index is None else {"index": 0 if self.ways.get("zero") else index, **made}

    def whole(self, turn, said, numbers):
        message = {"role": "assistant", "content": None, "refusal": None}
        written = ""
        if isinstance(said, list):
            message["tool_calls"] = [self.call(use, numbers) for use in said]
            reasoning = said[0].reasoning
        elif isinstance(said, Refuse):
            message["refusal"] = said.text
            reasoning = ""
        else:
            message["content"] = written = said.text
            reasoning = said.reasoning
        if reasoning and self.ways.get("reasoning"):
            message[self.ways["reasoning"]] = reasoning
        return {
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1794736800, "model": turn.model,
            "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": self.finish(said)}],
            "usage": self.usage(turn, written),
        }  # fmt: skip

    def deltas(self, said, numbers):
        reasoning = said[0].reasoning if isinstance(said, list) else getattr(said, "reasoning", "")
        key = self.ways.get("reasoning")
        if reasoning and key:
            for piece in pieces_of(reasoning):
                yield {key: piece}
        if isinstance(said, Refuse):
            for piece in pieces_of(said.text):
                yield {"refusal": piece}
        elif not isinstance(said, list):
            for piece in pieces_of(said.text) if said.text else []:
                yield {"content": piece}
        else:
            for index, use in enumerate(said):
                call = self.call(use, numbers, index)
                if self.ways.get("whole"):
                    yield {"tool_calls": [call]}
                    continue
                parts = pieces_of(use.arguments, 5)
                call["function"]["arguments"] = parts[0]
                yield {"tool_calls": [call]}
                for part in parts[1:]:
                    yield {"tool_calls": [{"index": call["index"], "function": {"arguments": part}}]}

    def stream(self, turn, said, numbers):
        head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1794736800, "model": turn.model}

        def chunk(delta, finish=None, **more):
            return {**head, "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}], **more}

        comment = [b": OPENROUTER PROCESSING\n\n"] if self.ways.get("comments") else []
        payloads = [*comment, chunk({"role": "assistant", "content": ""}), *comment]
        payloads += [chunk(delta) for delta in self.deltas(said, numbers)]
        written = getattr(said, "text", "")
        usage = self.usage(turn, written)
        unasked = self.ways.get("usage")
        payloads.append(chunk({}, self.finish(said), **({"usage": usage} if unasked else {})))
        if (turn.body.get("stream_options") or {}).get("include_usage") and not unasked:
            payloads.append({**head, "choices": [], "usage": usage})
        return events(payloads, done=self.ways.get("done"))


# ---- responses ----


class Responses:
    """POST .../responses"""

    PARAMETERS = {
        "model", "input", "instructions", "tools", "tool_choice", "include", "store", "max_output_tokens", "reasoning",
        "stream", "text", "parallel_tool_calls", "temperature", "truncation",
    }  # fmt: skip

    def check(self, body):
        for name in body:
            if name not in self.PARAMETERS:
                raise Refused(openai_error(400, f"Unknown parameter: '{name}'.", "unknown_parameter", name))
        items = body["input"] if isinstance(body["input"], list) else []
        answered = {item["call_id"] for item in items if item.get("type") == "function_call_output"}
        thought = False
        for item in items:
            if item.get("type") == "reasoning":
                thought = True
                if body.get("store") is False and not item.get("encrypted_content"):
                    raise Refused(openai_error(404, f"Item with id '{item['id']}' not found.", None, "input"))
            if item.get("type") == "function_call":
                if item["call_id"] not in answered:
                    raise Refused(openai_error(400, f"No tool output found for function call {item['call_id']}.", None, "input"))
                if not thought:
                    words = "Item of type 'function_call' was provided without its required 'reasoning' item."
                    raise Refused(openai_error(400, words, None, "input"))

    def read(self, body):
        items = body["input"] if isinstance(body["input"], list) else [{"role": "user", "content": body["input"]}]
        texts = [(item["role"], text_of(item["content"])) for item in items if "role" in item]
        format_ = body.get("text", {}).get("format", {})
        return {
            "system": body.get("instructions") or "",
            "prompt": next((text for role, text in reversed(texts) if role == "user"), ""),
            "texts": texts,
            "tools": [tool["name"] for tool in body.get("tools") or []],
            "results": [(item["call_id"], item["output"]) for item in items if item.get("type") == "function_call_output"],
            "must_use": body.get("tool_choice") == "required",
            "shape": format_.get("schema"),
            "stream": bool(body.get("stream")),
        }

    def items(self, turn, said, numbers):
        made = [{"id": f"rs_{next(numbers)}", "type": "reasoning", "summary": [], "encrypted_content": "c2VhbGVk"}]
        if isinstance(said, list):
            for use in said:
                number = next(numbers)
                made.append(
                    {"id": f"fc_{number}", "type": "function_call", "status": "completed", "call_id": f"call_{number}", "name": use.name, "arguments": use.arguments}
                )
            return made
        content = {"type": "output_text", "text": said.text, "annotations": [], "logprobs": []}
        if isinstance(said, Refuse):
            content = {"type": "refusal", "refusal": said.text}
        if said.text:
            made.append({"id": f"msg_{next(numbers)}", "type": "message", "status": "completed", "role": "assistant", "content": [content]})
        return made

    def response(self, turn, said, items):
        stop = getattr(said, "stop", "stop")
        reason = {"length": "max_output_tokens", "filter": "content_filter"}.get(stop)
        used = tokens(json.dumps(turn.body)), tokens(getattr(said, "text", ""))
        return {
            "id": "resp_1", "object": "response", "created_at": 1794736800, "status": "incomplete" if reason else "completed",
            "background": False, "error": None, "incomplete_details": {"reason": reason} if reason else None,
            "instructions": None, "max_output_tokens": None, "metadata": {}, "model": turn.model, "output": items,
            "parallel_tool_calls": True, "previous_response_id": None, "reasoning": {"effort": None, "summary": None},
            "store": False, "temperature": 1.0, "text": {"format": {"type": "text"}}, "tool_choice": "auto", "tools": [],
            "top_p": 1.0, "truncation": "disabled", "user": None,
            "usage": {
                "input_tokens": used[0], "input_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 0},
                "output_tokens": used[1], "output_tokens_details": {"reasoning_tokens": 2}, "total_tokens": sum(used),
            },
        }  # fmt: skip

    def whole(self, turn, said, numbers):
        return self.response(turn, said, self.items(turn, said, numbers))

    def stream(self, turn, said, numbers):
        items = self.items(turn, said, numbers)
        whole = self.response(turn, said, items)
        started = {**whole, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
        payloads = [{"type": "response.created", "response": started}, {"type": "response.in_progress", "response": started}]
        for index, item in enumerate(items):
            payloads.append({"type": "response.output_item.added", "output_index": index, "item": {**item, "status": "in_progress", "content": []} if "content" in item else item})
            if item["type"] == "function_call":
                for part in pieces_of(item["arguments"], 5):
                    payloads.append({"type": "response.function_call_arguments.delta", "item_id": item["id"], "output_index": index, "delta": part, "obfuscation": "x7"})
                payloads.append({"type": "response.function_call_arguments.done", "item_id": item["id"], "output_index": index, "name": item["name"], "arguments": item["arguments"]})
            for content in item.get("content") or []:
                where = {"item_id": item["id"], "output_index": index, "content_index": 0}
                refused = content["type"] == "refusal"
                payloads.append({"type": "response.content_part.added", **where, "part": {**content, "refusal" if refused else "text": ""}})
                for part in pieces_of(content["refusal" if refused else "text"]):
                    kind = "refusal" if refused else "output_text"
                    payloads.append({"type": f"response.{kind}.delta", **where, "delta": part, "logprobs": []})
                if not refused:
                    payloads.append({"type": "response.output_text.done", **where, "text": content["text"], "logprobs": []})
                payloads.append({"type": "response.content_part.done", **where, "part": content})
            payloads.append({"type": "response.output_item.done", "output_index": index, "item": item})
        payloads.append({"type": f"response.{whole['status']}", "response": whole})
        return events([{**payload, "sequence_number": number} for number, payload in enumerate(payloads)], named=True)


# ---- messages ----


def anthropic_error(status, kind, words, **headers):
    return Fault(status, {"type": "error", "error": {"type": kind, "message": words}, "request_id": "req_1"}, headers)


class Messages:
    """POST /v1/messages"""

    def check(self, body):
        if "max_tokens" not in body:
            raise Refused(anthropic_error(400, "invalid_request_error", "max_tokens: Field required"))
        for name in {"temperature", "top_p", "top_k"} & set(body):
            raise Refused(anthropic_error(400, "invalid_request_error", f"{name}: not supported"))
        asked = []
        for message in body["messages"]:
            blocks = message["content"] if isinstance(message["content"], list) else [{"type": "text", "text": message["content"]}]
            if not blocks:
                raise Refused(anthropic_error(400, "invalid_request_error", "messages: content must not be empty"))
            results = {block["tool_use_id"] for block in blocks if block["type"] == "tool_result"}
            if set(asked) != results:
                words = "`tool_use` ids were found without `tool_result` blocks immediately after"
                raise Refused(anthropic_error(400, "invalid_request_error", words))
            asked = [block["id"] for block in blocks if block["type"] == "tool_use"]
            for block in blocks:
                if block["type"] == "text" and not block["text"]:
                    raise Refused(anthropic_error(400, "invalid_request_error", "messages: text content blocks must be non-empty"))
                if block["type"] == "thinking" and block.get("signature") != "c2lnbmVk":
                    raise Refused(anthropic_error(400, "invalid_request_error", "Invalid `signature` in `thinking` block"))
                if block["type"] == "tool_use" and not isinstance(block["input"], dict):
                    raise Refused(anthropic_error(400, "invalid_request_error", "tool_use.input: Input should be a valid dictionary"))
            if asked and not body.get("tools"):
                raise Refused(anthropic_error(400, "invalid_request_error", "Requests which have `tool_use` blocks must define tools"))

    def read(self, body):
        texts, results = [], []
        for message in body["messages"]:
            blocks = message["content"] if isinstance(message["content"], list) else [{"type": "text", "text": message["content"]}]
            texts.append((message["role"], "".join(block.get("text", "") for block in blocks if block["type"] == "text")))
            results += [(block["tool_use_id"], text_of(block.get("content"))) for block in blocks if block["type"] == "tool_result"]
        return {
            "system": text_of(body.get("system")),
            "prompt": next((text for role, text in reversed(texts) if role == "user" and text), ""),
            "texts": texts,
            "tools": [tool["name"] for tool in body.get("tools") or []],
            "results": results,
            "must_use": body.get("tool_choice", {}).get("type") == "any",
            "shape": body.get("output_config", {}).get("format", {}).get("schema"),
            "stream": bool(body.get("stream")),
        }

    def blocks(self, said, numbers):
        reasoning = said[0].reasoning if isinstance(said, list) else getattr(said, "reasoning", "")
        made = [{"type": "thinking", "thinking": reasoning, "signature": "c2lnbmVk"}] if reasoning else []
        if isinstance(said, list):
            made += [{"type": "tool_use", "id": f"toolu_{next(numbers)}", "name": use.name, "input": use.object()} for use in said]
        elif said.text:
            made.append({"type": "text", "text": said.text})
        return made

    def stop(self, said):
        if isinstance(said, list):
            return "tool_use"
        if isinstance(said, Refuse):
            return "refusal"
        return {"stop": "end_turn", "length": "max_tokens", "filter": "refusal", "context": "model_context_window_exceeded"}[said.stop]

    def usage(self, turn, written=1):
        return {
            "input_tokens": tokens(json.dumps(turn.body)) - 5, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 3,
            "output_tokens": written,
        }  # fmt: skip

    def whole(self, turn, said, numbers):
        return {
            "id": "msg_1", "type": "message", "role": "assistant", "model": turn.model, "content": self.blocks(said, numbers),
            "stop_reason": self.stop(said), "stop_sequence": None, "usage": self.usage(turn, tokens(getattr(said, "text", ""))),
        }  # fmt: skip

    def stream(self, turn, said, numbers):
        whole = self.whole(turn, said, numbers)
        begun = {**whole, "content": [], "stop_reason": None, "usage": self.usage(turn)}
        payloads = [{"type": "message_start", "message": begun}]
        raws = iter(said if isinstance(said, list) else [])
        for index, block in enumerate(whole["content"]):
            empty = {"text": {"text": ""}, "thinking": {"thinking": "", "signature": ""}, "tool_use": {"input": {}}}[block["type"]]
            payloads.append({"type": "content_block_start", "index": index, "content_block": {**block, **empty}})
            payloads.append({"type": "ping"})
            if block["type"] == "text":
                deltas = [{"type": "text_delta", "text": part} for part in pieces_of(block["text"])]
            elif block["type"] == "thinking":
                deltas = [{"type": "thinking_delta", "thinking": part} for part in pieces_of(block["thinking"])]
                deltas.append({"type": "signature_delta", "signature": block["signature"]})
            else:
                deltas = [{"type": "input_json_delta", "partial_json": part} for part in ["", *pieces_of(next(raws).arguments, 5)]]
            payloads += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
            payloads.append({"type": "content_block_stop", "index": index})
        payloads.append({"type": "message_delta", "delta": {"stop_reason": whole["stop_reason"], "stop_sequence": None}, "usage": {"output_tokens": whole["usage"]["output_tokens"]}})
        payloads.append({"type": "message_stop"})
        return events(payloads, named=True)


# ---- generateContent ----


def google_error(status, name, words, *details, **headers):
    return Fault(status, {"error": {"code": status, "message": words, "status": name, "details": list(details)}}, headers)


class Gemini:
    """POST /v1beta/models/NAME:generateContent and :streamGenerateContent; newer clients ask below /v1"""

    PARAMETERS = {"contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "safetySettings", "cachedContent", "labels"}

    def check(self, body):
        for name in set(body) - self.PARAMETERS:
            raise Refused(google_error(400, "INVALID_ARGUMENT", f'Invalid JSON payload received. Unknown name "{name}"'))
        for content in body["contents"]:
            if not content.get("parts"):
                raise Refused(google_error(400, "INVALID_ARGUMENT", "contents.parts must not be empty."))
            calls = [part for part in content["parts"] if "functionCall" in part]
            if calls and content["role"] == "model" and not calls[0].get("thoughtSignature"):
                words = "Function call is missing a thought_signature in functionCall parts."
                raise Refused(google_error(400, "INVALID_ARGUMENT", words))

    def read(self, body):
        texts, results = [], []
        for content in body["contents"]:
            parts = content["parts"]
            texts.append(({"model": "assistant"}.get(content.get("role"), "user"), "".join(part.get("text", "") for part in parts)))
            for part in parts:
                if "functionResponse" in part:
                    answer = part["functionResponse"]
                    results.append((answer.get("id") or answer["name"], answer["response"].get("output", answer["response"].get("error", answer["response"].get("result")))))
        tools = [tool for group in body.get("tools") or [] for tool in group.get("functionDeclarations", [])]
        return {
            "system": "".join(part["text"] for part in body.get("systemInstruction", {}).get("parts", [])),
            "prompt": next((text for role, text in reversed(texts) if role == "user" and text), ""),
            "texts": texts,
            "tools": [tool["name"] for tool in tools],
            "results": results,
            "must_use": body.get("toolConfig", {}).get("functionCallingConfig", {}).get("mode") == "ANY",
            "shape": body.get("generationConfig", {}).get("responseJsonSchema"),
        }

    def parts(self, said):
        reasoning = said[0].reasoning if isinstance(said, list) else getattr(said, "reasoning", "")
        made = [{"text": reasoning, "thought": True}] if reasoning else []
        if isinstance(said, list):
            for index, use in enumerate(said):
                part = {"functionCall": {"name": use.name, "args": use.object()}}
                made.append({**part, "thoughtSignature": "c2lnbmVk"} if index == 0 else part)
            return [[part] for part in made]
        texts = [{"text": piece} for piece in pieces_of(said.text)] if said.text else []
        return [[part] for part in made + texts + [{"text": "", "thoughtSignature": "c2lnbmVk"}]]

    def event(self, turn, parts, reason=None, written=0):
        candidate = {"content": {"parts": parts, "role": "model"}, "index": 0}
        if reason:
            candidate["finishReason"] = reason
        used = tokens(json.dumps(turn.body))
        return {
            "candidates": [candidate],
            "usageMetadata": {"promptTokenCount": used, "candidatesTokenCount": written, "thoughtsTokenCount": 2, "cachedContentTokenCount": 3, "totalTokenCount": used + written + 2},
            "modelVersion": turn.model, "responseId": "r1",
        }  # fmt: skip

    def reason(self, said):
        return {"stop": "STOP", "length": "MAX_TOKENS", "filter": "SAFETY", "context": "MAX_TOKENS"}[getattr(said, "stop", "stop")]

    def whole(self, turn, said, numbers):
        if isinstance(said, Refuse):
            return {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 5, "totalTokenCount": 5}}
        parts = [part for parts in self.parts(said) for part in parts]
        return self.event(turn, parts, self.reason(said), tokens(getattr(said, "text", "")))

    def stream(self, turn, said, numbers):
        if isinstance(said, Refuse):
            return events([self.whole(turn, said, numbers)])
        payloads = [self.event(turn, parts) for parts in self.parts(said)]
        payloads.append(self.event(turn, [{"text": ""}], self.reason(said), tokens(getattr(said, "text", ""))))
        return events(payloads)


# ---- Ollama's own ----


class Ollama:
    """POST /api/chat, which forage does not use: it shows that the vendor's client and this script agree."""

    def check(self, body):
        pass

    def read(self, body):
        texts = [(message["role"], message.get("content") or "") for message in body["messages"]]
        return {
            "system": next((text for role, text in texts if role == "system"), ""),
            "prompt": next((text for role, text in reversed(texts) if role == "user"), ""),
            "texts": texts,
            "tools": [tool["function"]["name"] for tool in body.get("tools") or []],
            "results": [(message.get("tool_name"), message["content"]) for message in body["messages"] if message["role"] == "tool"],
            "must_use": False,
            "shape": body.get("format"),
            "stream": body.get("stream", True),
        }

    def line(self, turn, message, done):
        counts = {"done_reason": "stop", "prompt_eval_count": 5, "eval_count": 5, "total_duration": 1} if done else {}
        return {"model": turn.model, "created_at": "2026-11-15T10:00:00Z", "message": {"role": "assistant", **message}, "done": done, **counts}

    def messages(self, said):
        if isinstance(said, list):
            return [{"content": "", "tool_calls": [{"function": {"name": use.name, "arguments": use.object()}}]} for use in said]
        return [{"content": piece} for piece in pieces_of(said.text)]

    def whole(self, turn, said, numbers):
        merged = {"content": "".join(message["content"] for message in self.messages(said))}
        calls = [call for message in self.messages(said) for call in message.get("tool_calls", [])]
        return self.line(turn, {**merged, **({"tool_calls": calls} if calls else {})}, True)

    def stream(self, turn, said, numbers):
        lines = [self.line(turn, message, False) for message in self.messages(said)] + [self.line(turn, {"content": ""}, True)]
        return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


# ---- the server ----

PATHS = [
    (r"(?:/([\w-]+))?(?:/api|/openai)?/v1/chat/completions", "chat"),
    (r"(?:/([\w-]+))?/v1/responses", "responses"),
    (r"(?:/([\w-]+))?/v1/messages", "messages"),
    (r"(?:/([\w-]+))?/v1(?:beta)?/models/([\w.-]+):(generateContent|streamGenerateContent)", "gemini"),
    (r"(?:/([\w-]+))?/api/chat", "ollama"),
]

OTHERS = {"responses": Responses(), "messages": Messages(), "gemini": Gemini(), "ollama": Ollama()}
CHATS = {name: Chat(name) for name in FLAVOURS}

# The variable that names the address of a provider, and what follows the server's own: nothing where forage adds a path.
ADDRESSES = {"openai": ("OPENAI_BASE_URL", "/v1"), "anthropic": ("ANTHROPIC_BASE_URL", ""), "gemini": ("GOOGLE_GEMINI_BASE_URL", "")}
KEYS = {
    "openai": "OPENAI_API_KEY", "openai-chat": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "gemini": "GOOGLE_API_KEY",
    "openrouter": "OPENROUTER_API_KEY", "groq": "GROQ_API_KEY", "deepseek": "DEEPSEEK_API_KEY", "mistral": "MISTRAL_API_KEY",
}  # fmt: skip
PROVIDERS = [*ADDRESSES, *FLAVOURS]


class Models(Service):
    """All of them. `plan` replaces the script for so many requests: Faults, Wires, what a script may give."""

    def __init__(self, script=None):
        super().__init__()
        self.script = script or (lambda turn: Say("Fine."))
        self.plan = []
        self.turns = []
        self.piece = 0
        self.ended = threading.Event()
        self.numbers = itertools.count(1)

    def __exit__(self, *details):
        self.ended.set()
        super().__exit__(*details)

    def play(self, *plan):
        """What comes of the next requests, one after the other; then the script goes on. Forgets what was asked."""
        with self.lock:
            self.plan = list(plan)
            self.requests.clear()
            self.turns.clear()

    def address(self, provider):
        """What FORAGE_MODEL_URL is, for this provider's manners."""
        return f"{self.url}/{provider}" + ("" if provider in ("anthropic", "gemini", "groq") else "/v1")

    def environment(self, provider, model="fake-1"):
        """Variables with which forage asks this model."""
        variables = {"FORAGE_MODEL": f"{provider}:{model}", "FORAGE_MODEL_URL": self.address(provider), "FORAGE_MODEL_KEY": None}
        if provider in KEYS:
            variables[KEYS[provider]] = KEY
        return variables

    def bodies(self):
        return [json.loads(asked.body) for asked in self.requests]

    def _key(self, asked):
        bearer = asked.headers.get("authorization", "").removeprefix("Bearer ")
        return bearer or asked.headers.get("x-api-key") or asked.headers.get("x-goog-api-key") or asked.query.get("key")

    def _said(self, turn):
        if self.plan:
            return self.plan.pop(0)
        if callable(self.script):
            return self.script(turn)
        return self.script.pop(0) if len(self.script) > 1 else self.script[0]

    def answer(self, asked):
        for pattern, dialect in PATHS:
            match = re.fullmatch(pattern, asked.path)
            if match and asked.method == "POST":
                return self._answer(asked, dialect, match)
        return self._reply(openai_error(404, "Unknown request URL."))

    def _answer(self, asked, dialect, match):
        flavour = match[1] or {"chat": "openai-chat", "responses": "openai", "messages": "anthropic"}.get(dialect, dialect)
        wire = OTHERS.get(dialect) or CHATS[flavour if flavour in CHATS else "openai-chat"]
        body = json.loads(asked.body)
        try:
            if flavour in KEYS and self._key(asked) != KEY:
                raise Refused(openai_error(401, f"Incorrect API key provided: {self._key(asked)}.", "invalid_api_key"))
            wire.check(body)
            read = wire.read(body)
        except Refused as refused:
            return self._reply(refused.fault)
        streams = match[3] == "streamGenerateContent" if dialect == "gemini" else read.pop("stream")
        turn = Turn(
            dialect=dialect, flavour=flavour, model=match[2] if dialect == "gemini" else body["model"], stream=streams,
            number=len(self.turns) + 1, body=body, headers=asked.headers, **read,
        )  # fmt: skip
        self.turns.append(turn)
        said = self._said(turn)
        if isinstance(said, Use):
            said = [said]
        if isinstance(said, Fault):
            return self._reply(said)
        if isinstance(said, Wire):
            return lambda handler: self._send(handler, said.kind, said.body, said.cut)
        if callable(said):
            return said
        if not streams:
            return Reply(wire.whole(turn, said, self.numbers))
        kind = "application/x-ndjson" if dialect == "ollama" else "text/event-stream; charset=utf-8"
        stream = wire.stream(turn, said, self.numbers)
        return lambda handler: self._send(handler, kind, stream, False)

    def _reply(self, fault):
        return Reply(fault.body, fault.status, fault.kind, **fault.headers)

    def _send(self, handler, kind, body, cut):
        """A body in chunks; a cut one lacks the last chunk."""
        handler.send_response(200)
        handler.send_header("Content-Type", kind)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        size = self.piece or len(body) or 1
        for at in range(0, len(body), size):
            piece = body[at : at + size]
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            handler.wfile.flush()
        if not cut:
            handler.wfile.write(b"0\r\n\r\n")
            handler.wfile.flush()
        handler.close_connection = cut
