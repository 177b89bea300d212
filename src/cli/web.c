/* `forage web QUERY`: search results and their pages, for people. */
#include "cli/cli.h"
#include "cli/offer.h"
#include "cli/terminal.h"
#include "cli/tool_command.h"
#include "core/limits.h"

#include <stdio.h>
#include <string.h>

#define PREVIEW_LINES   6
#define PREVIEW_COLUMNS 96 /* where there is no terminal */

/* One query is a query; several are queries. */
static void add_queries(struct tool_run *run)
{
    const struct arguments *given = run->given;
    if (given->count == 1) {
        json_add_string(run->doc, run->parameters, "query", given->words[0]);
        return;
    }
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(run->doc, run->parameters, "queries");
    for (int i = 0; i < given->count; i++) {
        yyjson_mut_arr_add_str(run->doc, list, given->words[i]);
    }
}

static void put_field(struct buf *out, const char *before, const char *text)
{
    if (text && *text) {
        buf_puts(out, before);
        size_t column = strlen(before);
        terminal_put_wrapped(out, column, column, terminal_width(stdout), text);
    }
}

/* The beginning of a page, or all of it, set in. */
static void put_page(struct buf *out, const char *text, bool full)
{
    int shown = 0;
    size_t width = terminal_width(stdout);
    size_t room = full ? 0 : width ? terminal_room(stdout, 5) : PREVIEW_COLUMNS;
    while (*text && (full || shown < PREVIEW_LINES)) {
        size_t length = strcspn(text, "\n");
        if (length || full) {
            buf_puts(out, "   | ");
            terminal_put(out, text, length, room);
            buf_putc(out, '\n');
            shown++;
        }
        text += length + (text[length] == '\n');
    }
    if (*text) {
        buf_puts(out, "   | ...\n");
    }
}

static void put_result(struct buf *out, size_t number, yyjson_mut_val *result, bool full)
{
    char before[32];
    snprintf(before, sizeof before, "%zu. ", number);
    put_field(out, before, text_of(result, "title"));
    put_field(out, "   ", text_of(result, "link"));
    put_field(out, "   ", text_of(result, "published"));
    put_field(out, "   image: ", text_of(result, "image"));
    put_field(out, "   ", text_of(result, "snippet"));
    put_page(out, text_of(result, "page_content"), full);
    buf_putc(out, '\n');
}

static void put_remarks(struct buf *out, const char *before, yyjson_mut_val *list)
{
    size_t index, max;
    yyjson_mut_val *item;
    yyjson_mut_arr_foreach(list, index, max, item)
    {
        put_field(out, before, yyjson_mut_get_str(item));
    }
}

static int print_results(const struct tool_run *run)
{
    struct buf out;
    yyjson_mut_val *results = yyjson_mut_obj_get(run->result, "results");
    size_t index, max;
    yyjson_mut_val *result;
    buf_init(&out, LIMIT_CALL_ARENA_BYTES);
    yyjson_mut_arr_foreach(results, index, max, result)
    {
        put_result(&out, index + 1, result, option_given(run->given, "--full"));
    }
    if (yyjson_mut_arr_size(results) == 0) {
        buf_puts(&out, "Nothing was found.\n");
    }
    put_remarks(&out, "left out: ", yyjson_mut_obj_get(run->result, "left_out"));
    put_remarks(&out, "warning: ", yyjson_mut_obj_get(run->result, "warnings"));
    buf_printf(&out, "%zu results from %s in %.1f s\n", yyjson_mut_arr_size(results),
               text_of(run->result, "provider"),
               yyjson_mut_get_num(yyjson_mut_obj_get(run->result, "took_ms")) / 1000.0);
    return print_buf(&out, WORDS_FROM_OUTSIDE);
}

/* A line for each page, unlike the one line of other commands: what was slow or failed stays to be
 * seen. */
static void show_page(void *context, double done, double total, const char *message)
{
    (void)context;
    if (total > 0) {
        fprintf(stderr, "[%.0f/%.0f] %s\n", done, total, message);
    } else {
        fprintf(stderr, "%s\n", message);
    }
}

int command_web(const struct arguments *arguments)
{
    static const char *const RENAMED[][2] = {
        {"--results", "num_results"}, {"--from", "start_date"},       {"--to", "end_date"},
        {"--site", "sites"},          {"--exclude", "exclude_sites"}, {NULL}};
    static const struct tool_command COMMAND = {.tool = "web_search",
                                                .renamed = RENAMED,
                                                .add = add_queries,
                                                .print = print_results,
                                                .quiet = true};
    if (!option_given(arguments, "--json")) {
        offer_before_search();
    }
    return run_tool_command(&COMMAND, arguments, show_page);
}
