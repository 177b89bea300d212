/* The engine over a SQLite file of its own: the rules of changing, reading, searching, imports,
 * namespaces, group commit, and what becomes of contents that were removed. */
#include "memory/memory.h"

#include "call/errors.h"
#include "core/clock.h"
#include "db/db.h"
#include "memory/lines.h"
#include "memory_fixture.h"
#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static const struct memory_filter ALL = {0};

static int start(void **state)
{
    int made = make_folder(state);
    begin_process();
    return made;
}

static int finish(void **state)
{
    end_process();
    return remove_all(state);
}

/* The code of a call's error, "" without one; the call is over. */
static const char *end(struct call *call)
{
    static char code[32];
    const struct call_error *error = call_error(call);
    snprintf(code, sizeof code, "%s", error ? error->code : "");
    call_free(call);
    return code;
}

/* Adds; what came of it as "outcome key version", or the error's code. */
static const char *add(const struct memory_change *change)
{
    static const char *const OUTCOMES[] = {"added",   "replaced", "unchanged", "duplicate",
                                           "updated", "renamed",  "deleted"};
    static char line[256];
    struct memory_result result;
    struct call *call = new_call();
    if (memory_add(call, &SPACE, change, &result) != OK) {
        return end(call);
    }
    snprintf(line, sizeof line, "%s %s %lld", OUTCOMES[result.outcome], result.key,
             (long long)result.version);
    call_free(call);
    return line;
}

static void add_text(const char *key, const char *text)
{
    add(&(struct memory_change){.key = key, .text = text, .place = -1});
}

/* The text of a key, "-" without one. */
static const char *text_of(const struct memory_space *space, const char *key)
{
    static char text[256];
    struct memory found;
    struct call *call = new_call();
    assert_int_equal(memory_get(call, space, &key, 1, 0, &found, NULL), OK);
    snprintf(text, sizeof text, "%s", found.key ? found.text : "-");
    call_free(call);
    return text;
}

/* The keys of a search, with spaces between them. */
static const char *search_in(const struct memory_space *space, const char *query)
{
    static char keys[512];
    struct memory_hits hits;
    struct call *call = new_call();
    size_t length = 0;
    keys[0] = '\0';
    assert_int_equal(memory_search(call, space, query, &ALL, 10, 0, &hits), OK);
    for (size_t i = 0; i < hits.count; i++) {
        length += (size_t)snprintf(keys + length, sizeof keys - length, "%s%s", i ? " " : "",
                                   hits.items[i].key);
    }
    call_free(call);
    return keys;
}

static const char *search(const char *query)
{
    return search_in(&SPACE, query);
}

/* Words alone put the shorter text first. */
static void what_holds_the_question_comes_first(void **state)
{
    (void)state;
    add_text("words", "bridge stone old");
    add_text("phrase",
             "At noon we came to the old stone bridge, and behind it lay the whole valley "
             "with its orchards, its mill and the road to the sea.");
    assert_string_equal(search("old stone bridge"), "phrase words");
    assert_string_equal(search("stone, the bridge old"), "words phrase");
}

static void adds(void **state)
{
    (void)state;
    const char *const tags[] = {"a", "b"};
    assert_string_equal(text_of(&SPACE, "k"), "-");
    assert_string_equal(add(&(struct memory_change){.key = "k", .text = "one", .place = -1}),
                        "added k 1");
    assert_string_equal(add(&(struct memory_change){.key = "k", .text = "one", .place = -1}),
                        "unchanged k 1");
    assert_string_equal(add(&(struct memory_change){.key = "k", .text = "two", .place = -1}),
                        "replaced k 2");
    assert_string_equal(text_of(&SPACE, "k"), "two");
    assert_string_equal(add(&(struct memory_change){.text = "two", .place = -1}), "duplicate k 2");
    assert_string_equal(
        add(&(struct memory_change){.text = "A First Sentence! And more.", .place = -1}),
        "added a-first-sentence 1");
    assert_string_equal(
        add(&(struct memory_change){.text = "A first sentence? Another.", .place = -1}),
        "added a-first-sentence-2 1");
    assert_string_equal(add(&(struct memory_change){.text = "???", .place = -1}), "added memory 1");
    assert_string_equal(add(&(struct memory_change){.text = "search", .place = -1}),
                        "added search-2 1");
    assert_string_equal(add(&(struct memory_change){.text = "x",
                                                    .key = "t",
                                                    .tags = tags,
                                                    .tag_count = 2,
                                                    .metadata = "{\"a\":1}",
                                                    .place = -1}),
                        "added t 1");
}

/* What came of an add, and what was merged. */
static const char *merge(const struct memory_change *change)
{
    static char line[256];
    struct memory_result result;
    struct memory found;
    struct call *call = new_call();
    if (memory_add(call, &SPACE, change, &result) != OK) {
        return end(call);
    }
    unsigned merged = result.merged;
    assert_int_equal(memory_get(call, &SPACE, &result.key, 1, 0, &found, NULL), OK);
    snprintf(line, sizeof line, "%u v%lld %zu tags, %s, until %lld", merged,
             (long long)result.version, found.tag_count, found.metadata ? found.metadata : "-",
             (long long)found.expires_ms);
    call_free(call);
    return line;
}

static void duplicates_are_merged(void **state)
{
    (void)state;
    enum { FAR = 4000000 }; /* seconds since 1970, in millions of milliseconds: the year 2096 */
    const char *const tags[] = {"a", "b", "c"};
    char large[LIMIT_MEMORY_METADATA_BYTES];
    static const char TEXT[] = "The same words.";
    add_text("k", TEXT);
    assert_string_equal(merge(&(struct memory_change){.text = TEXT, .place = -1}),
                        "0 v1 0 tags, -, until 0");
    assert_string_equal(merge(&(struct memory_change){.text = TEXT,
                                                      .tags = tags,
                                                      .tag_count = 2,
                                                      .metadata = "{\"x\":1,\"y\":[2]}",
                                                      .expires_ms = FAR * INT64_C(1000000),
                                                      .place = -1}),
                        "7 v2 2 tags, {\"x\":1,\"y\":[2]}, until 4000000000000");
    assert_string_equal(merge(&(struct memory_change){.text = TEXT,
                                                      .tags = tags + 1,
                                                      .tag_count = 2,
                                                      .metadata = "{\"y\":3,\"z\":null}",
                                                      .place = -1}),
                        "3 v3 3 tags, {\"x\":1,\"y\":3,\"z\":null}, until 4000000000000");
    assert_string_equal(
        merge(&(struct memory_change){
            .text = TEXT, .tags = tags, .tag_count = 1, .metadata = "{\"z\":null}", .place = -1}),
        "0 v3 3 tags, {\"x\":1,\"y\":3,\"z\":null}, until 4000000000000");
    assert_string_equal(merge(&(struct memory_change){.text = TEXT, .expires_ms = -1, .place = -1}),
                        "4 v4 3 tags, {\"x\":1,\"y\":3,\"z\":null}, until 0");
    memset(large, 'm', sizeof large);
    memcpy(large, "{\"m\":\"", 6);
    memcpy(large + sizeof large - 3, "\"}", 3);
    assert_string_equal(
        merge(&(struct memory_change){.text = TEXT, .metadata = large, .place = -1}),
        CODE_VALIDATION);
    assert_string_equal(merge(&(struct memory_change){.text = TEXT, .place = -1}),
                        "0 v4 3 tags, {\"x\":1,\"y\":3,\"z\":null}, until 0");
}

static void refuses(void **state)
{
    (void)state;
    static char large[LIMIT_MEMORY_KEY_BYTES + 2];
    memset(large, 'k', sizeof large - 1);
    const struct memory_change WRONG[] = {
        {.key = "a"},
        {.text = ""},
        {.text = " \r\n\t"},
        {.text = "\xC2\xA0\xE2\x80\x8B\xE3\x80\x80"}, /* blanks and a mark of no width */
        {.text = "t", .key = ""},
        {.text = "t", .key = "search"},
        {.text = "t", .key = "export"},
        {.text = "t", .key = large},
        {.text = "t", .summary = ""},
        {.text = "\xFF"},
        {.text = "t", .metadata = "[1]"},
        {.text = "t", .metadata = "{"},
        {.text = "t", .session = ""},
    };
    for (size_t i = 0; i < COUNT(WRONG); i++) {
        assert_string_equal(add(&WRONG[i]), CODE_VALIDATION);
    }
    assert_string_equal(add(&(struct memory_change){.key = "a", .text = "t", .if_version = 3}),
                        CODE_CONFLICT);
    assert_string_equal(text_of(&SPACE, "a"), "-");
}

static const char *change(int (*function)(struct call *, const struct memory_space *,
                                          const struct memory_change *, struct memory_result *),
                          const struct memory_change *wanted, int64_t *version)
{
    struct memory_result result = {.version = 0};
    struct call *call = new_call();
    function(call, &SPACE, wanted, &result);
    *version = result.version;
    return end(call);
}

static void changes(void **state)
{
    (void)state;
    int64_t version;
    struct memory_change wanted = {.key = "k", .text = "new", .place = -1};
    assert_string_equal(change(memory_update, &wanted, &version), CODE_NOT_FOUND);
    add_text("k", "First. Second.");
    add_text("other", "text");
    wanted.if_version = 7;
    assert_string_equal(change(memory_update, &wanted, &version), CODE_CONFLICT);
    wanted.if_version = 1;
    assert_string_equal(change(memory_update, &wanted, &version), "");
    assert_int_equal(version, 2);
    assert_string_equal(text_of(&SPACE, "k"), "new");
    assert_string_equal(search("new"), "k");
    assert_string_equal(search("second"), "");
    struct memory_change renaming = {.key = "k", .new_key = "other"};
    assert_string_equal(change(memory_rename, &renaming, &version), CODE_CONFLICT);
    renaming.new_key = "import";
    assert_string_equal(change(memory_rename, &renaming, &version), CODE_VALIDATION);
    renaming.new_key = "k2";
    assert_string_equal(change(memory_rename, &renaming, &version), "");
    assert_int_equal(version, 3);
    assert_string_equal(text_of(&SPACE, "k"), "-");
    assert_string_equal(text_of(&SPACE, "k2"), "new");
}

static void remove_keys(const char *first, const char *second, bool deleted[2])
{
    const char *const keys[] = {first, second};
    struct call *call = new_call();
    assert_int_equal(memory_delete(call, &SPACE, keys, 2, deleted), OK);
    call_free(call);
}

/* Whether any of the store's files holds the text. */
static bool on_the_disk(const char *text)
{
    static const char *const NAMES[] = {"memory.db", "memory.db-wal"};
    bool found = false;
    for (size_t i = 0; i < COUNT(NAMES); i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", folder, NAMES[i]);
        FILE *file = fopen(path, "re");
        static char bytes[1 << 20];
        size_t length = file ? fread(bytes, 1, sizeof bytes, file) : 0;
        found |= memmem(bytes, length, text, strlen(text)) != NULL;
        if (file) {
            fclose(file);
        }
    }
    return found;
}

static void deletes_from_the_file_too(void **state)
{
    (void)state;
    bool deleted[2];
    int64_t version;
    add_text("k", "a very private remark");
    add_text("u", "an older private remark");
    assert_true(on_the_disk("very private"));
    remove_keys("k", "none", deleted);
    assert_true(deleted[0] && !deleted[1]);
    assert_string_equal(text_of(&SPACE, "k"), "-");
    assert_string_equal(search("private remark"), "u");
    assert_false(on_the_disk("very private"));
    struct memory_change wanted = {.key = "u", .text = "nothing of interest", .place = -1};
    assert_string_equal(change(memory_update, &wanted, &version), "");
    /* What is replaced is kept as an earlier version, until there are too many, or it is deleted.
     */
    assert_true(on_the_disk("older private"));
    for (int i = 0; i < 4; i++) {
        char text[32];
        snprintf(text, sizeof text, "replacement %d", i);
        add_text("u", text);
    }
    assert_true(on_the_disk("older private"));
    add_text("u", "one too many");
    assert_false(on_the_disk("older private"));
    assert_true(on_the_disk("nothing of interest"));
    remove_keys("u", "none", deleted);
    assert_false(on_the_disk("nothing of interest") || on_the_disk("replacement"));
}

static void expires(void **state)
{
    (void)state;
    struct memory_page page;
    struct memory_change old = {.key = "old", .text = "gone", .expires_ms = 1, .place = -1};
    assert_string_equal(add(&old), CODE_VALIDATION); /* it would be gone at once */
    old.expires_ms = clock_wall_ms() + 2000;
    assert_string_equal(add(&old), "added old 1");
    while (clock_wall_ms() <= old.expires_ms) {
        usleep(1000);
    }
    add(&(struct memory_change){.key = "new", .text = "gone not yet", .place = -1});
    assert_string_equal(text_of(&SPACE, "old"), "-");
    assert_string_equal(search("gone"), "new");
    struct call *call = new_call();
    assert_int_equal(memory_list(call, &SPACE, &ALL, 10, 0, &page), OK);
    assert_int_equal(page.total, 1);
    call_free(call);
    assert_string_equal(add(&(struct memory_change){.key = "old", .text = "back", .place = -1}),
                        "added old 1");
}

static void keeps_sessions(void **state)
{
    (void)state;
    char key[16];
    for (int i = 0; i < 7; i++) {
        snprintf(key, sizeof key, "t%d", i);
        add(&(struct memory_change){.key = key, .text = key, .session = "s", .place = -1});
    }
    const char *wanted = "t3";
    struct memory found;
    struct memory_around around;
    struct call *call = new_call();
    assert_int_equal(memory_get(call, &SPACE, &wanted, 1, 2, &found, &around), OK);
    assert_int_equal(found.place, 3);
    assert_int_equal(around.count, 4);
    static const char *const AROUND[] = {"t1", "t2", "t4", "t5"};
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(around.items[i].key, AROUND[i]);
    }
    call_free(call);
}

static const char *list(const struct memory_filter *filter)
{
    static char keys[256];
    struct memory_page page;
    struct call *call = new_call();
    size_t length = 0;
    keys[0] = '\0';
    assert_int_equal(memory_list(call, &SPACE, filter, 10, 0, &page), OK);
    assert_int_equal(page.total, page.count);
    for (size_t i = 0; i < page.count; i++) {
        length += (size_t)snprintf(keys + length, sizeof keys - length, "%s%s", i ? " " : "",
                                   page.items[i].key);
    }
    call_free(call);
    return keys;
}

static void lists(void **state)
{
    (void)state;
    const char *const tags[] = {"red", "round"};
    add(&(struct memory_change){
        .key = "b1", .text = "1", .tags = tags, .tag_count = 2, .created_ms = 100, .place = -1});
    add(&(struct memory_change){.key = "b2",
                                .text = "2",
                                .tags = tags,
                                .tag_count = 1,
                                .created_ms = 200,
                                .session = "s",
                                .role = "user",
                                .place = -1});
    add(&(struct memory_change){.key = "c\xF4\x8F\xBF\xBF",
                                .text = "3",
                                .created_ms = 300,
                                .session = "s",
                                .role = "bot",
                                .place = -1});
    const struct {
        struct memory_filter filter;
        const char *keys;
    } CASES[] = {
        {{0}, "c\xF4\x8F\xBF\xBF b2 b1"},
        {{.prefix = "b"}, "b2 b1"},
        {{.prefix = "c"}, "c\xF4\x8F\xBF\xBF"},
        {{.prefix = "b", .session = "s"}, "b2"},
        {{.prefix = "%"}, ""},
        {{.tags = tags, .tag_count = 1}, "b2 b1"},
        {{.tags = tags, .tag_count = 2}, "b1"},
        {{.from_ms = 200}, "c\xF4\x8F\xBF\xBF b2"},
        {{.from_ms = 150, .until_ms = 300}, "b2"},
        {{.session = "s"}, "c\xF4\x8F\xBF\xBF b2"},
        {{.session = "s", .from_ms = 250}, "c\xF4\x8F\xBF\xBF"},
        {{.session = "s", .role = "user"}, "b2"},
        {{.role = "nobody"}, ""},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        assert_string_equal(list(&CASES[i].filter), CASES[i].keys);
    }
}

static void keeps_owners_apart(void **state)
{
    (void)state;
    static const struct caller ALICE = {.name = "alice"};
    struct memory_space space;
    struct memory_result result;
    struct memory_stats stats;
    struct call *call = call_new(&(struct call_options){.caller = &ALICE, .parts = &parts});
    assert_int_equal(memory_space_of(call, NULL, &space), OK);
    assert_string_equal(space.owner, "alice");
    assert_int_equal(memory_add(call, &space,
                                &(struct memory_change){.key = "k", .text = "hers", .place = -1},
                                &result),
                     OK);
    assert_int_equal(memory_space_of(call, "team", &space), OK);
    assert_string_equal(space.owner, "");
    assert_int_equal(memory_add(call, &space,
                                &(struct memory_change){.key = "k", .text = "ours", .place = -1},
                                &result),
                     OK);
    call_free(call);
    add_text("mine", "mine");
    assert_string_equal(text_of(&SPACE, "k"), "-");
    assert_string_equal(search("hers"), "");
    assert_string_equal(text_of(&space, "k"), "ours");
    call = new_call();
    assert_int_equal(memory_space_of(call, "", &space), ERR_FAILED);
    call_free(call);
    call = new_call();
    assert_int_equal(memory_stats(call, &stats), OK);
    assert_int_equal(stats.namespace_count, 2);
    assert_string_equal(stats.namespaces[0].name, "default");
    assert_int_equal(stats.namespaces[0].memories, 1);
    assert_true(stats.namespaces[1].shared);
    call_free(call);
}

/* ---- imports and exports ---- */

static int count_exported(void *context, const struct memory_space *space,
                          const struct memory *memory)
{
    (void)space;
    size_t *count = context;
    assert_non_null(memory->text);
    (*count)++;
    return OK;
}

static int feed(struct lines *lines, const char *text, size_t piece)
{
    int status = OK;
    for (size_t at = 0, length = strlen(text); at < length && status == OK; at += piece) {
        status = lines_feed(lines, text + at, length - at < piece ? length - at : piece);
    }
    return status == OK ? lines_end(lines) : status;
}

static void imports_lines(void **state)
{
    (void)state;
    static const char TEXT[] = "{\"key\":\"a\",\"text\":\"one\",\"tags\":[\"x\"]}\n\n"
                               "{\"key\":\"b\",\"text\":\"two\"}\r\n{\"text\":\"two\"}\n"
                               "{\"key\":\"a\",\"text\":\"three\",\"created_at\":\"2026-01-01\"}";
    for (size_t piece = 1; piece < 40; piece += 13) {
        struct call *call = new_call();
        struct memory_space space = {"local", piece == 1 ? "one" : piece < 20 ? "two" : "three"};
        struct lines *lines = lines_new(call, &(struct lines_options){.into = space.name});
        assert_int_equal(feed(lines, TEXT, piece), OK);
        struct lines_counts counts = lines_count(lines);
        assert_int_equal(counts.lines, 4);
        assert_int_equal(counts.added, 2);
        assert_int_equal(counts.replaced, 1);
        assert_int_equal(counts.unchanged, 1);
        lines_free(lines);
        size_t exported = 0;
        struct memory_scope scope = {.space = &space};
        assert_int_equal(memory_export(call, &scope, count_exported, &exported, NULL), OK);
        assert_int_equal(exported, 2);
        call_free(call);
        assert_string_equal(text_of(&space, "a"), "three");
    }
}

static void refuses_wrong_lines(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *words;
    } CASES[] = {
        {"{\"text\":\"x\"}\n{\"key\":\"k\"}", "line 2: text is missing"},
        {"{\"text\":\"x\"}\n\n[1]", "line 3: it must be a JSON object"},
        {"{\"text\":\"x\"", "line 1: "},
        {"{\"text\":5}", "line 1: text must be a string"},
        {"{\"text\":\"x\",\"tag\":1}", "line 1: it holds \"tag\""},
        {"{\"text\":\"x\",\"tags\":{}}", "line 1: tags must be"},
        {"{\"text\":\"x\",\"place\":-1}", "line 1: place must be"},
        {"{\"text\":\"x\",\"metadata\":[]}", "line 1: metadata must be"},
        {"{\"text\":\"x\",\"created_at\":\"soon\"}", "line 1: created_at is \"soon\""},
        {"{\"text\":\"x\\u0000\"}", "line 1: it must be a JSON object without NUL"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct call *call = new_call();
        struct lines *lines = lines_new(call, &(struct lines_options){.only_checks = i % 2});
        assert_int_equal(feed(lines, CASES[i].text, 1000), ERR_FAILED);
        assert_string_equal(call_error(call)->code, CODE_VALIDATION);
        assert_memory_equal(call_error(call)->message, CASES[i].words, strlen(CASES[i].words));
        assert_int_equal(lines_count(lines).lines, 0);
        lines_free(lines);
        call_free(call);
    }
    assert_string_equal(search("x"), "");
}

/* What fails half-way leaves nothing behind. */
static void imports_all_or_nothing(void **state)
{
    (void)state;
    const struct memory_change changes[] = {
        {.key = "a", .text = "one", .place = -1},
        {.key = "b", .text = "two", .place = -1, .if_version = 9},
    };
    struct memory_import_counts counts;
    size_t wrong;
    struct call *call = new_call();
    assert_int_equal(memory_import(call, &SPACE, changes, 2, &counts, &wrong), ERR_FAILED);
    assert_int_equal(wrong, 1);
    assert_string_equal(end(call), CODE_CONFLICT);
    assert_string_equal(text_of(&SPACE, "a"), "-");
}

/* ---- several at once ---- */

#define THREADS 8
#define EACH    25

static void *add_many(void *context)
{
    int number = *(int *)context;
    for (int i = 0; i < EACH; i++) {
        char text[64];
        struct memory_result result;
        snprintf(text, sizeof text, "thread%d memory%d", number, i);
        struct call *call = new_call();
        int status =
            memory_add(call, &SPACE,
                       &(struct memory_change){.text = text, .session = "s", .place = -1}, &result);
        bool refused =
            memory_add(call, &SPACE, &(struct memory_change){.key = "search", .text = "no"},
                       &result) == ERR_FAILED;
        call_free(call);
        if (status != OK || !refused) {
            return context;
        }
    }
    return NULL;
}

static void shares_commits(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    int numbers[THREADS];
    struct memory_page page;
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, add_many, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    struct call *call = new_call();
    assert_int_equal(memory_list(call, &SPACE, &ALL, 100, 0, &page), OK);
    assert_int_equal(page.total, THREADS * EACH);
    assert_int_equal(page.items[0].version, 1);
    call_free(call);
    assert_string_equal(search("thread3 memory7"), search("memory7 thread3"));
}

/* A lost update would show: each thread raises the number that it read, by its version. */
static void *raise_number(void *context)
{
    (void)context;
    for (int done = 0; done < 10;) {
        const char *key = "counter";
        struct memory found;
        struct memory_result result;
        struct call *call = new_call();
        if (memory_get(call, &SPACE, &key, 1, 0, &found, NULL) == OK && found.key) {
            char text[32];
            snprintf(text, sizeof text, "%ld", strtol(found.text, NULL, 10) + 1);
            struct memory_change wanted = {
                .key = key, .text = text, .if_version = found.version, .place = -1};
            done += memory_update(call, &SPACE, &wanted, &result) == OK;
        }
        call_free(call);
    }
    return NULL;
}

static void loses_no_update(void **state)
{
    (void)state;
    pthread_t threads[4];
    add_text("counter", "0");
    for (size_t i = 0; i < COUNT(threads); i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, raise_number, NULL), 0);
    }
    for (size_t i = 0; i < COUNT(threads); i++) {
        pthread_join(threads[i], NULL);
    }
    assert_string_equal(text_of(&SPACE, "counter"), "40");
}

static void cancelled_is_not_begun(void **state)
{
    (void)state;
    struct memory_result result;
    struct call *call = new_call();
    call_cancel(call);
    struct memory_change wanted = {.key = "k", .text = "t", .place = -1};
    assert_int_equal(memory_add(call, &SPACE, &wanted, &result), ERR_CANCELLED);
    call_free(call);
    assert_string_equal(text_of(&SPACE, "k"), "-");
}

/* ---- looking after it ---- */

static struct db *open_directly(const char *name)
{
    char path[128], problem[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return db_open(&(struct db_options){.path = path}, NULL, problem, sizeof problem);
}

static void checks_and_repairs(void **state)
{
    (void)state;
    struct memory_check check;
    char path[128];
    add_text("a", "one");
    add_text("b", "two");
    struct call *call = new_call();
    assert_int_equal(memory_check(call, true, &check), OK);
    assert_int_equal(check.memories, 2);
    assert_int_equal(check.count, 0);
    snprintf(path, sizeof path, "%s/copy.db", folder);
    assert_int_equal(memory_backup(call, path), OK);
    assert_int_equal(memory_backup(call, path), ERR_FAILED); /* never over another file */
    call_free(call);
    memories_free(parts.memories);
    parts.memories = memories_new(parts.places, NULL);
    struct db *db = open_directly("memory.db");
    assert_int_equal(db_run(db, "UPDATE memory SET text = 'forged' WHERE key = 'a';"
                                "UPDATE space SET change = 0"),
                     OK);
    db_close(db);
    for (int round = 0; round < 2; round++) {
        call = new_call();
        assert_int_equal(memory_check(call, true, &check), OK);
        /* The counter is rebuilt; a forged text stays what it is. */
        assert_int_equal(check.count, round == 0 ? 2 : 1);
        assert_int_equal(check.repaired, round == 0 ? 1 : 0);
        assert_string_equal(check.problems[0].key, "a");
        assert_string_equal(check.problems[0].space, "default");
        call_free(call);
    }
    db = open_directly("copy.db");
    int64_t count;
    assert_int_equal(db_numbers(db_query(db, "SELECT count(*) FROM {memory}", NULL, 0), &count, 1),
                     1);
    assert_int_equal(count, 2);
    db_close(db);
}

static void makes_summaries_and_keys(void **state)
{
    (void)state;
    static const struct {
        const char *text, *summary, *key;
    } CASES[] = {
        {"One. Two.", "One.", "one"},
        {"  v1.2 is out! Yes", "v1.2 is out!", "v1-2-is-out"},
        {"a line\nand another", "a line", "a-line"},
        {"数据库很好。第二句", "数据库很好。", "数据库很好"},
        {"École Été", "École Été", "école-été"},
        {"!!!", "!!!", "memory"},
    };
    struct memory_result result;
    struct call *call = new_call();
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct memory_change change = {.text = CASES[i].text, .place = -1};
        assert_int_equal(memory_add(call, &SPACE, &change, &result), OK);
        assert_string_equal(result.summary, CASES[i].summary);
        assert_string_equal(result.key, CASES[i].key);
    }
    char longest[2000];
    memset(longest, 'x', sizeof longest);
    memcpy(longest + 100, " ", 1);
    longest[sizeof longest - 1] = '\0';
    for (int i = 0; i < 4; i++) {
        longest[sizeof longest - 2] = (char)('a' + i); /* another text with the same beginning */
        struct memory_change change = {.text = longest, .place = -1};
        assert_int_equal(memory_add(call, &SPACE, &change, &result), OK);
        assert_int_equal(strlen(result.summary), 103);
        assert_true(strlen(result.key) < 70);
    }
    call_free(call);
}

/* A sentence that fills a summary to the last character is one, whatever its characters take. */
static void cuts_summaries_at_characters(void **state)
{
    (void)state;
    static const char *const CHARACTERS[] = {"x", "é", "数", "𝒳"};
    static const struct {
        const char *text;
        size_t bytes; /* of them that belong to the sentence, */
        size_t characters;
    } ENDS[] = {
        {".", 1, 1},      {"! More.", 1, 1},      {"。More", 3, 1},
        {"？More", 3, 1}, {"\nMore. More", 0, 0}, {".5 is more", 10, 10},
        {"", 0, 0},
    };
    struct memory_result result;
    for (size_t i = 0; i < COUNT(CHARACTERS) * COUNT(ENDS); i++) {
        const char *character = CHARACTERS[i / COUNT(ENDS)];
        struct call *call = new_call();
        for (size_t count = 108; count <= 121; count++) {
            char text[600];
            char summary[600];
            size_t length = 0;
            for (size_t j = 0; j < count; j++) {
                length += (size_t)snprintf(text + length, sizeof text - length, "%s", character);
            }
            size_t end = i % COUNT(ENDS);
            snprintf(text + length, sizeof text - length, "%s", ENDS[end].text);
            bool fits = count + ENDS[end].characters <= 120;
            size_t most = count < 120 ? length + 120 - count : 120 * strlen(character);
            size_t cut = most;
            while (!fits && cut > 0 && text[cut] != ' ') {
                cut--;
            }
            snprintf(summary, sizeof summary, "%.*s%s",
                     (int)(fits  ? length + ENDS[end].bytes
                           : cut ? cut
                                 : most),
                     text, fits ? "" : "…");
            struct memory_change change = {.text = text, .place = -1};
            assert_int_equal(memory_add(call, &SPACE, &change, &result), OK);
            assert_string_equal(result.summary, summary);
        }
        call_free(call);
    }
}

UNIT_TEST(memory)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_holds_the_question_comes_first, start, finish),
        cmocka_unit_test_setup_teardown(adds, start, finish),
        cmocka_unit_test_setup_teardown(cuts_summaries_at_characters, start, finish),
        cmocka_unit_test_setup_teardown(duplicates_are_merged, start, finish),
        cmocka_unit_test_setup_teardown(refuses, start, finish),
        cmocka_unit_test_setup_teardown(changes, start, finish),
        cmocka_unit_test_setup_teardown(deletes_from_the_file_too, start, finish),
        cmocka_unit_test_setup_teardown(expires, start, finish),
        cmocka_unit_test_setup_teardown(keeps_sessions, start, finish),
        cmocka_unit_test_setup_teardown(lists, start, finish),
        cmocka_unit_test_setup_teardown(keeps_owners_apart, start, finish),
        cmocka_unit_test_setup_teardown(imports_lines, start, finish),
        cmocka_unit_test_setup_teardown(refuses_wrong_lines, start, finish),
        cmocka_unit_test_setup_teardown(imports_all_or_nothing, start, finish),
        cmocka_unit_test_setup_teardown(shares_commits, start, finish),
        cmocka_unit_test_setup_teardown(loses_no_update, start, finish),
        cmocka_unit_test_setup_teardown(cancelled_is_not_begun, start, finish),
        cmocka_unit_test_setup_teardown(checks_and_repairs, start, finish),
        cmocka_unit_test_setup_teardown(makes_summaries_and_keys, start, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
