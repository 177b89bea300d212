/* Segments: lists and dictionaries as bytes, what is left out by pruning, and the whole index
 * against a slow and obvious model of it, through thousands of changes. */
#include "core/limits.h"
#include "core/status.h"
#include "index/dictionary.h"
#include "index/index.h"
#include "index/merge.h"
#include "index/positions.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t dice_state;

static uint32_t dice(uint32_t sides)
{
    dice_state = dice_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(dice_state >> 33) % sides;
}

/* ---- postings ---- */

static void check_list(uint32_t count, uint32_t step, uint32_t most_times)
{
    struct posting *postings = calloc(count + 1, sizeof *postings);
    uint32_t limit = 1;
    for (uint32_t i = 0; i < count; i++) {
        limit += dice(step);
        postings[i] = (struct posting){.document = limit++, .times = 1 + dice(most_times)};
    }
    uint32_t *lengths = calloc(limit + 1, sizeof *lengths);
    for (uint32_t i = 0; i < limit; i++) {
        lengths[i] = 1 + dice(300);
    }
    struct buf out;
    buf_init(&out, MIB(16));
    postings_write(&out, postings, count, lengths);
    struct postings list = {
        .bytes = (const uint8_t *)out.data, .length = out.length, .count = count};
    struct postings_cursor cursor;
    postings_start(&cursor, &list, limit);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(cursor.document, postings[i].document);
        assert_int_equal(cursor.times, postings[i].times);
        if (count >= POSTINGS_BLOCK) {
            struct postings_bound bound;
            postings_block_bound(&cursor, i / POSTINGS_BLOCK, &bound);
            uint32_t length = lengths[postings[i].document];
            bool within = postings[i].times == 1 ? bound.once_length <= length
                                                 : bound.most_times >= postings[i].times &&
                                                       bound.more_length <= length;
            assert_true(within);
        }
        postings_next(&cursor);
    }
    assert_int_equal(cursor.document, NO_DOCUMENT);
    for (uint32_t round = 0; round < 20; round++) {
        postings_start(&cursor, &list, limit);
        uint32_t at = 0;
        for (uint32_t wanted = dice(limit); wanted < limit; wanted += 1 + dice(limit / 4 + 1)) {
            postings_seek(&cursor, wanted);
            while (at < count && postings[at].document < wanted) {
                at++;
            }
            assert_int_equal(cursor.document, at < count ? postings[at].document : NO_DOCUMENT);
        }
    }
    /* What names a document that there is not ends the list. */
    postings_start(&cursor, &list, limit / 2);
    while (cursor.document != NO_DOCUMENT) {
        assert_true(cursor.document < limit / 2);
        postings_next(&cursor);
    }
    free(postings);
    free(lengths);
    buf_done(&out);
}

static void keeps_postings(void **state)
{
    (void)state;
    static const uint32_t COUNTS[] = {1, 2, 127, 128, 129, 255, 256, 257, 1000, 5000};
    dice_state = 1;
    for (size_t i = 0; i < COUNT(COUNTS); i++) {
        check_list(COUNTS[i], 1, 1);
        check_list(COUNTS[i], 5, 3);
        check_list(COUNTS[i], 3000, 400);
        check_list(COUNTS[i], 2, UINT32_MAX);
    }
}

/* ---- positions ---- */

enum { MOST_POSITIONS = 5 };

/* Positions of a document: none, or as many as its number says, far apart or near. */
static uint32_t positions_made(uint32_t document, uint32_t *made)
{
    uint32_t count = document % (MOST_POSITIONS + 1);
    for (uint32_t i = 0; i < count; i++) {
        made[i] = document % 7 + i * (1 + document % 3 * 5000);
    }
    return count;
}

static void check_positions_at(struct positions_reader *reader,
                               const struct postings_cursor *cursor)
{
    uint32_t wanted[MOST_POSITIONS];
    uint32_t count = positions_made(cursor->document, wanted);
    struct positions positions = positions_of(reader, cursor);
    uint32_t position;
    for (uint32_t i = 0; i < count; i++) {
        assert_true(positions_next(&positions, &position));
        assert_int_equal(position, wanted[i]);
    }
    assert_false(positions_next(&positions, &position));
}

/* One behind the other, some left out, and twice. */
static void check_positions(uint32_t count)
{
    struct posting *postings = calloc(count, sizeof *postings);
    struct buf all;
    struct buf lists;
    struct buf out;
    buf_init(&all, MIB(1));
    buf_init(&lists, MIB(1));
    buf_init(&out, MIB(1));
    size_t *starts = calloc(count, sizeof *starts);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t made[MOST_POSITIONS];
        postings[i] = (struct posting){.document = 3 * i + dice(3), .times = 1};
        uint32_t behind = 0;
        uint32_t positions = positions_made(postings[i].document, made);
        starts[i] = all.length;
        for (uint32_t j = 0; j < positions; j++) {
            positions_put(&all, made[j] + 1 - behind, j + 1 < positions);
            behind = made[j] + 1;
        }
        postings[i].positions_length = (uint32_t)(all.length - starts[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        postings[i].positions = (const uint8_t *)all.data + starts[i];
    }
    postings_write(&lists, postings, count, NULL);
    positions_write(&out, postings, count);
    struct postings list = {.bytes = (const uint8_t *)lists.data,
                            .length = lists.length,
                            .count = count,
                            .positions = (const uint8_t *)out.data,
                            .positions_length = (uint32_t)out.length};
    for (uint32_t step = 1; step < 400; step *= 7) {
        struct postings_cursor cursor;
        struct positions_reader reader;
        positions_start(&reader);
        for (postings_start(&cursor, &list, 3 * count); cursor.document != NO_DOCUMENT;
             postings_seek(&cursor, cursor.document + step)) {
            check_positions_at(&reader, &cursor);
            check_positions_at(&reader, &cursor);
        }
    }
    free(postings);
    free(starts);
    buf_done(&all);
    buf_done(&lists);
    buf_done(&out);
}

static void keeps_positions(void **state)
{
    (void)state;
    static const uint32_t COUNTS[] = {1, 2, 127, 128, 129, 256, 1000};
    dice_state = 1;
    for (size_t i = 0; i < COUNT(COUNTS); i++) {
        check_positions(COUNTS[i]);
    }
}

/* ---- dictionaries ---- */

static void keeps_terms(void **state)
{
    (void)state;
    enum { TERMS = 500 };
    struct dictionary_writer writer;
    char text[32];
    dictionary_begin(&writer, MIB(1));
    for (int i = 0; i < TERMS; i++) {
        struct dictionary_term lists = {.list = (uint64_t)i * 7,
                                        .holders = (uint32_t)i + 1,
                                        .list_length = i % 3 ? 7 : 3,
                                        .positions = (uint64_t)i * 300,
                                        .positions_length = 300,
                                        .passages = i % 3 ? 0 : 2,
                                        .passages_length = i % 3 ? 0 : 4};
        int length = snprintf(text, sizeof text, "term%05d", i * 2);
        dictionary_add(&writer, text, (size_t)length, &lists);
    }
    struct buf sieve;
    buf_init(&sieve, MIB(1));
    dictionary_put_sieve(&writer, &sieve);
    struct dictionary dictionary = {
        .blocks = (const uint32_t *)(const void *)writer.blocks.data,
        .block_count = (uint32_t)(writer.blocks.length / sizeof(uint32_t)),
        .bytes = (const uint8_t *)writer.bytes.data,
        .length = writer.bytes.length,
        .sieve = (const uint8_t *)sieve.data,
        .sieve_length = (uint32_t)sieve.length,
    };
    for (int i = 0; i < TERMS; i++) {
        struct dictionary_term term;
        int length = snprintf(text, sizeof text, "term%05d", i * 2);
        assert_true(dictionary_find(&dictionary, text, (size_t)length, &term));
        assert_int_equal(term.holders, i + 1);
        assert_int_equal(term.list, i * 7);
        assert_int_equal(term.positions, i * 300);
        length = snprintf(text, sizeof text, "term%05d", i * 2 + 1);
        assert_false(dictionary_find(&dictionary, text, (size_t)length, &term));
    }
    struct dictionary_walk walk;
    assert_true(dictionary_seek(&walk, &dictionary, "term0010", 8));
    int found = 0;
    do {
        found++;
    } while (dictionary_next(&walk) && dictionary_within(&walk, "term0010", 8));
    assert_int_equal(found, 5);
    assert_true(dictionary_seek(&walk, &dictionary, "", 0));
    assert_string_equal(walk.term.text, "term00000");
    assert_false(dictionary_seek(&walk, &dictionary, "tern", 4));
    dictionary_done(&writer);
    buf_done(&sieve);
}

/* ---- the index against a model ---- */

enum { IDS = 400, WORDS = 12, VOCABULARY = 60 };

struct text {
    bool there;
    unsigned int words[WORDS];
    unsigned int count;
    unsigned int session; /* 0: none */
    int64_t place;
    int64_t expires_ms;
    unsigned int tag;
};

static struct text model[IDS];

static void say(char *to, size_t size, const struct text *text)
{
    size_t length = 0;
    to[0] = '\0';
    for (unsigned int i = 0; i < text->count; i++) {
        length += (size_t)snprintf(to + length, size - length, "w%u ", 1000 + text->words[i]);
    }
}

static void put(struct index *index, unsigned int id)
{
    struct text *text = &model[id];
    char words[256];
    char session[16];
    char tag[16];
    *text = (struct text){.there = true, .count = 1 + dice(WORDS)};
    for (unsigned int i = 0; i < text->count; i++) {
        text->words[i] = dice(1 + dice(VOCABULARY)); /* the first ones are common */
    }
    text->session = dice(3) ? 1 + dice(9) : 0;
    text->place = dice(50);
    text->tag = dice(4);
    text->expires_ms = dice(10) ? 0 : 1 + dice(1000);
    say(words, sizeof words, text);
    snprintf(session, sizeof session, "s%u", text->session);
    snprintf(tag, sizeof tag, "!%u", text->tag);
    const char *const tags[] = {tag};
    struct index_entry entry = {.id = id,
                                .text = words,
                                .tags = tags,
                                .tag_count = 1,
                                .session = text->session ? session : NULL,
                                .place = text->place,
                                .expires_ms = text->expires_ms};
    assert_int_equal(index_put(index, &entry), OK);
}

static bool alive(unsigned int id, int64_t now_ms)
{
    return model[id].there && (model[id].expires_ms == 0 || model[id].expires_ms > now_ms);
}

static bool holds(const struct text *text, unsigned int word)
{
    for (unsigned int i = 0; i < text->count; i++) {
        if (text->words[i] == word) {
            return true;
        }
    }
    return false;
}

/* Whether it stands at most two places from one that holds a word. */
static bool near_one(unsigned int id, const unsigned int *words, size_t count, int64_t now_ms)
{
    for (unsigned int other = 0; other < IDS; other++) {
        bool giver = alive(other, now_ms);
        bool held = false;
        for (size_t i = 0; i < count && giver; i++) {
            held |= holds(&model[other], words[i]);
        }
        if (!giver || !held) {
            continue;
        }
        if (other == id) {
            return true;
        }
        if (model[id].session == 0 || model[id].session != model[other].session) {
            continue;
        }
        /* How many living or expired members stand between the two. */
        unsigned int between = 0;
        for (unsigned int third = 0; third < IDS; third++) {
            const struct text *low = &model[id];
            const struct text *high = &model[other];
            unsigned int low_id = id;
            unsigned int high_id = other;
            if (low->place > high->place || (low->place == high->place && id > other)) {
                low = &model[other];
                high = &model[id];
                low_id = other;
                high_id = id;
            }
            const struct text *text = &model[third];
            bool above = text->place > low->place || (text->place == low->place && third > low_id);
            bool below =
                text->place < high->place || (text->place == high->place && third < high_id);
            between += text->there && text->session == model[id].session && above && below;
        }
        if (between < 2) {
            return true;
        }
    }
    return false;
}

static void check_search(struct index *index, struct arena *arena)
{
    unsigned int words[3];
    char query[64];
    size_t count = 1 + dice(3);
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        words[i] = dice(VOCABULARY);
        length += (size_t)snprintf(query + length, sizeof query - length, "w%u ", 1000 + words[i]);
    }
    int64_t now_ms = dice(1200);
    char tag[16];
    snprintf(tag, sizeof tag, "!%u", dice(4));
    const char *tags[] = {tag};
    bool by_tag = dice(3) == 0;
    struct index_filter filter = {.now_ms = now_ms, .tags = tags, .tag_count = by_tag};
    struct index_found found;
    assert_int_equal(index_settle(index), OK);
    assert_int_equal(index_search(index, arena, query, &filter, IDS, 0, &found), OK);
    bool seen[IDS] = {false};
    for (size_t i = 0; i < found.count; i++) {
        assert_in_range(found.hits[i].id, 0, IDS - 1);
        assert_false(seen[found.hits[i].id]);
        seen[found.hits[i].id] = true;
        assert_true(i == 0 || found.hits[i].score <= found.hits[i - 1].score);
    }
    assert_int_equal(found.total, found.count);
    for (unsigned int id = 0; id < IDS; id++) {
        bool wanted = alive(id, now_ms) &&
                      (!by_tag || model[id].tag == (unsigned int)(tag[1] - '0')) &&
                      near_one(id, words, count, now_ms);
        assert_int_equal(seen[id], wanted);
    }
}

static void equals_the_model(void **state)
{
    (void)state;
    dice_state = 42;
    memset(model, 0, sizeof model);
    struct index *index = index_new();
    for (int i = 0; i < 6000; i++) {
        unsigned int id = dice(IDS);
        switch (dice(8)) {
        case 0:
            index_remove(index, id);
            model[id].there = false;
            break;
        case 1: {
            struct arena *arena = arena_new(MIB(16));
            check_search(index, arena);
            arena_free(arena);
            break;
        }
        default:
            put(index, id);
        }
        size_t there = 0;
        for (unsigned int j = 0; j < IDS; j++) {
            there += model[j].there;
        }
        assert_int_equal(index_count(index), there);
    }
    index_free(index);
}

/* ---- pruned against exhaustive ---- */

/* Appends a word, the first of its kind much commoner than the last. */
typedef size_t say_word(char *to, size_t size, uint32_t kinds);

static size_t say_plain(char *to, size_t size, uint32_t kinds)
{
    return (size_t)snprintf(to, size, "w%u ", 1000 + dice(1 + dice(1 + dice(kinds))));
}

/* One of few words, or two of them written as one: a question for one has dozens of terms. */
static size_t say_compound(char *to, size_t size, uint32_t kinds)
{
    static const char *const PARTS[] = {"haus",   "garten", "kasten", "boots", "licht",
                                        "wasser", "feld",   "markt",  "stein", "fenster"};
    (void)kinds;
    return (size_t)snprintf(to, size, "%s%s ", dice(3) ? PARTS[dice(1 + dice(COUNT(PARTS)))] : "",
                            PARTS[dice(1 + dice(COUNT(PARTS)))]);
}

/* The same question with a limit that asks for all: the first few must be the same. */
static void check_pruning(say_word *say_one, const char *other_half, unsigned int least_terms)
{
    enum { ENTRIES = 60000, QUERIES = 60 };
    dice_state = 7;
    struct index *index = index_new();
    char text[800];
    for (int i = 0; i < ENTRIES; i++) {
        size_t length = (size_t)snprintf(text, sizeof text, "%s", i % 2 ? other_half : "");
        for (uint32_t j = 4 + dice(1 + dice(40)); j > 0; j--) {
            length += say_one(text + length, sizeof text - length, 1 + dice(4000));
        }
        struct index_entry entry = {.id = i, .text = text};
        assert_int_equal(index_put(index, &entry), OK);
        if (i % 9 == 8) {
            index_remove(index, dice((uint32_t)i));
        }
    }
    assert_int_equal(index_settle(index), OK);
    unsigned int pruned = 0;
    size_t terms = 0;
    for (int i = 0; i < QUERIES; i++) {
        struct arena *arena = arena_new(MIB(64));
        struct index_found few;
        struct index_found all;
        struct index_filter filter = {0};
        size_t length = 0;
        for (uint32_t j = 1 + dice(6); j > 0; j--) {
            length += say_one(text + length, sizeof text - length, 300);
        }
        assert_int_equal(index_search(index, arena, text, &filter, 10, 0, &few), OK);
        assert_int_equal(index_search(index, arena, text, &filter, ENTRIES, 0, &all), OK);
        pruned += few.more;
        terms = few.term_count > terms ? few.term_count : terms;
        assert_int_equal(few.count, all.count < 10 ? all.count : 10);
        for (size_t j = 0; j < few.count; j++) {
            assert_int_equal(few.hits[j].id, all.hits[j].id);
            assert_true(few.hits[j].score == all.hits[j].score);
        }
        arena_free(arena);
    }
    assert_true(pruned > QUERIES / 4);
    assert_true(terms >= least_terms);
    index_free(index);
}

static void pruning_loses_nothing(void **state)
{
    (void)state;
    check_pruning(say_plain, "", 6);
}

static void pruning_loses_no_compound(void **state)
{
    (void)state;
    check_pruning(say_compound, "das ist nicht mit der und die wir haben ", 50);
}

UNIT_TEST(segment)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_postings),        cmocka_unit_test(keeps_positions),
        cmocka_unit_test(keeps_terms),           cmocka_unit_test(equals_the_model),
        cmocka_unit_test(pruning_loses_nothing), cmocka_unit_test(pruning_loses_no_compound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
