/* Writes and reads undo records: FOLDER/setup/ID.json says what was changed, ID.backup is the file
 * as it was before. */
#include "setup/undo.h"

#include "config/places.h"
#include "core/limits.h"
#include "core/sha256.h"
#include "core/status.h"
#include "setup/files.h"
#include "text/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEX_SIZE (2 * SHA256_SIZE + 1)
#define ID_CHARS 16

static void put_hex(char hex[HEX_SIZE], const unsigned char digest[SHA256_SIZE])
{
    for (size_t i = 0; i < SHA256_SIZE; i++) {
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    }
}

static void digest_of(const struct buf *text, char hex[HEX_SIZE])
{
    unsigned char digest[SHA256_SIZE];
    struct sha256 sha;
    sha256_init(&sha);
    if (text->length) {
        sha256_add(&sha, text->data, text->length);
    }
    sha256_end(&sha, digest);
    put_hex(hex, digest);
}

/* The names of the two files, from the path and the name of the entry. */
static int choose_places(struct undo *undo, const char *path, const char *name, char *problem,
                         size_t size)
{
    unsigned char digest[SHA256_SIZE];
    char hex[HEX_SIZE];
    struct sha256 sha;
    struct places *places = places_new();
    char *folder = places ? places_data(places, problem, size) : NULL;
    places_free(places);
    if (!folder) {
        return ERR_IO;
    }
    sha256_init(&sha);
    sha256_add(&sha, path, strlen(path) + 1);
    sha256_add(&sha, name, strlen(name));
    sha256_end(&sha, digest);
    put_hex(hex, digest);
    const char *slash = strrchr(path, '/');
    const char *file = slash ? slash + 1 : path;
    int written = snprintf(undo->record, sizeof undo->record, "%s/setup/%s-%.*s.json", folder, file,
                           ID_CHARS, hex);
    snprintf(undo->backup, sizeof undo->backup, "%s/setup/%s-%.*s.backup", folder, file, ID_CHARS,
             hex);
    free(folder);
    if (written < 0 || (size_t)written + 8 > sizeof undo->record) {
        snprintf(problem, size, "%s is too long a path", path);
        return ERR_LIMIT;
    }
    return OK;
}

/* ---- looking up ---- */

static int read_record(struct undo *undo, struct arena *arena, const struct buf *now, char *problem,
                       size_t size)
{
    struct buf text;
    struct json_problem ignored;
    char hex[HEX_SIZE];
    buf_init(&text, KIB(64));
    int status = files_read(undo->record, &text, problem, size);
    yyjson_doc *doc =
        status == OK ? json_parse(arena, text.data ? text.data : "", text.length, &ignored) : NULL;
    yyjson_val *record = yyjson_doc_get_root(doc);
    const char *after = json_string(record, "after");
    buf_done(&text);
    if (status != OK || !after) {
        return status == ERR_NOTFOUND || status == OK ? OK : status;
    }
    const char *made = json_string(record, "made"); /* which 0.8.0 did not write */
    undo->existed = yyjson_get_bool(yyjson_obj_get(record, "existed"));
    snprintf(undo->made, sizeof undo->made, "%s", made ? made : "");
    if (undo->existed) {
        status = files_read(undo->backup, &undo->before, problem, size);
    }
    digest_of(now, hex);
    undo->is_there = status == OK;
    undo->is_current = status == OK && strcmp(hex, after) == 0;
    return status == ERR_NOTFOUND ? OK : status;
}

int undo_open(struct undo *undo, struct arena *arena, const char *path, const char *name,
              const struct buf *now, char *problem, size_t size)
{
    *undo = (struct undo){0};
    buf_init(&undo->before, LIMIT_SETUP_FILE_BYTES);
    int status = choose_places(undo, path, name, problem, size);
    return status == OK ? read_record(undo, arena, now, problem, size) : status;
}

/* ---- recording ---- */

/* Puts a file of ours in place, whatever was there. */
static int replace(const char *path, const struct buf *text, char *problem, size_t size)
{
    unlink(path);
    return files_write(path, text, NULL, 0600, problem, size);
}

int undo_keep(struct undo *undo, struct arena *arena, const char *path, const struct buf *now,
              const struct buf *after, char *problem, size_t size)
{
    char hex[HEX_SIZE];
    struct buf text;
    int status = OK;
    if (!undo->is_current) {
        undo->existed = now != NULL;
        undo->made[0] = '\0';
        if (!now) {
            files_missing_folder(path, undo->made, sizeof undo->made);
        }
        status = now ? replace(undo->backup, now, problem, size) : OK;
    }
    digest_of(after, hex);
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *record = doc ? yyjson_mut_obj(doc) : NULL;
    json_add_string(doc, record, "path", path);
    yyjson_mut_obj_add_bool(doc, record, "existed", undo->existed);
    json_add_string(doc, record, "after", hex);
    json_add_string(doc, record, "made", undo->made[0] ? undo->made : NULL);
    buf_init(&text, KIB(64));
    if (status == OK) {
        status = record ? json_write(&text, arena, record) : ERR_NOMEM;
        if (status != OK) {
            snprintf(problem, size, "out of memory");
        }
    }
    if (status == OK) {
        status = replace(undo->record, &text, problem, size);
    }
    buf_done(&text);
    return status;
}

void undo_delete(const struct undo *undo)
{
    char folder[CLIENT_MOST_PATH];
    unlink(undo->record);
    unlink(undo->backup);
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(undo->record, '/') - undo->record),
             undo->record);
    rmdir(folder);
}

void undo_close(struct undo *undo)
{
    buf_done(&undo->before);
}
