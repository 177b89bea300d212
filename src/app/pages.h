/* The pages that clients of MCP show (mcp/apps.c), each one document, as scripts/app.py made and
 * packed them (text/packed.h). */
#ifndef FORAGE_APP_PAGES_H
#define FORAGE_APP_PAGES_H

#include <stddef.h>

extern const unsigned char PAGE_MEMORIES[];
extern const size_t PAGE_MEMORIES_SIZE;

#endif
