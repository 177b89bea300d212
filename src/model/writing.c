/* What those who write requests share. */
#include "model/dialect.h"

struct arena *writing_arena(const yyjson_mut_doc *doc)
{
    return doc->alc.ctx; /* as json_new() set it */
}

yyjson_mut_val *raw_json(yyjson_mut_doc *doc, const char *text)
{
    return text ? yyjson_mut_raw(doc, text) : NULL;
}

const char *result_text(struct arena *arena, const struct model_message *message)
{
    return message->failed ? arena_printf(arena, "Error: %s", message->text) : message->text;
}

const char *use_object(struct arena *arena, const struct model_use *use)
{
    if (use->arguments) {
        return use->arguments;
    }
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    json_add_string(doc, object, "not_json", use->raw);
    return json_text(arena, object, NULL);
}
