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

#define LEAST_TOKEN_CHARS 20
#define LEAST_DIFFERENT   6

static const char OPERATOR[] = "+operator";                       /* behind a name */
static const char EXAMPLE[] = "REPLACE-WITH-A-LONG-RANDOM-TOKEN"; /* of data/variables.txt */

struct caller_entry {
    struct caller caller;
    char name[LIMIT_CALLER_NAME_CHARS + 1];
    unsigned char digest[SHA256_SIZE];
};

struct callers {
    size_t count;
    struct caller_entry entries[LIMIT_TOKENS];
};

static const struct caller LOCAL = {.name = "local", .is_operator = true};

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
    if (length == 0 || length > LIMIT_TOKEN_CHARS) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        if (text[i] <= 0x20 || text[i] >= 0x7f || text[i] == ',') {
            return false;
        }
    }
    return true;
}

/* Whether the text is a piece of at most half its length, again and again. */
static bool repeats(const char *text, size_t length)
{
    for (size_t piece = 1; piece <= length / 2; piece++) {
        if (memcmp(text, text + piece, length - piece) == 0) {
            return true;
        }
    }
    return false;
}

/* Whether most characters are the one before, or its neighbour: "abcdefgh", "44444321". */
static bool counts(const char *text, size_t length)
{
    size_t steps = 0;
    for (size_t i = 1; i < length; i++) {
        int step = text[i] - text[i - 1];
        steps += step >= -1 && step <= 1;
    }
    return steps * 4 > length * 3;
}

static size_t different_characters(const char *text, size_t length)
{
    bool seen[256] = {false};
    size_t count = 0;
    for (size_t i = 0; i < length; i++) {
        count += !seen[(unsigned char)text[i]];
        seen[(unsigned char)text[i]] = true;
    }
    return count;
}

/* What makes a token easy to guess; NULL: nothing that can be seen. Of a million random tokens of
 * 20 digits these rules refuse a few hundred, of 20 hexadecimal digits none. */
static const char *weakness(const char *token, size_t length)
{
    if (length < LEAST_TOKEN_CHARS) {
        return "is shorter than 20 characters";
    }
    if (length == strlen(EXAMPLE) && memcmp(token, EXAMPLE, length) == 0) {
        return "is the example of the documentation";
    }
    if (different_characters(token, length) < LEAST_DIFFERENT) {
        return "is made of fewer than 6 different characters";
    }
    return repeats(token, length)  ? "is a short text that is repeated"
           : counts(token, length) ? "is a row of neighbouring characters"
                                   : NULL;
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
    size_t before = colon ? (size_t)(colon - pair) : 0;
    size_t role = sizeof OPERATOR - 1;
    bool is_operator = before > role && memcmp(colon - role, OPERATOR, role) == 0;
    size_t name_length = is_operator ? before - role : before;
    if (!colon || !is_name(pair, name_length)) {
        return complain(problem, size, where,
                        "each entry is name:token or name+operator:token, the name of 1 to 64 "
                        "letters, digits and _.@-");
    }
    const char *token = colon + 1;
    if (name_length == strlen(LOCAL.name) && memcmp(pair, LOCAL.name, name_length) == 0) {
        return complain(problem, size, where,
                        "the name local belongs to the command line and stdio, whose memories and "
                        "history a token would open; choose another");
    }
    size_t token_length = length - before - 1;
    if (!is_token(token, token_length)) {
        return complain(problem, size, where,
                        "a token has 20 to 512 visible ASCII characters and no comma");
    }
    const char *weak = weakness(token, token_length);
    if (weak) {
        snprintf(problem, size,
                 "%s: the token of %.*s %s, so that it can be guessed; " MAKE_TOKEN
                 " makes a good one",
                 where, (int)name_length, pair, weak);
        return ERR_INVALID;
    }
    if (callers->count == LIMIT_TOKENS) {
        return complain(problem, size, where, "more than 256 tokens");
    }
    struct caller_entry *entry = &callers->entries[callers->count];
    memcpy(entry->name, pair, name_length);
    entry->name[name_length] = '\0';
    entry->caller = (struct caller){.name = entry->name, .is_operator = is_operator};
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
    int status = redact_add(copy, SECRET_KEPT);
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
    struct callers *callers = malloc(sizeof *callers); /* untouched: most have no token */
    if (!callers) {
        snprintf(problem, size, "out of memory");
        return NULL;
    }
    callers->count = 0;
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

const struct caller *callers_at(const struct callers *callers, size_t index)
{
    return index < callers->count ? &callers->entries[index].caller : NULL;
}

const unsigned char *callers_digest(const struct callers *callers, const struct caller *caller)
{
    for (size_t i = 0; i < callers->count; i++) {
        if (&callers->entries[i].caller == caller) {
            return callers->entries[i].digest;
        }
    }
    return NULL;
}

const struct caller *callers_named(const struct callers *callers, const char *name)
{
    for (size_t i = 0; i < callers->count; i++) {
        if (strcmp(callers->entries[i].name, name) == 0) {
            return &callers->entries[i].caller;
        }
    }
    return NULL;
}
