/* The program put together: the registry with its tools, resources and prompts, the protocol, the
 * worker pool, the callers and their limits. The doors and the command line get this and nothing
 * else. */
#ifndef FORAGE_APP_APP_H
#define FORAGE_APP_APP_H

#include "call/parts.h"
#include "call/pool.h"
#include "guard/callers.h"
#include "guard/proxies.h"
#include "mcp/mcp.h"
#include "ops/status.h"

#include <stdatomic.h>

/* For everybody to read; app.c makes it and frees it. */
struct app {
    struct parts parts; /* what its calls get as call_options.parts */
    struct registry *registry;
    struct mcp *mcp;
    struct pool *pool;
    struct callers *callers;
    struct proxies *proxies; /* whose word about a client is taken */
    struct ledger *ledger;
    struct program_status status;
    /* What `forage doctor` sees, as JSON; whoever opens the doors sets it. NULL: nobody knows, or
     * the call was ended. */
    yyjson_mut_val *(*examine)(struct call *call, yyjson_mut_doc *doc);
};

struct app_options {
    const char *name; /* as clients see it */
    const char *title;
    /* Registers everything there is; NULL: what forage offers. */
    int (*add_everything)(struct registry *registry);
    bool without_experiments; /* nothing is tried, whatever is set */
    unsigned features;        /* of mcp.h */
    size_t page_size;
};

/* The configuration must be loaded. NULL with the reason in `problem`. */
struct app *app_new(const struct app_options *options, char *problem, size_t size);
/* Waits for running calls; end them first. */
struct app *app_free(struct app *app);
/* The same for a program that ends with `code`, and that must not wait for a disk that hangs: after
 * TIME_SHUTDOWN_CLOSE_MS it leaves what cannot be closed, and exits. */
void app_end(struct app *app, int code);

/* Ends what runs; new calls must not come any more. In this order: jobs are put down at once,
 * because they would take minutes, and where `clients_left` those that a client waits for are
 * cancelled; other calls get TIME_SHUTDOWN_GRACE_MS to finish; those that are
 * left are cancelled and get as long again; then the browser and every other child process end.
 * Children belong to the process: of two programs, the one that ends first takes all. `unheard`
 * (may be NULL) becomes true when nobody hears the answers any more: then nothing is waited for. */
void app_finish_calls(struct app *app, bool clients_left, const atomic_bool *unheard);
/* Cancels what runs again since then, and waits for its end. */
void app_end_calls(struct app *app);
/* Ends the programs that the call of a command has started, and does not wait for the browser's
 * end: its warden does. `app` may be NULL. */
void app_leave_programs(struct app *app);

#endif
