/* ChatGPT's contract (FORAGE_PROFILE=chatgpt). Its deep research wants two tools and no others:
 * `search` {query} with {results: [{id, title, url}]}, and `fetch` {id} with {id, title, text, url,
 * metadata}. They are made of web search, the reader and memory, as far as FORAGE_TOOLS offers
 * those.
 *
 * An id is the URL of a page, or "memory:" and a key of the caller's namespace "default". Where a
 * text is too long for one answer, "from:N:" before the id reads on at its character N. */
#include "call/errors.h"
#include "call/parts.h"
#include "config/budget.h"
#include "core/limits.h"
#include "core/log.h"
#include "embedded.h"
#include "memory/fields.h"
#include "ops/status.h"
#include "reader/content.h"
#include "text/text.h"
#include "tools/tools.h"
#include "websearch/websearch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PAGES    10
#define MOST_MEMORIES 5
/* A memory of this relevance is more likely meant than not, and stands before pages; below the
 * other it is probably about something else. */
#define SURE     0.5
#define POSSIBLE 0.2
/* Around a text: names, title and metadata. */
#define BESIDE_CHARS 1200

static const char MEMORY_ID[] = "memory:";
static const char PART_ID[] = "from:";

/* Whether the operator offers the tool that does this part of the work. */
static bool is_offered(struct call *call, const char *tool)
{
    const struct program_status *status = call_parts(call)->status;
    return registry_tool(status->registry, tool) != NULL;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool is_web_address(const char *text)
{
    return text && (begins(text, "http://") || begins(text, "https://"));
}

/* What a memory can be cited by: the address in its metadata, or "". */
static const char *address_of(struct arena *arena, const struct memory *memory)
{
    const char *json = memory->metadata ? memory->metadata : "{}";
    yyjson_doc *doc = json_parse(arena, json, strlen(json), NULL);
    const char *url = json_string(yyjson_doc_get_root(doc), "url");
    return is_web_address(url) ? url : "";
}

/* ---- search ---- */

struct chatgpt_finding {
    struct call *call;
    const char *query;
    yyjson_mut_doc *doc;
    yyjson_mut_val *list;
    const struct memory_hit *hits; /* the best first, none that is surely not meant */
    const struct memory *memories; /* the same */
    size_t count;
};

static void add_result(const struct chatgpt_finding *finding, const char *id, const char *title,
                       const char *url)
{
    yyjson_mut_val *item = yyjson_mut_arr_add_obj(finding->doc, finding->list);
    json_add_string(finding->doc, item, "id", id);
    json_add_string(finding->doc, item, "title", title && *title ? title : url);
    json_add_string(finding->doc, item, "url", url);
}

/* The memories whose relevance is at least the one and below the other. */
static void add_memories(const struct chatgpt_finding *finding, double least, double below)
{
    struct arena *arena = call_arena(finding->call);
    for (size_t i = 0; i < finding->count; i++) {
        const struct memory_hit *hit = &finding->hits[i];
        if (hit->relevance >= least && hit->relevance < below && finding->memories[i].key) {
            add_result(finding, arena_printf(arena, "%s%s", MEMORY_ID, hit->key), hit->summary,
                       address_of(arena, &finding->memories[i]));
        }
    }
}

static int find_memories(struct chatgpt_finding *finding)
{
    struct call *call = finding->call;
    struct memory_space space;
    struct memory_hits hits;
    struct memory_filter all = {0};
    struct memory *memories = arena_zalloc(call_arena(call), MOST_MEMORIES * sizeof *memories);
    const char *keys[MOST_MEMORIES];
    int status = memories ? memory_space_of(call, NULL, &space) : ERR_NOMEM;
    if (status == OK) {
        status = memory_search(call, &space, finding->query, &all, MOST_MEMORIES, 0, &hits);
    }
    if (status != OK) {
        return status;
    }
    size_t count = 0;
    while (count < hits.count && hits.items[count].relevance >= POSSIBLE) {
        keys[count] = hits.items[count].key;
        count++;
    }
    status = count ? memory_get(call, &space, keys, count, 0, memories, NULL) : OK;
    if (status == OK) {
        finding->hits = hits.items;
        finding->memories = memories;
        finding->count = count;
    }
    return status;
}

/* Adds the pages; none of them is read. */
static int find_pages(const struct chatgpt_finding *finding)
{
    struct search_request *request = arena_zalloc(call_arena(finding->call), sizeof *request);
    const char *provider;
    yyjson_mut_val *object = NULL;
    if (!request) {
        return ERR_NOMEM;
    }
    *request = (struct search_request){
        .texts = {finding->query},
        .text_count = 1,
        .query = {.count = MOST_PAGES, .page = 1, .type = SEARCH_WEB},
        .budget = LIMIT_CALL_ARENA_BYTES,
        .links = true,
    };
    int status = search_run(finding->call, request, finding->doc, &object, &provider);
    call_name_provider(finding->call, provider);
    size_t index, most;
    yyjson_mut_val *item;
    yyjson_mut_arr_foreach(yyjson_mut_obj_get(object, "results"), index, most, item)
    {
        const char *link = yyjson_mut_get_str(yyjson_mut_obj_get(item, "link"));
        if (link) {
            add_result(finding, link, yyjson_mut_get_str(yyjson_mut_obj_get(item, "title")), link);
        }
    }
    return status;
}

/* Goes on after one of the two failed, where the other has an answer; it is told in the log, since
 * the contract has no place for it. */
static int pass_over(struct call *call, const char *what, int status)
{
    struct call_error error;
    if (status == ERR_FAILED) {
        call_take_error(call, &error);
        log_info(call_request_id(call), "%s: %s; the answer is without it", what, error.code);
        return OK;
    }
    return status;
}

static int run_search(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    struct chatgpt_finding finding = {
        .call = call,
        .query = json_string(arguments, "query"),
        .doc = reply->doc,
        .list = yyjson_mut_arr(reply->doc),
    };
    bool pages = is_offered(call, "web_search");
    int status = is_offered(call, "memory_search") ? find_memories(&finding) : OK;
    if (pages) {
        status = pass_over(call, "memory", status);
    }
    if (status == OK) {
        add_memories(&finding, SURE, INFINITY);
        status = pages ? find_pages(&finding) : OK;
        status = finding.count ? pass_over(call, "web search", status) : status;
        add_memories(&finding, POSSIBLE, SURE);
    }
    reply->structured = yyjson_mut_obj(reply->doc);
    yyjson_mut_obj_add_val(reply->doc, reply->structured, "results", finding.list);
    return status;
}

/* ---- fetch ---- */

struct wish {
    const char *id;   /* as it was asked for, */
    const char *what; /* and without the part */
    size_t start;
};

/* Reads "from:N:" before an id, where it is there. */
static int read_wish(struct call *call, const char *id, struct wish *wish)
{
    *wish = (struct wish){.id = id, .what = id};
    if (begins(id, PART_ID)) {
        char *end = NULL;
        const char *number = id + strlen(PART_ID);
        unsigned long long start = strtoull(number, &end, 10);
        bool good = *number >= '0' && *number <= '9' && *end == ':' && start < SIZE_MAX;
        wish->start = (size_t)start;
        wish->what = good ? end + 1 : "";
    }
    if (begins(wish->what, MEMORY_ID) || is_web_address(wish->what)) {
        return OK;
    }
    return call_fail(call, CODE_VALIDATION,
                     "id is \"%.200s\"; it must be the id of a result of search: the URL of a "
                     "page, or %sKEY",
                     id, MEMORY_ID);
}

/* What the contract wants of either kind; `text` goes on at character `next`, unless that is 0. */
static int answer(const struct wish *wish, struct call *call, struct reply *reply,
                  const char *title, const char *text, const char *url, yyjson_mut_val *metadata,
                  size_t next)
{
    yyjson_mut_doc *doc = reply->doc;
    struct arena *arena = call_arena(call);
    const char *next_id = next ? arena_printf(arena, "%s%zu:%s", PART_ID, next, wish->what) : NULL;
    if (next_id) {
        text = arena_printf(arena, "%s\n\n[It goes on: fetch with the id \"%s\" reads on.]", text,
                            next_id);
        json_add_string(doc, metadata, "next_id", next_id);
    }
    reply->structured = yyjson_mut_obj(doc);
    json_add_string(doc, reply->structured, "id", wish->id);
    json_add_string(doc, reply->structured, "title", title && *title ? title : url);
    json_add_string(doc, reply->structured, "text", text);
    json_add_string(doc, reply->structured, "url", url);
    yyjson_mut_obj_add_val(doc, reply->structured, "metadata", metadata);
    return arena_failed(arena) ? ERR_NOMEM : OK;
}

/* All that get_content tells of a page besides, as far as it fits a table of texts. */
static yyjson_mut_val *page_metadata(struct call *call, yyjson_mut_doc *doc,
                                     yyjson_mut_val *described)
{
    static const char *const ELSEWHERE[] = {"success",    "url",     "title", "page_content",
                                            "next_start", "read_on", "start", "truncated",
                                            "loader",     NULL};
    yyjson_mut_val *metadata = yyjson_mut_obj(doc);
    size_t index, most;
    yyjson_mut_val *name, *value;
    yyjson_mut_obj_foreach(described, index, most, name, value)
    {
        const char *key = yyjson_mut_get_str(name);
        const char *const *other = ELSEWHERE;
        while (*other && strcmp(*other, key) != 0) {
            other++;
        }
        const char *text = yyjson_mut_get_str(value);
        text = text || yyjson_mut_is_ctn(value) ? text : json_text(call_arena(call), value, NULL);
        json_add_string(doc, metadata, key, *other ? NULL : text);
    }
    return metadata;
}

static int fetch_page(struct call *call, const struct wish *wish, struct reply *reply)
{
    struct content content;
    size_t beside = 4 * strlen(wish->id) + BESIDE_CHARS;
    size_t budget = budget_chars();
    struct content_request request = {
        .url = wish->what,
        .start = wish->start,
        .budget = budget > 2 * beside ? budget - beside : budget / 2,
        .render = RENDER_AUTO,
    };
    if (!is_offered(call, "get_content")) {
        return call_fail(call, CODE_CONFIG,
                         "pages are not read here: FORAGE_TOOLS leaves "
                         "get_content out");
    }
    int status = content_read(call, &request, &content);
    if (status != OK) {
        return status;
    }
    yyjson_mut_val *described = content_describe(&content, reply->doc, call_arena(call));
    yyjson_mut_val *metadata = page_metadata(call, reply->doc, described);
    call_name_provider(call, content.document.loader);
    return answer(wish, call, reply, content.document.title, content.text, content.document.url,
                  metadata, content.truncated ? content.part.end : 0);
}

static yyjson_mut_val *memory_metadata(struct call *call, yyjson_mut_doc *doc,
                                       const struct memory *memory)
{
    struct arena *arena = call_arena(call);
    const char *tags = memory->tag_count ? memory->tags[0] : NULL;
    for (size_t i = 1; tags && i < memory->tag_count; i++) {
        tags = arena_printf(arena, "%s, %s", tags, memory->tags[i]);
    }
    yyjson_mut_val *metadata = yyjson_mut_obj(doc);
    json_add_string(doc, metadata, "kind", "memory");
    fields_write_time(doc, metadata, "created_at", memory->created_ms);
    fields_write_time(doc, metadata, "updated_at", memory->updated_ms);
    json_add_string(doc, metadata, "tags", tags);
    fields_write_damage(doc, metadata, memory->damage);
    return metadata;
}

static int fetch_memory(struct call *call, const struct wish *wish, struct reply *reply)
{
    const char *key = wish->what + strlen(MEMORY_ID);
    struct memory_space space;
    struct memory memory = {0};
    int status =
        is_offered(call, "memory_get") ? memory_space_of(call, NULL, &space) : ERR_NOTFOUND;
    if (status == OK) {
        status = memory_get(call, &space, &key, 1, 0, &memory, NULL);
    }
    if (status == ERR_NOTFOUND || (status == OK && !memory.key)) {
        return call_fail(call, CODE_NOT_FOUND, "id: there is no memory \"%.200s\"", key);
    }
    if (status != OK) {
        return status;
    }
    struct arena *arena = call_arena(call);
    yyjson_mut_val *metadata = memory_metadata(call, reply->doc, &memory);
    size_t length = strlen(memory.text);
    size_t begin = text_prefix(memory.text, length, wish->start);
    size_t room = budget_chars() / 2;
    size_t size = text_prefix(memory.text + begin, length - begin, room);
    bool more = begin + size < length;
    const char *text = arena_strndup(arena, memory.text + begin, size);
    reply->own = true;
    return answer(wish, call, reply, memory.summary, text ? text : "", address_of(arena, &memory),
                  metadata, more ? wish->start + room : 0);
}

static int run_fetch(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    struct wish wish;
    int status = read_wish(call, json_string(arguments, "id"), &wish);
    if (status != OK) {
        return status;
    }
    return begins(wish.what, MEMORY_ID) ? fetch_memory(call, &wish, reply)
                                        : fetch_page(call, &wish, reply);
}

const struct tool CHATGPT_TOOLS[CHATGPT_TOOL_COUNT] = {
    {definition_chatgpt_search, run_search, NULL},
    {definition_chatgpt_fetch, run_fetch, NULL},
};
