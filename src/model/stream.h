/* Reads what a model sends, byte by byte: server-sent events, or one JSON text from a server that
 * does not stream. The same bytes give the same draft however they are cut. Pure. */
#ifndef FORAGE_MODEL_STREAM_H
#define FORAGE_MODEL_STREAM_H

#include "model/dialect.h"

struct stream;

/* NULL without memory. `arena` gets what stays. */
struct stream *stream_new(struct arena *arena, const struct dialect *dialect,
                          const struct model_provider *provider);
struct stream *stream_free(struct stream *stream);
/* False: nothing more is wanted. */
bool stream_feed(struct stream *stream, const char *data, size_t length);
/* Nothing more comes. The draft belongs to the stream. `problem` continues "the answer ...", and is
 * NULL where it is sound so far. */
struct draft *stream_end(struct stream *stream, const char **problem);
/* Characters of text, arguments and reasoning so far. */
size_t stream_heard(const struct stream *stream);

#endif
