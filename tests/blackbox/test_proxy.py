"""Behind a TLS proxy: a real nginx, configured as docs/deployment.md says."""

import os
import re
import shutil
import socket
import ssl
import subprocess

import pytest
from conftest import ALICE
from http_client import Connection, request, running_calls
from messages import call, initialize, modern, modern_headers, tool_call
from programs import CONFORMANCE, PATIENCE, ROOT, Server, unused_port, wait_until

NAME = "forage.example.org"
TOKEN = {"Authorization": f"Bearer {ALICE}"}
CLIENT = "127.0.0.9"  # where the client of these tests calls from
NGINX = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")

AROUND = """
daemon off;
master_process off;
pid {folder}/pid;
error_log {folder}/error.log;
events {{ }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {documented}
}}
"""


def documented_configuration(changes):
    """The example of the documentation, with this test's own ports and files."""
    text = (ROOT / "docs" / "deployment.md").read_text()
    (example,) = re.findall(r"```nginx\n(.*?)```", text, re.S)
    for old, new in changes.items():
        assert example.count(old) == 1, f"docs/deployment.md has no {old!r} any more"
        example = example.replace(old, new)
    return example


def accepts(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def forage():
    settings = {"FORAGE_ALLOWED_HOSTS": NAME, "FORAGE_TRUST_PROXY": "127.0.0.1", "FORAGE_TOKENS": f"alice:{ALICE}"}
    with Server(CONFORMANCE, **settings) as server:
        yield server


@pytest.fixture(scope="module")
def proxy(forage, tmp_path_factory):
    """The port of an nginx in front of forage."""
    assert NGINX, "nginx is missing: scripts/setup test brings it"
    folder = tmp_path_factory.mktemp("nginx")
    certificate = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "1",
        "-subj",
        f"/CN={NAME}",
    ]
    files = ["-keyout", folder / "key", "-out", folder / "certificate"]
    subprocess.run(
        [*certificate, *files, "-addext", f"subjectAltName=DNS:{NAME}"], capture_output=True, check=True
    )
    port = unused_port()
    configuration = folder / "nginx.conf"
    documented = documented_configuration(
        {
            "listen 443 ssl;": f"listen 127.0.0.1:{port} ssl;",
            "http2 on;": "",  # the client of these tests speaks HTTP/1.1
            "/etc/ssl/forage.pem": f"{folder}/certificate",
            "/etc/ssl/forage.key": f"{folder}/key",
            "server 127.0.0.1:3000;": f"server 127.0.0.1:{forage.port};",
        }
    )
    configuration.write_text(AROUND.format(folder=folder, documented=documented))
    nginx = subprocess.Popen([NGINX, "-p", folder, "-c", configuration], stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: accepts(port))
        trust = ssl.create_default_context(cafile=folder / "certificate")
        yield port, lambda plain: trust.wrap_socket(plain, server_hostname=NAME)
    finally:
        nginx.terminate()
        nginx.wait(PATIENCE)


@pytest.fixture
def connect(proxy):
    """Makes connections to the proxy, over TLS, from CLIENT."""
    port, wrap = proxy
    made = []

    def make():
        made.append(Connection(port, wrap=wrap, source=CLIENT))
        return made[-1]

    yield make
    for connection in made:
        connection.close()


def ask(connection, method, path, headers=None, body=b""):
    return connection.exchange(request(method, path, headers, body, host=NAME))


def post(connection, message, headers=None):
    return ask(connection, "POST", "/mcp", {**TOKEN, **(headers or {})}, message)


def test_health(connect):
    connection = connect()
    for _ in range(3):
        assert ask(connection, "GET", "/health").json()["status"] == "ok"


def test_both_eras(connect):
    connection = connect()
    response = post(connection, initialize())
    assert response.status == 200 and response.header("Mcp-Session-Id")
    message = modern("tools/call", {"name": "test_echo", "arguments": {"text": "hello"}})
    result = post(connection, message, modern_headers(message)).json()["result"]
    assert result["structuredContent"] == {"text": "hello"}


def test_token_passes(connect):
    connection = connect()
    response = ask(connection, "POST", "/mcp", body=call("ping"))
    assert response.status == 401 and response.header("WWW-Authenticate")
    assert post(connection, call("ping")).status == 200


def test_host_is_passed_on_and_checked(connect):
    response = connect().exchange(request("GET", "/health", host="evil.example"))
    assert response.status == 403


def test_origin_of_the_public_name(connect):
    assert ask(connect(), "GET", "/health", {"Origin": f"https://{NAME}"}).status == 200
    assert ask(connect(), "GET", "/health", {"Origin": "https://evil.example"}).status == 403


def test_log_names_the_client(connect, forage):
    """Not the proxy, and not what the client says that it is."""
    response = ask(connect(), "GET", "/metrics", {"X-Forwarded-For": "192.0.2.66"})
    assert response.status == 401
    forage.wait_log(rf"req={response.header('X-Request-Id')} refused .* from {re.escape(CLIENT)}$")


def test_address_in_the_description_is_the_public_one(connect):
    document = ask(connect(), "GET", "/api/v1/openapi.json", TOKEN).json()
    assert document["servers"] == [{"url": f"https://{NAME}"}]


def test_events_arrive_while_the_call_runs(connect, forage):
    connection = connect()
    message = tool_call("test_progress", {"steps": 1000, "ms": 20}, token=1)
    connection.send(request(headers=TOKEN, body=message, host=NAME))
    response = connection.head()
    assert response.header("Content-Type") == "text/event-stream"
    events = connection.events(response)
    for expected in (1, 2, 3):
        _, report = next(events)
        assert report["params"]["progress"] == expected
    assert running_calls(forage, "test_progress", TOKEN) == 1
    connection.close()
    wait_until(lambda: running_calls(forage, "test_progress", TOKEN) == 0)


def test_stream_ends_properly(connect):
    connection = connect()
    message = tool_call("test_progress", {"steps": 3, "ms": 1}, token=1)
    connection.send(request(headers=TOKEN, body=message, host=NAME))
    assert len(list(connection.events(connection.head()))) == 4
    assert ask(connection, "GET", "/health").status == 200


def test_closing_the_connection_cancels(connect, forage):
    connection = connect()
    connection.send(request(headers=TOKEN, body=tool_call("test_sleep", {"ms": 60_000}), host=NAME))
    wait_until(lambda: running_calls(forage, "test_sleep", TOKEN) == 1)
    connection.close()
    wait_until(lambda: running_calls(forage, "test_sleep", TOKEN) == 0)


def test_large_messages(connect):
    connection = connect()
    text = "x" * 1_500_000
    result = post(connection, tool_call("test_echo", {"text": text})).json()["result"]
    assert result["structuredContent"]["text"] == text


def test_message_that_is_too_large(connect):
    """Whoever of the two says no, it is 413."""
    connection = connect()
    connection.socket.settimeout(PATIENCE)
    connection.send(request(headers={**TOKEN, "Content-Length": str(5 * 1024 * 1024)}, host=NAME))
    assert connection.head().status == 413
