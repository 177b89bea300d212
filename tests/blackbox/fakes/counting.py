"""A source that counts: when each request came, and how many were there at once. It is a process of its own, so that
nothing that a test does meanwhile changes the times; and the times are the kernel's, so that a request which it reads late, on
a busy machine, does not seem to be nearer to the next one."""

import asyncio
import json
import pathlib
import re
import socket
import struct
import subprocess
import sys
import time

from http_client import exchange, request

JIFFIES_MS = 20  # the kernel tells its times in steps


class Counting:
    """A context manager. It answers each request with the body after so many seconds, with so many refusals at first; when
    it is held, it refuses at once and answers nothing else until release()."""

    def __init__(self, takes=0.0, refusals=0, body="fine", held=False):
        self.arguments = [str(takes), str(refusals), body, "held" if held else ""]

    def __enter__(self):
        path = pathlib.Path(__file__).resolve()
        self.process = subprocess.Popen(
            [sys.executable, path, *self.arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"PYTHONPATH": str(path.parents[1])},
        )
        self.port = int(self.process.stdout.readline())
        self.url = f"http://127.0.0.1:{self.port}/"
        return self

    def __exit__(self, *_):
        self.process.communicate()  # it ends when its input does

    def counts(self):
        """The times of all requests in milliseconds, sorted, and the most that were there at once."""
        counts = exchange(self.port, request("GET", "/counts")).json()
        return sorted(counts["times"]), counts["most"]

    def release(self):
        exchange(self.port, request("GET", "/release"))


def too_early(times, began_ms, calls, window_ms):
    """The requests that came before their turn, where so many may be made in any window of that length and the first turn was
    given after began_ms. A busy machine makes a request later than its turn, and never earlier."""
    return [at - began_ms for index, at in enumerate(times) if at < began_ms + index // calls * window_ms - JIFFIES_MS]


def arrived_ms(connection):
    """When the last bytes of a connection came, by the monotonic clock: tcpi_last_data_recv says how long ago that was."""
    information = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    return time.monotonic() * 1000 - struct.unpack_from("=I", information, 52)[0]


class Source:
    """The other side: what runs in the process."""

    def __init__(self, takes, refusals, body, held):
        self.takes, self.refusals, self.body = float(takes), int(refusals), body.encode()
        self.times, self.inside, self.most = [], 0, 0
        self.open = asyncio.Event()
        if not held:
            self.open.set()

    async def answer(self, head, came_ms):
        if head.startswith(b"GET /counts"):
            return 200, json.dumps({"times": self.times, "most": self.most}).encode()
        if head.startswith(b"GET /release"):
            self.open.set()
            return 200, b""
        self.times.append(came_ms)
        self.inside += 1
        self.most = max(self.most, self.inside)
        refused = len(self.times) <= self.refusals
        await asyncio.sleep(self.takes)
        if not refused:
            await self.open.wait()
        self.inside -= 1
        return (429, b"too many") if refused else (200, self.body)

    async def serve(self, reader, writer):
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = re.search(rb"content-length: *(\d+)", head, re.I)
                await reader.readexactly(int(length[1]) if length else 0)
                status, body = await self.answer(head, arrived_ms(writer.get_extra_info("socket")))
                lines = b"HTTP/1.1 %d x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                writer.write(lines % (status, len(body)) + body)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def run(self):
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0, backlog=512)
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(Source(*sys.argv[1:]).run())
