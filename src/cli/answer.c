/* `forage answer "question"`: a short answer with its sources, for people. It runs search_web as
 * any client would, so limits, cost and history hold here too. */
#include "cli/cli.h"
#include "cli/watch.h"
#include "core/limits.h"
#include "core/redact.h"
#include "text/text.h"

#include <stdio.h>
#include <string.h>

struct wish {
    const char *query;
    const char *region;
    int64_t max_results;
    int64_t freshness_hours;
    bool sources_only;
    bool json;
};

/* ---- arguments ---- */

/* The bounds of numbers are those of the tool, which checks them. */
static void read_arguments(const struct arguments *arguments, struct wish *wish)
{
    wish->query = arguments->words[0];
    wish->region = option_text(arguments, "--region");
    wish->json = option_given(arguments, "--json");
    wish->sources_only = option_given(arguments, "--sources-only");
    option_number(arguments, "--max", &wish->max_results);
    option_number(arguments, "--fresh", &wish->freshness_hours);
}

/* The arguments of search_web; NULL when the question is no text. */
static yyjson_val *tool_arguments(struct arena *arena, const struct wish *wish)
{
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *root = doc ? yyjson_mut_obj(doc) : NULL;
    if (!root || !text_is_utf8(wish->query, strlen(wish->query))) {
        return NULL;
    }
    json_add_string(doc, root, "query", wish->query);
    json_add_string(doc, root, "region", wish->region);
    if (wish->max_results) {
        yyjson_mut_obj_add_int(doc, root, "maxResults", wish->max_results);
    }
    if (wish->freshness_hours) {
        yyjson_mut_obj_add_int(doc, root, "freshnessHours", wish->freshness_hours);
    }
    yyjson_mut_obj_add_bool(doc, root, "includeAnswers", !wish->sources_only);
    size_t length;
    const char *text = json_text(arena, root, &length);
    return text ? yyjson_doc_get_root(json_parse(arena, text, length, NULL)) : NULL;
}

/* ---- printing ---- */

static uint64_t number_of(yyjson_mut_val *object, const char *key)
{
    return yyjson_mut_get_uint(yyjson_mut_obj_get(object, key));
}

static const char *text_of(yyjson_mut_val *object, const char *key)
{
    const char *text = yyjson_mut_get_str(yyjson_mut_obj_get(object, key));
    return text ? text : "";
}

/* The citation whose marker begins at a position of the text; NULL: none. */
static yyjson_mut_val *citation_at(yyjson_mut_val *citations, size_t position)
{
    size_t index, most;
    yyjson_mut_val *citation;
    yyjson_mut_arr_foreach(citations, index, most, citation)
    {
        if (number_of(citation, "startIndex") == position &&
            number_of(citation, "endIndex") > position) {
            return citation;
        }
    }
    return NULL;
}

/* The text, with [1] in place of each marker. Characters that could disturb a terminal are left
 * out. */
static void put_text(struct buf *out, const char *text, yyjson_mut_val *citations)
{
    const char *end = text + strlen(text);
    size_t position = 0;
    while (text < end) {
        yyjson_mut_val *citation = citation_at(citations, position);
        if (citation) {
            size_t skipped = number_of(citation, "endIndex") - position;
            text += text_prefix(text, (size_t)(end - text), skipped);
            position += skipped;
            buf_printf(out, "[%d]", (int)number_of(citation, "rank"));
            continue;
        }
        const char *start = text;
        uint32_t point = text_next(&text, end);
        bool control =
            (point < 0x20 && point != '\n' && point != '\t') || (point >= 0x7F && point < 0xA0);
        if (!control) {
            buf_append(out, start, (size_t)(text - start));
        }
        position++;
    }
}

static int print_answer(yyjson_mut_val *result)
{
    struct buf out;
    buf_init(&out, LIMIT_CALL_ARENA_BYTES);
    yyjson_mut_val *citations = yyjson_mut_obj_get(result, "citations");
    const char *text = text_of(result, "text");
    if (*text) {
        put_text(&out, text, citations);
        buf_puts(&out, "\n\n");
    }
    size_t index, most;
    yyjson_mut_val *citation;
    yyjson_mut_arr_foreach(citations, index, most, citation)
    {
        const char *published = text_of(citation, "published");
        buf_printf(&out, "[%d] ", (int)number_of(citation, "rank"));
        put_text(&out, text_of(citation, "title"), NULL);
        buf_printf(&out, "%s%s%s\n    %s\n", *published ? " (" : "", published,
                   *published ? ")" : "", text_of(citation, "url"));
    }
    int code = print_buf(&out);
    buf_done(&out);
    yyjson_mut_val *note;
    yyjson_mut_val *notes = yyjson_mut_obj_get(result, "notes");
    yyjson_mut_arr_foreach(notes, index, most, note)
    {
        fprintf(stderr, "forage: %s\n", yyjson_mut_get_str(note));
    }
    return code;
}

static void print_error(const struct call_error *error)
{
    struct buf out;
    buf_init(&out, KIB(64));
    buf_printf(&out, "forage: %s\n", error ? error->message : "the call failed");
    redact_buf(&out, 0);
    fputs(out.data ? out.data : "forage: out of memory\n", stderr);
    buf_done(&out);
}

/* ---- asking ---- */

static int answer_in(struct app *app, struct call *call, int signals, void *context)
{
    const struct wish *wish = context;
    struct watch watch;
    struct reply reply;
    const struct entry *entry = registry_tool(app_registry(app), "search_web");
    if (!entry) {
        return usage_error("search_web is switched off; see FORAGE_TOOLS");
    }
    yyjson_val *arguments = tool_arguments(call_arena(call), wish);
    if (!arguments) {
        return usage_error("the question is not text in UTF-8");
    }
    if (watch_start(&watch, call, signals) != OK) {
        return EXIT_FAILED;
    }
    int status = registry_run(app_registry(app), entry, call, arguments, &reply);
    watch_stop(&watch);
    if (status != OK) {
        return EXIT_FAILED;
    }
    int code = EXIT_OK;
    if (wish->json) {
        code = print_json(call_arena(call), reply.structured);
    } else if (reply.is_error) {
        print_error(call_error(call));
    } else {
        code = print_answer(reply.structured);
    }
    return reply.is_error ? EXIT_FAILED : code;
}

int command_answer(const struct arguments *arguments)
{
    struct wish wish = {0};
    read_arguments(arguments, &wish);
    int code = load_configuration();
    if (code != EXIT_OK) {
        return code;
    }
    struct call_options options = watch_options();
    return watch_run(&options, answer_in, &wish);
}
