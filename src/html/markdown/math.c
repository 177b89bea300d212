/* Formulas as TeX, from wherever the page keeps their source: an annotation, an alternative text,
 * an attribute, a script, the address of a picture; or from MathML itself. */
#include "html/markdown/writer.h"

#include "core/limits.h"
#include "html/parse.h"
#include "tables.h"

#include <ctype.h>
#include <strings.h>

#define LONGEST_MATHML 16384 /* bytes of it in an attribute */
#define MOST_PARSED    1000  /* such attributes on a page */

/* ==== MathML as TeX, element by element; also for the elements that MathJax makes of it
 * ("mjx-msub" for "msub", with boxes around the parts) ==== */

/* ---- characters ---- */

/* A letter of the mathematical alphabets as the plain one: italics are what TeX does by itself. */
static bool put_alphabet(struct buf *out, uint32_t point)
{
    static const struct {
        uint32_t from, to;
        const char *plain; /* first letter, as a range */
        const char *command;
    } RANGES[] = {
        {0x1D400, 0x1D419, "A", "\\mathbf"},  {0x1D41A, 0x1D433, "a", "\\mathbf"},
        {0x1D434, 0x1D44D, "A", NULL},        {0x1D44E, 0x1D467, "a", NULL},
        {0x1D468, 0x1D481, "A", "\\mathbf"},  {0x1D482, 0x1D49B, "a", "\\mathbf"},
        {0x1D49C, 0x1D4B5, "A", "\\mathcal"}, {0x1D538, 0x1D551, "A", "\\mathbb"},
        {0x1D7CE, 0x1D7D7, "0", "\\mathbf"},
    };
    for (size_t i = 0; i < sizeof RANGES / sizeof *RANGES; i++) {
        if (point >= RANGES[i].from && point <= RANGES[i].to) {
            char letter =
                (char)((uint32_t)(unsigned char)*RANGES[i].plain + (point - RANGES[i].from));
            if (RANGES[i].command) {
                buf_printf(out, "%s{%c}", RANGES[i].command, letter);
            } else {
                buf_putc(out, letter);
            }
            return true;
        }
    }
    /* Italic Greek. */
    static const char *const GREEK[] = {
        "alpha", "beta",     "gamma",   "delta",    "varepsilon", "zeta",   "eta",    "theta",
        "iota",  "kappa",    "lambda",  "mu",       "nu",         "xi",     "o",      "pi",
        "rho",   "varsigma", "sigma",   "tau",      "upsilon",    "varphi", "chi",    "psi",
        "omega", "partial",  "epsilon", "vartheta", "varkappa",   "phi",    "varrho", "varpi"};
    if (point >= 0x1D6FC && point < 0x1D6FC + sizeof GREEK / sizeof *GREEK) {
        buf_printf(out, "\\%s", GREEK[point - 0x1D6FC]);
        return true;
    }
    return false;
}

static uint32_t decode_four(const unsigned char *at)
{
    return (uint32_t)(at[0] & 7) << 18 | (uint32_t)(at[1] & 0x3F) << 12 |
           (uint32_t)(at[2] & 0x3F) << 6 | (at[3] & 0x3Fu);
}

/* The TeX for a character that needs some; NULL for the others. */
static const char *tex_of(const char *character, size_t length)
{
    static const char *const UNSEEN[] = {"\xE2\x81\xA1", "\xE2\x81\xA2", "\xE2\x81\xA3",
                                         "\xE2\x80\x8B"};
    for (size_t i = 0; length == 3 && i < sizeof UNSEEN / sizeof *UNSEEN; i++) {
        if (memcmp(character, UNSEEN[i], 3) == 0) {
            return "";
        }
    }
    bool no_break = length == 2 && memcmp(character, "\xC2\xA0", 2) == 0;
    return no_break ? " " : words_text(&math_symbols, character, length);
}

static void put_symbols(struct buf *out, const char *text)
{
    while (*text) {
        const unsigned char *at = (const unsigned char *)text;
        size_t length = at[0] < 0x80 ? 1 : at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : 4;
        size_t left = strlen(text);
        length = length < left ? length : left;
        const char *tex = tex_of(text, length);
        if (tex) {
            bool command =
                out->length && isalpha((unsigned char)out->data[out->length - 1]) && *tex == '\\';
            buf_puts(out, command ? " " : "");
            buf_puts(out, tex);
            size_t size = strlen(tex);
            if (size > 1 && *tex == '\\' && isalpha((unsigned char)tex[size - 1]) && text[length] &&
                isalpha((unsigned char)text[length])) {
                buf_putc(out, ' ');
            }
        } else if (length != 4 || !put_alphabet(out, decode_four(at))) {
            buf_append(out, text, length);
        }
        text += length;
    }
}

/* ---- elements ---- */

/* The name in MathML, for MathJax's elements too. */
static const char *math_name(const lxb_dom_node_t *node)
{
    const char *name = dom_name(node);
    return strncmp(name, "mjx-", 4) == 0 ? name + 4 : name;
}

static bool is_name(const lxb_dom_node_t *node, const char *name)
{
    return strcmp(math_name(node), name) == 0;
}

static uint32_t element_of(const lxb_dom_node_t *node)
{
    const char *name = math_name(node);
    return words_value(&math_elements, name, strlen(name));
}

static bool is_mathjax(const lxb_dom_node_t *node)
{
    return strncmp(dom_name(node), "mjx-", 4) == 0;
}

#define MOST_PARTS 4

/* The parts of a script or a fraction, through MathJax's boxes. */
static size_t find_parts(lxb_dom_node_t *node, lxb_dom_node_t **parts, size_t count)
{
    for (lxb_dom_node_t *child = node->first_child; child && count < MOST_PARTS;
         child = child->next) {
        if (child->type != LXB_DOM_NODE_TYPE_ELEMENT) {
            continue;
        }
        uint32_t element = element_of(child);
        if (element & MATH_STRUT) {
            continue;
        }
        if ((element & MATH_BOX) && is_mathjax(child)) {
            count = find_parts(child, parts, count);
        } else {
            parts[count++] = child;
        }
    }
    return count;
}

static void mathml_write(struct buf *out, lxb_dom_node_t *node); /* an element in an element */

static void put_group(struct buf *out, const char *before, lxb_dom_node_t *part, const char *after)
{
    buf_puts(out, before);
    if (part) {
        mathml_write(out, part);
    }
    buf_puts(out, after);
}

static void put_children(struct buf *out, lxb_dom_node_t *node)
{
    bool any = false;
    for (lxb_dom_node_t *child = node->first_child; child; child = child->next) {
        if (child->type == LXB_DOM_NODE_TYPE_ELEMENT) {
            size_t before = out->length;
            if (any) {
                buf_putc(out, ' ');
            }
            size_t start = out->length;
            mathml_write(out, child);
            if (out->length == start && out->data) {
                out->length = before;
                out->data[before] = '\0';
            } else {
                any = true;
            }
        }
    }
}

static void put_leaf(struct buf *out, lxb_dom_node_t *node, bool text)
{
    char bytes[256];
    size_t length = dom_collect(node, bytes, sizeof bytes);
    if (length == 0) {
        return;
    }
    if (text) {
        buf_printf(out, "\\text{%s}", bytes);
    } else {
        put_symbols(out, bytes);
    }
}

static void put_table(struct buf *out, lxb_dom_node_t *node)
{
    buf_puts(out, "\\begin{matrix} ");
    bool first_row = true;
    for (lxb_dom_node_t *row = node->first_child; row; row = dom_next(row, node, true)) {
        if (!is_name(row, "mtr") && !is_name(row, "mlabeledtr")) {
            continue;
        }
        buf_puts(out, first_row ? "" : " \\\\ ");
        first_row = false;
        bool first_cell = true;
        for (lxb_dom_node_t *cell = row->first_child; cell; cell = cell->next) {
            if (is_name(cell, "mtd")) {
                buf_puts(out, first_cell ? "" : " & ");
                first_cell = false;
                put_children(out, cell);
            }
        }
    }
    buf_puts(out, " \\end{matrix}");
}

/* An accent or a limit above or below. */
static void put_over(struct buf *out, lxb_dom_node_t **parts, bool under)
{
    char sign[16];
    size_t length = dom_collect(parts[1], sign, sizeof sign);
    const char *accent = words_text(&math_accents, sign, length);
    if (accent) {
        buf_puts(out, accent);
        put_group(out, "{", parts[0], "}");
        return;
    }
    mathml_write(out, parts[0]);
    put_group(out, under ? "_{" : "^{", parts[1], "}");
}

static void put_fenced(struct buf *out, lxb_dom_node_t *node)
{
    const char *open = dom_attr(node, "open");
    const char *close = dom_attr(node, "close");
    buf_printf(out, "\\left%s", open ? open : "(");
    bool first = true;
    for (lxb_dom_node_t *child = dom_first_element(node); child; child = dom_next_element(child)) {
        put_group(out, first ? "" : ", ", child, "");
        first = false;
    }
    buf_printf(out, "\\right%s", close ? close : ")");
}

/* The elements that are made of parts. */
static void put_composed(struct buf *out, lxb_dom_node_t *node)
{
    const char *name = math_name(node);
    lxb_dom_node_t *parts[MOST_PARTS] = {0};
    size_t count = find_parts(node, parts, 0);
    bool boxed = is_mathjax(node);
    if (boxed && count > 1 && (strcmp(name, "munderover") == 0 || strcmp(name, "mover") == 0)) {
        /* MathJax writes what is above first. */
        lxb_dom_node_t *over = parts[0];
        parts[0] = parts[1];
        parts[1] = over;
    }
    if (count < 2) {
        put_children(out, node);
    } else if (strcmp(name, "mfrac") == 0) {
        put_group(out, "\\frac{", parts[0], "}{");
        put_group(out, "", parts[1], "}");
    } else if (strcmp(name, "mroot") == 0) {
        put_group(out, "\\sqrt[", parts[1], "]{");
        put_group(out, "", parts[0], "}");
    } else if (strcmp(name, "mover") == 0 || strcmp(name, "munder") == 0) {
        put_over(out, parts, name[1] == 'u');
    } else {
        bool both = count > 2;
        bool under_first = strcmp(name, "msup") != 0;
        /* MathJax stacks the upper script above the lower one. */
        bool stacked = both && boxed;
        mathml_write(out, parts[0]);
        put_group(out, under_first ? "_{" : "^{", parts[stacked ? 2 : 1], "}");
        if (both) {
            put_group(out, "^{", parts[stacked ? 1 : 2], "}");
        }
    }
}

static void mathml_write(struct buf *out, lxb_dom_node_t *node)
{
    if (node->type != LXB_DOM_NODE_TYPE_ELEMENT) {
        return;
    }
    switch (element_of(node) & ~(uint32_t)MATH_BOX) {
    case MATH_STRUT:
    case MATH_NOTHING:
        break;
    case MATH_LETTERS:
        put_leaf(out, node, false);
        break;
    case MATH_TEXT:
        put_leaf(out, node, true);
        break;
    case MATH_ROOT:
        buf_puts(out, "\\sqrt{");
        put_children(out, node);
        buf_puts(out, "}");
        break;
    case MATH_TABLE:
        put_table(out, node);
        break;
    case MATH_FENCED:
        put_fenced(out, node);
        break;
    case MATH_COMPOSED:
        put_composed(out, node);
        break;
    default:
        put_children(out, node);
    }
}

/* ==== formulas on a page ==== */

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
        {"{\\displaystyle", "}"},
        {"{\\textstyle", "}"},
        {"$$", "$$"},
        {"$", "$"},
        {"\\(", "\\)"},
        {"\\[", "\\]"},
        {"\\displaystyle ", ""},
        {"% <![CDATA[", "%]]>"},
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
        output_buf(writer, &out);
        return;
    }
    inline_raw(writer, out.data ? out.data : "", out.length);
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

/* MathML whose source is nowhere else. */
static void put_converted(struct writer *writer, lxb_dom_node_t *math, bool display)
{
    struct buf tex;
    buf_init(&tex, LIMIT_MARKDOWN_BYTES);
    mathml_write(&tex, math);
    put_formula(writer, tex.data ? tex.data : "", tex.length, display);
    buf_done(&tex);
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
        put_converted(writer, math, display);
    }
}

/* MathML in an attribute, as MathJax of old and editors of formulas keep it. */
static bool put_attribute(struct writer *writer, const lxb_dom_node_t *node, bool display)
{
    static const struct {
        const char *from;
        char to;
    } QUOTED[] = {{"\xC2\xAB", '<'}, {"\xC2\xBB", '>'}, {"\xC2\xA8", '"'}, {"\xC2\xA7", '&'}};
    const char *source = dom_attr(node, "data-mathml");
    size_t length = source ? strlen(source) : 0;
    bool fits = length && length <= LONGEST_MATHML && writer->parsed < MOST_PARSED;
    char *text = fits ? arena_alloc(writer->arena, length + 1) : NULL;
    if (!text) {
        return false;
    }
    writer->parsed++;
    size_t used = 0;
    for (size_t i = 0; i < length;) {
        char byte = source[i];
        size_t taken = 1;
        for (size_t k = 0; k < sizeof QUOTED / sizeof *QUOTED && taken == 1; k++) {
            if (i + 1 < length && memcmp(source + i, QUOTED[k].from, 2) == 0) {
                byte = QUOTED[k].to;
                taken = 2;
            }
        }
        text[used++] = byte;
        i += taken;
    }
    struct page page = {.arena = writer->arena};
    if (parse_html(&page, text, used) != OK) {
        return false;
    }
    lxb_dom_node_t *math = dom_find(page.body, LXB_TAG_MATH);
    if (math) {
        put_mathml(writer, math, display);
    }
    parse_done(&page);
    return math != NULL;
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

/* The source of a formula that an element keeps in JSON. */
static bool put_json(struct writer *writer, const lxb_dom_node_t *node)
{
    const char *json = dom_attr(node, "data-attrs");
    yyjson_doc *doc = json ? yyjson_read(json, strlen(json), 0) : NULL;
    const char *tex =
        yyjson_get_str(yyjson_obj_get(yyjson_doc_get_root(doc), "persistentExpression"));
    const char *copy = tex ? arena_strdup(writer->arena, tex) : NULL;
    yyjson_doc_free(doc);
    if (copy) {
        put_formula(writer, copy, strlen(copy), dom_tag(node) == LXB_TAG_DIV);
    }
    return copy != NULL;
}

/* The source in an attribute of an element or of what it is drawn with. */
static const char *tex_below(lxb_dom_node_t *node)
{
    const char *tex = tex_attribute(node);
    for (lxb_dom_node_t *below = node->first_child; below && !tex; below = below->first_child) {
        tex = tex_attribute(below);
    }
    return tex;
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
    if (put_json(writer, node)) {
        return true;
    }
    if (dom_holds_any(words, RENDERED)) {
        lxb_dom_node_t *math = dom_find(node, LXB_TAG_MATH);
        if (math) {
            put_mathml(writer, math, is_set_apart(node));
        }
        return math != NULL || put_attribute(writer, node, is_set_apart(node)) ||
               strstr(words, "Preview") != NULL;
    }
    /* What pandoc leaves for a script: TeX without delimiters. */
    lxb_dom_node_t *only = node->first_child;
    size_t length = 0;
    const char *text = only && dom_is_text(only) ? dom_text(only, &length) : "";
    trim(&text, &length);
    bool raw = dom_has_word(words, "math") && length && !only->next &&
               (dom_has_word(words, "inline") || dom_has_word(words, "display") ||
                (memchr(text, '\\', length) && *text != '\\' && *text != '$'));
    if (raw) {
        put_text_of(writer, node, dom_has_word(words, "display"));
    }
    return raw;
}

static void write_container(struct writer *writer, lxb_dom_node_t *node)
{
    const char *mode = dom_attr(node, "display");
    bool display = mode && (strcmp(mode, "true") == 0 || strcmp(mode, "block") == 0);
    const char *tex = tex_below(node);
    lxb_dom_node_t *math = dom_find(node, LXB_TAG_MATH);
    if (tex) {
        put_formula(writer, tex, strlen(tex), display);
    } else if (math) {
        put_mathml(writer, math, display);
    } else if (!put_attribute(writer, node, display)) {
        put_converted(writer, node, display);
    }
}

/* ---- pictures of formulas ---- */

/* The part of an address that is TeX, when a service draws it: the value of a parameter with such a
 * name, or all of the query behind a path that is called so. NULL when there is none. */
static char *tex_in_address(struct arena *arena, const char *source)
{
    static const char *const NAMES[] = {
        "latex=", "tex=", "math=", "chl=", "formula=", "eq=", "from=", "expr=", "equation=", NULL};
    static const char *const PATHS[] = {".latex", "latex", "mathtex", "mimetex", "texrender", NULL};
    static const char *const SERVICES[] = {"latex", "tex", "math", "equation", "cht=tx", NULL};
    const char *query = strchr(source, '?');
    const char *from = NULL;
    for (const char *const *name = NAMES; query && !from && *name; name++) {
        const char *at = strcasestr(query, *name);
        bool whole = at && (at[-1] == '?' || at[-1] == '&' || at[-1] == ';');
        from = whole && dom_holds_any(source, SERVICES) ? at + strlen(*name) : NULL;
    }
    size_t length = from ? strcspn(from, "&") : 0;
    if (!from && query && !strchr(query, '=')) {
        char *path = arena_strndup(arena, source, (size_t)(query - source));
        from = path && dom_holds_any(path, PATHS) ? query + 1 : NULL;
        length = from ? strlen(from) : 0;
    }
    char *form = from ? arena_strndup(arena, from, length) : NULL;
    for (char *at = form && *from && from[-1] == '=' ? strchr(form, '+') : NULL; at;
         at = strchr(at, '+')) {
        *at = ' '; /* as forms write it */
    }
    return form ? url_decode(arena, form, length, &length) : NULL;
}

/* What services are told about the picture, before the formula, and their word for a space. */
static void put_drawn(struct writer *writer, char *tex)
{
    static const char *const ORDERS[] = {"\\inline", "\\dpi",   "\\bg_", "\\fg_",
                                         "\\large",  "\\small", "\\fn_", NULL};
    for (char *space = strstr(tex, "&space;"); space; space = strstr(space, "&space;")) {
        *space = ' ';
        memmove(space + 1, space + 7, strlen(space + 7) + 1);
    }
    for (bool more = true; more;) {
        more = false;
        tex += strspn(tex, " ");
        for (const char *const *order = ORDERS; *order && !more; order++) {
            if (strncasecmp(tex, *order, strlen(*order)) == 0) {
                tex += 1 + strcspn(tex + 1, " \\{");
                tex += *tex == '{' ? strcspn(tex, "}") + 1 : 0;
                more = true;
            }
        }
    }
    put_formula(writer, tex, strlen(tex), false);
}

/* TeX in the address of a picture. */
static bool write_drawn(struct writer *writer, lxb_dom_node_t *image)
{
    const char *source = dom_known_attr(image, LXB_DOM_ATTR_SRC);
    if (!source || strncmp(source, "data:", 5) == 0) {
        return false;
    }
    char *tex = strchr(source, '?') ? tex_in_address(writer->arena, source) : NULL;
    if (!tex && (strcasestr(source, "%5C") || strchr(source, '\\'))) {
        size_t length;
        char *plain = url_decode(writer->arena, source, strlen(source), &length);
        char *slash = plain ? strchr(plain, '\\') : NULL;
        tex = slash && isalpha((unsigned char)slash[1]) ? slash : NULL;
        while (tex && tex > plain && !strchr("?=/", tex[-1])) {
            tex--;
        }
    }
    if (!tex || !*tex) {
        return false;
    }
    put_drawn(writer, tex);
    return true;
}

static bool is_in_formula(const lxb_dom_node_t *image)
{
    const lxb_dom_node_t *node = image->parent;
    for (int steps = 0; node && steps < 2; steps++, node = node->parent) {
        if (dom_has_word(dom_class(node), "math")) {
            return true;
        }
    }
    return false;
}

static bool write_picture_of_formula(struct writer *writer, lxb_dom_node_t *image)
{
    static const char *const WORDS[] = {"latex", "tex", "math", "equation", NULL};
    const char *words = dom_class(image);
    const char *alt = dom_known_attr(image, LXB_DOM_ATTR_ALT);
    const char *tex = tex_attribute(image);
    bool inside = is_in_formula(image);
    if (tex || (alt && *alt && (inside || dom_holds_any(words, WORDS)) &&
                (strpbrk(alt, "\\^_{}=") || strlen(alt) < 3))) {
        tex = tex ? tex : alt;
        bool display = (words && strcasestr(words, "display")) ||
                       (inside && dom_closest(image, LXB_TAG_DIV) == image->parent->parent);
        put_formula(writer, tex, strlen(tex), display);
        return true;
    }
    return put_attribute(writer, image, false) || write_drawn(writer, image);
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
        if (strcmp(name, "d-math") == 0 || strcmp(name, "tex-math") == 0) {
            put_text_of(writer, node, dom_attr(node, "block") != NULL);
            return true;
        }
    }
    if (tag == LXB_TAG_CODE || tag == LXB_TAG_PRE) {
        /* A fence or a span that is for a script to draw. */
        const char *style = dom_attr(node, "data-math-style");
        if (style) {
            put_text_of(writer, node, strcmp(style, "display") == 0);
        }
        return style != NULL;
    }
    if (tag != LXB_TAG_SPAN && tag != LXB_TAG_DIV) {
        return false;
    }
    static const char *const WRAPPERS[] = {"math", "katex", "tex", "mjx", NULL};
    const char *words = dom_class(node);
    return dom_holds_any(words, WRAPPERS) && write_wrapper(writer, node, words);
}
