"""What the fakes of search tools share that are MCP servers over HTTP (modelcontextprotocol.io, "Transports > Streamable
HTTP"): one endpoint, no sessions, an answer as a document or as a stream of events. test_sources_web.py runs the published
client `mcp` against them."""

import json

from fakes.search_service import Refused, SearchService
from fakes.service import Reply

ACCEPTED = ("application/json", "text/event-stream")


class ToolServer(SearchService):
    """Subclasses say what their tool is called and takes, and what it finds as text (`found_text`)."""

    tool = ""
    path = "/mcp"
    parameters = {}  # name -> type in a schema
    events = False  # whether it answers with a stream

    def answer(self, asked):
        message = self.message_of(asked)
        if isinstance(message, Reply):
            return message
        if message["method"] == "tools/call":
            return super().answer(asked)
        return self.answer_other(message)

    def message_of(self, asked):
        """"Sending Messages to the Server": POST, and Accept with both types; what is refused has its status."""
        if asked.path != self.path:
            return Reply({"error": "Not found"}, 404)
        if asked.method != "POST":
            return Reply({"error": "there is no stream to listen to"}, 405)
        if not all(kind in asked.headers.get("accept", "") for kind in ACCEPTED):
            return Reply({"error": "Not Acceptable: Client must accept both " + " and ".join(ACCEPTED)}, 406)
        if not asked.headers.get("content-type", "").startswith("application/json"):
            return Reply({"error": "Unsupported Media Type"}, 415)
        message = json.loads(asked.body)
        if message.get("jsonrpc") != "2.0" or "method" not in message:
            return Reply({"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "Invalid Request"}}, 400)
        return message

    def answer_other(self, message):
        if "id" not in message:
            return Reply(b"", 202)
        results = {
            "initialize": {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": f"fake-{self.name}", "version": "1"},
            },
            "tools/list": {"tools": [{"name": self.tool, "inputSchema": self.schema()}]},
        }
        if message["method"] not in results:
            return self.say(message, error={"code": -32601, "message": "Method not found"})
        return self.say(message, result=results[message["method"]])

    def schema(self):
        return {"type": "object", "properties": {name: {"type": kind} for name, kind in self.parameters.items()}}

    def say(self, message, **outcome):
        answer = {"jsonrpc": "2.0", "id": message["id"], **outcome}
        if not self.events:
            return Reply(answer)
        # A notification may come before the answer: "the server MAY send ... notifications before sending the response".
        progress = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "searching"}}
        lines = "".join(f"event: message\ndata: {json.dumps(one)}\n\n" for one in (progress, answer))
        return Reply(lines.encode(), kind="text/event-stream")

    def search(self, asked):
        message = json.loads(asked.body)
        call = message["params"]
        if call["name"] != self.tool:
            return self.say(message, error={"code": -32602, "message": f"Unknown tool: {call['name']}"})
        return self.reply(asked, self.hits_of(call["arguments"]))

    def hits_of(self, arguments):
        unknown = set(arguments) - set(self.parameters)
        if unknown:
            raise Refused(f"unknown: {', '.join(sorted(unknown))}")
        return self.hits_for(arguments["query"])[: arguments.get("count", 10)]

    def reply(self, asked, hits):
        return self.say(json.loads(asked.body), result=self.result(hits))

    def result(self, hits):
        return {"content": [{"type": "text", "text": self.found_text(hits)}]}

    def error(self, status):
        words = {429: "Too many requests", 402: "Payment required"}.get(status, "Something is wrong")
        return Reply({"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": words}}, status)

    def refuse(self, why):
        """"Tools > Error Handling": an error of the tool is a result, with HTTP 200."""
        return self.failed_tool(f"MCP error -32602: Invalid arguments for tool {self.tool}: {why}")

    def failed_tool(self, words):
        outcome = {"content": [{"type": "text", "text": words}], "isError": True}
        return self.say(json.loads(self.requests[-1].body), result=outcome)
