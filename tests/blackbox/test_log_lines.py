"""What the log holds: of each call a line with counts and without words; under DEBUG what came in and each request that went out."""

import re

import pytest
from answering import UNLIMITED, ask, fake, shared_fake  # noqa: F401 (fixtures)
from fake_web import Answer
from fakes.responses import KEY
from http_client import exchange, request
from programs import Server, run
from reading import page
from searching import call, search, shared_world, world  # noqa: F401 (fixtures)

PRIVATE = "zanzibar quokka"
LINE = r"tool={tool} caller=local status={status} ms=\d+\.\d{{3}} query=[0-9a-f]{{16}} {rest}$"


def line(tool, status, rest):
    return LINE.format(tool=tool, status=status, rest=rest)


def private_words(world):  # noqa: F811
    return ("zanzibar", "quokka", "Snippet", "Title 0", world.web.host)


# ---- the line of each call ----


@pytest.mark.parametrize(
    "scenario, status, http, results",
    [("normal", "ok", 200, 2), ("status_500", "PROVIDER", 500, 0), ("quota", "RATE_LIMIT", 429, 0), ("unauthorized", "AUTH", 401, 0)],
)
def test_the_line_of_an_answer(fake, tmp_path, scenario, status, http, results):  # noqa: F811
    fake.play(scenario)
    with Server(OPENAI_BASE_URL=fake.base_url, FORAGE_DATA_DIR=tmp_path, **UNLIMITED) as server:
        ask(server, f"where is the {PRIVATE}?")
        paid = r"requests=\d+ tokens=\d+\+\d+ " if http == 200 else ""
        server.wait_log(line("search_web", status, rf"provider=gpt-5-nano-web-search {paid}http={http} results={results}"))
        assert "zanzibar" not in server.log.text()


def test_the_line_of_a_search(world):  # noqa: F811
    """The status is the provider's, also where pages are read after it answered."""
    world.find(2)
    world.web.answers.clear()  # no page is there: 404
    with world.server("serper", "tavily") as forage:
        search(forage, PRIVATE)
        forage.wait_log(line("web_search", "ok", r"provider=serper requests=1 tokens=0\+0 http=200 results=2"))
        assert call(forage, {"queries": [PRIVATE, "another"]}).status == 200
        forage.wait_log(line("web_search", "ok", r"provider=serper requests=2 tokens=0\+0 http=200 results=2"))
        world["serper"].mishap = world["tavily"].mishap = 503
        assert call(forage, {"query": PRIVATE}).status == 502
        forage.wait_log(line("web_search", "PROVIDER", "provider=serper http=503 results=0"))
        assert not any(word in forage.log.text() for word in private_words(world))


def test_the_line_of_a_page(world):  # noqa: F811
    world.web.answers["/there"] = Answer(page())
    with world.server() as forage:
        for path, rest in (("/there", r"provider=\w+ http=200"), ("/gone", r"(provider=\w+ )?http=404")):
            exchange(forage.port, request("POST", "/api/v1/tools/get_content", None, {"url": world.web.url(path)}))
            forage.wait_log(line("get_content", "ok", rest))


# ---- DEBUG ----


def test_debug_tells_input_and_requests(world):  # noqa: F811
    hits = world.find(1)
    with world.server("serper", DEBUG="true") as forage:
        search(forage, PRIVATE)
        forage.wait_log(rf'DEBUG req=\S+ tool=web_search input=\{{"query":"{PRIVATE}"')
        serper = re.escape(world["serper"].url)
        took = r"bytes=[1-9]\d* ms=\d+\.\d{3}"
        forage.wait_log(rf"DEBUG req=\S+ request=POST upstream=serper address={serper}/search http=200 {took}$")
        forage.wait_log(rf"DEBUG req=\S+ request=GET upstream=page address={re.escape(hits[0].link)} http=200 {took}$")


def test_debug_tells_what_was_not_reached():
    completed = run("call", "get_content", "url=http://10.0.0.1/x", DEBUG="true")
    assert 'tool=get_content input={"url":"http://10.0.0.1/x"}' in completed.stderr
    assert re.search(r"request=GET upstream=page address=http://10\.0\.0\.1/x http=0 bytes=0 ms=\S+ error=.+$", completed.stderr, re.M)


@pytest.mark.parametrize("settings", [{}, {"FORAGE_LOG_LEVEL": "debug"}, {"DEBUG": "false", "FORAGE_LOG_LEVEL": "debug"}], ids=str)
def test_without_debug_nothing_private(world, settings):  # noqa: F811
    world.find(1)
    with world.server("serper", **settings) as forage:
        search(forage, PRIVATE)
        forage.wait_log(r"tool=web_search caller=local status=ok")
        assert not any(word in forage.log.text() for word in private_words(world))


def test_debug_holds_no_secrets(world):  # noqa: F811
    """Not in what came in, not in an address, and no half of one where the input is cut."""
    world.find(1)
    with world.server("serper", DEBUG="true", OPENAI_API_KEY=KEY) as forage:
        for query in (f"what is {KEY} for", "x" * (2000 - len('{"query":"') - len(KEY) // 2) + KEY):
            call(forage, {"query": query})
        exchange(forage.port, request("POST", "/api/v1/tools/get_content", None, {"url": world.web.url(f"/?key={KEY}")}))
        forage.wait_log(r"request=GET upstream=page address=\S+\[redacted\]")
        log = forage.log.text()
    assert log.count("tool=web_search input=") == 2 and KEY[: len(KEY) // 2] not in log
