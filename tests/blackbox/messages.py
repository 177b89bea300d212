"""The words of MCP, in both eras."""

MODERN = "2026-07-28"
LEGACY = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
SERVER_INFO = "io.modelcontextprotocol/serverInfo"
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"

# JSON-RPC and MCP error codes.
PARSE = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL = -32603
LEGACY_NO_RESOURCE = -32002
BUSY = -32000
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022


def call(method, params=None, id=1):
    """A request; `id` may be None for a notification."""
    message = {"jsonrpc": "2.0", "method": method}
    if id is not None:
        message["id"] = id
    if params is not None:
        message["params"] = params
    return message


def meta(**more):
    """The envelope of a modern request."""
    return {VERSION: MODERN, CAPABILITIES: {}, **more}


def modern(method, params=None, id=1, **more_meta):
    return call(method, {**(params or {}), "_meta": meta(**more_meta)}, id)


def modern_headers(message):
    """The headers that a modern request needs over HTTP."""
    params = message.get("params", {})
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": message["method"]}
    if message["method"] in ("tools/call", "prompts/get"):
        headers["Mcp-Name"] = params["name"]
    if message["method"] == "resources/read":
        headers["Mcp-Name"] = params["uri"]
    if message["method"].startswith("tasks/"):
        headers["Mcp-Name"] = params["taskId"]
    return headers


def tool_call(name, arguments=None, id=1, token=None):
    """A legacy tools/call; with a token it asks for progress."""
    params = {"name": name, "arguments": arguments or {}}
    if token is not None:
        params["_meta"] = {"progressToken": token}
    return call("tools/call", params, id)


def cancelled(id):
    return call("notifications/cancelled", {"requestId": id, "reason": "the user said so"}, id=None)


def initialize(version="2025-11-25", id=1):
    return call(
        "initialize",
        {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "blackbox", "version": "1"}},
        id,
    )
