/* A set: the fresh ones in blocks, with a table from ids to places, and those that are in files
 * (vector_shelving.c). A place is a passage; the passages of a text follow each other. Numbers are
 * kept with 128 added, so that they are unsigned, which is what the fastest products want; the sum
 * of the question's numbers takes that out again. */
#include "index/vectors.h"

#include "core/limits.h"
#include "index/vectors_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK       VECTORS_BLOCK
#define NO_PLACE    UINT32_MAX
#define SAMPLE      1000u /* texts that stand for all */
#define AHEAD       16u   /* rows that are on their way while one is compared */
#define FIRST_SLOT  64u   /* slots of the table of ids, at first */
#define ASKED_FIRST 64u   /* texts that are asked whether they pass before they are compared */

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

static struct vectors_block *block_of(const struct vectors *vectors, uint32_t place)
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

static size_t block_bytes(const struct vectors *vectors)
{
    return sizeof(struct vectors_block) + BLOCK * vectors->stride;
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

/* ---- adding ---- */

static int add_block(struct vectors *vectors)
{
    uint32_t at = vectors->count / BLOCK;
    if (at == vectors->block_capacity) {
        uint32_t capacity = at ? 2 * at : 4;
        struct vectors_block **blocks = realloc(vectors->blocks, capacity * sizeof *blocks);
        if (!blocks) {
            return ERR_NOMEM;
        }
        vectors->blocks = blocks;
        vectors->block_capacity = capacity;
    }
    vectors->blocks[at] = malloc(block_bytes(vectors));
    return vectors->blocks[at] ? OK : ERR_NOMEM;
}

static int add_place(struct vectors *vectors, int64_t id, uint32_t mark,
                     const unsigned char *packed)
{
    int status = vectors->count % BLOCK == 0 ? add_block(vectors) : OK;
    if (status != OK) {
        return status;
    }
    uint32_t place = vectors->count++;
    struct vectors_block *block = block_of(vectors, place);
    uint8_t *row = row_at(vectors, place);
    block->ids[place % BLOCK] = id;
    block->marks[place % BLOCK] = mark;
    block->scales[place % BLOCK] = unpack_scale(packed);
    for (size_t i = 0; i < vectors->dimensions; i++) {
        row[i] = (uint8_t)(packed[4 + i] ^ 0x80); /* the signed byte, and 128 */
    }
    memset(row + vectors->dimensions, 128, vectors->stride - vectors->dimensions);
    return OK;
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
    vectors->stride = vector_stride(dimensions);
}

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
    if (vectors->dead > vectors->count / 2 && vectors->dead > BLOCK && !vectors->is_saving) {
        vectors_compact(vectors, 0);
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

static void remove_fresh(struct vectors *vectors, int64_t id)
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

static bool is_dead(const struct vectors_kept *kept, uint32_t place)
{
    return kept->dead[place / 8] >> place % 8 & 1;
}

/* The first place of a text in a file; NO_PLACE when it is not there, or dead. */
static uint32_t find_kept(const struct vectors_kept *kept, int64_t id)
{
    const struct vector_part *part = &kept->part;
    uint32_t low = 0;
    uint32_t high = part->ids[part->count - 1] < id ? 0 : part->count;
    while (low < high && part->ids[0] <= id) { /* most files have none of the ids around it */
        uint32_t middle = low + (high - low) / 2;
        if (part->ids[middle] < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return part->ids[low] == id && !is_dead(kept, low) ? low : NO_PLACE;
}

void vectors_bury(struct vectors_kept *kept, int64_t id)
{
    uint32_t place = find_kept(kept, id);
    for (; place < kept->part.count && kept->part.ids[place] == id; place++) {
        kept->dead[place / 8] |= (uint8_t)(1u << place % 8);
        kept->dead_count++;
    }
}

/* Notes for a save that is under way that it has something that is gone. */
static void note_removal(struct vectors *vectors, int64_t id)
{
    if (vectors->removed_count == vectors->removed_capacity) {
        size_t capacity = vectors->removed_capacity ? 2 * vectors->removed_capacity : 64;
        int64_t *removed = realloc(vectors->removed, capacity * sizeof *removed);
        if (!removed) {
            vectors->has_missed = true;
            return;
        }
        vectors->removed = removed;
        vectors->removed_capacity = capacity;
    }
    vectors->removed[vectors->removed_count++] = id;
}

void vectors_remove(struct vectors *vectors, int64_t id)
{
    remove_fresh(vectors, id);
    for (size_t i = 0; i < vectors->kept_count; i++) {
        vectors_bury(&vectors->kept[i], id);
    }
    if (vectors->is_saving) {
        note_removal(vectors, id);
    }
}

void vectors_keep(struct vectors *vectors, int64_t id, uint32_t mark)
{
    uint32_t place = find(vectors, id);
    bool other = place != NO_PLACE && block_of(vectors, place)->marks[place % BLOCK] != mark;
    for (size_t i = 0; i < vectors->kept_count && !other; i++) {
        place = find_kept(&vectors->kept[i], id);
        other = place != NO_PLACE && vectors->kept[i].part.marks[place] != mark;
    }
    if (other) {
        vectors_remove(vectors, id);
    }
}

static void move(struct vectors *vectors, uint32_t from, uint32_t to)
{
    struct vectors_block *source = block_of(vectors, from);
    struct vectors_block *target = block_of(vectors, to);
    target->ids[to % BLOCK] = source->ids[from % BLOCK];
    target->marks[to % BLOCK] = source->marks[from % BLOCK];
    target->scales[to % BLOCK] = source->scales[from % BLOCK];
    memmove(row_at(vectors, to), row_at(vectors, from), vectors->stride);
}

static void free_blocks(struct vectors *vectors, uint32_t from, uint32_t until)
{
    for (uint32_t i = from; i < until; i++) {
        free(vectors->blocks[i]);
    }
}

/* Moves those that live together, and drops those before `first`. The table of ids needs no more
 * room than it has. */
void vectors_compact(struct vectors *vectors, uint32_t first)
{
    uint32_t kept = 0;
    for (uint32_t place = first; place < vectors->count; place++) {
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
    vectors->texts = 0;
    if (vectors->slots) {
        memset(vectors->slots, 0xFF, vectors->slot_count * sizeof *vectors->slots);
    }
    int64_t before = 0;
    for (uint32_t place = 0; place < kept; place++) {
        int64_t id = id_at(vectors, place);
        if (id != before) {
            vectors->slots[slot_of(vectors, id)] = place;
            vectors->texts++;
        }
        before = id;
    }
}

/* ---- searching ---- */

/* A question, and what was found so far: a heap whose first is the worst of the kept. */
struct vector_search {
    const struct vectors *vectors;
    int8_t *question;
    float scale;
    int32_t offset; /* what the 128 that every number has too much adds to a product */
    struct vectors_hit *heap;
    size_t most, count;
    vectors_passes passes;
    size_t asked; /* how often that was asked, */
    bool refused; /* and whether any did not pass */
    const void *context;
    atomic_bool *is_damaged; /* the set's */
};

/* Places that are searched alike: those of a file, or the fresh ones where there is none. */
struct vector_places {
    const struct vectors *vectors;
    const struct vectors_kept *kept; /* NULL: the fresh ones */
    uint32_t count;
};

static struct vector_places fresh_places(const struct vectors *vectors)
{
    return (struct vector_places){vectors, NULL, vectors->count};
}

static struct vector_places kept_places(const struct vectors *vectors, size_t which)
{
    return (struct vector_places){vectors, &vectors->kept[which], vectors->kept[which].part.count};
}

/* The text at a place; 0: it is dead. */
static int64_t text_at(const struct vector_places *places, uint32_t place)
{
    return !places->kept                  ? id_at(places->vectors, place)
           : is_dead(places->kept, place) ? 0
                                          : places->kept->part.ids[place];
}

static int search_start(struct vector_search *search, const struct vectors *vectors,
                        const float *question)
{
    *search = (struct vector_search){.vectors = vectors,
                                     .question = calloc(1, vectors->stride),
                                     .is_damaged = vectors->is_damaged};
    if (!search->question) {
        return ERR_NOMEM;
    }
    search->scale = quantise(question, vectors->dimensions, search->question);
    for (size_t i = 0; i < vectors->dimensions; i++) {
        search->offset += 128 * search->question[i];
    }
    return OK;
}

/* The cosine of one passage. A row that is not what was written spoils the search, which its owner
 * learns from vector_shelving_sound(). */
static double compare_place(const struct vector_search *search, const struct vector_places *places,
                            uint32_t place)
{
    const struct vectors *vectors = search->vectors;
    const uint8_t *row;
    float scale;
    if (places->kept) {
        const struct vector_part *part = &places->kept->part;
        row = part->rows + place * part->stride;
        scale = part->scales[place];
        if (!vector_part_row_sound(part, place)) {
            atomic_store(search->is_damaged, true);
        }
    } else {
        row = row_at(vectors, place);
        scale = block_of(vectors, place)->scales[place % BLOCK];
    }
    int32_t sum = vectors->dots->product(row, search->question, vectors->stride) - search->offset;
    return (double)sum * search->scale * scale;
}

/* How near the text is whose first passage stands there; `after` gets the place behind its last. */
static double nearest(const struct vector_search *search, const struct vector_places *places,
                      uint32_t place, uint32_t *after)
{
    int64_t id = text_at(places, place);
    double best = -1;
    for (; place < places->count && text_at(places, place) == id; place++) {
        double cosine = compare_place(search, places, place);
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

static void sift(struct vector_search *search, size_t at)
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

static bool does_pass(struct vector_search *search, int64_t id)
{
    bool passed = !search->passes || search->passes(search->context, id);
    search->asked++;
    search->refused |= !passed;
    return passed;
}

/* Keeps the hit where it is among the best. Whether a text passes is asked last, unless it is known
 * to: it costs more. */
static void offer(struct vector_search *search, const struct vectors_hit *hit, bool known)
{
    bool full = search->count == search->most;
    if ((full && !before(hit, &search->heap[0])) || (!known && !does_pass(search, hit->id))) {
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

static void compare_all(struct vector_search *search, const struct vector_places *places)
{
    for (uint32_t place = 0; place < places->count;) {
        int64_t id = text_at(places, place);
        if (id == 0) {
            place++;
            continue;
        }
        uint32_t after;
        struct vectors_hit hit = {.id = id, .cosine = nearest(search, places, place, &after)};
        offer(search, &hit, false);
        place = after;
    }
}

/* How many signs of each place differ from the question's, in all parts that have signs. A part
 * begins with a block of its own. */
struct nearness {
    uint16_t *differences;
    uint64_t *seen;                                /* a bit for the first place of each text */
    size_t count;                                  /* of places */
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

/* Of its codes. */
static size_t blocks_of(const struct vector_part *part)
{
    return part->codes ? (part->count + (size_t)BLOCK - 1) / BLOCK : 0;
}

static void count_differences(const struct vectors *vectors, const struct vector_part *part,
                              const float *question, uint16_t *found, struct nearness *nearness)
{
    uint64_t code[LIMIT_MEANING_DIMENSIONS / 64];
    vector_code(question, part->mean, part->dimensions, code);
    for (size_t i = 0; i < blocks_of(part); i++, found += BLOCK) {
        size_t left = part->count - i * BLOCK;
        vectors->dots->differences(part->codes + i * BLOCK * part->words, code, part->words, found);
        for (size_t j = 0; j < BLOCK && j < left; j++) {
            nearness->counts[found[j]]++;
        }
    }
}

static struct nearness *nearness_find(const struct vectors *vectors, const float *question)
{
    size_t room = 0;
    struct nearness *nearness = calloc(1, sizeof *nearness);
    for (size_t i = 0; i < vectors->kept_count; i++) {
        room += blocks_of(&vectors->kept[i].part) * BLOCK;
    }
    if (!nearness) {
        return NULL;
    }
    nearness->differences = malloc((room + 1) * sizeof *nearness->differences);
    nearness->seen = calloc(room / 64 + 1, sizeof *nearness->seen);
    if (!nearness->differences || !nearness->seen) {
        nearness_free(nearness);
        return NULL;
    }
    uint16_t *found = nearness->differences;
    for (size_t i = 0; i < vectors->kept_count; i++) {
        const struct vector_part *part = &vectors->kept[i].part;
        if (part->codes) {
            count_differences(vectors, part, question, found, nearness);
            found += blocks_of(part) * BLOCK;
            nearness->count += part->count;
        }
    }
    return nearness;
}

/* Compares the text that the place is of, where it passes and was not compared yet. Whether it was.
 * The bits are those of the part. Where all pass so far, only those that are among the best are
 * asked whether they do: a search without a filter compares thousands, and shows a few. */
static bool compare_text(struct vector_search *search, const struct vector_places *places,
                         uint64_t *seen, uint32_t place)
{
    int64_t id = text_at(places, place);
    while (id != 0 && place > 0 && text_at(places, place - 1) == id) {
        place--;
    }
    uint64_t bit = UINT64_C(1) << (place % 64);
    if (id == 0 || (seen[place / 64] & bit)) {
        return false;
    }
    seen[place / 64] |= bit;
    bool ask = search->refused || search->asked < ASKED_FIRST;
    if (ask && !does_pass(search, id)) {
        return false;
    }
    uint32_t after;
    struct vectors_hit hit = {.id = id, .cosine = nearest(search, places, place, &after)};
    offer(search, &hit, ask);
    return true;
}

/* Asks for a row early, which is not near to the one before. */
static void fetch_row(const struct vector_part *part, uint32_t place)
{
    const uint8_t *row = part->rows + place * part->stride;
    for (size_t i = 0; i < part->stride; i += DOTS_STEP) {
        __builtin_prefetch(row + i);
    }
}

/* Compares the texts of a part with so many differences. How many there were. */
static size_t compare_some(struct vector_search *search, const struct vector_places *places,
                           const uint16_t *differences, uint64_t *seen, size_t low, size_t high)
{
    uint32_t coming[AHEAD];
    size_t count = 0;
    size_t compared = 0;
    for (uint32_t place = 0; place < places->count; place++) {
        if (differences[place] >= low && differences[place] < high) {
            if (count >= AHEAD) {
                compared += compare_text(search, places, seen, coming[count % AHEAD]);
            }
            fetch_row(&places->kept->part, place);
            coming[count++ % AHEAD] = place;
        }
    }
    for (size_t i = count < AHEAD ? 0 : count - AHEAD; i < count; i++) {
        compared += compare_text(search, places, seen, coming[i % AHEAD]);
    }
    return compared;
}

/* The same in all parts. */
static size_t compare_band(struct vector_search *search, struct nearness *nearness, size_t low,
                           size_t high)
{
    size_t compared = 0;
    size_t first = 0;
    for (size_t i = 0; i < search->vectors->kept_count; i++) {
        struct vector_places places = kept_places(search->vectors, i);
        if (places.kept->part.codes) {
            compared += compare_some(search, &places, nearness->differences + first,
                                     nearness->seen + first / 64, low, high);
            first += blocks_of(&places.kept->part) * BLOCK;
        }
    }
    return compared;
}

/* Compares those whose signs are nearest: one in LIMIT_VECTORS_PART, and some times as many as are
 * wanted, of those that pass. They are taken band by band: first as many as should do, and where a
 * filter lets too few of them pass, some times as many. */
static int compare_nearest(struct vector_search *search, const float *question)
{
    const struct vectors *vectors = search->vectors;
    struct nearness *nearness = nearness_find(vectors, question);
    if (!nearness) {
        return ERR_NOMEM;
    }
    size_t wanted = 8 * search->most + nearness->count / LIMIT_VECTORS_PART;
    size_t compared = 0;
    size_t low = 0;
    for (size_t band = wanted; compared < wanted && low <= vectors->dimensions; band *= 4) {
        size_t high = low;
        for (size_t places = 0; places < band && high <= vectors->dimensions; high++) {
            places += nearness->counts[high];
        }
        compared += compare_band(search, nearness, low, high);
        low = high;
    }
    nearness_free(nearness);
    return OK;
}

/* All places, dead ones too. */
static size_t all_places(const struct vectors *vectors)
{
    size_t count = vectors->count;
    for (size_t i = 0; i < vectors->kept_count; i++) {
        count += vectors->kept[i].part.count;
    }
    return count;
}

int vectors_search(const struct vectors *vectors, const float *question, size_t most,
                   vectors_passes passes, const void *context, struct vectors_hit *hits,
                   size_t *count)
{
    struct vector_search search;
    bool exact = all_places(vectors) <= LIMIT_VECTORS_EXACT;
    *count = 0;
    if (vectors->dimensions == 0 || most == 0) {
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
    struct vector_places places = fresh_places(vectors);
    compare_all(&search, &places);
    for (size_t i = 0; i < vectors->kept_count; i++) {
        places = kept_places(vectors, i);
        if (exact || !places.kept->part.codes) {
            compare_all(&search, &places);
        }
    }
    if (!exact) {
        status = compare_nearest(&search, question);
    }
    free(search.question);
    qsort(hits, search.count, sizeof *hits, by_rank);
    *count = search.count;
    return status;
}

/* Every `step`th place, from the `first` on. */
static double sample_places(const struct vector_search *search, const struct vector_places *places,
                            size_t step, size_t *first, size_t *sample)
{
    double sum = 0;
    for (; *first < places->count; *first += step) {
        if (text_at(places, (uint32_t)*first) != 0) {
            uint32_t after;
            sum += nearest(search, places, (uint32_t)*first, &after);
            ++*sample;
        }
    }
    *first -= places->count;
    return sum;
}

int vectors_usual(const struct vectors *vectors, const float *question, double *usual,
                  size_t *sample)
{
    struct vector_search search = {0};
    double sum = 0;
    size_t first = 0;
    size_t step = all_places(vectors) / SAMPLE + 1;
    *sample = 0;
    int status = vectors->dimensions ? search_start(&search, vectors, question) : OK;
    if (status == OK && vectors->dimensions) {
        struct vector_places places = fresh_places(vectors);
        sum = sample_places(&search, &places, step, &first, sample);
        for (size_t i = 0; i < vectors->kept_count; i++) {
            places = kept_places(vectors, i);
            sum += sample_places(&search, &places, step, &first, sample);
        }
    }
    free(search.question);
    *usual = *sample > 0 ? sum / (double)*sample : 0;
    return status;
}

/* Where the first passage of a text is. */
static uint32_t look_up(const struct vectors *vectors, int64_t id, struct vector_places *places)
{
    uint32_t place = find(vectors, id);
    *places = fresh_places(vectors);
    for (size_t i = 0; i < vectors->kept_count && place == NO_PLACE; i++) {
        *places = kept_places(vectors, i);
        place = find_kept(places->kept, id);
    }
    return place;
}

int vectors_compare(const struct vectors *vectors, const float *question, struct vectors_hit *texts,
                    size_t count, double none)
{
    struct vector_search search = {0};
    int status = vectors->dimensions ? search_start(&search, vectors, question) : OK;
    for (size_t i = 0; i < count && status == OK; i++) {
        struct vector_places places;
        uint32_t after;
        uint32_t place = look_up(vectors, texts[i].id, &places);
        texts[i].cosine = place == NO_PLACE ? none : nearest(&search, &places, place, &after);
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
        vectors->is_damaged = calloc(1, sizeof *vectors->is_damaged);
    }
    return vectors && !vectors->is_damaged ? vectors_free(vectors) : vectors;
}

struct vectors *vectors_free(struct vectors *vectors)
{
    if (vectors) {
        for (size_t i = 0; i < vectors->kept_count; i++) {
            free(vectors->kept[i].dead);
        }
        free(vectors->kept);
        if (vectors->shelf) {
            shelf_release(vectors->shelf);
        }
        free_blocks(vectors, 0, (vectors->count + BLOCK - 1) / BLOCK);
        free(vectors->blocks);
        free(vectors->slots);
        free(vectors->removed);
        free(vectors->is_damaged);
        free(vectors);
    }
    return NULL;
}

int vectors_attach(struct vectors *vectors, const void *bytes, size_t length)
{
    struct vectors_kept kept = {0};
    int status = vector_part_head(bytes, length, &kept.part);
    if (status != OK || !vector_part_sensible(&kept.part) ||
        (vectors->dimensions != 0 && vectors->dimensions != kept.part.dimensions)) {
        return ERR_INVALID;
    }
    struct vectors_kept *more = realloc(vectors->kept, (vectors->kept_count + 1) * sizeof *more);
    if (!more) {
        return ERR_NOMEM;
    }
    vectors->kept = more;
    kept.dead = calloc(kept.part.count / 8 + (size_t)1, 1);
    if (!kept.dead) {
        return ERR_NOMEM;
    }
    set_dimensions(vectors, kept.part.dimensions);
    vectors->kept[vectors->kept_count++] = kept;
    return OK;
}

size_t vectors_bytes(const struct vectors *vectors)
{
    size_t blocks = (vectors->count + BLOCK - 1) / BLOCK;
    size_t bytes = sizeof *vectors + vectors->block_capacity * sizeof(struct vectors_block *) +
                   vectors->slot_count * sizeof *vectors->slots + blocks * block_bytes(vectors);
    for (size_t i = 0; i < vectors->kept_count; i++) {
        bytes += sizeof vectors->kept[i] + vectors->kept[i].part.count / 8;
    }
    return bytes;
}

size_t vectors_dimensions(const struct vectors *vectors)
{
    return vectors->dimensions;
}
