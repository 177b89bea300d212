/* What was asked and what came of it, where FORAGE_HISTORY keeps it. */

import { get, stream } from "./api.js";
import { answer, questionOf } from "./answers.js";
import { count, duration, foreign, foreignBlock, h, money, nameOf, put, replace, timeOf } from "./dom.js";
import { badge, button, card, codeBlock, disclosure, download, empty, facts, field, loader, pager, problem, select, table } from "./widgets.js";

const PAGE = 50;
const MOST_EXPORTED = 10000;
const EXPORT_PAGE = 1000;

/* ---- the list ---- */

const outcome = (call) => (call.error ? badge(call.error, "bad") : badge("ok", "good"));

function link(call) {
  return h("a", { href: `#/searches/${call.id}`, class: "question" }, foreign(questionOf(call.arguments), 160));
}

const COLUMNS = [
  { label: "When", cell: (r) => timeOf(r.at) },
  { label: "Question", cell: link },
  { label: "Tool", cell: (r) => nameOf(r.tool) },
  { label: "Caller", cell: (r) => nameOf(r.caller) },
  { label: "Outcome", cell: outcome },
  { label: "Took", numeric: true, cell: (r) => duration(r.ms) },
  { label: "Cost", numeric: true, cell: (r) => money(r.usd) },
];

/* Days are those of the reader; the server counts in UTC. */
function moments({ from, until }) {
  const utc = (day, add) => {
    const date = new Date(`${day}T00:00`);
    date.setDate(date.getDate() + add);
    return `${date.toISOString().slice(0, 19)}Z`;
  };
  return { from: from && utc(from, 0), until: until && utc(until, 1) };
}

function off() {
  return card("History is off", { className: "hint" },
    h("p", null, "forage keeps what was asked only where it is told to. Switch it on, and start the server anew:"),
    codeBlock("echo FORAGE_HISTORY=1 >> ~/.config/forage/forage.env\n"),
    h("p", { class: "small muted" }, "It then keeps questions and answers in plain text, in the data folder or the database, for each caller apart."));
}

/* ---- taking it along ---- */

/* A spreadsheet takes a cell that begins with one of these for a formula. */
function cell(value) {
  const text = String(value ?? "");
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function toCsv(calls) {
  const names = ["id", "at", "caller", "tool", "question", "arguments", "error", "ms", "input_tokens", "output_tokens", "usd"];
  const row = (call) => names.map((name) => (name === "question" ? questionOf(call.arguments) : name === "arguments" ? JSON.stringify(call.arguments) : call[name]));
  return [names, ...calls.map(row)].map((line) => line.map(cell).join(",")).join("\r\n") + "\r\n";
}

async function everything(query) {
  const calls = [];
  for (let before; calls.length < MOST_EXPORTED; ) {
    const page = await get("/api/v1/history", { query: { ...query, limit: EXPORT_PAGE, before } });
    calls.push(...page.calls);
    before = page.next;
    if (!before) break;
  }
  return calls.slice(0, MOST_EXPORTED);
}

function showList(main, context) {
  const filter = { text: "", tool: "", from: "", until: "", ...context.params.query };
  const trail = [];
  const place = h("div");
  const query = () => ({ text: filter.text, tool: filter.tool, ...moments(filter), caller: context.caller });
  const load = loader(place, async () => {
    const page = await get("/api/v1/history", { query: { ...query(), limit: PAGE, before: trail.at(-1) } });
    const go = (change) => () => { change(); load.run(); };
    if (!page.calls.length && !trail.length) {
      return Object.values(filter).some(Boolean) ? empty("Nothing fits", "Try other words, or a longer time.") : empty("Nothing was asked yet", "Questions appear here once a client asks them.");
    }
    context.announce(`${page.calls.length} searches`);
    return [
      table({ caption: "What was asked, newest first", columns: COLUMNS, rows: page.calls }).node,
      pager({ newer: trail.length ? go(() => trail.pop()) : null, older: page.next ? go(() => trail.push(page.next)) : null, words: `page ${trail.length + 1}` }),
    ];
  }, 8);
  const change = (name, value) => {
    filter[name] = value;
    trail.length = 0;
    context.remember(filter);
    load.run();
  };
  let typing = 0;
  const text = h("input", { type: "search", value: filter.text, oninput: () => {
    clearTimeout(typing);
    typing = setTimeout(() => change("text", text.value.trim()), 300);
  } });
  const tool = select([["", "Any"], ...(filter.tool ? [[filter.tool, filter.tool]] : [])], filter.tool, (value) => change("tool", value));
  const day = (name) => h("input", { type: "date", value: filter[name], onchange: (event) => change(name, event.target.value) });
  get("/api/v1/tools").then(({ tools }) => {
    replace(tool, h("option", { value: "" }, "Any"), tools.map((one) => h("option", { value: one.name }, one.name)));
    tool.value = filter.tool;
  }).catch((error) => context.toast(error.message, "bad"));
  const save = (kind, write, type) => async () => {
    try {
      const calls = await everything(query());
      download(`forage-history.${kind}`, write(calls), type);
      context.toast(`${count(calls.length)} searches exported${calls.length === MOST_EXPORTED ? ": the newest. Narrow the time for older ones" : ""}.`);
    } catch (error) {
      context.toast(error.message, "bad");
    }
  };
  put(
    main,
    context.session.history ? null : off(),
    card("What was asked", {
      tools: [
        button("Export CSV", save("csv", toCsv, "text/csv"), { class: "small" }),
        button("Export JSON", save("json", (calls) => JSON.stringify(calls, null, 2), "application/json"), { class: "small" }),
      ],
    }, h("div", { class: "filters" }, field("Words", text, { className: "wide" }), field("Tool", tool), field("From", day("from")), field("Until", day("until"))), place),
  );
  load.run();
  return () => { clearTimeout(typing); load.stop(); };
}

/* ---- one of them ---- */

/* Asks the same again, in the name of whoever sits here. */
function asker(call, context) {
  const place = h("div");
  let control = null;
  const start = button("Ask it again", async () => {
    control = new AbortController();
    const doing = h("span", { role: "status" }, "Asking…");
    const log = h("p", { class: "asking" }, h("span", { class: "spinner", "aria-hidden": "true" }), doing, button("Cancel", () => control.abort(), { class: "small" }));
    start.disabled = true;
    replace(place, card("Asked again", {}, log));
    try {
      let last = null;
      await stream(`/api/v1/tools/${encodeURIComponent(call.tool)}`, {
        progress: (data) => { doing.textContent = data.message || "Asking…"; },
        result: (data) => { last = data; },
      }, { method: "POST", body: call.arguments, signal: control.signal });
      replace(place, card("Asked again", { note: "just now" }, last ? answer(last.body) : h("p", null, "The server ended before it answered.")));
      context.announce("The answer is there.");
    } catch (error) {
      replace(place, card("Asked again", {}, error.name === "AbortError" ? h("p", null, "Cancelled.") : problem(error)));
    } finally {
      start.disabled = false;
    }
  }, { class: "primary" });
  return { start: call.arguments ? start : null, place, stop: () => control?.abort() };
}

async function showOne(main, context, id) {
  const call = await get(`/api/v1/history/${encodeURIComponent(id)}`, { query: { caller: context.caller } });
  const again = asker(call, context);
  put(
    main,
    h("p", { class: "back" }, h("a", { href: "#/searches" }, "← All searches")),
    card("Question", { tools: again.start },
      foreignBlock(questionOf(call.arguments), { most: 400, className: "asked" }),
      facts([
        ["When", timeOf(call.at)],
        ["Tool", foreign(call.tool, 80)],
        ["Caller", foreign(call.caller, 80)],
        ["Outcome", outcome(call)],
        ["Took", duration(call.ms)],
        ["Cost", money(call.usd)],
        ["Tokens", `${count(call.input_tokens)} in, ${count(call.output_tokens)} out`],
      ]),
      disclosure("Arguments", () => codeBlock(JSON.stringify(call.arguments, null, 2)))),
    again.place,
    card("What came of it", {}, answer(call.result)),
  );
  return again.stop;
}

export async function show(main, context) {
  const [id] = context.params.path;
  return id ? showOne(main, context, id) : showList(main, context);
}
