"""Other users of the machine, and files that they leave in our way; and what a crash leaves behind."""

import os
import pathlib
import resource
import signal
import stat
import subprocess

import pytest
from fake_web import Answer, Web
from http_client import exchange, request
from programs import FORAGE, Server, environment
from reading import page
from secrets_watch import CANARY

OURS = 65534
STRANGER = 65533
AS_US = ["setpriv", f"--reuid={OURS}", f"--regid={OURS}", "--clear-groups"]
ROOT = os.geteuid() == 0
needs_root = pytest.mark.skipif(not ROOT, reason="only root can make the files of two users")


@pytest.fixture(name="shared")
def shared_folder(tmp_path):
    """A folder that everybody may write to, as /tmp is one."""
    for folder in (tmp_path, *tmp_path.parents):
        if folder != pathlib.Path("/") and folder.stat().st_uid == os.geteuid() and ROOT:
            folder.chmod(folder.stat().st_mode | 0o011)
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    return folder


def run_as_us(*arguments, **settings):
    completed = subprocess.run(
        [*AS_US, FORAGE, *map(str, arguments)], env=environment(settings), capture_output=True, text=True, check=False
    )
    return completed.returncode, completed.stdout + completed.stderr


def give(path, user):
    os.chown(path, user, user, follow_symlinks=False)


@needs_root
def test_a_data_folder_of_somebody_else(shared):
    folder = shared / "forage"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    give(folder, STRANGER)
    code, said = run_as_us("memory", "add", "Sail at dawn.", FORAGE_DATA_DIR=folder)
    assert code == 1 and "belongs to another user" in said and list(folder.iterdir()) == []


@needs_root
@pytest.mark.parametrize("name", ["memory.db", "memory.db-wal", "memory.db-shm"])
@pytest.mark.parametrize("linked", [False, True])
def test_files_that_somebody_left_in_the_data_folder(shared, name, linked):
    """Whoever made them could read, or forge, what is written there."""
    planted = shared / name
    precious = shared.parent / "precious"
    precious.write_text("ours")
    give(precious, OURS)
    if linked:
        planted.symlink_to(precious)
    else:
        planted.touch()
        planted.chmod(0o666)
    give(planted, STRANGER)
    code, said = run_as_us("memory", "add", "Sail at dawn.", FORAGE_DATA_DIR=shared)
    assert code == 1 and "belongs to another user" in said
    assert precious.read_text() == "ours" and (linked or planted.read_bytes() == b"")
    planted.unlink()
    code, said = run_as_us("memory", "add", "Sail at dawn.", FORAGE_DATA_DIR=shared)
    assert code == 0, said


@needs_root
def test_a_cache_behind_somebodys_link(shared):
    """It would fill, and clear out, a folder of ours that it is not for."""
    documents = shared.parent / "documents"
    documents.mkdir(mode=0o700)
    (documents / "letter").write_text("ours")
    give(documents, OURS)
    link = shared / "cache"
    link.symlink_to(documents)
    give(link, STRANGER)
    with Web() as web:
        web.answers["/page"] = Answer(page())
        settings = {"FORAGE_ALLOW_PRIVATE_HOSTS": web.host, "FORAGE_CACHE_DIR": link}
        code, said = run_as_us("read", web.url("/page"), **settings)
        assert code == 0 and "a link that another user made" in said
        assert [file.name for file in documents.iterdir()] == ["letter"]
        give(link, OURS)
        assert run_as_us("read", web.url("/page"), **settings)[0] == 0
        assert len(list(documents.iterdir())) == 2, "our own link is followed"


@pytest.mark.parametrize("command", ["export", "backup"])
def test_a_file_in_the_way_of_an_export(tmp_path, command):
    data = {"FORAGE_DATA_DIR": tmp_path / "data"}
    precious = tmp_path / "precious"
    precious.write_text("ours")
    (tmp_path / "link").symlink_to(precious)
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    add = [FORAGE, "memory", "add", "Sail at dawn."]
    subprocess.run(add, env=environment(data), check=True, capture_output=True)
    for name in ("link", "dangling", "precious"):
        taken = [FORAGE, "memory", command, str(tmp_path / name)]
        assert subprocess.run(taken, env=environment(data), check=False, capture_output=True).returncode == 1
    assert precious.read_text() == "ours" and not (tmp_path / "nothing").exists()


def test_files_are_their_owners_alone(tmp_path):
    """Whatever the umask says."""
    data, cache = tmp_path / "data", tmp_path / "cache"
    settings = {"FORAGE_DATA_DIR": data, "FORAGE_CACHE_DIR": cache, "FORAGE_HISTORY": "on"}
    launcher = ["/bin/sh", "-c", 'umask 0 && exec "$@"', "sh"]
    with Web() as web, Server(launcher=launcher, FORAGE_ALLOW_PRIVATE_HOSTS=web.host, **settings) as server:
        web.answers["/page"] = Answer(page())
        for tool, body in (("memory_add", {"text": "Sail."}), ("get_content", {"url": web.url("/page")})):
            assert exchange(server.port, request("POST", f"/api/v1/tools/{tool}", None, body)).status == 200
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (data, cache, *data.iterdir(), *cache.iterdir())}
        assert {"memory.db", "memory.db-wal", "records.sqlite"} <= set(modes)
        assert {mode for name, mode in modes.items() if name not in ("data", "cache")} == {0o600}
        assert modes["data"] == modes["cache"] == 0o700
    for command in ("export", "backup"):
        file = tmp_path / command
        written = [*launcher, FORAGE, "memory", command, str(file)]
        subprocess.run(written, env=environment(settings), check=True, capture_output=True)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


# ---- crashes ----


def crash(folder, **settings):
    """Lets a server crash where cores may be written; whether one was."""
    folder.mkdir()
    allowing = ["/bin/sh", "-c", f'ulimit -c unlimited; cd "{folder}" && exec "$@"', "sh"]
    server = Server(launcher=allowing, **settings)
    limit = resource.prlimit(server.pid, resource.RLIMIT_CORE)
    server.signal(signal.SIGABRT)
    _, status = os.waitpid(server.pid, 0)
    server.process.returncode = -os.WTERMSIG(status)
    server.kill()
    return os.WCOREDUMP(status), limit


def test_a_crash_leaves_no_core(tmp_path):
    """Which would hold the keys: the one of a program that may leave one does."""
    dumped, limit = crash(tmp_path / "usual", FORAGE_CORE_DUMPS="no")
    assert not dumped and limit == (0, 0) and list((tmp_path / "usual").iterdir()) == []
    dumped, _ = crash(tmp_path / "debugged", FORAGE_CORE_DUMPS="yes")
    for core in (tmp_path / "debugged").iterdir():
        assert dumped and CANARY.encode() in core.read_bytes()
        core.unlink()


@pytest.mark.parametrize("allowed", [False, True])
def test_others_of_the_same_user_cannot_look_into_it(shared, allowed):
    """Such as a worker, which must not find the keys of other services in the environment of who started it."""
    user = AS_US if ROOT else []
    reachable = subprocess.run([*user, FORAGE, "version"], capture_output=True, check=False).returncode == 0
    assert reachable, "the program must be where other users can run it"
    with Server(launcher=user, FORAGE_CORE_DUMPS="yes" if allowed else "no") as server:
        for file in ("environ", "mem", "fd"):
            look = ["ls" if file == "fd" else "head", f"/proc/{server.pid}/{file}"]
            look = [*look[:1], *(["-c", "1"] if file != "fd" else []), *look[1:]]
            done = subprocess.run([*user, *look], capture_output=True, check=False)
            # Nobody reads the first byte of memory; that it may be opened tells enough.
            opened = b"ermission denied" not in done.stderr
            assert opened == allowed, (file, done)
