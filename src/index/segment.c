/* A header, then sections, each aligned to eight bytes: arrays with one number for each document,
 * names, members of sessions, dictionaries, postings, positions. */
#include "index/segment.h"

#include "core/limits.h"
#include "core/status.h"
#include "index/order.h"
#include "index/positions.h"

#include <stdlib.h>
#include <string.h>

static const char MAGIC[8] = {'f', 'o', 'r', 'a', 'g', 'e', '/', 's'};

#define VERSION         4u
#define BYTE_ORDER_MARK 0x01020304u

enum segment_section {
    SECTION_IDS,
    SECTION_CREATED,
    SECTION_EXPIRES,
    SECTION_PLACES,
    SECTION_LENGTHS,
    SECTION_SESSIONS,
    SECTION_ROLES,
    SECTION_TAG_STARTS,
    SECTION_PASSAGE_STARTS,
    SECTION_TAGS,
    SECTION_PASSAGES,
    SECTION_LANGUAGES,
    SECTION_NAME_STARTS,
    SECTION_NAMES,
    SECTION_MEMBER_STARTS,
    SECTION_MEMBERS,
    SECTION_TERM_BLOCKS,
    SECTION_TERMS,
    SECTION_TERM_SIEVE,
    SECTION_COMPOUND_BLOCKS,
    SECTION_COMPOUNDS,
    SECTION_LISTS,
    SECTION_POSITIONS,
    SECTION_COUNT
};

struct segment_header {
    char magic[sizeof MAGIC];
    uint32_t version;
    uint32_t byte_order;
    uint64_t length; /* of everything */
    uint32_t documents;
    uint32_t names;
    struct {
        uint64_t offset;
        uint64_t length;
    } sections[SECTION_COUNT];
};

/* The bytes of an item, and how many items there are of how many documents and names. */
static const struct {
    uint8_t item;
    bool any; /* as many as there are bytes */
    uint8_t documents, names, more;
} SHAPES[SECTION_COUNT] = {
    [SECTION_IDS] = {8, false, 1, 0, 0},
    [SECTION_CREATED] = {8, false, 1, 0, 0},
    [SECTION_EXPIRES] = {8, false, 1, 0, 0},
    [SECTION_PLACES] = {8, false, 1, 0, 0},
    [SECTION_LENGTHS] = {4, false, 1, 0, 0},
    [SECTION_SESSIONS] = {4, false, 1, 0, 0},
    [SECTION_ROLES] = {4, false, 1, 0, 0},
    [SECTION_TAG_STARTS] = {4, false, 1, 0, 1},
    [SECTION_PASSAGE_STARTS] = {4, false, 1, 0, 1},
    [SECTION_TAGS] = {4, true, 0, 0, 0},
    [SECTION_PASSAGES] = {4, true, 0, 0, 0},
    [SECTION_LANGUAGES] = {1, false, 1, 0, 0},
    [SECTION_NAME_STARTS] = {4, false, 0, 1, 1},
    [SECTION_NAMES] = {1, true, 0, 0, 0},
    [SECTION_MEMBER_STARTS] = {4, false, 0, 1, 1},
    [SECTION_MEMBERS] = {4, true, 0, 0, 0},
    [SECTION_TERM_BLOCKS] = {4, true, 0, 0, 0},
    [SECTION_TERMS] = {1, true, 0, 0, 0},
    [SECTION_TERM_SIEVE] = {1, true, 0, 0, 0},
    [SECTION_COMPOUND_BLOCKS] = {4, true, 0, 0, 0},
    [SECTION_COMPOUNDS] = {1, true, 0, 0, 0},
    [SECTION_LISTS] = {1, true, 0, 0, 0},
    [SECTION_POSITIONS] = {1, true, 0, 0, 0},
};

/* ---- reading ---- */

static bool section_fits(const struct segment_header *header, enum segment_section section,
                         size_t length)
{
    uint64_t offset = header->sections[section].offset;
    uint64_t bytes = header->sections[section].length;
    uint64_t wanted = (uint64_t)header->documents * SHAPES[section].documents +
                      (uint64_t)header->names * SHAPES[section].names + SHAPES[section].more;
    return offset % 8 == 0 && offset <= length && bytes <= length - offset &&
           bytes / SHAPES[section].item <= UINT32_MAX && bytes % SHAPES[section].item == 0 &&
           (SHAPES[section].any ? bytes >= wanted : bytes == wanted * SHAPES[section].item);
}

int segment_open(struct segment *segment, const void *bytes, size_t length)
{
    struct segment_header header;
    *segment = (struct segment){.bytes = bytes, .length = length};
    if (length < sizeof header) {
        return ERR_INVALID;
    }
    memcpy(&header, bytes, sizeof header);
    bool fits = memcmp(header.magic, MAGIC, sizeof MAGIC) == 0 && header.version == VERSION &&
                header.byte_order == BYTE_ORDER_MARK && header.length == length &&
                header.documents < NO_DOCUMENT && header.names < SYMBOL_NONE;
    const void *at[SECTION_COUNT];
    uint32_t counts[SECTION_COUNT];
    for (int i = 0; i < SECTION_COUNT && fits; i++) {
        fits = section_fits(&header, (enum segment_section)i, length);
        at[i] = fits ? segment->bytes + header.sections[i].offset : NULL;
        counts[i] = (uint32_t)(header.sections[i].length / SHAPES[i].item);
    }
    if (!fits) {
        return ERR_INVALID;
    }
    segment->documents = header.documents;
    segment->names = header.names;
    segment->ids = at[SECTION_IDS];
    segment->created = at[SECTION_CREATED];
    segment->expires = at[SECTION_EXPIRES];
    segment->places = at[SECTION_PLACES];
    segment->lengths = at[SECTION_LENGTHS];
    segment->sessions = at[SECTION_SESSIONS];
    segment->roles = at[SECTION_ROLES];
    segment->tag_starts = at[SECTION_TAG_STARTS];
    segment->tags = at[SECTION_TAGS];
    segment->tag_count = counts[SECTION_TAGS];
    segment->passage_starts = at[SECTION_PASSAGE_STARTS];
    segment->passages = at[SECTION_PASSAGES];
    segment->passage_count = counts[SECTION_PASSAGES];
    segment->languages = at[SECTION_LANGUAGES];
    segment->name_starts = at[SECTION_NAME_STARTS];
    segment->name_bytes = at[SECTION_NAMES];
    segment->name_length = counts[SECTION_NAMES];
    segment->member_starts = at[SECTION_MEMBER_STARTS];
    segment->members = at[SECTION_MEMBERS];
    segment->member_count = counts[SECTION_MEMBERS];
    uint32_t sieve = counts[SECTION_TERM_SIEVE];
    segment->terms = (struct dictionary){
        .blocks = at[SECTION_TERM_BLOCKS],
        .block_count = counts[SECTION_TERM_BLOCKS],
        .bytes = at[SECTION_TERMS],
        .length = counts[SECTION_TERMS],
        .sieve = at[SECTION_TERM_SIEVE],
        .sieve_length = (sieve & (sieve - 1)) == 0 ? sieve : 0,
    };
    segment->compounds = (struct dictionary){
        .blocks = at[SECTION_COMPOUND_BLOCKS],
        .block_count = counts[SECTION_COMPOUND_BLOCKS],
        .bytes = at[SECTION_COMPOUNDS],
        .length = counts[SECTION_COMPOUNDS],
    };
    segment->lists = at[SECTION_LISTS];
    segment->lists_length = counts[SECTION_LISTS];
    segment->positions = at[SECTION_POSITIONS];
    segment->positions_length = counts[SECTION_POSITIONS];
    return OK;
}

uint32_t segment_find(const struct segment *segment, int64_t id)
{
    uint32_t low = 0;
    uint32_t high = segment->documents;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        bool before = segment->ids[middle] < id;
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    return low < segment->documents && segment->ids[low] == id ? low : NO_DOCUMENT;
}

enum language segment_language(const struct segment *segment, uint32_t document)
{
    uint8_t language = segment->languages[document];
    return language < LANGUAGE_COUNT ? (enum language)language : LANGUAGE_ENGLISH;
}

/* The items of one owner in an array that `starts` divides. */
static const uint32_t *divided(const uint32_t *items, uint32_t item_count, const uint32_t *starts,
                               uint32_t at, uint32_t *count)
{
    uint32_t from = starts[at];
    uint32_t until = starts[at + 1];
    bool there = from <= until && until <= item_count;
    *count = there ? until - from : 0;
    return there ? items + from : items;
}

const char *segment_name_text(const struct segment *segment, uint32_t name, size_t *length)
{
    uint32_t from = name < segment->names ? segment->name_starts[name] : 0;
    uint32_t until = name < segment->names ? segment->name_starts[name + 1] : 0;
    bool there = from <= until && until <= segment->name_length;
    *length = there ? until - from : 0;
    return there ? segment->name_bytes + from : segment->name_bytes;
}

uint32_t segment_name(const struct segment *segment, const char *text, size_t length)
{
    uint32_t low = 0;
    uint32_t high = segment->names;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        size_t other_length;
        const char *other = segment_name_text(segment, middle, &other_length);
        int order = order_texts(other, other_length, text, length);
        if (order == 0) {
            return middle;
        }
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return SYMBOL_NONE;
}

const uint32_t *segment_tags(const struct segment *segment, uint32_t document, uint32_t *count)
{
    return divided(segment->tags, segment->tag_count, segment->tag_starts, document, count);
}

const uint32_t *segment_passages(const struct segment *segment, uint32_t document, uint32_t *first,
                                 uint32_t *count)
{
    const uint32_t *lengths = divided(segment->passages, segment->passage_count,
                                      segment->passage_starts, document, count);
    *first = (uint32_t)(lengths - segment->passages);
    return lengths;
}

const uint32_t *segment_members(const struct segment *segment, uint32_t session, uint32_t *count)
{
    *count = 0;
    return session < segment->names ? divided(segment->members, segment->member_count,
                                              segment->member_starts, session, count)
                                    : segment->members;
}

static struct postings list_at(const struct segment *segment, uint64_t offset, uint32_t length,
                               uint32_t count, uint32_t most)
{
    bool there = offset <= segment->lists_length && length <= segment->lists_length - offset &&
                 count <= most;
    return there ? (struct postings){.bytes = segment->lists + offset,
                                     .length = length,
                                     .count = count}
                 : (struct postings){.bytes = segment->lists};
}

struct postings segment_postings(const struct segment *segment, const struct dictionary_term *term)
{
    struct postings list =
        list_at(segment, term->list, term->list_length, term->holders, segment->documents);
    if (term->positions <= segment->positions_length &&
        term->positions_length <= segment->positions_length - term->positions) {
        list.positions = segment->positions + term->positions;
        list.positions_length = term->positions_length;
    }
    return list;
}

struct postings segment_passage_postings(const struct segment *segment,
                                         const struct dictionary_term *term)
{
    return list_at(segment, term->list + term->list_length, term->passages_length, term->passages,
                   segment->passage_count);
}

/* ---- writing ---- */

void segment_begin(struct segment_draft *draft)
{
    *draft = (struct segment_draft){0};
    buf_init(&draft->lists, LIMIT_INDEX_SEGMENT_BYTES);
    buf_init(&draft->positions, LIMIT_INDEX_SEGMENT_BYTES);
    dictionary_begin(&draft->terms, LIMIT_INDEX_SEGMENT_BYTES);
    dictionary_begin(&draft->compounds, LIMIT_INDEX_SEGMENT_BYTES);
}

void segment_done(struct segment_draft *draft)
{
    buf_done(&draft->lists);
    buf_done(&draft->positions);
    dictionary_done(&draft->terms);
    dictionary_done(&draft->compounds);
}

void segment_add_term(struct segment_draft *draft, const char *text, size_t length,
                      const struct posting *documents, uint32_t document_count,
                      const struct posting *passages, uint32_t passage_count,
                      const uint32_t *lengths)
{
    size_t start = draft->lists.length;
    postings_write(&draft->lists, documents, document_count, lengths);
    size_t middle = draft->lists.length;
    postings_write(&draft->lists, passages, passage_count, NULL);
    size_t positions = draft->positions.length;
    positions_write(&draft->positions, documents, document_count);
    struct dictionary_term lists = {
        .list = start,
        .holders = document_count,
        .list_length = (uint32_t)(middle - start),
        .passages = passage_count,
        .passages_length = (uint32_t)(draft->lists.length - middle),
        .positions = positions,
        .positions_length = (uint32_t)(draft->positions.length - positions),
    };
    dictionary_add(&draft->terms, text, length, &lists);
}

struct segment_writing {
    struct segment_draft *draft;
    struct segment_header header;
    struct buf out;
    struct ordered *names; /* those that are used, in order */
    uint32_t *ranks;       /* of each name of the draft; SYMBOL_NONE: not used */
};

static void use_name(struct segment_writing *writing, uint32_t name)
{
    if (name != SYMBOL_NONE) {
        writing->ranks[name] = 0;
    }
}

static int rank_names(struct segment_writing *writing)
{
    const struct segment_draft *draft = writing->draft;
    const struct symbols *names = draft->names;
    writing->ranks = malloc((names->count + (size_t)1) * sizeof *writing->ranks);
    writing->names = malloc((names->count + (size_t)1) * sizeof *writing->names);
    if (!writing->ranks || !writing->names) {
        return ERR_NOMEM;
    }
    memset(writing->ranks, 0xFF, names->count * sizeof *writing->ranks);
    for (uint32_t i = 0; i < draft->document_count; i++) {
        const struct segment_document *document = &draft->documents[i];
        use_name(writing, document->session);
        use_name(writing, document->role);
        for (uint32_t j = 0; j < document->tag_count; j++) {
            use_name(writing, draft->tags[document->tags + j]);
        }
    }
    uint32_t used = 0;
    for (uint32_t i = 0; i < names->count; i++) {
        if (writing->ranks[i] != SYMBOL_NONE) {
            writing->names[used++] =
                (struct ordered){symbols_text(names, i), symbols_length(names, i), i};
        }
    }
    order_sort(writing->names, used);
    for (uint32_t i = 0; i < used; i++) {
        writing->ranks[writing->names[i].number] = i;
    }
    writing->header.names = used;
    return OK;
}

/* Begins a section where the last one ended, at a multiple of eight. */
static void begin_section(struct segment_writing *writing, enum segment_section section)
{
    static const char ZEROS[8];
    buf_append(&writing->out, ZEROS, (8 - writing->out.length % 8) % 8);
    writing->header.sections[section].offset = writing->out.length;
}

static void end_section(struct segment_writing *writing, enum segment_section section)
{
    writing->header.sections[section].length =
        writing->out.length - writing->header.sections[section].offset;
}

static void put_section(struct segment_writing *writing, enum segment_section section,
                        const void *bytes, size_t length)
{
    begin_section(writing, section);
    if (length > 0) {
        buf_append(&writing->out, bytes, length);
    }
    end_section(writing, section);
}

static void put_u32(struct segment_writing *writing, uint32_t number)
{
    buf_append(&writing->out, &number, sizeof number);
}

static uint32_t rank_of(const struct segment_writing *writing, uint32_t name)
{
    return name == SYMBOL_NONE ? SYMBOL_NONE : writing->ranks[name];
}

static void put_columns(struct segment_writing *writing)
{
    const struct segment_draft *draft = writing->draft;
    for (int section = SECTION_IDS; section <= SECTION_LANGUAGES; section++) {
        uint32_t tags = 0;
        uint32_t passages = 0;
        begin_section(writing, (enum segment_section)section);
        for (uint32_t i = 0; i < draft->document_count; i++) {
            const struct segment_document *document = &draft->documents[i];
            const int64_t LARGE[] = {document->id, document->created_ms, document->expires_ms,
                                     document->place};
            const uint32_t SMALL[] = {document->length, rank_of(writing, document->session),
                                      rank_of(writing, document->role), tags, passages};
            if (section <= SECTION_PLACES) {
                buf_append(&writing->out, &LARGE[section], sizeof LARGE[section]);
            } else if (section <= SECTION_PASSAGE_STARTS) {
                put_u32(writing, SMALL[section - SECTION_LENGTHS]);
            } else if (section == SECTION_LANGUAGES) {
                buf_putc(&writing->out, (char)document->language);
            }
            for (uint32_t j = 0; j < document->tag_count && section == SECTION_TAGS; j++) {
                put_u32(writing, rank_of(writing, draft->tags[document->tags + j]));
            }
            if (section == SECTION_PASSAGES && document->passage_count > 0) {
                buf_append(&writing->out, draft->passages + document->passages,
                           document->passage_count * sizeof *draft->passages);
            }
            tags += document->tag_count;
            passages += document->passage_count;
        }
        if (section == SECTION_TAG_STARTS || section == SECTION_PASSAGE_STARTS) {
            put_u32(writing, section == SECTION_TAG_STARTS ? tags : passages);
        }
        end_section(writing, (enum segment_section)section);
    }
}

static void put_names(struct segment_writing *writing)
{
    uint32_t start = 0;
    begin_section(writing, SECTION_NAME_STARTS);
    put_u32(writing, 0);
    for (uint32_t i = 0; i < writing->header.names; i++) {
        start += (uint32_t)writing->names[i].length;
        put_u32(writing, start);
    }
    end_section(writing, SECTION_NAME_STARTS);
    begin_section(writing, SECTION_NAMES);
    for (uint32_t i = 0; i < writing->header.names; i++) {
        buf_append(&writing->out, writing->names[i].text, writing->names[i].length);
    }
    end_section(writing, SECTION_NAMES);
}

/* A document that is in a session. */
struct member {
    uint32_t session;
    uint32_t document;
    int64_t place;
};

static int by_place(const void *left, const void *right)
{
    const struct member *a = left;
    const struct member *b = right;
    return a->session != b->session ? (a->session > b->session ? 1 : -1)
           : a->place != b->place   ? (a->place > b->place ? 1 : -1)
                                    : (a->document > b->document) - (a->document < b->document);
}

static int put_members(struct segment_writing *writing)
{
    const struct segment_draft *draft = writing->draft;
    struct member *members = malloc((draft->document_count + (size_t)1) * sizeof *members);
    uint32_t count = 0;
    if (!members) {
        return ERR_NOMEM;
    }
    for (uint32_t i = 0; i < draft->document_count; i++) {
        if (draft->documents[i].session != SYMBOL_NONE) {
            members[count++] = (struct member){rank_of(writing, draft->documents[i].session), i,
                                               draft->documents[i].place};
        }
    }
    qsort(members, count, sizeof *members, by_place);
    uint32_t at = 0;
    begin_section(writing, SECTION_MEMBER_STARTS);
    for (uint32_t i = 0; i <= writing->header.names; i++) {
        while (at < count && members[at].session < i) {
            at++;
        }
        put_u32(writing, at);
    }
    end_section(writing, SECTION_MEMBER_STARTS);
    begin_section(writing, SECTION_MEMBERS);
    for (uint32_t i = 0; i < count; i++) {
        put_u32(writing, members[i].document);
    }
    end_section(writing, SECTION_MEMBERS);
    free(members);
    return OK;
}

static void put_dictionary(struct segment_writing *writing, enum segment_section blocks,
                           const struct dictionary_writer *dictionary)
{
    put_section(writing, blocks, dictionary->blocks.data, dictionary->blocks.length);
    put_section(writing, (enum segment_section)(blocks + 1), dictionary->bytes.data,
                dictionary->bytes.length);
}

static int put_all(struct segment_writing *writing)
{
    struct segment_draft *draft = writing->draft;
    buf_append(&writing->out, &writing->header, sizeof writing->header);
    put_columns(writing);
    put_names(writing);
    int status = put_members(writing);
    put_dictionary(writing, SECTION_TERM_BLOCKS, &draft->terms);
    begin_section(writing, SECTION_TERM_SIEVE);
    dictionary_put_sieve(&draft->terms, &writing->out);
    end_section(writing, SECTION_TERM_SIEVE);
    put_dictionary(writing, SECTION_COMPOUND_BLOCKS, &draft->compounds);
    put_section(writing, SECTION_LISTS, draft->lists.data, draft->lists.length);
    put_section(writing, SECTION_POSITIONS, draft->positions.data, draft->positions.length);
    return status;
}

static int errors_of(const struct segment_writing *writing)
{
    const struct segment_draft *draft = writing->draft;
    const struct buf *BUFFERS[] = {&writing->out,           &draft->lists,
                                   &draft->terms.bytes,     &draft->terms.blocks,
                                   &draft->compounds.bytes, &draft->compounds.blocks,
                                   &draft->terms.hashes,    &draft->positions};
    int status = OK;
    for (size_t i = 0; i < sizeof BUFFERS / sizeof *BUFFERS && status == OK; i++) {
        status = buf_error(BUFFERS[i]);
    }
    return status;
}

/* Gives back the room that it does not need. */
static void fit(struct buf *out)
{
    char *fitting = realloc(out->data, out->length);
    if (fitting) {
        out->data = fitting;
    }
}

int segment_write(struct segment_draft *draft, uint8_t **bytes, size_t *length)
{
    struct segment_writing writing = {.draft = draft};
    writing.header.version = VERSION;
    writing.header.byte_order = BYTE_ORDER_MARK;
    writing.header.documents = draft->document_count;
    memcpy(writing.header.magic, MAGIC, sizeof MAGIC);
    buf_init(&writing.out, LIMIT_INDEX_SEGMENT_BYTES);
    int status = rank_names(&writing);
    status = status == OK ? put_all(&writing) : status;
    status = status == OK ? errors_of(&writing) : status;
    free(writing.names);
    free(writing.ranks);
    if (status == OK) {
        writing.header.length = writing.out.length;
        memcpy(writing.out.data, &writing.header, sizeof writing.header);
        fit(&writing.out);
        *bytes = (uint8_t *)writing.out.data;
        *length = writing.out.length;
    } else {
        buf_done(&writing.out);
    }
    return status;
}
