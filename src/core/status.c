/* Names of status codes, for logs and tests. */
#include "core/status.h"

#include <stddef.h>

static const char *const NAMES[] = {
    [-OK] = "ok",
    [-ERR_NOMEM] = "no memory",
    [-ERR_LIMIT] = "limit reached",
    [-ERR_INVALID] = "invalid",
    [-ERR_CANCELLED] = "cancelled",
    [-ERR_DEADLINE] = "deadline",
    [-ERR_IO] = "input/output",
    [-ERR_CLOSED] = "closed",
    [-ERR_BUSY] = "busy",
    [-ERR_NOTFOUND] = "not found",
    [-ERR_FAILED] = "failed",
    [-ERR_NEED_INPUT] = "needs input",
    [-ERR_UNSUPPORTED] = "unsupported",
};

const char *status_name(int status)
{
    size_t index = status <= 0 ? (size_t)-status : 0;
    if (status > 0 || index >= sizeof NAMES / sizeof *NAMES) {
        return "unknown";
    }
    return NAMES[index];
}
