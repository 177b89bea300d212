/* GitHub: threads, releases and repositories as Markdown. What people wrote there is Markdown
 * already; it is set below our headings and otherwise left alone. */
#include "core/limits.h"
#include "loaders/bodies.h"
#include "loaders/sites.h"
#include "text/base64.h"

#include <stdlib.h>

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

/* The heading of what somebody wrote: "## Comment by ann on 2026-11-15". */
static void write_by(struct buf *out, const char *mark, const char *author, const char *moment)
{
    buf_printf(out, "%s %s", mark, author);
    write_day(out, " on ", moment);
    buf_puts(out, "\n\n");
}

static void write_words(struct buf *out, yyjson_val *object, const char *key, int levels)
{
    const char *body = json_string(object, key);
    if (body && *body) {
        compose_markdown(out, body, strlen(body), levels, NULL);
        buf_putc(out, '\n');
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
    if (service_bool(subject, "merged") || json_string(subject, "merged_at")) {
        return "merged";
    }
    if (service_bool(subject, "draft")) {
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
    compose_names(out, " · labels: ", service_array(subject, "labels"));
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

/* What a review decided, as its heading says it. */
static const char *verdict_of(yyjson_val *entry)
{
    static const struct {
        const char *state, *words;
    } VERDICTS[] = {
        {"APPROVED", "## Approved by"},
        {"CHANGES_REQUESTED", "## Changes requested by"},
        {"DISMISSED", "## Dismissed review by"},
        {"COMMENTED", "## Review by"},
    };
    const char *state = json_string(entry, "state");
    for (size_t i = 0; state && i < sizeof VERDICTS / sizeof *VERDICTS; i++) {
        if (strcmp(state, VERDICTS[i].state) == 0) {
            return VERDICTS[i].words;
        }
    }
    return "## Comment by";
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
        write_by(out, verdict_of(entries[i]), author_of(entries[i], "user"), moment_of(entries[i]));
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
    bool answer = service_bool(comment, "isAnswer");
    write_by(out, answer ? "## Accepted answer by" : "## Comment by", author_of(comment, "author"),
             json_string(comment, "createdAt"));
    write_words(out, comment, "body", 2);
    size_t index, max;
    yyjson_val *reply;
    yyjson_val *nodes = service_array(yyjson_obj_get(comment, "replies"), "nodes");
    yyjson_arr_foreach(nodes, index, max, reply)
    {
        write_by(out, "### Reply by", author_of(reply, "author"), json_string(reply, "createdAt"));
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
            if (service_bool(comment, "isAnswer") == (answers == 1)) {
                write_discussion_comment(&out, comment);
            }
        }
    }
    write_missing(&out, missing);
    return compose_done(arena, &out, document);
}

/* ---- releases ---- */

static void write_release(struct buf *out, yyjson_val *release, const char *mark, int levels)
{
    const char *name = json_string(release, "name");
    const char *tag = json_string(release, "tag_name");
    buf_printf(out, "%s ", mark);
    compose_line(out, name && *name ? name : tag);
    buf_printf(out, "\n\nTag `%s`", tag ? tag : "");
    write_day(out, " · ", json_string(release, "published_at"));
    const char *author = json_string(yyjson_obj_get(release, "author"), "login");
    if (author) {
        buf_printf(out, " · by %s", author);
    }
    if (service_bool(release, "prerelease")) {
        buf_puts(out, " · pre-release");
    }
    buf_puts(out, "\n\n");
    write_words(out, release, "body", levels);
    yyjson_val *assets = service_array(release, "assets");
    size_t index, max;
    yyjson_val *asset;
    yyjson_arr_foreach(assets, index, max, asset)
    {
        const char *link = json_string(asset, "browser_download_url");
        buf_puts(out, index ? "" : "**Assets**\n\n");
        buf_puts(out, "- [");
        compose_line(out, json_string(asset, "name"));
        buf_printf(out, "](%s) (%lld bytes)\n", link ? link : "",
                   (long long)service_int(asset, "size"));
    }
    buf_puts(out, yyjson_arr_size(assets) ? "\n" : "");
}

int github_write_releases(struct arena *arena, yyjson_val *releases, struct document *document)
{
    struct buf out;
    buf_init(&out, LIMIT_DOCUMENT_BYTES);
    document->kind = "release";
    if (yyjson_is_arr(releases)) {
        document->title = "Releases";
        buf_puts(&out, "# Releases\n\n");
        if (yyjson_arr_size(releases) == 0) {
            buf_puts(&out, "There are no releases.\n");
        }
        size_t index, max;
        yyjson_val *release;
        yyjson_arr_foreach(releases, index, max, release)
        {
            write_release(&out, release, "##", 2);
        }
        return compose_done(arena, &out, document);
    }
    const char *name = json_string(releases, "name");
    document->title = name && *name ? name : json_string(releases, "tag_name");
    document->authors = json_string(yyjson_obj_get(releases, "author"), "login");
    document->published = json_string(releases, "published_at");
    write_release(&out, releases, "#", 1);
    return compose_done(arena, &out, document);
}

/* ---- repositories ---- */

static void write_about(struct buf *out, yyjson_val *repository)
{
    const char *description = json_string(repository, "description");
    const char *language = json_string(repository, "language");
    const char *license = json_string(yyjson_obj_get(repository, "license"), "spdx_id");
    const char *homepage = json_string(repository, "homepage");
    buf_puts(out, "Repository **");
    compose_line(out, json_string(repository, "full_name"));
    buf_puts(out, "**");
    if (description && *description) {
        buf_puts(out, ": ");
        compose_line(out, description);
    }
    buf_printf(out, "\n\n%lld stars · %lld forks · %lld open issues",
               (long long)service_int(repository, "stargazers_count"),
               (long long)service_int(repository, "forks_count"),
               (long long)service_int(repository, "open_issues_count"));
    if (language) {
        buf_printf(out, " · %s", language);
    }
    if (license && strcmp(license, "NOASSERTION") != 0) {
        buf_printf(out, " · %s", license);
    }
    write_day(out, " · last push ", json_string(repository, "pushed_at"));
    if (service_bool(repository, "archived")) {
        buf_puts(out, " · archived");
    }
    compose_names(out, " · topics: ", service_array(repository, "topics"));
    if (homepage && *homepage) {
        buf_printf(out, " · <%s>", homepage);
    }
    buf_puts(out, "\n\n");
}

/* The content of a file as the interface gives it: base64 in lines. NULL when it has none. */
static char *file_content(struct arena *arena, yyjson_val *file, size_t *length)
{
    const char *encoded = json_string(file, "content");
    const char *encoding = json_string(file, "encoding");
    if (!encoded || !encoding || strcmp(encoding, "base64") != 0) {
        return NULL;
    }
    char *packed = arena_strdup(arena, encoded);
    size_t packed_length = 0;
    for (const char *at = encoded; packed && *at; at++) {
        if (*at != '\n' && *at != '\r') {
            packed[packed_length++] = *at;
        }
    }
    return packed ? base64_decode(arena, packed, packed_length, length) : NULL;
}

/* "https://host/o/r/blob/main/docs/" for a file docs/README.md of that folder. */
static const char *folder_of(struct arena *arena, const char *address)
{
    const char *slash = address ? strrchr(address, '/') : NULL;
    return slash ? arena_strndup(arena, address, (size_t)(slash - address) + 1) : NULL;
}

int github_write_repository(struct arena *arena, yyjson_val *repository, yyjson_val *readme,
                            struct document *document)
{
    struct buf out;
    buf_init(&out, LIMIT_DOCUMENT_BYTES);
    document->kind = "repository";
    if (repository) {
        document->title = json_string(repository, "full_name");
        document->description = json_string(repository, "description");
        document->modified = json_string(repository, "pushed_at");
        document->authors = json_string(yyjson_obj_get(repository, "owner"), "login");
        write_about(&out, repository);
    }
    size_t length = 0;
    char *text = file_content(arena, readme, &length);
    const char *name = json_string(readme, "name");
    struct compose_links links = {
        .pages = folder_of(arena, json_string(readme, "html_url")),
        .images = folder_of(arena, json_string(readme, "download_url")),
    };
    if (text && name) {
        document->title = document->title ? document->title : name;
        if (plain_form_of(name).kind == PLAIN_MARKDOWN) {
            compose_markdown(&out, text, length, 0, &links);
        } else {
            buf_append(&out, text, length);
        }
    }
    return compose_done(arena, &out, document);
}
