/* `forage usage` and `forage history`: what was used and asked, for people and for scripts. */
#include "cli/cli.h"
#include "core/limits.h"
#include "guard/callers.h"
#include "ops/reports.h"
#include "text/text.h"

#include <stdio.h>
#include <string.h>

#define BAR_CELLS     12
#define DEFAULT_DAYS  7
#define DEFAULT_CALLS 20
#define PAGE_CALLS    500

/* ---- what both need ---- */

/* The records, and a call that reading them belongs to. */
struct reading {
    struct db *db;
    struct call *call;
    yyjson_mut_doc *doc;
};

static int begin_reading(struct reading *reading)
{
    char problem[640] = "out of memory";
    int code = load_configuration();
    if (code != EXIT_OK) {
        return code;
    }
    struct call_options options = {.caller = caller_local()};
    *reading = (struct reading){.call = call_new(&options)};
    reading->doc = reading->call ? json_new(call_arena(reading->call)) : NULL;
    reading->db = reading->doc ? records_open(reading->call, problem, sizeof problem) : NULL;
    if (!reading->db) {
        fprintf(stderr, "forage: the records cannot be opened: %s\n", problem);
        call_free(reading->call);
        return EXIT_FAILED;
    }
    return EXIT_OK;
}

static void end_reading(struct reading *reading)
{
    db_close(reading->db);
    call_free(reading->call);
}

static int say_failure(const struct reading *reading)
{
    fprintf(stderr, "forage: the records cannot be read: %s\n", db_problem(reading->db));
    return EXIT_FAILED;
}

/* ---- usage ---- */

static int64_t number(yyjson_mut_val *object, const char *key)
{
    return yyjson_mut_get_sint(yyjson_mut_obj_get(object, key));
}

static const char *word(yyjson_mut_val *object, const char *key)
{
    const char *text = yyjson_mut_get_str(yyjson_mut_obj_get(object, key));
    return text ? text : "";
}

/* "12,345", or a dash for nothing at all. */
static const char *grouped(int64_t value, char out[32])
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%lld", (long long)value);
    size_t at = 0;
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0) {
            out[at++] = ',';
        }
        out[at++] = digits[i];
    }
    out[at] = '\0';
    return value ? out : "-";
}

/* A bar in eighths of a cell, so that small differences show. */
static void put_bar(struct buf *out, int64_t value, int64_t most)
{
    static const char *const EIGHTHS[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int64_t eighths = most > 0 ? (value * BAR_CELLS * 8 + most - 1) / most : 0;
    for (int64_t cell = 0; cell < eighths / 8; cell++) {
        buf_puts(out, "█");
    }
    buf_puts(out, EIGHTHS[eighths % 8]);
}

static void put_sums(struct buf *out, yyjson_mut_val *sums)
{
    char calls[32], failures[32], input[32], output[32];
    double usd = yyjson_mut_get_num(yyjson_mut_obj_get(sums, "usd"));
    buf_printf(out, " %9s %7s %11s %11s ", grouped(number(sums, "calls"), calls),
               grouped(number(sums, "failures"), failures),
               grouped(number(sums, "input_tokens"), input),
               grouped(number(sums, "output_tokens"), output));
    if (usd > 0) {
        buf_printf(out, "%10.4f", usd);
    } else {
        buf_printf(out, "%10s", "-");
    }
}

static int print_usage(yyjson_mut_val *report, bool all_callers)
{
    struct buf text;
    size_t index, max;
    yyjson_mut_val *row;
    int64_t most = 0;
    const char *last_day = "";
    yyjson_mut_val *rows = yyjson_mut_obj_get(report, "rows");
    buf_init(&text, MIB(8));
    yyjson_mut_arr_foreach(rows, index, max, row)
    {
        most = number(row, "calls") > most ? number(row, "calls") : most;
    }
    buf_printf(&text, "%-10s  %-*s%-20s %9s %7s %11s %11s %10s\n", "day (UTC)",
               all_callers ? 14 : 0, all_callers ? "caller" : "", "tool", "calls", "failed",
               "tokens in", "out", "USD");
    yyjson_mut_arr_foreach(rows, index, max, row)
    {
        const char *day = word(row, "day");
        buf_printf(&text, "%-10s  %-*s%-20s", strcmp(day, last_day) ? day : "",
                   all_callers ? 14 : 0, all_callers ? word(row, "caller") : "", word(row, "tool"));
        put_sums(&text, row);
        buf_puts(&text, "  ");
        put_bar(&text, number(row, "calls"), most);
        buf_putc(&text, '\n');
        last_day = day;
    }
    yyjson_mut_val *total = yyjson_mut_obj_get(report, "total");
    buf_printf(&text, "%-10s  %-*s%-20s", "total", all_callers ? 14 : 0, "", "");
    put_sums(&text, total);
    buf_putc(&text, '\n');
    if (number(total, "unpriced")) {
        buf_printf(&text, "Without a price: %lld uses of models or services (FORAGE_PRICES).\n",
                   (long long)number(total, "unpriced"));
    }
    int code = print_buf(&text);
    buf_done(&text);
    return code;
}

int command_usage(const struct arguments *arguments)
{
    struct reading reading;
    yyjson_mut_val *report = NULL;
    int64_t days = DEFAULT_DAYS;
    const char *caller = option_text(arguments, "--caller");
    option_number(arguments, "--days", &days);
    int code = begin_reading(&reading);
    if (code != EXIT_OK) {
        return code;
    }
    if (report_usage(reading.db, caller, days, reading.doc, &report) != OK) {
        code = say_failure(&reading);
    } else {
        code = option_given(arguments, "--json") ? print_json(call_arena(reading.call), report)
                                                 : print_usage(report, caller == NULL);
    }
    end_reading(&reading);
    return code;
}

/* ---- history ---- */

/* What was asked for: the query, or else the arguments as they are. */
static const char *asked(const struct reading *reading, yyjson_mut_val *past)
{
    static const char *const NAMES[] = {"query", "topic", "url", "keywords", "cut"};
    yyjson_mut_val *arguments = yyjson_mut_obj_get(past, "arguments");
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        const char *text = yyjson_mut_get_str(yyjson_mut_obj_get(arguments, NAMES[i]));
        if (text) {
            return text;
        }
    }
    size_t length;
    const char *text = json_text(call_arena(reading->call), arguments, &length);
    return text ? text : "";
}

static int list_history(struct reading *reading, const struct arguments *arguments,
                        const char *caller)
{
    yyjson_mut_val *report = NULL;
    size_t index, max;
    yyjson_mut_val *past;
    int64_t limit = DEFAULT_CALLS;
    option_number(arguments, "--limit", &limit);
    if (report_history(reading->db, call_arena(reading->call), caller, 0, limit, reading->doc,
                       &report) != OK) {
        return say_failure(reading);
    }
    if (option_given(arguments, "--json")) {
        return print_json(call_arena(reading->call), report);
    }
    struct buf text;
    buf_init(&text, MIB(8));
    yyjson_mut_arr_foreach(yyjson_mut_obj_get(report, "calls"), index, max, past)
    {
        char quoted[512];
        struct text_out out;
        const char *query = asked(reading, past);
        text_start(&out, quoted, sizeof quoted);
        text_put_quoted(&out, query, strlen(query), 80);
        buf_printf(&text, "%6lld  %.19s  %-18s %-12s %s\n", (long long)number(past, "id"),
                   word(past, "at"), word(past, "tool"),
                   *word(past, "error") ? word(past, "error") : "ok", quoted);
    }
    int code = print_buf(&text);
    buf_done(&text);
    return code;
}

/* Every call on a line of its own, newest first, a page at a time. */
static int export_history(struct reading *reading, const struct arguments *arguments,
                          const char *caller)
{
    (void)arguments;
    int64_t before = 0;
    int code = EXIT_OK;
    do {
        yyjson_mut_val *report = NULL;
        size_t index, max;
        yyjson_mut_val *past;
        struct call *call = call_new(&(struct call_options){.caller = caller_local()});
        yyjson_mut_doc *doc = call ? json_new(call_arena(call)) : NULL;
        if (!doc || report_history(reading->db, call_arena(call), caller, before, PAGE_CALLS, doc,
                                   &report) != OK) {
            call_free(call);
            return say_failure(reading);
        }
        struct buf text;
        buf_init(&text, LIMIT_CALL_ARENA_BYTES);
        yyjson_mut_arr_foreach(yyjson_mut_obj_get(report, "calls"), index, max, past)
        {
            json_write(&text, call_arena(call), past);
            buf_putc(&text, '\n');
        }
        before = number(report, "next");
        code = print_buf(&text);
        buf_done(&text);
        call_free(call);
    } while (code == EXIT_OK && before > 0);
    return code;
}

static int wipe_history(struct reading *reading, const struct arguments *arguments,
                        const char *caller)
{
    (void)arguments;
    int64_t wiped = 0;
    if (records_wipe(reading->db, caller, &wiped) != OK) {
        return say_failure(reading);
    }
    printf("The history of %s is gone: %lld calls.\n", caller, (long long)wiped);
    return EXIT_OK;
}

int command_history(const struct arguments *arguments)
{
    static const struct {
        const char *name;
        int (*run)(struct reading *reading, const struct arguments *arguments, const char *caller);
    } PARTS[] = {{"list", list_history}, {"export", export_history}, {"wipe", wipe_history}};
    struct reading reading;
    const char *caller = option_text(arguments, "--caller");
    int code = begin_reading(&reading);
    if (code != EXIT_OK) {
        return code;
    }
    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++) {
        if (strcmp(arguments_command(arguments)->name, PARTS[i].name) == 0) {
            code = PARTS[i].run(&reading, arguments, caller ? caller : caller_local()->name);
        }
    }
    end_reading(&reading);
    return code;
}
