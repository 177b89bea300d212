"""A fake of Exa's MCP server (docs.exa.ai, "Exa MCP") for who has no key: the tool web_search_exa.

Its text is written as the vendor's exa-mcp-server writes it, which test_sources_web.py runs and compares with."""

from fakes.tool_server import ToolServer

# exa-mcp-server, "No search results found" and the words when the free quota is spent.
NOTHING = "No search results found. Please try a different query."
SPENT = "You've hit Exa's free MCP rate limit. To continue using without limits, create your own Exa API key."


class ExaOpen(ToolServer):
    name = "exa-open"
    tool = "web_search_exa"
    parameters = {"query": "string", "numResults": "number"}
    events = True
    spent = False

    @property
    def settings(self):
        return {"EXA_OPEN_BASE_URL": self.url}

    def reset(self):
        super().reset()
        self.spent = False

    def search(self, asked):
        return self.failed_tool(SPENT) if self.spent else super().search(asked)

    def hits_of(self, arguments):
        limit = arguments.get("numResults", 10)
        return super().hits_of(arguments)[:limit]

    def found_text(self, hits):
        return "\n\n---\n\n".join(block(hit) for hit in hits) or NOTHING


def block(hit):
    lines = [
        f"Title: {hit.title or 'N/A'}",
        f"URL: {hit.link}",
        f"Published: {hit.date + 'T00:00:00.000Z' if hit.date else 'N/A'}",
        "Author: An author",
    ]
    if hit.snippet:
        lines.append(f"Highlights:\n{hit.snippet}")
    return "\n".join(lines)
