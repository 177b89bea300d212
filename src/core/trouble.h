/* What does not work now, for whoever watches the server: the log says when a trouble began and
 * with what details; this says that it lasts. A part has one trouble at a time, in words without
 * paths and secrets, since every caller may read them. Of the process, like the log. */
#ifndef FORAGE_CORE_TROUBLE_H
#define FORAGE_CORE_TROUBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TROUBLES          16 /* parts that can have one; a further one is only in the log */
#define TROUBLE_WORD_SIZE 256

struct trouble {
    const char *part; /* a constant: "the memory store" */
    char words[TROUBLE_WORD_SIZE];
    int64_t since_ms; /* by the monotonic clock */
};

/* Begins the part's trouble, or says it in newer words; true when it had none. Any thread. */
bool trouble_begin(const char *part, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* True when there was one. Costs nothing where no part has any. */
bool trouble_end(const char *part);
/* Copies those that last; how many. */
size_t troubles_copy(struct trouble troubles[TROUBLES]);

#endif
