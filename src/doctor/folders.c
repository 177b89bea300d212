/* Checks of folders. */
#include "doctor/folders.h"

#include "config/config.h"
#include "config/places.h"
#include "page/source/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define LITTLE_ROOM_MB 64

/* Whether a file can be made in it: permissions do not tell of file systems that are read-only. */
static bool can_write(const char *folder)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/.doctor-XXXXXX", folder) >= (int)sizeof path) {
        return false;
    }
    int fd = mkstemp(path);
    if (fd >= 0) {
        unlink(path);
        close(fd);
    }
    return fd >= 0;
}

static void cannot(struct look *look, const struct folder *folder, const char *why)
{
    say(look, FINDING_BROKEN, "%s %s", folder->path, why);
    mend(look, "export %s=/a/folder/that/can/be/written/to", folder->variable);
}

/* The folder is not there: one above it must be, and let it be made. */
static void look_at_absent(struct look *look, const struct folder *folder)
{
    char above[4096];
    struct stat about;
    snprintf(above, sizeof above, "%s", folder->path);
    for (int i = 0; i < folder->made; i++) {
        char *slash = strrchr(above, '/');
        if (!slash) {
            break;
        }
        slash[slash == above] = '\0';
        if (stat(above, &about) == 0) {
            break;
        }
    }
    if (stat(above, &about) != 0 || !S_ISDIR(about.st_mode) || access(above, W_OK | X_OK) != 0) {
        cannot(look, folder, "is not there and cannot be made");
    } else {
        say(look, FINDING_OK, "%s, made at first use", folder->path);
    }
}

void folders_look(struct look *look, const struct folder *folder)
{
    const char *path = folder->path;
    struct stat about;
    struct statvfs room;
    if (stat(path, &about) != 0 && errno == ENOENT) {
        look_at_absent(look, folder);
        return;
    }
    if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode)) {
        cannot(look, folder, "is no folder");
        return;
    }
    if (!can_write(path)) {
        cannot(look, folder, "cannot be written to");
        return;
    }
    say(look, FINDING_OK, "%s", path);
    if (folder->private && (about.st_mode & 077)) {
        say(look, FINDING_WARNING, "%s is open to others (mode %04o)", path,
            (unsigned)about.st_mode & 07777);
        mend(look, "chmod 700 %s", path);
    }
    unsigned long long free_mb = statvfs(path, &room) == 0
                                     ? (unsigned long long)room.f_bavail * room.f_frsize >> 20
                                     : LITTLE_ROOM_MB;
    if (free_mb < LITTLE_ROOM_MB) {
        say(look, FINDING_WARNING, "%s has only %llu MB left", path, free_mb);
        mend(look, "df -h %s", path);
    }
}

void look_at_data(struct look *look)
{
    const char *url = config_text("FORAGE_DATABASE_URL");
    if (url && *url) {
        say(look, FINDING_UNUSED, "everything is kept in the database of FORAGE_DATABASE_URL");
        return;
    }
    int made = 0;
    char *path = places_data_name(&made);
    if (path) {
        folders_look(look, &(struct folder){path, made, "FORAGE_DATA_DIR", true});
    } else {
        say(look, FINDING_BROKEN, "there is no home folder");
        mend(look, "export FORAGE_DATA_DIR=/var/lib/forage");
    }
    free(path);
}

void look_at_cache(struct look *look)
{
    if (config_duration_ms("FORAGE_CACHE_TTL") == 0) {
        say(look, FINDING_UNUSED, "FORAGE_CACHE_TTL is 0: pages are not kept");
        return;
    }
    char *path = source_cache_folder();
    if (path) {
        folders_look(look, &(struct folder){path, 2, "FORAGE_CACHE_DIR", true});
    } else {
        say(look, FINDING_MISSING, "there is no home folder: pages are not kept");
        mend(look, "export FORAGE_CACHE_DIR=/var/cache/forage");
    }
    free(path);
}
