/* Research: what runs and what is kept, with its rounds and pages, and the evidence beside each claim. The list moves with the stream
   of events. */

import { evidence, verdict } from "./answers.js";
import { del, events, get } from "./api.js";
import { count, duration, foreign, foreignBlock, foreignLink, h, money, put, replace, short, timeOf } from "./dom.js";
import { badge, button, card, disclosure, download, empty, facts, loader, markdown, meter, problem, tabs } from "./widgets.js";

const STATES = { waiting: ["waiting", "warn"], running: ["running", "good"], asking: ["asks something", "warn"], done: ["done", ""], failed: ["failed", "bad"], broken: ["broken", "bad"], cancelled: ["cancelled", ""] };
const STOPPED = { coverage: "its notes answer the question", finished: "it was done", no_new_facts: "it found nothing new", repeated: "it repeated itself", rounds: "the rounds were used up", turns: "the turns were used up" };

const isOver = (job) => ["done", "failed", "broken", "cancelled"].includes(job.status);

function stateBadge(job) {
  const [words, kind] = STATES[job.status] || [job.status, ""];
  return badge(words, kind);
}

/* ---- parts of one ---- */

function pageList(pages) {
  return h("ol", { class: "pages" }, pages.map((page) => h("li", null, typeof page === "string" ? foreignLink(page) : [foreignLink(page.url, page.title || page.url, 160), page.read_at ? [h("span", { class: "muted small" }, " · "), timeOf(page.read_at)] : null])));
}

function texts(list) {
  return h("ul", null, list.map((one) => h("li", null, foreign(one, 1000))));
}

function budget(all) {
  const rows = Object.entries(all || {}).filter(([, one]) => one && typeof one === "object" && one.limit > 0);
  return rows.length ? h("div", { class: "budget" }, rows.map(([name, one]) => meter(one.used, one.limit, `${name}: ${short(one.used)} of ${short(one.limit)}`))) : null;
}

/* ---- saving ---- */

function fileName(job, kind) {
  const words = (job.question || job.job).toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60).replace(/^-|-$/g, "");
  return `${words || job.job}.${kind}`;
}

function save(job, kind) {
  const result = job.result || {};
  if (kind === "md") download(fileName(job, "md"), result.report || result.result || "", "text/markdown");
  else download(fileName(job, "json"), JSON.stringify(result, null, 2), "application/json");
}

/* ---- the view ---- */

export async function show(main, context) {
  const as = context.caller;
  const own = !as || as === context.session.caller;
  let chosen = context.params.path[0] || "";
  let jobs = [];
  let shown = ""; // what the detail was drawn from

  const list = h("ul", { class: "jobs" });
  const heading = h("p", { class: "muted small count" });
  const none = h("div");
  const detail = h("div", { class: "view job" });
  const split = h("div", { class: "split research" }, h("section", { class: "card results", "aria-label": "Research" }, heading, none, list), detail);
  put(context.head, h("div", { class: "tools" }, h("a", { class: "button", href: "#/try/deep_search" }, "New research")));
  put(main, split);

  function drawList() {
    split.classList.toggle("none", !jobs.length);
    const running = jobs.filter((job) => !isOver(job)).length;
    heading.textContent = jobs.length ? `${count(running)} at work, ${count(jobs.length - running)} kept` : "";
    const focused = list.contains(document.activeElement) ? document.activeElement.dataset.job : null;
    replace(list, jobs.map((job) => h("li", null, h(
      "button",
      { type: "button", class: "job-row", "data-job": job.job, "aria-current": job.job === chosen ? "true" : null, onclick: () => choose(job.job) },
      h("span", { class: "job-question" }, foreign(job.question || job.job, 240)),
      h("span", { class: "job-line" }, stateBadge(job), h("span", { class: "muted small" }, `${job.rounds === 1 ? "1 round" : `${count(job.rounds)} rounds`} · ${count(job.progress?.pages?.length || 0)} pages · `, timeOf(job.created_at))),
      job.doing ? h("span", { class: "job-doing" }, foreign(job.doing, 160)) : null,
    ))));
    if (focused) list.querySelector(`[data-job="${CSS.escape(focused)}"]`)?.focus();
    replace(none, jobs.length ? null : empty("No research yet.", "Research that is asked for here or by an agent is kept for a day. ", h("a", { href: "#/try/deep_search" }, "Start one")));
  }

  const opening = loader(detail, async () => drawJob(await get(`/api/v1/jobs/${encodeURIComponent(chosen)}`, { as })), 6);

  function choose(id) {
    chosen = id;
    shown = "";
    context.remember({}, id ? `research/${encodeURIComponent(id)}` : "research");
    main.classList.toggle("reading", Boolean(id));
    drawList();
    follow(true);
    if (!id) replace(detail, h("div", { class: "card" }, empty("Choose a research to see it.", "Its report, the evidence for each claim, and the pages that were read.")));
  }

  /* Reads the chosen job again when it has moved. */
  function follow(loudly = false) {
    const job = jobs.find((one) => one.job === chosen);
    const mark = job ? JSON.stringify([job.status, job.updated_at, job.rounds, job.doing, job.progress]) : "unknown";
    if (!chosen || mark === shown) return;
    shown = mark;
    opening.run(!loudly);
  }

  async function end(job) {
    const over = isOver(job);
    const sure = await context.confirm(over
      ? { title: "Remove this research?", text: h("p", null, "Its report and its evidence are deleted."), action: "Remove", danger: true }
      : { title: "Cancel this research?", text: h("p", null, "What it has found so far is kept for a day."), action: "Cancel it", danger: true });
    if (!sure) return;
    try {
      await del(`/api/v1/jobs/${encodeURIComponent(job.job)}`, { as });
      context.toast(over ? "Removed." : "Cancelled.");
      if (over) choose("");
      await reload();
      follow();
    } catch (error) {
      context.toast(error.message, "bad");
    }
  }

  function drawJob(job) {
    const result = job.result || {};
    const about = result.metadata || {};
    const progress = job.progress || {};
    const report = result.report || result.result || "";
    const pages = progress.pages?.length ? progress.pages : about.sources_visited || [];
    const searches = progress.searches?.length ? progress.searches : about.search_queries_used || [];
    const claims = result.evidence?.length ? result.evidence : progress.notes || [];
    const sections = [
      report ? { id: "report", title: "Report", show: (panel) => put(panel, markdown(report)) } : null,
      { id: "evidence", title: `Evidence (${count(claims.length)})`, show: (panel) => put(panel, claims.length ? evidence(claims) : empty("No evidence yet.", "Quotes of pages stand here as they are noted."), result.evidence_left_out ? h("p", { class: "muted" }, `${count(result.evidence_left_out)} more claims had no room in the result.`) : null) },
      { id: "pages", title: `Pages (${count(pages.length)})`, show: (panel) => put(panel, pages.length ? pageList(pages) : empty("No page was read yet.")) },
      { id: "searches", title: `Searches (${count(searches.length)})`, show: (panel) => put(panel, searches.length ? texts(searches) : empty("Nothing was searched yet.")) },
      result.conflicts?.length ? { id: "conflicts", title: `Conflicts (${count(result.conflicts.length)})`, show: (panel) => put(panel, result.conflicts.map((one) => h("div", { class: "conflict" }, one.claim ? h("p", null, foreign(one.claim, 600)) : null, [one.one, one.other].map((side) => h("blockquote", null, foreignBlock(side.quote, { most: 1000 }), h("p", { class: "small" }, foreignLink(side.url))))))) } : null,
    ].filter(Boolean);
    return [
      card(foreign(job.question || job.job, 600), {
        className: "job-head",
        tools: [
          report ? button("Save report", () => save(job, "md")) : null,
          job.result ? button("Save JSON", () => save(job, "json")) : null,
          isOver(job) ? button("Remove", () => end(job), { class: "delete" }) : button("Cancel", () => end(job), { class: "delete" }),
        ],
      },
      button("← All research", () => choose(""), { class: "quiet small back" }),
      h("p", { class: "job-line" }, stateBadge(job), verdict(result), job.doing ? h("span", { class: "job-doing" }, foreign(job.doing, 300)) : null),
      facts([
        ["Rounds", count(job.rounds)],
        ["Begun", timeOf(job.created_at)],
        ["Took", about.duration_ms ? duration(about.duration_ms) : null],
        ["Model", about.model ? foreign(about.model, 60) : null],
        ["Tokens", job.usage?.input_tokens ? `${short(job.usage.input_tokens)} in, ${short(job.usage.output_tokens)} out` : null],
        ["Cost", job.usage?.usd ? money(job.usage.usd) : null],
        ["Quotes", result.citations ? `${count(result.citations.exact + result.citations.near)} of ${count(result.citations.claims)} found` : null],
        ["Ended", about.stopped ? STOPPED[about.stopped] || foreign(about.stopped, 60) : null],
        ["Kept until", isOver(job) ? timeOf(job.expires_at) : null],
      ]),
      budget(about.budget)),
      job.warning ? h("p", { class: "note warn" }, foreign(job.warning, 600)) : null,
      result.success === false ? problem(result.error || {}) : null,
      about.warnings?.length ? h("div", { class: "note warn" }, texts(about.warnings)) : null,
      h("section", { class: "card" }, tabs({ label: "Research", items: sections, chosen: drawJob.tab, onchoose: (id) => { drawJob.tab = id; } })),
      result.open_questions?.length || result.disputed?.length ? h("div", { class: "columns" }, result.open_questions?.length ? card("Open questions", {}, texts(result.open_questions)) : null, result.disputed?.length ? card("Disputed", {}, texts(result.disputed)) : null) : null,
      report ? h("p", { class: "muted small" }, "A report is made of pages of others. forage looks for each quote on its page; whether the page is right, it cannot know.") : null,
    ];
  }

  async function reload() {
    jobs = (await get("/api/v1/jobs", { as })).jobs;
    drawList();
  }

  await reload();
  choose(chosen || (matchMedia("(min-width: 900px)").matches ? jobs[0]?.job || "" : ""));
  // The stream tells of one's own; somebody else's are read when the view is opened.
  const leave = own ? events.on("jobs", (news) => { jobs = news.jobs; drawList(); follow(); }) : () => {};
  return () => {
    leave();
    opening.stop();
  };
}
