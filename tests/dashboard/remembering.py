"""Memories and research for the worlds of filling.py: memories come by an import, as a person brings them; research that is over is
written into the database as a server writes it."""

import contextlib
import datetime
import json
import random
import sqlite3
import time

from http_client import exchange, request

NOTES = [
    ("atlas-database", "Atlas uses PostgreSQL 17 since May, in two regions.", ["atlas", "decision"]),
    ("oven", "The oven runs 20 degrees hot; set it lower for bread.", ["kitchen", "bread"]),
    ("deploy-window", "Deployments happen on Tuesdays and Thursdays before noon, never on Fridays.", ["team", "decision"]),
    ("allergy", "Mara is allergic to hazelnuts and cashews.", ["family", "health"]),
    ("api-style", "REST answers carry success and data; errors have a stable code.", ["atlas", "style"]),
    ("tone", "The user prefers short answers in plain words.", ["preference"]),
    ("rye", "Rye wants more water: 80 % hydration for the dark loaf.", ["bread"]),
    ("多言語", "検索は日本語でも動く。", ["atlas", "languages"]),
]
NOW = datetime.datetime.now(datetime.UTC)


def memory(number, chance, days):
    key, text, tags = NOTES[number % len(NOTES)]
    made = {"key": f"{key}-{number}", "text": f"{text} This is note {number}.", "tags": tags}
    made["created_at"] = (NOW - datetime.timedelta(days=chance.expovariate(1) * days, minutes=number + 60)).isoformat()
    if number % 3 == 0:
        made |= {"session": f"chat-{number // 12}", "role": "user"}
    if number % 4 == 0:
        made["metadata"] = {"source": "meeting", "number": number}
    return made


def bring(server, lines, token=None):
    """Imports memories; what the server says of it."""
    body = "".join(json.dumps(line) + "\n" for line in lines).encode()
    headers = {"Content-Type": "application/x-ndjson", "Content-Length": len(body)}
    headers |= {"Authorization": f"Bearer {token}"} if token else {}
    answer = exchange(server.port, request("POST", "/api/v1/memories/import", headers, body))
    assert answer.status == 200, answer
    return answer.json()["data"]


def memories(count, days, seed=7):
    chance = random.Random(seed)
    first = [{"key": key, "text": text, "tags": tags, "created_at": (NOW - datetime.timedelta(hours=at)).isoformat()} for at, (key, text, tags) in enumerate(NOTES)]
    return first + [memory(number, chance, days) for number in range(len(first), count)]


def remember_typical(server):
    bring(server, memories(240, 20))
    bring(server, [{"key": "oven", "text": "The oven runs 25 degrees hot; set it lower for bread.", "tags": ["kitchen", "bread"]}])
    bring(server, [{"key": f"plan-{number}", "text": f"Step {number} of the plan.", "namespace": "project-atlas"} for number in range(12)])


def remember_much(server):
    bring(server, memories(10_000, 400))
    many = [f"tag-{number}-{'t' * 60}" for number in range(30)]
    bring(server, [{"key": "k" * 1000, "text": "W" * 1_000_000, "summary": "S" * 2000, "tags": many, "metadata": {"m" * 300: ["n" * 3000] * 10}}])


# ---- research ----


def report_on(question):
    return (
        f"# {question}\n\nCold slows a starter; it does not kill it. [1]\n\n## What to do\n\n- dry it\n- or keep it in the fridge\n\n"
        "| way | keeps |\n|---|---|\n| jar in the fridge | four weeks |\n| dried | years |\n\n[1]: https://bread.example/cold\n"
    )


def evidence(number, grade):
    return {
        "claim": f"Claim {number}: a starter survives some weeks of cold without food.",
        "quote": f"In our fridge the starter was alive after {number + 3} weeks.",
        "url": f"https://bread{number}.example/cold",
        "title": f"Sourdough in winter, part {number}",
        "read_at": "2026-11-17T09:30:00Z",
        "grade": grade,
        "supported": number % 2 == 0,
        "supported_by": "a-model",
    }


def result_of(question, claims):
    return {
        "success": True,
        "report": report_on(question),
        "verified": all(one["grade"] in ("exact", "near") for one in claims),
        "evidence": claims,
        "citations": {"claims": len(claims), "exact": len(claims), "near": 0, "absent": 0, "unseen": 0, "sources": len(claims), "hosts": len(claims)},
        "conflicts": [{"claim": "How long it keeps", "one": {"quote": "four weeks", "url": "https://a.example/"}, "other": {"quote": "six weeks", "url": "https://b.example/"}}],
        "open_questions": ["Does rye keep longer than wheat?"],
        "metadata": {
            "duration_ms": 84_000, "topic": question, "depth": "detailed", "model": "a-model", "timestamp": "2026-11-17T09:31:00Z", "iterations": 3,
            "sources_visited": [one["url"] for one in claims], "search_queries_used": ["sourdough winter", "starter dried"], "stopped": "coverage",
            "budget": {"searches": {"used": 6, "limit": 20}, "pages": {"used": 9, "limit": 30}, "tokens": {"used": 90_000, "limit": 100_000}},
        },
    }  # fmt: skip


def state_of(claims):
    pages = [{"url": one["url"], "title": one["title"], "read_at": one["read_at"]} for one in claims]
    notes = [{name: one[name] for name in ("claim", "quote", "url", "grade")} for one in claims]
    return {"rounds": 3, "searches": ["sourdough winter", "starter dried"], "pages": pages, "notes": notes}


def add_job(folder, number, question, result, state=None, status="done", caller="local"):
    now = int(time.time() * 1000)
    stored = {"structured": result, "is_error": result.get("success") is False}
    if stored["is_error"]:
        stored["error"] = {**result["error"], "retry_after_s": 0}
    row = (f"{number:032x}", caller, "deep_search", json.dumps({"topic": question}), status, 1, 0, 1, 0, now - number * 600_000, now, now + 80_000_000, 90_000, 4_000, 12_000_000)
    with contextlib.closing(sqlite3.connect(folder / "records.sqlite", timeout=30)) as records:
        names = "id, caller, tool, arguments, status, background, cancelling, runs, lease_ms, created_ms, updated_ms, expires_ms, input_tokens, output_tokens, nano_usd, state, result"
        records.execute(f"INSERT INTO jobs ({names}) VALUES ({', '.join('?' * 17)})", (*row, json.dumps(state or {"rounds": 0}), json.dumps(stored)))
        records.commit()


def research_typical(folder):
    claims = [evidence(number, grade) for number, grade in enumerate(["exact", "near", "absent", "unseen", "exact"])]
    add_job(folder, 1, "How do sourdough starters survive a winter without feeding?", result_of("Sourdough in winter", claims), state_of(claims))
    failed = {"success": False, "error": {"code": "TIMEOUT", "message": "the model did not answer in time; try again later"}}
    add_job(folder, 2, "Which batteries are exempt from the EU regulation of 2027?", failed, status="failed")
    add_job(folder, 3, "Is 10 Gbit ethernet over old cables reliable at 30 metres?", result_of("Old cables", claims[:1]), state_of(claims[:1]))


def research_much(folder):
    word = "w" * 200_000
    huge = {**evidence(1, "exact"), "claim": word, "quote": word, "title": word, "url": "https://example.org/" + "p" * 5000}
    add_job(folder, 1, word[:5000], {**result_of(word[:3000], [huge] * 4), "report": "# Long\n\n" + word + "\n\n" + "- item\n" * 10_000}, state_of([huge] * 2))
    for number in range(2, 120):
        add_job(folder, number, f"Question {number} " * 30, result_of("x", [evidence(number, "near")]))
