/* Code: blocks keep every character and lose what highlighters add - line numbers, buttons, labels.
 */
#include "html/markdown/writer.h"

#include "core/limits.h"
#include "tables.h"

#include <ctype.h>
#include <strings.h>

#define LONGEST_LABEL 48

/* ---- what is no code ---- */

size_t code_counts(const lxb_dom_node_t *node)
{
    size_t count = 0;
    unsigned long last = 0;
    for (lxb_dom_node_t *below = node->first_child; below; below = dom_next(below, node, true)) {
        size_t length = 0;
        const char *text = dom_is_text(below) ? dom_text(below, &length) : "";
        for (size_t i = 0; i < length;) {
            if (isspace((unsigned char)text[i])) {
                i++;
                continue;
            }
            unsigned long number = 0;
            size_t digits = 0;
            while (i < length && isdigit((unsigned char)text[i]) && digits++ < 7) {
                number = number * 10 + (unsigned long)(text[i++] - '0');
            }
            if (!digits || (count && number != last + 1)) {
                return 0;
            }
            last = number;
            count++;
        }
    }
    return count;
}

/* A column that only counts, beside the lines that it counts. */
static bool is_column_of_numbers(const lxb_dom_node_t *node, lxb_tag_id_t tag)
{
    bool fits = tag == LXB_TAG_TD || tag == LXB_TAG_CODE || tag == LXB_TAG_PRE ||
                tag == LXB_TAG_UL || tag == LXB_TAG_OL || tag == LXB_TAG_DIV;
    if (!fits || !(dom_next_element(node) || dom_previous_element(node))) {
        return false;
    }
    bool first_cell = tag == LXB_TAG_TD && !dom_previous_element(node);
    return code_counts(node) > (first_cell ? 0 : 1);
}

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
    if ((dom_class_values(node, &code_words) & CODE_NUMBER) || is_column_of_numbers(node, tag) ||
        (small && dom_holds_any(dom_class(node), code_machinery) && !dom_find(node, LXB_TAG_PRE) &&
         (tag == LXB_TAG_SPAN || !dom_find(node, LXB_TAG_CODE)))) {
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

struct code_text {
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

static void put_code(struct code_text *gathering, const char *text, size_t length)
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

static void gather(struct code_text *gathering, lxb_dom_node_t *node)
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

/* Takes back the paragraph above a block that is only its label, and learns the language of it. */
static const char *take_label_back(struct writer *writer, const char *language)
{
    flush_block(writer);
    size_t prefix = writer->prefix.length;
    size_t length = writer->block_length;
    if (length <= prefix + 1 || length - prefix > LONGEST_LABEL ||
        writer->block_at + length != writer->out->length) {
        return language;
    }
    char label[LONGEST_LABEL + 1];
    length -= prefix + 1;
    memcpy(label, writer->out->data + writer->block_at + prefix, length);
    label[length] = '\0';
    const char *named = NULL;
    if (!language_is_label(label, length, &named) ||
        (language && named && strcmp(language, named) != 0)) {
        return language;
    }
    return output_take_back(writer, label) && !language ? named : language;
}

/* ---- the name of its file ---- */

#define LONGEST_NAME 120

/* Whether a text is the name of a file and nothing else: one word, with an ending or a folder. */
static bool is_file_name(const char *text, size_t length)
{
    const char *dot = memrchr(text, '.', length);
    size_t ending = dot ? length - (size_t)(dot - text) - 1 : 0;
    if (length < 3 || ending > 12 || (!ending && !memchr(text, '/', length)) ||
        memmem(text, length, "://", 3)) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        bool fits = isalnum((unsigned char)text[i]) || (text[i] & 0x80) ||
                    strchr("._-/+@[](){}$~#:", text[i]);
        if (!fits || (i + ending >= length && !isalnum((unsigned char)text[i]))) {
            return false;
        }
    }
    return true;
}

/* Sets the paragraph above a block in code when it is the name of the file that the block is from,
 * and learns the language of it. */
static const char *take_file_name(struct writer *writer, const char *language)
{
    size_t prefix = writer->prefix.length;
    size_t length = writer->block_length;
    if (length <= prefix + 1 || length - prefix > LONGEST_NAME ||
        writer->block_at + length != writer->out->length) {
        return language;
    }
    char written[LONGEST_NAME + 1], name[LONGEST_NAME + 3] = "`";
    length -= prefix + 1;
    memcpy(written, writer->out->data + writer->block_at + prefix, length);
    written[length] = '\0';
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        i += written[i] == '\\' && ispunct((unsigned char)written[i + 1]);
        name[++used] = written[i];
    }
    lxb_dom_node_t *source = writer->last_text;
    if (!is_file_name(name + 1, used) || !output_take_back(writer, written)) {
        return language;
    }
    if (source) {
        node_mark(source, NODE_WRITTEN);
    }
    name[used + 1] = '`';
    output_block(writer, name, used + 2);
    const char *dot = memrchr(name + 1, '.', used);
    return language || !dot ? language
                            : language_by_name(dot + 1, used - (size_t)(dot - name - 1) - 1);
}

/* Drops what stands behind a block, in the same box, and is only for who uses the page. */
static void drop_labels_after(lxb_dom_node_t *node)
{
    for (int steps = 0; node->parent && steps < 3; steps++, node = node->parent) {
        lxb_tag_id_t around = dom_tag(node->parent);
        if (around != LXB_TAG_DIV && around != LXB_TAG_FIGURE) {
            return;
        }
        for (lxb_dom_node_t *next = dom_next_element(node); next; next = dom_next_element(next)) {
            char text[LONGEST_LABEL];
            const char *named = NULL;
            lxb_tag_id_t tag = dom_tag(next);
            if (tag == LXB_TAG_PRE || tag == LXB_TAG_P || dom_heading_level(next) ||
                dom_find(next, LXB_TAG_PRE)) {
                return;
            }
            size_t length = dom_collect(next, text, sizeof text);
            if (length && length < sizeof text - 4 &&
                (language_is_label(text, length, &named) || code_counts(next) > 1)) {
                node_drop(next, OMIT_CONTROLS);
            }
        }
    }
}

/* The one <code> in a <pre> whose other words are only labels; otherwise the <pre>. */
static lxb_dom_node_t *code_below(lxb_dom_node_t *pre)
{
    lxb_dom_node_t *code = dom_find(pre, LXB_TAG_CODE);
    if (!code || code->parent == pre) {
        return pre;
    }
    bool labelled = false;
    for (lxb_dom_node_t *node = pre->first_child; node;
         node = dom_next(node, pre, node != code && dom_tag(node) != LXB_TAG_BUTTON)) {
        char text[LONGEST_LABEL];
        const char *named = NULL;
        size_t length = dom_is_text(node) ? dom_collect(node, text, sizeof text) : 0;
        if ((length && (length >= sizeof text - 4 || !language_is_label(text, length, &named))) ||
            (node != code && dom_tag(node) == LXB_TAG_CODE)) {
            return pre;
        }
        labelled = labelled || length;
    }
    return labelled ? code : pre;
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
    if (dom_tag(node) == LXB_TAG_PRE) {
        return code_below(node);
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
    struct code_text gathering = {.line_over = false};
    lxb_dom_node_t *code = innermost(node);
    buf_init(&gathering.text, LIMIT_MARKDOWN_BYTES);
    for (lxb_dom_node_t *child = code->first_child; child; child = child->next) {
        gather(&gathering, child);
    }
    const char *text = gathering.text.data ? gathering.text.data : "";
    size_t length = gathering.text.length;
    trim_lines(&text, &length);
    if (!memchr(text, '\n', length)) {
        /* How far in a single line stands says how the page is written. */
        while (length && isspace((unsigned char)*text)) {
            text++;
            length--;
        }
    }
    flush_block(writer);
    if (code != node) {
        node_drop(node, OMIT_CONTROLS); /* the rest of it: numbers of lines, buttons */
    }
    drop_labels_after(node);
    if (length == 0) {
        buf_done(&gathering.text);
        return;
    }
    const char *language = language_of(writer->arena, node);
    language =
        take_label_back(writer, !language && code != node ? inner_label(node, code) : language);
    language = take_file_name(writer, language);
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

/* A break between two words: at either end it is how the page is written, not how the code looks.
 */
static bool holds_line_break(lxb_dom_node_t *node)
{
    bool before = false; /* words, */
    bool broken = false; /* and a break behind them */
    for (lxb_dom_node_t *below = node->first_child; below; below = dom_next(below, node, true)) {
        if (dom_tag(below) == LXB_TAG_BR || dom_is_block(dom_tag(below))) {
            return true;
        }
        size_t length = 0;
        const char *text = dom_is_text(below) ? dom_text(below, &length) : "";
        for (size_t i = 0; i < length; i++) {
            bool space = isspace((unsigned char)text[i]);
            if (!space && broken) {
                return true;
            }
            before = before || !space;
            broken = broken || (before && text[i] == '\n');
        }
    }
    return false;
}

/* Whether there are lines below, and nothing that has another form. */
static bool is_made_of_lines(lxb_dom_node_t *node)
{
    bool lines = false;
    for (lxb_dom_node_t *below = node->first_child; below; below = dom_next(below, node, true)) {
        lxb_tag_id_t tag = dom_tag(below);
        lines = lines || tag == LXB_TAG_LI || tag == LXB_TAG_BR ||
                (dom_class_values(below, &code_words) & CODE_LINE);
        if (dom_is_block(tag) && tag != LXB_TAG_DIV && tag != LXB_TAG_LI && tag != LXB_TAG_OL) {
            return false;
        }
    }
    return lines;
}

bool code_is_block(lxb_dom_node_t *node)
{
    uint32_t words = dom_class_values(node, &code_words);
    if (dom_tag(node) == LXB_TAG_CODE) {
        return dom_find(node, LXB_TAG_PRE) || (words & CODE_INNER_BLOCK) ||
               ((keeps_white_space(node) || dom_find(node, LXB_TAG_BR)) && holds_line_break(node));
    }
    return (words & CODE_EDITOR) || ((words & CODE_LINES) && is_made_of_lines(node)) ||
           ((words & CODE_BLOCK) && !dom_holds_block(node) && !dom_find(node, LXB_TAG_CODE));
}

void write_code_span(struct writer *writer, lxb_dom_node_t *node)
{
    struct code_text gathering = {.line_over = false};
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
