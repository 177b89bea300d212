"""The fakes of the search providers, proved by the vendors' own published clients: what those accept and ask for is
what forage is tested with. Serper publishes no client; its fake cites the playground."""

import json

import pytest
from fakes.brave import Brave
from fakes.exa import Exa
from fakes.search_service import Hit
from fakes.searxng import Searxng
from fakes.tavily import Tavily
from vendors import mcp_server, run_script

HITS = [
    Hit("First <b>&amp;</b>", "https://one.example/a?b=c", "The first words", "2020-10-03", "https://one.example/a.png"),
    Hit("Second", "https://two.example/", "", None, "https://two.example/b.png"),
]


@pytest.fixture
def fake(request):
    """A fake of the kind that the test is marked with."""
    with request.param() as service:
        service.hits = HITS
        yield service


TAVILY_SCRIPT = """
    const { tavily } = await import(process.argv[1] + '/@tavily/core/dist/index.mjs');
    const [apiBaseURL, apiKey] = process.argv.slice(2);
    const say = (value) => console.log(JSON.stringify(value));
    const client = tavily({ apiKey, apiBaseURL });
    say(await client.search('things', { maxResults: 1 }));
    say(await client.search('things', { topic: 'news', timeRange: 'week', includeImages: true,
        includeImageDescriptions: true, includeDomains: ['one.example'], excludeDomains: ['two.example'] }));
    say(await client.search('things', { country: 'germany', startDate: '2020-01-01', endDate: '2020-12-31' }));
    await client.search('things', { topic: 'gossip' }).catch((error) => say(error.message));
    await tavily({ apiKey: 'tvly-wrong', apiBaseURL }).search('things').catch((error) => say(error.message));
"""


@pytest.mark.parametrize("fake", [Tavily], indirect=True)
def test_tavily_core_accepts_the_fake(fake):
    one, news, dated, refused, locked = run_script(TAVILY_SCRIPT, fake.url, fake.key)
    assert [result["url"] for result in one["results"]] == [HITS[0].link]
    assert one["results"][0]["content"] == HITS[0].snippet and one["results"][0]["score"] > 0
    assert one["requestId"] and one["responseTime"] == 0.42 and one["images"] == []
    assert news["results"][0]["publishedDate"]
    assert [image["url"] for image in news["images"]] == [HITS[0].image, HITS[1].image]
    assert len(dated["results"]) == 2
    assert refused == "Invalid topic." and locked.startswith("Unauthorized")


EXA_SCRIPT = """
    const { default: Exa } = await import(process.argv[1] + '/exa-js/dist/index.mjs');
    const [base, key] = process.argv.slice(2);
    const say = (value) => console.log(JSON.stringify(value));
    const client = new Exa(key, base);
    say(await client.search('things', { numResults: 1 }));
    say(await client.search('things', { contents: { highlights: true }, category: 'news', userLocation: 'DE',
        startPublishedDate: '2020-01-01T00:00:00.000Z', includeDomains: ['one.example'] }));
    await client.search('things', { category: 'gossip' }).catch((error) => say([error.statusCode, error.message]));
    await new Exa('wrong', base).search('things').catch((error) => say([error.statusCode, error.message]));
"""


@pytest.mark.parametrize("fake", [Exa], indirect=True)
def test_exa_js_accepts_the_fake(fake):
    one, news, refused, locked = run_script(EXA_SCRIPT, fake.url, fake.key)
    assert [result["url"] for result in one["results"]] == [HITS[0].link]
    assert one["results"][0]["text"] == HITS[0].snippet and one["results"][0]["publishedDate"].startswith(HITS[0].date)
    assert one["requestId"] and one["resolvedSearchType"]
    assert news["results"][0]["highlights"] == [HITS[0].snippet] and news["results"][1]["highlights"] == []
    assert refused[0] == 400 and "category" in refused[1]
    assert locked[0] == 401


# Brave's server knows one address only: what goes there is sent to the fake.
TO_THE_FAKE = """
    const real = globalThis.fetch;
    globalThis.fetch = (address, options) => real(
        String(address).replace('https://api.search.brave.com', process.env.FAKE_BRAVE), options);
"""


@pytest.mark.parametrize("fake", [Brave], indirect=True)
def test_braves_own_server_accepts_the_fake(fake):
    options = ["--import", "data:text/javascript," + TO_THE_FAKE.replace("\n", " ")]
    script = "@brave/brave-search-mcp-server/dist/index.js"
    with mcp_server(script, options, BRAVE_API_KEY=fake.key, FAKE_BRAVE=fake.url) as call:
        found = call("brave_web_search", query="things", count=2, freshness="pw", country="DE", search_lang="de")
        first = json.loads(found["content"][0]["text"])
        assert first["url"] == HITS[0].link and first["description"] == HITS[0].snippet
        assert fake.requests[-1].query["freshness"] == "pw"
        news = call("brave_news_search", query="things", count=1)
        assert json.loads(news["content"][0]["text"])["page_age"].startswith(HITS[0].date)
        images = call("brave_image_search", query="things", count=2)["structuredContent"]
        assert [item["properties"]["url"] for item in images["items"]] == [HITS[0].image, HITS[1].image]
        fake.mishap = 429
        assert "RATE_LIMITED" in call("brave_web_search", query="things")["content"][0]["text"]
    with mcp_server(script, options, BRAVE_API_KEY="wrong", FAKE_BRAVE=fake.url) as call:
        fake.mishap = None
        assert "SUBSCRIPTION_TOKEN_INVALID" in call("brave_web_search", query="things")["content"][0]["text"]


@pytest.mark.parametrize("fake", [Searxng], indirect=True)
def test_mcp_searxng_accepts_the_fake(fake):
    with mcp_server("mcp-searxng/dist/cli.js", SEARXNG_URL=fake.url) as call:
        found = call("searxng_web_search", query="things", time_range="month", language="de", response_format="json")
        results = json.loads(found["content"][0]["text"])["results"]
        assert [result["url"] for result in results] == [hit.link for hit in HITS]
        assert results[0]["content"] == HITS[0].snippet
        assert fake.requests[-1].query["time_range"] == "month"
        fake.formats.remove("json")
        refused = call("searxng_web_search", query="other things")
        assert refused["isError"] and "403" in refused["content"][0]["text"]
