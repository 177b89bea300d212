/* Tools that ask the client one thing and tell what it answered. A legacy client is asked while the
 * tool waits, a modern one by ending the call; the tools cannot tell which. */
#include "conformance_data.h"
#include "fixture.h"

#define ELICIT "elicitation/create"
#define SAMPLE "sampling/createMessage"
#define ROOTS  "roots/list"

/* ---- a model ---- */

static int ask_model(struct call *call, struct reply *reply, const char *key, const char *params)
{
    yyjson_val *response;
    int status = ask_client(call, key, SAMPLE, params, &response);
    return status == OK ? reply_text(call, reply, "LLM response: %s", sampled_text(response))
                        : status;
}

static int run_sampling(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    const char *prompt = as_json(call, yyjson_obj_get(arguments, "prompt"));
    const char *params = arena_printf(call_arena(call),
                                      "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":"
                                      "\"text\",\"text\":%s}}],\"maxTokens\":100}",
                                      prompt);
    return ask_model(call, reply, "completion", params);
}

static int run_capital(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    (void)arguments;
    return ask_model(call, reply, "capital_question", question_capital);
}

/* ---- a person ---- */

static int ask_person(struct call *call, struct reply *reply, const char *params,
                      const char *introduction)
{
    yyjson_val *response;
    int status = ask_client(call, "form", ELICIT, params, &response);
    if (status != OK) {
        return status;
    }
    const char *action = json_string(response, "action");
    return reply_text(call, reply, "%s: action=%s, content=%s", introduction, action ? action : "",
                      as_json(call, yyjson_obj_get(response, "content")));
}

static int run_elicitation(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    const char *message = as_json(call, yyjson_obj_get(arguments, "message"));
    const char *params = arena_printf(call_arena(call), "{\"message\":%s,\"requestedSchema\":%s}",
                                      message, form_account);
    return ask_person(call, reply, params, "User response");
}

static int run_defaults(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    (void)arguments;
    return ask_person(call, reply, question_defaults, "Elicitation completed");
}

static int run_enums(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    (void)arguments;
    return ask_person(call, reply, question_enums, "Elicitation completed");
}

static int run_name(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    (void)arguments;
    yyjson_val *response;
    int status = ask_client(call, "user_name", ELICIT, question_name, &response);
    return status == OK ? reply_text(call, reply, "Hello, %s!", form_value(response, "name"))
                        : status;
}

/* The answer may already be a stream when the question comes. */
static int run_streaming(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    call_progress(call, 1, 2, "about to ask");
    call_log(call, "info", "about to ask");
    return run_name(call, arguments, reply);
}

/* ---- the client itself ---- */

static int run_roots(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    (void)arguments;
    yyjson_val *response;
    int status = ask_client(call, "client_roots", ROOTS, "{}", &response);
    return status == OK ? reply_text(call, reply, "The client's roots: %s",
                                     as_json(call, yyjson_obj_get(response, "roots")))
                        : status;
}

static const struct tool TOOLS[] = {
    {DEFINITION("test_sampling", "Asks the client's model.", SLOW,
                ARGUMENTS(TEXT_ARGUMENT("prompt"), "\"prompt\"")),
     run_sampling, NULL},
    {DEFINITION("test_elicitation", "Asks the user for a name and an address.", SLOW,
                ARGUMENTS(TEXT_ARGUMENT("message"), "\"message\"")),
     run_elicitation, NULL},
    {DEFINITION("test_elicitation_sep1034_defaults", "Asks with values filled in.", SLOW,
                NO_ARGUMENTS),
     run_defaults, NULL},
    {DEFINITION("test_elicitation_sep1330_enums", "Asks with choices of every kind.", SLOW,
                NO_ARGUMENTS),
     run_enums, NULL},
    {DEFINITION("test_streaming_elicitation", "Says something, then asks.", SLOW, NO_ARGUMENTS),
     run_streaming, NULL},
    {DEFINITION("test_missing_capability", "Needs a client with a model.", SLOW, NO_ARGUMENTS),
     run_capital, NULL},
    {DEFINITION("test_input_required_result_elicitation", "Asks the user.", SLOW, NO_ARGUMENTS),
     run_name, NULL},
    {DEFINITION("test_input_required_result_sampling", "Asks the model.", SLOW, NO_ARGUMENTS),
     run_capital, NULL},
    {DEFINITION("test_input_required_result_list_roots", "Asks the client.", SLOW, NO_ARGUMENTS),
     run_roots, NULL},
};

int add_asking_tools(struct registry *registry)
{
    return add_tools(registry, TOOLS, sizeof TOOLS / sizeof *TOOLS);
}
