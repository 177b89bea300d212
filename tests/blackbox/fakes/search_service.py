"""What the fakes of the search providers share: what there is to find, a key, and everything that can go wrong.

Mishaps are the failures that a provider's client has to tell apart. A fake with a mishap answers every search with it.
"""

import dataclasses
import gzip
import json
import socket
import struct
import threading

from fakes.service import Reply, Service


@dataclasses.dataclass
class Hit:
    """A page that a search finds. `image` is for searches for images."""

    title: str
    link: str
    snippet: str | None = None
    date: str | None = None  # YYYY-MM-DD
    image: str | None = None


class Refused(Exception):
    """The provider does not accept the request; str() is why."""


class SearchService(Service):
    """Subclasses say where searches go and which key they need (`search`), and shape the answers and the errors."""

    name = ""
    key = ""
    retry_after = None  # what an answer 429 says, where it says anything

    def __init__(self):
        super().__init__()
        self.hits = []
        self.found = {}  # query -> hits, or Refused, for queries that do not find `hits`
        self.mishap = None  # a name in MISHAPS, or a status
        self.mishaps = []  # the same for the next searches only, one each; None is an ordinary answer
        self.released = threading.Event()
        self.searches = 0

    def __exit__(self, *arguments):
        self.released.set()
        super().__exit__(*arguments)

    def reset(self):
        """As new, for the next test."""
        with self.lock:
            self.hits, self.found, self.mishap, self.mishaps, self.retry_after = [], {}, None, [], None
            self.searches = 0
            self.requests.clear()

    def answer(self, asked):
        self.searches += 1
        mishap = self.mishaps.pop(0) if self.mishaps else self.mishap
        if isinstance(mishap, int):
            return self.failure(mishap)
        if mishap == "empty":
            return self.reply(asked, [])
        if mishap:
            return MISHAPS[mishap](self, asked)
        try:
            return self.search(asked)
        except Refused as refused:
            return self.refuse(str(refused))

    def hits_for(self, query):
        found = self.found.get(query, self.hits)
        if isinstance(found, Refused):
            raise found
        return found

    def failure(self, status):
        reply = self.error(status)
        if status in (429, 503) and self.retry_after is not None:
            reply.headers["Retry-After"] = self.retry_after
        return reply

    def spent(self):
        """The key's credits are used up."""
        return self.failure(402)

    def packed(self, asked, body, **headers):
        """JSON, compressed for who understands that."""
        text = json.dumps(body, ensure_ascii=False).encode()
        if "gzip" not in asked.headers.get("accept-encoding", ""):
            return Reply(text, **headers)
        return Reply(gzip.compress(text, 1), Content_Encoding="gzip", **headers)


def need(condition, why):
    if not condition:
        raise Refused(why)


def only(given, allowed):
    """A provider ignores what it does not know; a test wants to hear of it."""
    unknown = set(given) - set(allowed)
    need(not unknown, f"unknown: {', '.join(sorted(unknown))}")


# ---- mishaps ----


def whole_answer(service, asked):
    asked.headers.pop("accept-encoding", None)
    return service.search(asked)


def reset(_service, _asked):
    def send(handler):
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        # What the handler's streams still hold must go before the socket really closes.
        handler.rfile.close()
        handler.wfile.close()
        handler.connection.close()

    return send


def stuck(service, _asked):
    """Never answers; lets go when the client leaves or the fake ends."""

    def send(handler):
        handler.connection.settimeout(0.05)
        while not service.released.is_set():
            try:
                if not handler.connection.recv(1):
                    return
            except TimeoutError:
                continue
            except OSError:
                return

    return send


def cut(service, asked):
    """The connection ends in the middle of the body."""
    reply = whole_answer(service, asked)

    def send(handler):
        reply.headers["Connection"] = "close"
        handler.send_response(reply.status)
        for name, value in reply.headers.items():
            handler.send_header(name, str(value))
        handler.send_header("Content-Length", str(len(reply.body)))
        handler.end_headers()
        handler.wfile.write(reply.body[: len(reply.body) // 2])

    return send


def truncated(service, asked):
    """Half of the JSON, as if it were all."""
    reply = whole_answer(service, asked)
    reply.body = reply.body[: len(reply.body) // 2]
    return reply


def garbage(_service, _asked):
    return Reply(b"<html><body>A friendly page instead of an answer \xff\xfe</body></html>", kind="text/html")


def spent(service, _asked):
    return service.spent()


def wrong_shape(_service, _asked):
    return Reply({"status": "fine", "data": [1, 2, 3]})


MISHAPS = {
    "reset": reset,
    "timeout": stuck,
    "cut": cut,
    "truncated": truncated,
    "garbage": garbage,
    "spent": spent,
    "wrong shape": wrong_shape,
}
