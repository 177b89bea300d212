/* What the styles and the numbering of a DOCX make of its paragraphs. */
#ifndef FORAGE_DOCUMENTS_DOCX_STYLES_H
#define FORAGE_DOCUMENTS_DOCX_STYLES_H

#include "documents/package.h"

#define DOCX_LEVELS 9 /* of lists */

enum docx_role {
    DOCX_UNKNOWN, /* what it is based on tells */
    DOCX_TEXT,
    DOCX_TITLE,
    DOCX_HEADING,
    DOCX_CODE,
    DOCX_QUOTE,
    DOCX_CONTENTS, /* a line of the table of contents, which repeats the headings */
};

struct docx_style {
    const char *id, *based_on;
    enum docx_role role;
    long level;       /* of a heading, from 1 */
    long list, depth; /* numbering and its level; -1: it says nothing of it */
    long indent;      /* levels that an item is set in by its style alone: "List Bullet 2" */
    unsigned formats; /* of text: those of markup.h */
    bool hidden;
};

struct docx_list {
    long id;
    struct {
        bool shown, ordered;
        long next;
    } levels[DOCX_LEVELS];
};

struct docx_styles {
    struct docx_style *styles;
    size_t style_count;
    struct docx_list *lists;
    size_t list_count;
};

/* From the parts that `relations` of the document name; none where they are missing. OK,
 * ERR_FAILED, ERR_NOMEM. */
MUST_CHECK int docx_styles_read(struct package *package, const struct relations *relations,
                                struct docx_styles *styles);
/* With all that it inherits. An unknown one is text. */
struct docx_style docx_style_find(const struct docx_styles *styles, const char *id);
/* NULL where there is none of that number. */
struct docx_list *docx_list_find(const struct docx_styles *styles, long id);

/* What the properties of a run (w:rPr), up to their end, make of `formats`; `id` (or NULL) gets its
 * style. False when the part is broken. */
bool docx_run_properties(struct package *package, struct xml_reader *xml, unsigned *formats,
                         bool *hidden, const char **id);

#endif
