/* Fixed windows in a hash table of bounded size. When it is full the window that ends first makes
 * room: its caller loses at most the memory of a window that was about to end. */
#include "guard/limiter.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/status.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_CHARS 128
#define BUCKETS   1024

struct window {
    char key[KEY_CHARS];
    int64_t ends_ms;
    unsigned used;
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
            if (!earliest || (*link)->ends_ms < (*earliest)->ends_ms) {
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
    if (limiter->count >= LIMIT_WINDOW_KEYS) {
        drop_earliest(limiter);
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

int limiter_take(struct limiter *limiter, const char *caller, const char *action, unsigned calls,
                 int64_t window_ms, struct limit_state *state)
{
    char key[KEY_CHARS];
    snprintf(key, sizeof key, "%s %s", caller, action);
    int64_t now = clock_now_ms();
    int status = OK;
    *state = (struct limit_state){0};
    pthread_mutex_lock(&limiter->lock);
    struct window *window = find_or_add(limiter, key);
    if (!window) {
        status = ERR_NOMEM;
    } else {
        if (window->ends_ms <= now) {
            window->ends_ms = now + window_ms;
            window->used = 0;
        }
        if (window->used < calls) {
            window->used++;
        } else {
            status = ERR_BUSY;
            state->retry_after_ms = window->ends_ms - now;
        }
        state->left = calls - window->used;
    }
    pthread_mutex_unlock(&limiter->lock);
    return status;
}
