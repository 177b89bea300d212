/* Kept answers: a list with the last used first, short enough to be searched from its beginning. */
#include "ops/answers.h"

#include "core/clock.h"
#include "core/limits.h"
#include "registry/registry.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct stored_answer {
    struct stored_answer *next;
    unsigned char key[SHA256_SIZE];
    char caller[LIMIT_CALLER_NAME_CHARS + 1];
    int64_t ends_ms;
    size_t length;
    char json[];
};

struct answers {
    pthread_mutex_t lock;
    size_t count;
    size_t bytes;
    struct stored_answer *first;
};

struct answers *answers_new(void)
{
    struct answers *answers = calloc(1, sizeof *answers);
    if (answers) {
        pthread_mutex_init(&answers->lock, NULL);
    }
    return answers;
}

/* Takes the answer that `link` points to out of the list. */
static struct stored_answer *unlink_answer(struct answers *answers, struct stored_answer **link)
{
    struct stored_answer *answer = *link;
    *link = answer->next;
    answers->count--;
    answers->bytes -= answer->length;
    return answer;
}

static void link_first(struct answers *answers, struct stored_answer *answer)
{
    answer->next = answers->first;
    answers->first = answer;
    answers->count++;
    answers->bytes += answer->length;
}

struct answers *answers_free(struct answers *answers)
{
    if (answers) {
        while (answers->first) {
            free(unlink_answer(answers, &answers->first));
        }
        pthread_mutex_destroy(&answers->lock);
        free(answers);
    }
    return NULL;
}

/* ---- names ---- */

/* White space becomes single blanks, none at the ends; letters of ASCII become small. */
static void add_evened(struct buf *out, const char *text)
{
    bool blank = false;
    size_t start = out->length;
    for (; *text; text++) {
        char c = *text;
        if (strchr(" \t\r\n\f\v", c)) {
            blank = out->length > start;
            continue;
        }
        if (blank) {
            buf_putc(out, ' ');
            blank = false;
        }
        buf_putc(out, c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c);
    }
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(yyjson_get_str(*(yyjson_val *const *)a), yyjson_get_str(*(yyjson_val *const *)b));
}

static int write_arguments(struct buf *out, struct arena *arena, yyjson_val *arguments)
{
    size_t count = yyjson_obj_size(arguments);
    yyjson_val **keys = arena_alloc(arena, (count + 1) * sizeof(*keys));
    if (!keys) {
        return ERR_NOMEM;
    }
    size_t i = 0;
    yyjson_val *key;
    yyjson_obj_iter each = yyjson_obj_iter_with(arguments);
    while ((key = yyjson_obj_iter_next(&each)) != NULL) {
        keys[i++] = key;
    }
    qsort(keys, count, sizeof *keys, compare_keys);
    const char *query = registry_query_of(arguments);
    for (i = 0; i < count; i++) {
        yyjson_val *value = yyjson_obj_iter_get_val(keys[i]);
        buf_putc(out, '\n');
        buf_append(out, yyjson_get_str(keys[i]), yyjson_get_len(keys[i]));
        buf_putc(out, '=');
        if (query && yyjson_get_str(value) == query) {
            add_evened(out, query);
        } else {
            json_write_immutable(out, arena, value);
        }
    }
    return buf_error(out);
}

bool answers_key(unsigned char key[SHA256_SIZE], struct arena *arena, const char *caller,
                 const char *tool, yyjson_val *arguments)
{
    struct buf text;
    buf_init(&text, LIMIT_MESSAGE_BYTES);
    buf_printf(&text, "%s\n%s", caller, tool);
    bool made = write_arguments(&text, arena, arguments) == OK;
    if (made) {
        struct sha256 sha;
        sha256_init(&sha);
        sha256_add(&sha, text.data, text.length);
        sha256_end(&sha, key);
    }
    buf_done(&text);
    return made;
}

/* ---- finding and keeping ---- */

static struct stored_answer **find(struct answers *answers, const unsigned char key[SHA256_SIZE])
{
    struct stored_answer **link = &answers->first;
    while (*link && memcmp((*link)->key, key, SHA256_SIZE) != 0) {
        link = &(*link)->next;
    }
    return link;
}

const char *answers_find(struct answers *answers, const unsigned char key[SHA256_SIZE],
                         struct arena *arena, size_t *length)
{
    const char *copy = NULL;
    pthread_mutex_lock(&answers->lock);
    struct stored_answer **link = find(answers, key);
    if (*link && (*link)->ends_ms <= clock_now_ms()) {
        free(unlink_answer(answers, link));
    } else if (*link) {
        struct stored_answer *answer = unlink_answer(answers, link);
        link_first(answers, answer);
        copy = arena_strndup(arena, answer->json, answer->length);
        *length = answer->length;
    }
    pthread_mutex_unlock(&answers->lock);
    return copy;
}

static void drop_last(struct answers *answers)
{
    struct stored_answer **link = &answers->first;
    while ((*link)->next) {
        link = &(*link)->next;
    }
    free(unlink_answer(answers, link));
}

void answers_forget(struct answers *answers, const char *caller)
{
    pthread_mutex_lock(&answers->lock);
    for (struct stored_answer **link = &answers->first; *link;) {
        if (strcmp((*link)->caller, caller) == 0) {
            free(unlink_answer(answers, link));
        } else {
            link = &(*link)->next;
        }
    }
    pthread_mutex_unlock(&answers->lock);
}

void answers_keep(struct answers *answers, const char *caller, const unsigned char key[SHA256_SIZE],
                  const char *json, size_t length, int64_t keep_ms)
{
    struct stored_answer *answer =
        length <= LIMIT_KEPT_ANSWER_BYTES ? malloc(sizeof *answer + length) : NULL;
    if (!answer) {
        return;
    }
    memcpy(answer->key, key, SHA256_SIZE);
    snprintf(answer->caller, sizeof answer->caller, "%s", caller);
    memcpy(answer->json, json, length);
    answer->length = length;
    answer->ends_ms = clock_now_ms() + keep_ms;
    pthread_mutex_lock(&answers->lock);
    struct stored_answer **link = find(answers, key);
    if (*link) {
        free(unlink_answer(answers, link));
    }
    link_first(answers, answer);
    while (answers->count > LIMIT_KEPT_ANSWERS || answers->bytes > LIMIT_KEPT_ANSWERS_BYTES) {
        drop_last(answers);
    }
    pthread_mutex_unlock(&answers->lock);
}
