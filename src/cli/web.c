/* `forage web QUERY`: search results and their pages, for people. */
#include "cli/cli.h"
#include "cli/watch.h"
#include "core/limits.h"
#include "text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREVIEW_LINES 6

/* ---- arguments ---- */

/* Options, and the parameters of web_search that they set. */
static const struct {
    const char *option;
    const char *parameter;
    enum { IS_TEXT, IS_NUMBER, IS_LIST } kind;
} PARAMETERS[] = {
    {"--results", "num_results", IS_NUMBER},
    {"--page", "page", IS_NUMBER},
    {"--type", "type", IS_TEXT},
    {"--freshness", "freshness", IS_TEXT},
    {"--from", "start_date", IS_TEXT},
    {"--to", "end_date", IS_TEXT},
    {"--region", "region", IS_TEXT},
    {"--language", "language", IS_TEXT},
    {"--site", "sites", IS_LIST},
    {"--exclude", "exclude_sites", IS_LIST},
};

/* "a.org,b.org" */
static void add_list(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *parameter,
                     const char *value)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, object, parameter);
    while (*value) {
        size_t length = strcspn(value, ",");
        if (length) {
            yyjson_mut_arr_add_strn(doc, list, value, length);
        }
        value += length + (value[length] == ',');
    }
}

static void add_option(const struct arguments *arguments, size_t which, yyjson_mut_doc *doc,
                       yyjson_mut_val *object)
{
    const char *parameter = PARAMETERS[which].parameter;
    const char *value = option_text(arguments, PARAMETERS[which].option);
    int64_t number = 0;
    if (!value) {
        return;
    }
    switch (PARAMETERS[which].kind) {
    case IS_NUMBER:
        option_number(arguments, PARAMETERS[which].option, &number);
        yyjson_mut_obj_add_int(doc, object, parameter, number);
        break;
    case IS_LIST:
        add_list(doc, object, parameter, value);
        break;
    case IS_TEXT:
        yyjson_mut_obj_add_str(doc, object, parameter, value);
        break;
    }
}

/* One query is a query; several are queries. */
static void add_texts(const struct arguments *arguments, yyjson_mut_doc *doc,
                      yyjson_mut_val *object)
{
    if (arguments->count == 1) {
        yyjson_mut_obj_add_str(doc, object, "query", arguments->words[0]);
        return;
    }
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, object, "queries");
    for (int i = 0; i < arguments->count; i++) {
        yyjson_mut_arr_add_str(doc, list, arguments->words[i]);
    }
}

/* The arguments of web_search; NULL when they are no valid text. */
static yyjson_val *tool_arguments(const struct arguments *arguments, struct arena *arena)
{
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *object = doc ? yyjson_mut_obj(doc) : NULL;
    if (!object) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof PARAMETERS / sizeof *PARAMETERS; i++) {
        add_option(arguments, i, doc, object);
    }
    add_texts(arguments, doc, object);
    const char *text = json_text(arena, object, NULL);
    yyjson_doc *parsed = text ? json_parse(arena, text, strlen(text), NULL) : NULL;
    return yyjson_doc_get_root(parsed);
}

/* ---- printing ---- */

/* Words of strangers on a terminal: control characters must not steer it. */
static void put_plain(struct buf *out, const char *text, size_t length)
{
    const char *end = text + length;
    while (text < end) {
        const char *from = text;
        uint32_t letter = text_next(&text, end);
        bool steers = letter < ' ' || (letter >= 0x7F && letter < 0xA0);
        if (steers) {
            buf_putc(out, ' ');
        } else {
            buf_append(out, from, (size_t)(text - from));
        }
    }
}

static void put_field(struct buf *out, const char *before, const char *text)
{
    if (text && *text) {
        buf_puts(out, before);
        put_plain(out, text, strlen(text));
        buf_putc(out, '\n');
    }
}

/* The beginning of a page, or all of it, set in. */
static void put_page(struct buf *out, const char *text, bool full)
{
    int shown = 0;
    while (*text && (full || shown < PREVIEW_LINES)) {
        size_t length = strcspn(text, "\n");
        size_t visible = full ? length : text_prefix(text, length, 96);
        if (length || full) {
            buf_puts(out, "   | ");
            put_plain(out, text, visible);
            buf_puts(out, visible < length ? "...\n" : "\n");
            shown++;
        }
        text += length + (text[length] == '\n');
    }
    if (*text) {
        buf_puts(out, "   | ...\n");
    }
}

static void put_result(struct buf *out, size_t number, yyjson_val *result, bool full)
{
    char before[32];
    snprintf(before, sizeof before, "%zu. ", number);
    put_field(out, before, json_string(result, "title"));
    put_field(out, "   ", json_string(result, "link"));
    put_field(out, "   ", json_string(result, "published"));
    put_field(out, "   image: ", json_string(result, "image"));
    put_field(out, "   ", json_string(result, "snippet"));
    const char *page = json_string(result, "page_content");
    put_page(out, page ? page : "", full);
    buf_putc(out, '\n');
}

static void put_remarks(struct buf *out, const char *before, yyjson_val *list)
{
    size_t index, max;
    yyjson_val *item;
    yyjson_arr_foreach(list, index, max, item)
    {
        put_field(out, before, yyjson_get_str(item));
    }
}

static void put_list(struct buf *out, yyjson_val *root, bool full)
{
    yyjson_val *results = yyjson_obj_get(root, "results");
    size_t index, max;
    yyjson_val *result;
    yyjson_arr_foreach(results, index, max, result)
    {
        put_result(out, index + 1, result, full);
    }
    if (yyjson_arr_size(results) == 0) {
        buf_puts(out, "Nothing was found.\n");
    }
    put_remarks(out, "left out: ", yyjson_obj_get(root, "left_out"));
    put_remarks(out, "warning: ", yyjson_obj_get(root, "warnings"));
    buf_printf(out, "%zu results from %s in %.1f s\n", yyjson_arr_size(results),
               json_string(root, "provider"),
               yyjson_get_num(yyjson_obj_get(root, "took_ms")) / 1000.0);
}

static int print_reply(struct call *call, const struct reply *reply,
                       const struct arguments *arguments)
{
    struct buf text;
    bool json = option_given(arguments, "--json");
    struct arena *arena = call_arena(call);
    const char *written = json_text(arena, reply->structured, NULL);
    yyjson_doc *doc = written ? json_parse(arena, written, strlen(written), NULL) : NULL;
    if (!doc) {
        fputs("forage: out of memory\n", stderr);
        return EXIT_FAILED;
    }
    if (reply->is_error && !json) {
        const struct call_error *error = call_error(call);
        fprintf(stderr, "forage: %s\n", error ? error->message : "the search failed");
        return EXIT_FAILED;
    }
    buf_init(&text, LIMIT_CALL_ARENA_BYTES);
    if (json) {
        json_write_pretty(&text, arena, reply->structured);
        buf_putc(&text, '\n');
    } else {
        put_list(&text, yyjson_doc_get_root(doc), option_given(arguments, "--full"));
    }
    int code = print_buf(&text);
    buf_done(&text);
    return reply->is_error ? EXIT_FAILED : code;
}

/* ---- running ---- */

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

static int search_in(struct app *app, struct call *call, int signals, void *context)
{
    const struct arguments *given = context;
    const struct entry *entry = registry_tool(app_registry(app), "web_search");
    if (!entry) {
        fputs("forage: FORAGE_TOOLS leaves out web_search\n", stderr);
        return EXIT_FAILED;
    }
    struct watch watch;
    struct reply reply;
    yyjson_val *arguments = tool_arguments(given, call_arena(call));
    if (!arguments) {
        return usage_error("the query is no valid text");
    }
    if (watch_start(&watch, call, signals) != OK) {
        return EXIT_FAILED;
    }
    registry_run(app_registry(app), entry, call, arguments, &reply);
    watch_stop(&watch);
    return print_reply(call, &reply, given);
}

int command_web(const struct arguments *arguments)
{
    int code = load_configuration();
    if (code != EXIT_OK) {
        return code;
    }
    log_quietly();
    struct call_options options = watch_options();
    if (options.hooks.progress) {
        options.hooks.progress = show_page;
    }
    struct arguments given = *arguments;
    return watch_run(&options, search_in, &given);
}
