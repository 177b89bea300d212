/* memory_get: memories by their keys, with their neighbours. The texts share the size that a result
 * may have. */
#include "call/errors.h"
#include "config/budget.h"
#include "embedded.h"
#include "text/text.h"
#include "tools/memory_common.h"
#include "tools/tools.h"

#include <string.h>

#define BESIDE_CHARS 300 /* of one result, besides its text, roughly */

struct reading {
    struct call *call;
    struct reply *reply;
    size_t start; /* in characters of each text */
    size_t share; /* of characters for each text */
};

/* How many characters each text may have so that all fit together: what short ones leave over goes
 * to the long ones. */
static size_t fair_share(const size_t *lengths, size_t count, size_t budget)
{
    size_t share = count ? budget / count : budget;
    for (int round = 0; round < 8; round++) {
        size_t left = budget;
        size_t longer = 0;
        for (size_t i = 0; i < count; i++) {
            longer += lengths[i] > share;
            left -= lengths[i] > share ? 0 : lengths[i] < left ? lengths[i] : left;
        }
        if (longer == 0 || left / longer <= share) {
            break;
        }
        share = left / longer;
    }
    return share;
}

static yyjson_mut_val *describe(const struct reading *reading, const struct memory *memory)
{
    yyjson_mut_doc *doc = reading->reply->doc;
    yyjson_mut_val *item = yyjson_mut_obj(doc);
    size_t length = strlen(memory->text);
    size_t begin = text_prefix(memory->text, length, reading->start);
    size_t size = text_prefix(memory->text + begin, length - begin, reading->share);
    bool more = begin + size < length;
    fields_write(doc, item, call_arena(reading->call), memory);
    yyjson_mut_obj_add_strn(doc, item, "text", memory->text + begin, size);
    if (more || begin > 0) {
        yyjson_mut_obj_add_uint(doc, item, "total_chars", text_count(memory->text, length));
    }
    if (more) {
        yyjson_mut_obj_add_uint(doc, item, "next_start", reading->start + reading->share);
    }
    return item;
}

/* Every text that is part of the result, by its characters. */
static int measure(struct reading *reading, const struct memory *found,
                   const struct memory_around *around, size_t count, size_t most)
{
    size_t texts = 0;
    for (size_t i = 0; i < count; i++) {
        texts += 1 + around[i].count;
    }
    size_t *lengths = arena_alloc(call_arena(reading->call), (texts + 1) * sizeof *lengths);
    if (!lengths) {
        return ERR_NOMEM;
    }
    texts = 0;
    for (size_t i = 0; i < count; i++) {
        if (found[i].key) {
            lengths[texts++] = text_count(found[i].text, strlen(found[i].text));
        }
        for (size_t j = 0; j < around[i].count; j++) {
            const char *text = around[i].items[j].text;
            lengths[texts++] = text_count(text, strlen(text));
        }
    }
    size_t budget = budget_chars();
    size_t beside = texts * BESIDE_CHARS;
    reading->share = fair_share(lengths, texts, budget > 2 * beside ? budget - beside : budget / 2);
    reading->share = most > 0 && most < reading->share ? most : reading->share;
    reading->share = reading->share > 0 ? reading->share : 1;
    return OK;
}

static int answer(const struct reading *reading, const char *const *keys, size_t count,
                  const struct memory *found, const struct memory_around *around)
{
    yyjson_mut_doc *doc = reading->reply->doc;
    yyjson_mut_val *data = memory_common_data(reading->reply);
    yyjson_mut_val *results = yyjson_mut_arr(doc);
    yyjson_mut_val *missing = yyjson_mut_arr(doc);
    for (size_t i = 0; i < count; i++) {
        if (!found[i].key) {
            yyjson_mut_arr_add_str(doc, missing, keys[i]);
            continue;
        }
        yyjson_mut_val *item = describe(reading, &found[i]);
        if (around[i].count > 0) {
            yyjson_mut_val *neighbours = yyjson_mut_arr(doc);
            for (size_t j = 0; j < around[i].count; j++) {
                yyjson_mut_arr_append(neighbours, describe(reading, &around[i].items[j]));
            }
            yyjson_mut_obj_add_val(doc, item, "neighbours", neighbours);
        }
        yyjson_mut_arr_append(results, item);
    }
    yyjson_mut_obj_add_val(doc, data, "results", results);
    if (yyjson_mut_arr_size(missing) > 0) {
        yyjson_mut_obj_add_val(doc, data, "missing", missing);
    }
    return data ? OK : ERR_NOMEM;
}

static int run(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    struct memory_space space;
    struct reading reading = {call, reply, memory_common_size(arguments, "start"), 0};
    const char **keys;
    size_t count;
    int status = memory_common_space(call, arguments, &space);
    if (status == OK) {
        status = memory_common_keys(call, arguments, &keys, &count);
    }
    if (status != OK) {
        return status;
    }
    struct arena *arena = call_arena(call);
    struct memory *found = arena_alloc(arena, count * sizeof *found);
    struct memory_around *around = arena_alloc(arena, count * sizeof *around);
    if (!found || !around) {
        return ERR_NOMEM;
    }
    status = memory_get(call, &space, keys, count, memory_common_size(arguments, "neighbours"),
                        found, around);
    if (status == OK && json_string(arguments, "key") && !found[0].key) {
        return call_fail(call, CODE_NOT_FOUND,
                         "there is no memory of this key in the namespace %s; memory_search finds "
                         "memories by what they say, memory_list shows what there is",
                         space.name);
    }
    if (status == OK) {
        status =
            measure(&reading, found, around, count, memory_common_size(arguments, "max_chars"));
    }
    return status == OK ? answer(&reading, keys, count, found, around) : status;
}

const struct tool TOOL_MEMORY_GET = {
    .definition = definition_memory_get,
    .run = run,
    .ready = memory_common_ready,
};
