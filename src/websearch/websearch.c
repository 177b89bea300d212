/* Runs a search: asks the queries, merges what they found, reads the pages, describes the result.
 */
#include "websearch/websearch.h"

#include "call/parts.h"
#include "call/side.h"
#include "core/clock.h"
#include "reader/focus.h"
#include "websearch/order.h"
#include "websearch/plan.h"
#include "websearch/results.h"
#include "websearch/route.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RESERVE_MS 15 /* of the call's time, to tell what there is */

struct websearch {
    struct breakers *breakers; /* which providers rest */
};

struct websearch *websearch_new(struct upstreams *upstreams)
{
    struct websearch *websearch = calloc(1, sizeof *websearch);
    if (websearch) {
        websearch->breakers =
            breakers_new(upstreams, "search", BREAKER_FAILURES, BREAKER_PAUSE_MS, NULL);
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

/* One track of a query, and what came of it. */
struct query_track {
    struct search_route *route;
    size_t query;
    int status;
    struct route_answer answer;
    struct call_error error; /* with ERR_FAILED */
};

static void ask_here(struct call *call, struct query_track *asking)
{
    asking->status = route_run(call, asking->route, &asking->answer);
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
static void move_answer(struct arena *arena, struct query_track *asking)
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
    asking->answer.remark = keep(arena, asking->answer.remark);
    asking->error.message = keep(arena, asking->error.message);
    asking->error.details = NULL;
    if (arena_failed(arena)) {
        asking->status = ERR_NOMEM;
    }
}

/* On a thread of its own. */
static void ask_aside(struct call *call, void *item, struct arena *arena)
{
    struct query_track *asking = item;
    ask_here(call, asking);
    move_answer(arena, asking);
}

struct web_searching {
    struct call *call;
    const struct search_request *request;
    struct search_route *routes[LIMIT_SEARCH_QUERIES];
    struct query_track *askings; /* the tracks of all queries, in their order */
    size_t count;
    struct side *side; /* while they run beside each other */
};

/* In the order of the plan, whichever track was the first to take from it: the same answers always
 * make the same list. */
static int by_place(const void *left, const void *right)
{
    const struct query_track *a = left;
    const struct query_track *b = right;
    return a->answer.place < b->answer.place ? -1 : a->answer.place > b->answer.place;
}

/* The tracks that ended in time; the others are given up, and may still be at it. */
static int take_answers(struct web_searching *searching)
{
    struct arena *arena = call_arena(searching->call);
    struct query_track *ended = arena_zalloc(arena, searching->count * sizeof *ended);
    for (size_t i = 0; ended && i < searching->count; i++) {
        ended[i].query = searching->askings[i].query;
        ended[i].status = ERR_DEADLINE;
        if (side_finished(searching->side, i)) {
            ended[i] = searching->askings[i];
            move_answer(arena, &ended[i]);
        }
    }
    searching->askings = ended;
    if (ended) {
        qsort(ended, searching->count, sizeof *ended, by_place);
    }
    return ended ? OK : ERR_NOMEM;
}

/* Whether a query has an answer already, or can get none any more. */
static bool is_settled(const struct web_searching *searching, size_t query)
{
    bool running = false;
    for (size_t i = 0; i < searching->count; i++) {
        if (searching->askings[i].query == query) {
            bool finished = side_finished(searching->side, i);
            if (finished && searching->askings[i].status == OK) {
                return true;
            }
            running |= !finished;
        }
    }
    return !running;
}

/* After each track that ends: once every query has an answer, the others have a limited time. */
static void track_ended(void *context, size_t index, size_t done)
{
    (void)index;
    (void)done;
    struct web_searching *searching = context;
    int64_t late_ms = 0;
    for (size_t i = 0; i < searching->request->text_count; i++) {
        int64_t own = route_late_ms(searching->routes[i]);
        if (!is_settled(searching, i)) {
            return;
        }
        late_ms = own > late_ms ? own : late_ms;
    }
    int64_t until_ms = searching->request->until_ms;
    side_until(searching->side, until_ms && until_ms < late_ms ? until_ms : late_ms);
}

static int ask_side_by_side(struct web_searching *searching)
{
    size_t count = searching->count;
    bool in_turn = searching->request->text_count > 1 && route_in_turn(searching->routes[0]);
    searching->side =
        side_new(searching->call, ask_aside, count, in_turn ? 1 : count, LIMIT_SEARCH_ANSWER_BYTES);
    if (!searching->side) {
        return ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        side_set(searching->side, i, &searching->askings[i]);
    }
    if (searching->request->until_ms) {
        side_until(searching->side, searching->request->until_ms);
    }
    call_progress(searching->call, 0.1, 0, "searching");
    int status = side_run(searching->side, RESERVE_MS, track_ended, searching);
    if (status == OK || status == ERR_DEADLINE) {
        status = take_answers(searching);
    }
    searching->side = side_free(searching->side);
    return status;
}

static int64_t deadline_of(struct call *call)
{
    int64_t left = call_time_left_ms(call);
    return left == INT64_MAX ? INT64_MAX : clock_now_ms() + left;
}

/* A way for each query, and the tracks of all of them. */
static int lay_out(struct web_searching *searching)
{
    const struct search_request *request = searching->request;
    struct breakers *breakers = call_parts(searching->call)->websearch->breakers;
    for (size_t i = 0; i < request->text_count; i++) {
        struct search_query query = request->query;
        query.text = request->texts[i];
        int status = route_new(searching->call, breakers, &query, deadline_of(searching->call),
                               &searching->routes[i]);
        if (status != OK) {
            return status;
        }
        searching->count += route_tracks(searching->routes[i]);
    }
    struct query_track *asking =
        arena_zalloc(call_arena(searching->call), searching->count * sizeof *asking);
    searching->askings = asking;
    for (size_t i = 0; asking && i < request->text_count; i++) {
        for (size_t track = 0; track < route_tracks(searching->routes[i]); track++) {
            asking->route = searching->routes[i];
            asking->query = i;
            asking++;
        }
    }
    return searching->askings ? OK : ERR_NOMEM;
}

static int ask_all(struct web_searching *searching)
{
    int status = lay_out(searching);
    if (status != OK) {
        return status;
    }
    if (searching->count > 1 || searching->request->until_ms) {
        return ask_side_by_side(searching);
    }
    ask_here(searching->call, &searching->askings[0]);
    return searching->askings[0].status;
}

/* ---- what the answers say together ---- */

/* The error of the first query, when all of them failed. */
static int fail_all(struct call *call, const struct query_track *asking)
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
                        const struct query_track *asking)
{
    const char *words = arena_printf(arena, "queries[%zu] failed: %s", index,
                                     asking->status == ERR_FAILED ? asking->error.message
                                                                  : "it was not answered in time");
    if (words) {
        remarks_add(warnings, words);
    }
}

/* What one query brought: its rankings, or why it has none. Returns the track to blame. */
static const struct query_track *take_query(struct web_searching *searching, size_t query,
                                            struct search_result *result, struct ranking *rankings)
{
    const struct query_track *failure = NULL;
    size_t before = result->ranking_count;
    for (size_t i = 0; i < searching->count; i++) {
        const struct query_track *asking = &searching->askings[i];
        const struct provider *provider = asking->answer.provider;
        if (asking->query != query) {
            continue;
        }
        if (asking->status != OK) {
            /* A track that says what happened knows more than one that was left behind. */
            failure = !failure || asking->error.message ? asking : failure;
            continue;
        }
        rankings[result->ranking_count++] = (struct ranking){
            .hits = &asking->answer.hits,
            .source = provider->name,
            .index =
                provider->open && provider->open->index ? provider->open->index : provider->name,
            .query = query,
        };
        add_all(&result->left_out, &asking->answer.left_out);
        remarks_add(&result->providers, provider->name);
        if (asking->answer.remark) {
            remarks_add(&result->warnings, asking->answer.remark);
        }
    }
    return result->ranking_count == before ? failure : NULL;
}

/* The part of the merged list that was asked for. */
static void cut_out(const struct search_query *query, const struct found *found, size_t count,
                    struct search_result *result)
{
    size_t first = result->merged ? query->count * (query->page - 1) % MERGE_DEPTH : 0;
    for (size_t i = first; i < count && result->count < query->count; i++) {
        result->found[result->count++] = found[i];
    }
}

static int put_together(struct web_searching *searching, struct search_result *result)
{
    const struct search_request *request = searching->request;
    struct arena *arena = call_arena(searching->call);
    const struct query_track *first_failure = NULL;
    struct ranking *rankings = arena_zalloc(arena, LIMIT_SEARCH_RANKINGS * sizeof *rankings);
    struct found *found;
    size_t count;
    if (!rankings) {
        return ERR_NOMEM;
    }
    result->rankings = rankings;
    result->merged = plan_merge() > 1;
    for (size_t i = 0; i < request->text_count; i++) {
        const struct query_track *failure = take_query(searching, i, result, rankings);
        if (failure) {
            first_failure = first_failure ? first_failure : failure;
            add_failure(arena, &result->warnings, i, failure);
        } else if (route_tell(arena, searching->routes[i], &result->warnings, &result->left_out)) {
            call_forbid_keeping(searching->call);
        }
    }
    if (!result->ranking_count) {
        return fail_all(searching->call, first_failure);
    }
    int status = merge_rankings(arena, rankings, result->ranking_count, &found, &count);
    if (status == OK && result->merged) {
        struct order order = plan_order();
        status = order_found(arena, request->texts, request->text_count, &order, found, count);
    }
    if (status == OK) {
        cut_out(&request->query, found, count, result);
    }
    return status;
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

static int read_pages(struct web_searching *searching, struct search_result *result)
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
        wish->meant = focus_meant(result->count);
    }
    return arena_failed(arena) ? ERR_NOMEM
                               : pages_read(searching->call, links, result->count, wish, RESERVE_MS,
                                            &result->pages);
}

static int run_in(struct web_searching *searching, struct search_result *result,
                  yyjson_mut_doc *doc, yyjson_mut_val **object)
{
    int64_t began = clock_now_ms();
    int status = ask_all(searching);
    if (status == OK) {
        status = put_together(searching, result);
    }
    if (status == OK && !searching->request->links) {
        status = read_pages(searching, result);
    }
    if (status == OK) {
        result->took_ms = clock_now_ms() - began;
        *object = describe_result(result, searching->request, doc, call_arena(searching->call));
        status = *object ? OK : ERR_NOMEM;
    }
    return status;
}

int search_run(struct call *call, const struct search_request *request, yyjson_mut_doc *doc,
               yyjson_mut_val **object, const char **provider)
{
    struct web_searching searching = {.call = call, .request = request};
    struct search_result *result = arena_zalloc(call_arena(call), sizeof *result);
    size_t pages_failed = 0;
    *provider = NULL;
    if (!result) {
        return ERR_NOMEM;
    }
    int status = run_in(&searching, result, doc, object);
    if (status == OK) {
        *provider = result->providers.items[0];
        for (size_t i = 0; result->pages && i < result->count; i++) {
            pages_failed += pages_text(result->pages, i)->failed;
        }
        if (pages_failed && pages_failed == result->count) {
            call_forbid_keeping(call);
        }
    }
    if (status != OK && searching.routes[0]) {
        *provider = route_first(searching.routes[0]);
    }
    pages_free(result->pages);
    return status;
}

int search_check(char *problem, size_t size)
{
    return plan_check(problem, size);
}

bool search_ready(char *lacks, size_t size)
{
    const struct provider *chosen[LIMIT_SEARCH_PROVIDERS + 1];
    const char *unknown;
    bool ready = providers_chosen(chosen, &unknown) == OK && chosen[0];
    if (!ready) {
        snprintf(lacks, size, "set " PROVIDER_VARIABLES ", or FORAGE_SEARCH_PROVIDERS=" OPEN_GROUP);
    }
    return ready;
}
