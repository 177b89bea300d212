"""The wheel with the real pip and uv, the source distribution, and what the build from source says when it cannot."""

import base64
import csv
import hashlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest
from packing import MACHINE, NAMES, ROOT, SERVERS, VERSION, execute, listing, serves

VENV = pathlib.Path(sys.prefix)
UV = VENV / "bin/uv"
STEM = f"forage_mcp-{VERSION}"


@pytest.fixture(scope="session")
def wheel(packed):
    (path,) = packed.glob("*.whl")
    return path


@pytest.fixture
def uv(tmp_path):
    """The environment of a uv that shares nothing with that of the machine, and asks no index."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "UV_CACHE_DIR": str(tmp_path / "cache"),
        "UV_TOOL_DIR": str(tmp_path / "tools"),
        "UV_TOOL_BIN_DIR": str(tmp_path / "bin"),
        "UV_PYTHON": sys.executable,
        "UV_PYTHON_DOWNLOADS": "never",
        "UV_OFFLINE": "1",
        "UV_NO_CONFIG": "1",
    }


def every_name_works(folder):
    for name, arguments in SERVERS.items():
        serves(folder / name, arguments, PATH="/proc/nonexistent")
    helped = execute([folder / "gemini-search-mcp-http", "--help"], {})
    assert helped.startswith("Usage: forage serve")


# ---- what is in the wheel ----


def test_record_names_every_file_with_its_hash_and_size(wheel):
    with zipfile.ZipFile(wheel) as archive:
        rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(archive.read(f"{STEM}.dist-info/RECORD").decode()))}
        assert sorted(rows) == sorted(archive.namelist())
        for name, (digest, size) in rows.items():
            if name.endswith("/RECORD"):
                assert (digest, size) == ("", "")
                continue
            content = archive.read(name)
            expected = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            assert (digest, size) == (f"sha256={expected}", str(len(content))), name


def test_the_tag_is_that_of_the_glibc_it_needs(wheel, tree):
    platform = re.fullmatch(rf"{re.escape(STEM)}-py3-none-manylinux_2_(\d+)_{MACHINE}\.whl", wheel.name)
    assert platform
    with zipfile.ZipFile(wheel) as archive:
        lines = archive.read(f"{STEM}.dist-info/WHEEL").decode().splitlines()
    assert f"Tag: py3-none-manylinux_2_{platform[1]}_{MACHINE}" in lines and "Root-Is-Purelib: false" in lines
    needed = []
    for file in [tree / "bin/forage", *tree.glob("lib/forage/*")]:
        versions = execute(["readelf", "-V", file])
        needed += map(int, re.findall(r"GLIBC_2\.(\d+)", versions))
        needed += [36] if "GLIBC_ABI_DT_RELR" in versions else []
    assert int(platform[1]) == max(needed + [17])


def test_short_relocations_need_a_newer_glibc(tmp_path):
    """They are no symbol with a version, but a mark."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/forage").write_bytes(b"\x7fELF\0GLIBC_2.28\0GLIBC_ABI_DT_RELR\0")
    program = "import sys, wheel; print(wheel.glibc_floor(sys.argv[1]))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "packaging/python")}
    assert execute([sys.executable, "-B", "-c", program, tmp_path], environment) == "36\n"


def test_metadata(wheel):
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read(f"{STEM}.dist-info/METADATA").decode()
    head, _, body = text.partition("\n\n")
    assert "Name: forage-mcp" in head and f"Version: {VERSION}" in head and "License: MIT" in head
    readme = (ROOT / "README.md").read_text()
    assert body.startswith(readme) and re.fullmatch(r"\n<!--[^>]*-->\n", body[len(readme) :])


def test_the_program_is_there_once(wheel):
    with zipfile.ZipFile(wheel) as archive:
        sizes = {info.filename.rpartition("/scripts/")[2]: info.file_size for info in archive.infolist() if "/scripts/" in info.filename}
    assert sorted(sizes) == sorted(NAMES)
    assert all(size < 10000 for name, size in sizes.items() if name != "forage")


# ---- installed ----


def test_pip_installs_it(wheel, tmp_path):
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check"]
    execute([*pip, "--prefix", tmp_path, wheel])
    every_name_works(tmp_path / "bin")


def test_uv_installs_and_removes_it(wheel, uv, tmp_path):
    execute([UV, "venv", "--quiet", tmp_path / "venv"], uv)
    uv["UV_PYTHON"] = str(tmp_path / "venv/bin/python")
    before = listing(tmp_path / "venv")
    execute([UV, "pip", "install", "--quiet", "--no-index", wheel], uv)
    every_name_works(tmp_path / "venv/bin")
    execute([UV, "pip", "uninstall", "--quiet", "forage-mcp"], uv)
    left = [path for path in listing(tmp_path / "venv") if path not in before]
    assert [path for path in left if path != ".lock" and not (tmp_path / "venv" / path).is_dir()] == []  # uv's own lock


def test_uv_tool_puts_every_name_on_path(wheel, uv, tmp_path):
    execute([UV, "tool", "install", "--quiet", "--no-index", wheel], uv)
    assert sorted(os.listdir(tmp_path / "bin")) == sorted(NAMES)
    every_name_works(tmp_path / "bin")
    execute([UV, "tool", "uninstall", "--quiet", "forage-mcp"], uv)
    assert os.listdir(tmp_path / "bin") == []


@pytest.mark.parametrize("name", ["forage-mcp", "kindly-web-search-mcp-server"])
def test_uvx_serves(wheel, uv, name):
    serves(VENV / "bin/uvx", ["--no-index", "--from", str(wheel), name, *SERVERS[name]], **uv)


def test_a_name_without_the_program_says_so(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        path = tmp_path / "gemini-search-mcp"
        path.write_bytes(archive.read(f"{STEM}.data/scripts/gemini-search-mcp"))
    path.chmod(0o755)
    completed = subprocess.run([path], capture_output=True, text=True, check=False)
    assert completed.returncode == 127 and "install the package again" in completed.stderr


# ---- from source ----


def test_the_source_distribution_is_what_git_knows(tmp_path):
    execute([ROOT / "packaging/python/pack", "source", tmp_path])
    with tarfile.open(tmp_path / f"{STEM}.tar.gz") as archive:
        names = {name.partition("/")[2]: archive.getmember(name) for name in archive.getnames()}
    known = {path for path in execute(["git", "-C", ROOT, "ls-files"]).splitlines() if (ROOT / path).is_file()}
    assert set(names) == known | {"PKG-INFO"}
    assert names["scripts/setup"].mode == 0o755 and names["README.md"].mode == 0o644


def call_backend(hook, *arguments, path=None):
    """Calls a hook as pip does: a process of its own, in the source, with the backend's folder on sys.path."""
    program = f"import sys, forage_backend; print(forage_backend.{hook}(*sys.argv[1:]))"
    environment = {"PATH": path or os.environ["PATH"], "PYTHONPATH": str(ROOT / "packaging/python"), "HOME": "/proc/nonexistent"}
    command = [sys.executable, "-B", "-c", program, *map(str, arguments)]
    return subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)


def test_a_wheel_of_the_source(tree, tmp_path):
    """What `pip wheel` and `uvx --from git+...` call, with stand-ins for Meson and Ninja: other tests compile."""
    stand_ins = tmp_path / "stand-ins"
    stand_ins.mkdir()
    put = f'for stage; do :; done; mkdir -p "$stage/usr" && cp -a {tree}/. "$stage/usr"'
    for name, words in (("meson", f'[ "$1" != install ] || {{ {put}; }}'), ("ninja", "true")):
        (stand_ins / name).write_text(f'#!/bin/sh\necho "{name} $*" >>{tmp_path}/steps\n{words}\n')
        (stand_ins / name).chmod(0o755)
    completed = call_backend("build_wheel", tmp_path / "out", path=f"{stand_ins}:{os.environ['PATH']}")
    assert completed.returncode == 0, completed.stderr
    steps = [line.split()[:2] for line in (tmp_path / "steps").read_text().splitlines() if "--version" not in line]
    assert steps == [["meson", "setup"], ["ninja", "-C"], ["meson", "install"]]
    made = tmp_path / "out" / completed.stdout.strip().splitlines()[-1]
    execute([sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check", "--prefix", tmp_path / "prefix", made])
    assert sorted(os.listdir(tmp_path / "prefix/bin")) == sorted(NAMES)
    every_name_works(tmp_path / "prefix/bin")


def test_metadata_without_a_build(tmp_path):
    assert call_backend("prepare_metadata_for_build_wheel", tmp_path).stdout.strip() == f"{STEM}.dist-info"
    assert f"Version: {VERSION}" in (tmp_path / f"{STEM}.dist-info/METADATA").read_text()


def test_meson_comes_from_the_index():
    completed = call_backend("get_requires_for_build_wheel")
    assert completed.returncode == 0 and "meson" in completed.stdout


# The managers of packages, and what the command begins with.
COMMANDS = {
    "apt-get": "sudo apt install gcc libc-ares-dev libc6-dev ",
    "dnf": "sudo dnf install c-ares-devel gcc ",
    "pacman": "sudo pacman -S c-ares curl gcc ",
    "brew": "brew install c-ares curl gcc ",
}


@pytest.mark.parametrize("managers", [[name] for name in COMMANDS] + [[]], ids=lambda names: " ".join(names) or "none")
def test_without_a_compiler(tmp_path, managers):
    """Words, and the one command of this system; all of them where the system is none of these."""
    for name in ["bash", "env", "awk", "sort", "xargs", "dirname", "uname", "echo", "python3"]:
        (tmp_path / name).symlink_to(shutil.which(name))
    for name in managers:
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    completed = call_backend("get_requires_for_build_wheel", path=str(tmp_path))
    assert completed.returncode == 1 and completed.stdout == ""
    assert "Traceback" not in completed.stderr and "forage is a native program" in completed.stderr
    for name, command in COMMANDS.items():
        assert (command in completed.stderr) == (name in managers or not managers), completed.stderr
    assert "meson" not in completed.stderr and "ninja" not in completed.stderr


def test_setup_without_root_and_sudo(tmp_path):
    """It says which command root has to run, instead of ending without a word."""
    for name in ["bash", "env", "awk", "sort", "xargs", "dirname", "uname", "sed", "head"]:
        (tmp_path / name).symlink_to(shutil.which(name))
    for name, prints in {"id": "1000", "apt-get": "", "apt-cache": ""}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\necho {prints}\n")
        (tmp_path / name).chmod(0o755)
    completed = subprocess.run(
        [ROOT / "scripts/setup", "build"], env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert completed.returncode == 1
    assert "this needs root, and there is no sudo; run as root: apt-get" in completed.stdout + completed.stderr, completed
