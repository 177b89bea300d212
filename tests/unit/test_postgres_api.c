/* Opening libpq where there is none: it is said what to install. The system's dlopen() is replaced,
 * so this is a program of its own. */
#include "db/db.h"
#include "db/postgres_api.h"

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
    assert_null(postgres_api_open(&problem));
    assert_string_equal(problem, "libpq is missing: install libpq5 (apt install libpq5)");
    /* The second time with the descriptors in reserve. */
    assert_string_equal(asked, "libpq.so.5 libpq.so.5 ");
    /* It is looked for again: it may have been installed. */
    asked[0] = '\0';
    assert_null(postgres_api_open(&problem));
    assert_non_null(problem);
    assert_non_null(strstr(asked, "libpq.so.5"));
}

static void connecting_fails_with_words(void **state)
{
    (void)state;
    char problem[256] = "";
    struct db_options options = {.url = "postgresql://127.0.0.1/x"};
    assert_null(db_open(&options, NULL, problem, sizeof problem));
    assert_non_null(strstr(problem, "install libpq5"));
}

UNIT_TEST(postgres_api)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_what_is_missing),
        cmocka_unit_test(connecting_fails_with_words),
    };
    return cmocka_run_group_tests_name("postgres_api", tests, NULL, NULL);
}
