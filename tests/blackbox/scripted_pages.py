"""A site of pages that scripts fill, each in its own way, on loopback: for the tests of rendering, and for its bench.

A page writes sentences (`say`), and tells the site when it has written its last one.
"""

import base64
import hashlib
import http.server
import struct
import threading
import time


def sentence(page, number):
    return f"This is sentence {number} of the page {page}, and a script wrote it."


class Page:
    """`script` runs at the end of the body; `count` sentences come of it, and it is complete with them. `ends`: whether
    the page stops by itself; of one that does not, the result must say what was not waited for. `rests`: whether nothing
    of its start is pending after its last sentence."""

    def __init__(self, script, count=1, body="<main id=main></main>", ends=True, rests=True, max_chars=None):
        self.script, self.count, self.body = script, count, body
        self.ends, self.rests, self.max_chars = ends, ends and rests, max_chars


HELPERS = """<script>
const NAME = '@NAME', COUNT = @COUNT;
let said = 0;
const words = (n) => `This is sentence ${n} of the page ${NAME}, and a script wrote it.`;
function tell() { if (++said === COUNT) navigator.sendBeacon('/mark/' + NAME); }
function paragraph(n) { const p = document.createElement('p'); p.textContent = words(n); return p; }
function say(n, where) { (where || document.getElementById('main')).append(paragraph(n)); tell(); }
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const get = (path) => fetch('/data' + path).then((answer) => answer.text());
</script>"""

FRAME_HELPERS = """<script>
const words = (n) => `This is sentence ${n} of the page @NAME, and a script wrote it.`;
function say(n) { const p = document.createElement('p'); p.textContent = words(n); document.body.append(p); parent.tell(); }
</script>"""

# Rows of a list that shows only those which are in sight: at their places, or always the same elements.
VIRTUAL = """
const view = document.getElementById('view'), inner = document.getElementById('inner');
view.style.cssText = 'height:300px;overflow-y:auto'; inner.style.cssText = 'position:relative;height:' + 40 * COUNT + 'px';
const rows = Array.from({length: RECYCLED ? 12 : 0}, () => inner.appendChild(document.createElement('div')));
function show() {
  const first = Math.max(0, Math.floor(view.scrollTop / 40) - 2), last = Math.min(COUNT, first + 12);
  if (!RECYCLED) inner.replaceChildren();
  for (let n = first; n < last; n++) {
    const row = RECYCLED ? rows[n % 12] : inner.appendChild(document.createElement('div'));
    row.style.cssText = `position:absolute;height:40px;top:${40 * n}px`; row.textContent = words(n);
  }
}
view.addEventListener('scroll', () => requestAnimationFrame(show)); show();
"""
VIRTUAL_BODY = "<main id=main><div id=view><div id=inner></div></div></main>"

GROWING = """
let next = 0, busy = false;
async function more() {
  if (busy || next >= COUNT) return;
  busy = true; await get('?wait=0.05&n=' + next);
  for (let i = 0; i < 10 && next < COUNT; i++) { say(next++); main.lastChild.style.minHeight = '100px'; }
  busy = false;
}
"""

CARD = """
class Card extends HTMLElement {
  connectedCallback() {
    this.attachShadow({mode: 'open'}).innerHTML =
      `<style>p { color: red }</style><article><p>${words(this.dataset.n)}</p><slot name=more></slot><slot></slot></article>`;
    tell();
  }
}
customElements.define('a-card', Card);
"""

PAGES = {
    # ---- timers ----
    "at-once": Page("say(0)"),
    "timer-0": Page("setTimeout(() => say(0))"),
    "timer-50": Page("setTimeout(() => say(0), 50)"),
    "timer-300": Page("setTimeout(() => say(0), 300)"),
    "timer-1000": Page("setTimeout(() => say(0), 1000)"),
    "timer-2500": Page("say(0); setTimeout(() => say(1), 2500)", 2),
    "timer-5000": Page("say(0); setTimeout(() => say(1), 5000)", 2),
    "timer-chain": Page("let n = 0; (function step() { say(n++); if (n < 5) setTimeout(step, 250) })()", 5),
    "silent-chain": Page("(async () => { for (let i = 0; i < 3; i++) await sleep(400); say(0) })()"),
    "interval": Page("let n = 0; const id = setInterval(() => { say(n++); if (n === 8) clearInterval(id) }, 200)", 8),
    "timer-of-text": Page("setTimeout('say(0)', 300)"),
    "idle": Page("requestIdleCallback(() => say(0))"),
    "frames-of-animation": Page(
        "let n = 0; (function step() { if (++n === 5) say(0); else requestAnimationFrame(step) })()"
    ),
    "typewriter": Page(
        "const p = main.appendChild(document.createElement('p')); let n = 0;"
        "(function step() { p.textContent = words(0).slice(0, ++n);"
        "if (n < words(0).length) setTimeout(step, 20); else tell() })()"
    ),
    # ---- requests ----
    "late-fetch": Page("setTimeout(() => get('').then(() => say(0)), 600)"),
    "fetch-chain": Page("(async () => { for (let i = 0; i < 5; i++) await get('?wait=0.15&step=' + i); say(0) })()"),
    "slow-fetch": Page("say(0); get('?wait=3').then(() => say(1))", 2),
    "slow-fetch-of-an-empty-page": Page("get('?wait=9').then(() => say(0))"),
    "many-fetches": Page(
        "Promise.all(Array.from({length: 12}, (_, i) => get('?wait=0.' + (i % 9 + 1) + '&item=' + i))).then(() => say(0))"
    ),
    "XMLHttpRequest": Page(
        "const x = new XMLHttpRequest(); x.onload = () => say(0); x.open('GET', '/data?wait=0.3'); x.send()"
    ),
    "import": Page("import('/module/@NAME').then((module) => module.default(say))"),
    "added-script": Page("const s = document.createElement('script'); s.src = '/script/@NAME'; document.body.append(s)"),
    "stream": Page(
        "(async () => { const r = (await fetch('/stream?count=5&pause=0.2')).body.getReader(); let n = 0;"
        "for (;;) { const {done} = await r.read(); if (done) break; if (n < COUNT) say(n++) } })()",
        5,
        rests=False,
    ),
    # ---- what never ends ----
    "polling": Page("say(0); setInterval(() => get('?time=' + Date.now()), 20)"),
    "polling-by-timeout": Page(
        "say(0); (async function poll() { await get('?time=' + Date.now()); setTimeout(poll, 500) })()",
        rests=False,
    ),
    "polling-that-brings-text": Page(
        "let n = 0; setInterval(() => get('?time=' + Date.now()).then(() => { if (n < COUNT) say(n++) }), 300)", 5
    ),
    "long-poll": Page("say(0); get('?wait=60')", ends=False),
    "web-socket": Page(
        "let n = 0; new WebSocket('ws://' + location.host + '/socket?count=5&pause=0.05')"
        ".onmessage = () => { if (n < COUNT) say(n++) }",
        5,
    ),
    "event-source": Page(
        "let n = 0; new EventSource('/events?count=4&pause=0.05').onmessage = () => { if (n < COUNT) say(n++) }", 4
    ),
    "endless-animation": Page(
        "say(0); const d = main.appendChild(document.createElement('div')); let n = 0;"
        "(function step() { d.style.width = n++ % 100 + 'px'; d.textContent = n; requestAnimationFrame(step) })()"
    ),
    "clock": Page(
        "say(0); const p = main.appendChild(document.createElement('p'));"
        "setInterval(() => p.textContent = new Date().toISOString(), 50)"
    ),
    "texts-that-take-turns": Page(
        "say(0); const p = main.appendChild(document.createElement('p')); let n = 0;"
        "setInterval(() => p.textContent = ['Some words.', 'Some words, and then many more.'][n++ % 2], 200)",
        rests=False,
    ),
    "endless-text": Page("let n = 0; setInterval(() => say(n++), 200)", 5, ends=False),
    # ---- workers ----
    "worker": Page(
        "new Worker(URL.createObjectURL(new Blob(['setTimeout(() => postMessage(1), 700)']))).onmessage = () => say(0)"
    ),
    "worker-with-an-address": Page("new Worker('/worker.js').onmessage = () => say(0)"),
    "service-worker": Page(
        "(async () => { await navigator.serviceWorker.register('/service-worker.js');"
        "await navigator.serviceWorker.ready;"
        "if (!navigator.serviceWorker.controller) await new Promise((done) =>"
        " navigator.serviceWorker.addEventListener('controllerchange', done));"
        "const answer = await (await fetch('/virtual')).text(); if (answer === 'virtual') say(0) })()"
    ),
    # ---- shadows and frames ----
    "shadow-roots": Page(
        CARD + "setTimeout(() => main.innerHTML = '<a-card data-n=0>' + '<b slot=more>the slot has this</b>'"
        " + '<a-card data-n=1></a-card></a-card>', 200)",
        2,
    ),
    "declared-shadow": Page(
        "setTimeout(tell)", body="<main><div><template shadowrootmode=open><p>@SENTENCE</p></template></div></main>"
    ),
    "frame": Page("", body="<main id=main></main><iframe src='/frame/@NAME' width=400 height=200></iframe>"),
    "frame-of-text": Page(
        "const f = document.createElement('iframe'); f.width = 400; f.height = 200; document.body.append(f);"
        "setTimeout(() => { f.contentDocument.body.append(paragraph(0)); tell() }, 400)"
    ),
    # ---- lists ----
    "list-that-grows": Page(
        GROWING + "addEventListener('scroll', () => {"
        " if (scrollY + innerHeight > document.documentElement.scrollHeight - 200) more() }); more()",
        100,
    ),
    "list-with-a-sentinel": Page(
        GROWING + "const end = document.body.appendChild(document.createElement('div')); end.style.height = '10px';"
        "new IntersectionObserver((seen) => seen[0].isIntersecting && more()).observe(end)",
        60,
    ),
    "list-without-end": Page(
        GROWING + "addEventListener('scroll', () => {"
        " if (scrollY + innerHeight > document.documentElement.scrollHeight - 200) more() }); more()",
        10000,
        ends=False,
        max_chars=3000,
    ),
    "virtual-list": Page("const RECYCLED = false;" + VIRTUAL, 100, VIRTUAL_BODY),
    "virtual-list-of-the-same-rows": Page("const RECYCLED = true;" + VIRTUAL, 100, VIRTUAL_BODY),
    # ---- the rest ----
    "routing": Page(
        "function go() { if (location.pathname.endsWith('/home')) get('?wait=0.2').then(() => say(0)) }"
        "setTimeout(() => { history.pushState({}, '', '/page/@NAME/home'); go() }, 200)"
    ),
    "routing-by-hash": Page("onhashchange = () => get('?wait=0.2').then(() => say(0)); location.hash = '#/home'"),
    "moved-by-script": Page("setTimeout(() => location = '/page/@NAME/moved', 200)"),
    "consent-first": Page(
        "const box = document.body.appendChild(document.createElement('div')); box.className = 'cookie-consent';"
        "box.style.cssText = 'position:fixed;bottom:0'; box.innerHTML = 'We use cookies. <button>Accept</button>';"
        "setInterval(() => document.cookie.includes('accepted'), 100); get('?wait=0.3').then(() => say(0))"
    ),
    "errors": Page(
        "setTimeout(() => { throw new Error('one') }, 50); Promise.reject(new Error('two'));"
        "fetch('http://127.0.0.1:1/').catch(() => {}); setTimeout(() => say(0), 400); undefinedName()"
    ),
    "prototypes": Page(
        "Array.prototype.toJSON = () => 'x'; Map = Set = Proxy = undefined; Array.prototype[Symbol.iterator] = null;"
        "String.prototype.slice = () => 'x'; performance.now = () => 0; setTimeout(() => say(0), 400)"
    ),
}


def document(name, page, moved=False):
    script = "say(0)" if moved else page.script
    text = f"<!doctype html><html><head><title>A page</title>{HELPERS}</head><body>{page.body}<script>{script}</script></body></html>"
    text = text.replace("@SENTENCE", sentence(name, 0)).replace("@COUNT", str(page.count))
    return text.replace("@NAME", name)


SERVICE_WORKER = """addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
addEventListener('fetch', (event) => {
  if (new URL(event.request.url).pathname === '/virtual') event.respondWith(new Response('virtual')) });"""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def give(self, text, kind="text/html; charset=utf-8"):
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def open_stream(self, kind):
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Connection", "close")
        self.end_headers()

    def pieces(self, query):
        """Goes through the pieces of what stays open, each after its pause; and stays."""
        for _ in range(int(query["count"])):
            self.server.over.wait(float(query["pause"]))
            yield
        self.server.over.wait(60)

    def greet_socket(self, query):
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.close_connection = True
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
        self.end_headers()
        for _ in self.pieces(query):
            self.wfile.write(struct.pack("BB", 0x81, 2) + b"hi")

    def do_GET(self):
        path, _, text = self.path.partition("?")
        query = dict(part.partition("=")[::2] for part in text.split("&"))
        kind, _, name = path[1:].partition("/")
        name, _, below = name.partition("/")
        self.server.over.wait(float(query.get("wait", 0)))
        if kind == "page" and name in PAGES:
            self.give(document(name, PAGES[name], below == "moved"))
        elif kind == "frame":
            self.give(f"<body>{FRAME_HELPERS}<script>setTimeout(() => say(0), 300)</script>".replace("@NAME", name))
        elif kind == "module":
            self.give("await new Promise((done) => setTimeout(done, 300)); export default (say) => say(0)", "text/javascript")
        elif kind == "script":
            self.give("say(0)", "text/javascript")
        elif kind == "worker.js":
            self.give("fetch('/data?wait=0.5').then(() => postMessage(1))", "text/javascript")
        elif kind == "service-worker.js":
            self.give(SERVICE_WORKER, "text/javascript")
        elif kind == "socket":
            self.greet_socket(query)
        elif kind == "events":
            self.open_stream("text/event-stream")
            for _ in self.pieces(query):
                self.wfile.write(b"data: x\n\n")
        elif kind == "stream":
            self.open_stream("text/plain")
            for _ in self.pieces(query):
                self.wfile.write(b"piece\n")
        else:
            self.give("data", "text/plain")

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.marks[self.path.rpartition("/")[2]] = time.monotonic()
        self.give("")

    def log_message(self, *words):
        pass


class Site(http.server.ThreadingHTTPServer):
    """`marks` has the time at which each page had written its last sentence."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.over = threading.Event()
        self.marks = {}
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        pass  # browsers leave when they like

    @property
    def host(self):
        return f"127.0.0.1:{self.server_port}"

    def url(self, name):
        return f"http://{self.host}/page/{name}"

    def close(self):
        self.over.set()
        self.shutdown()
        self.server_close()
