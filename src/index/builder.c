/* Words are taken out of the texts at once; what remains of an entry is a row for each of its
 * terms. Rows are sorted by term when the segment is made. */
#include "index/builder.h"

#include "core/limits.h"
#include "core/status.h"
#include "index/array.h"
#include "index/compounds.h"
#include "index/fold.h"
#include "index/keys.h"
#include "index/order.h"
#include "index/passages.h"
#include "index/positions.h"
#include "index/segment.h"

#include <stdlib.h>
#include <string.h>

#define TAG_TIMES 2u /* that a word of a tag counts */

/* One term of an entry, or of one of its passages. */
struct term_row {
    uint32_t term;
    uint32_t times;
    /* Where its positions in the entry begin among the builder's, and their bytes; of the entry at
     * hand its first and last mention, + 1. */
    uint32_t positions, positions_length;
};

/* A term stands here in the entry at hand. */
struct term_mention {
    uint32_t position;
    uint32_t next; /* of the same term, + 1; 0: none */
};

/* Rows of which each has another term. */
struct rows {
    struct term_row *items;
    uint32_t count, capacity;
    uint32_t start; /* of those of the entry or passage at hand */
    /* Of each term, where its row is behind the start, + 1. */
    uint32_t *places;
    uint32_t place_capacity;
};

struct collected {
    struct segment_document document;
    uint32_t rows, row_count;
    bool dead;
};

/* A passage of an entry that has several. */
struct entry_passage {
    uint32_t length;
    uint32_t rows, row_count;
};

struct builder {
    struct word_reader *reader;
    struct symbols terms;
    struct symbols names;
    struct collected *entries;
    uint32_t entry_count, entry_capacity, live;
    int64_t lowest, highest; /* id; most come in order, one way or the other */
    uint32_t *tags;
    uint32_t tag_count, tag_capacity;
    struct entry_passage *parts;
    uint32_t part_count, part_capacity;
    struct rows of_entries;
    struct rows of_parts;
    struct term_mention *mentions; /* of the entry at hand */
    uint32_t mention_count, mention_capacity;
    struct buf positions;
    bool *compound; /* of each term: a text of a language that writes words together has it */
    uint32_t compound_capacity;
};

struct builder *builder_new(void)
{
    struct builder *builder = calloc(1, sizeof *builder);
    if (builder) {
        builder->reader = words_new();
        buf_init(&builder->positions, LIMIT_INDEX_SEGMENT_BYTES);
    }
    return builder && !builder->reader ? builder_free(builder) : builder;
}

/* Everything but the reader. */
static void clear(struct builder *builder)
{
    struct word_reader *reader = builder->reader;
    symbols_done(&builder->terms);
    symbols_done(&builder->names);
    free(builder->entries);
    free(builder->tags);
    free(builder->parts);
    free(builder->of_entries.items);
    free(builder->of_entries.places);
    free(builder->of_parts.items);
    free(builder->of_parts.places);
    free(builder->mentions);
    buf_done(&builder->positions);
    free(builder->compound);
    *builder = (struct builder){.reader = reader};
    buf_init(&builder->positions, LIMIT_INDEX_SEGMENT_BYTES);
}

struct builder *builder_free(struct builder *builder)
{
    if (builder) {
        clear(builder);
        words_free(builder->reader);
        free(builder);
    }
    return NULL;
}

uint32_t builder_count(const struct builder *builder)
{
    return builder->live;
}

bool builder_full(const struct builder *builder)
{
    return builder->entry_count >= LIMIT_INDEX_BUILDER_ENTRIES ||
           builder->of_entries.count >= LIMIT_INDEX_BUILDER_ROWS ||
           builder->positions.length >= LIMIT_INDEX_BUILDER_BYTES;
}

static size_t rows_bytes(const struct rows *rows)
{
    return rows->capacity * sizeof *rows->items + rows->place_capacity * sizeof *rows->places;
}

size_t builder_bytes(const struct builder *builder)
{
    return sizeof *builder + symbols_bytes(&builder->terms) + symbols_bytes(&builder->names) +
           builder->entry_capacity * sizeof *builder->entries +
           builder->tag_capacity * sizeof *builder->tags +
           builder->part_capacity * sizeof *builder->parts + rows_bytes(&builder->of_entries) +
           rows_bytes(&builder->of_parts) + builder->compound_capacity +
           builder->mention_capacity * sizeof *builder->mentions + builder->positions.capacity;
}

bool builder_remove(struct builder *builder, int64_t id)
{
    bool may_be = id >= builder->lowest && id <= builder->highest;
    for (uint32_t i = may_be ? builder->entry_count : 0; i-- > 0;) {
        struct collected *entry = &builder->entries[i];
        if (entry->document.id == id && !entry->dead) {
            entry->dead = true;
            builder->live--;
            return true;
        }
    }
    return false;
}

/* ---- adding ---- */

struct gathering {
    struct builder *builder;
    struct collected *entry;
    enum language language;
    struct entry_passage *part; /* NULL: the entry is one passage */
    struct passages *passages;  /* of the text at hand; NULL: it is of one */
    struct passage next;        /* of them, */
    bool has_next;              /* if there is one */
    bool key_speaks;
    uint32_t times;      /* that a word counts */
    uint32_t base, last; /* the position where the text at hand begins; of the last word */
};

static int count_term(struct rows *rows, uint32_t term, uint32_t terms, uint32_t times)
{
    int status = array_reserve(&rows->places, &rows->place_capacity, terms, sizeof *rows->places);
    if (status == OK && rows->places[term] == 0) {
        status = array_reserve(&rows->items, &rows->capacity, rows->count + 1, sizeof *rows->items);
        if (status == OK) {
            rows->items[rows->count++] = (struct term_row){.term = term};
            rows->places[term] = rows->count - rows->start;
        }
    }
    if (status == OK) {
        rows->items[rows->start + rows->places[term] - 1].times += times;
    }
    return status;
}

/* Ends the rows of an entry or passage: how many there are. */
static uint32_t end_rows(struct rows *rows)
{
    uint32_t count = rows->count - rows->start;
    for (uint32_t i = rows->start; i < rows->count; i++) {
        rows->places[rows->items[i].term] = 0;
    }
    rows->start = rows->count;
    return count;
}

/* Notes where a term that was counted for the entry at hand stands in it. */
static int mention(struct builder *builder, uint32_t term, uint32_t position)
{
    const struct rows *rows = &builder->of_entries;
    struct term_row *row = &rows->items[rows->start + rows->places[term] - 1];
    uint32_t last = row->positions_length;
    if (last && builder->mentions[last - 1].position == position) {
        return OK;
    }
    int status = array_reserve(&builder->mentions, &builder->mention_capacity,
                               builder->mention_count + 1, sizeof *builder->mentions);
    if (status == OK) {
        builder->mentions[builder->mention_count++] = (struct term_mention){position, 0};
        *(last ? &builder->mentions[last - 1].next : &row->positions) = builder->mention_count;
        row->positions_length = builder->mention_count;
    }
    return status;
}

/* Writes the positions of the entry at hand, before its rows end. */
static int write_positions(struct builder *builder)
{
    const struct rows *rows = &builder->of_entries;
    for (uint32_t i = rows->start; i < rows->count; i++) {
        struct term_row *row = &rows->items[i];
        size_t start = builder->positions.length;
        uint32_t behind = 0; /* the position behind the last that was written */
        for (uint32_t at = row->positions; at > 0; at = builder->mentions[at - 1].next) {
            const struct term_mention *mention = &builder->mentions[at - 1];
            positions_put(&builder->positions, mention->position + 1 - behind, mention->next > 0);
            behind = mention->position + 1;
        }
        row->positions = (uint32_t)start;
        row->positions_length = (uint32_t)(builder->positions.length - start);
    }
    builder->mention_count = 0;
    return buf_error(&builder->positions);
}

/* Counts a term for the entry and the passage at hand. */
static int count(struct gathering *gathering, uint32_t term)
{
    struct builder *builder = gathering->builder;
    uint32_t terms = builder->terms.count;
    int status = count_term(&builder->of_entries, term, terms, gathering->times);
    if (status == OK && gathering->part) {
        status = count_term(&builder->of_parts, term, terms, gathering->times);
    }
    return status == OK ? array_reserve(&builder->compound, &builder->compound_capacity, terms,
                                        sizeof *builder->compound)
                        : status;
}

static int begin_part(struct gathering *gathering)
{
    struct builder *builder = gathering->builder;
    int status = array_reserve(&builder->parts, &builder->part_capacity, builder->part_count + 1,
                               sizeof *builder->parts);
    if (status == OK) {
        gathering->part = &builder->parts[builder->part_count++];
        *gathering->part = (struct entry_passage){.rows = builder->of_parts.count};
        gathering->entry->document.passage_count++;
    }
    return status;
}

static void end_part(struct gathering *gathering)
{
    gathering->part->row_count = end_rows(&gathering->builder->of_parts);
}

/* Goes on to the passage that holds the byte. */
static int reach_passage(struct gathering *gathering, size_t byte)
{
    int status = OK;
    while (gathering->has_next && byte >= gathering->next.start && status == OK) {
        end_part(gathering);
        status = begin_part(gathering);
        gathering->has_next = passages_next(gathering->passages, &gathering->next);
    }
    return status;
}

/* The length of a text is what a reader would count; pairs of characters count, single ones and
 * whole identifiers come on top. A word is of the passage where it begins. */
static int gather(void *context, const struct word *word)
{
    struct gathering *gathering = context;
    struct builder *builder = gathering->builder;
    int reached = gathering->passages ? reach_passage(gathering, word->start) : OK;
    if (reached != OK) {
        return reached;
    }
    uint32_t term = word->note && *word->note
                        ? *word->note - 1
                        : symbols_add(&builder->terms, word->term, word->length);
    if (term == SYMBOL_NONE) {
        return ERR_NOMEM;
    }
    if (word->note) {
        *word->note = term + 1;
    }
    int status = count(gathering, term);
    gathering->last = gathering->base + word->position;
    status = status == OK ? mention(builder, term, gathering->last) : status;
    if (status == OK) {
        uint32_t words = word->kind == WORD_PLAIN || word->kind == WORD_PAIR;
        builder->compound[term] |= words_compound(gathering->language);
        gathering->entry->document.length += words;
        if (gathering->part) {
            gathering->part->length += words;
        }
    }
    return status;
}

/* A word of a key. */
static int gather_key(void *context, const struct word *word)
{
    struct gathering *gathering = context;
    struct builder *builder = gathering->builder;
    char marked[FOLD_BYTES + 1] = {KEY_MARK};
    if (word->stop || word->length >= FOLD_BYTES ||
        !keys_word(word->term, word->length, gathering->key_speaks)) {
        return OK;
    }
    memcpy(marked + 1, word->term, word->length);
    uint32_t term = symbols_add(&builder->terms, marked, word->length + 1);
    return term == SYMBOL_NONE ? ERR_NOMEM : count(gathering, term);
}

/* No phrase reaches from one text of an entry into another (fulltext.c does the same). */
static int gather_text(struct gathering *gathering, const char *text, size_t length)
{
    int status = words_each(gathering->builder->reader, text, length, gathering->language, gather,
                            gathering);
    gathering->base = gathering->last + 2;
    return status;
}

/* A summary that was made from the text repeats its beginning and must not count twice. */
static bool repeats_text(const char *summary, const char *text)
{
    size_t length = strlen(summary);
    static const char ELLIPSIS[] = "\xE2\x80\xA6";
    size_t mark = sizeof ELLIPSIS - 1;
    if (length >= mark && memcmp(summary + length - mark, ELLIPSIS, mark) == 0) {
        length -= mark;
    }
    return strncmp(summary, text, length) == 0;
}

/* What is said of an entry besides its text belongs to its first passage, and comes before it. */
static int gather_fields(struct gathering *gathering, const struct index_entry *entry)
{
    const char *text = entry->text ? entry->text : "";
    int status = OK;
    if (entry->summary && !repeats_text(entry->summary, text)) {
        status = gather_text(gathering, entry->summary, strlen(entry->summary));
    }
    gathering->times = TAG_TIMES;
    for (size_t i = 0; i < entry->tag_count && status == OK; i++) {
        status = gather_text(gathering, entry->tags[i], strlen(entry->tags[i]));
    }
    gathering->times = 1;
    if (status == OK && entry->key) {
        gathering->key_speaks = keys_speak(entry->key);
        status = words_each(gathering->builder->reader, entry->key, strlen(entry->key),
                            gathering->language, gather_key, gathering);
    }
    return status;
}

static int gather_entry(struct builder *builder, const struct index_entry *entry,
                        struct collected *collected)
{
    const char *text = entry->text ? entry->text : "";
    size_t length = strlen(text);
    struct gathering gathering = {.builder = builder,
                                  .entry = collected,
                                  .language = words_guess(builder->reader, text, length),
                                  .times = 1};
    struct passages passages;
    struct passage first;
    collected->document.language = (uint8_t)gathering.language;
    passages_begin(&passages, text, length);
    gathering.has_next =
        passages_next(&passages, &first) && passages_next(&passages, &gathering.next);
    int status = gathering.has_next ? begin_part(&gathering) : OK;
    status = status == OK ? gather_fields(&gathering, entry) : status;
    gathering.passages = gathering.has_next ? &passages : NULL;
    status = status == OK ? gather_text(&gathering, text, length) : status;
    if (gathering.part) {
        status = status == OK ? reach_passage(&gathering, length) : status;
        end_part(&gathering);
    }
    return status;
}

static uint32_t name_of(struct builder *builder, const char *text, int *status)
{
    uint32_t name = symbols_add(&builder->names, text, strlen(text));
    *status = name == SYMBOL_NONE ? ERR_NOMEM : *status;
    return name;
}

static int put_names(struct builder *builder, const struct index_entry *entry,
                     struct segment_document *document)
{
    int status = OK;
    document->session = entry->session ? name_of(builder, entry->session, &status) : SYMBOL_NONE;
    document->role = entry->role ? name_of(builder, entry->role, &status) : SYMBOL_NONE;
    document->tags = builder->tag_count;
    document->tag_count = (uint16_t)(entry->tag_count < UINT16_MAX ? entry->tag_count : UINT16_MAX);
    if (status == OK) {
        status = array_reserve(&builder->tags, &builder->tag_capacity,
                               builder->tag_count + document->tag_count, sizeof *builder->tags);
    }
    for (size_t i = 0; i < document->tag_count && status == OK; i++) {
        builder->tags[builder->tag_count + i] = name_of(builder, entry->tags[i], &status);
    }
    return status;
}

int builder_put(struct builder *builder, const struct index_entry *entry)
{
    int status = array_reserve(&builder->entries, &builder->entry_capacity,
                               builder->entry_count + 1, sizeof *builder->entries);
    if (status != OK) {
        return status;
    }
    struct collected *made = &builder->entries[builder->entry_count];
    *made = (struct collected){.document = {.id = entry->id,
                                            .created_ms = entry->created_ms,
                                            .expires_ms = entry->expires_ms,
                                            .place = entry->place,
                                            .passages = builder->part_count},
                               .rows = builder->of_entries.count};
    status = put_names(builder, entry, &made->document);
    if (status == OK) {
        status = gather_entry(builder, entry, made);
    }
    int written = write_positions(builder);
    status = status == OK ? written : status;
    made->row_count = end_rows(&builder->of_entries);
    made->dead = status != OK; /* its rows stay, and lead nowhere */
    builder->tag_count += status == OK ? made->document.tag_count : 0;
    bool first = builder->entry_count == 0;
    builder->lowest = first || entry->id < builder->lowest ? entry->id : builder->lowest;
    builder->highest = first || entry->id > builder->highest ? entry->id : builder->highest;
    builder->entry_count++;
    builder->live += status == OK;
    return status;
}

/* ---- making the segment ---- */

/* Postings of all terms, one term behind the other. */
struct lists {
    struct posting *items;
    uint32_t *ends; /* of each term; while they come, where its next one goes */
};

struct sealing {
    struct builder *builder;
    struct segment_draft draft;
    const struct collected **order; /* the living, by their ids */
    uint32_t *lengths;              /* for bounds */
    uint32_t *passages;             /* lengths */
    uint32_t passage_count;
    struct lists documents;
    struct lists parts;
};

static int by_id(const void *left, const void *right)
{
    const struct collected *const *a = left;
    const struct collected *const *b = right;
    return ((*a)->document.id > (*b)->document.id) - ((*a)->document.id < (*b)->document.id);
}

/* Numbers the documents and their passages. */
static int order_entries(struct sealing *sealing)
{
    const struct builder *builder = sealing->builder;
    struct segment_draft *draft = &sealing->draft;
    sealing->order = malloc((builder->live + (size_t)1) * sizeof *sealing->order);
    sealing->lengths = malloc((builder->live + (size_t)1) * sizeof *sealing->lengths);
    sealing->passages = malloc((builder->part_count + (size_t)1) * sizeof *sealing->passages);
    draft->documents = malloc((builder->live + (size_t)1) * sizeof *draft->documents);
    if (!sealing->order || !sealing->lengths || !sealing->passages || !draft->documents) {
        return ERR_NOMEM;
    }
    for (uint32_t i = 0; i < builder->entry_count; i++) {
        if (!builder->entries[i].dead) {
            sealing->order[draft->document_count++] = &builder->entries[i];
        }
    }
    qsort(sealing->order, draft->document_count, sizeof *sealing->order, by_id);
    for (uint32_t i = 0; i < draft->document_count; i++) {
        const struct segment_document *document = &sealing->order[i]->document;
        draft->documents[i] = *document;
        draft->documents[i].passages = sealing->passage_count;
        sealing->lengths[i] = document->length | (document->passage_count > 0 ? POSTINGS_LONG : 0);
        for (uint32_t j = 0; j < document->passage_count; j++) {
            sealing->passages[sealing->passage_count++] =
                builder->parts[document->passages + j].length;
        }
    }
    draft->tags = builder->tags;
    draft->passages = sealing->passages;
    draft->names = &builder->names;
    return OK;
}

/* Counts rows, or puts them where their terms' postings are. */
static void take_rows(struct lists *lists, const struct term_row *rows, uint32_t count,
                      uint32_t number, const struct buf *positions, bool counting)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *end = &lists->ends[rows[i].term];
        bool has_positions = rows[i].positions_length > 0;
        if (!counting) {
            lists->items[*end] = (struct posting){
                .document = number,
                .times = rows[i].times,
                .positions_length = rows[i].positions_length,
                .positions =
                    has_positions ? (const uint8_t *)positions->data + rows[i].positions : NULL};
        }
        (*end)++;
    }
}

static void take_entries(struct sealing *sealing, bool counting)
{
    const struct builder *builder = sealing->builder;
    uint32_t passage = 0;
    for (uint32_t i = 0; i < sealing->draft.document_count; i++) {
        const struct collected *entry = sealing->order[i];
        take_rows(&sealing->documents, builder->of_entries.items + entry->rows, entry->row_count, i,
                  &builder->positions, counting);
        for (uint32_t j = 0; j < entry->document.passage_count; j++) {
            const struct entry_passage *part = &builder->parts[entry->document.passages + j];
            take_rows(&sealing->parts, builder->of_parts.items + part->rows, part->row_count,
                      passage++, &builder->positions, counting);
        }
    }
}

static int start_lists(struct lists *lists, uint32_t terms, uint32_t rows)
{
    lists->ends = calloc(terms + (size_t)1, sizeof *lists->ends);
    lists->items = malloc((rows + (size_t)1) * sizeof *lists->items);
    return lists->ends && lists->items ? OK : ERR_NOMEM;
}

/* Makes starts of counts. */
static void add_up(struct lists *lists, uint32_t terms)
{
    uint32_t start = 0;
    for (uint32_t i = 0; i < terms; i++) {
        uint32_t count = lists->ends[i];
        lists->ends[i] = start;
        start += count;
    }
}

/* Sorts the rows by term; within a term they come in the order of the documents. */
static int sort_rows(struct sealing *sealing)
{
    const struct builder *builder = sealing->builder;
    uint32_t terms = builder->terms.count;
    int status = start_lists(&sealing->documents, terms, builder->of_entries.count);
    status = status == OK ? start_lists(&sealing->parts, terms, builder->of_parts.count) : status;
    if (status == OK) {
        take_entries(sealing, true);
        add_up(&sealing->documents, terms);
        add_up(&sealing->parts, terms);
        take_entries(sealing, false);
    }
    return status;
}

/* The postings of a term; how many there are. */
static uint32_t list_of(const struct lists *lists, uint32_t term, const struct posting **items)
{
    uint32_t from = term > 0 ? lists->ends[term - 1] : 0;
    *items = lists->items + from;
    return lists->ends[term] - from;
}

static int write_terms(struct sealing *sealing)
{
    const struct builder *builder = sealing->builder;
    struct ordered *terms = order_symbols(&builder->terms);
    for (uint32_t i = 0; terms && i < builder->terms.count; i++) {
        const struct posting *documents;
        const struct posting *parts;
        uint32_t count = list_of(&sealing->documents, terms[i].number, &documents);
        uint32_t part_count = list_of(&sealing->parts, terms[i].number, &parts);
        if (count > 0) { /* it may be of the dead only */
            segment_add_term(&sealing->draft, terms[i].text, terms[i].length, documents, count,
                             parts, part_count, sealing->lengths);
        }
    }
    free(terms);
    return terms ? OK : ERR_NOMEM;
}

/* The terms of texts in languages that write words together. */
static int write_compounds(struct sealing *sealing)
{
    const struct builder *builder = sealing->builder;
    struct compounds compounds = {0};
    int status = OK;
    for (uint32_t i = 0; i < builder->terms.count && status == OK; i++) {
        const struct posting *documents;
        if (builder->compound[i] && list_of(&sealing->documents, i, &documents) > 0) {
            status = compounds_add(&compounds, symbols_text(&builder->terms, i),
                                   symbols_length(&builder->terms, i));
        }
    }
    if (status == OK) {
        status = compounds_write(&compounds, &sealing->draft.compounds);
    }
    compounds_done(&compounds);
    return status;
}

int builder_seal(struct builder *builder, uint8_t **bytes, size_t *length)
{
    struct sealing sealing = {.builder = builder};
    segment_begin(&sealing.draft);
    int status = order_entries(&sealing);
    status = status == OK ? sort_rows(&sealing) : status;
    status = status == OK ? write_terms(&sealing) : status;
    status = status == OK ? write_compounds(&sealing) : status;
    status = status == OK ? segment_write(&sealing.draft, bytes, length) : status;
    segment_done(&sealing.draft);
    free(sealing.draft.documents);
    free(sealing.order);
    free(sealing.lengths);
    free(sealing.passages);
    free(sealing.documents.ends);
    free(sealing.documents.items);
    free(sealing.parts.ends);
    free(sealing.parts.items);
    clear(builder);
    words_rest(builder->reader); /* its notes are the numbers of terms that are gone */
    return status;
}
