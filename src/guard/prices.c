/* Reads the price table, and says what a call cost. */
#include "guard/prices.h"

#include "core/limits.h"
#include "embedded.h"
#include "guard/admission.h"
#include "text/json.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MILLION 1e6
#define DEAREST 1e6 /* dollars; what is beyond is a mistake in the file */

struct prices {
    struct arena *arena;
    yyjson_val *own; /* the operator's, or NULL */
    pthread_mutex_t lock;
    yyjson_val *built_in; /* read when the first price is asked for: most starts never do */
};

/* ---- reading ---- */

static bool is_price(yyjson_val *value)
{
    return yyjson_is_num(value) && yyjson_get_num(value) >= 0 && yyjson_get_num(value) <= DEAREST;
}

/* Of a model: without them such tokens cost what "input" says. */
static const char CACHED[] = "cached", STORED[] = "stored";
static const char *const OPTIONAL[] = {CACHED, STORED};

/* NULL, or what is wrong with the table. */
static const char *find_mistake(yyjson_val *table)
{
    yyjson_val *key;
    if (!yyjson_is_obj(table)) {
        return "it is not an object";
    }
    yyjson_obj_iter models = yyjson_obj_iter_with(yyjson_obj_get(table, "models"));
    while ((key = yyjson_obj_iter_next(&models)) != NULL) {
        yyjson_val *model = yyjson_obj_iter_get_val(key);
        if (!is_price(yyjson_obj_get(model, "input")) ||
            !is_price(yyjson_obj_get(model, "output"))) {
            return "a model needs \"input\" and \"output\", dollars for a million tokens";
        }
        for (size_t i = 0; i < sizeof OPTIONAL / sizeof *OPTIONAL; i++) {
            yyjson_val *price = yyjson_obj_get(model, OPTIONAL[i]);
            if (price && !is_price(price)) {
                return "\"cached\" and \"stored\" are dollars for a million tokens";
            }
        }
    }
    yyjson_obj_iter services = yyjson_obj_iter_with(yyjson_obj_get(table, "services"));
    while ((key = yyjson_obj_iter_next(&services)) != NULL) {
        if (!is_price(yyjson_obj_iter_get_val(key))) {
            return "a service needs a number, dollars for one request";
        }
    }
    return NULL;
}

static int read_file(const char *path, struct buf *text)
{
    char piece[4096];
    size_t got;
    FILE *file = fopen(path, "re");
    if (!file) {
        return ERR_IO;
    }
    while ((got = fread(piece, 1, sizeof piece, file)) > 0) {
        buf_append(text, piece, got);
    }
    int status = ferror(file) ? ERR_IO : buf_error(text);
    fclose(file);
    return status;
}

static yyjson_val *read_own(struct prices *prices, const char *path, char *problem, size_t size)
{
    struct buf text;
    struct json_problem where = {0};
    buf_init(&text, LIMIT_PRICES_BYTES);
    yyjson_val *table = NULL;
    if (read_file(path, &text) != OK) {
        snprintf(problem, size, "FORAGE_PRICES: %s: %s", path, strerror(errno));
    } else {
        table = yyjson_doc_get_root(
            json_parse(prices->arena, text.data ? text.data : "", text.length, &where));
        const char *mistake = table ? find_mistake(table) : where.text;
        if (mistake) {
            snprintf(problem, size, "FORAGE_PRICES: %s: %s", path, mistake);
            table = NULL;
        }
    }
    buf_done(&text);
    return table;
}

struct prices *prices_new(const char *path, char *problem, size_t size)
{
    snprintf(problem, size, "out of memory");
    struct prices *prices = calloc(1, sizeof *prices);
    if (!prices) {
        return NULL;
    }
    pthread_mutex_init(&prices->lock, NULL);
    prices->arena = arena_new(MIB(4));
    if (!prices->arena) {
        return prices_free(prices);
    }
    if (path && *path) {
        prices->own = read_own(prices, path, problem, size);
        if (!prices->own) {
            return prices_free(prices);
        }
    }
    return prices;
}

struct prices *prices_free(struct prices *prices)
{
    if (prices) {
        pthread_mutex_destroy(&prices->lock);
        arena_free(prices->arena);
        free(prices);
    }
    return NULL;
}

/* ---- asking ---- */

/* The entry of that name, or of the longest beginning of it before a hyphen or a colon. */
static yyjson_val *find(yyjson_val *table, const char *part, const char *name)
{
    yyjson_val *entries = yyjson_obj_get(table, part);
    for (size_t length = strlen(name); length > 0;) {
        yyjson_val *entry = yyjson_obj_getn(entries, name, length);
        if (entry) {
            return entry;
        }
        do {
            length--;
        } while (length > 0 && name[length] != '-' && name[length] != ':');
    }
    return NULL;
}

static yyjson_val *find_price(struct prices *prices, const char *part, const char *name)
{
    yyjson_val *price = find(prices->own, part, name);
    if (price) {
        return price;
    }
    pthread_mutex_lock(&prices->lock);
    if (!prices->built_in) {
        prices->built_in = yyjson_doc_get_root(json_embedded(prices->arena, prices_table));
    }
    yyjson_val *table = prices->built_in;
    pthread_mutex_unlock(&prices->lock);
    return find(table, part, name);
}

/* Tokens of a kind that may have a price of its own. */
static double cost_of(yyjson_val *model, const char *kind, int64_t tokens)
{
    yyjson_val *own = yyjson_obj_get(model, kind);
    return (double)tokens * yyjson_get_num(own ? own : yyjson_obj_get(model, "input")) / MILLION;
}

static double cost_of_tokens(yyjson_val *model, const struct call_usage *usage)
{
    int64_t fresh = usage->input_tokens - usage->cached_tokens - usage->stored_tokens;
    return cost_of(model, "input", fresh > 0 ? fresh : 0) +
           cost_of(model, CACHED, usage->cached_tokens) +
           cost_of(model, STORED, usage->stored_tokens) +
           cost_of(model, "output", usage->output_tokens);
}

int64_t prices_cost(struct prices *prices, const struct call_usage *usage, int64_t *unknown)
{
    double dollars = 0;
    if (usage->service && usage->requests > 0) {
        yyjson_val *service = find_price(prices, "services", usage->service);
        *unknown += !service;
        dollars += (double)usage->requests * yyjson_get_num(service);
    }
    if (usage->model && usage->input_tokens + usage->output_tokens > 0) {
        yyjson_val *model = find_price(prices, "models", usage->model);
        *unknown += !model;
        dollars += cost_of_tokens(model, usage);
    }
    double nano = round(dollars * (double)NANO_PER_USD);
    return nano < 1e15 ? (int64_t)nano : INT64_C(1000000000000000);
}
