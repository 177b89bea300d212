/* Compares the arms of an experiment. */
#include "experiment/findings.h"

#include <math.h>

/* The arm with the best estimate; the first of several, and `count` where none has one. */
static size_t find_best(const struct findings *findings, const struct experiment *experiment)
{
    size_t best = findings->arm_count;
    for (size_t i = 0; i < findings->arm_count; i++) {
        double value = findings->arms[i].metrics[experiment->metric].estimate.value;
        double most = best < findings->arm_count
                          ? findings->arms[best].metrics[experiment->metric].estimate.value
                          : NAN;
        bool better = experiment->higher ? value > most : value < most;
        best = !isnan(value) && (isnan(most) || better) ? i : best;
    }
    return best;
}

/* Whether an arm of a comparison beats the other beyond doubt. */
static bool beats(const struct comparison *comparison, size_t arm, bool higher)
{
    bool is_above = comparison->difference.low > 0;
    bool is_below = comparison->difference.high < 0;
    bool wants_above = higher == (arm == comparison->arm);
    return wants_above ? is_above : is_below;
}

void findings_compare(struct findings *findings, const struct experiment *experiment,
                      findings_difference difference, const void *context)
{
    size_t count = findings->arm_count;
    size_t best = find_best(findings, experiment);
    findings->best = count;
    findings->comparison_count = 0;
    findings->error = FINDINGS_ERROR / (double)(count - 1);
    if (best == count) {
        return;
    }
    size_t arm = count == 2 ? 1 : best;
    bool beats_all = true;
    for (size_t i = 0; i < count; i++) {
        if (i != arm) {
            struct comparison *made = &findings->comparisons[findings->comparison_count++];
            *made = (struct comparison){arm, i, difference(context, i, arm, findings->error)};
            beats_all = beats_all && beats(made, best, experiment->higher);
        }
    }
    findings->best = beats_all ? best : count;
}
