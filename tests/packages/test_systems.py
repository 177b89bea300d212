"""Files for other systems, before these systems' own programs as far as they run here without downloading anything: the
formula for Homebrew, the flake for Nix, the compose file, and the files for Docker's catalogue. None of them is installed."""

import hashlib
import json
import os
import re
import subprocess

import jsonschema
import pytest
import yaml
from packing import EPOCH, ROOT, VERSION, execute
from programs import FORAGE

ABOUT = dict(re.findall(r"^(\w+): (.*)$", (ROOT / "packaging" / "about").read_text(), re.M))
COMMIT = "0123456789abcdef0123456789abcdef01234567"
COMPOSE = ROOT / "packaging/container/compose.yaml"
SETTINGS = ROOT / "packaging/container/example.env"


def run(*command, **options):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120, check=False, **options)


# ---- Homebrew and Nix ----


def test_ruby_takes_the_formula(tmp_path):
    source = tmp_path / f"forage_mcp-{VERSION}.tar.gz"
    source.write_bytes(b"sources")
    execute([ROOT / "packaging/homebrew/pack", tmp_path])
    formula = tmp_path / "forage.rb"
    text = formula.read_text()
    assert "@" not in re.sub(r"python@[\d.]+", "", text)
    assert f'sha256 "{hashlib.sha256(b"sources").hexdigest()}"' in text and f"/v{VERSION}/{source.name}" in text
    assert run("ruby", "-c", formula).returncode == 0
    formula.write_text(text.replace("  def install\n", "  def install(\n"))
    assert run("ruby", "-c", formula).returncode != 0


def test_nix_takes_the_flake(tmp_path):
    flake = ROOT / "packaging/nix/flake.nix"
    environment = {**os.environ, "NIX_STATE_DIR": str(tmp_path), "NIX_STORE_DIR": str(tmp_path / "store"), "HOME": str(tmp_path)}
    assert run("nix-instantiate", "--parse", flake, env=environment).returncode == 0
    (tmp_path / "flake.nix").write_text(flake.read_text().replace("let\n", "lett\n"))
    assert run("nix-instantiate", "--parse", tmp_path / "flake.nix", env=environment).returncode != 0


# ---- compose ----


def config(file, settings=SETTINGS):
    return run("docker-compose", "--file", file, "--env-file", settings, "config", env={"PATH": os.environ["PATH"]})


def test_compose_takes_the_file():
    done = config(COMPOSE)
    assert done.returncode == 0, done.stderr
    services = yaml.safe_load(done.stdout)["services"]
    forage = services["forage"]
    assert forage["image"] == f"{ABOUT['image']}:{VERSION}" and forage["read_only"] and forage["cap_drop"] == ["ALL"]
    assert forage["healthcheck"]["test"] == ["CMD", "/usr/bin/forage", "health"]
    # Only the proxy is reached from outside, and the database by forage alone.
    assert [name for name, service in services.items() if service.get("ports")] == ["proxy"]
    assert list(services["database"]["networks"]) == ["inside"]
    assert set(re.findall(r"\$\{(\w+)", COMPOSE.read_text())) - {"FORAGE_IMAGE"} == set(re.findall(r"^(\w+)=", SETTINGS.read_text(), re.M))


@pytest.mark.parametrize(
    "right, wrong",
    [("read_only: true", "readonly: true"), ("pids_limit: 2048", "pids_limit: [2048]"), ("stop_grace_period: 15s", "grace_period: 15s"), ("image: caddy:2", "")],
)
def test_compose_refuses_a_wrong_field(tmp_path, right, wrong):
    text = COMPOSE.read_text()
    assert text.count(right) == 1
    (tmp_path / "compose.yaml").write_text(text.replace(right, wrong))
    assert config(tmp_path / "compose.yaml").returncode != 0


def test_compose_wants_every_secret(tmp_path):
    for name in ("FORAGE_TOKENS", "FORAGE_DATABASE_PASSWORD", "FORAGE_HOSTNAME"):
        (tmp_path / "some.env").write_text(re.sub(rf"^{name}=.*\n", "", SETTINGS.read_text(), flags=re.M))
        done = config(COMPOSE, tmp_path / "some.env")
        assert done.returncode != 0 and name in done.stderr


# ---- Docker's catalogue ----

# What its program checks (docker/mcp-registry, cmd/validate), which no package registry has: in the words of JSON Schema.
TEXT = {"type": "string", "minLength": 1}


def closed(required, **properties):
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def listed(items):
    return {"type": "array", "items": items}


ENTRY = closed(
    ["name", "image", "type", "meta", "about", "source"],
    name={"type": "string", "pattern": "^[a-z0-9-]+$"},
    image=TEXT,
    type={"enum": ["server", "remote", "poci"]},
    meta=closed(["category", "tags"], category=TEXT, tags=listed(TEXT)),
    about=closed(
        ["title", "description"],
        title={"type": "string", "pattern": "^(?!.*(MCP|Server))[A-Z][^ ]*( (and|for|[A-Z][^ ]*))*$"},
        description=TEXT,
        icon=TEXT,
    ),
    source=closed(["project", "commit"], project=TEXT, commit={"type": "string", "pattern": "^[a-f0-9]{40}$"}),
    run=closed([], command=listed(TEXT), volumes=listed(TEXT)),
    config=closed(
        ["description"],
        description=TEXT,
        secrets=listed(closed(["name", "env", "example"], name={"type": "string", "pattern": r"^[A-Za-z0-9_-]+\.[A-Za-z0-9._-]+$"}, env=TEXT, example=TEXT)),
        env=listed(closed(["name", "example", "value"], name=TEXT, example=TEXT, value={"type": "string", "pattern": r"^\{\{forage\.\w+\}\}$"})),
        parameters={"type": "object"},
    ),
)
ARGUMENT = closed(["name", "type", "desc"], name=TEXT, type=TEXT, desc=TEXT, optional={"type": "boolean"})
TOOLS = listed(closed(["name", "description"], name=TEXT, description=TEXT, arguments=listed(ARGUMENT)))


@pytest.fixture(name="catalogue")
def made_catalogue(tmp_path):
    execute([ROOT / "packaging/container/catalogue", COMMIT, tmp_path], {**os.environ, "SOURCE_DATE_EPOCH": EPOCH})
    return yaml.safe_load((tmp_path / "docker-server.yaml").read_text()), json.loads((tmp_path / "docker-tools.json").read_text())


def test_the_catalogue_wants_prettier(catalogue, tmp_path):
    """Its program refuses what Prettier would write otherwise."""
    prettier = [ROOT / ".deps/bin/node", ROOT / ".deps/packages/node_modules/prettier/bin/prettier.cjs", "--check"]
    file = tmp_path / "docker-server.yaml"
    assert catalogue and run(*prettier, file).returncode == 0
    file.write_text(file.read_text().replace("  title:", "    title:"))
    assert run(*prettier, file).returncode != 0


def test_the_catalogue_gets_what_it_wants(catalogue):
    entry, tools = catalogue
    jsonschema.validate(entry, ENTRY)
    jsonschema.validate(tools, TOOLS)
    used = {one["value"].strip("{}").partition(".")[2] for one in entry["config"]["env"]}
    assert used == set(entry["config"]["parameters"]["properties"])
    seen = json.loads(execute([FORAGE, "tools", "--json"], {"PATH": "/usr/bin", "HOME": "/proc/nonexistent"}))
    assert sorted(tool["name"] for tool in tools) == sorted(tool["name"] for tool in seen)


@pytest.mark.parametrize(
    "change",
    [
        lambda entry: entry.update(name="For Age"),
        lambda entry: entry.update(titel="x"),
        lambda entry: entry["about"].update(title="forage"),
        lambda entry: entry["about"].update(title="Forage MCP"),
        lambda entry: entry["source"].update(commit="main"),
        lambda entry: entry["config"]["secrets"][0].update(name="serper"),
        lambda entry: entry["config"]["env"][0].update(value="{{other.x}}"),
    ],
)
def test_a_wrong_field_is_not_what_the_catalogue_wants(catalogue, change):
    entry, _ = catalogue
    change(entry)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(entry, ENTRY)
