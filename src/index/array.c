/* Growing arrays of the index's parts. */
#include "index/array.h"

#include "core/status.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 64u

int array_reserve(void *array, uint32_t *capacity, uint32_t wanted, size_t item)
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
