"""Videos of YouTube: what their page says of them, their words where they can be had, and what is said where they cannot."""

import json

import pytest
from fake_web import Answer, Web
from fakes.youtube import ID, TRANSCRIPT, TRANSCRIPT_3, player, track, watch_page
from programs import Server
from reading import WORDS, get, page
from test_loaders import in_order

URL = f"http://www.youtube.com/watch?v={ID}"
PAGE = "The page itself, in words that only it has. " + WORDS


@pytest.fixture(scope="module")
def shared():
    with Web() as web:
        settings = {"http_proxy": web.url(), "no_proxy": "127.0.0.1", "FORAGE_PROXY_NAMES": "yes", "FORAGE_CACHE_TTL": 0}
        with Server(YOUTUBE_BASE_URL=web.url("/yt"), **settings) as server:
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


def put(web, answer=None, tracks=(), text=TRANSCRIPT):
    web.answers["/yt/watch"] = Answer(watch_page(answer or player()))
    tracks = json.dumps(player(tracks=list(tracks)))
    web.answers["/yt/youtubei/v1/player"] = Answer(tracks, kind="application/json")
    web.answers["/yt/api/timedtext"] = Answer(text, kind="text/xml")


def read(forage, url=URL):
    result = get(forage, url)
    assert result["loader"] == "youtube", result
    return result["page_content"]


@pytest.mark.parametrize("url", [URL, f"http://youtu.be/{ID}?t=5", f"http://www.youtube.com/shorts/{ID}"])
def test_a_video(web, forage, url):
    put(web, tracks=[track("/api/timedtext?v=x&asr=1", kind="asr"), track()])
    result = get(forage, url)
    assert result["loader"] == "youtube" and result["kind"] == "video" and result["site"] == "YouTube"
    assert result["title"] == "How to bake <bread>" and result["author"] == "The Baker"
    assert result["published"].startswith("2026-01-02")
    in_order(
        result["page_content"],
        "# How to bake <bread>\n\n- Channel: The Baker\n- Published: 2026-01-02\n- Length: 12:34\n- Views: 12345\n\n",
        "## Description\n\nFlour & water.  \nSecond line, \\*not\\* emphasis.\n\n0:00 Start\n\n",
        "## Transcript\n\n[00:00] Today we're baking bread.\n\n[00:31] Take <b> flour\n\n[1:01:40] Done.\n",
    )
    (asked,) = [path for _, path, _ in web.requests if "timedtext" in path]
    assert "asr" not in asked, "what people wrote comes first"
    (keyed,) = [path for _, path, _ in web.requests if "player" in path]
    assert keyed.endswith("?key=AIzaSyKey-_1")


def test_the_newer_form_of_a_transcript(web, forage):
    put(web, tracks=[track(kind="asr")], text=TRANSCRIPT_3)
    assert "[00:00] Today we bake\n\n[00:31] Flour.\n" in read(forage)


MISSING = {
    "none": ([], TRANSCRIPT, "the video has none"),
    "for its own players": ([track("/api/timedtext?exp=xpe")], "", "YouTube gives it to its own players only"),
    "no words": ([track()], "<transcript></transcript>", "YouTube gave no words"),
    "no XML": ([track()], "<html>Sorry", "YouTube gave no words"),
    "of another host": ([{**track(), "baseUrl": "https://evil.example/api/timedtext"}], TRANSCRIPT, "the video has none"),
}


@pytest.mark.parametrize("case", MISSING)
def test_without_a_transcript(web, forage, case):
    tracks, text, words = MISSING[case]
    put(web, tracks=tracks, text=text)
    content = read(forage)
    assert f"## Transcript\n\n_The transcript could not be had: {words}_" in content and "Flour & water." in content


@pytest.mark.parametrize(
    "answer, words",
    [
        (Answer("", 403), "YouTube answered HTTP 403"),
        (Answer("not JSON"), "not JSON"),
        (Answer("[" * 100_000, kind="application/json"), "not JSON"),
        (Answer([b" " * 1_000_000] * 50, kind="application/json"), "YouTube"),
        (Answer(json.dumps({"playabilityStatus": {"reason": "Sign in to confirm"}}), kind="application/json"), "Sign in"),
    ],
)
def test_a_player_that_tells_nothing(web, forage, answer, words):
    put(web)
    web.answers["/yt/youtubei/v1/player"] = answer
    assert "_The transcript could not be had: " in read(forage) and words in read(forage)


FAILURES = {
    "down": (Answer("", 500), "YouTube answered HTTP 500"),
    "blocked": (Answer("<form id=g-recaptcha>"), "whether we are a robot"),
    "another form": (Answer(page("Watch it.")), "another form"),
    "gone": (Answer(watch_page({"playabilityStatus": {"status": "ERROR", "reason": "Video unavailable"}})), "Video unavailable"),
    "cut off": (Answer(watch_page(player())[:300]), "another form"),
    "endless nesting": (Answer("ytInitialPlayerResponse = " + "{\"a\":" * 100_000), "another form"),
    "wrong types": (Answer(watch_page({"videoDetails": [1], "playabilityStatus": 5})), "another form"),
    "too large": (Answer([b" " * 1_000_000] * 50), "YouTube"),
    "another type": (Answer(bytes(1000), kind="image/png"), "another form"),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_the_page_itself(web, forage, failure):
    web.answers["/yt/watch"], words = FAILURES[failure]
    assert words in get(forage, URL)["page_content"], "the note tells of both"
    web.answers["/watch"] = Answer(page(PAGE, PAGE))
    result = get(forage, URL)
    assert result["loader"] == "html" and PAGE.strip() in result["page_content"]
