"""A fake of the search of Hacker News (https://hn.algolia.com/api). Comments name the part of that page that describes what
follows; what a thread looks like is in threads.py."""

import re

from fakes.search_service import SearchService, need, only
from fakes.service import Reply
from fakes.threads import hn_story

PARAMETERS = {"query", "tags", "hitsPerPage", "page", "numericFilters"}
FILTER = re.compile(r"(created_at_i|points|num_comments)(<|<=|=|>|>=)\d+")


class HackerNews(SearchService):
    name = "hackernews"
    type = "news"

    @property
    def settings(self):
        return {"HACKERNEWS_BASE_URL": self.url}

    def error(self, status):
        return Reply({"message": "Something is wrong", "status": status}, status)

    def refuse(self, why):
        return Reply({"message": why, "status": 400}, 400)

    def search(self, asked):
        if asked.method != "GET" or asked.path not in ("/api/v1/search", "/api/v1/search_by_date"):
            return Reply({"status": 404, "error": "Not Found"}, 404)
        form = asked.query
        only(form, PARAMETERS)
        need(form.get("tags", "story") in ("story", "comment", "poll", "front_page"), "tags")
        need(0 <= int(form.get("hitsPerPage", 20)) <= 1000, "hitsPerPage")
        for one in filter(None, form.get("numericFilters", "").split(",")):
            need(FILTER.fullmatch(one), f"numericFilters: {one}")
        return self.reply(asked, self.hits_for(form.get("query", "")))

    def reply(self, asked, hits):
        """"Search > JSON": pages count from 0; a question has no url."""
        count, page = int(asked.query.get("hitsPerPage", 20)), int(asked.query.get("page", 0))
        shown = hits[count * page : count * (page + 1)]
        body = {
            "hits": [hit_of(hit, number) for number, hit in enumerate(shown, 1)],
            "nbHits": len(hits), "page": page, "nbPages": 1, "hitsPerPage": count, "exhaustive": {"nbHits": True},
            "query": asked.query.get("query", ""), "params": "advancedSyntax=true", "processingTimeMS": 3,
        }  # fmt: skip
        return self.packed(asked, body)


def hit_of(hit, number):
    story = hn_story()
    own = "news.ycombinator.com" in hit.link
    return {
        "objectID": hit.link.rpartition("=")[2] if own else str(number), "title": hit.title, "author": story["author"],
        "points": story["points"], "num_comments": 12, "story_id": number, "_tags": ["story", "author_teller"],
        "created_at": f"{hit.date or '2026-02-03'}T01:00:00Z", "created_at_i": story["created_at_i"],
        **({"story_text": hit.snippet} if own else {"url": hit.link}),
        "_highlightResult": {"title": {"value": f"<em>{hit.title}</em>", "matchLevel": "full", "matchedWords": ["x"]}},
    }  # fmt: skip
