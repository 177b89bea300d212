/* Intervals for means and rates, and for their differences.
 *
 * They need quantiles of the normal and of Student's t distribution: upper tails are computed, and
 * turned around by Newton's method. A tail is convex where it is looked at, so that each step from
 * the left comes closer and never passes the root. */
#include "experiment/stats.h"

#include <float.h>
#include <math.h>

#define PI         3.14159265358979323846
#define MOST_STEPS 200   /* of Newton's method; some ten are enough */
#define MOST_TERMS 20000 /* of the fraction, which needs as many as the root of the freedom */

/* ---- quantiles ---- */

/* Not lgamma(), which writes to a variable of the process. */
static double log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

static double not_zero(double x)
{
    return fabs(x) < DBL_MIN ? DBL_MIN : x;
}

/* The continued fraction of the incomplete beta function, by the method of Lentz. */
static double beta_fraction(double x, double a, double b)
{
    double c = 1;
    double d = 1 / not_zero(1 - (a + b) * x / (a + 1));
    double fraction = d;
    for (int m = 1; m <= MOST_TERMS; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / not_zero(1 + even * d);
        c = not_zero(1 + even / c);
        fraction *= c * d;
        d = 1 / not_zero(1 + odd * d);
        c = not_zero(1 + odd / c);
        fraction *= c * d;
        if (fabs(c * d - 1) <= DBL_EPSILON) {
            break;
        }
    }
    return fraction;
}

/* The regularised incomplete beta function; `rest` is 1 - x, which may be too small to be told
 * from x. */
static double beta_share(double x, double rest, double a, double b)
{
    double front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log(rest));
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(x, a, b) / a
                                     : 1 - front * beta_fraction(rest, b, a) / b;
}

/* What lies above t; with infinite freedom it is the normal distribution's. */
static double tail(double t, double freedom)
{
    double sum = freedom + t * t;
    return isinf(freedom) ? erfc(t / sqrt(2)) / 2
                          : beta_share(freedom / sum, t * t / sum, freedom / 2, 0.5) / 2;
}

static double density(double t, double freedom)
{
    if (isinf(freedom)) {
        return exp(-t * t / 2) / sqrt(2 * PI);
    }
    double log_density = log_gamma((freedom + 1) / 2) - log_gamma(freedom / 2) -
                         log(freedom * PI) / 2 - (freedom + 1) / 2 * log1p(t * t / freedom);
    return exp(log_density);
}

/* What Student's t with so many degrees of freedom exceeds with this probability, which is below a
 * half. */
static double t_above(double probability, double freedom)
{
    double t = 0;
    for (int i = 0; i < MOST_STEPS; i++) {
        double step = (tail(t, freedom) - probability) / density(t, freedom);
        t += step;
        if (fabs(step) <= 4 * DBL_EPSILON * t) {
            break;
        }
    }
    return t;
}

/* ---- samples ---- */

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
    double quantile = t_above(error / 2, (double)sample->count - 1);
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
    return around(value, t_above(error / 2, freedom) * sqrt(a + b));
}

/* ---- rates ---- */

struct stats_estimate stats_rate(const struct stats_sample *sample, double error)
{
    if (!sample->count) {
        return around(NAN, NAN);
    }
    double n = (double)sample->count;
    double p = mean_of(sample);
    double z = t_above(error / 2, INFINITY);
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
