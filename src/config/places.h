/* Where forage keeps what must outlive it: one folder of the user's, for every store. */
#ifndef FORAGE_CONFIG_PLACES_H
#define FORAGE_CONFIG_PLACES_H

#include <stdbool.h>
#include <stddef.h>

/* Where one program keeps its data, as the configuration said when the program was made: two
 * programs in one process have two. */
struct places;

/* NULL without memory. Nothing is made on the disk yet. */
struct places *places_new(void);
struct places *places_free(struct places *places);

/* The data folder (FORAGE_DATA_DIR; without it $XDG_DATA_HOME/forage or ~/.local/share/forage),
 * made where it is missing, for its owner only. The folder that it is made in (the home, what a
 * variable names, or the parent of FORAGE_DATA_DIR) must be there. To be freed; NULL with the
 * reason in `problem`. */
char *places_data(const struct places *places, char *problem, size_t size);
/* Where it is or would be, and how many of its last parts would be made where they are missing. To
 * be freed; NULL when there is no home folder, or no memory. */
char *places_data_name(int *made);

/* Where a store is: a PostgreSQL server (FORAGE_DATABASE_URL), or the file of that name in the data
 * folder, which is made unless the caller only wants to look. True with one of the two: `url`, or
 * `path`, which is to be freed. False with the reason in `problem`. */
bool places_database(const struct places *places, const char *file, bool make, const char **url,
                     char **path, char *problem, size_t size);

/* The files in it. */
#define PLACES_RECORDS  "records.sqlite"
#define PLACES_MEMORIES "memory.db"

#endif
