/* What a caller is told of the machine that forage runs on: no path, unless it is the operator, who
 * asks over stdio and on the command line. What was left out is in the log. */
#include "call/call.h"
#include "core/log.h"
#include "text/text.h"

#include <string.h>

const char *call_without_paths(struct call *call, const char *text, bool may_log)
{
    if (call_is_for_operator(call)) {
        return text;
    }
    size_t room = 3 * strlen(text) + 1; /* the shortest path has two characters, "[path]" six */
    char *words = arena_alloc(call_arena(call), room);
    if (!words) {
        return "out of memory";
    }
    struct text_out out;
    text_start(&out, words, room);
    text_put_without_paths(&out, text);
    if (may_log && strcmp(words, text) != 0) {
        log_warn(call_request_id(call), "told without its paths: %s", text);
    }
    return words;
}
