/* Runs a search: asks the queries, merges what they found, reads the pages, describes the result.
 */
#include "websearch/websearch.h"

#include "call/parts.h"
#include "call/side.h"
#include "core/clock.h"
#include "core/id.h"
#include "core/sha256.h"
#include "page/focus.h"
#include "websearch/results.h"
#include "websearch/route.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RESERVE_MS  15 /* of the call's time, to tell what there is */
#define MEANT_PAGES 3  /* whose pieces are compared by meaning as those of one page alone */

struct websearch {
    struct breakers *breakers; /* which providers rest */
    unsigned char key[32];     /* of the marks in the log */
};

struct websearch *websearch_new(void)
{
    struct websearch *websearch = calloc(1, sizeof *websearch);
    if (websearch) {
        if (id_random(websearch->key, sizeof websearch->key) != OK) {
            id_make(
                (char *)websearch->key); /* easier to guess, and still another in each program */
        }
        websearch->breakers = breakers_new(BREAKER_FAILURES, BREAKER_PAUSE_MS, NULL);
    }
    return websearch && websearch->breakers ? websearch : websearch_free(websearch);
}

struct websearch *websearch_free(struct websearch *websearch)
{
    if (websearch) {
        breakers_free(websearch->breakers);
        free(websearch);
    }
    return NULL;
}

/* ---- the queries ---- */

/* One query, and what came of it. */
struct asking {
    struct search_query query;
    int64_t deadline_ms;
    int status;
    struct route_answer answer;
    struct call_error error; /* with ERR_FAILED */
};

static void ask_here(struct call *call, struct asking *asking)
{
    asking->status = route_search(call, call_parts(call)->websearch->breakers, &asking->query,
                                  asking->deadline_ms, &asking->answer);
    const struct call_error *error = call_error(call);
    if (asking->status == ERR_FAILED && error) {
        asking->error = *error;
    }
}

static const char *keep(struct arena *arena, const char *text)
{
    return text ? arena_strdup(arena, text) : NULL;
}

static void keep_remarks(struct arena *arena, struct remarks *remarks)
{
    for (size_t i = 0; i < remarks->count; i++) {
        remarks->items[i] = keep(arena, remarks->items[i]);
    }
}

/* Moves what was found into other memory. */
static void move_answer(struct arena *arena, struct asking *asking)
{
    struct hits *hits = &asking->answer.hits;
    struct hit *items = arena_zalloc(arena, (hits->count + 1) * sizeof *items);
    for (size_t i = 0; items && i < hits->count; i++) {
        const struct hit *hit = &hits->items[i];
        items[i] =
            (struct hit){keep(arena, hit->title), keep(arena, hit->link), keep(arena, hit->snippet),
                         keep(arena, hit->published), keep(arena, hit->image)};
    }
    hits->items = items;
    keep_remarks(arena, &asking->answer.left_out);
    keep_remarks(arena, &asking->answer.warnings);
    asking->error.message = keep(arena, asking->error.message);
    asking->error.details = NULL;
    if (arena_failed(arena)) {
        asking->status = ERR_NOMEM;
    }
}

/* On a thread of its own. */
static void ask_aside(struct call *call, void *item, struct arena *arena)
{
    struct asking *asking = item;
    ask_here(call, asking);
    move_answer(arena, asking);
}

/* One of the providers wants the queries one after the other. */
static bool in_turn(void)
{
    const struct provider *chosen[LIMIT_SEARCH_PROVIDERS + 1];
    const char *unknown;
    return providers_chosen(chosen, &unknown) == OK && chosen[0] && chosen[0]->one_at_a_time;
}

struct searching {
    struct call *call;
    const struct search_request *request;
    struct asking *askings;
};

/* The queries that ended in time; the others are given up, and may still be at it. */
static int take_answers(struct searching *searching, struct side *side)
{
    size_t count = searching->request->text_count;
    struct arena *arena = call_arena(searching->call);
    struct asking *ended = arena_zalloc(arena, count * sizeof *ended);
    for (size_t i = 0; ended && i < count; i++) {
        ended[i].status = ERR_DEADLINE;
        if (side_finished(side, i)) {
            ended[i] = searching->askings[i];
            move_answer(arena, &ended[i]);
        }
    }
    searching->askings = ended;
    return ended ? OK : ERR_NOMEM;
}

static int ask_side_by_side(struct searching *searching)
{
    size_t count = searching->request->text_count;
    struct side *side = side_new(searching->call, ask_aside, count, in_turn() ? 1 : count,
                                 LIMIT_SEARCH_ANSWER_BYTES);
    if (!side) {
        return ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        side_set(side, i, &searching->askings[i]);
    }
    int status = side_run(side, RESERVE_MS, NULL, NULL);
    if (status == OK || status == ERR_DEADLINE) {
        status = take_answers(searching, side);
    }
    side_free(side);
    return status;
}

static int64_t deadline_of(struct call *call)
{
    int64_t left = call_time_left_ms(call);
    return left == INT64_MAX ? INT64_MAX : clock_now_ms() + left;
}

static int ask_all(struct searching *searching)
{
    const struct search_request *request = searching->request;
    size_t count = request->text_count;
    struct asking *askings =
        arena_zalloc(call_arena(searching->call), count * sizeof *searching->askings);
    searching->askings = askings;
    if (!askings) {
        return ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        askings[i].query = request->query;
        askings[i].query.text = request->texts[i];
        askings[i].deadline_ms = deadline_of(searching->call);
    }
    if (count > 1) {
        return ask_side_by_side(searching);
    }
    ask_here(searching->call, &askings[0]);
    return askings[0].status;
}

/* ---- what the answers say together ---- */

/* The error of the first query, when all of them failed. */
static int fail_all(struct call *call, const struct asking *asking)
{
    if (asking->status != ERR_FAILED) {
        return asking->status;
    }
    call_fail(call, asking->error.code, "%s", asking->error.message);
    call_fail_retry_after(call, asking->error.retry_after_s);
    return ERR_FAILED;
}

static void add_all(struct remarks *to, const struct remarks *from)
{
    for (size_t i = 0; i < from->count; i++) {
        remarks_add(to, from->items[i]);
    }
}

static void add_failure(struct arena *arena, struct remarks *warnings, size_t index,
                        const struct asking *asking)
{
    const char *words = arena_printf(arena, "queries[%zu] failed: %s", index,
                                     asking->status == ERR_FAILED ? asking->error.message
                                                                  : "it was not answered in time");
    if (words) {
        remarks_add(warnings, words);
    }
}

static int put_together(struct searching *searching, struct search_result *result)
{
    const struct search_request *request = searching->request;
    struct arena *arena = call_arena(searching->call);
    const struct hits *answers[LIMIT_SEARCH_QUERIES] = {0};
    const struct asking *first_failure = NULL;
    for (size_t i = 0; i < request->text_count; i++) {
        const struct asking *asking = &searching->askings[i];
        if (asking->status == OK) {
            const char *name = asking->answer.provider->name;
            answers[i] = &asking->answer.hits;
            add_all(&result->left_out, &asking->answer.left_out);
            add_all(&result->warnings, &asking->answer.warnings);
            remarks_add(&result->providers, name);
        } else {
            first_failure = first_failure ? first_failure : asking;
            add_failure(arena, &result->warnings, i, asking);
        }
    }
    if (!result->providers.count) {
        return fail_all(searching->call, first_failure);
    }
    return merge_hits(arena, answers, request->text_count, result->found, request->query.count,
                      &result->count);
}

/* ---- all of it ---- */

/* All queries as one question. NULL: without memory. */
static const char *question_of(struct arena *arena, const struct search_request *request)
{
    const char *question = request->texts[0];
    for (size_t i = 1; question && i < request->text_count; i++) {
        question = arena_printf(arena, "%s\n%s", question, request->texts[i]);
    }
    return question;
}

static int read_pages(struct searching *searching, struct search_result *result)
{
    const char *links[LIMIT_SEARCH_RESULTS] = {NULL};
    for (size_t i = 0; i < result->count; i++) {
        links[i] = result->found[i].hit.link;
    }
    const struct search_request *request = searching->request;
    struct arena *arena = call_arena(searching->call);
    /* A piece that is left behind may still look at it. */
    struct page_wish *wish = arena_alloc(arena, sizeof *wish);
    if (!wish) {
        return ERR_NOMEM;
    }
    *wish = (struct page_wish){.keep_chars = request->budget, .all = request->all};
    if (request->passages) {
        wish->question = question_of(arena, request);
        wish->meant = MEANT_PAGES * FOCUS_MEANT / (result->count > 0 ? result->count : 1);
    }
    return arena_failed(arena) ? ERR_NOMEM
                               : pages_read(searching->call, links, result->count, wish, RESERVE_MS,
                                            &result->pages);
}

static int run_in(struct searching *searching, struct search_result *result, yyjson_mut_doc *doc,
                  yyjson_mut_val **object)
{
    int64_t began = clock_now_ms();
    int status = ask_all(searching);
    if (status == OK) {
        status = put_together(searching, result);
    }
    if (status == OK) {
        status = read_pages(searching, result);
    }
    if (status == OK) {
        result->took_ms = clock_now_ms() - began;
        *object = describe_result(result, searching->request, doc, call_arena(searching->call));
        status = *object ? OK : ERR_NOMEM;
    }
    return status;
}

/* Tells two searches for the same from two for different things, within this program, and no more
 * than that. */
static uint32_t mark_of(const struct websearch *websearch, const struct search_request *request)
{
    unsigned char digest[SHA256_SIZE];
    struct sha256 hash;
    sha256_init(&hash);
    sha256_add(&hash, websearch->key, sizeof websearch->key);
    for (size_t i = 0; i < request->text_count; i++) {
        sha256_add(&hash, request->texts[i], strlen(request->texts[i]) + 1);
    }
    sha256_end(&hash, digest);
    return (uint32_t)digest[0] << 24 | (uint32_t)digest[1] << 16 | (uint32_t)digest[2] << 8 |
           digest[3];
}

int search_run(struct call *call, const struct search_request *request, yyjson_mut_doc *doc,
               yyjson_mut_val **object, struct search_counts *counts)
{
    struct searching searching = {.call = call, .request = request};
    struct search_result *result = arena_zalloc(call_arena(call), sizeof *result);
    if (!result) {
        return ERR_NOMEM;
    }
    int status = run_in(&searching, result, doc, object);
    if (status == OK) {
        *counts = (struct search_counts){.provider = result->providers.items[0],
                                         .mark = mark_of(call_parts(call)->websearch, request),
                                         .results = result->count};
        for (size_t i = 0; i < result->count; i++) {
            counts->pages_failed += pages_text(result->pages, i)->failed;
        }
    }
    pages_free(result->pages);
    return status;
}

bool search_ready(char *lacks, size_t size)
{
    const struct provider *chosen[LIMIT_SEARCH_PROVIDERS + 1];
    const char *unknown;
    if (providers_chosen(chosen, &unknown) != OK) {
        snprintf(lacks, size, "FORAGE_SEARCH_PROVIDERS names \"%s\", which is no provider",
                 unknown);
        return false;
    }
    if (!chosen[0]) {
        snprintf(lacks, size, "set " PROVIDER_VARIABLES);
    }
    return chosen[0] != NULL;
}
