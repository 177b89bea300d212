/* What every unit test needs: cmocka with its includes, and the usual end of a test program. */
#ifndef FORAGE_TESTS_UNIT_H
#define FORAGE_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

#endif
