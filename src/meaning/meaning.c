/* Asks the endpoint or the model, and remembers the vectors of the last questions. */
#include "meaning/meaning.h"

#include "call/parts.h"
#include "config/config.h"
#include "core/clock.h"
#include "core/limits.h"
#include "core/log.h"
#include "core/trouble.h"
#include "guard/breaker.h"
#include "guard/charge.h"
#include "meaning/endpoint.h"
#include "meaning/model.h"
#include "net/fetch.h"
#include "text/text.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UPSTREAM  "embeddings"
#define QUESTIONS 64 /* whose vectors are remembered */

static const char TROUBLE[] = "the model of meanings";

struct embedded_question {
    char *model;
    char *text; /* NULL: free */
    float *numbers;
    size_t dimensions;
    uint64_t used; /* when, by the counter */
};

struct meaning {
    struct breakers *breakers;
    pthread_mutex_t lock;          /* guards what follows */
    struct embedding_model *model; /* of this machine; stays as it is once it is open */
    char path[PATH_MAX];
    bool looked, found; /* for its file */
    bool broken;        /* it was opened in vain */
    struct embedded_question questions[QUESTIONS];
    uint64_t counter;
};

static bool has_endpoint(void)
{
    const char *url = config_text("FORAGE_EMBEDDINGS_URL");
    return url && *url;
}

/* ---- the model of this machine ---- */

/* Looks for its file once. With the lock. */
static bool find_model(struct meaning *meaning)
{
    if (!meaning->looked) {
        meaning->looked = true;
        meaning->found = model_find(meaning->path, sizeof meaning->path);
    }
    return meaning->found;
}

/* Opens it once; NULL: it is not there, or of no use, which the server's status tells. */
static const struct embedding_model *open_model(struct meaning *meaning)
{
    char problem[MEANING_PROBLEM_SIZE] = "";
    pthread_mutex_lock(&meaning->lock);
    if (find_model(meaning) && !meaning->model && !meaning->broken) {
        meaning->broken = model_open(meaning->path, &meaning->model, problem, sizeof problem) != OK;
        if (meaning->broken && trouble_begin(TROUBLE, "it cannot be used; the log says why")) {
            log_warn(NULL, "the model that finds memories by what they mean cannot be used: %s",
                     problem);
        }
    }
    const struct embedding_model *model = meaning->model;
    pthread_mutex_unlock(&meaning->lock);
    return model;
}

static int embed(struct call *call, const struct embedding_model *model, enum model_side side,
                 const struct slice *texts, size_t count, struct meaning_vectors *vectors,
                 char *problem, size_t size)
{
    float *numbers = arena_alloc(call_arena(call), count * MODEL_DIMENSIONS * sizeof *numbers);
    struct model_work *work = model_work_new();
    int status = numbers && work ? OK : ERR_NOMEM;
    for (size_t i = 0; i < count && status == OK; i++) {
        status = model_embed(model, work, side, texts[i].data, texts[i].length,
                             numbers + i * MODEL_DIMENSIONS);
        if (status == ERR_IO || status == ERR_INVALID) {
            snprintf(problem, size, "the model was damaged since it was opened");
            status = ERR_IO;
        }
        status = status == OK ? call_check(call) : status;
    }
    model_work_free(work);
    *vectors = (struct meaning_vectors){numbers, MODEL_DIMENSIONS};
    return status;
}

/* ---- which of the two ---- */

bool meaning_is_there(struct meaning *meaning)
{
    if (!meaning || has_endpoint()) {
        return meaning;
    }
    pthread_mutex_lock(&meaning->lock);
    bool found = find_model(meaning);
    pthread_mutex_unlock(&meaning->lock);
    return found;
}

bool meaning_is_here(struct meaning *meaning)
{
    return !has_endpoint() && meaning_is_there(meaning);
}

const char *meaning_model(struct meaning *meaning)
{
    if (!meaning || has_endpoint()) {
        return meaning ? config_text("FORAGE_EMBEDDINGS_MODEL") : NULL;
    }
    const struct embedding_model *model = open_model(meaning);
    return model ? model_name(model) : NULL;
}

void meaning_describe(struct meaning *meaning, struct meaning_about *about)
{
    *about = (struct meaning_about){0};
    if (!meaning_is_there(meaning)) {
        about->install = model_install();
    } else if (has_endpoint()) {
        about->source = "endpoint";
        snprintf(about->model, sizeof about->model, "%s", config_text("FORAGE_EMBEDDINGS_MODEL"));
    } else {
        char name[MODEL_NAME_SIZE];
        about->source = "model";
        about->kernels = model_kernels();
        if (model_peek(meaning->path, name)) {
            snprintf(about->model, sizeof about->model, "%s", name);
        }
    }
}

/* ---- asking an endpoint ---- */

/* At most LIMIT_MEANING_TEXT_BYTES, between two characters. */
static struct slice shortened(struct slice text)
{
    while (text.length > LIMIT_MEANING_TEXT_BYTES) {
        text.length = LIMIT_MEANING_TEXT_BYTES;
        while (text.length > 0 && ((unsigned char)text.data[text.length] & 0xC0) == 0x80) {
            text.length--;
        }
    }
    return text;
}

/* As charge_fetch(), or charge_open(). */
static int send_charged(struct call *call, const char *model, const struct fetch_request *request,
                        struct fetch_response *response, struct charge *charge)
{
    const struct call_usage most = {
        .model = model,
        .input_tokens = (int64_t)(request->body_length / CHARGE_BYTES_OF_TOKEN),
    };
    int status = charge_open(call, &most, charge);
    return status == OK ? charge_fetch(charge, request, response) : status;
}

static int send_texts(struct call *call, const char *model, const struct slice *texts, size_t count,
                      int64_t timeout_ms, struct fetch_response *response, struct charge *charge)
{
    struct arena *arena = call_arena(call);
    const char *base = config_text("FORAGE_EMBEDDINGS_URL");
    const char *key = config_text("FORAGE_EMBEDDINGS_KEY");
    size_t length = strlen(base);
    while (length > 0 && base[length - 1] == '/') {
        length--;
    }
    struct fetch_header headers[] = {
        {.name = "Content-Type", .value = "application/json"},
        {.name = "Accept", .value = "application/json"},
        {.name = "User-Agent", .value = "forage/" FORAGE_VERSION},
        {.name = "Authorization", .secret = true},
    };
    headers[3].value = key ? arena_printf(arena, "Bearer %s", key) : NULL;
    const char *address = arena_printf(arena, "%.*s/embeddings", (int)length, base);
    struct url url;
    struct fetch_request request = {
        .url = &url,
        .headers = headers,
        .header_count = key ? 4 : 3,
        .max_body_bytes = LIMIT_MEANING_ANSWER_BYTES,
        .timeout_ms = timeout_ms,
        .upstream = "embeddings",
    };
    struct slice *cut = arena_alloc(arena, count * sizeof *cut);
    for (size_t i = 0; cut && i < count; i++) {
        cut[i] = shortened(texts[i]);
    }
    request.body = cut ? endpoint_body(arena, model, cut, count, &request.body_length) : NULL;
    if (!request.body || !address || arena_failed(arena)) {
        return ERR_NOMEM;
    }
    int status = fetch_parse(call, address, &url, response);
    return status == OK ? send_charged(call, model, &request, response, charge) : status;
}

/* Whether the texts themselves were refused, so that asking again is of no use. */
static bool refuses_texts(int http)
{
    return http == 400 || http == 413 || http == 422;
}

static int judge(struct call *call, int status, const struct fetch_response *response, size_t count,
                 struct meaning_vectors *vectors, int64_t *tokens, char *problem, size_t size)
{
    *tokens = 0;
    if (status == ERR_FAILED) {
        snprintf(problem, size, "the embeddings endpoint does not answer: %s",
                 response->error ? response->error : "no answer");
        return ERR_IO;
    }
    if (status != OK) {
        return status;
    }
    if (response->status != 200) {
        snprintf(problem, size, "the embeddings endpoint answers with HTTP %d", response->status);
        return refuses_texts(response->status) ? ERR_INVALID : ERR_IO;
    }
    const char *wrong;
    float *numbers;
    status = endpoint_read(call_arena(call), response->body, response->body_length, count, &numbers,
                           &vectors->dimensions, tokens, &wrong);
    vectors->numbers = numbers;
    if (status == ERR_INVALID) {
        snprintf(problem, size, "the answer of the embeddings endpoint %s", wrong);
        return ERR_IO;
    }
    return status;
}

static int ask(struct call *call, const char *model, const struct slice *texts, size_t count,
               int64_t timeout_ms, struct meaning_vectors *vectors, char *problem, size_t size)
{
    struct breakers *breakers = call_parts(call)->meaning->breakers;
    struct fetch_response response = {0};
    struct charge charge = {0};
    int64_t tokens;
    if (!breaker_admit(breakers, UPSTREAM)) {
        snprintf(problem, size,
                 "the embeddings endpoint failed several times in a row and is left alone for %lld "
                 "seconds",
                 (long long)(breaker_wait_ms(breakers, UPSTREAM) / 1000 + 1));
        return ERR_IO;
    }
    int status = send_texts(call, model, texts, count, timeout_ms, &response, &charge);
    if (status == ERR_BUSY) {
        struct call_error error;
        call_take_error(call, &error); /* what asks goes on without vectors */
        snprintf(problem, size, "the day's budget for the embeddings endpoint is spent");
        breaker_report(breakers, UPSTREAM, BREAKER_UNKNOWN);
        return ERR_IO;
    }
    status = judge(call, status, &response, count, vectors, &tokens, problem, size);
    charge_settle(&charge,
                  tokens ? &(struct call_usage){.model = model, .input_tokens = tokens} : NULL);
    breaker_report(breakers, UPSTREAM,
                   status == OK || status == ERR_INVALID ? BREAKER_ANSWERED
                   : status == ERR_IO                    ? BREAKER_FAILED
                                                         : BREAKER_UNKNOWN);
    if (status == ERR_IO || status == ERR_INVALID) {
        breaker_complain(breakers, UPSTREAM, problem);
    }
    return status;
}

int meaning_of_texts(struct call *call, const struct slice *texts, size_t count,
                     struct meaning_vectors *vectors, char *problem, size_t size)
{
    if (has_endpoint()) {
        return ask(call, config_text("FORAGE_EMBEDDINGS_MODEL"), texts, count,
                   TIME_MEANING_TEXTS_MS, vectors, problem, size);
    }
    const struct embedding_model *model = open_model(call_parts(call)->meaning);
    if (!model) {
        snprintf(problem, size, "the model is not there");
        return ERR_IO;
    }
    return embed(call, model, MODEL_PASSAGE, texts, count, vectors, problem, size);
}

/* ---- questions ---- */

static void forget(struct embedded_question *question)
{
    free(question->model);
    free(question->text);
    free(question->numbers);
    *question = (struct embedded_question){0};
}

/* Whether it was remembered. */
static int recall(struct meaning *meaning, struct arena *arena, const char *model, const char *text,
                  struct meaning_vectors *vector)
{
    int status = ERR_NOTFOUND;
    pthread_mutex_lock(&meaning->lock);
    for (size_t i = 0; i < QUESTIONS; i++) {
        struct embedded_question *question = &meaning->questions[i];
        if (question->text && strcmp(question->text, text) == 0 &&
            strcmp(question->model, model) == 0) {
            size_t bytes = question->dimensions * sizeof *question->numbers;
            float *numbers = arena_alloc(arena, bytes);
            status = numbers ? OK : ERR_NOMEM;
            if (numbers) {
                memcpy(numbers, question->numbers, bytes);
                *vector = (struct meaning_vectors){numbers, question->dimensions};
                question->used = ++meaning->counter;
            }
            break;
        }
    }
    pthread_mutex_unlock(&meaning->lock);
    return status;
}

/* In place of the one that was not asked for longest; without memory nothing is remembered. */
static void remember(struct meaning *meaning, const char *model, const char *text,
                     const struct meaning_vectors *vector)
{
    pthread_mutex_lock(&meaning->lock);
    struct embedded_question *oldest = &meaning->questions[0];
    for (size_t i = 1; i < QUESTIONS; i++) {
        oldest = meaning->questions[i].used < oldest->used ? &meaning->questions[i] : oldest;
    }
    forget(oldest);
    size_t bytes = vector->dimensions * sizeof *vector->numbers;
    *oldest = (struct embedded_question){
        .model = strdup(model),
        .text = strdup(text),
        .numbers = malloc(bytes),
        .dimensions = vector->dimensions,
        .used = ++meaning->counter,
    };
    if (oldest->model && oldest->text && oldest->numbers) {
        memcpy(oldest->numbers, vector->numbers, bytes);
    } else {
        forget(oldest);
    }
    pthread_mutex_unlock(&meaning->lock);
}

int meaning_of_query(struct call *call, const char *model, const char *query, int64_t until_ms,
                     struct meaning_vectors *vector, char *problem, size_t size)
{
    struct meaning *meaning = call_parts(call)->meaning;
    int64_t left_ms = until_ms - clock_now_ms();
    int status = recall(meaning, call_arena(call), model, query, vector);
    if (status != ERR_NOTFOUND) {
        return status;
    }
    struct slice text = {query, strlen(query)};
    const struct embedding_model *own = open_model(meaning);
    if (own && strcmp(model_name(own), model) == 0) {
        status = embed(call, own, MODEL_QUERY, &text, 1, vector, problem, size);
    } else if (has_endpoint() && left_ms > 0) {
        status = ask(call, model, &text, 1, left_ms, vector, problem, size);
    } else if (has_endpoint()) {
        snprintf(problem, size, "the embeddings endpoint does not answer in time");
        status = ERR_IO;
    } else {
        snprintf(problem, size, "the model that made the vectors is not there any more");
        status = ERR_IO;
    }
    if (status == OK) {
        remember(meaning, model, query, vector);
    }
    return status;
}

/* ---- its life ---- */

struct meaning *meaning_new(struct upstreams *upstreams)
{
    struct meaning *meaning = calloc(1, sizeof *meaning);
    if (!meaning) {
        return NULL;
    }
    pthread_mutex_init(&meaning->lock, NULL);
    meaning->breakers =
        breakers_new(upstreams, "embeddings", BREAKER_FAILURES, BREAKER_PAUSE_MS, NULL);
    return meaning->breakers ? meaning : meaning_free(meaning);
}

struct meaning *meaning_free(struct meaning *meaning)
{
    if (meaning) {
        for (size_t i = 0; i < QUESTIONS; i++) {
            forget(&meaning->questions[i]);
        }
        model_free(meaning->model);
        breakers_free(meaning->breakers);
        pthread_mutex_destroy(&meaning->lock);
        free(meaning);
    }
    return NULL;
}
