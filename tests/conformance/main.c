/* forage-conformance: the protocol of forage with the conformance suite's tools, resources and
 * prompts instead of its own. Started as `forage-conformance serve` or `forage-conformance mcp`, it
 * is configured as forage is; a number behind that is the size of the pages that lists come in. */
#include "app/app.h"
#include "cli/cli.h"
#include "core/event.h"
#include "core/log.h"
#include "fixture.h"
#include "proc/proc.h"
#include "rest/http.h"
#include "server/stdio.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int add_everything(struct registry *registry)
{
    /* The suite calls whichever tool is listed first without arguments: that one needs none. */
    static int (*const PARTS[])(struct registry *) = {
        add_content_tools, add_speaking_tools, add_asking_tools,   add_round_tools,
        add_change_tools,  add_stuck_tools,    add_spending_tools, add_paced_tools,
        add_model_tools,   add_task_tools,     add_resources,      add_prompts,
    };
    int status = OK;
    for (size_t i = 0; status == OK && i < sizeof PARTS / sizeof *PARTS; i++) {
        status = PARTS[i](registry);
    }
    return status;
}

static int open_door(int (*door)(struct app *app, int signals), size_t page_size)
{
    const struct app_options options = {
        .name = "forage-conformance",
        .title = "forage under test",
        .add_everything = add_everything,
        .features = MCP_LOGGING | MCP_SUBSCRIBE | MCP_LIST_CHANGED,
        .page_size = page_size,
    };
    log_never_wait();
    int code = load_configuration();
    if (code != EXIT_OK) {
        return code;
    }
    int signals = signals_open();
    char problem[512] = "cannot watch for signals";
    struct app *app = signals < 0 ? NULL : app_new(&options, problem, sizeof problem);
    if (!app) {
        fprintf(stderr, "forage-conformance: %s\n", problem);
        return EXIT_FAILED;
    }
    change_tools_use(app->mcp);
    code = door(app, signals);
    app_free(app);
    log_finish();
    return code;
}

int main(int argc, char **argv)
{
    proc_begin(argc, argv);
    const char *door = argc == 2 || argc == 3 ? argv[1] : "";
    size_t page_size = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    if (strcmp(door, "serve") == 0) {
        return open_door(door_http, page_size);
    }
    if (strcmp(door, "mcp") == 0) {
        return open_door(door_stdio, page_size);
    }
    fputs("Usage: forage-conformance serve | mcp [PAGE_SIZE]\n", stderr);
    return EXIT_USAGE;
}
