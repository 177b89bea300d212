/* Fuzzes the file of a model, and what is computed with it: whatever it says of itself, it is
 * refused or gives vectors of length 1. The length and the checksum are put right, as whoever means
 * harm would; what is behind the file's own length is the text. */
#include "fuzz.h"
#include "meaning/model.h"
#include "meaning/model_file.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 64u

static void require(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "fuzz_model: %s\n", what);
        abort();
    }
}

static void use(const struct embedding_model *model, const char *text, size_t length)
{
    struct model_work *work = model_work_new();
    float vector[MODEL_DIMENSIONS];
    if (work && model_embed(model, work, MODEL_PASSAGE, text, length, vector) == OK) {
        float squares = 0;
        for (size_t i = 0; i < MODEL_DIMENSIONS; i++) {
            squares += vector[i] * vector[i];
        }
        require(fabsf(squares - 1) < 1e-3f, "a vector that is not of length 1");
    }
    require(strlen(model_name(model)) < 64, "a name without an end");
    model_work_free(work);
}

FUZZ_TARGET(model)
{
    struct model_header header = {0};
    if (size < sizeof header || size > MIB(1)) {
        return 0;
    }
    memcpy(&header, data, sizeof header);
    size_t length = header.length < size && header.length >= sizeof header ? header.length : size;
    char *file = aligned_alloc(ALIGNMENT, (length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    if (!file) {
        return 0;
    }
    memcpy(file, data, length);
    header.length = length;
    memcpy(file, &header, sizeof header);
    header.checksum = model_file_checksum(file, length);
    memcpy(file, &header, sizeof header);
    struct embedding_model *model = NULL;
    char problem[128];
    if (model_read(file, length, &model, problem, sizeof problem) == OK) {
        use(model, (const char *)data + length, size - length);
        model_free(model);
    } else {
        require(*problem != '\0', "no reason");
    }
    free(file);
    return 0;
}
