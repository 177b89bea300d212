/* What the files of the OpenAPI description share: openapi.c (the whole, and the tools) and
 * openapi_memories.c (the routes of the memories). */
#ifndef FORAGE_DOORS_OPENAPI_H
#define FORAGE_DOORS_OPENAPI_H

#include "registry/registry.h"

/* Each adds a member to `parent` and returns what was added. */
yyjson_mut_val *openapi_add_object(yyjson_mut_doc *doc, yyjson_mut_val *parent, const char *key);
yyjson_mut_val *openapi_add_reference(yyjson_mut_doc *doc, yyjson_mut_val *parent, const char *key,
                                      const char *target);
/* Returns the object of its content of that type; NULL without a type. */
yyjson_mut_val *openapi_add_response(yyjson_mut_doc *doc, yyjson_mut_val *responses,
                                     const char *status, const char *description, const char *type);
/* The answers of a call that failed. */
void openapi_add_failures(yyjson_mut_doc *doc, yyjson_mut_val *responses);
/* The routes of the memories, as far as their tools are switched on. */
void openapi_add_memories(yyjson_mut_doc *doc, yyjson_mut_val *paths, struct arena *arena,
                          const struct registry *registry);

#endif
