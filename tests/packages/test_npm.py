"""The npm packages with the real npm: what an installation leaves on PATH, what npm builds of the source, and what the
launcher does where install scripts did not run."""

import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tarfile

import pytest
from npm_registry import Registry
from packing import MACHINE, NAMES, ROOT, SERVERS, VERSION, Npm, execute, listing, serves
from programs import PATIENCE, Stdio, wait_until

CPU = {"x86_64": "x64", "aarch64": "arm64"}[MACHINE]
PLATFORM = f"forage-mcp-linux-{CPU}"
SOURCE_PATIENCE = 1200  # it compiles what is not yet built


def is_program(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def manifest(packed, name):
    with tarfile.open(packed / f"{name}-{VERSION}.tgz") as archive:
        return json.load(archive.extractfile("package/package.json"))


# ---- what is in the packages ----


def test_the_platform_package_says_where_it_belongs(packed):
    fields = manifest(packed, PLATFORM)
    assert (fields["os"], fields["cpu"], fields["libc"]) == (["linux"], [CPU], ["glibc"])
    assert fields["version"] == VERSION and "bin" not in fields and "scripts" not in fields


def test_the_package_names_every_name_and_its_platforms(packed):
    fields = manifest(packed, "forage-mcp")
    assert sorted(fields["bin"]) == sorted(NAMES)
    assert fields["optionalDependencies"] == {PLATFORM: VERSION}


# ---- installed, with install scripts ----


def test_the_names_on_path_are_the_program_itself(npm):
    npm.run("install", "-g", "forage-mcp")
    assert sorted(os.listdir(npm.bin)) == sorted(NAMES)
    inodes = set()
    for name in NAMES:
        assert is_program(npm.bin / name)
        inodes.add(os.stat(npm.bin / name).st_ino)
    assert len(inodes) == 1, "the names share one file"
    for name, arguments in SERVERS.items():
        serves(npm.bin / name, arguments, PATH="/proc/nonexistent")  # no Node anywhere
    helped = execute([npm.bin / "gemini-search-mcp-http", "--help"], {"PATH": "/proc/nonexistent"})
    assert helped.startswith("Usage: forage serve")
    assert not [path for path in listing(npm.prefix) if path.endswith(f".{os.getpid()}") or ".tmp" in path]


def test_again_newer_and_gone(npm, packed, newer):
    """Installing again changes nothing, an upgrade replaces all of it, and uninstalling leaves nothing."""
    with Registry(packed, newer) as both:
        npm.environment["npm_config_registry"] = both.url
        npm.run("install", "-g", f"forage-mcp@{VERSION}")
        first = listing(npm.prefix)
        npm.run("install", "-g", "--force", f"forage-mcp@{VERSION}")
        assert listing(npm.prefix) == first
        npm.run("rebuild", "-g")
        assert listing(npm.prefix) == first and is_program(npm.bin / "forage")
        npm.run("install", "-g", "forage-mcp")
        assert listing(npm.prefix) == first and is_program(npm.bin / "forage")
        assert json.loads((npm.package / "package.json").read_text())["version"] == "99.0.0"
        npm.run("uninstall", "-g", "forage-mcp")
    assert not [path for path in npm.prefix.rglob("*") if not path.is_dir()], listing(npm.prefix)


def test_npx_serves(npm):
    """Not in the clone: there npx starts what the clone builds."""
    npx = shutil.which("npx")
    with Stdio(npx, launcher=["env", "-C", npm.home], arguments=["--yes", "forage-mcp"], **npm.environment) as client:
        assert client.handshake()["serverInfo"]["version"]
    assert [path for path in (npm.home / "cache/_npx").rglob("bin/forage-mcp") if is_program(path)]


# ---- from its source ----


def expect_every_name(npm):
    assert sorted(os.listdir(npm.bin)) == sorted(NAMES)
    for name, arguments in SERVERS.items():
        assert is_program(npm.bin / name)
        serves(npm.bin / name, arguments, PATH="/proc/nonexistent")  # no Node anywhere


@pytest.mark.parametrize("command", [["install", "-g", "."], ["link"]], ids=" ".join)
def test_a_clone_is_built_and_installed(npm, command):
    npm.run(*command, cwd=ROOT, patience=SOURCE_PATIENCE)
    expect_every_name(npm)


def test_a_pack_of_the_clone_has_all(npm, tmp_path):
    npm.run("pack", "--pack-destination", tmp_path, cwd=ROOT, patience=SOURCE_PATIENCE)
    npm.run("install", "-g", tmp_path / f"forage-mcp-{VERSION}.tgz")
    expect_every_name(npm)


@pytest.fixture
def address(npm, tree, tmp_path):
    """The address of a repository whose build takes no time: it brings the program that there is."""
    folder = tmp_path / "repository"
    for name in ("package.json", "packaging/npm/prepare", ".gitignore"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    installs = f'for folder; do :; done\nmkdir -p "$folder/usr"\ncp -a {tree} "$folder/usr/local"\n'
    for path, text in {folder / "scripts/setup": "", folder / "scripts/build": "", tmp_path / "tools/meson": installs}.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
    npm.environment["PATH"] = f"{tmp_path / 'tools'}:{npm.environment['PATH']}"
    for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-qm", "All"]):
        execute(["git", "-C", folder, *words])
    return f"git+file://{folder}"


def test_a_git_address_is_installed_for_everybody(npm, address):
    """Twice: the second installation finds the first one in its place."""
    for _ in range(2):
        npm.run("install", "-g", address)
        expect_every_name(npm)
        assert not npm.package.is_symlink(), "npm's temporary copy is gone by now"
    npm.run("uninstall", "-g", "forage-mcp")
    assert not os.listdir(npm.bin)


def test_a_git_address_in_a_project_and_by_npx(npm, address, tmp_path):
    (tmp_path / "package.json").write_text("{}")
    npm.run("install", "--prefix", tmp_path, address)
    npm.bin = tmp_path / "node_modules/.bin"
    expect_every_name(npm)
    with Stdio(shutil.which("npx"), arguments=["--yes", address], **npm.environment) as client:
        assert client.handshake()["serverInfo"]["version"]


def test_a_clone_without_a_compiler(npm, tmp_path):
    """One message, with the one command that installs what is missing; npm shows it, since the script failed."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ["bash", "sh", "env", "awk", "sort", "xargs", "dirname", "uname", "cat", "echo", "python3", "node", "npm"]:
        (tools / name).symlink_to(shutil.which(name))
    (tools / "apt-get").write_text("#!/bin/sh\n")
    (tools / "apt-get").chmod(0o755)
    environment = {**npm.environment, "PATH": str(tools)}
    command = ["npm", "install", "-g", "."]
    completed = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert completed.returncode != 0 and not npm.bin.exists()
    assert completed.stderr.count("forage is a native program") == 1, completed.stderr
    assert "sudo apt install gcc libc-ares-dev libc6-dev " in completed.stderr


# ---- what the install script will not do ----


def install_script(npm, **environment):
    completed = subprocess.run(
        ["node", npm.package / "install.js"],
        env={**npm.environment, "npm_config_user_agent": "npm/11.0.0 node/v24.0.0", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.returncode == 0, "an installation never fails because of it"
    return completed.stderr


@pytest.fixture
def copied(launcher, tmp_path):
    """A copy of the installation with the launcher, to be changed."""
    shutil.copytree(launcher.home, tmp_path / "home", symlinks=True)
    copy = object.__new__(Npm)
    copy.__dict__.update(launcher.__dict__)
    copy.home, copy.prefix = tmp_path / "home", tmp_path / "home/prefix"
    copy.bin, copy.package = copy.prefix / "bin", copy.prefix / "lib/node_modules/forage-mcp"
    return copy


def platform_folder(npm):
    return next(npm.prefix.rglob(f"{PLATFORM}/package.json")).parent


def damage(path):
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.unlink()
    path.write_bytes(content)
    path.chmod(0o755)


def test_the_script_replaces_the_launcher(copied):
    assert install_script(copied) == "" and is_program(copied.bin / "forage")
    assert install_script(copied) == "" and is_program(copied.bin / "forage")


def test_other_package_managers_keep_the_launcher(copied):
    assert install_script(copied, npm_config_user_agent="pnpm/10.0.0 npm/? node/v24.0.0") == ""
    assert not is_program(copied.bin / "forage")


def list_digests(npm, files):
    """Makes the launcher expect these files of the platform's package, as they are now."""
    folder = platform_folder(npm)
    platforms = json.loads((npm.package / "platforms.json").read_text())
    digests = {file: hashlib.sha256((folder / file).read_bytes()).hexdigest() for file in files}
    platforms[f"linux-{CPU}"]["sha256"] = digests
    (npm.package / "platforms.json").write_text(json.dumps(platforms))


@pytest.mark.parametrize("file", ["bin/forage", "lib/forage/made.so"])
def test_a_damaged_file_is_not_installed(copied, file):
    """A library too, which a package has where the system that made it lacks one."""
    path = platform_folder(copied) / file
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("library\n")
    list_digests(copied, ["bin/forage", file])
    damage(path)
    before = listing(copied.package)
    assert "is damaged" in install_script(copied)
    assert not is_program(copied.bin / "forage")
    assert sorted(set(listing(copied.package)) - set(before)) == ["damaged.txt"]
    assert "is damaged" in refusal(copied), "nor is it started"


def test_a_program_that_does_not_run_here_is_not_installed(copied):
    """As with a glibc that is too old: the program is the right one, and does not start."""
    folder = platform_folder(copied)
    shutil.rmtree(folder / "lib", ignore_errors=True)
    (folder / "bin/forage").unlink()
    (folder / "bin/forage").write_text("#!/bin/sh\nexit 1\n")
    (folder / "bin/forage").chmod(0o755)
    list_digests(copied, ["bin/forage"])
    assert "does not run on this system" in install_script(copied)
    assert not is_program(copied.bin / "forage")


# ---- the launcher ----

# A Node that can replace its process by another program does so; an older one has a child.
PRELOADS = {"replaced": "", "child": "delete process.execve;\n"}


@pytest.fixture(params=PRELOADS)
def way(request, tmp_path):
    """The environment for one of the two ways to start the program."""
    preload = tmp_path / "preload.cjs"
    preload.write_text(PRELOADS[request.param])
    return {"NODE_OPTIONS": f"--require={preload}"}


def test_a_new_node_becomes_the_program(launcher):
    with Stdio(launcher.bin / "forage-mcp", arguments=[]) as client:
        client.handshake()
        assert the_program(client) == client.pid


def test_the_launcher_serves(launcher, way):
    for name, arguments in SERVERS.items():
        assert not is_program(launcher.bin / name)
        serves(launcher.bin / name, arguments, **way)


@pytest.mark.parametrize("arguments, status", [(["version"], 0), (["nothing"], 2), (["call", "get_content", "url=x"], 1)])
def test_the_exit_status_is_the_programs(launcher, way, arguments, status):
    environment = {**launcher.environment, **way}
    completed = subprocess.run([launcher.bin / "forage", *arguments], env=environment, capture_output=True, check=False)
    assert completed.returncode == status


def the_program(client):
    """The id of the program behind a launcher: itself, or its child."""
    if is_program(f"/proc/{client.pid}/exe") and os.readlink(f"/proc/{client.pid}/exe").endswith("bin/forage"):
        return client.pid
    children = pathlib.Path(f"/proc/{client.pid}/task/{client.pid}/children").read_text().split()
    assert len(children) == 1
    return int(children[0])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_reach_the_program(launcher, way, number):
    with Stdio(launcher.bin / "forage-mcp", arguments=[], **way) as client:
        client.handshake()
        program = the_program(client)
        client.signal(number)
        assert client.wait() == 0
        wait_until(lambda: not os.path.exists(f"/proc/{program}"))


def test_a_killed_program_is_a_killed_launcher(launcher, way):
    client = Stdio(launcher.bin / "forage-mcp", arguments=[], **way)
    try:
        client.handshake()
        os.kill(the_program(client), signal.SIGKILL)
        assert client.wait() == -signal.SIGKILL
    finally:
        client.kill()


def test_a_killed_launcher_leaves_no_program_behind(launcher, way):
    """Its client goes, so the program's standard input is at its end."""
    client = Stdio(launcher.bin / "forage-mcp", arguments=[], **way)
    try:
        client.handshake()
        program = the_program(client)
        client.signal(signal.SIGKILL)
        client.process.wait(PATIENCE)
        client.process.stdin.close()
        wait_until(lambda: not os.path.exists(f"/proc/{program}"))
    finally:
        client.kill()


def refusal(npm, preload=None):
    """What the launcher says when it does not start the program."""
    environment = dict(npm.environment)
    if preload:
        environment["NODE_OPTIONS"] = f"--require={preload}"
    completed = subprocess.run([npm.bin / "forage", "version"], env=environment, capture_output=True, text=True, check=False)
    assert completed.returncode == 1 and completed.stdout == ""
    assert "    at " not in completed.stderr, "words, no stack"
    return completed.stderr


def test_without_the_platform_package(copied):
    shutil.rmtree(platform_folder(copied))
    said = refusal(copied)
    assert PLATFORM in said and "--include=optional" in said


def test_without_optional_dependencies(npm, tmp_path):
    """In a project; npm brings them all the same where it installs for everybody."""
    (tmp_path / "package.json").write_text("{}")
    npm.run("install", "--prefix", tmp_path, "--omit=optional", "forage-mcp")
    npm.bin = tmp_path / "node_modules/.bin"
    assert PLATFORM in refusal(npm)


def test_another_version_of_the_platform_package(copied):
    path = platform_folder(copied) / "package.json"
    path.write_text(path.read_text().replace(VERSION, "98.0.0"))
    said = refusal(copied)
    assert "98.0.0" in said and VERSION in said


def test_a_program_that_may_not_be_run(copied):
    (platform_folder(copied) / "bin/forage").chmod(0o644)
    assert "EACCES" in refusal(copied)


def test_musl(copied):
    """What a system without glibc has not got is its loader."""
    path = copied.package / "platforms.json"
    path.write_text(path.read_text().replace("/ld-linux", "/not-here-ld-linux"))
    assert "musl" in refusal(copied)


@pytest.mark.parametrize("platform, cpu", [("darwin", "arm64"), ("win32", "x64"), ("linux", "riscv64")])
def test_platforms_without_a_program(launcher, tmp_path, platform, cpu):
    preload = tmp_path / "elsewhere.cjs"
    preload.write_text(
        f"Object.defineProperty(process, 'platform', {{ value: '{platform}' }});\n"
        f"Object.defineProperty(process, 'arch', {{ value: '{cpu}' }});\n"
    )
    said = refusal(launcher, preload)
    assert f"{platform}-{cpu}" in said and f"linux-{CPU}" in said
