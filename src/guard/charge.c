/* Opens and settles charges, and warns when a budget comes to its end. */
#include "guard/charge.h"

#include "call/errors.h"
#include "call/parts.h"
#include "core/clock.h"
#include "core/log.h"

#define WARNING_SHARE 0.8

static const struct call_usage NOTHING;

/* ---- money ---- */

int64_t charge_price(const struct call *call, const struct call_usage *usage)
{
    const struct charges *charges = call_parts(call)->charges;
    int64_t unknown = 0;
    return charges ? prices_cost(charges->prices, usage, &unknown) : 0;
}

static struct call_usage priced(const struct charges *charges, const struct call_usage *usage)
{
    struct call_usage amount = *usage;
    amount.nano_usd = amount.unpriced = 0;
    if (charges) {
        amount.nano_usd = prices_cost(charges->prices, usage, &amount.unpriced);
    }
    return amount;
}

static bool is_nothing(const struct call_usage *usage)
{
    return !usage->requests && !usage->input_tokens && !usage->output_tokens && !usage->nano_usd &&
           !usage->unpriced;
}

/* ---- budgets ---- */

static void warn_once(struct call *call, const char *whose, int64_t spent, int64_t cost,
                      int64_t budget, const char *variable)
{
    /* The request that crosses the line speaks, whichever process it comes from. */
    double line = WARNING_SHARE * (double)budget;
    if (budget <= 0 || (double)spent < line || (double)(spent - cost) >= line) {
        return;
    }
    double dollars = (double)spent / (double)NANO_PER_USD;
    double most = (double)budget / (double)NANO_PER_USD;
    log_warn(call_request_id(call), "budget: %s spent $%.4f of $%.2f today (%s)", whose, dollars,
             most, variable);
    call_log(call, "warning", "%s spent $%.4f of the day's budget of $%.2f", whose, dollars, most);
}

static void warn(const struct admission_rules *rules, struct call *call, int64_t cost,
                 const struct spending *spent)
{
    const struct caller *caller = call_caller(call);
    if (cost > 0) {
        warn_once(call, caller ? caller->name : "forage", spent->caller_nano, cost,
                  rules->budget_nano, "FORAGE_DAILY_BUDGET_USD");
        warn_once(call, "all callers", spent->total_nano, cost, rules->total_budget_nano,
                  "FORAGE_DAILY_BUDGET_TOTAL_USD");
    }
}

static bool has_budget(const struct charges *charges)
{
    return charges && admission_has_budget(charges->rules);
}

/* ---- the books ---- */

/* Changes a charge in the books by `change`, and the account of its call. */
static void enter(struct charge *charge, const struct call_usage *change, struct spending *spent)
{
    const struct charges *charges = call_parts(charge->call)->charges;
    struct charge_entry entry = charge->entry;
    entry.amount = *change;
    call_report_usage(charge->call, change);
    if (charges) {
        charges->enter(charges->context, charge->call, &entry, spent);
    }
}

int charge_open(struct call *call, const struct call_usage *most, struct charge *charge)
{
    const struct charges *charges = call_parts(call)->charges;
    struct spending spent = {0};
    *charge = (struct charge){0};
    int status = call_check(call);
    if (status != OK) {
        return status;
    }
    charge->call = call;
    charge->entry.provider = most->service ? most->service : most->model;
    charge->entry.at_ms = clock_wall_ms();
    charge->entry.amount = priced(charges, most);
    int64_t cost = charge->entry.amount.nano_usd;
    enter(charge, &charge->entry.amount, has_budget(charges) ? &spent : NULL);
    if (has_budget(charges) && cost > 0) {
        struct spending before = {spent.caller_nano - cost, spent.total_nano - cost};
        status = admission_check_budget(charges->rules, call, CODE_BUDGET, call_booked_tool(call),
                                        &before);
        status = status == OK ? OK : ERR_BUSY;
    }
    status = status == OK ? call_check(call) : status;
    if (status != OK) {
        charge_settle(charge, &NOTHING);
    }
    return status;
}

void charge_settle(struct charge *charge, const struct call_usage *used)
{
    struct call *call = charge->call;
    if (!call) {
        return;
    }
    const struct charges *charges = call_parts(call)->charges;
    struct spending spent = {0};
    struct call_usage amount = used ? priced(charges, used) : charge->entry.amount;
    struct call_usage change = call_usage_change(&charge->entry.amount, &amount);
    bool watched = has_budget(charges) && amount.nano_usd > 0;
    if (watched || !is_nothing(&change)) {
        enter(charge, &change, watched ? &spent : NULL);
    }
    if (watched) {
        warn(charges->rules, call, amount.nano_usd, &spent);
    }
    charge->call = NULL;
}

int charge_check(struct call *call)
{
    const struct charges *charges = call_parts(call)->charges;
    return has_budget(charges) ? admission_afford(charges->rules, call, call_booked_tool(call))
                               : OK;
}

/* ---- sending ---- */

/* Whether the service says that it did nothing. A gateway that lost the answer cannot know. */
static bool is_refused(const struct fetch_response *response)
{
    return response->status >= 300 && response->status != 502 && response->status != 504;
}

int charge_fetch(struct charge *charge, const struct fetch_request *request,
                 struct fetch_response *response)
{
    int status = fetch_run(charge->call, request, response);
    if (!response->sent || is_refused(response)) {
        charge_settle(charge, &NOTHING);
    }
    return status;
}
