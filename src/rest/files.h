/* The files of the dashboard, of the folder web/, as scripts/web.py made them. */
#ifndef FORAGE_REST_FILES_H
#define FORAGE_REST_FILES_H

#include <stddef.h>

struct web_file {
    const char *name; /* "app.js" */
    const char *type;
    const char *tag; /* an ETag, with its quotes */
    const unsigned char *packed;
    size_t packed_size; /* of gzip's format */
    size_t size;
};

extern const struct web_file WEB_FILES[];
extern const size_t WEB_FILE_COUNT;

#endif
