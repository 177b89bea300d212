"""The disk that forgets, tested before anything is tested with it."""

import os
import subprocess
import sys

import pytest
from storage import Disk, build_shim

# What a program does to the folder in argv[1], and what is left of it when the power fails afterwards.
STEPS = {
    "nothing is synced": ("write('a', b'one')", {}),
    "a file, but not its name": ("write('a', b'one', sync=True)", {}),
    "a name, but not its file": ("write('a', b'one'); sync_folder()", {"a": b""}),
    "both": ("write('a', b'one', sync=True); sync_folder()", {"a": b"one"}),
    "what came after": (
        "fd = write('a', b'one', sync=True); sync_folder(); os.pwrite(fd, b'TWO', 0)",
        {"a": b"one"},
    ),
    "synced again": (
        "fd = write('a', b'one', sync=True); sync_folder(); os.pwrite(fd, b'TWO', 2); os.fdatasync(fd)",
        {"a": b"onTWO"},
    ),
    "made shorter": (
        "fd = write('a', b'long', sync=True); sync_folder(); os.ftruncate(fd, 1); os.fsync(fd)",
        {"a": b"l"},
    ),
    "made shorter, not synced": (
        "fd = write('a', b'long', sync=True); sync_folder(); os.ftruncate(fd, 1)",
        {"a": b"long"},
    ),
    "renamed, not synced": (
        "write('a', b'old', sync=True); sync_folder(); write('b', b'new', sync=True); rename('b', 'a')",
        {"a": b"old"},
    ),
    "renamed": (
        "write('a', b'old', sync=True); sync_folder(); write('b', b'new', sync=True); rename('b', 'a');"
        "sync_folder()",
        {"a": b"new"},
    ),
    "removed, not synced": ("write('a', b'one', sync=True); sync_folder(); remove('a')", {"a": b"one"}),
    "removed": ("write('a', b'one', sync=True); sync_folder(); remove('a'); sync_folder()", {}),
    "what was there before": ("os.pwrite(os.open(path('old'), os.O_RDWR), b'X', 0)", {"old": b"there"}),
}

PROGRAM = """
import os, sys
root = sys.argv[1]
path = lambda name: os.path.join(root, name)
rename = lambda a, b: os.rename(path(a), path(b))
remove = lambda name: os.remove(path(name))
def write(name, data, sync=False):
    fd = os.open(path(name), os.O_RDWR | os.O_CREAT)
    os.write(fd, data)
    if sync:
        os.fsync(fd)
    return fd
def sync_folder():
    fd = os.open(root, os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)
"""


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    return build_shim(tmp_path_factory.mktemp("shim"))


@pytest.mark.parametrize("what", STEPS)
def test_only_what_was_synced_is_left(shim, tmp_path, what):
    steps, left = STEPS[what]
    folder = tmp_path / "disk"
    folder.mkdir()
    if "old" in left:
        (folder / "old").write_bytes(left["old"])
    disk = Disk(shim, folder, tmp_path / "image")
    settings = {name: str(value) for name, value in disk.settings(sys.executable).items()}
    subprocess.run([sys.executable, "-c", PROGRAM + steps, folder], env={**os.environ, **settings}, check=True)
    disk.fail_power()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == left
