/* `forage usage` and `forage history`: what was used and asked, for people and for scripts. */
#include "cli/cli.h"
#include "cli/run.h"
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

/* The open records, and the call in whose time they are read. */
struct opened {
    struct places *places;
    struct db *db;
    struct call *call;
    yyjson_mut_doc *doc;
};

static int open_records(struct opened *opened)
{
    char problem[640] = "out of memory";
    int code = load_configuration();
    if (code != EXIT_OK) {
        return code;
    }
    struct call_options options = {.caller = caller_local()};
    *opened = (struct opened){.places = places_new(), .call = call_new(&options)};
    opened->doc = opened->call ? json_new(call_arena(opened->call)) : NULL;
    opened->db = opened->doc && opened->places
                     ? records_open(opened->places, opened->call, problem, sizeof problem)
                     : NULL;
    if (!opened->db) {
        fprintf(stderr, "forage: the records cannot be opened: %s\n", problem);
        call_free(opened->call);
        places_free(opened->places);
        return EXIT_FAILED;
    }
    return EXIT_OK;
}

static void close_records(struct opened *opened)
{
    db_close(opened->db);
    call_free(opened->call);
    places_free(opened->places);
}

static int print_records_error(const struct opened *opened)
{
    fprintf(stderr, "forage: the records cannot be read: %s\n", db_problem(opened->db));
    return EXIT_FAILED;
}

/* ---- usage ---- */

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
    buf_printf(out, " %9s %7s %11s %11s ", grouped(number_of(sums, "calls"), calls),
               grouped(number_of(sums, "failures"), failures),
               grouped(number_of(sums, "input_tokens"), input),
               grouped(number_of(sums, "output_tokens"), output));
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
        most = number_of(row, "calls") > most ? number_of(row, "calls") : most;
    }
    buf_printf(&text, "%-10s  %-*s%-20s %9s %7s %11s %11s %10s\n", "day (UTC)",
               all_callers ? 14 : 0, all_callers ? "caller" : "", "tool", "calls", "failed",
               "tokens in", "out", "USD");
    yyjson_mut_arr_foreach(rows, index, max, row)
    {
        const char *day = text_of(row, "day");
        buf_printf(&text, "%-10s  %-*s%-20s", strcmp(day, last_day) ? day : "",
                   all_callers ? 14 : 0, all_callers ? text_of(row, "caller") : "",
                   text_of(row, "tool"));
        put_sums(&text, row);
        buf_puts(&text, "  ");
        put_bar(&text, number_of(row, "calls"), most);
        buf_putc(&text, '\n');
        last_day = day;
    }
    yyjson_mut_val *total = yyjson_mut_obj_get(report, "total");
    buf_printf(&text, "%-10s  %-*s%-20s", "total", all_callers ? 14 : 0, "", "");
    put_sums(&text, total);
    buf_putc(&text, '\n');
    if (number_of(total, "unpriced")) {
        buf_printf(&text, "Without a price: %lld uses of models or services (FORAGE_PRICES).\n",
                   (long long)number_of(total, "unpriced"));
    }
    return print_buf(&text);
}

int command_usage(const struct arguments *arguments)
{
    struct opened opened;
    yyjson_mut_val *report = NULL;
    int64_t days = DEFAULT_DAYS;
    const char *caller = option_text(arguments, "--caller");
    option_number(arguments, "--days", &days);
    int code = open_records(&opened);
    if (code != EXIT_OK) {
        return code;
    }
    if (report_usage(opened.db, caller, days, opened.doc, &report) != OK) {
        code = print_records_error(&opened);
    } else {
        code = option_given(arguments, "--json") ? print_json(call_arena(opened.call), report)
                                                 : print_usage(report, caller == NULL);
    }
    close_records(&opened);
    return code;
}

/* ---- history ---- */

/* What was asked for: the query, or else the arguments as they are. */
static const char *asked(const struct opened *opened, yyjson_mut_val *past)
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
    const char *text = json_text(call_arena(opened->call), arguments, &length);
    return text ? text : "";
}

static int list_history(struct opened *opened, const struct arguments *arguments,
                        const char *caller)
{
    yyjson_mut_val *report = NULL;
    size_t index, max;
    yyjson_mut_val *past;
    int64_t limit = DEFAULT_CALLS;
    option_number(arguments, "--limit", &limit);
    if (report_history(opened->db, call_arena(opened->call), caller, 0, limit, opened->doc,
                       &report) != OK) {
        return print_records_error(opened);
    }
    if (option_given(arguments, "--json")) {
        return print_json(call_arena(opened->call), report);
    }
    struct buf text;
    buf_init(&text, MIB(8));
    yyjson_mut_arr_foreach(yyjson_mut_obj_get(report, "calls"), index, max, past)
    {
        char quoted[512];
        struct text_out out;
        const char *query = asked(opened, past);
        text_start(&out, quoted, sizeof quoted);
        text_put_quoted(&out, query, strlen(query), 80);
        buf_printf(&text, "%6lld  %.19s  %-18s %-12s %s\n", (long long)number_of(past, "id"),
                   text_of(past, "at"), text_of(past, "tool"),
                   *text_of(past, "error") ? text_of(past, "error") : "ok", quoted);
    }
    return print_buf(&text);
}

/* Every call on a line of its own, newest first, a page at a time. */
static int export_history(struct opened *opened, const struct arguments *arguments,
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
        if (!doc || report_history(opened->db, call_arena(call), caller, before, PAGE_CALLS, doc,
                                   &report) != OK) {
            call_free(call);
            return print_records_error(opened);
        }
        struct buf text;
        buf_init(&text, LIMIT_CALL_ARENA_BYTES);
        yyjson_mut_arr_foreach(yyjson_mut_obj_get(report, "calls"), index, max, past)
        {
            json_write(&text, call_arena(call), past);
            buf_putc(&text, '\n');
        }
        before = number_of(report, "next");
        code = print_buf(&text);
        call_free(call);
    } while (code == EXIT_OK && before > 0);
    return code;
}

static int wipe_history(struct opened *opened, const struct arguments *arguments,
                        const char *caller)
{
    (void)arguments;
    int64_t wiped = 0;
    if (records_wipe(opened->db, caller, &wiped) != OK) {
        return print_records_error(opened);
    }
    printf("The history of %s is gone: %lld calls.\n", caller, (long long)wiped);
    return EXIT_OK;
}

int command_history(const struct arguments *arguments)
{
    static const struct {
        const char *name;
        int (*run)(struct opened *opened, const struct arguments *arguments, const char *caller);
    } PARTS[] = {{"list", list_history}, {"export", export_history}, {"wipe", wipe_history}};
    struct opened opened;
    const char *caller = option_text(arguments, "--caller");
    int code = open_records(&opened);
    if (code != EXIT_OK) {
        return code;
    }
    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++) {
        if (strcmp(arguments_command(arguments)->name, PARTS[i].name) == 0) {
            code = PARTS[i].run(&opened, arguments, caller ? caller : caller_local()->name);
        }
    }
    close_records(&opened);
    return code;
}
