/* Documents that are kept: whose they are, how many, and that a copy is whole. */
#include "unit.h"

#include "arena_fixture.h"
#include "reader/kept.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct kept *kept;

static int set_up(void **state)
{
    kept = kept_new();
    return kept ? make_arena(state) : -1;
}

static int tear_down(void **state)
{
    kept = kept_free(kept);
    return free_arena(state);
}

/* The key of the document of a page, whose answer is known by a number. */
static struct kept_key key_of(int page, uint64_t sum)
{
    char name[32];
    struct kept_key key = {.mark = {.sum = sum}};
    snprintf(name, sizeof name, "https://a.test/%d", page);
    cache_key(key.mark.key, (const char *const[]){name, NULL});
    return key;
}

static void put(const struct kept_key *key, const char *markdown)
{
    struct made_document made = {.html = true,
                                 .document = {.markdown = markdown, .length = strlen(markdown)}};
    kept_put(kept, key, &made);
}

/* The text that is kept for a key; NULL: none. */
static const char *find(const struct kept_key *key)
{
    struct made_document made;
    return kept_find(kept, key, arena, &made) ? made.document.markdown : NULL;
}

static void gives_a_copy_of_everything(void **state)
{
    (void)state;
    char text[] = "a text", title[] = "a title", what[] = "menu", heading[] = "a heading";
    struct omitted_part part = {
        .what = what, .chars = 7, .headings = {heading}, .heading_count = 1};
    struct made_document found, made = {.html = true,
                                        .shell = true,
                                        .length = 3,
                                        .document = {.markdown = text,
                                                     .length = 6,
                                                     .title = title,
                                                     .cut = true,
                                                     .encoding_guessed = true,
                                                     .omitted = {&part, 1}}};
    struct kept_key key = key_of(1, 7);
    assert_false(kept_find(kept, &key, arena, &found));
    kept_put(kept, &key, &made);
    /* What it was made of goes with its call. */
    *text = *title = *what = *heading = 'X';
    part = (struct omitted_part){0};
    assert_true(kept_find(kept, &key, arena, &found));
    kept = kept_free(kept);
    assert_string_equal(found.document.markdown, "a text");
    assert_string_equal(found.document.title, "a title");
    assert_int_equal(found.document.length, 6);
    assert_null(found.document.authors);
    assert_true(found.html && found.shell && found.length == 3);
    assert_true(found.document.cut && found.document.encoding_guessed);
    assert_int_equal(found.document.omitted.count, 1);
    assert_string_equal(found.document.omitted.parts->what, "menu");
    assert_int_equal(found.document.omitted.parts->chars, 7);
    assert_string_equal(found.document.omitted.parts->headings[0], "a heading");
}

static void gives_none_of_another_answer(void **state)
{
    (void)state;
    struct kept_key key = key_of(1, 7), newer = key_of(1, 8), other = key_of(2, 7), all = key,
                    rendered = key;
    all.all = true;
    rendered.scripts_ran = true;
    put(&key, "old");
    assert_null(find(&newer));
    assert_null(find(&other));
    assert_null(find(&all));
    assert_null(find(&rendered));
    put(&all, "all");
    put(&rendered, "rendered");
    put(&other, "other");
    assert_string_equal(find(&key), "old");
    assert_string_equal(find(&all), "all");
    /* A new answer: nothing of the old one is kept. */
    put(&newer, "new");
    assert_string_equal(find(&newer), "new");
    assert_null(find(&key));
    assert_null(find(&all));
    assert_null(find(&rendered));
    assert_string_equal(find(&other), "other");
    /* Two calls made the same one. */
    put(&newer, "again");
    assert_string_equal(find(&newer), "again");
}

static void keeps_the_last_ones(void **state)
{
    (void)state;
    struct kept_key first = key_of(0, 1);
    for (int i = 0; i <= LIMIT_KEPT_DOCUMENTS; i++) {
        struct kept_key key = key_of(i, 1);
        put(&key, "text");
        assert_non_null(find(&first)); /* a use, which saves it */
    }
    for (int i = 0; i <= LIMIT_KEPT_DOCUMENTS; i++) {
        struct kept_key key = key_of(i, 1);
        assert_int_equal(find(&key) != NULL, i != 1);
    }
}

static void stays_within_its_bytes(void **state)
{
    (void)state;
    static char text[LIMIT_KEPT_BYTES / 4];
    struct kept_key large = key_of(9, 1);
    memset(text, 'x', sizeof text - 1);
    for (int i = 0; i < 6; i++) {
        struct kept_key key = key_of(i, 1);
        put(&key, text);
    }
    for (int i = 0; i < 6; i++) {
        struct kept_key key = key_of(i, 1);
        assert_int_equal(find(&key) != NULL, i >= 3); /* three and what is beside their texts */
    }
    /* What would push everything else out is not kept. */
    char *much = malloc(LIMIT_KEPT_BYTES + 1);
    assert_non_null(much);
    memset(much, 'x', LIMIT_KEPT_BYTES);
    much[LIMIT_KEPT_BYTES] = '\0';
    put(&large, much);
    free(much);
    assert_null(find(&large));
    struct kept_key last = key_of(5, 1);
    assert_non_null(find(&last));
}

static void *take_part(void *context)
{
    const uintptr_t number = (uintptr_t)context;
    struct arena *own = arena_new(MIB(1));
    for (uint64_t i = 1; i <= 500; i++) {
        char text[CACHE_KEY_SIZE + 32];
        struct made_document found;
        struct kept_key key = key_of((int)(i % 40), i % 3 + 1);
        struct made_document made = {.document = {.markdown = text}};
        snprintf(text, sizeof text, "%s %d", key.mark.key, (int)key.mark.sum);
        made.document.length = strlen(text);
        kept_put(kept, &key, &made);
        key = key_of((int)((i + number) % 40), i % 3 + 1);
        snprintf(text, sizeof text, "%s %d", key.mark.key, (int)key.mark.sum);
        if (kept_find(kept, &key, own, &found) && strcmp(found.document.markdown, text) != 0) {
            own = arena_free(own);
            return context;
        }
        arena_reset(own);
    }
    arena_free(own);
    return NULL;
}

static void many_share_it(void **state)
{
    (void)state;
    pthread_t threads[4];
    for (uintptr_t i = 0; i < COUNT(threads); i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, take_part, (void *)(i + 1)), 0);
    }
    for (size_t i = 0; i < COUNT(threads); i++) {
        void *wrong = NULL;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
}

UNIT_TEST(kept)
{
#define WITH_KEPT(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_KEPT(gives_a_copy_of_everything),
        WITH_KEPT(gives_none_of_another_answer),
        WITH_KEPT(keeps_the_last_ones),
        WITH_KEPT(stays_within_its_bytes),
        WITH_KEPT(many_share_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
