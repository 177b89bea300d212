/* Fuzzes the editor of TOML. Whatever the document is: what is refused has a place; what is added
 * stands at the end and can be taken out again; what is changed changes nothing else. */
#include "core/limits.h"
#include "core/status.h"
#include "fuzz.h"
#include "setup/toml.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const PATH[] = {"mcp_servers", "forage"};
static const char *const COMMAND[] = {"mcp_servers", "forage", "command"};
static const char *const ARGUMENTS[] = {"mcp_servers", "forage", "args"};
static const char BODY[] = "command = \"forage\"\nargs = [\"mcp\"]\n";

static void require(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "fuzz_toml: %s\n", what);
        abort();
    }
}

static bool begins_with(const struct buf *text, const char *start, size_t length)
{
    return text->length >= length && (length == 0 || memcmp(text->data, start, length) == 0);
}

/* A table that was added can be taken out, and nothing is left of it but perhaps a line end. */
static void check_added(const char *text, size_t length)
{
    struct document_problem problem;
    struct document_span table;
    struct buf made;
    struct buf back;
    buf_init(&made, MIB(4));
    buf_init(&back, MIB(4));
    require(toml_set(text, length, PATH, 2, BODY, &made, &problem) == OK, "it cannot be added");
    require(begins_with(&made, text, length), "the beginning changed");
    require(toml_get(made.data, made.length, PATH, 2, &table, &problem) == OK, "it is not there");
    require(table.end == made.length, "it is not at the end");
    require(toml_remove(made.data, made.length, PATH, 2, &back, &problem) == OK,
            "it cannot be taken out");
    require(toml_get(back.data ? back.data : "", back.length, PATH, 2, &table, &problem) ==
                ERR_NOTFOUND,
            "it is still there");
    /* Tables below it may have been there before, and go with it. */
    bool had_more = memmem(text, length, "forage", 6) || memchr(text, '\\', length);
    if (!had_more) {
        require(begins_with(&back, text, length), "something else is gone");
        require(back.length - length <= 2, "something is left");
        require(length == 0 || text[length - 1] != '\n' || back.length == length,
                "a line end is left");
    }
    buf_done(&made);
    buf_done(&back);
}

/* Setting a key of the table changes only its value; without the key the document still parses. */
static void check_changed(const char *text, size_t length)
{
    static const char VALUE[] = "\"another\"";
    struct document_problem problem;
    struct document_span old = {0, 0};
    struct document_span now;
    struct document_span table;
    struct buf made;
    struct buf without;
    buf_init(&made, MIB(4));
    buf_init(&without, MIB(4));
    int had = toml_get(text, length, COMMAND, 3, &old, &problem);
    int set = toml_set(text, length, COMMAND, 3, VALUE, &made, &problem);
    if (had == ERR_INVALID) {
        require(set == ERR_INVALID && made.length == 0, "a key that is there twice was set");
        return;
    }
    require(set == OK, "a key cannot be set");
    require(toml_get(made.data, made.length, COMMAND, 3, &now, &problem) == OK,
            "the key is not there");
    require(now.end - now.start == strlen(VALUE) &&
                memcmp(made.data + now.start, VALUE, strlen(VALUE)) == 0,
            "the key has another value");
    if (had == OK) {
        require(begins_with(&made, text, old.start), "the beginning changed");
        require(memcmp(made.data + now.end, text + old.end, length - old.end) == 0,
                "the rest changed");
    }
    require(toml_remove(made.data, made.length, COMMAND, 3, &without, &problem) == OK,
            "the key cannot be taken out");
    require(toml_get(without.data, without.length, PATH, 2, &table, &problem) == OK,
            "the table went with its key");
    buf_done(&made);
    buf_clear(&without);
    require(toml_remove(text, length, PATH, 2, &without, &problem) == OK, "it cannot be taken out");
    require(toml_get(without.data ? without.data : "", without.length, PATH, 2, &table, &problem) ==
                ERR_NOTFOUND,
            "it is still there");
    buf_done(&without);
}

FUZZ_TARGET(toml)
{
    const char *text = (const char *)data;
    struct document_problem problem = {0};
    struct document_span table;
    int status = toml_get(text, size, PATH, 2, &table, &problem);
    if (status == ERR_NOTFOUND) {
        check_added(text, size);
    } else if (status == OK) {
        struct arena *arena = arena_new(MIB(16));
        const char *strings[8];
        struct document_span value;
        if (arena && toml_get(text, size, ARGUMENTS, 3, &value, &problem) == OK) {
            toml_strings(arena, text, value, strings, 8);
        }
        arena_free(arena);
        check_changed(text, size);
    } else {
        struct buf made;
        buf_init(&made, MIB(4));
        require(status == ERR_INVALID || status == ERR_UNSUPPORTED, "an odd status");
        require(problem.line > 0 && problem.column > 0 && problem.text[0], "no place");
        require(toml_set(text, size, PATH, 2, BODY, &made, &problem) == status && made.length == 0,
                "a broken document was edited");
        buf_done(&made);
    }
    return 0;
}
