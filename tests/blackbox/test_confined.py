"""The child that reads PDFs, with a stand-in that tries everything that a fault in a parser could be used for; on this
system, on one whose Landlock knows less, on one without it, and on one with neither Landlock nor namespaces, which says so."""

import contextlib
import ctypes
import json
import os
import pathlib
import platform
import pwd
import shutil
import socket
import sys
import tempfile
import threading

import pytest
from conftest import report
from fake_web import Answer, Web
from fakes import without
from fakes.pdf_maker import make_pdf
from http_client import Connection, exchange, request
from programs import COUNTS_LINES, FORAGE, ROOT, Server, run

# A Python that everybody may read: the one of the tests may be in somebody's home.
PYTHON = shutil.which("python3", path="/usr/bin:/bin")
pytestmark = pytest.mark.skipif(not PYTHON, reason="the stand-in needs the system's own python3")

DOCUMENT = make_pdf([[(10, 72, 100, "Text")]])

# Answers as Poppler does, with what came of each attempt as the text. PLACE is a folder that everybody may use.
STAND_IN = """#!PYTHON -IS
import ctypes, errno, fcntl, json, os, resource, signal, socket, sys

PLACE, PORT = "PLACE", int("PORT")
libc = ctypes.CDLL(None, use_errno=True)
NUMBERS = {"x86_64": (101, 302, 30), "aarch64": (117, 261, 196)}[os.uname().machine]
PTRACE, PRLIMIT, SHMAT = NUMBERS
FCHMODAT2, HERE = 452, -100
OWN, SHARED = PLACE + "/own", int("SHARED")

def called(number, *arguments):
    if libc.syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), "refused")

def sweep():
    # Every call there is, with nonsense: the numbers of those that answer otherwise than by a refusal. Left out are those
    # that end the process, sleep for ever, refuse nonsense in the words of a filter (futex), and two of x86_64 that the
    # kernel keeps for its probes, shows to no filter, and answers with a signal (uretprobe, uprobe).
    skipped = {"x86_64": {15, 34, 60, 202, 231, 335, 336}, "aarch64": {93, 94, 98, 139}}[os.uname().machine]
    nonsense = [ctypes.c_long(-1)] * 6
    answered = []
    for number in set(range(512)) - skipped:
        ctypes.set_errno(0)
        if libc.syscall(ctypes.c_long(number), *nonsense) >= 0 or ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS):
            answered.append(number)
    return answered

def write(path):
    with open(path, "w") as file:
        file.write("x")

def connect(kind, address, protocol=socket.SOCK_STREAM):
    with socket.socket(kind, protocol) as there:
        there.connect(address)
        there.send(b"x")

def start():
    if os.fork() == 0:
        os._exit(0)

ATTEMPTS = {
    "read a private file": lambda: open(PLACE + "/private").read(),
    "read a public file": lambda: open(PLACE + "/public").read(),
    "read /etc/passwd": lambda: open("/etc/passwd").read(),
    "read /proc": lambda: open("/proc/self/status").read(),
    "list a folder": lambda: os.listdir(PLACE).index("private"),
    "list a home": lambda: os.listdir("HOME"),
    "write a file": lambda: write(PLACE + "/written"),
    "write to /tmp": lambda: write("/tmp/forage-written"),
    "write to memory": lambda: write("/dev/shm/forage-written"),
    "make a folder": lambda: os.mkdir(PLACE + "/made"),
    "remove a file": lambda: os.remove(PLACE + "/public"),
    "rename a file": lambda: os.rename(OWN, OWN + "2"),
    "change a mode": lambda: os.chmod(OWN, 0o666),
    "change an open file's mode": lambda: os.fchmod(os.open(OWN, os.O_RDONLY), 0o666),
    "change a mode by a new call": lambda: called(FCHMODAT2, HERE, OWN.encode(), 0o666, 0),
    "change a group": lambda: os.chown(OWN, -1, os.getgid()),
    "change times": lambda: os.utime(OWN, (0, 0)),
    "set an attribute": lambda: os.setxattr(OWN, "user.x", b"x"),
    "remove an attribute": lambda: os.removexattr(OWN, "user.kept"),
    "truncate a file": lambda: os.truncate(OWN, 0),
    "truncate it by opening": lambda: os.open(OWN, os.O_TRUNC),
    "truncate it by opening it for nothing": lambda: os.open(OWN, os.O_TRUNC | 3),
    "open it to write": lambda: os.open(OWN, os.O_WRONLY),
    "attach shared memory": lambda: called(SHMAT, SHARED, None, 0),
    "have its parent signalled": lambda: fcntl.fcntl(0, fcntl.F_SETOWN, os.getppid()),
    "change its bounds": lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)),
    "connect": lambda: connect(socket.AF_INET, ("127.0.0.1", PORT)),
    "send a datagram": lambda: connect(socket.AF_INET, ("127.0.0.1", PORT), socket.SOCK_DGRAM),
    "speak to a socket": lambda: connect(socket.AF_UNIX, PLACE + "/socket"),
    "start a process": start,
    "start a thread": lambda: __import__("_thread").start_new_thread(int, ()),
    "trace its parent": lambda: called(PTRACE, 16, os.getppid(), 0, 0),
    "signal its parent": lambda: os.kill(os.getppid(), 0),
    "bound its parent": lambda: called(PRLIMIT, os.getppid(), 7, None, ctypes.create_string_buffer(16)),
    "take 300 MB": lambda: bytearray(300 << 20),
}
done = []
for name, attempt in ATTEMPTS.items():
    try:
        attempt()
        done.append(name)
    except (OSError, MemoryError, RuntimeError, ValueError):
        pass
mask = os.umask(0)
about = {
    "done": done, "cwd": os.getcwd(), "environment": sorted(os.environ), "umask": mask, "nice": os.getpriority(os.PRIO_PROCESS, 0),
    "blocked": len(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
    "descriptors": [fd for fd in range(64) if libc.fcntl(fd, 1) >= 0],
    "session": os.getsid(0) != os.getpid(), "group": os.getpgid(0) == os.getpid(), "user": os.geteuid(),
    "limits": {name: resource.getrlimit(getattr(resource, "RLIMIT_" + name))[1]
               for name in ("AS", "CPU", "CORE", "NOFILE", "FSIZE", "NPROC")},
}
sys.stdin.buffer.read()
about["answered"] = sweep()
words = json.dumps(about).encode().hex()
print("<html><doc><page width='600' height='800'><flow><block>")
print("<line yMin='100' yMax='110'><word yMin='100' yMax='110'>" + words + "</word></line>")
print("</block></flow></page></doc></html>")
"""


@pytest.fixture
def place():
    """A folder that every user may use: where forage is root, its child is not."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        place = pathlib.Path(folder)
        (place / "private").write_text("private")
        (place / "private").chmod(0o600)
        (place / "public").write_text("public")
        own = place / "own"  # of the user that the child is
        own.write_text("own")
        own.chmod(0o600)
        with contextlib.suppress(OSError):  # not every file system has them
            os.setxattr(own, "user.kept", b"kept")
        if os.geteuid() == 0:
            os.chown(own, pwd.getpwnam("nobody").pw_uid, 0)
        home = place / "home"
        home.mkdir()
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(str(place / "socket"))
        (place / "socket").chmod(0o777)
        listening.listen()
        yield place
        listening.close()


@contextlib.contextmanager
def shared_memory():
    """The number of a piece of memory that every process of the machine may attach."""
    libc = ctypes.CDLL(None, use_errno=True)
    number = libc.shmget(0, 4096, 0o1666)
    assert number >= 0
    try:
        yield number
    finally:
        libc.shmctl(number, 0, None)


def state_of(path):
    """All that can be changed about a file."""
    about = path.stat()
    with contextlib.suppress(OSError):  # a mode that was taken away: that is a change, too
        return path.read_text(), about.st_mode, about.st_uid, about.st_gid, about.st_mtime_ns, os.listxattr(path)
    return None


def ask(place, launcher=()):
    """What the stand-in says of itself, and the log."""
    with Web() as web, shared_memory() as shared:
        values = {"PYTHON": PYTHON, "PLACE": str(place), "PORT": str(web.port), "HOME": str(place / "home")}
        values["SHARED"] = str(shared)
        text = STAND_IN
        for name, value in values.items():
            text = text.replace(f'"{name}"', f'"{value}"').replace(f"!{name} ", f"!{value} ")
        tool = place / "pdftotext"
        tool.write_text(text)
        tool.chmod(0o755)
        web.answers["/a.pdf"] = Answer(DOCUMENT, kind="application/pdf")
        path = f"{place}:{os.environ['PATH']}"
        settings = {"FORAGE_ALLOW_PRIVATE_HOSTS": web.host, "FORAGE_CACHE_TTL": 0, "PATH": path, "SOME_SECRET": "x"}
        with Server(launcher=launcher, **settings) as server:
            url = web.url("/a.pdf")
            before = state_of(place / "own")
            result = exchange(server.port, request("POST", "/api/v1/tools/get_content", body={"url": url})).json()
        log = server.log.text()  # all of it: a line may come after the answer
    assert before and state_of(place / "own") == before
    assert "failed" not in result, result["page_content"]
    about = json.loads(bytes.fromhex(result["page_content"].strip()))
    assert set(about["answered"]) <= OPEN[platform.machine()]
    return about, log


def lacking(*numbers):
    """How to start a program on a system that does not have these calls."""
    return [sys.executable, str(ROOT / "tests/blackbox/fakes/without.py"), ",".join(map(str, numbers))]


def old_landlock(version):
    """How to start a program on a system whose Landlock is of this version."""
    return [sys.executable, str(ROOT / "tests/blackbox/fakes/old_landlock.py"), str(version)]


READS = {"read a private file", "read a public file", "read /etc/passwd", "read /proc", "list a folder", "list a home"}
# The numbers of the calls that answer nonsense otherwise than by a refusal: all of them reach this process alone, or read.
OPEN = {
    "x86_64": {
        0, 1, *range(3, 15), 17, 19, 20, 21, 23, 24, 25, 28, 32, 33, 35, 39, 59, 63, 79, 80, 81, 89, 95, 96, 98, 99, 100, 102, 104, 107,
        108, 110, 111, 115, 118, 120, 127, 128, 130, 131, 137, 138, 158, 186, 201, 217, 218, 219, 221, 228, 229, 230, 262, 267,
        269, 270, 271, 273, 292, 309, 318, 332, 334, 436, 439,
    },
    "aarch64": {
        17, 23, 24, 43, 44, 48, 49, 50, 57, 61, 62, 63, 64, 65, 66, 67, 72, 73, 78, 79, 80, 96, 99, 101, 113, 114, 115, 124, 128,
        *range(132, 138), 148, 150, 153, 158, 160, 165, 166, 168, 169, *range(172, 180), 214, 215, 216, 221, 222, 223, 226, 233,
        278, 291, 293, 436, 439,
    },
}  # fmt: skip


def test_it_can_do_nothing(place):
    about, log = ask(place)
    assert about["done"] == []
    assert "pdftotext runs" not in log, "there is nothing to warn of"
    assert (place / "public").exists()


@pytest.mark.parametrize("version", [1, 2])
def test_with_an_old_landlock(place, version):
    """Which stops neither truncation nor, with 1, moving: the filter of calls does."""
    about, log = ask(place, old_landlock(version))
    assert about["done"] == []
    assert "pdftotext runs" not in log


def test_without_landlock(place):
    """Then it has a root folder of its own, or the log says that this system lets nobody make one."""
    about, log = ask(place, lacking(without.LANDLOCK))
    assert not set(about["done"]) - READS
    assert about["done"] == [] or "pdftotext runs without network, but with files in reach" in log


def test_with_neither(place):
    """Then it can read what everybody may, and nothing else; the log and forage doctor say so."""
    launcher = lacking(without.LANDLOCK, without.UNSHARE)
    about, log = ask(place, launcher)
    assert not set(about["done"]) - READS
    assert "read a public file" in about["done"], "the test's own conditions hold"
    assert "pdftotext runs without network, but with files in reach" in log
    shown = run(*launcher[1:], FORAGE, "doctor", "--json", program=launcher[0])
    checks = [check for group in json.loads(shown.stdout)["groups"] for check in group["checks"]]
    found = next(check for check in checks if check["id"] == "pages.pdf")
    assert found["state"] == "warning" and "with files in reach" in found["text"]


def test_what_it_is_given(place):
    about, _ = ask(place)
    assert set(about["environment"]) - {"LC_CTYPE", COUNTS_LINES} == {"LC_ALL", "PATH"}
    assert about["cwd"] == "/" and about["umask"] == 0o077 and about["nice"] >= 5 and about["blocked"] == 0
    assert about["descriptors"] == [0, 1, 2] and about["session"] and about["group"]
    assert about["user"] != 0
    limits = {"AS": 192 << 20, "CPU": 30, "CORE": 0, "NOFILE": 32, "FSIZE": 0, "NPROC": 0}
    assert about["limits"] == limits


SLOW = """#!PYTHON -IS
import time
time.sleep(0.2)
print("<html><doc><page width='600' height='800'><flow><block>")
print("<line yMin='100' yMax='110'><word yMin='100' yMax='110'>Words</word></line>")
print("</block></flow></page></doc></html>")
"""


def running(program):
    """How many processes run this script; their wardens name it too."""
    count = 0
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = path.read_bytes().split(b"\0")
            count += bytes(program) in words and words[0] != b"forage-warden"
    return count


def test_documents_take_turns(place):
    """However many come at once, two to four are read; what each may take is bounded, so all of it is."""
    tool = place / "pdftotext"
    tool.write_text(SLOW.replace("PYTHON", PYTHON))
    tool.chmod(0o755)
    many, most = 12, max(2, min(4, os.cpu_count()))
    with Web() as web, contextlib.ExitStack() as stack:
        web.answers["/a.pdf"] = Answer(DOCUMENT, kind="application/pdf")
        settings = {"FORAGE_ALLOW_PRIVATE_HOSTS": web.host, "FORAGE_CACHE_TTL": 0, "FORAGE_WORKERS": 32}
        server = stack.enter_context(Server(PATH=f"{place}:{os.environ['PATH']}", **settings))
        calls = [stack.enter_context(Connection(server.port)) for _ in range(many)]
        for number, connection in enumerate(calls):
            url = web.url(f"/a.pdf?{number}")
            connection.send(request("POST", "/api/v1/tools/get_content", body={"url": url}))
        done = threading.Event()
        seen = []

        def look():
            while not done.wait(0.01):
                seen.append(running(tool))

        watching = threading.Thread(target=look)
        watching.start()
        try:
            answers = [connection.response().json() for connection in calls]
        finally:
            done.set()
            watching.join()
    assert all("Words" in answer["page_content"] for answer in answers), answers
    report(f"{many} PDFs at once: {max(seen)} children at most")
    assert 1 <= max(seen) <= most
