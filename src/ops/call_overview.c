/* Adds the sums of tallies up, step by step and by every name. */
#include "ops/call_overview.h"

#include "core/clock.h"
#include "core/limits.h"
#include "guard/admission.h"
#include "ops/tallies.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    enum tally_span step;
    int steps;
} SPANS[] = {
    {"hour", TALLY_MINUTES, 60},
    {"day", TALLY_HOURS, 24},
    {"month", TALLY_DAYS, 30},
};

/* What is added up. */
struct call_sums {
    int64_t calls, failures, recalled;
    int64_t input_tokens, output_tokens, nano_usd;
    int64_t times[TALLY_BUCKETS];
};

struct named_sums {
    struct named_sums *next;
    const char *name;
    struct call_sums sums;
};

/* Sums by one kind of name, of which there is a limited number. */
struct sums_by_name {
    struct named_sums *first;
    size_t count;
    struct call_sums others;
};

enum { BY_TOOL, BY_PROVIDER, BY_CALLER, KINDS };
static const char *const KIND_NAMES[KINDS] = {"tools", "providers", "callers"};

struct overview {
    struct arena *arena;
    int64_t from_ms, step_ms;
    int steps;
    struct call_sums total;
    struct call_sums *series; /* one for each step */
    struct sums_by_name names[KINDS];
};

/* ---- adding up ---- */

/* A server may say any number. */
static void add_up(int64_t *sum, int64_t more)
{
    if (__builtin_add_overflow(*sum, more, sum)) {
        *sum = INT64_MAX;
    }
}

static void add(struct call_sums *sums, const struct tally *tally)
{
    add_up(&sums->calls, tally->calls);
    add_up(&sums->failures, tally->failures);
    add_up(&sums->recalled, tally->recalled);
    add_up(&sums->input_tokens, tally->input_tokens);
    add_up(&sums->output_tokens, tally->output_tokens);
    add_up(&sums->nano_usd, tally->nano_usd);
    if (tally->bucket >= 0) {
        add_up(&sums->times[tally->bucket], tally->calls);
    }
}

/* The sums of a name; NULL without memory. What is found goes to the front, since the next row
 * mostly has the same name. */
static struct call_sums *sums_of(struct overview *overview, struct sums_by_name *names,
                                 const char *name)
{
    struct named_sums **link = &names->first;
    while (*link && strcmp((*link)->name, name) != 0) {
        link = &(*link)->next;
    }
    struct named_sums *found = *link;
    if (found) {
        *link = found->next;
    } else if (names->count == LIMIT_OVERVIEW_NAMES) {
        return &names->others;
    } else {
        found = arena_zalloc(overview->arena, sizeof *found);
        if (!found || !(found->name = arena_strdup(overview->arena, name))) {
            return NULL;
        }
        names->count++;
    }
    found->next = names->first;
    names->first = found;
    return &found->sums;
}

static void take(void *context, const struct tally *tally)
{
    struct overview *overview = context;
    const char *const names[KINDS] = {tally->tool, tally->provider, tally->caller};
    int64_t step = (tally->at_ms - overview->from_ms) / overview->step_ms;
    if (step < 0 || step >= overview->steps) {
        return; /* the clock was set back */
    }
    add(&overview->total, tally);
    add(&overview->series[step], tally);
    for (int kind = 0; kind < KINDS; kind++) {
        struct call_sums *sums = sums_of(overview, &overview->names[kind], names[kind]);
        if (sums) {
            add(sums, tally);
        }
    }
}

/* ---- telling ---- */

static void add_sums(yyjson_mut_doc *doc, yyjson_mut_val *object, const struct call_sums *sums)
{
    yyjson_mut_obj_add_sint(doc, object, "calls", sums->calls);
    yyjson_mut_obj_add_sint(doc, object, "failures", sums->failures);
    yyjson_mut_obj_add_sint(doc, object, "cached", sums->recalled);
    yyjson_mut_obj_add_real(doc, object, "p50_ms",
                            (double)tally_quantile_us(sums->times, 0.5) / 1000);
    yyjson_mut_obj_add_real(doc, object, "p95_ms",
                            (double)tally_quantile_us(sums->times, 0.95) / 1000);
    yyjson_mut_obj_add_sint(doc, object, "input_tokens", sums->input_tokens);
    yyjson_mut_obj_add_sint(doc, object, "output_tokens", sums->output_tokens);
    yyjson_mut_obj_add_real(doc, object, "usd", (double)sums->nano_usd / (double)NANO_PER_USD);
}

static void add_stamp(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, int64_t at_ms)
{
    char stamp[CLOCK_STAMP_SIZE];
    yyjson_mut_obj_add_strcpy(doc, object, key, clock_stamp_of(at_ms, stamp));
}

/* Most calls first, then by name. */
static int compare(const void *left, const void *right)
{
    const struct named_sums *a = *(const struct named_sums *const *)left;
    const struct named_sums *b = *(const struct named_sums *const *)right;
    return a->sums.calls != b->sums.calls ? (a->sums.calls < b->sums.calls ? 1 : -1)
                                          : strcmp(a->name, b->name);
}

static void add_names(const struct overview *overview, yyjson_mut_doc *doc, yyjson_mut_val *root,
                      int kind)
{
    const struct sums_by_name *names = &overview->names[kind];
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, root, KIND_NAMES[kind]);
    struct named_sums **sorted =
        arena_alloc(overview->arena, (names->count + 1) * sizeof(struct named_sums *));
    size_t count = 0;
    for (struct named_sums *each = names->first; sorted && each; each = each->next) {
        sorted[count++] = each;
    }
    if (count) {
        qsort(sorted, count, sizeof *sorted, compare);
    }
    for (size_t i = 0; i < count; i++) {
        yyjson_mut_val *object = yyjson_mut_arr_add_obj(doc, list);
        yyjson_mut_obj_add_str(doc, object, "name", sorted[i]->name);
        add_sums(doc, object, &sorted[i]->sums);
    }
    if (names->others.calls) {
        yyjson_mut_val *object = yyjson_mut_arr_add_obj(doc, list);
        yyjson_mut_obj_add_str(doc, object, "name", "(others)");
        add_sums(doc, object, &names->others);
    }
}

static yyjson_mut_val *describe(const struct overview *overview, const char *span, int64_t now_ms,
                                yyjson_mut_doc *doc)
{
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_strcpy(doc, root, "span", span);
    add_stamp(doc, root, "from", overview->from_ms);
    add_stamp(doc, root, "until", now_ms);
    yyjson_mut_obj_add_sint(doc, root, "step_s", overview->step_ms / 1000);
    add_sums(doc, yyjson_mut_obj_add_obj(doc, root, "total"), &overview->total);
    yyjson_mut_val *series = yyjson_mut_obj_add_arr(doc, root, "series");
    for (int i = 0; i < overview->steps; i++) {
        yyjson_mut_val *step = yyjson_mut_arr_add_obj(doc, series);
        add_stamp(doc, step, "at", overview->from_ms + i * overview->step_ms);
        add_sums(doc, step, &overview->series[i]);
    }
    for (int kind = 0; kind < KINDS; kind++) {
        add_names(overview, doc, root, kind);
    }
    return root;
}

static size_t span_of(const char *name)
{
    size_t span = 0;
    while (span < sizeof SPANS / sizeof *SPANS && strcmp(SPANS[span].name, name) != 0) {
        span++;
    }
    return span;
}

bool overview_has_span(const char *span)
{
    return span_of(span) < sizeof SPANS / sizeof *SPANS;
}

int overview_make(struct db *db, struct arena *arena, const struct overview_wish *wish,
                  yyjson_mut_doc *doc, yyjson_mut_val **report)
{
    size_t span = span_of(wish->span);
    int64_t step_ms = tally_span_ms(SPANS[span].step);
    struct overview *overview = arena_zalloc(arena, sizeof *overview);
    if (!overview) {
        return ERR_NOMEM;
    }
    overview->arena = arena;
    overview->step_ms = step_ms;
    overview->steps = SPANS[span].steps;
    overview->from_ms =
        wish->now_ms - wish->now_ms % step_ms - (overview->steps - 1) * overview->step_ms;
    overview->series = arena_zalloc(arena, (size_t)overview->steps * sizeof *overview->series);
    if (!overview->series) {
        return ERR_NOMEM;
    }
    struct tally_filter filter = {.span = SPANS[span].step,
                                  .from_ms = overview->from_ms,
                                  .caller = wish->caller,
                                  .tool = wish->tool,
                                  .provider = wish->provider};
    int status = tallies_read(db, &filter, take, overview);
    if (status == OK) {
        *report = describe(overview, SPANS[span].name, wish->now_ms, doc);
        status = *report && !arena_failed(arena) ? OK : ERR_NOMEM;
    }
    return status;
}
