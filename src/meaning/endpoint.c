/* Requests and answers of the embeddings API. */
#include "meaning/endpoint.h"

#include "core/limits.h"
#include "text/json.h"

#include <math.h>
#include <stdbool.h>

#define LARGEST 1e6 /* of a number of a vector, which has a length of about 1 */

const char *endpoint_body(struct arena *arena, const char *model, const struct slice *texts,
                          size_t count, size_t *length)
{
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_str(doc, root, "model", model);
    yyjson_mut_val *input = yyjson_mut_obj_add_arr(doc, root, "input");
    for (size_t i = 0; i < count; i++) {
        yyjson_mut_arr_add_strn(doc, input, texts[i].data, texts[i].length);
    }
    yyjson_mut_obj_add_str(doc, root, "encoding_format", "float");
    return json_text(arena, root, length);
}

/* Copies one vector and makes its length 1. NULL, or what is wrong with it. */
static const char *read_vector(yyjson_val *list, size_t dimensions, float *numbers)
{
    double sum = 0;
    size_t index, most;
    yyjson_val *item;
    if (yyjson_arr_size(list) != dimensions) {
        return "has vectors of several lengths";
    }
    yyjson_arr_foreach(list, index, most, item)
    {
        double number = yyjson_is_num(item) ? yyjson_get_num(item) : NAN;
        if (!(fabs(number) <= LARGEST)) {
            return "has a vector that holds something else than sensible numbers";
        }
        numbers[index] = (float)number;
        sum += number * number;
    }
    double size = sqrt(sum);
    if (!(size > 1e-6)) {
        return "has a vector without a direction";
    }
    for (size_t i = 0; i < dimensions; i++) {
        numbers[i] = (float)(numbers[i] / size);
    }
    return NULL;
}

/* The place of an item: its index, or where it stands in the list of an endpoint that leaves it
 * out. `count` where there is no such place. */
static size_t place_of(yyjson_val *item, size_t position, size_t count)
{
    yyjson_val *index = yyjson_obj_get(item, "index");
    if (!index) {
        return position;
    }
    return yyjson_is_uint(index) && yyjson_get_uint(index) < count ? (size_t)yyjson_get_uint(index)
                                                                   : count;
}

static const char *read_items(yyjson_val *data, size_t count, size_t dimensions, float *numbers,
                              bool *seen)
{
    size_t position, most;
    yyjson_val *item;
    yyjson_arr_foreach(data, position, most, item)
    {
        size_t place = place_of(item, position, count);
        yyjson_val *vector = yyjson_obj_get(item, "embedding");
        if (place == count || seen[place]) {
            return "does not say which vector is whose";
        }
        if (!yyjson_is_arr(vector)) {
            return "has a vector that is no list of numbers";
        }
        const char *problem = read_vector(vector, dimensions, numbers + place * dimensions);
        if (problem) {
            return problem;
        }
        seen[place] = true;
    }
    return NULL;
}

int endpoint_read(struct arena *arena, const char *body, size_t length, size_t count,
                  float **numbers, size_t *dimensions, int64_t *tokens, const char **problem)
{
    yyjson_val *root = yyjson_doc_get_root(json_parse(arena, body, length, NULL));
    yyjson_val *data = yyjson_obj_get(root, "data");
    int64_t told = yyjson_get_sint(yyjson_ptr_get(root, "/usage/prompt_tokens"));
    *tokens = told > 0 && told <= LIMIT_USAGE_COUNT ? told : 0;
    *problem = NULL;
    if (arena_failed(arena)) {
        return ERR_NOMEM;
    }
    if (!yyjson_is_arr(data) || yyjson_arr_size(data) != count || count == 0) {
        *problem = !root                  ? "is not JSON"
                   : !yyjson_is_arr(data) ? "has no data"
                                          : "has another number of vectors than there were texts";
        return ERR_INVALID;
    }
    *dimensions = yyjson_arr_size(yyjson_obj_get(yyjson_arr_get_first(data), "embedding"));
    if (*dimensions == 0 || *dimensions > LIMIT_MEANING_DIMENSIONS) {
        *problem = *dimensions ? "has vectors of more numbers than forage takes"
                               : "has a vector that is no list of numbers";
        return ERR_INVALID;
    }
    *numbers = arena_alloc(arena, count * *dimensions * sizeof **numbers);
    bool *seen = arena_zalloc(arena, count * sizeof *seen);
    if (!*numbers || !seen) {
        return ERR_NOMEM;
    }
    *problem = read_items(data, count, *dimensions, *numbers, seen);
    return *problem ? ERR_INVALID : OK;
}
