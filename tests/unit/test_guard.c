/* Who is calling, how often, and for how much: tokens, windows, rules and the gate. */
#include "unit.h"

#include "call/call.h"
#include "call/errors.h"
#include "core/limits.h"
#include "core/redact.h"
#include "core/status.h"
#include "guard/admission.h"
#include "guard/callers.h"
#include "guard/limiter.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *name_of(const struct callers *callers, const char *header)
{
    const struct caller *caller = callers_find(callers, header, header ? strlen(header) : 0);
    return caller ? caller->name : NULL;
}

static void tokens_name_their_callers(void **state)
{
    (void)state;
    char problem[256];
    struct callers *callers = callers_new(
        (const char *const[]){"alice:alice-token-0123456789", "bob:bob:with:colons:and:more", NULL},
        NULL, problem, sizeof problem);
    assert_non_null(callers);
    assert_int_equal(callers_count(callers), 2);
    static const struct {
        const char *header, *name;
    } CASES[] = {
        {"Bearer alice-token-0123456789", "alice"},
        {"bearer alice-token-0123456789", "alice"},
        {"Bearer bob:with:colons:and:more", "bob"},
        {"Bearer alice-token-0123456788", NULL},
        {"Bearer alice-token-0123456789 ", NULL},
        {"Bearer alice-token-012345678", NULL},
        {"Bearer ", NULL},
        {"Bearer", NULL},
        {"Basic alice-token-0123456789", NULL},
        {"alice-token-0123456789", NULL},
        {NULL, NULL},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        const char *name = name_of(callers, CASES[i].header);
        if (CASES[i].name) {
            assert_non_null(name);
            assert_string_equal(name, CASES[i].name);
        } else {
            assert_null(name);
        }
    }
    /* Tokens are secrets at once, and looked for in our own words only. */
    assert_true(redact_needed("x alice-token-0123456789 y", 26, WORDS_OURS));
    assert_false(redact_needed("x alice-token-0123456789 y", 26, WORDS_FROM_OUTSIDE));
    callers_free(callers);
    redact_reset();
}

static void without_tokens_everyone_is_local(void **state)
{
    (void)state;
    char problem[256];
    struct callers *callers = callers_new(NULL, NULL, problem, sizeof problem);
    assert_int_equal(callers_count(callers), 0);
    assert_string_equal(name_of(callers, NULL), "local");
    assert_string_equal(name_of(callers, "Bearer whatever"), "local");
    callers_free(callers);
}

static void wrong_tokens_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *pairs[3], *problem;
    } CASES[] = {
        {{"no-name-here"}, "name:token"},
        {{":token-without-name"}, "name:token"},
        {{"al ice:token-12345"}, "name:token"},
        {{"alice:"}, "20 to 512"},
        {{"alice:with blank here, long"}, "20 to 512"},
        {{"alice:same-token-0123456789", "bob:same-token-0123456789"}, "twice"},
        {{"alice:alice-token-0123456789", "local:local-token-0123456789"}, "the name local"},
        {{"alice:short"}, "the token of alice is shorter than 20"},
        {{"alice:f3c1a9d0b7e24865fd1"}, "shorter than 20"},
        {{"alice:aaaaaaaaaaaaaaaaaaaa"}, "fewer than 6 different"},
        {{"alice:00000000000000000000000001"}, "fewer than 6 different"},
        {{"alice:passwordpasswordpassword"}, "repeated"},
        {{"alice:0123456789012345678901"}, "repeated"},
        {{"alice:abcdefghijklmnopqrstuvwxyz"}, "neighbouring"},
        {{"alice:zzyyxxwwvvuuttssrrqqpp"}, "neighbouring"},
        {{"alice:REPLACE-WITH-A-LONG-RANDOM-TOKEN"}, "the example"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char problem[256] = "";
        assert_null(callers_new(CASES[i].pairs, NULL, problem, sizeof problem));
        assert_non_null(strstr(problem, CASES[i].problem));
        assert_non_null(strstr(problem, "FORAGE_TOKENS"));
    }
    redact_reset();
}

/* Of those that a program makes hardly any is refused: here none, of either kind. */
static void good_tokens_are_taken(void **state)
{
    (void)state;
    static const char *const ALPHABETS[] = {"0123456789abcdef",
                                            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                            "0123456789+/"};
    uint64_t random = 1;
    for (size_t i = 0; i < 2000; i++) {
        const char *alphabet = ALPHABETS[i % COUNT(ALPHABETS)];
        char pair[32] = "alice:";
        for (size_t at = 6; at < 26; at++) {
            random = random * 6364136223846793005U + 1442695040888963407U;
            pair[at] = alphabet[(random >> 33) % strlen(alphabet)];
        }
        char problem[256] = "";
        struct callers *callers =
            callers_new((const char *const[]){pair, NULL}, NULL, problem, sizeof problem);
        if (!callers) {
            fail_msg("%s: %s", pair, problem);
        }
        callers_free(callers);
        redact_reset();
    }
}

static void tokens_come_from_a_file(void **state)
{
    (void)state;
    char path[] = "/tmp/forage-tokens-XXXXXX";
    int fd = mkstemp(path);
    static const char TEXT[] = "# callers\n\ncarol:carol-token-0123456789\r\n"
                               "  dave:dave-token-0123456789  \n";
    assert_int_equal(write(fd, TEXT, sizeof TEXT - 1), sizeof TEXT - 1);
    close(fd);
    char problem[256];
    struct callers *callers = callers_new(
        (const char *const[]){"alice:alice-token-0123456789", NULL}, path, problem, sizeof problem);
    assert_non_null(callers);
    assert_int_equal(callers_count(callers), 3);
    assert_string_equal(name_of(callers, "Bearer dave-token-0123456789"), "dave");
    callers_free(callers);
    unlink(path);
    assert_null(callers_new(NULL, path, problem, sizeof problem));
    assert_non_null(strstr(problem, "FORAGE_TOKENS_FILE"));
    redact_reset();
}

/* Takes one of `calls` per `window_ms`; what is known afterwards is in `claim`. */
static int take(struct limiter *limiter, const char *caller, const char *action, unsigned calls,
                int64_t window_ms, struct limit_claim *claim)
{
    *claim = (struct limit_claim){.calls = calls, .window_ms = window_ms};
    snprintf(claim->key, sizeof claim->key, "%s %s", caller, action);
    return limiter_take(limiter, claim, 1);
}

static void a_window_lets_so_many_through(void **state)
{
    (void)state;
    struct limiter *limiter = limiter_new();
    struct limit_claim claim;
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(take(limiter, "alice", "search", 5, 60000, &claim), OK);
        assert_int_equal(claim.left, 4 - i);
        assert_int_equal(claim.retry_after_ms, 0);
    }
    assert_int_equal(take(limiter, "alice", "search", 5, 60000, &claim), ERR_LIMIT);
    assert_true(claim.retry_after_ms > 0 && claim.retry_after_ms <= 60000);
    assert_int_equal(claim.left, 0);
    assert_int_equal(take(limiter, "bob", "search", 5, 60000, &claim), OK);
    assert_int_equal(take(limiter, "alice", "read", 5, 60000, &claim), OK);
    limiter_free(limiter);
}

static void a_new_window_begins(void **state)
{
    (void)state;
    struct limiter *limiter = limiter_new();
    struct limit_claim claim;
    assert_int_equal(take(limiter, "a", "x", 1, 5, &claim), OK);
    while (take(limiter, "a", "x", 1, 5, &claim) == ERR_LIMIT) {
        usleep(1000);
    }
    assert_int_equal(claim.retry_after_ms, 0);
    limiter_free(limiter);
}

static void all_windows_or_none(void **state)
{
    (void)state;
    struct limiter *limiter = limiter_new();
    struct limit_claim both[] = {{.key = "a", .calls = 5, .window_ms = 60000},
                                 {.key = "b", .calls = 2, .window_ms = 60000}};
    assert_int_equal(limiter_take(limiter, both, 2), OK);
    assert_int_equal(limiter_take(limiter, both, 2), OK);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(limiter_take(limiter, both, 2), ERR_LIMIT);
        assert_int_equal(both[0].left, 3);
        assert_int_equal(both[0].retry_after_ms, 0);
        assert_true(both[1].retry_after_ms > 0);
    }
    limiter_free(limiter);
}

static void a_call_may_count_for_several(void **state)
{
    (void)state;
    struct limiter *limiter = limiter_new();
    struct limit_claim claim = {.key = "a", .calls = 5, .more = 2, .window_ms = 60000};
    assert_int_equal(limiter_take(limiter, &claim, 1), OK);
    assert_int_equal(claim.left, 2);
    assert_int_equal(limiter_take(limiter, &claim, 1), ERR_LIMIT);
    assert_int_equal(claim.left, 2);
    assert_true(claim.retry_after_ms > 0);
    claim.more = 1;
    assert_int_equal(limiter_take(limiter, &claim, 1), OK);
    assert_int_equal(claim.left, 0);
    limiter_free(limiter);
}

static void a_clock_that_was_set_back_locks_nobody_out(void **state)
{
    (void)state;
    struct limit_claim claim = {.calls = 1, .window_ms = 1000};
    struct limit_window window = {.ends_ms = 900000000, .used = 1};
    limit_look(&claim, &window, 5000);
    assert_int_equal(claim.left, 1);
    assert_int_equal(window.ends_ms, 6000);
}

static void the_limiter_forgets_before_it_grows(void **state)
{
    (void)state;
    struct limiter *limiter = limiter_new();
    struct limit_claim claim;
    char name[32];
    for (int i = 0; i < 2 * LIMIT_WINDOW_KEYS; i++) {
        snprintf(name, sizeof name, "caller%d", i);
        assert_int_equal(take(limiter, name, "x", 1, 60000, &claim), OK);
    }
    assert_int_equal(take(limiter, name, "x", 1, 60000, &claim), ERR_LIMIT);
    limiter_free(limiter);
    assert_null(limiter_free(NULL));
}

struct crowd {
    struct limiter *limiter;
    atomic_int passed;
};

static void *push(void *context)
{
    struct crowd *crowd = context;
    struct limit_claim claim;
    for (int i = 0; i < 100; i++) {
        if (take(crowd->limiter, "alice", "x", 20, 60000, &claim) == OK) {
            atomic_fetch_add(&crowd->passed, 1);
        }
    }
    return NULL;
}

static void exactly_so_many_pass_at_once(void **state)
{
    (void)state;
    struct crowd crowd = {.limiter = limiter_new()};
    pthread_t threads[16];
    for (size_t i = 0; i < COUNT(threads); i++) {
        pthread_create(&threads[i], NULL, push, &crowd);
    }
    for (size_t i = 0; i < COUNT(threads); i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(crowd.passed, 20);
    limiter_free(crowd.limiter);
}

/* ---- the rules ---- */

#define ITEMS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void rules_become_claims(void **state)
{
    (void)state;
    char problem[256];
    struct limit_claim claims[LIMIT_WINDOW_CLAIMS];
    struct limit_rules *rules =
        limit_rules_new(ITEMS("search_web=5/1m", "search_web=50/24h", "*=100/1h", "read=0"),
                        ITEMS("search_web=500/24h"), problem, sizeof problem);
    assert_non_null(rules);
    assert_int_equal(limit_rules_claims(rules, "alice", "search_web", claims), 4);
    assert_int_equal(claims[0].calls, 5);
    assert_int_equal(claims[0].window_ms, 60000);
    assert_string_equal(claims[0].key, "alice search_web 60000");
    assert_string_equal(claims[1].key, "alice search_web 86400000");
    assert_string_equal(claims[2].key, "alice * 3600000");
    assert_string_equal(claims[3].key, "all callers search_web 86400000");
    assert_true(claims[3].for_all);
    assert_int_equal(limit_rules_claims(rules, "alice", "read", claims), 1);
    assert_string_equal(limit_rules_tool(rules, 2), "*");
    assert_null(limit_rules_tool(rules, 5));
    limit_rules_free(rules);
}

static void what_is_not_named_keeps_its_default(void **state)
{
    (void)state;
    static const struct {
        const char *item;
        size_t claims; /* of search_web */
        unsigned calls;
    } CASES[] = {{"read=5/1m", 1, 20}, {"search_web=7/1h", 1, 7}, {"search_web=0", 0, 0}};
    char problem[256];
    struct limit_claim claims[LIMIT_WINDOW_CLAIMS] = {0};
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct limit_rules *rules =
            limit_rules_new(ITEMS(CASES[i].item), NULL, problem, sizeof problem);
        assert_int_equal(limit_rules_claims(rules, "a", "search_web", claims), CASES[i].claims);
        if (CASES[i].claims) {
            assert_int_equal(claims[0].calls, CASES[i].calls);
        }
        limit_rules_free(rules);
    }
}

static void wrong_rules_are_refused(void **state)
{
    (void)state;
    static const char *const WRONG[] = {"search_web",         "search_web=",      "=5/1m",
                                        "search_web=5",       "search_web=-5/1m", "search_web=5/",
                                        "search_web=5/1y",    "search_web=x/1m",  "search_web=5/0s",
                                        "a=99999999999999/1m"};
    char problem[256];
    for (size_t i = 0; i < COUNT(WRONG); i++) {
        assert_null(limit_rules_new(ITEMS(WRONG[i]), NULL, problem, sizeof problem));
        assert_non_null(strstr(problem, "FORAGE_LIMITS"));
        assert_non_null(strstr(problem, WRONG[i]));
    }
}

/* ---- the gate ---- */

/* Counts that others share, which say what they are told to. */
struct told {
    int status;
    struct spending spent;
    int asked;
};

static int take_as_told(void *context, struct call *call, struct limit_claim *claims, size_t count,
                        struct spending *spent)
{
    struct told *told = context;
    (void)call;
    told->asked++;
    for (size_t i = 0; told->status == ERR_LIMIT && i < count; i++) {
        claims[i].retry_after_ms = 4200;
    }
    if (spent) {
        *spent = told->spent;
    }
    return told->status;
}

static void the_gate_decides(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        struct admission_tool tool;
        struct told told;
        int status;
        int asked;         /* how often the shared counts were */
        const char *words; /* in the refusal */
    } CASES[] = {
        {"free", {"search_web", false, true, 0}, {OK, {0}, 0}, OK, 1, NULL},
        {"used up",
         {"search_web", false, true, 0},
         {ERR_LIMIT, {0}, 0},
         ERR_FAILED,
         1,
         "20 calls in 10m, and none is left; try again in 5 seconds"},
        {"below the budget", {"search_web", false, true, 0}, {OK, {999999999, 0}, 0}, OK, 1, NULL},
        {"spent",
         {"search_web", false, true, 0},
         {OK, {1000000000, 0}, 0},
         ERR_FAILED,
         1,
         "FORAGE_DAILY_BUDGET_USD"},
        {"all have spent",
         {"search_web", false, true, 0},
         {OK, {0, 3000000000}, 0},
         ERR_FAILED,
         1,
         "FORAGE_DAILY_BUDGET_TOTAL_USD"},
        {"spent, but it costs nothing",
         {"search_web", false, false, 0},
         {OK, {9000000000, 0}, 0},
         OK,
         1,
         NULL},
        {"cancelled",
         {"search_web", false, true, 0},
         {ERR_CANCELLED, {0}, 0},
         ERR_CANCELLED,
         1,
         NULL},
        {"no limit", {"get_content", false, false, 0}, {ERR_LIMIT, {0}, 0}, OK, 0, NULL},
        {"quick", {"search_web", true, false, 0}, {ERR_LIMIT, {0}, 0}, OK, 0, NULL},
        {"the store is away", {"search_web", false, true, 0}, {ERR_IO, {0}, 0}, OK, 1, NULL},
        {"away, and spent",
         {"search_web", false, true, 0},
         {ERR_IO, {2000000000, 0}, 0},
         ERR_FAILED,
         1,
         "budget"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char problem[256];
        struct told told = CASES[i].told;
        struct limiter *limiter = limiter_new();
        struct limit_rules *limits = limit_rules_new(NULL, NULL, problem, sizeof problem);
        struct admission_rules rules = {.limiter = limiter,
                                        .limits = limits,
                                        .shared = {&told, take_as_told},
                                        .budget_nano = NANO_PER_USD,
                                        .total_budget_nano = 3 * NANO_PER_USD};
        struct call *call = call_new(&(struct call_options){.caller = caller_local()});
        print_message("%s\n", CASES[i].what);
        assert_int_equal(admission_check(&rules, call, &CASES[i].tool), CASES[i].status);
        assert_int_equal(told.asked, CASES[i].asked);
        if (CASES[i].words) {
            assert_string_equal(call_error(call)->code, CODE_RATE_LIMIT);
            assert_non_null(strstr(call_error(call)->message, CASES[i].words));
            assert_true(call_error(call)->retry_after_s > 0);
            assert_non_null(strstr(call_error(call)->details, "\"left\":0"));
        }
        call_free(call);
        limit_rules_free(limits);
        limiter_free(limiter);
    }
}

static void without_the_store_this_process_counts(void **state)
{
    (void)state;
    char problem[256];
    struct told told = {.status = ERR_IO};
    struct limiter *limiter = limiter_new();
    struct limit_rules *limits = limit_rules_new(NULL, NULL, problem, sizeof problem);
    struct admission_rules rules = {
        .limiter = limiter, .limits = limits, .shared = {&told, take_as_told}};
    int passed = 0;
    for (int i = 0; i < 30; i++) {
        struct call *call = call_new(&(struct call_options){.caller = caller_local()});
        passed += admission_check(&rules, call,
                                  &(struct admission_tool){"search_web", false, true, 0}) == OK;
        call_free(call);
    }
    assert_int_equal(passed, 20);
    limit_rules_free(limits);
    limiter_free(limiter);
}

static void days_are_those_of_utc(void **state)
{
    (void)state;
    char day[ADMISSION_DAY_SIZE];
    admission_day(INT64_C(1794700799999), day);
    assert_string_equal(day, "2026-11-14");
    admission_day(INT64_C(1794700800000), day);
    assert_string_equal(day, "2026-11-15");
}

UNIT_TEST(guard)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_name_their_callers),
        cmocka_unit_test(without_tokens_everyone_is_local),
        cmocka_unit_test(wrong_tokens_are_refused),
        cmocka_unit_test(good_tokens_are_taken),
        cmocka_unit_test(tokens_come_from_a_file),
        cmocka_unit_test(a_window_lets_so_many_through),
        cmocka_unit_test(a_new_window_begins),
        cmocka_unit_test(the_limiter_forgets_before_it_grows),
        cmocka_unit_test(all_windows_or_none),
        cmocka_unit_test(a_call_may_count_for_several),
        cmocka_unit_test(a_clock_that_was_set_back_locks_nobody_out),
        cmocka_unit_test(exactly_so_many_pass_at_once),
        cmocka_unit_test(rules_become_claims),
        cmocka_unit_test(what_is_not_named_keeps_its_default),
        cmocka_unit_test(wrong_rules_are_refused),
        cmocka_unit_test(the_gate_decides),
        cmocka_unit_test(without_the_store_this_process_counts),
        cmocka_unit_test(days_are_those_of_utc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
