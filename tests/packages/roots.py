"""Bare Debian roots for the tests of the packages: one base is made, and every case gets a layer of its own above it.

Commands run in a root with a process table of their own, so that nothing that they start outlives them, and with an
environment that holds only the ways to the machine's package registries. Mounts are made in the mount namespace of the
whole check (scripts/check-packages starts itself in one), so that they end with it.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import threading

SUITE = "bookworm"
PATIENCE = 60
# What leads to the package registries from here, and must lead there from a root too.
CARRIED = re.compile(r"((https?|no)_proxy|pip_index_url|pip_default_timeout|npm_config_registry|uv_default_index)", re.I)
CERTIFICATES = pathlib.Path("/etc/ssl/certs/ca-certificates.crt")
CARRIED_CERTIFICATES = "/etc/host-certificates.crt"


class Failure(Exception):
    """What a case found wrong, in words."""


def check(good, words):
    if not good:
        raise Failure(words)


def mirror():
    """The mirror that this machine's apt uses for its main suite."""
    line = "$(REPO_URI) $(RELEASE) $(COMPONENT)"
    command = ["apt-get", "indextargets", "--no-release-info", "--format", line, "Created-By: Packages"]
    for row in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines():
        address, release, component = row.split()
        if component == "main" and not re.search("security|updates|backports", release):
            return address
    raise Failure("this machine's apt names no Debian mirror")


def ways():
    """The variables of a command in a root."""
    variables = {name: value for name, value in os.environ.items() if CARRIED.fullmatch(name)}
    if CERTIFICATES.exists():
        for name in ("SSL_CERT_FILE", "PIP_CERT", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO"):
            variables[name] = CARRIED_CERTIFICATES
    return variables


def make_base(folder):
    """The minimal system, made once; the mark that is written last says that it is whole."""
    base = folder / SUITE
    if (base / ".whole").exists():
        return base
    shutil.rmtree(base, ignore_errors=True)
    base.mkdir(parents=True)
    with open(folder / "debootstrap.log", "wb") as log:
        command = ["debootstrap", "--variant=minbase", SUITE, str(base), mirror()]
        done = subprocess.run(command, stdout=log, stderr=log, check=False).returncode == 0
    check(done, f"debootstrap failed: see {folder}/debootstrap.log")
    for name in ("resolv.conf", "hosts"):
        shutil.copy(f"/etc/{name}", base / "etc" / name)
    if CERTIFICATES.exists():
        # Under a name of its own: a bare system has no bundle.
        shutil.copy(CERTIFICATES, base / CARRIED_CERTIFICATES[1:])
    settings = subprocess.run(["apt-config", "dump", "Acquire"], capture_output=True, text=True, check=True).stdout
    kept = [line for line in settings.splitlines() if re.search("proxy|valid-until", line, re.I)]
    (base / "etc/apt/apt.conf.d/99host").write_text("".join(line + "\n" for line in kept))
    command = ["chroot", str(base), "apt-get", "update", "-qq"]
    check(subprocess.run(command, check=False).returncode == 0, "apt-get update failed in the base")
    (base / ".whole").touch()
    return base


class Root:
    """One case's own root: a context manager."""

    def __init__(self, base, folder):
        self.folder = folder
        self.path = folder / "root"
        self.base = base
        self.variables = {"HOME": "/root-of-the-test", "LANG": "C.UTF-8", "PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", **ways()}

    def __enter__(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        for name in ("root", "upper", "work"):
            (self.folder / name).mkdir(parents=True)
        layers = f"lowerdir={self.base},upperdir={self.folder}/upper,workdir={self.folder}/work"
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o", layers, str(self.path)], check=True)
        (self.path / "root-of-the-test").mkdir()
        return self

    def __exit__(self, *_):
        subprocess.run(["umount", "--lazy", str(self.path)], check=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def command(self, words, user=None, **variables):
        chosen = {**self.variables, **variables}
        settings = [f"{name}={value}" for name, value in chosen.items() if value is not None]
        whose = [f"--userspec={user}"] if user else []
        apart = ["unshare", "--pid", "--fork", "--kill-child", f"--mount-proc={self.path}/proc"]
        return [*apart, "chroot", *whose, str(self.path), "env", "-i", *settings, *map(str, words)]

    def run(self, *words, patience=900, **options):
        """Runs a command to its end; its status and output."""
        return subprocess.run(
            self.command(words, **options), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=patience, check=False
        )

    def must(self, *words, **options):
        """Runs a command that must succeed; what it printed."""
        done = self.run(*words, **options)
        check(done.returncode == 0, f"{' '.join(map(str, words))} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-3000:]}")
        return done.stdout

    def apt(self, *packages):
        self.must("apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages, DEBIAN_FRONTEND="noninteractive")

    def copy_in(self, source, target):
        target = self.path / target.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        if pathlib.Path(source).is_dir():
            shutil.copytree(source, target, symlinks=True)
        else:
            shutil.copy(source, target)

    def start(self, *words, **options):
        return Running(self.command(words, **options))


class Running:
    """A program that runs in a root, and its client over standard input and output: a context manager."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.said = []
        self.reader = threading.Thread(target=self._read_log, daemon=True)
        self.spoke = threading.Condition()
        self.reader.start()

    def _read_log(self):
        for line in self.process.stderr:
            with self.spoke:
                self.said.append(line.decode(errors="replace"))
                self.spoke.notify_all()

    def log(self):
        return "".join(self.said)[-3000:]

    def wait_log(self, pattern):
        """The match of the first line of the log that has one."""
        found = None

        def look():
            nonlocal found
            found = next((match for match in map(re.compile(pattern).search, self.said) if match), None)
            return found or self.process.poll() is not None

        with self.spoke:
            self.spoke.wait_for(look, PATIENCE)
        check(found, f"it did not log {pattern!r}:\n{self.log()}")
        return found

    def ask(self, method, params, patience=PATIENCE):
        """One request of MCP, and its result."""
        message = {"jsonrpc": "2.0", "id": method, "method": method, "params": params}
        guard = threading.Timer(patience, self.process.kill)
        guard.start()
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = b""
        finally:
            guard.cancel()
        check(line, f"no answer to {method}; the log:\n{self.log()}")
        answer = json.loads(line)
        check("result" in answer, f"{method} was answered {line.decode()[:500]}")
        return answer["result"]

    def handshake(self, patience=PATIENCE):
        """What a client says first; the names of the tools. The first answer may take long: something is built."""
        who = {"name": "check-packages", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": who}, patience)
        self.process.stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        names = [tool["name"] for tool in self.ask("tools/list", {})["tools"]]
        check("get_content" in names and "memory_add" in names, f"these tools: {names}")
        return names

    def call(self, tool, **arguments):
        """The structured result of a tool."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        check(not result.get("isError"), f"{tool} failed: {json.dumps(result)[:1000]}")
        return result

    def close(self):
        """Leaves, as a client does: the program must end by itself, and well."""
        self.process.stdin.close()
        status = self.process.wait(PATIENCE)
        check(status == 0, f"it ended with {status}:\n{self.log()}")

    def terminate(self):
        """Ends it as systemd does; it is the only child of the process that we know."""
        child = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        os.kill(int(child[0]), signal.SIGTERM)
        status = self.process.wait(PATIENCE)
        check(status == 0, f"it ended with {status} on SIGTERM:\n{self.log()}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()  # and with it all that it started
        self.process.wait()
        self.reader.join(PATIENCE)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                stream.close()
            except BrokenPipeError:
                pass
