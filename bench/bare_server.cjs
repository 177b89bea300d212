// The least that a Node program can be and still answer initialize and tools/list on stdio: what a cold start
// costs when everything but Node itself is left out.
const tool = { name: "nothing", description: "Does nothing.", inputSchema: { type: "object" } };
const answers = {
  initialize: {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "bare", version: "1.0.0" },
  },
  "tools/list": { tools: [tool] },
};

let rest = "";
process.stdin.setEncoding("utf8").on("data", (text) => {
  const lines = (rest + text).split("\n");
  rest = lines.pop();
  for (const line of lines) {
    const { id, method } = JSON.parse(line);
    if (id !== undefined) {
      process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method] }) + "\n");
    }
  }
});
