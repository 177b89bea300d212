"""Fakes of the searches of two registries of packages: that of Rust (the Cargo book, "Registry Web API"; the data access
policy of crates.io) and npm's (npm/registry, "Public Registry API").

test_sources_code.py runs `npm search` against the second one."""

import re

from fakes.search_service import SearchService, need, only
from fakes.service import Reply


class Crates(SearchService):
    name = "crates"

    @property
    def settings(self):
        return {"CRATES_BASE_URL": self.url, "FORAGE_CONTACT": "mailto:me@example.org"}

    def error(self, status):
        """"Registry Web API": errors have a list of details."""
        return Reply({"errors": [{"detail": "Something is wrong"}]}, status)

    def refuse(self, why):
        return Reply({"errors": [{"detail": f"invalid {why}"}]}, 400)

    def search(self, asked):
        # "Crawlers": a User-Agent with a way to reach you.
        if not re.search(r"@|https?://", asked.headers.get("user-agent", "")):
            return self.error(403)
        if asked.path != "/api/v1/crates":
            return self.error(404)
        only(asked.query, {"q", "page", "per_page", "sort"})
        size, number = int(asked.query.get("per_page", 10)), int(asked.query.get("page", 1))
        need(1 <= size <= 100 and number >= 1, "per_page")
        return self.reply(asked, self.hits_for(asked.query["q"])[(number - 1) * size : number * size])

    def reply(self, asked, hits):
        found = [
            {
                "id": hit.title,
                "name": hit.title,
                "description": hit.snippet,
                "max_version": "1.0.2",
                "newest_version": "1.0.2",
                "updated_at": "2026-01-01T00:00:00Z",
                "downloads": 42,
                "exact_match": False,
            }
            for hit in hits
        ]
        return self.packed(asked, {"crates": found, "meta": {"total": len(hits)}})


class Npm(SearchService):
    name = "npm"

    @property
    def settings(self):
        return {"NPM_BASE_URL": self.url}

    def error(self, status):
        return Reply({"error": "Something is wrong"}, status)

    def refuse(self, why):
        return Reply({"error": why}, 400)

    def search(self, asked):
        if asked.path != "/-/v1/search":
            return self.error(404)
        only(asked.query, {"text", "size", "from", "quality", "popularity", "maintenance"})
        # "GET /-/v1/search": size to 250, text of 2 to 64 characters.
        need(2 <= len(asked.query.get("text", "")) <= 64, "ERR_TEXT_LENGTH")
        start, size = int(asked.query.get("from", 0)), int(asked.query.get("size", 20))
        need(0 <= size <= 250, "size")
        return self.reply(asked, self.hits_for(asked.query["text"])[start : start + size])

    def reply(self, asked, hits):
        found = [
            {
                "package": {
                    "name": hit.title,
                    "scope": "unscoped",
                    "version": "1.2.3",
                    "description": hit.snippet,
                    "keywords": [],
                    "date": "2026-01-01T00:00:00.000Z",
                    "links": {"npm": hit.link, "homepage": "https://example.org"},
                    "publisher": {"username": "someone", "email": "someone@example.org"},
                    "maintainers": [{"username": "someone", "email": "someone@example.org"}],
                },
                "score": {"final": 0.5, "detail": {"quality": 0.5, "popularity": 0.5, "maintenance": 0.5}},
                "searchScore": 1.0,
            }
            for hit in hits
        ]
        return self.packed(asked, {"objects": found, "total": len(hits), "time": "2026-01-01T00:00:00.000Z"})
