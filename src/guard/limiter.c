/* Fixed windows in a hash table of bounded size. When it is full the window that ends first makes
 * room: its caller loses at most the memory of a window that was about to end. */
#include "guard/limiter.h"

#include "core/clock.h"
#include "core/limits.h"
#include "core/status.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 1024

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
    bool used_up = window->used >= (int64_t)claim->calls;
    claim->left = used_up ? 0 : claim->calls - (unsigned)window->used;
    claim->retry_after_ms = used_up ? window->ends_ms - now_ms : 0;
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
        windows[i]->state.used++;
        claims[i].left--;
    }
    pthread_mutex_unlock(&limiter->lock);
    return status;
}
