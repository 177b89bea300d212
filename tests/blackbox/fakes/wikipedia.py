"""A fake of MediaWiki's Action API as Wikipedia and Wikidata serve it (www.mediawiki.org, "API").

test_sources_code.py runs Wikipedia-API against its search. Comments name the page of that documentation that describes
what follows.
"""

import re
import time

from fakes.search_service import SearchService, need, only
from fakes.service import Reply

# "Wikimedia Foundation User-Agent Policy": the names that libraries give themselves are refused.
LIBRARIES = re.compile(r"(?i)(python-requests|python-httpx|python-urllib|curl|wget|go-http-client|okhttp|axios|node|java|libwww)\b")
# The same: name/version, and in brackets where to write to.
IDENTIFIED = re.compile(r"[\w.-]+/[\w.]+ \(.*(@|https?://).*\)")
MOST_A_MINUTE = {False: 10, True: 200}  # "Wikimedia APIs/Rate limits": without and with such a name


class Wikipedia(SearchService):
    name = "wikipedia"

    def __init__(self):
        super().__init__()
        self.times = []  # of the searches
        self.articles = {}  # title -> HTML as the parser writes it
        self.redirects = {}  # title -> title
        self.disambiguations = set()
        self.lagging = 0  # requests that are told to come back

    def answer(self, asked):
        # "API:Etiquette" and the Wikimedia User-Agent policy: a client that does not say who it is gets 403.
        agent = asked.headers.get("user-agent", "")
        if not agent or LIBRARIES.match(agent):
            return Reply(b"Please set a user-agent", 403, "text/plain")
        if asked.path != "/w/api.php":
            return Reply(b"no such page", 404, "text/html")
        query = asked.query
        if query["action"] in ("query", "wbsearchentities"):
            self.times = [at for at in self.times if at > time.monotonic() - 60] + [time.monotonic()]
            if len(self.times) > MOST_A_MINUTE[bool(IDENTIFIED.match(agent))]:
                return Reply(b"You are making too many requests to the API", 429, "text/plain", Retry_After=60)
            return super().answer(asked)
        assert query["action"] == "parse" and query["format"] == "json", query
        if self.lagging > 0:
            # "Manual:Maxlag parameter": HTTP 200, Retry-After, code "maxlag".
            self.lagging -= 1
            return Reply(
                {"error": {"code": "maxlag", "info": "Waiting for a database server: 6 seconds lagged.", "lag": 6}},
                Retry_After=1,
                X_Database_Lag=6,
            )
        return self.parse(query)

    @property
    def settings(self):
        return {"WIKIPEDIA_BASE_URL": self.url}

    def reset(self):
        super().reset()
        self.times = []

    def error(self, status):
        """Those of the servers before MediaWiki are pages."""
        return Reply(f"<html><title>Wikimedia Error</title>{status}</html>".encode(), status, "text/html")

    def refuse(self, why):
        return self.wrong("badvalue", f"Unrecognized value for parameter {why}")

    def search(self, asked):
        """API:Search: srsearch, srlimit to 500 (10 unsaid), sroffset, srprop; formatversion 2 has lists and booleans,
        version 1 the same list."""
        query = asked.query
        known = "action format formatversion list srsearch srlimit sroffset srprop srnamespace srsort srinfo redirects utf8"
        only(query, known.split())
        need(query["action"] == "query" and query["format"] == "json" and query.get("list") == "search", "list")
        need(query.get("srsearch", "").strip(), "srsearch")
        need(1 <= int(query.get("srlimit", 10)) <= 500 and int(query.get("sroffset", 0)) >= 0, "srlimit")
        return self.reply(asked, self.hits_for(query["srsearch"]))

    def reply(self, asked, hits):
        start, size = int(asked.query.get("sroffset", 0)), int(asked.query.get("srlimit", 10))
        found = [
            {
                "ns": 0,
                "title": hit.title,
                "pageid": number + 1,
                "size": 100,
                "wordcount": 10,
                # "snippet": HTML, what was looked for in a span of the class searchmatch.
                "snippet": f'<span class="searchmatch">{hit.snippet}</span> &amp; more',
                "timestamp": f"{hit.date or '2020-01-01'}T00:00:00Z",
            }
            for number, hit in enumerate(hits[start : start + size])
        ]
        body = {"batchcomplete": True, "query": {"searchinfo": {"totalhits": len(hits)}, "search": found}}
        if start + size < len(hits):
            body["continue"] = {"sroffset": start + size, "continue": "-||"}
        return self.packed(asked, body)

    def wrong(self, code, info):
        """API:Errors and warnings: with HTTP 200, `code` and `info`, and where to read more."""
        return Reply({"error": {"code": code, "info": info, "docref": "See https://www.mediawiki.org/w/api.php"}})

    def parse(self, query):
        """API:Parsing wikitext, formatversion 2: `text` is a string, `redirects` a list, `properties` an object."""
        assert query["formatversion"] == "2" and "text" in query["prop"].split("|"), query
        title = query["page"].replace("_", " ")
        redirects = []
        if title in self.redirects and query.get("redirects"):
            redirects.append({"from": title, "to": self.redirects[title]})
            title = self.redirects[title]
        if title not in self.articles:
            return self.wrong("missingtitle", "The page you specified doesn't exist.")
        parse = {"title": title, "pageid": 1, "redirects": redirects, "text": self.articles[title]}
        if "properties" in query["prop"].split("|"):
            # "Extension:Disambiguator": marks its pages with the page property "disambiguation".
            parse["properties"] = {"wikibase_item": "Q1"}
            if title in self.disambiguations:
                parse["properties"]["disambiguation"] = ""
        return Reply({"parse": parse})


class Wikidata(Wikipedia):
    """The same program with another list (API:Wbsearchentities)."""

    name = "wikidata"

    @property
    def settings(self):
        return {"WIKIDATA_BASE_URL": self.url}

    def search(self, asked):
        query = asked.query
        only(query, "action format formatversion search language uselang type limit continue".split())
        need(query.get("search", "").strip() and re.fullmatch(r"[a-z]{2,3}", query.get("language", "")), "language")
        need(query.get("type", "item") == "item" and 1 <= int(query.get("limit", 7)) <= 50, "limit")
        return self.reply(asked, self.hits_for(query["search"])[: int(query.get("limit", 7))])

    def reply(self, asked, hits):
        """Its hits have an address such as https://www.wikidata.org/wiki/Q42."""
        found = [
            {
                "id": hit.link.rpartition("/")[2],
                "title": hit.link.rpartition("/")[2],
                "pageid": number + 1,
                "concepturi": hit.link.replace("https://", "http://").replace("/wiki/", "/entity/"),
                "repository": "wikidata",
                "url": hit.link.removeprefix("https:"),
                "display": {"label": {"value": hit.title, "language": asked.query["language"]}},
                "label": hit.title,
                **({"description": hit.snippet} if hit.snippet else {}),
                "match": {"type": "label", "language": asked.query["language"], "text": hit.title},
            }
            for number, hit in enumerate(hits)
        ]
        return self.packed(asked, {"searchinfo": {"search": asked.query["search"]}, "search": found, "success": 1})
