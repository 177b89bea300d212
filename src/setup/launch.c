/* Which command a client is told. */
#include "setup/launch.h"

#include "core/files.h"
#include "core/limits.h"
#include "core/status.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define RUNNER_MOST_ARGUMENTS 2

/* Places that a package runner clears when it likes, and what brings the program back. The packages
 * start `forage mcp` when they get no arguments. */
static const struct {
    const char *part; /* of the program's path */
    const char *runner;
    const char *arguments[RUNNER_MOST_ARGUMENTS];
} CACHES[] = {
    {"/_npx/", "npx", {"-y", "forage-mcp"}},
    {"/uv/archive-v", "uvx", {"forage-mcp"}},
    {"/uv/environments-v", "uvx", {"forage-mcp"}},
    {"/uv/builds-v", "uvx", {"forage-mcp"}},
};

/* Whether `found` starts this program: it is the same file, or the launcher that a package has put
 * beside it (PREFIX/bin/forage for what is below PREFIX/lib). */
static bool is_own(const char *found, const char *own)
{
    struct stat one;
    struct stat other;
    if (stat(found, &one) != 0 || stat(own, &other) != 0) {
        return false;
    }
    if (one.st_dev == other.st_dev && one.st_ino == other.st_ino) {
        return true;
    }
    const char *bin = strstr(found, "/bin/");
    size_t prefix = bin ? (size_t)(bin - found) : 0;
    return bin && !strchr(bin + strlen("/bin/"), '/') && strncmp(found, own, prefix) == 0 &&
           strncmp(own + prefix, "/lib/", strlen("/lib/")) == 0;
}

void launch_serve(struct launch *launch, const char *context)
{
    launch->arguments[launch->count++] = "mcp";
    if (context) {
        launch->arguments[launch->count++] = "--context";
        launch->arguments[launch->count++] = context;
    }
}

int launch_choose(struct arena *arena, const char *given, bool absolute, const char *context,
                  struct launch *launch)
{
    char own[PATH_MAX];
    char found[PATH_MAX];
    *launch = (struct launch){.command = given};
    if (given) {
        launch_serve(launch, context);
        return OK;
    }
    if (!own_program(own, sizeof own)) {
        return ERR_IO;
    }
    for (size_t i = 0; i < sizeof CACHES / sizeof *CACHES; i++) {
        const char *runner = CACHES[i].runner;
        if (strstr(own, CACHES[i].part)) {
            bool whole = absolute && find_on_path(runner, found, sizeof found);
            launch->command = whole ? arena_strdup(arena, found) : runner;
            for (size_t j = 0; j < RUNNER_MOST_ARGUMENTS && CACHES[i].arguments[j]; j++) {
                launch->arguments[launch->count++] = CACHES[i].arguments[j];
            }
            if (context) {
                launch_serve(launch, context);
            }
            return launch->command ? OK : ERR_NOMEM;
        }
    }
    bool by_name = find_on_path("forage", found, sizeof found) && is_own(found, own);
    launch->command = by_name && !absolute ? "forage" : arena_strdup(arena, by_name ? found : own);
    launch_serve(launch, context);
    return launch->command ? OK : ERR_NOMEM;
}
