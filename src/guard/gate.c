/* The gate in front of every tool. */
#include "guard/gate.h"

#include "call/call.h"
#include "call/errors.h"
#include "guard/callers.h"
#include "guard/limiter.h"

#include <stddef.h>

#define MINUTE_MS 60000

int gate_admit(struct limiter *limiter, struct call *call, const char *tool,
               int64_t calls_per_minute)
{
    if (calls_per_minute <= 0) {
        return OK;
    }
    const struct caller *caller = call_caller(call);
    struct limit_state state;
    int status = limiter_take(limiter, caller ? caller->name : "", "all tools",
                              (unsigned)calls_per_minute, MINUTE_MS, &state);
    if (status != ERR_BUSY) {
        return status;
    }
    int seconds = (int)((state.retry_after_ms + 999) / 1000);
    call_fail(call, CODE_RATE_LIMIT,
              "%s: more than %lld calls in a minute; try again in %d seconds, or raise "
              "FORAGE_CALLS_PER_MINUTE",
              tool, (long long)calls_per_minute, seconds);
    call_fail_retry_after(call, seconds);
    return ERR_FAILED;
}
