/* The index's data: documents and their passages are numbered as they come, and each term has the
 * list of the passages that hold it. What is removed is only marked; when half of everything is
 * marked the index is compacted. */
#include "index/index.h"

#include "core/limits.h"
#include "core/status.h"
#include "index/fold.h"
#include "index/internal.h"
#include "index/passages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY  64u
#define COMPACT_MINIMUM 1024u /* documents below which compacting is not worth it */
#define BLOCK_BYTES     16u   /* that an allocation takes besides */

/* Makes room for `wanted` items in an array that grows by doubling. */
static int reserve(void *array, uint32_t *capacity, uint32_t wanted, size_t item)
{
    if (wanted <= *capacity) {
        return OK;
    }
    uint32_t grown = *capacity ? *capacity : FIRST_CAPACITY;
    while (grown < wanted) {
        if (grown > UINT32_MAX / 2) {
            return ERR_LIMIT;
        }
        grown *= 2;
    }
    void *items; /* copied, as pointers of another type must not be looked at through void ** */
    memcpy(&items, array, sizeof items);
    char *moved = realloc(items, grown * item);
    if (!moved) {
        return ERR_NOMEM;
    }
    memset(moved + *capacity * item, 0, (grown - *capacity) * item);
    memcpy(array, &moved, sizeof moved);
    *capacity = grown;
    return OK;
}

struct index *index_new(void)
{
    struct index *index = calloc(1, sizeof *index);
    if (index) {
        index->reader = words_new();
    }
    return index && !index->reader ? index_free(index) : index;
}

struct index *index_free(struct index *index)
{
    if (index) {
        words_free(index->reader);
        /* A term may have come whose postings found no memory. */
        for (uint32_t i = 0; i < index->terms.count && i < index->postings_capacity; i++) {
            postings_done(&index->postings[i]);
        }
        for (uint32_t i = 0; i < index->session_capacity; i++) {
            free(index->sessions[i].members);
        }
        symbols_done(&index->terms);
        symbols_done(&index->names);
        free(index->postings);
        free(index->sessions);
        free(index->documents);
        free(index->rows);
        free(index->tags);
        free(index->slots);
        free(index->found);
        free(index->times);
        free(index);
    }
    return NULL;
}

void index_rest(struct index *index)
{
    words_rest(index->reader);
}

size_t index_count(const struct index *index)
{
    return index->live;
}

static size_t block_bytes(const struct postings *postings)
{
    return postings->capacity ? postings->capacity + BLOCK_BYTES : 0;
}

size_t index_bytes(const struct index *index)
{
    const struct symbols *SYMBOLS[] = {&index->terms, &index->names};
    size_t bytes =
        sizeof *index + index->list_bytes + index->postings_capacity * sizeof *index->postings +
        index->session_capacity * sizeof *index->sessions +
        index->document_capacity * sizeof *index->documents +
        index->row_capacity * sizeof *index->rows + index->tag_capacity * sizeof *index->tags +
        index->slot_count * sizeof *index->slots + index->found_capacity * sizeof *index->found +
        index->times_capacity * sizeof *index->times;
    for (size_t i = 0; i < sizeof SYMBOLS / sizeof *SYMBOLS; i++) {
        bytes += SYMBOLS[i]->capacity + SYMBOLS[i]->most * sizeof *SYMBOLS[i]->starts +
                 SYMBOLS[i]->slot_count * sizeof *SYMBOLS[i]->slots;
    }
    return bytes;
}

/* ---- by id ---- */

static uint32_t *slot_of(const struct index *index, int64_t id)
{
    uint32_t mask = index->slot_count - 1;
    uint32_t at = (uint32_t)(((uint64_t)id * 0x9E3779B97F4A7C15u) >> 32) & mask;
    while (index->slots[at] && index->documents[index->slots[at] - 1].id != id) {
        at = (at + 1) & mask;
    }
    return &index->slots[at];
}

/* A slot stays with its id for good, so that a removed one does not break the chain; it points at
 * the newest document of the id, dead or alive. */
static int grow_slots(struct index *index, uint32_t documents)
{
    if (documents * 2 <= index->slot_count) {
        return OK;
    }
    uint32_t count = index->slot_count ? index->slot_count : FIRST_CAPACITY;
    while (count < documents * 2) {
        count *= 2;
    }
    uint32_t *slots = calloc(count, sizeof *slots);
    if (!slots) {
        return ERR_NOMEM;
    }
    free(index->slots);
    index->slots = slots;
    index->slot_count = count;
    for (uint32_t i = 0; i < index->document_count; i++) {
        *slot_of(index, index->documents[i].id) = i + 1;
    }
    return OK;
}

uint32_t index_find(const struct index *index, int64_t id)
{
    uint32_t number = index->slot_count ? *slot_of(index, id) - 1 : NO_DOCUMENT;
    return number != NO_DOCUMENT && !index->documents[number].dead ? number : NO_DOCUMENT;
}

/* ---- sessions ---- */

uint32_t session_position(const struct session *session, int64_t place, uint32_t document)
{
    uint32_t low = 0;
    uint32_t high = session->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct member *member = &session->members[middle];
        bool before =
            member->place < place || (member->place == place && member->document < document);
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    return low;
}

static int session_add(struct index *index, uint32_t name, int64_t place, uint32_t document)
{
    int status =
        reserve(&index->sessions, &index->session_capacity, name + 1, sizeof *index->sessions);
    if (status != OK) {
        return status;
    }
    struct session *session = &index->sessions[name];
    uint32_t before = session->capacity;
    status = reserve(&session->members, &session->capacity, session->count + 1,
                     sizeof *session->members);
    if (status != OK) {
        return status;
    }
    index->list_bytes += (session->capacity - before) * sizeof *session->members;
    uint32_t at = session_position(session, place, document);
    memmove(&session->members[at + 1], &session->members[at],
            (session->count - at) * sizeof *session->members);
    session->members[at] = (struct member){place, document};
    session->count++;
    return OK;
}

static void session_remove(struct index *index, const struct document *document, uint32_t number)
{
    struct session *session = &index->sessions[document->session];
    uint32_t at = session_position(session, document->place, number);
    memmove(&session->members[at], &session->members[at + 1],
            (session->count - at - 1) * sizeof *session->members);
    session->count--;
}

/* ---- removing ---- */

static void count_lengths(struct index *index, const struct document *document, double sign)
{
    double length = document->length > 0 ? document->length : 1;
    index->length_sum += sign * length;
    index->log_sum += sign * log(length);
    index->log_square_sum += sign * log(length) * log(length);
}

static void kill_document(struct index *index, uint32_t number)
{
    struct document *document = &index->documents[number];
    document->dead = true;
    count_lengths(index, document, -1);
    index->languages[document->language]--;
    index->live--;
    index->live_rows -= document->rows;
    for (uint32_t i = 0; i < document->rows; i++) {
        index->rows[document->row + i].dead = true;
    }
    if (document->session != SYMBOL_NONE) {
        session_remove(index, document, number);
    }
}

void index_remove(struct index *index, int64_t id)
{
    uint32_t number = index_find(index, id);
    if (number != NO_DOCUMENT) {
        kill_document(index, number);
    }
}

/* ---- compacting ---- */

/* Rewrites one list with the new numbers. */
static int renumber(struct postings *postings, const uint32_t *numbers)
{
    struct postings kept = {0};
    struct postings_cursor cursor;
    int status = OK;
    postings_start(postings, &cursor);
    while (status == OK && postings_next(&cursor)) {
        uint32_t number = numbers[cursor.row];
        if (number != NO_DOCUMENT) {
            status = postings_add(&kept, number, cursor.times);
        }
    }
    if (status == OK) {
        postings_done(postings);
        *postings = kept;
    } else {
        postings_done(&kept);
    }
    return status;
}

static void renumber_sessions(struct index *index, const uint32_t *numbers)
{
    for (uint32_t i = 0; i < index->session_capacity; i++) {
        struct session *session = &index->sessions[i];
        for (uint32_t j = 0; j < session->count; j++) {
            session->members[j].document = numbers[session->members[j].document];
        }
    }
}

/* The new numbers of the documents and of their passages. */
struct numbers {
    uint32_t *documents;
    uint32_t *rows;
};

static void move_documents(struct index *index, const struct numbers *numbers)
{
    uint32_t tags = 0;
    for (uint32_t i = 0; i < index->document_count; i++) {
        if (numbers->documents[i] != NO_DOCUMENT) {
            struct document *document = &index->documents[numbers->documents[i]];
            *document = index->documents[i];
            document->row = numbers->rows[document->row];
            if (document->tag_count > 0) {
                memmove(index->tags + tags, index->tags + document->tags,
                        document->tag_count * sizeof *index->tags);
            }
            document->tags = tags;
            tags += document->tag_count;
        }
    }
    index->tag_count = tags;
}

/* Drops what is marked. Each list is renumbered as a whole, so that a failure half-way would leave
 * two kinds of numbers: then the index is of no use and says so. */
static int compact_with(struct index *index, const struct numbers *numbers)
{
    uint32_t kept = 0;
    uint32_t kept_rows = 0;
    for (uint32_t i = 0; i < index->document_count; i++) {
        numbers->documents[i] = index->documents[i].dead ? NO_DOCUMENT : kept++;
    }
    for (uint32_t i = 0; i < index->row_count; i++) {
        struct row row = index->rows[i];
        row.document = numbers->documents[row.document];
        numbers->rows[i] = row.document == NO_DOCUMENT ? NO_DOCUMENT : kept_rows;
        if (row.document != NO_DOCUMENT) {
            index->rows[kept_rows++] = row;
        }
    }
    int status = OK;
    for (uint32_t i = 0; i < index->terms.count && status == OK; i++) {
        index->list_bytes -= block_bytes(&index->postings[i]);
        status = renumber(&index->postings[i], numbers->rows);
        index->list_bytes += block_bytes(&index->postings[i]);
    }
    if (status == OK) {
        renumber_sessions(index, numbers->documents);
        move_documents(index, numbers);
        index->document_count = kept;
        index->row_count = kept_rows;
        memset(index->slots, 0, index->slot_count * sizeof *index->slots);
        for (uint32_t i = 0; i < kept; i++) {
            *slot_of(index, index->documents[i].id) = i + 1;
        }
    }
    return status;
}

static int compact(struct index *index)
{
    struct numbers numbers = {malloc(index->document_count * sizeof(uint32_t)),
                              malloc((index->row_count + 1) * sizeof(uint32_t))};
    int status = numbers.documents && numbers.rows ? compact_with(index, &numbers) : ERR_NOMEM;
    free(numbers.documents);
    free(numbers.rows);
    return status;
}

/* ---- adding ---- */

struct gathering {
    struct index *index;
    uint32_t words;
};

/* Counts the term once more for the passage at hand. */
static int count_term(struct index *index, uint32_t term)
{
    int status = reserve(&index->postings, &index->postings_capacity, index->terms.count,
                         sizeof *index->postings);
    if (status == OK) {
        status = reserve(&index->times, &index->times_capacity, index->terms.count,
                         sizeof *index->times);
    }
    if (status == OK && index->times[term] == 0) {
        status = reserve(&index->found, &index->found_capacity, index->found_count + 1,
                         sizeof *index->found);
        if (status == OK) {
            index->found[index->found_count++] = term;
        }
    }
    if (status == OK) {
        index->times[term]++;
    }
    return status;
}

/* The length of a memory is what a reader would count; pairs of characters count, single ones and
 * whole identifiers come on top. */
static int gather(void *context, const struct word *word)
{
    struct gathering *gathering = context;
    struct index *index = gathering->index;
    uint32_t term = word->note && *word->note
                        ? *word->note - 1
                        : symbols_add(&index->terms, word->term, word->length);
    if (term == SYMBOL_NONE) {
        return ERR_NOMEM;
    }
    if (word->note) {
        *word->note = term + 1;
    }
    gathering->words += word->kind == WORD_PLAIN || word->kind == WORD_PAIR;
    return count_term(index, term);
}

static bool has_digit(const char *text)
{
    return strpbrk(text, "0123456789") != NULL;
}

/* A word of a key. Numbers are left out: most keys have one of their own, which would be a term for
 * each memory, and who has the key needs no search. */
static int gather_key(void *context, const struct word *word)
{
    struct gathering *gathering = context;
    char marked[FOLD_BYTES + 1] = {KEY_MARK};
    if (word->stop || has_digit(word->term) || word->length >= FOLD_BYTES) {
        return OK;
    }
    memcpy(marked + 1, word->term, word->length);
    uint32_t term = symbols_add(&gathering->index->terms, marked, word->length + 1);
    return term == SYMBOL_NONE ? ERR_NOMEM : count_term(gathering->index, term);
}

static int gather_text(struct gathering *gathering, const char *text, size_t length,
                       enum language language)
{
    return words_each(gathering->index->reader, text, length, language, gather, gathering);
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

/* What is said of a memory besides its text belongs to its first passage. */
static int gather_fields(struct gathering *gathering, const struct index_entry *entry,
                         enum language language)
{
    const char *text = entry->text ? entry->text : "";
    int status = OK;
    if (entry->summary && !repeats_text(entry->summary, text)) {
        status = gather_text(gathering, entry->summary, strlen(entry->summary), language);
    }
    for (size_t i = 0; i < entry->tag_count && status == OK; i++) {
        status = gather_text(gathering, entry->tags[i], strlen(entry->tags[i]), language);
    }
    if (status == OK && entry->key) {
        status = words_each(gathering->index->reader, entry->key, strlen(entry->key), language,
                            gather_key, gathering);
    }
    return status;
}

/* Adds the passage to the list of each of its terms. */
static int post(struct index *index, uint32_t row)
{
    int status = OK;
    for (uint32_t i = 0; i < index->found_count && status == OK; i++) {
        uint32_t term = index->found[i];
        struct postings *postings = &index->postings[term];
        index->list_bytes -= block_bytes(postings);
        status = postings_add(postings, row, index->times[term]);
        index->list_bytes += block_bytes(postings);
    }
    return status;
}

/* Forgets what was found, for the next passage. */
static void forget_found(struct index *index)
{
    for (uint32_t i = 0; i < index->found_count; i++) {
        index->times[index->found[i]] = 0;
    }
    index->found_count = 0;
}

static int put_passage(struct index *index, const struct index_entry *entry, uint32_t number,
                       const char *text, size_t length)
{
    struct document *document = &index->documents[number];
    struct gathering gathering = {index, 0};
    enum language language = (enum language)document->language;
    int status =
        reserve(&index->rows, &index->row_capacity, index->row_count + 1, sizeof *index->rows);
    if (status == OK) {
        status = gather_text(&gathering, text, length, language);
    }
    if (status == OK && document->rows == 0) {
        status = gather_fields(&gathering, entry, language);
    }
    if (status == OK) {
        index->rows[index->row_count] = (struct row){
            .document = number,
            .length = (uint16_t)(gathering.words < UINT16_MAX ? gathering.words : UINT16_MAX),
            .dead = true,
        };
        document->rows++;
        document->length += gathering.words;
        status = post(index, index->row_count++);
    }
    forget_found(index);
    return status;
}

static int put_text(struct index *index, const struct index_entry *entry, uint32_t number)
{
    struct document *document = &index->documents[number];
    const char *text = entry->text ? entry->text : "";
    size_t length = strlen(text);
    struct passages passages;
    struct passage passage;
    document->language = (uint8_t)words_guess(index->reader, text, length);
    document->row = index->row_count;
    passages_begin(&passages, text, length);
    int status = OK;
    while (status == OK && passages_next(&passages, &passage)) {
        status =
            put_passage(index, entry, number, text + passage.start, passage.end - passage.start);
    }
    /* A text of blanks has none, and may still have tags. */
    return status == OK && document->rows == 0 ? put_passage(index, entry, number, "", 0) : status;
}

static uint32_t name_of(struct index *index, const char *text, int *status)
{
    uint32_t name = symbols_add(&index->names, text, strlen(text));
    *status = name == SYMBOL_NONE ? ERR_NOMEM : *status;
    return name;
}

static int put_names(struct index *index, const struct index_entry *entry,
                     struct document *document)
{
    int status = OK;
    document->session = entry->session ? name_of(index, entry->session, &status) : SYMBOL_NONE;
    document->role = entry->role ? name_of(index, entry->role, &status) : SYMBOL_NONE;
    document->tags = index->tag_count;
    document->tag_count = (uint16_t)(entry->tag_count < UINT16_MAX ? entry->tag_count : UINT16_MAX);
    if (status == OK) {
        status = reserve(&index->tags, &index->tag_capacity, index->tag_count + document->tag_count,
                         sizeof *index->tags);
    }
    for (size_t i = 0; i < document->tag_count && status == OK; i++) {
        index->tags[index->tag_count + i] = name_of(index, entry->tags[i], &status);
    }
    return status;
}

/* A document is dead until all of it is there: after a failure its number and those of its passages
 * are used up, so that no list holds one twice. */
int index_put(struct index *index, const struct index_entry *entry)
{
    index_remove(index, entry->id);
    if (index->document_count >= COMPACT_MINIMUM && index->live < index->document_count / 2) {
        int compacted = compact(index);
        if (compacted != OK) {
            return compacted;
        }
    }
    uint32_t number = index->document_count;
    int status =
        reserve(&index->documents, &index->document_capacity, number + 1, sizeof *index->documents);
    if (status == OK) {
        status = grow_slots(index, number + 1);
    }
    if (status != OK) {
        return status;
    }
    struct document *document = &index->documents[number];
    *document = (struct document){.id = entry->id,
                                  .created_ms = entry->created_ms,
                                  .expires_ms = entry->expires_ms,
                                  .place = entry->place,
                                  .session = SYMBOL_NONE,
                                  .dead = true};
    index->document_count++;
    *slot_of(index, entry->id) = number + 1;
    status = put_text(index, entry, number);
    if (status == OK) {
        status = put_names(index, entry, document);
    }
    if (status == OK && document->session != SYMBOL_NONE) {
        status = session_add(index, document->session, document->place, number);
    }
    if (status != OK) {
        return status;
    }
    index->tag_count += document->tag_count;
    document->dead = false;
    count_lengths(index, document, 1);
    index->languages[document->language]++;
    index->live++;
    index->live_rows += document->rows;
    for (uint32_t i = 0; i < document->rows; i++) {
        index->rows[document->row + i].dead = false;
        index->rows[document->row + i].several = document->rows > 1;
    }
    return OK;
}
