"""Experiments: calls get the arm of their session or caller and keep it, arms really differ, what callers say is left as it
is, what came of each call is recorded, and nothing happens where none is set."""

import json
import re
import signal
import subprocess
import sys
import time

import pytest
from conftest import ALICE, BOB
from experimenting import arm_of, arm_of_session, experiment, results, trials, write
from fakes.responses import KEY, Responses
from http_client import exchange, request
from jobs import Hangs, Scene, as_server, finished, get
from messages import modern, modern_headers, tool_call
from postgres import postgres  # noqa: F401 (a fixture)
from programs import FORAGE, PATIENCE, ROOT, Server, Stdio, environment, run, wait_until
from scipy import stats
from searching import shared_world, world  # noqa: F401 (fixtures)

SESSIONS = [f"session-{number}" for number in range(24)]


def settings_of(world, tmp_path, *experiments, **more):
    """For a program that runs these experiments and finds eight pages."""
    world.find(8)
    folder = write(tmp_path / "experiments", *experiments)
    return world.settings("serper", FORAGE_EXPERIMENTS=folder, FORAGE_DATA_DIR=tmp_path / "data", **more)


def call(server, session, tool="web_search", token=None, **arguments):
    """A call over MCP, in a session that the client names; its result."""
    headers = {"MCP-Protocol-Version": "2025-11-25", "Mcp-Session-Id": session}
    headers |= {"Authorization": f"Bearer {token}"} if token else {}
    answer = exchange(server.port, request("POST", "/mcp", headers, tool_call(tool, {"query": "things", **arguments})))
    assert answer.status == 200, answer
    return answer.json()["result"]["structuredContent"]


def count_of(result):
    return len(result["results"])


# ---- which arm ----


def test_sessions_keep_their_arms(world, tmp_path):
    """Each session has the arm that the salted hash says, on every server and after every restart."""
    content = experiment("more-results", arms={"A": {}, "B": {"arguments": {"num_results": 5}}})
    settings = settings_of(world, tmp_path, content)
    expected = {session: {"A": 3, "B": 5}[arm_of_session(content, session)] for session in SESSIONS}
    assert set(expected.values()) == {3, 5}
    for _ in range(2):
        with Server(**settings) as server:
            assert {session: count_of(call(server, session)) for session in SESSIONS} == expected
    rows = trials(tmp_path / "data")
    assert len(rows) == 2 * len(SESSIONS)
    units = {row["unit"]: row["arm"] for row in rows}
    assert len(units) == len(SESSIONS), "a session is one unit, whichever server it asks"
    for session, row in zip(SESSIONS, rows):
        assert row["arm"] == arm_of_session(content, session) and row["tool"] == "web_search"
        assert re.fullmatch("[0-9a-f]{16}", row["unit"]) and row["pages"] == expected[session]
        assert row["failed"] == 0 and row["nothing_found"] == 0 and row["took_us"] > 0 and row["claims"] == -1
    raw = (tmp_path / "data" / "records.sqlite").read_bytes()
    assert b"session-1" not in raw and b"things" not in raw, "neither who asked nor what"


def test_what_a_caller_says_is_never_changed(world, tmp_path):
    content = experiment(arms={"A": {"arguments": {"num_results": 6}}, "B": {"arguments": {"num_results": 5}}})
    with Server(**settings_of(world, tmp_path, content)) as server:
        assert {count_of(call(server, session, num_results=2)) for session in SESSIONS} == {2}
        assert {count_of(call(server, session)) for session in SESSIONS} == {5, 6}


def test_the_share_takes_part(world, tmp_path):
    """The others are as if there were no experiment, and leave no trial."""
    content = experiment(share=0.3, arms={"A": {"arguments": {"num_results": 4}}, "B": {"arguments": {"num_results": 5}}})
    counts = {None: 3, "A": 4, "B": 5}
    with Server(**settings_of(world, tmp_path, content)) as server:
        for session in SESSIONS:
            assert count_of(call(server, session)) == counts[arm_of_session(content, session)]
    taking_part = [session for session in SESSIONS if arm_of_session(content, session)]
    assert 0 < len(taking_part) < len(SESSIONS) and len(trials(tmp_path / "data")) == len(taking_part)


def test_another_salt_is_another_lot(world, tmp_path):
    content = experiment(salt="anew")
    assert [arm_of_session(content, s) for s in SESSIONS] != [arm_of_session(experiment(), s) for s in SESSIONS]
    with Server(**settings_of(world, tmp_path, content)) as server:
        for session in SESSIONS[:8]:
            assert count_of(call(server, session)) == {"A": 3, "B": 5}[arm_of_session(content, session)]


def test_callers_are_units_too(world, tmp_path):
    """Whatever their sessions and doors, over which the operator's results are not theirs to read."""
    content = experiment(unit="caller", salt=next(
        salt for salt in map(str, range(100))
        if {arm_of({"name": "try", "salt": salt, "share": 1, "arms": {"A": 0, "B": 0}}, caller) for caller in ("alice", "bob")} == {"A", "B"}
    ))
    settings = settings_of(world, tmp_path, content, FORAGE_TOKENS=f"alice:{ALICE},bob:{BOB}")
    with Server(**settings) as server:
        for name, token in (("alice", ALICE), ("bob", BOB)):
            wanted = {"A": 3, "B": 5}[arm_of(content, name)]
            assert {count_of(call(server, session, token=token)) for session in SESSIONS[:3]} == {wanted}
            headers = {"Authorization": f"Bearer {token}"}
            answer = exchange(server.port, request("POST", "/api/v1/tools/web_search", headers, {"query": "things"}))
            assert count_of(answer.json()) == wanted
            for path in ("/api/v1/experiments", "/api/v1/experiments/try"):
                refused = exchange(server.port, request("GET", path, headers))
                assert refused.status == 403 and refused.json()["error"]["code"] == "FORBIDDEN"
    assert len({row["unit"] for row in trials(tmp_path / "data")}) == 2


def today():
    return time.strftime("%Y-%m-%d", time.gmtime())


def test_where_clients_name_no_session(world, tmp_path):
    """Over HTTP it is the address and the day; over stdio the connection; the commands of a day are one."""
    content = experiment(arms={"A": {}, "B": {"arguments": {"num_results": 5}}})
    settings = settings_of(world, tmp_path, content)
    wanted = {arm: {"A": 3, "B": 5}[arm] for arm in "AB"}
    before = today()
    with Server(**settings) as server:
        data = request("POST", "/api/v1/tools/web_search", None, {"query": "things"})
        over_rest = {count_of(exchange(server.port, data).json()) for _ in range(3)}
        message = modern("tools/call", {"name": "web_search", "arguments": {"query": "things"}})
        answer = exchange(server.port, request("POST", "/mcp", modern_headers(message), message)).json()
        over_rest.add(count_of(answer["result"]["structuredContent"]))
    by_command = {count_of(json.loads(run("call", "web_search", "query=things", **settings).stdout)) for _ in range(2)}
    if today() == before:  # else it is another session, since midnight
        assert over_rest == {wanted[arm_of_session(content, f"127.0.0.1 {before}")]}
        assert by_command == {wanted[arm_of_session(content, before)]}
    seen = set()
    for _ in range(12):
        with Stdio(**settings) as client:
            client.handshake()
            counts = {
                count_of(client.ask("tools/call", {"name": "web_search", "arguments": {"query": "things"}})["result"]["structuredContent"])
                for _ in range(3)
            }
            assert len(counts) == 1, "one connection, one arm"
            seen |= counts
    assert seen == {3, 5}


def test_one_experiment_at_a_time(world, tmp_path):
    """The first, by name, whose share holds the unit; the others get the rest."""
    one = experiment("a-first", share=0.5, arms={"A": {"arguments": {"num_results": 1}}, "B": {"arguments": {"num_results": 2}}})
    two = experiment("b-second", arms={"A": {"arguments": {"num_results": 4}}, "B": {"arguments": {"num_results": 5}}})
    with Server(**settings_of(world, tmp_path, two, one)) as server:
        for session in SESSIONS:
            first, second = arm_of_session(one, session), arm_of_session(two, session)
            assert count_of(call(server, session)) == ({"A": 1, "B": 2}[first] if first else {"A": 4, "B": 5}[second])
    assert {row["experiment"] for row in trials(tmp_path / "data")} == {"a-first", "b-second"}


def test_after_its_last_day_nothing_is_tried(world, tmp_path):
    content = experiment(until="2026-01-31", arms={"A": {"arguments": {"num_results": 4}}, "B": {"arguments": {"num_results": 5}}})
    settings = settings_of(world, tmp_path, content)
    with Server(**settings) as server:
        assert {count_of(call(server, session)) for session in SESSIONS[:6]} == {3}
    result = results(tmp_path / "experiments", tmp_path / "data")["try"]
    assert result["status"] == "over" and result["verdict"] == "undecided"
    assert result["why"] == "its time was over before the sample was full: 0 of 10 sessions in A, 0 of 10 in B"


# ---- arms really differ ----


def test_arguments_of_an_arm_reach_the_model(world, tmp_path):
    """The model is told the country of each arm, and no answer of one is given to the other."""
    content = experiment(
        tool="search_web",
        metric="cost",
        arms={"here": {"arguments": {"region": "FR"}}, "there": {"arguments": {"region": "DE"}}},
    )
    countries = {"here": "France", "there": "Germany"}
    with Responses() as fake:
        settings = settings_of(
            world, tmp_path, content, OPENAI_BASE_URL=fake.base_url, OPENAI_API_KEY=KEY, FORAGE_LIMITS="search_web=0/10m",
        )
        with Server(**settings) as server:
            for session in SESSIONS[:12]:
                asked = len(fake.requests)
                result = call(server, session, "search_web", query=f"Does it rain in {session}?")
                assert result["success"], result
                told = [country for country in countries.values() if country.encode() in fake.requests[asked].body]
                assert told == [countries[arm_of_session(content, session)]]
            # The same question in all sessions: one request for each arm, and the rest is kept.
            asked = len(fake.requests)
            for session in SESSIONS[:12]:
                assert call(server, session, "search_web", query="Does it snow?")["success"]
            assert len(fake.requests) == asked + 2
    rows = trials(tmp_path / "data")
    assert len(rows) == 14, "an answer that was kept is no trial"
    assert all(row["nano_usd"] > 0 and row["nothing_found"] == 0 for row in rows)


def test_answers_that_are_kept_stay_with_their_arm(world, tmp_path):
    """Of the same call too, though B asks for what is the default."""
    content = experiment(arms={"A": {}, "B": {"arguments": {"num_results": 3}}})
    settings = settings_of(world, tmp_path, content, FORAGE_SEARCH_CACHE_TTL="10m")
    with Server(**settings) as server:
        kept = [call(server, session).get("cached", False) for session in SESSIONS]
    arms = [arm_of_session(content, session) for session in SESSIONS]
    assert kept == [arm in arms[:at] for at, arm in enumerate(arms)]
    assert [row["arm"] for row in trials(tmp_path / "data")] == list(dict.fromkeys(arms))


# ---- what is recorded ----


def test_failures_and_nothing_found(world, tmp_path):
    settings = settings_of(world, tmp_path, experiment())
    with Server(**settings) as server:
        world["serper"].mishap = 400
        assert not call(server, "x")["success"]
        world["serper"].mishap = None
        world["serper"].hits = []
        assert call(server, "y")["results"] == []
        call(server, "z", num_results=500)  # refused: no trial
    failed, empty = trials(tmp_path / "data")
    assert (failed["failed"], failed["nothing_found"], failed["pages"]) == (1, -1, -1)
    assert (empty["failed"], empty["nothing_found"], empty["pages"]) == (0, 1, 0)


def test_searches_that_word_the_last_one_anew(world, tmp_path):
    settings = settings_of(world, tmp_path, experiment())
    asked = [
        ("s", {"query": "sqlite write ahead log checkpoint"}, 0),
        ("s", {"query": "SQLite checkpoints of the write-ahead log never end"}, 1),
        ("s", {"query": "SQLite checkpoints of the write-ahead log never end", "page": 2}, 0),
        ("other", {"query": "sqlite checkpoint starvation"}, 0),
        ("s", {"query": "sourdough bread"}, 0),
        ("s", {"query": None, "queries": ["sourdough starter", "bread oven"]}, 1),
    ]
    with Server(**settings) as server:
        for session, arguments, _ in asked:
            arguments = {name: value for name, value in arguments.items() if value is not None}
            headers = {"MCP-Protocol-Version": "2025-11-25", "Mcp-Session-Id": session}
            answer = exchange(server.port, request("POST", "/mcp", headers, tool_call("web_search", arguments)))
            assert answer.json()["result"]["structuredContent"]["success"]
    assert [row["reformulates"] for row in trials(tmp_path / "data")] == [expected for _, _, expected in asked]
    raw = (tmp_path / "data" / "records.sqlite").read_bytes()
    assert b"sourdough" not in raw and b"sqlite" not in raw.lower().replace(b"sqlite format", b"").replace(b"sqlite_", b"")


def test_the_log_names_experiment_and_arm(world, tmp_path):
    content = experiment("seen-in-logs")
    with Server(**settings_of(world, tmp_path, content)) as server:
        call(server, "s")
        arm = arm_of_session(content, "s")
        server.wait_log(rf"tool=web_search caller=local status=ok .* experiment=seen-in-logs/{arm}$")


def test_a_changed_file_counts_anew(world, tmp_path):
    """Nobody chooses the metric, or the sample, after having looked."""
    settings = settings_of(world, tmp_path, experiment())
    with Server(**settings) as server:
        for session in SESSIONS[:4]:
            call(server, session)
    folder, data = tmp_path / "experiments", tmp_path / "data"
    assert sum(arm["units"] for arm in results(folder, data)["try"]["arms"]) == 4
    for change in ({"metric": "pages"}, {"sample": 11}, {"arms": {"A": {}, "B": {"arguments": {"num_results": 6}}}}, {"better": "higher"}):
        write(folder, experiment(**change))
        result = results(folder, data)["try"]
        assert sum(arm["units"] for arm in result["arms"]) == 0 and result["passed_over"] == 4, change
    write(folder, experiment(about="Other words, and a last day, are no other experiment.", until="2031-01-01"))
    assert sum(arm["units"] for arm in results(folder, data)["try"]["arms"]) == 4


def test_wiping_a_history_leaves_trials(world, tmp_path):
    settings = settings_of(world, tmp_path, experiment(), FORAGE_HISTORY="on")
    with Server(**settings) as server:
        call(server, "s")
    assert run("history", "wipe", "--yes", **settings).returncode == 0
    assert len(trials(tmp_path / "data")) == 1


def test_trials_in_postgresql(world, tmp_path, postgres):  # noqa: F811
    """Two servers, one experiment: a session is one unit at both of them."""
    url = postgres.database()
    content = experiment()
    settings = settings_of(world, tmp_path, content, FORAGE_DATABASE_URL=url)
    with Server(**settings) as one, Server(**{**settings, "FORAGE_DATA_DIR": tmp_path / "other"}) as two:
        for session in SESSIONS[:6]:
            assert count_of(call(one, session)) == count_of(call(two, session))
        wait_until(lambda: postgres.query(url, "SELECT count(*) FROM forage_trials") == [["12"]])
        result = exchange(two.port, request("GET", "/api/v1/experiments/try")).json()
    assert sum(arm["units"] for arm in result["arms"]) == 6 and sum(arm["calls"] for arm in result["arms"]) == 12
    rows = postgres.query(url, "SELECT DISTINCT unit, arm FROM forage_trials")
    assert sorted(arm for _, arm in rows) == sorted(arm_of_session(content, session) for session in SESSIONS[:6])


# ---- jobs ----


@pytest.fixture(scope="module")
def scene():
    with Scene() as scene:
        yield scene


def test_a_job_keeps_its_arm_when_its_server_is_killed(scene, tmp_path):
    """What it asks for before and after is that of its arm, and it is one trial."""
    depths = {"A": "concise", "B": "detailed"}
    content = experiment(
        "how-deep", tool="deep_search", metric="verified",
        arms={arm: {"arguments": {"depth": depth}} for arm, depth in depths.items()},
    )  # fmt: skip
    folder = write(tmp_path / "experiments", content)
    settings = scene.settings(FORAGE_EXPERIMENTS=folder, FORAGE_DATA_DIR=tmp_path / "data")
    headers = {"MCP-Protocol-Version": "2025-11-25"}
    for session in (next(s for s in SESSIONS if arm_of_session(content, s) == arm) for arm in depths):
        player = Hangs(scene.world.questions, 3)
        scene.play(player)
        message = tool_call("deep_search", {"topic": scene.question(), "background": True})
        with Server(**{**settings, **as_server(1)}) as server:
            answer = exchange(server.port, request("POST", "/mcp", {**headers, "Mcp-Session-Id": session}, message)).json()
            job = answer["result"]["structuredContent"]["job"]
            assert player.reached.wait(PATIENCE)
            server.process.kill()
            server.process.wait()
            server.end = lambda: None
        player.released.set()
        with Server(**{**settings, **as_server(2)}) as server:
            done = finished(server.port, job)
            assert done["status"] == "done" and done["runs"] == 2, done
            server.wait_log(rf"job=.* status=done .* experiment=how-deep/{arm_of_session(content, session)}$")
        depth = depths[arm_of_session(content, session)]
        asked = [asked.body for asked in scene.models.requests]
        told = {name for name in depths.values() if any(f"Depth: {name}.".encode() in body for body in asked)}
        assert told == {depth} == {done["result"]["metadata"]["depth"]} and len(scene.owners()) == 2
        row = trials(tmp_path / "data")[-1]
        assert row["arm"] == arm_of_session(content, session) and row["tool"] == "deep_search" and row["failed"] == 0
        cited = done["result"]["citations"]
        assert (row["claims"], row["verified"]) == (cited["claims"], cited["exact"] + cited["near"]) and row["claims"] > 0
        assert row["pages"] == len(done["result"]["metadata"]["sources_visited"]) and row["took_us"] > 0
    assert len(trials(tmp_path / "data")) == 2


# ---- results ----


def test_results_over_rest_and_on_the_terminal(world, tmp_path):
    """B reads five pages of each search, and A three: that is beyond doubt once ten sessions of each are there."""
    content = experiment("more-results", metric="pages", about="Do more results help?")
    settings = settings_of(world, tmp_path, content)
    with Server(**settings) as server:
        done = {"A": 0, "B": 0}
        for number in range(200):
            session = f"s{number}"
            arm = arm_of_session(content, session)
            if done[arm] < 10:
                call(server, session)
                done[arm] += 1
        listed = wait_until(lambda: (all := get(server.port, "/api/v1/experiments").json()["experiments"])[0]["status"] == "full" and all)
        assert get(server.port, "/api/v1/experiments/more-results").json() == listed[0]
        missing = get(server.port, "/api/v1/experiments/less-results")
        assert missing.status == 404 and missing.json()["error"]["code"] == "NOT_FOUND"
    (result,) = listed
    assert result["verdict"] == "B" and result["better"] == "higher" and result["tool"] == ["web_search"]
    assert result["why"] == "no interval of a difference holds 0"
    assert result["difference"] == {
        "metric": "pages", "as": "difference", "level": 0.95,
        "pairs": [{"arm": "B", "against": "A", "estimate": 2.0, "low": 2.0, "high": 2.0}],
    }  # fmt: skip
    a, b = result["arms"]
    assert (a["units"], a["calls"], b["units"], b["calls"]) == (10, 10, 10, 10) and b["arguments"] == {"num_results": 5}
    latency = a["metrics"]["latency"]
    assert latency["n"] == 10 and 0 < latency["low"] < latency["estimate"] < latency["high"]
    assert a["metrics"]["verified"] == {"n": 0, "estimate": None, "low": None, "high": None}
    assert results(tmp_path / "experiments", tmp_path / "data")["more-results"] == result
    shown = run("experiment", "show", "more-results", **settings).stdout
    assert "verdict: B (no interval of a difference holds 0)" in shown and "B against A: +2, from +2 to +2 (95 %)" in shown
    assert re.search(r"^pages +A +10 +3 +3 +3 ", shown, re.M) and re.search(r"^latency +A +10 .* ms ", shown, re.M)
    assert re.search(r"^more-results +pages +full +B +no interval", run("experiment", "list", **settings).stdout, re.M)
    unknown = run("experiment", "show", "more-result", **settings)
    assert unknown.returncode == 2 and "more-results is meant?" in unknown.stderr


# ---- files that are wrong ----

WRONG = [
    ({"name": "two words"}, 'name must be a string that matches ^[A-Za-z0-9-]{1,64}$, but "two words" came'),
    ({"tool": "web_serch"}, 'tool: there is no tool "web_serch" here; web_search is meant?'),
    ({"tool": ["web_search", "web_search"]}, "tool names web_search twice"),
    ({"unit": "day"}, 'unit must be one of "session", "caller", but "day" came'),
    ({"share": 0}, "share must be above 0"),
    ({"share": None}, "share is required (a number from 0 to 1)"),
    ({"metric": "speed"}, 'metric must be one of "latency", "cost", "errors", "verified", "nothing_found", "reformulation", "pages"'),
    ({"better": "more"}, 'better must be one of "lower", "higher", but "more" came'),
    ({"sample": 9}, "sample must be an integer from 10 to 10000, but 9 came"),
    ({"until": "2026-02-30"}, 'until must be a day, such as "2026-12-31"'),
    ({"salt": ""}, "salt must be a string of at least 1 character"),
    ({"sampel": 10}, 'unknown parameter "sampel"; did you mean "sample"?'),
    ({"arms": {"A": {}}}, "arms must be 2 to 8, as "),
    ({"arms": {"A": {}, "undecided": {}}}, 'arms: an experiment without a winner says "undecided"'),
    ({"arms": {"A": {}, "B": {"argument": {}}}}, "arms.B must hold arguments, or nothing"),
    ({"arms": {"A": {}, "B": {"arguments": {"num_result": 5}}}}, 'arms.B.arguments: web_search does not take them: unknown parameter "num_result"; did you mean "num_results"?'),
    ({"arms": {"A": {}, "B": {"arguments": {"num_results": 50}}}}, "arms.B.arguments: web_search does not take them: num_results must be an integer from 1 to 20, but 50 came"),
    ({"arms": {"A": {}, "B": {"arguments": {}, "settings": {"FORAGE_SEARCH_MERGE": 2}}}}, "arms.B.settings: an arm tries arguments of a call, and no settings; arguments of web_search: query, queries, num_results, "),
    ({"tool": ["search", "search_web"], "arms": {"A": {"settings": {}}, "B": {}}}, "arms.A.settings: an arm tries arguments of a call, and no settings; arguments of search: query, background, follow_up_of; arguments of search_web: query, maxResults, "),
]  # fmt: skip


@pytest.mark.parametrize("change, words", WRONG, ids=[words[:40] for _, words in WRONG])
def test_a_wrong_file_is_told_at_the_start(tmp_path, change, words):
    """The file, the member, what came and what is allowed; the same words from the command that checks."""
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps(experiment(**change)))
    checked = run("experiment", "check", path)
    assert checked.returncode == 2 and f"forage: {path}: {words}" in checked.stderr, checked.stderr
    started = run("mcp", FORAGE_EXPERIMENTS=tmp_path, FORAGE_DATA_DIR=tmp_path)
    assert started.returncode == 2 and f"forage: FORAGE_EXPERIMENTS: {path}: {words}" in started.stderr, started.stderr


def test_files_that_are_none(tmp_path):
    (tmp_path / "broken.json").write_text('{\n  "name": "x",\n  "tool" "web_search"\n}')
    checked = run("experiment", "check", tmp_path / "broken.json")
    assert checked.returncode == 2 and f"{tmp_path}/broken.json: line 3: it is no JSON: " in checked.stderr
    missing = run("experiment", "list", FORAGE_EXPERIMENTS=tmp_path / "none.json")
    assert missing.returncode == 2 and "none.json: No such file or directory" in missing.stderr
    folder = write(tmp_path / "twice", experiment())
    (folder / "z.json").write_text((folder / "try.json").read_text())
    (folder / "README.md").write_text("Not an experiment.")
    twice = run("experiment", "list", FORAGE_EXPERIMENTS=folder)
    assert twice.returncode == 2 and f'{folder}/z.json: name: another file has an experiment "try" too' in twice.stderr


def test_a_right_file_says_what_it_tries(tmp_path):
    folder = write(tmp_path / "files", experiment(share=0.25))
    checked = run("experiment", "check", folder / "try.json", FORAGE_EXPERIMENTS=tmp_path / "nowhere")
    assert checked.returncode == 0, checked.stderr
    assert checked.stdout == (
        f"{folder}/try.json is right: try tries A, B with web_search, on 25 % of all sessions, 10 for each arm; "
        "latency decides, lower is better\n"
    )
    described = json.loads(run("experiment", "check", folder / "try.json", "--json").stdout)
    assert described["arms"] == [{"arm": "A"}, {"arm": "B", "arguments": {"num_results": 5}}]


# ---- replay ----

QUERIES = [f"thing {number}" for number in range(12)]


def replay_files(tmp_path, content, queries=QUERIES):
    path = write(tmp_path / "files", content) / f"{content['name']}.json"
    (tmp_path / "queries.txt").write_text("\n\n".join(queries) + "\r\n")
    return path, tmp_path / "queries.txt"


def replay_command(*arguments):
    return [sys.executable, "-B", str(ROOT / "bench" / "replay"), *map(str, arguments)]


def replay(*arguments, **settings):
    """Runs bench/replay with the program under test."""
    variables = environment(settings) | {"FORAGE": FORAGE}
    return subprocess.run(replay_command(*arguments), stdin=subprocess.DEVNULL, capture_output=True, text=True, env=variables, check=False)


def test_replay_compares_query_by_query(world, tmp_path):
    """Every arm for every query, in an order that is the same each time; no trial of an experiment that runs comes of it."""
    content = experiment("more-results", metric="pages")
    settings = settings_of(world, tmp_path, experiment("live"))
    files = replay_files(tmp_path, content)
    orders = []
    for _ in range(2):
        before = len(world["serper"].requests)
        done = replay(*files, "--json", **settings)
        assert done.returncode == 0, done.stderr
        orders.append([json.loads(asked.body)["q"] for asked in world["serper"].requests[before:]])
    assert orders[0] == orders[1] and sorted(orders[0]) == sorted(QUERIES * 2)
    assert orders[0][::2] == orders[0][1::2] != QUERIES, "both arms of a query, and queries in another order"
    result = json.loads(done.stdout)
    assert (result["queries"], result["done"], result["refused"], result["verdict"]) == (12, 12, 0, "B")
    assert [(arm["calls"], arm["metrics"]["pages"]["estimate"]) for arm in result["arms"]] == [(12, 3.0), (12, 5.0)]
    assert result["pairs"] == [{"arm": "B", "against": "A", "n": 12, "estimate": 2.0, "low": 2.0, "high": 2.0}]
    assert trials(tmp_path / "data") == []


def test_replay_is_paired(world, tmp_path):
    """Queries find more or less, for both arms alike: each is its own control."""
    content = experiment("more-results", metric="pages", arms={"A": {"arguments": {"num_results": 3}}, "B": {"arguments": {"num_results": 6}}, "C": {}})
    settings = settings_of(world, tmp_path)
    found = [1, 8, 5, 3, 4, 7, 2, 8, 6, 4, 5, 3, 1, 6]
    queries = [f"thing {number}" for number in range(len(found))]
    hits = world.pages(8)
    world["serper"].found = {query: hits[:count] for query, count in zip(queries, found)}
    result = json.loads(replay(*replay_files(tmp_path, content, queries), "--json", **settings).stdout)
    three, six = ([min(count, most) for count in found] for most in (3, 6))
    level = 1 - 0.05 / 2
    expected = stats.ttest_rel(six, three).confidence_interval(level)
    pairs = result["pairs"]
    assert [(pair["arm"], pair["against"]) for pair in pairs] == [("B", "A"), ("B", "C")] and result["verdict"] == "B"
    for pair in pairs:
        assert pair["estimate"] == pytest.approx(sum(six) / len(six) - sum(three) / len(three), rel=1e-8)
        assert (pair["low"], pair["high"]) == pytest.approx((expected.low, expected.high), rel=1e-8)
    assert result["level"] == level


def test_replay_decides_nothing_by_little(world, tmp_path):
    """Few queries, or calls that limits refused, which are no fault of an arm."""
    content = experiment("more-results", metric="pages")
    settings = settings_of(world, tmp_path)
    few = replay(*replay_files(tmp_path, content, QUERIES[:3]), "--json", **settings)
    assert json.loads(few.stdout)["why"] == "fewer than 10 queries decide nothing"
    limited = replay(*replay_files(tmp_path, content), "--json", FORAGE_LIMITS="web_search=5/1h", **settings)
    result = json.loads(limited.stdout)
    assert result["refused"] == 24 - 5 and result["verdict"] == "undecided" and "19 calls were refused" in limited.stderr
    assert result["done"] == 2 and result["why"] == "2 of 12 queries were run with every arm"


def test_replay_ends_with_what_there_is(world, tmp_path):
    """Ctrl-C, while a provider does not answer."""
    content = experiment("more-results", metric="pages")
    settings = settings_of(world, tmp_path)
    files = replay_files(tmp_path, content)
    serper = world["serper"]
    serper.mishaps = [None] * 6 + ["hangs"]
    command = subprocess.Popen(
        replay_command(*files, "--json"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=environment(settings) | {"FORAGE": FORAGE},
    )  # fmt: skip
    wait_until(lambda: serper.searches >= 7)
    command.send_signal(signal.SIGINT)
    out, errors = command.communicate(timeout=PATIENCE)
    assert command.returncode == 130, errors
    result = json.loads(out)
    assert result["done"] == 3 and result["why"] == "3 of 12 queries were run with every arm"
    assert [arm["calls"] for arm in result["arms"]] == [3, 3] and result["verdict"] == "undecided"


# ---- off ----


def test_off_costs_nothing(world, tmp_path):
    """No file, no line in the log, no row, and nothing to see. That the part is not even made, tests/unit/test_app.c says."""
    world.find(3)
    settings = world.settings("serper", FORAGE_DATA_DIR=tmp_path / "data")
    with Server(**settings) as server:
        answer = get(server.port, "/api/v1/experiments")
        assert answer.status == 200 and answer.json() == {"experiments": []}
        assert get(server.port, "/api/v1/experiments/x").status == 404
        assert not (tmp_path / "data").exists(), "no database is opened to say so"
        call(server, "s")
        assert "experiment" not in server.log.text()
    assert trials(tmp_path / "data") == []
    none = run("experiment", "list", **settings)
    assert none.returncode == 0 and none.stdout == "" and "no experiment runs here" in none.stderr
