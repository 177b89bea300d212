"""A name server on loopback that lies, hangs and misbehaves as the names that it is asked for say.

    ok...        has the address 127.0.0.1
    public...    has the address 11.22.33.44
    hang...      is never answered
    half...      has an address of IPv4; whether it has one of IPv6 is never said
    many...      has two hundred addresses, which only TCP can carry
    cut...       is said to have too many addresses for UDP, and over TCP nobody answers
    chain...     is an alias of an alias of a name with an address
    loop...      is an alias of itself
    private...   is an alias of a name with the address 10.0.0.1
    stranger...  is answered with another number than was asked with, then with the right one and another name
    garbage...   is answered with bytes that are no answer
    empty...     is answered with no bytes
    failing...   is answered with a failure of the server
    refused...   is answered with a refusal
    long...      has an alias that is longer than a name may be
    bare...      exists, and has no address

Every other name does not exist.
"""

import socket
import struct
import threading

A, CNAME, AAAA = 1, 5, 28
FAILURE, MISSING, REFUSED = 2, 3, 5
TRUNCATED = 0x0200
HERE = bytes([127, 0, 0, 1])
PUBLIC = "11.22.33.44"
HANGING = ("hang", "cut")


def packed(name):
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"


def record(name, kind, data):
    return name + struct.pack("!HHIH", kind, 1, 60, len(data)) + data


def read_question(question):
    """The name, the kind, and where the question ends."""
    labels, at = [], 12
    while question[at]:
        labels.append(question[at + 1 : at + 1 + question[at]].decode("latin-1"))
        at += 1 + question[at]
    return ".".join(labels).lower(), struct.unpack("!H", question[at + 1 : at + 3])[0], at + 5


def message(question, end, records=(), code=0, flags=0):
    head = question[:2] + struct.pack("!HHHHH", 0x8180 | flags | code, 1, len(records), 0, 0)
    return head + question[12:end] + b"".join(records)


def records_of(name, kind):
    """The records of a name; None: there is no such name."""
    here = [record(b"\xc0\x0c", A, HERE)] if kind == A else []
    first = name.split(".")[0].rstrip("0123456789").rstrip("-")
    if first == "public":
        return [record(b"\xc0\x0c", A, socket.inet_aton(PUBLIC))] if kind == A else []
    if first == "many":
        return [record(b"\xc0\x0c", A, bytes([127, 0, 0, 1 + n])) for n in range(200)] if kind == A else []
    if first == "chain":
        names = [packed(name), packed("one.test"), packed("two.test")]
        aliases = [record(names[n], CNAME, names[n + 1]) for n in range(2)]
        return aliases + ([record(names[2], A, HERE)] if kind == A else [])
    if first == "loop":
        return [record(b"\xc0\x0c", CNAME, b"\xc0\x0c")]
    if first == "private":
        alias = packed("inside.test")
        inside = [record(alias, A, bytes([10, 0, 0, 1]))] if kind == A else []
        return [record(b"\xc0\x0c", CNAME, alias), *inside]
    if first == "long":
        return [record(b"\xc0\x0c", CNAME, (b"\x3f" + b"a" * 63) * 8 + b"\0")]
    return here if first in ("ok", "half", "cut") else [] if first == "bare" else None


def answers(question, over_tcp):
    """What is sent back, one datagram each."""
    name, kind, end = read_question(question)
    if name.startswith(HANGING) and (over_tcp or name.startswith("hang")):
        return []
    if name.startswith("half") and kind == AAAA:
        return []
    if name.startswith("cut") or (name.startswith("many") and kind == A and not over_tcp):
        return [message(question, end, flags=TRUNCATED)]
    if name.startswith("stranger"):
        other = bytes([question[0] ^ 1]) + question[1:]
        lie = [record(b"\xc0\x0c", A, HERE)]
        wrong = packed("other.test") + question[end - 4 : end]
        named = question[:12] + wrong
        return [message(other, end, lie), message(named, len(named), lie)]
    if name.startswith("garbage"):
        return [b"\xff" * 200, question[:2] + b"\x81\x80" + b"\xff" * 60]
    if name.startswith("empty"):
        return [b""]
    code = {"failing": FAILURE, "refused": REFUSED}.get(name.split(".")[0])
    found = records_of(name, kind)
    return [message(question, end, found or (), code or (0 if found is not None else MISSING))]


def two_sockets():
    """One for UDP and one for TCP, at the same port; somebody else may have one of the two."""
    while True:
        datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        datagrams.bind(("127.0.0.1", 0))
        try:
            return datagrams, socket.create_server(datagrams.getsockname())
        except OSError:
            datagrams.close()


class NameServer:
    """A context manager; `asked` holds each (name, kind) that came."""

    def __init__(self):
        self.asked = []
        self.datagrams, self.listener = two_sockets()
        self.datagrams.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self.port = self.datagrams.getsockname()[1]
        self.address = f"127.0.0.1:{self.port}"

    def serve_datagrams(self):
        try:
            while True:
                question, client = self.datagrams.recvfrom(4096)
                if question == b"end":
                    return
                self.asked.append(read_question(question)[:2])
                for answer in answers(question, False):
                    self.datagrams.sendto(answer, client)
        except OSError:
            pass

    def serve_stream(self, client):
        with client:
            try:
                while head := client.recv(2, socket.MSG_WAITALL):
                    question = client.recv(struct.unpack("!H", head)[0], socket.MSG_WAITALL)
                    for answer in answers(question, True):
                        client.sendall(struct.pack("!H", len(answer)) + answer)
            except OSError:
                pass

    def serve_streams(self):
        try:
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self.serve_stream, args=(client,), daemon=True).start()
        except OSError:
            pass

    def __enter__(self):
        for serve in (self.serve_datagrams, self.serve_streams):
            threading.Thread(target=serve, daemon=True).start()
        return self

    def __exit__(self, *_):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ender:
            ender.sendto(b"end", ("127.0.0.1", self.port))
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
