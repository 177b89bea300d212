/* What works here, what the program is set to and where from, and how clients are told of it. Nothing is changed from here. */

import { get } from "./api.js";
import { ago, foreign, h, put, replace } from "./dom.js";
import { badge, button, card, codeBlock, disclosure, field, loader, select, table, tabs } from "./widgets.js";

const LOOK_ANEW_MS = 30000; // doctor starts programs: often enough for a person who repairs something

/* ---- what doctor sees ---- */

const STATES = { ok: "good", works: "good", warning: "warn", broken: "bad", missing: "", unused: "", "not set up": "" };
const MARKS = { good: "✓", warn: "!", bad: "✕", "": "·" };
const kindOf = (state) => STATES[state] ?? "warn";

function check(one) {
  const kind = kindOf(one.state);
  return h("li", { class: `check ${kind}` },
    h("span", { class: "check-mark", "aria-hidden": "true" }, MARKS[kind]),
    h("div", null, h("p", null, h("strong", null, foreign(one.title, 80)), " ", h("span", { class: "visually-hidden" }, `${one.state}: `), h("span", { class: "muted" }, foreign(one.text, 600))),
      one.mend ? disclosure(kind === "bad" ? "How to repair it" : "How to set it up", () => codeBlock(one.mend)) : null));
}

function report(doctor) {
  const bad = doctor.groups.filter((group) => kindOf(group.state) === "bad").length;
  return [
    h("p", { class: "lead" }, badge(doctor.ok ? "well" : "needs care", doctor.ok ? "good" : "bad"), " ", doctor.ok ? "What is set up works." : bad ? `${bad} of ${doctor.groups.length} parts do not work.` : "Something does not work."),
    h("div", { class: "groups" }, doctor.groups.map((group) =>
      card(foreign(group.title, 80), { level: "h3", tools: badge(group.state, kindOf(group.state)) }, h("ul", { class: "checks" }, group.checks.map(check))))),
  ];
}

function doctorTab(panel, ends) {
  const place = h("div", { class: "view" });
  const when = h("span", { class: "muted small" });
  let looked = 0;
  const load = loader(place, async () => {
    const shown = report(await get("/api/v1/doctor"));
    looked = Date.now();
    when.textContent = "seen now";
    return shown;
  }, 8);
  const timer = setInterval(() => {
    if (looked) when.textContent = `seen ${ago(looked)}`;
    if (!document.hidden && looked && Date.now() - looked > LOOK_ANEW_MS && !panel.hidden && !place.querySelector("details[open]")) load.run(true);
  }, 5000);
  ends.push(() => { clearInterval(timer); load.stop(); });
  put(panel, h("div", { class: "tools" }, button("Look again", () => load.run(true), { class: "small" }), when), place);
  load.run();
}

/* ---- clients ---- */

function clientsTab(panel, setup) {
  const place = h("div", { class: "stack" });
  const pick = select(setup.clients.map((one) => [one.id, one.title]), setup.clients[0]?.id, (id) => draw(id));
  const ways = [["http", "Over HTTP, this server"], ["stdio", "Over stdio, a program of its own"]];
  const draw = (id) => {
    const one = setup.clients.find((client) => client.id === id);
    replace(
      place,
      one?.file ? h("p", null, "Put this into ", h("code", null, foreign(one.file, 200)), ":") : null,
      ways.filter(([way]) => one?.[way]).map(([way, words]) => h("section", { class: "part" }, h("h3", null, words), codeBlock(one[way]))),
      one?.then ? h("p", { class: "muted" }, foreign(one.then.replaceAll("`", ""), 400)) : null,
    );
  };
  put(panel, h("div", { class: "filters" }, field("Client", pick)), place);
  draw(setup.clients[0]?.id);
}

/* ---- settings ---- */

function shown(one) {
  if (one.secret) return one.value === null ? h("span", { class: "muted" }, "not set") : badge("set, not shown");
  if (one.value === null || (Array.isArray(one.value) && !one.value.length)) return h("span", { class: "muted" }, "not set");
  return h("code", null, foreign(Array.isArray(one.value) ? one.value.join(", ") : String(one.value), 300));
}

function settingsTab(panel, setup) {
  const all = setup.settings.variables;
  const own = all.filter((one) => one.origin !== "default");
  const words = h("input", { type: "search", oninput: () => draw() });
  const which = select([["own", `Set here (${own.length})`], ["all", `All (${all.length})`]], own.length ? "own" : "all", () => draw());
  const made = table({
    caption: "Settings in force",
    none: "No setting fits.",
    columns: [
      { label: "Setting", value: (r) => r.name, cell: (r) => h("code", null, r.name) },
      { label: "Value", cell: shown },
      { label: "From", value: (r) => r.origin, cell: (r) => [r.origin, r.name_used && r.name_used !== r.name ? h("div", { class: "muted small" }, "as ", h("code", null, r.name_used)) : null] },
    ],
  });
  const draw = () => made.update((which.value === "own" ? own : all).filter((one) => one.name.toLowerCase().includes(words.value.trim().toLowerCase())));
  put(panel,
    h("p", { class: "muted" }, setup.settings.file ? ["Read from ", h("code", null, foreign(setup.settings.file, 300)), " and the environment."] : "Read from the environment; there is no settings file.", " Settings are changed there, never from this page."),
    h("div", { class: "filters" }, field("Show", which), field("Name", words)), made.node);
  draw();
}

/* ---- tokens ---- */

function tokensTab(panel, setup) {
  put(panel, table({
    caption: "Callers that have a token",
    none: "No tokens: whoever reaches this server on loopback may use it. FORAGE_TOKENS sets some.",
    rows: setup.callers,
    columns: [
      { label: "Caller", value: (r) => r.name, cell: (r) => foreign(r.name, 80) },
      { label: "Role", value: (r) => (r.operator ? "operator" : "caller"), cell: (r) => (r.operator ? badge("operator", "good") : "caller") },
    ],
  }).node, h("p", { class: "muted small" }, "Tokens themselves are never shown."));
}

export async function show(main, context) {
  const setup = await get("/api/v1/setup");
  const ends = [];
  put(main, h("div", { class: "card" }, tabs({
    label: "Setup",
    chosen: context.params.query.tab,
    onchoose: (tab) => context.remember(tab === "doctor" ? {} : { tab }),
    items: [
      { id: "doctor", title: "What works", show: (panel) => doctorTab(panel, ends) },
      { id: "clients", title: "Clients", show: (panel) => clientsTab(panel, setup) },
      { id: "settings", title: "Settings", show: (panel) => settingsTab(panel, setup) },
      { id: "tokens", title: "Tokens", show: (panel) => tokensTab(panel, setup) },
    ],
  })));
  return () => ends.forEach((end) => end());
}
