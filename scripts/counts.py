"""Counts what the program does and what it holds, in figures that hardly differ from run to run, however busy the machine is.

Instructions are those of callgrind, whose processor is always the same: valgrind itself answers what the program and the C
library ask about it, as a Haswell does, without AVX-512. What a call takes is the difference between a run with so many
calls and one with twice as many, so that start and end do not count. Folders have names of one length, nothing comes from
the caller's environment, there is one processor, and addresses are not spread.

Start, status and list come out the same to one in 100,000, pages to three in a thousand, what asks the memory to one in a
hundred: records of calls are written each second, however many there are by then. So these are taken three times, and the
median counts. `python3 scripts/counts.py [NAME...]` prints figures, of the program that FORAGE names; scripts/budget
--counts compares them.
"""

import concurrent.futures
import contextlib
import ctypes
import os
import platform
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import asking  # noqa: E402
import measure  # noqa: E402

# What the figures of data/budget.txt were counted with. They depend on it, on the libraries of that system (Debian 12), and of
# pages on how many the kernel maps around one that is read; on nothing else of the machine.
COUNTED_WITH = "x86_64 with AVX2, glibc 2.36, GCC 12.2.0, valgrind-3.19.0"

PR_SET_THP_DISABLE = 41
ADDR_NO_RANDOMIZE = 0x0040000
STARTS = 9  # of which the fewest faults count: the first ones fill the caches
REST_S = 10
CLIENTS = 8
LOAD_ROUNDS = 250  # of each client, of five calls
# What is held that does not depend on the compiler, and where Linux shows it.
HELD = {"descriptors after a load": "fd", "threads after a load": "task"}


def fail(message):
    sys.exit(f"counts: {message}")


# ---- where it runs ----


def be_the_same_everywhere():
    """One processor, addresses that are not spread, and small pages, for this process and what it starts."""
    libc = ctypes.CDLL(None)
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    libc.personality(ADDR_NO_RANDOMIZE)
    libc.prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)


def settle_file():
    """What was just linked is still to be written to the disk, and counts as memory that a process has written to until then."""
    with open(measure.FORAGE, "rb") as file:
        os.fsync(file.fileno())


def output_of(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def counted_with():
    """What the figures depend on, as COUNTED_WITH says it."""
    compiler = re.search(r"(GCC|clang)[^\n]* ([\d.]+)$", output_of("readelf", "-p", ".comment", measure.FORAGE), re.M)
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        processor = platform.machine() + " with AVX2" * (" avx2 " in file.read())
    made_by = " ".join(compiler.groups()) if compiler else "another compiler"
    return f"{processor}, {os.confstr('CS_GNU_LIBC_VERSION')}, {made_by}, {output_of('valgrind', '--version').strip()}"


@contextlib.contextmanager
def place():
    """A new folder, and the environment of a program in it. Every path is as long as in the run before."""
    with tempfile.TemporaryDirectory(prefix="forage-counts-", dir="/tmp") as home:
        yield home, {
            "PATH": "/usr/bin:/bin",
            "HOME": home,
            "TMPDIR": home,
            "TZ": "UTC0",
            "FORAGE_DATA_DIR": os.path.join(home, "data"),
            "FORAGE_CACHE_DIR": os.path.join(home, "cache"),
            "FORAGE_REACTORS": "1",
            "FORAGE_ALLOW_PRIVATE_HOSTS": "127.0.0.0/8",
            "FORAGE_EMBEDDINGS_FILE": os.devnull,
            "FORAGE_TOKENS": f"bench:{measure.TOKEN}",
        }


# ---- the program, with callgrind and without ----


def valgrind(home):
    """The beginning of a command that counts instructions, and the file that they are in afterwards."""
    out = os.path.join(home, "callgrind")
    options = ["--tool=callgrind", "--fair-sched=yes", "--vgdb=no", f"--callgrind-out-file={out}", f"--log-file={out}.log"]
    return ["valgrind", "-q", *options], out


def total(out):
    with open(out, encoding="ascii", errors="replace") as file:
        found = re.search(r"^totals: (\d+)$", file.read(), re.M)
    return int(found[1]) if found else fail("callgrind wrote no total")


@contextlib.contextmanager
def serve(command, home, environment):
    """The server and its port. Its log is a file, which is never full."""
    path = os.path.join(home, "log")
    with open(path, "wb") as log:
        process = subprocess.Popen(
            [*command, measure.FORAGE, "serve", "--port", "0"],
            env=environment, cwd=home, stdin=subprocess.DEVNULL, stdout=log, stderr=log, close_fds=False,
        )  # fmt: skip
    try:
        give_up = time.monotonic() + asking.PATIENCE_S
        while True:
            with open(path, encoding="utf-8", errors="replace") as log:
                text = log.read()
            if found := re.search(r"http://127\.0\.0\.1:(\d+)", text):
                break
            if process.poll() is not None or time.monotonic() > give_up:
                fail(f"forage serve does not listen: {text[-600:]}")
            time.sleep(0.05)
        yield process, int(found[1])
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


# ---- instructions ----


# What is asked, how often, and how many times that is done.
CALLS = {
    "forage_status": (asking.status, 400, 1),
    "tools/list": (asking.tools_list, 40, 1),
    "memory_get": (asking.get, 200, 3),
    "memory_add": (asking.add, 100, 3),
    "memory_search": (asking.search, 100, 3),
    "a new page": (asking.new_page, 12, 1),
    "a cached page": (asking.same_page, 12, 1),
}


def instructions_of_start():
    """Of `forage mcp` from its start to its end, with its list of tools."""
    with place() as (home, environment):
        command, out = valgrind(home)
        process = measure.start_stdio([*command, measure.FORAGE, "mcp"], environment)
        measure.list_tools(process, "forage mcp")
        measure.end(process, "forage mcp")
        return total(out)


def instructions_of_run(ask, count):
    with place() as (home, environment), asking.web() as address:
        command, out = valgrind(home)
        with serve(command, home, environment) as (_, port):
            client = asking.Client(port)
            for number in range(count):
                ask(client, number, address)
            client.socket.close()
        return total(out)


def instructions_of_call(name):
    ask, count, times = CALLS[name]
    return statistics.median(
        round((instructions_of_run(ask, 2 * count) - instructions_of_run(ask, count)) / count) for _ in range(times)
    )


# ---- what the file says ----


def relocations():
    """The places of the file that the loader writes addresses to."""
    lines = output_of("readelf", "-rW", measure.FORAGE).split("\n")
    places = (re.match(r"(?:\w{4}: +)?([0-9a-f]{16})(?:$| .*_RELATIV)", line) for line in lines)
    return [int(place[1], 16) for place in places if place]


# ---- what a process holds ----


def faults(command, lists):
    """Pages that a start brings in."""
    fewest = []
    for _ in range(STARTS):
        with place() as (_, environment):
            process = measure.start_stdio([measure.FORAGE, command], environment)
            if lists:
                measure.list_tools(process, f"forage {command}")
            fewest.append(measure.end(process, f"forage {command}").ru_minflt)
    return min(fewest)


def mcp_at_rest():
    with place() as (_, environment):
        process = measure.start_stdio([measure.FORAGE, "mcp"], environment)
        measure.list_tools(process, "forage mcp")
        measure.settle()
        (found,) = measure.rollup_kib(process.pid, "Private_Dirty")
        measure.end(process, "forage mcp")
        return found


def serve_at_rest():
    """Private memory of a server that has answered once, and its descriptors and threads after a load and a rest."""
    with place() as (home, environment), serve([], home, environment) as (process, port):
        client = asking.Client(port)
        asking.tools_list(client, 0, "")
        measure.settle()
        (private,) = measure.rollup_kib(process.pid, "Private_Dirty")
        client.socket.close()
        with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
            list(pool.map(lambda who: asking.mixed_calls(port, who, LOAD_ROUNDS), range(CLIENTS)))
        time.sleep(REST_S)
        held = {name: len(os.listdir(f"/proc/{process.pid}/{folder}")) for name, folder in HELD.items()}
        return {"private memory of forage serve": private, **held}


# ---- all figures ----


def figures_of_start():
    places = relocations()
    return {
        "instructions of a start": instructions_of_start(),
        "relocations": len(places),
        "pages with relocations": len({place >> 12 for place in places}),
        "pages at a start": faults("mcp", True),
        "pages of forage version": faults("version", False),
        "private memory of forage mcp": mcp_at_rest(),
    }


# The figures of each way to count them.
WAYS = {
    "start": figures_of_start,
    **{name: lambda name=name: {f"instructions of {name}": instructions_of_call(name)} for name in CALLS},
    "rest": serve_at_rest,
}
NAMES = [
    *("instructions of a start", "relocations", "pages with relocations", "pages at a start", "pages of forage version"),
    *(f"instructions of {name}" for name in CALLS),
    *("private memory of forage mcp", "private memory of forage serve", *HELD),
]


def count(ways=tuple(WAYS)):
    """The figures, by their names."""
    for tool, tier in (("valgrind", "test"), ("readelf", "build")):
        if not shutil.which(tool):
            fail(f"there is no {tool}: run scripts/setup {tier}")
    be_the_same_everywhere()
    settle_file()
    return {name: figure for way in ways for name, figure in WAYS[way]().items()}


if __name__ == "__main__":
    if unknown := [name for name in sys.argv[1:] if name not in WAYS]:
        fail(f"nothing is called {unknown[0]}; there are: " + ", ".join(WAYS))
    for name, figure in count(sys.argv[1:] or WAYS).items():
        print(f"{name:34} {figure:10}")
