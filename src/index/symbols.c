/* A hash table over texts that lie one behind the other. */
#include "index/symbols.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 64u
#define MOST_BYTES  ((size_t)UINT32_MAX)

void symbols_done(struct symbols *symbols)
{
    free(symbols->bytes);
    free(symbols->starts);
    free(symbols->slots);
    memset(symbols, 0, sizeof *symbols);
}

const char *symbols_text(const struct symbols *symbols, uint32_t number)
{
    return symbols->bytes + symbols->starts[number];
}

size_t symbols_length(const struct symbols *symbols, uint32_t number)
{
    return symbols->starts[number + 1] - symbols->starts[number] - 1;
}

size_t symbols_bytes(const struct symbols *symbols)
{
    return symbols->capacity + symbols->most * sizeof *symbols->starts +
           symbols->slot_count * sizeof *symbols->slots;
}

static uint32_t hash_of(const char *text, size_t length)
{
    uint64_t hash = 0x9E3779B97F4A7C15u ^ length;
    while (length >= sizeof hash) {
        uint64_t piece;
        memcpy(&piece, text, sizeof piece);
        hash = (hash ^ piece) * 0xFF51AFD7ED558CCDu;
        hash ^= hash >> 32;
        text += sizeof piece;
        length -= sizeof piece;
    }
    uint64_t rest = 0;
    memcpy(&rest, text, length);
    hash = (hash ^ rest) * 0xFF51AFD7ED558CCDu;
    return (uint32_t)(hash ^ hash >> 32);
}

/* The slot of the text, or the free one where it belongs. */
static uint32_t *slot_of(const struct symbols *symbols, const char *text, size_t length)
{
    uint32_t mask = symbols->slot_count - 1;
    uint32_t at = hash_of(text, length) & mask;
    while (symbols->slots[at]) {
        uint32_t number = symbols->slots[at] - 1;
        if (symbols_length(symbols, number) == length &&
            memcmp(symbols_text(symbols, number), text, length) == 0) {
            break;
        }
        at = (at + 1) & mask;
    }
    return &symbols->slots[at];
}

/* SYMBOL_NONE when it was never added. */
static uint32_t find(const struct symbols *symbols, const char *text, size_t length)
{
    return symbols->slot_count ? *slot_of(symbols, text, length) - 1 : SYMBOL_NONE;
}

static int grow_slots(struct symbols *symbols)
{
    uint32_t count = symbols->slot_count ? symbols->slot_count * 2 : FIRST_SLOTS;
    uint32_t *slots = calloc(count, sizeof *slots);
    if (!slots) {
        return -1;
    }
    free(symbols->slots);
    symbols->slots = slots;
    symbols->slot_count = count;
    for (uint32_t i = 0; i < symbols->count; i++) {
        *slot_of(symbols, symbols_text(symbols, i), symbols_length(symbols, i)) = i + 1;
    }
    return 0;
}

/* Room for one more text. */
static int reserve(struct symbols *symbols, size_t length)
{
    if (symbols->used + length + 1 > symbols->capacity) {
        size_t capacity = (symbols->used + length + 1) * 2;
        char *bytes = capacity < MOST_BYTES ? realloc(symbols->bytes, capacity) : NULL;
        if (!bytes) {
            return -1;
        }
        symbols->bytes = bytes;
        symbols->capacity = capacity;
    }
    if (symbols->count + 2 > symbols->most) {
        uint32_t most = symbols->most ? symbols->most * 2 : FIRST_SLOTS;
        uint32_t *starts = realloc(symbols->starts, most * sizeof *starts);
        if (!starts) {
            return -1;
        }
        starts[0] = 0;
        symbols->starts = starts;
        symbols->most = most;
    }
    return symbols->count * 2 >= symbols->slot_count ? grow_slots(symbols) : 0;
}

uint32_t symbols_add(struct symbols *symbols, const char *text, size_t length)
{
    uint32_t number = find(symbols, text, length);
    if (number != SYMBOL_NONE) {
        return number;
    }
    if (reserve(symbols, length) != 0) {
        return SYMBOL_NONE;
    }
    memcpy(symbols->bytes + symbols->used, text, length);
    symbols->bytes[symbols->used + length] = '\0';
    symbols->used += length + 1;
    number = symbols->count++;
    symbols->starts[symbols->count] = (uint32_t)symbols->used;
    *slot_of(symbols, text, length) = number + 1;
    return number;
}
