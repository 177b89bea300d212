/* Intervals for means and rates, and for their differences. */
#include "experiment/stats.h"

#include <math.h>

/* The squares by the method of Welford, which loses nothing where the mean is large. */
void stats_add(struct stats_sample *sample, double observation)
{
    sample->count++;
    sample->sum += observation;
    double before = observation - sample->middle;
    sample->middle += before / (double)sample->count;
    sample->squares += before * (observation - sample->middle);
}

static double mean_of(const struct stats_sample *sample)
{
    return sample->count ? sample->sum / (double)sample->count : NAN;
}

static struct stats_estimate around(double value, double half)
{
    return (struct stats_estimate){value, value - half, value + half};
}

/* ---- means ---- */

/* The square of the standard error of the mean. */
static double squared_error(const struct stats_sample *sample)
{
    double count = (double)sample->count;
    return sample->squares / (count - 1) / count;
}

struct stats_estimate stats_mean(const struct stats_sample *sample, double error)
{
    if (sample->count < 2) {
        return around(mean_of(sample), NAN);
    }
    double quantile = stats_t_above(error / 2, (double)sample->count - 1);
    return around(mean_of(sample), quantile * sqrt(squared_error(sample)));
}

struct stats_estimate stats_difference(const struct stats_sample *one,
                                       const struct stats_sample *other, double error)
{
    double value = mean_of(other) - mean_of(one);
    if (one->count < 2 || other->count < 2) {
        return around(value, NAN);
    }
    double a = squared_error(one);
    double b = squared_error(other);
    if (a + b <= 0) {
        return around(value, 0); /* neither varies: there is no doubt to be measured */
    }
    double freedom =
        (a + b) * (a + b) / (a * a / (double)(one->count - 1) + b * b / (double)(other->count - 1));
    return around(value, stats_t_above(error / 2, freedom) * sqrt(a + b));
}

/* ---- rates ---- */

struct stats_estimate stats_rate(const struct stats_sample *sample, double error)
{
    if (!sample->count) {
        return around(NAN, NAN);
    }
    double n = (double)sample->count;
    double p = mean_of(sample);
    double z = stats_normal_above(error / 2);
    double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
    double half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    /* At the ends it is exact, whatever rounding makes of it. */
    return (struct stats_estimate){p, p > 0 ? middle - half : 0, p < 1 ? middle + half : 1};
}

struct stats_estimate stats_rate_difference(const struct stats_sample *one,
                                            const struct stats_sample *other, double error)
{
    struct stats_estimate a = stats_rate(one, error);
    struct stats_estimate b = stats_rate(other, error);
    double value = b.value - a.value;
    return (struct stats_estimate){
        value,
        value - hypot(b.value - b.low, a.high - a.value),
        value + hypot(b.high - b.value, a.value - a.low),
    };
}
