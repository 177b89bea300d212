/* Runs a fuzz target over every file of its corpus, without the fuzzer: the inputs that were once
 * interesting stay tests of every build, with every compiler and sanitizer.
 *
 *   replay NAME CORPUS...        the target, and files or folders of files
 *
 * A target reports a failure by ending the process, so whoever comes to the last line has passed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct target {
    const char *name;
    int (*run)(const uint8_t *data, size_t size);
};

#define TARGET(name) int fuzz_##name(const uint8_t *data, size_t size);
#include "fuzz_list.h"
#undef TARGET
#define TARGET(name) {#name, fuzz_##name},
static const struct target TARGETS[] = {
#include "fuzz_list.h"
};

static int fail(const char *path)
{
    fprintf(stderr, "replay: %s: %s\n", path, strerror(errno));
    return -1;
}

/* The target gets a copy of exactly the input's size, so that a sanitizer sees the first byte
 * beyond. */
static int replay_descriptor(const struct target *target, int fd, size_t size)
{
    uint8_t *data = malloc(size > 0 ? size : 1);
    if (data == NULL) {
        return -1;
    }
    size_t length = 0;
    while (length < size) {
        ssize_t count = read(fd, data + length, size - length);
        if (count <= 0) {
            free(data);
            return -1;
        }
        length += (size_t)count;
    }
    target->run(data, size);
    free(data);
    return 0;
}

static int replay_file(const struct target *target, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return fail(path);
    }
    struct stat info;
    int result = fstat(fd, &info) == 0 ? replay_descriptor(target, fd, (size_t)info.st_size) : -1;
    close(fd);
    return result == 0 ? 0 : fail(path);
}

static int replay_folder(const struct target *target, const char *path, size_t *count)
{
    DIR *folder = opendir(path);
    if (folder == NULL) {
        return fail(path);
    }
    int result = 0;
    const struct dirent *entry;
    while (result == 0 && (entry = readdir(folder)) != NULL) {
        char name[PATH_MAX];
        if (entry->d_name[0] == '.') {
            continue;
        }
        int length = snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (length < 0 || (size_t)length >= sizeof name) {
            result = -1;
            break;
        }
        /* Printed before it runs: after a crash the last name is the culprit. */
        printf("%s\n", name);
        fflush(stdout);
        result = replay_file(target, name);
        (*count)++;
    }
    closedir(folder);
    return result;
}

static int replay(const struct target *target, const char *path, size_t *count)
{
    struct stat info;
    if (stat(path, &info) != 0) {
        return fail(path);
    }
    if (S_ISDIR(info.st_mode)) {
        return replay_folder(target, path, count);
    }
    (*count)++;
    return replay_file(target, path);
}

static const struct target *find_target(const char *name)
{
    for (size_t i = 0; i < sizeof TARGETS / sizeof *TARGETS; i++) {
        if (strcmp(TARGETS[i].name, name) == 0) {
            return &TARGETS[i];
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    const struct target *target = argc > 1 ? find_target(argv[1]) : NULL;
    if (target == NULL) {
        fprintf(stderr, "replay: name a target of fuzz/meson.build and its corpus\n");
        return EXIT_FAILURE;
    }
    size_t count = 0;
    for (int i = 2; i < argc; i++) {
        if (replay(target, argv[i], &count) != 0) {
            return EXIT_FAILURE;
        }
    }
    if (count == 0) {
        fprintf(stderr, "replay: no input: name a corpus that is not empty\n");
        return EXIT_FAILURE;
    }
    printf("%zu passed, 0 failed\n", count);
    return EXIT_SUCCESS;
}
