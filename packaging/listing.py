"""What registries, catalogues and bundles say of forage: its names, its words, its tools, and the variables that their
forms ask for. All of it comes from packaging/about, src/tools and data/variables.txt, so that nothing is said twice."""

import json
import sys

import archives
from archives import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
import variables  # noqa: E402

TITLE = "forage"
DESCRIPTION = "Web search, page reading, research, answers with sources, and memory, in one native program."
LONG_DESCRIPTION = (
    "forage lets an agent search the web, read pages and documents as Markdown, have a question researched, get an answer "
    "with its sources, and remember what it learned. Reading and memory need no key; every key is optional, and brings "
    "another provider. It is one native program that runs on this machine."
)
AUTHOR = "forage contributors"
LICENCE = "MIT"
KEYWORDS = ["search", "web-search", "research", "reading", "memory", "mcp"]
# What a form's fields are called in the registry and in bundles, for the kinds of data/variables.txt.
FORMATS = {"path": "filepath", "integer": "number", "boolean": "boolean"}
FIELDS = {"path": "directory", "integer": "number", "boolean": "boolean"}


def document(value):
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def literal(text):
    """A text as JSON and YAML write it."""
    return json.dumps(text, ensure_ascii=False)


def offered():
    """The variables that whoever installs forage by a form is asked for, in the order of their file."""
    text = (ROOT / "data" / "variables.txt").read_text(encoding="utf-8")
    return [variable for variable in variables.parse(text.splitlines())[1] if variable["offered"]]


def label(variable):
    """A title for a field of a form: SERPER_API_KEY is the API key of Serper."""
    words = variable["name"].removeprefix("FORAGE_").lower().split("_")
    known = {"api": "API", "url": "URL", "usd": "USD", "github": "GitHub", "openai": "OpenAI", "searxng": "SearXNG"}
    known |= {"openrouter": "OpenRouter", "deepseek": "DeepSeek"}
    titled = [known.get(word, word) for word in words]
    return titled[0][:1].upper() + titled[0][1:] + "".join(f" {word}" for word in titled[1:])


def tools():
    """The definition of every tool that clients see."""
    found = []
    for path in sorted((ROOT / "src" / "tools").glob("*.json")):
        definition = json.loads(path.read_text(encoding="utf-8"))
        if "use" in definition["forage"] and "profile" not in definition["forage"]:
            found.append(definition)
    return found


def bundle_name(machine):
    """The file of a bundle. The registry wants "mcp" in its address."""
    return f"forage-mcp-{archives.version()}-linux-{machine}.mcpb"


def bundle_url(name):
    return f"{archives.about()['repository']}/releases/download/v{archives.version()}/{name}"
