// The TypeScript SDK v2 as a client: connects, lists the tools, calls one, and prints what it saw.
//   sdk_v2.mjs MODE '{"command": [...], "asks": {...}}' or sdk_v2.mjs MODE '{"url": "...", "headers": {...}, "asks": {...}}'
// MODE is legacy, auto, or the one version that is accepted.
// asks: the tool and its arguments, and whether to call it as a task (by the SDK's extension for
// them). Where the answer is a job, its result is asked for until it is there, each time with the
// SDK's own patience.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createTaskSessionFromClient, resultFromTaskOutcome, toolDeclarationFromMcpTool } from '@modelcontextprotocol/ext-tasks/client';

const mode = process.argv[2];
const { command, url, headers, asks } = JSON.parse(process.argv[3]);
const transport = command
    ? new StdioClientTransport({ command: command[0], args: command.slice(1) })
    : new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
const clientInfo = { name: 'forage-test-sdk-v2', version: '1.0.0' };
const client = new Client(clientInfo, {
    versionNegotiation: { mode: ['legacy', 'auto'].includes(mode) ? mode : { pin: mode } }
});

// The SDK's own requests do not know the results of the modern era's tasks; the extension leaves
// sending those to its host.
let requests = 0;
async function dispatch({ method, params }) {
    const name = params.name ?? params.taskId;
    const response = await fetch(url, {
        method: 'POST',
        headers: {
            ...headers,
            'Content-Type': 'application/json',
            Accept: 'application/json, text/event-stream',
            'MCP-Protocol-Version': client.getNegotiatedProtocolVersion(),
            'Mcp-Method': method,
            ...(name && { 'Mcp-Name': name })
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: `task-${++requests}`, method, params })
    });
    const { result, error } = await response.json();
    return error ? { kind: 'error', error } : { kind: 'result', result };
}

async function callAsTask(name, args, tools) {
    const session = createTaskSessionFromClient(client, {
        endpointId: 'forage',
        ...(client.getProtocolEra() === 'modern' && {
            rawDispatch: dispatch,
            v2RequestFraming: {
                protocolVersion: client.getNegotiatedProtocolVersion(),
                clientInfo,
                clientCapabilities: {}
            }
        })
    });
    try {
        const declaration = toolDeclarationFromMcpTool(tools.find(tool => tool.name === name));
        const { outcome } = await (await session.callTool(name, args, { declaration, task: { preference: 'prefer' } })).settle();
        return resultFromTaskOutcome(outcome);
    } finally {
        await session.close();
    }
}

async function call(name, args) {
    const result = await client.callTool({ name, arguments: args });
    const { job, status } = result.structuredContent ?? {};
    return job && status !== 'done' ? call('research_result', { job }) : result;
}

await client.connect(transport);
const { tools } = await client.listTools();
const result = await (asks.as_task ? callAsTask : call)(asks.tool, asks.arguments, tools);
console.log(
    JSON.stringify({
        server: client.getServerVersion(),
        version: client.getNegotiatedProtocolVersion(),
        tools: tools.map(tool => tool.name),
        result
    })
);
await client.close();
