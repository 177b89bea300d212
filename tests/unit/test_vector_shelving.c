/* Vectors in files: what is saved and loaded again is what there was, through puts and removals
 * also while they are saved; what was removed is in no file; what is damaged is noticed. */
#include "core/buf.h"
#include "core/files.h"
#include "core/limits.h"
#include "index/vector_shelving.h"
#include "unit.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DIMENSIONS = 100, TEXTS = 400, PASSAGES = 2, ROUNDS = 3000 };

static const unsigned char IDENTITY[SHA256_SIZE] = "store 1, space 1, vectors";
static const char LABEL[] = "1 model";

static uint64_t state = 1;

static uint32_t dice(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33);
}

/* A direction by chance, of length 1. */
static void make(float *numbers, size_t dimensions)
{
    double sum = 0;
    for (size_t i = 0; i < dimensions; i++) {
        numbers[i] = (float)(dice() % 2001) / 1000 - 1;
        sum += (double)numbers[i] * numbers[i];
    }
    for (size_t i = 0; i < dimensions; i++) {
        numbers[i] = (float)(numbers[i] / sqrt(sum));
    }
}

struct model {
    char folder[64];
    struct shelf *shelf;
    struct vectors *vectors;
    unsigned char packed[TEXTS][PASSAGES][VECTORS_PACKED(DIMENSIONS)];
    size_t passages[TEXTS]; /* 0: not there */
    int64_t seen;
};

static int begin(void **out)
{
    struct model *model = calloc(1, sizeof *model);
    assert_non_null(model);
    snprintf(model->folder, sizeof model->folder, "/tmp/test_vector_shelving.XXXXXX");
    assert_non_null(mkdtemp(model->folder));
    model->shelf = shelf_new(model->folder, IDENTITY);
    model->vectors = vectors_new();
    assert_non_null(model->shelf);
    assert_non_null(model->vectors);
    *out = model;
    return 0;
}

static int end(void **out)
{
    struct model *model = *out;
    vectors_free(model->vectors);
    shelf_free(model->shelf);
    assert_true(remove_folder(model->folder, 1));
    free(model);
    return 0;
}

static void put(struct model *model, size_t which, size_t passages)
{
    float numbers[DIMENSIONS];
    for (size_t i = 0; i < passages; i++) {
        make(numbers, DIMENSIONS);
        vectors_pack(numbers, DIMENSIONS, model->packed[which][i]);
    }
    model->passages[which] = passages;
    assert_int_equal(vectors_put(model->vectors, (int64_t)which + 1, (uint32_t)which,
                                 model->packed[which][0], passages * VECTORS_PACKED(DIMENSIONS),
                                 DIMENSIONS),
                     OK);
}

static void change(struct model *model)
{
    size_t which = dice() % TEXTS;
    if (dice() % 3 == 0) {
        vectors_remove(model->vectors, (int64_t)which + 1);
        model->passages[which] = 0;
    } else {
        put(model, which, 1 + dice() % PASSAGES);
    }
}

static bool at_most_some(const void *context, int64_t id)
{
    return id % 3 <= *(const int *)context;
}

/* The set finds what a set that was never saved finds. */
static void compare(const struct model *model, const struct vectors *vectors)
{
    struct vectors *plain = vectors_new();
    float question[DIMENSIONS];
    struct vectors_hit found[20];
    struct vectors_hit expected[20];
    size_t count;
    size_t expected_count;
    int most = (int)(dice() % 3);
    make(question, DIMENSIONS);
    for (size_t i = 0; i < TEXTS; i++) {
        if (model->passages[i] > 0) {
            assert_int_equal(vectors_put(plain, (int64_t)i + 1, (uint32_t)i, model->packed[i][0],
                                         model->passages[i] * VECTORS_PACKED(DIMENSIONS),
                                         DIMENSIONS),
                             OK);
        }
    }
    assert_int_equal(
        vectors_search(plain, question, 20, at_most_some, &most, expected, &expected_count), OK);
    assert_int_equal(vectors_search(vectors, question, 20, at_most_some, &most, found, &count), OK);
    assert_int_equal(count, expected_count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(found[i].id, expected[i].id);
        assert_true(found[i].cosine == expected[i].cosine);
    }
    assert_int_equal(vectors_compare(vectors, question, expected, count, NAN), OK);
    assert_memory_equal(found, expected, count * sizeof *found);
    assert_true(vector_shelving_sound(vectors));
    vectors_free(plain);
}

/* With changes while it is written. */
static int save(struct model *model, const char *label, size_t changes)
{
    struct vector_shelving *shelving;
    bool thrown_away;
    struct vector_source source = {++model->seen, {0}, label};
    assert_int_equal(shelf_claim(model->shelf, &thrown_away), OK);
    int status = vector_shelving_begin(model->vectors, model->shelf, &source, &shelving);
    if (status == OK) {
        for (size_t i = 0; i < changes; i++) {
            change(model);
        }
        status = vector_shelving_write(shelving);
        for (size_t i = 0; i < changes; i++) {
            change(model);
        }
        int ended = vector_shelving_end(shelving, model->vectors, status == OK);
        status = status == OK ? ended : status;
    }
    shelf_unclaim(model->shelf);
    return status;
}

/* What another process sees. */
static struct vectors *load(const struct model *model, struct vector_source *source)
{
    struct vectors *vectors = vectors_new();
    struct shelf *shelf = shelf_new(model->folder, IDENTITY);
    assert_int_equal(vector_shelving_load(vectors, shelf, source), OK);
    shelf_free(shelf);
    return vectors;
}

/* How many files hold the bytes of a vector, as rows have them. */
static size_t files_with(const struct model *model, const unsigned char *packed)
{
    size_t found = 0;
    unsigned char row[DIMENSIONS];
    char path[400];
    DIR *listing = opendir(model->folder);
    for (size_t i = 0; i < DIMENSIONS; i++) {
        row[i] = packed[4 + i] ^ 0x80;
    }
    for (struct dirent *entry = readdir(listing); entry; entry = readdir(listing)) {
        struct buf bytes;
        buf_init(&bytes, MIB(64));
        snprintf(path, sizeof path, "%s/%s", model->folder, entry->d_name);
        if (entry->d_type == DT_REG && read_whole(path, &bytes) == OK) {
            found += bytes.length > 0 && memmem(bytes.data, bytes.length, row, sizeof row) != NULL;
        }
        buf_done(&bytes);
    }
    closedir(listing);
    return found;
}

static void test_what_was_saved_is_found_again(void **out)
{
    struct model *model = *out;
    struct vector_source source;
    for (int round = 1; round <= ROUNDS; round++) {
        change(model);
        if (round % 50 == 0) {
            assert_int_equal(save(model, LABEL, round % 100 == 0 ? 5 : 0), OK);
            compare(model, model->vectors);
        }
        if (round % 300 == 50) { /* nothing is fresh: the files have everything */
            struct vector_need need = vector_shelving_need(model->vectors);
            struct vectors *other = load(model, &source);
            assert_int_equal(need.texts + need.fresh + need.dead, 0);
            assert_int_equal(source.seen, model->seen);
            assert_string_equal(source.label, LABEL);
            compare(model, other);
            vectors_free(other);
            vectors_free(model->vectors); /* it goes on from there */
            model->vectors = vectors_new();
            assert_int_equal(vector_shelving_load(model->vectors, model->shelf, &source), OK);
        }
    }
    assert_true(vectors_bytes(model->vectors) < 200000);
}

static void test_what_was_removed_is_in_no_file(void **out)
{
    struct model *model = *out;
    for (size_t i = 0; i < TEXTS; i++) {
        put(model, i, 1);
    }
    assert_int_equal(save(model, LABEL, 0), OK);
    assert_int_equal(files_with(model, model->packed[7][0]), 1);
    assert_int_equal(files_with(model, model->packed[8][0]), 1);
    vectors_remove(model->vectors, 8);
    model->passages[7] = 0;
    assert_int_equal(vector_shelving_need(model->vectors).dead, 1);
    assert_int_equal(save(model, LABEL, 0), OK);
    assert_int_equal(files_with(model, model->packed[7][0]), 0);
    assert_int_equal(files_with(model, model->packed[8][0]), 1);
    compare(model, model->vectors);
    assert_int_equal(save(model, LABEL, 0), ERR_NOTFOUND); /* there is nothing to do */
}

static void test_those_of_another_model_take_their_place(void **out)
{
    struct model *model = *out;
    struct vector_source source;
    put(model, 1, 1);
    put(model, 2, 1);
    assert_int_equal(save(model, LABEL, 0), OK);
    vectors_free(model->vectors);
    model->vectors = vectors_new();
    memset(model->passages, 0, sizeof model->passages);
    unsigned char old[VECTORS_PACKED(DIMENSIONS)];
    memcpy(old, model->packed[1][0], sizeof old);
    put(model, 1, 2);
    assert_int_equal(save(model, LABEL, 0), ERR_CLOSED); /* which was not made from those */
    assert_int_equal(save(model, "2 other", 0), OK);
    assert_int_equal(files_with(model, old), 0);
    struct vectors *other = load(model, &source);
    assert_string_equal(source.label, "2 other");
    compare(model, other);
    vectors_free(other);
}

static void test_somebody_else_wrote_first(void **out)
{
    struct model *model = *out;
    struct model theirs = {.shelf = shelf_new(model->folder, IDENTITY), .seen = 7};
    struct vector_source source;
    put(model, 1, 1);
    assert_int_equal(save(model, LABEL, 0), OK);
    theirs.vectors = vectors_new();
    assert_int_equal(vector_shelving_load(theirs.vectors, theirs.shelf, &source), OK);
    vectors_remove(theirs.vectors, 2);
    assert_int_equal(save(&theirs, LABEL, 0), OK);
    put(model, 3, 1);
    assert_int_equal(save(model, LABEL, 0), ERR_CLOSED);
    vectors_free(theirs.vectors);
    shelf_free(theirs.shelf);
}

/* A bit anywhere in a file: it is not loaded, or the search that meets it says so. */
static void test_damage_is_noticed(void **out)
{
    struct model *model = *out;
    char path[400];
    char name[64] = "";
    struct dirent *entry;
    for (size_t i = 0; i < TEXTS; i++) {
        put(model, i, 1);
    }
    assert_int_equal(save(model, LABEL, 0), OK);
    DIR *listing = opendir(model->folder);
    while ((entry = readdir(listing))) {
        if (strstr(entry->d_name, ".seg")) {
            snprintf(name, sizeof name, "%.60s", entry->d_name);
        }
    }
    closedir(listing);
    snprintf(path, sizeof path, "%s/%s", model->folder, name);
    float question[DIMENSIONS];
    make(question, DIMENSIONS);
    for (int round = 0; round < 300; round++) {
        struct vectors *vectors = vectors_new();
        struct shelf *shelf = shelf_new(model->folder, IDENTITY);
        struct vector_source source;
        struct vectors_hit hits[TEXTS];
        size_t count;
        FILE *file = fopen(path, "r+b");
        assert_int_equal(fseek(file, 0, SEEK_END), 0);
        long at = (long)(dice() % (uint32_t)ftell(file));
        assert_int_equal(fseek(file, at, SEEK_SET), 0);
        int byte = fgetc(file);
        assert_int_equal(fseek(file, at, SEEK_SET), 0);
        fputc(byte ^ 1 << dice() % 8, file);
        assert_int_equal(fclose(file), 0);
        int status = vector_shelving_load(vectors, shelf, &source);
        if (status == OK) {
            assert_int_equal(vectors_search(vectors, question, TEXTS, NULL, NULL, hits, &count),
                             OK);
            assert_false(vector_shelving_sound(vectors));
        } else {
            assert_int_equal(status, ERR_INVALID);
        }
        vectors_free(vectors);
        shelf_free(shelf);
        file = fopen(path, "r+b");
        assert_int_equal(fseek(file, at, SEEK_SET), 0);
        fputc(byte, file);
        assert_int_equal(fclose(file), 0);
    }
    compare(model, model->vectors);
}

/* With very many, signs choose first. Those that are near are found all the same. */
static void test_very_many(void **out)
{
    enum { SMALL = 128, NEAR = 20, MANY = LIMIT_VECTORS_EXACT + 10600 };
    struct model *model = *out;
    unsigned char packed[VECTORS_PACKED(SMALL)];
    float numbers[SMALL];
    float question[SMALL];
    struct vectors_hit hits[NEAR];
    size_t count;
    int most = 0;
    make(question, SMALL);
    for (int64_t id = 1; id <= MANY; id++) {
        make(numbers, SMALL);
        for (size_t i = 0; i < SMALL && id % 2500 == 0; i++) {
            numbers[i] = question[i] + numbers[i] / 2;
        }
        vectors_pack(numbers, SMALL, packed);
        assert_int_equal(vectors_put(model->vectors, id, 0, packed, sizeof packed, SMALL), OK);
        if (id % 30000 == 0 || id == MANY - 100) { /* the last file is too small for signs */
            assert_int_equal(save(model, LABEL, 0), OK);
        }
    }
    assert_int_equal(vectors_search(model->vectors, question, NEAR, NULL, NULL, hits, &count), OK);
    assert_int_equal(count, NEAR);
    for (size_t i = 0; i < NEAR; i++) {
        assert_int_equal(hits[i].id % 2500, 0);
    }
    /* A filter that hardly anything passes is answered in full. */
    for (int64_t id = 1; id <= MANY; id++) {
        if (id % 3 == 0 && id > 15) {
            vectors_remove(model->vectors, id);
        }
    }
    assert_int_equal(save(model, LABEL, 0), OK);
    assert_int_equal(
        vectors_search(model->vectors, question, NEAR, at_most_some, &most, hits, &count), OK);
    assert_int_equal(count, 5);
    assert_true(vector_shelving_sound(model->vectors));
}

/* A store that grows for long has few files all the same: those of middling size become large ones.
 */
static void test_files_stay_few(void **out)
{
    enum { SMALL = 8, EACH = LIMIT_VECTORS_FRESH / 8 + 100, SAVES = LIMIT_INDEX_SEGMENTS + 8 };
    struct model *model = *out;
    unsigned char packed[VECTORS_PACKED(SMALL)];
    float numbers[SMALL];
    int64_t id = 0;
    make(numbers, SMALL);
    vectors_pack(numbers, SMALL, packed);
    for (int round = 0; round < SAVES; round++) {
        for (int i = 0; i < EACH; i++) {
            assert_int_equal(vectors_put(model->vectors, ++id, 0, packed, sizeof packed, SMALL),
                             OK);
        }
        assert_int_equal(save(model, LABEL, 0), OK);
    }
    struct shelf_view *view = shelf_hold(model->shelf);
    assert_true(view->count <= LIMIT_INDEX_SEGMENTS / 2 + 1);
    shelf_release(view);
}

UNIT_TEST(vector_shelving)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_was_saved_is_found_again, begin, end),
        cmocka_unit_test_setup_teardown(test_what_was_removed_is_in_no_file, begin, end),
        cmocka_unit_test_setup_teardown(test_those_of_another_model_take_their_place, begin, end),
        cmocka_unit_test_setup_teardown(test_somebody_else_wrote_first, begin, end),
        cmocka_unit_test_setup_teardown(test_damage_is_noticed, begin, end),
        cmocka_unit_test_setup_teardown(test_very_many, begin, end),
        cmocka_unit_test_setup_teardown(test_files_stay_few, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
