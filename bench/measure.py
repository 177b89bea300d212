"""What the benchmarks share: the programs that are compared, how they are started and asked, and how a bar is
judged. Each bar is one line that begins with PASS or MISS; scripts/bench collects those lines."""

import contextlib
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DEPS = os.path.join(ROOT, ".deps")
PEERS = os.path.join(DEPS, "peers", "node_modules")
FORAGE = os.environ.get("FORAGE", os.path.join(ROOT, "build", "forage"))
LOAD = os.path.join(ROOT, "build", "bench-load")
NODE = shutil.which("node", path=os.path.join(DEPS, "bin") + os.pathsep + os.environ["PATH"])

TOKEN = "bench-token-0123456789abcdef0123456789abcdef"
TOOL = "forage_status"
# One tool, this one: an answer as small as that of the server beside it, however many tools there are.
STATUS = {"name": TOOL, "arguments": {"tool": TOOL}}

# The peers of `forage mcp`. Some refuse to start without a key; none of them is used.
STDIO_PEERS = {
    "server-memory": [NODE, os.path.join(PEERS, "@modelcontextprotocol/server-memory/dist/index.js")],
    "exa": [NODE, os.path.join(PEERS, "exa-mcp-server/dist/stdio.cjs")],
    "tavily": [NODE, os.path.join(PEERS, "tavily-mcp/build/index.js")],
    "firecrawl": [NODE, os.path.join(PEERS, "firecrawl-mcp/dist/index.js")],
    "bare Node": [NODE, os.path.join(ROOT, "bench/bare_server.cjs")],
}
KEYS = {name: "bench" for name in ("EXA_API_KEY", "TAVILY_API_KEY", "FIRECRAWL_API_KEY")}

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "forage-bench", "version": "1.0.0"},
    },
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
TOOLS_LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}


# ---- judging ----

# The columns of a bar's line, after PASS or MISS.
COLUMNS = "{:42} {:>12} {:>16} {:>9}  {}"

missed = 0


def judge(name, good, ours, bar, theirs="", ratio=""):
    """Prints the line of one bar."""
    global missed
    missed += not good
    print("PASS " if good else "MISS ", COLUMNS.format(name, ours, theirs, ratio, bar), flush=True)


def judge_factor(name, ours, theirs, unit, least):
    """Ours must be at least so many times smaller than theirs."""
    factor = theirs / ours
    judge(
        name,
        factor >= least,
        f"{ours:.4g} {unit}",
        f"at most 1/{least}",
        f"{theirs:.4g} {unit}",
        f"1/{factor:.1f}",
    )


def finish():
    sys.exit(1 if missed else 0)


def median_of(samples, key):
    return statistics.median(sample[key] for sample in samples)


# ---- starting ----


def clean_environment(home):
    """Nothing of the machine's own configuration, so that everybody measures the same."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": home,
        "TMPDIR": home,
        "MEMORY_FILE_PATH": os.path.join(home, "memory.jsonl"),
        "NODE_PATH": PEERS,
        "BENCH_TOKEN": TOKEN,
        **KEYS,
    }


@contextlib.contextmanager
def scratch():
    """A folder for one benchmark, and the environment that its programs run in."""
    with tempfile.TemporaryDirectory(prefix="forage-bench-") as home:
        yield home, clean_environment(home)


def fail(message):
    """The benchmark cannot go on."""
    sys.exit(f"{os.path.basename(sys.argv[0])}: {message}")


def read_line(stream, what):
    line = stream.readline()
    if not line:
        fail(f"{what} ended without an answer")
    return line


def ask(process, what, messages):
    """Sends messages over stdio and waits for the answer to the last one."""
    with contextlib.suppress(BrokenPipeError):  # then there is no answer either
        process.stdin.write("".join(json.dumps(message) + "\n" for message in messages).encode())
        process.stdin.flush()
    answer = json.loads(read_line(process.stdout, what))
    if answer.get("id") != messages[-1]["id"] or "result" not in answer:
        fail(f"{what} answered {json.dumps(answer)[:200]}")


def list_tools(process, what):
    """The messages of a client up to the answer to tools/list. Over stdio, one after the other."""
    ask(process, what, [INITIALIZE])
    ask(process, what, [INITIALIZED, TOOLS_LIST])


def end(process, what):
    """Ends a program that start_stdio() started; what it used in its whole life."""
    process.stdin.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    if process.returncode != 0:
        fail(f"{what} ended with status {process.returncode}")
    return usage


def cpu_ms(usage):
    """Milliseconds of processor time."""
    return (usage.ru_utime + usage.ru_stime) * 1000


def start_stdio(command, environment):
    return subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        close_fds=False,  # the rest is close-on-exec anyway; this way Python starts it without a fork
    )


@contextlib.contextmanager
def http_server(command, environment, port_in, stream):
    """A server with the port that it says; `port_in` finds it in a line of its `stream`."""
    with tempfile.TemporaryFile() as log:
        streams = {"stdout": log, "stderr": log, stream: subprocess.PIPE}
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, **streams, preexec_fn=usual_limits
        )
        try:
            port = None
            while port is None:
                match = re.search(port_in, read_line(getattr(process, stream), command[0]).decode())
                port = match and int(match[1])
            # A log fills its pipe unless somebody reads it.
            threading.Thread(target=drain, args=(getattr(process, stream),), daemon=True).start()
            yield process, port
        finally:
            process.terminate()
            process.wait()
            getattr(process, stream).close()


def drain(stream):
    with contextlib.suppress(ValueError):  # closed, as the server has ended
        while stream.read1(1 << 20):
            pass


def usual_limits():
    """What a login shell allows; a server that wants more must ask for it."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))


def forage_http(environment, program=FORAGE):
    environment = {"FORAGE_TOKENS": f"bench:{TOKEN}", **environment}
    command = [program, "serve", "--port", "0"]
    return http_server(command, environment, r"http://127\.0\.0\.1:(\d+)", "stderr")


def peer_http(command, environment):
    """A peer that prints its port in a line of its own."""
    return http_server(command, environment, r"^(\d+)$", "stdout")


def sdk_http(environment):
    command = [NODE, os.path.join(ROOT, "bench/sdk_server.cjs")]
    return peer_http(command, environment)


# ---- asking over HTTP ----


def http_request(port, era, method, params):
    """A whole request as a client of that era sends it, with the id that bench/load.c looks for."""
    headers = {
        "Host": f"127.0.0.1:{port}",
        "User-Agent": "forage-bench/1.0",
        "Authorization": f"Bearer {TOKEN}",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
    }
    if era == "modern":
        prefix = "io.modelcontextprotocol/"
        meta = {
            prefix + "protocolVersion": "2026-07-28",
            prefix + "clientInfo": INITIALIZE["params"]["clientInfo"],
            prefix + "clientCapabilities": {},
        }
        params = {**params, "_meta": meta}
        headers |= {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
        if "name" in params:
            headers["Mcp-Name"] = params["name"]
    else:
        headers["MCP-Protocol-Version"] = "2025-11-25"
    body = json.dumps({"jsonrpc": "2.0", "id": 1000000000, "method": method, "params": params})
    body = body.replace('"id": ', '"id":')
    headers["Content-Length"] = str(len(body))
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"POST /mcp HTTP/1.1\r\n{lines}\r\n{body}".encode()


def write_request(home, port, era, method, params):
    """The request of a load, as a file."""
    path = os.path.join(home, f"{era}-{port}-{params.get('name', method).replace('/', '-')}.request")
    with open(path, "wb") as file:
        file.write(http_request(port, era, method, params))
    return path


def write_tool_call(home, port, era):
    return write_request(home, port, era, "tools/call", STATUS)


def run_load(port, request, active, idle, seconds):
    """What bench/load.c measured."""
    command = [LOAD, str(port), request, str(active), str(idle), str(seconds)]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if result.returncode != 0:
        fail(result.stderr.decode(errors="replace").strip()[:600])
    return json.loads(result.stdout)


def loaded(server, request, connections, seconds, idle=0):
    """What bench/load.c measured, and the processor time that a request took the server, in microseconds."""
    process, port = server
    before = cpu_seconds(process.pid)
    sample = run_load(port, request, connections, idle, seconds)
    return {**sample, "cpu_us": (cpu_seconds(process.pid) - before) * 1e6 / sample["requests"]}


# ---- looking at a process ----


def cpu_seconds(pid):
    """User and system time of all its threads, those that have ended too, to the nanosecond: the clock of a process has its
    number and a kind (CPUCLOCK_SCHED) in it."""
    return time.clock_gettime(~pid << 3 | 2)


def memory_mb(pid, field="VmRSS"):
    """Resident memory, in millions of bytes. VmHWM is the most that it ever was."""
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        kib = re.search(rf"^{field}:\s*(\d+) kB", file.read(), re.M)[1]
    return int(kib) * 1024 / 1e6


def rollup_kib(pid, *fields):
    """Rss, Private_Dirty and others of a whole process, in KiB."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        found = dict(re.findall(r"^(\w+): +(\d+) kB$", file.read(), re.M))
    return [int(found[field]) for field in fields]


def settle():
    """Lets a process that has just answered come to rest."""
    time.sleep(1)
