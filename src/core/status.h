/* Results of functions that can fail: 0 or one of these. The words for a person or a model go into
 * the call's error (call/call.h); these codes are for the program's own decisions. */
#ifndef FORAGE_CORE_STATUS_H
#define FORAGE_CORE_STATUS_H

/* A function whose status nobody may ignore. */
#define MUST_CHECK __attribute__((warn_unused_result))

enum status {
    OK = 0,
    ERR_NOMEM = -1,     /* an allocation failed or an arena reached its ceiling */
    ERR_LIMIT = -2,     /* a ceiling of core/limits.h was reached */
    ERR_INVALID = -3,   /* the input is not what it should be */
    ERR_CANCELLED = -4, /* the call was cancelled */
    ERR_DEADLINE = -5,  /* the call ran out of time */
    ERR_IO = -6,        /* the operating system or the network said no */
    ERR_CLOSED = -7,    /* the other side is gone */
    ERR_BUSY = -8,      /* no capacity now; nothing was started */
    ERR_NOTFOUND = -9,
    ERR_FAILED = -10,      /* the call's error says what happened */
    ERR_NEED_INPUT = -11,  /* the client must answer a question first (call_ask) */
    ERR_UNSUPPORTED = -12, /* the client lacks a capability that is needed */
};

/* A short name for a status, for logs and tests. */
const char *status_name(int status);

#endif
