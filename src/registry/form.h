/* The form in which a client of MCP gets the results of tools: one text for a client that is known
 * (FORAGE_CONTEXT) and does not hand its model the structured result alone, and JSON twice, as text
 * and structured, for all others. This is the one place that decides it. A handler makes one object
 * either way; the text is made of that, so what the object tells, the text tells too.
 *
 * A result without a long text in it is JSON in either form: lines would take more tokens. A page
 * or a report becomes lines "name: value", then the items of lists, each under a line that numbers
 * it, and last the long text. That stands between two tags with a number that occurs nowhere in the
 * result, so no page can pretend to have ended, and every value before it is one line, so no title
 * can pretend to be another line. */
#ifndef FORAGE_REGISTRY_FORM_H
#define FORAGE_REGISTRY_FORM_H

#include "registry/registry.h"

/* Whether results are one text: never where a profile promises JSON. */
bool form_is_text(void);

/* The definition of a tool for clients of MCP: without an output schema where results are one
 * text, since some clients take a schema as a promise; and with what clients want to know of large
 * results. */
yyjson_mut_val *form_definition(yyjson_mut_doc *doc, const struct entry *entry);

/* What a tool answered, in the text of that form; NULL without memory. */
const char *form_text(struct arena *arena, const struct entry *entry, yyjson_mut_val *answer,
                      size_t *length);

#endif
