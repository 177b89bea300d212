/* Styles by their names, which Word writes in English whatever its language, and by what they set;
 * numbering by its numbers. */
#include "documents/docx_styles.h"

#include "core/limits.h"
#include "documents/markup.h"

#include <stdlib.h>
#include <strings.h>

#define MOST_ANCESTORS 32 /* of a style; some inherit in a circle */

/* ---- properties ---- */

/* "0", "false" and "none" take back what the style gave. */
static bool is_on(const struct xml_reader *xml)
{
    struct slice value;
    return !xml_local_attribute(xml, "val", &value) ||
           !(slice_is(value, "0") || slice_is(value, "false") || slice_is(value, "off") ||
             slice_is(value, "none"));
}

static bool is_monospaced(struct slice font)
{
    static const char *const FONTS[] = {"courier", "consolas", "mono",
                                        "menlo",   "monaco",   "lucida console"};
    for (size_t i = 0; i < sizeof FONTS / sizeof *FONTS; i++) {
        for (size_t at = 0; at + strlen(FONTS[i]) <= font.length; at++) {
            if (strncasecmp(font.data + at, FONTS[i], strlen(FONTS[i])) == 0) {
                return true;
            }
        }
    }
    return false;
}

static void read_property(struct package *package, const struct xml_reader *xml, unsigned *formats,
                          bool *hidden, const char **id)
{
    static const struct {
        const char *name;
        unsigned format;
    } KNOWN[] = {
        {"b", MARKUP_BOLD},
        {"i", MARKUP_ITALIC},
        {"strike", MARKUP_STRIKE},
        {"dstrike", MARKUP_STRIKE},
    };
    struct slice name = xml_local(xml);
    struct slice value;
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
        if (slice_is(name, KNOWN[i].name)) {
            *formats = is_on(xml) ? *formats | KNOWN[i].format : *formats & ~KNOWN[i].format;
        }
    }
    if (slice_is(name, "vanish")) {
        *hidden = is_on(xml);
    } else if (slice_is(name, "vertAlign") && xml_local_attribute(xml, "val", &value)) {
        *formats &= ~(unsigned)(MARKUP_SUPER | MARKUP_SUB);
        *formats |= slice_is(value, "superscript") ? MARKUP_SUPER
                    : slice_is(value, "subscript") ? MARKUP_SUB
                                                   : 0;
    } else if (slice_is(name, "rFonts") && xml_local_attribute(xml, "ascii", &value)) {
        *formats =
            is_monospaced(value) ? *formats | MARKUP_CODE : *formats & ~(unsigned)MARKUP_CODE;
    } else if (slice_is(name, "rStyle") && id) {
        *id = package_attribute(package, xml, "val");
    }
}

bool docx_run_properties(struct package *package, struct xml_reader *xml, unsigned *formats,
                         bool *hidden, const char **id)
{
    size_t depth = xml->depth;
    enum xml_event event;
    while ((event = xml_inside(xml, depth)) != XML_DONE && event != XML_BROKEN) {
        if (event == XML_START) {
            read_property(package, xml, formats, hidden, id);
        }
    }
    return event == XML_DONE;
}

/* ---- styles ---- */

/* A heading's level in `level`. */
static enum docx_role role_of(const char *name, long *level)
{
    static const struct {
        const char *words;
        enum docx_role role;
    } KNOWN[] = {
        {"title", DOCX_TITLE},
        {"toc heading", DOCX_CONTENTS},
        {"quote", DOCX_QUOTE},
        {"intense quote", DOCX_QUOTE},
        {"block text", DOCX_QUOTE},
        {"html preformatted", DOCX_CODE},
        {"plain text", DOCX_CODE},
        {"source code", DOCX_CODE},
        {"preformatted text", DOCX_CODE},
        {"code", DOCX_CODE},
        {"code block", DOCX_CODE},
    };
    if (strncasecmp(name, "heading ", 8) == 0 && name[8] >= '1' && name[8] <= '9') {
        *level = name[8] - '0';
        return DOCX_HEADING;
    }
    if (strncasecmp(name, "toc ", 4) == 0 && name[4] >= '1' && name[4] <= '9') {
        return DOCX_CONTENTS;
    }
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
        if (strcasecmp(name, KNOWN[i].words) == 0) {
            return KNOWN[i].role;
        }
    }
    return DOCX_UNKNOWN;
}

/* "List Bullet 2", "List Number 3" */
static long indent_of(const char *name)
{
    size_t length = strlen(name);
    bool list = strncasecmp(name, "list ", 5) == 0 && length > 6 && name[length - 2] == ' ';
    char last = list ? name[length - 1] : '\0';
    return last >= '2' && last <= '9' ? last - '1' : 0;
}

static void read_style_part(struct package *package, struct xml_reader *xml,
                            struct docx_style *style)
{
    struct slice name = xml_local(xml);
    if (slice_is(name, "name")) {
        const char *value = package_attribute(package, xml, "val");
        style->role = value ? role_of(value, &style->level) : DOCX_UNKNOWN;
        style->indent = value ? indent_of(value) : 0;
        bool code = value && (strcasestr(value, "verbatim") || strcasestr(value, "code"));
        style->formats |= code ? MARKUP_CODE : 0;
    } else if (slice_is(name, "basedOn")) {
        style->based_on = package_attribute(package, xml, "val");
    } else if (slice_is(name, "outlineLvl") && style->role == DOCX_UNKNOWN) {
        style->level = package_number(xml, "val", 0, 9, 9) + 1;
        style->role = style->level <= 9 ? DOCX_HEADING : DOCX_UNKNOWN;
    } else if (slice_is(name, "numId")) {
        style->list = package_number(xml, "val", 0, INT32_MAX, -1);
    } else if (slice_is(name, "ilvl")) {
        style->depth = package_number(xml, "val", 0, DOCX_LEVELS - 1, 0);
    }
}

/* To the style's end. False when the part is broken. */
static bool read_style(struct package *package, struct xml_reader *xml, struct docx_style *style)
{
    size_t depth = xml->depth;
    enum xml_event event;
    while ((event = xml_inside(xml, depth)) != XML_DONE && event != XML_BROKEN) {
        if (event == XML_START && slice_is(xml_local(xml), "rPr")) {
            if (!docx_run_properties(package, xml, &style->formats, &style->hidden, NULL)) {
                return false;
            }
        } else if (event == XML_START) {
            read_style_part(package, xml, style);
        }
    }
    return event == XML_DONE;
}

static int by_style_id(const void *left, const void *right)
{
    return strcmp(((const struct docx_style *)left)->id, ((const struct docx_style *)right)->id);
}

static int read_styles(struct package *package, const char *part, struct docx_styles *styles)
{
    struct xml_reader xml;
    size_t capacity = 0;
    int status = package_xml(package, part, &xml);
    if (status != OK) {
        return status == ERR_NOTFOUND ? OK : status;
    }
    for (enum xml_event event; (event = xml_next(&xml)) != XML_DONE && event != XML_BROKEN;) {
        if (event != XML_START || !slice_is(xml_local(&xml), "style") ||
            styles->style_count == LIMIT_DOCUMENT_STYLES) {
            continue;
        }
        struct docx_style style = {
            .id = package_attribute(package, &xml, "styleId"), .list = -1, .depth = -1};
        if (!read_style(package, &xml, &style)) {
            break;
        }
        styles->styles = arena_grow(package->arena, styles->styles, styles->style_count, &capacity,
                                    sizeof *styles->styles);
        if (!styles->styles) {
            return ERR_NOMEM;
        }
        styles->styles[styles->style_count] = style;
        styles->style_count += style.id != NULL;
    }
    if (styles->style_count) {
        qsort(styles->styles, styles->style_count, sizeof *styles->styles, by_style_id);
    }
    return OK;
}

static const struct docx_style *look_up(const struct docx_styles *styles, const char *id)
{
    struct docx_style key = {.id = id};
    return id && styles->style_count
               ? bsearch(&key, styles->styles, styles->style_count, sizeof key, by_style_id)
               : NULL;
}

struct docx_style docx_style_find(const struct docx_styles *styles, const char *id)
{
    struct docx_style found = {.role = DOCX_UNKNOWN, .list = -1, .depth = -1};
    for (int i = 0; i < MOST_ANCESTORS; i++) {
        const struct docx_style *style = look_up(styles, id);
        if (!style) {
            break;
        }
        if (found.role == DOCX_UNKNOWN) {
            found.role = style->role;
            found.level = style->level;
        }
        found.list = found.list < 0 ? style->list : found.list;
        found.depth = found.depth < 0 ? style->depth : found.depth;
        found.indent = found.indent ? found.indent : style->indent;
        found.formats |= style->formats;
        found.hidden = found.hidden || style->hidden;
        id = style->based_on;
    }
    found.role = found.role == DOCX_UNKNOWN ? DOCX_TEXT : found.role;
    return found;
}

/* ---- numbering ---- */

struct numbering {
    struct xml_reader xml;
    struct docx_list *kinds; /* the abstract ones, which lists refer to */
    size_t kind_count, kind_capacity;
    size_t capacity; /* of the lists themselves */
};

static struct docx_list *find_list(struct docx_list *lists, size_t count, long id)
{
    for (size_t i = 0; i < count; i++) {
        if (lists[i].id == id) {
            return &lists[i];
        }
    }
    return NULL;
}

static int by_list_id(const void *left, const void *right)
{
    long a = ((const struct docx_list *)left)->id;
    long b = ((const struct docx_list *)right)->id;
    return (a > b) - (a < b);
}

struct docx_list *docx_list_find(const struct docx_styles *styles, long id)
{
    struct docx_list key = {.id = id};
    return styles->list_count
               ? bsearch(&key, styles->lists, styles->list_count, sizeof key, by_list_id)
               : NULL;
}

static void read_level(struct numbering *numbering, struct docx_list *list, long *level)
{
    const struct xml_reader *xml = &numbering->xml;
    struct slice name = xml_local(xml);
    struct slice value;
    if (slice_is(name, "lvl") || slice_is(name, "lvlOverride")) {
        *level = package_number(xml, "ilvl", 0, DOCX_LEVELS - 1, 0);
    } else if (slice_is(name, "start") || slice_is(name, "startOverride")) {
        list->levels[*level].next = package_number(xml, "val", 0, 1000000, 1);
    } else if (slice_is(name, "numFmt") && xml_local_attribute(xml, "val", &value)) {
        list->levels[*level].ordered = !slice_is(value, "bullet") && !slice_is(value, "none");
        list->levels[*level].shown = !slice_is(value, "none");
    } else if (slice_is(name, "abstractNumId")) {
        const struct docx_list *kind = find_list(numbering->kinds, numbering->kind_count,
                                                 package_number(xml, "val", 0, INT32_MAX, -1));
        if (kind) {
            memcpy(list->levels, kind->levels, sizeof list->levels);
        }
    }
}

/* One of them to its end. False when the part is broken. */
static bool read_list(struct numbering *numbering, struct docx_list *list)
{
    size_t depth = numbering->xml.depth;
    long level = 0;
    enum xml_event event;
    while ((event = xml_inside(&numbering->xml, depth)) != XML_DONE && event != XML_BROKEN) {
        if (event == XML_START) {
            read_level(numbering, list, &level);
        }
    }
    return event == XML_DONE;
}

static int read_numbering(struct package *package, const char *part, struct docx_styles *styles)
{
    struct numbering numbering = {.kinds = NULL};
    int status = package_xml(package, part, &numbering.xml);
    if (status != OK) {
        return status == ERR_NOTFOUND ? OK : status;
    }
    for (enum xml_event event;
         (event = xml_next(&numbering.xml)) != XML_DONE && event != XML_BROKEN;) {
        bool kind = slice_is(xml_local(&numbering.xml), "abstractNum");
        if (event != XML_START || !(kind || slice_is(xml_local(&numbering.xml), "num")) ||
            numbering.kind_count + styles->list_count >= LIMIT_DOCUMENT_LISTS) {
            continue;
        }
        struct docx_list **lists = kind ? &numbering.kinds : &styles->lists;
        size_t *count = kind ? &numbering.kind_count : &styles->list_count;
        *lists = arena_grow(package->arena, *lists, *count,
                            kind ? &numbering.kind_capacity : &numbering.capacity, sizeof **lists);
        if (!*lists) {
            return ERR_NOMEM;
        }
        struct docx_list *list = &(*lists)[*count];
        *list = (struct docx_list){
            .id =
                package_number(&numbering.xml, kind ? "abstractNumId" : "numId", 0, INT32_MAX, -1)};
        for (size_t i = 0; i < DOCX_LEVELS; i++) {
            list->levels[i].shown = true;
            list->levels[i].next = 1;
        }
        if (!read_list(&numbering, list)) {
            break;
        }
        (*count)++;
    }
    if (styles->list_count) {
        qsort(styles->lists, styles->list_count, sizeof *styles->lists, by_list_id);
    }
    return OK;
}

int docx_styles_read(struct package *package, const struct relations *relations,
                     struct docx_styles *styles)
{
    const struct relation *part = relation_find(relations, NULL, "styles");
    const struct relation *numbering = relation_find(relations, NULL, "numbering");
    *styles = (struct docx_styles){0};
    int status = part ? read_styles(package, part->target, styles) : OK;
    return status == OK && numbering ? read_numbering(package, numbering->target, styles) : status;
}
