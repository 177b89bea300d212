/* Every allocation on the way to a changed file fails once: the plan is made again and again, and
 * each time one allocation further on returns NULL. It may fail then, but it never makes another
 * text than it should: members of others are not lost for want of memory. */
#include "core/limits.h"
#include "core/status.h"
#include "failing_allocations.h"
#include "setup/plan.h"
#include "unit.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the work ---- */

static const char *const KEYS[] = {"SERPER_API_KEY"};
static const struct entry_request REQUEST = {
    .launch = {.command = "forage", .arguments = {"mcp"}, .count = 1},
    .keys = KEYS,
    .key_count = 1};

static const struct {
    const char *client;
    bool removes;
    const char *before;
    const char *after;
} CASES[] = {
    {"cursor", false, "",
     "{\n  \"mcpServers\": {\n    \"forage\": {\n      \"command\": \"forage\",\n      \"args\": "
     "[\"mcp\"],\n      \"env\": {\n        \"SERPER_API_KEY\": \"${env:SERPER_API_KEY}\"\n      "
     "}\n    }\n  }\n}\n"},
    {"cursor", false,
     "{\"mcpServers\": {\"forage\": {\"command\": \"old\", \"mine\": 1, \"env\": {\"A\": \"b\"}, "
     "\"url\": \"x\"}}}",
     "{\"mcpServers\": {\"forage\": {\"command\": \"forage\", \"mine\": 1, \"env\": {\"A\": "
     "\"b\", \"SERPER_API_KEY\": \"${env:SERPER_API_KEY}\"}, \"args\": [\"mcp\"]}}}"},
    {"cursor", true, "{\n  \"a\": 1,\n  \"mcpServers\": {\n    \"forage\": {}\n  }\n}\n",
     "{\n  \"a\": 1\n}\n"},
    {"codex", false, "a = 1\n",
     "a = 1\n\n[mcp_servers.forage]\ncommand = \"forage\"\nargs = [\"mcp\"]\nenv_vars = "
     "[\"SERPER_API_KEY\"]\n"},
    {"codex", false, "[mcp_servers.forage]\ncommand = 'old'\nmine = 1\nurl = 'x'\n",
     "[mcp_servers.forage]\ncommand = \"forage\"\nmine = 1\nargs = [\"mcp\"]\nenv_vars = "
     "[\"SERPER_API_KEY\"]\n"},
    {"codex", true, "a = 1\n\n[mcp_servers.forage]\ncommand = 'old'\n", "a = 1\n"},
};

static int work(size_t index, struct arena *arena, struct buf *after)
{
    char words[200];
    struct document_problem problem;
    enum plan_change change;
    struct setup_entry entry;
    const char *before = CASES[index].before;
    struct plan_file file = {client_find(CASES[index].client), "forage", before, strlen(before)};
    if (CASES[index].removes) {
        return plan_remove(arena, &file, true, after, &problem);
    }
    int status = entry_make(arena, file.client, &REQUEST, &entry, words, sizeof words);
    return status == OK ? plan_add(arena, &file, &entry, after, &change, &problem) : status;
}

static void fails_whole_or_not_at_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        size_t rounds = 0;
        do {
            struct arena *arena = arena_new(MIB(1));
            struct buf after;
            assert_non_null(arena);
            buf_init(&after, MIB(1));
            failed = false;
            fail_after = (long)rounds++;
            int status = work(i, arena, &after);
            fail_after = -1;
            assert_true(status == OK || (failed && status == ERR_NOMEM));
            if (status == OK) {
                assert_string_equal(after.data, CASES[i].after);
            }
            buf_done(&after);
            arena_free(arena);
        } while (failed);
        assert_true(rounds > 2);
    }
}

UNIT_TEST(setup_allocations)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fails_whole_or_not_at_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
