"""An internet of our own: a network namespace in which every address is this machine.

Run inside the namespace, this file is its name server, its one public web site, and behind every other
address a trap. Imported, it starts all that (LittleInternet) and says how to start a program in there.

    site.example               the site, at a public address; it serves what put_page() gave it
    localhost:8081             the same site, for pages that want to be trusted by their browser
    NAME.at-10-0-0-1.example   has that IPv4 address
    NAME.at-fd00--1.example    has that IPv6 address: a dash stands for a colon
    both.example               has the site's address and a private one
    hang....example            is never answered; that it was asked for is told as a hit
    turn.example               has the site's address when it is asked for the first time, loopback afterwards
"""

import ipaddress
import json
import pathlib
import selectors
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time

SITE = "11.22.33.44"
NAME_SERVER = "11.22.33.53"
TRAP_WORDS = "the trap has been reached"
TCP_PORTS = (22, 80, 443, 8080, 8081)
LOCAL_SITE = "localhost:8081"
UDP_PORTS = (80, 443, 3478)
PATIENCE = 30.0
A, AAAA = 1, 28


# ---- inside: names ----


def addresses_of(name, asked):
    """The addresses of a name, and whether it exists; `asked` counts the questions about each name."""
    labels = name.lower().rstrip(".").split(".")
    if labels[-1] != "example":
        return []
    if labels[0] == "site":
        return [SITE]
    if labels[0] == "both":
        return [SITE, "10.0.0.1"]
    if labels[0].startswith("turn"):
        return [SITE if asked[name] == 1 else "127.0.0.1"]
    for label in labels:
        if label.startswith("at-"):
            text = label[3:]
            try:
                return [str(ipaddress.ip_address(text.replace("-", ".")))]
            except ValueError:
                return [str(ipaddress.ip_address(text.replace("-", ":")))]
    return []


def answer_question(question, asked):
    """A DNS answer to one question."""
    labels, at = [], 12
    while question[at]:
        labels.append(question[at + 1 : at + 1 + question[at]].decode())
        at += 1 + question[at]
    (kind,) = struct.unpack("!H", question[at + 1 : at + 3])
    name = ".".join(labels)
    if kind == A:
        asked[name] = asked.get(name, 0) + 1
    asked.setdefault(name, 1)
    found = addresses_of(name, asked)
    version = {A: 4, AAAA: 6}.get(kind)
    packed = [
        ipaddress.ip_address(text).packed for text in found if ipaddress.ip_address(text).version == version
    ]
    head = question[:2] + struct.pack("!HHHHH", 0x8180 if found else 0x8183, 1, len(packed), 0, 0)
    records = b"".join(struct.pack("!HHHIH", 0xC00C, kind, 1, 0, len(data)) + data for data in packed)
    return head + question[12 : at + 5] + records


class NameServer:
    def __init__(self, tell):
        self.tell = tell
        self.asked = {}
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((NAME_SERVER, 53))

    def answer(self, _):
        question, client = self.socket.recvfrom(2048)
        if question[13:17] == b"hang":
            self.tell(hit=f"name {question[13 : 13 + question[12]].decode()}")
            return
        self.socket.sendto(answer_question(question, self.asked), client)


# ---- inside: the site and the traps ----


class Inside:
    """What runs in the namespace. It tells of what happens by lines of JSON on its standard output."""

    def __init__(self):
        self.pages = {}
        self.lock = threading.Lock()

    def tell(self, **event):
        with self.lock:
            print(json.dumps(event), flush=True)

    def read_commands(self):
        for line in sys.stdin:
            command = json.loads(line)
            if "path" in command:
                self.pages[command["path"]] = command
            self.tell(done=command["id"])

    def answer(self, client):
        """One request to the site."""
        client.settimeout(PATIENCE)
        text = b""
        while b"\r\n\r\n" not in text:
            piece = client.recv(65536)
            if not piece:
                return
            text += piece
        target = text.split(b" ")[1].decode()
        path, _, query = target.partition("?")
        if query.startswith("wait="):
            time.sleep(float(query[5:]))
        page = self.pages.get(path, {"status": 404, "type": "text/plain", "body": "", "location": ""})
        body = page["body"].encode()
        head = f"HTTP/1.1 {page['status']} Fine\r\nContent-Type: {page['type']}\r\nConnection: close\r\n"
        if page["location"]:
            head += f"Location: {page['location']}\r\n"
        client.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)

    def serve_site(self, client):
        with client:
            try:
                self.answer(client)
            except OSError:
                pass  # the client has left

    def spring(self, client):
        """A connection to a trap; who asks politely gets words that would be noticed in a result."""
        self.tell(hit=f"tcp {client.getsockname()[0]} {client.getsockname()[1]}")
        with client:
            try:
                client.settimeout(PATIENCE)
                client.recv(65536)
                client.sendall(
                    f"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nAccess-Control-Allow-Origin: *\r\n"
                    f"Connection: close\r\n\r\n{TRAP_WORDS}".encode()
                )
            except OSError:
                pass

    def accept(self, listener):
        client, _ = listener.accept()
        address, port = client.getsockname()[:2]
        serve = self.serve_site if (address, port) == (SITE, 80) or port == 8081 else self.spring
        threading.Thread(target=serve, args=(client,), daemon=True).start()

    def receive(self, listener):
        data, client = listener.recvfrom(65536)
        self.tell(hit=f"udp from {client[0]}, {len(data)} bytes")

    def run(self):
        selector = selectors.DefaultSelector()
        for port in TCP_PORTS:
            for family, address in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
                listener = socket.create_server((address, port), family=family, backlog=256)
                selector.register(listener, selectors.EVENT_READ, self.accept)
        for port in UDP_PORTS:
            for family, address in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
                listener = socket.socket(family, socket.SOCK_DGRAM)
                if family == socket.AF_INET6:
                    listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                listener.bind((address, port))
                selector.register(listener, selectors.EVENT_READ, self.receive)
        names = NameServer(self.tell)
        selector.register(names.socket, selectors.EVENT_READ, names.answer)
        threading.Thread(target=self.read_commands, daemon=True).start()
        self.tell(ready=True)
        while True:
            for key, _ in selector.select():
                key.data(key.fileobj)


# ---- outside ----


class LittleInternet:
    """The namespace and what runs in it, for tests."""

    def __init__(self, folder):
        self.folder = folder = pathlib.Path(folder)
        (folder / "resolv.conf").write_text(f"nameserver {NAME_SERVER}\noptions timeout:5 attempts:2\n")
        (folder / "nsswitch.conf").write_text("hosts: files dns\n")
        script = (
            "ip link set lo up && ip route add local 0.0.0.0/0 dev lo && ip -6 route add local ::/0 dev lo"
            # Browsers do not try WebRTC where loopback is all there is.
            " && ip link add outside type veth peer name inside && ip addr add 11.22.33.1/32 dev outside"
            " && ip link set outside up && ip link set inside up"
            f" && mount --bind {folder}/resolv.conf /etc/resolv.conf"
            f" && mount --bind {folder}/nsswitch.conf /etc/nsswitch.conf"
            f" && exec {sys.executable} -B {__file__}"
        )
        self.process = subprocess.Popen(
            ["unshare", "--net", "--mount", "sh", "-c", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.launcher = ["nsenter", "--target", str(self.process.pid), "--net", "--mount"]
        self.hits = []
        self.last_id = 0
        if json.loads(self.process.stdout.readline() or "{}") != {"ready": True}:
            self.close()
            raise RuntimeError("the namespace does not come to life")

    def _ask(self, **command):
        """Sends a command; when it is done, all hits from before have been told."""
        self.last_id += 1
        self.process.stdin.write(json.dumps({"id": self.last_id, **command}) + "\n")
        self.process.stdin.flush()
        while (event := json.loads(self.process.stdout.readline())).get("done") != self.last_id:
            self.hits.append(event["hit"])

    def put_page(self, path, body="", type="text/html; charset=utf-8", status=200, location="", local=False):
        """What the site serves at a path; its URL."""
        self._ask(path=path, body=body, type=type, status=status, location=location)
        return f"http://{LOCAL_SITE if local else 'site.example'}{path}"

    def take_hits(self):
        """What the traps saw since the last time."""
        self._ask()
        hits, self.hits = self.hits, []
        return hits

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def missing():
    """Why there can be no such internet on this machine, or None."""
    for program in ("unshare", "nsenter", "ip", "mount"):
        if not shutil.which(program):
            return f"{program} is missing"
    tried = subprocess.run(["unshare", "--net", "--mount", "true"], capture_output=True, check=False)
    return None if tried.returncode == 0 else "a network namespace needs root"


if __name__ == "__main__":
    Inside().run()
