"""A server that answers as nobody should: endless, enormous, deep, slow, or with lengths that are not true. Which way is told
by the word "case-NAME" that it finds in the request, so that it can stand in for a site, a search provider or a model.
"""

import re
import time
import zlib

from listener import Listener
from programs import PATIENCE

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
OPEN = HEAD + b"Connection: close\r\n\r\n"
PIECE = b"words and more words " * 3000
BOMB_BYTES = 10 << 30

# ---- bombs: a few kilobytes that become ten gigabytes ----


def zstd_bomb():
    """Blocks that say: this byte, 128 KB times."""
    block = (128 << 10 << 3 | 1 << 1).to_bytes(3, "little") + b"x"
    yield b"\x28\xb5\x2f\xfd\x00\x58" + block * 16
    for _ in range(BOMB_BYTES // (128 << 10) // 1024):
        yield block * 1024


def brotli_bomb():
    """Sixteen megabytes of the byte 0, as Brotli's own compressor writes them, again and again."""
    yield bytes.fromhex("cfffff7f002400e2b14072efff0d")
    for _ in range(BOMB_BYTES >> 24):
        yield bytes.fromhex("fcffff074002200e0b40f7fedf00")


def gzip_bomb():
    """A piece that ends at a byte and refers to nothing before it can be said again and again."""
    press = zlib.compressobj(9, zlib.DEFLATED, 31)
    head = press.compress(b"") + press.flush(zlib.Z_FULL_FLUSH)
    piece = press.compress(bytes(1 << 20)) + press.flush(zlib.Z_FULL_FLUSH)
    yield head
    for _ in range(BOMB_BYTES >> 20):
        yield piece


def nested_bomb():
    """A bomb of a bomb: what comes out of the first is the second."""
    press = zlib.compressobj(9, zlib.DEFLATED, 31)
    for piece in gzip_bomb():
        yield press.compress(piece) + press.flush(zlib.Z_SYNC_FLUSH)


BOMBS = {
    "zstd": ("zstd", zstd_bomb),
    "brotli": ("br", brotli_bomb),
    "gzip": ("gzip", gzip_bomb),
    "nested": ("gzip, gzip", nested_bomb),
}


def explode(name):
    encoding, pieces = BOMBS[name]

    def answer(client):
        client.sendall(HEAD + f"Content-Encoding: {encoding}\r\nConnection: close\r\n\r\n".encode())
        for piece in pieces():
            client.sendall(piece)

    return answer


# ---- the rest ----


def repeat(start, piece, pause=0.0):
    def answer(client):
        client.sendall(start)
        while True:
            client.sendall(piece)
            time.sleep(pause)

    return answer


def say(data):
    def answer(client):
        client.sendall(data)

    return answer


def say_and_stay(data):
    def answer(client):
        client.sendall(data)
        client.recv(1)

    return answer


CASES = {
    **{f"{name}-bomb": explode(name) for name in BOMBS},
    "endless": repeat(OPEN + b'{"results": [{"title": "', PIECE),
    "endless-chunks": repeat(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"%x\r\n%s\r\n" % (len(PIECE), PIECE)),
    "endless-chunk-size": repeat(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"0" * 4096),
    "endless-trailer": repeat(HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X-Y: %s\r\n" % (b"z" * 900)),
    "endless-head": repeat(HEAD, b"X-Y: %s\r\n" % (b"z" * 900)),
    "endless-header": repeat(HEAD + b"X-Y: ", b"z" * 4096),
    "endless-continue": repeat(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
    "endless-reason": repeat(b"HTTP/1.1 200 ", b"O" * 4096),
    "deep": say(OPEN + b"[" * 3_000_000),
    "deep-objects": say(OPEN + b'{"results":' * 300_000),
    "one-string": say(OPEN + b'{"results": [{"title": "' + b"x" * 3_900_000 + b'"}], "output": "' + b'"}'),
    "many-members": say(OPEN + b'{"results": [' + b'{"url": "http://127.0.0.1:9/"},' * 140_000 + b"{}]}"),
    "numbers": say(OPEN + b'{"results": 1e999999, "output": -' + b"9" * 100_000 + b"}"),
    "no-text": say(OPEN + b'{"results": [{"title": "\xff\xfe\x00\xc3\x28"}]}'),
    "other-types": say(OPEN + b'{"results": {"0": 7}, "organic": 3, "web": [], "output": [[[]]], "id": {}}'),
    "drip": repeat(HEAD + b"Content-Length: 100000\r\n\r\n{", b" ", 0.1),
    "drip-head": repeat(HEAD + b"X-Y: ", b"z", 0.1),
    "silent": say_and_stay(b""),
    "longer": say(HEAD + b"Content-Length: 1000\r\n\r\n{}"),
    "longest": say_and_stay(HEAD + b"Content-Length: 99999999999999999999\r\n\r\n{}"),
    "shorter": say(HEAD + b'Content-Length: 5\r\n\r\n{"results": []}'),
    "negative": say(HEAD + b"Content-Length: -5\r\n\r\n{}"),
    "two-lengths": say(HEAD + b"Content-Length: 2\r\nContent-Length: 20\r\n\r\n{}"),
    "no-http": say(b"220 mail.example ready\r\n"),
    "nothing": say(b""),
    "broken-zstd": say(HEAD + b"Content-Encoding: zstd\r\nConnection: close\r\n\r\n\x28\xb5\x2f\xfd" + b"\xff" * 500),
    "broken-brotli": say(HEAD + b"Content-Encoding: br\r\nConnection: close\r\n\r\n" + b"\xff" * 500),
    "many-encodings": say(HEAD + b"Content-Encoding: " + b"gzip, " * 500 + b"gzip\r\nConnection: close\r\n\r\nx"),
}


class HostileWeb(Listener):

    def serve(self, client):
        client.settimeout(PATIENCE)
        data = b""
        while not (found := re.search(rb"case-([a-z-]+)", data)):
            if not (piece := client.recv(65536)):
                return
            data += piece
        CASES[found[1].decode().rstrip("-")](client)
