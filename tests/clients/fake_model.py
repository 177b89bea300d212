"""The models of three vendors, played on loopback, so that their programs run a whole conversation
without an account: the model asks for a tool once (forage_status, unless it was made for another),
for the result of a job as long as it gets one, and when it has the result it says FINAL_WORDS.

It takes no part in the MCP connection: the client's own code connects to forage, offers the model
the tools that forage listed, calls the one that the model asked for, and gives it the result.
"""

import itertools
import json
import os
import re
import sys

from loopback import LoopbackHandler, LoopbackServer

# What two of them say on the wire is in the fakes that the other tests use as well.
sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "blackbox"))
from fakes import anthropic, gemini
from fakes.model import stream

TOOL = "forage_status"
FINAL_WORDS = "the model has seen the status"
# A job that goes on, as JSON or as text, in whatever a client makes of it.
JOB = re.compile(r'\bjob\W+([0-9a-f]{32})\b.*\bstatus\W+(?:waiting|running|asking)\b', re.S)


class OpenAI:
    """POST /v1/responses; the tools of an MCP server are a namespace."""

    path = "/v1/responses"
    numbers = itertools.count(1)

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

    def ask(self, call):
        namespace, _, tool = call[0].partition(".")
        number = next(self.numbers)
        item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}"}
        return self._item({**item, "arguments": json.dumps(call[1]), "namespace": namespace, "name": tool})

    def say(self, words):
        content = [{"type": "output_text", "text": words, "annotations": []}]
        return self._item(
            {"type": "message", "id": "msg_1", "role": "assistant", "content": content}
        )


VENDORS = [anthropic.Dialect(), gemini.Dialect(), OpenAI()]


class Handler(LoopbackHandler):
    def do_GET(self):
        self.send_error(404)

    def do_POST(self):
        body = self.body()
        vendor = next((vendor for vendor in VENDORS if self.path.startswith(vendor.path)), None)
        if not vendor:
            self.send_error(404)
            return
        text = stream(self.server.turn(vendor, json.loads(body)))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


class FakeModel(LoopbackServer):
    def __init__(self, tool=TOOL, arguments=None):
        super().__init__(Handler)
        self.tool = tool
        self.arguments = arguments or {}
        self.offered = set()
        self.results = []
        self.requests = []

    def turn(self, vendor, request):
        """What the model answers to one request; remembers what it was offered and told."""
        names = vendor.offered(request)
        self.offered.update(names)
        self.requests.append(json.dumps(request, ensure_ascii=False))
        results = [json.dumps(result) for result in vendor.results(request)]
        self.results += results
        job = JOB.search(results[-1]) if results else None
        tool, arguments = ("research_result", {"job": job[1]}) if job else (self.tool, self.arguments)
        wanted = [name for name in names if name.endswith(tool)]
        if wanted and (job or not results):
            return vendor.ask((wanted[0], arguments))
        return vendor.say(FINAL_WORDS if results else "the model was not offered " + tool)
