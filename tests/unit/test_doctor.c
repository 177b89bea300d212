/* What a check says: the dashboard shows it as it is, tokens of callers included. */
#include "unit.h"

#include "core/redact.h"
#include "doctor/check.h"

#include <string.h>

#define TOKEN "token-of-a-caller"

static void a_finding_holds_no_secret(void **state)
{
    (void)state;
    struct look look = {0};
    char filler[sizeof look.finding.text];
    assert_int_equal(redact_add(TOKEN, SECRET_KEPT), OK);
    report(&look, FINDING_BROKEN, "it names %s, which is no provider", TOKEN);
    suggest(&look, "unset %s", TOKEN);
    assert_string_equal(look.finding.text, "it names [redacted], which is no provider");
    assert_string_equal(look.finding.fix, "unset [redacted]");
    /* Nor the beginning of one, where the text is cut. */
    memset(filler, 'x', sizeof filler);
    filler[sizeof filler - sizeof TOKEN] = '\0';
    report(&look, FINDING_BROKEN, "%s %s", filler, TOKEN);
    assert_null(strstr(look.finding.text, "token"));
    redact_reset();
}

UNIT_TEST(doctor)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_finding_holds_no_secret),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
