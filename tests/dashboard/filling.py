"""Servers with nothing, something and very much to show. What calls left behind is written into the database as a server writes
it, since a month takes a month; questions that a test asks again are asked of fakes on loopback."""

import contextlib
import json
import math
import random
import sqlite3
import time
import zlib

from people import OPERATOR
from experimenting import PLAIN, add_trials, experiment, write
from http_client import exchange, request
from programs import Server
from remembering import remember_much, remember_typical, research_much, research_typical
from searching import World

WORLDS = ["empty", "typical", "huge"]
DAY_MS = 86_400_000
SPANS_MS = {60_000: 3 * 3_600_000, 3_600_000: 8 * DAY_MS, DAY_MS: 400 * DAY_MS}

TOOLS = {
    "web_search": (["serper", "tavily", "searxng"], 14, 1_000_000),
    "get_content": (["html", "pdf", "github", "wikipedia"], 13, 0),
    "search_web": (["gpt-5-nano-web-search"], 15, 4_000_000),
    "deep_search": (["gemini-2.5-flash"], 17, 30_000_000),
    "memory_search": ([""], 6.5, 0),
    "memory_add": ([""], 7, 0),
}
WEIGHTS = [40, 30, 12, 3, 25, 8]
QUESTIONS = [
    "how do sourdough starters survive a winter without feeding",
    "postgres logical replication slots growing without bound",
    "is 10 Gbit ethernet over old cat5e reliable at 30 metres",
    "EU battery regulation 2027 removable batteries exemptions",
    "best way to cancel a fetch in a service worker",
    "what changed in C23 for bit-precise integers",
    "wie lange hält Olivenöl nach dem Öffnen",
    "多言語の検索エンジンの評価方法",
]


def packed(value):
    """As the program packs texts."""
    text = json.dumps(value, ensure_ascii=False).encode()
    return len(text).to_bytes(4, "little") + zlib.compress(text, 1)


def answer_to(question, chance):
    """What a search leaves behind."""
    claims = [
        {
            "claim": f"Claim {number} about {question}.",
            "quote": f"Words of page {number} that say so.",
            "url": f"https://example.org/{number}",
            "title": f"Page {number}",
            "read_at": "2026-11-01T10:00:00Z",
            "grade": chance.choice(["exact", "exact", "near", "absent"]),
        }
        for number in range(1, 4)
    ]
    report = (
        f"# {question.capitalize()}\n\nIt **depends**: see [the first page](https://example.org/1) and `the code`.\n\n"
        "- cold slows it\n- food matters less\n\n| what | how long |\n|---|---|\n| in a jar | 4 weeks |\n| dried | years |\n"
    )
    return {"success": True, "report": report, "verified": True, "evidence": claims, "metadata": {"sources_visited": ["https://example.org/1", "https://example.org/2"]}}


# ---- records ----


def bucket_of(took_us):
    return 0 if took_us < 100 else min(1 + math.floor(8 * math.log2(took_us / 100)), 199)


def calls_of(count, chance, callers, tools, weights, days=30):
    """Calls that become more towards now."""
    now = int(time.time() * 1000)
    names = list(tools)
    for _ in range(count):
        at = now - int(days * DAY_MS * chance.random() ** 1.6)
        tool = chance.choices(names, weights)[0]
        providers, size, price = tools[tool]
        failed = chance.random() < 0.04
        cached = not failed and price and chance.random() < 0.2
        took = 900 if cached else int(chance.lognormvariate(size, 0.7))
        spent = 0 if cached or not price else int(price * (0.5 + chance.random()))
        code = chance.choice(["PROVIDER", "TIMEOUT", "RATE_LIMIT"]) if failed else None
        tokens = (0, 0) if not spent else (chance.randrange(500, 9000), chance.randrange(100, 2000))
        yield (at, chance.choice(callers), tool, chance.choice(providers), took, code, int(bool(cached)), *tokens, spent)


def add_calls(folder, rows):
    rows = sorted(rows)
    now = int(time.time() * 1000)
    sums = {}
    for at, caller, tool, provider, took, code, cached, taken, given, spent in rows:
        for span, age in SPANS_MS.items():
            if now - at < age:
                key = (span, at - at % span, caller, tool, provider, bucket_of(took))
                one = sums.setdefault(key, [0] * 6)
                for place, more in enumerate((1, code is not None, cached, taken, given, spent)):
                    one[place] += more
    with contextlib.closing(sqlite3.connect(folder / "records.sqlite", timeout=30)) as records:
        records.executemany(
            "INSERT INTO calls (at_ms, caller, tool, provider, took_us, code, recalled, input_tokens, output_tokens, nano_usd) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            rows,
        )
        records.executemany(
            "INSERT OR REPLACE INTO tallies VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", ((*key, *values) for key, values in sums.items())
        )
        records.commit()


def add_history(folder, rows):
    """Rows of (caller, at_ms, tool, arguments, code, ms, result)."""
    with contextlib.closing(sqlite3.connect(folder / "records.sqlite", timeout=30)) as records:
        records.executemany(
            "INSERT INTO history (caller, at_ms, tool, arguments, code, took_ms, input_tokens, output_tokens, nano_usd, result) "
            "VALUES (?, ?, ?, ?, ?, ?, 1200, 300, 420000, ?)",
            ((caller, at, tool, json.dumps(arguments), code, ms, packed(result) if result else None) for caller, at, tool, arguments, code, ms, result in rows),
        )
        records.commit()


def ask(server, method, path, body=None, token=None):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    answer = exchange(server.port, request(method, path, headers, body if body is not None else b""))
    assert answer.status == 200, answer
    return answer.json()


# ---- worlds ----


def fill_typical(server, folder):
    chance = random.Random(21)
    now = int(time.time() * 1000)
    add_calls(folder, calls_of(6000, chance, ["local", "local", "laptop", "ci"], TOOLS, WEIGHTS))
    past = []
    for number in range(60):
        question = QUESTIONS[number % len(QUESTIONS)]
        tool = ["deep_search", "web_search", "search_web"][number % 3]
        code = "PROVIDER" if number % 9 == 4 else None
        failure = {"success": False, "error": {"code": "PROVIDER", "message": "the provider did not answer in time; try again later"}}
        argument = "topic" if tool == "deep_search" else "query"
        past.append(("local", now - (60 - number) * 2_700_000, tool, {argument: question}, code, chance.randrange(300, 60000), failure if code else answer_to(question, chance)))
    add_history(folder, past)
    add_experiments(server, folder, chance)
    remember_typical(server)
    research_typical(folder)
    # Somebody outside was asked, and one of them is ill.
    server.world.find(3)
    server.world["tavily"].mishap = 500
    ask(server, "POST", "/api/v1/tools/web_search", {"query": "a question of today"})


def add_experiments(server, folder, chance):
    rows = []
    for one in ask(server, "GET", "/api/v1/experiments")["experiments"]:
        size = 60 if one["name"] == "five-results" else 12
        for arm in one["arms"]:
            slower = 1.5 if arm["arm"] == "five" else 1
            for unit in range(size):
                trial = {"experiment": one["name"], "version": one["version"], "arm": arm["arm"], "unit": f"{arm['arm']}-{unit}", "tool": one["tool"][0]}
                took = int(chance.lognormvariate(13, 0.5) * slower)
                found = {"nothing_found": int(chance.random() < 0.1), "pages": chance.randrange(6), "reformulates": int(chance.random() < 0.2)}
                rows.append({**PLAIN, **trial, **found, "at_ms": int(time.time() * 1000), "took_us": took, "nano_usd": 400000})
    add_trials(folder, rows)


def fill_huge(server, folder):
    chance = random.Random(22)
    now = int(time.time() * 1000)
    tools = {f"tool_{number}_{'with_a_long_name_' * 3}"[:60]: ([f"provider-{number}-{'x' * 60}"], 12, 1_000_000) for number in range(60)}
    add_calls(folder, calls_of(20000, chance, [f"caller-{number}-{'y' * 40}" for number in range(80)], tools, None))
    word = "w" * 1_000_000
    past = [("local", now - number * 1000, "web_search", {"query": f"{number} {chance.choice(QUESTIONS)} " * 30}, None, number, None) for number in range(3000)]
    claim = {"claim": word[:9000], "quote": word[:9000], "url": "https://example.org/" + "p" * 5000}
    report = "# Long\n\n" + word[:600_000] + "\n\n" + "- item\n" * 10000
    past.append(("local", now, "deep_search", {"topic": word}, None, 10**9, {"success": True, "report": report, "evidence": [claim] * 10}))
    add_history(folder, past)
    remember_much(server)
    research_much(folder)


TYPICAL_EXPERIMENTS = [
    experiment("five-results", about="Do five results instead of three cost too much time?", sample=60, arms={"three": {}, "five": {"arguments": {"num_results": 5}}}),
    experiment("passages", about="Is a page's best passage enough?", metric="reformulation", sample=200, arms={"whole": {}, "passages": {"arguments": {"content": "passages"}}}),
]
HUGE_EXPERIMENTS = [
    experiment(f"experiment-{number}-{'n' * 40}", about="words " * 100, sample=1000, arms={f"arm-{arm}-{'m' * 30}"[:32]: {} for arm in range(6)}) for number in range(12)
]
EXPERIMENTS = {"typical": TYPICAL_EXPERIMENTS, "huge": HUGE_EXPERIMENTS}


class filled_server(contextlib.ExitStack):
    """A server of one of the WORLDS; `port`, `folder`, and the fakes as `world`."""

    def __init__(self, name, folder, **more):
        super().__init__()
        self.name, self.folder, self.more = name, folder, more

    def settings(self):
        data = self.folder / "data"
        self.folder.mkdir(exist_ok=True)
        data.mkdir(mode=0o700)
        settings = {"FORAGE_DATA_DIR": data, "FORAGE_HISTORY": None if self.name == "empty" else 1, **self.more}
        if self.name in EXPERIMENTS:
            settings["FORAGE_EXPERIMENTS"] = write(self.folder / "experiments", *EXPERIMENTS[self.name])
        if self.name == "typical":
            limits = {"FORAGE_LIMITS": "web_search=40/10m,*=2000/24h", "FORAGE_DAILY_BUDGET_USD": "2.5", "FORAGE_DAILY_BUDGET_TOTAL_USD": "20"}
            settings = {**self.world.settings("tavily", "searxng"), **limits, **settings}
        return settings

    def __enter__(self):
        self.world = self.enter_context(World())
        self.server = self.enter_context(Server(**self.settings()))
        self.port, self.log = self.server.port, self.server.log
        token = OPERATOR if "FORAGE_TOKENS" in self.more else None
        ask(self, "GET", "/api/v1/overview", token=token)  # its tables are there
        fill = {"typical": fill_typical, "huge": fill_huge}.get(self.name)
        if fill:
            fill(self, self.folder / "data")
        return self
