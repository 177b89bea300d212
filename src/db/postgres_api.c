/* Opening libpq and finding its functions. */
#include "db/postgres_api.h"

#include "core/files.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#define SYMBOL(name)                                                                               \
    {                                                                                              \
        "PQ" #name, offsetof(struct postgres_api, name)                                            \
    }

static const struct own_function SYMBOLS[] = {
    SYMBOL(conninfoParse),
    SYMBOL(conninfoFree),
    SYMBOL(freemem),
    SYMBOL(connectStartParams),
    SYMBOL(connectPoll),
    SYMBOL(status),
    SYMBOL(setnonblocking),
    SYMBOL(socket),
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

/* Written once, by open_library. */
static struct postgres_api table;
static const char *open_problem;

static void open_library(void)
{
    void *library = own_network_library();
    library = library ? library : dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        open_problem = "libpq is missing: install libpq5 (apt install libpq5)";
        return;
    }
    if (!own_functions(library, SYMBOLS, sizeof SYMBOLS / sizeof *SYMBOLS, &table)) {
        open_problem = "libpq is too old: install libpq5 10 or newer";
    }
}

const struct postgres_api *postgres_api_open(const char **problem)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_library);
    if (problem) {
        *problem = open_problem;
    }
    return open_problem ? NULL : &table;
}
