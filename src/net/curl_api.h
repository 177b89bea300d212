/* libcurl, opened at first use: linked in the usual way it would cost every start several
 * milliseconds and megabytes, also those that never fetch anything. One table holds the functions
 * that forage uses.
 *
 * Options go through typed setters: curl_easy_setopt() takes any argument, and one of the wrong
 * size is noticed by nobody. Their errors stick, so that one check after the last is enough. */
#ifndef FORAGE_NET_CURL_API_H
#define FORAGE_NET_CURL_API_H

#include <curl/curl.h>

/* The functions of the same names with "curl_" before them. */
struct curl_api {
    CURLcode (*global_init)(long flags);
    curl_version_info_data *(*version_info)(CURLversion age);
    CURL *(*easy_init)(void);
    void (*easy_cleanup)(CURL *easy);
    CURLcode (*easy_setopt)(CURL *easy, CURLoption option, ...);
    CURLcode (*easy_getinfo)(CURL *easy, CURLINFO info, ...);
    struct curl_slist *(*slist_append)(struct curl_slist *list, const char *text);
    void (*slist_free_all)(struct curl_slist *list);
    CURLM *(*multi_init)(void);
    CURLMcode (*multi_cleanup)(CURLM *multi);
    CURLMcode (*multi_setopt)(CURLM *multi, CURLMoption option, ...);
    CURLMcode (*multi_add_handle)(CURLM *multi, CURL *easy);
    CURLMcode (*multi_remove_handle)(CURLM *multi, CURL *easy);
    CURLMcode (*multi_perform)(CURLM *multi, int *running);
    CURLMcode (*multi_poll)(CURLM *multi, struct curl_waitfd extra[], unsigned count,
                            int timeout_ms, int *ready);
    CURLMsg *(*multi_info_read)(CURLM *multi, int *left);
    CURLSH *(*share_init)(void);
    CURLSHcode (*share_setopt)(CURLSH *share, CURLSHoption option, ...);
    CURLSHcode (*share_cleanup)(CURLSH *share);
};

/* The table, for the rest of the program's life; NULL with `problem` set (never freed) when there
 * is no libcurl. Safe in every thread. */
const struct curl_api *curl_api_open(const char **problem);

struct curl_options {
    const struct curl_api *api;
    CURL *easy;
    CURLcode error; /* the first; the rest is skipped */
};

void curl_set_long(struct curl_options *options, CURLoption option, long value);
void curl_set_size(struct curl_options *options, CURLoption option, size_t value);
void curl_set_pointer(struct curl_options *options, CURLoption option, const void *value);
/* Cast the function to this type; libcurl casts it back to the option's own. */
typedef void (*curl_function)(void);
void curl_set_function(struct curl_options *options, CURLoption option, curl_function value);
/* An option that an older libcurl may not know. */
void curl_try_long(struct curl_options *options, CURLoption option, long value);

#endif
