/* Makes elements and texts. Nothing here reads markup: whatever a page, a memory or a caller says becomes a text node. */

const SVG = "http://www.w3.org/2000/svg";

function set(element, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
  else if (name === "style") for (const [key, one] of Object.entries(value)) element.style.setProperty(key, one);
  else if (name === "value" || name === "checked" || name === "selected" || name === "indeterminate") element[name] = value;
  else element.setAttribute(name, value === true ? "" : value);
}

function fill(element, props, children) {
  for (const [name, value] of Object.entries(props || {})) if (name !== "value") set(element, name, value);
  put(element, ...children);
  // A select takes a value only once its options are there.
  if (props && "value" in props) set(element, "value", props.value);
  return element;
}

/* An element with attributes (`onclick` and its like are listeners, `style` is an object of properties) and children: nodes, texts,
   lists of them; null and false are left out. */
export function h(tag, props, ...children) {
  return fill(document.createElement(tag), props, children);
}

export function svg(tag, props, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

/* Adds children. */
export function put(element, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

/* Puts these children in the place of those that are there. */
export function replace(element, ...children) {
  element.replaceChildren();
  return put(element, ...children);
}

let last = 0;
/* An id that no other element has. */
export function uniqueId(prefix = "id") {
  last += 1;
  return `${prefix}-${last}`;
}

/* ---- what others wrote ---- */

const NAMES = { "\u202a": "LRE", "\u202b": "RLE", "\u202c": "PDF", "\u202d": "LRO", "\u202e": "RLO", "\u2066": "LRI", "\u2067": "RLI", "\u2068": "FSI", "\u2069": "PDI", "\u200e": "LRM", "\u200f": "RLM", "\u061c": "ALM" };

/* Control characters as pictures, and characters that turn the direction of text as their names. */
export function printable(text) {
  return String(text)
    .replace(/\r\n?|[\u2028\u2029]/g, "\n")
    .replace(/[\0-\x08\x0b-\x1f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)))
    .replace(/[\x7f-\x9f]/g, (c) => (c === "\x7f" ? "\u2421" : `‹${c.charCodeAt(0).toString(16)}›`))
    .replace(/[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]/g, (c) => `‹${NAMES[c]}›`);
}

const SHOWN = 4000;
const PIECE = 20000;

/* A text of somebody else, apart from what stands around it. One line, and cut at `most` characters where that is given. */
export function foreign(text, most = 300) {
  const whole = String(text ?? "");
  const shown = whole.length > most ? whole.slice(0, most) + "…" : whole;
  return h("bdi", { class: "foreign" }, printable(shown));
}

/* The name of a tool, a provider or a caller, in a cell that it must not tear apart. */
export function nameOf(text) {
  return h("bdi", { class: "foreign name" }, printable(String(text).slice(0, 80)));
}

/* The same in lines of its own. Of a huge one the beginning is shown; the rest comes in pieces that the browser lays out when they
   are scrolled to, so that a word of a million letters stops nothing. */
export function foreignBlock(text, { most = SHOWN, className = "" } = {}) {
  const whole = String(text ?? "");
  const box = h("div", { class: `foreign-block ${className}`, dir: "auto" }, printable(whole.slice(0, most)));
  if (whole.length <= most) return box;
  const rest = h("button", {
    type: "button",
    class: "quiet small",
    onclick: () => {
      rest.remove();
      for (let at = most; at < whole.length; at += PIECE) {
        put(box, h("div", { class: "piece" }, printable(whole.slice(at, at + PIECE))));
      }
    },
  }, `Show all ${count(whole.length)} characters`);
  return h("div", { class: "cut" }, box, rest);
}

/* A link that somebody else wrote: followed only where it leads to the web, else a text. */
export function foreignLink(address, words, most = 300) {
  const url = URL.canParse(String(address)) ? new URL(String(address)) : null;
  const safe = url && (url.protocol === "http:" || url.protocol === "https:");
  const label = foreign(words || address, most);
  return safe ? h("a", { href: url.href, target: "_blank", rel: "noopener noreferrer", class: "outward" }, label) : label;
}

/* ---- numbers, money, times ---- */

const COUNT = new Intl.NumberFormat("en");
const SHORT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/* 12,345 */
export function count(number) {
  return COUNT.format(number ?? 0);
}

/* 12.3K */
export function short(number) {
  return Math.abs(number ?? 0) < 10000 ? count(number) : SHORT.format(number);
}

/* Money that is mostly fractions of a cent. */
export function money(usd) {
  if (!usd) return "$0";
  const digits = Math.abs(usd) >= 1 ? 2 : Math.min(8, 1 - Math.floor(Math.log10(Math.abs(usd))) + (Math.abs(usd) < 0.01 ? 0 : 1));
  return `$${usd.toLocaleString("en", { minimumFractionDigits: Math.min(2, digits), maximumFractionDigits: Math.max(2, digits) })}`;
}

export function percent(share, digits = 0) {
  return `${(share * 100).toFixed(digits)} %`;
}

/* Milliseconds in words that fit a table. */
export function duration(ms) {
  if (ms === null || ms === undefined) return "–";
  if (ms < 10) return `${Number(ms.toFixed(1))} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60000) return `${(ms / 1000).toFixed(ms < 10000 ? 1 : 0)} s`;
  const s = Math.round(ms / 1000);
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  return s < 172800 ? `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min` : `${Math.floor(s / 86400)} days`;
}

export function bytes(number) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  for (; number >= 1000 && unit < units.length - 1; unit++) number /= 1000;
  return `${unit && number < 10 ? number.toFixed(1) : Math.round(number)} ${units[unit]}`;
}

const AGO = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });
const STEPS = [[60, "second"], [3600, "minute", 60], [86400, "hour", 3600], [2592000, "day", 86400], [31536000, "month", 2592000], [Infinity, "year", 31536000]];

/* "3 min. ago", "in 20 sec." */
export function ago(when, now = Date.now()) {
  const seconds = Math.round((new Date(when).getTime() - now) / 1000);
  const [, unit, size = 1] = STEPS.find(([most]) => Math.abs(seconds) < most);
  return Math.abs(seconds) < 5 ? "now" : AGO.format(Math.trunc(seconds / size), unit);
}

/* In the reader's own zone. */
export function moment(when, options = { dateStyle: "medium", timeStyle: "medium" }) {
  return new Date(when).toLocaleString(undefined, options);
}

/* A moment as a person says it, with the exact one behind it; what is no moment stays as it is. */
export function timeOf(when) {
  if (!when) return "–";
  return Number.isNaN(Date.parse(when)) ? foreign(when, 40) : h("time", { datetime: when, title: moment(when) }, ago(when));
}
