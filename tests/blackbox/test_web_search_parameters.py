"""Parameters of web_search: each in the terms of each provider, as seen on the provider's side; what one has no word for
is told in left_out; several queries in one call; and arguments that are refused, by name.

The fakes refuse what their vendors would refuse, so every row here is also a request that the vendor accepts."""

import datetime
import json

import pytest
from fakes.search_service import Hit, Refused
from searching import NAMES, call, fail, links, search, shared_world, world  # noqa: F401


def today(days=0):
    return (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=days)).strftime("%Y-%m-%d")


def sent(fake):
    """What the provider was asked last: its path and its parameters, whichever way they come."""
    asked = fake.requests[-1]
    if asked.method == "POST":
        return asked.path, json.loads(asked.body)
    return asked.path, asked.query


# (arguments, provider, what must be in the request; None: must not be there, words that left_out must have)
CASES = [
    # how many
    ({"num_results": 7}, "serper", {"num": 7}, None),
    ({"num_results": 7}, "tavily", {"max_results": 7}, None),
    ({"num_results": 7}, "searxng", {}, None),
    ({"num_results": 7}, "brave", {"count": "7"}, None),
    ({"num_results": 7}, "exa", {"numResults": 7}, None),
    # what kind
    ({"type": "news"}, "serper", {"path": "/news"}, None),
    ({"type": "news"}, "tavily", {"topic": "news"}, None),
    ({"type": "news"}, "searxng", {"categories": "news"}, None),
    ({"type": "news"}, "brave", {"path": "/res/v1/news/search"}, None),
    ({"type": "news"}, "exa", {"category": "news"}, None),
    ({"type": "scholar"}, "serper", {"path": "/scholar"}, None),
    ({"type": "scholar"}, "tavily", {"topic": "general"}, "scholar"),
    ({"type": "scholar"}, "searxng", {"categories": "science"}, None),
    ({"type": "scholar"}, "brave", {"path": "/res/v1/web/search"}, "scholar"),
    ({"type": "scholar"}, "exa", {"category": "publication"}, None),
    ({"type": "images"}, "serper", {"path": "/images"}, None),
    ({"type": "images"}, "searxng", {"categories": "images"}, None),
    ({"type": "images"}, "brave", {"path": "/res/v1/images/search"}, None),
    ({"type": "images"}, "exa", {"category": None}, "images"),
    # how fresh
    ({"freshness": "week"}, "serper", {"tbs": "qdr:w"}, None),
    ({"freshness": "week"}, "tavily", {"time_range": "week"}, None),
    ({"freshness": "week"}, "searxng", {"time_range": "week"}, None),
    ({"freshness": "week"}, "brave", {"freshness": "pw"}, None),
    ({"freshness": "week"}, "exa", {"startPublishedDate": today(7) + "T00:00:00.000Z", "endPublishedDate": None}, None),
    ({"freshness": "day"}, "serper", {"tbs": "qdr:d"}, None),
    ({"freshness": "month"}, "brave", {"freshness": "pm"}, None),
    ({"freshness": "year"}, "searxng", {"time_range": "year"}, None),
    ({"freshness": "day", "type": "images"}, "brave", {"freshness": None}, "freshness"),
    # from when to when
    (
        {"start_date": "2020-01-02", "end_date": "2020-03-04"},
        "serper",
        {"tbs": "cdr:1,cd_min:01/02/2020,cd_max:03/04/2020"},
        None,
    ),
    ({"start_date": "2020-01-02", "end_date": "2020-03-04"}, "tavily", {"start_date": "2020-01-02", "end_date": "2020-03-04"}, None),
    ({"start_date": "2020-01-02", "end_date": "2020-03-04"}, "searxng", {"time_range": None}, "start_date"),
    ({"start_date": "2020-01-02", "end_date": "2020-03-04"}, "brave", {"freshness": "2020-01-02to2020-03-04"}, None),
    ({"start_date": "2020-01-02"}, "brave", {"freshness": "2020-01-02to" + today()}, None),
    (
        {"start_date": "2020-01-02", "end_date": "2020-03-04"},
        "exa",
        {"startPublishedDate": "2020-01-02T00:00:00.000Z", "endPublishedDate": "2020-03-04T23:59:59.999Z"},
        None,
    ),
    # where and in which language
    ({"region": "DE"}, "serper", {"gl": "de"}, None),
    ({"region": "de"}, "tavily", {"country": "germany"}, None),
    ({"region": "de", "type": "news"}, "tavily", {"country": None}, "region"),
    ({"region": "gb"}, "tavily", {"country": "united kingdom"}, None),
    ({"region": "DE"}, "brave", {"country": "DE"}, None),
    ({"region": "LI"}, "brave", {"country": None}, "LI"),
    ({"region": "DE"}, "exa", {"userLocation": "DE"}, None),
    ({"region": "AT", "language": "de"}, "searxng", {"language": "de-AT"}, None),
    ({"language": "de"}, "serper", {"hl": "de"}, None),
    ({"language": "de"}, "searxng", {"language": "de"}, None),
    ({"language": "ja"}, "brave", {"search_lang": "jp"}, None),
    ({"language": "pt-BR"}, "brave", {"search_lang": "pt-br"}, None),
    ({"language": "de"}, "tavily", {}, "language"),
    ({"language": "de"}, "exa", {}, "language"),
    # which sites
    ({"sites": ["127.0.0.1"]}, "tavily", {"query": "things", "include_domains": ["127.0.0.1"]}, None),
    ({"exclude_sites": ["a.example"]}, "tavily", {"query": "things", "exclude_domains": ["a.example"]}, None),
    ({"sites": ["127.0.0.1"]}, "exa", {"query": "things", "includeDomains": ["127.0.0.1"]}, None),
    ({"exclude_sites": ["a.example"]}, "exa", {"query": "things", "excludeDomains": ["a.example"]}, None),
    ({"sites": ["127.0.0.1"]}, "serper", {"q": "things site:127.0.0.1"}, None),
    ({"sites": ["127.0.0.1", "b.example"]}, "searxng", {"q": "things (site:127.0.0.1 OR site:b.example)"}, None),
    ({"exclude_sites": ["a.example", "b.example"]}, "brave", {"q": "things -site:a.example -site:b.example"}, None),
    # which page
    ({"page": 2}, "serper", {"page": 2}, None),
    ({"page": 2}, "searxng", {"pageno": "2"}, None),
    ({"page": 2}, "brave", {"offset": "1"}, None),
    ({"page": 2}, "tavily", {"max_results": 6}, None),
    ({"page": 2}, "exa", {"numResults": 6}, None),
]


@pytest.fixture(scope="module")
def servers(shared_world):  # noqa: F811
    """A server for each provider."""
    started = {name: shared_world.server(name) for name in NAMES}
    yield started
    for server in started.values():
        with server:
            pass


@pytest.mark.parametrize(("arguments", "name", "expected", "left_out"), CASES, ids=lambda value: str(value)[:60])
def test_in_the_providers_own_terms(world, servers, arguments, name, expected, left_out):
    hits = world.find(10)
    for index, hit in enumerate(hits):
        hit.image = f"https://pictures.example/{index}.png"
    result = search(servers[name], **arguments)
    path, parameters = sent(world[name])
    for key, value in expected.items():
        assert (path if key == "path" else parameters.get(key)) == value, parameters
    assert result["results"] and result["provider"] == name
    words = " ".join(result["left_out"])
    assert left_out in words if left_out else words == "", words


@pytest.mark.parametrize("name", ["tavily", "exa"])
def test_a_page_of_a_provider_without_pages(world, servers, name):
    """More are asked for, and those of the first page are passed over."""
    hits = world.find(10)
    assert links(search(servers[name], page=2)) == [hit.link for hit in hits[3:6]]


@pytest.mark.parametrize("name", ["serper", "searxng", "brave"])
def test_images_tell_where_the_picture_is(world, servers, name):
    hits = world.find(1)
    hits[0].image = "https://pictures.example/1.png"
    first = search(servers[name], type="images")["results"][0]
    assert first["image"] == "https://pictures.example/1.png" and first["link"] == hits[0].link


def test_images_of_tavily(world, servers):
    """It has pictures beside results only; whatever is made of that is said."""
    world.find(2)
    result = search(servers["tavily"], type="images")
    assert "images" in " ".join(result["left_out"]) or result["results"][0]["image"]


@pytest.mark.parametrize("name", NAMES)
def test_sites_hold_whatever_the_provider_does(world, servers, name):
    """A provider that ignores them does not bring other sites in."""
    hits = world.find(2)
    hits += [Hit("Elsewhere", "https://elsewhere.example/", "x")]
    assert links(search(servers[name], sites=["127.0.0.1"], num_results=20)) == [hit.link for hit in hits[:2]]
    assert links(search(servers[name], exclude_sites=["127.0.0.1"], num_results=20)) == ["https://elsewhere.example/"]


def test_a_long_query_for_who_takes_only_a_short_one(world, servers):
    world.find(1)
    for name in ("tavily", "brave"):
        result = search(servers[name], "a long question " * 60)
        _, parameters = sent(world[name])
        assert len(parameters.get("query") or parameters["q"]) <= 400
        assert "query" in " ".join(result["left_out"])


@pytest.mark.parametrize("name", NAMES)
def test_any_text_is_a_query(world, servers, name):
    """Quotes, percent signs, other scripts: they arrive as they are."""
    world.find(1)
    for query in ('"C++" & <b> 100% #1?', "日本語 العربية \u00e9\u0301 😀", "a\\b\tc\nd", "'; DROP TABLE--"):
        search(servers[name], query)
        _, parameters = sent(world[name])
        arrived = parameters.get("query") or parameters["q"]
        assert arrived.split() == query.split()


@pytest.mark.parametrize("name", NAMES)
def test_html_in_what_a_provider_says(world, servers, name):
    """Titles are text: what looks like a tag or a reference is shown as the page has it."""
    hits = world.find(1)
    hits[0].title, hits[0].snippet = "vector<int> & friends", "use of a < b"
    first = search(servers[name])["results"][0]
    assert "friends" in first["title"] and "use of a" in first["snippet"]


# ---- several queries ----


@pytest.mark.parametrize("name", NAMES)
def test_queries_are_merged_and_each_page_is_shown_once(world, servers, name):
    hits = world.pages(5)
    again = Hit("Again", hits[1].link + "?utm_source=x#part", "The same page in other words")
    world[name].found = {"first": hits[:3], "second": [again, *hits[3:]]}
    result = search(servers[name], None, queries=["first", "second"], num_results=20)
    # Whichever address of a page came first is shown.
    found = {item["link"].partition("?")[0]: item["queries"] for item in result["results"]}
    assert sorted(found) == sorted(hit.link for hit in hits) and len(result["results"]) == 5
    assert found[hits[1].link] == ["first", "second"]
    assert found[hits[0].link] == ["first"] and found[hits[4].link] == ["second"]
    assert world[name].searches == 2
    assert sum(path.startswith("/page-1") for _, path, _ in world.web.requests) == 1


SAME_PAGE = [
    ("http://site.example/a", "https://site.example/a"),
    ("https://www.site.example/a", "https://site.example/a"),
    ("https://SITE.example/a/", "https://site.example/a"),
    ("https://site.example/a?utm_source=b&utm_medium=c", "https://site.example/a"),
    ("https://site.example/a#part", "https://site.example/a"),
    ("https://site.example/a?id=1&fbclid=x", "https://site.example/a?id=1"),
]
OTHER_PAGE = [
    ("https://site.example/a", "https://site.example/b"),
    ("https://site.example/a?id=1", "https://site.example/a?id=2"),
    ("https://one.example/a", "https://two.example/a"),
    ("https://site.example/a", "https://site.example/A"),
]


@pytest.mark.parametrize(("one", "other", "count"), [(*pair, 1) for pair in SAME_PAGE] + [(*pair, 2) for pair in OTHER_PAGE])
def test_when_two_addresses_are_one_page(world, servers, one, other, count):
    world["serper"].found = {"first": [Hit("One", one, "x")], "second": [Hit("Other", other, "y")]}
    result = search(servers["serper"], None, queries=["first", "second"])
    assert len(result["results"]) == count
    # Of two spellings the encrypted one is kept, and of two pages that tie the first by its address is the first.
    assert result["results"][0]["link"] == min(one, other) if count == 2 else result["results"][0]["link"] in (one, other)


def test_the_number_of_results_is_that_of_all_queries(world, servers):
    hits = world.pages(12)
    world["serper"].found = {"first": hits[:6], "second": hits[6:]}
    result = search(servers["serper"], None, queries=["first", "second"], num_results=4)
    assert len(result["results"]) == 4
    assert {text for item in result["results"] for text in item["queries"]} == {"first", "second"}


@pytest.mark.parametrize("name", NAMES)
def test_one_query_of_several_fails(world, servers, name):
    """What the others found is there, and what is missing is said."""
    hits = world.pages(2)
    world[name].found = {"good": hits, "bad": Refused("not this")}
    result = search(servers[name], None, queries=["bad", "good"])
    assert links(result) == [hit.link for hit in hits]
    assert "queries[0]" in " ".join(result["warnings"])


def test_all_queries_fail(world, servers):
    world["exa"].mishap = 401
    assert fail(servers["exa"], None, queries=["one", "two"])["code"] == "AUTH"


def test_the_same_query_twice_is_one(world, servers):
    world.find(2)
    result = search(servers["serper"], None, queries=["things", "things"])
    assert world["serper"].searches == 1 and len(result["results"]) == 2


# ---- arguments that are refused ----

REFUSED = [
    ({"query": ""}, "query"),
    ({"query": "  \t\n "}, "query"),
    ({}, "query"),
    ({"query": None}, "query"),
    ({"query": 5}, "query"),
    ({"query": "x" * 5000}, "query"),
    ({"queries": []}, "queries"),
    ({"queries": ["a", " "]}, "queries"),
    ({"queries": ["a"] * 50}, "queries"),
    ({"queries": "a"}, "queries"),
    ({"query": "a", "queries": ["b"]}, "queries"),
    ({"query": "a", "num_results": 0}, "num_results"),
    ({"query": "a", "num_results": 21}, "num_results"),
    ({"query": "a", "num_results": -1}, "num_results"),
    ({"query": "a", "num_results": "3"}, "num_results"),
    ({"query": "a", "num_results": 2.5}, "num_results"),
    ({"query": "a", "type": "videos"}, "type"),
    ({"query": "a", "freshness": "century"}, "freshness"),
    ({"query": "a", "start_date": "02.01.2020"}, "start_date"),
    ({"query": "a", "start_date": "2020-02-30"}, "start_date"),
    ({"query": "a", "end_date": "2020-13-01"}, "end_date"),
    ({"query": "a", "start_date": "2020-02-02", "end_date": "2020-02-01"}, "end_date"),
    ({"query": "a", "start_date": "2020-02-02", "freshness": "day"}, "freshness"),
    ({"query": "a", "region": "XX"}, "region"),
    ({"query": "a", "region": "Germany"}, "region"),
    ({"query": "a", "language": "klingon!"}, "language"),
    ({"query": "a", "sites": "example.org"}, "sites"),
    ({"query": "a", "sites": ["no host at all"]}, "sites"),
    ({"query": "a", "exclude_sites": [""]}, "exclude_sites"),
    ({"query": "a", "page": 0}, "page"),
    ({"query": "a", "page": 11}, "page"),
    ({"query": "a", "return_full_pages": False}, "return_full_pages"),
]


@pytest.mark.parametrize(("arguments", "named"), REFUSED, ids=lambda value: str(value)[:50])
def test_arguments_that_are_refused_by_name(world, servers, arguments, named):
    response = call(servers["serper"], arguments)
    assert response.status == 400
    error = response.json()["error"]
    assert error["code"] == "VALIDATION" and named in error["message"]
    assert world.searches() == {}


def test_an_unknown_country_is_named(world, servers):
    assert "XQ" in fail(servers["serper"], region="XQ")["message"]
