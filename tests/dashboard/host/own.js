/* A host of MCP Apps, written from the specification of 2026-01-26: asks the server as a client that shows pages, puts the page of a tool
   into a sandboxed frame with the default policy, and passes calls of tools on. What was said is in window.said. */

const TYPE = "text/html;profile=mcp-app";
const POLICY = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; connect-src 'none'";
const settings = JSON.parse(document.getElementById("settings").textContent);
const modern = settings.era === "modern";
const capabilities = { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: [TYPE] } } };
let session = null;
let last = 0;

window.said = { methods: [], calls: [], sizes: [] };

async function ask(method, params = {}) {
  const headers = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
  let sent = params;
  if (modern) {
    headers["MCP-Protocol-Version"] = "2026-07-28";
    headers["Mcp-Method"] = method;
    if (params.name || params.uri) headers["Mcp-Name"] = params.name || params.uri;
    sent = { ...params, _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": capabilities } };
  } else if (session) {
    headers["Mcp-Session-Id"] = session;
    headers["MCP-Protocol-Version"] = "2025-11-25";
  }
  last += 1;
  const answer = await fetch(`${settings.server}/mcp`, { method: "POST", headers, body: JSON.stringify({ jsonrpc: "2.0", id: last, method, params: sent }) });
  session = answer.headers.get("Mcp-Session-Id") || session;
  const body = await answer.json();
  if (body.error) throw new Error(body.error.message);
  return body.result;
}

/* What a host must refuse: tools that the server does not list, or that are not for pages. */
function mayCall(tools, name) {
  const tool = tools.find((one) => one.name === name);
  return tool && (tool._meta?.ui?.visibility || ["model", "app"]).includes("app");
}

async function start() {
  if (!modern) await ask("initialize", { protocolVersion: "2025-11-25", capabilities, clientInfo: { name: "host", version: "1" } });
  const { tools } = await ask("tools/list");
  const opener = tools.find((tool) => tool._meta?.ui?.resourceUri && (tool._meta.ui.visibility || ["model"]).includes("model"));
  const { contents: [content] } = await ask("resources/read", { uri: opener._meta.ui.resourceUri });
  if (content.mimeType !== TYPE) throw new Error(`a page of type ${content.mimeType}`);
  const frame = document.querySelector("iframe");

  const post = (message) => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
  const context = { theme: settings.theme, displayMode: "inline", availableDisplayModes: ["inline", "fullscreen"], containerDimensions: { maxHeight: 900 }, styles: { variables: settings.variables || {} } };
  const answers = {
    "ui/initialize": () => ({ protocolVersion: "2026-01-26", hostInfo: { name: "host", version: "1" }, hostCapabilities: { serverTools: {} }, hostContext: context }),
    "ui/request-display-mode": ({ mode }) => ({ mode }),
    "tools/call": (params) => {
      window.said.calls.push(params);
      if (!mayCall(tools, params.name)) throw new Error(`${params.name} is not for pages`);
      return ask("tools/call", params);
    },
  };
  window.addEventListener("message", async ({ source, data }) => {
    if (source !== frame.contentWindow) return;
    window.said.methods.push(data.method || "answer");
    if (data.method === "ui/notifications/size-changed") {
      window.said.sizes.push(data.params);
      frame.style.height = `${data.params.height}px`;
    } else if (data.method === "ui/notifications/initialized") {
      post({ method: "ui/notifications/tool-input", params: { arguments: settings.arguments } });
      post({ method: "ui/notifications/tool-result", params: await ask("tools/call", { name: opener.name, arguments: settings.arguments }) });
      window.ready = true;
    } else if (data.id !== undefined && data.method) {
      try {
        post({ id: data.id, result: await answers[data.method](data.params) });
      } catch (error) {
        post({ id: data.id, error: { code: -32000, message: error.message } });
      }
    }
  });
  window.tell = (method, params) => post({ method, params });
  window.tearDown = () => post({ id: 99, method: "ui/resource-teardown", params: { reason: "over" } });
  frame.sandbox = "allow-scripts";
  frame.srcdoc = content.text.replace("<head>", `<head><meta http-equiv="Content-Security-Policy" content="${POLICY}">`);
}

start().catch((error) => { window.broken = error.stack; });
