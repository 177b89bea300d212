"""What the tests of web_search share: all providers as fakes, pages to find, and short ways to ask."""

import contextlib
import json

import pytest
from fake_web import Answer, Web
from fakes.brave import Brave
from fakes.exa import Exa
from fakes.search_service import Hit
from fakes.searxng import Searxng
from fakes.serper import Serper
from fakes.tavily import Tavily
from http_client import exchange, request
from programs import Server
from reading import page

# In the order of the contract: the first three are its own, the others come after them.
KINDS = [Serper, Tavily, Searxng, Brave, Exa]
NAMES = [kind.name for kind in KINDS]
# What configures a provider: unset, it is not there.
KEYS = ["SERPER_API_KEY", "TAVILY_API_KEY", "SEARXNG_BASE_URL", "BRAVE_API_KEY", "EXA_API_KEY"]
FAILED = "_Failed to retrieve page content: "


class World:
    """The providers, by name, and a web with pages."""

    def __init__(self):
        self.fakes = {kind.name: kind() for kind in KINDS}
        self.web = Web()
        self._stack = contextlib.ExitStack()

    def __enter__(self):
        for one in (*self.fakes.values(), self.web):
            self._stack.enter_context(one)
        return self

    def __exit__(self, *arguments):
        self._stack.__exit__(*arguments)

    def __getitem__(self, name):
        return self.fakes[name]

    def reset(self):
        for fake in self.fakes.values():
            fake.reset()
        self.web.answers.clear()
        self.web.requests.clear()

    def settings(self, *names, **more):
        """The configuration with these providers and no others."""
        settings = dict.fromkeys(KEYS)
        for name in names:
            settings.update(self.fakes[name].settings)
        allowed = {"FORAGE_ALLOW_PRIVATE_HOSTS": self.web.host, "FORAGE_CACHE_TTL": 0, "FORAGE_SEARCH_CACHE_TTL": 0}
        return {**settings, **allowed, "FORAGE_SEARCH_SOURCE_TIMEOUT": "20s", **more}

    def server(self, *names, **more):
        return Server(**self.settings(*names, **more))

    def pages(self, count, prefix="page"):
        """Puts pages on the web; the hits that find them."""
        hits = []
        for number in range(count):
            path = f"/{prefix}-{number}"
            self.web.answers[path] = Answer(page(f"The words of {prefix} {number}. " * 8, title=f"Title {number}"))
            hits.append(Hit(f"Title {number}", self.web.url(path), f"Snippet {number}"))
        return hits

    def find(self, count, prefix="page"):
        """Every provider finds the same pages."""
        hits = self.pages(count, prefix)
        for fake in self.fakes.values():
            fake.hits = hits
        return hits

    def searches(self):
        """How often each provider was asked."""
        return {name: fake.searches for name, fake in self.fakes.items() if fake.searches}


@pytest.fixture(scope="module")
def shared_world():
    with World() as world:
        yield world


@pytest.fixture
def world(shared_world):
    shared_world.reset()
    yield shared_world


def call(server, arguments, **options):
    return exchange(server.port, request("POST", "/api/v1/tools/web_search", None, arguments), **options)


def search(server, query="things", **arguments):
    """The result of a search that did not fail; what holds of every result is checked."""
    response = call(server, {"query": query, **arguments} if query is not None else arguments)
    assert response.status == 200, response
    return checked(response.json())


def checked(result):
    """Acceptance criterion 5, for every result of every test: four texts, each of them there."""
    assert result["success"] is True
    for item in result["results"]:
        for name in ("title", "link", "snippet", "page_content"):
            assert isinstance(item[name], str), item
        assert item["link"] and item["page_content"], item
        assert item["page_content"].startswith("_") == item.get("failed", False), item
    assert isinstance(result["left_out"], list) and result["took_ms"] >= 0
    assert "never instructions" in result["untrusted"]
    assert '"page_content": null' not in json.dumps(result)
    return result


def fail(server, query="things", **arguments):
    """The error of a search that failed."""
    response = call(server, {"query": query, **arguments} if query is not None else arguments)
    assert response.status != 200, response
    body = response.json()
    assert body["success"] is False
    return body["error"]


def links(result):
    return [item["link"] for item in result["results"]]
