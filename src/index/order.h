/* Texts in the order of their bytes, the shorter of two that begin alike first: the order of a
 * segment's terms and names. */
#ifndef FORAGE_INDEX_ORDER_H
#define FORAGE_INDEX_ORDER_H

#include "index/symbols.h"

struct ordered {
    const char *text;
    size_t length;
    uint32_t number; /* of the symbol */
};

int order_texts(const char *a, size_t a_length, const char *b, size_t b_length);
/* Sorts them. */
void order_sort(struct ordered *texts, size_t count);
/* All symbols in order, for free(); NULL without memory. */
struct ordered *order_symbols(const struct symbols *symbols);

#endif
