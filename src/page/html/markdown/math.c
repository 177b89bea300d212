/* Formulas as TeX, from wherever the page keeps their source: an annotation, an alternative text,
 * an attribute, a script, the address of a picture; or from MathML itself. */
#include "page/html/markdown/writer.h"

#include "core/limits.h"
#include "tables.h"

#include <ctype.h>
#include <strings.h>

/* ---- TeX ---- */

static void trim(const char **text, size_t *length)
{
    while (*length && isspace((unsigned char)**text)) {
        (*text)++;
        (*length)--;
    }
    while (*length && isspace((unsigned char)(*text)[*length - 1])) {
        (*length)--;
    }
}

/* What surrounds the formula itself: delimiters, and the wrapper that MediaWiki adds. */
static void unwrap(const char **text, size_t *length)
{
    static const struct {
        const char *open, *close;
    } WRAPPERS[] = {
        {"{\\displaystyle", "}"}, {"{\\textstyle", "}"},   {"$$", "$$"}, {"$", "$"}, {"\\(", "\\)"},
        {"\\[", "\\]"},           {"\\displaystyle ", ""},
    };
    trim(text, length);
    for (size_t i = 0; i < sizeof WRAPPERS / sizeof *WRAPPERS; i++) {
        size_t open = strlen(WRAPPERS[i].open);
        size_t close = strlen(WRAPPERS[i].close);
        if (*length > open + close && strncmp(*text, WRAPPERS[i].open, open) == 0 &&
            strncmp(*text + *length - close, WRAPPERS[i].close, close) == 0) {
            *text += open;
            *length -= open + close;
            trim(text, length);
        }
    }
}

static void put_formula(struct writer *writer, const char *text, size_t length, bool display)
{
    unwrap(&text, &length);
    if (length == 0) {
        return;
    }
    struct buf out;
    buf_init(&out, LIMIT_MARKDOWN_BYTES);
    display = (display || writer->force_display) && writer->mode == MODE_BLOCKS;
    buf_puts(&out, display ? "$$\n" : "$");
    bool space = false;
    for (size_t i = 0; i < length; i++) {
        /* A line that is empty would end the formula; in a sentence any line would. */
        if (isspace((unsigned char)text[i])) {
            space = true;
            continue;
        }
        if (space) {
            buf_putc(&out, ' ');
            space = false;
        }
        buf_putc(&out, text[i]);
    }
    buf_puts(&out, display ? "\n$$" : "$");
    if (display) {
        flush_block(writer);
        output_block(writer, out.data ? out.data : "", out.length);
    } else {
        inline_raw(writer, out.data ? out.data : "", out.length);
    }
    buf_done(&out);
}

/* ---- MathML ---- */

static lxb_dom_node_t *find_annotation(lxb_dom_node_t *math)
{
    for (lxb_dom_node_t *node = math->first_child; node; node = dom_next(node, math, true)) {
        if (strcmp(dom_name(node), "annotation") == 0) {
            const char *encoding = dom_attr(node, "encoding");
            if (encoding && strcasestr(encoding, "tex")) {
                return node;
            }
        }
    }
    return NULL;
}

static void put_text_of(struct writer *writer, lxb_dom_node_t *node, bool display)
{
    struct buf text;
    buf_init(&text, LIMIT_MARKDOWN_BYTES);
    for (lxb_dom_node_t *at = node->first_child; at; at = dom_next(at, node, true)) {
        if (dom_is_text(at)) {
            size_t length;
            const char *bytes = dom_text(at, &length);
            buf_append(&text, bytes, length);
        }
    }
    put_formula(writer, text.data ? text.data : "", text.length, display);
    buf_done(&text);
}

static void put_mathml(struct writer *writer, lxb_dom_node_t *math, bool display)
{
    const char *mode = dom_attr(math, "display");
    display = display || (mode && strcmp(mode, "block") == 0);
    lxb_dom_node_t *annotation = find_annotation(math);
    const char *alternative = dom_attr(math, "alttext");
    if (annotation) {
        put_text_of(writer, annotation, display);
    } else if (alternative && *alternative) {
        put_formula(writer, alternative, strlen(alternative), display);
    } else {
        struct buf tex;
        buf_init(&tex, LIMIT_MARKDOWN_BYTES);
        mathml_write(&tex, math);
        put_formula(writer, tex.data ? tex.data : "", tex.length, display);
        buf_done(&tex);
    }
}

/* ---- wrappers ---- */

static const char *tex_attribute(const lxb_dom_node_t *node)
{
    for (const char *const *name = tex_attributes; *name; name++) {
        const char *value = dom_attr(node, *name);
        if (value && *value) {
            return value;
        }
    }
    return NULL;
}

static bool is_math_script(const lxb_dom_node_t *node)
{
    const char *type =
        dom_tag(node) == LXB_TAG_SCRIPT ? dom_known_attr(node, LXB_DOM_ATTR_TYPE) : NULL;
    return type && strncasecmp(type, "math/", 5) == 0;
}

/* What MathJax of old set beside the source that it keeps in a script. */
static bool has_script_after(const lxb_dom_node_t *node)
{
    const lxb_dom_node_t *next = node;
    for (int steps = 0; steps < 3 && next; steps++) {
        next = dom_next_element(next);
        if (next && is_math_script(next)) {
            return true;
        }
    }
    return false;
}

static bool is_set_apart(const lxb_dom_node_t *node)
{
    static const char *const WORDS[] = {"display", "block", NULL};
    for (int steps = 0; node && steps < 2; steps++, node = node->parent) {
        const char *words = dom_class(node);
        if (dom_holds_any(words, WORDS) && !strcasestr(words, "inline")) {
            return true;
        }
    }
    return false;
}

static bool write_wrapper(struct writer *writer, lxb_dom_node_t *node, const char *words)
{
    static const char *const RENDERED[] = {"katex", "MathJax", "mwe-math-element",
                                           "MJX",   "mathjax", NULL};
    if (strcasestr(words, "MathJax") && has_script_after(node)) {
        return true;
    }
    const char *tex = tex_attribute(node);
    if (tex) {
        put_formula(writer, tex, strlen(tex), is_set_apart(node));
        return true;
    }
    if (dom_holds_any(words, RENDERED)) {
        lxb_dom_node_t *math = dom_find(node, LXB_TAG_MATH);
        if (math) {
            put_mathml(writer, math, is_set_apart(node));
        }
        return math != NULL || strstr(words, "Preview") != NULL;
    }
    /* What pandoc leaves for a script: TeX without delimiters. */
    lxb_dom_node_t *only = node->first_child;
    bool raw = dom_has_word(words, "math") &&
               (dom_has_word(words, "inline") || dom_has_word(words, "display")) && only &&
               !only->next && dom_is_text(only);
    if (raw) {
        put_text_of(writer, node, dom_has_word(words, "display"));
    }
    return raw;
}

static void write_container(struct writer *writer, lxb_dom_node_t *node)
{
    const char *mode = dom_attr(node, "display");
    bool display = mode && (strcmp(mode, "true") == 0 || strcmp(mode, "block") == 0);
    const char *tex = tex_attribute(node);
    lxb_dom_node_t *math = dom_find(node, LXB_TAG_MATH);
    if (tex) {
        put_formula(writer, tex, strlen(tex), display);
    } else if (math) {
        put_mathml(writer, math, display);
    } else {
        struct buf text;
        buf_init(&text, LIMIT_MARKDOWN_BYTES);
        mathml_write(&text, node);
        put_formula(writer, text.data ? text.data : "", text.length, display);
        buf_done(&text);
    }
}

/* ---- pictures of formulas ---- */

/* TeX in the address of a picture that a service draws: after the last of "?", "=" and "/". */
static bool write_drawn(struct writer *writer, lxb_dom_node_t *image)
{
    const char *source = dom_known_attr(image, LXB_DOM_ATTR_SRC);
    if (!source || !(strcasestr(source, "%5C") || strchr(source, '\\')) ||
        strncmp(source, "data:", 5) == 0) {
        return false;
    }
    size_t length;
    char *plain = url_decode(writer->arena, source, strlen(source), &length);
    char *slash = plain ? strchr(plain, '\\') : NULL;
    if (!slash || !isalpha((unsigned char)slash[1])) {
        return false;
    }
    char *from = slash;
    while (from > plain && !strchr("?=/", from[-1])) {
        from--;
    }
    put_formula(writer, from, strlen(from), false);
    return true;
}

static bool write_picture_of_formula(struct writer *writer, lxb_dom_node_t *image)
{
    static const char *const WORDS[] = {"latex", "tex", "math", "equation", NULL};
    const char *words = dom_class(image);
    const char *alt = dom_known_attr(image, LXB_DOM_ATTR_ALT);
    const char *tex = tex_attribute(image);
    if (tex || (alt && *alt && dom_holds_any(words, WORDS) &&
                (strpbrk(alt, "\\^_{}=") || strlen(alt) < 3))) {
        tex = tex ? tex : alt;
        put_formula(writer, tex, strlen(tex), words && strcasestr(words, "display"));
        return true;
    }
    return write_drawn(writer, image);
}

bool write_math(struct writer *writer, lxb_dom_node_t *node)
{
    lxb_tag_id_t tag = dom_tag(node);
    if (tag == LXB_TAG_MATH) {
        put_mathml(writer, node, false);
        return true;
    }
    if (tag == LXB_TAG_IMG) {
        return !(node_marks(node) & NODE_DROPPED) && write_picture_of_formula(writer, node);
    }
    if (tag == LXB_TAG_SCRIPT) {
        bool found = is_math_script(node);
        if (found) {
            const char *type = dom_known_attr(node, LXB_DOM_ATTR_TYPE);
            put_text_of(writer, node, strcasestr(type, "display") != NULL);
        }
        return found;
    }
    if (tag >= LXB_TAG__LAST_ENTRY) {
        const char *name = dom_name(node);
        if (strcmp(name, "mjx-container") == 0) {
            write_container(writer, node);
            return true;
        }
        if (strcmp(name, "d-math") == 0) {
            put_text_of(writer, node, dom_attr(node, "block") != NULL);
            return true;
        }
    }
    if (tag != LXB_TAG_SPAN && tag != LXB_TAG_DIV) {
        return false;
    }
    const char *words = dom_class(node);
    return words &&
           (strcasestr(words, "math") || strcasestr(words, "katex") || strcasestr(words, "tex") ||
            strcasestr(words, "mjx")) &&
           write_wrapper(writer, node, words);
}
