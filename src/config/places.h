/* Where forage keeps what must outlive it: one folder of the user's, for every store. */
#ifndef FORAGE_CONFIG_PLACES_H
#define FORAGE_CONFIG_PLACES_H

#include <stddef.h>

/* The data folder (FORAGE_DATA_DIR; without it $XDG_DATA_HOME/forage or ~/.local/share/forage),
 * made where it is missing, for its owner only. The folder that it is made in (the home, what a
 * variable names, or the parent of FORAGE_DATA_DIR) must be there. To be freed; NULL with the
 * reason in `problem`. */
char *places_data(char *problem, size_t size);
/* Where it is or would be, and how many of its last parts would be made where they are missing. To
 * be freed; NULL when there is no home folder, or no memory. */
char *places_data_name(int *made);

/* The files in it. */
#define PLACES_RECORDS  "records.sqlite"
#define PLACES_MEMORIES "memory.db"

#endif
