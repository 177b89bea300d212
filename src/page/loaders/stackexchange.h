/* Questions and answers of the StackExchange sites: which site and post a URL names, and how a
 * thread is written. stackexchange.c asks the service. */
#ifndef FORAGE_PAGE_LOADERS_STACKEXCHANGE_H
#define FORAGE_PAGE_LOADERS_STACKEXCHANGE_H

#include "page/document.h"
#include "text/json.h"
#include "text/url.h"

struct stackexchange_post {
    char site[URL_HOST_SIZE]; /* the host, as the interface takes it */
    const char *id;           /* digits in the URL's path, */
    size_t id_length;
    bool is_answer;   /* of an answer, whose question is not known */
    long long linked; /* the answer that the URL points at, or 0 */
};

/* Whether the URL is a question or an answer of one of the sites, and which. Pure. */
bool stackexchange_find(const struct url *url, struct stackexchange_post *post);

/* What the interface answered about a question. */
struct stackexchange_thread {
    yyjson_val *question;
    yyjson_val **answers;
    size_t answer_count;
    yyjson_val **comments; /* of the question and of the answers, each with its post_id */
    size_t comment_count;
    long long linked;
    const char *missing; /* words on what could not be read, or NULL */
};

/* The thread as Markdown: the question, the accepted answer, the others by score, each with its
 * comments. Sorts `answers`. OK, ERR_NOMEM. */
int stackexchange_write(struct arena *arena, struct stackexchange_thread *thread,
                        struct document *document);

#endif
