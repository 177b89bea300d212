/* Reads all of /proc and picks those whose line of parents leads to this process. A descendant
 * whose parent ends becomes a child of the nearest subreaper, which the warden is, so that none of
 * them gets out of the line. */
#include "proc/family.h"

#include "core/limits.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_SIZE   64
#define STAT_SIZE   512
#define STATUS_SIZE 4096
#define FIRST_ROOM  256

struct relative {
    pid_t pid;
    pid_t parent;
    bool ours;
};

struct family {
    struct relative *all;
    size_t count;
    size_t room;
};

/* The beginning of a file of /proc; empty when the process has gone. */
static void read_text(const char *name, pid_t pid, char *text, size_t size)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, size - 1) : -1;
    text[got > 0 ? got : 0] = '\0';
    if (fd >= 0) {
        close(fd);
    }
}

/* Notes a process that is alive. Its name in the file may hold anything, so what follows is looked
 * for behind the last bracket. */
static void add(struct family *family, pid_t pid)
{
    char text[STAT_SIZE];
    char state;
    int parent;
    read_text("stat", pid, text, sizeof text);
    const char *name_end = strrchr(text, ')');
    if (!name_end || sscanf(name_end, ") %c %d", &state, &parent) != 2 || state == 'Z' ||
        state == 'X') {
        return;
    }
    if (family->count == family->room) {
        size_t room = family->room ? family->room * 2 : FIRST_ROOM;
        struct relative *more =
            room > LIMIT_PROCESSES_SEEN ? NULL : realloc(family->all, room * sizeof *more);
        if (!more) {
            return;
        }
        family->all = more;
        family->room = room;
    }
    family->all[family->count++] =
        (struct relative){.pid = pid, .parent = parent, .ours = parent == getpid()};
}

static bool has_parent_of_ours(const struct family *family, const struct relative *relative)
{
    for (size_t i = 0; i < family->count; i++) {
        if (family->all[i].pid == relative->parent) {
            return family->all[i].ours;
        }
    }
    return false;
}

/* Marks children, then their children, until a round finds nobody new. */
static void mark(struct family *family)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < family->count; i++) {
            struct relative *relative = &family->all[i];
            if (!relative->ours && has_parent_of_ours(family, relative)) {
                relative->ours = true;
                changed = true;
            }
        }
    }
}

static struct family look(void)
{
    struct family family = {.all = NULL};
    DIR *processes = opendir("/proc");
    if (!processes) {
        return family;
    }
    for (struct dirent *entry = readdir(processes); entry; entry = readdir(processes)) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (pid > 0) {
            add(&family, pid);
        }
    }
    closedir(processes);
    mark(&family);
    return family;
}

void family_signal(int number)
{
    struct family family = look();
    for (size_t i = 0; i < family.count; i++) {
        if (family.all[i].ours) {
            kill(family.all[i].pid, number);
        }
    }
    free(family.all);
}

/* A value of /proc/PID/status, in bytes. */
static size_t value_of(const char *status, const char *name)
{
    const char *line = strstr(status, name);
    return line ? (size_t)strtoul(line + strlen(name), NULL, 10) * 1024 : 0;
}

size_t family_memory(pid_t *largest)
{
    struct family family = look();
    char status[STATUS_SIZE];
    size_t sum = 0;
    size_t most = 0;
    *largest = 0;
    for (size_t i = 0; i < family.count; i++) {
        if (!family.all[i].ours) {
            continue;
        }
        read_text("status", family.all[i].pid, status, sizeof status);
        size_t held = value_of(status, "\nRssAnon:") + value_of(status, "\nRssShmem:") +
                      value_of(status, "\nVmSwap:");
        sum += held;
        if (held > most) {
            most = held;
            *largest = family.all[i].pid;
        }
    }
    free(family.all);
    return sum;
}
