"""Open sources of code and reference: each with its fake, end to end through web_search, and the fakes proved by the
published clients of those services.

No published client exists for MDN's search, for Sourcegraph's stream (its events are read back with eventsource-parser)
and for crates.io in Python or Node; their fakes cite the documentation. Addresses of results are those of the real sites,
which are never asked: what is read goes to a proxy that is not there."""

import json
import os
import subprocess
import urllib.error
import urllib.request

import pytest
from fakes.github import GitHub
from fakes.grep_app import GrepApp
from fakes.mdn import Mdn
from fakes.packages import Crates, Npm
from fakes.search_service import Hit, Reply
from fakes.sourcegraph import COMMIT, Sourcegraph
from fakes.stackexchange import StackExchange
from fakes.wikipedia import Wikidata, Wikipedia
from one_source import asking
from programs import PATIENCE, ROOT
from searching import fail, links, search
from vendors import NODE, run_python, run_script


class Issues(GitHub):
    """The same service, asked for something else."""

    name = "github-issues"


FILE = "https://github.com/o/r/blob/main/src/a.c"
AT_COMMIT = f"https://github.com/o/r/blob/{COMMIT}/src/a.c#L12"

# Each source: its fake, the type of search, a hit, and the title, link and snippet that forage makes of it.
SOURCES = {
    "crates": (Crates, "code", Hit("serde", "", "A framework"), "serde 1.0.2", "https://crates.io/crates/serde", "A framework"),
    "github": (GitHub, "code", Hit("o/r", "https://github.com/o/r", "Things"), "o/r", "https://github.com/o/r", "Things (C, 42 stars)"),
    "github-issues": (
        Issues,
        "code",
        Hit("It fails", "https://github.com/o/r/issues/7", "Words"),
        "o/r: It fails",
        "https://github.com/o/r/issues/7",
        "open: Words",
    ),
    "grep-app": (
        GrepApp,
        "code",
        Hit("o/r: src/a.c", FILE, "int main(void)"),
        "o/r: src/a.c",
        FILE,
        "src/a.c:12:\nint main(void)\n\nsrc/a.c:40:\nreturn 0;\n",
    ),
    "mdn": (
        Mdn,
        "code",
        Hit("Map &amp; Set", "https://developer.mozilla.org/en-US/docs/Map", "Holds &lt;pairs&gt;"),
        "Map & Set",
        "https://developer.mozilla.org/en-US/docs/Map",
        "Holds <pairs>",
    ),
    "npm": (
        Npm,
        "code",
        Hit("left-pad", "https://www.npmjs.com/package/left-pad", "Pads"),
        "left-pad 1.2.3",
        "https://www.npmjs.com/package/left-pad",
        "Pads",
    ),
    "sourcegraph": (
        Sourcegraph,
        "code",
        Hit("o/r: src/a.c", FILE, "int main(void)"),
        "o/r: src/a.c",
        AT_COMMIT,
        "src/a.c:12: int main(void)",
    ),
    "stackexchange": (
        StackExchange,
        "code",
        Hit('What is "x"?', "https://stackoverflow.com/questions/1/what", "x"),
        'What is "x"?',
        "https://stackoverflow.com/questions/1/what",
        "5 points, answered; c++, linux",
    ),
    "wikidata": (
        Wikidata,
        "web",
        Hit("Douglas Adams", "https://www.wikidata.org/wiki/Q42", "English writer"),
        "Douglas Adams",
        "https://www.wikidata.org/wiki/Q42",
        "English writer",
    ),
    "wikipedia": (
        Wikipedia,
        "web",
        Hit("C (programming language)", "", "A language"),
        "C (programming language)",
        "https://en.wikipedia.org/wiki/C_(programming_language)",
        "A language & more",
    ),
}


class Asked:
    """A source with its fake and a server that asks it."""

    def __init__(self, name):
        kind, self.type, self.hit, self.title, self.link, self.snippet = SOURCES[name]
        self.fake = kind()

    def search(self, query="things", **arguments):
        return search(self.server, query, type=self.type, **arguments)

    def fail(self, query="things", **arguments):
        return fail(self.server, query, type=self.type, **arguments)

    def requests(self):
        """Those of searches: pages are read from some of these services too."""
        pages = ("/repos/", "/2.3/questions")
        searches = [asked for asked in self.fake.requests if not asked.path.startswith(pages)]
        return [asked for asked in searches if asked.query.get("action") != "parse"]

    def __enter__(self):
        self.fake.__enter__()
        self.server = asking(self.fake).__enter__()
        self.fake.hits = [self.hit]
        return self

    def __exit__(self, *arguments):
        self.server.__exit__(*arguments)
        self.fake.__exit__(*arguments)


@pytest.fixture(params=sorted(SOURCES))
def source(request):
    with Asked(request.param) as asked:
        yield asked


# ---- all of them ----


def test_results(source):
    result = source.search()
    assert result["provider"] == source.fake.name and result["left_out"] == []
    (item,) = result["results"]
    assert (item["title"], item["link"], item["snippet"]) == (source.title, source.link, source.snippet)
    (asked,) = source.requests()
    assert asked.headers["user-agent"].startswith("forage/")


def test_nothing_found_is_an_answer(source):
    source.fake.mishap = "empty"
    assert source.search()["results"] == []


def test_the_second_page_follows_the_first(source):
    """A list that is longer than a page: no result is shown twice, none is passed over."""
    source.fake.hits = [
        Hit(source.hit.title.replace("src/a.c", f"src/{number}.c"), source.hit.link + str(number), "words") for number in range(4)
    ]
    for number, hit in enumerate(source.fake.hits):
        if not source.hit.link:
            hit.title = f"{source.hit.title}{number}"
    one, two = (links(source.search(num_results=2, page=page)) for page in (1, 2))
    assert len(one) == len(two) == 2 and len({*one, *two}) == 4
    assert one + two == sorted(one + two)


@pytest.mark.parametrize("mishap", ["garbage", "wrong shape", "truncated"])
def test_what_is_no_answer_is_not_nothing_found(source, mishap):
    source.fake.mishap = mishap
    if mishap == "truncated" and source.fake.name == "sourcegraph":
        source.fake.hits = []  # what was sent before the end of a stream counts
    error = source.fail()
    # Stack Exchange packs whatever it sends: half of that is no whole answer, whatever it says.
    cut = mishap == "truncated" and source.fake.name == "stackexchange"
    words = "broke off its answer" if cut else "something else than results"
    assert error["code"] == "PROVIDER" and words in error["message"]


def test_too_many_searches(source):
    source.fake.mishap, source.fake.retry_after = 429, 60
    error = source.fail()
    assert error["code"] == "RATE_LIMIT" and error["retry_after_s"] >= 1, error


def test_it_fails(source):
    source.fake.mishap = 500
    assert source.fail()["code"] == "PROVIDER"


def test_too_large_an_answer(source):
    source.fake.hits = [Hit(source.hit.title, source.hit.link or "x", "x" * 5_000_000)]
    source.fake.packed = lambda asked, body, **headers: Reply(body, **headers)
    if source.fake.name in ("stackexchange", "github-issues", "wikidata"):
        source.fake.hits[0].title = "x" * 5_000_000
    assert source.fail()["code"] == "PARSE"


# ---- where they differ ----


@pytest.fixture
def one(request):
    with Asked(request.param) as asked:
        yield asked


def only_for(name):
    return pytest.mark.parametrize("one", [name], indirect=True)


@only_for("wikipedia")
def test_wikipedia_refuses_the_names_of_libraries(one):
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(f"{one.fake.url}/w/api.php?action=query")
    assert one.search()["results"]


@only_for("wikipedia")
def test_wikipedia_in_the_language_of_the_query(one):
    one.fake.hits = [Hit("Київ", "", "Місто")]
    (item,) = one.search("столиця України")["results"]
    assert item["link"] == "https://uk.wikipedia.org/wiki/%D0%9A%D0%B8%D1%97%D0%B2"


@only_for("wikipedia")
def test_wikipedia_answers_more_often_to_who_gives_a_contact(one):
    with asking(one.fake, FORAGE_CONTACT="mailto:me@example.org") as known:
        for _ in range(12):
            assert search(known, "things")["results"]
        assert one.fake.requests[0].headers["user-agent"].endswith("(mailto:me@example.org)")
    assert one.fail()["code"] == "RATE_LIMIT"


@only_for("wikipedia")
def test_errors_of_wikipedia_come_with_200(one):
    one.fake.search = lambda asked: one.fake.wrong("ratelimited", "You've exceeded your rate limit")
    assert "something else than results" in one.fail()["message"]


@only_for("stackexchange")
def test_a_spent_quota_of_stack_exchange(one):
    one.fake.quota = 0
    error = one.fail()
    assert error["code"] == "RATE_LIMIT" and "HTTP 400" in error["message"]


@only_for("stackexchange")
def test_the_key_of_stack_exchange_goes_along(one):
    with asking(one.fake, STACKEXCHANGE_KEY=one.fake.key) as known:
        assert search(known, "things", type="code")["results"]
    assert one.requests()[0].query["key"] == one.fake.key
    assert one.search()["results"] and "key" not in one.requests()[-1].query


@only_for("stackexchange")
def test_stack_exchange_searches_the_site_that_is_wanted(one):
    one.fake.hits = [Hit("Here", "https://askubuntu.com/questions/1/here", "x")]
    assert len(one.search(sites=["askubuntu.com"])["results"]) == 1
    assert one.requests()[-1].query["site"] == "askubuntu.com"


@only_for("stackexchange")
def test_stack_exchange_says_what_it_refuses(one):
    error = one.fail(sites=["nosuch.stackexchange.com"])
    assert error["code"] == "PROVIDER" and "refused the search" in error["message"]


@pytest.mark.parametrize("one", ["github", "github-issues"], indirect=True)
def test_a_spent_quota_of_github(one):
    one.fake.searches_left[False] = 0
    error = one.fail()
    assert error["code"] == "RATE_LIMIT" and "HTTP 403" in error["message"]
    assert 30 <= error["retry_after_s"] <= 40
    with asking(one.fake, GITHUB_TOKEN=one.fake.token) as known:
        assert search(known, "things", type="code")["results"]
    assert one.requests()[-1].headers["authorization"] == f"Bearer {one.fake.token}"


@pytest.mark.parametrize("one", ["github", "github-issues"], indirect=True)
def test_a_query_that_github_refuses(one):
    one.fake.search = lambda _asked: one.fake.refuse("More than five AND / OR / NOT operators were used.")
    error = one.fail("AND OR")
    assert error["code"] == "PROVIDER" and "HTTP 422" in error["message"] and "Validation Failed" in error["message"]


@only_for("crates")
def test_crates_io_is_left_out_without_a_contact(one):
    with asking(one.fake, FORAGE_CONTACT=None) as unknown:
        assert fail(unknown, "things", type="code")["code"] == "CONFIG"
    assert one.fake.searches == 0


@only_for("npm")
def test_no_registry_of_npm_is_asked_that_nobody_named(one):
    with asking(one.fake, NPM_BASE_URL=None) as unset:
        assert fail(unset, "things", type="code")["code"] == "CONFIG"
    assert one.fake.searches == 0


@only_for("sourcegraph")
def test_what_sourcegraph_says_about_an_empty_answer(one):
    one.fake.hits = []
    one.fake.alert = {"title": "No repositories found", "description": "Try another filter", "kind": "no-results"}
    assert "No repositories found" in " ".join(one.search("things repo:nosuch")["warnings"])


@only_for("sourcegraph")
def test_a_stream_that_ends_early_is_used_as_far_as_it_came(one):
    whole = one.fake.search
    one.fake.search = lambda asked: Reply(whole(asked).body.split(b"event: filters")[0], kind="text/event-stream")
    assert links(one.search()) == [one.link]


@only_for("grep-app")
def test_words_become_arguments_of_grep_app(one):
    one.search("int main( repo:o/r lang:cpp")
    arguments = json.loads(one.requests()[0].body)["params"]["arguments"]
    assert arguments == {"query": "int main(", "repo": "o/r", "language": ["C++"]}


@only_for("mdn")
def test_links_of_mdn_stay_there(one):
    one.fake.hits = [Hit("a", "@evil.example/x", "x"), Hit("b", "//evil.example/x", "x"), Hit("c", "javascript:x", "x")]
    assert links(one.search()) == ["https://developer.mozilla.org//evil.example/x"]


# ---- the vendors' own clients ----


def differences(theirs, ours, apart=()):
    """The parameters in which two requests differ; `apart` are those that do not matter."""
    names = ({*theirs.query} | {*ours.query}) - {*apart}
    return {name: (theirs.query.get(name), ours.query.get(name)) for name in names if theirs.query.get(name) != ours.query.get(name)}


# Wikipedia-API knows one address only: what goes there is sent to the fake.
WIKIPEDIA_SCRIPT = """
import wikipediaapi
from wikipediaapi._http_client.base_http_client import BaseHTTPClient
BaseHTTPClient._build_url = staticmethod(lambda language: url + "/w/api.php")
wiki = wikipediaapi.Wikipedia(user_agent="blackbox/1.0 (me@example.org)", language="en", max_retries=0)
found = wiki.search("things", limit=2)
say([[page.title, page.search_meta.snippet] for page in found.pages.values()])
"""


@only_for("wikipedia")
def test_wikipedia_api_accepts_the_fake(one):
    one.fake.hits = [one.hit, Hit("Other", "", "words"), Hit("Third", "", "words")]
    (found,) = run_python(WIKIPEDIA_SCRIPT, one.fake.url)
    assert [title for title, _ in found] == [one.hit.title, "Other"] and "searchmatch" in found[0][1]
    assert one.search(num_results=2)["results"]
    theirs, ours = one.requests()
    # What is apart: the form of the answer, and the client's way to say "articles, the best first".
    assert differences(theirs, ours, {"formatversion", "srprop", "srnamespace", "srsort", "redirects"}) == {}


STACKEXCHANGE_SCRIPT = """
import stackapi
site = stackapi.StackAPI("stackoverflow", base_url=url, max_pages=1, page_size=2)
found = site.fetch("search/advanced", q="things", order="desc", sort="relevance")
say([[item["title"], item["link"]] for item in found["items"]] + [found["quota_remaining"]])
try:
    stackapi.StackAPI("stackoverflow", base_url=url, key="wrong").fetch("search/advanced", q="things")
except stackapi.StackAPIError as error:
    say(error.code)
"""


@only_for("stackexchange")
def test_stackapi_accepts_the_fake(one):
    found, refused = run_python(STACKEXCHANGE_SCRIPT, one.fake.url)
    assert found == [["What is &quot;x&quot;?", one.link], 299] and refused == "bad_parameter"
    theirs = [asked for asked in one.fake.requests if "search" in asked.path][0]
    assert one.search(num_results=2)["results"]
    ours = [asked for asked in one.fake.requests if "search" in asked.path][-1]
    assert differences(theirs, ours, {"filter"}) == {}  # the client names the default one


GITHUB_SCRIPT = """
import github
client = github.Github(base_url=url, per_page=2, retry=None, seconds_between_requests=None)
say([[found.full_name, found.html_url] for found in client.search_repositories("things").get_page(0)])
say([[found.title, found.html_url] for found in client.search_issues("things is:issue").get_page(0)])
for query in ("x" * 300, "things"):
    try:
        found = client.search_issues(query).get_page(0)
    except github.GithubException as error:
        say([type(error).__name__, error.status])
"""


@only_for("github")
def test_pygithub_accepts_the_fake(one):
    repositories, issues, too_long, unspecific = run_python(GITHUB_SCRIPT, one.fake.url)
    assert repositories == [[one.title, one.link]] and issues == [["o/r", one.link]]
    assert too_long == ["GithubException", 422] and unspecific == ["GithubException", 422]
    theirs = one.fake.requests[0]
    assert one.search(num_results=2)["results"]
    ours = one.requests()[-1]
    # The client leaves out the page where it is the first.
    assert differences(theirs, ours, {"page"}) == {}
    assert ours.headers["accept"] == "application/vnd.github+json"


MCP_SCRIPT = """
import asyncio
from mcp import Client

async def main():
    async with Client(url) as client:
        say([tool.name for tool in (await client.list_tools()).tools])
        found = await client.call_tool("searchGitHub", {"query": "things"})
        say([found.is_error, [item.text for item in found.content]])
        found = await client.call_tool("searchGitHub", {"quer": "things"})
        say(found.is_error)

asyncio.run(main())
"""


@only_for("grep-app")
def test_the_client_of_mcp_accepts_the_fake(one):
    tools, (failed, texts), refused = run_python(MCP_SCRIPT, one.fake.url)
    assert tools == ["searchGitHub"] and not failed and refused
    assert len(texts) == 1 and texts[0].startswith("Repository: o/r\nPath: src/a.c\n")
    theirs = [asked for asked in one.fake.requests if b"tools/call" in asked.body][0]
    assert one.search()["results"]
    ours = one.fake.requests[-1]
    for name in ("name", "arguments"):
        assert json.loads(ours.body)["params"][name] == json.loads(theirs.body)["params"][name]
    assert ours.path == theirs.path and ours.headers["accept"] == theirs.headers["accept"]


EVENTS_SCRIPT = """
    const { createParser } = await import(process.argv[1] + '/eventsource-parser/dist/index.js');
    const answer = await fetch(process.argv[2], { headers: { Accept: 'text/event-stream' } });
    const parser = createParser({ onEvent: (event) => console.log(JSON.stringify([event.event, JSON.parse(event.data)])) });
    parser.feed(await answer.text());
"""


@only_for("sourcegraph")
def test_the_events_of_sourcegraph_are_events(one):
    events = run_script(EVENTS_SCRIPT, f"{one.fake.url}/.api/search/stream?q=things&v=V3&display=2")
    assert [name for name, _ in events] == ["progress", "matches", "filters", "done"]
    assert events[1][1][0]["repository"] == "github.com/o/r"


@only_for("npm")
def test_npm_search_accepts_the_fake(one, tmp_path):
    program = ROOT / ".deps" / "bin" / "npm"
    completed = subprocess.run(
        [program, "search", "things", "--json", "--searchlimit=2", f"--registry={one.fake.url}/", f"--cache={tmp_path}"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={"PATH": f"{NODE.rpartition('/')[0]}:{os.environ['PATH']}", "HOME": str(tmp_path)},
        check=False,
    )
    assert completed.returncode == 0, completed.stderr
    assert [package["name"] for package in json.loads(completed.stdout)] == ["left-pad"]
    theirs = [asked for asked in one.fake.requests if "search" in asked.path][0]
    assert one.search(num_results=2)["results"]
    # The weights of npm's own order, which a registry may ignore.
    assert differences(theirs, one.fake.requests[-1], {"quality", "popularity", "maintenance"}) == {}
