/* Fuzzes the editor of JSON with comments. Whatever the document is: what is refused has a place;
 * what is edited still parses, has the new member, differs from the document by nothing else, and
 * is the document again once the member is taken out. */
#include "core/limits.h"
#include "core/status.h"
#include "fuzz.h"
#include "setup/jsonc.h"
#include "text/json.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const PATH[] = {"mcpServers", "forage"};
static const char VALUE[] = "{\n  \"command\": \"forage\",\n  \"args\": [\"mcp\"]\n}";

static void require(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "fuzz_jsonc: %s\n", what);
        abort();
    }
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Whether two texts are the same but for white space. */
static bool is_alike(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t i = 0;
    size_t j = 0;
    for (;;) {
        while (i < a_length && is_space(a[i])) {
            i++;
        }
        while (j < b_length && is_space(b[j])) {
            j++;
        }
        if (i == a_length || j == b_length) {
            return i == a_length && j == b_length;
        }
        if (a[i++] != b[j++]) {
            return false;
        }
    }
}

/* Whether every byte of `a` is in `b`, in their order. */
static bool is_within(const char *a, size_t a_length, const struct buf *b)
{
    size_t i = 0;
    for (size_t j = 0; i < a_length && j < b->length; j++) {
        i += a[i] == b->data[j];
    }
    return i == a_length;
}

static bool parses(const char *text, size_t length)
{
    struct arena *arena = arena_new(MIB(16));
    bool good = arena && json_parse_commented(arena, text, length) != NULL;
    arena_free(arena);
    return good;
}

static void check_taken_out(const char *text, size_t length, const struct buf *made, size_t depth)
{
    struct document_problem problem;
    struct document_span span;
    struct buf back;
    struct buf wanted;
    buf_init(&back, MIB(4));
    buf_init(&wanted, MIB(4));
    require(jsonc_remove(made->data, made->length, PATH, depth, &back, &problem) == OK,
            "the member cannot be taken out");
    require(jsonc_get(back.data, back.length, PATH, 2, &span, &problem) == ERR_NOTFOUND,
            "the member is still there");
    buf_append(&wanted, text, length);
    /* A blank document stays an object. */
    if (!is_alike(back.data, back.length, text, length)) {
        buf_puts(&wanted, "{}");
    }
    require(is_alike(back.data, back.length, wanted.data, wanted.length), "something else is gone");
    buf_done(&back);
    buf_done(&wanted);
}

static void check_made(const char *text, size_t length, int found, struct document_span old,
                       const struct buf *made)
{
    struct document_problem problem;
    struct document_span span;
    struct buf again;
    require(jsonc_get(made->data, made->length, PATH, 2, &span, &problem) == OK,
            "the member is not there");
    require(is_alike(made->data + span.start, span.end - span.start, VALUE, strlen(VALUE)),
            "the member has another value");
    if (found == OK) {
        size_t rest = length - old.end;
        require(made->length - span.end == rest, "something changed after the member");
        require(memcmp(made->data, text, old.start) == 0, "something changed before it");
        require(memcmp(made->data + span.end, text + old.end, rest) == 0, "the rest changed");
    } else {
        bool had_servers = jsonc_get(text, length, PATH, 1, &span, &problem) == OK;
        require(is_within(text, length, made), "something is gone");
        check_taken_out(text, length, made, had_servers ? 2 : 1);
    }
    buf_init(&again, MIB(4));
    require(jsonc_set(made->data, made->length, PATH, 2, VALUE, &again, &problem) == OK,
            "it cannot be set again");
    require(again.length == made->length && memcmp(again.data, made->data, made->length) == 0,
            "setting it again changes something");
    buf_done(&again);
}

FUZZ_TARGET(jsonc)
{
    const char *text = (const char *)data;
    struct document_problem problem = {0};
    struct document_span old = {0, 0};
    struct buf made;
    buf_init(&made, MIB(4));
    int found = jsonc_get(text, size, PATH, 2, &old, &problem);
    int status = jsonc_set(text, size, PATH, 2, VALUE, &made, &problem);
    if (found == ERR_INVALID) {
        require(status == ERR_INVALID && made.length == 0, "a broken document was edited");
        require(problem.line > 0 && problem.column > 0 && problem.text[0], "no place");
    } else {
        require(status == OK, "it could not be set");
        check_made(text, size, found, old, &made);
        require(!parses(text, size) || parses(made.data, made.length), "it does not parse now");
        jsonc_is_extended(text, size, &problem);
    }
    buf_done(&made);
    return 0;
}
