"""The models of three vendors, played on loopback, so that their programs run a whole conversation
without an account: the model asks for forage_status once, and when it has the result it says
FINAL_WORDS.

It takes no part in the MCP connection: the client's own code connects to forage, offers the model
the tools that forage listed, calls the one that the model asked for, and gives it the result.
"""

import json

from loopback import LoopbackHandler, LoopbackServer

TOOL = "forage_status"
FINAL_WORDS = "the model has seen the status"


class Anthropic:
    """POST /v1/messages"""

    path = "/v1/messages"

    @staticmethod
    def offered(request):
        return [tool["name"] for tool in request.get("tools", [])]

    @staticmethod
    def results(request):
        for message in request["messages"]:
            for block in message["content"] if isinstance(message["content"], list) else []:
                if block["type"] == "tool_result":
                    yield block["content"]

    @staticmethod
    def _message(block, delta, stop_reason):
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "fake",
            "content": [],
        }
        events = [
            {"type": "message_start", "message": {**message, "stop_reason": None, "usage": usage}},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": stop_reason}, "usage": usage},
            {"type": "message_stop"},
        ]
        return [(event["type"], event) for event in events]

    def ask(self, name):
        block = {"type": "tool_use", "id": "toolu_1", "name": name, "input": {}}
        return self._message(block, {"type": "input_json_delta", "partial_json": "{}"}, "tool_use")

    def say(self, words):
        return self._message(
            {"type": "text", "text": ""}, {"type": "text_delta", "text": words}, "end_turn"
        )


class Gemini:
    """POST /v1beta/models/MODEL:streamGenerateContent"""

    path = "/v1beta/models/"

    @staticmethod
    def offered(request):
        return [
            function["name"]
            for tool in request.get("tools", [])
            for function in tool.get("functionDeclarations", [])
        ]

    @staticmethod
    def results(request):
        for content in request["contents"]:
            for part in content["parts"]:
                if "functionResponse" in part:
                    yield part["functionResponse"]["response"]

    @staticmethod
    def _part(part):
        content = {"role": "model", "parts": [part]}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        candidate = {"index": 0, "content": content, "finishReason": "STOP"}
        return [(None, {"candidates": [candidate], "usageMetadata": usage})]

    def ask(self, name):
        return self._part({"functionCall": {"name": name, "args": {}}})

    def say(self, words):
        return self._part({"text": words})


class OpenAI:
    """POST /v1/responses; the tools of an MCP server are a namespace."""

    path = "/v1/responses"

    @staticmethod
    def offered(request):
        return [
            tool["name"] + "." + inner["name"]
            for tool in request.get("tools", [])
            for inner in tool.get("tools", [])
        ]

    @staticmethod
    def results(request):
        for item in request["input"]:
            if item["type"] == "function_call_output":
                yield item["output"]

    @staticmethod
    def _item(item):
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        response = {"id": "resp_1", "status": "completed", "output": [item], "usage": usage}
        events = [
            {"type": "response.created", "response": {"id": "resp_1"}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": response},
        ]
        return [(event["type"], event) for event in events]

    def ask(self, name):
        namespace, _, tool = name.partition(".")
        item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "arguments": "{}"}
        return self._item({**item, "namespace": namespace, "name": tool})

    def say(self, words):
        content = [{"type": "output_text", "text": words, "annotations": []}]
        return self._item(
            {"type": "message", "id": "msg_1", "role": "assistant", "content": content}
        )


VENDORS = [Anthropic(), Gemini(), OpenAI()]


class Handler(LoopbackHandler):
    def do_GET(self):
        self.send_error(404)

    def do_POST(self):
        body = self.body()
        vendor = next((vendor for vendor in VENDORS if self.path.startswith(vendor.path)), None)
        if not vendor:
            self.send_error(404)
            return
        events = self.server.turn(vendor, json.loads(body))
        text = ""
        for name, event in events:
            text += (f"event: {name}\n" if name else "") + f"data: {json.dumps(event)}\n\n"
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


class FakeModel(LoopbackServer):
    def __init__(self):
        super().__init__(Handler)
        self.offered = set()
        self.results = []

    def turn(self, vendor, request):
        """What the model answers to one request; remembers what it was offered and told."""
        names = vendor.offered(request)
        self.offered.update(names)
        results = [json.dumps(result) for result in vendor.results(request)]
        self.results += results
        wanted = [name for name in names if name.endswith(TOOL)]
        if wanted and not results:
            return vendor.ask(wanted[0])
        return vendor.say(FINAL_WORDS if results else "the model was not offered " + TOOL)
