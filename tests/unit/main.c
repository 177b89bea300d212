/* A program of unit tests, as tests/meson.build puts it together.
 *
 *   unit               every file in it
 *   unit FILE          tests/unit/test_FILE.c
 *   unit FILE TEST     the tests of that file whose name matches; * and ? stand for what they
 * usually do
 */
#include "proc/proc.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit {
    const char *name;
    int (*run)(void); /* how many of its tests failed */
};

#define UNIT(name) int unit_##name(void);
#include UNIT_LIST
#undef UNIT
#define UNIT(name) {#name, unit_##name},
static const struct unit ALL[] = {
#include UNIT_LIST
};

int main(int argc, char **argv)
{
    proc_begin(argc, argv);
    bool found = false;
    int failed = 0;
    if (argc > 2) {
        cmocka_set_test_filter(argv[2]);
    }
    for (size_t i = 0; i < COUNT(ALL); i++) {
        if (argc < 2 || strcmp(argv[1], ALL[i].name) == 0) {
            found = true;
            failed += ALL[i].run() != 0;
        }
    }
    if (!found) {
        fprintf(stderr, "unit: no tests/unit/test_%s.c in this program\n", argv[1]);
    }
    return found && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
