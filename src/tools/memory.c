/* The memory tools: each reads its arguments, asks memory/ and describes what came. */
#include "call/errors.h"
#include "config/budget.h"
#include "core/clock.h"
#include "embedded.h"
#include "guard/callers.h"
#include "memory/fields.h"
#include "memory/time_words.h"
#include "text/text.h"
#include "tools/tools.h"

#include <math.h>
#include <string.h>

#define RESULT_CHARS 160 /* of names and punctuation around one result, roughly */
#define BESIDE_CHARS 300 /* of one result of memory_get, besides its text, roughly */

static void ready(struct readiness *readiness)
{
    readiness->ready = memory_ready(readiness->lacks, sizeof readiness->lacks);
}

/* ---- arguments; OK, ERR_FAILED after call_fail(), ERR_NOMEM ---- */

static int read_space(struct call *call, yyjson_val *arguments, struct memory_space *space)
{
    return memory_space_of(call, json_string(arguments, "namespace"), space);
}

static size_t size_of(yyjson_val *arguments, const char *name)
{
    return (size_t)yyjson_get_num(yyjson_obj_get(arguments, name));
}

/* The namespace, and which memories of it. */
static int read_filter(struct call *call, yyjson_val *arguments, struct memory_space *space,
                       struct memory_filter *filter)
{
    static const char *const NAMES[] = {"time", "from", "until"};
    struct time_span spans[3] = {0};
    const char **tags;
    *filter = (struct memory_filter){
        .session = json_string(arguments, "session"),
        .role = json_string(arguments, "role"),
        .prefix = json_string(arguments, "prefix"),
    };
    int status = read_space(call, arguments, space);
    if (status == OK) {
        status = fields_list(call, call_arena(call), "tags", yyjson_obj_get(arguments, "tags"),
                             false, &tags, &filter->tag_count);
    }
    for (size_t i = 0; status == OK && i < 3; i++) {
        const char *text = json_string(arguments, NAMES[i]);
        if (text && time_words_read(text, clock_wall_ms(), &spans[i]) != OK) {
            status = call_fail(call, CODE_VALIDATION,
                               "%s is \"%.60s\"; it must be " TIME_WORDS_ALLOWED, NAMES[i], text);
        }
    }
    if (status != OK) {
        return status;
    }
    const struct time_span *time = &spans[0];
    int64_t from = spans[1].from_ms;
    int64_t until = spans[2].until_ms;
    bool earlier = time->until_ms == 0 || (until != 0 && until < time->until_ms);
    filter->tags = tags;
    filter->from_ms = from > time->from_ms ? from : time->from_ms;
    filter->until_ms = earlier ? until : time->until_ms;
    return OK;
}

/* The namespace, and `key` or `keys`, one of them. */
static int read_keys(struct call *call, yyjson_val *arguments, struct memory_space *space,
                     const char ***keys, size_t *count)
{
    const char *key = json_string(arguments, "key");
    yyjson_val *several = yyjson_obj_get(arguments, "keys");
    int status = read_space(call, arguments, space);
    if (status != OK) {
        return status;
    }
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

/* Makes {success: true, data: {}} the answer and returns data; NULL without memory. */
static yyjson_mut_val *answer_with_data(struct reply *reply)
{
    reply->structured = yyjson_mut_obj(reply->doc);
    yyjson_mut_obj_add_bool(reply->doc, reply->structured, "success", true);
    return yyjson_mut_obj_add_obj(reply->doc, reply->structured, "data");
}

/* Results that are filled up to the size that an answer may have. */
struct results {
    yyjson_mut_doc *doc;
    yyjson_mut_val *data, *list;
    size_t chars;
    bool full;
};

static struct results start_results(struct reply *reply)
{
    yyjson_mut_val *data = answer_with_data(reply);
    return (struct results){
        .doc = reply->doc,
        .data = data,
        .list = yyjson_mut_obj_add_arr(reply->doc, data, "results"),
    };
}

/* Adds a result that takes about so many characters, while there is room. */
static void add_result(struct results *results, yyjson_mut_val *result, size_t chars)
{
    results->chars += chars + RESULT_CHARS;
    results->full |= results->chars > budget_chars() && yyjson_mut_arr_size(results->list) > 0;
    if (!results->full) {
        yyjson_mut_arr_append(results->list, result);
    }
}

static int finish_results(const struct results *results, yyjson_val *arguments, size_t total,
                          bool is_lower_bound)
{
    size_t offset = size_of(arguments, "offset");
    yyjson_mut_val *page = yyjson_mut_obj_add_obj(results->doc, results->data, "pagination");
    yyjson_mut_obj_add_uint(results->doc, page, "total", total);
    yyjson_mut_obj_add_uint(results->doc, page, "limit", size_of(arguments, "limit"));
    yyjson_mut_obj_add_uint(results->doc, page, "offset", offset);
    if (is_lower_bound) {
        yyjson_mut_obj_add_bool(results->doc, page, "total_is_lower_bound", true);
    }
    if (results->full) {
        yyjson_mut_obj_add_uint(results->doc, page, "next_offset",
                                offset + yyjson_mut_arr_size(results->list));
    }
    return page ? OK : ERR_NOMEM;
}

/* ---- memory_add, memory_update, memory_rename ---- */

static const char *const OUTCOMES[] = {
    [MEMORY_ADDED] = "added",         [MEMORY_REPLACED] = "replaced",
    [MEMORY_UNCHANGED] = "unchanged", [MEMORY_DUPLICATE] = "duplicate",
    [MEMORY_UPDATED] = "updated",     [MEMORY_RENAMED] = "renamed",
    [MEMORY_DELETED] = "deleted",
};

/* What a duplicate brought into the memory that has its text. */
static void add_merged(yyjson_mut_doc *doc, yyjson_mut_val *data, unsigned merged)
{
    static const struct {
        enum memory_merged part;
        const char *name;
    } PARTS[] = {{MEMORY_MERGED_TAGS, "tags"},
                 {MEMORY_MERGED_METADATA, "metadata"},
                 {MEMORY_MERGED_EXPIRY, "expires_at"}};
    yyjson_mut_val *list = merged ? yyjson_mut_obj_add_arr(doc, data, "merged") : NULL;
    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++) {
        if (merged & PARTS[i].part) {
            yyjson_mut_arr_add_str(doc, list, PARTS[i].name);
        }
    }
}

/* The whole of a tool that changes one memory: `apply` is memory_add or one like it. */
static int change_one(struct call *call, yyjson_val *arguments, struct reply *reply,
                      int (*apply)(struct call *call, const struct memory_space *space,
                                   const struct memory_change *change,
                                   struct memory_result *result))
{
    struct memory_space space;
    struct memory_change change;
    struct memory_result result;
    int status = read_space(call, arguments, &space);
    if (status == OK) {
        status = fields_read(call, call_arena(call), arguments, &change);
    }
    if (status == OK) {
        status = apply(call, &space, &change, &result);
    }
    if (status != OK) {
        return status;
    }
    yyjson_mut_doc *doc = reply->doc;
    yyjson_mut_val *data = answer_with_data(reply);
    yyjson_mut_obj_add_str(doc, data, "key", result.key);
    yyjson_mut_obj_add_str(doc, data, "namespace", space.name);
    yyjson_mut_obj_add_str(doc, data, "outcome", OUTCOMES[result.outcome]);
    add_merged(doc, data, result.merged);
    yyjson_mut_obj_add_str(doc, data, "summary", result.summary);
    yyjson_mut_obj_add_sint(doc, data, "version", result.version);
    fields_write_time(doc, data, "created_at", result.created_ms);
    fields_write_time(doc, data, "updated_at", result.updated_ms);
    if (result.replaced_version > 0) {
        yyjson_mut_val *replaced = yyjson_mut_obj_add_obj(doc, data, "replaced");
        yyjson_mut_obj_add_sint(doc, replaced, "version", result.replaced_version);
        fields_write_time(doc, replaced, "updated_at", result.replaced_ms);
    }
    return data ? OK : ERR_NOMEM;
}

static int run_add(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    return change_one(call, arguments, reply, memory_add);
}

static int run_rename(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    return change_one(call, arguments, reply, memory_rename);
}

static int update_something(struct call *call, const struct memory_space *space,
                            const struct memory_change *change, struct memory_result *result)
{
    if (change->new_key || change->text || change->summary || change->set_tags ||
        change->metadata || change->session || change->place >= 0 || change->role ||
        change->created_ms != 0 || change->expires_ms != 0 || change->version != 0) {
        return memory_update(call, space, change, result);
    }
    return call_fail(call, CODE_VALIDATION,
                     "there is nothing to change: give new_key, text, summary, tags, metadata, "
                     "session, place, role, created_at, expires_at or version");
}

static int run_update(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    return change_one(call, arguments, reply, update_something);
}

/* ---- memory_delete ---- */

static int run_delete(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    struct memory_space space;
    const char **keys;
    size_t count;
    int status = read_keys(call, arguments, &space, &keys, &count);
    if (status != OK) {
        return status;
    }
    bool *gone = arena_zalloc(call_arena(call), count);
    status = gone ? memory_delete(call, &space, keys, count, gone) : ERR_NOMEM;
    if (status != OK) {
        return status;
    }
    yyjson_mut_val *data = answer_with_data(reply);
    yyjson_mut_val *deleted = yyjson_mut_obj_add_arr(reply->doc, data, "deleted");
    yyjson_mut_val *missing = yyjson_mut_obj_add_arr(reply->doc, data, "missing");
    for (size_t i = 0; i < count; i++) {
        yyjson_mut_arr_add_str(reply->doc, gone[i] ? deleted : missing, keys[i]);
    }
    return data ? OK : ERR_NOMEM;
}

/* ---- memory_list, memory_search, memory_fulltext_search ---- */

static int run_list(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    struct memory_space space;
    struct memory_filter filter;
    struct memory_page page;
    int status = read_filter(call, arguments, &space, &filter);
    if (status == OK) {
        status = memory_list(call, &space, &filter, size_of(arguments, "limit"),
                             size_of(arguments, "offset"), &page);
    }
    if (status != OK) {
        return status;
    }
    struct results results = start_results(reply);
    for (size_t i = 0; i < page.count && !results.full; i++) {
        const struct memory *memory = &page.items[i];
        yyjson_mut_val *item = yyjson_mut_obj(reply->doc);
        fields_write(reply->doc, item, call_arena(call), memory);
        yyjson_mut_obj_add_uint(reply->doc, item, "chars",
                                text_count(memory->text, strlen(memory->text)));
        add_result(&results, item,
                   strlen(memory->key) + strlen(memory->summary) +
                       (memory->metadata ? strlen(memory->metadata) : 0));
    }
    return finish_results(&results, arguments, page.total, page.total_is_lower_bound);
}

/* Four digits are enough to see an order, and easier to read. */
static double rounded(double value)
{
    return floor(value * 10000 + 0.5) / 10000;
}

static void explain(yyjson_mut_doc *doc, yyjson_mut_val *item, const struct memory_parts *parts)
{
    yyjson_mut_val *made_of = yyjson_mut_obj_add_obj(doc, item, "explain");
    yyjson_mut_obj_add_real(doc, made_of, "words", rounded(parts->words));
    yyjson_mut_obj_add_real(doc, made_of, "neighbours", rounded(parts->neighbours));
    yyjson_mut_obj_add_real(doc, made_of, "session", rounded(parts->session));
    yyjson_mut_obj_add_real(doc, made_of, "meaning", rounded(parts->meaning));
    yyjson_mut_obj_add_real(doc, made_of, "share", rounded(parts->share));
    if (!isnan(parts->cosine)) {
        yyjson_mut_obj_add_real(doc, made_of, "cosine", rounded(parts->cosine));
    }
    json_add_string(doc, made_of, "first_by", parts->first_by);
}

static int answer_with_hits(struct reply *reply, yyjson_val *arguments,
                            const struct memory_hits *hits)
{
    yyjson_mut_doc *doc = reply->doc;
    struct results results = start_results(reply);
    for (size_t i = 0; i < hits->count && !results.full; i++) {
        const struct memory_hit *hit = &hits->items[i];
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
        fields_write_damage(doc, item, hit->damage);
        if (yyjson_is_true(yyjson_obj_get(arguments, "explain"))) {
            explain(doc, item, &hit->parts);
        }
        add_result(&results, item, strlen(hit->key) + strlen(hit->summary) + strlen(hit->excerpt));
    }
    json_add_string(doc, results.data, "ranked_by", hits->ranked_by);
    json_add_string(doc, results.data, "note", hits->note);
    return finish_results(&results, arguments, hits->total, hits->total_is_lower_bound);
}

static int run_search(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    struct memory_space space;
    struct memory_filter filter;
    struct memory_hits hits;
    int status = read_filter(call, arguments, &space, &filter);
    if (status == OK) {
        status = memory_search(call, &space, json_string(arguments, "query"), &filter,
                               size_of(arguments, "limit"), size_of(arguments, "offset"), &hits);
    }
    return status == OK ? answer_with_hits(reply, arguments, &hits) : status;
}

static int run_fulltext_search(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    struct memory_space space;
    struct memory_filter filter;
    struct memory_hits hits;
    const char **keywords;
    size_t count;
    bool all = strcmp(json_string(arguments, "operator"), "AND") == 0;
    int status = read_filter(call, arguments, &space, &filter);
    if (status == OK) {
        status = fields_list(call, call_arena(call), "keywords",
                             yyjson_obj_get(arguments, "keywords"), true, &keywords, &count);
    }
    if (status == OK) {
        status =
            memory_fulltext(call, &space, keywords, count, all ? MEMORY_AND : MEMORY_OR, &filter,
                            size_of(arguments, "limit"), size_of(arguments, "offset"), &hits);
    }
    return status == OK ? answer_with_hits(reply, arguments, &hits) : status;
}

/* ---- memory_get: memories with their neighbours; the texts share the size of an answer ---- */

struct getting {
    struct call *call;
    yyjson_mut_doc *doc;
    const char **keys;
    size_t count;
    struct memory *found; /* for each key */
    struct memory_around *around;
    size_t start; /* in characters of each text */
    size_t share; /* of characters for each text */
};

static yyjson_mut_val *describe_memory(const struct getting *getting, const struct memory *memory)
{
    yyjson_mut_doc *doc = getting->doc;
    yyjson_mut_val *item = yyjson_mut_obj(doc);
    size_t length = strlen(memory->text);
    size_t begin = text_prefix(memory->text, length, getting->start);
    size_t size = text_prefix(memory->text + begin, length - begin, getting->share);
    bool more = begin + size < length;
    fields_write(doc, item, call_arena(getting->call), memory);
    yyjson_mut_obj_add_strn(doc, item, "text", memory->text + begin, size);
    if (more || begin > 0) {
        yyjson_mut_obj_add_uint(doc, item, "total_chars", text_count(memory->text, length));
    }
    if (more) {
        yyjson_mut_obj_add_uint(doc, item, "next_start", getting->start + getting->share);
    }
    return item;
}

/* Finds the share of each text: every text of the answer is measured, `most` is the caller's own
 * limit (0: none). */
static int measure(struct getting *getting, size_t most)
{
    size_t texts = 0;
    for (size_t i = 0; i < getting->count; i++) {
        texts += 1 + getting->around[i].count;
    }
    size_t *lengths = arena_alloc(call_arena(getting->call), (texts + 1) * sizeof *lengths);
    if (!lengths) {
        return ERR_NOMEM;
    }
    texts = 0;
    for (size_t i = 0; i < getting->count; i++) {
        if (getting->found[i].key) {
            lengths[texts++] = text_count(getting->found[i].text, strlen(getting->found[i].text));
        }
        for (size_t j = 0; j < getting->around[i].count; j++) {
            const char *text = getting->around[i].items[j].text;
            lengths[texts++] = text_count(text, strlen(text));
        }
    }
    size_t budget = budget_chars();
    size_t beside = texts * BESIDE_CHARS;
    size_t room = budget > 2 * beside ? budget - beside : budget / 2;
    getting->share = budget_share(lengths, texts, room);
    getting->share = most > 0 && most < getting->share ? most : getting->share;
    getting->share = getting->share > 0 ? getting->share : 1;
    return OK;
}

static int answer_with_memories(const struct getting *getting, struct reply *reply)
{
    yyjson_mut_doc *doc = getting->doc;
    yyjson_mut_val *data = answer_with_data(reply);
    yyjson_mut_val *results = yyjson_mut_obj_add_arr(doc, data, "results");
    yyjson_mut_val *missing = yyjson_mut_arr(doc);
    for (size_t i = 0; i < getting->count; i++) {
        const struct memory_around *around = &getting->around[i];
        if (!getting->found[i].key) {
            yyjson_mut_arr_add_str(doc, missing, getting->keys[i]);
            continue;
        }
        yyjson_mut_val *item = describe_memory(getting, &getting->found[i]);
        yyjson_mut_val *neighbours =
            around->count ? yyjson_mut_obj_add_arr(doc, item, "neighbours") : NULL;
        for (size_t j = 0; j < around->count; j++) {
            yyjson_mut_arr_append(neighbours, describe_memory(getting, &around->items[j]));
        }
        yyjson_mut_arr_append(results, item);
    }
    if (yyjson_mut_arr_size(missing) > 0) {
        yyjson_mut_obj_add_val(doc, data, "missing", missing);
    }
    return data ? OK : ERR_NOMEM;
}

/* ---- versions of a memory ---- */

#define BEGINNING_CHARS 80

struct history {
    yyjson_mut_doc *doc;
    yyjson_mut_val *list;
};

static int add_version(void *context, const struct memory *memory)
{
    const struct history *history = context;
    yyjson_mut_doc *doc = history->doc;
    yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, history->list);
    size_t length = strlen(memory->text);
    yyjson_mut_obj_add_sint(doc, item, "version", memory->version);
    fields_write_time(doc, item, "updated_at", memory->updated_ms);
    yyjson_mut_obj_add_uint(doc, item, "chars", text_count(memory->text, length));
    yyjson_mut_val *tags = memory->tag_count ? yyjson_mut_obj_add_arr(doc, item, "tags") : NULL;
    for (size_t i = 0; i < memory->tag_count; i++) {
        yyjson_mut_arr_add_strcpy(doc, tags, memory->tags[i]); /* they go with the row */
    }
    yyjson_mut_obj_add_strncpy(doc, item, "begins", memory->text,
                               text_prefix(memory->text, length, BEGINNING_CHARS));
    fields_write_damage(doc, item, memory->damage);
    return item ? OK : ERR_NOMEM;
}

static int answer_with_history(struct call *call, const struct memory_space *space, const char *key,
                               struct reply *reply)
{
    yyjson_mut_val *data = answer_with_data(reply);
    struct history history = {reply->doc, yyjson_mut_obj_add_arr(reply->doc, data, "versions")};
    yyjson_mut_obj_add_str(reply->doc, data, "key", key);
    return data ? memory_history(call, space, key, add_version, &history) : ERR_NOMEM;
}

static int get_by_key(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    yyjson_val *version = yyjson_obj_get(arguments, "version");
    struct memory_space space;
    struct arena *arena = call_arena(call);
    struct getting getting = {
        .call = call, .doc = reply->doc, .start = size_of(arguments, "start")};
    int status = read_keys(call, arguments, &space, &getting.keys, &getting.count);
    if (status != OK) {
        return status;
    }
    getting.found = arena_alloc(arena, getting.count * sizeof *getting.found);
    getting.around = arena_alloc(arena, getting.count * sizeof *getting.around);
    if (!getting.found || !getting.around) {
        return ERR_NOMEM;
    }
    if (version && getting.count != 1) {
        return call_fail(call, CODE_VALIDATION, "version needs one key");
    }
    if (version && yyjson_get_sint(version) == 0) {
        return answer_with_history(call, &space, getting.keys[0], reply);
    }
    if (version) {
        memset(getting.around, 0, sizeof *getting.around);
        status =
            memory_version(call, &space, getting.keys[0], yyjson_get_sint(version), getting.found);
    } else {
        status = memory_get(call, &space, getting.keys, getting.count,
                            size_of(arguments, "neighbours"), getting.found, getting.around);
    }
    if (status == OK && json_string(arguments, "key") && !getting.found[0].key) {
        return call_fail(call, CODE_NOT_FOUND,
                         "there is no memory of this key in the namespace %s; memory_search finds "
                         "memories by what they say, memory_get without a key lists what there is",
                         space.name);
    }
    if (status == OK) {
        status = measure(&getting, size_of(arguments, "max_chars"));
    }
    return status == OK ? answer_with_memories(&getting, reply) : status;
}

/* What is for memories that keys name is not for lists, and the other way about: nothing that was
 * asked for is passed over silently. */
static int check_way_of_getting(struct call *call, yyjson_val *arguments, bool by_key)
{
    static const char *const OF_KEYS[] = {"version", "neighbours", "start", "max_chars", NULL};
    static const char *const OF_LISTS[] = {"prefix", "tags",    "time", "from",
                                           "until",  "session", "role", NULL};
    for (const char *const *name = by_key ? OF_LISTS : OF_KEYS; *name; name++) {
        yyjson_val *given = yyjson_obj_get(arguments, *name);
        bool says_nothing = yyjson_is_num(given) && yyjson_get_num(given) == 0;
        if (given && !says_nothing) {
            return call_fail(call, CODE_VALIDATION,
                             by_key ? "%s narrows a list, and key or keys name memories: leave out "
                                      "one of the two"
                                    : "%s is for memories that key or keys name; give one of them",
                             *name);
        }
    }
    return OK;
}

/* Reads what keys name; without a key lists what there is. */
static int run_get(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    bool by_key = yyjson_obj_get(arguments, "key") || yyjson_obj_get(arguments, "keys");
    int status = check_way_of_getting(call, arguments, by_key);
    if (status != OK) {
        return status;
    }
    return by_key ? get_by_key(call, arguments, reply) : run_list(call, arguments, reply);
}

/* ---- memory_overview ---- */

static int run_overview(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    struct memory_space space;
    struct memory_filter filter;
    struct memory_overview seen;
    int status = read_filter(call, arguments, &space, &filter);
    status = status == OK ? memory_overview(call, &space, &filter, &seen) : status;
    if (status != OK) {
        return status;
    }
    yyjson_mut_doc *doc = reply->doc;
    yyjson_mut_val *data = answer_with_data(reply);
    yyjson_mut_obj_add_uint(doc, data, "counted", seen.counted);
    yyjson_mut_obj_add_bool(doc, data, "more", seen.more);
    yyjson_mut_val *tags = yyjson_mut_obj_add_arr(doc, data, "tags");
    for (size_t i = 0; i < seen.tag_count; i++) {
        yyjson_mut_val *tag = yyjson_mut_arr_add_obj(doc, tags);
        yyjson_mut_obj_add_str(doc, tag, "tag", seen.tags[i].name);
        yyjson_mut_obj_add_sint(doc, tag, "memories", seen.tags[i].memories);
    }
    yyjson_mut_obj_add_bool(doc, data, "more_tags", seen.more_tags);
    yyjson_mut_obj_add_str(doc, data, "unit", seen.unit);
    yyjson_mut_val *times = yyjson_mut_obj_add_arr(doc, data, "times");
    for (size_t i = 0; i < seen.period_count; i++) {
        yyjson_mut_val *period = yyjson_mut_arr_add_obj(doc, times);
        fields_write_time(doc, period, "from", seen.periods[i].from_ms);
        yyjson_mut_obj_add_sint(doc, period, "memories", seen.periods[i].memories);
    }
    yyjson_mut_obj_add_uint(doc, data, "all_damaged", seen.all_damaged);
    yyjson_mut_val *damaged = yyjson_mut_obj_add_arr(doc, data, "damaged");
    for (size_t i = 0; i < seen.damaged_count; i++) {
        yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, damaged);
        yyjson_mut_obj_add_str(doc, one, "key", seen.damaged[i].key);
        fields_write_time(doc, one, "created_at", seen.damaged[i].created_ms);
        fields_write_damage(doc, one, seen.damaged[i].damage);
    }
    return data ? OK : ERR_NOMEM;
}

/* ---- memory_stats ---- */

static int run_stats(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    struct memory_stats stats;
    const char *only = json_string(arguments, "namespace");
    int status = memory_stats(call, &stats);
    if (status != OK) {
        return status;
    }
    yyjson_mut_doc *doc = reply->doc;
    yyjson_mut_val *data = answer_with_data(reply);
    yyjson_mut_obj_add_str(doc, data, "backend", stats.backend);
    yyjson_mut_obj_add_int(doc, data, "schema_version", stats.schema_version);
    json_add_string(doc, data, "model", stats.model);
    yyjson_mut_obj_add_sint(doc, data, "used_bytes", stats.used_bytes);
    if (stats.shared_bytes > 0) {
        yyjson_mut_obj_add_sint(doc, data, "shared_bytes", stats.shared_bytes);
    }
    if (stats.quota_bytes > 0) {
        yyjson_mut_obj_add_sint(doc, data, "quota_bytes", stats.quota_bytes);
    }
    /* How much all callers keep together is nobody's business but the operator's. */
    if (stats.file_bytes > 0 && call_caller(call) == caller_local()) {
        yyjson_mut_obj_add_sint(doc, data, "file_bytes", stats.file_bytes);
    }
    yyjson_mut_val *namespaces = yyjson_mut_obj_add_arr(doc, data, "namespaces");
    for (size_t i = 0; i < stats.namespace_count; i++) {
        const struct memory_namespace_stats *each = &stats.namespaces[i];
        if (only && strcmp(only, each->name) != 0) {
            continue;
        }
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, namespaces);
        yyjson_mut_obj_add_str(doc, item, "name", each->name);
        yyjson_mut_obj_add_bool(doc, item, "shared", each->shared);
        yyjson_mut_obj_add_sint(doc, item, "memories", each->memories);
        yyjson_mut_obj_add_sint(doc, item, "indexed", each->indexed);
        if (stats.model) {
            yyjson_mut_obj_add_sint(doc, item, "embedded", each->embedded);
        }
        yyjson_mut_obj_add_sint(doc, item, "sessions", each->sessions);
        yyjson_mut_obj_add_sint(doc, item, "text_bytes", each->text_bytes);
        if (each->memories > 0) {
            fields_write_time(doc, item, "oldest_at", each->oldest_ms);
            fields_write_time(doc, item, "newest_at", each->newest_ms);
        }
    }
    return data ? OK : ERR_NOMEM;
}

const struct tool MEMORY_TOOLS[MEMORY_TOOL_COUNT] = {
    {definition_memory_search, run_search, ready},
    {definition_memory_fulltext_search, run_fulltext_search, ready},
    {definition_memory_get, run_get, ready},
    {definition_memory_list, run_list, ready},
    {definition_memory_add, run_add, ready},
    {definition_memory_update, run_update, ready},
    {definition_memory_rename, run_rename, ready},
    {definition_memory_delete, run_delete, ready},
    {definition_memory_stats, run_stats, ready},
    {definition_memory_overview, run_overview, ready},
};
