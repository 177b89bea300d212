"""Long pages in parts, by section and by outline: the parts, put together, are the page."""

import re

import pytest
from fake_web import Answer
from programs import Server
from reading import WORDS, call, forage, get, long_text, page, shared_forage, shared_web, web  # noqa: F401 (fixtures)

# What is added to a part whose beginning or end is inside a block.
ADDED = re.compile(
    r"\A_\[The (code|table) goes on from the part before\.\]_\n\n(?:```python\n|\| a \| b \|\n\| --- \| --- \|\n)"
    r"|```\n\n_\[The code goes on at start=\d+\.\]_\Z"
    r"|\n\n_\[The (line|table row) is cut here and goes on at start=\d+\.\]_\Z"
)


def parts(server, url, **arguments):
    """The pages of a page, and what the result of each was."""
    results = [get(server, url, **arguments)]
    while results[-1]["truncated"]:
        result = get(server, url, **{**arguments, "start": results[-1]["next_start"]})
        assert result["start"] == results[-1]["next_start"]
        results.append(result)
    return results


@pytest.mark.parametrize("max_chars", [150, 777, 2500, 100_000])
def test_parts_put_together_are_the_page(forage, web, max_chars):
    web.answers["/long"] = Answer(long_text(), kind="text/markdown")
    whole = get(forage, web.url("/long"))
    assert whole["truncated"] is False and whole["page_content"].strip() == long_text().strip()
    results = parts(forage, web.url("/long"), max_chars=max_chars)
    assert all(len(result["page_content"]) <= max_chars for result in results)
    assert all(result["total_chars"] == whole["total_chars"] for result in results)
    assert "".join(ADDED.sub("", result["page_content"]) for result in results) == whole["page_content"]
    # No part leaves a code block open.
    assert all(len(re.findall(r"^```", result["page_content"], re.M)) % 2 == 0 for result in results)


def test_parts_of_an_html_page(forage, web):
    web.answers["/page"] = Answer(page(*[f"Paragraph {n}. {WORDS}" for n in range(200)]))
    whole = get(forage, web.url("/page"))
    results = parts(forage, web.url("/page"), max_chars=1000)
    assert len(results) > 10
    assert "".join(result["page_content"] for result in results) == whole["page_content"]


TITLED = {
    "of its head only": ("A [title] * with `marks`", "", "# A \\[title\\] \\* with \\`marks\\`\n\n"),
    "that is its heading": ("A title", "<h1>A title</h1>", "# A title\n\n"),
    "that is its second heading": ("A title", "<h2>A title</h2>", "# A title\n\n"),
    "beside another": ("A title", "<h1>A title</h1><h2>Another</h2>", "# A title\n\n## Another\n\n"),
    "none": ("", "", WORDS.split()[0]),
}


@pytest.mark.parametrize("title, heading, beginning", TITLED.values(), ids=TITLED)
def test_title_stands_above_the_text(forage, web, title, heading, beginning):
    """Once, and positions count it."""
    head = f"<title>{title}</title>" if title else ""
    body = "".join(f"<p>{WORDS * 2}</p>" for _ in range(20))
    web.answers["/page"] = Answer(f"<html><head>{head}</head><body><article>{heading}{body}</article></body></html>")
    whole = get(forage, web.url("/page"))
    text = whole["page_content"]
    assert text.startswith(beginning) and len(text) == whole["total_chars"]
    assert text.count("A title") == (1 if "A title" in title else 0)
    assert "".join(part["page_content"] for part in parts(forage, web.url("/page"), max_chars=700)) == text
    for row in get(forage, web.url("/page"), outline=True)["outline"]:
        assert text[row["start"] :].startswith("#" * row["level"] + " ")


def test_whole_result_fits(web):
    """Quotes, line breaks and metadata count too."""
    web.answers["/long"] = Answer(long_text(), kind="text/markdown")
    web.answers["/quotes"] = Answer('"\\\n' * 20_000, kind="text/plain")
    settings = {
        "FORAGE_ALLOW_PRIVATE_HOSTS": web.host,
        "FORAGE_CACHE_TTL": 0,
        "FORAGE_MAX_RESULT_CHARS": 5000,
    }
    with Server(**settings) as server:
        for path in ("/long", "/quotes"):
            response = call(server, {"url": web.url(path)})
            result = response.json()
            assert 3000 < len(response.body.decode()) <= 5000
            assert result["truncated"] and str(result["next_start"]) in result["read_on"]
            response = call(server, {"url": web.url(path), "outline": True})
            assert len(response.body.decode()) <= 5000
        results = parts(server, web.url("/long"))
        assert (
            "".join(ADDED.sub("", result["page_content"]) for result in results).strip()
            == long_text().strip()
        )


@pytest.mark.parametrize(
    "settings, most",
    [
        ({"KINDLY_MCP_CONTEXT": "codex"}, 32000),
        ({"KINDLY_MCP_CONTEXT": "nobody-knows"}, 60000),
        ({"KINDLY_MCP_CONTEXT": "codex", "FORAGE_MAX_RESULT_CHARS": 9000}, 9000),
    ],
)
def test_a_result_suits_its_client(web, settings, most):
    web.answers["/long"] = Answer(WORDS * 20_000, kind="text/plain")
    with Server(FORAGE_ALLOW_PRIVATE_HOSTS=web.host, FORAGE_CACHE_TTL=0, **settings) as server:
        response = call(server, {"url": web.url("/long")})
    assert response.json()["truncated"] and most * 0.9 < len(response.body.decode()) <= most


def test_long_code_is_closed_and_opened_again(forage, web):
    code = "".join(f"line {number}\n" for number in range(500))
    web.answers["/code"] = Answer(f"Text.\n\n```sh\n{code}```\n", kind="text/markdown")
    results = parts(forage, web.url("/code"), max_chars=1000)
    assert results[1]["page_content"].endswith(
        "```\n\n_[The code goes on at start=%d.]_" % results[1]["next_start"]
    )
    assert results[2]["page_content"].startswith("_[The code goes on from the part before.]_\n\n```sh\nline ")
    assert "This part ends inside a code block." in results[1]["notes"]
    assert "notes" not in results[-1]


def test_start_beyond_the_end(forage, web):
    web.answers["/page"] = Answer("short", kind="text/plain")
    response = call(forage, {"url": web.url("/page"), "start": 1000})
    assert response.status == 400 and "start: 1000" in response.json()["error"]["message"]


def test_outline(forage, web):
    web.answers["/long"] = Answer(long_text(), kind="text/markdown")
    text = get(forage, web.url("/long"))["page_content"]
    result = get(forage, web.url("/long"), outline=True)
    assert [row["number"] for row in result["outline"]] == list(range(1, 32))
    for row in result["outline"]:
        assert text[row["start"] :].startswith("#" * row["level"] + " " + row["title"])
        assert f"{row['number']}. {row['title']} (start {row['start']}" in result["page_content"]
    assert result["outline"][0]["chars"] == result["total_chars"]


@pytest.mark.parametrize(
    "section", ['Section 7: "ünïcödé" 日本', 'SECTION 7: "ÜNÏCÖDÉ" 日本', "9", "section 7"]
)
def test_section(forage, web, section):
    web.answers["/long"] = Answer(long_text(), kind="text/markdown")
    result = get(forage, web.url("/long"), section=section)
    assert result["page_content"].startswith("## Section 7:") and "Section 8" not in result["page_content"]
    assert result["truncated"] is False and result["section"].startswith("Section 7")
    # In parts, too.
    results = parts(forage, web.url("/long"), section=section, max_chars=200)
    assert len(results) > 1
    assert "".join(ADDED.sub("", part["page_content"]) for part in results) == result["page_content"]


def test_unknown_section(forage, web):
    web.answers["/long"] = Answer(long_text(), kind="text/markdown")
    error = call(forage, {"url": web.url("/long"), "section": "nowhere"}).json()["error"]
    assert error["code"] == "VALIDATION"
    assert '"nowhere"' in error["message"] and '"The title"' in error["message"]
