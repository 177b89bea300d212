"""`forage setup`: the files of nine clients before and after, and everything around the writing of them."""

import difflib
import json
import os
import pathlib
import pty
import re
import shutil
import stat
import subprocess
import tomllib

import pytest
from programs import FORAGE, PATIENCE, ROOT, environment, run
from secrets_watch import CANARY
from setup_cases import CLIENTS, KEYS, URL, broken, cases

JSON_CLIENTS = [name for name, client in CLIENTS.items() if not client.is_toml]


def setup(home, *arguments, folder=None, **settings):
    """Runs `forage setup` for a user with this home."""
    return run(
        "-C",
        folder or home,
        FORAGE,
        "setup",
        *arguments,
        program="/usr/bin/env",
        HOME=home,
        XDG_CONFIG_HOME=None,
        XDG_DATA_HOME=None,
        **settings,
    )


def usual(home, client, *arguments, **settings):
    """With the keys and the command that the cases are made for."""
    return setup(home, client, "--keys", KEYS, "--command", "forage", *arguments, **settings)


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    if data is not None:
        path.write_bytes(data)


def parse_jsonc(texts):
    """Documents as the parser of VS Code reads them; one that it finds wrong is an error."""
    modules = ROOT / ".deps" / "node" / "node_modules"
    node = shutil.which("node", path=f"{ROOT / '.deps' / 'bin'}:{os.environ['PATH']}")
    assert node and (modules / "jsonc-parser").exists(), "scripts/setup test installs jsonc-parser"
    script = """
        const { parse, printParseErrorCode } = require(process.argv[1] + '/jsonc-parser');
        const texts = JSON.parse(require('fs').readFileSync(0, 'utf8'));
        const options = { allowTrailingComma: true, allowEmptyContent: true };
        console.log(JSON.stringify(texts.map(text => {
            const errors = [];
            const value = parse(text.replace(/^\\uFEFF/, ''), errors, options);
            return errors.length ? { errors: errors.map(e => printParseErrorCode(e.error)) } : { value: value ?? {} };
        })));
    """
    completed = subprocess.run(
        [node, "-e", script, str(modules)], input=json.dumps(texts).encode(), capture_output=True, timeout=PATIENCE, check=True
    )
    found = json.loads(completed.stdout)
    assert not [one for one in found if "errors" in one], found
    return [one["value"] for one in found]


# ---- before and after ----


@pytest.mark.parametrize("client,case,before,after", cases(), ids=lambda value: value if isinstance(value, str) else "")
def test_before_and_after(client, case, before, after, tmp_path):
    path = tmp_path / CLIENTS[client].path
    write(path, before)
    written = usual(tmp_path, client, "--yes")
    assert written.returncode == 0, written.stderr
    assert path.read_bytes() == after
    assert str(path) in written.stdout
    # Once more changes nothing, and says so.
    again = usual(tmp_path, client, "--yes")
    assert again.returncode == 0 and "has forage already" in again.stdout
    assert path.read_bytes() == after
    # And back, byte for byte.
    back = setup(tmp_path, client, "--undo", "--yes")
    assert back.returncode == 0, back.stderr
    assert (path.read_bytes() if path.exists() else None) == before
    assert "nothing to take back" in setup(tmp_path, client, "--undo", "--yes").stdout
    # Nothing is left beside the file, or of what was remembered.
    assert {entry.name for entry in path.parent.iterdir()} <= {path.name, ".local"}
    assert not (tmp_path / ".local/share/forage/setup").exists()


@pytest.mark.parametrize("client", JSON_CLIENTS)
def test_vscodes_parser_sees_one_member_more(client):
    mine = [(before, after) for name, _, before, after in cases() if name == client]
    before = parse_jsonc([(text or b"").decode("utf-8") for text, _ in mine])
    after = parse_jsonc([text.decode("utf-8") for _, text in mine])
    servers = CLIENTS[client].servers
    entry = json.loads("{" + "".join(CLIENTS[client].entry) + "}")
    assert entry["command"] == "forage" and entry["args"][0] == "mcp"
    for old, new in zip(before, after, strict=True):
        assert new == {**old, servers: {**old.get(servers, {}), "forage": entry}}
        assert list(new)[: len(old)] == list(old)


def test_tomllib_sees_one_table_more():
    for name, _, before, after in cases():
        if CLIENTS[name].is_toml:
            old = tomllib.loads((before or b"").decode("utf-8-sig"))
            new = tomllib.loads(after.decode("utf-8-sig"))
            entry = tomllib.loads("\n".join(CLIENTS[name].entry))
            assert new == {**old, "mcp_servers": {**old.get("mcp_servers", {}), "forage": entry}}


@pytest.mark.parametrize("client,text,place,words", broken(), ids=lambda value: value if isinstance(value, str) else "")
def test_broken_files_are_refused_and_untouched(client, text, place, words, tmp_path):
    path = tmp_path / CLIENTS[client].path
    write(path, text)
    for arguments in (("--yes",), ("--yes", "--json")):
        refused = usual(tmp_path, client, *arguments)
        assert refused.returncode == 1
        assert f"{path}:{place}" in refused.stderr and words in refused.stderr
        assert "nothing was changed" in refused.stderr
        assert path.read_bytes() == text
    assert setup(tmp_path, client, "--undo", "--yes").returncode == 1
    assert path.read_bytes() == text
    assert not (tmp_path / ".local/share/forage/setup").exists()


def test_a_key_that_is_there_twice_is_not_changed(tmp_path):
    path = tmp_path / ".codex/config.toml"
    write(path, b'[mcp_servers.forage]\ncommand = "a"\ncommand = "b"\n')
    before = path.read_bytes()
    refused = usual(tmp_path, "codex", "--yes")
    assert refused.returncode == 1 and f"{path}:3:1: command is there more than once" in refused.stderr
    assert path.read_bytes() == before


# ---- an entry that is there already ----


def test_own_members_of_an_entry_and_comments_stay(tmp_path):
    path = tmp_path / ".gemini/settings.json"
    write(
        path,
        b"""{
  "mcpServers": {
    "forage": { // mine
      "command": "/old/forage", // where it was
      "args": [
        "mcp", "--context", "gemini-cli" // serve
      ],
      "trust": true,
      "url": "http://old",
      "env": { "FORAGE_TOOLS": "web", "SERPER_API_KEY": "an-old-secret" }
    }, // after
    "other": {}
  }
}
""",
    )
    changed = usual(tmp_path, "gemini-cli", "--yes")
    assert changed.returncode == 0, changed.stderr
    assert (
        path.read_text()
        == """{
  "mcpServers": {
    "forage": { // mine
      "command": "forage", // where it was
      "args": [
        "mcp", "--context", "gemini-cli" // serve
      ],
      "trust": true,
      "env": { "FORAGE_TOOLS": "web", "SERPER_API_KEY": "${SERPER_API_KEY}", "SEARXNG_BASE_URL": "${SEARXNG_BASE_URL}" }
    }, // after
    "other": {}
  }
}
"""
    )
    # What looks like a secret is not shown, not even when it goes.
    assert "an-old-secret" not in changed.stdout and '"SERPER_API_KEY": "***"' in changed.stdout
    assert "Updated" in changed.stdout


def test_own_keys_of_a_table_and_comments_stay(tmp_path):
    path = tmp_path / ".codex/config.toml"
    write(
        path,
        b"""[mcp_servers.forage] # mine
command = '/old/forage' # where it was
url = "http://old"
startup_timeout_sec = 20

[mcp_servers.forage.env]
FORAGE_TOOLS = "web"

[tui]
""",
    )
    assert usual(tmp_path, "codex", "--yes").returncode == 0
    assert (
        path.read_text()
        == """[mcp_servers.forage] # mine
command = "forage" # where it was
startup_timeout_sec = 20
args = ["mcp", "--context", "codex"]
env_vars = ["SERPER_API_KEY", "SEARXNG_BASE_URL"]

[mcp_servers.forage.env]
FORAGE_TOOLS = "web"

[tui]
"""
    )


def test_the_same_in_other_words_is_the_same(tmp_path):
    """Another layout, other escapes, other quotes: nothing to do."""
    write(
        tmp_path / ".cursor/mcp.json",
        b'{"mcpServers":{"forage":{"args":["mc\\u0070","--context","cursor"],"command":"forage","env":{"FORAGE_TOOLS":"web","SERPER_API_KEY":"${env:SERPER_API_KEY}",'
        b'"SEARXNG_BASE_URL":"${env:SEARXNG_BASE_URL}","X":"y"},"disabled":false}}}',
    )
    write(
        tmp_path / ".codex/config.toml",
        b"[mcp_servers.'forage']\nenv_vars = [\n  'SERPER_API_KEY', # one\n  'SEARXNG_BASE_URL',\n]\nargs = ['mcp', '--context', 'codex']\ncommand = 'forage'\nenv.FORAGE_TOOLS = 'web'\n",
    )
    for client in ("cursor", "codex"):
        before = (tmp_path / CLIENTS[client].path).read_bytes()
        assert "has forage already" in usual(tmp_path, client, "--yes").stdout
        assert (tmp_path / CLIENTS[client].path).read_bytes() == before


def test_from_a_program_to_a_url_and_back(tmp_path):
    path = tmp_path / ".cline/data/settings/cline_mcp_settings.json"
    assert usual(tmp_path, "cline", "--yes").returncode == 0
    first = path.read_bytes()
    assert setup(tmp_path, "cline", "--http", URL, "--token", "MY_FORAGE_TOKEN", "--yes").returncode == 0
    assert json.loads(path.read_text())["mcpServers"]["forage"] == CLIENTS["cline"].remote
    assert usual(tmp_path, "cline", "--yes").returncode == 0
    assert json.loads(path.read_text()) == json.loads(first)
    # All of it is one change of ours: taken back together.
    assert setup(tmp_path, "cline", "--undo", "--yes").returncode == 0
    assert not path.exists()


# ---- taking back ----


def below(folder):
    """Everything in a folder but what forage keeps for itself."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if ".local" not in path.parts)


@pytest.mark.parametrize("client", CLIENTS)
def test_undo_removes_the_folders_that_it_made(client, tmp_path):
    usual(tmp_path, client, "--yes")
    # A second set-up, of another form, is part of the same change.
    setup(tmp_path, client, "--http", URL, "--token", "MY_FORAGE_TOKEN", "--yes")
    back = setup(tmp_path, client, "--undo", "--yes")
    assert back.returncode == 0, back.stderr
    assert below(tmp_path) == []
    assert [path.name for path in (tmp_path / ".local/share/forage").iterdir()] == []


def test_undo_leaves_folders_that_others_made_or_use(tmp_path):
    path = tmp_path / CLIENTS["cline"].path  # .cline/data/settings/...
    (tmp_path / ".cline").mkdir()
    usual(tmp_path, "cline", "--yes")
    assert setup(tmp_path, "cline", "--undo", "--yes").returncode == 0
    assert below(tmp_path) == [".cline"]  # it was there before
    usual(tmp_path, "cline", "--yes")
    (path.parent.parent / "of-the-client").write_text("its own")
    back = setup(tmp_path, "cline", "--undo", "--yes")
    assert back.returncode == 0 and f"and the folder {path.parent}" in back.stdout
    assert below(tmp_path) == [".cline", ".cline/data", ".cline/data/of-the-client"]


@pytest.mark.parametrize("made", [None, 7, "", ".cline", "HOME/.cl", "HOME/empty", "HOME/.cline/data/settings/cline_mcp_settings.json"])
def test_undo_believes_no_record_that_names_other_folders(made, tmp_path):
    """Nor does it need one: records of older versions have none."""
    usual(tmp_path, "cline", "--yes")
    (tmp_path / "empty").mkdir()
    (record,) = (tmp_path / ".local/share/forage/setup").glob("*.json")
    made = made.replace("HOME", str(tmp_path)) if isinstance(made, str) else made
    record.write_text(json.dumps({**json.loads(record.read_text()), "made": made}))
    assert setup(tmp_path, "cline", "--undo", "--yes").returncode == 0
    assert below(tmp_path) == [".cline", ".cline/data", ".cline/data/settings", "empty"]


@pytest.mark.parametrize("client", CLIENTS)
def test_undo_after_somebody_else_changed_the_file(client, tmp_path):
    """Only the entry goes, and what was made for it."""
    path = tmp_path / CLIENTS[client].path
    is_toml = CLIENTS[client].is_toml
    write(path, b"model = 'x'\n" if is_toml else b'{\n  "theme": "dark"\n}\n')
    assert usual(tmp_path, client, "--yes").returncode == 0
    text = path.read_text()
    path.write_text(text + "\n[later]\nx = 1\n" if is_toml else text.replace('"dark"', '"light" /* later */'))
    back = setup(tmp_path, client, "--undo", "--yes")
    assert back.returncode == 0, back.stderr
    expected = "model = 'x'\n\n[later]\nx = 1\n" if is_toml else '{\n  "theme": "light" /* later */\n}\n'
    assert path.read_text() == expected


def test_undo_without_a_memory_takes_the_entry_out(tmp_path):
    path = tmp_path / ".gemini/settings.json"
    write(path, b'{\n  "mcpServers": {\n    "forage": {"command": "forage"},\n    "other": {}\n  }\n}\n')
    assert setup(tmp_path, "gemini-cli", "--undo", "--yes").returncode == 0
    assert path.read_text() == '{\n  "mcpServers": {\n    "other": {}\n  }\n}\n'


def test_undo_restores_an_entry_of_the_users_own(tmp_path):
    path = tmp_path / ".cursor/mcp.json"
    own = b'{"mcpServers": {"forage": {"command": "mine"}}}'
    write(path, own)
    assert usual(tmp_path, "cursor", "--yes").returncode == 0
    backups = list((tmp_path / ".local/share/forage/setup").glob("*.backup"))
    assert [backup.read_bytes() for backup in backups] == [own]
    assert setup(tmp_path, "cursor", "--undo", "--yes").returncode == 0
    assert path.read_bytes() == own


def test_undo_of_a_second_set_up_takes_forage_out_as_well(tmp_path):
    path = tmp_path / ".cursor/mcp.json"
    write(path, b'{\n  "mcpServers": {\n    "other": {}\n  }\n}\n')
    assert usual(tmp_path, "cursor", "--yes").returncode == 0
    path.write_text(path.read_text().replace('"other": {}', '"other": {"by": "somebody"}'))
    assert setup(tmp_path, "cursor", "--command", "another", "--yes").returncode == 0
    assert json.loads(path.read_text())["mcpServers"]["forage"]["command"] == "another"
    assert setup(tmp_path, "cursor", "--undo", "--yes").returncode == 0
    assert path.read_text() == '{\n  "mcpServers": {\n    "other": {"by": "somebody"}\n  }\n}\n'


def test_a_client_that_is_not_here_is_told(tmp_path):
    nowhere = {"PATH": "/proc/nonexistent"}
    assert "Zed does not seem to be installed here" in usual(tmp_path, "zed", "--yes", **nowhere).stderr
    assert "does not seem" not in usual(tmp_path, "zed", "--yes", **nowhere).stderr


def test_two_names_are_taken_back_each_for_itself(tmp_path):
    path = tmp_path / ".cursor/mcp.json"
    for name in ("forage", "second"):
        assert usual(tmp_path, "cursor", "--name", name, "--yes").returncode == 0
    assert list(json.loads(path.read_text())["mcpServers"]) == ["forage", "second"]
    assert setup(tmp_path, "cursor", "--undo", "--yes").returncode == 0
    assert list(json.loads(path.read_text())["mcpServers"]) == ["second"]
    assert setup(tmp_path, "cursor", "--undo", "--name", "second", "--yes").returncode == 0
    assert "second" not in path.read_text()


# ---- files ----


def test_links_permissions_and_folders(tmp_path):
    real = tmp_path / "dotfiles" / "settings.json"
    write(real, b"{}\n")
    real.chmod(0o640)
    link = tmp_path / ".gemini/settings.json"
    link.parent.mkdir()
    link.symlink_to(real)
    assert usual(tmp_path, "gemini-cli", "--yes").returncode == 0
    assert link.is_symlink() and "forage" in real.read_text()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert [entry.name for entry in real.parent.iterdir()] == ["settings.json"]
    assert setup(tmp_path, "gemini-cli", "--undo", "--yes").returncode == 0
    assert link.is_symlink() and real.read_bytes() == b"{}\n"
    # A new file of the user's is private, and so are the folders on the way to it; a project's is not.
    assert usual(tmp_path, "cline", "--yes").returncode == 0
    new = tmp_path / CLIENTS["cline"].path
    assert stat.S_IMODE(new.stat().st_mode) == 0o600
    assert stat.S_IMODE(new.parent.stat().st_mode) == 0o700
    project = tmp_path / "project"
    project.mkdir()
    assert usual(tmp_path, "vscode", "--scope", "project", "--yes", folder=project).returncode == 0
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((project / ".vscode/mcp.json").stat().st_mode) == 0o666 & ~mask
    assert stat.S_IMODE((project / ".vscode").stat().st_mode) == 0o777 & ~mask


def test_what_is_no_file_is_refused(tmp_path):
    path = tmp_path / ".cursor/mcp.json"
    path.parent.mkdir()
    path.symlink_to(tmp_path / "nowhere")
    refused = usual(tmp_path, "cursor", "--yes")
    assert refused.returncode == 1 and "a link to a file that is not there" in refused.stderr
    path.unlink()
    path.mkdir()
    refused = usual(tmp_path, "cursor", "--yes")
    assert refused.returncode == 1 and "is no file" in refused.stderr
    path.rmdir()
    os.mkfifo(path)
    assert usual(tmp_path, "cursor", "--yes").returncode == 1
    path.unlink()
    path.write_bytes(b"{}" + b" " * (33 << 20))
    refused = usual(tmp_path, "cursor", "--yes")
    assert refused.returncode == 1 and "larger than 32 MiB" in refused.stderr


def test_large_files_and_deep_ones(tmp_path):
    """Claude Code keeps histories in its file: megabytes, and one line of them is not shown whole."""
    path = tmp_path / ".claude.json"
    document = {"projects": {str(n): {"history": ["x" * 500] * 4} for n in range(2000)}, "tips": {}}
    write(path, json.dumps(document, indent=2).encode())
    written = usual(tmp_path, "claude-code", "--yes")
    assert written.returncode == 0 and len(written.stdout) < 5000
    new = json.loads(path.read_text())
    assert new.pop("mcpServers")["forage"]["command"] == "forage"
    assert new == document


# ---- asking ----


class Terminal:
    """`forage setup` on a terminal."""

    def __init__(self, home, *arguments):
        self.master, slave = pty.openpty()
        variables = environment({"HOME": str(home), "XDG_DATA_HOME": None})
        self.process = subprocess.Popen(
            [FORAGE, "setup", *arguments], stdin=slave, stdout=slave, stderr=slave, env=variables, cwd=home
        )
        os.close(slave)
        self.text = ""

    def read_until(self, words):
        while words not in self.text:
            try:
                piece = os.read(self.master, 4096)
            except OSError:
                piece = b""
            assert piece, self.text
            self.text += piece.decode()

    def answer(self, words):
        os.write(self.master, words.encode())
        try:
            while piece := os.read(self.master, 4096):
                self.text += piece.decode()
        except OSError:
            pass  # how a terminal ends
        os.close(self.master)
        return self.process.wait(PATIENCE)


def test_it_asks_on_a_terminal(tmp_path):
    path = tmp_path / ".cursor/mcp.json"
    write(path, b"{}\n")
    for answer, code in (("n\n", 1), ("\n", 1), ("y\n", 0)):
        assert path.read_bytes() == b"{}\n"
        terminal = Terminal(tmp_path, "cursor", "--keys", KEYS)
        terminal.read_until("[y/N]")
        assert '+    "forage": {' in terminal.text
        assert terminal.answer(answer) == code
        assert ("Nothing was written" in terminal.text) == (code == 1)
    assert "forage" in path.read_text()


def test_a_file_that_changes_meanwhile_is_left_alone(tmp_path):
    path = tmp_path / ".cursor/mcp.json"
    write(path, b"{}\n")
    terminal = Terminal(tmp_path, "cursor", "--keys", KEYS)
    terminal.read_until("[y/N]")
    path.write_bytes(b'{"somebody": "else"}\n')
    assert terminal.answer("y\n") == 1
    assert "was changed meanwhile" in terminal.text
    assert path.read_bytes() == b'{"somebody": "else"}\n'
    assert [entry.name for entry in path.parent.iterdir()] == ["mcp.json"]


def test_without_a_terminal_nothing_is_written(tmp_path):
    path = tmp_path / ".gemini/settings.json"
    before = b'{\n  "a": 1,\n  "b": 2,\n  "c": 3,\n  "d": 4\n}\n'
    write(path, before)
    shown = usual(tmp_path, "gemini-cli")
    assert shown.returncode == 1
    assert path.read_bytes() == before
    assert "--yes" in shown.stdout
    # What is shown is a difference that patch understands: what --yes would make.
    assert usual(tmp_path, "gemini-cli", "--yes").returncode == 0
    expected = difflib.unified_diff(
        before.decode().splitlines(True), path.read_text().splitlines(True), str(path), str(path), n=3
    )
    hunk = shown.stdout.split("\nNothing")[0]
    assert hunk.splitlines()[2:] == "".join(expected).splitlines()[2:]


# ---- printing, listing ----


@pytest.mark.parametrize("client", CLIENTS)
def test_print_prints_and_writes_nothing(client, tmp_path):
    printed = usual(tmp_path, client, "--print")
    assert printed.returncode == 0
    assert str(tmp_path / CLIENTS[client].path) in printed.stderr
    (expected,) = [after for name, case, _, after in cases() if (name, case) == (client, "absent")]
    assert printed.stdout.encode() == expected
    assert not list(tmp_path.iterdir())
    as_json = json.loads(usual(tmp_path, client, "--print", "--json").stdout)
    assert as_json["snippet"].encode() == expected and as_json["path"] == str(tmp_path / CLIENTS[client].path)


def test_the_list_knows_who_is_here_and_who_has_it(tmp_path):
    listed = {one["id"]: one for one in json.loads(setup(tmp_path, "--json", PATH="/proc/nonexistent:/usr/bin").stdout)}
    assert list(listed) == list(CLIENTS)
    for name, one in listed.items():
        assert one["path"] == str(tmp_path / CLIENTS[name].path)
        assert one["configured"] is False and "problem" not in one
    (tmp_path / ".codeium/windsurf").mkdir(parents=True)
    write(tmp_path / ".zed/x", b"")
    write(tmp_path / ".gemini/settings.json", b"{,}")
    assert usual(tmp_path, "codex", "--yes").returncode == 0
    assert usual(tmp_path, "cursor", "--yes").returncode == 0
    assert setup(tmp_path, "vscode", "--http", URL, "--yes").returncode == 0
    listed = {one["id"]: one for one in json.loads(setup(tmp_path, "--json").stdout)}
    assert listed["windsurf"]["found"] and not listed["windsurf"]["configured"]
    assert listed["codex"]["configured"] and listed["codex"]["command"] == "forage mcp --context codex"
    assert listed["cursor"]["configured"] and listed["cursor"]["command"] == "forage mcp --context cursor"
    assert listed["vscode"]["command"] == URL
    assert "line 1, column 2" in listed["gemini-cli"]["problem"] and listed["gemini-cli"]["found"]
    text = setup(tmp_path).stdout
    assert re.search(r"^codex +Codex +has forage +forage mcp --context codex$", text, re.M)
    assert re.search(r"^windsurf +Windsurf +found", text, re.M)


def test_json_for_scripts(tmp_path):
    planned = json.loads(usual(tmp_path, "cursor", "--json").stdout)
    path = tmp_path / ".cursor/mcp.json"
    assert (planned["change"], planned["written"]) == ("added", False) and not path.exists()
    assert planned["diff"].startswith("--- /dev/null\n+++ " + str(path))
    done = json.loads(usual(tmp_path, "cursor", "--json", "--yes").stdout)
    assert (done["change"], done["written"]) == ("added", True) and path.exists()
    assert done["snippet"] == path.read_text()
    assert json.loads(usual(tmp_path, "cursor", "--json", "--yes").stdout)["change"] == "same"
    back = json.loads(setup(tmp_path, "cursor", "--json", "--undo", "--yes").stdout)
    assert (back["change"], back["written"]) == ("restored", True) and not path.exists()
    assert json.loads(setup(tmp_path, "cursor", "--json", "--undo", "--yes").stdout)["change"] == "none"


# ---- keys ----


def everything_below(folder):
    return b"".join(path.read_bytes() for path in pathlib.Path(folder).rglob("*") if path.is_file())


def test_no_value_of_a_key_is_written_unasked(tmp_path):
    """Every secret variable is set (tests/blackbox/secrets_watch.py)."""
    for client in CLIENTS:
        written = setup(tmp_path, client, "--yes", FORAGE_TOKENS="alice:token-of-alice-for-setup")
        assert written.returncode == 0, written.stderr
        text = (tmp_path / CLIENTS[client].path).read_text()
        if client not in ("zed", "claude-desktop"):
            # Those that forage can use, and not the tokens of callers or of Claude Code.
            assert "SERPER_API_KEY" in text and "OPENAI_API_KEY" in text
        assert "FORAGE_TOKENS" not in text and "ANTHROPIC_API_KEY" not in text
        assert ("~/.config/forage/forage.env" in written.stdout) == (client == "claude-desktop")
    assert CANARY.encode() not in everything_below(tmp_path)


@pytest.mark.parametrize("client", CLIENTS)
def test_values_are_written_where_that_is_asked_for(client, tmp_path):
    value = 'a "quoted" value'
    path = tmp_path / CLIENTS[client].path
    # Not a secret, so that it may be in the output.
    asked = setup(tmp_path, client, "--keys", "SEARXNG_BASE_URL", "--with-keys", "--yes", SEARXNG_BASE_URL=value)
    assert asked.returncode == 0, asked.stderr
    document = tomllib.loads(path.read_text()) if CLIENTS[client].is_toml else json.loads(path.read_text())
    assert document[CLIENTS[client].servers]["forage"]["env"] == {"FORAGE_TOOLS": "ready", "SEARXNG_BASE_URL": value}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    again = setup(tmp_path, client, "--keys", "SEARXNG_BASE_URL", "--with-keys", "--yes", SEARXNG_BASE_URL=value)
    assert "has forage already" in again.stdout
    unset = setup(tmp_path, client, "--keys", "SEARXNG_BASE_URL", "--with-keys", "--yes")
    assert unset.returncode == 1 and "SEARXNG_BASE_URL is not set here" in unset.stderr


def test_a_written_key_is_not_shown(tmp_path):
    """The watch over secrets would see it in the output."""
    written = setup(tmp_path, "claude-desktop", "--keys", "SERPER_API_KEY", "--with-keys", "--yes")
    assert written.returncode == 0 and "***" in written.stdout
    assert CANARY in (tmp_path / CLIENTS["claude-desktop"].path).read_text()


def with_keys(home, client, *arguments, **more):
    value = {"SEARXNG_BASE_URL": "http://a-value-that-is-no-secret.example"}
    return setup(home, client, "--keys", "SEARXNG_BASE_URL", "--with-keys", "--yes", *arguments, **value, **more)


def permissions(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("mode, private", [(0o644, 0o600), (0o664, 0o600), (0o640, 0o600), (0o600, 0o600), (0o400, 0o400)])
@pytest.mark.parametrize("linked", [False, True])
def test_a_file_with_keys_is_its_owners_alone(tmp_path, mode, private, linked):
    """So are the copies for undoing it. A file that had the values already loses the permissions, too."""
    path = tmp_path / CLIENTS["cursor"].path
    real = tmp_path / "elsewhere.json" if linked else path
    write(real, b"{}\n")
    path.parent.mkdir(exist_ok=True)
    if linked:
        path.symlink_to(real)
    real.chmod(mode)
    written = with_keys(tmp_path, "cursor")
    assert written.returncode == 0 and "only you can read" in written.stdout, written.stderr
    assert path.is_symlink() == linked and "a-value-that-is-no-secret" in real.read_text()
    assert permissions(real) == private
    copies = list((tmp_path / ".local/share/forage/setup").iterdir())
    assert {copy.suffix for copy in copies} == {".json", ".backup"} and {permissions(copy) for copy in copies} == {0o600}
    assert permissions(copies[0].parent) == 0o700
    real.chmod(0o644)
    assert "has forage already" in with_keys(tmp_path, "cursor").stdout and permissions(real) == 0o600
    # The copy of a file that holds keys is private as well.
    assert setup(tmp_path, "cursor", "--keys", "", "--yes").returncode == 0
    assert {permissions(copy) for copy in copies} == {0o600}


def test_keys_are_not_written_where_others_get_them(tmp_path):
    path = tmp_path / CLIENTS["cursor"].path
    project = with_keys(tmp_path, "cursor", "--scope", "project")
    assert project.returncode == 2 and "everybody who has the project" in project.stderr
    (tmp_path / ".git").mkdir()
    repository = with_keys(tmp_path, "cursor")
    assert repository.returncode == 1 and "is in a Git repository" in repository.stderr and not path.exists()
    (tmp_path / ".git").rmdir()
    dotfiles = tmp_path / "dotfiles" / "mcp.json"
    write(dotfiles, b"{}\n")
    (dotfiles.parent / ".git").write_text("gitdir: elsewhere\n")
    path.parent.mkdir()
    path.symlink_to(dotfiles)
    linked = with_keys(tmp_path, "cursor")
    assert linked.returncode == 1 and str(dotfiles) in linked.stderr and dotfiles.read_bytes() == b"{}\n"
    assert usual(tmp_path, "cursor", "--yes").returncode == 0, "references may be there"
    path.unlink()
    write(path, b"{}\n")
    if os.geteuid() == 0:  # nobody else can give a file away
        os.chown(path, 65534, 65534)
        others = with_keys(tmp_path, "cursor")
        assert others.returncode == 1 and "belongs to another user" in others.stderr and path.read_bytes() == b"{}\n"


def test_a_key_that_is_named_twice_is_one(tmp_path):
    assert setup(tmp_path, "cursor", "--keys", "EXA_API_KEY,,EXA_API_KEY", "--yes").returncode == 0
    assert (tmp_path / ".cursor/mcp.json").read_text().count("EXA_API_KEY") == 2


def test_no_keys_at_all(tmp_path):
    assert setup(tmp_path, "cursor", "--keys", "", "--yes").returncode == 0
    entry = json.loads((tmp_path / ".cursor/mcp.json").read_text())["mcpServers"]["forage"]
    assert entry["env"] == {"FORAGE_TOOLS": "ready"}


# ---- the tools that can work ----


def read_entry(client, path):
    known = CLIENTS[client]
    document = tomllib.loads(path.read_text()) if known.is_toml else json.loads(path.read_text())
    return document[known.servers]["forage"]


@pytest.mark.parametrize("client", CLIENTS)
def test_an_entry_of_an_earlier_version_lists_what_can_work(client, tmp_path):
    """It gets FORAGE_TOOLS when setup runs again; a choice of the user's own stays."""
    path = tmp_path / CLIENTS[client].path
    assert usual(tmp_path, client, "--yes").returncode == 0
    now = path.read_bytes()
    before = re.sub(rb'"FORAGE_TOOLS": "ready",?\s*|env = { FORAGE_TOOLS = "ready" }\n', b"", now)
    assert before != now
    path.write_bytes(before)
    assert usual(tmp_path, client, "--yes").returncode == 0
    assert read_entry(client, path)["env"]["FORAGE_TOOLS"] == "ready"
    path.write_bytes(now.replace(b"ready", b"web,memory"))
    assert "has forage already" in usual(tmp_path, client, "--yes").stdout
    assert read_entry(client, path)["env"]["FORAGE_TOOLS"] == "web,memory"


def test_tools_that_the_users_own_file_chooses(tmp_path):
    """An entry would win over forage.env, so it leaves the choice there."""
    own = tmp_path / ".config/forage/forage.env"
    write(own, b"FORAGE_TOOLS=web\n")
    own.chmod(0o600)
    assert setup(tmp_path, "cursor", "--keys", "", "--yes").returncode == 0
    assert "env" not in read_entry("cursor", tmp_path / ".cursor/mcp.json")


def test_a_table_of_its_own_is_not_written_twice(tmp_path):
    """TOML knows no table that is there twice; what setup cannot do it says."""
    path = tmp_path / ".codex/config.toml"
    before = b"[mcp_servers.forage]\ncommand = 'forage'\n\n[mcp_servers.forage.env]\nX = 'y'\n"
    write(path, before)
    refused = setup(tmp_path, "codex", "--keys", "SEARXNG_BASE_URL", "--with-keys", "--yes", SEARXNG_BASE_URL="http://x")
    assert refused.returncode == 1 and ":4:1: mcp_servers.forage.env has a table" in refused.stderr
    assert path.read_bytes() == before
    assert usual(tmp_path, "codex", "--yes").returncode == 0
    assert read_entry("codex", path)["env"] == {"X": "y"}


# ---- a server elsewhere ----


@pytest.mark.parametrize("client", CLIENTS)
def test_a_server_by_its_url(client, tmp_path):
    known = CLIENTS[client]
    path = tmp_path / known.path
    written = setup(tmp_path, client, "--http", URL, "--token", "MY_FORAGE_TOKEN", "--yes")
    if known.remote is None:
        words = "does not take a server by its URL" if client == "claude-desktop" else "--with-keys"
        assert written.returncode == 1 and words in written.stderr and not path.exists()
        return
    assert written.returncode == 0, written.stderr
    document = tomllib.loads(path.read_text()) if known.is_toml else json.loads(path.read_text())
    assert document[known.servers]["forage"] == known.remote


def test_a_url_without_a_token(tmp_path):
    assert setup(tmp_path, "zed", "--http", URL, "--yes").returncode == 0
    assert json.loads((tmp_path / CLIENTS["zed"].path).read_text()) == {"context_servers": {"forage": {"url": URL}}}


# ---- which command ----


def written_command(home, client, program, **settings):
    """What `program setup` writes, with its own idea of the command."""
    libraries = [str(path.parent) for path in (ROOT / ".deps" / "usr").rglob("libyyjson.so.0")]
    settings["LD_LIBRARY_PATH"] = ":".join([*libraries, os.environ.get("LD_LIBRARY_PATH", "")])
    done = run("setup", client, "--keys", "", "--yes", "--json", program=program, HOME=home, **settings)
    assert done.returncode == 0, done.stderr
    text = (home / CLIENTS[client].path).read_text()
    entry = json.loads(text)[CLIENTS[client].servers]["forage"]
    return [entry["command"], *entry["args"]]


def copied(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(FORAGE, path)
    except OSError:
        shutil.copy(FORAGE, path)
    return path


def test_the_command_that_is_written(tmp_path):
    home = tmp_path / "home"
    binaries = tmp_path / "bin"
    binaries.mkdir()
    (binaries / "forage").symlink_to(FORAGE)
    elsewhere = f"{tmp_path / 'nothing'}:/usr/bin"
    home.mkdir()
    # Not on PATH: the whole path. On PATH: the name, but for clients that do not know PATH.
    cursor = ["mcp", "--context", "cursor"]
    assert written_command(home, "cursor", FORAGE, PATH=elsewhere) == [FORAGE, *cursor]
    assert written_command(home, "cursor", FORAGE, PATH=f"{binaries}:{elsewhere}") == ["forage", *cursor]
    assert written_command(home, "claude-desktop", FORAGE, PATH=f"{binaries}:{elsewhere}") == [
        str(binaries / "forage"),
        *["mcp", "--context", "claude-desktop"],
    ]
    # Another program of that name comes first: the whole path.
    (tmp_path / "other").mkdir()
    other = tmp_path / "other" / "forage"
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    assert written_command(home, "cursor", FORAGE, PATH=f"{other.parent}:{binaries}:{elsewhere}") == [FORAGE, *cursor]


def test_the_launcher_of_a_package_counts_as_the_program(tmp_path):
    program = copied(tmp_path / "prefix/lib/node_modules/forage-mcp-linux-x64/bin/forage")
    launcher = tmp_path / "prefix/bin/forage"
    launcher.parent.mkdir()
    launcher.write_text("#!/bin/sh\n")
    launcher.chmod(0o755)
    home = tmp_path / "home"
    home.mkdir()
    written = written_command(home, "cursor", program, PATH=f"{launcher.parent}:/usr/bin")
    assert written == ["forage", "mcp", "--context", "cursor"]


@pytest.mark.parametrize(
    "place,expected",
    [
        (".npm/_npx/0123456789abcdef/node_modules/forage-mcp-linux-x64/bin/forage", ["npx", "-y", "forage-mcp"]),
        (".cache/uv/archive-v0/AbCdEf/bin/forage", ["uvx", "forage-mcp"]),
        (".cache/uv/environments-v2/forage/bin/forage", ["uvx", "forage-mcp"]),
    ],
)
def test_a_cache_of_a_package_runner_is_not_written_down(place, expected, tmp_path):
    program = copied(tmp_path / place)
    # Both put the cache on PATH; it is noticed all the same.
    path = f"{program.parent}:/usr/bin"
    assert written_command(tmp_path, "cursor", program, PATH=path) == [*expected, "mcp", "--context", "cursor"]
    runner = tmp_path / "runners" / expected[0]
    runner.parent.mkdir()
    runner.write_text("#!/bin/sh\n")
    runner.chmod(0o755)
    absolute = written_command(tmp_path, "claude-desktop", program, PATH=f"{runner.parent}:{path}")
    assert absolute == [str(runner), *expected[1:], "mcp", "--context", "claude-desktop"]


# ---- places ----


def test_projects(tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    for client, known in CLIENTS.items():
        done = usual(tmp_path, client, "--scope", "project", "--yes", folder=project)
        if known.project is None:
            assert done.returncode == 2 and "no configuration of projects" in done.stderr
            continue
        assert done.returncode == 0, done.stderr
        (expected,) = [after for name, case, _, after in cases() if (name, case) == (client, "absent")]
        assert (project / known.project).read_bytes() == expected
        assert not (tmp_path / known.path).exists()
        assert usual(tmp_path, client, "--scope", "project", "--undo", "--yes", folder=project).returncode == 0
        assert not (project / known.project).exists()


def test_a_path_of_this_machine_in_a_project_is_told(tmp_path):
    words = "is that of this machine"
    nowhere = {"PATH": "/proc/nonexistent"}
    assert words in setup(tmp_path, "cursor", "--scope", "project", "--yes", **nowhere).stdout
    assert words not in usual(tmp_path, "cursor", "--scope", "project", "--yes", **nowhere).stdout
    assert words not in setup(tmp_path, "zed", "--yes", **nowhere).stdout


def test_folders_that_are_elsewhere(tmp_path):
    moved = {
        "claude-code": ("CLAUDE_CONFIG_DIR", ".claude.json"),
        "codex": ("CODEX_HOME", "config.toml"),
        "gemini-cli": ("GEMINI_CLI_HOME", ".gemini/settings.json"),
    }
    for client, (variable, name) in moved.items():
        folder = tmp_path / client
        assert usual(tmp_path, client, "--yes", **{variable: folder}).returncode == 0
        assert (folder / name).exists() and not (tmp_path / CLIENTS[client].path).exists()
    config = tmp_path / "config"
    done = run("setup", "zed", "--yes", HOME=tmp_path, XDG_CONFIG_HOME=config)
    assert done.returncode == 0 and (config / "zed/settings.json").exists()


def test_an_older_place_counts_where_only_that_is_there(tmp_path):
    older = tmp_path / ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"
    write(older, b'{\n  "mcpServers": {}\n}\n')
    assert usual(tmp_path, "cline", "--yes").returncode == 0
    assert "forage" in older.read_text() and not (tmp_path / CLIENTS["cline"].path).exists()


def test_comments_that_a_client_may_not_understand(tmp_path):
    for client, warned in (("claude-code", True), ("zed", False)):
        write(tmp_path / CLIENTS[client].path, b'{\n  "a": 1 // mine\n}\n')
        done = usual(tmp_path, client, "--yes")
        assert done.returncode == 0 and ("3:" not in done.stderr)
        assert (":2:10: a comment or a trailing comma, which Claude Code may not understand" in done.stderr) == warned


# ---- wrong arguments ----


@pytest.mark.parametrize(
    "arguments,words",
    [
        (["claude-cod"], "did you mean claude-code?"),
        (["nothing-like-it"], "`forage setup` lists"),
        (["cursor", "zed"], 'nothing takes "zed"'),
        (["cursor", "--scope", "world"], "--scope is user or project"),
        (["cursor", "--name", "a b"], "--name takes"),
        (["cursor", "--name", ""], "--name takes"),
        (["cursor", "--http", "ftp://x"], "--http takes a URL"),
        (["cursor", "--http", "https://x", "--command", "y"], "no --command"),
        (["cursor", "--http", "https://x", "--open"], "no --open"),
        (["cursor", "--open", "--no-open"], "exclude each other"),
        (["cursor", "--token", "X"], "--token names the variable"),
        (["cursor", "--keys", "SERPER_KEY"], "did you mean SERPER_API_KEY?"),
        (["cursor", "--print", "--undo"], "exclude each other"),
        (["cursor", "--print", "--with-keys"], "--print prints no keys"),
        (["cursor", "--what"], 'nothing takes "--what"'),
    ],
)
def test_wrong_arguments(arguments, words, tmp_path):
    wrong = setup(tmp_path, *arguments, "--yes")
    assert wrong.returncode == 2 and words in wrong.stderr
    assert not list(tmp_path.iterdir())


def test_without_a_home(tmp_path):
    lost = run("setup", "cursor", "--yes", HOME=None)
    assert lost.returncode == 1 and "no home folder" in lost.stderr
