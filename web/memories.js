/* The browser of memories: by namespace, tag and time, by searching as agents do, and one by one. It knows nothing of where memories
   are: a store has call(tool, arguments), and may have importFile(file, options) and exportAll(namespace). The dashboard's store is
   REST, that of a page inside a client the client itself. */

import { ago, bytes, count, foreign, foreignBlock, h, percent, printable, put, replace, short, timeOf } from "./dom.js";
import { badge, button, copyButton, dialog, disclosure, empty, facts, field, loader, problem, select, virtualList } from "./widgets.js";

const PAGE = 100; // memories that are asked for at once
const WINDOW = 10000; // rows of one list; older ones are behind a button
const ROW = 66; // pixels
const HITS = 20;
const TAGS = [14, 6]; // that are shown before one asks for all, and on a narrow screen
const WAIT_MS = 250; // after the last key, until a search begins
const UNITS = {
  day: { options: { month: "short", day: "numeric", timeZone: "UTC" }, next: (date) => date.setUTCDate(date.getUTCDate() + 1), digits: 10 },
  month: { options: { month: "short", year: "numeric", timeZone: "UTC" }, next: (date) => date.setUTCMonth(date.getUTCMonth() + 1), digits: 7 },
  year: { options: { year: "numeric", timeZone: "UTC" }, next: (date) => date.setUTCFullYear(date.getUTCFullYear() + 1), digits: 4 },
};

const stop = (event) => event.preventDefault();

/* Arguments without those that say nothing. */
function given(object) {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== "" && value !== null && value !== undefined && value.length !== 0));
}

/* ---- the list ---- */

/* Memories of a list, page by page as they are looked at. */
class Pages {
  constructor(load, changed) {
    Object.assign(this, { load, changed, pages: new Map(), total: 0, more: false, end: Infinity });
  }

  at(index) {
    return this.pages.get(Math.floor(index / PAGE))?.[index % PAGE] || null;
  }

  async need(number) {
    if (this.pages.has(number)) return;
    this.pages.set(number, []);
    const items = [];
    let offset = number * PAGE;
    // An answer is cut where it would be too long; the rest of the page is asked for then.
    for (let next = offset; next !== undefined && items.length < PAGE; offset = next) {
      const data = await this.load({ limit: PAGE - items.length, offset });
      items.push(...data.results);
      this.total = data.pagination.total;
      this.more = Boolean(data.pagination.total_is_lower_bound);
      next = data.pagination.next_offset;
      if (next === undefined) break;
    }
    this.pages.set(number, items);
    // Where there are more than are counted, a page that is not full says where they end.
    if (items.length < PAGE) this.end = Math.min(this.end, number * PAGE + items.length);
  }

  async range(first, last) {
    const numbers = new Set([Math.floor(first / PAGE), Math.floor(Math.max(first, last - 1) / PAGE)]);
    const missing = [...numbers].filter((number) => !this.pages.has(number));
    if (!missing.length) return;
    await Promise.all(missing.map((number) => this.need(number)));
    this.changed();
  }
}

/* ---- timeline ---- */

/* Every day, month or year from the oldest to the newest, those without memories too. */
function periodsOf({ unit, times }) {
  const counts = new Map(times.map((one) => [one.from.slice(0, 10), one.memories]));
  const periods = [];
  if (!times.length) return periods;
  const [from, until] = [new Date(times.at(-1).from), new Date(times[0].from)];
  for (; from <= until && periods.length < 400; UNITS[unit].next(from)) {
    const day = from.toISOString().slice(0, 10);
    periods.push({ key: day.slice(0, UNITS[unit].digits), words: from.toLocaleDateString(undefined, UNITS[unit].options), memories: counts.get(day) || 0 });
  }
  return periods;
}

/* A bar for each period. Choosing one shows its memories; with Shift, all up to the one chosen before. */
function timeline(overview, state, choose) {
  const periods = periodsOf(overview);
  const most = Math.max(1, ...periods.map((one) => one.memories));
  const chosen = (one) => state.from && one.key >= state.from && one.key <= state.until;
  let anchor = Math.max(0, periods.findIndex(chosen));
  const pick = (at, event) => {
    const [first, last] = event.shiftKey ? [Math.min(at, anchor), Math.max(at, anchor)] : [at, at];
    if (!event.shiftKey) anchor = at;
    const again = first === last && state.from === periods[at].key && state.until === periods[at].key;
    choose(again ? { from: "", until: "" } : { from: periods[first].key, until: periods[last].key });
  };
  const bars = periods.map((one, at) =>
    h("button", {
      type: "button",
      class: "when",
      tabindex: at === (anchor || periods.length - 1) ? "0" : "-1",
      "aria-pressed": String(Boolean(chosen(one))),
      "aria-label": `${one.words}: ${count(one.memories)} ${one.memories === 1 ? "memory" : "memories"}`,
      title: `${one.words}: ${count(one.memories)}`,
      onclick: (event) => pick(at, event),
    }, h("span", { style: { height: one.memories ? `${Math.max(6, (one.memories / most) * 100)}%` : "2px" } })));
  const row = h("div", {
    class: "timeline",
    role: "group",
    "aria-label": `Memories by ${overview.unit}; arrow keys move`,
    onkeydown: (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1, Home: -bars.length, End: bars.length }[event.key];
      const now = bars.indexOf(document.activeElement);
      if (!step || now < 0) return;
      event.preventDefault();
      bars[now].tabIndex = -1;
      const next = bars[Math.max(0, Math.min(bars.length - 1, now + step))];
      next.tabIndex = 0;
      next.focus();
    },
  }, bars);
  return h("div", { class: "timeline-box", style: { "max-width": `${periods.length * 96}px` } }, row, h("div", { class: "timeline-foot", "aria-hidden": "true" }, h("span", null, periods[0]?.words), h("span", null, periods.length > 1 ? periods.at(-1).words : null)));
}

/* ---- parts of one memory ---- */

function tagChip(tag, props = {}, ...more) {
  return h("button", { type: "button", class: "chip", ...props }, foreign(tag, 60), more);
}

/* Tags that can be taken away, and a place to write one. */
function tagEditor(tags) {
  const held = [...tags];
  const chips = h("span", { class: "chips" });
  const input = h("input", { type: "text", placeholder: "Add a tag", onkeydown: (event) => (event.key === "Enter" || event.key === ",") && (stop(event), add()), onblur: () => add() });
  function add() {
    const tag = input.value.trim();
    input.value = "";
    if (tag && !held.includes(tag)) held.push(tag);
    draw();
  }
  function draw() {
    replace(chips, held.map((tag) => tagChip(tag, { title: "Take this tag away", "aria-label": `Take away the tag ${printable(tag)}`, onclick: () => { held.splice(held.indexOf(tag), 1); draw(); input.focus(); } }, h("span", { "aria-hidden": "true" }, "×"))));
  }
  draw();
  return { node: h("div", { class: "tag-editor" }, chips), input, tags: () => { add(); return held; } };
}

const PARTS = [
  ["words", "a", "its words"],
  ["meaning", "b", "its meaning"],
  ["neighbours", "c", "its neighbours in the session"],
  ["session", "d", "its session as a whole"],
];

/* What a score is made of: a bar of its parts, and the same in words. */
function explanation(hit) {
  const parts = PARTS.map(([name, kind, words]) => ({ kind, words, value: hit.explain[name] || 0 })).filter((one) => one.value > 0);
  const sum = parts.reduce((all, one) => all + one.value, 0) || 1;
  const said = { key: "It comes first because its key was asked for.", phrase: "It comes first because it holds the question word for word." }[hit.explain.first_by];
  return h(
    "div",
    { class: "explained" },
    h("div", { class: "score-bar", "aria-hidden": "true" }, parts.map((one) => h("span", { class: `part-${one.kind}`, style: { width: `${(one.value / sum) * 100}%` } }))),
    h("ul", { class: "legend" }, parts.map((one) => h("li", { class: `of-${one.kind}` }, `${percent(one.value / sum)} from ${one.words} (${one.value.toFixed(2)})`))),
    h("p", { class: "muted small" }, said, said ? " " : null, `It holds ${percent(hit.explain.share)} of the question's words, by their weight.`, hit.explain.cosine === undefined ? null : ` Its vector is ${hit.explain.cosine.toFixed(2)} near the question's.`, ` Score ${hit.score.toFixed(2)}.`),
  );
}

/* ---- the browser ---- */

export function browser(main, store, context) {
  const start = context.params?.query || {};
  const state = { namespace: start.namespace || "default", q: start.q || "", tags: start.tags ? JSON.parse(start.tags) : [], from: start.from || "", until: start.until || "", time: start.time || "", session: start.session || "", key: start.key || "", base: 0 };
  let stats = null;
  let pages = null;
  let list = null;
  let timer = 0;
  let turn = 0; // of what is shown; an answer that comes too late is dropped
  let allTags = false;

  const filter = () => given({ namespace: state.namespace, tags: state.tags, time: state.time, from: state.from, until: state.until, session: state.session });
  const call = (tool, more = {}) => store.call(tool, given({ namespace: state.namespace, ...more }));

  /* ---- what stands around ---- */

  const spaces = h("div", { class: "field" });
  const search = h("input", { type: "search", value: state.q, placeholder: "Ask as an agent would: what does Atlas use?", enterkeyhint: "search", oninput: () => { clearTimeout(timer); timer = setTimeout(() => change({ q: search.value.trim() }), WAIT_MS); } });
  const when = h("input", { type: "text", value: state.time, placeholder: "last week, March, since 2025", onchange: () => change({ time: when.value.trim() }) });
  const notes = h("div", { class: "notes" });
  const chips = h("div", { class: "chips tags" });
  const times = h("div");
  const narrowed = h("div", { class: "chips narrowed" });
  const results = h("section", { class: "card results", "aria-label": "Memories" });
  const detail = h("section", { class: "card detail", "aria-label": "One memory" });
  const split = h("div", { class: "split" }, results, detail);

  put(
    main,
    h(
      "div",
      { class: "card finder" },
      h("div", { class: "finder-row" }, field("Search", search, { className: "grow" }), field("When", when), spaces, h("div", { class: "tools" }, button("Add", () => openAdd(), { class: "primary" }), store.importFile ? button("Import", openImport) : null, store.exportAll ? button("Export", openExport) : null)),
      times,
      chips,
      narrowed,
    ),
    notes,
    split,
  );

  /* Changes what is shown. */
  function change(more, quietly = false) {
    Object.assign(state, { base: 0 }, more);
    if (!("key" in more) && !quietly) state.key = "";
    remember();
    draw(quietly);
  }

  function remember() {
    context.remember?.({ ...given({ ...state, base: "", tags: state.tags.length ? JSON.stringify(state.tags) : "", namespace: state.namespace === "default" ? "" : state.namespace }) });
  }

  function draw(quietly = false) {
    drawNarrowed();
    drawOverview();
    if (state.q) drawHits();
    else drawList();
    if (state.key) openMemory(state.key);
    else if (!quietly) closeMemory();
  }

  function drawNarrowed() {
    const words = [
      ...state.tags.map((tag) => [["tag ", foreign(tag, 40)], { tags: state.tags.filter((one) => one !== tag) }]),
      state.from ? [[state.from === state.until ? state.from : `${state.from} to ${state.until}`], { from: "", until: "" }] : null,
      state.time ? [["when: ", foreign(state.time, 40)], { time: "" }] : null,
      state.session ? [["session ", foreign(state.session, 40)], { session: "" }] : null,
    ].filter(Boolean);
    replace(narrowed, words.length ? [h("span", { class: "muted small" }, "Only "), words.map(([label, more]) =>
      h("button", { type: "button", class: "chip on", "aria-label": "Take this filter away", onclick: () => { if ("time" in more) when.value = ""; change(more); } }, label, h("span", { "aria-hidden": "true" }, "×")))] : null);
    for (const one of narrowed.querySelectorAll(".chip")) one.setAttribute("aria-label", `Take away the filter ${one.textContent.slice(0, -1)}`);
  }

  async function drawStats() {
    stats = await store.call("memory_stats", {});
    const names = stats.namespaces.map((one) => one.name);
    const all = names.includes(state.namespace) ? stats.namespaces : [{ name: state.namespace, memories: 0 }, ...stats.namespaces];
    const chooser = select(all.map((one) => [one.name, `${printable(one.name).slice(0, 60)} (${short(one.memories)})${one.shared ? " · shared" : ""}`]), state.namespace, (namespace) => change({ namespace, tags: [], from: "", until: "", session: "", q: state.q }));
    const focused = spaces.contains(document.activeElement);
    replace(spaces, [...field("Namespace", chooser).childNodes]);
    if (focused) chooser.focus();
    drawNotes();
  }

  let damaged = { all_damaged: 0, damaged: [] };
  function drawNotes() {
    const space = stats?.namespaces.find((one) => one.name === state.namespace);
    replace(
      notes,
      damaged.all_damaged ? h("div", { class: "note bad", role: "status" }, h("strong", null, damaged.all_damaged === 1 ? "One memory is damaged: " : `${count(damaged.all_damaged)} memories are damaged: `), damaged.damaged.slice(0, 8).map((one, at) => [at ? ", " : null, h("button", { type: "button", class: "link", onclick: () => change({ key: one.key }, true) }, foreign(one.key, 60))]), damaged.all_damaged > 8 ? ", …" : null, ". Overwrite or delete what is wrong.") : null,
      space && space.indexed < space.memories ? h("div", { class: "note warn", role: "status" }, `Searches see ${count(space.indexed)} of ${count(space.memories)} memories: the index is being made. `, button("Look again", () => drawStats(), { class: "small" })) : null,
      stats?.quota_bytes && stats.used_bytes > stats.quota_bytes * 0.8 ? h("div", { class: "note warn" }, `Your memories take ${bytes(stats.used_bytes)} of ${bytes(stats.quota_bytes)}.`) : null,
    );
  }

  async function drawOverview() {
    const mine = ++drawOverview.turn;
    try {
      const seen = await store.call("memory_overview", given({ namespace: state.namespace, tags: state.tags, session: state.session }));
      if (mine !== drawOverview.turn) return;
      damaged = seen;
      drawNotes();
      replace(times, seen.times.length ? timeline(seen, state, (more) => change({ ...more, time: "" })) : null);
      const shown = allTags ? seen.tags : seen.tags.slice(0, TAGS[Number(matchMedia("(max-width: 639px)").matches)]);
      replace(
        chips,
        shown.map((one) => {
          const on = state.tags.includes(one.tag);
          return tagChip(one.tag, { "aria-pressed": String(on), class: on ? "chip on" : "chip", onclick: () => change({ tags: on ? state.tags.filter((tag) => tag !== one.tag) : [...state.tags, one.tag] }) }, h("span", { class: "n" }, short(one.memories)));
        }),
        seen.tags.length > shown.length ? button(`${seen.tags.length - shown.length} more tags`, () => { allTags = true; drawOverview(); }, { class: "quiet small" }) : null,
        seen.more && seen.tags.length ? h("span", { class: "muted small" }, `Counted in the newest ${count(seen.counted)}.`) : null,
      );
    } catch (error) {
      if (mine === drawOverview.turn) replace(times, problem(error, drawOverview));
    }
  }
  drawOverview.turn = 0;

  /* ---- the list ---- */

  function row(index) {
    const item = pages.at(index);
    if (!item) return null;
    return h(
      "button",
      { type: "button", class: "memory-row", "data-key": item.key, "aria-current": item.key === state.key ? "true" : null, onclick: () => change({ key: item.key, base: state.base }, true) },
      h("span", { class: "row-line" }, h("span", { class: "row-title" }, foreign(item.summary || item.key, 200)), h("span", { class: "row-time" }, ago(item.created_at))),
      h(
        "span",
        { class: "row-line" },
        h("span", { class: "row-key" }, item.damaged ? badge("damaged", "bad") : null, foreign(item.key, 80)),
        h("span", { class: "row-tags" }, (item.tags || []).slice(0, 3).map((tag) => h("span", { class: "tag" }, foreign(tag, 24))), (item.tags || []).length > 3 ? `+${item.tags.length - 3}` : null),
      ),
    );
  }

  function totalWords() {
    const space = stats?.namespaces.find((one) => one.name === state.namespace);
    const alone = !state.tags.length && !state.from && !state.time && !state.session;
    const all = pages.more ? (alone && space ? count(space.memories) : `more than ${count(pages.total)}`) : count(pages.total);
    return `${all} ${all === "1" ? "memory" : "memories"}, newest first`;
  }

  async function drawList() {
    const mine = ++turn;
    if (!list || !results.contains(list.node)) replace(results, h("div", { class: "skeleton", "aria-hidden": "true" }, Array.from({ length: 6 }, () => h("span"))));
    const fresh = new Pages((more) => store.call("memory_list", { ...filter(), ...more, offset: state.base + more.offset }), () => mine === turn && refresh());
    try {
      await fresh.need(0);
    } catch (error) {
      if (mine === turn) replace(results, problem(error, drawList));
      return;
    }
    if (mine !== turn) return;
    pages = fresh;
    split.classList.toggle("none", !pages.total && !state.key);
    const rows = Math.max(0, Math.min(WINDOW, pages.end, pages.more ? WINDOW : pages.total - state.base));
    if (!rows && !state.base) {
      list = null;
      replace(results, Object.keys(filter()).length > 1
        ? empty("No memory fits.", "Take a filter away, or choose another namespace.")
        : empty("Nothing is remembered here yet.", h("p", null, "Agents add memories with memory_add, and so can you."), button("Add a memory", () => openAdd(), { class: "primary" })));
      return;
    }
    const scroll = list?.node.scrollTop || 0;
    const again = list && results.contains(list.node);
    list = virtualList({ label: "Memories", rowHeight: ROW, render: row, range: (first, last) => pages.range(first, last).catch((error) => context.toast(error.message, "bad")), count: rows });
    const older = rows === WINDOW && (pages.more || pages.total > state.base + WINDOW);
    replace(
      results,
      h("p", { class: "muted small count" }, totalWords()),
      list.node,
      state.base || older
        ? h("nav", { class: "pager", "aria-label": "Pages" }, button("← Newer", () => change({ base: Math.max(0, state.base - WINDOW) }, true), { disabled: !state.base }), h("span", { class: "muted small" }, `${count(state.base + 1)} to ${count(state.base + rows)}`), button("Older →", () => change({ base: state.base + WINDOW }, true), { disabled: !older }))
        : null,
    );
    list.refresh();
    if (again) list.node.scrollTop = scroll;
  }

  /* Draws rows whose memories have come, and leaves the focus where it is. */
  function refresh() {
    const focused = document.activeElement?.closest?.(".virtual-row");
    const at = focused && results.contains(focused) ? Number(focused.getAttribute("aria-posinset")) - 1 : -1;
    if (pages.end < WINDOW) list?.update(pages.end);
    else list?.refresh();
    if (at >= 0) list.focus(at);
  }

  function markRow() {
    for (const one of results.querySelectorAll("[data-key]")) {
      if (one.dataset.key === state.key) one.setAttribute("aria-current", "true");
      else one.removeAttribute("aria-current");
    }
  }

  /* ---- searching ---- */

  function hitNode(hit) {
    const level = hit.relevance >= 0.7 ? "good" : hit.relevance >= 0.2 ? "" : "warn";
    return h(
      "li",
      { class: "hit" },
      h(
        "button",
        { type: "button", class: "hit-open", "data-key": hit.key, "aria-current": hit.key === state.key ? "true" : null, onclick: () => change({ key: hit.key }, true) },
        h("span", { class: "row-line" }, h("span", { class: "row-title" }, foreign(hit.summary || hit.key, 200)), h("span", { class: "row-time" }, badge(`${percent(hit.relevance)} likely`, level))),
        h("span", { class: "hit-text" }, foreign(hit.excerpt, 400)),
        h(
          "span",
          { class: "row-line" },
          h("span", { class: "row-key" }, hit.damaged ? badge("damaged", "bad") : null, foreign(hit.key, 80), " · ", ago(hit.created_at)),
          h("span", { class: "row-tags" }, (hit.tags || []).slice(0, 4).map((tag) => h("span", { class: "tag" }, foreign(tag, 24)))),
        ),
      ),
      hit.explain ? disclosure("Why it was found", () => explanation(hit)) : null,
    );
  }

  async function drawHits() {
    const mine = ++turn;
    split.classList.remove("none");
    const rows = h("ol", { class: "hits" });
    const foot = h("div", { class: "pager" });
    list = null;
    async function more(offset) {
      const data = await call("memory_search", { ...filter(), query: state.q, limit: HITS, offset, explain: true });
      if (mine !== turn) return;
      put(rows, data.results.map(hitNode));
      const next = data.pagination.next_offset ?? offset + data.results.length;
      const total = data.pagination.total;
      const left = data.results.length > 0 && next < total && next <= WINDOW;
      if (!offset) {
        replace(
          results,
          data.results.length
            ? [h("p", { class: "muted small count" }, `${data.pagination.total_is_lower_bound ? "More than " : ""}${count(total)} found, ranked by ${data.ranked_by || "words"}`), data.note ? h("p", { class: "note warn" }, foreign(data.note, 500)) : null, rows, foot]
            : empty("Nothing found.", "Other words may help; a date, or a key."),
        );
        context.announce?.(`${count(total)} found`);
      }
      replace(foot, left ? button("Show more", () => more(next).catch((error) => context.toast(error.message, "bad"))) : null);
    }
    try {
      await more(0);
    } catch (error) {
      if (mine === turn) replace(results, problem(error, drawHits));
    }
  }

  /* ---- one memory ---- */

  function closeMemory() {
    main.classList.remove("reading");
    opening.stop();
    replace(detail, empty("Choose a memory to read it.", "Its text, what belongs to it, and its earlier versions."));
    markRow();
  }

  /* All of a long text comes in pieces. */
  async function wholeText(item) {
    let [text, next] = [item.text, item.next_start];
    while (next !== undefined) {
      const part = (await call("memory_get", { key: item.key, start: next })).results[0];
      text += part.text;
      next = part.next_start;
    }
    return text;
  }

  const opening = loader(detail, async () => {
    const { key } = state;
    const item = (await call("memory_get", { key })).results[0];
    return showMemory(item);
  });

  function openMemory(key) {
    state.key = key;
    main.classList.add("reading");
    markRow();
    opening.run();
    if (matchMedia("(max-width: 899px)").matches) main.scrollIntoView({ block: "start" });
  }

  function back() {
    const { key } = state;
    change({ key: "" }, true);
    closeMemory();
    [...results.querySelectorAll("[data-key]")].find((one) => one.dataset.key === key)?.focus();
  }

  function showMemory(item) {
    const text = h("div", { class: "text" }, foreignBlock(item.text));
    if (item.next_start !== undefined) {
      const rest = button(`Read all ${count(item.total_chars)} characters`, async () => {
        rest.disabled = true;
        try {
          const whole = await wholeText(item);
          replace(text, foreignBlock(whole, { most: 200000 }));
        } catch (error) {
          rest.disabled = false;
          context.toast(error.message, "bad");
        }
      }, { class: "quiet small" });
      put(text, rest);
    }
    return [
      h(
        "header",
        { class: "detail-head" },
        button("← All memories", back, { class: "quiet small back" }),
        h("h2", null, foreign(item.summary || item.key, 160)),
        h("p", { class: "detail-key" }, h("code", null, foreign(item.key, 1024)), copyButton(item.key, "Copy key")),
        h("div", { class: "tools" }, button("Edit", () => openEdit(item)), button("Rename", () => openRename(item)), button("Delete", () => remove(item), { class: "delete" })),
      ),
      item.damaged ? h("p", { class: "note bad" }, h("strong", null, "Damaged: "), foreign(item.damaged, 300)) : null,
      text,
      item.tags?.length ? h("p", { class: "chips" }, item.tags.map((tag) => tagChip(tag, { title: "Show memories with this tag", onclick: () => change({ tags: [tag], key: item.key }, true) }))) : null,
      facts([
        ["Created", timeOf(item.created_at)],
        ["Changed", item.version > 1 ? timeOf(item.updated_at) : null],
        ["Version", count(item.version)],
        ["Forgotten", item.expires_at ? timeOf(item.expires_at) : null],
        ["Said by", item.role ? foreign(item.role, 60) : null],
        ["Session", item.session ? h("button", { type: "button", class: "link", onclick: () => change({ session: item.session, key: item.key }, true) }, foreign(item.session, 60)) : null],
      ]),
      item.metadata && Object.keys(item.metadata).length ? disclosure("Metadata", () => h("pre", { tabindex: "0" }, printable(JSON.stringify(item.metadata, null, 2)))) : null,
      item.version > 1 ? disclosure("Earlier versions", () => versions(item)) : null,
    ];
  }

  function versions(item) {
    const place = h("div");
    loader(place, async () => {
      const data = await call("memory_get", { key: item.key, version: 0 });
      return h("ol", { class: "versions" }, data.versions.map((one) => h(
        "li",
        null,
        h("div", { class: "version-head" }, h("strong", null, `Version ${one.version}`), h("span", { class: "muted small" }, timeOf(one.updated_at), ` · ${count(one.chars)} characters`), one.version === item.version ? badge("now", "good") : button("Restore", () => restore(item, one.version), { class: "small", "aria-label": `Restore version ${one.version}` })),
        one.version === item.version
          ? null
          : disclosure(foreign(one.begins, 80), () => {
            const old = h("div");
            loader(old, async () => foreignBlock((await call("memory_get", { key: item.key, version: one.version })).results[0].text)).run();
            return old;
          }),
      )));
    }, 2).run();
    return place;
  }

  /* ---- changing ---- */

  async function changed(words, key) {
    context.toast(words);
    state.key = key;
    remember();
    draw(true);
    if (!key) closeMemory();
    await drawStats().catch(() => {});
  }

  async function restore(item, version) {
    try {
      await call("memory_update", { key: item.key, version });
      await changed(`Version ${version} is back, as version ${item.version + 1}.`, item.key);
    } catch (error) {
      context.toast(error.message, "bad");
    }
  }

  async function remove(item) {
    const sure = await context.confirm({ title: "Delete this memory?", text: [h("p", null, foreign(item.summary || item.key, 200)), h("p", { class: "muted small" }, "It goes with all its versions, for good.")], action: "Delete", danger: true });
    if (!sure) return;
    try {
      await call("memory_delete", { key: item.key });
      await changed("Deleted.", "");
    } catch (error) {
      context.toast(error.message, "bad");
    }
  }

  /* A dialog with a form. `save` does what it is for; what it throws is shown in the dialog. The form is never submitted: the frame of
     a client may forbid that. */
  function form(title, children, action, save) {
    return dialog(title, (close) => {
      const said = h("div", { role: "alert" });
      const go = button(action, () => submit(), { class: "primary" });
      const node = h("form", { class: "memory-form", onsubmit: stop, onkeydown: (event) => event.key === "Enter" && !event.defaultPrevented && event.target.matches("input") && (stop(event), submit()) });
      const submit = async () => {
        if (go.disabled || !node.reportValidity()) return;
        go.disabled = true;
        try {
          close(await save());
        } catch (error) {
          replace(said, h("p", { class: "bad-text" }, foreign(error.message, 3000)));
          go.disabled = false;
        }
      };
      return put(node, children, said, h("div", { class: "actions" }, button("Cancel", () => close()), go));
    });
  }

  function metadataOf(area) {
    if (!area.value.trim()) return {};
    let value = null;
    try {
      value = JSON.parse(area.value);
    } catch (error) {
      throw new Error(`Metadata is not JSON: ${error.message}`);
    }
    if (value === null || typeof value !== "object" || Array.isArray(value)) throw new Error("Metadata must be an object: {\"source\": \"meeting\"}");
    return value;
  }

  async function openEdit(item) {
    let whole = item.text;
    try {
      whole = await wholeText(item);
    } catch (error) {
      context.toast(error.message, "bad");
      return;
    }
    const text = h("textarea", { rows: "8", required: true, value: whole });
    const summary = h("input", { type: "text", value: item.summary || "", maxlength: "2048" });
    const tags = tagEditor(item.tags || []);
    const before = item.metadata ? JSON.stringify(item.metadata, null, 2) : "";
    const metadata = h("textarea", { rows: "3", class: "mono", value: before });
    const outcome = await form("Edit memory", [field("Text", text), field("Summary", summary, { note: "One line for lists." }), h("div", { class: "field" }, field("Tags", tags.input), tags.node), field("Metadata", metadata, { note: "A JSON object; kept, not searched." })], "Save", () => {
      const parts = {
        text: text.value !== whole || item.damaged ? text.value : undefined,
        summary: summary.value.trim() !== (item.summary || "") ? summary.value.trim() : undefined,
        metadata: metadata.value.trim() !== before ? metadataOf(metadata) : undefined,
      };
      const labels = tags.tags();
      const more = JSON.stringify(labels) === JSON.stringify(item.tags || []) ? {} : { tags: labels };
      const sent = { ...given(parts), ...more };
      if (!Object.keys(sent).length) return { outcome: "unchanged" };
      return store.call("memory_update", { namespace: state.namespace, key: item.key, if_version: item.version, ...sent });
    });
    if (outcome) await changed(outcome.outcome === "unchanged" ? "Nothing was changed." : "Saved.", item.key);
  }

  async function openRename(item) {
    const key = h("input", { type: "text", value: item.key, required: true, maxlength: "1024", spellcheck: "false" });
    const outcome = await form("Rename memory", [field("Key", key, { note: "A key that is taken is never overwritten." })], "Rename", () => call("memory_update", { key: item.key, new_key: key.value.trim() }));
    if (outcome) await changed(`Renamed to ${outcome.key}.`, outcome.key);
  }

  async function openAdd() {
    const text = h("textarea", { rows: "6", required: true, placeholder: "What is to be remembered, in full." });
    const key = h("input", { type: "text", maxlength: "1024", spellcheck: "false", placeholder: "Made from the text" });
    const summary = h("input", { type: "text", maxlength: "2048", placeholder: "The first sentence of the text" });
    const space = h("input", { type: "text", value: state.namespace, required: true, maxlength: "256" });
    const tags = tagEditor([]);
    const outcome = await form("Add a memory", [field("Text", text), h("div", { class: "columns" }, field("Key", key), field("Namespace", space)), field("Summary", summary), h("div", { class: "field" }, field("Tags", tags.input), tags.node)], "Add", () =>
      store.call("memory_add", given({ text: text.value, key: key.value.trim(), summary: summary.value.trim(), tags: tags.tags(), namespace: space.value.trim() })));
    if (!outcome) return;
    const words = { duplicate: "That text is remembered already.", replaced: "Replaced the memory of that key.", unchanged: "That memory is there already." };
    Object.assign(state, { namespace: outcome.namespace, q: "", tags: [], from: "", until: "", time: "", session: "", base: 0 });
    search.value = when.value = "";
    await changed(outcome.merged ? "That text is remembered already; what was new with it was added." : words[outcome.outcome] || "Added.", outcome.key);
  }

  async function openImport() {
    const file = h("input", { type: "file", required: true, accept: ".jsonl,.json,.ndjson,application/json" });
    const format = select([["", "As it looks"], ["forage", "forage export"], ["graph", "MCP memory server (graph)"], ["mem0", "mem0"], ["claude", "Claude data export"]], "");
    const into = h("input", { type: "text", maxlength: "256", placeholder: "As each line says" });
    const done = await form("Import memories", [field("File", file, { note: "All of it is checked first; where a line is wrong, nothing is imported." }), h("div", { class: "columns" }, field("Format", format), field("Into namespace", into))], "Import", () => store.importFile(file.files[0], given({ format: format.value, into: into.value.trim() })));
    if (!done) return;
    if (into.value.trim()) state.namespace = into.value.trim();
    await changed(`${count(done.added)} added, ${count(done.replaced)} replaced, ${count(done.unchanged)} unchanged${done.expired ? `, ${count(done.expired)} expired` : ""}${done.blank ? `, ${count(done.blank)} blank` : ""}.`, "");
  }

  async function openExport() {
    const scope = select([["", "Every namespace"], [state.namespace, printable(state.namespace).slice(0, 60)]], state.namespace);
    const done = await form("Export memories", [field("Which", scope, { note: "One memory a line, as JSON; an import takes it back." })], "Export", async () => {
      await store.exportAll(scope.value);
      return true;
    });
    if (done) context.toast("The export is on its way to your downloads.");
  }

  function shortcuts(event) {
    if (event.key === "/" && !event.target.closest("input, textarea, select, dialog")) {
      event.preventDefault();
      search.focus();
    } else if (event.key === "Escape" && state.key && !event.target.closest("dialog, input, textarea, select")) {
      back();
    }
  }
  document.addEventListener("keydown", shortcuts);

  drawStats().catch((error) => replace(notes, problem(error, drawStats)));
  draw();
  return () => {
    turn += 1;
    drawOverview.turn += 1;
    opening.stop();
    clearTimeout(timer);
    document.removeEventListener("keydown", shortcuts);
    for (const one of document.querySelectorAll("dialog[open]")) one.close();
  };
}
