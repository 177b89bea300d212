"""Conversations by the interfaces of their sites: Hacker News, Reddit, Mastodon, Discourse and Lemmy. Everything is asked
through a proxy, a web on loopback that answers for every host, so that the page itself can be read where an interface fails."""

import json

import pytest
from fake_web import Answer, Web
from fakes.threads import (
    discourse_post,
    discourse_topic,
    hn_comment,
    hn_story,
    lemmy_comment,
    lemmy_post,
    reddit_entry,
    reddit_feed,
    status,
)
from programs import Server
from reading import WORDS, get, page
from test_loaders import in_order

PAGE = "The page itself, in words that only it has. " + WORDS


@pytest.fixture(scope="module")
def shared():
    with Web() as web:
        settings = {
            "HACKERNEWS_BASE_URL": web.url("/hn"),
            "REDDIT_BASE_URL": web.url("/reddit"),
            "http_proxy": web.url(),
            "no_proxy": "127.0.0.1",
            "FORAGE_PROXY_NAMES": "yes",
            "FORAGE_CACHE_TTL": 0,
        }
        with Server(**settings) as server:
            yield web, server


@pytest.fixture
def web(shared):
    shared[0].answers.clear()
    shared[0].requests.clear()
    return shared[0]


@pytest.fixture
def forage(shared):
    yield shared[1]
    assert shared[1].alive()


def answer(value, **more):
    return Answer(json.dumps(value), kind="application/json", **more)


def read(forage, url, loader):
    result = get(forage, url)
    assert "failed" not in result, result["page_content"]
    assert result["loader"] == loader
    return result


# ---- each site ----

STORY = "http://news.ycombinator.com/item?id=1"
THREAD = "http://www.reddit.com/r/x/comments/abc123/a_thread/"
STATUS = "http://public.test/@ada/112233445566"
TOPIC = "http://public.test/t/how-to-bake/5"
POST = "http://public.test/post/7"


def put_story(web):
    code = hn_comment(4, 3, "Try this:<p><pre><code>  if (a &lt; b)\n</code></pre>")
    story = hn_story(
        hn_comment(2, 1, "First &amp; foremost.", hn_comment(3, 2, "An answer.", code)),
        hn_comment(5, 1, None),
        hn_comment(6, 1, None, hn_comment(7, 6, "To what is gone.")),
        hn_comment(8, 1, "<p>One.<p>Two."),
        text="What <i>it</i> is.",
    )
    web.answers["/hn/api/v1/items/1"] = answer(story)


def test_hacker_news(web, forage):
    put_story(web)
    result = read(forage, STORY, "hackernews")
    assert result["title"] == "Show HN: A <thing>" and result["kind"] == "thread" and result["author"] == "teller"
    assert result["published"].startswith("2026-02-03") and result["site"] == "Hacker News"
    in_order(
        result["page_content"],
        "# Show HN: A <thing>\n\n<https://thing.example/>\n\n321 points · by teller · 2026-02-03\n\n",
        "What *it* is.\n\n## Comments\n\n",
        "- **commenter** (2026-02-03): First & foremost.\n",
        "  - **commenter** (2026-02-03): An answer.\n",
        "    - **commenter** (2026-02-03):\n\n      Try this:\n\n      ```\n      if (a < b)\n      ```\n",
        "- **commenter** (2026-02-03): _nothing_\n  - **commenter** (2026-02-03): To what is gone.\n",
        "- **commenter** (2026-02-03):\n\n  One.\n\n  Two.\n",
    )
    assert result["page_content"].count("**commenter**") == 6, "what is gone and has no answer is not there"


def test_a_comment_on_hacker_news(web, forage):
    web.answers["/hn/api/v1/items/2"] = answer(hn_comment(2, 1, "First.", hn_comment(3, 2, "Second.")))
    result = read(forage, "http://news.ycombinator.com/item?id=2#3", "hackernews")
    in_order(result["page_content"], "# Comment by commenter", "First.", "- **commenter** (2026-02-03): Second.")


def test_many_and_deep(web, forage):
    comment = None
    for depth in range(25, 0, -1):
        comment = hn_comment(depth + 1, depth, f"Depth {depth}.", *([comment] if comment else []))
    others = [hn_comment(100 + number, 1, f"Number {number}.") for number in range(2500)]
    web.answers["/hn/api/v1/items/1"] = answer(hn_story(comment, *others))
    result = read(forage, STORY, "hackernews")
    end = get(forage, STORY, start=result["total_chars"] - 300)["page_content"]
    assert "526 further posts did not fit" not in end and "525 further posts did not fit." in end
    assert "\n" + "  " * 12 + "- **commenter** (2026-02-03): Depth 25.\n" in result["page_content"]


def test_reddit(web, forage):
    web.answers["/reddit/comments/abc123/.rss"] = Answer(
        reddit_feed(
            reddit_entry("t3", "abc123", "asker", "How do I?", '<!-- SC_OFF --><div class="md"><p>Like <b>this</b>?</p></div>'),
            reddit_entry("t1", "c1", "knower", "/u/knower on How do I?", "<div><p>One.</p><p>Two.</p></div>"),
            reddit_entry("t1", "c2", "other", "/u/other on How do I?", "<p>Yes.</p>"),
        ),
        kind="application/atom+xml; charset=UTF-8",
    )
    for url in (THREAD, "http://old.reddit.com/r/x/comments/abc123/", "http://redd.it/abc123"):
        result = read(forage, url, "reddit")
    assert result["title"] == "How do I?" and result["author"] == "asker" and result["published"].startswith("2026-03-04")
    in_order(
        result["page_content"],
        "# How do I?\n\nBy asker · 2026-03-04\n\nLike **this**?\n\n## Comments\n\n",
        "- **knower** (2026-03-04):\n\n  One.\n\n  Two.\n",
        "- **other** (2026-03-04): Yes.\n",
        "_Reddit's feed has",
    )


def test_reddit_that_wants_a_pause(web, forage):
    web.answers["/r/x/comments/abc123/a_thread/"] = Answer(page(PAGE))
    web.answers["/reddit/comments/abc123/.rss"] = Answer("slow down", 429, "text/plain", x_ratelimit_reset="500")
    with Server(
        REDDIT_BASE_URL=web.url("/reddit"), FORAGE_CACHE_TTL=0, http_proxy="http://127.0.0.1:1", no_proxy="127.0.0.1",
        FORAGE_PROXY_NAMES="yes",
    ) as server:  # fmt: skip
        assert "Reddit answered HTTP 429" in get(server, THREAD)["page_content"]
        assert "Reddit asks for a pause of" in get(server, THREAD)["page_content"]
    assert len(web.seen("/reddit/comments/abc123/.rss?limit=200")) == 1


def test_mastodon(web, forage):
    picture = {"type": "image", "url": "http://public.test/x.png", "description": "A loaf\nof bread"}
    web.answers["/api/v1/statuses/112233445566"] = answer(
        status(
            112233445566, "<p>Bread is <a href='http://public.test/b'>ready</a>.</p>", spoiler_text="food",
            media_attachments=[picture], card={"url": "https://thing.example/", "title": "A thing"},
            poll={"options": [{"title": "Yes", "votes_count": 5}]},
        )
    )  # fmt: skip
    web.answers["/api/v1/statuses/112233445566/context"] = answer(
        {
            "ancestors": [status(1, "<p>What is it?</p>")],
            "descendants": [
                status(2, "<p>Fine.</p>", "112233445566"),
                status(3, "<p>Very.</p>", "2", favourites_count=0),
            ],
        }
    )
    result = read(forage, STATUS, "mastodon")
    assert result["title"] == "Post by Ada (@ada)" and result["kind"] == "post" and result["language"] == "en"
    in_order(
        result["page_content"],
        "# Post by Ada (@ada)\n\n2026-04-05 · 4 favourites · 3 boosts · 2 replies\n\n**food**\n\n",
        "Bread is [ready](http://public.test/b).\n\n- image: A loaf of bread\n- Yes (5 votes)\n- [A thing](https://thing.example/)\n",
        "## In answer to\n\n- **Ada (@ada)** (2026-04-05, score 4): What is it?\n",
        "## Replies\n\n- **Ada (@ada)** (2026-04-05, score 4): Fine.\n  - **Ada (@ada)** (2026-04-05): Very.\n",
    )


def test_mastodon_without_its_context(web, forage):
    web.answers["/api/v1/statuses/112233445566"] = answer(status(112233445566, "<p>Alone.</p>"))
    assert "Alone." in read(forage, "http://public.test/users/ada/statuses/112233445566", "mastodon")["page_content"]


def test_discourse(web, forage):
    posts = [
        discourse_post(1, "<p>How long?</p>"),
        discourse_post(2, "<p>An hour.</p>", likes=3, accepted_answer=True),
        discourse_post(3, "<h2>No</h2><p>Two.</p>", 2),
        discourse_post(4, "<p>To the question.</p>", 1),
    ]
    web.answers["/t/5.json"] = lambda handler: answer(
        discourse_topic(posts if "page=1" in handler.path else [discourse_post(5, "<p>On page two.</p>", 3)], 6)
    )
    result = read(forage, TOPIC, "discourse")
    assert result["title"] == "How to bake?" and result["author"] == "user1" and result["site"] == "public.test"
    in_order(
        result["page_content"],
        "# How to bake?\n\nBy user1 · 2026-05-06 · 7 likes · 6 posts · 99 views · tags: bread, oven\n\nHow long?\n\n",
        "## Replies\n\n- **user2** (2026-05-06, score 3, accepted answer): An hour.\n",
        "  - **user3** (2026-05-06):\n\n    ##### No\n\n    Two.\n",
        "    - **user5** (2026-05-06): On page two.\n",
        "- **user4** (2026-05-06): To the question.\n",
        "_These are the first 5 of 6 posts._",
    )


def test_discourse_in_a_folder(web, forage):
    web.answers["/forum/t/5.json"] = answer(discourse_topic([discourse_post(1, "<p>How long?</p>")]))
    read(forage, "http://public.test/forum/t/how-to-bake/5/3", "discourse")


def test_lemmy(web, forage):
    web.answers["/api/v3/post"] = answer(lemmy_post())
    comments = [
        lemmy_comment(12, "0.10.11.12", "Third."),
        lemmy_comment(11, "0.10.11", "Second.\n\n- a\n- b", 5),
        lemmy_comment(10, "0.10", "# First", -2),
        lemmy_comment(13, "0.13", "secret", deleted=True),
    ]
    web.answers["/api/v3/comment/list"] = answer({"comments": comments})
    web.answers["/api/v3/comment"] = answer({"comment_view": lemmy_comment(12, "0.10.11.12", "Third.")})
    for url in (POST, "http://public.test/comment/12"):
        text = read(forage, url, "lemmy")["page_content"]
        in_order(
            text,
            "# A post\n\n<https://thing.example/>\n\nScore 12 · by poster · 2026-06-07 · in Bread\n\nRead **this**.\n\n",
            "## Comments\n\n- **user10** (2026-06-08, score -2): #### First\n",
            "  - **user11** (2026-06-08, score 5):\n\n    Second.\n\n    - a\n    - b\n",
            "    - **user12** (2026-06-08, score 1): Third.\n",
            "- **user13** (2026-06-08, score 1): _deleted_\n",
        )
        assert "secret" not in text


def test_lemmy_with_many_pages(web, forage):
    web.answers["/api/v3/post"] = answer(lemmy_post())
    web.answers["/api/v3/comment/list"] = answer(
        {"comments": [lemmy_comment(100 + number, f"0.{100 + number}", "Again.") for number in range(50)]}
    )
    assert "_There are more comments than these._" in read(forage, POST, "lemmy")["page_content"]
    assert sum(path.startswith("/api/v3/comment/list") for _, path, _ in web.requests) == 5


# ---- what is wrong, and then the page itself ----

PAGES = {  # the interface's path and the page's, for each site
    STORY: ("/hn/api/v1/items/1", "/item"),
    THREAD: ("/reddit/comments/abc123/.rss", "/r/x/comments/abc123/a_thread/"),
    STATUS: ("/api/v1/statuses/112233445566", "/@ada/112233445566"),
    TOPIC: ("/t/5.json", "/t/how-to-bake/5"),
    POST: ("/api/v3/post", "/post/7"),
}
FAILURES = {
    "down": Answer("", 503, "text/plain"),
    "not there": Answer("nothing", 404, "text/plain"),
    "refused": Answer("{}", 403, "application/json"),
    "blocked": Answer(page("Prove that you are human."), kind="text/html"),
    "another shape": Answer('{"error": "changed", "items": [1, null]}', kind="application/json"),
    "a list": Answer("[]", kind="application/json"),
    "wrong types": Answer(
        json.dumps(
            {"id": "one", "title": 5, "children": {}, "content": 1, "account": [], "post_stream": 3, "post_view": []}
        ),
        kind="application/json",
    ),
    "empty": Answer("", kind="application/json"),
    "cut off": Answer('{"id": 1, "title": "A', kind="application/json"),
    "too large": Answer([b"[" + b" " * 1_000_000] * 50, kind="application/json"),
    "endless nesting": Answer('{"id":1,"children":[' * 100_000, kind="application/json"),
    "another type": Answer(b"\x89PNG\r\n\x1a\n" + bytes(100), kind="image/png"),
}


@pytest.mark.parametrize("url", PAGES, ids=["hackernews", "reddit", "mastodon", "discourse", "lemmy"])
@pytest.mark.parametrize("failure", FAILURES)
def test_the_page_itself(web, forage, url, failure):
    interface, own = PAGES[url]
    web.answers[interface] = FAILURES[failure]
    web.answers[own] = Answer(page(PAGE, PAGE))
    result = get(forage, url)
    assert result["loader"] == "html" and PAGE.strip() in result["page_content"]


@pytest.mark.parametrize("url", PAGES)
def test_the_note_when_both_fail(web, forage, url):
    interface, own = PAGES[url]
    web.answers[interface] = Answer("", 500, "text/plain")
    result = get(forage, url)
    assert result["failed"] is True and "404" in result["page_content"]
    assert "500" in result["page_content"], "what the interface said is told too"


def test_another_kind_of_site_is_not_blamed(web, forage):
    """Many sites have pages whose addresses look like those of a forum."""
    for url in (STATUS, TOPIC, POST):
        assert get(forage, url)["page_content"].startswith("_Failed to retrieve page content: HTTPError: 404 Not Found_")


def test_what_is_rendered_is_the_page(web, forage):
    put_story(web)
    web.answers["/item"] = Answer(page(PAGE))
    get(forage, STORY, render="always")
    assert not web.seen("/hn/api/v1/items/1")
