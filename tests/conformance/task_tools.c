/* Tools whose calls can be tasks: jobs that sleep, fail, break or ask. */
#include "call/errors.h"
#include "fixture.h"

#define JOB      "true"
#define ONLY_JOB "\"only\""

#define JOB_DEFINITION(name, description, job, input_schema)                                       \
    "{\"name\":\"" name "\",\"description\":\"" description "\",\"inputSchema\":" input_schema     \
    ",\"forage\":{\"group\":\"test\",\"job\":" job ",\"timeoutMs\":600000}}"

static int run_greet(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    return reply_text(call, reply, "Hello, %s!", json_string(arguments, "name"));
}

static int run_slow_compute(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    int64_t seconds = (int64_t)yyjson_get_num(yyjson_obj_get(arguments, "seconds"));
    int status = call_sleep(call, seconds * 1000);
    const char *label = json_string(arguments, "label");
    return status == OK ? reply_text(call, reply, "%s took %lld seconds", label ? label : "It",
                                     (long long)seconds)
                        : status;
}

static int run_failing_job(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    (void)arguments;
    (void)reply;
    return call_fail(call, CODE_EXECUTION_ERROR, "this job always fails");
}

/* Asks what this client cannot answer, which is no failure of a tool. */
static int run_protocol_error_job(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    (void)arguments;
    (void)reply;
    yyjson_val *response;
    return ask_client(call, "roots", "roots/list", "{}", &response);
}

#define CONFIRMATION                                                                               \
    "{\"mode\":\"form\",\"message\":\"Shall it be done?\",\"requestedSchema\":{\"type\":"          \
    "\"object\",\"properties\":{\"confirm\":{\"type\":\"boolean\"}},\"required\":[\"confirm\"]}}"

static int run_confirm_delete(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    yyjson_val *response;
    int status = ask_client(call, "confirm", "elicitation/create", CONFIRMATION, &response);
    return status == OK ? reply_text(call, reply, "deleted %s", json_string(arguments, "filename"))
                        : status;
}

static int run_multi_input(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    (void)arguments;
    yyjson_val *responses[2];
    int first = ask_client(call, "first", "elicitation/create", CONFIRMATION, &responses[0]);
    if (first != OK && first != ERR_NEED_INPUT) {
        return first;
    }
    int second = ask_client(call, "second", "elicitation/create", CONFIRMATION, &responses[1]);
    int status = second != OK ? second : first;
    return status == OK ? reply_text(call, reply, "both were answered") : status;
}

static const struct tool TOOLS[] = {
    {DEFINITION("greet", "Greets at once.", QUICK, ARGUMENTS(TEXT_ARGUMENT("name"), "\"name\"")),
     run_greet, NULL},
    {JOB_DEFINITION(
         "slow_compute", "Takes so many seconds.", JOB,
         ARGUMENTS(NUMBER_ARGUMENT("seconds", "600") "," TEXT_ARGUMENT("label"), "\"seconds\"")),
     run_slow_compute, NULL},
    {JOB_DEFINITION("failing_job", "Fails.", ONLY_JOB, NO_ARGUMENTS), run_failing_job, NULL},
    {JOB_DEFINITION("protocol_error_job", "Cannot be run to its end.", JOB, NO_ARGUMENTS),
     run_protocol_error_job, NULL},
    {JOB_DEFINITION("confirm_delete", "Asks before it is done.", JOB,
                    ARGUMENTS(TEXT_ARGUMENT("filename"), "\"filename\"")),
     run_confirm_delete, NULL},
    {JOB_DEFINITION("multi_input", "Asks two things at once.", JOB, NO_ARGUMENTS), run_multi_input,
     NULL},
};

int add_task_tools(struct registry *registry)
{
    return add_tools(registry, TOOLS, sizeof TOOLS / sizeof *TOOLS);
}
