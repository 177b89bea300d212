// The TypeScript SDK v1 as a client: connects, lists the tools, calls one, and prints what it saw.
//   sdk_v1.mjs '{"command": [...], "asks": {...}}' or sdk_v1.mjs '{"url": "...", "headers": {...}, "asks": {...}}'
// asks: the tool and its arguments, and whether to call it as a task. Where the answer is a job, its
// result is asked for until it is there, each time with the SDK's own patience.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const { command, url, headers, asks } = JSON.parse(process.argv[2]);
const transport = command
    ? new StdioClientTransport({ command: command[0], args: command.slice(1) })
    : new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
const client = new Client({ name: 'forage-test-sdk-v1', version: '1.0.0' });

async function callAsTask(name, args) {
    const stream = client.experimental.tasks.callToolStream({ name, arguments: args });
    for await (const message of stream) {
        if (message.type === 'error') throw message.error;
        if (message.type === 'result') return message.result;
    }
}

async function call(name, args) {
    const result = await client.callTool({ name, arguments: args });
    const { job, status } = result.structuredContent ?? {};
    return job && status !== 'done' ? call('research_result', { job }) : result;
}

await client.connect(transport);
const { tools } = await client.listTools();
const result = await (asks.as_task ? callAsTask : call)(asks.tool, asks.arguments);
console.log(
    JSON.stringify({
        server: client.getServerVersion(),
        tools: tools.map(tool => tool.name),
        result
    })
);
await client.close();
