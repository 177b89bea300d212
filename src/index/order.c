/* The one comparison of texts, and sorting by it. */
#include "index/order.h"

#include <stdlib.h>
#include <string.h>

int order_texts(const char *a, size_t a_length, const char *b, size_t b_length)
{
    int order = memcmp(a, b, a_length < b_length ? a_length : b_length);
    return order != 0 ? order : (a_length > b_length) - (a_length < b_length);
}

static int by_text(const void *left, const void *right)
{
    const struct ordered *a = left;
    const struct ordered *b = right;
    return order_texts(a->text, a->length, b->text, b->length);
}

void order_sort(struct ordered *texts, size_t count)
{
    qsort(texts, count, sizeof *texts, by_text);
}

struct ordered *order_symbols(const struct symbols *symbols)
{
    struct ordered *texts = malloc((symbols->count + (size_t)1) * sizeof *texts);
    for (uint32_t i = 0; i < symbols->count && texts; i++) {
        texts[i] = (struct ordered){symbols_text(symbols, i), symbols_length(symbols, i), i};
    }
    if (texts) {
        order_sort(texts, symbols->count);
    }
    return texts;
}
