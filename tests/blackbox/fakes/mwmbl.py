"""A fake of Mwmbl (developer.mwmbl.org, "Search API", version 2), for who has no key. No registry has a client of it."""

from fakes.search_service import SearchService, need, only
from fakes.service import Reply


class Mwmbl(SearchService):
    name = "mwmbl"

    @property
    def settings(self):
        return {"MWMBL_BASE_URL": self.url}

    def error(self, status):
        return Reply({"detail": "Rate limit exceeded" if status == 429 else "Something is wrong"}, status)

    def refuse(self, why):
        return Reply({"detail": [{"type": "value_error", "loc": ["query", "q"], "msg": why}]}, 422)

    def search(self, asked):
        if asked.method != "GET" or asked.path != "/api/v2/search/":
            return Reply({"detail": "Not Found"}, 404)
        only(asked.query, {"q", "api_key"})
        need(asked.query.get("q", "").strip(), "missing")
        return self.reply(asked, self.hits_for(asked.query["q"]))

    def reply(self, asked, hits):
        results = [
            {
                "url": hit.link,
                "title": hit.title,
                "title_highlights": [],
                "content": hit.snippet or "",
                "content_highlights": [],
                "engine": "mwmbl",
                "score": 1.0 / number,
            }
            for number, hit in enumerate(hits, 1)
        ]
        return self.packed(asked, {"query": asked.query.get("q"), "number_of_results": len(results), "results": results})
