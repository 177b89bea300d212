"""An OpenAPI document as the judge of answers: which response it describes for one, and whether the answer is that."""

import copy
import json

import jsonschema

METHODS = ("get", "post", "put", "patch", "delete")
DRAFT = jsonschema.Draft202012Validator


def closed(schema):
    """The schema with every object shut whose properties it names: what it does not name is then a fault, too."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    shut = {name: closed(value) for name, value in schema.items()}
    if shut.get("type") == "object" and isinstance(shut.get("properties"), dict):
        shut.setdefault("additionalProperties", False)
    return shut


class Described:
    def __init__(self, document):
        self.document = document
        self._components = closed(copy.deepcopy(document["components"]))
        self.seen = set()  # (method, path, status) of the answers that were judged

    def operations(self):
        """Every operation, as (method, path, operation)."""
        for path, item in self.document["paths"].items():
            for method in METHODS:
                if method in item:
                    yield method, path, item[method]

    def resolve(self, value):
        """What a reference refers to; anything else is itself."""
        while "$ref" in value:
            target = self.document
            for step in value["$ref"].removeprefix("#/").split("/"):
                target = target[step.replace("~1", "/").replace("~0", "~")]
            value = target
        return value

    def validator(self, schema):
        return DRAFT({**closed(schema), "components": self._components}, format_checker=DRAFT.FORMAT_CHECKER)

    def judge(self, method, path, answer):
        """Fails unless the answer to this operation is one that the document describes for its status."""
        responses = self.document["paths"][path][method]["responses"]
        where = f"{method.upper()} {path} {answer.status}"
        assert str(answer.status) in responses or answer.status >= 400, f"{where} is not described"
        response = self.resolve(responses.get(str(answer.status), responses["default"]))
        for name, header in response.get("headers", {}).items():
            value = answer.header(name)
            if name in ("X-Request-Id", "ETag"):
                assert value, f"{where} lacks {name}"
            if value is not None and self.resolve(header)["schema"]["type"] == "integer":
                assert int(value) >= 1, f"{where}: {name}: {value}"
        self.seen.add((method, path, answer.status))
        if "content" not in response:
            assert answer.body == b"", where
            return
        kind = (answer.header("Content-Type") or "").split(";")[0]
        assert kind in response["content"], f"{where} is {kind}"
        schema = response["content"][kind]["schema"]
        if kind == "application/json":
            faults = list(self.validator(schema).iter_errors(json.loads(answer.body)))
            assert not faults, f"{where}: {[(fault.json_path, fault.message) for fault in faults]}\n{answer.body[:1000]}"
        else:
            assert schema["type"] == "string", where
            answer.body.decode()
