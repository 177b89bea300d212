/* Symbols: each text gets a number, from 0 on, once. Texts are copied and stay. */
#ifndef FORAGE_INDEX_SYMBOLS_H
#define FORAGE_INDEX_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#define SYMBOL_NONE UINT32_MAX

/* Zeroed is empty. */
struct symbols {
    char *bytes; /* the texts, each ends in a NUL */
    size_t used, capacity;
    uint32_t *starts; /* where each begins; one more than there are */
    uint32_t count, most;
    uint32_t *slots; /* number + 1; 0: free */
    uint32_t slot_count;
};

void symbols_done(struct symbols *symbols);
/* The number of the text, new or old; SYMBOL_NONE without memory. */
uint32_t symbols_add(struct symbols *symbols, const char *text, size_t length);
const char *symbols_text(const struct symbols *symbols, uint32_t number);
/* The memory that they take. */
size_t symbols_bytes(const struct symbols *symbols);
size_t symbols_length(const struct symbols *symbols, uint32_t number);

#endif
