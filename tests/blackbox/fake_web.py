"""A web on loopback: pages that answer as they are told, and remember who asked for what."""

import http.server
import pathlib
import ssl
import subprocess
import tempfile
import threading

from programs import PATIENCE, unused_port
from secrets_watch import look


class Answer:
    """What a path answers with. `body` may be a list of pieces, sent as chunks."""

    def __init__(self, body=b"", status=200, kind="text/html; charset=utf-8", **headers):
        self.body = body.encode() if isinstance(body, str) else body
        self.status = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if kind:
            self.headers["Content-Type"] = kind


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        web = self.server.web
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path.startswith("http://"):  # as a proxy it answers for every host
            self.path = "/" + self.path.split("/", 3)[3]
        web.note(self.command, self.path, dict(self.headers))
        answer = web.answers.get(self.path.partition("?")[0], Answer("nothing here", 404, "text/plain"))
        if callable(answer):
            answer = answer(self)
        if answer is None:  # it has answered by itself, or never will
            self.close_connection = True
            return
        self.give(answer)

    do_POST = do_GET

    def give(self, answer):
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if isinstance(answer.body, list):
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for piece in answer.body:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")
            return
        if "Content-Length" not in answer.headers and answer.status != 304:
            self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, *_):
        pass


class Listener(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def verify_request(self, _, client_address):
        """One that listens on all addresses of loopback must not serve anybody beyond it."""
        return client_address[0].startswith("127.") or client_address[0] == "::1"

    def handle_error(self, *_):
        """Clients leave when they are cancelled; that is nothing to report."""


class Web:
    """A context manager; `answers` are Answers by path, or functions that get the handler."""

    def __init__(self, address="127.0.0.1", port=0, tls=False):
        self.answers = {}
        self.requests = []  # (method, path, headers)
        self.changed = threading.Condition()
        self.address = address
        self.server = Listener((address, port), Handler)
        self.server.web = self
        self.port = self.server.server_address[1]
        self.scheme = "https" if tls else "http"
        if tls:
            context = self_signed(address) if tls is True else tls
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(PATIENCE)

    @property
    def host(self):
        return f"{self.address}:{self.port}"

    def url(self, path="/"):
        return f"{self.scheme}://{self.host}{path}"

    def note(self, *request):
        # Not at the address: tests ask for pages with a secret in it.
        look(repr(request[2]).encode(), "the headers of a request for a page")
        with self.changed:
            self.requests.append(request)
            self.changed.notify_all()

    def seen(self, path):
        """The headers of each request for a path, in order."""
        with self.changed:
            return [headers for _, asked, headers in self.requests if asked == path]

    def wait_seen(self, path, count):
        with self.changed:
            assert self.changed.wait_for(
                lambda: sum(asked == path for _, asked, _ in self.requests) >= count, PATIENCE
            ), f"{path} was not asked for {count} times"


def make_certificate(folder, name):
    """A key and a certificate for an address or a host that nobody trusts unless told to: their paths."""
    key, certificate = pathlib.Path(folder, "key.pem"), pathlib.Path(folder, "certificate.pem")
    kind = "IP" if name.replace(".", "").isdigit() else "DNS"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1"]
        + ["-subj", f"/CN={name}", "-addext", f"subjectAltName={kind}:{name}", "-keyout", key, "-out", certificate],
        capture_output=True,
        check=True,
    )
    return key, certificate


def tls_context(key, certificate):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


def self_signed(address):
    """A TLS context whose certificate nobody trusts."""
    with tempfile.TemporaryDirectory() as folder:
        return tls_context(*make_certificate(folder, address))


def closed_port():
    """A port where nobody answers, now or later."""
    return unused_port()
