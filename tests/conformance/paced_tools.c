/* A tool that asks a source at a pace: it takes a turn, fetches an address and leaves. For the
 * tests of pacing between callers, processes and machines. */
#include "call/errors.h"
#include "core/clock.h"
#include "core/limits.h"
#include "fixture.h"
#include "guard/pacer.h"
#include "net/fetch.h"

static int64_t number(yyjson_val *arguments, const char *name)
{
    return yyjson_get_sint(yyjson_obj_get(arguments, name));
}

static void describe(struct reply *reply, const struct pace_turn *turn, const char *outcome,
                     int64_t waited_ms)
{
    reply->structured = yyjson_mut_obj(reply->doc);
    yyjson_mut_obj_add_bool(reply->doc, reply->structured, "success", true);
    yyjson_mut_obj_add_str(reply->doc, reply->structured, "outcome", outcome);
    yyjson_mut_obj_add_int(reply->doc, reply->structured, "waited_ms", waited_ms);
    yyjson_mut_obj_add_int(reply->doc, reply->structured, "wait_ms", turn->wait_ms);
}

static int run_paced(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    const struct pace pace = {
        .windows = {{(unsigned)number(arguments, "calls"), number(arguments, "window_ms")},
                    {(unsigned)number(arguments, "more_calls"),
                     number(arguments, "longer_window_ms")}},
        .at_once = (unsigned)number(arguments, "at_once"),
    };
    struct pace_turn turn;
    struct url url;
    struct fetch_response response;
    int64_t began = clock_now_ms();
    int status = pace_take(call, json_string(arguments, "source"), &pace,
                           number(arguments, "patience_ms"), &turn);
    int64_t waited = clock_now_ms() - began;
    if (status == ERR_BUSY) {
        describe(reply, &turn, turn.rests ? "rests" : "busy", waited);
        return OK;
    }
    if (status != OK) {
        return status;
    }
    status = fetch_parse(call, json_string(arguments, "url"), &url, &response);
    if (status == OK) {
        const struct fetch_request request = {.url = &url, .timeout_ms = TIME_SEARCH_TRY_MS};
        status = fetch_run(call, &request, &response);
    }
    bool refused = status == OK && response.status == 429;
    int64_t rest_ms = refused ? number(arguments, "rest_ms") : 0;
    pace_leave(&turn, status == OK ? rest_ms : PACE_UNKNOWN);
    if (status == ERR_FAILED) {
        return call_fail(call, CODE_PROVIDER, "%s", response.error);
    }
    describe(reply, &turn, refused ? "refused" : "asked", waited);
    return status;
}

#define DAY "86400000"
#define WINDOWS                                                                                    \
    NUMBER_ARGUMENT("calls", "1000")                                                               \
    "," NUMBER_ARGUMENT("window_ms", DAY) "," NUMBER_ARGUMENT(                                     \
        "more_calls", "1000") "," NUMBER_ARGUMENT("longer_window_ms", DAY)
#define TIMES                                                                                      \
    NUMBER_ARGUMENT("patience_ms", "60000")                                                        \
    "," NUMBER_ARGUMENT("rest_ms", DAY) "," NUMBER_ARGUMENT("at_once", "100")
#define WORDS TEXT_ARGUMENT("source") "," TEXT_ARGUMENT("url")

static const struct tool TOOLS[] = {
    {DEFINITION("test_paced", "Asks a source at a pace.", SLOW,
                ARGUMENTS(WORDS "," WINDOWS "," TIMES, "\"source\",\"url\"")),
     run_paced, NULL},
};

int add_paced_tools(struct registry *registry)
{
    return add_tools(registry, TOOLS, sizeof TOOLS / sizeof *TOOLS);
}
