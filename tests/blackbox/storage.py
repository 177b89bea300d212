"""A disk that forgets what was not synced (tests/shim/lost_writes.c), for tests that cut the power."""

import ctypes
import os
import re
import shutil
import subprocess

from programs import ROOT

SOURCE = ROOT / "tests" / "shim" / "lost_writes.c"


def build_shim(folder):
    library = folder / "lost_writes.so"
    compiler = os.environ.get("CC", "cc").split()
    options = ["-std=gnu17", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]
    subprocess.run([*compiler, *options, "-pthread", "-o", library, SOURCE], check=True)
    return library


def runtime_of(program):
    """The libraries of a sanitizer, which want to be loaded before everything else."""
    output = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return re.findall(r"=> (\S*/lib[atu]b?san\.so\S*)", output)


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
            "LD_PRELOAD": " ".join([*runtime_of(program), str(self._library)]),
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
