/* Meaning: texts as vectors, which point the same way where the texts mean the same. Whoever wants
 * vectors asks here, and does not know where they come from: an endpoint that the operator chose
 * (FORAGE_EMBEDDINGS_URL), or else the model of this machine (model.h). Where there is neither,
 * words rank alone.
 *
 * Texts leave the machine when an endpoint is set. It is asked with time limits and behind a
 * circuit breaker, so that a dead one costs nobody more than a moment. */
#ifndef FORAGE_MEANING_MEANING_H
#define FORAGE_MEANING_MEANING_H

#include "call/call.h"
#include "text/slice.h"

struct upstreams; /* guard/breaker.h */

#define MEANING_PROBLEM_SIZE 256

struct meaning;

/* Opens nothing. NULL without memory. */
struct meaning *meaning_new(struct upstreams *upstreams);
struct meaning *meaning_free(struct meaning *meaning);

/* Whether there is one of the two; opens nothing. Here and below NULL has neither. */
bool meaning_is_there(struct meaning *meaning);
/* Whether vectors are made on this machine, so that texts do not leave it; opens nothing. */
bool meaning_is_here(struct meaning *meaning);
/* The name of the model, which goes with its vectors: those of two names cannot be compared. Opens
 * the model of this machine where it is needed. NULL: there is none. */
const char *meaning_model(struct meaning *meaning);

/* What a status tells: the source of vectors is an "endpoint" or a "model", or NULL: words rank
 * alone. Opens nothing. */
struct meaning_about {
    const char *source;
    char model[256];     /* its name; "": the file is none */
    const char *kernels; /* of this machine's model, the processor's kind that it computes for */
    const char *install; /* without a source, the command that brings a model */
};

void meaning_describe(struct meaning *meaning, struct meaning_about *about);

/* Vectors of length 1, one after the other, in the call's arena. */
struct meaning_vectors {
    const float *numbers;
    size_t dimensions; /* of each */
};

/* The vectors of at most LIMIT_MEANING_TEXTS texts that are kept. OK; ERR_INVALID where the texts
 * are refused and would be again; ERR_IO with the reason in `problem` where there is no vector now;
 * as of the call. */
MUST_CHECK int meaning_of_texts(struct call *call, const struct slice *texts, size_t count,
                                struct meaning_vectors *vectors, char *problem, size_t size);
/* The vector of a question, by the model of that name; the last ones are remembered. An endpoint is
 * waited for until then, as clock_now_ms() counts. The same otherwise. */
MUST_CHECK int meaning_of_query(struct call *call, const char *model, const char *query,
                                int64_t until_ms, struct meaning_vectors *vector, char *problem,
                                size_t size);

#endif
