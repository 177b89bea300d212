"""Open sources of news and of pictures. feedparser, which reads feeds for most of Python, is content with the two feeds;
no client was run for the others, and their fakes cite the documentation."""

import pytest
from fakes.commons import Commons
from fakes.gdelt import Gdelt
from fakes.hackernews import HackerNews
from fakes.news_feeds import BingNews, GoogleNews
from fakes.openverse import Openverse
from fakes.search_service import Hit
from one_source import (
    asking,
    described,
    each_fake,
    test_a_limit_is_told,  # noqa: F401 (a test, here of these sources)
    test_nothing_found_is_no_failure,  # noqa: F401
    test_what_is_no_answer_is_no_empty_one,  # noqa: F401
)
from searching import fail, links, search
from vendors import run_python

KINDS = [BingNews, Commons, Gdelt, GoogleNews, HackerNews, Openverse]
THREAD = "https://news.ycombinator.com/item?id=42"

# (what the source knows, what forage shows of it; None stands for anything)
FOUND = {
    "bing-news": (
        [Hit("It's <b>here</b> & now", "https://one.example/a?b=c&d=e", "The <b>first</b> words", "2026-02-03")],
        [("It's here & now", "https://one.example/a?b=c&d=e", "The first words", "2026-02-03", None)],
    ),
    "commons": (
        [
            Hit("Cat", "https://commons.wikimedia.org/wiki/File:Cat.jpg", "A <b>cat</b>", None, "https://up.example/Cat.jpg"),
            Hit("Dog", "https://commons.wikimedia.org/wiki/File:Dog.jpg", "A dog", None, "https://up.example/Dog.jpg"),
        ],
        [
            ("Cat.jpg", "https://commons.wikimedia.org/wiki/File:Cat.jpg", "A cat · Ann · CC BY-SA 4.0", None,
             "https://up.example/Cat.jpg"),
            ("Dog.jpg", "https://commons.wikimedia.org/wiki/File:Dog.jpg", "A dog · Ann · CC BY-SA 4.0", None,
             "https://up.example/Dog.jpg"),
        ],
    ),
    "gdelt": (
        [Hit("It's &amp; \"was\"", "https://one.example/", None, "2026-02-03")],
        [("It's & \"was\"", "https://one.example/", "site.example", "2026-02-03T04:15:00Z", None)],
    ),
    "google-news": (
        [Hit("Now & then", "https://one.example/a", None, "2026-02-03")],
        [("Now & then - Paper", ..., "Now & then Paper", "2026-02-03", None)],
    ),
    "hackernews": (
        [Hit("A thing", "https://one.example/"), Hit("Ask HN: Why?", THREAD, "Because<p>of it", "2026-02-03")],
        [
            ("A thing", "https://one.example/", "321 points, 12 comments: https://news.ycombinator.com/item?id=1",
             "2026-02-03T01:00:00Z", None),
            ("Ask HN: Why?", THREAD, "Because of it", "2026-02-03T01:00:00Z", None),
        ],
    ),
    "openverse": (
        [Hit("Cat", "https://flickr.example/cat", None, None, "https://flickr.example/cat.jpg")],
        [("Cat", "https://flickr.example/cat", '"Cat" by Ann is licensed under CC BY 2.0.', None,
          "https://flickr.example/cat.jpg")],
    ),
}  # fmt: skip
fake = each_fake(KINDS, FOUND)


def test_what_is_found(fake):
    with asking(fake) as forage:
        result = search(forage, type=fake.type, num_results=5)
    for got, want in zip(described(result), FOUND[fake.name][1], strict=True):
        assert all(there == wanted for there, wanted in zip(got, want, strict=True) if wanted is not ...), got
    assert result["left_out"] == []
    assert fake.requests[0].headers["user-agent"].startswith("forage/")


PICTURES = {"openverse", "commons"}
# (arguments, the sources that have no word for it, what left_out calls it)
DEMANDS = [
    ({"start_date": "2026-01-31", "end_date": "2026-02-28"}, PICTURES | {"bing-news"}, "freshness and dates"),
    ({"end_date": "2026-02-28"}, PICTURES | {"bing-news"}, "freshness and dates"),
    ({"freshness": "week"}, PICTURES, "freshness and dates"),
    ({"freshness": "year"}, PICTURES | {"bing-news"}, "freshness and dates"),
    ({"page": 2, "num_results": 1}, set(), ""),
    ({"query": 'quotes "in pairs", (brackets): a-b/c* or "not'}, set(), ""),
    ({"language": "pt-BR"}, {"hackernews", "openverse"}, "language"),
    ({"region": "DE"}, PICTURES | {"hackernews"}, "region"),
    ({"sites": ["one.example", "two-three.example"], "exclude_sites": ["four.example"]}, PICTURES | {"hackernews"}, "sites"),
    ({"query": "x" * 300}, {"openverse"}, "query"),
]


@pytest.mark.parametrize("demand", DEMANDS, ids=lambda demand: "_".join(demand[0]))
def test_a_source_takes_what_is_asked_and_the_rest_is_told(fake, demand):
    """The fakes refuse what their services refuse."""
    arguments, lacking, name = demand
    fake.hits = fake.hits[:1]
    with asking(fake) as forage:
        result = search(forage, **{"query": "deep-sea fish", "type": fake.type, **arguments})
    told = [words.partition(":")[0] for words in result["left_out"]]
    assert told == ([name] if fake.name in lacking else []), result["left_out"]
    assert fake.searches == 1


@pytest.mark.parametrize("kind", [Commons, Gdelt], ids=lambda kind: kind.name)
def test_a_refusal_that_comes_as_success_is_told(kind):
    with kind() as fake:
        fake.search = lambda asked: fake.refuse("Your query was too short or too long.")
        with asking(fake) as forage:
            error = fail(forage, type=fake.type)
    assert error["code"] == "PROVIDER" and "is blocked" in error["message"]


def test_google_narrows_by_the_sites_that_its_links_hide():
    with GoogleNews() as fake:
        fake.hits = [Hit("One", "https://www.one.example/a"), Hit("Two", "https://two.example/b")]
        with asking(fake) as forage:
            result = search(forage, type="news", num_results=5, sites=["one.example"])
            assert [item["title"] for item in result["results"]] == ["One - Paper"]
            assert links(result)[0].startswith("https://news.google.com/")
            assert any("news.google.com" in words for words in result["warnings"])
            result = search(forage, type="news", num_results=5, exclude_sites=["one.example"])
            assert [item["title"] for item in result["results"]] == ["Two - Paper"]


# ---- the clients ----

FEEDPARSER = """
import feedparser
feed = feedparser.parse(url)
assert not feed.bozo, feed.bozo_exception
for entry in feed.entries:
    say([entry.title, entry.link, list(entry.published_parsed)[:3], entry.get("source", {}).get("href")])
"""


@pytest.mark.parametrize("kind", [BingNews, GoogleNews], ids=lambda kind: kind.name)
def test_feedparser_reads_what_forage_reads(kind):
    with kind() as fake:
        fake.hits = FOUND[fake.name][0]
        with asking(fake) as forage:
            result = search(forage, "fish", type="news")
        asked = "&".join(f"{name}={value}" for name, value in fake.requests[0].query.items())
        (theirs,) = run_python(FEEDPARSER, f"{fake.url}{fake.path}?{asked}")
        ours = result["results"][0]
        assert theirs[2] == [int(part) for part in ours["published"].split("-")]
        if kind is GoogleNews:
            assert theirs[:2] == [ours["title"], ours["link"]] and theirs[3] == "https://one.example"
        else:
            assert "apiclick.aspx" in theirs[1] and "apiclick.aspx" not in ours["link"]
