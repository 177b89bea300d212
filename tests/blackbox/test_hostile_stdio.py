"""Hostile input on stdio. Each row of the tables below is a case: what is sent, and what must come back.
After each case a ping must still be answered, and nothing else may have come."""

import contextlib
import json
import os
import pty
import select
import signal
import socket
import subprocess
import tempfile
import threading
import tty

import pytest
from messages import (
    CAPABILITIES,
    INVALID_PARAMS,
    INVALID_REQUEST,
    LEGACY,
    METHOD_NOT_FOUND,
    PARSE,
    UNSUPPORTED_VERSION,
    VERSION,
    call,
    initialize,
    meta,
    modern,
    tool_call,
)
from programs import CONFORMANCE, PATIENCE, Program, Stdio, wait_until

MIB = 1024 * 1024


# ---- what must come back ----


def error(code, id=None):
    """An error, for the request with that id; None where the id cannot be known."""

    def check(answer):
        assert answer["error"]["code"] == code, answer
        assert answer["id"] == id and type(answer["id"]) is type(id), answer
        assert answer["error"]["message"] and "result" not in answer

    return check


def result(id=1):
    def check(answer):
        assert "result" in answer and "error" not in answer, answer
        assert answer["id"] == id and type(answer["id"]) is type(id), answer

    return check


def failed_call(id=1, naming=""):
    """A tool's answer that a model can act on, rather than an error of the protocol."""

    def check(answer):
        result(id)(answer)
        assert answer["result"]["isError"] is True
        body = answer["result"]["structuredContent"]
        assert body["success"] is False and body["error"]["code"] == "VALIDATION", body
        assert naming in body["error"]["message"], body

    return check


def batch(*checks):
    def check(answer):
        assert isinstance(answer, list) and len(answer) == len(checks), answer
        for one, part in zip(checks, answer):
            one(part)

    return check


NOTHING = ()


def nested(depth):
    """A ping whose braces and brackets are that deep."""
    inner = depth - 2
    return b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":' + b"[" * inner + b"]" * inner + b"}}"


def ping_of(length):
    """A ping that is a line of that length."""
    start, end = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"', b'"}}'
    return start + b"x" * (length - len(start) - len(end)) + end


def ping_with(key, value):
    """A ping of which one member is the given text."""
    members = {"jsonrpc": '"2.0"', "id": "1", "method": '"ping"', key: value}
    return ("{" + ",".join(f'"{name}":{text}' for name, text in members.items()) + "}").encode()


# ---- messages: (name, line, what must come back) ----

NOT_JSON = [
    ("words", b"hello", error(PARSE)),
    ("cut off", b'{"jsonrpc":"2.0","id":1,"method":"pi', error(PARSE)),
    ("only a brace", b"{", error(PARSE)),
    ("two on a line", b'{"jsonrpc":"2.0","id":1,"method":"ping"}{}', error(PARSE)),
    ("garbage behind it", b'{"jsonrpc":"2.0","id":1,"method":"ping"} x', error(PARSE)),
    ("single quotes", b"{'jsonrpc':'2.0','id':1,'method':'ping'}", error(PARSE)),
    ("a trailing comma", b'{"jsonrpc":"2.0","id":1,"method":"ping",}', error(PARSE)),
    ("a comment", b'{"jsonrpc":"2.0","id":1,"method":"ping"/**/}', error(PARSE)),
    ("NaN", ping_with("params", '{"x":NaN}'), error(PARSE)),
    ("Infinity", ping_with("params", '{"x":Infinity}'), error(PARSE)),
    ("a NUL byte", b'{"jsonrpc":"2.0","id":1,"method":"ping\0"}', error(PARSE)),
    ("a raw control character", ping_with("method", '"pi\x01ng"'), error(PARSE)),
    ("a byte order mark", b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}', error(PARSE)),
    ("UTF-16", '{"jsonrpc":"2.0"}'.encode("utf-16-le"), error(PARSE)),
    ("invalid UTF-8", b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}', error(PARSE)),
    ("UTF-8 cut off", b'{"jsonrpc":"2.0","id":1,"method":"\xe2\x82"}', error(PARSE)),
    ("overlong UTF-8", b'{"jsonrpc":"2.0","id":1,"method":"\xc0\xaf"}', error(PARSE)),
    ("a surrogate in UTF-8", b'{"jsonrpc":"2.0","id":1,"method":"\xed\xa0\x80"}', error(PARSE)),
    ("beyond Unicode", b'{"jsonrpc":"2.0","id":1,"method":"\xf4\x90\x80\x80"}', error(PARSE)),
    ("half a surrogate pair", ping_with("method", r'"\ud800"'), error(PARSE)),
    ("a broken escape", ping_with("method", r'"\x"'), error(PARSE)),
    ("deeper than allowed", nested(65), error(PARSE)),
    ("very deep", nested(100_000), error(PARSE)),
    ("deep and unbalanced", b"[" * 200_000, error(PARSE)),
    ("a number beyond doubles", ping_with("params", '{"x":1e999}'), error(PARSE)),
    ("a negative one", ping_with("params", '{"x":-1e999}'), error(PARSE)),
    ("a leading zero", ping_with("id", "01"), error(PARSE)),
    ("hexadecimal", ping_with("id", "0x1"), error(PARSE)),
]

ODD_BUT_FINE = [
    ("a blank line", b"", *NOTHING),
    ("only blanks", b" \t\r", *NOTHING),
    ("CRLF", b'{"jsonrpc":"2.0","id":1,"method":"ping"}\r', result()),
    ("blanks around it", b' \t {"jsonrpc":"2.0","id":1,"method":"ping"}  ', result()),
    ("as deep as allowed", nested(64), result()),
    ("a tiny number", ping_with("params", '{"x":1e-999}'), result()),
    ("a number of 400 digits", ping_with("params", '{"x":' + "0." + "1" * 400 + "}"), result()),
    ("unknown members", ping_with("more", '{"a":[1,2]}'), result()),
    ("a negative id", ping_with("id", "-1"), result(-1)),
    ("the largest id", ping_with("id", "18446744073709551615"), result(18446744073709551615)),
    ("the smallest id", ping_with("id", "-9223372036854775808"), result(-9223372036854775808)),
    ("an empty id", ping_with("id", '""'), result("")),
    ("an id with quotes", ping_with("id", r'"\"\\\u0007\u20ac"'), result('"\\\u0007€')),
    ("an id of 256 characters", ping_with("id", '"' + "i" * 256 + '"'), result("i" * 256)),
    ("an escaped method", ping_with("method", r'"p\u0069ng"'), result()),
    ("many keys", ping_with("params", json.dumps({f"k{i}": i for i in range(50_000)})), result()),
    ("many values", ping_with("params", json.dumps({"x": list(range(100_000))})), result()),
]

NOT_A_MESSAGE = [
    ("a number", b"1", error(INVALID_REQUEST)),
    ("a string", b'"ping"', error(INVALID_REQUEST)),
    ("null", b"null", error(INVALID_REQUEST)),
    ("an empty object", b"{}", error(INVALID_REQUEST)),
    ("no jsonrpc", b'{"id":1,"method":"ping"}', error(INVALID_REQUEST)),
    ("jsonrpc 1.0", ping_with("jsonrpc", '"1.0"'), error(INVALID_REQUEST)),
    ("jsonrpc as a number", ping_with("jsonrpc", "2.0"), error(INVALID_REQUEST)),
    ("no method", b'{"jsonrpc":"2.0","id":1}', error(INVALID_REQUEST)),
    ("method null", ping_with("method", "null"), error(INVALID_REQUEST)),
    ("method a number", ping_with("method", "5"), error(INVALID_REQUEST)),
    ("method an object", ping_with("method", "{}"), error(INVALID_REQUEST)),
    ("id null", ping_with("id", "null"), error(INVALID_REQUEST)),
    ("id true", ping_with("id", "true"), error(INVALID_REQUEST)),
    ("id a list", ping_with("id", "[1]"), error(INVALID_REQUEST)),
    ("id an object", ping_with("id", '{"a":1}'), error(INVALID_REQUEST)),
    ("id a fraction", ping_with("id", "1.5"), error(INVALID_REQUEST)),
    ("id of 40 digits", ping_with("id", "1" * 40), error(INVALID_REQUEST)),
    ("id of 257 characters", ping_with("id", '"' + "i" * 257 + '"'), error(INVALID_REQUEST)),
    ("a repeated id", b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', error(INVALID_REQUEST)),
    ("a repeated method", b'{"jsonrpc":"2.0","id":1,"method":"x","method":"ping"}', error(INVALID_REQUEST)),
    ("a repeated key inside", ping_with("params", '{"a":[{"b":1,"b":2}]}'), error(INVALID_REQUEST)),
    ("a key repeated by escape", ping_with("params", r'{"a":1,"\u0061":2}'), error(INVALID_REQUEST)),
    (
        "a repeated key among many",
        ping_with("params", "{" + ",".join(f'"k{i}":1' for i in [*range(20_000), 7]) + "}"),
        error(INVALID_REQUEST),
    ),
]

NOT_FOR_US = [
    ("an answer to no question", {"jsonrpc": "2.0", "id": "forage-1", "result": {}}, *NOTHING),
    ("an error to no question", {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}}, *NOTHING),
    ("an answer without id", {"jsonrpc": "2.0", "result": {}}, *NOTHING),
    ("an unknown notification", call("notifications/nothing", id=None), *NOTHING),
    ("a notification with wrong params", call("notifications/cancelled", [], id=None), *NOTHING),
    ("cancelling nothing", call("notifications/cancelled", {"requestId": 77}, id=None), *NOTHING),
    ("cancelling without id", call("notifications/cancelled", {}, id=None), *NOTHING),
    ("cancelling an object", call("notifications/cancelled", {"requestId": {"a": []}}, id=None), *NOTHING),
    ("a request as a notification", call("tools/list", id=None), *NOTHING),
    ("a modern one without capabilities", call("x", {"_meta": {VERSION: "2026-07-28"}}, id=None), *NOTHING),
]

WRONG_METHOD = [
    ("unknown", call("no/such/method"), error(METHOD_NOT_FOUND, 1)),
    ("empty", call(""), error(METHOD_NOT_FOUND, 1)),
    ("another case", call("Ping"), error(METHOD_NOT_FOUND, 1)),
    ("a longer one", call("ping "), error(METHOD_NOT_FOUND, 1)),
    ("behind a NUL", call("ping\0x"), error(INVALID_PARAMS, 1)),
    ("of a million characters", call("m" * 1_000_000), error(METHOD_NOT_FOUND, 1)),
    ("of a feature that is off", call("logging/setLevel", {"level": "info"}), error(METHOD_NOT_FOUND, 1)),
    (
        "subscriptions, off",
        call("resources/subscribe", {"uri": "forage://guide"}),
        error(METHOD_NOT_FOUND, 1),
    ),
    ("tasks, unknown", call("tasks/list"), error(METHOD_NOT_FOUND, 1)),
    ("modern: unknown", modern("no/such/method"), error(METHOD_NOT_FOUND, 1)),
    ("modern: removed ping", modern("ping"), error(METHOD_NOT_FOUND, 1)),
    ("modern: removed initialize", modern("initialize"), error(METHOD_NOT_FOUND, 1)),
    ("modern: removed setLevel", modern("logging/setLevel", {"level": "info"}), error(METHOD_NOT_FOUND, 1)),
    ("modern: removed subscribe", modern("resources/subscribe", {"uri": "x"}), error(METHOD_NOT_FOUND, 1)),
    (
        "modern: listening, nothing to hear",
        modern("subscriptions/listen", {"notifications": {}}),
        error(METHOD_NOT_FOUND, 1),
    ),
]

WRONG_PARAMS = [
    ("a list", call("ping", []), error(INVALID_PARAMS, 1)),
    ("a string", call("ping", "x"), error(INVALID_PARAMS, 1)),
    ("null", ping_with("params", "null"), error(INVALID_PARAMS, 1)),
    ("a number", call("ping", 5), error(INVALID_PARAMS, 1)),
    ("_meta a list", call("ping", {"_meta": []}), error(INVALID_PARAMS, 1)),
    ("_meta a string", call("ping", {"_meta": "x"}), error(INVALID_PARAMS, 1)),
    ("tools/call without params", call("tools/call"), error(INVALID_PARAMS, 1)),
    ("tools/call without name", call("tools/call", {}), error(INVALID_PARAMS, 1)),
    ("tools/call with a number", call("tools/call", {"name": 1}), error(INVALID_PARAMS, 1)),
    ("an unknown tool", tool_call("no_such_tool"), error(INVALID_PARAMS, 1)),
    ("a tool behind a NUL", tool_call("forage_status\0x"), error(INVALID_PARAMS, 1)),
    ("a tool of 100,000 characters", tool_call("t" * 100_000), error(INVALID_PARAMS, 1)),
    (
        "arguments a list",
        call("tools/call", {"name": "forage_status", "arguments": []}),
        error(INVALID_PARAMS, 1),
    ),
    (
        "arguments null",
        call("tools/call", {"name": "forage_status", "arguments": None}),
        error(INVALID_PARAMS, 1),
    ),
    ("a cursor that is a number", call("tools/list", {"cursor": 1}), error(INVALID_PARAMS, 1)),
    ("a cursor that is null", call("tools/list", {"cursor": None}), error(INVALID_PARAMS, 1)),
    ("a cursor of our own making", call("tools/list", {"cursor": "p-1"}), error(INVALID_PARAMS, 1)),
    ("an endless cursor", call("tools/list", {"cursor": "p" + "9" * 30}), error(INVALID_PARAMS, 1)),
    ("an empty cursor", call("prompts/list", {"cursor": ""}), error(INVALID_PARAMS, 1)),
    ("resources/read without uri", call("resources/read", {}), error(INVALID_PARAMS, 1)),
    ("resources/read with a list", call("resources/read", {"uri": []}), error(INVALID_PARAMS, 1)),
    ("an unknown resource", modern("resources/read", {"uri": "forage://x"}), error(INVALID_PARAMS, 1)),
    ("prompts/get without name", call("prompts/get", {}), error(INVALID_PARAMS, 1)),
    ("an unknown prompt", call("prompts/get", {"name": "x"}), error(INVALID_PARAMS, 1)),
    (
        "a prompt argument that is a number",
        call("prompts/get", {"name": "research_topic", "arguments": {"topic": 5}}),
        error(INVALID_PARAMS, 1),
    ),
    (
        "prompt arguments as a list",
        call("prompts/get", {"name": "research_topic", "arguments": ["topic"]}),
        error(INVALID_PARAMS, 1),
    ),
    ("a prompt without its topic", call("prompts/get", {"name": "research_topic"}), error(INVALID_PARAMS, 1)),
    ("completion of nothing", call("completion/complete", {}), error(INVALID_PARAMS, 1)),
    (
        "completion of an unknown kind",
        call("completion/complete", {"ref": {"type": "x"}, "argument": {"name": "a", "value": ""}}),
        error(INVALID_PARAMS, 1),
    ),
    (
        "completion of a number",
        call("completion/complete", {"ref": 5, "argument": {"name": "a", "value": 5}}),
        error(INVALID_PARAMS, 1),
    ),
    (
        "modern: no capabilities",
        call("tools/list", {"_meta": {VERSION: "2026-07-28"}}),
        error(INVALID_PARAMS, 1),
    ),
    (
        "modern: capabilities a list",
        call("tools/list", {"_meta": {VERSION: "2026-07-28", CAPABILITIES: []}}),
        error(INVALID_PARAMS, 1),
    ),
    (
        "modern: a version that is a number",
        call("tools/list", {"_meta": {VERSION: 20260728, CAPABILITIES: {}}}),
        error(INVALID_PARAMS, 1),
    ),
    (
        "modern: an unknown version",
        call("tools/list", {"_meta": {VERSION: "2099-01-01", CAPABILITIES: {}}}),
        error(UNSUPPORTED_VERSION, 1),
    ),
    (
        "modern: a legacy version",
        call("tools/list", {"_meta": {VERSION: "2025-11-25", CAPABILITIES: {}}}),
        error(UNSUPPORTED_VERSION, 1),
    ),
    (
        "modern: state that we never gave",
        modern("tools/call", {"name": "forage_status", "requestState": "x.y.z"}),
        error(INVALID_PARAMS, 1),
    ),
    (
        "modern: answers that are a list",
        modern("tools/call", {"name": "forage_status", "inputResponses": []}),
        error(INVALID_PARAMS, 1),
    ),
]

WRONG_ARGUMENTS = [
    ("a number", tool_call("forage_status", {"tool": 5}), failed_call(naming="tool")),
    ("null", tool_call("forage_status", {"tool": None}), failed_call(naming="tool")),
    ("too short", tool_call("forage_status", {"tool": ""}), failed_call(naming="tool")),
    ("too long", tool_call("forage_status", {"tool": "x" * 65}), failed_call(naming="tool")),
    ("unknown", tool_call("forage_status", {"nothing": 1}), failed_call(naming="nothing")),
    ("a megabyte", tool_call("forage_status", {"tool": "x" * MIB}), failed_call(naming="tool")),
    ("an unknown tool", tool_call("forage_status", {"tool": "no_such"}), failed_call(naming="no_such")),
    ("a NUL", tool_call("forage_status", {"tool": "forage_status\0"}), error(INVALID_PARAMS, 1)),
    ("a nest", tool_call("forage_status", {"tool": [[[[["x"]]]]]}), failed_call(naming="tool")),
]

OVERLONG = [
    ("the longest line", ping_of(4 * MIB), result()),
    ("one byte more", ping_of(4 * MIB + 1), error(INVALID_REQUEST)),
    ("16 MiB", ping_of(16 * MIB), error(INVALID_REQUEST)),
    (
        "with a message at its end",
        b"x" * (4 * MIB + 5) + b'{"jsonrpc":"2.0","id":1,"method":"ping"}',
        error(INVALID_REQUEST),
    ),
    ("only blanks", b" " * (4 * MIB + 1), error(INVALID_REQUEST)),
]

TABLES = {
    "not JSON": NOT_JSON,
    "odd but fine": ODD_BUT_FINE,
    "not a message": NOT_A_MESSAGE,
    "not for us": NOT_FOR_US,
    "wrong method": WRONG_METHOD,
    "wrong params": WRONG_PARAMS,
    "wrong arguments": WRONG_ARGUMENTS,
    "overlong": OVERLONG,
}


def rows(tables):
    return [
        pytest.param(line, checks, id=f"{table}: {name}")
        for table, cases in tables.items()
        for name, line, *checks in cases
    ]


def send_and_check(client, line, checks):
    """Sends a line and a ping, and checks all that comes before the answer to the ping."""
    seen = len(client.messages())
    client.send(line + b"\n" if isinstance(line, bytes) else line)
    client.send(call("ping", id="afterwards"))
    client.answer("afterwards")
    *answers, _ = client.messages()[seen:]
    assert len(answers) == len(checks), answers
    for check, answer in zip(checks, answers):
        check(answer)


@pytest.mark.parametrize("line, checks", rows(TABLES))
def test_message(stdio, line, checks):
    send_and_check(stdio, line, checks)


# ---- batches: (name, versions, messages, what must come back) ----

WITH_BATCHES = ["2025-03-26", "2024-11-05"]
WITHOUT_BATCHES = ["2025-11-25", "2025-06-18"]
PING = call("ping")

BATCHES = [
    ("refused", WITHOUT_BATCHES, [PING], error(INVALID_REQUEST)),
    ("empty", LEGACY, [], error(INVALID_REQUEST)),
    ("of one", WITH_BATCHES, [PING], batch(result(1))),
    ("of 64", WITH_BATCHES, [call("ping", id=i) for i in range(64)], batch(*map(result, range(64)))),
    ("of 65", WITH_BATCHES, [call("ping", id=i) for i in range(65)], error(INVALID_REQUEST)),
    ("of a million nothings", WITH_BATCHES, [0] * 1_000_000, error(INVALID_REQUEST)),
    (
        "mixed",
        WITH_BATCHES,
        [
            call("notifications/initialized", id=None),
            PING,
            5,
            call("no/such", id=2),
            tool_call("forage_status", id=3),
        ],
        batch(result(1), error(INVALID_REQUEST), error(METHOD_NOT_FOUND, 2), result(3)),
    ),
    ("only notifications", WITH_BATCHES, [call("notifications/initialized", id=None)] * 3, *NOTHING),
    ("only answers", WITH_BATCHES, [{"jsonrpc": "2.0", "id": 1, "result": {}}], *NOTHING),
    ("a batch in a batch", WITH_BATCHES, [[PING]], batch(error(INVALID_REQUEST))),
    (
        "with initialize",
        WITH_BATCHES,
        [initialize(), call("ping", id=2)],
        batch(error(INVALID_REQUEST), result(2)),
    ),
    ("with a modern message", WITH_BATCHES, [modern("tools/list")], batch(error(INVALID_REQUEST))),
    ("the same id twice", WITH_BATCHES, [PING, PING], batch(result(1), result(1))),
]


@pytest.mark.parametrize(
    "version, messages, checks",
    [
        pytest.param(version, messages, checks, id=f"{name}, {version}")
        for name, versions, messages, *checks in BATCHES
        for version in versions
    ],
)
def test_batch(version, messages, checks):
    with Stdio() as client:
        client.handshake(version)
        send_and_check(client, messages, checks)


def test_unknown_version_names_those_that_are_known(stdio):
    stdio.send(call("tools/list", {"_meta": meta(**{VERSION: "2099-01-01"})}))
    data = stdio.answer(1)["error"]["data"]
    assert data["supported"] == ["2026-07-28"] and data["requested"] == "2099-01-01"


# ---- a client that comes and goes as it likes ----


def test_many_lines_at_once(stdio):
    stdio.send(b"".join(json.dumps(call("ping", id=i)).encode() + b"\n" for i in range(2000)))
    stdio.answer(1999)
    assert [message["id"] for message in stdio.messages()] == list(range(2000))


def test_a_byte_at_a_time(stdio):
    for byte in json.dumps(call("ping")).encode() + b"\n":
        stdio.send(bytes([byte]))
    assert stdio.answer(1)["result"] == {}


def test_last_line_without_its_end():
    with Stdio() as client:
        client.send(json.dumps(call("ping")).encode())
        client.close()
        assert [message["result"] for message in client.messages()] == [{}]


def test_cut_off_by_the_end():
    with Stdio() as client:
        client.send(b'{"jsonrpc":"2.0","id":1,"meth')
        client.close()
        (answer,) = client.messages()
        error(PARSE)(answer)


def test_overlong_line_cut_off_by_the_end():
    with Stdio() as client:
        client.send(b"x" * (5 * MIB))
        client.close()
        (answer,) = client.messages()
        error(INVALID_REQUEST)(answer)


def test_input_closed_at_once():
    with Stdio() as client:
        client.close()
        assert client.messages() == []


def test_input_closed_while_a_call_runs():
    """A client that has said all it wants still gets the answer: `echo ... | forage mcp`."""
    with Stdio(CONFORMANCE) as client:
        client.send(tool_call("test_sleep", {"ms": 300}))
        client.close()
        (answer,) = client.messages()
        assert answer["id"] == 1 and "isError" not in answer["result"]


def test_output_closed():
    """Nobody reads the answers: the program ends by itself, although its input stays open."""
    read_end, write_end = os.pipe()
    program = Program(["mcp"], stdin=subprocess.PIPE, stdout=write_end)
    try:
        os.close(write_end)
        os.close(read_end)
        program.process.stdin.write(json.dumps(call("ping")).encode() + b"\n")
        program.process.stdin.flush()
        assert program.wait() == 0
    finally:
        program.process.stdin.close()
        program.kill()


def test_output_closed_while_a_call_runs():
    read_end, write_end = os.pipe()
    program = Program(["mcp"], CONFORMANCE, stdin=subprocess.PIPE, stdout=write_end)
    try:
        os.close(write_end)
        program.process.stdin.write(json.dumps(tool_call("test_sleep", {"ms": 200})).encode() + b"\n")
        program.process.stdin.write(json.dumps(call("ping", id="running")).encode() + b"\n")
        program.process.stdin.flush()
        assert b"running" in os.read(read_end, 65536)
        os.close(read_end)
        program.process.stdin.close()
        assert program.wait() == 0
    finally:
        program.kill()


@contextlib.contextmanager
def output_of(kind):
    """Both ends of a standard output of that kind: what the program writes to, and how a client reads on."""
    if kind == "file":
        with tempfile.TemporaryFile() as file:
            yield file, lambda _: os.read(file.fileno(), 65536)
        return
    if kind == "terminal":
        ours, theirs = pty.openpty()
        tty.setraw(theirs)
    else:
        ours, theirs = os.pipe() if kind == "pipe" else [end.detach() for end in socket.socketpair()]
    try:
        with os.fdopen(theirs, "wb") as output:
            yield output, lambda size: os.read(ours, size) if select.select([ours], [], [], PATIENCE)[0] else b""
    finally:
        os.close(ours)


@pytest.mark.parametrize("kind", ["file", "pipe", "socket", "terminal"])
def test_answers_into_any_output(kind):
    """Long ones, to a client that takes a few bytes now and many later."""
    lists = [call("tools/list", {}, number) for number in range(100)]
    with output_of(kind) as (output, read_on):
        program = Program(["mcp"], stdin=subprocess.PIPE, stdout=output)
        try:
            output.close() if kind != "file" else None
            feeder = threading.Thread(
                target=lambda: program.process.stdin.write("".join(json.dumps(each) + "\n" for each in lists).encode())
            )
            feeder.start()
            if kind == "file":
                feeder.join()
                program.process.stdin.close()
                assert program.wait() == 0
                output.seek(0)
            lines, number = b"", 0
            while lines.count(b"\n") < len(lists):
                piece = read_on((1, 511, 4096, 40_000)[number % 4])
                assert piece, "nothing more comes"
                lines += piece
                number += 1
            feeder.join()
        finally:
            program.kill()
    answers = [json.loads(line) for line in lines.splitlines()]
    assert [answer["id"] for answer in answers] == list(range(100))
    assert len({json.dumps(answer["result"]) for answer in answers}) == 1


def test_answers_that_nobody_reads():
    """A client that never reads fills the pipe; a signal still ends the program."""
    read_end, write_end = os.pipe()
    program = Program(["mcp"], stdin=subprocess.PIPE, stdout=write_end)
    try:
        program.process.stdin.write((json.dumps(call("tools/list")) + "\n").encode() * 200)
        program.process.stdin.flush()
        wait_until(lambda: not select.select([], [write_end], [], 0)[1])
        program.signal(signal.SIGTERM)
        assert program.wait() == 0
    finally:
        os.close(read_end)
        os.close(write_end)
        program.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signal_while_idle(number):
    with Stdio() as client:
        client.handshake()
        client.signal(number)
        assert client.wait() == 0


def test_signal_while_a_call_runs():
    """The call gets its time to finish."""
    with Stdio(CONFORMANCE) as client:
        client.send(tool_call("test_sleep", {"ms": 500}))
        assert client.ask("ping")["result"] == {}
        client.signal(signal.SIGTERM)
        assert "isError" not in client.answer(1)["result"]
        assert client.wait() == 0
