"""What the tests of the research tools share, those with a scripted worker and those with the real ones."""

import json
import os
import pathlib

from http_client import exchange, request
from messages import tool_call
from programs import processes, wait_until


class Place:
    """A home and the folders of the worker in it, all below one folder that is the test's own."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.home = self.folder / "home"
        self.config = self.folder / "config"
        self.temporary = self.folder / "temporary"
        for made in (self.home, self.temporary):
            made.mkdir(exist_ok=True)

    def settings(self, **more):
        return {
            "HOME": self.home,
            "GEMINI_SEARCH_CONFIG_DIR": self.config,
            "XDG_CACHE_HOME": self.folder / "cache",
            "TMPDIR": self.temporary,
            **more,
        }


# ---- calling ----


def research(server, tool, arguments, headers=None):
    """Calls it over REST; the response."""
    return exchange(server.port, request("POST", f"/api/v1/tools/{tool}", headers, arguments))


def search(server, query="How deep is Lake Baikal?"):
    return research(server, "search", {"query": query}).json()


def deep_search(server, topic="How deep is Lake Baikal?", **more):
    return research(server, "deep_search", {"topic": topic, **more}).json()


def start_call(client, tool, arguments, token=None):
    """Calls it over stdio and does not wait; the id."""
    id = client.new_id()
    client.send(tool_call(tool, arguments, id, token))
    return id


def outcome(client, id, patience=180.0):
    """The structured result of a call over stdio; what comes as text is the same."""
    result = client.answer(id, patience)["result"]
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    assert result.get("isError", False) == (not result["structuredContent"]["success"])
    return result["structuredContent"]


def progress(client, token):
    """The words of the progress that was reported so far."""
    return [
        message["params"]["message"]
        for message in client.messages()
        if message.get("method") == "notifications/progress" and message["params"]["progressToken"] == token
    ]


# ---- checks ----


def failed(result, code):
    """The error of a result that must be one, with that code."""
    assert result["success"] is False, result
    error = result["error"]
    assert error["code"] == code, error
    assert isinstance(error["message"], str) and error["message"], error
    assert set(error) <= {"code", "message", "details", "request_id", "retry_after_s"}, error
    return {name: value for name, value in error.items() if name != "request_id"}


def descriptors(pid):
    """How many a process has open, without the files of its records, which stay open from the first call on."""
    links = []
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            links.append(os.readlink(f"/proc/{pid}/fd/{name}"))
        except OSError:
            pass  # it has just been closed
    return sum("/share/forage/" not in link for link in links)


def groups_of(pid):
    """The process groups of the children of a process, without its own."""
    return {group for _, parent, group in processes() if parent == pid} - {os.getpgid(pid)}


def alive_in(groups):
    """How many processes of these groups still run."""
    return sum(group in groups and state not in "ZX" for state, _, group in processes())


def wait_gone(groups, patience):
    wait_until(lambda: alive_in(groups) == 0, patience)
