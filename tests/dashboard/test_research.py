"""Research in the dashboard: jobs that move while one watches, the evidence beside each claim, cancelling, removing and saving."""

import json

import pytest
from filling import filled_server
from jobs import Hangs, Scene, begin, finished, get, job
from pages import Page
from programs import PATIENCE, Server
from remembering import add_job, evidence, result_of, state_of
from test_actions import KEPT
from test_hostile import PAYLOADS, nothing_happened


@pytest.fixture(scope="module")
def scene():
    with Scene() as scene:
        yield scene


def test_a_research_from_its_beginning(browser, scene, tmp_path):
    """It is seen while it runs, and its report, quotes and pages once it is over, without another click."""
    player = Hangs(scene.world.questions, 4)
    scene.play(player)
    with Server(**scene.settings(FORAGE_DATA_DIR=tmp_path)) as server:
        browser.look(1400, "light")
        one = Page(browser, server.port).open("research")
        one.wait_text("No research yet.")
        id = begin(server.port, scene.question())
        assert player.reached.wait(PATIENCE)
        one.wait("document.querySelector('.job-row .badge')?.textContent === 'running'")
        one.run("document.querySelector('.job-row').click()")
        one.wait_text(scene.question()[:40])
        player.released.set()
        done = finished(server.port, id)
        one.wait("[...document.querySelectorAll('.job-head .badge')].some((one) => one.textContent === 'done')")
        one.settle()
        claims = done["result"]["evidence"]
        one.click("Evidence")
        one.wait(f"document.querySelectorAll('.evidence > li').length === {len(claims)}")
        text = one.text(".evidence")
        assert all(claim["quote"][:40] in text for claim in claims)
        hrefs = one.run("[...document.querySelectorAll('.evidence a')].map((one) => one.href)")
        assert [claim["url"] for claim in claims] == hrefs and one.run("document.querySelectorAll('.evidence time').length") == len(claims)
        one.click("Pages")
        one.wait(f"document.querySelectorAll('.pages li').length === {len(done['progress']['pages'])}")
        one.run(KEPT)
        one.click("Save report")
        one.wait("window.files.length === 1")
        one.click("Save JSON")
        one.wait("window.files.length === 2")
        report, whole = one.run("window.files")
        assert report == done["result"]["report"] and json.loads(whole) == done["result"]
        one.click("Remove")
        one.click("Remove")
        one.wait_text("Removed.")
        assert get(server.port, "/api/v1/jobs").json()["jobs"] == []
        assert not one.problems(), one.problems()


def test_cancelling(browser, scene, tmp_path):
    player = Hangs(scene.world.questions, 2)
    scene.play(player)
    with Server(**scene.settings(FORAGE_DATA_DIR=tmp_path)) as server:
        id = begin(server.port, scene.question())
        assert player.reached.wait(PATIENCE)
        browser.look(1400, "light")
        one = Page(browser, server.port).open(f"research/{id}")
        one.click("Cancel")
        one.click("Cancel")
        assert job(server.port, id)["status"] == "running", "it was asked, and the answer was no"
        one.click("Cancel")
        one.click("Cancel it")
        one.wait_text("Cancelled.")
        assert finished(server.port, id)["status"] == "cancelled"
        player.released.set()
        one.wait("[...document.querySelectorAll('.job-head .badge')].some((one) => one.textContent === 'cancelled')")
        assert not one.problems(), one.problems()


def test_the_badge_says_what_is_true(browser, tmp_path):
    """How many quotes were found, and what is missing where that is not enough."""
    claims = [evidence(number, "exact") for number in range(5)]
    whole = result_of("One host", claims)
    one_host = {**whole, "verified": False, "citations": {**whole["citations"], "hosts": 1}}
    part = {**whole, "verified": False, "citations": {**whole["citations"], "exact": 3, "absent": 2}}
    cases = [
        (whole, "5 of 5 quotes found: verified"),
        (one_host, "5 of 5 quotes found all pages are of one host, so not verified"),
        (part, "3 of 5 quotes found not verified"),
        ({**one_host, "citations": {**one_host["citations"], "claims": 0, "exact": 0}}, "it cites nothing not verified"),
        ({name: one_host[name] for name in ("success", "report", "verified", "metadata")}, "its quotes were not checked"),
    ]
    with filled_server("badges", tmp_path) as server:
        browser.look(1400, "light")
        for number, (result, words) in enumerate(cases, 1):
            add_job(tmp_path / "data", number, f"Question {number}", result)
        for number, (result, words) in enumerate(cases, 1):
            one = Page(browser, server.port).open(f"research/{number:032x}")
            one.wait("!!document.querySelector('.job-head .job-line .badge + .badge')")
            assert " ".join(one.text(".job-head .job-line").split()) == f"done {words}"


def test_hostile_reports(browser, tmp_path):
    texts = [text for text in PAYLOADS if "\0" not in text]
    with filled_server("hostile-reports", tmp_path) as server:
        for number, text in enumerate(texts, 1):
            claim = {**evidence(1, text), "claim": text, "quote": text, "url": "javascript:pwned('evidence')", "title": text, "read_at": text, "supported_by": text}
            result = {**result_of(text, [claim]), "report": text, "open_questions": [text], "disputed": [text], "conflicts": [{"claim": text, "one": {"quote": text, "url": text}, "other": {"quote": text, "url": "javascript:pwned('side')"}}]}
            result["metadata"] |= {"model": text, "warnings": [text], "search_queries_used": [text], "stopped": text}
            add_job(tmp_path / "data", number, text, result, {**state_of([claim]), "searches": [text]})
        one = Page(browser, server.port)
        for number in range(1, len(texts) + 1, 3):
            browser.look(360 if number % 2 else 1400, "light")
            one.open(f"research/{number:032x}")
            one.wait("!!document.querySelector('.job-head')")
            for place in range(one.run("document.querySelectorAll('[role=tab]').length")):
                one.run(f"document.querySelectorAll('[role=tab]')[{place}].click()")
                assert not one.too_wide(), (number, place, one.too_wide())
            nothing_happened(one)
