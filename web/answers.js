/* What a tool answered, for a person: its text, its sources, and the evidence beside each claim. All of it is somebody else's words. */

import { count, foreign, foreignBlock, foreignLink, h, timeOf } from "./dom.js";
import { badge, codeBlock, disclosure, markdown } from "./widgets.js";

const list = (value) => (Array.isArray(value) ? value : []);

/* The words of an argument that say what was asked. */
export function questionOf(args) {
  const given = args || {};
  const found = given.query ?? given.topic ?? given.question ?? given.queries ?? given.url ?? given.urls ?? given.text ?? given.key;
  return found === undefined ? JSON.stringify(args ?? {}) : Array.isArray(found) ? found.join(" · ") : String(found);
}

const GRADES = {
  exact: ["good", "The quote is on the page, word for word."],
  near: ["good", "The quote is on the page, but for words that do not matter."],
  absent: ["bad", "The quote is not on the page, or nobody read it."],
  unseen: ["warn", "The worker read the page itself: nobody can tell."],
};

function grade(name) {
  const [kind, title] = GRADES[name] || ["", ""];
  return h("span", { class: `badge ${kind}`, title }, name);
}

/* Nodes that say how many quotes of a report were found, and why it is not verified; none where nobody looked for any. */
export function verdict(result) {
  const counts = result.citations;
  if (typeof result.verified !== "boolean") return [];
  if (typeof counts?.claims !== "number") return [badge("its quotes were not checked", "warn")];
  const found = counts.exact + counts.near;
  const words = counts.claims ? `${count(found)} of ${count(counts.claims)} ${counts.claims === 1 ? "quote" : "quotes"} found` : "it cites nothing";
  if (result.verified) return [badge(`${words}: verified`, "good")];
  const reason = counts.claims && found === counts.claims && counts.hosts < 2 ? "all pages are of one host, so not verified" : "not verified";
  return [badge(words, "warn"), " ", h("span", { class: "muted small" }, reason)];
}

/* Claims, and beside each the words of the page that it stands on. */
export function evidence(items) {
  return h("ol", { class: "evidence" }, items.map((one) => h(
    "li",
    null,
    h(
      "div",
      null,
      foreignBlock(one.claim, { most: 2000 }),
      h("p", null, one.grade ? grade(one.grade) : null, one.supported === undefined ? null : h("span", { class: "muted small", title: one.supported_by || "" }, one.supported ? " a model says that it supports the claim" : " a model says that it does not support the claim")),
    ),
    h(
      "div",
      null,
      one.quote ? h("blockquote", null, foreignBlock(one.quote, { most: 2000 })) : h("p", { class: "muted" }, "No quote was given."),
      h("p", { class: "small muted" }, foreignLink(one.url, one.title || one.url, 160), one.read_at ? [" · read ", timeOf(one.read_at)] : null),
    ),
  )));
}

function source(one) {
  const address = one.link || one.url;
  const body = one.page_content || "";
  return h(
    "li",
    null,
    h("p", null, foreignLink(address, one.title || address, 200), one.failed ? [" ", badge("not read", "warn")] : null, one.published ? h("span", { class: "muted small" }, " · ", foreign(one.published, 40)) : null),
    h("p", { class: "small muted" }, foreign(address, 160)),
    one.snippet ? h("p", null, foreign(one.snippet, 800)) : null,
    list(one.said).map((words) => h("p", null, foreign(words, 800))),
    body ? disclosure(`Page, ${count(body.length)} characters`, () => markdown(body)) : null,
  );
}

/* The sources of a short answer, each once, with the sentences that it supports. */
function citedSources(citations) {
  const sources = new Map();
  for (const one of citations) {
    const source = sources.get(one.url) || { ...one, said: [] };
    if (one.textSnippet && !source.said.includes(one.textSnippet)) source.said.push(one.textSnippet);
    sources.set(one.url, source);
  }
  return [...sources.values()];
}

/* The sources that any kind of answer names. */
function sourcesOf(result) {
  const visited = list(result.metadata?.sources_visited).map((one) => (typeof one === "string" ? { url: one } : one));
  return [...list(result.results), ...citedSources(list(result.citations)), ...visited];
}

function section(title, ...children) {
  return h("section", { class: "part" }, h("h3", null, title), children);
}

/* The nodes of an answer; `result` is what the tool gave, whole. */
export function answer(result) {
  if (!result || typeof result !== "object") return h("p", { class: "muted" }, "What came of it was not kept.");
  const failure = result.success === false ? result.error : null;
  const text = result.text ?? result.report ?? result.result ?? result.page_content ?? result.raw_output;
  const sources = sourcesOf(result);
  const claims = list(result.evidence);
  const open = list(result.open_questions);
  return h(
    "div",
    { class: "answer" },
    failure ? h("div", { class: "problem" }, h("p", null, badge(failure.code || "FAILED", "bad"), " ", foreign(failure.message, 2000))) : null,
    verdict(result).length ? h("p", null, verdict(result)) : null,
    typeof text === "string" && text ? section("Answer", markdown(text)) : null,
    claims.length ? section(`Evidence (${count(claims.length)})`, evidence(claims.slice(0, 200))) : null,
    open.length ? section("Still open", h("ul", null, open.map((one) => h("li", null, foreign(one, 500))))) : null,
    sources.length ? section(`Sources (${count(sources.length)})`, h("ol", { class: "sources" }, sources.slice(0, 200).map(source))) : null,
    disclosure("As JSON", () => {
      const whole = JSON.stringify(result, null, 2);
      return whole.length > 100000 ? foreignBlock(whole, { className: "mono" }) : codeBlock(whole);
    }),
  );
}
