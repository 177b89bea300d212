// Counts tokens for bench/tokens: reads a JSON array of texts, writes the array of their counts. The first argument
// is the folder of gpt-tokenizer, which carries its vocabulary (o200k) with it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const { encode } = await import(pathToFileURL(join(process.argv[2], "esm/encoding/o200k_base.js")));
const texts = JSON.parse(readFileSync(0, "utf8"));
// A page may hold the name of a special token; it is text like any other.
const plain = { disallowedSpecial: new Set() };
console.log(JSON.stringify(texts.map((text) => encode(text, plain).length)));
