/* An array that grows by doubling. */
#ifndef FORAGE_INDEX_ARRAY_H
#define FORAGE_INDEX_ARRAY_H

#include <stddef.h>
#include <stdint.h>

/* Makes room for `wanted` items of so many bytes in the array whose address is `array`; what is new
 * is zero. OK, ERR_NOMEM, ERR_LIMIT. */
int array_reserve(void *array, uint32_t *capacity, uint32_t wanted, size_t item);

#endif
