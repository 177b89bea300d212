// The TypeScript SDK v2 as a client: connects, lists the tools, calls forage_status, and prints
// what it saw.
//   sdk_v2.mjs MODE '{"command": [...]}' or sdk_v2.mjs MODE '{"url": "...", "headers": {...}}'
// MODE is legacy, auto, or the one version that is accepted.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const mode = process.argv[2];
const { command, url, headers } = JSON.parse(process.argv[3]);
const transport = command
    ? new StdioClientTransport({ command: command[0], args: command.slice(1) })
    : new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
const client = new Client(
    { name: 'forage-test-sdk-v2', version: '1.0.0' },
    { versionNegotiation: { mode: ['legacy', 'auto'].includes(mode) ? mode : { pin: mode } } }
);

await client.connect(transport);
const { tools } = await client.listTools();
const result = await client.callTool({ name: 'forage_status', arguments: {} });
console.log(
    JSON.stringify({
        server: client.getServerVersion(),
        version: client.getNegotiatedProtocolVersion(),
        tools: tools.map(tool => tool.name),
        result
    })
);
await client.close();
