/* What the memory tools share. */
#include "tools/memory_common.h"

#include "call/errors.h"
#include "config/budget.h"
#include "core/clock.h"
#include "memory/time_words.h"

#include <math.h>
#include <string.h>

#define RESULT_CHARS 160 /* of names and punctuation around one result, roughly */

void memory_common_ready(struct readiness *readiness)
{
    readiness->ready = memory_ready(readiness->lacks, sizeof readiness->lacks);
}

/* ---- arguments ---- */

int memory_common_space(struct call *call, yyjson_val *arguments, struct memory_space *space)
{
    return memory_space_of(call, json_string(arguments, "namespace"), space);
}

size_t memory_common_size(yyjson_val *arguments, const char *name)
{
    return (size_t)yyjson_get_num(yyjson_obj_get(arguments, name));
}

/* One of the three that say when. */
static int read_span(struct call *call, yyjson_val *arguments, const char *name,
                     struct time_span *span)
{
    const char *text = json_string(arguments, name);
    *span = (struct time_span){0};
    if (!text || time_words_read(text, clock_wall_ms(), span) == OK) {
        return OK;
    }
    return call_fail(call, CODE_VALIDATION, "%s is \"%.60s\"; it must be " TIME_WORDS_ALLOWED, name,
                     text);
}

int memory_common_filter(struct call *call, yyjson_val *arguments, struct memory_filter *filter)
{
    struct time_span time, from, until;
    const char **tags;
    *filter = (struct memory_filter){
        .session = json_string(arguments, "session"),
        .role = json_string(arguments, "role"),
        .prefix = json_string(arguments, "prefix"),
    };
    int status = fields_list(call, call_arena(call), "tags", yyjson_obj_get(arguments, "tags"),
                             false, &tags, &filter->tag_count);
    filter->tags = tags;
    if (status == OK) {
        status = read_span(call, arguments, "time", &time);
    }
    if (status == OK) {
        status = read_span(call, arguments, "from", &from);
    }
    if (status == OK) {
        status = read_span(call, arguments, "until", &until);
    }
    if (status != OK) {
        return status;
    }
    filter->from_ms = from.from_ms > time.from_ms ? from.from_ms : time.from_ms;
    bool earlier = time.until_ms == 0 || (until.until_ms != 0 && until.until_ms < time.until_ms);
    filter->until_ms = earlier ? until.until_ms : time.until_ms;
    return OK;
}

int memory_common_keys(struct call *call, yyjson_val *arguments, const char ***keys, size_t *count)
{
    const char *key = json_string(arguments, "key");
    yyjson_val *several = yyjson_obj_get(arguments, "keys");
    if (!key == !several) {
        return call_fail(call, CODE_VALIDATION,
                         key ? "key and keys were both given; give one of them"
                             : "key is missing: give key, or several as keys");
    }
    if (several) {
        return fields_list(call, call_arena(call), "keys", several, false, keys, count);
    }
    *keys = arena_alloc(call_arena(call), sizeof **keys);
    if (!*keys) {
        return ERR_NOMEM;
    }
    (*keys)[0] = key;
    *count = 1;
    return OK;
}

/* ---- results ---- */

yyjson_mut_val *memory_common_data(struct reply *reply)
{
    yyjson_mut_val *data = yyjson_mut_obj(reply->doc);
    reply->structured = yyjson_mut_obj(reply->doc);
    yyjson_mut_obj_add_bool(reply->doc, reply->structured, "success", true);
    yyjson_mut_obj_add_val(reply->doc, reply->structured, "data", data);
    return data;
}

int memory_common_changed(struct reply *reply, const struct memory_space *space,
                          const struct memory_result *result)
{
    static const char *const OUTCOMES[] = {
        [MEMORY_ADDED] = "added",         [MEMORY_REPLACED] = "replaced",
        [MEMORY_UNCHANGED] = "unchanged", [MEMORY_DUPLICATE] = "duplicate",
        [MEMORY_UPDATED] = "updated",     [MEMORY_RENAMED] = "renamed",
        [MEMORY_DELETED] = "deleted",
    };
    yyjson_mut_doc *doc = reply->doc;
    yyjson_mut_val *data = memory_common_data(reply);
    yyjson_mut_obj_add_str(doc, data, "key", result->key);
    yyjson_mut_obj_add_str(doc, data, "namespace", space->name);
    yyjson_mut_obj_add_str(doc, data, "outcome", OUTCOMES[result->outcome]);
    yyjson_mut_obj_add_str(doc, data, "summary", result->summary);
    yyjson_mut_obj_add_sint(doc, data, "version", result->version);
    fields_write_time(doc, data, "created_at", result->created_ms);
    fields_write_time(doc, data, "updated_at", result->updated_ms);
    return data ? OK : ERR_NOMEM;
}

void memory_results_start(struct memory_results *results, struct reply *reply, yyjson_mut_val *data)
{
    *results = (struct memory_results){.doc = reply->doc, .list = yyjson_mut_arr(reply->doc)};
    yyjson_mut_obj_add_val(reply->doc, data, "results", results->list);
}

bool memory_results_add(struct memory_results *results, yyjson_mut_val *result, size_t chars)
{
    results->chars += chars + RESULT_CHARS;
    results->full |= results->chars > budget_chars() && yyjson_mut_arr_size(results->list) > 0;
    if (!results->full) {
        yyjson_mut_arr_append(results->list, result);
    }
    return !results->full;
}

void memory_results_pagination(const struct memory_results *results, yyjson_mut_val *data,
                               yyjson_val *arguments, size_t total, bool is_lower_bound)
{
    size_t offset = memory_common_size(arguments, "offset");
    yyjson_mut_val *page = yyjson_mut_obj(results->doc);
    yyjson_mut_obj_add_uint(results->doc, page, "total", total);
    yyjson_mut_obj_add_uint(results->doc, page, "limit", memory_common_size(arguments, "limit"));
    yyjson_mut_obj_add_uint(results->doc, page, "offset", offset);
    if (is_lower_bound) {
        yyjson_mut_obj_add_bool(results->doc, page, "total_is_lower_bound", true);
    }
    if (results->full) {
        yyjson_mut_obj_add_uint(results->doc, page, "next_offset",
                                offset + yyjson_mut_arr_size(results->list));
    }
    yyjson_mut_obj_add_val(results->doc, data, "pagination", page);
}

/* Four digits are enough to see an order, and easier to read. */
static double rounded(double value)
{
    return floor(value * 10000 + 0.5) / 10000;
}

static yyjson_mut_val *describe_hit(yyjson_mut_doc *doc, const struct memory_hit *hit)
{
    yyjson_mut_val *item = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_str(doc, item, "key", hit->key);
    yyjson_mut_obj_add_str(doc, item, "summary", hit->summary);
    yyjson_mut_obj_add_str(doc, item, "excerpt", hit->excerpt);
    yyjson_mut_obj_add_real(doc, item, "relevance", rounded(hit->relevance));
    yyjson_mut_obj_add_real(doc, item, "score", rounded(hit->score));
    fields_write_tags(doc, item, hit->tags, hit->tag_count);
    json_add_string(doc, item, "session", hit->session);
    json_add_string(doc, item, "role", hit->role);
    fields_write_time(doc, item, "created_at", hit->created_ms);
    return item;
}

int memory_common_hits(struct reply *reply, yyjson_val *arguments, const struct memory_hits *hits)
{
    struct memory_results results;
    yyjson_mut_val *data = memory_common_data(reply);
    memory_results_start(&results, reply, data);
    for (size_t i = 0; i < hits->count && !results.full; i++) {
        const struct memory_hit *hit = &hits->items[i];
        memory_results_add(&results, describe_hit(reply->doc, hit),
                           strlen(hit->key) + strlen(hit->summary) + strlen(hit->excerpt));
    }
    memory_results_pagination(&results, data, arguments, hits->total, hits->total_is_lower_bound);
    return data ? OK : ERR_NOMEM;
}

int memory_common_change(struct call *call, yyjson_val *arguments, struct reply *reply,
                         int (*apply)(struct call *call, const struct memory_space *space,
                                      const struct memory_change *change,
                                      struct memory_result *result))
{
    struct memory_space space;
    struct memory_change change;
    struct memory_result result;
    int status = memory_common_space(call, arguments, &space);
    if (status == OK) {
        status = fields_read(call, call_arena(call), arguments, &change);
    }
    if (status == OK) {
        status = apply(call, &space, &change, &result);
    }
    return status == OK ? memory_common_changed(reply, &space, &result) : status;
}
