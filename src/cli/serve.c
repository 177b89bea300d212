/* `forage mcp` and `forage serve`: opening a door. */
#include "base/log.h"
#include "base/signals.h"
#include "cli/cli.h"
#include "doors/doors.h"

#include <malloc.h>

/* Each thread would get a heap of its own otherwise, and an idle server would hold on to all of
 * them. */
static void bound_heaps(void)
{
    mallopt(M_ARENA_MAX, 4);
    mallopt(M_TRIM_THRESHOLD, 1 << 20);
}

static int open_door(int (*door)(struct app *app, int signals))
{
    bound_heaps();
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
    code = door(app, signals);
    app_free(app);
    return code;
}

int command_mcp(const struct arguments *arguments)
{
    int code = refuse_rest(arguments);
    return code == EXIT_OK ? open_door(door_stdio) : code;
}

int command_serve(const struct arguments *arguments)
{
    struct arguments rest = *arguments;
    int code = take_setting(&rest, "--host", "MCP_SERVER_HOST");
    if (code == EXIT_OK) {
        code = take_setting(&rest, "--port", "MCP_SERVER_PORT");
    }
    if (code == EXIT_OK) {
        code = refuse_rest(&rest);
    }
    return code == EXIT_OK ? open_door(door_http) : code;
}
