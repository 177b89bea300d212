/* The rules of an operator, the claims that they make of a call, and windows to count them in.
 *
 * Windows are in a hash table of bounded size. When it is full the window that ends first makes
 * room: its caller loses at most the memory of a window that was about to end. */
#include "guard/limiter.h"

#include "config/values.h"
#include "core/arena.h"
#include "core/clock.h"
#include "core/limits.h"
#include "core/status.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS        1024
#define MOST_CALLS     1000000000
#define LONGEST_WINDOW INT64_C(31622400000) /* a year */

/* ---- windows ---- */

struct window {
    char key[LIMIT_KEY_SIZE];
    struct limit_window state;
    struct window *next;
};

struct limiter {
    pthread_mutex_t lock;
    size_t count;
    struct window *buckets[BUCKETS];
};

struct limiter *limiter_new(void)
{
    struct limiter *limiter = calloc(1, sizeof *limiter);
    if (limiter) {
        pthread_mutex_init(&limiter->lock, NULL);
    }
    return limiter;
}

struct limiter *limiter_free(struct limiter *limiter)
{
    if (!limiter) {
        return NULL;
    }
    for (size_t i = 0; i < BUCKETS; i++) {
        while (limiter->buckets[i]) {
            struct window *next = limiter->buckets[i]->next;
            free(limiter->buckets[i]);
            limiter->buckets[i] = next;
        }
    }
    pthread_mutex_destroy(&limiter->lock);
    free(limiter);
    return NULL;
}

static size_t bucket_of(const char *key)
{
    uint32_t hash = 2166136261u;
    for (; *key; key++) {
        hash = (hash ^ (unsigned char)*key) * 16777619u;
    }
    return hash % BUCKETS;
}

static void drop_earliest(struct limiter *limiter)
{
    struct window **earliest = NULL;
    for (size_t i = 0; i < BUCKETS; i++) {
        for (struct window **link = &limiter->buckets[i]; *link; link = &(*link)->next) {
            if (!earliest || (*link)->state.ends_ms < (*earliest)->state.ends_ms) {
                earliest = link;
            }
        }
    }
    if (earliest) {
        struct window *window = *earliest;
        *earliest = window->next;
        free(window);
        limiter->count--;
    }
}

static struct window *find_or_add(struct limiter *limiter, const char *key)
{
    struct window **bucket = &limiter->buckets[bucket_of(key)];
    for (struct window *window = *bucket; window; window = window->next) {
        if (strcmp(window->key, key) == 0) {
            return window;
        }
    }
    struct window *window = calloc(1, sizeof *window);
    if (window) {
        snprintf(window->key, sizeof window->key, "%s", key);
        window->next = *bucket;
        *bucket = window;
        limiter->count++;
    }
    return window;
}

void limit_look(struct limit_claim *claim, struct limit_window *window, int64_t now_ms)
{
    if (window->ends_ms <= now_ms || window->ends_ms > now_ms + claim->window_ms) {
        *window = (struct limit_window){.ends_ms = now_ms + claim->window_ms};
    }
    claim->left = window->used >= (int64_t)claim->calls ? 0 : claim->calls - (unsigned)window->used;
    claim->retry_after_ms = claim->left > claim->more ? 0 : window->ends_ms - now_ms;
}

void limit_take(struct limit_claim *claim, struct limit_window *window)
{
    window->used += 1 + (int64_t)claim->more;
    claim->left -= 1 + claim->more;
}

int limiter_take(struct limiter *limiter, struct limit_claim *claims, size_t count)
{
    struct window *windows[LIMIT_WINDOW_CLAIMS] = {NULL};
    int64_t now = clock_now_ms();
    int status = OK;
    if (count > LIMIT_WINDOW_CLAIMS) {
        return ERR_LIMIT;
    }
    pthread_mutex_lock(&limiter->lock);
    while (limiter->count + count > LIMIT_WINDOW_KEYS && limiter->count) {
        drop_earliest(limiter); /* now, so that none of ours is dropped for another of ours */
    }
    for (size_t i = 0; status != ERR_NOMEM && i < count; i++) {
        windows[i] = find_or_add(limiter, claims[i].key);
        if (!windows[i]) {
            status = ERR_NOMEM;
            break;
        }
        limit_look(&claims[i], &windows[i]->state, now);
        status = claims[i].retry_after_ms ? ERR_LIMIT : status;
    }
    for (size_t i = 0; status == OK && i < count; i++) {
        limit_take(&claims[i], &windows[i]->state);
    }
    pthread_mutex_unlock(&limiter->lock);
    return status;
}

/* ---- rules ---- */

struct limit_rule {
    char tool[64];
    unsigned calls; /* 0: no limit */
    int64_t window_ms;
    bool for_all;
};

struct limit_rules {
    size_t count;
    struct limit_rule rules[LIMIT_WINDOW_RULES];
};

static bool read_number(const char *text, size_t length, unsigned *number)
{
    *number = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || *number > MOST_CALLS / 10) {
            return false;
        }
        *number = *number * 10 + (unsigned)(text[i] - '0');
    }
    return length > 0;
}

static bool read_window(const char *text, int64_t *window_ms)
{
    static const struct variable WINDOW = {
        .kind = VARIABLE_DURATION, .unit_ms = 1000, .least = 1000, .most = LONGEST_WINDOW};
    struct config_value value = {0};
    struct arena *arena = arena_new(KIB(16));
    bool good = arena && value_parse(&WINDOW, text, NULL, arena, &value) == OK;
    *window_ms = value.number;
    arena_free(arena);
    return good;
}

/* "tool=calls/time", or "tool=0". */
static bool read_rule(const char *item, struct limit_rule *rule)
{
    const char *equals = strchr(item, '=');
    size_t length = equals ? (size_t)(equals - item) : 0;
    if (length == 0 || length >= sizeof rule->tool) {
        return false;
    }
    memcpy(rule->tool, item, length);
    rule->tool[length] = '\0';
    const char *slash = strchr(equals, '/');
    size_t digits = slash ? (size_t)(slash - equals - 1) : strlen(equals + 1);
    if (!read_number(equals + 1, digits, &rule->calls)) {
        return false;
    }
    return slash ? read_window(slash + 1, &rule->window_ms) : rule->calls == 0;
}

static int add_rules(struct limit_rules *rules, const char *const *items, bool for_all,
                     const char *variable, char *problem, size_t size)
{
    for (; items && *items; items++) {
        struct limit_rule rule = {.for_all = for_all};
        if (!read_rule(*items, &rule)) {
            snprintf(problem, size,
                     "%s: \"%.80s\" is not tool=calls/time, such as " DEFAULT_LIMITS
                     " (time in ms, s, m or h; 0 calls: no limit)",
                     variable, *items);
            return ERR_INVALID;
        }
        if (rules->count == LIMIT_WINDOW_RULES) {
            snprintf(problem, size, "%s: more than %d limits", variable, LIMIT_WINDOW_RULES);
            return ERR_INVALID;
        }
        rules->rules[rules->count++] = rule;
    }
    return OK;
}

static bool names(const struct limit_rules *rules, const char *tool)
{
    for (size_t i = 0; i < rules->count; i++) {
        if (!rules->rules[i].for_all && strcmp(rules->rules[i].tool, tool) == 0) {
            return true;
        }
    }
    return false;
}

struct limit_rules *limit_rules_new(const char *const *own, const char *const *total, char *problem,
                                    size_t size)
{
    static const char *const DEFAULTS[] = {DEFAULT_LIMITS};
    struct limit_rules *rules = calloc(1, sizeof *rules);
    snprintf(problem, size, "out of memory");
    if (!rules || add_rules(rules, own, false, "FORAGE_LIMITS", problem, size) != OK ||
        add_rules(rules, total, true, "FORAGE_LIMITS_TOTAL", problem, size) != OK) {
        return limit_rules_free(rules);
    }
    for (size_t i = 0; i < sizeof DEFAULTS / sizeof *DEFAULTS; i++) {
        struct limit_rule rule = {0};
        if (read_rule(DEFAULTS[i], &rule) && !names(rules, rule.tool) &&
            rules->count < LIMIT_WINDOW_RULES) {
            rules->rules[rules->count++] = rule;
        }
    }
    return rules;
}

struct limit_rules *limit_rules_free(struct limit_rules *rules)
{
    free(rules);
    return NULL;
}

const char *limit_rules_tool(const struct limit_rules *rules, size_t index)
{
    return index < rules->count ? rules->rules[index].tool : NULL;
}

static bool holds(const struct limit_rule *rule, const char *tool)
{
    return rule->calls > 0 && (strcmp(rule->tool, "*") == 0 || strcmp(rule->tool, tool) == 0);
}

bool limit_rules_hold(const struct limit_rules *rules, const char *tool)
{
    for (size_t i = 0; i < rules->count; i++) {
        if (holds(&rules->rules[i], tool)) {
            return true;
        }
    }
    return false;
}

size_t limit_rules_claims(const struct limit_rules *rules, const char *caller, const char *tool,
                          struct limit_claim *claims)
{
    size_t count = 0;
    for (size_t i = 0; i < rules->count && count < LIMIT_WINDOW_RULE_CLAIMS; i++) {
        const struct limit_rule *rule = &rules->rules[i];
        if (!holds(rule, tool)) {
            continue;
        }
        struct limit_claim *claim = &claims[count++];
        *claim = (struct limit_claim){.tool = rule->tool,
                                      .calls = rule->calls,
                                      .window_ms = rule->window_ms,
                                      .for_all = rule->for_all};
        /* No caller's name holds a space, so that no caller can be taken for "all callers". */
        snprintf(claim->key, sizeof claim->key, "%s %s %lld",
                 rule->for_all ? "all callers" : caller, rule->tool, (long long)rule->window_ms);
    }
    return count;
}
