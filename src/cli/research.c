/* `forage research TOPIC`: the report of deep_search (or, quickly, of search) for people. What the
 * worker does is told on standard error while it works; the report goes to standard output. */
#include "research/research.h"
#include "cli/cli.h"
#include "cli/watch.h"
#include "core/limits.h"
#include "core/redact.h"

#include <stdio.h>
#include <string.h>

struct wish {
    const char *topic;
    const char *depth;
    int64_t rounds;
    bool limited; /* to so many rounds */
    bool quick;
    bool json;
};

/* ---- arguments ---- */

static int read_wish(const struct arguments *arguments, struct wish *wish)
{
    wish->topic = arguments->words[0];
    wish->json = option_given(arguments, "--json");
    wish->quick = option_given(arguments, "--quick");
    wish->depth = option_text(arguments, "--depth");
    wish->limited = option_number(arguments, "--max-iterations", &wish->rounds);
    return wish->quick && (wish->depth || wish->limited)
               ? usage_error("--quick is one round; --depth and --max-iterations are for more")
               : EXIT_OK;
}

/* The tool's arguments; the schema judges what is in them. */
static yyjson_val *tool_arguments(struct call *call, const struct wish *wish)
{
    struct arena *arena = call_arena(call);
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_str(doc, object, wish->quick ? "query" : "topic", wish->topic);
    json_add_string(doc, object, "depth", wish->depth);
    if (wish->limited) {
        yyjson_mut_obj_add_int(doc, object, "maxIterations", wish->rounds);
    }
    size_t length;
    const char *text = json_text(arena, object, &length);
    return text ? yyjson_doc_get_root(json_parse(arena, text, length, NULL)) : NULL;
}

/* ---- telling ---- */

/* Each step on a line of its own: what was done stays to be read. */
static void tell_step(void *context, double done, double total, const char *message)
{
    (void)context;
    (void)total;
    struct buf line;
    buf_init(&line, KIB(8));
    buf_printf(&line, "%5.1f s  %s\n", done, message);
    redact_buf(&line, 0);
    if (line.length) {
        fputs(line.data, stderr);
    }
    buf_done(&line);
}

static void put_sources(struct buf *text, yyjson_mut_val *metadata)
{
    yyjson_mut_val *sources = yyjson_mut_obj_get(metadata, "sources_visited");
    yyjson_mut_arr_iter each = yyjson_mut_arr_iter_with(sources);
    yyjson_mut_val *source;
    if (yyjson_mut_arr_size(sources)) {
        buf_puts(text, "\nPages read:\n");
    }
    while ((source = yyjson_mut_arr_iter_next(&each)) != NULL) {
        buf_printf(text, "- %s\n", yyjson_mut_get_str(source));
    }
}

static int print_report(const struct reply *reply, const struct wish *wish)
{
    struct buf text;
    buf_init(&text, LIMIT_CALL_ARENA_BYTES);
    const char *answer = wish->quick ? "result" : "report";
    buf_puts(&text, yyjson_mut_get_str(yyjson_mut_obj_get(reply->structured, answer)));
    buf_putc(&text, '\n');
    put_sources(&text, yyjson_mut_obj_get(reply->structured, "metadata"));
    int code = print_buf(&text);
    buf_done(&text);
    return code;
}

static int print_failure(struct call *call)
{
    const struct call_error *error = call_error(call);
    struct buf text;
    buf_init(&text, KIB(64));
    buf_printf(&text, "forage: %s\n", error ? error->message : "out of memory");
    redact_buf(&text, 0);
    fputs(text.length ? text.data : "forage: out of memory\n", stderr);
    buf_done(&text);
    return EXIT_FAILED;
}

/* ---- running ---- */

static int run(struct app *app, struct call *call, int signals, void *context)
{
    const struct wish *wish = context;
    struct watch watch;
    struct reply reply;
    const char *tool = wish->quick ? "search" : "deep_search";
    const struct entry *entry = registry_tool(app_registry(app), tool);
    yyjson_val *arguments = tool_arguments(call, wish);
    if (!entry) {
        return usage_error("%s is switched off (FORAGE_TOOLS)", tool);
    }
    if (!arguments) {
        return usage_error("the topic is not valid UTF-8");
    }
    if (watch_start(&watch, call, signals) != OK) {
        return EXIT_FAILED;
    }
    int status = registry_run(app_registry(app), entry, call, arguments, &reply);
    watch_stop(&watch);
    if (status == OK && wish->json) {
        int code = print_json(call_arena(call), reply.structured);
        return reply.is_error ? EXIT_FAILED : code;
    }
    if (status != OK || reply.is_error) {
        return print_failure(call);
    }
    return print_report(&reply, wish);
}

int command_research(const struct arguments *arguments)
{
    struct wish wish = {0};
    int code = read_wish(arguments, &wish);
    if (code == EXIT_OK) {
        code = load_configuration();
    }
    if (code != EXIT_OK) {
        return code;
    }
    struct call_options options = watch_options();
    if (options.hooks.progress) {
        options.hooks.progress = tell_step;
    }
    return watch_run(&options, run, &wish);
}
