/* Cutting imports into values. */
#include "unit.h"

#include "core/buf.h"
#include "core/limits.h"
#include "core/status.h"
#include "memory/values.h"

#include <stdlib.h>
#include <string.h>

/* Writes what is cut out: "line 1<...>" or "item 1<...>". */
static int write_piece(void *context, const struct values_piece *piece)
{
    buf_printf(context, "%s%zu<%.*s>", piece->is_item ? "item " : "line ", piece->number,
               (int)piece->length, piece->data);
    return OK;
}

static int cut(struct buf *out, const char *text, size_t length, size_t piece, const char **problem)
{
    struct values values;
    int status = OK;
    values_init(&values, write_piece, out);
    for (size_t at = 0; at < length && status == OK; at += piece) {
        status = values_feed(&values, text + at, length - at < piece ? length - at : piece);
    }
    status = status == OK ? values_end(&values) : status;
    *problem = values.problem;
    values_done(&values);
    return status;
}

static void cuts_values(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *pieces;
    } CASES[] = {
        {"", ""},
        {" \n\t\r\n", ""},
        {"{\"a\":1}", "line 1<{\"a\":1}>"},
        {"{\"a\":1}\n\n{\"b\":2}\r\n", "line 1<{\"a\":1}>line 3<{\"b\":2}\r>"},
        {"\n\n{\"a\":\"}\\\"\"}\n{\"b\":2}", "line 3<{\"a\":\"}\\\"\"}>line 4<{\"b\":2}>"},
        /* a broken line ends with its line */
        {"{\"a\":1\n{\"b\":2}\n", "line 1<{\"a\":1>line 2<{\"b\":2}>"},
        {"{\"a\":\"x\n{\"b\":2}\n", "line 1<{\"a\":\"x>line 2<{\"b\":2}>"},
        {"{\"a\":1}}\n{\"b\":2}\n", "line 1<{\"a\":1}}>line 2<{\"b\":2}>"},
        {"text\nmore", "line 1<text>line 2<more>"},
        /* over several lines */
        {"{\n \"a\": [\n1\n]\n}\n{\"b\":\n2}\n5\n",
         "line 1<{\n \"a\": [\n1\n]\n}>line 6<{\"b\":\n2}>"
         "line 8<5\n>"},
        {"{\n \"a\": 1", "line 1<{\n \"a\": 1>"},
        /* arrays */
        {"[]", ""},
        {" [ \n ] \n", ""},
        {"\xEF\xBB\xBF[1]", "item 1<1>"},
        {"[{\"a\":[1,2]}, \"x]\\\",\" ,3 ]\n",
         "item 1<{\"a\":[1,2]}>item 2<\"x]\\\",\" >item 3<3 >"},
        {"[1,]", "item 1<1>item 2<>"},
        {"[,1]", "item 1<>item 2<1>"},
        /* arrays in an object */
        {"{\"results\":[{\"a\":1},2]}", "item 1<{\"a\":1}>item 2<2>"},
        {"{\"x\": {\"results\": [0]}, \"y\": [\"results\", [1]], \"results\" : [ 3 ], \"z\":[4],\n"
         "\"memories\":[5]}\n",
         "item 1<3 >item 2<5>"},
        {"{\"entities\":[],\"relations\":[1]}", "item 1<1>"},
        {"{\"results\":{\"a\":[1]}}", "line 1<{\"results\":{\"a\":[1]}}>"},
        {"{\"text\":\"results\",\"tags\":[\"a\"]}\n{}",
         "line 1<{\"text\":\"results\",\"tags\":[\"a\"]}>line 2<{}>"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        size_t length = strlen(CASES[i].text);
        for (size_t piece = 1; piece <= length + 1; piece++) {
            struct buf out;
            const char *problem;
            buf_init(&out, KIB(64));
            assert_int_equal(cut(&out, CASES[i].text, length, piece, &problem), OK);
            assert_string_equal(out.data ? out.data : "", CASES[i].pieces);
            buf_done(&out);
        }
    }
}

static void refuses_what_is_cut_off(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *problem;
    } CASES[] = {
        {"[", "missing"},
        {"[1", "missing"},
        {"[1,", "missing"},
        {"{\"results\":[1]", "missing"},
        {"{\"results\":[1],\"x\":\"}", "missing"},
        {"[1] 2", "follows"},
        {"{\"results\":[1]}{}", "follows"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct buf out;
        const char *problem = NULL;
        buf_init(&out, KIB(64));
        assert_int_equal(cut(&out, CASES[i].text, strlen(CASES[i].text), 2, &problem), ERR_INVALID);
        assert_non_null(strstr(problem, CASES[i].problem));
        buf_done(&out);
    }
}

static int count_piece(void *context, const struct values_piece *piece)
{
    *(size_t *)context += piece->length;
    return OK;
}

/* A value of any kind has a ceiling, and what is below it is taken. */
static void bounds_values(void **state)
{
    (void)state;
    static const struct {
        const char *start;
        size_t most;
    } KINDS[] = {{"x\n", LIMIT_MEMORY_LINE_BYTES}, {"[\"", LIMIT_MEMORY_ITEM_BYTES}};
    size_t length = LIMIT_MEMORY_ITEM_BYTES + 10;
    char *text = malloc(length);
    assert_non_null(text);
    memset(text, 'x', length);
    for (size_t i = 0; i < COUNT(KINDS); i++) {
        struct values values;
        size_t taken = 0;
        values_init(&values, count_piece, &taken);
        assert_int_equal(values_feed(&values, KINDS[i].start, 2), OK);
        assert_int_equal(values_feed(&values, text, KINDS[i].most - 10), OK);
        assert_int_equal(values_feed(&values, text, 20), ERR_LIMIT);
        values_done(&values);
    }
    free(text);
}

UNIT_TEST(values)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_values),
        cmocka_unit_test(refuses_what_is_cut_off),
        cmocka_unit_test(bounds_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
