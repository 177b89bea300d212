"""A durable add over HTTP, and what it is compared with: a commit of SQLite with nothing around it."""

import os
import sqlite3
import time

import measure


def bare_commits(home, seconds):
    """Milliseconds of each commit of one row, with the same durability, by nothing but SQLite."""
    path = os.path.join(home, "bare.db")
    file = sqlite3.connect(path, isolation_level=None)
    file.execute("PRAGMA journal_mode = WAL")
    file.execute("PRAGMA synchronous = FULL")
    file.execute("CREATE TABLE IF NOT EXISTS memory (id INTEGER PRIMARY KEY, key TEXT, text TEXT)")
    times = []
    end = time.perf_counter() + seconds
    while (started := time.perf_counter()) < end:
        file.execute("INSERT INTO memory (key, text) VALUES (?, ?)", (f"k{len(times)}", "a word or two " * 12))
        times.append((time.perf_counter() - started) * 1000)
    file.close()
    return times


def add_request(home, port, label):
    """A call of memory_add with a text of its own each time, as a file for bench/load.c."""
    arguments = {"key": f"{label} 1000000000", "text": f"{label} 1000000000 " + "a word or two " * 12}
    path = os.path.join(home, f"{label}.request")
    with open(path, "wb") as file:
        file.write(measure.http_request(port, "legacy", "tools/call", {"name": "memory_add", "arguments": arguments}))
    return path
