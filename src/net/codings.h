/* Content codings: what a server has compressed is unpacked as it comes, and is whole only when
 * each compressed stream has ended as its format says. libcurl would do the first; of a stream that
 * was cut off, its older versions take what there is for all of it. */
#ifndef FORAGE_NET_CODINGS_H
#define FORAGE_NET_CODINGS_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>

/* What is asked for, as the value of Accept-Encoding. */
#define CODINGS_TAKEN "gzip, deflate"

/* Those of one answer; NULL: there are none. */
struct codings;

/* Takes what was unpacked; false: no more is wanted. */
typedef bool (*codings_sink)(void *context, const char *data, size_t length);

/* Adds what one line of Content-Encoding names, in its order. What no server may mean by it
 * ("UTF-8") stands for nothing, as in browsers. OK; ERR_UNSUPPORTED when it is a coding that was
 * not asked for, which `wrong` names then; ERR_INVALID when there are too many; ERR_NOMEM. */
MUST_CHECK int codings_add(struct codings **codings, const char *names, const char **wrong);
/* OK; ERR_INVALID when the bytes are not what they should be; ERR_LIMIT when a stream is longer
 * than `most` bytes, or the sink wants no more; ERR_NOMEM. */
MUST_CHECK int codings_unpack(struct codings *codings, const char *data, size_t length, size_t most,
                              codings_sink sink, void *context);
/* Whether all that was begun has ended. */
bool codings_ended(const struct codings *codings);
struct codings *codings_free(struct codings *codings);

#endif
