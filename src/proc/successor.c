/* Starts this program once more, or another one, on its own. */
#include "proc/successor.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

static size_t count_of(char *const *list)
{
    size_t count = 0;
    while (list && list[count]) {
        count++;
    }
    return count;
}

/* Both lists in one, to be freed; the first of two values counts. */
static char **join(char *const *settings, char *const *environment)
{
    size_t more = count_of(settings), all = count_of(environment);
    char **joined = calloc(more + all + 1, sizeof *joined);
    for (size_t i = 0; joined && i < more + all; i++) {
        joined[i] = i < more ? settings[i] : environment[i - more];
    }
    return joined;
}

static int describe(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int error = 0;
    for (int fd = STDIN_FILENO; !error && fd <= STDERR_FILENO; fd++) {
        error = posix_spawn_file_actions_addopen(actions, fd, "/dev/null",
                                                 fd == STDIN_FILENO ? O_RDONLY : O_WRONLY, 0);
    }
    error = error ? error : posix_spawnattr_setsigmask(attributes, &none);
    error = error ? error : posix_spawnattr_setsigdefault(attributes, &all);
    return error
               ? error
               : posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
                                                          POSIX_SPAWN_SETSIGDEF);
}

int successor_start(const char *program, const char *const *arguments, char *const *settings)
{
    pid_t pid;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    char **environment = join(settings, environ);
    if (!environment || posix_spawn_file_actions_init(&actions) != 0) {
        free(environment);
        return ERR_IO;
    }
    int error = posix_spawnattr_init(&attributes);
    if (!error) {
        error = describe(&actions, &attributes);
        /* posix_spawn() changes nothing of what it is given. */
        char *const *vector = (char *const *)(uintptr_t)arguments;
        const char *path = program ? program : "/proc/self/exe";
        error =
            error ? error : posix_spawnp(&pid, path, &actions, &attributes, vector, environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    free(environment);
    return error ? ERR_IO : OK;
}
