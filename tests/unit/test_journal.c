/* The journal of a kept call: what is taken from earlier runs, what is added, and which time it is.
 */
#include "unit.h"

#include "call/journal.h"
#include "core/status.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static char heard[512]; /* what the one who keeps it was told */
static int add_status;

static void took(void *context, size_t index)
{
    (void)context;
    snprintf(heard + strlen(heard), sizeof heard - strlen(heard), "took %zu;", index);
}

static int add(void *context, size_t index, const struct journal_step *step)
{
    (void)context;
    snprintf(heard + strlen(heard), sizeof heard - strlen(heard), "add %zu %s %s;", index,
             step->kind, step->body);
    return add_status;
}

static int forbid(void *context)
{
    (void)context;
    return ERR_CANCELLED;
}

static void tell(void *context, const char *state)
{
    snprintf(heard + strlen(heard), sizeof heard - strlen(heard), "%s %s;", (char *)context, state);
}

static struct call *kept(const struct journal_step *steps, size_t count,
                         const struct journal_options *more)
{
    static char name[] = "told";
    heard[0] = '\0';
    add_status = OK;
    struct call *call = call_new(&(struct call_options){0});
    assert_non_null(call);
    struct journal_options options = more ? *more : (struct journal_options){.run = 1};
    options.steps = steps;
    options.step_count = count;
    options.context = name;
    options.took = took;
    options.add = add;
    options.tell = tell;
    options.leave = tell;
    struct journal *journal = journal_new(call_arena(call), &options);
    assert_non_null(journal);
    call_set_journal(call, journal);
    return call;
}

static const struct journal_step STEPS[] = {
    {"model", "one", 1000}, {"search", "two", 5000}, {"model", "three", 9000}};

static void without_one(void **state)
{
    (void)state;
    struct call *call = call_new(&(struct call_options){0});
    assert_null(journal_take(call, "model"));
    assert_int_equal(journal_add(call, "model", "x"), OK);
    assert_int_equal(journal_may_act(call), OK);
    assert_int_equal(journal_run(call), 1);
    assert_int_equal(journal_past_ms(call), 0);
    assert_true(journal_worked_ms(call) >= 0 && journal_worked_ms(call) < 60000);
    assert_true(journal_begun_ms(call) > INT64_C(1600000000000));
    journal_tell(call, "{}");
    journal_leave(call, "{}");
    call_free(call);
}

static void steps_are_taken_in_order_and_then_added(void **state)
{
    (void)state;
    struct call *call =
        kept(STEPS, COUNT(STEPS), &(struct journal_options){.run = 3, .begun_ms = 77});
    assert_int_equal(journal_run(call), 3);
    assert_int_equal(journal_begun_ms(call), 77);
    assert_int_equal(journal_past_ms(call), 9000);
    assert_int_equal(journal_last_ms(call), 0);
    assert_string_equal(journal_take(call, "model"), "one");
    assert_int_equal(journal_last_ms(call), 1000);
    assert_string_equal(journal_take(call, "search"), "two");
    assert_string_equal(journal_take(call, "model"), "three");
    assert_int_equal(journal_last_ms(call), 9000);
    assert_null(journal_take(call, "model"));
    assert_int_equal(journal_add(call, "pages", "four"), OK);
    assert_string_equal(heard, "took 0;took 1;took 2;add 3 pages four;");
    call_free(call);
}

static void time_stands_still_while_steps_are_taken(void **state)
{
    (void)state;
    static const struct timespec PAUSE = {.tv_nsec = 30 * 1000 * 1000};
    struct call *call = kept(STEPS, COUNT(STEPS), NULL);
    journal_take(call, "model");
    nanosleep(&PAUSE, NULL);
    assert_int_equal(journal_worked_ms(call), 1000);
    journal_take(call, "search");
    journal_take(call, "model");
    int64_t resumed = journal_worked_ms(call);
    assert_true(resumed >= 9000 && resumed < 69000);
    nanosleep(&PAUSE, NULL);
    assert_true(journal_worked_ms(call) >= resumed + 25);
    assert_int_equal(journal_last_ms(call), 9000);
    assert_int_equal(journal_add(call, "model", "x"), OK);
    assert_true(journal_last_ms(call) >= 9025);
    call_free(call);
}

/* Another version does something else: what follows in the journal is void, and replaced. */
static void a_run_that_does_something_else(void **state)
{
    (void)state;
    struct call *call = kept(STEPS, COUNT(STEPS), NULL);
    assert_string_equal(journal_take(call, "model"), "one");
    assert_null(journal_take(call, "pages"));
    assert_null(journal_take(call, "search"));
    assert_int_equal(journal_add(call, "pages", "new"), OK);
    assert_string_equal(heard, "took 0;add 1 pages new;");
    call_free(call);
}

static void whoever_keeps_it_may_say_no(void **state)
{
    (void)state;
    struct call *call = kept(NULL, 0, &(struct journal_options){.run = 1, .may_act = forbid});
    add_status = ERR_CANCELLED;
    assert_int_equal(journal_add(call, "model", "x"), ERR_CANCELLED);
    assert_int_equal(journal_may_act(call), ERR_CANCELLED);
    heard[0] = '\0';
    journal_tell(call, "state");
    journal_leave(call, "rest");
    journal_tell(call, NULL);
    assert_string_equal(heard, "told state;told rest;");
    call_free(call);
}

UNIT_TEST(journal)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_one),
        cmocka_unit_test(steps_are_taken_in_order_and_then_added),
        cmocka_unit_test(time_stands_still_while_steps_are_taken),
        cmocka_unit_test(a_run_that_does_something_else),
        cmocka_unit_test(whoever_keeps_it_may_say_no),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
