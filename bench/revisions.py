"""Builds of other commits, to compare with: each in a folder of its own in build-compare/, which stays for the next run."""

import os
import subprocess

import measure

RELEASE = "8c634b3"  # 0.8.0
RELEASE_NAME = "0.8.0"


def release():
    """The program of the last release; FORAGE_RELEASE names another one to stand for it."""
    return os.environ.get("FORAGE_RELEASE") or build(RELEASE)[1]


def build(revision):
    """The short hash of the commit, and its program."""
    found = subprocess.run(
        ["git", "rev-parse", "--short", f"{revision}^{{commit}}"], cwd=measure.ROOT, stdout=subprocess.PIPE, text=True, check=False
    )
    if found.returncode != 0:
        measure.fail(f"git does not know {revision}")
    commit = found.stdout.strip()
    folder = os.path.join(measure.ROOT, "build-compare", commit)
    if not os.path.exists(os.path.join(folder, ".deps")):
        os.makedirs(folder, exist_ok=True)
        archive = subprocess.Popen(["git", "archive", commit], cwd=measure.ROOT, stdout=subprocess.PIPE)
        run("tar", "-xf", "-", "-C", folder, stdin=archive.stdout)
        archive.wait()
        os.symlink(os.path.join(measure.ROOT, ".deps"), os.path.join(folder, ".deps"))
    run("scripts/build", "release", folder=folder)
    return commit, os.path.join(folder, "build", "forage")


def run(*command, folder=measure.ROOT, **more):
    if subprocess.run(command, cwd=folder, check=False, **more).returncode != 0:
        measure.fail(f"{' '.join(command)} failed")
