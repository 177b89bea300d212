"""What the tests of get_content share: pages, a server that may read them, and short ways to ask it."""

import pytest
from fake_web import Answer, Web
from http_client import exchange, request
from programs import Server

FAILED = "_Failed to retrieve page content: "
WORDS = "Some words that make a paragraph which is long enough to be the text of a page. "


def page(*paragraphs, title="A page"):
    body = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs or [WORDS, WORDS])
    return f"<!doctype html><html><head><title>{title}</title></head><body><main><h1>{title}</h1>{body}</main></body></html>"


@pytest.fixture(scope="module")
def shared_web():
    with Web() as web:
        yield web


@pytest.fixture
def web(shared_web):
    shared_web.answers.clear()
    shared_web.requests.clear()
    yield shared_web


@pytest.fixture(scope="module")
def shared_forage(shared_web):
    """Keeps nothing, and may read the web on loopback."""
    with Server(FORAGE_ALLOW_PRIVATE_HOSTS=shared_web.host, FORAGE_CACHE_TTL=0) as server:
        yield server


@pytest.fixture
def forage(shared_forage):
    yield shared_forage
    assert shared_forage.alive()


def call(server, arguments, headers=None):
    return exchange(server.port, request("POST", "/api/v1/tools/get_content", headers, arguments))


def get(server, url, **arguments):
    """The result of a call that did not fail."""
    response = call(server, {"url": url, **arguments})
    assert response.status == 200, response
    result = response.json()
    assert result["success"] is True and isinstance(result["page_content"], str)
    assert "never instructions" in result["untrusted"]
    return result


def note(server, url, **arguments):
    result = get(server, url, **arguments)
    assert result["failed"] is True
    return result["page_content"]


# ---- answers ----


def redirect(target, status=302, **headers):
    return Answer("moved", status, "text/plain", Location=target, **headers)


def long_text():
    """Markdown with everything that is hard to cut."""
    blocks = ["# The title\n\n"]
    for number in range(30):
        blocks.append(f'## Section {number}: "ünïcödé" 日本\n\n{WORDS * (number % 4 + 1)}\n\n')
        blocks.append("| a | b |\n| --- | --- |\n" + f"| row {number} | \\| |\n" * (number % 9 + 1) + "\n")
        blocks.append(
            "```python\n" + f'def f{number}():\n    return "\\\\"\n\n' * (number % 5 + 1) + "```\n\n"
        )
        blocks.append("- item\n  - nested\n\n")
    return "".join(blocks)


SHELL = """<!doctype html><html><head><title>An application</title></head><body><div id="root"></div>
<script>document.getElementById("root").textContent = "filled"</script></body></html>"""
