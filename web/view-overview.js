/* What calls come to, what limits leave, and what the program does at this moment. It moves with the stream of events. */

import { events, get } from "./api.js";
import { bars, timeChart } from "./charts.js";
import { bytes, count, duration, foreign, h, money, nameOf, percent, put, replace, short, timeOf } from "./dom.js";
import { badge, button, card, choice, disclosure, empty, facts, field, loader, meter, pager, select, table } from "./widgets.js";

const SPANS = [["hour", "Hour"], ["day", "Day"], ["month", "Month"]];
const SPAN_WORDS = { hour: "last hour", day: "last 24 hours", month: "last 30 days" };
const PAGE = 25;
const CALLS_ANEW_MS = 3000; // single calls are read again at most so often

const good = (sums) => Math.max(0, sums.calls - sums.failures - sums.cached);
const share = (part, whole) => (whole ? part / whole : 0);

/* ---- numbers ---- */

const TILES = [
  ["Calls", (t) => short(t.calls), (t, span) => `in the ${SPAN_WORDS[span]}`],
  ["Errors", (t) => short(t.failures), (t) => (t.calls ? `${percent(share(t.failures, t.calls), 1)} of calls` : "none")],
  ["Median time", (t) => (t.calls ? duration(t.p50_ms) : "–"), () => "half of calls are faster"],
  ["95th percentile", (t) => (t.calls ? duration(t.p95_ms) : "–"), () => "one in twenty is slower"],
  ["Cost", (t) => money(t.usd), (t) => `${short(t.input_tokens)} tokens in, ${short(t.output_tokens)} out`],
  ["Cached answers", (t) => short(t.cached), (t) => (t.calls ? `${percent(share(t.cached, t.calls), 1)} of calls` : "none")],
];

function tiles() {
  const made = TILES.map(([title]) => ({ value: h("dd", { class: "tile-value" }), note: h("dd", { class: "tile-note" }), title }));
  const node = h("dl", { class: "tiles" }, made.map(({ title, value, note }) => h("div", { class: "tile" }, h("dt", null, title), value, note)));
  const update = (overview) => {
    for (const [at, [, value, note]] of TILES.entries()) {
      made[at].value.textContent = value(overview.total);
      made[at].note.textContent = note(overview.total, overview.span);
    }
    made[1].value.classList.toggle("bad-text", overview.total.failures > 0);
  };
  return { node, update };
}

const CHARTS = [
  { label: "Calls", wide: true, words: count, axis: short, series: [
    { name: "answered", kind: "a", value: good },
    { name: "cached", kind: "b", value: (p) => p.cached },
    { name: "failed", kind: "bad", value: (p) => p.failures },
  ] },
  { label: "Time", words: duration, series: [
    { name: "median", kind: "a", shape: "line", value: (p) => (p.calls ? p.p50_ms : null) },
    { name: "95th percentile", kind: "c", shape: "line", value: (p) => (p.calls ? p.p95_ms : null) },
  ] },
  { label: "Cost", words: money, series: [{ name: "dollars", kind: "d", value: (p) => p.usd }] },
];

/* Which number the names are compared by. */
const MEASURES = {
  calls: ["Calls", (s) => s.calls, count],
  failures: ["Errors", (s) => s.failures, count],
  p95_ms: ["95 %", (s) => s.p95_ms, duration],
  usd: ["Cost", (s) => s.usd, money],
};
const NAME_COLUMNS = [
  { label: "Calls", numeric: true, value: (r) => r.sums.calls, cell: (r) => count(r.sums.calls) },
  { label: "Errors", numeric: true, value: (r) => r.sums.failures, cell: (r) => count(r.sums.failures) },
  { label: "Cached", numeric: true, value: (r) => r.sums.cached, cell: (r) => count(r.sums.cached) },
  { label: "Median", numeric: true, value: (r) => r.sums.p50_ms, cell: (r) => duration(r.sums.p50_ms) },
  { label: "95 %", numeric: true, value: (r) => r.sums.p95_ms, cell: (r) => duration(r.sums.p95_ms) },
  { label: "Cost", numeric: true, value: (r) => r.sums.usd, cell: (r) => money(r.sums.usd) },
];
const KINDS = [["tools", "By tool", "Tool"], ["providers", "By provider", "Provider"], ["callers", "By caller", "Caller"]];

function named(sums, measure) {
  const [, value] = MEASURES[measure];
  return sums
    .map((one) => ({ key: one.name, name: () => (one.name ? foreign(one.name, 80) : h("span", { class: "muted" }, "asked nobody")), value: value(one), bad: measure === "calls" ? one.failures : 0, note: measure === "calls" && one.failures ? `${count(one.failures)} failed` : "", sums: one }))
    .sort((a, b) => b.value - a.value);
}

function nameCards() {
  let measure = "calls";
  let latest = null;
  const made = KINDS.map(([key, title, head]) => ({ key, title, chart: bars({ label: title, head, words: (value) => MEASURES[measure][2](value), none: "No calls in this time." }) }));
  const chooser = choice("Compare by", Object.entries(MEASURES).map(([key, [words]]) => [key, words]), measure, (key) => {
    measure = key;
    if (latest) update(latest);
  });
  const update = (overview) => {
    latest = overview;
    for (const { key, chart } of made) chart.update(named(overview[key], measure), NAME_COLUMNS);
  };
  const node = card("Who asked whom", { tools: chooser }, h("div", { class: "columns" }, made.map(({ title, chart }) => h("div", null, h("h3", { class: "sub" }, title), chart.node))));
  return { node, update };
}

/* ---- limits and budgets ---- */

function windowWords(seconds) {
  const [size, unit] = seconds % 86400 === 0 ? [86400, "day"] : seconds % 3600 === 0 ? [3600, "hour"] : seconds % 60 === 0 ? [60, "minute"] : [1, "second"];
  const many = seconds / size;
  return many === 1 ? unit : `${many} ${unit}s`;
}

function allowances(overview) {
  const budgets = overview.budgets.map((one) =>
    h("li", null, h("strong", null, one.for_all ? "Budget of a day, all callers" : "Budget of a day"), meter(one.spent_usd, one.usd, [`${money(Math.max(0, one.usd - one.spent_usd))} of ${money(one.usd)} left, anew `, timeOf(one.resets_at)])));
  const limits = overview.limits.map((one) =>
    h("li", null, h("strong", null, one.tool === "*" ? "All tools" : foreign(one.tool, 80)), one.for_all ? badge("all callers") : null, meter(one.calls - one.left, one.calls, [`${count(one.left)} of ${count(one.calls)} calls per ${windowWords(one.window_s)} left`, one.resets_at ? [", anew ", timeOf(one.resets_at)] : null])));
  return budgets.length + limits.length
    ? h("ul", { class: "allowances" }, budgets, limits)
    : empty("No limits", "FORAGE_LIMITS and FORAGE_DAILY_BUDGET_USD set them.");
}

/* ---- what the program does ---- */

const STATES = { ready: "good", resting: "warn", failing: "bad" };
const SHOWN_STOCKS = { workers: "Workers", connections: "Connections", jobs: "Jobs" };
const LINES = { research: "Research", browser_tabs: "Browser tabs", pdfs: "PDF readers", extractors: "Page readers" };

function upstreamsTable() {
  return table({
    caption: "Providers and upstreams",
    none: "Nobody outside has been asked since the server started.",
    columns: [
      { label: "Name", value: (r) => r.name, cell: (r) => [foreign(r.name, 80), h("div", { class: "muted small" }, r.kind)] },
      { label: "State", value: (r) => r.state, cell: (r) => h("span", null, badge(r.state, STATES[r.state]), r.until ? h("div", { class: "small muted" }, "until ", timeOf(r.until)) : null) },
      { label: "Answered", value: (r) => r.answered_at || "", cell: (r) => timeOf(r.answered_at) },
      { label: "Last error", value: (r) => r.trouble || "", cell: (r) => (r.trouble ? [foreign(r.trouble, 200), h("div", { class: "muted small" }, timeOf(r.trouble_at))] : "–") },
    ],
  });
}

function stateOf(state, store) {
  const running = state.running.map((one) => h("span", { class: "badge good" }, `${one.tool} × ${one.calls}`));
  const stocks = state.stocks.filter((one) => SHOWN_STOCKS[one.name]);
  return [
    state.troubles.length ? h("ul", { class: "troubles" }, state.troubles.map((one) => h("li", null, badge(one.part, "bad"), " ", foreign(one.message, 400), h("span", { class: "muted small" }, ` for ${duration(one.seconds * 1000)}`)))) : null,
    state.waiting?.length ? h("p", { class: "bad-text" }, state.waiting.map((one) => `${count(one.calls)} calls wait for ${one.for}. `)) : null,
    h("div", { class: "running" }, h("span", { class: "muted small" }, "Running now"), running.length ? running : h("span", null, "nothing")),
    h("ul", { class: "allowances compact" },
      state.lines.map((one) => h("li", null, h("strong", null, LINES[one.name] || one.name), meter(one.inside, one.limit, `${one.inside} of ${one.limit}${one.waiting ? `, ${one.waiting} in the queue` : ""}`))),
      stocks.map((one) => h("li", { title: one.what }, h("strong", null, SHOWN_STOCKS[one.name]), meter(one.used, one.limit, `${count(one.used)} of ${count(one.limit)}${one.refused ? `, ${count(one.refused)} refused` : ""}`)))),
    facts([
      ["Records", store ? `${bytes(store.bytes)}, ${store.engine}` : null],
      ["Not yet recorded", state.unrecorded ? `${count(state.unrecorded)} calls` : null],
    ]),
  ];
}

/* What may be opened stays open while all else is drawn anew. */
function stateCard() {
  const now = h("div", { class: "now" });
  const stocks = table({
    caption: "What callers share",
    columns: [
      { label: "What", value: (r) => r.what },
      { label: "Used", numeric: true, value: (r) => r.used, cell: (r) => count(r.used) },
      { label: "Of", numeric: true, value: (r) => r.limit, cell: (r) => count(r.limit) },
      { label: "Refused", numeric: true, value: (r) => r.refused, cell: (r) => count(r.refused) },
    ],
  });
  const node = card("At work", {}, now, disclosure("Everything that callers share", () => stocks.node));
  return { node, update: (state, store) => { replace(now, stateOf(state, store)); stocks.update(state.stocks); } };
}

/* ---- single calls ---- */

const CALL_COLUMNS = [
  { label: "When", cell: (r) => timeOf(r.at) },
  { label: "Tool", cell: (r) => nameOf(r.tool) },
  { label: "Asked", cell: (r) => (r.provider ? nameOf(r.provider) : "–") },
  { label: "Caller", cell: (r) => nameOf(r.caller) },
  { label: "Outcome", cell: (r) => (r.error ? badge(r.error, "bad") : r.cached ? badge("cached") : badge("ok", "good")) },
  { label: "Took", numeric: true, cell: (r) => duration(r.ms) },
  { label: "Cost", numeric: true, cell: (r) => money(r.usd) },
];

function singleCalls(context) {
  const filter = { tool: "", provider: "", outcome: "" };
  const trail = [];
  const place = h("div");
  let read = 0;
  let timer = 0;
  const load = loader(place, async () => {
    read = Date.now();
    const answer = await get("/api/v1/calls", { query: { ...filter, limit: PAGE, before: trail.at(-1), caller: context.caller } });
    const go = (change) => () => { change(); load.run(); };
    return [
      table({ caption: "Single calls, newest first", columns: CALL_COLUMNS, rows: answer.calls, none: "No call fits." }).node,
      answer.next || trail.length
        ? pager({ newer: trail.length ? go(() => trail.pop()) : null, older: answer.next ? go(() => trail.push(answer.next)) : null, words: `page ${trail.length + 1}` })
        : null,
    ];
  }, 6);
  const tool = select([["", "Any"]], "", (value) => choose("tool", value));
  const provider = select([["", "Any"]], "", (value) => choose("provider", value));
  const outcome = select([["", "Any"], ["ok", "Answered"], ["cached", "Cached"], ["failed", "Failed"]], "", (value) => choose("outcome", value));
  const choose = (name, value) => {
    filter[name] = value;
    trail.length = 0;
    load.run();
  };
  const offer = (control, names) => {
    const kept = control.value;
    replace(control, h("option", { value: "" }, "Any"), [...new Set([...names, kept])].filter(Boolean).map((name) => h("option", { value: name }, name)));
    control.value = kept;
  };
  load.run();
  return {
    node: card("Single calls", { note: "never what was asked" }, h("div", { class: "filters" }, field("Tool", tool), field("Asked", provider), field("Outcome", outcome)), place),
    // New calls appear on the first page, while nobody reads another or is about to.
    update: (overview) => {
      offer(tool, overview.tools.map((one) => one.name));
      offer(provider, overview.providers.map((one) => one.name));
      if (!trail.length && !timer) timer = setTimeout(() => { timer = 0; if (!place.contains(document.activeElement)) load.run(true); }, Math.max(0, CALLS_ANEW_MS - (Date.now() - read)));
    },
    stop: () => { clearTimeout(timer); load.stop(); },
  };
}

/* ---- all of it ---- */

export async function show(main, context) {
  let span = SPAN_WORDS[context.params.query.span] ? context.params.query.span : "hour";
  let store = null;
  let state = null;
  const total = tiles();
  const charts = CHARTS.map((one) => ({ ...one, chart: timeChart(one) }));
  const names = nameCards();
  const left = h("div");
  const work = stateCard();
  const upstreams = upstreamsTable();
  const single = singleCalls(context);
  const hint = h("div");
  const watch = () => events.choose({ span, caller: context.caller });
  const chooser = choice("Time", SPANS, span, (key) => {
    span = key;
    context.remember(span === "hour" ? {} : { span });
    watch();
  });
  put(context.head, h("div", { class: "tools" }, chooser));

  const drawState = () => state && work.update(state, store);
  const draw = (overview) => {
    store = overview.store;
    total.update(overview);
    numbers.hidden = !overview.total.calls; // empty charts tell nothing
    for (const { chart } of charts) chart.update(overview.series, overview.step_s);
    names.update(overview);
    replace(left, allowances(overview));
    replace(hint, overview.total.calls ? null : card("Quiet here", { className: "hint" }, h("p", null, `No call came in the ${SPAN_WORDS[overview.span]}. Connect a client, and its calls appear here as they happen.`), h("div", { class: "tools" }, context.session.operator ? h("a", { href: "#/setup?tab=clients", class: "button" }, "Connect a client") : null, overview.span === "month" ? null : button("Look at 30 days", () => context.navigate("overview", { span: "month" }), { class: "quiet" }))));
    drawState();
    single.update(overview);
  };

  const numbers = h(
    "div",
    { class: "view" },
    charts.filter((one) => one.wide).map((one) => card(one.label, {}, one.chart.node)),
    h("div", { class: "columns" }, charts.filter((one) => !one.wide).map((one) => card(one.label, {}, one.chart.node))),
    names.node,
  );
  put(
    main,
    total.node,
    hint,
    numbers,
    h("div", { class: "columns" }, card("Limits and budgets", {}, left), context.session.operator ? work.node : null),
    context.session.operator ? card("Providers and upstreams", {}, upstreams.node) : null,
    single.node,
  );
  watch();
  const ends = [
    events.on("overview", draw),
    context.session.operator ? events.on("state", (data) => { state = data; upstreams.update(data.upstreams); drawState(); }) : () => {},
    single.stop,
  ];
  return () => ends.forEach((end) => end());
}
