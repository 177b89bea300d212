/* Lists of results that a table of keys describes, in answers of open sources: whatever object they
 * are in, with a text that may be the first of several, or under another key. */
#include "core/status.h"
#include "websearch/open/sources.h"

static const char *text_under(yyjson_val *item, const char *key)
{
    yyjson_val *value = key ? yyjson_obj_get(item, key) : NULL;
    return yyjson_get_str(yyjson_is_arr(value) ? yyjson_arr_get_first(value) : value);
}

int source_add_list(struct hits *hits, yyjson_val *list, const struct hit_shape *shape,
                    const char *instead)
{
    if (!yyjson_is_arr(list)) {
        return ERR_INVALID;
    }
    size_t index, max;
    yyjson_val *item;
    yyjson_arr_foreach(list, index, max, item)
    {
        const char *snippet = text_under(item, shape->snippet);
        hits_add(hits, &(struct hit){
                           .title = text_under(item, shape->title),
                           .link = text_under(item, shape->link),
                           .snippet = snippet && *snippet ? snippet : text_under(item, instead),
                           .published = text_under(item, shape->published),
                           .image = text_under(item, shape->image),
                       });
    }
    return OK;
}
