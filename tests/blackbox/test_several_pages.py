"""get_content of several URLs: one result for each, side by side, under one budget; what goes wrong with one is its own."""

import json
import threading

import pytest
from conftest import ALICE, BOB
from fake_web import Answer, Web
from messages import cancelled, tool_call
from programs import PATIENCE, Server, Stdio, run, wait_until
from reading import FAILED, WORDS, call, forage, get, page, shared_forage, shared_web, web  # noqa: F401 (fixtures)
from test_get_content import never, running

TWO = f"alice:{ALICE},bob:{BOB}"


def read(server, urls, **arguments):
    response = call(server, {"urls": urls, **arguments})
    assert response.status == 200, response
    result = response.json()
    assert result["success"] is True and "never instructions" in result["untrusted"]
    assert len(result["results"]) == len(urls)
    return result["results"]


def refused(server, arguments):
    response = call(server, arguments)
    assert response.status == 400
    error = response.json()["error"]
    assert error["code"] == "VALIDATION"
    return error["message"]


def put_pages(web, count, words=WORDS):
    for number in range(count):
        web.answers[f"/{number}"] = Answer(page(words, f"The page {number}.", title=f"Page {number}"))
    return [web.url(f"/{number}") for number in range(count)]


# ---- what comes back ----


def test_each_is_like_the_result_for_one(forage, web):
    urls = put_pages(web, 3)
    for url, result in zip(urls, read(forage, urls), strict=True):
        alone = get(forage, url)
        del alone["untrusted"]
        assert result == alone


@pytest.mark.parametrize(
    "more",
    [{"outline": True}, {"section": "Flour"}, {"focus": "how much flour?"}, {"content": "all"}, {"focus": "zebra"}],
    ids=lambda more: next(iter(more)),
)
def test_what_is_asked_for_is_asked_of_each(forage, web, more):
    for name in ("bread", "cake"):
        web.answers[f"/{name}"] = Answer(
            f"<!doctype html><title>{name}</title><nav><a href=/>Home</a></nav><main><h1>{name}</h1><p>{WORDS * 3}</p>"
            f"<h2>Flour</h2><p>The {name} takes much flour. {WORDS}</p><h2>Sugar</h2><p>{WORDS * 3}</p></main>"
        )
    urls = [web.url("/bread"), web.url("/cake")]
    for url, result in zip(urls, read(forage, urls, **more), strict=True):
        alone = get(forage, url, **more)
        del alone["untrusted"]
        assert result == alone


def test_one_that_fails_fails_alone(forage, web):
    (good,) = put_pages(web, 1)
    web.answers["/wall"] = Answer(page(), 401)
    urls = [web.url("/nothing"), good, "ftp://example.org/", "http://10.0.0.1/", web.url("/wall"), "not a url"]
    missing, read_one, scheme, private, wall, nonsense = read(forage, urls)
    assert read_one["title"] == "Page 0" and "failed" not in read_one
    assert missing["failed"] is True and missing["page_content"].startswith(FAILED + "HTTPError: 404")
    assert wall["failed"] is True and wall["access"] == "login"
    for result, url, code in [(scheme, urls[2], "VALIDATION"), (private, urls[3], "FORBIDDEN"), (nonsense, urls[5], "VALIDATION")]:
        assert result.keys() == {"success", "url", "error"}
        assert result["success"] is False and result["url"] == url and result["error"]["code"] == code
        assert result["error"]["message"] == call(forage, {"url": url}).json()["error"]["message"]


def test_a_section_that_one_has_not(forage, web):
    web.answers["/with"] = Answer(f"# A\n\n## Care\n\n{WORDS}", kind="text/markdown")
    web.answers["/without"] = Answer(f"# B\n\n{WORDS}", kind="text/markdown")
    one, other = read(forage, [web.url("/with"), web.url("/without")], section="Care")
    assert one["section"] == "Care"
    assert other["success"] is False and "no heading" in other["error"]["message"]


def test_a_page_that_is_given_twice_is_read_once(forage, web):
    first, second = put_pages(web, 2)
    results = read(forage, [first, second, first + "#part", first.replace("http:", "HTTP:"), second])
    assert [result.get("same_as") for result in results] == [None, None, 1, 1, 2]
    assert results[2] == {"success": True, "url": first + "#part", "same_as": 1}
    assert len(web.seen("/0")) == len(web.seen("/1")) == 1


def test_one_is_several_too(forage, web):
    (url,) = put_pages(web, 1)
    (result,) = read(forage, [url])
    assert result["title"] == "Page 0"


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({}, "url: it is missing"),
        ({"url": "http://example.org/", "urls": ["http://example.org/"]}, "came together"),
        ({"urls": []}, "urls"),
        ({"urls": ["http://example.org/"] * 11}, "urls"),
        ({"urls": ["http://example.org/"], "start": 5}, "start: it came together with urls"),
        ({"urls": "http://example.org/"}, "urls"),
        ({"urls": [5]}, "urls"),
        ({"urls": [""]}, "urls"),
        ({"urls": ["http://example.org/" + "x" * 2000]}, "urls"),
        ({"urls": ["http://example.org/"], "focus": "x", "outline": True}, "outline"),
    ],
)
def test_what_is_wrong_is_said(forage, arguments, words):
    assert words in refused(forage, arguments)


# ---- one budget ----


def put_texts(web, *lengths):
    for number, length in enumerate(lengths):
        text = "".join(f"Paragraph {part} of {number}.\n\n" for part in range(length))
        web.answers[f"/text{number}"] = Answer(text, kind="text/plain")
    return [web.url(f"/text{number}") for number in range(len(lengths))]


def test_characters_are_shared_fairly(forage, web):
    """What the short ones leave goes to the long ones."""
    urls = put_texts(web, 5, 1000, 20, 1000)
    results = read(forage, urls, max_chars=3000)
    lengths = [len(result["page_content"]) for result in results]
    whole = [get(forage, url)["total_chars"] for url in urls]
    assert [result["truncated"] for result in results] == [False, True, False, True]
    assert lengths[0] == whole[0] and lengths[2] == whole[2]
    share = (3000 - whole[0] - whole[2]) // 2
    assert all(share - 100 < length <= share for length in (lengths[1], lengths[3])), (lengths, share)
    for number in (1, 3):
        rest = get(forage, urls[number], start=results[number]["next_start"])
        assert rest["start"] == results[number]["next_start"] == len(results[number]["page_content"])


def test_nothing_is_cut_that_fits(forage, web):
    urls = put_texts(web, 5, 10, 20)
    whole = [get(forage, url)["page_content"] for url in urls]
    results = read(forage, urls, max_chars=sum(map(len, whole)))
    assert [result["page_content"] for result in results] == whole


def test_fewer_characters_than_pages(forage, web):
    results = read(forage, put_texts(web, 5, 5, 5), max_chars=2)
    assert [len(result["page_content"]) for result in results] == [1, 1, 1]


def test_passages_are_shared_too(forage, web):
    for number in range(3):
        sentences = " ".join(f"Fact {fact} about flour number {number}." for fact in range(200 if number else 3))
        web.answers[f"/flour{number}"] = Answer(page(sentences, WORDS * 20))
    urls = [web.url(f"/flour{number}") for number in range(3)]
    results = read(forage, urls, focus="flour", max_chars=1500)
    lengths = [len(result["page_content"]) for result in results]
    assert sum(lengths) <= 1500 and lengths[0] < 400
    assert lengths[1] > 500 and lengths[2] > 500, lengths


@pytest.mark.parametrize("context", [None, "codex", "opencode"])
@pytest.mark.parametrize("most", [4_000, 20_000, 60_000])
def test_the_whole_result_fits(web, most, context, tmp_path):
    count = 10 if most > 4_000 else 2
    quotes = "<p>" + '"Quoted", <b>said</b> \\ she. ' * 3 + "</p>"
    for number in range(count):
        head = f"<meta name=description content='{'d' * 2000}'><meta name=author content='{'a' * 900}'>"
        links = "".join(f"<h3>{'h' * 70}{i}</h3><a href=/x{i}>link {i}</a>" for i in range(30))
        web.answers[f"/p{number}"] = Answer(
            f"<!doctype html><html><head><title>{'t' * 900}</title>{head}</head><body><nav>{links}</nav>"
            f"<main><h1>Page</h1>{quotes * 1000}</main></body></html>"
        )
    urls = [web.url(f"/p{number}") for number in range(count)]
    settings = {"FORAGE_MAX_RESULT_CHARS": most, "FORAGE_CONTEXT": context, "FORAGE_DATA_DIR": tmp_path}
    with Stdio(FORAGE_ALLOW_PRIVATE_HOSTS=web.host, FORAGE_CACHE_TTL=0, **settings) as client:
        client.handshake()
        client.send(tool_call("get_content", {"urls": urls}, id=1))
        text = client.answer(1)["result"]["content"][0]["text"]
    assert len(text) <= most, len(text)
    assert text.count("Quoted") >= 3 * count


def test_more_than_fit_are_refused_before_any_is_read(web):
    urls = put_pages(web, 5)
    with Server(FORAGE_ALLOW_PRIVATE_HOSTS=web.host, FORAGE_MAX_RESULT_CHARS=4000) as server:
        message = refused(server, {"urls": urls})
        assert "5 pages do not fit" in message and "give 2 at a time" in message
        assert len(read(server, urls[:2])) == 2
    assert not web.seen("/4")


def test_a_huge_address_is_told_by_itself(forage, web):
    """Where a page redirects to may be longer than its share."""
    urls = put_pages(web, 9)
    far = "/far?" + "x" * 8000
    web.answers["/far"] = Answer(page())
    web.answers["/to-far"] = Answer(status=302, Location=far)
    *others, last = read(forage, [*urls, web.url("/to-far")])
    assert len(json.dumps(last)) < 10_000 and all(other["success"] for other in others)


# ---- side by side ----


def test_all_are_read_at_once(web):
    """Each answers only when all were asked for."""
    hosts = [Web() for _ in range(10)]
    together = threading.Barrier(10)

    def answer(_):
        together.wait(PATIENCE)
        return Answer(page())

    for host in hosts:
        host.answers["/"] = answer
        host.__enter__()
    try:
        allowed = ",".join(host.host for host in hosts)
        with Server(FORAGE_ALLOW_PRIVATE_HOSTS=allowed, FORAGE_CACHE_TTL=0) as server:
            results = read(server, [host.url() for host in hosts])
        assert all(result["title"] == "A page" for result in results)
    finally:
        for host in hosts:
            host.__exit__()


def test_what_is_late_is_a_note(web):
    (good,) = put_pages(web, 1)
    web.answers["/stuck"] = never
    with Server(FORAGE_ALLOW_PRIVATE_HOSTS=web.host, FORAGE_CACHE_TTL=0, FORAGE_CALL_TIMEOUT=8) as server:
        late, there = read(server, [web.url("/stuck"), good])
        assert late["failed"] is True and late["page_content"].startswith(FAILED + "Timeout")
        assert there["title"] == "Page 0"


def test_progress_tells_of_each(web):
    urls = put_pages(web, 3)
    with Stdio(FORAGE_ALLOW_PRIVATE_HOSTS=web.host, FORAGE_CACHE_TTL=0) as client:
        client.handshake()
        client.send(tool_call("get_content", {"urls": [*urls, web.url("/no")]}, id="a", token="t"))
        result = client.answer("a")["result"]
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        told = [m["params"] for m in client.messages() if m.get("method") == "notifications/progress"]
    assert [(row["progress"], row["total"]) for row in told] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert sorted(row["message"] for row in told) == [f"could not read {web.host}"] + [f"read {web.host}"] * 3


def test_cancelled(web):
    web.answers["/stuck"] = never
    with Stdio(FORAGE_ALLOW_PRIVATE_HOSTS=web.host, FORAGE_CACHE_TTL=0) as client:
        client.handshake()
        client.send(tool_call("get_content", {"urls": [web.url(f"/stuck?{number}") for number in range(5)]}, id=1))
        for number in range(5):
            web.wait_seen(f"/stuck?{number}", 1)
        client.send(cancelled(1))
        wait_until(lambda: running(client) == 0)
        (url,) = put_pages(web, 1)
        client.send(tool_call("get_content", {"urls": [url]}, id="after"))
        assert client.answer("after")["result"]["structuredContent"]["results"][0]["title"] == "Page 0"


def test_what_is_kept_serves(web, tmp_path):
    urls = put_pages(web, 2)
    with Server(FORAGE_ALLOW_PRIVATE_HOSTS=web.host, FORAGE_CACHE_TTL=60, FORAGE_CACHE_DIR=tmp_path) as server:
        get(server, urls[0])
        assert [result["title"] for result in read(server, urls)] == ["Page 0", "Page 1"]
        read(server, urls)
    assert len(web.seen("/0")) == len(web.seen("/1")) == 1


# ---- limits ----


def test_each_counts_as_a_call(web, tmp_path):
    urls = put_pages(web, 4)
    settings = {"FORAGE_LIMITS": "get_content=5/10m", "FORAGE_TOKENS": TWO, "FORAGE_DATA_DIR": tmp_path}
    alice = {"Authorization": f"Bearer {ALICE}"}
    with Server(FORAGE_ALLOW_PRIVATE_HOSTS=web.host, **settings) as server:
        assert call(server, {"urls": urls[:3]}, alice).status == 200
        too_many = call(server, {"urls": urls[:3]}, alice)
        assert too_many.status == 429
        error = too_many.json()["error"]
        assert "this one counts as 3, where 2 are left" in error["message"] and error["details"]["left"] == 2
        assert call(server, {"urls": urls[:2]}, alice).status == 200
        assert call(server, {"url": urls[0]}, alice).status == 429
        assert call(server, {"urls": urls[:4]}, {"Authorization": f"Bearer {BOB}"}).status == 200


@pytest.mark.parametrize("settings", [{"FORAGE_LIMITS": "get_content=2/10m"}, {"FORAGE_CALLS_PER_MINUTE": 2}])
def test_more_than_a_limit_ever_has(web, settings, tmp_path):
    urls = put_pages(web, 3)
    with Server(FORAGE_ALLOW_PRIVATE_HOSTS=web.host, FORAGE_DATA_DIR=tmp_path, **settings) as server:
        response = call(server, {"urls": urls})
        assert response.status == 429
        assert "this one counts as 3: ask for less at once" in response.json()["error"]["message"]
        assert call(server, {"urls": urls[:2]}).status == 200


# ---- over MCP as text, and for people ----


def test_as_text(web):
    urls = put_pages(web, 2)
    with Stdio(FORAGE_ALLOW_PRIVATE_HOSTS=web.host, FORAGE_CACHE_TTL=0, FORAGE_CONTEXT="gemini-cli") as client:
        client.handshake()
        client.send(tool_call("get_content", {"urls": [*urls, "http://10.0.0.1/"]}, id=1))
        text = client.answer(1)["result"]["content"][0]["text"]
    assert "[results 1 of 3]" in text and "[results 3 of 3]" in text and "FORBIDDEN" in text
    assert text.count("</page_content ") == 2 and text.count("never instructions") == 1


def test_the_log_has_a_hash_of_the_first(web):
    urls = put_pages(web, 2)
    with Server(FORAGE_ALLOW_PRIVATE_HOSTS=web.host, FORAGE_CACHE_TTL=0) as server:
        read(server, urls)
        get(server, urls[0])
        log = wait_until(lambda: b"".join(server.log.all()).count(b"tool=get_content") == 2 and server.log.all())
    several, one = [line.split(b" query=")[1].split()[0] for line in log if b"tool=get_content" in line]
    assert several == one


@pytest.fixture
def command(web, tmp_path):
    own = {"FORAGE_ALLOW_PRIVATE_HOSTS": web.host, "FORAGE_CACHE_TTL": 0, "FORAGE_DATA_DIR": tmp_path}
    return lambda *arguments, **settings: run("read", *arguments, **{**own, **settings})


def test_command_line(web, command):
    urls = put_pages(web, 2)
    completed = command(*urls)
    assert completed.returncode == 0, completed.stderr
    first, second = completed.stdout.split("\n---\n\n")
    assert first.startswith(f"Source: {urls[0]}\n\n# Page 0\n") and second.startswith(f"Source: {urls[1]}\n\n# Page 1\n")
    results = json.loads(command(*urls, "--json").stdout)["results"]
    assert [result["title"] for result in results] == ["Page 0", "Page 1"]


def test_command_line_takes_any_size(web, command):
    web.answers["/long"] = Answer(WORDS * 1000, kind="text/plain")
    (url,) = put_pages(web, 1)
    assert WORDS * 1000 in command(web.url("/long"), url).stdout


def test_command_line_tells_what_failed(web, command, tmp_path):
    (url,) = put_pages(web, 1)
    completed = command(web.url("/no"), url, "http://10.0.0.1/", url)
    assert completed.returncode == 1
    assert completed.stdout.startswith(f"Source: {url}\n\n# Page 0\n") and completed.stdout.count("Source:") == 1
    assert "404" in completed.stderr and "10.0.0.1: the address is not allowed" in completed.stderr
    assert command(web.url("/no"), url, "--json").returncode == 1
    document = tmp_path / "a.md"
    document.write_text("# A")
    mixed = command(url, str(document))
    assert mixed.returncode == 2 and "a file is read by itself" in mixed.stderr
