/* Tables of media types and of first bytes, and the order in which they are believed. */
#include "html/sniff.h"

#include "html/detect.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define LOOKED_AT 1024 /* bytes at the beginning of a body */

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* ---- bytes that nothing else begins with ---- */

static const struct signature {
    enum content_kind kind;
    size_t offset;
    size_t length;
    const char *bytes;
    const char *name; /* for a note; NULL: it is read */
} SIGNATURES[] = {
    {CONTENT_PDF, 0, 5, "%PDF-", NULL},
    {CONTENT_IMAGE, 0, 8, "\x89PNG\r\n\x1a\n", "a PNG picture"},
    {CONTENT_IMAGE, 0, 3, "\xff\xd8\xff", "a JPEG picture"},
    {CONTENT_IMAGE, 0, 6, "GIF87a", "a GIF picture"},
    {CONTENT_IMAGE, 0, 6, "GIF89a", "a GIF picture"},
    {CONTENT_IMAGE, 8, 4, "WEBP", "a WebP picture"},
    {CONTENT_IMAGE, 4, 8, "ftypavif", "an AVIF picture"},
    {CONTENT_IMAGE, 4, 8, "ftypheic", "a HEIC picture"},
    {CONTENT_IMAGE, 0, 4, "\0\0\x01\0", "an icon"},
    {CONTENT_IMAGE, 0, 4, "II*\0", "a TIFF picture"},
    {CONTENT_IMAGE, 0, 4, "MM\0*", "a TIFF picture"},
    {CONTENT_IMAGE, 0, 8, "AT&TFORM", "a DjVu document"},
    {CONTENT_AUDIO, 0, 4, "fLaC", "a FLAC audio file"},
    {CONTENT_AUDIO, 0, 3, "ID3", "an MP3 audio file"},
    {CONTENT_AUDIO, 0, 4, "OggS", "an Ogg audio or video file"},
    {CONTENT_AUDIO, 8, 4, "WAVE", "a WAV audio file"},
    {CONTENT_AUDIO, 4, 7, "ftypM4A", "an MP4 audio file"},
    {CONTENT_VIDEO, 4, 4, "ftyp", "an MP4 video"},
    {CONTENT_VIDEO, 0, 4, "\x1a\x45\xdf\xa3", "a Matroska or WebM video"},
    {CONTENT_VIDEO, 8, 4, "AVI ", "an AVI video"},
    {CONTENT_ARCHIVE, 0, 4, "PK\x03\x04", "a ZIP archive"},
    {CONTENT_ARCHIVE, 0, 4, "PK\x05\x06", "an empty ZIP archive"},
    {CONTENT_ARCHIVE, 0, 3, "\x1f\x8b\x08", "a gzip archive"},
    {CONTENT_ARCHIVE, 0, 6, "7z\xbc\xaf\x27\x1c", "a 7z archive"},
    {CONTENT_ARCHIVE, 0, 6,
     "\xfd"
     "7zXZ\0",
     "an xz archive"},
    {CONTENT_ARCHIVE, 0, 3, "BZh", "a bzip2 archive"},
    {CONTENT_ARCHIVE, 0, 4, "\x28\xb5\x2f\xfd", "a Zstandard archive"},
    {CONTENT_ARCHIVE, 0, 6, "Rar!\x1a\x07", "a RAR archive"},
    {CONTENT_ARCHIVE, 257, 5, "ustar", "a tar archive"},
    {CONTENT_BINARY, 0, 8, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
     "an old Office document (DOC, XLS or PPT)"},
    {CONTENT_BINARY, 60, 8, "BOOKMOBI", "a Kindle book"},
    {CONTENT_BINARY, 0, 16, "SQLite format 3", "an SQLite database"},
    {CONTENT_BINARY, 0, 4,
     "\x7f"
     "ELF",
     "a program"},
    {CONTENT_BINARY, 0, 4, "wOFF", "a font"},
    {CONTENT_BINARY, 0, 4, "wOF2", "a font"},
    {CONTENT_BINARY, 0, 5, "\0\1\0\0\0", "a font"},
    {CONTENT_BINARY, 0, 4, "\0asm", "a WebAssembly program"},
};

/* ---- what a text begins with, after blanks ---- */

static const struct content_opening {
    enum content_kind kind;
    const char *words; /* in small letters */
} OPENINGS[] = {
    {CONTENT_HTML, "<!doctype html"},
    {CONTENT_HTML, "<html"},
    {CONTENT_HTML, "<head"},
    {CONTENT_HTML, "<body"},
    {CONTENT_HTML, "<title"},
    {CONTENT_HTML, "<script"},
    {CONTENT_HTML, "<div"},
    {CONTENT_HTML, "<meta"},
    {CONTENT_HTML, "<table"},
    {CONTENT_HTML, "<p>"},
    {CONTENT_HTML, "<h1"},
    {CONTENT_HTML, "<article"},
    {CONTENT_FEED, "<rss"},
    {CONTENT_FEED, "<feed"},
    {CONTENT_FEED, "<rdf:rdf"},
    {CONTENT_SITEMAP, "<urlset"},
    {CONTENT_SITEMAP, "<sitemapindex"},
    {CONTENT_SVG, "<svg"},
    {CONTENT_SVG, "<!doctype svg"},
};

/* ---- media types; the first row that fits counts ---- */

static const struct media {
    const char *type; /* one that ends with '/' stands for all that begin so */
    enum content_kind kind;
} MEDIA[] = {
    {"text/html", CONTENT_HTML},
    {"application/xhtml+xml", CONTENT_HTML},
    {"text/markdown", CONTENT_MARKDOWN},
    {"text/x-markdown", CONTENT_MARKDOWN},
    {"application/json", CONTENT_JSON},
    {"text/json", CONTENT_JSON},
    {"application/ndjson", CONTENT_TEXT},
    {"application/x-ndjson", CONTENT_TEXT},
    {"application/rss+xml", CONTENT_FEED},
    {"application/atom+xml", CONTENT_FEED},
    {"application/rdf+xml", CONTENT_FEED},
    {"application/xml", CONTENT_XML},
    {"text/xml", CONTENT_XML},
    {"application/pdf", CONTENT_PDF},
    {"application/x-pdf", CONTENT_PDF},
    {"application/javascript", CONTENT_TEXT},
    {"application/x-javascript", CONTENT_TEXT},
    {"application/x-sh", CONTENT_TEXT},
    {"application/x-yaml", CONTENT_TEXT},
    {"application/yaml", CONTENT_TEXT},
    {"application/toml", CONTENT_TEXT},
    {"application/sql", CONTENT_TEXT},
    {"application/x-tex", CONTENT_TEXT},
    {"application/zip", CONTENT_ARCHIVE},
    {"application/gzip", CONTENT_ARCHIVE},
    {"application/x-gzip", CONTENT_ARCHIVE},
    {"application/x-tar", CONTENT_ARCHIVE},
    {"application/x-bzip2", CONTENT_ARCHIVE},
    {"application/x-xz", CONTENT_ARCHIVE},
    {"application/zstd", CONTENT_ARCHIVE},
    {"image/svg+xml", CONTENT_SVG},
    {"image/", CONTENT_IMAGE},
    {"audio/", CONTENT_AUDIO},
    {"video/", CONTENT_VIDEO},
    {"font/", CONTENT_BINARY},
    {"text/", CONTENT_TEXT},
};

/* What they are called in a note, where the first bytes do not tell. */
static const struct {
    const char *type; /* as above */
    const char *name;
} NAMES[] = {
    {"application/msword", "an old Word document (DOC)"},
    {"application/vnd.ms-excel", "an old Excel workbook (XLS)"},
    {"application/vnd.ms-powerpoint", "an old PowerPoint presentation (PPT)"},
    {"application/vnd.openxmlformats-officedocument.wordprocessingml.document", "a DOCX document"},
    {"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "an XLSX workbook"},
    {"application/vnd.openxmlformats-officedocument.presentationml.presentation",
     "a PPTX presentation"},
    {"application/epub+zip", "an EPUB book"},
    {"application/zip", "a ZIP archive"},
    {"application/gzip", "a gzip archive"},
    {"application/x-gzip", "a gzip archive"},
    {"application/x-tar", "a tar archive"},
    {"application/x-bzip2", "a bzip2 archive"},
    {"application/x-xz", "an xz archive"},
    {"application/zstd", "a Zstandard archive"},
    {"application/vnd.rar", "a RAR archive"},
    {"application/x-7z-compressed", "a 7z archive"},
    {"application/java-archive", "a Java archive"},
    {"application/x-msdownload", "a Windows program"},
    {"application/x-iso9660-image", "a disk image"},
    {"image/", "a picture"},
    {"audio/", "an audio file"},
    {"video/", "a video"},
    {"font/", "a font"},
};

/* ---- looking ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static bool begins(const char *body, size_t length, const char *words)
{
    size_t wanted = strlen(words);
    return length >= wanted && strncasecmp(body, words, wanted) == 0;
}

static const struct signature *by_signature(const char *body, size_t length)
{
    for (size_t i = 0; i < COUNT(SIGNATURES); i++) {
        const struct signature *row = &SIGNATURES[i];
        if (length >= row->offset + row->length &&
            memcmp(body + row->offset, row->bytes, row->length) == 0) {
            return row;
        }
    }
    return NULL;
}

/* Text has no NUL and next to no control characters but those that switch between alphabets; UTF-16
 * is text with many NULs, behind its mark or by its form. */
static bool is_text(const char *body, size_t length)
{
    if (length >= 2 && (memcmp(body, "\xff\xfe", 2) == 0 || memcmp(body, "\xfe\xff", 2) == 0)) {
        return true;
    }
    size_t odd = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)body[i];
        if (c == 0) {
            return detect_wide(body, length) != NULL;
        }
        odd += c < ' ' && !is_blank((char)c) && !memchr("\b\x0e\x0f\x1b", c, 4);
    }
    return odd <= length / 64;
}

/* The declaration, comments and the style sheets that may stand before an XML root. */
static void skip_prologue(const char **at, const char *end)
{
    static const struct {
        const char *from, *to;
    } SKIPPED[] = {{"<!--", "-->"}, {"<?", "?>"}};
    bool skipped = true;
    while (skipped) {
        skipped = false;
        while (*at < end && is_blank(**at)) {
            (*at)++;
        }
        for (size_t i = 0; i < COUNT(SKIPPED); i++) {
            if (begins(*at, (size_t)(end - *at), SKIPPED[i].from)) {
                const char *close =
                    memmem(*at, (size_t)(end - *at), SKIPPED[i].to, strlen(SKIPPED[i].to));
                *at = close ? close + strlen(SKIPPED[i].to) : end;
                skipped = true;
            }
        }
    }
}

/* HTML, a feed or XML by how a text begins; CONTENT_TEXT for anything else. */
static enum content_kind by_opening(const char *body, size_t length)
{
    const char *at = body;
    const char *end = body + length;
    if (begins(at, length, "\xef\xbb\xbf")) {
        at += 3;
    }
    while (at < end && is_blank(*at)) {
        at++;
    }
    bool declared = begins(at, (size_t)(end - at), "<?xml");
    skip_prologue(&at, end);
    for (size_t i = 0; i < COUNT(OPENINGS); i++) {
        if (begins(at, (size_t)(end - at), OPENINGS[i].words)) {
            return OPENINGS[i].kind;
        }
    }
    return declared ? CONTENT_XML : CONTENT_TEXT;
}

/* ---- what the server says ---- */

/* The type itself, without its parameters. */
static const char *type_in(const char *content_type, size_t *length)
{
    while (is_blank(*content_type)) {
        content_type++;
    }
    *length = strcspn(content_type, "; \t,");
    return content_type;
}

static bool is_type(const char *type, size_t length, const char *row)
{
    size_t wanted = strlen(row);
    bool family = row[wanted - 1] == '/';
    return (family ? length > wanted : length == wanted) && strncasecmp(type, row, wanted) == 0;
}

static bool by_header(const char *content_type, enum content_kind *kind)
{
    size_t length;
    if (!content_type) {
        return false;
    }
    content_type = type_in(content_type, &length);
    for (size_t i = 0; i < COUNT(MEDIA); i++) {
        if (is_type(content_type, length, MEDIA[i].type)) {
            *kind = MEDIA[i].kind;
            return true;
        }
    }
    static const struct media SUFFIXES[] = {{"+json", CONTENT_JSON}, {"+xml", CONTENT_XML}};
    for (size_t i = 0; i < COUNT(SUFFIXES); i++) {
        size_t wanted = strlen(SUFFIXES[i].type);
        if (length > wanted &&
            strncasecmp(content_type + length - wanted, SUFFIXES[i].type, wanted) == 0) {
            *kind = SUFFIXES[i].kind;
            return true;
        }
    }
    return false;
}

/* ---- both ---- */

enum content_kind sniff_content(const char *content_type, const char *body, size_t length)
{
    enum content_kind kind;
    size_t looked_at = length < LOOKED_AT ? length : LOOKED_AT;
    if (length == 0) {
        return CONTENT_EMPTY;
    }
    const struct signature *signature = by_signature(body, looked_at);
    if (signature) {
        return signature->kind;
    }
    bool text = is_text(body, looked_at);
    enum content_kind likely = text ? by_opening(body, looked_at) : CONTENT_BINARY;
    if (!by_header(content_type, &kind)) {
        bool json = text && (*body == '{' || *body == '[');
        return json ? CONTENT_JSON : likely;
    }
    if (kind == CONTENT_PDF) {
        /* Its mark may stand a little behind the beginning; without it, it is something else. */
        return memmem(body, looked_at, "%PDF-", 5) ? CONTENT_PDF : likely;
    }
    /* Media is believed; text that is none is not, nor is an archive that is text. */
    if (kind == CONTENT_ARCHIVE && text) {
        return likely;
    }
    if (kind <= CONTENT_XML && !text) {
        return CONTENT_BINARY;
    }
    /* Feeds, maps and drawings are often called XML, and all of them and pages plain text. */
    bool vague = kind == CONTENT_XML ||
                 (kind == CONTENT_TEXT && strncasecmp(content_type, "text/plain", 10) == 0);
    bool told = likely == CONTENT_HTML || (likely >= CONTENT_FEED && likely < CONTENT_XML);
    return vague && told ? likely : kind;
}

const char *sniff_name(const char *content_type, const char *body, size_t length)
{
    const struct signature *signature = by_signature(body, length < LOOKED_AT ? length : LOOKED_AT);
    const char *type = content_type ? type_in(content_type, &length) : NULL;
    if (signature && signature->name) {
        return signature->name;
    }
    for (size_t i = 0; type && i < COUNT(NAMES); i++) {
        if (is_type(type, length, NAMES[i].type)) {
            return NAMES[i].name;
        }
    }
    return "binary data of an unknown type";
}
