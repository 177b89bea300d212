"""Turns at sources that set a pace: not one request too many, whoever asks: callers of a server, processes on one folder,
machines on one database. The tool test_paced takes a turn, asks a source that counts, and leaves; searches do so with the
paces of real sources."""

import contextlib
import json
import threading
import time
from collections import Counter

import pytest
from conftest import ALICE, BOB, report
from fakes.counting import Counting, too_early
from http_client import exchange, request
from postgres import postgres  # noqa: F401 (a fixture)
from programs import CONFORMANCE, PATIENCE, Server, run, wait_until
from records import authorization, spending_server
from storage import BadDisk

CALLS = 200
PACE = {"calls": 4, "window_ms": 1500, "more_calls": 14, "longer_window_ms": 7000, "at_once": 3}
WAIT_MS = 9000


def ask(port, source, token=None, **arguments):
    body = {"source": "counting", "url": source.url, "patience_ms": WAIT_MS, **PACE, **arguments}
    answer = exchange(port, request("POST", "/api/v1/tools/test_paced", authorization(token), body))
    assert answer.status == 200, answer
    return answer.json()


@contextlib.contextmanager
def several(folders, **settings):
    """A server for each folder."""
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(
                spending_server(folder, FORAGE_WORKERS=512, FORAGE_TOKENS=f"alice:{ALICE},bob:{BOB}", **settings)
            )
            for folder in folders
        ]


def ask_at_once(servers, source, callers):
    """Everybody asks at once, but BOB once the source knows of the others: what became of the calls of each caller."""
    answers = {caller: [] for caller in callers}
    ready = threading.Barrier(len(callers))

    def run(number, caller):
        ready.wait(PATIENCE)
        if caller == BOB:
            wait_until(lambda: source.counts()[0])
            time.sleep(0.3)  # behind all that alice asks for
        answers[caller].append(ask(servers[number % len(servers)].port, source, caller))

    threads = [threading.Thread(target=run, args=(number, caller)) for number, caller in enumerate(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(2 * PATIENCE)
    return answers


def check_crowd(servers, source):
    """200 calls at once, four of five of them alice's."""
    callers = [ALICE] * (CALLS * 4 // 5) + [BOB] * (CALLS // 5)
    began_ms = time.monotonic() * 1000
    answers = ask_at_once(servers, source, callers)
    times, most = source.counts()
    assert sum(map(len, answers.values())) == CALLS
    outcomes = {caller: Counter(answer["outcome"] for answer in answers[caller]) for caller in answers}
    asked = {caller: outcomes[caller]["asked"] for caller in outcomes}
    assert set().union(*outcomes.values()) == {"asked", "busy"}, outcomes
    assert sum(asked.values()) == len(times)
    assert too_early(times, began_ms, PACE["calls"], PACE["window_ms"]) == []
    assert too_early(times, began_ms, PACE["more_calls"], PACE["longer_window_ms"]) == []
    assert most <= PACE["at_once"]
    waits = [answer["waited_ms"] for caller in answers for answer in answers[caller]]
    assert max(waits) <= WAIT_MS + 1000 * PATIENCE, max(waits)  # on a busy machine, until a thread gets its time
    assert len(times) > PACE["calls"]  # the first window's worth, and more after it
    # Alice was there first; from then on it is one turn for each of them. Where all of hers came first, he had none.
    assert asked[BOB] >= (len(times) - PACE["calls"]) // 6, asked
    return len(times), asked[BOB], max(waits)


def test_two_processes_are_one_to_a_source(tmp_path):
    with Counting(takes=0.05) as source, several([tmp_path / "data"] * 2) as servers:
        count, of_bob, longest = check_crowd(servers, source)
    report(f"pacing: {CALLS} calls at once at two processes, {count} asked ({of_bob} of the caller with a fifth of the "
           f"calls), none too many; the longest wait {longest} of {WAIT_MS} ms")


def test_three_machines_are_one_to_a_source(postgres, tmp_path):  # noqa: F811
    folders = [tmp_path / str(number) for number in range(3)]
    with Counting(takes=0.05) as source, several(folders, FORAGE_DATABASE_URL=postgres.database()) as servers:
        count, of_bob, longest = check_crowd(servers, source)
    report(f"pacing in PostgreSQL: {CALLS} calls at once at three machines, {count} asked ({of_bob} of the caller with a "
           f"fifth of the calls), none too many; the longest wait {longest} of {WAIT_MS} ms")


@pytest.fixture(params=["sqlite", "postgresql"])
def shared(request, tmp_path):  # noqa: F811
    """The settings of servers that share records."""
    if request.param == "sqlite":
        return {"FORAGE_DATA_DIR": tmp_path / "shared"}
    return {"FORAGE_DATABASE_URL": request.getfixturevalue("postgres").database()}


def server_on(shared, folder):
    return spending_server(**{"folder": shared.get("FORAGE_DATA_DIR", folder),
                              **{name: value for name, value in shared.items() if name != "FORAGE_DATA_DIR"}})


def test_so_many_at_once_for_all_processes(shared, tmp_path):
    free = {"calls": 0, "more_calls": 0, "at_once": 2, "patience_ms": 60000}
    with Counting(takes=0.05) as source, server_on(shared, tmp_path / "a") as one, server_on(shared, tmp_path / "b") as two:
        answers = []
        threads = [
            threading.Thread(target=lambda port=port: answers.append(ask(port, source, **free)))
            for port in [one.port, two.port] * 8
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(2 * PATIENCE)
        times, most = source.counts()
    assert Counter(answer["outcome"] for answer in answers) == {"asked": 16}
    assert len(times) == 16 and most <= 2


def test_a_source_that_refused_rests_for_every_process(shared, tmp_path):
    with Counting(refusals=1) as source:
        with server_on(shared, tmp_path / "a") as server:
            assert ask(server.port, source, rest_ms=3600000)["outcome"] == "refused"
            assert ask(server.port, source)["outcome"] == "rests"
        with server_on(shared, tmp_path / "b") as server:  # which was not there when it refused
            answer = ask(server.port, source)
            assert answer["outcome"] == "rests" and 3500000 < answer["wait_ms"] <= 3600000
        assert len(source.counts()[0]) == 1


def test_after_its_rest_one_tries_it_for_all(shared, tmp_path):
    with Counting(refusals=1, held=True) as source, server_on(shared, tmp_path / "a") as one, \
            server_on(shared, tmp_path / "b") as two:
        assert ask(one.port, source, rest_ms=500)["outcome"] == "refused"
        time.sleep(0.6)
        first = threading.Thread(target=ask, args=(one.port, source))
        first.start()
        wait_until(lambda: len(source.counts()[0]) == 2)
        assert ask(two.port, source)["outcome"] == "rests"  # somebody is at it
        source.release()
        first.join(PATIENCE)
        assert ask(two.port, source)["outcome"] == "asked"  # and it answered
        assert len(source.counts()[0]) == 3


def test_turns_outlive_a_process(shared, tmp_path):
    hourly = {"calls": 2, "window_ms": 3600000, "more_calls": 0}
    outcomes = []
    with Counting() as source:
        for _ in range(3):
            with server_on(shared, tmp_path / "a") as server:
                outcomes.append(ask(server.port, source, **hourly)["outcome"])
        assert outcomes == ["asked", "asked", "busy"]
        assert len(source.counts()[0]) == 2


def test_a_disk_that_is_slow_or_hangs_holds_nobody_up_for_long(tmp_path):
    disk = BadDisk(tmp_path)
    hourly = {"calls": 3, "window_ms": 3600000, "more_calls": 0}
    outcomes = []
    with Counting() as source, spending_server(disk.folder, **disk.settings(CONFORMANCE)) as server:
        for waits in (0, 60, 400, 0):
            disk.turn(waits_ms=waits)
            answer = ask(server.port, source, **hourly)
            outcomes.append(answer["outcome"])
            assert answer["waited_ms"] < WAIT_MS
        assert len(source.counts()[0]) == 3
    assert outcomes == ["asked", "asked", "asked", "busy"]


def test_without_the_database_a_process_counts_by_itself(tmp_path):
    blocked = tmp_path / "data"
    blocked.write_text("this is no folder")
    hourly = {"calls": 2, "window_ms": 3600000, "more_calls": 0}
    with Counting() as source, spending_server(blocked) as server:
        outcomes = [ask(server.port, source, **hourly)["outcome"] for _ in range(3)]
    assert outcomes == ["asked", "asked", "busy"]


# ---- searches ----

NO_PAGES = json.dumps({"query": {"search": []}})
NO_RESULTS = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": '{"results":[]}'}]}})
DEADLINE_S = 20


def searching(parallel, wikipedia, **settings):
    """The settings of a program that asks these two, one after the other."""
    return {
        "FORAGE_SEARCH_PROVIDERS": "parallel,wikipedia",
        "FORAGE_SEARCH_MERGE": 1,
        "FORAGE_CALL_TIMEOUT": f"{DEADLINE_S}s",
        "FORAGE_SEARCH_SOURCE_TIMEOUT": f"{DEADLINE_S}s",  # who had a turn has seconds for its answer
        "FORAGE_WORKERS": 512,
        "PARALLEL_BASE_URL": parallel.url,
        "WIKIPEDIA_BASE_URL": wikipedia.url,
        **settings,
    }


def search_at_once(servers):
    """200 searches at once: their answers, and how long the slowest took, in seconds."""
    answers = []
    ready = threading.Barrier(CALLS)

    def ask_for(number):
        ready.wait(PATIENCE)
        body = {"query": f"what is number {number}"}
        began = time.monotonic()
        answer = exchange(servers[number % len(servers)].port, request("POST", "/api/v1/tools/web_search", None, body))
        answers.append((answer.json(), time.monotonic() - began))

    threads = [threading.Thread(target=ask_for, args=(number,)) for number in range(CALLS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(2 * PATIENCE)
    assert len(answers) == CALLS
    return [answer for answer, _ in answers], max(took for _, took in answers)


def check_searches(servers, parallel, wikipedia):
    began_ms = time.monotonic() * 1000
    answers, longest = search_at_once(servers)
    times, most = parallel.counts()
    assert too_early(times, began_ms, 1, 1000) == too_early(times, began_ms, 20, 60000) == [] and most <= 2
    others, most = wikipedia.counts()
    assert len(others) >= 10 and too_early(others, began_ms, 10, 60000) == [] and most <= 3
    found = [answer for answer in answers if answer["success"]]
    assert len(found) == len(times) + len(others)
    for answer in answers:
        if not answer["success"]:
            assert answer["error"]["code"] == "RATE_LIMIT", answer
            assert "as often as its operator allows" in answer["error"]["message"]
    return f"{CALLS} searches at once, {len(times)} and {len(others)} asked, none too many; the longest took {longest:.1f} s"


def test_searches_of_two_processes_keep_to_the_paces(tmp_path):
    with Counting(body=NO_RESULTS, takes=0.05) as parallel, Counting(body=NO_PAGES, takes=0.05) as wikipedia:
        settings = searching(parallel, wikipedia, FORAGE_DATA_DIR=tmp_path / "data")
        with Server(**settings) as one, Server(**settings) as two:
            report("pacing at two processes: " + check_searches([one, two], parallel, wikipedia))


def test_searches_of_three_machines_keep_to_the_paces(postgres, tmp_path):  # noqa: F811
    with Counting(body=NO_RESULTS, takes=0.05) as parallel, Counting(body=NO_PAGES, takes=0.05) as wikipedia, \
            contextlib.ExitStack() as stack:
        settings = searching(parallel, wikipedia, FORAGE_DATABASE_URL=postgres.database())
        servers = [stack.enter_context(Server(FORAGE_DATA_DIR=tmp_path / str(i), **settings)) for i in range(3)]
        report("pacing at three machines: " + check_searches(servers, parallel, wikipedia))


def test_the_next_command_knows_which_source_rests(tmp_path):
    with Counting() as nobody, Counting(refusals=1, body=NO_PAGES) as wikipedia:
        settings = searching(nobody, wikipedia, FORAGE_SEARCH_PROVIDERS="wikipedia", FORAGE_DATA_DIR=tmp_path / "data")
        first = run("web", "things", **settings)
        assert first.returncode != 0 and "Wikipedia wants fewer searches (HTTP 429), and rests for 3 minutes" in first.stderr
        second = run("web", "things", **settings)
        assert second.returncode != 0 and "Wikipedia rests for another" in second.stderr
        assert len(wikipedia.counts()[0]) == 1
