"""Research calls are jobs: they outlive their clients and their servers, belong to their callers, and are paid for once."""

import contextlib
import json
import pathlib
import signal
import sqlite3
import threading
import time

import players
import pytest
from conftest import report
from corpus_judge import lasting
from fakes import worker as play
from fakes.models import Fault
from fakes.worker import Worker
from http_client import Closed, Connection, request
from jobs import OVER, Hangs, Scene, as_server, begin, call, finished, get, job
from messages import cancelled, tool_call
from postgres import postgres  # noqa: F401 (a fixture)
from programs import FORAGE, PATIENCE, Server, Stdio, files_with, run, wait_until
from research import Place
from storage import Clock

TOKENS = {name: f"{name}-token-{number}-abcdefghijklm" for number, name in enumerate(("ada", "bea", "cyd", "dan", "eve"))}


@pytest.fixture(scope="module")
def scene():
    with Scene() as scene:
        yield scene


@pytest.fixture
def fresh(scene):
    scene.play(players.Forgetful(scene.world.questions))
    return scene


def undisturbed(scene, folder, **more):
    """What the research comes to when nobody disturbs it, and what it is charged."""
    with Server(**scene.settings(FORAGE_DATA_DIR=folder, **more)) as server:
        answer = call(server.port, "deep_search", {"topic": scene.question()})
        assert answer.status == 200, answer
        usage = get(server.port, "/api/v1/usage").json()
    return answer.json(), charged(usage)


def charged(usage):
    (row,) = [row for row in usage["rows"] if row["tool"] == "deep_search"]
    return {name: row[name] for name in ("calls", "failures", "input_tokens", "output_tokens")}


IN_FLIGHT = 20000  # tokens that a request is estimated at, at most


def check_charged(usage, cost):
    """Paid for once; what was in flight when its server ended stands in the books as it was estimated."""
    used = charged(usage)
    assert (used["calls"], used["failures"]) == (cost["calls"], cost["failures"])
    for name in ("input_tokens", "output_tokens"):
        assert 0 <= used[name] - cost[name] <= IN_FLIGHT, (used, cost)
    return used


# ---- a research is a job ----


def test_in_the_background(fresh, tmp_path):
    expected, _ = undisturbed(fresh, tmp_path / "alone")
    fresh.play(players.Forgetful(fresh.world.questions))
    with Server(**fresh.settings(FORAGE_DATA_DIR=tmp_path / "data")) as server:
        id = begin(server.port, fresh.question())
        done = finished(server.port, id)
        assert done["status"] == "done" and lasting(done["result"]) == lasting(expected)
        assert done["result"]["id"] == id and done["tool"] == "deep_search" and done["question"] == fresh.question()
        assert done["runs"] == 1 and done["background"] is True and done["usage"]["input_tokens"] > 0
        assert done["progress"]["rounds"] == 1 and done["progress"]["notes"] and done["progress"]["pages"]
        assert call(server.port, "research_result", {"job": id}).json() == done["result"]
        listed = get(server.port, "/api/v1/jobs").json()["jobs"]
        assert [one["job"] for one in listed] == [id] and "result" not in listed[0]


# ---- they survive ----

# After so many requests of the research, and so many seconds: a request is in flight then, or just answered.
MOMENTS = [(number, pause) for number in (1, 2, 3, 4, 6, 9, 12, 15, 16, 17) for pause in (0, 0.004, 0.02)]


def killed_at(scene, server, number, pause):
    """Kills a server at a moment of its research; an event that says that it happened."""
    happened = threading.Event()

    def kill():
        def later():
            time.sleep(pause)
            server.process.kill()
            happened.set()

        threading.Thread(target=later).start()

    scene.at(number, kill)
    return happened


def disturbed(scene, begun, others, moment):
    """A research whose server is killed at that moment: what it comes to, on whichever server is left."""
    with begun as server:
        happened = killed_at(scene, server, *moment)
        with contextlib.suppress(Closed, OSError):  # it may be gone before it has answered
            id = begin(server.port, scene.question())
            wait_until(lambda: happened.is_set() or job(server.port, id)["status"] in OVER)
        server.process.kill()
        server.process.wait()
        server.end = lambda: None
    with others as server:
        (one,) = get(server.port, "/api/v1/jobs").json()["jobs"]
        return finished(server.port, one["job"]), get(server.port, "/api/v1/usage").json()


@pytest.mark.parametrize("moment", MOMENTS, ids=lambda moment: f"{moment[0]}+{moment[1]}")
def test_a_server_that_is_killed(scene, expected, tmp_path, moment):
    """On a file: the next server goes on."""
    scene.play(players.Forgetful(scene.world.questions))
    settings = scene.settings(FORAGE_DATA_DIR=tmp_path)
    servers = Server(**{**settings, **as_server(1)}), Lazy({**settings, **as_server(2)})
    check_survival(scene, expected, disturbed(scene, *servers, moment))


class Lazy:
    """A server that starts when it is needed."""

    def __init__(self, settings):
        self.settings = settings

    def __enter__(self):
        self.server = Server(**self.settings)
        return self.server

    def __exit__(self, *details):
        return self.server.__exit__(*details)


@pytest.mark.parametrize("moment", MOMENTS, ids=lambda moment: f"{moment[0]}+{moment[1]}")
def test_a_server_beside_another_that_is_killed(scene, expected, postgres, tmp_path, moment):
    """On one PostgreSQL: the other server, which runs all the while, goes on."""
    scene.play(players.Forgetful(scene.world.questions))
    settings = scene.settings(
        FORAGE_DATA_DIR=tmp_path, FORAGE_DATABASE_URL=postgres.database(), FORAGE_JOBS_LEASE="3s"
    )
    with Server(**{**settings, **as_server(2)}) as other:
        servers = Server(**{**settings, **as_server(1)}), Given(other)
        check_survival(scene, expected, disturbed(scene, *servers, moment))


class Given:
    def __init__(self, server):
        self.server = server

    def __enter__(self):
        return self.server

    def __exit__(self, *_):
        return False


# Who may have asked the model: nobody whose job another has taken over.
ALONE = [[f"key-of-server-{name}" for name in names] for names in ((1,), (2,), (1, 2))]


def check_survival(scene, expected, came):
    done, usage = came
    result, cost = expected
    assert done["status"] == "done", done
    assert lasting(done["result"]) == lasting(result)
    used = check_charged(usage, cost)
    assert {name: used[name] for name in done["usage"] if name in used} == {name: done["usage"][name] for name in done["usage"] if name in used}
    assert scene.owners() in ALONE, "two owners at once"
    # What was asked again was in flight: one request to the model, one search of two queries, or some pages.
    assert scene.asked_models() <= scene.undisturbed_models + 1
    assert len(scene.world.search.requests) <= scene.undisturbed_searches + 2


@pytest.fixture(scope="module")
def expected(scene, tmp_path_factory):
    scene.play(players.Forgetful(scene.world.questions))
    came = undisturbed(scene, tmp_path_factory.mktemp("alone"))
    scene.undisturbed_models = scene.asked_models()
    scene.undisturbed_searches = len(scene.world.search.requests)
    return came


def test_a_server_that_hangs_loses_its_job(fresh, postgres, tmp_path):
    """Its lease lapses, another server goes on, and when it wakes up it asks nobody any more."""
    player = Hangs(fresh.world.questions, 2)
    fresh.play(player)
    settings = fresh.settings(FORAGE_DATA_DIR=tmp_path, FORAGE_DATABASE_URL=postgres.database(), FORAGE_JOBS_LEASE="4s")
    with Server(**{**settings, **as_server(1)}) as one, Server(**{**settings, **as_server(2)}) as two:
        id = begin(one.port, fresh.question())
        assert player.reached.wait(PATIENCE)
        one.signal(signal.SIGSTOP)
        player.released.set()
        done = finished(two.port, id)
        asked = fresh.asked_models()
        one.signal(signal.SIGCONT)
        one.wait_log("status=(lost|put down)")
        assert done["status"] == "done" and done["runs"] == 2
        assert job(one.port, id)["result"] == done["result"] and fresh.asked_models() == asked
        assert charged(get(two.port, "/api/v1/usage").json())["calls"] == 1
        assert fresh.owners() == ALONE[2]


class Overloaded(players.Forgetful):
    """Refuses its second request for the moment."""

    def __init__(self, questions):
        super().__init__(questions)
        self.asked = 0
        self.refused = threading.Event()

    def play(self, turn):
        self.asked += 1
        if self.asked != 2:
            return super().play(turn)
        self.refused.set()
        return Fault(503, {"error": {"message": "overloaded"}}, {"retry-after-ms": "700"})


def test_a_server_that_hangs_before_it_asks_again(fresh, postgres, tmp_path):
    """Nothing was written since: only its lease can tell that the job is no longer its own."""
    player = Overloaded(fresh.world.questions)
    fresh.play(player)
    settings = fresh.settings(FORAGE_DATA_DIR=tmp_path, FORAGE_DATABASE_URL=postgres.database(), FORAGE_JOBS_LEASE="4s")
    with Server(**{**settings, **as_server(1)}) as one, Server(**{**settings, **as_server(2)}) as two:
        id = begin(one.port, fresh.question())
        assert player.refused.wait(PATIENCE)
        time.sleep(0.2)  # it has heard so
        one.signal(signal.SIGSTOP)
        done = finished(two.port, id)
        asked = fresh.asked_models()
        one.signal(signal.SIGCONT)
        one.wait_log("status=(lost|put down)")
        assert done["status"] == "done" and done["runs"] == 2 and fresh.asked_models() == asked
        assert fresh.owners() == ALONE[2]


def test_a_server_that_ends_puts_its_jobs_down(fresh, expected, tmp_path):
    """Whoever waits is told which job to ask the next server for."""
    player = Hangs(fresh.world.questions, 2)
    fresh.play(player)
    settings = fresh.settings(FORAGE_DATA_DIR=tmp_path)
    with Server(**settings) as server, Connection(server.port) as connection:
        connection.send(request("POST", "/api/v1/tools/deep_search", None, {"topic": fresh.question()}))
        assert player.reached.wait(PATIENCE)
        server.signal(signal.SIGTERM)
        told = connection.response()
        assert told.status == 202 and told.json()["status"] == "waiting", told
        server.wait()
    player.released.set()
    with Server(**settings) as server:
        done = finished(server.port, told.json()["job"])
        assert done["status"] == "done" and lasting(done["result"]) == lasting(expected[0])
        check_charged(get(server.port, "/api/v1/usage").json(), expected[1])


def change_store(folder, statement):
    with contextlib.closing(sqlite3.connect(folder / "records.sqlite")) as store:
        store.execute(statement)
        store.commit()


def test_a_job_that_ends_server_after_server_is_given_up(fresh, tmp_path):
    player = Hangs(fresh.world.questions, 2)
    fresh.play(player)
    settings = fresh.settings(FORAGE_DATA_DIR=tmp_path)
    with Server(**settings) as server:
        id = begin(server.port, fresh.question())
        assert player.reached.wait(PATIENCE)
        server.process.kill()
        server.process.wait()
        server.end = lambda: None
    change_store(tmp_path, "UPDATE jobs SET runs = 20")
    asked = fresh.asked_models()
    with Server(**settings) as server:
        failed = finished(server.port, id)
        assert failed["status"] == "failed" and failed["result"]["error"]["code"] == "EXECUTION_ERROR"
        assert "ended 20 times" in failed["result"]["error"]["message"] and fresh.asked_models() == asked


def test_asking_again_goes_on_with_what_was_paid_for(fresh, expected, tmp_path):
    """A client that waited sees its server die, and asks the same of the next one."""
    player = Hangs(fresh.world.questions, 3)
    fresh.play(player)
    settings = fresh.settings(FORAGE_DATA_DIR=tmp_path)
    with Server(**settings) as server, Connection(server.port) as connection:
        connection.send(request("POST", "/api/v1/tools/deep_search", None, {"topic": fresh.question()}))
        assert player.reached.wait(PATIENCE)
        server.process.kill()
        server.process.wait()
        server.end = lambda: None
    player.released.set()
    with Server(**settings) as server:
        answer = call(server.port, "deep_search", {"topic": fresh.question()})
        assert answer.status == 200 and lasting(answer.json()) == lasting(expected[0])
        assert len(get(server.port, "/api/v1/jobs").json()["jobs"]) == 1
        check_charged(get(server.port, "/api/v1/usage").json(), expected[1])
    assert fresh.asked_models() == fresh.undisturbed_models + 1


# ---- clients that wait, and clients that leave ----


def handle(result):
    assert set(result) <= {"success", "job", "status", "rounds", "doing"} and result["success"] is True, result
    return result["job"]


def test_a_client_that_may_not_wait_gets_the_job(fresh, tmp_path):
    player = Hangs(fresh.world.questions, 2)
    fresh.play(player)
    settings = fresh.settings(FORAGE_DATA_DIR=tmp_path, FORAGE_CALL_PATIENCE="300ms")
    with Stdio(**settings) as client:
        client.handshake("2025-06-18")
        arguments = {"topic": fresh.question()}
        result = client.ask("tools/call", {"name": "deep_search", "arguments": arguments})["result"]
        id = handle(result["structuredContent"])
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        assert player.reached.wait(PATIENCE)  # the first round is over
        asked = client.ask("tools/call", {"name": "research_result", "arguments": {"job": id, "wait": 0}})["result"]
        assert handle(asked["structuredContent"]) == id and asked["structuredContent"]["rounds"] == 1
        player.released.set()
        arguments = {"job": id, "wait": int(4 * PATIENCE)}
        client.send(tool_call("research_result", arguments, "last"))
        came = client.answer("last", 5 * PATIENCE)["result"]
        assert came["structuredContent"]["report"] and came["structuredContent"]["id"] == id


def test_clients_that_ask_the_same_at_once_have_a_job_each(fresh, tmp_path):
    """Only one whose client is gone is gone on with."""
    player = Hangs(fresh.world.questions, 1)
    fresh.play(player)
    settings = fresh.settings(FORAGE_DATA_DIR=tmp_path, FORAGE_RESEARCH_CONCURRENCY=8)
    with Server(**settings) as server, contextlib.ExitStack() as stack:
        for _ in range(8):
            connection = stack.enter_context(Connection(server.port))
            connection.send(request("POST", "/api/v1/tools/deep_search", None, {"topic": fresh.question()}))
        wait_until(lambda: player.asked == 8)
        jobs = get(server.port, "/api/v1/jobs").json()["jobs"]
        assert len({one["job"] for one in jobs}) == 8
        player.released.set()


def test_a_client_that_asks_for_progress_waits(fresh, tmp_path):
    player = Hangs(fresh.world.questions, 2)
    fresh.play(player)
    with Stdio(**fresh.settings(FORAGE_DATA_DIR=tmp_path, FORAGE_CALL_PATIENCE="0")) as client:
        client.handshake()
        client.send(tool_call("deep_search", {"topic": fresh.question()}, 7, "token"))
        assert player.reached.wait(PATIENCE)
        time.sleep(0.3)
        player.released.set()
        assert client.answer(7)["result"]["structuredContent"]["report"]
        progress = [message for message in client.messages() if message.get("method") == "notifications/progress"]
        assert any("round 1" in message["params"]["message"] for message in progress)


@pytest.mark.parametrize("context, waits", [("claude-code", True), ("codex", True), ("gemini-cli", True), ("cursor", False)])
def test_a_client_whose_patience_is_known(fresh, tmp_path, context, waits):
    player = Hangs(fresh.world.questions, 2)
    fresh.play(player)
    with Stdio(**fresh.settings(FORAGE_DATA_DIR=tmp_path, FORAGE_CALL_PATIENCE="200ms", FORAGE_CONTEXT=context)) as client:
        client.handshake("2025-06-18")
        client.send(tool_call("deep_search", {"topic": fresh.question()}, 7))
        assert player.reached.wait(PATIENCE)
        time.sleep(0.5)
        player.released.set()
        text = client.answer(7)["result"]["content"][0]["text"]
        assert ("[^1]" in text) == waits and text.startswith("job: ") == (not waits), text
        wait_until(lambda: "status=done" in client.log.text())


@pytest.mark.parametrize("number", [1, 2, 4])
@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize("door", ["http", "stdio"])
def test_a_client_that_leaves(fresh, tmp_path, number, background, door):
    """It cancels what only it waits for, at whatever stage, within 50 ms as the other end sees it."""
    player = Hangs(fresh.world.questions, number)
    fresh.play(player)
    settings = fresh.settings(FORAGE_DATA_DIR=tmp_path)
    arguments = {"topic": fresh.question(), "background": background}
    with Server(**settings) as server:
        if door == "http":
            with Connection(server.port) as connection:
                connection.send(request("POST", "/api/v1/tools/deep_search", None, arguments))
                assert player.reached.wait(PATIENCE)
                at = time.monotonic()
        else:
            with Stdio(**settings) as client:
                client.handshake()
                client.send(tool_call("deep_search", arguments, 7))
                assert player.reached.wait(PATIENCE)
                at = time.monotonic()
                client.send(cancelled(7))
                if not background:
                    wait_until(lambda: player.left_at)  # before standard input ends, which cancels too
        if background:
            player.released.set()
        (one,) = get(server.port, "/api/v1/jobs").json()["jobs"]
        done = finished(server.port, one["job"])
        assert done["status"] == ("done" if background else "cancelled"), done
        if not background:
            assert done["result"]["error"]["code"] == "CANCELLED"
            wait_until(lambda: player.left_at)  # the other end may see it later than the store
            report(f"a client that left over {door}: its model heard of it after {1000 * (player.left_at[0] - at):.1f} ms")


def test_cancelling(fresh, tmp_path):
    player = Hangs(fresh.world.questions, 2)
    fresh.play(player)
    with Server(**fresh.settings(FORAGE_DATA_DIR=tmp_path)) as server:
        id = begin(server.port, fresh.question())
        assert player.reached.wait(PATIENCE)
        ended = get(server.port, f"/api/v1/jobs/{id}", method="DELETE")
        assert ended.json() == {"job": id, "ended": "cancelled"}
        assert finished(server.port, id)["status"] == "cancelled"
        assert get(server.port, f"/api/v1/jobs/{id}", method="DELETE").json() == {"job": id, "ended": "removed"}
        assert get(server.port, f"/api/v1/jobs/{id}").status == 404
        assert call(server.port, "research_result", {"job": id}).json()["error"]["code"] == "NOT_FOUND"


def test_cancelling_what_another_server_works_on(fresh, postgres, tmp_path):
    player = Hangs(fresh.world.questions, 2)
    fresh.play(player)
    settings = fresh.settings(FORAGE_DATA_DIR=tmp_path, FORAGE_DATABASE_URL=postgres.database())
    with Server(**settings) as one, Server(**settings) as two:
        id = begin(one.port, fresh.question())
        assert player.reached.wait(PATIENCE)
        get(two.port, f"/api/v1/jobs/{id}", method="DELETE")
        assert finished(two.port, id)["status"] == "cancelled"
        wait_until(lambda: player.left_at)


def test_the_end_of_standard_input(fresh, tmp_path):
    """What only this client waited for is cancelled; what goes on without it goes on, in a process of its own."""
    player = Hangs(fresh.world.questions, 3)
    fresh.play(player)
    settings = fresh.settings(FORAGE_DATA_DIR=tmp_path, FORAGE_RESEARCH_CONCURRENCY=4)
    with Stdio(**settings) as client:
        client.handshake()
        client.send(tool_call("deep_search", {"topic": fresh.question(), "background": True}, 7))
        id = handle(client.answer(7)["result"]["structuredContent"])
        client.send(tool_call("search", {"query": fresh.question()}, 8))
        assert player.reached.wait(PATIENCE)
        wait_until(lambda: player.asked >= 4)
        player.released.set()
    listed = json.loads(run("research", "--jobs", "--json", **settings).stdout)["jobs"]
    by_tool = {one["tool"]: one for one in listed}
    assert by_tool["search"]["status"] == "cancelled" and by_tool["deep_search"]["job"] == id
    attached = run("research", "--attach", id[:8], **settings)
    assert attached.returncode == 0 and "[^1]" in attached.stdout, attached.stderr
    wait_until(lambda: not working(tmp_path))


def working(folder):
    """Whether somebody works on what was left: a process of its own, which no test has started."""
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # a process that has just ended
            words = (path / "cmdline").read_bytes().split(b"\0")
            if words[1:3] == [b"research", b"--work"] and str(folder).encode() in (path / "environ").read_bytes():
                return True
    return False


# ---- whose they are ----


def test_jobs_belong_to_their_caller(fresh, tmp_path):
    tokens = ",".join(f"{name}:{token}" for name, token in TOKENS.items())
    with Server(**fresh.settings(FORAGE_DATA_DIR=tmp_path, FORAGE_TOKENS=tokens)) as server:
        id = begin(server.port, fresh.question(), TOKENS["ada"])
        finished(server.port, id, TOKENS["ada"])
        unknown = "0" * 32
        for path in (f"/api/v1/jobs/{id}", f"/api/v1/jobs/{unknown}"):
            for method in ("GET", "DELETE"):
                answer = get(server.port, path, TOKENS["bea"], method)
                assert answer.status == 404, answer
                error = answer.json()["error"]
                assert error["message"] == get(server.port, f"/api/v1/jobs/{unknown}", TOKENS["bea"]).json()["error"]["message"]
        assert call(server.port, "research_result", {"job": id}, TOKENS["bea"]).status == 404
        assert get(server.port, "/api/v1/jobs", TOKENS["bea"]).json() == {"jobs": []}
        assert get(server.port, "/api/v1/jobs").status == 401


def test_two_hundred_at_once_from_five_callers(fresh, tmp_path):
    """Each has as many as it may, the rest is refused in words, and what was taken comes to its end."""
    tokens = ",".join(f"{name}:{token}" for name, token in TOKENS.items())
    settings = fresh.settings(
        FORAGE_DATA_DIR=tmp_path, FORAGE_TOKENS=tokens, FORAGE_JOBS_PER_CALLER=8, FORAGE_RESEARCH_CONCURRENCY=8
    )
    hold = Hangs(fresh.world.questions, 1)
    fresh.play(hold)
    with Server(**settings) as server:
        taken, refused = {name: [] for name in TOKENS}, []

        def ask(name):
            for _ in range(40):
                answer = call(server.port, "search", {"query": fresh.question(), "background": True}, TOKENS[name])
                if answer.status == 202:
                    taken[name].append(answer.json()["job"])
                else:
                    refused.append(answer)

        threads = [threading.Thread(target=ask, args=(name,)) for name in TOKENS]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert {name: len(ids) for name, ids in taken.items()} == dict.fromkeys(TOKENS, 8)
        assert len(refused) == 160
        for answer in refused:
            assert answer.status == 429 and answer.json()["error"]["code"] == "RATE_LIMIT", answer
            assert "FORAGE_JOBS_PER_CALLER" in answer.json()["error"]["message"] and answer.header("Retry-After")
        hold.released.set()
        for name, ids in taken.items():
            assert {finished(server.port, id, TOKENS[name], 60)["status"] for id in ids} == {"done"}
            assert begin(server.port, fresh.question(), TOKENS[name])


def test_they_expire(fresh, tmp_path):
    """Also where the machine has just been started, whose clock that counts from then is near zero."""
    clock = Clock(tmp_path)
    clock.pass_time(60 - round(time.monotonic()))
    clock.set(time.time())
    with Server(**fresh.settings(FORAGE_DATA_DIR=tmp_path)) as server:
        id = begin(server.port, fresh.question())
        done = finished(server.port, id)
        assert done["expires_at"][:11] > done["created_at"][:11]
    change_store(tmp_path, "UPDATE jobs SET expires_ms = 1")
    with Server(**fresh.settings(FORAGE_DATA_DIR=tmp_path), **clock.settings(FORAGE)) as server:
        other = begin(server.port, fresh.question())
        wait_until(lambda: [one["job"] for one in get(server.port, "/api/v1/jobs").json()["jobs"]] == [other])
        assert get(server.port, f"/api/v1/jobs/{id}").status == 404


def test_they_are_wiped_with_the_history(fresh, tmp_path):
    settings = fresh.settings(FORAGE_DATA_DIR=tmp_path)
    with Server(**settings) as server:
        id = begin(server.port, fresh.question())
        finished(server.port, id)
        get(server.port, "/api/v1/history", method="DELETE")
        assert get(server.port, "/api/v1/jobs").json() == {"jobs": []}
    assert not files_with(tmp_path, fresh.question().encode())


def test_without_a_store_research_works_and_says_what_it_lacks(fresh, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with Server(**fresh.settings(FORAGE_DATA_DIR=tmp_path / "file")) as server:
        answer = call(server.port, "deep_search", {"topic": fresh.question(), "background": True})
        body = answer.json()
        assert answer.status == 202 and "is not stored" in body["warning"]
        wait_until(lambda: call(server.port, "research_result", {"job": body["job"], "wait": 1}).status == 200)
        assert call(server.port, "research_result", {"job": body["job"]}).json()["report"]
        path = f"/api/v1/jobs/{body['job']}"
        assert get(server.port, path, method="DELETE").json() == {"job": body["job"], "ended": "removed"}
        assert get(server.port, path).status >= 400


# ---- on the command line ----


def test_on_the_command_line(fresh, tmp_path):
    settings = fresh.settings(FORAGE_DATA_DIR=tmp_path)
    begun = run("research", fresh.question(), "--background", **settings)
    id = begun.stdout.strip()
    assert begun.returncode == 0 and len(id) == 32 and "--attach" in begun.stderr, begun.stderr
    shown = run("research", "--attach", id, **settings)
    assert shown.returncode == 0 and "[^1]" in shown.stdout
    listed = run("research", "--jobs", **settings).stdout
    assert id in listed and "done" in listed and fresh.question()[:20] in listed
    assert "removed" in run("research", "--cancel", id[:6], **settings).stderr
    assert "no research" in run("research", "--jobs", **settings).stderr
    wait_until(lambda: not working(tmp_path))


@pytest.mark.parametrize(
    "arguments, told",
    [
        (["--attach", "beef"], "there is no job"),
        (["--cancel", "beef"], "there is no job"),
        (["--jobs", "--attach", "beef"], "together"),
        (["topic", "--jobs"], "takes no topic"),
        ([], "a topic is missing"),
    ],
)
def test_wrong_commands(scene, tmp_path, arguments, told):
    done = run("research", *arguments, **scene.settings(FORAGE_DATA_DIR=tmp_path))
    assert done.returncode in (1, 2) and told in done.stderr, done.stderr


# ---- programs that research ----


def test_a_worker_is_begun_again_once_and_says_so(tmp_path):
    place = Place(tmp_path)
    worker = Worker(tmp_path / "worker", [*play.begin(), *play.search(1, "depth"), play.hang()])
    settings = place.settings(GEMINI_CLI_PATH=worker.path, FORAGE_DATA_DIR=tmp_path / "data")

    def killed(server):
        wait_until(lambda: job(server.port, id)["rounds"] == 1)
        server.process.kill()
        server.process.wait()
        server.end = lambda: None

    with Server(**settings) as server:
        id = begin(server.port, "How deep is it?")
        killed(server)
    with Server(**settings) as server:
        wait_until(lambda: len(worker.runs()) == 2)
        killed(server)
    with Server(**settings) as server:
        failed = finished(server.port, id)["result"]["error"]
        assert failed["code"] == "EXECUTION_ERROR" and "ended 2 times" in failed["message"]
    assert len(worker.runs()) == 2


def test_a_worker_that_is_begun_again_comes_to_its_end(tmp_path):
    place = Place(tmp_path)
    worker = Worker(tmp_path / "worker", [*play.begin(), *play.search(1, "depth"), play.hang()])
    settings = place.settings(GEMINI_CLI_PATH=worker.path, FORAGE_DATA_DIR=tmp_path / "data")
    with Server(**settings) as server:
        id = begin(server.port, "How deep is it?")
        wait_until(lambda: job(server.port, id)["rounds"] == 1)
        server.process.kill()
        server.process.wait()
        server.end = lambda: None
    worker.play(play.answer(play.report("Deep."), play.search(1, "depth")))
    with Server(**settings) as server:
        done = finished(server.port, id)
        assert done["status"] == "done" and done["runs"] == 2 and len(worker.runs()) == 1
        assert any("begun anew" in warning for warning in done["result"]["metadata"]["warnings"])
        assert charged(get(server.port, "/api/v1/usage").json())["calls"] == 1
