/* The page around the views: who sits here, where one is, and what all views are given. Views are modules of their own, loaded when
   they are opened first. */

import { events, onSignedOut, openSession, signIn, signOut, get } from "./api.js";
import { ago, foreign, h, put, replace, svg } from "./dom.js";
import { button, confirm, field, problem, select, skeleton, toast } from "./widgets.js";

/* What can be opened. `operator`: only for whoever runs the server. `has`: only where the session says that there are such things. `of`: how the choice of a caller is used: "records" takes one or
   everybody, "caller" one, absent none. The icon is a path of 24 by 24. */
const VIEWS = [
  { name: "overview", title: "Overview", of: "records", icon: "M4 20V10m5 10V4m5 16v-7m5 7V8" },
  { name: "searches", title: "Searches", of: "records", icon: "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13Zm5-2 5 5" },
  { name: "memories", title: "Memories", of: "caller", icon: "M6 3h12v18l-6-4-6 4z" },
  { name: "research", title: "Research", of: "caller", icon: "M6 3h9l4 4v14H6zM14 3v5h5M9 12h7M9 16h7" },
  { name: "try", title: "Try", of: "caller", icon: "M7 4l13 8-13 8z" },
  { name: "experiments", title: "Experiments", has: "experiments", icon: "M9 3h6m-5 0v6l-5.5 9.5A1.7 1.7 0 0 0 6 21h12a1.7 1.7 0 0 0 1.5-2.5L14 9V3M7.5 15h9" },
  { name: "setup", title: "Setup", operator: true, icon: "M4 7h9m4 0h3M4 17h3m4 0h9M15 9.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Zm-6 10a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Z" },
];

const TICK_MS = 15000; // "3 min. ago" stays true

const app = {
  session: null,
  caller: null, // whose things are shown; "*" is everybody's
  people: [], // who has a token
  callers: [], // who has ever called, too
  cleanup: null,
  turn: 0, // of the view that is being opened
};

/* ---- where one is ---- */

/* "#/searches/12?tool=search" as { name, path: ["12"], query: { tool: "search" } }. */
function place() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = path.split("/").map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  return { name: name || "overview", path: rest, query: Object.fromEntries(new URLSearchParams(query)) };
}

function hashOf(name, query) {
  const words = new URLSearchParams(Object.entries(query || {}).filter(([, value]) => value !== "" && value !== null && value !== undefined)).toString();
  return `#/${name}${words ? `?${words}` : ""}`;
}

/* Goes to a view: navigate("searches/12", { tool: "search" }). */
function navigate(name, query) {
  const hash = hashOf(name, query);
  if (hash === location.hash) open(true);
  else location.hash = hash;
}

/* Writes what a view is set to into the address, without opening it again. */
function remember(name, query) {
  history.replaceState(null, "", hashOf(name, query));
}

/* ---- the frame ---- */

const announcer = h("div", { class: "visually-hidden", role: "status", "aria-live": "polite" });
const main = h("main", { id: "main", tabindex: "-1" });
const navigation = h("nav", { class: "views", "aria-label": "Views" });
const who = h("div", { class: "who" });
const live = h("span", { class: "live", role: "status" });

function announce(text) {
  announcer.textContent = "";
  setTimeout(() => { announcer.textContent = text; }, 30);
}

function icon(path) {
  return svg("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" }, svg("path", { d: path }));
}

function offered() {
  return VIEWS.filter((view) => (!view.operator || app.session.operator) && (!view.has || app.session[view.has]));
}

function drawNavigation(current) {
  const links = offered().map((view) =>
    h("a", { href: `#/${view.name}`, "aria-current": view.name === current ? "page" : null }, icon(view.icon), h("span", null, view.title)));
  replace(navigation, links);
  navigation.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
}

function drawWho(view) {
  const { session } = app;
  const names = view?.of === "records" ? ["*", ...app.callers] : app.people;
  const shown = names.includes(app.caller) ? app.caller : session.caller;
  replace(
    who,
    view?.of && session.operator && names.filter((name) => name !== "*").length > 1
      ? field("Shows", select(names.map((name) => [name, name === "*" ? "Everybody" : name]), shown, (name) => {
        app.caller = name;
        open(true);
      }), { className: "inline" })
      : null,
    h("span", { class: "person" }, foreign(session.caller, 64), session.operator && session.tokens ? h("span", { class: "badge" }, "operator") : null),
    session.tokens ? button("Sign out", leave, { class: "quiet small" }) : null,
    h("span", { class: "version" }, `forage ${session.version}`),
  );
}

function drawFrame() {
  replace(
    document.body,
    h("a", { class: "skip", href: "#main", onclick: (event) => { event.preventDefault(); main.focus(); } }, "Skip to the content"),
    h(
      "header",
      { class: "top" },
      h("a", { class: "brand", href: "#/overview" }, h("img", { src: "/dashboard/icon.svg", alt: "", width: 28, height: 28 }), h("span", null, "forage"), live),
      navigation,
      who,
    ),
    main,
    announcer,
  );
}

const LIVE = { live: ["Live", "on"], waiting: ["Reconnecting", "off"], paused: ["Paused", ""] };

function showLive(state) {
  const [words, kind] = LIVE[state] || ["", ""];
  live.className = `live ${kind}`;
  live.textContent = words;
}

/* ---- views ---- */

function heading(title) {
  return h("div", { class: "page-head" }, h("h1", { tabindex: "-1" }, title));
}

/* Opens the view that the address names. A view gets an element and what it needs of us, and gives a function that ends it. */
async function open(again = false) {
  const params = place();
  const turn = ++app.turn;
  const view = offered().find((one) => one.name === params.name);
  app.cleanup?.();
  app.cleanup = null;
  showLive("");
  drawNavigation(params.name);
  drawWho(view);
  const title = view ? view.title : "Not here";
  document.title = `${title} · forage`;
  const head = heading(title);
  const body = h("div", { class: "view" }, skeleton(6));
  replace(main, head, body);
  window.scrollTo(0, 0);
  if (!again) head.firstChild.focus({ preventScroll: true });
  if (!view) {
    replace(body, h("p", null, "This page does not exist, or is for the operator of this server. ", h("a", { href: "#/overview" }, "Go to the overview")));
    return;
  }
  try {
    const module = await import(`./view-${view.name}.js`);
    if (turn !== app.turn) return;
    replace(body);
    const cleanup = await module.show(body, contextOf(view, params, head));
    if (turn === app.turn) app.cleanup = cleanup;
    else cleanup?.();
  } catch (error) {
    if (turn === app.turn) replace(body, problem(error, () => open(true)));
  }
}

/* What a view is given. `head` is where its own controls may stand, beside the heading. */
function contextOf(view, params, head) {
  return {
    session: app.session,
    caller: view.of === "records" || app.people.includes(app.caller) ? app.caller : app.session.caller,
    params,
    head,
    navigate,
    remember: (query, path = [view.name, ...params.path].map(encodeURIComponent).join("/")) => remember(path, query),
    announce,
    confirm,
    toast,
  };
}

/* ---- who sits here ---- */

function showSignIn(words = "") {
  app.turn += 1;
  app.cleanup?.();
  app.cleanup = null;
  document.title = "Sign in · forage";
  const token = h("input", { type: "password", autocomplete: "current-password", required: true, spellcheck: "false" });
  const said = h("p", { class: "bad-text", role: "alert" }, words);
  const enter = async (event) => {
    event.preventDefault();
    said.textContent = "";
    try {
      await begin(await signIn(token.value.trim()));
    } catch (error) {
      said.textContent = error.status === 401 ? "This server knows no such token." : error.message;
      token.select();
    }
  };
  replace(
    document.body,
    h(
      "main",
      { class: "sign-in" },
      h(
        "form",
        { class: "card", onsubmit: enter },
        h("img", { src: "/dashboard/icon.svg", alt: "", width: 48, height: 48 }),
        h("h1", null, "Sign in to forage"),
        h("p", { class: "muted" }, "With a token of FORAGE_TOKENS or FORAGE_TOKENS_FILE. It stays in a cookie that only this server reads."),
        field("Token", token),
        said,
        h("button", { type: "submit", class: "primary" }, "Sign in"),
      ),
    ),
    announcer,
  );
  token.focus();
}

async function leave() {
  try {
    await signOut();
  } catch (error) {
    replace(main, problem(error, leave));
    return;
  }
  events.close();
  showSignIn();
}

async function findCallers() {
  const [setup, month] = await Promise.all([get("/api/v1/setup"), get("/api/v1/overview", { query: { span: "month", caller: "*" } })]);
  const own = app.session.caller;
  app.people = [...new Set([own, ...setup.callers.map((one) => one.name)])];
  app.callers = [...new Set([...app.people, ...month.callers.map((one) => one.name)])].filter((name) => name !== "(others)");
}

async function begin(session) {
  app.session = session;
  if (!session.signed_in) {
    showSignIn();
    return;
  }
  if (session.operator) await findCallers();
  app.caller = app.callers.length > 1 ? "*" : session.caller;
  drawFrame();
  await open(true);
}

async function start() {
  onSignedOut(() => showSignIn("Your session is over. Sign in again."));
  events.on("live", showLive);
  setInterval(() => {
    for (const time of document.querySelectorAll("time")) time.textContent = ago(time.dateTime);
  }, TICK_MS);
  window.addEventListener("hashchange", () => app.session?.signed_in && document.body.contains(main) && open());
  try {
    await begin(await openSession());
  } catch (error) {
    replace(document.body, put(h("main", { class: "sign-in" }), h("div", { class: "card" }, problem(error, () => location.reload()))));
  }
}

start();
