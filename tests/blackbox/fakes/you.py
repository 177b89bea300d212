"""A fake of You.com's MCP server (you.com/docs, "MCP server"), free profile: the tool you-search, whose answer is that of its
Search API. test_sources_web.py asks the vendor's client youdotcom whether it reads it."""

import json

from fakes.search_service import need
from fakes.service import Reply
from fakes.tool_server import ToolServer


class You(ToolServer):
    name = "you"
    tool = "you-search"
    parameters = {"query": "string", "count": "integer", "freshness": "string"}
    events = True

    @property
    def settings(self):
        return {"YOU_BASE_URL": self.url}

    def message_of(self, asked):
        # "Without a key": profile=free; everything else wants one.
        if asked.query.get("profile") != "free" and "authorization" not in asked.headers:
            return Reply({"error": "API key required"}, 401)
        return super().message_of(asked)

    def hits_of(self, arguments):
        need(1 <= arguments.get("count", 10) <= 20, "count")
        need(arguments.get("freshness", "day") in ("day", "week", "month", "year"), "freshness")
        return super().hits_of(arguments)

    def payload(self, hits):
        """"Search API > Response": a section without results is left out."""
        web = [
            {
                "url": hit.link,
                "title": hit.title,
                "description": hit.snippet or "",
                "snippets": [hit.snippet or "Words of the page"],
                **({"page_age": f"{hit.date}T00:00:00"} if hit.date else {}),
                "favicon_url": "https://you.com/favicon?domain=example.org&size=128",
            }
            for hit in hits
        ]
        metadata = {"search_uuid": "0b5c9e2e-0000-4000-8000-000000000000", "query": "things", "latency": 0.42}
        return {"results": {"web": web} if web else {}, "metadata": metadata}

    def result(self, hits):
        payload = self.payload(hits)
        return {"content": [{"type": "text", "text": json.dumps(payload)}], "structuredContent": payload}
