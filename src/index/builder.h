/* A builder: collects entries and makes a segment of them. */
#ifndef FORAGE_INDEX_BUILDER_H
#define FORAGE_INDEX_BUILDER_H

#include "index/index.h"

struct builder;

struct builder *builder_new(void);
struct builder *builder_free(struct builder *builder);
/* The id must not be there. OK, ERR_NOMEM, ERR_LIMIT; after a failure the entry is not in it. */
int builder_put(struct builder *builder, const struct index_entry *entry);
/* Whether it was there. */
bool builder_remove(struct builder *builder, int64_t id);
/* Entries that are in it. */
uint32_t builder_count(const struct builder *builder);
/* Whether it holds as much as a segment should. */
bool builder_full(const struct builder *builder);
size_t builder_bytes(const struct builder *builder);
/* A segment of all that is in it, for free(); it is empty afterwards, whatever comes of it, and
 * holds no memory worth mentioning. OK, ERR_NOMEM, ERR_LIMIT. */
int builder_seal(struct builder *builder, uint8_t **bytes, size_t *length);

#endif
