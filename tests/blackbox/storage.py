"""What tests put between a program and its system (tests/shim/): a disk that forgets what was not synced, for tests that cut
the power; one that fails or is slow; a clock that somebody sets."""

import ctypes
import os
import re
import shutil
import struct
import subprocess
import time

from programs import ROOT


def build_shim(folder, name="lost_writes"):
    library = folder / f"{name}.so"
    source = ROOT / "tests" / "shim" / f"{name}.c"
    compiler = os.environ.get("CC", "cc").split()
    options = ["-std=gnu17", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]
    subprocess.run([*compiler, *options, "-pthread", "-o", library, source], check=True)
    return library


def runtime_of(program):
    """The libraries of a sanitizer, which want to be loaded before everything else."""
    output = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return re.findall(r"=> (\S*/lib[atu]b?san\.so\S*)", output)


def preloaded(program, library):
    return " ".join([*runtime_of(program), str(library)])


class Disk:
    """A folder, and the image of what of it is on the disk."""

    def __init__(self, library, folder, image):
        self.folder = folder
        self._library = library
        self._image = image
        self._functions = ctypes.CDLL(str(library))
        folder.mkdir(exist_ok=True)
        self.sync()

    def settings(self, program):
        """What a program needs to work on this disk."""
        return {
            "LD_PRELOAD": preloaded(program, self._library),
            "LOST_WRITES_ROOT": self.folder,
            "LOST_WRITES_IMAGE": self._image,
        }

    def sync(self):
        """All that is there now is on the disk."""
        shutil.rmtree(self._image, ignore_errors=True)
        self._image.mkdir()
        self._functions.lost_writes_adopt(str(self.folder).encode(), str(self._image).encode())

    def fail_power(self):
        """What was not synced is gone. Nobody may be using the disk."""
        kept = self.folder.with_name(self.folder.name + ".kept")
        shutil.rmtree(kept, ignore_errors=True)
        self._restore(self._key(self.folder), kept)
        shutil.rmtree(self.folder)
        kept.rename(self.folder)
        self.sync()

    def _key(self, path):
        key = ctypes.create_string_buffer(64)
        assert self._functions.lost_writes_key(str(path).encode(), key)
        return key.value.decode()

    def _restore(self, key, folder):
        folder.mkdir()
        names = self._image / "names" / key
        for line in names.read_text().splitlines() if names.exists() else []:
            kind, inner, name = line.split(" ", 2)
            if kind == "d":
                self._restore(inner, folder / name)
                continue
            content = self._image / "data" / inner
            (folder / name).write_bytes(content.read_bytes() if content.exists() else b"")


class Clock:
    """The clocks of the programs that have its settings. They are right until they are moved."""

    def __init__(self, folder):
        self._library = build_shim(folder, "moved_clock")
        self._file = folder / "clock"
        self._wall = self._passed = 0
        self._write()

    def settings(self, program):
        return {"LD_PRELOAD": preloaded(program, self._library), "MOVED_CLOCK": self._file}

    def now(self):
        """What the wall clock says, in seconds since 1970."""
        return time.time() + self._wall + self._passed

    def set(self, moment):
        """Somebody sets the wall clock to this moment; None: to the right one."""
        self._wall = 0 if moment is None else round(moment - time.time() - self._passed)
        self._write()

    def pass_time(self, seconds):
        """Time goes by for all clocks."""
        self._passed += seconds
        self._write()

    def _write(self):
        moved = struct.pack("qq", self._wall + self._passed, self._passed)
        mode = "r+b" if self._file.exists() else "w+b"
        with open(self._file, mode) as file:  # in place: programs have it mapped
            file.write(moved)


class BadDisk:
    """A folder on a disk that has moods; it is good until it is turned."""

    def __init__(self, folder):
        self.folder = folder / "data"
        self._library = build_shim(folder, "bad_disk")
        self._mood = folder / "mood"
        self._mood.write_bytes(bytes(12))

    def settings(self, program):
        return {"LD_PRELOAD": preloaded(program, self._library), "BAD_DISK_ROOT": self.folder, "BAD_DISK_MOOD": self._mood}

    def turn(self, writing=0, syncing=0, waits_ms=0):
        """From now on writing and syncing meet these errors (0: none), and take so much longer."""
        with open(self._mood, "r+b") as file:  # in place: programs have it mapped
            file.write(struct.pack("iii", writing, syncing, waits_ms))
