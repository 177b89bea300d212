/* Content codings: every way to cut a compressed stream into pieces gives the same, and every way
 * to cut it off is noticed. */
#include "core/limits.h"
#include "net/codings.h"

#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define GZIP_WINDOW (15 + 16)
#define ZLIB_WINDOW 15
#define RAW_WINDOW  (-15)

#define TEXT_BYTES 40000 /* more than what is unpacked at once */

struct taken {
    char text[3 * TEXT_BYTES];
    size_t length;
    size_t most;
};

static bool take(void *context, const char *data, size_t length)
{
    struct taken *taken = context;
    if (taken->length + length > taken->most) {
        return false;
    }
    memcpy(taken->text + taken->length, data, length);
    taken->length += length;
    return true;
}

static char text[TEXT_BYTES];

/* Words that compress well, but not to nothing. */
static void make_text(void)
{
    unsigned seed = 7;
    for (size_t i = 0; i < sizeof text; i++) {
        seed = seed * 1103515245 + 12345;
        text[i] = "abcdefgh \n"[seed >> 16 & 7];
    }
}

static size_t pack(int window, const char *data, size_t length, unsigned char *out, size_t size)
{
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (z_const Bytef *)(uintptr_t)data;
    stream.avail_in = (uInt)length;
    stream.next_out = out;
    stream.avail_out = (uInt)size;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    size_t made = stream.total_out;
    deflateEnd(&stream);
    return made;
}

/* Unpacks in pieces of that size. */
static int unpack(const char *names, const void *data, size_t length, size_t piece,
                  struct taken *taken, bool *ended)
{
    struct codings *codings = NULL;
    const char *wrong = NULL;
    int status = codings_add(&codings, names, &wrong);
    for (size_t at = 0; at < length && status == OK; at += piece) {
        size_t next = length - at < piece ? length - at : piece;
        status = codings_unpack(codings, (const char *)data + at, next, MIB(1), take, taken);
    }
    *ended = codings_ended(codings);
    assert_null(codings_free(codings));
    return status;
}

static const struct {
    const char *name;
    int window;
} FORMATS[] = {
    {"gzip", GZIP_WINDOW},
    {"X-GZip", GZIP_WINDOW},
    {"deflate", ZLIB_WINDOW},
    {"deflate", RAW_WINDOW},
};

static void unpacks_in_any_pieces(void **state)
{
    static const size_t PIECES[] = {1, 2, 3, 1000, SIZE_MAX};
    static unsigned char packed[TEXT_BYTES];
    static struct taken taken;
    (void)state;
    for (size_t i = 0; i < COUNT(FORMATS); i++) {
        size_t length = pack(FORMATS[i].window, text, sizeof text, packed, sizeof packed);
        for (size_t j = 0; j < COUNT(PIECES); j++) {
            bool ended;
            size_t piece = PIECES[j] < length ? PIECES[j] : length;
            taken = (struct taken){.most = sizeof taken.text};
            assert_int_equal(unpack(FORMATS[i].name, packed, length, piece, &taken, &ended), OK);
            assert_true(ended);
            assert_int_equal(taken.length, sizeof text);
            assert_memory_equal(taken.text, text, sizeof text);
        }
    }
}

static void notices_every_early_end(void **state)
{
    static struct taken taken;
    unsigned char packed[4096];
    bool ended;
    (void)state;
    for (size_t i = 0; i < COUNT(FORMATS); i++) {
        size_t length = pack(FORMATS[i].window, text, 2000, packed, sizeof packed);
        for (size_t cut = 1; cut < length; cut++) {
            taken = (struct taken){.most = sizeof taken.text};
            assert_int_equal(unpack(FORMATS[i].name, packed, cut, cut, &taken, &ended), OK);
            assert_false(ended);
        }
        assert_int_equal(unpack(FORMATS[i].name, packed, 0, 1, &taken, &ended), OK);
        assert_true(ended); /* nothing was begun */
    }
}

static void goes_on_with_the_next_stream_of_gzip(void **state)
{
    static struct taken taken;
    unsigned char packed[4096];
    bool ended;
    (void)state;
    size_t first = pack(GZIP_WINDOW, text, 500, packed, sizeof packed);
    size_t length =
        first + pack(GZIP_WINDOW, text + 500, 500, packed + first, sizeof packed - first);
    for (size_t piece = 1; piece <= length; piece++) {
        taken = (struct taken){.most = sizeof taken.text};
        assert_int_equal(unpack("gzip", packed, length, piece, &taken, &ended), OK);
        assert_true(ended);
        assert_int_equal(taken.length, 1000);
        assert_memory_equal(taken.text, text, 1000);
    }
    /* Behind the second's first two bytes there must be a second. */
    for (size_t cut = first + 2; cut < length; cut++) {
        taken = (struct taken){.most = sizeof taken.text};
        assert_int_equal(unpack("gzip", packed, cut, cut, &taken, &ended), OK);
        assert_false(ended);
    }
}

static void lets_go_by_what_follows(void **state)
{
    static const char *const TAILS[] = {"\n", "\x1f", "\x1f\x1f\x8b", "\0\0\0\0",
                                        "<!-- made by -->"};
    static struct taken taken;
    unsigned char packed[4096];
    bool ended;
    (void)state;
    for (size_t i = 0; i < COUNT(FORMATS); i++) {
        size_t length = pack(FORMATS[i].window, text, 500, packed, sizeof packed);
        for (size_t j = 0; j < COUNT(TAILS); j++) {
            size_t tail = *TAILS[j] ? strlen(TAILS[j]) : 4;
            memcpy(packed + length, TAILS[j], tail);
            for (size_t piece = 1; piece <= length + tail; piece++) {
                taken = (struct taken){.most = sizeof taken.text};
                assert_int_equal(
                    unpack(FORMATS[i].name, packed, length + tail, piece, &taken, &ended), OK);
                assert_true(ended);
                assert_int_equal(taken.length, 500);
            }
        }
    }
}

static void refuses_what_is_damaged(void **state)
{
    static struct taken taken = {.most = sizeof taken.text};
    unsigned char packed[4096];
    bool ended;
    (void)state;
    size_t length = pack(GZIP_WINDOW, text, 500, packed, sizeof packed);
    packed[length - 6] ^= 1; /* of the checksum */
    assert_int_equal(unpack("gzip", packed, length, length, &taken, &ended), ERR_INVALID);
    assert_int_equal(unpack("gzip", "plain text", 10, 10, &taken, &ended), ERR_INVALID);
    assert_int_equal(unpack("deflate", "wrong", 5, 5, &taken, &ended), ERR_INVALID);
}

/* A stream of events is compressed as a whole, and each event must be there when it was sent. */
static void gives_at_once_what_was_flushed(void **state)
{
    static struct taken taken = {.most = sizeof taken.text};
    unsigned char packed[4096];
    struct codings *codings = NULL;
    const char *wrong = NULL;
    z_stream stream = {0};
    (void)state;
    assert_int_equal(codings_add(&codings, "gzip", &wrong), OK);
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY),
                     Z_OK);
    for (size_t at = 0; at < 1000; at += 100) {
        stream.next_in = (z_const Bytef *)(uintptr_t)(text + at);
        stream.avail_in = 100;
        stream.next_out = packed;
        stream.avail_out = sizeof packed;
        assert_int_equal(deflate(&stream, Z_SYNC_FLUSH), Z_OK);
        assert_int_equal(codings_unpack(codings, (const char *)packed,
                                        sizeof packed - stream.avail_out, MIB(1), take, &taken),
                         OK);
        assert_int_equal(taken.length, at + 100);
    }
    assert_memory_equal(taken.text, text, taken.length);
    assert_false(codings_ended(codings));
    deflateEnd(&stream);
    codings_free(codings);
}

static void undoes_several_in_turn(void **state)
{
    static struct taken taken = {.most = sizeof taken.text};
    unsigned char once[4096];
    unsigned char twice[4096];
    bool ended;
    (void)state;
    size_t length = pack(ZLIB_WINDOW, text, 1000, once, sizeof once);
    length = pack(GZIP_WINDOW, (const char *)once, length, twice, sizeof twice);
    assert_int_equal(unpack("deflate, identity,gzip", twice, length, 7, &taken, &ended), OK);
    assert_true(ended);
    assert_int_equal(taken.length, 1000);
    assert_memory_equal(taken.text, text, 1000);
    taken.length = 0;
    assert_int_equal(unpack("deflate,gzip", twice, length - 1, 7, &taken, &ended), OK);
    assert_false(ended);
}

static void knows_names(void **state)
{
    static const struct {
        const char *names;
        int status;
        bool any;
    } CASES[] = {
        {"", OK, false},
        {" , ,", OK, false},
        {"identity", OK, false},
        {"UTF-8", OK, false},
        {"none, aws-chunked", OK, false},
        {"gzip", OK, true},
        {"utf-8, GZIP", OK, true},
        {"br", ERR_UNSUPPORTED, false},
        {"gzip, zstd", ERR_UNSUPPORTED, true},
        {"gzip,gzip,gzip,gzip", OK, true},
        {"gzip,gzip,gzip,gzip,gzip", ERR_INVALID, true},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct codings *codings = NULL;
        const char *wrong = NULL;
        assert_int_equal(codings_add(&codings, CASES[i].names, &wrong), CASES[i].status);
        assert_int_equal(codings != NULL, CASES[i].any);
        assert_true(codings_ended(codings));
        codings_free(codings);
    }
}

static void has_ceilings(void **state)
{
    static struct taken taken;
    static unsigned char packed[TEXT_BYTES];
    bool ended;
    (void)state;
    size_t length = pack(GZIP_WINDOW, text, sizeof text, packed, sizeof packed);
    taken = (struct taken){.most = 100};
    assert_int_equal(unpack("gzip", packed, length, length, &taken, &ended), ERR_LIMIT);
    /* What comes counts too, where nothing comes of it. */
    struct codings *codings = NULL;
    const char *wrong = NULL;
    taken = (struct taken){.most = sizeof taken.text};
    assert_int_equal(codings_add(&codings, "gzip", &wrong), OK);
    assert_int_equal(
        codings_unpack(codings, (const char *)packed, length, length - 1, take, &taken), ERR_LIMIT);
    codings_free(codings);
}

UNIT_TEST(codings)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unpacks_in_any_pieces),
        cmocka_unit_test(notices_every_early_end),
        cmocka_unit_test(goes_on_with_the_next_stream_of_gzip),
        cmocka_unit_test(lets_go_by_what_follows),
        cmocka_unit_test(refuses_what_is_damaged),
        cmocka_unit_test(gives_at_once_what_was_flushed),
        cmocka_unit_test(undoes_several_in_turn),
        cmocka_unit_test(knows_names),
        cmocka_unit_test(has_ceilings),
    };
    make_text();
    return cmocka_run_group_tests_name("codings", tests, NULL, NULL);
}
