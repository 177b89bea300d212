/* What callers share, and the share of each. A stock is so many units of one thing: workers, bytes
 * of request bodies, look-ups of names. Whoever uses some of it takes them in the name of an owner
 * (a caller, or an address where callers have no names), is told "no" at once where there are none
 * for it, and gives them back.
 *
 * One rule makes shares of it: an owner never holds more than it leaves free for the others. One
 * greedy owner gets half of a stock, two get a third each, and there is always something left for
 * whoever comes next. Where only one caller can exist nobody has to be left anything. Some units
 * are kept back for what must go on whatever else is asked (`kept`).
 *
 * All stocks of a program stand in one list, for its metrics. */
#ifndef FORAGE_CORE_STOCK_H
#define FORAGE_CORE_STOCK_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stock;
struct stocks;
struct stock_owner;

struct stock_rule {
    const char *name; /* a constant, in metrics: "workers", "body_bytes" */
    const char *help; /* what it is, in a sentence for an operator */
    size_t all;
    size_t kept;       /* of them: only for takers that say so */
    bool among_others; /* owners are more than the callers with names: addresses, pages */
};

/* Units that somebody holds. All zero holds nothing. */
struct holding {
    struct stock *stock;
    struct stock_owner *owner;
    size_t units;
    bool from_kept; /* it may take what is kept back */
};

/* `many_callers`: tokens name more than one. NULL when there is no memory. */
struct stocks *stocks_new(bool many_callers);
/* Whether an owner has to leave something for others. False for NULL. */
bool stocks_have_others(const struct stocks *stocks);
/* Every stock in it must have been freed. */
struct stocks *stocks_free(struct stocks *stocks);
/* Shows each stock's rule, units in use and refusals to `look`, which must not wait. */
void stocks_look(struct stocks *stocks,
                 void (*look)(void *context, const struct stock_rule *rule, size_t used,
                              uint64_t refused),
                 void *context);

/* In no list where `stocks` is NULL, and then always shared. NULL when there is no memory. */
struct stock *stock_new(struct stocks *stocks, const struct stock_rule *rule);
/* Nobody may hold any of it. */
struct stock *stock_free(struct stock *stock);
size_t stock_used(struct stock *stock);

/* Takes `units` more, at least one, for `holding`, which holds nothing yet or was filled by an
 * earlier take of the same owner. `owner` is copied; NULL is forage itself, which has all that is
 * free. OK; ERR_BUSY when the stock is used up, ERR_LIMIT when the owner has its share, ERR_NOMEM;
 * then `holding` is as it was. */
MUST_CHECK int stock_take(struct stock *stock, const char *owner, bool from_kept, size_t units,
                          struct holding *holding);
/* Takes `units` more whatever is left, for what is there already and cannot be undone: it counts
 * when somebody asks next. Without memory nothing is taken. */
void stock_charge(struct stock *stock, const char *owner, size_t units, struct holding *holding);
/* Gives `units` of it back; at most what it holds. */
void stock_give(struct holding *holding, size_t units);
/* Gives all of it back; it holds nothing then. */
void stock_give_all(struct holding *holding);

#endif
