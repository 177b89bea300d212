"""Only the passages of a page that answer a question: which ones, where they are, and within what size."""

import re

import pytest
from fake_web import Answer
from fakes.embeddings import KEY, Embeddings
from programs import ROOT, Server, Stdio, run
from reading import call, forage, get, shared_forage, shared_web, web  # noqa: F401 (fixtures)
from searching import search, shared_world, world  # noqa: F401 (fixtures)

FILLER = "The village lies on a hill, and its houses are made of stone. Many people pass through it in summer. "
ANSWER = "The dentist sees children on Tuesdays without an appointment."
GARDEN = "# A village\n\n" + "".join(
    f"## Part {number}\n\n{FILLER * 4}\n\n### Notes\n\n{FILLER * 2}\n\n" for number in range(20)
)
TEXT = GARDEN.replace("### Notes\n\n", f"### Health\n\nThere is a surgery. {ANSWER} It closes at noon.\n\n", 8).replace(
    f"{ANSWER} ", "", 7
)
MARK = re.compile(r"(?:\A|\n\n)\[(\d+)((?: [^\]\n]*)?)\](?: |\n\n)")


def serve(web, text=TEXT, path="/page", kind="text/markdown"):
    web.answers[path] = Answer(text, kind=kind)
    return web.url(path)


def passages(result):
    """Where each begins, its headings, and its text."""
    parts = MARK.split(result["page_content"])
    assert parts[0] == "", result["page_content"][:200]
    return [(int(at), path.strip(), text) for at, path, text in zip(parts[1::3], parts[2::3], parts[3::3], strict=True)]


# ---- which, and where ----


def test_the_answer_comes_with_its_place(forage, web):
    url = serve(web)
    whole = get(forage, url)["page_content"]
    result = get(forage, url, focus="When does the dentist see children?", max_chars=600)
    found = passages(result)
    assert ANSWER in result["page_content"] and len(result["page_content"]) <= 600
    assert result["truncated"] is True and "next_start" not in result and "start" in result["read_on"]
    for at, _, text in found:
        assert whole[at:].startswith(text)
        assert get(forage, url, start=at, max_chars=len(text))["page_content"][:40] == text[:40]
    assert [at for at, _, _ in found] == sorted(at for at, _, _ in found)
    (path,) = [path for _, path, text in found if ANSWER in text]
    assert path == "A village > Part 7 > Health"


@pytest.mark.parametrize("focus", ["dentst", "DENTISTS", "dentist's child", "doctor's appointments for kids, dentists"])
def test_words_are_found_as_in_memories(forage, web, focus):
    """Other forms, other cases, a letter too few."""
    assert ANSWER in get(forage, serve(web), focus=focus, max_chars=400)["page_content"]


@pytest.mark.parametrize("most", [1, 30, 100, 777, 5000, 1_000_000])
def test_it_keeps_to_its_size(forage, web, most):
    result = get(forage, serve(web), focus="the dentist on the hill", max_chars=most)
    assert len(result["page_content"]) <= most


def test_four_thousand_characters_unless_said(forage, web):
    assert 3000 < len(get(forage, serve(web), focus="stone houses")["page_content"]) <= 4000


def test_only_in_a_section_or_from_a_place_on(forage, web):
    url = serve(web)
    outline = get(forage, url, outline=True)["outline"]
    (part,) = [row for row in outline if row["title"] == "Part 3"]
    inside = passages(get(forage, url, focus="stone houses", section="Part 3"))
    assert inside and all(part["start"] <= at < part["start"] + part["chars"] for at, _, _ in inside)
    later = passages(get(forage, url, focus="stone houses", start=part["start"]))
    assert later and min(at for at, _, _ in later) >= part["start"]


def test_rows_get_their_head_and_code_its_fence(forage, web):
    rows = "".join(f"| town {n} | {n * 17} |\n" for n in range(60))
    code = "".join(f"value_{n} = compute({n})  # a line that is long enough to count as one\n" for n in range(60))
    url = serve(web, f"# Data\n\n| name | people |\n| --- | --- |\n{rows}\n```python\n{code}```\n\n{FILLER}\n")
    table = get(forage, url, focus="town 41", max_chars=120)["page_content"]
    assert "| name | people |\n| --- | --- |\n| town" in table and "| town 41 | 697 |" in table
    part = get(forage, url, focus="value_41", max_chars=1500)["page_content"]
    assert "```python\nvalue_" in part and "value_41 = compute(41)" in part and part.count("```") % 2 == 0


def test_a_page_without_an_answer_is_shown_itself(forage, web):
    result = get(forage, serve(web), focus="xylophone zzyzx")
    assert result["page_content"].startswith("# A village") and len(result["page_content"]) <= 4000
    assert any("focus" in note for note in result["notes"]) and result["next_start"]


def test_html_and_what_is_not_its_main_part(forage, web):
    body = "".join(f"<h2>Part {n}</h2><p>{FILLER * 3}</p>" for n in range(9))
    html = f"<html><head><title>T</title></head><body><nav>Dentists nearby</nav><main><h1>T</h1>{body}<p>{ANSWER}</p></main></body></html>"
    url = serve(web, html, kind="text/html")
    for content in ("main", "all", "passages"):
        result = get(forage, url, focus="dentist for children", content=content, max_chars=300)
        assert ANSWER in result["page_content"]


# ---- by what they mean ----


def test_with_a_model_it_is_the_same_page(web):
    """The order of the best may be another; what holds of passages holds."""
    url = serve(web)
    settings = {"FORAGE_ALLOW_PRIVATE_HOSTS": web.host, "FORAGE_CACHE_TTL": 0}
    model = ROOT / "tests" / "unit" / "data" / "tiny.model"
    with Server(FORAGE_MODEL=model, **settings) as server:
        whole = get(server, url)["page_content"]
        for most in (300, 2000, 20_000):
            result = get(server, url, focus="the dentist on the hill in summer", max_chars=most)
            assert len(result["page_content"]) <= most
            assert all(whole[at:].startswith(text) for at, _, text in passages(result))
    with Server(FORAGE_MODEL="/proc/nonexistent/model", **settings) as server:
        assert ANSWER in get(server, url, focus="dentist", max_chars=400)["page_content"]


def test_no_page_is_sent_to_an_endpoint(web):
    with Embeddings() as endpoint:
        settings = {"FORAGE_EMBEDDINGS_URL": endpoint.base_url, "FORAGE_EMBEDDINGS_KEY": KEY, "FORAGE_EMBEDDINGS_MODEL": "small"}
        with Server(FORAGE_ALLOW_PRIVATE_HOSTS=web.host, FORAGE_CACHE_TTL=0, **settings) as server:
            assert ANSWER in get(server, serve(web), focus="dentist", max_chars=400)["page_content"]
        assert not endpoint.requests


# ---- what is refused, and what is large ----


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"content": "passages"}, "focus"),
        ({"focus": "x", "outline": True}, "outline"),
        ({"focus": ""}, "focus"),
        ({"focus": "x" * 10_000}, "focus"),
        ({"focus": 7}, "focus"),
    ],
)
def test_wrong_arguments(forage, web, arguments, words):
    response = call(forage, {"url": serve(web), **arguments})
    assert response.status == 400 and words in response.json()["error"]["message"]
    assert response.json()["error"]["code"] == "VALIDATION"


def test_a_note_stays_a_note(forage, web):
    result = get(forage, web.url("/missing"), focus="dentist")
    assert result["failed"] is True and result["page_content"].startswith("_Failed")


@pytest.mark.parametrize("piece", ["word " * 30 + "end. ", "a\n\n", "x", "| a |\n", "```\n", "[[[[", "\u3042\u3002"])
def test_ten_megabytes(forage, web, piece):
    text = piece * (10_000_000 // len(piece.encode())) + "\n"
    result = get(forage, serve(web, text, kind="text/plain"), focus="end of a word " * 100)
    assert len(result["page_content"]) <= 4000


# ---- every way in ----


def test_the_same_over_stdio_and_from_the_command_line(forage, web, tmp_path):
    url = serve(web)
    given = {"url": url, "focus": "dentist for children", "max_chars": 500}
    over_rest = call(forage, given).json()
    with Stdio(FORAGE_ALLOW_PRIVATE_HOSTS=web.host, FORAGE_CACHE_TTL=0) as stdio:
        result = stdio.ask("tools/call", {"name": "get_content", "arguments": given})["result"]
    assert result["structuredContent"] == over_rest
    settings = {"FORAGE_ALLOW_PRIVATE_HOSTS": web.host, "FORAGE_CACHE_TTL": 0}
    options = ("--focus", given["focus"], "--max-chars", "500")
    assert run("read", url, *options, **settings).stdout.strip().endswith(over_rest["page_content"].strip())
    file = tmp_path / "page.md"
    file.write_text(TEXT)
    assert run("read", str(file), *options, **settings).stdout.strip().endswith(over_rest["page_content"].strip())


def test_passages_of_what_a_search_found(world):
    hits = world.find(3)
    world.web.answers["/page-0"] = Answer(TEXT, kind="text/markdown")
    world.web.answers["/page-1"] = Answer("gone", 404)
    with world.server("serper") as server:
        result = search(server, "dentist for children", content="passages")
        main = search(server, "dentist for children")
        both = search(server, None, queries=["dentist for children", "stone houses"], content="passages")
        small = [search(server, "stone houses", content=content, num_results=1) for content in ("all", "passages")]
    first, second, third = result["results"]
    assert ANSWER in first["page_content"] and len(first["page_content"]) <= 4000
    assert first["truncated"] is True and "next_start" not in first and "start=" in result["read_on"]
    assert all(TEXT[at:].startswith(text) for at, _, text in passages(first))
    assert second["failed"] is True and second["page_content"].startswith("_Failed")
    assert third["link"] == hits[2].link and third["page_content"] == main["results"][2]["page_content"]
    assert "read_on" not in main and len(main["results"][0]["page_content"]) > 10_000
    assert "houses" in both["results"][0]["page_content"] and ANSWER in both["results"][0]["page_content"]
    assert len(small[1]["results"][0]["page_content"]) <= 4000 < len(small[0]["results"][0]["page_content"])


def test_passages_share_the_size_of_a_result(world):
    world.find(20)
    for number in range(20):
        world.web.answers[f"/page-{number}"] = Answer(TEXT, kind="text/markdown")
    with world.server("serper", FORAGE_MAX_RESULT_CHARS=20_000) as server:
        result = search(server, "stone houses", num_results=20, content="passages")
    assert len(result["results"]) == 20 and sum(len(item["page_content"]) for item in result["results"]) < 20_000
    assert all(item["page_content"].startswith("[") for item in result["results"])
