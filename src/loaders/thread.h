/* A conversation as Markdown: what was said, who answered whom, as a list whose items nest. Loaders
 * of forums put its posts in, in the order in which they should be read. */
#ifndef FORAGE_LOADERS_THREAD_H
#define FORAGE_LOADERS_THREAD_H

#include "core/arena.h"
#include "core/buf.h"
#include "core/status.h"
#include "html/document.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One post. Texts may be NULL and must live as long as the thread. */
struct thread_post {
    const char *id;
    const char *parent; /* the id of a post that was added before; else it stands at the top */
    const char *author;
    const char *date; /* ISO; its day is shown */
    int64_t score;    /* shown where `scored` says so */
    bool scored;
    const char *remark;   /* further words beside the date */
    const char *html;     /* its text, */
    const char *markdown; /* and this behind it */
};

struct thread {
    struct arena *arena;
    struct thread_post *posts;
    size_t count, capacity;
    size_t left; /* that came beyond LIMIT_THREAD_POSTS */
};

/* OK or ERR_NOMEM. */
MUST_CHECK int thread_add(struct thread *thread, const struct thread_post *post);
/* Appends the list, links being relative to `url`. OK or ERR_NOMEM. */
MUST_CHECK int thread_write(const struct thread *thread, struct buf *out, const char *url);
/* Ends a document with the thread under a heading, if it has posts, and with `missing` (or NULL) in
 * a line of its own. A `status` that is not OK comes back, and the buffer is freed. OK or
 * ERR_NOMEM.
 */
MUST_CHECK int thread_end(const struct thread *thread, struct buf *out, const char *heading,
                          const char *missing, int status, struct document *document);
/* Appends what was said where a thread begins, with headings that go down by one level. OK or
 * ERR_NOMEM. */
MUST_CHECK int thread_write_text(struct arena *arena, struct buf *out, const char *html,
                                 const char *markdown, const char *url);

#endif
