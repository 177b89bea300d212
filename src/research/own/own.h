/* Research in our own process: a model drives, forage searches, reads and checks. The model gives
 * queries and numbers of sources, forage fetches; the model gives quotes, forage looks for them in
 * what it read (evidence/). The report is written from the notes alone.
 *
 * own.c is the loop, work.c does what the model wants, writing.c makes the report. */
#ifndef FORAGE_RESEARCH_OWN_OWN_H
#define FORAGE_RESEARCH_OWN_OWN_H

#include "research/research.h"

/* The label of the model that would be asked, in the arena; NULL with words on what to set. */
const char *own_model(struct arena *arena, char *lacks, size_t size);
/* Whether there is a model, and something to search with; words for what to do if not. */
bool own_is_ready(char *lacks, size_t size);
/* As research_run(). */
MUST_CHECK int own_run(struct call *call, const struct research_request *request,
                       struct research_report *report);
/* Adds what only our own loop knows: "budget" and "stopped" to `metadata`, "open_questions" to the
 * result. */
void own_describe(const struct own *own, yyjson_mut_doc *doc, yyjson_mut_val *result,
                  yyjson_mut_val *metadata);

#endif
