/* Fuzzes the schema validator. The input is a schema and a value, split by the first NUL or line
 * end. Whatever they are: nothing crashes or runs away, the message is UTF-8 and there when it
 * should be, and a value passes only if a second, much simpler reading of `type`, `required` and
 * `enum` agrees. */
#include "core/limits.h"
#include "core/status.h"
#include "fuzz.h"
#include "registry/schema.h"
#include "text/text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "fuzz_schema: %s\n", what);
        abort();
    }
}

static bool is_of_type(yyjson_val *value, yyjson_val *name)
{
    const char *type = yyjson_get_str(name);
    double number = yyjson_get_num(value);
    if (!type) {
        return false;
    }
    return (strcmp(type, "string") == 0 && yyjson_is_str(value)) ||
           (strcmp(type, "number") == 0 && yyjson_is_num(value)) ||
           (strcmp(type, "integer") == 0 && yyjson_is_num(value) && number > -1e19 &&
            number < 1e19 && (number > 1e15 || number < -1e15 || number == (double)(long)number)) ||
           (strcmp(type, "boolean") == 0 && yyjson_is_bool(value)) ||
           (strcmp(type, "null") == 0 && yyjson_is_null(value)) ||
           (strcmp(type, "array") == 0 && yyjson_is_arr(value)) ||
           (strcmp(type, "object") == 0 && yyjson_is_obj(value));
}

/* What a value that passes must at least be. */
static void check_passed(yyjson_val *schema, yyjson_val *value)
{
    yyjson_val *type = yyjson_obj_get(schema, "type");
    bool typed = !type || is_of_type(value, type);
    size_t index, max;
    yyjson_val *name;
    yyjson_arr_foreach(type, index, max, name)
    {
        typed = typed || is_of_type(value, name);
    }
    require(typed, "a value of the wrong type passed");
    yyjson_arr_foreach(yyjson_obj_get(schema, "required"), index, max, name)
    {
        require(!yyjson_is_obj(value) || yyjson_obj_get(value, yyjson_get_str(name)),
                "an object without a required member passed");
    }
    bool listed = !yyjson_obj_get(schema, "enum");
    yyjson_arr_foreach(yyjson_obj_get(schema, "enum"), index, max, name)
    {
        listed = listed || !yyjson_is_str(value) || yyjson_equals(name, value);
    }
    require(listed, "a string that is not listed passed");
    require(!yyjson_is_false(schema), "a value passed a schema that refuses all");
}

static void check_message(int status, const char *problem)
{
    size_t length = strlen(problem);
    require(status == OK || status == ERR_INVALID, "an unknown status");
    require((status == OK) == (length == 0), "a message that does not fit the status");
    require(text_is_utf8(problem, length), "a message that is not UTF-8");
    for (size_t i = 0; i < length; i++) {
        require((unsigned char)problem[i] >= ' ' || problem[i] == '\n', "a control character");
    }
}

static void check(struct arena *arena, yyjson_val *schema, yyjson_val *value)
{
    char problem[LIMIT_ERROR_CHARS];
    bool sound = schema_check(schema, problem, sizeof problem) == OK;
    /* A schema that was refused is never used, but must not be dangerous either. */
    int status = schema_validate(schema, value, problem, sizeof problem);
    if (!sound) {
        return;
    }
    check_message(status, problem);
    if (status == OK) {
        check_passed(schema, value);
    }
    char again[LIMIT_ERROR_CHARS];
    require(schema_validate(schema, value, again, sizeof again) == status, "two answers");
    require(strcmp(problem, again) == 0, "two messages");
    require(schema_validate(schema, value, NULL, 0) == status, "another answer without words");
    require(schema_with_defaults(json_new(arena), schema, value) || arena_failed(arena),
            "no copy with defaults");
}

FUZZ_TARGET(schema)
{
    const char *text = (const char *)data;
    size_t split = 0;
    while (split < size && text[split] != '\0' && text[split] != '\n') {
        split++;
    }
    struct arena *arena = arena_new(MIB(16));
    if (!arena || split == size) {
        arena_free(arena);
        return 0;
    }
    yyjson_doc *schema = json_parse(arena, text, split, NULL);
    yyjson_doc *value = json_parse(arena, text + split + 1, size - split - 1, NULL);
    if (schema && value) {
        check(arena, yyjson_doc_get_root(schema), yyjson_doc_get_root(value));
    }
    arena_free(arena);
    return 0;
}
