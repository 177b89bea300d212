/* Opening libpq and finding its functions. */
#include "db/postgres_api.h"

#include "core/library.h"

static const char *const NAMES[] = {"libpq.so.5", NULL};

#define SYMBOL(name)                                                                               \
    {                                                                                              \
        "PQ" #name, offsetof(struct postgres_api, name)                                            \
    }

static const struct library_function SYMBOLS[] = {
    SYMBOL(conninfoParse),
    SYMBOL(conninfoFree),
    SYMBOL(freemem),
    SYMBOL(connectStartParams),
    SYMBOL(connectPoll),
    SYMBOL(status),
    SYMBOL(setnonblocking),
    SYMBOL(socket),
    SYMBOL(backendPID),
    SYMBOL(errorMessage),
    SYMBOL(parameterStatus),
    SYMBOL(setNoticeProcessor),
    SYMBOL(finish),
    SYMBOL(sendQuery),
    SYMBOL(sendPrepare),
    SYMBOL(sendQueryPrepared),
    SYMBOL(setSingleRowMode),
    SYMBOL(flush),
    SYMBOL(consumeInput),
    SYMBOL(isBusy),
    SYMBOL(getResult),
    SYMBOL(resultStatus),
    SYMBOL(resultErrorField),
    SYMBOL(cmdStatus),
    SYMBOL(ntuples),
    SYMBOL(getisnull),
    SYMBOL(getlength),
    SYMBOL(getvalue),
    SYMBOL(clear),
};

const struct postgres_api *postgres_api_open(const char **problem)
{
    static struct postgres_api table;
    static struct library library = {
        .names = NAMES,
        .functions = SYMBOLS,
        .count = sizeof SYMBOLS / sizeof *SYMBOLS,
        .table = &table,
        .missing = "libpq is missing: install libpq5 (apt install libpq5)",
        .old = "libpq is too old: install libpq5 10 or newer",
        .broken = "libpq does not start, for want of memory or descriptors; try again in a moment",
        .lock = PTHREAD_MUTEX_INITIALIZER,
    };
    return library_open(&library, problem) ? &table : NULL;
}
