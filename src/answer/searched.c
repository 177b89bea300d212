/* Searches, reads, asks the model, and keeps what the pages say. */
#include "answer/searched.h"

#include "answer/claims.h"
#include "call/errors.h"
#include "core/clock.h"
#include "core/id.h"
#include "core/limits.h"
#include "reader/focus.h"
#include "research/follow.h"
#include "research/own/pages.h"
#include "text/text.h"
#include "websearch/websearch.h"

#include <string.h>

#define ROOM         16000u /* characters of all passages together */
#define LEAST_ROOM   1000u
#define HOURS_OF_DAY 24

static const char SHAPE[] =
    "{\"type\":\"object\",\"properties\":{\"notes\":{\"type\":\"array\",\"items\":{\"type\":"
    "\"object\",\"properties\":{\"claim\":{\"type\":\"string\"},\"quote\":{\"type\":\"string\"},"
    "\"source\":{\"type\":\"integer\"}},\"required\":[\"claim\",\"quote\",\"source\"],"
    "\"additionalProperties\":false}}},\"required\":[\"notes\"],\"additionalProperties\":false}";

struct searched {
    struct call *call;
    struct model *model;
    const struct searched_question *question;
    struct searched_account *account;
    struct evidence *evidence;
    struct sources sources;
    size_t room;              /* characters of passages; less where the context is small */
    char tag[ID_SECRET_SIZE]; /* around the words of strangers */
};

/* ---- failing ---- */

/* Nothing can be passed on; `why` is one word for programs. */
static int fail_unsupported(struct searched *searched, const char *why, const char *words)
{
    struct arena *arena = call_arena(searched->call);
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    size_t read = 0;
    for (size_t i = 0; i < searched->sources.count; i++) {
        read += searched->sources.items[i].page && !searched->sources.items[i].trouble;
    }
    json_add_string(doc, root, "reason", why);
    yyjson_mut_obj_add_uint(doc, root, "sources_found", searched->sources.count);
    yyjson_mut_obj_add_uint(doc, root, "pages_read", read);
    yyjson_mut_obj_add_uint(doc, root, "sentences_left_out", searched->account->left_out);
    call_fail(searched->call, CODE_PARSE, "%s", words);
    call_fail_details(searched->call, json_text(arena, root, NULL));
    return ERR_FAILED;
}

/* ---- searching and reading ---- */

static int search(struct searched *searched)
{
    const struct searched_question *question = searched->question;
    struct arena *arena = call_arena(searched->call);
    struct search_request *request = arena_zalloc(arena, sizeof *request);
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *object = NULL;
    const char *provider;
    int hours = question->wishes.freshness_hours;
    if (!request || !doc) {
        return ERR_NOMEM;
    }
    *request = (struct search_request){
        .texts = {question->text},
        .text_count = 1,
        .query = {.count = (size_t)question->wishes.max_results,
                  .page = 1,
                  .type = SEARCH_WEB,
                  .freshness = hours <= 0              ? FRESH_ANY
                               : hours <= HOURS_OF_DAY ? FRESH_DAY
                                                       : FRESH_WEEK,
                  .start_date = question->wishes.start_date,
                  .end_date = question->wishes.end_date,
                  .region = question->country},
        .budget = LIMIT_CALL_ARENA_BYTES,
        .links = true,
    };
    int status = search_run(searched->call, request, doc, &object, &provider);
    if (status != OK) {
        return status;
    }
    size_t index, most;
    yyjson_mut_val *item;
    yyjson_mut_arr_foreach(yyjson_mut_obj_get(object, "results"), index, most, item)
    {
        if (searched->sources.count < request->query.count) {
            sources_add_result(arena, &searched->sources, item);
        }
    }
    if (question->wishes.follow) {
        status = follow_take_pages(arena, question->wishes.follow, clock_wall_ms(),
                                   searched->evidence, &searched->sources, request->query.count);
    }
    if (status == OK && !searched->sources.count) {
        return fail_unsupported(searched, "nothing_found",
                                "The search found nothing, so there is nothing to answer with. Ask "
                                "in other words, or for an older time.");
    }
    return status;
}

/* Of a page that cannot be read, what the search says of it is all there is. */
static int take_excerpt(struct searched *searched, struct research_source *source)
{
    if (source->page || !*source->snippet) {
        return OK;
    }
    source->page = evidence_add_page(searched->evidence, source->url, source->title,
                                     source->snippet, clock_wall_ms());
    const struct evidence_page *page = evidence_page(searched->evidence, source->page);
    if (page && !page->text) {
        source->page = 0; /* there is no room for it */
        return OK;
    }
    source->chars = page ? text_count(page->text, page->length) : 0;
    return page ? OK : ERR_NOMEM;
}

static int read_pages(struct searched *searched)
{
    struct research_source *wanted[LIMIT_SEARCH_RESULTS];
    size_t count = 0, usable = 0;
    int64_t third = call_time_left_ms(searched->call) / 3;
    for (size_t i = 0; i < searched->sources.count && count < LIMIT_SEARCH_RESULTS; i++) {
        if (searched->sources.items[i].page) {
            usable++; /* read for the question that this one follows on */
        } else {
            wanted[count++] = &searched->sources.items[i];
        }
    }
    call_progress(searched->call, 0, 0, "reading %zu page%s", count, count == 1 ? "" : "s");
    int status = pages_fetch(searched->call, searched->evidence, wanted, count,
                             clock_now_ms() +
                                 (third < TIME_RESEARCH_READ_MS ? third : TIME_RESEARCH_READ_MS));
    for (size_t i = 0; status == OK && i < count; i++) {
        status = take_excerpt(searched, wanted[i]);
        usable += wanted[i]->page != 0;
    }
    size_t all = searched->sources.count * FOCUS_CHARS;
    searched->room = searched->room < all ? searched->room : all;
    if (status == OK && !usable) {
        return fail_unsupported(searched, "nothing_read",
                                "None of the pages that were found could be read, so there is "
                                "nothing to answer with. Try again later.");
    }
    return status;
}

/* ---- what the model is shown ---- */

static int put_source(struct searched *searched, size_t number, size_t most, struct buf *out)
{
    const struct research_source *source = sources_get(&searched->sources, (int64_t)number);
    struct arena *scratch = arena_new(LIMIT_CALL_ARENA_BYTES);
    struct buf text;
    const char *passages = NULL;
    const struct pages_wish wish = {
        .question = searched->question->text, .most = most, .beside = searched->sources.count};
    if (!scratch) {
        return ERR_NOMEM;
    }
    buf_init(&text, MIB(1));
    int status = pages_show(searched->call, searched->evidence, source, &wish, scratch, &passages);
    if (status == OK) {
        buf_printf(&text, "%s%s%s\n%s", source->title, source->published ? ", published " : "",
                   source->published ? source->published : "", passages);
        buf_printf(out, "\nSource %zu%s:\n", number,
                   source->trouble ? ", of which only the search's excerpt is there" : "");
        pages_put_data(out, searched->tag, text.data ? text.data : "");
        status = buf_error(&text);
    }
    buf_done(&text);
    arena_free(scratch);
    return status;
}

/* The question and the sources. A status of the call. */
static int write_task(struct searched *searched, const char **task)
{
    size_t count = searched->sources.count;
    int status = OK;
    struct buf out;
    buf_init(&out, MIB(2));
    buf_printf(&out, "The question, word for word:\n<question-%s>\n%s\n</question-%s>\n",
               searched->tag, searched->question->text, searched->tag);
    if (searched->question->wishes.follow) {
        struct buf before;
        buf_init(&before, KIB(256));
        follow_put(&before, searched->question->wishes.follow, false);
        buf_puts(&out, "\nIt follows on what was asked before, which is no source:\n");
        pages_put_data(&out, searched->tag, before.data ? before.data : "");
        buf_done(&before);
    }
    for (size_t i = 1; status == OK && i <= count; i++) {
        if (sources_get(&searched->sources, (int64_t)i)->page) {
            status = put_source(searched, i, searched->room / count, &out);
        }
    }
    buf_puts(&out, "\nAnswer the question now.\n");
    *task = buf_to_arena(&out, call_arena(searched->call));
    return status == OK && !*task ? ERR_NOMEM : status;
}

/* ---- asking ---- */

/* What an answer is asked for with, one after the other until one can be used. */
enum answer_step { STEP_SHAPE, STEP_REPAIR, STEP_PLAIN, STEPS };

/* One request; a context that is too small gets shorter passages. */
static int ask_step(struct searched *searched, enum answer_step step,
                    const struct model_reply *before, struct model_reply *reply)
{
    static const char REPAIR[] =
        "This could not be used: it is no JSON of the form that you were told, or its quotes are "
        "not in the sources, letter for letter, under the numbers that you gave. Answer again, "
        "with that JSON and nothing else. Keep it short.";
    struct arena *arena = call_arena(searched->call);
    const struct searched_question *question = searched->question;
    bool repairs = step == STEP_REPAIR && before && *before->text;
    const char *system =
        prompt_write_sources(arena, &question->wishes, searched->tag, step == STEP_PLAIN);
    for (;;) {
        const char *task;
        int status = system ? write_task(searched, &task) : ERR_NOMEM;
        if (status != OK) {
            return status;
        }
        const struct model_message messages[] = {
            {.role = MODEL_USER, .text = task},
            {.role = MODEL_ASSISTANT, .reply = before},
            {.role = MODEL_USER, .text = REPAIR},
        };
        struct model_request request = {
            .system = system,
            .messages = messages,
            .message_count = repairs ? 3 : 1,
            .shape_name = step == STEP_PLAIN ? NULL : "answer",
            .shape = step == STEP_PLAIN ? NULL : SHAPE,
            .max_tokens = question->max_tokens,
            .time_limit = "FORAGE_ANSWER_TIMEOUT",
        };
        status = model_ask(searched->call, searched->model, &request, reply);
        if (status != ERR_LIMIT) {
            return status;
        }
        if (searched->room <= LEAST_ROOM) {
            return call_fail(searched->call, CODE_PROVIDER,
                             "The context of %s is too small for the passages of %zu pages. Ask "
                             "with a smaller maxResults, or give the model a larger context "
                             "(FORAGE_MODEL_CONTEXT).",
                             model_label(searched->model), searched->sources.count);
        }
        searched->room = searched->room / 2 > LEAST_ROOM ? searched->room / 2 : LEAST_ROOM;
    }
}

/* What of a reply the pages support. OK, also where that is nothing. */
static int take_reply(struct searched *searched, const struct model_reply *reply,
                      struct claims_text *text)
{
    struct arena *arena = call_arena(searched->call);
    struct claim claims[CLAIMS_MOST];
    bool none;
    size_t count = claims_read(arena, reply->text, claims, &none);
    if (none) {
        return fail_unsupported(searched, "no_answer",
                                "The pages that were found do not answer the question, as the "
                                "model says. Ask in other words.");
    }
    int status = claims_write(arena, searched->evidence, &searched->sources, claims, count, text);
    searched->account->left_out = text->left_out;
    searched->account->shortened = text->cut;
    return status;
}

static int ask(struct searched *searched, struct model_reply *answer)
{
    struct arena *arena = call_arena(searched->call);
    struct model_reply *replies = arena_zalloc(arena, STEPS * sizeof *replies);
    struct claims_text *text = arena_zalloc(arena, sizeof *text);
    int status = replies && text ? OK : ERR_NOMEM;
    for (int step = STEP_SHAPE; status == OK && step < STEPS; step++) {
        struct model_reply *reply = &replies[step];
        struct model_reply *before = step ? reply - 1 : NULL;
        reply->usage = before ? before->usage : reply->usage;
        status = ask_step(searched, (enum answer_step)step, before, reply);
        bool refused = status == OK && reply->stop == MODEL_REFUSED;
        status = status == OK && !refused ? take_reply(searched, reply, text) : status;
        if (status == OK && (refused || text->kept)) {
            *answer = *reply;
            answer->parts = &text->part;
            answer->part_count = refused ? 0 : 1;
            return OK;
        }
    }
    return status != OK
               ? status
               : fail_unsupported(searched, "unsupported",
                                  "The model's answer is not passed on: none of its sentences has "
                                  "a quote that is in the pages that were found. Ask in other "
                                  "words, or with another model (FORAGE_ANSWER_MODEL).");
}

int searched_ask(struct call *call, struct model *model, const struct searched_question *question,
                 struct model_reply *reply, struct searched_account *account)
{
    *account = (struct searched_account){0};
    int64_t context = model_context(); /* in tokens of some four characters, for all of it */
    struct searched searched = {
        .call = call,
        .model = model,
        .question = question,
        .account = account,
        .evidence = evidence_new(call_arena(call)),
        .room = context > 0 && context < ROOM ? (size_t)context : ROOM,
    };
    account->evidence = searched.evidence;
    int status = searched.evidence ? id_make_secret(searched.tag) : ERR_NOMEM;
    status = status == OK ? search(&searched) : status;
    status = status == OK ? read_pages(&searched) : status;
    return status == OK ? ask(&searched, reply) : status;
}
