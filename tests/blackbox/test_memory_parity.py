"""REST and MCP give the same body: a long conversation, made by a generator, goes to two stores that began empty,
to one over REST and to the other over MCP. Each answer is compared byte for byte, less the request's own number
and the moment of the call."""

import datetime
import random
import re

from conftest import report
from http_client import exchange, request
from memory_world import PATH, SEED, ask, path_of
from messages import tool_call
from programs import Server

CALLS = 200

WORDS = "apple pie sugar Müller 数据库 database getUserName atlas café <b>bold</b> a&b \"quoted\" naïve".split()
KEYS = ["k1", "k2", "k3", "a/b", "with space", "键", "100%", "nobody"]
TEXTS = ["{0} and {1}. More {2}.", "{0}\n{1}\t{2}", "{2} {2} {2}", "<script>{0}</script>"]


def some(dice, **choices):
    """Some of the members."""
    return {name: make(dice) for name, make in choices.items() if dice.random() < 0.35}


def mostly(good, wrong):
    """Makes one of the good ones, and now and then a wrong one."""
    return lambda dice: dice.choice(wrong if dice.random() < 0.12 else good)


def words(dice):
    return dice.choice(TEXTS).format(*dice.choices(WORDS, k=3))


def number(low, high):
    return mostly([low, 2, 3, high], [low - 1, high + 1, "3", 1.5, None])


key = mostly(KEYS, ["search", "k" * 1025])
tags = mostly([["a"], ["a", "b"], "a, b", [], ["b", "b"]], [5, [5], ["x" * 1025]])
when = mostly(["2026-03-05T14:00:00Z", "2026-03", "last week", "yesterday", "since 2026"], ["someday", ""])

FILTERS = {
    "tags": tags,
    "time": when,
    "from": when,
    "until": when,
    "session": mostly(["s", "t"], ["", 5]),
    "role": mostly(["user", "assistant"], [7]),
    "limit": number(1, 100),
    "offset": number(0, 10000),
}
PARTS = {
    "summary": words,
    "tags": tags,
    "metadata": mostly([{"a": 1}, {"é": [1.5, None, {"x": True}]}, {}], [[], "x"]),
    "session": mostly(["s", "t"], [""]),
    "place": number(0, 10**12),
    "role": mostly(["user", "assistant"], [""]),
    "created_at": when,
    "expires_at": mostly(["never", "2126-01-01"], ["nonsense"]),
}

# What each tool is asked.
ASKED = {
    "add": lambda dice: {"text": words(dice), **some(dice, key=key), **some(dice, **PARTS)},
    "get": lambda dice: {
        **some(dice, neighbours=number(0, 10), start=number(0, 1048576), max_chars=number(1, 1048576), version=number(0, 4)),
        **dice.choice([{"key": key(dice)}, {"key": key(dice)}, {"keys": dice.choices(KEYS, k=3)}, {}]),
    },
    "update": lambda dice: {"key": key(dice), **some(dice, text=words, if_version=number(1, 2), version=number(1, 4), **PARTS)},
    "rename": lambda dice: {"key": key(dice), "new_key": key(dice), **some(dice, if_version=number(1, 9))},
    "delete": lambda dice: dice.choice([{"key": key(dice)}, {"keys": dice.choices(KEYS, k=3)}, {}]),
    "list": lambda dice: some(dice, prefix=key, **FILTERS),
    "search": lambda dice: {"query": words(dice), **some(dice, **FILTERS)},
    "fulltext_search": lambda dice: {
        "keywords": dice.choice([dice.choices(WORDS, k=2), dice.choice(WORDS), '"apple pie"', "ap*", "-apple", ""]),
        **some(dice, operator=lambda dice: dice.choice(["AND", "OR", "NOT"]), **FILTERS),
    },
    "stats": lambda dice: some(dice, namespace=lambda dice: dice.choice(["n", "default"])),
}
WEIGHTS = {"add": 6, "get": 3, "update": 2, "search": 3, "fulltext_search": 3, "list": 2}


def calls(seed, count):
    dice = random.Random(seed)
    tools = list(ASKED)
    weights = [WEIGHTS.get(tool, 1) for tool in tools]
    for _ in range(count):
        tool = dice.choices(tools, weights)[0]
        arguments = ASKED[tool](dice)
        if dice.random() < 0.2:
            arguments["namespace"] = mostly(["n", "default"], ["", 5])(dice)
        if dice.random() < 0.03:
            arguments["colour"] = "red"
        yield tool, arguments


# ---- each way ----


NUMBERS = {"limit", "offset", "neighbours", "start", "max_chars", "version"}


def fits_a_query(name, value):
    """Whether a parameter of a URL can say it, so that the tool hears the same."""
    if isinstance(value, list):
        return name in ("tags", "keywords") and len(value) > 1 and all(isinstance(one, str) for one in value)
    return isinstance(value, (int, float)) and name in NUMBERS or isinstance(value, str) and name not in NUMBERS


def route_of(tool, arguments, dice):
    """The route for a call: one of those for memories where it can say the same, else the tool's own. An error names
    the first parameter that is wrong: those of the body come before the key of a path, and those of a query after."""
    rest = {name: value for name, value in arguments.items() if name != "key"}
    target = path_of(arguments["key"]) if arguments.get("key") not in (None, "search") else None
    as_query = all(fits_a_query(*item) for item in rest.items())
    routes = {
        "add": [("PUT", target, None, rest)] if target else [("POST", PATH, None, arguments)],
        "get": [("GET", target, rest, None)] if target and as_query else [],
        "update": [("PATCH", target, None, rest)] if target else [],
        "delete": [("DELETE", target, rest, None)] if target and as_query else [],
        "list": [("GET", PATH, rest, None)] if as_query else [],
        "search": [("GET", PATH + "/search", rest, None)] if as_query else [],
        "fulltext_search": [("GET", PATH + "/fulltext", rest, None)] if as_query else [],
    }
    return dice.choice([("POST", f"/api/v1/tools/memory_{tool}", None, arguments), *routes.get(tool, []) * 3])


def comparable(body, now):
    """The body without what must differ."""
    body = re.sub(rb'"request_id":"[^"]*"', b'"request_id":""', body)

    def moment(match):
        age = now - datetime.datetime.fromisoformat(match[0].decode().replace("Z", "+00:00"))
        return b"NOW" if abs(age) < datetime.timedelta(minutes=10) else match[0]

    return re.sub(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", moment, body)


def test_both_give_the_same_body(tmp_path):
    dice = random.Random(SEED)
    succeeded = failed = by_route = 0
    with Server(FORAGE_DATA_DIR=tmp_path / "rest") as rest, Server(FORAGE_DATA_DIR=tmp_path / "mcp") as mcp:
        for tool, arguments in calls(SEED, CALLS):
            method, path, query, body = route_of(tool, arguments, dice)
            answer = ask(rest.port, method, path, query, body)
            if "key" in arguments and method in ("PUT", "PATCH"):
                arguments["key"] = arguments.pop("key")
            elif "key" in arguments and query is not None:
                arguments = {"key": arguments["key"], **arguments}
            message = tool_call("memory_" + tool, arguments)
            result = exchange(mcp.port, request(body=message)).json()["result"]
            now = datetime.datetime.now(datetime.timezone.utc)
            over_rest = comparable(answer.body, now)
            over_mcp = comparable(result["content"][0]["text"].encode(), now)
            assert over_rest == over_mcp, (method, path, query, arguments)
            assert result.get("isError", False) is (answer.status >= 400), (arguments, answer)
            succeeded += answer.status == 200
            failed += answer.status != 200
            by_route += path.startswith(PATH)
    assert succeeded > CALLS / 3 and failed > CALLS / 6 and by_route > CALLS / 3
    report(f"memory over REST and MCP: {succeeded} calls that succeed and {failed} that fail have equal bodies")
