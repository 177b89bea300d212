"""Links that put forage into a client (`forage setup --link`): each is taken apart as its client does it, and what it names
starts forage. The clients themselves need a desktop; what they take is in their vendors' documentation."""

import base64
import json
import os
import re
import subprocess
import urllib.parse

import pytest
from programs import FORAGE, ROOT, environment, run

CLIENTS = ["cursor", "vscode", "vscode-insiders", "lm-studio", "goose"]
KEY = "serper-key-of-the-links-0123456789"
ENTRY = {"command": "npx", "env": {"FORAGE_TOOLS": "ready"}}


def link(client, *words, **settings):
    done = run("setup", "--link", client, "--json", *words, **settings)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def query(url):
    return urllib.parse.parse_qs(urllib.parse.urlsplit(url).query, strict_parsing=True)


def from_base64(scheme, path):
    def read(url):
        assert url.startswith(f"{scheme}://{path}?"), url
        given = query(url)
        assert given.keys() == {"name", "config"} and given["name"] == ["forage"]
        # Some readers take a plus for a blank, and an equals sign for the end of a name.
        assert re.fullmatch(r"[A-Za-z0-9%]+", url.rpartition("config=")[2]), url
        return json.loads(base64.b64decode(given["config"][0], validate=True))

    return read


def from_json(scheme):
    def read(url):
        assert url.startswith(f"{scheme}:mcp/install?"), url
        entry = json.loads(urllib.parse.unquote(url.partition("?")[2]))
        assert entry.pop("name") == "forage" and entry.pop("type") == "stdio"
        return entry

    return read


def from_words(url):
    assert url.startswith("goose://extension?"), url
    given = query(url)
    assert given.keys() == {"cmd", "arg", "id", "name", "description"} and given["id"] == given["name"] == ["forage"]
    assert given["cmd"][0] in ("npx", "uvx"), "Goose starts nothing else from a link"
    return {"command": given["cmd"][0], "args": given["arg"], "env": {"FORAGE_TOOLS": "ready"}}


READERS = {
    "cursor": from_base64("cursor", "anysphere.cursor-deeplink/mcp/install"),
    "vscode": from_json("vscode"),
    "vscode-insiders": from_json("vscode-insiders"),
    "lm-studio": from_base64("lmstudio", "add_mcp"),
    "goose": from_words,
}
PAGES = {
    "cursor": lambda url: url.replace("https://cursor.com/en/install-mcp?", "cursor://anysphere.cursor-deeplink/mcp/install?"),
    "vscode": lambda url: query(url)["url"][0],
    "vscode-insiders": lambda url: query(url)["url"][0],
    "lm-studio": lambda url: url.replace("https://lmstudio.ai/install-mcp?", "lmstudio://add_mcp?"),
    "goose": lambda url: url.replace("https://goose-docs.ai/extension?", "goose://extension?"),
}


def start(entry, folder):
    """What the entry names, with a package runner that brings this very program."""
    for runner, skip in (("npx", 2), ("uvx", 1)):
        path = folder / runner
        path.write_text(f'#!/bin/sh\n[ "${skip}" = forage-mcp ] || exit 9\nshift {skip}\nexec {FORAGE} "$@"\n')
        path.chmod(0o755)
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "forage_status", "arguments": {}}},
    ]
    variables = environment({"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", **entry["env"]})
    done = subprocess.run(
        [entry["command"], *entry["args"]],
        input="".join(json.dumps(message) + "\n" for message in messages),
        env=variables,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == [1, 2], done.stderr
    return json.loads(answers[1]["result"]["content"][0]["text"])


@pytest.mark.parametrize("client", CLIENTS)
def test_what_a_link_names_starts_forage(client, tmp_path):
    made = link(client)
    entry = READERS[client](made["link"])
    assert {**entry, "args": None} == {**ENTRY, "args": None}
    context = client.removesuffix("-insiders")
    assert entry["args"] == ["-y", "forage-mcp", "mcp", "--context", context]
    assert start(entry, tmp_path)["context"] == context
    # The page opens the same.
    assert PAGES[client](made["page"]) == made["link"] and made["page"].startswith("https://")
    # By uvx as well.
    entry = READERS[client](link(client, "--runner", "uvx")["link"])
    assert start(entry, tmp_path)["context"] == context


@pytest.mark.parametrize("client", ["cursor", "vscode"])
def test_it_is_the_entry_that_setup_writes(client, tmp_path):
    printed = json.loads(run("setup", client, "--print", "--runner", "npx", "--keys", "", HOME=tmp_path).stdout)
    (servers,) = printed.values()
    entry = servers["forage"]
    entry.pop("type", None)
    assert READERS[client](link(client)["link"]) == entry


@pytest.mark.parametrize("client", CLIENTS)
def test_no_key_and_nothing_of_this_machine_is_in_it(client, tmp_path):
    """It is the same wherever it is made, so that what the README has is what everybody gets."""
    settings = {"SERPER_API_KEY": KEY, "FORAGE_TOOLS": "web", "FORAGE_SEARCH_PROVIDERS": "open", "HOME": tmp_path}
    made = link(client, **settings)
    assert made == link(client, SERPER_API_KEY=None)
    assert KEY not in urllib.parse.unquote(urllib.parse.unquote(json.dumps(made)))


def test_other_servers():
    assert READERS["cursor"](link("cursor", "--http", "https://forage.example/mcp")["link"]) == {"url": "https://forage.example/mcp"}
    made = link("vscode", "--http", "https://forage.example/mcp", "--name", "remote")["link"]
    entry = json.loads(urllib.parse.unquote(made.partition("?")[2]))
    assert entry == {"name": "remote", "type": "http", "url": "https://forage.example/mcp"}
    entry = READERS["lm-studio"](link("lm-studio", "--command", "forage")["link"])
    assert (entry["command"], entry["args"]) == ("forage", ["mcp", "--context", "lm-studio"])


@pytest.mark.parametrize(
    "words, said",
    [
        (["--link", "cursro"], "there are links for cursor, vscode, vscode-insiders, lm-studio, goose"),
        (["--link", "claude-code"], "no link for"),
        (["cursor", "--link", "cursor"], 'leave "cursor" out'),
        (["--link", "cursor", "--keys", "SERPER_API_KEY"], "for everybody to read"),
        (["--link", "cursor", "--with-keys"], "for everybody to read"),
        (["--link", "cursor", "--http", "https://a.example/", "--token", "X"], "for everybody to read"),
        (["--link", "cursor", "--runner", "pip"], "npx or uvx"),
        (["--link", "cursor", "--runner", "npx", "--command", "forage"], "no --command"),
        (["--link", "goose", "--http", "https://a.example/mcp"], "nothing from a link but npx and uvx"),
        (["--link", "goose", "--command", "forage"], "nothing from a link but npx and uvx"),
    ],
)
def test_what_makes_no_sense_is_refused(words, said):
    done = run("setup", *words)
    assert done.returncode != 0 and said in done.stderr and not done.stdout


def test_the_readme_has_them():
    readme = (ROOT / "README.md").read_text()
    shown = re.search(r"<!-- links: [^>]*-->\n(.*?)<!-- end of links -->", readme, re.S)[1]
    found = re.findall(r"\[([^]]+)\]\(([^)]+)\)", shown)
    assert found == [(link(client)["title"], link(client)["page"]) for client in CLIENTS]


def test_it_prints_two_lines():
    done = run("setup", "--link", "lm-studio")
    assert done.stdout.splitlines() == [link("lm-studio")["link"], link("lm-studio")["page"]]
