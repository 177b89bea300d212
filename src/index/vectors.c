/* Vectors in blocks, with a table from ids to places. A place is a passage; the passages of a text
 * follow each other. Numbers are kept with 128 added, so that they are unsigned, which is what the
 * fastest products want; the sum of the question's numbers takes that out again. */
#include "index/vectors.h"

#include "core/limits.h"
#include "index/dots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK      DOTS_CODES /* places */
#define NO_PLACE   UINT32_MAX
#define SAMPLE     1000u /* texts that stand for all */
#define FIRST_SLOT 64u   /* slots of the table of ids, at first */

struct block {
    int64_t ids[BLOCK]; /* 0: dead */
    uint32_t marks[BLOCK];
    float scales[BLOCK];
    uint64_t *codes; /* the signs; NULL while all vectors are compared */
    uint8_t rows[];
};

struct vectors {
    const struct dots *dots;
    size_t dimensions;
    size_t stride; /* bytes of a row */
    size_t words;  /* of a code */
    struct block **blocks;
    uint32_t block_capacity;
    uint32_t count; /* of places, dead ones too */
    uint32_t dead;
    uint32_t *slots; /* by id: the place of its first passage, or NO_PLACE */
    uint32_t slot_count;
    uint32_t texts;
    float *mean; /* of the set, when signs were first taken; NULL before */
};

/* ---- as they are stored ---- */

/* Numbers as signed bytes times a scale, which is returned. */
static float quantise(const float *numbers, size_t dimensions, int8_t *bytes)
{
    float largest = 0;
    for (size_t i = 0; i < dimensions; i++) {
        float size = fabsf(numbers[i]);
        largest = size > largest ? size : largest;
    }
    float scale = largest > 0 ? largest / 127 : 1;
    for (size_t i = 0; i < dimensions; i++) {
        bytes[i] = (int8_t)lrintf(numbers[i] / scale);
    }
    return scale;
}

void vectors_pack(const float *numbers, size_t dimensions, unsigned char *packed)
{
    float scale = quantise(numbers, dimensions, (int8_t *)packed + 4);
    uint32_t bits;
    memcpy(&bits, &scale, sizeof bits);
    for (size_t i = 0; i < 4; i++) {
        packed[i] = (unsigned char)(bits >> (8 * i));
    }
}

/* The scale of a packed vector; NaN where it is none that vectors_pack() makes. */
static float unpack_scale(const unsigned char *packed)
{
    uint32_t bits = 0;
    float scale;
    for (size_t i = 0; i < 4; i++) {
        bits |= (uint32_t)packed[i] << (8 * i);
    }
    memcpy(&scale, &bits, sizeof scale);
    return scale > 0 && scale <= 1 ? scale : NAN;
}

/* ---- places ---- */

static struct block *block_of(const struct vectors *vectors, uint32_t place)
{
    return vectors->blocks[place / BLOCK];
}

static int64_t id_at(const struct vectors *vectors, uint32_t place)
{
    return block_of(vectors, place)->ids[place % BLOCK];
}

static uint8_t *row_at(const struct vectors *vectors, uint32_t place)
{
    return block_of(vectors, place)->rows + place % BLOCK * vectors->stride;
}

/* A word of a place's code, as dots.h wants them. */
static uint64_t *code_at(const struct vectors *vectors, uint32_t place, size_t word)
{
    return block_of(vectors, place)->codes + word * BLOCK + place % BLOCK;
}

static size_t block_bytes(const struct vectors *vectors)
{
    return sizeof(struct block) + BLOCK * vectors->stride;
}

static size_t codes_bytes(const struct vectors *vectors)
{
    return BLOCK * vectors->words * sizeof(uint64_t);
}

/* ---- the table of ids ---- */

static uint32_t slot_of(const struct vectors *vectors, int64_t id)
{
    uint32_t mask = vectors->slot_count - 1;
    uint32_t slot = (uint32_t)(((uint64_t)id * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & mask;
    while (vectors->slots[slot] != NO_PLACE && id_at(vectors, vectors->slots[slot]) != id) {
        slot = (slot + 1) & mask;
    }
    return slot;
}

static uint32_t find(const struct vectors *vectors, int64_t id)
{
    return vectors->slot_count ? vectors->slots[slot_of(vectors, id)] : NO_PLACE;
}

/* A table of so many slots for the texts that are alive. */
static int make_slots(struct vectors *vectors, uint32_t count)
{
    uint32_t *slots = malloc(count * sizeof *slots);
    if (!slots) {
        return ERR_NOMEM;
    }
    memset(slots, 0xFF, count * sizeof *slots);
    free(vectors->slots);
    vectors->slots = slots;
    vectors->slot_count = count;
    int64_t before = 0;
    for (uint32_t place = 0; place < vectors->count; place++) {
        int64_t id = id_at(vectors, place);
        if (id != 0 && id != before) {
            vectors->slots[slot_of(vectors, id)] = place;
        }
        before = id;
    }
    return OK;
}

/* Takes the id out of the table; what was put behind it because of it moves up. */
static void clear_slot(struct vectors *vectors, uint32_t slot)
{
    uint32_t mask = vectors->slot_count - 1;
    vectors->slots[slot] = NO_PLACE;
    for (uint32_t at = (slot + 1) & mask; vectors->slots[at] != NO_PLACE; at = (at + 1) & mask) {
        uint32_t place = vectors->slots[at];
        vectors->slots[at] = NO_PLACE;
        vectors->slots[slot_of(vectors, id_at(vectors, place))] = place;
    }
}

/* ---- signs ---- */

static float number_at(const struct vectors *vectors, uint32_t place, size_t i)
{
    return (float)((int)row_at(vectors, place)[i] - 128) *
           block_of(vectors, place)->scales[place % BLOCK];
}

static void take_signs(const struct vectors *vectors, uint32_t place)
{
    for (size_t word = 0; word < vectors->words; word++) {
        uint64_t signs = 0;
        size_t end = 64 * word + 64 < vectors->dimensions ? 64 * word + 64 : vectors->dimensions;
        for (size_t i = 64 * word; i < end; i++) {
            signs |= (uint64_t)(number_at(vectors, place, i) > vectors->mean[i]) << (i % 64);
        }
        *code_at(vectors, place, word) = signs;
    }
}

static int find_mean(struct vectors *vectors)
{
    vectors->mean = calloc(vectors->dimensions, sizeof *vectors->mean);
    if (!vectors->mean) {
        return ERR_NOMEM;
    }
    for (uint32_t place = 0; place < vectors->count; place++) {
        for (size_t i = 0; i < vectors->dimensions; i++) {
            vectors->mean[i] += number_at(vectors, place, i) / (float)vectors->count;
        }
    }
    return OK;
}

/* From so many vectors on: the signs of all of them. */
static int start_signs(struct vectors *vectors)
{
    int status = find_mean(vectors);
    for (uint32_t i = 0; status == OK && i * BLOCK < vectors->count; i++) {
        vectors->blocks[i]->codes = calloc(1, codes_bytes(vectors));
        status = vectors->blocks[i]->codes ? OK : ERR_NOMEM;
    }
    for (uint32_t place = 0; status == OK && place < vectors->count; place++) {
        take_signs(vectors, place);
    }
    return status;
}

/* ---- adding ---- */

static int add_block(struct vectors *vectors)
{
    uint32_t at = vectors->count / BLOCK;
    if (at == vectors->block_capacity) {
        uint32_t capacity = at ? 2 * at : 4;
        struct block **blocks = realloc(vectors->blocks, capacity * sizeof(struct block *));
        if (!blocks) {
            return ERR_NOMEM;
        }
        vectors->blocks = blocks;
        vectors->block_capacity = capacity;
    }
    struct block *block = malloc(block_bytes(vectors));
    uint64_t *codes = vectors->mean && block ? calloc(1, codes_bytes(vectors)) : NULL;
    if (!block || (vectors->mean && !codes)) {
        free(block);
        return ERR_NOMEM;
    }
    block->codes = codes;
    vectors->blocks[at] = block;
    return OK;
}

static int add_place(struct vectors *vectors, int64_t id, uint32_t mark,
                     const unsigned char *packed)
{
    int status = vectors->count % BLOCK == 0 ? add_block(vectors) : OK;
    if (status != OK) {
        return status;
    }
    uint32_t place = vectors->count++;
    struct block *block = block_of(vectors, place);
    uint8_t *row = row_at(vectors, place);
    block->ids[place % BLOCK] = id;
    block->marks[place % BLOCK] = mark;
    block->scales[place % BLOCK] = unpack_scale(packed);
    for (size_t i = 0; i < vectors->dimensions; i++) {
        row[i] = (uint8_t)(packed[4 + i] ^ 0x80); /* the signed byte, and 128 */
    }
    memset(row + vectors->dimensions, 128, vectors->stride - vectors->dimensions);
    if (vectors->mean) {
        take_signs(vectors, place);
    } else if (vectors->count > LIMIT_VECTORS_EXACT) {
        status = start_signs(vectors);
    }
    return status;
}

static bool is_packed(const unsigned char *packed, size_t length, size_t dimensions)
{
    if (dimensions == 0 || dimensions > LIMIT_MEANING_DIMENSIONS ||
        length % VECTORS_PACKED(dimensions) != 0) {
        return false;
    }
    for (size_t at = 0; at < length; at += VECTORS_PACKED(dimensions)) {
        if (isnan(unpack_scale(packed + at))) {
            return false;
        }
    }
    return true;
}

/* The first vector decides how many numbers all have. */
static void set_dimensions(struct vectors *vectors, size_t dimensions)
{
    vectors->dimensions = dimensions;
    vectors->stride = (dimensions + DOTS_STEP - 1) / DOTS_STEP * DOTS_STEP;
    vectors->words = (dimensions + 63) / 64;
}

static void compact(struct vectors *vectors);

int vectors_put(struct vectors *vectors, int64_t id, uint32_t mark, const unsigned char *packed,
                size_t length, size_t dimensions)
{
    bool fits = is_packed(packed, length, dimensions) &&
                (vectors->dimensions == 0 || vectors->dimensions == dimensions);
    if (!fits || id == 0) {
        return ERR_INVALID;
    }
    vectors_remove(vectors, id);
    if (length == 0) {
        return OK;
    }
    if (vectors->dimensions == 0) {
        set_dimensions(vectors, dimensions);
    }
    if (vectors->dead > vectors->count / 2 && vectors->dead > BLOCK) {
        compact(vectors);
    }
    int status = OK;
    if (2 * (uint64_t)vectors->texts >= vectors->slot_count) {
        status = make_slots(vectors, vectors->slot_count ? 2 * vectors->slot_count : FIRST_SLOT);
    }
    uint32_t first = vectors->count;
    for (size_t at = 0; at < length && status == OK; at += VECTORS_PACKED(dimensions)) {
        status =
            vectors->count < NO_PLACE - 1 ? add_place(vectors, id, mark, packed + at) : ERR_NOMEM;
    }
    if (status == OK) {
        vectors->slots[slot_of(vectors, id)] = first;
        vectors->texts++;
    }
    return status;
}

/* ---- removing ---- */

void vectors_remove(struct vectors *vectors, int64_t id)
{
    uint32_t place = find(vectors, id);
    if (place == NO_PLACE) {
        return;
    }
    clear_slot(vectors, slot_of(vectors, id));
    vectors->texts--;
    for (; place < vectors->count && id_at(vectors, place) == id; place++) {
        block_of(vectors, place)->ids[place % BLOCK] = 0;
        memset(row_at(vectors, place), 128, vectors->stride);
        vectors->dead++;
    }
}

void vectors_keep(struct vectors *vectors, int64_t id, uint32_t mark)
{
    uint32_t place = find(vectors, id);
    if (place != NO_PLACE && block_of(vectors, place)->marks[place % BLOCK] != mark) {
        vectors_remove(vectors, id);
    }
}

static void move(struct vectors *vectors, uint32_t from, uint32_t to)
{
    struct block *source = block_of(vectors, from);
    struct block *target = block_of(vectors, to);
    target->ids[to % BLOCK] = source->ids[from % BLOCK];
    target->marks[to % BLOCK] = source->marks[from % BLOCK];
    target->scales[to % BLOCK] = source->scales[from % BLOCK];
    memmove(row_at(vectors, to), row_at(vectors, from), vectors->stride);
    for (size_t word = 0; vectors->mean && word < vectors->words; word++) {
        *code_at(vectors, to, word) = *code_at(vectors, from, word);
    }
}

static void free_blocks(struct vectors *vectors, uint32_t from, uint32_t until)
{
    for (uint32_t i = from; i < until; i++) {
        free(vectors->blocks[i]->codes);
        free(vectors->blocks[i]);
    }
}

/* Moves the living together. The table of ids needs no more room than it has. */
static void compact(struct vectors *vectors)
{
    uint32_t kept = 0;
    for (uint32_t place = 0; place < vectors->count; place++) {
        if (id_at(vectors, place) != 0) {
            if (place != kept) {
                move(vectors, place, kept);
            }
            kept++;
        }
    }
    free_blocks(vectors, (kept + BLOCK - 1) / BLOCK, (vectors->count + BLOCK - 1) / BLOCK);
    vectors->count = kept;
    vectors->dead = 0;
    memset(vectors->slots, 0xFF, vectors->slot_count * sizeof *vectors->slots);
    int64_t before = 0;
    for (uint32_t place = 0; place < kept; place++) {
        int64_t id = id_at(vectors, place);
        if (id != before) {
            vectors->slots[slot_of(vectors, id)] = place;
        }
        before = id;
    }
}

/* ---- searching ---- */

/* A question, and what was found so far: a heap whose first is the worst of the kept. */
struct search {
    const struct vectors *vectors;
    int8_t *question;
    float scale;
    int32_t offset; /* what the 128 that every number has too much adds to a product */
    struct vectors_hit *heap;
    size_t most, count;
    vectors_passes passes;
    const void *context;
};

static int search_start(struct search *search, const struct vectors *vectors, const float *question)
{
    *search = (struct search){.vectors = vectors, .question = calloc(1, vectors->stride)};
    if (!search->question) {
        return ERR_NOMEM;
    }
    search->scale = quantise(question, vectors->dimensions, search->question);
    for (size_t i = 0; i < vectors->dimensions; i++) {
        search->offset += 128 * search->question[i];
    }
    return OK;
}

/* How near the text is whose first passage stands there; `after` gets the place behind its last. */
static double nearest(const struct search *search, uint32_t place, uint32_t *after)
{
    const struct vectors *vectors = search->vectors;
    int64_t id = id_at(vectors, place);
    double best = -1;
    for (; place < vectors->count && id_at(vectors, place) == id; place++) {
        int32_t sum =
            vectors->dots->product(row_at(vectors, place), search->question, vectors->stride) -
            search->offset;
        double cosine =
            (double)sum * search->scale * block_of(vectors, place)->scales[place % BLOCK];
        best = cosine > best ? cosine : best;
    }
    *after = place;
    return best < 1 ? best : 1;
}

static bool before(const struct vectors_hit *a, const struct vectors_hit *b)
{
    return a->cosine != b->cosine ? a->cosine > b->cosine : a->id > b->id;
}

static int by_rank(const void *left, const void *right)
{
    return before(left, right) ? -1 : before(right, left) ? 1 : 0;
}

static void sift(struct search *search, size_t at)
{
    struct vectors_hit *heap = search->heap;
    for (;;) {
        size_t worst = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < search->count; child++) {
            worst = before(&heap[worst], &heap[child]) ? child : worst;
        }
        if (worst == at) {
            return;
        }
        struct vectors_hit moved = heap[at];
        heap[at] = heap[worst];
        heap[worst] = moved;
        at = worst;
    }
}

/* Keeps the hit where it is among the best. Whether a text passes is asked last: it costs more. */
static void offer(struct search *search, const struct vectors_hit *hit)
{
    bool full = search->count == search->most;
    if ((full && !before(hit, &search->heap[0])) ||
        (search->passes && !search->passes(search->context, hit->id))) {
        return;
    }
    if (full) {
        search->heap[0] = *hit;
        sift(search, 0);
        return;
    }
    search->heap[search->count++] = *hit;
    for (size_t at = search->count / 2; search->count == search->most && at-- > 0;) {
        sift(search, at);
    }
}

static void compare_all(struct search *search)
{
    const struct vectors *vectors = search->vectors;
    for (uint32_t place = 0; place < vectors->count;) {
        int64_t id = id_at(vectors, place);
        if (id == 0) {
            place++;
            continue;
        }
        uint32_t after;
        struct vectors_hit hit = {.id = id, .cosine = nearest(search, place, &after)};
        offer(search, &hit);
        place = after;
    }
}

/* How many signs of each place differ from the question's. */
struct nearness {
    uint16_t *differences;
    uint64_t *seen;                                /* a bit for the first place of each text */
    uint32_t counts[LIMIT_MEANING_DIMENSIONS + 1]; /* of places, by differences */
};

static void nearness_free(struct nearness *nearness)
{
    if (nearness) {
        free(nearness->differences);
        free(nearness->seen);
        free(nearness);
    }
}

static void count_differences(const struct vectors *vectors, const uint64_t *question,
                              struct nearness *nearness)
{
    for (uint32_t i = 0; i * BLOCK < vectors->count; i++) {
        uint32_t left = vectors->count - i * BLOCK;
        uint32_t count = left < BLOCK ? left : BLOCK;
        uint16_t *found = nearness->differences + (size_t)i * BLOCK;
        vectors->dots->differences(vectors->blocks[i]->codes, question, vectors->words, found);
        for (uint32_t j = 0; j < count; j++) {
            nearness->counts[found[j]]++;
        }
    }
}

static struct nearness *nearness_find(const struct vectors *vectors, const float *question)
{
    uint64_t code[LIMIT_MEANING_DIMENSIONS / 64] = {0};
    struct nearness *nearness = calloc(1, sizeof *nearness);
    if (!nearness) {
        return NULL;
    }
    size_t blocks = (vectors->count + BLOCK - 1) / BLOCK;
    nearness->differences = malloc(blocks * BLOCK * sizeof *nearness->differences);
    nearness->seen = calloc(vectors->count / 64 + 1, sizeof *nearness->seen);
    if (!nearness->differences || !nearness->seen) {
        nearness_free(nearness);
        return NULL;
    }
    for (size_t i = 0; i < vectors->dimensions; i++) {
        code[i / 64] |= (uint64_t)(question[i] > vectors->mean[i]) << (i % 64);
    }
    count_differences(vectors, code, nearness);
    return nearness;
}

/* Compares the text that the place is of, where it passes and was not compared yet. Whether it was.
 */
static bool compare_text(struct search *search, struct nearness *nearness, uint32_t place)
{
    const struct vectors *vectors = search->vectors;
    int64_t id = id_at(vectors, place);
    while (id != 0 && place > 0 && id_at(vectors, place - 1) == id) {
        place--;
    }
    uint64_t bit = UINT64_C(1) << (place % 64);
    if (id == 0 || (nearness->seen[place / 64] & bit)) {
        return false;
    }
    nearness->seen[place / 64] |= bit;
    if (search->passes && !search->passes(search->context, id)) {
        return false;
    }
    uint32_t after;
    struct vectors_hit hit = {.id = id, .cosine = nearest(search, place, &after)};
    offer(search, &hit);
    return true;
}

/* Compares those whose signs are nearest: one in LIMIT_VECTORS_PART, and some times as many as are
 * wanted, of those that pass. They are taken band by band: first as many as should do, and where a
 * filter lets too few of them pass, some times as many. */
static int compare_nearest(struct search *search, const float *question)
{
    const struct vectors *vectors = search->vectors;
    struct nearness *nearness = nearness_find(vectors, question);
    if (!nearness) {
        return ERR_NOMEM;
    }
    size_t wanted = 8 * search->most + vectors->count / LIMIT_VECTORS_PART;
    size_t compared = 0;
    size_t low = 0;
    for (size_t band = wanted; compared < wanted && low <= vectors->dimensions; band *= 4) {
        size_t high = low;
        for (size_t places = 0; places < band && high <= vectors->dimensions; high++) {
            places += nearness->counts[high];
        }
        for (uint32_t place = 0; place < vectors->count; place++) {
            if (nearness->differences[place] >= low && nearness->differences[place] < high) {
                compared += compare_text(search, nearness, place);
            }
        }
        low = high;
    }
    nearness_free(nearness);
    return OK;
}

int vectors_search(const struct vectors *vectors, const float *question, size_t most,
                   vectors_passes passes, const void *context, struct vectors_hit *hits,
                   size_t *count)
{
    struct search search;
    *count = 0;
    if (vectors->texts == 0 || most == 0) {
        return OK;
    }
    int status = search_start(&search, vectors, question);
    if (status != OK) {
        return status;
    }
    search.heap = hits;
    search.most = most;
    search.passes = passes;
    search.context = context;
    if (vectors->mean) {
        status = compare_nearest(&search, question);
    } else {
        compare_all(&search);
    }
    free(search.question);
    qsort(hits, search.count, sizeof *hits, by_rank);
    *count = search.count;
    return status;
}

int vectors_usual(const struct vectors *vectors, const float *question, double *usual,
                  size_t *sample)
{
    struct search search = {0};
    double sum = 0;
    *sample = 0;
    int status = vectors->texts ? search_start(&search, vectors, question) : OK;
    uint32_t step = vectors->count / SAMPLE + 1;
    for (uint32_t place = 0; place < vectors->count && status == OK; place += step) {
        if (id_at(vectors, place) != 0) {
            uint32_t after;
            sum += nearest(&search, place, &after);
            ++*sample;
        }
    }
    free(search.question);
    *usual = *sample > 0 ? sum / (double)*sample : 0;
    return status;
}

int vectors_compare(const struct vectors *vectors, const float *question, struct vectors_hit *texts,
                    size_t count, double none)
{
    struct search search = {0};
    int status = vectors->texts ? search_start(&search, vectors, question) : OK;
    for (size_t i = 0; i < count && status == OK; i++) {
        uint32_t after;
        uint32_t place = find(vectors, texts[i].id);
        texts[i].cosine = place == NO_PLACE ? none : nearest(&search, place, &after);
    }
    free(search.question);
    return status;
}

/* ---- its life ---- */

struct vectors *vectors_new(void)
{
    struct vectors *vectors = calloc(1, sizeof *vectors);
    if (vectors) {
        vectors->dots = dots_choose(DOTS_ANY);
    }
    return vectors;
}

struct vectors *vectors_free(struct vectors *vectors)
{
    if (vectors) {
        free_blocks(vectors, 0, (vectors->count + BLOCK - 1) / BLOCK);
        free(vectors->blocks);
        free(vectors->slots);
        free(vectors->mean);
        free(vectors);
    }
    return NULL;
}

size_t vectors_bytes(const struct vectors *vectors)
{
    size_t blocks = (vectors->count + BLOCK - 1) / BLOCK;
    return sizeof *vectors + vectors->block_capacity * sizeof(struct block *) +
           vectors->slot_count * sizeof *vectors->slots +
           blocks * (block_bytes(vectors) + (vectors->mean ? codes_bytes(vectors) : 0));
}

size_t vectors_dimensions(const struct vectors *vectors)
{
    return vectors->dimensions;
}
