"""The files of a release, made of a small tree: the same bytes each time, and in them what people and package managers look
for. scripts/check-release makes the real ones."""

import hashlib
import json
import os
import pathlib
import shutil
import stat
import subprocess
import tarfile

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
FORAGE = pathlib.Path(os.environ.get("FORAGE", ROOT / "build" / "forage"))
MOMENT = 1700000000


def run(*command, umask=0o022, **variables):
    environment = dict(os.environ, SOURCE_DATE_EPOCH=str(MOMENT), **variables)
    return subprocess.run(
        [str(word) for word in command], env=environment, capture_output=True, text=True, check=False, umask=umask
    )


VERSION = run(PACKAGING / "version").stdout.strip()
NAMES = run(PACKAGING / "names").stdout.split()


def make_tree(folder):
    files = {
        "share/man/man1/forage.1": (ROOT / "man" / "forage.1").read_text(),
        "share/doc/forage/README.md": "# forage\n",
        "share/doc/forage/CHANGELOG.md": (ROOT / "CHANGELOG.md").read_text(),
        "share/doc/forage/notices/yyjson.txt": "yyjson\n",
        "share/doc/forage/notices/curl.txt": "curl\n",
        "share/forage/ca-certificates.crt": "certificates\n",
        "lib/forage/libforage-net.so": "library\n",
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    program = folder / "bin" / "forage"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nls "$(dirname "$0")/../lib/forage"\n')
    program.chmod(0o755)
    return folder


@pytest.fixture(scope="module", name="made")
def made_twice(tmp_path_factory):
    """What each packer makes of the same tree in two folders, by two people."""
    outs = []
    for name, umask, zone in (("one", 0o022, "UTC"), ("another-folder", 0o077, "Pacific/Auckland")):
        folder = tmp_path_factory.mktemp(name)
        tree = make_tree(folder / "tree")
        for packer in ("archive", "debian/pack"):
            result = run(PACKAGING / packer, tree, "x86_64", folder / "out", umask=umask, TZ=zone)
            assert result.returncode == 0, result.stderr
        outs.append(folder / "out")
    return outs


def test_the_names_are_those_that_the_program_answers_to():
    assert "gemini-search-mcp" in NAMES and "kindly-web-search-mcp-server" in NAMES
    assert all(name.replace("-", "").isalpha() for name in NAMES) and "bindir" not in NAMES
    assert run(FORAGE, "version").stdout.strip() == f"forage {VERSION}"


@pytest.mark.parametrize("name", [f"forage-{VERSION}-linux-x86_64.tar.gz", f"forage_{VERSION}_amd64.deb"])
def test_the_same_bytes_each_time(made, name):
    one, another = ((out / name).read_bytes() for out in made)
    assert hashlib.sha256(one).digest() == hashlib.sha256(another).digest()


def test_the_archive_runs_where_it_is_unpacked(made, tmp_path):
    top = f"forage-{VERSION}-linux-x86_64"
    with tarfile.open(made[0] / f"{top}.tar.gz") as archive:
        members = archive.getmembers()
        archive.extractall(tmp_path)  # our own; Debian 12's Python has no filters yet
    assert [member.name for member in members] == sorted(member.name for member in members)
    assert {(member.uid, member.gid, member.uname, member.mtime) for member in members} == {(0, 0, "", MOMENT)}
    open_ones = [member for member in members if member.mode & (stat.S_IWGRP | stat.S_IWOTH)]
    assert all(member.issym() for member in open_ones)
    for name in NAMES:
        assert os.readlink(tmp_path / top / "bin" / name) == "forage"
    assert run(tmp_path / top / "bin" / NAMES[0]).stdout.strip() == "libforage-net.so"
    assert "glibc" in (tmp_path / top / "README").read_text()


def test_the_debian_package_holds_what_it_should(made, tmp_path):
    package = made[0] / f"forage_{VERSION}_amd64.deb"
    listing = {
        line.split()[5]: (line.split()[0], line.split()[1])
        for line in run("dpkg-deb", "-c", package).stdout.splitlines()
    }
    assert set(owner for _, owner in listing.values()) == {"root/root"}
    assert listing["./etc/forage/forage.env"][0] == "-rw-r-----"
    assert "./usr/lib/systemd/system/forage.service" in listing and "./usr/lib/sysusers.d/forage.conf" in listing
    assert "./usr/share/doc/forage/notices/yyjson.txt" in listing
    # The system's libcurl and libpq are used, so ours and its notices stay out.
    assert not [name for name in listing if "libforage-net" in name or name.endswith("notices/curl.txt")]
    fields = run("dpkg-deb", "-f", package).stdout
    assert f"Version: {VERSION}\n" in fields and "libcurl4 (>= 7.80) | libcurl4t64, libc-ares2 (>= 1.16)" in fields
    assert "chromium" in fields.split("Recommends:")[1].split("\n")[0]
    run("dpkg-deb", "-R", package, tmp_path / "raw")
    assert (tmp_path / "raw/DEBIAN/conffiles").read_text() == "/etc/forage/forage.env\n"
    sums = subprocess.run(["md5sum", "-c", "--quiet", "DEBIAN/md5sums"], cwd=tmp_path / "raw", check=False)
    assert sums.returncode == 0
    # Every line of the configuration is a comment: nothing changes by installing it.
    settings = (tmp_path / "raw/etc/forage/forage.env").read_text()
    assert "#FORAGE_HOST=127.0.0.1" in settings
    assert not [line for line in settings.splitlines() if line and not line.startswith("#")]


def test_the_service_is_closed_as_far_as_a_browser_allows():
    unit = PACKAGING / "debian" / "forage.service"
    result = run("systemd-analyze", "security", "--offline=yes", "--threshold=25", unit)
    assert result.returncode == 0, result.stdout[-300:]
    text = unit.read_text()
    assert "User=forage" in text and "--host" not in text and "MemoryDenyWriteExecute" not in text.split("# What")[0]


def test_a_program_that_wants_a_newer_system_is_refused():
    result = run(PACKAGING / "check-floor", FORAGE)
    assert result.returncode == 1
    assert "check-floor:" in result.stderr and "wants" in result.stderr


# ---- the bill of materials ----


def make_build(folder, archives):
    for machine in ("x86_64", "aarch64"):
        (folder / machine / "forage").mkdir(parents=True)
        (folder / machine / "net").mkdir()
        linked = " ".join(f"/x/deps/lib/{machine}-linux-gnu/{name}" for name in archives)
        (folder / machine / "forage" / "build.ninja").write_text(f"build forage: c_LINKER a.o | {linked}\n LINK_ARGS =\n\n")
        (folder / machine / "net" / "linked").write_text("libcurl.a\nlibssl.a\nlibcrypto.a\n")


def make_fetched(folder):
    digest = "0123456789abcdef" * 4
    for name, packages in {
        "amd64": ["libssl-dev 3.0.22-1~deb12u2 amd64 openssl", "ca-certificates 2025 all ca-certificates"],
        "arm64": ["libssl-dev 3.0.22-1~deb12u2 arm64 openssl", "ca-certificates 2025 all ca-certificates"],
        "source": ["curl 8.14.1-2+deb13u5 source curl", "yyjson 0.10.0+ds source yyjson"],
    }.items():
        (folder / name).mkdir(parents=True)
        (folder / name / ".packages").write_text("".join(f"{package} {digest}\n" for package in packages))
        suites = "trixie" if name == "source" else "bookworm"
        (folder / name / ".complete").write_text(" ".join(f"{package.split()[0]}/{suites}" for package in packages))


def test_the_bill_of_materials_is_what_the_standard_says(tmp_path):
    make_build(tmp_path / "build", ["libyyjson.a"])
    make_fetched(tmp_path / "fetched")
    result = run(PACKAGING / "sbom", tmp_path / "build", tmp_path / "fetched")
    assert result.returncode == 0, result.stderr
    assert JsonStrictValidator(SchemaVersion.V1_5).validate_str(result.stdout) is None
    bill = json.loads(result.stdout)
    assert (bill["specVersion"], bill["metadata"]["component"]["version"]) == ("1.5", VERSION)
    assert bill["metadata"]["timestamp"] == "2023-11-14T22:13:20Z"
    found = {(part["name"], part["purl"]) for part in bill["components"]}
    assert ("libcurl", "pkg:deb/debian/curl@8.14.1-2%2Bdeb13u5?arch=source&distro=trixie") in found
    assert ("OpenSSL", "pkg:deb/debian/libssl-dev@3.0.22-1~deb12u2?arch=arm64&distro=bookworm") in found
    assert {name for name, _ in found} == {"libcurl", "OpenSSL", "yyjson", "Mozilla's certificates"}
    assert set(bill["dependencies"][0]["dependsOn"]) == {part["bom-ref"] for part in bill["components"]}


def test_an_image_has_its_system_in_its_bill(tmp_path):
    make_build(tmp_path / "build", ["libyyjson.a"])
    make_fetched(tmp_path / "fetched")
    (tmp_path / "system").mkdir()
    (tmp_path / "system" / ".packages").write_text(f"libc6 2.36-9+deb12u13 arm64 glibc {'0' * 64}\n")
    result = run(PACKAGING / "sbom", "--image", "aarch64", tmp_path / "system", tmp_path / "build", tmp_path / "fetched")
    assert result.returncode == 0, result.stderr
    assert JsonStrictValidator(SchemaVersion.V1_5).validate_str(result.stdout) is None
    bill = json.loads(result.stdout)
    assert bill["metadata"]["component"]["type"] == "container"
    packages = [part["purl"].split("?")[0].rpartition("/")[2].split("@")[0] for part in bill["components"]]
    assert packages == ["ca-certificates", "curl", "libc6", "libssl-dev", "yyjson"]
    assert not any("arch=amd64" in part["purl"] for part in bill["components"])


def test_a_library_that_nobody_listed_is_an_error(tmp_path):
    make_build(tmp_path / "build", ["libyyjson.a", "libmystery.a"])
    make_fetched(tmp_path / "fetched")
    result = run(PACKAGING / "sbom", tmp_path / "build", tmp_path / "fetched")
    assert result.returncode != 0 and "libmystery.a" in result.stderr


def test_no_release_whose_version_and_changelog_disagree(tmp_path):
    for name in ("scripts/release", "packaging/version", "meson.build", "CHANGELOG.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    text = (tmp_path / "meson.build").read_text()
    (tmp_path / "meson.build").write_text(text.replace(f"version: '{VERSION}'", "version: '99.1.2'"))
    result = run(tmp_path / "scripts" / "release")
    assert result.returncode == 1
    assert "99.1.2" in result.stderr and VERSION in result.stderr and not (tmp_path / "dist").exists()
