/* Tables of media types and of first bytes, and the order in which they are believed. */
#include "page/sniff.h"

#include "page/html/detect.h"

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
} SIGNATURES[] = {
    {CONTENT_PDF, 0, 5, "%PDF-"},
    {CONTENT_IMAGE, 0, 8, "\x89PNG\r\n\x1a\n"},
    {CONTENT_IMAGE, 0, 3, "\xff\xd8\xff"},
    {CONTENT_IMAGE, 0, 6, "GIF87a"},
    {CONTENT_IMAGE, 0, 6, "GIF89a"},
    {CONTENT_IMAGE, 8, 4, "WEBP"},
    {CONTENT_IMAGE, 4, 8, "ftypavif"},
    {CONTENT_IMAGE, 0, 4, "\0\0\x01\0"},
    {CONTENT_AUDIO, 0, 4, "fLaC"},
    {CONTENT_AUDIO, 0, 3, "ID3"},
    {CONTENT_AUDIO, 0, 4, "OggS"},
    {CONTENT_AUDIO, 8, 4, "WAVE"},
    {CONTENT_VIDEO, 4, 4, "ftyp"},
    {CONTENT_VIDEO, 0, 4, "\x1a\x45\xdf\xa3"},
    {CONTENT_VIDEO, 8, 4, "AVI "},
    {CONTENT_ARCHIVE, 0, 4, "PK\x03\x04"},
    {CONTENT_ARCHIVE, 0, 3, "\x1f\x8b\x08"},
    {CONTENT_ARCHIVE, 0, 6, "7z\xbc\xaf\x27\x1c"},
    {CONTENT_ARCHIVE, 0, 6,
     "\xfd"
     "7zXZ\0"},
    {CONTENT_ARCHIVE, 0, 3, "BZh"},
    {CONTENT_ARCHIVE, 0, 4, "\x28\xb5\x2f\xfd"},
    {CONTENT_BINARY, 0, 4,
     "\x7f"
     "ELF"},
    {CONTENT_BINARY, 0, 4, "wOFF"},
    {CONTENT_BINARY, 0, 4, "wOF2"},
    {CONTENT_BINARY, 0, 4, "\0asm"},
};

/* ---- what a text begins with, after blanks ---- */

static const struct opening {
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
    {"image/svg+xml", CONTENT_IMAGE},
    {"image/", CONTENT_IMAGE},
    {"audio/", CONTENT_AUDIO},
    {"video/", CONTENT_VIDEO},
    {"font/", CONTENT_BINARY},
    {"text/", CONTENT_TEXT},
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

static bool by_signature(const char *body, size_t length, enum content_kind *kind)
{
    for (size_t i = 0; i < COUNT(SIGNATURES); i++) {
        const struct signature *row = &SIGNATURES[i];
        if (length >= row->offset + row->length &&
            memcmp(body + row->offset, row->bytes, row->length) == 0) {
            *kind = row->kind;
            return true;
        }
    }
    return false;
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

static bool by_header(const char *content_type, enum content_kind *kind)
{
    if (!content_type) {
        return false;
    }
    while (is_blank(*content_type)) {
        content_type++;
    }
    size_t length = strcspn(content_type, "; \t,");
    for (size_t i = 0; i < COUNT(MEDIA); i++) {
        size_t wanted = strlen(MEDIA[i].type);
        bool family = MEDIA[i].type[wanted - 1] == '/';
        if ((family ? length > wanted : length == wanted) &&
            strncasecmp(content_type, MEDIA[i].type, wanted) == 0) {
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
    if (by_signature(body, looked_at, &kind)) {
        return kind;
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
    /* Media is believed; text that is none is not. */
    if (kind <= CONTENT_XML && !text) {
        return CONTENT_BINARY;
    }
    /* Feeds are often called XML, and pages and feeds plain text. */
    bool vague = kind == CONTENT_XML ||
                 (kind == CONTENT_TEXT && strncasecmp(content_type, "text/plain", 10) == 0);
    return vague && (likely == CONTENT_HTML || likely == CONTENT_FEED) ? likely : kind;
}
