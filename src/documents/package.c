/* Parts, relations and properties of packed documents. */
#include "documents/package.h"

#include "core/limits.h"
#include "html/charset.h"
#include "text/text.h"

#include <stdlib.h>

/* ---- parts ---- */

int package_part(struct package *package, const char *name, struct slice *text)
{
    const struct zip_member *member = zip_find(&package->zip, (struct slice){name, strlen(name)});
    if (!member) {
        return ERR_NOTFOUND;
    }
    int status = zip_read(package->arena, &package->zip, member, text, &package->why);
    if (status != OK || text_is_utf8(text->data, text->length)) {
        return status;
    }
    struct charset_hints hints = {NULL, NULL, NULL};
    struct charset_text decoded;
    status = charset_decode(package->arena, text->data, text->length, &hints, &decoded);
    if (status == OK) {
        *text = (struct slice){decoded.bytes, decoded.length};
    }
    return status;
}

int package_xml(struct package *package, const char *name, struct xml_reader *xml)
{
    struct slice text;
    int status = package_part(package, name, &text);
    if (status == OK && memmem(text.data, text.length, "<!ENTITY", 8)) {
        /* The reader knows none, so nothing would grow; but who does this means harm. */
        package->why = "The document declares entities, which no sound one does";
        return ERR_FAILED;
    }
    if (status == OK) {
        xml_begin(xml, text.data, text.length);
    }
    return status;
}

/* ---- attributes ---- */

const char *package_attribute(struct package *package, const struct xml_reader *xml,
                              const char *name)
{
    struct slice value;
    if (!xml_local_attribute(xml, name, &value)) {
        return NULL;
    }
    struct buf text;
    buf_init(&text, LIMIT_URL_BYTES);
    buf_puts(&text, "");
    xml_append(&text, value);
    bool too_long = buf_error(&text) == ERR_LIMIT;
    const char *copy = buf_to_arena(&text, package->arena);
    package->no_memory = package->no_memory || (!copy && !too_long);
    return copy;
}

long package_number(const struct xml_reader *xml, const char *name, long least, long most,
                    long otherwise)
{
    struct slice value;
    char digits[24];
    if (!xml_local_attribute(xml, name, &value) || value.length == 0 ||
        value.length >= sizeof digits) {
        return otherwise;
    }
    memcpy(digits, value.data, value.length);
    digits[value.length] = '\0';
    char *end;
    long number = strtol(digits, &end, 10);
    return end == digits ? otherwise : number < least ? least : number > most ? most : number;
}

/* ---- references ---- */

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* "%20" and the like; a NUL stays as it was written. */
static void decode_percents(char *text)
{
    char *out = text;
    for (const char *at = text; *at; at++) {
        int high = *at == '%' ? hex(at[1]) : -1;
        int low = high >= 0 ? hex(at[2]) : -1;
        if (low >= 0 && (high || low)) {
            *out++ = (char)(high << 4 | low);
            at += 2;
        } else {
            *out++ = *at;
        }
    }
    *out = '\0';
}

/* Takes "." and ".." out of a path. What would lead out of the package stays inside. */
static void normalise(char *path)
{
    char *out = path;
    const char *at = path;
    while (*at) {
        size_t length = strcspn(at, "/");
        bool up = length == 2 && memcmp(at, "..", 2) == 0;
        bool here = length == 0 || (length == 1 && *at == '.');
        if (up) {
            while (out > path && *--out != '/') {
            }
        } else if (!here) {
            if (out > path) {
                *out++ = '/';
            }
            memmove(out, at, length);
            out += length;
        }
        at += length;
        at += *at == '/';
    }
    *out = '\0';
}

const char *package_resolve(struct package *package, const char *part, const char *reference)
{
    const char *slash = strrchr(part, '/');
    size_t folder = *reference == '/' || !slash ? 0 : (size_t)(slash - part) + 1;
    char *path = arena_printf(package->arena, "%.*s%.*s", (int)folder, part,
                              (int)strcspn(reference, "#?"), reference);
    if (path) {
        normalise(path);
    }
    if (path && !zip_find(&package->zip, (struct slice){path, strlen(path)})) {
        decode_percents(path);
        normalise(path);
    }
    return path;
}

static int by_id(const void *left, const void *right)
{
    return strcmp(((const struct relation *)left)->id, ((const struct relation *)right)->id);
}

int package_relations(struct package *package, const char *part, struct relations *relations)
{
    const char *slash = strrchr(part, '/');
    size_t folder = slash ? (size_t)(slash - part) + 1 : 0;
    const char *name =
        arena_printf(package->arena, "%.*s_rels/%s.rels", (int)folder, part, part + folder);
    struct xml_reader xml;
    size_t capacity = 0;
    *relations = (struct relations){0};
    int status = name ? package_xml(package, name, &xml) : ERR_NOMEM;
    if (status != OK) {
        return status == ERR_NOTFOUND ? OK : status;
    }
    for (enum xml_event event; (event = xml_next(&xml)) != XML_DONE && event != XML_BROKEN;) {
        if (event != XML_START || !slice_is(xml_local(&xml), "Relationship") ||
            relations->count == LIMIT_ZIP_MEMBERS) {
            continue;
        }
        const char *id = package_attribute(package, &xml, "Id");
        const char *type = package_attribute(package, &xml, "Type");
        const char *target = package_attribute(package, &xml, "Target");
        const char *mode = package_attribute(package, &xml, "TargetMode");
        relations->items = arena_grow(package->arena, relations->items, relations->count, &capacity,
                                      sizeof *relations->items);
        if (!relations->items) {
            return ERR_NOMEM;
        }
        if (!id || !type || !target) {
            continue;
        }
        bool external = mode && strcmp(mode, "External") == 0;
        const char *last = strrchr(type, '/');
        relations->items[relations->count++] = (struct relation){
            .id = id,
            .type = last ? last + 1 : type,
            .target = external ? target : package_resolve(package, part, target),
            .external = external,
        };
    }
    if (relations->count) {
        qsort(relations->items, relations->count, sizeof *relations->items, by_id);
    }
    return arena_failed(package->arena) ? ERR_NOMEM : OK;
}

const struct relation *relation_find(const struct relations *relations, const char *id,
                                     const char *type)
{
    struct relation key = {.id = id};
    if (id && relations->count) {
        return bsearch(&key, relations->items, relations->count, sizeof key, by_id);
    }
    for (size_t i = 0; !id && i < relations->count; i++) {
        if (strcmp(relations->items[i].type, type) == 0) {
            return &relations->items[i];
        }
    }
    return NULL;
}

/* ---- properties ---- */

/* A text of one line; NULL when there is nothing in it. */
static const char *take_line(struct package *package, struct xml_reader *xml)
{
    struct buf text;
    buf_init(&text, LIMIT_URL_BYTES);
    bool whole = xml_take(xml, &text, NULL);
    const char *line = NULL;
    if (whole && text.length) {
        for (char *at = text.data; *at; at++) {
            *at = (unsigned char)*at < ' ' ? ' ' : *at;
        }
        const char *start = text.data + strspn(text.data, " ");
        size_t length = strlen(start);
        while (length > 0 && start[length - 1] == ' ') {
            length--;
        }
        line = length ? arena_strndup(package->arena, start, length) : NULL;
    }
    buf_done(&text);
    return line;
}

int package_properties(struct package *package, const char *part, struct document *document)
{
    const char *date = NULL;
    const struct {
        const char *name;
        const char **value;
    } known[] = {
        {"title", &document->title},
        {"creator", &document->authors},
        {"initial-creator", &document->authors},
        {"created", &document->published},
        {"creation-date", &document->published},
        {"modified", &document->modified},
        {"language", &document->language},
        {"description", &document->description},
        {"date", &date},
    };
    struct xml_reader xml;
    int status = package_xml(package, part, &xml);
    if (status != OK) {
        return status == ERR_NOTFOUND ? OK : status;
    }
    for (enum xml_event event; (event = xml_next(&xml)) != XML_DONE && event != XML_BROKEN;) {
        /* The package of a book holds more than what is said of the book. */
        if (event != XML_START || xml.depth > 3) {
            continue;
        }
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
            if (slice_is(xml_local(&xml), known[i].name)) {
                const char *line = take_line(package, &xml);
                *known[i].value = *known[i].value ? *known[i].value : line;
                break;
            }
        }
    }
    const char **dated = document->published ? &document->modified : &document->published;
    *dated = *dated ? *dated : date;
    return arena_failed(package->arena) ? ERR_NOMEM : OK;
}
