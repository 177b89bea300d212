"""Memories in the dashboard, by clicks and keys: what a reader finds, and what the store has of what was done."""

import json
import sqlite3

import pytest
from filling import ask, filled_server
from pages import Page
from people import ALICE, BOB, OPERATOR, THREE
from programs import wait_until
from remembering import NOTES, bring, memories
from test_actions import sign_in
from test_hostile import PAYLOADS, WORD, nothing_happened

FETCH = """
window.fetch = new Proxy(window.fetch, { apply: async (to, self, args) => {
  const answer = await to.apply(self, args);
  if (!String(args[0]).endsWith("/memory_stats")) return answer;
  const body = await answer.json();
  for (const space of body.data.namespaces) space.indexed = Math.floor(space.memories / 2);
  return new Response(JSON.stringify(body), { status: 200 });
} });
"""


@pytest.fixture
def server(tmp_path):
    with filled_server("memories", tmp_path) as one:
        bring(one, memories(60, 20))
        bring(one, [{"key": "plan", "text": "Ship in June.", "namespace": "project"}])
        yield one


@pytest.fixture
def view(browser, server):
    """A function that opens the view at an address."""
    opened = []

    def opener(address="memories", width=1400):
        browser.look(width, "light")
        opened.append(Page(browser, server.port).open(address))
        return opened[-1]

    yield opener
    for one in opened:
        assert not one.problems(), one.problems()[:5]


def call(server, tool, **arguments):
    return ask(server, "POST", f"/api/v1/tools/{tool}", arguments)["data"]


def read(server, key, **more):
    return call(server, "memory_get", key=key, **more)["results"][0]


def rows(page):
    return page.run("[...document.querySelectorAll('.memory-row')].map((one) => one.dataset.key)")


# ---- finding ----


def test_by_namespace_tag_and_time(view, server):
    one = view()
    one.wait("document.querySelectorAll('.memory-row').length > 5")
    assert rows(one)[:3] == [key for key, *_ in NOTES[:3]], "newest first"
    one.wait_text("60 memories, newest first")
    kitchen = call(server, "memory_list", tags="kitchen")["pagination"]["total"]
    one.click("kitchen")
    one.wait_text(f"{kitchen} memories, newest first")
    assert one.run("document.querySelector('.chip[aria-pressed=true]').textContent").startswith("kitchen")
    one.click("Take away the filter")
    one.wait_text("60 memories, newest first")
    one.fill("When", "last week")
    one.press("Enter")
    found = call(server, "memory_list", time="last week")["pagination"]["total"]
    one.wait_text(f"{found} memories, newest first")
    one.click("Take away the filter")
    one.choose("Namespace", "project")
    one.wait_text("1 memory, newest first")
    assert rows(one) == ["plan"]


def test_the_timeline_by_keys(view, server):
    one = view()
    one.wait("!!document.querySelector('.timeline .when')")
    one.run("document.querySelector('.timeline [tabindex=\"0\"]').focus()")
    one.press("Home")
    oldest = one.focused()
    one.press("End", "Enter")
    one.wait("!!document.querySelector('.narrowed .chip')")
    today = call(server, "memory_list", **{name: one.run(f"new URLSearchParams(location.hash.split('?')[1]).get('{name}')") for name in ("from", "until")})
    one.wait_text(f"{today['pagination']['total']} memor")
    assert oldest != one.focused()


def test_searching_as_agents_do(view, server):
    one = view()
    one.fill("Search", "how hot does the oven run")
    one.wait("document.querySelectorAll('.hit').length > 0")
    expected = call(server, "memory_search", query="how hot does the oven run", limit=20)
    one.wait_text(f"{expected['pagination']['total']} found, ranked by words")
    assert one.run("[...document.querySelectorAll('.hit-open')].map((one) => one.dataset.key)") == [hit["key"] for hit in expected["results"]]
    one.click("Why it was found")
    one.wait_text("from its words (")
    one.wait_text("of the question's words, by their weight")
    assert not one.axe(), one.axe()
    one.run("document.querySelector('.hit-open').click()")
    one.wait(f"document.querySelector('.detail-key')?.textContent.startsWith({json.dumps(expected['results'][0]['key'])})")
    one.fill("Search", "zzzzqqqq")
    one.wait_text("Nothing found.")


def test_keys(view):
    one = view()
    one.wait("document.querySelectorAll('.memory-row').length > 5")
    one.press("/")
    assert one.run("document.activeElement.type") == "search"
    one.run("document.querySelector('.memory-row').focus()")
    one.press("ArrowDown", "ArrowDown", "Enter")
    one.wait(f"document.querySelector('.detail-key')?.textContent.startsWith({json.dumps(NOTES[2][0])})")
    assert one.run("document.querySelectorAll('.memory-row[aria-current]').length") == 1
    one.press("Escape")
    one.wait_text("Choose a memory to read it.")
    assert one.run("document.activeElement.dataset.key") == NOTES[2][0]


# ---- changing ----


def test_adding(view, server):
    one = view()
    one.click("Add")
    one.fill("Text", "The bakery closes at six.")
    one.fill("Key", "bakery")
    one.fill("Tags", "town")
    one.press("Enter")
    one.fill("Tags", "bread")
    assert not one.axe(), one.axe()
    one.click("Add")
    one.wait_text("Added.")
    stored = read(server, "bakery")
    assert stored["text"] == "The bakery closes at six." and stored["tags"] == ["town", "bread"]
    one.wait("document.querySelector('.memory-row')?.dataset.key === 'bakery'")


def test_editing(view, server):
    one = view("memories?key=oven")
    one.click("Edit")
    one.fill("Text", "The oven runs 30 degrees hot.")
    one.fill("Summary", "Oven: 30 degrees")
    one.click("Take away the tag bread")
    one.fill("Metadata", "{broken")
    one.click("Save")
    one.wait_text("Metadata is not JSON")
    one.fill("Metadata", '{"by": "Ada"}')
    one.click("Save")
    one.wait_text("Saved.")
    stored = read(server, "oven")
    assert (stored["text"], stored["summary"], stored["tags"], stored["metadata"], stored["version"]) == (
        "The oven runs 30 degrees hot.", "Oven: 30 degrees", ["kitchen"], {"by": "Ada"}, 2
    )  # fmt: skip


def test_somebody_else_was_faster(view, server):
    one = view("memories?key=oven")
    one.expected = ("409",)
    one.click("Edit")
    one.fill("Text", "Mine.")
    call(server, "memory_update", key="oven", text="Theirs.")
    one.click("Save")
    one.wait("!!document.querySelector('dialog .bad-text')")
    assert read(server, "oven")["text"] == "Theirs."
    one.click("Cancel")


def test_renaming(view, server):
    one = view("memories?key=oven")
    one.expected = ("409",)
    one.click("Rename")
    one.fill("Key", "tone")
    one.press("Enter")
    one.wait("!!document.querySelector('dialog .bad-text')")
    one.fill("Key", "stove")
    one.press("Enter")
    one.wait_text("Renamed to stove.")
    assert read(server, "stove")["text"] == NOTES[1][1]
    assert call(server, "memory_get", keys=["oven"])["missing"] == ["oven"]


def test_restoring_a_version(view, server):
    call(server, "memory_update", key="oven", text="The second text.")
    one = view("memories?key=oven")
    one.click("Earlier versions")
    one.wait_text("Version 1")
    one.click("The oven runs 20 degrees hot", "summary")
    one.click("Restore version 1")
    one.wait_text("Version 1 is back, as version 3.")
    assert read(server, "oven")["text"] == NOTES[1][1] and read(server, "oven")["version"] == 3


def test_deleting_is_asked_once(view, server):
    one = view("memories?key=oven")
    one.click("Delete")
    one.wait_text("Delete this memory?")
    one.click("Cancel")
    assert read(server, "oven")["key"] == "oven"
    one.click("Delete")
    one.click("Delete")
    one.wait_text("Deleted.")
    assert call(server, "memory_get", keys=["oven"])["missing"] == ["oven"]
    one.wait("![...document.querySelectorAll('.memory-row')].some((one) => one.dataset.key === 'oven')")


# ---- moving ----


def give_file(browser, path):
    document = browser.ask("DOM.getDocument")["root"]["nodeId"]
    node = browser.ask("DOM.querySelector", nodeId=document, selector="dialog input[type=file]")["nodeId"]
    browser.ask("DOM.setFileInputFiles", files=[str(path)], nodeId=node)


def test_importing_and_exporting(view, browser, server, tmp_path):
    lines = [{"key": f"new{number}", "text": f"Brought {number}.", "namespace": "brought"} for number in range(7)]
    (tmp_path / "some.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "wrong.jsonl").write_text('{"key": "a"}\n')
    one = view()
    one.expected = ("400",)
    one.click("Import")
    give_file(browser, tmp_path / "wrong.jsonl")
    one.click("Import")
    one.wait("!!document.querySelector('dialog .bad-text')")
    give_file(browser, tmp_path / "some.jsonl")
    one.click("Import")
    one.wait_text("7 added, 0 replaced, 0 unchanged.")
    assert call(server, "memory_list", namespace="brought")["pagination"]["total"] == 7
    one.wait("!!document.querySelector('option[value=brought]')")
    one.choose("Namespace", "brought")
    one.wait_text("7 memories, newest first")
    browser.ask("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path / "out"))
    one.click("Export")
    one.click("Export")
    one.wait_text("on its way to your downloads")
    wanted = tmp_path / "out" / "memories-brought.jsonl"
    wait_until(lambda: wanted.exists() and wanted.stat().st_size)
    assert {json.loads(line)["key"] for line in wanted.read_text().splitlines()} == {line["key"] for line in lines}


# ---- what is wrong ----


def test_damaged_and_unindexed_ones_are_shown(view, browser, server):
    with sqlite3.connect(server.folder / "data" / "memory.db") as file:
        file.execute("UPDATE memory SET text = text || '!' WHERE key = 'rye'")
    file.close()
    script = browser.ask("Page.addScriptToEvaluateOnNewDocument", source=FETCH)["identifier"]
    one = view()
    browser.ask("Page.removeScriptToEvaluateOnNewDocument", identifier=script)
    one.wait_text("One memory is damaged: rye")
    one.wait("[...document.querySelectorAll('.memory-row')].some((one) => one.dataset.key === 'rye' && one.textContent.includes('damaged'))")
    one.click("rye", "button.link")
    one.wait_text("its text is not what was stored")
    one.wait_text("Searches see 30 of 60 memories")


# ---- very many ----


def test_ten_thousand_scroll(page):
    one = page("huge", "memories")
    one.wait("document.querySelectorAll('.memory-row').length > 5")
    box = "document.querySelector('.virtual')"
    most = 0
    for share in (0.1, 0.5, 0.9, 0.3, 1):
        one.run(f"{box}.scrollTop = {share} * {box}.scrollHeight")
        one.wait(f"(() => {{ const box = {box}.getBoundingClientRect(); const one = document.elementFromPoint(box.x + 40, box.y + box.height / 2); return !!one?.closest('.memory-row'); }})()")
        most = max(most, one.run("document.querySelectorAll('.virtual-row').length"))
    assert most < 60, "only what is seen exists"
    assert one.run("Number([...document.querySelectorAll('.virtual-row')].at(-1).getAttribute('aria-setsize'))") == 10_000
    one.click("Older")
    one.wait_text("10,001 to 10,001")
    one.wait("document.querySelectorAll('.memory-row').length === 1")


def test_a_text_of_a_million_letters(page):
    one = page("huge", "memories?key=" + "k" * 1000)
    one.click("Read all 1,000,000 characters")
    one.wait("document.querySelector('.detail .text').textContent.length >= 200000")
    assert not one.too_wide()


# ---- strangers ----


def test_hostile_memories(browser, tmp_path):
    texts = [text for text in PAYLOADS if "\0" not in text]
    lines = [{"key": f"{number} {text[:200]}", "text": text, "summary": text[:1000], "tags": [text[:60]], "session": text[:100], "role": text[:100], "metadata": {text[:50]: text}} for number, text in enumerate(texts)]
    with filled_server("hostile-memories", tmp_path) as server:
        bring(server, lines)
        bring(server, [{"key": "word", "text": WORD[:900_000], "namespace": "<img src=x onerror=pwned('space')>"}])
        one = Page(browser, server.port)
        for width in (1400, 360):
            browser.look(width, "light")
            one.open("memories")
            one.wait("document.querySelectorAll('.memory-row').length > 5")
            nothing_happened(one)
        for line in lines[::4]:
            one.open(f"memories?key={''.join(f'%{byte:02x}' for byte in line['key'].encode())}")
            one.wait("!!document.querySelector('.detail-key')")
            one.run("for (const one of document.querySelectorAll('.detail summary')) one.click()")
            nothing_happened(one)
        one.open("memories?q=script%20click%20picture")
        one.wait("document.querySelectorAll('.hit').length > 0")
        nothing_happened(one)


# ---- whose they are ----


def test_an_operator_sees_those_of_others(browser, tmp_path):
    with filled_server("of-others", tmp_path, FORAGE_TOKENS=THREE) as server:
        bring(server, [{"key": "of-alice", "text": "Alice sails."}], ALICE)
        bring(server, [{"key": "of-bob", "text": "Bob rows."}], BOB)
        one = sign_in(browser, server, OPERATOR, "memories")
        one.wait_text("Nothing is remembered here yet.")
        one.choose("Shows", "alice")
        one.wait_text("of-alice")
        assert "of-bob" not in one.text()
        assert not one.problems(), one.problems()
        browser.ask("Network.clearBrowserCookies")
