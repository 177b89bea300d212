"""A paid upstream that keeps books: it stands before any other fake, hands requests and replies on, can stop at ten
moments of each, and knows what the upstream bills for what it saw."""

import http.client
import http.server
import json
import re
import threading
import urllib.parse

from fakes.service import Listener

MOMENTS = range(10)  # 0: nothing of the body is read; 1: all of it; 2: the head of the reply is out; then its pieces
PIECES = 8
PATIENCE = 120
GARBAGE = b"\xff\xfe not what anybody expects {"
# Members of a reply that count tokens: those of one row mean the same, and the rows add up.
INPUT = ("prompt_tokens|input_tokens|promptTokenCount", "cache_creation_input_tokens", "cache_read_input_tokens")
OUTPUT = ("completion_tokens|output_tokens|candidatesTokenCount", "thoughtsTokenCount")
WRITTEN = ("content", "text", "delta", "reasoning", "thinking", "arguments", "partial_json")


def counted(reply, rows):
    """The tokens that a whole reply tells of; of several counts of one kind the last is the highest."""
    return sum(max(map(int, re.findall(rf'"(?:{names})": ?(\d+)'.encode(), reply)), default=0) for names in rows)


def written(value, key=""):
    """The characters that a model wrote, in one event of a stream."""
    if isinstance(value, str):
        return len(value) if key in WRITTEN else 0
    if isinstance(value, dict):
        return sum(written(member, name) for name, member in value.items())
    return sum(written(member, key) for member in value) if isinstance(value, list) else 0


def heard(stream):
    """The characters in the whole events of a stream that was broken off; what repeats the whole at its end does not count."""
    characters = 0
    for line in stream.split(b"\n")[:-1]:
        line = line.removeprefix(b"data: ").strip()
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and not re.search(r"(done|completed|_stop|added)$", str(event.get("type", ""))):
            characters += written(event)
    return characters


class Entry:
    """One request, as the upstream saw it."""

    def __init__(self, path, body):
        self.path = path
        self.body = body
        self.status = 0
        self.reply = b""  # what would have been said
        self.sent = b""  # what was


class Teller:
    """A context manager. `mode`: "ordinary", "garbage" (200 with rubbish, after the work was done), or a status that
    refuses. `stop` at a moment: `reached` is set then, and nothing goes on before `go` is."""

    def __init__(self, fake, service=None):
        """`service` is what a request to the fake is paid as, where that is not by the token."""
        address = urllib.parse.urlsplit(fake.url)
        self.upstream = (address.hostname, address.port)
        self.there = address.netloc
        self.service = service
        self.entries = []
        self.lock = threading.Lock()
        self.mode = "ordinary"
        self.stop = None
        self.reached = threading.Event()
        self.go = threading.Event()

    def play(self, mode="ordinary", stop=None):
        self.go.set()
        self.mode, self.stop = mode, stop
        self.reached, self.go = threading.Event(), threading.Event()
        with self.lock:
            self.entries = []

    def __enter__(self):
        teller = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self):
                teller.serve(self)

            do_GET = do_POST

            def log_message(self, *_):
                pass

        self.server = Listener(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.go.set()
        self.server.shutdown()
        self.server.server_close()

    def before(self, settings):
        """The settings with the teller in the place of the fake."""
        here = f"127.0.0.1:{self.port}"
        return {name: value.replace(self.there, here) if isinstance(value, str) else value for name, value in settings.items()}

    def at(self, moment):
        if self.stop == moment:
            self.reached.set()
            self.go.wait(PATIENCE)

    def ask(self, handler, body):
        connection = http.client.HTTPConnection(*self.upstream, timeout=PATIENCE)
        headers = {name: value for name, value in handler.headers.items() if name.lower() not in ("host", "connection", "accept-encoding")}
        connection.request(handler.command, handler.path, body or None, headers)
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.getheader("Content-Type")

    def serve(self, handler):
        handler.close_connection = True
        self.at(0)
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        entry = Entry(handler.path, body)
        entry.status, entry.reply, kind = (self.mode, b"{}", "application/json") if isinstance(self.mode, int) else self.ask(handler, body)
        with self.lock:
            self.entries.append(entry)
        said = GARBAGE if self.mode == "garbage" else entry.reply
        self.at(1)
        handler.send_response(entry.status)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(said)))
        handler.end_headers()
        handler.wfile.flush()
        self.at(2)
        size = max(1, -(-len(said) // PIECES))
        for number, start in enumerate(range(0, len(said), size)):
            handler.wfile.write(said[start : start + size])
            handler.wfile.flush()
            entry.sent += said[start : start + size]
            self.at(3 + number)

    # ---- the books ----

    def bills(self, prices):
        """What each request cost: (dollars, what forage may have estimated at most)."""
        with self.lock:
            return [self.bill(entry, prices) for entry in self.entries]

    def bill(self, entry, prices):
        asked = json.loads(entry.body) if entry.body.startswith(b"{") else {}
        searches = any(tool.get("type") == "web_search" for tool in asked.get("tools", []))
        paid = prices["services"].get("openai_web_search" if searches else self.service, 0)
        if entry.status != 200:
            return 0.0, 0.0
        if self.service:
            return paid, paid
        token = prices["models"]["paid-1"]["input"] / 1e6
        limit = re.search(rb'"(?:max_\w*tokens|maxOutputTokens|num_predict)": ?(\d+)', entry.body)
        most = (len(entry.body) / 3 + (int(limit[1]) if limit else 0)) * token + paid
        told, output = counted(entry.reply, INPUT), counted(entry.reply, OUTPUT)
        if entry.sent != entry.reply and self.mode != "garbage":
            output = heard(entry.sent) // 4
        return (told + output) * token + paid, most
