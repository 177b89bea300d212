/* When the next request to a source may go out. */
#include "guard/pace.h"

#include "core/limits.h"

/* Of a window, that its calls are apart beyond it: a tenth, within these bounds. */
#define MARGIN_LEAST_MS 250
#define MARGIN_MOST_MS  1000

int64_t pace_span_ms(int64_t window_ms)
{
    int64_t margin = window_ms / 10;
    margin = margin < MARGIN_LEAST_MS ? MARGIN_LEAST_MS : margin;
    return window_ms + (margin > MARGIN_MOST_MS ? MARGIN_MOST_MS : margin);
}

unsigned pace_calls(const struct pace *pace, unsigned window)
{
    for (unsigned i = 0; i <= window; i++) {
        if (window >= PACE_WINDOWS || pace->windows[i].calls == 0) {
            return 0;
        }
    }
    unsigned calls = pace->windows[window].calls;
    return calls < LIMIT_PACE_CALLS ? calls : LIMIT_PACE_CALLS;
}

int64_t pace_memory_ms(const struct pace *pace)
{
    int64_t longest = 0;
    for (unsigned i = 0; pace_calls(pace, i); i++) {
        int64_t span = pace_span_ms(pace->windows[i].window_ms);
        longest = span > longest ? span : longest;
    }
    return longest;
}

void pace_decide(struct pace_claim *claim, const struct pace_past *past, int64_t now_ms)
{
    const struct pace *pace = claim->pace;
    claim->probe = false;
    claim->wait_ms = 0;
    if (past->rested && past->rests_until_ms > now_ms) {
        claim->answer = PACE_RESTS;
        claim->wait_ms = past->rests_until_ms - now_ms;
        return;
    }
    if (pace->at_once && past->running >= pace->at_once) {
        claim->answer = PACE_FULL;
        return;
    }
    int64_t at = now_ms + claim->ahead_ms;
    at = past->last_ms > at ? past->last_ms : at;
    for (unsigned i = 0; pace_calls(pace, i); i++) {
        int64_t earliest = past->nth_ms[i] + pace_span_ms(pace->windows[i].window_ms);
        at = earliest > at ? earliest : at;
    }
    claim->wait_ms = at - now_ms;
    claim->answer = claim->wait_ms > claim->patience_ms ? PACE_LATER : PACE_GRANTED;
    claim->probe = claim->answer == PACE_GRANTED && past->rested;
}
