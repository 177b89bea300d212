"""Asks a server as clients do, each request after the answer to the one before, and is the web that it reads: what the benches
and the counts of scripts/counts.py share."""

import contextlib
import functools
import http.server
import re
import socket
import threading

import measure
import pages

PATIENCE_S = 120
TEXT = "a word or two " * 12
KEY = "memory 000000"  # of the first one that add() adds
GET = {"name": "memory_get", "arguments": {"key": KEY}}
SEARCH = {"name": "memory_search", "arguments": {"query": "a word"}}
PAGE_PARAGRAPHS = 70


# ---- a client ----


class Client:
    """One connection over which one request follows the answer to the one before, each in one piece."""

    def __init__(self, port):
        self.port = port
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, method, params):
        self.socket.sendall(measure.http_request(self.port, "modern", method, params))
        answer = b""
        while not self.is_whole(answer):
            piece = self.socket.recv(1 << 18)
            if not piece:
                measure.fail(f"the server closed the connection after {method}")
            answer += piece
        if not answer.startswith(b"HTTP/1.1 200 ") or b'"result":{' not in answer or b'"isError":true' in answer:
            measure.fail(f"{method} {params}: {answer[:600]!r}")

    def call(self, name, /, **arguments):
        self.ask("tools/call", {"name": name, "arguments": arguments})

    @staticmethod
    def is_whole(answer):
        head, found, body = answer.partition(b"\r\n\r\n")
        if not found:
            return False
        length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
        return len(body) >= int(length[1]) if length else body.endswith(b"\r\n0\r\n\r\n")


# ---- the web that it reads ----


@functools.cache
def page():
    """About 100 KB, of which a fifth is text."""
    writer = pages.Writer(1)
    text = writer.heading(1) + "".join(writer.heading(2) * (n % 7 == 0) + writer.paragraph() for n in range(PAGE_PARAGRAPHS))
    around = writer.menu("main", 60), writer.script(30_000), writer.style(20_000)
    head = writer.head("A page", "Article")
    return f"<!doctype html><html>{head}<body>{''.join(around)}<main>{text}</main></body></html>".encode()


class Page(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(page())}\r\n\r\n"
        self.wfile.write(head.encode() + page())

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def web():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


# ---- what is asked: a client, the number of the call, and the web ----


def status(client, _number, _web):
    client.ask("tools/call", measure.STATUS)


def tools_list(client, _number, _web):
    client.ask("tools/list", {})


def add(client, number, _web):
    client.call("memory_add", key=f"memory {number:06}", text=f"{number:06} {TEXT}")


def get(client, number, web):
    if number == 0:
        add(client, 0, web)
    client.ask("tools/call", GET)


def search(client, number, web):
    if number == 0:
        add(client, 0, web)
    client.ask("tools/call", SEARCH)


def new_page(client, number, web):
    client.call("get_content", url=f"{web}/{number:06}")


def same_page(client, _number, web):
    client.call("get_content", url=f"{web}/000000")


def mixed_calls(port, who, rounds):
    """What one client does in the load; nothing of it leaves the machine."""
    client = Client(port)
    for number in range(rounds):
        client.ask("tools/call", measure.STATUS)
        client.ask("tools/list", {})
        client.call("memory_add", key=f"{who} {number:06}", text=f"{who} {number:06} {TEXT}")
        client.call("memory_get", key=f"{who} {number:06}")
        client.call("memory_search", query=f"word {number:06}")
    client.socket.close()
