/* A thread that waits for a signal while a call runs, and a line of progress on standard error. */
#include "cli/watch.h"

#include "cli/cli.h"
#include "cli/terminal.h"
#include "core/event.h"
#include "core/limits.h"
#include "core/signals.h"
#include "guard/callers.h"
#include "proc/proc.h"

#include <poll.h>
#include <stdio.h>

static void show_progress(void *context, double done, double total, const char *message)
{
    (void)context;
    if (total > 0) {
        terminal_progress("[%.0f/%.0f] %s", done, total, message);
    } else {
        terminal_progress("%s", message);
    }
}

static void *watch_signals(void *context)
{
    struct watch *watch = context;
    struct pollfd watched[] = {{.fd = watch->signals, .events = POLLIN},
                               {.fd = watch->done, .events = POLLIN}};
    while (poll(watched, 2, -1) < 0) {
    }
    if (watched[0].revents) {
        call_cancel(watch->call);
    }
    return NULL;
}

struct call_options watch_options(void)
{
    struct call_options options = {.caller = caller_local()};
    if (terminal_has_progress()) {
        options.hooks.progress = show_progress;
    }
    return options;
}

int watch_start(struct watch *watch, struct call *call, int signals)
{
    *watch = (struct watch){.call = call, .signals = signals, .done = event_open()};
    if (watch->done < 0 || pthread_create(&watch->thread, NULL, watch_signals, watch) != 0) {
        fputs("forage: cannot watch for signals\n", stderr);
        event_close(watch->done);
        return ERR_IO;
    }
    return OK;
}

void watch_stop(struct watch *watch)
{
    event_signal(watch->done);
    pthread_join(watch->thread, NULL);
    event_close(watch->done);
    terminal_progress_end();
}

int watch_run(const struct call_options *options,
              int (*body)(struct app *app, struct call *call, int signals, void *context),
              void *context)
{
    int signals = signals_open();
    struct app *app = open_app();
    if (!app || signals < 0) {
        app_free(app);
        return EXIT_USAGE;
    }
    int code = EXIT_FAILED;
    struct call_options ours = *options;
    ours.parts = app_parts(app);
    struct call *call = call_new(&ours);
    if (call) {
        code = body(app, call, signals, context);
    } else {
        fputs("forage: out of memory\n", stderr);
    }
    call_free(call);
    proc_shutdown(TIME_SHUTDOWN_GRACE_MS);
    app_free(app);
    return code;
}
