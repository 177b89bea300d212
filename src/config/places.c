/* Finds the data folder, and makes it where it is missing. */
#include "config/places.h"

#include "config/config.h"
#include "core/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Makes the folders of `path` that begin after its first `given` bytes. */
static int make_folders(char *path, size_t given)
{
    for (char *end = path + given; *end;) {
        end += 1 + strcspn(end + 1, "/");
        char kept = *end;
        *end = '\0';
        int made = mkdir(path, 0700);
        *end = kept;
        if (made != 0 && errno != EEXIST) {
            return -1;
        }
    }
    struct stat about;
    if (stat(path, &about) != 0) {
        return -1;
    }
    errno = ENOTDIR;
    return S_ISDIR(about.st_mode) ? 0 : -1;
}

/* The folder, and in `given` how much of it must be there already. */
static char *choose(size_t *given)
{
    const char *chosen = config_text("FORAGE_DATA_DIR");
    const char *data = getenv("XDG_DATA_HOME");
    const char *home = getenv("HOME");
    char *folder = NULL;
    int length = -1;
    if (chosen && *chosen) {
        length = asprintf(&folder, "%s", chosen);
        const char *slash = length > 0 ? strrchr(folder, '/') : NULL;
        *given = slash ? (size_t)(slash - folder) : 0;
    } else if (data && *data == '/') {
        length = asprintf(&folder, "%s/forage", data);
        *given = strlen(data);
    } else if (home && *home == '/') {
        length = asprintf(&folder, "%s/.local/share/forage", home);
        *given = strlen(home);
    }
    return length < 0 ? NULL : folder;
}

char *places_data_name(int *made)
{
    size_t given = 0;
    char *folder = choose(&given);
    *made = 0;
    for (const char *at = folder ? folder + given : ""; *at; at++) {
        *made += *at == '/';
    }
    return folder;
}

struct places {
    char *url;    /* of the database; NULL: files in the folder */
    char *folder; /* NULL: there is no home folder */
    size_t given; /* how much of it must be there already */
};

struct places *places_new(void)
{
    struct places *places = calloc(1, sizeof *places);
    const char *url = config_text("FORAGE_DATABASE_URL");
    if (places) {
        places->folder = choose(&places->given);
        places->url = url && *url ? strdup(url) : NULL;
    }
    return places && url && *url && !places->url ? places_free(places) : places;
}

struct places *places_free(struct places *places)
{
    if (places) {
        free(places->url);
        free(places->folder);
        free(places);
    }
    return NULL;
}

static char *data_folder(const struct places *places, bool make, char *problem, size_t size)
{
    char *folder = places->folder ? strdup(places->folder) : NULL;
    if (!folder) {
        snprintf(problem, size, "there is no home folder; set FORAGE_DATA_DIR");
        return NULL;
    }
    if (make && make_folders(folder, places->given) != 0) {
        snprintf(problem, size, "%s: %s; set FORAGE_DATA_DIR to a folder that can be written to",
                 folder, strerror(errno));
        free(folder);
        return NULL;
    }
    if (geteuid() != 0 && file_is_foreign(folder)) {
        snprintf(problem, size,
                 "%s belongs to another user, who could read and forge what is kept there; set "
                 "FORAGE_DATA_DIR to a folder of your own",
                 folder);
        free(folder);
        return NULL;
    }
    return folder;
}

char *places_data(const struct places *places, char *problem, size_t size)
{
    return data_folder(places, true, problem, size);
}

bool places_database(const struct places *places, const char *file, bool make, const char **url,
                     char **path, char *problem, size_t size)
{
    *url = places->url;
    *path = NULL;
    if (*url) {
        return true;
    }
    char *folder = data_folder(places, make, problem, size);
    if (folder && asprintf(path, "%s/%s", folder, file) < 0) {
        *path = NULL;
        snprintf(problem, size, "out of memory");
    }
    free(folder);
    return *path != NULL;
}
