"""A fake of MediaWiki's Action API as Wikipedia serves it (www.mediawiki.org, "API").

Comments name the page of that documentation that describes what follows.
"""

from fakes.service import Reply, Service


class Wikipedia(Service):
    def __init__(self):
        super().__init__()
        self.articles = {}  # title -> HTML as the parser writes it
        self.redirects = {}  # title -> title
        self.disambiguations = set()
        self.lagging = 0  # requests that are told to come back

    def answer(self, asked):
        # "API:Etiquette" and the Wikimedia User-Agent policy: a client that does not say who it is gets 403.
        if "forage" not in asked.headers.get("user-agent", ""):
            return Reply(b"Please set a user-agent", 403, "text/plain")
        if asked.path != "/w/api.php":
            return Reply(b"no such page", 404, "text/html")
        query = asked.query
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

    def error(self, code, info):
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
            return self.error("missingtitle", "The page you specified doesn't exist.")
        parse = {"title": title, "pageid": 1, "redirects": redirects, "text": self.articles[title]}
        if "properties" in query["prop"].split("|"):
            # "Extension:Disambiguator": marks its pages with the page property "disambiguation".
            parse["properties"] = {"wikibase_item": "Q1"}
            if title in self.disambiguations:
                parse["properties"]["disambiguation"] = ""
        return Reply({"parse": parse})
