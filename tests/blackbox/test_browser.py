"""The browser, a real one: pages that scripts fill, many at once, and what happens when it does not start,
dies, is not needed any more, or loses forage.
"""

import base64
import hashlib
import http.client
import http.server
import os
import pathlib
import re
import shutil
import signal
import stat
import sys
import tempfile
import threading
import time

import pytest
from conftest import report
from http_client import exchange, request
from messages import cancelled, tool_call
from programs import PATIENCE, Server, Stdio, run, wait_until

BROWSER = next(
    filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "google-chrome"))), None
)
AT_ONCE = 50
PAGES = 4
MOST_MEMORY = 1 << 30

pytestmark = pytest.mark.skipif(not BROWSER, reason="there is no browser: scripts/setup test brings one")


# ---- a site ----

FILLED = "These words were written by a script, and no server has sent them in this order."

# Each page is filled by its script with FILLED, in its own way; @ stands for the words that do it.
FILL = f"document.getElementById('main').innerHTML = '<h1>A page</h1><p>{FILLED}</p>'"
PAGES_OF_SITE = {
    "/at-once": "<script>@</script>",
    "/fetched": "<script>fetch('/data').then(r => r.text()).then(() => @)</script>",
    "/chained": "<script>fetch('/data?wait=0.15').then(() => fetch('/data?wait=0.15'))"
    ".then(() => @)</script>",
    "/module": "<script type=module>const x = await fetch('/data'); @</script>",
    "/dialog": "<script>alert('stop'); confirm('stop'); prompt('stop'); @</script>",
    "/leaving": "<script>window.onbeforeunload = () => 'stay'; location = '/fetched'</script>",
    "/refresh": "<meta http-equiv=refresh content='0; url=/fetched'>",
    "/frames": "<iframe src='/at-once'></iframe><iframe src='about:blank'></iframe><script>@</script>",
    "/busy": "<script>@; setInterval(() => fetch('/data'), 20)</script>",
    "/long-poll": "<script>@; fetch('/data?wait=60')</script>",
    "/events": "<script>@; new EventSource('/data?wait=60')</script>",
    "/odd": "<script>@; document.title = '\\ud800'; alert('\\udc00')</script>",
    "/web-socket": "<script>new WebSocket('ws://' + location.host + '/socket')"
    ".onmessage = () => {@}</script>",
    "/long-address": "<script>@; history.pushState({}, '', '?' + 'x'.repeat(100000))</script>",
    "/blocked": "<img src='/data?wait=60'><video src='/data?wait=60'></video><script>@</script>",
}
# What a script says in a few words, without an element that is called the content.
FEW_WORDS = "Result: 42"
FEW = f"<script>document.getElementById('main').innerHTML = '<p>{FEW_WORDS}</p>'</script>"
# Pages that ask for three gigabytes, and keep what they get.
HUNGRY = {
    "/arrays": "<script>@; window.kept = []; for (let i = 0; i < 400; i++)"
    " kept.push(new Uint8Array(8 << 20).fill(i + 1))</script>",
    "/canvases": "<script>@; window.kept = []; for (let i = 0; i < 50; i++) {"
    " const c = document.createElement('canvas'); c.width = c.height = 4096;"
    " c.getContext('2d').fillRect(0, 0, 4096, 4096); kept.push(c); }</script>",
}
MOST_OF_ONE_PAGE = 900 << 20
# Short pages that no script, frame or redirect could add to.
STATIC = {
    "/short": "<h1>Example</h1><p>This domain is for examples. <a href=/more>More</a></p>",
    "/one-word": "pong",
    "/data-only": "<p>Three short words</p><script type=application/ld+json>{}</script>",
    "/nothing": "<div></div>",
}
ENDLESS = "<script>for (;;) {}</script>"
SHELL = "<!doctype html><html><head><title>A page</title></head><body><div id=main></div>%s</body></html>"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def send(self, body, type="text/html; charset=utf-8", missing=0):
        self.send_response(200)
        self.send_header("Content-Type", type)
        self.send_header("Content-Length", str(len(body) + missing))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection |= missing > 0

    def greet_socket(self):
        """The handshake of a web socket and one message, a text of two letters."""
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header(
            "Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
        )
        self.end_headers()
        self.wfile.write(b"\x81\x02hi")
        self.server.over.wait(1)

    def do_GET(self):
        path, _, query = self.path.partition("?")
        self.server.note(path)
        if query.startswith("wait="):
            self.server.over.wait(float(query[5:]))
        if path == "/socket":
            self.greet_socket()
        elif path == "/endless":
            self.send((SHELL % ENDLESS).encode())
        elif path == "/cut":  # but not when it is asked for the first time
            body = SHELL % PAGES_OF_SITE["/at-once"].replace("@", FILL)
            self.send(body.encode(), missing=1000 if self.server.asked[path] > 1 else 0)
        elif path == "/few-words":
            self.send((SHELL % FEW).encode())
        elif path in STATIC:
            self.send((SHELL % STATIC[path]).encode())
        elif path in PAGES_OF_SITE or path in HUNGRY:
            script = PAGES_OF_SITE.get(path) or HUNGRY[path]
            self.send((SHELL % script.replace("@", FILL)).encode())
        else:
            self.send(b"data", "text/plain")

    def log_message(self, *words):
        pass


class Site(http.server.ThreadingHTTPServer):
    """Pages that are empty without a browser."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.over = threading.Event()
        self.lock = threading.Lock()
        self.asked = {}
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        pass  # browsers leave when they like

    def note(self, path):
        with self.lock:
            self.asked[path] = self.asked.get(path, 0) + 1

    def url(self, path):
        return f"http://127.0.0.1:{self.server_port}{path}"

    def close(self):
        self.over.set()
        self.shutdown()
        self.server_close()


@pytest.fixture(scope="module")
def site():
    site = Site()
    yield site
    site.close()


# ---- forage and its browser ----


def settings_for(site, **more):
    return {
        "FORAGE_ALLOW_PRIVATE_HOSTS": f"127.0.0.1:{site.server_port}",
        "FORAGE_CACHE_TTL": 0,
        "FORAGE_BROWSER_PAGES": PAGES,
        **more,
    }


def start(site, **more):
    client = Stdio(**settings_for(site, **more))
    client.handshake()
    return client


@pytest.fixture(scope="module")
def shared(site):
    with start(site) as client:
        yield client


def ask_for(client, url, render="always"):
    id = client.new_id()
    client.send(tool_call("get_content", {"url": url, "render": render}, id))
    return id


def content_of(client, id):
    return client.answer(id, 2 * PATIENCE)["result"]["structuredContent"]


def read(client, url, render="always"):
    return content_of(client, ask_for(client, url, render))


class Process:
    """A process, as /proc shows it."""

    def __init__(self, path):
        text = (path / "stat").read_text()
        self.pid = int(path.name)
        self.state, parent, group = text.rpartition(")")[2].split()[:3]
        self.parent, self.group = int(parent), int(group)
        self.words = (path / "cmdline").read_bytes().split(b"\0")

    def memory(self):
        """Bytes, its share of what it shares with others counted as a share."""
        try:
            text = pathlib.Path(f"/proc/{self.pid}/smaps_rollup").read_text()
        except OSError:
            return 0
        return int(re.search(r"^Pss: *(\d+) kB", text, re.M)[1]) * 1024


def processes():
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            process = Process(path)
        except OSError:
            continue  # it has just gone
        if process.state not in "ZX":
            yield process


def browser_of(client):
    """The id of the browser's process, which is also that of its group; None: there is none. Between it and forage
    stands its warden."""
    wardens = {process.pid for process in processes() if process.parent == client.pid}
    return next((process.pid for process in processes() if process.parent in wardens), None)


def group_of(browser):
    return [process for process in processes() if process.group == browser]


def assert_filled(content):
    assert FILLED in content["page_content"], content


# ---- pages ----


@pytest.mark.parametrize("path", PAGES_OF_SITE)
def test_page_that_scripts_fill(site, shared, path):
    assert_filled(read(shared, site.url(path)))


@pytest.mark.parametrize("render", ["auto", "always"])
def test_few_words_of_a_script(site, shared, render):
    content = read(shared, site.url("/few-words"), render)
    assert FEW_WORDS in content["page_content"] and content["rendered"] is True, content


def test_address_without_end(site, shared):
    """A script gives its page an address of a hundred thousand letters: the result names one that can be asked for."""
    assert len(read(shared, site.url("/long-address"))["url"]) <= 8192


def test_debug_tells_what_was_rendered(site):
    with start(site, DEBUG="true") as client:
        assert_filled(read(client, site.url("/fetched")))
        address = re.escape(site.url("/fetched"))
        client.wait_log(rf"DEBUG req=\S+ request=GET upstream=browser address={address} http=200 bytes=[1-9]\d* ms=\d+$")


def test_only_when_it_is_needed(site, shared):
    """A page that is an empty shell is rendered by itself; never means never."""
    assert_filled(read(shared, site.url("/fetched"), "auto"))
    assert FILLED not in read(shared, site.url("/fetched"), "never")["page_content"]


def test_half_a_page_is_not_shown(site, shared):
    """The browser's own request is cut off: it would show what came."""
    content = read(shared, site.url("/cut"), "auto")
    assert content["failed"] and "rendered" not in content, content
    assert "the page was cut off while the browser loaded it" in content["page_content"]


def test_short_pages_are_just_read(site):
    """What no browser could show more of is asked for once, and starts none."""
    with start(site) as client:
        for path in STATIC:
            content = read(client, site.url(path), "auto")
            assert site.asked[path] == 1 and "rendered" not in content, (path, content)
        assert "examples" in read(client, site.url("/short"), "auto")["page_content"]
        assert browser_of(client) is None


def test_pictures_are_not_loaded(site, shared):
    """The page of this name asks for a picture and a film that never come; nobody asks the server."""
    before = site.asked.get("/data", 0)
    read(shared, site.url("/blocked"))
    assert site.asked.get("/data", 0) == before


def test_page_that_never_answers(site, shared):
    """A script that does not end costs its own page, with a note, and nobody else."""
    stuck = ask_for(shared, site.url("/endless"))
    assert_filled(read(shared, site.url("/fetched")))
    content = content_of(shared, stuck)
    assert content["failed"] and content["page_content"].startswith("_"), content
    assert_filled(read(shared, site.url("/fetched")))


def test_cancelled_page(site, shared):
    """The call is over at once, its tab is given to the next, and the others go on."""
    site.asked.pop("/endless", None)
    stuck = [ask_for(shared, site.url("/endless")) for _ in range(PAGES)]
    wait_until(lambda: site.asked.get("/endless", 0) > PAGES)
    waiting = ask_for(shared, site.url("/fetched"))
    for id in stuck:
        shared.send(cancelled(id))
    assert_filled(content_of(shared, waiting))


# ---- many ----


class Watch:
    """Looks at a browser again and again: the most memory and the most tabs that it had."""

    def __init__(self, client):
        self.client = client
        self.memory = self.tabs = 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.look, daemon=True)

    def look(self):
        while not self.over.wait(0.2):
            group = group_of(browser_of(self.client) or -1)
            self.memory = max(self.memory, sum(process.memory() for process in group))
            tabs = sum(b"--type=renderer" in b" ".join(process.words) for process in group)
            self.tabs = max(self.tabs, tabs)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join(PATIENCE)


def test_many_at_once(site):
    with start(site) as client, Watch(client) as watch:
        ids = [ask_for(client, site.url("/fetched")) for _ in range(AT_ONCE)]
        for id in ids:
            assert_filled(content_of(client, id))
    report(f"{AT_ONCE} pages at once: {watch.memory >> 20} MB, {watch.tabs} tabs at most")
    # One empty tab comes with the browser, one is kept ready by it; closed ones take a moment to go.
    assert 0 < watch.tabs <= 2 * PAGES + 2
    assert 0 < watch.memory < MOST_MEMORY


# ---- starting ----


@pytest.fixture
def open_folder():
    """A folder that the browser's user may use."""
    with tempfile.TemporaryDirectory(prefix="forage-test-") as path:
        folder = pathlib.Path(path)
        folder.chmod(0o777)
        yield folder


def write_program(folder, text):
    program = folder / "browser"
    program.write_text(text)
    program.chmod(0o755)
    return program


STAND_IN = """#!/bin/sh
echo x >> {folder}/tries
[ $(wc -l < {folder}/tries) -ge {good} ] || {{ echo "not today" >&2; exit 1; }}
exec {browser} "$@"
"""


@pytest.mark.parametrize("path", HUNGRY)
def test_page_that_takes_memory(site, path):
    """It gets so much and no more; the next page finds a browser."""
    with start(site) as client:
        with Watch(client) as watch:
            content = read(client, site.url(path))
        report(f"a page that asks for three gigabytes ({path}): {watch.memory >> 20} MB at most")
        assert FILLED in content["page_content"] or "too much memory" in content["page_content"], content
        assert 0 < watch.memory < MOST_OF_ONE_PAGE
        assert_filled(read(client, site.url("/fetched")))


def test_stand_in_that_fails_twice(site, open_folder):
    tries = open_folder / "tries"
    tries.touch()
    tries.chmod(0o666)
    program = write_program(open_folder, STAND_IN.format(folder=open_folder, good=3, browser=BROWSER))
    with start(
        site, KINDLY_BROWSER_EXECUTABLE_PATH=program, KINDLY_NODRIVER_RETRY_BACKOFF_SECONDS=0.1
    ) as client:
        assert_filled(read(client, site.url("/fetched")))
    assert tries.read_text() == "x\n" * 3


def test_each_wait_is_twice_the_one_before(site, open_folder):
    tries = open_folder / "tries"
    tries.touch()
    tries.chmod(0o666)
    program = write_program(open_folder, f"#!/bin/sh\ndate +%s.%N >>{tries}\nexit 1\n")
    with start(
        site,
        KINDLY_BROWSER_EXECUTABLE_PATH=program,
        KINDLY_NODRIVER_RETRY_ATTEMPTS=4,
        KINDLY_NODRIVER_RETRY_BACKOFF_SECONDS=0.2,
    ) as client:
        assert read(client, site.url("/fetched"))["page_content"].startswith("_")
    times = [float(line) for line in tries.read_text().split()]
    waits = [after - before for before, after in zip(times, times[1:])]
    assert len(waits) == 3 and all(wait > least for wait, least in zip(waits, (0.2, 0.4, 0.8))), waits


def test_stand_in_that_never_starts(site, open_folder):
    """The note tells what the browser said; the next call tries again."""
    tries = open_folder / "tries"
    tries.touch()
    tries.chmod(0o666)
    program = write_program(open_folder, STAND_IN.format(folder=open_folder, good=5, browser=BROWSER))
    with start(
        site,
        KINDLY_BROWSER_EXECUTABLE_PATH=program,
        KINDLY_NODRIVER_RETRY_ATTEMPTS=2,
        KINDLY_NODRIVER_RETRY_BACKOFF_SECONDS=0,
    ) as client:
        for _ in range(2):
            assert "not today" in str(read(client, site.url("/fetched")))
        assert_filled(read(client, site.url("/fetched")))


def test_browser_that_cannot_be_used(site, open_folder):
    with start(site, CHROME_BIN=open_folder / "missing") as client:
        assert "is no program" in str(read(client, site.url("/fetched")))


# With so long a pause before a second try, one would end the call by its deadline, which says something else.
FOR_EVER = {"KINDLY_NODRIVER_RETRY_ATTEMPTS": 10, "KINDLY_NODRIVER_RETRY_BACKOFF_SECONDS": 60, "KINDLY_TOOL_TOTAL_TIMEOUT_SECONDS": 30}


@pytest.mark.parametrize(
    "text",
    ["some words\n", "#!/etc/hostname\n", "#!/proc/nonexistent\n", "#!/bin/sh\necho x >> {tries}\n"],
    ids=["ENOEXEC", "EACCES", "ENOENT", "exit code 0"],
)
def test_browser_that_can_never_start(site, open_folder, text):
    """It is tried once."""
    tries = open_folder / "tries"
    tries.touch()
    tries.chmod(0o666)
    program = write_program(open_folder, text.format(tries=tries))
    with start(site, KINDLY_BROWSER_EXECUTABLE_PATH=program, **FOR_EVER) as client:
        assert "does not start" in str(read(client, site.url("/fetched")))
    assert tries.read_text() == ("x\n" if "tries" in text else "")


# ---- a Snap ----

# What `snap run` and its confinement make of a browser: no descriptors but three, a home of its own, no hidden folders in
# the real one, and another /tmp. The first start names a port at which nobody is.
SNAP = """#!{python}
import os, signal, sys

os.closerange(3, 4096)
home = os.environ["HOME"]
own = home + "/snap/" + os.path.basename(sys.argv[0])
os.makedirs(own + "/common", exist_ok=True)
with open(home + "/starts", "a") as starts:
    starts.write("x\\n")
with open(home + "/starts") as starts:
    if len(starts.read().split()) == 1:
        sys.stderr.write("\\nDevTools listening on ws://127.0.0.1:1/devtools/browser/x\\n")
        sys.stderr.flush()
        signal.pause()
words = []
for word in sys.argv[1:]:
    name, _, folder = word.partition("=")
    if name == "--user-data-dir":
        inside = folder.startswith(home + "/")
        if inside and "/." in folder[len(home):]:
            sys.exit("cannot open " + folder + ": Permission denied")
        word = word if inside else name + "=" + own + "/tmp" + folder
    words.append(word)
environment = dict(os.environ, HOME=own + "/current", TMPDIR="/tmp")
os.execve({browser!r}, [{browser!r}, *words], environment)
"""


@pytest.fixture
def snap(open_folder):
    """The settings of a machine whose only browser is a Snap, as Ubuntu's: a link to a program called snap."""
    folder, home = open_folder / "bin", open_folder / "home"
    folder.mkdir()
    home.mkdir()
    program = folder / "snap"
    program.write_text(SNAP.format(python=sys.executable, browser=BROWSER))
    program.chmod(0o755)
    (folder / "chromium").symlink_to("snap")
    return {"PATH": folder, "HOME": home, "KINDLY_NODRIVER_RETRY_BACKOFF_SECONDS": 0}


def starts_of(snap):
    path = snap["HOME"] / "starts"
    return len(path.read_text().split()) if path.exists() else 0


def test_a_snap(site, snap):
    """The second start is spoken to, at the port that it has chosen, and keeps its things where it may."""
    common = snap["HOME"] / "snap" / "chromium" / "common"
    with start(site, **snap) as client:
        for path in ("/fetched", "/frames", "/dialog", "/long-address"):
            assert_filled(read(client, site.url(path)))
        words = next(process.words for process in processes() if process.pid == browser_of(client))
        assert b"--remote-debugging-port=0" in words and b"--remote-debugging-pipe" not in words
        (folder,) = [path for path in common.glob("forage-browser-*") if path.is_dir()]
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700 and (folder / "Default").is_dir()
        first = browser_of(client)
        os.kill(first, signal.SIGKILL)
        assert_filled(read(client, site.url("/fetched")))
        assert browser_of(client) not in (None, first)
    assert starts_of(snap) == 3
    wait_until(lambda: not list(common.glob("forage-browser-*")))


def test_a_snap_whose_starts_all_fail(site, snap):
    with start(site, KINDLY_NODRIVER_RETRY_ATTEMPTS=1, **snap) as client:
        assert "no connection could be made to its port" in str(read(client, site.url("/fetched")))
        assert_filled(read(client, site.url("/fetched")))
    assert starts_of(snap) == 2


def test_a_snap_only_where_there_is_no_other(site, snap):
    (snap["PATH"] / "google-chrome").symlink_to(BROWSER)
    with start(site, **snap) as client:
        assert_filled(read(client, site.url("/fetched")))
    assert starts_of(snap) == 0


def test_a_server_uses_a_snap_only_where_it_is_named(site, snap):
    """Other users of the machine can reach its port."""
    program = snap["PATH"] / "chromium"
    for more, starts in (({}, 0), ({"CHROME_BIN": program}, 0), ({"KINDLY_BROWSER_EXECUTABLE_PATH": program}, 2)):
        with Server(**settings_for(site, **snap, **more)) as server:
            body = {"url": site.url("/fetched"), "render": "always"}
            answer = exchange(server.port, request("POST", "/api/v1/tools/get_content", None, body)).json()
        if starts:
            assert_filled(answer)
        else:
            assert "FORAGE_BROWSER_PATH" in answer["page_content"], answer
        assert starts_of(snap) == starts


# ---- ending ----


def test_browser_that_is_killed(site):
    with start(site) as client:
        assert_filled(read(client, site.url("/fetched")))
        first = browser_of(client)
        os.kill(first, signal.SIGKILL)
        assert_filled(read(client, site.url("/fetched")))
        assert browser_of(client) not in (None, first)


def test_browser_that_is_killed_under_a_page(site):
    """The page gets another try, with a new browser."""
    with start(site) as client:
        site.asked.pop("/long-poll", None)
        waiting = ask_for(client, site.url("/long-poll"))
        # First the plain page is read, then the browser's.
        wait_until(lambda: site.asked.get("/long-poll", 0) > 1)
        os.kill(browser_of(client), signal.SIGKILL)
        assert_filled(content_of(client, waiting))


def test_forage_that_is_killed(site, open_folder):
    """No browser is left, and no folder of it. The bar is 3 seconds."""
    with start(site, TMPDIR=open_folder) as client:
        assert_filled(read(client, site.url("/fetched")))
        browser = browser_of(client)
        assert group_of(browser) and list(open_folder.glob("forage-browser-*"))
        killed = time.monotonic()
        client.signal(signal.SIGKILL)
        client.process.wait()
        wait_until(lambda: not group_of(browser))
        report(f"the browser was gone {time.monotonic() - killed:.2f} s after forage was killed")
        client.end = lambda: None
    wait_until(lambda: not list(open_folder.glob("forage-browser-*")))


def test_forage_that_ends(site, open_folder):
    with start(site, TMPDIR=open_folder) as client:
        assert_filled(read(client, site.url("/fetched")))
        browser = browser_of(client)
        folder = next(path for path in open_folder.glob("forage-browser-*") if path.is_dir())
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    wait_until(lambda: not group_of(browser))
    assert not list(open_folder.glob("forage-browser-*"))


def test_command_that_ends(site, open_folder):
    """A command does not wait for its browser's end; nothing of it is left all the same."""
    completed = run("read", site.url("/fetched"), TMPDIR=open_folder, **settings_for(site))
    assert completed.returncode == 0 and FILLED in completed.stdout
    wait_until(lambda: not list(open_folder.iterdir()))
    wait_until(lambda: not any(str(open_folder).encode() in b" ".join(one.words) for one in processes()))


def test_folder_that_the_browser_may_not_enter(site, open_folder):
    """A browser of another user gets its folder where it can reach it."""
    closed = open_folder / "closed"
    closed.mkdir(mode=0o700)
    with start(site, TMPDIR=closed) as client:
        assert_filled(read(client, site.url("/fetched")))
        assert os.geteuid() != 0 or not list(closed.iterdir())


def test_idle_browser_is_ended(site):
    with start(site, FORAGE_BROWSER_IDLE_SECONDS=1) as client:
        assert_filled(read(client, site.url("/fetched")))
        first = browser_of(client)
        wait_until(lambda: not group_of(first))
        assert_filled(read(client, site.url("/fetched")))
        assert browser_of(client) != first


def test_browser_is_not_root(site):
    """Where forage runs as root, its browser does not."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("needs root, and setpriv")
    with start(site) as client:
        assert_filled(read(client, site.url("/fetched")))
        assert os.stat(f"/proc/{browser_of(client)}").st_uid != 0


def test_proxy_is_for_the_browser_only(site):
    """Whoever finds the port of the browser's proxy is refused."""
    with start(site) as client:
        assert_filled(read(client, site.url("/fetched")))
        words = next(process.words for process in processes() if process.pid == browser_of(client))
        (port,) = [int(word.rpartition(b":")[2]) for word in words if word.startswith(b"--proxy-server=")]
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        connection.request("GET", site.url("/data"))
        assert connection.getresponse().status == 407
        connection.close()
