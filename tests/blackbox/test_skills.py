"""The skill: what it says, how large it is, and the extension of MCP that serves it (SEP-2640), beside the conformance
suite's own scenarios. Who does not know the extension sees nothing new."""

import hashlib
import json
import os
import re
import subprocess

import pytest
from conftest import report
from http_client import exchange, request
from messages import CAPABILITIES, INVALID_PARAMS, METHOD_NOT_FOUND, modern, modern_headers
from programs import CONFORMANCE, ROOT, Server, Stdio
from skills_ref import parser, validate

EXTENSION = "io.modelcontextprotocol/skills"
FOLDER = ROOT / "plugin" / "skills" / "forage"
MAIN = "skill://forage/SKILL.md"
MOST_TOKENS = 2_000
KNOWN = {CAPABILITIES: {"extensions": {EXTENSION: {}}}}
MODULES = os.environ.get("FORAGE_NODE_MODULES", ROOT / ".deps" / "node" / "node_modules")


class Client:
    """Speaks the modern era with a program over one of the transports."""

    def __init__(self, program):
        self.program = program

    def ask(self, method, params=None, **more_meta):
        message = modern(method, params, **more_meta)
        if isinstance(self.program, Stdio):
            return self.program.ask(method, message["params"])
        return exchange(self.program.port, request(headers=modern_headers(message), body=message)).json()

    def result(self, method, params=None, **more_meta):
        answer = self.ask(method, params, **more_meta)
        assert answer["result"]["resultType"] == "complete", answer
        return answer["result"]

    def error(self, method, params=None):
        return self.ask(method, params)["error"]


@pytest.fixture(scope="module", params=["stdio", "http"])
def client(request):
    with (Stdio if request.param == "stdio" else Server)() as program:
        yield Client(program)


# ---- the extension ----


def test_the_skill_is_announced(client):
    capabilities = client.result("server/discover")["capabilities"]
    assert capabilities["extensions"][EXTENSION] == {"directoryRead": True}
    assert "resources" in capabilities


def test_the_entry_is_true_to_the_byte(client):
    """Every file of the plugin's folder is named once, with the digest and the size of what can be read."""
    listed = client.result("skills/list")
    assert listed["ttlMs"] > 0 and listed["cacheScope"] == "private" and "nextCursor" not in listed
    (entry,) = listed["skills"]
    assert entry.keys() == {"uri", "frontmatter", "resources"} and entry["uri"] == MAIN
    got = client.result("skills/get", {"uri": MAIN})
    assert got["skill"] == entry and got["ttlMs"] > 0 and "nextCursor" not in got
    named = {one["uri"]: one for one in entry["resources"]}
    files = {f"skill://forage/{path.relative_to(FOLDER)}": path for path in FOLDER.rglob("*") if path.is_file()}
    assert named.keys() == files.keys() and len(entry["resources"]) == len(files)
    for uri, path in files.items():
        (content,) = client.result("resources/read", {"uri": uri})["contents"]
        data = content["text"].encode()
        assert data == path.read_bytes() and content["mimeType"] == "text/markdown"
        assert named[uri]["size"] == len(data)
        assert named[uri]["digest"] == "sha256:" + hashlib.sha256(data).hexdigest()


def test_the_head_is_what_a_reader_of_yaml_sees(client):
    (entry,) = client.result("skills/list")["skills"]
    head, _ = parser.parse_frontmatter((FOLDER / "SKILL.md").read_text())
    assert entry["frontmatter"] == head and head["name"] == "forage"


def test_directories_are_read(client):
    root = client.result("resources/directory/read", {"uri": "skill://forage"})
    assert "ttlMs" not in root
    assert [(item["uri"], item["name"], item["mimeType"]) for item in root["resources"]] == [
        (MAIN, "forage", "text/markdown"),
        ("skill://forage/references", "references", "inode/directory"),
    ]
    below = client.result("resources/directory/read", {"uri": "skill://forage/references"})["resources"]
    assert [item["uri"] for item in below] == ["skill://forage/references/parameters.md"]


@pytest.mark.parametrize(
    "method, uri",
    [
        ("skills/get", "skill://forage"),
        ("skills/get", "skill://forage/references/parameters.md"),
        ("skills/get", "skill://forager/SKILL.md"),
        ("skills/get", "forage://guide"),
        ("resources/directory/read", MAIN),
        ("resources/directory/read", "skill://forage/"),
        ("resources/directory/read", "skill://forage/ref"),
        ("resources/directory/read", "skill://forage/references/"),
        ("resources/directory/read", "skill://forager"),
        ("resources/directory/read", "skill://"),
        ("resources/read", "skill://forage"),
        ("resources/read", "skill://forage/references"),
        ("resources/read", "skill://forage/../forage/SKILL.md"),
    ],
)
def test_what_is_not_there_is_an_error(client, method, uri):
    error = client.error(method, {"uri": uri})
    assert error["code"] == INVALID_PARAMS and error["data"]["uri"] == uri and uri in error["message"]


def test_a_uri_is_needed(client):
    for method in ("skills/get", "resources/directory/read"):
        for params in ({}, {"uri": 5}):
            assert client.error(method, params)["code"] == INVALID_PARAMS
    assert client.error("skills/list", {"cursor": "p7"})["code"] == INVALID_PARAMS


def test_lists_name_it_to_those_who_know_it(client):
    usual = client.result("resources/list")["resources"]
    assert [one["uri"] for one in usual] == ["forage://guide", "forage://status"]
    more = client.result("resources/list", **KNOWN)["resources"]
    (added,) = [one for one in more if one not in usual]
    (entry,) = client.result("skills/list")["skills"]
    assert added["uri"] == MAIN and added["mimeType"] == "text/markdown"
    assert (added["name"], added["description"]) == ("forage", entry["frontmatter"]["description"])


def test_folders_within_folders():
    """Of the skill that the conformance suite walks through: each folder once, and nothing of the next level."""
    with Stdio(program=CONFORMANCE) as stdio:
        client = Client(stdio)
        names = {}
        for uri in ("skill://test-skill", "skill://test-skill/templates", "skill://test-skill/templates/old"):
            children = client.result("resources/directory/read", {"uri": uri})["resources"]
            assert all(child["uri"].startswith(uri + "/") for child in children)
            names[uri.rpartition("/")[2]] = [(child["name"], child["mimeType"]) for child in children]
    assert names == {
        "test-skill": [("test-skill", "text/markdown"), ("templates", "inode/directory")],
        "templates": [("letter.md", "text/markdown"), ("old", "inode/directory")],
        "old": [("letter.md", "text/markdown"), ("note.txt", "text/plain")],
    }


# ---- everybody else ----


def test_older_clients_see_nothing_new():
    with Stdio() as stdio:
        assert "extensions" not in stdio.handshake()["capabilities"]
        resources = stdio.ask("resources/list")["result"]["resources"]
        assert [one["uri"] for one in resources] == ["forage://guide", "forage://status"]
        for method in ("skills/list", "skills/get", "resources/directory/read"):
            assert stdio.ask(method, {"uri": MAIN})["error"]["code"] == METHOD_NOT_FOUND
        # It is a resource like any other for whoever was told of it.
        assert stdio.ask("resources/read", {"uri": MAIN})["result"]["contents"][0]["mimeType"] == "text/markdown"


def test_the_guide_is_the_skill_without_its_head(client):
    (guide,) = client.result("resources/read", {"uri": "forage://guide"})["contents"]
    (skill,) = client.result("resources/read", {"uri": MAIN})["contents"]
    assert guide["text"].startswith("# ") and skill["text"].partition("\n---\n\n")[2] == guide["text"]


# ---- what it says ----


def test_the_reference_validator_takes_it():
    assert validate(FOLDER) == []


def tokens(*texts):
    counter = [os.path.join(MODULES, ".bin", "node"), ROOT / "bench" / "count_tokens.mjs", os.path.join(MODULES, "gpt-tokenizer")]
    done = subprocess.run(counter, input=json.dumps(texts), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_it_is_small():
    (count,) = tokens((FOLDER / "SKILL.md").read_text())
    report(f"the skill: {count} tokens (at most {MOST_TOKENS})")
    assert count <= MOST_TOKENS


def names_in(schema):
    """Every member that a schema names."""
    for name, part in schema.get("properties", {}).items():
        yield name
        yield from names_in(part)
    if "items" in schema:
        yield from names_in(schema["items"])


def test_it_names_only_what_there_is():
    """Tools, parameters, members of results and codes of errors: each word in backticks is one of them."""
    known = {"success", "error", "code", "message", "retry_after_s"}
    for path in (ROOT / "src" / "tools").glob("*.json"):
        tool = json.loads(path.read_text())
        if "profile" not in tool["forage"]:
            known |= {tool["name"], *names_in(tool["inputSchema"]), *names_in(tool["outputSchema"])}
    known |= set(re.findall(r'#define CODE_\w+ +"(\w+)"', (ROOT / "src/call/errors.h").read_text()))
    text = re.sub(r"<!-- tools:.*end of tools -->", "", (FOLDER / "SKILL.md").read_text(), flags=re.S)
    said = [word for quoted in re.findall(r"`([^`]+)`", text) for word in re.findall(r"^[A-Za-z_]+(?=$|:)", quoted)]
    assert len(said) > 60
    assert sorted(set(said) - known - {"skill"}) == []


def test_it_tells_of_every_tool():
    with Stdio() as stdio:
        listed = [tool["name"] for tool in stdio.ask("tools/list")["result"]["tools"]]
    for path in (FOLDER / "SKILL.md", FOLDER / "references" / "parameters.md"):
        text = path.read_text()
        assert all(f"`{name}`" in text or f"## {name}\n" in text for name in listed), path
