"""What becomes of the children that forage starts, and of theirs: sessions of their own do not save them, nor does a
forage that is killed; and no folder stays behind."""

import contextlib
import fcntl
import json
import os
import pathlib
import shutil
import signal
import tempfile

import pytest
from fake_web import Answer, Web
from fakes import worker as play
from fakes.worker import Worker
from messages import cancelled, tool_call
from programs import COUNTS_LINES, Stdio, wait_until
from research import Place, start_call

ORPHAN = "gate-orphan"
RUNS_ON = [*play.begin(), ["orphan", ORPHAN], ["child", None], *play.search(1, "q"), play.hang()]
LEAVES = play.answer(play.result(), [["orphan", ORPHAN], ["gate", ORPHAN]])


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def parent_of(pid):
    return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def group_of(pid):
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None


def members(group):
    pids = [int(path.name) for path in pathlib.Path("/proc").glob("[0-9]*")]
    return [pid for pid in pids if is_alive(pid) and group_of(pid) == group]


def orphan_of(worker):
    """The number of the process that a worker has left in a session of its own."""
    path = worker.folder / ORPHAN
    wait_until(path.exists)
    return int(path.read_text())


def folders(place):
    return list(place.temporary.glob("forage-*"))


def begin(place, actions, name="worker"):
    """A client with a worker at work; both, and the id of the call."""
    worker = Worker(place.folder / name, actions)
    client = Stdio(**place.settings(GEMINI_CLI_PATH=worker.path))
    client.handshake()
    id = start_call(client, "search", {"query": "anything"})
    return client, worker, id


def test_an_orphan_ends_with_a_call_that_ends_well(place):
    client, worker, id = begin(place, LEAVES)
    with client:
        assert client.answer(id)["result"]["structuredContent"]["success"]
        orphan = orphan_of(worker)
        wait_until(lambda: not is_alive(orphan) and not folders(place), 10)


def test_an_orphan_ends_with_a_cancelled_call(place):
    client, worker, id = begin(place, RUNS_ON)
    with client:
        orphan = orphan_of(worker)
        assert is_alive(orphan)
        client.send(cancelled(id))
        wait_until(lambda: not is_alive(orphan) and not folders(place), 10)


def test_an_orphan_ends_with_the_server(place):
    client, worker, _ = begin(place, RUNS_ON)
    with client:
        orphan = orphan_of(worker)
        client.signal(signal.SIGTERM)
        assert client.wait() == 0
        assert not is_alive(orphan) and not folders(place)


def test_what_a_worker_is_given(place):
    """Nothing of how forage runs; its variables are in test_research."""
    client, worker, id = begin(place, LEAVES)
    with client:
        assert client.answer(id)["result"]["structuredContent"]["success"]
        run = worker.wait_runs(1)[0]
        assert run["descriptors"] == [0, 1, 2] and run["signals"] == [0, 0]
        assert run["umask"] == 0o077 and run["nice"] >= 5 and run["cwd"] == str(place.config)
        # In forage's session a lower priority counts: processors are shared among sessions first.
        assert run["group"] == run["pid"] and run["session"] == os.getsid(client.pid)


BROWSER = """#!PYTHON -IS
import json, os, signal
about = {
    "environment": sorted(os.environ), "cwd": os.getcwd(), "umask": os.umask(0), "user": os.geteuid(),
    "nice": os.getpriority(os.PRIO_PROCESS, 0), "blocked": len(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
    "descriptors": sorted(int(name) for name in os.listdir("/proc/self/fd"))[:-1],
    "apart": [os.readlink("/proc/self/fd/%d" % fd).split(":")[0] for fd in range(5)],
}
with open("PLACE/about.new", "w") as file:
    json.dump(about, file)
os.rename("PLACE/about.new", "PLACE/about")
"""


def test_what_a_browser_is_given():
    python = shutil.which("python3", path="/usr/bin:/bin")
    if not python:
        pytest.skip("the stand-in needs the system's own python3")
    with tempfile.TemporaryDirectory() as folder, Web() as web:
        os.chmod(folder, 0o777)
        place = pathlib.Path(folder)
        (place / "browser").write_text(BROWSER.replace("PYTHON", python).replace("PLACE", folder))
        (place / "browser").chmod(0o755)
        web.answers["/page"] = Answer(b"<html></html>")
        settings = {"FORAGE_ALLOW_PRIVATE_HOSTS": web.host, "FORAGE_CACHE_TTL": 0, "SOME_SECRET": "x"}
        with Stdio(FORAGE_BROWSER_PATH=place / "browser", FORAGE_BROWSER_ATTEMPTS=1, **settings) as client:
            client.handshake()
            id = client.new_id()
            client.send(tool_call("get_content", {"url": web.url("/page"), "render": "always"}, id))
            client.answer(id)
        about = json.loads((place / "about").read_text())
    assert set(about["environment"]) - {"LC_CTYPE", COUNTS_LINES} == {"HOME", "LANG", "PATH", "TMPDIR"}
    assert about["cwd"] == "/" and about["umask"] == 0o077 and about["nice"] >= 5 and about["blocked"] == 0
    assert about["descriptors"] == [0, 1, 2, 3, 4] and about["user"] != 0
    assert about["apart"] == ["/dev/null", "/dev/null", "pipe", "pipe", "pipe"]


def kill(client, *more):
    """Kills forage and whoever else is named at once."""
    os.kill(client.pid, signal.SIGSTOP)
    for pid in more:
        os.kill(pid, signal.SIGKILL)
    os.kill(client.pid, signal.SIGKILL)
    client.process.wait()
    client.end = lambda: None


def test_everybody_ends_with_a_forage_that_is_killed(place):
    client, worker, _ = begin(place, RUNS_ON)
    with client:
        everybody = [orphan_of(worker), *(run["pid"] for run in worker.wait_runs(1))]
        assert folders(place)
        kill(client)
    wait_until(lambda: not any(map(is_alive, everybody)) and not folders(place), 10)


@contextlib.contextmanager
def held(path):
    """A program on a disk that hangs: this process has a lease on its file, so that exec waits for 45 seconds. What it yields
    tells whether a process has tried."""
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    before = signal.signal(signal.SIGIO, signal.SIG_IGN)
    with path.open("r+") as file:
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        yield lambda: fcntl.fcntl(file, fcntl.F_GETLEASE) != fcntl.F_WRLCK
    signal.signal(signal.SIGIO, before)


def naming(path):
    """The processes that name a file among their arguments, as wardens and what they start do."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # a process that has just ended
            found += [process.name] * (os.fsencode(path) in (process / "cmdline").read_bytes())
    return found


def test_a_start_that_hangs_ends_with_a_forage_that_is_killed():
    with tempfile.TemporaryDirectory() as folder, Web() as web:
        os.chmod(folder, 0o755)
        program = pathlib.Path(folder, "pdftotext")
        web.answers["/a.pdf"] = Answer(b"%PDF-1.4\n", kind="application/pdf")
        settings = {"FORAGE_ALLOW_PRIVATE_HOSTS": web.host, "FORAGE_CACHE_TTL": 0, "PATH": f"{folder}:{os.environ['PATH']}"}
        with held(program) as was_tried, Stdio(**settings) as client:
            client.handshake()
            client.send(tool_call("get_content", {"url": web.url("/a.pdf")}, client.new_id()))
            wait_until(was_tried)
            assert naming(program)
            kill(client)
            wait_until(lambda: not naming(program), 30)  # before exec goes on by itself


def test_folders_that_nobody_has_any_more(place):
    """Where the warden was killed as well, the next run removes what is left, and nothing that is in use."""
    client, worker, _ = begin(place, RUNS_ON)
    with client:
        orphan = orphan_of(worker)
        run = worker.wait_runs(1)[0]
        wait_until(lambda: len(members(run["group"])) == 2)
        kill(client, parent_of(run["pid"]))
        wait_until(lambda: not is_alive(run["pid"]))
        for pid in (orphan, *members(run["group"])):
            os.kill(pid, signal.SIGKILL)
        left = folders(place)
        assert len(left) == 2, "a folder and its lock"
    strangers = place.temporary / "forage-research-of-somebody-else"
    strangers.mkdir()
    client, worker, id = begin(place, RUNS_ON)
    with client:
        orphan_of(worker)
        assert not [path for path in left if path.exists()]
        in_use = set(folders(place)) - {strangers}
        other, _, other_id = begin(place, LEAVES, "other")
        with other:
            assert other.answer(other_id)["result"]["structuredContent"]["success"]
        assert set(folders(place)) == {strangers, *in_use} and len(in_use) == 2
        client.send(cancelled(id))
    assert folders(place) == [strangers]
