/* Circuit breakers of providers, and what is known of models, for all calls of a program. */
#include "model/shared.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* What one model, at one address, was seen to refuse. */
struct lesson {
    char *label, *address;
    unsigned refused;
    int64_t most_tokens;
    int64_t learned_ms; /* the last of it */
};

struct models {
    struct breakers *breakers;
    pthread_mutex_t lock;
    size_t count;
    struct lesson lessons[LIMIT_BREAKERS];
};

struct models *models_new(struct upstreams *upstreams)
{
    struct models *models = malloc(sizeof *models);
    if (!models) {
        return NULL;
    }
    memset(models, 0, offsetof(struct models, lessons));
    pthread_mutex_init(&models->lock, NULL);
    models->breakers = breakers_new(upstreams, "model", BREAKER_FAILURES, BREAKER_PAUSE_MS, NULL);
    return models->breakers ? models : models_free(models);
}

struct models *models_free(struct models *models)
{
    if (models) {
        for (size_t i = 0; i < models->count; i++) {
            free(models->lessons[i].label);
            free(models->lessons[i].address);
        }
        breakers_free(models->breakers);
        pthread_mutex_destroy(&models->lock);
        free(models);
    }
    return NULL;
}

/* The lesson about a model; NULL: there is none. Under the lock. */
static struct lesson *find(struct models *models, const struct model *model)
{
    for (size_t i = 0; i < models->count; i++) {
        struct lesson *lesson = &models->lessons[i];
        if (strcmp(lesson->label, model->label) == 0 &&
            strcmp(lesson->address, model->address) == 0) {
            return lesson;
        }
    }
    return NULL;
}

/* A new one, or NULL where there is no room: then the next call learns it again. */
static struct lesson *add(struct models *models, const struct model *model)
{
    if (models->count == LIMIT_BREAKERS) {
        return NULL;
    }
    struct lesson made = {.label = strdup(model->label), .address = strdup(model->address)};
    if (!made.label || !made.address) {
        free(made.label);
        free(made.address);
        return NULL;
    }
    models->lessons[models->count] = made;
    return &models->lessons[models->count++];
}

/* What is too old is forgotten as a whole: the next refusal teaches it anew. Under the lock. */
static void forget_old(struct lesson *lesson, int64_t now_ms)
{
    if (lesson && now_ms - lesson->learned_ms > TIME_REPLY_LESSON_MS) {
        lesson->refused = 0;
        lesson->most_tokens = 0;
    }
}

void models_recall(struct models *models, struct model *model, int64_t now_ms)
{
    if (!models) {
        return;
    }
    pthread_mutex_lock(&models->lock);
    struct lesson *lesson = find(models, model);
    forget_old(lesson, now_ms);
    if (lesson) {
        atomic_fetch_or(&model->refused, lesson->refused);
        if (lesson->most_tokens) {
            atomic_store(&model->most_tokens, lesson->most_tokens);
        }
    }
    pthread_mutex_unlock(&models->lock);
}

void models_learn(struct models *models, const struct model *model, unsigned refused,
                  int64_t most_tokens, int64_t now_ms)
{
    if (!models || (!refused && !most_tokens)) {
        return;
    }
    pthread_mutex_lock(&models->lock);
    struct lesson *lesson = find(models, model);
    forget_old(lesson, now_ms);
    lesson = lesson ? lesson : add(models, model);
    if (lesson) {
        lesson->refused |= refused;
        lesson->most_tokens = most_tokens ? most_tokens : lesson->most_tokens;
        lesson->learned_ms = now_ms;
    }
    pthread_mutex_unlock(&models->lock);
}

int models_admit(struct models *models, const struct model *model, int64_t *wait_ms)
{
    if (!models || breaker_admit(models->breakers, model->address)) {
        return OK;
    }
    *wait_ms = breaker_wait_ms(models->breakers, model->address);
    return ERR_BUSY;
}

void models_report(struct models *models, const struct model *model, enum breaker_result result,
                   const char *trouble)
{
    if (models) {
        breaker_report(models->breakers, model->address, result);
    }
    if (models && trouble) {
        breaker_complain(models->breakers, model->address, trouble);
    }
}
