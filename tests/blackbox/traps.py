"""Traps: places where a call gets stuck for good, seen from the other end.

A trap names the tool and the arguments that lead into it. `wait_caught` returns when the call is stuck
there. When the call is over, `watched` becomes readable and `is_free` is true: the call's socket is closed,
its child has ended. Where nobody is on the other end, `watched` is None, and the log has to tell.
"""

import errno
import os
import pathlib
import socket
import tempfile
import threading

from programs import PATIENCE, wait_until


class Trap:
    tool = "test_fetch"
    arguments = {}
    watched = None

    def wait_caught(self, door):
        raise NotImplementedError

    def is_free(self):
        return True

    def close(self):
        pass


class Asleep(Trap):
    """In a sleep."""

    tool = "test_sleep"
    arguments = {"ms": 600_000}

    def wait_caught(self, door):
        door.wait_sleeping()


class InChild(Trap):
    """Waiting for a child that does not end."""

    tool = "test_child"

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.told = pathlib.Path(self.folder.name, "pid")
        self.arguments = {"command": "sh", "args": ["-c", f"echo $$ > {self.told}; exec sleep 600"]}

    def wait_caught(self, door):
        self.watched = os.pidfd_open(int(wait_until(lambda: self.told.exists() and self.told.read_text())))

    def close(self):
        os.close(self.watched)
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

    def wait_caught(self, door):
        self.watched, _ = self.socket.accept()
        self.watched.settimeout(PATIENCE)
        heard = b""
        while self.until not in heard:
            heard += self.watched.recv(65536)
        self.watched.sendall(self.says)

    def is_free(self):
        try:
            return self.watched.recv(65536) == b""
        except ConnectionResetError:
            return True

    def close(self):
        self.socket.close()
        if self.watched:
            self.watched.close()


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
        self.first = socket.create_connection(("127.0.0.1", self.port))

    def attempts(self):
        """Connections of this machine to the port that are not answered, as the kernel lists them."""
        with open("/proc/net/tcp", encoding="ascii") as table:
            rows = [line.split() for line in table]
        return sum(row[2].endswith(f":{self.port:04X}") and row[3] == "02" for row in rows)

    def wait_caught(self, door):
        wait_until(self.attempts)

    def is_free(self):
        return not self.attempts()

    def close(self):
        super().close()
        self.first.close()


class NameServer:
    """A name server that never answers. It remembers what it was asked."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.address = self.take_address()
        self.questions = set()
        self.thread = threading.Thread(target=self.listen, daemon=True)
        self.thread.start()

    def take_address(self):
        """One whose port 53 is free: other tests may run at the same time."""
        for number in range(1, 255):
            try:
                self.socket.bind((f"127.53.53.{number}", 53))
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
            else:
                return f"127.53.53.{number}"
        raise OSError("every port 53 is taken")

    def listen(self):
        while question := self.socket.recv(2048):
            # The name is a list of labels, each after its length; the first is enough to know it by.
            self.questions.add(question[13 : 13 + question[12]].decode())

    def close(self):
        self.socket.sendto(b"", (self.address, 53))
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
