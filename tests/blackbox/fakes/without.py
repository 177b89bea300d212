"""Runs a program as on a system that lacks something: `python3 without.py NUMBER,... PROGRAM ARGUMENT...` refuses the
system calls of these numbers (ENOSYS) to it and to all that it starts. For the same machine without a newer kernel."""

import ctypes
import errno
import os
import platform
import struct
import sys

LANDLOCK = 444  # landlock_create_ruleset, on every architecture
UNSHARE = {"x86_64": 272, "aarch64": 97}[platform.machine()]

PR_SET_NO_NEW_PRIVS = 38
PR_SET_SECCOMP = 22
FILTER = 2
LOAD, SKIP_UNLESS, ANSWER = 0x20, 0x15, 0x06
ALLOW, FAIL = 0x7FFF0000, 0x00050000


def step(code, value, skip=0):
    return struct.pack("=HBBI", code, 0, skip, value)


def program_of(steps):
    """The steps and what names them to the kernel."""
    code = ctypes.create_string_buffer(b"".join(steps))
    return code, ctypes.create_string_buffer(struct.pack("@HP", len(steps), ctypes.addressof(code)))


def refuse(numbers):
    steps = [step(LOAD, 0)]
    for number in numbers:
        steps += [step(SKIP_UNLESS, number, 1), step(ANSWER, FAIL | errno.ENOSYS)]
    steps.append(step(ANSWER, ALLOW))
    code, program = program_of(steps)
    libc = ctypes.CDLL(None, use_errno=True)
    for option, value, address in ((PR_SET_NO_NEW_PRIVS, 1, 0), (PR_SET_SECCOMP, FILTER, ctypes.addressof(program))):
        if libc.prctl(option, ctypes.c_ulong(value), ctypes.c_ulong(address), 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    refuse(map(int, sys.argv[1].split(",")))
    os.execv(sys.argv[2], sys.argv[2:])
