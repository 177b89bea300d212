"""Traps: places where a call gets stuck for good, seen from the other end.

A trap names the tool and the arguments that lead into it. `wait_caught` returns when the call is stuck
there; `wait_free` returns the time at which it was gone: its socket closed, its process ended, or, where
nobody is on the other end, its line in the log.
"""

import pathlib
import socket
import tempfile
import threading
import time

from programs import PATIENCE, wait_until

NAME_SERVER = "127.53.53.53"


class Trap:
    tool = "test_fetch"
    arguments = {}

    def wait_caught(self, door):
        raise NotImplementedError

    def wait_free(self, door):
        return door.wait_cancelled(self)

    def close(self):
        pass


class Asleep(Trap):
    """In a sleep."""

    tool = "test_sleep"
    arguments = {"ms": 600_000}

    def wait_caught(self, door):
        door.wait_begun()


class InChild(Trap):
    """Waiting for a child that does not end."""

    tool = "test_child"

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.told = pathlib.Path(self.folder.name, "pid")
        self.arguments = {"command": "sh", "args": ["-c", f"echo $$ > {self.told}; exec sleep 600"]}

    def wait_caught(self, door):
        text = wait_until(lambda: self.told.exists() and self.told.read_text())
        self.stat = pathlib.Path("/proc", text.strip(), "stat")

    def lives(self):
        try:
            return self.stat.read_text().rpartition(")")[2].split()[0] not in "ZX"
        except OSError:
            return False

    def wait_free(self, door):
        wait_until(lambda: not self.lives())
        return time.monotonic()

    def close(self):
        self.folder.cleanup()


class Listening(Trap):
    """At a server of ours, which is on the other end of the socket."""

    scheme = "http"
    until = b"\r\n\r\n"  # what the client must have sent to be stuck
    says = b""  # and what it has heard by then

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.socket.settimeout(PATIENCE)
        self.port = self.socket.getsockname()[1]
        self.arguments = {"url": f"{self.scheme}://127.0.0.1:{self.port}/"}
        self.client = None

    def wait_caught(self, door):
        self.client, _ = self.socket.accept()
        self.client.settimeout(PATIENCE)
        heard = b""
        while self.until not in heard:
            heard += self.client.recv(65536)
        self.client.sendall(self.says)

    def wait_free(self, door):
        try:
            while self.client.recv(65536):
                pass
        except ConnectionResetError:
            pass
        return time.monotonic()

    def close(self):
        self.socket.close()
        if self.client:
            self.client.close()


class InHandshake(Listening):
    """The server takes the client's first words of TLS and says nothing."""

    scheme = "https"
    until = b"\x16\x03"


class InHeaders(Listening):
    """The server has the request and sends half a head."""

    says = b"HTTP/1.1 200 OK\r\nContent-Ty"


class InBody(Listening):
    """The server promises more than it sends."""

    says = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 1000


class Connecting(Listening):
    """Nobody accepts: the queue of the server is full, and the kernel drops what comes."""

    def __init__(self):
        super().__init__()
        self.socket.listen(0)
        self.client = socket.create_connection(("127.0.0.1", self.port))

    def attempts(self):
        """Connections of this machine to the port that are not answered, as the kernel lists them."""
        with open("/proc/net/tcp", encoding="ascii") as table:
            rows = [line.split() for line in table]
        return sum(row[2].endswith(f":{self.port:04X}") and row[3] == "02" for row in rows)

    def wait_caught(self, door):
        wait_until(self.attempts)

    def wait_free(self, door):
        """The kernel's list is slow to read: the log tells the time, the list that it is true."""
        stamp = door.wait_cancelled(self)
        wait_until(lambda: not self.attempts())
        return stamp


class NameServer:
    """A name server that never answers. It remembers what it was asked, and tells nobody."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((NAME_SERVER, 53))
        self.questions = set()
        self.thread = threading.Thread(target=self.listen, daemon=True)
        self.thread.start()

    def listen(self):
        while True:
            question = self.socket.recv(2048)
            if not question:
                return
            # The name, as labels that each begin with their length.
            length = question[12]
            self.questions.add(question[13 : 13 + length].decode())

    def close(self):
        self.socket.sendto(b"", (NAME_SERVER, 53))
        self.thread.join(PATIENCE)
        self.socket.close()


class InName(Trap):
    """Looking up a name. The name server sees the question, but not that nobody waits any more."""

    count = 0

    def __init__(self):
        InName.count += 1
        self.label = f"stuck{InName.count}"
        self.arguments = {"url": f"http://{self.label}.example/"}

    def wait_caught(self, door):
        wait_until(lambda: self.label in door.name_server.questions)


KINDS = {
    "asleep": Asleep,
    "in a child": InChild,
    "looking up a name": InName,
    "connecting": Connecting,
    "in the TLS handshake": InHandshake,
    "waiting for headers": InHeaders,
    "waiting for the body": InBody,
}
