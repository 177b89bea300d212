/* `forage dashboard`: opens the page of the server that runs, or says what to do where none does.
 */
#include "cli/cli.h"
#include "cli/tool_command.h"
#include "config/config.h"
#include "core/event.h"
#include "core/limits.h"
#include "doctor/server.h"
#include "proc/successor.h"

#include <stdlib.h>

#define TIME_DASHBOARD_MS 10000

/* A person sits before a screen that a program can open something on. */
static bool has_display(void)
{
    const char *x = getenv("DISPLAY");
    const char *wayland = getenv("WAYLAND_DISPLAY");
    return (x && *x) || (wayland && *wayland);
}

/* The browser outlives this command. */
static void open_browser(const char *address)
{
    const char *const arguments[] = {"xdg-open", address, NULL};
    if (has_display() && successor_start("xdg-open", arguments, NULL) != OK) {
        fputs("forage: no browser could be started (there is no xdg-open); open the address "
              "yourself\n",
              stderr);
    }
}

static int find_and_open(struct app *app, struct call *call, void *context)
{
    (void)app;
    const struct arguments *arguments = context;
    int port = (int)config_int("FORAGE_PORT");
    const char *address = server_address(call, config_text("FORAGE_HOST"), port);
    if (!address) {
        return EXIT_FAILED;
    }
    if (port == 0) {
        fputs("forage: the server has any free port; say which with --port\n", stderr);
        return EXIT_FAILED;
    }
    if (!server_answers(call, address)) {
        fprintf(stderr,
                "forage: no server answers at %s; start one with `forage serve`, or say with "
                "--host and --port where it is\n",
                address);
        return EXIT_FAILED;
    }
    if (server_status(call, address, "/") != 200) {
        fprintf(stderr, "forage: the server at %s shows no dashboard: FORAGE_DASHBOARD is off\n",
                address);
        return EXIT_FAILED;
    }
    const char *page = arena_printf(call_arena(call), "%s/", address);
    if (!page || printf("%s\n", page) < 0) {
        return EXIT_FAILED;
    }
    if (!option_given(arguments, "--print")) {
        open_browser(page);
    }
    return EXIT_OK;
}

int command_dashboard(const struct arguments *arguments)
{
    struct parts parts = {0};
    struct call_options options = run_options(NULL);
    int code = load_configuration();
    if (code != EXIT_OK) {
        return code;
    }
    log_quietly();
    options.timeout_ms = TIME_DASHBOARD_MS;
    options.parts = &parts;
    return run_call(NULL, signals_open(), &options, find_and_open,
                    (void *)(uintptr_t)arguments); /* it is only read */
}
