/* Documents get new numbers in the order of their ids; then the dictionaries are walked side by
 * side, and the lists of each term are joined under the new numbers. */
#include "index/merge.h"

#include "core/status.h"
#include "index/array.h"
#include "index/compounds.h"
#include "index/order.h"
#include "index/positions.h"

#include <stdlib.h>
#include <string.h>

/* Where a document of the new segment comes from. */
struct document_source {
    int64_t id;
    uint32_t input;
    uint32_t document;
};

/* One of the old segments. */
struct old {
    const struct segment *segment;
    const uint8_t *dead;
    uint32_t *documents; /* their new numbers, or NO_DOCUMENT */
    uint32_t *passages;
    struct dictionary_walk walk;
    bool there; /* the walk stands at a term */
};

struct joined {
    struct posting *items;
    uint32_t count, capacity;
};

struct segment_merge {
    struct old *olds;
    size_t count;
    struct document_source *sources;
    struct segment_draft draft;
    struct symbols names;
    uint32_t *tags;
    uint32_t tag_count, tag_capacity;
    uint32_t *passages; /* lengths */
    uint32_t passage_count, passage_capacity;
    uint32_t *lengths; /* for bounds */
    bool compound;     /* some document is of a language that writes words together */
    struct compounds compounds;
    struct joined documents;
    struct joined parts;
};

static bool is_dead(const struct old *old, uint32_t document)
{
    return old->dead && old->dead[document / 8] >> document % 8 & 1;
}

static int by_id(const void *left, const void *right)
{
    const struct document_source *a = left;
    const struct document_source *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

/* ---- documents ---- */

static int take_sources(struct segment_merge *merging)
{
    size_t most = 1;
    for (size_t i = 0; i < merging->count; i++) {
        most += merging->olds[i].segment->documents;
    }
    struct segment_draft *draft = &merging->draft;
    merging->sources = malloc(most * sizeof *merging->sources);
    merging->lengths = malloc(most * sizeof *merging->lengths);
    draft->documents = malloc(most * sizeof *draft->documents);
    if (!merging->sources || !merging->lengths || !draft->documents) {
        return ERR_NOMEM;
    }
    if (most >= NO_DOCUMENT) {
        return ERR_LIMIT;
    }
    for (size_t i = 0; i < merging->count; i++) {
        struct old *old = &merging->olds[i];
        const struct segment *segment = old->segment;
        old->documents = malloc((segment->documents + (size_t)1) * sizeof *old->documents);
        old->passages = malloc((segment->passage_count + (size_t)1) * sizeof *old->passages);
        if (!old->documents || !old->passages) {
            return ERR_NOMEM;
        }
        memset(old->documents, 0xFF, segment->documents * sizeof *old->documents);
        memset(old->passages, 0xFF, segment->passage_count * sizeof *old->passages);
        for (uint32_t j = 0; j < segment->documents; j++) {
            if (!is_dead(old, j)) {
                merging->sources[draft->document_count++] =
                    (struct document_source){segment->ids[j], (uint32_t)i, j};
            }
        }
    }
    qsort(merging->sources, draft->document_count, sizeof *merging->sources, by_id);
    return OK;
}

static uint32_t copy_name(struct segment_merge *merging, const struct segment *segment,
                          uint32_t name, int *status)
{
    size_t length;
    const char *text = segment_name_text(segment, name, &length);
    if (name >= segment->names) {
        return SYMBOL_NONE;
    }
    uint32_t number = symbols_add(&merging->names, text, length);
    *status = number == SYMBOL_NONE ? ERR_NOMEM : *status;
    return number;
}

static int copy_tags(struct segment_merge *merging, const struct segment *segment, uint32_t number,
                     struct segment_document *document)
{
    uint32_t count;
    const uint32_t *tags = segment_tags(segment, number, &count);
    count = count < UINT16_MAX ? count : UINT16_MAX;
    int status = array_reserve(&merging->tags, &merging->tag_capacity, merging->tag_count + count,
                               sizeof *merging->tags);
    document->tags = merging->tag_count;
    for (uint32_t i = 0; i < count && status == OK; i++) {
        uint32_t tag = copy_name(merging, segment, tags[i], &status);
        if (tag != SYMBOL_NONE) {
            merging->tags[merging->tag_count++] = tag;
        }
    }
    document->tag_count = (uint16_t)(merging->tag_count - document->tags);
    return status;
}

static int copy_passages(struct segment_merge *merging, const struct old *old, uint32_t number,
                         struct segment_document *document)
{
    uint32_t first;
    uint32_t count;
    const uint32_t *lengths = segment_passages(old->segment, number, &first, &count);
    int status = array_reserve(&merging->passages, &merging->passage_capacity,
                               merging->passage_count + count, sizeof *merging->passages);
    document->passages = merging->passage_count;
    document->passage_count = count;
    for (uint32_t i = 0; i < count && status == OK; i++) {
        old->passages[first + i] = merging->passage_count;
        merging->passages[merging->passage_count++] = lengths[i];
    }
    return status;
}

static int copy_documents(struct segment_merge *merging)
{
    struct segment_draft *draft = &merging->draft;
    int status = OK;
    for (uint32_t i = 0; i < draft->document_count && status == OK; i++) {
        const struct document_source *source = &merging->sources[i];
        struct old *old = &merging->olds[source->input];
        const struct segment *segment = old->segment;
        uint32_t from = source->document;
        struct segment_document *to = &draft->documents[i];
        old->documents[from] = i;
        *to = (struct segment_document){
            .id = segment->ids[from],
            .created_ms = segment->created[from],
            .expires_ms = segment->expires[from],
            .place = segment->places[from],
            .length = segment->lengths[from],
            .session = copy_name(merging, segment, segment->sessions[from], &status),
            .role = copy_name(merging, segment, segment->roles[from], &status),
            .language = (uint8_t)segment_language(segment, from),
        };
        status = status == OK ? copy_tags(merging, segment, from, to) : status;
        status = status == OK ? copy_passages(merging, old, from, to) : status;
        merging->lengths[i] = to->length | (to->passage_count > 0 ? POSTINGS_LONG : 0);
        merging->compound |= words_compound((enum language)to->language);
    }
    draft->tags = merging->tags;
    draft->passages = merging->passages;
    draft->names = &merging->names;
    return status;
}

/* ---- terms ---- */

/* Appends a list under its new numbers. */
static int join(struct joined *joined, const struct postings *list, const uint32_t *numbers,
                uint32_t limit)
{
    struct postings_cursor cursor;
    struct positions_reader reader;
    int status = array_reserve(&joined->items, &joined->capacity, joined->count + list->count + 1,
                               sizeof *joined->items);
    if (status != OK) {
        return status;
    }
    positions_start(&reader);
    for (postings_start(&cursor, list, limit); cursor.document != NO_DOCUMENT;
         postings_next(&cursor)) {
        uint32_t number = numbers[cursor.document];
        if (number != NO_DOCUMENT) {
            struct positions positions = positions_of(&reader, &cursor);
            joined->items[joined->count++] =
                (struct posting){.document = number,
                                 .times = cursor.times,
                                 .positions_length = (uint32_t)(positions.end - positions.at),
                                 .positions = positions.at};
        }
    }
    return OK;
}

static int by_document(const void *left, const void *right)
{
    const struct posting *a = left;
    const struct posting *b = right;
    return (a->document > b->document) - (a->document < b->document);
}

/* Segments mostly follow each other in their ids, and so do their lists. A damaged segment may name
 * a document twice: the first counts. */
static void put_in_order(struct joined *joined)
{
    bool ordered = true;
    for (uint32_t i = 1; i < joined->count && ordered; i++) {
        ordered = joined->items[i - 1].document < joined->items[i].document;
    }
    if (ordered) {
        return;
    }
    qsort(joined->items, joined->count, sizeof *joined->items, by_document);
    uint32_t kept = 1;
    for (uint32_t i = 1; i < joined->count; i++) {
        if (joined->items[i].document != joined->items[kept - 1].document) {
            joined->items[kept++] = joined->items[i];
        }
    }
    joined->count = kept;
}

/* The old segment whose walk stands at the first of all terms; NULL: all are at their end. */
static const struct old *first_of(const struct segment_merge *merging)
{
    const struct old *first = NULL;
    for (size_t i = 0; i < merging->count; i++) {
        const struct old *old = &merging->olds[i];
        if (old->there &&
            (!first || order_texts(old->walk.term.text, old->walk.term.length,
                                   first->walk.term.text, first->walk.term.length) < 0)) {
            first = old;
        }
    }
    return first;
}

/* Goes on to the next term, in the order of terms: a damaged dictionary that goes back ends. */
static void go_on(struct old *old)
{
    char text[DICTIONARY_MOST_TERM + 1];
    size_t length = old->walk.term.length;
    memcpy(text, old->walk.term.text, length);
    old->there = dictionary_next(&old->walk) &&
                 order_texts(old->walk.term.text, old->walk.term.length, text, length) > 0;
}

/* Whether a text of a language that writes words together has the term. */
static bool in_compound_text(const struct segment_merge *merging)
{
    for (uint32_t i = 0; i < merging->documents.count && merging->compound; i++) {
        const struct segment_document *document =
            &merging->draft.documents[merging->documents.items[i].document];
        if (words_compound((enum language)document->language)) {
            return true;
        }
    }
    return false;
}

static int merge_term(struct segment_merge *merging, const struct dictionary_term *term)
{
    int status = OK;
    merging->documents.count = 0;
    merging->parts.count = 0;
    for (size_t i = 0; i < merging->count && status == OK; i++) {
        struct old *old = &merging->olds[i];
        const struct segment *segment = old->segment;
        if (!old->there || order_texts(old->walk.term.text, old->walk.term.length, term->text,
                                       term->length) != 0) {
            continue;
        }
        struct postings documents = segment_postings(segment, &old->walk.term);
        struct postings parts = segment_passage_postings(segment, &old->walk.term);
        status = join(&merging->documents, &documents, old->documents, segment->documents);
        if (status == OK && parts.count > 0) {
            status = join(&merging->parts, &parts, old->passages, segment->passage_count);
        }
        go_on(old);
    }
    if (status == OK && merging->documents.count > 0) {
        put_in_order(&merging->documents);
        put_in_order(&merging->parts);
        segment_add_term(&merging->draft, term->text, term->length, merging->documents.items,
                         merging->documents.count, merging->parts.items, merging->parts.count,
                         merging->lengths);
        if (*term->text != KEY_MARK && in_compound_text(merging)) {
            status = compounds_add(&merging->compounds, term->text, term->length);
        }
    }
    return status;
}

static int merge_terms(struct segment_merge *merging)
{
    int status = OK;
    for (size_t i = 0; i < merging->count; i++) {
        struct old *old = &merging->olds[i];
        old->there = dictionary_seek(&old->walk, &old->segment->terms, "", 0);
    }
    for (const struct old *first; status == OK && (first = first_of(merging));) {
        struct dictionary_term term = first->walk.term;
        status = merge_term(merging, &term);
    }
    return status == OK ? compounds_write(&merging->compounds, &merging->draft.compounds) : status;
}

static void merging_done(struct segment_merge *merging)
{
    for (size_t i = 0; i < merging->count && merging->olds; i++) {
        free(merging->olds[i].documents);
        free(merging->olds[i].passages);
    }
    segment_done(&merging->draft);
    symbols_done(&merging->names);
    compounds_done(&merging->compounds);
    free(merging->olds);
    free(merging->sources);
    free(merging->draft.documents);
    free(merging->tags);
    free(merging->passages);
    free(merging->lengths);
    free(merging->documents.items);
    free(merging->parts.items);
}

int merge_segments(const struct merge_input *inputs, size_t count, uint8_t **bytes, size_t *length)
{
    struct segment_merge merging = {.count = count,
                                    .olds = calloc(count + 1, sizeof *merging.olds)};
    segment_begin(&merging.draft);
    int status = merging.olds ? OK : ERR_NOMEM;
    for (size_t i = 0; i < count && status == OK; i++) {
        merging.olds[i].segment = inputs[i].segment;
        merging.olds[i].dead = inputs[i].dead;
    }
    status = status == OK ? take_sources(&merging) : status;
    status = status == OK ? copy_documents(&merging) : status;
    status = status == OK ? merge_terms(&merging) : status;
    status = status == OK ? segment_write(&merging.draft, bytes, length) : status;
    merging_done(&merging);
    return status;
}
