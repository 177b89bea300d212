/* Editing TOML: one table of two names, [mcp_servers.forage], is added, changed or taken out, and
 * everything else stays byte for byte.
 *
 * A table that is written in another way - as an inline table, or by dotted keys - is not touched:
 * ERR_UNSUPPORTED, with the place and the reason. Every function also returns ERR_INVALID when the
 * document is broken. */
#ifndef FORAGE_SETUP_TOML_H
#define FORAGE_SETUP_TOML_H

#include "core/arena.h"
#include "core/buf.h"
#include "setup/document.h"

/* Where the table is, from its header to its last line. ERR_NOTFOUND when it is not there. */
int toml_find(const char *text, size_t length, const char *const path[2],
              struct document_span *table, struct document_problem *problem);
/* Appends the document to `out` with the table, which must not be there, at its end. `body` holds
 * its lines, each of which ends in \n. */
int toml_add(const char *text, size_t length, const char *const path[2], const char *body,
             struct buf *out, struct document_problem *problem);
/* Appends the document to `out` without the table and the tables below it. */
int toml_remove(const char *text, size_t length, const char *const path[2], struct buf *out,
                struct document_problem *problem);

/* Where the value of a key of the table is. ERR_NOTFOUND when it or the table is not there. */
int toml_get(const char *text, size_t length, const char *const path[2], const char *key,
             struct document_span *value, struct document_problem *problem);
/* Appends the document to `out` with a key of the table set, which must be there. */
int toml_set(const char *text, size_t length, const char *const path[2], const char *key,
             const char *value, struct buf *out, struct document_problem *problem);
/* Appends the document to `out` without the key. ERR_NOTFOUND when it is not there. */
int toml_unset(const char *text, size_t length, const char *const path[2], const char *key,
               struct buf *out, struct document_problem *problem);

/* A value that is a string, or an array of strings: its texts in the arena. How many there are, at
 * most `most`; ERR_INVALID when it is something else. */
int toml_strings(struct arena *arena, const char *text, struct document_span value,
                 const char **strings, size_t most);

#endif
