"""A fake of grep.app's MCP server: one tool, searchGitHub, over the streamable HTTP transport of MCP.

test_sources_code.py runs the client of MCP's own Python SDK against it. What the tool takes and how its texts look is as
the tools that use it have it (1broseidon/ketch, sudosubin/grep-app-cli)."""

import json

from fakes.search_service import SearchService, need, only
from fakes.service import Reply

ARGUMENTS = {
    "query": {"type": "string"},
    "matchCase": {"type": "boolean"},
    "matchWholeWords": {"type": "boolean"},
    "useRegexp": {"type": "boolean"},
    "repo": {"type": "string"},
    "path": {"type": "string"},
    "language": {"type": "array", "items": {"type": "string"}},
}
TOOL = {
    "name": "searchGitHub",
    "description": "Find real-world code examples from public GitHub repositories",
    "inputSchema": {"type": "object", "properties": ARGUMENTS, "required": ["query"]},
}
MOST = 10


class GrepApp(SearchService):
    name = "grep-app"

    @property
    def settings(self):
        return {"GREP_APP_BASE_URL": self.url}

    def error(self, status):
        return Reply({"jsonrpc": "2.0", "error": {"code": -32000, "message": "Something is wrong"}, "id": None}, status)

    def refuse(self, why):
        """MCP, "Tools > Error handling": a tool that fails says so in its result."""
        return self.say({"content": [{"type": "text", "text": f"MCP error -32602: {why}"}], "isError": True})

    def say(self, result, number=1):
        """MCP, "Streamable HTTP": the answer as the one event of a stream."""
        message = json.dumps({"jsonrpc": "2.0", "id": number, "result": result}, ensure_ascii=False)
        return Reply(f"event: message\ndata: {message}\n\n".encode(), kind="text/event-stream")

    def answer(self, asked):
        """Only calls of the tool are searches: mishaps are for them."""
        # MCP, "Streamable HTTP > Sending messages": a client takes both kinds of answer.
        accepted = asked.headers.get("accept", "")
        if asked.method == "GET":
            return self.error(405)
        if asked.path != "/":
            return self.error(404)
        if "application/json" not in accepted or "text/event-stream" not in accepted:
            return self.error(406)
        if not asked.headers.get("content-type", "").startswith("application/json"):
            return self.error(415)
        message = json.loads(asked.body)
        asked.call = message.get("params", {})
        if message["method"] == "initialize":
            about = {"protocolVersion": asked.call["protocolVersion"], "capabilities": {"tools": {}}}
            return self.say({**about, "serverInfo": {"name": "mcp-typescript server on vercel", "version": "0.1.0"}}, message["id"])
        if message["method"] == "tools/list":
            return self.say({"tools": [TOOL]}, message["id"])
        if "id" not in message:
            return Reply(b"", 202)
        if message["method"] != "tools/call":
            return Reply({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "Method not found"}})
        asked.number = message["id"]
        return super().answer(asked)

    def search(self, asked):
        need(asked.call.get("name") == TOOL["name"], "Tool not found")
        arguments = asked.call["arguments"]
        only(arguments, ARGUMENTS)
        need(isinstance(arguments.get("query"), str) and arguments["query"], "query")
        need(isinstance(arguments.get("language", []), list), "language")
        return self.reply(asked, self.hits_for(arguments["query"])[:MOST])

    def reply(self, asked, hits):
        """A text for each file. The title of a hit is "owner/repo: path", its snippet the line that was found."""
        texts = [block(hit) for hit in hits] or ["No results found for your query."]
        return self.say({"content": [{"type": "text", "text": text} for text in texts]}, asked.number)


def block(hit):
    repository, _, path = hit.title.partition(": ")
    head = f"Repository: {repository}\nPath: {path}\nURL: {hit.link}\nLicense: MIT\n"
    return f"{head}\nSnippets:\n--- Snippet 1 (Line 12) ---\n{hit.snippet}\n\n--- Snippet 2 (Line 40) ---\nreturn 0;\n"
