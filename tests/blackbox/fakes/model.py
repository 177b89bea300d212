"""What the fakes of models share: a script that says what the model does at each turn of a conversation.

A script is a list of turns, of which the last repeats, or a function that gets the Conversation and gives a turn. It
is asked anew at every request, so that a client that repeats a request gets the same answer again.
"""

import json
import threading
from dataclasses import dataclass, field

from fakes.service import Reply, Service


class Ask:
    """The model wants tools to be called. A tool is named by the end of its name: clients put the server's before it."""

    def __init__(self, *calls, **arguments):
        """Ask("get_content", url=...), or Ask(("get_content", {...}), ...) for several at once."""
        self.calls = [(call, arguments) if isinstance(call, str) else call for call in calls]


class Force(Ask):
    """The model wants a tool by its whole name, whether it was offered or not."""


@dataclass
class Say:
    """The model's last words."""

    words: str


@dataclass
class Fail:
    """The service refuses."""

    status: int
    kind: str = ""


class Hang:
    """The service never answers."""


@dataclass
class Conversation:
    """What the model was sent."""

    model: str
    prompt: str  # what the user said first
    offered: list  # the names of the tools
    results: list  # what they gave back, each as JSON
    turn: int  # how often the model has spoken
    number: int = 0  # which conversation of this service it is, from 1
    asked: object = field(repr=False, default=None)  # the request as it came


class Model(Service):
    """A service that plays a model; subclasses know the wire."""

    def __init__(self, script):
        super().__init__()
        self.script = script
        self.conversations = []  # one for each request, in order
        self.begun = 0
        self.released = threading.Event()

    def __exit__(self, *error):
        self.released.set()
        super().__exit__(*error)

    def next_turn(self, conversation):
        """What the model does now."""
        self.begun += conversation.turn == 0
        conversation.number = self.begun
        self.conversations.append(conversation)
        if callable(self.script):
            return self.script(conversation)
        return self.script[min(conversation.turn, len(self.script) - 1)]

    def reply_to(self, conversation):
        turn = self.next_turn(conversation)
        if isinstance(turn, Fail):
            return self.failure(turn, conversation)
        if isinstance(turn, Hang):
            return Reply(b"", 500, after=self.released)
        if isinstance(turn, Say):
            return self.events(self.dialect.say(turn.words))
        calls = []
        for wanted, arguments in turn.calls:
            names = [name for name in conversation.offered if name == wanted or name.endswith("_" + wanted)]
            if isinstance(turn, Force):
                names = [wanted]
            elif not names:
                return self.events(self.dialect.say(f"the model was not offered {wanted}, but {conversation.offered}"))
            calls.append((names[0], arguments))
        return self.events(self.dialect.ask(*calls))

    def events(self, events):
        return Reply(stream(events).encode(), kind="text/event-stream")

    # ---- what was seen ----

    def offered(self):
        """The tools that the model was offered, over all conversations."""
        return {name for conversation in self.conversations for name in conversation.offered}

    def results(self):
        """What the tools gave back, in the longest conversation."""
        return max((conversation.results for conversation in self.conversations), key=len, default=[])

    def everything(self):
        """All that was ever sent here, as one text: JSON without its escapes, so that words are found in it."""
        return "\n".join(plain(asked.body) + "\n" + json.dumps(asked.headers) for asked in self.requests)


def stream(events):
    """(name or None, object) as server-sent events."""
    return "".join(
        (f"event: {name}\n" if name else "") + f"data: {json.dumps(event)}\n\n" for name, event in events
    )


def plain(body):
    """Every string of a JSON document, one after the other."""
    try:
        document = json.loads(body)
    except ValueError:
        return body.decode(errors="replace")
    found = []

    def walk(value):
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, dict):
            for key, inner in value.items():
                found.append(key)
                walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)

    walk(document)
    return "\n".join(found)
