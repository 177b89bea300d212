/* Opening libcurl and finding its functions. */
#include "net/curl_api.h"

#include "core/files.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

static const char *const LIBRARIES[] = {
    "libcurl.so.4",
    "libcurl-gnutls.so.4",
};

#define SYMBOL(name)                                                                               \
    {                                                                                              \
        "curl_" #name, offsetof(struct curl_api, name)                                             \
    }

static const struct own_function SYMBOLS[] = {
    SYMBOL(global_init),    SYMBOL(version_info),     SYMBOL(easy_init),
    SYMBOL(easy_cleanup),   SYMBOL(easy_setopt),      SYMBOL(slist_append),
    SYMBOL(slist_free_all), SYMBOL(multi_init),       SYMBOL(multi_cleanup),
    SYMBOL(multi_setopt),   SYMBOL(multi_add_handle), SYMBOL(multi_remove_handle),
    SYMBOL(multi_perform),  SYMBOL(multi_poll),       SYMBOL(multi_info_read),
    SYMBOL(share_init),     SYMBOL(share_setopt),     SYMBOL(share_cleanup),
};

/* Written once, by open_library. */
static struct curl_api table;
static const char *open_problem;

static void *find_library(void)
{
    void *library = own_network_library();
    for (size_t i = 0; !library && i < sizeof LIBRARIES / sizeof *LIBRARIES; i++) {
        library = dlopen(LIBRARIES[i], RTLD_NOW | RTLD_LOCAL);
    }
    return library;
}

static void open_library(void)
{
    void *library = find_library();
    if (!library) {
        open_problem = "libcurl is missing: install libcurl4 (apt install libcurl4)";
        return;
    }
    if (!own_functions(library, SYMBOLS, sizeof SYMBOLS / sizeof *SYMBOLS, &table)) {
        open_problem = "libcurl is too old: install libcurl4 7.80 or newer";
        return;
    }
    if (table.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        open_problem = "libcurl does not start";
    }
}

const struct curl_api *curl_api_open(const char **problem)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_library);
    if (problem) {
        *problem = open_problem;
    }
    return open_problem ? NULL : &table;
}

/* ---- options ---- */

void curl_set_long(struct curl_options *options, CURLoption option, long value)
{
    if (options->error == CURLE_OK) {
        options->error = options->api->easy_setopt(options->easy, option, value);
    }
}

void curl_set_size(struct curl_options *options, CURLoption option, size_t value)
{
    if (options->error == CURLE_OK) {
        options->error = options->api->easy_setopt(options->easy, option, (curl_off_t)value);
    }
}

void curl_set_pointer(struct curl_options *options, CURLoption option, const void *value)
{
    if (options->error == CURLE_OK) {
        options->error = options->api->easy_setopt(options->easy, option, value);
    }
}

void curl_set_function(struct curl_options *options, CURLoption option, curl_function value)
{
    if (options->error == CURLE_OK) {
        options->error = options->api->easy_setopt(options->easy, option, value);
    }
}

void curl_try_long(struct curl_options *options, CURLoption option, long value)
{
    options->api->easy_setopt(options->easy, option, value);
}
