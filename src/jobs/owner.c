/* Names of processes, from what the system knows of them. */
#include "jobs/owner.h"

#include "core/id.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BOOT_CHARS      36
#define FIELDS_TO_START 19 /* of /proc/PID/stat, behind its state */

/* Reads a small file of the system; "" when it cannot be read. */
static void read_small(const char *path, char *text, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? 0 : read(file, text, size - 1);
    text[got > 0 ? got : 0] = '\0';
    if (file >= 0) {
        close(file);
    }
}

static void read_boot(char boot[BOOT_CHARS + 1])
{
    read_small("/proc/sys/kernel/random/boot_id", boot, BOOT_CHARS + 1);
    boot[strcspn(boot, "\n")] = '\0';
}

/* The processes that a number means one of. */
static uint64_t read_namespace(void)
{
    struct stat found;
    return stat("/proc/self/ns/pid", &found) == 0 ? (uint64_t)found.st_ino : 0;
}

/* When a process started; 0: there is none, or it is only waited for by its parent. */
static uint64_t read_start(long pid)
{
    char path[64];
    char text[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    read_small(path, text, sizeof text);
    const char *at = strrchr(text, ')'); /* its name may hold anything */
    if (!at || strlen(at) < 4 || at[2] == 'Z' || at[2] == 'X') {
        return 0;
    }
    at += 2;
    for (int i = 0; at && i < FIELDS_TO_START; i++) {
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    return at ? strtoull(at, NULL, 10) : 0;
}

int owner_make(char out[OWNER_SIZE])
{
    char boot[BOOT_CHARS + 1];
    char random[ID_SIZE];
    long pid = (long)getpid();
    read_boot(boot);
    id_make(random);
    int length = snprintf(out, OWNER_SIZE, "%s %" PRIu64 " %ld %" PRIu64 " %s", boot,
                          read_namespace(), pid, read_start(pid), random);
    return length > 0 && length < OWNER_SIZE ? OK : ERR_IO;
}

bool owner_is_gone(const char *owner, bool on_file)
{
    char boot[BOOT_CHARS + 1];
    size_t length = strcspn(owner, " ");
    char *at;
    read_boot(boot);
    if (!*boot || owner[length] != ' ') {
        return false;
    }
    if (strlen(boot) != length || strncmp(boot, owner, length) != 0) {
        return on_file; /* the machine was started anew, or it is another one */
    }
    uint64_t namespace = strtoull(owner + length + 1, &at, 10);
    long pid = strtol(at, &at, 10);
    uint64_t start = strtoull(at, &at, 10);
    return namespace && namespace == read_namespace() && start && read_start(pid) != start;
}

int64_t owner_clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
