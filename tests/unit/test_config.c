/* The configuration: which source wins, tables of values that are understood and refused, warnings
 * and secrets. */
#include "config/budget.h"
#include "config/config_docs.h"
#include "config/variables.h"
#include "config_fixture.h"
#include "unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>

/* ---- sources ---- */

static void knows_its_defaults(void **state)
{
    load_one(*state, NULL);
    size_t count = 1;
    assert_string_equal(config_text("FORAGE_HOST"), "127.0.0.1");
    assert_int_equal(config_int("FORAGE_PORT"), 3000);
    assert_int_equal(config_int("FORAGE_WORKERS"), 128);
    assert_int_equal(config_int("FORAGE_REACTORS"), 0);
    assert_int_equal(config_int("FORAGE_CALLS_PER_MINUTE"), 0);
    assert_int_equal(config_duration_ms("FORAGE_CALL_TIMEOUT"), TIME_CALL_DEADLINE_MS);
    assert_string_equal(config_list("FORAGE_LIMITS", NULL)[0], DEFAULT_LIMITS);
    assert_int_equal(config_duration_ms("FORAGE_RESEARCH_TIMEOUT"), 300000);
    assert_int_equal(config_duration_ms("FORAGE_RESEARCH_LOG_INTERVAL"), 30000);
    assert_string_equal(config_text("FORAGE_LOG_LEVEL"), "info");
    assert_string_equal(config_text("FORAGE_TOOLS"), "all");
    assert_false(config_bool("FORAGE_HISTORY"));
    assert_false(config_bool("FORAGE_DEBUG"));
    assert_null(config_text("FORAGE_TOKENS_FILE"));
    assert_null(config_text("FORAGE_CONTEXT"));
    assert_null(config_list("FORAGE_TOKENS", &count)[0]);
    assert_int_equal(count, 0);
    assert_string_equal(config_origin("FORAGE_WORKERS"), "default");
    assert_false(config_is_set("FORAGE_WORKERS"));
    assert_null(config_file());
    assert_int_equal(config_warning_count(), 0);
}

static void picks_the_budget_of_the_client(void **state)
{
    static const struct {
        const char *context;
        const char *set;
        size_t chars;
        const char *reason;
    } CASES[] = {
        {"", NULL, 60000, "the default"},
        {"codex", NULL, 32000, "it suits the client"},
        {"Claude-Code", NULL, 45000, "it suits the client"},
        {"gemini", NULL, 36000, "it suits the client"},
        {"zed", NULL, 60000, "it suits the client"},
        {"code", NULL, 60000, "the default: the context names no client that is known"},
        {"codex", "FORAGE_MAX_RESULT_CHARS=60000", 60000, "FORAGE_MAX_RESULT_CHARS says so"},
        {"nobody", "FORAGE_MAX_RESULT_CHARS=5000", 5000, "FORAGE_MAX_RESULT_CHARS says so"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char *environment[] = {
            arena_printf(*state, "FORAGE_CONTEXT=%s", CASES[i].context),
            CASES[i].set ? arena_printf(*state, "%s", CASES[i].set) : NULL,
            NULL,
        };
        struct buf problem;
        assert_int_equal(load(*state, environment, &problem), OK);
        buf_done(&problem);
        struct budget budget = budget_find();
        assert_int_equal(budget.chars, CASES[i].chars);
        assert_int_equal(budget_chars(), CASES[i].chars);
        assert_memory_equal(budget.reason, CASES[i].reason, strlen(CASES[i].reason));
    }
}

static void lets_the_strongest_source_win(void **state)
{
    struct arena *arena = *state;
    char *config = arena_printf(arena, "FORAGE_CONFIG=%s", file_path);
    char workers[] = "FORAGE_WORKERS=2";
    char second[] = "FORAGE_WORKERS=3";
    char port[] = "FORAGE_PORT=";
    char *environment[] = {config, workers, second, port, NULL};
    char host[] = "FORAGE_HOST=::1";
    char *overrides[] = {host, NULL};
    struct buf problem;
    buf_init(&problem, MIB(1));
    write_file("# here\nFORAGE_WORKERS=9\nFORAGE_PORT=8080\nFORAGE_HOST=0.0.0.0\n"
               "FORAGE_REACTORS=\n");
    assert_int_equal(config_load(environment, overrides, &problem), OK);
    assert_int_equal(config_int("FORAGE_WORKERS"), 2);
    assert_string_equal(config_origin("FORAGE_WORKERS"), "environment");
    assert_int_equal(config_int("FORAGE_PORT"), 8080);
    assert_string_equal(config_origin("FORAGE_PORT"), arena_printf(arena, "%s:3", file_path));
    assert_string_equal(config_text("FORAGE_HOST"), "::1");
    assert_string_equal(config_origin("FORAGE_HOST"), "command line");
    assert_true(config_is_set("FORAGE_HOST"));
    assert_string_equal(config_origin("FORAGE_REACTORS"), "default");
    assert_string_equal(config_file(), file_path);
    assert_int_equal(config_warning_count(), 0);
    buf_done(&problem);
}

static void finds_the_usual_file(void **state)
{
    struct arena *arena = *state;
    char *inner = arena_printf(arena, "%s/.config", folder);
    char *last = arena_printf(arena, "%s/.config/forage", folder);
    char *usual = arena_printf(arena, "%s/.config/forage/forage.env", folder);
    assert_int_equal(mkdir(inner, 0700), 0);
    assert_int_equal(mkdir(last, 0700), 0);
    write_file("FORAGE_WORKERS=7\n");
    assert_int_equal(rename(file_path, usual), 0);

    load_one(arena, arena_printf(arena, "XDG_CONFIG_HOME=%s", inner));
    assert_int_equal(config_int("FORAGE_WORKERS"), 7);
    load_one(arena, arena_printf(arena, "HOME=%s", folder));
    assert_int_equal(config_int("FORAGE_WORKERS"), 7);
    assert_string_equal(config_file(), usual);
    load_one(arena, "HOME=/proc/nonexistent");
    assert_int_equal(config_int("FORAGE_WORKERS"), 128);
    int here = open(".", O_RDONLY | O_CLOEXEC);
    assert_int_equal(chdir(folder), 0);
    load_one(arena, "XDG_CONFIG_HOME=.config");
    assert_int_equal(config_int("FORAGE_WORKERS"), 128);
    assert_int_equal(fchdir(here), 0);
    close(here);

    char *home = arena_printf(arena, "HOME=%s", folder);
    char named[] = "FORAGE_CONFIG=~/.config/forage/forage.env";
    char *entries[] = {home, named, NULL};
    struct buf problem;
    assert_int_equal(load(arena, entries, &problem), OK);
    assert_string_equal(config_file(), usual);
    buf_done(&problem);
    unlink(usual);
    rmdir(last);
    rmdir(inner);
}

static void insists_on_a_named_file(void **state)
{
    char missing[] = "FORAGE_CONFIG=/proc/nonexistent/forage.env";
    char *entries[] = {missing, NULL};
    struct buf problem;
    assert_int_equal(load(*state, entries, &problem), ERR_IO);
    assert_string_equal(problem.data, "the configuration file /proc/nonexistent/forage.env "
                                      "(FORAGE_CONFIG): No such file or directory\n");
    buf_done(&problem);

    write_file("A=1\nno setting\n");
    char *none[] = {NULL};
    assert_int_equal(load(*state, none, &problem), ERR_INVALID);
    assert_string_equal(problem.data,
                        arena_printf(*state,
                                     "the configuration file %s (FORAGE_CONFIG): line 2: expected "
                                     "KEY=value, or a comment that begins with #\n",
                                     file_path));
    buf_done(&problem);
}

/* ---- values ---- */

static void understands_values(void **state)
{
    static const struct {
        const char *entry;
        int64_t expected;
    } CASES[] = {
        {"FORAGE_PORT=0", 0},
        {"FORAGE_PORT=65535", 65535},
        {"FORAGE_PORT= 80 ", 80},
        {"FORAGE_PORT=0080", 80},
        {"FORAGE_HISTORY=1", 1},
        {"FORAGE_HISTORY=true", 1},
        {"FORAGE_HISTORY=Yes", 1},
        {"FORAGE_HISTORY=ON", 1},
        {"FORAGE_HISTORY=0", 0},
        {"FORAGE_HISTORY=FALSE", 0},
        {"FORAGE_HISTORY=no", 0},
        {"FORAGE_HISTORY= off ", 0},
        {"FORAGE_CALL_TIMEOUT=1", 1000},
        {"FORAGE_CALL_TIMEOUT=600", 600000},
        {"FORAGE_CALL_TIMEOUT=2.5", 2500},
        {"FORAGE_CALL_TIMEOUT=1500ms", 1500},
        {"FORAGE_CALL_TIMEOUT=30s", 30000},
        {"FORAGE_CALL_TIMEOUT=1.25S", 1250},
        {"FORAGE_CALL_TIMEOUT=10m", 600000},
        {"FORAGE_CALL_TIMEOUT=0.05h", 180000},
        {"FORAGE_MEMORY_INDEXES=1000000", 1000000},
        {"FORAGE_MEMORY_INDEXES=1.5gb", 1500000000},
        {"FORAGE_MEMORY_INDEXES=2MiB", 2097152},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        load_one(*state, CASES[i].entry);
        char *name = arena_strndup(*state, CASES[i].entry, strcspn(CASES[i].entry, "="));
        int64_t got = strcmp(name, "FORAGE_PORT") == 0             ? config_int(name)
                      : strcmp(name, "FORAGE_HISTORY") == 0        ? config_bool(name)
                      : strcmp(name, "FORAGE_MEMORY_INDEXES") == 0 ? config_bytes(name)
                                                                   : config_duration_ms(name);
        if (got != CASES[i].expected) {
            fail_msg("%s: %lld", CASES[i].entry, (long long)got);
        }
        assert_string_equal(config_origin(name), "environment");
    }
}

static void understands_words(void **state)
{
    static const struct {
        const char *entry;
        const char *expected;
    } CASES[] = {
        {"FORAGE_LOG_LEVEL=debug", "debug"},
        {"FORAGE_LOG_LEVEL=WARN", "warn"},
        {"FORAGE_TOOLS=web,-memory_delete", "web,-memory_delete"},
        {"FORAGE_CONTEXT= spaced out ", "spaced out"},
        {"FORAGE_CONTEXT=\u4e2d\u6587", "\u4e2d\u6587"},
        {"FORAGE_TOKENS_FILE=/etc/tokens", "/etc/tokens"},
        {"FORAGE_TOKENS_FILE=~/tokens", "~/tokens"}, /* no HOME, no meaning */
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        load_one(*state, CASES[i].entry);
        char *name = arena_strndup(*state, CASES[i].entry, strcspn(CASES[i].entry, "="));
        assert_string_equal(config_text(name), CASES[i].expected);
    }
    char home[] = "HOME=/srv/somebody";
    char tokens[] = "FORAGE_TOKENS_FILE=~/tokens";
    char *entries[] = {home, tokens, NULL};
    struct buf problem;
    assert_int_equal(load(*state, entries, &problem), OK);
    assert_string_equal(config_text("FORAGE_TOKENS_FILE"), "/srv/somebody/tokens");
    buf_done(&problem);
}

static void understands_lists(void **state)
{
    static const struct {
        const char *entry;
        const char *items[4];
    } CASES[] = {
        {"FORAGE_ALLOWED_HOSTS=a", {"a"}},
        {"FORAGE_ALLOWED_HOSTS=a,b,c", {"a", "b", "c"}},
        {"FORAGE_ALLOWED_HOSTS= a ,\tb c , ", {"a", "b c"}},
        {"FORAGE_ALLOWED_HOSTS=,,a,,b,", {"a", "b"}},
        {"FORAGE_ALLOWED_HOSTS=,", {NULL}},
        {"FORAGE_ALLOWED_HOSTS=", {NULL}},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        load_one(*state, CASES[i].entry);
        size_t count, expected = 0;
        const char *const *items = config_list("FORAGE_ALLOWED_HOSTS", &count);
        for (; CASES[i].items[expected]; expected++) {
            assert_true(expected < count);
            assert_string_equal(items[expected], CASES[i].items[expected]);
        }
        assert_int_equal(count, expected);
        assert_null(items[count]);
        assert_ptr_equal(config_list("FORAGE_ALLOWED_HOSTS", NULL), items);
    }
}

#define DURATION                                                                                   \
    "FORAGE_CALL_TIMEOUT must be a duration from 1s to 10m, such as 30s or 2m "                    \
    "(a plain number counts seconds), but "
#define PORT      "FORAGE_PORT must be an integer from 0 to 65535, but "
#define UPSTREAMS "FORAGE_UPSTREAMS must hold NAME=URL for each service, but "

static void refuses_values(void **state)
{
    static const struct {
        const char *entry;
        const char *problem;
    } CASES[] = {
        {"FORAGE_PORT=65536", PORT "\"65536\" came (environment)\n"},
        {"FORAGE_PORT=-1", PORT "\"-1\" came (environment)\n"},
        {"FORAGE_PORT=+1", PORT "\"+1\" came (environment)\n"},
        {"FORAGE_PORT=80x", PORT "\"80x\" came (environment)\n"},
        {"FORAGE_PORT=8 0", PORT "\"8 0\" came (environment)\n"},
        {"FORAGE_PORT=0x50", PORT "\"0x50\" came (environment)\n"},
        {"FORAGE_PORT=80.0", PORT "\"80.0\" came (environment)\n"},
        {"FORAGE_PORT=-", PORT "\"-\" came (environment)\n"},
        {"FORAGE_PORT=99999999999999999999999",
         PORT "\"99999999999999999999999\" came (environment)\n"},
        {"FORAGE_WORKERS=0", "FORAGE_WORKERS must be an integer from 1 to 1024, but \"0\" came "
                             "(environment)\n"},
        {"FORAGE_HISTORY=maybe", "FORAGE_HISTORY must be true or false (also 1/0, yes/no, "
                                 "on/off), but \"maybe\" came (environment)\n"},
        {"FORAGE_HISTORY=2", "FORAGE_HISTORY must be true or false (also 1/0, yes/no, "
                             "on/off), but \"2\" came (environment)\n"},
        {"FORAGE_LOG_LEVEL=loud", "FORAGE_LOG_LEVEL must be one of error, warn, info, debug, but "
                                  "\"loud\" came (environment)\n"},
        {"FORAGE_MEMORY_INDEXES=1KB",
         "FORAGE_MEMORY_INDEXES must be a size from 1MB to 1TB, such as 100MB or 2GiB (a plain "
         "number counts bytes), but \"1KB\" came (environment)\n"},
        {"FORAGE_CALL_TIMEOUT=0", DURATION "\"0\" came (environment)\n"},
        {"FORAGE_CALL_TIMEOUT=601", DURATION "\"601\" came (environment)\n"},
        {"FORAGE_CALL_TIMEOUT=600.5", DURATION "\"600.5\" came (environment)\n"},
        {"FORAGE_CALL_TIMEOUT=999ms", DURATION "\"999ms\" came (environment)\n"},
        {"FORAGE_CALL_TIMEOUT=1h", DURATION "\"1h\" came (environment)\n"},
        {"FORAGE_CALL_TIMEOUT=5 m", DURATION "\"5 m\" came (environment)\n"},
        {"FORAGE_CALL_TIMEOUT=5d", DURATION "\"5d\" came (environment)\n"},
        {"FORAGE_CALL_TIMEOUT=.5m", DURATION "\".5m\" came (environment)\n"},
        {"FORAGE_CALL_TIMEOUT=5.", DURATION "\"5.\" came (environment)\n"},
        {"FORAGE_CALL_TIMEOUT=1.0001", DURATION "\"1.0001\" came (environment)\n"},
        {"FORAGE_CALL_TIMEOUT=999999999999999h",
         DURATION "\"999999999999999h\" came (environment)\n"},
        {"FORAGE_CONTEXT=\xff", "FORAGE_CONTEXT must be valid UTF-8, but \"\ufffd\" came "
                                "(environment)\n"},
        {"FORAGE_TOKENS=alice:\xff"
         "0123456789",
         "FORAGE_TOKENS must be valid UTF-8, but a value of 17 characters came (environment)\n"},
        {"FORAGE_PORT=\x1b[31m", PORT "\"\\u001b[31m\" came (environment)\n"},
        {"FORAGE_UPSTREAMS=wikipedia=https://w.example,serpper=https://s.example",
         UPSTREAMS "\"serpper=https://s.example\" came (environment); did you mean serper?\n"},
        {"FORAGE_UPSTREAMS=nobody-knows-this=https://s.example",
         UPSTREAMS "\"nobody-knows-this=https://s.example\" came (environment); there is no such "
                   "service\n"},
        {"FORAGE_UPSTREAMS=https://s.example",
         UPSTREAMS "\"https://s.example\" came (environment); there is no such service\n"},
        {"FORAGE_UPSTREAMS=serper=", UPSTREAMS "\"serper=\" came (environment)\n"},
        {"FORAGE_UPSTREAMS=serper", UPSTREAMS "\"serper\" came (environment)\n"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char *entries[] = {arena_strdup(*state, CASES[i].entry), NULL};
        struct buf problem;
        int status = load(*state, entries, &problem);
        if (status != ERR_INVALID || strcmp(problem.data, CASES[i].problem) != 0) {
            fail_msg("%s: %d %s", CASES[i].entry, status, problem.data);
        }
        buf_done(&problem);
    }
    char *text = arena_alloc(*state, LIMIT_CONFIG_VALUE_BYTES + 64);
    assert_non_null(text);
    memset(text, 'x', LIMIT_CONFIG_VALUE_BYTES + 63);
    text[LIMIT_CONFIG_VALUE_BYTES + 63] = '\0';
    memcpy(text, "FORAGE_HOST=", 12);
    char *entries[] = {text, NULL};
    struct buf problem;
    assert_int_equal(load(*state, entries, &problem), ERR_INVALID);
    assert_memory_equal(problem.data, "FORAGE_HOST must be at most 32 KiB long, but \"x", 46);
    buf_done(&problem);
}

/* One variable for the addresses of all services, and one by a rule for each; that wins. */
static void finds_upstreams(void **state)
{
    char all[] = "FORAGE_UPSTREAMS=serper=https://s.example/v1, npm=https://n.example";
    char one[] = "SERPER_BASE_URL=https://own.example";
    char *environment[] = {all, one, NULL};
    struct buf problem;
    load_one(*state, NULL);
    assert_string_equal(config_text("SERPER_BASE_URL"), "https://google.serper.dev");
    assert_string_equal(config_origin("SERPER_BASE_URL"), "default");
    assert_null(config_text("NPM_BASE_URL"));
    assert_false(config_is_set("NPM_BASE_URL"));
    load_one(*state, all);
    assert_string_equal(config_text("SERPER_BASE_URL"), "https://s.example/v1");
    assert_string_equal(config_text("NPM_BASE_URL"), "https://n.example");
    assert_string_equal(config_origin("NPM_BASE_URL"), "environment");
    assert_string_equal(config_name_used("NPM_BASE_URL"), "FORAGE_UPSTREAMS");
    assert_true(config_is_set("NPM_BASE_URL"));
    assert_int_equal(load(*state, environment, &problem), OK);
    assert_string_equal(config_text("SERPER_BASE_URL"), "https://own.example");
    assert_string_equal(config_name_used("SERPER_BASE_URL"), "SERPER_BASE_URL");
    assert_string_equal(config_text("NPM_BASE_URL"), "https://n.example");
    buf_done(&problem);
}

static void tells_every_wrong_value(void **state)
{
    char level[] = "FORAGE_LOG_LEVEL=loud";
    char *entries[] = {level, NULL};
    struct buf problem;
    load_one(*state, NULL);
    write_file("\nFORAGE_WORKERS=many\nFORAGE_REACTORS=99\n");
    assert_int_equal(load(*state, entries, &problem), ERR_INVALID);
    assert_string_equal(
        problem.data,
        arena_printf(*state,
                     "FORAGE_LOG_LEVEL must be one of error, warn, info, debug, but \"loud\" came "
                     "(environment)\n"
                     "FORAGE_REACTORS must be an integer from 0 to 16, but \"99\" came (%s:3)\n"
                     "FORAGE_WORKERS must be an integer from 1 to 1024, but \"many\" came (%s:2)\n",
                     file_path, file_path));
    buf_done(&problem);
    /* What was loaded before is still in force. */
    assert_int_equal(config_int("FORAGE_WORKERS"), 128);
}

/* ---- two names ---- */

/* A variable's first name wins over its second within one source, whichever comes first. */
static void takes_both_names(void **state)
{
    static const struct {
        const char *environment[3], *file;
        int64_t port;
        const char *used, *origin;
        bool passed_over;
        const char *warning;
    } CASES[] = {
        {{"FORAGE_PORT=1"}, NULL, 1, "FORAGE_PORT", "environment", false, NULL},
        {{"MCP_SERVER_PORT=2"}, NULL, 2, "MCP_SERVER_PORT", "environment", false, NULL},
        {{"MCP_SERVER_PORT=2", "FORAGE_PORT=1"},
         NULL,
         1,
         "FORAGE_PORT",
         "environment",
         true,
         "MCP_SERVER_PORT is ignored, since FORAGE_PORT is set too (environment)"},
        {{"FORAGE_PORT=1", "MCP_SERVER_PORT=http"},
         NULL,
         1,
         "FORAGE_PORT",
         "environment",
         true,
         "MCP_SERVER_PORT is ignored, since FORAGE_PORT is set too (environment)"},
        {{"FORAGE_PORT=1", "MCP_SERVER_PORT=1"}, NULL, 1, "FORAGE_PORT", "environment", true, NULL},
        {{"FORAGE_PORT=", "MCP_SERVER_PORT=2"},
         NULL,
         2,
         "MCP_SERVER_PORT",
         "environment",
         false,
         NULL},
        {{"MCP_SERVER_PORT=2"},
         "FORAGE_PORT=1\n",
         2,
         "MCP_SERVER_PORT",
         "environment",
         false,
         NULL},
        {{NULL}, "MCP_SERVER_PORT=2\n", 2, "MCP_SERVER_PORT", "%s:1", false, NULL},
        {{NULL},
         "FORAGE_PORT=1\nMCP_SERVER_PORT=2\n",
         1,
         "FORAGE_PORT",
         "%s:1",
         true,
         "MCP_SERVER_PORT is ignored, since FORAGE_PORT is set too (%s:1)"},
        {{NULL}, "MCP_SERVER_PORT=1\nFORAGE_PORT=1\n", 1, "FORAGE_PORT", "%s:2", true, NULL},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char *entries[] = {
            CASES[i].environment[0] ? arena_strdup(*state, CASES[i].environment[0]) : NULL,
            CASES[i].environment[1] ? arena_strdup(*state, CASES[i].environment[1]) : NULL, NULL};
        struct buf problem;
        begin(state);
        if (CASES[i].file) {
            write_file(CASES[i].file);
        }
        assert_int_equal(load(*state, entries, &problem), OK);
        buf_done(&problem);
        assert_int_equal(config_int("FORAGE_PORT"), CASES[i].port);
        assert_string_equal(config_name_used("FORAGE_PORT"), CASES[i].used);
        assert_int_equal(config_passed_over("FORAGE_PORT"), CASES[i].passed_over);
        bool in_file = strncmp(CASES[i].origin, "%s", 2) == 0;
        const char *origin = in_file ? arena_printf(*state, "%s%s", file_path, CASES[i].origin + 2)
                                     : CASES[i].origin;
        assert_string_equal(config_origin("FORAGE_PORT"), origin);
        assert_int_equal(config_warning_count(), CASES[i].warning != NULL);
        if (CASES[i].warning) {
            size_t length = strcspn(CASES[i].warning, "%");
            assert_memory_equal(config_warning(0), CASES[i].warning, length);
            assert_non_null(strstr(config_warning(0), origin));
        }
    }
    begin(state);
    load_one(*state, NULL);
    assert_null(config_name_used("FORAGE_PORT"));
    assert_false(config_passed_over("FORAGE_PORT"));
}

/* Every second name sets its variable, is suggested for a mistyped one, and stands in the pages. */
static void knows_every_second_name(void **state)
{
    struct buf pages;
    buf_init(&pages, MIB(1));
    config_write_markdown(&pages);
    config_write_env_example(&pages);
    config_write_manual(&pages);
    for (size_t i = 0; i < VARIABLE_COUNT; i++) {
        const struct variable *variable = &VARIABLES[i];
        const char *value = variable->example ? variable->example : variable->preset;
        if (!variable->also) {
            continue;
        }
        begin(state);
        load_one(*state, arena_printf(*state, "%s=%s", variable->also, value));
        assert_string_equal(config_name_used(variable->name), variable->also);
        assert_non_null(strstr(pages.data, arena_printf(*state, "Also `%s`.", variable->also)));
        assert_non_null(strstr(pages.data, arena_printf(*state, "\n# Also %s.\n", variable->also)));
        assert_non_null(
            strstr(pages.data, arena_printf(*state, "Also\n.Ev %s .\n", variable->also)));
        write_file(arena_printf(*state, "%sX=1\n", variable->also));
        load_one(*state, NULL);
        assert_non_null(
            strstr(config_warning(0), arena_printf(*state, "did you mean %s?", variable->also)));
    }
    buf_done(&pages);
}

/* A value that does not fit is refused by the name that was written. A program that shares the
 * second name is forgiven; our own name is not. */
static void refuses_by_the_name_written(void **state)
{
    static const char *const WRITTEN[] = {"FORAGE_PORT", "MCP_SERVER_PORT"};
    struct buf problem;
    for (size_t i = 0; i < COUNT(WRITTEN); i++) {
        char *entries[] = {arena_printf(*state, "%s=http", WRITTEN[i]), NULL};
        assert_int_equal(load(*state, entries, &problem), ERR_INVALID);
        assert_memory_equal(problem.data, WRITTEN[i], strlen(WRITTEN[i]));
        buf_done(&problem);
    }
    char wrong[] = "FORAGE_DEBUG=mcp:*";
    char *entries[] = {wrong, NULL};
    assert_int_equal(load(*state, entries, &problem), ERR_INVALID);
    buf_done(&problem);
    char foreign[] = "DEBUG=mcp:*";
    char ours[] = "FORAGE_DEBUG=1";
    char *both[] = {foreign, ours, NULL};
    assert_int_equal(load(*state, both, &problem), OK);
    buf_done(&problem);
    assert_true(config_bool("FORAGE_DEBUG"));
    assert_int_equal(config_warning_count(), 0);
}

/* ---- warnings ---- */

static void warns_of_unknown_names(void **state)
{
    struct arena *arena = *state;
    char mistyped[] = "FORAGE_WORKRES=5";
    char unknown[] = "FORAGE_ENTIRELY_ELSE=5";
    char foreign[] = "PATH=/bin";
    char no_equals[] = "FORAGE_NOTHING";
    char *entries[] = {mistyped, unknown, foreign, no_equals, NULL};
    struct buf problem;
    write_file("MCP_SERVER_PROT=1\nSOMETHING=2\nFORAGE_CONFIG=/x\nFORAGE_WORKERS=1\n"
               "FORAGE_WORKERS=2\n");
    assert_int_equal(load(arena, entries, &problem), OK);
    const char *expected[] = {
        "unknown variable FORAGE_WORKRES (environment); did you mean FORAGE_WORKERS?",
        "unknown variable FORAGE_ENTIRELY_ELSE (environment)",
        arena_printf(arena,
                     "unknown variable MCP_SERVER_PROT (%s:1); did you mean MCP_SERVER_PORT?",
                     file_path),
        arena_printf(arena, "unknown variable SOMETHING (%s:2)", file_path),
        arena_printf(arena, "FORAGE_CONFIG has no effect inside the file (%s:3)", file_path),
        arena_printf(arena, "FORAGE_WORKERS is set a second time, which holds (%s:5)", file_path),
    };
    assert_int_equal(config_warning_count(), COUNT(expected));
    for (size_t i = 0; i < COUNT(expected); i++) {
        assert_string_equal(config_warning(i), expected[i]);
    }
    assert_null(config_warning(COUNT(expected)));
    assert_int_equal(config_int("FORAGE_WORKERS"), 2);
    buf_done(&problem);
}

static void forgives_a_name_that_others_use(void **state)
{
    load_one(*state, "DEBUG=mcp:*");
    assert_false(config_bool("FORAGE_DEBUG"));
    assert_string_equal(config_origin("FORAGE_DEBUG"), "default");
    assert_int_equal(config_warning_count(), 1);
    assert_string_equal(
        config_warning(0),
        "DEBUG must be true or false (also 1/0, yes/no, on/off), but \"mcp:*\" came "
        "(environment); it is ignored");
    load_one(*state, "DEBUG=1");
    assert_true(config_bool("FORAGE_DEBUG"));
}

static void bounds_its_warnings(void **state)
{
    struct buf text, problem;
    buf_init(&text, MIB(1));
    for (int i = 0; i < 1000; i++) {
        buf_printf(&text, "UNKNOWN_%d=1\n", i);
    }
    write_file(text.data);
    char *none[] = {NULL};
    assert_int_equal(load(*state, none, &problem), OK);
    assert_int_equal(config_warning_count(), 64);
    buf_done(&problem);
    buf_done(&text);
}

/* ---- secrets ---- */

static void keeps_secrets(void **state)
{
    static const char TOKENS[] = "FORAGE_TOKENS=alice:0123456789abcdef, bare-secret-token";
    load_one(*state, TOKENS);
    size_t count;
    const char *const *items = config_list("FORAGE_TOKENS", &count);
    assert_int_equal(count, 2);
    assert_string_equal(items[0], "alice:0123456789abcdef");
    assert_true(redact_needed("x 0123456789abcdef y", 20, WORDS_OURS));
    assert_true(redact_needed("bare-secret-token", 17, WORDS_OURS));
    assert_false(redact_needed("alice", 5, WORDS_OURS));
    assert_false(redact_needed("bare-secret-token", 17, WORDS_FROM_OUTSIDE));
    for (int json = 0; json < 2; json++) {
        struct buf shown;
        buf_init(&shown, MIB(1));
        config_write_effective(&shown, json);
        assert_int_equal(buf_error(&shown), OK);
        assert_non_null(strstr(shown.data, "set (2 items)"));
        assert_false(redact_needed(shown.data, shown.length, WORDS_OURS));
        assert_null(strstr(shown.data, "alice"));
        buf_done(&shown);
    }
}

/* The password alone is a secret, too: a library may tell it without the rest. */
static void keeps_the_password_of_a_url(void **state)
{
    load_one(*state,
             "FORAGE_DATABASE_URL=postgresql://forage:hunter2%2Fhunter2@db.example.org/forage");
    assert_true(redact_needed("password hunter2%2Fhunter2 is wrong", 35, WORDS_OURS));
    assert_false(redact_needed("hunter2%2Fhunter2", 17, WORDS_FROM_OUTSIDE));
    assert_false(redact_needed("user forage at db.example.org", 29, WORDS_OURS));
}

/* What a client did not resolve is no value: the file's counts. */
static void passes_over_references(void **state)
{
    static char *REFERENCES[] = {"${SERPER_API_KEY}", "${env:SERPER_API_KEY}",
                                 "${SERPER_API_KEY:-}", "${user_config.SERPER_API_KEY}"};
    static char *VALUES[] = {"${", "${}", "x${SERPER_API_KEY}", "${A}${B}", "$SERPER_API_KEY"};
    struct buf problem;
    write_file("SERPER_API_KEY=of-the-file\n");
    for (size_t i = 0; i < COUNT(REFERENCES); i++) {
        char *entries[] = {arena_printf(*state, "SERPER_API_KEY=%s", REFERENCES[i]), NULL};
        assert_int_equal(load(*state, entries, &problem), OK);
        assert_string_equal(config_text("SERPER_API_KEY"), "of-the-file");
        assert_int_equal(config_warning_count(), 1);
        assert_non_null(strstr(config_warning(0), "SERPER_API_KEY counts as not set"));
        buf_done(&problem);
    }
    for (size_t i = 0; i < COUNT(VALUES); i++) {
        char *entries[] = {arena_printf(*state, "SERPER_API_KEY=%s", VALUES[i]), NULL};
        assert_int_equal(load(*state, entries, &problem), OK);
        assert_string_equal(config_text("SERPER_API_KEY"), VALUES[i]);
        assert_int_equal(config_warning_count(), 0);
        buf_done(&problem);
    }
}

/* Neither is what the documentation has in a key's place, wherever it was pasted. */
static void passes_over_placeholders(void **state)
{
    static char *PLACEHOLDERS[] = {"YOUR-KEY", "REPLACE-WITH-YOUR-KEY", "fc-REPLACE-WITH-YOUR-KEY"};
    char *none[] = {NULL};
    char *agent[] = {"FORAGE_USER_AGENT=YOUR-KEY", NULL};
    struct buf problem;
    for (size_t i = 0; i < COUNT(PLACEHOLDERS); i++) {
        char *entries[] = {arena_printf(*state, "SERPER_API_KEY=%s", PLACEHOLDERS[i]), NULL};
        write_file("SERPER_API_KEY=of-the-file\n");
        assert_int_equal(load(*state, entries, &problem), OK);
        assert_string_equal(config_text("SERPER_API_KEY"), "of-the-file");
        assert_int_equal(config_warning_count(), 1);
        assert_non_null(strstr(config_warning(0), "SERPER_API_KEY counts as not set"));
        buf_done(&problem);

        write_file(arena_printf(*state, "SERPER_API_KEY=%s\n", PLACEHOLDERS[i]));
        assert_int_equal(load(*state, none, &problem), OK);
        assert_null(config_text("SERPER_API_KEY"));
        assert_int_equal(config_warning_count(), 1);
        assert_non_null(strstr(config_warning(0), arena_printf(*state, "(%s:1)", file_path)));
        buf_done(&problem);
    }
    assert_int_equal(load(*state, agent, &problem), OK);
    assert_string_equal(config_text("FORAGE_USER_AGENT"), "YOUR-KEY");
    buf_done(&problem);
}

static void warns_of_readable_secrets(void **state)
{
    char *none[] = {NULL};
    struct buf problem;
    write_file("FORAGE_TOKENS=alice:0123456789abcdef\n");
    assert_int_equal(load(*state, none, &problem), OK);
    assert_int_equal(config_warning_count(), 0);
    buf_done(&problem);

    assert_int_equal(chmod(file_path, 0640), 0);
    assert_int_equal(load(*state, none, &problem), OK);
    assert_int_equal(config_warning_count(), 1);
    assert_string_equal(config_warning(0),
                        arena_printf(*state,
                                     "%s holds FORAGE_TOKENS and others can read it (mode 0640); "
                                     "run: chmod 600 %s",
                                     file_path, file_path));
    buf_done(&problem);

    write_file("FORAGE_WORKERS=4\n");
    assert_int_equal(chmod(file_path, 0644), 0);
    assert_int_equal(load(*state, none, &problem), OK);
    assert_int_equal(config_warning_count(), 0);
    buf_done(&problem);
}

/* ---- mistakes of the program ---- */

static void ask_undeclared(void)
{
    config_text("FORAGE_UNDECLARED");
}

static void ask_prefix(void)
{
    config_int("FORAGE_WORKER");
}

static void ask_second_name(void)
{
    config_int("MCP_SERVER_PORT");
}

static void ask_wrong_kind(void)
{
    config_int("FORAGE_LOG_LEVEL");
}

static void ask_unloaded(void)
{
    config_unload();
    config_int("FORAGE_WORKERS");
}

static sigjmp_buf mistake;

static void leave_mistake(int signal_number)
{
    siglongjmp(mistake, signal_number);
}

static void ends_on_mistakes(void **state)
{
    static void (*const MISTAKES[])(void) = {ask_undeclared, ask_prefix, ask_second_name,
                                             ask_wrong_kind, ask_unloaded};
    struct sigaction leave = {.sa_handler = leave_mistake};
    struct sigaction before;
    load_one(*state, NULL);
    assert_int_equal(sigaction(SIGABRT, &leave, &before), 0);
    volatile size_t aborted = 0;
    for (volatile size_t i = 0; i < COUNT(MISTAKES); i++) {
        if (sigsetjmp(mistake, 1) == 0) {
            MISTAKES[i]();
        } else {
            aborted++;
        }
    }
    sigaction(SIGABRT, &before, NULL);
    assert_int_equal(aborted, COUNT(MISTAKES));
}

UNIT_TEST(config)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(knows_its_defaults, begin),
        cmocka_unit_test_setup(picks_the_budget_of_the_client, begin),
        cmocka_unit_test_setup(lets_the_strongest_source_win, begin),
        cmocka_unit_test_setup(finds_the_usual_file, begin),
        cmocka_unit_test_setup(insists_on_a_named_file, begin),
        cmocka_unit_test_setup(understands_values, begin),
        cmocka_unit_test_setup(understands_words, begin),
        cmocka_unit_test_setup(understands_lists, begin),
        cmocka_unit_test_setup(refuses_values, begin),
        cmocka_unit_test_setup(finds_upstreams, begin),
        cmocka_unit_test_setup(tells_every_wrong_value, begin),
        cmocka_unit_test_setup(warns_of_unknown_names, begin),
        cmocka_unit_test_setup(takes_both_names, begin),
        cmocka_unit_test_setup(knows_every_second_name, begin),
        cmocka_unit_test_setup(refuses_by_the_name_written, begin),
        cmocka_unit_test_setup(forgives_a_name_that_others_use, begin),
        cmocka_unit_test_setup(bounds_its_warnings, begin),
        cmocka_unit_test_setup(keeps_secrets, begin),
        cmocka_unit_test_setup(keeps_the_password_of_a_url, begin),
        cmocka_unit_test_setup(passes_over_references, begin),
        cmocka_unit_test_setup(passes_over_placeholders, begin),
        cmocka_unit_test_setup(warns_of_readable_secrets, begin),
        cmocka_unit_test_setup(ends_on_mistakes, begin),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
