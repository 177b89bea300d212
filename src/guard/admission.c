/* The gate in front of every tool. */
#include "guard/admission.h"

#include "call/call.h"
#include "call/errors.h"
#include "config/values.h"
#include "core/clock.h"
#include "core/limits.h"
#include "guard/callers.h"
#include "text/text.h"

#include <stdio.h>
#include <time.h>

#define MINUTE_MS INT64_C(60000)
#define DAY_MS    INT64_C(86400000)

/* ---- days ---- */

void admission_day(int64_t now_ms, char day[ADMISSION_DAY_SIZE])
{
    struct tm parts = {0};
    time_t seconds = (time_t)(now_ms / 1000);
    gmtime_r(&seconds, &parts);
    strftime(day, ADMISSION_DAY_SIZE, "%Y-%m-%d", &parts);
}

/* ---- refusals ---- */

static int refuse(struct call *call, const char *details, int64_t retry_after_ms)
{
    call_fail_details(call, details);
    call_fail_retry_after(call, (int)((retry_after_ms + 999) / 1000));
    return ERR_FAILED;
}

static int refuse_claim(struct call *call, const char *tool, const struct limit_claim *claim,
                        const char *variable)
{
    char window[32];
    char details[256];
    struct text_out out;
    text_start(&out, window, sizeof window);
    value_put_duration(&out, claim->window_ms);
    char left[80] = "none is left";
    if (claim->more >= claim->calls) {
        snprintf(left, sizeof left, "this one counts as %u: ask for less at once", 1 + claim->more);
    } else if (claim->more) {
        snprintf(left, sizeof left, "this one counts as %u, where %u are left", 1 + claim->more,
                 claim->left);
    }
    long long seconds = (claim->retry_after_ms + 999) / 1000;
    call_fail(call, CODE_RATE_LIMIT,
              "%s: %s may make %u call%s in %s, and %s; try again in %lld seconds. The "
              "limit is set by %s",
              tool, claim->for_all ? "all callers together" : "a caller", claim->calls,
              claim->calls == 1 ? "" : "s", window, left, seconds, variable);
    snprintf(details, sizeof details,
             "{\"limit\":%u,\"window_s\":%lld,\"left\":%u,\"retry_after_s\":%lld,\"for\":\"%s\"}",
             claim->calls, (long long)(claim->window_ms / 1000), claim->left, seconds,
             claim->for_all ? "all callers" : "caller");
    return refuse(call, details, claim->retry_after_ms);
}

static int refuse_claims(struct call *call, const char *tool, const struct limit_claim *claims,
                         size_t count)
{
    /* Of several, the one that takes longest to open again. */
    const struct limit_claim *worst = &claims[0];
    for (size_t i = 1; i < count; i++) {
        worst = claims[i].retry_after_ms > worst->retry_after_ms ? &claims[i] : worst;
    }
    return refuse_claim(call, tool, worst,
                        !worst->tool     ? "FORAGE_CALLS_PER_MINUTE"
                        : worst->for_all ? "FORAGE_LIMITS_TOTAL"
                                         : "FORAGE_LIMITS");
}

/* One of the two budgets. */
struct money_budget {
    int64_t most, spent;
    const char *variable;
};

static int refuse_budget(struct call *call, const char *code, const char *what,
                         const struct money_budget *budget)
{
    char details[256];
    int64_t left_ms = DAY_MS - clock_wall_ms() % DAY_MS; /* to the next day */
    double spent_usd = (double)budget->spent / (double)NANO_PER_USD;
    double budget_usd = (double)budget->most / (double)NANO_PER_USD;
    call_fail(call, code,
              "%s: the day's budget is spent: $%.4f of $%.2f (an estimate by the price table, with "
              "what is under way); it begins anew at 00:00 UTC, in %lld minutes. To go on now, "
              "raise %s",
              what, spent_usd, budget_usd, (long long)(left_ms / MINUTE_MS + 1), budget->variable);
    snprintf(details, sizeof details,
             "{\"budget_usd\":%.6f,\"spent_usd\":%.6f,\"left\":0,\"retry_after_s\":%lld}",
             budget_usd, spent_usd, (long long)((left_ms + 999) / 1000));
    return refuse(call, details, left_ms);
}

/* ---- deciding ---- */

static const char *caller_name(const struct call *call)
{
    const struct caller *caller = call_caller(call);
    return caller ? caller->name : "";
}

static struct limit_claim claim_minute(const struct admission_rules *rules, const struct call *call,
                                       const char *where)
{
    struct limit_claim claim = {.calls = (unsigned)rules->calls_per_minute, .window_ms = MINUTE_MS};
    snprintf(claim.key, sizeof claim.key, "%s all tools%s", caller_name(call), where);
    return claim;
}

/* Of all tools, quick ones too, in this process. */
static int check_minute(const struct admission_rules *rules, struct call *call,
                        const struct admission_tool *tool)
{
    struct limit_claim claim = claim_minute(rules, call, "");
    claim.more = tool->more;
    int status = limiter_take(rules->limiter, &claim, 1);
    return status == ERR_LIMIT ? refuse_claims(call, tool->name, &claim, 1) : status;
}

bool admission_has_budget(const struct admission_rules *rules)
{
    return rules->budget_nano > 0 || rules->total_budget_nano > 0;
}

int admission_check_budget(const struct admission_rules *rules, struct call *call, const char *code,
                           const char *what, const struct spending *spent)
{
    const struct money_budget budgets[] = {
        {rules->budget_nano, spent->caller_nano, "FORAGE_DAILY_BUDGET_USD"},
        {rules->total_budget_nano, spent->total_nano, "FORAGE_DAILY_BUDGET_TOTAL_USD"},
    };
    for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++) {
        if (budgets[i].most > 0 && budgets[i].spent >= budgets[i].most) {
            return refuse_budget(call, code, what, &budgets[i]);
        }
    }
    return OK;
}

static int take(const struct admission_rules *rules, struct call *call,
                const struct admission_tool *tool, struct limit_claim *claims, size_t count,
                struct spending *spent)
{
    int status = ERR_IO;
    if (!tool->quick && rules->shared.take) {
        status = rules->shared.take(rules->shared.context, call, claims, count, spent);
    }
    bool decided =
        status == OK || status == ERR_LIMIT || status == ERR_CANCELLED || status == ERR_DEADLINE;
    return decided ? status : limiter_take(rules->limiter, claims, count);
}

/* Whether the calls of a minute are counted over all processes too. */
static bool shares_minute(const struct admission_rules *rules, const struct admission_tool *tool)
{
    return rules->calls_per_minute > 0 && !tool->quick && rules->shared.take;
}

static int check_counts(const struct admission_rules *rules, struct call *call,
                        const struct admission_tool *tool, bool budgeted)
{
    struct limit_claim claims[LIMIT_WINDOW_CLAIMS];
    struct spending spent = {0};
    size_t count = limit_rules_claims(rules->limits, caller_name(call), tool->name, claims);
    if (shares_minute(rules, tool)) {
        claims[count++] = claim_minute(rules, call, ", all servers");
    }
    for (size_t i = 0; i < count; i++) {
        claims[i].more = tool->more;
    }
    int status = take(rules, call, tool, claims, count, budgeted ? &spent : NULL);
    if (status == ERR_LIMIT) {
        return refuse_claims(call, tool->name, claims, count);
    }
    return status == OK && budgeted
               ? admission_check_budget(rules, call, CODE_RATE_LIMIT, tool->name, &spent)
               : status;
}

int admission_afford(const struct admission_rules *rules, struct call *call, const char *what)
{
    struct spending spent = {0};
    int status = take(rules, call, &(struct admission_tool){.name = what}, NULL, 0, &spent);
    return status == OK ? admission_check_budget(rules, call, CODE_BUDGET, what, &spent) : status;
}

int admission_check(const struct admission_rules *rules, struct call *call,
                    const struct admission_tool *tool)
{
    int status = rules->calls_per_minute > 0 ? check_minute(rules, call, tool) : OK;
    bool budgeted = tool->paid && admission_has_budget(rules);
    /* Most calls have nothing to claim, and pay nothing for those that have. */
    if (status != OK ||
        !(budgeted || shares_minute(rules, tool) || limit_rules_hold(rules->limits, tool->name))) {
        return status;
    }
    return check_counts(rules, call, tool, budgeted);
}
