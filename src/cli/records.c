/* `forage usage` and `forage history`: what was used and asked, for people and for scripts. */
#include "cli/cli.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/tool_command.h"
#include "config/config.h"
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
    struct call_options options = {.caller = caller_local(), .for_operator = true};
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
static const char *grouped(struct arena *arena, int64_t value)
{
    char digits[24], out[32] = "";
    int length = snprintf(digits, sizeof digits, "%lld", (long long)value);
    size_t at = 0;
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0) {
            out[at++] = ',';
        }
        out[at++] = digits[i];
    }
    return value ? arena_strndup(arena, out, at) : "-";
}

/* A bar in eighths of a cell, so that small differences show. */
static const char *bar(struct arena *arena, int64_t value, int64_t most)
{
    static const char *const EIGHTHS[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    struct buf out;
    int64_t eighths = most > 0 ? (value * BAR_CELLS * 8 + most - 1) / most : 0;
    buf_init(&out, KIB(1));
    for (int64_t cell = 0; cell < eighths / 8; cell++) {
        buf_puts(&out, "█");
    }
    buf_puts(&out, EIGHTHS[eighths % 8]);
    return buf_to_arena(&out, arena);
}

/* A row of the table: names, and the sums of a report. */
static void add_sums(struct table *table, struct arena *arena, const char *const names[3],
                     yyjson_mut_val *sums, int64_t most)
{
    double usd = yyjson_mut_get_num(yyjson_mut_obj_get(sums, "usd"));
    const char *cells[] = {
        names[0],
        names[1],
        names[2],
        grouped(arena, number_of(sums, "calls")),
        grouped(arena, number_of(sums, "failures")),
        grouped(arena, number_of(sums, "input_tokens")),
        grouped(arena, number_of(sums, "output_tokens")),
        usd > 0 ? arena_printf(arena, "%.4f", usd) : "-",
        bar(arena, number_of(sums, "calls"), most),
    };
    table_add(table, cells);
}

/* Words, as there is nothing to show. */
static int print_no_usage(const char *caller, int64_t days)
{
    fprintf(stderr,
            "forage: no calls%s%s in the last %lld days; what asks the web is counted, "
            "memories are not\n",
            caller ? " of " : "", caller ? caller : "", (long long)days);
    return EXIT_OK;
}

static int print_usage(struct arena *arena, yyjson_mut_val *report, bool all_callers)
{
    const struct table_column columns[] = {
        {"day (UTC)", COLUMN_LEFT}, {all_callers ? "caller" : "", COLUMN_CUT},
        {"tool", COLUMN_CUT},       {"calls", COLUMN_RIGHT},
        {"failed", COLUMN_RIGHT},   {"tokens in", COLUMN_RIGHT},
        {"out", COLUMN_RIGHT},      {"USD", COLUMN_RIGHT},
        {"", COLUMN_SPARE},
    };
    struct buf text;
    size_t index, max;
    yyjson_mut_val *row;
    int64_t most = 0;
    const char *last_day = "";
    yyjson_mut_val *rows = yyjson_mut_obj_get(report, "rows");
    struct table *table = table_new(arena, columns, sizeof columns / sizeof *columns);
    yyjson_mut_arr_foreach(rows, index, max, row)
    {
        most = number_of(row, "calls") > most ? number_of(row, "calls") : most;
    }
    yyjson_mut_arr_foreach(rows, index, max, row)
    {
        const char *day = text_of(row, "day");
        const char *names[] = {strcmp(day, last_day) ? day : "",
                               all_callers ? text_of(row, "caller") : "", text_of(row, "tool")};
        add_sums(table, arena, names, row, most);
        last_day = day;
    }
    yyjson_mut_val *total = yyjson_mut_obj_get(report, "total");
    add_sums(table, arena, (const char *const[]){"total", "", ""}, total, 0);
    buf_init(&text, MIB(8));
    if (table_put(&text, table, stdout) != OK) {
        return EXIT_FAILED;
    }
    if (number_of(total, "unpriced")) {
        buf_printf(&text, "Without a price: %lld uses of models or services (FORAGE_PRICES).\n",
                   (long long)number_of(total, "unpriced"));
    }
    return print_buf(&text, WORDS_OURS);
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
    } else if (option_given(arguments, "--json")) {
        code = print_json(call_arena(opened.call), report, WORDS_OURS);
    } else if (yyjson_mut_arr_size(yyjson_mut_obj_get(report, "rows")) == 0) {
        code = print_no_usage(caller, days);
    } else {
        code = print_usage(call_arena(opened.call), report, caller == NULL);
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

/* Words, as there is nothing to show; and why, where nothing is kept at all. */
static int print_no_history(const char *caller)
{
    if (config_bool("FORAGE_HISTORY")) {
        fprintf(stderr, "forage: there are no calls of %s in the history\n", caller);
    } else {
        fprintf(stderr,
                "forage: there are no calls of %s in the history, which is off: FORAGE_HISTORY=on "
                "in ~/.config/forage/forage.env keeps what is asked from then on\n",
                caller);
    }
    return EXIT_OK;
}

static int print_history(const struct opened *opened, yyjson_mut_val *calls)
{
    static const struct table_column COLUMNS[] = {{NULL, COLUMN_RIGHT},
                                                  {NULL, COLUMN_LEFT},
                                                  {NULL, COLUMN_LEFT},
                                                  {NULL, COLUMN_LEFT},
                                                  {NULL, COLUMN_CUT}};
    struct buf text;
    size_t index, max;
    yyjson_mut_val *past;
    struct arena *arena = call_arena(opened->call);
    struct table *table = table_new(arena, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
    yyjson_mut_arr_foreach(calls, index, max, past)
    {
        const char *error = text_of(past, "error");
        table_add(table, (const char *const[]){
                             arena_printf(arena, "%lld", (long long)number_of(past, "id")),
                             arena_printf(arena, "%.19s", text_of(past, "at")),
                             text_of(past, "tool"), *error ? error : "ok", asked(opened, past)});
    }
    buf_init(&text, MIB(8));
    return table_put(&text, table, stdout) == OK ? print_buf(&text, WORDS_OURS) : EXIT_FAILED;
}

static int list_history(struct opened *opened, const struct arguments *arguments,
                        const char *caller)
{
    yyjson_mut_val *report = NULL;
    int64_t limit = DEFAULT_CALLS;
    option_number(arguments, "--limit", &limit);
    struct record_filter filter = {.caller = caller, .limit = limit};
    if (report_history(opened->db, call_arena(opened->call), &filter, opened->doc, &report) != OK) {
        return print_records_error(opened);
    }
    if (option_given(arguments, "--json")) {
        return print_json(call_arena(opened->call), report, WORDS_OURS);
    }
    yyjson_mut_val *calls = yyjson_mut_obj_get(report, "calls");
    return yyjson_mut_arr_size(calls) ? print_history(opened, calls) : print_no_history(caller);
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
        struct record_filter filter = {.caller = caller, .before = before, .limit = PAGE_CALLS};
        if (!doc || report_history(opened->db, call_arena(call), &filter, doc, &report) != OK) {
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
        code = print_buf(&text, WORDS_OURS);
        call_free(call);
    } while (code == EXIT_OK && before > 0);
    return code;
}

/* Whether all of it may go; what there is to say has been said. */
static bool may_wipe(const struct arguments *arguments, const char *caller)
{
    if (option_given(arguments, "--yes")) {
        return true;
    }
    if (!terminal_can_ask()) {
        fputs("forage: nothing was deleted: there is no terminal to ask on; --yes deletes it\n",
              stderr);
        return false;
    }
    if (!terminal_ask("Delete all that %s asked, for good? [y/N] ", caller)) {
        puts("Nothing was deleted.");
        return false;
    }
    return true;
}

static int wipe_history(struct opened *opened, const struct arguments *arguments,
                        const char *caller)
{
    int64_t wiped = 0;
    if (!may_wipe(arguments, caller)) {
        return EXIT_FAILED;
    }
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
