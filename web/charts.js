/* Small charts, drawn as SVG. Each says what it shows in words, gives exact numbers under the pointer and to the arrow keys, and has
   a table behind it. */

import { h, moment, put, replace, svg } from "./dom.js";
import { disclosure, table } from "./widgets.js";

const WIDTH = 640;
const HEIGHT = 180;
const TOP = 8;

/* A number at or above the greatest value that is round, and whose half is. */
function ceiling(most) {
  if (!(most > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  return [1, 2, 4, 6, 8, 10].map((step) => step * power).find((step) => step >= most * 0.999999);
}

/* "14:05", or "Nov 3" where a step is a day. */
function stepLabel(at, stepSeconds) {
  return moment(at, stepSeconds >= 86400 ? { month: "short", day: "numeric" } : { hour: "2-digit", minute: "2-digit" });
}

/* A chart over time. `series` are { name, kind ("a" to "e", or "bad"), value(point), shape ("bar", or "line") }; bars are stacked.
   A value that is null is a gap in its line. `words(value)` writes a number exactly, `axis(value)` in short. Gives { node, update(points, stepSeconds) }. */
export function timeChart({ label, series, words, axis = words }) {
  const plot = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true", class: "plot" });
  const scale = h("div", { class: "scale", "aria-hidden": "true" });
  const foot = h("div", { class: "foot", "aria-hidden": "true" });
  const tip = h("div", { class: "tip", hidden: true });
  const area = h("div", {
    class: "area",
    role: "slider",
    tabindex: "0",
    "aria-label": `${label}: choose a time with the arrow keys`,
    "aria-valuemin": "0",
    "aria-valuenow": "0",
    "aria-valuemax": "0",
    onpointermove: (event) => point(at(event)),
    onpointerdown: (event) => point(at(event)),
    onpointerleave: () => document.activeElement !== area && hide(),
    onfocus: () => area.matches(":focus-visible") && point(chosen < 0 ? points.length - 1 : chosen),
    onblur: () => hide(),
    onkeydown: (event) => move(event),
  }, plot, tip);
  const legend = h("ul", { class: "legend" }, series.map((one) => h("li", { class: `of-${one.kind}` }, one.name)));
  const node = h("figure", { class: "chart" }, legend, h("div", { class: "chart-body" }, scale, area, foot), h("figcaption", null, disclosure("Show as table", () => numbers().node)));
  let points = [];
  let step = 60;
  let chosen = -1;
  let mark = null;
  let behind = null;

  function numbers() {
    behind = table({
      caption: label,
      rows: points,
      columns: [
        { label: "Time", value: (row) => row.at, cell: (row) => moment(row.at, { dateStyle: "medium", timeStyle: "short" }) },
        ...series.map((one) => ({ label: one.name, numeric: true, value: (row) => one.value(row), cell: (row) => words(one.value(row)) })),
      ],
    });
    return behind;
  }

  const slot = () => WIDTH / Math.max(1, points.length);
  const at = (event) => {
    const box = area.getBoundingClientRect();
    return Math.floor(((event.clientX - box.left) / box.width) * points.length);
  };

  function describe(index) {
    return [stepLabel(points[index].at, step), ...series.map((one) => `${one.name} ${words(one.value(points[index]))}`)];
  }

  function point(index) {
    if (!points.length) return;
    chosen = Math.max(0, Math.min(points.length - 1, index));
    const [when, ...values] = describe(chosen);
    replace(tip, h("strong", null, when), values.map((value, number) => h("div", { class: `of-${series[number].kind}` }, value)));
    tip.hidden = false;
    const share = (chosen + 0.5) / points.length;
    tip.style.left = `${share * 100}%`;
    tip.classList.toggle("flip", share > 0.6);
    mark?.setAttribute("x", chosen * slot());
    mark?.setAttribute("width", slot());
    area.setAttribute("aria-valuenow", chosen);
    area.setAttribute("aria-valuetext", [when, ...values].join(", "));
  }

  function hide() {
    tip.hidden = true;
    chosen = -1;
    mark?.setAttribute("width", 0);
  }

  function move(event) {
    const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10, Home: -points.length, End: points.length };
    if (event.key === "Escape") hide();
    if (!(event.key in steps)) return;
    event.preventDefault();
    point((chosen < 0 ? points.length - 1 : chosen) + steps[event.key]);
  }

  function draw() {
    const bars = series.filter((one) => one.shape !== "line");
    const lines = series.filter((one) => one.shape === "line");
    const most = ceiling(Math.max(0, ...points.map((row) => Math.max(bars.reduce((sum, one) => sum + one.value(row), 0), ...lines.map((one) => one.value(row))))));
    const up = (value) => (value / most) * (HEIGHT - TOP);
    const shapes = [0.25, 0.5, 0.75, 1].map((share) => svg("line", { x1: 0, x2: WIDTH, y1: HEIGHT - up(most * share), y2: HEIGHT - up(most * share), class: "rule" }));
    mark = svg("rect", { x: 0, y: 0, width: 0, height: HEIGHT, class: "mark" });
    shapes.push(mark);
    const gap = Math.min(3, slot() * 0.2);
    for (const [index, row] of points.entries()) {
      let base = HEIGHT;
      for (const one of bars) {
        const tall = up(one.value(row));
        if (tall > 0) shapes.push(svg("rect", { x: index * slot() + gap / 2, y: base - Math.max(tall, 1.5), width: slot() - gap, height: Math.max(tall, 1.5), rx: 1.5, class: `fill-${one.kind}` }));
        base -= tall;
      }
    }
    for (const one of lines) {
      let pen = "M"; // lifted where there is no value
      const path = points.map((row, index) => {
        const value = one.value(row);
        const piece = value === null ? "" : `${pen}${(index + 0.5) * slot()} ${HEIGHT - up(value)}h0.01`;
        pen = value === null ? "M" : "L";
        return piece;
      }).join("");
      shapes.push(svg("path", { d: path, class: `line-${one.kind}`, "vector-effect": "non-scaling-stroke" }));
    }
    replace(plot, shapes);
    replace(scale, [most, most / 2, 0].map((value) => h("span", null, axis(value))));
    const every = Math.ceil(points.length / 6);
    replace(foot, points.map((row, index) => index % every === 0 && h("span", { style: { left: `${(index / points.length) * 100}%` } }, stepLabel(row.at, step))));
    area.setAttribute("aria-valuemax", Math.max(0, points.length - 1));
    if (chosen >= 0) point(chosen);
    else if (points.length) area.setAttribute("aria-valuetext", describe(points.length - 1).join(", "));
  }

  function update(more, stepSeconds) {
    points = more;
    step = stepSeconds;
    draw();
    behind?.update(points);
  }

  return { node, update };
}

/* Names with a bar each, the greatest first. rows: { key, name() (a node), value, bad (a part of it, drawn in another colour), note }. */
export function bars({ label, words, none = "Nothing yet.", most = 8, head = "Name" }) {
  const list = h("ul", { class: "bars", "aria-label": label });
  const more = h("div");
  const node = h("div", { class: "chart" }, list, more);
  let behind = null;

  function update(rows, columns) {
    const greatest = Math.max(1e-12, ...rows.map((row) => row.value));
    replace(
      list,
      rows.slice(0, most).map((row) =>
        h(
          "li",
          null,
          h("span", { class: "bar-name" }, row.name()),
          h("span", { class: "bar-value" }, words(row.value), row.note ? h("span", { class: "muted" }, ` ${row.note}`) : null),
          h("span", { class: "bar-track", "aria-hidden": "true" }, h("span", { class: "bar", style: { width: `${(row.value / greatest) * 100}%` } }, row.bad ? h("span", { class: "bar-bad", style: { width: `${Math.min(100, (row.bad / row.value) * 100)}%` } }) : null)),
        )),
      rows.length ? null : h("li", { class: "muted" }, none),
    );
    if (!behind && rows.length) {
      behind = table({ caption: label, columns: [{ label: head, value: (row) => row.key, cell: (row) => row.name() }, ...columns], rows, sort: [1, -1] });
      put(more, disclosure("Show as table", () => behind.node));
    } else behind?.update(rows);
  }

  return { node, update };
}

/* Estimates with their intervals on one scale: rows of { name, low, estimate, high, text }. `zero` is a line at that value: what
   "no difference" is. Rows without an interval say so. */
export function intervals({ label, rows, words, zero = null }) {
  const known = rows.filter((row) => row.low !== null && row.high !== null);
  const ends = known.flatMap((row) => [row.low, row.high]).concat(zero === null ? [] : [zero]);
  const low = Math.min(...ends);
  const width = Math.max(...ends) - low || 1;
  const share = (value) => 4 + ((value - low) / width) * 92;
  const lines = rows.map((row) => {
    const has = row.low !== null && row.high !== null;
    const said = has ? `${words(row.estimate)}, from ${words(row.low)} to ${words(row.high)}` : "too little to say";
    return h(
      "li",
      { tabindex: "0", title: said, "aria-label": `${row.text}: ${said}` },
      h("span", { class: "bar-name" }, row.name),
      h("span", { class: "bar-value" }, said),
      h(
        "span",
        { class: "interval", "aria-hidden": "true" },
        zero === null || !known.length ? null : h("span", { class: "interval-zero", style: { left: `${share(zero)}%` } }),
        has ? [
          h("span", { class: "interval-line", style: { left: `${share(row.low)}%`, width: `${share(row.high) - share(row.low)}%` } }),
          h("span", { class: "interval-dot", style: { left: `${share(row.estimate)}%` } }),
        ] : null,
      ),
    );
  });
  return h("ul", { class: "bars intervals", "aria-label": label }, lines);
}
