/* Names of processes: this one is there, one that has ended is gone, and of another machine nobody
 * can tell. */
#include "unit.h"

#include "core/status.h"
#include "jobs/owner.h"

#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void this_process_is_there(void **state)
{
    (void)state;
    char one[OWNER_SIZE], other[OWNER_SIZE];
    assert_int_equal(owner_make(one), OK);
    assert_int_equal(owner_make(other), OK);
    assert_string_not_equal(one, other);
    assert_false(owner_is_gone(one, true));
    assert_false(owner_is_gone(other, false));
}

/* The same name with another number in one of its places. */
static void with(char *out, const char *owner, int place, const char *word)
{
    char copy[OWNER_SIZE];
    char *rest = NULL;
    snprintf(copy, sizeof copy, "%s", owner);
    out[0] = '\0';
    int at = 0;
    for (char *part = strtok_r(copy, " ", &rest); part; part = strtok_r(NULL, " ", &rest), at++) {
        size_t length = strlen(out);
        snprintf(out + length, OWNER_SIZE - length, "%s%s", at ? " " : "",
                 at == place ? word : part);
    }
}

static void others(void **state)
{
    (void)state;
    enum { BOOT, NAMESPACE, PID, START };
    char own[OWNER_SIZE], name[OWNER_SIZE], foreign[OWNER_SIZE];
    assert_int_equal(owner_make(own), OK);
    with(name, own, PID, "4194303"); /* beyond what a small machine gives */
    assert_true(owner_is_gone(name, true));
    assert_true(owner_is_gone(name, false));
    with(name, own, START, "1"); /* the number has been given to another process */
    assert_true(owner_is_gone(name, false));
    with(foreign, name, NAMESPACE, "17"); /* a container, whose numbers mean other processes */
    assert_false(owner_is_gone(foreign, false));
    with(name, own, BOOT, "00000000-0000-0000-0000-000000000000");
    assert_false(owner_is_gone(name, false)); /* another machine */
    assert_true(owner_is_gone(name, true));   /* of a file: this one, before it was started anew */
    static const char *const NONSENSE[] = {"", " ", "x", "a b c d e", "-1 -1 -1 -1"};
    for (size_t i = 0; i < COUNT(NONSENSE); i++) {
        assert_false(owner_is_gone(NONSENSE[i], false));
    }
}

/* A process that has ended and that nobody has buried is gone too. */
static void a_dead_process_is_gone(void **state)
{
    (void)state;
    static char program[] = "sleep", seconds[] = "1000";
    char *const arguments[] = {program, seconds, NULL};
    char own[OWNER_SIZE], name[OWNER_SIZE], path[64], text[1024] = "", number[24];
    pid_t pid;
    assert_int_equal(owner_make(own), OK);
    assert_int_equal(posix_spawnp(&pid, program, NULL, NULL, arguments, environ), 0);
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    char *at = strrchr(text, ')') + 2;
    for (int i = 0; i < 19; i++) {
        at = strchr(at, ' ') + 1;
    }
    at[strcspn(at, " ")] = '\0';
    snprintf(number, sizeof number, "%d", (int)pid);
    with(name, own, 2, number);
    with(own, name, 3, at);
    assert_false(owner_is_gone(own, false));
    kill(pid, SIGKILL);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_true(owner_is_gone(own, false));
    waitpid(pid, NULL, 0);
    assert_true(owner_is_gone(own, false));
}

static void the_clock_goes_on(void **state)
{
    (void)state;
    int64_t before = owner_clock_ms();
    usleep(5000);
    assert_true(before > 0 && owner_clock_ms() >= before + 4);
}

UNIT_TEST(owner)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(this_process_is_there),
        cmocka_unit_test(others),
        cmocka_unit_test(a_dead_process_is_gone),
        cmocka_unit_test(the_clock_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
