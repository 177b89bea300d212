/* Which browser there is. */
#include "page/browser/find.h"

#include "config/config.h"
#include "core/on_path.h"
#include "core/status.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INSTALL                                                                                    \
    "install chromium-headless-shell, chromium or Google Chrome, or name a "                       \
    "browser in KINDLY_BROWSER_EXECUTABLE_PATH"

static const char *const VARIABLES[] = {"KINDLY_BROWSER_EXECUTABLE_PATH", "CHROME_BIN"};

/* In the order of preference: the smallest starts fastest. What stands in /usr/bin is a script that
 * starts the program; the program itself is one process less, and no shell. */
static const struct {
    const char *name;
    const char *script;
    const char *program;
} BROWSERS[] = {
    {"chromium-headless-shell", "/usr/bin/chromium-headless-shell",
     "/usr/lib/chromium/chromium-headless-shell"},
    {"chromium", "/usr/bin/chromium", "/usr/lib/chromium/chromium"},
    {"google-chrome", "/usr/bin/google-chrome", "/opt/google/chrome/chrome"},
    {"google-chrome-stable", "/usr/bin/google-chrome-stable", "/opt/google/chrome/chrome"},
};

#define BROWSER_COUNT (sizeof BROWSERS / sizeof *BROWSERS)

/* A Snap keeps its programs behind one that is called snap; Ubuntu's chromium-browser is a script
 * that starts it. */
static bool is_snap(const char *path)
{
    char real[PATH_MAX];
    char text[4096];
    if (!realpath(path, real)) {
        return false;
    }
    const char *name = strrchr(real, '/');
    if (strncmp(real, "/snap/", 6) == 0 || strcmp(name, "/snap") == 0) {
        return true;
    }
    int fd = open(real, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, sizeof text) : -1;
    if (fd >= 0) {
        close(fd);
    }
    return got > 2 && memcmp(text, "#!", 2) == 0 && memmem(text, (size_t)got, "/snap/bin/", 10);
}

/* The program behind a packaged script, else the path itself. */
static const char *behind_script(const char *path)
{
    for (size_t i = 0; i < BROWSER_COUNT; i++) {
        if (strcmp(path, BROWSERS[i].script) == 0 && is_program(BROWSERS[i].program)) {
            return BROWSERS[i].program;
        }
    }
    return path;
}

static int use(const char *path, char out[FIND_PATH_SIZE], char *problem, size_t size)
{
    if (is_snap(path)) {
        snprintf(problem, size,
                 "%s is a Snap, which cannot be spoken to over a pipe nor use a folder of ours: "
                 "%s",
                 path, INSTALL);
        return ERR_NOTFOUND;
    }
    if (snprintf(out, FIND_PATH_SIZE, "%s", behind_script(path)) >= FIND_PATH_SIZE) {
        snprintf(problem, size, "the path of the browser is too long");
        return ERR_NOTFOUND;
    }
    return OK;
}

int find_browser(char path[FIND_PATH_SIZE], char *problem, size_t size)
{
    char candidate[FIND_PATH_SIZE];
    int status = ERR_NOTFOUND;
    for (size_t i = 0; i < sizeof VARIABLES / sizeof *VARIABLES; i++) {
        const char *named = config_text(VARIABLES[i]);
        if (named && *named) {
            if (is_program(named)) {
                return use(named, path, problem, size);
            }
            snprintf(problem, size, "%s names %s, which is no program", VARIABLES[i], named);
            return ERR_NOTFOUND;
        }
    }
    snprintf(problem, size, "there is no browser: %s", INSTALL);
    for (size_t i = 0; i < BROWSER_COUNT && status != OK; i++) {
        if (find_on_path(BROWSERS[i].name, candidate, sizeof candidate)) {
            status = use(candidate, path, problem, size);
        }
    }
    return status;
}
