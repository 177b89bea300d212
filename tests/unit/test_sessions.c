/* Cookies and page tokens: whom they stand for, until when, and what is refused. */
#include "guard/sessions.h"

#include "core/limits.h"
#include "core/status.h"

#include "unit.h"

#include <stddef.h>
#include <string.h>

#define NOW INT64_C(1763500000000)

static const char *const PAIRS[] = {"ada:token-0123456789-abcdef", "ada:second-9876543210-token",
                                    "b.e.a+operator:token-abcdef-0123456789", NULL};

struct world {
    struct callers *callers;
    struct sessions *sessions;
};

static struct world open_world(void)
{
    char problem[256];
    struct world world = {.callers = callers_new(PAIRS, NULL, problem, sizeof problem)};
    assert_non_null(world.callers);
    world.sessions = sessions_new(world.callers);
    assert_non_null(world.sessions);
    return world;
}

static const struct caller *find(const struct world *world, struct slice cookie, int64_t now_ms)
{
    struct session session = {0};
    bool found = session_find(world->sessions, cookie, now_ms, &session);
    assert_int_equal(found, session.caller != NULL);
    assert_true(!found || session.expires_ms > now_ms);
    return session.caller;
}

static void close_world(struct world *world)
{
    sessions_free(world->sessions);
    callers_free(world->callers);
}

static struct slice slice_of(const char *text)
{
    return (struct slice){text, strlen(text)};
}

static void a_cookie_is_its_callers(void **state)
{
    (void)state;
    struct world world = open_world();
    const struct caller *caller;
    for (size_t i = 0; (caller = callers_at(world.callers, i)) != NULL; i++) {
        char cookie[SESSION_SIZE];
        assert_int_equal(session_make(world.sessions, caller, NOW, cookie), OK);
        assert_ptr_equal(find(&world, slice_of(cookie), NOW + 1), caller);
        assert_ptr_equal(find(&world, slice_of(cookie), NOW + TIME_SESSION_MS - 1), caller);
        assert_null(find(&world, slice_of(cookie), NOW + TIME_SESSION_MS));
        /* A clock that was set back: it would last longer than any that is given. */
        assert_null(find(&world, slice_of(cookie), NOW - 1));
    }
    assert_int_equal(session_make(world.sessions, caller_local(), NOW, (char[SESSION_SIZE]){0}),
                     ERR_INVALID);
    assert_true(callers_at(world.callers, 2)->is_operator);
    assert_string_equal(callers_at(world.callers, 2)->name, "b.e.a");
    close_world(&world);
}

static void each_changed_letter_is_noticed(void **state)
{
    (void)state;
    struct world world = open_world();
    char cookie[SESSION_SIZE];
    assert_int_equal(session_make(world.sessions, callers_at(world.callers, 0), NOW, cookie), OK);
    for (size_t i = 0; cookie[i]; i++) {
        char changed[SESSION_SIZE];
        memcpy(changed, cookie, sizeof changed);
        changed[i] = changed[i] == '1' ? '2' : '1';
        assert_null(find(&world, slice_of(changed), NOW + 1));
        assert_null(find(&world, (struct slice){cookie, i}, NOW + 1));
    }
    close_world(&world);
}

static void a_pages_token_is_its_callers(void **state)
{
    (void)state;
    struct world world = open_world(), other = open_world();
    char token[PAGE_TOKEN_SIZE], local[PAGE_TOKEN_SIZE];
    const struct caller *ada = callers_at(world.callers, 0);
    page_token_make(world.sessions, ada, token);
    page_token_make(world.sessions, caller_local(), local);
    assert_true(page_token_fits(world.sessions, ada, slice_of(token)));
    assert_false(page_token_fits(world.sessions, callers_at(world.callers, 2), slice_of(token)));
    assert_false(page_token_fits(world.sessions, caller_local(), slice_of(token)));
    assert_true(page_token_fits(world.sessions, caller_local(), slice_of(local)));
    /* Servers that know the same tokens are one; whoever needs none is known to this one alone. */
    assert_true(page_token_fits(other.sessions, callers_at(other.callers, 0), slice_of(token)));
    assert_false(page_token_fits(other.sessions, caller_local(), slice_of(local)));
    close_world(&world);
    close_world(&other);
}

UNIT_TEST(sessions)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cookie_is_its_callers),
        cmocka_unit_test(each_changed_letter_is_noticed),
        cmocka_unit_test(a_pages_token_is_its_callers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
