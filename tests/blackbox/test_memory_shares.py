"""What callers share of the memories: the memory that word indexes take, and room in the store."""

import random

from conftest import ALICE, BOB
from memory_world import PATH, ask, over_rest
from programs import FORAGE, Server
from storage import runtime_of
from test_shares import stock

MB = 1_000_000
INDEXES = 8 * MB  # that all indexes together may take


def rare_words(seed, size):
    """Lines of an import in which no word comes twice: their index is many times as large as they are."""
    dice = random.Random(seed)
    lines = []
    while size > 0:
        text = " ".join(f"{dice.getrandbits(36):09x}" for _ in range(5000))
        lines.append({"key": f"k{len(lines)}", "text": text})
        size -= len(text)
    return lines


def load(server, token, namespace, lines):
    answer = ask(server.port, "POST", PATH + "/import", {"namespace": namespace}, lines=lines, token=token)
    assert answer.status == 200, answer


def search(server, token, namespace, query):
    """The keys that a search gives."""
    body = over_rest(server.port, "memory_search", {"query": query, "namespace": namespace}, token=token)
    assert body["success"], body
    return [result["key"] for result in body["data"]["results"]]


def resident(server):
    """Bytes of memory that are the program's alone."""
    with open(f"/proc/{server.pid}/smaps_rollup") as lines:
        return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def test_indexes_leave_memory(tmp_path):
    """Indexes share their memory, and the largest of them goes with the search that needed it."""
    tokens = f"alice:{ALICE},bob:{BOB}"
    with Server(FORAGE_TOKENS=tokens, FORAGE_DATA_DIR=tmp_path, FORAGE_MEMORY_INDEXES=INDEXES) as server:
        load(server, BOB, "small", [{"key": "tea", "text": "Tea is in the blue tin."}])
        assert search(server, BOB, "small", "tea") == ["tea"]
        (used, limit, _refused) = stock(server, BOB, "index_bytes")
        assert 0 < used < limit == INDEXES
        before = resident(server)
        large = {f"large {number}": rare_words(number, 2 * MB) for number in range(3)}
        for namespace, lines in large.items():
            load(server, ALICE, namespace, lines)
            assert search(server, ALICE, namespace, lines[7]["text"].split()[11]) == ["k7"]
            assert stock(server, BOB, "large_indexes")[:2] == (0, 1)
        (kept, _limit, refused) = stock(server, BOB, "index_bytes")
        assert used <= kept <= INDEXES and refused > 0, "Bob's index was not in the way of hers"
        if not runtime_of(FORAGE):
            assert resident(server) - before < 2 * INDEXES + 16 * MB
        assert search(server, ALICE, "large 0", large["large 0"][3]["text"].split()[0]) == ["k3"]
        assert search(server, BOB, "small", "tin") == ["tea"]


def test_the_oldest_indexes_go_first(tmp_path):
    """Where there is one caller it has all of the memory, and what it searched last stays."""
    with Server(FORAGE_TOKENS=f"alice:{ALICE}", FORAGE_DATA_DIR=tmp_path, FORAGE_MEMORY_INDEXES=INDEXES) as server:
        seen = []
        for number in range(6):
            lines = rare_words(number, MB // 5)
            load(server, ALICE, f"space {number}", lines)
            assert search(server, ALICE, f"space {number}", lines[1]["text"].split()[0]) == ["k1"]
            (used, _limit, refused) = stock(server, ALICE, "index_bytes")
            seen.append((used, refused))
        assert seen[0][0] < seen[1][0] and seen[1][1] == 0, "two find a place"
        assert all(used <= INDEXES for used, _refused in seen) and seen[-1][1] > 0
