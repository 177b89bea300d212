"""Through the proxy of a company: what it is asked for, and that it cannot be led to what was not checked."""

import socket
import threading

import pytest
from fake_web import Answer, Web, make_certificate, tls_context
from listener import Listener
from name_server import PUBLIC, NameServer
from programs import PATIENCE, Server
from reading import WORDS, call, get, note, page


class Proxy(Listener):
    """Makes tunnels that all lead to one web, and answers plain requests itself. `asked` has their first lines."""

    def __init__(self, web):
        super().__init__()
        self.asked = []
        self.refusal = None  # what it answers to CONNECT
        self.web = web

    def carry(self, source, sink):
        try:
            while piece := source.recv(65536):
                sink.sendall(piece)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def serve(self, client):
        client.settimeout(PATIENCE)
        head = b""
        while b"\r\n\r\n" not in head:
            if not (piece := client.recv(65536)):
                return
            head += piece
        line = head.split(b"\r\n")[0].decode()
        self.asked.append(line)
        if not line.startswith("CONNECT"):
            body = page().encode()
            client.sendall(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n"
                b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
            )
        elif self.refusal:
            client.sendall(f"HTTP/1.1 {self.refusal}\r\nContent-Length: 0\r\n\r\n".encode())
        else:
            with socket.create_connection(("127.0.0.1", self.web.port)) as server:
                client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                back = threading.Thread(target=self.carry, args=(server, client), daemon=True)
                back.start()
                self.carry(client, server)
                back.join(PATIENCE)


@pytest.fixture(scope="module")
def names():
    with NameServer() as server:
        yield server


@pytest.fixture
def proxy():
    with Web() as web, Proxy(web) as proxy:
        web.answers["/"] = Answer(page())
        yield proxy


def forage(names, proxy, **settings):
    ways = {"http_proxy": proxy.url, "https_proxy": proxy.url}
    return Server(FORAGE_NAME_SERVERS=names.address, FORAGE_CACHE_TTL=0, **ways, **settings)


def test_plain(names, proxy):
    """The proxy gets the address, the site its name."""
    with forage(names, proxy) as server:
        assert WORDS.strip() in get(server, "http://public.test/")["page_content"]
    assert proxy.asked == [f"CONNECT {PUBLIC}:80 HTTP/1.1"]
    assert proxy.web.seen("/")[0]["Host"] == "public.test"


def test_secure(names, tmp_path):
    key, certificate = make_certificate(tmp_path, "public.test")
    context, told = tls_context(key, certificate), []
    context.sni_callback = lambda _socket, name, _context: told.append(name)
    with Web(tls=context) as web, Proxy(web) as proxy, forage(names, proxy, SSL_CERT_FILE=certificate) as server:
        web.answers["/"] = Answer(page())
        assert WORDS.strip() in get(server, "https://public.test/")["page_content"]
        assert proxy.asked == [f"CONNECT {PUBLIC}:443 HTTP/1.1"]
        assert told == ["public.test"]


@pytest.mark.parametrize("mode", ["no", "yes"])
def test_private_names_never_reach_it(names, proxy, mode):
    with forage(names, proxy, FORAGE_PROXY_NAMES=mode) as server:
        for host in ("private.test", "ok.test", "10.0.0.1", "localhost"):
            for scheme in ("http", "https"):
                assert call(server, {"url": f"{scheme}://{host}/"}).json()["error"]["code"] == "FORBIDDEN", host
    assert proxy.asked == []


def test_names_that_nobody_knows(names, proxy):
    with forage(names, proxy) as server:
        assert "DNSError" in note(server, "http://nobody.test/")
    assert proxy.asked == []


def test_a_proxy_that_wants_names(names, proxy):
    """It is told what to do, and what that means stands in the documentation."""
    proxy.refusal = "403 Forbidden"
    with forage(names, proxy) as server:
        text = note(server, "http://public.test/")
    assert "ProxyError: the proxy answered HTTP 403" in text and "FORAGE_PROXY_NAMES=yes" in text
    assert f"CONNECT {PUBLIC}:80 HTTP/1.1" in proxy.asked


def test_names_for_the_proxy(names, proxy):
    with forage(names, proxy, FORAGE_PROXY_NAMES="yes") as server:
        for name in ("public.test", "nobody.test"):
            assert WORDS.strip() in get(server, f"http://{name}/")["page_content"]
    assert proxy.asked == ["GET http://public.test/ HTTP/1.1", "GET http://nobody.test/ HTTP/1.1"]
