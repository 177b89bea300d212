"""A view of the dashboard as its reader has it: found by words, used by clicks and keys, and looked at for what is wrong."""

import json

from programs import ROOT

AXE = ROOT / ".deps" / "node" / "node_modules" / "axe-core" / "axe.min.js"

# Runs before anything of the page: notes what the policy stopped, and whether a script of a stranger ran.
WATCH = """
window.stopped = [];
window.strangers = [];
document.addEventListener("securitypolicyviolation", (e) => window.stopped.push(e.violatedDirective + " " + e.blockedURI));
window.pwned = (who) => window.strangers.push(String(who));
window.alert = window.confirm = window.prompt = () => window.strangers.push("a dialog");
"""

# Everything is there: the view, and no place that still waits.
SETTLED = """
!!document.querySelector("main") && !document.querySelector("main .skeleton, [aria-busy]") &&
(!document.querySelector("main .view") || document.querySelector("main .view").childNodes.length > 0)
"""

# What is wider than the screen, but for what scrolls by itself.
WIDE = """
(() => {
  const found = [];
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) found.push("the page is " + document.documentElement.scrollWidth + " wide");
  for (const one of document.querySelectorAll("body *")) {
    const box = one.getBoundingClientRect();
    if (!box.width || !one.checkVisibility({ checkVisibilityCSS: true }) || box.right <= width + 1) continue;
    let up = one.parentElement;
    while (up && !/auto|scroll|hidden/.test(getComputedStyle(up).overflowX) && getComputedStyle(up).clipPath === "none") up = up.parentElement;
    if (!up && getComputedStyle(one).clipPath === "none") found.push(one.outerHTML.slice(0, 120));
  }
  return found.slice(0, 5);
})()
"""

FIND = """
(() => {
  const words = WORDS, seen = (one) => one.checkVisibility({ checkVisibilityCSS: true }) && !one.disabled;
  const name = (one) => (one.getAttribute("aria-label") || one.labels?.[0]?.textContent || one.textContent || one.value || "").trim();
  const all = [...document.querySelectorAll(KINDS)].filter(seen);
  const top = document.querySelector("dialog[open]");
  const within = top ? all.filter((one) => top.contains(one)) : all;
  return within.find((one) => name(one) === words) || within.find((one) => name(one).startsWith(words));
})()
"""
CLICKED = "button, a, summary, [role=tab], option, label"
FILLED = "input, select, textarea"


class Page:
    def __init__(self, browser, port):
        self.browser = browser
        self.origin = f"http://127.0.0.1:{port}"
        self.found = []
        self.expected = ()  # words of errors that a test brings about
        # What the page before had to say is over.
        browser.ask("Page.navigate", url="about:blank")
        browser.wait("location.href === 'about:blank'")
        browser.events.clear()

    # ---- going there ----

    def open(self, address="overview"):
        self.collect()
        script = self.browser.ask("Page.addScriptToEvaluateOnNewDocument", source=WATCH)["identifier"]
        self.browser.ask("Page.navigate", url="about:blank")
        self.browser.wait("location.href === 'about:blank'")
        self.browser.ask("Page.navigate", url=f"{self.origin}/#/{address}")
        self.browser.wait("location.protocol === 'http:' && document.readyState === 'complete'")
        self.settle()
        self.browser.ask("Page.removeScriptToEvaluateOnNewDocument", identifier=script)
        return self

    def settle(self):
        self.browser.wait(SETTLED)
        self.run("new Promise((done) => requestAnimationFrame(() => done(true)))")

    # ---- what a reader does ----

    def run(self, expression):
        return self.browser.run(expression)

    def wait(self, expression):
        return self.browser.wait(expression)

    def wait_text(self, words):
        return self.wait(f"document.body.innerText.includes({json.dumps(words)})")

    def text(self, selector="main"):
        return self.run(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")

    def find(self, words, kinds=CLICKED):
        """An expression that is the element of that name, or one whose name begins so. Waits until it is there."""
        expression = FIND.replace("WORDS", json.dumps(words)).replace("KINDS", json.dumps(kinds)).strip()
        self.wait(f"!!{expression}")
        return expression

    def click(self, words, kinds=CLICKED):
        """Where a finger would press."""
        element = self.find(words, kinds)
        # A dialog opens and a list moves before they stand still.
        box = self.run(
            f"(async () => {{ const one = {element}; one.scrollIntoView({{ block: 'center' }});"
            "await new Promise((done) => requestAnimationFrame(done));"
            "const box = one.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        self.browser.click(*box)
        self.settle()

    def fill(self, label, text):
        """Types into the input of that label, in place of what stands there."""
        self.run(f"(() => {{ const one = {self.find(label, FILLED)}; one.focus(); one.select?.(); }})()")
        self.browser.type(text)

    def choose(self, label, value):
        """Chooses an option, or writes a value that is not typed, such as a date."""
        self.run(
            f"(() => {{ const one = {self.find(label, FILLED)}; one.focus(); one.value = {json.dumps(value)};"
            "one.dispatchEvent(new Event('input', { bubbles: true })); one.dispatchEvent(new Event('change', { bubbles: true })); })()"
        )
        self.settle()

    def press(self, *keys):
        self.browser.press(*keys)

    def focused(self):
        """The name of what has the focus."""
        return self.run("(document.activeElement.getAttribute('aria-label') || document.activeElement.textContent || '').trim()")

    # ---- what is wrong ----

    def collect(self):
        """Takes note of what the browser said since the last time."""
        self.run("1")
        while self.browser.events:
            event = self.browser.events.popleft()
            method, params = event["method"], event["params"]
            if method == "Network.requestWillBeSent":
                url = params["request"]["url"]
                if not url.startswith((self.origin + "/", "about:", "data:", "blob:")):
                    self.found.append(f"asked for {url[:200]}")
            elif method == "Runtime.exceptionThrown":
                self.found.append(str(params["exceptionDetails"])[:500])
            elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
                self.found.append(str(params["args"])[:500])
            elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                self.found.append(params["entry"]["text"][:500] + " " + params["entry"].get("url", ""))

    def problems(self):
        """Errors of the console, requests to elsewhere, and what a stranger's script did or wanted to do."""
        self.collect()
        ours = self.run("location.protocol === 'http:' ? [...(window.stopped || []), ...(window.strangers || [])] : []")
        return [one for one in self.found if not any(words in one for words in self.expected)] + ours

    def too_wide(self):
        return self.run(WIDE)

    def axe(self):
        """What axe calls serious or critical."""
        if not self.run("!!window.axe"):
            self.run(AXE.read_text() + ";0")
        run = "axe.run(document, { resultTypes: ['violations'], elementRef: false })"
        return self.run(
            f"{run}.then((all) => all.violations.filter((one) => ['serious', 'critical'].includes(one.impact))"
            ".map((one) => one.id + ': ' + one.nodes.map((node) => node.html.slice(0, 160) + ' ' + (node.any[0]?.message || '')).slice(0, 3).join(' | ')))"
        )
