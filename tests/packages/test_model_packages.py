"""The packages of the model, made of a small one: the same bytes each time, and the program finds what each of them puts there."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tarfile
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FORAGE = pathlib.Path(os.environ.get("FORAGE", ROOT / "build" / "forage"))
TINY = ROOT / "tests" / "unit" / "data" / "tiny.model"
NAME = "forage-model-e5-small"
FILE = "share/forage/models/e5-small-v2-int8.model"


def copy_packaging(folder):
    """The packaging of a model that is small; `about` names its sum."""
    for name in ("packaging", "scripts"):
        shutil.copytree(ROOT / name, folder / name)
    for name in ("LICENSE", "meson.build"):
        shutil.copy(ROOT / name, folder / name)
    about = folder / "packaging" / "model" / "about"
    lines = [line for line in about.read_text().split("\n") if not line.startswith("file_sha256")]
    about.write_text("\n".join([*lines, f"file_sha256: {hashlib.sha256(TINY.read_bytes()).hexdigest()}", ""]))
    return folder


def pack(sources, model, out, umask, zone):
    environment = dict(os.environ, SOURCE_DATE_EPOCH="1700000000", TZ=zone)
    return subprocess.run([sources / "packaging" / "model" / "pack", model, out], env=environment, umask=umask,
                          capture_output=True, text=True, check=False)  # fmt: skip


@pytest.fixture(scope="module", name="made")
def made_twice(tmp_path_factory):
    outs = []
    for name, umask, zone in (("one", 0o022, "UTC"), ("another-folder", 0o077, "Pacific/Auckland")):
        folder = tmp_path_factory.mktemp(name)
        result = pack(copy_packaging(folder), TINY, folder / "out", umask, zone)
        assert result.returncode == 0, result.stderr
        outs.append(folder / "out")
    return outs


def meaning(program, home):
    # A copy of the program is not where its libraries are.
    libraries = ROOT / ".deps" / "usr" / "lib" / f"{os.uname().machine}-linux-gnu"
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": str(libraries)}
    completed = subprocess.run([program, "doctor", "--json"], env=environment, capture_output=True, text=True, check=False)
    groups = json.loads(completed.stdout)["groups"]
    return next(check for group in groups for check in group["checks"] if check["id"] == "kept.model")


def put_program(folder):
    folder.mkdir(parents=True)
    return shutil.copy(FORAGE, folder / "forage")


def test_the_same_bytes_each_time(made):
    names = sorted(path.name for path in made[0].iterdir())
    assert names == sorted([
        f"{NAME}-1.0.0.tar.gz", f"{NAME}-1.0.0.tgz", f"{NAME}_1.0.0_all.deb", "forage_model_e5_small-1.0.0-py3-none-any.whl",
    ])  # fmt: skip
    for name in names:
        assert (made[0] / name).read_bytes() == (made[1] / name).read_bytes(), name


def test_another_model_is_refused(tmp_path):
    sources = copy_packaging(tmp_path / "sources")
    (tmp_path / "other").write_bytes(TINY.read_bytes() + b"more")
    result = pack(sources, tmp_path / "other", tmp_path / "out", 0o022, "UTC")
    assert result.returncode == 1 and "is not what packaging/model/about names" in result.stderr


def test_the_tarball_over_a_prefix(made, tmp_path):
    program = put_program(tmp_path / "bin")
    missing = meaning(program, tmp_path)
    assert missing["state"] == "missing"
    path = f"{tmp_path / 'bin'}:/usr/bin:/bin"
    subprocess.run(missing["mend"], shell=True, cwd=made[0], env={"PATH": path}, check=True)
    assert meaning(program, tmp_path)["state"] == "ok"
    words = (tmp_path / "share" / "doc" / NAME / "LICENSE").read_text()
    assert "Apache License" in words and "Version 2.0" in words
    about = (tmp_path / "share" / "doc" / NAME / "README.md").read_text()
    assert "dev.langchain4j:" in about and "Apache-2.0" in about and "Xenova/e5-small-v2" in about


@pytest.mark.parametrize("place", ["forage-mcp-linux-x64", "forage-mcp/node_modules/forage-mcp-linux-x64"])
def test_npm_beside_the_program(made, tmp_path, place):
    """As npm lays packages out: beside each other, or, of a global one, what it needs inside it."""
    modules = tmp_path / "node_modules"
    program = put_program(modules / place / "bin")
    assert meaning(program, tmp_path)["mend"] == f"npm install {NAME}"
    with tarfile.open(made[0] / f"{NAME}-1.0.0.tgz") as archive:
        archive.extractall(tmp_path, filter="data")
    (tmp_path / "package").rename(modules / NAME)
    found = meaning(program, tmp_path)
    assert found["state"] == "ok" and NAME in found["text"]
    fields = json.loads((modules / NAME / "package.json").read_text())
    assert fields["name"] == NAME and fields["license"] == "Apache-2.0"


def test_the_wheel_below_its_prefix(made):
    with zipfile.ZipFile(made[0] / "forage_model_e5_small-1.0.0-py3-none-any.whl") as wheel:
        assert wheel.read(f"forage_model_e5_small-1.0.0.data/data/{FILE}") == TINY.read_bytes()
        record = wheel.read("forage_model_e5_small-1.0.0.dist-info/RECORD").decode()
        assert sorted(line.split(",")[0] for line in record.split()) == sorted(wheel.namelist())


def test_the_package_of_debian(made, tmp_path):
    package = made[0] / f"{NAME}_1.0.0_all.deb"
    subprocess.run(["dpkg-deb", "-x", package, tmp_path], check=True)
    assert (tmp_path / "usr" / FILE).read_bytes() == TINY.read_bytes()
    listing = subprocess.run(["dpkg-deb", "-c", package], capture_output=True, text=True, check=True).stdout
    assert all(" root/root " in line for line in listing.splitlines())
    terms = (tmp_path / "usr/share/doc" / NAME / "copyright").read_text()
    assert "License: Apache-2.0" in terms and "dev.langchain4j:" in terms
