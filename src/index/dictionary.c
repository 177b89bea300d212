/* Sixteen terms are a block: the first as a whole, each other by how much of the one before it
 * repeats, and its rest. A block begins with where the postings and positions of its first term
 * are; the others' follow. Of a term there are its documents, the bytes of their list and of their
 * positions, its passages and, where there are any, the bytes of theirs. */
#include "index/dictionary.h"

#include "index/coding.h"
#include "index/order.h"

#include <string.h>

#define STARTS_BYTES     (2 * sizeof(uint64_t)) /* of a block: where its lists and positions are */
#define FIRST_TERM_BYTES (STARTS_BYTES + 2)     /* before the first term: these, and lengths */
#define BLOCK_TERMS      16u
#define MOST_SIEVE_BYTES (UINT32_C(1) << 28)

/* ---- writing ---- */

void dictionary_begin(struct dictionary_writer *writer, size_t ceiling)
{
    *writer = (struct dictionary_writer){0};
    buf_init(&writer->bytes, ceiling);
    buf_init(&writer->blocks, ceiling);
    buf_init(&writer->hashes, ceiling);
}

static uint32_t hash_of(const char *text, size_t length)
{
    uint64_t hash = 0x9E3779B97F4A7C15u ^ length;
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ (unsigned char)text[i]) * 0x9FB21C651E98DF25u;
    }
    return (uint32_t)(hash ^ hash >> 32);
}

/* The two bits of a hash in a sieve. */
static uint32_t sieve_bit(uint32_t hash, int number, uint32_t length)
{
    return (number == 0 ? hash : hash * 0x85EBCA6Bu >> 3) & (length * 8 - 1);
}

static void put_number(struct buf *out, uint64_t number)
{
    uint8_t bytes[CODING_MOST_BYTES];
    buf_append(out, bytes, coding_put(bytes, number));
}

void dictionary_add(struct dictionary_writer *writer, const char *text, size_t length,
                    const struct dictionary_term *lists)
{
    size_t shared = 0;
    const uint64_t STARTS[] = {lists ? lists->list : 0, lists ? lists->positions : 0};
    length = length < DICTIONARY_MOST_TERM ? length : DICTIONARY_MOST_TERM;
    if (writer->count++ % BLOCK_TERMS == 0) {
        uint32_t offset = (uint32_t)writer->bytes.length;
        buf_append(&writer->blocks, &offset, sizeof offset);
        buf_append(&writer->bytes, STARTS, sizeof STARTS);
    } else {
        while (shared < length && shared < writer->last_length &&
               writer->last[shared] == text[shared]) {
            shared++;
        }
    }
    buf_putc(&writer->bytes, (char)shared);
    buf_putc(&writer->bytes, (char)(length - shared));
    buf_append(&writer->bytes, text + shared, length - shared);
    const uint32_t NUMBERS[] = {lists ? lists->holders : 0, lists ? lists->list_length : 0,
                                lists ? lists->positions_length : 0, lists ? lists->passages : 0,
                                lists ? lists->passages_length : 0};
    for (size_t i = 0; i < (NUMBERS[3] > 0 ? 5u : 4u); i++) {
        put_number(&writer->bytes, NUMBERS[i]);
    }
    memcpy(writer->last, text, length);
    writer->last_length = length;
    uint32_t hash = hash_of(text, length);
    buf_append(&writer->hashes, &hash, sizeof hash);
}

void dictionary_put_sieve(const struct dictionary_writer *writer, struct buf *out)
{
    uint32_t length = 8;
    while (length < writer->count && length < MOST_SIEVE_BYTES) {
        length *= 2;
    }
    size_t start = out->length;
    for (uint32_t i = 0; i < length; i += 8) {
        buf_append(out, "\0\0\0\0\0\0\0", 8);
    }
    if (buf_error(out) != OK || buf_error(&writer->hashes) != OK) {
        return;
    }
    for (uint32_t i = 0; i < writer->count; i++) {
        uint32_t hash;
        memcpy(&hash, writer->hashes.data + (size_t)i * sizeof hash, sizeof hash);
        for (int number = 0; number < 2; number++) {
            uint32_t bit = sieve_bit(hash, number, length);
            out->data[start + bit / 8] = (char)(out->data[start + bit / 8] | 1 << bit % 8);
        }
    }
}

void dictionary_done(struct dictionary_writer *writer)
{
    buf_done(&writer->bytes);
    buf_done(&writer->blocks);
    buf_done(&writer->hashes);
}

/* ---- reading ---- */

/* Reads the term at `walk->at`. */
static bool read_term(struct dictionary_walk *walk)
{
    struct dictionary_term *term = &walk->term;
    const uint8_t *end = walk->dictionary->bytes + walk->dictionary->length;
    if (end - walk->at < 2) {
        return false;
    }
    size_t shared = walk->at[0];
    size_t rest = walk->at[1];
    walk->at += 2;
    if (shared > term->length || shared + rest > DICTIONARY_MOST_TERM ||
        (size_t)(end - walk->at) < rest) {
        return false;
    }
    memcpy(term->text + shared, walk->at, rest);
    term->length = shared + rest;
    term->text[term->length] = '\0';
    walk->at += rest;
    term->list += (uint64_t)term->list_length + term->passages_length;
    term->positions += term->positions_length;
    term->passages_length = 0;
    walk->in_block++;
    return coding_get(&walk->at, end, &term->holders) &&
           coding_get(&walk->at, end, &term->list_length) &&
           coding_get(&walk->at, end, &term->positions_length) &&
           coding_get(&walk->at, end, &term->passages) &&
           (term->passages == 0 || coding_get(&walk->at, end, &term->passages_length));
}

/* Stands at the first term of a block. */
static bool open_block(struct dictionary_walk *walk, uint32_t block)
{
    const struct dictionary *dictionary = walk->dictionary;
    if (block >= dictionary->block_count || dictionary->blocks[block] > dictionary->length ||
        dictionary->length - dictionary->blocks[block] < STARTS_BYTES) {
        return false;
    }
    walk->at = dictionary->bytes + dictionary->blocks[block];
    walk->block = block + 1;
    walk->in_block = 0;
    memcpy(&walk->term.list, walk->at, sizeof walk->term.list);
    memcpy(&walk->term.positions, walk->at + sizeof walk->term.list, sizeof walk->term.positions);
    walk->at += STARTS_BYTES;
    walk->term.length = 0;
    walk->term.list_length = 0;
    walk->term.passages_length = 0;
    walk->term.positions_length = 0;
    return read_term(walk);
}

bool dictionary_next(struct dictionary_walk *walk)
{
    if (walk->in_block == BLOCK_TERMS) {
        return open_block(walk, walk->block);
    }
    /* The last block may have fewer: it ends with the bytes. */
    return walk->at < walk->dictionary->bytes + walk->dictionary->length && read_term(walk);
}

static int compare(const struct dictionary_term *term, const char *text, size_t length)
{
    return order_texts(term->text, term->length, text, length);
}

/* How the first term of a block compares; false: the block is damaged. */
static bool compare_first(const struct dictionary *dictionary, uint32_t block, const char *text,
                          size_t length, int *order)
{
    uint32_t offset = dictionary->blocks[block];
    if (offset > dictionary->length || dictionary->length - offset < FIRST_TERM_BYTES) {
        return false;
    }
    const uint8_t *at = dictionary->bytes + offset + FIRST_TERM_BYTES;
    size_t first = at[-1];
    if (dictionary->length - offset - FIRST_TERM_BYTES < first) {
        return false;
    }
    *order = order_texts((const char *)at, first, text, length);
    return true;
}

bool dictionary_seek(struct dictionary_walk *walk, const struct dictionary *dictionary,
                     const char *text, size_t length)
{
    uint32_t low = 0; /* blocks before it begin before the text, or at it */
    uint32_t high = dictionary->block_count;
    walk->dictionary = dictionary;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order;
        if (!compare_first(dictionary, middle, text, length, &order)) {
            return false;
        }
        bool before = order <= 0;
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    bool there = open_block(walk, low > 0 ? low - 1 : 0);
    while (there && compare(&walk->term, text, length) < 0) {
        there = dictionary_next(walk);
    }
    return there;
}

/* Whether the sieve lets it through: every term, and few other texts. */
static bool may_hold(const struct dictionary *dictionary, const char *text, size_t length)
{
    uint32_t hash = hash_of(text, length);
    bool may = true;
    for (int number = 0; number < 2 && dictionary->sieve_length > 0; number++) {
        uint32_t bit = sieve_bit(hash, number, dictionary->sieve_length);
        may = may && dictionary->sieve[bit / 8] >> bit % 8 & 1;
    }
    return may;
}

bool dictionary_find(const struct dictionary *dictionary, const char *text, size_t length,
                     struct dictionary_term *term)
{
    struct dictionary_walk walk;
    bool there = may_hold(dictionary, text, length) &&
                 dictionary_seek(&walk, dictionary, text, length) &&
                 compare(&walk.term, text, length) == 0;
    if (there) {
        *term = walk.term;
    }
    return there;
}

bool dictionary_within(const struct dictionary_walk *walk, const char *text, size_t length)
{
    return walk->term.length >= length && memcmp(walk->term.text, text, length) == 0;
}
