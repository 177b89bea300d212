/* Fuzzes what reads the output of workers: the object in a model's text, and the event lines of
 * each kind of worker. Whatever comes: it ends, an object that is found has what was wanted and is
 * valid when written again, and a text that is taken from it is UTF-8. */
#include "core/limits.h"
#include "core/status.h"
#include "fuzz.h"
#include "research/steps.h"
#include "text/text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "fuzz_extract_json: %s\n", what);
        abort();
    }
}

static void check_object(struct arena *arena, yyjson_val *object)
{
    struct buf written;
    yyjson_val *report = yyjson_obj_get(object, "report");
    require(yyjson_is_obj(object) && yyjson_is_str(report), "the report");
    require(yyjson_is_bool(yyjson_obj_get(object, "success")), "success");
    require(text_is_utf8(yyjson_get_str(report), yyjson_get_len(report)), "not UTF-8");
    require(strlen(yyjson_get_str(report)) == yyjson_get_len(report), "a NUL");
    buf_init(&written, MIB(16));
    require(json_write_immutable(&written, arena, object) == OK, "it cannot be written");
    require(json_parse(arena, written.data, written.length, NULL) != NULL, "not strict");
    buf_done(&written);
}

static void check_extraction(const char *text, size_t size)
{
    static const struct extract_member WANTED[] = {
        {"success", YYJSON_TYPE_BOOL}, {"report", YYJSON_TYPE_STR}, {NULL, YYJSON_TYPE_NONE}};
    struct arena *arena = arena_new(MIB(64));
    yyjson_val *object = NULL;
    if (arena) {
        int status = extract_json(arena, text, size, WANTED, &object);
        require((status == OK) == (object != NULL), "a status without its object");
        if (object) {
            check_object(arena, object);
        }
    }
    arena_free(arena);
}

/* Each line as an event of a worker, and as a line of its stderr. */
static void check_events(const char *text, size_t size, const struct worker *worker)
{
    struct call *call = call_new(&(struct call_options){0});
    struct arena *scratch = arena_new(MIB(16));
    if (call && scratch) {
        struct sightings sightings;
        require(sightings_init(&sightings, call, 3) == OK, "out of memory");
        struct worker_sink sink = sightings_sink(&sightings);
        const char *end = text + size;
        while (text < end) {
            const char *stop = memchr(text, '\n', (size_t)(end - text));
            stop = stop ? stop : end;
            arena_reset(scratch);
            (void)!worker_feed(worker, scratch, text, (size_t)(stop - text), &sink);
            const char *line = arena_strndup(scratch, text, (size_t)(stop - text));
            if (line) {
                worker_trouble_in(worker, line);
            }
            text = stop + 1;
        }
        require(sightings.rounds <= sightings.turns, "a round without a turn");
        require(sightings.answer_start <= sightings.said.length, "the answer is outside");
        require(sightings.sources.count <= LIMIT_RESEARCH_ITEMS, "too many sources");
        sightings_done(&sightings);
    }
    arena_free(scratch);
    call_free(call);
}

FUZZ_TARGET(extract_json)
{
    char *text = malloc(size ? size : 1);
    if (text) {
        memcpy(text, data, size);
        check_extraction(text, size);
        check_events(text, size, &WORKER_GEMINI);
        check_events(text, size, &WORKER_CLAUDE);
    }
    free(text);
    return 0;
}
