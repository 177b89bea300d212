"""The manifests of the plugin, before the vendors' own programs: each takes them as they are, and none of them with a wrong
field. Where a program lets everything pass, or there is none, a list of what the vendor documents stands in for it.

tests/clients runs the plugin in the same programs, with a model."""

import json
import re

import jsonschema
import pytest
from conftest import PARTS, ROOT

VERSION = re.search(r"version: '([^']+)'", (ROOT / "meson.build").read_text())[1]
MANIFESTS = sorted(path for part in PARTS for path in (ROOT / part).rglob("*.json"))


def load(path):
    return json.loads((ROOT / path).read_text())


# ---- Claude Code ----


def test_claude_code_takes_both(copy, claude):
    for path in (copy.plugin, copy.root):
        done = claude("plugin", "validate", path, "--strict")
        assert done.returncode == 0 and "Validation passed" in done.stdout, done.stdout
    # What the vendor's directory of plugins refuses. It would also like a picture, which is a warning.
    assert claude("plugin", "validate", copy.plugin, "--profile", "directory").returncode == 0


def drop(*names):
    def change(manifest):
        for name in names:
            del manifest[name]

    return change


def put(**more):
    return lambda manifest: manifest.update(more)


def serve(**more):
    """Changes the entry of the server."""
    return lambda manifest: manifest["mcpServers"]["forage"].update(more)


@pytest.mark.parametrize(
    "path, change, what",
    [
        ("plugin/.claude-plugin/plugin.json", put(descripton="x"), "plugin"),
        ("plugin/.claude-plugin/plugin.json", drop("name"), "plugin"),
        ("plugin/.claude-plugin/plugin.json", put(version=8), "plugin"),
        ("plugin/.claude-plugin/plugin.json", put(author="somebody"), "plugin"),
        (".claude-plugin/marketplace.json", drop("owner"), "."),
        (".claude-plugin/marketplace.json", drop("description"), "."),
        (".claude-plugin/marketplace.json", lambda manifest: manifest["plugins"][0].pop("source"), "."),
        ("plugin/.mcp.json", serve(command=5), "plugin"),
        ("plugin/.mcp.json", serve(args="--context"), "plugin"),
    ],
)
def test_claude_code_refuses_a_wrong_field(copy, claude, path, change, what):
    copy.change(path, change)
    done = claude("plugin", "validate", copy.root / what, "--strict")
    assert done.returncode != 0, done.stdout


def test_claude_code_refuses_a_wrong_skill(copy, claude):
    skill = copy.plugin / "skills/forage/SKILL.md"
    skill.write_text(skill.read_text().replace("description: ", "descripton: ", 1))
    done = claude("plugin", "validate", copy.plugin, "--strict")
    assert done.returncode != 0 and "description" in done.stdout, done.stdout


# ---- Gemini CLI ----

# docs/extensions/reference.md of Gemini CLI 0.61. Its validator looks at names, versions and files of context alone.
GEMINI = {"name", "version", "description", "mcpServers", "contextFileName", "excludeTools", "settings", "themes", "plan", "migratedTo"}
GEMINI_SERVER = {"command", "args", "env", "cwd", "timeout", "url", "httpUrl", "headers", "description", "includeTools", "excludeTools"}


def gemini_problems(manifest):
    """What is in it that Gemini CLI would pass over without a word."""
    servers = manifest.get("mcpServers", {}).values()
    unknown = (manifest.keys() - GEMINI) | {name for server in servers for name in server.keys() - GEMINI_SERVER}
    return sorted(unknown) + ["no mcpServers"] * (not servers)


def test_gemini_cli_takes_it(copy, gemini):
    done = gemini("extensions", "validate", copy.plugin)
    assert done.returncode == 0 and "successfully validated" in done.stdout and "arning" not in done.stdout, done.stdout
    assert gemini_problems(load("plugin/gemini-extension.json")) == []


@pytest.mark.parametrize("change", [drop("version"), drop("name"), put(name="../x"), put(contextFileName="GEMINI.md")])
def test_gemini_cli_refuses_a_wrong_field(copy, gemini, change):
    copy.change("plugin/gemini-extension.json", change)
    done = gemini("extensions", "validate", copy.plugin)
    assert done.returncode != 0, done.stdout


@pytest.mark.parametrize("change", [put(mcpServer={}), serve(trust=True), serve(arguments=[]), drop("mcpServers")])
def test_what_gemini_cli_passes_over_is_found_here(change):
    manifest = load("plugin/gemini-extension.json")
    change(manifest)
    assert gemini_problems(manifest) != []


# ---- Agent Plugins 1.0.0: Codex, and by the specification ----


def install(codex, copy):
    """What `codex mcp list` shows once the plugin is installed."""
    for words in (("marketplace", "add", copy.root), ("add", "forage@forage")):
        done = codex("plugin", *words)
        if done.returncode != 0:
            return done.stdout
    return codex("mcp", "list").stdout


def test_codex_takes_it(copy, codex):
    shown = install(codex, copy)
    (line,) = [line for line in shown.splitlines() if line.startswith("forage ")]
    # From the manifest that it shares with other clients, not from the one of Claude Code.
    assert "/bin/forage-mcp" in line and "PLUGIN_ROOT" in line and "claude" not in line.replace("claude-plugin", ""), line
    assert f"/{VERSION}/" in line, "it was installed as another version"


@pytest.mark.parametrize(
    "path, change",
    [
        ("plugin/plugin.json", put(name="For Age")),
        ("plugin/plugin.json", put(author="somebody")),
        ("plugin/plugin.json", put(**{"$schema": "https://agent-plugins.org/schemas/9.9.9/plugin.schema.json"})),
        ("plugin/mcp.json", put(**{"$schema": "https://agent-plugins.org/schemas/1.1.0/mcp.schema.json"})),
        ("plugin/mcp.json", serve(type="pipe")),
        ("plugin/mcp.json", serve(command="../forage")),
        ("plugin/mcp.json", serve(arguments=[])),
        (".claude-plugin/marketplace.json", lambda manifest: manifest["plugins"][0].update(source="./plug")),
    ],
)
def test_codex_refuses_a_wrong_field(copy, codex, path, change):
    copy.change(path, change)
    shown = install(codex, copy)
    assert not [line for line in shown.splitlines() if line.startswith("forage ") and "forage-mcp" in line], shown


# The specification's sections 5 and 7.2, in the words of JSON Schema: closed lists.
TEXT, TEXTS = {"type": "string"}, {"type": "array", "items": {"type": "string"}}
SCHEMAS = "https://agent-plugins.org/schemas/1.0.0/"
AUTHOR = {"type": "object", "properties": {"name": TEXT, "email": TEXT, "url": TEXT}, "additionalProperties": False}
NAME = {"type": "string", "maxLength": 64, "pattern": r"^(?!.*(--|\.\.))[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"}
PLUGIN = {
    "type": "object",
    "properties": {
        "$schema": {"const": SCHEMAS + "plugin.schema.json"},
        "name": NAME,
        **dict.fromkeys(("version", "description", "homepage", "repository", "license"), TEXT),
        "author": AUTHOR,
        "keywords": TEXTS,
        "extensions": {"type": "object", "additionalProperties": {"type": "object"}},
    },
    "required": ["$schema", "name"],
    "additionalProperties": False,
}
STDIO = {
    "type": "object",
    "properties": {
        "type": {"const": "stdio"},
        "command": {"type": "string", "pattern": r"^(\./(?!.*\.\.)|[^/.$][^/$]*$)"},
        "args": TEXTS,
        "env": {"type": "object", "additionalProperties": TEXT},
        "cwd": {"type": "string", "pattern": r"^(\./|\$\{PLUGIN_(ROOT|DATA)\}(/|$))"},
    },
    "required": ["type", "command"],
    "additionalProperties": False,
}
SERVERS = {
    "type": "object",
    "properties": {
        "$schema": {"const": SCHEMAS + "mcp.schema.json"},
        "mcpServers": {"type": "object", "additionalProperties": STDIO},
    },
    "required": ["$schema", "mcpServers"],
    "additionalProperties": False,
}
SPECIFIED = {"plugin/plugin.json": PLUGIN, "plugin/mcp.json": SERVERS}


@pytest.mark.parametrize("path", SPECIFIED)
def test_the_common_format_is_as_specified(path):
    jsonschema.validate(load(path), SPECIFIED[path])


@pytest.mark.parametrize(
    "path, change",
    [
        ("plugin/plugin.json", put(displayName="Forage")),
        ("plugin/plugin.json", put(name="for--age")),
        ("plugin/plugin.json", put(mcpServers={})),
        ("plugin/mcp.json", serve(command="bin/forage-mcp")),
        ("plugin/mcp.json", serve(command="./../forage")),
        ("plugin/mcp.json", serve(type="http")),
        ("plugin/mcp.json", drop("$schema")),
    ],
)
def test_a_wrong_field_is_not_as_specified(path, change):
    manifest = load(path)
    change(manifest)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(manifest, SPECIFIED[path])


def test_a_finder_of_plugins_finds_it(copy, plugins):
    for path in (copy.plugin, copy.root):
        done = plugins("discover", path)
        assert done.returncode == 0 and re.search(r"forage +1 skill, mcp ", done.stdout), done.stdout
    (copy.plugin / "skills/forage/SKILL.md").unlink()
    assert "1 skill" not in plugins("discover", copy.plugin).stdout


# ---- all of them ----


def test_there_is_no_manifest_that_nobody_validates():
    validated = {"marketplace.json", "plugin.json", ".mcp.json", "mcp.json", "gemini-extension.json"}
    assert {path.name for path in MANIFESTS} == validated and len(MANIFESTS) == 6


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_manifest_has_the_version_and_no_secret(path):
    text = path.read_text()
    manifest = json.loads(text)
    assert manifest.get("version", VERSION) == VERSION
    assert not re.search(r"_(KEY|TOKEN|SECRET|PASSWORD)|Bearer", text)
    for server in manifest.get("mcpServers", {}).values():
        assert server["command"].endswith("/bin/forage-mcp") and "env" not in server
