/* The parts of research that need no worker: prompts, what events tell, why workers fail,
 * and the folder. */
#include "unit.h"

#include "call/errors.h"
#include "config/config.h"
#include "core/files.h"
#include "core/limits.h"
#include "core/status.h"
#include "embedded.h"
#include "research/steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TAG "0123456789abcdef"

/* ---- prompts ---- */

static void check_prompt(const char *template, const char *question, const char *expected)
{
    struct prompt_values values = {
        .question = question, .depth = "concise", .model = "m", .max_rounds = 7};
    struct buf out;
    buf_init(&out, MIB(1));
    assert_int_equal(prompt_fill(&out, template, &values, TAG), OK);
    assert_string_equal(out.data ? out.data : "", expected);
    buf_done(&out);
}

#define IN_TAGS(text) "<question-" TAG ">\n" text "\n</question-" TAG ">"

static void prompts_are_filled(void **state)
{
    (void)state;
    static const struct {
        const char *template;
        const char *question;
        const char *expected;
    } ROWS[] = {
        /* Without a place the question comes at the end. */
        {"", "q", "\n\n" IN_TAGS("q") "\n"},
        {"plain", "q", "plain\n\n" IN_TAGS("q") "\n"},
        {"{{query}}", "tea", IN_TAGS("tea")},
        {"{topic}", "tea", IN_TAGS("tea")},
        {"a {topic} b {topic} c", "t", "a " IN_TAGS("t") " b " IN_TAGS("t") " c"},
        {"{depth}/{model}/{max_iterations} {topic}", "q", "concise/m/7 " IN_TAGS("q")},
        {"{{depth}} {{model}} {topic}", "q", "concise m " IN_TAGS("q")},
        /* What is no place stays. */
        {"{\"success\": true} {other} { {{query}}", "q",
         "{\"success\": true} {other} { " IN_TAGS("q")},
        /* The question is not looked at again. */
        {"{topic}", "{topic} {{query}} {depth} {model}",
         IN_TAGS("{topic} {{query}} {depth} {model}")},
        /* It pulls in no files. */
        {"{topic}", "@a b@c \\@d @@", IN_TAGS("\\@a b\\@c \\\\@d \\@\\@")},
        /* It ends nothing. */
        {"{topic}", "</question> </question-1>", IN_TAGS("</question> </question-1>")},
    };
    for (size_t i = 0; i < COUNT(ROWS); i++) {
        check_prompt(ROWS[i].template, ROWS[i].question, ROWS[i].expected);
    }
}

/* An at sign in them would be taken for a file; and each must have a place for the question. */
static void our_own_prompts_are_sound(void **state)
{
    (void)state;
    static const char *const PROMPTS[] = {prompt_search, prompt_research};
    for (size_t i = 0; i < COUNT(PROMPTS); i++) {
        assert_null(strchr(PROMPTS[i], '@'));
        assert_true(PROMPTS[i][0] != '/');
        assert_non_null(strstr(PROMPTS[i], i == 0 ? "{{query}}" : "{topic}"));
        assert_non_null(strstr(PROMPTS[i], "google_web_search"));
        assert_non_null(strstr(PROMPTS[i], "```json"));
    }
}

static void templates_come_from_files(void **state)
{
    (void)state;
    char folder[] = "/tmp/forage-test-XXXXXX";
    char path[64];
    assert_non_null(mkdtemp(folder));
    struct arena *arena = arena_new(MIB(4));
    assert_string_equal(prompt_template(arena, folder, "p", "built in"), "built in");
    assert_string_equal(prompt_template(arena, NULL, "p", "built in"), "built in");
    snprintf(path, sizeof path, "%s/p.md", folder);
    static const struct {
        const char *content;
        size_t length;
        const char *expected;
    } ROWS[] = {{"mine {topic}", 12, "mine {topic}"},
                {"", 0, "built in"},
                {"\xFF", 1, "built in"},
                {"a\0b", 3, "built in"}};
    for (size_t i = 0; i < COUNT(ROWS); i++) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fwrite(ROWS[i].content, 1, ROWS[i].length, file);
        fclose(file);
        assert_string_equal(prompt_template(arena, folder, "p", "built in"), ROWS[i].expected);
    }
    arena_free(arena);
    assert_true(remove_folder(folder, 1));
}

/* ---- what events tell ---- */

struct scene {
    struct call *call;
    struct arena *scratch;
    struct sightings sightings;
    const struct worker *worker;
};

static void begin(struct scene *scene, const struct worker *worker, int max_rounds)
{
    scene->call = call_new(&(struct call_options){0});
    scene->scratch = arena_new(MIB(4));
    scene->worker = worker;
    assert_int_equal(sightings_init(&scene->sightings, scene->call, max_rounds), OK);
}

static void end(struct scene *scene)
{
    sightings_done(&scene->sightings);
    arena_free(scene->scratch);
    call_free(scene->call);
}

static int tell(struct scene *scene, const char *line)
{
    struct worker_sink sink = sightings_sink(&scene->sightings);
    arena_reset(scene->scratch);
    return worker_feed(scene->worker, scene->scratch, line, strlen(line), &sink);
}

#define USE(id, tool, parameters)                                                                  \
    "{\"type\":\"tool_use\",\"tool_name\":\"" tool "\",\"tool_id\":\"" id                          \
    "\",\"parameters\":" parameters "}"
#define GOT(id, status, output)                                                                    \
    "{\"type\":\"tool_result\",\"tool_id\":\"" id "\",\"status\":\"" status                        \
    "\",\"output\":\"" output "\"}"
#define SAY(text) "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"" text "\"}"

static void expect_list(const struct sightings_list *list, const char *const *expected,
                        size_t count)
{
    assert_int_equal(list->count, count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(list->items[i], expected[i]);
    }
}

static void gemini_is_seen(void **state)
{
    (void)state;
    static const char *const LINES[] = {
        "Loaded cached credentials.",
        "{\"type\":\"init\",\"model\":\"m\"}",
        "{\"type\":\"message\",\"role\":\"user\",\"content\":\"the prompt\"}",
        SAY("let me see"),
        USE("1", "google_web_search", "{\"query\":\"tea\"}"),
        USE("2", "google_web_search", "{\"query\":\"green tea\"}"),
        GOT("1", "success", ""),
        GOT("2", "success", ""),
        USE("3", "mcp_forage_get_content", "{\"url\":\"https://A.test/x\"}"),
        USE("4", "mcp_forage_get_content", "{\"url\":\"https://b.test/\"}"),
        USE("5", "mcp_firecrawl_firecrawl_scrape", "{\"url\":\"https://c.test/\"}"),
        USE("6", "web_fetch", "{\"prompt\":\"Sum up https://d.test/1, and (https://e.test/2).\"}"),
        USE("7", "web_fetch", "{\"prompt\":\"https://f.test/\"}"),
        USE("8", "get_internal_docs", "{\"url\":\"https://g.test/\"}"),
        GOT("3", "success", "_Cut: 5 of 9 characters"),
        GOT("4", "success", "{\\\"success\\\":true,\\\"failed\\\":true}"),
        GOT("5", "error", ""),
        GOT("6", "success", ""),
        GOT("7", "error", ""),
        GOT("8", "success", ""),
        USE("9", "google_web_search", "{\"query\":\"tea\"}"),
        GOT("9", "success", ""),
        USE("10", "mcp_forage_get_content",
            "{\"urls\":[\"https://h.test/\",\"https://i.test/\",\"https://j.test/\"]}"),
        GOT("10", "success",
            "{\\\"success\\\":true,\\\"results\\\":["
            "{\\\"url\\\":\\\"https://h.test/\\\",\\\"page_content\\\":\\\"H\\\"},"
            "{\\\"url\\\":\\\"https://i.test/"
            "\\\",\\\"failed\\\":true,\\\"page_content\\\":\\\"no\\\"},"
            "{\\\"url\\\":\\\"https://j.test/\\\",\\\"success\\\":false}]}"),
        GOT("nobody", "success", ""),
        SAY("the "),
        SAY("answer"),
        "{\"type\":\"error\",\"severity\":\"warning\",\"message\":\"careful\"}",
        "{\"type\":\"result\",\"status\":\"success\"}",
    };
    static const char *const QUERIES[] = {"tea", "green tea"};
    static const char *const SOURCES[] = {"https://A.test/x", "https://d.test/1",
                                          "https://e.test/2", "https://h.test/"};
    static const char *const HOSTS[] = {"a.test", "d.test", "e.test", "h.test"};
    struct scene scene;
    begin(&scene, &WORKER_GEMINI, 5);
    for (size_t i = 0; i < COUNT(LINES); i++) {
        assert_int_equal(tell(&scene, LINES[i]), OK);
    }
    const struct sightings *seen = &scene.sightings;
    expect_list(&seen->queries, QUERIES, COUNT(QUERIES));
    expect_list(&seen->sources, SOURCES, COUNT(SOURCES));
    assert_int_equal(evidence_page_count(seen->evidence), COUNT(HOSTS));
    for (size_t i = 0; i < COUNT(HOSTS); i++) {
        assert_string_equal(evidence_page(seen->evidence, i + 1)->host, HOSTS[i]);
    }
    assert_string_equal(evidence_page(seen->evidence, 4)->text, "H");
    assert_null(evidence_page(seen->evidence, 1)->text);
    assert_int_equal(seen->rounds, 2);
    assert_int_equal(seen->turns, 4);
    assert_string_equal(seen->said.data, "let me seethe answer");
    assert_string_equal(seen->said.data + seen->answer_start, "the answer");
    assert_true(seen->is_done);
    assert_string_equal(seen->complaint, "careful");
    assert_null(seen->failure);
    end(&scene);
}

/* A page is of the host that its words came from, whoever was asked; a failure is no page, and a
 * result that cannot be read is none that we have. */
static void pages_are_filed_where_they_are(void **state)
{
    (void)state;
    static const char *const LINES[] = {
        USE("1", "mcp_forage_get_content", "{\"url\":\"https://a.test/old\"}"),
        GOT("1", "success",
            "{\\\"url\\\":\\\"https://b.test/new\\\",\\\"page_content\\\":\\\"Text.\\\"}"),
        USE("2", "mcp_forage_get_content", "{\"url\":\"https://c.test/\"}"),
        GOT("2", "success", "{\\\"success\\\":false,\\\"error\\\":{\\\"code\\\":\\\"X\\\"}}"),
        USE("3", "mcp_forage_get_content", "{\"url\":\"https://d.test/\"}"),
        GOT("3", "success", "# A page\\n\\nthat was cut"),
        USE("4", "web_fetch", "{\"prompt\":\"https://e.test/\"}"),
        GOT("4", "success", "done"),
    };
    static const char *const SOURCES[] = {"https://b.test/new", "https://d.test/",
                                          "https://e.test/"};
    struct scene scene;
    struct evidence_counts counts;
    begin(&scene, &WORKER_GEMINI, 5);
    for (size_t i = 0; i < COUNT(LINES); i++) {
        assert_int_equal(tell(&scene, LINES[i]), OK);
    }
    struct evidence *evidence = scene.sightings.evidence;
    expect_list(&scene.sightings.sources, SOURCES, COUNT(SOURCES));
    assert_string_equal(evidence_page(evidence, 1)->host, "b.test");
    assert_int_equal(evidence_page_of(evidence, "https://a.test/old"), 1);
    assert_int_equal(evidence_page_of(evidence, "https://c.test/"), 0);
    assert_null(evidence_page(evidence, evidence_page_of(evidence, "https://d.test/"))->text);
    evidence_count(evidence, &counts);
    assert_int_equal(counts.hosts, 1);
    end(&scene);
}

/* Marks that we put into a page are not of it, and part what was not read together. */
static void our_marks_are_not_of_the_page(void **state)
{
    (void)state;
    static const char *const LINES[] = {
        USE("1", "mcp_forage_get_content", "{\"url\":\"https://a.test/\"}"),
        GOT("1", "success",
            "{\\\"url\\\":\\\"https://a.test/\\\",\\\"page_content\\\":\\\"[0 Town] The town is "
            "not\\\\n"
            "\\\\n[512 Town > Guilt] guilty of any crime.\\\\n\\\\n[900]\\\\n\\\\nA row.\\\\n\\\\n"
            "_[The table row is cut here and goes on at start=950.]_\\\"}"),
    };
    struct scene scene;
    begin(&scene, &WORKER_GEMINI, 5);
    for (size_t i = 0; i < COUNT(LINES); i++) {
        assert_int_equal(tell(&scene, LINES[i]), OK);
    }
    assert_string_equal(evidence_page(scene.sightings.evidence, 1)->text,
                        " The town is not\n\n" EVIDENCE_SEAM
                        " guilty of any crime.\n\n" EVIDENCE_SEAM "\n\nA row.\n\n" EVIDENCE_SEAM);
    end(&scene);
}

static void claude_is_seen(void **state)
{
    (void)state;
    static const char *const LINES[] = {
        "{\"type\":\"system\",\"subtype\":\"init\"}",
        "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"hm\"},"
        "{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"WebSearch\",\"input\":{\"query\":\"tea\"}}]"
        "}}",
        "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":"
        "\"1\","
        "\"content\":\"found\"}]}}",
        "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"tool_use\",\"id\":\"2\","
        "\"name\":\"mcp__forage__get_content\",\"input\":{\"url\":\"https://a.test/\"}}]}}",
        "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"tool_use\",\"id\":\"3\","
        "\"name\":\"WebFetch\",\"input\":{\"url\":\"https://b.test/\",\"prompt\":\"p\"}}]}}",
        "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":"
        "\"2\","
        "\"content\":[{\"type\":\"text\",\"text\":\"page\"}]},{\"type\":\"tool_result\","
        "\"tool_use_id\":\"3\",\"is_error\":true,\"content\":\"no\"}]}}",
        "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"answer\"}]"
        "}}",
        "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"answer\"}",
    };
    static const char *const QUERIES[] = {"tea"};
    static const char *const SOURCES[] = {"https://a.test/"};
    struct scene scene;
    begin(&scene, &WORKER_CLAUDE, 5);
    for (size_t i = 0; i < COUNT(LINES); i++) {
        assert_int_equal(tell(&scene, LINES[i]), OK);
    }
    expect_list(&scene.sightings.queries, QUERIES, COUNT(QUERIES));
    expect_list(&scene.sightings.sources, SOURCES, COUNT(SOURCES));
    assert_int_equal(scene.sightings.rounds, 1);
    assert_string_equal(scene.sightings.said.data + scene.sightings.answer_start, "answer");
    assert_true(scene.sightings.is_done);
    end(&scene);
}

static void failures_are_seen(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene, &WORKER_CLAUDE, 5);
    assert_int_equal(tell(&scene, "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,"
                                  "\"result\":\"API Error\",\"api_error_status\":429}"),
                     OK);
    assert_false(scene.sightings.is_done);
    assert_string_equal(scene.sightings.failure, "API Error");
    assert_int_equal(scene.sightings.http_status, 429);
    end(&scene);
    begin(&scene, &WORKER_GEMINI, 5);
    assert_int_equal(tell(&scene, "{\"type\":\"result\",\"status\":\"error\",\"error\":"
                                  "{\"type\":\"x\",\"message\":\"no\"}}"),
                     OK);
    assert_string_equal(scene.sightings.failure, "no");
    end(&scene);
}

/* One round too many, and one turn too many of any kind. */
static void rounds_and_turns_are_bounded(void **state)
{
    (void)state;
    static const char SEARCH[] = USE("1", "google_web_search", "{\"query\":\"q\"}");
    static const char READ[] = USE("2", "mcp_forage_get_content", "{\"url\":\"https://a.test/\"}");
    struct scene scene;
    begin(&scene, &WORKER_GEMINI, 1);
    assert_int_equal(tell(&scene, SEARCH), OK);
    assert_int_equal(tell(&scene, SEARCH), OK); /* beside the first, in one turn */
    assert_int_equal(tell(&scene, GOT("1", "success", "")), OK);
    assert_int_equal(tell(&scene, READ), OK);
    assert_int_equal(tell(&scene, GOT("2", "success", "")), OK);
    assert_int_equal(tell(&scene, SEARCH), ERR_LIMIT);
    end(&scene);
    begin(&scene, &WORKER_GEMINI, 1);
    for (int i = 0; i < LIMIT_RESEARCH_TURNS; i++) {
        assert_int_equal(tell(&scene, READ), OK);
        assert_int_equal(tell(&scene, GOT("2", "success", "")), OK);
    }
    assert_int_equal(tell(&scene, READ), ERR_LIMIT);
    end(&scene);
}

static void lists_are_bounded(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene, &WORKER_GEMINI, 1);
    for (int i = 0; i < LIMIT_RESEARCH_ITEMS + 50; i++) {
        char text[32];
        snprintf(text, sizeof text, "query %d", i);
        assert_true(sightings_add(&scene.sightings, &scene.sightings.queries, text));
    }
    assert_int_equal(scene.sightings.queries.count, LIMIT_RESEARCH_ITEMS);
    end(&scene);
}

static void trouble_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        enum worker_trouble trouble;
    } ROWS[] = {
        {"Ripgrep is not available. Falling back to GrepTool.", WORKER_NO_TROUBLE},
        {"MCP issues detected. Run /mcp list for status.", WORKER_LOST_SERVER},
        {"[USER] Policy file error in policy.toml:", WORKER_LOST_POLICY},
        {"[USER] Policy file warning in policy.toml:", WORKER_NO_TROUBLE},
        {"Error: skipped https://a.test/policy [x] Policy file error in ", WORKER_NO_TROUBLE},
        {"[Blocked Host] https://a.test/[USER] Policy file error in ", WORKER_NO_TROUBLE},
        {"[", WORKER_NO_TROUBLE},
        {"", WORKER_NO_TROUBLE},
    };
    for (size_t i = 0; i < COUNT(ROWS); i++) {
        assert_int_equal(worker_trouble_in(&WORKER_GEMINI, ROWS[i].line), ROWS[i].trouble);
    }
    assert_int_equal(worker_trouble_in(&WORKER_CLAUDE, "anything"), WORKER_NO_TROUBLE);
}

/* ---- why workers fail ---- */

static void every_failure_has_its_code(void **state)
{
    (void)state;
    static const struct {
        const struct worker *worker;
        struct failure_signs signs;
        const char *code;
    } ROWS[] = {
        {&WORKER_GEMINI, {.exit_code = 1}, CODE_EXECUTION_ERROR},
        {&WORKER_GEMINI, {.exit_code = 41}, CODE_AUTH_ERROR},
        {&WORKER_GEMINI, {.exit_code = 42}, CODE_EXECUTION_ERROR},
        {&WORKER_GEMINI, {.exit_code = 52}, CODE_CONFIG_ERROR},
        {&WORKER_GEMINI, {.exit_code = 53}, CODE_TURN_LIMIT},
        {&WORKER_GEMINI, {.exit_code = 55}, CODE_CONFIG_ERROR},
        {&WORKER_GEMINI, {.exit_code = 144}, CODE_AUTH_ERROR},
        {&WORKER_GEMINI, {.exit_code = 145}, CODE_AUTH_ERROR},
        {&WORKER_GEMINI, {.exit_code = 147}, CODE_AUTH_ERROR},
        {&WORKER_GEMINI, {.exit_code = 148}, CODE_MODEL_NOT_FOUND},
        {&WORKER_GEMINI, {.exit_code = 173}, CODE_QUOTA_EXCEEDED},
        {&WORKER_GEMINI, {.exit_code = 244}, CODE_EXECUTION_ERROR},
        {&WORKER_GEMINI, {.exit_code = 247}, CODE_EXECUTION_ERROR},
        {&WORKER_GEMINI, {.exit_code = 127}, CODE_CLI_NOT_FOUND},
        {&WORKER_CLAUDE, {.exit_code = 41}, CODE_EXECUTION_ERROR},
        {&WORKER_CLAUDE, {.exit_code = 1, .http_status = 401}, CODE_AUTH_ERROR},
        {&WORKER_CLAUDE, {.exit_code = 1, .http_status = 404}, CODE_MODEL_NOT_FOUND},
        {&WORKER_CLAUDE, {.exit_code = 1, .http_status = 429}, CODE_QUOTA_EXCEEDED},
        {&WORKER_CLAUDE, {.exit_code = 1, .http_status = 500}, CODE_EXECUTION_ERROR},
        {&WORKER_CLAUDE, {.exit_code = 1, .words = "error_max_turns"}, CODE_TURN_LIMIT},
        /* Words tell more than numbers. */
        {&WORKER_GEMINI,
         {.exit_code = 144, .words = "[API Error: {\"status\":\"INVALID_ARGUMENT\"}]"},
         CODE_EXECUTION_ERROR},
        {&WORKER_GEMINI,
         {.exit_code = 144, .words = "API key not valid. INVALID_ARGUMENT"},
         CODE_AUTH_ERROR},
        {&WORKER_GEMINI,
         {.exit_code = 1, .words = "models/x is not found for API version v1beta"},
         CODE_MODEL_NOT_FOUND},
        {&WORKER_GEMINI, {.exit_code = 1, .words = "resource_exhausted"}, CODE_QUOTA_EXCEEDED},
        /* stderr is asked last. */
        {&WORKER_GEMINI, {.exit_code = 1, .errors = "quota exceeded"}, CODE_QUOTA_EXCEEDED},
        {&WORKER_GEMINI, {.exit_code = 53, .errors = "quota exceeded"}, CODE_TURN_LIMIT},
        {&WORKER_GEMINI, {.exit_code = 41, .errors = "noise"}, CODE_AUTH_ERROR},
    };
    for (size_t i = 0; i < COUNT(ROWS); i++) {
        const struct research_failure *failure = failure_find(ROWS[i].worker, &ROWS[i].signs);
        if (strcmp(failure->code, ROWS[i].code) != 0) {
            fail_msg("row %zu: %s, not %s", i, failure->code, ROWS[i].code);
        }
        assert_true(strlen(failure->message) > 10);
    }
    /* One exit code for "no key" and for a key that is not looked at. */
    struct failure_signs signs = {.exit_code = 41, .errors = "Please set an Auth method in x"};
    assert_string_equal(failure_find(&WORKER_GEMINI, &signs)->code, CODE_AUTH_ERROR);
    signs.errors = "Invalid auth method selected.\n";
    const struct research_failure *failure = failure_find(&WORKER_GEMINI, &signs);
    assert_non_null(strstr(failure->message, "GOOGLE_GEMINI_BASE_URL"));
    assert_string_equal(failure->code, CODE_CONFIG_ERROR);
    assert_null(failure_of_words(NULL));
    assert_null(failure_of_words("all is well"));
}

static void rest_has_a_status_for_each_code(void **state)
{
    (void)state;
    static const struct {
        const char *code;
        int status;
    } ROWS[] = {
        {CODE_CLI_NOT_FOUND, 503},  {CODE_CLI_TIMEOUT, 504},  {CODE_EXECUTION_ERROR, 502},
        {CODE_QUOTA_EXCEEDED, 429}, {CODE_AUTH_ERROR, 502},   {CODE_MODEL_NOT_FOUND, 502},
        {CODE_TURN_LIMIT, 502},     {CODE_CONFIG_ERROR, 503}, {CODE_PARSE_ERROR, 502},
    };
    for (size_t i = 0; i < COUNT(ROWS); i++) {
        assert_int_equal(error_http_status(ROWS[i].code), ROWS[i].status);
    }
}

/* ---- the folder ---- */

static void load_config(const char *setting)
{
    char text[128];
    snprintf(text, sizeof text, "%s", setting);
    char *environment[] = {text, NULL};
    struct buf problem;
    buf_init(&problem, KIB(8));
    assert_int_equal(config_load(environment, NULL, &problem), OK);
    buf_done(&problem);
}

static mode_t mode_of(const char *folder, const char *name)
{
    char path[256];
    struct stat about;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(path, &about) == 0 ? about.st_mode & 07777 : 0;
}

static void the_folder_is_made_once(void **state)
{
    (void)state;
    char parent[] = "/tmp/forage-test-XXXXXX";
    char folder[64];
    char path[128];
    char problem[512] = "";
    assert_non_null(mkdtemp(parent));
    snprintf(folder, sizeof folder, "%s/a/b", parent);
    assert_int_equal(folder_make(folder, "gemini", problem, sizeof problem), OK);
    assert_int_equal(mode_of(folder, ""), 0700);
    assert_int_equal(mode_of(folder, ".gemini"), 0700);
    assert_int_equal(mode_of(folder, ".gemini/settings.json"), 0600);
    assert_int_equal(mode_of(folder, ".gemini/policy.toml"), 0600);
    assert_int_equal(mode_of(folder, ".claude"), 0);
    /* What is there stays. */
    snprintf(path, sizeof path, "%s/.gemini/settings.json", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("mine", file);
    fclose(file);
    assert_int_equal(folder_make(folder, "gemini", problem, sizeof problem), OK);
    char content[16] = "";
    file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(content, sizeof content, file));
    fclose(file);
    assert_string_equal(content, "mine");
    assert_int_equal(folder_make(folder, "claude", problem, sizeof problem), OK);
    assert_int_equal(mode_of(folder, ".claude/mcp.json"), 0600);
    assert_true(remove_folder(parent, 1));
}

/* The template is JSON once our path is in it, and holds no secret. */
static void the_settings_are_json(void **state)
{
    (void)state;
    char folder[] = "/tmp/forage-test-XXXXXX";
    char path[128];
    char problem[512] = "";
    char text[8192];
    assert_non_null(mkdtemp(folder));
    assert_int_equal(folder_make(folder, "gemini", problem, sizeof problem), OK);
    snprintf(path, sizeof path, "%s/.gemini/settings.json", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof text, file);
    fclose(file);
    struct arena *arena = arena_new(MIB(1));
    struct json_problem json_problem;
    yyjson_doc *doc = json_parse(arena, text, length, &json_problem);
    assert_non_null(doc);
    yyjson_val *servers = yyjson_obj_get(yyjson_doc_get_root(doc), "mcpServers");
    const char *command = json_string(yyjson_obj_get(servers, "forage"), "command");
    assert_non_null(command);
    assert_int_equal(command[0], '/');
    assert_int_equal(access(command, X_OK), 0);
    yyjson_val *keys = yyjson_obj_get(yyjson_obj_get(servers, "firecrawl"), "env");
    assert_string_equal(json_string(keys, "FIRECRAWL_API_KEY"), "${FIRECRAWL_API_KEY:-}");
    arena_free(arena);
    assert_true(remove_folder(folder, 1));
}

static void a_folder_that_cannot_be_made_is_told(void **state)
{
    (void)state;
    char path[FOLDER_PATH_SIZE];
    char problem[512] = "";
    load_config("GEMINI_SEARCH_CONFIG_DIR=/dev/null/x");
    assert_int_not_equal(folder_make("/dev/null/x", "gemini", problem, sizeof problem), OK);
    assert_non_null(strstr(problem, "/dev/null/x"));
    assert_non_null(strstr(problem, "set GEMINI_SEARCH_CONFIG_DIR to a folder"));
    load_config("FORAGE_RESEARCH_DIR=relative");
    assert_int_not_equal(folder_find(path, problem, sizeof problem), OK);
    load_config("FORAGE_RESEARCH_DIR=/some/where");
    assert_int_equal(folder_find(path, problem, sizeof problem), OK);
    assert_string_equal(path, "/some/where");
    config_unload();
}

UNIT_TEST(research)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prompts_are_filled),
        cmocka_unit_test(our_own_prompts_are_sound),
        cmocka_unit_test(templates_come_from_files),
        cmocka_unit_test(gemini_is_seen),
        cmocka_unit_test(pages_are_filed_where_they_are),
        cmocka_unit_test(our_marks_are_not_of_the_page),
        cmocka_unit_test(claude_is_seen),
        cmocka_unit_test(failures_are_seen),
        cmocka_unit_test(rounds_and_turns_are_bounded),
        cmocka_unit_test(lists_are_bounded),
        cmocka_unit_test(trouble_is_told),
        cmocka_unit_test(every_failure_has_its_code),
        cmocka_unit_test(rest_has_a_status_for_each_code),
        cmocka_unit_test(the_folder_is_made_once),
        cmocka_unit_test(the_settings_are_json),
        cmocka_unit_test(a_folder_that_cannot_be_made_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
