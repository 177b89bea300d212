"""A fake of Semantic Scholar's Graph API (https://api.semanticscholar.org/api-docs/graph).

test_sources_papers.py runs the client semanticscholar against it. Comments name the part of that page that describes what
follows."""

import re

from fakes.search_service import SearchService, need, only
from fakes.service import Reply

PARAMETERS = {"query", "limit", "offset", "fields", "year", "publicationDateOrYear", "venue", "openAccessPdf", "minCitationCount",
              "publicationTypes", "fieldsOfStudy"}  # fmt: skip
FIELDS = set(
    "paperId corpusId externalIds url title abstract venue publicationVenue year referenceCount citationCount"
    " influentialCitationCount isOpenAccess openAccessPdf fieldsOfStudy s2FieldsOfStudy publicationTypes publicationDate"
    " journal citationStyles authors tldr".split()
)
DAY = r"\d{4}(-\d\d(-\d\d)?)?"


class SemanticScholar(SearchService):
    name = "semantic-scholar"
    type = "scholar"

    @property
    def settings(self):
        return {"SEMANTIC_SCHOLAR_BASE_URL": self.url}

    def error(self, status):
        """"Rate limits": {message, code}."""
        return Reply({"message": "Too Many Requests. Please wait and try again.", "code": str(status)}, status)

    def refuse(self, why):
        """"Responses > 400": {error}."""
        return Reply({"error": f"Unrecognized or unsupported fields: [{why}]"}, 400)

    def search(self, asked):
        if asked.method != "GET" or asked.path != "/graph/v1/paper/search":
            return Reply({"error": "Not found"}, 404)
        form = asked.query
        only(form, PARAMETERS)
        need(form.get("query"), "query")
        # "Paper relevance search": at most 100 at a time, 1,000 in all.
        count, start = int(form.get("limit", 100)), int(form.get("offset", 0))
        need(1 <= count <= 100, "limit")
        need(start + count < 1000, "offset")
        only((name.partition(".")[0] for name in form.get("fields", "title").split(",")), FIELDS)
        need(re.fullmatch(f"({DAY})?:({DAY})?", form.get("publicationDateOrYear", ":")), "publicationDateOrYear")
        # "A hyphenated query term yields no matches (replace it with space)."
        return self.reply(asked, [] if "-" in form["query"] else self.hits_for(form["query"]))

    def reply(self, asked, hits):
        start = int(asked.query.get("offset", 0))
        shown = hits[start : start + int(asked.query.get("limit", 100))]
        chosen = {name.partition(".")[0] for name in asked.query.get("fields", "title").split(",")} | {"paperId"}
        # Where nothing is found there is no list.
        body = {"total": len(hits), "offset": start}
        if shown:
            body["data"] = [{name: value for name, value in paper(hit).items() if name in chosen} for hit in shown]
        if start + len(shown) < len(hits):
            body["next"] = start + len(shown)
        return self.packed(asked, body)


def paper(hit):
    """"Responses > 200 > data": what is not known is null; openAccessPdf may be there without an address."""
    doi = hit.link.removeprefix("https://doi.org/") if "doi.org" in hit.link else None
    return {
        "paperId": "649def34f8be52c8b66281af98ae884c09aef38b",
        "externalIds": {"DOI": doi, "CorpusId": 1} if doi else {"CorpusId": 1},
        "url": "https://www.semanticscholar.org/paper/649def34f8be52c8b66281af98ae884c09aef38b",
        "title": hit.title,
        "abstract": hit.snippet or None,
        "venue": "",
        "year": int(hit.date[:4]) if hit.date else None,
        "openAccessPdf": {"url": "" if doi else hit.link, "status": None, "license": None},
        "publicationDate": hit.date,
        "tldr": None,
    }
