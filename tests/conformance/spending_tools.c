/* A tool that spends: it waits, as tools that ask the outside do, and reports what it used. For the
 * tests of limits, budgets, usage and history. */
#include "fixture.h"

#include "guard/charge.h"

static int run_spend(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    struct call_usage usage = {
        .service = json_string(arguments, "service"),
        .requests = yyjson_get_sint(yyjson_obj_get(arguments, "requests")),
        .model = json_string(arguments, "model"),
        .input_tokens = yyjson_get_sint(yyjson_obj_get(arguments, "input_tokens")),
        .output_tokens = yyjson_get_sint(yyjson_obj_get(arguments, "output_tokens")),
    };
    struct charge charge;
    int status = charge_open(call, &usage, &charge);
    if (status != OK) {
        return status;
    }
    charge_settle(&charge, NULL);
    if (json_string(arguments, "fail")) {
        return call_fail(call, "PROVIDER", "%s", json_string(arguments, "fail"));
    }
    if (json_string(arguments, "private")) {
        call_forbid_keeping(call);
    }
    reply->structured = yyjson_mut_obj(reply->doc);
    yyjson_mut_obj_add_bool(reply->doc, reply->structured, "success", true);
    yyjson_mut_obj_add_strcpy(reply->doc, reply->structured, "request", call_request_id(call));
    return OK;
}

#define WORDS                                                                                      \
    TEXT_ARGUMENT("query")                                                                         \
    "," TEXT_ARGUMENT("service") "," TEXT_ARGUMENT("model") "," TEXT_ARGUMENT(                     \
        "fail") "," TEXT_ARGUMENT("private")
#define NUMBERS                                                                                    \
    NUMBER_ARGUMENT("requests", "1000")                                                            \
    "," NUMBER_ARGUMENT("input_tokens", "1000000") "," NUMBER_ARGUMENT("output_tokens", "1000000")
#define SPENDING(name, more)                                                                       \
    "{\"name\":\"" name                                                                            \
    "\",\"description\":\"Uses what it is told to.\",\"inputSchema\":" ARGUMENTS(                  \
        WORDS "," NUMBERS, "") ",\"forage\":{\"group\":\"test\",\"quick\":false" more "}}"

static const struct tool TOOLS[] = {
    {SPENDING("test_spend", ",\"paid\":true"), run_spend, NULL},
    {SPENDING("test_spend_kept", ",\"paid\":true,\"cached\":\"FORAGE_ANSWER_CACHE_TTL\""),
     run_spend, NULL},
};

int add_spending_tools(struct registry *registry)
{
    return add_tools(registry, TOOLS, sizeof TOOLS / sizeof *TOOLS);
}
