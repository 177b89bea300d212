"""Nothing secret leaves: a watch over everything that the programs under test say.

Every program that a test starts gets a value of our own for each secret variable that it knows (it says itself which
they are), unless the test sets the variable or, with None, wants it unset. These values, the canaries, have a part in
common that is random and occurs nowhere else. What tests set themselves is watched too. Standard output, the log, answers
over HTTP, folders that a program was given, and what it sends to web pages pass look(); conftest.py fails the run when
anything was seen. A caller's token may come back to a client that sent it: the program does not look for tokens in content,
since that would tell which guess is one. A secret that is split over two lines, or compressed, would not be seen.
"""

import base64
import functools
import json
import os
import pathlib
import secrets
import subprocess
import threading

# scripts/test gives every stage the same one, so that it can look for it in their logs; the processes of one run share it.
CANARY = os.environ.setdefault("FORAGE_TEST_CANARY", "canary" + secrets.token_hex(12))

# With tokens, the server does not let in anybody without one, and with a database it keeps everything there; tests that
# want them set them.
CHANGES_EVERYTHING = {"FORAGE_TOKENS", "FORAGE_DATABASE_URL"}

# Shorter ones occur by chance.
LEAST_LENGTH = 12

TOKENS = ("FORAGE_TOKENS", "FORAGE_TOKENS_FILE")


@functools.cache
def secret_variables(program):
    """The names of the variables that the program itself calls secret."""
    environment = {"PATH": os.environ["PATH"], "HOME": "/proc/nonexistent"}
    completed = subprocess.run([program, "config", "--json"], env=environment, capture_output=True, check=True)
    return [one["name"] for one in json.loads(completed.stdout)["variables"] if one["secret"]]


def canary(name):
    """A value for a secret variable; other spellings of it keep the common part."""
    return f"{name.lower()}+{CANARY}/="


def canaries(program):
    return {name: canary(name) for name in secret_variables(program) if name not in CHANGES_EVERYTHING}


def spellings(text):
    """A text, and what base64 makes of it wherever in a longer text it stands."""
    yield text.encode()
    for shift in range(3):
        coded = base64.b64encode(b"\0" * shift + text.encode())
        # The first and the last characters depend on the neighbours.
        yield coded[4 if shift else 0 : len(text) // 3 * 4 - 4]


class Watch:
    """What is looked for, and where it was seen."""

    def __init__(self):
        self.lock = threading.Lock()
        self.sought = {}  # bytes -> whose they are
        self.seen = []
        self.looked_at = 0  # bytes
        for spelling in spellings(CANARY):
            self.sought[spelling] = "a secret variable"

    def learn(self, program, settings):
        """What a test sets is a secret as well."""
        for name in secret_variables(program):
            for item in str(settings.get(name) or "").split(","):
                self.add(item.rpartition(":")[2].strip(), name)
        path = settings.get("FORAGE_TOKENS_FILE")
        if path and os.path.isfile(path):
            for line in pathlib.Path(path).read_text(errors="replace").splitlines():
                self.add(line.rpartition(":")[2].strip(), "FORAGE_TOKENS_FILE")

    def add(self, value, name):
        if len(value) >= LEAST_LENGTH and value.isascii():
            with self.lock:
                self.sought[value.encode()] = name

    def tokens_in(self, data):
        """The callers' tokens that a client sends."""
        with self.lock:
            return {spelling for spelling, name in self.sought.items() if name in TOKENS and spelling in data}

    def look(self, data, where, sent=frozenset()):
        """Remembers what is in the data that should not be. The tokens that the other side sent itself may be."""
        with self.lock:
            self.looked_at += len(data)
            for spelling, name in self.sought.items():
                at = data.find(spelling)
                if at >= 0 and spelling not in sent:
                    around = data[max(at - 80, 0) : at + len(spelling) + 20]
                    test = os.environ.get("PYTEST_CURRENT_TEST", "between tests")
                    self.seen.append(f"the value of {name} in {where}, {test}: {around!r}")

    def look_into(self, settings):
        """The folders that a program was given: its cache, its configuration, its data."""
        for name, value in settings.items():
            # What a test wrote itself is no finding.
            if name in ("HOME", "XDG_CONFIG_HOME") or not os.path.isdir(str(value)):
                continue
            # os.walk passes over a folder that goes while it looks, as those of two programs at once do.
            for folder, _, files in os.walk(str(value)):
                for path in (pathlib.Path(folder, file) for file in files):
                    try:
                        if path.is_file() and not path.is_symlink():
                            self.look(path.read_bytes(), f"{name}: {path.name}")
                    except OSError:
                        continue  # it has just gone


WATCH = Watch()
look = WATCH.look


class Tail:
    """Looks at a stream piece by piece, and at what a piece and the one before have in common."""

    def __init__(self, where):
        self.where = where
        self.rest = b""
        self.sent = set()

    def heard(self, data):
        """What was sent to whoever writes this stream."""
        self.sent |= WATCH.tokens_in(data)

    def look(self, data):
        look(self.rest + data, self.where, self.sent)
        self.rest = (self.rest + data)[-256:]
