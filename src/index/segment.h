/* A segment: an index over some documents as one piece of bytes that never changes, the same in
 * memory and in a file. It is written by a builder or a merge (segment_write) and read where it
 * lies. Its bytes may be damaged: what comes out may be wrong then, but nothing outside of them is
 * read, and every number that is handed out is one that there is.
 *
 * Documents are numbered in the order of their ids. Sessions, roles and tags are names: numbers
 * that mean something in their segment only. Numbers are in the byte order of the machine; bytes of
 * another order or version are refused. */
#ifndef FORAGE_INDEX_SEGMENT_H
#define FORAGE_INDEX_SEGMENT_H

#include "index/dictionary.h"
#include "index/postings.h"
#include "index/symbols.h"
#include "index/words.h"

/* Begins a term that is of a key, so that only who asks for keys finds it. */
#define KEY_MARK '\1'

struct segment {
    const uint8_t *bytes;
    size_t length;
    uint32_t documents, names;
    /* One for each document: */
    const int64_t *ids, *created, *expires, *places;
    const uint32_t *lengths; /* in words */
    const uint32_t *sessions, *roles;
    const uint32_t *tag_starts; /* one more than documents */
    const uint32_t *tags;
    uint32_t tag_count;
    const uint8_t *languages;
    const uint32_t *passage_starts; /* one more than documents */
    const uint32_t *passages;       /* the lengths of those of documents that have several */
    uint32_t passage_count;
    const uint32_t *name_starts; /* one more than names; in their order */
    const char *name_bytes;
    uint32_t name_length;
    const uint32_t *member_starts; /* one more than names */
    const uint32_t *members;       /* documents of each session, by place and id */
    uint32_t member_count;
    struct dictionary terms;
    struct dictionary compounds;
    const uint8_t *lists;
    size_t lists_length;
    const uint8_t *positions;
    size_t positions_length;
};

/* OK; ERR_INVALID for bytes that are no segment of this version. They must be aligned as malloc()
 * does, and stay. */
int segment_open(struct segment *segment, const void *bytes, size_t length);
/* NO_DOCUMENT: there is none. */
uint32_t segment_find(const struct segment *segment, int64_t id);
enum language segment_language(const struct segment *segment, uint32_t document);
/* The number of a name, SYMBOL_NONE: no document has it. */
uint32_t segment_name(const struct segment *segment, const char *text, size_t length);
/* The text of a name, without a NUL; empty for a number that there is not. */
const char *segment_name_text(const struct segment *segment, uint32_t name, size_t *length);
/* The tags of a document. */
const uint32_t *segment_tags(const struct segment *segment, uint32_t document, uint32_t *count);
/* The lengths of the passages of a document, and the number of the first; none where it is one. */
const uint32_t *segment_passages(const struct segment *segment, uint32_t document, uint32_t *first,
                                 uint32_t *count);
/* The documents of a session. */
const uint32_t *segment_members(const struct segment *segment, uint32_t session, uint32_t *count);
/* The postings of a term: in documents, and in passages of documents that have several. A list
 * that is not there is empty. */
struct postings segment_postings(const struct segment *segment, const struct dictionary_term *term);
struct postings segment_passage_postings(const struct segment *segment,
                                         const struct dictionary_term *term);

/* ---- writing ---- */

struct segment_document {
    int64_t id, created_ms, expires_ms, place;
    uint32_t length;
    uint32_t session, role; /* of the draft's names, or SYMBOL_NONE */
    uint32_t tags;          /* where they begin among the draft's */
    uint32_t passages;      /* where they begin among the draft's, */
    uint32_t passage_count; /* if there are several */
    uint16_t tag_count;
    uint8_t language;
};

struct segment_draft {
    struct segment_document *documents; /* in the order of their ids, each once */
    uint32_t document_count;
    const uint32_t *tags;
    const uint32_t *passages;    /* lengths */
    const struct symbols *names; /* in any order; those that no document has are left out */
    struct buf lists, positions;
    struct dictionary_writer terms, compounds;
};

void segment_begin(struct segment_draft *draft);
void segment_done(struct segment_draft *draft);
/* Adds a term with its documents and passages. `lengths` as of postings_write(). */
void segment_add_term(struct segment_draft *draft, const char *text, size_t length,
                      const struct posting *documents, uint32_t document_count,
                      const struct posting *passages, uint32_t passage_count,
                      const uint32_t *lengths);
/* Its bytes, for free(). OK, ERR_NOMEM, ERR_LIMIT. */
int segment_write(struct segment_draft *draft, uint8_t **bytes, size_t *length);

#endif
