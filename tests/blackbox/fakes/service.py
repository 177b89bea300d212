"""What the fakes share: an HTTP server on loopback that remembers what it was asked."""

import http.server
import json
import sys
import threading
import time
import urllib.parse


class Asked:
    """One request."""

    def __init__(self, handler, body):
        address = urllib.parse.urlsplit(handler.path)
        self.method = handler.command
        self.path = urllib.parse.unquote(address.path)
        self.query = dict(urllib.parse.parse_qsl(address.query, keep_blank_values=True))
        self.headers = {name.lower(): value for name, value in handler.headers.items()}
        self.body = body
        self.at = time.monotonic()


class Reply:
    """What is answered; a body that is no bytes becomes JSON. It can be held back until an event."""

    def __init__(self, body, status=200, kind="application/json; charset=utf-8", after=None, **headers):
        self.body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.status = status
        self.after = after
        self.headers = {"Content-Type": kind, **{name.replace("_", "-"): value for name, value in headers.items()}}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        asked = Asked(self, self.rfile.read(int(self.headers.get("Content-Length", 0))))
        service = self.server.service
        with service.lock:
            service.requests.append(asked)
            reply = service.answer(asked)
        if callable(reply):  # a mishap, that does with the connection what it likes
            self.close_connection = True
            reply(self)
            return
        self.give(reply)

    do_POST = do_GET

    def give(self, reply):
        if reply.after:  # nobody else is held up
            reply.after.wait()
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, str(value))
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)

    def log_message(self, *_):
        pass


class Listener(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *arguments):
        """Clients leave when they are cancelled; that is nothing to report."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(*arguments)


class Service:
    """A fake while it runs; a context manager. Subclasses answer(asked)."""

    def __init__(self):
        self.lock = threading.Lock()
        self.requests = []
        self._server = Listener(("127.0.0.1", 0), Handler)
        self._server.service = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def paths(self):
        return [asked.path for asked in self.requests]
