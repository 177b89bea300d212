"""What registries and clients that install by a click get: server.json before the MCP registry's own validator, and the
bundle before the vendor's program, each as it is and with a wrong field. The bundle is unpacked and started as a client
would; scripts/check-packages does so with the released one, in a bare root."""

import copy
import json
import os
import re
import stat
import subprocess
import sys
import tarfile
import zipfile

import jsonschema
import pytest
from packing import EPOCH, MACHINE, ROOT, VERSION, execute
from programs import Stdio

sys.path.insert(0, str(ROOT / "scripts"))
import variables  # noqa: E402

PACKAGES = ROOT / ".deps" / "packages" / "node_modules"
REGISTRY = ROOT / ".deps" / "registry"
ABOUT = dict(re.findall(r"^(\w+): (.*)$", (ROOT / "packaging" / "about").read_text(), re.M))
VARIABLES = {one["name"]: one for one in variables.parse((ROOT / "data" / "variables.txt").read_text().splitlines())[1]}
BUNDLE = f"forage-mcp-{VERSION}-linux-{MACHINE}.mcpb"
KEY = "0123456789abcdef0123456789abcdef"

needs_registry = pytest.mark.skipif(not (REGISTRY / "validate").exists(), reason="there is no Go to build the validator with")


def make(tree, out):
    environment = {**os.environ, "SOURCE_DATE_EPOCH": EPOCH, "PYTHONDONTWRITEBYTECODE": "1"}
    execute([ROOT / "packaging/mcpb/pack", tree, out], environment)
    execute([ROOT / "packaging/registry/pack", out], environment)
    return out


@pytest.fixture(scope="session", name="listed")
def listed_files(tree, tmp_path_factory):
    return make(tree, tmp_path_factory.mktemp("listed"))


@pytest.fixture(scope="session", name="server")
def server_json(listed):
    return json.loads((listed / "server.json").read_text())


def test_the_same_bytes_each_time(listed, tree, tmp_path):
    again = make(tree, tmp_path / "again")
    for path in listed.iterdir():
        assert (again / path.name).read_bytes() == path.read_bytes(), path.name


# ---- the MCP registry ----


def problems(server):
    """What the registry's program says, and what its schema says: the program takes a missing text for an empty one."""
    done = subprocess.run([REGISTRY / "validate"], input=json.dumps(server), capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == bool(done.stdout)
    schema = jsonschema.Draft7Validator(json.loads((REGISTRY / "server.schema.json").read_text()))
    return done.stdout.splitlines() + [error.message for error in schema.iter_errors(server)]


@needs_registry
def test_the_registry_takes_it(server):
    assert problems(server) == []


def put(*path, value):
    """A change that sets, or with None removes, what is at a path."""

    def change(server):
        *way, last = path
        for step in way:
            server = server[step]
        if value is None:
            del server[last]
        else:
            server[last] = value

    return change


WRONG = {
    "no schema": put("$schema", value=None),
    "an old schema": put("$schema", value="https://static.modelcontextprotocol.io/schemas/2025-07-09/server.schema.json"),
    "no description": put("description", value=None),
    "a long description": put("description", value="x" * 101),
    "a misspelt field": put("descripton", value="x"),
    "a name without a namespace": put("name", value="forage"),
    "a range of versions": put("version", value="^0.8.0"),
    "a site without encryption": put("websiteUrl", value="http://example.org"),
    "a package of latest": put("packages", 0, "version", value="latest"),
    "no identifier": put("packages", 0, "identifier", value=None),
    "a way that nobody knows": put("packages", 1, "transport", value={"type": "pipe"}),
    "an argument without a value": put("packages", 0, "packageArguments", 0, "value", value=None),
    "an option with a blank": put("packages", 2, "runtimeArguments", 0, "name", value="--read only"),
    "a variable without a name": put("packages", 0, "environmentVariables", 0, "name", value=None),
    "a format that nobody knows": put("packages", 0, "environmentVariables", 0, "format", value="text"),
    "a wrong hash": put("packages", 3, "fileSha256", value="abc"),
}


@needs_registry
@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
def test_the_registry_refuses_a_wrong_field(server, change):
    wrong = copy.deepcopy(server)
    change(wrong)
    assert problems(wrong)


def test_the_packages_are_those_of_the_release(server, listed):
    npm, pypi, oci, bundle = server["packages"]
    assert [one["registryType"] for one in server["packages"]] == ["npm", "pypi", "oci", "mcpb"]
    assert npm["version"] == pypi["version"] == server["version"] == VERSION
    # The tag is in the identifier, and nothing else says which one it is.
    assert oci["identifier"] == f"{ABOUT['image']}:{VERSION}" and not {"version", "registryBaseUrl", "fileSha256"} & oci.keys()
    # The registry lets bundles in from GitHub and GitLab alone, and with "mcp" in the address.
    assert re.match(r"https://(github|gitlab)\.com/.*mcp", bundle["identifier"]) and bundle["identifier"].endswith(f"/v{VERSION}/{BUNDLE}")
    assert bundle["fileSha256"] == execute(["sha256sum", listed / BUNDLE]).split()[0]


def test_every_variable_is_one_of_ours(server):
    for package in server["packages"]:
        names = [one["name"] for one in package["environmentVariables"]]
        assert {"SERPER_API_KEY", "OPENAI_API_KEY", "FORAGE_TOOLS"} <= set(names) and len(set(names)) == len(names)
        for one in package["environmentVariables"]:
            assert one["isSecret"] == VARIABLES[one["name"]]["secret"] and one["description"] == VARIABLES[one["name"]]["help"]
            assert not one["isRequired"] and not (one["isSecret"] and {"default", "placeholder", "value"} & one.keys())
    assert ["FORAGE_DATA_DIR" in str(package["environmentVariables"]) for package in server["packages"]] == [True, True, False, True]


def test_the_packages_say_whose_they_are(server, packed):
    with tarfile.open(packed / f"forage-mcp-{VERSION}.tgz") as archive:
        assert json.load(archive.extractfile("package/package.json"))["mcpName"] == server["name"]
    (wheel,) = packed.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        described = archive.read(f"forage_mcp-{VERSION}.dist-info/METADATA").decode()
    # As the registry looks for it: the name ends where a name can end.
    assert re.search(rf"mcp-name: {re.escape(server['name'])}(\s|$)", described)


# ---- the bundle ----


def mcpb(*words):
    command = ["node", PACKAGES / "@anthropic-ai/mcpb/dist/cli/cli.js", *words]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="session", name="unpacked")
def unpacked_bundle(listed, tmp_path_factory):
    """As the vendor's program unpacks it, into a folder with a blank in its name."""
    folder = tmp_path_factory.mktemp("unpacked") / "My Extensions"
    done = mcpb("unpack", listed / BUNDLE, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_vendor_takes_the_bundle(unpacked):
    done = mcpb("validate", unpacked / "manifest.json")
    assert done.returncode == 0 and "passes" in done.stdout, done.stdout + done.stderr
    assert stat.S_IMODE((unpacked / "server/bin/forage").stat().st_mode) == 0o755


WRONG_BUNDLES = {
    "a misspelt field": put("descripton", value="x"),
    "no version": put("version", value=None),
    "another kind of server": put("server", "type", value="program"),
    "no entry point": put("server", "entry_point", value=None),
    "arguments that are no list": put("server", "mcp_config", "args", value="mcp"),
    "a setting without a title": put("user_config", "SERPER_API_KEY", "title", value=None),
    "a setting of no kind": put("user_config", "SERPER_API_KEY", "type", value="secret"),
    "a system that nobody knows": put("compatibility", "platforms", value=["debian"]),
    "an author without a name": put("author", value={}),
}


@pytest.mark.parametrize("change", WRONG_BUNDLES.values(), ids=WRONG_BUNDLES)
def test_the_vendor_refuses_a_wrong_field(unpacked, tmp_path, change):
    manifest = json.loads((unpacked / "manifest.json").read_text())
    change(manifest)
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    assert mcpb("validate", tmp_path / "manifest.json").returncode != 0


def test_what_is_secret_is_hidden_in_the_form(unpacked):
    manifest = json.loads((unpacked / "manifest.json").read_text())
    form, env = manifest["user_config"], manifest["server"]["mcp_config"]["env"]
    assert form.keys() == env.keys() and {"SERPER_API_KEY", "ANTHROPIC_API_KEY"} < form.keys()
    for name, field in form.items():
        assert field.get("sensitive", False) == VARIABLES[name]["secret"] and not field["required"]
    assert [tool["name"] for tool in manifest["tools"]].count("get_content") == 1


def resolve(folder, **given):
    """How a client would start what is in a folder, with what the user has filled in."""
    words = ["node", ROOT / "tests/packages/resolve.mjs", PACKAGES, folder, json.dumps(given)]
    return json.loads(execute(words))


def test_a_client_starts_it(unpacked, tmp_path):
    config = resolve(unpacked, SERPER_API_KEY=KEY)
    assert config["command"] == f"{unpacked}/server/bin/forage"
    # What nobody filled in arrives as it stands in the manifest, but for what has a default.
    assert config["env"]["TAVILY_API_KEY"] == "${user_config.TAVILY_API_KEY}" and config["env"]["FORAGE_TOOLS"] == "ready"
    with Stdio(config["command"], arguments=config["args"], HOME=str(tmp_path), **config["env"]) as client:
        assert client.handshake()["serverInfo"]["version"] == VERSION
        names = {tool["name"] for tool in client.ask("tools/list")["result"]["tools"]}
        # The key counts; those that were not given do not.
        assert {"get_content", "web_search", "memory_add"} <= names and "search_web" not in names
