"""A fake of Sourcegraph's stream of search results (https://sourcegraph.com/docs/api/stream-api).

Comments name the part of that page. There is no published client for Python or Node; the stream is read back with the
parser of events that clients of MCP use (eventsource-parser)."""

import json

from fakes.search_service import SearchService, need, only
from fakes.service import Reply

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Sourcegraph(SearchService):
    name = "sourcegraph"

    def __init__(self):
        super().__init__()
        self.alert = None

    @property
    def settings(self):
        return {"SOURCEGRAPH_BASE_URL": self.url}

    def reset(self):
        super().reset()
        self.alert = None

    def error(self, status):
        return Reply(b"Something is wrong", status, "text/plain")

    def refuse(self, why):
        return Reply(f"invalid {why}".encode(), 400, "text/plain")

    def search(self, asked):
        """"Request": q, v, t, display, cm, cl, max-line-len; Accept is text/event-stream."""
        if asked.path != "/.api/search/stream":
            return self.error(404)
        need("text/event-stream" in asked.headers.get("accept", ""), "Accept")
        only(asked.query, {"q", "v", "t", "display", "cm", "cl", "max-line-len"})
        need(asked.query.get("v", "V3") in ("V1", "V2", "V3"), "v")
        need(asked.query.get("t", "standard") in ("keyword", "standard", "regexp"), "t")
        words = " ".join(word for word in asked.query.get("q", "").split() if ":" not in word)
        need(words, "q")
        return self.reply(asked, self.hits_for(words)[: int(asked.query.get("display", 500))])

    def reply(self, _asked, hits):
        """"Event-types": matches, progress, filters, alert, error, done. Matches come in several events."""
        events = [("progress", {"done": False, "matchCount": len(hits), "durationMs": 8, "skipped": []})]
        events += [("matches", [match(hit)]) for hit in hits]
        events += [("alert", self.alert)] if self.alert else []
        events += [("filters", []), ("done", {})]
        text = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events)
        return Reply(text.encode(), kind="text/event-stream")


def match(hit):
    """"Content-match": lines count from 0. The title of a hit is "owner/repo: path", its snippet the line."""
    repository, _, path = hit.title.partition(": ")
    return {
        "type": "content",
        "path": path,
        "repositoryID": 1,
        "repository": f"github.com/{repository}",
        "repoStars": 42,
        "repoLastFetched": "2026-01-01T00:00:00Z",
        "branches": ["HEAD"],
        "commit": COMMIT,
        "hunks": None,
        "language": "C",
        "lineMatches": [{"line": hit.snippet, "lineNumber": 11, "offsetAndLengths": [[0, 3]]}],
    }
