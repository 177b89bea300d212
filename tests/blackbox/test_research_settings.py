"""The settings that forage makes in a worker's folder: made anew where nobody edited them, and never changed where somebody did."""

import json
import stat

import pytest
from fakes import worker as play
from fakes.worker import Worker
from programs import FORAGE, ROOT, Server, Stdio
from research import Place, outcome, search, start_call

QUESTION = "How deep is Lake Baikal?"


def old_settings(place, command, edited):
    """The settings that forage made, as if the program had been elsewhere then; edited by the user, or not."""
    path = place.config / ".gemini" / "settings.json"
    text = path.read_text().replace(json.dumps(FORAGE), json.dumps(command))
    path.write_text(text.replace('"timeout": 60000', '"timeout": 60001') if edited else text)
    return path


@pytest.fixture
def moved(tmp_path):
    """A place whose folder forage made, and what it is started with."""
    place = Place(tmp_path)
    worker = Worker(tmp_path / "worker", play.answer(play.result()))
    settings = place.settings(GEMINI_CLI_PATH=worker.path)
    with Server(**settings):
        return place, settings


def test_settings_of_a_program_that_moved_are_made_anew(moved):
    place, settings = moved
    path = place.config / ".gemini" / "settings.json"
    made = path.read_text()
    old_settings(place, "/proc/nonexistent/forage", edited=False)
    with Server(**settings) as server:
        assert "warnings" not in search(server)["metadata"]
    assert path.read_text() == made and stat.S_IMODE(path.stat().st_mode) == 0o600
    other = place.folder / "forage"
    other.symlink_to(FORAGE)
    old_settings(place, str(other), edited=False)
    with Server(**settings) as server:
        assert search(server)["success"]
    assert str(other) in path.read_text(), "a program that is there may be another installation"


def test_settings_of_claude_code_are_made_anew_too(moved):
    place, settings = moved
    settings = {**settings, "FORAGE_RESEARCH_WORKER": "claude", "CLAUDE_CLI_PATH": settings["GEMINI_CLI_PATH"]}
    with Server(**settings):
        path = place.config / ".claude" / "mcp.json"
        made = path.read_text()
    path.write_text(made.replace(json.dumps(FORAGE), '"/proc/nonexistent/forage"'))
    with Server(**settings):
        assert path.read_text() == made


def test_settings_of_an_older_forage_are_made_anew(moved):
    place, settings = moved
    path = place.config / ".gemini" / "settings.json"
    made = path.read_text()
    older = (ROOT / "tests" / "fixtures" / "0.8.0" / "gemini-settings.json.template").read_text()
    for edit, kept in ((lambda text: text, False), (lambda text: text.replace("100", "50"), True)):
        text = edit(older.replace("{{program}}", json.dumps(FORAGE)))
        path.write_text(text)
        with Server(**settings) as server:
            assert search(server)["success"]
        assert path.read_text() == (text if kept else made)


def test_edited_settings_with_a_dead_command_are_told(moved):
    place, settings = moved
    made = (place.config / ".gemini" / "settings.json").read_text()
    path = old_settings(place, "/proc/nonexistent/forage", edited=True)
    text = path.read_text()
    told = [f"{path} starts /proc/nonexistent/forage,", f'"command": "{FORAGE}"']
    with Stdio(**settings) as client:
        client.handshake()
        result = outcome(client, start_call(client, "search", {"query": QUESTION}))
        status = outcome(client, start_call(client, "forage_status", {}))
        assert all(words in client.log.text() for words in told)
    for (warning,) in (result["metadata"]["warnings"], status["warnings"]):
        assert all(words in warning for words in told), warning
    with Server(**settings) as server:
        (warning,) = search(server)["metadata"]["warnings"]
        assert str(place.config) not in warning and "[path] starts [path]" in warning
    assert path.read_text() == text
    path.write_text(made)
    with Server(**settings) as server:
        assert "warnings" not in search(server)["metadata"]
    linked = path.rename(place.folder / "linked.json")
    path.symlink_to(linked)
    text = old_settings(place, "/proc/nonexistent/forage", edited=False).read_text()
    with Server(**settings) as server:
        assert "is no program" in search(server)["metadata"]["warnings"][0], "what a link leads to is the user's"
    assert path.is_symlink() and path.read_text() == text
