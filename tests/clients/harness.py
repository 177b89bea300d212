"""What every client test needs: a folder of its own, bounded processes, a running `forage serve`,
and the checks that all clients share."""

import contextlib
import json
import os
import random
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass, field

from fake_model import FINAL_WORDS, TOOL

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FORAGE = os.path.abspath(os.environ.get("FORAGE") or os.path.join(ROOT, "build", "forage"))
PACKAGES = os.path.join(ROOT, ".deps", "clients", "node_modules")
TOKEN = "token-of-the-client-tests"
SECONDS_PER_CLIENT = 180


class Failure(Exception):
    """A check that did not hold, in words."""


def expect(condition, words):
    if not condition:
        raise Failure(words)


# ---- how a client is run, and how it reaches forage ----

STDIO, HTTP, HTTP_TOKEN = "stdio", "http", "http+token"


@dataclass
class Mode:
    """One way to run a client, and the protocol version that it then speaks."""

    name: str
    version: str
    transports: tuple = (STDIO, HTTP, HTTP_TOKEN)
    # Whether it is also run with a broken answer to tools/list, and must then fail.
    broken: bool = True


@dataclass
class Way:
    """The way to forage, as a client is told of it: a command, or an address and its headers."""

    command: list = field(default_factory=list)
    url: str = ""
    headers: dict = field(default_factory=dict)
    # The client is not told of it by us, but by `forage setup`; undone: which is then taken back.
    by_setup: bool = False
    undone: bool = False
    # The client asks for a page: a tool that it must have without looking for it.
    reads: bool = False
    # The client has it by the plugin of plugin/; broken: where what the plugin starts does not start.
    by_plugin: bool = False
    broken: bool = False


# What a client that `forage setup` has told of forage is started with: the file refers to these.
SETUP_VARIABLES = {"SERPER_API_KEY": "key-of-the-client-tests", "MY_FORAGE_TOKEN": TOKEN}


def set_up(client, way, folder):
    """Lets `forage setup` write the way into the configuration of a client whose home is the folder."""
    environment = {**bare_environment(folder), **SETUP_VARIABLES}
    os.makedirs(environment["XDG_DATA_HOME"])
    if way.command:
        # One word, as the path of a program is; the arguments are those that forage writes.
        wrapper = os.path.join(folder, "forage-relay")
        with open(wrapper, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\nexec {shlex.join(way.command[:-1])} \"$@\"\n")
        os.chmod(wrapper, 0o755)
        arguments = ["--command", wrapper]
    else:
        arguments = ["--http", way.url, "--token", "MY_FORAGE_TOKEN"]
    for words in [arguments] + [["--undo"]] * way.undone:
        command = [FORAGE, "setup", client, "--yes", *words]
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS_PER_CLIENT, check=False
        )
        expect(done.returncode == 0, f"forage setup ended with {done.returncode}\n{done.stderr}")
        told = done.stdout + done.stderr
        expect(not any(value in told for value in SETUP_VARIABLES.values()), "it told a key\n" + told)
    texts = []
    for path, _, names in os.walk(folder):
        texts += [os.path.join(path, name) for name in names]
    for path in texts:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        expect(
            not any(value in text for value in SETUP_VARIABLES.values()), f"it wrote a key into {path}"
        )


def put_plugin(way, folder):
    """A copy of the marketplace and its plugin, for the client to install, and forage where the plugin looks for it, with a
    key in the one file where it belongs. The environment that finds it."""
    for part in (".claude-plugin", "plugin"):
        shutil.copytree(os.path.join(ROOT, part), os.path.join(folder, "marketplace", part))
    os.makedirs(os.path.join(folder, "bin"))
    wrapper = os.path.join(folder, "bin", "forage")
    with open(wrapper, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n" + ("exit 127" if way.broken else f'exec {shlex.join(way.command[:-1])} "$@"') + "\n")
    os.chmod(wrapper, 0o755)
    settings = os.path.join(folder, ".config", "forage")
    os.makedirs(settings)
    with open(os.path.join(settings, "forage.env"), "w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(f"SERPER_API_KEY={SETUP_VARIABLES['SERPER_API_KEY']}\n")
    return {"PATH": os.path.join(folder, "bin") + os.pathsep + os.environ["PATH"]}


def prepare(command, folder, environment):
    """Runs what a user types before: it must succeed."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={**bare_environment(folder), **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS_PER_CLIENT,
        check=False,
    )
    words = f"before the client, {command[1:]} ended with {done.returncode}\n{done.stdout}{done.stderr}"
    expect(done.returncode == 0, words)


def relay_command(recording, breaking, settings=(), arguments=()):
    """Settings are told on the command line: some clients hand no variable on."""
    relay = [sys.executable, "-B", os.path.join(HERE, "relay_stdio.py")]
    program = ["env", *settings, FORAGE, "mcp", *arguments] if settings else [FORAGE, "mcp", *arguments]
    return relay + (["--break"] if breaking else []) + [recording, *program]


# ---- processes ----


@dataclass
class Launch:
    """How to start a client; the environment is added to the bare one of its folder."""

    command: list
    environment: dict = field(default_factory=dict)
    stdin: str = ""


@dataclass
class Outcome:
    status: int
    stdout: str
    stderr: str

    @property
    def output(self):
        return self.stdout + self.stderr

    def tail(self, lines=25):
        return "\n".join(self.output.strip().splitlines()[-lines:])


def installed(*parts):
    """A file below node_modules; one that is missing is a failure, never a reason to skip."""
    path = os.path.join(PACKAGES, *parts)
    expect(os.path.exists(path), f"there is no {path}; scripts/setup clients installs it")
    return path


def program(name):
    """The program that a package installs under this name."""
    return installed(".bin", name)


def bare_environment(folder):
    """Nothing of the user's: no key, no configuration. Whatever a client wants outside this machine
    is sent to a port where nobody listens: it fails at once, on every machine."""
    nowhere = "http://127.0.0.1:9"
    return {
        "PATH": os.environ["PATH"],
        "HOME": folder,
        "TMPDIR": folder,
        "XDG_CONFIG_HOME": os.path.join(folder, ".config"),
        "XDG_CACHE_HOME": os.path.join(folder, ".cache"),
        "XDG_DATA_HOME": os.path.join(folder, ".local/share"),
        "LANG": "C.UTF-8",
        "NO_COLOR": "1",
        "HTTP_PROXY": nowhere,
        "HTTPS_PROXY": nowhere,
        "NO_PROXY": "127.0.0.1,localhost",
    }


def end_group(process):
    """Ends a process that was started as the leader of a group, and what it left behind."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def run_client(launch, folder, seconds=SECONDS_PER_CLIENT):
    """Runs it in its folder until it ends; one that takes too long is a failure."""
    # Files rather than pipes: a grandchild that outlives the client would keep a pipe open.
    out, err = (os.path.join(folder, name) for name in ("client.stdout", "client.stderr"))
    text = os.path.join(folder, "client.stdin")
    with open(text, "w", encoding="utf-8") as file:
        file.write(launch.stdin)
    with open(text, "rb") as stdin, open(out, "wb") as stdout, open(err, "wb") as stderr:
        process = subprocess.Popen(
            launch.command,
            cwd=folder,
            env={**bare_environment(folder), **launch.environment},
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
        try:
            status = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            end_group(process)
    texts = []
    for path in (out, err):
        with open(path, encoding="utf-8", errors="replace") as file:
            texts.append(file.read())
    outcome = Outcome(status, *texts)
    expect(status is not None, f"took longer than {seconds} s\n{outcome.tail()}")
    return outcome


def unused_port():
    """Below the ports that the kernel gives to whoever asks for any, so that nobody else gets it meanwhile."""
    while True:
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", random.randrange(20000, 32000)))
            return probe.getsockname()[1]


class ForageServer:
    """`forage serve` on a free port of loopback, with one token or none."""

    def __init__(self, folder, token=None, settings=()):
        self.folder = folder
        self.token = token
        self.settings = settings

    def __enter__(self):
        self.port = unused_port()
        environment = {**bare_environment(self.folder), "MCP_SERVER_PORT": str(self.port)}
        environment.update(setting.split("=", 1) for setting in self.settings)
        if self.token:
            environment["FORAGE_TOKENS"] = "client-tests:" + self.token
        with open(os.path.join(self.folder, "forage.log"), "wb") as log:
            self.process = subprocess.Popen(
                [FORAGE, "serve"],
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            self._await_health()
        except Failure:
            end_group(self.process)
            raise
        return self

    def _await_health(self):
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        deadline = time.monotonic() + SECONDS_PER_CLIENT
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                opener.open(f"http://127.0.0.1:{self.port}/health", timeout=5).close()
                return
            except OSError:
                time.sleep(0.05)
        raise Failure("forage serve did not come up\n" + self.log())

    def log(self):
        with open(
            os.path.join(self.folder, "forage.log"), encoding="utf-8", errors="replace"
        ) as file:
            return "".join(file.readlines()[-15:])

    def __exit__(self, kind, *_):
        self.process.terminate()
        try:
            self.process.wait(timeout=SECONDS_PER_CLIENT)
        except subprocess.TimeoutExpired:
            pass
        end_group(self.process)
        if kind is None:
            status = self.process.returncode
            expect(status == 0, f"forage serve ended with {status}\n{self.log()}")


# ---- what must hold for every client ----


def expect_listed(recording):
    """forage got a tools/list and answered it with its tools."""
    expect(recording.sent("tools/list"), "forage received no tools/list, but " + recording.story())
    names = [tool["name"] for result in recording.results("tools/list") for tool in result["tools"]]
    expect(TOOL in names, f"forage answered tools/list without {TOOL}: {names}")


def expect_called(recording):
    """forage got a call of its status tool and answered it with a good result."""
    calls = [
        call for call in recording.sent("tools/call") if call["message"]["params"]["name"] == TOOL
    ]
    expect(calls, f"forage received no tools/call of {TOOL}, but " + recording.story())
    for result in recording.results("tools/call"):
        expect(not result.get("isError"), f"forage answered tools/call with an error: {result}")
    expect(recording.results("tools/call"), "forage did not answer tools/call with a result")


def expect_key(recording):
    """forage has the key that the client's file only refers to: one of its tools is ready by it."""
    tools = json.loads(recording.results("tools/call")[-1]["content"][0]["text"])["tools"]
    ready = [tool["ready"] for tool in tools if tool["name"] == "web_search"]
    expect(ready == [True], f"the key did not come to forage: web_search is ready: {ready}")


def expect_context(recording, context):
    """forage was told which client it works for."""
    told = json.loads(recording.results("tools/call")[-1]["content"][0]["text"]).get("context")
    expect(told == context, f"forage was told that its client is {told}")


def expect_skill(model):
    """The model was told of the skill: clients show it the description, and the text when it asks for it."""
    with open(os.path.join(ROOT, "plugin", "skills", "forage", "SKILL.md"), encoding="utf-8") as file:
        description = next(line for line in file if line.startswith("description: "))[13:].partition(",")[0]
    expect(any(description in request for request in model.requests), "the model was not told of the skill")


def expect_version(recording, version):
    """The client spoke this version of the protocol, and only this, and forage agreed to it."""
    expect(recording.versions() == [version], f"not in {version}, but " + recording.story())
    agreed = {result["protocolVersion"] for result in recording.results("initialize")}
    expect(agreed <= {version}, f"forage answered {version} with {agreed}")


def expect_success(outcome):
    expect(outcome.status == 0, f"the client ended with {outcome.status}\n{outcome.tail()}")


def expect_conversation(model, recording, outcome):
    """The model was offered the tool, asked for it, and got forage's own answer back."""
    expect(any(name.endswith(TOOL) for name in model.offered), f"the model was not offered {TOOL}")
    expect(model.results, "the model never got the tool's result\n" + outcome.tail())
    version = recording.server_version()
    expect(
        version and version in model.results[-1], f"the result lacks {version}: {model.results[-1]}"
    )
    expect(FINAL_WORDS in outcome.stdout, "the model's last words do not show\n" + outcome.tail())
