/* The codes, and the HTTP status of each. */
#include "call/errors.h"

#include <string.h>

const struct error_code ERROR_CODES[] = {
    {CODE_VALIDATION, 400},
    {CODE_UNAUTHORIZED, 401},
    {CODE_AUTH, 502},
    {CODE_FORBIDDEN, 403},
    {CODE_NOT_FOUND, 404},
    {CODE_CONFLICT, 409},
    {CODE_TOO_LARGE, 413},
    {CODE_QUOTA, 507},
    {CODE_RATE_LIMIT, 429},
    {CODE_BUDGET, 429},
    {CODE_CANCELLED, 499},
    {CODE_PROVIDER, 502},
    {CODE_PARSE, 502},
    {CODE_BUSY, 503},
    {CODE_CONFIG, 503},
    {CODE_TIMEOUT, 504},
    {CODE_INTERNAL, 500},
    {CODE_CLI_NOT_FOUND, 503},
    {CODE_CLI_TIMEOUT, 504},
    {CODE_EXECUTION_ERROR, 502},
    {CODE_QUOTA_EXCEEDED, 429},
    {CODE_AUTH_ERROR, 502},
    {CODE_MODEL_NOT_FOUND, 502},
    {CODE_TURN_LIMIT, 502},
    {CODE_CONFIG_ERROR, 503},
    {CODE_PARSE_ERROR, 502},
    {CODE_NO_EVIDENCE, 502},
};

const size_t ERROR_CODE_COUNT = sizeof ERROR_CODES / sizeof *ERROR_CODES;

static const struct error_code *find(const char *code)
{
    for (size_t i = 0; code && i < ERROR_CODE_COUNT; i++) {
        if (strcmp(code, ERROR_CODES[i].code) == 0) {
            return &ERROR_CODES[i];
        }
    }
    return NULL;
}

const char *error_code_named(const char *code)
{
    const struct error_code *found = find(code);
    return found ? found->code : CODE_INTERNAL;
}

int error_http_status(const char *code)
{
    const struct error_code *found = find(code);
    return found ? found->http_status : 500;
}
