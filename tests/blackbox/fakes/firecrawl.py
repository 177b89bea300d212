"""A fake of the Firecrawl API, version 2 (docs.firecrawl.dev, "API Reference"), as the cloud and as one's own server.

The cloud has an https address of its own, which firecrawl-mcp reaches through the proxy of its environment: Cloud is
such a proxy, that answers for https://api.firecrawl.dev with a certificate of its own making and for nobody else.
"""

import json
import socket
import tempfile
import threading

from fake_web import make_certificate, tls_context
from fakes.service import Reply, Service

KEY = "fc-0123456789abcdef0123456789abcdef"
HOST = "api.firecrawl.dev"


class Firecrawl(Service):
    """One's own server: a key is not needed."""

    def __init__(self):
        super().__init__()
        self.pages = {}  # address -> Markdown
        self.key = None

    def answer(self, asked):
        # "Introduction > Authentication": Bearer; "Response codes": 401 for a wrong key.
        if self.key and asked.headers.get("authorization") != f"Bearer {self.key}":
            return Reply({"success": False, "error": "Unauthorized: Invalid token"}, 401)
        if asked.method == "POST" and asked.path == "/v2/scrape":
            return self.scrape(json.loads(asked.body))
        return Reply({"success": False, "error": f"Cannot {asked.method} {asked.path}"}, 404)

    def scrape(self, wanted):
        """Scrape: the page in the formats that were asked for, and metadata."""
        address = wanted["url"]
        if address not in self.pages:
            return Reply({"success": False, "code": "SCRAPE_ALL_ENGINES_FAILED", "error": "All engines failed."}, 500)
        metadata = {"title": "A page", "sourceURL": address, "url": address, "statusCode": 200, "language": "en"}
        return Reply({"success": True, "data": {"markdown": self.pages[address], "metadata": metadata}})

    def scraped(self):
        """The addresses that were asked for."""
        return [json.loads(asked.body)["url"] for asked in self.requests if asked.path == "/v2/scrape"]


class Cloud(Firecrawl):
    """The service itself, with a key, behind a proxy that takes CONNECT for it."""

    def __init__(self):
        super().__init__()
        self.key = KEY
        self.refused = []  # what else was asked for
        self._folder = tempfile.TemporaryDirectory()
        key, self.certificate = make_certificate(self._folder.name, HOST)
        context = tls_context(key, self.certificate)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self._inside = self._server.server_address
        self._proxy = socket.create_server(("127.0.0.1", 0))
        self.proxy = f"http://127.0.0.1:{self._proxy.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def __exit__(self, *error):
        self._proxy.close()
        super().__exit__(*error)
        self._folder.cleanup()

    def _accept(self):
        while True:
            try:
                client, _ = self._proxy.accept()
            except OSError:
                return
            threading.Thread(target=self._tunnel, args=(client,), daemon=True).start()

    def _tunnel(self, client):
        with client:
            head = b""
            while b"\r\n\r\n" not in head:
                more = client.recv(4096)
                if not more:
                    return
                head += more
            words = head.decode("latin-1").split()
            if words[:2] != ["CONNECT", f"{HOST}:443"]:
                self.refused.append(words[1])
                client.sendall(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                return
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            with socket.create_connection(self._inside) as inside:
                back = threading.Thread(target=pass_on, args=(inside, client), daemon=True)
                back.start()
                pass_on(client, inside)
                back.join()


def pass_on(source, target):
    """Until one side is gone; then the other hears of it."""
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass
