/* Documents: a table of numbers and how a spreadsheet shows them, and every format with an
 * allocator that fails at each of its steps. */
#include "core/limits.h"
#include "documents/documents.h"
#include "documents/number_format.h"

#include "failing_allocations.h"
#include "packed_parts.h"
#include "unit.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- numbers ---- */

static const struct {
    const char *format;
    double value;
    const char *shown;
} NUMBERS[] = {
    {"General", 0, "0"},
    {"General", -0.0, "0"},
    {"General", 12.5, "12.5"},
    {"General", 1e15, "1e+15"},
    {"0", 12.5, "12"},
    {"0.00", 12.346, "12.35"},
    {"00000", 42, "00042"},
    {"#,##0", 1234567, "1,234,567"},
    {"#,##0", 123, "123"},
    {"#.##", 0.5, ".5"},
    {"0.0#", 1.5, "1.5"},
    {"0.0#", 1.25, "1.25"},
    {"0%", 0.256, "26%"},
    {"0.0%", -0.5, "-50.0%"},
    {"#,##0,", 1234567, "1,235"},
    {"0.00E+00", 12345, "1.23E+04"},
    {"0;(0);\"none\"", 5, "5"},
    {"0;(0);\"none\"", -5, "(5)"},
    {"0;(0);\"none\"", 0, "none"},
    {"\"$\"#,##0.00", 1234.5, "$1,234.50"},
    {"[$EUR-407] 0.00", 2, "EUR 2.00"},
    {"[Red]0", 3, "3"},
    {"0\\ \"kg\"", 70, "70 kg"},
    {"0 \"a;b\"", 1, "1 a;b"},
    {"# ?/?", 0.5, "0.5"},
    {"@", 7, "7"},
    {"yyyy-mm-dd", 45000, "2023-03-15"},
    {"d/m/yy", 45000, "15/3/23"},
    {"dddd, d mmmm yyyy", 45000, "Wednesday, 15 March 2023"},
    {"ddd mmm", 45000, "Wed Mar"},
    {"yyyy-mm-dd hh:mm:ss", 45000.5, "2023-03-15 12:00:00"},
    {"h:mm AM/PM", 0.75, "6:00 PM"},
    {"h:mm AM/PM", 0.0, "12:00 AM"},
    {"[h]:mm", 1.5, "36:00"},
    {"mm:ss", 0.0007, "01:00"},
    {"mm:ss.0", 1.0 / 86400 * 1.5, "00:01.5"},
    {"yyyy-mm-dd", 60, "1900-02-28"},
    {"yyyy-mm-dd", 2958465, "9999-12-31"},
    {"yyyy-mm-dd", 2958466, "2958466"},
    {"\"", 1, ""},
    {"[", 1, ""},
    {"\\", 1, ""},
};

static void test_numbers(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(NUMBERS); i++) {
        struct buf out;
        buf_init(&out, KIB(4));
        buf_puts(&out, "");
        number_format_write(&out, NUMBERS[i].format, NUMBERS[i].value, false);
        if (strcmp(out.data, NUMBERS[i].shown) != 0) {
            fail_msg("%s of %g: %s, not %s", NUMBERS[i].format, NUMBERS[i].value, out.data,
                     NUMBERS[i].shown);
        }
        buf_done(&out);
    }
}

/* ---- without memory ---- */

static void read_packed(struct buf *packed, const char *name)
{
    char path[512];
    char parts[KIB(64)];
    (void)snprintf(path, sizeof path, "%s/../../../fuzz/corpus/documents/%s", UNIT_DATA, name);
    FILE *file = fopen(path, "rbe");
    assert_non_null(file);
    size_t length = fread(parts, 1, sizeof parts, file);
    fclose(file);
    buf_init(packed, MIB(1));
    pack_parts(packed, parts, length);
}

static void test_without_memory(void **state)
{
    /* The other formats go through lexbor, which does not survive that. */
    static const char *const NAMES[] = {"xlsx", "formats"};
    (void)state;
    for (size_t i = 0; i < COUNT(NAMES); i++) {
        struct buf packed;
        int status = ERR_FAILED;
        read_packed(&packed, NAMES[i]);
        for (long round = 0; status != OK; round += round < 200 ? 1 : 11) {
            struct arena *arena = arena_new(LIMIT_CALL_ARENA_BYTES);
            struct document document = {0};
            const char *why = NULL;
            assert_non_null(arena);
            failed = false;
            fail_after = round;
            status = documents_read(arena, packed.data, packed.length, &document, &why);
            fail_after = -1;
            if (status != OK && status != ERR_NOMEM && (status != ERR_FAILED || !why)) {
                fail_msg("%s, step %ld: %s", NAMES[i], round, status_name(status));
            }
            assert_true(status != OK || document.length > 0);
            status = failed ? ERR_FAILED : status;
            arena_free(arena);
        }
        buf_done(&packed);
    }
}

UNIT_TEST(documents)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
