"""What an answer over HTTP must be: each function makes a check that takes the answer."""


def fails(status, code=None):
    """A refusal by the HTTP door, with its own error code."""

    def check(response):
        assert response.status == status, response
        body = response.json()
        assert body["success"] is False
        assert body["error"]["request_id"] == response.header("X-Request-Id")
        assert code is None or body["error"]["code"] == code, body

    return check


def error(code, status, id=1):
    """A JSON-RPC error, and the status that goes with it."""

    def check(response):
        assert response.status == status, response
        body = response.json()
        assert body["error"]["code"] == code, body
        assert body["id"] == id and type(body["id"]) is type(id), body
        assert body["error"]["data"]["requestId"] == response.header("X-Request-Id")

    return check


def result(id=1):
    """A JSON-RPC result."""

    def check(response):
        assert response.status == 200, response
        body = response.json()
        assert body["id"] == id and "result" in body, body

    return check


def status(expected):
    """A status, whatever comes with it."""

    def check(response):
        assert response.status == expected, response

    return check


def accepted(response):
    """Nothing to say."""
    assert response.status == 202 and response.body == b"", response


def batch(*codes):
    """A batch of answers; None for a result, else the error's code."""

    def check(response):
        assert response.status == 200, response
        assert [part.get("error", {}).get("code") for part in response.json()] == list(codes), response

    return check
