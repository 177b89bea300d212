/* A short list of upstreams, each with its failures in a row and the time until which it rests. */
#include "guard/breaker.h"

#include "core/clock.h"
#include "core/limits.h"
#include "text/text.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_CHARS    64
#define TROUBLE_CHARS 240

struct breaker {
    char name[NAME_CHARS];
    unsigned failures; /* in a row */
    bool open;
    bool trying;         /* half-open, and somebody is at it */
    int64_t rests_until; /* while open */
    int64_t answered_ms, trouble_ms;
    char *trouble; /* NULL: nothing went wrong */
};

struct breakers {
    struct upstreams *upstreams; /* or NULL */
    struct breakers *next;       /* of those */
    const char *kind;
    pthread_mutex_t lock;
    unsigned most_failures;
    int64_t pause_ms;
    int64_t (*now_ms)(void);
    size_t count;
    struct breaker list[LIMIT_BREAKERS];
};

struct upstreams {
    pthread_mutex_t lock;
    struct breakers *first;
};

/* ---- all of a program ---- */

struct upstreams *upstreams_new(void)
{
    struct upstreams *upstreams = calloc(1, sizeof *upstreams);
    if (upstreams) {
        pthread_mutex_init(&upstreams->lock, NULL);
    }
    return upstreams;
}

struct upstreams *upstreams_free(struct upstreams *upstreams)
{
    if (upstreams) {
        pthread_mutex_destroy(&upstreams->lock);
        free(upstreams);
    }
    return NULL;
}

static void join(struct upstreams *upstreams, struct breakers *breakers)
{
    pthread_mutex_lock(&upstreams->lock);
    breakers->upstreams = upstreams;
    breakers->next = upstreams->first;
    upstreams->first = breakers;
    pthread_mutex_unlock(&upstreams->lock);
}

static void leave(struct upstreams *upstreams, const struct breakers *breakers)
{
    pthread_mutex_lock(&upstreams->lock);
    struct breakers **link = &upstreams->first;
    while (*link != breakers) {
        link = &(*link)->next;
    }
    *link = breakers->next;
    pthread_mutex_unlock(&upstreams->lock);
}

static void show_all(struct breakers *breakers,
                     void (*show)(void *context, const struct upstream *upstream), void *context)
{
    pthread_mutex_lock(&breakers->lock);
    for (size_t i = 0; i < breakers->count; i++) {
        const struct breaker *breaker = &breakers->list[i];
        int64_t left = breaker->open ? breaker->rests_until - breakers->now_ms() : 0;
        show(context, &(struct upstream){.kind = breakers->kind,
                                         .name = breaker->name,
                                         .rests_ms = left > 0 ? left : 0,
                                         .failures = breaker->failures,
                                         .answered_ms = breaker->answered_ms,
                                         .trouble = breaker->trouble ? breaker->trouble : "",
                                         .trouble_ms = breaker->trouble_ms});
    }
    pthread_mutex_unlock(&breakers->lock);
}

void upstreams_look(struct upstreams *upstreams,
                    void (*show)(void *context, const struct upstream *upstream), void *context)
{
    pthread_mutex_lock(&upstreams->lock);
    for (struct breakers *each = upstreams->first; each; each = each->next) {
        show_all(each, show, context);
    }
    pthread_mutex_unlock(&upstreams->lock);
}

/* ---- one set ---- */

struct breakers *breakers_new(struct upstreams *upstreams, const char *kind, unsigned failures,
                              int64_t pause_ms, int64_t (*now_ms)(void))
{
    /* Rows of the list are cleared when they are taken. */
    struct breakers *breakers = malloc(sizeof *breakers);
    if (breakers) {
        memset(breakers, 0, offsetof(struct breakers, list));
        pthread_mutex_init(&breakers->lock, NULL);
        breakers->kind = kind;
        breakers->most_failures = failures;
        breakers->pause_ms = pause_ms;
        breakers->now_ms = now_ms ? now_ms : clock_now_ms;
        if (upstreams) {
            join(upstreams, breakers);
        }
    }
    return breakers;
}

struct breakers *breakers_free(struct breakers *breakers)
{
    if (breakers) {
        if (breakers->upstreams) {
            leave(breakers->upstreams, breakers);
        }
        for (size_t i = 0; i < breakers->count; i++) {
            free(breakers->list[i].trouble);
        }
        pthread_mutex_destroy(&breakers->lock);
        free(breakers);
    }
    return NULL;
}

/* With the lock held; NULL when the list is full. */
static struct breaker *find(struct breakers *breakers, const char *upstream)
{
    for (size_t i = 0; i < breakers->count; i++) {
        if (strncmp(breakers->list[i].name, upstream, NAME_CHARS - 1) == 0) {
            return &breakers->list[i];
        }
    }
    if (breakers->count == LIMIT_BREAKERS) {
        return NULL;
    }
    struct breaker *breaker = &breakers->list[breakers->count++];
    *breaker = (struct breaker){0};
    snprintf(breaker->name, sizeof breaker->name, "%s", upstream);
    return breaker;
}

bool breaker_admit(struct breakers *breakers, const char *upstream)
{
    pthread_mutex_lock(&breakers->lock);
    struct breaker *breaker = find(breakers, upstream);
    bool admitted = true;
    if (breaker && breaker->open) {
        admitted = !breaker->trying && breakers->now_ms() >= breaker->rests_until;
        breaker->trying |= admitted;
    }
    pthread_mutex_unlock(&breakers->lock);
    return admitted;
}

void breaker_report(struct breakers *breakers, const char *upstream, enum breaker_result result)
{
    pthread_mutex_lock(&breakers->lock);
    struct breaker *breaker = find(breakers, upstream);
    if (breaker && result == BREAKER_ANSWERED) {
        breaker->answered_ms = clock_wall_ms();
        breaker->failures = 0;
        breaker->open = false;
        breaker->trying = false;
    } else if (breaker && result == BREAKER_FAILED) {
        breaker->failures++;
        if (breaker->trying || breaker->failures >= breakers->most_failures) {
            breaker->open = true;
            breaker->trying = false;
            breaker->rests_until = breakers->now_ms() + breakers->pause_ms;
        }
    } else if (breaker) {
        breaker->trying = false;
    }
    pthread_mutex_unlock(&breakers->lock);
}

void breaker_rest(struct breakers *breakers, const char *upstream, int64_t rest_ms)
{
    pthread_mutex_lock(&breakers->lock);
    struct breaker *breaker = find(breakers, upstream);
    if (breaker) {
        int64_t until = breakers->now_ms() + rest_ms;
        breaker->rests_until =
            breaker->open && breaker->rests_until > until ? breaker->rests_until : until;
        breaker->open = true;
        breaker->trying = false;
    }
    pthread_mutex_unlock(&breakers->lock);
}

void breaker_complain(struct breakers *breakers, const char *upstream, const char *words)
{
    pthread_mutex_lock(&breakers->lock);
    struct breaker *breaker = find(breakers, upstream);
    if (breaker) {
        free(breaker->trouble);
        breaker->trouble = strndup(words, text_prefix(words, strlen(words), TROUBLE_CHARS));
        breaker->trouble_ms = clock_wall_ms();
    }
    pthread_mutex_unlock(&breakers->lock);
}

int64_t breaker_wait_ms(struct breakers *breakers, const char *upstream)
{
    pthread_mutex_lock(&breakers->lock);
    struct breaker *breaker = find(breakers, upstream);
    int64_t wait = 0;
    if (breaker && breaker->open) {
        int64_t left = breaker->rests_until - breakers->now_ms();
        wait = left > 0 ? left : 0;
    }
    pthread_mutex_unlock(&breakers->lock);
    return wait;
}
