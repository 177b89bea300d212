"""A recording reverse proxy on loopback between a client and `forage serve`.

It passes on every header as it came, streams server-sent events, and records the messages both
ways (see recording.py). Nothing is changed, except when it is told to break the answers to
tools/list.
"""

import http.client
import itertools

from loopback import LoopbackHandler, LoopbackServer
from recording import Recorder

HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length"}


class Handler(LoopbackHandler):
    def relay(self):
        server = self.server
        body = self.body()
        recorder = Recorder(server.recording, f"exchange {next(server.numbers)}", server.breaking)
        recorder.client_sent(body)
        forage = http.client.HTTPConnection("127.0.0.1", server.forage_port)
        try:
            forage.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                forage.putheader(name, value)
            forage.endheaders(body or None)
            self.answer(forage.getresponse(), recorder)
        except (ConnectionError, http.client.HTTPException):
            self.close_connection = True
        finally:
            forage.close()

    do_GET = do_POST = do_DELETE = do_OPTIONS = relay

    def answer(self, response, recorder):
        self.send_response_only(response.status, response.reason)
        for name, value in response.getheaders():
            if name.lower() not in HOP_BY_HOP:
                self.send_header(name, value)
        if response.getheader("Content-Type", "").startswith("text/event-stream"):
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.stream(response, recorder)
            return
        body = recorder.forage_sent(response.read(), status=response.status)
        if response.status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self, response, recorder):
        """Event by event; forage writes each on one data line."""
        for line in iter(response.readline, b""):
            if line.startswith(b"data:"):
                seen = recorder.forage_sent(line[5:].strip(), status=response.status)
                line = b"data: " + seen + b"\n"
            self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")


class HttpRelay(LoopbackServer):
    def __init__(self, forage_port, recording, breaking=False):
        super().__init__(Handler)
        self.forage_port = forage_port
        self.recording = recording
        self.breaking = breaking
        self.numbers = itertools.count(1)
