"""A server with several callers, for benchmarks of what they share: the web that it reads, what a caller asks and how long that
takes, and how much memory the server has."""

import asyncio
import contextlib
import http.client
import json
import multiprocessing
import os
import resource
import socket
import time

import measure

WORDS = "Some words that make a paragraph which is long enough to be the text of a page. "
PAGE = ("<!doctype html><title>A page</title><main><h1>A page</h1>" + f"<p>{WORDS * 5}</p>" * 40 + "</main>").encode()
LARGE = ("<!doctype html><title>Large</title><main><h1>Large</h1>" + f"<p>{WORDS * 5}</p>" * 800 + "</main>").encode()
HUGE = ("<!doctype html><title>Huge</title><main>" + f"<div><p>{WORDS}</p></div>" * 60000 + "</main>").encode()


# ---- the web ----


def make_pdf(pages):
    """A document that takes Poppler a while."""
    text = b"BT /F1 8 Tf 20 780 Td " + b" ".join(b"(%s) Tj 0 -9 Td" % WORDS.encode() for _ in range(80)) + b" ET"
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"", b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for _ in range(pages):
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(text), text))
        kids.append(len(objects) + 1)
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>"
            % (len(objects))
        )
    objects[1] = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (pages, b" ".join(b"%d 0 R" % kid for kid in kids))
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + b"xref\n0 %d\n0000000000 65535 f \n%strailer << /Root 1 0 R /Size %d >>\nstartxref\n%d\n%%%%EOF" % (
        len(objects) + 1, table, len(objects) + 1, len(out),
    )  # fmt: skip


BODIES = {
    "page": (PAGE, "text/html"),
    "late": (PAGE, "text/html"),
    "large": (LARGE, "text/html"),
    "huge": (HUGE, "text/html"),
    "pdf": (make_pdf(400), "application/pdf"),
}


def found(port, query):
    one = {"title": "A result", "content": "What it is about", "engine": "fake", "score": 1.0, "category": "general"}
    return [{**one, "url": f"http://127.0.0.{n + 1}:{port}/page/{query}/{n}"} for n in range(3)]


class NameServer(asyncio.DatagramProtocol):
    """Knows that page.test is on loopback, and never answers a question about another name."""

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, address):
        question = data[12 : data.index(b"\0", 12) + 5]
        if question.lower().startswith(b"\4page\4test\0"):
            count = 1 if question[-4:] == b"\0\1\0\1" else 0  # it has no other address than this
            answer = b"\xc0\x0c\0\1\0\1\0\0\0\0\0\4\x7f\0\0\1" * count
            self.transport.sendto(data[:2] + b"\x81\x80\0\1\0" + bytes([count]) + b"\0\0\0\0" + question + answer, address)


async def serve_web(told):
    async def one(reader, writer):
        # The client has left, as clients that are cut off do.
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            while writer.get_extra_info("peername")[0].startswith("127."):
                target = (await reader.readuntil(b"\r\n\r\n")).split(b" ")[1].decode()
                kind = target.split("/")[1]
                if kind == "hang":
                    await asyncio.sleep(600)
                if kind == "late":  # by so many milliseconds
                    await asyncio.sleep(int(target.split("/")[2]) / 1000)
                if kind.startswith("search"):
                    query = target.partition("q=")[2].partition("&")[0]
                    body, type_ = json.dumps({"query": query, "results": found(port, query)}).encode(), "application/json"
                else:
                    body, type_ = BODIES[kind]
                head = f"HTTP/1.1 200 OK\r\nContent-Type: {type_}\r\nContent-Length: {len(body)}\r\n\r\n"
                writer.write(head.encode() + body)
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(one, "0.0.0.0", 0, backlog=1024)
    port = server.sockets[0].getsockname()[1]
    names, _ = await asyncio.get_running_loop().create_datagram_endpoint(NameServer, ("127.0.0.1", 0))
    told.send((port, names.get_extra_info("sockname")[1]))
    await server.serve_forever()


# ---- processes ----


@contextlib.contextmanager
def process_of(work, *arguments, aside=False):
    """Work in a process of its own, until it is not wanted any more. `aside`: it stands for another machine, and takes only the
    processor time that nobody else wants."""

    def run():
        if aside:
            os.nice(19)
        asyncio.run(work(*arguments))

    process = multiprocessing.get_context("fork").Process(target=run, daemon=True)
    process.start()
    try:
        yield process
    finally:
        process.terminate()
        process.join()


@contextlib.contextmanager
def web(aside=False):
    """A web in a process of its own: its port, and that of its name server."""
    ours, theirs = multiprocessing.Pipe()
    with process_of(serve_web, theirs, aside=aside):
        yield ours.recv()


@contextlib.contextmanager
def server(tokens):
    """A server with these callers (name: token), and the web that it reads: process, port and the web's port."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 16384), hard))
    with measure.scratch() as (home, environment), web() as (pages, names):
        settings = {
            "FORAGE_TOKENS": ",".join(f"{name}:{token}" for name, token in tokens.items()),
            "FORAGE_DATA_DIR": os.path.join(home, "data"),
            "FORAGE_CACHE_TTL": "0",
            "FORAGE_NAME_SERVERS": f"127.0.0.1:{names}",
            "FORAGE_ALLOW_PRIVATE_HOSTS": "127.0.0.0/8,page.test",
            "FORAGE_LIMITS": "*=1000000000/24h",
            "FORAGE_SEARCH_PROVIDERS": "searxng",
            "FORAGE_SEARCH_CACHE_TTL": "0",
            "SEARXNG_BASE_URL": f"http://127.0.0.1:{pages}",
        }
        command = [measure.FORAGE, "serve", "--port", "0"]
        pattern = r"http://127\.0\.0\.1:(\d+)"
        with measure.http_server(command, {**environment, **settings}, pattern, "stderr") as (process, port):
            yield process, port, pages


# ---- requests ----


def head_of(token, method, path, length=None):
    body = "" if length is None else f"Content-Type: application/json\r\nContent-Length: {length}\r\n"
    return f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n{body}\r\n".encode()


def tool_request(token, tool, arguments):
    body = json.dumps(arguments).encode()
    return head_of(token, "POST", f"/api/v1/tools/{tool}", len(body)) + body


# ---- a caller ----


class Caller:
    def __init__(self, port, web, token):
        self.port, self.web, self.token, self.number = port, web, token, 0
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.refused = []

    def ask(self, tool, arguments):
        """Milliseconds of one call."""
        began = time.perf_counter()
        try:
            headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
            self.connection.request("POST", f"/api/v1/tools/{tool}", json.dumps(arguments), headers)
            answer = self.connection.getresponse()
            body = answer.read()
            if answer.status != 200 or b'"failed":true' in body:
                self.refused.append(f"{tool}: {answer.status} {body[:300]!r}")
        except OSError as error:
            self.refused.append(f"{tool}: {error!r}")
            self.connection.close()
        return (time.perf_counter() - began) * 1000

    def measure(self, seconds):
        times = {"quick": [], "read": [], "search": [], "memory": []}
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.number += 1
            self.connection.close()  # a new one has to get in, too
            name = f"{os.getpid()}-{self.number}"
            for _ in range(20):
                times["quick"].append(self.ask("forage_status", {"tool": "forage_status"}))
            times["read"].append(self.ask("get_content", {"url": f"http://page.test:{self.web}/page/v/{name}"}))
            times["search"].append(self.ask("web_search", {"query": f"q{name}", "num_results": 3}))
            times["memory"].append(self.ask("memory_search", {"query": "something that was noted"}))
        return times


def pss_mb(pid):
    """Of a process and those below it, but the browser."""
    total = 0
    with contextlib.suppress(OSError):  # it has ended meanwhile
        for child in open(f"/proc/{pid}/task/{pid}/children", encoding="ascii").read().split():
            total += pss_mb(int(child))
        command = open(f"/proc/{pid}/comm", encoding="ascii", errors="replace").read()
        if "chrom" not in command and "headless" not in command:
            text = open(f"/proc/{pid}/smaps_rollup", encoding="ascii").read()
            total += int(text.partition("\nPss:")[2].split()[0]) * 1024 / 1e6
    return total


def fill_memories(port, token):
    """What the caller has stored: 8 MB for its exports, four more namespaces with a large index."""
    for namespace in ("default", *(f"many {n}" for n in range(4))):
        lines = (json.dumps({"key": f"k{n}", "text": f"{n} {WORDS * 12} {n * 7919}", "namespace": namespace}) for n in range(8000))
        body = "\n".join(lines).encode()
        with socket.create_connection(("127.0.0.1", port)) as connection:
            head = head_of(token, "POST", "/api/v1/memories/import", len(body)).replace(b"application/json", b"application/x-ndjson")
            connection.sendall(head + body)
            status = connection.recv(65536).split(b" ", 2)[1]
            if status != b"200":
                measure.fail(f"the import answered {status}")
