"""What goes between a client and forage, as the relays saw it.

A recording is a file of JSON objects, one a line, in the order of their passing:
    {"channel": "...", "from": "client" or "forage", "message": {a JSON-RPC message}, "status": 200}
The channel is one process on stdio and one exchange on HTTP: an answer is in its request's channel.
The status is that of HTTP, on the answers only.
"""

import json
import os

PROTOCOL_VERSION = "io.modelcontextprotocol/protocolVersion"
SERVER_INFO = "io.modelcontextprotocol/serverInfo"


def messages_of(text):
    """The JSON-RPC messages in a line or a body: one, those of a batch, or none."""
    try:
        value = json.loads(text)
    except ValueError:
        return []
    return [
        item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)
    ]


class Recorder:
    """Writes one channel of a recording and, where a test wants to see its checks fail, breaks the
    answers to tools/list on their way to the client."""

    def __init__(self, path, channel, breaking=False):
        self.path = path
        self.channel = channel
        self.breaking = breaking
        self.list_requests = set()

    def _write(self, entry):
        line = json.dumps({"channel": self.channel, **entry}) + "\n"
        # One write to a file that is opened for appending: lines of several relays do not mix.
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.write(file, line.encode())
        finally:
            os.close(file)

    def client_sent(self, text):
        for message in messages_of(text):
            if message.get("method") == "tools/list":
                self.list_requests.add(message.get("id"))
            self._write({"from": "client", "message": message})

    def forage_sent(self, text, **more):
        """Records it and returns what the client gets to see."""
        messages = messages_of(text)
        if not messages and more:
            self._write({"from": "forage", "message": None, **more})
        for message in messages:
            self._write({"from": "forage", "message": message, **more})
            if self.breaking and "result" in message and message.get("id") in self.list_requests:
                message["result"]["tools"] = "broken by the relay"
                return json.dumps(message).encode()
        return text


class Recording:
    """Reads a recording and answers questions about it."""

    def __init__(self, path):
        self.entries = []
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self.entries = [json.loads(line) for line in file]

    def sent(self, method):
        """The client's messages of this method."""
        return [entry for entry in self._from("client") if entry["message"].get("method") == method]

    def _from(self, sender):
        return [entry for entry in self.entries if entry["from"] == sender and entry["message"]]

    def answer(self, request):
        """What forage answered: the whole message, or None."""
        for entry in self._from("forage"):
            message = entry["message"]
            same = entry["channel"] == request["channel"] and message.get("id") == request[
                "message"
            ].get("id")
            if same and "method" not in message:
                return message
        return None

    def results(self, method):
        """The results of all requests of this method that got one."""
        answers = [self.answer(request) for request in self.sent(method)]
        return [answer["result"] for answer in answers if answer and "result" in answer]

    def statuses(self):
        """The HTTP statuses of forage's answers."""
        return [entry["status"] for entry in self.entries if "status" in entry]

    def versions(self):
        """The protocol versions that the client named, in the order of their first naming."""
        named = [version_of(entry["message"]) for entry in self._from("client")]
        return list(dict.fromkeys(version for version in named if version))

    def server_version(self):
        """The version of forage, as it told the client."""
        for entry in self._from("forage"):
            result = entry["message"].get("result") or {}
            server = result.get("serverInfo") or (result.get("_meta") or {}).get(SERVER_INFO)
            if server:
                return server["version"]
        return None

    def story(self):
        """The client's messages in words: how it opened, in which version, and what came next."""
        words, told = {}, set()
        for entry in self._from("client"):
            method, version = entry["message"].get("method"), version_of(entry["message"])
            if method and method not in words:
                words[method] = f"{method} {version}" if version and version not in told else method
                told.add(version)
        return ", ".join(words.values()) or "nothing"


def version_of(message):
    """The protocol version that a message names, where it names one."""
    params = message.get("params") or {}
    return (params.get("_meta") or {}).get(PROTOCOL_VERSION) or params.get("protocolVersion")
