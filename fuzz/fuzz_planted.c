/* A fuzz target with a bug in it, on purpose. scripts/fuzz runs it first: when the fuzzer does not
 * find this one, its silence about the real parsers means nothing.
 *
 * The input goes through the real JSON parser; behind that stands a reader of a small command, such
 * as ["copy", "some text"], that trusts the length of the text. It starts from a seed of that
 * shape: what it shows is that fuzzer and sanitizer work together through our parser, not that they
 * would find every shape by themselves. */
#include "core/arena.h"
#include "core/limits.h"
#include "fuzz.h"
#include "text/json.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PLANTED_ROOM 8

/* The bug: a text longer than the room is written past its end. Volatile, as a compiler may leave
 * out what is written and never read. */
static void copy_text(const char *text)
{
    volatile char *room = malloc(PLANTED_ROOM);
    if (room == NULL) {
        return;
    }
    for (size_t i = 0; text[i] != '\0'; i++) {
        room[i] = text[i];
    }
    free((char *)(uintptr_t)room);
}

static void run_command(yyjson_val *command)
{
    const char *name = yyjson_get_str(yyjson_arr_get(command, 0));
    if (name == NULL || strcmp(name, "copy") != 0) {
        return;
    }
    const char *text = yyjson_get_str(yyjson_arr_get(command, 1));
    if (text != NULL) {
        copy_text(text);
    }
}

FUZZ_TARGET(planted)
{
    struct arena *arena = arena_new(MIB(16));
    if (arena == NULL) {
        return 0;
    }
    struct json_problem problem;
    yyjson_doc *doc = json_parse(arena, (const char *)data, size, &problem);
    if (doc != NULL) {
        run_command(yyjson_doc_get_root(doc));
    }
    arena_free(arena);
    return 0;
}
