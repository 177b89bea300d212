/* Effort: who takes most of the processors, and for how long that is held against it. */
#include "unit.h"

#include "call/effort.h"

#include <stdio.h>

#define SECOND_US 1000000

static void who_takes_most_is_known(void **state)
{
    (void)state;
    struct effort effort = {0};
    assert_false(effort_is_most(&effort, "alice", 0));
    effort_add(&effort, "alice", SECOND_US, 1000);
    assert_false(effort_is_most(&effort, "alice", 1000)); /* there is nobody else */
    effort_add(&effort, "bob", 100, 1000);
    assert_true(effort_is_most(&effort, "alice", 1000));
    assert_false(effort_is_most(&effort, "bob", 1000));
    assert_false(effort_is_most(&effort, "carol", 1000));
    effort_add(&effort, NULL, 2 * SECOND_US, 1000);
    assert_false(effort_is_most(&effort, "alice", 1000));
    assert_true(effort_is_most(&effort, NULL, 1000));
}

static void little_is_in_nobodys_way(void **state)
{
    (void)state;
    struct effort effort = {0};
    effort_add(&effort, "alice", 100000, 0);
    effort_add(&effort, "bob", 10, 0);
    assert_false(effort_is_most(&effort, "alice", 0));
}

static void it_is_forgotten(void **state)
{
    (void)state;
    struct effort effort = {0};
    effort_add(&effort, "alice", SECOND_US, 0);
    effort_add(&effort, "bob", 10, 0);
    assert_true(effort_is_most(&effort, "alice", 1000));
    assert_false(effort_is_most(&effort, "alice", 4000)); /* a sixteenth of it is left */
    effort_add(&effort, "alice", SECOND_US, 10000);
    assert_false(effort_is_most(&effort, "alice", 10000)); /* bob has gone */
}

/* More owners than are told apart: whoever takes least is forgotten, not whoever takes most. */
static void many_owners(void **state)
{
    (void)state;
    struct effort effort = {0};
    effort_add(&effort, "greedy", 100 * SECOND_US, 0);
    for (int i = 0; i < 10 * EFFORT_OWNERS; i++) {
        char name[32];
        snprintf(name, sizeof name, "owner %d", i);
        effort_add(&effort, name, 1000 + i, i);
    }
    assert_true(effort_is_most(&effort, "greedy", 10 * EFFORT_OWNERS));
    assert_false(effort_is_most(&effort, "owner 0", 10 * EFFORT_OWNERS));
}

UNIT_TEST(effort)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_takes_most_is_known),
        cmocka_unit_test(little_is_in_nobodys_way),
        cmocka_unit_test(it_is_forgotten),
        cmocka_unit_test(many_owners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
