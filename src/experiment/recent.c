/* Remembers the words of last searches. What a word is says index/words.h, so that another form of
 * a word is the same word, and words that say nothing do not count. */
#include "experiment/recent.h"

#include "core/hash.h"
#include "core/id.h"
#include "core/limits.h"
#include "core/sha256.h"
#include "index/words.h"
#include "text/text.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_CHARS 2000 /* of a query, */
#define LOOK_BYTES 4000 /* and so many bytes of them */

struct last {
    uint64_t unit; /* 0: free */
    int64_t at_ms;
    struct recent_query query;
};

struct recent {
    unsigned char key[SHA256_SIZE];
    pthread_mutex_t lock;
    struct last *units; /* LIMIT_EXPERIMENT_RECENT, each at the place that its hash says */
};

struct recent *recent_new(void)
{
    struct recent *recent = calloc(1, sizeof *recent);
    if (!recent) {
        return NULL;
    }
    pthread_mutex_init(&recent->lock, NULL);
    recent->units = calloc(LIMIT_EXPERIMENT_RECENT, sizeof *recent->units);
    return recent->units && id_random(recent->key, sizeof recent->key) == OK ? recent
                                                                             : recent_free(recent);
}

struct recent *recent_free(struct recent *recent)
{
    if (recent) {
        pthread_mutex_destroy(&recent->lock);
        free(recent->units);
        free(recent);
    }
    return NULL;
}

/* ---- words ---- */

struct query_taking {
    const struct recent *recent;
    struct recent_query *query;
};

static void add_word(struct recent_query *query, uint64_t word)
{
    size_t at = 0;
    while (at < query->count && query->words[at] < word) {
        at++;
    }
    if (query->count == RECENT_WORDS || (at < query->count && query->words[at] == word)) {
        return;
    }
    memmove(&query->words[at + 1], &query->words[at], (query->count - at) * sizeof word);
    query->words[at] = word;
    query->count++;
}

static int take_word(void *context, const struct word *word)
{
    const struct query_taking *taking = context;
    unsigned char digest[SHA256_SIZE];
    uint64_t number;
    if (!word->stop && (word->kind == WORD_PLAIN || word->kind == WORD_PAIR)) {
        sha256_hmac(taking->recent->key, sizeof taking->recent->key, word->term, word->length,
                    digest);
        memcpy(&number, digest, sizeof number);
        add_word(taking->query, number);
    }
    return OK;
}

int recent_add_words(const struct recent *recent, struct recent_query *query, const char *text)
{
    struct query_taking taking = {recent, query};
    char small[LOOK_BYTES]; /* capitals inside a word would make several of it */
    size_t all = strlen(text);
    size_t length = text_prefix(text, all < sizeof small ? all : sizeof small, LOOK_CHARS);
    for (size_t i = 0; i < length; i++) {
        small[i] = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] - 'A' + 'a') : text[i];
    }
    struct word_reader *reader = words_new();
    int status = reader ? words_each(reader, small, length, words_guess(reader, small, length),
                                     take_word, &taking)
                        : ERR_NOMEM;
    words_free(reader);
    return status;
}

/* ---- units ---- */

static bool words_anew(const struct recent_query *one, const struct recent_query *other)
{
    size_t both = 0;
    for (size_t i = 0, j = 0; i < one->count && j < other->count;) {
        both += one->words[i] == other->words[j];
        bool step = one->words[i] <= other->words[j];
        j += other->words[j] <= one->words[i];
        i += step;
    }
    size_t shorter = one->count < other->count ? one->count : other->count;
    bool same = both == one->count && both == other->count;
    return !same && 2 * both > shorter;
}

bool recent_take(struct recent *recent, const char *unit, const struct recent_query *query,
                 int64_t now_ms)
{
    uint64_t hash = hash_add(HASH_START, unit, strlen(unit)) | 1;
    struct last *last = &recent->units[(hash >> 1) % LIMIT_EXPERIMENT_RECENT];
    pthread_mutex_lock(&recent->lock);
    bool anew = last->unit == hash && now_ms - last->at_ms <= TIME_EXPERIMENT_RECENT_MS &&
                words_anew(&last->query, query);
    *last = (struct last){hash, now_ms, *query};
    pthread_mutex_unlock(&recent->lock);
    return anew;
}
