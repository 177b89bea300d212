/* The table of links, and how each client wants an entry in one: as JSON in base64, as JSON that is
 * percent-encoded, or as a command and its arguments. */
#include "setup/links.h"

#include "core/status.h"
#include "text/base64.h"
#include "text/json.h"
#include "text/url.h"

#include <stdio.h>
#include <string.h>

#define ABOUT "Search, reading, research, answers and memory for agents"

const struct link LINKS[] = {
    {"cursor", "cursor", "Cursor", "cursor", LINK_BASE64,
     "cursor://anysphere.cursor-deeplink/mcp/install?", "https://cursor.com/en/install-mcp?"},
    {"vscode", "vscode", "VS Code", "vscode", LINK_JSON, "vscode:mcp/install?",
     "https://insiders.vscode.dev/redirect?url="},
    {"vscode-insiders", "vscode", "VS Code Insiders", "vscode", LINK_JSON,
     "vscode-insiders:mcp/install?", "https://insiders.vscode.dev/redirect?url="},
    {"lm-studio", "lm-studio", "LM Studio", "cursor", LINK_BASE64, "lmstudio://add_mcp?",
     "https://lmstudio.ai/install-mcp?"},
    {"goose", "goose", "Goose", "cursor", LINK_WORDS, "goose://extension?",
     "https://goose-docs.ai/extension?"},
};

const size_t LINK_COUNT = sizeof LINKS / sizeof *LINKS;

const struct link *link_find(const char *id)
{
    for (size_t i = 0; i < LINK_COUNT; i++) {
        if (strcmp(LINKS[i].id, id) == 0) {
            return &LINKS[i];
        }
    }
    return NULL;
}

/* ---- the entry, without a blank ---- */

static void add_member(yyjson_mut_doc *doc, yyjson_mut_val *object,
                       const struct entry_member *member)
{
    yyjson_mut_val *value = member->kind == ENTRY_TABLE  ? yyjson_mut_obj(doc)
                            : member->kind == ENTRY_LIST ? yyjson_mut_arr(doc)
                                                         : NULL;
    for (size_t i = 0; i < member->count && value; i++) {
        if (member->kind == ENTRY_TABLE) {
            json_add_string(doc, value, member->names[i], member->values[i]);
        } else {
            yyjson_mut_arr_add_str(doc, value, member->values[i]);
        }
    }
    value = value ? value : yyjson_mut_str(doc, member->values[0]);
    yyjson_mut_obj_add_val(doc, object, member->name, value);
}

/* With its name in it, unless that is NULL. NULL without memory. */
static const char *entry_json(struct arena *arena, const char *name,
                              const struct setup_entry *entry)
{
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *object = doc ? yyjson_mut_obj(doc) : NULL;
    json_add_string(doc, object, "name", name);
    for (size_t i = 0; i < entry->count && object; i++) {
        add_member(doc, object, &entry->members[i]);
    }
    return object ? json_text(arena, object, NULL) : NULL;
}

/* ---- what stands behind the question mark ---- */

static void put_value(struct buf *out, const char *before, const char *value)
{
    buf_puts(out, before);
    if (url_encode(out, value, strlen(value)) != OK) {
        out->error = ERR_NOMEM;
    }
}

static int put_base64(struct arena *arena, struct buf *out, const char *name,
                      const struct setup_entry *entry)
{
    const char *json = entry_json(arena, NULL, entry);
    const char *encoded = json ? base64_encode(arena, json, strlen(json)) : NULL;
    if (!encoded) {
        return ERR_NOMEM;
    }
    put_value(out, "name=", name);
    put_value(out, "&config=", encoded);
    return OK;
}

static int put_json(struct arena *arena, struct buf *out, const char *name,
                    const struct setup_entry *entry)
{
    const char *json = entry_json(arena, name, entry);
    if (json) {
        put_value(out, "", json);
    }
    return json ? OK : ERR_NOMEM;
}

/* Variables have no place in it: the client asks its user for each that a link names. */
static int put_words(struct buf *out, const char *name, const struct setup_entry *entry)
{
    const struct entry_member *command = entry_member(entry, "command");
    const struct entry_member *arguments = entry_member(entry, "args");
    struct launch known;
    if (!command || !arguments || launch_by_runner(command->values[0], "", &known) != OK) {
        return ERR_UNSUPPORTED;
    }
    put_value(out, "cmd=", command->values[0]);
    for (size_t i = 0; i < arguments->count; i++) {
        put_value(out, "&arg=", arguments->values[i]);
    }
    put_value(out, "&id=", name);
    put_value(out, "&name=", name);
    put_value(out, "&description=", ABOUT);
    return OK;
}

int link_put(struct arena *arena, const struct link *link, const char *name,
             const struct entry_request *request, struct buf *address, struct buf *page,
             char *problem, size_t size)
{
    struct setup_entry entry;
    int status = entry_make(arena, client_find(link->like), request, &entry, problem, size);
    if (status != OK) {
        return status;
    }
    buf_puts(address, link->address);
    size_t behind = address->length;
    status = link->form == LINK_BASE64 ? put_base64(arena, address, name, &entry)
             : link->form == LINK_JSON ? put_json(arena, address, name, &entry)
                                       : put_words(address, name, &entry);
    if (status == ERR_UNSUPPORTED) {
        snprintf(problem, size, "%s starts nothing from a link but npx and uvx", link->title);
    }
    if (status != OK || buf_error(address) != OK) {
        return status != OK ? status : buf_error(address);
    }
    if (link->form == LINK_JSON) {
        put_value(page, link->page, address->data); /* it opens whatever address it is given */
    } else {
        buf_printf(page, "%s%s", link->page, address->data + behind);
    }
    return buf_error(page);
}
