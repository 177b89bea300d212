/* JSON, a thin layer over yyjson: parsing with our ceilings, documents that live in an arena, and
 * writing into a buffer. Everything else is yyjson's own interface, used directly.
 *
 * yyjson's builders accept NULL and pass it on, so a document whose arena is exhausted ends up NULL
 * or incomplete: writers check arena_failed() once, which json_write() does for them. */
#ifndef FORAGE_TEXT_JSON_H
#define FORAGE_TEXT_JSON_H

#include "core/arena.h"
#include "core/buf.h"

#include <stdbool.h>
#include <yyjson.h>

struct json_problem {
    size_t offset; /* in bytes, where it was noticed */
    char text[160];
};

/* Parses one JSON text strictly: valid UTF-8, at most LIMIT_JSON_DEPTH levels, no duplicate keys,
 * no numbers beyond a double. The text is copied; NULL with `problem` filled on failure. */
yyjson_doc *json_parse(struct arena *arena, const char *text, size_t length,
                       struct json_problem *problem);
/* Reads JSON that is embedded in the program: scripts/embed.py checked it while building, so this
 * does not look for repeated keys. */
yyjson_doc *json_embedded(struct arena *arena, const char *text);
/* Parses JSON that a person may have written: with comments and trailing commas. */
yyjson_doc *json_parse_commented(struct arena *arena, const char *text, size_t length);
yyjson_mut_doc *json_new(struct arena *arena);
/* A copy of `value` that belongs to `doc`. */
yyjson_mut_val *json_copy(yyjson_mut_doc *doc, yyjson_val *value);
/* The same with the strings of `value` itself, which outlives `doc`. */
yyjson_mut_val *json_share(yyjson_mut_doc *doc, yyjson_val *value);
/* A copy in the arena that can be read as if it had been parsed; NULL without memory. */
yyjson_val *json_freeze(struct arena *arena, yyjson_mut_val *value);
/* Appends `value`, compact. */
int json_write(struct buf *out, struct arena *arena, const yyjson_mut_val *value);
/* The same as text in the arena, for what is written more than once; NULL without memory. */
const char *json_text(struct arena *arena, const yyjson_mut_val *value, size_t *length);
/* The same for a value that was parsed. */
const char *json_text_of(struct arena *arena, yyjson_val *value);
int json_write_pretty(struct buf *out, struct arena *arena, const yyjson_mut_val *value);
int json_write_immutable(struct buf *out, struct arena *arena, yyjson_val *value);
/* Appends a text as a JSON string, which is also one of TOML. */
void json_put_string(struct buf *out, const char *text);
/* Whether a string or a key in `value` holds a NUL (written \u0000): a C string would end there, so
 * what comes from a client is refused. */
bool json_holds_nul(yyjson_val *value);
/* The characters that a text takes inside a JSON string. */
size_t json_chars(const char *text);
/* A string member, or NULL when it is absent or not a string. */
const char *json_string(yyjson_val *object, const char *key);
/* Adds a member that refers to `text` (which must outlive the document); nothing when it is NULL.
 */
void json_add_string(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key,
                     const char *text);
/* Adds a member that is a list of texts, which must outlive the document. */
void json_add_strings(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key,
                      const char *const *texts, size_t count);

#endif
