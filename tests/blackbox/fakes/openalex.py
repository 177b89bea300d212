"""A fake of OpenAlex (https://developers.openalex.org).

test_sources_papers.py runs pyalex against it. Comments name the page of that documentation that describes what follows."""

import re

from fakes.search_service import SearchService, need, only
from fakes.service import Reply

PARAMETERS = {"search", "per_page", "per-page", "page", "filter", "select", "mailto", "sort"}
# "Works > Work object": what can be selected, of that which matters here.
FIELDS = {"id", "doi", "display_name", "title", "publication_date", "publication_year", "open_access", "best_oa_location",
          "primary_location", "abstract_inverted_index", "language", "authorships", "type"}  # fmt: skip
FILTERS = {
    "from_publication_date": r"\d{4}-\d\d-\d\d",
    "to_publication_date": r"\d{4}-\d\d-\d\d",
    "language": r"[a-z]{2}",
    "doi": r"(https://doi\.org/)?10\.\d{4,}/.+",
}


class Openalex(SearchService):
    name = "openalex"
    type = "scholar"
    key = "openalex-key-of-the-fake"

    @property
    def settings(self):
        return {"OPENALEX_BASE_URL": self.url}

    def error(self, status):
        """"Errors": {error, message}; 429 when the day's allowance is spent, 403 when too quick."""
        return Reply({"error": "Rate limit exceeded" if status in (403, 429) else "Error", "message": "no"}, status)

    def refuse(self, why):
        return Reply({"error": "Invalid query parameters error.", "message": why}, 400)

    def search(self, asked):
        if asked.method != "GET" or asked.path != "/works":
            return Reply({"error": "Not found"}, 404)
        # "Authentication": a key is a parameter or a bearer token; without one there is a little each day.
        token = asked.headers.get("authorization")
        if token not in (None, f"Bearer {self.key}"):
            return Reply({"error": "Invalid API key", "message": "no such key"}, 401)
        form = asked.query
        only(form, PARAMETERS)
        count = int(form.get("per_page", form.get("per-page", 25)))
        # "Paging": at most 100 to a page, and 10,000 in all.
        need(1 <= count <= 100, "per_page")
        need(1 <= int(form.get("page", 1)) * count <= 10000, "page")
        only(filter(None, form.get("select", "").split(",")), FIELDS)
        for one in filter(None, form.get("filter", "").split(",")):
            name, _, value = one.partition(":")
            need(name in FILTERS and re.fullmatch(FILTERS[name], value), f"filter {one}")
        return self.reply(asked, self.hits_for(form.get("search", form.get("filter"))))

    def reply(self, asked, hits):
        count = int(asked.query.get("per_page", asked.query.get("per-page", 25)))
        page = int(asked.query.get("page", 1))
        chosen = asked.query.get("select", ",".join(FIELDS)).split(",")
        works = [work(hit) for hit in hits[count * (page - 1) : count * page]]
        meta = {"count": len(hits), "db_response_time_ms": 5, "page": page, "per_page": count, "groups_count": None}
        results = [{name: value for name, value in one.items() if name in chosen} for one in works]
        return self.packed(asked, {"meta": meta, "results": results, "group_by": []})


def inverted(text):
    """"Work object > abstract_inverted_index": the places of each word; null where there is no abstract."""
    places = {}
    for place, word in enumerate(text.split() if text else ()):
        places.setdefault(word, []).append(place)
    return places or None


def work(hit):
    doi = hit.link if "doi.org" in hit.link else None
    return {
        "id": "https://openalex.org/W1",
        "doi": doi,
        "title": hit.title,
        "display_name": hit.title,
        "publication_year": int(hit.date[:4]) if hit.date else None,
        "publication_date": hit.date,
        "type": "article",
        "open_access": {"is_oa": doi is None, "oa_status": "closed" if doi else "green", "oa_url": None if doi else hit.link},
        "abstract_inverted_index": inverted(hit.snippet),
    }
