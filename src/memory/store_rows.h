/* How parts of a memory are written into columns, the same for every database. */
#ifndef FORAGE_MEMORY_STORE_ROWS_H
#define FORAGE_MEMORY_STORE_ROWS_H

#include "core/sha256.h"
#include "memory/memory.h"

/* By which a text is known again. */
void store_digest(const char *text, unsigned char digest[SHA256_SIZE]);

/* Tags as a JSON array; NULL in `text` for none. To be freed. OK or ERR_NOMEM. */
int store_tags_write(const struct memory *memory, char **text);
/* Fills the memory's tags. OK, ERR_NOMEM; what is no array of strings counts as none. */
int store_tags_read(struct arena *arena, const char *text, struct memory *memory);

#endif
