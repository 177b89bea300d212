/* Where forage keeps what must outlive it: one folder of the user's, for every store. */
#ifndef FORAGE_CONFIG_PLACES_H
#define FORAGE_CONFIG_PLACES_H

#include <stddef.h>

/* The data folder (FORAGE_DATA_DIR; without it $XDG_DATA_HOME/forage or ~/.local/share/forage),
 * made where it is missing, for its owner only. The folder that it is made in (the home, what a
 * variable names, or the parent of FORAGE_DATA_DIR) must be there. To be freed; NULL with the
 * reason in `problem`. */
char *places_data(char *problem, size_t size);

#endif
