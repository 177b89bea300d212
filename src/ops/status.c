/* What the program knows of itself: how long it runs, its tools, and what they have done. */
#include "ops/status.h"

#include "call/call.h"
#include "call/pool.h"
#include "config/budget.h"
#include "core/clock.h"
#include "core/limits.h"
#include "ops/ledger.h"

#include <string.h>

double status_uptime_s(const struct program_status *status)
{
    return (double)(clock_now_ms() - status->started_ms) / 1000;
}

/* ---- what is stuck ---- */

#define STATUS_WAITS 8 /* different ones that are told */

struct status_wait {
    const char *what;
    unsigned calls;
    int64_t longest_ms;
};

struct waits {
    struct status_wait *items;
    size_t count;
    int64_t now_ms;
};

static void add_wait(struct waits *waits, const char *what, int64_t since_ms, unsigned calls)
{
    int64_t time_ms = waits->now_ms - since_ms;
    size_t at = 0;
    while (at < waits->count && strcmp(waits->items[at].what, what) != 0) {
        at++;
    }
    if (time_ms < TIME_STUCK_MS || at == STATUS_WAITS) {
        return;
    }
    struct status_wait *wait = &waits->items[at];
    if (at == waits->count) {
        waits->count++;
        *wait = (struct status_wait){.what = what};
    }
    wait->calls += calls;
    wait->longest_ms = time_ms > wait->longest_ms ? time_ms : wait->longest_ms;
}

static void look_at_call(void *context, const struct call *call)
{
    int64_t since_ms;
    const char *what = call_waits_since(call, &since_ms);
    if (what) {
        add_wait(context, what, since_ms, 1);
    }
}

static size_t find_waits(const struct program_status *status,
                         struct status_wait waits[STATUS_WAITS])
{
    int64_t since_ms;
    struct waits found = {.items = waits, .now_ms = clock_now_ms()};
    const char *what = status->ledger ? ledger_waits_since(status->ledger, &since_ms) : NULL;
    if (what) {
        add_wait(&found, what, since_ms, 0);
    }
    if (status->pool) {
        pool_look(status->pool, look_at_call, &found);
    }
    return found.count;
}

void status_add_waits(const struct program_status *status, yyjson_mut_doc *doc,
                      yyjson_mut_val *body)
{
    struct status_wait waits[STATUS_WAITS];
    size_t count = find_waits(status, waits);
    yyjson_mut_val *list = count ? yyjson_mut_obj_add_arr(doc, body, "waiting") : NULL;
    for (size_t i = 0; i < count; i++) {
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
        yyjson_mut_obj_add_str(doc, item, "for", waits[i].what);
        yyjson_mut_obj_add_uint(doc, item, "calls", waits[i].calls);
        yyjson_mut_obj_add_real(doc, item, "seconds", (double)waits[i].longest_ms / 1000);
    }
}

/* ---- tools and their counts ---- */

static yyjson_mut_val *describe_tool(yyjson_mut_doc *doc, const struct entry *entry)
{
    struct readiness readiness = {.ready = true};
    if (entry->tool->ready) {
        entry->tool->ready(&readiness);
    }
    yyjson_mut_val *item = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_str(doc, item, "name", entry->name);
    yyjson_mut_obj_add_str(doc, item, "group", entry->group);
    yyjson_mut_obj_add_bool(doc, item, "ready", readiness.ready);
    if (!readiness.ready) {
        yyjson_mut_obj_add_strcpy(doc, item, "lacks", readiness.lacks);
    }
    yyjson_mut_obj_add_uint(doc, item, "calls", atomic_load(&entry->counts->calls));
    yyjson_mut_obj_add_uint(doc, item, "failures", atomic_load(&entry->counts->failures));
    yyjson_mut_obj_add_uint(doc, item, "running", atomic_load(&entry->counts->running));
    return item;
}

static yyjson_mut_val *describe_counts(yyjson_mut_doc *doc, const struct registry *registry)
{
    uint64_t calls = 0;
    uint64_t failures = 0;
    uint64_t running = 0;
    for (size_t i = 0; i < registry->tool_count; i++) {
        struct tool_counts *counts = registry->tools[i].counts;
        calls += atomic_load(&counts->calls);
        failures += atomic_load(&counts->failures);
        running += atomic_load(&counts->running);
    }
    yyjson_mut_val *sums = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_uint(doc, sums, "calls", calls);
    yyjson_mut_obj_add_uint(doc, sums, "failures", failures);
    yyjson_mut_obj_add_uint(doc, sums, "running", running);
    return sums;
}

/* For whom the server works, and how large results are for it. */
static void add_context(yyjson_mut_doc *doc, yyjson_mut_val *status)
{
    struct budget budget = budget_find();
    yyjson_mut_obj_add_uint(doc, status, "result_chars", budget.chars);
    if (budget.context) {
        yyjson_mut_obj_add_str(doc, status, "context", budget.context);
        yyjson_mut_obj_add_str(doc, status, "result_chars_reason", budget.reason);
    }
}

yyjson_mut_val *status_describe(const struct program_status *status, yyjson_mut_doc *doc,
                                const char *only)
{
    const struct registry *registry = status->registry;
    yyjson_mut_val *tools = yyjson_mut_arr(doc);
    for (size_t i = 0; i < registry->tool_count; i++) {
        if (only ? strcmp(only, registry->tools[i].name) == 0 : registry->tools[i].listed) {
            yyjson_mut_arr_append(tools, describe_tool(doc, &registry->tools[i]));
        }
    }
    if (only && yyjson_mut_arr_size(tools) == 0) {
        return NULL;
    }
    yyjson_mut_val *body = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_bool(doc, body, "success", true);
    yyjson_mut_obj_add_str(doc, body, "name", "forage");
    yyjson_mut_obj_add_str(doc, body, "version", FORAGE_VERSION);
    add_context(doc, body);
    yyjson_mut_obj_add_real(doc, body, "uptime_s", status_uptime_s(status));
    status_add_waits(status, doc, body);
    if (status->add && !only) {
        status->add(status->part, doc, body);
    }
    yyjson_mut_obj_add_val(doc, body, "tools", tools);
    yyjson_mut_obj_add_val(doc, body, "counts", describe_counts(doc, registry));
    return body;
}
