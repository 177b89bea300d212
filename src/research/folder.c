/* Making the folder and its files. Several processes may do so at once: a file is written under
 * another name and then linked, so that it is there wholly or not at all, and never replaced. */
#include "research/steps.h"

#include "config/config.h"
#include "core/buf.h"
#include "core/files.h"
#include "core/id.h"
#include "core/limits.h"
#include "core/status.h"
#include "embedded.h"
#include "text/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOME_PLACE ".config"

/* The folder, and the longest name of what is in it. */
#define PART_SIZE (FOLDER_PATH_SIZE + 64)

static const char NAME[] = "gemini-search-mcp";

/* What each worker finds in the folder, below ".WORKER". {{program}} stands for our own path, as a
 * JSON string. */
static const struct {
    const char *worker;
    const char *name;
    const char *template;
} FILES[] = {
    {"gemini", "settings.json", template_gemini_settings},
    {"gemini", "policy.toml", template_gemini_policy},
    {"claude", "mcp.json", template_claude_mcp},
};

/* ---- where it is ---- */

static bool is_folder(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* A home that is missing is missing on purpose: it is not made. */
static int default_folder(char *path, size_t room, char *problem, size_t size)
{
    const char *configured = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    int written = -1;
    if (configured && configured[0] == '/') {
        written = snprintf(path, room, "%s/%s", configured, NAME);
    } else if (home && home[0] == '/' && is_folder(home)) {
        written = snprintf(path, room, "%s/%s/%s", home, HOME_PLACE, NAME);
    }
    if (written > 0 && (size_t)written < room) {
        return OK;
    }
    snprintf(problem, size,
             "there is no place for the research worker's folder: HOME is not a folder; set "
             "FORAGE_RESEARCH_DIR, or switch the tools off with FORAGE_TOOLS=-research");
    return ERR_IO;
}

int folder_find(char path[FOLDER_PATH_SIZE], char *problem, size_t size)
{
    const char *given = config_text("FORAGE_RESEARCH_DIR");
    if (!given) {
        return default_folder(path, FOLDER_PATH_SIZE, problem, size);
    }
    if (given[0] == '/' && strlen(given) < FOLDER_PATH_SIZE) {
        snprintf(path, FOLDER_PATH_SIZE, "%s", given);
        return OK;
    }
    snprintf(problem, size, "%s must be an absolute path: %s",
             config_name_used("FORAGE_RESEARCH_DIR"), given);
    return ERR_INVALID;
}

/* ---- making it ---- */

static int explain(const char *path, char *problem, size_t size)
{
    snprintf(problem, size,
             "the research worker's folder cannot be made: %s: %s; set %s to a folder that can be "
             "written, or switch the tools off with FORAGE_TOOLS=-research",
             path, strerror(errno), config_name_told("FORAGE_RESEARCH_DIR"));
    return ERR_IO;
}

static int make_folders(const char *path)
{
    char part[PART_SIZE];
    if (mkdir(path, 0700) == 0 || is_folder(path)) {
        return OK;
    }
    if (errno != ENOENT) {
        return ERR_IO;
    }
    snprintf(part, sizeof part, "%s", path);
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(part, 0700) != 0 && !is_folder(part)) {
            return ERR_IO;
        }
        *slash = '/';
    }
    return mkdir(path, 0700) == 0 || is_folder(path) ? OK : ERR_IO;
}

static int fill(struct buf *out, const char *template)
{
    static const char PLACE[] = "{{program}}";
    char program[FOLDER_PATH_SIZE];
    const char *place = strstr(template, PLACE);
    if (place) {
        if (!own_program(program, sizeof program)) {
            return ERR_IO;
        }
        buf_append(out, template, (size_t)(place - template));
        json_put_string(out, program);
        template = place + sizeof PLACE - 1;
    }
    return buf_puts(out, template);
}

/* Writes `text` as `path`, unless somebody else has made that file meanwhile. */
static int make_file(const char *path, const struct buf *text)
{
    char unfinished[PART_SIZE + ID_SIZE];
    char id[ID_SIZE];
    id_make(id);
    snprintf(unfinished, sizeof unfinished, "%s.%s", path, id);
    int fd = open(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        return ERR_IO;
    }
    bool made = write_all(fd, text->data, text->length) == OK &&
                (link(unfinished, path) == 0 || errno == EEXIST);
    int error = errno;
    close(fd);
    unlink(unfinished);
    errno = error;
    return made ? OK : ERR_IO;
}

static int make_missing(const char *path, const char *template)
{
    struct stat about;
    struct buf text;
    if (lstat(path, &about) == 0) {
        return OK;
    }
    buf_init(&text, LIMIT_PROMPT_BYTES);
    int status = fill(&text, template);
    if (status == OK) {
        status = make_file(path, &text);
    }
    buf_done(&text);
    return status;
}

int folder_make(const char *path, const char *worker, char *problem, size_t size)
{
    char part[PART_SIZE];
    snprintf(part, sizeof part, "%s/.%s", path, worker);
    int status = make_folders(part);
    for (size_t i = 0; status == OK && i < sizeof FILES / sizeof *FILES; i++) {
        if (strcmp(FILES[i].worker, worker) == 0) {
            snprintf(part, sizeof part, "%s/.%s/%s", path, worker, FILES[i].name);
            status = make_missing(part, FILES[i].template);
        }
    }
    return status == OK ? OK : explain(part, problem, size);
}
