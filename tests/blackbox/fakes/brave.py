"""A fake of the Brave Search API (https://api-dashboard.search.brave.com/documentation).

test_search_fakes.py runs Brave's own @brave/brave-search-mcp-server against it. Comments name the page of that
documentation; what values a parameter may have is as that package has it."""

import re

from fakes.search_service import SearchService, need, only
from fakes.service import Reply

# "API Reference > Web search", "News search", "Image search": the paths, and the most that count may be.
MOST = {"/res/v1/web/search": 20, "/res/v1/news/search": 50, "/res/v1/images/search": 200}
PARAMETERS = {
    "q",
    "country",
    "search_lang",
    "ui_lang",
    "count",
    "offset",
    "safesearch",
    "freshness",
    "text_decorations",
    "spellcheck",
    "result_filter",
    "extra_snippets",
}
# "Image search": it has no offset, no freshness.
IMAGE_PARAMETERS = {"q", "country", "search_lang", "count", "safesearch", "spellcheck"}
COUNTRIES = set(
    "ALL AR AU AT BE BR CA CL DK FI FR DE HK IN ID IT JP KR MY MX NL NZ NO CN PL PT PH RU SA ZA ES SE CH TW TR GB US".split()
)
LANGUAGES = set(
    "ar eu bn bg ca zh-hans zh-hant hr cs da nl en en-gb et fi fr gl de gu he hi hu is it jp kn ko lv lt ms ml mr nb pl"
    " pt-br pt-pt pa ro ru sr sk sl es sv ta te th tr uk vi".split()
)
FRESHNESS = re.compile(r"p[dwmy]|\d{4}-\d\d-\d\dto\d{4}-\d\d-\d\d")


class Brave(SearchService):
    name = "brave"
    key = "brave-key-of-the-fake"

    @property
    def settings(self):
        return {"BRAVE_API_KEY": self.key, "BRAVE_BASE_URL": f"{self.url}/res/v1"}

    def limits(self):
        """"Guides > Rate limiting": a limit a second and a limit a month, in this order."""
        return {
            "X-RateLimit-Limit": "1, 2000",
            "X-RateLimit-Policy": "1;w=1, 2000;w=2592000",
            "X-RateLimit-Remaining": "0, 1999",
            "X-RateLimit-Reset": "1, 1419704",
        }

    def wrong(self, status, code, detail):
        """"API Reference > Error": type, error {id, status, code, detail, meta}, time."""
        error = {"id": "fake", "status": status, "code": code, "detail": detail, "meta": {}}
        reply = Reply({"type": "ErrorResponse", "error": error, "time": 1700000000}, status)
        reply.headers.update(self.limits())
        return reply

    def error(self, status):
        """"Guides > Authentication": a wrong token is 422 SUBSCRIPTION_TOKEN_INVALID."""
        codes = {
            400: "BAD_REQUEST",
            401: "UNAUTHORIZED",
            403: "RESOURCE_NOT_ALLOWED",
            422: "SUBSCRIPTION_TOKEN_INVALID",
            429: "RATE_LIMITED",
        }
        return self.wrong(status, codes.get(status, "INTERNAL"), "Something is wrong")

    def refuse(self, why):
        return self.wrong(422, "VALIDATION", f"Unable to validate request parameter(s): {why}")

    def search(self, asked):
        if asked.method != "GET" or asked.path not in MOST:
            return Reply(b"404 page not found", 404, "text/plain")
        if asked.headers.get("x-subscription-token") != self.key:
            return self.error(422)
        form = asked.query
        only(form, IMAGE_PARAMETERS if "images" in asked.path else PARAMETERS)
        # "q": not empty, at most 400 characters and 50 words.
        need(form.get("q", "").strip() and len(form["q"]) <= 400 and len(form["q"].split()) <= 50, "q")
        need(1 <= int(form.get("count", 10)) <= MOST[asked.path], "count")
        need(0 <= int(form.get("offset", 0)) <= 9, "offset")
        need(form.get("country", "US").upper() in COUNTRIES, "country")
        need(form.get("search_lang", "en") in LANGUAGES, "search_lang")
        need(FRESHNESS.fullmatch(form.get("freshness", "pd")), "freshness")
        return self.reply(asked, self.hits_for(form["q"])[: int(form.get("count", 10))])

    def reply(self, asked, hits):
        shape = SHAPES[asked.path]
        body = shape(asked, hits)
        body["query"] = {"original": asked.query["q"], "more_results_available": False}
        reply = self.packed(asked, body)
        reply.headers.update(self.limits())
        return reply


def web(_asked, hits):
    """"Web search > Response": type search; web is left out when nothing is found; news and others may come along."""
    if not hits:
        return {"type": "search", "mixed": {"type": "mixed", "main": [], "top": [], "side": []}}
    return {
        "type": "search",
        "mixed": {"type": "mixed", "main": [{"type": "web", "index": 0, "all": True}], "top": [], "side": []},
        "web": {"type": "search", "family_friendly": True, "results": [web_result(hit) for hit in hits]},
    }


def web_result(hit):
    """"Response > web.results": description has <strong> around what was looked for unless text_decorations is off;
    page_age is an ISO time, age is for people."""
    return {
        "title": hit.title,
        "url": hit.link,
        "is_source_local": False,
        "is_source_both": False,
        **({"description": hit.snippet} if hit.snippet is not None else {}),
        **({"page_age": f"{hit.date}T00:00:00", "age": "October 3, 2020"} if hit.date else {}),
        "language": "en",
        "family_friendly": True,
        "type": "search_result",
        "subtype": "generic",
        "meta_url": {"scheme": "https", "netloc": "site.example", "hostname": "site.example", "favicon": "", "path": ""},
    }


def news(_asked, hits):
    """"News search > Response": type news and a flat list."""
    return {"type": "news", "results": [{**web_result(hit), "type": "news_result", "breaking": False} for hit in hits]}


def images(_asked, hits):
    """"Image search > Response": url is the page, properties.url the image itself."""
    results = [
        {
            "type": "image_result",
            "title": hit.title,
            "url": hit.link,
            "source": "site.example",
            "page_fetched": "2026-01-02T03:04:05Z",
            "thumbnail": {"src": "https://imgs.search.brave.com/fake", "width": 500, "height": 300},
            "properties": {"url": hit.image or hit.link, "placeholder": "", "width": 640, "height": 480},
            "meta_url": {"scheme": "https", "netloc": "site.example", "hostname": "site.example"},
            "confidence": "high",
        }
        for hit in hits
    ]
    return {"type": "images", "results": results, "extra": {"might_be_offensive": False}}


SHAPES = {"/res/v1/web/search": web, "/res/v1/news/search": news, "/res/v1/images/search": images}
