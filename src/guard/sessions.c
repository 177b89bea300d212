/* Cookies and page tokens, by HMAC. */
#include "guard/sessions.h"

#include "core/id.h"
#include "core/limits.h"
#include "core/status.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS (2 * SHA256_SIZE)

struct sessions {
    const struct callers *callers;
    unsigned char key[SHA256_SIZE]; /* for the caller without a token */
};

struct sessions *sessions_new(const struct callers *callers)
{
    struct sessions *sessions = calloc(1, sizeof *sessions);
    if (sessions && id_random(sessions->key, sizeof sessions->key) != OK) {
        free(sessions);
        return NULL;
    }
    if (sessions) {
        sessions->callers = callers;
    }
    return sessions;
}

struct sessions *sessions_free(struct sessions *sessions)
{
    free(sessions);
    return NULL;
}

/* ---- seals ---- */

static void seal(const unsigned char key[SHA256_SIZE], const char *what, const char *name,
                 int64_t expires_ms, unsigned char digest[SHA256_SIZE])
{
    char text[SESSION_SIZE + 32];
    int length = snprintf(text, sizeof text, "%s\n%s\n%" PRId64, what, name, expires_ms);
    sha256_hmac(key, SHA256_SIZE, text, (size_t)length, digest);
}

static void put_digits(const unsigned char digest[SHA256_SIZE], char out[DIGITS + 1])
{
    for (int i = 0; i < SHA256_SIZE; i++) {
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
    }
}

static int value_of(char digit)
{
    return digit >= '0' && digit <= '9'   ? digit - '0'
           : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
                                          : -1;
}

static bool read_digits(const char *text, unsigned char digest[SHA256_SIZE])
{
    bool good = true;
    for (int i = 0; i < SHA256_SIZE; i++) {
        int high = value_of(text[2 * i]);
        int low = value_of(text[2 * i + 1]);
        good = good && high >= 0 && low >= 0;
        digest[i] = (unsigned char)(good ? high << 4 | low : 0);
    }
    return good;
}

/* ---- cookies ---- */

int session_make(const struct sessions *sessions, const struct caller *caller, int64_t now_ms,
                 char out[SESSION_SIZE])
{
    const unsigned char *key = callers_digest(sessions->callers, caller);
    unsigned char digest[SHA256_SIZE];
    char digits[DIGITS + 1];
    int64_t expires_ms = now_ms + TIME_SESSION_MS;
    if (!key) {
        return ERR_INVALID;
    }
    seal(key, "session", caller->name, expires_ms, digest);
    put_digits(digest, digits);
    int length = snprintf(out, SESSION_SIZE, "%s.%" PRId64 ".%s", caller->name, expires_ms, digits);
    return length > 0 && length < SESSION_SIZE ? OK : ERR_INVALID;
}

/* What stands in a cookie. */
struct cookie {
    char name[LIMIT_CALLER_NAME_CHARS + 1];
    int64_t expires_ms;
    unsigned char seal[SHA256_SIZE];
};

/* "NAME.EXPIRES.SEAL"; a name may hold points. */
static bool read_cookie(struct slice text, struct cookie *cookie)
{
    char copy[SESSION_SIZE];
    if (text.length >= sizeof copy || text.length < DIGITS + 4) {
        return false;
    }
    memcpy(copy, text.data, text.length);
    copy[text.length] = '\0';
    char *last = copy + text.length - DIGITS - 1;
    if (*last != '.' || !read_digits(last + 1, cookie->seal)) {
        return false;
    }
    *last = '\0';
    char *expires = strrchr(copy, '.');
    char *end = NULL;
    if (!expires || expires - copy > LIMIT_CALLER_NAME_CHARS) {
        return false;
    }
    *expires = '\0';
    cookie->expires_ms = strtoll(expires + 1, &end, 10);
    memcpy(cookie->name, copy, (size_t)(expires - copy) + 1);
    return end && end > expires + 1 && !*end;
}

bool session_find(const struct sessions *sessions, struct slice text, int64_t now_ms,
                  struct session *session)
{
    struct cookie cookie;
    if (!read_cookie(text, &cookie) || cookie.expires_ms <= now_ms ||
        cookie.expires_ms > now_ms + TIME_SESSION_MS) {
        return false;
    }
    /* A name may have several tokens. */
    const struct caller *caller;
    for (size_t i = 0; (caller = callers_at(sessions->callers, i)) != NULL; i++) {
        unsigned char digest[SHA256_SIZE];
        if (strcmp(caller->name, cookie.name) == 0) {
            seal(callers_digest(sessions->callers, caller), "session", cookie.name,
                 cookie.expires_ms, digest);
            if (sha256_same(digest, cookie.seal)) {
                *session = (struct session){caller, cookie.expires_ms};
                return true;
            }
        }
    }
    return false;
}

/* ---- the page's own token ---- */

static void page_digest(const struct sessions *sessions, const struct caller *caller,
                        unsigned char digest[SHA256_SIZE])
{
    const unsigned char *key = callers_digest(sessions->callers, caller);
    seal(key ? key : sessions->key, "page", caller->name, 0, digest);
}

void page_token_make(const struct sessions *sessions, const struct caller *caller,
                     char out[PAGE_TOKEN_SIZE])
{
    unsigned char digest[SHA256_SIZE];
    page_digest(sessions, caller, digest);
    put_digits(digest, out);
}

bool page_token_fits(const struct sessions *sessions, const struct caller *caller,
                     struct slice token)
{
    unsigned char wanted[SHA256_SIZE];
    unsigned char given[SHA256_SIZE];
    page_digest(sessions, caller, wanted);
    return token.length == DIGITS && read_digits(token.data, given) && sha256_same(wanted, given);
}
