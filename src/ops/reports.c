/* Writes usage and history as JSON, for REST and the command line. */
#include "ops/reports.h"

#include "core/clock.h"
#include "text/packed.h"

#include <string.h>

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
    char from[ADMISSION_DAY_SIZE];
    admission_day(clock_wall_ms() - (days - 1) * DAY_MS, from);
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

/* ---- history, and single calls ---- */

/* What goes on with `before` when there may be more. */
struct history_page {
    yyjson_mut_doc *doc;
    struct arena *arena;
    yyjson_mut_val *calls;
    int64_t count;
    int64_t last_id;
};

static yyjson_mut_val *begin_call(struct history_page *page, int64_t id, int64_t at_ms,
                                  const char *caller, const char *tool)
{
    char stamp[CLOCK_STAMP_SIZE];
    yyjson_mut_val *object = yyjson_mut_arr_add_obj(page->doc, page->calls);
    yyjson_mut_obj_add_sint(page->doc, object, "id", id);
    yyjson_mut_obj_add_strcpy(page->doc, object, "at", clock_stamp_of(at_ms, stamp));
    yyjson_mut_obj_add_strcpy(page->doc, object, "caller", caller);
    yyjson_mut_obj_add_strcpy(page->doc, object, "tool", tool);
    page->count++;
    page->last_id = id;
    return object;
}

static void add_cost(yyjson_mut_doc *doc, yyjson_mut_val *object, int64_t input_tokens,
                     int64_t output_tokens, int64_t nano_usd)
{
    yyjson_mut_obj_add_sint(doc, object, "input_tokens", input_tokens);
    yyjson_mut_obj_add_sint(doc, object, "output_tokens", output_tokens);
    yyjson_mut_obj_add_real(doc, object, "usd", dollars(nano_usd));
}

static int end_page(const struct history_page *page, int64_t limit, yyjson_mut_val **report)
{
    *report = yyjson_mut_obj(page->doc);
    yyjson_mut_obj_add_val(page->doc, *report, "calls", page->calls);
    if (page->count == limit) {
        yyjson_mut_obj_add_sint(page->doc, *report, "next", page->last_id);
    }
    return *report ? OK : ERR_NOMEM;
}

static void add_past_call(void *context, const struct record_past *row)
{
    struct history_page *page = context;
    yyjson_mut_doc *doc = page->doc;
    yyjson_doc *arguments = json_parse(page->arena, row->arguments, strlen(row->arguments), NULL);
    yyjson_mut_val *object = begin_call(page, row->id, row->at_ms, row->caller, row->tool);
    yyjson_mut_obj_add_val(doc, object, "arguments",
                           arguments ? json_copy(doc, yyjson_doc_get_root(arguments))
                                     : yyjson_mut_null(doc));
    if (row->code) {
        yyjson_mut_obj_add_strcpy(doc, object, "error", row->code);
    }
    yyjson_mut_obj_add_sint(doc, object, "ms", row->took_ms);
    add_cost(doc, object, row->input_tokens, row->output_tokens, row->nano_usd);
    yyjson_mut_obj_add_bool(doc, object, "has_result", row->has_result);
}

int report_history(struct db *db, struct arena *arena, const struct record_filter *filter,
                   yyjson_mut_doc *doc, yyjson_mut_val **report)
{
    struct history_page page = {.doc = doc, .arena = arena, .calls = yyjson_mut_arr(doc)};
    int status = records_history(db, filter, add_past_call, &page);
    return status == OK ? end_page(&page, filter->limit, report) : status;
}

int report_past_call(struct db *db, struct arena *arena, const char *caller, int64_t id,
                     yyjson_mut_doc *doc, yyjson_mut_val **report)
{
    struct history_page page = {.doc = doc, .arena = arena, .calls = yyjson_mut_arr(doc)};
    struct record_filter filter = {.caller = caller, .before = id + 1, .limit = 1};
    const void *packed = NULL;
    size_t size = 0, length = 0;
    int status = records_history(db, &filter, add_past_call, &page);
    if (status == OK && (page.count != 1 || page.last_id != id)) {
        status = ERR_NOTFOUND;
    }
    if (status == OK) {
        status = records_result(db, arena, caller, id, &packed, &size);
    }
    if (status != OK) {
        return status;
    }
    const char *text =
        packed ? unpacked_text(arena, packed, size, LIMIT_HISTORY_ONE_BYTES, &length) : NULL;
    yyjson_doc *result = text ? json_parse(arena, text, length, NULL) : NULL;
    *report = yyjson_mut_arr_get_first(page.calls);
    if (result) {
        yyjson_mut_obj_add_val(doc, *report, "result", json_copy(doc, yyjson_doc_get_root(result)));
    }
    return *report ? OK : ERR_NOMEM;
}

static void add_call(void *context, const struct call_row *row)
{
    struct history_page *page = context;
    yyjson_mut_doc *doc = page->doc;
    yyjson_mut_val *object = begin_call(page, row->id, row->at_ms, row->caller, row->tool);
    yyjson_mut_obj_add_strcpy(doc, object, "provider", row->provider);
    yyjson_mut_obj_add_real(doc, object, "ms", (double)row->took_us / 1000);
    if (row->code) {
        yyjson_mut_obj_add_strcpy(doc, object, "error", row->code);
    }
    yyjson_mut_obj_add_bool(doc, object, "cached", row->recalled);
    add_cost(doc, object, row->input_tokens, row->output_tokens, row->nano_usd);
}

int report_calls(struct db *db, const struct call_filter *filter, yyjson_mut_doc *doc,
                 yyjson_mut_val **report)
{
    struct history_page page = {.doc = doc, .calls = yyjson_mut_arr(doc)};
    int status = calls_read(db, filter, add_call, &page);
    return status == OK ? end_page(&page, filter->limit, report) : status;
}
