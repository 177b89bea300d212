/* Every allocation of evidence fails once: what could not be kept is told, and nothing is graded
 * that was not looked for. */
#include "unit.h"

#include "core/limits.h"
#include "evidence/evidence.h"
#include "failing_allocations.h"

#include <string.h>

/* All of it, once; whether everything came as it should. */
static bool work(struct arena *arena)
{
    const char *markdown = NULL;
    size_t count = 0;
    struct evidence *evidence = evidence_new(arena);
    if (!evidence) {
        return false;
    }
    size_t one =
        evidence_add_page(evidence, "https://a.test/", "A",
                          "Lake Baikal is 1,642 metres deep, and it is very old indeed. It "
                          "lies in Siberia, where nobody has ever measured it again since.",
                          0);
    size_t other =
        evidence_add_page(evidence, "https://b.test/", "B",
                          "Lake Baikal is 1,624 metres deep, and it is very old indeed.", 0);
    size_t found = evidence_add_note(evidence, "c", "Lake Baikal is 1,642 metres deep", one);
    size_t near = evidence_add_note_at(
        evidence, "d",
        "is 1,642 metres deep, and it is very old today. It lies in Siberia, where nobody has ever "
        "measured it again since",
        "https://a.test/");
    const struct evidence_note *note = evidence_note(evidence, near);
    assert_true(!found || evidence_note(evidence, found)->grade == EVIDENCE_EXACT || failed);
    bool rendered =
        evidence_render_links(evidence, "It is [1] [x](https://c.test/).", &markdown) == OK;
    const struct evidence_conflict *conflicts = evidence_conflicts(evidence, &count);
    return one && other && found && note && note->grade == EVIDENCE_NEAR && rendered && markdown &&
           conflicts && count == 1;
}

static void what_fails_is_told(void **state)
{
    (void)state;
    size_t rounds = 0;
    do {
        struct arena *arena = arena_new(MIB(4));
        assert_non_null(arena);
        failed = false;
        fail_after = (long)rounds++;
        bool good = work(arena);
        fail_after = -1;
        assert_true(good || failed);
        arena_free(arena);
    } while (failed);
    assert_true(rounds > 5);
}

UNIT_TEST(evidence_allocations)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_fails_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
