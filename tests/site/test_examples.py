"""Every example of README.md and docs/ is run, or says why it cannot be; every piece of JSON and TOML is read; and what the
pages say about errors is what the program says."""

import json
import re
import tomllib

import pytest
from blocks import Block, blocks_of, json_fits, output_fits, pages, text_fits
from programs import FORAGE, ROOT, run
from world import World

# Reasons that are good enough, by their beginnings.
EXCUSES = (
    "needs root",
    "needs Docker",
    "needs Nix",
    "needs a key of ",
    "needs a Firecrawl",
    "needs the archive of a release",
    "needs a client",
    "needs a job",
    "needs a display",
    "needs a language model",
    "it comes from the package registry",
    "it installs packages of the system",
    "it builds the sources",
    "writes to /var/lib",
)
# Pages that the program makes, whose words are tested where they are made.
ELSEWHERE = {"docs/doctor.md": "tests/blackbox/test_doctor.py"}
LANGUAGES = {"", "sh", "json", "toml", "text", "nginx", "ini", "yaml", "c", "python"}
ALL = {page: blocks_of(page) for page in pages()}
RUN = [
    page
    for page, blocks in ALL.items()
    if page not in ELSEWHERE and any(block.language == "sh" and not block.excuse for block in blocks)
]


@pytest.fixture(scope="session")
def world(tmp_path_factory):
    with World(tmp_path_factory.mktemp("world")) as one:
        yield one


def missing_commands(text):
    """Whether it uses a command whose sources are not in this tree."""
    sources = {"setup": "src/setup", "doctor": "src/doctor", "completions": "src/cli/completions.c"}
    used = re.findall(r"\bforage (setup|doctor|completions)\b", re.sub(r"#.*", "", text))
    return not all((ROOT / sources[name]).exists() for name in used)


@pytest.mark.parametrize("page", RUN)
def test_examples_run(page, world, tmp_path):
    """In the order of the page, in one home, as a reader would who begins at the top."""
    for block in ALL[page]:
        if block.language != "sh" or block.excuse:
            continue
        if missing_commands(block.text):
            continue
        code, said, errors = world.run(block, tmp_path / "home")
        assert code == 0, f"{block.name} ended with {code}:\n{block.text}\n{said}\n{errors}"
        assert '"failed": true' not in said and "_Failed to retrieve" not in said, f"{block.name} could not read:\n{said}"
        if block.output:
            assert output_fits(block.output, said), f"{block.name} printed something else:\n{said}"


def test_every_block_is_run_or_excused():
    for block in (block for blocks in ALL.values() for block in blocks):
        assert block.language in LANGUAGES, f"{block.name}: what is {block.language!r}?"
        if block.excuse:
            assert block.language == "sh", f"{block.name}: only sh needs an excuse"
            assert block.excuse.startswith(EXCUSES), f"{block.name}: {block.excuse!r} is no reason"


@pytest.mark.parametrize("page", [page for page in ALL if any(b.language in ("json", "toml") for b in ALL[page])])
def test_data_can_be_read(page):
    for block in ALL[page]:
        if block.language == "json":
            json.loads(block.text)
        elif block.language == "toml":
            tomllib.loads(block.text)


# ---- errors ----


def error_codes():
    return re.findall(r'^#define CODE_\w+\s+"(\w+)"', (ROOT / "src/call/errors.h").read_text(), re.M)


def test_every_error_code_has_an_entry():
    page = (ROOT / "docs/troubleshooting.md").read_text()
    headings = re.findall(r"^### ([A-Z_]+)$", page, re.M)
    assert sorted(headings) == sorted(error_codes())


def test_statuses_are_those_of_the_program():
    """The table of docs/rest.md against the one that REST answers by."""
    table = (ROOT / "src/call/errors.c").read_text()
    names = dict(re.findall(r'^#define (CODE_\w+)\s+"(\w+)"', (ROOT / "src/call/errors.h").read_text(), re.M))
    theirs = {names[name]: status for name, status in re.findall(r"\{(CODE_\w+), (\d+)\}", table)}
    rows = re.findall(r"^\| (\d{3}) \| (.*) \|$", (ROOT / "docs/rest.md").read_text(), re.M)
    assert {code: status for status, words in rows for code in re.findall(r"`([A-Z_]+)`", words)} == theirs


# The rows of the table in docs/providers.md, by their beginnings, and the outcomes of src/websearch/judge.c.
OUTCOMES = {
    "cannot be reached": "NETWORK",
    "breaks off its answer": "CUT_OFF",
    "fails with 5xx": "SERVER_ERROR",
    "wants fewer searches": "RATE_LIMITED",
    "has no credit left": "OUT_OF_QUOTA",
    "does not answer in time": "TIMEOUT",
    "answers with something": "UNREADABLE",
    "blocks": "BLOCKED",
    "refuses the key": "NO_ACCESS",
    "refuses the search": "REFUSED",
    "is not at its address": "MISSING",
    "SearXNG without": "NO_JSON",
}


def test_rules_of_providers_are_those_of_the_program():
    program = re.findall(r"\[ROUTE_(\w+)\] = \{(\w+), (\w+), CODE_(\w+)", (ROOT / "src/websearch/judge.c").read_text())
    theirs = {name: (transient == "true", again == "true", code) for name, transient, again, code in program}
    page = (ROOT / "docs/providers.md").read_text()
    for words, name in OUTCOMES.items():
        row = re.search(rf"^\| {words}[^|]*\| (yes|no) \| (yes|no) \| `(\w+)` \|$", page, re.M)
        assert row and (row[1] == "yes", row[2] == "yes", row[3]) == theirs[name], words
    assert set(theirs) - set(OUTCOMES.values()) == {"NO_REQUEST"}  # our own fault: it has no place there


def test_the_readme_shows_the_ways_in():
    """Seeds 001 and 002: what whoever comes from those servers looks for, ready to paste."""
    shown = (ROOT / "README.md").read_text()
    for words in (
        "uvx --from git+https://github.com/forage-mcp/forage kindly-web-search-mcp-server start-mcp-server --context codex",
        "npx -y git+https://github.com/forage-mcp/forage",
        "npm install -g @google/gemini-cli",
        "(docs/install.md#from-gemini-search-mcp)",
        "(docs/install.md#from-kindly-web-search)",
    ):
        assert words in shown, words
    rules = re.findall(r"^[1-5]\. .+$", shown, re.M)
    assert len(rules) == 5 and "SERPER_API_KEY" in rules[0] and "TAVILY_API_KEY" in rules[1]


def pieces(line):
    """The parts of a quoted message between what varies."""
    return [piece for piece in re.split(r"\.\.\.|\d+|[:;] |\b[A-Z_]{8,}\b", line) if len(piece.strip(" .,:;()")) > 5]


def test_quoted_words_are_those_of_the_program():
    """Messages stand in the pages word for word: every piece of them is in the program."""
    program = open(FORAGE, "rb").read()
    looked, unknown = 0, []
    for page in ("docs/troubleshooting.md", "docs/firecrawl.md"):
        for block in ALL[page]:
            if block.language != "text" or "the configuration is wrong" in block.text:
                continue
            for piece in (piece.strip() for line in block.text.splitlines() for piece in pieces(line)):
                looked += 1
                if piece.encode() not in program:
                    unknown.append(f"{block.name}: forage never says {piece!r}")
    assert looked > 50 and not unknown, "\n".join(unknown)


def test_the_wrong_setting_that_a_page_shows():
    (shown,) = [block for block in ALL["docs/troubleshooting.md"] if "the configuration is wrong" in block.text]
    said = run("config", FORAGE_WORKERS="x")
    assert said.returncode == 2 and text_fits(shown.text, said.stderr), said.stderr


def test_notes_of_pages_are_those_of_the_program():
    program = open(FORAGE, "rb").read()
    notes = re.findall(r"^\| `(\w+): (.+?)` \|", (ROOT / "docs/troubleshooting.md").read_text(), re.M)
    assert len(notes) >= 8
    for kind, words in notes:
        assert kind.encode() in program
        for piece in pieces(words):
            assert piece.strip().encode() in program, f"no note says {piece!r}"


def test_settings_that_pages_name_exist():
    """Every variable that a page names is one of the program, or of the world around it."""
    table = (ROOT / "docs/configuration.md").read_text()
    known = set(re.findall(r"^\| `([A-Z][A-Z0-9_]+)` \|", table, re.M)) | set(re.findall(r"\bAlso `([A-Z][A-Z0-9_]+)`", table))
    services = re.findall(r"^(\w+)(?: = |$)", (ROOT / "data/upstreams.txt").read_text(), re.M)
    known |= {f"{name.upper()}_BASE_URL" for name in services}
    around = {"PATH", "HOME", "TMPDIR", "NO_COLOR", "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"}
    around |= {"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "HTTP_STREAMABLE_SERVER", "HTTP_PROXY", "MAKEFLAGS"}
    for page in ALL:
        if page.startswith(("docs/clients/", "docs/decisions", "docs/architecture", "docs/releasing")):
            continue
        for name in re.findall(r"`([A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9])(?:=[^`]*)?`", (ROOT / page).read_text()):
            assert name in known | around | set(error_codes()), f"{page} names {name}, which is no setting"


# ---- the checks themselves ----


@pytest.mark.parametrize(
    "expected, actual, fits",
    [
        ("a\nb", "a\nb\n", True),
        ("a\nb", "a\nc\nb\n", False),
        ("a\n...\nb", "a\nc\nd\nb\n", True),
        ("a\n...\nb", "a\nb\n", True),
        ("a ... z", "a to z", True),
        ("a ... z", "a to y", False),
        ("...", "", True),
    ],
)
def test_comparing_text(expected, actual, fits):
    assert text_fits(expected, actual) is fits


def test_comparing_json():
    assert json_fits({"a": "x...", "b": [1]}, {"a": "xyz", "b": [1, 2], "c": 0})
    assert not json_fits({"a": 1}, {"b": 1})
    assert not json_fits({"a": 1}, {"a": True})
    assert not json_fits([1, 2], [1])


def test_blocks_are_found():
    text = "# A\n\n<!-- not run: needs root -->\n```sh\nx\n```\n\n```sh\ny\n```\n\n```text\nz\n```\n\nwords\n\n```text\nw\n```\n"
    first, second, third, last = blocks_of("x.md", text)
    assert (first.excuse, second.excuse) == ("needs root", None)
    assert second.output is third and last.language == "text" and first.output is None


def test_an_example_that_fails_is_noticed(world, tmp_path):
    assert world.run(Block("x.md", 1, "sh", "forage read https://example.org/gone\n"), tmp_path / "home")[0] != 0
    assert world.run(Block("x.md", 1, "sh", "false\ntrue\n"), tmp_path / "home")[0] != 0
