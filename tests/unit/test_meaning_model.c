/* The model of meanings: its kernels against each other, its words, its file, and what it computes.
 * The model is tests/unit/data/tiny.model, which scripts/model-file makes. */
#include "core/files.h"
#include "meaning/kernels.h"
#include "meaning/model.h"
#include "meaning/model_file.h"
#include "meaning/tokenizer.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TINY UNIT_DATA "/tiny.model"

struct content {
    char *data; /* at a multiple of 64 */
    size_t length;
};

static struct content read_tiny(void)
{
    struct buf text;
    struct content content = {0};
    buf_init(&text, MIB(1));
    assert_int_equal(read_whole(TINY, &text), OK);
    content.length = text.length;
    content.data = aligned_alloc(64, content.length);
    assert_non_null(content.data);
    memcpy(content.data, text.data, content.length);
    buf_done(&text);
    return content;
}

/* ---- kernels ---- */

#define ROWS  71u
#define WIDTH 128u
#define OUT   160u

static uint32_t dice = 1;

static uint32_t roll(void)
{
    dice = dice * 1664525u + 1013904223u;
    return dice >> 8;
}

static float *some_floats(size_t count, float size)
{
    float *numbers = calloc(count, sizeof *numbers);
    assert_non_null(numbers);
    for (size_t i = 0; i < count; i++) {
        numbers[i] = ((float)(roll() % 20001) / 10000 - 1) * size;
    }
    return numbers;
}

static void assert_near(const float *a, const float *b, size_t count, float most)
{
    for (size_t i = 0; i < count; i++) {
        if (!(fabsf(a[i] - b[i]) <= most)) {
            fail_msg("number %zu: %g and %g", i, (double)a[i], (double)b[i]);
        }
    }
}

struct matrix_data {
    int8_t weights[WIDTH * OUT];
    float scales[OUT], biases[OUT];
    int32_t sums[OUT];
};

static struct kernel_matrix some_matrix(struct matrix_data *data, int most)
{
    memset(data->sums, 0, sizeof data->sums);
    for (size_t i = 0; i < WIDTH * OUT; i++) {
        size_t panel = i / (KERNEL_PANEL * WIDTH);
        size_t column = panel * KERNEL_PANEL + i / KERNEL_GROUP % KERNEL_PANEL;
        int weight = (int)(roll() % (2 * (unsigned)most)) - most;
        data->weights[i] = (int8_t)(roll() % 7 == 0 ? -most : weight);
        data->sums[column] += data->weights[i];
    }
    for (size_t i = 0; i < OUT; i++) {
        data->scales[i] = (float)(roll() % 100 + 1) / 10000;
        data->biases[i] = (float)(roll() % 100) / 50 - 1;
    }
    return (struct kernel_matrix){data->weights, data->scales, data->biases,         data->sums,
                                  WIDTH,         OUT,          most <= KERNEL_GENTLE};
}

/* The same by the words of the header: the slow and obvious way. */
static void multiply_slowly(const struct kernel_matrix *matrix, const struct kernel_bytes *in,
                            float *out)
{
    for (size_t row = 0; row < ROWS; row++) {
        for (size_t column = 0; column < OUT; column++) {
            double sum = 0;
            for (size_t d = 0; d < WIDTH; d++) {
                size_t panel = column / KERNEL_PANEL;
                size_t group = (panel * (WIDTH / KERNEL_GROUP) + d / KERNEL_GROUP) * KERNEL_PANEL;
                size_t place = (group + column % KERNEL_PANEL) * KERNEL_GROUP + d % KERNEL_GROUP;
                sum +=
                    (double)(in->bytes[row * WIDTH + d] - in->zeros[row]) * matrix->weights[place];
            }
            out[row * OUT + column] =
                (float)(sum * (double)in->scales[row] * (double)matrix->scales[column] +
                        (double)matrix->biases[column]);
        }
    }
}

static void check_products(int most)
{
    static struct matrix_data data;
    struct kernel_matrix matrix = some_matrix(&data, most);
    size_t padded = kernel_rows(ROWS);
    uint8_t bytes[(ROWS + KERNEL_ROWS) * WIDTH] = {0};
    float scales[ROWS + KERNEL_ROWS] = {0};
    int32_t zeros[ROWS + KERNEL_ROWS] = {0};
    struct kernel_bytes rows = {bytes, scales, zeros};
    for (size_t i = 0; i < ROWS * WIDTH; i++) {
        bytes[i] = (uint8_t)(roll() % 5 == 0 ? 255 : roll() % 256);
    }
    for (size_t i = 0; i < ROWS; i++) {
        scales[i] = (float)(roll() % 100 + 1) / 1000;
        zeros[i] = (int32_t)(roll() % 256);
    }
    float *right = calloc(padded * OUT, sizeof *right);
    float *got = calloc(padded * OUT, sizeof *got);
    float *plain = calloc(padded * OUT, sizeof *plain);
    assert_true(right && got && plain);
    multiply_slowly(&matrix, &rows, right);
    KERNELS_PORTABLE.multiply(&matrix, &rows, ROWS, plain);
    const struct kernels *kernels;
    for (size_t i = 0; (kernels = kernels_usable(i)); i++) {
        print_message("%s\n", kernels->name);
        memset(got, 0, padded * OUT * sizeof *got);
        kernels->multiply(&matrix, &rows, ROWS, got);
        assert_memory_equal(got, plain, (size_t)ROWS * OUT * sizeof *got);
        for (size_t k = 0; k < ROWS * OUT; k++) {
            assert_near(got + k, right + k, 1, 1e-5f + fabsf(right[k]) * 1e-6f);
        }
    }
    free(right);
    free(got);
    free(plain);
}

static void test_products(void **state)
{
    (void)state;
    check_products(128);
    check_products(KERNEL_GENTLE);
}

static void test_bytes(void **state)
{
    (void)state;
    float *in = some_floats(ROWS * WIDTH, 5);
    memset(in, 0, WIDTH * sizeof *in);
    in[WIDTH] = NAN;
    in[2 * WIDTH] = INFINITY;
    const struct kernels *kernels;
    for (size_t i = 0; (kernels = kernels_usable(i)); i++) {
        uint8_t bytes[ROWS * WIDTH];
        float scales[ROWS];
        int32_t zeros[ROWS];
        struct kernel_bytes out = {bytes, scales, zeros};
        kernels->quantise(in, ROWS, WIDTH, &out);
        for (size_t k = 0; k < ROWS * WIDTH; k++) {
            size_t row = k / WIDTH;
            float back = (float)(bytes[k] - zeros[row]) * scales[row];
            if (row == 0 || row > 2) {
                assert_near(&back, in + k, 1, scales[row] * 0.51f);
            }
        }
    }
    free(in);
}

static float *run_floats(const struct kernels *kernels, const float *in, int which)
{
    float *out = calloc((ROWS + KERNEL_ROWS) * WIDTH, sizeof *out);
    float *room = calloc(kernel_attention_room(ROWS, 32, 2), sizeof *room);
    float ones[WIDTH];
    assert_true(out && room);
    for (size_t i = 0; i < WIDTH; i++) {
        ones[i] = 1 + (float)i / WIDTH;
    }
    struct kernel_norm norm = {ones, ones};
    struct kernel_attention attention = {in, out, ROWS, 32, 2, room};
    if (which == 2) {
        kernels->attend(&attention);
    } else {
        memcpy(out, in, ROWS * WIDTH * sizeof *out);
        if (which == 0) {
            kernels->gelu(out, ROWS * WIDTH);
        } else {
            kernels->normalise(out, in, ROWS, WIDTH, &norm);
        }
    }
    free(room);
    return out;
}

static void test_floats(void **state)
{
    (void)state;
    float *in = some_floats((ROWS + KERNEL_ROWS) * WIDTH, 6);
    const struct kernels *kernels;
    for (int which = 0; which < 3; which++) {
        float *right = run_floats(kernels_usable(0), in, which);
        for (size_t i = 0; (kernels = kernels_usable(i)); i++) {
            float *got = run_floats(kernels, in, which);
            size_t count = (size_t)ROWS * (which == 2 ? 32 : WIDTH);
            assert_memory_equal(got, right, count * sizeof *got);
            free(got);
        }
        for (size_t i = 0; which == 0 && i < ROWS * WIDTH; i++) {
            double x = (double)in[i];
            float exact = (float)(x * 0.5 * (1 + erf(x / sqrt(2))));
            assert_near(right + i, &exact, 1, 2e-6f);
        }
        free(right);
    }
    free(in);
}

/* Of the first of two heads: rows of keys that are alike give the mean of their values. */
static void test_attention_is_a_mean(void **state)
{
    (void)state;
    const struct kernels *kernels;
    float in[(5 + KERNEL_ROWS) * 96] = {0};
    for (size_t row = 0; row < 5; row++) {
        for (size_t d = 0; d < 32; d++) {
            in[row * 96 + d] = (float)row;
            in[row * 96 + 32 + d] = 1;
            in[row * 96 + 64 + d] = (float)(row * d);
        }
    }
    for (size_t i = 0; (kernels = kernels_usable(i)); i++) {
        float out[KERNEL_LOOKS * 32];
        float room[1024];
        assert_true(kernel_attention_room(5, 32, 2) <= COUNT(room));
        kernels->attend(&(struct kernel_attention){in, out, 5, 32, 2, room});
        for (size_t k = 0; k < (size_t)5 * 32; k++) {
            float mean = (float)(2 * (k % 32));
            assert_near(out + k, &mean, 1, 1e-4f);
        }
    }
}

/* A sum that lies a little below the middle between two floats: who rounds the product, or the sum
 * to a double, gets the upper one, and the first row more of the second's attention. */
static void test_sums_are_rounded_once(void **state)
{
    (void)state;
    const struct kernels *kernels;
    float in[KERNEL_ROWS * 48] = {0};
    for (size_t row = 0; row < 2; row++) {
        in[row * 48] = 0x1.000002p5f;
        in[row * 48 + 1] = 0x1.000002p-7f;
        in[row * 48 + 16] = 0x1p5f;
    }
    in[17] = 0x1.fffffcp-8f;
    in[32] = 1;
    for (size_t i = 0; (kernels = kernels_usable(i)); i++) {
        float out[KERNEL_ROWS * 16];
        float room[1024];
        assert_true(kernel_attention_room(2, 16, 1) <= COUNT(room));
        kernels->attend(&(struct kernel_attention){in, out, 2, 16, 1, room});
        assert_true(out[0] == 0.5f && out[16] == 0.5f);
    }
}

/* ---- words ---- */

static const struct {
    const char *text, *pieces;
} TEXTS[] = {
    {"", ""},
    {" \t\n", ""},
    {"ab", "ab"},
    {"abing", "ab ##ing"},
    {"AB, cd", "ab [UNK] c ##d"},
    {"a:b", "a : b"},
    {"\xC3\x84\xC3\xA9", "a ##e"}, /* Ae with two dots, e with an accent */
    {"a\xCC\x88", "a"},            /* the dots as a mark of their own */
    {"\xE6\x97\xA5\xE6\x97\xA5", "\xE6\x97\xA5 \xE6\x97\xA5"}, /* Chinese without spaces */
    {"a\xE6\x97\xA5z", "a \xE6\x97\xA5 z"},
    {"a\x01\xE2\x80\x8B"
     "b",
     "ab"},                          /* what nobody sees is not there */
    {"a\xFF\xFEz", "a ##z"},         /* no UTF-8 */
    {"a\xC2\xA0z", "a z"},           /* a space that does not break */
    {"a\xE2\x80\x9Cz", "a [UNK] z"}, /* a quotation mark */
    {"[SEP]", "[UNK] s ##e ##p [UNK]"},
    {"a9b", "[UNK]"}, /* of which a part is unknown */
};

static void read_words(const struct tokenizer *tokenizer, const char *text, size_t length,
                       char *out, size_t size)
{
    uint32_t tokens[512];
    size_t count = tokenizer_read(tokenizer, "", text, length, tokens, COUNT(tokens));
    size_t used = 0;
    assert_true(count >= 2 && tokens[0] == tokenizer->begin && tokens[count - 1] == tokenizer->end);
    *out = '\0';
    for (size_t i = 1; i + 1 < count; i++) {
        uint32_t start = tokens[i] ? tokenizer->ends[tokens[i] - 1] : 0;
        used +=
            (size_t)snprintf(out + used, size - used, "%s%.*s", i > 1 ? " " : "",
                             (int)(tokenizer->ends[tokens[i]] - start), tokenizer->bytes + start);
    }
}

static void start_tiny(struct tokenizer *tokenizer, struct model_file *file, struct content *tiny)
{
    const char *problem = NULL;
    *tiny = read_tiny();
    assert_int_equal(model_file_read(tiny->data, tiny->length, file, &problem), OK);
    assert_true(
        tokenizer_start(tokenizer, file->piece_bytes, file->piece_ends, file->header.pieces));
}

static void test_words(void **state)
{
    (void)state;
    static struct model_file file;
    struct tokenizer tokenizer;
    struct content tiny;
    char got[4096];
    start_tiny(&tokenizer, &file, &tiny);
    for (size_t i = 0; i < COUNT(TEXTS); i++) {
        read_words(&tokenizer, TEXTS[i].text, strlen(TEXTS[i].text), got, sizeof got);
        assert_string_equal(got, TEXTS[i].pieces);
    }
    char longest[101];
    memset(longest, 'a', sizeof longest);
    read_words(&tokenizer, longest, 100, got, sizeof got);
    assert_int_equal(strlen(got), 1 + 99 * 4);
    read_words(&tokenizer, longest, 101, got, sizeof got);
    assert_string_equal(got, "[UNK]");
    /* The room ends between two words, or within one. */
    static const char *const LONG[] = {"a a a a a", "a abing"};
    for (size_t i = 0; i < COUNT(LONG); i++) {
        uint32_t tokens[8];
        size_t length = strlen(LONG[i]);
        assert_int_equal(tokenizer_read(&tokenizer, "", LONG[i], length, tokens, 4), 4);
        assert_int_equal(tokens[3], tokenizer.end);
    }
    free(tiny.data);
}

/* ---- the file ---- */

/* Whatever byte is changed, it is noticed; with a checksum that fits, nothing breaks. */
static void test_damage(void **state)
{
    (void)state;
    struct content tiny = read_tiny();
    struct embedding_model *model = NULL;
    char problem[128];
    for (size_t i = 0; i < tiny.length; i += i < 600 ? 1 : 37) {
        tiny.data[i] ^= 0x40;
        assert_int_equal(model_read(tiny.data, tiny.length, &model, problem, sizeof problem),
                         ERR_INVALID);
        tiny.data[i] ^= 0x40;
    }
    for (size_t length = 0; length < tiny.length; length += 61) {
        assert_int_equal(model_read(tiny.data, length, &model, problem, sizeof problem),
                         ERR_INVALID);
    }
    assert_int_equal(model_read(tiny.data, tiny.length, &model, problem, sizeof problem), OK);
    assert_string_equal(model_name(model), "tiny");
    model_free(model);
    free(tiny.data);
}

/* One weight at the end of a matrix decides. */
static void test_gentle_weights(void **state)
{
    (void)state;
    static const struct {
        int weight;
        bool gentle;
    } CASES[] = {{0, true},    {64, true},   {-64, true},  {65, false},
                 {-65, false}, {127, false}, {-128, false}};
    static struct model_file file;
    struct content tiny = read_tiny();
    struct model_header *header = (struct model_header *)tiny.data;
    const char *problem = NULL;
    assert_int_equal(model_file_read(tiny.data, tiny.length, &file, &problem), OK);
    struct kernel_matrix down = file.layers[0].down;
    int8_t *weights = (int8_t *)tiny.data + (down.weights - (const int8_t *)tiny.data);
    memset(weights, 0, down.depth * down.columns);
    for (size_t i = 0; i < COUNT(CASES); i++) {
        weights[down.depth * down.columns - 1] = (int8_t)CASES[i].weight;
        header->checksum = model_file_checksum(tiny.data, tiny.length);
        assert_int_equal(model_file_read(tiny.data, tiny.length, &file, &problem), OK);
        assert_int_equal(file.layers[0].down.gentle, CASES[i].gentle);
    }
    free(tiny.data);
}

static void test_opening(void **state)
{
    (void)state;
    struct embedding_model *model = NULL;
    char problem[256];
    assert_int_equal(model_open("/proc/nonexistent", &model, problem, sizeof problem),
                     ERR_NOTFOUND);
    assert_non_null(strstr(problem, "/proc/nonexistent: "));
    assert_int_equal(model_open("/dev/null", &model, problem, sizeof problem), ERR_INVALID);
    assert_int_equal(model_open("/", &model, problem, sizeof problem), ERR_INVALID);
}

/* A file that is cut while it is used gives no vector, and ends nobody. */
static void test_a_file_that_is_cut(void **state)
{
    (void)state;
    struct content tiny = read_tiny();
    struct embedding_model *model = NULL;
    char problem[256];
    char path[] = "/tmp/forage-model-XXXXXX";
    float vector[MODEL_DIMENSIONS];
    struct model_work *work = model_work_new();
    int fd = mkstemp(path);
    assert_true(fd >= 0 && work);
    assert_int_equal(write_all(fd, tiny.data, tiny.length), OK);
    assert_int_equal(model_open(path, &model, problem, sizeof problem), OK);
    assert_int_equal(model_embed(model, work, MODEL_QUERY, "ab", 2, vector), OK);
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(model_embed(model, work, MODEL_QUERY, "ab", 2, vector), ERR_IO);
    model_free(model);
    model_work_free(work);
    close(fd);
    unlink(path);
    free(tiny.data);
}

/* ---- what it computes ---- */

/* The vector of "passage: ab cd", computed from the same numbers without bytes in between. */
static const float EXPECTED[] = {0.1031f,  0.2563f, 0.0532f,  0.1704f,  0.0748f,  -0.0332f,
                                 0.0350f,  0.7764f, -0.3413f, -0.2133f, -0.1541f, -0.0766f,
                                 -0.0518f, 0.2299f, -0.1364f, -0.1240f};

static float cosine(const float *a, const float *b, size_t count)
{
    float sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

static void test_vectors(void **state)
{
    (void)state;
    struct embedding_model *model = NULL;
    char problem[256];
    float vector[MODEL_DIMENSIONS];
    float other[MODEL_DIMENSIONS];
    static char lengthy[100000];
    struct model_work *work = model_work_new();
    assert_non_null(work);
    assert_int_equal(model_open(TINY, &model, problem, sizeof problem), OK);
    assert_int_equal(model_embed(model, work, MODEL_PASSAGE, "ab cd", 5, vector), OK);
    assert_near(&(float){1}, &(float){cosine(vector, vector, MODEL_DIMENSIONS)}, 1, 1e-5f);
    assert_true(cosine(vector, EXPECTED, COUNT(EXPECTED)) > 0.999f);
    /* What was computed before leaves nothing behind. */
    memset(lengthy, 'a', sizeof lengthy);
    for (size_t i = 0; i < sizeof lengthy; i += 3) {
        lengthy[i] = ' ';
    }
    assert_int_equal(model_embed(model, work, MODEL_QUERY, lengthy, sizeof lengthy, other), OK);
    assert_int_equal(model_embed(model, work, MODEL_QUERY, "ab cd", 5, other), OK);
    assert_true(cosine(vector, other, MODEL_DIMENSIONS) < 0.9999f); /* of another side */
    assert_int_equal(model_embed(model, work, MODEL_PASSAGE, "ab cd", 5, other), OK);
    assert_memory_equal(vector, other, sizeof vector);
    assert_int_equal(model_embed(model, work, MODEL_PASSAGE, "", 0, other), OK);
    model_work_free(work);
    model_free(model);
}

UNIT_TEST(meaning_model)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_floats),
        cmocka_unit_test(test_attention_is_a_mean),
        cmocka_unit_test(test_sums_are_rounded_once),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_gentle_weights),
        cmocka_unit_test(test_opening),
        cmocka_unit_test(test_a_file_that_is_cut),
        cmocka_unit_test(test_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
