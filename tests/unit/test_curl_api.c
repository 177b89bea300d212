/* Opening libcurl where there is none: everything still answers, and says what to install. The
 * system's dlopen() is replaced, so this is a program of its own. */
#include "net/curl_api.h"
#include "net/fetch.h"

#include "unit.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static char asked[200];

void *dlopen(const char *name, int flags)
{
    (void)flags;
    size_t used = strlen(asked);
    snprintf(asked + used, sizeof asked - used, "%s ", name ? name : "itself");
    return NULL;
}

static void says_what_is_missing(void **state)
{
    (void)state;
    const char *problem = NULL;
    assert_null(curl_api_open(&problem));
    assert_string_equal(problem, "libcurl is missing: install libcurl4 (apt install libcurl4)");
    /* The second time with the descriptors in reserve. */
    assert_string_equal(asked,
                        "libcurl.so.4 libcurl-gnutls.so.4 libcurl.so.4 libcurl-gnutls.so.4 ");
    /* It is looked for again: it may have been installed. */
    asked[0] = '\0';
    assert_null(curl_api_open(&problem));
    assert_non_null(problem);
    assert_non_null(strstr(asked, "libcurl.so.4"));
}

static void fetching_fails_with_words(void **state)
{
    (void)state;
    struct call_options options = {.timeout_ms = 0};
    struct call *call = call_new(&options);
    assert_non_null(call);
    struct url url;
    struct fetch_request request = {.url = &url};
    struct fetch_response response;
    assert_int_equal(fetch_parse(call, "http://127.0.0.1/", &url, &response), OK);
    assert_int_equal(fetch_run(call, &request, &response), ERR_FAILED);
    assert_int_equal(response.failure, FETCH_UNAVAILABLE);
    assert_non_null(strstr(response.error, "install libcurl4"));
    call_free(call);
}

UNIT_TEST(curl_api)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_what_is_missing),
        cmocka_unit_test(fetching_fails_with_words),
    };
    return cmocka_run_group_tests_name("curl_api", tests, NULL, NULL);
}
