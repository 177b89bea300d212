"""get_content against a web on loopback, which FORAGE_ALLOW_PRIVATE_HOSTS opens: what is asked for,
what comes back, every way to fail, many at once, and the command line."""

import errno
import gzip
import json
import re
import subprocess
import threading
import zlib

import pytest
from fake_web import Answer, Web, closed_port, make_certificate, tls_context
from http_client import exchange, request, running_calls
from messages import cancelled, modern, tool_call
from programs import PATIENCE, Server, Stdio, run, wait_until
from reading import (  # noqa: F401 (fixtures)
    FAILED,
    SHELL,
    WORDS,
    call,
    forage,
    get,
    long_text,
    note,
    page,
    redirect,
    shared_forage,
    shared_web,
    web,
)

UNSUPPORTED = "_Could not retrieve content for this URL (possibly a PDF or unsupported type)._"


# ---- reading ----


def test_page(forage, web):
    web.answers["/page"] = Answer(page(WORDS, "See <a href='/other'>the other</a>. " + WORDS))
    result = get(forage, web.url("/page"))
    assert result["url"] == web.url("/page")
    assert result["title"] == "A page" and result["loader"] == "html"
    assert WORDS.strip() in result["page_content"]
    assert f"[the other]({web.url('/other')})" in result["page_content"]
    assert result["total_chars"] == len(result["page_content"]) and result["truncated"] is False
    assert not {"next_start", "failed", "age_s", "rendered"} & result.keys()


FULL = (
    "<!doctype html><title>Bread</title><body><nav><a href=/>Home</a> <a href=/n>News</a></nav><main><h1>Bread</h1>"
    f"<h2>Flour</h2><p>{WORDS * 3}</p><p>{WORDS * 3}</p></main>"
    "<div class=related><h2>More of this</h2><a href=/r>Rolls</a></div><p hidden>Not for eyes</p>"
)


def test_what_was_left_out_is_told(forage, web):
    web.answers["/full"] = Answer(FULL)
    result = get(forage, web.url("/full"))
    assert result["omitted"] == [
        {"what": "related", "chars": 17, "headings": ["More of this"]},
        {"what": "hidden", "chars": 12},
        {"what": "navigation", "chars": 8},
    ]
    assert "Rolls" not in result["page_content"]
    # It is told once, not with each part.
    assert "omitted" in get(forage, web.url("/full"), outline=True)
    assert "omitted" not in get(forage, web.url("/full"), start=20)
    assert "omitted" not in get(forage, web.url("/full"), section="Flour")
    web.answers["/text"] = Answer(WORDS, kind="text/plain")
    assert "omitted" not in get(forage, web.url("/text"))


def test_everything_visible(forage, web):
    web.answers["/full"] = Answer(FULL)
    web.answers["/text"] = Answer(WORDS, kind="text/plain")
    main = get(forage, web.url("/full"), content="main")
    everything = get(forage, web.url("/full"), content="all")
    text = everything["page_content"]
    assert text.index("Home") < text.index("## Flour") < text.index("## More of this") < text.index("Rolls")
    assert "Not for eyes" not in text and everything["omitted"] == [{"what": "hidden", "chars": 12}]
    assert main == get(forage, web.url("/full")) and "Home" not in main["page_content"]
    headings = [row["title"] for row in get(forage, web.url("/full"), content="all", outline=True)["outline"]]
    assert headings == ["Bread", "Flour", "More of this"]
    part = get(forage, web.url("/full"), content="all", section="More of this")
    assert part["page_content"].strip() == f"## More of this\n\n[Rolls]({web.url('/r')})"
    rest = get(forage, web.url("/full"), content="all", start=part["start"])
    assert rest["page_content"].strip() == part["page_content"].strip()
    # What is no HTML is whole anyway.
    assert get(forage, web.url("/text"), content="all")["page_content"] == get(forage, web.url("/text"))["page_content"]
    assert call(forage, {"url": web.url("/full"), "content": "some"}).status == 400


def test_everything_visible_of_a_page_that_is_kept(web, tmp_path):
    """The cache has the page, not one reading of it."""
    web.answers["/full"] = Answer(FULL)
    with Server(FORAGE_ALLOW_PRIVATE_HOSTS=web.host, FORAGE_CACHE_TTL=60, FORAGE_CACHE_DIR=tmp_path) as server:
        assert "Rolls" not in get(server, web.url("/full"))["page_content"]
        assert "Rolls" in get(server, web.url("/full"), content="all")["page_content"]
        assert "Rolls" not in get(server, web.url("/full"))["page_content"]
    assert len(web.seen("/full")) == 1


def test_what_is_asked_for(forage, web):
    web.answers["/page"] = Answer(page())
    get(forage, web.url("/page#fragment"))
    (headers,) = web.seen("/page")
    assert headers["Accept"] == "text/markdown, text/html;q=0.9, */*;q=0.1"
    assert re.search(r"forage/\d", headers["User-Agent"])
    assert "gzip" in headers["Accept-Encoding"]
    assert not {"Cookie", "Authorization", "If-None-Match"} & headers.keys()


def test_user_agent(web):
    web.answers["/page"] = Answer(page())
    settings = {"FORAGE_ALLOW_PRIVATE_HOSTS": web.host, "FORAGE_CACHE_TTL": 0}
    run("read", web.url("/page"), FORAGE_USER_AGENT="curious/1 (+mailto:x@example.org)", **settings)
    assert web.seen("/page")[0]["User-Agent"] == "curious/1 (+mailto:x@example.org)"


PLAIN = [
    ("text/markdown", "# Title\n\nSome *text*.\n", "# Title\n\nSome *text*."),
    ("text/plain", "just\n  text\n", "just\n  text"),
    ("application/json", '{"a": [1, 2]}', '"a"'),
    (None, "just text", "just text"),
]


@pytest.mark.parametrize("kind, body, expected", PLAIN, ids=[str(row[0]) for row in PLAIN])
def test_other_than_html(forage, web, kind, body, expected):
    web.answers["/thing"] = Answer(body, kind=kind)
    result = get(forage, web.url("/thing"))
    assert "failed" not in result and expected in result["page_content"]


def test_html_that_calls_itself_text(forage, web):
    web.answers["/thing"] = Answer(page(), kind="text/plain")
    assert get(forage, web.url("/thing"))["loader"] == "html"


PRESS = zlib.compressobj(wbits=-zlib.MAX_WBITS)
COMPRESSED = {
    "gzip": gzip.compress(page().encode()),
    "x-gzip": gzip.compress(page()[:100].encode()) + gzip.compress(page()[100:].encode()) + b"\0\0\0\0",
    "deflate": zlib.compress(page().encode()),
    "Deflate": PRESS.compress(page().encode()) + PRESS.flush(),  # without zlib's head and sum
    "deflate, gzip": gzip.compress(zlib.compress(page().encode())),
    "UTF-8": page().encode(),  # no coding at all: a charset in the wrong place
}
WHOLE = gzip.compress(page(*[f"Paragraph {number}. {WORDS}" for number in range(400)]).encode())
HALF = WHOLE[: len(WHOLE) // 2]


@pytest.mark.parametrize("coding", COMPRESSED)
def test_compression(forage, web, coding):
    web.answers["/page"] = Answer(COMPRESSED[coding], Content_Encoding=coding)
    assert WORDS.strip() in get(forage, web.url("/page"))["page_content"]


def test_half_a_page_is_not_kept(web, tmp_path):
    """Nor is a part that nobody asked for."""
    web.answers["/page"] = Answer(HALF, Content_Encoding="gzip")
    with Server(FORAGE_ALLOW_PRIVATE_HOSTS=web.host, FORAGE_CACHE_TTL=60, FORAGE_CACHE_DIR=tmp_path) as server:
        assert "the answer was cut off" in note(server, web.url("/page"))
        web.answers["/page"] = Answer(page(), 206, Content_Range="bytes 0-99/100000")
        assert "a part of the answer" in note(server, web.url("/page"))
        web.answers["/page"] = Answer(page())
        assert WORDS.strip() in get(server, web.url("/page"))["page_content"]
    assert len(web.seen("/page")) == 3


# Of the bytes, of the server, of the page; the name in the result, with a question mark where it was guessed.
CHARSETS = [
    ("utf-8", "text/html; charset=utf-8", "", None),
    ("windows-1252", "text/html; charset=windows-1252", "", "windows-1252"),
    ("iso-8859-1", "text/html; charset=latin1", "", "windows-1252"),
    ("windows-1252", "text/html", "<meta charset=windows-1252>", "windows-1252"),
    ("windows-1252", "text/html", "", "windows-1252?"),
    ("windows-1252", "text/html; charset=utf-8", "", "windows-1252?"),
    ("utf-8", "text/html; charset=latin1", "", "utf-8?"),
    ("utf-8", "text/html", "", "utf-8?"),
    ("utf-16", "text/html", "", "utf-16le"),
    ("utf-16-be", "text/html", "", "utf-16be?"),
    ("windows-1252", "text/plain", "", "windows-1252?"),
]


@pytest.mark.parametrize("charset, kind, meta, name", CHARSETS)
def test_charsets(forage, web, charset, kind, meta, name):
    text = page("Fünf süße Äpfel kosten 5 £. " + WORDS).replace("<head>", "<head>" + meta)
    web.answers["/page"] = Answer(text.encode(charset), kind=kind)
    result = get(forage, web.url("/page"))
    assert "Fünf süße Äpfel kosten 5 £." in result["page_content"]
    guessed = "?" if result.get("encoding_guessed") else ""
    assert (result["encoding"] + guessed if "encoding" in result else None) == name


@pytest.mark.parametrize("language, words", [("bg", "Обява"), ("el", "Νέα"), ("ja", "会社案内")])
def test_content_language_is_a_hint_at_the_encoding(forage, web, language, words):
    charset = {"bg": "windows-1251", "el": "windows-1253", "ja": "shift_jis"}[language]
    body = page("{}. " + WORDS).encode().replace(b"{}", words.encode(charset))
    web.answers["/page"] = Answer(body, kind="text/html", Content_Language=language)
    result = get(forage, web.url("/page"))
    assert words in result["page_content"]
    assert (result["encoding"], result["encoding_guessed"]) == (charset, True)


# ---- redirects ----


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirect(forage, web, status):
    web.answers["/old"] = redirect("../new?a=b", status)
    web.answers["/new"] = Answer(page(title="The new one"))
    result = get(forage, web.url("/old"))
    assert result["url"] == web.url("/new?a=b") and result["title"] == "The new one"


def test_cookies_live_as_long_as_the_call(forage, web):
    web.answers["/old"] = redirect("/new", Set_Cookie="taste=sweet; Path=/")
    web.answers["/new"] = Answer(page())
    get(forage, web.url("/old"))
    assert web.seen("/new")[0]["Cookie"] == "taste=sweet"
    get(forage, web.url("/new"))
    assert "Cookie" not in web.seen("/new")[1]


def test_redirect_to_a_forbidden_address(forage, web):
    """The page is public; where it leads is not. Nobody connects there."""
    with Web("127.0.0.2") as private:
        private.answers["/secret"] = Answer(page("secret"))
        web.answers["/open"] = redirect(private.url("/secret"))
        text = note(forage, web.url("/open"))
        assert private.requests == []
    assert (
        text
        == f"{FAILED}Forbidden: a redirect leads to an address that is not public_\n\nSource: {web.url('/open')}"
    )


# ---- failures become notes ----


def never(handler):
    """Does not answer until the client has left."""
    handler.connection.settimeout(60)
    try:
        while handler.connection.recv(1024):
            pass
    except OSError:
        pass


def raw(data):
    def answer(handler):
        handler.wfile.write(data)
        handler.wfile.flush()

    return answer


ANSWERS = [
    (Answer("gone", 404), "HTTPError: 404 Not Found"),
    (Answer("no", 403), "HTTPError: 403 Forbidden"),
    (Answer("no", 401), "HTTPError: 401 Unauthorized"),
    (Answer("slow", 429, Retry_After="30"), "HTTPError: 429 Too Many Requests; try again in 30 s"),
    (Answer("slow", 429, Retry_After="Wed, 21 Oct 2026 07:28:00 GMT"), "HTTPError: 429 Too Many Requests"),
    (Answer("oops", 500), "HTTPError: 500 Internal Server Error"),
    (Answer("oops", 503), "HTTPError: 503 Service Unavailable"),
    (Answer("odd", 599), "HTTPError: 599"),
    (Answer("odd", 302), "HTTPError: 302"),
    (Answer(""), "EmptyPage: the server sent nothing"),
    (Answer("", 204), "EmptyPage: the server sent nothing"),
    (Answer("x", Content_Length="99999999999"), "TooLarge: the answer is larger than what is read"),
    (
        Answer(
            gzip.compress(b'{"a":"' + b"x" * 20_000_000), kind="application/json", Content_Encoding="gzip"
        ),
        "TooLarge: the answer is larger than what is read",
    ),
    (redirect("/fails"), "RedirectError: too many redirects"),
    (redirect("ftp://example.org/"), "RedirectError: a redirect leads to what is no http or https URL"),
    (raw(b""), "ConnectionError: the server closed the connection without an answer"),
    (raw(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"), "ConnectionError: the answer was cut off"),
    (
        Answer("not gzip", Content_Encoding="gzip"),
        "ConnectionError: the answer's compression is broken",
    ),
    (Answer(HALF, Content_Encoding="gzip"), "ConnectionError: the answer was cut off"),
    (Answer([HALF], Content_Encoding="gzip"), "ConnectionError: the answer was cut off"),
    (
        Answer(page(), 206, Content_Range="bytes 0-99/100000"),
        "ConnectionError: the server sent a part of the answer, which was not asked for",
    ),
    (
        Answer(b"\x0b\x02\x80text\x03", Content_Encoding="br"),
        'ConnectionError: the answer is compressed by "br", which was not asked for',
    ),
]


@pytest.mark.parametrize("answer, words", ANSWERS, ids=[words for _, words in ANSWERS])
def test_failure(forage, web, answer, words):
    web.answers["/fails"] = answer
    expected = f"{FAILED}{words}_\n\nSource: {web.url('/fails')}"
    assert note(forage, web.url("/fails")) == expected
    assert note(forage, web.url("/fails")) == expected  # the same words every time


@pytest.mark.parametrize(
    "kind, body, name",
    [
        ("image/png", b"\x89PNG\r\n\x1a\n0000", "a PNG picture"),
        ("text/plain", b"\xff\xd8\xff\xe0", "a JPEG picture"),
        ("image/x-odd", b"\0\1\2", "a picture"),
        ("application/octet-stream", b"\0\1\2\3", "binary data of an unknown type"),
        ("text/html", b"\0\1\2\3", "binary data of an unknown type"),
        ("video/mp4", b"whatever", "a video"),
        ("video/mp4", b"\0\0\0\x20ftypisom", "an MP4 video"),
        ("application/gzip", b"\x1f\x8b\x08\0", "a gzip archive"),
        ("application/x-tar", b"file".ljust(257, b"\0") + b"ustar", "a tar archive"),
        ("application/x-rar", b"Rar!\x1a\x07\0", "a RAR archive"),
        ("application/msword", b"\0\1\2", "an old Word document (DOC)"),
        ("", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "an old Office document (DOC, XLS or PPT)"),
        ("application/octet-stream", b"SQLite format 3\0", "an SQLite database"),
        ("font/woff2", b"wOF2\0\1", "a font"),
    ],
)
def test_unsupported(forage, web, kind, body, name):
    web.answers["/thing"] = Answer(body, kind=kind)
    assert note(forage, web.url("/thing")) == f"{UNSUPPORTED} It is {name}.\n\nSource: {web.url('/thing')}"


def test_nobody_answers(tmp_path):
    port = closed_port()
    url = f"http://127.0.0.1:{port}/"
    settings = {"FORAGE_ALLOW_PRIVATE_HOSTS": "127.0.0.1", "FORAGE_CACHE_TTL": 0, "FORAGE_DATA_DIR": tmp_path}
    completed = run("read", url, **settings)
    assert completed.returncode == 1 and completed.stdout == ""
    assert completed.stderr == f"{FAILED}ConnectionError: nobody answers at this address_\n\nSource: {url}\n"


def test_unknown_host(forage):
    assert note(forage, "http://no-such-host.invalid/").startswith(FAILED + "DNSError: the ")


def test_certificate_that_nobody_trusts():
    with Web(tls=True) as secure:
        secure.answers["/page"] = Answer(page())
        completed = run(
            "call",
            "get_content",
            f"url={secure.url('/page')}",
            FORAGE_ALLOW_PRIVATE_HOSTS=secure.host,
            FORAGE_CACHE_TTL=0,
        )
        assert secure.requests == []
    text = json.loads(completed.stdout)["page_content"]
    assert text == f"{FAILED}TLSError: the certificate is not valid_\n\nSource: {secure.url('/page')}"


def test_no_answer_in_time(web):
    """The note comes before the deadline, which would be an error."""
    web.answers["/slow"] = never
    settings = {"FORAGE_ALLOW_PRIVATE_HOSTS": web.host, "FORAGE_CACHE_TTL": 0}
    completed = run("read", "--json", web.url("/slow"), KINDLY_TOOL_TOTAL_TIMEOUT_SECONDS=4, **settings)
    text = json.loads(completed.stdout)["page_content"]
    assert text == f"{FAILED}Timeout: there was no answer in time_\n\nSource: {web.url('/slow')}"


def test_beginning_of_what_is_too_large(forage, web):
    line = b"All work and no play makes a long text that does not end here.\n"
    web.answers["/long"] = Answer([line * 10_000] * 30, kind="text/plain")
    result = get(forage, web.url("/long"), max_chars=1000)
    assert "failed" not in result and result["page_content"].startswith(line.decode().strip())
    assert any("larger than what is read" in words for words in result["notes"])


def test_shell_without_a_browser(web):
    """It says what is missing; so does a page that was to be rendered, which is read all the same."""
    web.answers["/shell"] = Answer(SHELL)
    web.answers["/page"] = Answer(page())
    settings = {"FORAGE_ALLOW_PRIVATE_HOSTS": web.host, "FORAGE_CACHE_TTL": 0}
    with Server(KINDLY_BROWSER_EXECUTABLE_PATH="/proc/nonexistent", **settings) as server:
        text = note(server, web.url("/shell"))
        assert text.startswith(FAILED + "EmptyPage: scripts fill this page, and there is no browser: ")
        assert "KINDLY_BROWSER_EXECUTABLE_PATH" in text
        text = note(server, web.url("/shell"), render="never")
        assert text.startswith(FAILED + "EmptyPage: its scripts would have to fill it")
        result = get(server, web.url("/page"), render="always")
        assert WORDS.strip() in result["page_content"] and "rendered" not in result
        words = next(words for words in result["notes"] if "could not render" in words)
        assert "KINDLY_BROWSER_EXECUTABLE_PATH" in words


def open_site():
    """A site on port 80 of an address that nobody else uses; None where that is not allowed."""
    for number in range(1, 255):
        try:
            return Web(f"127.77.0.{number}", 80)
        except PermissionError:
            return None
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
    return None


def site_launcher(folder, name, address):
    """How to start a program that finds a name at that address; None where that is not possible."""
    hosts = folder / "hosts"
    hosts.write_text(f"{address} {name}\n")
    for options in (["--mount"], ["--user", "--map-root-user", "--mount"]):
        script = f'mount --bind {hosts} /etc/hosts && exec "$@"'
        launcher = ["unshare", *options, "sh", "-c", script, "sh"]
        if subprocess.run([*launcher, "true"], capture_output=True, check=False).returncode == 0:
            return launcher
    return None


# Of each loader: the variable that says where its source is, and a page that it claims.
LOADED = {
    "a question": ("STACKEXCHANGE_BASE_URL", "http://stackoverflow.com/questions/1/how"),
    "an issue": ("GITHUB_BASE_URL", "http://github.com/o/r/issues/1"),
    "a pull request": ("GITHUB_BASE_URL", "http://github.com/o/r/pull/2"),
    "a repository": ("GITHUB_BASE_URL", "http://github.com/o/r"),
    "releases": ("GITHUB_BASE_URL", "http://github.com/o/r/releases"),
    "a discussion": ("GITHUB_BASE_URL", "http://github.com/o/r/discussions/3"),
    "a file": ("GITHUB_RAW_BASE_URL", "http://github.com/o/r/blob/main/a.c"),
    "an article": ("WIKIPEDIA_BASE_URL", "http://en.wikipedia.org/wiki/Foraging"),
    "a paper": ("ARXIV_BASE_URL", "http://arxiv.org/abs/1706.03762"),
}
# What becomes of the source, as it answers everything.
FAILURES = {"broken": Answer("oops", 500), "gone": Answer("{}", 404), "away": None}


class Always(dict):
    """One answer to every path."""

    def __init__(self, answer):
        super().__init__()
        self.answer = answer

    def get(self, *_):
        return self.answer


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("variable, url", LOADED.values(), ids=LOADED)
def test_page_is_read_when_its_source_fails(tmp_path, variable, url, failure):
    """The names of the services lead to a site of ours, which has the page."""
    name, path = url.removeprefix("http://").split("/", 1)
    site = open_site()
    launcher = site and site_launcher(tmp_path, name, site.address)
    if not launcher:
        pytest.skip("to take the place of a site needs unshare(1) and port 80")
    site.answers[f"/{path}"] = Answer(page(title="The page itself"))
    settings = {"FORAGE_ALLOW_PRIVATE_HOSTS": name, "FORAGE_CACHE_TTL": 0, "GITHUB_TOKEN": "token"}
    with site, Web() as source:
        source.answers = Always(FAILURES[failure])
        base = source.url() if FAILURES[failure] else f"http://127.0.0.1:{closed_port()}/"
        with Server(launcher=launcher, **{variable: base}, **settings) as server:
            result = get(server, url)
            assert result["title"] == "The page itself" and result["loader"] == "html"
            assert bool(source.requests) == bool(FAILURES[failure])
            # When the page fails too, both are told, unless the source only has no such thing.
            site.answers.clear()
            text = note(server, url)
            both = r"HTTPError: 404 Not Found; .*_\n\nSource: " if failure != "gone" else r"HTTPError: 404 Not Found"
            assert re.match(FAILED + both, text), text


# ---- what is the caller's to mend is an error ----

INVALID = [
    "nonsense",
    "/path",
    "ftp://example.org/",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "http://",
    "http://user:password@example.org/",
    "http://exa mple.org/",
    "http://[::1",
    "http://example.org:0/",
    "http://example.org:99999/",
]


@pytest.mark.parametrize("url", INVALID)
def test_invalid_url(forage, url):
    response = call(forage, {"url": url})
    error = response.json()["error"]
    assert response.status == 400 and error["code"] == "VALIDATION"
    assert error["message"].startswith("url: ") and "https://example.org" in error["message"]


FORBIDDEN = [
    "http://127.0.0.1:1/",
    "http://localhost/",
    "http://127.1/",
    "http://0x7f000001/",
    "http://2130706433/",
    "http://0/",
    "http://10.0.0.1/",
    "http://192.168.1.1/",
    "http://172.16.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://100.64.0.1/",
    "http://224.0.0.1/",
    "http://[::1]/",
    "http://[::]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[fe80::1]/",
    "http://[fd00::1]/",
    "http://[64:ff9b::a00:1]/",
]


@pytest.mark.parametrize("url", FORBIDDEN)
@pytest.mark.parametrize("render", ["auto", "always"])
def test_forbidden_url(forage, url, render):
    response = call(forage, {"url": url, "render": render})
    error = response.json()["error"]
    assert response.status == 403 and error["code"] == "FORBIDDEN"
    assert "FORAGE_ALLOW_PRIVATE_HOSTS" in error["message"]


@pytest.mark.parametrize(
    "arguments, parameter",
    [
        ({}, "url"),
        ({"url": ""}, "url"),
        ({"url": "http://example.org/", "start": -1}, "start"),
        ({"url": "http://example.org/", "max_chars": 0}, "max_chars"),
        ({"url": "http://example.org/", "render": "maybe"}, "render"),
        ({"url": "http://example.org/", "more": 1}, "more"),
    ],
)
def test_wrong_arguments(forage, arguments, parameter):
    response = call(forage, arguments)
    assert response.status == 400 and parameter in response.json()["error"]["message"]


def test_wrong_policy_is_a_start_error():
    completed = run("serve", FORAGE_ALLOW_PRIVATE_HOSTS="wiki.internal,10.0.0.0/99")
    assert completed.returncode == 2
    assert "FORAGE_ALLOW_PRIVATE_HOSTS" in completed.stderr and "10.0.0.0/99" in completed.stderr


# ---- through MCP ----


def test_both_eras_and_progress(web):
    web.answers["/page"] = Answer(page())
    settings = {"FORAGE_ALLOW_PRIVATE_HOSTS": web.host, "FORAGE_CACHE_TTL": 0}
    with Stdio(**settings) as client:
        client.handshake()
        client.send(tool_call("get_content", {"url": web.url("/page")}, id="a", token="t"))
        result = client.answer("a")["result"]
        assert not result.get("isError")
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        assert WORDS.strip() in result["structuredContent"]["page_content"]
        told = [m["params"] for m in client.messages() if m.get("method") == "notifications/progress"]
        assert [row["message"] for row in told] == ["resolving 127.0.0.1", "reading 127.0.0.1"]
        assert [row["progress"] for row in told] == [1, 2]
        client.send(
            modern("tools/call", {"name": "get_content", "arguments": {"url": web.url("/page")}}, "b")
        )
        assert client.answer("b")["result"]["structuredContent"] == result["structuredContent"]
        client.send(tool_call("get_content", {"url": "http://10.0.0.1/"}, id="c"))
        refused = client.answer("c")["result"]
        assert refused["isError"] is True and refused["structuredContent"]["error"]["code"] == "FORBIDDEN"
        client.send(tool_call("get_content", {"url": web.url("/nothing")}, id="d"))
        failed = client.answer("d")["result"]
        assert not failed.get("isError") and "404" in failed["structuredContent"]["page_content"]


def test_description_warns(forage):
    tools = exchange(forage.port, request("GET", "/api/v1/tools")).json()["tools"]
    (tool,) = [tool for tool in tools if tool["name"] == "get_content"]
    assert "untrusted" in tool["description"] and "never instructions" in tool["description"]
    assert tool["annotations"]["readOnlyHint"] is True and tool["annotations"]["openWorldHint"] is True


# ---- many at once, and leaving ----


class Holding:
    """A page that answers only when it is let go."""

    def __init__(self):
        self.open = threading.Event()

    def __call__(self, handler):
        self.open.wait(60)
        return Answer(page())


def test_seventh_transfer_to_a_host_waits(web):
    held = Holding()
    web.answers["/held"] = held
    results = []

    def read(url):
        results.append(get(server, url))

    with Web() as other, Server(FORAGE_ALLOW_PRIVATE_HOSTS="127.0.0.1", FORAGE_CACHE_TTL=0) as server:
        # Another port is another host, until a redirect leads to the busy one.
        other.answers["/way"] = redirect(web.url("/held"))
        other.answers["/page"] = Answer(page())
        threads = [threading.Thread(target=read, args=[web.url("/held")]) for _ in range(7)]
        threads.append(threading.Thread(target=read, args=[other.url("/way")]))
        try:
            for thread in threads:
                thread.start()
            web.wait_seen("/held", 6)
            other.wait_seen("/way", 1)
            wait_until(lambda: running_calls(server, "get_content") == 8)
            # Pages of another host give the seventh and the eighth every chance to come too early.
            for _ in range(20):
                get(server, other.url("/page"))
            assert len(web.seen("/held")) == 6
        finally:
            held.open.set()
            for thread in threads:
                thread.join(2 * PATIENCE)
        assert len(results) == 8 and len(web.seen("/held")) == 8


def running(client):
    """How many calls of get_content run, as the status tells."""
    id = client.new_id()
    client.send(tool_call("forage_status", {"tool": "get_content"}, id=id))
    (tool,) = client.answer(id)["result"]["structuredContent"]["tools"]
    return tool["running"]


def test_cancelled_in_a_transfer_and_in_line(web):
    left = threading.Semaphore(0)

    def answer(handler):
        never(handler)
        left.release()

    def cancel(client, number):
        client.send(cancelled(number))
        wait_until(lambda: running(client) == number)

    web.answers["/stuck"] = answer
    settings = {"FORAGE_ALLOW_PRIVATE_HOSTS": web.host, "FORAGE_CACHE_TTL": 0}
    with Stdio(**settings) as client:
        client.handshake()
        for number in range(6):
            client.send(tool_call("get_content", {"url": web.url("/stuck")}, id=number))
        web.wait_seen("/stuck", 6)
        client.send(tool_call("get_content", {"url": web.url("/stuck")}, id=6))
        wait_until(lambda: running(client) == 7)
        # The last one waits in line, the others for an answer.
        for number in reversed(range(7)):
            cancel(client, number)
        for _ in range(6):
            assert left.acquire(timeout=PATIENCE)
        assert len(web.seen("/stuck")) == 6
        # The places are free again.
        web.answers["/page"] = Answer(page())
        client.send(tool_call("get_content", {"url": web.url("/page")}, id="after"))
        assert client.answer("after")["result"]["structuredContent"]["success"] is True


# ---- for people ----


@pytest.fixture
def read(web, tmp_path):
    own = {"FORAGE_ALLOW_PRIVATE_HOSTS": web.host, "FORAGE_CACHE_TTL": 0, "FORAGE_DATA_DIR": tmp_path}
    return lambda *arguments, **settings: run("read", *arguments, **{**own, **settings})


def test_command_line(web, read):
    web.answers["/long"] = Answer(long_text(), kind="text/markdown")
    completed = read(web.url("/long"))
    assert completed.returncode == 0 and completed.stderr == ""
    assert completed.stdout.strip() == long_text().strip()


def test_command_line_in_parts(web, read):
    web.answers["/long"] = Answer(long_text(), kind="text/markdown")
    completed = read(web.url("/long"), "--max-chars", 300, "--start=13")
    assert completed.returncode == 0 and completed.stdout.startswith("## Section 0")
    assert re.fullmatch(r"forage: there is more: --start \d+\n", completed.stderr)
    assert read(web.url("/long"), "--section", "3").stdout.startswith("## Section 1:")
    assert "- 1. The title" in read(web.url("/long"), "--outline").stdout
    described = json.loads(read("--json", web.url("/long")).stdout)
    assert described["success"] is True and described["truncated"] is False


def test_a_line_on_what_was_left_out(web, read, tmp_path):
    (tmp_path / "full.html").write_text(FULL.replace("Rolls", "Rolls " * 300))
    web.answers["/full"] = Answer((tmp_path / "full.html").read_text())
    for given in (web.url("/full"), tmp_path / "full.html"):
        completed = read(given)
        words = "forage: left out: related 1,811 (1 heading), navigation 8; --all shows everything\n"
        assert completed.returncode == 0 and completed.stderr == words
        assert "Rolls" not in completed.stdout
        completed = read(given, "--all")
        assert completed.stderr == "" and "Rolls Rolls" in completed.stdout and "Not for eyes" not in completed.stdout
        assert json.loads(read(given, "--json").stdout)["omitted"][0]["what"] == "related"
    assert read(web.url("/full"), "--section", "Flour").stderr == ""


# ---- walls ----

SIGN_IN = """<title>Sign in</title><main><h1>Sign in</h1><p>Only keepers have an account.</p><form method="post">
<input name="user"><input type="password" name="pass"><button>Sign in</button></form></main>"""
ONLY_A_FORM = """<title>Sign in</title><form><input name="user"><input type="password" name="pass"></form>"""
PAID = f"""<title>The weir</title><script type="application/ld+json">{{"@type": "NewsArticle", "headline": "The weir",
"isAccessibleForFree": false, "wordCount": 900}}</script><article><h1>The weir</h1><p>{WORDS}</p><p>{WORDS}</p></article>"""
QUESTION = f"""<title>Before you continue</title><h1>Before you continue</h1><p>We use cookies. {WORDS}</p>
<form action="/consent"><button>Accept all</button><button>Reject all</button></form>"""
WALLS = {
    "a sign-in": (Answer(SIGN_IN), "login", "Only keepers have an account."),
    "a form alone": (Answer(ONLY_A_FORM), "login", FAILED + "LoginRequired: the page is behind a sign-in_"),
    "the beginning": (Answer(PAID), "paywall", WORDS.strip()),
    "a question": (Answer(QUESTION), "consent", "We use cookies."),
    "401": (Answer("<h1>No</h1>", 401), "login", FAILED + "HTTPError: 401 Unauthorized_"),
    "402": (Answer("<h1>No</h1>", 402), "paywall", FAILED + "HTTPError: 402 Payment Required_"),
    "403 with a sign-in": (Answer(SIGN_IN, 403), "login", FAILED + "HTTPError: 403 Forbidden_"),
    "403 without": (Answer(page(), 403), None, FAILED + "HTTPError: 403 Forbidden_"),
    "404 with a sign-in": (Answer(SIGN_IN, 404), None, FAILED + "HTTPError: 404 Not Found_"),
    "none": (Answer(page()), None, WORDS.strip()),
}
WALL_NOTES = {"login": "behind a sign-in", "paywall": "only for those who pay", "consent": "asks about cookies"}


@pytest.mark.parametrize("answer, access, text", WALLS.values(), ids=WALLS)
def test_walls_are_called_what_they_are(forage, web, read, answer, access, text):
    """By tools, and for people; what cannot be read at all fails as before."""
    web.answers["/wall"] = answer
    result = get(forage, web.url("/wall"))
    assert result.get("access") == access and text in result["page_content"]
    notes = [note for note in result.get("notes", []) if any(words in note for words in WALL_NOTES.values())]
    assert len(notes) == (access is not None) and (not access or WALL_NOTES[access] in notes[0])
    completed = read(web.url("/wall"))
    assert completed.returncode == ("failed" in result)
    assert completed.stderr.count(f"forage: {access}: {notes[0] if notes else ''}\n") == (access is not None)


def test_an_address_without_a_scheme(web, read):
    """What was meant is said where it fails."""
    web.answers["/page"] = Answer(page(title="Here"))
    for given in (f"{web.host}/page", f"localhost:{web.port}/page", f"LOCALHOST:{web.port}/page?x"):
        assert "# Here" in read(given, FORAGE_ALLOW_PRIVATE_HOSTS=f"{web.host},localhost").stdout, given
    for given in ("nowhere.invalid", "nowhere.invalid/path", "nowhere.invalid:8080/x", "nowhere.invalid?q=a:b"):
        failed = read(given)
        assert failed.returncode == 1 and f"Source: https://{given}\n" in failed.stderr
        assert f'"{given}" was taken for https://{given}\n' in failed.stderr
    for given in ("ftp://nowhere.invalid/", "mailto:a@nowhere.invalid", "file:///etc/hostname", "file:/etc/hostname"):
        failed = read(given)
        assert failed.returncode == 1 and "http:// or https://" in failed.stderr and "taken" not in failed.stderr


def test_an_address_without_a_scheme_means_https(tmp_path, read):
    key, certificate = make_certificate(tmp_path, "127.0.0.2")
    with Web("127.0.0.2", tls=tls_context(key, certificate)) as secure:
        secure.answers["/page"] = Answer(page(title="Behind a lock"))
        done = read(f"{secure.host}/page", SSL_CERT_FILE=certificate, FORAGE_ALLOW_PRIVATE_HOSTS=secure.host)
        assert "# Behind a lock" in done.stdout, done.stderr


def test_a_file_has_a_path(read, tmp_path):
    (tmp_path / "nowhere.invalid").write_text(page(title="A file"))
    (tmp_path / "long.md").write_text(long_text())
    assert "# A file" in read("./nowhere.invalid", cwd=tmp_path).stdout
    assert "# A file" in read(tmp_path / "nowhere.invalid").stdout
    failed = read("nowhere.invalid", cwd=tmp_path)
    assert failed.returncode == 1 and "forage read ./nowhere.invalid" in failed.stderr
    part = read("./long.md", "--section", "3", "--max-chars", 100, cwd=tmp_path)
    assert part.stdout.startswith("## Section 1:") and "there is more: --start" in part.stderr
    assert "- 1. The title" in read("./long.md", "--outline", cwd=tmp_path).stdout
    described = json.loads(read("./nowhere.invalid", "--json", cwd=tmp_path).stdout)
    assert described["title"] == "A file" and described["url"] == "./nowhere.invalid"
    for wrong, words in (("./nothing", "No such file"), ("./", "Is a directory"), ("/dev/null", "EmptyPage")):
        failed = read(wrong, cwd=tmp_path)
        assert failed.returncode == 1 and failed.stdout == "" and words in failed.stderr, wrong
    assert read("./nowhere.invalid", "--section", "none", cwd=tmp_path).returncode == 1
    assert read("./nowhere.invalid", "--render", "always", cwd=tmp_path).returncode == 2


def test_command_line_takes_pages_of_any_length(web, read):
    web.answers["/long"] = Answer("word\n" * 30_000, kind="text/plain")
    completed = read(web.url("/long"), FORAGE_MAX_RESULT_CHARS=4000, KINDLY_MCP_CONTEXT="codex")
    assert completed.returncode == 0 and completed.stderr == "" and len(completed.stdout) == 150_000


def test_command_line_is_limited_and_recorded(web, read, tmp_path):
    """As any other caller is: what one may do in an hour, it may do at the command line."""
    web.answers["/page"] = Answer(page())
    assert read(web.url("/page"), FORAGE_LIMITS="get_content=1/1h").returncode == 0
    completed = read(web.url("/page"), "--json", FORAGE_LIMITS="get_content=1/1h")
    assert completed.returncode == 1 and json.loads(completed.stdout)["error"]["code"] == "RATE_LIMIT"
    assert len(web.seen("/page")) == 1
    usage = json.loads(run("usage", "--json", FORAGE_DATA_DIR=tmp_path).stdout)
    assert [(row["tool"], row["calls"]) for row in usage["rows"]] == [("get_content", 1)]


def test_command_line_without_its_tool(web, read):
    completed = read(web.url("/page"), FORAGE_TOOLS="-get_content")
    assert completed.returncode == 2 and "FORAGE_TOOLS" in completed.stderr


def test_command_line_failures(web, read):
    completed = read(web.url("/nothing"))
    assert completed.returncode == 1 and completed.stdout == "" and "404 Not Found" in completed.stderr
    completed = read("--json", web.url("/nothing"))
    assert completed.returncode == 1 and json.loads(completed.stdout)["failed"] is True
    completed = read("http://10.0.0.1/")
    assert completed.returncode == 1 and "FORAGE_ALLOW_PRIVATE_HOSTS" in completed.stderr
    completed = read("--json", "ftp://nonsense/")
    assert completed.returncode == 1 and json.loads(completed.stdout)["error"]["code"] == "VALIDATION"


@pytest.mark.parametrize(
    "arguments, words",
    [
        ([], "read needs URL"),
        (["http://a.test/", "./more"], "a file is read by itself"),
        (["http://a.test/", "--start", "x"], "--start wants a number"),
        (["http://a.test/", "--max-chars", "-1"], "--max-chars wants a number"),
        (["http://a.test/", "--render", "perhaps"], "--render is auto, always or never"),
        (["http://a.test/", "--section"], "--section needs a value"),
    ],
)
def test_command_line_wrong_arguments(web, read, arguments, words):
    completed = read(*arguments)
    assert completed.returncode == 2 and words in completed.stderr
