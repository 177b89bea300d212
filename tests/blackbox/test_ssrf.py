"""What strangers ask for must not reach what is not public: no spelling of an address, no name, no redirect,
no script of a rendered page. It is seen from the other side: in an internet of our own every address but one
is a trap, and no trap is sprung.
"""

import pytest
from little_internet import LOCAL_SITE, TRAP_WORDS, LittleInternet, missing
from messages import tool_call
from programs import Stdio
from test_browser import BROWSER

# ---- the attempts ----

# An address that is not public, in all the ways that somebody may write it.
ADDRESSES = [
    "127.0.0.1",
    "127.0.0.1.",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7f.0.0.1",
    "0x7f.1",
    "0177.0.0.1",
    "017700000001",
    "00000177.0.0.0x1",
    "127.255.255.254",
    "%31%32%37.0.0.1",
    "127%2e0%2e0%2e1",
    "①②⑦.⓪.⓪.①",
    "127。0。0。1",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "0",
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "012.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.1",
    "3232235521",
    "169.254.0.1",
    "169.254.169.254",
    "0xa9fea9fe",
    "2852039166",
    "168.63.129.16",
    "100.64.0.1",
    "100.100.100.200",
    "192.0.0.192",
    "192.0.2.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:10.0.0.1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b:1::a00:1]",
    "[2002:7f00:1::]",
    "[2002:a9fe:a9fe::1]",
    "[2001:0:7f00:1::]",
    "[2001:db8::1]",
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[fe80::1]",
    "[fec0::1]",
    "[ff02::1]",
]

# Names that lead there.
NAMES = [
    "x.at-127-0-0-1.example",
    "x.at-10-0-0-1.example",
    "x.at-192-168-1-1.example",
    "x.at-169-254-169-254.example",
    "x.at-100-64-0-1.example",
    "x.at-0-0-0-0.example",
    "x.at---1.example",
    "x.at-fd00--1.example",
    "x.at-fe80--1.example",
    "x.at---ffff-7f00-1.example",
    "x.at-64-ff9b--a00-1.example",
    "both.example",
]

# Whole URLs: other ports, and authorities that two readers may understand differently.
URLS = [
    "http://127.0.0.1:8080/",
    "http://127.0.0.1:22/",
    "https://127.0.0.1/",
    "https://x.at-10-0-0-1.example/",
    "http://site.example@127.0.0.1/",
    "http://site.example:80@127.0.0.1/",
    "http://127.0.0.1#@site.example/",
    "http://127.0.0.1\\@site.example/",
    "http://site.example\\@127.0.0.1/",
    "http:\\\\127.0.0.1/",
    "http:/127.0.0.1/",
    "http:127.0.0.1/",
    "http:///127.0.0.1/",
    "http://127.0.0.1\t/",
    "http://127.0.\n0.1/",
    "file:///etc/passwd",
    "gopher://127.0.0.1:80/_GET",
    "ftp://127.0.0.1/",
    "dict://127.0.0.1:8080/",
    "view-source:http://127.0.0.1/",
    "data:text/html,<p>x</p>",
]

REDIRECT_TARGETS = [
    "http://127.0.0.1/",
    "http://[::1]/",
    "http://x.at-10-0-0-1.example/",
    "//0x7f.1/",
    "file:///etc/passwd",
]

# What a page may do once it is rendered, at an address that its browser trusts like https. TARGET is replaced
# by http://127.0.0.1 and, in turn, by a name that has the address 10.0.0.1; HOST by the same without its
# scheme.
IN_A_PAGE = {
    "fetch": "<script>fetch('TARGET/').then(r => r.text()).then(say, say)</script>",
    "fetch, opaque": "<script>fetch('TARGET/', {mode: 'no-cors'}).then(() => 0, say)</script>",
    "fetch, redirected": "<script>fetch('/to-trap').then(r => r.text()).then(say, say)</script>",
    "XMLHttpRequest": "<script>let x = new XMLHttpRequest(); x.open('GET', 'TARGET/'); x.send()</script>",
    "beacon": "<script>navigator.sendBeacon('TARGET/', 'x')</script>",
    "event source": "<script>new EventSource('TARGET/')</script>",
    "web socket": "<script>new WebSocket('ws://HOST/')</script>",
    "web socket, secure": "<script>new WebSocket('wss://HOST/')</script>",
    "web transport": "<script>new WebTransport('https://HOST/').ready.catch(say)</script>",
    "worker": """<script>new Worker(URL.createObjectURL(new Blob(["fetch('TARGET/', {mode: 'no-cors'});"
        + "new WebSocket('ws://HOST/'); importScripts('TARGET/')"])))</script>""",
    "service worker": "<script>navigator.serviceWorker.register('/service.js').catch(say)</script>",
    "image": "<img src='TARGET/'><img srcset='TARGET/ 2x'>",
    "style sheet": "<link rel=stylesheet href='TARGET/'><style>@import 'TARGET/';</style>",
    "style": "<style>@font-face { font-family: x; src: url(TARGET/) } p { background: url(TARGET/);"
    " font-family: x; cursor: url(TARGET/), auto }</style>",
    "script": "<script src='TARGET/'></script><script type=module src='TARGET/'></script>",
    "frame": "<iframe src='TARGET/'></iframe><iframe srcdoc=\"<script src='TARGET/'></script>\"></iframe>",
    "object": "<object data='TARGET/'></object><embed src='TARGET/'>",
    "media": "<video autoplay src='TARGET/' poster='TARGET/'></video><audio autoplay src='TARGET/'></audio>",
    "prefetch": "<link rel=prefetch href='TARGET/'><link rel=preload as=script href='TARGET/'>"
    "<link rel=modulepreload href='TARGET/'>",
    "preconnect": "<link rel=preconnect href='TARGET/'><link rel=dns-prefetch href='TARGET/'>",
    "prerender": """<script type=speculationrules>{"prerender": [{"source": "list", "urls": ["TARGET/"]}],
        "prefetch": [{"source": "list", "urls": ["TARGET/"]}]}</script>""",
    "manifest and icon": "<link rel=manifest href='TARGET/'><link rel=icon href='TARGET/'>",
    "form": "<form action='TARGET/' method=post target=f></form><iframe name=f></iframe>"
    "<script>document.forms[0].submit()</script>",
    "window": "<script>window.open('TARGET/')</script>",
    "ping": "<a href='#x' ping='TARGET/'>x</a><script>document.querySelector('a').click()</script>",
    "STUN and TURN": """<script>for (const server of ['stun:HOST:3478', 'turn:HOST:3478?transport=udp',
        'turn:HOST:8080?transport=tcp', 'turns:HOST:443?transport=tcp']) {
        const peer = new RTCPeerConnection({iceServers: [{urls: server, username: 'x', credential: 'y'}]});
        peer.createDataChannel('x');
        peer.createOffer().then(offer => peer.setLocalDescription(offer)) }</script>""",
    "WebRTC": """<script>const one = new RTCPeerConnection(), two = new RTCPeerConnection();
        one.createDataChannel('x'); one.createOffer().then(async offer => {
        await one.setLocalDescription(offer); await two.setRemoteDescription(offer);
        const answer = await two.createAnswer();
        await one.setRemoteDescription(answer); for (const way of ['udp 2122260223 HOST 3478 typ host',
        'tcp 1518280447 HOST 8080 typ host tcptype passive']) await one.addIceCandidate({candidate:
        'candidate:1 1 ' + way, sdpMid: '0'}) }).catch(say)</script>""",
}

# Those of them that arrive where the operator allows it.
ARRIVING = ["fetch", "web socket", "worker", "service worker", "style sheet", "script", "prefetch"]

# Pages that lead their reader away.
LEADING_AWAY = {
    "refresh": "<meta http-equiv=refresh content='0; url=TARGET/'>",
    "location": "<script>location = 'TARGET/'</script>",
    "form": "<form action='TARGET/'></form><script>document.forms[0].submit()</script>",
    "download": "<a download href='TARGET/'>x</a><script>document.querySelector('a').click()</script>",
}

HAS_RUN = "this page has run"
BROWSER_PAGES = 4  # that it shows at once
TRIES = 3

TARGETS = {"address": "http://127.0.0.1", "name": "http://x.at-10-0-0-1.example"}

# The page says that it has run, and stays for a while, so that what it started can happen.
FRAME = """<!doctype html><html><head><title>A page</title></head><body><article><h1>A page</h1>
<p>This page has enough words of its own to be worth reading, so that nobody takes it for an empty shell that
only its scripts could fill, and it does something that it should not do while it is being read.</p>
<p id=said>It said: </p></article>
<script>const say = x => document.getElementById('said').append(String(x) + '; ')</script>%s
<script>say('HAS_RUN'); fetch('/stay?wait=0.7')</script></body></html>""".replace("HAS_RUN", HAS_RUN)

SERVICE_WORKER = "importScripts('TARGET/'); self.addEventListener('install', () => fetch('TARGET/'))"


# ---- the world ----


@pytest.fixture(scope="module")
def internet(tmp_path_factory):
    why = missing()
    if why:
        pytest.skip(why)
    world = LittleInternet(tmp_path_factory.mktemp("internet"))
    world.put_page("/stay", "x", type="text/plain")
    world.put_page("/to-trap", status=302, location="http://127.0.0.1/")
    yield world
    world.close()


@pytest.fixture(scope="module")
def forage(internet):
    settings = {"FORAGE_CACHE_TTL": 0, "FORAGE_ALLOW_PRIVATE_HOSTS": LOCAL_SITE}
    with Stdio(launcher=internet.launcher, **settings) as client:
        client.handshake()
        yield client


@pytest.fixture(scope="module")
def open_forage(internet):
    """One whose operator has opened everything."""
    settings = {"FORAGE_CACHE_TTL": 0, "FORAGE_ALLOW_PRIVATE_HOSTS": f"0.0.0.0/0,::/0,{LOCAL_SITE}"}
    with Stdio(launcher=internet.launcher, **settings) as client:
        client.handshake()
        yield client


def start_read(client, url, render="never"):
    """Asks for a page; the id of the call."""
    id = client.new_id()
    client.send(tool_call("get_content", {"url": url, "render": render}, id))
    return id


def finish_read(client, id):
    """The result, as one text."""
    answer = client.answer(id, 60)
    return str(answer.get("result", answer))


def read_all(client, urls, render="never"):
    """Reads pages side by side: for each URL what came."""
    ids = [(url, start_read(client, url, render)) for url in urls]
    return {url: finish_read(client, id) for url, id in ids}


def render_all(client, urls, wanted=""):
    """The same in the browser, a few at a time. It gives up on a page that takes too long, which on a machine
    with much else to do may be any page; what has not run proves nothing, so it is read again."""
    urls, results = list(urls), {}
    for at in range(0, len(urls), BROWSER_PAGES):
        results |= read_all(client, urls[at : at + BROWSER_PAGES], "always")
    for url in urls:
        for _ in range(TRIES):
            if wanted in results[url]:
                break
            results |= read_all(client, [url], "always")
    return results


def fill(text, target):
    return text.replace("TARGET", target).replace("HOST", target.removeprefix("http://"))


# ---- the reader ----


def test_the_site_can_be_read(internet, forage):
    """Without this the rest would prove nothing."""
    url = internet.put_page("/plain", FRAME % "")
    assert "enough words of its own" in read_all(forage, [url])[url]
    assert internet.take_hits() == []


@pytest.mark.parametrize(
    "urls",
    [[f"http://{host}/" for host in ADDRESSES], [f"http://{host}/" for host in NAMES], URLS],
    ids=["addresses", "names", "URLs"],
)
def test_asked_for(internet, forage, urls):
    results = read_all(forage, urls)
    assert internet.take_hits() == []
    for url, text in results.items():
        assert TRAP_WORDS not in text and "root:" not in text, url


def test_traps_work(internet, open_forage):
    """Where the operator has opened everything, the same attempts arrive."""
    reachable = ["127.0.0.1", "127.1", "0x7f.1", "10.0.0.1", "169.254.169.254", "[::1]", "[fd00:ec2::254]"]
    reachable.append(NAMES[1])
    results = read_all(open_forage, [f"http://{host}/" for host in reachable])
    assert len(internet.take_hits()) >= len(reachable)
    for url, text in results.items():
        assert TRAP_WORDS in text, url


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects(internet, forage, status):
    urls = [
        internet.put_page(f"/redirect-{status}-{number}", status=status, location=target)
        for number, target in enumerate(REDIRECT_TARGETS)
    ]
    urls += [internet.put_page(f"/twice-{status}", status=status, location=urls[0])]
    for url, text in read_all(forage, urls).items():
        assert TRAP_WORDS not in text and "root:" not in text, url
    assert internet.take_hits() == []


def test_name_that_changes(internet, forage):
    """What was looked up and checked is what is connected to, however often it is asked for."""
    urls = [f"http://turn{number}.example/" for number in range(4)]
    for _ in range(3):
        read_all(forage, urls)
    assert internet.take_hits() == []


# ---- the rendered page ----


needs_browser = pytest.mark.skipif(not BROWSER, reason="there is no browser")


@needs_browser
@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS.keys())
def test_inside_a_page(internet, forage, target):
    internet.put_page("/service.js", fill(SERVICE_WORKER, target), type="text/javascript")
    urls = {
        internet.put_page(f"/in/{number}", FRAME % fill(text, target), local=True): name
        for number, (name, text) in enumerate(IN_A_PAGE.items())
    }
    for url, text in render_all(forage, urls, HAS_RUN).items():
        assert HAS_RUN in text, (urls[url], text)
        assert TRAP_WORDS not in text, urls[url]
    assert internet.take_hits() == []


@needs_browser
@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS.keys())
def test_pages_that_lead_away(internet, forage, target):
    urls = {
        internet.put_page(f"/away/{number}", FRAME % fill(text, target)): name
        for number, (name, text) in enumerate(LEADING_AWAY.items())
    }
    for url, text in render_all(forage, urls).items():
        assert TRAP_WORDS not in text, urls[url]
    assert internet.take_hits() == []


@needs_browser
def test_rendered_directly(internet, forage):
    urls = [f"http://{host}/" for host in ADDRESSES[::6] + NAMES[::3]]
    urls += [f"http://turn{number}.example/" for number in range(10, 14)]
    urls += [internet.put_page(f"/go/{n}", status=302, location=to) for n, to in enumerate(REDIRECT_TARGETS)]
    for url, text in render_all(forage, urls).items():
        assert TRAP_WORDS not in text and "root:" not in text, url
    assert internet.take_hits() == []


@needs_browser
def test_traps_work_for_pages(internet, open_forage):
    """Where the operator has opened everything, what pages do over TCP arrives, through our proxy."""
    internet.put_page("/service.js", fill(SERVICE_WORKER, TARGETS["address"]), type="text/javascript")
    for number, name in enumerate(ARRIVING):
        page = FRAME % fill(IN_A_PAGE[name], TARGETS["address"])
        url = internet.put_page(f"/open/{number}", page, local=True)
        render_all(open_forage, [url], HAS_RUN)
        assert internet.take_hits(), name
