/* The report of a research for people: on a terminal, or saved to a file of their choice. */
#ifndef FORAGE_CLI_REPORT_H
#define FORAGE_CLI_REPORT_H

#include "core/buf.h"
#include "text/json.h"

/* How a report is written. */
struct report_form {
    const char *ending; /* of the file's name */
    /* Appends the report that a result of search or deep_search holds. */
    void (*write)(struct buf *out, struct arena *arena, yyjson_mut_val *result);
};

/* The form that the name of a file asks for; NULL, after saying why, when there is none, or no file
 * can be written there. */
const struct report_form *report_form(const char *path);
/* Writes the whole file or nothing, and says what was saved. An exit code. */
int report_save(const struct report_form *form, const char *path, struct arena *arena,
                yyjson_mut_val *result);
/* As Markdown: the text, what contradicts it, how it is proved, and the pages that were read. */
void report_write_markdown(struct buf *out, struct arena *arena, yyjson_mut_val *result);

#endif
