/* `forage mcp` and `forage serve`: opening a door. */
#include "browser/browser.h"
#include "cli/cli.h"
#include "cli/tool_command.h"
#include "core/event.h"
#include "core/heap.h"
#include "core/log.h"
#include "core/spare.h"
#include "doctor/doctor.h"
#include "jobs/jobs.h"
#include "memory/memory.h"
#include "ops/ledger.h"
#include "research/research.h"
#include "rest/http.h"
#include "server/stdio.h"

#include <unistd.h>

/* First run, where the research tools are switched on: a folder that cannot be made is told now and
 * not by a call in an hour. */
static int prepare_research(struct app *app)
{
    char problem[1024];
    bool offered =
        registry_tool(app->registry, "search") || registry_tool(app->registry, "deep_search");
    if (!offered || research_prepare(problem, sizeof problem) == OK) {
        return EXIT_OK;
    }
    log_error(NULL, "%s", problem);
    return EXIT_FAILED;
}

static int run_door(int (*door)(struct app *app, int signals))
{
    int code = load_configuration();
    if (code != EXIT_OK) {
        return code;
    }
    int signals = signals_open();
    if (signals < 0) {
        log_error(NULL, "cannot watch for signals");
        return EXIT_FAILED;
    }
    struct app *app = open_app();
    if (!app) {
        return EXIT_USAGE;
    }
    code = prepare_research(app);
    if (code == EXIT_OK && memories_serve(app->parts.memories, &app->parts) != OK) {
        log_error(NULL, "out of memory");
        code = EXIT_FAILED;
    }
    if (code == EXIT_OK) {
        ledger_note_all(app->ledger); /* before the first call can come */
        code = door(app, signals);
    }
    app_end(app, code);
    return code;
}

static int open_door(int (*door)(struct app *app, int signals))
{
    heap_begin();
    spare_keep();
    log_never_wait();
    int code = run_door(door);
    log_finish();
    return code;
}

/* Clients write to standard input; a person who typed `forage mcp` learns what it waits for. */
static int door_of_clients(struct app *app, int signals)
{
    tell_waiting(STDIN_FILENO,
                 "MCP messages, as clients send them (`forage setup` puts forage into a client)");
    int code = door_stdio(app, signals);
    if (jobs_have_background(app->parts.jobs)) {
        leave_jobs();
    }
    return code;
}

int command_mcp(const struct arguments *arguments)
{
    (void)arguments;
    return open_door(door_of_clients);
}

/* The services are not asked: whoever looks at a page does not expect that. */
static yyjson_mut_val *examine(struct call *call, yyjson_mut_doc *doc)
{
    return doctor_examine(call, &(struct doctor_options){.online = false}, doc);
}

static int door_of_all(struct app *app, int signals)
{
    app->examine = examine;
    browser_serve(app->parts.browser);
    return door_http(app, signals);
}

int command_serve(const struct arguments *arguments)
{
    (void)arguments; /* --host and --port are settings */
    return open_door(door_of_all);
}
