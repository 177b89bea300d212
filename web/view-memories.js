/* Memories, over REST. */

import { address, getText, post } from "./api.js";
import { h } from "./dom.js";
import { browser } from "./memories.js";
import { download } from "./widgets.js";

const LINES = "application/x-ndjson";

function storeOf({ caller, session }) {
  const as = caller;
  return {
    call: async (tool, body) => (await post(`/api/v1/tools/${tool}`, body, { as })).data,
    importFile: async (file, query) => (await post("/api/v1/memories/import", file, { as, query, type: LINES })).data,
    /* The browser itself stores what comes, however much it is; what is somebody else's needs a header, which a link cannot have. */
    exportAll: async (namespace) => {
      const path = address("/api/v1/memories/export", { namespace });
      const name = `memories${namespace ? `-${namespace.replace(/[^\w-]+/g, "-")}` : ""}.jsonl`;
      if (as && as !== session.caller) download(name, await getText(path, { as, accept: LINES }), LINES);
      else h("a", { href: path, download: name }).click();
    },
  };
}

export async function show(main, context) {
  return browser(main, storeOf(context), context);
}
