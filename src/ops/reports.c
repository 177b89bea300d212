/* Writes usage and history as JSON, for REST and the command line. */
#include "ops/reports.h"
#include "core/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define DAY_MS INT64_C(86400000)

static double dollars(int64_t nano)
{
    return (double)nano / (double)NANO_PER_USD;
}

/* ---- usage ---- */

struct usage_report {
    yyjson_mut_doc *doc;
    yyjson_mut_val *rows;
    struct record_sums total;
};

static void add_sums(yyjson_mut_doc *doc, yyjson_mut_val *object, const struct record_sums *sums)
{
    yyjson_mut_obj_add_sint(doc, object, "calls", sums->calls);
    yyjson_mut_obj_add_sint(doc, object, "failures", sums->failures);
    yyjson_mut_obj_add_sint(doc, object, "cached", sums->recalled);
    yyjson_mut_obj_add_sint(doc, object, "input_tokens", sums->input_tokens);
    yyjson_mut_obj_add_sint(doc, object, "output_tokens", sums->output_tokens);
    yyjson_mut_obj_add_real(doc, object, "usd", dollars(sums->nano_usd));
    yyjson_mut_obj_add_sint(doc, object, "unpriced", sums->unpriced);
}

/* A server may say any number. */
static void add_up(int64_t *sum, int64_t more)
{
    if (__builtin_add_overflow(*sum, more, sum)) {
        *sum = INT64_MAX;
    }
}

static void add_usage_row(void *context, const struct record_sums *row)
{
    struct usage_report *report = context;
    yyjson_mut_val *object = yyjson_mut_obj(report->doc);
    yyjson_mut_obj_add_strcpy(report->doc, object, "day", row->day);
    yyjson_mut_obj_add_strcpy(report->doc, object, "caller", row->caller);
    yyjson_mut_obj_add_strcpy(report->doc, object, "tool", row->tool);
    add_sums(report->doc, object, row);
    yyjson_mut_arr_append(report->rows, object);
    add_up(&report->total.calls, row->calls);
    add_up(&report->total.failures, row->failures);
    add_up(&report->total.recalled, row->recalled);
    add_up(&report->total.input_tokens, row->input_tokens);
    add_up(&report->total.output_tokens, row->output_tokens);
    add_up(&report->total.nano_usd, row->nano_usd);
    add_up(&report->total.unpriced, row->unpriced);
}

int report_usage(struct db *db, const char *caller, int64_t days, yyjson_mut_doc *doc,
                 yyjson_mut_val **result)
{
    char from[GATE_DAY_SIZE];
    gate_day(clock_wall_ms() - (days - 1) * DAY_MS, from);
    struct usage_report report = {.doc = doc, .rows = yyjson_mut_arr(doc)};
    int status = records_usage(db, caller, from, add_usage_row, &report);
    if (status != OK) {
        return status;
    }
    yyjson_mut_val *total = yyjson_mut_obj(doc);
    add_sums(doc, total, &report.total);
    *result = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_strcpy(doc, *result, "from", from);
    yyjson_mut_obj_add_sint(doc, *result, "days", days);
    yyjson_mut_obj_add_val(doc, *result, "rows", report.rows);
    yyjson_mut_obj_add_val(doc, *result, "total", total);
    return *result ? OK : ERR_NOMEM;
}

/* ---- history ---- */

struct history_report {
    struct arena *arena;
    yyjson_mut_doc *doc;
    yyjson_mut_val *calls;
    int64_t count;
    int64_t last_id;
};

static void add_time(yyjson_mut_doc *doc, yyjson_mut_val *object, int64_t at_ms)
{
    char text[64];
    struct tm parts = {0};
    time_t seconds = (time_t)(at_ms / 1000);
    gmtime_r(&seconds, &parts);
    size_t length = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text + length, sizeof text - length, ".%03dZ", (int)(at_ms % 1000));
    yyjson_mut_obj_add_strcpy(doc, object, "at", text);
}

static void add_past_call(void *context, const struct record_past *row)
{
    struct history_report *report = context;
    yyjson_mut_doc *doc = report->doc;
    yyjson_doc *arguments = json_parse(report->arena, row->arguments, strlen(row->arguments), NULL);
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_sint(doc, object, "id", row->id);
    add_time(doc, object, row->at_ms);
    yyjson_mut_obj_add_strcpy(doc, object, "tool", row->tool);
    yyjson_mut_obj_add_val(doc, object, "arguments",
                           arguments ? json_copy(doc, yyjson_doc_get_root(arguments))
                                     : yyjson_mut_null(doc));
    if (row->code) {
        yyjson_mut_obj_add_strcpy(doc, object, "error", row->code);
    }
    yyjson_mut_obj_add_sint(doc, object, "ms", row->took_ms);
    yyjson_mut_obj_add_sint(doc, object, "input_tokens", row->input_tokens);
    yyjson_mut_obj_add_sint(doc, object, "output_tokens", row->output_tokens);
    yyjson_mut_obj_add_real(doc, object, "usd", dollars(row->nano_usd));
    yyjson_mut_arr_append(report->calls, object);
    report->count++;
    report->last_id = row->id;
}

int report_history(struct db *db, struct arena *arena, const char *caller, int64_t before,
                   int64_t limit, yyjson_mut_doc *doc, yyjson_mut_val **result)
{
    struct history_report report = {.arena = arena, .doc = doc, .calls = yyjson_mut_arr(doc)};
    int status = records_history(db, caller, before, limit, add_past_call, &report);
    if (status != OK) {
        return status;
    }
    *result = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_val(doc, *result, "calls", report.calls);
    if (report.count == limit) {
        yyjson_mut_obj_add_sint(doc, *result, "next", report.last_id);
    }
    return *result ? OK : ERR_NOMEM;
}
