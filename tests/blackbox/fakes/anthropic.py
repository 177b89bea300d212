"""A fake of the Messages API (docs.claude.com, "API reference > Messages"), for Claude Code.

Claude Code's WebSearch is a request of its own, with the server tool web_search ("Tool use > Web search tool").
"""

import itertools
import json

from fakes.model import Conversation, Model
from fakes.service import Reply

KEY = "anthropic-key-0123456789"

# "Errors": the type of each status.
FAILURES = {
    400: ("invalid_request_error", "The request was not understood."),
    401: ("authentication_error", "invalid x-api-key"),
    403: ("permission_error", "Your API key does not have permission to use the specified resource."),
    404: ("not_found_error", "model: {model}"),
    429: ("rate_limit_error", "This request would exceed your organization's rate limit."),
    500: ("api_error", "Internal server error"),
    529: ("overloaded_error", "Overloaded"),
}


numbers = itertools.count(1)  # an id that comes twice is taken for the same thing


class Dialect:
    """POST /v1/messages"""

    path = "/v1/messages"

    @staticmethod
    def offered(request):
        return [tool["name"] for tool in request.get("tools", [])]

    @staticmethod
    def results(request):
        """Tool use: a block of the user's is a tool_result."""
        for message in request["messages"]:
            for block in message["content"] if isinstance(message["content"], list) else []:
                if block["type"] == "tool_result":
                    yield block.get("content", "")

    @staticmethod
    def message(blocks, stop_reason):
        """Streaming messages: the order of the events; each block comes empty first and then as deltas."""
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": f"msg_{next(numbers)}", "type": "message", "role": "assistant", "model": "fake", "content": []}
        events = [{"type": "message_start", "message": {**message, "stop_reason": None, "usage": usage}}]
        for index, (block, delta) in enumerate(blocks):
            events.append({"type": "content_block_start", "index": index, "content_block": block})
            if delta:
                events.append({"type": "content_block_delta", "index": index, "delta": delta})
            events.append({"type": "content_block_stop", "index": index})
        events.append({"type": "message_delta", "delta": {"stop_reason": stop_reason}, "usage": usage})
        events.append({"type": "message_stop"})
        return [(event["type"], event) for event in events]

    def ask(self, *calls):
        blocks = []
        for name, given in calls:
            block = {"type": "tool_use", "id": f"toolu_{next(numbers)}", "name": name, "input": {}}
            blocks.append((block, {"type": "input_json_delta", "partial_json": json.dumps(given)}))
        return self.message(blocks, "tool_use")

    def say(self, words):
        return self.message([({"type": "text", "text": ""}, {"type": "text_delta", "text": words})], "end_turn")


class Anthropic(Model):
    dialect = Dialect()

    def __init__(self, *script):
        super().__init__(script[0] if len(script) == 1 and callable(script[0]) else script)
        self.key = KEY
        self.searches = []
        self.answers = {}  # what a search finds: by its query, (title, address) pairs

    def answer(self, asked):
        if asked.headers.get("x-api-key") != self.key:
            return self.refuse(401)
        if asked.path == "/v1/messages/count_tokens":
            return Reply({"input_tokens": len(asked.body) // 4})
        if asked.method != "POST" or asked.path != "/v1/messages":
            return self.refuse(404)
        request = json.loads(asked.body)
        if any(tool.get("type", "").startswith("web_search") for tool in request.get("tools", [])):
            return self.search(request)
        conversation = self.conversation(request, asked)
        if not conversation.offered:  # a title for the session, and the like
            return self.events(self.dialect.say("nothing to say"))
        return self.reply_to(conversation)

    def conversation(self, request, asked):
        return Conversation(
            model=request["model"],
            prompt=text_of(request["messages"][0]["content"]),
            offered=self.dialect.offered(request),
            results=[json.dumps(result) for result in self.dialect.results(request)],
            turn=sum(message["role"] == "assistant" for message in request["messages"]),
            asked=asked,
        )

    def refuse(self, status, model=""):
        kind, words = FAILURES[status]
        error = {"type": kind, "message": words.format(model=model)}
        return Reply({"type": "error", "error": error, "request_id": "req_1"}, status)

    def failure(self, turn, conversation):
        return self.refuse(turn.status, conversation.model)

    def search(self, request):
        """Web search tool > Response: server_tool_use, web_search_tool_result, then text."""
        query = text_of(request["messages"][-1]["content"]).rpartition("query: ")[2]
        self.searches.append(query)
        found = self.answers.get(query, [("example.org", "https://example.org/")])
        id = f"srvtoolu_{next(numbers)}"
        use = {"type": "server_tool_use", "id": id, "name": "web_search", "input": {}}
        results = [
            {"type": "web_search_result", "title": title, "url": url, "encrypted_content": "x", "page_age": None}
            for title, url in found
        ]
        result = {"type": "web_search_tool_result", "tool_use_id": id, "content": results}
        text = ({"type": "text", "text": ""}, {"type": "text_delta", "text": f"What the web says about {query}."})
        given = {"type": "input_json_delta", "partial_json": json.dumps({"query": query})}
        return self.events(self.dialect.message([(use, given), (result, None), text], "end_turn"))


def text_of(content):
    """A message is a text, or blocks of which some are."""
    if isinstance(content, str):
        return content
    return "\n".join(block["text"] for block in content if block["type"] == "text")
