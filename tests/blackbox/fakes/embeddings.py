"""OpenAI's embeddings API on loopback, with a model that knows a few words that mean the same. The vendor's own client
is run against it (test_memory_meaning.py), so that it is a fake to trust."""

import json
import math
import re
import threading
import zlib

from fakes.service import Reply, Service

KEY = "sk-embeddings-0123456789abcdef"
MODELS = {"small": 96, "large": 160}  # their dimensions
PARAMETERS = {"model", "input", "encoding_format", "dimensions", "user"}
SAME = [
    "allergy allergic peanuts nut nuts reaction",
    "child kid daughter son",
    "physician doctor appointment checkup",
    "car vehicle automobile",
    "money loan mortgage bank",
]


def vector_of(text, model):
    """Words of one group point the same way; every other word has a direction of its own."""
    size = MODELS[model]
    numbers = [0.05] * size  # cosines of texts that have nothing in common are not 0 with real models either
    for word in re.findall(r"\w+", text.lower()):
        group = [i for i, words in enumerate(SAME) if word in words.split()]
        if group:
            numbers[group[0]] += 1.0
        else:
            numbers[len(SAME) + zlib.crc32((model + word).encode()) % (size - len(SAME))] += 0.3
    length = math.sqrt(sum(number * number for number in numbers))
    return [number / length for number in numbers]


def error(status, words, kind="invalid_request_error", code=None, param=None):
    return Reply({"error": {"message": words, "type": kind, "param": param, "code": code}}, status)


class Embeddings(Service):
    def __init__(self):
        super().__init__()
        self.base_url = self.url + "/v1"
        self.mishap = None  # what is answered instead: a Reply, or a function of the right one's data
        self.free = threading.Event()  # answers wait for it
        self.free.set()
        self.refused = None  # a word that no text may hold

    def texts(self):
        """Every text that came, one after the other."""
        with self.lock:
            return [text for asked in self.requests for text in self.inputs(json.loads(asked.body))]

    @staticmethod
    def inputs(body):
        return [body["input"]] if isinstance(body["input"], str) else body["input"]

    def answer(self, asked):
        if asked.path != "/v1/embeddings" or asked.method != "POST":
            return error(404, "Not found")
        if asked.headers.get("authorization") != f"Bearer {KEY}":
            return error(401, "Incorrect API key provided", code="invalid_api_key")
        body = json.loads(asked.body)
        unknown = set(body) - PARAMETERS
        if unknown:
            return error(400, f"Unrecognized request arguments: {unknown}")
        if body["model"] not in MODELS:
            return error(404, "The model does not exist", code="model_not_found")
        texts = self.inputs(body)
        if not texts or any(not text or len(text) > 30000 or (self.refused and self.refused in text) for text in texts):
            return error(400, "'$.input' is invalid.")
        if isinstance(self.mishap, Reply):
            return self.mishap
        numbers = [vector_of(text, body["model"]) for text in texts]
        data = [{"object": "embedding", "index": i, "embedding": one} for i, one in enumerate(numbers)]
        if self.mishap:
            data = self.mishap(data)
        tokens = sum(len(text.split()) for text in texts)
        return Reply(
            {"object": "list", "data": data, "model": body["model"], "usage": {"prompt_tokens": tokens, "total_tokens": tokens}},
            after=self.free,
        )
