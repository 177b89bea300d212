"""A fake of Parallel's open search (docs.parallel.ai, "Integrations > MCP > Search MCP"): the tool web_search, whose text is
the JSON of its Search API."""

import json

from fakes.search_service import need
from fakes.tool_server import ToolServer


class Parallel(ToolServer):
    name = "parallel"
    tool = "web_search"
    parameters = {"objective": "string", "search_queries": "array", "session_id": "string"}

    @property
    def settings(self):
        return {"PARALLEL_BASE_URL": self.url}

    def hits_of(self, arguments):
        need(not set(arguments) - set(self.parameters), "unknown argument")
        need(isinstance(arguments.get("objective"), str) and len(arguments["objective"]) <= 5000, "objective")
        queries = arguments.get("search_queries")
        # "search_queries": keywords, of 200 characters at most each.
        need(isinstance(queries, list) and queries and all(0 < len(query) <= 200 for query in queries), "search_queries")
        return self.hits_for(arguments["objective"])

    def found_text(self, hits):
        """"Search API > Response": title and publish_date may be null, excerpts may be empty."""
        results = [
            {
                "url": hit.link,
                "title": hit.title,
                "publish_date": hit.date,
                "excerpts": [hit.snippet, "More of the page"] if hit.snippet else [],
            }
            for hit in hits
        ]
        return json.dumps({"search_id": "search_fake", "results": results, "warnings": None})
