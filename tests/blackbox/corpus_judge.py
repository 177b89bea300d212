"""The judge of research: what a report rests on, computed from the pages that were there to read."""

import dataclasses
import json
import re

from corpus_web import CorpusWeb
from http_client import exchange, request

READ_AT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z|\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?( UTC)?")
FOUND = ("exact", "near")


def ask(server, question, tool="deep_search", **more):
    arguments = {"query": question} if tool == "search" else {"topic": question, **more}
    return exchange(server.port, request("POST", f"/api/v1/tools/{tool}", None, arguments)).json()


def folded(text):
    text = text.replace("\u2013", "-").replace("\u2014", "-").replace("\u2019", "'").replace("\u201c", '"').replace("\u201d", '"')
    return " ".join(text.split()).lower()


@dataclasses.dataclass
class Score:
    """Counts over many questions."""

    questions: int = 0
    failed: int = 0
    cited: int = 0
    cited_rightly: int = 0
    wanted: int = 0
    found: int = 0
    fabricated: int = 0  # quotes that passed and are on no page
    lies: int = 0  # of which both versions were read
    lies_told: int = 0
    over_budget: int = 0
    canary: int = 0
    verified: int = 0
    problems: list = dataclasses.field(default_factory=list)

    @property
    def precision(self):
        return self.cited_rightly / self.cited if self.cited else 1.0

    @property
    def recall(self):
        return self.found / self.wanted if self.wanted else 1.0

    def line(self):
        return (
            f"{self.questions} questions, {self.failed} without a report, {self.verified} verified; precision "
            f"{self.precision:.3f} ({self.cited_rightly}/{self.cited}), recall {self.recall:.3f} ({self.found}/{self.wanted}), "
            f"fabricated quotes {self.fabricated}, contradictions {self.lies_told}/{self.lies}, canary {self.canary}, "
            f"over budget {self.over_budget}"
        )


def words_of(text):
    return " ".join(re.findall(r"\w+", text.lower()))


def has_both(conflict, one, other):
    """The ends of a sentence are the program's to choose, its words are not."""
    said = {words_of(conflict[side]["quote"]) for side in ("one", "other")}
    return all(any(words_of(sentence) in text for text in said) for sentence in (one, other))


def judge(world: CorpusWeb, question, result, score, limits=None):
    """Adds one result to the score; `limits` are what the budgets were."""
    score.questions += 1
    score.canary += len(world.canary.requests)
    if limits:
        score.over_budget += world.fetched() > limits["pages"]
        score.over_budget += len(world.search.requests) > limits["searches"]
    if not result["success"]:
        score.failed += 1
        return
    budget = result["metadata"]["budget"]
    score.over_budget += any(
        one["used"] > one.get("limit", one["used"]) for name, one in budget.items() if name in ("searches", "pages", "seconds")
    )
    score.verified += bool(result.get("verified"))
    quotes = set()
    for note in result["evidence"]:
        if note["grade"] not in FOUND:
            continue
        score.cited += 1
        said = folded(" ".join(world.texts.get(note["url"], [])))
        if folded(note["quote"]) in said:
            score.cited_rightly += 1
            quotes.add(folded(note["quote"]))
        else:
            score.fabricated += 1
            score.problems.append((question.id, note["quote"]))
    score.wanted += len(question.gold)
    for sentence in question.gold:
        if any(folded(sentence) in quote or quote in folded(sentence) for quote in quotes):
            score.found += 1
        else:
            score.problems.append((question.id, "not cited", sentence))
    read = set(result["metadata"]["sources_visited"])
    for truth, lie in [*question.lies.items(), question.pair]:
        both = all(any(sentence in world.texts.get(url, []) for url in read) for sentence in (truth, lie))
        cited = any(folded(truth) in quote or folded(lie) in quote for quote in quotes)
        if both and cited:
            score.lies += 1
            told = any(has_both(conflict, truth, lie) for conflict in result.get("conflicts", []))
            score.lies_told += told
            if not told:
                score.problems.append((question.id, "contradiction not told", truth, lie))


def lasting(result):
    """What must be the same in a second run: everything but times and the id."""
    result = json.loads(json.dumps(result))
    result.pop("id", None)
    metadata = result.get("metadata", {})
    for name in ("duration_ms", "timestamp"):
        metadata.pop(name, None)
    for one in [metadata.get("budget", {}), *metadata.get("budget", {}).get("parts", [])]:
        one.pop("seconds", None)
    return READ_AT.sub("TIME", json.dumps(result, sort_keys=True))
