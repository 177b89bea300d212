"""What is kept of the web, for how long, and what is not: seen by the web, which counts who asks."""

import os

import pytest
from fake_web import Answer
from fakes.pdf_maker import make_pdf
from programs import Server
from reading import SHELL, WORDS, call, get, long_text, page, redirect, shared_web, web  # noqa: F401 (fixtures)
from test_browser import BROWSER

@pytest.fixture
def keeping(web, tmp_path):
    """Starts servers that share a folder."""
    servers = []

    def start(**settings):
        settings = {
            "FORAGE_ALLOW_PRIVATE_HOSTS": web.host,
            "FORAGE_CACHE_DIR": tmp_path / "cache",
            **settings,
        }
        servers.append(Server(**settings))
        return servers[-1]

    yield start
    for server in servers:
        with server:
            pass


def kept(tmp_path):
    return sorted((tmp_path / "cache").glob("*"))


def test_kept_for_a_while(web, keeping, tmp_path):
    web.answers["/page"] = Answer(page())
    server = keeping()
    first = get(server, web.url("/page"))
    second = get(server, web.url("/page"))
    assert len(web.seen("/page")) == 1
    assert second.pop("age_s", 0) >= 0 and first == second
    # Another process finds it too.
    assert get(keeping(), web.url("/page"))["page_content"] == first["page_content"]
    assert len(web.seen("/page")) == 1
    (file,) = kept(tmp_path)
    assert file.stat().st_mode & 0o777 == 0o600 and file.parent.stat().st_mode & 0o777 == 0o700
    # Older than its time, it is asked for again.
    os.utime(file, (file.stat().st_atime, file.stat().st_mtime - 3700))
    get(server, web.url("/page"))
    assert len(web.seen("/page")) == 2


def conditional(etag=None, modified=None):
    """Answers 304 to who has it already."""
    headers = {"ETag": etag} if etag else {"Last_Modified": modified}
    wanted = ("If-None-Match", etag) if etag else ("If-Modified-Since", modified)

    def answer(handler):
        if handler.headers.get(wanted[0]) == wanted[1]:
            return Answer(b"", 304, None, **headers)
        return Answer(page(title=f"Version {etag or modified}"), **headers)

    return answer


STAMPS = [{"etag": '"one"'}, {"modified": "Sun, 15 Nov 2026 10:10:30 GMT"}]


@pytest.mark.parametrize("stamp", STAMPS, ids=["etag", "last-modified"])
def test_conditional_requests(web, keeping, stamp):
    web.answers["/page"] = conditional(**stamp)
    server = keeping(FORAGE_CACHE_TTL="1ms")  # always older than that
    first = get(server, web.url("/page"))
    second = get(server, web.url("/page"))
    assert first == second
    before, after = web.seen("/page")
    assert not {"If-None-Match", "If-Modified-Since"} & before.keys()
    assert list(stamp.values())[0] in (after.get("If-None-Match"), after.get("If-Modified-Since"))
    # It changes: the new one is given, and kept.
    web.answers["/page"] = conditional(etag='"two"')
    assert get(server, web.url("/page"))["title"] == 'Version "two"'
    assert get(server, web.url("/page"))["title"] == 'Version "two"'
    assert web.seen("/page")[3]["If-None-Match"] == '"two"'


def test_confirmed_is_young_again(web, keeping, tmp_path):
    web.answers["/page"] = conditional(etag='"one"')
    server = keeping()
    get(server, web.url("/page"))
    (file,) = kept(tmp_path)
    os.utime(file, (file.stat().st_atime, file.stat().st_mtime - 3700))
    get(server, web.url("/page"))
    get(server, web.url("/page"))
    assert len(web.seen("/page")) == 2


def test_304_of_another_page(web, keeping):
    """The redirect leads elsewhere now; that page's 304 says nothing about the old one."""
    web.answers["/start"] = redirect("/a")
    web.answers["/a"] = conditional(etag='"same"')
    web.answers["/b"] = lambda handler: (
        Answer(b"", 304, None) if "If-None-Match" in handler.headers else Answer(page(title="Of b"))
    )
    server = keeping(FORAGE_CACHE_TTL="1ms")
    assert get(server, web.url("/start"))["title"] == 'Version "same"'
    web.answers["/start"] = redirect("/b")
    result = get(server, web.url("/start"))
    assert result["title"] == "Of b" and result["url"] == web.url("/b")


# ---- what was made of a page ----


def spoil(file):
    """Writes other bytes over the body of a cached answer. Whoever reads them does not believe them, and asks the server;
    who kept what he made of the answer does not read them."""
    head, _, body = file.read_bytes().partition(b"\n\n")
    with open(file, "r+b") as stream:
        stream.seek(len(head) + 2)
        stream.write(b"\0" * len(body))


WAYS = [{"max_chars": 300}, {"start": 300}, {"outline": True}, {"section": "2"}, {"focus": "ünïcödé words"}, {}]
KINDS = {
    "html": (page(*[f"<h2>Part {n}</h2>ünïcödé 日本 {WORDS * n}" for n in range(1, 9)]), "text/html; charset=utf-8"),
    "markdown": (long_text(), "text/markdown; charset=utf-8"),
    "pdf": (make_pdf([[(12, 72, 100 + 20 * n, f"Line {n} of some words.") for n in range(30)]]), "application/pdf"),
}


def ageless(result):
    result.pop("age_s", None)
    return result


@pytest.mark.parametrize("kind", KINDS)
def test_page_in_parts_is_made_once(web, keeping, tmp_path, kind):
    body, content_type = KINDS[kind]
    web.answers["/page"] = Answer(body, kind=content_type)
    ways = [way for way in WAYS if kind != "pdf" or "section" not in way]
    before = [ageless(get(keeping(), web.url("/page"), **way)) for way in ways]  # a process each, so nothing is kept
    server = keeping()
    get(server, web.url("/page"))
    (file,) = kept(tmp_path)
    spoil(file)
    assert [ageless(get(server, web.url("/page"), **way)) for way in ways] == before
    assert len(web.seen("/page")) == 1
    # Another process has nothing but the file.
    assert get(keeping(), web.url("/page"))["page_content"] == before[-1]["page_content"]
    assert len(web.seen("/page")) == 2


def test_what_was_made_is_of_one_content(web, keeping, tmp_path):
    web.answers["/page"] = Answer(page().replace("<main>", "<nav><a href='/a'>A menu entry</a></nav><main>"))
    server = keeping()
    main = get(server, web.url("/page"))
    (file,) = kept(tmp_path)
    everything = get(server, web.url("/page"), content="all")
    assert "A menu entry" in everything["page_content"] and "A menu entry" not in main["page_content"]
    spoil(file)
    assert ageless(get(server, web.url("/page"), content="all")) == ageless(everything)
    assert ageless(get(server, web.url("/page"))) == ageless(main)
    assert len(web.seen("/page")) == 1


def test_what_was_made_goes_with_its_answer(web, keeping, tmp_path):
    web.answers["/page"] = Answer(page(title="The first"))
    server, other = keeping(), keeping()
    assert get(server, web.url("/page"))["title"] == "The first"
    (file,) = kept(tmp_path)
    # Another process replaces the answer.
    web.answers["/page"] = Answer(page(title="The other"))
    os.utime(file, (file.stat().st_atime, file.stat().st_mtime - 3700))
    assert get(other, web.url("/page"))["title"] == "The other"
    assert get(server, web.url("/page"))["title"] == "The other" and len(web.seen("/page")) == 2
    # Its time is over.
    web.answers["/page"] = Answer(page(title="The third"))
    os.utime(file, (file.stat().st_atime, file.stat().st_mtime - 3700))
    assert get(server, web.url("/page"))["title"] == "The third" and len(web.seen("/page")) == 3
    # Somebody removes it.
    web.answers["/page"] = Answer(page(title="The last"))
    file.unlink()
    assert get(server, web.url("/page"))["title"] == "The last" and len(web.seen("/page")) == 4


def test_what_was_made_stays_with_a_confirmed_answer(web, keeping, tmp_path):
    web.answers["/page"] = Answer(page(), Cache_Control="no-cache", ETag='"x"')
    server = keeping()
    first = get(server, web.url("/page"))
    (file,) = kept(tmp_path)
    spoil(file)
    web.answers["/page"] = Answer(b"", 304, None, ETag='"x"')
    assert get(server, web.url("/page")) == first
    assert get(server, web.url("/page")) == first and len(web.seen("/page")) == 3


def test_nothing_is_made_of_what_may_not_be_kept(web, keeping, tmp_path):
    server = keeping()
    for title in ("One", "Two"):
        web.answers["/page"] = Answer(page(title=title), Cache_Control="no-store")
        assert get(server, web.url("/page"))["title"] == title
    assert kept(tmp_path) == []


# ---- what is not kept ----

UNKEPT = [
    Answer(page(), Cache_Control="no-store"),
    Answer(page(), Cache_Control="max-age=60, Private"),
    Answer(page(), Vary="*"),
    Answer("gone", 404),
    Answer("oops", 500),
]


@pytest.mark.parametrize("answer", UNKEPT, ids=["no-store", "private", "vary", "404", "500"])
def test_not_kept(web, keeping, tmp_path, answer):
    web.answers["/page"] = answer
    server = keeping()
    get(server, web.url("/page"))
    get(server, web.url("/page"))
    assert len(web.seen("/page")) == 2 and kept(tmp_path) == []


def test_no_cache_is_asked_every_time(web, keeping):
    web.answers["/page"] = Answer(page(), Cache_Control="no-cache", ETag='"x"')
    server = keeping()
    get(server, web.url("/page"))
    get(server, web.url("/page"))
    assert web.seen("/page")[1]["If-None-Match"] == '"x"'


def test_nothing_is_kept_when_switched_off(web, keeping, tmp_path):
    web.answers["/page"] = Answer(page())
    server = keeping(FORAGE_CACHE_TTL=0)
    get(server, web.url("/page"))
    get(server, web.url("/page"))
    assert len(web.seen("/page")) == 2 and not (tmp_path / "cache").exists()


def test_secrets_are_not_kept(web, keeping, tmp_path):
    key = "a-key-for-github-0123456789"
    web.answers["/echo"] = lambda handler: Answer(page(f"You asked for {handler.path}. " + WORDS))
    web.answers["/telling"] = Answer(page(f"The key is {key}. " + WORDS))
    server = keeping(GITHUB_TOKEN=key)
    for path in (f"/echo?key={key}", "/telling"):
        response = call(server, {"url": web.url(path)})
        assert response.status == 200 and key.encode() not in response.body
    assert kept(tmp_path) == []
    assert call(server, {"url": web.url("/echo")}).status == 200
    assert len(kept(tmp_path)) == 1


def test_page_of_a_private_host_stays_with_who_may_read_it(web, keeping):
    web.answers["/page"] = Answer(page())
    get(keeping(), web.url("/page"))
    response = call(keeping(FORAGE_ALLOW_PRIVATE_HOSTS=""), {"url": web.url("/page")})
    assert response.status == 403


def test_broken_files_are_ignored(web, keeping, tmp_path):
    web.answers["/page"] = Answer(page())
    server = keeping()
    get(server, web.url("/page"))
    (file,) = kept(tmp_path)
    file.write_bytes(file.read_bytes()[:-1])
    assert "failed" not in get(server, web.url("/page"))
    assert len(web.seen("/page")) == 2


def test_folder_that_cannot_be_used(web, keeping):
    web.answers["/page"] = Answer(page())
    server = keeping(FORAGE_CACHE_DIR="/proc/no/such/folder")
    assert "failed" not in get(server, web.url("/page"))
    server.wait_log("WARN .*pages are not kept: /proc/no/such/folder")


@pytest.mark.skipif(not BROWSER, reason="there is no browser: scripts/setup test brings one")
def test_rendered_pages_are_kept(web, keeping, tmp_path):
    """So that the parts of one reading are parts of one text."""
    web.answers["/shell"] = Answer(
        SHELL.replace('"filled"', f'"{WORDS * 5}" + Math.random() + " and " + Math.random()')
    )
    server = keeping()
    first = get(server, web.url("/shell"))
    second = get(server, web.url("/shell"))
    assert first["rendered"] is True and WORDS.strip() in first["page_content"]
    assert first["page_content"] == second["page_content"] and len(kept(tmp_path)) == 2
    for file in kept(tmp_path):
        spoil(file)
    third = get(server, web.url("/shell"), start=10)
    assert third["rendered"] is True and third["page_content"] in first["page_content"]
    assert len(web.seen("/shell")) == 2  # by us, and by the browser
    # What may not be kept is rendered anew.
    web.answers["/private"] = Answer(web.answers["/shell"].body, Cache_Control="no-store")
    texts = [get(server, web.url("/private"))["page_content"] for _ in range(2)]
    assert texts[0] != texts[1] and len(kept(tmp_path)) == 2
