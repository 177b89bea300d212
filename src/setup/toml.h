/* Editing TOML: one table of two names, [mcp_servers.forage], or one key of it, is set or taken
 * out, and everything else stays byte for byte. The functions are those of jsonc.h: a path of
 * `depth` 2 names the table, one of 3 a key of it.
 *
 * A table that is written in another way - as an inline table, or by dotted keys - is not touched:
 * ERR_UNSUPPORTED, with the place and the reason. Every function also returns ERR_INVALID when the
 * document is broken. */
#ifndef FORAGE_SETUP_TOML_H
#define FORAGE_SETUP_TOML_H

#include "core/arena.h"
#include "core/buf.h"
#include "setup/document.h"

/* Where the table is, from its header to its last line, or the value of the key. ERR_NOTFOUND when
 * it is not there. */
int toml_get(const char *text, size_t length, const char *const *path, size_t depth,
             struct document_span *value, struct document_problem *problem);
/* Appends the document to `out`: with the table, which must not be there, at its end, `value`
 * holding its lines, each of which ends in \n; or with the key set in the table, which must be
 * there. */
int toml_set(const char *text, size_t length, const char *const *path, size_t depth,
             const char *value, struct buf *out, struct document_problem *problem);
/* Appends the document to `out` without the table and the tables below it, or without the key.
 * ERR_NOTFOUND when it is not there. */
int toml_remove(const char *text, size_t length, const char *const *path, size_t depth,
                struct buf *out, struct document_problem *problem);

/* A value that is a string, or an array of strings: its texts in the arena. How many there are, at
 * most `most`; ERR_INVALID when it is something else. */
int toml_strings(struct arena *arena, const char *text, struct document_span value,
                 const char **strings, size_t most);

#endif
