"""OpenAI's Responses API on loopback: what it refuses, and everything that it has been seen to send. The
vendor's own client is run against it (test_search_web.py), so that it is a fake to trust.

A scenario is a name: the path /NAME/v1/responses always plays that one; the plain path /v1/responses plays
what `plan` says, one after the other, the last one for ever.
"""

import json
import re
import threading

from fakes.service import Reply, Service

KEY = "sk-test-key-0123456789abcdef"

# What a request may hold; anything else is refused, as the API does.
PARAMETERS = {
    "model", "input", "instructions", "tools", "tool_choice", "include", "store", "max_output_tokens", "reasoning",
    "temperature", "stream",
}  # fmt: skip

UNITS = {
    "code points": len,
    "UTF-16": lambda text: len(text.encode("utf-16-le")) // 2,
    "bytes": lambda text: len(text.encode()),
}


class Link:
    """A citation in a text: its marker, and what its annotation says."""

    def __init__(self, url, title="A page", label="site.example", brackets=True, tracking="?utm_source=openai"):
        self.url = url + tracking
        self.title = title
        marker = f"[{label}]({self.url})"
        self.marker = f"({marker})" if brackets else marker


def cited(*pieces, unit="code points"):
    """An output_text of texts and Links; positions count what `unit` says."""
    count = UNITS[unit]
    text = ""
    annotations = []
    for piece in pieces:
        if isinstance(piece, Link):
            annotations.append(
                {
                    "type": "url_citation",
                    "start_index": count(text),
                    "end_index": count(text + piece.marker),
                    "url": piece.url,
                    "title": piece.title,
                }
            )
            piece = piece.marker
        text += piece
    return {"type": "output_text", "text": text, "annotations": annotations, "logprobs": []}


def message(*contents, status="completed", **more):
    return {
        "id": "msg_1", "type": "message", "status": status, "role": "assistant", "content": list(contents), **more,
    }  # fmt: skip


def search(status="completed", query="something"):
    action = {"type": "search", "query": query, "queries": [query], "sources": [{"type": "url", "url": "https://a.example/"}]}
    return {"id": "ws_1", "type": "web_search_call", "status": status, "action": action}


def open_page(url):
    return {"id": "ws_2", "type": "web_search_call", "status": "completed", "action": {"type": "open_page", "url": url}}


def reasoning():
    return {"id": "rs_1", "type": "reasoning", "summary": []}


def response(*output, status="completed", tokens=(120, 45), **more):
    """The whole object, as the API sends it."""
    usage = tokens and {
        "input_tokens": tokens[0],
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": tokens[1],
        "output_tokens_details": {"reasoning_tokens": 10},
        "total_tokens": sum(tokens),
    }
    return {
        "id": "resp_1", "object": "response", "created_at": 1794736800, "status": status, "background": False,
        "error": None, "incomplete_details": None, "instructions": None, "max_output_tokens": 8000, "metadata": {},
        "model": "gpt-5-nano-2025-08-07", "output": list(output), "parallel_tool_calls": True,
        "previous_response_id": None, "reasoning": {"effort": "low", "summary": None}, "store": False,
        "temperature": 1.0, "text": {"format": {"type": "text"}}, "tool_choice": "auto", "tools": [], "top_p": 1.0,
        "truncation": "disabled", "usage": usage, "user": None, **more,
    }  # fmt: skip


def error(status, words, code=None, param=None, kind="invalid_request_error", **headers):
    body = {"error": {"message": words, "type": kind, "param": param, "code": code}}
    return Reply(body, status, x_request_id="req_0123", **headers)


RAIN = Link("https://weather.example/rain", "Rain today", "weather.example")
SNOW = Link("https://snow.example/news", "Snow tomorrow", "snow.example")


def normal_output():
    return cited("It rains today. ", RAIN, " It snows tomorrow. ", SNOW)


# ---- answers that go wrong on the wire ----


def cut_off(handler):
    """The head promises more than comes."""
    body = json.dumps(response(search(), message(normal_output()))).encode()
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body[: len(body) // 2])


def silence(handler):
    """Nothing, until the test ends."""
    handler.server.service.ended.wait()


# ---- the scenarios ----


def reply(*output, **more):
    return lambda: Reply(response(*output, **more), x_request_id="req_0123")


SCENARIOS = {
    "normal": reply(search(), message(normal_output())),
    "several": reply(
        search(), open_page(RAIN.url), message(cited("It rains today. ", RAIN)), search(),
        message(cited("It snows ", "tomorrow. ", SNOW), cited(" That is all."))
    ),
    "reasoning_first": reply(reasoning(), search(), reasoning(), message(normal_output())),
    "commentary": reply(
        message(cited("I will look that up."), phase="commentary"), search(),
        message(normal_output(), phase="final_answer"),
    ),
    "incomplete_with_text": reply(
        search(), message(normal_output(), status="incomplete"), status="incomplete",
        incomplete_details={"reason": "max_output_tokens"},
    ),
    "incomplete_without_text": reply(
        reasoning(), search(), status="incomplete", incomplete_details={"reason": "max_output_tokens"},
    ),
    "filtered": reply(search(), status="incomplete", incomplete_details={"reason": "content_filter"}),
    "refusal": reply(search(), message({"type": "refusal", "refusal": "I cannot help with that."})),
    "no_tool_call": reply(message(cited("From memory: it rains."))),
    "failed_search": reply(search("failed"), message(normal_output())),
    "bare_array": lambda: Reply([search(), message(normal_output())]),
    "output_text": lambda: Reply({"output": [search()], "output_text": "It rains."}),
    "only_output_text": lambda: Reply({"output_text": "It rains."}),
    "missing_fields": lambda: Reply(
        {"output": [{"type": "web_search_call"}, {"type": "message", "content": [{"type": "output_text", "text": "It rains."}]}]}
    ),
    "no_usage": reply(search(), message(normal_output()), tokens=None),
    "failed_inside": reply(
        status="failed", error={"code": "server_error", "message": "The server had an error."}, tokens=None
    ),
    "empty_object": lambda: Reply({}),
    "temperature_refused": lambda: error(
        400, "Unsupported parameter: 'temperature' is not supported with this model.", "unsupported_parameter", "temperature"
    ),
    "effort_refused": lambda: error(400, "Unsupported value.", "unsupported_value", "reasoning.effort"),
    "input_refused": lambda: error(400, "Invalid input.", None, "input"),
    "region_refused": lambda: error(400, "Invalid country.", None, "tools[0].user_location.country"),
    "unauthorized": lambda: error(401, f"Incorrect API key provided: {KEY}.", "invalid_api_key"),
    "forbidden": lambda: error(403, "Country, region, or territory not supported", "unsupported_country_region_territory"),
    "not_found": lambda: error(404, "The model does not exist.", "model_not_found", "model"),
    "rate_limited": lambda: error(429, "Rate limit reached.", "rate_limit_exceeded", None, "requests"),
    "rate_limited_ms": lambda: error(429, "Rate limit reached.", "rate_limit_exceeded", None, "requests", retry_after_ms="700"),
    "rate_limited_second": lambda: error(429, "Slow down.", "rate_limit_exceeded", None, "requests", retry_after="1"),
    "rate_limited_hour": lambda: error(429, "Slow down.", "rate_limit_exceeded", None, "requests", retry_after="3600"),
    "quota": lambda: error(429, "You exceeded your current quota.", "insufficient_quota", None, "insufficient_quota"),
    "status_500": lambda: error(500, "The server had an error.", None, None, "server_error"),
    "status_502": lambda: Reply(b"<html>Bad gateway</html>", 502, "text/html"),
    "status_503": lambda: error(503, "Overloaded.", None, None, "server_error"),
    "status_504": lambda: Reply(b"", 504, "text/plain"),
    "redirected": lambda: Reply(b"", 307, "text/plain", Location="http://127.0.0.1:1/elsewhere"),
    "garbage": lambda: Reply(b"\xff\xfe not JSON at all {", 200, "text/html"),
    "cut_off": lambda: cut_off,
    "silence": lambda: silence,
}  # fmt: skip


class Responses(Service):
    def __init__(self):
        super().__init__()
        self.plan = []
        self.ended = threading.Event()

    def __exit__(self, *details):
        self.ended.set()
        super().__exit__(*details)

    @property
    def base_url(self):
        return f"{self.url}/v1"

    def play(self, *plan):
        """Names of scenarios, or functions that make a Reply; forgets what was asked before."""
        with self.lock:
            self.plan = list(plan)
            self.requests.clear()

    def bodies(self):
        return [json.loads(asked.body) for asked in self.requests]

    def pauses(self):
        """Seconds between one request and the next."""
        times = [asked.at for asked in self.requests]
        return [later - earlier for earlier, later in zip(times, times[1:])]

    def _scenario(self, named):
        if named:
            return SCENARIOS[named]
        if not self.plan:
            return SCENARIOS["normal"]
        step = self.plan.pop(0) if len(self.plan) > 1 else self.plan[0]
        return SCENARIOS[step] if isinstance(step, str) else step

    def answer(self, asked):
        match = re.fullmatch(r"(?:/(\w+))?/v1/responses", asked.path)
        if not match or asked.method != "POST":
            return error(404, "Unknown request URL.")
        if asked.headers.get("authorization") != f"Bearer {KEY}":
            return error(401, "Missing or wrong key.", "invalid_api_key")
        refused = refuse(json.loads(asked.body))
        if refused:
            return refused
        return self._scenario(match[1])()


def refuse(body):
    """What the API says of a request that is wrong; None when it is right."""
    for name in body:
        if name not in PARAMETERS:
            return error(400, f"Unknown parameter: '{name}'.", "unknown_parameter", name)
    if not isinstance(body.get("model"), str) or not isinstance(body.get("input"), str):
        return error(400, "Missing required parameter.", "missing_required_parameter", "model")
    if body["model"].startswith("gpt-5") and "temperature" in body:
        return SCENARIOS["temperature_refused"]()
    effort = body.get("reasoning", {}).get("effort")
    if effort == "minimal":
        return error(400, "web_search cannot be used with reasoning.effort 'minimal'.", None, "tools")
    if effort and body["model"].startswith("gpt-4"):
        return SCENARIOS["effort_refused"]()
    if body.get("max_output_tokens", 16) < 16:
        return error(400, "Expected a value >= 16.", "integer_below_min_value", "max_output_tokens")
    for tool in body.get("tools", []):
        if tool.get("type") != "web_search":
            return error(400, "Invalid value.", "invalid_value", "tools[0].type")
        if tool.get("user_location", {}).get("type", "approximate") != "approximate":
            return error(400, "Invalid value.", "invalid_value", "tools[0].user_location.type")
    return None
