/* A short table under one lock; the count of its rows is read without it, so that whoever reports
 * success all the time does not wait for anybody. */
#include "core/trouble.h"

#include "core/clock.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct trouble table[TROUBLES];
static _Atomic size_t count;

/* With the lock held. */
static struct trouble *find(const char *part)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(table[i].part, part) == 0) {
            return &table[i];
        }
    }
    return NULL;
}

bool trouble_begin(const char *part, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pthread_mutex_lock(&lock);
    struct trouble *trouble = find(part);
    bool begins = !trouble;
    if (!trouble && count < TROUBLES) {
        trouble = &table[count++];
        *trouble = (struct trouble){.part = part, .since_ms = clock_now_ms()};
    }
    if (trouble) {
        vsnprintf(trouble->words, sizeof trouble->words, format, arguments);
    }
    pthread_mutex_unlock(&lock);
    va_end(arguments);
    return begins;
}

bool trouble_end(const char *part)
{
    if (count == 0) {
        return false;
    }
    pthread_mutex_lock(&lock);
    struct trouble *trouble = find(part);
    if (trouble) {
        *trouble = table[--count];
    }
    pthread_mutex_unlock(&lock);
    return trouble != NULL;
}

size_t troubles_copy(struct trouble troubles[TROUBLES])
{
    pthread_mutex_lock(&lock);
    size_t copied = count;
    memcpy(troubles, table, copied * sizeof *table);
    pthread_mutex_unlock(&lock);
    return copied;
}
