/* Who is told to get the words of a search: the open sources of a list, by what they search, and
 * those that insist on an address to write to. */
#include "unit.h"

#include "config/config.h"
#include "core/status.h"
#include "websearch/open/services.h"

static const struct source_terms ANY = {.contact = CONTACT_WELCOME};
static const struct source_terms STRICT = {.contact = CONTACT_NEEDED};
static const struct provider PAPERS = {
    .title = "Papers", .open = &ANY, .paths = {[SEARCH_WEB] = "/", [SEARCH_SCHOLAR] = "/"}};
static const struct provider WEB = {.title = "Web", .open = &ANY, .paths = {[SEARCH_WEB] = "/"}};
static const struct provider PACKAGES = {
    .title = "Packages", .open = &STRICT, .paths = {[SEARCH_CODE] = "/"}};
static const struct provider KEYED = {.title = "Keyed", .paths = {[EVERY_TYPE] = "/"}};
static const struct provider *const LIST[] = {&KEYED, &PACKAGES, &PAPERS, &WEB, NULL};

static void load(const char *contact)
{
    struct buf problem;
    char setting[64];
    snprintf(setting, sizeof setting, "FORAGE_CONTACT=%s", contact);
    buf_init(&problem, 4096);
    assert_int_equal(config_load((char *[]){setting, NULL}, NULL, &problem), OK);
    buf_done(&problem);
}

static void expect(const char *expected, const char *before, enum search_type type)
{
    char text[100] = "";
    struct text_out out;
    text_start(&out, text, sizeof text);
    assert_int_equal(services_put(&out, before, LIST, type), *expected != '\0');
    assert_string_equal(text, expected);
}

static void expect_unheard(const char *expected)
{
    char text[100] = "";
    struct text_out out;
    text_start(&out, text, sizeof text);
    assert_int_equal(services_put_unheard(&out, "not: ", LIST), *expected != '\0');
    assert_string_equal(text, expected);
}

static void sources_are_named_by_what_they_search(void **state)
{
    (void)state;
    load("");
    expect("the web: Papers, Web", "", SEARCH_WEB);
    expect("; papers: Papers", "; ", SEARCH_SCHOLAR);
    expect("", "; ", SEARCH_NEWS);
}

static void one_that_insists_on_a_contact_is_asked_with_one(void **state)
{
    (void)state;
    load("");
    expect("", "", SEARCH_CODE);
    expect_unheard("not: Packages");
    load("me@example.org");
    expect("code: Packages", "", SEARCH_CODE);
    expect_unheard("");
}

static int unload(void **state)
{
    (void)state;
    config_unload();
    return 0;
}

UNIT_TEST(services)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(sources_are_named_by_what_they_search, unload),
        cmocka_unit_test_teardown(one_that_insists_on_a_contact_is_asked_with_one, unload),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
