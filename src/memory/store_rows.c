/* Columns that hold more than a number or a text. */
#include "memory/store_rows.h"

#include "text/json.h"

#include <stdlib.h>
#include <string.h>

void store_digest(const char *text, unsigned char digest[SHA256_SIZE])
{
    struct sha256 sha;
    sha256_init(&sha);
    sha256_add(&sha, text, strlen(text));
    sha256_end(&sha, digest);
}

int store_tags_write(const struct memory *memory, char **text)
{
    *text = NULL;
    if (memory->tag_count == 0) {
        return OK;
    }
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *tags = doc ? yyjson_mut_arr_with_str(doc, NULL, 0) : NULL;
    for (size_t i = 0; tags && i < memory->tag_count; i++) {
        yyjson_mut_arr_add_str(doc, tags, memory->tags[i]);
    }
    *text = tags ? yyjson_mut_val_write(tags, 0, NULL) : NULL;
    yyjson_mut_doc_free(doc);
    return *text ? OK : ERR_NOMEM;
}

int store_tags_read(struct arena *arena, const char *text, struct memory *memory)
{
    memory->tags = NULL;
    memory->tag_count = 0;
    if (!text) {
        return OK;
    }
    yyjson_val *list = yyjson_doc_get_root(json_parse(arena, text, strlen(text), NULL));
    const char **tags = arena_alloc(arena, (yyjson_arr_size(list) + 1) * sizeof *tags);
    size_t index, max;
    yyjson_val *tag;
    if (!tags) {
        return ERR_NOMEM;
    }
    yyjson_arr_foreach(list, index, max, tag)
    {
        if (yyjson_is_str(tag)) {
            tags[memory->tag_count++] = yyjson_get_str(tag);
        }
    }
    memory->tags = tags;
    return OK;
}
