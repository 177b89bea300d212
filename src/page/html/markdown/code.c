/* Code: blocks keep every character and lose what highlighters add - line numbers, buttons, labels.
 * Which language a block is in, class names and attributes of the highlighters tell. */
#include "page/html/markdown/writer.h"

#include "core/limits.h"
#include "tables.h"

#include <ctype.h>
#include <strings.h>

/* ---- the language ---- */

/* The name of a programming language as fences write it; NULL when the word means none. */
static const char *language_by_name(const char *word, size_t length)
{
    return words_text(&code_languages, word, length);
}

static bool is_one_of(const char *word, size_t length, const char *const *words)
{
    for (; *words; words++) {
        if (strncasecmp(word, *words, length) == 0 && !(*words)[length]) {
            return true;
        }
    }
    return false;
}

/* A name as a fence writes it: lower case, one word. */
static const char *clean_name(struct arena *arena, const char *word, size_t length)
{
    const char *known = language_by_name(word, length);
    if (known) {
        return known;
    }
    if (length == 0 || length > 24 || is_one_of(word, length, code_not_languages)) {
        return NULL;
    }
    char *name = arena_strndup(arena, word, length);
    for (size_t i = 0; name && i < length; i++) {
        bool fits = isalnum((unsigned char)name[i]) || strchr("+#.-_", name[i]);
        if (!fits) {
            return NULL;
        }
        name[i] = (char)tolower((unsigned char)name[i]);
    }
    return name;
}

/* A language behind a prefix in a list of class names. */
static const char *by_prefix(struct arena *arena, const char *words)
{
    for (const char *const *prefix = code_prefixes; *prefix; prefix++) {
        size_t length = strlen(*prefix);
        for (const char *at = strcasestr(words, *prefix); at; at = strcasestr(at + 1, *prefix)) {
            if (at > words && !isspace((unsigned char)at[-1])) {
                continue;
            }
            const char *name = at + length;
            name += strspn(name, " ");
            size_t count = strcspn(name, " \t\r\n;,{:");
            bool weak = is_one_of(*prefix, length, code_weak_prefixes);
            const char *found =
                weak ? language_by_name(name, count) : clean_name(arena, name, count);
            if (found) {
                return found;
            }
        }
    }
    return NULL;
}

/* A word that is a language by itself, beside words that say that this is highlighted code. */
static const char *by_word(const char *words)
{
    for (const char *at = words; *at;) {
        at += strspn(at, " \t\r\n\f");
        size_t length = strcspn(at, " \t\r\n\f");
        const char *found = length > 1 ? language_by_name(at, length) : NULL;
        if (found) {
            return found;
        }
        at += length;
    }
    return NULL;
}

static const char *by_attributes(struct arena *arena, const lxb_dom_node_t *node)
{
    for (const char *const *name = code_attributes; *name; name++) {
        const char *value = dom_attr(node, *name);
        const char *found = value && *value ? clean_name(arena, value, strlen(value)) : NULL;
        if (found) {
            return found;
        }
    }
    return NULL;
}

static const char *language_at(struct arena *arena, const lxb_dom_node_t *node, bool is_code)
{
    const char *words = dom_class(node);
    const char *found = words && *words ? by_prefix(arena, words) : NULL;
    found = found ? found : by_attributes(arena, node);
    if (!found && words && (is_code || dom_holds_any(words, code_highlighters))) {
        found = by_word(words);
    }
    return found;
}

/* The language of a block of code; NULL when nothing tells. */
static const char *language_of(struct arena *arena, lxb_dom_node_t *node)
{
    const char *found = language_at(arena, node, true);
    lxb_dom_node_t *code = found ? NULL : dom_find(node, LXB_TAG_CODE);
    found = code ? language_at(arena, code, true) : found;
    /* The element itself holds one block only; what is around it may hold several, and still tells.
     */
    lxb_dom_node_t *around = node->parent;
    for (int steps = 0; !found && around && steps < 4; steps++, around = around->parent) {
        lxb_tag_id_t tag = dom_tag(around);
        if (tag == LXB_TAG_BODY || tag == LXB_TAG_ARTICLE || tag == LXB_TAG_MAIN ||
            tag == LXB_TAG_LI) {
            break;
        }
        found = language_at(arena, around, false);
        if (!found && steps == 0) {
            const char *value = dom_attr(around, "lang");
            found = value ? language_by_name(value, strlen(value)) : NULL;
        }
    }
    if (!found) {
        for (lxb_dom_node_t *below = node->first_child; below && !found;
             below = dom_next(below, node, true)) {
            lxb_tag_id_t tag = dom_tag(below);
            if (tag == LXB_TAG_DIV || tag == LXB_TAG_PRE || tag == LXB_TAG_CODE ||
                tag == LXB_TAG_TABLE) {
                found = language_at(arena, below, tag != LXB_TAG_DIV);
            }
        }
    }
    return found;
}

/* ---- what is no code ---- */

/* Whether all of the text is digits. */
static bool is_number(lxb_dom_node_t *node)
{
    char text[12];
    size_t length = dom_collect(node, text, sizeof text);
    return length && length < 8 && strspn(text, "0123456789") == length;
}

static bool is_no_code(lxb_dom_node_t *node)
{
    lxb_tag_id_t tag = dom_tag(node);
    if (tag == LXB_TAG_BUTTON || tag == LXB_TAG_STYLE || tag == LXB_TAG_SCRIPT ||
        tag == LXB_TAG_SVG || tag == LXB_TAG_TEXTAREA || tag == LXB_TAG_SELECT ||
        tag == LXB_TAG_TEMPLATE || tag == LXB_TAG_FIGCAPTION) {
        return true;
    }
    bool small = tag == LXB_TAG_DIV || tag == LXB_TAG_SPAN || tag == LXB_TAG_A;
    if ((dom_class_values(node, &code_words) & CODE_NUMBER) ||
        (small && dom_holds_any(dom_class(node), code_machinery) && !dom_find(node, LXB_TAG_PRE) &&
         !dom_find(node, LXB_TAG_CODE))) {
        return true;
    }
    const char *style = dom_known_attr(node, LXB_DOM_ATTR_STYLE);
    if (style && strcasestr(style, "user-select:") && strcasestr(style, "none") &&
        is_number(node)) {
        return true;
    }
    const char *number = dom_attr(node, "data-line-number");
    return number && (!node->first_child || is_number(node));
}

/* ---- gathering ---- */

struct gathering {
    struct buf text;
    bool line_over; /* a line ended without its break */
};

static bool ends_line(const struct buf *text)
{
    return text->length == 0 || text->data[text->length - 1] == '\n';
}

static bool is_line(const lxb_dom_node_t *node)
{
    lxb_tag_id_t tag = dom_tag(node);
    if (tag == LXB_TAG_DIV || tag == LXB_TAG_P || tag == LXB_TAG_LI || tag == LXB_TAG_TR ||
        tag == LXB_TAG_PRE) {
        return true;
    }
    return (dom_class_values(node, &code_words) & CODE_LINE) ||
           (tag == LXB_TAG_SPAN && dom_attr(node, "data-line") != NULL);
}

static void put_code(struct gathering *gathering, const char *text, size_t length)
{
    if (gathering->line_over && length) {
        if (*text != '\n') {
            buf_putc(&gathering->text, '\n');
        }
        gathering->line_over = false;
    }
    size_t from = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x20 && c != 0xC2 && c != 0xE2 && c != 0xEF && c != 0xF3 && c != 0xE1 &&
            c != 0x7F) {
            continue;
        }
        size_t bytes = 1;
        bool no_break = c == 0xC2 && i + 1 < length && (unsigned char)text[i + 1] == 0xA0;
        if (c == '\n' || c == '\t' ||
            (!no_break && c != '\r' && !inline_is_unseen(text + i, length - i, &bytes))) {
            continue;
        }
        buf_append(&gathering->text, text + from, i - from);
        if (no_break) {
            buf_putc(&gathering->text, ' ');
            bytes = 2;
        }
        i += bytes - 1;
        from = i + 1;
    }
    if (from < length) {
        buf_append(&gathering->text, text + from, length - from);
    }
}

static void gather(struct gathering *gathering, lxb_dom_node_t *node)
{
    if (dom_is_text(node)) {
        size_t length;
        const char *text = dom_text(node, &length);
        put_code(gathering, text, length);
        node_mark(node, NODE_WRITTEN);
        return;
    }
    if (node->type != LXB_DOM_NODE_TYPE_ELEMENT) {
        return;
    }
    if (is_no_code(node)) {
        node_drop(node, OMIT_CONTROLS);
        return;
    }
    if (dom_tag(node) == LXB_TAG_BR) {
        gathering->line_over = false;
        buf_putc(&gathering->text, '\n');
        return;
    }
    bool line = is_line(node);
    if (line && gathering->line_over) {
        buf_putc(&gathering->text, '\n');
        gathering->line_over = false;
    }
    size_t before = gathering->text.length;
    if (line && dom_tag(node) != LXB_TAG_PRE && !ends_line(&gathering->text) &&
        dom_is_block(dom_tag(node))) {
        buf_putc(&gathering->text, '\n');
    }
    for (lxb_dom_node_t *child = node->first_child; child; child = child->next) {
        gather(gathering, child);
    }
    if (line) {
        gathering->line_over = before == gathering->text.length || !ends_line(&gathering->text);
    }
}

/* ---- blocks ---- */

/* Cuts empty lines off both ends. */
static void trim_lines(const char **text, size_t *length)
{
    for (;;) {
        size_t line = 0;
        while (line < *length && ((*text)[line] == ' ' || (*text)[line] == '\t')) {
            line++;
        }
        if (line == *length || (*text)[line] != '\n') {
            break;
        }
        *text += line + 1;
        *length -= line + 1;
    }
    while (*length && isspace((unsigned char)(*text)[*length - 1])) {
        (*length)--;
    }
}

static size_t fence_length(const char *text, size_t length)
{
    size_t longest = 2;
    for (size_t i = 0, run = 0; i < length; i++) {
        run = text[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest + 1;
}

/* Labels that stand above a block on the page: they are its head, not text. */
static const char *take_label_back(struct writer *writer, const char *language)
{
    static const char *const LABELS[] = {
        "Copy", "Copy code", "Copy to clipboard", "Copied!", "Edit", "Run", NULL};
    flush_block(writer);
    for (const char *const *label = LABELS; *label; label++) {
        output_take_back(writer, *label);
    }
    if (language) {
        output_take_back(writer, language);
        return language;
    }
    if (writer->block_length > 1 && writer->block_length < 16 &&
        writer->block_at + writer->block_length == writer->out->length && !writer->prefix.length) {
        char label[16] = "";
        memcpy(label, writer->out->data + writer->block_at, writer->block_length - 1);
        language = language_by_name(label, strlen(label));
        if (language && strlen(label) > 1) {
            output_take_back(writer, label);
            return language;
        }
    }
    return NULL;
}

/* The part of an editor, or of elements in the wrong order, that holds the code and nothing else.
 */
static lxb_dom_node_t *innermost(lxb_dom_node_t *node)
{
    lxb_dom_node_t *only = NULL;
    for (lxb_dom_node_t *below = node->first_child; below; below = dom_next(below, node, true)) {
        if (dom_class_values(below, &code_words) & CODE_TEXT) {
            return below;
        }
        if (dom_tag(below) == LXB_TAG_PRE) {
            if (only) {
                return node;
            }
            only = below;
        }
    }
    return only && dom_tag(node) == LXB_TAG_CODE ? only : node;
}

/* A language that stands as a word above the code, inside of the same box. */
static const char *inner_label(lxb_dom_node_t *node, const lxb_dom_node_t *code)
{
    for (lxb_dom_node_t *below = node->first_child; below && below != code;
         below = dom_next(below, node, true)) {
        char text[24];
        size_t length = dom_is_text(below) ? dom_collect(below, text, sizeof text) : 0;
        const char *found = length > 1 ? language_by_name(text, length) : NULL;
        if (found) {
            return found;
        }
    }
    return NULL;
}

void write_code_block(struct writer *writer, lxb_dom_node_t *node)
{
    struct gathering gathering = {.line_over = false};
    lxb_dom_node_t *code = innermost(node);
    buf_init(&gathering.text, LIMIT_MARKDOWN_BYTES);
    for (lxb_dom_node_t *child = code->first_child; child; child = child->next) {
        gather(&gathering, child);
    }
    const char *text = gathering.text.data ? gathering.text.data : "";
    size_t length = gathering.text.length;
    trim_lines(&text, &length);
    flush_block(writer);
    if (code != node) {
        node_drop(node, OMIT_CONTROLS); /* the rest of it: numbers of lines, buttons */
    }
    if (length == 0) {
        buf_done(&gathering.text);
        return;
    }
    const char *language = language_of(writer->arena, node);
    language =
        take_label_back(writer, !language && code != node ? inner_label(node, code) : language);
    size_t fence = fence_length(text, length);
    struct buf block;
    buf_init(&block, LIMIT_MARKDOWN_BYTES);
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < fence; i++) {
            buf_putc(&block, '`');
        }
        if (side == 0) {
            buf_puts(&block, language ? language : "");
            buf_putc(&block, '\n');
            buf_append(&block, text, length);
            buf_putc(&block, '\n');
        }
    }
    output_buf(writer, &block);
    buf_done(&gathering.text);
}

/* ---- elements that stand for a block ---- */

static bool keeps_white_space(const lxb_dom_node_t *node)
{
    const char *style = dom_known_attr(node, LXB_DOM_ATTR_STYLE);
    const char *found = style ? strcasestr(style, "white-space") : NULL;
    found = found ? strchr(found, ':') : NULL;
    return found && strncasecmp(found + 1 + strspn(found + 1, " "), "pre", 3) == 0;
}

static bool holds_line_break(lxb_dom_node_t *node)
{
    for (lxb_dom_node_t *below = node->first_child; below; below = dom_next(below, node, true)) {
        size_t length;
        if (dom_tag(below) == LXB_TAG_BR || dom_is_block(dom_tag(below))) {
            return true;
        }
        if (dom_is_text(below)) {
            const char *text = dom_text(below, &length);
            /* A break at either end is how the page is written, not how the code looks. */
            while (length && isspace((unsigned char)*text)) {
                text++;
                length--;
            }
            const char *newline = length ? memchr(text, '\n', length) : NULL;
            if (newline && newline + 1 < text + length) {
                return true;
            }
        }
    }
    return false;
}

bool code_is_block(lxb_dom_node_t *node)
{
    uint32_t words = dom_class_values(node, &code_words);
    if (dom_tag(node) == LXB_TAG_CODE) {
        return dom_find(node, LXB_TAG_PRE) || (words & CODE_INNER_BLOCK) ||
               ((keeps_white_space(node) || dom_find(node, LXB_TAG_BR)) && holds_line_break(node));
    }
    return (words & CODE_EDITOR) ||
           ((words & CODE_BLOCK) && !dom_holds_block(node) && !dom_find(node, LXB_TAG_CODE));
}

void write_code_span(struct writer *writer, lxb_dom_node_t *node)
{
    struct gathering gathering = {.line_over = false};
    buf_init(&gathering.text, LIMIT_MARKDOWN_BYTES);
    for (lxb_dom_node_t *child = node->first_child; child; child = child->next) {
        gather(&gathering, child);
    }
    const char *text = gathering.text.data ? gathering.text.data : "";
    if (gathering.text.length) {
        writer->space = writer->space || isspace((unsigned char)*text);
        inline_code(writer, text, gathering.text.length);
        writer->space = isspace((unsigned char)text[gathering.text.length - 1]);
    }
    buf_done(&gathering.text);
}
