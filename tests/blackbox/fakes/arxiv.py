"""A fake of arXiv: its API (info.arxiv.org, "arXiv API User's Manual") and its pages of papers.

Comments name the section of that manual that describes what follows.
"""

from xml.sax.saxutils import escape

from fakes.service import Reply, Service

# Section 3.3, "Outline of an Atom feed": the feed's own elements.
FEED = """<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <link href="http://arxiv.org/api/query?id_list={id}" rel="self" type="application/atom+xml"/>
  <title type="html">ArXiv Query: search_query=&amp;id_list={id}&amp;start=0&amp;max_results=1</title>
  <id>http://arxiv.org/api/abc</id>
  <updated>2020-01-01T00:00:00-05:00</updated>
  <opensearch:totalResults xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">{count}</opensearch:totalResults>
{entry}</feed>
"""

# Section 3.3.2, "Entry metadata"; 3.3.2.7, "<arxiv> extension elements".
ENTRY = """  <entry>
    <id>http://arxiv.org/abs/{id}v1</id>
    <updated>2020-02-02T00:00:00Z</updated>
    <published>2020-01-01T00:00:00Z</published>
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


class Arxiv(Service):
    def __init__(self):
        super().__init__()
        self.papers = {}  # id -> (title, summary)
        self.html, self.pdf = {}, {}  # id -> body

    def answer(self, asked):
        if asked.path == "/api/query":
            # Section 3.1.1, "search_query and id_list logic": an id that is unknown gives no entry.
            id = asked.query["id_list"]
            entry = ""
            if id in self.papers:
                title, summary = self.papers[id]
                entry = ENTRY.format(id=id, title=escape(title), summary=escape(summary))
            feed = FEED.format(id=id, entry=entry, count=1 if entry else 0)
            return Reply(feed.encode(), kind="application/atom+xml; charset=UTF-8")
        for prefix, bodies, kind in (
            ("/html/", self.html, "text/html; charset=utf-8"),
            ("/pdf/", self.pdf, "application/pdf"),
        ):
            id = asked.path.removeprefix(prefix)
            if asked.path.startswith(prefix) and id in bodies:
                return Reply(bodies[id], kind=kind)
        return Reply(b"<html><body>No HTML for this paper</body></html>", 404, "text/html; charset=utf-8")
