"""`forage health`: whether the server of these settings answers, for the health checks of containers."""

import http.server
import threading

import pytest
from programs import Server, run


def health(port, *words, **settings):
    done = run("health", "--port", str(port), *words, **settings)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0.0.0.0", "::"])
def test_a_server_is_well(host):
    with Server(FORAGE_HOST=host, FORAGE_TOKENS="alice:kWc3uXrT9pLq7Zb2Nf8Y") as server:
        # A proxy is for the way out, not for the way to oneself.
        assert health(server.port, "--host", host, http_proxy="http://127.0.0.1:9") == (0, "ok\n", "")


def test_nobody_is_there():
    with Server() as server:
        port = server.port
    code, said, why = health(port)
    assert (code, said) == (1, "") and f"no server on 127.0.0.1, port {port}" in why


def test_somebody_else_is_there():
    class Other(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"status": "ok"}')

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Other) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        code, _, why = health(other.server_address[1])
        other.shutdown()
    assert code == 1 and "somebody else answers there" in why


def test_wrong_settings_are_told():
    code, _, why = health("no-port")
    assert code == 2 and "FORAGE_PORT" in why
