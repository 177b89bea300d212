/* What models send, as recorded streams (the corpus of the fuzz target has them): each gives the
 * same reply however it is cut, and the reply that its name promises. */
#include "failing_allocations.h"
#include "unit.h"

#include "core/limits.h"
#include "model/stream.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#define FOLDER     UNIT_DATA "/../../../fuzz/corpus/model_stream"
#define MOST_BYTES KIB(64)
#define EVERY_CUT  1500 /* a longer one is cut in two at every seventh byte */

static const struct model_provider PROVIDER = {.name = "test", .choices = CHOICE_ALL};

static struct arena *arena;

static int make_arena(void **state)
{
    (void)state;
    arena = arena_new(MIB(256));
    return arena ? 0 : -1;
}

static int free_arena(void **state)
{
    (void)state;
    arena = arena_free(arena);
    return 0;
}

/* All that came of a stream, as one text. */
static const char *tell(struct draft *draft, const char *problem, const struct dialect *dialect,
                        struct model_reply *reply)
{
    *reply = (struct model_reply){0};
    if (draft->failed || draft->status != OK || problem) {
        const char *words = draft->error.message;
        return arena_printf(arena, "failed %d, status %d, %s, %s", draft->failed, draft->status,
                            problem ? problem : "-", words ? words : "-");
    }
    assert_int_equal(draft_finish(draft, 0, reply), OK);
    reply->echo = dialect->echo(draft, reply);
    struct buf text;
    buf_init(&text, MIB(4));
    buf_printf(&text, "%s|%d|%s|%lld %lld %lld %lld", reply->text, reply->stop, reply->echo,
               (long long)draft->usage.input_tokens, (long long)draft->usage.cached_tokens,
               (long long)draft->usage.output_tokens, (long long)draft->usage.reasoning_tokens);
    for (size_t i = 0; i < reply->use_count; i++) {
        const struct model_use *use = &reply->uses[i];
        buf_printf(&text, "|%s %s %s %s", use->id, use->name, use->raw,
                   use->arguments ? use->arguments : "none");
    }
    return buf_to_arena(&text, arena);
}

static const struct dialect *dialect_of(char letter)
{
    return letter == 'r'   ? &DIALECT_RESPONSES
           : letter == 'm' ? &DIALECT_MESSAGES
           : letter == 'g' ? &DIALECT_GEMINI
                           : &DIALECT_CHAT;
}

/* Feeds `first` bytes, and then pieces of so many. */
static const char *read_cut(const char *data, size_t length, size_t first, size_t piece,
                            struct model_reply *reply)
{
    const struct dialect *dialect = dialect_of(data[0]);
    struct stream *stream = stream_new(arena, dialect, &PROVIDER);
    assert_non_null(stream);
    const char *at = data + 2;
    const char *end = data + length;
    size_t next = first;
    bool more = true;
    while (at < end && more) {
        size_t size = (size_t)(end - at) < next ? (size_t)(end - at) : next;
        more = stream_feed(stream, at, size);
        at += size;
        next = piece;
    }
    const char *problem;
    struct draft *draft = stream_end(stream, &problem);
    const char *told = tell(draft, problem, dialect, reply);
    stream_free(stream);
    return told;
}

static size_t read_file(const char *name, char *data)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", FOLDER, name);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    size_t length = fread(data, 1, MOST_BYTES, file);
    fclose(file);
    assert_true(length >= 2 && length < MOST_BYTES);
    return length;
}

/* What the name of a recording promises. */
static void check_promise(const char *name, const struct model_reply *reply)
{
    static const char SAID[] = "Two and two are four: \xc2\xbd of 8, \xe2\x98\x82.";
    if (strncmp(name, "fault-", 6) == 0) {
        return;
    }
    if (strstr(name, "-say-")) {
        assert_string_equal(reply->text, SAID);
        assert_int_equal(reply->stop, MODEL_ENDED);
    } else if (strstr(name, "-uses-")) {
        assert_int_equal(reply->use_count, 2);
        assert_string_equal(reply->uses[0].arguments, "{\"a\":2,\"b\":2}");
        assert_string_equal(reply->uses[1].arguments, "{\"a\":40,\"b\":2}");
        assert_string_not_equal(reply->uses[0].id, reply->uses[1].id);
        assert_int_equal(reply->stop, MODEL_USES);
    } else if (strstr(name, "-cut-")) {
        assert_string_equal(reply->text, "Two and");
        assert_int_equal(reply->stop, MODEL_CUT);
    } else if (strstr(name, "-refuse-")) {
        assert_int_equal(reply->stop, MODEL_REFUSED);
    } else {
        assert_non_null(strstr(name, "-broken-"));
        assert_int_equal(reply->use_count, 1);
    }
}

static void every_chunking_gives_the_same_reply(void **state)
{
    static char data[MOST_BYTES];
    struct model_reply reply;
    size_t seen = 0;
    (void)state;
    DIR *folder = opendir(FOLDER);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.') {
            continue;
        }
        arena_reset(arena);
        size_t length = read_file(entry->d_name, data);
        char *whole = strdup(read_cut(data, length, length, 1, &reply));
        check_promise(entry->d_name, &reply);
        for (size_t piece = 1; piece <= 32; piece++) {
            assert_string_equal(read_cut(data, length, piece, piece, &reply), whole);
        }
        size_t step = length <= EVERY_CUT ? 1 : 7;
        for (size_t cut = 1; cut < length; cut += step) {
            arena_reset(arena);
            assert_string_equal(read_cut(data, length, cut, length, &reply), whole);
        }
        free(whole);
        seen++;
    }
    closedir(folder);
    assert_true(seen >= 60);
}

/* Without memory there is a status, or the right reply; never half of one. */
static void survives_without_memory(void **state)
{
    static const char *const NAMES[] = {
        "openai-chat-uses-stream", "responses-uses-stream",  "messages-uses-stream",
        "gemini-uses-stream",      "openai-chat-say-stream", "messages-say-whole",
    };
    static char data[MOST_BYTES];
    struct model_reply reply;
    (void)state;
    for (size_t i = 0; i < COUNT(NAMES); i++) {
        arena_reset(arena);
        size_t length = read_file(NAMES[i], data);
        char *whole = strdup(read_cut(data, length, length, 1, &reply));
        const struct dialect *dialect = dialect_of(data[0]);
        bool again = true;
        for (long after = 0; again; after++) {
            const char *problem = NULL;
            const char *told = NULL;
            failed = false;
            fail_after = after;
            struct stream *stream = stream_new(arena, dialect, &PROVIDER);
            if (stream) {
                stream_feed(stream, data + 2, length - 2);
                struct draft *draft = stream_end(stream, &problem);
                fail_after = -1;
                assert_false(draft->failed);
                assert_true(!problem || draft->status != OK);
                told = draft->status == OK ? tell(draft, problem, dialect, &reply) : NULL;
            }
            fail_after = -1;
            if (told) {
                assert_string_equal(told, whole);
            }
            assert_true(told || failed);
            again = failed;
            stream_free(stream);
        }
        free(whole);
    }
}

UNIT_TEST(model_stream)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_chunking_gives_the_same_reply),
        cmocka_unit_test(survives_without_memory),
    };
    return cmocka_run_group_tests_name("model_stream", tests, make_arena, free_arena);
}
