/* `forage read URL`: a page as Markdown, for people. */
#include "base/limits.h"
#include "cli/cli.h"
#include "cli/watch.h"
#include "config/config.h"
#include "page/content.h"

#include <stdio.h>
#include <string.h>

/* ---- arguments ---- */

static enum render_mode render_mode(const char *word)
{
    static const struct {
        const char *word;
        enum render_mode mode;
    } MODES[] = {{"auto", RENDER_AUTO}, {"always", RENDER_ALWAYS}, {"never", RENDER_NEVER}};
    for (size_t i = 0; word && i < sizeof MODES / sizeof *MODES; i++) {
        if (strcmp(word, MODES[i].word) == 0) {
            return MODES[i].mode;
        }
    }
    return RENDER_AUTO;
}

static size_t characters(const struct arguments *arguments, const char *name)
{
    int64_t number = 0;
    option_number(arguments, name, &number);
    return (size_t)number;
}

/* ---- printing ---- */

static int print_failure(struct call *call, bool json)
{
    yyjson_mut_doc *doc = json_new(call_arena(call));
    if (json && doc) {
        print_json(call_arena(call), registry_error_body(call, doc));
    } else {
        const struct call_error *error = call_error(call);
        fprintf(stderr, "forage: %s\n", error ? error->message : "out of memory");
    }
    return EXIT_FAILED;
}

/* The beginning of a page that does not begin with its title. */
static bool shows_title(const struct content *content)
{
    return content->document.title && content->part.start == 0 && !content->outline &&
           !content->title && strncmp(content->text, "# ", 2) != 0;
}

/* The page goes to standard output; a note in its place, and where it goes on, to standard error.
 */
static int print_text(const struct content *content)
{
    struct buf text;
    if (content->document.failed) {
        fprintf(stderr, "%s\n", content->text);
        return EXIT_FAILED;
    }
    buf_init(&text, LIMIT_CALL_ARENA_BYTES);
    if (shows_title(content)) {
        buf_printf(&text, "# %s\n\n", content->document.title);
    }
    buf_puts(&text, content->text);
    if (text.length && text.data[text.length - 1] != '\n') {
        buf_putc(&text, '\n');
    }
    int code = print_buf(&text);
    buf_done(&text);
    if (content->truncated && !content->outline) {
        fprintf(stderr, "forage: there is more: --start %zu\n", content->part.end);
    }
    return code;
}

/* ---- reading ---- */

struct wish {
    struct content_request request;
    bool json;
};

static int read_in(struct app *app, struct call *call, int signals, void *context)
{
    (void)app; /* the reader only needs it to be there */
    const struct wish *wish = context;
    struct watch watch;
    struct content content;
    if (watch_start(&watch, call, signals) != OK) {
        return EXIT_FAILED;
    }
    int status = content_read(call, &wish->request, &content);
    watch_stop(&watch);
    if (status != OK) {
        call_fail_status(call, status);
        return print_failure(call, wish->json);
    }
    if (!wish->json) {
        return print_text(&content);
    }
    yyjson_mut_doc *doc = json_new(call_arena(call));
    int code = print_json(call_arena(call),
                          doc ? content_describe(&content, doc, call_arena(call)) : NULL);
    return content.document.failed ? EXIT_FAILED : code;
}

int command_read(const struct arguments *arguments)
{
    struct wish wish = {
        .request =
            {
                .url = arguments->words[0],
                .start = characters(arguments, "--start"),
                .max_chars = characters(arguments, "--max-chars"),
                .section = option_text(arguments, "--section"),
                .outline = option_given(arguments, "--outline"),
                .render = render_mode(option_text(arguments, "--render")),
            },
        .json = option_given(arguments, "--json"),
    };
    int code = load_configuration();
    if (code != EXIT_OK) {
        return code;
    }
    struct call_options options = watch_options();
    options.timeout_ms = config_duration_ms("KINDLY_TOOL_TOTAL_TIMEOUT_SECONDS");
    return watch_run(&options, read_in, &wish);
}
