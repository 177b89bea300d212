"""The OpenAPI description: it is valid, it names what generators of clients give names to, and what it says is true.
What generated clients make of it is in tests/openapi."""

import json
import re

import openapi_spec_validator
import pytest
from answering import UNLIMITED
from conftest import ALICE
from described import Described
from experimenting import experiment, trials, write
from fake_web import Answer
from fakes import worker as play
from fakes.responses import Responses
from fakes.worker import Worker
from http_client import Connection, exchange, request
from programs import Server, wait_until
from reading import page
from research import Place
from searching import shared_world, world  # noqa: F401 (fixtures)
from test_models import NO_KEYS

PATH = "/api/v1/openapi.json"
# What memory_get takes when it is asked for a list, and not for a key.
LISTING = {"prefix", "tags", "time", "from", "until", "session", "role", "limit", "offset"}
TOKEN = {"Authorization": f"Bearer {ALICE}"}


def document_of(server, headers=None):
    return exchange(server.port, request("GET", PATH, headers)).json()


def references(value):
    """Every $ref in a document."""
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from references(one)


def without_extensions(schema):
    """The schema without the words that are for MCP's list of tools."""
    if isinstance(schema, dict):
        return {name: without_extensions(value) for name, value in schema.items() if not name.startswith("x-")}
    return [without_extensions(one) for one in schema] if isinstance(schema, list) else schema


# ---- the document ----


@pytest.mark.parametrize("which", ["server", "fixtures"])
def test_document(which, request):  # noqa: F811
    server = request.getfixturevalue(which)
    document = document_of(server)
    described = Described(document)
    openapi_spec_validator.validate(document)
    assert re.fullmatch(r"3\.1\.\d+", document["openapi"])
    assert document["servers"] == [{"url": "http://127.0.0.1"}], "as the client called us"
    assert document == without_extensions(document)
    for reference in references(document):
        assert reference.startswith("#/components/"), "nothing refers into a path"
        assert described.resolve({"$ref": reference})
    assert {"/health", "/metrics", "/api/v1/tools"} <= document["paths"].keys()


def test_names(server):
    """What generators call methods, modules and types."""
    document = document_of(server)
    operations = list(Described(document).operations())
    ids = [operation["operationId"] for _, _, operation in operations]
    assert len(ids) == len(set(ids)) and all(re.fullmatch(r"[a-z]+(_[a-z]+)*", id) for id in ids)
    tags = {tag["name"] for tag in document["tags"]}
    for _, _, operation in operations:
        assert len(operation["tags"]) == 1 and set(operation["tags"]) <= tags
        assert operation["summary"]
    for kind in ("schemas", "responses"):
        assert all(re.fullmatch(r"([A-Z][a-z]+)+", name) for name in document["components"][kind])


def test_bodies_are_components(server):
    """No operation has a schema of its own, but for files and texts."""
    document = document_of(server)
    for _, _, operation in Described(document).operations():
        for status, response in operation["responses"].items():
            if int(status) >= 400 if status.isdigit() else True:
                assert response["$ref"].startswith("#/components/responses/")
        contents = [operation["responses"]["200"]["content"], operation.get("requestBody", {}).get("content", {})]
        for content in contents:
            for kind, media in content.items():
                assert "$ref" in media["schema"] if kind == "application/json" else media["schema"]["type"] == "string"
    for response in document["components"]["responses"].values():
        assert response["content"] == {"application/json": {"schema": {"$ref": "#/components/schemas/Failure"}}}


def test_tools_are_as_they_define_themselves(server):
    document = document_of(server)
    schemas = document["components"]["schemas"]
    for tool in exchange(server.port, request("GET", "/api/v1/tools")).json()["tools"]:
        operation = document["paths"][f"/api/v1/tools/{tool['name']}"]["post"]
        assert operation["operationId"] == tool["name"] and operation["tags"] == [tool["group"]]
        name = "".join(word.capitalize() for word in tool["name"].split("_"))
        arguments = without_extensions(tool["inputSchema"])
        del arguments["$schema"]
        assert schemas[f"{name}Arguments"] == arguments
        result = schemas[f"{name}Result"]
        assert result["properties"]["success"] == {"const": True} and "error" not in result["properties"]
        always = ["data"] if "data" in tool["outputSchema"]["properties"] else []
        assert set(result["required"]) >= {"success", *tool["outputSchema"].get("x-always", always)}
        for key, value in tool["outputSchema"]["properties"].items():
            assert key in ("success", "error") or result["properties"][key] == without_extensions(value)
        statuses = {"200", "400", "401", "403", "404", "409", "413", "415", "429", "500", "502", "503", "504", "default"}
        later = {"202"} if "job" in tool["outputSchema"]["properties"] else set()
        assert operation["responses"].keys() == statuses | later
        assert operation["requestBody"]["required"] == bool(arguments.get("required"))


def test_every_argument_of_a_memory_tool_has_one_place(server):
    """In the path, in the query or in the body."""
    described = Described(document_of(server))
    schemas = described.document["components"]["schemas"]
    for id, tool in (
        ("list_memories", "MemoryList"),
        ("add_memory", "MemoryAdd"),
        ("search_memories", "MemorySearch"),
        ("search_memory_words", "MemoryFulltextSearch"),
        ("get_memory", "MemoryGet"),
        ("put_memory", "MemoryAdd"),
        ("update_memory", "MemoryUpdate"),
        ("delete_memory", "MemoryDelete"),
    ):
        (operation,) = [one for _, _, one in described.operations() if one["operationId"] == id]
        parameters = [described.resolve(one) for one in operation.get("parameters", [])]
        names = [("query" if one["name"] == "q" else one["name"]) for one in parameters]
        if "requestBody" in operation:
            body = described.resolve(operation["requestBody"]["content"]["application/json"]["schema"])
            names += body["properties"]
            assert set(body.get("required", [])) <= body["properties"].keys()
        keyed = any(one["in"] == "path" for one in parameters)
        assert len(names) == len(set(names)), id
        wanted = schemas[f"{tool}Arguments"]["properties"].keys() - ({"keys"} if keyed else set())
        wanted -= LISTING if id == "get_memory" else set()
        assert set(names) == wanted, id


def test_tokens(server, guarded):
    document = document_of(guarded, TOKEN)
    assert document["security"] == [{"token": []}]
    scheme = document["components"]["securitySchemes"]["token"]
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
    assert document["paths"]["/health"]["get"]["security"] == [], "it asks for none"
    assert "security" not in document_of(server)


def test_tools_that_are_switched_off_are_not_described():
    with Server(FORAGE_TOOLS="web,memory,-memory_delete") as server:
        document = document_of(server)
    openapi_spec_validator.validate(document)
    assert "delete" not in document["paths"]["/api/v1/memories/{key}"] and "get" in document["paths"]["/api/v1/memories/{key}"]
    assert "/api/v1/tools/search_web" not in document["paths"]


def test_a_client_that_has_it_is_told_so(server):
    first = exchange(server.port, request("GET", PATH))
    etag = first.header("ETag")
    assert re.fullmatch(r'"[0-9a-f]{32}"', etag) and first.header("Cache-Control") == "no-cache"
    for known in (etag, f'W/{etag}, "other"', "*"):
        again = exchange(server.port, request("GET", PATH, {"If-None-Match": known}))
        assert again.status == 304 and again.body == b"" and again.header("ETag") == etag
        assert again.header("Content-Type") is None
    other = exchange(server.port, request("GET", PATH, {"If-None-Match": '"other"'}))
    assert other.status == 200 and other.body == first.body
    elsewhere = exchange(server.port, request("GET", PATH, {"If-None-Match": etag}, host="localhost"))
    assert elsewhere.status == 200 and elsewhere.header("ETag") != etag, "another address stands in it"


# ---- what it says is true ----


class Client:
    """Sends what operations describe, and lets the document judge what comes back."""

    def __init__(self, server):
        self.port = server.port
        self.described = Described(document_of(server, TOKEN))
        self.operations = {one["operationId"]: (method, path) for method, path, one in self.described.operations()}

    def send(self, id, status, path="", query="", body=b"", headers=None):
        """One request; `path` stands for the key, the job, the id or the experiment."""
        method, template = self.operations[id]
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        usual = {**TOKEN, "Content-Type": "application/json", "Content-Length": len(data)} if data else TOKEN
        target = re.sub(r"\{\w+\}", lambda _: path or "some", template) + (f"?{query}" if query else "")
        answer = exchange(self.port, request(method.upper(), target, {**usual, **(headers or {})}, data))
        assert answer.status == status, (id, answer)
        self.described.judge(method, template, answer)
        return answer

    def refused_by_the_head(self, id, status, headers):
        """A request that is refused before its body is read."""
        method, template = self.operations[id]
        head = request(method.upper(), re.sub(r"\{\w+\}", "some", template), headers)
        with Connection(self.port) as connection:
            connection.send(head)
            answer = connection.response()
        assert answer.status == status, (id, answer)
        self.described.judge(method, template, answer)

    def missing(self, status):
        """The operations that were not seen to answer so."""
        seen = {(method, path) for method, path, one in self.described.seen if one == status}
        return {id for id, place in self.operations.items() if place not in seen}


@pytest.fixture
def client(tmp_path, world):  # noqa: F811
    world.find(2)
    world.web.answers["/page"] = Answer(page("Some words. " * 20, "Others. " * 20, title="Bread"))
    place = Place(tmp_path)
    worker = Worker(tmp_path / "worker", play.answer(play.result("Deep."), play.search(1, "depth")))
    with Responses() as answers:
        settings = world.settings(
            "tavily",
            **place.settings(GEMINI_CLI_PATH=worker.path),
            **{**UNLIMITED, "FORAGE_LIMITS": "search_web=100000/10m,memory_stats=2/10m"},
            OPENAI_BASE_URL=answers.base_url,
            FORAGE_TOKENS=f"alice+operator:{ALICE}",
            FORAGE_HISTORY="on",
            FORAGE_DATA_DIR=tmp_path / "data",
        )
        with Server(**settings) as server:
            client = Client(server)
            client.answers, client.worker, client.web = answers, worker, world.web
            yield client
            assert server.alive()


def succeed(client):
    """A request of every operation that succeeds, some in several ways."""
    send = client.send
    url = client.web.url("/page")
    for id in ("list_tools", "get_openapi", "get_health", "get_metrics", "forage_status"):
        send(id, 200)
    send("get_content", 200, body={"url": url})
    send("get_content", 200, body={"url": url, "outline": True})
    send("get_content", 200, body={"url": url, "max_chars": 50})
    send("get_content", 200, body={"url": client.web.url("/nothing")})
    send("web_search", 200, body={"query": "things"})
    send("web_search", 200, body={"queries": ["things", "others"], "type": "news", "freshness": "week"})
    send("search_web", 200, body={"query": "Does it rain?"})
    send("search", 200, body={"query": "How deep?"})
    client.worker.play(play.answer(play.report("Deep."), play.search(1, "depth"), play.read(1, "https://lakes.example.org/baikal")))
    send("deep_search", 200, body={"topic": "How deep?", "depth": "concise"})
    send("deep_search", 202, body={"topic": "How wide?", "background": True})
    (job, *_) = send("list_jobs", 200).json()["jobs"]
    send("get_job", 200, job["job"], "wait=30")
    send("research_result", 200, body={"job": job["job"]})
    send("end_job", 200, job["job"])
    send("memory_add", 200, body={"key": "one", "text": "The first.", "tags": ["a", "b"], "metadata": {"x": [1]}})
    send("memory_add", 200, body={"key": "one", "text": "The first, again."})
    for number in range(3):
        body = {"key": f"turn-{number}", "text": f"Turn {number}.", "session": "talk", "role": "user", "expires_at": "in 3 days"}
        send("memory_add", 200, body=body)
    send("memory_get", 200, body={"keys": ["turn-1", "nothing"], "neighbours": 1, "max_chars": 3})
    send("memory_list", 200, body={"limit": 1})
    send("memory_search", 200, body={"query": "first", "tags": "a"})
    send("memory_search", 200, body={"query": "turn"})
    send("memory_fulltext_search", 200, body={"keywords": ["turn", "first"]})
    send("memory_update", 200, body={"key": "one", "text": "Changed.", "tags": ["c"]})
    send("memory_get", 200, body={"key": "one", "version": 0})
    send("memory_get", 200, body={"key": "one", "version": 1})
    send("memory_update", 200, body={"key": "one", "version": 1})
    send("memory_rename", 200, body={"key": "one", "new_key": "two"})
    send("memory_stats", 200)
    send("memory_overview", 200)
    send("memory_delete", 200, body={"keys": ["two", "nothing"]})
    send("add_memory", 200, body={"text": "Without a key.", "namespace": "other"})
    send("put_memory", 200, "a/b%20%C3%A9", body={"text": "A key with a slash."})
    send("update_memory", 200, "a%2Fb%20%C3%A9", body={"summary": "A summary."})
    send("get_memory", 200, "a%2Fb%20%C3%A9", "namespace=default&max_chars=5")
    send("put_memory", 200, "a%2Fb%20%C3%A9", body={"text": "Another text.", "tags": ["x"]})
    assert len(send("get_memory", 200, "a%2Fb%20%C3%A9", "version=0").json()["data"]["versions"]) == 3
    send("get_memory", 200, "a%2Fb%20%C3%A9", "version=1")
    send("update_memory", 200, "a%2Fb%20%C3%A9", body={"version": 1})
    send("list_memories", 200, query="limit=2&offset=1")
    send("search_memories", 200, query="q=slash&tags=x&tags=y")
    send("search_memories", 200, query="q=slash")
    send("search_memory_words", 200, query="keywords=slash&keywords=turn&operator=OR")
    send("delete_memory", 200, "a%2Fb%20%C3%A9", "namespace=default")
    exported = send("export_memories", 200)
    assert send("export_memories", 200, headers={"Accept": "application/octet-stream"}).body == exported.body
    for kind in ("application/octet-stream", "application/x-ndjson"):
        answer = send("import_memories", 200, query="into=third", body=exported.body, headers={"Content-Type": kind})
        assert answer.json()["data"]["imported"] == 4, "of both namespaces"
    send("get_usage", 200, query="days=400")
    (past, _) = send("get_history", 200, query="limit=2").json()["calls"]
    send("get_past_call", 200, str(past["id"]))
    send("get_history", 200, query="tool=search&text=deep&caller=*&from=2026-11-15&until=2099-01-01T00:00:00Z")
    for query in ("", "span=day&caller=*", "span=month&tool=search&provider=x"):
        send("get_overview", 200, query=query)
    send("get_calls", 200, query="limit=3&outcome=ok&tool=memory_search&caller=*")
    send("get_state", 200)
    send("get_setup", 200)
    send("get_doctor", 200)
    send("list_experiments", 200)
    send("get_history", 200, query="limit=1000&before=1000000000000000")
    send("wipe_history", 200)


def fail(client):
    """Every kind of failure, each at the operations that can have it."""
    tools = {id for id, (_, path) in client.operations.items() if path.startswith(("/api/v1/tools/", "/api/v1/memories"))}
    takes_body = {id for id, (_, path) in client.operations.items() if "requestBody" in client.described.document["paths"][path][_]}
    for id in tools:
        method, path = client.operations[id]
        if path.startswith("/api/v1/tools/") or id in takes_body - {"import_memories"}:
            client.send(id, 400, body={"nonsense": True})
            client.send(id, 400, body=b"{")
        else:
            client.send(id, 400, query="nonsense=1")
    client.send("import_memories", 400, body=b"{}\n", headers={"Content-Type": "application/octet-stream"})
    for query in ("days=0", "days=401", "days=x"):
        client.send("get_usage", 400, query=query)
    for query in ("limit=0", "limit=1001", "before=x", "before=1000000000000001", "from=yesterday"):
        client.send("get_history", 400, query=query)
        client.send("get_calls", 400, query=query)
    client.send("get_overview", 400, query="span=year")
    client.send("get_past_call", 404, "999999999")
    for id in client.operations.keys() - {"get_health"}:
        client.refused_by_the_head(id, 401, {"Authorization": "Bearer wrong"})
    for id in client.operations:
        client.refused_by_the_head(id, 403, {**TOKEN, "Host": "elsewhere.example"})
    for id in takes_body:
        body = {**TOKEN, "Content-Length": str(65 << 20), "Content-Type": "application/json"}
        client.refused_by_the_head(id, 413, body)
        client.refused_by_the_head(id, 415, {**TOKEN, "Content-Length": "2", "Content-Type": "text/plain"})
    client.send("get_job", 404, "nothing")
    client.send("get_job", 400, "nothing", "wait=x")
    client.send("get_memory", 404, "nothing")
    client.send("update_memory", 404, "nothing", body={"text": "x"})
    client.send("put_memory", 409, "there", body={"text": "x", "if_version": 7})
    client.send("memory_stats", 200)
    client.send("memory_stats", 429)
    client.answers.play("unauthorized")
    client.send("search_web", 502, body={"query": "Does it rain again?"})
    client.worker.play(play.answer("No JSON at all."))
    client.send("deep_search", 502, body={"topic": "Nothing."})


def test_every_answer_is_as_described(client):
    succeed(client)
    # Where nothing is tried out, there is no experiment to get: the next test has one.
    assert client.missing(200) == {"get_experiment"}, "operations without a request that succeeds"
    fail(client)
    statuses = {status for _, _, status in client.described.seen}
    assert statuses == {200, 202, 400, 401, 403, 404, 409, 413, 415, 429, 502}
    assert client.missing(403) == set() and client.missing(401) == {"get_health"}


def test_experiments_are_as_described(world, tmp_path):  # noqa: F811
    world.find(2)
    about = experiment(about="Words.", until="2031-12-31", arms={"A": {}, "B": {"arguments": {"num_results": 1}}})
    settings = world.settings("serper", FORAGE_EXPERIMENTS=write(tmp_path / "files", about), FORAGE_DATA_DIR=tmp_path / "data")
    with Server(**settings) as server:
        client = Client(server)
        client.send("web_search", 200, body={"query": "things"})
        wait_until(lambda: trials(tmp_path / "data"))
        client.send("get_experiment", 200, "try")
        (one,) = client.send("list_experiments", 200).json()["experiments"]
        assert sum(arm["calls"] for arm in one["arms"]) == 1
        client.send("get_experiment", 404, "none")


def test_what_is_not_set_up_or_too_slow_is_as_described():
    settings = {"FORAGE_TOKENS": f"alice:{ALICE}", "PATH": "/proc/nonexistent"}
    with Server(**settings, **NO_KEYS) as server:
        client = Client(server)
        client.send("search_web", 503, body={"query": "Does it rain?"})
        client.send("search", 503, body={"query": "How deep?"})
    with Responses() as answers:
        answers.play("silence")
        with Server(**settings, **UNLIMITED, OPENAI_BASE_URL=answers.base_url, FORAGE_CALL_TIMEOUT="1s") as server:
            Client(server).send("search_web", 504, body={"query": "Does it rain?"})


def test_the_judge_sees_faults(client):
    """A description that says less, more or something else than what comes does not pass."""
    schemas = client.described.document["components"]["schemas"]
    properties = schemas["Health"]["properties"]
    for change in (
        lambda: properties.pop("version"),
        lambda: properties.update(version={"type": "integer"}),
        lambda: schemas["Health"]["required"].append("more"),
    ):
        before = json.dumps(schemas["Health"])
        change()
        client.described = Described(client.described.document)
        with pytest.raises(AssertionError):
            client.send("get_health", 200)
        schemas["Health"].update(json.loads(before))
        properties = schemas["Health"]["properties"]
