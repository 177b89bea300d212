/* Plans a change of a client's file. JSON and TOML have an editor each, with the same functions;
 * what differs between them stands in the table of editors. */
#include "setup/plan.h"

#include "core/limits.h"
#include "core/status.h"
#include "setup/jsonc.h"
#include "setup/toml.h"
#include "text/json.h"
#include "text/text.h"

#include <string.h>

#define ENTRY_DEPTH  2 /* of an entry in the document: servers, name */
#define MEMBER_DEPTH 3
#define MOST_STRINGS LIMIT_SETUP_KEYS

/* A text that is edited in several steps. */
struct plan_draft {
    struct arena *arena;
    const struct plan_file *file;
    const struct setup_entry *entry;
    const struct editor *editor;
    const char *path[DOCUMENT_MOST_PATH]; /* of the entry; a step may add names */
    struct buf text;
    struct document_problem *problem;
};

static const char *draft_text(const struct plan_draft *draft)
{
    return draft->text.data ? draft->text.data : "";
}

/* ---- what differs ---- */

/* An editor of one format. */
struct editor {
    int (*get)(const char *text, size_t length, const char *const *path, size_t depth,
               struct document_span *value, struct document_problem *problem);
    int (*set)(const char *text, size_t length, const char *const *path, size_t depth,
               const char *value, struct buf *out, struct document_problem *problem);
    int (*remove)(const char *text, size_t length, const char *const *path, size_t depth,
                  struct buf *out, struct document_problem *problem);
    void (*put_entry)(struct buf *out, const struct setup_entry *entry);
    void (*put_member)(struct buf *out, const struct entry_member *member);
    /* The texts of a value that is a string or an array of strings; how many, or a negative number
     * when it is something else. */
    int (*strings)(struct arena *arena, const char *text, struct document_span value,
                   const char **strings, size_t most);
};

/* The value in a part of the text, or NULL; comments inside it do not count. */
static yyjson_val *parse_json(struct arena *arena, const char *text, struct document_span span)
{
    return yyjson_doc_get_root(
        json_parse_commented(arena, text + span.start, span.end - span.start));
}

static int json_strings(struct arena *arena, const char *text, struct document_span span,
                        const char **strings, size_t most)
{
    yyjson_val *value = parse_json(arena, text, span);
    size_t count = yyjson_is_str(value) ? 1 : yyjson_arr_size(value);
    if ((!yyjson_is_str(value) && !yyjson_is_arr(value)) || count > most) {
        return ERR_INVALID;
    }
    for (size_t i = 0; i < count; i++) {
        strings[i] = yyjson_get_str(yyjson_is_str(value) ? value : yyjson_arr_get(value, i));
        if (!strings[i]) {
            return ERR_INVALID;
        }
    }
    return (int)count;
}

static const struct editor JSON_EDITOR = {
    jsonc_get, jsonc_set, jsonc_remove, entry_put_json_object, entry_put_json, json_strings};
static const struct editor TOML_EDITOR = {
    toml_get, toml_set, toml_remove, entry_put_toml_lines, entry_put_toml, toml_strings};

static const struct editor *editor_of(const struct client *client)
{
    return client->format == CLIENT_TOML ? &TOML_EDITOR : &JSON_EDITOR;
}

/* ---- steps ---- */

static int start_draft(struct plan_draft *draft, struct arena *arena, const struct plan_file *file,
                       const struct setup_entry *entry, struct document_problem *problem)
{
    *draft = (struct plan_draft){.arena = arena,
                                 .file = file,
                                 .entry = entry,
                                 .editor = editor_of(file->client),
                                 .path = {file->client->servers, file->name},
                                 .problem = problem};
    buf_init(&draft->text, LIMIT_SETUP_FILE_BYTES + LIMIT_SETUP_ENTRY_BYTES);
    return buf_append(&draft->text, file->text, file->length);
}

static int find(const struct plan_draft *draft, size_t depth, struct document_span *span)
{
    return draft->editor->get(draft_text(draft), draft->text.length, draft->path, depth, span,
                              draft->problem);
}

/* Takes what a step has made, or leaves the text as it is. */
static int keep_step(struct plan_draft *draft, struct buf *made, int status)
{
    if (status == OK) {
        buf_done(&draft->text);
        draft->text = *made;
    } else {
        buf_done(made);
    }
    return status;
}

/* Sets what the first `depth` names of the path lead to; `value` is done with afterwards. */
static int set(struct plan_draft *draft, size_t depth, struct buf *value)
{
    struct buf made;
    int status = buf_error(value);
    buf_init(&made, draft->text.ceiling);
    if (status == OK) {
        status = draft->editor->set(draft_text(draft), draft->text.length, draft->path, depth,
                                    value->data, &made, draft->problem);
    }
    buf_done(value);
    return keep_step(draft, &made, status);
}

static int take_out(struct plan_draft *draft, size_t depth)
{
    struct buf made;
    buf_init(&made, draft->text.ceiling);
    return keep_step(draft, &made,
                     draft->editor->remove(draft_text(draft), draft->text.length, draft->path,
                                           depth, &made, draft->problem));
}

/* ---- adding and changing ---- */

static int add(struct plan_draft *draft)
{
    struct buf value;
    buf_init(&value, LIMIT_SETUP_ENTRY_BYTES);
    draft->editor->put_entry(&value, draft->entry);
    return set(draft, ENTRY_DEPTH, &value);
}

/* Whether a member that is a text or a list is as it should be. */
static bool is_same(struct plan_draft *draft, const struct entry_member *member,
                    struct document_span span)
{
    const char *strings[MOST_STRINGS];
    bool is_list = draft_text(draft)[span.start] == '[';
    int count =
        draft->editor->strings(draft->arena, draft_text(draft), span, strings, MOST_STRINGS);
    bool same = is_list == (member->kind == ENTRY_LIST) && count == (int)member->count;
    for (size_t i = 0; same && i < member->count; i++) {
        same = strcmp(strings[i], member->values[i]) == 0;
    }
    return same;
}

/* Whether a pair of ours leaves the place to the one that is there, which its user has chosen. */
static bool gives_way(const struct entry_member *member, const char *name)
{
    return member->gives_way && strcmp(member->gives_way, name) == 0;
}

static bool gives_way_whole(const struct entry_member *member)
{
    return member->kind == ENTRY_TABLE && member->count == 1 && gives_way(member, member->names[0]);
}

/* A table of JSON keeps the pairs that are not ours. */
static int update_pairs(struct plan_draft *draft, const struct entry_member *member,
                        yyjson_val *there)
{
    int status = OK;
    for (size_t i = 0; status == OK && i < member->count; i++) {
        struct buf value;
        yyjson_val *old = yyjson_obj_get(there, member->names[i]);
        if (yyjson_equals_str(old, member->values[i]) ||
            (old && gives_way(member, member->names[i]))) {
            continue;
        }
        buf_init(&value, LIMIT_SETUP_ENTRY_BYTES);
        json_put_string(&value, member->values[i]);
        draft->path[MEMBER_DEPTH] = member->names[i];
        status = set(draft, MEMBER_DEPTH + 1, &value);
    }
    return status;
}

static int update_member(struct plan_draft *draft, const struct entry_member *member)
{
    struct buf value;
    struct document_span span;
    const char *text = draft_text(draft);
    draft->path[ENTRY_DEPTH] = member->name;
    int found = find(draft, MEMBER_DEPTH, &span);
    bool there = found == OK;
    if (found == ERR_UNSUPPORTED && gives_way_whole(member)) {
        return OK;
    }
    if (there && member->kind == ENTRY_TABLE && draft->editor == &JSON_EDITOR) {
        yyjson_val *pairs = parse_json(draft->arena, text, span);
        if (yyjson_is_obj(pairs)) {
            return update_pairs(draft, member, pairs);
        }
    } else if (there && member->kind != ENTRY_TABLE && is_same(draft, member, span)) {
        return OK;
    } else if (there && gives_way_whole(member)) {
        return OK; /* a table of TOML is edited as a whole */
    }
    buf_init(&value, LIMIT_SETUP_ENTRY_BYTES);
    draft->editor->put_member(&value, member);
    if (there && member->kind == ENTRY_TABLE && value.length == span.end - span.start &&
        memcmp(value.data, text + span.start, value.length) == 0) {
        buf_done(&value);
        return OK;
    }
    return set(draft, MEMBER_DEPTH, &value);
}

static int drop_rival(struct plan_draft *draft, const char *name)
{
    draft->path[ENTRY_DEPTH] = name;
    int status = entry_member(draft->entry, name) ? OK : take_out(draft, MEMBER_DEPTH);
    return status == ERR_NOTFOUND ? OK : status;
}

/* What cannot be edited is found before anything is, so that places are those of the file. */
static int check_members(struct plan_draft *draft)
{
    struct document_span span;
    for (size_t i = 0; i < draft->entry->count; i++) {
        const struct entry_member *member = &draft->entry->members[i];
        draft->path[ENTRY_DEPTH] = member->name;
        if (!gives_way_whole(member) && find(draft, MEMBER_DEPTH, &span) == ERR_UNSUPPORTED) {
            return ERR_UNSUPPORTED;
        }
    }
    return OK;
}

/* Changes the entry that is there; something else under its name in JSON is replaced. */
static int change(struct plan_draft *draft)
{
    struct document_span span;
    int status = find(draft, ENTRY_DEPTH, &span);
    if (status == OK && draft->editor == &JSON_EDITOR &&
        !yyjson_is_obj(parse_json(draft->arena, draft_text(draft), span))) {
        return add(draft);
    }
    if (status == OK) {
        status = check_members(draft);
    }
    for (size_t i = 0; status == OK && i < draft->entry->count; i++) {
        status = update_member(draft, &draft->entry->members[i]);
    }
    for (size_t i = 0; status == OK && draft->entry->rivals[i]; i++) {
        status = drop_rival(draft, draft->entry->rivals[i]);
    }
    return status;
}

/* What was written is read again before anybody else does: another change would change nothing. */
static int check(struct plan_draft *draft, const struct buf *after)
{
    struct plan_draft again;
    struct plan_file file = *draft->file;
    file.text = after->data;
    file.length = after->length;
    int status = start_draft(&again, draft->arena, &file, draft->entry, draft->problem);
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
    struct plan_draft draft;
    struct document_span span;
    int status = start_draft(&draft, arena, file, entry, problem);
    if (status == OK) {
        status = find(&draft, ENTRY_DEPTH, &span);
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
static int prune(struct plan_draft *draft)
{
    struct document_span span;
    yyjson_val *servers =
        find(draft, 1, &span) == OK ? parse_json(draft->arena, draft_text(draft), span) : NULL;
    bool empty = yyjson_is_obj(servers) && yyjson_obj_size(servers) == 0;
    return empty ? take_out(draft, 1) : OK;
}

int plan_remove(struct arena *arena, const struct plan_file *file, bool prune_servers,
                struct buf *after, struct document_problem *problem)
{
    struct plan_draft draft;
    struct document_span span;
    int status = start_draft(&draft, arena, file, NULL, problem);
    if (status == OK) {
        status = take_out(&draft, ENTRY_DEPTH);
    }
    if (status == OK && prune_servers && draft.editor == &JSON_EDITOR) {
        status = prune(&draft);
    }
    if (status == OK) {
        int found = find(&draft, ENTRY_DEPTH, &span);
        status = found == ERR_NOTFOUND ? OK : found == OK ? ERR_FAILED : found;
    }
    if (status == OK) {
        status = buf_append(after, draft_text(&draft), draft.text.length);
    }
    buf_done(&draft.text);
    return arena_failed(arena) ? ERR_NOMEM : status;
}

/* ---- looking ---- */

int plan_look(struct arena *arena, const struct plan_file *file, char *starts, size_t size,
              struct document_problem *problem)
{
    struct plan_draft draft;
    struct text_out out;
    struct document_span span;
    const char *members[] = {"command", "args", file->client->url_member};
    int status = start_draft(&draft, arena, file, NULL, problem);
    text_start(&out, starts, size);
    if (status == OK) {
        status = find(&draft, ENTRY_DEPTH, &span);
    }
    for (size_t i = 0; status == OK && i < sizeof members / sizeof *members; i++) {
        const char *strings[MOST_STRINGS];
        draft.path[ENTRY_DEPTH] = members[i];
        int count =
            members[i] && find(&draft, MEMBER_DEPTH, &span) == OK
                ? draft.editor->strings(arena, draft_text(&draft), span, strings, MOST_STRINGS)
                : 0;
        for (int j = 0; j < count; j++) {
            text_putf(&out, "%s%s", out.length ? " " : "", strings[j]);
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
    const struct editor *editor = editor_of(client);
    buf_init(&value, LIMIT_SETUP_ENTRY_BYTES);
    editor->put_entry(&value, entry);
    int status = buf_error(&value);
    if (status == OK) {
        status = editor->set("", 0, path, ENTRY_DEPTH, value.data, out, &ignored);
    }
    if (status != OK) {
        out->error = status;
    }
    buf_done(&value);
}
