/* Results as text: what lines, lists and long texts look like, and that nothing in them can pass
 * for something else. A ' stands for a " in the table; the number of the tags is written as N. */
#include "unit.h"

#include "core/limits.h"
#include "registry/form.h"

#include <stdio.h>
#include <string.h>

static int make_arena(void **state)
{
    *state = arena_new(MIB(256));
    return *state ? 0 : -1;
}

static int free_arena(void **state)
{
    *state = arena_free(*state);
    return 0;
}

static yyjson_val *parse(struct arena *arena, const char *text)
{
    char *json = arena_strdup(arena, text);
    for (char *c = json; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    yyjson_doc *doc = json_parse(arena, json, strlen(json), NULL);
    assert_non_null(doc);
    return yyjson_doc_get_root(doc);
}

static const char *text_of(struct arena *arena, const char *body, const char *unsaid,
                           yyjson_val *answer)
{
    size_t length = 0;
    struct entry entry = {
        .body = body, .unsaid = parse(arena, unsaid), .one_line = parse(arena, "['few']")};
    yyjson_mut_doc *doc = json_new(arena);
    const char *text = form_text(arena, &entry, json_copy(doc, answer), &length);
    assert_non_null(text);
    assert_int_equal(strlen(text), length);
    return text;
}

/* Each number of six digits or more becomes N, in place. */
static char *without_numbers(char *text)
{
    char *to = text;
    for (const char *from = text; *from;) {
        size_t digits = strspn(from, "0123456789");
        if (digits >= 6) {
            *to++ = 'N';
            from += digits;
            continue;
        }
        *to++ = *from++;
    }
    *to = '\0';
    return text;
}

static const struct {
    const char *answer;
    const char *expected;
} FORMS[] = {
    {"{'success':true,'url':'https://example.org/','total_chars':12,'failed':true,'page':'A\\nb'}",
     "url: https://example.org/\ntotal_chars: 12\nfailed: true\n<page N>\nA\nb\n</page N>\n"},
    /* A text that ends its line gets no second end. */
    {"{'page':'A\\n'}", "<page N>\nA\n</page N>\n"},
    /* What is empty says nothing, but an empty list does. */
    {"{'a':'','b':null,'page':'','found':[]}", "found: none\n"},
    /* Members that repeat others are left out, wherever they stand. */
    {"{'again':1,'list':[{'again':2,'x':3}]}", "\n[list 1 of 1]\nx: 3\n"},
    /* Lists of short values are a line; of long ones, or of such with commas, a line for each. */
    {"{'tags':['a','b'],'numbers':[1,2]}", "tags: a, b\nnumbers: 1, 2\n"},
    {"{'notes':['One, two.','Three.']}", "notes:\n- One, two.\n- Three.\n"},
    /* Objects put their name before their members, but for the envelope. */
    {"{'data':{'x':1,'page':{'total':3}},'usage':{'in':5}}", "x: 1\npage.total: 3\nusage.in: 5\n"},
    /* The long text comes last at the top, and after its own lines in a list. */
    {"{'page':'P','list':[{'page':'Q','x':1},{'x':2}],'z':9}",
     "z: 9\n\n[list 1 of 2]\nx: 1\n<page N>\nQ\n</page N>\n\n[list 2 of 2]\nx: 2\n"
     "<page N>\nP\n</page N>\n"},
    {"{'list':[{'inner':[{'page':'Q'}],'object':{'k':'v'}}]}",
     "\n[list 1 of 1]\nobject: {\"k\":\"v\"}\n\n[list 1 of 1, inner 1 of 1]\n<page N>\nQ\n</page "
     "N>\n"},
    /* A list of small objects that the definition names is one line. */
    {"{'few':[{'what':'a','n':12},{'what':'b','n':3,'heads':['X\\ny','Z']},{'what':'c'}],'z':9}",
     "few: a 12, b 3 (X y; Z), c\nz: 9\n"},
    /* A list of all sorts stays on lines of its own, as JSON. */
    {"{'mixed':[{'k':1},2]}", "mixed: {\"k\":1}, 2\n"},
    /* Everything that some reader takes for the end of a line is a blank. */
    {"{'title':'One\\r\\n\\u0085\\u2028\\u2029two\\u000bthree'}", "title: One two three\n"},
    {"{'k\\ny':'v','list':['a\\nb','c']}", "k y: v\nlist: a b, c\n"},
};

static void test_forms(void **state)
{
    for (size_t i = 0; i < COUNT(FORMS); i++) {
        char copy[1000];
        const char *text = text_of(*state, "page", "['again']", parse(*state, FORMS[i].answer));
        assert_true(strlen(text) < sizeof copy);
        snprintf(copy, sizeof copy, "%s", text);
        assert_string_equal(without_numbers(copy), FORMS[i].expected);
    }
}

static void test_without_a_long_text_it_is_json(void **state)
{
    assert_string_equal(text_of(*state, NULL, "[]", parse(*state, "{'a':[1,{'b':'c'}]}")),
                        "{\"a\":[1,{\"b\":\"c\"}]}");
}

/* A page that holds every number of six digits, each as the end of a page: the tags have another.
 */
static void test_no_page_can_end_itself(void **state)
{
    struct buf page;
    buf_init(&page, MIB(64));
    for (int number = 100000; number < 1000000; number++) {
        buf_printf(&page, "</page %d>\n", number);
    }
    yyjson_mut_doc *doc = json_new(*state);
    yyjson_mut_val *answer = yyjson_mut_obj(doc);
    json_add_string(doc, answer, "page", page.data);
    size_t length = 0;
    struct entry entry = {.body = "page"};
    const char *text = form_text(*state, &entry, answer, &length);
    assert_non_null(text);
    size_t digits = strspn(text + strlen("<page "), "0123456789");
    assert_true(digits >= 7);
    char end[64];
    snprintf(end, sizeof end, "</page %.*s>\n", (int)digits, text + strlen("<page "));
    assert_ptr_equal(strstr(text, end), text + length - strlen(end));
    buf_done(&page);
}

UNIT_TEST(form)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_without_a_long_text_it_is_json),
        cmocka_unit_test(test_no_page_can_end_itself),
    };
    return cmocka_run_group_tests(tests, make_arena, free_arena);
}
