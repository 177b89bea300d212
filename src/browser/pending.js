/* What a page has set to come: timers, frames of animation, workers, and connections that stay open.
 *
 * Runs in the page's own world before its own scripts, since only there can its calls be seen. Others may
 * change every prototype later: what is needed of them is taken now, and tables have none. A page that finds
 * the one name that this leaves, and calls or fools it, gains nothing: it only delays or hastens its own reading.
 *
 * A timer counts as long as it may be of the page's start: it is short, and it has not yet been seen to
 * go off again and again while the text stays as it is. Which timers are the same one, the text of their
 * function and how long they are say, because pages make the function anew each time, and add chance to the time. */
((name) => {
    "use strict";
    const LONGEST_MS = 5500; // that a timer may be ahead and still be of the start
    const SETTLING_MS = 250; // that a timer which goes on gets after the text has stopped,
    const SLOW_MS = 200; // and one that goes off no more often than so
    const SLOW_SETTLING_MS = 100;
    const PATIENCE_MS = 2000; // the same of one that is set anew each time: it may be a chain,
    const CHAIN = 4; // of no more than so many
    const LATE_MS = 1000; // that a timer may be
    const FIRST_WORD_MS = 3000; // for the first message of a socket or a worker
    const WORKER_MS = 5000; // for a service worker to begin its work

    const { apply, construct, defineProperty } = Reflect;
    const { round, log2: log } = Math;
    const now = performance.now.bind(performance);
    const sourceOf = Function.prototype.toString;
    const cut = String.prototype.slice;
    const listen = EventTarget.prototype.addEventListener;
    const when = Promise.prototype.then;
    const seen = Object.create(null); // by key: { set, fired, times, asks } since the text has changed
    const tables = [];
    const things = Object.create(null); // until when each is waited for
    let thing = 0;
    let running = null; // what is known of the timer that has just gone off
    let live = 0; // connections that stay open

    function keyOf(callback, delay) {
        let words = "";
        try {
            words = apply(sourceOf, callback, []);
        } catch {
            // a string: the delay alone says which
        }
        return round(log(delay + 1)) + " " + words.length + " " + apply(cut, words, [0, 200]);
    }

    function fire(entry, callback, self, given) {
        const record = seen[entry.key];
        const before = running;
        record.fired = record.fired || now();
        record.times++;
        running = record;
        try {
            return apply(callback, self, given);
        } finally {
            running = before;
        }
    }

    function watch(object, set, clears, table, repeats, fixed) {
        const own = object[set];
        if (typeof own !== "function") {
            return;
        }
        object[set] = new Proxy(own, {
            apply(target, self, given) {
                const callback = given[0];
                const delay = fixed === undefined ? +given[1] || 0 : fixed;
                const late = typeof callback === "function" ? LATE_MS : 0; // a text does not say that it has run
                const entry = { over: now() + delay + late, delay, repeats, key: keyOf(callback, delay) };
                let id = 0;
                if (typeof callback === "function") {
                    given[0] = function () {
                        if (!repeats || fixed !== undefined) {
                            delete table[id];
                        }
                        return fire(entry, callback, this, arguments);
                    };
                }
                id = apply(target, self, given);
                table[id] = entry;
                seen[entry.key] = seen[entry.key] || { set: now(), fired: 0, times: 0, asks: false };
                return id;
            },
        });
        for (const clear of clears) {
            object[clear] = new Proxy(object[clear], {
                apply(target, self, given) {
                    delete table[given[0]];
                    return apply(target, self, given);
                },
            });
        }
    }

    /* A timer that asks a server and changes no text polls. */
    function watchRequests(object, method) {
        const own = object && object[method];
        if (own) {
            object[method] = new Proxy(own, {
                apply(target, self, given) {
                    if (running) {
                        running.asks = true;
                    }
                    return apply(target, self, given);
                },
            });
        }
    }

    /* Waits so long at most; what is returned ends it. */
    function hold(time) {
        const id = ++thing;
        things[id] = now() + time;
        return () => delete things[id];
    }

    /* Something that talks to the page: its first word is waited for. */
    function watchTalker(kind, stays) {
        const own = window[kind];
        if (typeof own !== "function") {
            return;
        }
        window[kind] = new Proxy(own, {
            construct(target, given, made) {
                const talker = construct(target, given, made);
                const heard = hold(FIRST_WORD_MS);
                live += stays;
                apply(listen, talker, ["message", heard]);
                apply(listen, talker, ["error", heard]);
                apply(listen, talker, [
                    "close",
                    () => {
                        heard();
                        live -= stays;
                    },
                ]);
                return talker;
            },
        });
    }

    function watchServiceWorkers() {
        const container = window.ServiceWorkerContainer;
        const own = container && container.prototype.register;
        if (!own) {
            return;
        }
        container.prototype.register = new Proxy(own, {
            apply(target, self, given) {
                const done = hold(WORKER_MS);
                const promise = apply(target, self, given);
                apply(when, promise, [
                    (registration) => {
                        const worker = registration.installing || registration.waiting;
                        if (!worker) {
                            done();
                            return;
                        }
                        apply(listen, worker, [
                            "statechange",
                            () => (worker.state === "activated" || worker.state === "redundant") && done(),
                        ]);
                    },
                    done,
                ]);
                return promise;
            },
        });
    }

    function counts(entry, time, changed) {
        const record = seen[entry.key];
        const fired = record.fired && (record.fired > changed ? record.fired : changed);
        const set = record.set > changed ? record.set : changed;
        if (entry.delay > LONGEST_MS || time - set > entry.delay + PATIENCE_MS) {
            return false; // it is set again and again, and never goes off
        }
        if (!fired || time - fired < (entry.delay < SLOW_MS ? SETTLING_MS : SLOW_SETTLING_MS)) {
            return true;
        }
        return !entry.repeats && !record.asks && record.times < CHAIN && time - fired < PATIENCE_MS;
    }

    /* 2: there is something to wait for; 1: there may be, since a connection is open; 0: there is not. The
     * text has not changed for so long. */
    function pending(still) {
        const time = now();
        const changed = time - still;
        let state = live > 0 ? 1 : 0;
        for (const key in seen) {
            if (seen[key].fired && seen[key].fired < changed) {
                seen[key].fired = seen[key].times = 0;
            }
        }
        for (let i = 0; i < tables.length; i++) {
            const table = tables[i];
            for (const id in table) {
                if (!table[id].repeats && time > table[id].over) {
                    delete table[id]; // a text that was run, or a timer of a frame that is gone
                } else if (counts(table[id], time, changed)) {
                    state = 2;
                }
            }
        }
        for (const id in things) {
            if (time > things[id]) {
                delete things[id];
            } else {
                state = 2;
            }
        }
        for (let i = 0; i < window.length && state < 2; i++) {
            try {
                const inside = window[i][name](still);
                state = inside > state ? inside : state;
            } catch {
                // a frame of another origin
            }
        }
        return state;
    }

    const timers = Object.create(null);
    const frames = Object.create(null);
    const idle = Object.create(null);
    tables.push(timers, frames, idle);
    watch(window, "setTimeout", ["clearTimeout"], timers, false);
    watch(window, "setInterval", ["clearInterval"], timers, true);
    watch(window, "requestAnimationFrame", ["cancelAnimationFrame"], frames, true, 16);
    watch(window, "requestIdleCallback", ["cancelIdleCallback"], idle, true, 50);
    watchRequests(window, "fetch");
    watchRequests(window.XMLHttpRequest && XMLHttpRequest.prototype, "send");
    watchTalker("WebSocket", 1);
    watchTalker("EventSource", 1);
    watchTalker("Worker", 0);
    watchTalker("SharedWorker", 0);
    watchServiceWorkers();
    defineProperty(window, name, { value: pending });
})
