"""Which web pages may call a server on their reader's machine, and whose word about a client is taken."""

import pytest
from conftest import ALICE
from http_client import exchange, request
from programs import Server, run

KEY = "/api/v1/memories/plan"
INSPECTOR = "http://localhost:6274"  # where the MCP inspector shows its page
NAMED = {"FORAGE_TRUST_PROXY": "127.0.0.9,127.8.0.0/16", "FORAGE_TOKENS": f"alice:{ALICE}"}


@pytest.fixture(scope="module")
def keeping(tmp_path_factory):
    """A server without tokens, with a memory."""
    with Server(FORAGE_DATA_DIR=tmp_path_factory.mktemp("data"), FORAGE_ALLOWED_ORIGINS=INSPECTOR) as server:
        memory = {"key": "plan", "text": "Sail at dawn."}
        assert exchange(server.port, request("POST", "/api/v1/memories", None, memory)).status == 200
        yield server
        assert b"Sail at dawn." in ask(server, "GET", KEY).body


@pytest.fixture(scope="module")
def proxied():
    with Server(**NAMED) as server:
        yield server


def ask(server, method, path, source=None, **headers):
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return exchange(server.port, request(method, path, headers), source=source)


# ---- pages ----


@pytest.mark.parametrize(
    "origin",
    [
        "http://localhost:5173",
        "http://127.0.0.1:8888",
        "http://[::1]:8888",
        "https://127.0.0.1",
        "http://localhost",  # another name than the one that was called
        "http://127.0.0.2",
        "http://127.0.0.1.evil.example",
    ],
)
@pytest.mark.parametrize("method, path", [("DELETE", KEY), ("GET", KEY), ("OPTIONS", KEY), ("GET", "/health")])
def test_other_pages_of_this_machine_are_strangers(keeping, method, path, origin):
    response = ask(keeping, method, path, Origin=origin)
    assert response.status == 403 and response.header("Access-Control-Allow-Origin") is None
    assert "FORAGE_ALLOWED_ORIGINS" in response.json()["error"]["message"]


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]"])
@pytest.mark.parametrize("port", [True, False])
def test_own_pages(keeping, name, port):
    host = f"{name}:{keeping.port}" if port else name
    response = ask(keeping, "GET", KEY, Host=host, Origin=f"http://{host}")
    assert response.status == 200 and response.header("Access-Control-Allow-Origin") == f"http://{host}"


def test_a_client_in_a_browser_that_is_listed(keeping):
    """As docs/deployment.md says: a preflight, then the request, from another site as the browser sees it."""
    asked = {"Origin": INSPECTOR, "Sec_Fetch_Site": "same-site", "Access_Control_Request_Method": "POST"}
    assert ask(keeping, "OPTIONS", "/mcp", **asked).status == 204
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    headers = {"Origin": INSPECTOR, "Sec-Fetch-Site": "cross-site"}
    response = exchange(keeping.port, request(headers=headers, body=message))
    assert response.json()["result"] == {} and response.header("Access-Control-Allow-Origin") == INSPECTOR


@pytest.mark.parametrize("site", ["cross-site", "same-site", "Same-Origin", "", ["none", "cross-site"]])
@pytest.mark.parametrize(
    "method, path", [("DELETE", KEY), ("GET", KEY), ("GET", "/api/v1/memories/export"), ("GET", "/health"), ("GET", "/")]
)
def test_pictures_links_and_forms_of_other_sites(keeping, method, path, site):
    response = ask(keeping, method, path, Sec_Fetch_Site=site)
    assert response.status == 403 and "another site" in response.json()["error"]["message"]


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_own_pages_and_the_address_bar(keeping, site):
    assert ask(keeping, "GET", KEY, Sec_Fetch_Site=site).status == 200


# ---- proxies ----


def named_client(server, source, *forwarded):
    """The client that the log names when a request without a token is refused."""
    response = ask(server, "GET", "/metrics", source=source, X_Forwarded_For=list(forwarded))
    assert response.status == 401
    return server.wait_log(rf"req={response.header('X-Request-Id')} refused .* from (\S+)$")[1][1]


@pytest.mark.parametrize(
    "source, forwarded, client",
    [
        ("127.0.0.9", ["192.0.2.7"], "192.0.2.7"),
        ("127.8.1.1", ["192.0.2.7"], "192.0.2.7"),
        ("127.0.0.1", ["192.0.2.7"], "127.0.0.1"),  # not named
        ("127.0.0.9", ["192.0.2.66, 192.0.2.7"], "192.0.2.7"),  # the first is the client's own word
        ("127.0.0.9", ["192.0.2.66", "192.0.2.7"], "192.0.2.7"),  # and so with two headers
        ("127.0.0.9", ["192.0.2.66, 192.0.2.7, 127.8.1.1"], "192.0.2.7"),  # one named proxy behind another
        ("127.0.0.9", ["127.8.1.1"], "127.8.1.1"),
        ("127.0.0.9", ["192.0.2.7:5123"], "192.0.2.7"),
        ("127.0.0.9", ["[2001:DB8::1]:5123"], "2001:db8::1"),
        ("127.0.0.9", ["2001:db8:0::1"], "2001:db8::1"),
        ("127.0.0.9", ["::ffff:192.0.2.7"], "192.0.2.7"),
        ("127.0.0.9", [], "127.0.0.9"),
        ("127.0.0.9", [""], "127.0.0.9"),
        ("127.0.0.9", ["unknown"], "127.0.0.9"),
        ("127.0.0.9", ["192.0.2.7,"], "127.0.0.9"),
        ("127.0.0.9", ["[]"], "127.0.0.9"),
        ("127.0.0.9", ["[192.0.2.7"], "127.0.0.9"),
        ("127.0.0.9", ["1" * 4000], "127.0.0.9"),
        ("127.0.0.9", [f"192.0.2.7 {ALICE}"], "127.0.0.9"),
    ],
)
def test_the_client_behind_a_proxy(proxied, source, forwarded, client):
    assert named_client(proxied, source, *forwarded) == client


def test_old_words():
    """The variable was true or false once."""
    for word, client in (("yes", "192.0.2.7"), ("1", "192.0.2.7"), ("no", "127.0.0.1"), ("FALSE", "127.0.0.1")):
        with Server(FORAGE_TRUST_PROXY=word, FORAGE_TOKENS=f"alice:{ALICE}") as server:
            assert named_client(server, "127.0.0.1", "192.0.2.7") == client


@pytest.mark.parametrize("value", ["nginx", "10.0.0.7:80", "10.0.0.0/33", "10.0.0.1,no", "yes,nginx", "::/129"])
def test_wrong_proxies(value):
    completed = run("serve", FORAGE_PORT=0, FORAGE_TRUST_PROXY=value)
    assert completed.returncode == 2
    assert "FORAGE_TRUST_PROXY" in completed.stderr and "no address or range" in completed.stderr


def test_a_proxy_cannot_lend_its_name_to_a_page():
    """A page whose name was made to mean this machine may write X-Forwarded-Host, but not Host. Nor does a host that a
    stranger names become ours."""
    with Server(FORAGE_TRUST_PROXY="127.0.0.1", FORAGE_ALLOWED_HOSTS="forage.example.org") as server:
        for host, forwarded, status in [
            ("evil.example", "localhost", 403),
            ("evil.example", "forage.example.org", 403),
            ("localhost", "evil.example", 403),
            ("127.0.0.1", "forage.example.org", 200),
        ]:
            assert ask(server, "GET", "/health", Host=host, X_Forwarded_Host=forwarded).status == status
            stranger = ask(server, "GET", "/health", Host=host, X_Forwarded_Host=forwarded, source="127.0.0.3")
            assert stranger.status == (403 if host == "evil.example" else 200)


def test_own_pages_behind_a_proxy():
    page = "https://forage.example.org"
    said = {"X_Forwarded_Host": "forage.example.org", "X_Forwarded_Proto": "https"}
    with Server(FORAGE_TRUST_PROXY="127.0.0.9", FORAGE_ALLOWED_HOSTS="forage.example.org") as server:
        assert ask(server, "GET", "/health", source="127.0.0.9", Origin=page, **said).status == 200
        said["X_Forwarded_Host"] += ":443"
        assert ask(server, "GET", "/health", source="127.0.0.9", Origin=page, **said).status == 200
        assert ask(server, "GET", "/health", source="127.0.0.1", Origin=page, **said).status == 403
        assert ask(server, "GET", "/health", source="127.0.0.9", Origin="http://forage.example.org", **said).status == 403
