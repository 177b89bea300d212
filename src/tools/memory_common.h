/* What the memory tools share: reading their arguments, and the parts of their results. */
#ifndef FORAGE_TOOLS_MEMORY_COMMON_H
#define FORAGE_TOOLS_MEMORY_COMMON_H

#include "memory/fields.h"
#include "registry/registry.h"

/* The `ready` of every memory tool. */
void memory_common_ready(struct readiness *readiness);

/* ---- arguments; OK, ERR_FAILED after call_fail(), ERR_NOMEM ---- */

int memory_common_space(struct call *call, yyjson_val *arguments, struct memory_space *space);
int memory_common_filter(struct call *call, yyjson_val *arguments, struct memory_filter *filter);
/* `key` or `keys`, one of them. */
int memory_common_keys(struct call *call, yyjson_val *arguments, const char ***keys, size_t *count);
size_t memory_common_size(yyjson_val *arguments, const char *name);

/* The whole of a tool that changes one memory: `apply` is memory_add or one like it. */
int memory_common_change(struct call *call, yyjson_val *arguments, struct reply *reply,
                         int (*apply)(struct call *call, const struct memory_space *space,
                                      const struct memory_change *change,
                                      struct memory_result *result));

/* ---- results ---- */

/* {success: true, data: {}}; returns data, NULL without memory. */
yyjson_mut_val *memory_common_data(struct reply *reply);
/* What a change came to. */
int memory_common_changed(struct reply *reply, const struct memory_space *space,
                          const struct memory_result *result);
/* {results: [...], pagination: {...}} of a search. */
int memory_common_hits(struct reply *reply, yyjson_val *arguments, const struct memory_hits *hits);

/* Results that are filled up to the size that a result may have. */
struct memory_results {
    yyjson_mut_doc *doc;
    yyjson_mut_val *list;
    size_t chars;
    bool full;
};
void memory_results_start(struct memory_results *results, struct reply *reply,
                          yyjson_mut_val *data);
/* Adds a result that takes about so many characters. False when it does not fit any more. */
bool memory_results_add(struct memory_results *results, yyjson_mut_val *result, size_t chars);
void memory_results_pagination(const struct memory_results *results, yyjson_mut_val *data,
                               yyjson_val *arguments, size_t total, bool is_lower_bound);

#endif
