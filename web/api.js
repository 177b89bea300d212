/* Speaks with the server: REST, and its streams of events. What goes wrong is an ApiError, whose message says what to do. */

const PAGE_HEADER = "X-Forage-Page";
const CALLER_HEADER = "X-Forage-Caller";

class ApiError extends Error {
  constructor(status, error) {
    super(error.message);
    this.status = status;
    this.code = error.code;
    this.details = error.details;
    this.requestId = error.request_id;
    this.retryAfter = error.retry_after_s;
  }
}

const UNREACHABLE = { code: "UNREACHABLE", message: "The server does not answer. Start it with “forage serve”, then try again." };
const UNREADABLE = { code: "UNREADABLE", message: "The server's answer is not what this page expects. Reload the page: the program may be a newer one." };

let page = { caller: null, token: "" };
let signedOut = () => {};

/* Asks who sits here; the answer of GET /api/v1/session. */
export async function openSession() {
  return noteSession(await get("/api/v1/session"));
}

export async function signIn(token) {
  return noteSession(await post("/api/v1/session", { token }));
}

export async function signOut() {
  return noteSession(await del("/api/v1/session"));
}

/* Calls back when the server no longer knows who sits here. */
export function onSignedOut(call) {
  signedOut = call;
}

function noteSession(session) {
  page = { caller: session.caller || null, token: session.page_token || "" };
  return session;
}

/* A path with its parameters; empty ones are left out. */
export function address(path, query) {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(query || {})) {
    if (value !== "" && value !== null && value !== undefined && value !== false) words.set(name, value);
  }
  const text = words.toString();
  return text ? `${path}?${text}` : path;
}

function headersOf(method, body, { as, accept, type }) {
  const headers = { Accept: accept || "application/json" };
  if (method !== "GET") headers[PAGE_HEADER] = page.token;
  if (body !== undefined) headers["Content-Type"] = type || "application/json";
  // An operator may look at somebody else's; "*" is everybody, whose memories and research nobody sees at once.
  if (as && as !== "*" && as !== page.caller) headers[CALLER_HEADER] = as;
  return headers;
}

async function failureOf(response) {
  const body = await response.json().catch(() => null);
  return new ApiError(response.status, body?.error || { code: "HTTP", message: `The server answered ${response.status}.` });
}

async function send(method, path, body, options) {
  const raw = body === undefined || typeof body === "string" || body instanceof Blob;
  try {
    return await fetch(address(path, options.query), {
      method,
      headers: headersOf(method, body, options),
      body: raw ? body : JSON.stringify(body),
      signal: options.signal,
      cache: "no-store",
      redirect: "error",
    });
  } catch (error) {
    throw error.name === "AbortError" ? error : new ApiError(0, UNREACHABLE);
  }
}

/* Sends a request and gives the response if it is a good one. A server that was started anew wants another token of the page:
   that is asked for once. */
async function request(method, path, body, options = {}) {
  let response = await send(method, path, body, options);
  if (response.status === 403 && method !== "GET") {
    const failure = await failureOf(response);
    if (!failure.message.includes(PAGE_HEADER)) throw failure;
    await openSession();
    response = await send(method, path, body, options);
  }
  if (response.ok) return response;
  const failure = await failureOf(response);
  if (failure.status === 401 && path !== "/api/v1/session") signedOut();
  throw failure;
}

async function readJson(response) {
  const text = await response.text();
  try {
    return text ? JSON.parse(text) : null;
  } catch {
    throw new ApiError(response.status, UNREADABLE);
  }
}

/* options: query (an object), as (another caller), signal, accept, and of bodies that are no JSON their type. */
export const get = async (path, options) => readJson(await request("GET", path, undefined, options));
export const post = async (path, body, options) => readJson(await request("POST", path, body ?? {}, options));
export const put = async (path, body, options) => readJson(await request("PUT", path, body ?? {}, options));
export const del = async (path, options) => readJson(await request("DELETE", path, undefined, options));
export const getText = async (path, options) => (await request("GET", path, undefined, options)).text();

/* ---- streams ---- */

function dispatch(block, handlers) {
  let name = "message";
  const data = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) name = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  if (data.length && handlers[name]) handlers[name](JSON.parse(data.join("\n")));
}

/* Reads server-sent events until the stream ends; handlers are by the name of the event. */
export async function stream(path, handlers, { method = "GET", body, ...options } = {}) {
  const response = await request(method, path, body, { ...options, accept: "text/event-stream" });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  handlers.open?.();
  // Pieces are joined once an event is whole: one of several megabytes comes in hundreds of them.
  let pieces = [];
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    if (!value.includes("\n")) {
      pieces.push(value);
      continue;
    }
    const blocks = (pieces.join("") + value).split("\n\n");
    pieces = [blocks.pop()];
    for (const block of blocks) dispatch(block, handlers);
  }
}

/* ---- the one stream of what changes ---- */

const WAIT_MS = [1000, 2000, 5000, 10000, 30000];

/* All views share it. It is open while somebody listens and the page is to be seen. `overview`, `jobs` and `state` come as the
   server sends them; `live` is told "live", "waiting" or "paused". */
class Events {
  listeners = new Map();
  latest = new Map();
  query = {};
  control = null;
  timer = 0;
  failed = 0;

  constructor() {
    document.addEventListener("visibilitychange", () => this.settle());
  }

  /* Whose numbers, and over what span. */
  choose(query) {
    const same = JSON.stringify(query) === JSON.stringify(this.query);
    this.query = query;
    if (same) return;
    this.close();
    this.latest.delete("overview");
    this.settle();
  }

  /* Listens; gives a function that ends it. What came last comes at once. */
  on(name, handler) {
    const set = this.listeners.get(name) || new Set();
    this.listeners.set(name, set.add(handler));
    if (this.latest.has(name)) handler(this.latest.get(name));
    this.settle();
    return () => {
      set.delete(handler);
      this.settle();
    };
  }

  tell(name, data) {
    this.latest.set(name, data);
    for (const handler of [...(this.listeners.get(name) || [])]) handler(data);
  }

  /* Opens or closes it, as those who listen and the page's state ask. */
  settle() {
    const wanted = [...this.listeners].some(([name, set]) => name !== "live" && set.size);
    if (wanted && !document.hidden) {
      if (!this.control && !this.timer) this.open();
    } else {
      this.close();
      if (!wanted) this.latest.clear();
      else this.tell("live", "paused");
    }
  }

  close() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.control?.abort();
    this.control = null;
  }

  async open() {
    const control = (this.control = new AbortController());
    const handlers = { open: () => { this.failed = 0; this.tell("live", "live"); } };
    for (const name of ["overview", "jobs", "state"]) handlers[name] = (data) => this.tell(name, data);
    try {
      await stream("/api/v1/events", handlers, { query: this.query, signal: control.signal });
    } catch (error) {
      if (error.status === 401) return;
    }
    if (this.control !== control) return; // somebody closed it
    this.control = null;
    this.tell("live", "waiting");
    this.timer = setTimeout(() => {
      this.timer = 0;
      this.settle();
    }, WAIT_MS[Math.min(this.failed++, WAIT_MS.length - 1)]);
  }
}

export const events = new Events();
