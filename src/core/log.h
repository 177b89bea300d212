/* The log: one line per event on stderr, never on stdout, which belongs to the protocol.
 *
 *   2026-11-15T10:10:30.123Z INFO  req=6f1c0a2b tool=forage_status status=ok ms=1
 *
 * Every line passes the redaction of core/redact.h. Library code does not log; the owner of an
 * event does, once. Lines are written whole, so that threads do not mix theirs.
 *
 * A server's log never waits: while nobody reads stderr, lines are dropped, and the next one that
 * goes out says how many. A command's log is written at once, in order with what the command itself
 * writes. */
#ifndef FORAGE_CORE_LOG_H
#define FORAGE_CORE_LOG_H

#include "core/status.h"

#include <stdbool.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

void log_set_level(enum log_level level);
enum log_level log_level(void);
/* "error", "warn", "info", "debug"; a negative number for anything else. */
MUST_CHECK int log_level_parse(const char *name);

/* What every line begins with from now on, a constant: what takes a line of progress away where
 * there is one. "": nothing. */
void log_set_line_start(const char *text);

/* Whether the log may hold what is private (FORAGE_DEBUG); from now on. */
void log_allow_private(bool allowed);
/* Whether a private line would go out now, for who has to prepare one. */
bool log_takes_private(void);

/* `request_id` may be NULL for what belongs to no request. */
void log_error(const char *request_id, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void log_warn(const char *request_id, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void log_info(const char *request_id, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void log_debug(const char *request_id, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* At the level debug, and only where the log may hold what is private: queries, whole addresses. */
void log_private(const char *request_id, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* From here on no line waits for whoever reads stderr. To be called before threads log. */
void log_never_wait(void);
/* Before the program ends: waits, for a second at most, while somebody takes the last lines. */
void log_finish(void);

#endif
