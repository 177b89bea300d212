"""`forage doctor`: on a machine with nothing, with everything, and with each single thing broken.

The machine is a folder: a home, and a PATH with stand-ins for the programs that forage starts. Every service is a fake.
"""

import json
import os
import re
import shutil
import socket
import subprocess

import pytest
from fakes.models import Fault, Models, Say, Use
from fakes.service import Reply, Service
from postgres import PASSWORD, postgres  # noqa: F401 (a fixture)
from programs import FORAGE, ROOT, Server, environment, run, run_on_terminal
from searching import KEYS, World
from secrets_watch import canaries

BROWSER = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "google-chrome"))), None)
SNAPSHOT = ROOT / "tests" / "snapshots" / "doctor" / "nothing.json"

# Node.js stands in for itself and for what it runs: it knows two versions.
NODE = '#!/bin/sh\n[ "$1" = --version ] && echo v{node} || echo {worker}\n'
PDFTOTEXT = "#!/bin/sh\necho 'pdftotext version 22.12.0' >&2\nexit 99\n"


def write_program(path, text):
    path.write_text(text)
    path.chmod(0o755)


class Keys(Service):
    """The services that only tell whether a key is theirs, by the address that is asked."""

    # path -> the header and what it must hold; %s is the key.
    DOORS = {
        "/openai/models": ("authorization", "Bearer %s"),
        "/github/rate_limit": ("authorization", "Bearer %s"),
        "/firecrawl/v2/team/credit-usage": ("authorization", "Bearer %s"),
        "/tavily/usage": ("authorization", "Bearer %s"),
        "/gemini/v1beta/models": ("x-goog-api-key", "%s"),
        "/anthropic/v1/models": ("x-api-key", "%s"),
        "/stackexchange/2.3/info": (None, None),  # in the address
        "/model/v1/chat/completions": ("authorization", "Bearer %s"),
    }
    ANSWERS = {
        "/model/v1/chat/completions": {
            "choices": [{"message": {"tool_calls": [{"function": {"name": "answer", "arguments": '{"word": "yes"}'}}]}}]
        }
    }

    def __init__(self):
        super().__init__()
        self.key = "the-key-of-all-fakes-0123456789"
        self.status = {}  # path -> what is answered in any case

    def answer(self, asked):
        if asked.path in self.status:
            return Reply({"error": "as the test wants it"}, self.status[asked.path])
        header, shape = self.DOORS.get(asked.path, ("", ""))
        if header == "":
            return Reply({"error": "nothing is here"}, 404)
        given = asked.headers.get(header) if header else asked.query.get("key")
        right = self.ANSWERS.get(asked.path, {"ok": True})
        return Reply(right) if given == (shape or "%s") % self.key else Reply({"error": "who are you?"}, 401)


class Machine:
    """A machine with everything but a browser; tests break it."""

    def __init__(self, folder, world, keys):
        self.home, self.bin = folder / "home", folder / "bin"
        self.home.mkdir()
        self.bin.mkdir()
        (self.home / ".cursor").mkdir()
        write_program(self.bin / "pdftotext", PDFTOTEXT)
        write_program(self.bin / "node", NODE.format(node="22.11.0", worker="0.9.0"))
        write_program(self.bin / "gemini", f"#!{self.bin}/node\n")
        self.settings = {
            "HOME": self.home,
            "PATH": self.bin,
            "MCP_SERVER_PORT": 0,
            "OPENAI_BASE_URL": f"{keys.url}/openai",
            "GITHUB_BASE_URL": f"{keys.url}/github",
            "STACKEXCHANGE_BASE_URL": f"{keys.url}/stackexchange",
            "FIRECRAWL_API_URL": f"{keys.url}/firecrawl",
            "FORAGE_EMBEDDINGS_FILE": ROOT / "tests" / "unit" / "data" / "tiny.model",
            "GOOGLE_GEMINI_BASE_URL": f"{keys.url}/gemini",
            "ANTHROPIC_BASE_URL": f"{keys.url}/anthropic",
            "FORAGE_RESEARCH_WORKER": "gemini",
            "FORAGE_MODEL": "compatible:fake",
            "FORAGE_MODEL_URL": f"{keys.url}/model/v1",
            **{name: keys.key for name in ("FORAGE_MODEL_KEY", "OPENAI_API_KEY", "GITHUB_TOKEN", "STACKEXCHANGE_KEY", "FIRECRAWL_API_KEY",
                                           "GEMINI_API_KEY", "ANTHROPIC_API_KEY")},
        }
        for name in world.fakes:
            self.settings.update(world[name].settings)
        self.settings.update(TAVILY_API_KEY=keys.key, TAVILY_BASE_URL=f"{keys.url}/tavily")
        completed = run("setup", "cursor", "--yes", **self.settings)
        assert completed.returncode == 0, completed.stderr

    def examine(self, *arguments, **changes):
        """Every finding by its id, and how it ended."""
        completed = run("doctor", "--json", *arguments, **{**self.settings, **changes})
        assert completed.stderr == ""
        report = json.loads(completed.stdout)
        findings = {check["id"]: check for group in report["groups"] for check in group["checks"]}
        broken = any(check["state"] == "broken" for check in findings.values())
        assert report["ok"] == (not broken) and completed.returncode == (1 if broken else 0)
        return report, findings


@pytest.fixture(scope="module")
def services():
    with World() as world, Keys() as keys:
        yield world, keys


@pytest.fixture
def world(services):
    services[0].reset()
    return services[0]


@pytest.fixture
def keys(services):
    services[1].status.clear()
    services[1].requests.clear()
    return services[1]


@pytest.fixture
def machine(tmp_path, world, keys):
    return Machine(tmp_path, world, keys)


def states(findings):
    return {name: finding["state"] for name, finding in findings.items()}


def nothing(tmp_path):
    """No keys, no programs, an empty home."""
    (tmp_path / "empty").mkdir(exist_ok=True)
    unset = dict.fromkeys([*canaries(FORAGE), *KEYS])
    return {**unset, "HOME": tmp_path / "empty", "PATH": "/proc/nonexistent", "MCP_SERVER_PORT": 0}


# ---- nothing ----

# What this machine has, whatever the test does.
OF_THE_MACHINE = {"program.libcurl", "program.names", "program.certificates"}


def test_nothing(tmp_path):
    """Much is missing and nothing is broken. The shape is a promise: tests/snapshots/doctor/nothing.json."""
    completed = run("doctor", "--json", **nothing(tmp_path))
    assert completed.returncode == 0 and completed.stderr == ""
    text = completed.stdout.replace(str(tmp_path / "empty"), "HOME")
    report = json.loads(text)
    version = run("version").stdout.split()[1]
    assert report["version"] == version
    report["version"] = "VERSION"
    for group in report["groups"]:
        for check in group["checks"]:
            check["text"] = check["text"].replace(version, "VERSION")
            if check["id"] in OF_THE_MACHINE:
                check["text"] = "..."
    assert report == json.loads(SNAPSHOT.read_text())
    assert list((tmp_path / "empty").iterdir()) == []  # a doctor looks


def test_without_a_home(tmp_path):
    completed = run("doctor", "--json", **{**nothing(tmp_path), "HOME": "/proc/nonexistent"})
    report = json.loads(completed.stdout)
    findings = {check["id"]: check for group in report["groups"] for check in group["checks"]}
    assert completed.returncode == 1
    assert {name for name, state in states(findings).items() if state == "broken"} == {"kept.folder", "pages.cache"}


# ---- everything ----

def test_everything(machine, world, keys):
    report, findings = machine.examine()
    others = {name: state for name, state in states(findings).items() if state != "ok"}
    assert others == {"pages.browser": "missing", "search.open": "unused"}
    assert {group["state"] for group in report["groups"]} == {"works"}
    assert all(finding["mend"] is None for finding in findings.values() if finding["state"] == "ok")
    # Nobody is asked unless somebody wants it.
    assert world.searches() == {} and keys.requests == []
    assert [path.name for path in machine.home.glob(".local/share/forage/*")] == ["setup"]  # which put it into Cursor


@pytest.mark.skipif(not BROWSER, reason="there is no browser: scripts/setup test brings one")
def test_a_real_browser(machine):
    _, findings = machine.examine(KINDLY_BROWSER_EXECUTABLE_PATH=BROWSER, PATH=f"{machine.bin}:/usr/bin:/bin")
    assert findings["pages.browser"]["state"] == "ok" and "starts" in findings["pages.browser"]["text"]


@pytest.mark.skipif(not BROWSER, reason="there is no browser: scripts/setup test brings one")
def test_a_browser_that_others_can_reach(machine, tmp_path):
    """A script that starts a Snap, as Ubuntu has it."""
    machine.settings["HOME"] = tmp_path / "real-home"
    machine.settings["HOME"].mkdir()
    program = tmp_path / "chromium-browser"
    write_program(program, f'#!/bin/sh\n# exec /snap/bin/chromium "$@"\nexec {BROWSER} "$@"\n')
    _, findings = machine.examine(KINDLY_BROWSER_EXECUTABLE_PATH=program, PATH=f"{machine.bin}:/usr/bin:/bin")
    browser = findings["pages.browser"]
    assert browser["state"] == "warning" and browser["mend"] == "apt-get install chromium-headless-shell"
    assert "other users of this machine can reach" in browser["text"] and "FORAGE_BROWSER_PATH" in browser["text"]


def test_the_same_for_people(machine):
    """Every line of the report has its finding, with the command below it; colour only where somebody sees it."""
    _, findings = machine.examine(SERPER_API_KEY=None)
    completed = run("doctor", **{**machine.settings, "SERPER_API_KEY": None})
    assert completed.returncode == 0 and "\033" not in completed.stdout
    lines = completed.stdout.splitlines()
    for finding in findings.values():
        place = lines.index(f"  {finding['state']:8} {finding['title']}: {finding['text']}")
        if finding["mend"]:
            assert lines[place + 1] == f"           $ {finding['mend']}"
    assert "Web search: works" in lines
    shown = run_on_terminal("doctor", **{**machine.settings, "SERPER_API_KEY": None})
    assert "\033[32mok" in shown.stdout and re.search(r"looking at \d+ things\r\033\[K", shown.stderr)
    plain = re.sub(r"\033\[\d*m", "", shown.stdout)
    assert [line for line in plain.splitlines() if "free" not in line] == [line for line in lines if "free" not in line]


# ---- each single thing broken: which lines change, and to what; all others stay as they were ----


def settings(**changes):
    return lambda machine, _tmp: changes


def both(one, other):
    return lambda machine, folder: {**one(machine, folder), **other(machine, folder)}


def without(*names):
    return lambda machine, _tmp: dict.fromkeys(names)


def program(name, text):
    def breaks(machine, _tmp):
        write_program(machine.bin / name, text)
        return {}

    return breaks


def no_program(name):
    def breaks(machine, _tmp):
        (machine.bin / name).unlink()
        return {}

    return breaks


def put(line):
    """The command that puts a line into a settings file that is not there yet."""
    return f"(umask 077 && mkdir -p ~/.config/forage && echo {line} >>~/.config/forage/forage.env)"


def tokens_file(mode):
    def breaks(_machine, tmp):
        (tmp / "tokens").write_text("me:a-token-for-me-0123456789\n")
        (tmp / "tokens").chmod(mode)
        return {"FORAGE_TOKENS_FILE": tmp / "tokens"}

    return breaks


def readable_file(_machine, tmp):
    (tmp / "forage.env").write_text("BRAVE_API_KEY=a-key-that-others-can-read\n")
    (tmp / "forage.env").chmod(0o644)
    return {"FORAGE_CONFIG": tmp / "forage.env", "BRAVE_API_KEY": None}


def wrong_line_in_file(_machine, tmp):
    (tmp / "forage.env").write_text("FORAGE_LOG_LEVLE=info\n")
    (tmp / "forage.env").chmod(0o600)
    return {"FORAGE_CONFIG": tmp / "forage.env"}


def a_file_for_systemd(text):
    def breaks(_machine, tmp):
        (tmp / "forage.env").write_text(text)
        (tmp / "forage.env").chmod(0o600)
        return {"FORAGE_CONFIG": tmp / "forage.env"}

    return breaks


def no_library(*names, **settings):
    def breaks(_machine, tmp):
        folder = tmp / "libraries"
        folder.mkdir()
        for name in names:
            (folder / name).write_text("no library")
        return {"LD_LIBRARY_PATH": folder, **settings}

    return breaks


def a_file(variable):
    def breaks(_machine, tmp):
        (tmp / "file").write_text("")
        return {variable: tmp / "file"}

    return breaks


def an_open_folder(variable):
    def breaks(_machine, tmp):
        (tmp / "open").mkdir()
        (tmp / "open").chmod(0o755)
        return {variable: tmp / "open"}

    return breaks


def damaged(name):
    def breaks(_machine, tmp):
        (tmp / "data").mkdir(mode=0o700)
        (tmp / "data" / name).write_bytes(b"this is no database" * 100)
        return {"FORAGE_DATA_DIR": tmp / "data"}

    return breaks


def torn_memories(machine, tmp):
    """A database whose pages are not what they should be."""
    data = {"FORAGE_DATA_DIR": tmp / "data"}
    (tmp / "data").mkdir(mode=0o700)
    for number in range(40):
        assert run("memory", "add", "words " * 200 + str(number), **{**machine.settings, **data}).returncode == 0
    path = tmp / "data" / "memory.db"
    content = bytearray(path.read_bytes())
    content[4096 * 3 : 4096 * 6] = bytes(4096 * 3)
    path.write_bytes(content)
    return data


def taken_port(machine, _tmp):
    machine.taken = socket.create_server(("127.0.0.1", 0))
    return {"MCP_SERVER_PORT": machine.taken.getsockname()[1]}


def broken_client(machine, _tmp):
    (machine.home / ".cursor" / "mcp.json").write_text('{"mcpServers": {')
    return {}


def client_without_forage(machine, _tmp):
    (machine.home / ".cursor" / "mcp.json").write_text('{"mcpServers": {}}')
    return {}


def client_with_an_old_path(machine, _tmp):
    entry = {"command": "/proc/nonexistent/forage", "args": ["mcp"]}
    (machine.home / ".cursor" / "mcp.json").write_text(json.dumps({"mcpServers": {"forage": entry}}))
    return {}


def no_client(machine, _tmp):
    shutil.rmtree(machine.home / ".cursor")
    return {}


def a_browser(text):
    def breaks(machine, _tmp):
        write_program(machine.bin / "a-browser", text)
        return {"KINDLY_BROWSER_EXECUTABLE_PATH": machine.bin / "a-browser", "KINDLY_NODRIVER_RETRY_ATTEMPTS": 1}

    return breaks


def worker_with_an_old_path(machine, _tmp):
    path = machine.home / ".config" / "gemini-search-mcp" / ".gemini" / "settings.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"mcpServers": {"forage": {"command": "/proc/nonexistent/forage"}}}))
    return {}


def signed_in(machine, _tmp):
    (machine.home / ".gemini").mkdir()
    (machine.home / ".gemini" / "oauth_creds.json").write_text("{}")
    return {"GEMINI_API_KEY": None, "GOOGLE_API_KEY": None}


LEFT_OUT = {f"search.{name}": ("unused", "leaves it out", None) for name in
            ("serper", "tavily", "searxng", "brave", "exa")}

# What is done, and each line that changes: its state, words of it, and the command that mends it.
BROKEN = {
    "unknown variable": (settings(FORAGE_SERCH="1"),
                         {"program.settings": ("warning", "FORAGE_SERCH", "unset FORAGE_SERCH")}),
    "mistyped in the file": (wrong_line_in_file,
                             {"program.settings": ("warning", "FORAGE_LOG_LEVLE", "${EDITOR:-vi} "),
                              "program.file": ("ok", "forage.env", None)}),
    "readable file": (readable_file, {"program.file": ("warning", "others can read it", "chmod 600 "),
                                      "search.brave": ("ok", "forage.env:1", None)}),
    "a file that systemd reads alike": (a_file_for_systemd("# words\nFORAGE_LOG_LEVEL=info\n"),
                                        {"program.file": ("ok", "forage.env", None)}),
    "a file that systemd reads otherwise": (
        a_file_for_systemd("FORAGE_LOG_LEVEL=info\nFORAGE_CALLS_PER_MINUTE=7  # a comment\n"),
        {"program.file": ("warning", "line 2: the comment behind the value", "${EDITOR:-vi} ")}),
    "a comment in a value": (settings(EXA_API_KEY="a-key-0123456789 # of mine"),
                             {"program.settings": ("warning", "EXA_API_KEY holds", "unset EXA_API_KEY")}),
    "no such tool": (settings(FORAGE_TOOLS="no_such_tool"),
                     {"program.start": ("broken", "no_such_tool", "forage config")}),
    "libcurl": (no_library("libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.4.dylib"),
                {"program.libcurl": ("broken", "libcurl", "apt-get install libcurl4"),
                 "program.certificates": ("unused", "libcurl", None)}),
    "c-ares": (no_library("libcares.so.2"),
               {"program.names": ("warning", "c-ares is missing", "apt-get install libc-ares2")}),
    "c-ares, for servers of one's own": (no_library("libcares.so.2", FORAGE_NAME_SERVERS="192.0.2.53"),
                                         {"program.names": ("broken", "needs it", "apt-get install libc-ares2")}),
    "no name server": (settings(FORAGE_NAME_SERVERS="dns.example"),
                       {"program.start": ("broken", "FORAGE_NAME_SERVERS", "forage config"),
                        "program.names": ("ok", "dns.example", None)}),
    "certificates": (settings(SSL_CERT_FILE="/proc/nonexistent.pem"),
                     {"program.certificates": ("broken", "/proc/nonexistent.pem", "unset CURL_CA_BUNDLE SSL_CERT_FILE")}),
    "no such provider": (settings(FORAGE_SEARCH_PROVIDERS="bing"),
                         {"program.start": ("broken", "FORAGE_SEARCH_PROVIDERS", "forage config"),
                          "search.order": ("broken", "bing", "unset FORAGE_SEARCH_PROVIDERS"), **LEFT_OUT}),
    "one provider left out": (settings(FORAGE_SEARCH_PROVIDERS="serper,tavily,searxng,brave"),
                              {"search.order": ("ok", "Serper, then", None), "search.exa": LEFT_OUT["search.exa"]}),
    "no Serper": (without("SERPER_API_KEY"),
                  {"search.order": ("ok", "Tavily, then", None),
                   "search.serper": ("missing", "SERPER_API_KEY", put("SERPER_API_KEY=YOUR-KEY"))}),
    "no Tavily": (without("TAVILY_API_KEY"),
                  {"search.order": ("ok", "Serper, then SearXNG", None),
                   "search.tavily": ("missing", "TAVILY_API_KEY", put("TAVILY_API_KEY=YOUR-KEY"))}),
    "no SearXNG": (without("SEARXNG_BASE_URL"),
                   {"search.order": ("ok", "Tavily, then Brave", None),
                    "search.searxng": ("missing", "SEARXNG_BASE_URL",
                                       put("SEARXNG_BASE_URL=https://searx.example.org"))}),
    "no Brave": (without("BRAVE_API_KEY"),
                 {"search.order": ("ok", "SearXNG, then Exa", None),
                  "search.brave": ("missing", "BRAVE_API_KEY", put("BRAVE_API_KEY=YOUR-KEY"))}),
    "no Exa": (without("EXA_API_KEY"),
               {"search.order": ("ok", "Serper, then", None),
                "search.exa": ("missing", "EXA_API_KEY", put("EXA_API_KEY=YOUR-KEY"))}),
    "a browser that is no program": (settings(KINDLY_BROWSER_EXECUTABLE_PATH="/proc/nonexistent"),
                                     {"pages.browser": ("broken", "/proc/nonexistent",
                                                        "unset KINDLY_BROWSER_EXECUTABLE_PATH")}),
    "a browser that does not start": (a_browser("#!/bin/sh\nexit 3\n"),
                                      {"pages.browser": ("broken", "does not start",
                                                         "apt-get install --reinstall chromium-headless-shell")}),
    "no pdftotext": (no_program("pdftotext"),
                     {"pages.pdf": ("missing", "not on PATH", "apt-get install poppler-utils")}),
    "pdftotext fails": (program("pdftotext", "#!/bin/sh\necho no such library >&2\nexit 127\n"),
                        {"pages.pdf": ("broken", "no such library", "apt-get install --reinstall poppler-utils")}),
    "cache is a file": (a_file("FORAGE_CACHE_DIR"),
                        {"pages.cache": ("broken", "is no folder", "unset FORAGE_CACHE_DIR && (umask 077 && mkdir -p ~/.config/forage && echo FORAGE_CACHE_DIR=")}),
    "cache is open": (an_open_folder("FORAGE_CACHE_DIR"),
                      {"pages.cache": ("warning", "mode 0755", "chmod 700 ")}),
    "cache is off": (settings(FORAGE_CACHE_TTL="0"), {"pages.cache": ("unused", "FORAGE_CACHE_TTL", None)}),
    "no GitHub": (without("GITHUB_TOKEN"),
                  {"pages.github": ("missing", "60 requests", put("GITHUB_TOKEN=YOUR-KEY"))}),
    "no Stack Exchange": (without("STACKEXCHANGE_KEY"),
                          {"pages.stackexchange": ("missing", "300 requests", put("STACKEXCHANGE_KEY=YOUR-KEY"))}),
    "no OpenAI": (without("OPENAI_API_KEY", "OPENAI_BASE_URL"),
                  {"answers.openai": ("ok", "not asked: compatible:fake at ", None)}),
    "nobody to answer": (without("OPENAI_API_KEY", "OPENAI_BASE_URL", "FORAGE_MODEL"),
                         {"answers.openai": ("missing", "OPENAI_API_KEY", put("OPENAI_API_KEY=YOUR-KEY")),
                          "research.model": ("missing", "FORAGE_MODEL is not set", put("FORAGE_MODEL=ollama:qwen3:8b"))}),
    "answers of another model": (settings(FORAGE_ANSWER_MODEL="ollama:qwen3:8b"),
                                 {"answers.openai": ("ok", "not asked: ollama:qwen3:8b at ", None)}),
    "answers of a model without an address": (settings(FORAGE_ANSWER_MODEL="compatible:other", FORAGE_MODEL_URL=None),
                                              {"answers.openai": ("broken", "FORAGE_ANSWER_MODEL: compatible needs FORAGE_MODEL_URL", "unset FORAGE_ANSWER_MODEL && "),
                                               "research.model": ("broken", "compatible needs FORAGE_MODEL_URL", "unset FORAGE_MODEL && ")}),
    "OpenAI without a key": (without("OPENAI_API_KEY"), {"answers.openai": ("ok", "OPENAI_BASE_URL", None)}),
    "no model": (without("FORAGE_MODEL"),
                 {"research.model": ("missing", "FORAGE_MODEL is not set", put("FORAGE_MODEL=ollama:qwen3:8b"))}),
    "a model of nobody": (settings(FORAGE_MODEL="nobody:fake"),
                          {"research.model": ("broken", '"nobody:fake" names no provider; write provider:name', "unset FORAGE_MODEL && ")}),
    "a model without an address": (without("FORAGE_MODEL_URL"),
                                   {"research.model": ("broken", "compatible needs FORAGE_MODEL_URL", "unset FORAGE_MODEL && ")}),
    "a model that forgets": (settings(FORAGE_MODEL="ollama:qwen3:8b"),
                             {"research.model": ("ok", "FORAGE_MODEL_CONTEXT", None)}),
    "no worker": (both(no_program("gemini"), without("FORAGE_RESEARCH_WORKER")),
                  {"research.worker": ("ok", "forage researches by itself, with compatible:fake", None),
                   "research.node": ("unused", "by itself", None),
                   "research.sign-in": ("unused", "by itself", None),
                   "research.folder": ("unused", "by itself", None),
                   "clients.configured": ("ok", "Cursor", None)}),
    "neither a worker nor a model": (both(no_program("gemini"), without("FORAGE_MODEL")),
                                     {"research.worker": ("missing", "gemini", "npm install -g @google/gemini-cli"),
                                      "research.model": ("missing", "FORAGE_MODEL is not set", put("FORAGE_MODEL=ollama:qwen3:8b")),
                                      "research.folder": ("unused", "worker", None),
                                      "clients.configured": ("ok", "Cursor", None)}),
    "a worker that is no program": (settings(GEMINI_CLI_PATH="/proc/nonexistent"),
                                    {"research.worker": ("broken", "/proc/nonexistent", "unset GEMINI_CLI_PATH"),
                                     "research.folder": ("unused", "worker", None)}),
    "a worker that fails": (program("gemini", "#!/bin/sh\necho it is broken >&2\nexit 1\n"),
                            {"research.worker": ("broken", "it is broken", "npm install -g @google/gemini-cli"),
                             "research.node": ("unused", "does not need it", None)}),
    "no Node": (no_program("node"),
                {"research.node": ("broken", "not on PATH", "apt-get install nodejs npm"),
                 "research.worker": ("broken", "does not run", "npm install -g @google/gemini-cli")}),
    "an old Node": (program("node", NODE.format(node="18.20.1", worker="0.9.0")),
                    {"research.node": ("broken", "18.20.1 is too old", "npm install -g n && n lts")}),
    "no account": (without("GEMINI_API_KEY", "GOOGLE_API_KEY"),
                   {"research.sign-in": ("missing", "neither a key nor an account", "gemini")}),
    "an account": (signed_in, {"research.sign-in": ("ok", "signed in", None)}),
    "Vertex AI": (settings(GEMINI_API_KEY=None, GOOGLE_API_KEY=None, GOOGLE_CLOUD_PROJECT="a-project"),
                  {"research.sign-in": ("ok", "Vertex AI", None)}),
    "worker's folder is a file": (a_file("GEMINI_SEARCH_CONFIG_DIR"),
                                  {"research.folder": ("broken", "is no folder", "unset GEMINI_SEARCH_CONFIG_DIR && (umask 077 && mkdir -p ~/.config/forage && echo FORAGE_RESEARCH_DIR=")}),
    "a worker's settings with an old path": (
        worker_with_an_old_path,
        {"research.folder": ("warning", "/proc/nonexistent/forage, which is no program; write \"command\": \"", "${EDITOR:-vi} ")}),
    "no Firecrawl": (without("FIRECRAWL_API_KEY", "FIRECRAWL_API_URL"),
                     {"research.firecrawl": ("missing", "not set up", put("FIRECRAWL_API_KEY=YOUR-KEY"))}),
    "a Firecrawl of one's own": (without("FIRECRAWL_API_KEY"),
                                 {"research.firecrawl": ("ok", "FIRECRAWL_API_URL", None)}),
    "data folder is a file": (a_file("FORAGE_DATA_DIR"),
                              {"kept.folder": ("broken", "is no folder", "unset FORAGE_DATA_DIR && (umask 077 && mkdir -p ~/.config/forage && echo FORAGE_DATA_DIR=")}),
    "data folder cannot be made": (settings(FORAGE_DATA_DIR="/proc/nonexistent/folder/forage"),
                                   {"kept.folder": ("broken", "cannot be made", "unset FORAGE_DATA_DIR && (umask 077 && mkdir -p ~/.config/forage && echo FORAGE_DATA_DIR=")}),
    "data folder is open": (an_open_folder("FORAGE_DATA_DIR"),
                            {"kept.folder": ("warning", "mode 0755", "chmod 700 ")}),
    "records are no database": (damaged("records.sqlite"),
                                {"kept.folder": ("ok", "data", None),
                                 "kept.database": ("broken", "not a database", "mv ")}),
    "memories are no database": (damaged("memory.db"),
                                 {"kept.folder": ("ok", "data", None),
                                  "kept.database": ("broken", "not a database", "mv ")}),
    "memories are torn": (torn_memories,
                          {"kept.folder": ("ok", "data", None),
                           "kept.database": ("broken", "memory.db", "forage memory check")}),
    "no model": (without("FORAGE_EMBEDDINGS_FILE"), {"kept.model": ("missing", "by their words alone", "make model")}),
    "vectors of an endpoint": (settings(FORAGE_EMBEDDINGS_URL="http://127.0.0.1:1/v1"),
                               {"kept.model": ("ok", "text-embedding-3-small, by the endpoint", None)}),
    "a model that is none": (a_file("FORAGE_EMBEDDINGS_FILE"), {"kept.model": ("broken", "it is no model", "unset FORAGE_EMBEDDINGS_FILE && ")}),
    "port": (taken_port, {"serving.port": ("broken", "in use", "unset MCP_SERVER_PORT && (umask 077 && mkdir -p ~/.config/forage && echo FORAGE_PORT=")}),
    "no tokens": (settings(MCP_SERVER_HOST="0.0.0.0"),
                  {"serving.tokens": ("broken", "0.0.0.0 can be reached", put('"FORAGE_TOKENS=me:$(head -c 24 /dev/urandom | base64)"')),
                   "serving.port": ("ok", "0.0.0.0", None)}),
    "tokens": (settings(FORAGE_TOKENS="me:a-token-for-me-0123456789"), {"serving.tokens": ("ok", "1 caller with", None)}),
    "tokens in a file": (tokens_file(0o600), {"serving.tokens": ("ok", "1 caller with", None)}),
    "tokens that others can read": (tokens_file(0o644),
                                    {"serving.tokens": ("warning", "others can read it (mode 0644)", "chmod 600 ")}),
    "tokens that a group can read": (tokens_file(0o640),
                                     {"serving.tokens": ("warning", "others can read it (mode 0640)", "chmod 600 ")}),
    "no file of tokens": (settings(FORAGE_TOKENS_FILE="/proc/nonexistent/tokens"),
                          {"serving.tokens": ("broken", "/proc/nonexistent/tokens", "${EDITOR:-vi} /proc/nonexistent/tokens"),
                           "program.start": ("broken", "/proc/nonexistent/tokens", "forage config")}),
    "tokens that are none": (settings(FORAGE_TOKENS="nonsense"),
                             {"serving.tokens": ("broken", "name:token", "unset FORAGE_TOKENS && (umask 077 "),
                              "program.start": ("broken", "name:token", "forage config")}),
    "a client's file": (broken_client, {"clients.configured": ("warning", "mcp.json", "${EDITOR:-vi} ")}),
    "a client without forage": (client_without_forage,
                                {"clients.configured": ("missing", "Cursor", "forage setup cursor")}),
    "a client with an old path": (client_with_an_old_path,
                                  {"clients.configured": ("warning", "/proc/nonexistent/forage mcp", "forage setup cursor")}),
    "no client": (no_client, {"clients.configured": ("missing", "Gemini CLI", "forage setup gemini-cli")}),
}


@pytest.mark.parametrize("name", BROKEN)
def test_one_thing_broken(machine, tmp_path, name):
    breaks, expected = BROKEN[name]
    _, before = machine.examine()
    _, findings = machine.examine(**breaks(machine, tmp_path))
    for check, (state, words, command) in expected.items():
        finding = findings[check]
        assert finding["state"] == state and words in finding["text"], finding
        assert (finding["mend"] or "").startswith(command or "") and bool(finding["mend"]) == bool(command), finding
    changed = {check for check in before if before[check] != findings[check]}
    assert changed == set(expected)


def carry_out(machine, command, **changes):
    """Types what was suggested into a shell, in which forage is then asked again."""
    given = environment({**machine.settings, **changes, "PATH": f"{machine.bin}:/usr/bin:/bin"})
    script = f"{command}\n'{FORAGE}' doctor --json"
    completed = subprocess.run(["sh", "-c", script], env=given, capture_output=True, text=True, timeout=60, check=False)
    assert completed.stderr == "", completed.stderr
    report = json.loads(completed.stdout)
    return {check["id"]: check for group in report["groups"] for check in group["checks"]}


def test_suggested_settings_work_without_a_shell(machine):
    """Each suggestion is carried out; then a client that has none of the shell's variables finds the setting."""
    missing = {"search.serper": "SERPER_API_KEY", "search.exa": "EXA_API_KEY", "pages.github": "GITHUB_TOKEN"}
    changes = dict.fromkeys(missing.values())
    for check, name in missing.items():
        _, findings = machine.examine(**changes)
        assert findings[check]["state"] == "missing" and name in findings[check]["mend"]
        carry_out(machine, findings[check]["mend"].replace("YOUR-KEY", f"the-new-{name}"), **changes)
        _, findings = machine.examine(**changes)
        assert findings[check]["state"] == "ok" and "forage.env:" in findings[check]["text"], findings[check]
    file = machine.home / ".config" / "forage" / "forage.env"
    assert file.stat().st_mode & 0o777 == 0o600 and file.parent.stat().st_mode & 0o777 == 0o700
    assert file.read_text().split("\n") == [*(f"{name}=the-new-{name}" for name in missing.values()), ""]
    assert findings["program.file"]["state"] == "ok"


def test_a_line_is_not_added_to_another(machine):
    """A file whose last line does not end."""
    file = machine.home / "my settings" / "forage.env"
    file.parent.mkdir()
    file.write_text("FORAGE_LOG_LEVEL=info")
    file.chmod(0o600)
    changes = {"SERPER_API_KEY": None, "FORAGE_CONFIG": file}
    _, findings = machine.examine(**changes)
    carry_out(machine, findings["search.serper"]["mend"], **changes)
    assert file.read_text() == "FORAGE_LOG_LEVEL=info\nSERPER_API_KEY=YOUR-KEY\n"


def test_a_suggestion_pasted_as_it_is_sets_nothing(machine):
    changes = {"SERPER_API_KEY": None}
    _, findings = machine.examine(**changes)
    after = carry_out(machine, findings["search.serper"]["mend"], **changes)
    assert after["search.serper"]["state"] == "missing"
    assert after["program.settings"]["state"] == "warning"
    assert "SERPER_API_KEY counts as not set" in after["program.settings"]["text"]


def test_what_the_shell_has_gives_way(machine, keys):
    """A key of the environment that is refused: a new one in the file alone would not count."""
    keys.status["/github/rate_limit"] = 401
    _, findings = machine.examine("--online")
    after = carry_out(machine, findings["pages.github"]["mend"].replace("YOUR-KEY", "the-new-token"))
    assert "forage.env:1" in after["pages.github"]["text"]
    # Now it is wrong in the file, where somebody has to look at it.
    _, findings = machine.examine("--online", GITHUB_TOKEN=None)
    assert findings["pages.github"]["mend"] == "${EDITOR:-vi} ~/.config/forage/forage.env"


def test_refused_settings(machine):
    """Nothing else can be looked at."""
    _, findings = machine.examine(FORAGE_WORKERS="many")
    assert list(findings) == ["program.settings"]
    assert findings["program.settings"]["state"] == "broken"
    assert "FORAGE_WORKERS" in findings["program.settings"]["text"]
    assert findings["program.settings"]["mend"] == "unset FORAGE_WORKERS"


def test_we_serve_there_ourselves(machine):
    with Server() as server:
        _, findings = machine.examine(MCP_SERVER_PORT=server.port)
        assert findings["serving.port"]["state"] == "ok"
        assert f"forage serves on 127.0.0.1, port {server.port}" in findings["serving.port"]["text"]


def test_claude(machine):
    """The other worker: its own program, key and account."""
    chosen = {"FORAGE_RESEARCH_WORKER": "claude"}
    _, findings = machine.examine(**chosen)
    assert findings["research.worker"]["mend"] == "npm install -g @anthropic-ai/claude-code"
    write_program(machine.bin / "claude", "#!/bin/sh\necho 2.1.0\n")
    _, findings = machine.examine(**chosen)
    assert findings["research.worker"]["text"].endswith("2.1.0") and findings["research.node"]["state"] == "unused"
    assert "ANTHROPIC_API_KEY" in findings["research.sign-in"]["text"]
    none = dict.fromkeys(["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"])
    _, findings = machine.examine(**chosen, **none)
    assert findings["research.sign-in"]["state"] == "missing" and findings["research.sign-in"]["mend"] == "claude"
    (machine.home / ".claude").mkdir()
    (machine.home / ".claude" / ".credentials.json").write_text("{}")
    _, findings = machine.examine(**chosen, **none)
    assert findings["research.sign-in"]["state"] == "ok"


# ---- open sources ----


def test_open_sources_are_named_by_what_they_search(tmp_path):
    """What would be asked is known without asking."""
    with Service() as encyclopedia:
        settings = {**nothing(tmp_path), "FORAGE_SEARCH_PROVIDERS": "open", "WIKIPEDIA_BASE_URL": encyclopedia.url}
        report = json.loads(run("doctor", "--json", **settings).stdout)
        assert encyclopedia.requests == []
    group = next(group for group in report["groups"] if group["id"] == "search")
    findings = {check["id"]: check for check in group["checks"]}
    assert group["state"] == "works" and findings["search.order"]["text"] == "open sources"
    assert findings["search.open"]["state"] == "ok" and findings["search.open"]["mend"] is None
    assert re.search(r"^the web: .*Wikipedia", findings["search.open"]["text"])


def test_open_sources_beside_keys_and_by_their_names(machine):
    _, findings = machine.examine(FORAGE_SEARCH_PROVIDERS="tavily,wikipedia")
    assert findings["search.order"]["text"] == "Tavily, then open sources"
    assert (findings["search.open"]["state"], findings["search.open"]["text"]) == ("ok", "the web: Wikipedia")


class Encyclopedia(Service):
    status = 200

    def answer(self, asked):
        assert asked.path == "/w/api.php" and asked.query["list"] == "search"
        return Reply({"query": {"search": []}}, self.status)


@pytest.mark.parametrize("status,state,words", [(200, "ok", "Wikipedia answers (HTTP 200)"),
                                                (403, "warning", "Wikipedia does not answer (HTTP 403)"),
                                                (503, "warning", "Wikipedia does not answer (HTTP 503)")])
def test_online_one_open_source_is_asked(machine, status, state, words):
    with Encyclopedia() as encyclopedia:
        encyclopedia.status = status
        chosen = {"FORAGE_SEARCH_PROVIDERS": "wikipedia", "WIKIPEDIA_BASE_URL": encyclopedia.url}
        _, findings = machine.examine("--online", **chosen)
        assert len(encyclopedia.requests) == 1
    assert findings["search.open"]["state"] == state and words in findings["search.open"]["text"]


def test_online_an_open_source_out_of_reach(machine):
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        closed = nobody.getsockname()[1]
    chosen = {"FORAGE_SEARCH_PROVIDERS": "wikipedia", "WIKIPEDIA_BASE_URL": f"http://127.0.0.1:{closed}"}
    _, findings = machine.examine("--online", **chosen)
    assert findings["search.open"]["state"] == "warning" and "Wikipedia does not answer: " in findings["search.open"]["text"]


# ---- PostgreSQL ----


def test_postgres(machine, postgres):  # noqa: F811
    url = postgres.database()
    _, findings = machine.examine(FORAGE_DATABASE_URL=url)
    assert findings["kept.folder"]["state"] == "unused"
    assert findings["kept.database"]["state"] == "ok" and "at first use" in findings["kept.database"]["text"]
    assert postgres.query(url, "SELECT to_regclass('forage_schema') IS NULL") == [["t"]]  # a doctor looks
    assert run("memory", "add", "words", **{**machine.settings, "FORAGE_DATABASE_URL": url}).returncode == 0
    _, findings = machine.examine(FORAGE_DATABASE_URL=url)
    assert findings["kept.database"]["state"] == "ok" and re.search(r"memory \d", findings["kept.database"]["text"])


def no_libpq(tmp):
    folder = tmp / "libraries"
    folder.mkdir()
    for name in ("libpq.so.5", "libpq.5.dylib"):
        (folder / name).write_text("no library")
    return {"LD_LIBRARY_PATH": folder}


def test_postgres_broken(machine, postgres, tmp_path):  # noqa: F811
    url = postgres.database()
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        closed = nobody.getsockname()[1]
    cases = [
        ({"FORAGE_DATABASE_URL": f"postgresql://forage:{PASSWORD}@127.0.0.1:{closed}/x"}, "cannot be used", "psql "),
        ({"FORAGE_DATABASE_URL": url + "-that-is-not-there"}, "does not exist", "psql "),
        ({"FORAGE_DATABASE_URL": "mysql://root@localhost/x"}, "postgresql://", "unset FORAGE_DATABASE_URL && "),
        ({"FORAGE_DATABASE_URL": url, **no_libpq(tmp_path)}, "libpq", "apt-get install libpq5"),
    ]
    _, before = machine.examine(FORAGE_DATABASE_URL=url)
    for changes, words, command in cases:
        _, findings = machine.examine(**changes)
        finding = findings["kept.database"]
        assert finding["state"] == "broken" and words in finding["text"] and finding["mend"].startswith(command), finding
        assert {name for name in before if before[name] != findings[name]} == {"kept.database"}


# ---- online ----

# A check, the fake behind it, and how its address is set.
ASKED = {
    "search.serper": ("serper", "SERPER_BASE_URL"),
    "search.searxng": ("searxng", "SEARXNG_BASE_URL"),
    "search.brave": ("brave", "BRAVE_BASE_URL"),
    "search.exa": ("exa", "EXA_BASE_URL"),
    "search.tavily": ("/tavily/usage", "TAVILY_BASE_URL"),
    "pages.github": ("/github/rate_limit", "GITHUB_BASE_URL"),
    "pages.stackexchange": ("/stackexchange/2.3/info", "STACKEXCHANGE_BASE_URL"),
    "answers.openai": ("/openai/models", "OPENAI_BASE_URL"),
    "research.sign-in": ("/gemini/v1beta/models", "GOOGLE_GEMINI_BASE_URL"),
    "research.firecrawl": ("/firecrawl/v2/team/credit-usage", "FIRECRAWL_API_URL"),
}


def answer_with(world, keys, fake, status):
    if fake.startswith("/"):
        keys.status[fake] = status
    else:
        world[fake].mishap = status


def test_online_accepted(machine, world, keys):
    _, findings = machine.examine("--online")
    for check in ASKED:
        assert findings[check]["state"] == "ok" and "accepted (HTTP 200)" in findings[check]["text"], findings[check]
    # One request each, and no more.
    assert world.searches() == dict.fromkeys(["serper", "searxng", "brave", "exa"], 1)
    model = "/model/v1/chat/completions"
    assert sorted(keys.paths()) == sorted([model, *(fake for fake, _ in ASKED.values() if fake.startswith("/"))])
    assert findings["research.model"]["text"] == "compatible:fake answers and uses tools"


# What the model's server does, and what is said of it then.
MODELS = {
    "a wrong key": ({"FORAGE_MODEL_KEY": "somebody-elses-key-0123"}, None, "broken", "refused the key (HTTP 401)"),
    "no such model": ({}, 404, "broken", "no such interface"),
    "it fails": ({}, 501, "broken", "HTTP 501"),
}


@pytest.mark.parametrize("name", MODELS)
def test_online_model(machine, keys, name):
    changes, status, state, words = MODELS[name]
    if status:
        keys.status["/model/v1/chat/completions"] = status
    _, findings = machine.examine("--online", **changes)
    finding = findings["research.model"]
    assert finding["state"] == state and words in finding["text"], finding


@pytest.mark.parametrize(
    ("said", "state", "words"),
    [
        (Say("yes"), "warning", "answers, but did not use the tool"),
        (Use("answer", word="yes"), "ok", "ollama:fake answers and uses tools"),
        (Fault(400, {"error": {"message": "fake does not support tools"}}), "warning", "takes no tools"),
        (Fault(404, {"error": {"message": "model 'fake' not found"}}), "broken", 'has no model "fake"'),
    ],
)
def test_online_local_model(machine, said, state, words):
    with Models(lambda turn: said) as models:
        finding = machine.examine("--online", **models.environment("ollama", "fake"))[1]["research.model"]
        assert finding["state"] == state and words in finding["text"], finding


@pytest.mark.parametrize("check", ASKED)
def test_online_refused(machine, world, keys, check):
    fake, variable = ASKED[check]
    if check == "search.searxng":  # it has no key: 403 is JSON that is switched off
        answer_with(world, keys, fake, 403)
        words, command = "JSON is switched off", "add json to search.formats"
    else:
        answer_with(world, keys, fake, 401)
        words, command = "is refused (HTTP 401)", "unset "
    _, findings = machine.examine("--online")
    assert findings[check]["state"] == "broken" and words in findings[check]["text"], findings[check]
    assert findings[check]["mend"].startswith(command)
    assert {name for name, state in states(findings).items() if state == "broken"} == {check}


@pytest.mark.parametrize("check", ASKED)
def test_online_out_of_reach(machine, check):
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        closed = nobody.getsockname()[1]
    _, findings = machine.examine("--online", **{ASKED[check][1]: f"http://127.0.0.1:{closed}"})
    assert findings[check]["state"] == "broken" and "could not be tried" in findings[check]["text"], findings[check]
    assert findings[check]["mend"].startswith(f"curl -v http://127.0.0.1:{closed}")
    assert {name for name, state in states(findings).items() if state == "broken"} == {check}


def test_online_used_up(machine, world, keys):
    world["serper"].mishap = 429
    keys.status["/tavily/usage"] = 432
    _, findings = machine.examine("--online")
    for check in ("search.serper", "search.tavily"):
        assert findings[check]["state"] == "warning" and "is accepted, but" in findings[check]["text"]


def test_online_with_a_wrong_key(machine):
    """Not only a fake that refuses everybody."""
    _, findings = machine.examine("--online", GITHUB_TOKEN="a-token-of-somebody-else", EXA_API_KEY="not-the-right-key-at-all")
    assert {name for name, state in states(findings).items() if state == "broken"} == {"pages.github", "search.exa"}


def test_every_check_is_documented(tmp_path):
    report = json.loads(run("doctor", "--json", **nothing(tmp_path)).stdout)
    page = (ROOT / "docs" / "doctor.md").read_text()
    for group in report["groups"]:
        for check in group["checks"]:
            assert f"| `{check['id']}` |" in page


def test_nothing_secret_is_told(machine):
    """Every key of the machine is looked for in all output by the watch; here, that there is something to look for."""
    shown = environment(machine.settings)
    told = run("doctor", **machine.settings).stdout + run("doctor", "--json", "--online", **machine.settings).stdout
    for name in ("SERPER_API_KEY", "OPENAI_API_KEY", "GITHUB_TOKEN"):
        assert name in told and shown[name] not in told
    assert os.environ.get("HOME", "/proc/nonexistent") not in told
