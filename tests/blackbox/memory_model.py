"""A slow and obvious model of memory, a dictionary, and what compares the program with it: random changes to whichever process the
dice choose, processes that are killed in the middle of one, and questions whose answers the dictionary knows.

Each text has words of a small vocabulary, which no spelling correction takes for each other, and one word of its own, to look
for as bytes in files.
"""

import contextlib
import itertools
import json
import random
import re
import signal
import threading
import time

from http_client import Closed, Connection, request
from memory_streams import json_request
from memory_world import PATH, SOAK, ask, path_of
from programs import Server, no_leak_check, wait_until
from test_memory_files import iso_in

MEMORIES = 400 if SOAK else 120  # about so many at a time
BETWEEN_CHECKS = 200 if SOAK else 100
SPACE = "model"
SESSIONS = ["first talk", "second talk"]
PAGE = 100


# ---- words ----


def distance(one, other):
    """How many letters have to be changed, added or left out."""
    row = range(len(other) + 1)
    for place, letter in enumerate(one, 1):
        above, row = row, [place]
        for at, theirs in enumerate(other, 1):
            row.append(min(above[at] + 1, row[-1] + 1, above[at - 1] + (letter != theirs)))
    return row[-1]


def vocabulary(count):
    """Words of no language, that have no ending to take off and are far from each other."""
    dice, words = random.Random(count), []
    while len(words) < count:
        word = "".join(dice.choice("bdfgklmnprtvz") + dice.choice("aou") for _ in range(3)) + "k"
        if all(distance(word, other) > 2 for other in words):
            words.append(word)
    return words


WORDS = vocabulary(24)
OWN = re.compile(rb"qxq[bdfgklmnprtvz]{9}")  # the part of an own word that no shared beginning abbreviates


# ---- the model ----


class Memory:
    def __init__(self, text, tags, session):
        self.text = text
        self.tags = tags
        self.session = session

    def words(self):
        return self.text.split()

    def own(self):
        return self.words()[-1]

    def body(self):
        return {"text": self.text, "tags": self.tags, **({"session": self.session} if self.session else {})}

    def has(self, keyword):
        """Whether it holds a word, a "phrase" or a prefix*."""
        if keyword.startswith('"'):
            return f" {keyword[1:-1]} " in f" {self.text} "
        if keyword.endswith("*"):
            return any(word.startswith(keyword[:-1]) for word in self.words() + self.tags)
        return keyword in self.words() + self.tags


def apply(memories, changes):
    """Changes are what each key has afterwards, None for nothing."""
    after = {**memories, **changes}
    return {key: memory for key, memory in after.items() if memory is not None}


class Model:
    """What is stored, and the own words that must be nowhere."""

    def __init__(self, dice, keeps_versions):
        self.memories = {}
        self.gone = set()
        self.expired = set()  # among those: what a process deletes now and then, and with its first change
        self._dice = dice
        self._keeps_versions = keeps_versions
        self._earlier = {}  # own words of earlier versions, by key
        self._numbers = itertools.count(1)

    def key(self):
        return f"note {next(self._numbers)}"

    def some(self, count):
        return self._dice.sample(sorted(self.memories), min(count, len(self.memories)))

    def memory(self, session=None):
        letters = self._dice.choices("bdfgklmnprtvz", k=12)
        own = "".join(letters[:3]) + "qxq" + "".join(letters[3:])
        words = self._dice.choices(WORDS, k=self._dice.choice([2, 5, 5, 40]))
        tags = self._dice.sample(WORDS, self._dice.choice([0, 0, 1, 2]))
        return Memory(" ".join([*words, own]), tags, session)

    def change(self, changes, renamed=None):
        """A change happened. `renamed` has the new key of an old one."""
        for old, new in (renamed or {}).items():
            self._earlier[new] = self._earlier.pop(old, [])
        for key, after in changes.items():
            before = self.memories.get(key)
            if before and after and before.text != after.text:
                self._earlier.setdefault(key, []).append(before.own())
            elif before and not after and key not in (renamed or {}):
                self.gone.update([before.own(), *self._earlier.pop(key, [])])
        if not self._keeps_versions:
            self.gone.update(itertools.chain(*self._earlier.values()))
            self._earlier = {}
        self.memories = apply(self.memories, changes)


# ---- the store ----


class Store:
    """The processes, some of which are killed now and then: one of them, or, where something has to be waited for until nothing
    of them goes on (`after_kill`), all together."""

    def __init__(self, count, settings, dice, after_kill=None):
        self.settings = settings
        self._dice = dice
        self._after_kill = after_kill
        self.kills = 0
        self.servers = []
        for _ in range(count):
            self.servers.append(self._start())

    def _start(self, **more):
        return Server(**{**self.settings, **no_leak_check(), **more})

    def close(self):
        for server in self.servers:
            server.kill()

    def restart(self, meanwhile=lambda: None, **more):
        """Ends every process properly, and starts as many."""
        for server in self.servers:
            server.end()
            server.kill()
        meanwhile()
        self.servers = [self._start(**more) for _ in self.servers]

    def port(self):
        return self._dice.choice(self.servers).port

    def ask(self, method, path, query=None, **more):
        return ask(self.port(), method, path, {**(query or {}), "namespace": SPACE}, **more)

    def data(self, method, path, query=None, **more):
        response = self.ask(method, path, query, **more)
        assert response.status == 200, (method, path, query, response)
        return response.json()["data"]

    def send_and_kill(self, data):
        """Sends a request and kills the process that got it, at some moment; the answer, or None."""
        victim = self._dice.choice(self.servers)
        answer = None
        try:
            with Connection(victim.port) as connection:
                connection.send(data)
                time.sleep(self._dice.choice([0, 0.001, 0.003, 0.01]))
                victim.signal(signal.SIGKILL)
                answer = connection.response()
        except (Closed, OSError):
            pass
        self.kill(self.servers if self._after_kill else [victim])
        return answer

    def kill(self, victims):
        """Kills processes and starts others."""
        self.kills += len(victims)
        for victim in victims:
            victim.signal(signal.SIGKILL)
        for victim in list(victims):
            victim.kill()
        if self._after_kill:
            self._after_kill()
        alive = [server for server in self.servers if server not in victims]
        self.servers = alive + [self._start() for _ in victims]


def import_request(lines):
    body = "".join(json.dumps(line) + "\n" for line in lines).encode()
    headers = {"Content-Type": "application/x-ndjson", "Content-Length": len(body)}
    return request("POST", f"{PATH}/import?namespace={SPACE}", headers, body)


# ---- the run ----


class Run:
    """Steps that change the store and the model alike, and checks that they are the same."""

    def __init__(self, store, dice, keeps_versions):
        self.store = store
        self.dice = dice
        self.model = Model(dice, keeps_versions)
        self.steps = 0

    # ---- changes: the bytes of a request, what it changes, what it renames ----

    def _session(self):
        return self.dice.choice([None, None, None, *SESSIONS])

    def _add(self):
        key, memory = self.model.key(), self.model.memory(self._session())
        return json_request("PUT", f"{path_of(key)}?namespace={SPACE}", memory.body()), {key: memory}, {}

    def _replace(self):
        (key,) = self.model.some(1)
        memory = self.model.memory(self.model.memories[key].session)
        return json_request("PUT", f"{path_of(key)}?namespace={SPACE}", memory.body()), {key: memory}, {}

    def _update(self):
        (key,) = self.model.some(1)
        before, fresh = self.model.memories[key], self.model.memory()
        change = self.dice.choice([{"text": fresh.text}, {"tags": fresh.tags}, {"text": fresh.text, "tags": fresh.tags}])
        after = Memory(change.get("text", before.text), change.get("tags", before.tags), before.session)
        return json_request("PATCH", f"{path_of(key)}?namespace={SPACE}", change), {key: after}, {}

    def _rename(self):
        (key,) = self.model.some(1)
        new = self.model.key()
        asked = json_request("PATCH", f"{path_of(key)}?namespace={SPACE}", {"new_key": new})
        return asked, {key: None, new: self.model.memories[key]}, {key: new}

    def _delete(self):
        keys = self.model.some(self.dice.choice([1, 1, 1, 8]))
        asked = json_request("POST", "/api/v1/tools/memory_delete", {"keys": keys, "namespace": SPACE})
        return asked, dict.fromkeys(keys), {}

    def _import(self):
        changes = {self.model.key(): self.model.memory(self._session()) for _ in range(self.dice.choice([1, 5, 30]))}
        for key in self.model.some(2):
            changes[key] = self.model.memory(self.model.memories[key].session)
        return import_request([{"key": key, **memory.body()} for key, memory in changes.items()]), changes, {}

    def _any_change(self):
        if len(self.model.memories) < 10:
            return self._import()
        makers = [self._add, self._add, self._replace, self._update, self._update, self._rename, self._delete]
        makers += [self._delete] * 3 if len(self.model.memories) > MEMORIES else [self._add, self._import]
        return self.dice.choice(makers)()

    def change(self):
        assert self.change_if_there_is_room()

    def change_if_there_is_room(self):
        """Whether it was made: a disk that is full is a reason to refuse it."""
        return self._make(*self._any_change())

    def add_several(self):
        assert self.add_several_if_there_is_room()

    def add_several_if_there_is_room(self):
        return self._make(*self._import())

    def _make(self, asked, changes, renamed):
        with Connection(self.store.port()) as connection:
            connection.send(asked)
            response = connection.response()
        if response.status != 200 and "disk" in response.json()["error"]["message"]:
            return False
        self._acknowledged(response)
        self.model.change(changes, renamed)
        return True

    @staticmethod
    def _acknowledged(response):
        assert response.status == 200 and response.json()["success"] is True, response

    # ---- changes that end badly ----

    def killed(self):
        """A change during which the process dies: it happened, or nothing did; if it was acknowledged, it happened."""
        asked, changes, renamed = self._any_change()
        answer = self.store.send_and_kill(asked)
        if answer is not None:
            self._acknowledged(answer)
        if answer is not None or self._happened(changes):
            self.model.change(changes, renamed)
        else:  # the words that it was about to bring are nowhere
            before = {memory.own() for memory in self.model.memories.values()}
            self.model.gone |= {memory.own() for memory in changes.values() if memory} - before

    def _happened(self, changes):
        stored = self.exported()
        seen = {key: stored.get(key) for key in changes}
        after = {key: memory and self.shown(memory) for key, memory in changes.items()}
        before = {key: self.shown(self.model.memories[key]) if key in self.model.memories else None for key in changes}
        assert seen in (before, after), (seen, before, after)
        return seen == after

    def storm(self):
        """Every process has changes to make at once, of other memories each."""
        keys = self.model.some(24)
        places = itertools.cycle(range(len(self.store.servers)))
        lists = [[] for _ in self.store.servers]
        for number, key in enumerate(keys):
            memory = None if number % 3 == 0 else self.model.memory(self.model.memories[key].session)
            lists[next(places)].append((key, memory))
        for _ in range(12):
            lists[next(places)].append((self.model.key(), self.model.memory()))
        problems = []

        def work(port, changes):
            try:
                with Connection(port) as connection:
                    for key, memory in changes:
                        path = f"{path_of(key)}?namespace={SPACE}"
                        asked = json_request("PUT", path, memory.body()) if memory else request("DELETE", path)
                        self._acknowledged(connection.exchange(asked))
            except BaseException as error:
                problems.append(error)

        threads = [
            threading.Thread(target=work, args=(server.port, changes)) for server, changes in zip(self.store.servers, lists)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not problems, problems
        self.model.change(dict(itertools.chain(*lists)))

    def expire(self):
        """Memories whose time comes now. One that was refused, since the time was past already, stays."""
        moment, until, changes = iso_in(0.7), time.time() + 0.75, {}
        for key in self.model.some(3):
            response = self.store.ask("PATCH", path_of(key), body={"expires_at": moment})
            assert response.status in (200, 400), response
            if response.status == 200:
                changes[key] = None
        wait_until(lambda: time.time() > until)
        before = set(self.model.gone)
        self.model.change(changes)
        self.model.expired |= self.model.gone - before

    # ---- what is there ----

    @staticmethod
    def shown(memory):
        """A memory as its own words and what else must be the same."""
        return {"text": memory.text, "tags": memory.tags, "session": memory.session}

    def exported(self):
        response = self.store.ask("GET", PATH + "/export")
        assert response.status == 200, response
        lines = map(json.loads, response.body.decode().split("\n")[:-1])
        return {line["key"]: {"text": line["text"], "tags": line.get("tags", []), "session": line.get("session")} for line in lines}

    def check_all(self):
        assert self.exported() == {key: self.shown(memory) for key, memory in self.model.memories.items()}
        listed = self.pages(PATH, {})
        assert sorted(listed) == sorted(self.model.memories)

    def pages(self, path, query):
        """Every key that a list or a search gives, page by page; the total that it tells is right."""
        keys = []
        while True:
            data = self.store.data("GET", path, {**query, "limit": PAGE, "offset": len(keys)})
            keys += [result["key"] for result in data["results"]]
            page = data["pagination"]
            if len(data["results"]) < PAGE and "next_offset" not in page:  # else they were cut to fit
                assert page["total"] == len(keys) or page.get("total_is_lower_bound"), (query, page, len(keys))
                assert len(keys) == len(set(keys)), (query, keys)
                return keys

    def check_get(self):
        (key,) = self.model.some(1)
        (found,) = self.store.data("GET", path_of(key))["results"]
        seen = {"text": found["text"], "tags": found.get("tags", []), "session": found.get("session")}
        assert seen == self.shown(self.model.memories[key])

    # ---- searches ----

    def _filter(self):
        """A filter, and which memories pass it."""
        tag, session = self.dice.choice(WORDS), self.dice.choice(SESSIONS)
        return self.dice.choice(
            [
                ({}, lambda memory: True),
                ({}, lambda memory: True),
                ({"tags": tag}, lambda memory: tag in memory.tags),
                ({"session": session}, lambda memory: memory.session == session),
            ]
        )

    def _keyword(self):
        (key,) = self.model.some(1)
        words = self.model.memories[key].words()
        at = self.dice.randrange(len(words) - 1)
        return self.dice.choice(
            [
                self.dice.choice(WORDS),
                self.dice.choice(WORDS)[:4] + "*",
                f'"{words[at]} {words[at + 1]}"',
                f'"{self.dice.choice(WORDS)} {self.dice.choice(WORDS)}"',
                words[-1],
            ]
        )

    def check_fulltext(self):
        keywords = [self._keyword() for _ in range(self.dice.choice([1, 1, 2, 3]))]
        enough = self.dice.choice([any, all])
        excluded = [self._keyword()] if self.dice.random() < 0.3 else []
        given, passes = self._filter()
        query = {
            "keywords": ",".join(keywords + ["-" + keyword for keyword in excluded]),
            "operator": {any: "OR", all: "AND"}[enough],
            **given,
        }
        wanted = {
            key
            for key, memory in self.model.memories.items()
            if passes(memory) and enough(map(memory.has, keywords)) and not any(map(memory.has, excluded))
        }
        assert set(self.pages(PATH + "/fulltext", query)) == wanted, query

    def check_search(self):
        """Everything that has a word of the question is found, and nothing else but what is beside it in its session."""
        words = self.dice.sample(WORDS, self.dice.choice([1, 2, 3]))
        given, passes = self._filter()
        found = self.pages(PATH + "/search", {"q": " ".join(words), **given})
        direct = {key for key, memory in self.model.memories.items() if any(map(memory.has, words))}
        sessions = {self.model.memories[key].session for key in direct} - {None}
        near = {key for key, memory in self.model.memories.items() if memory.session in sessions}
        wanted = {key for key in direct if passes(self.model.memories[key])}
        assert wanted <= set(found), (words, given, wanted - set(found))
        assert set(found) - wanted <= {key for key in near if passes(self.model.memories[key])}, (words, given)
        first = self.store.data("GET", PATH + "/search", {"q": " ".join(words), **given})["results"]
        relevances = [result["relevance"] for result in first]
        assert relevances == sorted(relevances, reverse=True) and all(0 <= one <= 1 for one in relevances)

    def check_gone(self):
        """A word that was deleted is found by nobody."""
        if self.model.gone:
            word = self.dice.choice(sorted(self.model.gone))
            assert self.pages(PATH + "/fulltext", {"keywords": word}) == []

    def check_disk(self):
        """Nor is it in a file. Old contents may have to wait for a reader; the next change tries again."""
        folder, gone = self.store.settings["FORAGE_DATA_DIR"], self.model.gone - self.model.expired
        wait_until(lambda: not left_in(folder, gone) or self.change())

    # ---- all of it ----

    def step(self):
        self.steps += 1
        what = self.dice.choices(
            [self.change, self.check_get, self.check_fulltext, self.check_search, self.check_gone, self.killed, self.storm, self.expire],
            [60, 4, 14, 12, 4, 2, 2, 1],
        )[0]
        (what if self.model.memories else self.change)()  # where there are none, nothing can be asked for
        if self.steps % BETWEEN_CHECKS == 0:
            self.check_all()
            self.check_disk()


def left_in(folder, words):
    """Those own words that a file of the folder holds."""
    seen = set()
    for path in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):  # it may have gone away meanwhile
            if path.is_file():
                seen.update(OWN.findall(path.read_bytes()))
    return {word for word in words if word[3:].encode() in seen}
