"""A web of pages that fail in every way, on all addresses of loopback: each page may have a host of its own, so that one
that holds its connections for ever holds up nobody else.

Each way is a function that gets the handler; those in FINE end with the page's words."""

import gzip
import random
import socket
import struct
import threading
import time

from fake_web import Answer, Web, closed_port
from reading import page

LOOPBACK = "127.0.0.0/8"


def words(path):
    return f"These are the words of {path.strip('/')}. " * 10


def fine(handler):
    return Answer(page(words(handler.path)))


def slow(handler):
    time.sleep(0.2)
    return fine(handler)


def in_pieces(handler):
    body = page(words(handler.path)).encode()
    return Answer([body[at : at + 50] for at in range(0, len(body), 50)])


def compressed(handler):
    return Answer(gzip.compress(page(words(handler.path)).encode()), Content_Encoding="gzip")


def moved(handler):
    if handler.path.endswith("-there"):
        return Answer(page(words(handler.path.removesuffix("-there"))))
    return Answer("moved", 301, "text/plain", Location=handler.path + "-there")


def plain(handler):
    return Answer(words(handler.path), kind="text/plain")


# ---- that do not answer, or not to the end ----


def wait_for_the_client(handler):
    """Until the client leaves, or the web ends."""
    handler.connection.settimeout(0.1)
    while not handler.server.web.over.is_set():
        try:
            if not handler.connection.recv(1):
                return
        except TimeoutError:
            continue
        except OSError:
            return


def stuck(handler):
    wait_for_the_client(handler)


def stuck_in_the_head(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Long: ")
    handler.wfile.flush()
    wait_for_the_client(handler)


def stuck_in_the_body(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5000\r\n\r\n<html><body><p>Some")
    handler.wfile.flush()
    wait_for_the_client(handler)


def dripping(handler):
    """A byte now and then, for ever."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100000\r\n\r\n")
    try:
        while not handler.server.web.over.wait(0.05):
            handler.wfile.write(b"x")
            handler.wfile.flush()
    except OSError:
        pass


def reset(handler):
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.rfile.close()
    handler.wfile.close()
    handler.connection.close()


def reset_in_the_body(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5000\r\n\r\n<html><body>")
    handler.wfile.flush()
    reset(handler)


def closed(_handler):
    return None


# ---- that answer with something else ----


def wrong_type(_handler):
    return Answer(b"\x89PNG\r\n\x1a\n" + bytes(500), kind="text/html")


def picture(_handler):
    return Answer(b"\x89PNG\r\n\x1a\n" + bytes(500), kind="image/png")


def binary(_handler):
    return Answer(random.Random(1).randbytes(5000), kind=None)


def program(_handler):
    return Answer(b"\x7fELF" + bytes(5000), kind="application/octet-stream")


def empty(_handler):
    return Answer(b"")


def nothing(_handler):
    return Answer(b"", 204)


def blank(_handler):
    return Answer(" \n\t \u00a0 ")


def huge_by_its_word(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 99999999999\r\n\r\n<html>")
    handler.wfile.flush()
    wait_for_the_client(handler)


def huge(handler):
    """Twenty million bytes of text, and then no end."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<html><body><p>")
    piece = b"words and more words " * 5000
    try:
        for _ in range(200):
            handler.wfile.write(piece)
    except OSError:
        return
    wait_for_the_client(handler)


def bomb(_handler):
    return Answer(gzip.compress(bytes(50_000_000), 9), Content_Encoding="gzip")


def broken_gzip(_handler):
    return Answer(gzip.compress(b"<p>text</p>" * 100)[:40] + b"garbage", Content_Encoding="gzip")


def unknown_encoding(_handler):
    return Answer(b"\x00\x01\x02" * 50, Content_Encoding="sdch")


def broken_chunks(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\nZZZ\r\nno\r\n")


def no_http(handler):
    handler.wfile.write(b"220 mail.example ESMTP ready\r\n")


def many_headers(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: %s\r\n" % (i, b"y" * 900) for i in range(900)) + b"\r\n")


def bad_text(_handler):
    return Answer(b"<html><body><p>\x00\xff\xfe bytes \xed\xa0\x80 that are \xc3\x28 no text \x80</p></body></html>")


def deep(_handler):
    return Answer("<div>" * 20000 + "deep" + "</div>" * 20000)


def broken_pdf(_handler):
    return Answer(b"%PDF-1.7\n1 0 obj << /Type /Catalog >> endobj\ntrailer << >>\n%%EOF", kind="application/pdf")


def broken_json(_handler):
    return Answer(b'{"a": [1, 2, {"b": ', kind="application/json")


# ---- that send elsewhere ----


def loop(handler):
    return Answer("again", 302, "text/plain", Location=handler.path)


def long_loop(handler):
    path, _, number = handler.path.partition("?")
    return Answer("on", 302, "text/plain", Location=f"{path}?{int(number or 0) + 1}")


def to_a_file(_handler):
    return Answer("moved", 302, "text/plain", Location="file:///etc/passwd")


def to_a_private_host(_handler):
    return Answer("moved", 302, "text/plain", Location="http://10.1.2.3/")


def to_nowhere(_handler):
    return Answer("moved", 302, "text/plain")


def to_nonsense(_handler):
    return Answer("moved", 302, "text/plain", Location="http://[broken")


def status(code):
    def answer(_handler):
        return Answer(f"<html><body><h1>{code}</h1></body></html>", code)

    answer.__name__ = f"status_{code}"
    return answer


FINE = [fine, slow, in_pieces, compressed, moved, plain]
STUCK = [stuck, stuck_in_the_head, stuck_in_the_body, dripping]
BROKEN = [
    *(reset, reset_in_the_body, closed, wrong_type, picture, binary, program, empty, nothing, blank),
    *(huge_by_its_word, huge, bomb, broken_gzip, unknown_encoding, broken_chunks, no_http, many_headers),
    *(bad_text, deep, broken_pdf, broken_json, loop, long_loop, to_a_file, to_a_private_host, to_nowhere, to_nonsense),
    *map(status, (400, 401, 403, 404, 410, 418, 429, 451, 500, 502, 503)),
]
# These have something to read, or may have: they need not fail.
MAY_BE_READ = {"bad_text", "deep", "broken_json", "huge", "blank", "broken_chunks", "binary", "broken_pdf", "reset_in_the_body"}


class BrokenWeb(Web):
    """Listens on all addresses of loopback; a page is /KIND-NUMBER."""

    def __init__(self):
        super().__init__("0.0.0.0")
        self.over = threading.Event()
        self.tls = Web("127.0.0.1", tls=True)
        self.tls.answers["/"] = Answer(page())
        self.closed = closed_port()

    def __enter__(self):
        self.tls.__enter__()
        return super().__enter__()

    def __exit__(self, *arguments):
        self.over.set()
        self.tls.__exit__(*arguments)
        super().__exit__(*arguments)

    def add(self, way, number):
        """The address of a page that answers so."""
        path = f"/{way.__name__}-{number}"
        self.answers[path] = way
        self.answers[path + "-there"] = way
        host = f"127.{1 + number // 60000}.{number // 250 % 250}.{number % 250 + 2}"
        return f"http://{host}:{self.port}{path}"

    def unreachable(self, number):
        """Addresses behind which there is no page at all."""
        return [
            f"https://127.0.0.1:{self.tls.port}/?{number}",  # a certificate that nobody trusts
            f"https://127.0.0.1:{self.port}/?{number}",  # no TLS at all
            f"http://127.0.0.1:{self.closed}/?{number}",  # nobody listens
            f"http://127.0.0.1:{self.tls.port}/?{number}",  # TLS, and asked without
            f"http://no-such-host-{number}.invalid/",
            f"http://10.0.0.{number % 250}/",
        ][number % 6]
