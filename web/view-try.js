/* Every tool with a form made from its schema, what it does while it runs, its answer, and the same call for a shell and a client. */

import { get, stream } from "./api.js";
import { count, duration, foreign, foreignLink, h, moment, printable, put, replace } from "./dom.js";
import { badge, button, card, codeBlock, disclosure, empty, field, markdown, problem, select, tabs } from "./widgets.js";

const GROUPS = { web: "Web", answers: "Answers", research: "Research", memory: "Memory", server: "Server" };
const LONG = 400; // a text that may be longer gets several lines
const MOST_ITEMS = 200; // of a list in an answer
const MOST_DEPTH = 6;

/* ---- the form ---- */

/* The type of a parameter; of several, the first. */
function typeOf(schema) {
  const first = schema.anyOf?.[0] || schema;
  return first.enum || schema.enum ? "enum" : first.type || "string";
}

function exampleOf(schema) {
  const [example] = schema.examples || [];
  if (example === undefined) return "";
  if (Array.isArray(example)) return example.join("\n");
  return typeof example === "object" ? JSON.stringify(example) : String(example);
}

function lines(text) {
  return text.split("\n").map((line) => line.trim()).filter(Boolean);
}

function json(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text; // the server says what is wrong with it
  }
}

/* How each type is asked for: the control, and its value; undefined: left out. */
const KINDS = {
  enum: (schema) => {
    const node = select([["", schema.default === undefined ? "–" : `${schema.default} (usual)`], ...(schema.enum || schema.anyOf[0].enum).map((one) => [String(one), String(one)])], "");
    return { node, value: () => node.value || undefined };
  },
  boolean: (schema) => {
    const node = select([["", schema.default === undefined ? "–" : `${schema.default ? "yes" : "no"} (usual)`], ["true", "yes"], ["false", "no"]], "");
    return { node, value: () => (node.value ? node.value === "true" : undefined) };
  },
  integer: (schema) => {
    const node = h("input", { type: "number", min: schema.minimum, max: schema.maximum, step: "1", placeholder: schema.default ?? exampleOf(schema) });
    return { node, value: () => (node.value === "" ? undefined : Number(node.value)) };
  },
  number: (schema) => {
    const node = h("input", { type: "number", min: schema.minimum, max: schema.maximum, step: "any", placeholder: schema.default ?? exampleOf(schema) });
    return { node, value: () => (node.value === "" ? undefined : Number(node.value)) };
  },
  array: (schema) => {
    const plain = ((schema.anyOf?.[0] || schema).items?.type || "string") === "string";
    const node = h("textarea", { rows: "2", placeholder: plain ? exampleOf(schema) : JSON.stringify(schema.examples?.[0] ?? []) });
    return { node, note: plain ? "One on each line." : "As JSON.", value: () => (!node.value.trim() ? undefined : plain ? lines(node.value) : json(node.value)) };
  },
  object: (schema) => {
    const node = h("textarea", { rows: "2", class: "mono", placeholder: exampleOf(schema) });
    return { node, note: "As JSON.", value: () => (node.value.trim() ? json(node.value) : undefined) };
  },
  string: (schema) => {
    // An address or a key may be long, and is one word all the same.
    const long = (schema.maxLength || 0) > LONG && /\s/.test(exampleOf(schema));
    const node = long ? h("textarea", { rows: "2", placeholder: exampleOf(schema) }) : h("input", { type: "text", placeholder: exampleOf(schema) });
    return { node, value: () => node.value || undefined };
  },
};

/* The form of a tool: what is needed and what lists of tools name first, the rest behind a summary. */
function formOf(tool, changed) {
  const schema = tool.inputSchema;
  const needed = new Set(schema.required || []);
  const made = Object.entries(schema.properties || {}).map(([name, one]) => {
    const kind = (KINDS[typeOf(one)] || KINDS.string)(one);
    kind.node.addEventListener("input", changed);
    kind.node.addEventListener("change", changed);
    kind.node.required = needed.has(name);
    kind.node.dataset.name = name;
    return { name, kind, listed: one["x-listed"] !== false, node: field([name, needed.has(name) ? h("span", { class: "needed" }, " needed") : null], kind.node, { note: [one.description, kind.note].filter(Boolean).join(" "), className: kind.node.tagName === "TEXTAREA" ? "wide" : "" }) };
  });
  const first = made.filter((one) => needed.has(one.name) || one.listed);
  const shown = first.slice(0, Math.max(needed.size, 4));
  const rest = made.filter((one) => !shown.includes(one));
  const more = h("div", { class: "try-fields" }, rest.map((one) => one.node));
  return {
    node: [h("div", { class: "try-fields" }, shown.map((one) => one.node)), rest.length ? h("details", null, h("summary", null, `${rest.length} more parameters`), more) : null],
    values: () => Object.fromEntries(made.map((one) => [one.name, one.kind.value()]).filter(([, value]) => value !== undefined)),
    fill: (values) => {
      for (const one of made) {
        const value = values[one.name];
        if (value === undefined) continue;
        one.kind.node.value = Array.isArray(value) ? value.join("\n") : typeof value === "object" ? JSON.stringify(value) : String(value);
        one.node.closest("details")?.setAttribute("open", "");
      }
    },
    first: () => made[0]?.kind.node,
    ready: () => made.every((one) => one.kind.node.reportValidity()),
  };
}

/* ---- the same call elsewhere ---- */

function quoted(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

const FORMS = {
  curl: (tool, values, session) => `curl -s ${location.origin}/api/v1/tools/${tool.name} \\\n  -H 'Content-Type: application/json' \\\n${session.tokens ? "  -H \"Authorization: Bearer $FORAGE_TOKEN\" \\\n" : ""}  -d ${quoted(JSON.stringify(values))}`,
  mcp: (tool, values) => JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool.name, arguments: values } }, null, 2),
  command: (tool, values) => ["forage", "call", tool.name, ...Object.entries(values).map(([name, value]) => (typeof value === "string" ? `${name}=${quoted(value)}` : `${name}:=${quoted(JSON.stringify(value))}`))].join(" "),
};

/* ---- the answer ---- */

function isMoment(text) {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text);
}

function scalar(value) {
  if (typeof value === "number") return count(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (value === null) return "–";
  if (/^https?:\/\//.test(value)) return foreignLink(value);
  return isMoment(value) ? h("time", { datetime: value }, moment(value)) : foreign(value, 2000);
}

const FACT = 40; // letters of a value that stands beside others
const LINE = 300; // letters of one that has a line of its own

function isScalar(value) {
  return value === null || typeof value !== "object";
}

function fits(value, most) {
  return isScalar(value) && (typeof value !== "string" || (value.length <= most && !value.includes("\n")));
}

/* Short texts of a list in one line. */
function isWords(value) {
  return Array.isArray(value) && value.length > 0 && value.length <= 20 && value.every((one) => fits(one, FACT));
}

/* What a thing is called, and where it is. */
const NAMES = ["title", "summary", "name", "key"];
const PLACES = ["url", "link"];

/* Any answer as a person reads it: what a thing is called first, short values beside each other, long texts as Markdown, lists one below
   the other. */
function readable(value, depth = 0) {
  if (isScalar(value)) return fits(value, LINE) ? h("p", null, scalar(value)) : markdown(value);
  if (depth > MOST_DEPTH) return h("pre", { tabindex: "0" }, printable(JSON.stringify(value)));
  return Array.isArray(value) ? readableList(value, depth) : readableThing(value, depth);
}

function readableList(list, depth) {
  if (!list.length) return h("p", { class: "muted" }, "none");
  if (isWords(list)) return h("p", { class: "chips" }, list.map((one) => h("span", { class: "tag" }, scalar(one))));
  const shown = list.slice(0, MOST_ITEMS);
  return [h("ol", { class: "answer-list" }, shown.map((one) => h("li", null, readable(one, depth + 1)))), list.length > shown.length ? h("p", { class: "muted" }, `and ${count(list.length - shown.length)} more`) : null];
}

function readableThing(thing, depth) {
  const name = depth ? NAMES.find((one) => typeof thing[one] === "string" && fits(thing[one], LINE)) : undefined;
  const place = name ? PLACES.find((one) => typeof thing[one] === "string") : undefined;
  const rest = Object.entries(thing).filter(([key, one]) => one !== undefined && key !== name && key !== place && !(depth === 0 && key === "success"));
  const beside = rest.filter(([, one]) => fits(one, FACT) || isWords(one));
  const lines = rest.filter(([, one]) => !fits(one, FACT) && fits(one, LINE));
  const long = rest.filter(([, one]) => !fits(one, LINE) && !isWords(one));
  return [
    name ? h("p", { class: "answer-head" }, place ? foreignLink(thing[place], thing[name]) : foreign(thing[name])) : null,
    lines.map(([key, one]) => h("p", null, h("span", { class: "answer-line" }, foreign(key, FACT), ": "), scalar(one))),
    beside.length ? h("dl", { class: "facts" }, beside.map(([key, one]) => h("div", null, h("dt", null, foreign(key, FACT)), h("dd", null, isWords(one) ? one.map((word, at) => [at ? ", " : null, scalar(word)]) : scalar(one))))) : null,
    long.map(([key, one]) => (depth === 0 && key === "data" ? readable(one, depth) : h("section", { class: "answer-part" }, h("h4", null, foreign(key, FACT)), readable(one, depth + 1)))),
  ];
}

/* ---- the view ---- */

export async function show(main, context) {
  const { tools } = await get("/api/v1/tools");
  const names = tools.map((tool) => tool.name);
  const query = context.params.query;
  let control = null;
  let current = tools.find((tool) => tool.name === (context.params.path[0] || query.tool)) || tools[0];

  const chooser = h("nav", { class: "try-tools", "aria-label": "Tools" });
  const place = h("div", { class: "view" });
  put(main, h("div", { class: "try" }, chooser, place));

  function drawChooser() {
    const groups = [...new Set(tools.map((tool) => tool.group))];
    replace(chooser, groups.map((group) => h(
      "div",
      { class: "try-group" },
      h("h2", null, GROUPS[group] || group),
      tools.filter((tool) => tool.group === group).map((tool) => h("button", { type: "button", class: "try-tool", "aria-current": tool === current ? "true" : null, onclick: () => choose(tool) }, h("span", null, tool.name), tool.ready ? null : [h("span", { class: "off", title: "Not set up", "aria-hidden": "true" }), h("span", { class: "visually-hidden" }, " (not set up)")])),
    )));
    chooser.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }

  function choose(tool, values = {}) {
    control?.abort();
    current = tool;
    context.remember({}, `try/${tool.name}`);
    drawChooser();
    drawTool(values);
  }

  function drawTool(values) {
    const tool = current;
    const form = formOf(tool, () => drawForms());
    const forms = Object.fromEntries(Object.keys(FORMS).map((name) => [name, h("div")]));
    const progress = h("ol", { class: "try-progress", "aria-live": "polite", "aria-label": "Progress" });
    const answer = h("div", { class: "try-answer" }, empty("No answer yet.", "Run the tool to see one."));
    const state = h("span", { class: "muted small" });
    const go = button("Run", () => run(), { class: "primary" });
    const cancel = button("Cancel", () => control?.abort(), { disabled: true });
    let clock = 0;
    form.fill(values);

    function drawForms() {
      for (const [name, node] of Object.entries(forms)) replace(node, codeBlock(FORMS[name](tool, form.values(), context.session)));
    }

    function drawAnswer(body) {
      replace(answer, tabs({ label: "Answer", items: [
        { id: "read", title: "Markdown", show: (panel) => put(panel, h("div", { class: "try-read" }, body.success === false ? problem(body.error) : readable(body))) },
        { id: "json", title: "JSON", show: (panel) => put(panel, codeBlock(JSON.stringify(body, null, 2))) },
      ] }));
    }

    async function run() {
      if (!form.ready()) return;
      const body = form.values();
      if (tool.annotations?.destructiveHint && !(await context.confirm({ title: `Run ${tool.name}?`, text: h("p", null, "It changes or deletes what is there."), action: "Run", danger: true }))) return;
      const mine = (control = new AbortController());
      const began = performance.now();
      go.disabled = true;
      cancel.disabled = false;
      replace(progress);
      replace(answer, h("p", { class: "muted", role: "status" }, "It runs."));
      const tick = () => { state.textContent = duration(performance.now() - began); };
      clock = setInterval(tick, 100);
      let ended = null;
      try {
        await stream(`/api/v1/tools/${tool.name}`, {
          progress: (one) => put(progress, h("li", null, h("span", { class: "muted small" }, duration(performance.now() - began)), " ", foreign(one.message, 500), one.total ? ` (${count(one.progress)} of ${count(one.total)})` : null)),
          result: (one) => { ended = one; },
        }, { method: "POST", body, signal: mine.signal, as: context.caller });
        if (!ended) throw new Error("The server ended without an answer.");
        drawAnswer(ended.body);
        context.announce(ended.status < 400 ? "The answer is there." : "The call failed.");
      } catch (error) {
        if (error.name === "AbortError") replace(answer, empty("Cancelled.", "The call was ended on the server too."));
        else if (error.code) drawAnswer({ success: false, error: { code: error.code, message: error.message, request_id: error.requestId } });
        else replace(answer, problem(error));
      } finally {
        clearInterval(clock);
        const outcome = ended ? (ended.status < 400 ? badge(ended.status === 202 ? "goes on as a job" : "done", "good") : badge(String(ended.status), "bad")) : null;
        replace(state, outcome, " ", duration(performance.now() - began), ended?.body?.job ? [" ", h("a", { href: `#/research/${encodeURIComponent(ended.body.job)}` }, "See the job")] : null);
        go.disabled = false;
        cancel.disabled = true;
      }
    }

    const [first, ...rest] = tool.description.split(/(?<=\.) /);
    replace(
      place,
      card(tool.title || tool.name, { note: h("code", null, tool.name) },
        h("p", null, first),
        rest.length ? disclosure("More about it", () => h("p", { class: "muted" }, rest.join(" "))) : null,
        tool.ready ? null : h("p", { class: "note warn" }, "Not set up: ", foreign(tool.lacks, 300)),
        h("form", { class: "try-form", onsubmit: (event) => { event.preventDefault(); run(); }, onkeydown: (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && run() }, form.node, h("div", { class: "tools" }, go, cancel, state, h("span", { class: "muted small hint-keys" }, h("kbd", null, "Ctrl"), " ", h("kbd", null, "Enter"), " runs")))),
      card("Answer", {}, progress, answer),
      card("The same call elsewhere", {}, tabs({ label: "Copy as", items: [
        { id: "curl", title: "curl", show: (panel) => put(panel, forms.curl) },
        { id: "mcp", title: "MCP call", show: (panel) => put(panel, forms.mcp) },
        { id: "command", title: "Command line", show: (panel) => put(panel, forms.command) },
      ] })),
    );
    drawForms();
  }

  let given = {};
  try {
    given = query.arguments ? JSON.parse(query.arguments) : {};
  } catch {
    context.toast("The address holds arguments that are not JSON.", "bad");
  }
  if (query.tool && !names.includes(query.tool)) context.toast(`There is no tool ${query.tool}.`, "bad");
  choose(current, given);
  return () => control?.abort();
}
