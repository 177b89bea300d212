/* The validator: tables of a schema, a value and the words that are expected. A ' stands for a " in
 * all of them, so that they can be read. */
#include "config/config.h"
#include "core/limits.h"
#include "core/status.h"
#include "registry/schema.h"
#include "tools/tools.h"

#include "unit.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct test_case {
    const char *schema;
    const char *value;
    const char *problem; /* NULL: none */
};

static int make_arena(void **state)
{
    *state = arena_new(MIB(64));
    return *state ? 0 : -1;
}

static int free_arena(void **state)
{
    *state = arena_free(*state);
    return 0;
}

static char *with_quotes(struct arena *arena, const char *text)
{
    char *copy = arena_strdup(arena, text);
    assert_non_null(copy);
    for (char *c = copy; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    return copy;
}

static yyjson_val *parse(struct arena *arena, const char *text)
{
    struct json_problem problem;
    char *json = with_quotes(arena, text);
    yyjson_doc *doc = json_parse(arena, json, strlen(json), &problem);
    if (!doc) {
        fail_msg("%s: %s", text, problem.text);
    }
    return yyjson_doc_get_root(doc);
}

static void expect(struct arena *arena, const struct test_case *test, int status,
                   const char *problem)
{
    const char *expected = test->problem ? with_quotes(arena, test->problem) : "";
    if (status != (test->problem ? ERR_INVALID : OK) || strcmp(problem, expected) != 0) {
        fail_msg("%s with %s\n  gave     %s\n  not      %s", test->schema,
                 test->value ? test->value : "", problem, expected);
    }
}

static void run_validations(struct arena *arena, const struct test_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char problem[LIMIT_ERROR_CHARS];
        yyjson_val *schema = parse(arena, cases[i].schema);
        if (schema_check(schema, problem, sizeof problem) != OK) {
            fail_msg("%s: %s", cases[i].schema, problem);
        }
        int status = schema_validate(schema, parse(arena, cases[i].value), problem, sizeof problem);
        expect(arena, &cases[i], status, problem);
    }
}

/* ---- single values: the schema of the parameter `p` ---- */

static void run_parameters(struct arena *arena, const struct test_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct test_case whole = {
            arena_printf(arena, "{'type':'object','properties':{'p':%s}}", cases[i].schema),
            arena_printf(arena, "{'p':%s}", cases[i].value),
            cases[i].problem,
        };
        run_validations(arena, &whole, 1);
    }
}

static void checks_types(void **state)
{
    static const struct test_case CASES[] = {
        {"{'type':'string'}", "'x'", NULL},
        {"{'type':'string'}", "7", "p must be a string, but the number 7 came"},
        {"{'type':'string'}", "-7", "p must be a string, but the number -7 came"},
        {"{'type':'string'}", "null", "p must be a string, but null came"},
        {"{'type':'string'}", "true", "p must be a string, but the boolean true came"},
        {"{'type':'string'}", "[]", "p must be a string, but an empty array came"},
        {"{'type':'string'}", "[1]", "p must be a string, but an array of 1 item came"},
        {"{'type':'string'}", "[1,2]", "p must be a string, but an array of 2 items came"},
        {"{'type':'string'}", "{}", "p must be a string, but an empty object came"},
        {"{'type':'string'}", "{'a':1,'b c':2}",
         "p must be a string, but an object with a, 'b c' came"},
        {"{'type':'integer'}", "3", NULL},
        {"{'type':'integer'}", "-3", NULL},
        {"{'type':'integer'}", "3.0", NULL},
        {"{'type':'integer'}", "1e3", NULL},
        {"{'type':'integer'}", "-0.0", NULL},
        {"{'type':'integer'}", "9223372036854775807", NULL},
        {"{'type':'integer'}", "-9223372036854775808", NULL},
        {"{'type':'integer'}", "9223372036854775808",
         "p must be an integer, but 9223372036854775808 came"},
        {"{'type':'integer'}", "-9223372036854775808.0", NULL},
        {"{'type':'integer'}", "9223372036854775808.0",
         "p must be an integer, but 9.223372036854776e+18 came"},
        {"{'type':'integer'}", "1e300", "p must be an integer, but 1e+300 came"},
        {"{'type':'integer'}", "3.5", "p must be an integer, but 3.5 came"},
        {"{'type':'integer'}", "0.1", "p must be an integer, but 0.1 came"},
        {"{'type':'integer'}", "'3'", "p must be an integer, but the string '3' came"},
        {"{'type':'number'}", "3", NULL},
        {"{'type':'number'}", "3.5", NULL},
        {"{'type':'number'}", "'3.5'", "p must be a number, but the string '3.5' came"},
        {"{'type':'boolean'}", "false", NULL},
        {"{'type':'boolean'}", "0", "p must be true or false, but the number 0 came"},
        {"{'type':'boolean'}", "'true'", "p must be true or false, but the string 'true' came"},
        {"{'type':'null'}", "null", NULL},
        {"{'type':'null'}", "0", "p must be null, but the number 0 came"},
        {"{'type':'array'}", "[1,'a']", NULL},
        {"{'type':'array'}", "'a,b'", "p must be an array, but the string 'a,b' came"},
        {"{'type':'object'}", "{}", NULL},
        {"{'type':'object'}", "[]", "p must be an object, but an empty array came"},
        {"{'type':['string','null']}", "null", NULL},
        {"{'type':['string','null']}", "'x'", NULL},
        {"{'type':['null','string']}", "1", "p must be a string or null, but the number 1 came"},
        {"{'type':['integer','number']}", "'1'", "p must be a number, but the string '1' came"},
        {"true", "1", NULL},
        {"{}", "1", NULL},
        {"{'title':'T','description':'D','format':'uri','x-mcp-header':'P'}", "1", NULL},
        {"false", "1", "p must be absent, but 1 came"},
    };
    run_parameters(*state, CASES, COUNT(CASES));
}

static void checks_numbers(void **state)
{
    static const struct test_case CASES[] = {
        {"{'type':'integer','minimum':1,'maximum':20}", "1", NULL},
        {"{'type':'integer','minimum':1,'maximum':20}", "20", NULL},
        {"{'type':'integer','minimum':1,'maximum':20}", "20.0", NULL},
        {"{'type':'integer','minimum':1,'maximum':20}", "50",
         "p must be an integer from 1 to 20, but 50 came"},
        {"{'type':'integer','minimum':1,'maximum':20}", "0",
         "p must be an integer from 1 to 20, but 0 came"},
        {"{'type':'integer','minimum':1,'maximum':20}", "-1",
         "p must be an integer from 1 to 20, but -1 came"},
        {"{'type':'integer','minimum':1,'maximum':20}", "'five'",
         "p must be an integer from 1 to 20, but the string 'five' came"},
        {"{'type':'integer','minimum':1,'maximum':20}", "18446744073709551615",
         "p must be an integer from 1 to 20, but 18446744073709551615 came"},
        {"{'type':'integer','minimum':0}", "-1", "p must be an integer of at least 0, but -1 came"},
        {"{'type':'integer','maximum':-5}", "-4",
         "p must be an integer of at most -5, but -4 came"},
        {"{'type':'number','minimum':0.5}", "0.25",
         "p must be a number of at least 0.5, but 0.25 came"},
        {"{'type':'number','exclusiveMinimum':0}", "0", "p must be a number above 0, but 0 came"},
        {"{'type':'number','exclusiveMinimum':0}", "1e-300", NULL},
        {"{'type':'number','exclusiveMinimum':0,'maximum':1}", "1.5",
         "p must be a number above 0 and of at most 1, but 1.5 came"},
        {"{'type':'number','exclusiveMinimum':0,'exclusiveMaximum':1}", "1",
         "p must be a number above 0 and below 1, but 1 came"},
        {"{'type':'number','minimum':0,'exclusiveMaximum':1}", "0", NULL},
        {"{'minimum':10}", "3", "p must be a number of at least 10, but 3 came"},
        {"{'minimum':10}", "'not a number'", NULL},
        /* exact beyond what a double can hold */
        {"{'maximum':9007199254740992}", "9007199254740993",
         "p must be a number of at most 9007199254740992, but 9007199254740993 came"},
        {"{'minimum':-9007199254740992}", "-9007199254740993",
         "p must be a number of at least -9007199254740992, but -9007199254740993 came"},
        {"{'maximum':-1}", "18446744073709551615",
         "p must be a number of at most -1, but 18446744073709551615 came"},
    };
    run_parameters(*state, CASES, COUNT(CASES));
}

static void checks_strings(void **state)
{
    static const struct test_case CASES[] = {
        {"{'type':'string','minLength':3,'maxLength':5}", "'abc'", NULL},
        {"{'type':'string','minLength':3,'maxLength':5}", "'abcde'", NULL},
        {"{'type':'string','minLength':3,'maxLength':5}", "'ab'",
         "p must be a string of 3 to 5 characters, but 'ab' (2 characters) came"},
        {"{'type':'string','minLength':3,'maxLength':5}", "'abcdef'",
         "p must be a string of 3 to 5 characters, but 'abcdef' (6 characters) came"},
        {"{'type':'string','minLength':3,'maxLength':5}", "'x'",
         "p must be a string of 3 to 5 characters, but 'x' (1 character) came"},
        {"{'type':'string','minLength':3,'maxLength':5,'x-trim':true}", "' \\n abcde\\t '", NULL},
        {"{'type':'string','minLength':3,'maxLength':5,'x-trim':false}", "'  abcd'",
         "p must be a string of 3 to 5 characters, but '  abcd' came"},
        {"{'type':'string','minLength':3,'x-trim':true}", "' ab '",
         "p must be a string of at least 3 characters, but ' ab ' came"},
        {"{'type':'string','minLength':1,'x-trim':true}", "'   '",
         "p must be a string of at least 1 character, but '   ' came"},
        {"{'type':'string','minLength':1}", "''",
         "p must be a string of at least 1 character, but '' (0 characters) came"},
        {"{'type':'string','maxLength':1}", "'ab'",
         "p must be a string of at most 1 character, but 'ab' (2 characters) came"},
        {"{'type':'string','minLength':2,'maxLength':2}", "'abc'",
         "p must be a string of 2 characters, but 'abc' (3 characters) came"},
        {"{'type':'string','minLength':0,'maxLength':2}", "'abc'",
         "p must be a string of at most 2 characters, but 'abc' (3 characters) came"},
        /* code points, not bytes or UTF-16 units */
        {"{'type':'string','maxLength':2}", "'\u4e2d\U0001F600'", NULL},
        {"{'type':'string','minLength':3}", "'\u4e2d\U0001F600'",
         "p must be a string of at least 3 characters, but '\u4e2d\U0001F600' (2 characters) "
         "came"},
        {"{'type':'string','pattern':'^[A-Z]{2}$'}", "'DE'", NULL},
        {"{'type':'string','pattern':'^[A-Z]{2}$'}", "'usa'",
         "p must be a string that matches ^[A-Z]{2}$, but 'usa' came"},
        {"{'type':'string','maxLength':9,'pattern':'^a'}", "'b'",
         "p must be a string of at most 9 characters that matches ^a, but 'b' came"},
        {"{'type':['string','null'],'maxLength':2}", "'abc'",
         "p must be a string of at most 2 characters or null, but 'abc' (3 characters) came"},
        /* what came is cut between code points and cannot disturb a terminal */
        {"{'type':'integer'}",
         "'0123456789012345678901234567890123456789012345678901234567890123456789'",
         "p must be an integer, but the string "
         "'012345678901234567890123456789012345678901234567890123456789\u2026' "
         "(70 characters) came"},
        {"{'type':'string','maxLength':2}", "'\\u001b[31m\\n\\u202e'",
         "p must be a string of at most 2 characters, but '\\u001b[31m\\n\\u202e' "
         "(7 characters) came"},
        {"{'type':'integer'}", "'say \\'hi\\' \\\\'",
         "p must be an integer, but the string 'say \\'hi\\' \\\\' came"},
    };
    run_parameters(*state, CASES, COUNT(CASES));
}

static void checks_choices(void **state)
{
    static const struct test_case CASES[] = {
        {"{'enum':['concise','detailed']}", "'concise'", NULL},
        {"{'enum':['concise','detailed']}", "'deep'",
         "p must be one of 'concise', 'detailed', but 'deep' came"},
        {"{'type':'string','enum':['concise','detailed']}", "3",
         "p must be one of 'concise', 'detailed', but the number 3 came"},
        {"{'enum':['AND']}", "'and'", "p must be 'AND', but 'and' came"},
        {"{'enum':[1,2.5,null,true,[1],{'a':1}]}", "{'a':1.0}", NULL},
        {"{'enum':[1,2.5,null,true,[1],{'a':1}]}", "[1.0]", NULL},
        {"{'enum':[1,2.5,null,true,[1],{'a':1}]}", "1.0", NULL},
        {"{'enum':[1,2.5,null,true,[1],{'a':1}]}", "[1,1]",
         "p must be one of 1, 2.5, null, true, an array of 1 item, an object with a, "
         "but an array of 2 items came"},
        {"{'enum':[1,2.5,null,true,[1],{'a':1}]}", "{'a':2}",
         "p must be one of 1, 2.5, null, true, an array of 1 item, an object with a, "
         "but an object with a came"},
        {"{'enum':[{'a':1,'b':2}]}", "{'b':2,'a':1}", NULL},
        {"{'enum':[0]}", "false", "p must be 0, but false came"},
        {"{'const':'yes'}", "'yes'", NULL},
        {"{'const':'yes'}", "'no'", "p must be 'yes', but 'no' came"},
        {"{'const':null}", "null", NULL},
        {"{'const':null}", "0", "p must be null, but 0 came"},
        {"{'enum':[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26]}", "0",
         "p must be one of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, "
         "21, 22, 23, 24 and 2 more, but 0 came"},
    };
    run_parameters(*state, CASES, COUNT(CASES));
}

static void checks_arrays(void **state)
{
    static const struct test_case CASES[] = {
        {"{'type':'array','items':{'type':'string'}}", "['a','b']", NULL},
        {"{'type':'array','items':{'type':'string'}}", "['a',2]",
         "p[1] must be a string, but the number 2 came"},
        {"{'type':'array','items':{'type':'string'}}", "'a'",
         "p must be an array of strings, but the string 'a' came"},
        {"{'type':'array','items':{'type':'string'},'minItems':1,'maxItems':3}", "[]",
         "p must be an array of 1 to 3 strings, but an empty array came"},
        {"{'type':'array','items':{'type':'string'},'minItems':1}", "[]",
         "p must be an array of at least 1 string, but an empty array came"},
        {"{'type':'array','items':{'type':'string'},'maxItems':2}", "['a','b','c']",
         "p must be an array of at most 2 strings, but an array of 3 items came"},
        {"{'type':'array','minItems':2}", "[1]",
         "p must be an array of at least 2 items, but an array of 1 item came"},
        {"{'type':'array','items':{'enum':['a','b']},'maxItems':1}", "['a','b']",
         "p must be an array of at most 1 item, each one of 'a', 'b', "
         "but an array of 2 items came"},
        {"{'type':'array','items':{'type':'string','maxLength':2}}", "7",
         "p must be an array whose items are each a string of at most 2 characters, "
         "but the number 7 came"},
        {"{'type':'array','items':{'type':'array','items':{'type':'integer'}}}", "[[1],[2,'x']]",
         "p[1][1] must be an integer, but the string 'x' came"},
        {"{'type':'array','items':false}", "[]", NULL},
        {"{'type':'array','items':false}", "[1]", "p[0] must be absent, but 1 came"},
        {"{'type':'array','uniqueItems':true}", "[1,2,'1',[1],{'a':1}]", NULL},
        {"{'type':'array','uniqueItems':true}", "[]", NULL},
        {"{'type':'array','uniqueItems':true}", "['x','y','x']",
         "p must not hold the same item twice, but items 0 and 2 are both 'x'"},
        {"{'type':'array','uniqueItems':true}", "[1,1.0]",
         "p must not hold the same item twice, but items 0 and 1 are both 1"},
        {"{'type':'array','uniqueItems':true}", "[{'a':1,'b':[2]},{'b':[2.0],'a':1}]",
         "p must not hold the same item twice, but items 0 and 1 are both an object with b, a"},
        {"{'type':'array','uniqueItems':false}", "[1,1]", NULL},
    };
    run_parameters(*state, CASES, COUNT(CASES));
}

static void checks_combinations(void **state)
{
    static const struct test_case CASES[] = {
        {"{'anyOf':[{'type':'string'},{'type':'array','items':{'type':'string'}}]}", "'a'", NULL},
        {"{'anyOf':[{'type':'string'},{'type':'array','items':{'type':'string'}}]}", "['a']", NULL},
        {"{'anyOf':[{'type':'string'},{'type':'array','items':{'type':'string'}}]}", "7",
         "p must be a string or an array of strings, but the number 7 came"},
        {"{'anyOf':[{'type':'string'},{'type':'array','items':{'type':'string'}}]}", "['a',3]",
         "p[1] must be a string, but the number 3 came"},
        {"{'anyOf':[{'type':'string','maxLength':2},{'type':'null'}]}", "'abc'",
         "p must be a string of at most 2 characters or null, but 'abc' came"},
        {"{'anyOf':[{'type':'integer','minimum':1},{'enum':['all']}]}", "0",
         "p must be an integer of at least 1 or 'all', but 0 came"},
        {"{'oneOf':[{'type':'string'},{'type':'integer'}]}", "7", NULL},
        {"{'oneOf':[{'type':'string'},{'type':'integer'}]}", "null",
         "p must be a string or an integer, but null came"},
        {"{'oneOf':[{'type':'number'},{'type':'integer'}]}", "7",
         "p must be exactly one of these, but 7 is more than one of them: "
         "a number or an integer"},
        {"{'oneOf':[{'type':'number'},{'type':'integer'}]}", "7.5", NULL},
        /* the alternative that was meant is told by a member that it fixes */
        {"{'oneOf':["
         "{'type':'object','properties':{'kind':{'const':'text'},'text':{'type':'string'}},"
         "'required':['kind','text']},"
         "{'type':'object','properties':{'kind':{'const':'range'},'from':{'type':'integer'}},"
         "'required':['kind','from']}]}",
         "{'kind':'range','from':'x'}", "p.from must be an integer, but the string 'x' came"},
        {"{'oneOf':["
         "{'type':'object','properties':{'kind':{'const':'text'},'text':{'type':'string'}},"
         "'required':['kind','text']},"
         "{'type':'object','properties':{'kind':{'const':'range'},'from':{'type':'integer'}},"
         "'required':['kind','from']}]}",
         "{'kind':'other'}",
         "p must be an object with kind and text or an object with kind and from, "
         "but an object with kind came"},
        {"{'allOf':[{'type':'string'},{'minLength':2},{'pattern':'^a'}]}", "'ab'", NULL},
        {"{'allOf':[{'type':'string'},{'minLength':2},{'pattern':'^a'}]}", "'b'",
         "p must be a string of at least 2 characters, but 'b' (1 character) came"},
        {"{'allOf':[{'type':'string'},{'minLength':2},{'pattern':'^a'}]}", "'bb'",
         "p must be a string that matches ^a, but 'bb' came"},
        {"{'not':{'type':'null'}}", "1", NULL},
        {"{'not':{'type':'null'}}", "null", "p must not be null, but null came"},
        {"{'type':'string','not':{'enum':['search','import']}}", "'import'",
         "p must not be one of 'search', 'import', but 'import' came"},
        {"{'type':'string','anyOf':[{'maxLength':2},{'pattern':'^long'}]}", "'longer'", NULL},
        {"{'type':'string','anyOf':[{'maxLength':2},{'pattern':'^long'}]}", "'other'",
         "p must be a string of at most 2 characters or a string that matches ^long, "
         "but 'other' came"},
        {"{'anyOf':[{'not':{'type':'string'}},{'const':'x'}]}", "'y'",
         "p must be anything but a string or 'x', but 'y' came"},
        {"{'anyOf':[{'allOf':[{'type':'string'},{'minLength':3}]},{'type':'null'}]}", "1",
         "p must be a string and a string of at least 3 characters or null, but 1 came"},
        {"{'if':{'type':'string'},'then':{'minLength':2},'else':{'minimum':5}}", "'ab'", NULL},
        {"{'if':{'type':'string'},'then':{'minLength':2},'else':{'minimum':5}}", "'a'",
         "p must be a string of at least 2 characters, but 'a' (1 character) came"},
        {"{'if':{'type':'string'},'then':{'minLength':2},'else':{'minimum':5}}", "3",
         "p must be a number of at least 5, but 3 came"},
        {"{'if':{'type':'string'},'then':{'minLength':2}}", "3", NULL},
    };
    run_parameters(*state, CASES, COUNT(CASES));
}

/* ---- whole objects ---- */

#define SEARCH                                                                                     \
    "{'type':'object','properties':{"                                                              \
    "'query':{'type':'string','minLength':3,'maxLength':400},"                                     \
    "'num_results':{'type':'integer','minimum':1,'maximum':20,'default':3},"                       \
    "'depth':{'type':'string','enum':['concise','detailed']},"                                     \
    "'filters':{'type':'object','properties':{'tags':{'type':'array','items':{'type':'string'}},"  \
    "'since':{'type':'string'}},'required':['tags'],'additionalProperties':false}},"               \
    "'required':['query'],'additionalProperties':false}"

static void checks_objects(void **state)
{
    static const struct test_case CASES[] = {
        {SEARCH, "{'query':'native code'}", NULL},
        {SEARCH, "{'query':'native code','num_results':20,'depth':'concise'}", NULL},
        {SEARCH, "{}", "query is required (a string of 3 to 400 characters)"},
        {SEARCH, "[]", "the arguments must be an object with query, but an empty array came"},
        {SEARCH, "{'query':'native code','num_results':50}",
         "num_results must be an integer from 1 to 20, but 50 came"},
        {SEARCH, "{'query':'native code','depth':'deep'}",
         "depth must be one of 'concise', 'detailed', but 'deep' came"},
        {SEARCH, "{'query':'native code','x':1}",
         "unknown parameter 'x'; allowed: query, num_results, depth, filters"},
        {SEARCH, "{'qery':'native code','query':'abc'}",
         "unknown parameter 'qery'; did you mean 'query'? "
         "allowed: query, num_results, depth, filters"},
        {SEARCH, "{'qery':'native code'}",
         "unknown parameter 'qery'; did you mean 'query'? "
         "allowed: query, num_results, depth, filters. "
         "Also: query is required (a string of 3 to 400 characters)"},
        {SEARCH, "{'query':'ok?','filters':{'tags':['a','b',3]}}",
         "filters.tags[2] must be a string, but the number 3 came"},
        {SEARCH, "{'query':'ok?','filters':{}}", "filters.tags is required (an array of strings)"},
        {SEARCH, "{'query':'ok?','filters':{'tags':[],'sinse':'x'}}",
         "unknown parameter 'sinse' in filters; did you mean 'since'? allowed: tags, since"},
        {SEARCH, "{'query':1,'num_results':0,'depth':2}",
         "query must be a string of 3 to 400 characters, but the number 1 came. "
         "Also: num_results must be an integer from 1 to 20, but 0 came. "
         "Also: depth must be one of 'concise', 'detailed', but the number 2 came"},
        {SEARCH, "{'query':1,'num_results':0,'depth':2,'filters':3,'x':4}",
         "query must be a string of 3 to 400 characters, but the number 1 came. "
         "Also: num_results must be an integer from 1 to 20, but 0 came. "
         "Also: depth must be one of 'concise', 'detailed', but the number 2 came. "
         "Also: filters must be an object with tags, but the number 3 came"},
        {"{'type':'object','additionalProperties':false}", "{'x':1}",
         "unknown parameter 'x'; no parameters are allowed"},
        {"{'type':'object','additionalProperties':false}", "{'\\u001b\\n':1}",
         "unknown parameter '\\u001b\\n'; no parameters are allowed"},
        {"{'type':'object','additionalProperties':{'type':'integer'}}", "{'a':1,'b':2}", NULL},
        {"{'type':'object','additionalProperties':{'type':'integer'}}", "{'a':1,'b c':'x'}",
         "['b c'] must be an integer, but the string 'x' came"},
        {"{'type':'object','properties':{'a':{'type':'object','additionalProperties':"
         "{'type':'integer'}}}}",
         "{'a':{'b c':'x'}}", "a['b c'] must be an integer, but the string 'x' came"},
        {"{'type':'object','properties':{'a':{'type':'string'}}}", "{'other':1}", NULL},
        {"{'type':'object','required':['a']}", "{}", "a is required"},
        {"{'type':'object','required':['a','b'],'properties':{'b':{'enum':[1,2]}}}", "{}",
         "a is required. Also: b is required (one of 1, 2)"},
        /* one of two parameters, as a condition and as alternatives */
        {"{'type':'object','anyOf':[{'required':['phone']},{'required':['email']}]}",
         "{'email':'a'}", NULL},
        {"{'type':'object','anyOf':[{'required':['phone']},{'required':['email']}]}",
         "{'name':'a'}",
         "the arguments must be an object with phone or an object with email, "
         "but an object with name came"},
        {"{'type':'object','if':{'properties':{'by':{'const':'phone'}},'required':['by']},"
         "'then':{'required':['phone']},'else':{'required':['email']}}",
         "{'by':'phone'}", "phone is required"},
        {"{'type':'object','if':{'properties':{'by':{'const':'phone'}},'required':['by']},"
         "'then':{'required':['phone']},'else':{'required':['email']}}",
         "{'by':'mail'}", "email is required"},
        /* names that begin with other names, or that are empty */
        {"{'type':'object','properties':{'':{'type':'integer'},'a':true}}", "{'':'x'}",
         "[''] must be an integer, but the string 'x' came"},
    };
    run_validations(*state, CASES, COUNT(CASES));
}

static void follows_references(void **state)
{
    static const char TREE[] = "{'$defs':{'node':{'type':'object','properties':{"
                               "'name':{'type':'string'},"
                               "'children':{'type':'array','items':{'$ref':'#/$defs/node'}}},"
                               "'required':['name']}},'$ref':'#/$defs/node'}";
    const struct test_case cases[] = {
        {"{'$defs':{'n':{'type':'integer','minimum':1}},'type':'object','properties':"
         "{'a':{'$ref':'#/$defs/n'}}}",
         "{'a':1}", NULL},
        {"{'$defs':{'n':{'type':'integer','minimum':1}},'type':'object','properties':"
         "{'a':{'$ref':'#/$defs/n'}}}",
         "{'a':0}", "a must be an integer of at least 1, but 0 came"},
        {"{'$defs':{'n':{'type':'integer','minimum':1}},'type':'object','properties':"
         "{'a':{'$ref':'#/$defs/n'}},'required':['a']}",
         "{}", "a is required (an integer of at least 1)"},
        /* what stands beside a reference holds too */
        {"{'$defs':{'n':{'type':'integer','minimum':1}},'type':'object','properties':"
         "{'a':{'$ref':'#/$defs/n','maximum':5}}}",
         "{'a':6}", "a must be a number of at most 5, but 6 came"},
        {TREE, "{'name':'a','children':[{'name':'b','children':[]}]}", NULL},
        {TREE, "{'name':'a','children':[{'name':'b','children':[{'nam':'c'}]}]}",
         "children[0].children[0].name is required (a string)"},
        {TREE, "{'name':'a','children':[7]}",
         "children[0] must be an object with name, but the number 7 came"},
    };
    run_validations(*state, cases, COUNT(cases));
}

/* ---- the check on schemas ---- */

static void accepts_sound_schemas(void **state)
{
    static const char *const SCHEMAS[] = {
        "true",
        "{}",
        SEARCH,
        "{'$schema':'https://json-schema.org/draft/2020-12/schema','type':'object','$defs':{"
        "'address':{'$anchor':'addressDef','type':'object','properties':{'street':{'type':"
        "'string'},'city':{'type':'string'}}}},'properties':{'name':{'type':'string'},'address':"
        "{'$ref':'#/$defs/address'},'contactMethod':{'type':'string','enum':['phone','email']},"
        "'phone':{'type':'string'},'email':{'type':'string'}},'allOf':[{'anyOf':[{'required':"
        "['phone']},{'required':['email']}]}],'if':{'properties':{'contactMethod':{'const':"
        "'phone'}},'required':['contactMethod']},'then':{'required':['phone']},'else':"
        "{'required':['email']},'additionalProperties':false}",
        "{'type':'string','default':'a','examples':['a','b'],'maxLength':1}",
        "{'$defs':{'a':{'items':{'$ref':'#/$defs/a'}}},'$ref':'#/$defs/a'}",
        "{'$defs':{'a':{'anyOf':[{'$ref':'#/$defs/b'}]},'b':{}},'$ref':'#/$defs/a'}",
        "{'x-anything':{'at':'all'},'deprecated':true,'$comment':'c','readOnly':false}",
        "{'type':'object','properties':{'type':{'type':'string'},'$ref':{'type':'string'}}}",
    };
    for (size_t i = 0; i < COUNT(SCHEMAS); i++) {
        char problem[400];
        if (schema_check(parse(*state, SCHEMAS[i]), problem, sizeof problem) != OK) {
            fail_msg("%s: %s", SCHEMAS[i], problem);
        }
        assert_string_equal(problem, "");
    }
}

static void check_compiled_in(const char *tool, const char *name, yyjson_val *schema)
{
    char problem[400];
    if (schema && schema_check(schema, problem, sizeof problem) != OK) {
        fail_msg("%s, %s: %s", tool, name, problem);
    }
}

/* No start of the program looks at them again. */
static void compiled_in_schemas_are_sound(void **state)
{
    (void)state;
    char *nothing[] = {NULL};
    struct buf problem;
    buf_init(&problem, KIB(64));
    assert_int_equal(config_load(nothing, NULL, &problem), OK);
    struct registry *registry = registry_new();
    assert_non_null(registry);
    assert_int_equal(tools_register(registry), OK);
    size_t of_all = registry->tool_count;
    assert_int_equal(tools_register_profile(registry, "chatgpt"), OK);
    assert_true(registry->tool_count > of_all);
    for (size_t i = 0; i < registry->tool_count; i++) {
        const struct entry *entry = &registry->tools[i];
        assert_non_null(entry->input_schema);
        check_compiled_in(entry->name, "inputSchema", entry->input_schema);
        check_compiled_in(entry->name, "outputSchema", entry->output_schema);
    }
    registry_free(registry);
    config_unload();
    buf_done(&problem);
}

static void refuses_unsound_schemas(void **state)
{
    static const struct test_case CASES[] = {
        {"7", NULL, "#: a schema must be an object, true or false"},
        {"{'minLenght':3}", NULL,
         "#: the keyword minLenght is not supported; did you mean minLength?"},
        {"{'patternProperties':{}}", NULL, "#: the keyword patternProperties is not supported"},
        {"{'multipleOf':2}", NULL, "#: the keyword multipleOf is not supported"},
        {"{'properties':{'a':{'contains':{}}}}", NULL,
         "#/properties/a: the keyword contains is not supported"},
        {"{'type':'text'}", NULL,
         "#/type: must be the name of a type, or a list of different ones"},
        {"{'type':[]}", NULL, "#/type: must be the name of a type, or a list of different ones"},
        {"{'type':['string','string']}", NULL,
         "#/type: must be the name of a type, or a list of different ones"},
        {"{'type':['string',7]}", NULL,
         "#/type: must be the name of a type, or a list of different ones"},
        {"{'type':7}", NULL, "#/type: must be the name of a type, or a list of different ones"},
        {"{'title':7}", NULL, "#/title: must be a string"},
        {"{'deprecated':1}", NULL, "#/deprecated: must be true or false"},
        {"{'minimum':'1'}", NULL, "#/minimum: must be a number"},
        {"{'minLength':-1}", NULL, "#/minLength: must be a whole number, not negative"},
        {"{'minLength':1.5}", NULL, "#/minLength: must be a whole number, not negative"},
        {"{'enum':[]}", NULL, "#/enum: must be a list that is not empty"},
        {"{'enum':'a'}", NULL, "#/enum: must be a list that is not empty"},
        {"{'required':'a'}", NULL, "#/required: must be a list of different names"},
        {"{'required':['a','a']}", NULL, "#/required: must be a list of different names"},
        {"{'required':[1]}", NULL, "#/required: must be a list of different names"},
        {"{'anyOf':[]}", NULL, "#/anyOf: must be a list of schemas that is not empty"},
        {"{'anyOf':[{},{'type':7}]}", NULL,
         "#/anyOf/1/type: must be the name of a type, or a list of different ones"},
        {"{'properties':[]}", NULL, "#/properties: must be an object of schemas"},
        {"{'items':[{}]}", NULL, "#/items: a schema must be an object, true or false"},
        {"{'pattern':7}", NULL, "#/pattern: must be a string"},
        {"{'pattern':'a\\u001b'}", NULL, "#/pattern: must not hold control characters"},
        {"{'properties':{'a':{'type':'string','pattern':'(?=a)'}}}", NULL,
         "#/properties/a/pattern: of the groups with (? only (?: is supported (at character 3)"},
        {"{'$ref':'#/$defs/nothing'}", NULL,
         "#/$ref: must be #/$defs/NAME with a name that is defined"},
        {"{'$ref':'https://example.org/schema'}", NULL,
         "#/$ref: must be #/$defs/NAME with a name that is defined"},
        {"{'$ref':'#'}", NULL, "#/$ref: must be #/$defs/NAME with a name that is defined"},
        {"{'$defs':{'a':{'$defs':{}}}}", NULL, "#/$defs/a/$defs: belongs at the top of the schema"},
        {"{'$defs':{'a':{'$ref':'#/$defs/a'}}}", NULL, "#: references lead back to themselves"},
        {"{'$defs':{'a':{'anyOf':[{'$ref':'#/$defs/b'}]},'b':{'not':{'$ref':'#/$defs/a'}}}}", NULL,
         "#: references lead back to themselves"},
        {"{'type':'integer','minLength':3}", NULL,
         "#/minLength: says nothing about values of this type"},
        {"{'type':'string','items':{}}", NULL, "#/items: says nothing about values of this type"},
        {"{'minLength':3,'maxLength':2}", NULL,
         "#: no value can pass both minLength and maxLength"},
        {"{'minItems':3,'maxItems':2}", NULL, "#: no value can pass both minItems and maxItems"},
        {"{'minimum':3,'maximum':2.5}", NULL, "#: no value can pass both minimum and maximum"},
        {"{'minimum':3,'exclusiveMaximum':3}", NULL,
         "#: no value can pass both minimum and exclusiveMaximum"},
        {"{'properties':{'a':{}},'required':['b'],'additionalProperties':false}", NULL,
         "#: requires b, which is no property"},
        {"{'then':{}}", NULL, "#: then and else need an if"},
        {"{'properties':{'a':{'type':'integer','maximum':9,'default':10}}}", NULL,
         "#/properties/a/default: does not pass its own schema: "
         "the arguments must be an integer of at most 9, but 10 came"},
        {"{'properties':{'a':{'type':'integer','examples':[1,'x']}}}", NULL,
         "#/properties/a/examples: does not pass its own schema: "
         "the arguments must be an integer, but the string 'x' came"},
        {"{'anyOf':[{'type':'string'},{'type':'integer','default':'x'}]}", NULL,
         "#/anyOf/default: does not pass its own schema: "
         "the arguments must be an integer, but the string 'x' came"},
        {"{'$defs':{'n':{'type':'integer'}},'properties':{'a':{'$ref':'#/$defs/n',"
         "'default':'x'}}}",
         NULL,
         "#/properties/a/default: does not pass its own schema: "
         "the arguments must be an integer, but the string 'x' came"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char problem[400];
        int status = schema_check(parse(*state, CASES[i].schema), problem, sizeof problem);
        expect(*state, &CASES[i], status, problem);
    }
}

/* ---- ceilings ---- */

static char *repeated(struct arena *arena, const char *before, const char *part, size_t count,
                      const char *after)
{
    struct buf text;
    buf_init(&text, MIB(16));
    buf_puts(&text, before);
    for (size_t i = 0; i < count; i++) {
        buf_puts(&text, part);
    }
    buf_puts(&text, after);
    assert_int_equal(buf_error(&text), OK);
    char *copy = arena_strndup(arena, text.data, text.length);
    buf_done(&text);
    return copy;
}

static void gives_up_at_its_ceilings(void **state)
{
    struct arena *arena = *state;
    char problem[400];
    /* Two alternatives at each level: twice the work with each level of the value. */
    yyjson_val *doubling = parse(arena, "{'$defs':{'a':{'anyOf':[{'items':{'$ref':'#/$defs/a'}},"
                                        "{'items':{'$ref':'#/$defs/a'}}],'not':{'const':7}}},"
                                        "'$ref':'#/$defs/a'}");
    assert_int_equal(schema_check(doubling, problem, sizeof problem), OK);
    yyjson_val *deep =
        parse(arena, repeated(arena, repeated(arena, "", "[", 30, "7"), "]", 30, ""));
    assert_int_equal(schema_validate(doubling, deep, problem, sizeof problem), ERR_INVALID);
    assert_string_equal(problem, "the arguments are too large to be checked");

    yyjson_val *unique = parse(arena, "{'uniqueItems':true}");
    yyjson_val *equal_looking =
        parse(arena, repeated(arena, "[{'a':[1,0]}", ",{'a':[1,1]}", 1, "]"));
    assert_int_equal(schema_validate(unique, equal_looking, problem, sizeof problem), OK);
    struct buf numbers;
    buf_init(&numbers, MIB(1));
    buf_puts(&numbers, "[0");
    for (int i = 1; i < 5000; i++) {
        buf_printf(&numbers, ",%d", i);
    }
    buf_puts(&numbers, "]");
    assert_int_equal(schema_validate(unique, parse(arena, numbers.data), problem, sizeof problem),
                     ERR_INVALID);
    assert_string_equal(problem, "the arguments are too large to be checked");
    buf_done(&numbers);

    yyjson_val *nested = parse(arena, "{'$defs':{'a':{'anyOf':[{'allOf':[{'$ref':'#/$defs/b'}]}]},"
                                      "'b':{'items':{'$ref':'#/$defs/a'}}},'$ref':'#/$defs/a'}");
    assert_int_equal(schema_check(nested, problem, sizeof problem), OK);
    deep = parse(arena, repeated(arena, repeated(arena, "", "[", 60, "7"), "]", 60, ""));
    assert_int_equal(schema_validate(nested, deep, problem, sizeof problem), ERR_INVALID);
    assert_string_equal(problem, "the arguments are nested too deeply to be checked");

    yyjson_val *pattern = parse(arena, "{'not':{'pattern':'(a?){100}b'}}");
    yyjson_val *endless = parse(arena, repeated(arena, "'", "aaaaaaaaaa", 50000, "'"));
    assert_int_equal(schema_validate(pattern, endless, problem, sizeof problem), ERR_INVALID);
    assert_string_equal(problem, "a string is too long to be checked against its pattern");
}

static void cuts_long_messages(void **state)
{
    struct arena *arena = *state;
    char problem[32];
    yyjson_val *schema = parse(arena, "{'type':'integer'}");
    yyjson_val *value = parse(arena, "'\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9'");
    assert_int_equal(schema_validate(schema, value, problem, sizeof problem), ERR_INVALID);
    assert_string_equal(problem, "the arguments must be an intege");
    assert_int_equal(schema_validate(schema, value, NULL, 0), ERR_INVALID);
}

/* ---- defaults ---- */

static void fills_in_defaults(void **state)
{
    static const struct test_case CASES[] = {
        {SEARCH, "{'query':'abc'}", "{'query':'abc','num_results':3}"},
        {SEARCH, "{'num_results':5}", "{'num_results':5}"},
        {SEARCH, "{'num_results':5.0}", "{'num_results':5}"},
        {SEARCH, "[1]", "[1]"},
        {"{'properties':{'a':{'default':null},'b':{'default':{'c':[1]}}}}", "{}",
         "{'a':null,'b':{'c':[1]}}"},
        {"{'$defs':{'n':{'type':'integer','default':4}},'properties':{'a':{'$ref':'#/$defs/n'},"
         "'b':{'$ref':'#/$defs/n','default':5}}}",
         "{}", "{'a':4,'b':5}"},
        {"{}", "{'a':[1.0,{'b':-2.0}],'c':2.5,'d':1e300,'e':-0.0}",
         "{'a':[1,{'b':-2}],'c':2.5,'d':1e300,'e':0}"},
    };
    struct arena *arena = *state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        yyjson_mut_doc *doc = json_new(arena);
        yyjson_mut_val *filled =
            schema_with_defaults(doc, parse(arena, CASES[i].schema), parse(arena, CASES[i].value));
        struct buf text;
        buf_init(&text, MIB(1));
        assert_int_equal(json_write(&text, arena, filled), OK);
        assert_string_equal(text.data, with_quotes(arena, CASES[i].problem));
        buf_done(&text);
    }
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *filled = schema_with_defaults(doc, parse(arena, SEARCH), NULL);
    assert_int_equal(yyjson_mut_get_sint(yyjson_mut_obj_get(filled, "num_results")), 3);
}

UNIT_TEST(schema)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checks_types),
        cmocka_unit_test(checks_numbers),
        cmocka_unit_test(checks_strings),
        cmocka_unit_test(checks_choices),
        cmocka_unit_test(checks_arrays),
        cmocka_unit_test(checks_combinations),
        cmocka_unit_test(checks_objects),
        cmocka_unit_test(follows_references),
        cmocka_unit_test(accepts_sound_schemas),
        cmocka_unit_test(compiled_in_schemas_are_sound),
        cmocka_unit_test(refuses_unsound_schemas),
        cmocka_unit_test(gives_up_at_its_ceilings),
        cmocka_unit_test(cuts_long_messages),
        cmocka_unit_test(fills_in_defaults),
    };
    return cmocka_run_group_tests(tests, make_arena, free_arena);
}
