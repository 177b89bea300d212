/* What the views are made of: tables, long lists, tabs, dialogs, messages, and Markdown that is shown as text. */

import { count, foreign, foreignLink, h, printable, put, replace, uniqueId } from "./dom.js";

/* ---- states of a place ---- */

/* Grey lines where something will be. */
export function skeleton(lines = 3) {
  return h("div", { class: "skeleton", "aria-hidden": "true" }, Array.from({ length: lines }, () => h("span")));
}

/* What to say where there is nothing, and what to do about it. */
export function empty(title, ...more) {
  return h("div", { class: "empty" }, h("p", { class: "empty-title" }, title), more.length ? h("div", { class: "muted" }, more) : null);
}

/* An error with its words, its code, and another try where that makes sense. */
export function problem(error, again) {
  return h(
    "div",
    { class: "problem", role: "alert" },
    h("p", null, h("strong", null, "That did not work. "), foreign(error.message || error, 2000)),
    h("p", { class: "muted small" }, error.code ? h("code", null, foreign(error.code)) : null, error.requestId ? [" · request ", h("code", null, foreign(error.requestId))] : null),
    again ? h("button", { type: "button", onclick: again }, "Try again") : null,
  );
}

/* Shows grey lines, then what `load` gives, or why it did not. An answer that comes too late is dropped. */
export function loader(place, load, lines = 4) {
  let turn = 0;
  async function run(quietly = false) {
    const mine = ++turn;
    if (!quietly) replace(place, skeleton(lines));
    place.setAttribute("aria-busy", "true");
    try {
      const shown = await load();
      if (mine === turn) replace(place, shown);
    } catch (error) {
      if (mine === turn && error.name !== "AbortError") replace(place, problem(error, () => run()));
    } finally {
      if (mine === turn) place.removeAttribute("aria-busy");
    }
  }
  return { run, stop: () => { turn += 1; } };
}

/* ---- small parts ---- */

export function badge(text, kind = "") {
  return h("span", { class: `badge ${kind}` }, foreign(text, 40));
}

export function button(label, onclick, props = {}) {
  return h("button", { type: "button", onclick, ...props }, label);
}

/* A part of a page with a heading. `tools` stand at its right. */
export function card(title, { tools = null, className = "", level = "h2", note = null } = {}, ...children) {
  const id = uniqueId("card");
  return h(
    "section",
    { class: `card ${className}`, "aria-labelledby": id },
    h("header", { class: "card-head" }, h(level, { id }, title), note ? h("span", { class: "muted small" }, note) : null, tools ? h("div", { class: "tools" }, tools) : null),
    children,
  );
}

/* An input with its label: field("Tool", input). */
export function field(label, control, { note = null, className = "" } = {}) {
  control.id ||= uniqueId("field");
  const said = note ? uniqueId("note") : null;
  if (said) control.setAttribute("aria-describedby", said);
  return h("div", { class: `field ${className}` }, h("label", { for: control.id }, label), control, note ? h("p", { class: "muted small", id: said }, note) : null);
}

/* choices: [value, words] each. */
export function select(choices, value, onchange) {
  const made = h("select", { onchange: () => onchange?.(made.value) }, choices.map(([key, words]) => h("option", { value: key }, words)));
  made.value = value ?? "";
  return made;
}

/* A row of buttons of which one is pressed. */
export function choice(label, choices, value, onchoose) {
  const buttons = choices.map(([key, words]) =>
    h("button", {
      type: "button",
      "aria-pressed": String(key === value),
      onclick: () => {
        for (const [at, one] of buttons.entries()) one.setAttribute("aria-pressed", String(choices[at][0] === key));
        onchoose(key);
      },
    }, words));
  return h("div", { class: "choice", role: "group", "aria-label": label }, buttons);
}

/* Pairs of a name and what it is. Empty ones are left out. */
export function facts(pairs) {
  return h("dl", { class: "facts" }, pairs.filter(([, value]) => value !== null && value !== undefined && value !== "").map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value))));
}

/* How much of something is used, as a bar and in words. */
export function meter(used, limit, words) {
  const share = limit > 0 ? Math.min(1, used / limit) : 0;
  const kind = share >= 0.9 ? "bad" : share >= 0.7 ? "warn" : "";
  return h("div", { class: `meter ${kind}` }, h("div", { class: "meter-bar", "aria-hidden": "true" }, h("span", { style: { width: `${share * 100}%` } })), h("span", { class: "small" }, words));
}

/* Opened by whoever wants to see more; made when it is opened first. */
export function disclosure(summary, make, open = false) {
  const body = h("div", { class: "disclosed" });
  const details = h("details", { open, ontoggle: () => details.open && !body.childNodes.length && put(body, make()) }, h("summary", null, summary), body);
  return details;
}

export function copyButton(text, label = "Copy") {
  const status = h("span", { role: "status", class: "visually-hidden" });
  const made = h("button", {
    type: "button",
    class: "small",
    onclick: async () => {
      const words = typeof text === "function" ? text() : text;
      try {
        await navigator.clipboard.writeText(words);
      } catch {
        copyOldWay(words); // a page that came over plain HTTP from another machine has no clipboard
      }
      made.firstChild.textContent = "Copied";
      status.textContent = "Copied";
      setTimeout(() => { made.firstChild.textContent = label; status.textContent = ""; }, 1500);
    },
  }, label);
  return h("span", { class: "copy" }, made, status);
}

function copyOldWay(words) {
  const area = h("textarea", { class: "visually-hidden", value: words });
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

/* Hands a text to the browser as a file. */
export function download(name, text, type = "text/plain") {
  const link = h("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/* Lines of a program or a file, with a button that copies them. */
export function codeBlock(text, label = "Copy") {
  return h("div", { class: "code" }, h("pre", { tabindex: "0" }, h("code", null, printable(text))), copyButton(text, label));
}

/* ---- tables ---- */

function compare(a, b) {
  if (a === b) return 0;
  if (a === null || a === undefined) return 1;
  if (b === null || b === undefined) return -1;
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), undefined, { numeric: true });
}

/* A table that its reader sorts. columns: { label, value(row) (sorts; absent: not sortable), cell(row) (shown; absent: the value),
   numeric }. On a narrow screen each row becomes a card. `sort` is [column, -1 or 1]; null keeps the order. Gives { node, update(rows) }. */
export function table({ caption, columns, rows = [], sort = null, none = "Nothing here." }) {
  let order = sort;
  let held = rows;
  const body = h("tbody", { role: "rowgroup" });
  const heads = columns.map((column, at) => {
    const words = h("span", null, column.label);
    const turn = () => {
      order = order && order[0] === at ? [at, -order[1]] : [at, column.numeric ? -1 : 1];
      draw();
    };
    return h("th", { scope: "col", role: "columnheader", class: column.numeric ? "numeric" : null }, column.value ? h("button", { type: "button", class: "sort", onclick: turn }, words) : words);
  });
  const node = h(
    "div",
    { class: "table-box" },
    h("table", { role: "table" }, h("caption", { class: "visually-hidden" }, caption), h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, heads)), body),
  );

  function draw() {
    for (const [at, head] of heads.entries()) {
      if (order && order[0] === at) head.setAttribute("aria-sort", order[1] > 0 ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    }
    const sorted = order ? [...held].sort((a, b) => order[1] * compare(columns[order[0]].value(a), columns[order[0]].value(b))) : held;
    const lines = sorted.map((row) =>
      h("tr", { role: "row" }, columns.map((column) =>
        h("td", { role: "cell", "data-label": column.label, class: column.numeric ? "numeric" : null }, column.cell ? column.cell(row) : column.value(row)))));
    replace(body, lines.length ? lines : h("tr", { role: "row" }, h("td", { role: "cell", colspan: columns.length, class: "muted none" }, none)));
  }

  draw();
  return { node, update: (more) => { held = more; draw(); } };
}

/* ---- long lists ---- */

/* A list of which only the visible rows exist. `render(index)` makes a row, or null while what it shows has not come; `range(first,
   last)` is told what is to be seen, to fetch it. Arrow keys, Page Up and Down, Home and End move between the first buttons or
   links of the rows. Gives { node, update(count), refresh(), focus(index) }. */
export function virtualList({ label, rowHeight, render, range = null, count: length = 0 }) {
  const holder = h("div", { class: "virtual-rows", role: "list", "aria-label": label });
  const box = h("div", { class: "virtual", onscroll: () => schedule(), onkeydown: (event) => move(event) }, holder);
  const rows = new Map();
  let pending = 0;

  function schedule() {
    pending ||= requestAnimationFrame(() => {
      pending = 0;
      draw();
    });
  }

  function draw() {
    const first = Math.max(0, Math.floor(box.scrollTop / rowHeight) - 6);
    const last = Math.min(length, Math.ceil((box.scrollTop + (box.clientHeight || 600)) / rowHeight) + 6);
    for (const [index, row] of rows) {
      if ((index < first || index >= last) && !row.contains(document.activeElement)) {
        row.remove();
        rows.delete(index);
      }
    }
    for (let index = first; index < last; index++) {
      if (rows.has(index)) continue;
      const content = render(index);
      const row = h("div", { class: "virtual-row", role: "listitem", "aria-posinset": index + 1, "aria-setsize": length, style: { top: `${index * rowHeight}px`, height: `${rowHeight}px` } }, content || skeleton(1));
      if (content) rows.set(index, row);
      else rows.set(index, row).get(index).dataset.waits = "";
      holder.append(row);
    }
    range?.(first, last);
  }

  function focus(index) {
    const wanted = Math.max(0, Math.min(length - 1, index));
    const top = wanted * rowHeight;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + rowHeight > box.scrollTop + box.clientHeight) box.scrollTop = top + rowHeight - box.clientHeight;
    draw();
    rows.get(wanted)?.querySelector("button, a, input")?.focus({ preventScroll: true });
  }

  function move(event) {
    const now = [...rows].find(([, row]) => row.contains(document.activeElement))?.[0];
    const page = Math.max(1, Math.floor(box.clientHeight / rowHeight) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -length, End: length };
    if (now === undefined || !(event.key in steps) || event.target.matches("input, textarea, select")) return;
    event.preventDefault();
    focus(now + steps[event.key]);
  }

  function refresh() {
    for (const row of rows.values()) row.remove();
    rows.clear();
    holder.style.height = `${length * rowHeight}px`;
    draw();
  }

  new ResizeObserver(schedule).observe(box);
  holder.style.height = `${length * rowHeight}px`;
  return { node: box, refresh, focus, update: (more) => { length = more; refresh(); } };
}

/* "Newer" and "Older", of lists that REST gives page by page; null where there is no such page. */
export function pager({ newer, older, words = "" }) {
  return h(
    "nav",
    { class: "pager", "aria-label": "Pages" },
    button("← Newer", newer, { disabled: !newer }),
    h("span", { class: "muted small" }, words),
    button("Older →", older, { disabled: !older }),
  );
}

/* ---- tabs ---- */

/* items: { id, title, show(panel) } each; `show` is called when the tab is chosen first. */
export function tabs({ label, items, chosen = items[0].id, onchoose = null }) {
  const made = items.map((item) => {
    const [tabId, panelId] = [uniqueId("tab"), uniqueId("panel")];
    return {
      item,
      tab: h("button", { type: "button", role: "tab", id: tabId, "aria-controls": panelId, onclick: () => choose(item.id) }, item.title),
      panel: h("div", { role: "tabpanel", id: panelId, "aria-labelledby": tabId, tabindex: "0", hidden: true }),
    };
  });
  const list = h("div", { class: "tabs", role: "tablist", "aria-label": label, onkeydown: (event) => move(event) }, made.map(({ tab }) => tab));

  function choose(id) {
    for (const { item, tab, panel } of made) {
      const on = item.id === id;
      tab.setAttribute("aria-selected", String(on));
      tab.tabIndex = on ? 0 : -1;
      panel.hidden = !on;
      if (on && !panel.childNodes.length) item.show(panel);
    }
    onchoose?.(id);
  }

  function move(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const now = made.findIndex(({ tab }) => tab === document.activeElement);
    const next = made[(now + step + made.length) % made.length];
    event.preventDefault();
    choose(next.item.id);
    next.tab.focus();
  }

  choose(made.some(({ item }) => item.id === chosen) ? chosen : items[0].id);
  return h("div", { class: "tabbed" }, list, made.map(({ panel }) => panel));
}

/* ---- dialogs and messages ---- */

/* A dialog with these children; `close(value)` ends it. Resolves with that value, or with null when it is left. */
export function dialog(title, make) {
  return new Promise((resolve) => {
    const id = uniqueId("dialog");
    const node = h("dialog", { "aria-labelledby": id, onclose: () => { node.remove(); resolve(node.answer ?? null); } });
    const close = (value = null) => { node.answer = value; node.close(); };
    put(node, h("h2", { id }, title), make(close));
    document.body.append(node);
    node.showModal();
  });
}

/* Asks once before something is done. Resolves with true or false. */
export async function confirm({ title, text, action = "Continue", danger = false }) {
  const answer = await dialog(title, (close) => [
    h("div", null, text),
    h(
      "div",
      { class: "actions" },
      button("Cancel", () => close(false), { autofocus: danger }),
      button(action, () => close(true), { class: danger ? "danger" : "primary", autofocus: !danger }),
    ),
  ]);
  return answer === true;
}

/* A message that goes by itself. kind: "" or "bad". */
export function toast(text, kind = "") {
  let place = document.querySelector(".toasts");
  if (!place) {
    place = h("div", { class: "toasts", role: "status", "aria-live": "polite" });
    document.body.append(place);
  }
  const note = h("div", { class: `toast ${kind}` }, foreign(text, 500));
  place.append(note);
  setTimeout(() => note.remove(), kind === "bad" ? 9000 : 4500);
}

/* ---- Markdown ---- */

const INLINE = /(`+)([\s\S]+?)\1|(!?)\[([^\]\n]*)\]\(\s*<?([^()\s<>]*(?:\([^()\s]*\)[^()\s<>]*)*)>?(?:\s+"[^"\n]*")?\s*\)|<(https?:\/\/[^>\s]+)>|(\*\*|__)(?=\S)([\s\S]+?)\7|([*_])(?=\S)([^*_\n]+?)\9|(https?:\/\/[^\s<>)\]]+)/g;
const LONGEST = 20000; /* of a line whose emphasis is looked for: the rest is shown as it is */

/* The nodes of a line. Pictures are never loaded: they are links. */
function inline(text, depth = 0) {
  if (text.length > LONGEST || depth > 4) return [printable(text)];
  const nodes = [];
  let at = 0;
  for (const found of text.matchAll(INLINE)) {
    const [all, , code, picture, words, target, angled, , strong, , weak, bare] = found;
    if (found.index > at) nodes.push(printable(text.slice(at, found.index)));
    at = found.index + all.length;
    if (code !== undefined) nodes.push(h("code", null, printable(code)));
    else if (target !== undefined) nodes.push(foreignLink(target, (picture ? "picture: " : "") + (words || target)));
    else if (angled || bare) nodes.push(foreignLink(angled || bare));
    else if (strong !== undefined) nodes.push(h("strong", null, inline(strong, depth + 1)));
    else nodes.push(h("em", null, inline(weak, depth + 1)));
  }
  if (at < text.length) nodes.push(printable(text.slice(at)));
  return nodes;
}

function lists(lines) {
  const root = h("ul");
  const open = [{ indent: -1, list: root, item: null }];
  for (const line of lines) {
    const [, space, mark, text] = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/.exec(line) || [null, "", "", line.trim()];
    if (!mark) {
      put(open.at(-1).item || root, " ", inline(text));
      continue;
    }
    const indent = Math.min(space.length, 40);
    while (open.length > 1 && indent <= open.at(-1).indent) open.pop();
    const above = open.at(-1);
    let list = above.child;
    if (!list || list.dataset.ordered !== String(/\d/.test(mark))) {
      list = h(/\d/.test(mark) ? "ol" : "ul", { start: /\d/.test(mark) && parseInt(mark, 10) !== 1 ? parseInt(mark, 10) : null });
      list.dataset.ordered = String(/\d/.test(mark));
      put(above.item || root, list);
      above.child = list;
    }
    const item = h("li", null, inline(text));
    list.append(item);
    open.push({ indent, list, item, child: null });
  }
  return [...root.childNodes];
}

function cells(line) {
  return line.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim().replace(/\\\|/g, "|"));
}

function grid(lines) {
  const row = (line, tag) => h("tr", null, cells(line).map((cell) => h(tag, null, inline(cell))));
  return h("div", { class: "table-scroll", tabindex: "0", role: "group", "aria-label": "Table" }, h("table", null, h("thead", null, row(lines[0], "th")), h("tbody", null, lines.slice(2).map((line) => row(line, "td")))));
}

const BLOCKS = [
  [/^(`{3,}|~{3,})/, (lines) => {
    const mark = /^(`{3,}|~{3,})/.exec(lines[0])[0];
    const end = lines.findIndex((line, at) => at > 0 && line.startsWith(mark));
    const body = lines.splice(0, end < 0 ? lines.length : end + 1);
    return h("pre", { tabindex: "0" }, h("code", null, printable(body.slice(1, end < 0 ? undefined : -1).join("\n"))));
  }],
  // Headings of a text stand below those of the page.
  [/^#{1,6}\s/, (lines) => {
    const [, marks, text] = /^(#{1,6})\s+(.*?)\s*#*$/.exec(lines.shift());
    return h(`h${Math.min(6, marks.length + 2)}`, null, inline(text));
  }],
  [/^ {0,3}([-*_])( *\1){2,} *$/, (lines) => { lines.shift(); return h("hr"); }],
  [/^\s*>/, (lines) => {
    const end = lines.findIndex((line) => !/^\s*>/.test(line));
    const inner = lines.splice(0, end < 0 ? lines.length : end).map((line) => line.replace(/^\s*> ?/, ""));
    return h("blockquote", null, h("p", null, inner.flatMap((line, at) => [at ? h("br") : null, ...inline(line)])));
  }],
  [/^\s*([-*+]|\d{1,9}[.)])\s+/, (lines) => {
    const end = lines.findIndex((line) => !line.trim());
    return lists(lines.splice(0, end < 0 ? lines.length : end));
  }],
  [/^\s*\|.*\|\s*$/, (lines) => {
    const end = lines.findIndex((line) => !/^\s*\|/.test(line));
    const body = lines.splice(0, end < 0 ? lines.length : end);
    return body.length > 1 && /^[\s|:-]+$/.test(body[1]) ? grid(body) : h("p", null, body.flatMap((line) => [...inline(line), h("br")]));
  }],
];

function blockOf(lines) {
  const kind = BLOCKS.find(([pattern]) => pattern.test(lines[0]));
  if (kind) return kind[1](lines);
  let end = lines.findIndex((line, at) => !line.trim() || (at > 0 && BLOCKS.some(([pattern]) => pattern.test(line))));
  end = end < 0 ? lines.length : end;
  return h("p", null, inline(lines.splice(0, end).join("\n")));
}

const SHOWN_LINES = 400;
const SHOWN_CHARACTERS = 60000;

/* Markdown of somebody else: headings, lists, code, tables, emphasis and links, made of nodes; everything else is text as it
   stands. Of a long one the beginning is shown. */
export function markdown(text) {
  const whole = String(text ?? "").replace(/\r\n?/g, "\n");
  const box = h("div", { class: "markdown foreign-block", dir: "auto" });
  let cut = whole.length > SHOWN_CHARACTERS ? whole.slice(0, SHOWN_CHARACTERS) : whole;
  cut = cut.split("\n", SHOWN_LINES).join("\n");
  const show = (words) => {
    const lines = words.split("\n");
    while (lines.length) {
      if (!lines[0].trim()) lines.shift();
      else put(box, blockOf(lines));
    }
  };
  show(cut);
  if (cut.length === whole.length) return box;
  const rest = button(`Show all ${count(whole.length)} characters`, () => {
    rest.remove();
    let left = whole.slice(cut.length);
    (function more() {
      show(left.slice(0, SHOWN_CHARACTERS));
      left = left.slice(SHOWN_CHARACTERS);
      if (left && box.isConnected) requestAnimationFrame(more);
    })();
  }, { class: "quiet small" });
  return h("div", { class: "cut" }, box, rest);
}
