/* What the pages can do with scripts and need not: search, copying code, a folded table of contents on small screens. */
"use strict";

const root = document.body.dataset.root;
const narrow = matchMedia("(max-width: 80rem)");

/* ---- the table of contents is open only where it stands beside the text ---- */

const contents = document.querySelector(".toc");
if (contents) contents.open = !narrow.matches;

/* ---- copying ---- */

for (const code of document.querySelectorAll(".code.sh, .code.json, .code.toml, .code.nginx, .code.ini")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.querySelector("code").textContent.trimEnd());
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code.querySelector("code"));
      button.textContent = "Press Ctrl-C";
    }
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  code.append(button);
}

/* ---- searching: the index comes with the first letter ---- */

const form = document.querySelector(".search");
const field = form.querySelector("input");
const found = document.getElementById("found");
const MOST = 12;
form.hidden = false;

function rank(row, title, words) {
  const heading = row[2].toLowerCase();
  const all = (title + " " + row[2] + " " + row[3]).toLowerCase();
  if (!words.every((word) => all.includes(word))) return 0;
  const whole = words.join(" ");
  return 1 + 8 * (heading === whole) + 4 * heading.includes(whole) + 2 * title.toLowerCase().includes(whole) + all.includes(whole);
}

function around(text, word) {
  const at = text.toLowerCase().indexOf(word);
  const from = Math.max(0, at - 40);
  return (from ? "…" : "") + text.slice(from, from + 130) + (text.length > from + 130 ? "…" : "");
}

function show() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  found.replaceChildren();
  found.hidden = !words.length;
  if (!words.length || !window.forageIndex) return;
  const { pages, rows } = window.forageIndex;
  const best = rows
    .map((row, order) => ({ row, order, rank: rank(row, pages[row[0]][1], words) }))
    .filter((one) => one.rank)
    .sort((a, b) => b.rank - a.rank || a.order - b.order)
    .slice(0, MOST);
  for (const { row } of best) {
    const link = document.createElement("a");
    const [address, title] = pages[row[0]];
    link.href = root + address + (row[1] ? "#" + row[1] : "");
    const name = document.createElement("strong");
    name.textContent = row[1] ? title + " › " + row[2] : title;
    link.append(name, around(row[3], words[0]));
    found.append(link);
  }
  if (!best.length) found.textContent = "Nothing found.";
}

field.addEventListener("input", () => {
  if (window.forageIndex) return show();
  if (document.getElementById("index")) return;
  const script = document.createElement("script");
  script.id = "index";
  script.src = root + "search.js?" + document.body.dataset.stamp;
  script.addEventListener("load", show);
  document.head.append(script);
});

form.addEventListener("submit", (event) => {
  event.preventDefault();
  found.querySelector("a")?.click();
});

/* A slash begins, Escape ends. */
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== field) {
    event.preventDefault();
    field.focus();
  } else if (event.key === "Escape") {
    found.hidden = true;
  }
});
document.addEventListener("click", (event) => {
  if (!form.contains(event.target)) found.hidden = true;
});
