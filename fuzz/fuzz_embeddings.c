/* Fuzzes what an embeddings endpoint answers. Whatever comes: either it is refused with words, or
 * there are as many vectors as there were texts, all of length 1. */
#include "core/limits.h"
#include "fuzz.h"
#include "meaning/endpoint.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void require(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "fuzz_embeddings: %s\n", what);
        abort();
    }
}

FUZZ_TARGET(embeddings)
{
    struct arena *arena = arena_new(LIMIT_CALL_ARENA_BYTES);
    for (size_t count = 1; arena && count <= 3; count++) {
        float *numbers = NULL;
        size_t dimensions = 0;
        int64_t tokens;
        const char *problem = NULL;
        int status = endpoint_read(arena, (const char *)data, size, count, &numbers, &dimensions,
                                   &tokens, &problem);
        require(status == ERR_NOMEM || (status == ERR_INVALID) == (problem != NULL), "its words");
        for (size_t i = 0; status == OK && i < count; i++) {
            double sum = 0;
            for (size_t j = 0; j < dimensions; j++) {
                sum += (double)numbers[i * dimensions + j] * numbers[i * dimensions + j];
            }
            require(fabs(sum - 1) < 1e-3, "the length of a vector");
        }
        arena_reset(arena);
    }
    arena_free(arena);
    return 0;
}
