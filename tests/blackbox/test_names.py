"""Looking names up: servers that hang, lie and fail, and that nobody's names keep the others from theirs."""

import contextlib
import subprocess
import threading

import pytest
from conftest import ALICE, BOB
from fake_web import Answer, Web
from http_client import Connection, exchange, request
from little_internet import NAME_SERVER, LittleInternet, missing
from messages import cancelled, tool_call
from name_server import NameServer
from programs import PATIENCE, ROOT, SANITIZED, Server, Stdio, wait_until
from reading import call, get, page
from test_browser import BROWSER
from test_shares import by, stock

NAMES = 80
MORE = 20
LOOK_UPS = 256
SHARE = LOOK_UPS * 7 // 8 // 2


@pytest.fixture(scope="module")
def servers():
    with NameServer() as names, Web(address="0.0.0.0") as web:
        web.answers["/"] = Answer(page())
        yield names, web


@pytest.fixture(scope="module")
def forage(servers):
    names, _ = servers
    # Newer versions of c-ares know ::1 as localhost, whatever the hosts file says.
    settings = {"FORAGE_ALLOW_PRIVATE_HOSTS": "127.0.0.0/8,::1", "FORAGE_CACHE_TTL": 0}
    with Server(FORAGE_NAME_SERVERS=names.address, **settings) as server:
        yield server


# ---- answers ----

FOUND = ["ok.test", "ok.test.", "many.test", "chain.test", "half.test", "localhost"]
NOT_FOUND = {
    "nobody.test": "the host does not exist",
    "bare.test": "the host does not exist",
    "loop.test": "the host does not exist",
    "private.test": "the address is not allowed",
    "hang.test": "could not be looked up",
    "cut.test": "could not be looked up",
    "stranger.test": "could not be looked up",
    "garbage.test": "could not be looked up",
    "empty.test": "could not be looked up",
    "failing.test": "could not be looked up",
    "refused.test": "could not be looked up",
    "long.test": "",
}


def test_answers(servers, forage):
    """Whatever comes, there is a page or a reason, which is not the call's deadline."""
    _, web = servers
    answers = {}

    def ask(name):
        answers[name] = call(forage, {"url": f"http://{name}:{web.port}/"})

    threads = [threading.Thread(target=ask, args=(name,)) for name in [*FOUND, *NOT_FOUND]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name in FOUND:
        assert "make a paragraph" in answers[name].json()["page_content"], name
    for name, words in NOT_FOUND.items():
        result = answers[name].json()
        text = result["page_content"] if result["success"] else result["error"]["message"]
        assert words in text and "make a paragraph" not in text, name
        assert result["success"] or result["error"]["code"] != "TIMEOUT", name


def test_the_next_server_is_asked(servers):
    """One that is silent costs a second."""
    names, web = servers
    with NameServer() as silent:
        silent.datagrams.close()
        settings = {"FORAGE_ALLOW_PRIVATE_HOSTS": "127.0.0.0/8", "FORAGE_CACHE_TTL": 0}
        with Server(FORAGE_NAME_SERVERS=f"127.0.0.1:9, {silent.address},{names.address}", **settings) as server:
            assert "make a paragraph" in get(server, f"http://ok.test:{web.port}/")["page_content"]


# ---- shares ----


def two_callers(names, **settings):
    return Server(
        FORAGE_NAME_SERVERS=names.address,
        FORAGE_TOKENS=f"alice:{ALICE},bob:{BOB}",
        FORAGE_ALLOW_PRIVATE_HOSTS="127.0.0.0/8",
        FORAGE_CACHE_TTL=0,
        FORAGE_WORKERS=400,
        **settings,
    )


@contextlib.contextmanager
def reads(server, token, calls):
    """Calls of get_content that are left without an answer."""
    connections = [Connection(server.port) for _ in calls]
    for connection, arguments in zip(connections, calls):
        connection.send(request("POST", "/api/v1/tools/get_content", by(token), arguments))
    try:
        yield
    finally:
        for connection in connections:
            connection.close()


def read(server, token, url):
    return exchange(server.port, request("POST", "/api/v1/tools/get_content", by(token), {"url": url}))


def test_hanging_names_of_one_caller(servers):
    """She has her share of the look-ups, nobody else notices, and what she leaves behind is free at once."""
    names, web = servers
    calls = [{"url": f"http://hang-{number}.test/"} for number in range(SHARE + MORE)]
    with two_callers(names) as server:
        with reads(server, ALICE, calls):
            assert wait_until(lambda: stock(server, BOB, "look_ups") == (SHARE, LOOK_UPS, MORE))
            for number in range(NAMES):
                answer = read(server, BOB, f"http://ok-{number}.test:{web.port}/").json()
                assert "make a paragraph" in answer["page_content"], answer
        # They are not answered for seconds; nobody waits for them any more.
        assert wait_until(lambda: stock(server, BOB, "look_ups")[0] == 0, 6 if not SANITIZED else 10)


@pytest.mark.skipif(not BROWSER, reason="there is no browser")
def test_hanging_names_of_a_rendered_page(servers):
    names, web = servers
    script = f"for (let i = 0; i < {NAMES}; i++) fetch('http://hang-page-' + i + '.test/').catch(() => 0)"
    web.answers["/page"] = Answer(page().replace("</body>", f"<script>{script}</script></body>"))
    with two_callers(names) as server:
        with reads(server, ALICE, [{"url": f"http://127.0.0.1:{web.port}/page", "render": "always"}]):
            assert wait_until(lambda: sum(name.startswith("hang-page") for name, _ in names.asked) > 8)
            for number in range(NAMES):
                answer = read(server, BOB, f"http://ok-{number}.test:{web.port}/").json()
                assert "make a paragraph" in answer["page_content"], answer
        assert wait_until(lambda: stock(server, BOB, "look_ups")[0] == 0)
        assert stock(server, BOB, "look_ups")[2] == 0


# ---- the system's own ways ----


@pytest.fixture
def internet(tmp_path):
    why = missing()
    if why:
        pytest.skip(why)
    world = LittleInternet(tmp_path)
    yield world
    world.close()


def read_there(client, url):
    id = client.new_id()
    client.send(tool_call("get_content", {"url": url}, id))
    return str(client.answer(id, PATIENCE))


def test_changed_servers_count_at_once(internet):
    """/etc/resolv.conf while the program runs: a machine that moves to another network."""
    url = internet.put_page("/", page())
    servers = internet.folder / "resolv.conf"
    with Stdio(launcher=internet.launcher, FORAGE_CACHE_TTL=0) as client:
        client.handshake()
        assert "make a paragraph" in read_there(client, url)
        servers.write_text("nameserver 11.22.33.99\n")
        assert "could not be looked up" in read_there(client, url)
        servers.write_text(f"search example\nnameserver {NAME_SERVER}\n")
        assert "make a paragraph" in read_there(client, url)
        assert "make a paragraph" in read_there(client, "http://site/")


def test_what_the_system_knows_from_elsewhere(internet, tmp_path):
    """/etc/nsswitch.conf: sources that c-ares has never heard of."""
    library = tmp_path / "libnss_elsewhere.so.2"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, ROOT / "tests/shim/nss_elsewhere.c"], check=True)
    internet.put_page("/", page())
    (internet.folder / "nsswitch.conf").write_text("hosts: files [SUCCESS=return NOTFOUND=continue] dns\n")
    settings = {"LD_LIBRARY_PATH": tmp_path, "FORAGE_CACHE_TTL": 0}
    with Stdio(launcher=internet.launcher, **settings) as client:
        client.handshake()
        assert "does not exist" in read_there(client, "http://elsewhere/")
        (internet.folder / "nsswitch.conf").write_text("hosts: files dns elsewhere # and nowhere else\n")
        assert "make a paragraph" in read_there(client, "http://elsewhere/")


def test_names_that_nobody_waits_for(internet):
    """Calls that were cancelled while the name servers hang, and then one that nothing should hinder."""
    url = internet.put_page("/", page())
    with Stdio(launcher=internet.launcher, FORAGE_CACHE_TTL=0) as client:
        client.handshake()
        ids = [client.new_id() for _ in range(NAMES)]
        for id in ids:
            client.send(tool_call("get_content", {"url": f"http://hang-{id}.example/"}, id))
        asked = set()
        assert wait_until(lambda: asked.update(internet.take_hits()) or len(asked) > NAMES * 3 // 4)
        for id in ids:
            client.send(cancelled(id))
        assert "make a paragraph" in read_there(client, url)
