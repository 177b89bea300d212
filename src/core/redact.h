/* The one place that keeps secrets in. Secrets are registered while the program starts (config does
 * it for every variable marked secret, guard for every token); every log line, result, error and
 * page of the command line passes redact_buf() before it leaves. A secret is also found in its
 * JSON-escaped and percent-encoded spelling. Values shorter than 6 characters are not searched for:
 * they would redact ordinary words. */
#ifndef FORAGE_CORE_REDACT_H
#define FORAGE_CORE_REDACT_H

#include "core/buf.h"

#include <stdbool.h>
#include <stddef.h>

/* Registers a secret; one that is not registered is not found. */
MUST_CHECK int redact_add(const char *secret);
/* Replaces every secret in data[from..] by "[redacted]". True when there was one. */
bool redact_buf(struct buf *buf, size_t from);
/* Whether `text` holds a secret. */
bool redact_needed(const char *text, size_t length);
/* Forgets all secrets, for tests that register their own. */
void redact_reset(void);

#endif
