"""The Python wheel: a tree of an installed forage, its other names, and what Python wants to know about it.

The program goes among the scripts, so that what pip and uv put on PATH is the program itself: no Python runs when it
starts. A wheel holds no links, so the other names are tiny programs (alias.c). What the program looks for beside itself
(lib/forage, share/forage) goes below the environment's prefix, where it has the same place relative to it.
"""

import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
import archives  # noqa: E402
from archives import OTHER_NAMES, PROGRAM, ROOT, Entry  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
DISTRIBUTION = "forage_mcp"
METADATA = """\
Metadata-Version: 2.1
Name: forage-mcp
Version: {version}
Summary: Search for AI agents: an MCP server for web search, page reading, research, answers and memory
License: MIT
Keywords: mcp,mcp-server,model-context-protocol,search,web-search,ai-agents,memory
Classifier: Development Status :: 4 - Beta
Classifier: Environment :: Console
Classifier: License :: OSI Approved :: MIT License
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: C
Classifier: Topic :: Internet :: WWW/HTTP :: Indexing/Search
Requires-Python: >=3.8
Description-Content-Type: text/markdown

{readme}
<!-- The MCP registry knows by this line that the package is ours. mcp-name: {server} -->
"""

# The aliases use nothing of the C library, and two builds of one give the same bytes.
ALIAS_FLAGS = [
    "-std=gnu17", "-O1", "-Wall", "-Wextra", "-Werror", "-ffreestanding", "-fno-stack-protector", "-fno-pie",
    "-fno-asynchronous-unwind-tables", "-static", "-nostdlib", "-s", "-Wl,--build-id=none", "-Wl,-z,noexecstack",
]  # fmt: skip
COMPILERS = {"x86_64": "x86_64-linux-gnu-gcc", "aarch64": "aarch64-linux-gnu-gcc"}


def stem():
    return f"{DISTRIBUTION}-{archives.version()}"


def metadata():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return METADATA.format(version=archives.version(), readme=readme, server=archives.about()["server"])


def compiler_for(machine):
    """CC where it is set; else the machine's own compiler for its own programs, and for others one named after them."""
    given = os.environ.get("CC", "").split()
    return given or ["cc" if machine == os.uname().machine else COMPILERS[machine]]


def alias(machine):
    """The bytes of the program that starts forage under another name; None where there is none for this machine."""
    if sys.platform != "linux" or machine not in COMPILERS:
        return None
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "alias")
        subprocess.run([*compiler_for(machine), *ALIAS_FLAGS, "alias.c", "-o", made], cwd=HERE, check=True)
        if archives.machine_of(made) != machine:
            raise SystemExit(f"{compiler_for(machine)[0]} does not compile for {machine}: name one that does in CC")
        return pathlib.Path(made).read_bytes()


def glibc_floor(tree):
    """The oldest glibc (its minor version) that has all that the programs and libraries of a tree ask for."""
    floor = 17  # what the oldest tag that is in use stands for
    for name, path in archives.files_below(tree):
        if name.startswith(("bin/", "lib/")):
            content = path.read_bytes()
            floor = max([floor, *map(int, re.findall(rb"\0GLIBC_2\.(\d+)(?:\.\d+)?(?=\0)", content))])
            if b"\0GLIBC_ABI_DT_RELR\0" in content:
                floor = max(floor, 36)
    return floor


def record(entries, folder):
    """RECORD: every file of the wheel with its hash and its size."""
    name = f"{folder}/RECORD"
    lines = []
    for entry in entries:
        digest = base64.urlsafe_b64encode(hashlib.sha256(entry.content).digest()).rstrip(b"=").decode()
        lines.append(f"{entry.name},sha256={digest},{len(entry.content)}\n")
    return Entry(name, "".join(lines) + f"{name},,\n")


def information(tag):
    """The folder of metadata, without RECORD."""
    folder = f"{stem()}.dist-info"
    lines = ["Wheel-Version: 1.0", "Generator: forage", "Root-Is-Purelib: false", f"Tag: {tag}"]
    return [
        Entry(f"{folder}/METADATA", metadata()),
        Entry(f"{folder}/WHEEL", "\n".join(lines) + "\n"),
        Entry.of_file(f"{folder}/licenses/LICENSE", ROOT / "LICENSE"),
    ]


def pack(tree, machine, platform, out):
    """Writes the wheel of a tree into the folder `out`; its file name."""
    data = f"{stem()}.data"
    program = Entry.of_file(f"{data}/scripts/{PROGRAM}", os.path.join(tree, "bin", PROGRAM))
    other = alias(machine) or program.content
    entries = [program]
    entries += [Entry(f"{data}/scripts/{name}", other, executable=True) for name in OTHER_NAMES]
    entries += [
        Entry.of_file(f"{data}/data/{name}", path)
        for name, path in archives.files_below(tree)
        if name.startswith(("lib/", "share/"))
    ]
    tag = f"py3-none-{platform}"
    entries += information(tag)
    entries.append(record(entries, f"{stem()}.dist-info"))
    name = f"{stem()}-{tag}.whl"
    os.makedirs(out, exist_ok=True)
    archives.write_zip(os.path.join(out, name), entries)
    return name


def source_files():
    """What the source distribution holds: what git knows, or all of an unpacked one."""
    if (ROOT / "PKG-INFO").exists() and not (ROOT / ".git").exists():
        made = re.compile(r"(build|\.deps|dist|PKG-INFO$)")
        return [(name, path) for name, path in archives.files_below(ROOT) if not made.match(name)]
    command = ["git", "-C", str(ROOT), "ls-files", "-z"]
    names = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode().split("\0")
    return [(name, ROOT / name) for name in sorted(names) if name and (ROOT / name).is_file()]


def pack_source(out):
    """Writes the source distribution into the folder `out`; its file name."""
    entries = [Entry.of_file(f"{stem()}/{name}", path) for name, path in source_files()]
    entries.append(Entry(f"{stem()}/PKG-INFO", metadata()))
    name = f"{stem()}.tar.gz"
    os.makedirs(out, exist_ok=True)
    archives.write_tar(os.path.join(out, name), entries)
    return name


def unpack_metadata(folder):
    """Writes the metadata alone, for whoever wants to know before anything is built; the name of its folder."""
    for entry in information("py3-none-any"):
        path = pathlib.Path(folder, entry.name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(entry.content)
    return f"{stem()}.dist-info"
