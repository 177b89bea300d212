/* Looks at a page and writes it down, in a world of its own: it has the page's document, and none of
 * its scripts, so that nothing of them can change how it works. */
(() => {
    "use strict";
    const NOT_TEXT = "script,style,noscript";
    const LEAST_FRAME = 8; // pixels; smaller ones are there to count visitors
    const LEAST_BOX = 100; // pixels that a box is high which is scrolled,
    const LEAST_MOVE = 20; // and that it can be
    const MOST_BOXES = 2;
    const MOST_LISTS = 500; // in one of them
    const LEAST_ROWS = 3; // of a list
    const STEP = 0.8; // of what is in sight
    const VOID = /^(area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/;
    const ADDRESSES = { a: "href", area: "href", img: "src", source: "src", video: "src", audio: "src" };

    function isFrame(element) {
        return element.localName === "iframe" || element.localName === "frame";
    }

    /* The root of what stands in a frame; null: nothing, which it also is where it was not loaded. */
    function insideOf(frame) {
        const inside = frame.contentDocument;
        return inside && /^(https?|about|blob):/.test(inside.URL) && inside.body && inside.body.firstChild
            ? inside.documentElement
            : null;
    }

    /* ---- how much there is ---- */

    function lettersOf(root) {
        let letters = root.textContent.length;
        for (const element of root.querySelectorAll(NOT_TEXT)) {
            letters -= element.textContent.length;
        }
        for (const element of root.querySelectorAll("*")) {
            const inside = isFrame(element) ? insideOf(element) : element.shadowRoot;
            letters += inside ? lettersOf(inside) : 0;
        }
        return letters;
    }

    /* ---- writing it down ---- */

    const collected = new Map(); // of lists that show only what is in sight: their rows by where they stand

    function escape(text, quoted) {
        const safe = text.replace(/&/g, "&amp;").replace(/\u00a0/g, "&nbsp;");
        return quoted ? safe.replace(/"/g, "&quot;") : safe.replace(/</g, "&lt;").replace(/>/g, "&gt;");
    }

    function isShown(element) {
        return element.checkVisibility ? element.checkVisibility() : true;
    }

    /* The elements that hold, however deep, something that outerHTML would leave out. */
    function findHolders(root) {
        const holders = new Set();
        for (const element of root.querySelectorAll("*")) {
            if (element.shadowRoot || collected.has(element) || (isFrame(element) && insideOf(element))) {
                for (let at = element; at && !holders.has(at); at = at.parentElement) {
                    holders.add(at);
                }
            }
        }
        return holders;
    }

    /* Writes what is shown: the shadow in place of its host's children, which stand where its slots are, and the
     * document of a frame in place of the frame. */
    class Writer {
        constructor(holders) {
            this.holders = holders;
            this.out = [];
        }

        /* `apart`: in a shadow or a frame, where styles are others than the page's and addresses may be relative to
         * something else. */
        write(node, apart) {
            if (node.nodeType === Node.TEXT_NODE) {
                this.out.push(escape(node.data));
            } else if (node.nodeType === Node.ELEMENT_NODE) {
                this.writeElement(node, apart);
            }
        }

        writeAll(nodes, apart) {
            for (const node of nodes) {
                this.write(node, apart);
            }
        }

        writeElement(element, apart) {
            const name = element.localName;
            if (!apart && !this.holders.has(element)) {
                this.out.push(element.outerHTML);
            } else if (apart && (name === "style" || name === "script" || name === "link")) {
                return;
            } else if (isFrame(element) && insideOf(element)) {
                this.writeFrame(element);
            } else if (name === "slot" && element.getRootNode() instanceof ShadowRoot) {
                const assigned = element.assignedNodes();
                this.writeAll(assigned.length ? assigned : element.childNodes, apart);
            } else {
                this.writeTag(element, name, apart);
            }
        }

        writeTag(element, name, apart) {
            const shadow = element.shadowRoot;
            if (shadow) {
                name = getComputedStyle(element).display.startsWith("inline") ? "span" : "div";
            } else if (name === "frameset" || (apart && name === "body")) {
                name = "div";
            }
            this.out.push("<", name);
            for (const { name: key, value } of element.attributes) {
                const address = apart && ADDRESSES[element.localName] === key && element[key];
                this.out.push(" ", key, '="', escape(typeof address === "string" ? address : value, true), '"');
            }
            if (apart && !isShown(element)) {
                this.out.push(" hidden");
            }
            this.out.push(">");
            if (collected.has(element)) {
                this.out.push(...collected.get(element).inOrder(), "</", name, ">");
            } else if (!VOID.test(name)) {
                this.writeAll((shadow || (name === "template" && element.content) || element).childNodes, apart || !!shadow);
                this.out.push("</", name, ">");
            }
        }

        writeFrame(frame) {
            const small = frame.offsetWidth < LEAST_FRAME || frame.offsetHeight < LEAST_FRAME;
            if (!small && isShown(frame)) {
                this.out.push("<div>");
                this.writeAll(frame.contentDocument.body.childNodes, true);
                this.out.push("</div>");
            }
        }
    }

    function write() {
        const root = document.documentElement;
        if (!root) {
            return "";
        }
        const holders = findHolders(root);
        if (!holders.size) {
            return root.outerHTML;
        }
        const writer = new Writer(holders);
        writer.write(root, false);
        return writer.out.join("");
    }

    /* ---- scrolling ---- */

    /* What can be scrolled: the page, and the largest boxes in it. */
    function findBoxes() {
        const page = document.scrollingElement;
        const boxes = [...document.querySelectorAll("body *")].filter(
            (box) =>
                box.clientHeight >= LEAST_BOX &&
                box.scrollHeight > box.clientHeight + LEAST_MOVE &&
                /auto|scroll/.test(getComputedStyle(box).overflowY),
        );
        boxes.sort((one, other) => other.clientHeight * other.clientWidth - one.clientHeight * one.clientWidth);
        const scrolls = page && page.scrollHeight > page.clientHeight + LEAST_MOVE;
        return (scrolls ? [page] : []).concat(boxes.slice(0, MOST_BOXES));
    }

    const wordsOf = (row) => row.textContent.trim();
    const rowsOf = (list) => [...list.children].filter(wordsOf);

    /* The rows of a list that shows only those in sight. Rows of the same words are two where they are more than a screen
     * apart: a list that guesses heights moves them by less. */
    class Rows {
        constructor(box, list) {
            Object.assign(this, { box, list, rows: [], letters: 0 });
        }

        gather() {
            const above = this.box === document.scrollingElement ? 0 : this.box.getBoundingClientRect().top;
            for (const row of rowsOf(this.list)) {
                const words = wordsOf(row);
                const top = row.getBoundingClientRect().top - above + this.box.scrollTop;
                if (!this.rows.some((other) => other.words === words && Math.abs(other.top - top) < this.box.clientHeight)) {
                    this.rows.push({ top, words, html: row.outerHTML });
                    this.letters += words.length;
                }
            }
        }

        inOrder() {
            return [...this.rows].sort((one, other) => one.top - other.top).map((row) => row.html);
        }
    }

    let before = []; // of each box the lists in it, and the words of their rows
    let steps = null; // the list whose rows are gathered step by step

    /* A page hears of a scroll with its next frame, which a busy machine draws late: what we say of a scroll is
     * said when the page has heard of it. A page that is not drawn at all is not waited for long. */
    const FRAMES_MS = 3000;

    function afterFrames(value) {
        return new Promise((done) => {
            setTimeout(done, FRAMES_MS, value);
            requestAnimationFrame(() => requestAnimationFrame(() => done(value)));
        });
    }

    function toEnd() {
        before = findBoxes().map((box) => {
            const lists = [...box.querySelectorAll("*")].filter((list) => list.childElementCount >= LEAST_ROWS);
            return { box, lists: lists.slice(0, MOST_LISTS).map((list) => [list, new Set(rowsOf(list).map(wordsOf))]) };
        });
        for (const { box } of before) {
            box.scrollTop = box.scrollHeight;
        }
        return before.length > 0 && afterFrames(true);
    }

    /* Finds the list that has shown other rows in place of most of those which it had, and begins it anew. */
    function findVirtual() {
        for (const { box, lists } of before) {
            for (const [list, words] of lists) {
                const now = new Set(rowsOf(list).map(wordsOf));
                const lost = [...words].filter((row) => !now.has(row)).length;
                if (list.isConnected && now.size >= LEAST_ROWS && lost > words.size / 2) {
                    steps = new Rows(box, list);
                    collected.set(list, steps);
                    box.scrollTop = 0;
                    return afterFrames(true);
                }
            }
        }
        return false;
    }

    /* Gathers what is in sight, and goes on. False at the end. */
    function step() {
        const { box, list } = steps;
        steps.gather();
        if (!list.isConnected || box.scrollTop + box.clientHeight >= box.scrollHeight - 1) {
            return false;
        }
        box.scrollTop += box.clientHeight * STEP;
        return afterFrames(true);
    }

    /* ---- what we are asked for ---- */

    globalThis.forage = {
        toEnd,
        findVirtual,
        step,
        gathered: () => steps.letters,
        letters: () => (document.documentElement ? lettersOf(document.documentElement) : 0),
        /* At most so many letters of it, and whether that is all. */
        read(most) {
            const html = write();
            const whole = html.length <= most;
            return { html: html.slice(0, most).toWellFormed(), whole };
        },
    };
})()
