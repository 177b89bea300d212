/* Counts what a topic and its parts use. */
#include "research/own/allowance.h"

const char *const ALLOWANCE_WORDS[ALLOWANCE_KINDS] = {"searches", "pages", "tokens", "usd",
                                                      "seconds"};

int allowance_read_usd(const char *text, int64_t *nano)
{
    static const int64_t MOST = 1000000; /* dollars */
    int64_t whole = 0, part = 0;
    int64_t unit = 1000000000; /* billionths that the next digit behind the point is below */
    bool some = false, above_zero = false, behind = false;
    for (; *text; text++) {
        if (*text == '.' && !behind) {
            behind = true;
            continue;
        }
        if (*text < '0' || *text > '9' || whole > MOST) {
            return ERR_INVALID;
        }
        some = true;
        above_zero |= *text != '0';
        unit /= behind ? 10 : 1;
        part += behind ? unit * (*text - '0') : 0;
        whole = behind ? whole : whole * 10 + (*text - '0');
    }
    *nano = whole * 1000000000 + part;
    *nano += above_zero && !*nano ? 1 : 0;
    return some && whole <= MOST ? OK : ERR_INVALID;
}

int64_t allowance_left(const struct allowance *allowance, enum allowance_kind kind)
{
    int64_t limit = allowance->limit[kind];
    int64_t used = allowance->used[kind];
    if (!limit) {
        return INT64_MAX;
    }
    return used < limit ? limit - used : 0;
}

void allowance_share(const struct allowance *whole, size_t parts, struct allowance *share)
{
    int64_t count = parts ? (int64_t)parts : 1;
    for (int kind = 0; kind < ALLOWANCE_KINDS; kind++) {
        share->limit[kind] = (whole->limit[kind] + count - 1) / count;
    }
}
