"""Containers of the image, by podman with a store of its own. They have no network but this machine's where a test wants to be
reached, a read-only root, and the user that the image names.

Limits of processes and files that are higher than our own would need more than root has in many a container, so they are given.
crun wants one version of control groups alone: where a machine has both, whoever calls is in a mount namespace of its own
(scripts/check-packages is) and sees the newer one."""

import json
import os
import pathlib
import shutil
import subprocess

LIMITS = ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024"]
GROUPS = pathlib.Path("/sys/fs/cgroup")


def see_one_version_of_groups():
    if not (GROUPS / "cgroup.controllers").exists():
        subprocess.run(["mount", "-t", "cgroup2", "none", str(GROUPS)], check=True)


class Podman:
    """The image of a layout, and containers of it: a context manager."""

    def __init__(self, folder, layout, tag):
        self.folder = pathlib.Path(folder)
        self.base = [
            "podman", "--root", self.folder / "store", "--runroot", self.folder / "run", "--storage-driver", "vfs",
            "--cgroup-manager", "cgroupfs", "--events-backend", "none", "--runtime", "crun",
        ]  # fmt: skip
        self.data = self.folder / "data"
        self.layout, self.tag, self.image = layout, tag, None

    def __enter__(self):
        self.data.mkdir(parents=True)
        self.image = self.must("pull", "--quiet", f"oci:{self.layout}:{self.tag}").strip()
        (config,) = json.loads(self.must("image", "inspect", self.image))
        user, group = map(int, config["Config"]["User"].split(":"))
        os.chown(self.data, user, group)
        return self

    def __exit__(self, *_):
        self.run("rm", "--all", "--force", "--time", "0")
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, *words):
        command = [str(word) for word in (*self.base, *words)]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)

    def must(self, *words):
        done = self.run(*words)
        if done.returncode != 0:
            raise RuntimeError(f"podman {' '.join(map(str, words))}: {done.stdout}{done.stderr}")
        return done.stdout

    def command(self, name, *words, network="none", options=(), **settings):
        """The command that runs a container in the foreground."""
        given = [word for item in settings.items() for word in ("--env", "=".join(item))]
        options = ["--rm", "--interactive", "--read-only", "--cgroups=disabled", "--network", network, *LIMITS, *options]
        made = [*self.base, "run", "--name", name, *options, "--volume", f"{self.data}:/data", *given, self.image, *words]
        return [str(word) for word in made]

    def process(self, name):
        """The first process of a container, by its number on this machine."""
        return int(self.must("inspect", "--format", "{{.State.Pid}}", name))
