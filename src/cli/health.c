/* `forage health`: whether the server of these settings answers, for health checks of containers
 * and supervisors, which look at the exit code. */
#include "call/parts.h"
#include "cli/cli.h"
#include "cli/tool_command.h"
#include "config/config.h"
#include "core/event.h"
#include "core/limits.h"
#include "core/log.h"
#include "doctor/server.h"

#include <stdio.h>

/* What the server has trouble with is no reason to end it, so "degraded" is a success too. */
static int ask(struct app *app, struct call *call, void *context)
{
    (void)app;
    (void)context;
    const char *problem = "out of memory";
    const char *address =
        server_address(call, config_text("FORAGE_HOST"), (int)config_int("FORAGE_PORT"));
    yyjson_val *health = address ? server_health(call, address, &problem) : NULL;
    const char *status = health ? json_string(health, "status") : NULL;
    if (!status) {
        fprintf(stderr, "forage: no server on %s, port %d: %s\n", config_text("FORAGE_HOST"),
                (int)config_int("FORAGE_PORT"), health ? "it does not say how it is" : problem);
        return EXIT_FAILED;
    }
    struct buf said;
    buf_init(&said, KIB(4));
    buf_printf(&said, "%s\n", status);
    return print_buf(&said, WORDS_OURS);
}

int command_health(const struct arguments *arguments)
{
    (void)arguments; /* --host and --port are settings */
    struct buf refused;
    buf_init(&refused, KIB(64));
    int code = read_configuration(&refused);
    if (code == EXIT_OK) {
        struct parts parts = {0};
        struct call_options options = run_options(NULL);
        options.parts = &parts;
        options.timeout_ms = TIME_HEALTH_MS;
        log_set_level(LOG_LEVEL_ERROR); /* what is odd in the settings is the server's to say */
        code = run_call(NULL, signals_open(), &options, ask, NULL);
    } else {
        fprintf(stderr, "forage: %s",
                refused.data ? refused.data : "the settings cannot be read\n");
    }
    buf_done(&refused);
    return code;
}
