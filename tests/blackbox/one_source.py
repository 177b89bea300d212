"""What the tests of one open source at a time share: a fake, a program that asks it and nobody else, and the tests that hold of
all of them. What a search finds is on no network: its pages are sent to a proxy that is not there."""

import pytest
from fake_web import closed_port
from programs import Server
from searching import fail, search

# What a source's answer may be instead of results, and the code of the error.
HOSTILE = {
    "garbage": "PROVIDER",
    "truncated": "PROVIDER",
    "wrong shape": "PROVIDER",
    "cut": "PROVIDER",
    "reset": "PROVIDER",
    500: "PROVIDER",
}


def asking(fake, **more):
    nowhere = f"http://127.0.0.1:{closed_port()}"
    settings = {
        "FORAGE_SEARCH_PROVIDERS": fake.name,
        "FORAGE_CACHE_TTL": 0,
        "FORAGE_SEARCH_SOURCE_TIMEOUT": "20s",
        "OPENALEX_API_KEY": None,
        "GITHUB_RAW_BASE_URL": nowhere,
        "STACKEXCHANGE_BASE_URL": nowhere,
        "https_proxy": nowhere,
        "http_proxy": nowhere,
        "no_proxy": "127.0.0.1",
    }
    return Server(**{**settings, **fake.settings, **more})


def described(result):
    """What was found, without the pages."""
    names = ("title", "link", "snippet", "published", "image")
    return [tuple(item.get(name) for name in names) for item in result["results"]]


def each_fake(kinds, found):
    """A fixture: a fake of each kind, which finds the first of what `found` has for it."""

    @pytest.fixture(params=kinds, ids=lambda kind: kind.name)
    def fake(request):
        with request.param() as service:
            service.hits = found[service.name][0]
            yield service

    return fake


# ---- tests for files that have a fixture `fake` ----


def test_nothing_found_is_no_failure(fake):
    fake.mishap = "empty"
    with asking(fake) as forage:
        result = search(forage, type=fake.type)
    assert result["results"] == [] and fake.searches == 1


def test_a_limit_is_told(fake):
    fake.mishap = 429
    fake.retry_after = "120"
    with asking(fake) as forage:
        error = fail(forage, type=fake.type)
    assert error["code"] == "RATE_LIMIT" and "try again in 120 seconds" in error["message"]


@pytest.mark.parametrize("mishap", HOSTILE, ids=str)
def test_what_is_no_answer_is_no_empty_one(fake, mishap):
    fake.mishap = mishap
    with asking(fake) as forage:
        error = fail(forage, type=fake.type)
    assert error["code"] == HOSTILE[mishap], error
