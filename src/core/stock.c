/* Stocks and who holds what of them. An owner is in the table while it holds something, so there
 * are never more owners than units, and the table needs no ceiling of its own. */
#include "core/stock.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 64u /* of owners; most stocks have a handful */

struct stock_owner {
    struct stock_owner *next; /* in its bucket */
    size_t units;
    size_t bucket;
    char name[];
};

struct stock {
    struct stock_rule rule;
    struct stocks *stocks; /* NULL: in no list */
    struct stock *previous, *next;
    bool shared; /* there may be others */
    pthread_mutex_t lock;
    size_t used;
    uint64_t refused;
    struct stock_owner *owners[BUCKETS];
};

struct stocks {
    bool many_callers;
    pthread_mutex_t lock;
    struct stock *first;
};

/* ---- life ---- */

struct stocks *stocks_new(bool many_callers)
{
    struct stocks *stocks = calloc(1, sizeof *stocks);
    if (stocks) {
        stocks->many_callers = many_callers;
        pthread_mutex_init(&stocks->lock, NULL);
    }
    return stocks;
}

bool stocks_have_others(const struct stocks *stocks)
{
    return stocks && stocks->many_callers;
}

struct stocks *stocks_free(struct stocks *stocks)
{
    if (stocks) {
        pthread_mutex_destroy(&stocks->lock);
        free(stocks);
    }
    return NULL;
}

struct stock *stock_new(struct stocks *stocks, const struct stock_rule *rule)
{
    struct stock *stock = calloc(1, sizeof *stock);
    if (!stock) {
        return NULL;
    }
    stock->rule = *rule;
    stock->stocks = stocks;
    stock->shared = !stocks || stocks->many_callers || rule->among_others;
    pthread_mutex_init(&stock->lock, NULL);
    if (stocks) {
        pthread_mutex_lock(&stocks->lock);
        stock->next = stocks->first;
        if (stocks->first) {
            stocks->first->previous = stock;
        }
        stocks->first = stock;
        pthread_mutex_unlock(&stocks->lock);
    }
    return stock;
}

struct stock *stock_free(struct stock *stock)
{
    if (!stock) {
        return NULL;
    }
    struct stocks *stocks = stock->stocks;
    if (stocks) {
        pthread_mutex_lock(&stocks->lock);
        *(stock->previous ? &stock->previous->next : &stocks->first) = stock->next;
        if (stock->next) {
            stock->next->previous = stock->previous;
        }
        pthread_mutex_unlock(&stocks->lock);
    }
    pthread_mutex_destroy(&stock->lock);
    free(stock);
    return NULL;
}

void stocks_look(struct stocks *stocks,
                 void (*look)(void *context, const struct stock_rule *rule, size_t used,
                              uint64_t refused),
                 void *context)
{
    pthread_mutex_lock(&stocks->lock);
    for (struct stock *stock = stocks->first; stock; stock = stock->next) {
        pthread_mutex_lock(&stock->lock);
        size_t used = stock->used;
        uint64_t refused = stock->refused;
        pthread_mutex_unlock(&stock->lock);
        look(context, &stock->rule, used, refused);
    }
    pthread_mutex_unlock(&stocks->lock);
}

size_t stock_used(struct stock *stock)
{
    pthread_mutex_lock(&stock->lock);
    size_t used = stock->used;
    pthread_mutex_unlock(&stock->lock);
    return used;
}

/* ---- owners, under the lock ---- */

static size_t bucket_of(const char *name)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (; *name; name++) {
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    }
    return hash % BUCKETS;
}

/* The owner of that name, made where it holds nothing yet; NULL when there is no memory. */
static struct stock_owner *find_owner(struct stock *stock, const char *name)
{
    size_t bucket = bucket_of(name);
    struct stock_owner *owner = stock->owners[bucket];
    while (owner && strcmp(owner->name, name) != 0) {
        owner = owner->next;
    }
    if (!owner) {
        size_t size = strlen(name) + 1;
        owner = calloc(1, sizeof *owner + size);
        if (owner) {
            memcpy(owner->name, name, size);
            owner->bucket = bucket;
            owner->next = stock->owners[bucket];
            stock->owners[bucket] = owner;
        }
    }
    return owner;
}

static void drop_owner(struct stock *stock, struct stock_owner *owner)
{
    if (owner && owner->units == 0) {
        struct stock_owner **link = &stock->owners[owner->bucket];
        while (*link != owner) {
            link = &(*link)->next;
        }
        *link = owner->next;
        free(owner);
    }
}

/* ---- taking and giving ---- */

/* Whether `units` more may go to somebody who holds `held` of it. */
static int decide(const struct stock *stock, size_t held, size_t units, bool from_kept,
                  bool has_owner)
{
    const struct stock_rule *rule = &stock->rule;
    size_t most = from_kept ? rule->all : rule->all - rule->kept;
    if (stock->used > most || units > most - stock->used) {
        return ERR_BUSY;
    }
    size_t left = most - stock->used - units;
    bool first_unit = held == 0 && units == 1; /* of a stock of one, too */
    return has_owner && stock->shared && !first_unit && held + units > left ? ERR_LIMIT : OK;
}

/* Under the lock. */
static void hand_out(struct stock *stock, struct stock_owner *owner, bool from_kept, size_t units,
                     struct holding *holding)
{
    stock->used += units;
    if (owner) {
        owner->units += units;
    }
    *holding = (struct holding){
        .stock = stock, .owner = owner, .units = holding->units + units, .from_kept = from_kept};
}

int stock_take(struct stock *stock, const char *name, bool from_kept, size_t units,
               struct holding *holding)
{
    struct stock_owner *owner = NULL;
    int status = OK;
    pthread_mutex_lock(&stock->lock);
    if (name) {
        owner = holding->owner ? holding->owner : find_owner(stock, name);
        status = owner ? OK : ERR_NOMEM;
    }
    if (status == OK) {
        status = decide(stock, owner ? owner->units : 0, units, from_kept, owner != NULL);
    }
    if (status == OK) {
        hand_out(stock, owner, from_kept, units, holding);
    } else {
        stock->refused++;
        drop_owner(stock, owner);
    }
    pthread_mutex_unlock(&stock->lock);
    return status;
}

void stock_charge(struct stock *stock, const char *name, size_t units, struct holding *holding)
{
    pthread_mutex_lock(&stock->lock);
    struct stock_owner *owner = holding->owner;
    if (name && !owner) {
        owner = find_owner(stock, name);
    }
    if (owner || !name) {
        hand_out(stock, owner, false, units, holding);
    }
    pthread_mutex_unlock(&stock->lock);
}

void stock_give(struct holding *holding, size_t units)
{
    struct stock *stock = holding->stock;
    if (!stock) {
        return;
    }
    pthread_mutex_lock(&stock->lock);
    stock->used -= units;
    holding->units -= units;
    if (holding->owner) {
        holding->owner->units -= units;
    }
    if (holding->units == 0) {
        drop_owner(stock, holding->owner);
        *holding = (struct holding){0};
    }
    pthread_mutex_unlock(&stock->lock);
}

void stock_give_all(struct holding *holding)
{
    stock_give(holding, holding->units);
}
