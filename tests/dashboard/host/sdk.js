/* The same with the protocol's own packages: its client before the server, its bridge before the page. */

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

const settings = JSON.parse(document.getElementById("settings").textContent);
const HOST = { name: "host", version: "1.0.0" };

window.said = { methods: [], calls: [], sizes: [] };

async function start() {
  const client = new Client(HOST, { capabilities: { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } } } });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${settings.server}/mcp`)));
  const { tools } = await client.listTools();
  const opener = tools.find((tool) => tool._meta?.ui?.resourceUri);
  const { contents: [content] } = await client.readResource({ uri: opener._meta.ui.resourceUri });
  const frame = document.querySelector("iframe");
  const bridge = new AppBridge(client, HOST, { serverTools: {}, openLinks: {}, logging: {} }, { hostContext: { theme: settings.theme, displayMode: "inline" } });
  bridge.onsizechange = (size) => {
    window.said.sizes.push(size);
    frame.style.height = `${size.height}px`;
  };
  bridge.oninitialized = async () => {
    window.said.methods.push("ui/notifications/initialized");
    await bridge.sendToolInput({ arguments: settings.arguments });
    await bridge.sendToolResult(await client.callTool({ name: opener.name, arguments: settings.arguments }));
    window.ready = true;
  };
  bridge.onerror = (error) => { window.broken = String(error.stack || error); };
  frame.sandbox = "allow-scripts";
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  frame.srcdoc = content.text;
  window.tearDown = () => bridge.teardownResource({});
}

start().catch((error) => { window.broken = String(error.stack || error); });
