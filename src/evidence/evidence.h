/* Evidence: the pages that a research read, the quotes that it took from them, and what can be
 * computed about both without asking a model. A quote is looked for in the text of its page; a
 * report gets a footnote for each quote that is there, and a mark where there is none.
 *
 * That a quote is on a page says that the page says so. It does not say that it is true, nor that
 * it supports the claim beside it.
 *
 * Everything lives in the arena that it was made with. */
#ifndef FORAGE_EVIDENCE_EVIDENCE_H
#define FORAGE_EVIDENCE_EVIDENCE_H

#include "core/arena.h"
#include "core/buf.h"
#include "core/sha256.h"
#include "core/status.h"
#include "text/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct evidence;

/* NULL without memory. */
struct evidence *evidence_new(struct arena *arena);

/* ---- pages ---- */

/* What stands between two parts of a text that were not read together: no quote goes over it. */
#define EVIDENCE_SEAM "\n\n\x1E\n\n"

/* A page as it was read, UTF-8; `read_ms` since 1970. The number of the source, from 1. A page of
 * the same address that is there already keeps its number, and a text that it does not have yet is
 * added to it behind a seam: pages come in parts. 0: no room, or no memory. */
size_t evidence_add_page(struct evidence *evidence, const char *url, const char *title,
                         const char *text, int64_t read_ms);
/* A page that a worker read by itself: its text is not here. The same. */
size_t evidence_add_unseen(struct evidence *evidence, const char *url, const char *title);

struct evidence_page {
    const char *url, *title; /* never NULL */
    const char *also;        /* another address of it, see evidence_also(); or NULL */
    const char *host;        /* "" where the address is none of the web */
    const char *text;        /* NULL: it is not here */
    size_t length;
    int64_t read_ms;
    unsigned char digest[SHA256_SIZE]; /* of the text */
};

size_t evidence_page_count(const struct evidence *evidence);
/* By its number, from 1; NULL: there is none. */
const struct evidence_page *evidence_page(const struct evidence *evidence, size_t number);
/* A second address of a page: the one that it was asked for by, or that it moved to. */
void evidence_also(struct evidence *evidence, size_t number, const char *url);
/* The number of the page of an address, in any spelling; 0: it was not read. */
size_t evidence_page_of(struct evidence *evidence, const char *url);

/* ---- notes ---- */

enum evidence_grade {
    EVIDENCE_EXACT,  /* the quote is on the page, after folding */
    EVIDENCE_NEAR,   /* but for a few words in a hundred, and none of those matters */
    EVIDENCE_ABSENT, /* it is not there, or there is no such page */
    EVIDENCE_UNSEEN, /* nobody can tell: the page's text is not here */
    EVIDENCE_GRADES
};

/* A grade in a word. */
const char *evidence_grade_name(enum evidence_grade grade);

struct evidence_note {
    const char *claim, *quote; /* never NULL */
    const char *words;         /* those of the page where the quote was found; else the quote */
    size_t source;             /* the number of a page; 0: of none */
    enum evidence_grade grade;
    size_t start, end;        /* code points of the page, where it was found */
    bool cited;               /* the report leans on it */
    const char *url;          /* of its page, or what was given for one that nobody read */
    int supported;            /* whether a judge says that the quote supports the claim: 1, -1: it
                               * says no, 0: nobody was asked */
    const char *supported_by; /* that judge; or NULL */
};

/* Looks for the quote in that source alone. The number of the note, from 1, whatever its grade; the
 * same for the same claim, quote and source. 0: no room, or no memory. */
size_t evidence_add_note(struct evidence *evidence, const char *claim, const char *quote,
                         size_t source);
/* The same by the address of a page, which perhaps nobody read. Each is a note of its own, so that
 * the numbers of a list stay what they are. */
size_t evidence_add_note_at(struct evidence *evidence, const char *claim, const char *quote,
                            const char *url);
size_t evidence_note_count(const struct evidence *evidence);
/* By its number, from 1; NULL: there is none. */
const struct evidence_note *evidence_note(const struct evidence *evidence, size_t number);
/* The report leans on it, whether or not it says its number. */
void evidence_cite(struct evidence *evidence, size_t number);
/* What a judge says of a note. */
void evidence_judge(struct evidence *evidence, size_t number, int supported, const char *judge);

/* ---- the report ---- */

/* So many characters may all footnotes and marks of a report have, about; LIMIT_EVIDENCE_FOOTNOTES
 * where nobody says so. The notes beyond share one that points to the evidence beside the report;
 * marks beyond are short. */
void evidence_limit_footnotes(struct evidence *evidence, size_t chars);
/* Makes footnotes of the numbers of notes in a report ("[1]", "[1, 2]", "[1][2]"): the quote, its
 * address, when it was read, its grade. A place whose every note is absent or unknown gets the
 * words "(no source says so)" instead. A link to a page that was not read is marked. Cites the
 * notes whose numbers it finds. The text is in the arena; OK or ERR_NOMEM. */
MUST_CHECK int evidence_render(struct evidence *evidence, const char *report,
                               const char **markdown);
/* The same for a worker, which links to the pages that it cites: a link that no number of a note of
 * that page follows is a claim without a quote, and becomes a note of its own; where there is no
 * room for one, it counts as a number of no note does. */
MUST_CHECK int evidence_render_links(struct evidence *evidence, const char *report,
                                     const char **markdown);

/* Appends words of others in one line, at most so many characters, with everything escaped that
 * Markdown knows. */
void evidence_put_plain(struct buf *out, const char *text, size_t length, size_t most);
/* An address of the web as a link that is nothing else; any other as text. */
void evidence_put_address(struct buf *out, struct arena *arena, const char *address);

/* ---- what comes of it ---- */

/* Two places that say the same but for a number, a name or a negation. */
struct evidence_conflict {
    size_t note; /* whose quote is in the first place */
    size_t source[2];
    const char *quote[2];    /* the sentences as they stand on the pages */
    size_t start[2], end[2]; /* where, in bytes */
};

/* Compares the sentences of quotes that were found with all other pages. Computed when it is asked
 * for first, so after the last note. NULL and 0: there are none. */
const struct evidence_conflict *evidence_conflicts(struct evidence *evidence, size_t *count);

struct evidence_counts {
    size_t claims; /* notes that the report leans on, and numbers in it that are no note's */
    size_t grades[EVIDENCE_GRADES];
    size_t sources; /* pages that claims lean on with a quote that was found */
    size_t hosts;   /* of all pages whose text is here */
};

void evidence_count(const struct evidence *evidence, struct evidence_counts *counts);
/* Each claim has its quote on a page that was read; there is one at least; and the texts of pages
 * of two hosts are here. */
bool evidence_verified(const struct evidence *evidence);
/* Adds "evidence", "citations" and, where there are some, "conflicts" to a result; lists are cut to
 * their share of the budget of results. */
void evidence_describe(struct evidence *evidence, yyjson_mut_doc *doc, yyjson_mut_val *result);

#endif
