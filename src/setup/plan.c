/* Planning a change of a client's file. */
#include "setup/plan.h"

#include "core/limits.h"
#include "core/status.h"
#include "setup/jsonc.h"
#include "setup/toml.h"
#include "text/json.h"
#include "text/text.h"

#include <string.h>

/* A text that is edited in several steps. */
struct draft {
    struct arena *arena;
    const struct plan_file *file;
    const struct setup_entry *entry;
    const char *path[DOCUMENT_MOST_PATH]; /* of the entry; a step may add names */
    struct buf text;
    struct document_problem *problem;
};

static int start_draft(struct draft *draft, struct arena *arena, const struct plan_file *file,
                       const struct setup_entry *entry, struct document_problem *problem)
{
    *draft = (struct draft){.arena = arena,
                            .file = file,
                            .entry = entry,
                            .path = {file->client->servers, file->name},
                            .problem = problem};
    buf_init(&draft->text, LIMIT_SETUP_FILE_BYTES + LIMIT_SETUP_ENTRY_BYTES);
    return buf_append(&draft->text, file->text, file->length);
}

/* Takes what a step has made, or leaves the text as it is. */
static int keep_step(struct draft *draft, struct buf *made, int status)
{
    if (status == OK) {
        buf_done(&draft->text);
        draft->text = *made;
    } else {
        buf_done(made);
    }
    return status;
}

static const char *draft_text(const struct draft *draft)
{
    return draft->text.data ? draft->text.data : "";
}

/* ---- JSON ---- */

/* The value at the first `depth` names of the path, or NULL; comments inside it do not count. */
static yyjson_val *read_json(struct draft *draft, size_t depth)
{
    struct document_span span;
    struct document_problem ignored;
    if (jsonc_get(draft_text(draft), draft->text.length, draft->path, depth, &span, &ignored) !=
        OK) {
        return NULL;
    }
    yyjson_doc *doc =
        json_parse_commented(draft->arena, draft_text(draft) + span.start, span.end - span.start);
    return yyjson_doc_get_root(doc);
}

static bool is_text(yyjson_val *value, const char *text)
{
    return yyjson_is_str(value) && strcmp(yyjson_get_str(value), text) == 0;
}

static bool is_list(yyjson_val *value, const struct entry_member *member)
{
    if (!yyjson_is_arr(value) || yyjson_arr_size(value) != member->count) {
        return false;
    }
    for (size_t i = 0; i < member->count; i++) {
        if (!is_text(yyjson_arr_get(value, i), member->values[i])) {
            return false;
        }
    }
    return true;
}

static int set_json(struct draft *draft, size_t depth, const char *value)
{
    struct buf made;
    buf_init(&made, draft->text.ceiling);
    return keep_step(draft, &made,
                     jsonc_set(draft_text(draft), draft->text.length, draft->path, depth, value,
                               &made, draft->problem));
}

static int set_member(struct draft *draft, const struct entry_member *member)
{
    struct buf value;
    buf_init(&value, LIMIT_SETUP_ENTRY_BYTES);
    entry_put_json(&value, member);
    int status = buf_error(&value);
    if (status == OK) {
        status = set_json(draft, 3, value.data);
    }
    buf_done(&value);
    return status;
}

/* A table keeps the pairs that are not ours. */
static int update_table(struct draft *draft, const struct entry_member *member, yyjson_val *there)
{
    int status = OK;
    for (size_t i = 0; status == OK && i < member->count; i++) {
        struct buf value;
        if (is_text(yyjson_obj_get(there, member->names[i]), member->values[i])) {
            continue;
        }
        buf_init(&value, LIMIT_SETUP_ENTRY_BYTES);
        json_put_string(&value, member->values[i]);
        draft->path[3] = member->names[i];
        status = buf_error(&value);
        if (status == OK) {
            status = set_json(draft, 4, value.data);
        }
        buf_done(&value);
    }
    return status;
}

static int update_member(struct draft *draft, const struct entry_member *member)
{
    draft->path[2] = member->name;
    yyjson_val *there = read_json(draft, 3);
    if (member->kind == ENTRY_TABLE && yyjson_is_obj(there)) {
        return update_table(draft, member, there);
    }
    bool same = member->kind == ENTRY_TEXT   ? is_text(there, member->values[0])
                : member->kind == ENTRY_LIST ? is_list(there, member)
                                             : false;
    return same ? OK : set_member(draft, member);
}

static int drop_rival(struct draft *draft, const char *name)
{
    struct buf made;
    draft->path[2] = name;
    if (entry_member(draft->entry, name)) {
        return OK;
    }
    buf_init(&made, draft->text.ceiling);
    int status = keep_step(
        draft, &made,
        jsonc_remove(draft_text(draft), draft->text.length, draft->path, 3, &made, draft->problem));
    return status == ERR_NOTFOUND ? OK : status;
}

static int add_json(struct draft *draft)
{
    struct buf value;
    buf_init(&value, LIMIT_SETUP_ENTRY_BYTES);
    entry_put_json_object(&value, draft->entry);
    int status = buf_error(&value);
    if (status == OK) {
        status = set_json(draft, 2, value.data);
    }
    buf_done(&value);
    return status;
}

static int change_json(struct draft *draft)
{
    if (!yyjson_is_obj(read_json(draft, 2))) {
        return add_json(draft);
    }
    int status = OK;
    for (size_t i = 0; status == OK && i < draft->entry->count; i++) {
        status = update_member(draft, &draft->entry->members[i]);
    }
    for (size_t i = 0; status == OK && draft->entry->rivals[i]; i++) {
        status = drop_rival(draft, draft->entry->rivals[i]);
    }
    return status;
}

/* ---- TOML ---- */

#define MOST_STRINGS LIMIT_SETUP_KEYS

static bool is_toml(struct draft *draft, const struct entry_member *member)
{
    const char *strings[MOST_STRINGS];
    struct document_span span;
    struct document_problem ignored;
    const char *text = draft_text(draft);
    if (toml_get(text, draft->text.length, draft->path, member->name, &span, &ignored) != OK ||
        (text[span.start] == '[') != (member->kind == ENTRY_LIST)) {
        return false;
    }
    if (member->kind == ENTRY_TABLE) {
        struct buf wanted;
        buf_init(&wanted, LIMIT_SETUP_ENTRY_BYTES);
        entry_put_toml(&wanted, member);
        bool same = wanted.length == span.end - span.start &&
                    memcmp(wanted.data, text + span.start, wanted.length) == 0;
        buf_done(&wanted);
        return same;
    }
    int count = toml_strings(draft->arena, text, span, strings, MOST_STRINGS);
    bool same = count == (int)member->count;
    for (size_t i = 0; same && i < member->count; i++) {
        same = strcmp(strings[i], member->values[i]) == 0;
    }
    return same;
}

static int update_toml(struct draft *draft, const struct entry_member *member)
{
    struct buf value;
    struct buf made;
    if (is_toml(draft, member)) {
        return OK;
    }
    buf_init(&value, LIMIT_SETUP_ENTRY_BYTES);
    buf_init(&made, draft->text.ceiling);
    entry_put_toml(&value, member);
    int status = buf_error(&value);
    if (status == OK) {
        status = toml_set(draft_text(draft), draft->text.length, draft->path, member->name,
                          value.data, &made, draft->problem);
    }
    buf_done(&value);
    return keep_step(draft, &made, status);
}

static int drop_toml(struct draft *draft, const char *name)
{
    struct buf made;
    if (entry_member(draft->entry, name)) {
        return OK;
    }
    buf_init(&made, draft->text.ceiling);
    int status = keep_step(draft, &made,
                           toml_unset(draft_text(draft), draft->text.length, draft->path, name,
                                      &made, draft->problem));
    return status == ERR_NOTFOUND ? OK : status;
}

static int add_toml(struct draft *draft)
{
    struct buf body;
    struct buf made;
    buf_init(&body, LIMIT_SETUP_ENTRY_BYTES);
    buf_init(&made, draft->text.ceiling);
    entry_put_toml_lines(&body, draft->entry);
    int status = buf_error(&body);
    if (status == OK) {
        status = toml_add(draft_text(draft), draft->text.length, draft->path, body.data, &made,
                          draft->problem);
    }
    buf_done(&body);
    return keep_step(draft, &made, status);
}

static int change_toml(struct draft *draft)
{
    int status = OK;
    for (size_t i = 0; status == OK && i < draft->entry->count; i++) {
        status = update_toml(draft, &draft->entry->members[i]);
    }
    for (size_t i = 0; status == OK && draft->entry->rivals[i]; i++) {
        status = drop_toml(draft, draft->entry->rivals[i]);
    }
    return status;
}

/* ---- either ---- */

static int find(struct draft *draft)
{
    struct document_span span;
    const char *text = draft_text(draft);
    return draft->file->client->format == CLIENT_TOML
               ? toml_find(text, draft->text.length, draft->path, &span, draft->problem)
               : jsonc_get(text, draft->text.length, draft->path, 2, &span, draft->problem);
}

static int add(struct draft *draft)
{
    return draft->file->client->format == CLIENT_TOML ? add_toml(draft) : add_json(draft);
}

static int change(struct draft *draft)
{
    return draft->file->client->format == CLIENT_TOML ? change_toml(draft) : change_json(draft);
}

/* What was written is read again before anybody else does: another change would change nothing. */
static int check(struct draft *draft, const struct buf *after)
{
    struct draft again;
    struct plan_file file = *draft->file;
    file.text = after->data;
    file.length = after->length;
    int status = start_draft(&again, draft->arena, &file, draft->entry, draft->problem);
    if (status == OK) {
        status = find(&again);
    }
    if (status == OK) {
        status = change(&again);
    }
    bool settled = status == OK && again.text.length == after->length &&
                   memcmp(again.text.data, after->data, after->length) == 0;
    buf_done(&again.text);
    return settled ? OK : status == ERR_NOMEM ? ERR_NOMEM : ERR_FAILED;
}

int plan_add(struct arena *arena, const struct plan_file *file, const struct setup_entry *entry,
             struct buf *after, enum plan_change *result, struct document_problem *problem)
{
    struct draft draft;
    int status = start_draft(&draft, arena, file, entry, problem);
    if (status == OK) {
        status = find(&draft);
    }
    *result = PLAN_CHANGED;
    if (status == ERR_NOTFOUND) {
        *result = PLAN_ADDED;
        status = add(&draft);
    } else if (status == OK) {
        status = change(&draft);
    }
    if (status == OK && *result == PLAN_CHANGED && draft.text.length == file->length &&
        memcmp(draft_text(&draft), file->text, file->length) == 0) {
        *result = PLAN_SAME;
    } else if (status == OK) {
        status = check(&draft, &draft.text);
    }
    if (status == OK) {
        status = buf_append(after, draft_text(&draft), draft.text.length);
    }
    buf_done(&draft.text);
    return arena_failed(arena) ? ERR_NOMEM : status;
}

/* ---- taking out ---- */

/* Takes out the object that holds the servers when it is empty. */
static int prune_json(struct draft *draft)
{
    struct buf made;
    yyjson_val *servers = read_json(draft, 1);
    if (!yyjson_is_obj(servers) || yyjson_obj_size(servers) != 0) {
        return OK;
    }
    buf_init(&made, draft->text.ceiling);
    return keep_step(
        draft, &made,
        jsonc_remove(draft_text(draft), draft->text.length, draft->path, 1, &made, draft->problem));
}

int plan_remove(struct arena *arena, const struct plan_file *file, bool prune, struct buf *after,
                struct document_problem *problem)
{
    struct draft draft;
    struct buf made;
    bool is_toml_file = file->client->format == CLIENT_TOML;
    int status = start_draft(&draft, arena, file, NULL, problem);
    buf_init(&made, draft.text.ceiling);
    if (status == OK) {
        status = is_toml_file ? toml_remove(draft_text(&draft), draft.text.length, draft.path,
                                            &made, problem)
                              : jsonc_remove(draft_text(&draft), draft.text.length, draft.path, 2,
                                             &made, problem);
    }
    status = keep_step(&draft, &made, status);
    if (status == OK && prune && !is_toml_file) {
        status = prune_json(&draft);
    }
    if (status == OK) {
        int found = find(&draft);
        status = found == ERR_NOTFOUND ? OK : found == OK ? ERR_FAILED : found;
    }
    if (status == OK) {
        status = buf_append(after, draft_text(&draft), draft.text.length);
    }
    buf_done(&draft.text);
    return arena_failed(arena) ? ERR_NOMEM : status;
}

/* ---- looking ---- */

static void put_toml_strings(struct draft *draft, const char *key, struct text_out *out)
{
    const char *strings[MOST_STRINGS];
    struct document_span span;
    const char *text = draft_text(draft);
    if (toml_get(text, draft->text.length, draft->path, key, &span, draft->problem) != OK) {
        return;
    }
    int count = toml_strings(draft->arena, text, span, strings, MOST_STRINGS);
    for (int i = 0; i < count; i++) {
        text_putf(out, "%s%s", out->length ? " " : "", strings[i]);
    }
}

static void put_json_strings(yyjson_val *value, struct text_out *out)
{
    if (yyjson_is_str(value)) {
        text_putf(out, "%s%s", out->length ? " " : "", yyjson_get_str(value));
    }
    for (size_t i = 0; i < yyjson_arr_size(value); i++) {
        put_json_strings(yyjson_arr_get(value, i), out);
    }
}

int plan_look(struct arena *arena, const struct plan_file *file, char *starts, size_t size,
              struct document_problem *problem)
{
    struct draft draft;
    struct text_out out;
    const char *members[] = {"command", "args", file->client->url_member};
    int status = start_draft(&draft, arena, file, NULL, problem);
    text_start(&out, starts, size);
    if (status == OK) {
        status = find(&draft);
    }
    for (size_t i = 0; status == OK && i < sizeof members / sizeof *members; i++) {
        if (!members[i]) {
            continue;
        }
        if (file->client->format == CLIENT_TOML) {
            put_toml_strings(&draft, members[i], &out);
        } else {
            draft.path[2] = members[i];
            put_json_strings(read_json(&draft, 3), &out);
        }
    }
    buf_done(&draft.text);
    return status;
}

bool plan_has_servers(const struct plan_file *file)
{
    struct document_span span;
    struct document_problem ignored;
    return file->client->format != CLIENT_TOML &&
           jsonc_get(file->text, file->length, &file->client->servers, 1, &span, &ignored) == OK;
}

void plan_put_snippet(struct buf *out, const struct client *client, const char *name,
                      const struct setup_entry *entry)
{
    struct document_problem ignored;
    struct buf value;
    const char *path[] = {client->servers, name};
    buf_init(&value, LIMIT_SETUP_ENTRY_BYTES);
    int status;
    if (client->format == CLIENT_TOML) {
        entry_put_toml_lines(&value, entry);
        status = buf_error(&value) == OK ? toml_add("", 0, path, value.data, out, &ignored)
                                         : buf_error(&value);
    } else {
        entry_put_json_object(&value, entry);
        status = buf_error(&value) == OK ? jsonc_set("", 0, path, 2, value.data, out, &ignored)
                                         : buf_error(&value);
    }
    if (status != OK) {
        out->error = status;
    }
    buf_done(&value);
}
