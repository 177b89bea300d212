/* Quantiles of the normal and of Student's t distribution: their upper tails are computed, and
 * turned around by Newton's method. A tail is convex where it is looked at, so that each step from
 * the left comes closer and never passes the root. */
#include "experiment/stats.h"

#include <float.h>
#include <math.h>

#define MOST_STEPS 200   /* of Newton's method; some ten are enough */
#define MOST_TERMS 20000 /* of the fraction, which needs as many as the root of the freedom */

/* ---- the normal distribution ---- */

static double normal_tail(double z)
{
    return erfc(z / sqrt(2)) / 2;
}

static double normal_density(double z)
{
    return exp(-z * z / 2) / sqrt(2 * acos(-1));
}

double stats_normal_above(double probability)
{
    double z = 0;
    for (int i = 0; i < MOST_STEPS; i++) {
        double step = (normal_tail(z) - probability) / normal_density(z);
        z += step;
        if (fabs(step) <= 2 * DBL_EPSILON * z) {
            break;
        }
    }
    return z;
}

/* ---- Student's t ---- */

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

static double t_tail(double t, double freedom)
{
    double sum = freedom + t * t;
    return beta_share(freedom / sum, t * t / sum, freedom / 2, 0.5) / 2;
}

static double t_density(double t, double freedom)
{
    double log_density = log_gamma((freedom + 1) / 2) - log_gamma(freedom / 2) -
                         log(freedom * acos(-1)) / 2 - (freedom + 1) / 2 * log1p(t * t / freedom);
    return exp(log_density);
}

double stats_t_above(double probability, double freedom)
{
    double t = stats_normal_above(probability); /* whose tails are thinner: it lies to the left */
    for (int i = 0; i < MOST_STEPS; i++) {
        double step = (t_tail(t, freedom) - probability) / t_density(t, freedom);
        t += step;
        if (fabs(step) <= 4 * DBL_EPSILON * t) {
            break;
        }
    }
    return t;
}
