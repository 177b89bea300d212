/* Which format a ZIP archive is, and the document that comes of it. */
#include "documents/documents.h"

#include "core/limits.h"
#include "documents/formats.h"
#include "html/compose.h"

#define LONGEST_TYPE 128

/* ---- which one ---- */

struct document_format {
    const char *type; /* what the archive says that it is, or a part of that */
    const char *kind;
    const char *part; /* where it begins; NULL: the archive says where */
    int (*write)(struct package *package, const char *part, struct document *document,
                 struct buf *out);
    const char *name; /* of a format that is not read */
};

/* The member "mimetype" of OpenDocument and EPUB; templates have a longer one. */
static const struct document_format BY_TYPE[] = {
    {"application/epub+zip", "epub", "META-INF/container.xml", epub_write, NULL},
    {"application/vnd.oasis.opendocument.text", "odt", "content.xml", odt_write, NULL},
    {"application/vnd.oasis.opendocument.spreadsheet", NULL, NULL, NULL,
     "an OpenDocument spreadsheet"},
    {"application/vnd.oasis.opendocument.presentation", NULL, NULL, NULL,
     "an OpenDocument presentation"},
    {"application/vnd.oasis.opendocument.", NULL, NULL, NULL, "an OpenDocument file"},
};

/* The content type of the part that everything begins with, in Office Open XML. */
static const struct document_format BY_PART[] = {
    {"wordprocessingml.document.main+xml", "docx", NULL, docx_write, NULL},
    {"wordprocessingml.template.main+xml", "docx", NULL, docx_write, NULL},
    {"ms-word.document.macroEnabled.main+xml", "docx", NULL, docx_write, NULL},
    {"ms-word.template.macroEnabledTemplate.main+xml", "docx", NULL, docx_write, NULL},
    {"presentationml.presentation.main+xml", "pptx", NULL, pptx_write, NULL},
    {"presentationml.slideshow.main+xml", "pptx", NULL, pptx_write, NULL},
    {"presentationml.template.main+xml", "pptx", NULL, pptx_write, NULL},
    {"ms-powerpoint.presentation.macroEnabled.main+xml", "pptx", NULL, pptx_write, NULL},
    {"spreadsheetml.sheet.main+xml", "xlsx", NULL, xlsx_write, NULL},
    {"spreadsheetml.template.main+xml", "xlsx", NULL, xlsx_write, NULL},
    {"ms-excel.sheet.macroEnabled.main+xml", "xlsx", NULL, xlsx_write, NULL},
    {"ms-excel.sheet.binary.macroEnabled.main", NULL, NULL, NULL, "a binary Excel workbook"},
};

/* Archives that are something else, by a member that they all have. */
static const struct {
    const char *member, *name;
} BY_MEMBER[] = {
    {"AndroidManifest.xml", "an Android application"}, {"META-INF/MANIFEST.MF", "a Java archive"},
    {"FixedDocSeq.fdseq", "an XPS document"},          {"doc.kml", "a KMZ map"},
    {"Index/Document.iwa", "an iWork document"},
};

#define COUNT(table) (sizeof(table) / sizeof *(table))

static const struct document_format *find_format(const struct document_format *rows, size_t count,
                                                 const char *type)
{
    for (size_t i = 0; i < count; i++) {
        if (strstr(type, rows[i].type)) {
            return &rows[i];
        }
    }
    return NULL;
}

/* OK with the row, or with NULL where no such member tells. */
static int find_by_type(struct package *package, const struct document_format **format)
{
    struct slice text;
    int status = package_part(package, "mimetype", &text);
    if (status == OK && text.length < LONGEST_TYPE) {
        const char *type = slice_copy(package->arena, text);
        *format = type ? find_format(BY_TYPE, COUNT(BY_TYPE), type) : NULL;
        return type ? OK : ERR_NOMEM;
    }
    return status == ERR_NOTFOUND ? OK : status;
}

static int find_by_part(struct package *package, const struct document_format **format,
                        const char **part)
{
    struct xml_reader xml;
    int status = package_xml(package, "[Content_Types].xml", &xml);
    if (status != OK) {
        return status == ERR_NOTFOUND ? OK : status;
    }
    for (enum xml_event event; (event = xml_next(&xml)) != XML_DONE && event != XML_BROKEN;) {
        if (event != XML_START || !slice_is(xml_local(&xml), "Override")) {
            continue;
        }
        const char *type = package_attribute(package, &xml, "ContentType");
        const char *name = package_attribute(package, &xml, "PartName");
        *format = type && name ? find_format(BY_PART, COUNT(BY_PART), type) : NULL;
        if (*format) {
            *part = package_resolve(package, "", name);
            return *part ? OK : ERR_NOMEM;
        }
    }
    return arena_failed(package->arena) ? ERR_NOMEM : OK;
}

static const char *name_of(const struct package *package, const struct document_format *format)
{
    for (size_t i = 0; !format && i < COUNT(BY_MEMBER); i++) {
        struct slice member = {BY_MEMBER[i].member, strlen(BY_MEMBER[i].member)};
        if (zip_find(&package->zip, member)) {
            return BY_MEMBER[i].name;
        }
    }
    return format ? format->name : "a ZIP archive";
}

/* ---- the document ---- */

/* What lives in the reading's arena, for the caller's. */
static int keep_facts(struct arena *arena, struct document *document)
{
    const char **const facts[] = {&document->title,    &document->authors,  &document->published,
                                  &document->modified, &document->language, &document->description};
    for (size_t i = 0; i < COUNT(facts); i++) {
        *facts[i] = *facts[i] ? arena_strdup(arena, *facts[i]) : NULL;
    }
    return arena_failed(arena) ? ERR_NOMEM : OK;
}

/* The text below its title, unless it begins with a heading that stands above all others. */
static int put_together(struct arena *arena, const struct buf *text, struct document *document)
{
    struct buf out;
    buf_init(&out, LIMIT_DOCUMENT_BYTES);
    if (document->title && strncmp(text->data, "# ", 2) != 0) {
        compose_heading(&out, "#", document->title);
    }
    buf_append(&out, text->data, text->length);
    return compose_done(arena, &out, document);
}

static int write_format(struct package *package, const struct document_format *format,
                        const char *part, struct arena *arena, struct document *document)
{
    struct buf text;
    buf_init(&text, LIMIT_DOCUMENT_BYTES);
    document->kind = document->loader = format->kind;
    int status = format->write(package, part, document, &text);
    if (status == ERR_NOTFOUND) {
        package->why = "The document is damaged: its main part is missing";
        status = ERR_FAILED;
    }
    if (status == OK && text.length == 0) {
        package->why = package->cut ? "The document is damaged: its text cannot be read"
                                    : "There is no text in the document";
        status = ERR_FAILED;
    }
    document->cut = document->cut || package->cut;
    status = status == OK ? put_together(arena, &text, document) : status;
    buf_done(&text);
    return status == OK ? keep_facts(arena, document) : status;
}

static int read_package(struct package *package, const char *bytes, size_t length,
                        struct arena *arena, struct document *document)
{
    const struct document_format *format = NULL;
    const char *part = NULL;
    int status = zip_open(package->arena, bytes, length, &package->zip, &package->why);
    status = status == OK ? find_by_type(package, &format) : status;
    if (status == OK && format) {
        part = format->part;
    } else if (status == OK) {
        status = find_by_part(package, &format, &part);
    }
    if (status != OK) {
        return status;
    }
    if (!format || !format->write) {
        package->why = name_of(package, format);
        return ERR_NOTFOUND;
    }
    return write_format(package, format, part, arena, document);
}

/* Office puts what has a password into its old container, in a stream of this name. */
static bool is_encrypted(const char *bytes, size_t length)
{
    static const char NAME[] = "E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e";
    return length >= 8 && memcmp(bytes, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 8) == 0 &&
           memmem(bytes, length, NAME, sizeof NAME - 1);
}

int documents_read(struct arena *arena, const char *bytes, size_t length, struct document *document,
                   const char **why)
{
    if (is_encrypted(bytes, length)) {
        *why = "The document is protected by a password";
        return ERR_FAILED;
    }
    if (length < 4 || (memcmp(bytes, "PK\3\4", 4) != 0 && memcmp(bytes, "PK\5\6", 4) != 0)) {
        return ERR_NOTFOUND;
    }
    struct package package = {.arena = arena_new(LIMIT_DOCUMENT_SCRATCH_BYTES)};
    struct document read = *document;
    int status = package.arena ? read_package(&package, bytes, length, arena, &read) : ERR_NOMEM;
    status = package.no_memory ? ERR_NOMEM : status;
    if (status == ERR_NOMEM && package.arena && !arena_failed(arena)) {
        package.why = "The document takes more memory than it may";
        status = ERR_FAILED;
    }
    if (status == OK) {
        *document = read;
    }
    *why = package.why;
    arena_free(package.arena);
    return status;
}
