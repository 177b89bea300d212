"""What `forage setup` makes of the configuration of each client: the entry that it writes, and documents before and
after. Everything here is written down by hand, so that it is known without the program."""

KEYS = "SERPER_API_KEY,SEARXNG_BASE_URL"


class Client:
    """One client: its file, where in it the servers are, and the lines of its entry for `forage mcp`."""

    def __init__(self, path, servers, entry, remote=None, project=None):
        self.path = path
        self.servers = servers
        self.entry = entry
        self.remote = remote
        self.project = project
        self.is_toml = path.endswith(".toml")


def program(context, reference, kind=None):
    """The entry of a client that takes JSON, as lines; the server is told for which client it works."""
    arguments = f'"args": ["mcp", "--context", "{context}"]'
    lines = [f'"type": "{kind}",'] if kind else []
    lines += ['"command": "forage",']
    if not reference:
        return [*lines, arguments + ",", '"env": {', '  "FORAGE_TOOLS": "ready"', "}"]
    return [
        *lines,
        arguments + ",",
        '"env": {',
        '  "FORAGE_TOOLS": "ready",',
        f'  "SERPER_API_KEY": "{reference.format("SERPER_API_KEY")}",',
        f'  "SEARXNG_BASE_URL": "{reference.format("SEARXNG_BASE_URL")}"',
        "}",
    ]


def remote(member, reference, kind=None):
    """What stands there for a server by its URL, with a token in a variable."""
    entry = {"type": kind} if kind else {}
    return {**entry, member: URL, "headers": {"Authorization": "Bearer " + reference.format("MY_FORAGE_TOKEN")}}


URL = "https://forage.example.org/mcp"
DEFAULTED, DOLLAR, ENV = "${{{}:-}}", "${{{}}}", "${{env:{}}}"

CLIENTS = {
    "claude-code": Client(
        ".claude.json", "mcpServers", program("claude-code", DEFAULTED, "stdio"), remote("url", DEFAULTED, "http"), ".mcp.json"
    ),
    "claude-desktop": Client(".config/Claude/claude_desktop_config.json", "mcpServers", program("claude-desktop", None)),
    "cursor": Client(".cursor/mcp.json", "mcpServers", program("cursor", ENV), remote("url", ENV), ".cursor/mcp.json"),
    "vscode": Client(
        ".config/Code/User/mcp.json", "servers", program("vscode", ENV, "stdio"), remote("url", ENV, "http"), ".vscode/mcp.json"
    ),
    "codex": Client(
        ".codex/config.toml",
        "mcp_servers",
        [
            'command = "forage"',
            'args = ["mcp", "--context", "codex"]',
            'env_vars = ["SERPER_API_KEY", "SEARXNG_BASE_URL"]',
            'env = { FORAGE_TOOLS = "ready" }',
        ],
        {"url": URL, "bearer_token_env_var": "MY_FORAGE_TOKEN"},
        ".codex/config.toml",
    ),
    "gemini-cli": Client(
        ".gemini/settings.json", "mcpServers", program("gemini-cli", DOLLAR), remote("httpUrl", DOLLAR), ".gemini/settings.json"
    ),
    "windsurf": Client(".codeium/windsurf/mcp_config.json", "mcpServers", program("windsurf", ENV), remote("serverUrl", ENV)),
    "zed": Client(".config/zed/settings.json", "context_servers", program("zed", None), None, ".zed/settings.json"),
    "cline": Client(
        ".cline/data/settings/cline_mcp_settings.json",
        "mcpServers",
        program("cline", ENV),
        remote("url", ENV, "streamableHttp"),
    ),
}


# ---- documents: ENTRY stands for the lines of the entry, SERVERS for the name of the object that holds them ----

JSON_CASES = {
    "absent": (None, '{\n  "SERVERS": {\n    "forage": {\n      ENTRY\n    }\n  }\n}\n'),
    "empty": ("", '{\n  "SERVERS": {\n    "forage": {\n      ENTRY\n    }\n  }\n}\n'),
    "an empty object": ("{}", '{\n  "SERVERS": {\n    "forage": {\n      ENTRY\n    }\n  }\n}'),
    "no servers": (
        '{\n    "theme": "dark",\n    "list": [\n        1\n    ]\n}\n',
        '{\n    "theme": "dark",\n    "list": [\n        1\n    ],\n    "SERVERS": {\n        "forage": {\n            ENTRY\n'
        "        }\n    }\n}\n",
    ),
    "another server": (
        '{\n  "SERVERS": {\n    "other": {\n      "command": "x"\n    }\n  },\n  "z": 1\n}\n',
        '{\n  "SERVERS": {\n    "other": {\n      "command": "x"\n    },\n    "forage": {\n      ENTRY\n    }\n  },\n  "z": 1\n}\n',
    ),
    "comments and trailing commas": (
        "// the head\n{\n\t/* why */\n\t\"SERVERS\": { // servers\n\t\t\"other\": {\"command\": \"x\"}, // the other\n\t\t// no more\n\t},\n"
        "\t\"z\": [1, 2,], // the end\n}\n// below\n",
        "// the head\n{\n\t/* why */\n\t\"SERVERS\": { // servers\n\t\t\"other\": {\"command\": \"x\"}, // the other\n\t\t// no more\n"
        "\t\t\"forage\": {\n\t\t\tENTRY\n\t\t},\n\t},\n\t\"z\": [1, 2,], // the end\n}\n// below\n",
    ),
    "line ends and a mark": (
        '\ufeff{\r\n  "SERVERS": {\r\n    "other": 1\r\n  }\r\n}\r\n',
        '\ufeff{\r\n  "SERVERS": {\r\n    "other": 1,\r\n    "forage": {\r\n      ENTRY\r\n    }\r\n  }\r\n}\r\n',
    ),
}

TOML_CASES = {
    "absent": (None, "[mcp_servers.forage]\nENTRY\n"),
    "empty": ("", "[mcp_servers.forage]\nENTRY\n"),
    "no servers": ('model = "gpt-5"\n', 'model = "gpt-5"\n\n[mcp_servers.forage]\nENTRY\n'),
    "no line end": ('model = "gpt-5"', 'model = "gpt-5"\n\n[mcp_servers.forage]\nENTRY\n'),
    "another server": (
        "[mcp_servers.other]\ncommand = 'x'\n\n[tui]\ntheme = 'dark'\n",
        "[mcp_servers.other]\ncommand = 'x'\n\n[tui]\ntheme = 'dark'\n\n[mcp_servers.forage]\nENTRY\n",
    ),
    "comments": (
        '# the head\nmodel = "x" # why\n\n# about the other\n[mcp_servers.other] # here\ncommand = "x"\nargs = [ # many\n  "a",\n]\n# below\n',
        '# the head\nmodel = "x" # why\n\n# about the other\n[mcp_servers.other] # here\ncommand = "x"\nargs = [ # many\n  "a",\n]\n# below\n'
        "\n[mcp_servers.forage]\nENTRY\n",
    ),
    "line ends and a mark": (
        "\ufeffmodel = 'x'\r\n",
        "\ufeffmodel = 'x'\r\n\r\n[mcp_servers.forage]\r\nENTRY\r\n",
    ),
}


def fill(text, client):
    """A document of a client, as bytes."""
    if text is None:
        return None
    newline = "\r\n" if "\r\n" in text else "\n"
    for line in text.split(newline):
        if line.strip() == "ENTRY":
            indent = line[: -len("ENTRY")]
            unit = "\t" if indent.startswith("\t") else " " * (len(indent) // 3) or "  "
            entry = newline.join(indent + one.replace("  ", unit) for one in client.entry)
            text = text.replace(line, entry)
    return text.replace("SERVERS", client.servers).encode()


def cases():
    """(client, case, before, after), before None where there is no file."""
    for name, client in CLIENTS.items():
        for case, (before, after) in (TOML_CASES if client.is_toml else JSON_CASES).items():
            yield name, case, fill(before, client), fill(after, client)


BROKEN_JSON = [
    ('{\n  "SERVERS": {\n    "a": 1\n    "b": 2\n  }\n}\n', "4:5", "a comma or a closing brace is expected here"),
    ('{\n  "SERVERS": {\n', "3:1", "a name in double quotes is expected here"),
    ('{\n  "SERVERS": []\n}\n', "2:", "is not an object"),
    ('{\n  "SERVERS": {"forage": 1, "forage": 2}\n}\n', "2:", "is there more than once"),
    ("[1]\n", "1:1", "the document is not an object"),
    ('{"a": "b}\n', "1:7", "a string that does not end on its line"),
    ('{"a": tru}\n', "1:7", "a value is expected here"),
    ("\x00\x01binary", "1:1", "a value is expected here"),
]
BROKEN_TOML = [
    ('model = "x\n', "1:9", "a string that does not end on its line"),
    ("[mcp_servers\n", "1:13", "a closing bracket is expected here"),
    ("[mcp_servers.forage]\n[mcp_servers.forage]\n", "2:1", "is there more than once"),
    ('mcp_servers = { forage = { command = "x" } }\n', "1:1", "is written as one value"),
    ('[mcp_servers]\nforage.command = "x"\n', "2:1", "is written as an inline table or dotted keys"),
    ('mcp_servers.other.command = "x"\n', "1:1", "is written as dotted keys"),
    ("a = b\n", "1:5", "a value is expected here"),
]


def broken():
    """(client, text, place, words)."""
    for name, client in CLIENTS.items():
        for text, place, words in BROKEN_TOML if client.is_toml else BROKEN_JSON:
            yield name, text.replace("SERVERS", client.servers).encode(), place, words
