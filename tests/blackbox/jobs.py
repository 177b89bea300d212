"""What the tests of jobs share: a web, a model and a search that count what they are asked, so that a test can act at any
moment of a research, and what a job looks like over REST."""

import itertools
import threading
import time

import players
from corpus_web import CorpusWeb, read_questions
from fakes.models import Models
from http_client import exchange, request
from programs import PATIENCE, wait_until

OVER = ("done", "failed", "broken", "cancelled")


class Counted(list):
    """A list that tells whoever wants to know when it grows."""

    def __init__(self, scene):
        super().__init__()
        self.scene = scene

    def append(self, item):
        super().append(item)
        self.scene.happened()


class Scene:
    """Everything outside of a research, on loopback. A context manager."""

    def __init__(self):
        self.world = CorpusWeb(read_questions())
        self.models = Models()
        self.lock = threading.Lock()
        self.events = 0
        self.trigger = None  # (the number of an event, a function)
        for service in (self.models, self.world.search, *self.world.webs):
            service.requests = Counted(self)

    def __enter__(self):
        self.world.__enter__()
        self.models.__enter__()
        self.play(players.Forgetful(self.world.questions))
        return self

    def __exit__(self, *details):
        self.models.__exit__(*details)
        self.world.__exit__(*details)

    def settings(self, **more):
        return {
            **self.world.settings(**self.models.environment("vllm")),
            "FORAGE_RESEARCH_WORKER": "own",
            "FORAGE_RESEARCH_TIMEOUT": "10m",
            **more,
        }

    def play(self, player):
        self.models.play()
        players.seat(self.models, player)
        self.world.forget()
        with self.lock:
            self.events = 0
            self.trigger = None

    def at(self, number, act):
        """Acts when that many requests have come, from now on counted; on the thread of the request."""
        with self.lock:
            self.events = 0
            self.trigger = (number, act)

    def happened(self):
        with self.lock:
            self.events += 1
            act = self.trigger[1] if self.trigger and self.events == self.trigger[0] else None
        if act:
            act()

    def question(self, number=1):
        """One without a page that never comes."""
        return list(self.world.questions.values())[number].text

    def asked_models(self):
        return len(self.models.requests)

    def owners(self):
        """Whose key (as_server()) each request to the model had, without repetitions in a row."""
        keys = [asked.headers.get("authorization", "").removeprefix("Bearer ") for asked in list(self.models.requests)]
        return [key for key, _ in itertools.groupby(keys)]


def as_server(name):
    """A setting that lets the model's record tell one server from another."""
    return {"FORAGE_MODEL_KEY": f"key-of-server-{name}"}


class Hangs(players.Forgetful):
    """Does not answer its n-th request, until it is released; knows when it was asked, and when whoever asked has left."""

    def __init__(self, questions, number=1):
        super().__init__(questions)
        self.number = number
        self.asked = 0
        self.reached = threading.Event()
        self.released = threading.Event()
        self.left_at = []

    def play(self, turn):
        self.asked += 1
        if self.asked < self.number or self.released.is_set():
            return super().play(turn)
        return self.hang

    def hang(self, handler):
        self.reached.set()
        handler.connection.settimeout(0.002)
        while not self.released.is_set():
            try:
                if not handler.connection.recv(1):
                    break
            except TimeoutError:
                continue
            except OSError:
                break
        self.left_at.append(time.monotonic())


def call(port, tool, arguments, token=None, method="POST", path=None):
    headers = {"Authorization": f"Bearer {token}"} if token else None
    return exchange(port, request(method, path or f"/api/v1/tools/{tool}", headers, arguments))


def get(port, path, token=None, method="GET"):
    headers = {"Authorization": f"Bearer {token}"} if token else None
    return exchange(port, request(method, path, headers))


def begin(port, topic, token=None, **more):
    """Starts a research in the background; its id."""
    answer = call(port, "deep_search", {"topic": topic, "background": True, **more}, token)
    body = answer.json()
    assert answer.status == 202 and body["success"] and body["status"] in ("waiting", "running"), body
    assert len(body["job"]) == 32
    return body["job"]


def job(port, id, token=None, wait=0):
    answer = get(port, f"/api/v1/jobs/{id}?wait={wait}", token)
    assert answer.status == 200, answer
    return answer.json()


def finished(port, id, token=None, patience=4 * PATIENCE):
    """The job once it is over, whichever server has it."""
    return wait_until(lambda: (found := job(port, id, token, 1))["status"] in OVER and found, patience)
