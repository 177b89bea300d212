/* What the process knows of itself. */
#include "ops/status.h"

#include "config/budget.h"
#include "core/clock.h"

#include <string.h>

static const struct registry *known;
static int64_t started_ms;

void status_start(const struct registry *registry)
{
    known = registry;
    started_ms = clock_now_ms();
}

double status_uptime_s(void)
{
    return (double)(clock_now_ms() - started_ms) / 1000;
}

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

static yyjson_mut_val *describe_counts(yyjson_mut_doc *doc)
{
    uint64_t calls = 0;
    uint64_t failures = 0;
    uint64_t running = 0;
    for (size_t i = 0; i < registry_tool_count(known); i++) {
        struct tool_counts *counts = registry_tool_at(known, i)->counts;
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

yyjson_mut_val *status_describe(yyjson_mut_doc *doc, const char *only)
{
    yyjson_mut_val *tools = yyjson_mut_arr(doc);
    bool found = only == NULL;
    for (size_t i = 0; i < registry_tool_count(known); i++) {
        const struct entry *entry = registry_tool_at(known, i);
        if (!only || strcmp(only, entry->name) == 0) {
            yyjson_mut_arr_append(tools, describe_tool(doc, entry));
            found = true;
        }
    }
    if (!found) {
        return NULL;
    }
    yyjson_mut_val *status = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_bool(doc, status, "success", true);
    yyjson_mut_obj_add_str(doc, status, "name", "forage");
    yyjson_mut_obj_add_str(doc, status, "version", FORAGE_VERSION);
    add_context(doc, status);
    yyjson_mut_obj_add_real(doc, status, "uptime_s", status_uptime_s());
    yyjson_mut_obj_add_val(doc, status, "tools", tools);
    yyjson_mut_obj_add_val(doc, status, "counts", describe_counts(doc));
    return status;
}
