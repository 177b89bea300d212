"""A fake of SearXNG (https://docs.searxng.org, "Developer documentation > Search API").

test_search_fakes.py runs npm's mcp-searxng against it. Comments name the page of that documentation, or the file of
SearXNG's source, that describes what follows."""

import urllib.parse

from fakes.search_service import SearchService, need, only
from fakes.service import Reply

# "Search API > Parameters". time_range has had week since 2024 (searx/search/models.py, SearchQuery).
PARAMETERS = {"q", "categories", "engines", "language", "pageno", "time_range", "format", "safesearch", "theme"}
RANGES = {"day", "week", "month", "year"}
# "Administrator documentation > Configured engines": the tabs, which are the usual categories.
CATEGORIES = {"general", "images", "videos", "news", "map", "music", "it", "science", "files", "social media"}
RESULTS_PER_PAGE = 10  # the number is that of the engines; a request cannot choose it


class Searxng(SearchService):
    name = "searxng"

    def __init__(self):
        super().__init__()
        self.formats = ["html", "json"]  # "settings.yml > search: formats"

    @property
    def settings(self):
        return {"SEARXNG_BASE_URL": self.url}

    def error(self, status):
        """searx/webapp.py, index_error(): with format=json, {"error"}; flask.abort() gives a page of HTML."""
        if status == 403:
            return Reply(b"<!doctype html><title>403 Forbidden</title><h1>Forbidden</h1>", 403, "text/html; charset=utf-8")
        if status == 429:
            # "Limiter": botdetection answers with plain words.
            return Reply(b"Too Many Requests", 429, "text/plain")
        return Reply({"error": "search error"}, status)

    def refuse(self, why):
        """searx/exceptions.py, SearxParameterException: 400 'Invalid value "X" for parameter Y'."""
        return Reply({"error": why}, 400)

    def search(self, asked):
        if asked.path == "/config":
            return self.config(asked)
        if asked.path not in ("/", "/search"):
            return self.error(404)
        form = asked.query
        if asked.method == "POST":
            form = dict(urllib.parse.parse_qsl(asked.body.decode()))
        only(form, PARAMETERS)
        # "Search API": "Requesting an unset format will return a 403 Forbidden error".
        if form.get("format", "html") not in self.formats:
            return self.error(403)
        need(form.get("q"), 'Invalid value "" for parameter q')
        need(form.get("pageno", "1").isdigit() and int(form.get("pageno", "1")) >= 1, 'Invalid value for parameter pageno')
        need(form.get("time_range", "day") in RANGES, 'Invalid value for parameter time_range')
        need(form.get("safesearch", "0") in ("0", "1", "2"), 'Invalid value for parameter safesearch')
        need(set(form.get("categories", "general").split(",")) <= CATEGORIES, "Invalid value for parameter categories")
        return self.reply(asked, self.hits_for(form["q"])[:RESULTS_PER_PAGE])

    def config(self, asked):
        """searx/webapp.py, config(): what an instance can do."""
        engines = [{"name": "duckduckgo", "categories": ["general"], "enabled": True, "shortcut": "ddg"}]
        return self.packed(asked, {"categories": sorted(CATEGORIES), "engines": engines, "locales": {"en": "English"}})

    def reply(self, asked, hits):
        """searx/webutils.py, get_json_response(): these members, always."""
        form = asked.query or dict(urllib.parse.parse_qsl(asked.body.decode()))
        category = form.get("categories", "general")
        body = {
            "query": form["q"],
            "number_of_results": 0,  # engines seldom tell
            "results": [result(hit, index, category) for index, hit in enumerate(hits)],
            "answers": [],
            "corrections": [],
            "infoboxes": [],
            "suggestions": ["another thing"],
            "unresponsive_engines": [["bing", "timeout"]],
        }
        return self.packed(asked, body)


def result(hit, index, category):
    """searx/result_types/_base.py, MainResult and LegacyResult: what a result has as JSON. content may be empty;
    publishedDate is an ISO date or null; images have img_src."""
    parts = urllib.parse.urlsplit(hit.link)
    return {
        "url": hit.link,
        "title": hit.title,
        "content": hit.snippet or "",
        "publishedDate": f"{hit.date}T00:00:00" if hit.date else None,
        "thumbnail": "",
        "engine": "duckduckgo",
        "template": "images.html" if category == "images" else "default.html",
        "parsed_url": [parts.scheme, parts.netloc, parts.path, "", parts.query, parts.fragment],
        "img_src": hit.image or "",
        "priority": "",
        "engines": ["duckduckgo"],
        "positions": [index + 1],
        "score": 1.0 / (index + 1),
        "category": category,
    }
