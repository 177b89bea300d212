"""A fake of Marginalia Search (about.marginalia-search.com, "API"), with the key that everybody shares.

No registry has a client of it; comments name that page."""

from fakes.search_service import SearchService, need, only
from fakes.service import Reply

# "Search": query, count (1 to 100), page, timeout, dc, nsfw, filter.
PARAMETERS = {"query", "count", "page", "timeout", "dc", "nsfw", "filter"}


class Marginalia(SearchService):
    name = "marginalia"

    @property
    def settings(self):
        return {"MARGINALIA_BASE_URL": self.url}

    def error(self, status):
        # "Rate limiting": 503 when the bucket of the key is empty.
        return Reply(b"Slow down" if status == 503 else b"Something is wrong", status, "text/plain")

    def refuse(self, why):
        return Reply(why.encode(), 400, "text/plain")

    def search(self, asked):
        if asked.method != "GET" or asked.path != "/search":
            return Reply(b"Not found", 404, "text/plain")
        # "Authentication": the header API-Key; "public" is everybody's.
        if asked.headers.get("api-key") != "public":
            return Reply(b"Bad API key", 401, "text/plain")
        only(asked.query, PARAMETERS)
        need(asked.query.get("query", "").strip(), "query")
        count = int(asked.query.get("count", "20"))
        need(1 <= count <= 100, "count")
        return self.reply(asked, self.hits_for(asked.query["query"])[:count])

    def reply(self, asked, hits):
        results = [
            {
                "url": hit.link,
                "title": hit.title,
                "description": hit.snippet or "",
                "quality": 4.2,
                "format": "html5",
                "details": [[{"keyword": "things", "count": 3, "flagsUnstableAPI": ["Title"]}]],
            }
            for hit in hits
        ]
        body = {"license": "CC-BY-NC-SA 4.0", "query": asked.query["query"], "page": 1, "pages": 1, "results": results}
        return self.packed(asked, body)
