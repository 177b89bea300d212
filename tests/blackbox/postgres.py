"""A real PostgreSQL server for tests: made, started, stopped, restarted and taken away by whoever needs one.

    def test_x(postgres):                  # the fixture: one server for each process of a run
        url = postgres.database()          # a fresh, empty database: FORAGE_DATABASE_URL=url
        rows = postgres.query(url, "SELECT 1")

It lives in a temporary folder with a port and a socket of its own, and is fast rather than careful with the
disk; Postgres(careful=True) is a careful one, for tests of what survives. A test that stops or restarts the
server should start one of its own: `with Postgres() as server`.
"""

import contextlib
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
import urllib.parse

import pytest
from programs import PATIENCE, ROOT

PASSWORD = "a-secret-of-the-test-server"

# Who may connect: "forage" as it is, "guarded" with a password.
ACCESS = """
local all forage trust
local replication forage trust
local all guarded scram-sha-256
host all forage 127.0.0.1/32 trust
host replication forage 127.0.0.1/32 trust
host all guarded 127.0.0.1/32 scram-sha-256
"""

HASTY = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


def programs_folder():
    """Where initdb and postgres are: scripts/setup unpacks them unless the system has them."""
    places = [
        *(ROOT / ".deps" / "postgres").glob("usr/lib/postgresql/*/bin"),
        *pathlib.Path("/usr/lib/postgresql").glob("*/bin"),
    ]
    on_path = shutil.which("initdb")
    if on_path:
        places.append(pathlib.Path(on_path).resolve().parent)
    places = [place for place in places if os.access(place / "initdb", os.X_OK) and (place / "postgres").exists()]
    assert places, "PostgreSQL is missing: run scripts/setup test, which brings it"
    return places[-1]


def reachable(path, user):
    """Whether a stranger may enter every folder down to the path."""
    return user is None or all(parent.stat().st_mode & 0o001 for parent in path.parents)


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Connection:
    """Just enough of the protocol for a question and its rows: texts, or None."""

    def __init__(self, folder, port, user, database):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(f"{folder}/.s.PGSQL.{port}")
        self.stream = self.socket.makefile("rb")
        words = ["user", user, "database", database, "client_encoding", "UTF8"]
        body = struct.pack("!i", 196608) + b"".join(word.encode() + b"\0" for word in words) + b"\0"
        self.socket.sendall(struct.pack("!i", len(body) + 4) + body)
        self._answer()

    def query(self, sql):
        body = sql.encode() + b"\0"
        self.socket.sendall(b"Q" + struct.pack("!i", len(body) + 4) + body)
        return self._answer()

    def _answer(self):
        rows, problem = [], None
        while True:
            kind, length = struct.unpack("!ci", self._read(5))
            body = self._read(length - 4)
            if kind == b"D":
                rows.append(self._row(body))
            elif kind == b"E":
                problem = body.replace(b"\0", b" ").decode(errors="replace")
            elif kind == b"Z":
                if problem:
                    raise RuntimeError(problem)
                return rows

    def _read(self, count):
        data = self.stream.read(count)
        if len(data) < count:
            raise ConnectionError("the server closed the connection")
        return data

    @staticmethod
    def _row(body):
        (count,), at, row = struct.unpack_from("!h", body), 2, []
        for _ in range(count):
            (length,) = struct.unpack_from("!i", body, at)
            at += 4
            row.append(None if length < 0 else body[at : at + length].decode())
            at += max(length, 0)
        return row

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stream.close()
        self.socket.close()


class Postgres:
    """A server of its own, ended by its id."""

    def __init__(self, careful=False, **settings):
        self.settings = {**({} if careful else HASTY), "max_connections": 200, "shared_buffers": "32MB", **settings}
        # PostgreSQL refuses to run as root.
        self.user = pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else None
        self.process = None
        self.made = 0
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="forage-pg-"))
        try:
            self._make()
            self.start()
        except BaseException:
            self.close()
            raise

    def _run(self, *words):
        completed = subprocess.run(
            words, user=self.user, cwd=self.folder, capture_output=True, timeout=4 * PATIENCE, check=False
        )
        assert completed.returncode == 0, (completed.stdout + completed.stderr).decode(errors="replace")

    def _make(self):
        self.programs = programs_folder()
        if not reachable(self.programs, self.user):
            # It finds its other files by where it is itself.
            whole = self.programs.parents[4]
            shutil.copytree(whole, self.folder / "programs", symlinks=True)
            self.programs = self.folder / "programs" / self.programs.relative_to(whole)
        if self.user is not None:
            os.chown(self.folder, self.user, -1)
        initdb = [self.programs / "initdb", "--no-sync", "--username=forage", "--auth=trust", "--encoding=UTF8"]
        # Its order of texts is that of a language, where it can be (since 15): forage must not depend on it.
        (version,) = re.findall(rb"(\d+)", subprocess.check_output([initdb[0], "--version"]))[:1]
        order = ["--locale-provider=icu", "--icu-locale=en"] if int(version) >= 15 else []
        self._run(*initdb, "--locale=C.UTF-8", *order, "-D", self.folder / "data")
        (self.folder / "data" / "pg_hba.conf").write_text(ACCESS)

    def start(self):
        """Starts it, the first time on a free port, later on the same one; waits until it answers."""
        assert self.process is None
        if not self.made:
            self.port = free_port()
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": self.port,
            "unix_socket_directories": self.folder,
            "logging_collector": "off",
            **self.settings,
        }
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        self.log = open(self.folder / "log", "ab")
        self.process = subprocess.Popen(
            [self.programs / "postgres", "-D", self.folder / "data", *options],
            user=self.user,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=self.log,
            start_new_session=True,
        )
        end = time.monotonic() + PATIENCE
        while not self._answers():
            alive = self.process.poll() is None
            if not alive or time.monotonic() > end:
                raise AssertionError("PostgreSQL does not start:\n" + self.log_text())
            time.sleep(0.02)
        if not self.made:
            self.execute(f"CREATE ROLE guarded LOGIN PASSWORD '{PASSWORD}'")

    def _answers(self):
        try:
            return self.execute("SELECT 1") == [["1"]]
        except (OSError, RuntimeError):
            return False

    def stop(self, how=signal.SIGINT):
        """SIGINT: connections are cut, the data is written. SIGQUIT: at once, as in a crash; the next start
        mends it. SIGTERM waits until everybody has left."""
        if self.process is not None:
            if self.process.poll() is None:
                self.process.send_signal(how)
            self.process.wait(PATIENCE)
            self.process = None
            self.log.close()

    def restart(self, how=signal.SIGINT):
        self.stop(how)
        self.start()

    def set(self, name, value):
        """Changes a setting while it runs."""
        self.execute(f"ALTER SYSTEM SET {name} = '{value}'")
        self.execute("SELECT pg_reload_conf()")

    def log_text(self):
        return (self.folder / "log").read_text(errors="replace")

    def database(self, owner="forage"):
        """The URL of a fresh, empty database. The owner "guarded" has to give the password."""
        self.made += 1
        name = f"test_{self.made}"
        self.execute(f"CREATE DATABASE {name} OWNER {owner}")
        return self.url(name, owner)

    def url(self, name, user="forage", tcp=True):
        password = f":{PASSWORD}" if user == "guarded" else ""
        if tcp:
            return f"postgresql://{user}{password}@127.0.0.1:{self.port}/{name}"
        return f"postgresql://{user}{password}@/{name}?host={urllib.parse.quote(str(self.folder))}&port={self.port}"

    def query(self, url, sql):
        """The rows of a statement in the database of the URL."""
        with self.connect(url) as connection:
            return connection.query(sql)

    def connect(self, url):
        """A connection to the database of the URL, whose transactions are the test's own."""
        return Connection(self.folder, self.port, "forage", urllib.parse.urlsplit(url).path[1:])

    def execute(self, sql):
        with Connection(self.folder, self.port, "forage", "postgres") as connection:
            return connection.query(sql)

    def close(self):
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Standby(Postgres):
    """A copy of a server, which follows it until it takes over."""

    def __init__(self, primary, port=None, **settings):
        self.primary = primary
        self.port = port or free_port()
        super().__init__(careful=True, **{"application_name": "standby", **settings})

    def _make(self):
        self.programs = self.primary.programs
        self.made = 1  # what the server has, its copy has too
        if self.user is not None:
            os.chown(self.folder, self.user, -1)
        words = ["-h", self.primary.folder, "-p", str(self.primary.port), "-U", "forage", "-D", self.folder / "data"]
        self._run(self.programs / "pg_basebackup", *words, "--no-sync", "--checkpoint=fast", "--write-recovery-conf")
        # The name by which the server knows it, for synchronous_standby_names.
        conninfo = f"host={self.primary.folder} port={self.primary.port} user=forage application_name=standby"
        with open(self.folder / "data" / "postgresql.auto.conf", "a") as file:
            file.write(f"primary_conninfo = '{conninfo}'\n")

    def has_all(self):
        """Whether it has everything that its server has written."""
        (written,) = self.primary.execute("SELECT pg_current_wal_flush_lsn()")[0]
        return self.execute(f"SELECT pg_last_wal_replay_lsn() >= '{written}'") == [["t"]]

    def follows(self):
        """Whether its server waits for it at each commit."""
        return self.primary.execute("SELECT sync_state FROM pg_stat_replication") == [["sync"]]

    def take_over(self):
        assert self.execute("SELECT pg_promote(true, 60)") == [["t"]], self.log_text()


def either(primary, standby, url):
    """The URL of a database on whichever of the two takes changes."""
    name = urllib.parse.urlsplit(url).path[1:]
    hosts = f"127.0.0.1:{primary.port},127.0.0.1:{standby.port}"
    return f"postgresql://forage@{hosts}/{name}?target_session_attrs=read-write"


class Cutter:
    """Stands between a program and the server, and cuts a connection that has touched a table around a commit."""

    def __init__(self, port, forwards, table):
        self.port_behind = port
        self.forwards = forwards  # whether the server gets to see the commit that is cut
        self.table = table.encode()
        self.armed = False
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):  # the listener is closed at the end
            while True:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.port_behind))
                cut = threading.Event()
                for source, target in ((client, server), (server, client)):
                    threading.Thread(target=self._carry, args=(source, target, cut), daemon=True).start()

    def _carry(self, source, target, cut):
        touched = False
        with contextlib.suppress(OSError):  # either end may leave, and the other half of the pair shuts both
            while (data := source.recv(65536)) and not cut.is_set():
                touched = touched or self.table in data
                if self.armed and touched and b"COMMIT\0" in data:
                    self.armed = False
                    cut.set()  # what the server says to it is not passed on
                    if not self.forwards:
                        break
                target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):  # it is shut already
                end.shutdown(socket.SHUT_RDWR)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


@pytest.fixture(scope="session")
def postgres():
    """A server that the tests of one process share; each asks it for a database of its own."""
    with Postgres() as server:
        yield server
