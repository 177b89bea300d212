"""A fake of Wiby's search (wiby.me/about, "JSON"): a list of a dozen at most, with HTML in its texts.

No registry has a client of it."""

import html
import json

from fakes.search_service import SearchService, need, only
from fakes.service import Reply

PAGE = 12


class Wiby(SearchService):
    name = "wiby"

    @property
    def settings(self):
        return {"WIBY_BASE_URL": self.url}

    def error(self, status):
        return Reply(b"<html><body>Something is wrong</body></html>", status, "text/html")

    def refuse(self, _why):
        return self.error(400)

    def search(self, asked):
        if asked.method != "GET" or asked.path != "/json/":
            return self.error(404)
        only(asked.query, {"q", "p", "nsfw"})
        need(asked.query.get("q", "").strip(), "q")
        return self.reply(asked, self.hits_for(asked.query["q"])[:PAGE])

    def reply(self, asked, hits):
        results = [
            {
                "URL": hit.link,
                "Title": html.escape(hit.title, quote=False).replace('"', "&#34;"),
                "Snippet": html.escape(hit.snippet or "", quote=False).replace('"', "&#34;"),
                "Description": "What the page says of itself",
            }
            for hit in hits
        ]
        return Reply(json.dumps(results).encode())
