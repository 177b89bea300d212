/* What the files of the memory routes share: memories.c (the tools) and memory_lines.c (import and
 * export). */
#ifndef FORAGE_DOORS_MEMORIES_H
#define FORAGE_DOORS_MEMORIES_H

#include "doors/rest.h"

#define MEMORIES_PATH "/api/v1/memories"

/* A call that counts as one of that tool; NULL after answering. */
struct rest_call *memories_call(struct http_door *door, struct exchange *exchange,
                                const struct caller *caller, const char *tool);
/* The query of the request as arguments of the tool. OK, ERR_FAILED, ERR_NOMEM. */
int memories_arguments(struct rest_call *rest);

#endif
