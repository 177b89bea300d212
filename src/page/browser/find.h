/* Which browser there is. */
#ifndef FORAGE_PAGE_BROWSER_FIND_H
#define FORAGE_PAGE_BROWSER_FIND_H

#include <stddef.h>

#define FIND_PATH_SIZE 1024

/* The program to start: what KINDLY_BROWSER_EXECUTABLE_PATH or CHROME_BIN name, else the first one
 * on PATH. OK, or ERR_NOTFOUND with what is wrong and what to do in `problem`. */
int find_browser(char path[FIND_PATH_SIZE], char *problem, size_t size);

#endif
