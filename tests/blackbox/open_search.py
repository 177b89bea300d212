"""What the tests of several sources at once share: two open ones as fakes, beside providers with keys, and short ways to ask
them. Every other open source is at an address that fails, so that nothing leaves this machine."""

import dataclasses
import pathlib
import re
import urllib.parse

import pytest
from fakes.parallel import Parallel
from fakes.service import Reply, Service
from fakes.wikipedia import Wikipedia
from searching import World

DATA = pathlib.Path(__file__).resolve().parents[2] / "data"
BASES = [
    *re.findall(r"^(\w+_BASE_URL) ", (DATA / "variables.txt").read_text(), re.M),
    *(f"{name.upper()}_BASE_URL" for name in re.findall(r"^(\w+)(?: = |$)", (DATA / "upstreams.txt").read_text(), re.M)),
]


class Nobody(Service):
    def answer(self, _asked):
        return Reply({"error": "nobody is here"}, 500)


class Shown:
    """With what an open source can do beside the mishaps of all providers: `page` is shown instead of results."""

    page = None  # a Reply

    def reset(self):
        super().reset()
        self.page = None

    def answer(self, asked):
        if self.page and asked.query.get("action") != "parse":
            self.searches += 1
            return self.page
        return super().answer(asked)


class OpenParallel(Shown, Parallel):
    pass


class Encyclopedia(Shown, Wikipedia):
    """Its articles are called as their addresses say."""

    def reply(self, asked, hits):
        titles = [urllib.parse.unquote(hit.link.rpartition("/wiki/")[2]).replace("_", " ") for hit in hits]
        return super().reply(asked, [dataclasses.replace(hit, title=title) for hit, title in zip(hits, titles)])


class OpenWorld(World):
    def __init__(self):
        super().__init__()
        self.nobody = Nobody()
        for kind in (OpenParallel, Encyclopedia):
            self.fakes[kind.name] = kind()

    def __enter__(self):
        self._stack.enter_context(self.nobody)
        return super().__enter__()

    def settings(self, *names, **more):
        """Of the sources that are named, in this order, all asked at once; `FORAGE_SEARCH_PROVIDERS` may say otherwise."""
        bases = dict.fromkeys(BASES, self.nobody.url)
        del bases["SEARXNG_BASE_URL"]
        asked = {"FORAGE_SEARCH_PROVIDERS": ",".join(names), "FORAGE_SEARCH_MERGE": max(2, len(names))}
        bases.update(self.fakes["wikipedia"].settings)
        return {**bases, **super().settings(*names, **asked), **more}


@pytest.fixture(scope="module")
def shared_open_world():
    with OpenWorld() as world:
        yield world


@pytest.fixture
def world(shared_open_world):
    shared_open_world.reset()
    yield shared_open_world
