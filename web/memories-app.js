/* Memories inside a client of MCP (MCP Apps, 2026-01-26): the store is the client, which passes calls of tools on to the server.
   JSON-RPC over postMessage with the window around this one. */

import { h, replace } from "./dom.js";
import { browser } from "./memories.js";
import { button, confirm, problem, toast } from "./widgets.js";

const VERSION = "2026-01-26";
const MISSING = -32601; // JSON-RPC: there is no such method
/* What a client may say of its own looks, and which of ours that is. */
const LOOKS = {
  "--color-background-primary": ["--bg", "--panel", "--raised"],
  "--color-background-secondary": ["--sunk"],
  "--color-text-primary": ["--ink"],
  "--color-text-secondary": ["--soft"],
  "--color-border-primary": ["--line"],
  "--font-mono": ["--mono"],
};

/* ---- the client ---- */

const waiting = new Map();
const handlers = {};
let last = 0;

/* Nobody knows the origin of a client's window beforehand; what is sent tells nothing that the client does not know. */
function send(message) {
  window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
}

function ask(method, params) {
  last += 1;
  const id = last;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    send({ id, method, params });
  });
}

function answer(message) {
  const waits = waiting.get(message.id);
  waiting.delete(message.id);
  if (message.error) waits?.reject(Object.assign(new Error(message.error.message || "The client refused."), { code: message.error.code }));
  else waits?.resolve(message.result);
}

window.addEventListener("message", (event) => {
  const message = event.data;
  if (event.source !== window.parent || message?.jsonrpc !== "2.0") return;
  if (!message.method) answer(message);
  else if (message.id === undefined) handlers[message.method]?.(message.params || {});
  else if (handlers[message.method]) send({ id: message.id, result: handlers[message.method](message.params || {}) || {} });
  else send({ id: message.id, error: { code: MISSING, message: `no method ${message.method}` } });
});

/* ---- the store ---- */

/* Results are structured, or the same as text for clients that want it so. */
function bodyOf(result) {
  if (result.structuredContent) return result.structuredContent;
  const text = result.content?.find((block) => block.type === "text")?.text || "";
  try {
    return JSON.parse(text);
  } catch {
    return { success: false, error: { message: text || "The client gave no answer." } };
  }
}

const store = {
  call: async (name, args) => {
    const body = bodyOf(await ask("tools/call", { name, arguments: args }));
    if (!body.success) throw Object.assign(new Error(body.error?.message || "That did not work."), { code: body.error?.code });
    return body.data;
  },
};

/* ---- looks ---- */

function nightRules() {
  return [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]).filter((rule) => rule instanceof CSSMediaRule && (rule.night ||= rule.conditionText.includes("prefers-color-scheme")));
}

/* The client's theme counts, not that of the machine. */
function wear({ theme, styles }) {
  const root = document.documentElement;
  if (theme) {
    root.style.colorScheme = theme;
    for (const rule of nightRules()) rule.media.mediaText = theme === "dark" ? "all" : "not all";
  }
  for (const [theirs, ours] of Object.entries(LOOKS)) {
    const value = styles?.variables?.[theirs];
    if (value) for (const name of ours) root.style.setProperty(name, value);
  }
  if (styles?.variables?.["--font-sans"]) root.style.fontFamily = styles.variables["--font-sans"];
}

/* ---- the page ---- */

const main = h("main", { class: "view" });
const announcer = h("div", { class: "visually-hidden", role: "status", "aria-live": "polite" });
const larger = h("div", { class: "larger" });
let end = null;

function show(args = {}) {
  const { tags } = args;
  const list = Array.isArray(tags) ? tags : String(tags || "").split(",").map((tag) => tag.trim()).filter(Boolean);
  end?.();
  replace(main);
  end = browser(main, store, { params: { query: { ...args, tags: list.length ? JSON.stringify(list) : "" } }, confirm, toast, announce: (words) => { announcer.textContent = words; } });
}

/* A client gives room by what the page says of its height. */
function tellSize() {
  const height = Math.ceil(main.getBoundingClientRect().bottom + window.scrollY) + 16;
  if (height !== tellSize.told) send({ method: "ui/notifications/size-changed", params: { width: document.documentElement.clientWidth, height } });
  tellSize.told = height;
}

function offerLarge({ availableDisplayModes, displayMode }) {
  const can = availableDisplayModes?.includes("fullscreen") && displayMode !== "fullscreen";
  replace(larger, can ? button("Open large", () => ask("ui/request-display-mode", { mode: "fullscreen" }).catch((error) => toast(error.message, "bad")), { class: "quiet small" }) : null);
}

let host = {};
function hear(context) {
  host = { ...host, ...context };
  wear(context);
  offerLarge(host);
}

handlers.ping = () => ({});
handlers["ui/resource-teardown"] = () => end?.();
handlers["ui/notifications/host-context-changed"] = hear;
handlers["ui/notifications/tool-input"] = (params) => {
  if (Object.keys(params.arguments || {}).length) show(params.arguments);
};

async function start() {
  document.body.append(larger, main, announcer);
  new ResizeObserver(tellSize).observe(main);
  try {
    const { hostContext = {} } = await ask("ui/initialize", { protocolVersion: VERSION, appInfo: { name: "forage-memories", version: "1.0.0" }, appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] } });
    hear(hostContext);
    show();
    send({ method: "ui/notifications/initialized", params: {} });
  } catch (error) {
    replace(main, problem(error));
  }
}

start();
