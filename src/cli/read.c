/* `forage read URL`: a page as Markdown, for people. It runs get_content as any client would, so
 * limits and history hold here too; only a page has any length. */
#include "cli/cli.h"
#include "cli/watch.h"
#include "core/limits.h"
#include "text/text.h"

#include <stdio.h>
#include <string.h>

struct wish {
    const char *url;
    const char *section;
    const char *render;
    uint64_t start;
    uint64_t max_chars; /* 0: all */
    bool outline;
    bool json;
};

/* ---- arguments ---- */

static uint64_t characters(const struct arguments *arguments, const char *name)
{
    int64_t number = 0;
    option_number(arguments, name, &number);
    return (uint64_t)number;
}

/* The arguments of get_content; NULL when they are no text. */
static yyjson_val *tool_arguments(struct arena *arena, const struct wish *wish)
{
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *root = doc ? yyjson_mut_obj(doc) : NULL;
    if (!root) {
        return NULL;
    }
    json_add_string(doc, root, "url", wish->url);
    json_add_string(doc, root, "section", wish->section);
    json_add_string(doc, root, "render", wish->render);
    yyjson_mut_obj_add_uint(doc, root, "start", wish->start);
    if (wish->max_chars) {
        yyjson_mut_obj_add_uint(doc, root, "max_chars", wish->max_chars);
    }
    yyjson_mut_obj_add_bool(doc, root, "outline", wish->outline);
    size_t length;
    const char *text = json_text(arena, root, &length);
    return text ? yyjson_doc_get_root(json_parse(arena, text, length, NULL)) : NULL;
}

/* ---- printing ---- */

static const char *text_of(yyjson_mut_val *object, const char *key)
{
    return yyjson_mut_get_str(yyjson_mut_obj_get(object, key));
}

static bool failed(const struct reply *reply)
{
    return reply->is_error || yyjson_mut_get_bool(yyjson_mut_obj_get(reply->structured, "failed"));
}

/* The title goes before the beginning of a page that does not begin with it. */
static const char *title_to_show(const struct wish *wish, yyjson_mut_val *result)
{
    bool beginning = wish->start == 0 && !wish->outline && !text_of(result, "section");
    bool has_one = strncmp(text_of(result, "page_content"), "# ", 2) == 0;
    return beginning && !has_one ? text_of(result, "title") : NULL;
}

/* The page goes to standard output; a note in its place, and where it goes on, to standard error.
 */
static int print_text(const struct wish *wish, yyjson_mut_val *result)
{
    struct buf text;
    const char *title = title_to_show(wish, result);
    buf_init(&text, LIMIT_CALL_ARENA_BYTES);
    if (title) {
        buf_printf(&text, "# %s\n\n", title);
    }
    buf_puts(&text, text_of(result, "page_content"));
    if (text.length && text.data[text.length - 1] != '\n') {
        buf_putc(&text, '\n');
    }
    int code = print_buf(&text);
    buf_done(&text);
    yyjson_mut_val *more = yyjson_mut_obj_get(result, "next_start");
    if (more) {
        fprintf(stderr, "forage: there is more: --start %llu\n",
                (unsigned long long)yyjson_mut_get_uint(more));
    }
    return code;
}

static int print_reply(struct call *call, const struct wish *wish, const struct reply *reply)
{
    int code = EXIT_OK;
    if (wish->json) {
        code = print_json(call_arena(call), reply->structured);
    } else if (reply->is_error) {
        const struct call_error *error = call_error(call);
        fprintf(stderr, "forage: %s\n", error ? error->message : "out of memory");
    } else if (failed(reply)) {
        fprintf(stderr, "%s\n", text_of(reply->structured, "page_content"));
    } else {
        code = print_text(wish, reply->structured);
    }
    return failed(reply) ? EXIT_FAILED : code;
}

/* ---- reading ---- */

static int read_in(struct app *app, struct call *call, int signals, void *context)
{
    const struct wish *wish = context;
    struct watch watch;
    struct reply reply;
    const struct entry *entry = registry_tool(app_registry(app), "get_content");
    if (!entry) {
        return usage_error("get_content is switched off; see FORAGE_TOOLS");
    }
    yyjson_val *arguments = tool_arguments(call_arena(call), wish);
    if (!arguments) {
        return usage_error("the URL or the section is not text in UTF-8");
    }
    if (watch_start(&watch, call, signals) != OK) {
        return EXIT_FAILED;
    }
    int status = registry_run(app_registry(app), entry, call, arguments, &reply);
    watch_stop(&watch);
    return status == OK ? print_reply(call, wish, &reply) : EXIT_FAILED;
}

int command_read(const struct arguments *arguments)
{
    struct wish wish = {
        .url = arguments->words[0],
        .section = option_text(arguments, "--section"),
        .render = option_text(arguments, "--render"),
        .start = characters(arguments, "--start"),
        .max_chars = characters(arguments, "--max-chars"),
        .outline = option_given(arguments, "--outline"),
        .json = option_given(arguments, "--json"),
    };
    int code = load_configuration();
    if (code != EXIT_OK) {
        return code;
    }
    log_quietly();
    struct call_options options = watch_options();
    options.takes_any_size = true;
    return watch_run(&options, read_in, &wish);
}
