/* The clients that are known, and the budgets of their results. */
#include "config/budget.h"

#include "config/config.h"

#include <stdint.h>
#include <strings.h>

#define SECONDS  INT64_C(1000)
#define FOR_EVER INT64_MAX

/* Where a client cuts a result, or puts it into a file and shows its beginning, the budget stays
 * somewhat below. 0 is for a client that is known and has no limit below the default. Some count
 * bytes: 0 bytes is for all others. Some are known to wait so long for a call, less a margin: 0 is
 * for all others. Of a result that has a text and, beside it, the structured result, some hand
 * their model the structured one alone; the others the text, or both (docs/clients/README.md). */
static const struct {
    const char *context;
    bool structured;
    size_t chars;
    size_t bytes;
    int64_t patience_ms;
} CLIENTS[] = {
    {"antigravity", false, 0, 0, 0},
    {"chatgpt", false, 0, 0, 0},
    {"claude", false, 45000, 0, 200 * SECONDS},
    {"claude-code", true, 45000, 0,
     FOR_EVER}, /* 50,000 characters, 25,000 tokens (MAX_MCP_OUTPUT_TOKENS) */
    {"claude-desktop", false, 0, 0, 200 * SECONDS}, /* 100,000 characters */
    {"cline", false, 0, 0, 0},
    {"codex", true, 32000, 40000,
     270 * SECONDS}, /* 10,000 tokens of four bytes; the middle is cut out */
    {"copilot-cli", false, 0, 0, 0},
    {"cursor", false, 0, 0, 0},
    {"gemini", false, 36000, 0, 570 * SECONDS},
    {"gemini-cli", false, 36000, 0,
     570 * SECONDS}, /* 40,000 characters (truncateToolOutputThreshold) */
    {"intellij", false, 0, 0, 0},
    {"open-webui", false, 0, 0, 0},
    {"opencode", false, 45000, 51200, 0},
    {"qwen-code", false, 22000, 0, 570 * SECONDS}, /* 25,000 characters */
    {"vscode", false, 0, 0, 0},
    {"windsurf", false, 0, 0, 0},
    {"zed", false, 0, 0, 0},
};

struct budget budget_find(void)
{
    const char *context = config_text("FORAGE_CONTEXT");
    struct budget budget = {
        .chars = (size_t)config_int("FORAGE_MAX_RESULT_CHARS"),
        .reason = "the default",
        .context = context && *context ? context : NULL,
    };
    size_t suited = 0;
    size_t bytes = 0;
    for (size_t i = 0; budget.context && i < sizeof CLIENTS / sizeof *CLIENTS; i++) {
        if (strcasecmp(CLIENTS[i].context, context) == 0) {
            budget.known = true;
            budget.as_text = !CLIENTS[i].structured;
            suited = CLIENTS[i].chars;
            bytes = CLIENTS[i].bytes;
        }
    }
    if (config_is_set("FORAGE_MAX_RESULT_CHARS")) {
        budget.reason = "FORAGE_MAX_RESULT_CHARS says so";
    } else if (budget.known) {
        budget.chars = suited ? suited : budget.chars;
        budget.bytes = bytes;
        budget.reason = "it suits the client that the context names";
    } else if (budget.context) {
        budget.reason = "the default: the context names no client that is known";
    }
    return budget;
}

int64_t budget_patience_ms(void)
{
    const char *context = config_text("FORAGE_CONTEXT");
    for (size_t i = 0; context && i < sizeof CLIENTS / sizeof *CLIENTS; i++) {
        if (strcasecmp(CLIENTS[i].context, context) == 0) {
            return CLIENTS[i].patience_ms;
        }
    }
    return 0;
}

size_t budget_chars(void)
{
    return budget_find().chars;
}

size_t budget_taken(size_t chars, size_t bytes)
{
    struct budget budget = budget_find();
    size_t by_bytes = budget.bytes ? bytes * budget.chars / budget.bytes + 1 : 0;
    return by_bytes > chars ? by_bytes : chars;
}

size_t budget_share(const size_t *needs, size_t count, size_t room)
{
    size_t share = 0;
    for (;;) {
        size_t left = room;
        size_t longer = 0;
        for (size_t i = 0; i < count; i++) {
            left -= needs[i] <= share ? needs[i] : 0;
            longer += needs[i] > share;
        }
        if (longer == 0 || left / longer <= share) {
            return longer ? share : SIZE_MAX;
        }
        share = left / longer;
    }
}
