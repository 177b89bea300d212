/* Who sits before the dashboard. Somebody who signs in with a token gets a cookie that stands for
 * it: the caller's name and a time, sealed with the digest of the token, so that nothing has to be
 * remembered while it holds, across restarts and servers, and it ends with the token. And the page
 * itself has a token for what changes something, which other pages cannot read, since a browser
 * sends a cookie along with any request. */
#ifndef FORAGE_GUARD_SESSIONS_H
#define FORAGE_GUARD_SESSIONS_H

#include "guard/callers.h"
#include "text/slice.h"

#include <stdint.h>

#define SESSION_SIZE    192 /* of a cookie's value, with its NUL */
#define PAGE_TOKEN_SIZE 65

struct sessions;

/* NULL without memory or randomness. The callers outlive it. */
struct sessions *sessions_new(const struct callers *callers);
struct sessions *sessions_free(struct sessions *sessions);

/* The cookie of a caller who has a token. OK, or ERR_INVALID for one that has none. */
MUST_CHECK int session_make(const struct sessions *sessions, const struct caller *caller,
                            int64_t now_ms, char out[SESSION_SIZE]);
/* What a cookie stands for. The two together say which session it is. */
struct session {
    const struct caller *caller;
    int64_t expires_ms;
};
/* Whether a cookie is one of ours and has not expired. Who was signed out is in the records
 * (ops/sign_outs.h). */
bool session_find(const struct sessions *sessions, struct slice cookie, int64_t now_ms,
                  struct session *session);

/* What the page sends along with each change. */
void page_token_make(const struct sessions *sessions, const struct caller *caller,
                     char out[PAGE_TOKEN_SIZE]);
bool page_token_fits(const struct sessions *sessions, const struct caller *caller,
                     struct slice token);

#endif
