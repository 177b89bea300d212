/* Memories as JSON objects, the same in the tools, over REST, in imports and exports:
 *   {key, summary, text, tags, metadata, session, place, role, created_at, expires_at}
 * and in results also updated_at and version. A memory whose text is not what was stored has
 * damaged, which says so in words; an import takes it as it is, and marks it too. */
#ifndef FORAGE_MEMORY_FIELDS_H
#define FORAGE_MEMORY_FIELDS_H

#include "memory/memory.h"
#include "text/json.h"

/* Reads the members that are there into the change. Texts refer to `object`'s document or live in
 * the arena. Members of other names are left alone. OK; ERR_FAILED after call_fail() with
 * VALIDATION, which names the member; ERR_NOMEM. */
int fields_read(struct call *call, struct arena *arena, yyjson_val *object,
                struct memory_change *change);
/* A list that is written as an array of strings or as one string with commas; NULL is an empty one.
 * `spaced`: a string without commas is divided by its spaces. What stands in double quotes is not
 * divided. OK, ERR_FAILED, ERR_NOMEM. */
int fields_list(struct call *call, struct arena *arena, const char *name, yyjson_val *value,
                bool spaced, const char ***items, size_t *count);
/* One line of an import: an object of these members, namespace and caller, and no others. */
int fields_read_line(struct call *call, struct arena *arena, yyjson_val *object,
                     struct memory_change *change);

/* Adds the members of a memory, without its text, which is up to the caller. Texts must outlive the
 * document. */
void fields_write(yyjson_mut_doc *doc, yyjson_mut_val *object, struct arena *arena,
                  const struct memory *memory);
/* Adds a time, as ISO 8601. */
void fields_write_time(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *name,
                       int64_t moment_ms);
void fields_write_tags(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *const *tags,
                       size_t count);
/* Adds damaged, unless there is none. */
void fields_write_damage(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *damage);
/* One line of an export, with its end of line, as an import takes it. `caller` is NULL where the
 * importer's own is meant. A status. */
int fields_write_line(struct buf *out, struct arena *arena, const char *namespace,
                      const char *caller, const struct memory *memory);

#endif
