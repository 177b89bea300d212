"""What the tests of models share: a server whose tool test_model asks the fakes, and the tools that models are offered."""

import contextlib
import json

from http_client import exchange, request
from programs import CONFORMANCE, Server

ADD = {
    "name": "add",
    "description": "Adds two numbers.",
    "schema": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
    },
}
SHAPE = {
    "type": "object",
    "properties": {"sum": {"type": "integer"}},
    "required": ["sum"],
    "additionalProperties": False,
}


class Asker:
    """Asks one model; an answer is what the tool gave, or the error."""

    def __init__(self, server):
        self.server = server

    def ask(self, *messages, **wishes):
        """`messages` as model/model.h has them; a text is one of the user."""
        listed = [{"role": "user", "text": message} if isinstance(message, str) else message for message in messages]
        body = {"request": json.dumps({"messages": listed, **wishes})}
        answer = exchange(self.server.port, request("POST", "/api/v1/tools/test_model", {}, body)).json()
        return answer.get("error", answer)

    def converse(self, *messages, answers, **wishes):
        """Asks, and answers uses with `answers` (a function of name and arguments), until the model has no more."""
        history = list(messages)
        while True:
            reply = self.ask(*history, **wishes)
            if reply.get("stop") != "uses":
                return reply
            history.append({"role": "assistant", "reply": reply})
            for use in reply["uses"]:
                failed = "arguments" not in use
                text = "the arguments are no JSON" if failed else answers(use["name"], json.loads(use["arguments"]))
                history.append({"role": "result", "use": use, "text": text, "failed": failed})


@contextlib.contextmanager
def asker(models, provider, **settings):
    with Server(CONFORMANCE, **{"FORAGE_LIMITS": "*=0", **models.environment(provider), **settings}) as server:
        yield Asker(server)
