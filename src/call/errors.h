/* The codes that a failed call can carry, and the HTTP status that REST gives each. A code is
 * stable: clients decide by it. */
#ifndef FORAGE_CALL_ERRORS_H
#define FORAGE_CALL_ERRORS_H

#include <stddef.h>

#define CODE_VALIDATION   "VALIDATION"   /* the arguments; the message names the parameter */
#define CODE_AUTH         "AUTH"         /* an upstream refused our key; 502, see decisions.md */
#define CODE_UNAUTHORIZED "UNAUTHORIZED" /* the caller's token is missing or wrong */
#define CODE_FORBIDDEN    "FORBIDDEN"    /* an address or host that is not allowed */
#define CODE_NOT_FOUND    "NOT_FOUND"
#define CODE_CONFLICT     "CONFLICT"
#define CODE_TOO_LARGE    "TOO_LARGE"
#define CODE_QUOTA        "QUOTA" /* what a caller may store is used up */
#define CODE_RATE_LIMIT   "RATE_LIMIT"
#define CODE_BUDGET       "BUDGET"   /* the day's budget was used up while the call was at work */
#define CODE_PROVIDER     "PROVIDER" /* an upstream failed */
#define CODE_PARSE        "PARSE"    /* an upstream answered with something else */
#define CODE_BUSY         "BUSY"
#define CODE_TIMEOUT      "TIMEOUT"
#define CODE_CANCELLED    "CANCELLED"
#define CODE_CONFIG       "CONFIG" /* something is not set up; the message names the variable */
#define CODE_INTERNAL     "INTERNAL"

/* Of a research worker. Its timeout is CODE_CLI_TIMEOUT for deep_search and CODE_EXECUTION_ERROR
 * for search. */
#define CODE_CLI_NOT_FOUND   "CLI_NOT_FOUND"
#define CODE_CLI_TIMEOUT     "CLI_TIMEOUT"
#define CODE_EXECUTION_ERROR "EXECUTION_ERROR"
#define CODE_QUOTA_EXCEEDED  "QUOTA_EXCEEDED"
#define CODE_AUTH_ERROR      "AUTH_ERROR"
#define CODE_MODEL_NOT_FOUND "MODEL_NOT_FOUND"
#define CODE_TURN_LIMIT      "TURN_LIMIT"
#define CODE_CONFIG_ERROR    "CONFIG_ERROR"
#define CODE_PARSE_ERROR     "PARSE_ERROR"
#define CODE_NO_EVIDENCE     "NO_EVIDENCE" /* nothing that was read supports a report */

/* Every code with its status. */
struct error_code {
    const char *code;
    int http_status;
};
extern const struct error_code ERROR_CODES[];
extern const size_t ERROR_CODE_COUNT;

/* The same code as a constant; CODE_INTERNAL where there is none. */
const char *error_code_named(const char *code);
/* 500 for a code that the table does not know. */
int error_http_status(const char *code);

#endif
