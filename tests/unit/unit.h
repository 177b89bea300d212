/* What every unit test needs: cmocka with its includes, and the function that runs a file's tests.
 */
#ifndef FORAGE_TESTS_UNIT_H
#define FORAGE_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The function that runs the tests of tests/unit/test_NAME.c; unit/main.c calls it. */
#define UNIT_TEST(name)                                                                            \
    int unit_##name(void);                                                                         \
    int unit_##name(void)

#define COUNT(array) (sizeof(array) / sizeof *(array))

#endif
