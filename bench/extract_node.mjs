// The extractors of the Node world for bench/extract, in the line protocol of `forage extract --batch`: each line of
// standard input is PAGE <tab> URL <tab> OUT; the Markdown goes to OUT, and the answer is PAGE <tab> MICROSECONDS of
// processor time.
//
//     NODE_PATH=.deps/peers/node_modules node bench/extract_node.mjs readability|defuddle
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const modules = process.env.NODE_PATH;
const require = createRequire(path.join(modules, "bench.cjs"));
const load = (file) => import(pathToFileURL(path.join(modules, file)));
const { parseHTML } = require("linkedom");

async function readability() {
  const { Readability } = require("@mozilla/readability");
  const TurndownService = require("turndown");
  const turndown = new TurndownService({ headingStyle: "atx", codeBlockStyle: "fenced" });
  return (source) => {
    const article = new Readability(parseHTML(source).document).parse();
    if (!article?.content) {
      return "";
    }
    const { document } = parseHTML(`<!doctype html><html><body>${article.content}</body></html>`);
    return turndown.turndown(document.body);
  };
}

async function defuddle() {
  const { Defuddle } = await load("defuddle/dist/node.js");
  return async (source, url) => (await Defuddle(parseHTML(source).document, url, { markdown: true })).content;
}

const extract = await { readability, defuddle }[process.argv[2]]();
console.warn = console.error = console.log = () => {}; // what they say about a page is not the answer

for await (const line of createInterface({ input: process.stdin })) {
  const [page, url, out] = line.split("\t");
  const source = readFileSync(page, "utf8");
  const started = process.cpuUsage();
  let text = "";
  try {
    text = await extract(source, url);
  } catch {
    // A page that it cannot read costs what it costs.
  }
  const { user, system } = process.cpuUsage(started);
  writeFileSync(out, text ?? "");
  process.stdout.write(`${page}\t${user + system}\n`);
}
