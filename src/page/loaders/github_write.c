/* GitHub: threads of issues, pull requests and discussions as Markdown. What people wrote there is
 * Markdown already; it is set below our headings and otherwise left alone. */
#include "core/limits.h"
#include "core/status.h"
#include "page/loaders/github.h"

#include <stdlib.h>
#include <string.h>

#define HUNK_LINES 4 /* of code before a review comment: enough to see what it is about */

static const char *author_of(yyjson_val *object, const char *key)
{
    const char *login = json_string(yyjson_obj_get(object, key), "login");
    return login ? login : "ghost"; /* GitHub's own name for an account that is gone */
}

/* The day of "2026-11-15T10:10:30Z"; "" where there is none. */
static void write_day(struct buf *out, const char *before, const char *moment)
{
    if (moment) {
        buf_printf(out, "%s%.10s", before, moment);
    }
}

static void write_words(struct buf *out, yyjson_val *object, const char *key, int levels)
{
    const char *body = json_string(object, key);
    if (body && *body) {
        compose_markdown(out, body, strlen(body), levels, NULL);
        buf_putc(out, '\n');
    }
}

static void write_labels(struct buf *out, yyjson_val *labels)
{
    size_t index, max;
    yyjson_val *label;
    yyjson_arr_foreach(labels, index, max, label)
    {
        const char *name =
            yyjson_is_str(label) ? yyjson_get_str(label) : json_string(label, "name");
        buf_puts(out, index ? ", " : " · labels: ");
        compose_line(out, name);
    }
}

static void write_missing(struct buf *out, const char *missing)
{
    if (missing) {
        buf_printf(out, "_%s_\n", missing);
    }
}

/* ---- issues and pull requests ---- */

static const char *state_of(yyjson_val *subject)
{
    const char *state = json_string(subject, "state");
    const char *reason = json_string(subject, "state_reason");
    if (yyjson_get_bool(yyjson_obj_get(subject, "merged")) || json_string(subject, "merged_at")) {
        return "merged";
    }
    if (yyjson_get_bool(yyjson_obj_get(subject, "draft"))) {
        return "draft";
    }
    if (reason && strcmp(reason, "not_planned") == 0) {
        return "closed as not planned";
    }
    return state ? state : "open";
}

static void write_head(struct buf *out, const struct github_thread *thread)
{
    yyjson_val *subject = thread->subject;
    buf_puts(out, "# ");
    compose_line(out, json_string(subject, "title"));
    buf_printf(out, " (#%lld)\n\n%s · %s", (long long)service_int(subject, "number"),
               thread->is_pull ? "Pull request" : "Issue", state_of(subject));
    buf_printf(out, " · opened by %s", author_of(subject, "user"));
    write_day(out, " on ", json_string(subject, "created_at"));
    write_day(out, " · closed on ", json_string(subject, "closed_at"));
    write_labels(out, service_array(subject, "labels"));
    const char *head = json_string(yyjson_obj_get(subject, "head"), "label");
    const char *base = json_string(yyjson_obj_get(subject, "base"), "label");
    if (thread->is_pull && head && base) {
        buf_printf(out, " · `%s` into `%s`", head, base);
    }
    if (thread->is_pull && yyjson_obj_get(subject, "changed_files")) {
        buf_printf(out, " · %lld files, +%lld −%lld",
                   (long long)service_int(subject, "changed_files"),
                   (long long)service_int(subject, "additions"),
                   (long long)service_int(subject, "deletions"));
    }
    buf_puts(out, "\n\n");
    write_words(out, subject, "body", 1);
}

static const char *moment_of(yyjson_val *entry)
{
    const char *moment = json_string(entry, "submitted_at");
    moment = moment ? moment : json_string(entry, "created_at");
    return moment ? moment : "";
}

static int compare_moments(const void *left, const void *right)
{
    yyjson_val *const *a = left;
    yyjson_val *const *b = right;
    return strcmp(moment_of(*a), moment_of(*b));
}

/* What a review decided, as its heading says it; NULL for a comment. */
static const char *verdict_of(yyjson_val *entry)
{
    static const struct {
        const char *state, *words;
    } VERDICTS[] = {
        {"APPROVED", "Approved by"},
        {"CHANGES_REQUESTED", "Changes requested by"},
        {"DISMISSED", "Dismissed review by"},
        {"COMMENTED", "Review by"},
    };
    const char *state = json_string(entry, "state");
    for (size_t i = 0; state && i < sizeof VERDICTS / sizeof *VERDICTS; i++) {
        if (strcmp(state, VERDICTS[i].state) == 0) {
            return VERDICTS[i].words;
        }
    }
    return NULL;
}

/* A review without words that only holds its line comments says nothing by itself. */
static bool says_something(yyjson_val *entry)
{
    const char *state = json_string(entry, "state");
    const char *body = json_string(entry, "body");
    bool decided = state && strcmp(state, "COMMENTED") != 0 && strcmp(state, "PENDING") != 0;
    return decided || (body && *body);
}

static int write_conversation(struct arena *arena, struct buf *out,
                              const struct github_thread *thread)
{
    size_t most = thread->comments.count + thread->reviews.count;
    yyjson_val **entries = arena_alloc(arena, (most + 1) * sizeof *entries);
    if (!entries) {
        return ERR_NOMEM;
    }
    size_t count = 0;
    for (size_t i = 0; i < thread->comments.count; i++) {
        entries[count++] = thread->comments.items[i];
    }
    for (size_t i = 0; i < thread->reviews.count; i++) {
        if (says_something(thread->reviews.items[i])) {
            entries[count++] = thread->reviews.items[i];
        }
    }
    qsort(entries, count, sizeof *entries, compare_moments);
    for (size_t i = 0; i < count; i++) {
        const char *verdict = verdict_of(entries[i]);
        buf_printf(out, "## %s %s", verdict ? verdict : "Comment by",
                   author_of(entries[i], "user"));
        write_day(out, " on ", moment_of(entries[i]));
        buf_puts(out, "\n\n");
        write_words(out, entries[i], "body", 2);
    }
    return OK;
}

/* The last lines of the piece of the difference that a comment is about. */
static void write_hunk(struct buf *out, const char *hunk)
{
    size_t length = hunk ? strlen(hunk) : 0;
    if (length == 0) {
        return;
    }
    const char *start = hunk + length;
    for (int lines = 0; start > hunk; start--) {
        if (start[-1] == '\n' && ++lines == HUNK_LINES) {
            break;
        }
    }
    compose_fenced(out, "diff", start, length - (size_t)(start - hunk));
    buf_putc(out, '\n');
}

static void write_remark(struct buf *out, yyjson_val *remark)
{
    buf_printf(out, "**%s**", author_of(remark, "user"));
    write_day(out, ", ", json_string(remark, "created_at"));
    buf_puts(out, ":\n\n");
    write_words(out, remark, "body", 3);
}

static void write_review_comments(struct buf *out, const struct service_list *remarks)
{
    if (remarks->count > 0) {
        buf_puts(out, "## Review comments\n\n");
    }
    for (size_t i = 0; i < remarks->count; i++) {
        yyjson_val *first = remarks->items[i];
        if (service_int(first, "in_reply_to_id")) {
            continue; /* written below the one that it answers */
        }
        int64_t line = service_int(first, "line");
        line = line ? line : service_int(first, "original_line");
        const char *path = json_string(first, "path");
        buf_printf(out, "### `%s`", path ? path : "a file");
        if (line) {
            buf_printf(out, " line %lld", (long long)line);
        }
        buf_puts(out, "\n\n");
        write_hunk(out, json_string(first, "diff_hunk"));
        write_remark(out, first);
        for (size_t j = 0; j < remarks->count; j++) {
            if (service_int(remarks->items[j], "in_reply_to_id") == service_int(first, "id")) {
                write_remark(out, remarks->items[j]);
            }
        }
    }
}

int github_write_thread(struct arena *arena, const struct github_thread *thread,
                        struct document *document)
{
    yyjson_val *subject = thread->subject;
    struct buf out;
    buf_init(&out, LIMIT_DOCUMENT_BYTES);
    document->kind = thread->is_pull ? "pull request" : "issue";
    document->title = json_string(subject, "title");
    document->authors = author_of(subject, "user");
    document->published = json_string(subject, "created_at");
    document->modified = json_string(subject, "updated_at");
    write_head(&out, thread);
    int status = write_conversation(arena, &out, thread);
    if (status != OK) {
        buf_done(&out);
        return status;
    }
    write_review_comments(&out, &thread->review_comments);
    write_missing(&out, thread->missing);
    return compose_done(arena, &out, document);
}

/* ---- discussions ---- */

static void write_discussion_comment(struct buf *out, yyjson_val *comment)
{
    bool answer = yyjson_get_bool(yyjson_obj_get(comment, "isAnswer"));
    buf_printf(out, "## %s %s", answer ? "Accepted answer by" : "Comment by",
               author_of(comment, "author"));
    write_day(out, " on ", json_string(comment, "createdAt"));
    buf_puts(out, "\n\n");
    write_words(out, comment, "body", 2);
    yyjson_val *replies = yyjson_obj_get(comment, "replies");
    size_t index, max;
    yyjson_val *reply;
    yyjson_val *nodes = service_array(replies, "nodes");
    yyjson_arr_foreach(nodes, index, max, reply)
    {
        buf_printf(out, "### Reply by %s", author_of(reply, "author"));
        write_day(out, " on ", json_string(reply, "createdAt"));
        buf_puts(out, "\n\n");
        write_words(out, reply, "body", 3);
    }
}

int github_write_discussion(struct arena *arena, yyjson_val *discussion,
                            const struct service_list *comments, const char *missing,
                            struct document *document)
{
    struct buf out;
    buf_init(&out, LIMIT_DOCUMENT_BYTES);
    document->kind = "discussion";
    document->title = json_string(discussion, "title");
    document->authors = author_of(discussion, "author");
    document->published = json_string(discussion, "createdAt");
    document->modified = json_string(discussion, "updatedAt");
    buf_puts(&out, "# ");
    compose_line(&out, document->title);
    buf_printf(&out, " (#%lld)\n\nDiscussion", (long long)service_int(discussion, "number"));
    const char *category = json_string(yyjson_obj_get(discussion, "category"), "name");
    if (category) {
        buf_puts(&out, " · ");
        compose_line(&out, category);
    }
    buf_printf(&out, " · started by %s", document->authors);
    write_day(&out, " on ", document->published);
    buf_puts(&out, "\n\n");
    write_words(&out, discussion, "body", 1);
    /* The answer first, where one was chosen. */
    for (int answers = 1; answers >= 0; answers--) {
        for (size_t i = 0; i < comments->count; i++) {
            yyjson_val *comment = comments->items[i];
            if (yyjson_get_bool(yyjson_obj_get(comment, "isAnswer")) == (answers == 1)) {
                write_discussion_comment(&out, comment);
            }
        }
    }
    write_missing(&out, missing);
    return compose_done(arena, &out, document);
}
