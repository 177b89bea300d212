/* What is tried out here: each experiment's arms with what they came to, never a mean without its interval. */

import { get } from "./api.js";
import { intervals } from "./charts.js";
import { count, duration, foreign, h, money, percent, put } from "./dom.js";
import { badge, card, choice, codeBlock, disclosure, facts, loader, meter, table } from "./widgets.js";

const STATES = { running: "", full: "good", over: "warn" };
const share = (value) => percent(value, 1);
const number = (value) => Number(value.toPrecision(3)).toLocaleString("en");

/* How each metric is written. */
const METRICS = {
  latency: ["Time of a call", duration],
  cost: ["Cost of a call", money],
  errors: ["Calls that fail", share],
  verified: ["Verified quotes", share],
  nothing_found: ["Nothing found", share],
  reformulation: ["Asked again in other words", share],
  pages: ["Pages read", number],
};

const known = (words) => (value) => (value === null ? "–" : words(value));

function verdict(one) {
  const decided = one.verdict !== "undecided";
  return h("div", { class: `verdict ${decided ? "decided" : ""}` }, h("p", { class: "verdict-word" }, decided ? [foreign(one.verdict, 64), " is better"] : "Undecided"), h("p", { class: "muted" }, foreign(one.why, 500)));
}

function armsTable(one, metric) {
  const words = known(METRICS[metric][1]);
  const of = (arm) => arm.metrics[metric];
  return table({
    caption: `${METRICS[metric][0]} of each arm`,
    rows: one.arms,
    columns: [
      { label: "Arm", value: (r) => r.arm, cell: (r) => h("strong", null, foreign(r.arm, 64)) },
      { label: one.unit === "caller" ? "Callers" : "Sessions", numeric: true, value: (r) => r.units, cell: (r) => count(r.units) },
      { label: "Calls", numeric: true, value: (r) => r.calls, cell: (r) => count(r.calls) },
      { label: "n", numeric: true, value: (r) => of(r).n, cell: (r) => count(of(r).n) },
      { label: "Estimate", numeric: true, value: (r) => of(r).estimate, cell: (r) => words(of(r).estimate) },
      { label: "95 % interval", numeric: true, cell: (r) => (of(r).low === null ? "–" : `${words(of(r).low)} to ${words(of(r).high)}`) },
    ],
  }).node;
}

function chart(one, metric) {
  return intervals({ label: `${METRICS[metric][0]}, with intervals of 95 %`, words: METRICS[metric][1], rows: one.arms.map((arm) => ({ name: foreign(arm.arm, 64), text: arm.arm, ...arm.metrics[metric] })) });
}

function differences(one) {
  if (!one.difference.pairs.length) return h("p", { class: "muted" }, "Too little to say yet.");
  const ratio = one.difference.as === "ratio";
  const words = ratio ? (value) => `${number(value)} ×` : (value) => `${value > 0 ? "+" : ""}${number(value)}`;
  return intervals({
    label: "What stands between the arms",
    words,
    zero: ratio ? 1 : 0,
    rows: one.difference.pairs.map((pair) => ({ ...pair, name: [foreign(pair.arm, 64), " against ", foreign(pair.against, 64)], text: `${pair.arm} against ${pair.against}` })),
  });
}

function whole(one) {
  let metric = one.metric;
  const place = h("div", { class: "stack" });
  const draw = () => put(place, chart(one, metric), armsTable(one, metric));
  const pick = choice("Metric", Object.keys(METRICS).map((key) => [key, key.replace("_", " ") + (key === one.metric ? " ★" : "")]), metric, (key) => {
    metric = key;
    place.replaceChildren();
    draw();
  });
  draw();
  return [
    card("Verdict", { tools: badge(one.status, STATES[one.status]) }, verdict(one), h("ul", { class: "allowances compact" }, one.arms.map((arm) => h("li", null, h("strong", null, foreign(arm.arm, 64)), meterOf(arm, one))))),
    card(one.difference.as === "ratio" ? "Ratio of the arms" : "Difference of the arms", { note: `${METRICS[one.metric][0]}, intervals of ${percent(one.difference.level, 1)}; the dashed line is “no difference”` }, differences(one)),
    card("Each arm", { note: "★ decides" }, h("div", { class: "scroll-x" }, pick), place),
    card("As its file says", {},
      facts([
        ["Tools", foreign(one.tool.join(", "), 300)],
        ["Assigned by", one.unit],
        ["Share", percent(one.share)],
        ["Metric", `${one.metric}, ${one.better} is better`],
        ["Sample", `${count(one.sample)} of each arm`],
        ["Until", one.until ? foreign(one.until, 40) : null],
        ["Version", h("code", null, foreign(one.version, 64))],
        ["Of other versions", one.passed_over ? `${count(one.passed_over)} trials, not counted` : null],
      ]),
      one.arms.map((arm) => disclosure(["Arm ", foreign(arm.arm, 64)], () => codeBlock(JSON.stringify({ arguments: arm.arguments }, null, 2))))),
  ];
}

/* Full is as it should be, so the bar is no warning. */
function meterOf(arm, one) {
  const made = meter(arm.units, one.sample, `${count(arm.units)} of ${count(one.sample)} ${one.unit}s`);
  made.className = "meter";
  return made;
}

export async function show(main, context) {
  const [name] = context.params.path;
  const place = h("div", { class: "view" });
  const load = loader(place, async () => {
    if (name) {
      const one = await get(`/api/v1/experiments/${encodeURIComponent(name)}`);
      return [h("p", { class: "back" }, h("a", { href: "#/experiments" }, "← All experiments")), h("h2", { class: "title" }, foreign(one.name, 80)), one.about ? h("p", { class: "muted" }, foreign(one.about, 1000)) : null, whole(one)];
    }
    const { experiments } = await get("/api/v1/experiments");
    return h("div", { class: "columns" }, experiments.map((one) =>
      card(h("a", { href: `#/experiments/${encodeURIComponent(one.name)}` }, foreign(one.name, 80)), { tools: badge(one.status, STATES[one.status]) },
        one.about ? h("p", null, foreign(one.about, 300)) : null,
        verdict(one),
        facts([["Tools", foreign(one.tool.join(", "), 200)], ["Metric", one.metric], ["Arms", one.arms.length], ["Sample", one.arms.map((arm) => `${count(arm.units)} / ${count(one.sample)}`).join(" · ")]]))));
  });
  put(main, place);
  await load.run();
  return load.stop;
}
