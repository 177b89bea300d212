/* Each format of others is translated into an object of forage's own members, which one function
 * then reads and checks (fields.h). */
#include "memory/formats.h"

#include "call/errors.h"
#include "core/limits.h"
#include "memory/fields.h"
#include "memory/rules.h"

#include <string.h>

/* One value that is being read. */
struct import_reading {
    struct call *call;
    struct arena *arena;
    yyjson_mut_doc *doc;
    formats_take take;
    void *context;
};

struct import_format {
    const char *name;
    bool (*fits)(yyjson_val *value);
    int (*read)(struct import_reading *reading, yyjson_val *value);
};

/* ---- helpers ---- */

static bool has_text(yyjson_val *object, const char *name)
{
    return yyjson_is_str(yyjson_obj_get(object, name));
}

/* Hands on a memory that was translated. */
static int hand_on(struct import_reading *reading, yyjson_mut_val *object)
{
    struct formats_memory memory = {.namespace = NULL};
    yyjson_val *frozen = json_freeze(reading->arena, object);
    int status =
        frozen ? fields_read(reading->call, reading->arena, frozen, &memory.change) : ERR_NOMEM;
    return status == OK ? reading->take(reading->context, &memory) : status;
}

/* Adds a key where it can be one; otherwise the engine makes one. */
static void add_key(struct import_reading *reading, yyjson_mut_val *object, const char *key)
{
    if (key && rules_takes_key(key)) {
        yyjson_mut_obj_add_str(reading->doc, object, "key", key);
    }
}

static void add_copy(struct import_reading *reading, yyjson_mut_val *object, const char *name,
                     yyjson_val *value)
{
    if (value && !yyjson_is_null(value)) {
        yyjson_mut_obj_add_val(reading->doc, object, name, json_copy(reading->doc, value));
    }
}

static void add_tag(struct import_reading *reading, yyjson_mut_val *object, const char *tag)
{
    yyjson_mut_val *tags = yyjson_mut_obj_get(object, "tags");
    tags = tags ? tags : yyjson_mut_obj_add_arr(reading->doc, object, "tags");
    if (tag && *tag) {
        yyjson_mut_arr_add_str(reading->doc, tags, tag);
    }
}

/* ---- forage's own ---- */

static bool fits_any(yyjson_val *value)
{
    (void)value;
    return true;
}

/* An object of the members of a memory and no others, or a text by itself. */
static int read_own(struct import_reading *reading, yyjson_val *value)
{
    struct formats_memory memory = {.change = {.text = yyjson_get_str(value), .place = -1},
                                    .namespace = json_string(value, "namespace"),
                                    .caller = json_string(value, "caller")};
    int status = yyjson_is_str(value)
                     ? OK
                     : fields_read_line(reading->call, reading->arena, value, &memory.change);
    return status == OK ? reading->take(reading->context, &memory) : status;
}

/* ---- the graph of @modelcontextprotocol/server-memory ---- */

static bool is_entity(yyjson_val *value)
{
    return has_text(value, "name") && has_text(value, "entityType");
}

static bool is_relation(yyjson_val *value)
{
    return has_text(value, "from") && has_text(value, "to") && has_text(value, "relationType");
}

static bool fits_graph(yyjson_val *value)
{
    return is_entity(value) || is_relation(value);
}

/* An entity: its name and type, and each observation on a line of its own. */
static int read_entity(struct import_reading *reading, yyjson_val *value)
{
    const char *name = json_string(value, "name");
    const char *type = json_string(value, "entityType");
    yyjson_val *observations = yyjson_obj_get(value, "observations");
    yyjson_mut_val *object = yyjson_mut_obj(reading->doc);
    size_t index, max;
    yyjson_val *item;
    struct buf text;
    if (observations && !yyjson_is_arr(observations)) {
        return call_fail(reading->call, CODE_VALIDATION, "observations must be an array");
    }
    buf_init(&text, LIMIT_MEMORY_ITEM_BYTES);
    buf_printf(&text, *type ? "%s (%s)" : "%s", name, type);
    yyjson_arr_foreach(observations, index, max, item)
    {
        if (!yyjson_is_str(item)) {
            buf_done(&text);
            return call_fail(reading->call, CODE_VALIDATION, "an observation must be a string");
        }
        buf_printf(&text, "\n- %s", yyjson_get_str(item));
    }
    const char *whole =
        buf_error(&text) == OK ? arena_strndup(reading->arena, text.data, text.length) : NULL;
    buf_done(&text);
    add_key(reading, object, name);
    json_add_string(reading->doc, object, "text", whole);
    add_tag(reading, object, type);
    yyjson_mut_val *metadata = yyjson_mut_obj_add_obj(reading->doc, object, "metadata");
    yyjson_mut_obj_add_str(reading->doc, metadata, "type", "entity");
    yyjson_mut_obj_add_str(reading->doc, metadata, "entityType", type);
    return whole ? hand_on(reading, object) : ERR_NOMEM;
}

static int read_relation(struct import_reading *reading, yyjson_val *value)
{
    static const char *const NAMES[] = {"from", "relationType", "to"};
    yyjson_mut_val *object = yyjson_mut_obj(reading->doc);
    const char *text = arena_printf(reading->arena, "%s %s %s", json_string(value, NAMES[0]),
                                    json_string(value, NAMES[1]), json_string(value, NAMES[2]));
    if (!text) {
        return ERR_NOMEM;
    }
    add_key(reading, object, text);
    yyjson_mut_obj_add_str(reading->doc, object, "text", text);
    add_tag(reading, object, "relation");
    yyjson_mut_val *metadata = yyjson_mut_obj_add_obj(reading->doc, object, "metadata");
    yyjson_mut_obj_add_str(reading->doc, metadata, "type", "relation");
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        yyjson_mut_obj_add_str(reading->doc, metadata, NAMES[i], json_string(value, NAMES[i]));
    }
    return hand_on(reading, object);
}

static int read_graph(struct import_reading *reading, yyjson_val *value)
{
    const char *type = json_string(value, "type");
    if (is_relation(value) && (!type || strcmp(type, "relation") == 0)) {
        return read_relation(reading, value);
    }
    if (is_entity(value) && (!type || strcmp(type, "entity") == 0)) {
        return read_entity(reading, value);
    }
    return call_fail(reading->call, CODE_VALIDATION,
                     "it is neither an entity (name, entityType, observations) nor a relation "
                     "(from, to, relationType)");
}

/* ---- mem0, and its OpenMemory ---- */

static bool fits_mem0(yyjson_val *value)
{
    return has_text(value, "memory") ||
           (has_text(value, "content") && has_text(value, "id") &&
            (yyjson_obj_get(value, "state") || yyjson_obj_get(value, "metadata")));
}

static int read_mem0(struct import_reading *reading, yyjson_val *value)
{
    static const char *const KEPT[] = {"user_id", "agent_id", "app_id", "actor_id", "app"};
    static const char *const RENAMED[][2] = {{"created_at", "created_at"},
                                             {"expiration_date", "expires_at"},
                                             {"run_id", "session"},
                                             {"role", "role"},
                                             {"categories", "tags"}};
    const char *state = json_string(value, "state");
    const char *text = json_string(value, "memory");
    text = text ? text : json_string(value, "content");
    if (!text) {
        return call_fail(reading->call, CODE_VALIDATION, "it has no memory (or content) as text");
    }
    if (state && strcmp(state, "deleted") == 0) {
        return OK;
    }
    yyjson_mut_val *object = yyjson_mut_obj(reading->doc);
    add_key(reading, object, json_string(value, "id"));
    yyjson_mut_obj_add_str(reading->doc, object, "text", text);
    for (size_t i = 0; i < sizeof RENAMED / sizeof *RENAMED; i++) {
        add_copy(reading, object, RENAMED[i][1], yyjson_obj_get(value, RENAMED[i][0]));
    }
    yyjson_val *given = yyjson_obj_get(value, "metadata");
    yyjson_mut_val *metadata =
        yyjson_is_obj(given) ? json_copy(reading->doc, given) : yyjson_mut_obj(reading->doc);
    for (size_t i = 0; i < sizeof KEPT / sizeof *KEPT; i++) {
        const char *kept = json_string(value, KEPT[i]);
        if (kept && !yyjson_mut_obj_get(metadata, KEPT[i])) {
            yyjson_mut_obj_add_str(reading->doc, metadata, KEPT[i], kept);
        }
    }
    if (yyjson_mut_obj_size(metadata) > 0) {
        yyjson_mut_obj_add_val(reading->doc, object, "metadata", metadata);
    }
    return hand_on(reading, object);
}

/* ---- the data export of Claude: memories.json and conversations.json ---- */

static bool fits_claude(yyjson_val *value)
{
    return yyjson_obj_get(value, "chat_messages") ||
           yyjson_obj_get(value, "conversations_memory") ||
           yyjson_obj_get(value, "project_memories");
}

/* What Claude keeps in its own memory: one text for the account or for a project. */
static int read_kept(struct import_reading *reading, const char *kind, const char *id,
                     const char *text)
{
    yyjson_mut_val *object = yyjson_mut_obj(reading->doc);
    if (!text || !*text) {
        return OK;
    }
    add_key(reading, object,
            arena_printf(reading->arena, "claude-%s%s%s", kind, id ? "-" : "", id ? id : ""));
    yyjson_mut_obj_add_str(reading->doc, object, "text", text);
    add_tag(reading, object, "claude");
    add_tag(reading, object, kind);
    return hand_on(reading, object);
}

/* The words of a message: its text, or the blocks of text that it is made of. */
static const char *message_text(struct import_reading *reading, yyjson_val *message)
{
    const char *text = json_string(message, "text");
    size_t index, max;
    yyjson_val *block;
    if (text && *text) {
        return text;
    }
    struct buf joined;
    buf_init(&joined, LIMIT_MEMORY_ITEM_BYTES);
    yyjson_arr_foreach(yyjson_obj_get(message, "content"), index, max, block)
    {
        const char *part = json_string(block, "text");
        if (part && *part) {
            buf_printf(&joined, "%s%s", joined.length ? "\n\n" : "", part);
        }
    }
    text = joined.length && buf_error(&joined) == OK
               ? arena_strndup(reading->arena, joined.data, joined.length)
               : NULL;
    buf_done(&joined);
    return text;
}

static int read_message(struct import_reading *reading, yyjson_val *talk, yyjson_val *message,
                        size_t place)
{
    const char *text = message_text(reading, message);
    const char *id = json_string(message, "uuid");
    const char *sender = json_string(message, "sender");
    const char *name = json_string(talk, "name");
    yyjson_mut_val *object = yyjson_mut_obj(reading->doc);
    if (!text) {
        return arena_failed(reading->arena) ? ERR_NOMEM : OK; /* nothing was said: a file, a tool */
    }
    add_key(reading, object, id ? arena_printf(reading->arena, "claude-%s", id) : NULL);
    yyjson_mut_obj_add_str(reading->doc, object, "text", text);
    add_copy(reading, object, "created_at", yyjson_obj_get(message, "created_at"));
    json_add_string(reading->doc, object, "role",
                    sender && strcmp(sender, "human") == 0 ? "user" : sender);
    add_copy(reading, object, "session", yyjson_obj_get(talk, "uuid"));
    yyjson_mut_obj_add_uint(reading->doc, object, "place", place);
    if (name && *name) {
        yyjson_mut_val *metadata = yyjson_mut_obj_add_obj(reading->doc, object, "metadata");
        yyjson_mut_obj_add_str(reading->doc, metadata, "conversation", name);
    }
    return hand_on(reading, object);
}

/* The memories that Claude keeps for each project. */
static int read_projects(struct import_reading *reading, yyjson_val *projects)
{
    size_t index, max;
    yyjson_val *key, *item;
    int status = OK;
    yyjson_obj_foreach(projects, index, max, key, item)
    {
        status = status == OK
                     ? read_kept(reading, "project", yyjson_get_str(key), yyjson_get_str(item))
                     : status;
    }
    return status;
}

static int read_claude(struct import_reading *reading, yyjson_val *value)
{
    yyjson_val *messages = yyjson_obj_get(value, "chat_messages");
    yyjson_val *projects = yyjson_obj_get(value, "project_memories");
    size_t index, max;
    yyjson_val *item;
    if (!fits_claude(value) || (messages && !yyjson_is_arr(messages)) ||
        (projects && !yyjson_is_null(projects) && !yyjson_is_obj(projects))) {
        return call_fail(reading->call, CODE_VALIDATION,
                         "it is neither a conversation (chat_messages) nor what Claude remembers "
                         "(conversations_memory, project_memories)");
    }
    int status = read_kept(reading, "memory", json_string(value, "account_uuid"),
                           json_string(value, "conversations_memory"));
    if (status == OK && yyjson_is_obj(projects)) {
        status = read_projects(reading, projects);
    }
    yyjson_arr_foreach(messages, index, max, item)
    {
        status = status == OK ? read_message(reading, value, item, index) : status;
    }
    return status;
}

/* ---- the table ---- */

/* In the order in which they are tried; forage's own takes what no other does. */
static const struct import_format FORMATS[] = {
    {"graph", fits_graph, read_graph},
    {"mem0", fits_mem0, read_mem0},
    {"claude", fits_claude, read_claude},
    {"forage", fits_any, read_own},
};

const struct import_format *formats_find(const char *name)
{
    for (size_t i = 0; i < sizeof FORMATS / sizeof *FORMATS; i++) {
        if (strcmp(FORMATS[i].name, name) == 0) {
            return &FORMATS[i];
        }
    }
    return NULL;
}

const struct import_format *formats_detect(yyjson_val *value)
{
    const struct import_format *format = FORMATS;
    while (!format->fits(value)) {
        format++;
    }
    return format;
}

int formats_read(const struct import_format *format, struct call *call, yyjson_val *value,
                 formats_take take, void *context)
{
    struct import_reading reading = {.call = call,
                                     .arena = call_arena(call),
                                     .doc = json_new(call_arena(call)),
                                     .take = take,
                                     .context = context};
    return reading.doc ? format->read(&reading, value) : ERR_NOMEM;
}
