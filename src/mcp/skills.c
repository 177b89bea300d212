/* Skills: the extension of the modern era by which a server hands an agent what it should know to
 * use the server well (SEP-2640). Each file of a skill is a resource, skill://NAME/PATH, that
 * anybody may read; an entry tells all files of one skill with their digests, and a directory its
 * children. Lists of resources name a skill only to clients that know the extension: to all others
 * nothing is new. */
#include "mcp/internal.h"

#include <string.h>

#define SCHEME    "skill://"
#define MAIN_FILE "SKILL.md"
#define DIRECTORY "inode/directory"

bool skills_offered(const struct mcp *mcp)
{
    return mcp->options.registry->skill_count > 0;
}

bool skills_known(const struct mcp_work *work)
{
    yyjson_val *capabilities = yyjson_obj_get(work->meta, META_CAPABILITIES);
    return work->modern &&
           yyjson_obj_get(yyjson_obj_get(capabilities, "extensions"), SKILLS_EXTENSION);
}

void skills_add_capability(struct mcp_work *work, yyjson_mut_val *capabilities)
{
    if (work->modern && skills_offered(work->mcp)) {
        yyjson_mut_val *settings = add_extension(work, capabilities, SKILLS_EXTENSION);
        yyjson_mut_obj_add_bool(work->doc, settings, "directoryRead", true);
    }
}

/* ---- what a skill is ---- */

static const char *uri_of(struct mcp_work *work, const struct skill *skill, const char *path)
{
    return arena_printf(work->arena, SCHEME "%s/%s", skill->name, path);
}

static const char *digest_of(struct mcp_work *work, const char *text, size_t length)
{
    static const char PREFIX[] = "sha256:";
    static const char DIGITS[] = "0123456789abcdef";
    unsigned char digest[SHA256_SIZE];
    struct sha256 sha;
    char *hex = arena_alloc(work->arena, sizeof PREFIX + 2 * SHA256_SIZE);
    if (!hex) {
        return NULL;
    }
    sha256_init(&sha);
    sha256_add(&sha, text, length);
    sha256_end(&sha, digest);
    memcpy(hex, PREFIX, sizeof PREFIX);
    char *end = hex + strlen(hex);
    for (size_t i = 0; i < SHA256_SIZE; i++) {
        *end++ = DIGITS[digest[i] >> 4];
        *end++ = DIGITS[digest[i] & 15];
    }
    *end = '\0';
    return hex;
}

/* The head of SKILL.md: lines of "name: text" between two of "---". Ours are plain texts, each on
 * one line, so that no reader of YAML sees in them anything but what stands there. */
static yyjson_mut_val *head_of(struct mcp_work *work, const struct skill *skill)
{
    yyjson_mut_val *head = yyjson_mut_obj(work->doc);
    const char *line = strchr(skill->files[0].text, '\n');
    while (line && strncmp(line + 1, "---", 3) != 0) {
        const char *name = line + 1;
        const char *colon = strstr(name, ": ");
        line = strchr(name, '\n');
        if (line && colon && colon < line) {
            yyjson_mut_val *key = yyjson_mut_strncpy(work->doc, name, (size_t)(colon - name));
            size_t length = (size_t)(line - colon) - 2;
            yyjson_mut_obj_add(head, key, yyjson_mut_strncpy(work->doc, colon + 2, length));
        }
    }
    return head;
}

static yyjson_mut_val *describe_skill(struct mcp_work *work, const struct skill *skill)
{
    yyjson_mut_doc *doc = work->doc;
    yyjson_mut_val *entry = yyjson_mut_obj(doc);
    json_add_string(doc, entry, "uri", uri_of(work, skill, MAIN_FILE));
    yyjson_mut_obj_add_val(doc, entry, "frontmatter", head_of(work, skill));
    yyjson_mut_val *files = yyjson_mut_obj_add_arr(doc, entry, "resources");
    for (const struct skill_file *file = skill->files; file->path; file++) {
        yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, files);
        size_t length = strlen(file->text);
        json_add_string(doc, one, "uri", uri_of(work, skill, file->path));
        json_add_string(doc, one, "digest", digest_of(work, file->text, length));
        yyjson_mut_obj_add_uint(doc, one, "size", length);
    }
    return entry;
}

/* One file as lists of resources tell it: SKILL.md by what its head says, others by their names. */
static yyjson_mut_val *describe_file(struct mcp_work *work, const struct skill *skill,
                                     const struct skill_file *file)
{
    yyjson_mut_doc *doc = work->doc;
    yyjson_mut_val *item = yyjson_mut_obj(doc);
    const char *slash = strrchr(file->path, '/');
    bool is_main = strcmp(file->path, MAIN_FILE) == 0;
    json_add_string(doc, item, "uri", uri_of(work, skill, file->path));
    json_add_string(doc, item, "name", is_main ? skill->name : slash ? slash + 1 : file->path);
    if (is_main) {
        yyjson_mut_val *said = yyjson_mut_obj_get(head_of(work, skill), "description");
        json_add_string(doc, item, "description", yyjson_mut_get_str(said));
    }
    json_add_string(doc, item, "mimeType", file->mime);
    return item;
}

void skills_add_resources(struct mcp_work *work, yyjson_mut_val *items)
{
    const struct registry *registry = work->mcp->options.registry;
    for (size_t i = 0; skills_known(work) && i < registry->skill_count; i++) {
        const struct skill *skill = registry->skills[i];
        yyjson_mut_arr_append(items, describe_file(work, skill, &skill->files[0]));
    }
}

/* ---- finding ---- */

/* What is behind "skill://NAME" in a URI, NULL where it is of another skill. */
static const char *within(const struct skill *skill, const char *uri)
{
    size_t scheme = strlen(SCHEME);
    size_t name = strlen(skill->name);
    bool same = strncmp(uri, SCHEME, scheme) == 0 && strncmp(uri + scheme, skill->name, name) == 0;
    return same ? uri + scheme + name : NULL;
}

const struct skill_file *skills_file(const struct mcp *mcp, const char *uri)
{
    const struct registry *registry = mcp->options.registry;
    for (size_t i = 0; i < registry->skill_count; i++) {
        const char *rest = within(registry->skills[i], uri);
        const struct skill_file *file = registry->skills[i]->files;
        while (file->path && !(rest && *rest == '/' && strcmp(rest + 1, file->path) == 0)) {
            file++;
        }
        if (file->path) {
            return file;
        }
    }
    return NULL;
}

/* The URI that a request names; NULL after answering that there is none. */
static const char *wanted_uri(struct mcp_work *work)
{
    const char *uri = json_string(work->params, "uri");
    if (!uri) {
        answer_error(work, RPC_INVALID_PARAMS, NULL, "params.uri must be a string");
    }
    return uri;
}

static void answer_unknown(struct mcp_work *work, const char *uri, const char *what)
{
    yyjson_mut_val *data = yyjson_mut_obj(work->doc);
    json_add_string(work->doc, data, "uri", uri);
    answer_error(work, RPC_INVALID_PARAMS, data,
                 "there is no %s \"%.256s\"; skills/list names skills and their files", what, uri);
}

/* ---- the methods ---- */

void skills_list(struct mcp_work *work)
{
    const struct registry *registry = work->mcp->options.registry;
    yyjson_mut_val *items = yyjson_mut_arr(work->doc);
    for (size_t i = 0; i < registry->skill_count; i++) {
        yyjson_mut_arr_append(items, describe_skill(work, registry->skills[i]));
    }
    answer_items(work, "skills", items);
}

void skills_get(struct mcp_work *work)
{
    const struct registry *registry = work->mcp->options.registry;
    const char *uri = wanted_uri(work);
    const struct skill *found = NULL;
    for (size_t i = 0; uri && i < registry->skill_count; i++) {
        const char *rest = within(registry->skills[i], uri);
        found = rest && strcmp(rest, "/" MAIN_FILE) == 0 ? registry->skills[i] : found;
    }
    if (found) {
        yyjson_mut_val *result = yyjson_mut_obj(work->doc);
        yyjson_mut_obj_add_val(work->doc, result, "skill", describe_skill(work, found));
        answer_result(work, result);
    } else if (uri) {
        answer_unknown(work, uri, "skill");
    }
}

/* Adds a folder once, however many files are in it: they stand together. */
static void add_folder(struct mcp_work *work, yyjson_mut_val *items, const char *uri,
                       const char *name)
{
    yyjson_mut_val *last = yyjson_mut_obj_get(yyjson_mut_arr_get_last(items), "name");
    const char *child = arena_printf(work->arena, "%s/%s", uri, name);
    if (!child || yyjson_mut_equals_str(last, name)) {
        return;
    }
    yyjson_mut_val *item = yyjson_mut_arr_add_obj(work->doc, items);
    json_add_string(work->doc, item, "uri", child);
    json_add_string(work->doc, item, "name", name);
    json_add_string(work->doc, item, "mimeType", DIRECTORY);
}

/* Adds what is right below `folder` of a skill, which is "" for the skill itself. */
static void add_children(struct mcp_work *work, yyjson_mut_val *items, const struct skill *skill,
                         const char *folder, const char *uri)
{
    size_t length = *folder ? strlen(folder) + 1 : 0;
    for (const struct skill_file *file = skill->files; file->path; file++) {
        bool inside = length == 0 || (strncmp(file->path, folder, length - 1) == 0 &&
                                      file->path[length - 1] == '/');
        const char *slash = inside ? strchr(file->path + length, '/') : NULL;
        if (slash) {
            size_t name = (size_t)(slash - file->path) - length;
            const char *copy = arena_strndup(work->arena, file->path + length, name);
            add_folder(work, items, uri, copy ? copy : "");
        } else if (inside) {
            yyjson_mut_arr_append(items, describe_file(work, skill, file));
        }
    }
}

void skills_read_directory(struct mcp_work *work)
{
    const struct registry *registry = work->mcp->options.registry;
    const char *uri = wanted_uri(work);
    yyjson_mut_val *items = yyjson_mut_arr(work->doc);
    for (size_t i = 0; uri && i < registry->skill_count; i++) {
        const char *rest = within(registry->skills[i], uri);
        if (rest && (*rest == '\0' || (*rest == '/' && rest[1]))) {
            add_children(work, items, registry->skills[i], rest + (*rest == '/'), uri);
        }
    }
    if (uri && yyjson_mut_arr_size(items) > 0) {
        answer_items(work, "resources", items);
    } else if (uri) {
        answer_unknown(work, uri, "directory");
    }
}
