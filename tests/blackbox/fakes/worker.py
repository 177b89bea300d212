"""A stand-in for a worker's program: a script that plays what it was told, run by run, and writes down how it was
started. What the real programs do is in tests/research; this one does what they cannot be made to do."""

import json
import pathlib
import sys
import textwrap
import time

# It is started with an environment of a few variables only, so what it plays lies beside it.
SCRIPT = textwrap.dedent(
    """\
    #!{python} -IS
    import json, os, signal, subprocess, sys, time

    HERE = os.path.dirname(os.path.abspath(__file__))
    number = 0
    while True:
        try:
            os.close(os.open(os.path.join(HERE, "begun-%d" % number), os.O_CREAT | os.O_EXCL))
            break
        except FileExistsError:
            number += 1
    with open(os.path.join(HERE, "plan.json")) as file:
        plan = json.load(file)
    actions = plan[min(number, len(plan) - 1)]

    MASK = os.umask(0o077)

    def signals():
        with open("/proc/self/status") as file:
            lines = dict(line.split(":", 1) for line in file)
        return [int(lines[name], 16) for name in ("SigBlk", "ShdPnd")]

    def terminal():
        try:
            os.close(os.open("/dev/tty", os.O_RDWR))
        except OSError:
            return False
        return True

    def note(**facts):
        path = os.path.join(HERE, "run-%d.json" % number)
        with open(path + ".new", "w") as file:
            json.dump({{"argv": sys.argv, "env": dict(os.environ), "cwd": os.getcwd(), "pid": os.getpid(),
                       "group": os.getpgid(0), "session": os.getsid(0), "terminal": terminal(), "umask": MASK,
                       "nice": os.getpriority(os.PRIO_PROCESS, 0), "signals": signals(), **facts}}, file)
        os.rename(path + ".new", path)

    def write(fd, text):
        data = text.encode("utf-8", "surrogateescape")
        while data:
            data = data[os.write(fd, data):]

    stdin = "" if ["deaf", None] in actions else sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    descriptors = sorted(int(name) for name in os.listdir("/proc/self/fd"))[:-1]
    note(stdin=stdin, descriptors=descriptors)
    for verb, value in actions:
        if verb == "out":
            write(1, value)
        elif verb == "err":
            write(2, value)
        elif verb == "sleep":
            time.sleep(value)
        elif verb == "deafen":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        elif verb == "child":
            subprocess.Popen(["sleep", "1000"])
        elif verb == "orphan":  # in a session of its own, and its parent is gone
            path = os.path.join(HERE, value)
            script = "trap '' HUP; echo $$ > '%s.new'; mv '%s.new' '%s'; exec sleep 1000" % (path, path, path)
            subprocess.run(["sh", "-c", 'setsid sh -c "$0" </dev/null >/dev/null 2>&1 &', script])
        elif verb == "gate":
            while not os.path.exists(os.path.join(HERE, value)):
                time.sleep(0.005)
        elif verb == "file":
            with open(os.path.join(os.environ.get("TMPDIR", "/tmp"), value), "w") as file:
                file.write(stdin)
        elif verb == "die":
            os.kill(os.getpid(), value)
        elif verb == "exit":
            os._exit(value)
    """
)


class Worker:
    """The script in a folder of its own; `plan` is one list of actions for each run, the last one repeats."""

    def __init__(self, folder, *plan):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.path = self.folder / "worker"
        self.path.write_text(SCRIPT.format(python=sys.executable))
        self.path.chmod(0o755)
        self.play(*plan)

    def play(self, *plan):
        """What it does from now on; runs are counted anew."""
        for old in [*self.folder.glob("begun-*"), *self.folder.glob("run-*"), *self.folder.glob("gate-*")]:
            old.unlink()
        (self.folder / "plan.json").write_text(json.dumps(plan))

    def open_gate(self, name):
        (self.folder / name).touch()

    def runs(self):
        """How each run was started, in order."""
        paths = sorted(self.folder.glob("run-*.json"), key=lambda path: int(path.stem[4:]))
        return [json.loads(path.read_text()) for path in paths]

    def wait_runs(self, count, patience=120.0):
        end = time.monotonic() + patience
        while len(runs := self.runs()) < count:
            assert time.monotonic() < end, f"{len(runs)} runs, not {count}"
            time.sleep(0.002)
        return runs


# ---- actions ----


def out(text):
    return ["out", text]


def err(text):
    return ["err", text]


def leave(code):
    return ["exit", code]


def hang():
    return ["sleep", 1000]


def event(kind, **fields):
    """A line of the Gemini CLI's --output-format stream-json."""
    return out(json.dumps({"type": kind, "timestamp": "2026-11-15T12:00:00.000Z", **fields}) + "\n")


def begin(model="gemini-2.5-flash"):
    return [
        event("init", session_id="00000000-0000-0000-0000-000000000000", model=model),
        event("message", role="user", content="the prompt"),
    ]


def use(tool, number, parameters, status="success", output="done"):
    """A call of a tool, and its result."""
    id = f"{tool}_{number}"
    failed = {"error": {"type": "failed", "message": output}} if status == "error" else {}
    return [
        event("tool_use", tool_name=tool, tool_id=id, parameters=parameters),
        event("tool_result", tool_id=id, status=status, output=output, **failed),
    ]


def search(number, query):
    return use("google_web_search", number, {"query": query}, output=f'Search results for "{query}" returned.')


def read(number, url, **more):
    return use("mcp_forage_get_content", number, {"url": url}, **more)


def page(number, url, text, title="A page"):
    """A page that get_content read: the result holds it, as the real programs pass it on."""
    told = {"success": True, "url": url, "title": title, "start": 0, "truncated": False, "page_content": text}
    return read(number, url, output=json.dumps(told))


def quote(claim, words, url):
    """An item of `evidence` in an answer."""
    return {"claim": claim, "quote": words, "url": url}


def say(*pieces):
    return [event("message", role="assistant", content=piece, delta=True) for piece in pieces]


def finish(message=None):
    """The last line: well, or with an error."""
    stats = {"total_tokens": 2, "input_tokens": 1, "output_tokens": 1, "duration_ms": 1, "tool_calls": 0}
    if message is None:
        return [event("result", status="success", stats=stats)]
    return [event("result", status="error", error={"type": "unknown", "message": message}, stats=stats)]


def refused(message, code):
    """A run that the service refused."""
    return [*begin(), err("Ripgrep is not available.\n"), *finish(f"[API Error: {message}]"), leave(code)]


def answer(text, *steps):
    """A whole run that ends well, in which `steps` were done and `text` was said."""
    return [*begin(), *(action for step in steps for action in step), *say(text), *finish(), leave(0)]


def report(words="# A report", **more):
    """What the prompt of deep_search asks for."""
    return fenced({"success": True, "report": words, **more})


def result(words="A summary", **more):
    """What the prompt of search asks for."""
    return fenced({"success": True, "result": words, **more})


def fenced(value):
    return "Here it is:\n```json\n" + json.dumps(value) + "\n```\n"
