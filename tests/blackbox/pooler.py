"""PgBouncer for tests, in front of a PostgreSQL server of a test, ended by its id."""

import os
import pathlib
import pwd
import re
import shutil
import subprocess
import tempfile
import time
import urllib.parse

from postgres import Connection, free_port
from programs import PATIENCE, ROOT

NEWER = ROOT / ".deps" / "pgbouncer"  # of a newer Debian, with its libraries (scripts/setup)


def system_command():
    """The system's own; scripts/setup unpacks it where there is none."""
    found = shutil.which("pgbouncer") or "/usr/sbin/pgbouncer"
    assert os.access(found, os.X_OK), "PgBouncer is missing: run scripts/setup test, which brings it"
    return [found]


def newer_command():
    """One that sees to prepared statements: the system's where that does, else the newer one, by its own loader."""
    if sees_to_statements(system_command()):
        return system_command()
    (loader,) = NEWER.glob("lib/*/ld-linux-*.so.*")
    return [str(loader), "--library-path", str(loader.parent), str(NEWER / "sbin" / "pgbouncer")]


def sees_to_statements(command):
    words = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True).stdout
    return tuple(map(int, re.findall(r"\d+", words)[:2])) >= (1, 21)


class Pooler:
    def __init__(self, server, command, mode="transaction", statements=0, size=4):
        self.server = server
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="forage-pool-"))
        self.port = free_port()
        settings = {
            "listen_addr": "127.0.0.1",
            "listen_port": self.port,
            "unix_socket_dir": self.folder,
            "auth_type": "trust",
            "auth_file": self.folder / "users",
            "pool_mode": mode,
            "default_pool_size": size,
            **({"max_prepared_statements": statements} if sees_to_statements(command) else {}),
        }
        (self.folder / "users").write_text('"forage" ""\n')
        lines = [f"{name} = {value}" for name, value in settings.items()]
        databases = f"[databases]\n* = host={server.folder} port={server.port}\n[pgbouncer]\n"
        (self.folder / "ini").write_text(databases + "\n".join(lines) + "\n")
        # It refuses to run as root.
        user = pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else None
        if user is not None:
            for path in (self.folder, *self.folder.iterdir()):
                os.chown(path, user, -1)
        self.log = open(self.folder / "log", "wb")
        self.process = subprocess.Popen(
            [*command, self.folder / "ini"], user=user, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log
        )
        end = time.monotonic() + PATIENCE
        while not self._answers():
            words = (self.folder / "log").read_text(errors="replace")
            assert self.process.poll() is None and time.monotonic() < end, "PgBouncer does not start:\n" + words
            time.sleep(0.02)

    def _answers(self):
        try:
            with Connection(self.folder, self.port, "forage", "postgres") as connection:
                return connection.query("SELECT 1") == [["1"]]
        except (OSError, RuntimeError):
            return False

    def url(self, url):
        """The URL of the server's database, by way of the pooler."""
        return f"postgresql://forage@127.0.0.1:{self.port}{urllib.parse.urlsplit(url).path}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(PATIENCE)
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)
