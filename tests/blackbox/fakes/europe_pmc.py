"""A fake of the search of Europe PMC's RESTful web service (https://europepmc.org/RestfulWebService).

Comments name the part of that page that describes what follows."""

from fakes.search_service import SearchService, need, only
from fakes.service import Reply

PARAMETERS = {"query", "format", "resultType", "pageSize", "cursorMark", "synonym", "sort", "email"}


class EuropePmc(SearchService):
    name = "europe-pmc"
    type = "scholar"

    @property
    def settings(self):
        return {"EUROPE_PMC_BASE_URL": f"{self.url}/europepmc/webservices/rest"}

    def error(self, status):
        return Reply(b"<html><body>Service unavailable</body></html>", status, "text/html")

    def refuse(self, why):
        """"Error messages": with HTTP 200, errCode and errMsg."""
        return Reply({"version": "6.9", "errCode": 400, "errMsg": why})

    def search(self, asked):
        if asked.method != "GET" or asked.path != "/europepmc/webservices/rest/search":
            return Reply(b"not here", 404, "text/plain")
        form = asked.query
        only(form, PARAMETERS)
        need(form.get("query"), "query")
        need(form.get("format") == "json", "XML is what it gives without format=json")
        need(form.get("resultType", "lite") in ("lite", "core", "idlist"), "resultType")
        need(1 <= int(form.get("pageSize", 25)) <= 1000, "pageSize")
        return self.reply(asked, self.hits_for(form["query"]))

    def reply(self, asked, hits):
        shown = hits[: int(asked.query.get("pageSize", 25))]
        core = asked.query.get("resultType") == "core"
        body = {
            "version": "6.9",
            "hitCount": len(hits),
            "nextCursorMark": "AoIIQAAAACg0",
            "request": {"queryString": asked.query["query"], "resultType": asked.query.get("resultType", "lite")},
            "resultList": {"result": [result(hit, core) for hit in shown]},
        }
        return self.packed(asked, body)


def result(hit, core):
    """"Fields returned": abstracts come with resultType=core alone; pmcid where there is a full text."""
    pmcid = hit.link.rstrip("/").rpartition("/")[2] if "PMC" in hit.link else None
    return {
        "id": "1",
        "source": "MED",
        "pmid": "1",
        **({"pmcid": pmcid} if pmcid else {"doi": hit.link.removeprefix("https://doi.org/")}),
        "title": hit.title,
        "authorString": "First A, Second B.",
        **({"abstractText": f"<h4>Aim</h4>{hit.snippet}"} if core and hit.snippet else {}),
        "isOpenAccess": "Y" if pmcid else "N",
        **({"firstPublicationDate": hit.date} if hit.date else {}),
    }
