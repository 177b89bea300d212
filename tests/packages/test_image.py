"""The container image, made of the program under test and the libraries of this machine: what the layout says, before Debian's
own tool for images, and the same bytes each time. scripts/check-packages runs the released one in a container."""

import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import tarfile

import pytest
from packing import EPOCH, MACHINE, ROOT, VERSION, execute

SKOPEO = "skopeo"
ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}[MACHINE]
ABOUT = dict(re.findall(r"^(\w+): (.*)$", (ROOT / "packaging" / "about").read_text(), re.M))


def make(folder, tree, out, *options):
    """A small system, and the image of it."""
    root = folder / "systems" / ARCHITECTURE / "root"
    browser = folder / "systems" / f"{ARCHITECTURE}-chromium" / "root"
    files = {
        root / "lib/libc.so.6": "C library",
        root / "usr/share/man/man1/pdftotext.1": "manual",
        root / "usr/share/doc/libc6/copyright": "terms",
        root / "usr/share/doc/libc6/changelog.gz": "changes",
        root / "usr/bin/pdftotext": "program",
        root / "usr/bin/pdftocairo": "program",
        browser / "lib/libc.so.6": "C library",
        browser / "usr/bin/chromium-headless-shell": "browser",
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755 if "/bin/" in str(path) else 0o600)
    (root / "lib/libc.so").symlink_to("libc.so.6")
    (folder / "bills").mkdir()
    for name in (ARCHITECTURE, f"{ARCHITECTURE}-chromium"):
        (folder / "bills" / f"{name}.cdx.json").write_text("{}")
    environment = {**os.environ, "SOURCE_DATE_EPOCH": EPOCH, "PYTHONDONTWRITEBYTECODE": "1"}
    execute([ROOT / "packaging/container/pack", *options, folder / "systems", folder / "bills", tree, out], environment)
    return out


@pytest.fixture(scope="session", name="layout")
def image_layout(tree, tmp_path_factory):
    folder = tmp_path_factory.mktemp("image")
    return make(folder, tree, folder / "layout", "--chromium")


def blob(layout, descriptor):
    content = (layout / "blobs" / descriptor["digest"].replace(":", "/")).read_bytes()
    assert len(content) == descriptor["size"] and hashlib.sha256(content).hexdigest() == descriptor["digest"][7:]
    return content


def images(layout):
    """Every image of the layout: its tag, its configuration, and its layers unpacked."""
    for index in json.loads((layout / "index.json").read_text())["manifests"]:
        for described in json.loads(blob(layout, index))["manifests"]:
            manifest = json.loads(blob(layout, described))
            config = json.loads(blob(layout, manifest["config"]))
            layers = [gzip.decompress(blob(layout, layer)) for layer in manifest["layers"]]
            assert ["sha256:" + hashlib.sha256(layer).hexdigest() for layer in layers] == config["rootfs"]["diff_ids"]
            assert described["platform"]["architecture"] == config["architecture"] == ARCHITECTURE
            yield index["annotations"]["org.opencontainers.image.ref.name"], config, layers


def members(layer):
    with tarfile.open(fileobj=io.BytesIO(layer)) as archive:
        return {member.name: member for member in archive.getmembers()}


def test_there_are_two_tags(layout):
    assert [tag for tag, _, _ in images(layout)] == [VERSION, f"{VERSION}-chromium"]
    assert json.loads((layout / "oci-layout").read_text()) == {"imageLayoutVersion": "1.0.0"}


def test_every_image_says_what_it_is_and_runs_as_nobody(layout):
    for _, described, _ in images(layout):
        config = described["config"]
        assert config["Labels"]["io.modelcontextprotocol.server.name"] == ABOUT["server"]
        assert config["Labels"]["org.opencontainers.image.version"] == VERSION
        # By its number: Kubernetes cannot know that a name is not root's.
        assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", config["User"])
        assert (config["Entrypoint"], config["Cmd"]) == (["/usr/bin/forage"], ["mcp"])
        assert list(config["Volumes"]) == ["/data"] and "FORAGE_DATA_DIR=/data" in config["Env"]
        assert config["Healthcheck"]["Test"] == ["CMD", "/usr/bin/forage", "health"]


def test_the_layers_hold_what_they_should(layout):
    (_, _, (system, program)), (_, _, (same, browser, _)) = images(layout)
    assert same == system, "both tags share the system"
    found = members(system)
    assert {"lib/libc.so.6", "lib/libc.so", "etc/passwd", "etc/ssl/certs/ca-certificates.crt", "usr/bin/pdftotext"} <= found.keys()
    assert found["usr/share/doc/libc6/copyright"].mode == 0o644, "everybody may read it"
    assert not {"usr/share/doc/libc6/changelog.gz", "usr/share/man/man1/pdftotext.1", "usr/bin/pdftocairo"} & found.keys()
    assert (found["data"].uid, found["data"].mode, found["tmp"].mode) == (65532, 0o700, 0o1777)
    assert {name for name, member in found.items() if member.uid} == {"data"}, "the rest belongs to root"
    assert "usr/bin/chromium-headless-shell" in members(browser) and "lib/libc.so.6" not in members(browser)
    found = members(program)
    assert found["usr/bin/forage"].mode == 0o755 and found["usr/bin/forage-mcp"].linkname == "forage"
    assert "usr/share/doc/forage/sbom.cdx.json" in found
    for layer in (system, browser, program):
        assert not [name for name, member in members(layer).items() if member.mode & 0o6000 or member.mtime != int(EPOCH)]


def test_the_same_bytes_each_time(layout, tree, tmp_path):
    again = make(tmp_path, tree, tmp_path / "again", "--chromium")
    assert {path.name: path.read_bytes() for path in again.rglob("*") if path.is_file()} == {
        path.name: path.read_bytes() for path in layout.rglob("*") if path.is_file()
    }


def inspect(layout):
    command = [SKOPEO, "inspect", "--override-arch", ARCHITECTURE, f"oci:{layout}:{VERSION}"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_the_tool_for_images_reads_it(layout, tmp_path):
    done = inspect(layout)
    assert done.returncode == 0 and json.loads(done.stdout)["Labels"]["org.opencontainers.image.title"] == "forage", done.stderr
    # It checks every digest as it copies.
    subprocess.run([SKOPEO, "copy", "--quiet", "--all", f"oci:{layout}:{VERSION}", f"oci:{tmp_path / 'copy'}:x"], check=True, timeout=120)


@pytest.mark.parametrize("wrong", ["a digest", "a layer", "no tag"])
def test_the_tool_for_images_refuses_a_wrong_one(layout, tmp_path, wrong):
    copied = tmp_path / "layout"
    shutil.copytree(layout, copied)
    index = json.loads((copied / "index.json").read_text())
    if wrong == "a digest":
        index["manifests"][0]["digest"] = "sha256:" + "0" * 64
    elif wrong == "no tag":
        index["manifests"][0]["annotations"] = {}
    else:
        largest = max((copied / "blobs/sha256").iterdir(), key=lambda path: path.stat().st_size)
        largest.write_bytes(largest.read_bytes()[:-1] + b"x")
    (copied / "index.json").write_text(json.dumps(index))
    command = [SKOPEO, "copy", "--quiet", "--all", f"oci:{copied}:{VERSION}", f"oci:{tmp_path / 'copy'}:x"]
    assert subprocess.run(command, capture_output=True, timeout=120, check=False).returncode != 0
