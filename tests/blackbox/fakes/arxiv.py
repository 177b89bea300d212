"""A fake of arXiv: its API (info.arxiv.org, "arXiv API User's Manual") and its pages of papers.

test_sources_papers.py runs the client arxiv against its search. Comments name the section of that manual that describes what follows.
"""

import re
from xml.sax.saxutils import escape

from fakes.search_service import Hit, SearchService, need, only
from fakes.service import Reply

# Section 3.3, "Outline of an Atom feed": the feed's own elements.
FEED = """<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <link href="http://arxiv.org/api/query?{asked}" rel="self" type="application/atom+xml"/>
  <title type="html">ArXiv Query: {asked}</title>
  <id>http://arxiv.org/api/abc</id>
  <updated>2020-01-01T00:00:00-05:00</updated>
  <opensearch:totalResults xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">{count}</opensearch:totalResults>
{entries}</feed>
"""

# Section 3.3.2, "Entry metadata"; 3.3.2.7, "<arxiv> extension elements".
ENTRY = """  <entry>
    <id>http://arxiv.org/abs/{id}v1</id>
    <updated>2020-02-02T00:00:00Z</updated>
    <published>{date}T00:00:00Z</published>
    <title>{title}</title>
    <summary>{summary}</summary>
    <author><name>First Author</name></author>
    <author><name>Second Author</name></author>
    <arxiv:comment xmlns:arxiv="http://arxiv.org/schemas/atom">5 pages</arxiv:comment>
    <link href="http://arxiv.org/abs/{id}v1" rel="alternate" type="text/html"/>
    <link title="pdf" href="http://arxiv.org/pdf/{id}v1" rel="related" type="application/pdf"/>
    <arxiv:primary_category xmlns:arxiv="http://arxiv.org/schemas/atom" term="cs.CL"/>
    <category term="cs.CL" scheme="http://arxiv.org/schemas/atom"/>
  </entry>
"""


# Section 3.1.1.1, "start and max_results paging", 3.1.1.2, "sort order", and 5.1, "Details of query construction".
PARAMETERS = {"search_query", "id_list", "start", "max_results", "sortBy", "sortOrder"}
TERM = r'(all|ti|au|abs|cat|jr|co|rn):("[^"]+"|[^\s()":]+)'
SPAN = r"submittedDate:\[\d{12} TO \d{12}\]"
ALL = re.compile(rf"{TERM}( (AND|OR) {TERM})*|(\({TERM}( (AND|OR) {TERM})*\)) AND {SPAN}")


def feed(asked, entries, total=None):
    words = escape("&".join(f"{name}={value}" for name, value in asked.query.items()), {'"': "&quot;"})
    count = len(entries) if total is None else total
    body = FEED.format(asked=words, entries="".join(entries), count=count)
    return body.encode()


class Arxiv(SearchService):
    name = "arxiv"
    type = "scholar"

    def __init__(self):
        super().__init__()
        self.papers = {}  # id -> (title, summary)
        self.html, self.pdf = {}, {}  # id -> body

    @property
    def settings(self):
        return {"ARXIV_BASE_URL": self.url, "ARXIV_PAGES_BASE_URL": self.url}

    def error(self, status):
        return Reply(b"Rate exceeded.", status, "text/plain")

    def refuse(self, why):
        """Section 3.4, "Errors": a feed with one entry, whose title is "Error"."""
        entry = (
            f"  <entry><id>http://arxiv.org/api/errors#{escape(why)}</id><title>Error</title><summary>{escape(why)}</summary>"
            '<link href="http://arxiv.org/api/errors" rel="alternate" type="text/html"/></entry>\n'
        )
        return Reply(FEED.format(asked="", entries=entry, count=1).encode(), kind="application/atom+xml; charset=UTF-8")

    def search(self, asked):
        if asked.path == "/api/query":
            return self.find(asked) if "search_query" in asked.query else self.look_up(asked)
        for prefix, bodies, kind in (
            ("/html/", self.html, "text/html; charset=utf-8"),
            ("/pdf/", self.pdf, "application/pdf"),
        ):
            id = asked.path.removeprefix(prefix)
            if asked.path.startswith(prefix) and id in bodies:
                return Reply(bodies[id], kind=kind)
        return Reply(b"<html><body>No HTML for this paper</body></html>", 404, "text/html; charset=utf-8")

    def look_up(self, asked):
        """Section 3.1.1, "search_query and id_list logic": an id that is unknown gives no entry."""
        id = asked.query["id_list"]
        entries = []
        if id in self.papers:
            title, summary = self.papers[id]
            entries.append(ENTRY.format(id=id, title=escape(title), summary=escape(summary), date="2020-01-01"))
        return Reply(feed(asked, entries), kind="application/atom+xml; charset=UTF-8")

    def find(self, asked):
        form = asked.query
        only(form, PARAMETERS)
        need(ALL.fullmatch(form["search_query"]), "malformed query")
        need(0 <= int(form.get("max_results", 10)) <= 2000, "max_results must be non-negative")
        need(int(form.get("start", 0)) >= 0, "start must be non-negative")
        need(form.get("sortBy", "relevance") in ("relevance", "lastUpdatedDate", "submittedDate"), "sortBy")
        need(form.get("sortOrder", "descending") in ("ascending", "descending"), "sortOrder")
        return self.reply(asked, self.hits_for(form["search_query"]))

    def reply(self, asked, hits):
        start = int(asked.query.get("start", 0))
        shown = hits[start : start + int(asked.query.get("max_results", 10))]
        entries = [entry(hit) for hit in shown]
        return Reply(feed(asked, entries, len(hits)), kind="application/atom+xml; charset=UTF-8")


def entry(hit: Hit):
    id = hit.link.rpartition("/abs/")[2].removesuffix("v1")
    return ENTRY.format(id=id, title=escape(hit.title), summary=escape(hit.snippet or ""), date=hit.date or "2020-01-01")
