/* What the files of this folder share and nobody else sees. */
#ifndef FORAGE_EVIDENCE_INTERNAL_H
#define FORAGE_EVIDENCE_INTERNAL_H

#include "evidence/evidence.h"

struct kept_page {
    struct evidence_page page;
    const char *canonical; /* its address, in the one spelling of all */
    const char *also;      /* another address of it, the same; or NULL */
    char *text;            /* that of `page`, with room for more */
    size_t capacity;
};

struct kept_note {
    struct evidence_note note;
    size_t start, end; /* in bytes of the page */
    size_t footnote;   /* its number in the report, from 1; 0: it has none yet */
};

struct evidence {
    struct arena *arena;
    struct kept_page *pages;
    size_t page_count, page_capacity;
    size_t bytes; /* of their texts */
    struct kept_note *notes;
    size_t note_count, note_capacity;
    size_t footnote_chars; /* that all footnotes of a report may have */
    size_t unknown;        /* numbers in the report that are no note's */
    size_t work;           /* comparisons that may still be made */
    struct evidence_conflict *conflicts;
    size_t conflict_count, conflict_capacity;
    bool compared; /* the conflicts are known */
};

/* Whether a note's quote stands on its page. */
static inline bool is_found(const struct kept_note *kept)
{
    return kept->note.grade == EVIDENCE_EXACT || kept->note.grade == EVIDENCE_NEAR;
}

#endif
