"""A fake of MDN's search, as the pages of developer.mozilla.org ask it themselves; there is no documentation of it.
Members are those that SearXNG's engine and MDN's own front end (mdn/yari, "search") read."""

from fakes.search_service import SearchService, need, only
from fakes.service import Reply

LOCALES = {"en-US", "de", "es", "fr", "ja", "ko", "pt-BR", "ru", "zh-CN", "zh-TW"}
PAGE = 10  # results of each page


class Mdn(SearchService):
    name = "mdn"

    @property
    def settings(self):
        return {"MDN_BASE_URL": self.url}

    def error(self, status):
        return Reply(b"<html><title>MDN</title></html>", status, "text/html")

    def refuse(self, why):
        return Reply({"errors": {why: [{"message": "This field is required.", "code": "required"}]}}, 400)

    def search(self, asked):
        if asked.method != "GET" or asked.path != "/api/v1/search":
            return self.error(404)
        only(asked.query, {"q", "locale", "page"})
        need(asked.query.get("q", "").strip(), "q")
        need(asked.query.get("locale", "en-US") in LOCALES, "locale")
        need(1 <= int(asked.query.get("page", 1)) <= 10, "page")
        return self.reply(asked, self.hits_for(asked.query["q"]))

    def reply(self, asked, hits):
        number = int(asked.query.get("page", 1))
        documents = [
            {
                "mdn_url": hit.link.removeprefix("https://developer.mozilla.org"),
                "score": 9.5,
                "title": hit.title,
                "locale": "en-us",
                "slug": "web/api",
                "popularity": 0.1,
                "summary": hit.snippet,
                "highlight": {"body": [f"<mark>{hit.snippet}</mark>"], "title": []},
            }
            for hit in hits[(number - 1) * PAGE : number * PAGE]
        ]
        metadata = {"took_ms": 3, "size": PAGE, "page": number, "total": {"value": len(hits), "relation": "eq"}}
        return self.packed(asked, {"documents": documents, "metadata": metadata, "suggestions": []})
