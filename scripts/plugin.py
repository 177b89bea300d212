"""The manifests of plugin/: forage as a plugin of Claude Code, of Gemini CLI, and of the clients that know Agent Plugins
1.0.0, Codex among them. One table of what they say; scripts/docs writes them, and notices when they are not up to date.

All of them start plugin/bin/forage-mcp, each by the name that its client has for the plugin's folder.
"""

import json

ABOUT = {
    "name": "forage",
    "description": "Search, reading, research, answers with sources, and memory for agents.",
    "author": {"name": "forage contributors"},
    "license": "MIT",
    "keywords": ["search", "web", "research", "reading", "memory", "mcp"],
}
SCHEMAS = "https://agent-plugins.org/schemas/1.0.0/"


def server(folder, context=None, **more):
    """An entry that starts forage, for a client that replaces `folder` by where the plugin is."""
    arguments = {"args": ["--context", context]} if context else {}
    return {"mcpServers": {"forage": {**more, "command": f"{folder}/bin/forage-mcp", **arguments}}}


def manifests(version):
    """Every manifest, by its path from the root."""
    about = {"name": ABOUT["name"], "version": version, **ABOUT}
    brief = {key: about[key] for key in ("name", "version", "description")}
    listed = {"name": "forage", "source": "./plugin", "description": ABOUT["description"]}
    return {
        ".claude-plugin/marketplace.json": {
            "name": "forage",
            "description": ABOUT["description"],
            "owner": ABOUT["author"],
            "plugins": [listed],
        },
        "plugin/.claude-plugin/plugin.json": about,
        "plugin/.mcp.json": server("${CLAUDE_PLUGIN_ROOT}", "claude-code"),
        "plugin/gemini-extension.json": {**brief, **server("${extensionPath}", "gemini-cli")},
        "plugin/plugin.json": {"$schema": SCHEMAS + "plugin.schema.json", **about},
        # Which client it is for nobody can say here: several read it.
        "plugin/mcp.json": {"$schema": SCHEMAS + "mcp.schema.json", **server(".", type="stdio")},
    }


def files(version, licence):
    """The same as texts, with the licence that a copy of the folder must have."""
    made = {path: json.dumps(manifest, indent=2) + "\n" for path, manifest in manifests(version).items()}
    return {**made, "plugin/LICENSE": licence}
