"""Sites, search providers and model servers that answer as nobody should: there is a result or a reason, in time, the memory
is bounded, and the server answers the next one.
"""

import concurrent.futures
import pathlib
import re
import time

import pytest
from answering import UNLIMITED
from hostile_web import CASES, HostileWeb
from http_client import exchange, request
from programs import SANITIZED, Server
from searching import KEYS

CALL_SECONDS = 6
MOST_MEMORY = 128 << 20
TOGETHER = 8
# Those that are no page, and no answer, and yet something that can be read.
READABLE = {
    "page": {"endless", "deep", "deep-objects", "one-string", "many-members", "numbers", "no-text", "other-types", "shorter"},
    "provider": {"one-string", "many-members", "no-text", "other-types"},
    "model": set(),
}
ASKING = {
    "page": lambda web, name: ("get_content", {"url": f"{web.url}/case-{name}"}),
    "provider": lambda _, name: ("web_search", {"query": f"case-{name}"}),
    "model": lambda _, name: ("search_web", {"query": f"case-{name} of today?"}),
}


@pytest.fixture(scope="module")
def web():
    with HostileWeb() as web:
        yield web


def peak_memory(server):
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s*(\d+) kB", status)[1]) << 10


def ask(web, folder, kind, name):
    """What a server of its own says, after how many seconds, and how much memory it has had. Of its own, because one that has
    failed a few times does not ask again for a while."""
    settings = {
        **dict.fromkeys(KEYS),
        **UNLIMITED,
        "SEARXNG_BASE_URL": web.url,
        "OPENAI_BASE_URL": f"{web.url}/v1",
        "FORAGE_ANSWER_TIMEOUT": CALL_SECONDS,
        "FORAGE_CALL_TIMEOUT": CALL_SECONDS,
        "FORAGE_ALLOW_PRIVATE_HOSTS": f"127.0.0.1:{web.port}",
        "FORAGE_DATA_DIR": folder / name,
        "FORAGE_CACHE_TTL": 0,
    }
    tool, arguments = ASKING[kind](web, name)
    with Server(**settings) as server:
        begun = time.monotonic()
        answer = exchange(server.port, request("POST", f"/api/v1/tools/{tool}", None, arguments))
        return answer.json(), time.monotonic() - begun, peak_memory(server)


@pytest.mark.parametrize("kind", ASKING)
def test_answers(web, tmp_path, kind):
    with concurrent.futures.ThreadPoolExecutor(TOGETHER) as threads:
        results = dict(zip(CASES, threads.map(lambda name: ask(web, tmp_path, kind, name), CASES)))
    for name, (result, seconds, memory) in results.items():
        print(f"{name:20} {seconds:5.2f} s {memory >> 20:4} MB {str(result)[:150]}")
        assert SANITIZED or memory < MOST_MEMORY, name
        if name in READABLE[kind]:
            continue
        text = result["page_content"] if result["success"] else result["error"]["message"]
        assert result["success"] is False or result["failed"] is True, (name, result)
        assert len(text) > 20 and "words and more words" not in text, name
