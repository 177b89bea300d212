"""Runs a program as on a kernel with an older Landlock: `python3 old_landlock.py VERSION PROGRAM ARGUMENT...` has the kernel
answer VERSION whenever the program, or what it starts, asks which version of Landlock there is. Everything else stays."""

import ctypes
import fcntl
import os
import platform
import select
import socket
import struct
import sys

import without

SECCOMP = {"x86_64": 317, "aarch64": 277}[platform.machine()]
SET_FILTER, NEW_LISTENER, TELL = 1, 8, 0x7FC00000
ASKED, ANSWERED = 80, 24  # the sizes of the kernel's structures
RECEIVE, SEND = 0xC0002100 | ASKED << 16, 0xC0002101 | ANSWERED << 16
FLAGS = 32  # where the third argument lies; 1 asks for the version


def listen():
    """A descriptor that tells when a process asks."""
    steps = [
        without.step(without.LOAD, 0),
        without.step(without.SKIP_UNLESS, without.LANDLOCK, 3),
        without.step(without.LOAD, FLAGS),
        without.step(without.SKIP_UNLESS, 1, 1),
        without.step(without.ANSWER, TELL),
        without.step(without.ANSWER, without.ALLOW),
    ]
    code, program = without.program_of(steps)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(without.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
    listener = libc.syscall(SECCOMP, SET_FILTER, NEW_LISTENER, program)
    if listener < 0:
        raise OSError(ctypes.get_errno(), "seccomp")
    return listener


def answer(listener, version):
    """Until no process is left that could ask."""
    poll = select.poll()
    poll.register(listener, select.POLLIN)
    while True:
        for _, events in poll.poll():
            if not events & select.POLLIN:
                return
            asked = bytearray(ASKED)
            fcntl.ioctl(listener, RECEIVE, asked)
            (id,) = struct.unpack_from("=Q", asked)
            try:
                fcntl.ioctl(listener, SEND, struct.pack("=QqiI", id, version, 0, 0))
            except OSError:
                pass  # the process that asked is gone


def stand_apart(ours, version):
    """As no child of the program, and without its pipes."""
    if os.fork() != 0:
        os._exit(0)
    os.setsid()
    _, (listener,), _, _ = socket.recv_fds(ours, 1, 1)
    ours.close()
    with open(os.devnull, "r+b") as nothing:
        for fd in range(3):
            os.dup2(nothing.fileno(), fd)
    answer(listener, version)
    os._exit(0)


if __name__ == "__main__":
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        theirs.close()
        stand_apart(ours, int(sys.argv[1]))
    os.waitpid(child, 0)
    listener = listen()
    socket.send_fds(theirs, [b"x"], [listener])
    os.close(listener)
    ours.close()
    theirs.close()
    os.execv(sys.argv[2], sys.argv[2:])
