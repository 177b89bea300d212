// A side of bench/field: a server made with the official TypeScript SDK, as its documentation shows
// one, with a tool that does what forage_status does. Where there was a choice, the faster one was taken: plain
// node:http without a framework, schemas compiled once, tokens compared without the SDK's OAuth helpers.
//
//     NODE_PATH=.deps/peers/node_modules BENCH_TOKEN=... node bench/sdk_server.cjs
//
// It prints the port that it listens on.
const { createHash, timingSafeEqual } = require("node:crypto");
const { createServer } = require("node:http");
const { createMcpHandler, fromJsonSchema, McpServer } = require("@modelcontextprotocol/server");
const { toNodeHandler } = require("@modelcontextprotocol/node");

const definition = require("../src/tools/forage_status.json");
const tokenDigest = digest(`Bearer ${process.env.BENCH_TOKEN}`);
const counts = { calls: 0, failures: 0, running: 0 };

const toolConfig = {
  title: definition.title,
  description: definition.description,
  inputSchema: fromJsonSchema(definition.inputSchema),
  outputSchema: fromJsonSchema(definition.outputSchema),
  annotations: definition.annotations,
};

function digest(text) {
  return createHash("sha256").update(text).digest();
}

function describeStatus() {
  return {
    success: true,
    name: "sdk",
    version: "2.4.0",
    uptime_s: process.uptime(),
    tools: [{ name: definition.name, group: "server", ready: true, ...counts }],
    counts: { ...counts },
  };
}

// The SDK asks for a new instance with every request.
function makeServer() {
  const server = new McpServer({ name: "sdk", version: "2.4.0" });
  server.registerTool(definition.name, toolConfig, async () => {
    counts.calls++;
    const status = describeStatus();
    return { content: [{ type: "text", text: JSON.stringify(status) }], structuredContent: status };
  });
  return server;
}

const handle = toNodeHandler(createMcpHandler(makeServer));

const http = createServer((request, response) => {
  const given = request.headers.authorization ?? "";
  if (!timingSafeEqual(digest(given), tokenDigest)) {
    response.writeHead(401, { "WWW-Authenticate": "Bearer" }).end();
    return;
  }
  handle(request, response);
});
http.listen(0, "127.0.0.1", () => console.log(http.address().port));
