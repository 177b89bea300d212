// Memories inside a client of MCP.
