"""Open sources of the general web: each fake is proved by the vendor's published client where there is one, forage asks as that
client does, and web_search gives what the source found.

ddgs, keenable and firecrawl-py speak to the fakes themselves; `mcp` to those that are MCP servers, whose answers are compared
with what exa-mcp-server writes and youdotcom reads. Marginalia, Mwmbl, Wiby and Parallel's open search have no client."""

import json
import urllib.parse

import pytest
from fakes.duckduckgo import DuckDuckGo
from fakes.exa import Exa
from fakes.exa_open import ExaOpen
from fakes.firecrawl_search import FirecrawlSearch
from fakes.keenable import Keenable
from fakes.marginalia import Marginalia
from fakes.mwmbl import Mwmbl
from fakes.parallel import Parallel
from fakes.search_service import Hit
from fakes.service import Reply
from fakes.wiby import Wiby
from fakes.you import You
from searching import World, fail, links, search
from vendors import mcp_server, run_python

KINDS = [DuckDuckGo, ExaOpen, FirecrawlSearch, Keenable, Marginalia, Mwmbl, Parallel, Wiby, You]
NAMES = [kind.name for kind in KINDS]
TOOLS = [kind.name for kind in (ExaOpen, Parallel, You)]
HITS = [
    Hit("First & foremost", "https://one.example/a?b=c&d=e", "The first words", "2020-10-03"),
    Hit('Second "best"', "https://two.example/", None),
]


class Sources(World):
    """The open sources as fakes, and the keyed providers of World."""

    def __init__(self):
        super().__init__()
        self.fakes |= {kind.name: kind() for kind in KINDS}

    def server(self, *names, **more):
        return super().server(*names, FORAGE_SEARCH_PROVIDERS=",".join(names), **more)


@pytest.fixture(scope="module")
def shared_sources():
    with Sources() as sources:
        yield sources


@pytest.fixture
def sources(shared_sources):
    shared_sources.reset()
    yield shared_sources


# ---- the vendors' clients are content with the fakes ----

KEENABLE_SCRIPT = """
from keenable import Keenable, KeenableRateLimitError
client = Keenable(base_url=url)
found = client.search("things", site="one.example", published_after="2020-01-01", snippet_max_length=1000)
say([[one.title, one.url, one.snippet, one.published_at] for one in found])
try:
    client.search("too much")
except KeenableRateLimitError as error:
    say(str(error))
"""


def test_keenable_accepts_its_fake(sources):
    fake = sources["keenable"]
    fake.hits, fake.mishaps = HITS, [None, 429]
    found, limited = run_python(KEENABLE_SCRIPT, fake.url)
    assert found == [
        [HITS[0].title, HITS[0].link, HITS[0].snippet, "2020-10-03T00:00:00Z"],
        [HITS[1].title, HITS[1].link, "", None],
    ]
    assert "429" in limited
    client = fake.requests[0]
    with sources.server("keenable") as forage:
        search(forage, sites=["one.example"], start_date="2020-01-01", num_results=1)
    ours = fake.requests[-1]
    assert (ours.method, ours.path) == (client.method, client.path)
    asked = json.loads(ours.body)
    assert asked.pop("max_results") == 1 and asked == json.loads(client.body)
    for name in ("accept", "content-type"):
        assert ours.headers[name] == client.headers[name]
    assert ours.headers["x-keenable-title"] == "forage" and "keenable-python" in client.headers["user-agent"]


FIRECRAWL_SCRIPT = """
from firecrawl import Firecrawl
client = Firecrawl(api_url=url)
found = client.search("things", limit=3, tbs="qdr:w", location="Germany")
say([[one.title, one.url, one.description] for one in found.web])
say(client.search("nothing").web)
try:
    client.search("too much")
except Exception as error:
    say([type(error).__name__, str(error)])
"""


def test_firecrawl_py_accepts_its_fake(sources):
    fake = sources["firecrawl"]
    fake.hits, fake.found, fake.mishaps = HITS, {"nothing": []}, [None, None, 429]
    found, nothing, limited = run_python(FIRECRAWL_SCRIPT, fake.url)
    assert found == [[hit.title, hit.link, hit.snippet] for hit in HITS]
    assert nothing is None and limited[0] == "RateLimitError"
    client = fake.requests[0]
    with sources.server("firecrawl") as forage:
        search(forage, num_results=3, freshness="week", region="DE")
    ours = fake.requests[-1]
    assert (ours.method, ours.path) == (client.method, client.path)
    # Its clients say which one they are in the body too, and how long they wait.
    theirs = {name: value for name, value in json.loads(client.body).items() if name not in ("origin", "timeout")}
    assert json.loads(ours.body) == theirs
    assert "authorization" not in ours.headers and "authorization" not in client.headers


# It looks like any browser by chance: here like one.
DDGS_SCRIPT = """
import ddgs.http_client
from ddgs.engines.duckduckgo import Duckduckgo
real = ddgs.http_client.primp.Client
ddgs.http_client.primp.Client = lambda **options: real(**{**options, "impersonate": "chrome", "impersonate_os": "linux"})
Duckduckgo.search_url = url + "/html/"
engine = Duckduckgo(timeout=20)
for arguments in ({"query": "things", "timelimit": "w"}, {"query": "things", "page": 2}):
    found = engine.search(**arguments)
    say(found and [[one.title, one.href, one.body] for one in found])
"""


def test_ddgs_accepts_the_fake_of_duckduckgo(sources):
    """The client has no tokens: a later page is a page with a question for it."""
    fake = sources["duckduckgo"]
    fake.hits, fake.direct = HITS, True
    found, later = run_python(DDGS_SCRIPT, fake.url)
    assert found == [[HITS[0].title, HITS[0].link, HITS[0].snippet], [HITS[1].title, HITS[1].link, ""]]
    assert later is None
    client = fake.requests[0]
    with sources.server("duckduckgo") as forage:
        search(forage, freshness="week", region="US", num_results=2)
    ours = fake.requests[-1]
    assert (ours.method, ours.path) == (client.method, client.path)
    asked, theirs = (dict(urllib.parse.parse_qsl(one.body.decode(), True)) for one in (ours, client))
    # ddgs calls the region "l", where the form of the page says "kl".
    assert asked == {**{name: theirs[name] for name in ("q", "b", "df")}, "kl": theirs["l"]}
    for name in ("content-type", "sec-fetch-mode", "sec-fetch-dest", "sec-fetch-user", "upgrade-insecure-requests"):
        assert ours.headers[name] == client.headers[name]
    assert all(one.headers["user-agent"].startswith("Mozilla/5.0 (") for one in (ours, client))
    assert ours.headers["cookie"] == "kl=us-en; df=w"


MCP_SCRIPT = """
import asyncio
from mcp import Client
async def main():
    async with Client(url, mode="legacy") as client:
        say([tool.name for tool in (await client.list_tools()).tools])
        result = await client.call_tool(sys.argv[2], json.loads(sys.argv[3]))
        say(result.content[0].text)
asyncio.run(main())
"""
CALLS = {
    "exa-open": ("/mcp", "web_search_exa", {"query": "things", "numResults": 2}),
    "parallel": ("/mcp", "web_search", {"objective": "things", "search_queries": ["things"]}),
    "you": ("/mcp?profile=free", "you-search", {"query": "things", "count": 2}),
}


@pytest.mark.parametrize("name", TOOLS)
def test_mcp_accepts_the_fakes_of_tools(sources, name):
    fake = sources[name]
    fake.hits = HITS
    path, tool, arguments = CALLS[name]
    tools, text = run_python(MCP_SCRIPT, fake.url + path, tool, json.dumps(arguments))
    assert tools == [tool] and HITS[0].link in text and HITS[1].link in text
    called = next(one for one in fake.requests if b"tools/call" in one.body)
    with sources.server(name) as forage:
        search(forage, num_results=2)
    ours = fake.requests[-1]
    assert (ours.method, ours.path, ours.query) == (called.method, called.path, called.query)
    asked, theirs = json.loads(ours.body), json.loads(called.body)
    assert asked["method"] == theirs["method"] and asked["jsonrpc"] == theirs["jsonrpc"]
    for part in ("name", "arguments"):
        assert asked["params"][part] == theirs["params"][part]
    for header in ("accept", "content-type"):
        assert ours.headers[header] == called.headers[header]


TO_THE_FAKE = """
    const real = globalThis.fetch;
    globalThis.fetch = (address, options) => real(
        String(address).replace('https://api.exa.ai', process.env.FAKE_EXA), options);
"""


def test_exa_mcp_server_writes_what_the_fake_writes(sources):
    """The program that Exa runs for everybody, with the fake of its search behind it."""
    options = ["--import", "data:text/javascript," + TO_THE_FAKE.replace("\n", " ")]
    with Exa() as behind:
        variables = {"EXA_API_KEY": behind.key, "FAKE_EXA": behind.url}
        with mcp_server("exa-mcp-server/dist/stdio.cjs", options, **variables) as call:
            for hits in (HITS, []):
                behind.hits = hits
                text = call("web_search_exa", query="things", numResults=2)["content"][0]["text"]
                assert text == sources["exa-open"].found_text(hits)


YOU_SCRIPT = """
from youdotcom.models import SearchResponse
for text in sys.argv[2:]:
    found = SearchResponse.model_validate_json(text).results
    say(found.web and [[one.title, one.url, one.description, one.snippets] for one in found.web])
"""


def test_youdotcom_reads_what_the_fake_answers(sources):
    payloads = [json.dumps(sources["you"].payload(hits)) for hits in (HITS, [])]
    found, nothing = run_python(YOU_SCRIPT, "", *payloads)
    assert found[0] == [HITS[0].title, HITS[0].link, HITS[0].snippet, [HITS[0].snippet]]
    assert found[1][2] == "" and nothing is None


# ---- web_search gives what they found ----


@pytest.mark.parametrize("name", NAMES)
def test_each_source_answers(sources, name):
    hits = sources.pages(3)
    hits[0].title = 'Fish & "chips" <raw>'
    hits[1].snippet = "5 < 6 & words"
    sources[name].hits = hits
    sources[name].found = {"nothing": []}
    with sources.server(name) as forage:
        result = search(forage)
    with sources.server(name) as forage:  # of another place, where its turn has not been taken
        nothing = search(forage, "nothing")
    assert result["provider"] == name and links(result) == [hit.link for hit in hits]
    assert [item["title"] for item in result["results"]] == [hit.title for hit in hits]
    assert [item["snippet"] for item in result["results"]] == [hit.snippet for hit in hits]
    assert all("The words of page" in item["page_content"] for item in result["results"])
    assert result["left_out"] == [] and nothing["results"] == []
    agent = sources[name].requests[0].headers["user-agent"]
    assert agent.startswith("Mozilla/" if name == "duckduckgo" else "forage/")


@pytest.mark.parametrize("name", NAMES)
def test_what_stands_in_for_a_snippet(sources, name):
    hits = sources.pages(1)
    hits[0].snippet = None
    sources[name].hits = hits
    with sources.server(name) as forage:
        item = search(forage)["results"][0]
    others = {"keenable": "What the page says of itself", "wiby": "What the page says of itself", "you": "Words of the page"}
    assert item["snippet"] == others.get(name, "")


@pytest.mark.parametrize("name", NAMES)
def test_a_second_page_never_repeats_the_first(sources, name):
    hits = sources.pages(6)
    sources[name].hits = hits
    with sources.server(name) as forage:
        result = search(forage, num_results=3, page=2)
    assert links(result) == [hit.link for hit in hits[3:]]
    assert sources[name].searches == 1


def test_duckduckgo_is_not_asked_for_later_pages(sources):
    sources["duckduckgo"].hits = sources.pages(10)
    with sources.server("duckduckgo") as forage:
        result = search(forage, num_results=10, page=2)
    assert result["results"] == [] and "page: DuckDuckGo gives at most 10 results" in result["left_out"][0]
    assert all(b"&s=" not in asked.body for asked in sources["duckduckgo"].requests)


def test_a_contact_is_told_to_those_who_may_want_it(sources):
    contact = "mailto:me@example.org"
    for name in ("marginalia", "duckduckgo"):
        sources[name].hits = sources.pages(1)
        with sources.server(name, FORAGE_CONTACT=contact) as forage:
            search(forage)
    assert sources["marginalia"].requests[0].headers["user-agent"].endswith(f"({contact})")
    assert contact not in sources["duckduckgo"].requests[0].headers["user-agent"]


# ---- and says what happened when they do not ----

@pytest.mark.parametrize("name", NAMES)
def test_refusals_are_told(sources, name):
    """One that passes, so that the next is asked: the call does not fail."""
    hits = sources.pages(1)
    sources[name].mishap = 429
    sources["serper"].hits = hits
    with sources.server(name, "serper") as forage:
        result = search(forage)
    assert result["provider"] == "serper" and links(result) == [hits[0].link]
    assert "HTTP 429" in " ".join(result["warnings"])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("mishap", ["garbage", "wrong shape", "truncated", "cut"])
def test_what_is_no_answer_is_not_nothing_found(sources, name, mishap):
    """DuckDuckGo's answers are pages, which browsers read also where they end early: then it is what is there."""
    hits = sources.pages(2)
    sources[name].hits, sources[name].mishap = hits, mishap
    with sources.server(name) as forage:
        if (name, mishap) == ("duckduckgo", "truncated"):
            assert set(links(search(forage))) <= {hit.link for hit in hits}
        else:
            error = fail(forage)
            assert error["code"] == "PROVIDER", error


@pytest.mark.parametrize("name", TOOLS)
def test_an_error_of_a_tool_comes_with_200(sources, name):
    fake = sources[name]
    fake.hits = sources.pages(1)
    # Its quota is spent, or it takes other arguments now, and says so.
    fake.spent, fake.parameters = name == "exa-open", {}
    with sources.server(name) as forage:
        assert fail(forage)["code"] == "PROVIDER"
    del fake.parameters


@pytest.mark.parametrize("status", [202, 200, 403])
def test_duckduckgos_question_is_never_nothing_found(sources, status):
    sources["duckduckgo"].hits = sources.pages(2)
    sources["duckduckgo"].mishap = status
    with sources.server("duckduckgo") as forage:
        error = fail(forage)
    assert "DuckDuckGo" in error["message"]


class Lying(Keenable):
    """Answers what it was told to."""

    body = b""

    def search(self, asked):
        return Reply(self.body, kind="text/plain; charset=iso-8859-1")


HOSTILE = {
    "many": json.dumps({"results": [{"url": f"https://one.example/{n}", "title": "T"} for n in range(3000)]}).encode(),
    "deep": b'{"results":' + b"[" * 5000 + b"]" * 5000 + b"}",
    "large": b'{"results":[' + b'{"url":"https://one.example/"},' * 2000000 + b"{}]}",
    "odd": b'{"results":[null,7,"x",[],{"url":7},{"url":""},{"url":"javascript:alert(1)"},{"url":"https://one.example/\\u0000"}]}',
    "no text": b"\xff\xfe\x00{",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_answers_do_no_harm(sources, kind):
    with Lying() as fake:
        fake.body = HOSTILE[kind]
        with sources.server("keenable", **fake.settings) as forage:
            if kind in ("many", "odd"):
                assert len(search(forage, num_results=5)["results"]) <= 5
            else:
                assert fail(forage)["code"] == ("PARSE" if kind == "large" else "PROVIDER")
            fake.body = json.dumps({"results": []}).encode()
            assert search(forage, "something else")["results"] == []
