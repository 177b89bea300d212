/* A few idle readers on a pile: the one that was used last is taken first. */
#include "memory/readers.h"

#include "core/limits.h"

#include <pthread.h>
#include <stdlib.h>

struct readers {
    pthread_mutex_t lock;
    struct word_reader *idle[LIMIT_MEMORY_IDLE_READERS];
    size_t count;
};

struct readers *readers_new(void)
{
    struct readers *readers = calloc(1, sizeof *readers);
    if (readers) {
        pthread_mutex_init(&readers->lock, NULL);
    }
    return readers;
}

void readers_rest(struct readers *readers)
{
    pthread_mutex_lock(&readers->lock);
    while (readers->count > 0) {
        words_free(readers->idle[--readers->count]);
    }
    pthread_mutex_unlock(&readers->lock);
}

struct readers *readers_free(struct readers *readers)
{
    if (readers) {
        readers_rest(readers);
        pthread_mutex_destroy(&readers->lock);
        free(readers);
    }
    return NULL;
}

struct word_reader *readers_borrow(struct readers *readers)
{
    pthread_mutex_lock(&readers->lock);
    struct word_reader *reader = readers->count > 0 ? readers->idle[--readers->count] : NULL;
    pthread_mutex_unlock(&readers->lock);
    return reader ? reader : words_new();
}

void readers_return(struct readers *readers, struct word_reader *reader)
{
    pthread_mutex_lock(&readers->lock);
    bool kept = reader && readers->count < LIMIT_MEMORY_IDLE_READERS;
    if (kept) {
        readers->idle[readers->count++] = reader;
    }
    pthread_mutex_unlock(&readers->lock);
    if (!kept) {
        words_free(reader);
    }
}
