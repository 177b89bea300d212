/* Charges: the one way of every request that costs money. A charge is opened with the most that the
 * request may cost, which is in the books before a byte is sent, so that all who share the database
 * see it, and a process that is killed leaves it there. It is settled with what the request really
 * used, or stays as it is where nobody can know. ops/ keeps the books. */
#ifndef FORAGE_GUARD_CHARGE_H
#define FORAGE_GUARD_CHARGE_H

#include "call/call.h"
#include "guard/admission.h"
#include "guard/prices.h"
#include "net/fetch.h"

/* The fewest bytes of a text that are a token, for estimates: rather too many tokens than too few.
 */
#define CHARGE_BYTES_OF_TOKEN 3

/* An entry in the books. */
struct charge_entry {
    const char *provider; /* who is paid */
    int64_t at_ms;        /* since 1970, when the charge was opened */
    struct call_usage amount;
};

/* What charges need of a program; in its parts. */
struct charges {
    struct prices *prices;
    const struct admission_rules *rules;
    void *context;
    /* Adds an entry for the call's caller, tool and job; `spent` (NULL: nobody wants to know) is
     * what has been spent today, this entry included, as far as anybody knows. */
    void (*enter)(void *context, struct call *call, const struct charge_entry *entry,
                  struct spending *spent);
};

struct charge {
    struct call *call; /* NULL: it is settled */
    struct charge_entry entry;
};

/* OK, and charge_settle() must follow; ERR_BUSY, with BUDGET as the call's error, where the budget
 * of the day has nothing left; ERR_CANCELLED or ERR_DEADLINE. `most` has no price yet; its names
 * must outlive the charge. */
MUST_CHECK int charge_open(struct call *call, const struct call_usage *most, struct charge *charge);
/* As fetch_run(). A request that was not sent, or that the service refused, costs nothing: then the
 * charge is settled. */
MUST_CHECK int charge_fetch(struct charge *charge, const struct fetch_request *request,
                            struct fetch_response *response);
/* What the request used; NULL: what was estimated. Once it is settled, nothing. */
void charge_settle(struct charge *charge, const struct call_usage *used);
/* Before a program is started that spends money by itself: OK, ERR_FAILED with BUDGET, or a status
 * of the call. */
MUST_CHECK int charge_check(struct call *call);
/* What that would cost, in billionths of a dollar. */
int64_t charge_price(const struct call *call, const struct call_usage *usage);

#endif
