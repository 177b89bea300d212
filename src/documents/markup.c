/* HTML from runs of text, paragraph by paragraph. */
#include "documents/markup.h"

#include "core/limits.h"
#include "html/extract.h"

#include <stdio.h>

static const struct {
    unsigned format;
    const char *tag;
} TAGS[] = {
    {MARKUP_BOLD, "b"},    {MARKUP_ITALIC, "i"}, {MARKUP_STRIKE, "s"},
    {MARKUP_SUPER, "sup"}, {MARKUP_SUB, "sub"},  {MARKUP_CODE, "code"},
};
#define TAG_COUNT (sizeof TAGS / sizeof *TAGS)

void markup_begin(struct markup *markup)
{
    *markup = (struct markup){0};
    buf_init(&markup->out, LIMIT_DOCUMENT_MARKUP_BYTES);
    buf_init(&markup->line, LIMIT_DOCUMENT_MARKUP_BYTES);
}

void markup_done(struct markup *markup)
{
    buf_done(&markup->out);
    buf_done(&markup->line);
}

/* ---- inside a paragraph ---- */

static void escape(struct buf *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        switch (text[i]) {
        case '<':
            buf_puts(out, "&lt;");
            break;
        case '>':
            buf_puts(out, "&gt;");
            break;
        case '&':
            buf_puts(out, "&amp;");
            break;
        case '"':
            buf_puts(out, "&quot;");
            break;
        default:
            buf_putc(out, text[i]);
        }
    }
}

static void set_formats(struct markup *markup, unsigned formats)
{
    if (formats == markup->written) {
        return;
    }
    for (size_t i = TAG_COUNT; i-- > 0;) {
        if (markup->written & TAGS[i].format) {
            buf_printf(&markup->line, "</%s>", TAGS[i].tag);
        }
    }
    for (size_t i = 0; i < TAG_COUNT; i++) {
        if (formats & TAGS[i].format) {
            buf_printf(&markup->line, "<%s>", TAGS[i].tag);
        }
    }
    markup->written = formats;
}

void markup_text(struct markup *markup, struct slice text, bool literal)
{
    if (text.length == 0) {
        return;
    }
    set_formats(markup, markup->wanted);
    if (literal) {
        escape(&markup->line, text.data, text.length);
    } else {
        buf_append(&markup->line, text.data, text.length);
    }
}

void markup_plain(struct markup *markup, const char *text)
{
    markup_text(markup, (struct slice){text, strlen(text)}, true);
}

void markup_break(struct markup *markup)
{
    buf_puts(&markup->line, "<br>");
}

void markup_link(struct markup *markup, const char *address)
{
    markup_link_end(markup);
    set_formats(markup, 0);
    buf_puts(&markup->line, "<a href=\"");
    escape(&markup->line, address, strlen(address));
    buf_puts(&markup->line, "\">");
    markup->link = true;
}

void markup_link_end(struct markup *markup)
{
    if (markup->link) {
        set_formats(markup, 0);
        buf_puts(&markup->line, "</a>");
        markup->link = false;
    }
}

void markup_picture(struct markup *markup, const char *words)
{
    if (words && *words) {
        set_formats(markup, 0);
        buf_puts(&markup->line, "<i>Picture: ");
        escape(&markup->line, words, strlen(words));
        buf_puts(&markup->line, "</i>");
    }
}

void markup_reference(struct markup *markup, const char *kind, const char *name)
{
    set_formats(markup, 0);
    buf_printf(&markup->line, "<sup><a class=\"footnote-ref\" href=\"#%s-", kind);
    escape(&markup->line, name, strlen(name));
    buf_puts(&markup->line, "\">");
    escape(&markup->line, name, strlen(name));
    buf_puts(&markup->line, "</a></sup>");
}

/* ---- blocks ---- */

static void end_lists(struct markup *markup, size_t depth)
{
    while (markup->depth > depth) {
        markup->depth--;
        buf_puts(&markup->out, markup->lists[markup->depth].ordered ? "</li></ol>" : "</li></ul>");
    }
}

static void end_block(struct markup *markup, bool code, bool quote)
{
    if (markup->code && !code) {
        buf_puts(&markup->out, "</pre>");
    }
    if (markup->quote && !quote) {
        buf_puts(&markup->out, "</blockquote>");
    }
    markup->code = markup->code && code;
    markup->quote = markup->quote && quote;
}

void markup_tags(struct markup *markup, const char *tags)
{
    end_lists(markup, 0);
    end_block(markup, false, false);
    buf_puts(&markup->out, tags);
}

/* The line between two tags; it is empty after that. */
static void put_line(struct markup *markup, const char *begin, const char *end)
{
    markup_link_end(markup);
    set_formats(markup, 0);
    buf_puts(&markup->out, begin);
    buf_append(&markup->out, markup->line.data, markup->line.length);
    buf_puts(&markup->out, end);
    buf_clear(&markup->line);
}

void markup_paragraph(struct markup *markup)
{
    if (markup->line.length == 0) {
        return;
    }
    markup_tags(markup, "");
    put_line(markup, "<p>", "</p>");
}

void markup_heading(struct markup *markup, long level)
{
    char begin[8];
    char end[8];
    if (markup->line.length == 0) {
        return;
    }
    level = level < 1 ? 1 : level > 6 ? 6 : level;
    (void)snprintf(begin, sizeof begin, "<h%ld>", level);
    (void)snprintf(end, sizeof end, "</h%ld>", level);
    markup_tags(markup, "");
    put_line(markup, begin, end);
}

void markup_item(struct markup *markup, long level, bool ordered, long number)
{
    end_block(markup, false, false);
    size_t depth = markup->depth;
    while (depth > 0 && markup->lists[depth - 1].level > level) {
        depth--;
    }
    bool same = depth > 0 && markup->lists[depth - 1].level == level;
    if (same && markup->lists[depth - 1].ordered != ordered) {
        depth--;
        same = false;
    }
    end_lists(markup, depth);
    if (same || depth == MARKUP_LEVELS) {
        buf_puts(&markup->out, "</li><li>");
    } else {
        markup->lists[markup->depth].level = level;
        markup->lists[markup->depth++].ordered = ordered;
        buf_printf(&markup->out, ordered ? "<ol start=\"%ld\"><li>" : "<ul><li>", number);
    }
    put_line(markup, "", "");
}

void markup_continue(struct markup *markup)
{
    if (markup->line.length) {
        end_block(markup, false, false);
        put_line(markup, "<p>", "</p>");
    }
}

void markup_code(struct markup *markup)
{
    end_lists(markup, 0);
    end_block(markup, true, false);
    put_line(markup, markup->code ? "\n" : "<pre>\n", "");
    markup->code = true;
}

void markup_quote(struct markup *markup)
{
    if (markup->line.length == 0) {
        return;
    }
    end_lists(markup, 0);
    end_block(markup, false, true);
    put_line(markup, markup->quote ? "<p>" : "<blockquote><p>", "</p>");
    markup->quote = true;
}

void markup_append(struct markup *markup, struct markup *apart)
{
    markup_paragraph(apart);
    markup_tags(apart, "");
    buf_append(&markup->out, apart->out.data, apart->out.length);
    markup_done(apart);
}

void markup_note(struct markup *notes, const char *kind, const char *name, struct markup *apart)
{
    buf_printf(&notes->out, "<li id=\"%s-", kind);
    escape(&notes->out, name, strlen(name));
    buf_puts(&notes->out, "\">");
    markup_append(notes, apart);
    buf_puts(&notes->out, "</li>");
}

/* ---- as Markdown ---- */

int markup_write(struct markup *markup, struct buf *out, bool *cut)
{
    markup_paragraph(markup);
    markup_tags(markup, "");
    int status = buf_error(&markup->out) == ERR_NOMEM || buf_error(&markup->line) == ERR_NOMEM
                     ? ERR_NOMEM
                     : OK;
    *cut = *cut || buf_error(&markup->out) != OK || buf_error(&markup->line) != OK;
    if (status == OK && markup->out.length) {
        struct arena *scratch = arena_new(LIMIT_PAGE_SCRATCH_BYTES);
        status = scratch ? extract_fragment(scratch, markup->out.data, markup->out.length, NULL,
                                            out, cut)
                         : ERR_NOMEM;
        arena_free(scratch);
    }
    markup_done(markup);
    *cut = *cut || status == ERR_LIMIT;
    return status == ERR_NOMEM ? ERR_NOMEM : OK;
}
