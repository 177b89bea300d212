/* The prompt of a worker: a template of ours or the user's own, with the caller's words put in so
 * that they stay words. */
#ifndef FORAGE_RESEARCH_PROMPT_H
#define FORAGE_RESEARCH_PROMPT_H

#include "core/arena.h"
#include "core/buf.h"

/* What fills a template's places. The question is the caller's and is put between two tags with a
 * number that nobody can guess; it cannot pull in files (@) and is not looked at for places again.
 */
struct prompt_values {
    const char *question; /* {{query}}, {query}, {{topic}} or {topic} */
    const char *depth;    /* {depth}; "" where there is none */
    const char *model;    /* {model} */
    int max_rounds;       /* {max_iterations} */
};

/* Fills a template; `tag` is the number, the same for every try of a call. A template without a
 * place for the question gets it at its end. A status. */
int prompt_fill(struct buf *out, const char *template, const struct prompt_values *values,
                const char *tag);
/* The template in the file NAME.md of `folder`, or `built_in` where there is none; text in the
 * arena or `built_in` itself. A file that cannot be read counts as none. */
const char *prompt_template(struct arena *arena, const char *folder, const char *name,
                            const char *built_in);

#endif
