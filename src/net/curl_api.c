/* Opening libcurl and finding its functions. */
#include "net/curl_api.h"

#include "core/library.h"

static const char *const NAMES[] = {"libcurl.so.4", "libcurl-gnutls.so.4", NULL};

#define SYMBOL(name)                                                                               \
    {                                                                                              \
        "curl_" #name, offsetof(struct curl_api, name)                                             \
    }

static const struct library_function SYMBOLS[] = {
    SYMBOL(global_init),         SYMBOL(version_info),   SYMBOL(easy_init),
    SYMBOL(easy_cleanup),        SYMBOL(easy_setopt),    SYMBOL(easy_getinfo),
    SYMBOL(slist_append),        SYMBOL(slist_free_all), SYMBOL(multi_init),
    SYMBOL(multi_cleanup),       SYMBOL(multi_setopt),   SYMBOL(multi_add_handle),
    SYMBOL(multi_remove_handle), SYMBOL(multi_perform),  SYMBOL(multi_poll),
    SYMBOL(multi_info_read),     SYMBOL(share_init),     SYMBOL(share_setopt),
    SYMBOL(share_cleanup),
};

static struct curl_api table;

static bool start(void)
{
    return table.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

const struct curl_api *curl_api_open(const char **problem)
{
    static struct library library = {
        .names = NAMES,
        .functions = SYMBOLS,
        .count = sizeof SYMBOLS / sizeof *SYMBOLS,
        .table = &table,
        .start = start,
        .missing = "libcurl is missing: install libcurl4 (apt install libcurl4)",
        .old = "libcurl is too old: install libcurl4 7.80 or newer",
        .broken =
            "libcurl does not start, for want of memory or descriptors; try again in a moment",
        .lock = PTHREAD_MUTEX_INITIALIZER,
    };
    return library_open(&library, problem) ? &table : NULL;
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
