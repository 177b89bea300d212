"""A fake of Exa (https://exa.ai/docs/reference, "Search" and "Error codes").

test_search_fakes.py runs exa-js against it. Comments name the page of that documentation; what values a parameter may
have is as exa-js has it."""

import datetime
import json

from fakes.search_service import SearchService, need, only
from fakes.service import Reply

# "Search > Body".
PARAMETERS = {
    "query",
    "type",
    "category",
    "numResults",
    "includeDomains",
    "excludeDomains",
    "startPublishedDate",
    "endPublishedDate",
    "userLocation",
    "contents",
    "includeText",
    "excludeText",
    "moderation",
}
TYPES = {"auto", "neural", "keyword", "fast", "deep", "instant"}
# exa-js, BaseSearchOptions > category; "research paper" is the older word for publication, still accepted.
CATEGORIES = {"company", "publication", "research paper", "news", "personal site", "financial report", "people", "pdf"}


class Exa(SearchService):
    name = "exa"
    key = "exa-key-of-the-fake"

    @property
    def settings(self):
        return {"EXA_API_KEY": self.key, "EXA_BASE_URL": self.url}

    def wrong(self, status, tag, words):
        """"Error codes > Error response": requestId, error, tag."""
        return Reply({"requestId": "fake", "error": words, "tag": tag}, status)

    def error(self, status):
        tags = {
            400: "INVALID_REQUEST_BODY",
            401: "INVALID_API_KEY",
            402: "NO_MORE_CREDITS",
            403: "ACCESS_DENIED",
            429: "RATE_LIMIT_EXCEEDED",
        }
        return self.wrong(status, tags.get(status, "DEFAULT_ERROR"), "Something is wrong")

    def refuse(self, why):
        return self.wrong(400, "INVALID_REQUEST_BODY", f"Invalid request body: {why}")

    def search(self, asked):
        if asked.method != "POST" or asked.path != "/search":
            return Reply({"error": "Not found"}, 404)
        given = asked.headers.get("x-api-key")
        if given != self.key and asked.headers.get("authorization") != f"Bearer {self.key}":
            return self.error(401)
        body = json.loads(asked.body)
        only(body, PARAMETERS)
        need(isinstance(body.get("query"), str) and body["query"].strip(), "query")
        need(1 <= body.get("numResults", 10) <= 100, "numResults")
        need(body.get("type", "auto") in TYPES, "type")
        need(body.get("category", "news") in CATEGORIES, "category")
        for name in ("startPublishedDate", "endPublishedDate"):
            # "ISO 8601 format".
            datetime.datetime.fromisoformat(body.get(name, "2020-01-01").replace("Z", "+00:00"))
        # "userLocation": the two-letter ISO country code.
        need(len(body.get("userLocation", "DE")) == 2, "userLocation")
        return self.reply(asked, self.hits_for(body["query"])[: body.get("numResults", 10)])

    def reply(self, asked, hits):
        """"Search > Response": requestId, resolvedSearchType, results, costDollars."""
        wanted = json.loads(asked.body).get("contents") or {}
        body = {
            "requestId": "fake",
            "resolvedSearchType": "neural",
            "results": [result(hit, wanted) for hit in hits],
            "searchTime": 420.0,
            "costDollars": {"total": 0.005, "search": {"neural": 0.005}},
        }
        return self.packed(asked, body)


def result(hit, wanted):
    """"Response > results": title may be null; publishedDate and author only where they are known; text, highlights
    and summary only where contents asked for them."""
    found = {
        "id": hit.link,
        "title": hit.title,
        "url": hit.link,
        **({"publishedDate": f"{hit.date}T00:00:00.000Z"} if hit.date else {}),
        "author": "An author",
        **({"image": hit.image} if hit.image else {}),
    }
    if wanted.get("text"):
        found["text"] = hit.snippet or ""
    if wanted.get("highlights"):
        found["highlights"] = [hit.snippet] if hit.snippet else []
        found["highlightScores"] = [0.5] if hit.snippet else []
    if wanted.get("summary"):
        found["summary"] = hit.snippet or ""
    return found
