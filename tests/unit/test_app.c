/* The program as a whole: two of them in one process share nothing but what belongs to the process,
 * and one that starts and ends two hundred times leaves no memory, descriptor or thread behind. */
#include "app/app.h"
#include "config/config.h"
#include "core/files.h"
#include "core/limits.h"
#include "loopback.h"
#include "unit.h"

#include <dirent.h>
#include <time.h>

#define CALLS_AT_ONCE 40

struct program {
    struct app *app;
    char folder[40];
    char word[16]; /* that only its memories hold */
};

static struct loopback *web;

static void serve_page(struct loopback *server, int client)
{
    (void)server;
    char request[4096];
    while (loopback_read(client, request, sizeof request)) {
        loopback_say(client, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 19\r\n"
                             "\r\na page of loopback\n");
    }
}

static int start_web(void **state)
{
    (void)state;
    web = loopback_start("127.0.0.1", serve_page);
    return 0;
}

static int stop_web(void **state)
{
    (void)state;
    loopback_stop(web);
    config_unload();
    return 0;
}

static void make_folder(struct program *program, const char *word)
{
    snprintf(program->word, sizeof program->word, "%s", word);
    snprintf(program->folder, sizeof program->folder, "/tmp/forage-app-XXXXXX");
    assert_non_null(mkdtemp(program->folder));
}

/* Starts a program on its own folder. The configuration belongs to the process, so another one is
 * loaded first. */
static void start_with(struct program *program, char *setting)
{
    char data[64], cache[64];
    char hosts[] = "FORAGE_ALLOW_PRIVATE_HOSTS=127.0.0.1";
    char *environment[] = {data, cache, hosts, setting, NULL};
    char words[512] = "";
    struct buf problem;
    snprintf(data, sizeof data, "FORAGE_DATA_DIR=%s/data", program->folder);
    snprintf(cache, sizeof cache, "FORAGE_CACHE_DIR=%s/cache", program->folder);
    buf_init(&problem, KIB(4));
    int status = config_load(environment, NULL, &problem);
    if (status != OK) {
        fail_msg("%s", problem.data);
    }
    buf_done(&problem);
    program->app =
        app_new(&(struct app_options){.name = "forage", .title = "forage"}, words, sizeof words);
    if (!program->app) {
        fail_msg("%s", words);
    }
}

static void start(struct program *program)
{
    start_with(program, NULL);
}

static void end(struct program *program)
{
    app_finish_calls(program->app, false, NULL);
    program->app = app_free(program->app);
}

/* Runs a tool with arguments of printf's kind; its result as text, to be freed. */
static char *run(const struct program *program, const char *tool, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static char *run(const struct program *program, const char *tool, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    struct registry *registry = program->app->registry;
    struct call *call =
        call_new(&(struct call_options){.caller = caller_local(), .parts = &program->app->parts});
    struct reply reply;
    size_t length = 0;
    yyjson_doc *arguments = json_parse(call_arena(call), text, strlen(text), NULL);
    int status = registry_run(registry, registry_tool(registry, tool), call,
                              yyjson_doc_get_root(arguments), &reply);
    const char *written =
        status == OK ? json_text(call_arena(call), reply.structured, &length) : NULL;
    char *copy = written ? strndup(written, length) : NULL;
    call_free(call);
    return copy;
}

/* Takes the text. */
static void expect(char *text, const char *part, bool there)
{
    if (!text || (strstr(text, part) != NULL) != there) {
        fail_msg("%s: %s", part, text ? text : "nothing");
    }
    free(text);
}

static void add_memory(const struct program *program)
{
    expect(run(program, "memory_add", "{\"key\":\"k\",\"text\":\"%s tastes well\"}", program->word),
           "\"success\":true", true);
}

static void expect_word(const struct program *program, const char *word, bool there)
{
    char found[64];
    snprintf(found, sizeof found, "%s tastes", word);
    expect(run(program, "memory_search", "{\"query\":\"%s\"}", word), found, there);
}

/* The number is part of the address: a page that was read before is cached. */
static void read_page(const struct program *program, int number)
{
    expect(run(program, "get_content", "{\"url\":\"http://127.0.0.1:%d/%d\"}", web->port, number),
           "a page of loopback", true);
}

/* The calls of memory_add that the status shows. */
static void expect_calls(const struct program *program, int calls)
{
    char found[64];
    snprintf(found, sizeof found, "\"calls\":%d", calls);
    expect(run(program, "forage_status", "{\"tool\":\"memory_add\"}"), found, true);
}

static void *call_often(void *context)
{
    const struct program *program = context;
    for (int i = 0; i < CALLS_AT_ONCE; i++) {
        free(run(program, "memory_search", "{\"query\":\"%s\"}", program->word));
        free(run(program, "get_content", "{\"url\":\"http://127.0.0.1:%d/%d\"}", web->port, i % 4));
        free(run(program, "forage_status", "{}"));
    }
    return NULL;
}

static void run_both_at_once(struct program *programs)
{
    pthread_t threads[4];
    for (size_t i = 0; i < COUNT(threads); i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, call_often, &programs[i % 2]), 0);
    }
    for (size_t i = 0; i < COUNT(threads); i++) {
        pthread_join(threads[i], NULL);
    }
}

static void run_two(size_t ends_first)
{
    struct program programs[2];
    make_folder(&programs[0], "cinnamon");
    make_folder(&programs[1], "turmeric");
    for (size_t i = 0; i < COUNT(programs); i++) {
        start(&programs[i]);
        add_memory(&programs[i]);
    }
    add_memory(&programs[1]);
    for (size_t i = 0; i < COUNT(programs); i++) {
        expect_word(&programs[i], programs[i].word, true);
        expect_word(&programs[i], programs[1 - i].word, false);
        read_page(&programs[i], 1);
        expect_calls(&programs[i], (int)i + 1);
    }
    run_both_at_once(programs);
    struct program *other = &programs[1 - ends_first];
    end(&programs[ends_first]);
    expect_word(other, other->word, true);
    expect_word(other, programs[ends_first].word, false);
    read_page(other, 2);
    expect_calls(other, 2 - (int)ends_first);
    end(other);
    for (size_t i = 0; i < COUNT(programs); i++) {
        assert_true(remove_folder(programs[i].folder, 10));
    }
}

static void test_two_programs_the_first_ends_first(void **state)
{
    (void)state;
    run_two(0);
}

static void test_two_programs_the_second_ends_first(void **state)
{
    (void)state;
    run_two(1);
}

static void write_experiment(const char *folder, char *setting, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/experiment.json", folder);
    snprintf(setting, size, "FORAGE_EXPERIMENTS=%s", path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("{\"name\": \"brief\", \"tool\": \"memory_add\", \"unit\": \"caller\", \"share\": 1,"
          " \"metric\": \"latency\", \"sample\": 10,"
          " \"arms\": {\"A\": {}, \"B\": {\"arguments\": {\"tags\": [\"brief\"]}}}}",
          file);
    assert_int_equal(fclose(file), 0);
}

/* Where none is set, there is no part, and the registry asks nobody. */
static void test_experiments_are_made_where_they_are_set(void **state)
{
    (void)state;
    struct program program;
    char setting[160];
    make_folder(&program, "saffron");
    start(&program);
    assert_null(program.app->parts.experiments);
    assert_null(program.app->registry->trying.begin);
    add_memory(&program);
    end(&program);
    write_experiment(program.folder, setting, sizeof setting);
    start_with(&program, setting);
    assert_non_null(program.app->parts.experiments);
    assert_non_null(program.app->registry->trying.begin);
    add_memory(&program);
    end(&program);
    assert_true(remove_folder(program.folder, 10));
}

/* A message of MCP, and whether it may have a worker that is kept for what asks nobody outside. */
#define TOOL(name)                                                                                 \
    "{\"jsonrpc\":\"2.0\",\"id\":\"" name "\",\"method\":\"tools/call\","                          \
    "\"params\":{\"name\":\"" name "\",\"arguments\":{}}}"
#define TASK(method)                                                                               \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" method "\",\"params\":{\"taskId\":\"x\"}}"

static const struct {
    const char *version, *message;
    bool local;
} WORKS[] = {
    {NULL, TOOL("memory_list"), true},
    {NULL, TOOL("get_content"), false},
    {NULL, TOOL("research_result"), false},
    {NULL, "[" TOOL("memory_list") "," TOOL("memory_search") "]", true},
    {NULL, "[" TOOL("get_content") "]", false},
    {NULL, "[" TOOL("memory_list") "," TOOL("web_search") "," TOOL("memory_search") "]", false},
    {"2025-11-25", TASK("tasks/get"), true},
    {"2025-11-25", TASK("tasks/result"), false},
};

static void test_kept_workers_are_for_what_asks_nobody(void **state)
{
    (void)state;
    struct program program;
    make_folder(&program, "sumac");
    start(&program);
    for (size_t i = 0; i < COUNT(WORKS); i++) {
        struct mcp_headers headers = {.protocol_version = WORKS[i].version};
        struct mcp_peer peer = {.headers = &headers, .caller = caller_local()};
        const char *message = WORKS[i].message;
        struct mcp_work *work = mcp_receive(program.app->mcp, &peer, message, strlen(message));
        if (mcp_work_kind(work) != MCP_SLOW || mcp_work_is_local(work) != WORKS[i].local) {
            fail_msg("%s", message);
        }
        mcp_work_free(work);
    }
    end(&program);
    assert_true(remove_folder(program.folder, 10));
}

static size_t entries(const char *path)
{
    size_t count = 0;
    DIR *folder = opendir(path);
    assert_non_null(folder);
    while (readdir(folder)) {
        count++;
    }
    closedir(folder);
    return count;
}

/* Threads that were told to end, and the page's side of connections, need a moment. */
static void expect_no_more(const char *path, size_t before)
{
    static const struct timespec PAUSE = {.tv_nsec = 20 * 1000 * 1000};
    int64_t until = clock_now_ms() + 60000;
    while (entries(path) > before && clock_now_ms() < until) {
        nanosleep(&PAUSE, NULL);
    }
    assert_true(entries(path) <= before);
}

static void start_and_end(struct program *program, int page)
{
    start(program);
    add_memory(program);
    expect_word(program, program->word, true);
    if (page) {
        read_page(program, page);
    }
    end(program);
}

static void start_and_end_often(const char *word, int times, bool reads)
{
    struct program program;
    make_folder(&program, word);
    start_and_end(&program, reads); /* opens what the process keeps, such as libraries */
    size_t descriptors = entries("/proc/self/fd");
    size_t threads = entries("/proc/self/task");
    int connections = loopback_connections(web); /* the other end of each stays open here */
    for (int i = 0; i < times; i++) {
        start_and_end(&program, reads ? i + 2 : 0);
    }
    connections = loopback_connections(web) - connections;
    expect_no_more("/proc/self/fd", descriptors + (size_t)connections);
    expect_no_more("/proc/self/task", threads);
    assert_true(remove_folder(program.folder, 10));
}

static void test_two_hundred_starts(void **state)
{
    (void)state;
    start_and_end_often("saffron", 200, false);
}

static void test_starts_that_read_a_page(void **state)
{
    (void)state;
    start_and_end_often("fennel", 20, true);
}

UNIT_TEST(app)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_programs_the_first_ends_first),
        cmocka_unit_test(test_two_programs_the_second_ends_first),
        cmocka_unit_test(test_experiments_are_made_where_they_are_set),
        cmocka_unit_test(test_kept_workers_are_for_what_asks_nobody),
        cmocka_unit_test(test_two_hundred_starts),
        cmocka_unit_test(test_starts_that_read_a_page),
    };
    return cmocka_run_group_tests(tests, start_web, stop_web);
}
