"""What pip and uv call to build forage from its source (PEP 517): `pip install .`, `uvx --from git+...`, `pip wheel`.

Meson and Ninja come from PyPI. The C compiler and the libraries come from the system, and whoever installs a Python
package does not expect to need them: so scripts/setup is asked first what is missing, and the answer is one command.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile

import wheel

ROOT = wheel.ROOT

MISSING = """
forage is a native program. To build it from source, this system lacks some things that pip and uv cannot install.
{advice}
Then run the same command again. A prebuilt wheel (forage_mcp-*.whl) needs none of this.
"""


def setup(*words, **options):
    return subprocess.run([str(ROOT / "scripts" / "setup"), *words], text=True, check=False, **options)


def check_system():
    """Ends with words, before anything is built, when the compiler or a library is missing."""
    try:
        found = setup("lacks", "meson", "ninja", stdout=subprocess.PIPE)
    except OSError:
        return  # no bash: then the build itself has to tell
    if found.returncode != 0:
        sys.exit(MISSING.format(advice=found.stdout.rstrip()))


def get_requires_for_build_wheel(config_settings=None):
    check_system()
    # The system's Meson is a Python program, which cannot see its own modules from inside pip's build environment.
    return ["meson>=1.0"] + ([] if shutil.which("ninja") else ["ninja"])


def get_requires_for_build_sdist(config_settings=None):
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    return wheel.unpack_metadata(metadata_directory)


def build_sdist(sdist_directory, config_settings=None):
    return wheel.pack_source(sdist_directory)


def run(what, command, **options):
    """Runs a step of the build; what it says goes to the error stream, where pip and uv show it when it failed."""
    if subprocess.run(command, stdout=sys.stderr, check=False, **options).returncode != 0:
        sys.exit(f"\nforage could not be built: {what} failed; the lines above say why.\n")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    check_system()
    if setup("libraries", stdout=sys.stderr).returncode != 0:
        sys.exit("\nforage could not be built: the libraries yyjson and lexbor are missing; the lines above say why.\n")
    with tempfile.TemporaryDirectory(prefix="forage-build-") as folder:
        build, stage = os.path.join(folder, "build"), pathlib.Path(folder, "stage")
        run("meson setup", ["meson", "setup", build, str(ROOT), "--prefix=/usr"])
        run("the compiler", ["ninja", "-C", build, "forage"])
        run("meson install", ["meson", "install", "-C", build, "--no-rebuild", "--strip", "--destdir", str(stage)])
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        return wheel.pack(stage / "usr", os.uname().machine, platform, wheel_directory)
