"""Pages of other origins, in a real browser: they can neither read nor change anything, with and without tokens."""

import http.server
import json
import threading

import pytest
from filling import ask, filled_server
from people import ALICE, THREE

# Everything that a page may try without asking first. Each attempt writes what came of it; "blocked" is what must be there.
ATTACK = """
(async () => {
  const to = TARGET;
  const tell = async (make) => { try { return await make(); } catch (error) { return "blocked"; } };
  const read = (path, options) => tell(async () => { const r = await fetch(to + path, options); return r.type === "opaque" ? "opaque" : r.status + " " + (await r.text()).slice(0, 80); });
  const body = JSON.stringify({ key: "plan", text: "Stolen." });
  const load = (tag, attribute, path) => new Promise((done) => {
    const one = document.createElement(tag);
    one.onload = () => done("loaded"); one.onerror = () => done("blocked");
    one[attribute] = to + path;
    if (tag === "link") one.rel = "stylesheet";
    document.body.append(one);
    setTimeout(() => done("blocked"), 1500);
  });
  const found = {
    read: await read("/api/v1/memories/plan"),
    read_with_cookie: await read("/api/v1/memories/plan", { credentials: "include" }),
    session: await read("/api/v1/session", { credentials: "include" }),
    opaque: await read("/api/v1/memories/plan", { mode: "no-cors", credentials: "include" }),
    text: await read("/api/v1/memories", { method: "POST", mode: "no-cors", credentials: "include", headers: { "Content-Type": "text/plain" }, body }),
    json: await read("/api/v1/memories", { method: "POST", credentials: "include", headers: { "Content-Type": "application/json", "X-Forage-Page": "0" }, body }),
    put: await read("/api/v1/memories/plan", { method: "PUT", credentials: "include", headers: { "Content-Type": "application/json" }, body }),
    remove: await read("/api/v1/memories/plan", { method: "DELETE", credentials: "include" }),
    tool: await read("/api/v1/tools/memory_add", { method: "POST", mode: "no-cors", credentials: "include", body }),
    mcp: await read("/mcp", { method: "POST", mode: "no-cors", credentials: "include", body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "memory_add", arguments: { key: "plan", text: "Stolen." } } }) }),
    picture: await load("img", "src", "/dashboard/icon.svg"),
    picture_of_memory: await load("img", "src", "/api/v1/memories/plan"),
    script: await load("script", "src", "/dashboard/dom.js"),
    style: await load("link", "href", "/dashboard/style.css"),
    beacon: (navigator.sendBeacon(to + "/api/v1/memories", new Blob([body], { type: "text/plain" })), "sent"),
    socket: await new Promise((done) => {
      const socket = new WebSocket(to.replace("http", "ws") + "/mcp");
      socket.onopen = () => done("open"); socket.onerror = () => done("blocked");
    }),
    stream: await new Promise((done) => {
      const source = new EventSource(to + "/api/v1/events", { withCredentials: true });
      source.onmessage = source.onopen = () => done("open"); source.onerror = () => { source.close(); done("blocked"); };
    }),
  };
  const frame = document.createElement("iframe");
  frame.name = "frame";
  document.body.append(frame);
  for (const [method, type] of [["POST", "text/plain"], ["POST", "application/x-www-form-urlencoded"], ["POST", "multipart/form-data"], ["GET", ""]]) {
    const form = Object.assign(document.createElement("form"), { method, enctype: type, action: to + "/api/v1/memories", target: "frame" });
    form.append(Object.assign(document.createElement("input"), { name: '{"key":"plan","text":"Stolen.","x":"', value: '"}' }));
    document.body.append(form);
    form.submit();
    await new Promise((done) => setTimeout(done, 150));
  }
  frame.src = to + "/";
  await new Promise((done) => { frame.onload = done; setTimeout(done, 1500); });
  found.framed = await tell(async () => frame.contentDocument ? "readable" : "blocked");
  return found;
})()
"""


class Elsewhere(http.server.BaseHTTPRequestHandler):
    """An empty page of a stranger."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>elsewhere</title><body>")

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def elsewhere():
    """The port of a server of somebody else on this machine."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module", params=["open", "tokens"])
def target(request, tmp_path_factory):
    """A server with a memory, without tokens and with them."""
    more = {"FORAGE_TOKENS": THREE} if request.param == "tokens" else {}
    with filled_server("target", tmp_path_factory.mktemp("target"), **more) as server:
        server.token = ALICE if more else None
        ask(server, "POST", "/api/v1/memories", {"key": "plan", "text": "Sail at dawn."}, server.token)
        yield server


def plan(server):
    return json.dumps(ask(server, "GET", "/api/v1/memories/plan", token=server.token))


def sign_in(browser, server):
    """With a cookie in the browser, as its owner has it."""
    browser.open(f"http://127.0.0.1:{server.port}/dashboard/icon.svg")
    if server.token:
        body = json.dumps(json.dumps({"token": server.token}))
        sent = f"fetch('/api/v1/session', {{ method: 'POST', headers: {{ 'Content-Type': 'application/json' }}, body: {body} }}).then((r) => r.status)"
        assert browser.run(sent) == 200
        assert browser.run("fetch('/api/v1/memories/plan').then((r) => r.status)") == 200


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "rebound.example"])
def test_a_page_of_another_origin_gets_nothing(browser, elsewhere, target, host):
    """Another port of this machine, another name of it, and a name of the web that has come to mean it."""
    browser.ask("Network.clearBrowserCookies")
    sign_in(browser, target)
    browser.open(f"http://{host}:{elsewhere}/")
    found = browser.run(ATTACK.replace("TARGET", json.dumps(f"http://127.0.0.1:{target.port}")))
    allowed = {"beacon": "sent", "opaque": "opaque", "text": "opaque", "tool": "opaque", "mcp": "opaque"}
    wrong = {name: came for name, came in found.items() if came not in ("blocked", allowed.get(name))}
    assert not wrong, wrong
    assert "Sail at dawn." in plan(target) and "Stolen" not in plan(target)
    assert "Stolen" not in json.dumps(ask(target, "GET", "/api/v1/memories", token=target.token))
    browser.ask("Network.clearBrowserCookies")


def test_a_name_that_means_this_machine_is_no_name_of_the_server(browser, target):
    """DNS rebinding: the stranger's page and our server have the same origin, but not the same name."""
    browser.open("about:blank")
    browser.ask("Page.navigate", url=f"http://rebound.example:{target.port}/")
    browser.wait("location.host.startsWith('rebound.example') && document.readyState === 'complete'")
    for path in ("/", "/api/v1/session", "/api/v1/memories/plan", "/dashboard/app.js"):
        assert browser.run(f"fetch('{path}').then((r) => r.status)") == 403, path
    change = "{ method: 'PUT', headers: { 'Content-Type': 'application/json' }, body: '{\"text\":\"Stolen.\"}' }"
    assert browser.run(f"fetch('/api/v1/memories/plan', {change}).then((r) => r.status)") == 403
    assert "Stolen" not in plan(target)


def test_a_link_from_elsewhere_opens_the_page(browser, elsewhere, target):
    """Which is all that another site may do; a page that opened it cannot look in."""
    browser.open(f"http://127.0.0.1:{elsewhere}/")
    browser.run(f"location.href = 'http://127.0.0.1:{target.port}/'")
    browser.wait(f"location.port === '{target.port}' && !!document.querySelector('main')")
    browser.open(f"http://localhost:{elsewhere}/")
    assert browser.run(
        f"(async () => {{ const other = window.open('http://127.0.0.1:{target.port}/'); await new Promise((done) => setTimeout(done, 800));"
        "try { return other ? other.document.title : 'closed'; } catch { return 'closed'; } })()"
    ) in ("closed", "")
