/* Making the folder and its files. Several processes may do so at once: a file is written under
 * another name and then linked, so that it is there wholly or not at all. One that the user edited
 * is never replaced. */
#include "research/steps.h"

#include "config/config.h"
#include "core/buf.h"
#include "core/files.h"
#include "core/id.h"
#include "core/limits.h"
#include "core/sha256.h"
#include "core/status.h"
#include "embedded.h"
#include "text/json.h"
#include "text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOME_PLACE ".config"

static const char NAME[] = "gemini-search-mcp";

/* What each worker finds in the folder, below ".WORKER". {{program}} stands for our own path, as a
 * JSON string. */
static const struct file {
    const char *worker;
    const char *name;
    const char *template;
    const char *former; /* SHA-256 of the template of an older forage, or NULL */
} FILES[] = {
    {"gemini", "settings.json", template_gemini_settings,
     "a2c7690f4f2f1d6579bcdf42bb9092f37574e5ffac7e299a5a6c7a6f7834bdd0"}, /* 0.8.0 */
    {"gemini", "policy.toml", template_gemini_policy, NULL},
    {"claude", "mcp.json", template_claude_mcp, NULL},
};

static const char PLACE[] = "{{program}}";

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
    char part[FOLDER_FILE_SIZE];
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

/* Puts a finished file in its place. */
typedef int (*placer)(const char *from, const char *to);

/* Writes `text` as `path`: with link() unless somebody else has made that file meanwhile, with
 * rename() in its place. */
static int make_file(const char *path, const struct buf *text, placer place)
{
    char unfinished[FOLDER_FILE_SIZE + ID_SIZE];
    char id[ID_SIZE];
    id_make(id);
    snprintf(unfinished, sizeof unfinished, "%s.%s", path, id);
    int fd = open(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        return ERR_IO;
    }
    bool made = write_all(fd, text->data, text->length) == OK &&
                (place(unfinished, path) == 0 || errno == EEXIST);
    int error = errno;
    close(fd);
    unlink(unfinished);
    errno = error;
    return made ? OK : ERR_IO;
}

static int make_from(const char *path, const char *template, placer place)
{
    struct buf text;
    buf_init(&text, LIMIT_PROMPT_BYTES);
    int status = fill(&text, template);
    if (status == OK) {
        status = make_file(path, &text, place);
    }
    buf_done(&text);
    return status;
}

/* ---- mending it ---- */

/* What a file of settings says of the reader of pages. */
struct folder_reader {
    const char *command; /* in the arena */
    bool is_dead;        /* there is no such program */
    bool is_current;     /* the file is as forage makes it */
    bool is_former;      /* it is as an older forage made it */
};

/* A command with a variable or a relative path in it means what the worker makes of it. */
static bool is_dead(const char *command)
{
    char path[FOLDER_PATH_SIZE];
    if (strchr(command, '$') || (strchr(command, '/') && *command != '/')) {
        return false;
    }
    return *command == '/' ? !is_program(command) : !find_on_path(command, path, sizeof path);
}

static bool has_hash(const struct buf *text, const char *hash)
{
    struct sha256 sha;
    unsigned char digest[SHA256_SIZE];
    char hex[2 * SHA256_SIZE + 1];
    sha256_init(&sha);
    sha256_add(&sha, text->data, text->length);
    sha256_end(&sha, digest);
    for (size_t i = 0; i < SHA256_SIZE; i++) {
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    }
    return strcmp(hex, hash) == 0;
}

/* Whether the text is the file's template, or a former one, with this command in its place. */
static void compare(const struct file *file, const char *text, struct folder_reader *reader)
{
    struct buf spelled, blank;
    buf_init(&spelled, LIMIT_PROMPT_BYTES);
    buf_init(&blank, LIMIT_PROMPT_BYTES);
    json_put_string(&spelled, reader->command);
    const char *place = spelled.data ? strstr(text, spelled.data) : NULL;
    if (place) {
        buf_append(&blank, text, (size_t)(place - text));
        buf_puts(&blank, PLACE);
        buf_puts(&blank, place + spelled.length);
    }
    if (place && buf_error(&blank) == OK) {
        reader->is_current = strcmp(blank.data, file->template) == 0;
        reader->is_former = file->former && has_hash(&blank, file->former);
    }
    buf_done(&spelled);
    buf_done(&blank);
}

/* False when the file starts no reader, or cannot be read. */
static bool read_reader(struct arena *arena, const char *path, const struct file *file,
                        struct folder_reader *reader)
{
    struct buf text;
    *reader = (struct folder_reader){0};
    buf_init(&text, LIMIT_PROMPT_BYTES);
    if (strstr(file->template, PLACE) && read_whole(path, &text) == OK && text.length) {
        yyjson_doc *doc = json_parse_commented(arena, text.data, text.length);
        yyjson_val *servers = yyjson_obj_get(yyjson_doc_get_root(doc), "mcpServers");
        reader->command = json_string(yyjson_obj_get(servers, "forage"), "command");
    }
    if (reader->command) {
        reader->is_dead = is_dead(reader->command);
        compare(file, text.data, reader);
    }
    buf_done(&text);
    return reader->command != NULL;
}

/* Whether nobody edited the file and forage can make it anew: not what a link leads to, not in a
 * folder that cannot be written, and not while its own path is dead because it was replaced. */
static bool may_be_mended(const char *path, const struct folder_reader *reader)
{
    struct stat about;
    char folder[FOLDER_FILE_SIZE];
    char program[FOLDER_PATH_SIZE];
    bool wanted = reader->is_former || (reader->is_current && reader->is_dead);
    snprintf(folder, sizeof folder, "%s", path);
    *strrchr(folder, '/') = '\0';
    return wanted && lstat(path, &about) == 0 && S_ISREG(about.st_mode) &&
           access(folder, W_OK) == 0 && own_program(program, sizeof program) && is_program(program);
}

static int make_or_mend(const char *path, const struct file *file)
{
    struct stat about;
    struct folder_reader reader;
    if (lstat(path, &about) != 0) {
        return make_from(path, file->template, link);
    }
    struct arena *arena = arena_new(MIB(4));
    bool mend = arena && read_reader(arena, path, file, &reader) && may_be_mended(path, &reader);
    arena_free(arena);
    return mend ? make_from(path, file->template, rename) : OK;
}

bool folder_has_dead_reader(const char *path, const char *worker, char file[FOLDER_FILE_SIZE],
                            char *words, size_t size)
{
    char program[FOLDER_PATH_SIZE];
    struct arena *arena = arena_new(MIB(4));
    bool found = false;
    bool known = own_program(program, sizeof program);
    for (size_t i = 0; arena && known && !found && i < sizeof FILES / sizeof *FILES; i++) {
        struct folder_reader reader;
        if (strcmp(FILES[i].worker, worker) != 0) {
            continue;
        }
        snprintf(file, FOLDER_FILE_SIZE, "%s/.%s/%s", path, worker, FILES[i].name);
        found = read_reader(arena, file, &FILES[i], &reader) && reader.is_dead &&
                !may_be_mended(file, &reader);
        if (found) {
            snprintf(words, size,
                     "the research worker reads no pages through forage: %s starts %s, which is no "
                     "program; write \"command\": \"%s\" there, under mcpServers.forage",
                     file, reader.command, program);
            text_repair(words);
        }
    }
    arena_free(arena);
    return found;
}

int folder_make(const char *path, const char *worker, char *problem, size_t size)
{
    char part[FOLDER_FILE_SIZE];
    snprintf(part, sizeof part, "%s/.%s", path, worker);
    int status = make_folders(part);
    for (size_t i = 0; status == OK && i < sizeof FILES / sizeof *FILES; i++) {
        if (strcmp(FILES[i].worker, worker) == 0) {
            snprintf(part, sizeof part, "%s/.%s/%s", path, worker, FILES[i].name);
            status = make_or_mend(part, &FILES[i]);
        }
    }
    return status == OK ? OK : explain(part, problem, size);
}
