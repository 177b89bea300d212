/* The resources (a guide for agents, the status, the page of memories), the prompts and the skill:
 * what a user of a search server would want to start with. The texts of prompts are
 * prompts/NAME.md; the skill is the one of the plugin, and the guide is its text. */
#include "app/offers.h"

#include "app/pages.h"
#include "call/parts.h"
#include "core/limits.h"
#include "embedded.h"
#include "ops/status.h"
#include "text/packed.h"
#include "text/text.h"

#include <string.h>

/* ---- resources ---- */

static int read_guide(struct call *call, const char *uri, struct resource_content *content)
{
    (void)call;
    (void)uri;
    /* The skill without its head, which is for those who choose among skills. */
    const char *body = strstr(skill_forage, "\n---\n\n");
    content->text = body ? body + strlen("\n---\n\n") : skill_forage;
    return OK;
}

static int read_status(struct call *call, const char *uri, struct resource_content *content)
{
    (void)uri;
    struct arena *arena = call_arena(call);
    yyjson_mut_doc *doc = json_new(arena);
    struct buf text;
    buf_init(&text, LIMIT_MESSAGE_BYTES);
    int status =
        doc ? json_write_pretty(&text, arena, status_describe(call_parts(call)->status, doc, NULL))
            : ERR_NOMEM;
    if (status == OK) {
        content->text = arena_strdup(arena, text.data);
    }
    buf_done(&text);
    return status == OK && !content->text ? ERR_NOMEM : status;
}

static int read_memories_page(struct call *call, const char *uri, struct resource_content *content)
{
    (void)uri;
    size_t length;
    content->text = unpacked_text(call_arena(call), PAGE_MEMORIES, PAGE_MEMORIES_SIZE,
                                  LIMIT_MESSAGE_BYTES, &length);
    return content->text ? OK : ERR_NOMEM;
}

static const struct resource RESOURCES[] = {
    {
        .uri = "forage://guide",
        .name = "guide",
        .title = "How to use forage",
        .description = "Which tool to use when, how to read results and errors.",
        .mime = "text/markdown",
        .read = read_guide,
    },
    {
        .uri = "forage://status",
        .name = "status",
        .title = "Server status",
        .description = "Version, tools and whether each is ready, uptime and counts.",
        .mime = "application/json",
        .read = read_status,
    },
    {
        .uri = "ui://forage/memories",
        .name = "memories",
        .title = "Memories",
        .description = "What is remembered, to browse, search, correct and delete.",
        .mime = "text/html;profile=mcp-app",
        .read = read_memories_page,
    },
};

/* ---- prompts ---- */

/* The arguments of all prompts: where a template names them, and what completion offers. The first
 * of these stands for an argument that was left out. */
static const struct {
    const char *name;
    const char *blank;
    const char *values[6];
} ARGUMENTS[] = {
    {"topic", "{{topic}}", {""}},
    {"depth", "{{depth}}", {"detailed", "concise"}},
    {"claim", "{{claim}}", {""}},
    {"question", "{{question}}", {""}},
    {"aspect", "{{aspect}}", {"accuracy", "recency", "bias", "methods", "cost", "coverage"}},
};

#define ARGUMENT_COUNT (sizeof ARGUMENTS / sizeof *ARGUMENTS)

static int get_filled(struct call *call, const char *template, yyjson_val *arguments,
                      yyjson_mut_doc *doc, yyjson_mut_val *messages)
{
    (void)call;
    struct text_blank blanks[ARGUMENT_COUNT];
    struct buf text;
    buf_init(&text, LIMIT_MESSAGE_BYTES);
    for (size_t i = 0; i < ARGUMENT_COUNT; i++) {
        const char *value = json_string(arguments, ARGUMENTS[i].name);
        blanks[i] = (struct text_blank){ARGUMENTS[i].blank,
                                        value && *value ? value : ARGUMENTS[i].values[0]};
    }
    text_fill(&text, template, blanks, ARGUMENT_COUNT);
    int status = buf_error(&text);
    if (status == OK) {
        yyjson_mut_val *message = yyjson_mut_arr_add_obj(doc, messages);
        yyjson_mut_obj_add_str(doc, message, "role", "user");
        yyjson_mut_val *content = yyjson_mut_obj_add_obj(doc, message, "content");
        yyjson_mut_obj_add_str(doc, content, "type", "text");
        yyjson_mut_obj_add_strncpy(doc, content, "text", text.data, text.length);
    }
    buf_done(&text);
    return status;
}

#define DEFINE_GET(name)                                                                           \
    static int get_##name(struct call *call, yyjson_val *arguments, yyjson_mut_doc *doc,           \
                          yyjson_mut_val *messages)                                                \
    {                                                                                              \
        return get_filled(call, prompt_##name, arguments, doc, messages);                          \
    }

DEFINE_GET(research_topic)
DEFINE_GET(check_claim)
DEFINE_GET(compare_sources)

static int complete(struct call *call, const char *argument, const char *prefix,
                    yyjson_mut_doc *doc, yyjson_mut_val *values)
{
    (void)call;
    for (size_t i = 0; i < ARGUMENT_COUNT; i++) {
        bool named = strcmp(ARGUMENTS[i].name, argument) == 0;
        for (size_t j = 0; named && j < sizeof ARGUMENTS[i].values / sizeof(char *); j++) {
            const char *value = ARGUMENTS[i].values[j];
            if (value && *value && strncmp(value, prefix, strlen(prefix)) == 0) {
                yyjson_mut_arr_add_str(doc, values, value);
            }
        }
    }
    return OK;
}

static const struct prompt_argument RESEARCH_ARGUMENTS[] = {
    {"topic", "Topic", "What to find out, in your own words.", true},
    {"depth", "Depth", "\"detailed\" (the default) or \"concise\".", false},
    {0},
};

static const struct prompt_argument CLAIM_ARGUMENTS[] = {
    {"claim", "Claim", "The statement to check.", true},
    {0},
};

static const struct prompt_argument COMPARE_ARGUMENTS[] = {
    {"question", "Question", "What the sources should be compared on.", true},
    {"aspect", "Aspect", "What to look at: accuracy (the default), recency, bias, methods...",
     false},
    {0},
};

static const struct prompt PROMPTS[] = {
    {
        .name = "research_topic",
        .title = "Research a topic",
        .description = "Several rounds of searching and reading, ending in a report with sources.",
        .arguments = RESEARCH_ARGUMENTS,
        .get = get_research_topic,
        .complete = complete,
    },
    {
        .name = "check_claim",
        .title = "Check a claim",
        .description = "Evidence for and against a statement, and a verdict.",
        .arguments = CLAIM_ARGUMENTS,
        .get = get_check_claim,
        .complete = complete,
    },
    {
        .name = "compare_sources",
        .title = "Compare sources",
        .description = "What independent sources say on a question, side by side.",
        .arguments = COMPARE_ARGUMENTS,
        .get = get_compare_sources,
        .complete = complete,
    },
};

/* ---- the skill ---- */

static const struct skill_file SKILL_FILES[] = {
    {"SKILL.md", "text/markdown", skill_forage},
    {"references/parameters.md", "text/markdown", skill_parameters},
    {0},
};

static const struct skill SKILL = {"forage", SKILL_FILES};

int offers_register(struct registry *registry)
{
    int status = OK;
    for (size_t i = 0; status == OK && i < sizeof RESOURCES / sizeof *RESOURCES; i++) {
        status = registry_add_resource(registry, &RESOURCES[i]);
    }
    for (size_t i = 0; status == OK && i < sizeof PROMPTS / sizeof *PROMPTS; i++) {
        status = registry_add_prompt(registry, &PROMPTS[i]);
    }
    return status == OK ? registry_add_skill(registry, &SKILL) : status;
}
