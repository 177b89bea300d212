/* Fuzzes what a browser or a stranger sends beside a body: the query of a URL, the cookie of a
 * session, the token of a page; and packed texts of a store. Whatever it is: nobody is let in by
 * it, and what can be read is text. */
#include "core/limits.h"
#include "core/status.h"
#include "fuzz.h"
#include "guard/sessions.h"
#include "rest/query.h"
#include "text/packed.h"
#include "text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "fuzz_visit: %s\n", what);
        abort();
    }
}

static void check_query(struct call *call, struct slice query)
{
    struct slice left = query, name, value;
    size_t pairs = 0;
    while (query_next(&left, &name, &value)) {
        const char *text = NULL;
        require(name.data >= query.data && name.data + name.length <= query.data + query.length,
                "a name lies outside of the query");
        if (query_decode(call, value, true, &text) == OK) {
            require(text_is_utf8(text, strlen(text)), "a value is no text");
        }
        pairs++;
    }
    require(pairs <= query.length + 1, "there are more pairs than the query can hold");
    int64_t number = query_number(query, "limit", 7, 1, 1000);
    require(number == -1 || (number >= 1 && number <= 1000), "a number is out of bounds");
    int64_t at_ms;
    require(query_moment(call, query, "from", &at_ms) != OK || at_ms >= 0, "a moment before 1970");
}

FUZZ_TARGET(visit)
{
    static const char *const PAIRS[] = {"ada:token-0123456789-abcdef", NULL};
    char problem[256];
    struct callers *callers = callers_new(PAIRS, NULL, problem, sizeof problem);
    struct sessions *sessions = callers ? sessions_new(callers) : NULL;
    struct call *call = call_new(&(struct call_options){0});
    struct slice text = {size ? (const char *)data : "", size};
    if (sessions && call) {
        struct session session;
        require(!session_find(sessions, text, 1000000, &session),
                "a cookie that nobody gave is taken");
        require(!page_token_fits(sessions, caller_local(), text), "a page's token was guessed");
        check_query(call, text);
        size_t length;
        const char *unpacked = unpacked_text(call_arena(call), data, size, MIB(1), &length);
        require(!unpacked || length <= MIB(1), "an unpacked text is too long");
    }
    call_free(call);
    sessions_free(sessions);
    callers_free(callers);
    return 0;
}
