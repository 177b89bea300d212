"""An HTTP client that sends exactly the bytes that it is told to, and understands what comes back."""

import json
import re
import socket

from programs import PATIENCE
from secrets_watch import Tail


def request(method="POST", path="/mcp", headers=None, body=b"", host="127.0.0.1", version="HTTP/1.1"):
    """The bytes of a request. `headers` override the usual ones: None leaves one out, a list repeats it."""
    if not isinstance(body, bytes):
        body = json.dumps(body).encode()
    usual = {"Host": host}
    if method == "POST":
        usual["Content-Type"] = "application/json"
        usual["Accept"] = "application/json, text/event-stream"
        usual["Content-Length"] = str(len(body))
    names = {name.lower(): name for name in usual}
    for name, value in (headers or {}).items():
        usual[names.get(name.lower(), name)] = value
    lines = [f"{method} {path} {version}".encode()]
    for name, values in usual.items():
        for value in values if isinstance(values, list) else [values]:
            if value is not None:
                value = value if isinstance(value, bytes) else str(value).encode()
                lines.append(name.encode() + b": " + value)
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


class Closed(Exception):
    """The server closed the connection, where something was still to come."""


class Response:
    def __init__(self, version, status, headers):
        self.version = version
        self.status = status
        self.headers = headers  # (name in lower case, value), in the order they came
        self.body = b""

    def header(self, name):
        """Its value; None when it is not there. A header that came twice is an error."""
        values = [value for key, value in self.headers if key == name.lower()]
        assert len(values) <= 1, f"{name} came {len(values)} times"
        return values[0] if values else None

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"<HTTP {self.status} {self.headers} {self.body[:2000]!r}>"


class Connection:
    """One connection; a context manager."""

    def __init__(self, port, host="127.0.0.1", wrap=None, receive_bytes=None, source=None):
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        plain = socket.socket(family, socket.SOCK_STREAM)
        if receive_bytes:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        if source:
            plain.bind((source, 0))
        plain.settimeout(PATIENCE)
        plain.connect((host, port))
        self.socket = wrap(plain) if wrap else plain
        self.before_each_read = lambda: None
        self._unread = b""
        self._watch = Tail("an answer over HTTP")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def send(self, data):
        self._watch.heard(data)
        self.socket.sendall(data)

    def half_close(self):
        self.socket.shutdown(socket.SHUT_WR)

    # ---- reading ----

    def _more(self):
        self.before_each_read()
        try:
            data = self.socket.recv(65536)
        except ConnectionResetError as error:
            raise Closed from error
        if not data:
            raise Closed
        self._watch.look(data)
        self._unread += data

    def _line(self):
        while b"\r\n" not in self._unread:
            self._more()
        line, self._unread = self._unread.split(b"\r\n", 1)
        return line

    def _bytes(self, count):
        while len(self._unread) < count:
            self._more()
        data, self._unread = self._unread[:count], self._unread[count:]
        return data

    def head(self):
        """Reads the head of an answer, whatever its body."""
        version, status, _ = (self._line() + b" ").split(b" ", 2)
        headers = []
        while line := self._line():
            name, value = line.split(b":", 1)
            headers.append((name.decode().lower(), value.strip().decode()))
        return Response(version.decode(), int(status), headers)

    def pieces(self, response):
        """The body of an answer, piece by piece as it comes."""
        if response.header("Transfer-Encoding") == "chunked":
            while size := int(self._line(), 16):
                yield self._bytes(size)
                assert self._line() == b""
            assert self._line() == b""
        elif response.header("Content-Length") is not None:
            yield self._bytes(int(response.header("Content-Length")))
        elif response.status not in (100, 204, 304):
            try:
                while True:
                    if self._unread:
                        yield self._bytes(len(self._unread))
                    self._more()
            except Closed:
                return

    def response(self, to_head=False):
        """Reads a whole answer."""
        response = self.head()
        if not to_head:
            response.body = b"".join(self.pieces(response))
        return response

    def events(self, response):
        """The server-sent events of an answer, as they come: ("data", message) or ("comment", text)."""
        text = b""
        for piece in self.pieces(response):
            text += piece
            while b"\n\n" in text:
                event, text = text.split(b"\n\n", 1)
                if event.startswith(b":"):
                    yield "comment", event[1:].strip().decode()
                    continue
                lines = event.split(b"\n")
                assert lines[0] == b"event: message", event
                assert len(lines) == 2 and lines[1].startswith(b"data: "), event
                yield "data", json.loads(lines[1][6:])
        assert text == b"", f"an unfinished event: {text!r}"

    def wait_closed(self, patience=PATIENCE):
        """Waits until the server closes; what it said before that."""
        self.socket.settimeout(patience)
        try:
            while True:
                self._more()
        except Closed:
            data, self._unread = self._unread, b""
            return data

    # ---- both ----

    def exchange(self, data):
        self.send(data)
        return self.response()


def exchange(port, data, **options):
    """One request on a connection of its own."""
    with Connection(port, **options) as connection:
        return connection.exchange(data)


def running_calls(server, tool, headers=None):
    """How many calls of a tool run now."""
    text = exchange(server.port, request("GET", "/metrics", headers)).body.decode()
    return int(re.search(rf'^forage_tool_running{{tool="{tool}"}} (\d+)$', text, re.M)[1])
