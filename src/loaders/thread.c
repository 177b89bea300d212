/* Puts the posts of a conversation into the order of who answers whom, and writes them. */
#include "loaders/thread.h"

#include "core/limits.h"
#include "html/compose.h"

#include <string.h>

#define DEEPEST    12 /* levels that are shown; what is deeper stands beside the last */
#define COMMENT_BY 3  /* levels that the headings of a comment go down */
#define NOBODY     SIZE_MAX

int thread_add(struct thread *thread, const struct thread_post *post)
{
    if (thread->count == LIMIT_THREAD_POSTS) {
        thread->left++;
        return OK;
    }
    struct thread_post *posts =
        arena_grow(thread->arena, thread->posts, thread->count, &thread->capacity, sizeof *posts);
    if (!posts) {
        return ERR_NOMEM;
    }
    thread->posts = posts;
    posts[thread->count++] = *post;
    return OK;
}

/* ---- one post ---- */

static int make_text(struct arena *arena, struct buf *out, const char *html, const char *markdown,
                     const char *url, int levels)
{
    struct buf text;
    int status = OK;
    buf_init(&text, LIMIT_DOCUMENT_BYTES);
    if (html) {
        status = compose_html(arena, &text, html, url);
        buf_puts(&text, text.length && markdown ? "\n\n" : "");
    }
    buf_puts(&text, markdown ? markdown : "");
    if (text.data) {
        compose_markdown(out, text.data, text.length, levels, NULL);
    }
    buf_done(&text);
    return status;
}

int thread_write_text(struct arena *arena, struct buf *out, const char *html, const char *markdown,
                      const char *url)
{
    size_t before = out->length;
    int status = make_text(arena, out, html, markdown, url, 1);
    buf_puts(out, out->length > before ? "\n" : "");
    return status;
}

static void indent(struct buf *out, size_t depth)
{
    for (size_t i = 0; i < depth; i++) {
        buf_puts(out, "  ");
    }
}

/* Lines as a part of the item of that depth; one line stands behind the words before it. */
static void write_lines(struct buf *out, const char *text, size_t length, size_t depth)
{
    const char *end = text + length;
    bool one = !memchr(text, '\n', length);
    buf_puts(out, one ? " " : "\n\n");
    while (text < end) {
        const char *feed = memchr(text, '\n', (size_t)(end - text));
        const char *stop = feed ? feed : end;
        if (stop > text && !one) {
            indent(out, depth + 1);
        }
        buf_append(out, text, (size_t)(stop - text));
        buf_putc(out, '\n');
        text = feed ? feed + 1 : end;
    }
    buf_puts(out, one ? "" : "\n");
}

static int write_post(const struct thread *thread, struct buf *out, const struct thread_post *post,
                      size_t depth, const char *url)
{
    struct buf text;
    buf_init(&text, LIMIT_DOCUMENT_BYTES);
    int status = make_text(thread->arena, &text, post->html, post->markdown, url, COMMENT_BY);
    indent(out, depth);
    buf_puts(out, "- **");
    compose_line(out, post->author ? post->author : "somebody");
    buf_puts(out, "**");
    const char *before = " (";
    if (post->date) {
        buf_printf(out, "%s%.10s", before, post->date);
        before = ", ";
    }
    if (post->scored) {
        buf_printf(out, "%sscore %lld", before, (long long)post->score);
        before = ", ";
    }
    if (post->remark) {
        buf_puts(out, before);
        compose_line(out, post->remark);
        before = ", ";
    }
    buf_puts(out, *before == ',' ? "):" : ":");
    while (text.length && text.data[text.length - 1] == '\n') {
        text.length--;
    }
    if (text.length) {
        write_lines(out, text.data, text.length, depth);
    } else {
        buf_puts(out, " _nothing_\n");
    }
    buf_done(&text);
    return status;
}

/* ---- the order ---- */

/* Where a post hangs: its parent, its first answer, the next answer to the same post. */
struct post_place {
    size_t parent, first, next, last;
};

static struct post_place *find_places(const struct thread *thread, size_t *first)
{
    size_t count = thread->count;
    struct post_place *places = arena_alloc(thread->arena, (count + 1) * sizeof *places);
    if (!places) {
        return NULL;
    }
    /* The one behind all others stands for the top. */
    for (size_t i = 0; i <= count; i++) {
        places[i] = (struct post_place){count, NOBODY, NOBODY, NOBODY};
    }
    for (size_t i = 0; i < count; i++) {
        const char *parent = thread->posts[i].parent;
        for (size_t j = i; parent && j-- > 0;) {
            if (thread->posts[j].id && strcmp(thread->posts[j].id, parent) == 0) {
                places[i].parent = j; /* an earlier one: so there are no circles */
                break;
            }
        }
        struct post_place *above = &places[places[i].parent];
        if (above->last == NOBODY) {
            above->first = i;
        } else {
            places[above->last].next = i;
        }
        above->last = i;
    }
    *first = places[count].first;
    return places;
}

int thread_write(const struct thread *thread, struct buf *out, const char *url)
{
    size_t at = NOBODY;
    size_t depth = 0;
    int status = OK;
    const struct post_place *places = find_places(thread, &at);
    if (!places) {
        return ERR_NOMEM;
    }
    while (at != NOBODY && status == OK) {
        size_t shown = depth < DEEPEST ? depth : DEEPEST;
        status = write_post(thread, out, &thread->posts[at], shown, url);
        if (places[at].first != NOBODY) {
            at = places[at].first;
            depth++;
            continue;
        }
        while (places[at].next == NOBODY && depth > 0) {
            at = places[at].parent;
            depth--;
        }
        at = places[at].next;
    }
    if (thread->left) {
        buf_printf(out, "\n_%zu further posts did not fit._\n", thread->left);
    }
    return status;
}

int thread_end(const struct thread *thread, struct buf *out, const char *heading,
               const char *missing, int status, struct document *document)
{
    if (status == OK && thread->count) {
        buf_printf(out, "## %s\n\n", heading);
        status = thread_write(thread, out, document->url);
    }
    if (status != OK) {
        buf_done(out);
        return status;
    }
    if (missing) {
        buf_printf(out, "\n_%s_\n", missing);
    }
    return compose_done(thread->arena, out, document);
}
