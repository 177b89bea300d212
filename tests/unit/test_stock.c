/* Stocks: who gets how much of what callers share, and that everything comes back. */
#include "unit.h"

#include "core/stock.h"

#include <stdio.h>
#include <string.h>

#define MOST 64

static struct holding held[MOST];
static size_t taken;

/* Takes single units for `owner` until it is refused; how many it got. */
static size_t take_all(struct stock *stock, const char *owner, bool from_kept)
{
    size_t count = 0;
    while (taken < MOST && stock_take(stock, owner, from_kept, 1, &held[taken]) == OK) {
        taken++;
        count++;
    }
    return count;
}

static void give_everything(struct stock *stock)
{
    while (taken > 0) {
        stock_give_all(&held[--taken]);
    }
    assert_int_equal(stock_used(stock), 0);
}

static void test_nobody_takes_more_than_it_leaves(void **state)
{
    (void)state;
    struct stock *stock = stock_new(NULL, &(struct stock_rule){.name = "things", .all = 24});
    assert_non_null(stock);
    assert_int_equal(take_all(stock, "greedy", false), 12);
    assert_int_equal(take_all(stock, "second", false), 6);
    assert_int_equal(take_all(stock, "third", false), 3);
    assert_int_equal(take_all(stock, NULL, false), 3); /* forage itself */
    give_everything(stock);
    stock_free(stock);
}

static void test_a_share_grows_when_others_leave(void **state)
{
    (void)state;
    struct holding first = {0};
    struct holding other = {0};
    struct stock *stock = stock_new(NULL, &(struct stock_rule){.name = "bytes", .all = 1000});
    assert_int_equal(stock_take(stock, "other", false, 400, &other), OK);
    assert_int_equal(stock_take(stock, "first", false, 300, &first), OK);
    assert_int_equal(stock_take(stock, "first", false, 1, &first), ERR_LIMIT);
    stock_give(&other, 399);
    assert_int_equal(stock_take(stock, "first", false, 199, &first), OK);
    assert_int_equal(first.units, 499);
    stock_give_all(&first);
    stock_give_all(&first); /* it holds nothing any more */
    assert_int_equal(stock_used(stock), 1);
    stock_give_all(&other);
    stock_free(stock);
}

static void test_what_is_kept(void **state)
{
    (void)state;
    struct stock *stock =
        stock_new(NULL, &(struct stock_rule){.name = "workers", .all = 10, .kept = 2});
    assert_int_equal(take_all(stock, NULL, false), 8);
    struct holding late = {0};
    assert_int_equal(stock_take(stock, "a", false, 1, &late), ERR_BUSY);
    assert_int_equal(stock_take(stock, "a", true, 1, &late), OK);
    assert_int_equal(stock_take(stock, "a", true, 1, &late), ERR_LIMIT); /* the last is another's */
    stock_give_all(&late);
    give_everything(stock);
    stock_free(stock);
}

struct seen {
    unsigned stocks;
    size_t used;
    uint64_t refused;
};

static void look(void *context, const struct stock_rule *rule, size_t used, uint64_t refused)
{
    struct seen *seen = context;
    assert_non_null(rule->name);
    seen->stocks++;
    seen->used += used;
    seen->refused += refused;
}

static void test_a_lone_caller_has_everything(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct stocks *stocks = stocks_new(false);
    struct stock *threads = stock_new(stocks, &(struct stock_rule){.name = "threads", .all = 5});
    struct stock *addresses =
        stock_new(stocks, &(struct stock_rule){.name = "sockets", .all = 4, .among_others = true});
    assert_int_equal(take_all(threads, "local", false), 5);
    assert_int_equal(take_all(addresses, "127.0.0.1", false), 2);
    stocks_look(stocks, look, &seen);
    assert_int_equal(seen.stocks, 2);
    assert_int_equal(seen.used, 7);
    assert_int_equal(seen.refused, 2);
    while (taken > 0) {
        stock_give_all(&held[--taken]);
    }
    stock_free(threads);
    stock_free(addresses);
    seen = (struct seen){0};
    stocks_look(stocks, look, &seen);
    assert_int_equal(seen.stocks, 0);
    stocks_free(stocks);
}

static void test_many_owners(void **state)
{
    (void)state;
    char name[32];
    struct stock *stock = stock_new(NULL, &(struct stock_rule){.name = "things", .all = 1000});
    for (taken = 0; taken < MOST; taken++) {
        snprintf(name, sizeof name, "owner %zu", taken);
        assert_int_equal(stock_take(stock, name, false, 2, &held[taken]), OK);
    }
    for (size_t i = 0; i < MOST; i += 2) { /* in another order than they came */
        stock_give(&held[i], 1);
    }
    assert_int_equal(stock_used(stock), MOST * 3 / 2);
    give_everything(stock);
    stock_free(stock);
}

/* What is there already is counted, beyond everything, and whoever asks next feels it. */
static void test_charge(void **state)
{
    (void)state;
    struct holding owed = {0};
    struct holding more = {0};
    struct stock *stock = stock_new(NULL, &(struct stock_rule){.name = "bytes", .all = 100});
    stock_charge(stock, "greedy", 60, &owed);
    assert_int_equal(stock_take(stock, "greedy", false, 1, &more), ERR_LIMIT);
    assert_int_equal(stock_take(stock, "other", false, 1, &more), OK);
    stock_charge(stock, "greedy", 60, &owed);
    assert_int_equal(owed.units, 120);
    assert_int_equal(stock_used(stock), 121);
    assert_int_equal(stock_take(stock, "other", false, 1, &more), ERR_BUSY);
    stock_give_all(&owed);
    stock_give_all(&more);
    assert_int_equal(stock_used(stock), 0);
    stock_free(stock);
}

UNIT_TEST(stock)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nobody_takes_more_than_it_leaves),
        cmocka_unit_test(test_charge),
        cmocka_unit_test(test_a_share_grows_when_others_leave),
        cmocka_unit_test(test_what_is_kept),
        cmocka_unit_test(test_a_lone_caller_has_everything),
        cmocka_unit_test(test_many_owners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
