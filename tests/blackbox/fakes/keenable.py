"""A fake of Keenable's search for who has no key (docs.keenable.ai, "Search"). test_sources_web.py runs the vendor's client
`keenable` against it."""

import datetime
import json

from fakes.search_service import SearchService, need, only
from fakes.service import Reply

PARAMETERS = {
    "query",
    "mode",
    "max_results",
    "site",
    "published_after",
    "published_before",
    "acquired_after",
    "acquired_before",
    "snippet_max_length",
}


class Keenable(SearchService):
    name = "keenable"

    @property
    def settings(self):
        return {"KEENABLE_BASE_URL": self.url}

    def error(self, status):
        words = {429: "Hourly limit reached. Create a free key to lift it."}.get(status, "Something is wrong")
        return Reply({"error": words}, status)

    def refuse(self, why):
        return Reply({"error": f"Invalid request: {why}"}, 400)

    def search(self, asked):
        if asked.method != "POST" or asked.path != "/v1/search/public":
            return Reply({"error": "Not found"}, 404)
        # The client's words: "The public tier rejects requests without this header."
        if not asked.headers.get("x-keenable-title"):
            return Reply({"error": "X-Keenable-Title is required"}, 403)
        body = json.loads(asked.body)
        only(body, PARAMETERS)
        need(isinstance(body.get("query"), str) and body["query"].strip(), "query")
        need(body.get("mode", "pro") == "pro", "mode")
        need(1 <= body.get("max_results", 10) <= 50, "max_results")
        need("/" not in body.get("site", ""), "site")
        for name in ("published_after", "published_before"):
            datetime.date.fromisoformat(body.get(name, "2020-01-01"))
        return self.reply(asked, self.hits_for(body["query"])[: body.get("max_results", 10)])

    def reply(self, asked, hits):
        """A result may lack a description, a date, and text."""
        body = json.loads(asked.body)
        limit = body.get("snippet_max_length", 4000)
        results = [
            {
                "title": hit.title,
                "url": hit.link,
                "snippet": (hit.snippet or "")[:limit],
                "description": "What the page says of itself",
                "published_at": f"{hit.date}T00:00:00Z" if hit.date else None,
                "acquired_at": "2026-01-01T00:00:00Z",
            }
            for hit in hits
        ]
        return self.packed(asked, {"query": body["query"], "mode": "pro", "results": results})
