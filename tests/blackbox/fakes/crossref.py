"""A fake of the Crossref REST API (https://api.crossref.org/swagger-ui, "REST API filters").

test_sources_papers.py runs habanero against it. Comments name the page of that documentation that describes what follows."""

import re

from fakes.search_service import SearchService, need, only
from fakes.service import Reply

PARAMETERS = {"query", "rows", "offset", "filter", "select", "mailto", "sort", "order", "cursor", "facet", "sample"}
# "Swagger > GET /works > select": what may be chosen; a name that is not there is refused.
ELEMENTS = set(
    "abstract URL resource member posted score created degree update-policy short-title license ISSN container-title issued"
    " update-to issue prefix approved indexed article-number clinical-trial-number accepted author group-title DOI"
    " is-referenced-by-count updated-by event chair standards-body original-title funder translator published archive"
    " published-print alternative-id subject subtitle published-online publisher-location content-domain reference title"
    " link type publisher volume references-count ISBN issn-type assertion deposited page content-created"
    " short-container-title relation editor".split()
)
DATE = r"\d{4}(-\d\d(-\d\d)?)?"
FILTERS = {"from-pub-date": DATE, "until-pub-date": DATE, "doi": r"10\.\d{4,}/.+"}


class Crossref(SearchService):
    name = "crossref"
    type = "scholar"

    @property
    def settings(self):
        return {"CROSSREF_BASE_URL": self.url}

    def message(self, kind, message, status=200):
        return Reply({"status": "ok" if status == 200 else "failed", "message-type": kind, "message": message}, status)

    def error(self, status):
        """"Access and authentication": 429 where the limits of x-rate-limit-* are passed; errors may be plain text."""
        return Reply(b"Too many requests" if status == 429 else b"Something is wrong", status, "text/plain")

    def refuse(self, why):
        """"Tips": a parameter that is not valid is 400, validation-failure."""
        problem = {"type": "parameter-not-allowed", "value": why, "message": f"{why} is not valid"}
        return self.message("validation-failure", [problem], 400)

    def search(self, asked):
        if asked.method != "GET" or asked.path != "/works":
            return Reply(b"Resource not found.", 404, "text/plain")
        form = asked.query
        only(form, PARAMETERS)
        need(0 <= int(form.get("rows", 20)) <= 1000, "rows")
        need(0 <= int(form.get("offset", 0)) <= 10000, "offset")
        need("@" in form.get("mailto", "a@b"), "mailto")
        only(filter(None, form.get("select", "").split(",")), ELEMENTS)
        for one in filter(None, form.get("filter", "").split(",")):
            name, _, value = one.partition(":")
            need(name in FILTERS and re.fullmatch(FILTERS[name], value), f"filter {one}")
        return self.reply(asked, self.hits_for(form.get("query", form.get("filter"))))

    def reply(self, asked, hits):
        start = int(asked.query.get("offset", 0))
        shown = hits[start : start + int(asked.query.get("rows", 20))]
        chosen = asked.query.get("select", "")
        items = [work(hit) for hit in shown]
        if chosen:
            items = [{name: value for name, value in item.items() if name in chosen.split(",")} for item in items]
        message = {
            "facets": {},
            "total-results": len(hits),
            "items": items,
            "items-per-page": len(shown),
            "query": {"start-index": start, "search-terms": asked.query.get("query")},
        }
        reply = self.message("work-list", message)
        # "Rate limits": what the pool of the asker allows.
        reply.headers.update({"x-rate-limit-limit": 5, "x-rate-limit-interval": "1s", "x-concurrency-limit": 1})
        reply.headers["x-api-pool"] = "polite" if "mailto" in asked.query else "public"
        return reply


def work(hit):
    """"Metadata > Work": title is a list, abstract is JATS and may be missing, dates are lists of parts."""
    year, month, day = (int(part) for part in hit.date.split("-")) if hit.date else (None, None, None)
    return {
        "DOI": hit.link.removeprefix("https://doi.org/").upper(),
        "URL": hit.link,
        "type": "journal-article",
        "title": [hit.title],
        "container-title": ["Journal of Things"],
        **({"abstract": f"<jats:p>{hit.snippet}</jats:p>"} if hit.snippet else {}),
        "issued": {"date-parts": [[year, month, day] if year else [None]]},
        "reference": [{"key": "ref1", "doi-asserted-by": "crossref", "DOI": "10.5555/cited"}],
        "score": 12.3,
    }
