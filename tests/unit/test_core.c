/* The small things of core/ and text/: arena, buffer, digests, base64, ids, JSON, redaction. */
#include "unit.h"

#include "core/arena.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/id.h"
#include "core/limits.h"
#include "core/log.h"
#include "core/redact.h"
#include "core/sha256.h"
#include "core/status.h"
#include "text/base64.h"
#include "text/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- arena ---- */

static void arena_pieces_do_not_overlap(void **state)
{
    (void)state;
    struct arena *arena = arena_new(MIB(4));
    enum { PIECES = 500 };
    unsigned char *pieces[PIECES];
    for (size_t i = 0; i < PIECES; i++) {
        pieces[i] = arena_alloc(arena, i + 1);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % 16, 0);
        memset(pieces[i], (int)(i & 255), i + 1);
    }
    for (size_t i = 0; i < PIECES; i++) {
        for (size_t j = 0; j <= i; j++) {
            assert_int_equal(pieces[i][j], i & 255);
        }
    }
    assert_false(arena_failed(arena));
    arena_reset(arena);
    assert_int_equal(arena_used(arena), 0);
    assert_non_null(arena_alloc(arena, 10));
    assert_null(arena_free(arena));
}

static void arena_keeps_its_ceiling(void **state)
{
    (void)state;
    struct arena *arena = arena_new(1000);
    assert_non_null(arena_alloc(arena, 600));
    assert_null(arena_alloc(arena, 600));
    assert_true(arena_failed(arena));
    assert_null(arena_alloc(arena, SIZE_MAX));
    arena_reset(arena);
    assert_false(arena_failed(arena));
    arena_free(arena);
}

static void arena_realloc_keeps_the_bytes(void **state)
{
    (void)state;
    struct arena *arena = arena_new(MIB(1));
    char *text = arena_strdup(arena, "hello");
    char *grown = arena_realloc(arena, text, 6, 100);
    assert_string_equal(grown, "hello");
    assert_non_null(arena_alloc(arena, 10)); /* now it is not the newest any more */
    grown = arena_realloc(arena, grown, 100, 60000);
    assert_string_equal(grown, "hello");
    assert_ptr_equal(arena_realloc(arena, grown, 60000, 10), grown);
    assert_string_equal(arena_printf(arena, "%s-%d", "a", 7), "a-7");
    assert_null(arena_strdup(arena, NULL));
    arena_free(arena);
    assert_null(arena_free(NULL));
}

/* ---- buffer ---- */

static void buf_grows_and_stops(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 10);
    assert_int_equal(buf_puts(&buf, "12345"), OK);
    assert_int_equal(buf_printf(&buf, "%d", 678), OK);
    assert_string_equal(buf.data, "12345678");
    assert_int_equal(buf_puts(&buf, "too long"), ERR_LIMIT);
    assert_int_equal(buf_putc(&buf, 'x'), ERR_LIMIT);
    assert_int_equal(buf_error(&buf), ERR_LIMIT);
    assert_string_equal(buf.data, "12345678");
    buf_done(&buf);
}

/* Around every size at which memory is taken, and with a ceiling that the text would break. */
static void texts_of_any_length_are_formatted(void **state)
{
    (void)state;
    enum { MOST = 600 };
    char text[MOST + 1];
    memset(text, 'x', MOST);
    text[MOST] = '\0';
    for (int before = 0; before < MOST; before += 17) {
        for (int length = 0; length + before <= MOST; length++) {
            struct arena *arena = arena_new(KIB(4));
            struct buf buf, small;
            buf_init(&buf, MOST);
            buf_init(&small, (size_t)(before + length / 2));
            for (int i = 0; i < 2; i++) {
                int size = i ? length : before;
                assert_int_equal(buf_printf(&buf, "%.*s", size, text), OK);
                int status = buf_printf(&small, "%.*s", size, text);
                assert_int_equal(status, i && length > length / 2 ? ERR_LIMIT : OK);
            }
            assert_int_equal(buf.length, before + length);
            assert_memory_equal(buf.data, text, buf.length);
            assert_int_equal(buf.data[buf.length], '\0');
            assert_int_equal(small.length, length > length / 2 ? before : before + length);
            assert_int_equal(small.data[small.length], '\0');
            const char *copy = arena_printf(arena, "%.*s", length, text);
            assert_int_equal(strlen(copy), length);
            assert_memory_equal(copy, text, (size_t)length);
            buf_done(&buf);
            buf_done(&small);
            arena_free(arena);
        }
    }
}

static void buf_consumes_and_hands_over(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 100);
    buf_puts(&buf, "abcdef");
    buf_consume(&buf, 2);
    assert_string_equal(buf.data, "cdef");
    buf_consume(&buf, 100);
    assert_int_equal(buf.length, 0);
    buf_puts(&buf, "x");
    assert_string_equal(buf.data, "x");
    buf_done(&buf);
    assert_null(buf.data);
}

/* ---- digests and base64: the vectors of FIPS 180-4, RFC 4231 and RFC 4648 ---- */

static void hex(const unsigned char *digest, char out[65])
{
    for (size_t i = 0; i < SHA256_SIZE; i++) {
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
    }
}

static void sha256_knows_its_vectors(void **state)
{
    (void)state;
    static const struct {
        const char *text, *digest;
    } CASES[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        unsigned char digest[SHA256_SIZE];
        char text[65];
        struct sha256 sha;
        sha256_init(&sha);
        for (const char *c = CASES[i].text; *c; c++) {
            sha256_add(&sha, c, 1);
        }
        sha256_end(&sha, digest);
        hex(digest, text);
        assert_string_equal(text, CASES[i].digest);
    }
}

static void hmac_knows_its_vectors(void **state)
{
    (void)state;
    unsigned char digest[SHA256_SIZE];
    unsigned char other[SHA256_SIZE];
    char text[65];
    sha256_hmac("Jefe", 4, "what do ya want for nothing?", 28, digest);
    hex(digest, text);
    assert_string_equal(text, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    unsigned char long_key[131];
    memset(long_key, 0xaa, sizeof long_key);
    sha256_hmac(long_key, sizeof long_key, "Test Using Larger Than Block-Size Key - Hash Key First",
                54, other);
    hex(other, text);
    assert_string_equal(text, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    assert_false(sha256_same(digest, other));
    assert_true(sha256_same(digest, digest));
}

static void base64_goes_both_ways(void **state)
{
    (void)state;
    static const struct {
        const char *plain, *encoded;
    } CASES[] = {{"", ""},
                 {"f", "Zg=="},
                 {"fo", "Zm8="},
                 {"foo", "Zm9v"},
                 {"foob", "Zm9vYg=="},
                 {"fooba", "Zm9vYmE="},
                 {"foobar", "Zm9vYmFy"}};
    struct arena *arena = arena_new(MIB(1));
    for (size_t i = 0; i < COUNT(CASES); i++) {
        size_t length;
        assert_string_equal(base64_encode(arena, CASES[i].plain, strlen(CASES[i].plain)),
                            CASES[i].encoded);
        char *back = base64_decode(arena, CASES[i].encoded, strlen(CASES[i].encoded), &length);
        assert_string_equal(back, CASES[i].plain);
        assert_int_equal(length, strlen(CASES[i].plain));
    }
    static const char *const WRONG[] = {"Z", "Zg=", "Zg", "Z===", "Zm9!", "=Zg=", "Zm 9"};
    for (size_t i = 0; i < COUNT(WRONG); i++) {
        size_t length;
        assert_null(base64_decode(arena, WRONG[i], strlen(WRONG[i]), &length));
    }
    arena_free(arena);
}

/* ---- ids, time, names ---- */

static void ids_differ(void **state)
{
    (void)state;
    char a[ID_SIZE], b[ID_SIZE], c[ID_SECRET_SIZE], d[ID_SECRET_SIZE];
    id_make(a);
    id_make(b);
    assert_int_equal(strlen(a), 16);
    assert_string_not_equal(a, b);
    assert_int_equal(id_make_secret(c), OK);
    assert_int_equal(id_make_secret(d), OK);
    assert_int_equal(strlen(c), 32);
    assert_string_not_equal(c, d);
}

static void time_and_names(void **state)
{
    (void)state;
    char stamp[CLOCK_STAMP_SIZE];
    clock_stamp(stamp);
    assert_int_equal(strlen(stamp), 24);
    assert_int_equal(stamp[10], 'T');
    assert_int_equal(stamp[23], 'Z');
    assert_true(clock_now_us() / 1000 <= clock_now_ms());
    assert_string_equal(status_name(ERR_BUSY), "busy");
    assert_string_equal(status_name(OK), "ok");
    assert_string_equal(status_name(-999), "unknown");
    assert_string_equal(status_name(1), "unknown");
    assert_int_equal(log_level_parse("warn"), LOG_LEVEL_WARN);
    assert_int_equal(log_level_parse("loud"), -1);
}

/* ---- JSON ---- */

static void json_is_strict(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *problem; /* NULL: fine */
    } CASES[] = {
        {"{\"a\":1}", NULL},
        {" [1, 2.5, \"x\", null, true] ", NULL},
        {"{\"a\":{\"b\":1},\"c\":{\"b\":2}}", NULL},
        {"{\"a\":1,\"a\":2}", "duplicate key \"a\""},
        {"[{\"x\":{\"k\":1,\"k\":1}}]", "duplicate key \"k\""},
        {"{\"a\":1,\"\\u0061\":2}", "duplicate key \"a\""},
        {"", ""},
        {"{", ""},
        {"{\"a\":1}x", ""},
        {"[1,]", ""},
        {"[1e999]", ""},
        {"\"\xff\"", ""},
        {"\"\xed\xa0\x80\"", ""},
        {"// comment\n1", ""},
        {"NaN", ""},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct arena *arena = arena_new(MIB(1));
        struct json_problem problem = {0};
        yyjson_doc *doc = json_parse(arena, CASES[i].text, strlen(CASES[i].text), &problem);
        if (CASES[i].problem) {
            assert_null(doc);
            assert_non_null(strstr(problem.text, CASES[i].problem));
            assert_true(*problem.text);
        } else {
            assert_non_null(doc);
        }
        arena_free(arena);
    }
}

static void put_times(struct buf *text, const char *words, size_t times)
{
    for (size_t i = 0; i < times; i++) {
        buf_puts(text, words);
    }
}

/* `levels` arrays inside each other, behind something that is deep, too. */
static yyjson_doc *parse_nested(struct arena *arena, size_t levels, struct json_problem *problem)
{
    struct buf text;
    buf_init(&text, MIB(1));
    put_times(&text, "[", LIMIT_JSON_DEPTH - 1);
    put_times(&text, "]", LIMIT_JSON_DEPTH - 2);
    buf_putc(&text, ',');
    put_times(&text, "[", levels - 1);
    put_times(&text, "]", levels);
    yyjson_doc *doc = json_parse(arena, text.data, text.length, problem);
    buf_done(&text);
    return doc;
}

static void json_has_a_deepest_level(void **state)
{
    (void)state;
    struct arena *arena = arena_new(MIB(8));
    struct json_problem problem = {0};
    assert_non_null(parse_nested(arena, LIMIT_JSON_DEPTH, &problem));
    assert_null(parse_nested(arena, LIMIT_JSON_DEPTH + 1, &problem));
    assert_string_equal(problem.text, "nested deeper than 64 levels");
    assert_int_equal(problem.offset, 3 * LIMIT_JSON_DEPTH - 3);
    assert_null(parse_nested(arena, 100000, &problem));
    static const char NO_END[] =
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[";
    assert_null(json_parse(arena, NO_END, sizeof NO_END - 1, &problem));
    assert_string_equal(problem.text, "nested deeper than 64 levels");
    static const char BRACKETS_IN_STRING[] =
        "\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\\\"[[[[[\"";
    assert_non_null(json_parse(arena, BRACKETS_IN_STRING, sizeof BRACKETS_IN_STRING - 1, &problem));
    arena_free(arena);
}

/* More values than there is room for are refused, and the arena stays good for the words. */
static void json_leaves_the_arena_sound(void **state)
{
    (void)state;
    struct arena *arena = arena_new(MIB(8));
    struct json_problem problem = {0};
    struct buf text;
    buf_init(&text, MIB(2));
    buf_putc(&text, '[');
    put_times(&text, "0,", 500000);
    buf_puts(&text, "0]");
    assert_null(json_parse(arena, text.data, text.length, &problem));
    assert_string_equal(problem.text, "more values than there is memory for");
    assert_false(arena_failed(arena));
    assert_non_null(json_parse(arena, "[0]", 3, &problem));
    buf_done(&text);
    arena_free(arena);
}

static void json_finds_duplicates_among_many(void **state)
{
    (void)state;
    struct arena *arena = arena_new(MIB(64));
    struct buf text;
    buf_init(&text, MIB(4));
    buf_puts(&text, "{");
    for (int i = 0; i < 20000; i++) {
        buf_printf(&text, "\"k%d\":%d,", i, i);
    }
    size_t length = text.length;
    buf_puts(&text, "\"last\":1}");
    assert_non_null(json_parse(arena, text.data, text.length, NULL));
    text.length = length;
    buf_puts(&text, "\"k7\":1}");
    struct json_problem problem = {0};
    assert_null(json_parse(arena, text.data, text.length, &problem));
    assert_string_equal(problem.text, "duplicate key \"k7\"");
    buf_done(&text);
    arena_free(arena);
}

static void json_writes_what_was_built(void **state)
{
    (void)state;
    struct arena *arena = arena_new(MIB(1));
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    json_add_string(doc, object, "a", "x\"y");
    json_add_string(doc, object, "b", NULL);
    struct buf text;
    buf_init(&text, 1000);
    assert_int_equal(json_write(&text, arena, object), OK);
    assert_string_equal(text.data, "{\"a\":\"x\\\"y\"}");
    assert_int_equal(json_write(&text, arena, NULL), ERR_NOMEM);
    buf_done(&text);
    arena_free(arena);
}

/* ---- redaction ---- */

static void redaction_finds_every_spelling(void **state)
{
    (void)state;
    static const struct {
        const char *text, *clean;
    } CASES[] = {
        {"nothing here", "nothing here"},
        {"key=sk-secret-1", "key=[redacted]"},
        {"sk-secret-1sk-secret-1", "[redacted][redacted]"},
        {"a \"quo\\\"ted\\\\key\" b", "a \"[redacted]\" b"},
        {"u?k=with%20blank%2Fslash&x", "u?k=[redacted]&x"},
        {"sk-secret-12 is longer", "[redacted] is longer"},
        {"tiny", "tiny"},
    };
    assert_int_equal(redact_add("sk-secret-1", SECRET_SENT), OK);
    assert_int_equal(redact_add("sk-secret-12", SECRET_SENT), OK);
    assert_int_equal(redact_add("quo\"ted\\key", SECRET_SENT), OK);
    assert_int_equal(redact_add("with blank/slash", SECRET_SENT), OK);
    assert_int_equal(redact_add("tiny", SECRET_SENT), OK);
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct buf buf;
        buf_init(&buf, 1000);
        buf_puts(&buf, CASES[i].text);
        redact_buf(&buf, 0, WORDS_FROM_OUTSIDE);
        assert_string_equal(buf.data, CASES[i].clean);
        buf_done(&buf);
    }
    redact_reset();
    assert_false(redact_needed("sk-secret-1", 11, WORDS_OURS));
}

/* The table of redact.h. */
static void redaction_knows_whose_words_they_are(void **state)
{
    (void)state;
    static const char TEXT[] = "the-key-of-a-provider token-of-a-caller both-of-them";
    static const struct {
        enum words words;
        const char *clean;
    } CASES[] = {
        {WORDS_OURS, "[redacted] [redacted] [redacted]"},
        {WORDS_FROM_OUTSIDE, "[redacted] token-of-a-caller [redacted]"},
        {WORDS_OF_CALLER, TEXT},
    };
    assert_int_equal(redact_add("the-key-of-a-provider", SECRET_SENT), OK);
    assert_int_equal(redact_add("token-of-a-caller", SECRET_KEPT), OK);
    assert_int_equal(redact_add("both-of-them", SECRET_KEPT), OK);
    assert_int_equal(redact_add("both-of-them", SECRET_SENT), OK);
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct buf buf;
        buf_init(&buf, 1000);
        buf_puts(&buf, TEXT);
        assert_int_equal(redact_needed(TEXT, strlen(TEXT), CASES[i].words),
                         redact_buf(&buf, 0, CASES[i].words));
        assert_string_equal(buf.data, CASES[i].clean);
        buf_done(&buf);
    }
    redact_reset();
}

static void redaction_would_rather_lose_text(void **state)
{
    (void)state;
    assert_int_equal(redact_add("secret", SECRET_SENT), OK);
    struct buf buf;
    buf_init(&buf, 8);
    buf_puts(&buf, "a secret");
    assert_true(redact_buf(&buf, 0, WORDS_OURS)); /* the replacement does not fit */
    assert_int_not_equal(buf_error(&buf), OK);
    assert_null(strstr(buf.data, "secret"));
    buf_done(&buf);
    redact_reset();
}

UNIT_TEST(core)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_pieces_do_not_overlap),
        cmocka_unit_test(arena_keeps_its_ceiling),
        cmocka_unit_test(arena_realloc_keeps_the_bytes),
        cmocka_unit_test(buf_grows_and_stops),
        cmocka_unit_test(texts_of_any_length_are_formatted),
        cmocka_unit_test(buf_consumes_and_hands_over),
        cmocka_unit_test(sha256_knows_its_vectors),
        cmocka_unit_test(hmac_knows_its_vectors),
        cmocka_unit_test(base64_goes_both_ways),
        cmocka_unit_test(ids_differ),
        cmocka_unit_test(time_and_names),
        cmocka_unit_test(json_is_strict),
        cmocka_unit_test(json_has_a_deepest_level),
        cmocka_unit_test(json_leaves_the_arena_sound),
        cmocka_unit_test(json_finds_duplicates_among_many),
        cmocka_unit_test(json_writes_what_was_built),
        cmocka_unit_test(redaction_finds_every_spelling),
        cmocka_unit_test(redaction_knows_whose_words_they_are),
        cmocka_unit_test(redaction_would_rather_lose_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
