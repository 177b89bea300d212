"""A fake of Firecrawl's search for who has no key (docs.firecrawl.dev, "API Reference > Search"). test_sources_web.py runs the
vendor's client firecrawl-py against it."""

import json

from fakes.search_service import SearchService, need, only
from fakes.service import Reply

# "Search > Body"; origin is what the vendor's clients say of themselves.
PARAMETERS = {
    "query",
    "limit",
    "sources",
    "categories",
    "tbs",
    "location",
    "timeout",
    "ignoreInvalidURLs",
    "includeDomains",
    "excludeDomains",
    "scrapeOptions",
    "origin",
    "integration",
}


class FirecrawlSearch(SearchService):
    name = "firecrawl"

    @property
    def settings(self):
        return {"FIRECRAWL_BASE_URL": self.url}

    def error(self, status):
        words = {
            402: "Insufficient credits to perform this request.",
            429: "Rate limit exceeded. Create a free key at firecrawl.dev.",
        }.get(status, "Something is wrong")
        return Reply({"success": False, "error": words}, status)

    def refuse(self, why):
        return Reply({"success": False, "error": "Bad Request", "details": [{"message": why}]}, 400)

    def search(self, asked):
        # Without a key: /search, /scrape and /parse only.
        if asked.method != "POST" or asked.path != "/v2/search":
            return Reply({"success": False, "error": "Unauthorized: Token missing"}, 401)
        body = json.loads(asked.body)
        only(body, PARAMETERS)
        need(isinstance(body.get("query"), str) and 0 < len(body["query"]) <= 500, "query")
        need(1 <= body.get("limit", 5) <= 100, "limit")
        need(not (body.get("includeDomains") and body.get("excludeDomains")), "domains")
        need(body.get("tbs", "qdr:d").startswith(("qdr:", "cdr:1", "sbd:1")), "tbs")
        need(body.get("location", "Germany").strip(), "location")
        return self.reply(asked, self.hits_for(body["query"])[: body.get("limit", 5)])

    def reply(self, asked, hits):
        """"Search > Response": a kind of result that was not found is left out."""
        web = [
            {"url": hit.link, "title": hit.title, "description": hit.snippet, "position": number}
            for number, hit in enumerate(hits, 1)
        ]
        data = {"web": web} if web else {}
        return self.packed(asked, {"success": True, "data": data, "creditsUsed": 2, "id": "fake"})
