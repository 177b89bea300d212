/* The one place that keeps secrets in. Secrets are registered while the program starts (config does
 * it for every variable marked secret, guard for every token), and every text that leaves passes
 * redact_buf(), with a word for what the text is:
 *
 *   words of          keys that were sent out   what was never sent out
 *   ours              hidden                    hidden
 *   somebody outside  hidden                    not looked for
 *   the caller        not looked for            not looked for
 *
 * What nobody outside was ever told (a caller's token, the database's password) cannot come back
 * from there. Looking for it in content would only tell a caller who stores guesses which of them
 * is right. A caller's own memories come back as they were stored, byte for byte.
 *
 * A secret is also found in its JSON-escaped and percent-encoded spelling. Values shorter than 6
 * characters are not searched for: they would redact ordinary words. */
#ifndef FORAGE_CORE_REDACT_H
#define FORAGE_CORE_REDACT_H

#include "core/buf.h"

#include <stdbool.h>
#include <stddef.h>

enum secret_kind {
    SECRET_SENT, /* a provider's key: whoever gets it may repeat it */
    SECRET_KEPT, /* a caller's token, a password of ours */
};

enum words {
    WORDS_FROM_OUTSIDE, /* answers: pages, results, and what is said about them */
    WORDS_OURS,         /* the log, and what the operator reads on a terminal */
    WORDS_OF_CALLER,    /* its memories and exports */
};

/* Registers a secret; one that is not registered is not found. One that is registered as both kinds
 * was sent. */
MUST_CHECK int redact_add(const char *secret, enum secret_kind kind);
/* Replaces every secret in data[from..] that such words may not hold by "[redacted]". True when
 * there was one. */
bool redact_buf(struct buf *buf, size_t from, enum words words);
/* Whether `text` holds a secret that such words may not hold. */
bool redact_needed(const char *text, size_t length, enum words words);
/* Changes whenever words that held no secret may hold one now, since another one was registered. */
unsigned redact_version(void);
/* Forgets all secrets, for tests that register their own. */
void redact_reset(void);

#endif
