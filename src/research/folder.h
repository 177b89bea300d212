/* The configuration folder of the worker: where it runs, with the settings that make it the worker
 * that it is. Made on first run, never changed afterwards: it is the user's to edit. No secret is
 * in it: keys are referred to by the name of their variable. */
#ifndef FORAGE_RESEARCH_FOLDER_H
#define FORAGE_RESEARCH_FOLDER_H

#include <stddef.h>

#define FOLDER_PATH_SIZE 4096

/* Where it is: FORAGE_RESEARCH_DIR, or the platform's place for configuration. A status, with
 * words in `problem`. */
int folder_find(char path[FOLDER_PATH_SIZE], char *problem, size_t size);
/* Makes what is missing of it for this worker ("gemini"). The same. */
int folder_make(const char *path, const char *worker, char *problem, size_t size);

#endif
