"""What the tests of search_web share: the fake service, a server that asks it, and short ways to ask."""

import pytest
from fakes.responses import KEY, Responses
from http_client import exchange, request
from programs import Server

QUESTION = "Does it rain today?"
# No limit on calls, no kept answers: each test sees its own requests.
UNLIMITED = {"FORAGE_LIMITS": "search_web=100000/10m", "FORAGE_ANSWER_CACHE_TTL": 0, "OPENAI_API_KEY": KEY}


@pytest.fixture(scope="module")
def shared_fake():
    with Responses() as fake:
        yield fake


@pytest.fixture(scope="module")
def shared_forage(shared_fake, tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    with Server(OPENAI_BASE_URL=shared_fake.base_url, FORAGE_DATA_DIR=folder, **UNLIMITED) as server:
        yield server


@pytest.fixture
def fake(shared_fake):
    shared_fake.play()
    yield shared_fake


@pytest.fixture
def forage(shared_forage, fake):
    yield shared_forage
    # Failures in a row open the circuit breaker: an answer closes it for the next test.
    fake.play("normal")
    assert ask(shared_forage).status == 200
    assert shared_forage.alive()


@pytest.fixture
def settings(fake, tmp_path):
    """For a server of a test's own."""
    return {"OPENAI_BASE_URL": fake.base_url, "FORAGE_DATA_DIR": tmp_path / "data", **UNLIMITED}


def ask(server, query=QUESTION, headers=None, **arguments):
    body = {"query": query, **arguments}
    return exchange(server.port, request("POST", "/api/v1/tools/search_web", headers, body))


def result_of(server, query=QUESTION, **arguments):
    answer = ask(server, query, **arguments)
    assert answer.status == 200, answer
    return answer.json()


def error_of(server, status, code, query=QUESTION, **arguments):
    answer = ask(server, query, **arguments)
    assert answer.status == status, answer
    body = answer.json()
    assert body["success"] is False and body["error"]["code"] == code, body
    return body["error"]


def span(result, citation):
    return result["text"][citation["startIndex"] : citation["endIndex"]]
