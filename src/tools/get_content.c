/* get_content: one URL as Markdown. */
#include "config/budget.h"
#include "embedded.h"
#include "page/content.h"
#include "tools/tools.h"

#include <string.h>

/* In the order of enum render_mode. */
static const char *const RENDER_WORDS[] = {
    [RENDER_AUTO] = "auto", [RENDER_ALWAYS] = "always", [RENDER_NEVER] = "never"};

static enum render_mode render_mode(const char *word)
{
    for (size_t i = 0; i < sizeof RENDER_WORDS / sizeof *RENDER_WORDS; i++) {
        if (word && strcmp(word, RENDER_WORDS[i]) == 0) {
            return (enum render_mode)i;
        }
    }
    return RENDER_AUTO;
}

static int run(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    struct content content;
    struct content_request request = {
        .url = json_string(arguments, "url"),
        .start = (size_t)yyjson_get_num(yyjson_obj_get(arguments, "start")),
        .max_chars = (size_t)yyjson_get_num(yyjson_obj_get(arguments, "max_chars")),
        .budget = call_takes_any_size(call) ? 0 : budget_chars(),
        .section = json_string(arguments, "section"),
        .outline = yyjson_get_bool(yyjson_obj_get(arguments, "outline")),
        .render = render_mode(json_string(arguments, "render")),
    };
    int status = content_read(call, &request, &content);
    if (status == OK) {
        reply->structured = content_describe(&content, reply->doc, call_arena(call));
    }
    return status;
}

const struct tool TOOL_GET_CONTENT = {
    .definition = definition_get_content,
    .run = run,
};
