"""Loaders end to end: get_content with public URLs, and fakes of the services on loopback in their place.

The addresses are those of the real services, which are never asked: what a loader cannot read is sent to a proxy that
is not there, so that the outcome is the same with and without a network.
"""

import os
import shutil
import subprocess

import pytest
from fake_web import Answer, Web, closed_port
from fakes import arxiv, github, stackexchange, wikipedia
from fakes.pdf_maker import make_pdf
from fakes.search_service import Hit
from http_client import exchange, request
from programs import PATIENCE, ROOT, Server
from searching import search

STACKEXCHANGE_KEY = "U4DMV*8nvpm3((key"


def call(server, url, **arguments):
    return exchange(server.port, request("POST", "/api/v1/tools/get_content", body={"url": url, **arguments}))


def read(server, url, loader):
    """The result for a page that was read by that loader."""
    response = call(server, url)
    assert response.status == 200, response
    result = response.json()
    assert "failed" not in result, result["page_content"]
    assert result["loader"] == loader
    return result


def note(server, url):
    """The note for a page that could not be read."""
    response = call(server, url)
    assert response.status == 200, response
    assert response.json()["failed"] is True, response
    return response.json()["page_content"]


def in_order(text, *parts):
    at = 0
    for part in parts:
        found = text.find(part, at)
        assert found >= 0, f"no {part!r} in what follows of:\n{text}"
        at = found + len(part)


class Services:
    """All fakes, and a program that asks them."""

    def __init__(self):
        self.stackexchange = stackexchange.StackExchange()
        self.github = github.GitHub()
        self.wikipedia = wikipedia.Wikipedia()
        self.arxiv = arxiv.Arxiv()
        self.all = [self.stackexchange, self.github, self.wikipedia, self.arxiv]

    def settings(self, **more):
        return {
            "STACKEXCHANGE_BASE_URL": self.stackexchange.url,
            "GITHUB_BASE_URL": self.github.url + "/",
            "GITHUB_RAW_BASE_URL": self.github.url + "/raw",
            "WIKIPEDIA_BASE_URL": self.wikipedia.url,
            "ARXIV_BASE_URL": self.arxiv.url,
            "ARXIV_PAGES_BASE_URL": self.arxiv.url,
            "FORAGE_CACHE_TTL": 0,
            # Most of these tests are about what is read without a key.
            "GITHUB_TOKEN": None,
            "STACKEXCHANGE_KEY": None,
            "https_proxy": f"http://127.0.0.1:{closed_port()}",
            "no_proxy": "127.0.0.1",
            **more,
        }

    def __enter__(self):
        for service in self.all:
            service.__enter__()
        return self

    def __exit__(self, *error):
        for service in self.all:
            service.__exit__(*error)


@pytest.fixture
def services():
    with Services() as services:
        yield services


@pytest.fixture
def forage(services):
    with Server(**services.settings()) as server:
        yield server


# ---- StackExchange ----

CODE = "<pre class='lang-cpp s-code-block'><code>std::vector&lt;int&gt; v;\n    v.push_back(1);\n</code></pre>"


def ask_vectors(fake, answers=2):
    fake.add(
        stackexchange.question(1, "What is &quot;vector&lt;int&gt;&quot;?", f"<p>It is this:</p>{CODE}"),
        [stackexchange.answer(10, 1, f"<p>Accepted.</p>{CODE}", 3, True)]
        + [stackexchange.answer(20 + i, 1, f"<p>Answer number {i}.</p>", i) for i in range(answers - 1)],
        [stackexchange.comment(1, 1, "On the question: <code>vector&lt;int&gt;</code>", 4)]
        + [stackexchange.comment(2, 10, "On the answer")],
    )


def test_question(services, forage):
    ask_vectors(services.stackexchange, 4)
    result = read(forage, "https://stackoverflow.com/questions/1/x", "stackexchange")
    assert result["title"] == 'What is "vector<int>"?' and result["kind"] == "question"
    in_order(
        result["page_content"],
        '# What is "vector<int>"?',
        "```cpp\nstd::vector<int> v;\n    v.push_back(1);\n```",
        "On the question: `vector<int>`",
        "## Accepted answer by Answerer 10",
        "```cpp\nstd::vector<int> v;\n    v.push_back(1);\n```",
        "On the answer",
        "Answer number 2.",
        "Answer number 1.",
        "Answer number 0.",
    )
    assert {asked.query["site"] for asked in services.stackexchange.requests} == {"stackoverflow.com"}
    assert all("key" not in asked.query for asked in services.stackexchange.requests)


def test_short_link_to_an_answer(services, forage):
    ask_vectors(services.stackexchange)
    result = read(forage, "https://stackoverflow.com/a/20", "stackexchange")
    assert "## Answer by Answerer 20 (the one that the address points at)" in result["page_content"]
    assert services.stackexchange.paths()[0] == "/2.3/answers/20"


def test_meta_site_by_its_old_name(services, forage):
    ask_vectors(services.stackexchange)
    read(forage, "http://meta.cooking.stackexchange.com/q/1", "stackexchange")
    assert services.stackexchange.requests[0].query["site"] == "cooking.meta.stackexchange.com"


def test_pages_of_answers(services, forage):
    ask_vectors(services.stackexchange, 130)
    result = read(forage, "https://stackoverflow.com/q/1", "stackexchange")
    assert result["page_content"].count("## Answer by") == 129
    assert services.stackexchange.paths().count("/2.3/questions/1/answers") == 2
    # The comments on 130 answers: their ids fit into two requests.
    assert sum("/comments" in path and "/answers/" in path for path in services.stackexchange.paths()) == 2


def test_pages_are_bounded(services, forage):
    ask_vectors(services.stackexchange, 700)
    result = read(forage, "https://stackoverflow.com/q/1", "stackexchange")
    assert services.stackexchange.paths().count("/2.3/questions/1/answers") == 5
    assert "There are more answers than these 500." in call(
        forage, result["url"], start=result["total_chars"] - 200
    ).json()["page_content"]


def test_key(services):
    ask_vectors(services.stackexchange)
    with Server(**services.settings(STACKEXCHANGE_KEY=STACKEXCHANGE_KEY)) as forage:
        read(forage, "https://stackoverflow.com/q/1", "stackexchange")
        assert STACKEXCHANGE_KEY not in forage.log.text()
    assert {asked.query["key"] for asked in services.stackexchange.requests} == {STACKEXCHANGE_KEY}


def test_backoff(services, forage):
    ask_vectors(services.stackexchange)
    services.stackexchange.backoff["questions"] = 2
    read(forage, "https://stackoverflow.com/q/1", "stackexchange")
    read(forage, "https://stackoverflow.com/q/1", "stackexchange")
    first, second = (asked.at for asked in services.stackexchange.requests if asked.path == "/2.3/questions/1")
    assert second - first >= 2


def test_long_backoff(services, forage):
    ask_vectors(services.stackexchange)
    services.stackexchange.backoff["questions"] = 600
    read(forage, "https://stackoverflow.com/q/1", "stackexchange")
    asked = len(services.stackexchange.requests)
    assert "StackExchange asks for a pause of" in note(forage, "https://stackoverflow.com/q/1")
    assert len(services.stackexchange.requests) == asked


def test_quota(services, forage):
    ask_vectors(services.stackexchange)
    services.stackexchange.quota = 0
    text = note(forage, "https://stackoverflow.com/q/1")
    assert "limit of requests is reached" in text and "STACKEXCHANGE_KEY" in text
    assert text.endswith("Source: https://stackoverflow.com/q/1")


def test_quota_that_ends_at_the_comments(services, forage):
    ask_vectors(services.stackexchange)
    services.stackexchange.quota = 2
    result = read(forage, "https://stackoverflow.com/q/1", "stackexchange")
    assert "_Some comments could not be read: StackExchange's limit" in result["page_content"]
    assert "## Accepted answer" in result["page_content"]


def test_question_that_is_gone(services, forage):
    assert "Source: https://stackoverflow.com/q/404" in note(forage, "https://stackoverflow.com/q/404")
    assert services.stackexchange.paths() == ["/2.3/questions/404"]


def test_questions_of_other_sites(services, forage):
    note(forage, "https://questions.invalid/questions/1/x")
    assert services.stackexchange.requests == []


# ---- GitHub ----


def test_issue(services, forage):
    body = "<!-- template -->\r\n## Steps\r\n\r\n```cpp\r\nstd::vector<int> v;\r\n```\r\n"
    services.github.objects["o/r/issues/7"] = github.issue(7, "It `breaks`", body)
    services.github.objects["o/r/issues/7/comments"] = [github.comment(i, f"comment {i}") for i in range(130)]
    result = read(forage, "https://github.com/o/r/issues/7", "github")
    in_order(
        result["page_content"],
        "# It `breaks` (#7)",
        "Issue · open · opened by opener on 2020-01-01 · labels: bug",
        "```cpp\nstd::vector<int> v;\n```",
        "## Comment by commenter on 2020-02-01",
    )
    assert result["page_content"].count("## Comment by") == 130
    assert "template" not in result["page_content"]
    asked = services.github.requests
    assert all("forage/" in request.headers["user-agent"] for request in asked)
    assert all("authorization" not in request.headers for request in asked)
    assert [request.query.get("page") for request in asked] == [None, "1", "2"]


def test_issue_without_end(services, forage):
    services.github.objects["o/r/issues/7"] = github.issue(7, "Long", "text")
    services.github.objects["o/r/issues/7/comments"] = [github.comment(i, "x") for i in range(900)]
    result = read(forage, "https://github.com/o/r/issues/7", "github")
    assert len(services.github.requests) == 6
    assert result["page_content"].rstrip().endswith("_There are more comments than these._")


def test_threads_that_are_too_large(services, forage):
    """The longest comments that GitHub takes (65,536 characters), by the hundred, in all lists of a pull request:
    what fits is read, and what was left out is told."""
    words = "Some words of a very long comment. " * 1872
    fake = services.github
    fake.objects["o/r/pulls/8"] = github.pull(8, "Endless", words, comments=900, review_comments=900)
    fake.objects["o/r/issues/8/comments"] = [github.comment(i, words) for i in range(900)]
    fake.objects["o/r/pulls/8/reviews"] = [github.review(i, "APPROVED", words) for i in range(900)]
    fake.objects["o/r/pulls/8/comments"] = [github.review_comment(i, "a.c", 1, "@@", words) for i in range(900)]
    result = read(forage, "https://github.com/o/r/pull/8", "github")
    assert result["title"] == "Endless" and result["total_chars"] > 6_000_000
    end = call(forage, "https://github.com/o/r/pull/8", start=result["total_chars"] - 200).json()["page_content"]
    assert "There are more comments than these: 1700 were left out." in end
    words = [asked.path for asked in fake.requests if asked.path.endswith("/comments")]
    assert 2 <= len(words) <= 4


def give_pull(fake):
    fake.objects["o/r/pulls/8"] = github.pull(8, "Fix it", "Because.")
    fake.objects["o/r/issues/8/comments"] = [github.comment(1, "Thanks")]
    fake.objects["o/r/pulls/8/reviews"] = [github.review(1, "APPROVED", "Fine"), github.review(2, "COMMENTED", "")]
    fake.objects["o/r/pulls/8/comments"] = [
        github.review_comment(1, "a.cpp", 3, "@@ -1 +1,3 @@\n a\n+vector<int> b", "Why?"),
        github.review_comment(2, "a.cpp", 3, "", "So.", in_reply_to_id=1),
    ]


@pytest.mark.parametrize("path", ["pull/8", "pull/8/files", "issues/8"])
def test_pull_request(services, forage, path):
    give_pull(services.github)
    services.github.objects["o/r/issues/8"] = github.issue(8, "Fix it", "Because.", pull_request={"url": "x"})
    result = read(forage, f"https://github.com/o/r/{path}", "github")
    assert result["kind"] == "pull request"
    in_order(
        result["page_content"],
        "# Fix it (#8)",
        "Pull request · merged",
        "`someone:fix` into `o:main` · 1 files, +10 −2",
        "Because.",
        "## Approved by reviewer",
        "Fine",
        "## Comment by commenter",
        "## Review comments",
        "### `a.cpp` line 3",
        "+vector<int> b",
        "Why?",
        "So.",
    )


def test_discussion(services):
    comments = [github.discussion_comment(f"comment {i}", i == 70, ["a reply"]) for i in range(80)]
    services.github.discussions[9] = github.discussion(9, "How?", "Tell me.", comments)
    with Server(**services.settings(GITHUB_TOKEN=services.github.token)) as forage:
        result = read(forage, "https://github.com/o/r/discussions/9", "github")
        assert services.github.token not in forage.log.text()
        gone = note(forage, "https://github.com/o/r/discussions/10")
        assert "Source: https://github.com/o/r/discussions/10" in gone
    in_order(
        result["page_content"],
        "# How? (#9)",
        "Discussion · Q&A · started by asker",
        "## Accepted answer by helper",
        "comment 70",
        "### Reply by ghost",
        "comment 0",
        "comment 79",
    )
    assert services.github.paths() == ["/graphql"] * 3


def test_discussion_without_a_token(services, forage):
    note(forage, "https://github.com/o/r/discussions/9")
    assert services.github.requests == []


def test_token(services):
    services.github.objects["o/r/issues/7"] = github.issue(7, "Seven", "text")
    with Server(**services.settings(GITHUB_TOKEN=services.github.token)) as forage:
        read(forage, "https://github.com/o/r/issues/7", "github")
    assert services.github.requests[0].headers["authorization"] == f"Bearer {services.github.token}"
    with Server(**services.settings(GITHUB_TOKEN="another-token-0123")) as forage:
        assert "refuses the GITHUB_TOKEN" in note(forage, "https://github.com/o/r/issues/7")


def test_rate_limit(services, forage):
    services.github.remaining = 0
    text = note(forage, "https://github.com/o/r/issues/7")
    assert "GitHub's rate limit is used up until 2030-01-01T00:00:00Z" in text
    assert "GITHUB_TOKEN" in text


def test_rate_limit_that_ends_at_the_comments(services, forage):
    services.github.objects["o/r/issues/7"] = github.issue(7, "Seven", "text")
    services.github.remaining = 1
    result = read(forage, "https://github.com/o/r/issues/7", "github")
    assert "_Some comments could not be read: GitHub's rate limit is used up until 2030" in result["page_content"]


def test_repository(services, forage):
    services.github.objects["o/r"] = github.repository("o/r")
    services.github.objects["o/r/readme"] = github.file("o/r", "README.md", "# Name\n\n[docs](docs/a.md) ![p](p.png)\n")
    result = read(forage, "https://github.com/o/r", "github")
    assert result["title"] == "o/r" and result["description"] == "Does something"
    in_order(
        result["page_content"],
        "Repository **o/r**: Does something",
        "42 stars",
        "# Name",
        "[docs](https://github.com/o/r/blob/main/docs/a.md)",
        "![p](https://raw.githubusercontent.com/o/r/main/p.png)",
    )


@pytest.mark.parametrize("url", ["https://github.com/o/r/blob/main/src/a.cpp", "https://raw.githubusercontent.com/o/r/main/src/a.cpp"])
def test_file(services, forage, url):
    services.github.objects["/raw/o/r/main/src/a.cpp"] = b"std::vector<int> v;\n\tint x = 1;\n"
    result = read(forage, url, "github")
    assert result["page_content"] == "```cpp\nstd::vector<int> v;\n\tint x = 1;\n```\n"
    assert result["title"] == "a.cpp"


def test_markdown_file(services, forage):
    services.github.objects["/raw/o/r/v1/docs/a b.md"] = b"# A\n\n[x](y.md)\n"
    result = read(forage, "https://github.com/o/r/blob/v1/docs/a%20b.md", "github")
    assert result["page_content"] == "# A\n\n[x](https://github.com/o/r/blob/v1/docs/y.md)\n"


def test_releases(services, forage):
    services.github.objects["o/r/releases"] = [github.release(f"v{i}", "# News") for i in range(30)]
    services.github.objects["o/r/releases/tags/v3"] = github.release("v3", "Only this")
    services.github.objects["o/r/releases/latest"] = github.release("v29", "Newest")
    result = read(forage, "https://github.com/o/r/releases", "github")
    assert result["page_content"].count("## Release v") == 10
    one = read(forage, "https://github.com/o/r/releases/tag/v3", "github")
    in_order(one["page_content"], "# Release v3", "Tag `v3` · 2020-06-06 · by releaser", "Only this", "a.tar.gz")
    assert "Newest" in read(forage, "https://github.com/o/r/releases/latest", "github")["page_content"]


def test_github_fake_speaks_with_octokit(services):
    """The fake is one that the vendor's own clients accept."""
    modules = ROOT / ".deps" / "node" / "node_modules"
    node = shutil.which("node", path=f"{ROOT / '.deps' / 'bin'}:{os.environ['PATH']}")
    assert node and (modules / "@octokit" / "graphql").exists(), "scripts/setup test installs @octokit"
    services.github.objects["o/r/issues/7"] = github.issue(7, "Seven", "text")
    services.github.discussions[9] = github.discussion(9, "How?", "", [github.discussion_comment("yes")])
    script = """
        const { request } = await import(process.argv[1] + '/@octokit/request/dist-bundle/index.js');
        const { graphql } = await import(process.argv[1] + '/@octokit/graphql/dist-bundle/index.js');
        const baseUrl = process.argv[2];
        const headers = { authorization: 'token ' + process.argv[3] };
        const issue = await request('GET /repos/{owner}/{repo}/issues/{issue_number}',
            { baseUrl, owner: 'o', repo: 'r', issue_number: 7 });
        console.log(issue.status, issue.data.title, issue.headers['x-ratelimit-limit']);
        const query = 'query($number: Int!) { repository(owner: "o", name: "r") { discussion(number: $number)'
            + ' { title comments(first: 50) { nodes { body } } } } }';
        const found = await graphql(query, { baseUrl, headers, number: 9 });
        console.log(found.repository.discussion.title, found.repository.discussion.comments.nodes.length);
        await graphql(query, { baseUrl, headers, number: 10 }).catch((error) => console.log(error.errors[0].type));
        await request('GET /repos/o/r/issues/8', { baseUrl }).catch((error) => console.log(error.status));
    """
    completed = subprocess.run(
        [node, "--input-type=module", "-e", script, str(modules), services.github.url, services.github.token],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr
    assert completed.stdout.split("\n") == ["200 Seven 60", "How? 1", "NOT_FOUND", "404", ""]


# ---- Wikipedia ----

ARTICLE = """<div class="mw-content-ltr mw-parser-output" lang="en" dir="ltr">
<div class="shortdescription nomobile noexcerpt noprint searchaux">General-purpose language</div>
<p><b>C++</b> is a <a href="/wiki/Programming_language" title="x">programming language</a>.<sup class="reference"
id="cite_ref-1"><a href="#cite_note-1">[1]</a></sup></p>
<div class="mw-heading mw-heading2"><h2 id="Use">Use</h2></div>
<div class="mw-highlight mw-highlight-lang-cpp mw-content-ltr" dir="ltr"><pre><span></span><span class="n">std</span><span
class="o">::</span><span class="n">vector</span><span class="o">&lt;</span><span class="kt">int</span><span
class="o">&gt;</span><span class="w"> </span><span class="n">v</span><span class="p">;</span>
<span class="w">    </span><span class="n">v</span><span class="p">.</span><span class="n">size</span><span class="p">();</span>
</pre></div>
<div class="navbox" role="navigation"><a href="/wiki/Other">Every other language</a></div></div>"""


@pytest.mark.parametrize(
    "url",
    [
        "https://en.wikipedia.org/wiki/C%2B%2B",
        "https://en.m.wikipedia.org/wiki/C%2B%2B#Use",
        "https://en.wikipedia.org/w/index.php?title=C%2B%2B",
        "https://en.wikipedia.org/wiki/Cpp_language",
    ],
)
def test_article(services, forage, url):
    services.wikipedia.articles["C++"] = ARTICLE
    services.wikipedia.redirects["Cpp language"] = "C++"
    result = read(forage, url, "wikipedia")
    assert result["title"] == "C++" and result["language"] == "en" and result["kind"] == "article"
    assert result["url"] == "https://en.wikipedia.org/wiki/C%2B%2B"
    in_order(
        result["page_content"],
        "# C++",
        "[programming language](https://en.wikipedia.org/wiki/Programming_language)",
        "## Use",
        "```cpp\nstd::vector<int> v;\n    v.size();\n```",
    )
    for absent in ("Every other language", "General-purpose"):
        assert absent not in result["page_content"]


def test_disambiguation(services, forage):
    services.wikipedia.articles["Mercury"] = (
        "<p><b>Mercury</b> may refer to:</p><ul><li><a href='/wiki/Mercury_(planet)'>Mercury (planet)</a></li>"
        "<li><a href='/wiki/Mercury_(element)'>Mercury (element)</a></li></ul>"
    )
    services.wikipedia.disambiguations.add("Mercury")
    result = read(forage, "https://de.wikipedia.org/wiki/Mercury", "wikipedia")
    assert result["kind"] == "disambiguation" and result["language"] == "de"
    in_order(result["page_content"], "# Mercury", "- [Mercury (planet)](https://de.", "- [Mercury (element)](https://de.")


def test_lagging_wikipedia(services, forage):
    services.wikipedia.articles["C++"] = ARTICLE
    services.wikipedia.lagging = 1
    read(forage, "https://en.wikipedia.org/wiki/C%2B%2B", "wikipedia")
    first, second = services.wikipedia.requests
    assert second.at - first.at >= 1
    services.wikipedia.lagging = 9
    assert "Wikipedia is too busy" in note(forage, "https://en.wikipedia.org/wiki/C%2B%2B")
    assert len(services.wikipedia.requests) == 5


def test_article_that_is_missing(services, forage):
    assert "Source: https://en.wikipedia.org/wiki/Nothing" in note(forage, "https://en.wikipedia.org/wiki/Nothing")
    assert len(services.wikipedia.requests) == 1


# ---- arXiv ----

PAPER = make_pdf(
    [
        [
            (20, 72, 72, "Attention"),
            (14, 72, 130, "Introduction"),
            (10, 72, 160, "Recurrent models have long been the state of the art in se-"),
            (10, 72, 172, "quence modelling, and this is why we look further."),
        ]
    ],
    title="Attention",
    author="First Author",
)


def test_paper_with_html(services, forage):
    services.arxiv.papers["1706.03762"] = ("Attention & all", "An abstract.")
    services.arxiv.html["1706.03762"] = (
        "<html><body><article><h1>Attention</h1><h2>1 Introduction</h2><p>"
        + "Recurrent models have long been the state of the art. " * 8
        + "</p></article></body></html>"
    ).encode()
    result = read(forage, "https://arxiv.org/pdf/1706.03762.pdf", "arxiv")
    assert result["title"] == "Attention & all" and result["author"] == "First Author, Second Author"
    in_order(
        result["page_content"],
        "# Attention & all",
        "- Authors: First Author, Second Author",
        "## Abstract\n\nAn abstract.",
        "## Full text",
        "Recurrent models",
    )
    assert "/pdf/1706.03762" not in services.arxiv.paths()


# Seconds between two requests to arXiv, of the three that it asks for and the margin: this is the fake's clock, and a request
# that it took late on a busy machine is nearer to the next one.
APART = 1.5


def test_papers_without_html_and_without_either(services, forage):
    """Old identifiers and versions too; and arXiv's rule: one request every three seconds."""
    services.arxiv.papers["hep-th/9901001"] = ("Old", "An abstract.")
    services.arxiv.papers["2301.00001v2"] = ("New", "Another.")
    services.arxiv.pdf["hep-th/9901001"] = PAPER
    old = read(forage, "https://arxiv.org/abs/hep-th/9901001", "arxiv")
    in_order(old["page_content"], "# Old", "## Full text", "Introduction", "state of the art in sequence modelling")
    new = read(forage, "https://www.arxiv.org/abs/2301.00001v2", "arxiv")
    in_order(new["page_content"], "# New", "Another.", "_The full text could not be read: arXiv has neither")
    assert "arXiv knows no paper 9999.99999" in note(forage, "https://arxiv.org/abs/9999.99999")
    times = [asked.at for asked in services.arxiv.requests if asked.path == "/api/query"]
    assert len(times) == 3 and all(after - before >= APART for before, after in zip(times, times[1:]))


def test_papers_and_searches_take_turns(services):
    """arXiv's rule holds for a search and a reading together; and a service that refused is left alone, and says so."""
    services.arxiv.papers["1706.03762"] = ("Attention", "An abstract.")
    services.arxiv.hits = [Hit("Attention", "https://arxiv.org/abs/1706.03762v1", "An abstract.")]
    with Server(**services.settings(FORAGE_SEARCH_PROVIDERS="arxiv")) as other:
        assert search(other, "attention", type="scholar", num_results=1)["results"]
        read(other, "https://arxiv.org/abs/1706.03762", "arxiv")
        times = [asked.at for asked in services.arxiv.requests if asked.path == "/api/query"]
        assert len(times) >= 2 and all(after - before >= APART for before, after in zip(times, times[1:]))
        services.arxiv.mishap = 429
        assert "arXiv answered HTTP 429" in note(other, "https://arxiv.org/abs/2301.00001")
        assert "arXiv asks to be left alone for" in note(other, "https://arxiv.org/abs/2301.00002")
        assert len([asked for asked in services.arxiv.requests if asked.path == "/api/query"]) == len(times) + 1


# ---- a service that is not there ----


@pytest.mark.parametrize(
    "variable, url",
    [
        ("STACKEXCHANGE_BASE_URL", "https://stackoverflow.com/q/1"),
        ("GITHUB_BASE_URL", "https://github.com/o/r/issues/1"),
        ("WIKIPEDIA_BASE_URL", "https://en.wikipedia.org/wiki/X"),
        ("ARXIV_BASE_URL", "https://arxiv.org/abs/1706.03762"),
    ],
)
def test_service_that_is_not_there(services, variable, url):
    """The page itself is tried before giving up; the note tells of both."""
    with Server(**services.settings(**{variable: f"http://127.0.0.1:{closed_port()}"})) as forage:
        text = note(forage, url)
    assert text.startswith("_Failed to retrieve page content: ")
    assert text.endswith(f"Source: {url}")
    assert "; " in text, "the page's failure and the service's"


# ---- by what came ----


@pytest.fixture(scope="module")
def web():
    with Web() as web:
        yield web


@pytest.fixture(scope="module")
def plain_forage(web):
    with Server(FORAGE_ALLOW_PRIVATE_HOSTS=web.host, FORAGE_CACHE_TTL=0) as server:
        yield server


def test_pdf(plain_forage, web):
    pages = [
        [(9, 72, 30, f"A running head {page}"), (9, 300, 770, str(page))]
        + ([(20, 72, 90, "The Title")] if page == 1 else [])
        + [(14, 72, 140, f"Part {page}"), (10, 72, 170, f"Text on page {page} that goes on and"), (10, 72, 182, "on.")]
        for page in (1, 2, 3)
    ]
    web.answers["/a.pdf"] = Answer(make_pdf(pages, "Named", "Ann"), kind="application/pdf")
    result = read(plain_forage, web.url("/a.pdf"), "pdf")
    assert result["title"] == "Named" and result["author"] == "Ann" and result["kind"] == "pdf"
    assert result["page_content"] == "# The Title\n" + "".join(
        f"\n## Part {page}\n\nText on page {page} that goes on and on.\n" for page in (1, 2, 3)
    )


def test_pdf_by_its_bytes(plain_forage, web):
    web.answers["/download"] = Answer(PAPER, kind="application/octet-stream")
    assert "# Attention" in read(plain_forage, web.url("/download"), "pdf")["page_content"]


@pytest.mark.parametrize(
    "body, words",
    [
        (b"%PDF-1.4\nnothing of the kind\n", "The PDF could not be read"),
        (make_pdf([[]]), "The PDF holds no text"),
    ],
)
def test_pdf_that_cannot_be_read(plain_forage, web, body, words):
    web.answers["/bad.pdf"] = Answer(body, kind="application/pdf")
    assert words in note(plain_forage, web.url("/bad.pdf"))


def test_pdf_without_poppler(web):
    web.answers["/a.pdf"] = Answer(PAPER, kind="application/pdf")
    with Server(FORAGE_ALLOW_PRIVATE_HOSTS=web.host, FORAGE_CACHE_TTL=0, PATH="/proc/nonexistent") as forage:
        assert "install poppler-utils" in note(forage, web.url("/a.pdf"))


def test_feed(plain_forage, web):
    web.answers["/feed"] = Answer(
        "<?xml version='1.0' encoding='windows-1251'?><rss version='2.0'><channel><title>Новости</title>"
        "<item><title>Первая</title><link>/1</link><pubDate>Tue, 10 Jun 2003 04:00:00 GMT</pubDate>"
        "<description>&lt;code&gt;vector&amp;lt;int&amp;gt;&lt;/code&gt;</description></item></channel></rss>".encode("cp1251"),
        kind="application/rss+xml",
    )
    result = read(plain_forage, web.url("/feed"), "feed")
    assert result["title"] == "Новости"
    assert f"- [Первая]({web.url('/1')}) · 2003-06-10\n" in result["page_content"]
    assert "`vector<int>`" in result["page_content"]


@pytest.mark.parametrize(
    "path, kind, body, expected",
    [
        ("/a.json", "application/json", b'{"b": [1, "x<y>"]}', '```json\n{\n  "b": [\n    1,\n    "x<y>"\n  ]\n}\n```\n'),
        ("/a.txt", "text/plain", b"vector<int>\n  x\n", "vector<int>\n  x\n"),
        ("/a.md", "text/markdown", b"# A\n\n* `vector<int>`\n", "# A\n\n* `vector<int>`\n"),
        ("/a.py", "text/plain", b"def f():\n\treturn 1\n", "```python\ndef f():\n\treturn 1\n```\n"),
        ("/latin", "text/plain; charset=iso-8859-1", b"caf\xe9\n", "café\n"),
        ("/stock.xml", "application/xml", b"<stock><item/></stock>", "```xml\n<stock><item/></stock>\n```\n"),
        ("/bad-feed", "application/rss+xml", b"<nothing/>", "```xml\n<nothing/>\n```\n"),
    ],
)
def test_plain(plain_forage, web, path, kind, body, expected):
    web.answers[path] = Answer(body, kind=kind)
    assert read(plain_forage, web.url(path), "plain")["page_content"] == expected
