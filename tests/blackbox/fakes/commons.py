"""A fake of MediaWiki's Action API as Wikimedia Commons serves it (www.mediawiki.org). Comments name the page of that
documentation that describes what follows."""

from fakes.search_service import SearchService, need, only
from fakes.service import Reply

PARAMETERS = {"action", "format", "formatversion", "generator", "gsrsearch", "gsrnamespace", "gsrlimit", "gsroffset", "prop",
              "iiprop", "iiextmetadatafilter", "iiextmetadatalanguage"}  # fmt: skip


class Commons(SearchService):
    name = "commons"
    type = "images"

    @property
    def settings(self):
        return {"COMMONS_BASE_URL": self.url}

    def error(self, status):
        return Reply(b"<html><body>Wikimedia Error</body></html>", status, "text/html")

    def refuse(self, why):
        """"API:Errors and warnings": with HTTP 200, `code` and `info`."""
        return Reply({"error": {"code": "badvalue", "info": why, "docref": "See https://www.mediawiki.org/w/api.php"}})

    def search(self, asked):
        # The Wikimedia User-Agent policy: a client that does not say who it is gets 403.
        if "forage" not in asked.headers.get("user-agent", ""):
            return Reply(b"Please set a user-agent", 403, "text/plain")
        if asked.path != "/w/api.php":
            return Reply(b"no such page", 404, "text/html")
        form = asked.query
        only(form, PARAMETERS)
        need(form.get("action") == "query" and form.get("format") == "json" and form.get("formatversion") == "2", "format")
        # "API:Search": 6 is the namespace of files; at most 500 at a time.
        need(form.get("generator") == "search" and form.get("gsrnamespace") == "6", "generator")
        need(1 <= int(form.get("gsrlimit", 10)) <= 500, "gsrlimit")
        need("url" in form.get("iiprop", "").split("|"), "iiprop")
        return self.reply(asked, self.hits_for(form["gsrsearch"]))

    def reply(self, asked, hits):
        """"API:Query > Generators": pages come in no order, each with its index; nothing found is no `query` at all."""
        start = int(asked.query.get("gsroffset", 0))
        shown = hits[start : start + int(asked.query.get("gsrlimit", 10))]
        pages = [page(hit, start + place) for place, hit in enumerate(shown, 1)]
        body = {"batchcomplete": True, **({"query": {"pages": pages[::-1]}} if pages else {})}
        return self.packed(asked, body)


def page(hit, place):
    """"API:Imageinfo": url is the picture, descriptionurl its page; extmetadata is HTML."""
    facts = {
        "ImageDescription": {"value": f"<p>{hit.snippet}</p>", "source": "commons-desc-page"},
        "Artist": {"value": '<a href="//commons.wikimedia.org/wiki/User:Ann">Ann</a>', "source": "commons-desc-page"},
        "LicenseShortName": {"value": "CC BY-SA 4.0", "source": "commons-desc-page", "hidden": ""},
    }
    return {
        "pageid": place, "ns": 6, "title": f"File:{hit.title}.jpg", "index": place, "imagerepository": "local",
        "imageinfo": [{"url": hit.image, "descriptionurl": hit.link, "descriptionshorturl": "x", "extmetadata": facts}],
    }  # fmt: skip
