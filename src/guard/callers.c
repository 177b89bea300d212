/* Callers and their tokens. */
#include "guard/callers.h"

#include "core/buf.h"
#include "core/limits.h"
#include "core/redact.h"
#include "core/sha256.h"
#include "core/status.h"
#include "text/slice.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct entry {
    struct caller caller;
    char name[LIMIT_CALLER_NAME_CHARS + 1];
    unsigned char digest[SHA256_SIZE];
};

struct callers {
    size_t count;
    struct entry entries[LIMIT_TOKENS];
};

static const struct caller LOCAL = {"local"};

const struct caller *caller_local(void)
{
    return &LOCAL;
}

static void digest_of(const char *text, size_t length, unsigned char digest[SHA256_SIZE])
{
    struct sha256 sha;
    sha256_init(&sha);
    sha256_add(&sha, text, length);
    sha256_end(&sha, digest);
}

static bool is_name(const char *text, size_t length)
{
    static const char ALLOWED[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.@-";
    if (length == 0 || length > LIMIT_CALLER_NAME_CHARS) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        if (!text[i] || !strchr(ALLOWED, text[i])) {
            return false;
        }
    }
    return true;
}

/* Visible ASCII without blanks and commas, as an HTTP header and our list can carry it. */
static bool is_token(const char *text, size_t length)
{
    if (length < 8 || length > LIMIT_TOKEN_CHARS) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        if (text[i] <= 0x20 || text[i] >= 0x7f || text[i] == ',') {
            return false;
        }
    }
    return true;
}

static int complain(char *problem, size_t size, const char *where, const char *what)
{
    snprintf(problem, size, "%s: %s", where, what);
    return ERR_INVALID;
}

static int add_pair(struct callers *callers, const char *pair, size_t length, const char *where,
                    char *problem, size_t size)
{
    const char *colon = memchr(pair, ':', length);
    if (!colon || !is_name(pair, (size_t)(colon - pair))) {
        return complain(problem, size, where,
                        "each entry is name:token, the name of 1 to 64 letters, digits and _.@-");
    }
    const char *token = colon + 1;
    size_t name_length = (size_t)(colon - pair);
    if (name_length == strlen(LOCAL.name) && memcmp(pair, LOCAL.name, name_length) == 0) {
        return complain(problem, size, where,
                        "the name local belongs to the command line and stdio, whose memories and "
                        "history a token would open; choose another");
    }
    size_t token_length = length - name_length - 1;
    if (!is_token(token, token_length)) {
        return complain(problem, size, where,
                        "a token has 8 to 512 visible ASCII characters and no comma");
    }
    if (callers->count == LIMIT_TOKENS) {
        return complain(problem, size, where, "more than 256 tokens");
    }
    struct entry *entry = &callers->entries[callers->count];
    memcpy(entry->name, pair, name_length);
    entry->name[name_length] = '\0';
    entry->caller.name = entry->name;
    digest_of(token, token_length, entry->digest);
    for (size_t i = 0; i < callers->count; i++) {
        if (sha256_same(callers->entries[i].digest, entry->digest)) {
            return complain(problem, size, where, "the same token stands there twice");
        }
    }
    callers->count++;
    char copy[LIMIT_TOKEN_CHARS + 1];
    memcpy(copy, token, token_length);
    copy[token_length] = '\0';
    int status = redact_add(copy);
    explicit_bzero(copy, sizeof copy);
    return status;
}

/* One pair a line; blanks around it are dropped, empty lines and comments skipped. */
static int add_lines(struct callers *callers, const char *text, char *problem, size_t size)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        size_t end = length && text[length - 1] == '\r' ? length - 1 : length;
        struct slice pair = slice_trim((struct slice){text, end});
        if (pair.length && pair.data[0] != '#') {
            int status =
                add_pair(callers, pair.data, pair.length, "FORAGE_TOKENS_FILE", problem, size);
            if (status != OK) {
                return status;
            }
        }
        text += length;
        text += *text ? 1 : 0;
    }
    return OK;
}

static int read_file(const char *path, struct buf *out, char *problem, size_t size)
{
    FILE *file = fopen(path, "re");
    if (!file) {
        snprintf(problem, size, "FORAGE_TOKENS_FILE: cannot read %s: %s", path, strerror(errno));
        return ERR_IO;
    }
    char chunk[4096];
    size_t got;
    while ((got = fread(chunk, 1, sizeof chunk, file)) > 0) {
        buf_append(out, chunk, got);
    }
    int failed = ferror(file);
    fclose(file);
    if (failed || buf_error(out) != OK || (out->data && memchr(out->data, '\0', out->length))) {
        snprintf(problem, size, "FORAGE_TOKENS_FILE: %s is not a text file of at most 256 KiB",
                 path);
        return ERR_INVALID;
    }
    return OK;
}

static int add_file(struct callers *callers, const char *path, char *problem, size_t size)
{
    struct buf text;
    buf_init(&text, LIMIT_CONFIG_FILE_BYTES);
    int status = read_file(path, &text, problem, size);
    if (status == OK && text.data) {
        status = add_lines(callers, text.data, problem, size);
    }
    buf_done(&text);
    return status;
}

struct callers *callers_new(const char *const *pairs, const char *path, char *problem, size_t size)
{
    struct callers *callers = calloc(1, sizeof *callers);
    if (!callers) {
        snprintf(problem, size, "out of memory");
        return NULL;
    }
    int status = OK;
    for (; status == OK && pairs && *pairs; pairs++) {
        status = add_pair(callers, *pairs, strlen(*pairs), "FORAGE_TOKENS", problem, size);
    }
    if (status == OK && path && *path) {
        status = add_file(callers, path, problem, size);
    }
    return status == OK ? callers : callers_free(callers);
}

struct callers *callers_free(struct callers *callers)
{
    free(callers);
    return NULL;
}

size_t callers_count(const struct callers *callers)
{
    return callers->count;
}

const struct caller *callers_find(const struct callers *callers, const char *authorization,
                                  size_t length)
{
    static const char SCHEME[] = "Bearer ";
    if (callers->count == 0) {
        return &LOCAL;
    }
    if (!authorization || length <= sizeof SCHEME - 1 ||
        strncasecmp(authorization, SCHEME, sizeof SCHEME - 1) != 0) {
        return NULL;
    }
    unsigned char digest[SHA256_SIZE];
    digest_of(authorization + sizeof SCHEME - 1, length - (sizeof SCHEME - 1), digest);
    const struct caller *found = NULL;
    for (size_t i = 0; i < callers->count; i++) {
        if (sha256_same(digest, callers->entries[i].digest)) {
            found = &callers->entries[i].caller;
        }
    }
    return found;
}
