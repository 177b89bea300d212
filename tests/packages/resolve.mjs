// How a client that takes bundles would start one: prints command, args and env, by the vendor's own resolver.
//
//     node resolve.mjs PACKAGES FOLDER '{"KEY": "value"}'      where npm's packages are, the unpacked bundle, what the user gave
import { readFileSync } from "node:fs";

const [packages, folder, given] = process.argv.slice(2);
const { getMcpConfigForManifest } = await import(`${packages}/@anthropic-ai/mcpb/dist/index.js`);
const config = await getMcpConfigForManifest({
    manifest: JSON.parse(readFileSync(`${folder}/manifest.json`, "utf8")),
    extensionPath: folder,
    systemDirs: { HOME: "/home" },
    userConfig: JSON.parse(given),
    pathSeparator: "/",
});
console.log(JSON.stringify(config));
