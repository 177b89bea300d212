/* What a body is, by what the server says and by how it begins: servers are often wrong about it,
 * and some say nothing. Pure. */
#ifndef FORAGE_HTML_SNIFF_H
#define FORAGE_HTML_SNIFF_H

#include <stddef.h>

enum content_kind {
    CONTENT_EMPTY,
    CONTENT_HTML,
    CONTENT_MARKDOWN,
    CONTENT_TEXT, /* also source code, CSV and whatever else a person can read as it is */
    CONTENT_JSON,
    CONTENT_FEED, /* RSS and Atom */
    CONTENT_SITEMAP,
    CONTENT_SVG,
    CONTENT_XML,
    CONTENT_PDF,
    CONTENT_IMAGE,
    CONTENT_AUDIO,
    CONTENT_VIDEO,
    CONTENT_ARCHIVE,
    CONTENT_BINARY, /* nothing that can be read */
};

/* `content_type` may be NULL. Bytes that cannot be mistaken win over the header; the header wins
 * over what is only likely. */
enum content_kind sniff_content(const char *content_type, const char *body, size_t length);

/* What a body that nobody reads is, for a note: "a ZIP archive". */
const char *sniff_name(const char *content_type, const char *body, size_t length);

#endif
