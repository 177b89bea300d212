// The TypeScript SDK v1 as a client: connects, lists the tools, calls forage_status, and prints
// what it saw.
//   sdk_v1.mjs '{"command": [...]}' or sdk_v1.mjs '{"url": "...", "headers": {...}}'
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const { command, url, headers } = JSON.parse(process.argv[2]);
const transport = command
    ? new StdioClientTransport({ command: command[0], args: command.slice(1) })
    : new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
const client = new Client({ name: 'forage-test-sdk-v1', version: '1.0.0' });

await client.connect(transport);
const { tools } = await client.listTools();
const result = await client.callTool({ name: 'forage_status', arguments: {} });
console.log(
    JSON.stringify({
        server: client.getServerVersion(),
        tools: tools.map(tool => tool.name),
        result
    })
);
await client.close();
