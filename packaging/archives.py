"""Archives that come out the same, byte for byte, in any folder and at any time: names in order, nobody's user, one
time for all files, which is SOURCE_DATE_EPOCH or else that of the last commit."""

import gzip
import io
import os
import pathlib
import re
import subprocess
import tarfile
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The first second that a zip file can name, for a tree that git does not know.
EARLIEST = 315532800

BUILD = (ROOT / "meson.build").read_text(encoding="utf-8")
# The names on PATH that every package gives: the program's, and those that meson.build makes links for.
PROGRAM = "forage"
OTHER_NAMES = re.findall(r"'([^']+)'", re.search(r"foreach name : \[([^]]*)\]\s+install_symlink", BUILD)[1])

# What of a tree a package carries in which nobody looks for manual pages and completions.
CARRIED = re.compile(r"bin/forage$|lib/|share/forage/|share/doc/forage/notices/")

ELF_MACHINES = {62: "x86_64", 183: "aarch64"}


def version():
    """The version that meson.build names: there is no other place for it."""
    return re.search(r"^\s*version: '([^']+)'", BUILD, re.M)[1]


def about():
    """The names under which forage is published."""
    lines = (ROOT / "packaging" / "about").read_text(encoding="utf-8").splitlines()
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))


def forge(repository):
    """What registries call the place of a repository: github for https://github.com/..."""
    return re.match(r"https://(?:www\.)?(\w+)\.", repository)[1]


def epoch():
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if not given and (ROOT / ".git").exists():
        command = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
        try:
            given = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        except (OSError, subprocess.CalledProcessError):
            given = None
    return max(int(given or EARLIEST), EARLIEST)


def machine_of(program):
    """What an ELF file is for, by its header."""
    with open(program, "rb") as file:
        head = file.read(20)
    if head[:4] != b"\x7fELF" or len(head) < 20:
        raise SystemExit(f"{program} is no ELF program")
    number = int.from_bytes(head[18:20], "little")
    if number not in ELF_MACHINES:
        raise SystemExit(f"{program} is for a machine that has no package ({number})")
    return ELF_MACHINES[number]


def files_below(folder):
    """The files of a folder as (name, path), in order of their names. Links are taken for what they point to."""
    paths = sorted(path for path in pathlib.Path(folder).rglob("*") if path.is_file())
    return [(path.relative_to(folder).as_posix(), path) for path in paths]


class Entry:
    """A file of an archive: its name there, its bytes, and whether it can be run."""

    def __init__(self, name, content, executable=False):
        self.name = name
        self.content = content.encode() if isinstance(content, str) else content
        self.mode = 0o755 if executable else 0o644

    @classmethod
    def of_file(cls, name, path):
        return cls(name, pathlib.Path(path).read_bytes(), os.access(path, os.X_OK))


def write_tar(path, entries):
    """A .tar.gz, or npm's .tgz, which is the same."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for entry in sorted(entries, key=lambda one: one.name):
            info = tarfile.TarInfo(entry.name)
            info.size, info.mode, info.mtime = len(entry.content), entry.mode, epoch()
            archive.addfile(info, io.BytesIO(entry.content))
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(plain.getvalue())


def write_zip(path, entries):
    """A zip file with the entries in their order; a wheel wants some of them last."""
    stamp = time.gmtime(epoch())[:6]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for entry in entries:
            info = zipfile.ZipInfo(entry.name, stamp)
            info.create_system = 3  # the modes are those of Unix
            info.external_attr = (0o100000 | entry.mode) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, entry.content)
